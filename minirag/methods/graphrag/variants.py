"""The survey's variants of LGraphRAG, and its two new methods: other elements, another search, or
another way to answer, over the same graph, communities and reports.

| method       | node | relationship | chunk      | community | answers by |
| ------------ | ---- | ------------ | ---------- | --------- | ---------- |
| LGraphRAG    | VDB  | Onehop       | Occurrence | Entity    | one prompt |
| GraphRAG-ER  | VDB  | Onehop       |            |           | one prompt |
| GraphRAG-CC  |      |              | Occurrence | Entity    | one prompt |
| VGraphRAG-CC |      |              | VDB        | VDB       | one prompt |
| VGraphRAG    | VDB  | Onehop       | VDB        | VDB       | one prompt |
| CheapRAG     |      |              | VDB        | VDB       | map-reduce |

A method's `granularity` is its row of the survey's Table 9, and decides which sections its prompt
has. `LocalTexts.sections` writes the prompts of all of them: passages first (4,000 tokens), then
entities and relations (2,800), then reports (1,200), 8,000 in all; the share of a section that a
method does not have stays empty. So what two methods both retrieve, they show alike.

The survey's k = 4 (Sec. 7.1) is that of entities and of reports. Passages come by the k that the
caller of `retrieve` or `answer` gives, 5 by default, as in `local_search`; `k=4` is the survey's.

The survey's text names neither the layout of the prompts nor how CheapRAG groups what it read for
its map step. Its code holds none of these methods, so there is no `follow="code"`.

Names in brackets after a section, as (op-node), are rows of the paper map.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...core.options import Count, Positive
from ...core.results import Retrieval
from ...core.trace import CommunityStep, Step
from ...operators import chunk, community, node, question, relationship
from ...prompts import Task
from . import released as code
from .citations import cite, report_units
from .global_search import CommunityMethod, map_reduce
from .local_search import GraphRAGLocal, LocalMethod


class GraphRAGER(LocalMethod):
    """Entities near to the question and their relations; the prompt holds no passage and no report.

    `build` writes reports all the same, as for the others: `from_index` shares them.

    Source: Survey, Table 9 (tab-9); Survey, Sec. 6.1 (op-node, op-relationship)
    """

    name = "graphrag-er"
    paper = "Survey, Table 9 (GraphRAG-ER)"
    index_components = ("Entity",)
    granularity = ("Entity", "Relationship")
    operators: ClassVar = {"node": ("VDB",), "relationship": ("Onehop",)}

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question its entities and relations."""
        asked = question.vector(questions, self.parts.encoder)
        # Node: VDB. The k entities whose descriptions are nearest to the question.
        entities = node.vdb(asked, self.parts.node_index, self.chosen.node_k)
        # Relationship: Onehop. The relations of these entities.
        relations = relationship.onehop(entities, self.graph, *self.chosen.onehop)
        # The passages that these relations were read from: for the metrics, not for the prompt.
        passages = chunk.from_relationships(relations, self.graph, self.labels)
        return list(zip(entities, relations, passages))


class GraphRAGCC(GraphRAGLocal):
    """Reports and passages as LGraphRAG chooses them, through the entities near to the question and
    their relations, which the prompt does not hold.

    `score_many` is LGraphRAG's own.

    Source: Survey, Table 9 (tab-9); Survey, Sec. 6.1 (op-chunk, op-community)
    """

    name = "graphrag-cc"
    paper = "Survey, Table 9 (GraphRAG-CC)"
    granularity = ("Community", "Chunk")
    operators: ClassVar = {"chunk": ("Occurrence",), "community": ("Entity",)}
    settings: ClassVar = {"paper": {}}


