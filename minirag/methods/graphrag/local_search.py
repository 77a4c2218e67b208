"""GraphRAG's local search (the survey's LGraphRAG): from the entities nearest to the question to
their relations, passages and reports.

Official code: microsoft/graphrag, v3.1.2; the paper itself describes global search only. Follows
the survey's row: VDB, Onehop, Occurrence, Entity.
Differs from the released code in: prompts and the layout of its tables, whose headings cost tokens
there; relations that are equal in rank come in the order of the graph; no history of a
conversation.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ...core.errors import MiniragError
from ...core.options import Count, Options, Positive, Probability, route
from ...core.trace import Step
from ...encoders.text_encoders import load_encoder
from ...index.reports import CODE as REPORT_CODE
from ...index.reports import CommunityIndex, ReportChoices
from ...index.vectors import node_index
from ...llm import load_llm
from ...operators import chunk, community, node, question, rank, relationship
from ...text.tokens import TokenCounter, count_tokens
from . import building as parts
from .local_context import LocalTexts


@dataclass(frozen=True)
class LocalChoices(Options):
    """What goes into the context, and how much. The defaults are the survey's composition; `CODE`
    holds what the released code does instead.

    node_k: entities (the survey's k is 4; the code asks for twice its 10 and keeps them all).
    relation_k: relations (None: all, until the budget ends). outside_k: relations to entities
        outside the chosen ones, for each of these (None: all; code: 10). relation_order: "links",
        those between two chosen entities first, then by how many chosen entities the far end is
        related to (survey, code), or "degree", the sum of both ends' degrees, then the weight
        (nano-graphrag).
    community_k: reports (None: all, until the budget ends: code). community_order: "rating"
        (survey), or "hits", the number of chosen entities first (code). level: only reports of
        communities down to this level (None: of all levels; code: 2).
    chunk_order: "occurrence" (survey), or by the first chosen entity that a chunk names, then by
        how many of this entity's relations ("entity", code) or neighbours ("neighbours",
        nano-graphrag) it holds. every_passage: passages enter until the budget ends, however small
        k is (code).
    include_claims: claims about the entities follow the relations (code, where claims were
        extracted).
    fill: entities, relations and claims enter "in order", or "by entity" (code): see
        `LocalTexts.entity_by_entity`.
    section_order: of the context, "passages first", or "reports first" (code), then entities and
        relations, then passages.
    window: tokens of the whole context; report_share and text_share of it go to reports and
        passages, the rest to entities and relations.
    count: tokenizer, or text -> tokens.
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
    count: TokenCounter = "regex"

    def __post_init__(self):
        super().__post_init__()
        if self.report_share + self.text_share > 1:
            raise MiniragError(
                f"report_share {self.report_share:g} and text_share {self.text_share:g}: together they must be at most 1."
            )

    def tokens(self, text):
        return self.count(text) if callable(self.count) else count_tokens(text, self.count)


CODE = {
    "node_k": 20, "outside_k": 10, "community_k": None, "community_order": "hits", "level": 2,
    "chunk_order": "entity", "every_passage": True, "include_claims": True, "fill": "by entity",
    "section_order": "reports first", "window": 12000,
}  # fmt: skip
KINDS = {
    "local": (LocalChoices, CODE),
    "reporting": (ReportChoices, REPORT_CODE),
    "building": (parts.GraphChoices, parts.GRAPH_CODE),
}


