"""What an operator of the pool is: what must stand before it, what it gives, and what it searches.

`Parts` are the graph and its indices, each computed when it is first needed.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, cast, get_type_hints

from scipy import sparse

from ..algorithms.pagerank import Transitions, transition_matrix
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.options import check_value
from ..core.reports import CommunityIndex
from ..core.trace import (
    ChunkStep,
    CommunityStep,
    EdgeStep,
    EntityStep,
    FactStep,
    KeywordStep,
    NodeStep,
    PathStep,
    SteinerStep,
    Step,
    Vector,
    VectorStep,
    WalkStep,
)  # fmt: skip
from ..encoders.text_encoders import LoadedEncoder
from ..graphs.knowledge_graph import with_synonymy
from ..graphs.tree_and_passage_graph import node_text
from ..index import matrices, vectors
from ..index.ego_graphs import EgoIndex, textual_graph
from ..index.vectors import TfidfIndex, VectorIndex
from ..llm import LLM
from .agent import Agent

KNOWLEDGE = ("knowledge", "textual knowledge", "rich knowledge")
JOINT = "knowledge and passage"  # a knowledge graph; walks go over its passages too
GRAPHS = ("none", *KNOWLEDGE, JOINT, "passage", "tree")
WORDS: dict[type[Step], str] = {
    VectorStep: "the question's vector", EntityStep: "the question's entities",
    KeywordStep: "the question's keywords", NodeStep: "nodes", WalkStep: "scores of all nodes",
    EdgeStep: "relations", FactStep: "scores of all relations", ChunkStep: "passages",
    PathStep: "paths", SteinerStep: "a subgraph", CommunityStep: "communities",
}  # fmt: skip


@dataclass(eq=False)
class Parts:
    """What operators work on. given: an encoder, which is fitted to the passages when it is first
    needed. reports: communities and the report of each, where there are any.

    Source: Survey, Sec. 5 (indices)
    """

    graph: Graph
    llm: LLM
    given: LoadedEncoder
    reports: CommunityIndex | None = None
    _walks: dict[tuple[float | None, float], Transitions] = field(default_factory=dict, repr=False)

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, fitted."""
        return self.given.fit([chunk.passage for chunk in self.graph.chunks])

    @cached_property
    def labels(self) -> list[str]:
        """What traces call the chunks."""
        return [chunk.label for chunk in self.graph.chunks]

    @cached_property
    def node_names(self) -> list[str]:
        """The names of the nodes; those of chunks are the chunks' labels."""
        nodes, labels = self.graph.nodes, self.labels
        return [labels[n.chunks[0]] if n.type == "chunk" else n.name for n in nodes]

    @cached_property
    def node_texts(self) -> list[str]:
        """What of each node is searched: its description, else its name; the passage of a chunk."""
        nodes, chunks = self.graph.nodes, self.graph.chunks
        return [node_text(node, chunks) or node.name for node in nodes]

    @cached_property
    def node_index(self) -> VectorIndex:
        """Every node, encoded."""
        vectors = self.encoder.encode(self.node_texts)
        return VectorIndex(tuple(self.node_names), vectors, self.encoder)

    @cached_property
    def tfidf_index(self) -> TfidfIndex:
        """Every node by its words."""
        return TfidfIndex(self.node_names, self.node_texts)

    @cached_property
    def relationship_index(self) -> VectorIndex:
        """Every relation with the names of its ends, encoded."""
        return vectors.relationship_index(self.graph, self.encoder)

    @cached_property
    def chunk_index(self) -> VectorIndex:
        """Every passage, encoded."""
        return cast("VectorIndex", vectors.chunk_index(self.graph.chunks, self.encoder))

    @cached_property
    def texts(self) -> EgoIndex:
        """Names of nodes and relations alone, encoded, as G-Retriever has them."""
        return EgoIndex.build(textual_graph(self.graph)[0], self.encoder, hops=0, direction="both")

    @property
    def communities(self) -> CommunityIndex:
        """The communities and their reports."""
        if self.reports is None:
            raise MiniragError("There is no community index: Parts(reports=...) takes one.")
        return self.reports

    @cached_property
    def report_index(self) -> tuple[list[int], VectorIndex]:
        """The report of every community, encoded."""
        return vectors.report_index(self.communities, self.encoder)

    @cached_property
    def specificity(self) -> Vector:
        """1 / number of passages of each node, (nodes,)."""
        return matrices.node_specificity(self.graph)

    @cached_property
    def facts(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """(relations, nodes) and (passages, relations)."""
        return matrices.fact_matrix(self.graph), matrices.fact_passage_matrix(self.graph)

    @cached_property
    def agent(self) -> Agent:
        """The language model as an agent on the graph."""
        return Agent(self.llm, self.graph, self.similar)

    def similar(self, asked: str, texts: Sequence[str]) -> list[float]:
        """The similarity of each text with the question, which only an offline agent looks at."""
        return vectors.similar(asked, texts, self.encoder)

    @property
    def joint(self) -> bool:
        """Whether walks go over nodes and passages."""
        return self.graph.type == JOINT

    def transition(self, synonymy: float | None, passage_weight: float) -> Transitions:
        """What a walk follows; nodes whose cosine is above `synonymy` are joined too, and passages
        with `passage_weight` to the nodes that were read from them.
        """
        if (synonymy, passage_weight) not in self._walks:
            graph = self.graph
            if synonymy is not None:
                graph = with_synonymy(graph, self.node_index.vectors, synonymy)
            adjacency = matrices.adjacency_matrix(graph)
            if self.joint:
                adjacency = matrices.with_passages(adjacency, graph, passage_weight)
            self._walks[synonymy, passage_weight] = transition_matrix(adjacency)
        return self._walks[synonymy, passage_weight]


class Slot(NamedTuple):
    """What an operator takes: the latest step of one of the `kinds`, or `several`, all of them.
    graphs: the types of graph on which it takes anything here.
    """

    kinds: tuple[type[Step], ...]
    several: bool = False
    optional: bool = False
    graphs: tuple[str, ...] = GRAPHS

    def __str__(self) -> str:
        named = " or ".join(WORDS[kind] for kind in self.kinds)
        if self.optional:
            return f"perhaps {named}"
        if self.graphs != GRAPHS:
            named += f" (on a graph of type {' or '.join(self.graphs)})"
        return f"{named} (of all operators before it)" if self.several else named


class Needs(NamedTuple):
    """The index components and the graph types that an operator works on, in Table 1's words."""

    components: tuple[str, ...] = ()
    graphs: tuple[str, ...] = GRAPHS

    def __str__(self) -> str:
        named = {KNOWLEDGE: "a knowledge graph", GRAPHS: "", GRAPHS[1:]: "a graph"}
        graphs = named.get(self.graphs, " or ".join(self.graphs))
        return ", ".join(filter(None, (graphs, *self.components)))


Work = Callable[..., Sequence[Step]]


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """An operator of the survey: `kind` and `name` as in Table 3, what it `takes`, `gives` and
    `needs`, and its `options`. Calling it gives a copy with other options.

    Source: Survey, Table 3 (tab-3); Survey, Alg. 1 (alg-1)
    """

    kind: str
    name: str
    takes: tuple[Slot, ...]
    gives: type[Step]
    needs: Needs
    work: Work
    options: Mapping[str, object]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        inward = " and ".join(map(str, self.takes)) or "the question"
        shown = f"{self}({options})" if options else str(self)
        needs = f"; needs {self.needs}" if str(self.needs) else ""
        return f"{shown}: {inward} -> {WORDS[self.gives]}{needs}"

    @property
    def about(self) -> str:
        """What it does, in a paragraph."""
        return " ".join((inspect.getdoc(self.work) or "").split())

    def __call__(self, **options: object) -> "Operator":
        """A copy with other options. Raises `MiniragError` for one that it does not have."""
        if unknown := sorted(set(options) - set(self.options)):
            known = ", ".join(self.options) or "none"
            raise MiniragError(f"{self} has no option {unknown[0]!r}; it has: {known}.")
        hints = get_type_hints(self.work, include_extras=True)
        for name, value in options.items():
            check_value(name, value, hints[name])
        return replace(self, options={**self.options, **options})

    def sources(self, given: Sequence[type[Step]], graph: str) -> list[list[int]]:
        """For each slot the positions of the steps that it takes, of steps of the types `given`.
        Where two slots take the same type, the second takes the latest step.

        Raises `MiniragError` for a slot that nothing fills.
        """
        used, found = set[int](), list[list[int]]()
        for slot in reversed(self.takes):
            fit = [i for i, kind in enumerate(given) if issubclass(kind, slot.kinds)]
            left = [i for i in fit if i not in used]
            places = left if slot.several else left[-1:]
            if graph not in slot.graphs:
                places = []
            elif not places and not slot.optional:
                others = (o for o in OPERATORS.values() if str(o) != str(self))
                give = ", ".join(str(o) for o in others if issubclass(o.gives, slot.kinds))
                takes = " and ".join(map(str, self.takes))
                raise MiniragError(
                    f"{self} takes {takes}, and nothing{' else' if fit else ''} before it gives"
                    f" {' or '.join(WORDS[kind] for kind in slot.kinds)}. These do: {give}."
                )
            used.update(places)
            found.append(places)
        return found[::-1]

    def run(
        self, parts: Parts, questions: Sequence[str], found: Sequence[Sequence[Step]]
    ) -> Sequence[Step]:
        """One step a question. found: the steps of each question so far, of the same types."""
        if not questions:
            return []
        taken: list[object] = []  # lists of steps, of the types that the slots name
        sources = self.sources([type(step) for step in found[0]], parts.graph.type)
        for slot, places in zip(self.takes, sources):
            columns = [[steps[place] for steps in found] for place in places]
            taken.append(columns if slot.several else columns[0] if columns else None)
        return self.work(parts, questions, *taken, **self.options)


OPERATORS: dict[str, Operator] = {}


def operator(
    named: str, *takes: type[Step] | Slot, gives: type[Step],
    index: Sequence[str] = (), graphs: tuple[str, ...] = GRAPHS,
) -> Callable[[Work], Work]:  # fmt: skip
    """A decorator that puts a function into the pool as the operator "kind name"."""

    def enter(work: Work) -> Work:
        parameters = inspect.signature(work).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        slots = [each if isinstance(each, Slot) else Slot((each,)) for each in takes]
        kind, name = named.split(maxsplit=1)
        needs = Needs(tuple(index), graphs)
        OPERATORS[named] = Operator(kind, name, tuple(slots), gives, needs, work, options)
        return work

    return enter
