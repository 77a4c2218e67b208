"""From graphs of texts to arrays: every distinct text is encoded once, and many graphs become one
large disconnected graph.
"""

from dataclasses import dataclass

import numpy as np
import torch

from ..algorithms.textual import TextualGraph
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
    def query(self):
        return self.asked or self.question

    def texts(self):
        """Every text that needs a vector."""
        yield self.query
        for graph in self.graphs:
            yield from graph.nodes
            yield from (text for _, text, _ in graph.edges)


class TextTable:
    """One unit vector for each distinct text: `vectors` (texts, d) and `row[text]`.

    Source: GRAG, Eq. 3 (eq-3); GRAG, Eq. 5 (eq-5)
    """

    def __init__(self, texts, encoder):
        distinct = sorted(set(texts))
        if not distinct:
            raise MiniragError(
                "There is no text to encode: the examples hold neither a question nor a graph."
            )
        self.row = {text: row for row, text in enumerate(distinct)}
        self.vectors = torch.from_numpy(
            np.ascontiguousarray(encoder.encode(distinct), dtype=np.float32)
        )

    @classmethod
    def of(cls, examples, encoder):
        return cls((text for example in examples for text in example.texts()), encoder)

    @property
    def dimensions(self):
        return self.vectors.shape[1]

    def __repr__(self):
        return f"TextTable of {len(self.row)} texts in {self.dimensions} dimensions"


@dataclass(frozen=True)
class GraphBatch:
    """The graphs of several questions as one disconnected graph.

    texts (T, d): unit vectors of the distinct texts; nodes (V,), edges (E,): rows of `texts`;
    heads, tails (E,): positions among the nodes; graph (V,): the graph of a node; question_of (G,):
    the question of a graph; asked (B, d): unit vectors of the questions.
    """

    texts: torch.Tensor
    nodes: torch.Tensor
    edges: torch.Tensor
    heads: torch.Tensor
    tails: torch.Tensor
    graph: torch.Tensor
    question_of: torch.Tensor
    asked: torch.Tensor

    @property
    def graphs(self):
        return len(self.question_of)

    @property
    def question_of_node(self):
        return self.question_of[self.graph]

    @property
    def question_of_edge(self):
        return self.question_of_node[self.heads]

    @property
    def slots(self):
        """(place of every node in a table with `size` rows for each graph, size), size being that
        of the largest graph.
        """
        sizes = torch.bincount(self.graph, minlength=self.graphs)
        first = sizes.cumsum(0) - sizes
        size = int(sizes.max()) if len(sizes) else 0
        return self.graph * size + torch.arange(len(self.graph), device=self.graph.device) - first[
            self.graph
        ], size

    def to(self, device):
        return GraphBatch(*(tensor.to(device) for tensor in vars(self).values()))


class Collator:
    """Turns examples into a `GraphBatch`; the arrays of an example are made once and kept, since
    training asks for them in every epoch.
    """

    def __init__(self, table):
        self.table = table
        self._made = {}

    def __call__(self, examples):
        parts = [self._arrays(example) for example in examples]
        sizes = [size for _, part in parts for size, *_ in part]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        pieces = [piece for _, part in parts for piece in part]
        shifted = [
            (nodes, edges, heads + start, tails + start)
            for (_, nodes, edges, heads, tails), start in zip(pieces, starts)
        ]
        nodes, edges, heads, tails = (_joined([piece[i] for piece in shifted]) for i in range(4))
        used, rows = np.unique(np.concatenate([nodes, edges]), return_inverse=True)
        asked = np.array([row for row, _ in parts], dtype=np.int64)
        question_of = np.repeat(np.arange(len(parts)), [len(part) for _, part in parts])
        arrays = (
            rows[: len(nodes)],
            rows[len(nodes) :],
            heads,
            tails,
            np.repeat(np.arange(len(sizes)), sizes),
            question_of,
        )
        tensors = (
            torch.from_numpy(np.ascontiguousarray(array, dtype=np.int64)) for array in arrays
        )
        return GraphBatch(
            self.table.vectors[torch.from_numpy(used)],
            *tensors,
            self.table.vectors[torch.from_numpy(asked)],
        )

    def _arrays(self, example):
        """(row of the question, [(nodes, node rows, edge rows, heads, tails) of each graph])."""
        if id(example) not in self._made:
            row = self.table.row
            pieces = []
            for graph in example.graphs:
                heads, texts, tails = zip(*graph.edges) if graph.edges else ((), (), ())
                arrays = (
                    [row[text] for text in graph.nodes],
                    [row[text] for text in texts],
                    heads,
                    tails,
                )
                pieces.append(
                    (len(graph.nodes), *(np.array(values, dtype=np.int64) for values in arrays))
                )
            self._made[id(example)] = (
                example,
                row[example.query],
                pieces,
            )  # the example is kept, so that its id stays its own
        return self._made[id(example)][1:]


def _joined(arrays):
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
