"""The vectors nearest to a query: exactly, as every method of the kit searches, so that what it
misses is never the search's fault; and approximately, to measure what looking into a few cells
costs.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.floating]  # float32 or float64
Positions = NDArray[np.int64]

QUERIES_AT_ONCE = 256
# decimals: scores that differ by less are one score with different rounding errors, which differ
# between machines
SAME = 12
ROUNDING = 1e-5  # more than a float32 matrix product can be wrong by, for unit vectors
# Cosines that lie closer are one: with other texts in its batch an encoder's vector of one text
# differs in the seventh decimal (measured: cosines by up to 1.8e-7).
EQUAL = 2e-7


def normalize(vectors: ArrayLike) -> Floats:
    """Rows at length 1 (L2). vectors: (n, d) or (d,); a zero row stays zero; float32 is kept."""
    rows = np.asarray(vectors)
    rows = rows if rows.dtype == np.float32 else rows.astype(np.float64)
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    return scaled


def top_k(queries: ArrayLike, vectors: ArrayLike, k: int) -> tuple[Positions, Floats]:
    """The k vectors with the greatest dot product (cosine, for unit vectors) to each query,
    exactly.

    queries: (q, d) or (d,), taken as one query; vectors: (n, d). Returns indices (q, min(k, n)) and
    scores of that shape, best first, equals by index: scores are equal where no gap above `EQUAL`
    lies between them. A block of queries is compared at once; the survivors are scored again, each
    in the same order of additions, so that equal vectors get equal scores wherever they stand and
    whatever else is in the batch. Raises ValueError for widths that differ, k < 1 or scores that
    are not numbers.

    Source: Wang, Def. 4 (def-4)
    """
    questions, rows = np.atleast_2d(queries), np.asarray(vectors)
    if rows.ndim != 2 or questions.shape[1] != rows.shape[1]:
        raise ValueError(
            f"Queries {questions.shape} and vectors {rows.shape} must be (q, d) and (n, d) with "
            "the same d: were they made by one encoder?"
        )
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}.")
    k = min(k, len(rows))
    indices = np.empty((len(questions), k), dtype=np.int64)
    scores = np.empty(indices.shape, dtype=np.result_type(questions, rows, np.float32))
    if not k:
        return indices, scores
    margin = ROUNDING * np.linalg.norm(rows, axis=1).max(initial=0)
    for start in range(0, len(questions), QUERIES_AT_ONCE):
        rough = questions[start : start + QUERIES_AT_ONCE] @ rows.T
        least = np.partition(rough, len(rows) - k, axis=1)[:, len(rows) - k]
        for row, (query, near, floor) in enumerate(zip(questions[start:], rough, least), start):
            if not np.isfinite(near.max()):
                raise ValueError(
                    "A score is not a number: the queries or the vectors hold NaN or infinity."
                )
            close = np.flatnonzero(near >= floor - margin * np.linalg.norm(query))
            exact = (rows[close].astype(np.float64) * query).sum(axis=1).astype(scores.dtype)
            best = np.argsort(-exact, kind="stable")
            group = np.cumsum(np.diff(exact[best], prepend=exact.max()) < -EQUAL)
            best = best[np.lexsort((best, group))][:k]
            indices[row], scores[row] = close[best], exact[best]
    return indices, scores


class InvertedLists:
    """Vectors sorted into cells by k-means; a search compares the query with the vectors of its
    nearest cells only.

    vectors: (n, d). `cells` is how many groups there are, `centres` (cells, d) their means,
    `cell_of` (n,) who is where.

    Source: Wang, Def. 5 (def-5)
    """

    def __init__(self, vectors: ArrayLike, cells: int, seed: int = 0) -> None:
        from sklearn.cluster import KMeans

        self.vectors = np.asarray(vectors, dtype=np.float64)
        means = KMeans(cells, n_init=1, random_state=seed).fit(self.vectors)
        self.centres, self.cell_of = means.cluster_centers_, means.labels_

    def candidates(self, query: Floats, probes: int = 1) -> Positions:
        """Positions of the vectors in the `probes` cells whose centres are nearest to the query
        (d,), in ascending order.
        """
        nearest = np.argsort(np.linalg.norm(self.centres - query, axis=1), kind="stable")[:probes]
        return np.flatnonzero(np.isin(self.cell_of, nearest))

    def search(
        self, queries: ArrayLike, k: int = 1, probes: int = 1
    ) -> tuple[list[list[int]], int]:
        """For every query a list of up to k positions, nearest (Euclidean) first, equals by
        position; and how many vectors were compared in all.
        """
        found: list[list[int]] = []
        compared = 0
        for query in np.atleast_2d(queries):
            close = self.candidates(query, probes)
            distances = np.linalg.norm(self.vectors[close] - query, axis=1)
            found.append(close[np.argsort(distances, kind="stable")[:k]].tolist())
            compared += len(close)
        return found, compared
