"""The parts of PathRAG between keywords and prompt: node retrieval, the graph that resource flows
over, choosing paths, paths as text.
"""

import random
from collections import defaultdict
from typing import Literal

from ..algorithms.flow import edge_flow_paths, expands, resource_flow, search_paths
from ..core.trace import Step

Ranking = Literal["flow", "random", "hop-first"]


def collect_nodes(keywords, index, count, cutoff=None):
    """Nodes of one question: the nearest of each keyword in turn, then the second nearest of each,
    and so on until `count` are found.

    Returns a step whose `data["nodes"]` holds `(name, node position, cosine)` in the order found.

    Source: PathRAG, Eq. 1 (eq-1)
    """
    found = {}
    if keywords:
        places, cosines = index.search(keywords, k=min(count, len(index.labels)))
        for depth in range(places.shape[1]):
            for number in range(len(keywords)):
                place, cosine = int(places[number, depth]), float(cosines[number, depth])
                if len(found) < count and (cutoff is None or cosine >= cutoff):
                    found.setdefault(place, cosine)
    nodes = [(index.labels[place], place, cosine) for place, cosine in found.items()]
    said = f"{len(nodes)} nodes for {len(keywords)} keyword{'s' * (len(keywords) != 1)}, the nearest of each in turn"
    return Step(
        "node vdb", said, tuple((name, cosine) for name, _, cosine in nodes[:10]), {"nodes": nodes}
    )


def flow_graph(graph, directed=True):
    """`(networkx graph of node names, edges)`: what resource flows over, and the positions of the
    graph's edges from one name to another.

    Only relations carry resource, not synonymy edges; several from one node to another are one way.
    directed=False opens every one both ways.
    """
    import networkx as nx

    ways, edges = nx.DiGraph() if directed else nx.Graph(), defaultdict(list)
    ways.add_nodes_from(node.name for node in graph.nodes)
    for place, edge in enumerate(graph.edges):
        if edge.kind == "relation" and edge.source != edge.target:
            source, target = graph.nodes[edge.source].name, graph.nodes[edge.target].name
            ways.add_edge(source, target)
            edges[source, target].append(place)
    return ways, dict(edges)


