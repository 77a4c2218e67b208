"""The pool of operators: the survey's 19, its two new ones, and the question conversions, each as
an `Operator` that says what it takes, gives and needs, and calls the one function that does it.

Source: Survey, Table 3 (tab-3); Survey, App. B.1 (op-new)
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from ..core.options import Between, Count, NotNegative, Positive
from ..core.trace import (
    ChunkStep,
    CommunityStep,
    EdgeStep,
    EntityStep,
    FactStep,
    KeywordStep,
    NodeStep,
    PathStep,
    SteinerStep,
    VectorStep,
    WalkStep,
)  # fmt: skip
from ..graphs.knowledge_graph import Script
from ..index import matrices
from . import chunk, community, node, paths, question, relationship, subgraph
from .operator import GRAPHS, JOINT, KNOWLEDGE, OPERATORS, Operator, Parts, Slot, operator
from .question import Empty

__all__ = ["OPERATORS", "Operator", "Parts"]

Asked = Sequence[str]
Searched = Sequence[VectorStep] | Sequence[KeywordStep]
QUERY = Slot((VectorStep, KeywordStep))
SOME_GRAPH = GRAPHS[1:]
Threshold = Annotated[float, Between(-1, 1)]


def queries(
    searched: Searched, level: Literal["low", "high"]
) -> Sequence[str] | Sequence[VectorStep]:
    """The vectors, or the keywords of a level as one text for each question."""
    texts = [", ".join(getattr(step, level)) for step in searched if isinstance(step, KeywordStep)]
    return texts or [step for step in searched if isinstance(step, VectorStep)]


# Question conversion (Sec. 6.3).


@operator("question Vector", gives=VectorStep)
def question_vector(parts: Parts, asked: Asked) -> list[VectorStep]:
    """The question as a vector."""
    return question.vector(asked, parts.encoder)


@operator("question Entities", gives=EntityStep)
def question_entities(
    parts: Parts, asked: Asked, *, script: Script = "unicode"
) -> list[EntityStep]:
    """The entities that the question names, by the language model."""
    return question.entities(asked, parts.llm, script=script)


@operator("question Keywords", gives=KeywordStep)
def question_keywords(
    parts: Parts, asked: Asked, *, empty: Empty = "question"
) -> list[KeywordStep]:
    """Keywords of the question on two levels, by the language model. Searches of nodes take the
    low-level ones, searches of relations the high-level ones.
    """
    return question.keywords(asked, parts.llm, empty)


# Nodes.


@operator("node VDB", QUERY, gives=NodeStep, index=["Entity"], graphs=SOME_GRAPH)
def node_vdb(parts: Parts, asked: Asked, by: Searched, *, k: Positive = 4) -> list[NodeStep]:
    """The k nodes whose vectors are nearest to the question's, or to its low-level keywords'."""
    return node.vdb(queries(by, "low"), parts.node_index, k)


@operator("node FromRel", EdgeStep, gives=NodeStep, graphs=KNOWLEDGE)
def node_from_rel(parts: Parts, asked: Asked, chosen: Sequence[EdgeStep]) -> list[NodeStep]:
    """The two ends of every chosen relation. Sec. 6.1 calls it RelNode."""
    return node.from_relationships(chosen, parts.graph)


@operator(
    "node PPR", Slot((NodeStep,), several=True), Slot((ChunkStep,), graphs=(JOINT,)),
    gives=WalkStep, index=["Entity"], graphs=(*KNOWLEDGE, JOINT),
)  # fmt: skip
def node_ppr(
    parts: Parts, asked: Asked, seeds: Sequence[Sequence[NodeStep]],
    dense: Sequence[ChunkStep] | None, *, per: node.Per | node.ByScore = "node",
    passage_weight: NotNegative = 0.3, passage_share: NotNegative = 2, power: NotNegative = 2,
    restart_probability: Annotated[float, Between(0, 1, above=True, below=True)] = 0.5,
    specificity: bool = True, synonymy_threshold: Threshold | None = 0.8,
) -> list[WalkStep]:  # fmt: skip
    """Personalised PageRank: the score of every node in a walk that restarts at the nodes of all
    operators before it, each weighted by its specificity; nodes with similar names are joined.
    per: as in `reset_vector`. On a graph of knowledge and passages the walk goes over both, and
    restarts at the scored passages too: the next three options are those of `HippoRAGPassages`.
    """
    weights = parts.specificity if specificity else None
    linked = [node.together(steps) for steps in zip(*seeds)]
    names = parts.node_names
    resets = node.reset_vectors(linked, len(names), weights, per)
    if dense:
        resets = node.restarts(resets, dense, passage_share, power)
        names = names + parts.labels
    transition = parts.transition(synonymy_threshold, passage_weight)
    return node.ppr(transition, resets, names, 1 - restart_probability)


@operator(
    "node Agent", NodeStep, NodeStep, Slot((EdgeStep,), optional=True), gives=NodeStep,
    graphs=KNOWLEDGE,
)  # fmt: skip
def node_agent(
    parts: Parts, asked: Asked, standing: Sequence[NodeStep], offered: Sequence[NodeStep],
    along: Sequence[EdgeStep] | None, *, width: Positive = 3,
) -> list[NodeStep]:  # fmt: skip
    """Of the nodes offered beside those that a walk stands at, the `width` that a language model
    scores highest; where relations stand before it, only nodes that these lead to.
    """
    return node.by_agent(parts.agent, asked, standing, offered, along, width)


@operator("node Onehop", NodeStep, gives=NodeStep, graphs=SOME_GRAPH)
def node_onehop(parts: Parts, asked: Asked, chosen: Sequence[NodeStep]) -> list[NodeStep]:
    """The neighbours of the chosen nodes."""
    return node.onehop(chosen, parts.graph)


@operator("node Link", EntityStep, gives=NodeStep, index=["Entity"], graphs=SOME_GRAPH)
def node_link(parts: Parts, asked: Asked, named: Sequence[EntityStep]) -> list[NodeStep]:
    """For each entity of the question its one nearest node."""
    return node.link([step.entities for step in named], parts.node_index)


@operator("node TF-IDF", gives=NodeStep, index=["Entity"], graphs=SOME_GRAPH)
def node_tfidf(parts: Parts, asked: Asked, *, k: Positive = 4) -> list[NodeStep]:
    """The k nodes that share most with the question by the words of their texts."""
    return node.tfidf(asked, parts.tfidf_index, k)


# Relations.


@operator("relationship VDB", QUERY, gives=EdgeStep, index=["Relationship"], graphs=KNOWLEDGE)
def relationship_vdb(
    parts: Parts, asked: Asked, by: Searched, *, k: Positive = 4,
    text: Literal["with names", "alone"] = "with names",
) -> list[EdgeStep]:  # fmt: skip
    """The k relations whose vectors are nearest to the question's, or to its high-level keywords'.
    text: of a relation "with names" of its ends (the survey), or "alone" (G-Retriever), where all
    that have one of the k highest cosines are taken.
    """
    index = parts.relationship_index if text == "with names" else parts.texts.edge_index
    searched = queries(by, "high")
    if text == "with names":
        return relationship.vdb(searched, index, k)
    # One at a time: a batch finds as many for each as the one with the most equal cosines needs.
    return [relationship.vdb(searched[i : i + 1], index, k)[0] for i in range(len(searched))]


@operator("relationship Onehop", NodeStep, gives=EdgeStep, graphs=KNOWLEDGE)
def relationship_onehop(
    parts: Parts, asked: Asked, chosen: Sequence[NodeStep], *, k: Count | None = None
) -> list[EdgeStep]:
    """The relations at the chosen nodes, those between two of them first."""
    return relationship.onehop(chosen, parts.graph, k)


@operator("relationship Aggregator", WalkStep, gives=FactStep, graphs=KNOWLEDGE)
def relationship_aggregator(
    parts: Parts, asked: Asked, walked: Sequence[WalkStep]
) -> list[FactStep]:
    """The score of every relation: the sum of the scores of its two ends."""
    labels = [relationship.label(parts.graph, edge) for edge in range(len(parts.graph.edges))]
    return relationship.aggregator(walked, parts.facts[0], labels)


@operator("relationship Agent", NodeStep, EdgeStep, gives=EdgeStep, graphs=KNOWLEDGE)
def relationship_agent(
    parts: Parts, asked: Asked, standing: Sequence[NodeStep], offered: Sequence[EdgeStep], *,
    width: Positive = 3,
) -> list[EdgeStep]:  # fmt: skip
    """Of the relations offered at the nodes that a walk stands at, the `width` at each node that a
    language model scores highest.
    """
    return relationship.by_agent(parts.agent, asked, standing, offered, width)


# Chunks.


@operator(
    "chunk Aggregator", Slot((FactStep, WalkStep)), gives=ChunkStep, graphs=(*KNOWLEDGE, JOINT)
)
def chunk_aggregator(
    parts: Parts, asked: Asked, scored: Sequence[FactStep] | Sequence[WalkStep], *,
    counts: matrices.Counts = "text",
) -> list[ChunkStep]:  # fmt: skip
    """The score of every passage: the sum of the scores of the relations read from it. Where only
    nodes were scored, of the nodes, counted as `passage_matrix` says. A walk over passages
    scores them itself.
    """
    if parts.joint:
        return chunk.aggregator(scored, matrices.own_nodes(parts.graph), parts.labels)
    by_facts = isinstance(scored[0], FactStep)
    matrix = parts.facts[1] if by_facts else matrices.passage_matrix(parts.graph, counts)
    return chunk.aggregator(scored, matrix, parts.labels)


@operator("chunk FromRel", EdgeStep, gives=ChunkStep, graphs=KNOWLEDGE)
def chunk_from_rel(parts: Parts, asked: Asked, chosen: Sequence[EdgeStep]) -> list[ChunkStep]:
    """The passages that the chosen relations were read from, by the sum of their scores."""
    return chunk.from_relationships(chosen, parts.graph, parts.labels)


@operator("chunk Occurrence", EdgeStep, gives=ChunkStep, graphs=KNOWLEDGE)
def chunk_occurrence(parts: Parts, asked: Asked, chosen: Sequence[EdgeStep]) -> list[ChunkStep]:
    """The passages that hold both ends of chosen relations, by the number of these."""
    return chunk.occurrence(chosen, parts.graph, parts.labels)


@operator("chunk VDB", VectorStep, gives=ChunkStep, index=["Chunk"])
def chunk_vdb(parts: Parts, asked: Asked, by: Sequence[VectorStep]) -> list[ChunkStep]:
    """The score of every passage: the cosine of its vector and the question's. New in the survey's
    App. B.1.
    """
    return chunk.vdb(by, parts.chunk_index)


# Subgraphs.


@operator("subgraph KhopPath", NodeStep, gives=PathStep, graphs=KNOWLEDGE)
def subgraph_khop_path(
    parts: Parts, asked: Asked, linked: Sequence[NodeStep], *, hops: Positive = 5,
    most: Positive = 5,
) -> list[PathStep]:  # fmt: skip
    """At most `most` paths of at most `hops` relations between the chosen nodes."""
    return paths.khop_path(linked, parts.graph, hops, most)


@operator("subgraph Steiner", NodeStep, EdgeStep, gives=SteinerStep, graphs=KNOWLEDGE)
def subgraph_steiner(
    parts: Parts, asked: Asked, nodes: Sequence[NodeStep], edges: Sequence[EdgeStep], *,
    k_e: Count = 5, edge_cost: NotNegative = 0.5,
) -> list[SteinerStep]:  # fmt: skip
    """The tree that collects the prizes of the chosen nodes and relations, less the cost of its
    edges.
    """
    return subgraph.steiner(nodes, edges, parts.texts, k_e, edge_cost)


@operator("subgraph AgentPath", PathStep, gives=PathStep, graphs=KNOWLEDGE)
def subgraph_agent_path(
    parts: Parts, asked: Asked, found: Sequence[PathStep], *, most: Positive = 5
) -> list[PathStep]:
    """Of the paths those that a language model says help to answer the question, best first."""
    return paths.agent_path(asked, found, parts.graph, parts.llm, most)


# Communities.

TEXTUAL = KNOWLEDGE[1:]


@operator("community Entity", NodeStep, gives=CommunityStep, index=["Community"], graphs=TEXTUAL)
def community_entity(
    parts: Parts, asked: Asked, chosen: Sequence[NodeStep], *, k: Count | None = 4
) -> list[CommunityStep]:
    """The k communities with the highest ratings of those that hold a chosen node."""
    return community.entity(chosen, parts.communities, k)


@operator("community Layer", gives=CommunityStep, index=["Community"], graphs=TEXTUAL)
def community_layer(
    parts: Parts, asked: Asked, *, level: Count = 2, union: bool = False
) -> list[CommunityStep]:
    """All communities of a level, or with `union` down to it, whatever the question."""
    return community.layer(asked, parts.communities, level, union)


@operator("community VDB", VectorStep, gives=CommunityStep, index=["Community"], graphs=TEXTUAL)
def community_vdb(
    parts: Parts, asked: Asked, by: Sequence[VectorStep], *, k: Positive = 4
) -> list[CommunityStep]:
    """The k communities whose reports' vectors are nearest to the question's. New in the survey's
    App. B.1.
    """
    return community.vdb(by, parts.report_index, k=k)
