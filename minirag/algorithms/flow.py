"""Flow-based pruning: a few reliable paths between the nodes that a question retrieved.

The paper's algorithm (Sec. 4.2) is `search_paths`, and `flow_paths` is its short form. What the
released code does instead is another algorithm, `edge_flow_paths`.
"""

import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise, permutations
from typing import Any, NamedTuple

import networkx as nx

Node = Any  # whatever the caller's graph has for nodes
Path = tuple[Node, ...]
Scored = tuple[Path, float]  # a path and its reliability
Ways = Mapping[Node, Collection[Node]]  # a node -> the nodes that a path may go on to

PATHS_A_START = 20_000  # finished or not


def resource_flow(
    graph: nx.Graph, source: Node, alpha: float = 0.8, threshold: float = 0.05
) -> dict[Node, float]:
    """The resource of each node that a unit of resource at `source` reaches: node -> S(node).

    graph: networkx DiGraph (an undirected one is followed both ways). alpha: the decay.
    threshold: theta. Eq. 2 sums over all nodes that point to v; because the paper sets a node's
    resource at most once, the sum here is over the layer that first reaches v. At most
    1 / ((1 - alpha) * threshold) nodes pass resource on.

    Source: PathRAG, Eq. 2-3 (eq-2, eq-3); PathRAG, complexity analysis (complexity)
    """
    resource, layer = {source: 1.0}, [source]  # S(source) = 1
    while layer:
        arrived: dict[Node, float] = {}
        for node in layer:
            if not expands(graph, node, resource[node], threshold):  # Eq. 3
                continue
            share = alpha * resource[node] / len(graph[node])  # Eq. 2, the summand of each v
            for successor in graph[node]:
                if successor not in resource:  # a resource is set once
                    arrived[successor] = arrived.get(successor, 0.0) + share  # Eq. 2, the sum
        resource.update(arrived)
        # A fixed order of additions: no result depends on how the graph was put together.
        layer = sorted(arrived, key=str)
    return resource


def expands(graph: nx.Graph, node: Node, resource: float, threshold: float) -> bool:
    """Whether a node passes its resource on: Eq. 3 stops it where S / out-degree is below the
    threshold, and a sink has nothing to pass on to.

    Source: PathRAG, Eq. 3 (eq-3)
    """
    out_degree = len(graph[node])
    return out_degree > 0 and resource / out_degree >= threshold


def reliability(path: Path, resource: Mapping[Node, float]) -> float:
    """S(P): the sum of the resource of a path's nodes, over the number of its edges.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    return sum([resource[node] for node in path]) / (len(path) - 1)


class Connections(NamedTuple):
    """What the flow from several starts connects: ordered `pairs`; starts `pruned` at once, among
    them the `sinks`, which have no way out; nodes `visited`.
    """

    pairs: int
    pruned: int
    sinks: int
    visited: int


class PathSearch(NamedTuple):
    """Paths with their reliability, best first; what they connect; how many starts are `capped`,
    because they have more paths than were looked at.
    """

    paths: list[Scored]
    seen: Connections
    capped: int


def search_paths(
    graph: nx.Graph, nodes: Iterable[Node], alpha: float = 0.8, threshold: float = 0.05,
    top_k: int | None = 15, per_pair: int | None = None, max_paths: int = PATHS_A_START,
) -> PathSearch:  # fmt: skip
    """The `top_k` (None: all) most reliable paths between all ordered pairs of `nodes`.

    per_pair: how many paths of a pair enter the pool (None: all; the paper gives no number).
    max_paths: looked at from one start, finished or not, shorter ones first. Equal reliabilities
    come shorter path first, then by name.

    Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    starts, capped = sorted({node for node in nodes if node in graph}, key=str), 0
    flows = {}
    pairs = defaultdict[tuple[Node, Node], list[Scored]](list)  # (start, end) -> its paths
    for start in starts:
        # Eq. 2, S(v): a node passes alpha * S(v) / out-degree on to each node that it points to.
        flows[start] = resource = resource_flow(graph, start, alpha, threshold)
        # Eq. 3: no path goes on from a node where S(v) / out-degree is below theta.
        onward = {v: graph[v] for v in resource if expands(graph, v, resource[v], threshold)}
        paths, more = paths_along(onward, start, starts, max_paths)
        capped += more
        # Eq. 4, S(P): the sum of S(v) over the nodes of a path, divided by the number of its edges.
        for path in paths:
            pairs[start, path[-1]].append((path, reliability(path, resource)))
    # The most reliable paths of each pair enter the global candidate pool.
    best = [sorted(paths, key=by_reliability)[:per_pair] for paths in pairs.values()]
    pool = [scored for paths in best for scored in paths]
    # The K most reliable paths of the pool.
    top = sorted(pool, key=by_reliability)[:top_k]
    return PathSearch(top, _connections(graph, flows, len(pairs), threshold), capped)


def by_reliability(scored: Scored) -> tuple[float, int, tuple[str, ...]]:
    """What paths are sorted by: reliability, then the shorter path, then names."""
    path, score = scored
    return -round(score, 12), len(path), tuple(map(str, path))


