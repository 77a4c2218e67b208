"""What GraphRAG's local search can be told, and its context: texts of entities, relations, claims,
reports and passages, cut to a budget.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...algorithms.packing import prefix
from ...core.errors import MiniragError
from ...core.graph import Claim, Graph
from ...core.options import Count, Positive, Probability
from ...core.reports import CommunityIndex
from ...core.trace import ChunkStep, CommunityStep, ContextStep, EdgeStep, NodeStep, Trace
from ...index.contexts import claim_text
from ...operators import chunk, relationship
from ...text.tokens import count_tokens
from ..base import Sections
from .building import IndexOptions


@dataclass(frozen=True)
class LocalOptions(IndexOptions):
    """How the index is built, what goes into the context, and how much. The defaults are the
    survey's operators, with its k of 4 and its 8,000 tokens (Sec. 7.1), and what is marked "code"
    where it leaves a thing open; `CODE` holds what the released code does instead.

    node_k: entities (survey: 4; code: 20, for it searches for twice its k of 10 and never cuts the
        list back).
    relation_k: relations (None: all, until the budget ends).
    outside_k: for each chosen entity, at most this many of its relations to entities that were not
        chosen (None: all; code: 10).
    relation_order: "links", those between two chosen entities first, then by how many chosen
        entities the far end is related to (code; the survey names no order), or "degree", the sum
        of both ends' degrees, then the weight (nano-graphrag).
    community_k: reports (None: all, until the budget ends: code).
    community_order: "rating" (survey), or "hits", the number of chosen entities first (code).
    level: only reports of communities down to this level (None: of all levels; code: 2).
    chunk_order: "occurrence" (survey) ranks passages by the relations whose two ends they hold.
        The other two list the passages of the first chosen entity, then of the second, and so on;
        the passages of an entity by how many of its relations ("entity", code) or of its neighbours
        ("neighbours", nano-graphrag) they hold.
    every_passage: passages enter until the budget ends, however small k is (code).
    include_claims: claims about the entities follow the relations (code, where claims were
        extracted).
    fill: entities, relations and claims enter "in order", or "by entity" (code): see
        `LocalTexts.entity_by_entity`.
    section_order: of the context, "passages first", then entities and relations, then reports (the
        kit's choice: the survey names none), or "reports first" (code), the reverse.
    window: tokens of the whole context (survey: 8,000; code: 12,000).
    report_share, text_share: what of the window goes to reports and to passages; the rest goes to
        entities and relations (both shares are the code's).
    """

    node_k: Positive = 4
    relation_k: Count | None = None
    outside_k: Count | None = None
    relation_order: Literal["links", "degree"] = "links"
    community_k: Count | None = 4
    community_order: Literal["rating", "hits"] = "rating"
    level: Count | None = None
    chunk_order: Literal["occurrence", "entity", "neighbours"] = "occurrence"
    every_passage: bool = False
    include_claims: bool = False
    fill: Literal["in order", "by entity"] = "in order"
    section_order: Literal["passages first", "reports first"] = "passages first"
    window: Positive = 8000
    report_share: Probability = 0.15
    text_share: Probability = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.report_share + self.text_share > 1:
            raise MiniragError(
                f"report_share {self.report_share:g} and text_share {self.text_share:g}: together"
                " they must be at most 1."
            )


CODE: Mapping[str, object] = {
    "node_k": 20, "outside_k": 10, "community_k": None, "community_order": "hits", "level": 2,
    "chunk_order": "entity", "every_passage": True, "include_claims": True, "fill": "by entity",
    "section_order": "reports first", "window": 12000,
}  # fmt: skip


def related_edges(
    entities: Sequence[NodeStep], graph: Graph, options: LocalOptions
) -> list[EdgeStep]:
    """Onehop with the options of a local search."""
    k, outside_k, order = options.relation_k, options.outside_k, options.relation_order
    return relationship.onehop(entities, graph, k, outside_k, order)


def source_passages(
    entities: Sequence[NodeStep], relations: Sequence[EdgeStep], graph: Graph,
    labels: Sequence[str], order: Literal["occurrence", "entity", "neighbours"],
) -> list[ChunkStep]:  # fmt: skip
    """Occurrence, or as released code ranks passages: see `LocalOptions.chunk_order`."""
    if order == "occurrence":
        return chunk.occurrence(relations, graph, labels)
    counted: Literal["relations", "neighbours"] = "relations" if order == "entity" else order
    return chunk.by_entity(entities, graph, labels, counted)


class LocalTexts:
    """Texts of what the steps of a local search chose."""

    def __init__(self, index: CommunityIndex, options: LocalOptions) -> None:
        self.index, self.graph, self.options = index, index.communities.graph, options

    def sections(self, trace: Trace, passages: Sequence[str]) -> tuple[Sections, ContextStep]:
        """The sections of the context in their order, and how many texts of each are held of those
        that were wanted. Each has a share of the window, and ends at the first text that the share
        does not hold.
        """
        options, entities = self.options, trace.last(NodeStep)
        claims = self.claims(entities) if options.include_claims else []
        relations = self.relations(trace.last(EdgeStep))
        wanted = {
            "reports": self.reports(trace.last(CommunityStep)),
            "entities and relations": [*self.entities(entities), *relations, *claims],
            "passages": list(passages),
        }
        rest = 1 - options.report_share - options.text_share
        shares = (options.report_share, rest, options.text_share)
        budgets = {name: int(options.window * share) for name, share in zip(wanted, shares)}
        held = {name: self.fitting(wanted[name], budgets[name]) for name in wanted}
        if options.fill == "by entity":
            middle = "entities and relations"
            held[middle] = self.entity_by_entity(entities, budgets[middle])
        summary = [
            f"{len(texts)} of {len(wanted[name])} {name} in {budgets[name]} tokens"
            for name, texts in held.items()
        ]
        counts = {name: len(texts) for name, texts in held.items()}
        tokens = sum(
            count_tokens(text, options.count) for section in held.values() for text in section
        )
        step = ContextStep("context", "; ".join(summary), sections=counts, tokens=tokens)
        if options.section_order == "passages first":
            held = dict(reversed(held.items()))
        return held, step

    def entities(self, chosen: NodeStep) -> list[str]:
        """Name, type and description of each entity."""
        nodes = [self.graph.nodes[row.index] for row in chosen.nodes]
        kinds = [f" ({node.type})" if node.type else "" for node in nodes]
        return [f"{n.name}\n{n.name}{kind}: {n.description}" for n, kind in zip(nodes, kinds)]

    def relations(self, related: EdgeStep) -> list[str]:
        """Ends, name and description of each relation."""
        texts = []
        for row in related.edges:
            edge, ends = self.graph.edges[row.index], relationship.label(self.graph, row.index)
            described = " ".join(filter(None, (edge.name, edge.description)))
            texts.append(f"{ends}\n{described or ends}")
        return texts

    def claims(self, chosen: NodeStep) -> list[str]:
        """Claims about the entities, entity by entity."""
        about: dict[int, list[Claim]] = {}
        for claim in self.graph.claims:
            about.setdefault(claim.subject, []).append(claim)
        return [self._claim(claim) for row in chosen.nodes for claim in about.get(row.index, ())]

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

    def entity_by_entity(self, chosen: NodeStep, budget: int) -> list[str]:
        """Entities that fit; then relations and claims of the first entity, of the first two, ...

        As in GraphRAG's released code, each turn chooses the relations anew, and the last turn that
        fits as a whole stands.
        """
        entities, rest = self.fitting(self.entities(chosen), budget), list[str]()
        for count in range(1, len(chosen.nodes) + 1):
            first = replace(chosen, nodes=chosen.nodes[:count])
            (related,) = related_edges([first], self.graph, self.options)
            relations = self.fitting(self.relations(related), budget)
            claims = self.claims(first) if self.options.include_claims else []
            turn = [*relations, *self.fitting(claims, budget)]
            if sum(self._tokens([*entities, *turn])) > budget:
                break
            rest = turn
        return [*entities, *rest]

    def _tokens(self, texts: Sequence[str]) -> list[int]:
        return [count_tokens(text + "\n\n", self.options.count) for text in texts]
