"""Operators that choose nodes. Each takes a batch of questions and returns one step a question.

Source: Survey, Sec. 6.1 (op-node)
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..algorithms.pagerank import Transitions, personalized_pagerank
from ..core.graph import Graph
from ..core.trace import EdgeStep, NodeStep, ScoredNode, Vector, WalkStep
from ..index.vectors import Queries, TextIndex, VectorIndex
from .ranking import count_of, top_items


def link(phrases: Sequence[Sequence[str]], index: TextIndex) -> list[NodeStep]:
    """Link: each phrase of each question to its one nearest node.

    phrases: for each question its phrases. index: of nodes. The label of a `ScoredNode` is the
    phrase; its score is the cosine, or with a `TokenIndex` the normalised MaxSim.

    Source: Survey, Sec. 6.1 (op-node); Wang, Sec. IV-B (hippo-linking)
    """
    flat = [phrase for some in phrases for phrase in some]
    positions, cosines = index.search(flat, k=1) if flat else ((), ())
    found = iter(
        [ScoredNode(p, int(i[0]), float(c[0])) for p, i, c in zip(flat, positions, cosines)]
    )
    steps = []
    for some in phrases:
        nodes = tuple(next(found) for _ in some)
        items = tuple((f"{phrase} → {index.labels[i]}", cosine) for phrase, i, cosine in nodes)
        linked = f"{count_of(nodes, 'phrase')} linked to the nearest node"
        summary = linked if nodes else "nothing to link"
        steps.append(NodeStep("link", summary, items, nodes=nodes))
    return steps


def reset_vector(
    linked: Iterable[ScoredNode],
    count: int,
    specificity: Vector | None = None,
    per: Literal["node", "entity"] = "node",
) -> Vector:
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


def ppr(
    transition: Transitions,
    resets: NDArray[np.float64],
    labels: Sequence[str],
    damping: float = 0.5,
    tol: float = 1e-10,
) -> list[WalkStep]:
    """PPR: the stationary distribution of a walk that restarts at `resets` (nodes, questions).

    `damping` is the probability of following an edge. The scores of a question, (nodes,), sum to 1;
    a question with an all-zero reset gets zeros.

    Source: Survey, Sec. 6.1 (op-node); Wang, Sec. IV-B (hippo-ppr)
    """
    scores = np.zeros_like(resets)
    started = resets.sum(axis=0) > 0
    if started.any():
        walk = personalized_pagerank(transition, resets[:, started], damping=damping, tol=tol)
        scores[:, started] = walk
    steps = []
    for score, reset in zip(scores.T, resets.T):
        starts = count_of(np.flatnonzero(reset), "node")
        summary = f"walk restarts at {starts}, follows an edge with probability {damping:g}"
        items = top_items(labels, score)
        steps.append(WalkStep("ppr", summary, items, scores=score, reset=reset))
    return steps


def spread_to_neighbours(
    adjacency: sparse.sparray,
    resets: NDArray[np.float64],
    labels: Sequence[str],
    hops: int = 1,
    share: float = 0.5,
    per: Literal["question", "node"] = "question",
) -> list[WalkStep]:
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
            times = (times > 0) | (reset > 0) if hops else np.zeros(len(reset))
        scores = reset + share * reset[starts].min() * times if len(starts) else reset.copy()
        scores = scores / max(scores.sum(), 1e-300)
        near = f"query nodes and what is within {count_of(range(hops), 'hop')}"
        summary = near if hops else "query nodes only"
        items = top_items(labels, scores)
        steps.append(WalkStep("neighbours", summary, items, scores=scores, reset=reset))
    return steps


def vdb(questions: Queries, index: VectorIndex, k: int = 10) -> list[NodeStep]:
    """VDB: the k nodes whose vector is nearest to the question's, with their cosine.

    Source: Survey, Sec. 6.1 (op-node)
    """
    places, cosines = index.search(questions, k=min(k, len(index.labels)))
    steps = []
    for row, scores in zip(places.tolist(), cosines.tolist()):
        nodes = tuple(ScoredNode(index.labels[i], i, score) for i, score in zip(row, scores))
        summary = f"the {len(nodes)} nodes nearest to the question"
        steps.append(NodeStep("node vdb", summary, nodes=nodes))
    return steps


def onehop(chosen: Sequence[NodeStep], graph: Graph) -> list[NodeStep]:
    """Onehop: the neighbours of the chosen nodes, each with the score of the best chosen node
    beside it.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for step in chosen:
        start = {node.index: node.score for node in step.nodes}
        found: dict[int, float] = {}
        for edge in graph.edges:
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here in start and there not in start:
                    found[there] = max(start[here], found.get(there, -np.inf))
        best = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        nodes = tuple(ScoredNode(graph.nodes[i].name, i, score) for i, score in best)
        summary = f"{count_of(nodes, 'neighbour')} of {len(start)} nodes"
        steps.append(NodeStep("node onehop", summary, nodes=nodes))
    return steps


def from_relationships(chosen: Sequence[EdgeStep], graph: Graph) -> list[NodeStep]:
    """RelNode (FromRel): the two ends of every chosen relation, in the relations' order.

    A node gets the score of the first relation that names it.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for step in chosen:
        found: dict[int, float] = {}
        for _, edge, score in step.edges:
            for node in (graph.edges[edge].source, graph.edges[edge].target):
                found.setdefault(node, score)
        nodes = tuple(ScoredNode(graph.nodes[i].name, i, score) for i, score in found.items())
        summary = f"{len(nodes)} ends of {len(step.edges)} relations"
        steps.append(NodeStep("node from relations", summary, nodes=nodes))
    return steps
