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
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal, cast

from ...algorithms.report_elements import prefix
from ...core.encoder import Encoder
from ...core.graph import Claim, Graph
from ...core.reports import CommunityIndex
from ...core.results import Retrieval
from ...core.trace import ChunkStep, CommunityStep, ContextStep, EdgeStep, NodeStep, Step, Trace
from ...encoders.text_encoders import load_encoder
from ...index.contexts import claim_text
from ...index.vectors import VectorIndex, node_index
from ...llm import LLM
from ...operators import chunk, community, node, question, rank, relationship
from ...prompts import Task
from ...text.tokens import count_tokens
from ..base import Sections
from .global_search import CommunityMethod
from .options import INDEX_CODE, LOCAL_CODE, IndexOptions, LocalOptions


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
    settings: ClassVar = {"paper": {}, "code": {**INDEX_CODE, **LOCAL_CODE}}
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


def related_edges(
    entities: Sequence[NodeStep], graph: Graph, options: LocalOptions
) -> list[EdgeStep]:
    """Onehop with the options of a local search."""
    k, outside_k, order = options.relation_k, options.outside_k, options.relation_order
    return relationship.onehop(entities, graph, k, outside_k, order)


def source_passages(
    entities: Sequence[NodeStep], relations: Sequence[EdgeStep], graph: Graph,
    labels: Sequence[str], order: Literal["occurrence", "entity", "neighbours"],
) -> list[ChunkStep]:  # fmt: skip
    """Occurrence, or as released code ranks passages: see `LocalOptions.chunk_order`."""
    if order == "occurrence":
        return chunk.occurrence(relations, graph, labels)
    counted: Literal["relations", "neighbours"] = "relations" if order == "entity" else order
    return chunk.by_entity(entities, graph, labels, counted)


class LocalTexts:
    """Texts of what the steps of a local search chose."""

    def __init__(self, index: CommunityIndex, options: LocalOptions) -> None:
        self.index, self.graph, self.options = index, index.communities.graph, options

    def sections(self, trace: Trace, passages: Sequence[str]) -> tuple[Sections, ContextStep]:
        """The sections of the context in their order, and how many texts of each are held of those
        that were wanted. Each has a share of the window, and ends at the first text that the share
        does not hold.
        """
        options, entities = self.options, trace.last(NodeStep)
        claims = self.claims(entities) if options.include_claims else []
        relations = self.relations(trace.last(EdgeStep))
        wanted = {
            "reports": self.reports(trace.last(CommunityStep)),
            "entities and relations": [*self.entities(entities), *relations, *claims],
            "passages": list(passages),
        }
        rest = 1 - options.report_share - options.text_share
        shares = (options.report_share, rest, options.text_share)
        budgets = {name: int(options.window * share) for name, share in zip(wanted, shares)}
        held = {name: self.fitting(wanted[name], budgets[name]) for name in wanted}
        if options.fill == "by entity":
            middle = "entities and relations"
            held[middle] = self.entity_by_entity(entities, budgets[middle])
        summary = [
            f"{len(texts)} of {len(wanted[name])} {name} in {budgets[name]} tokens"
            for name, texts in held.items()
        ]
        counts = {name: len(texts) for name, texts in held.items()}
        tokens = sum(
            count_tokens(text, options.count) for section in held.values() for text in section
        )
        step = ContextStep("context", "; ".join(summary), sections=counts, tokens=tokens)
        if options.section_order == "passages first":
            held = dict(reversed(held.items()))
        return held, step

    def entities(self, chosen: NodeStep) -> list[str]:
        """Name, type and description of each entity."""
        nodes = [self.graph.nodes[row.index] for row in chosen.nodes]
        kinds = [f" ({node.type})" if node.type else "" for node in nodes]
        return [f"{n.name}\n{n.name}{kind}: {n.description}" for n, kind in zip(nodes, kinds)]

    def relations(self, related: EdgeStep) -> list[str]:
        """Ends, name and description of each relation."""
        texts = []
        for row in related.edges:
            edge, ends = self.graph.edges[row.index], relationship.label(self.graph, row.index)
            described = " ".join(filter(None, (edge.name, edge.description)))
            texts.append(f"{ends}\n{described or ends}")
        return texts

    def claims(self, chosen: NodeStep) -> list[str]:
        """Claims about the entities, entity by entity."""
        about: dict[int, list[Claim]] = {}
        for claim in self.graph.claims:
            about.setdefault(claim.subject, []).append(claim)
        return [self._claim(claim) for row in chosen.nodes for claim in about.get(row.index, ())]

    def _claim(self, claim: Claim) -> str:
        ends = [self.graph.nodes[i].name for i in (claim.subject, claim.object) if i is not None]
        return f"Claim about {' and '.join(ends)}\n{claim_text(claim)}"

    def reports(self, chosen: CommunityStep) -> list[str]:
        """Title and text of each report."""
        listed = [self.index.reports[row.index] for row in chosen.communities]
        return [f"{report.title}\n{report.text}" for report in listed]

    def fitting(self, texts: Sequence[str], budget: int) -> list[str]:
        """The first texts, up to the first that the budget does not hold."""
        return list(texts[: prefix(self._tokens(texts), budget)])

    def entity_by_entity(self, chosen: NodeStep, budget: int) -> list[str]:
        """Entities that fit; then relations and claims of the first entity, of the first two, ...

        As in GraphRAG's released code, each turn chooses the relations anew, and the last turn that
        fits as a whole stands.
        """
        entities, rest = self.fitting(self.entities(chosen), budget), list[str]()
        for count in range(1, len(chosen.nodes) + 1):
            first = replace(chosen, nodes=chosen.nodes[:count])
            (related,) = related_edges([first], self.graph, self.options)
            relations = self.fitting(self.relations(related), budget)
            claims = self.claims(first) if self.options.include_claims else []
            turn = [*relations, *self.fitting(claims, budget)]
            if sum(self._tokens([*entities, *turn])) > budget:
                break
            rest = turn
        return [*entities, *rest]

    def _tokens(self, texts: Sequence[str]) -> list[int]:
        return [count_tokens(text + "\n\n", self.options.count) for text in texts]
