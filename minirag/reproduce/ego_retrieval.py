"""Does Eq. 2-4 find the ego-graph of the entity that a question names? Measured where every
question has a graph of its own and says which way is right.

The paper's ranking, and additions to it that are named one by one. Gold evidence is counted with
here and reaches no ranking.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..algorithms.ego_graphs import ego_graph, members, pool, rank_ego_graphs
from ..algorithms.vectors import normalize
from ..corpora.detours import named_entity
from ..encoders.text_encoders import load_encoder
from .graph_baselines import text_vectors

TOPS = (1, 3, 5)


@dataclass(frozen=True)
class Ranking:
    """A way to order the ego-graphs of a graph; the defaults are the paper's, and every other value
    is an addition of this kit.

    pooling: "all" is the mean of Eq. 2, "nodes" leaves the edges out, "greatest" takes the best
    cosine of a node instead of the cosine of the mean.
    root: how much of the vector is the root's own text, from 0 to 1. centred: the mean over all
    texts of the graph is taken off every vector first.
    asked: "question" is the whole of it; "words" drops what at least half of all questions say;
    "name" drops also the words that are on edges.
    linked: the node that the question names comes first, whatever its cosine.
    """

    name: str
    hops: int = 2
    direction: str = "out"
    pooling: str = "all"
    root: float = 0.0
    centred: bool = False
    asked: str = "question"
    linked: bool = False


RANKINGS = (
    Ranking("Eq. 2-4"),
    Ranking("Eq. 2-4, one hop", hops=1),
    Ranking("Eq. 2-4, who reaches the root", direction="in"),
    Ranking("Eq. 2-4, either way", direction="both"),
    Ranking("without edges", pooling="nodes"),
    Ranking("the greatest node", pooling="greatest"),
    Ranking("centred", centred=True),
    Ranking("a tenth is the root", root=0.1),
    Ranking("a quarter is the root", root=0.25),
    Ranking("half is the root", root=0.5),
    Ranking("the root alone", root=1.0),
    Ranking("asked without boilerplate", asked="words"),
    Ranking("asked by what is on no edge", asked="name"),
    Ranking("asked by what is on no edge, a quarter is the root", asked="name", root=0.25),
    Ranking("linked by name", linked=True),
)


def ego_retrieval_table(questions, encoder="minilm", rankings=RANKINGS, tops=TOPS):
    """`[{"ranking", "hops", "direction", "own in top 1 %", ..., "way in top 1 %", ..., "nodes in
    top 1 %", ...}]`, a row for each ranking.

    questions: `GraphQuestion`s with evidence, whose first evidence node is the named entity. own:
    its ego-graph is among the top. way: all evidence edges are in one of them. evidence: share of
    the evidence nodes in any of them. graph: share of the graph's nodes that they hold together,
    the price.

    Source: GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """
    encoder = load_encoder(encoder)
    vector, shapes, rows = text_vectors(questions, encoder), {}, []
    for ranking in rankings:
        shape, counts = (ranking.hops, ranking.direction), []
        if shape not in shapes:
            shapes[shape] = [members(question.graph, *shape) for question in questions]
        asked = encoder.encode(asked_texts(questions, ranking.asked), kind="query")
        for question, wanted, belongs in zip(questions, asked, shapes[shape]):
            counts.append(
                _counts(
                    question,
                    belongs,
                    rank(question, wanted, vector, belongs, ranking)[: max(tops)],
                    tops,
                )
            )
        means = {
            key: round(100 * float(np.mean([count[key] for count in counts])), 1)
            for key in counts[0]
        }
        rows.append(
            {"ranking": ranking.name, "hops": ranking.hops, "direction": ranking.direction, **means}
        )
    return rows


def rank(question, asked, vector, belongs, ranking):
    """All roots, best first. asked: the question's vector; vector: {text: vector} of the graph's
    texts; belongs: what `members` says of the graph.
    """
    graph, (inside, between) = question.graph, belongs
    if ranking.linked:
        plain = rank(question, asked, vector, belongs, replace(ranking, linked=False))
        first = named_entity(question.question, graph)
        return np.array([first, *plain[plain != first]])
    nodes = np.array([vector[text] for text in graph.nodes])
    edges = np.array([vector[text] for _, text, _ in graph.edges]).reshape(-1, nodes.shape[1])
    if ranking.centred:
        middle = np.concatenate([nodes, edges]).mean(axis=0)
        nodes, edges, asked = nodes - middle, edges - middle, asked - middle
    if ranking.pooling == "greatest":
        cosines = np.where(inside.toarray() > 0, normalize(nodes) @ asked, -np.inf)
        return np.argsort(-np.round(cosines.max(axis=1), 9), kind="stable")
    pooled = normalize(
        pool(nodes, edges, inside, 0 * between if ranking.pooling == "nodes" else between)
    )
    pooled = ranking.root * normalize(nodes) + (1 - ranking.root) * pooled
    return rank_ego_graphs(asked, pooled, len(graph.nodes))[0]


def asked_texts(questions, asked="question"):
    """What of each question is encoded, as `Ranking` describes it. Where nothing would be left, the
    whole question.
    """
    if asked == "question":
        return [question.asked for question in questions]
    split = [re.findall(r"\w+", question.asked) for question in questions]
    spread = Counter(word for words in split for word in set(words))
    dropped = {word for word, count in spread.items() if 2 * count >= len(questions) > 1}
    texts = []
    for question, words in zip(questions, split):
        edges = {text.lower() for _, text, _ in question.graph.edges} if asked == "name" else set()
        texts.append(
            " ".join(word for word in words if word not in dropped and word.lower() not in edges)
            or question.asked
        )
    return texts


def around_named(question, hops=2, direction="out"):
    """The question over the ego-graph of the node that it names, which is the root and node 0.
    Evidence is kept as far as it lies in there.
    """
    graph, nodes, edges = ego_graph(
        question.graph, named_entity(question.question, question.graph), hops, direction
    )
    places = [{old: new for new, old in enumerate(kept)} for kept in (nodes, edges)]
    evidence = [
        tuple(place[old] for old in gold if old in place)
        for place, gold in zip(places, (question.evidence_nodes, question.evidence_edges))
    ]
    return replace(question, graph=graph, evidence_nodes=evidence[0], evidence_edges=evidence[1])


def _counts(question, belongs, roots, tops):
    inside, between = (found[roots].toarray() > 0 for found in belongs)
    nodes, edges = list(question.evidence_nodes), list(question.evidence_edges)
    counts = {}
    for top in tops:
        counts[f"own in top {top} %"] = nodes[0] in roots[:top]
    for top in tops:
        counts[f"way in top {top} %"] = between[:top, edges].all(axis=1).any()
    for top in tops:
        counts[f"evidence in top {top} %"] = inside[:top, nodes].any(axis=0).mean()
    for top in tops:
        counts[f"graph in top {top} %"] = inside[:top].any(axis=0).mean()
    return counts
