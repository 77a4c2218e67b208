"""LightRAG: keywords on two levels search a rich knowledge graph. The survey's Table 3 composes
three methods of its operators:

- local: nodes by VDB, relationships by Onehop, chunks by Occurrence;
- global: relationships by VDB, nodes by FromRel, chunks by FromRel;
- hybrid: both.

Offline, a language model reads the rich knowledge graph (survey, Sec. 4: `rich_graph_of`); its
node index encodes descriptions, its relationship index descriptions with the names of both ends
(Sec. 5: `RichMethod.entity_index`, `relationship_index`). LightRAG's own paper is not among this
kit's papers: what its released codes do instead is described in `lightrag_code`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

from ..core.options import Positive
from ..core.results import Retrieval
from ..core.trace import ChunkStep, EdgeStep, NodeStep, Step, Trace
from ..index import chunk_index
from ..index.vectors import VectorIndex
from ..operators import chunk, node, question, relationship
from ..prompts.task import Task
from . import lightrag_code as code
from . import rich_graph as rich
from .base import Sections


@dataclass(frozen=True)
class LightOptions(code.CodeOptions):
    """The defaults compose the operators as the survey does; `CodeOptions` says which other
    defaults come from released codes, and `lightrag_code.SETTINGS` what the early and the late code
    do instead.

    top_k: k, entities (local) and relations (global) that the vectors give; 4 in the survey's
        Sec. 7.1.
    """

    top_k: Positive = 4


class _LightRAG(rich.RichMethod):
    """The two searches, of which a subclass does one or both."""

    options_type = LightOptions
    settings = code.SETTINGS
    granularity = ("Entity", "Relationship", "Chunk")
    reused: ClassVar = {**rich.RichMethod.reused, "chunk_index": None}
    chosen: LightOptions

    @cached_property
    def chunk_index(self) -> VectorIndex:
        return cast("VectorIndex", chunk_index(self.chunks, self.encoder))

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        """What the keywords of each question find; low, high: its low-level and its high-level
        keywords, each as one text.
        """
        raise TypeError(f"{type(self).__name__} must write its own find().")

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: keywords on two levels, and what they find."""
        options = self.chosen
        # A language model names themes (high-level keywords) and particulars (low-level ones).
        keywords = question.keywords(questions, self.llm, options.empty)
        low = [", ".join(asked.low) for asked in keywords]
        high = [", ".join(asked.high) for asked in keywords]
        # Low-level keywords search locally, high-level ones globally.
        found = self.find(low, high)
        if options.mix or options.chunk_order in code.LATE_ORDERS:  # the late code: passages last
            near = chunk.vdb(question.vector(questions, self.encoder), self.chunk_index)
            found = [code.with_passages(*row, self.graph, options) for row in zip(found, near)]
        return [Trace((asked, *trace)) for asked, trace in zip(keywords, found)]

    def local_search(self, low: Sequence[str]) -> list[Trace]:
        """Low-level keywords find entities; their relations and passages come with them.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk)
        """
        graph, options = self.graph, self.chosen
        # Node: VDB, the entities nearest to the keywords.
        entities = self.search(low, node.vdb, self.entity_index, options.top_k, code.NO_LOW)
        # Relationship: Onehop, the relations at these entities.
        relations = relationship.onehop(entities, graph, order=options.local_order)
        relations = code.cut(relations, graph, options)  # the early code's budget
        # Chunk: Occurrence, the passages that hold both ends of these relations.
        passages = chunk.occurrence(relations, graph, self.labels)
        passages = code.passages_of(entities, passages, graph, options)  # the codes' own
        return code.traces(entities, relations, passages)

    def global_search(self, high: Sequence[str]) -> list[Trace]:
        """High-level keywords find relations; their ends and passages come with them.

        Source: Survey, Sec. 6.1 (op-relationship, op-node, op-chunk)
        """
        graph, options = self.graph, self.chosen
        # Relationship: VDB, the relations nearest to the keywords.
        index = self.relationship_index
        relations = self.search(high, relationship.vdb, index, options.top_k, code.NO_HIGH)
        relations = code.cut(self.in_global_order(relations), graph, options)
        # Node: FromRel, the ends of these relations.
        entities = code.cut(node.from_relationships(relations, graph), graph, options)
        # Chunk: FromRel, the passages that these relations were read from.
        passages = chunk.from_relationships(relations, graph, self.labels)
        passages = code.passages_of(relations, passages, graph, options)  # the codes' own
        return code.traces(relations, entities, passages)

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Entities, relations and passages, each cut at the first text that its budget does not
        hold. The survey takes the k = 4 best chunks; here `chunk_k` limits them, by default only
        `text_budget` does. reader: the task whose prompt `total_budget` counts (None:
        `answer_task`).

        Source: Survey, Sec. 6.3 (generation)
        """
        graph, options, trace = self.graph, self.chosen, retrieval.trace
        entities = [rich.entity_row(graph, row.index) for row in trace.last(NodeStep).nodes]
        relations = [rich.relation_row(graph, row.index) for row in trace.last(EdgeStep).edges]
        passages = [self.chunks[i].passage for i in code.ranked(trace.last(ChunkStep).scores)]
        budgets = (options.entity_budget, options.relation_budget, options.text_budget)
        if options.cut == "search":  # the early code has cut what it found already
            budgets = (None, None, None)
        texts = (entities, relations, passages[: options.chunk_k])
        sections = dict(zip(("entities", "relations", "passages"), zip(texts, budgets)))
        left = code.left_for_context(reader or self.reader(), retrieval.question, options)
        filled, step = rich.fill(sections, options.count, left)
        return filled, retrieval.followed_by(step)


class LightRAGLocal(_LightRAG):
    """Low-level keywords find entities; their relations and passages come with them.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (conversion)
    """

    name = "lightrag-local"
    paper = "Survey, Table 3 (LLightRAG)"
    primitive = "Low-level keywords in question"
    operators: ClassVar = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",)}

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        return self.local_search(low)


class LightRAGGlobal(_LightRAG):
    """High-level keywords find relations; their ends and passages come with them.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (conversion)
    """

    name = "lightrag-global"
    paper = "Survey, Table 3 (GLightRAG)"
    primitive = "High-level keywords in question"
    operators: ClassVar = {"node": ("FromRel",), "relationship": ("VDB",), "chunk": ("FromRel",)}

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        return self.global_search(high)


class LightRAGHybrid(_LightRAG):
    """Both searches, and their results merged.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (conversion)
    """

    name = "lightrag-hybrid"
    paper = "Survey, Table 3 (HLightRAG)"
    primitive = "Both high- and low-level keywords"
    operators: ClassVar = {
        "node": ("VDB", "FromRel"),
        "relationship": ("Onehop", "VDB"),
        "chunk": ("Occurrence", "FromRel"),
    }

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        return [
            code.merge(*both, self.graph, self.chosen)
            for both in zip(self.local_search(low), self.global_search(high))
        ]
