"""What GraphRAG's global and local search share: the options of a community index, and how a method
over it is opened, varied and kept; and the options of global search.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from ...core.corpus import Corpus
from ...core.encoder import Encoder
from ...core.errors import MiniragError
from ...core.files import read_jsonl
from ...core.graph import Graph
from ...core.options import Between, Count, Positive, choose, names_of
from ...core.reports import CommunityIndex
from ...corpora.shipped_and_own import shipped
from ...index.contexts import CODE as REPORT_CODE
from ...index.contexts import ReportOptions
from ...index.reports import frozen_index
from ...llm import LLM, load_llm
from ..base import StoredMethod
from .map_reduce import MapReduceOptions

KEPT = "reports.jsonl"


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


def kept_index(corpus: Corpus, graph: Graph) -> CommunityIndex:
    """The communities and reports that were written by hand for a shipped corpus,
    `data/corpora/NAME/reports.jsonl`; an error where it has none.
    """
    path = shipped("corpora") / corpus.name / KEPT
    if not path.is_file():
        raise MiniragError(
            f"Corpus {corpus.name!r} has no {KEPT}. Leave reports out to let the language model,"
            " or the offline rule, write them."
        )
    return frozen_index(graph, read_jsonl(path))


class CommunityMethod(StoredMethod):
    """A method over a `CommunityIndex`."""

    stored_type = CommunityIndex
    built_with = tuple(name for name in names_of(IndexOptions) if name != "count")
    options_type: ClassVar[type[IndexOptions]] = IndexOptions
    chosen: IndexOptions

    def __init__(
        self, index: CommunityIndex, llm: LLM, encoder: Encoder | str, chosen: IndexOptions,
        executor: Executor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(index.communities.graph.chunks, llm)
        self.index, self.encoder, self.chosen, self.executor = index, encoder, chosen, executor

    @property
    def stored(self) -> CommunityIndex:
        """The community index."""
        return self.index

    @classmethod
    def from_index(
        cls, index: CommunityIndex, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """The method over an index that exists already, such as Microsoft's own."""
        chosen = choose(cls.options_type, cls.settings, follow, options)
        return cls(index, load_llm(llm), encoder, chosen, executor)
