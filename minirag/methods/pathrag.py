"""PathRAG: the few most reliable paths between the nodes that a question's keywords find, put into
the prompt as text.

Official code: BUPT-GAMMA/PathRAG, commit 32567bf; `follow="code"` sends the context that its
`_build_query_context` builds. Told, not rebuilt:

- Its default mode "global" is refused, and a pause of 20 seconds stands in the indexing.
- That function ends in an UnboundLocalError where no global relation is found or a level has no
  keywords. Here a question without global relations gets the local half, and a question without
  keywords on one level retrieves nothing, as the code answers it one call earlier.
- Banners part the sections of its context; here they are a dictionary.
- The order of a Python set decides between equal flows; here names do (`edge_flow_paths`).
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from ..algorithms.flow import PATHS_A_START, edge_flow_paths, search_paths
from ..core.options import Between, Count, Positive
from ..core.results import Retrieval
from ..core.trace import ChunkStep, NodeStep, PathStep, ScoredNode, ScoredPath, Step
from ..index.relationships import RelationText
from ..index.vectors import NodeText, VectorIndex
from ..operators import question
from ..operators.ranking import count_of, top_items
from ..prompts.task import Task
from . import pathrag_code as code
from .base import Sections
from .pathrag_paths import (
    FlowGraph,
    Ranking,
    Reliable,
    choose_paths,
    edges_of,
    flat,
    flow_graph,
    textual_path,
)
from .rich_graph import RichMethod, fill, fitting

Order = Literal["ascending", "descending", "random"]

# With the question in front, the most reliable path ends the prompt.
QUESTION_FIRST = "Question: $question\n\nPassages:\n\n$passages"


@dataclass(frozen=True)
class PathOptions(code.PathCodeOptions):
    """The defaults are the paper's; `pathrag_code.CODE` holds what the released code does instead.

    nodes: N, how many of them the keywords find.
    top_k: K, the paths that enter the prompt.
    alpha: what of its resource a node passes on.
    threshold: theta; below it a node passes nothing on.
    directed: resource follows an edge one way, or both ways; flow on edges always goes both ways.
    per_pair: paths of an ordered pair that enter the pool (None: all; the paper keeps the most
        reliable ones without saying how many).
    max_paths: looked at from one start.
    global_edges: relations found by high-level keywords, after the question and before the paths
        (None: as many as N, the code's number; the paper gives none).
    ranking: "flow", or an ablation, "random" or "hop-first".
    order: of the paths in the prompt.
    question: "first" in it, or "last".
    prompt: "paths", or the ablation "flat".
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
    ranking: Ranking = "flow"
    order: Order = "ascending"
    question: Literal["first", "last"] = "first"
    prompt: Literal["paths", "flat"] = "paths"
    seed: int = 0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FlowStep(Step):
    """What the flow saw: `pairs`, the ordered pairs that a path connects; nodes `visited`; starts
    `pruned` at once, among them the `sinks`, which have no way out; starts whose paths were
    `capped`. Flow on edges counts pairs alone.
    """

    pairs: int
    visited: int | None = None
    pruned: int | None = None
    sinks: int | None = None
    capped: int | None = None


class PathRAG(RichMethod):
    """Keywords find nodes, resource flows between them, and the most reliable paths become the
    prompt, the best one last.

    Source: PathRAG, Eq. 1 (eq-1); PathRAG, Eq. 4-6 (eq-4, eq-5, eq-6)
    """

    name = "pathrag"
    paper = "PathRAG"
    primitive = "Both high- and low-level keywords"
    granularity = ("Subgraph",)
    operators: ClassVar = {
        "node": ("VDB",),
        "relationship": ("VDB",),
        "subgraph": ("Flow paths",),
        "chunk": ("FromRel",),
    }
    options_type: ClassVar = PathOptions
    settings: ClassVar = {"paper": {}, "code": code.CODE}
    pairs = "directed"
    reused: ClassVar = {**RichMethod.reused, "ways": "directed"}
    chosen: PathOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: the retriever of the paper's Eq. 1, its Sec. 4.1 and 4.2."""
        options = self.chosen
        traces: list[Sequence[Step]] = []
        # Sec. 4.1, node retrieval: a language model names the keywords K_q of each question q.
        keywords = question.keywords(questions, self.llm, options.empty)
        # Sec. 5.1.3: the relations that LightRAG's global search finds go into the prompt too.
        count = options.nodes if options.global_edges is None else options.global_edges
        relations = self.search_relations(keywords, count, "no relation searched")
        for text, asked, global_edges in zip(questions, keywords, relations):
            # Sec. 4.1: the nodes V_q, nearest to each keyword in turn until there are N.
            words = code.searched_words(asked, options)
            nodes = collect_nodes(words, self.entity_index, options.nodes, options.cutoff)
            # Sec. 4.2, Eq. 2-4: from each node of V_q resource flows out, decays by alpha and stops
            # below theta; it makes the paths between the nodes reliable.
            flow, candidates = self.find_paths([node.label for node in nodes.nodes])
            # Sec. 4.2: the K most reliable paths of all pairs, P_q.
            kept = choose_paths(candidates, options.top_k, options.ranking, self.rng(text))
            paths = self.path_step(kept, len(candidates))
            traces.append((asked, nodes, global_edges, flow, paths, self.score_passages(paths)))
        return traces

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The prompt after the question (Sec. 4.3): global relations, in the code's setting with
        their ends, passages and the nodes found, and last the paths, the most reliable at the very
        end.

        Source: PathRAG, Eq. 6 (eq-6); PathRAG, tokens a question (tokens)
        """
        options, write = self.chosen, code.LAYOUTS[self.chosen.layout](self.graph)
        sections = code.sections_before_paths(retrieval.trace, self.graph, write, options)
        # Eq. 5: each path of P_q as text, its nodes and edges in their order.
        texts = self.path_texts(retrieval.trace.last(PathStep))
        texts = fitting(texts, str, options.path_budget, options.count)
        # Eq. 6: from the K-th path up to the most reliable one, which ends the prompt.
        if options.prompt == "paths":
            texts = in_order(texts, options.order, self.rng(retrieval.question))
        sections["paths"] = write.paths(texts)
        filled, step = fill(
            {name: (texts, None) for name, texts in sections.items()}, options.count
        )
        return filled, retrieval.followed_by(step)

    def reader(self, task: str | Task | None = None) -> Task:
        """The task that answers, with the question in front (Eq. 6) unless `question` is "last"."""
        found = super().reader(task)
        return replace(found, template=QUESTION_FIRST) if self.chosen.question == "first" else found

    def find_paths(self, names: Sequence[str]) -> tuple[FlowStep, Sequence[Reliable]]:
        """What the flow from each of the named nodes saw, and all candidate paths with their
        reliability, best first.

        - Eq. 2: S(v) is the sum of alpha * S(u) / out-degree(u) over the nodes u that point to v.
        - Eq. 3: a node v with S(v) / out-degree(v) < theta passes nothing on.
        - Eq. 4: the reliability S(P) is the sum of S(v) over the path's nodes / its edges.

        Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
        """
        ways, options = self.ways.ways, self.chosen
        about = f"alpha {options.alpha:g}, threshold {options.threshold:g}"
        if options.flow == "edges":  # the released code
            paths = edge_flow_paths(ways, names, options.alpha, options.threshold, top_k=10**9)
            summary = f"edge flow, {about}: the better half, {len(paths)} paths of at most 3 hops"
            pairs = len({(path[0], path[-1]) for path, _ in paths})
            return FlowStep("flow", summary, pairs=pairs), paths
        seen = search_paths(
            ways, names, options.alpha, options.threshold, None, options.per_pair, options.max_paths
        )
        sinks, pairs = sum(not ways[name] for name in names), len(names) * (len(names) - 1)
        summary = (
            f"resource flow, {about}: {seen.visited} nodes visited, {seen.pruned_starts} of"
            f" {len(names)} starts pruned ({sinks} have no way out), {seen.connected_pairs} of"
            f" {pairs} ordered pairs connected, {len(seen.paths)} paths"
        )
        if seen.capped_starts:
            summary += f"; {seen.capped_starts} starts have more paths than were looked at"
        return FlowStep(
            "flow",
            summary,
            pairs=seen.connected_pairs,
            visited=seen.visited,
            pruned=seen.pruned_starts,
            sinks=sinks,
            capped=seen.capped_starts,
        ), seen.paths

    def path_step(self, kept: Sequence[Reliable], of: int) -> PathStep:
        """The chosen paths and the edges of their steps."""
        options, edges = self.chosen, self.ways.edges
        directed = options.directed or options.flow == "edges"
        by = "reliability" if options.ranking == "flow" else options.ranking
        return PathStep(
            "paths",
            f"{len(kept)} of {of} paths, by {by}",
            paths=tuple(ScoredPath(path, score) for path, score in kept),
            edges=tuple(edges_of(path, edges, directed) for path, _ in kept),
        )

    def score_passages(self, found: PathStep) -> ChunkStep:
        """A passage's score is the summed reliability of the paths that have an edge read from it.

        PathRAG's prompt holds no passages: by this its retrieval can be compared with others'.
        """
        scores = np.zeros(len(self.chunks))
        for path, steps in zip(found.paths, found.edges):
            edges = [self.graph.edges[place] for places in steps for place in places]
            scores[sorted({i for edge in edges for i in edge.chunks})] += path.score
        read = f"the {np.count_nonzero(scores)} passages that {len(found.paths)} paths"
        summary = f"{read} were read from, by the paths' reliability"
        items = top_items(self.labels, scores)
        return ChunkStep("chunk from paths", summary, items, scores=scores)

    def path_texts(self, found: PathStep) -> Sequence[str]:
        """The chosen paths as texts, most reliable first; in the ablation "flat" their nodes and
        edges, shuffled.
        """
        graph, options = self.graph, self.chosen
        paths = [path.nodes for path in found.paths]
        if options.prompt == "flat":
            rng = random.Random(options.seed)
            return flat(paths, found.edges, graph, options.edge_text, rng)
        text_of = code.told_path if options.layout == "tables" else textual_path
        return [text_of(*row, graph, options.edge_text) for row in zip(paths, found.edges)]

    def rng(self, question: str) -> random.Random:
        """What everything random about a question is drawn from: the same in every run and on every
        machine.
        """
        return random.Random(f"{self.chosen.seed}\n{question}")

    @cached_property
    def ways(self) -> FlowGraph:
        """What resource flows over, see `flow_graph`."""
        return flow_graph(self.graph, self.chosen.directed)


class PathRAGLight(PathRAG):
    """PathRAG with half the nodes and a third of the paths.

    Source: PathRAG, PathRAG-lt (lt); PathRAG, Table 5 (tab-5)
    """

    name = "pathrag-lt"
    settings: ClassVar = {
        "paper": {"nodes": 20, "top_k": 5},
        "code": {**code.CODE, "nodes": 20, "top_k": 5},
    }


def collect_nodes(
    keywords: Sequence[str], index: VectorIndex, count: int, cutoff: float | None = None
) -> NodeStep:
    """Nodes of one question: the nearest of each keyword in turn, then the second nearest of each,
    and so on until `count` are found; with their cosines, in the order found.

    Source: PathRAG, Eq. 1 (eq-1)
    """
    found: dict[int, float] = {}
    if keywords:
        places, cosines = index.search(keywords, k=min(count, len(index.labels)))
        for place, cosine in zip(places.T.ravel().tolist(), cosines.T.ravel().tolist()):
            if len(found) < count and (cutoff is None or cosine >= cutoff):
                found.setdefault(place, cosine)
    nodes = tuple(ScoredNode(index.labels[i], i, cosine) for i, cosine in found.items())
    words = count_of(keywords, "keyword")
    summary = f"{len(nodes)} nodes for {words}, the nearest of each in turn"
    return NodeStep("node vdb", summary, nodes=nodes)


def in_order(texts: Iterable[str], order: Order, rng: random.Random) -> list[str]:
    """Texts given most reliable first, in the order of the prompt: "ascending" puts the most
    reliable last.

    Source: PathRAG, Eq. 6 (eq-6)
    """
    texts = list(texts)
    if order == "random":
        rng.shuffle(texts)
    return texts[::-1] if order == "ascending" else texts
