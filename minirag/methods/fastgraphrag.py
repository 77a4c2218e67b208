"""FastGraphRAG: a walk over a textual knowledge graph, from the entities that a question names and
from those that it is near to.

Follows the survey's row in Table 3, node Link + VDB + PPR, relationship Aggregator, chunk
Aggregator: `score_many` has a call for each. The method has no paper of its own among this kit's;
the survey says what the operators do (Sec. 6.1), and this file reads it so:

- Link gives each entity of the question its nearest node, VDB the question its k nearest nodes.
- PPR's "restart probability of each node is based on its similarity": a named entity's share is
  whole, the question's is divided among its k nodes by similarity, and a node has its largest
  share. Similarity is (1 + cosine) / 2. Shares, maximum, damping and the walk over unweighted edges
  are the released code's, since the survey names none.
- k = 4 (Sec. 7.1) holds for the nodes of VDB, and for the entities, relations and passages of the
  context. A relation's score is "the sum of the two entities it connects", a passage's the sum "of
  all relationships extracted from it": scores go on whole, k cuts only the context.
- The survey's 8,000 tokens (Sec. 7.1) are divided as the released code divides 16,000.
- The graph is the one that GraphRAG's methods build; nobody writes reports, so that indexing costs
  less than theirs.

Official code: circlemind-ai/fast-graphrag, commit 23b3a1b; `follow="code"` does as it does.
Known differences, not reproduced: its prompts, for which the kit's keywords stand (high-level ones
are its generic entities); types printed before names; parallel edges (here a pair has one) and
self-loops; headings of tables, which cost tokens; the fixed answer where nothing is found (here the
reader gets an empty context); identity edges that start at wrong nodes after a later insertion; a
gleaning that never stops early.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self, cast

from ..algorithms.pagerank import Transitions, transition_matrix
from ..algorithms.report_elements import prefixes
from ..algorithms.synonyms import synonymy_pairs
from ..core.corpus import Corpus, Extraction
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import Edge, Graph
from ..core.options import Between, Count, NotNegative, Options, Positive, choose
from ..core.results import Retrieval
from ..core.trace import ChunkStep, EntityStep, FactStep, NodeStep, Step, WalkStep
from ..graphs import Elements, extract_elements, given_elements, textual_knowledge_graph
from ..graphs.textual_graph import NAMES
from ..index import adjacency_matrix, node_index
from ..index.vectors import NodeText, VectorIndex
from ..llm import LLM, load_llm
from ..operators import chunk, node, question, relationship
from ..operators.ranking import keep_best
from ..prompts import Task
from ..text.tokens import TokenCounter, count_tokens
from . import rich_graph as rich
from .base import Sections
from .hipporag_code import Facts

SAME = 0.8, 2  # least cosine of two entities that are one, a similarity of 0.9, and most of each


@dataclass(frozen=True)
class FastOptions(Options):
    """The survey's composition; what it leaves open is the released code's, or GraphRAG's graph.

    node_k: nodes that the question finds.
    link_cutoff, node_cutoff: the least cosine of a linked node, and of one that the question finds;
        None takes all. The code's are similarities of 0.7 and 0.5.
    generic: what the question asks for without a name finds nodes too, as the question does.
    damping: the probability of following an edge.
    weighted: edges are followed by their weights.
    entity_k, entity_floor: entities that are kept, and their least score in the walk.
    relation_k: relations that are kept.
    chunk_k: passages in the context.
    aggregate: relations get the scores of "all" entities and passages those of all relations, or
        of the "kept" ones only.
    identities: an edge "is" between an entity and the two nearest others from cosine 0.8 on.
    node_text: what of a node is encoded (`minirag.index.node_index`).
    entity_budget, relation_budget, text_budget: tokens of the context's parts; what one leaves is
        for the others.
    count: tokenizer, or a function text -> number of tokens.
    names, unknown: which instances are one node, and what becomes of an end that nobody described
        (`minirag.graphs.textual_graph.TextualOptions`).
    summary_from: descriptions of fewer tokens are joined, not summarised.
    gleanings: extra turns of the extraction.
    entity_types, examples: the domain's own types and few-shot pairs (`extract_elements`).
    """

    node_k: Positive = 4
    link_cutoff: float | None = None
    node_cutoff: float | None = None
    generic: bool = False
    damping: Annotated[float, Between(0, 1, below=True)] = 0.85
    weighted: bool = False
    entity_k: Positive | None = 4
    entity_floor: NotNegative = 0.0
    relation_k: Positive | None = 4
    chunk_k: Positive | None = 4
    aggregate: Literal["all", "kept"] = "all"
    identities: bool = False
    node_text: NodeText = "description"
    entity_budget: Count = 2000
    relation_budget: Count = 1500
    text_budget: Count = 4500
    count: TokenCounter = "regex"
    names: Literal["as written", "upper", "normalised"] = "as written"
    unknown: Literal["create", "drop"] = "create"
    summary_from: Count = 0
    gleanings: Count = 1
    entity_types: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()


CODE = {
    "node_k": 20, "link_cutoff": 0.4, "node_cutoff": 0.0, "generic": True, "entity_k": 128,
    "entity_floor": 0.005, "relation_k": 64, "chunk_k": 8, "aggregate": "kept", "identities": True,
    "node_text": "name and description", "entity_budget": 4000, "relation_budget": 3000,
    "text_budget": 9000, "names": "upper", "unknown": "drop", "summary_from": 128, "gleanings": 0,
}  # fmt: skip


class FastGraphRAG(rich.GraphMethod):
    """Passages by the relations that a walk from the question's entities comes to.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """

    name = "fastgraphrag"
    paper = "Survey, Table 3 (FastGraphRAG)"
    graph_type = "textual knowledge"
    index_components = ("Entity",)
    primitive = "Entities in question"
    granularity = ("Entity", "Relationship", "Chunk")
    operators: ClassVar = {
        "node": ("Link", "VDB", "PPR"), "relationship": ("Aggregator",), "chunk": ("Aggregator",),
    }  # fmt: skip
    answer_task = "full_answer"
    options_type = FastOptions
    settings: ClassVar = {"paper": {}, "code": CODE}
    built_with = ("names", "unknown", "summary_from", "gleanings", "entity_types", "examples")
    decided_by: ClassVar = {
        "entity_index": ("node_text",), "relations": ("node_text", "identities"),
        "transition": ("node_text", "identities", "weighted"), "facts": ("node_text", "identities"),
    }  # fmt: skip
    chosen: FastOptions

    def __init__(self, graph: Graph, llm: LLM, encoder: Encoder | str, chosen: FastOptions) -> None:
        if not graph.nodes:
            raise MiniragError("The graph has no node: build it from a text that names something.")
        super().__init__(graph, llm, encoder, chosen)

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: str | Extraction | Elements | None = None, executor: Executor | None = None,
        follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Read a corpus into a textual knowledge graph.

        extraction: None lets `llm` read the text; for the others see `given_elements`. executor:
        any `concurrent.futures.Executor`. follow: "paper" (the default) or "code".
        """
        chosen, llm = choose(FastOptions, cls.settings, follow, options), load_llm(llm)
        if extraction is None:
            elements = extract_elements(
                corpus, llm, gleanings=chosen.gleanings, entity_types=chosen.entity_types,
                examples=chosen.examples, executor=executor,
            )  # fmt: skip
        else:
            elements = given_elements(corpus, extraction, llm, executor)
        graph = textual_knowledge_graph(
            corpus.chunks, elements, llm, call_from=chosen.summary_from, executor=executor,
            names=chosen.names, unknown=chosen.unknown,
        )  # fmt: skip
        return cls(graph, llm, encoder, chosen)

    @cached_property
    def entity_index(self) -> VectorIndex:
        """Every entity as a vector."""
        return cast("VectorIndex", node_index(self.graph, self.encoder, self.chosen.node_text))

    @cached_property
    def relations(self) -> Graph:
        """The graph that is walked; edges of `identities` were read from no passage."""
        edges = tuple(edge for edge in self.graph.edges if edge.kind == "relation")
        if self.chosen.identities:
            same = synonymy_pairs(self.entity_index.vectors, *SAME)
            edges += tuple(Edge(int(i), int(j), "is") for i, j, _ in zip(*same) if i < j)
        return replace(self.graph, edges=edges)

    @cached_property
    def transition(self) -> Transitions:
        """The probabilities of following an edge, out of each node."""
        graph = self.relations
        if not self.chosen.weighted:
            graph = replace(graph, edges=tuple(replace(edge, weight=1.0) for edge in graph.edges))
        return transition_matrix(adjacency_matrix(graph))

    @cached_property
    def facts(self) -> Facts:
        """Which node stands in which relation, and which passage states which."""
        return Facts.of(self.relations)

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """Entities, where the walk starts, the walk, relations, passages: each question's trace.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk)
        """
        options, index = self.chosen, self.entity_index
        # Question conversion (Table 1): the entities in the question.
        named, generic = self.entities(questions)
        # Node: Link. The nearest node of each entity.
        linked = node.link([step.entities for step in named], index)
        linked = [rich.drop_below(step, options.link_cutoff) for step in linked]
        # Node: VDB. The k nodes nearest to the question, and to each thing that it does not name.
        near = self.nearest(questions, generic)
        # Node: PPR. A walk that restarts at these nodes, by their similarity.
        started = node.shares(linked, near, index.labels)
        resets = node.reset_vectors(started, len(index.labels), per="score")
        walked = node.ppr(self.transition, resets, index.labels, options.damping)
        found = keep_best(walked, index.labels, options.entity_k, options.entity_floor)
        # Relationship: Aggregator. A relation gets the scores of its two ends.
        whole, facts = options.aggregate == "all", self.facts
        related = relationship.aggregator(walked if whole else found, facts.nodes, facts.labels)
        best = keep_best(related, facts.labels, options.relation_k)
        # Chunk: Aggregator. A passage gets the scores of the relations that were read from it.
        passages = chunk.aggregator(related if whole else best, facts.passages, self.labels)
        own = zip(named, linked, started, walked, found, related, best, passages)
        return [(*trace[:2], *rows, *trace[2:]) for trace, rows in zip(own, near)]

    def entities(self, questions: Sequence[str]) -> tuple[list[EntityStep], list[Sequence[str]]]:
        """What each question names, written as the graph's names are, and, where `generic` asks for
        it, what it speaks of without a name.
        """
        if self.chosen.generic:
            words = question.keywords(questions, self.llm, "skip")
            named = [EntityStep("entities", step.summary, entities=step.low) for step in words]
            generic: list[Sequence[str]] = [step.high for step in words]
        else:
            named = question.entities(questions, self.llm, script="as written")
            generic = [()] * len(named)
        key = NAMES[self.chosen.names]
        return [replace(s, entities=tuple(map(key, s.entities))) for s in named], generic

    def nearest(
        self, questions: Sequence[str], generic: Sequence[Sequence[str]]
    ) -> list[list[NodeStep]]:
        """For each question the k nodes nearest to it that `node_cutoff` lets pass, and those
        nearest to each thing that it does not name.
        """
        options, texts = self.chosen, [[asked, *more] for asked, more in zip(questions, generic)]
        flat = [text for row in texts for text in row]
        found = iter(node.vdb(flat, self.entity_index, options.node_k))
        return [[rich.drop_below(next(found), options.node_cutoff) for _ in row] for row in texts]

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Entities, relations and passages, best first, each as many as its budget and what the
        others leave of theirs hold.

        Source: Survey, Sec. 6.3 (generation)
        """
        graph, options, trace = self.relations, self.chosen, retrieval.trace
        passages = rich.ranked(trace.last(ChunkStep).scores)[: options.chunk_k]
        nodes, edges = trace.last(WalkStep).scores, trace.last(FactStep).scores
        texts: dict[str, list[str]] = {
            "entities": [rich.entity_row(graph, i) for i in rich.ranked(nodes)],
            "relations": [rich.relation_row(graph, i) for i in rich.ranked(edges)],
            "passages": [self.chunks[i].passage for i in passages],
        }
        sizes = [[count_tokens(text, options.count) for text in rows] for rows in texts.values()]
        budgets = (options.entity_budget, options.relation_budget, options.text_budget)
        used = [sum(row[:most]) for row, most in zip(sizes, prefixes(sizes, budgets))]
        filled, step = rich.fill(dict(zip(texts, zip(texts.values(), used))), options.count)
        return filled, retrieval.followed_by(step)
