"""Flow-based pruning: a few reliable paths between the nodes that a question retrieved.

The paper's algorithm (Sec. 4.2) is `search_paths`, and `flow_paths` is its short form. What the
released code does instead is another algorithm, `edge_flow_paths`.
"""

import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any, NamedTuple, Self

import networkx as nx

Node = Any  # whatever the caller's graph has for nodes
Path = tuple[Node, ...]
Scored = tuple[Path, float]  # a path and its reliability
Ways = Mapping[Node, Collection[Node]]  # a node -> the nodes that a path may go on to

PATHS_A_START = 20_000  # finished or not


class Flow(NamedTuple):
    """What one unit of resource at `start` does: `resource` is S, node -> S(node); `ways` has the
    successors of each node that passed resource on, the edges that a path may take.
    """

    start: Node
    resource: dict[Node, float]
    ways: Ways


def flow_from(graph: nx.Graph, start: Node, alpha: float = 0.8, threshold: float = 0.05) -> Flow:
    """The flow of a unit of resource at `start`.

    graph: networkx DiGraph (an undirected one is followed both ways). alpha: the decay.
    threshold: theta. Eq. 2 sums over all nodes that point to v; because the paper sets a node's
    resource at most once, the sum here is over the layer that first reaches v. At most
    1 / ((1 - alpha) * threshold) nodes pass resource on.

    Source: PathRAG, Eq. 2-3 (eq-2, eq-3); PathRAG, complexity analysis (complexity)
    """
    resource, layer = {start: 1.0}, [start]  # S(start) = 1
    ways: dict[Node, Collection[Node]] = {}
    while layer:
        arrived: dict[Node, float] = {}
        for node in layer:
            if not expands(graph, node, resource[node], threshold):  # Eq. 3
                continue
            ways[node] = graph[node]
            share = alpha * resource[node] / len(ways[node])  # Eq. 2, the summand of each v
            for successor in ways[node]:
                if successor not in resource:  # a resource is set once
                    arrived[successor] = arrived.get(successor, 0.0) + share  # Eq. 2, the sum
        resource.update(arrived)
        # A fixed order of additions: no result depends on how the graph was put together.
        layer = sorted(arrived, key=str)
    return Flow(start, resource, ways)


def resource_flow(
    graph: nx.Graph, source: Node, alpha: float = 0.8, threshold: float = 0.05
) -> dict[Node, float]:
    """The resource of each node that `flow_from` the source reaches: a dict node -> S(node).

    Source: PathRAG, Eq. 2-3 (eq-2, eq-3); PathRAG, complexity analysis (complexity)
    """
    return flow_from(graph, source, alpha, threshold).resource


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


def best_of_each_pair(scored: Iterable[Scored], per_pair: int | None) -> list[Scored]:
    """The `per_pair` most reliable paths of each ordered pair of ends (None: all), best first."""
    kept, taken = [], Counter[tuple[Node, Node]]()
    for path, score in sorted(scored, key=_most_reliable):
        pair = path[0], path[-1]
        taken[pair] += 1
        if per_pair is None or taken[pair] <= per_pair:
            kept.append((path, score))
    return kept


class StartPaths(NamedTuple):
    """The flow from one start, its paths with their reliability, and whether they were capped."""

    flow: Flow
    paths: list[Scored]
    capped: bool


@dataclass(frozen=True)
class PathSearch:
    """Paths with their reliability, best first, and what the search saw: nodes visited and starts
    pruned at once (their resource is too thin at the very start), ordered pairs that any path
    connects, and starts whose paths were capped.
    """

    paths: tuple[Scored, ...]
    visited: int
    pruned_starts: int
    connected_pairs: int
    capped_starts: int

    @classmethod
    def pooled(cls, starts: Sequence[StartPaths], top_k: int | None = None) -> Self:
        """The `top_k` (None: all) most reliable paths of all starts, given by name: a stable sort
        leaves equals in the order of their names.
        """
        pool = sorted([scored for start in starts for scored in start.paths], key=_most_reliable)
        visited = {node for start in starts for node in start.flow.resource}
        pruned = sum(start.flow.start not in start.flow.ways for start in starts)
        pairs = len({(path[0], path[-1]) for path, _ in pool})
        capped = sum(start.capped for start in starts)
        return cls(tuple(pool[:top_k]), len(visited), pruned, pairs, capped)


