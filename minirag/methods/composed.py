"""What a composition of operators does: it runs them, unites what they chose, and reads it.

`compose` makes the classes. Where the survey leaves things open, this file decides:

- Scores that nobody sums choose the 4 best (the survey's k).
- Several steps of one kind are united as LightRAG's hybrid search unites them.
- Each section of the context may fill an equal share of the window; the last gets what is left.
- Where no operator scores passages, those behind the chosen relations are scored, or behind the
  chosen nodes where there are no relations, so that retrieval can be measured.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Self, cast

import numpy as np

from .. import graphs
from ..core.corpus import Corpus
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.options import choose
from ..core.reports import CommunityIndex
from ..core.results import Retrieval
from ..core.trace import (
    ChunkStep,
    CommunityStep,
    EdgeStep,
    FactStep,
    NodeStep,
    PathStep,
    ScoredEdge,
    ScoredNode,
    SteinerStep,
    Step,
    Trace,
    WalkStep,
)
from ..encoders.text_encoders import load_encoder
from ..index import matrices
from ..llm import LLM, load_llm
from ..operators import chunk, relationship
from ..operators.operator import Operator, Parts
from ..operators.paths import path_text
from ..prompts import Task
from . import rich_graph as rich
from .base import Sections, StoredMethod
from .graphrag import global_search as search
from .graphrag.released import IndexOptions, MapReduceOptions
from .lightrag import union

TOP = 4  # the survey's k (Sec. 7.1)
UNITED = {NodeStep: "nodes", EdgeStep: "relations", CommunityStep: "reports"}
GRANULARITY: dict[type[Step], str] = {
    NodeStep: "Entity", EdgeStep: "Relationship", PathStep: "Subgraph", SteinerStep: "Subgraph",
    CommunityStep: "Community", ChunkStep: "Chunk", WalkStep: "Entity", FactStep: "Relationship",
}  # fmt: skip
SECTIONS = {
    "Entity": "entities", "Relationship": "relations", "Subgraph": "paths", "Community": "reports",
    "Tree node": "tree nodes", "Chunk": "passages",
}  # fmt: skip


@dataclass(frozen=True)
class ComposedOptions(MapReduceOptions, IndexOptions):
    """How the index is built, how steps are united, and how what was found is read.

    merge: of several steps of one kind, "in turns", or "global first" (the last step first).
    """

    merge: rich.Merge = "in turns"


class Composition(type):
    """The class of composed classes: their `repr` is their row."""

    row: str

    def __repr__(cls) -> str:
        return cls.row


class Composed(StoredMethod, metaclass=Composition):
    """What `compose` makes a subclass of.

    Source: Survey, Table 3 (tab-3); Survey, Alg. 1 (alg-1)
    """

    paper = "composed of the survey's operators"
    options_type = ComposedOptions
    built_with = search.CommunityMethod.built_with
    plan: ClassVar[tuple[Operator, ...]] = ()
    chosen_by: ClassVar[tuple[int, ...]] = ()  # positions in the plan
    map_reduced: ClassVar[bool] = False
    row = "a composition of operators: compose(...) makes one"
    chosen: ComposedOptions

    def __init__(
        self, built: Graph | CommunityIndex, llm: LLM, encoder: str | Encoder,
        chosen: ComposedOptions, executor: Executor | None = None,
    ) -> None:  # fmt: skip
        reports = built if isinstance(built, CommunityIndex) else None
        self.graph = built.communities.graph if isinstance(built, CommunityIndex) else built
        super().__init__(self.graph.chunks, llm)
        self.built, self.chosen, self.executor = built, chosen, executor
        self.parts = Parts(self.graph, llm, load_encoder(encoder), reports)
        self.encoder = self.parts.encoder

    @property
    def stored(self) -> Graph | CommunityIndex:
        return self.built

    def __repr__(self) -> str:
        made = f"encoder {self.encoder.name}; answers by {self.llm.name}"
        return f"{type(self).row}\nover {self.built!r}; {made}"

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: search.GivenElements = None, reports: search.GivenReports = None,
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Build the graph of the composition, and communities where it needs them.

        extraction: None lets `llm` read the text; a name, an `Extraction`, `Elements` or a whole
        `Graph` are used as they are. reports: as `build_index` takes them.
        """
        chosen, model = choose(cls.options_type, cls.settings, follow, options), load_llm(llm)
        graph = graph_of(cls.graph_type, corpus, model, encoder, extraction, chosen, executor)
        if cls.stored_type is CommunityIndex:
            index = search.build_index(corpus, model, chosen, graph, reports, executor)
            return cls(index, model, encoder, chosen, executor)
        return cls(graph, model, encoder, chosen, executor)

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The operators of the plan, then what they chose, united: the trace of each question."""
        found: list[list[Step]] = [[] for _ in questions]
        for operator in self.plan:
            for steps, step in zip(found, operator.run(self.parts, questions, found)):
                steps.append(step)
        return [self.with_ending(steps) for steps in found]

    # What was chosen.

    def with_ending(self, steps: Sequence[Step]) -> Trace:
        """The steps, those that unite several, and last of all the one that scores passages."""
        ends = self.ends(steps)
        if not any(isinstance(step, ChunkStep) for step in ends):
            ends.append(self.behind(ends))
        last = Trace(steps).all(ChunkStep)[-1:]
        known = {id(step) for step in steps} - {id(ends[-1])}.difference(map(id, last))
        return Trace([*steps, *(step for step in ends if id(step) not in known)])

    def ends(self, steps: Sequence[Step]) -> list[Step]:
        """What the operators chose, one step of each kind but paths and subgraphs."""
        chosen = [top_rows(self.graph, steps[place]) for place in self.chosen_by]
        order, united = self.chosen.merge, list[Step]()
        for kind, noun in UNITED.items():
            same = cast("list[NodeStep]", [step for step in chosen if isinstance(step, kind)])
            united += [union(same, f"{noun} merge", noun, order)] if same[1:] else same
        united += [step for step in chosen if isinstance(step, PathStep | SteinerStep)]
        chunks = [step for step in chosen if isinstance(step, ChunkStep)]
        if chunks[1:]:
            places = rich.merged([rich.ranked(step.scores) for step in chunks], order)
            chunks = [rich.in_order(places, self.labels, "chunk merge", f"merged, {order}")]
        return [*united, *chunks]

    def elements(self, step: Step) -> tuple[dict[int, float], dict[int, float]]:
        """The nodes and the relations that a step holds, with scores."""
        if isinstance(step, NodeStep):
            return {row.index: row.score for row in step.nodes}, {}
        if isinstance(step, EdgeStep):
            return {}, {row.index: row.score for row in step.edges}
        if isinstance(step, PathStep):
            found = zip(step.paths, step.edges)
            return {}, {edge: path.score for path, ways in found for edge in chain(*ways)}
        if isinstance(step, SteinerStep):
            return dict.fromkeys(step.nodes, 1.0), dict.fromkeys(step.edges, 1.0)
        groups = step.communities if isinstance(step, CommunityStep) else ()
        items = self.parts.communities.communities.items if groups else ()
        return {i: row.score for row in groups for i in items[row.index].members}, {}

    def behind(self, ends: Sequence[Step]) -> ChunkStep:
        """The passages of the chosen relations, or of the chosen nodes where there are none."""
        nodes, edges = dict[int, float](), dict[int, float]()
        for step in ends:
            own = self.elements(step)
            nodes, edges = nodes | own[0], edges | own[1]
        if edges:
            rows = tuple(ScoredEdge("", *row) for row in edges.items())
            chosen = EdgeStep("relations", "", edges=rows)
            [scored] = chunk.from_relationships([chosen], self.graph, self.labels)
        else:
            scores = np.array([nodes.get(place, 0.0) for place in range(len(self.graph.nodes))])
            matrix = matrices.passage_matrix(self.graph, "incidence")
            walked = WalkStep("nodes", "", scores=scores, reset=scores)
            said = f"the passages that {len(nodes)} nodes were read from"
            [scored] = chunk.aggregator([walked], matrix, self.labels, said)
        measured = f"{scored.summary}, to be measured"
        return replace(scored, operator="passages behind", summary=measured)

    # Generation.

    def texts(self, retrieval: Retrieval) -> Sections:
        """What was chosen, as texts, section by section."""
        graph, parts, found = self.graph, self.parts, dict[str, list[str]]()
        for step in self.ends(retrieval.trace[: len(self.plan)]):
            word = word_for(type(step), self.graph_type)
            texts = found.setdefault(SECTIONS[word], []) if word in self.granularity else []
            if isinstance(step, ChunkStep):
                texts += [each.chunk.passage for each in retrieval.passages if each.score > 0]
            elif isinstance(step, CommunityStep):
                texts += [parts.communities.reports[row.index].text for row in step.communities]
            elif isinstance(step, PathStep):
                texts += [path_text(graph, *row) for row in zip(step.paths, step.edges)]
            else:
                nodes, edges = self.elements(step)
                named = graph.type not in ("passage", "tree")
                texts += [
                    rich.entity_row(graph, i) if named else parts.node_texts[i] for i in nodes
                ]
                texts += [rich.relation_row(graph, i) for i in edges]
        return found

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """What was chosen, in as many tokens as `window` says.

        Source: Survey, Sec. 6.3 (generation)
        """
        window, texts = self.chosen.window, self.texts(retrieval)
        last, share = [*texts][-1:], window // max(len(texts), 1)
        given = {name: (rows, None if [name] == last else share) for name, rows in texts.items()}
        filled, step = rich.fill(given, self.chosen.count, window)
        return filled, retrieval.followed_by(step)

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer from the context, or map-reduce over every item that was chosen.

        Source: Survey, Sec. 6.3 (generation)
        """
        if not self.map_reduced:
            return super().generate(retrieval, reader)
        texts, asked = self.texts(retrieval), retrieval.question
        units = [(f"{n} {i}", text) for n, rows in texts.items() for i, text in enumerate(rows, 1)]
        reduced = search.map_reduce(self.llm, asked, units, self.chosen, "items", self.executor)
        return reduced.text, retrieval.followed_by(*reduced.steps)


