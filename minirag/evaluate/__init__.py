"""Metrics, benchmark runs, and the comparison with stored numbers."""

from .metrics import (
    Comparison,
    answer_all,
    answer_coverage,
    compare,
    evaluate_answers,
    evaluate_retrieval,
    exact_match,
    f1,
    load_expected,
    recall_at_k,
    score_retrieval,
)
