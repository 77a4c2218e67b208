"""Operators that choose subgraphs of a textual graph. Each takes a batch of questions and returns
one step a question.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

import numpy as np
from numpy.typing import NDArray

from ..algorithms.retriever_prizes import edge_prizes, node_prizes, retrieve_subgraph
from ..algorithms.vectors import SAME, normalize
from ..core.errors import MiniragError
from ..core.trace import SHOWN, EgoGraphStep, ScoredNode, SteinerStep
from ..index.ego_graphs import EgoIndex
from ..index.vectors import Queries
from .ranking import count_of


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
    questions: Queries, index: EgoIndex, k: int = 3, k_e: int = 5, edge_cost: float = 0.5
) -> list[SteinerStep]:
    """Steiner: the tree that collects the prizes of what is similar to the question, as G-Retriever
    does.

    questions: texts, or the steps of `operators.question.vector`. index: of any hops; only the
    vectors of nodes and edges are looked at. k, k_e, edge_cost: see `retrieve_subgraph`.
    Cosines are rounded to 12 decimals, so that equal texts tie. The items are the nodes and edges
    with a prize, the highest first, nodes before edges where they tie. Raises `MiniragError` for a
    k, k_e or edge_cost below 0.

    Source: GRAG, Sec. 5.1 (tab-2); Survey, Sec. 6.1 (op-subgraph)
    """
    graph = index.graph
    if min(k, k_e, edge_cost) < 0:
        given = f"k={k!r}, k_e={k_e!r}, edge_cost={edge_cost!r}"
        raise MiniragError(f"{given}: none of them may be negative.")
    if not questions:
        return []
    asked = index.question_vectors(questions)
    to_nodes, to_edges = _cosines(asked, index.node_vectors), _cosines(asked, index.edge_vectors)
    ends = [(head, tail) for head, _, tail in graph.edges]
    steps = []
    for node_cosines, edge_cosines in zip(to_nodes, to_edges):
        found = retrieve_subgraph(node_cosines, edge_cosines, ends, k, k_e, edge_cost)
        nodes, edges = map(tuple, found)
        prizes, bonus = node_prizes(node_cosines, k), edge_prizes(edge_cosines, k_e)
        lines = [*zip(graph.nodes, prizes.tolist()), *zip(graph.lines(), bonus.tolist())]
        items = sorted((item for item in lines if item[1] > 0), key=lambda item: -item[1])
        prized = count_of(np.flatnonzero(prizes), "node"), count_of(np.flatnonzero(bonus), "edge")
        held = count_of(nodes, "node"), count_of(edges, "edge")
        summary = f"prizes on {' and '.join(prized)}; the tree that collects them has "
        summary += " and ".join(held)
        steps.append(
            SteinerStep(
                "steiner", summary, tuple(items[:SHOWN]),
                nodes=nodes, edges=edges, node_prizes=prizes, edge_prizes=bonus,
            )
        )  # fmt: skip
    return steps


def _cosines(asked: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """(questions, vectors), in double precision and rounded; no vectors give (questions, 0)."""
    if not len(vectors):
        return np.zeros((len(asked), 0))
    left, right = (normalize(np.asarray(some, dtype=np.float64)) for some in (asked, vectors))
    return np.round(left @ right.T, SAME)
