"""From scores to a ranking, the same way everywhere."""

import numpy as np

from ..algorithms.vectors import SAME


def rank(scores, k=None, ties="ascending"):
    """Positions of the k best scores, best first.

    Scores equal to 12 decimals come by position: ascending, or descending as a reversed stable sort
    leaves them.
    """
    scores = np.round(scores, SAME)
    if ties == "descending":
        order = np.argsort(scores, kind="stable")[::-1]
    else:
        order = np.argsort(-scores, kind="stable")
    return order[:k]


def min_max(scores):
    """Scores moved to [0, 1]; a constant vector becomes zeros (the released HippoRAG divides zero
    by zero there).
    """
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def top_items(labels, scores, k=10):
    """`(label, score)` pairs of the k best scores above zero, for a trace."""
    k = min(k, len(scores))
    best = np.argpartition(-scores, k - 1)[:k] if k else np.array([], dtype=int)
    best = best[np.lexsort((best, -scores[best]))]
    return tuple((labels[i], float(scores[i])) for i in best if scores[i] > 0)
