"""Synonymy pairs: phrases so similar that a walk may step from one to the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .late_interaction import TokenVectors, maxsim_blocks, self_maxsim
from .vectors import Floats, Positions

Pairs = tuple[Positions, Positions, Floats]  # i, j and the score of each pair


class Cut(NamedTuple):
    """Which pairs stay: `synonymy_pairs` says what the three mean."""

    threshold: float
    max_neighbours: int | None
    strict: bool


ROUNDING = 1e-5  # more than a float32 matrix product can be wrong by, for unit vectors


def synonymy_pairs(
    vectors: Floats,
    threshold: float = 0.8,
    max_neighbours: int | None = 100,
    block: int = 2048,
    strict: bool = False,
) -> Pairs:
    """All ordered pairs of different vectors whose dot product (cosine, for unit vectors) reaches
    the threshold.

    vectors: (n, d), rows of length 1. strict: greater than the threshold (as the paper writes it)
    instead of at least (as its code does).
    max_neighbours: at most this many best partners j of every i, i itself not counted, equals by
    index; None keeps all.
        The cut is taken for each i alone, so (i, j) may stay where (j, i) falls away.
    block: rows compared at once; memory grows with block * n, never with n * n.
    Returns arrays (i, j, score), sorted by i, then best first.

    Source: Wang, Sec. IV-B (hippo-synonymy)
    """
    vectors = np.ascontiguousarray(vectors)
    cut = Cut(threshold, max_neighbours, strict)
    starts = range(0, len(vectors), block)
    found = [_pairs_of_block(vectors, start, block, cut) for start in starts]
    return _together(found, np.empty(0, dtype=vectors.dtype))


def _pairs_of_block(vectors: Floats, start: int, block: int, cut: Cut) -> Pairs:
    rough = vectors[start : start + block] @ vectors.T
    here = np.arange(len(rough))
    rough[here, start + here] = -np.inf
    i, j = np.divmod(np.flatnonzero(rough.ravel() >= cut.threshold - ROUNDING), len(vectors))
    i += start
    # scored again in a fixed order of additions: the score of (i, j) is then exactly that of (j,
    # i), whatever the block
    score = np.concatenate(
        [np.empty(0)]
        + [
            (vectors[i[k : k + block]].astype(np.float64) * vectors[j[k : k + block]]).sum(axis=1)
            for k in range(0, len(i), block)
        ]
    ).astype(vectors.dtype)
    return _best(i, j, score, cut)


def token_synonymy_pairs(
    tokens: TokenVectors,
    threshold: float = 0.8,
    max_neighbours: int | None = 100,
    strict: bool = False,
) -> Pairs:
    """The same for phrases of several token vectors (`TokenVectors`): all ordered pairs whose
    normalised MaxSim reaches the threshold.

    The score of (i, j) is MaxSim(i, j) / MaxSim(i, i), 1 at most. It is not symmetric: a short
    phrase may find all of itself in a longer one, and not the other way round. The released code
    divides by the best score of i instead and takes the best match for i itself, which is the same
    wherever i is its own best match.

    Source: Wang, Sec. IV-B (hippo-synonymy); Wang, Table IV (tab-4)
    """
    cut, own, found = Cut(threshold, max_neighbours, strict), self_maxsim(tokens, tokens), []
    for start, sums in maxsim_blocks(tokens, tokens):
        here = np.arange(len(sums))
        against = np.maximum(own[start : start + len(sums)], 1e-9).astype(sums.dtype)
        scores = sums / against[:, None]
        scores[here, start + here] = -np.inf
        i, j = np.nonzero(scores >= threshold)
        found.append(_best(i + start, j, scores[i, j], cut))
    return _together(found, np.empty(0))


def _together(found: Sequence[Pairs], no_scores: Floats) -> Pairs:
    if not found:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), no_scores
    i, j, score = zip(*found)
    return np.concatenate(i), np.concatenate(j), np.concatenate(score)


def _best(i: Positions, j: Positions, score: Floats, cut: Cut) -> Pairs:
    """The pairs that reach the threshold by i, best first, at most `max_neighbours` of an i."""
    keep = score > cut.threshold if cut.strict else score >= cut.threshold
    i, j, score = i[keep], j[keep], score[keep]
    order = np.lexsort((j, -score, i))
    i, j, score = i[order], j[order], score[order]
    if cut.max_neighbours is not None:
        rank = np.arange(len(i)) - np.searchsorted(i, i)
        near = rank < cut.max_neighbours
        i, j, score = i[near], j[near], score[near]
    return i, j, score