class GraphRAGLocal(parts.CommunityMethod):
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
    operators = {
        "node": ("VDB",),
        "relationship": ("Onehop",),
        "chunk": ("Occurrence",),
        "community": ("Entity",),
    }
    answer_task = "full_answer"
    varied = ("local",)

    def __init__(self, index, llm, encoder, chosen):
        super().__init__(index.communities.graph.chunks, llm)
        self.index, self.graph, self.chosen = index, index.communities.graph, chosen
        self.encoder = load_encoder(encoder).fit([c.passage for c in self.chunks])

    def __repr__(self):
        return f"GraphRAGLocal over {self.graph!r} and {len(self.index.reports)} reports; encoder {self.encoder.name}; answers by {self.llm.name}"

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder="minilm",
        extraction=None,
        reports=None,
        executor=None,
        follow="paper",
        **choices,
    ):
        """As `GraphRAGGlobal.build`; **choices: the fields of `LocalChoices`, `ReportChoices` and
        `GraphChoices`.
        """
        chosen, llm = route(follow, choices, **KINDS), load_llm(llm)
        if not isinstance(reports, CommunityIndex):
            graph = parts.graph_of(corpus, llm, extraction, follow, chosen["building"], executor)
            reports = parts.index_of(
                corpus,
                graph,
                llm,
                chosen["building"],
                chosen["reporting"],
                chosen["local"].count,
                executor,
                reports,
            )
        return cls(reports, llm, encoder, chosen)

    @classmethod
    def from_index(cls, index, llm="offline", encoder="minilm", follow="paper", **choices):
        """The method over a `CommunityIndex` that exists already, such as Microsoft's own."""
        return cls(index, load_llm(llm), encoder, route(follow, choices, **KINDS))

    @cached_property
    def node_index(self):
        return node_index(self.graph, self.encoder)

    def score_many(self, questions):
        """Entities by vector, their relations, the reports on their communities, and the passages."""
        c = self.chosen["local"]
        labels = [one.label for one in self.chunks]
        asked = question.vector(questions, self.encoder)
        found = node.vdb(asked, self.node_index, c.node_k)
        related = relationship.onehop(
            found, self.graph, c.relation_k, c.outside_k, c.relation_order
        )
        reports = community.entity(
            found, self.index, c.community_k, c.community_order, c.level, union=True
        )
        if c.chunk_order == "occurrence":
            scored = chunk.occurrence(related, self.graph, labels)
        else:
            counted = {"entity": "relations", "neighbours": "neighbours"}[c.chunk_order]
            scored = chunk.by_entity(found, self.graph, labels, counted)
        return list(zip(found, related, reports, scored))

    def context(self, retrieval, reader=None):
        """`(sections, step)`: name -> texts, each section cut at the first text that its share of
        the window does not hold.

        Source: Survey, Sec. 6.3 (generation)
        """
        c = self.chosen["local"]
        found, related, reports, scored = retrieval.trace[:4]
        texts = LocalTexts(self.index, c)
        shares = {
            "reports": c.report_share,
            "entities and relations": 1 - c.report_share - c.text_share,
            "passages": c.text_share,
        }
        budget = {name: int(c.window * share) for name, share in shares.items()}
        wanted = {"reports": texts.reports(reports), "passages": self._passages(retrieval, scored)}
        around, count = texts.around(found, related, budget["entities and relations"])
        sections = {
            "reports": texts.fitting(wanted["reports"], budget["reports"]),
            "entities and relations": around,
            "passages": texts.fitting(wanted["passages"], budget["passages"]),
        }
        held = {name: len(kept) for name, kept in sections.items()}
        given = {name: len(wanted[name]) if name in wanted else count for name in sections}
        said = [f"{held[name]} of {given[name]} {name} in {budget[name]} tokens" for name in held]
        step = Step("context", "; ".join(said), (), {"sections": held})
        if c.section_order == "passages first":
            sections = dict(reversed(sections.items()))
        return sections, retrieval.followed_by(step)

    def _passages(self, retrieval, scored):
        """Texts of the passages that scored above 0; of all that were retrieved where none did."""
        if self.chosen["local"].every_passage:
            scores = scored.data["scores"]
            ranked = rank(scores, len(scores), self.ties)
            return [self.chunks[i].passage for i in ranked if scores[i] > 0]
        found = [p for p in retrieval.passages if p.score > 0] or retrieval.passages
        return [p.chunk.passage for p in found]
