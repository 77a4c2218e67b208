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

The survey gives k = 4 to every top-k choice (Sec. 7.1): `top_k` is that of both VDBs; Onehop and
FromRel have no k. Where the defaults depart from the survey, or fill what it leaves open:

- Passages: Occurrence "selects the top-k chunks" (Sec. 6.1), so the survey's k = 4 holds for it.
  Here `chunk_k` is None: the budget alone limits the passages of either search in the context.
- Tokens: the survey's 8,000 (Sec. 7.1) are the language model's maximum length, so the prompt must
  fit into them. Here entities, relations and passages have 4,000 each, as in LightRAG's early code,
  and three times 4,000 is more than the survey's 8,000.
- Left open by the survey, chosen here: the order of Onehop's relations (GraphRAG's code), the score
  of FromRel's passages (the sum of cosines), the order of the merge, and what an empty level
  searches (the question).

LightRAG's own paper is not among this kit's papers. What its released codes do instead, and the
options that ask for it, stand in `lightrag_code`. Names in brackets after a section, as (op-node),
are rows of the paper map.
"""

from collections.abc import Sequence
from typing import ClassVar

from ..core.options import where
from ..core.results import Retrieval
from ..core.trace import ChunkStep, EdgeStep, NodeStep, Step, Trace
from ..operators import chunk, node, question, relationship
from ..prompts.task import Task
from . import lightrag_code as code
from . import rich_graph as rich
from .base import Sections


class _LightRAG(code.Released):
    """The survey's keywords, two searches and context; a subclass does one search or both. What
    released codes do instead is inherited, and runs where an option asks for it.
    """

    granularity = ("Entity", "Relationship", "Chunk")

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The trace of each question: keywords on two levels, and what they find."""
        # Question conversion (Sec. 6.3): keywords, named by a language model, on the two levels of
        # Table 1. A level without any is searched by the question, unless `empty` says otherwise.
        keywords = question.keywords(questions, self.llm, self.chosen.empty)
        low = [", ".join(asked.low) for asked in keywords]
        high = [", ".join(asked.high) for asked in keywords]
        # Retrieval: low-level keywords search locally, high-level ones globally.
        found = self.find(low, high)
        found = self.with_passages(questions, found)  # only where an option of the late code asks
        return [Trace((asked, *trace)) for asked, trace in zip(keywords, found)]

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Entities, relations and passages, each cut at the first text that its budget does not
        hold.

        Source: Survey, Sec. 6.3 (generation)
        """
        graph, options, trace = self.graph, self.chosen, retrieval.trace
        entities = [rich.entity_row(graph, row.index) for row in trace.last(NodeStep).nodes]
        relations = [rich.relation_row(graph, row.index) for row in trace.last(EdgeStep).edges]
        passages = [self.chunks[i].passage for i in rich.ranked(trace.last(ChunkStep).scores)]
        sections: code.Budgeted = {
            "entities": (entities, options.entity_budget),
            "relations": (relations, options.relation_budget),
            "passages": (passages[: options.chunk_k], options.text_budget),
        }
        sections, total = self.budgets(sections, retrieval.question, reader)  # of released codes
        filled, step = rich.fill(sections, options.count, total)
        return filled, retrieval.followed_by(step)

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        """What the searches of the method find for the keywords of each question."""
        raise TypeError(f"{type(self).__name__} must write its own find().")

    @where(**code.SURVEY, otherwise=code.Released.local_search)
    def local_search(self, low: Sequence[str]) -> list[Trace]:
        """Low-level keywords find entities; their relations and passages come with them.

        low: the low-level keywords of each question, as one text.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk)
        """
        # Node: VDB, the k entities nearest to the keywords.
        entities = self.search(low, node.vdb, self.entity_index, self.chosen.top_k, rich.NO_LOW)
        # Relationship: Onehop, read as all relations at these entities. The survey names no order;
        # that of GraphRAG's code, by "links", decides which of them the context's budget cuts.
        relations = relationship.onehop(entities, self.graph)
        # Chunk: Occurrence, passages scored by how many of these relations they hold both ends of.
        passages = chunk.occurrence(relations, self.graph, self.labels)
        return list(map(Trace, zip(entities, relations, passages)))

    @where(**code.SURVEY, otherwise=code.Released.global_search)
    def global_search(self, high: Sequence[str]) -> list[Trace]:
        """High-level keywords find relations; their ends and passages come with them.

        high: the high-level keywords of each question, as one text.

        Source: Survey, Sec. 6.1 (op-relationship, op-node, op-chunk)
        """
        # Relationship: VDB, the k relations nearest to the keywords.
        index, k = self.relationship_index, self.chosen.top_k
        relations = self.search(high, relationship.vdb, index, k, rich.NO_HIGH)
        # Node: FromRel, the ends of these relations. Sec. 6.1 calls the operator RelNode.
        entities = node.from_relationships(relations, self.graph)
        # Chunk: FromRel, the passages that "contain" these relations. The survey gives them no
        # score; the sum of the relations' cosines is this kit's choice.
        passages = chunk.from_relationships(relations, self.graph, self.labels)
        return list(map(Trace, zip(relations, entities, passages)))


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
        "node": ("VDB", "FromRel"), "relationship": ("Onehop", "VDB"),
        "chunk": ("Occurrence", "FromRel"),
    }  # fmt: skip

    def find(self, low: Sequence[str], high: Sequence[str]) -> list[Trace]:
        # "+": what one search finds, and what the other does.
        return list(map(self.merge, self.local_search(low), self.global_search(high)))

    def merge(self, local: Trace, overall: Trace) -> Trace:
        """The steps of both searches of one question, then the nodes, relations and passages of
        both, each once. The survey names no order; by default they come in turns.
        """
        both, order = Trace((*local, *overall)), self.chosen.merge
        nodes = union(both.all(NodeStep), "node merge", "nodes", order)
        edges = union(both.all(EdgeStep), "relationship merge", "relations", order)
        ranked = rich.merged([rich.ranked(step.scores) for step in both.all(ChunkStep)], order)
        passages = rich.in_order(ranked, self.labels, "chunk merge", f"merged, {order}")
        return Trace((*both, nodes, edges, passages))


def union(found: Sequence[rich.Found], operator: str, noun: str, order: rich.Merge) -> rich.Found:
    """The nodes or relations of both searches, each once; those of both keep the local score."""
    rows = {row.index: row for step in reversed(found) for row in rich.rows_of(step)}
    places = rich.merged([[row.index for row in rich.rows_of(step)] for step in found], order)
    how = f"{len(places)} {noun}: local and global merged, {order}"
    return rich.with_rows(found[0], (rows[place] for place in places), how, operator)
