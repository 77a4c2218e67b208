"""Operators that choose subgraphs of a textual graph. Each takes a batch of questions and returns
one step a question.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algorithms.steiner import prize_collecting_steiner_tree
from ..core.trace import SHOWN, EdgeStep, EgoGraphStep, NodeStep, ScoredNode, SteinerStep, Vector
from ..index.ego_graphs import EgoIndex
from ..index.vectors import Queries
from .ranking import count_of

FADE = 0.01  # a prize of a lower rank is at most (1 - FADE) times the one above it


def ego_graphs(questions: Queries, index: EgoIndex, top: int = 10) -> list[EgoGraphStep]:
    """The ego-graphs nearest to the question, as the paper's S(G)_N.

    questions: texts, or the steps of `operators.question.vector`. top: the paper's N. The roots
    come with their cosine, best first; nodes and edges are what their ego-graphs hold together,
    each once and sorted. `index.subgraph(root)` gives one of them by itself.

    Source: GRAG, Eq. 3-4 (eq-3, eq-4)
    """
    steps = []
    for ranked in index.rank_many(questions, top):
        roots = tuple(ScoredNode(index.labels[root], root, cosine) for root, cosine in ranked)
        nodes, edges = index.union([root.index for root in roots])
        found = f"the {count_of(roots, 'ego-graph')} of {count_of(range(index.hops), 'hop')}"
        held = f"together {count_of(nodes, 'node')} and {count_of(edges, 'edge')}"
        summary = f"{found} nearest to the question, {held}"
        steps.append(EgoGraphStep("ego-graphs", summary, nodes=nodes, edges=edges, roots=roots))
    return steps


def steiner(
    nodes: Sequence[NodeStep], edges: Sequence[EdgeStep], index: EgoIndex,
    k_e: int = 5, edge_cost: float = 0.5,
) -> list[SteinerStep]:  # fmt: skip
    """Steiner: the tree that collects the prizes of the nodes and edges found for each question,
    less the costs of its edges.

    The best of the n nodes found gets the prize n, the next n - 1, and so on to 1; of the edges
    those with one of the k_e highest cosines (`shared_prizes`). index: of any hops; only its graph
    is needed. edge_cost: the price of an edge.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    count, steps = len(index.graph.nodes), []
    ends = [(head, tail) for head, _, tail in index.graph.edges]
    for near_nodes, near_edges in zip(nodes, edges):
        # Prizes: n, n - 1, ..., 1 for the nodes in their order; edges with the same cosine share.
        node_prizes, edge_prizes = np.zeros(count), np.zeros(len(ends))
        node_prizes[[near.index for near in near_nodes.nodes]] = range(len(near_nodes.nodes), 0, -1)
        cosines = [near.score for near in near_edges.edges]
        edge_prizes[[near.index for near in near_edges.edges]] = shared_prizes(cosines, k_e)

        # The released code returns a graph without edges whole.
        if not ends:
            steps.append(steiner_step(index, node_prizes, edge_prizes, range(count)))
            continue

        # Virtual nodes: only nodes have prizes in the tree's problem. An edge's prize makes the
        # edge cheaper; where it exceeds the price, the rest is the prize of a virtual node on it.
        problem = with_virtual_nodes(ends, node_prizes, edge_prizes, edge_cost)

        # The prize-collecting Steiner tree: high prizes, less the costs of the edges between them.
        tree_nodes, tree_edges = prize_collecting_steiner_tree(
            len(problem.prizes), problem.ends, problem.costs, problem.prizes
        )

        # Back in the graph: a virtual node stands for its edge, an edge brings its ends.
        chosen = {problem.plain[edge] for edge in tree_edges if edge < len(problem.plain)}
        chosen |= {problem.virtual[place - count] for place in tree_nodes if place >= count}
        held = {place for place in tree_nodes if place < count}
        held |= {end for edge in chosen for end in ends[edge]}
        steps.append(steiner_step(index, node_prizes, edge_prizes, held, chosen))
    return steps