class VGraphRAGCC(LocalMethod):
    """Reports and passages near to the question; neither entities nor relations are searched.

    Source: Survey, Table 9 (tab-9); Survey, App. B.1 (op-new)
    """

    name = "vgraphrag-cc"
    paper = "Survey, Table 9 (VGraphRAG-CC)"
    index_components = ("Community", "Chunk")
    granularity = ("Community", "Chunk")
    operators: ClassVar = {"chunk": ("VDB",), "community": ("VDB",)}

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question its reports and passages."""
        asked = question.vector(questions, self.parts.encoder)
        # Community: VDB. The k reports nearest to the question.
        reports = community.vdb(asked, self.parts.report_index, k=self.chosen.community_k)
        # Chunk: VDB. Passages by their nearness to the question.
        passages = chunk.vdb(asked, self.parts.chunk_index)
        return list(zip(reports, passages))


class VGraphRAG(LocalMethod):
    """Entities and relations as LGraphRAG chooses them, reports and passages near to the question,
    all in one prompt.

    Source: Survey, Sec. 7.2 (vgraphrag); Survey, Table 10 (tab-10); Survey, App. B.1 (op-new)
    """

    name = "vgraphrag"
    paper = "Survey, Sec. 7.2 (VGraphRAG)"
    index_components = ("Entity", "Community", "Chunk")
    granularity = ("Entity", "Relationship", "Community", "Chunk")
    operators: ClassVar = {
        "node": ("VDB",), "relationship": ("Onehop",), "chunk": ("VDB",), "community": ("VDB",),
    }  # fmt: skip

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question its entities, relations, reports and passages."""
        asked = question.vector(questions, self.parts.encoder)
        # Node: VDB, and Relationship: Onehop, "the same as LGraphRAG" (Sec. 7.2).
        entities = node.vdb(asked, self.parts.node_index, self.chosen.node_k)
        relations = relationship.onehop(entities, self.graph, *self.chosen.onehop)
        # Community: VDB, and Chunk: VDB, "the same as VGraphRAG-CC" (Sec. 7.2).
        reports = community.vdb(asked, self.parts.report_index, k=self.chosen.community_k)
        passages = chunk.vdb(asked, self.parts.chunk_index)
        return list(zip(entities, relations, reports, passages))


@dataclass(frozen=True)
class CheapOptions(code.MapReduceOptions, code.IndexOptions):
    """How the index is built, how many reports are chosen, and how reports and passages are read.

    community_k: reports (None: all).
    per_window: reports and passages in a map prompt, at most. The survey does not say how it groups
        them. 1: each is answered from by itself; None: as many as a window holds.
    """

    community_k: Count | None = 4
    per_window: Positive | None = 1


class CheapRAG(CommunityMethod):
    """Reports and passages near to the question, each answered from by itself, and the partial
    answers merged into one.

    `shuffle_and_pack` groups them: one in a prompt, or with `per_window=None` as many as a window
    holds. The option `resort` does nothing.

    Source: Survey, Sec. 7.3 (cheaprag); Survey, App. B.1 (op-new)
    """

    name = "cheaprag"
    paper = "Survey, Sec. 7.3 (CheapRAG)"
    graph_type = "textual knowledge"
    index_components = ("Community", "Chunk")
    primitive = "Question vector"
    granularity = ("Community", "Chunk")
    operators: ClassVar = {"chunk": ("VDB",), "community": ("VDB",)}
    answer_task = "reduce_answer"
    options_type = CheapOptions
    chosen: CheapOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question its reports and passages, as VGraphRAG-CC chooses them."""
        asked = question.vector(questions, self.parts.encoder)
        reports = community.vdb(asked, self.parts.report_index, k=self.chosen.community_k)
        passages = chunk.vdb(asked, self.parts.chunk_index)
        return list(zip(reports, passages))

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """Map-reduce over the chosen reports and the k passages: a call for each window, and one
        that merges the answers, unless none scored above 0.

        Source: Survey, Sec. 7.3 (cheaprag); Survey, Sec. 6.3 (generation)
        """
        places, reports = report_units(self.index, retrieval.trace.last(CommunityStep).communities)
        units = [*reports, *((p.id, p.chunk.passage) for p in retrieval.passages)]
        read = "reports and passages"
        reduced = map_reduce(self.llm, retrieval.question, units, self.chosen, read, self.executor)
        text, behind = cite(self.index, places, reduced, self.llm.is_model)
        return text, retrieval.followed_by(*reduced.steps, behind)
