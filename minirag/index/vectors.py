"""Named vectors that can be searched: the node, relationship, chunk and report index."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..algorithms.late_interaction import TokenVectors, maxsim_blocks, self_maxsim
from ..algorithms.vectors import top_k
from ..core.corpus import Chunk
from ..core.encoder import Encoder, Kind, TokenEncoder
from ..core.graph import Edge, Graph, Node
from ..core.options import check_value
from ..core.reports import CommunityIndex
from ..core.trace import VectorStep

NodeText = Literal["name", "description", "name and description"]
RelationText = Literal["description and names", "keywords, names, description"]
AnyEncoder = Encoder | TokenEncoder
Queries = Sequence[str] | Sequence[VectorStep]  # texts, or what `operators.question.vector` gives
Found = tuple[NDArray[np.intp], NDArray[np.float32]]  # positions and scores, (queries, k)


@dataclass(frozen=True)
class VectorIndex:
    """`labels[i]` has the L2-normalised row `vectors[i]`; `encoder` made them and encodes what is
    searched for.
    """

    labels: tuple[str, ...]
    vectors: NDArray[np.float32]
    encoder: Encoder
    measure: ClassVar[str] = "cosine"

    def __repr__(self) -> str:
        size = f"{len(self.labels)} vectors of {self.vectors.shape[1]} dimensions"
        return f"VectorIndex: {size} by {self.encoder.name}"

    def search(self, queries: Queries, k: int = 1, kind: Kind = "query") -> Found:
        """Positions (queries, k) and cosines (queries, k) of the nearest labels, best first, equals
        by position.

        queries: texts, or the steps of `operators.question.vector`.
        """
        if not self.labels:
            return np.zeros((len(queries), 0), np.intp), np.zeros((len(queries), 0), np.float32)
        return top_k(self._encoded(queries, kind), self.vectors, k)

    def similarities(self, queries: Queries, kind: Kind = "query") -> NDArray[np.float32]:
        """Cosines of every query, as in `search`, with every label: (queries, labels)."""
        return self._encoded(queries, kind) @ self.vectors.T

    def _encoded(self, queries: Queries, kind: Kind) -> NDArray[np.float32]:
        if vectors := [query.vector for query in queries if isinstance(query, VectorStep)]:
            return np.stack(vectors)
        return self.encoder.encode(cast("Sequence[str]", list(queries)), kind=kind)


@dataclass(frozen=True)
class TokenIndex:
    """A `VectorIndex` of texts that have one vector for each token.

    A text's score is the question's MaxSim with it over the question's MaxSim with itself.

    Source: Wang, Table IV (tab-4)
    """

    labels: tuple[str, ...]
    vectors: TokenVectors
    encoder: TokenEncoder
    measure: ClassVar[str] = "normalised MaxSim"

    def __repr__(self) -> str:
        size = f"{len(self.labels)} texts of {len(self.vectors.rows)} tokens"
        return f"TokenIndex: {size} by {self.encoder.name}"

    def search(self, queries: Queries, k: int = 1, kind: Kind = "query") -> Found:
        """As `VectorIndex.search` of texts, with normalised MaxSim for the cosine."""
        scores = self.similarities(queries, kind)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return best, np.take_along_axis(scores, best, axis=1)

    def similarities(self, queries: Queries, kind: Kind = "query") -> NDArray[np.float32]:
        """Normalised MaxSim of every text with every label: (texts, labels)."""
        texts = cast("list[str]", list(queries))  # a question that is a vector has no tokens
        asked = TokenVectors.stack(self.encoder.encode(texts, kind=kind))
        own = self_maxsim(asked, TokenVectors.stack(self.encoder.encode(texts)))
        scores = [block for _, block in maxsim_blocks(asked, self.vectors)]
        stacked = np.concatenate([np.zeros((0, len(self.labels))), *scores])
        return stacked / np.maximum(own, 1e-9)[:, None]  # type: ignore[return-value]  # float64


class TfidfIndex:
    """The TF-IDF matrix of texts, one row for each label, as scikit-learn computes it.

    Source: Survey, Sec. 5 (indices)
    """

    def __init__(self, labels: Sequence[str], texts: Sequence[str]) -> None:
        self.labels, self.texts = tuple(labels), tuple(texts)
        self.vectorizer, self.matrix = _tfidf(self.texts)

    def similarities(
        self, queries: Sequence[str], places: Sequence[int], refit: bool = False
    ) -> NDArray[np.float64]:
        """Cosines of every query with the texts at `places`, (queries, places). refit: the texts at
        `places` alone say how rare a word is.
        """
        vectorizer, rows = self.vectorizer, self.matrix[[*places]]
        if refit:
            vectorizer, rows = _tfidf([self.texts[place] for place in places])
        if not rows.shape[0] or not rows.shape[1]:
            return np.zeros((len(queries), len(places)))
        scores: NDArray[np.float64] = (vectorizer.transform(queries) @ rows.T).toarray()
        return scores


def _tfidf(texts: Sequence[str]) -> tuple[Any, sparse.csr_matrix]:  # Any: scikit-learn is not typed
    """The vectorizer fitted to the texts, and their rows; without columns where no text has a
    word.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    if not any(map(vectorizer.build_analyzer(), texts)):
        return vectorizer, sparse.csr_matrix((len(texts), 0))
    return vectorizer, vectorizer.fit_transform(texts)


