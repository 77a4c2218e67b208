"""Run a method over a corpus's questions and average its scores."""

from ..core.errors import MiniragError
from .metrics import answer_coverage, exact_match, f1, recall_at_k


def evaluate_retrieval(method, questions, ks=(2, 5, 10, 20), coverage_at=5):
    """Average recall at every k, and answer coverage of the first passages, in percent.

    Returns `(averages, retrievals)`: a dict such as `{"R@2": 54.2, ..., "coverage@5": 61.0}`, and
    the `Retrieval` of each question, in order. The method sees the questions' text only.
    """
    questions = [q for q in questions if q.gold]
    if not questions:
        raise MiniragError(
            "No question has gold passages: recall cannot be computed on this corpus."
        )
    retrievals = method.retrieve_many([q.text for q in questions], k=max(ks))
    rows = [score_retrieval(r, q, ks, coverage_at) for r, q in zip(retrievals, questions)]
    return {name: 100 * sum(row[name] for row in rows) / len(rows) for name in rows[0]}, retrievals


def score_retrieval(retrieval, question, ks=(2, 5, 10, 20), coverage_at=5):
    """One question's recall at every k and its answer coverage, as fractions."""
    scores = {f"R@{k}": recall_at_k(retrieval.ids, question.gold, k) for k in ks}
    if question.answers:
        scores[f"coverage@{coverage_at}"] = answer_coverage(
            [p.chunk.passage for p in retrieval.passages[:coverage_at]], question.answers
        )
    return scores


def evaluate_answers(method, questions, k=5, task=None, dataset=""):
    """Average EM and F1 of the method's answers, in percent, and the answers themselves.

    task: the prompt that answers; by default a short one, since a full answer matches no gold one.
    dataset: "hotpotqa" and "2wikimultihopqa" have an F1 of their own, see `f1`. With the offline
    rules these are the scores of a rule, and `method.llm.name` says so.
    """
    questions = [q for q in questions if q.answers]
    if not questions:
        raise MiniragError(
            "No question has an accepted answer: EM and F1 cannot be computed on this corpus."
        )
    answers = [method.answer(q.text, k, task or method.short_task) for q in questions]
    yes_no = "exact" if dataset in ("hotpotqa", "2wikimultihopqa") else "words"
    em = [exact_match(a.text, q.answers) for a, q in zip(answers, questions)]
    overlap = [f1(a.text, q.answers, yes_no) for a, q in zip(answers, questions)]
    return {"EM": 100 * sum(em) / len(em), "F1": 100 * sum(overlap) / len(overlap)}, answers
