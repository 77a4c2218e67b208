"""Methods composed of the pool's operators: a row of the survey's Table 3, written by hand, is
checked, built and asked like any other method.

A composition runs its operators in their order, each on the latest step of the type that it takes
(`Operator.sources`). What nobody goes on with is what the composition chose, and becomes the
context. Where the survey leaves things open, this file decides:

- A step gives way to what an operator of its own kind, or a subgraph operator, makes of it, and
  scores that another operator sums are no choice. All other steps are chosen.
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
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..core.corpus import Corpus
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.options import check_value, choose
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
from ..graphs import (
    Elements,
    choose_extraction,
    given_elements,
    knowledge_graph,
    passage_graph,
    tree,
)
from ..index import matrices
from ..llm import LLM, load_llm
from ..operators import chunk, relationship
from ..operators.operator import GRAPHS
from ..operators.paths import path_text
from ..operators.pool import OPERATORS, Operator, Parts
from ..prompts import Task
from . import rich_graph as rich
from .base import Sections, StoredMethod
from .graphrag.global_search import (
    CommunityMethod,
    GivenElements,
    GivenReports,
    build_graph,
    build_index,
    map_reduce,
)
from .graphrag.released import IndexOptions, MapReduceOptions
from .lightrag import union

TOP = 4  # the survey's k (Sec. 7.1)
COMPONENTS = ("Entity", "Tree node", "Relationship", "Chunk", "Community")
SCORES = (WalkStep, FactStep, ChunkStep)
GRANULARITY: dict[type[Step], str] = {
    NodeStep: "Entity", EdgeStep: "Relationship", PathStep: "Subgraph", SteinerStep: "Subgraph",
    CommunityStep: "Community", ChunkStep: "Chunk", WalkStep: "Entity", FactStep: "Relationship",
}  # fmt: skip
SECTIONS = {
    "Entity": "entities", "Relationship": "relations", "Subgraph": "paths", "Community": "reports",
    "Tree node": "tree nodes", "Chunk": "passages",
}  # fmt: skip
Generate = Literal["directly", "map-reduce"]


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
    built_with = CommunityMethod.built_with
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
        self.encoder = load_encoder(encoder).fit([each.passage for each in self.chunks])
        self.built, self.chosen, self.executor = built, chosen, executor
        self.parts = Parts(self.graph, llm, self.encoder, reports)

    @property
    def stored(self) -> Graph | CommunityIndex:
        return self.built

    def __repr__(self) -> str:
        made = f"encoder {self.encoder.name}; answers by {self.llm.name}"
        return f"{type(self).row}\nover {self.built!r}; {made}"

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: GivenElements = None, reports: GivenReports = None,
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Build the graph of the composition, and communities where it needs them.

        extraction: None lets `llm` read the text; a name, an `Extraction`, `Elements` or a whole
        `Graph` are used as they are. reports: as `build_index` takes them.
        """
        chosen, model = choose(cls.options_type, cls.settings, follow, options), load_llm(llm)
        built: Graph | CommunityIndex
        built = graph_of(cls.graph_type, corpus, model, encoder, extraction, chosen, executor)
        if "Community" in cls.index_components:
            built = build_index(corpus, model, chosen, built, reports, executor)
        return cls(built, model, encoder, chosen, executor)

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
        nodes = [step for step in chosen if isinstance(step, NodeStep)]
        edges = [step for step in chosen if isinstance(step, EdgeStep)]
        groups = [step for step in chosen if isinstance(step, CommunityStep)]
        chunks = [step for step in chosen if isinstance(step, ChunkStep)]
        united += [union(nodes, "node merge", "nodes", order)] if nodes[1:] else nodes
        united += [union(edges, "relationship merge", "relations", order)] if edges[1:] else edges
        united += [union(groups, "community merge", "reports", order)] if groups[1:] else groups
        united += [step for step in chosen if isinstance(step, PathStep | SteinerStep)]
        if chunks[1:]:
            places = rich.merged([rich.ranked(step.scores) for step in chunks], order)
            chunks = [rich.in_order(places, self.labels, "chunk merge", f"merged, {order}")]
        return [*united, *chunks]

    def behind(self, ends: Sequence[Step]) -> ChunkStep:
        """The passages of the chosen relations, or of the chosen nodes where there are none."""
        edges, nodes = dict[int, float](), dict[int, float]()
        for step in ends:
            if isinstance(step, EdgeStep):
                edges.update((row.index, row.score) for row in step.edges)
            elif isinstance(step, PathStep):
                for path, places in zip(step.paths, step.edges):
                    edges.update(dict.fromkeys(chain(*places), path.score))
            elif isinstance(step, SteinerStep):
                edges.update(dict.fromkeys(step.edges, 1.0))
                nodes.update(dict.fromkeys(step.nodes, 1.0))
            elif isinstance(step, NodeStep):
                nodes.update((row.index, row.score) for row in step.nodes)
            elif isinstance(step, CommunityStep) and self.parts.reports:
                for row in step.communities:
                    members = self.parts.reports.communities.items[row.index].members
                    nodes.update(dict.fromkeys(members, row.score))
        if edges:
            rows = tuple(ScoredEdge("", place, score) for place, score in edges.items())
            chosen = EdgeStep("relations", "", edges=rows)
            [step] = chunk.from_relationships([chosen], self.graph, self.labels)
        else:
            scores = np.zeros(len(self.graph.nodes))
            scores[list(nodes)] = list(nodes.values())
            matrix = matrices.passage_matrix(self.graph, "incidence")
            walked = WalkStep("nodes", "", scores=scores, reset=scores)
            said = f"the passages that {len(nodes)} nodes were read from"
            [step] = chunk.aggregator([walked], matrix, self.labels, said)
        return replace(step, operator="passages behind", summary=f"{step.summary}, to be measured")

    # Generation.

    def texts(self, retrieval: Retrieval) -> Sections:
        """What was chosen, as texts, section by section."""
        graph, parts, found = self.graph, self.parts, dict[str, list[str]]()
        for step in self.ends(retrieval.trace[: len(self.plan)]):
            kind = word_for(type(step), self.graph_type)
            texts = found.setdefault(SECTIONS[kind], []) if kind in self.granularity else []
            if isinstance(step, NodeStep) and kind != "Entity":
                texts += [parts.node_texts[row.index] for row in step.nodes]
            elif isinstance(step, NodeStep):
                texts += [rich.entity_row(graph, row.index) for row in step.nodes]
            elif isinstance(step, EdgeStep):
                texts += [rich.relation_row(graph, row.index) for row in step.edges]
            elif isinstance(step, CommunityStep):
                texts += [parts.communities.reports[row.index].text for row in step.communities]
            elif isinstance(step, PathStep):
                texts += [path_text(graph, *row) for row in zip(step.paths, step.edges)]
            elif isinstance(step, SteinerStep):
                texts += [rich.entity_row(graph, place) for place in step.nodes]
                texts += [rich.relation_row(graph, place) for place in step.edges]
            else:
                texts += [p.chunk.passage for p in retrieval.passages if p.score > 0]
        return found

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """What was chosen, in as many tokens as `window` says.

        Source: Survey, Sec. 6.3 (generation)
        """
        window, texts = self.chosen.window, self.texts(retrieval)
        shares = [window // len(texts)] * (len(texts) - 1) if texts else []
        budgeted = {
            name: (rows, share) for (name, rows), share in zip(texts.items(), [*shares, None])
        }
        filled, step = rich.fill(budgeted, self.chosen.count, window)
        return filled, retrieval.followed_by(step)

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer from the context, or map-reduce over every item that was chosen.

        Source: Survey, Sec. 6.3 (generation)
        """
        if not self.map_reduced:
            return super().generate(retrieval, reader)
        texts, asked = self.texts(retrieval), retrieval.question
        units = [(f"{n} {i}", text) for n, rows in texts.items() for i, text in enumerate(rows, 1)]
        reduced = map_reduce(self.llm, asked, units, self.chosen, "items", self.executor)
        return reduced.text, retrieval.followed_by(*reduced.steps)


def word_for(kind: type[Step], graph: str) -> str:
    """What a step of this type is in Table 1's words."""
    word = next(word for known, word in GRANULARITY.items() if issubclass(kind, known))
    return {"passage": "Chunk", "tree": "Tree node"}.get(graph, word) if word == "Entity" else word


def top_rows(graph: Graph, step: Step) -> Step:
    """Scores of all nodes or relations as a choice of the best; any other step as it is."""
    if not isinstance(step, WalkStep | FactStep):
        return step
    best, said = rich.ranked(step.scores)[:TOP], f"the best of {step.operator}"
    if isinstance(step, WalkStep):
        rows = [ScoredNode(graph.nodes[i].name, i, float(step.scores[i])) for i in best]
        return NodeStep("nodes by score", said, nodes=tuple(rows))
    edges = [ScoredEdge(relationship.label(graph, i), i, float(step.scores[i])) for i in best]
    return EdgeStep("relations by score", said, edges=tuple(edges))


def graph_of(
    kind: str, corpus: Corpus, llm: LLM, encoder: Encoder | str, extraction: GivenElements,
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
        return tree(corpus.chunks, fitted, llm, executor=executor)
    if kind == "rich knowledge":
        asked = rich.RichOptions(
            gleanings=options.gleanings, entity_types=options.entity_types,
            examples=options.examples,
        )  # fmt: skip
        return rich.rich_graph_of(corpus, llm, extraction, options=asked, executor=executor)
    if kind == "textual knowledge":
        given = None if extraction is None else given_elements(corpus, extraction, llm, executor)
        return build_graph(corpus, llm, options, given, executor, "paper")
    if isinstance(extraction, Elements):
        raise MiniragError(f"a {kind} graph is read from an Extraction, not from Elements.")
    read = choose_extraction(corpus, extraction, llm, executor)
    make = passage_graph if kind == "passage" else knowledge_graph
    return make(corpus.chunks, read)


def compose(
    *, operators: Sequence[str | Operator], graph: str = "none",
    index: Sequence[str] | None = None, generate: Generate = "directly", name: str = "composed",
    granularity: Sequence[str] | None = None,
) -> type[Composed]:  # fmt: skip
    """A method of one's own, composed of operators of the pool: a class with `build` like any
    other, whose `repr` is its row and says what nobody uses.

    operators: names out of `OPERATORS`, or operators with options of their own, as
        `OPERATORS["node VDB"](k=10)`; a question conversion that one of them takes and that is not
        named is put in front.
    graph: "none", "knowledge", "textual knowledge", "rich knowledge", "passage" or "tree".
    index: the index components, in Table 1's words; None has those that the operators search.
    generate: "directly", or "map-reduce" over every item that was chosen.
    granularity: what of all that was chosen is read, in Table 1's words; None reads all.

    Raises `MiniragError` where an operator takes what nothing before it gives, or needs another
    graph or an index component that is missing.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (generation)
    """
    check_value("graph", graph, Literal[GRAPHS])
    check_value("generate", generate, Generate)
    plan = with_conversions([find_operator(each) for each in operators])
    users: list[list[Operator]] = [[] for _ in plan]
    for place, operator in enumerate(plan):
        if graph not in operator.needs.graphs:
            known = ", ".join(operator.needs.graphs)
            raise MiniragError(f"{operator} works on a graph of type {known}; got graph={graph!r}.")
        for source in chain(*operator.sources([each.gives for each in plan[:place]])):
            users[source].append(operator)
    chosen_by = [
        place
        for place, operator in enumerate(plan)
        if operator.kind != "question" and not any(gives_way(operator, u) for u in users[place])
    ]
    if not chosen_by:
        raise MiniragError(f"No operator chooses anything; there are: {', '.join(OPERATORS)}.")
    offered = list(dict.fromkeys(word_for(plan[place].gives, graph) for place in chosen_by))
    read = offered if granularity is None else list(granularity)
    if wrong := [word for word in read if word not in offered]:
        raise MiniragError(
            f"granularity {wrong[0]!r}: these operators choose {', '.join(offered)}."
        )
    components = components_of(plan, graph, index)
    idle = [str(plan[i]) for i, by in enumerate(users) if not by and i not in chosen_by]
    idle += [str(plan[i]) for i in chosen_by if word_for(plan[i].gives, graph) not in read]
    listed: dict[str, tuple[str, ...]] = {}
    for operator in plan:
        if operator.kind != "question":
            listed[operator.kind] = (*listed.get(operator.kind, ()), operator.name)
    row = f"{name}: {' -> '.join(map(str, plan))}\n  graph: {graph}; index:"
    row += f" {', '.join(components) or 'none'}; read, {generate}: {', '.join(read)}"
    row += f"\n  nobody uses what these give: {', '.join(idle)}" if idle else ""
    searched = any("Community" in operator.needs.components for operator in plan)
    about = {
        "name": name, "row": row, "__doc__": f"{row}\n\nComposed by `compose`.",
        "graph_type": graph, "index_components": components, "primitive": primitive(plan, users),
        "granularity": tuple(read), "operators": listed, "plan": tuple(plan),
        "chosen_by": tuple(chosen_by), "map_reduced": generate == "map-reduce",
        "answer_task": "reduce_answer" if generate == "map-reduce" else "answer",
        "stored_type": CommunityIndex if searched else Graph, "__module__": __name__,
    }  # fmt: skip
    made: Any = Composition("Composed", (Composed,), about)
    composed: type[Composed] = made
    return composed


def find_operator(named: str | Operator) -> Operator:
    """The operator of this name, or the one that was given."""
    if isinstance(named, Operator):
        return named
    if named not in OPERATORS:
        raise MiniragError(f"There is no operator {named!r}; there are: {', '.join(OPERATORS)}.")
    return OPERATORS[named]


def with_conversions(operators: Sequence[Operator]) -> list[Operator]:
    """The operators, and before them the question conversions that they take and nobody named."""
    conversions = {o.gives: o for o in OPERATORS.values() if o.kind == "question"}
    front, given = list[Operator](), list[type[Step]]()
    for operator in operators:
        for kinds, _, _ in operator.takes:
            if kinds[0] in conversions and not any(issubclass(kind, kinds) for kind in given):
                front.append(conversions[kinds[0]])
                given.append(kinds[0])
        given.append(operator.gives)
    return [*front, *operators]


def gives_way(operator: Operator, user: Operator) -> bool:
    """Whether a step is no choice any more once `user` has gone on with it."""
    return user.kind in (operator.kind, "subgraph") or operator.gives in SCORES


def components_of(
    plan: Sequence[Operator], graph: str, index: Sequence[str] | None
) -> tuple[str, ...]:
    """The index components, as given or as needed; raises where one that is needed is missing."""
    for known in index or ():
        check_value("index", known, Literal[COMPONENTS])
    needed: dict[str, Operator] = {}
    for operator in plan:
        for word in operator.needs.components:
            in_tree = graph == "tree" and word == "Entity"
            needed.setdefault("Tree node" if in_tree else word, operator)
    for word, operator in needed.items():
        if index is not None and word not in index:
            has = ", ".join(index) or "nothing"
            raise MiniragError(
                f"{operator} searches the index component {word!r}; index has {has}."
            )
    return tuple(word for word in COMPONENTS if word in (needed if index is None else index))


def primitive(plan: Sequence[Operator], users: Sequence[Sequence[Operator]]) -> str:
    """What of the question is searched by, in Table 1's words."""
    said = []
    for operator, by in zip(plan, users):
        if by and operator.name == "Vector":
            said.append("Question vector")
        elif by and operator.name == "Entities":
            said.append("Entities in question")
        elif by and operator.name == "Keywords":
            levels = {"High" if user.kind == "relationship" else "Low" for user in by}
            one = f"{min(levels)}-level keywords in question"
            said.append(one if len(levels) == 1 else "Both high- and low-level keywords")
    return "; ".join(said) or "Question"
