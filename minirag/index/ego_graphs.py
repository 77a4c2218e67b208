"""The ego-graph of every node of a textual graph, each as one vector: what GRAG searches."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms.ego_graphs import (
    Direction,
    TextualGraph,
    ego_graph,
    members,
    pool,
    rank_ego_graphs,
)
from ..algorithms.vectors import SAME, Floats, normalize
from ..core.encoder import Encoder, Kind
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.trace import VectorStep
from .vectors import Found, Queries, VectorIndex

Rows = Mapping[str, int]
Vectors = NDArray[np.float32]
Ranked = list[tuple[int, float]]  # roots and cosines, best first


@dataclass(frozen=True, repr=False)
class RoundedIndex(VectorIndex):
    """A `VectorIndex` in which equal texts tie: its cosines are in double precision and rounded to
    12 decimals. with_ties: `k` counts distinct cosines, and all that have one of them are found.
    """

    with_ties: bool = False

    @cached_property
    def units(self) -> Floats:
        return _exactly_normalized(self.vectors)

    def search(self, queries: Queries, k: int = 1, kind: Kind = "query") -> Found:
        """As `VectorIndex.search`, but for what the class says; k may be 0. Several queries get as
        many columns as the one with the most ties needs.
        """
        if not k:
            return np.zeros((len(queries), 0), np.intp), np.zeros((len(queries), 0), np.float32)
        asked = _exactly_normalized(self._encoded(queries, kind))
        cosines: Floats = np.round(asked @ self.units.T, SAME)
        places = np.argsort(-cosines, axis=1, kind="stable")
        found = np.take_along_axis(cosines, places, axis=1)
        if self.with_ties:
            rises = np.diff(found, axis=1, prepend=found[:, :1]) != 0
            k = (rises.cumsum(axis=1) < k).sum(axis=1).max()
        return places[:, :k], found[:, :k]


def _exactly_normalized(vectors: Vectors) -> Floats:
    if not np.isfinite(vectors).all():
        raise ValueError("A vector that is searched or searched for holds NaN or infinity.")
    return normalize(vectors.astype(np.float64))


@dataclass(frozen=True)
class EgoIndex:
    """Row i of `pooled` is the mean vector z_g of the ego-graph of node i: (nodes, d), float64.
    Make one with `EgoIndex.build`.

    hops, direction: see `minirag.algorithms.ego_graphs.members`. rows: text -> row of
    `text_vectors` (texts, d), every text once; `node_vectors` and `edge_vectors` put them in the
    graph's order.

    Source: GRAG, Eq. 2 (eq-2)
    """

    graph: TextualGraph
    encoder: Encoder
    hops: int
    direction: Direction
    rows: Rows = field(repr=False)
    text_vectors: Vectors = field(repr=False)
    pooled: NDArray[np.float64] = field(repr=False)

    @classmethod
    def build(
        cls, graph: TextualGraph, encoder: Encoder, hops: int = 2, direction: Direction = "out"
    ) -> "EgoIndex":
        """Encode every distinct text of the graph once, all in one call, and pool the ego-graphs.
        encoder: see `minirag.load_encoder`.

        Source: GRAG, Eq. 2 (eq-2)
        """
        try:
            inside = members(graph, hops, direction)
        except ValueError as error:
            raise MiniragError(f"The ego-graphs cannot be made: {error}") from error
        texts = list(dict.fromkeys((*graph.nodes, *(text for _, text, _ in graph.edges))))
        rows, vectors = {text: row for row, text in enumerate(texts)}, encoder.encode(texts)
        nodes, edges = (vectors[places] for places in _places(graph, rows))
        return cls(graph, encoder, hops, direction, rows, vectors, pool(nodes, edges, *inside))

    def __repr__(self) -> str:
        reach = {
            "out": "reached from its root",
            "in": "reaching its root",
            "both": "reached either way",
        }[self.direction]
        size = f"{len(self.pooled)} ego-graphs of {self.hops} hop{'s' * (self.hops != 1)} ({reach})"
        texts = f"{len(self.rows)} texts in {self.pooled.shape[1]} dimensions"
        return f"EgoIndex: {size}, {texts} by {self.encoder.name}"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.graph.nodes

    @cached_property
    def node_vectors(self) -> Vectors:
        """z_n: (nodes, d)."""
        return self.text_vectors[_places(self.graph, self.rows)[0]]

    @cached_property
    def edge_vectors(self) -> Vectors:
        """z_e: (edges, d)."""
        return self.text_vectors[_places(self.graph, self.rows)[1]]

    @cached_property
    def node_index(self) -> VectorIndex:
        """Every node, by its text."""
        return RoundedIndex(self.graph.nodes, self.node_vectors, self.encoder)

    @cached_property
    def edge_index(self) -> VectorIndex:
        """Every edge, by its text; edges with the same cosine are found together."""
        lines = tuple(self.graph.lines())
        return RoundedIndex(lines, self.edge_vectors, self.encoder, with_ties=True)

    def question_vectors(self, questions: Queries) -> Vectors:
        """z_q: (questions, d); texts are encoded in one call, the steps of
        `operators.question.vector` hold theirs.

        Source: GRAG, Eq. 3 (eq-3)
        """
        texts = [question for question in questions if isinstance(question, str)]
        if texts:
            return self.encoder.encode(texts, kind="query")
        return np.stack([q.vector for q in questions if isinstance(q, VectorStep)])

    def rank(self, question: str, top: int) -> Ranked:
        """The ego-graphs nearest to the question: `[(root position, cosine)]`, best first, equals
        by position.

        Source: GRAG, Eq. 3-4 (eq-3, eq-4)
        """
        return self.rank_many([question], top)[0]

    def rank_many(self, questions: Queries, top: int) -> list[Ranked]:
        """`rank` for each question of a list, see `question_vectors`.

        Source: GRAG, Eq. 3-4 (eq-3, eq-4)
        """
        if top < 1:
            raise MiniragError(f"top={top!r}: at least one ego-graph has to be asked for.")
        if not questions or not self.graph.nodes:
            return [[] for _ in questions]
        places, cosines = rank_ego_graphs(self.question_vectors(questions), self.pooled, top)
        return [list(zip(row, scores)) for row, scores in zip(places.tolist(), cosines.tolist())]

    def subgraph(self, root: int) -> tuple[TextualGraph, tuple[int, ...], tuple[int, ...]]:
        """The ego-graph of one node: `(TextualGraph, node positions, edge positions)`, its root
        first.
        """
        if not 0 <= root < len(self.graph.nodes):
            raise MiniragError(
                f"There is no node {root!r}: an ego-graph's root is a position from 0 to"
                f" {len(self.graph.nodes) - 1}."
            )
        return ego_graph(self.graph, root, self.hops, self.direction)

    def union(self, roots: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What some ego-graphs hold together: `(node positions, edge positions)`, each once and
        sorted.
        """
        try:
            nodes, edges = members(self.graph, self.hops, self.direction, roots)
        except ValueError as error:
            raise MiniragError(f"These ego-graphs cannot be joined: {error}") from error
        return tuple(np.unique(nodes.indices).tolist()), tuple(np.unique(edges.indices).tolist())


def _places(graph: TextualGraph, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row of every node's text and of every edge's text."""
    nodes = [rows[text] for text in graph.nodes]
    edges = [rows[text] for _, text, _ in graph.edges]
    return np.array(nodes, dtype=np.int64), np.array(edges, dtype=np.int64)


def textual_graph(
    graph: Graph, parallel_edges: Literal["keep", "drop"] = "keep"
) -> tuple[TextualGraph, tuple[int, ...]]:
    """`(TextualGraph, positions)`: names and relations of a graph as texts; positions say where in
    `graph.edges` each edge comes from.
    """
    kept = list(enumerate(graph.edges))
    if parallel_edges == "drop":
        joined = Counter((edge.source, edge.target) for edge in graph.edges)
        kept = [(i, edge) for i, edge in kept if joined[edge.source, edge.target] == 1]
    edges = tuple((edge.source, edge.name, edge.target) for _, edge in kept)
    return TextualGraph(tuple(node.name for node in graph.nodes), edges), tuple(i for i, _ in kept)
