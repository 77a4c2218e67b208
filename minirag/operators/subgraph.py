"""Operators that choose subgraphs of a textual graph. Each takes a batch of questions and returns
one `Step` a question.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

import numpy as np

from ..algorithms.retriever_prizes import edge_prizes, node_prizes, retrieve_subgraph
from ..algorithms.vectors import SAME, normalize
from ..core.errors import MiniragError
from ..core.results import Step


def ego_graphs(questions, index, top=10):
    """The ego-graphs nearest to the question, as the paper's S(G)_N: one `Step` a question.

    index: an `EgoIndex`; top: the paper's N. `step.data["roots"]` holds `(label, root position,
    cosine)`, best first; `data["nodes"]` and `data["edges"]` are the positions of what these
    ego-graphs hold together, each once and sorted. `index.subgraph(root)` gives one of them by
    itself.

    Source: GRAG, Eq. 3-4 (eq-3, eq-4)
    """
    steps = []
    for ranked in index.rank_many(questions, top):
        roots = [(index.labels[root], root, cosine) for root, cosine in ranked]
        nodes, edges = index.union([root for root, _ in ranked])
        nearest = f"{_count(roots, 'ego-graph')} of {_count(range(index.hops), 'hop')} nearest to the question"
        said = f"the {nearest}, together {_count(nodes, 'node')} and {_count(edges, 'edge')}"
        items = tuple((label, cosine) for label, _, cosine in roots[:10])
        steps.append(
            Step("ego-graphs", said, items, {"roots": roots, "nodes": nodes, "edges": edges})
        )
    return steps


def steiner(questions, index, k=3, k_e=5, edge_cost=0.5):
    """Steiner: the tree that collects the prizes of what is similar to the question, as G-Retriever
    does: one `Step` a question.

    index: what has a `graph` (a `TextualGraph`), its `encoder`, `node_vectors` (n, d) and
    `edge_vectors` (m, d), such as an `EgoIndex`. k, k_e,
    edge_cost: see `retrieve_subgraph`. Cosines are rounded to 12 decimals, so that equal texts tie.
    The items are the nodes and edges with a prize, the highest first, nodes before edges where they
    tie. `step.data["nodes"]` and `data["edges"]` are the positions of the subgraph, sorted;
    `data["node_prizes"]` (n,) and `data["edge_prizes"]` (m,) are the prizes. Raises `MiniragError`
    for a k, k_e or edge_cost below 0.

    Source: GRAG, Sec. 5.1 (tab-2); Survey, Sec. 6.1 (op-subgraph)
    """
    questions, graph = list(questions), index.graph
    if min(k, k_e, edge_cost) < 0:
        raise MiniragError(
            f"k={k!r}, k_e={k_e!r}, edge_cost={edge_cost!r}: none of them may be negative."
        )
    if not questions:
        return []
    asked = index.encoder.encode(questions, kind="query")
    to_nodes, to_edges = _cosines(asked, index.node_vectors), _cosines(asked, index.edge_vectors)
    ends = [(head, tail) for head, _, tail in graph.edges]
    steps = []
    for node_cosines, edge_cosines in zip(to_nodes, to_edges):
        nodes, edges = map(
            tuple, retrieve_subgraph(node_cosines, edge_cosines, ends, k, k_e, edge_cost)
        )
        prizes, bonus = node_prizes(node_cosines, k), edge_prizes(edge_cosines, k_e)
        lines = [*zip(graph.nodes, prizes.tolist()), *zip(graph.lines(), bonus.tolist())]
        items = sorted((item for item in lines if item[1] > 0), key=lambda item: -item[1])
        prized = f"prizes on {_count(np.flatnonzero(prizes), 'node')} and {_count(np.flatnonzero(bonus), 'edge')}"
        said = f"{prized}; the tree that collects them has {_count(nodes, 'node')} and {_count(edges, 'edge')}"
        data = {"nodes": nodes, "edges": edges, "node_prizes": prizes, "edge_prizes": bonus}
        steps.append(Step("steiner", said, tuple(items[:10]), data))
    return steps


def _cosines(asked, vectors):
    """(questions, vectors), in double precision and rounded; no vectors give (questions, 0)."""
    if not len(vectors):
        return np.zeros((len(asked), 0))
    return np.round(
        normalize(np.asarray(asked, dtype=np.float64))
        @ normalize(np.asarray(vectors, dtype=np.float64)).T,
        SAME,
    )


def _count(some, noun):
    return f"{len(some)} {noun}{'s' * (len(some) != 1)}"
