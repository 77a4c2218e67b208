"""Flow-based pruning: a few reliable paths between the nodes that a question retrieved.

`flow_paths` is the paper's algorithm; `edge_flow_paths` is what the released code does instead,
which is another one.
"""

import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import networkx as nx

Node = Any  # whatever the caller's graph has for nodes
Path = tuple[Node, ...]
Scored = tuple[Path, float]  # a path and its reliability
Ways = Mapping[Node, Collection[Node]]  # a node -> the nodes that a path may go on to

PATHS_A_START = 20_000  # finished or not


def resource_flow(
    graph: nx.Graph, source: Node, alpha: float = 0.8, threshold: float = 0.05
) -> dict[Node, float]:
    """The resource S of every node that a unit of resource at `source` reaches: a dict node ->
    S(node), S(source) = 1.

    graph: networkx DiGraph (an undirected one is followed both ways). Layer after layer, a node
    passes on alpha * S / out-degree to each successor, unless S / out-degree is below `threshold`.
    A layer is computed from the one before, and a node's resource is set once, in the layer that
    first reaches it; at most 1 / ((1 - alpha) * threshold) nodes are passed on from.

    Source: PathRAG, Eq. 2-3 (eq-2, eq-3); PathRAG, complexity analysis (complexity)
    """
    return _spread(graph, source, alpha, threshold)[0]


def _spread(
    graph: nx.Graph, source: Node, alpha: float, threshold: float
) -> tuple[dict[Node, float], Ways]:
    """`resource_flow`'s dict, and the successors of each node that passed resource on."""
    resource, layer = {source: 1.0}, [source]
    ways: dict[Node, Collection[Node]] = {}
    while layer:
        arrived: dict[Node, float] = {}
        for node in layer:
            successors = graph[node]
            # `expands`, written out: nearly all the time goes here.
            if successors and resource[node] / len(successors) >= threshold:
                ways[node], share = successors, alpha * resource[node] / len(successors)
                for successor in successors:
                    if successor not in resource:
                        arrived[successor] = arrived.get(successor, 0.0) + share
        resource.update(arrived)
        # A fixed order of additions: no result depends on how the graph was put together.
        layer = sorted(arrived, key=str)
    return resource, ways


def expands(graph: nx.Graph, node: Node, resource: float, threshold: float) -> bool:
    """Whether a node passes its resource on. A sink has nothing to pass on to.

    Source: PathRAG, Eq. 3 (eq-3)
    """
    return len(graph[node]) > 0 and resource / len(graph[node]) >= threshold


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


def search_paths(
    graph: nx.Graph,
    nodes: Iterable[Node],
    alpha: float = 0.8,
    threshold: float = 0.05,
    top_k: int | None = 15,
    per_pair: int | None = None,
    max_paths: int = PATHS_A_START,
) -> PathSearch:
    """The most reliable paths between all ordered pairs of `nodes`: a `PathSearch`.

    A path is simple and leaves only nodes that pass resource on; its reliability is the sum of its
    nodes' resource over the number of its edges. per_pair: how many paths of a pair may enter the
    pool (None: all). Shorter paths are looked at first, and at most `max_paths` paths, finished or
    not, a start. Equal reliabilities come shorter path first, then by name.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    asked = {node for node in nodes if node in graph}
    found: list[Scored] = []
    visited: set[Node] = set()
    pruned = pairs = capped = 0
    for start in sorted(asked, key=str):
        resource, ways = _spread(graph, start, alpha, threshold)
        visited.update(resource)
        pruned += start not in ways
        paths, was_capped = _simple_paths(start, asked - {start}, ways, max_paths)
        capped += was_capped
        pairs += len({path[-1] for path in paths})
        resources = [sum([resource[node] for node in path]) for path in paths]
        found += [(path, total / (len(path) - 1)) for path, total in zip(paths, resources)]
    # Starts come by name, and a start's paths of one length too, so that a stable sort leaves
    # equals in the order of their names.
    found.sort(key=_most_reliable)
    kept = found if per_pair is None else _best_of_each_pair(found, per_pair)
    return PathSearch(tuple(kept[:top_k]), len(visited), pruned, pairs, capped)


def _best_of_each_pair(ranked: Iterable[Scored], per_pair: int) -> list[Scored]:
    kept, taken = [], Counter[tuple[Node, Node]]()
    for path, score in ranked:
        pair = path[0], path[-1]
        taken[pair] += 1
        if taken[pair] <= per_pair:
            kept.append((path, score))
    return kept


def flow_paths(
    graph: nx.Graph,
    nodes: Iterable[Node],
    alpha: float = 0.8,
    threshold: float = 0.05,
    top_k: int = 15,
    per_pair: int | None = None,
) -> list[Scored]:
    """`[(path, reliability)]` between all ordered pairs of `nodes`, best first; see `search_paths`.
    Warns when paths were capped.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    search = search_paths(graph, nodes, alpha, threshold, top_k, per_pair)
    if search.capped_starts:
        warnings.warn(
            f"{search.capped_starts} of the starts have more than {PATHS_A_START} paths to look "
            "at; their longest were not looked at.",
            stacklevel=2,
        )
    return list(search.paths)


def _most_reliable(scored: Scored) -> tuple[float, int]:
    path, score = scored
    return -round(score, 12), len(path)


def _best_first(scored: Scored) -> tuple[float, int, tuple[str, ...]]:
    return *_most_reliable(scored), tuple(map(str, scored[0]))


def _simple_paths(
    start: Node, ends: set[Node], ways: Ways, max_paths: int
) -> tuple[list[Path], bool]:
    """Simple paths from start to any end, shortest first and those of one length by name, and
    whether the search was capped.

    ways: the successors of the nodes that a path may leave.
    """
    onward = _towards(ends, ways)
    found: list[Path] = []
    queue: list[Path] = [(start,)] if start in onward else []
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
    graph: nx.Graph,
    nodes: Iterable[Node],
    alpha: float = 0.8,
    threshold: float = 0.3,
    top_k: int = 15,
    hops: int = 3,
) -> list[Scored]:
    """What PathRAG's released code retrieves: `[(path, score)]`, best first, at most min(top_k,
    half of the enumerated paths).

    The graph is read as undirected. For every ordered pair all simple paths of at most `hops` (3)
    edges are enumerated; flow runs over their edges only, without decay on the first, and goes on
    from an edge whose flow exceeds `threshold`. A score is the mean flow of a path's edges. Paths
    through the same set of nodes count as one.

    Ties are this kit's: equal scores come shorter path first, then by name, and where the released
    code walks a set, nodes are taken by name. The code breaks ties by the order in which nodes were
    retrieved, edges stored and a set hashed, so that it keeps other paths for 39 of 400 random
    graphs, and two runs of it differ from each other too. By name, a result depends on the graph
    alone and can be checked by hand.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    neighbours = defaultdict[Node, set[Node]](set)
    for u, v in graph.edges():
        if u != v:
            neighbours[u].add(v)
            neighbours[v].add(u)
    scored: list[Scored] = []
    for start, end in permutations(sorted({node for node in nodes if node in graph}, key=str), 2):
        paths = _short_paths(neighbours, start, end, hops)
        flow = _edge_flow(paths, start, alpha, threshold)
        flows = [sum(flow[edge] for edge in pairwise(path)) for path in paths]
        scored += [(path, total / (len(path) - 1)) for path, total in zip(paths, flows)]
    kept: dict[frozenset[Node], Scored] = {}
    for path, score in sorted(scored, key=_best_first):
        kept.setdefault(frozenset(path), (path, score))
    return list(kept.values())[: min(top_k, len(scored) // 2)]


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
