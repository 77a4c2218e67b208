"""PathRAG: the few most reliable paths between the nodes that a question's keywords find, put into
the prompt as text.

The symbols of the paper: K_q is the keywords of the question q; V_q the N nodes that they find;
S(v) the resource of a node, which passes alpha times its share for each neighbour on, unless that
share is below theta; S(P) the reliability of a path; P_q the K most reliable paths; t_P the text of
a path. `follow="code"` does what the released code does, which `pathrag_code` describes; the graph
is built and indexed as in `rich_graph`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import ClassVar

from ..algorithms import flow
from ..core.results import Retrieval
from ..core.trace import EdgeStep, KeywordStep, NodeStep, PathStep, ScoredNode, Step
from ..operators import node, question, relationship
from ..operators.ranking import count_of
from ..prompts.task import Task
from . import pathrag_code as code
from .base import Sections
from .pathrag_paths import LAYOUTS, FlowGraph, FlowStep, Lines, flow_graph, score_passages
from .rich_graph import RichMethod, fill, fitting

# Eq. 6: the question q begins the prompt; the paths end it (`prompt_paths`).
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
        traces: list[Sequence[Step]] = []
        # Sec. 4.1, node retrieval: a language model names the keywords K_q of each question q.
        keywords = question.keywords(questions, self.llm, self.chosen.empty)
        # Sec. 5.1.3: their high levels also find relations for the prompt.
        relations = self.global_relations(keywords)
        for text, asked, edges in zip(questions, keywords, relations):
            # V_q: the N nodes whose names are nearest to the keywords.
            nodes = self.retrieve_nodes(code.keyword_texts(asked, self.chosen))
            # Sec. 4.2, path retrieval: the pool of paths between these nodes, with S(P).
            seen, pool = self.flow_based_pruning([row.label for row in nodes.nodes])
            # P_q: the K most reliable paths of the pool.
            best = self.most_reliable(pool, text)
            paths = code.path_step(best, len(pool), self.flow_graph, self.chosen)
            # Not in the paper: scores of passages.
            passages = score_passages(paths, self.graph, self.labels)
            traces.append((asked, nodes, edges, seen, paths, passages))
        return traces

    def retrieve_nodes(self, keywords: Sequence[str]) -> NodeStep:
        """V_q: the nearest node of each keyword, then the second nearest of each, and so on until
        there are N, with their cosines. "We then iterate over K_q" leaves the order open; to take
        the keywords in turn is this kit's reading.

        Source: PathRAG, Sec. 4.1 (sec-4.1)
        """
        options, index, found = self.chosen, self.entity_index, dict[int, ScoredNode]()
        nearest = self.search(keywords, node.vdb, index, options.nodes, code.NO_NODE)
        for rows in zip_longest(*(step.nodes for step in nearest)):  # a row of each keyword
            for row in filter(None, rows):
                found.setdefault(row.index, row)
        nodes = tuple(found.values())[: options.nodes]
        summary = f"{len(nodes)} nodes for {count_of(keywords, 'keyword')}"
        return NodeStep("node vdb", f"{summary}, the nearest of each in turn", nodes=nodes)

    @code.where(flow="nodes", otherwise=code.edge_flow)
    def flow_based_pruning(self, names: Sequence[str]) -> tuple[FlowStep, Sequence[flow.Scored]]:
        """What the flow saw, and the candidate pool: the paths between the named nodes with their
        reliability, best first. `search_paths` has Eq. 2, 3 and 4 in their order, then the pool of
        the most reliable paths of each pair; the paper gives no number, by default they are all.

        Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
        """
        options = self.chosen
        search = flow.search_paths(
            self.flow_graph.ways, names, options.alpha, options.threshold,
            top_k=None, per_pair=options.per_pair, max_paths=options.max_paths,
        )  # fmt: skip
        return FlowStep.of(search, len(names), code.parameters(options)), search.paths

    @code.where(ranking="flow", otherwise=code.ablated_choice)
    def most_reliable(self, pool: Sequence[flow.Scored], question: str) -> Sequence[flow.Scored]:
        """P_q: the K most reliable paths of the pool, which has the best first (Sec. 4.2)."""
        return pool[: self.chosen.top_k]

    def global_relations(self, keywords: Sequence[KeywordStep]) -> list[EdgeStep]:
        """What LightRAG's global search finds for the high-level keywords of each question (Sec.
        5.1.3).
        """
        options, index = self.chosen, self.relationship_index
        count = options.nodes if options.global_edges is None else options.global_edges
        high = [", ".join(asked.high) for asked in keywords]
        found = self.search(high, relationship.vdb, index, count, code.NO_RELATION)
        return self.in_global_order(found)

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The prompt after the question (Sec. 4.3): global relations, in the code's setting with
        their ends, passages and the nodes found, and last the paths.

        Source: PathRAG, Eq. 5-6 (eq-5, eq-6); PathRAG, Sec. 5.5 (tokens)
        """
        options, trace = self.chosen, retrieval.trace
        write = LAYOUTS[options.layout](self.graph, options.edge_text)
        # Sec. 5.1.3: the global relations stand between the question and the paths.
        sections = code.sections_before_paths(trace, write, options)
        # Eq. 6: after them t_PK; ...; t_P1.
        texts = self.prompt_paths(trace.last(PathStep), write, retrieval.question)
        sections["paths"] = write.paths(texts)
        unlimited = {name: (texts, None) for name, texts in sections.items()}
        filled, step = fill(unlimited, options.count)
        return filled, retrieval.followed_by(step)

    @code.where(prompt="paths", order="ascending", otherwise=code.other_prompt)
    def prompt_paths(self, found: PathStep, write: Lines, question: str) -> list[str]:
        """[t_PK; ...; t_P1], what follows the question q in Eq. 6.

        Source: PathRAG, Eq. 5-6 (eq-5, eq-6)
        """
        # Eq. 5: t_P, for each path of P_q the texts of its nodes and edges in their order.
        texts = write.textual_paths(found)
        # The paper sets no budget of tokens, its code does.
        texts = fitting(texts, texts, self.chosen.path_budget, self.chosen.count)
        # Eq. 6: in ascending order of reliability, so that the most reliable path ends the prompt.
        return texts[::-1]

    @code.where(question="first", otherwise=RichMethod.reader)
    def reader(self, task: str | Task | None = None) -> Task:
        """The task that answers, with q at the beginning of its prompt.

        Source: PathRAG, Eq. 6 (eq-6)
        """
        return replace(super().reader(task), template=QUESTION_FIRST)

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
