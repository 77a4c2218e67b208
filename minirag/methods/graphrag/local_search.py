"""GraphRAG's local search (the survey's LGraphRAG): from the entities nearest to the question to
their relations, passages and reports.

Follows the survey's row in Table 3, node VDB, relationship Onehop, chunk Occurrence, community
Entity: `score_many` has a call for each. Offline, the graph is a textual knowledge graph, whose
node index encodes descriptions (Survey, Sec. 5); it and the communities' reports are GraphRAG's,
Sec. 2.1 to 2.5, and stand in `global_search.build_index`. The GraphRAG paper itself describes
global search only.

The survey's k = 4 (Sec. 7.1) holds for "each method requiring top-k selection (e.g., chunks or
entities)". Here 4 is the k of entities and of reports. Passages come by the k that the caller of
`retrieve` gives, 5 by default, which departs from the survey. Relations have no k: `score_many`
takes all of them, and in the context they share 35% of the window with the entities.

The survey's 8,000 tokens (Sec. 7.1) are the language model's maximum length, so the prompt must fit
into them. Here they are the window of the context alone; the instructions and the question come on
top. The survey names no order of relations, no order of sections and no share of the window for
each: the order of relations and the shares are the released code's, the order of sections is the
kit's.

Names in brackets after a section, as (op-node), are rows of the paper map.
Official code: microsoft/graphrag, v3.1.2; `follow="code"` does as it does (`released`).
Known differences from the released code, not reproduced: its prompts and the layout of its tables,
whose headings cost tokens there; between relations of the same rank, here the first in the graph
comes first; the history of a conversation.
"""

from collections.abc import Sequence
from typing import ClassVar

from ...core.graph import Graph
from ...core.results import Retrieval
from ...core.trace import ChunkStep, Step
from ...operators import chunk, community, node, question, rank, relationship
from ...prompts import Task
from ..base import Sections
from . import released as code
from .global_search import CommunityMethod


class LocalMethod(CommunityMethod):
    """A method whose prompt has sections of the elements that its `granularity` names.

    Source: Survey, Sec. 6.3 (generation)
    """

    graph_type = "textual knowledge"
    primitive = "Question vector"
    answer_task = "full_answer"
    options_type: ClassVar[type[code.ContextOptions]] = code.ContextOptions
    chosen: code.ContextOptions

    @property
    def graph(self) -> Graph:
        """The graph that entities and relations are of."""
        return self.index.communities.graph

    def __repr__(self) -> str:
        over = f"{self.graph!r} and {len(self.index.reports)} reports"
        made = f"encoder {self.parts.encoder.name}; answers by {self.llm.name}"
        return f"{type(self).__name__} over {over}; {made}"

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Passages; entities and relations; reports: the texts that the reader answers from. Each
        section has a share of the window, and ends at the first text that the share does not hold.
        Reports have 15% of 8,000 tokens, which is 1,200: a first report that is longer leaves none.

        Source: Survey, Sec. 6.3 (generation)
        """
        texts, passages = code.LocalTexts(self.index, self.chosen), self.passage_texts(retrieval)
        sections, step = texts.sections(retrieval.trace, passages, self.granularity)
        return sections, retrieval.followed_by(step)

    def passage_texts(self, retrieval: Retrieval) -> list[str]:
        """Texts of the k passages that were retrieved."""
        return [p.chunk.passage for p in retrieval.passages]


class GraphRAGLocal(LocalMethod):
    """Passages around the entities that the question is about, with relations and reports beside
    them in the answer's context.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3); Survey, Sec. 6.1 (op-community)
    """

    name = "graphrag-local"
    paper = "Survey, Table 3 (LGraphRAG)"
    index_components = ("Entity", "Community")
    granularity: ClassVar[tuple[str, ...]] = ("Entity", "Relationship", "Chunk", "Community")
    operators: ClassVar = {
        "node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",),
        "community": ("Entity",),
    }  # fmt: skip
    options_type = code.LocalOptions
    settings: ClassVar = {"paper": {}, "code": {**code.INDEX_CODE, **code.LOCAL_CODE}}
    chosen: code.LocalOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question what is chosen around the entities that it is about.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk, op-community);
        Survey, Sec. 6.3 (conversion)
        """
        options, graph = self.chosen, self.graph
        # Question conversion: the question as a vector.
        asked = question.vector(questions, self.parts.encoder)
        # Node: VDB. The k entities whose descriptions are nearest to the question.
        entities = node.vdb(asked, self.parts.node_index, options.node_k)
        # Relationship: Onehop. The relations of these entities, those between two of them first.
        relations = relationship.onehop(entities, graph, *options.onehop)
        # Chunk: Occurrence. Passages, scored by how many of these relations they hold both ends of.
        if options.chunk_order == "occurrence":
            passages = chunk.occurrence(relations, graph, self.labels)
        else:  # as released codes rank them
            counted = code.COUNTED[options.chunk_order]
            passages = chunk.by_entity(entities, graph, self.labels, counted)
        # Community: Entity. The communities that hold one of these entities, sorted by the rating
        # of their reports, the first k.
        reports = community.entity(
            entities, self.index, k=options.community_k, order=options.community_order,
            level=options.level, union=True,
        )  # fmt: skip
        # A trace ends in the step that ranks the passages.
        return list(zip(entities, relations, reports, passages))

    def passage_texts(self, retrieval: Retrieval) -> list[str]:
        """Texts of the k passages that were retrieved, as far as they scored above 0; of all k
        where none did.
        """
        if self.chosen.every_passage:  # the code: all that scored, whatever k is
            scores = retrieval.trace.last(ChunkStep).scores
            ranked = rank(scores, len(scores), self.ties)
            return [self.chunks[i].passage for i in ranked if scores[i] > 0]
        found = [p for p in retrieval.passages if p.score > 0] or retrieval.passages
        return [p.chunk.passage for p in found]
