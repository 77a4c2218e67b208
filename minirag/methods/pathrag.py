"""PathRAG: the few most reliable paths between the nodes that a question's keywords find, put into
the prompt as text.

The symbols of the paper: K_q is the keywords of the question q; V_q the N nodes that they find;
S(v) the resource of a node, which passes alpha times its share for each neighbour on, unless that
share is below theta; S(P) the reliability of a path; P_q the K most reliable paths; t_P the text of
a path. `follow="code"` does what the released code does, which `pathrag_code` describes; the graph
is built and indexed as in `rich_graph`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Annotated, ClassVar, Literal

from ..algorithms import flow
from ..core.options import Between, Count, Positive, where
from ..core.results import Retrieval
from ..core.trace import EdgeStep, KeywordStep, NodeStep, PathStep, ScoredNode, Step
from ..index.vectors import NodeText, RelationText
from ..operators import node, question, relationship
from ..operators.ranking import count_of
from ..prompts.task import Task
from . import pathrag_code as code
from .base import Sections
from .pathrag_paths import LAYOUTS, FlowGraph, FlowStep, Lines, flow_graph, score_passages
from .rich_graph import RichMethod, fill, fitting

# Eq. 6: the question q begins the prompt; the paths end it (`prompt_paths`). "Passages" is the word
# of the kit's other prompts; what stands below it are relations and paths.
QUESTION_FIRST = "Question: $question\n\nPassages:\n\n$passages"


@dataclass(frozen=True)
class PathOptions(code.CodeOptions):
    """The defaults are the paper's; where it names none, they are this kit's. `pathrag_code.CODE`
    holds what the released code does instead.

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
    max_paths: Positive = flow.PATHS_A_START
    entity_text: NodeText = "name"
    relation_text: RelationText = "keywords, names, description"
    global_edges: Count | None = None
    ranking: Literal["flow", "random", "hop-first"] = "flow"
    order: Literal["ascending", "descending", "random"] = "ascending"
    question: Literal["first", "last"] = "first"
    prompt: Literal["paths", "flat"] = "paths"
    seed: int = 0


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
    # A row like those of the survey's Table 3, which has none for PathRAG. Its FromRel is
    # `score_passages`, from the relations of the paths; no passage is in the paper's prompt.
    operators: ClassVar = {
        "node": ("VDB",), "relationship": ("VDB",), "subgraph": ("Flow paths",),
        "chunk": ("FromRel",),
    }  # fmt: skip
    options_type = PathOptions
    settings: ClassVar = {"paper": {}, "code": code.CODE}
    pairs = "directed"
    decided_by: ClassVar = {**RichMethod.decided_by, "flow_graph": ("directed",)}
    chosen: PathOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: the paper's Sec. 4.1 and 4.2, which are R(q, G) in Eq. 1.
        Sec. 4.3, the prompt, is `context`.
        """
        found = []
        # Sec. 4.1, node retrieval: a language model names the keywords K_q of each question q.
        keywords = question.keywords(questions, self.llm, self.chosen.empty)
        for text, asked in zip(questions, keywords):
            # V_q: the N nodes whose names are nearest to the keywords.
            nodes = self.retrieve_nodes(keyword_texts(asked, self.chosen))
            # Sec. 4.2, path retrieval: the pool of paths between these nodes, with S(P).
            seen, pool = self.flow_based_pruning([row.label for row in nodes.nodes])
            # P_q: the K most reliable paths of the pool.
            best = self.most_reliable(pool, text)
            paths = code.path_step(best, len(pool), self.flow_graph, self.chosen)
            # Not in the paper: scores of passages.
            found.append((nodes, seen, paths, score_passages(paths, self.graph, self.labels)))
        # Sec. 5.1.3: the high-level keywords also find relations for the prompt.
        relations = self.global_relations(keywords)
        steps = zip(keywords, relations, found)
        return [(asked, nodes, edges, *rest) for asked, edges, (nodes, *rest) in steps]

    def retrieve_nodes(self, keywords: Sequence[str]) -> NodeStep:
        """V_q: the nearest node of each keyword, then the second nearest of each, and so on until
        there are N, with their cosines. The paper iterates over the keywords' embeddings "until a
        predefined number N of nodes is reached"; to take them in turn is this kit's reading.

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

    @where(flow="nodes", otherwise=code.edge_flow)
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

    @where(ranking="flow", otherwise=code.ablated_choice)
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
        """concat([q; t_PK; ...; t_P1]) without q, which `reader` puts before it (Sec. 4.3). Between
        them stand the global relations (Sec. 5.1.3), in the code's setting with their ends,
        passages and the nodes found. The trace gets the number of tokens, which Sec. 5.5 reports.

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

    @where(prompt="paths", order="ascending", otherwise=code.other_prompt)
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

    @where(question="first", otherwise=RichMethod.reader)
    def reader(self, task: str | Task | None = None) -> Task:
        """The task that answers, with q at the beginning of its prompt.

        Source: PathRAG, Eq. 6 (eq-6)
        """
        return replace(super().reader(task), template=QUESTION_FIRST)

    @cached_property
    def flow_graph(self) -> FlowGraph:
        """What resource flows over."""
        return flow_graph(self.graph, self.chosen.directed)


def keyword_texts(keywords: KeywordStep, options: PathOptions) -> list[str]:
    """K_q as the texts that nodes are searched by: each keyword, or all joined into one (code).
    That both levels of keywords are K_q is this kit's reading: the paper does not part them.
    """
    words = dict.fromkeys(keywords.low + (keywords.high if options.levels == "both" else ()))
    return [", ".join(words)] if words and options.search == "joined" else list(words)


class PathRAGLight(PathRAG):
    """PathRAG with half the nodes and a third of the paths.

    Source: PathRAG, PathRAG-lt (lt); PathRAG, Table 5 (tab-5)
    """

    name = "pathrag-lt"
    settings: ClassVar = {"paper": code.LIGHT, "code": {**code.CODE, **code.LIGHT}}
