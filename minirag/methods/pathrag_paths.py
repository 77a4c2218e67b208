"""The parts of PathRAG's path retrieval: the graph that resource flows over, the edges of a path,
paths as text, the scores of passages, and what the flow saw.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np

from ..algorithms.flow import PathSearch, flow_from
from ..core.graph import Graph
from ..core.trace import ChunkStep, PathStep, Step
from ..operators.ranking import top_items
from .rich_graph import entity_row, relation_row

if TYPE_CHECKING:
    import networkx as nx

Reliable = tuple[tuple[str, ...], float]  # a path of node names, and its reliability
EdgeText = Literal["description", "keywords"]
Places = Sequence[Sequence[int]]  # for each step of a path, positions of edges


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


def edges_of(
    path: Sequence[str], edges: Mapping[tuple[str, str], list[int]], directed: bool = True
) -> tuple[tuple[int, ...], ...]:
    """For every step of a path the positions of the edges that it may stand for; the way of the
    path first.
    """
    steps = [(edges.get((u, v), []), edges.get((v, u), [])) for u, v in pairwise(path)]
    return tuple(tuple(on if directed and on else on + back) for on, back in steps)


class Lines:
    """Nodes, relations, passages and paths as texts of the prompt; a budget counts all of a text.

    edge_text: an edge's "description" (paper), or its "keywords", which are all that the released
    code writes of it.
    """

    def __init__(self, graph: Graph, edge_text: EdgeText = "description") -> None:
        self.graph, self.edge_text = graph, edge_text

    def node(self, place: int) -> str:
        """What a budget counts of a node."""
        return entity_row(self.graph, place)

    def relation(self, place: int) -> str:
        """What a budget counts of a relation."""
        return relation_row(self.graph, place)

    def nodes(self, places: Iterable[int]) -> list[str]:
        return [self.node(place) for place in places]

    def relations(self, places: Iterable[int]) -> list[str]:
        return [self.relation(place) for place in places]

    def passages(self, places: Iterable[int]) -> list[str]:
        return [self.graph.chunks[place].passage for place in places]

    def paths(self, texts: Sequence[str]) -> list[str]:
        """The paths as the prompt has them, given as texts and in its order."""
        return list(texts)

    def textual_path(self, path: Sequence[str], places: Places) -> str:
        """A path as text: its first node, an edge, the next node, and so on to the last; of an edge
        without text its direction. places: the edges of each step, as `edges_of` gives them.

        Source: PathRAG, Eq. 5 (eq-5)
        """
        lines = [self.named(path[0])]
        for source, target, edges in zip(path, path[1:], places):
            lines += [self.step(source, target, edges), self.named(target)]
        return "\n".join(lines)

    def flat(self, found: PathStep, rng: random.Random) -> list[str]:
        """The nodes and edges of all paths, each once, shuffled: what is retrieved without its
        structure.

        Source: PathRAG, Table 3 (tab-3)
        """
        texts = [self.named(name) for path in found.paths for name in path.nodes]
        for path, places in zip(found.paths, found.edges):
            texts += [self.step(*ends, edges) for ends, edges in zip(pairwise(path.nodes), places)]
        texts = list(dict.fromkeys(texts))
        rng.shuffle(texts)
        return texts

    def named(self, name: str) -> str:
        """A node of a path."""
        return entity_row(self.graph, self.graph.position[name])

    def step(self, source: str, target: str, places: Iterable[int]) -> str:
        """A step of a path: its direction, and the text of its edges."""
        text = self.edges(places)
        return f"{source} → {target}{f': {text}' if text else ''}"

    def edges(self, places: Iterable[int]) -> str:
        """The text of the edges of a step: their keywords, or name and description."""
        edges = [self.graph.edges[place] for place in places]
        if self.edge_text == "keywords":
            return "; ".join(edge.keywords for edge in edges if edge.keywords)
        texts = [" ".join(filter(None, (edge.name, edge.description))) for edge in edges]
        return "; ".join(filter(None, (text or edge.keywords for text, edge in zip(texts, edges))))


def score_passages(found: PathStep, graph: Graph, labels: Sequence[str]) -> ChunkStep:
    """A passage's score sums the reliability of the paths that have an edge read from it. Not in
    the paper: it compares PathRAG with methods that retrieve passages.
    """
    scores = np.zeros(len(labels))
    for path, steps in zip(found.paths, found.edges):
        edges = [graph.edges[place] for places in steps for place in places]
        scores[sorted({i for edge in edges for i in edge.chunks})] += path.score
    read = f"the {np.count_nonzero(scores)} passages that {len(found.paths)} paths"
    summary = f"{read} were read from, by the paths' reliability"
    return ChunkStep("chunk from paths", summary, top_items(labels, scores), scores=scores)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FlowStep(Step):
    """What the flow saw: `pairs`, the number of ordered pairs that a path connects; `visited`, of
    nodes; `pruned`, of starts that pass nothing on, `sinks`, of those among them without a way
    out; `capped`, of starts with more paths than were looked at. With `flow="edges"` only `pairs`.
    """

    pairs: int
    visited: int | None = None
    pruned: int | None = None
    sinks: int | None = None
    capped: int | None = None

    @classmethod
    def of(cls, search: PathSearch, sinks: int, starts: int, about: str) -> Self:
        """The step of a search from `starts` nodes, `sinks` of them without a way out; `about`
        names the flow's parameters.
        """
        pruned, capped, pairs = search.pruned_starts, search.capped_starts, search.connected_pairs
        summary = (
            f"resource flow, {about}: {search.visited} nodes visited, {pruned} of"
            f" {starts} starts pruned ({sinks} have no way out), {pairs} of"
            f" {starts * (starts - 1)} ordered pairs connected, {len(search.paths)} paths"
        )
        if capped:
            summary += f"; {capped} starts have more paths than were looked at"
        return cls(
            "flow", summary, pairs=pairs, visited=search.visited, pruned=pruned, sinks=sinks,
            capped=capped,
        )  # fmt: skip


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
    """What the flow alone would connect, without listing a path: a start is connected to every
    node that its resource reaches.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    found = {name for name in names if name in ways}
    flows = [flow_from(ways, start, alpha, threshold) for start in sorted(found)]
    pairs = sum(len(found & flow.resource.keys()) - 1 for flow in flows)
    pruned = sum(flow.start not in flow.ways for flow in flows)
    visited = {name for flow in flows for name in flow.resource}
    return Connections(pairs, pruned, sum(not ways[name] for name in found), len(visited))
