"""What stands in place of a step of PathRAG's paper, and its options: the released code's flow and
what that code puts into the prompt beside the paths, and the ablations of App. D.

Official code: BUPT-GAMMA/PathRAG, commit 32567bf; `follow="code"` sends the context that its
`_build_query_context` builds. Known differences, not reproduced:

- The code's default mode "global" is not offered, nor its pause of 20 seconds while it indexes.
- That function ends in an UnboundLocalError where no global relation is found or a level has no
  keywords. Here a question without global relations gets the local half. A question without
  keywords on one level retrieves nothing; so does the code's caller, which checks for it first.
- The code prints its context with a headline above each section; here it is a dictionary.
- The order of a Python set decides between equal flows; here names do (`edge_flow_paths`).
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ..algorithms.flow import Scored, edge_flow_paths
from ..core.graph import Graph
from ..core.options import Count
from ..core.trace import EdgeStep, NodeStep, PathStep, ScoredPath, Trace
from .base import Sections
from .pathrag_paths import EdgeText, FlowGraph, FlowStep, Lines, edges_of
from .rich_graph import RichOptions, cited_by_relations, fitting

if TYPE_CHECKING:
    from .pathrag import PathOptions, PathRAG


NO_NODE = NodeStep("node vdb", "no node searched", nodes=())
NO_RELATION = EdgeStep("relationship vdb", "no relation searched", edges=())


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


def parameters(options: "PathOptions") -> str:
    """The flow's parameters, for a summary."""
    return f"alpha {options.alpha:g}, threshold {options.threshold:g}"


def path_step(
    paths: Iterable[Scored], pool: int, flowing: FlowGraph, options: "PathOptions"
) -> PathStep:
    """The step of the paths chosen from so many in the pool, and of the edges they stand for."""
    chosen = tuple(ScoredPath(*scored) for scored in paths)
    directed = options.directed or options.flow == "edges"
    edges = tuple(edges_of(path.nodes, flowing.edges, directed) for path in chosen)
    by = "reliability" if options.ranking == "flow" else options.ranking
    return PathStep("paths", f"{len(chosen)} of {pool} paths, by {by}", paths=chosen, edges=edges)


def edge_flow(method: "PathRAG", names: Sequence[str]) -> tuple[FlowStep, Sequence[Scored]]:
    """The released code's flow on the edges of short paths, and the better half of these paths."""
    options, ways = method.chosen, method.flow_graph.ways
    found = edge_flow_paths(ways, names, options.alpha, options.threshold, top_k=None)
    half = f"the better half, {len(found)} paths of at most 3 hops"
    pairs = len({(path[0], path[-1]) for path, _ in found})
    return FlowStep("flow", f"edge flow, {parameters(options)}: {half}", pairs=pairs), found


def ablated_choice(method: "PathRAG", pool: Sequence[Scored], question: str) -> Sequence[Scored]:
    """K paths at random, or those of fewest hops, random among equals.

    Source: PathRAG, Table 2 and App. D.1 (tab-2)
    """
    options, kept = method.chosen, list(pool)
    rng_of(question, options).shuffle(kept)
    if options.ranking == "hop-first":
        kept.sort(key=lambda scored: len(scored[0]))
    return kept[: options.top_k]


def other_prompt(method: "PathRAG", found: PathStep, write: Lines, question: str) -> list[str]:
    """The texts of paths in another order than Eq. 6's, or without the structure of paths."""
    options, flat = method.chosen, method.chosen.prompt == "flat"
    texts = flat_texts(found, write, options.seed) if flat else write.textual_paths(found)
    texts = fitting(texts, texts, options.path_budget, options.count)
    if options.order == "random" and not flat:
        rng_of(question, options).shuffle(texts)
    return texts


def flat_texts(found: PathStep, write: Lines, seed: int) -> list[str]:
    """The nodes and edges of all paths, each once, shuffled: what is retrieved without its
    structure (App. D.2).

    Source: PathRAG, Table 3 (tab-3)
    """
    texts = [write.named(name) for path in found.paths for name in path.nodes]
    for path, places in zip(found.paths, found.edges):
        texts += [write.step(*ends, edges) for ends, edges in zip(pairwise(path.nodes), places)]
    texts = list(dict.fromkeys(texts))
    random.Random(seed).shuffle(texts)
    return texts


def rng_of(question: str, options: "PathOptions") -> random.Random:
    """What an ablation draws from for a question: the same in every run and on every machine."""
    return random.Random(f"{options.seed}\n{question}")


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
