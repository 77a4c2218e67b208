"""Texts of entities, relations, claims and reports in a local context; how a budget is filled."""

from dataclasses import replace

from ...algorithms.packing import prefix
from ...operators import relationship


class LocalTexts:
    """Texts of a graph's elements for a local context. choices: a `LocalChoices`."""

    def __init__(self, index, choices):
        self.index, self.graph, self.choices = index, index.communities.graph, choices

    def entities(self, found):
        nodes = [self.graph.nodes[place] for _, place, _ in found.data["nodes"]]
        named = lambda node: f"{node.name} ({node.type})" if node.type else node.name
        return [f"{node.name}\n{named(node)}: {node.description}" for node in nodes]

    def relations(self, related):
        return [self._relation(place) for place, _ in related.data["relations"]]

    def _relation(self, place):
        edge, label = self.graph.edges[place], relationship.label(self.graph, place)
        said = " ".join(part for part in (edge.name, edge.description) if part)
        return f"{label}\n{said or label}"

    def claims(self, found):
        """Claims about the entities, entity by entity, if `include_claims` asks for them."""
        about = {}
        for claim in self.graph.claims if self.choices.include_claims else ():
            about.setdefault(claim.subject, []).append(claim)
        places = [place for _, place, _ in found.data["nodes"]]
        return [self._claim(claim) for place in places for claim in about.get(place, ())]

    def _claim(self, claim):
        ends = [self.graph.nodes[i].name for i in (claim.subject, claim.object) if i is not None]
        dates = " to ".join(date for date in dict.fromkeys([claim.start, claim.end]) if date)
        said = filter(None, (claim.type, claim.status, dates, claim.description))
        return f"Claim about {' and '.join(ends)}\n{' '.join(said)}"

    def reports(self, chosen):
        listed = [self.index.reports[place] for place in chosen.data["communities"]]
        return [f"{report.title}\n{report.text}" for report in listed]

    def tokens(self, texts):
        return [self.choices.tokens(text + "\n\n") for text in texts]

    def fitting(self, texts, budget):
        """The first texts, up to the first that the budget does not hold."""
        return texts[: prefix(self.tokens(texts), budget)]

    def around(self, found, related, budget):
        """`(texts, how many there were)` of entities, relations and claims within a budget.

        With fill="in order" one after the other, up to the first that does not fit.
        """
        wanted = [*self.entities(found), *self.relations(related), *self.claims(found)]
        by_entity = self.choices.fill == "by entity"
        kept = self.entity_by_entity(found, budget) if by_entity else self.fitting(wanted, budget)
        return kept, len(wanted)

    def entity_by_entity(self, found, budget):
        """Entities that fit; then relations and claims of the first entity, of the first two, ...

        As in GraphRAG's released code, each turn chooses the relations anew, and the last turn that
        fits as a whole stands.
        """
        c, nodes = self.choices, found.data["nodes"]
        entities = self.fitting(self.entities(found), budget)
        rest = []
        for count in range(1, len(nodes) + 1):
            first = replace(found, data={**found.data, "nodes": nodes[:count]})
            (related,) = relationship.onehop(
                [first], self.graph, c.relation_k, c.outside_k, c.relation_order
            )
            relations = self.fitting(self.relations(related), budget)
            claims = self.fitting(self.claims(first), budget)
            if sum(self.tokens([*entities, *relations, *claims])) > budget:
                break
            rest = [*relations, *claims]
        return [*entities, *rest]
