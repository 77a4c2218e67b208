"""From graphs of texts to arrays: every distinct text is encoded once, and many graphs become one
large disconnected graph.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..algorithms.ego_graphs import TextualGraph
from ..core.encoder import Encoder, Kind
from ..core.errors import MiniragError


@dataclass(frozen=True)
class Example:
    """What a model sees of a question (`question`, `asked`, `graphs`, `text`) and what it should
    write (`answer`).

    graphs: the retrieved ones, or the whole graph. text: the hard prompt, "" for none. asked: what
    the encoder sees, by default the question.
    """

    question: str
    answer: str
    graphs: tuple[TextualGraph, ...] = ()
    text: str = ""
    asked: str = ""

    @property
    def query(self) -> str:
        return self.asked or self.question

    def texts(self) -> Iterator[str]:
        """Every text that needs a vector."""
        yield self.query
        for graph in self.graphs:
            yield from graph.nodes
            yield from (text for _, text, _ in graph.edges)


class TextTable:
    """One unit vector for each distinct text: `vectors` (texts, d) and `row[text]`. All are encoded
    as passages, a question too: with an encoder that has prefixes its z_q is not that of Eq. 3.

    Source: GRAG, Eq. 3 (eq-3); GRAG, Eq. 5 (eq-5)
    """

    name = "known texts"

    def __init__(self, texts: Iterable[str], encoder: Encoder) -> None:
        distinct = sorted(set(texts))
        if not distinct:
            raise MiniragError(
                "There is no text to encode: the examples hold neither a question nor a graph."
            )
        self.row = {text: row for row, text in enumerate(distinct)}
        vectors = np.ascontiguousarray(encoder.encode(distinct), dtype=np.float32)
        self.vectors = torch.from_numpy(vectors)

    @classmethod
    def of(cls, examples: Iterable[Example], encoder: Encoder) -> Self:
        return cls((text for example in examples for text in example.texts()), encoder)

    @property
    def dimensions(self) -> int:
        return self.vectors.shape[1]

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """The vectors of texts that it has: an encoder of known texts, which asks nobody again."""
        return self.vectors[[self.row[text] for text in texts]].numpy()

    def __repr__(self) -> str:
        return f"TextTable of {len(self.row)} texts in {self.dimensions} dimensions"


@dataclass(frozen=True)
class GraphBatch:
    """The graphs of several questions as one disconnected graph.

    texts (T, d): unit vectors of the distinct texts; asked (B, d): of the questions; nodes (V,),
    edges (E,): rows of `texts`; heads, tails (E,): positions among the nodes; graph (V,): the graph
    of a node; question_of (G,): the question of a graph.
    """

    texts: Tensor
    asked: Tensor
    nodes: Tensor
    edges: Tensor
    heads: Tensor
    tails: Tensor
    graph: Tensor
    question_of: Tensor

    @property
    def graphs(self) -> int:
        return len(self.question_of)

    @property
    def question_of_node(self) -> Tensor:
        return self.question_of[self.graph]

    @property
    def question_of_edge(self) -> Tensor:
        return self.question_of_node[self.heads]

    @property
    def slots(self) -> tuple[Tensor, int]:
        """(place of every node in a table with `size` rows for each graph, size), size being that
        of the largest graph.
        """
        sizes = torch.bincount(self.graph, minlength=self.graphs)
        first = sizes.cumsum(0) - sizes
        size = int(sizes.max()) if len(sizes) else 0
        place = torch.arange(len(self.graph), device=self.graph.device) - first[self.graph]
        return self.graph * size + place, size

    def to(self, device: torch.device) -> "GraphBatch":
        return GraphBatch(*(tensor.to(device) for tensor in vars(self).values()))


class Piece(NamedTuple):
    """One graph as integers: text rows of its nodes and edges, and the ends of the edges."""

    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]


class Collator:
    """Turns examples into a `GraphBatch`; the arrays of an example are made once and kept, since
    training asks for them in every epoch.
    """

    def __init__(self, table: TextTable) -> None:
        self.table = table
        self._made: dict[int, tuple[Example, list[Piece]]] = {}

    def __call__(self, examples: Sequence[Example]) -> GraphBatch:
        graphs = [self._pieces(example) for example in examples]
        pieces = [piece for part in graphs for piece in part]
        sizes = [len(piece.nodes) for piece in pieces]
        starts = np.cumsum([0, *sizes])
        nodes = _joined([piece.nodes for piece in pieces])
        edges = _joined([piece.edges for piece in pieces])
        heads = _joined([piece.heads + start for piece, start in zip(pieces, starts)])
        tails = _joined([piece.tails + start for piece, start in zip(pieces, starts)])
        graph = np.repeat(np.arange(len(sizes)), sizes)
        question_of = np.repeat(np.arange(len(graphs)), [len(part) for part in graphs])
        used, rows = np.unique(np.concatenate([nodes, edges]), return_inverse=True)
        arrays = (*np.split(rows, [len(nodes)]), heads, tails, graph, question_of)
        places = (torch.from_numpy(np.array(array, dtype=np.int64)) for array in arrays)
        asked = [self.table.row[example.query] for example in examples]
        vectors = self.table.vectors
        return GraphBatch(vectors[torch.from_numpy(used)], vectors[asked], *places)

    def _pieces(self, example: Example) -> list[Piece]:
        if id(example) not in self._made:
            row, pieces = self.table.row, []
            for graph in example.graphs:
                heads, texts, tails = zip(*graph.edges) if graph.edges else ((), (), ())
                rows = [row[text] for text in graph.nodes], [row[text] for text in texts]
                arrays = (np.array(values, dtype=np.int64) for values in (*rows, heads, tails))
                pieces.append(Piece(*arrays))
            # The example is kept beside its arrays, so that no other one gets its id.
            self._made[id(example)] = example, pieces
        return self._made[id(example)][1]


def _joined(arrays: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