def flow_paths(
    graph: nx.Graph, nodes: Iterable[Node], alpha: float = 0.8, threshold: float = 0.05,
    top_k: int = 15, per_pair: int | None = None,
) -> list[Scored]:  # fmt: skip
    """`[(path, reliability)]` between all ordered pairs of `nodes`, best first; see `search_paths`.
    Warns when paths were capped.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    search = search_paths(graph, nodes, alpha, threshold, top_k, per_pair)
    if search.capped:
        many = f"{search.capped} of the starts have more than {PATHS_A_START} paths to look"
        warnings.warn(f"{many} at; their longest were not looked at.", stacklevel=2)
    return search.paths


def connections(
    graph: nx.Graph, nodes: Iterable[Node], alpha: float = 0.8, threshold: float = 0.05
) -> Connections:
    """What the flow alone would connect, without listing a path: a start is connected to every
    node that its resource reaches.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    starts = {node for node in nodes if node in graph}
    flows = {start: resource_flow(graph, start, alpha, threshold) for start in starts}
    pairs = sum(len(starts & resource.keys()) - 1 for resource in flows.values())
    return _connections(graph, flows, pairs, threshold)


def _connections(
    graph: nx.Graph, flows: Mapping[Node, Iterable[Node]], pairs: int, threshold: float
) -> Connections:
    pruned = sum(not expands(graph, start, 1.0, threshold) for start in flows)
    sinks = sum(not graph[start] for start in flows)
    return Connections(pairs, pruned, sinks, len(set().union(*flows.values())))


def paths_along(
    ways: Ways, start: Node, nodes: Iterable[Node], max_paths: int = PATHS_A_START
) -> tuple[list[Path], bool]:
    """Simple paths along `ways` from `start` to any other of `nodes`, and whether the search ended
    at `max_paths`. Shortest first, those of one length by name.
    """
    ends = set(nodes) - {start}
    onward = _towards(ends, ways)
    found: list[Path] = []
    queue: list[Path] = [(start,)]
    for looked_at, path in enumerate(queue):  # the queue grows meanwhile
        if looked_at == max_paths:
            return found, True
        if path[-1] in ends:
            found.append(path)
            if ends.issubset(path):
                continue
        queue += [(*path, node) for node in onward.get(path[-1], ()) if node not in path]
    return found, False


def _towards(ends: set[Node], ways: Ways) -> dict[Node, list[Node]]:
    """The steps of `ways` that can still lead to an end, by name. Walked backwards, once for all
    ends.
    """
    before = defaultdict[Node, list[Node]](list)
    for node, successors in ways.items():
        for successor in successors:
            before[successor].append(node)
    useful, layer = set[Node](), ends
    while layer:
        useful |= layer
        layer = {earlier for node in layer for earlier in before.get(node, ())} - useful
    return {
        node: sorted(useful.intersection(successors), key=str) for node, successors in ways.items()
    }


def edge_flow_paths(
    graph: nx.Graph, nodes: Iterable[Node], alpha: float = 0.8, threshold: float = 0.3,
    top_k: int | None = 15, hops: int = 3,
) -> list[Scored]:  # fmt: skip
    """What PathRAG's released code retrieves: `[(path, score)]`, best first, at most `top_k` (None:
    all) of half of the enumerated paths.

    The graph is read as undirected. For every ordered pair all simple paths of at most `hops` (3)
    edges are enumerated; flow runs over their edges only, without decay on the first, and goes on
    from an edge whose flow exceeds `threshold`. A score is the mean flow of a path's edges. Paths
    through the same set of nodes count as one.

    Ties are this kit's: equal scores come shorter path first, then by name, so that a result
    depends on the graph alone. The code breaks ties by the order in which nodes were retrieved,
    edges stored and a set hashed, so that it keeps other paths for 39 of 400 random graphs.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    neighbours = nx.Graph(graph)  # both ways
    scored: list[Scored] = []
    for start, end in permutations(sorted({node for node in nodes if node in graph}, key=str), 2):
        paths = _short_paths(neighbours, start, end, hops)
        flow = _edge_flow(paths, start, alpha, threshold)
        flows = [sum(flow[edge] for edge in pairwise(path)) for path in paths]
        scored += [(path, total / (len(path) - 1)) for path, total in zip(paths, flows)]
    kept: dict[frozenset[Node], Scored] = {}
    for path, score in sorted(scored, key=by_reliability):
        kept.setdefault(frozenset(path), (path, score))
    return list(kept.values())[: len(scored) // 2][:top_k]


def _short_paths(
    neighbours: Mapping[Node, Iterable[Node]], start: Node, end: Node, hops: int
) -> list[Path]:
    found: list[Path] = []
    stack: list[Path] = [(start,)]
    while stack:
        path = stack.pop()
        if path[-1] == end:
            found.append(path)
        elif len(path) <= hops:
            stack += [(*path, node) for node in neighbours[path[-1]] if node not in path]
    return found


def _edge_flow(
    paths: Iterable[Path], start: Node, alpha: float, threshold: float
) -> dict[tuple[Node, Node], float]:
    successors = defaultdict[Node, set[Node]](set)
    for path in paths:
        for u, v in pairwise(path):
            successors[u].add(v)
    onward = {node: sorted(after, key=str) for node, after in successors.items()}
    flow = defaultdict[tuple[Node, Node], float](float)

    def pour(node: Node, amount: float, hops: int) -> None:
        for after in onward.get(node, ()):
            flow[node, after] += amount / len(onward[node])
            if flow[node, after] > threshold and hops > 1:
                pour(after, alpha * flow[node, after], hops - 1)

    pour(start, 1.0, 3)
    return flow
