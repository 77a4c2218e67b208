"""Operators that choose nodes. Each takes a batch of questions and returns one step a question.

Source: Survey, Sec. 6.1 (op-node)
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms.pagerank import Transitions, personalized_pagerank
from ..core.graph import Graph
from ..core.trace import ChunkStep, EdgeStep, NodeStep, ScoredNode, Vector, WalkStep
from ..index.vectors import Queries, TextIndex, TfidfIndex, VectorIndex
from .agent import Agent, Chosen, Reached, choose_entities, reach, score_entities
from .ranking import Ties, count_of, min_max, rank, top_items
from .relationship import relations_at

Per = Literal["node", "entity"]
ByScore = Literal["score"]


def link(
    phrases: Sequence[Sequence[str]], index: TextIndex, repeats: bool = True
) -> list[NodeStep]:
    """Link: each phrase of each question to its one nearest node.

    phrases: for each question its phrases. index: of nodes. repeats: False links a phrase to the
    nearest node that no earlier phrase of its question has (DALK's code). The label of a
    `ScoredNode` is the phrase; its score is the cosine, or with a `TokenIndex` the normalised
    MaxSim.

    Source: Survey, Sec. 6.1 (op-node); Wang, Sec. IV-B (hippo-linking)
    """
    flat = [phrase for asked in phrases for phrase in asked]
    found: Iterator[tuple[str, list[int], list[float]]] = iter(())
    if flat:
        most = 1 if repeats else min(max(map(len, phrases)), len(index.labels))
        positions, cosines = index.search(flat, k=most)
        found = iter(zip(flat, positions.tolist(), cosines.tolist()))
    steps = []
    for asked in phrases:
        nodes: tuple[ScoredNode, ...] = ()
        for phrase, places, scores in islice(found, len(asked)):
            taken = set() if repeats else {node.index for node in nodes}
            free = [row for row in zip(places, scores) if row[0] not in taken]
            nodes += tuple(ScoredNode(phrase, *row) for row in free[:1])
        items = tuple((f"{phrase} → {index.labels[i]}", cosine) for phrase, i, cosine in nodes)
        linked = f"{count_of(nodes, 'phrase')} linked to the nearest node"
        summary = linked if nodes else "nothing to link"
        steps.append(NodeStep("link", summary, items, nodes=nodes))
    return steps


def reset_vector(
    linked: Iterable[ScoredNode], count: int, specificity: Vector | None = None,
    per: Per | ByScore = "node",
) -> Vector:  # fmt: skip
    """Where a walk restarts: (count,) non-negative weights on the linked nodes, all zero if there
    are none.

    `specificity` is a factor a node, (count,), or None. `per="node"` gives every query node the
    same weight, as paper and released code do; `per="entity"` gives every query entity its own
    share, so that a node named twice weighs twice; `per="score"` weighs each by its score, where
    that is above zero.

    Source: Wang, Sec. IV-B (hippo-specificity)
    """
    reset = np.zeros(count)
    for _, node, score in linked:
        weight = 1.0 if specificity is None else specificity[node]
        weight *= max(score, 0.0) if per == "score" else 1.0
        reset[node] = reset[node] + weight if per == "entity" else weight
    return reset


def reset_vectors(
    linked: Sequence[NodeStep], count: int, specificity: Vector | None = None,
    per: Per | ByScore = "node",
) -> NDArray[np.float64]:  # fmt: skip
    """The `reset_vector` of every question, (count, questions)."""
    return np.array([reset_vector(step.nodes, count, specificity, per) for step in linked]).T


def restarts(
    at_phrases: NDArray[np.float64], dense: Sequence[ChunkStep], share: float, power: float
) -> NDArray[np.float64]:
    """Where the walk of each question restarts, (nodes + passages, questions): phrases sum to 1,
    passages to `share`.

    Passages weigh by their dense score, moved to [0, 1], to a power; if all score alike they weigh
    alike. A question without phrases starts at the passages alone.
    """
    at_passages = np.array([min_max(step.scores) for step in dense], dtype=float).T ** power
    at_passages += at_passages.sum(axis=0) == 0
    linked = at_phrases.sum(axis=0)
    shares = np.where(linked > 0, share, 1) / at_passages.sum(axis=0)
    return np.vstack([at_phrases / np.where(linked > 0, linked, 1), at_passages * shares])


def shares(
    linked: Sequence[NodeStep], near: Sequence[Sequence[NodeStep]], labels: Sequence[str]
) -> list[NodeStep]:
    """Where a walk starts, by similarity, which is (1 + cosine) / 2: what was found for one text is
    divided by its sum, and a node has the largest of its shares.

    linked: for each question the nodes of its entities, each of which is a text of its own. near:
    for each question what vectors found for its other texts.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for links, others in zip(linked, near):
        largest: dict[int, float] = {}
        for row in (*((node,) for node in links.nodes), *(step.nodes for step in others)):
            total = sum((1 + node.score) / 2 for node in row) + 1e-8  # never zero, as in the code
            for node in row:
                share = (1 + node.score) / 2 / total
                largest[node.index] = max(share, largest.get(node.index, 0.0))
        best = sorted(largest.items(), key=lambda pair: (-pair[1], pair[0]))
        nodes = tuple(ScoredNode(labels[i], i, share) for i, share in best if share > 0)
        texts = len(links.nodes) + sum(bool(step.nodes) for step in others)
        summary = f"{count_of(nodes, 'node')}, each with its largest share in {texts} rankings"
        nothing = "nothing is similar enough: the walk does not start, and no passage has a score"
        steps.append(NodeStep("restart", summary if nodes else nothing, nodes=nodes))
    return steps


def ppr(
    transition: Transitions,
    resets: NDArray[np.float64],
    labels: Sequence[str],
    damping: float = 0.5,
    tol: float = 1e-10,
) -> list[WalkStep]:
    """PPR: the stationary distribution of a walk that restarts at `resets` (nodes, questions).

    `damping` is the probability of following an edge. The scores of a question, (nodes,), sum to 1;
    a question with an all-zero reset gets zeros.

    Source: Survey, Sec. 6.1 (op-node); Wang, Sec. IV-B (hippo-ppr)
    """
    scores = np.zeros_like(resets)
    started = resets.sum(axis=0) > 0
    if started.any():
        walk = personalized_pagerank(transition, resets[:, started], damping=damping, tol=tol)
        scores[:, started] = walk
    steps = []
    for score, reset in zip(scores.T, resets.T):
        starts = count_of(np.flatnonzero(reset), "node")
        summary = f"walk restarts at {starts}, follows an edge with probability {damping:g}"
        items = top_items(labels, score)
        steps.append(WalkStep("ppr", summary, items, scores=score, reset=reset))
    return steps


def vdb(questions: Queries, index: VectorIndex, k: int = 10) -> list[NodeStep]:
    """VDB: the k nodes whose vector is nearest to the question's, with their cosine.

    Source: Survey, Sec. 6.1 (op-node)
    """
    places, cosines = index.search(questions, k=min(k, len(index.labels)))
    steps = []
    for row, scores in zip(places.tolist(), cosines.tolist()):
        nodes = tuple(ScoredNode(index.labels[i], i, score) for i, score in zip(row, scores))
        summary = f"the {len(nodes)} nodes nearest to the question"
        steps.append(NodeStep("node vdb", summary, nodes=nodes))
    return steps


def tfidf(
    questions: Sequence[str], index: TfidfIndex, k: int | None = 10,
    within: Sequence[int] | None = None, refit: bool = False, ties: Ties = "ascending",
) -> list[NodeStep]:  # fmt: skip
    """TF-IDF: the k nodes whose text is nearest to the question's, by the cosine of their TF-IDF
    vectors.

    within: the only nodes that are ranked; their order settles ties. refit: weigh words by how many
    of these hold them (KGP's code), not by how many of all.

    Source: Survey, Sec. 6.1 (op-node)
    """
    places = [*range(len(index.labels))] if within is None else [*within]
    scores = index.similarities(questions, places, refit)
    steps = []
    for row in scores:
        best = [(places[i], float(row[i])) for i in rank(row, k, ties)]
        nodes = tuple(ScoredNode(index.labels[place], place, score) for place, score in best)
        summary = f"{count_of(nodes, 'node')} of {len(places)}, by the words they share"
        steps.append(NodeStep("node tf-idf", summary, nodes=nodes))
    return steps


def descend(
    questions: Queries, index: VectorIndex, graph: Graph, k: int = 4, cutoff: float | None = None
) -> list[NodeStep]:
    """Down a tree: of the nodes without a parent the k nearest to the question, then of the
    children of these, until there are none (RAPTOR's tree traversal). The step has the top first.

    cutoff: instead of the k nearest, all with at least this cosine.

    Source: Survey, Sec. 6.1 (op-node)
    """
    children: dict[int, list[int]] = {}
    for edge in graph.edges:
        children.setdefault(edge.source, []).append(edge.target)
    top = sorted({*range(len(graph.nodes))}.difference(*children.values()))
    steps = []
    for row in index.similarities(questions):
        layer, found, layers = top, [], 0
        while layer:
            ranked = [layer[i] for i in rank(row[layer], k if cutoff is None else None)]
            chosen = [i for i in ranked if cutoff is None or row[i] >= cutoff]
            found += [ScoredNode(index.labels[i], i, float(row[i])) for i in chosen]
            layer = sorted({child for i in chosen for child in children.get(i, ())})
            layers += bool(chosen)
        summary = f"{count_of(found, 'node')} on {layers} layers, from the top down"
        steps.append(NodeStep("node descend", summary, nodes=tuple(found)))
    return steps


def onehop(chosen: Sequence[NodeStep], graph: Graph) -> list[NodeStep]:
    """Onehop: the neighbours of the chosen nodes, each with the score of the best chosen node
    beside it.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for step in chosen:
        start = {node.index: node.score for node in step.nodes}
        found: dict[int, float] = {}
        for edge in graph.edges:
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here in start and there not in start:
                    found[there] = max(start[here], found.get(there, -np.inf))
        best = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        nodes = tuple(ScoredNode(graph.nodes[i].name, i, score) for i, score in best)
        summary = f"{count_of(nodes, 'neighbour')} of {len(start)} nodes"
        steps.append(NodeStep("node onehop", summary, nodes=nodes))
    return steps


def from_relationships(chosen: Sequence[EdgeStep], graph: Graph) -> list[NodeStep]:
    """RelNode (FromRel): the two ends of every chosen relation, in the relations' order, each with
    the score of the first relation that names it.

    Source: Survey, Sec. 6.1 (op-node)
    """
    steps = []
    for step in chosen:
        found: dict[int, float] = {}
        for _, edge, score in step.edges:
            for node in (graph.edges[edge].source, graph.edges[edge].target):
                found.setdefault(node, score)
        nodes = tuple(ScoredNode(graph.nodes[i].name, i, score) for i, score in found.items())
        summary = f"{len(nodes)} ends of {len(step.edges)} relations"
        steps.append(NodeStep("node from relations", summary, nodes=nodes))
    return steps


def together(steps: Sequence[NodeStep]) -> NodeStep:
    """The nodes of several operators for one question, in their order."""
    nodes = tuple(row for step in steps for row in step.nodes)
    return NodeStep("nodes together", "; ".join(step.summary for step in steps), nodes=nodes)


def by_agent(
    agent: Agent, questions: Sequence[str], standing: Sequence[NodeStep],
    offered: Sequence[NodeStep], along: Sequence[EdgeStep] | None = None, width: int = 3,
) -> list[NodeStep]:  # fmt: skip
    """Agent: of the offered nodes beside those that a walk stands at, the `width` that a language
    model, or the offline rule, scores highest; a score is the relation's times the agent's.

    along: only nodes that these relations lead to, with their scores; else any relation does, and
    scores 1.

    Source: Survey, Sec. 6.1 (op-node)
    """
    graph, beside, steps = agent.graph, relations_at(agent.graph), []
    for place, (asked, here, step) in enumerate(zip(questions, standing, offered)):
        scores = {row.index: row.score for row in along[place].edges} if along else None
        allowed, groups = {row.index for row in step.nodes}, []
        for at in dict.fromkeys(row.index for row in here.nodes):
            for relation in beside[at]:
                taken = tuple(e for e in relation.edges if scores is None or e in scores)
                score = max((scores[e] for e in taken), default=0.0) if scores else 1.0
                chosen = Chosen(Reached((at,)), relation._replace(edges=taken), score)
                ends = [each for each in reach(chosen, graph) if each.nodes[-1] in allowed]
                groups += [(chosen, ends)] if ends else []
        _, kept = choose_entities(agent, score_entities(agent, asked, groups), 1, width)
        best: dict[int, float] = {}
        for each in kept:
            best.setdefault(each.nodes[-1], each.score)
        rows = sorted(best.items(), key=lambda row: -row[1])
        nodes = tuple(ScoredNode(graph.nodes[i].name, i, score) for i, score in rows)
        summary = f"{len(nodes)} of {count_of(allowed, 'node')} chosen by the agent"
        steps.append(NodeStep("node agent", summary, nodes=nodes))
    return steps
