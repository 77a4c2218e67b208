"""Operators that choose chunks. Each takes a batch of questions and returns one step a question.

Source: Survey, Sec. 6.1 (op-chunk)
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import sparse

from ..core.graph import Graph
from ..core.trace import ChunkStep, EdgeStep, FactStep, NodeStep, Vector, WalkStep
from ..index.vectors import Queries, TextIndex
from .ranking import min_max, top_items


def scored_step(operator: str, summary: str, labels: Sequence[str], scores: Vector) -> ChunkStep:
    """The step of an operator that gives every chunk a score, (chunks,)."""
    return ChunkStep(operator, summary, top_items(labels, scores), scores=scores)


def aggregator(
    steps: Sequence[WalkStep | FactStep],
    matrix: sparse.sparray,
    labels: Sequence[str],
    summary: str = "each passage gets the scores of what was read from it",
) -> list[ChunkStep]:
    """Aggregator: a chunk's score is the sum of the scores of the relations (or nodes) read from
    it.

    `matrix` is (chunks, relations) or (chunks, nodes).

    Source: Survey, Sec. 6.1 (op-chunk); Wang, Sec. IV-B (hippo-passages)
    """
    totals = [matrix @ step.scores for step in steps]
    return [scored_step("chunk aggregator", summary, labels, scores) for scores in totals]


def vdb(questions: Queries, index: TextIndex) -> list[ChunkStep]:
    """VDB: a chunk's score is the similarity of its vector and the question's (or of their token
    vectors: late interaction).

    Source: Survey, App. B.1 (op-new)
    """
    summary = f"{index.measure} of question and passage"
    similarities = index.similarities(questions)
    return [scored_step("chunk vdb", summary, index.labels, scores) for scores in similarities]


def average(
    first: ChunkStep, second: ChunkStep, labels: Sequence[str], share: float = 0.5
) -> ChunkStep:
    """The mean of two chunk scorings of one question, each moved to [0, 1] first (HippoRAG's
    uncertainty ensemble). share: what the second counts for, of 1.
    """
    scores = (1 - share) * min_max(first.scores) + share * min_max(second.scores)
    return scored_step(
        "ensemble", f"mean of {first.operator} and {second.operator}", labels, scores
    )


def from_relationships(
    chosen: Sequence[EdgeStep], graph: Graph, labels: Sequence[str]
) -> list[ChunkStep]:
    """FromRel: the chunks that the chosen relations were read from; a chunk's score is the sum of
    its relations' scores.

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    steps = []
    for step in chosen:
        scores = np.zeros(len(labels))
        for _, edge, score in step.edges:
            scores[sorted(set(graph.edges[edge].chunks))] += score
        read = f"the {np.count_nonzero(scores)} passages that {len(step.edges)} relations"
        steps.append(scored_step("chunk from relations", f"{read} were read from", labels, scores))
    return steps


def occurrence(chosen: Sequence[EdgeStep], graph: Graph, labels: Sequence[str]) -> list[ChunkStep]:
    """Occurrence: a chunk's score is the number of chosen relations both of whose ends were read
    from it.

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    where = [set(node.chunks) for node in graph.nodes]
    steps = []
    for step in chosen:
        scores = np.zeros(len(labels))
        for row in step.edges:
            edge = graph.edges[row.index]
            scores[sorted(where[edge.source] & where[edge.target])] += 1
        both = f"{np.count_nonzero(scores)} passages hold both ends of one of"
        summary = f"{both} {len(step.edges)} relations"
        steps.append(scored_step("chunk occurrence", summary, labels, scores))
    return steps


def from_leaves(chosen: Sequence[NodeStep], graph: Graph, labels: Sequence[str]) -> list[ChunkStep]:
    """The chunks among the chosen nodes of a tree or a passage graph, each with its node's score;
    other nodes give none.

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    steps = []
    for step in chosen:
        scores = np.zeros(len(labels))
        leaves = [row for row in step.nodes if graph.nodes[row.index].type == "chunk"]
        for row in leaves:
            scores[graph.nodes[row.index].chunks[0]] = row.score
        summary = f"{len(leaves)} of {len(step.nodes)} nodes are passages"
        steps.append(scored_step("chunk from leaves", summary, labels, scores))
    return steps


def by_entity(
    chosen: Sequence[NodeStep],
    graph: Graph,
    labels: Sequence[str],
    counted: Literal["relations", "neighbours"] = "relations",
) -> list[ChunkStep]:
    """The order of GraphRAG's released code: the chunks of the first entity, then of the second,
    ...

    Within one entity, chunks that hold more of its "relations" come first, or of its "neighbours"
    (nano-graphrag). Earlier chunks have higher scores.

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    held: dict[int, list[set[int]]] = {node.index: [] for step in chosen for node in step.nodes}
    for edge in graph.edges:
        for node, far in {(edge.source, edge.target), (edge.target, edge.source)}:
            if edge.kind == "relation" and node in held:
                read = edge.chunks if counted == "relations" else graph.nodes[far].chunks
                held[node].append(set(read))
    steps = []
    for step in chosen:
        order: dict[int, tuple[int, int, int]] = {}
        for rank, (_, node, _) in enumerate(step.nodes):
            for number, place in enumerate(dict.fromkeys(graph.nodes[node].chunks)):
                count = sum(place in chunks for chunks in held[node])
                order.setdefault(place, (rank, -count, number))
        scores = np.zeros(len(labels))
        for number, place in enumerate(sorted(order, key=order.__getitem__)):
            scores[place] = len(order) - number
        summary = f"{len(order)} passages that name a chosen entity, in the entities' order"
        steps.append(scored_step("chunk by entity", summary, labels, scores))
    return steps