def word_for(kind: type[Step], graph: str) -> str:
    """What a step of this type is in Table 1's words."""
    word = next(word for known, word in GRANULARITY.items() if issubclass(kind, known))
    return {"passage": "Chunk", "tree": "Tree node"}.get(graph, word) if word == "Entity" else word


def top_rows(graph: Graph, step: Step) -> Step:
    """Scores of all nodes or relations as a choice of the best; any other step as it is."""
    if not isinstance(step, WalkStep | FactStep):
        return step
    walked, said = isinstance(step, WalkStep), f"the best of {step.operator}"
    best = rich.ranked(step.scores[: len(graph.nodes) if walked else None])[:TOP]
    if walked:
        rows = [ScoredNode(graph.nodes[i].name, i, float(step.scores[i])) for i in best]
        return NodeStep("nodes by score", said, nodes=tuple(rows))
    edges = [ScoredEdge(relationship.label(graph, i), i, float(step.scores[i])) for i in best]
    return EdgeStep("relations by score", said, edges=tuple(edges))


def graph_of(
    kind: str, corpus: Corpus, llm: LLM, encoder: Encoder | str, extraction: search.GivenElements,
    options: IndexOptions, executor: Executor | None,
) -> Graph:  # fmt: skip
    """The graph of a corpus, of one of the types in Table 1, or none: a graph of chunks alone.

    Source: Survey, Sec. 4 (graphs)
    """
    if isinstance(extraction, Graph):
        if extraction.type != kind:
            raise MiniragError(f"a {kind} graph is expected, got a {extraction.type} graph.")
        return extraction
    if kind == "none":
        return Graph("none", "nobody", (), (), corpus.chunks)
    if kind == "tree":
        fitted = load_encoder(encoder).fit([each.passage for each in corpus.chunks])
        return graphs.tree(corpus.chunks, fitted, llm, executor=executor)
    if kind == "rich knowledge":
        same = {name: getattr(options, name) for name in ("gleanings", "entity_types", "examples")}
        asked = rich.RichOptions(**same)
        return rich.rich_graph_of(corpus, llm, extraction, options=asked, executor=executor)
    if kind == "textual knowledge":
        return search.build_graph(corpus, llm, options, extraction, executor, "paper")
    if isinstance(extraction, graphs.Elements):
        raise MiniragError(f"a {kind} graph is read from an Extraction, not from Elements.")
    read = graphs.choose_extraction(corpus, extraction, llm, executor)
    make = graphs.passage_graph if kind == "passage" else graphs.knowledge_graph
    return replace(make(corpus.chunks, read), type=kind)