def shared_prizes(similarities: ArrayLike, k_e: int = 5) -> NDArray[np.float64]:
    """(m,) prizes for the edges with one of the k_e highest *distinct* similarities, 0 for all
    others.

    The edges of the i-th value (from 0) share k_e - i among them, and each gets at most 0.99 of
    what an edge one value higher gets, so that many copies of one relation are worth no more than a
    rare one. A value of zero or below gets its prize too when it ranks among the k_e. All this is
    what G-Retriever's released code does, but for one slip: it writes prizes over similarities
    while it compares, so that where zero ranks among the k_e, all lower values share its prize.
    """
    values, place, ties = np.unique(similarities, return_inverse=True, return_counts=True)
    k_e = min(k_e, len(values))
    prize_of_value, most = np.zeros(len(values)), float(k_e)
    for rank in range(k_e):
        value = len(values) - 1 - rank
        prize_of_value[value] = min((k_e - rank) / ties[value], most)
        most = prize_of_value[value] * (1 - FADE)
    prizes: NDArray[np.float64] = prize_of_value[place]
    return prizes


class VirtualNodes(NamedTuple):
    """A Steiner problem in which a virtual node follows the real ones for each edge whose prize
    exceeds its price: the ends and costs of its edges, the prizes of its nodes.

    plain: where in the graph the first of its edges stand, those that keep both their ends;
    virtual: the edge that each virtual node stands for.
    """

    ends: list[tuple[int, int]]
    costs: list[float]
    prizes: NDArray[np.float64]
    plain: list[int]
    virtual: list[int]


def with_virtual_nodes(
    edges: Sequence[tuple[int, int]],
    node_prizes: NDArray[np.float64],
    edge_prizes: NDArray[np.float64],
    edge_cost: float,
) -> VirtualNodes:
    """The problem to solve. The price of an edge is `edge_cost`, but at most 0.995 of the highest
    edge prize, so that at least one edge is worth more than it costs. A virtual node is joined to
    both ends of its edge for nothing. So does G-Retriever's released code.
    """
    highest = edge_prizes.max()
    price = min(edge_cost, highest * (1 - FADE / 2)) if highest else edge_cost
    plain = [edge for edge in range(len(edges)) if edge_prizes[edge] <= price]
    virtual = [edge for edge in range(len(edges)) if edge_prizes[edge] > price]
    ends, costs = [edges[edge] for edge in plain], [price - edge_prizes[edge] for edge in plain]
    for middle, edge in enumerate(virtual, start=len(node_prizes)):
        ends += [(edges[edge][0], middle), (middle, edges[edge][1])]
        costs += [0.0, 0.0]
    prizes = np.concatenate([node_prizes, edge_prizes[virtual] - price])
    return VirtualNodes(ends, costs, prizes, plain, virtual)


def steiner_step(
    index: EgoIndex, node_prizes: Vector, edge_prizes: Vector, nodes: Collection[int],
    edges: Collection[int] = (),
) -> SteinerStep:  # fmt: skip
    """The tree for a trace. Its items are the nodes and edges with a prize, the highest first,
    nodes before edges where they tie.
    """
    prized = [count_of(np.flatnonzero(node_prizes), "node")]
    prized += [count_of(np.flatnonzero(edge_prizes), "edge")]
    summary = f"prizes on {' and '.join(prized)}; the tree that collects them has"
    summary += f" {count_of(nodes, 'node')} and {count_of(edges, 'edge')}"
    labels = index.node_index.labels + index.edge_index.labels
    prizes = [*node_prizes.tolist(), *edge_prizes.tolist()]
    rows = [row for row in zip(labels, prizes) if row[1] > 0]
    items = tuple(sorted(rows, key=lambda row: -row[1])[:SHOWN])
    places = {"nodes": tuple(sorted(nodes)), "edges": tuple(sorted(edges))}
    return SteinerStep(
        "steiner", summary, items, **places, node_prizes=node_prizes, edge_prizes=edge_prizes
    )
