"""Operators that choose communities. Each returns one `CommunityStep` a question.

Source: Survey, Sec. 6.1 (op-community)
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..core.reports import CommunityIndex
from ..core.trace import CommunityStep, NodeStep, ScoredCommunity
from ..index.vectors import Queries, VectorIndex
from .ranking import count_of, rank


def layer(
    questions: Sequence[str], index: CommunityIndex, level: int, union: bool = False,
    min_rating: float = 0.0,
) -> list[CommunityStep]:  # fmt: skip
    """Layer: every community of a level, whatever the question, with its report's rating.

    union: every community down to the level instead, parents beside their children (the released
    code, and the survey's wording).
    min_rating: leave out those whose report is rated lower.

    Source: Survey, Sec. 6.1 (op-community); GraphRAG, Sec. 3.3 (sec-3.3)
    """
    found = index.at(level, union)
    places = [place for place in found if index.reports[place].rating >= min_rating]
    exists = min(level, index.communities.deepest)
    said = f"all {len(places)} reports {'down to' if union else 'of'} level {exists}"
    if level > exists:
        said += f" (level {level} does not exist: the deepest is {exists}, projected down)"
    if without := len(index.communities.at(level, union)) - len(found):
        said += f"; {without} communities have no report"
    if low := len(found) - len(places):
        said += f"; {low} rated below {min_rating:g} are left out"
    communities = _rated(places, index)
    return [
        CommunityStep("community layer", said, communities=communities, level=exists)
        for _ in questions
    ]


def entity(
    chosen: Sequence[NodeStep], index: CommunityIndex, k: int | None = None,
    order: Literal["rating", "hits"] = "rating", level: int | None = None, union: bool = False,
) -> list[CommunityStep]:  # fmt: skip
    """Entity: the communities that contain a chosen node, with the rating of their report.

    order: "rating" (the survey), or "hits", the number of chosen nodes first and the rating second,
    equals in the order of the nodes (the released code). level: only communities of this level, or
    with `union` of all levels down to it; None takes those of all levels.

    Source: Survey, Sec. 6.1 (op-community)
    """
    allowed = set(index.reports) if level is None else set(index.at(level, union))
    steps = []
    for step in chosen:
        hits: dict[int, int] = {}
        for node in dict.fromkeys(node.index for node in step.nodes):
            for place in index.communities.homes.get(node, ()):
                if place in allowed:
                    hits[place] = hits.get(place, 0) + 1
        found = sorted(hits) if order == "rating" else list(hits)
        found.sort(key=lambda place: -index.reports[place].rating)
        if order == "hits":
            found.sort(key=lambda place: -hits[place])
        communities = _rated(found[:k], index)
        said = f"{len(found)} reports on communities of the chosen entities, by {order}"
        said += f"; {len(communities)} taken"
        steps.append(CommunityStep("community entity", said, communities=communities))
    return steps


def vdb(
    questions: Queries, vectors: tuple[Sequence[int], VectorIndex],
    candidates: Sequence[Sequence[int]] | None = None, k: int | None = 10,
) -> list[CommunityStep]:  # fmt: skip
    """Community VDB: the k communities whose report is nearest to the question, with the cosine.

    vectors: a pair, the positions of the communities and a `VectorIndex` with the report of each.
    candidates: for each question the positions that may be chosen; None allows all.

    Source: Survey, App. B.1 (op-new); GraphRAG, Sec. 5 (sec-5)
    """
    positions, index = vectors
    place = np.asarray(positions)
    steps = []
    for number, scores in enumerate(index.similarities(questions)):
        allowed = np.ones(len(place), dtype=bool)
        if candidates is not None:
            allowed = np.isin(place, candidates[number])
        ranked = rank(np.where(allowed, scores, -np.inf), k).tolist()
        communities = tuple(
            ScoredCommunity(index.labels[row], int(place[row]), float(scores[row]))
            for row in ranked
            if allowed[row]
        )
        said = f"the {len(communities)} reports nearest to the question, of {int(allowed.sum())}"
        steps.append(CommunityStep("community vdb", said, communities=communities))
    return steps


def roll_up(
    chosen: Sequence[CommunityStep], index: CommunityIndex, levels: int = 1
) -> list[CommunityStep]:
    """Roll up: the chosen communities give way to those that hold them, `levels` above; each once,
    in the order of its first part, with its report's rating.

    Source: GraphRAG, Sec. 5 (sec-5)
    """
    steps = []
    for step in chosen:
        above = [index.communities.ancestor(c.index, levels) for c in step.communities]
        places = [place for place in dict.fromkeys(above) if place in index.reports]
        rolled = f"{len(step.communities)} communities rolled up {count_of(range(levels), 'level')}"
        said = f"{rolled} into {len(places)}"
        steps.append(CommunityStep("community roll-up", said, communities=_rated(places, index)))
    return steps


def _rated(places: Sequence[int], index: CommunityIndex) -> tuple[ScoredCommunity, ...]:
    reports = index.reports
    return tuple(ScoredCommunity(reports[p].title, p, reports[p].rating) for p in places)
