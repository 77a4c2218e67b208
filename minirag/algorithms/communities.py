"""Communities of a weighted graph at every level: split, then split again what is still too large.

Reference implementations: leidenalg (Traag et al.) and python-louvain. What is written here is the hierarchy above them.
"""

import networkx as nx
import numpy as np


def hierarchy(graph, method="leiden", max_size=10, seed=0, resolution=1.0, largest_component_only=False):
    """Levels of communities, coarsest first; each level a list of sets of nodes, largest first.

    graph: networkx, read as undirected; parallel and reversed edges add their "weight" (default 1); loops count for nothing.
    method: "leiden" or "louvain". max_size: a community above it is split once more at the next level, where the method finds
        a split at all; the smaller ones stay as they are, so that every level is a partition of ALL nodes, isolated ones
        included, and each level refines the one above.
    largest_component_only: leave out every node outside the largest connected component, as GraphRAG's released code does.
    Raises ValueError for an empty graph, a negative weight or an unknown method.

    Source: GraphRAG, Sec. 2.4 (sec-2.4); Wang, Def. 7 (def-7)
    """
    if method not in _PARTITIONS:
        raise ValueError(f"Unknown method {method!r}; expected one of: {', '.join(_PARTITIONS)}.")
    if largest_component_only and len(graph):
        graph = graph.subgraph(max(nx.connected_components(nx.Graph(graph)), key=len))
    nodes, ends, weights = _arrays(graph)
    labels = _first_seen(_PARTITIONS[method](len(nodes), ends, weights, seed, resolution))
    levels, whole = [labels], set()
    while True:
        labels, split = _split(labels, ends, weights, _PARTITIONS[method], max_size, seed, resolution, whole)
        if not split:
            return [_sets(nodes, level) for level in levels]
        levels.append(labels)


def modularity(graph, partition, resolution=1.0):
    """Newman's modularity of a partition (sets of nodes that cover the graph), with weights: (-1/2, 1).

    Source: GraphRAG, Fig. 3 (fig-3)
    """
    nodes, ends, weights = _arrays(graph)
    community = {node: number for number, members in enumerate(partition) for node in members}
    label = np.array([community[node] for node in nodes])
    strength = np.zeros(len(partition))
    np.add.at(strength, label[ends].ravel(), np.repeat(weights, 2))
    total = weights.sum()
    inside = weights[label[ends[:, 0]] == label[ends[:, 1]]].sum()
    return float(inside / total - resolution * ((strength / (2 * total)) ** 2).sum()) if total else 0.0


def parents(levels):
    """For every community of every level but the first, the position of the community above that holds it: one list a level."""
    links = []
    for above, below in zip(levels, levels[1:]):
        home = {node: number for number, members in enumerate(above) for node in members}
        links.append([home[next(iter(members))] for members in below])
    return links


def _leiden(count, ends, weights, seed, resolution):
    import igraph
    import leidenalg

    graph = igraph.Graph(n=count, edges=ends)
    found = leidenalg.find_partition(
        graph, leidenalg.RBConfigurationVertexPartition, weights=weights, resolution_parameter=resolution, seed=seed, n_iterations=-1 if count < 5000 else 2
    )
    return np.array(found.membership)


def _louvain(count, ends, weights, seed, resolution):
    import community

    graph = nx.empty_graph(count)
    graph.add_weighted_edges_from(zip(*ends.T.tolist(), weights.tolist()))
    found = community.best_partition(graph, resolution=1 / resolution, random_state=seed)
    return np.array([found[node] for node in range(count)])


_PARTITIONS = {"leiden": _leiden, "louvain": _louvain}


def _arrays(graph):
    """Nodes in a fixed order, edge ends (m, 2) and weights (m,), each unordered pair once, loops and zero weights dropped."""
    nodes = list(graph)
    if not nodes:
        raise ValueError("The graph has no nodes: there is nothing to divide into communities.")
    position = {node: i for i, node in enumerate(nodes)}
    summed = {}
    for u, v, weight in graph.edges(data="weight", default=1.0):
        if weight < 0:
            raise ValueError(f"The edge {u!r} - {v!r} has weight {weight}; weights must not be negative.")
        if u != v and weight:
            pair = tuple(sorted((position[u], position[v])))
            summed[pair] = summed.get(pair, 0.0) + weight
    return nodes, np.array(sorted(summed), dtype=int).reshape(-1, 2), np.array([summed[pair] for pair in sorted(summed)], dtype=float)


def _split(labels, ends, weights, partition, max_size, seed, resolution, whole):
    """One level further down: new labels, and whether anything was split. `whole` remembers communities that do not split, by their first node."""
    sizes = np.bincount(labels)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    wanted = [number for number in np.flatnonzero(sizes > max_size) if int(members[number][0]) not in whole]
    inside = np.flatnonzero(labels[ends[:, 0]] == labels[ends[:, 1]])
    inside = inside[np.argsort(labels[ends[inside, 0]], kind="stable")]
    edge_numbers = labels[ends[inside, 0]]
    local, fresh, split = np.empty(len(labels), dtype=int), labels * 1, False
    for number in wanted:
        some = members[number]
        local[some] = np.arange(len(some))
        edges = inside[np.searchsorted(edge_numbers, number) : np.searchsorted(edge_numbers, number, side="right")]
        found = partition(len(some), local[ends[edges]], weights[edges], seed, resolution)
        if found.max() == 0:
            whole.add(int(some[0]))
            continue
        split = True
        fresh[some] = fresh.max() + 1 + found
    return _first_seen(fresh), split


def _first_seen(labels):
    """Labels numbered by the first node that carries them, so that they depend on nothing else."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _sets(nodes, labels):
    communities = [set() for _ in range(labels.max() + 1)]
    for node, label in zip(nodes, labels):
        communities[label].add(node)
    return sorted(communities, key=len, reverse=True)
