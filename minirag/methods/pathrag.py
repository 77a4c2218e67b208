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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from ..algorithms.flow import PATHS_A_START, edge_flow_paths, search_paths
from ..core.options import Between, Count, Positive
from ..core.results import Retrieval
from ..core.trace import ChunkStep, NodeStep, PathStep, ScoredNode, ScoredPath, Step
from ..index.vectors import NodeText, RelationText
from ..operators import question
from ..operators.ranking import count_of, top_items
from ..prompts.task import Task
from . import pathrag_code as code
from .base import Sections
from .pathrag_paths import FlowGraph, edges_of, flow_graph
from .rich_graph import RichMethod, fill, fitting

Reliable = tuple[tuple[str, ...], float]  # a path of node names, and its reliability

# With the question in front, the most reliable path ends the prompt.
QUESTION_FIRST = "Question: $question\n\nPassages:\n\n$passages"


@dataclass(frozen=True)
class PathOptions(code.CodeOptions):
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
    ranking: Literal["flow", "random", "hop-first"] = "flow"
    order: Literal["ascending", "descending", "random"] = "ascending"
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
        "node": ("VDB",), "relationship": ("VDB",), "subgraph": ("Flow paths",),
        "chunk": ("FromRel",),
    }  # fmt: skip
    options_type = PathOptions
    settings: ClassVar = {"paper": {}, "code": code.CODE}
    pairs = "directed"
    reused: ClassVar = {**RichMethod.reused, "flow_graph": "directed"}
    chosen: PathOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: what the paper's Eq. 1 calls the retriever, Sec. 4.1 and 4.2.
        Sec. 4.3, the prompt, is `context`.
        """
        options = self.chosen
        traces: list[Sequence[Step]] = []
        # Sec. 4.1, node retrieval: a language model names the keywords K_q of each question q.
        keywords = question.keywords(questions, self.llm, options.empty)
        # Sec. 5.1.3: the relations that LightRAG's global search finds join the prompt.
        count = options.nodes if options.global_edges is None else options.global_edges
        relations = self.search_relations(keywords, count, "no relation searched")
        for text, asked, global_relations in zip(questions, keywords, relations):
            # Sec. 4.1: V_q, the nodes nearest to each keyword in turn until there are N.
            nodes = self.collect_nodes(code.searched_words(asked, options))
            # Sec. 4.2, Eq. 2-4: from each node of V_q resource flows along the edges, decays by
            # alpha, stops below theta, and says how reliable each path to another node of V_q is.
            flow, candidates = self.find_paths([node.label for node in nodes.nodes])
            # Sec. 4.2: P_q, the K most reliable paths of all pairs.
            paths = self.choose_paths(candidates, self.rng(text))
            # Not in the paper: scores of passages, to compare PathRAG with what retrieves them.
            passages = self.score_passages(paths)
            traces.append((asked, nodes, global_relations, flow, paths, passages))
        return traces

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The prompt after the question (Sec. 4.3): global relations, in the code's setting with
        their ends, passages and the nodes found, and last the paths, the most reliable at the very
        end.

        Source: PathRAG, Eq. 6 (eq-6); PathRAG, tokens a question (tokens)
        """
        options, found = self.chosen, retrieval.trace.last(PathStep)
        write = code.LAYOUTS[options.layout](self.graph, options.edge_text)
        sections = code.sections_before_paths(retrieval.trace, write, options)
        # Eq. 5: t_P, each path of P_q as text, its nodes and edges in their order.
        texts = [
            write.textual_path(*row) for row in zip((p.nodes for p in found.paths), found.edges)
        ]
        if options.prompt == "flat":  # the ablation of Table 3
            texts = write.flat(found, random.Random(options.seed))
        texts = fitting(texts, texts, options.path_budget, options.count)
        # Eq. 6: q; t_PK; ...; t_P1. The most reliable path ends the prompt, `reader` begins it.
        if options.prompt == "paths":
            texts = self.in_order(texts, self.rng(retrieval.question))
        sections["paths"] = write.paths(texts)
        filled, step = fill(
            {name: (texts, None) for name, texts in sections.items()}, options.count
        )
        return filled, retrieval.followed_by(step)

    def reader(self, task: str | Task | None = None) -> Task:
        """The task that answers, with the question in front (Eq. 6) unless `question` is "last"."""
        found = super().reader(task)
        return replace(found, template=QUESTION_FIRST) if self.chosen.question == "first" else found

    def collect_nodes(self, keywords: Sequence[str]) -> NodeStep:
        """Nodes of one question: the nearest of each keyword in turn, then the second nearest of
        each, and so on until there are N; with their cosines, in the order found.

        Source: PathRAG, Eq. 1 (eq-1)
        """
        index, count, cutoff = self.entity_index, self.chosen.nodes, self.chosen.cutoff
        found: dict[int, float] = {}
        if keywords:
            places, cosines = index.search(keywords, k=min(count, len(index.labels)))
            for place, cosine in zip(places.T.ravel().tolist(), cosines.T.ravel().tolist()):
                if len(found) < count and (cutoff is None or cosine >= cutoff):
                    found.setdefault(place, cosine)
        nodes = tuple(ScoredNode(index.labels[i], i, cosine) for i, cosine in found.items())
        summary = f"{len(nodes)} nodes for {count_of(keywords, 'keyword')}"
        return NodeStep("node vdb", f"{summary}, the nearest of each in turn", nodes=nodes)

    def find_paths(self, names: Sequence[str]) -> tuple[FlowStep, Sequence[Reliable]]:
        """What the flow from each of the named nodes saw, and all candidate paths with their
        reliability, best first.

        - Eq. 2: S(v), the resource of v, sums alpha * S(u) / out-degree(u) over all u that point
          to v; S(start) = 1.
        - Eq. 3: where S(v) / out-degree(v) < theta, v passes nothing on.
        - Eq. 4: S(P), the reliability of a path, is the sum of S(v) over its nodes, divided by the
          number of its edges.

        Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
        """
        ways, options = self.flow_graph.ways, self.chosen
        about = f"alpha {options.alpha:g}, threshold {options.threshold:g}"
        if options.flow == "edges":  # the released code
            found = edge_flow_paths(ways, names, options.alpha, options.threshold, top_k=10**9)
            summary = f"edge flow, {about}: the better half, {len(found)} paths of at most 3 hops"
            pairs = len({(path[0], path[-1]) for path, _ in found})
            return FlowStep("flow", summary, pairs=pairs), found
        limits = options.per_pair, options.max_paths
        seen = search_paths(ways, names, options.alpha, options.threshold, None, *limits)
        visited, pruned, capped = seen.visited, seen.pruned_starts, seen.capped_starts
        sinks, pairs = sum(not ways[name] for name in names), seen.connected_pairs
        starts, possible = len(names), len(names) * (len(names) - 1)
        summary = (
            f"resource flow, {about}: {visited} nodes visited, {pruned} of {starts} starts pruned"
            f" ({sinks} have no way out), {pairs} of {possible} ordered pairs connected,"
            f" {len(seen.paths)} paths"
        )
        if capped:
            summary += f"; {capped} starts have more paths than were looked at"
        step = FlowStep(
            "flow", summary, pairs=pairs, visited=visited, pruned=pruned, sinks=sinks, capped=capped
        )
        return step, seen.paths

    def choose_paths(self, candidates: Sequence[Reliable], rng: random.Random) -> PathStep:
        """The K paths that enter the prompt, most important first: by reliability, or in the
        ablations at random, or those of fewest hops (random among equals).

        Source: PathRAG, Table 2 (tab-2)
        """
        options, kept = self.chosen, list(candidates)
        if options.ranking != "flow":
            rng.shuffle(kept)
        if options.ranking == "hop-first":
            kept.sort(key=lambda scored: len(scored[0]))
        paths = tuple(ScoredPath(*scored) for scored in kept[: options.top_k])
        directed = options.directed or options.flow == "edges"
        edges = tuple(edges_of(path.nodes, self.flow_graph.edges, directed) for path in paths)
        by = "reliability" if options.ranking == "flow" else options.ranking
        summary = f"{len(paths)} of {len(candidates)} paths, by {by}"
        return PathStep("paths", summary, paths=paths, edges=edges)

    def score_passages(self, found: PathStep) -> ChunkStep:
        """A passage's score sums the reliability of the paths that have an edge read from it."""
        scores = np.zeros(len(self.chunks))
        for path, steps in zip(found.paths, found.edges):
            edges = [self.graph.edges[place] for places in steps for place in places]
            scores[sorted({i for edge in edges for i in edge.chunks})] += path.score
        read = f"the {np.count_nonzero(scores)} passages that {len(found.paths)} paths"
        summary = f"{read} were read from, by the paths' reliability"
        items = top_items(self.labels, scores)
        return ChunkStep("chunk from paths", summary, items, scores=scores)

    def in_order(self, texts: Sequence[str], rng: random.Random) -> list[str]:
        """Texts given most reliable first, in the order of the prompt: "ascending" puts the most
        reliable last.

        Source: PathRAG, Eq. 6 (eq-6)
        """
        texts = list(texts)
        if self.chosen.order == "random":
            rng.shuffle(texts)
        return texts[::-1] if self.chosen.order == "ascending" else texts

    def rng(self, question: str) -> random.Random:
        """What everything random about a question is drawn from: the same in every run and on every
        machine.
        """
        return random.Random(f"{self.chosen.seed}\n{question}")

    @cached_property
    def flow_graph(self) -> FlowGraph:
        """What resource flows over."""
        return flow_graph(self.graph, self.chosen.directed)


class PathRAGLight(PathRAG):
    """PathRAG with half the nodes and a third of the paths.

    Source: PathRAG, PathRAG-lt (lt); PathRAG, Table 5 (tab-5)
    """

    name = "pathrag-lt"
    settings: ClassVar = {"paper": code.LIGHT, "code": {**code.CODE, **code.LIGHT}}
