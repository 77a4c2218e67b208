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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import ClassVar, Literal, cast

from ..core.options import Positive
from ..core.results import Retrieval
from ..core.trace import ChunkStep, EdgeStep, KeywordStep, NodeStep, Step, Trace
from ..index import chunk_index
from ..index.vectors import VectorIndex
from ..operators import chunk, node, question, relationship
from ..prompts.task import Task
from . import lightrag_code as code
from . import rich_graph as rich
from .base import Sections


@dataclass(frozen=True)
class LightOptions(code.CodeOptions):
    """The defaults are the survey's; `lightrag_code.SETTINGS` holds what the early and the late
    code do instead.

    top_k: entities (local) and relations (global) that the vectors give.
    """

    top_k: Positive = 4


class _LightRAG(rich.RichMethod):
    """The two searches, of which a subclass does one or both."""

    options_type = LightOptions
    settings = code.SETTINGS
    granularity = ("Entity", "Relationship", "Chunk")
    reused: ClassVar = {**rich.RichMethod.reused, "chunk_index": None}
    searches: ClassVar[tuple[Literal["local", "global"], ...]]
    chosen: LightOptions

    @cached_property
    def chunk_index(self) -> VectorIndex:
        return cast("VectorIndex", chunk_index(self.chunks, self.encoder))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: keywords on two levels, and what they find."""
        options = self.chosen
        # A language model names themes (high-level keywords) and particulars (low-level ones).
        keywords = question.keywords(questions, self.llm, options.empty)
        # Low-level keywords search locally, high-level ones globally.
        search = {"local": self.local_search, "global": self.global_search}
        searches = [search[name](keywords) for name in self.searches]
        traces = [Trace((asked, *chain(*found))) for asked, *found in zip(keywords, *searches)]
        # Hybrid search merges what both found.
        if len(searches) == 2:
            traces = [Trace((*trace, *self.merge(trace))) for trace in traces]
        # The late code picks passages last, or mixes in those nearest to the question.
        if options.mix or options.chunk_order in code.LATE_ORDERS:
            near = chunk.vdb(question.vector(questions, self.encoder), self.chunk_index)
            picked = [code.late_passages(*row, self.graph, options) for row in zip(traces, near)]
            traces = [Trace((*trace, *passages)) for trace, passages in zip(traces, picked)]
        return list(traces)

    def local_search(self, keywords: Sequence[KeywordStep]) -> list[Trace]:
        """Low-level keywords find entities; their relations and passages come with them."""
        graph, options = self.graph, self.chosen
        # Node: VDB, the entities nearest to the keywords.
        entities = self.search_entities(keywords)
        # Relationship: Onehop, the relations at these entities; the early code cuts them.
        relations = relationship.onehop(entities, graph, order=options.local_order)
        relations = code.cut(relations, graph, options)
        # Chunk: Occurrence, the passages that hold both ends; the codes take others.
        passages = chunk.occurrence(relations, graph, self.labels)
        passages = code.passages_of(entities, passages, graph, options)
        return [Trace(filter(None, row)) for row in zip_longest(entities, relations, passages)]

    def global_search(self, keywords: Sequence[KeywordStep]) -> list[Trace]:
        """High-level keywords find relations; their ends and passages come with them."""
        graph, options = self.graph, self.chosen
        # Relationship: VDB, the relations nearest to the keywords; the early code cuts them.
        nothing = "no high-level keyword, nothing searched"
        relations = self.search_relations(keywords, options.top_k, nothing)
        relations = code.cut(relations, graph, options)
        # Node: FromRel, the ends of these relations, cut likewise.
        entities = node.from_relationships(relations, graph)
        entities = code.cut(entities, graph, options)
        # Chunk: FromRel, the passages that they were read from; the codes take others.
        passages = chunk.from_relationships(relations, graph, self.labels)
        passages = code.passages_of(relations, passages, graph, options)
        return [Trace(filter(None, row)) for row in zip_longest(relations, entities, passages)]

    def search_entities(self, keywords: Sequence[KeywordStep]) -> list[NodeStep]:
        """The entities nearest to the low-level keywords of each question."""
        texts = [", ".join(asked.low) for asked in keywords]
        blank = NodeStep("node vdb", "no low-level keyword, nothing searched", nodes=())
        return self.search(texts, node.vdb, self.entity_index, self.chosen.top_k, blank)

    def merge(self, trace: Trace) -> list[Step]:
        """The nodes, the relations and the passages of both searches, a step each."""
        how = f"merged, {self.chosen.merge}"
        nodes = self.joined(trace.all(NodeStep), "node merge", "nodes")
        edges = self.joined(trace.all(EdgeStep), "relationship merge", "relations")
        lists = [code.ranked(step.scores) for step in trace.all(ChunkStep)]
        if not lists or self.chosen.mix:  # the late code has not picked its passages yet
            return [nodes, edges]
        places = code.merged(lists, self.chosen.merge)
        return [nodes, edges, code.in_order(places, self.graph, "chunk merge", how)]

    def joined(self, found: Sequence[rich.Found], operator: str, noun: str) -> rich.Found:
        """What the local and the global search found, each once, with the local score."""
        local, overall = ({row.index: row for row in rich.rows_of(step)} for step in found)
        places = code.merged([list(local), list(overall)], self.chosen.merge)
        rows = [(overall | local)[place] for place in places]
        how = f"{len(rows)} {noun}: local and global merged, {self.chosen.merge}"
        return rich.with_rows(found[0], rows, how, operator)

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Entities, relations and passages, each cut at the first text that its budget does not
        hold. reader: the task whose prompt counts (None: `answer_task`).

        Source: Survey, Sec. 6.3 (generation)
        """
        graph, options, trace = self.graph, self.chosen, retrieval.trace
        entities = [rich.entity_row(graph, row.index) for row in trace.last(NodeStep).nodes]
        relations = [rich.relation_row(graph, row.index) for row in trace.last(EdgeStep).edges]
        passages = [self.chunks[i].passage for i in code.ranked(trace.last(ChunkStep).scores)]
        in_context = options.cut == "context"
        sections = {
            "entities": (entities, options.entity_budget if in_context else None),
            "relations": (relations, options.relation_budget if in_context else None),
            "passages": (passages[: options.chunk_k], options.text_budget if in_context else None),
        }
        left = code.left_for_context(reader or self.reader(), retrieval.question, options)
        filled, step = rich.fill(sections, options.count, left)
        return filled, retrieval.followed_by(step)


class LightRAGLocal(_LightRAG):
    """Low-level keywords find entities; their relations and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-local"
    paper = "Survey, Table 3 (LLightRAG)"
    primitive = "Low-level keywords in question"
    operators: ClassVar = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",)}

    searches = ("local",)


class LightRAGGlobal(_LightRAG):
    """High-level keywords find relations; their ends and passages come with them.

    Source: Survey, Table 3 (tab-3)
    """

    name = "lightrag-global"
    paper = "Survey, Table 3 (GLightRAG)"
    primitive = "High-level keywords in question"
    operators: ClassVar = {"node": ("FromRel",), "relationship": ("VDB",), "chunk": ("FromRel",)}

    searches = ("global",)


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

    searches = ("local", "global")
