"""PathRAG's options, and what its released code does instead of its paper: its flow, what it puts
into the prompt beside the paths, and how it writes it down.

Official code: BUPT-GAMMA/PathRAG, commit 32567bf; `follow="code"` sends the context that its
`_build_query_context` builds. Known differences, not reproduced:

- The code's default mode "global" is not offered, nor its pause of 20 seconds while it indexes.
- That function ends in an UnboundLocalError where no global relation is found or a level has no
  keywords. Here a question without global relations gets the local half. A question without
  keywords on one level retrieves nothing; so does the code's caller, which checks for it first.
- The code prints its context with a headline above each section; here it is a dictionary.
- The order of a Python set decides between equal flows; here names do (`edge_flow_paths`).
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ..algorithms.flow import PATHS_A_START, edge_flow_paths
from ..core.graph import Graph
from ..core.options import Between, Count, Positive
from ..core.trace import EdgeStep, KeywordStep, NodeStep, Trace
from ..index.vectors import NodeText, RelationText
from .base import Sections
from .pathrag_paths import EdgeText, FlowStep, Lines, Places, Reliable
from .rich_graph import RichOptions, cited_by_relations, degrees, fitting

if TYPE_CHECKING:
    import networkx as nx

NODE_HEAD = ("id", "entity", "type", "description", "rank")
UNTYPED = "UNKNOWN"  # what the released code makes of a node without a type
NO_RELATION = EdgeStep("relationship vdb", "no relation searched", edges=())
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


@dataclass(frozen=True)
class PathOptions(CodeOptions):
    """The defaults are the paper's; `CODE` holds what the released code does instead.

    nodes: N, how many nodes the keywords find.
    top_k: K, how many paths enter the prompt.
    alpha: the share of its resource that a node passes on.
    threshold: theta; a node whose S / out-degree is below it passes nothing on.
    directed: resource follows an edge one way; False: both ways, as `flow="edges"` always does.
    per_pair: how many paths of an ordered pair enter the pool (None: all; the paper keeps the most
        reliable ones without saying how many).
    max_paths: how many paths are looked at from one start.
    global_edges: how many relations the high-level keywords find, placed after the question and
        before the paths (None: N, as in the code; the paper gives no number).
    ranking: "flow", or an ablation of App. D.1, "random" or "hop-first".
    order: the paths in the prompt by "ascending" or "descending" reliability, or at "random".
    question: stands "first" in the prompt, or "last".
    prompt: "paths", or the ablation of App. D.2, "flat".
    seed: of everything random.
    """

    nodes: Positive = 40
    top_k: Positive = 15
    alpha: Annotated[float, Between(0, 1, above=True)] = 0.8
    threshold: Annotated[float, Between(0, above=True)] = 0.05
    directed: bool = True
    per_pair: Positive | None = None
    max_paths: Positive = PATHS_A_START
    entity_text: NodeText = "name"
    relation_text: RelationText = "keywords, names, description"
    global_edges: Count | None = None
    ranking: Literal["flow", "random", "hop-first"] = "flow"
    order: Literal["ascending", "descending", "random"] = "ascending"
    question: Literal["first", "last"] = "first"
    prompt: Literal["paths", "flat"] = "paths"
    seed: int = 0


CODE = {
    "question": "last", "threshold": 0.3, "flow": "edges", "directed": False, "levels": "low",
    "search": "joined", "entity_text": "name and description", "cutoff": 0.2, "empty": "nothing",
    "edge_text": "keywords", "global_order": "degree", "relation_ends": True, "sources": True,
    "local_sources": True, "local_entities": True, "path_budget": 5000, "layout": "tables",
    "gleaning_order": "continue first",
}  # fmt: skip
LIGHT = {"nodes": 20, "top_k": 5}  # PathRAG-lt


def parameters(options: PathOptions) -> str:
    """The flow's parameters, for a summary."""
    return f"alpha {options.alpha:g}, threshold {options.threshold:g}"


def edge_flow(
    ways: "nx.Graph", names: Sequence[str], options: PathOptions
) -> tuple[FlowStep, Sequence[Reliable]]:
    """The released code's flow on the edges of short paths, and the better half of these paths."""
    found = edge_flow_paths(ways, names, options.alpha, options.threshold, top_k=None)
    half = f"the better half, {len(found)} paths of at most 3 hops"
    pairs = len({(path[0], path[-1]) for path, _ in found})
    return FlowStep("flow", f"edge flow, {parameters(options)}: {half}", pairs=pairs), found


def keyword_texts(keywords: KeywordStep, options: CodeOptions) -> list[str]:
    """K_q as the texts that nodes are searched by: each keyword, or all joined into one (code).
    That both levels of keywords are K_q is this kit's reading: the paper does not part them.
    """
    words = dict.fromkeys(keywords.low + (keywords.high if options.levels == "both" else ()))
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
