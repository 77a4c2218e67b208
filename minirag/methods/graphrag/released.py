"""GraphRAG's options, which hold what its released code does otherwise, and the texts of a local
search's context, with that code's shares of the window, claims, orders and ways to fill it.

How an index is built, how a collection is mapped and reduced, what global search chooses, what
local search does: each has its options, and beside them those of the released code.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from ...algorithms.report_elements import prefix
from ...core.errors import MiniragError
from ...core.graph import Claim
from ...core.options import Between, Count, Positive, Probability
from ...core.reports import CommunityIndex
from ...core.trace import CommunityStep, ContextStep, EdgeStep, NodeStep, Trace
from ...index.contexts import CODE as REPORT_CODE
from ...index.contexts import ReportOptions, TokenOptions, claim_text
from ...operators import relationship
from ...text.tokens import count_tokens
from ..base import Sections

# What the local orders of released codes count (`chunk.by_entity`).
Counted = Literal["relations", "neighbours"]
COUNTED: dict[str, Counted] = {"entity": "relations", "neighbours": "neighbours"}


@dataclass(frozen=True)
class IndexOptions(ReportOptions):
    """What a community index is built by. The defaults are the paper's; `INDEX_CODE` holds what the
    released code does instead.

    gleanings: extra turns of the extraction (the paper: 1 for podcasts, 0 for news).
    covariates: extract claims too.
    entity_types: the domain's own types, for the extraction prompt.
    examples: few-shot pairs of a text and its records, for the extraction prompt
        (`extract_elements`).
    method: the algorithm that divides the graph into communities (`find_communities`).
    max_size: a larger community is divided again on the next level.
    community_seed: of the division.
    resolution: above 1 more and smaller communities, below 1 fewer and larger ones.
    best_of: seeds that are tried; the division of the highest modularity stands.
    largest_component_only: leave every smaller component without a community (the code).
    reversed_edges: "add" the weights of a relation and its reverse, or keep the "last" one only
        (the code).
    """

    gleanings: Count = 1
    covariates: bool = False
    entity_types: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    method: Literal["leiden", "leidenalg", "louvain"] = "leiden"
    max_size: Positive = 10
    community_seed: int = 0
    resolution: Annotated[float, Between(0, above=True)] = 1.0
    best_of: Positive = 1
    largest_component_only: bool = False
    reversed_edges: Literal["add", "last"] = "add"


INDEX_CODE: Mapping[str, object] = {
    **REPORT_CODE,
    "largest_component_only": True,
    "reversed_edges": "last",
}


@dataclass(frozen=True)
class MapReduceOptions(TokenOptions):
    """How a collection is read. The defaults are the paper's; `MAP_REDUCE_CODE` holds what the
    released code does instead.

    window: tokens of a prompt (the paper tried 8k, 16k, 32k and 64k and kept 8k).
    whole_prompt: the instructions and the question count too; False counts the data alone, as the
        code does.
    seed: of the shuffle (the code always uses 86); None keeps the order given.
    resort: after packing, the reports of a window are sorted by "rating", or by "occurrence" (the
        code): the number of passages that name a member of the community, then the rating.
    per_window: units in a window, at most (None: as many as fit; 1: each unit is answered from by
        itself, as in Sec. 6.3 of the survey).
    scoring: "answer", one answer and one score for each window (paper), or "points", a list of
        scored points (the code).
    oversize: a unit larger than the window is "cut" to what fits, or "leave out", or alone in a
        window that "exceed"s the limit and parts the units before it from those after it (code).
    """

    window: Positive = 8000
    whole_prompt: bool = True
    seed: int | None = 0
    resort: Literal[False, "rating", "occurrence"] = False
    per_window: Positive | None = None
    scoring: Literal["answer", "points"] = "answer"
    oversize: Literal["cut", "leave out", "exceed"] = "cut"


MAP_REDUCE_CODE: Mapping[str, object] = {
    "window": 12000, "whole_prompt": False, "seed": 86, "resort": "occurrence", "scoring": "points",
    "oversize": "exceed",
}  # fmt: skip


@dataclass(frozen=True)
class GlobalOptions(MapReduceOptions, IndexOptions):
    """How the index is built, which of its reports are read, and how.

    level: 0 to 3 for the paper's C0 to C3; a level deeper than exists is the deepest.
    union: every report down to the level (the code).
    min_rating: reports that are rated lower are not read.
    report_k: only this many reports, the nearest to the question, go into map-reduce (None: all).
    roll_up: each chosen community gives way to the one that holds it, this many levels above. This
        and `report_k` are what the paper leaves to future work (its Sec. 5).
    """

    level: Count = 2
    union: bool = False
    min_rating: float = 0.0
    report_k: Positive | None = None
    roll_up: Count = 0


@dataclass(frozen=True)
class ContextOptions(IndexOptions):
    """How the index is built, what goes into the context, and how much. The defaults are the
    survey's operators, with its k of 4 and its 8,000 tokens (Sec. 7.1), and what is marked "code"
    where it leaves a thing open; `LOCAL_CODE` holds what the released code does instead. An option
    of elements that a method does not retrieve does nothing.

    node_k: entities (survey: 4; code: 20, for it searches for twice its k of 10 and never cuts the
        list back).
    relation_k: relations (None: all, until the budget ends).
    outside_k: for each chosen entity, at most this many of its relations to entities that were not
        chosen (None: all; code: 10).
    relation_order: "links", those between two chosen entities first, then by how many chosen
        entities the far end is related to (code; the survey names no order), or "degree", the sum
        of both ends' degrees, then the weight (nano-graphrag).
    community_k: reports (None: all, until the budget ends: code).
    include_claims: claims about the entities follow the relations (code, where claims were
        extracted).
    fill: entities, relations and claims enter "in order", or "by entity" (code): see
        `LocalTexts.entity_by_entity`.
    section_order: of the context, "passages first", then entities and relations, then reports (the
        kit's choice: the survey names none), or "reports first" (code), the reverse.
    window: tokens of the whole context (survey: 8,000; code: 12,000).
    report_share, text_share: what of the window goes to reports and to passages; the rest goes to
        entities and relations (both shares are the code's). The share of a section that a method
        does not have stays empty.
    """

    node_k: Positive = 4
    relation_k: Count | None = None
    outside_k: Count | None = None
    relation_order: Literal["links", "degree"] = "links"
    community_k: Count | None = 4
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

    @property
    def onehop(self) -> tuple[int | None, int | None, Literal["links", "degree"]]:
        """What `relationship.onehop` takes."""
        return self.relation_k, self.outside_k, self.relation_order


@dataclass(frozen=True)
class LocalOptions(ContextOptions):
    """As `ContextOptions`, and how entities and relations choose reports and passages.

    community_order: "rating" (survey), or "hits", the number of chosen entities first (code).
    level: only reports of communities down to this level (None: of all levels; code: 2).
    chunk_order: "occurrence" (survey) ranks passages by the relations whose two ends they hold.
        The other two list the passages of the first chosen entity, then of the second, and so on;
        the passages of an entity by how many of its relations ("entity", code) or of its neighbours
        ("neighbours", nano-graphrag) they hold.
    every_passage: passages enter until the budget ends, however small k is (code).
    """

    community_order: Literal["rating", "hits"] = "rating"
    level: Count | None = None
    chunk_order: Literal["occurrence", "entity", "neighbours"] = "occurrence"
    every_passage: bool = False


LOCAL_CODE: Mapping[str, object] = {
    "node_k": 20, "outside_k": 10, "community_k": None, "community_order": "hits", "level": 2,
    "chunk_order": "entity", "every_passage": True, "include_claims": True, "fill": "by entity",
    "section_order": "reports first", "window": 12000,
}  # fmt: skip


class LocalTexts:
    """Texts of what the steps of a search chose."""

    def __init__(self, index: CommunityIndex, options: ContextOptions) -> None:
        self.index, self.graph, self.options = index, index.communities.graph, options

    def sections(
        self, trace: Trace, passages: Sequence[str], granularity: Collection[str]
    ) -> tuple[Sections, ContextStep]:
        """The sections of the context in their order, and how many texts of each are held of those
        that were wanted. Each has a share of the window, and ends at the first text that the share
        does not hold.

        granularity: the retrieved elements, of which the context has sections: "Community" (its
        reports), "Entity" (with its relations), "Chunk".
        """
        options, middle, wanted = self.options, "entities and relations", Sections()
        if "Community" in granularity:
            wanted["reports"] = self.reports(trace.last(CommunityStep))
        if "Entity" in granularity:
            entities, relations = trace.last(NodeStep), self.relations(trace.last(EdgeStep))
            claims = self.claims(entities) if options.include_claims else []
            wanted[middle] = [*self.entities(entities), *relations, *claims]
        if "Chunk" in granularity:
            wanted["passages"] = list(passages)
        shares = {"reports": options.report_share, "passages": options.text_share}
        shares[middle] = 1 - options.report_share - options.text_share
        budgets = {name: int(options.window * shares[name]) for name in wanted}
        held = {name: self.fitting(wanted[name], budgets[name]) for name in wanted}
        if options.fill == "by entity" and middle in held:
            held[middle] = self.entity_by_entity(trace.last(NodeStep), budgets[middle])
        counts = {name: len(texts) for name, texts in held.items()}
        told = [f"{counts[n]} of {len(wanted[n])} {n} in {budgets[n]} tokens" for n in held]
        sizes = [count_tokens(text, options.count) for texts in held.values() for text in texts]
        step = ContextStep("context", "; ".join(told), sections=counts, tokens=sum(sizes))
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
            (related,) = relationship.onehop([first], self.graph, *self.options.onehop)
            relations = self.fitting(self.relations(related), budget)
            claims = self.claims(first) if self.options.include_claims else []
            turn = [*relations, *self.fitting(claims, budget)]
            if sum(self._tokens([*entities, *turn])) > budget:
                break
            rest = turn
        return [*entities, *rest]

    def _tokens(self, texts: Sequence[str]) -> list[int]:
        return [count_tokens(text + "\n\n", self.options.count) for text in texts]
