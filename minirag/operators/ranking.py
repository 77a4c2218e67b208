"""From scores to a ranking, the same way everywhere."""

from collections.abc import Sequence, Sized
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..algorithms.vectors import SAME
from ..core.trace import SHOWN, FactStep, Vector, WalkStep

Ties = Literal["ascending", "descending"]
Scored = TypeVar("Scored", WalkStep, FactStep)


def rank(scores: Vector, k: int | None = None, ties: Ties = "ascending") -> NDArray[np.intp]:
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


def min_max(scores: Vector) -> Vector:
    """Scores moved to [0, 1]; a constant vector becomes zeros (the released HippoRAG divides zero
    by zero there).
    """
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def top_items(
    labels: Sequence[str], scores: Vector, k: int = SHOWN
) -> tuple[tuple[str, float], ...]:
    """`(label, score)` pairs of the k best scores above zero, for a trace."""
    return tuple((labels[i], float(scores[i])) for i in rank(scores, k) if scores[i] > 0)


def count_of(items: Sized, noun: str) -> str:
    """The number of items with their noun: "1 node", "2 nodes"."""
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"


def keep_best(
    steps: Sequence[Scored], labels: Sequence[str], k: int | None = None, floor: float = 0.0
) -> list[Scored]:
    """The steps with their k best scores only, as far as these reach `floor`; all others are
    zero.

    Source: Survey, Sec. 6.1 (op-node, op-relationship)
    """
    kept = []
    for step in steps:
        best = [i for i in rank(step.scores, k) if step.scores[i] >= floor and step.scores[i] > 0]
        scores = np.zeros_like(step.scores)
        scores[best] = step.scores[best]
        summary = f"the {len(best)} best of {np.count_nonzero(step.scores)} are kept"
        items, operator = top_items(labels, scores), f"{step.operator} top-k"
        changed = replace(step, operator=operator, summary=summary, items=items, scores=scores)
        kept.append(changed)
    return kept
