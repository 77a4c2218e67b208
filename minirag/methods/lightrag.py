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
`RichMethod.entity_index`, `relationship_index`). LightRAG's own paper is not among this kit's
papers. What its released codes do instead, and the options that ask for it, stand in
`lightrag_code`.
"""

from collections.abc import Sequence
from typing import ClassVar

from ..core.results import Retrieval
from ..core.trace import ChunkStep, EdgeStep, NodeStep, Step, Trace
from ..operators import chunk, node, question, relationship
from ..prompts.task import Task
from . import lightrag_code as code
from . import rich_graph as rich
from .base import Sections


class _LightRAG(code.ReleasedLightRAG):
    """The survey's two searches, of which a subclass does one or both. `or_released` puts those of
    the released codes in their place where options ask for them.
    """

    granularity = ("Entity", "Relationship", "Chunk")

    @code.or_released
    def local_search(self, low: Sequence[str]) -> list[Trace]:
        """Low-level keywords find entities; their relations and passages come with them.

        low: the low-level keywords of each question, as one text.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk)
        """
        # Node: VDB, the k entities nearest to the keywords.
        entities = node.vdb(low, self.entity_index, self.chosen.top_k)
        # Relationship: Onehop, the relations at these entities.
        relations = relationship.onehop(entities, self.graph)
        # Chunk: Occurrence, the passages that hold both ends of a relation, by how many they hold.
        passages = chunk.occurrence(relations, self.graph, self.labels)
        return list(map(Trace, zip(entities, relations, passages)))

    @code.or_released
    def global_search(self, high: Sequence[str]) -> list[Trace]:
        """High-level keywords find relations; their ends and passages come with them.

        high: the high-level keywords of each question, as one text.

        Source: Survey, Sec. 6.1 (op-relationship, op-node, op-chunk)
        """
        # Relationship: VDB, the k relations nearest to the keywords.
        relations = relationship.vdb(high, self.relationship_index, self.chosen.top_k)
        # Node: FromRel, the ends of these relations. Sec. 6.1 calls the operator RelNode.
        entities = node.from_relationships(relations, self.graph)
        # Chunk: FromRel, the passages that these relations were read from, by their cosines' sum.
        passages = chunk.from_relationships(relations, self.graph, self.labels)
        return list(map(Trace, zip(relations, entities, passages)))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: keywords on two levels, and what they find."""
        # Question conversion (Sec. 6.3): a language model names themes (high-level keywords) and
        # particulars (low-level ones).
        keywords = question.keywords(questions, self.llm, self.chosen.empty)
        low = [", ".join(asked.low) for asked in keywords]
        high = [", ".join(asked.high) for asked in keywords]
        # Retrieval: low-level keywords search locally, high-level ones globally.
        found = self.with_late_passages(questions, self.find(low, high))
        return [Trace((asked, *trace)) for asked, trace in zip(keywords, found)]

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        """What the searches of the method find for the keywords of each question."""
        raise TypeError(f"{type(self).__name__} must write its own find().")

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
        passages = [self.chunks[i].passage for i in code.ranked(trace.last(ChunkStep).scores)]
        # Sec. 7.1 takes the k = 4 best chunks: `chunk_k=4`. By default `text_budget` alone limits
        # them.
        texts = (entities, relations, passages[: options.chunk_k])
        budgets, total = self.budgets(reader or self.reader(), retrieval.question)
        sections = dict(zip(("entities", "relations", "passages"), zip(texts, budgets)))
        filled, step = rich.fill(sections, options.count, total)
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
        return list(map(self.merge, self.local_search(low), self.global_search(high)))

    def merge(self, local: Trace, overall: Trace) -> Trace:
        """The steps of both searches of one question, then the nodes, the relations and the
        passages of both, each once. The survey says "+" and names no order; `merge` chooses one.
        """
        both, order = Trace((*local, *overall)), self.chosen.merge
        nodes = merged_rows(both.all(NodeStep), "node merge", "nodes", order)
        edges = merged_rows(both.all(EdgeStep), "relationship merge", "relations", order)
        ranked = [code.ranked(step.scores) for step in both.all(ChunkStep)]
        if not ranked or self.chosen.mix:  # `with_late_passages` merges the passages
            return Trace((*both, nodes, edges))
        places = code.merged(ranked, order)
        passages = self.in_order(places, "chunk merge", f"merged, {order}")
        return Trace((*both, nodes, edges, passages))


def merged_rows(
    found: Sequence[rich.Found], operator: str, noun: str, order: code.Merge
) -> rich.Found:
    """The nodes or relations of the local and of the global search, each once; those of both keep
    the local score.
    """
    rows = {row.index: row for step in reversed(found) for row in rich.rows_of(step)}
    places = code.merged([[row.index for row in rich.rows_of(step)] for step in found], order)
    how = f"{len(places)} {noun}: local and global merged, {order}"
    return rich.with_rows(found[0], (rows[place] for place in places), how, operator)
