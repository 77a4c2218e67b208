"""Flow-based pruning: a few reliable paths between the nodes that a question retrieved.

`flow_paths` is the paper's algorithm; `edge_flow_paths` is what the released code does instead, which is another one.
"""

import warnings
from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import permutations

PATHS_A_START = 20_000  # finished or not


def resource_flow(graph, source, alpha=0.8, threshold=0.05):
    """The resource S of every node that a unit of resource at `source` reaches: a dict node -> S(node), S(source) = 1.

    graph: networkx DiGraph (an undirected one is followed both ways). Layer after layer, a node passes on alpha * S / out-degree
    to each successor, unless S / out-degree is below `threshold`. A layer is computed from the one before, and a node's
    resource is set once, in the layer that first reaches it; at most 1 / ((1 - alpha) * threshold) nodes are passed on from.

    Source: PathRAG, Eq. 2-3 (eq-2, eq-3); PathRAG, complexity analysis (complexity)
    """
    resource, layer = {source: 1.0}, [source]
    while layer:
        arrived = defaultdict(float)
        for node in layer:
            if expands(graph, node, resource[node], threshold):
                for successor in graph[node]:
                    if successor not in resource:
                        arrived[successor] += alpha * resource[node] / len(graph[node])
        resource.update(arrived)
        layer = sorted(arrived, key=str)  # a fixed order of additions: no result depends on how the graph was put together
    return resource


def expands(graph, node, resource, threshold):
    """Whether a node passes its resource on. A sink has nothing to pass on to.

    Source: PathRAG, Eq. 3 (eq-3)
    """
    return len(graph[node]) > 0 and resource / len(graph[node]) >= threshold


@dataclass(frozen=True)
class PathSearch:
    """Paths with their reliability, best first, and what the search saw: nodes visited and starts pruned at once
    (their resource is too thin at the very start), ordered pairs that any path connects, and starts whose paths were capped."""

    paths: tuple
    visited: int
    pruned_starts: int
    connected_pairs: int
    capped_starts: int


def search_paths(graph, nodes, alpha=0.8, threshold=0.05, top_k=15, per_pair=None, max_paths=PATHS_A_START):
    """The most reliable paths between all ordered pairs of `nodes`: a `PathSearch`.

    A path is simple and leaves only nodes that pass resource on; its reliability is the sum of its nodes' resource over the
    number of its edges. per_pair: how many paths of a pair may enter the pool (None: all). Shorter paths are looked at first,
    and at most `max_paths` paths, finished or not, a start. Equal reliabilities come shorter path first, then by name.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    nodes = sorted({node for node in nodes if node in graph}, key=str)
    pool, visited, pruned, pairs, capped = [], set(), 0, 0, 0
    for start in nodes:
        resource = resource_flow(graph, start, alpha, threshold)
        open_nodes = {node for node, amount in resource.items() if expands(graph, node, amount, threshold)}
        visited |= set(resource)
        pruned += start not in open_nodes
        found, was_capped = _simple_paths(graph, start, set(nodes) - {start}, open_nodes, max_paths)
        capped += was_capped
        by_end = defaultdict(list)
        for path in found:
            by_end[path[-1]].append((path, sum(resource[node] for node in path) / (len(path) - 1)))
        pairs += len(by_end)
        for some in by_end.values():
            pool += sorted(some, key=_best_first)[:per_pair]
    return PathSearch(tuple(sorted(pool, key=_best_first)[:top_k]), len(visited), pruned, pairs, capped)


def flow_paths(graph, nodes, alpha=0.8, threshold=0.05, top_k=15, per_pair=None):
    """`[(path, reliability)]` between all ordered pairs of `nodes`, best first; see `search_paths`. Warns when paths were capped.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    search = search_paths(graph, nodes, alpha, threshold, top_k, per_pair)
    if search.capped_starts:
        warnings.warn(f"{search.capped_starts} of the starts have more than {PATHS_A_START} paths to look at; their longest were not looked at.", stacklevel=2)
    return list(search.paths)


def _best_first(scored):
    path, score = scored
    return -round(score, 12), len(path), tuple(map(str, path))


def _simple_paths(graph, start, ends, open_nodes, max_paths):
    """Simple paths from start to any end along edges that leave open nodes, shortest first, and whether the search was capped."""
    useful = _leads_to(graph, ends, open_nodes)
    found, queue = [], deque([(start,)] if start in useful else [])
    for _ in range(max_paths):
        if not queue:
            return found, False
        path = queue.popleft()
        if path[-1] in ends:
            found.append(path)
        if path[-1] in open_nodes and not ends.issubset(path):
            onward = [node for node in graph[path[-1]] if (node in useful or node in ends) and node not in path]
            queue.extend((*path, node) for node in sorted(onward, key=str))
    return found, bool(queue)


def _leads_to(graph, ends, open_nodes):
    """The open nodes from which some end can be reached along edges that leave open nodes."""
    before = defaultdict(set)
    for node in open_nodes:
        for successor in graph[node]:
            before[successor].add(node)
    useful, ahead = set(), list(ends)
    while ahead:
        fresh = before[ahead.pop()] - useful
        useful |= fresh
        ahead += fresh
    return useful


def edge_flow_paths(graph, nodes, alpha=0.8, threshold=0.3, top_k=15, hops=3):
    """What PathRAG's released code retrieves: `[(path, score)]`, best first, at most min(top_k, half of the enumerated paths).

    The graph is read as undirected. For every ordered pair all simple paths of at most `hops` (3) edges are enumerated; flow
    runs over their edges only, without decay on the first, and goes on from an edge whose flow exceeds `threshold`. A score
    is the mean flow of a path's edges. Paths through the same set of nodes count as one. Where the released code depends on
    the order of a set, nodes are taken by name here.

    Source: PathRAG, Eq. 4 (eq-4)
    """
    neighbours = defaultdict(set)
    for u, v in graph.edges():
        if u != v:
            neighbours[u].add(v)
            neighbours[v].add(u)
    scored = []
    for start, end in permutations(sorted({node for node in nodes if node in graph}, key=str), 2):
        paths = _short_paths(neighbours, start, end, hops)
        flow = _edge_flow(paths, start, alpha, threshold)
        scored += [(path, sum(flow[edge] for edge in zip(path, path[1:])) / (len(path) - 1)) for path in paths]
    kept = {}
    for path, score in sorted(scored, key=_best_first):
        kept.setdefault(frozenset(path), (path, score))
    return list(kept.values())[: min(top_k, len(scored) // 2)]


def _short_paths(neighbours, start, end, hops):
    found, stack = [], [(start,)]
    while stack:
        path = stack.pop()
        if path[-1] == end:
            found.append(path)
        elif len(path) <= hops:
            stack += [(*path, node) for node in sorted(neighbours[path[-1]], key=str, reverse=True) if node not in path]
    return found


def _edge_flow(paths, start, alpha, threshold):
    onward = defaultdict(set)
    for path in paths:
        for u, v in zip(path, path[1:]):
            onward[u].add(v)
    onward = {node: sorted(some, key=str) for node, some in onward.items()}
    flow = defaultdict(float)
    for first in onward.get(start, ()):
        flow[start, first] = 1 / len(onward[start])
        if flow[start, first] > threshold:
            for second in onward.get(first, ()):
                flow[first, second] += flow[start, first] * alpha / len(onward[first])
                if flow[first, second] > threshold:
                    for third in onward.get(second, ()):
                        flow[second, third] += flow[first, second] * alpha / len(onward[second])
    return flow
