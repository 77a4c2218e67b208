"""Scores of a retrieval or an answer, as the papers compute them, and their averages over a
corpus's questions.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from ..algorithms.voting import normalise_answer
from ..core.corpus import Question
from ..core.errors import MiniragError
from ..core.options import check_value
from ..core.results import Answer, Retrieval
from ..methods.base import Method

VERDICTS = frozenset(("yes", "no", "noanswer"))
YesNo = Literal["words", "exact"]
KS = (2, 5, 10, 20)  # where recall is measured


def evaluate_retrieval(
    method: Method, questions: Iterable[Question], ks: Sequence[int] = KS, coverage_at: int = 5
) -> tuple[dict[str, float], list[Retrieval]]:
    """Average recall at every k, and answer coverage of the first passages, in percent.

    Returns `(averages, retrievals)`: a dict such as `{"R@2": 54.2, ..., "coverage@5": 61.0}`, and
    the `Retrieval` of each question, in order. The method sees the questions' text only.
    """
    questions = [question for question in questions if question.gold]
    if not questions:
        raise MiniragError(
            "No question has gold passages: recall cannot be computed on this corpus."
        )
    retrievals = method.retrieve_many([question.text for question in questions], k=max(ks))
    rows = [score_retrieval(r, q, ks, coverage_at) for r, q in zip(retrievals, questions)]
    return {name: 100 * sum(row[name] for row in rows) / len(rows) for name in rows[0]}, retrievals


def score_retrieval(
    retrieval: Retrieval, question: Question, ks: Sequence[int] = KS, coverage_at: int = 5
) -> dict[str, float]:
    """One question's recall at every k and its answer coverage, as fractions."""
    scores = {f"R@{k}": recall_at_k(retrieval.ids, question.gold, k) for k in ks}
    if question.answers:
        texts = [passage.chunk.passage for passage in retrieval.passages[:coverage_at]]
        scores[f"coverage@{coverage_at}"] = answer_coverage(texts, question.answers)
    return scores


def evaluate_answers(
    method: Method, questions: Iterable[Question], k: int = 5, task: str = "", dataset: str = ""
) -> tuple[dict[str, float], list[Answer]]:
    """Average EM and F1 of the method's answers, in percent, and the answers themselves.

    task: the prompt that answers; by default a short one, since a full answer matches no gold one.
    dataset: "hotpotqa" and "2wikimultihopqa" have an F1 of their own, see `f1`. With the offline
    rules these are the scores of a rule, and `method.llm.name` says so.
    """
    questions = [question for question in questions if question.answers]
    if not questions:
        raise MiniragError(
            "No question has an accepted answer: EM and F1 cannot be computed on this corpus."
        )
    answers = [method.answer(q.text, k, task or method.short_task) for q in questions]
    yes_no: YesNo = "exact" if dataset in ("hotpotqa", "2wikimultihopqa") else "words"
    pairs = [(answer.text, question.answers) for answer, question in zip(answers, questions)]
    em = 100 * sum(exact_match(text, accepted) for text, accepted in pairs) / len(pairs)
    overlap = 100 * sum(f1(text, accepted, yes_no) for text, accepted in pairs) / len(pairs)
    return {"EM": em, "F1": overlap}, answers


def recall_at_k(retrieved: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold ids among the first k retrieved, rounded to 4 decimals a question as
    HippoRAG's authors do.

    Source: Wang, Table IV (tab-4)
    """
    return round(len(set(gold) & set(retrieved[:k])) / len(set(gold)), 4)


def exact_match(answer: str, accepted: Iterable[str]) -> float:
    """1.0 if the normalised answer is one of the accepted ones, else 0.0.

    Source: Wang, Table V (tab-5)
    """
    return float(normalise_answer(answer) in map(normalise_answer, accepted))


def f1(answer: str, accepted: Iterable[str], yes_no: YesNo = "words") -> float:
    """The best token-overlap F1 of the answer with an accepted one.

    yes_no: "words" counts yes, no and noanswer like other words (MuSiQue's own F1); "exact" gives 0
    where one of the two is such a word and the other is not the same (HotpotQA's and
    2WikiMultiHopQA's own).

    Source: Wang, Table V (tab-5)
    """
    check_value("yes_no", yes_no, YesNo)
    found, wanted = normalise_answer(answer), map(normalise_answer, accepted)
    return max((_overlap(found, answer, yes_no == "exact") for answer in wanted), default=0.0)


def _overlap(found: str, wanted: str, exact: bool) -> float:
    if exact and found != wanted and VERDICTS & {found, wanted}:
        return 0.0
    words, accepted = Counter(found.split()), Counter(wanted.split())
    if not words or not accepted:
        return float(words == accepted)
    shared = (words & accepted).total()
    precision, recall = shared / words.total(), shared / accepted.total()
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def answer_coverage(passages: Iterable[str], accepted: Iterable[str]) -> float:
    """1.0 if an accepted answer occurs, as whole normalised words, in one of the passages, else
    0.0.

    This asks whether a reader could find the answer in what was retrieved; it says nothing about a
    reader who did.
    """
    texts = [f" {normalise_answer(passage)} " for passage in passages]
    wanted = [normalise_answer(answer) for answer in accepted]
    return float(any(f" {answer} " in text for answer in wanted if answer for text in texts))
