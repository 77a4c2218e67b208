"""Operators that choose relations. Each takes a batch of questions and returns one step a question.

Source: Survey, Sec. 6.1 (op-relationship)
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal

from scipy import sparse

from ..core.graph import Graph
from ..core.trace import EdgeStep, FactStep, NodeStep, ScoredEdge, WalkStep
from ..index.vectors import Queries, TextIndex
from .agent import Agent, Offer, Reached, Relation, choose_relations, score_relations  # fmt: skip
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


def vdb(questions: Queries, index: TextIndex, k: int = 10) -> list[EdgeStep]:
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
    ends = {i: (e.source, e.target) for i, e in enumerate(graph.edges) if e.kind == "relation"}
    degree = Counter(node for pair in ends.values() for node in set(pair))
    steps = []
    for step in chosen:
        turn = {node: i for i, node in enumerate(dict.fromkeys(n.index for n in step.nodes))}
        touching = {i: pair for i, pair in ends.items() if not turn.keys().isdisjoint(pair)}
        inside = {i for i, pair in touching.items() if turn.keys() >= set(pair)}
        far = {i: t if s in turn else s for i, (s, t) in touching.items()}
        outward = {(far[i], frozenset(touching[i])) for i in touching if i not in inside}
        links = Counter(node for node, _ in outward)
        keys: dict[int, tuple[float, ...]] = {}
        for i, pair in touching.items():
            prominence = sum(degree[node] for node in pair)
            if order == "links":
                keys[i] = i not in inside, -links[far[i]], -prominence, i
            else:
                first = min(turn[node] for node in pair if node in turn)
                keys[i] = -prominence, -graph.edges[i].weight, first, i
        best = sorted(touching, key=keys.__getitem__)
        if outside_k is not None:
            gone = set([i for i in best if i not in inside][outside_k * len(turn) :])
            best = [i for i in best if i not in gone]
        edges = tuple(ScoredEdge(label(graph, i), i, 1.0 + (i in inside)) for i in best[:k])
        between = len(inside.intersection(best))
        summary = f"{len(best)} relations at {len(turn)} nodes, {between} of them between two"
        steps.append(EdgeStep("relationship onehop", f"{summary}; {len(edges)} taken", edges=edges))
    return steps


def relations_at(graph: Graph) -> list[list[Relation]]:
    """The relations of every node, by name, outward ones first."""
    found: list[defaultdict[tuple[str, bool], list[int]]]
    found = [defaultdict(list) for _ in graph.nodes]
    for place, edge in enumerate(graph.edges):
        found[edge.source][edge.name, True].append(place)
        found[edge.target][edge.name, False].append(place)
    return [
        [
            Relation(at, name, outward, tuple(edges))
            for (name, outward), edges in sorted(
                names.items(), key=lambda row: (row[0][0], not row[0][1])
            )
        ]
        for at, names in enumerate(found)
    ]


def by_agent(
    agent: Agent, questions: Sequence[str], standing: Sequence[NodeStep],
    offered: Sequence[EdgeStep], width: int = 3,
) -> list[EdgeStep]:  # fmt: skip
    """Agent: of the offered relations at the nodes that a walk stands at, at most `width` names a
    node, those that a language model, or the offline rule, scores highest; with its score.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    graph, beside, steps = agent.graph, relations_at(agent.graph), []
    for asked, here, step in zip(questions, standing, offered):
        allowed, offers = {row.index for row in step.edges}, []
        for at in dict.fromkeys(row.index for row in here.nodes):
            left = [r._replace(edges=tuple(e for e in r.edges if e in allowed)) for r in beside[at]]
            if some := tuple(relation for relation in left if relation.edges):
                offers.append(Offer(Reached((at,)), some))
        scored = score_relations(agent, asked, offers, width)
        _, chosen = choose_relations(agent, offers, scored, 1, width)
        scores: dict[int, float] = {}
        for each in chosen:
            for edge in each.relation.edges:
                scores[edge] = max(each.score, scores.get(edge, 0.0))
        best = sorted(scores.items(), key=lambda row: (-row[1], row[0]))
        edges = tuple(ScoredEdge(label(graph, edge), edge, score) for edge, score in best)
        summary = f"{len(edges)} of {len(allowed)} relations chosen by the agent"
        steps.append(EdgeStep("relationship agent", summary, edges=edges))
    return steps
