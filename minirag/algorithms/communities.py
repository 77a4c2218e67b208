"""Communities of a weighted graph at every level: split, then split again what is still too large.

Reference implementations of one division: igraph, leidenalg (Traag et al.) and python-louvain. The
hierarchy above them is written here.
"""

import random
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Node = Any  # whatever the caller's graph has for nodes
Level = list[set[Node]]
Labels = NDArray[np.int64]  # (nodes,): the number of each node's community
Ends = NDArray[np.int64]  # (edges, 2): positions of the nodes that an edge joins
Weights = NDArray[np.float64]  # (edges,)
# labels, ends, weights, seed and resolution -> the labels inside each community
Division = Callable[[Labels, Ends, Weights, int, float], Labels]


def hierarchy(
    graph: nx.Graph,
    method: Literal["leiden", "leidenalg", "louvain"] = "leiden",
    max_size: int = 10,
    seed: int = 0,
    resolution: float = 1.0,
    largest_component_only: bool = False,
) -> list[Level]:
    """Levels of communities, coarsest first; each level a list of sets of nodes, largest first.

    graph: networkx, read as undirected; parallel and reversed edges add their "weight" (default 1);
        loops are ignored.
    method: "leiden" (igraph's, the fastest), "leidenalg" (the same algorithm by its authors) or
        "louvain".
    max_size: a community above it is split once more at the next level, where the method finds a
        split at all; the smaller ones stay as they are, so that every level is a partition of ALL
        nodes, isolated ones included, and each level refines the one above.
    seed: the same seed gives the same levels, whatever the order of the edges. Another order of the
        nodes acts like another seed.
    largest_component_only: leave out every node outside the largest connected component, as
        GraphRAG's released code does.
    Raises ValueError for an empty graph, an unknown method, and a negative or infinite weight.

    Source: GraphRAG, Sec. 2.4 (sec-2.4); Wang, Def. 7 (def-7)
    """
    if method not in _METHODS:
        raise ValueError(f"Unknown method {method!r}; expected one of: {', '.join(_METHODS)}.")
    if largest_component_only and len(graph):
        graph = graph.subgraph(max(nx.connected_components(nx.Graph(graph)), key=len))
    nodes, ends, weights = _arrays(graph)
    levels: list[Labels] = []
    labels, large = np.zeros(len(nodes), dtype=np.int64), np.ones(len(nodes), dtype=bool)
    while large.any():
        found = _divide(labels, large, ends, weights, _METHODS[method], seed, resolution)
        if levels and found.max() == labels.max():
            break
        levels.append(found)
        sizes, sizes_above = np.bincount(found)[found], np.bincount(labels)[labels]
        # What came back whole would come back whole again.
        labels, large = found, (sizes > max_size) & (sizes < sizes_above)
    return [_sets(nodes, level) for level in levels]


def modularity(
    graph: nx.Graph, partition: Sequence[Collection[Node]], resolution: float = 1.0
) -> float:
    """Newman's modularity of a partition (sets of nodes that cover the graph), with weights: (-1/2,
    1).

    Source: GraphRAG, Fig. 3 (fig-3)
    """
    nodes, ends, weights = _arrays(graph)
    community = {node: number for number, members in enumerate(partition) for node in members}
    label = np.array([community[node] for node in nodes])
    strength = np.bincount(label[ends].ravel(), np.repeat(weights, 2))
    total = weights.sum()
    inside = weights[label[ends[:, 0]] == label[ends[:, 1]]].sum()
    if not total:
        return 0.0
    return float(inside / total - resolution * ((strength / (2 * total)) ** 2).sum())


