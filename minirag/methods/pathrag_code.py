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
from .pathrag_paths import EdgeText, Lines, Places
from .rich_graph import RichOptions, cited_by_relations, degrees, fitting

NODE_HEAD = ("id", "entity", "type", "description", "rank")
UNTYPED = "UNKNOWN"  # what the released code makes of a node without a type
RELATION_HEAD = ("id", "source", "target", "description", "keywords", "weight", "rank")


@dataclass(frozen=True)
class CodeOptions(RichOptions):
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
LIGHT = {"nodes": 20, "top_k": 5}  # PathRAG-lt


def searched_words(asked: KeywordStep, options: CodeOptions) -> list[str]:
    """What nodes are searched by: each keyword, or all low-level ones in one text (code)."""
    words = dict.fromkeys([*asked.low, *(asked.high if options.levels == "both" else ())])
    return [", ".join(words)] if words and options.search == "joined" else list(words)


def sections_before_paths(trace: Trace, write: Lines, options: CodeOptions) -> Sections:
    """The global relations, and in the code's setting their ends, passages and the nodes found."""
    graph, count = write.graph, options.count
    relations = [row.index for row in trace.last(EdgeStep).edges]
    relations = fitting(relations, map(write.relation, relations), options.global_budget, count)
    nodes = [row.index for row in trace.last(NodeStep).nodes]
    sections: Sections = {}
    if options.relation_ends:
        ends = ends_of(graph, relations)
        ends = fitting(ends, map(write.node, ends), options.path_budget, count)
        sections["ends"] = write.nodes(ends)
    sections["relations"] = write.relations(relations)
    cited = [cited_by_relations(graph, relations)] if options.sources else []
    cited += [cited_by_nodes(graph, nodes)] if options.local_sources else []
    if cited:
        passages: list[int] = []
        for places in cited:
            texts = (graph.chunks[place].passage for place in places)
            passages += fitting(places, texts, options.text_budget, count)
        sections["passages"] = write.passages(dict.fromkeys(passages))
    if options.local_entities:
        sections["entities"] = write.nodes(nodes)
    return sections


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
            ends = self.told(source), self.told(target)
            steps.append(f"{ends[0]}through edge{gap}{relation}{ends[1]}")
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
