"""Operators that choose relations. Each takes a batch of questions and returns one step a question.

Source: Survey, Sec. 6.1 (op-relationship)
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from scipy import sparse

from ..core.graph import Graph
from ..core.trace import EdgeStep, FactStep, NodeStep, ScoredEdge, WalkStep
from ..index.vectors import Queries, VectorIndex
from .ranking import top_items


def aggregator(
    walked: Sequence[WalkStep], facts: sparse.sparray, labels: Sequence[str]
) -> list[FactStep]:
    """Aggregator: a relation's score is the sum of the scores of the nodes it joins.

    `facts` is the (relations, nodes) matrix of `fact_matrix`.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    summary = "each relation gets the scores of its two nodes"
    steps = []
    for scores in [facts @ step.scores for step in walked]:
        items = top_items(labels, scores)
        steps.append(FactStep("relationship aggregator", summary, items, scores=scores))
    return steps


def label(graph: Graph, edge: int) -> str:
    """A relation as people read it."""
    e = graph.edges[edge]
    return f"{graph.nodes[e.source].name} — {graph.nodes[e.target].name}"


def vdb(questions: Queries, index: VectorIndex, k: int = 10) -> list[EdgeStep]:
    """VDB: the k relations whose vector is nearest to the question's, with their cosine; row i of
    the index is edge i of the graph.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    places, cosines = index.search(questions, k=min(k, len(index.labels)))
    steps = []
    for row, scores in zip(places.tolist(), cosines.tolist()):
        edges = tuple(ScoredEdge(index.labels[i], i, score) for i, score in zip(row, scores))
        summary = f"the {len(edges)} relations nearest to the question"
        steps.append(EdgeStep("relationship vdb", summary, edges=edges))
    return steps


class _Touching(NamedTuple):
    """A relation at a chosen node, with all that an order may ask of it."""

    edge: int
    inside: bool  # both ends are chosen
    links: int  # chosen nodes that the far end touches
    prominence: int  # the sum of the ends' degrees
    weight: float
    turn: int  # place of the first chosen end


def onehop(
    chosen: Sequence[NodeStep],
    graph: Graph,
    k: int | None = None,
    outside_k: int | None = None,
    order: Literal["links", "degree"] = "links",
) -> list[EdgeStep]:
    """Onehop: the relations at the chosen nodes; a relation's score is the number of chosen ends.

    order: with "links" those between two chosen nodes come first, the others by how many chosen
    nodes their far end touches; then by the sum of their ends' degrees. With "degree"
    (nano-graphrag) all by that sum, then by weight. k: at most so many. outside_k: at most so many
    for each chosen node of those that lead to a node outside.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    relations = [(i, e.source, e.target) for i, e in enumerate(graph.edges) if e.kind == "relation"]
    degree = Counter(end for _, *ends in relations for end in set(ends))
    steps = []
    for step in chosen:
        turn = {node: i for i, node in enumerate(dict.fromkeys(n.index for n in step.nodes))}
        outward = {
            (t, s) if s in turn else (s, t) for _, s, t in relations if (s in turn) != (t in turn)
        }
        links = Counter(far for far, _ in outward)
        touching = [
            _Touching(
                i,
                s in turn and t in turn,
                links[t if s in turn else s],
                degree[s] + degree[t],
                graph.edges[i].weight,
                min(turn[end] for end in (s, t) if end in turn),
            )
            for i, s, t in relations
            if s in turn or t in turn
        ]
        if order == "links":
            touching.sort(key=lambda r: (not r.inside, -r.links, -r.prominence, r.edge))
        else:
            touching.sort(key=lambda r: (-r.prominence, -r.weight, r.turn, r.edge))
        if outside_k is not None:
            outer = [row for row in touching if not row.inside]
            gone = set(outer[outside_k * len(turn) :])
            touching = [row for row in touching if row not in gone]
        edges = tuple(
            ScoredEdge(label(graph, row.edge), row.edge, 1.0 + row.inside) for row in touching[:k]
        )
        between = sum(row.inside for row in touching)
        summary = f"{len(touching)} relations at {len(turn)} nodes, {between} of them between two"
        summary += f"; {len(edges)} taken"
        steps.append(EdgeStep("relationship onehop", summary, edges=edges))
    return steps
