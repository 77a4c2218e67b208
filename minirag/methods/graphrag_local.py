"""GraphRAG's local search (the survey's LGraphRAG): from the entities nearest to the question to their relations, passages and reports.

Official code: microsoft/graphrag, v3.1.2; the paper itself describes global search only. Follows the survey's row: VDB, Onehop, Occurrence, Entity.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ..algorithms.packing import prefix
from ..choices import Count, Options, Positive, Probability, route
from ..encoders import load_encoder
from ..index.reports import CODE as REPORT_CODE
from ..index.reports import CommunityIndex, ReportChoices
from ..index.vectors import node_index
from ..llm import load_llm
from ..operators import chunk, community, node, relationship
from ..results import Answer, Step
from ..tokens import TokenCounter, count_tokens
from ..utils import MiniragError
from . import graphrag_parts as parts


@dataclass(frozen=True)
class LocalChoices(Options):
    """How much of what goes into the context. The defaults are the survey's composition; `CODE` holds what the released code does instead.

    node_k: entities (the survey's k is 4; the code asks for twice its 10 and keeps them all). relation_k: relations (None: all, until the budget ends).
    community_k: reports. community_order: "rating" (survey), or "hits", the number of chosen entities first (code).
    chunk_order: "occurrence" (survey), or "entity", by the first chosen entity that a chunk names (code).
    window: tokens of the whole context; report_share and text_share of it go to reports and passages, the rest to entities and relations.
    count: tokenizer, or text -> tokens.
    """

    node_k: Positive = 4
    relation_k: Count | None = None
    community_k: Count = 4
    community_order: Literal["rating", "hits"] = "rating"
    chunk_order: Literal["occurrence", "entity"] = "occurrence"
    window: Positive = 8000
    report_share: Probability = 0.15
    text_share: Probability = 0.5
    count: TokenCounter = "regex"

    def __post_init__(self):
        super().__post_init__()
        if self.report_share + self.text_share > 1:
            raise MiniragError(f"report_share {self.report_share:g} and text_share {self.text_share:g}: together they must be at most 1.")

    def tokens(self, text):
        return self.count(text) if callable(self.count) else count_tokens(text, self.count)


CODE = {"node_k": 20, "community_k": 10, "community_order": "hits", "chunk_order": "entity", "window": 12000}
KINDS = {"local": (LocalChoices, CODE), "reporting": (ReportChoices, REPORT_CODE), "building": (parts.GraphChoices, parts.GRAPH_CODE)}


class GraphRAGLocal(parts.CommunityMethod):
    """Passages around the entities that the question is about, with relations and reports beside them in the answer's context.

    Source: Survey, Table 3 (tab-3); Survey, Sec. 6.1 (op-community)
    """

    name = "graphrag-local"
    paper = "Survey, Table 3 (LGraphRAG)"
    graph_type = "textual knowledge"
    index_components = ("Entity", "Community")
    primitive = "Question vector"
    granularity = ("Entity", "Relationship", "Chunk", "Community")
    operators = {"node": ("VDB",), "relationship": ("Onehop",), "chunk": ("Occurrence",), "community": ("Entity",)}

    def __init__(self, index, llm, encoder, chosen):
        super().__init__(index.communities.graph.chunks, llm)
        self.index, self.graph, self.chosen = index, index.communities.graph, chosen
        self.encoder = load_encoder(encoder).fit([c.passage for c in self.chunks])

    def __repr__(self):
        return f"GraphRAGLocal over {self.graph!r} and {len(self.index.reports)} reports; encoder {self.encoder.name}; answers by {self.llm.name}"

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", extraction=None, reports=None, executor=None, follow="paper", **choices):
        """As `GraphRAGGlobal.build`; **choices: the fields of `LocalChoices`, `ReportChoices` and `GraphChoices`."""
        chosen, llm = route(follow, choices, **KINDS), load_llm(llm)
        if not isinstance(reports, CommunityIndex):
            graph = parts.graph_of(corpus, llm, extraction, follow, chosen["building"], executor)
            reports = parts.index_of(corpus, graph, llm, chosen["building"], chosen["reporting"], chosen["local"].count, executor, reports)
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
        labels = [one.title or one.id for one in self.chunks]
        found = node.vdb(questions, self.node_index, c.node_k)
        related = relationship.onehop(found, self.graph, c.relation_k)
        reports = community.entity(found, self.index, c.community_k, c.community_order)
        if c.chunk_order == "entity":
            scored = chunk.by_entity(found, related, self.graph, labels)
        else:
            scored = chunk.occurrence(related, self.graph, labels)
        return list(zip(found, related, reports, scored))

    def context(self, retrieval):
        """`(sections, step)`: name -> texts, each section cut at the first text that its share of the window does not hold.

        Source: Survey, Sec. 6.3 (generation)
        """
        c = self.chosen["local"]
        found, related, reports, _ = retrieval.trace
        entities = [self._entity(i) for _, i, _ in found.data["nodes"]]
        relations = [self._relation(i) for i, _ in related.data["relations"]]
        wanted = {
            "reports": ([self._report(place) for place in reports.data["communities"]], c.report_share),
            "entities and relations": ([*entities, *relations], 1 - c.report_share - c.text_share),
            "passages": ([p.chunk.passage for p in retrieval.passages if p.score > 0] or [p.chunk.passage for p in retrieval.passages], c.text_share),
        }
        sections, said = {}, []
        for name, (texts, share) in wanted.items():
            fit = prefix([c.tokens(text + "\n\n") for text in texts], int(c.window * share))
            sections[name] = texts[:fit]
            said.append(f"{fit} of {len(texts)} {name} in {int(c.window * share)} tokens")
        return sections, Step("context", "; ".join(said), (), {"sections": {name: len(texts) for name, texts in sections.items()}})

    def _entity(self, place):
        one = self.graph.nodes[place]
        return f"{one.name}\n{one.name}{f' ({one.type})' if one.type else ''}: {one.description}"

    def _relation(self, place):
        edge, label = self.graph.edges[place], relationship.label(self.graph, place)
        return f"{label}\n{' '.join(part for part in (edge.name, edge.description) if part) or label}"

    def _report(self, place):
        return f"{self.index.reports[place].title}\n{self.index.reports[place].text}"

    def answer(self, question, k=5):
        """Retrieve, fill the context section by section, and let the language model (or the offline rule) answer from it.

        Source: Survey, Sec. 6.3 (generation)
        """
        retrieval = self.retrieve(question, k)
        sections, step = self.context(retrieval)
        before = self.llm.ledger.snapshot()
        text = self.llm("answer", question=question, passages=[text for name in ("passages", "entities and relations", "reports") for text in sections[name]])
        spent = (self.llm.ledger - before).total
        return Answer(text, self.llm.name, replace(retrieval, trace=(*retrieval.trace, step)), spent.prompt_tokens, spent.completion_tokens)
