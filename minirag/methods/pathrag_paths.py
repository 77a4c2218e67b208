"""The parts of PathRAG's path retrieval: the graph that resource flows over, the edges of a path,
what the flow saw, paths as text in the two layouts of the prompt, and the scores of passages.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np

from ..algorithms.flow import PathSearch
from ..core.graph import Graph
from ..core.trace import ChunkStep, PathStep, Step
from ..operators.ranking import top_items
from .rich_graph import degrees, entity_row, relation_row

if TYPE_CHECKING:
    import networkx as nx

NODE_HEAD = ("id", "entity", "type", "description", "rank")
UNTYPED = "UNKNOWN"  # what the released code makes of a node without a type
RELATION_HEAD = ("id", "source", "target", "description", "keywords", "weight", "rank")

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
    def of(cls, search: PathSearch, starts: int, about: str) -> Self:
        """The step of a search from `starts` nodes; `about` names the flow's parameters."""
        found, (pairs, pruned, sinks, visited), capped = search
        summary = (
            f"resource flow, {about}: {visited} nodes visited, {pruned} of"
            f" {starts} starts pruned ({sinks} have no way out), {pairs} of"
            f" {starts * (starts - 1)} ordered pairs connected, {len(found)} paths"
        )
        if capped:
            summary += f"; {capped} starts have more paths than were looked at"
        return cls(
            "flow", summary, pairs=pairs, visited=visited, pruned=pruned, sinks=sinks,
            capped=capped,
        )  # fmt: skip


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

    def textual_paths(self, found: PathStep) -> list[str]:
        """Every chosen path as text, in their order."""
        chosen = zip(found.paths, found.edges)
        return [self.textual_path(path.nodes, places) for path, places in chosen]

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


class Tables(Lines):
    """Tables of comma-separated values, as the released code prints them; a budget counts a
    description alone. A rank is a degree, of a relation the sum of its ends'.
    """

    def __init__(self, graph: Graph, edge_text: EdgeText = "keywords") -> None:
        super().__init__(graph, edge_text)
        self.degree = degrees(graph)

    def node(self, place: int) -> str:
        return self.graph.nodes[place].description

    def relation(self, place: int) -> str:
        edge = self.graph.edges[place]
        return edge.description or edge.name

    def nodes(self, places: Iterable[int]) -> list[str]:
        found = [(self.graph.nodes[i], self.degree[i]) for i in places]
        rows = [(node.name, node.type or UNTYPED, node.description, rank) for node, rank in found]
        return table(NODE_HEAD, rows)

    def relations(self, places: Iterable[int]) -> list[str]:
        rows = []
        for place in places:
            edge = self.graph.edges[place]
            names = [self.graph.nodes[end].name for end in (edge.source, edge.target)]
            rank = self.degree[edge.source] + self.degree[edge.target]
            rows.append((*names, self.relation(place), edge.keywords, edge.weight, rank))
        return table(RELATION_HEAD, rows)

    def passages(self, places: Iterable[int]) -> list[str]:
        numbered = enumerate(super().passages(places), start=1)
        rows = [f"{number},\t{passage}" for number, passage in numbered]
        return ["id,\tcontent\n" + rows[0], *rows[1:]] if rows else []

    def paths(self, texts: Sequence[str]) -> list[str]:
        return table(("id", "context"), [([text],) for text in texts])  # a list of one, as there

    def textual_path(self, path: Sequence[str], places: Places) -> str:
        """A path in the words of the released code: each edge between the texts of its two ends, so
        that an inner node stands in it twice.

        Source: PathRAG, Eq. 5 (eq-5)
        """
        gap = " " if len(path) == 4 else ""  # the code writes one more space in its longest paths
        steps = []
        for source, target, edges in zip(path, path[1:], places):
            relation = f"({self.edges(edges)}) to connect to {source} and {target}."
            steps.append(f"{self.told(source)}through edge{gap}{relation}{self.told(target)}")
        return "and".join(steps)

    def told(self, name: str) -> str:
        """A node of a path, in the same words."""
        node = self.graph.nodes[self.graph.position[name]]
        kind = node.type or UNTYPED
        return f"The entity {name} is a {kind} with the description({node.description})"


LAYOUTS = {"lines": Lines, "tables": Tables}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Numbered rows of comma-separated values, a text each; the head stands in the first one."""
    texts = []
    for number, row in enumerate(rows):
        written = io.StringIO()
        csv.writer(written).writerows([[number, *row]] if number else [head, [number, *row]])
        texts.append(written.getvalue().rstrip("\r\n"))
    return texts


def score_passages(found: PathStep, graph: Graph, labels: Sequence[str]) -> ChunkStep:
    """Not in the paper: scores of passages, by which PathRAG is compared with methods that retrieve
    passages. A score sums the reliability of the paths that have an edge read from the passage.
    """
    scores = np.zeros(len(labels))
    for path, steps in zip(found.paths, found.edges):
        edges = [graph.edges[place] for places in steps for place in places]
        scores[sorted({i for edge in edges for i in edge.chunks})] += path.score
    read = f"the {np.count_nonzero(scores)} passages that {len(found.paths)} paths"
    summary = f"{read} were read from, by the paths' reliability"
    return ChunkStep("chunk from paths", summary, top_items(labels, scores), scores=scores)
