"""What PathRAG's released code does instead of its paper: its options, and what it puts into the
prompt beside the paths, and how it writes it down.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.graph import Graph
from ..core.options import Count
from ..core.trace import EdgeStep, KeywordStep, NodeStep, Trace
from .base import Sections
from .rich_graph import RichOptions, cited_by_relations, degrees, entity_row, fitting, relation_row

NODE_HEAD = ("id", "entity", "type", "description", "rank")
UNTYPED = "UNKNOWN"  # what the released code makes of a node without a type
RELATION_HEAD = ("id", "source", "target", "description", "keywords", "weight", "rank")
EdgeText = Literal["description", "keywords"]


@dataclass(frozen=True)
class PathCodeOptions(RichOptions):
    """What the released code decides otherwise than the paper, or alone.

    flow: resource on "nodes", or on "edges" of enumerated paths of at most 3 hops, of which at most
        half are kept.
    levels: keywords of "both" levels find nodes, or "low" ones alone. The paper's Sec. 4.1 has one
        set of keywords; that both levels belong to it is this kit's reading.
    search: nodes for "each" keyword in turn, or for all "joined".
    edge_text: an edge's "description", or its "keywords" alone.
    global_budget: tokens for the global relations (None: no limit).
    relation_ends: the two ends of the global relations too, in path_budget tokens.
    sources: the passages of the global relations, in text_budget tokens.
    local_sources: the passages of the nodes found, by how many of these cite them, in text_budget
        tokens.
    text_budget: tokens for passages of either kind.
    local_entities: the nodes found.
    path_budget: tokens for paths, filled from the most reliable on (None: no limit).
    layout: "lines", or "tables": comma-separated values, each inner node's text twice in a path,
        and budgets that count descriptions alone.
    """

    flow: Literal["nodes", "edges"] = "nodes"
    levels: Literal["both", "low"] = "both"
    search: Literal["each", "joined"] = "each"
    edge_text: EdgeText = "description"
    global_budget: Count | None = 3000
    relation_ends: bool = False
    sources: bool = False
    local_sources: bool = False
    text_budget: Count = 4000
    local_entities: bool = False
    path_budget: Count | None = None
    layout: Literal["lines", "tables"] = "lines"


CODE = {
    "question": "last", "threshold": 0.3, "flow": "edges", "directed": False, "levels": "low",
    "search": "joined", "entity_text": "name and description", "cutoff": 0.2, "empty": "nothing",
    "edge_text": "keywords", "global_order": "degree", "relation_ends": True, "sources": True,
    "local_sources": True, "local_entities": True, "path_budget": 5000, "layout": "tables",
    "gleaning_order": "continue first",
}  # fmt: skip


def searched_words(asked: KeywordStep, options: PathCodeOptions) -> list[str]:
    """What nodes are searched by: each keyword, or all low-level ones in one text (code)."""
    words = dict.fromkeys([*asked.low, *(asked.high if options.levels == "both" else ())])
    return [", ".join(words)] if words and options.search == "joined" else list(words)


def sections_before_paths(
    trace: Trace, graph: Graph, write: "Lines", options: PathCodeOptions
) -> Sections:
    """The global relations, and in the code's setting their ends, passages and the nodes found."""

    def passage(place: int) -> str:
        return graph.chunks[place].passage

    nodes = [row.index for row in trace.last(NodeStep).nodes]
    relations: Sequence[int] = [row.index for row in trace.last(EdgeStep).edges]
    relations = fitting(relations, write.relation, options.global_budget, options.count)
    sections: Sections = {}
    passages: list[int] = []
    if options.relation_ends:
        ends = fitting(ends_of(graph, relations), write.node, options.path_budget, options.count)
        sections["ends"] = write.nodes(ends)
    sections["relations"] = write.relations(relations)
    if options.sources:
        cited = cited_by_relations(graph, relations)
        passages += fitting(cited, passage, options.text_budget, options.count)
    if options.local_sources:
        cited = cited_by_nodes(graph, nodes)
        passages += fitting(cited, passage, options.text_budget, options.count)
    if options.sources or options.local_sources:
        sections["passages"] = write.passages(dict.fromkeys(passages))
    if options.local_entities:
        sections["entities"] = write.nodes(nodes)
    return sections


