"""GraphRAG's global search: every report of one level of communities, mapped to partial answers and
reduced to one.

Paper: GraphRAG (From Local to Global). Official code: microsoft/graphrag, v3.1.2; `follow="code"`
does as it does.
Differs from the released code in: prompts; its windows show the occurrence weight and the rating
beside each report, here they only sort; the order of the reports before the shuffle.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

from ...core.corpus import Chunk
from ...core.options import Count, Options, Positive, route
from ...core.results import Answer, Passage, Retrieval
from ...core.trace import Step
from ...encoders.text_encoders import load_encoder
from ...index.reports import CODE as REPORT_CODE
from ...index.reports import CommunityIndex, ReportChoices
from ...index.sources import cited
from ...index.vectors import report_index
from ...llm import load_llm
from ...operators import community, question
from . import building as parts
from .map_reduce import CODE as MAP_REDUCE_CODE
from .map_reduce import MapReduceChoices, map_reduce


@dataclass(frozen=True)
class QueryChoices(Options):
    """level: 0 to 3 for the paper's C0 to C3; a level deeper than exists is the deepest. union:
    every report down to the level (G4, the code).

    min_rating: reports that are rated lower are not read.
    report_k: only this many reports, the nearest to the question, go into map-reduce (None: all).
    roll_up: replace what was found by the communities this many levels above. Both are what the
    paper leaves to future work.
    """

    level: Count = 2
    union: bool = False
    min_rating: float = 0.0
    report_k: Positive | None = None
    roll_up: Count = 0


KINDS = {
    "query": (QueryChoices, {"union": True}),
    "reading": (MapReduceChoices, MAP_REDUCE_CODE),
    "reporting": (ReportChoices, REPORT_CODE),
    "building": (parts.GraphChoices, parts.GRAPH_CODE),
}


class GraphRAGGlobal(parts.CommunityMethod):
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
    operators = {"community": ("Layer",)}
    answer_task = "reduce_answer"
    varied = ("query", "reading")

    def __init__(self, index, llm, encoder, chosen, executor: Executor | None = None):
        super().__init__(index.communities.graph.chunks, llm)
        self.index, self.encoder, self.chosen, self.executor = index, encoder, chosen, executor

    def __repr__(self):
        return f"GraphRAGGlobal at level {self.chosen['query'].level} over {self.index!r}; answers by {self.llm.name}"

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder="minilm",
        extraction=None,
        reports=None,
        executor=None,
        follow="paper",
        **choices,
    ):
        """Read elements, build the graph, divide it, write the reports.

        extraction, reports: see `graphrag_parts.graph_of` and `index_of`. executor: any
        `concurrent.futures.Executor`, for extraction, reports and the map step. encoder: only used
        where report_k asks for vectors. follow, **choices: the fields of `QueryChoices`,
        `MapReduceChoices`, `ReportChoices` and `GraphChoices`.
        """
        chosen, llm = route(follow, choices, **KINDS), load_llm(llm)
        if isinstance(reports, CommunityIndex):
            return cls(reports, llm, encoder, chosen, executor)
        graph = parts.graph_of(corpus, llm, extraction, follow, chosen["building"], executor)
        index = parts.index_of(
            corpus,
            graph,
            llm,
            chosen["building"],
            chosen["reporting"],
            chosen["reading"].count,
            executor,
            reports,
        )
        return cls(index, llm, encoder, chosen, executor)

    @classmethod
    def from_index(
        cls, index, llm="offline", encoder="minilm", executor=None, follow="paper", **choices
    ):
        """The method over a `CommunityIndex` that exists already, such as Microsoft's own."""
        return cls(index, load_llm(llm), encoder, route(follow, choices, **KINDS), executor)

    @cached_property
    def _vectors(self):
        encoder = load_encoder(self.encoder).fit(
            [report.text for report in self.index.reports.values()]
        )
        return report_index(self.index, encoder)

    def choose(self, questions):
        """For each question the trace that ends in the chosen communities: the layer, and, where
        asked for, vectors and roll-up.
        """
        c = self.chosen["query"]
        layer = community.layer(questions, self.index, c.level, c.union, c.min_rating)
        traces = [(step,) for step in layer]
        if c.report_k is not None:
            asked = question.vector(questions, self._vectors[1].encoder)
            allowed = [trace[-1].data["communities"] for trace in traces]
            near = community.vdb(asked, self._vectors, allowed, c.report_k)
            traces = [(*trace, step) for trace, step in zip(traces, near)]
        if c.roll_up:
            above = community.roll_up([trace[-1] for trace in traces], self.index, c.roll_up)
            traces = [(*trace, step) for trace, step in zip(traces, above)]
        return traces

    def retrieve_many(self, questions, k=5):
        """The first k of the reports that map-reduce would read: the nearest to the question where
        vectors chose, else by rating.
        """
        questions = list(questions)
        return [
            self._listed(question, trace, k)
            for question, trace in zip(questions, self.choose(questions))
        ]

    def _listed(self, question, trace, k):
        places, near = trace[-1].data["communities"], trace[-1].data.get("scores")
        scores = near or {place: self.index.reports[place].rating for place in places}
        best = sorted(places, key=lambda place: (-scores[place], place))[:k]
        return Retrieval(
            question,
            self.name,
            tuple(
                Passage(self.passage(p), scores[p], rank) for rank, p in enumerate(best, start=1)
            ),
            trace,
        )

    def passage(self, place):
        """A report as a chunk: its id is `report:` and the community's id."""
        report = self.index.reports[place]
        return Chunk(
            f"report:{self.index.communities.items[place].id}",
            report.text,
            report.title,
            end=len(report.text),
        )

    def answer(self, question, k=5, task=None):
        """Map-reduce over all chosen reports, however small k is; the retrieval of the answer holds
        the reports that it cites or rests on.

        Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Sec. 6.3 (generation)
        """
        self.reader(task)  # refuses those that read passages
        before = self.llm.ledger.snapshot()
        trace = self.choose([question])[0]
        places = {self.passage(place).id: place for place in trace[-1].data["communities"]}
        units = [(name, self.index.reports[place].text) for name, place in places.items()]
        reading = self.chosen["reading"]
        rank = self._rank(places, by_occurrence=reading.resort == "occurrence")
        text, steps, kept = map_reduce(
            self.llm, question, units, reading, "reports", self.executor, rank
        )

        named, chunks = cited(self.index, text)
        read = [places[unit] for _, _, window in kept for unit in window]
        rests_on = [place for place in named if place in places.values()] or read
        used = self._used(dict.fromkeys(rests_on), kept, chunks)
        if kept and not self.llm.is_model:
            behind = ", ".join(self.chunks[i].id for i in chunks[:12]) or "none named"
            text += f"\nReports: {self._ids(rests_on)}. Passages behind them: {behind}."

        ranked = enumerate(used.data["scores"].items(), start=1)
        passages = [Passage(self.passage(place), score, i) for i, (place, score) in ranked]
        retrieval = Retrieval(question, self.name, tuple(passages), (*trace, *steps, used))
        spent = (self.llm.ledger - before).total
        return Answer(text, self.llm.name, retrieval, spent.prompt_tokens, spent.completion_tokens)

    def _rank(self, places, by_occurrence):
        """Report -> what it is sorted by in a window: occurrence weight if asked for, rating."""
        weight, reports = self.index.occurrence() if by_occurrence else {}, self.index.reports
        return {name: (weight.get(p, 0.0), reports[p].rating) for name, p in places.items()}

    def _ids(self, places):
        return ", ".join(dict.fromkeys(self.index.communities.items[place].id for place in places))

    def _used(self, places, kept, chunks):
        """The step that says what the answer rests on; a report's score is the best of a partial
        answer that read it.
        """
        best = {}
        for _, score, window in kept:
            for unit in window:
                best[unit] = max(score, best.get(unit, 0.0))
        scores = {place: float(best.get(self.passage(place).id, 0.0)) for place in places}
        scores = dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
        ids = [self.chunks[i].id for i in chunks]
        said = f"{len(scores)} reports and {len(ids)} passages behind the answer: {', '.join(ids[:8]) or 'no passage is cited'}"
        items = tuple(
            (self.index.reports[place].title, score) for place, score in list(scores.items())[:10]
        )
        return Step("cited", said, items, {"scores": scores, "chunks": ids})
