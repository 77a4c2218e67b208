"""MaxSim: a text keeps one vector for every token, and the tokens of question and document meet
only when they are scored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .vectors import Floats, Positions, normalize

DOCUMENTS_AT_ONCE = 512
CELLS_AT_ONCE = 2**24  # cosines of two tokens held at once by `maxsim_blocks`


def maxsim(query_tokens: ArrayLike, doc_tokens: ArrayLike) -> float:
    """The score of one document as a float. query_tokens: (q, d); doc_tokens: (t, d); any length,
    only directions count.

    It lies between -q and q and is not symmetric: every question token must be answered, a document
    token need not be used. A document without tokens answers nothing and gets -q. Raises ValueError
    for widths that differ.

    Source: Wang, Table IV (tab-4)
    """
    cosines = _cosines(query_tokens, doc_tokens)
    return float(cosines.max(axis=1, initial=-1.0).sum())


def best_matches(query_tokens: ArrayLike, doc_tokens: ArrayLike) -> tuple[Positions, Floats]:
    """Which document token answered each question token, and how well: (positions (q,), cosines
    (q,)); of equals the first.
    """
    cosines = _cosines(query_tokens, doc_tokens)
    if not cosines.shape[1]:
        raise ValueError("The document has no tokens, so no token can match.")
    return cosines.argmax(axis=1), cosines.max(axis=1)


def _cosines(query_tokens: ArrayLike, doc_tokens: ArrayLike) -> Floats:
    query, document = np.atleast_2d(query_tokens), np.asarray(doc_tokens)
    if not document.size:
        return np.zeros((len(query), 0))
    if document.ndim != 2 or query.shape[1] != document.shape[1]:
        raise ValueError(
            f"Token vectors of shapes {query.shape} and {document.shape}: "
            "(q, d) and (t, d) with the same d are expected."
        )
    cosines: Floats = normalize(query) @ normalize(document).T
    return cosines


def pad(documents: Sequence[ArrayLike]) -> tuple[Floats, NDArray[np.bool_]]:
    """Documents of different lengths in one array: (vectors (n, t, d), mask (n, t)), t the longest
    length; the mask is True on real tokens.

    documents: a list of (t_i, d) arrays. Rows of real tokens have length 1, padding is zero.
    """
    texts = [np.asarray(document) for document in documents]
    longest = max(map(len, texts), default=0)
    width = max((text.shape[-1] for text in texts if text.size), default=0)
    kind = np.result_type(*texts) if texts else np.float32
    vectors = np.zeros((len(texts), longest, width), dtype=kind)
    mask = np.zeros((len(texts), longest), dtype=bool)
    for row, text in enumerate(texts):
        if len(text):
            vectors[row, : len(text)], mask[row, : len(text)] = normalize(text), True
    return vectors, mask


def maxsim_corpus(query_tokens: ArrayLike, vectors: Floats, mask: NDArray[np.bool_]) -> Floats:
    """MaxSim of one question with every padded document: (n,). vectors: (n, t, d) and mask: (n, t),
    as `pad` makes them.

    Padding must not win: a zero vector has the cosine 0, which beats every negative one, so masked
    cells count as -1 before the maximum is taken.
    """
    query = normalize(np.atleast_2d(query_tokens))
    scores = np.empty(len(vectors), dtype=np.result_type(query, vectors))
    for start in range(0, len(vectors), DOCUMENTS_AT_ONCE):
        block = slice(start, start + DOCUMENTS_AT_ONCE)
        cosines = np.where(
            mask[block, :, None], vectors[block] @ query.T, -1
        )  # (documents, tokens, question tokens)
        scores[block] = cosines.max(axis=1, initial=-1).sum(axis=1)
    return scores


@dataclass(frozen=True)
class TokenVectors:
    """The token vectors of many texts without padding: text i has the rows `bounds[i]` to
    `bounds[i + 1]` of `rows`, (tokens, d).
    """

    rows: Floats
    bounds: Positions

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @classmethod
    def stack(cls, texts: Sequence[Floats]) -> "TokenVectors":
        """From a list of (t_i, d) arrays; rows are scaled to length 1."""
        bounds = np.cumsum([0, *map(len, texts)])
        none = np.zeros((0, 1), dtype=np.float32)
        return cls(normalize(np.concatenate(texts)) if bounds[-1] else none, bounds)

    def __getitem__(self, i: int) -> Floats:
        return self.rows[self.bounds[i] : self.bounds[i + 1]]


def self_maxsim(queries: TokenVectors, documents: TokenVectors) -> NDArray[np.float64]:
    """MaxSim of each query with the document in the same place: (n,). Where both are the same
    text, what it scores against itself.
    """
    pairs = [(queries[i], documents[i]) for i in range(len(queries))]
    return np.array([maxsim(query, document) if len(query) else 0.0 for query, document in pairs])


def maxsim_blocks(
    queries: TokenVectors, documents: TokenVectors, cells: int = CELLS_AT_ONCE
) -> Iterator[tuple[int, Floats]]:
    """MaxSim of every query with every document, some queries at a time.

    Both are `TokenVectors`. Yields (position of the first query, scores (some queries, documents)).
    A block has as many queries as keep `cells` cosines of two tokens in memory, and at least one.
    """
    room, start = max(1, cells // max(1, len(documents.rows))), 0
    while start < len(queries):
        last = np.searchsorted(queries.bounds, queries.bounds[start] + room, side="right") - 1
        stop = max(start + 1, int(last))
        bounds = queries.bounds[start : stop + 1]
        first = bounds[0]
        best = _best_of_each(documents, queries.rows[first : bounds[-1]])
        scores = np.zeros((stop - start, len(documents)), dtype=best.dtype)
        filled = np.diff(bounds) > 0
        if filled.any():
            scores[filled] = np.add.reduceat(best.T, (bounds[:-1] - first)[filled], axis=0)
        yield start, scores
        start = stop


def _best_of_each(documents: TokenVectors, tokens: Floats) -> Floats:
    """The best cosine of each question token with a token of each document: (documents, tokens).
    It is -1 where a document has none.
    """
    cosines = documents.rows @ tokens.T
    best = np.full((len(documents), len(tokens)), -1, dtype=cosines.dtype)
    lengths = np.diff(documents.bounds)
    for place in range(lengths.max(initial=0)):  # all first tokens, then all second ones: faster
        longer = np.flatnonzero(lengths > place)  # than one reduction for each document
        best[longer] = np.maximum(best[longer], cosines[documents.bounds[longer] + place])
    return best