class Lines:
    """A node and a relation as a line each; a budget counts the whole line."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def node(self, place: int) -> str:
        """What a budget counts of a node."""
        return entity_row(self.graph, place)

    def relation(self, place: int) -> str:
        """What a budget counts of a relation."""
        return relation_row(self.graph, place)

    def nodes(self, places: Iterable[int]) -> list[str]:
        """The nodes as texts of the prompt."""
        return [self.node(place) for place in places]

    def relations(self, places: Iterable[int]) -> list[str]:
        """The relations as texts of the prompt."""
        return [self.relation(place) for place in places]

    def passages(self, places: Iterable[int]) -> list[str]:
        """The passages as texts of the prompt."""
        return [self.graph.chunks[place].passage for place in places]

    def paths(self, texts: Sequence[str]) -> list[str]:
        """The paths as texts of the prompt, in its order."""
        return list(texts)


class Tables(Lines):
    """Tables of comma-separated values, as the released code prints them; a budget counts a
    description alone. A rank is a degree, of a relation the sum of its ends'.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.degree = degrees(graph)

    def node(self, place: int) -> str:
        return self.graph.nodes[place].description

    def relation(self, place: int) -> str:
        edge = self.graph.edges[place]
        return edge.description or edge.name

    def nodes(self, places: Iterable[int]) -> list[str]:
        found = [(i, self.graph.nodes[i]) for i in places]
        rows = [
            (node.name, node.type or UNTYPED, node.description, self.degree[i]) for i, node in found
        ]
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


LAYOUTS = {"lines": Lines, "tables": Tables}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Numbered rows of comma-separated values, a text each; the head stands in the first one."""
    texts = []
    for number, row in enumerate(rows):
        written = io.StringIO()
        csv.writer(written).writerows([[number, *row]] if number else [head, [number, *row]])
        texts.append(written.getvalue().rstrip("\r\n"))
    return texts


def ends_of(graph: Graph, relations: Iterable[int]) -> list[int]:
    """Both ends of every relation, each node once."""
    edges = [graph.edges[place] for place in relations]
    return list(dict.fromkeys(end for edge in edges for end in (edge.source, edge.target)))


def cited_by_nodes(graph: Graph, nodes: Iterable[int]) -> list[int]:
    """Passages by the first node that cites them, then by how often a node that cites them points
    to another one that does, summed over all `nodes`.
    """
    onward: dict[int, set[int]] = defaultdict(set)
    order: dict[int, tuple[int, int]] = {}
    for edge in graph.edges:
        if edge.kind == "relation":
            onward[edge.source].add(edge.target)
    for number, node in enumerate(nodes):
        for place in dict.fromkeys(graph.nodes[node].chunks):
            shared = sum(place in graph.nodes[other].chunks for other in onward[node])
            first, before = order.get(place, (number, 0))
            order[place] = first, before - shared
    return sorted(order, key=order.__getitem__)


def edges_text(graph: Graph, places: Iterable[int], edge_text: EdgeText) -> str:
    """The text of the edges of one step of a path: their keywords, or name and description."""
    edges = [graph.edges[place] for place in places]
    if edge_text == "keywords":
        return "; ".join(edge.keywords for edge in edges if edge.keywords)
    texts = [" ".join(filter(None, (edge.name, edge.description))) for edge in edges]
    return "; ".join(filter(None, (text or edge.keywords for text, edge in zip(texts, edges))))


def told_path(
    path: Sequence[str],
    places: Iterable[Iterable[int]],
    graph: Graph,
    edge_text: EdgeText = "keywords",
) -> str:
    """A path in the words of the released code: each edge between the texts of its two ends, so
    that an inner node stands in it twice. places, edge_text: as in `textual_path`.

    Source: PathRAG, Eq. 5 (eq-5)
    """
    gap = " " if len(path) == 4 else ""  # the code writes one more space in its longest paths
    steps = []
    for source, target, edges in zip(path, path[1:], places):
        relation = f"({edges_text(graph, edges, edge_text)})"
        edge = f"through edge{gap}{relation} to connect to {source} and {target}."
        steps.append(_told_node(graph, source) + edge + _told_node(graph, target))
    return "and".join(steps)


def _told_node(graph: Graph, name: str) -> str:
    node = graph.nodes[graph.position[name]]
    return f"The entity {name} is a {node.type or UNTYPED} with the description({node.description})"