def _divide(
    labels: Labels,
    large: NDArray[np.bool_],
    ends: Ends,
    weights: Weights,
    method: Division,
    seed: int,
    resolution: float,
) -> Labels:
    """New labels: each community of nodes marked `large` is divided on its own, the others stay."""
    nodes = np.flatnonzero(large)
    nodes = nodes[np.argsort(labels[nodes], kind="stable")]  # a community's nodes side by side
    place = np.empty(len(labels), dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    inside = large[ends[:, 0]] & (labels[ends[:, 0]] == labels[ends[:, 1]])
    divided = labels.copy()
    divided[nodes] = len(labels) + method(
        _first_seen(labels[nodes]), place[ends[inside]], weights[inside], seed, resolution
    )
    return _first_seen(divided)


def _leiden(labels: Labels, ends: Ends, weights: Weights, seed: int, resolution: float) -> Labels:
    """igraph's Leiden on all communities in one call, since no edge joins two of them.

    It maximises the sum of w - resolution * n_u * n_v over pairs of nodes in the same part. With a
    node's strength over the root of twice its community's weight as n, this is each community's own
    modularity, times its weight.
    """
    import igraph

    strength = np.bincount(ends.ravel(), np.repeat(weights, 2), len(labels))
    doubled = np.bincount(labels, strength)[labels]  # twice the weight of a node's community
    scaled = strength / np.sqrt(np.where(doubled > 0, doubled, 1))
    graph = igraph.Graph(n=len(labels), edges=zip(*ends.T.tolist()))
    with _drawing_from(seed):
        found = graph.community_leiden(
            "CPM",
            weights=weights.tolist(),
            node_weights=scaled.tolist(),
            resolution=resolution,
            # As many as cost little; -1, until nothing changes, did not return on some graphs.
            n_iterations=min(30, max(3, 300_000 // len(labels))),
        )
    return np.array(found.membership)


_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def _drawing_from(seed: int) -> Iterator[None]:
    """igraph has one random number generator: a seeded one here, Python's own afterwards."""
    import igraph

    with _ONE_AT_A_TIME:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)


def _each(partition: Callable[[int, Ends, Weights, int, float], Labels]) -> Division:
    """A method for many communities out of one for a graph; nodes come sorted by community."""

    def method(
        labels: Labels, ends: Ends, weights: Weights, seed: int, resolution: float
    ) -> Labels:
        numbers = np.arange(labels[-1] + 2)
        order = np.argsort(labels[ends[:, 0]], kind="stable")
        ends, weights = ends[order], weights[order]
        nodes = np.searchsorted(labels, numbers)
        edges = np.searchsorted(labels[ends[:, 0]], numbers)
        found = np.empty(len(labels), dtype=np.int64)
        for (start, end), (first, last) in zip(pairwise(nodes), pairwise(edges)):
            own = ends[first:last] - start
            # Numbers of parts are below the number of nodes, so that none is taken twice.
            found[start:end] = start + partition(
                end - start, own, weights[first:last], seed, resolution
            )
        return found

    return method


def _leidenalg(count: int, ends: Ends, weights: Weights, seed: int, resolution: float) -> Labels:
    import igraph
    import leidenalg

    found = leidenalg.find_partition(
        igraph.Graph(n=count, edges=ends),
        leidenalg.RBConfigurationVertexPartition,
        weights=weights,
        resolution_parameter=resolution,
        seed=seed,
        n_iterations=-1 if count < 5000 else 2,
    )
    return np.array(found.membership)


def _louvain(count: int, ends: Ends, weights: Weights, seed: int, resolution: float) -> Labels:
    import community

    graph = nx.empty_graph(count)
    graph.add_weighted_edges_from(zip(*ends.T.tolist(), weights.tolist()))
    found = community.best_partition(graph, resolution=1 / resolution, random_state=seed)
    return np.array([found[node] for node in range(count)])


_METHODS: dict[str, Division] = {
    "leiden": _leiden,
    "leidenalg": _each(_leidenalg),
    "louvain": _each(_louvain),
}


def _arrays(graph: nx.Graph) -> tuple[list[Node], Ends, Weights]:
    """Nodes in a fixed order, edge ends (m, 2) and weights (m,), each unordered pair once, loops
    and zero weights dropped.
    """
    nodes = list(graph)
    if not nodes:
        raise ValueError("The graph has no nodes: there is nothing to divide into communities.")
    position = {node: i for i, node in enumerate(nodes)}
    edges: NDArray[np.float64] = np.fromiter(
        ((position[u], position[v], w) for u, v, w in graph.edges(data="weight", default=1.0)),
        dtype=np.dtype((float, 3)),
    )
    ends, weights = edges[:, :2].astype(np.int64), edges[:, 2]
    for wrong in np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))[:1]:
        u, v = (nodes[i] for i in ends[wrong])
        raise ValueError(
            f"The edge {u!r} - {v!r} has weight {weights[wrong]:g}; "
            "weights must be finite and not negative."
        )
    kept = (ends[:, 0] != ends[:, 1]) & (weights > 0)
    low, high = np.sort(ends[kept], axis=1).T
    pairs, which = np.unique(low * len(nodes) + high, return_inverse=True)
    summed = np.bincount(which, weights[kept], len(pairs)).astype(np.float64, copy=False)
    return nodes, np.column_stack(np.divmod(pairs, len(nodes))), summed


def _first_seen(labels: Labels) -> Labels:
    """Labels numbered by the first node that carries them, so that they depend on nothing else."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    renumbered: Labels = np.argsort(np.argsort(first))[inverse]
    return renumbered


def _sets(nodes: Sequence[Node], labels: Labels) -> Level:
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    ranked = [nodes[i] for i in order.tolist()]
    communities = [set(ranked[start:end]) for start, end in zip([0, *ends[:-1]], ends)]
    return sorted(communities, key=len, reverse=True)
