"""GraphRAG's global search (the survey's GGraphRAG, which its Table 3 prints as RGraphRAG): every
report of one level of communities, mapped to partial answers and reduced to one.

Paper: GraphRAG (From Local to Global), Sec. 2, which this file follows from top to bottom. Offline
is `build_index`: `build_graph` is Sec. 2.1 to 2.3, `report_communities` Sec. 2.4 and 2.5. For each
question, `map_reduce` is Sec. 2.6, and `GraphRAGGlobal` takes one level, the conditions C0 to C3 of
Sec. 3.3; the survey's Layer is "all communities below the required layers" (`union`). The 8k tokens
of a window are Sec. 3.5's; that they hold the whole prompt is the kit's reading. The paper's words
and the kit's:

    community summary                                      a report, one of the units of map-reduce
    chunk of pre-specified token size, context window      a window
    intermediate answer, community answer                  a `PartialAnswer`

Names in brackets after a section, as (sec-2.6), are rows of the paper map.
Official code: microsoft/graphrag, v3.1.2; `follow="code"` does as it does.
Known differences from the released code, not reproduced: its prompts; its windows print the
occurrence weight and the rating beside each report, here reports are only sorted by them; the order
in which reports are given to the shuffle.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import ClassVar, Literal, Self

from ...core.corpus import Corpus, Extraction
from ...core.encoder import Encoder
from ...core.graph import Graph
from ...core.options import check_value, choose, names_of
from ...core.reports import CommunityIndex
from ...core.results import Retrieval
from ...core.trace import CommunityStep, Trace
from ...encoders.text_encoders import load_encoder
from ...graphs import Elements, extract_elements, given_elements, textual_knowledge_graph
from ...index import find_communities, write_reports
from ...index.communities import Written, kept_index
from ...llm import LLM, load_llm
from ...operators import community, question
from ...operators.operator import Parts
from ...prompts import Task
from ...prompts.map_reduce import Unit
from ..base import StoredMethod
from .citations import cite, report_passages, report_units
from .map_reduce import (
    SCORINGS,
    PartialAnswer,
    Rank,
    Reduced,
    fill_last_window,
    map_record,
    no_answer,
    shuffle_and_pack,
)
from .released import INDEX_CODE, MAP_REDUCE_CODE, GlobalOptions, IndexOptions, MapReduceOptions

GivenElements = Elements | Extraction | Graph | str | None
GivenReports = CommunityIndex | Written | Literal["annotations"] | None


def build_index(
    corpus: Corpus, llm: LLM, options: IndexOptions, extraction: GivenElements = None,
    reports: GivenReports = None, executor: Executor | None = None, follow: str | None = None,
) -> CommunityIndex:  # fmt: skip
    """From documents to reports on communities; what exists already is not made again.

    extraction: None lets `llm` read the text; a whole `Graph` is used as it is; for the others see
    `given_elements`. reports: those that need no new one; "annotations" takes the division and the
    reports that were written by hand for the corpus; a `CommunityIndex` is used as it is. executor:
    any `concurrent.futures.Executor`.
    """
    if isinstance(reports, CommunityIndex):
        return reports
    # Sec. 2.1 to 2.3, source documents -> element summaries.
    graph = build_graph(corpus, llm, options, extraction, executor, follow or "paper")
    # Sec. 2.4 and 2.5, element summaries -> community summaries.
    if isinstance(reports, str):
        check_value("reports", reports, Literal["annotations"])
        return kept_index(corpus, graph)
    return report_communities(graph, llm, options, reports, executor)


def build_graph(
    corpus: Corpus, llm: LLM, options: IndexOptions, extraction: GivenElements,
    executor: Executor | None, follow: str,
) -> Graph:  # fmt: skip
    """From documents to element summaries. extraction: as in `build_index`.

    Source: GraphRAG, Sec. 2.1 (sec-2.1); GraphRAG, Sec. 2.2 (sec-2.2); GraphRAG, Sec. 2.3 (sec-2.3)
    """
    if isinstance(extraction, Graph):
        return extraction
    given = None if extraction is None else given_elements(corpus, extraction, llm, executor)
    # Sec. 2.1, source documents -> text chunks: a corpus is cut when it is read.
    chunks = corpus.chunks
    # Sec. 2.2, text chunks -> element instances: entities and relationships, gleaned; with
    # `covariates` claims too, which are asked for once.
    elements = given or extract_elements(
        chunks, llm, gleanings=options.gleanings, claims=options.covariates, follow=follow,
        entity_types=options.entity_types, examples=options.examples, executor=executor,
    )  # fmt: skip
    # Sec. 2.3, element instances -> element summaries: one description for each node, edge and
    # claim. The edge weights of Sec. 2.4, normalised counts of instances, are counted here.
    return textual_knowledge_graph(chunks, elements, llm, follow=follow, executor=executor)


def report_communities(
    graph: Graph, llm: LLM, options: IndexOptions, given: Written | None, executor: Executor | None
) -> CommunityIndex:
    """From element summaries to community summaries. given: reports that exist already.

    Source: GraphRAG, Sec. 2.4 (sec-2.4); GraphRAG, Sec. 2.5 (sec-2.5-leaf, sec-2.5-higher)
    """
    # Sec. 2.4, element summaries -> graph communities: Leiden on the weighted graph, every level.
    communities = find_communities(
        graph, method=options.method, max_size=options.max_size, seed=options.community_seed,
        resolution=options.resolution, largest_component_only=options.largest_component_only,
        reversed_edges=options.reversed_edges, best_of=options.best_of,
    )  # fmt: skip
    # Sec. 2.5, graph communities -> community summaries, the deepest level first. "Leaf-level
    # communities": edges in decreasing combined degree of their ends, each bringing source, target,
    # claims and edge, until the window is full (`ContextBuilder.elements`). "Higher-level
    # communities": where their elements do not all fit, sub-communities by decreasing element
    # tokens give way to their reports until they do (`ContextBuilder.substituted`).
    return write_reports(communities, llm, options, executor, given)


class CommunityMethod(StoredMethod):
    """A method over a `CommunityIndex`: global search, local search, their variants."""

    stored_type = CommunityIndex
    built_with = tuple(name for name in names_of(IndexOptions) if name != "count")
    options_type: ClassVar[type[IndexOptions]] = IndexOptions
    chosen: IndexOptions

    def __init__(
        self, index: CommunityIndex, llm: LLM, encoder: Encoder | str, chosen: IndexOptions,
        executor: Executor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(index.communities.graph.chunks, llm)
        self.index, self.chosen, self.executor = index, chosen, executor
        self.parts = Parts(index.communities.graph, llm, load_encoder(encoder), index)

    @property
    def stored(self) -> CommunityIndex:
        """The community index."""
        return self.index

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: GivenElements = None, reports: GivenReports = None,
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Read elements, build the graph, divide it, write the reports: see `build_index`.

        executor: any `concurrent.futures.Executor`, for extraction, reports and the map step.
        encoder: of what the method searches; in global search only where report_k asks for vectors.
        """
        chosen, llm = choose(cls.options_type, cls.settings, follow, options), load_llm(llm)
        index = build_index(corpus, llm, chosen, extraction, reports, executor, follow)
        return cls(index, llm, encoder, chosen, executor)

    @classmethod
    def from_index(
        cls, index: CommunityIndex, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """The method over an index that exists already, such as Microsoft's own."""
        chosen = choose(cls.options_type, cls.settings, follow, options)
        return cls(index, load_llm(llm), encoder, chosen, executor)


def map_reduce(
    llm: LLM, question: str, units: Sequence[Unit], options: MapReduceOptions,
    what: str = "reports", executor: Executor | None = None, rank: Rank | None = None,
) -> Reduced:  # fmt: skip
    """Community summaries -> community answers -> global answer, over any `(id, text)` units.

    what: the name of the units, for the text that says that they hold no answer; then nobody is
    asked to reduce. executor: any `concurrent.futures.Executor`. rank: see `shuffle_and_pack`.

    Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Sec. 6.3 (generation)
    """
    # Prepare community summaries: shuffled, and divided into windows of a given number of tokens.
    windows, packing = shuffle_and_pack(units, question, options, rank)
    # Map community answers: for each window, in parallel, an answer and its score from 0 to 100.
    prompts = [{"question": question, "units": window} for window in windows]
    replies = llm.map(SCORINGS[options.scoring], prompts, executor=executor, description="map")
    community_answers = [
        PartialAnswer(text, score, tuple(name for name, _ in window))
        for window, reply in zip(windows, replies)
        for text, score in reply
    ]
    # Answers with score 0 are filtered out.
    helpful = [answer for answer in community_answers if answer.score > 0]
    # Reduce to global answer: by descending score into a last window, until it is full.
    best_first = sorted(helpful, key=lambda answer: -answer.score)
    kept, reducing = fill_last_window(question, best_first, options)
    if kept:
        scored = [(answer.text, answer.score) for answer in kept]
        text = llm("reduce_answer", question=question, answers=scored)
    else:
        text = no_answer(community_answers, helpful, options.window, what)
    mapping = map_record(community_answers, helpful, replies, llm.is_model)
    return Reduced(text, (packing, mapping, reducing), kept)


class GraphRAGGlobal(CommunityMethod):
    """Map-reduce over the reports of one level; `retrieve` lists those reports as passages named
    `report:ID`.

    Source: GraphRAG, Sec. 2.6 (sec-2.6); GraphRAG, Sec. 3.3 (sec-3.3); Survey, Table 1 (tab-1);
    Survey, Table 3 (tab-3)
    """

    name = "graphrag-global"
    paper = "GraphRAG, Sec. 2 (C0 to C3)"
    graph_type = "textual knowledge"
    index_components = ("Community",)
    primitive = "Question vector"
    granularity = ("Community",)
    operators: ClassVar = {"community": ("Layer",)}
    answer_task = "reduce_answer"
    options_type = GlobalOptions
    settings: ClassVar = {"paper": {}, "code": {**INDEX_CODE, **MAP_REDUCE_CODE, "union": True}}
    chosen: GlobalOptions

    def __repr__(self) -> str:
        over = f"level {self.chosen.level} over {self.index!r}"
        return f"GraphRAGGlobal at {over}; answers by {self.llm.name}"

    def choose_reports(self, questions: Sequence[str]) -> list[Trace]:
        """For each question the trace that ends in the chosen communities.

        Source: GraphRAG, Sec. 3.3 (sec-3.3); Survey, Sec. 6.1 (op-community)
        """
        level, union, least = self.chosen.level, self.chosen.union, self.chosen.min_rating
        # "For a given community level" (Sec. 2.6). Community: Layer, whatever the question.
        chosen = community.layer(questions, self.index, level, union=union, min_rating=least)
        return [Trace(trace) for trace in zip(*self.with_future_work(questions, chosen))]

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        """The first k of the reports that map-reduce would read: the nearest to the question where
        vectors chose, else by rating.
        """
        retrievals, questions = [], list(questions)
        for text, trace in zip(questions, self.choose_reports(questions)):
            chosen = trace.last(CommunityStep).communities
            best = sorted(chosen, key=lambda row: (-row.score, row.index))[:k]
            found = report_passages(self.index, best)
            retrievals.append(Retrieval(text, self.name, found, trace))
        return retrievals

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """Map-reduce over all chosen reports, however small k is; the retrieval holds the reports
        that the answer cites or rests on.

        Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Sec. 6.3 (generation)
        """
        index, chosen = self.index, retrieval.trace.last(CommunityStep).communities
        places, units = report_units(index, chosen)
        rank = self._rank(places) if self.chosen.resort else None
        reduced = map_reduce(
            self.llm, retrieval.question, units, self.chosen, executor=self.executor, rank=rank
        )
        text, behind = cite(index, places, reduced, self.llm.is_model)
        found = Retrieval(retrieval.question, self.name, report_passages(index, behind.reports))
        return text, found.followed_by(*retrieval.trace, *reduced.steps, behind)

    def _rank(self, places: Mapping[str, int]) -> Rank:
        """What each report is sorted by in a window: occurrence weight if asked for, rating."""
        weights = self.index.occurrence() if self.chosen.resort == "occurrence" else {}
        reports = self.index.reports
        return {name: (weights.get(p, 0.0), reports[p].rating) for name, p in places.items()}

    # Future work (Sec. 5).

    def with_future_work(
        self, questions: Sequence[str], chosen: list[CommunityStep]
    ) -> list[list[CommunityStep]]:
        """The chosen communities; where `report_k` asks for them, of these the nearest to the
        question; where `roll_up` does, the communities above.

        Source: GraphRAG, Sec. 5 (sec-5)
        """
        options, steps = self.chosen, [chosen]
        if options.report_k is not None:
            asked = question.vector(questions, self.parts.encoder)
            allowed = [[row.index for row in step.communities] for step in chosen]
            steps.append(community.vdb(asked, self.parts.report_index, allowed, options.report_k))
        if options.roll_up:
            steps.append(community.roll_up(steps[-1], self.index, options.roll_up))
        return steps