TextIndex = VectorIndex | TokenIndex


def text_index(labels: Sequence[str], texts: Sequence[str], encoder: AnyEncoder) -> TextIndex:
    """A `VectorIndex` of texts, or a `TokenIndex` where the encoder gives one vector for each
    token (see `minirag.encoders.token_encoders`).
    """
    if callable(getattr(encoder, "tokens", None)):
        by_token = cast("TokenEncoder", encoder)
        return TokenIndex(tuple(labels), TokenVectors.stack(by_token.encode(texts)), by_token)
    by_text = cast("Encoder", encoder)
    return VectorIndex(tuple(labels), by_text.encode(texts), by_text)


def similar(asked: str, texts: Sequence[str], encoder: AnyEncoder) -> list[float]:
    """The similarity of each text with the question."""
    found: list[float] = text_index(texts, texts, encoder).similarities([asked])[0].tolist()
    return found


def node_index(graph: Graph, encoder: AnyEncoder, text: NodeText = "description") -> TextIndex:
    """Encode every node by a text of its own.

    text: its "name" (HippoRAG, PathRAG), its "description" or, without one, its name (the survey),
    or "name and description" (LightRAG's code).

    Source: Survey, Sec. 5 (indices)
    """
    check_value("text", text, NodeText)
    texts = [node_text(node, text) for node in graph.nodes]
    return text_index([node.name for node in graph.nodes], texts, encoder)


def node_text(node: Node, text: NodeText) -> str:
    """What of a node is encoded (see `node_index`)."""
    if text == "description":
        return node.description or node.name
    return " ".join(filter(None, (node.name, node.description if text != "name" else "")))


def relationship_index(
    graph: Graph, encoder: Encoder, text: RelationText = "description and names"
) -> VectorIndex:
    """Encode every edge; row i is edge i. "description and names" (the survey), or "keywords,
    names, description" (LightRAG's code).

    Source: Survey, Sec. 5 (indices)
    """
    check_value("relation_text", text, RelationText)
    labels = [
        f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}" for edge in graph.edges
    ]
    texts = [relationship_text(graph, edge, text) for edge in graph.edges]
    return VectorIndex(tuple(labels), encoder.encode(texts), encoder)


def relationship_text(graph: Graph, edge: Edge, text: RelationText) -> str:
    """What of an edge is encoded (see `relationship_index`)."""
    names = f"{graph.nodes[edge.source].name} {graph.nodes[edge.target].name}"
    about = edge.description or edge.name
    parts = (about, names) if text == "description and names" else (edge.keywords, names, about)
    return " ".join(filter(None, parts))


def chunk_index(chunks: Sequence[Chunk], encoder: AnyEncoder) -> TextIndex:
    """Encode every chunk as title, newline, text."""
    return text_index(
        [chunk.label for chunk in chunks], [chunk.passage for chunk in chunks], encoder
    )


def report_index(index: CommunityIndex, encoder: Encoder) -> tuple[list[int], VectorIndex]:
    """Encode the report of every community: the positions of the communities and a `VectorIndex` of
    their reports.

    Source: Survey, App. B.1 (op-new); GraphRAG, Sec. 5 (sec-5)
    """
    places = sorted(index.reports)
    labels = tuple(index.reports[place].title for place in places)
    texts = [index.reports[place].text for place in places]
    return places, VectorIndex(labels, encoder.encode(texts), encoder)