def search_paths(
    graph: nx.Graph, nodes: Iterable[Node], alpha: float = 0.8, threshold: float = 0.05,
    top_k: int | None = 15, per_pair: int | None = None, max_paths: int = PATHS_A_START,
) -> PathSearch:  # fmt: skip
    """The most reliable paths between all ordered pairs of `nodes`: a `PathSearch`.

    per_pair: how many paths of a pair enter the pool (None: all). max_paths: looked at from one
    start, finished or not, shorter ones first. Equal reliabilities come shorter path first, then
    by name.

    Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    starts, found = sorted({node for node in nodes if node in graph}, key=str), []
    for start in starts:
        flow = flow_from(graph, start, alpha, threshold)  # Eq. 2 and 3
        paths, capped = paths_along(flow, starts, max_paths)
        scored = [(path, reliability(path, flow.resource)) for path in paths]  # Eq. 4
        found.append(StartPaths(flow, best_of_each_pair(scored, per_pair), capped))
    return PathSearch.pooled(found, top_k)


def flow_paths(
    graph: nx.Graph, nodes: Iterable[Node], alpha: float = 0.8, threshold: float = 0.05,
    top_k: int = 15, per_pair: int | None = None,
) -> list[Scored]:  # fmt: skip
    """`[(path, reliability)]` between all ordered pairs of `nodes`, best first; see `search_paths`.
    Warns when paths were capped.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    search = search_paths(graph, nodes, alpha, threshold, top_k, per_pair)
    if search.capped_starts:
        many = f"{search.capped_starts} of the starts have more than {PATHS_A_START} paths to look"
        warnings.warn(f"{many} at; their longest were not looked at.", stacklevel=2)
    return list(search.paths)


def _most_reliable(scored: Scored) -> tuple[float, int]:
    path, score = scored
    return -round(score, 12), len(path)


def _best_first(scored: Scored) -> tuple[float, int, tuple[str, ...]]:
    return *_most_reliable(scored), tuple(map(str, scored[0]))


def paths_along(
    flow: Flow, nodes: Iterable[Node], max_paths: int = PATHS_A_START
) -> tuple[list[Path], bool]:
    """Simple paths from the start of a flow, along its ways, to any other of `nodes`, and whether
    the search ended at `max_paths`. Shortest first, those of one length by name.
    """
    ends = set(nodes) - {flow.start}
    onward = _towards(ends, flow.ways)
    found: list[Path] = []
    queue: list[Path] = [(flow.start,)] if flow.start in onward else []
    for looked_at, path in enumerate(queue):  # the queue grows meanwhile
        if looked_at == max_paths:
            return found, True
        if path[-1] in ends:
            found.append(path)
            if len(path) > len(ends) and ends.issubset(path):
                continue
        queue += [(*path, node) for node in onward.get(path[-1], ()) if node not in path]
    return found, False


def _towards(ends: set[Node], ways: Ways) -> dict[Node, list[Node]]:
    """What is left of `ways` where only steps that can still lead to an end are kept, by name.
    Walked backwards, once for all ends.
    """
    before, onward = defaultdict[Node, list[Node]](list), defaultdict[Node, list[Node]](list)
    for node, successors in ways.items():
        for successor in successors:
            if successor in ends or successor in ways:
                before[successor].append(node)
    useful = [node for node in before if node in ends]
    seen = set(useful)
    for node in useful:  # grows meanwhile
        for earlier in before.get(node, ()):
            onward[earlier].append(node)
            if earlier not in seen:
                seen.add(earlier)
                useful.append(earlier)
    for successors in onward.values():
        successors.sort(key=str)
    return onward


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
    for path, score in sorted(scored, key=_best_first):
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
            onward = sorted(neighbours[path[-1]], key=str, reverse=True)
            stack += [(*path, node) for node in onward if node not in path]
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
    for first in onward.get(start, ()):
        flow[start, first] = 1 / len(onward[start])
        if flow[start, first] > threshold:
            for second in onward.get(first, ()):
                flow[first, second] += flow[start, first] * alpha / len(onward[first])
                if flow[first, second] > threshold:
                    for third in onward.get(second, ()):
                        flow[second, third] += flow[first, second] * alpha / len(onward[second])
    return flow
