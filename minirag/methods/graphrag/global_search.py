"""GraphRAG's global search: every report of one level of communities, mapped to partial answers and
reduced to one.

Paper: GraphRAG (From Local to Global), Sec. 2: `build_index` is Sec. 2.1 to 2.5, `map_reduce` is
Sec. 2.6. Official code: microsoft/graphrag, v3.1.2; `follow="code"` does as it does.
Differs from the released code in: prompts; its windows show the occurrence weight and the rating
beside each report, here they only sort; the order of the reports before the shuffle.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Self

from ...core.corpus import Chunk, Corpus, Extraction
from ...core.encoder import Encoder
from ...core.graph import Graph
from ...core.options import Count, Positive, check_value, choose
from ...core.reports import CommunityIndex
from ...core.results import Passage, Retrieval
from ...core.trace import CommunityStep, ScoredCommunity, Step, Trace
from ...encoders.text_encoders import load_encoder
from ...graphs import Elements, extract_elements, given_elements, textual_knowledge_graph
from ...index import find_communities, write_reports
from ...index.reports import Written, cited
from ...index.vectors import VectorIndex, report_index
from ...llm import LLM, load_llm
from ...operators import community, question
from ...prompts import Task
from ...prompts.rules.quotes import Unit
from .building import INDEX_CODE, CommunityMethod, IndexOptions, kept_index
from .map_reduce import CODE as MAP_REDUCE_CODE
from .map_reduce import (
    SCORINGS,
    MapReduceOptions,
    PartialAnswer,
    Rank,
    fill_last_window,
    map_step,
    shuffle_and_pack,
)

GivenElements = Elements | Extraction | Graph | str | None
GivenReports = CommunityIndex | Written | Literal["annotations"] | None


def build_index(
    corpus: Corpus, llm: LLM, options: IndexOptions, extraction: GivenElements = None,
    reports: GivenReports = None, executor: Executor | None = None, follow: str | None = None,
) -> CommunityIndex:  # fmt: skip
    """From documents to reports on communities.

    extraction: None lets `llm` read the text; a whole `Graph` is used as it is; for the others see
    `given_elements`. reports: those that exist already and need no new one; "annotations" takes the
    division and the reports that were written by hand for the corpus; a `CommunityIndex` is used as
    it is. executor: any `concurrent.futures.Executor`.
    """
    if isinstance(reports, CommunityIndex):
        return reports
    follow = follow or "paper"
    # Sec. 2.1, source documents -> text chunks: a corpus is cut when it is read.
    chunks = corpus.chunks
    # Sec. 2.2, text chunks -> element instances: entities, relationships and claims, gleaned.
    if extraction is None:
        extraction = extract_elements(
            chunks, llm, gleanings=options.gleanings, claims=options.covariates, follow=follow,
            entity_types=options.entity_types, examples=options.examples, executor=executor,
        )  # fmt: skip
    # Sec. 2.3, element instances -> element summaries: one description for each node and edge.
    if isinstance(extraction, Graph):
        graph = extraction
    else:
        elements = given_elements(corpus, extraction, llm, executor)
        graph = textual_knowledge_graph(chunks, elements, llm, follow=follow, executor=executor)
    if isinstance(reports, str):
        check_value("reports", reports, Literal["annotations"])
        return kept_index(corpus, graph)
    # Sec. 2.4, element summaries -> graph communities: Leiden on the weighted graph, every level.
    communities = find_communities(
        graph, options.method, options.max_size, options.community_seed, options.resolution,
        options.largest_component_only, options.reversed_edges, options.best_of,
    )  # fmt: skip
    # Sec. 2.5, graph communities -> community summaries: the deepest level first.
    return write_reports(communities, llm, options, executor, reports)


class Reduced(NamedTuple):
    """A global answer, the steps that led to it, and the partial answers that it rests on."""

    text: str
    steps: tuple[Step, ...]
    kept: list[PartialAnswer]


def map_reduce(
    llm: LLM, question: str, units: Sequence[Unit], options: MapReduceOptions,
    what: str = "reports", executor: Executor | None = None, rank: Rank | None = None,
) -> Reduced:  # fmt: skip
    """Community summaries -> community answers -> global answer, over any `(id, text)` units.

    rank: see `shuffle_and_pack`. executor: any `concurrent.futures.Executor` for the map step.
    Where no partial answer scores above 0 nobody is asked to reduce, and the text says so.

    Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Sec. 6.3 (generation)
    """
    # Prepare community summaries: shuffled, and divided into windows of a given number of tokens.
    windows, packing = shuffle_and_pack(units, question, options, rank)
    # Map community answers: for each window, in parallel, an answer and its score from 0 to 100.
    asked = [{"question": question, "units": window} for window in windows]
    replies = llm.map(SCORINGS[options.scoring], asked, executor=executor, description="map")
    answers = [
        PartialAnswer(text, score, tuple(name for name, _ in window))
        for window, reply in zip(windows, replies)
        for text, score in reply
    ]
    # Answers with score 0 are filtered out.
    helpful = [answer for answer in answers if answer.score > 0]
    # Reduce to global answer: by descending score into a last window, until it is full.
    helpful.sort(key=lambda answer: -answer.score)
    kept, reducing = fill_last_window(question, helpful, options)
    if kept:
        text = llm("reduce_answer", question=question, answers=[answer[:2] for answer in kept])
    elif helpful:
        text = f"A window of {options.window} tokens holds none of the partial answers."
    else:
        none = f"none of the {len(answers)} partial answers scored above 0"
        text = f"The {what} hold no answer to this question: {none}."
    mapping = map_step(answers, helpful, replies, llm.is_model)
    return Reduced(text, (packing, mapping, reducing), kept)


def best_scores(answers: Iterable[PartialAnswer]) -> dict[str, float]:
    """For each unit that an answer rests on, the best score of a partial answer that read it."""
    best: dict[str, float] = {}
    for answer in answers:
        for unit in answer.units:
            best[unit] = float(max(answer.score, best.get(unit, 0.0)))
    return best


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CitedStep(Step):
    """The reports behind an answer, by their best score, and the ids of the chunks it cites."""

    reports: tuple[ScoredCommunity, ...]
    chunks: tuple[str, ...]
    shows = "reports"


@dataclass(frozen=True)
class GlobalOptions(MapReduceOptions, IndexOptions):
    """How the index is built, which of its reports are read, and how.

    level: 0 to 3 for the paper's C0 to C3; a level deeper than exists is the deepest.
    union: every report down to the level (G4, the code).
    min_rating: reports that are rated lower are not read.
    report_k: only this many reports, the nearest to the question, go into map-reduce (None: all).
    roll_up: replace what was found by the communities this many levels above. This and `report_k`
        are what the paper leaves to future work.
    """

    level: Count = 2
    union: bool = False
    min_rating: float = 0.0
    report_k: Positive | None = None
    roll_up: Count = 0


class GraphRAGGlobal(CommunityMethod):
    """Map-reduce over the reports of one level; `retrieve` lists those reports as passages named
    `report:ID`.

    Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Table 3 (tab-3)
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

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: GivenElements = None, reports: GivenReports = None,
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Read elements, build the graph, divide it, write the reports: see `build_index`.

        executor: any `concurrent.futures.Executor`, for extraction, reports and the map step.
        encoder: only used where report_k asks for vectors.
        """
        chosen, llm = choose(cls.options_type, cls.settings, follow, options), load_llm(llm)
        index = build_index(corpus, llm, chosen, extraction, reports, executor, follow)
        return cls(index, llm, encoder, chosen, executor)

    def choose_reports(self, questions: Sequence[str]) -> list[Trace]:
        """For each question the trace that ends in the chosen communities: those of the level, and,
        where asked for, the nearest of them, or those above.
        """
        options, index = self.chosen, self.index
        steps = [
            community.layer(questions, index, options.level, options.union, options.min_rating)
        ]
        if options.report_k is not None:
            asked = question.vector(questions, self._vectors[1].encoder)
            allowed = [[row.index for row in step.communities] for step in steps[-1]]
            steps.append(community.vdb(asked, self._vectors, allowed, options.report_k))
        if options.roll_up:
            steps.append(community.roll_up(steps[-1], index, options.roll_up))
        return [Trace(trace) for trace in zip(*steps)]

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        """The first k of the reports that map-reduce would read: the nearest to the question where
        vectors chose, else by rating.
        """
        retrievals, questions = [], list(questions)
        for text, trace in zip(questions, self.choose_reports(questions)):
            chosen = trace.last(CommunityStep).communities
            best = sorted(chosen, key=lambda row: (-row.score, row.index))[:k]
            retrievals.append(Retrieval(text, self.name, self._passages(best), trace))
        return retrievals

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """Map-reduce over all chosen reports, however small k is; the retrieval holds the reports
        that the answer cites or rests on.

        Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Sec. 6.3 (generation)
        """
        communities = retrieval.trace.last(CommunityStep).communities
        places = {self.passage(row.index).id: row.index for row in communities}
        units = [(name, self.index.reports[place].text) for name, place in places.items()]
        text, steps, kept = map_reduce(
            self.llm, retrieval.question, units, self.chosen, "reports", self.executor,
            self._rank(places),
        )  # fmt: skip
        named, chunks = cited(self.index, text)
        read = [places[unit] for answer in kept for unit in answer.units]
        used = dict.fromkeys([place for place in named if place in places.values()] or read)
        ids = [self.chunks[i].id for i in chunks]
        if kept and not self.llm.is_model:
            reports = ", ".join(self.index.communities.items[place].id for place in used)
            behind = ", ".join(ids[:12]) or "none named"
            text += f"\nReports: {reports}. Passages behind them: {behind}."
        step = self._cited(used, best_scores(kept), ids)
        found = Retrieval(retrieval.question, self.name, self._passages(step.reports))
        return text, found.followed_by(*retrieval.trace, *steps, step)

    def passage(self, place: int) -> Chunk:
        """A report as a chunk: its id is `report:` and the community's id."""
        report, item = self.index.reports[place], self.index.communities.items[place]
        return Chunk(f"report:{item.id}", report.text, report.title, end=len(report.text))

    def _passages(self, rows: Sequence[ScoredCommunity]) -> tuple[Passage, ...]:
        ranked = enumerate(rows, start=1)
        return tuple(Passage(self.passage(row.index), row.score, rank) for rank, row in ranked)

    def _rank(self, places: Mapping[str, int]) -> Rank:
        """Report -> what it is sorted by in a window: occurrence weight if asked for, rating."""
        weights = self.index.occurrence() if self.chosen.resort == "occurrence" else {}
        reports = self.index.reports
        return {name: (weights.get(p, 0.0), reports[p].rating) for name, p in places.items()}

    def _cited(
        self, places: Iterable[int], best: Mapping[str, float], chunks: Sequence[str]
    ) -> CitedStep:
        """What the answer rests on, the reports of the most helpful partial answers first."""
        reports = [
            ScoredCommunity(self.index.reports[p].title, p, best.get(self.passage(p).id, 0.0))
            for p in places
        ]
        reports.sort(key=lambda row: (-row.score, row.index))
        behind = f"{len(reports)} reports and {len(chunks)} passages behind the answer"
        said = f"{behind}: {', '.join(chunks[:8]) or 'no passage is cited'}"
        return CitedStep("cited", said, reports=tuple(reports), chunks=tuple(chunks))

    @cached_property
    def _vectors(self) -> tuple[list[int], VectorIndex]:
        texts = [report.text for report in self.index.reports.values()]
        return report_index(self.index, load_encoder(self.encoder).fit(texts))
