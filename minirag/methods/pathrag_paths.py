"""The parts of PathRAG's path retrieval: the graph that resource flows over, what the flow
connects, choosing paths, paths as text.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..algorithms.flow import expands, resource_flow
from ..core.graph import Graph
from .pathrag_code import EdgeText, edges_text
from .rich_graph import entity_row

if TYPE_CHECKING:
    import networkx as nx

Ranking = Literal["flow", "random", "hop-first"]
Reliable = tuple[tuple[str, ...], float]  # a path of node names, and its reliability


class FlowGraph(NamedTuple):
    """What resource flows over: a networkx graph of node names, and the positions of the graph's
    edges from one name to another.
    """

    ways: "nx.Graph"
    edges: dict[tuple[str, str], list[int]]


def flow_graph(graph: Graph, directed: bool = True) -> FlowGraph:
    """The `FlowGraph` of a rich knowledge graph.

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
    return FlowGraph(ways, dict(edges))


def choose_paths(
    candidates: Iterable[Reliable],
    count: int,
    ranking: Ranking = "flow",
    rng: random.Random | None = None,
) -> list[Reliable]:
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


def edges_of(
    path: Sequence[str], edges: Mapping[tuple[str, str], list[int]], directed: bool = True
) -> tuple[tuple[int, ...], ...]:
    """For every step of a path the positions of the edges that it may stand for; the way of the
    path first.
    """
    steps = []
    for u, v in pairwise(path):
        onward, back = edges.get((u, v), []), edges.get((v, u), [])
        steps.append(tuple(onward if directed and onward else onward + back))
    return tuple(steps)


def textual_path(
    path: Sequence[str],
    places: Iterable[Iterable[int]],
    graph: Graph,
    edge_text: EdgeText = "description",
) -> str:
    """A path as text: its first node, an edge, the next node, and so on to the last.

    places: the edges of each step, as `edges_of` gives them. edge_text: "description" (paper), or
    "keywords", which is all that the released code writes of an edge; an edge without any has only
    its direction.

    Source: PathRAG, Eq. 5 (eq-5)
    """
    lines = [node_text(graph, path[0])]
    for source, target, edges in zip(path, path[1:], places):
        lines.append(step_text(graph, source, target, edges, edge_text))
        lines.append(node_text(graph, target))
    return "\n".join(lines)


def node_text(graph: Graph, name: str) -> str:
    """The text of a node of a path."""
    return entity_row(graph, graph.position[name])


def step_text(
    graph: Graph, source: str, target: str, edges: Iterable[int], edge_text: EdgeText
) -> str:
    """The text of a step of a path: its direction, and what its edges say."""
    text = edges_text(graph, edges, edge_text)
    return f"{source} → {target}{f': {text}' if text else ''}"


def flat(
    paths: Sequence[Sequence[str]],
    places: Iterable[Iterable[Iterable[int]]],
    graph: Graph,
    edge_text: EdgeText,
    rng: random.Random,
) -> list[str]:
    """The nodes and edges of all paths, each once, shuffled: what is retrieved without its
    structure.

    Source: PathRAG, Table 3 (tab-3)
    """
    texts = [node_text(graph, name) for path in paths for name in path]
    for path, steps in zip(paths, places):
        for source, target, edges in zip(path, path[1:], steps):
            texts.append(step_text(graph, source, target, edges, edge_text))
    texts = list(dict.fromkeys(texts))
    rng.shuffle(texts)
    return texts


class Connections(NamedTuple):
    """What the flow from several starts connects: ordered `pairs`; starts `pruned` at once, among
    them the `sinks`, which have no way out; nodes `visited`.
    """

    pairs: int
    pruned: int
    sinks: int
    visited: int


def connections(
    ways: "nx.Graph", names: Iterable[str], alpha: float = 0.8, threshold: float = 0.05
) -> Connections:
    """What the flow alone would connect, without listing a path.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    found = {name for name in names if name in ways}
    visited: set[str] = set()
    pairs = pruned = 0
    for start in sorted(found):
        resource = resource_flow(ways, start, alpha, threshold)
        open_nodes = {node for node in resource if expands(ways, node, resource[node], threshold)}
        reached, ahead = {start}, [start]
        while ahead:
            here = ahead.pop()
            fresh = set(ways[here]) - reached if here in open_nodes else set()
            reached |= fresh
            ahead += fresh
        visited |= set(resource)
        pruned += start not in open_nodes
        pairs += len(reached & found) - 1
    sinks = sum(not ways[name] for name in found)
    return Connections(pairs, pruned, sinks, len(visited))
