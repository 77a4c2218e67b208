"""Texts of entities, relations, claims and reports for a local context, cut to a budget."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...algorithms.packing import prefix
from ...core.graph import Claim
from ...core.reports import CommunityIndex
from ...core.trace import CommunityStep, EdgeStep, NodeStep
from ...index.contexts import claim_text
from ...operators import relationship
from ...text.tokens import TokenCounter, count_tokens


class LocalTexts:
    """Texts of what the steps of a local search chose."""

    def __init__(self, index: CommunityIndex, count: TokenCounter) -> None:
        self.index, self.graph, self.count = index, index.communities.graph, count

    def entities(self, found: NodeStep) -> list[str]:
        """Name, type and description of each entity."""
        nodes = [self.graph.nodes[row.index] for row in found.nodes]
        kinds = [f" ({node.type})" if node.type else "" for node in nodes]
        return [f"{n.name}\n{n.name}{kind}: {n.description}" for n, kind in zip(nodes, kinds)]

    def relations(self, related: EdgeStep) -> list[str]:
        """Ends, name and description of each relation."""
        texts = []
        for row in related.edges:
            edge, ends = self.graph.edges[row.index], relationship.label(self.graph, row.index)
            said = " ".join(filter(None, (edge.name, edge.description)))
            texts.append(f"{ends}\n{said or ends}")
        return texts

    def claims(self, found: NodeStep) -> list[str]:
        """Claims about the entities, entity by entity."""
        about: dict[int, list[Claim]] = {}
        for claim in self.graph.claims:
            about.setdefault(claim.subject, []).append(claim)
        return [self._claim(claim) for row in found.nodes for claim in about.get(row.index, ())]

    def _claim(self, claim: Claim) -> str:
        ends = [self.graph.nodes[i].name for i in (claim.subject, claim.object) if i is not None]
        return f"Claim about {' and '.join(ends)}\n{claim_text(claim)}"

    def reports(self, chosen: CommunityStep) -> list[str]:
        """Title and text of each report."""
        listed = [self.index.reports[row.index] for row in chosen.communities]
        return [f"{report.title}\n{report.text}" for report in listed]

    def fitting(self, texts: Sequence[str], budget: int) -> list[str]:
        """The first texts, up to the first that the budget does not hold."""
        return list(texts[: prefix(self._tokens(texts), budget)])

    def entity_by_entity(
        self,
        found: NodeStep,
        budget: int,
        onehop: Callable[[Sequence[NodeStep]], Sequence[EdgeStep]],
        claims: bool,
    ) -> list[str]:
        """Entities that fit; then relations and claims of the first entity, of the first two, ...

        As in GraphRAG's released code, each turn chooses the relations anew (`onehop`), and the
        last turn that fits as a whole stands.
        """
        entities, rest = self.fitting(self.entities(found), budget), list[str]()
        for count in range(1, len(found.nodes) + 1):
            first = replace(found, nodes=found.nodes[:count])
            relations = self.fitting(self.relations(onehop([first])[0]), budget)
            told = self.fitting(self.claims(first), budget) if claims else []
            if sum(self._tokens([*entities, *relations, *told])) > budget:
                break
            rest = [*relations, *told]
        return [*entities, *rest]

    def _tokens(self, texts: Sequence[str]) -> list[int]:
        return [count_tokens(text + "\n\n", self.count) for text in texts]
