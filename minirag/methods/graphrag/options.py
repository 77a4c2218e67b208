"""The options of GraphRAG: how its index is built, how a collection is mapped and reduced, and what
global and local search choose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from ...core.errors import MiniragError
from ...core.options import Between, Count, Positive, Probability
from ...index.contexts import CODE as REPORT_CODE
from ...index.contexts import ReportOptions, TokenOptions


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
    scoring: "answer", one answer and one score for each window (paper), or "points", a list of
        scored points (the code).
    oversize: a unit larger than the window is "cut" to what fits, or "leave out", or alone in a
        window that "exceed"s the limit and parts the units before it from those after it (code).
    """

    window: Positive = 8000
    whole_prompt: bool = True
    seed: int | None = 0
    resort: Literal[False, "rating", "occurrence"] = False
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
class LocalOptions(IndexOptions):
    """How the index is built, what goes into the context, and how much. The defaults are the
    survey's operators, with its k of 4 and its 8,000 tokens (Sec. 7.1), and what is marked "code"
    where it leaves a thing open; `LOCAL_CODE` holds what the released code does instead.

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


LOCAL_CODE: Mapping[str, object] = {
    "node_k": 20, "outside_k": 10, "community_k": None, "community_order": "hits", "level": 2,
    "chunk_order": "entity", "every_passage": True, "include_claims": True, "fill": "by entity",
    "section_order": "reports first", "window": 12000,
}  # fmt: skip
