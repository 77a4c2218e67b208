"""Named vectors that can be searched: the node index and the chunk index."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithms.late_interaction import TokenVectors, maxsim_blocks, self_maxsim
from ..algorithms.vectors import top_k


@dataclass(frozen=True)
class VectorIndex:
    """`labels[i]` has the L2-normalised row `vectors[i]`; `encoder` made them and encodes what is searched for."""

    labels: tuple[str, ...]
    vectors: np.ndarray
    encoder: Any
    measure = "cosine"

    def __repr__(self):
        return f"VectorIndex: {len(self.labels)} vectors of {self.vectors.shape[1]} dimensions by {self.encoder.name}"

    def search(self, texts, k=1, kind="query"):
        """Positions (texts, k) and cosines (texts, k) of the nearest labels, best first, ties by position."""
        return top_k(self.encoder.encode(list(texts), kind=kind), self.vectors, k)

    def similarities(self, texts, kind="query"):
        """Cosines of every text with every label: (texts, labels)."""
        return self.encoder.encode(list(texts), kind=kind) @ self.vectors.T


@dataclass(frozen=True)
class TokenIndex:
    """A `VectorIndex` of texts that have one vector for each token.

    A text's score is the question's MaxSim with it over the question's MaxSim with itself.

    Source: Wang, Table IV (tab-4)
    """

    labels: tuple[str, ...]
    vectors: TokenVectors
    encoder: Any
    measure = "normalised MaxSim"

    def __repr__(self):
        size = f"{len(self.labels)} texts of {len(self.vectors.rows)} tokens"
        return f"TokenIndex: {size} by {self.encoder.name}"

    def search(self, texts, k=1, kind="query"):
        """As `VectorIndex.search`, with normalised MaxSim for the cosine."""
        scores = self.similarities(texts, kind)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return best, np.take_along_axis(scores, best, axis=1)

    def similarities(self, texts, kind="query"):
        """Normalised MaxSim of every text with every label: (texts, labels)."""
        texts = list(texts)
        asked = TokenVectors.stack(self.encoder.encode(texts, kind=kind))
        own = self_maxsim(asked, TokenVectors.stack(self.encoder.encode(texts)))
        scores = [block for _, block in maxsim_blocks(asked, self.vectors)]
        scores = np.concatenate([np.zeros((0, len(self.labels))), *scores])
        return scores / np.maximum(own, 1e-9)[:, None]


def text_index(labels, texts, encoder):
    """A `VectorIndex` of texts, or a `TokenIndex` where the encoder gives one vector for each
    token (see `minirag.token_encoders`).
    """
    vectors = encoder.encode(texts)
    if callable(getattr(encoder, "tokens", None)):
        return TokenIndex(tuple(labels), TokenVectors.stack(vectors), encoder)
    return VectorIndex(tuple(labels), vectors, encoder)


def node_index(graph, encoder):
    """Encode the name of every node; a node with a description is encoded by it.

    Source: Survey, Sec. 5 (indices)
    """
    texts = [node.description or node.name for node in graph.nodes]
    return text_index([node.name for node in graph.nodes], texts, encoder)


def chunk_index(chunks, encoder):
    """Encode every chunk as title, newline, text."""
    return text_index(
        [chunk.label for chunk in chunks], [chunk.passage for chunk in chunks], encoder
    )


def report_index(index, encoder):
    """Encode the report of every community: the positions of the communities and a `VectorIndex` of their reports.

    Source: Survey, App. B.1 (op-new); GraphRAG, Sec. 5 (sec-5)
    """
    places = sorted(index.reports)
    labels = tuple(index.reports[place].title for place in places)
    return places, VectorIndex(labels, encoder.encode([index.reports[place].text for place in places]), encoder)
