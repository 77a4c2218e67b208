"""PathRAG: the few most reliable paths between the nodes that a question's keywords find, put into
the prompt as text.

The symbols of the paper: K_q is the keywords of the question q; V_q the N nodes that they find;
S(v) the resource of a node, which passes alpha times its share for each neighbour on, unless that
share is below theta; S(P) the reliability of a path; P_q the K most reliable paths; t_P the text of
a path. `follow="code"` does what the released code does, which `pathrag_code` describes; the graph
is built and indexed as in `rich_graph`.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from ..algorithms import flow
from ..core.results import Retrieval
from ..core.trace import NodeStep, PathStep, ScoredNode, ScoredPath, Step
from ..operators import question, relationship
from ..operators.ranking import count_of
from ..prompts.task import Task
from . import pathrag_code as code
from .base import Sections
from .pathrag_paths import FlowGraph, FlowStep, Reliable, edges_of, flow_graph, score_passages
from .rich_graph import RichMethod, fill, fitting

# With the question in front, the most reliable path ends the prompt.
QUESTION_FIRST = "Question: $question\n\nPassages:\n\n$passages"


class PathRAG(RichMethod):
    """Keywords find nodes, resource flows between them, and the most reliable paths become the
    prompt, the best one last.

    Source: PathRAG, Eq. 1 (eq-1); PathRAG, Sec. 4.1 (sec-4.1); PathRAG, Eq. 2-6 (eq-2, eq-3, eq-4,
    eq-5, eq-6)
    """

    name = "pathrag"
    paper = "PathRAG"
    primitive = "Both high- and low-level keywords"
    granularity = ("Subgraph",)
    operators: ClassVar = {
        "node": ("VDB",), "relationship": ("VDB",), "subgraph": ("Flow paths",),
        "chunk": ("FromRel",),
    }  # fmt: skip
    options_type = code.PathOptions
    settings: ClassVar = {"paper": {}, "code": code.CODE}
    pairs = "directed"
    decided_by: ClassVar = {**RichMethod.decided_by, "flow_graph": ("directed",)}
    chosen: code.PathOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: the paper's Sec. 4.1 and 4.2, which are R(q, G) in Eq. 1.
        Sec. 4.3, the prompt, is `context`.
        """
        options, found = self.chosen, []
        # Sec. 4.1, node retrieval: a language model names the keywords K_q of each question q.
        keywords = question.keywords(questions, self.llm, options.empty)
        for text, asked in zip(questions, keywords):
            # V_q: the N nodes whose names are nearest to the keywords.
            nodes = self.retrieve_nodes(code.keyword_texts(asked, options))
            # Sec. 4.2, path retrieval: the paths between these nodes, with their reliability.
            seen, pool = self.flow_based_pruning([node.label for node in nodes.nodes])
            # P_q: the K most reliable paths of the pool.
            paths = self.choose_paths(pool, self.rng(text))
            found.append((asked, nodes, seen, paths))
        # Sec. 5.1.3: the relations that LightRAG's global search finds join the prompt.
        count = options.nodes if options.global_edges is None else options.global_edges
        high, index = [", ".join(asked.high) for asked in keywords], self.relationship_index
        relations = self.search(high, relationship.vdb, index, count, code.NO_RELATION)
        relations = self.in_global_order(relations)
        return [
            (asked, nodes, edges, seen, paths, score_passages(paths, self.graph, self.labels))
            for (asked, nodes, seen, paths), edges in zip(found, relations)
        ]

    def retrieve_nodes(self, keywords: Sequence[str]) -> NodeStep:
        """V_q: the nearest node of each keyword, then the second nearest of each, and so on until
        there are N, with their cosines. "We then iterate over K_q" leaves the order open; to take
        the keywords in turn is this kit's reading.

        Source: PathRAG, Sec. 4.1 (sec-4.1)
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

    def flow_based_pruning(self, names: Sequence[str]) -> tuple[FlowStep, Sequence[Reliable]]:
        """What the flow saw, and the candidate pool: the paths between the named nodes with their
        reliability, best first.

        Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
        """
        ways, options, searched = self.flow_graph.ways, self.chosen, []
        if options.flow == "edges":
            return code.edge_flow(ways, names, options)
        for start in sorted(names):  # the pairs (start, end) of one start together
            # Eq. 2, S(v): from S(start) = 1 on, a node gives alpha * S / out-degree to each node
            # that it points to, and every S is set once. Eq. 3: where S / out-degree is below
            # theta, a node gives nothing.
            spread = flow.flow_from(ways, start, options.alpha, options.threshold)
            # The paths from start to each other node of V_q along these edges.
            paths, capped = flow.paths_along(spread, names, options.max_paths)
            # Eq. 4, S(P): the sum of S(v) over the nodes of a path, divided by the number of its
            # edges.
            scored = [(path, flow.reliability(path, spread.resource)) for path in paths]
            # The most reliable paths of each pair enter the pool. The paper gives no number; by
            # default all do.
            best = flow.best_of_each_pair(scored, options.per_pair)
            searched.append(flow.StartPaths(spread, best, capped))
        search = flow.PathSearch.pooled(searched)
        sinks, about = sum(not ways[name] for name in names), code.parameters(options)
        return FlowStep.of(search, sinks, len(names), about), search.paths

    def choose_paths(self, pool: Sequence[Reliable], rng: random.Random) -> PathStep:
        """P_q, the K paths that enter the prompt, most important first: by reliability, or in the
        ablations at random, or those of fewest hops (random among equals).

        Source: PathRAG, Table 2 and App. D.1 (tab-2)
        """
        options, kept = self.chosen, list(pool)
        if options.ranking != "flow":
            rng.shuffle(kept)
        if options.ranking == "hop-first":
            kept.sort(key=lambda scored: len(scored[0]))
        paths = tuple(ScoredPath(*scored) for scored in kept[: options.top_k])
        directed = options.directed or options.flow == "edges"
        edges = tuple(edges_of(path.nodes, self.flow_graph.edges, directed) for path in paths)
        by = "reliability" if options.ranking == "flow" else options.ranking
        summary = f"{len(paths)} of {len(pool)} paths, by {by}"
        return PathStep("paths", summary, paths=paths, edges=edges)

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The prompt after the question (Sec. 4.3): global relations, in the code's setting with
        their ends, passages and the nodes found, and last the paths, the most reliable at the very
        end.

        Source: PathRAG, Eq. 5-6 (eq-5, eq-6); PathRAG, Sec. 5.5 (tokens)
        """
        options, found = self.chosen, retrieval.trace.last(PathStep)
        write = code.LAYOUTS[options.layout](self.graph, options.edge_text)
        sections = code.sections_before_paths(retrieval.trace, write, options)
        # Eq. 5: t_P, for each path of P_q the texts of its nodes and edges in their order.
        texts = [write.textual_path(path.nodes, ids) for path, ids in zip(found.paths, found.edges)]
        if options.prompt == "flat":  # the ablation of App. D.2
            texts = write.flat(found, random.Random(options.seed))
        texts = fitting(texts, texts, options.path_budget, options.count)
        # Eq. 6: q; t_PK; ...; t_P1. The most reliable path ends the prompt; `reader` puts q first.
        sections["paths"] = write.paths(self.in_order(texts, self.rng(retrieval.question)))
        unlimited = {name: (texts, None) for name, texts in sections.items()}
        filled, step = fill(unlimited, options.count)
        return filled, retrieval.followed_by(step)

    def reader(self, task: str | Task | None = None) -> Task:
        """The task that answers, with the question in front (Eq. 6) unless `question` is "last".

        Source: PathRAG, Eq. 6 (eq-6)
        """
        found = super().reader(task)
        return replace(found, template=QUESTION_FIRST) if self.chosen.question == "first" else found

    def in_order(self, texts: Sequence[str], rng: random.Random) -> list[str]:
        """Texts given most reliable first, in the order of the prompt: "ascending" puts the most
        reliable last. Texts without the structure of paths stay as they are.

        Source: PathRAG, Eq. 6 (eq-6)
        """
        texts = list(texts)
        if self.chosen.prompt == "flat":
            return texts
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
