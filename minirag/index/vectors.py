"""Named vectors that can be searched: the node index and the chunk index."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithms.vectors import top_k


@dataclass(frozen=True)
class VectorIndex:
    """`labels[i]` has the L2-normalised row `vectors[i]`; `encoder` made them and encodes what is searched for."""

    labels: tuple[str, ...]
    vectors: np.ndarray
    encoder: Any

    def __repr__(self):
        return f"VectorIndex: {len(self.labels)} vectors of {self.vectors.shape[1]} dimensions by {self.encoder.name}"

    def search(self, texts, k=1, kind="query"):
        """Positions (texts, k) and cosines (texts, k) of the nearest labels, best first, ties by position."""
        return top_k(self.encoder.encode(list(texts), kind=kind), self.vectors, k)

    def similarities(self, texts, kind="query"):
        """Cosines of every text with every label: (texts, labels)."""
        return self.encoder.encode(list(texts), kind=kind) @ self.vectors.T


def node_index(graph, encoder):
    """Encode the name of every node; a node with a description is encoded by it.

    Source: Survey, Sec. 5 (indices)
    """
    labels = tuple(node.name for node in graph.nodes)
    return VectorIndex(labels, encoder.encode([node.description or node.name for node in graph.nodes]), encoder)


def chunk_index(chunks, encoder):
    """Encode every chunk as title, newline, text."""
    return VectorIndex(tuple(chunk.id for chunk in chunks), encoder.encode([chunk.passage for chunk in chunks]), encoder)


def report_index(index, encoder):
    """Encode the report of every community: the positions of the communities and a `VectorIndex` of their reports.

    Source: Survey, App. B.1 (op-new); GraphRAG, Sec. 5 (sec-5)
    """
    places = sorted(index.reports)
    labels = tuple(index.reports[place].title for place in places)
    return places, VectorIndex(labels, encoder.encode([index.reports[place].text for place in places]), encoder)
