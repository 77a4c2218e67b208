"""GraphRAG's local search (the survey's LGraphRAG): from the entities nearest to the question to
their relations, passages and reports.

Follows the survey's row in Table 3, node VDB, relationship Onehop, chunk Occurrence, community
Entity: `score_many` has a line for each. The index is GraphRAG's, Sec. 2.1 to 2.5, and stands in
`global_search.build_index`; the GraphRAG paper itself describes global search only. k = 4 and 8,000
tokens are the survey's (Sec. 7.1). It names no order of relations, no order of sections and no
share of the window for each: the order of relations and the shares are the released code's, the
order of sections is the kit's.

Names in brackets after a section, as (op-node), are rows of the paper map.
Official code: microsoft/graphrag, v3.1.2; `follow="code"` does as it does.
Known differences from the released code, not reproduced: its prompts and the layout of its tables,
whose headings cost tokens there; between relations of the same rank, here the first in the graph
comes first; the history of a conversation.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import ClassVar, Self, cast

from ...core.corpus import Corpus
from ...core.encoder import Encoder
from ...core.options import choose
from ...core.reports import CommunityIndex
from ...core.results import Retrieval
from ...core.trace import ChunkStep, Step
from ...encoders.text_encoders import load_encoder
from ...index.vectors import VectorIndex, node_index
from ...llm import LLM, load_llm
from ...operators import community, node, question, rank
from ...prompts import Task
from ..base import Sections
from .building import INDEX_CODE, CommunityMethod, IndexOptions
from .global_search import GivenElements, GivenReports, build_index
from .local_context import CODE, LocalOptions, LocalTexts, related_edges, source_passages


class GraphRAGLocal(CommunityMethod):
    """Passages around the entities that the question is about, with relations and reports beside
    them in the answer's context.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3); Survey, Sec. 6.1 (op-community)
    """

    name = "graphrag-local"
    paper = "Survey, Table 3 (LGraphRAG)"
    graph_type = "textual knowledge"
    index_components = ("Entity", "Community")
    primitive = "Question vector"
    granularity = ("Entity", "Relationship", "Chunk", "Community")
    operators: ClassVar = {
        "node": ("VDB",),
        "relationship": ("Onehop",),
        "chunk": ("Occurrence",),
        "community": ("Entity",),
    }
    answer_task = "full_answer"
    options_type = LocalOptions
    settings: ClassVar = {"paper": {}, "code": {**INDEX_CODE, **CODE}}
    chosen: LocalOptions

    def __init__(
        self, index: CommunityIndex, llm: LLM, encoder: Encoder | str, chosen: IndexOptions,
        executor: Executor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(index, llm, encoder, chosen, executor)
        self.graph, texts = index.communities.graph, [chunk.passage for chunk in self.chunks]
        self.encoder: Encoder = load_encoder(encoder).fit(texts)

    def __repr__(self) -> str:
        over = f"{self.graph!r} and {len(self.index.reports)} reports"
        made = f"encoder {self.encoder.name}; answers by {self.llm.name}"
        return f"GraphRAGLocal over {over}; {made}"

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: GivenElements = None, reports: GivenReports = None,
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Read elements, build the graph, divide it, write the reports: see
        `global_search.build_index`. executor: any `concurrent.futures.Executor`.
        """
        chosen, llm = choose(cls.options_type, cls.settings, follow, options), load_llm(llm)
        index = build_index(corpus, llm, chosen, extraction, reports, executor, follow)
        return cls(index, llm, encoder, chosen, executor)

    @cached_property
    def node_index(self) -> VectorIndex:
        """The description of every entity, as a vector."""
        return cast("VectorIndex", node_index(self.graph, self.encoder))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question what is chosen around the entities that it is about.

        Source: Survey, Sec. 6.1 (op-node, op-relationship, op-chunk, op-community);
        Survey, Sec. 6.3 (conversion)
        """
        options, graph = self.chosen, self.graph
        # Question conversion: the question as a vector.
        vectors = question.vector(questions, self.encoder)
        # Node: VDB. The entities whose descriptions are nearest to the question.
        entities = node.vdb(vectors, self.node_index, options.node_k)
        # Relationship: Onehop. The relations of these entities, those between two of them first.
        relations = related_edges(entities, graph, options)
        # Chunk: Occurrence. The passages that hold both ends of one of these relations.
        passages = source_passages(entities, relations, graph, self.labels, options.chunk_order)
        # Community: Entity. The reports on the communities that hold these entities.
        reports = community.entity(
            entities, self.index, k=options.community_k, order=options.community_order,
            level=options.level, union=True,
        )  # fmt: skip
        # A trace ends in the step that ranks the passages.
        return list(zip(entities, relations, reports, passages))

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Passages; entities, relations and claims; reports (in the code's order: the reverse): the
        texts that the reader answers from.

        Source: Survey, Sec. 6.3 (generation)
        """
        texts = LocalTexts(self.index, self.chosen)
        sections, step = texts.sections(retrieval.trace, self.passage_texts(retrieval))
        return sections, retrieval.followed_by(step)

    def passage_texts(self, retrieval: Retrieval) -> list[str]:
        """Texts of the passages that scored above 0; of all that were retrieved where none did."""
        if self.chosen.every_passage:
            scores = retrieval.trace.last(ChunkStep).scores
            ranked = rank(scores, len(scores), self.ties)
            return [self.chunks[i].passage for i in ranked if scores[i] > 0]
        found = [p for p in retrieval.passages if p.score > 0] or retrieval.passages
        return [p.chunk.passage for p in found]
