"""Scores of entities from the ranks of their chunks, as ToG-2 prunes its candidates."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

Entity = TypeVar("Entity", bound=Hashable)


def decayed_scores(
    pooled: Iterable[tuple[Entity, float]], top_k: int = 10, alpha: float = 0.8
) -> list[tuple[Entity, float]]:
    """The entities that own one of the `top_k` best chunks, best first.

    pooled: (entity, score) for every chunk of every candidate; of equal scores the earlier ranks
    higher. The i-th ranked chunk, i from 1, adds its score times exp(-alpha * i) to its entity.
    With non-negative scores and alpha above ln 2 the owner of the first chunk always comes first:
    the weights of all later ranks sum to less than the first one.

    Source: Wang, Sec. IV-A (tog2-ep)
    """
    best = sorted(pooled, key=lambda row: -row[1])[:top_k]
    totals = defaultdict[Entity, float](float)
    for rank, (entity, score) in enumerate(best, start=1):
        totals[entity] += score * math.exp(-alpha * rank)
    return sorted(totals.items(), key=lambda row: -row[1])
