"""Operators that choose relations. Each takes a batch of questions and returns one `Step` a question.

Source: Survey, Sec. 6.1 (op-relationship)
"""

from ..results import Step
from .ranking import top_items


def aggregator(walked, facts, labels):
    """Aggregator: a relation's score is the sum of the scores of the nodes it joins.

    `facts` is the (relations, nodes) matrix of `fact_matrix`; `step.data["scores"]` is (relations,).

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    totals = [facts @ step.data["scores"] for step in walked]
    summary = "each relation gets the scores of its two nodes"
    return [Step("relationship aggregator", summary, top_items(labels, scores), {"scores": scores}) for scores in totals]
