"""Operators that choose chunks. Each takes a batch of questions and returns one `Step` a question.

Source: Survey, Sec. 6.1 (op-chunk)
"""

from ..results import Step
from .ranking import min_max, top_items


def aggregator(scored, matrix, labels, summary="each passage gets the scores of what was read from it"):
    """Aggregator: a chunk's score is the sum of the scores of the relations (or nodes) read from it.

    `matrix` is (chunks, relations) or (chunks, nodes); `step.data["scores"]` is (chunks,).

    Source: Survey, Sec. 6.1 (op-chunk); Wang, Sec. IV-B (hippo-passages)
    """
    totals = [matrix @ step.data["scores"] for step in scored]
    return [Step("chunk aggregator", summary, top_items(labels, scores), {"scores": scores}) for scores in totals]


def vdb(questions, index):
    """VDB: a chunk's score is the cosine of its vector and the question's.

    Source: Survey, App. B.1 (op-new)
    """
    similarities = index.similarities(questions)
    return [Step("chunk vdb", "cosine of question and passage", top_items(index.labels, s), {"scores": s}) for s in similarities]


def average(first, second, labels):
    """The mean of two chunk scorings of one question, each moved to [0, 1] first (HippoRAG's uncertainty ensemble)."""
    scores = (min_max(first.data["scores"]) + min_max(second.data["scores"])) / 2
    return Step("ensemble", f"mean of {first.operator} and {second.operator}", top_items(labels, scores), {"scores": scores})
