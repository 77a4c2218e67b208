"""Exact nearest vectors: no approximate index, so what a method misses is never the search's fault."""

import math

import numpy as np

QUERIES_AT_ONCE = 256
# decimals: scores that differ by less are one score with different rounding errors, which differ
# between machines
SAME = 12
ROUNDING = 1e-5  # more than a float32 matrix product can be wrong by, for unit vectors


def normalize(vectors):
    """Scale rows to length 1 (L2). vectors: (n, d) or (d,); a zero row stays zero; float32 is kept."""
    vectors = np.asarray(vectors)
    vectors = vectors if vectors.dtype == np.float32 else vectors.astype(np.float64)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)


def top_k_by_hand(query, vectors, k):
    """The k vectors with the greatest cosine to `query`, as [(index, cosine)], best first, equals
    by index. Plain Python, for reading.
    """

    def cosine(a, b):
        dot = sum(x * y for x, y in zip(a, b))
        lengths = math.hypot(*a) * math.hypot(*b)
        return dot / lengths if lengths else 0.0

    ranked = sorted(
        ((i, cosine(query, vector)) for i, vector in enumerate(vectors)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    return ranked[:k]


def top_k(queries, vectors, k):
    """The k vectors with the greatest dot product (cosine, for unit vectors) to each query,
    exactly.

    queries: (q, d) or (d,), taken as one query; vectors: (n, d). Returns indices (q, min(k, n)) and
    scores of that shape, best first, equals by index. A block of queries is compared at once; the
    survivors are scored again, each in the same order of additions, so that equal vectors get equal
    scores wherever they stand and whatever else is in the batch. Raises ValueError for widths that
    differ, k < 1 or scores that are not numbers.
    """
    queries, vectors = np.atleast_2d(queries), np.asarray(vectors)
    if vectors.ndim != 2 or queries.shape[1] != vectors.shape[1]:
        raise ValueError(
            f"Queries {queries.shape} and vectors {vectors.shape} must be (q, d) and (n, d) with the same d: were they made by one encoder?"
        )
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}.")
    k = min(k, len(vectors))
    indices, scores = (
        np.empty((len(queries), k), dtype=np.int64),
        np.empty((len(queries), k), dtype=np.result_type(queries, vectors, np.float32)),
    )
    if not k:
        return indices, scores
    margin = ROUNDING * np.linalg.norm(vectors, axis=1).max(initial=0)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        rough = queries[start : start + QUERIES_AT_ONCE] @ vectors.T
        least = np.partition(rough, len(vectors) - k, axis=1)[:, len(vectors) - k]
        for row, (query, near, floor) in enumerate(zip(queries[start:], rough, least), start):
            if not np.isfinite(near.max()):
                raise ValueError(
                    "A score is not a number: the queries or the vectors hold NaN or infinity."
                )
            close = np.flatnonzero(near >= floor - margin * np.linalg.norm(query))
            exact = (vectors[close].astype(np.float64) * query).sum(axis=1).astype(scores.dtype)
            best = np.argsort(-exact, kind="stable")[:k]
            indices[row], scores[row] = close[best], exact[best]
    return indices, scores
