"""Synonymy pairs: phrases so similar that a walk may step from one to the other."""

import numpy as np

ROUNDING = 1e-5  # more than a float32 matrix product can be wrong by, for unit vectors


def synonymy_pairs_by_hand(vectors, threshold=0.8, max_neighbours=100, strict=False):
    """The same as `synonymy_pairs`, one vector after the other, as a list of (i, j, score)."""
    pairs = []
    for i, vector in enumerate(vectors):
        scores = [(float(np.dot(vector, other)), j) for j, other in enumerate(vectors) if j != i]
        close = [(score, j) for score, j in scores if (score > threshold if strict else score >= threshold)]
        close.sort(key=lambda pair: (-pair[0], pair[1]))
        pairs += [(i, j, score) for score, j in close[:max_neighbours]]
    return pairs


def synonymy_pairs(vectors, threshold=0.8, max_neighbours=100, block=2048, strict=False):
    """All ordered pairs of different vectors whose dot product (cosine, for unit vectors) reaches the threshold.

    vectors: (n, d), rows of length 1. strict: greater than the threshold (as the paper writes it) instead of at least (as its code does).
    max_neighbours: at most this many best partners j of every i, i itself not counted, equals by index; None keeps all.
        The cut is taken for each i alone, so (i, j) may stay where (j, i) falls away.
    block: rows compared at once; memory grows with block * n, never with n * n.
    Returns arrays (i, j, score), sorted by i, then best first.

    Source: Wang, Sec. IV-B (hippo-synonymy)
    """
    vectors = np.ascontiguousarray(vectors)
    found = [_pairs_of_block(vectors, start, block, threshold, max_neighbours, strict) for start in range(0, len(vectors), block)]
    if not found:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=vectors.dtype)
    return tuple(np.concatenate(part) for part in zip(*found))


def _pairs_of_block(vectors, start, block, threshold, max_neighbours, strict):
    rough = vectors[start : start + block] @ vectors.T
    here = np.arange(len(rough))
    rough[here, start + here] = -np.inf
    i, j = np.divmod(np.flatnonzero(rough.ravel() >= threshold - ROUNDING), len(vectors))
    i += start
    # scored again in a fixed order of additions: the score of (i, j) is then exactly that of (j, i), whatever the block
    score = np.concatenate(
        [np.empty(0)] + [(vectors[i[k : k + block]].astype(np.float64) * vectors[j[k : k + block]]).sum(axis=1) for k in range(0, len(i), block)]
    ).astype(vectors.dtype)
    keep = score > threshold if strict else score >= threshold
    i, j, score = i[keep], j[keep], score[keep]
    order = np.lexsort((j, -score, i))
    i, j, score = i[order], j[order], score[order]
    if max_neighbours is not None:
        rank = np.arange(len(i)) - np.searchsorted(i, i)
        i, j, score = (part[rank < max_neighbours] for part in (i, j, score))
    return i, j, score
