"""GraphRAG's local search (the survey's LGraphRAG): from the entities nearest to the question to
their relations, claims, reports and passages.

Official code: microsoft/graphrag, v3.1.2; the paper itself describes global search only. Follows
the survey's row: VDB, Onehop, Occurrence, Entity.
Differs from the released code in: prompts and the layout of its tables, whose headings cost tokens
there; relations that are equal in rank come in the order of the graph; no history of a
conversation.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self, cast

from ...core.corpus import Corpus
from ...core.encoder import Encoder
from ...core.errors import MiniragError
from ...core.options import Count, Positive, Probability, choose
from ...core.reports import CommunityIndex
from ...core.results import Retrieval
from ...core.trace import ChunkStep, CommunityStep, ContextStep, EdgeStep, NodeStep, Step
from ...encoders.text_encoders import load_encoder
from ...index.vectors import VectorIndex, node_index
from ...llm import LLM, load_llm
from ...operators import chunk, community, node, question, rank, relationship
from ...prompts import Task
from ...text.tokens import count_tokens
from ..base import Sections
from .building import INDEX_CODE, CommunityMethod, IndexOptions
from .global_search import GivenElements, GivenReports, build_index
from .local_context import LocalTexts


@dataclass(frozen=True)
class LocalOptions(IndexOptions):
    """How the index is built, what goes into the context, and how much. The defaults are the
    survey's composition; `CODE` holds what the released code does instead.

    node_k: entities (the survey's k is 4; the code asks for twice its 10 and keeps them all).
    relation_k: relations (None: all, until the budget ends).
    outside_k: relations to entities outside the chosen ones, for each of these (None: all; code:
        10).
    relation_order: "links", those between two chosen entities first, then by how many chosen
        entities the far end is related to (survey, code), or "degree", the sum of both ends'
        degrees, then the weight (nano-graphrag).
    community_k: reports (None: all, until the budget ends: code).
    community_order: "rating" (survey), or "hits", the number of chosen entities first (code).
    level: only reports of communities down to this level (None: of all levels; code: 2).
    chunk_order: "occurrence" (survey), or by the first chosen entity that a chunk names, then by
        how many of this entity's relations ("entity", code) or neighbours ("neighbours",
        nano-graphrag) it holds.
    every_passage: passages enter until the budget ends, however small k is (code).
    include_claims: claims about the entities follow the relations (code, where claims were
        extracted).
    fill: entities, relations and claims enter "in order", or "by entity" (code): see
        `LocalTexts.entity_by_entity`.
    section_order: of the context, "passages first", or "reports first" (code), then entities and
        relations, then passages.
    window: tokens of the whole context.
    report_share, text_share: what of the window goes to reports and to passages; the rest goes to
        entities and relations.
    """

    node_k: Positive = 4
    relation_k: Count | None = None
    outside_k: Count | None = None
    relation_order: Literal["links", "degree"] = "links"
    community_k: Count | None = 4
    community_order: Literal["rating", "hits"] = "rating"
    level: Count | None = None
    chunk_order: Literal["occurrence", "entity", "neighbours"] = "occurrence"
    every_passage: bool = False
    include_claims: bool = False
    fill: Literal["in order", "by entity"] = "in order"
    section_order: Literal["passages first", "reports first"] = "passages first"
    window: Positive = 8000
    report_share: Probability = 0.15
    text_share: Probability = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.report_share + self.text_share > 1:
            raise MiniragError(
                f"report_share {self.report_share:g} and text_share {self.text_share:g}: together"
                " they must be at most 1."
            )


CODE: Mapping[str, object] = {
    "node_k": 20, "outside_k": 10, "community_k": None, "community_order": "hits", "level": 2,
    "chunk_order": "entity", "every_passage": True, "include_claims": True, "fill": "by entity",
    "section_order": "reports first", "window": 12000,
}  # fmt: skip


class GraphRAGLocal(CommunityMethod):
    """Passages around the entities that the question is about, with relations and reports beside
    them in the answer's context.

    Source: Survey, Table 3 (tab-3); Survey, Sec. 6.1 (op-community)
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
        """For each question what is chosen around the entities that it is about."""
        # The entities whose descriptions are nearest to the question.
        asked = question.vector(questions, self.encoder)
        found = node.vdb(asked, self.node_index, self.chosen.node_k)
        # Their relations, those between two of them first. Their claims are read with the context.
        related = self.relations(found)
        # The reports on the communities that hold them.
        reports = self.reports(found)
        # The passages (text units) that they and their relations were read from.
        scored = self.passages(found, related)
        return list(zip(found, related, reports, scored))

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """Reports; entities, relations and claims; passages: the texts that the reader answers
        from.

        Source: Survey, Sec. 6.3 (generation)
        """
        options, trace = self.chosen, retrieval.trace
        texts, found = LocalTexts(self.index, options.count), trace.last(NodeStep)
        wanted = {
            "reports": texts.reports(trace.last(CommunityStep)),
            "entities and relations": texts.entities(found) + texts.relations(trace.last(EdgeStep)),
            "passages": self.passage_texts(retrieval),
        }
        if options.include_claims:
            wanted["entities and relations"] += texts.claims(found)
        # Each section has a share of the window, and ends at the first text that it does not hold.
        rest = 1 - options.report_share - options.text_share
        shares = (options.report_share, rest, options.text_share)
        budgets = {name: int(options.window * share) for name, share in zip(wanted, shares)}
        held = {name: texts.fitting(wanted[name], budgets[name]) for name in wanted}
        if options.fill == "by entity":
            held["entities and relations"] = texts.entity_by_entity(
                found, budgets["entities and relations"], self.relations, options.include_claims
            )
        step = self._step(held, wanted, budgets)
        if options.section_order == "passages first":
            held = dict(reversed(held.items()))
        return held, retrieval.followed_by(step)

    def relations(self, found: Sequence[NodeStep]) -> list[EdgeStep]:
        """Onehop: the relations at the entities, in the order that was chosen."""
        options = self.chosen
        return relationship.onehop(
            found, self.graph, options.relation_k, options.outside_k, options.relation_order
        )

    def reports(self, found: Sequence[NodeStep]) -> list[CommunityStep]:
        """Entity: the reports on the communities of the entities, in the order that was chosen."""
        options = self.chosen
        k, order = options.community_k, options.community_order
        return community.entity(found, self.index, k, order, options.level, union=True)

    def passages(self, found: Sequence[NodeStep], related: Sequence[EdgeStep]) -> list[ChunkStep]:
        """Occurrence: the passages that hold both ends of a relation; or, as released code has it,
        those of the first entity, then of the second.
        """
        if self.chosen.chunk_order == "occurrence":
            return chunk.occurrence(related, self.graph, self.labels)
        counted: Literal["relations", "neighbours"] = "relations"
        if self.chosen.chunk_order == "neighbours":
            counted = "neighbours"
        return chunk.by_entity(found, self.graph, self.labels, counted)

    def passage_texts(self, retrieval: Retrieval) -> list[str]:
        """Texts of the passages that scored above 0; of all that were retrieved where none did."""
        if self.chosen.every_passage:
            scores = retrieval.trace.last(ChunkStep).scores
            ranked = rank(scores, len(scores), self.ties)
            return [self.chunks[i].passage for i in ranked if scores[i] > 0]
        found = [p for p in retrieval.passages if p.score > 0] or retrieval.passages
        return [p.chunk.passage for p in found]

    def _step(self, held: Sections, wanted: Sections, budgets: Mapping[str, int]) -> ContextStep:
        """How many texts of each section are held, and how many were wanted."""
        counts = {name: len(texts) for name, texts in held.items()}
        said = [
            f"{count} of {len(wanted[name])} {name} in {budgets[name]} tokens"
            for name, count in counts.items()
        ]
        texts = [text for section in held.values() for text in section]
        tokens = sum(count_tokens(text, self.chosen.count) for text in texts)
        return ContextStep("context", "; ".join(said), sections=counts, tokens=tokens)
