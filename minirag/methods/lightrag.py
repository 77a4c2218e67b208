"""LightRAG, as the survey's Table 3 composes it of its operators: keywords on two levels search a
rich knowledge graph.

| method       | node          | relationship | chunk                |
| ------------ | ------------- | ------------ | -------------------- |
| LLightRAG    | VDB           | Onehop       | Occurrence           |
| GLightRAG    | FromRel       | VDB          | FromRel              |
| HLightRAG    | VDB + FromRel | Onehop + VDB | Occurrence + FromRel |

`local_search` is the first row, `global_search` the second, `LightRAGHybrid` runs both. Offline, a
language model reads the rich knowledge graph (Sec. 4: `rich_graph_of`); its node index encodes
descriptions, its relationship index descriptions with the names of both ends (Sec. 5:
`RichMethod.entity_index`, `relationship_index`).

Where the survey's numbers are: its k = 4 (Sec. 7.1) is `top_k`, for both VDBs. Onehop has no k. The
k of Occurrence and FromRel is `chunk_k` in the answer's context; by default the budget alone limits
passages. The survey has 8,000 tokens for a prompt; here entities, relations and passages have 4,000
each, as in LightRAG's released codes.

LightRAG's own paper is not among this kit's papers. What its released codes do instead, and the
options that ask for it, stand in `lightrag_code`.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, TypeAlias, cast

from ..core.results import Retrieval
from ..core.trace import ChunkStep, EdgeStep, NodeStep, Step, Trace
from ..index import chunk_index
from ..index.vectors import VectorIndex
from ..operators import chunk, node, question, relationship
from ..prompts.task import Task
from . import lightrag_code as code
from . import rich_graph as rich
from .base import Sections

Searches: TypeAlias = "_LightRAG | code.Released"  # what has a local and a global search


class _LightRAG(rich.RichMethod):
    """The survey's two searches, of which a subclass does one or both."""

    granularity = ("Entity", "Relationship", "Chunk")
    options_type = code.LightOptions
    settings = code.SETTINGS
    chosen: code.LightOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: keywords on two levels, and what they find."""
        # Question conversion (Sec. 6.3): a language model names keywords; the two levels are
        # those of Table 1.
        keywords = question.keywords(questions, self.llm, self.chosen.empty)
        low = [", ".join(asked.low) for asked in keywords]
        high = [", ".join(asked.high) for asked in keywords]
        # Retrieval: low-level keywords search locally, high-level ones globally.
        if code.needed(self, low, high):
            released = code.Released(self)
            found = released.with_passages(questions, self.find(low, high, released))
        else:
            found = self.find(low, high, self)
        return [Trace((asked, *trace)) for asked, trace in zip(keywords, found)]

    def find(self, low: Sequence[str], high: Sequence[str], by: Searches) -> list[Trace]:
        """What the searches of the method find for the keywords of each question.

        by: this method, which searches as the survey does, or `Released`, as released codes do.
        """
        raise TypeError(f"{type(self).__name__} must write its own find().")

    def local_search(self, low: Sequence[str]) -> list[Trace]:
        """Low-level keywords find entities; their relations and passages come with them.

        low: the low-level keywords of each question, as one text.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk)
        """
        # Node: VDB, the k entities nearest to the keywords.
        entities = node.vdb(low, self.entity_index, self.chosen.top_k)
        # Relationship: Onehop, all relations at these entities.
        relations = relationship.onehop(entities, self.graph)
        # Chunk: Occurrence, passages scored by how many of these relations they hold both ends of.
        passages = chunk.occurrence(relations, self.graph, self.labels)
        return list(map(Trace, zip(entities, relations, passages)))

    def global_search(self, high: Sequence[str]) -> list[Trace]:
        """High-level keywords find relations; their ends and passages come with them.

        high: the high-level keywords of each question, as one text.

        Source: Survey, Sec. 6.1 (op-relationship, op-node, op-chunk)
        """
        # Relationship: VDB, the k relations nearest to the keywords.
        relations = relationship.vdb(high, self.relationship_index, self.chosen.top_k)
        # Node: FromRel, the ends of these relations. Sec. 6.1 calls the operator RelNode.
        entities = node.from_relationships(relations, self.graph)
        # Chunk: FromRel, the passages that "contain" these relations. The survey gives them no
        # score; the sum of the relations' cosines is this kit's choice.
        passages = chunk.from_relationships(relations, self.graph, self.labels)
        return list(map(Trace, zip(relations, entities, passages)))

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Entities, relations and passages, each cut at the first text that its budget does not
        hold.

        reader: the task whose prompt `total_budget` counts (None: `answer_task`).

        Source: Survey, Sec. 6.3 (generation)
        """
        graph, options, trace = self.graph, self.chosen, retrieval.trace
        entities = [rich.entity_row(graph, row.index) for row in trace.last(NodeStep).nodes]
        relations = [rich.relation_row(graph, row.index) for row in trace.last(EdgeStep).edges]
        passages = [self.chunks[i].passage for i in rich.ranked(trace.last(ChunkStep).scores)]
        sections = {
            "entities": (entities, options.entity_budget),
            "relations": (relations, options.relation_budget),
            "passages": (passages[: options.chunk_k], options.text_budget),
        }
        if options.cut == "search" or options.total_budget is not None:
            reader = reader or self.reader()
            filled, step = code.fill(sections, options, reader, retrieval.question)
        else:
            filled, step = rich.fill(sections, options.count)
        return filled, retrieval.followed_by(step)

    @cached_property
    def chunk_index(self) -> VectorIndex:
        """Every passage as a vector, which the late code alone searches."""
        return cast("VectorIndex", chunk_index(self.chunks, self.encoder))


