"""Operators that choose relations. Each takes a batch of questions and returns one `Step` a
question.

Source: Survey, Sec. 6.1 (op-relationship)
"""

from collections import Counter

from ..core.results import Step
from .ranking import top_items


def aggregator(walked, facts, labels):
    """Aggregator: a relation's score is the sum of the scores of the nodes it joins.

    `facts` is the (relations, nodes) matrix of `fact_matrix`; `step.data["scores"]` is
    (relations,).

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    totals = [facts @ step.data["scores"] for step in walked]
    summary = "each relation gets the scores of its two nodes"
    return [
        Step("relationship aggregator", summary, top_items(labels, scores), {"scores": scores})
        for scores in totals
    ]


def label(graph, edge):
    """A relation as people read it."""
    e = graph.edges[edge]
    return f"{graph.nodes[e.source].name} — {graph.nodes[e.target].name}"


def vdb(questions, index, k=10):
    """VDB: the k relations whose vector is nearest to the question's; row i of the index is edge i
    of the graph.

    `step.data["relations"]` holds `(edge position, cosine)`, best first.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    places, cosines = index.search(questions, k=min(k, len(index.labels)))
    steps = []
    for row, scores in zip(places.tolist(), cosines.tolist()):
        items = tuple((index.labels[i], score) for i, score in zip(row[:10], scores))
        steps.append(
            Step(
                "relationship vdb",
                f"the {len(row)} relations nearest to the question",
                items,
                {"relations": list(zip(row, scores))},
            )
        )
    return steps


def onehop(chosen, graph, k=None, outside_k=None, order="links"):
    """Onehop: the relations at the chosen nodes.

    order: with "links" those between two chosen nodes come first, the others by how many chosen
    nodes their far end touches; then by the sum of their ends' degrees. With "degree"
    (nano-graphrag) all by that sum, then by weight. k: at most so many. outside_k: at most so many
    for each chosen node of those that lead to a node outside. `step.data["relations"]` holds `(edge
    position, score)`; the score is the number of chosen ends.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    relations = [(i, e.source, e.target) for i, e in enumerate(graph.edges) if e.kind == "relation"]
    degree = Counter(end for _, *ends in relations for end in set(ends))
    steps = []
    for step in chosen:
        turn = {}
        for _, node, _ in step.data["nodes"]:
            turn.setdefault(node, len(turn))
        touching = [row for row in relations if row[1] in turn or row[2] in turn]
        inside = lambda row: row[1] in turn and row[2] in turn
        outer = [row for row in touching if not inside(row)]
        links = Counter(end for end, _ in {(t, s) if s in turn else (s, t) for _, s, t in outer})
        far = lambda row: links[row[2] if row[1] in turn else row[1]]
        prominence = lambda row: degree[row[1]] + degree[row[2]]
        weight = lambda row: graph.edges[row[0]].weight
        first = lambda row: min(turn[end] for end in row[1:] if end in turn)
        keys = {
            "links": lambda row: (not inside(row), -far(row), -prominence(row), row[0]),
            "degree": lambda row: (-prominence(row), -weight(row), first(row), row[0]),
        }
        touching.sort(key=keys[order])
        if outside_k is not None:
            outer = [row for row in touching if not inside(row)]
            gone = set(outer[outside_k * len(turn) :])
            touching = [row for row in touching if row not in gone]
        found = [(row[0], 1.0 + inside(row)) for row in touching[:k]]
        between = sum(map(inside, touching))
        said = f"{len(touching)} relations at {len(turn)} nodes, {between} of them between two"
        said += f"; {len(found)} taken"
        items = tuple((label(graph, i), score) for i, score in found[:10])
        steps.append(Step("relationship onehop", said, items, {"relations": found}))
    return steps
