"""Operators that choose communities. Each returns one `Step` a question; `step.data["communities"]`
are positions, best first.

Source: Survey, Sec. 6.1 (op-community)
"""

import numpy as np

from ..core.results import Step
from .ranking import rank, top_items

ORDERS = ("rating", "hits")


def layer(questions, index, level, union=False, min_rating=0.0):
    """Layer: every community of a level, whatever the question.

    union: every community down to the level instead, parents beside their children (the released
    code, and the survey's wording).
    min_rating: leave out those whose report is rated lower.

    Source: Survey, Sec. 6.1 (op-community); GraphRAG, Sec. 3.3 (sec-3.3)
    """
    communities = index.communities
    found = index.at(level, union)
    places = [place for place in found if index.reports[place].rating >= min_rating]
    exists = min(level, communities.deepest)
    said = f"all {len(places)} reports {'down to' if union else 'of'} level {exists}"
    said += (
        f" (level {level} does not exist: the deepest is {exists}, projected down)"
        if level > exists
        else ""
    )
    if without := len(communities.at(level, union)) - len(found):
        said += f"; {without} communities have no report"
    if low := len(found) - len(places):
        said += f"; {low} rated below {min_rating:g} are left out"
    items = tuple((index.reports[p].title, index.reports[p].rating) for p in places[:10])
    return [
        Step("community layer", said, items, {"communities": places, "level": exists})
        for _ in questions
    ]


def entity(chosen, index, k=None, order="rating", level=None, union=False):
    """Entity: the communities that contain a chosen node, by the rating of their report.

    chosen: steps whose `data["nodes"]` are `(label, node position, score)`. order: "rating" (the
    survey), or "hits", the number of chosen nodes first and the rating second, equals in the order
    of the nodes (the released code). level: only communities of this level, or with `union` of all
    levels down to it; None takes those of all levels.

    Source: Survey, Sec. 6.1 (op-community)
    """
    if order not in ORDERS:
        raise ValueError(f"order={order!r}: expected one of {', '.join(ORDERS)}.")
    allowed = set(index.at(level, union)) if level is not None else set(index.reports)
    steps = []
    for step in chosen:
        hits = {}
        for node in dict.fromkeys(node for _, node, _ in step.data["nodes"]):
            for place in index.communities.homes.get(node, ()):
                if place in allowed:
                    hits[place] = hits.get(place, 0) + 1
        rating = lambda p: -index.reports[p].rating
        keys = {"rating": lambda p: (rating(p), p), "hits": lambda p: (-hits[p], rating(p))}
        found = sorted(hits, key=keys[order])
        items = tuple((index.reports[p].title, index.reports[p].rating) for p in found[:k][:10])
        said = f"{len(found)} reports on communities of the chosen entities, by {order}; {len(found[:k])} taken"
        steps.append(Step("community entity", said, items, {"communities": found[:k]}))
    return steps


def vdb(questions, vectors, candidates=None, k=10):
    """Community VDB: the k communities whose report is nearest to the question.

    vectors: a pair, the positions of the communities and a `VectorIndex` with the report of each.
    candidates: for each question the positions that may be chosen; None allows all.

    Source: Survey, App. B.1 (op-new); GraphRAG, Sec. 5 (sec-5)
    """
    positions, index = vectors
    place = np.asarray(positions)
    steps = []
    for number, scores in enumerate(index.similarities(questions)):
        allowed = (
            np.isin(place, candidates[number])
            if candidates is not None
            else np.ones(len(place), dtype=bool)
        )
        rows = [row for row in rank(np.where(allowed, scores, -np.inf), k).tolist() if allowed[row]]
        kept = np.where(np.isin(np.arange(len(place)), rows), scores, 0.0)
        data = {
            "communities": [int(place[row]) for row in rows],
            "scores": {int(place[row]): float(scores[row]) for row in rows},
        }
        steps.append(
            Step(
                "community vdb",
                f"the {len(rows)} reports nearest to the question, of {int(allowed.sum())}",
                top_items(index.labels, kept),
                data,
            )
        )
    return steps


def roll_up(chosen, index, levels=1):
    """Roll up: the chosen communities give way to those that hold them, `levels` above; each once,
    in the order of its first part.

    Source: GraphRAG, Sec. 5 (sec-5)
    """
    steps = []
    for step in chosen:
        above = [index.communities.ancestor(place, levels) for place in step.data["communities"]]
        places = [place for place in dict.fromkeys(above) if place in index.reports]
        items = tuple((index.reports[p].title, index.reports[p].rating) for p in places[:10])
        said = f"{len(step.data['communities'])} communities rolled up {levels} level{'s' * (levels > 1)} into {len(places)}"
        steps.append(Step("community roll-up", said, items, {"communities": places}))
    return steps