class LightRAGLocal(_LightRAG):
    """Low-level keywords find entities; their relations and passages come with them.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (conversion)
    """

    name = "lightrag-local"
    paper = "Survey, Table 3 (LLightRAG)"
    primitive = "Low-level keywords in question"
    operators: ClassVar = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",)}

    def find(self, low: Sequence[str], high: Sequence[str], by: Searches) -> list[Trace]:
        return by.local_search(low)


class LightRAGGlobal(_LightRAG):
    """High-level keywords find relations; their ends and passages come with them.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (conversion)
    """

    name = "lightrag-global"
    paper = "Survey, Table 3 (GLightRAG)"
    primitive = "High-level keywords in question"
    operators: ClassVar = {"node": ("FromRel",), "relationship": ("VDB",), "chunk": ("FromRel",)}

    def find(self, low: Sequence[str], high: Sequence[str], by: Searches) -> list[Trace]:
        return by.global_search(high)


class LightRAGHybrid(_LightRAG):
    """Both searches, and their results merged.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (conversion)
    """

    name = "lightrag-hybrid"
    paper = "Survey, Table 3 (HLightRAG)"
    primitive = "Both high- and low-level keywords"
    operators: ClassVar = {
        "node": ("VDB", "FromRel"), "relationship": ("Onehop", "VDB"),
        "chunk": ("Occurrence", "FromRel"),
    }  # fmt: skip

    def find(self, low: Sequence[str], high: Sequence[str], by: Searches) -> list[Trace]:
        # "+": what one search finds, and what the other does.
        return list(map(self.merge, by.local_search(low), by.global_search(high)))

    def merge(self, local: Trace, overall: Trace) -> Trace:
        """The steps of both searches of one question, then the nodes, relations and passages of
        both, each once. The survey names no order; by default they come in turns.
        """
        both, order = Trace((*local, *overall)), self.chosen.merge
        nodes = code.merged_rows(both.all(NodeStep), "node merge", "nodes", order)
        edges = code.merged_rows(both.all(EdgeStep), "relationship merge", "relations", order)
        ranked = code.merged([rich.ranked(step.scores) for step in both.all(ChunkStep)], order)
        passages = code.in_order(ranked, self.labels, "chunk merge", f"merged, {order}")
        return Trace((*both, nodes, edges, passages))
