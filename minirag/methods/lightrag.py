"""LightRAG: keywords on two levels search a rich knowledge graph by its entities (local), by its
relationships (global), or by both (hybrid).

Its paper is not among this kit's papers, so `follow` names one of three settings:

- "survey", the default: the survey's composition (VDB and Onehop; FromRel and VDB).
- "early": release 0.0.9 of November 2024, whose rules are those of nano-graphrag.
- "late": release 1.4.9.8 of November 2025.

Between these two, release 1.0.5 counts a passage's neighbours over all entities that cite it, and
release 1.1.5 ranks a passage by the last of them. Told, not rebuilt: the early code prints a
relation twice if its two searches name its ends in different orders, and leaves some orders to a
Python set (here they are those of release 1.0.5); the late code may have a model rerank passages.
Tokens are counted on the kit's rows, which have fewer columns than the tables of either code.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat, zip_longest
from typing import ClassVar, TypeVar, cast

from ..core.options import Positive
from ..core.results import Retrieval
from ..core.trace import (
    ChunkStep,
    EdgeStep,
    KeywordStep,
    NodeStep,
    ScoredEdge,
    ScoredNode,
    Step,
    Trace,
)
from ..index import chunk_index
from ..index.vectors import VectorIndex
from ..operators import chunk, node, question, relationship
from ..prompts.task import Task
from . import lightrag_code as code
from .base import Sections
from .rich_graph import RichMethod, drop_below, entity_row, fill, relation_row, search_nonempty

Row = TypeVar("Row", ScoredNode, ScoredEdge)


@dataclass(frozen=True)
class LightOptions(code.LightCodeOptions):
    """The defaults are the survey's; `lightrag_code.SETTINGS` holds what the early and the late
    code do instead.

    top_k: entities (local) and relations (global) that the vectors give.
    """

    top_k: Positive = 4


class _LightRAG(RichMethod):
    """The two searches, of which a subclass does one or both."""

    options_type: ClassVar = LightOptions
    settings = code.SETTINGS
    granularity = ("Entity", "Relationship", "Chunk")
    reused: ClassVar = {**RichMethod.reused, "chunk_index": None}
    chosen: LightOptions

    @cached_property
    def chunk_index(self) -> VectorIndex:
        return cast("VectorIndex", chunk_index(self.chunks, self.encoder))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: keywords, one search or two, and what joins their results."""
        options = self.chosen
        # A language model names keywords on two levels: themes (high) and particulars (low).
        keywords = question.keywords(questions, self.llm, options.empty)
        # The low ones search locally, the high ones globally.
        searches = self.search(keywords)
        traces = [Trace((asked, *chain(*found))) for asked, *found in zip(keywords, *searches)]
        # Hybrid search merges what both found.
        if len(searches) == 2:
            traces = [self.merge(trace) for trace in traces]
        # The late code picks passages last, and may mix in those nearest to the question.
        if self.is_late:
            traces = self.pick_passages(questions, traces)
        return list(traces)

    def search(self, keywords: Sequence[KeywordStep]) -> list[list[Trace]]:
        """Of each search that the method does, the steps of each question."""
        raise NotImplementedError

    def local_search(self, keywords: Sequence[KeywordStep]) -> list[Trace]:
        """Low-level keywords find entities; their relations and passages come with them."""
        graph, options = self.graph, self.chosen
        entities = self.search_entities(keywords)  # node: VDB
        relations = relationship.onehop(entities, graph, order=options.local_order)  # Onehop
        relations = code.cut(relations, graph, options)
        if options.chunk_order == "operator":
            passages = chunk.occurrence(relations, graph, self.labels)  # chunk: Occurrence
        else:
            passages = code.passages_of_entities(entities, graph, self.labels, options)
        passages = code.cut_passages(passages, graph, options)
        return [Trace(filter(None, row)) for row in zip_longest(entities, relations, passages)]

    def global_search(self, keywords: Sequence[KeywordStep]) -> list[Trace]:
        """High-level keywords find relations; their ends and passages come with them."""
        graph, options = self.graph, self.chosen
        nothing = "no high-level keyword, nothing searched"
        relations = self.search_relations(keywords, options.top_k, nothing)  # relationship: VDB
        relations = code.cut(relations, graph, options)
        entities = code.cut(node.from_relationships(relations, graph), graph, options)  # FromRel
        if options.chunk_order == "operator":
            passages = chunk.from_relationships(relations, graph, self.labels)  # chunk: FromRel
        else:
            passages = code.passages_of_relations(relations, graph, self.labels, options)
        passages = code.cut_passages(passages, graph, options)
        return [Trace(filter(None, row)) for row in zip_longest(relations, entities, passages)]

    def search_entities(self, keywords: Sequence[KeywordStep]) -> list[NodeStep]:
        """The entities nearest to the low-level keywords of each question."""
        texts = [", ".join(asked.low) for asked in keywords]
        blank = NodeStep("node vdb", "no low-level keyword, nothing searched", nodes=())
        found = search_nonempty(texts, node.vdb, self.entity_index, self.chosen.top_k, blank)
        return [drop_below(step, self.chosen.cutoff) for step in found]

    def merge(self, trace: Trace) -> Trace:
        """The trace, and the nodes, the relations and the passages of both searches as a step each.
        What both found keeps its local score.
        """
        how = f"merged, {self.chosen.merge}"
        nodes = self.joined([step.nodes for step in trace.all(NodeStep)])
        edges = self.joined([step.edges for step in trace.all(EdgeStep)])
        steps: list[Step] = [
            NodeStep("node merge", f"{len(nodes)} nodes: local and global {how}", nodes=nodes),
            EdgeStep(
                "relationship merge", f"{len(edges)} relations: local and global {how}", edges=edges
            ),
        ]
        if not self.is_late:
            lists = [code.ranked(step.scores) for step in trace.all(ChunkStep)]
            places = code.merged(lists, self.chosen.merge)
            steps.append(code.in_order(places, self.labels, "chunk merge", how))
        return Trace((*trace, *steps))

    def joined(self, found: Sequence[Sequence[Row]]) -> tuple[Row, ...]:
        """The rows of the local and the global search, each node or relation once."""
        local, overall = ({row.index: row for row in rows} for rows in found)
        places = code.merged([list(local), list(overall)], self.chosen.merge)
        return tuple((overall | local)[place] for place in places)

    @property
    def is_late(self) -> bool:
        """Whether passages are picked as the late code does."""
        return self.chosen.mix or self.chosen.chunk_order in code.LATE_ORDERS

    def pick_passages(self, questions: Sequence[str], traces: Sequence[Trace]) -> list[Trace]:
        """The traces with the passages that the late code picks."""
        near: Iterable[ChunkStep | None] = repeat(None)
        if self.chosen.mix or self.chosen.chunk_order == "similarity":
            near = chunk.vdb(question.vector(questions, self.encoder), self.chunk_index)
        return [
            Trace((*trace, *code.late_passages(trace, close, self.graph, self.chosen)))
            for trace, close in zip(traces, near)
        ]

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Entities, relations and passages, each cut at the first text that its budget does not
        hold. reader: the task whose prompt counts (None: `answer_task`).

        Source: Survey, Sec. 6.3 (generation)
        """
        graph, options, trace = self.graph, self.chosen, retrieval.trace
        entities = [entity_row(graph, row.index) for row in trace.last(NodeStep).nodes]
        relations = [relation_row(graph, row.index) for row in trace.last(EdgeStep).edges]
        passages = [self.chunks[i].passage for i in code.ranked(trace.last(ChunkStep).scores)]
        in_context = options.cut == "context"
        sections = {
            "entities": (entities, options.entity_budget if in_context else None),
            "relations": (relations, options.relation_budget if in_context else None),
            "passages": (passages[: options.chunk_k], options.text_budget if in_context else None),
        }
        left = code.left_for_context(reader or self.reader(), retrieval.question, options)
        filled, step = fill(sections, options.count, left)
        return filled, retrieval.followed_by(step)


class LightRAGLocal(_LightRAG):
    """Low-level keywords find entities; their relations and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-local"
    paper = "Survey, Table 3 (LLightRAG)"
    primitive = "Low-level keywords in question"
    operators: ClassVar = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",)}

    def search(self, keywords: Sequence[KeywordStep]) -> list[list[Trace]]:
        return [self.local_search(keywords)]


class LightRAGGlobal(_LightRAG):
    """High-level keywords find relations; their ends and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-global"
    paper = "Survey, Table 3 (GLightRAG)"
    primitive = "High-level keywords in question"
    operators: ClassVar = {"node": ("FromRel",), "relationship": ("VDB",), "chunk": ("FromRel",)}

    def search(self, keywords: Sequence[KeywordStep]) -> list[list[Trace]]:
        return [self.global_search(keywords)]


class LightRAGHybrid(_LightRAG):
    """Both searches, and their results merged.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-hybrid"
    paper = "Survey, Table 3 (HLightRAG)"
    primitive = "Both high- and low-level keywords"
    operators: ClassVar = {
        "node": ("VDB", "FromRel"),
        "relationship": ("Onehop", "VDB"),
        "chunk": ("Occurrence", "FromRel"),
    }

    def search(self, keywords: Sequence[KeywordStep]) -> list[list[Trace]]:
        return [self.local_search(keywords), self.global_search(keywords)]
