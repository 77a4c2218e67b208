"""Operators that choose chunks. Each takes a batch of questions and returns one `Step` a question.

Source: Survey, Sec. 6.1 (op-chunk)
"""

import numpy as np

from ..core.results import Step
from .ranking import min_max, top_items


def aggregator(
    scored, matrix, labels, summary="each passage gets the scores of what was read from it"
):
    """Aggregator: a chunk's score is the sum of the scores of the relations (or nodes) read from
    it.

    `matrix` is (chunks, relations) or (chunks, nodes); `step.data["scores"]` is (chunks,).

    Source: Survey, Sec. 6.1 (op-chunk); Wang, Sec. IV-B (hippo-passages)
    """
    totals = [matrix @ step.data["scores"] for step in scored]
    return [
        Step("chunk aggregator", summary, top_items(labels, scores), {"scores": scores})
        for scores in totals
    ]


def vdb(questions, index):
    """VDB: a chunk's score is the similarity of its vector and the question's (or of their token
    vectors: late interaction).

    Source: Survey, App. B.1 (op-new)
    """
    similarities = index.similarities(questions)
    summary = f"{index.measure} of question and passage"
    return [
        Step("chunk vdb", summary, top_items(index.labels, s), {"scores": s}) for s in similarities
    ]


def average(first, second, labels):
    """The mean of two chunk scorings of one question, each moved to [0, 1] first (HippoRAG's
    uncertainty ensemble).
    """
    scores = (min_max(first.data["scores"]) + min_max(second.data["scores"])) / 2
    return Step(
        "ensemble",
        f"mean of {first.operator} and {second.operator}",
        top_items(labels, scores),
        {"scores": scores},
    )


def from_relationships(chosen, graph, labels):
    """FromRel: the chunks that the chosen relations were read from; a chunk's score is the sum of
    its relations' scores.

    `step.data["scores"]` is (chunks,).

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    steps = []
    for step in chosen:
        scores = np.zeros(len(labels))
        for edge, score in step.data["relations"]:
            scores[sorted(set(graph.edges[edge].chunks))] += score
        said = f"the {np.count_nonzero(scores)} passages that {len(step.data['relations'])} relations were read from"
        steps.append(
            Step("chunk from relations", said, top_items(labels, scores), {"scores": scores})
        )
    return steps


def occurrence(chosen, graph, labels):
    """Occurrence: a chunk's score is the number of chosen relations both of whose ends were read
    from it.

    `step.data["scores"]` is (chunks,).

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    where = [set(node.chunks) for node in graph.nodes]
    steps = []
    for step in chosen:
        scores = np.zeros(len(labels))
        for edge, _ in step.data["relations"]:
            scores[sorted(where[graph.edges[edge].source] & where[graph.edges[edge].target])] += 1
        said = f"{np.count_nonzero(scores)} passages hold both ends of one of {len(step.data['relations'])} relations"
        steps.append(Step("chunk occurrence", said, top_items(labels, scores), {"scores": scores}))
    return steps


def by_entity(chosen, graph, labels, counted="relations"):
    """The order of GraphRAG's released code: the chunks of the first entity, then of the second,
    ...

    Within one entity, chunks that hold more of its "relations" come first, or of its "neighbours"
    (nano-graphrag). `chosen` holds nodes; `step.data["scores"]` is (chunks,), higher for earlier.

    Source: Survey, Sec. 6.1 (op-chunk)
    """
    held = {node: [] for step in chosen for _, node, _ in step.data["nodes"]}
    for edge in graph.edges:
        for node, far in {(edge.source, edge.target), (edge.target, edge.source)}:
            if edge.kind == "relation" and node in held:
                read = edge if counted == "relations" else graph.nodes[far]
                held[node].append(set(read.chunks))
    steps = []
    for step in chosen:
        order = {}
        for rank, (_, node, _) in enumerate(step.data["nodes"]):
            for number, place in enumerate(dict.fromkeys(graph.nodes[node].chunks)):
                count = sum(place in chunks for chunks in held[node])
                order.setdefault(place, (rank, -count, number))
        scores = np.zeros(len(labels))
        for number, place in enumerate(sorted(order, key=order.get)):
            scores[place] = len(order) - number
        said = f"{len(order)} passages that name a chosen entity, in the entities' order"
        steps.append(Step("chunk by entity", said, top_items(labels, scores), {"scores": scores}))
    return steps
