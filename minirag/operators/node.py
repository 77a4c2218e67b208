"""Operators that choose nodes. Each takes a batch of questions and returns one `Step` a question.

Source: Survey, Sec. 6.1 (op-node)
"""

import numpy as np

from ..algorithms.pagerank import personalized_pagerank
from ..core.results import Step
from .ranking import top_items


def link(phrases, index):
    """Link: each phrase of each question to its one nearest node.

    `phrases` is a list (questions) of lists of strings; `index` a `VectorIndex` of nodes, or a
    `TokenIndex`. `step.data["nodes"]` holds `(phrase, node position, cosine)`; with a `TokenIndex`
    the last is the normalised MaxSim.

    Source: Survey, Sec. 6.1 (op-node); Wang, Sec. IV-B (hippo-linking)
    """
    flat = [phrase for some in phrases for phrase in some]
    if flat:
        positions, cosines = index.search(flat, k=1)
        found = iter([(p, int(i[0]), float(c[0])) for p, i, c in zip(flat, positions, cosines)])
    steps = []
    for some in phrases:
        nodes = [next(found) for _ in some]
        items = tuple((f"{phrase} → {index.labels[i]}", cosine) for phrase, i, cosine in nodes)
        summary = (
            f"{len(nodes)} phrase{'s' * (len(nodes) != 1)} linked to the nearest node"
            if nodes
            else "nothing to link"
        )
        steps.append(Step("link", summary, items, {"nodes": nodes}))
    return steps


def reset_vector(linked, count, specificity=None, per="node"):
    """Where a walk restarts: (count,) non-negative weights on the linked nodes, all zero if there
    are none.

    `specificity` is a factor a node, (count,), or None. `per="node"` gives every query node the
    same weight, as paper and released code do; `per="entity"` gives every query entity its own
    share, so that a node named twice weighs twice.

    Source: Wang, Sec. IV-B (hippo-specificity)
    """
    reset = np.zeros(count)
    for _, node, _ in linked:
        weight = 1.0 if specificity is None else specificity[node]
        reset[node] = reset[node] + weight if per == "entity" else weight
    return reset


def ppr(transition, resets, labels, damping=0.5, tol=1e-10):
    """PPR: the stationary distribution of a walk that restarts at `resets` (nodes, questions).

    `step.data["scores"]` is (nodes,) and sums to 1; a question with an all-zero reset gets zeros.

    Source: Survey, Sec. 6.1 (op-node); Wang, Sec. IV-B (hippo-ppr)
    """
    scores = np.zeros_like(resets)
    started = resets.sum(axis=0) > 0
    if started.any():
        scores[:, started] = personalized_pagerank(
            transition, resets[:, started], damping=damping, tol=tol
        )
    summary = f"walk restarts at {{}} node{{}}, follows an edge with probability {damping:g}"
    starts = np.count_nonzero(resets, axis=0).tolist()
    return [
        Step(
            "ppr",
            summary.format(n, "s" * (n != 1)),
            top_items(labels, score),
            {"scores": score, "reset": reset},
        )
        for n, score, reset in zip(starts, scores.T, resets.T)
    ]


def spread_to_neighbours(adjacency, resets, labels, hops=1, share=0.5, per="question"):
    """The ablation that replaces PPR: nodes near the query nodes get `share` of the smallest reset
    weight of their question.

    `per="question"` gives it once to every node within `hops`, the query nodes among them.
    `per="node"` gives it once for each query node from which a path of 1 to `hops` edges leads
    there (the released code): shares add up, and a query node gets its own only where a path leads
    back to it. 0 hops leaves the query nodes alone.

    Source: Wang, Sec. IV-B (hippo-ppr); ablation of the original HippoRAG paper
    """
    steps = []
    links = (adjacency > 0).astype(float)
    for reset in resets.T:
        starts = np.flatnonzero(reset)
        ends = np.zeros((len(reset), len(starts)), dtype=bool)
        ends[starts, np.arange(len(starts))] = True
        reached = np.zeros_like(ends)
        for _ in range(hops):
            ends = links @ ends > 0
            reached |= ends
        times = reached.sum(axis=1)
        if per == "question":
            times = (times > 0) | (reset > 0) if hops else 0
        scores = reset + share * reset[starts].min() * times if len(starts) else reset.copy()
        scores = scores / max(scores.sum(), 1e-300)
        name = (
            "query nodes only"
            if not hops
            else f"query nodes and what is within {hops} hop{'s' * (hops > 1)}"
        )
        steps.append(
            Step("neighbours", name, top_items(labels, scores), {"scores": scores, "reset": reset})
        )
    return steps


def vdb(questions, index, k=10):
    """VDB: the k nodes whose vector is nearest to the question's.

    `step.data["nodes"]` holds `(label, node position, cosine)`, best first; `data["scores"]` is
    (nodes,), zero elsewhere.

    Source: Survey, Sec. 6.1 (op-node)
    """
    places, cosines = index.search(questions, k=min(k, len(index.labels)))
    steps = []
    for row, scores in zip(places, cosines):
        nodes = [(index.labels[i], int(i), float(c)) for i, c in zip(row, scores)]
        dense = np.zeros(len(index.labels))
        dense[row] = scores
        said = f"the {len(nodes)} nodes nearest to the question"
        steps.append(
            Step(
                "node vdb",
                said,
                tuple((label, c) for label, _, c in nodes[:10]),
                {"nodes": nodes, "scores": dense},
            )
        )
    return steps


def onehop(chosen, graph):
    """Onehop: the neighbours of the chosen nodes, each with the score of the best chosen node
    beside it.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for step in chosen:
        start = {node: score for _, node, score in step.data["nodes"]}
        found = {}
        for edge in graph.edges:
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here in start and there not in start:
                    found[there] = max(start[here], found.get(there, -np.inf))
        nodes = [
            (graph.nodes[i].name, i, score)
            for i, score in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        said = f"{len(nodes)} neighbour{'s' * (len(nodes) != 1)} of {len(start)} nodes"
        steps.append(
            Step(
                "node onehop",
                said,
                tuple((name, score) for name, _, score in nodes[:10]),
                {"nodes": nodes},
            )
        )
    return steps


def from_relationships(chosen, graph):
    """RelNode (FromRel): the two ends of every chosen relation, in the relations' order.

    `chosen`: steps whose `data["relations"]` are `(edge position, score)`; a node gets the score of
    the first relation that names it.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for step in chosen:
        found = {}
        for edge, score in step.data["relations"]:
            for node in (graph.edges[edge].source, graph.edges[edge].target):
                found.setdefault(node, float(score))
        nodes = [(graph.nodes[i].name, i, score) for i, score in found.items()]
        said = f"{len(nodes)} ends of {len(step.data['relations'])} relations"
        steps.append(
            Step(
                "node from relations",
                said,
                tuple((name, score) for name, _, score in nodes[:10]),
                {"nodes": nodes},
            )
        )
    return steps