def find_paths(ways, names, choices):
    """A "flow" step (what was seen) and a list of all candidate paths with their reliability, best
    first; nothing is cut to K yet.

    Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    c = choices
    if c.flow == "edges":
        found = edge_flow_paths(ways, names, c.alpha, c.threshold, top_k=10**9)
        said = f"edge flow, alpha {c.alpha:g}, threshold {c.threshold:g}: the better half, {len(found)} paths of at most 3 hops"
        return Step(
            "flow", said, (), {"pairs": len({(path[0], path[-1]) for path, _ in found})}
        ), found
    search = search_paths(ways, names, c.alpha, c.threshold, None, c.per_pair, c.max_paths)
    said = f"resource flow, alpha {c.alpha:g}, threshold {c.threshold:g}: {search.visited} nodes visited, "
    sinks = sum(not ways[name] for name in names)
    said += f"{search.pruned_starts} of {len(names)} starts pruned ({sinks} have no way out), "
    said += f"{search.connected_pairs} of {len(names) * (len(names) - 1)} ordered pairs connected, {len(search.paths)} paths"
    said += f"; {search.capped_starts} starts have more paths than were looked at" * bool(
        search.capped_starts
    )
    seen = {
        "visited": search.visited,
        "pruned": search.pruned_starts,
        "sinks": sinks,
        "pairs": search.connected_pairs,
        "capped": search.capped_starts,
    }
    return Step("flow", said, (), seen), list(search.paths)


def choose_paths(candidates, count, ranking="flow", rng=None):
    """The K paths that enter the prompt, most important first: by reliability, at random, or those
    of fewest hops (random among equals).

    Source: PathRAG, Table 2 (tab-2)
    """
    candidates = list(candidates)
    if ranking != "flow":
        rng = rng or random.Random(0)
        rng.shuffle(candidates)
    if ranking == "hop-first":
        candidates.sort(key=lambda scored: len(scored[0]))
    return candidates[:count]


def edges_of(path, edges, directed=True):
    """For every step of a path the positions of the edges that it may stand for; the way of the
    path first.
    """
    return [
        edges.get((u, v), []) + ([] if directed and (u, v) in edges else edges.get((v, u), []))
        for u, v in zip(path, path[1:])
    ]


def textual_path(path, places, graph, edge_text="description"):
    """A path as text: its first node, an edge, the next node, and so on to the last.

    places: the edges of each step, as `edges_of` gives them. edge_text: "description" (paper), or
    "keywords", which is all that the released code writes of an edge; an edge without any has only
    its direction.

    Source: PathRAG, Eq. 5 (eq-5)
    """
    parts = [_node_text(graph, path[0])]
    for (source, target), some in zip(zip(path, path[1:]), places):
        parts += [_edge_text(graph, source, target, some, edge_text), _node_text(graph, target)]
    return "\n".join(parts)


def flat(paths, places, graph, edge_text, rng):
    """The nodes and edges of all paths, each once, shuffled: what is retrieved without its
    structure.

    Source: PathRAG, Table 3 (tab-3)
    """
    nodes = [
        _node_text(graph, name) for name in dict.fromkeys(name for path in paths for name in path)
    ]
    steps = [
        (step, some)
        for path, all_steps in zip(paths, places)
        for step, some in zip(zip(path, path[1:]), all_steps)
    ]
    texts = list(
        dict.fromkeys(
            [*nodes, *(_edge_text(graph, *step, some, edge_text) for step, some in steps)]
        )
    )
    rng.shuffle(texts)
    return texts


def in_order(texts, order, rng):
    """Texts given most reliable first, in the order of the prompt: "ascending" puts the most
    reliable last.

    Source: PathRAG, Eq. 6 (eq-6)
    """
    texts = list(texts)
    if order == "random":
        rng.shuffle(texts)
    return texts[::-1] if order == "ascending" else texts


def _node_text(graph, name):
    node = graph.nodes[graph.position[name]]
    return f"{name}{f' ({node.type})' if node.type else ''}{f': {node.description}' if node.description else ''}"


def _edge_text(graph, source, target, places, edge_text):
    said = edge_said(graph, places, edge_text)
    return f"{source} → {target}{f': {said}' if said else ''}"


def edge_said(graph, places, edge_text):
    """What the edges of one step say: their keywords, or name and description."""
    edges = [graph.edges[place] for place in places]
    if edge_text == "keywords":
        return "; ".join(edge.keywords for edge in edges if edge.keywords)
    texts = [" ".join(filter(None, (edge.name, edge.description))) for edge in edges]
    return "; ".join(filter(None, (text or edge.keywords for text, edge in zip(texts, edges))))


def connections(ways, names, alpha=0.8, threshold=0.05):
    """What the flow alone would connect, without listing a path: ordered pairs, starts pruned,
    sinks among them, nodes visited, most nodes one start opens.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    names, pairs, pruned, visited, opened = set(names), 0, 0, set(), 0
    for start in sorted(name for name in names if name in ways):
        resource = resource_flow(ways, start, alpha, threshold)
        open_nodes = {
            node for node, amount in resource.items() if expands(ways, node, amount, threshold)
        }
        reached, ahead = {start}, [start]
        while ahead:
            here = ahead.pop()
            fresh = set(ways[here]) - reached if here in open_nodes else set()
            reached |= fresh
            ahead += fresh
        visited |= set(resource)
        opened = max(opened, len(open_nodes))
        pruned += start not in open_nodes
        pairs += len(reached & names) - 1
    sinks = sum(name in ways and not ways[name] for name in names)
    return {
        "pairs": pairs,
        "pruned": pruned,
        "sinks": sinks,
        "visited": len(visited),
        "opened": opened,
    }
