"""Metrics, benchmark runs, and the comparison with stored numbers."""

from .expected import Comparison, compare, load_expected
from .metrics import (
    answer_coverage,
    evaluate_answers,
    evaluate_retrieval,
    exact_match,
    f1,
    recall_at_k,
    score_retrieval,
)

__all__ = [
    "Comparison",
    "answer_coverage",
    "compare",
    "evaluate_answers",
    "evaluate_retrieval",
    "exact_match",
    "f1",
    "load_expected",
    "recall_at_k",
    "score_retrieval",
]
