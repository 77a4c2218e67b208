"""Scores of a retrieval or an answer, as the papers compute them, their averages over a corpus's
questions, and one helper that compares measured numbers with the stored ones.

A file `data/expected/TARGET.yaml` holds for every row and metric what the paper printed, what an
independent reference run gave, and what this kit gave when the file was written. Only the last is
compared with a new run.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import yaml
from numpy.typing import NDArray

from ..algorithms.voting import normalise_answer
from ..core.corpus import Question
from ..core.errors import MiniragError
from ..core.options import check_value
from ..core.results import Answer, Retrieval
from ..corpora.shipped_and_folders import shipped
from ..methods.base import Method
from ..prompts.map_reduce import content_words

VERDICTS = frozenset(("yes", "no", "noanswer"))
YesNo = Literal["words", "exact"]
KS = (2, 5, 10, 20)  # where recall is measured
SAMPLES = 2000  # of the bootstrap
# How far a new run may lie from the stored one and still count: "exact" has no encoder in it;
# "neural" depends on the
# last digits of an encoder, which differ between processors, so that near-ties may swap (percent
# points); "tokens" are those of a context so filled;
# "trained" is the mean over a few seeds of a model trained here, where the last digits of one step
# change all later ones: another processor is another draw.
TOLERANCES = {"exact": 1e-6, "neural": 1.0, "tokens": 100.0, "trained": 10.0}


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
    answers = answer_all(method, [q.text for q in questions], k, task or method.short_task)
    yes_no: YesNo = "exact" if dataset in ("hotpotqa", "2wikimultihopqa") else "words"
    pairs = [(answer.text, question.answers) for answer, question in zip(answers, questions)]
    em = 100 * sum(exact_match(text, accepted) for text, accepted in pairs) / len(pairs)
    overlap = 100 * sum(f1(text, accepted, yes_no) for text, accepted in pairs) / len(pairs)
    return {"EM": em, "F1": overlap}, answers


def answer_all(
    method: Method, questions: Iterable[str], k: int = 5, task: str | None = None
) -> list[Answer]:
    """`method.answer` for every question; where answers come in batches, one batch a round for all
    questions together.
    """
    return method.llm.each(lambda question: method.answer(question, k, task), questions)


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
    words, accepted = len(found.split()), len(wanted.split())
    if not words or not accepted:
        return float(words == accepted)
    shared = shared_words(found, wanted)
    precision, recall = shared / words, shared / accepted
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def shared_words(found: str, wanted: str) -> int:
    """The number of words that two texts share, a repeated word as often as both have it."""
    return (Counter(found.split()) & Counter(wanted.split())).total()


def answer_coverage(passages: Iterable[str], accepted: Iterable[str]) -> float:
    """1.0 if an accepted answer occurs, as whole normalised words, in one of the passages, else
    0.0.

    This asks whether a reader could find the answer in what was retrieved; it says nothing about a
    reader who did.
    """
    texts = [f" {normalise_answer(passage)} " for passage in passages]
    wanted = [normalise_answer(answer) for answer in accepted]
    return float(any(f" {answer} " in text for answer in wanted if answer for text in texts))


def plain(text: str) -> str:
    """Lower case, one space, straight quotation marks: two copies of one sentence read the same."""
    return re.sub(r"\s+", " ", text.lower().translate(str.maketrans("‘’“”", "''\"\"")))


def phrase_coverage(text: str, evidence: Sequence[str]) -> float:
    """Share of the phrases that stand in the text word for word."""
    whole = plain(text)
    return sum(plain(phrase) in whole for phrase in evidence) / len(evidence)


def word_coverage(text: str, evidence: Iterable[str]) -> float:
    """Mean share of a phrase's content words that stand in the text anywhere."""
    words = content_words(plain(text))
    phrases = filter(None, map(content_words, map(plain, evidence)))
    shares = [len(words & phrase) / len(phrase) for phrase in phrases]
    return sum(shares) / max(len(shares), 1)


def interval(values: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """95 % of the means of `SAMPLES` bootstrap samples over questions. Values that are all equal
    give an interval of width 0, which does not mean certainty.
    """
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (SAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return round(float(low), 1), round(float(high), 1)


def verdict(low: float, high: float, even: float) -> str:
    """What an interval says of a comparison; even: the value at which the two are equal."""
    return "inconclusive" if low <= even <= high else "beyond chance"


@dataclass(frozen=True)
class Comparison:
    """One cell: a metric of a row, expected and measured, and the verdict OK, OKISH, FAIL or
    PAPER-ONLY.
    """

    row: str
    metric: str
    paper: float | None
    reference: float | None
    expected: float | None
    measured: float | None
    state: str
    reason: str = ""


def load_expected(target: str, rows: Iterable[str] | None = None) -> dict[str, Any]:
    """What `data/expected/TARGET.yaml` holds; no rows when nobody has stored any. rows: keep these
    only, by name.
    """
    path = shipped("expected") / f"{target}.yaml"
    text = path.read_text(encoding="utf-8") if path.is_file() else "rows: {}"
    expected: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)  # libyaml's, the faster one
    if rows:
        expected["rows"] = {name: row for name, row in expected["rows"].items() if name in rows}
    return expected


def judge(
    expected: float | None, measured: float | None, tolerance: str = "exact"
) -> tuple[str, str]:
    """`(state, reason)` for one number. Higher than expected is OKISH with a reason, never silently
    fine.
    """
    if expected is None and measured is None:
        return "PAPER-ONLY", "only the paper has this number"
    if measured is None:
        return "FAIL", "expected, but the run gave no number"
    if expected is None:
        return "OKISH", "no stored value to compare with"
    difference = measured - expected
    if abs(difference) <= 5e-7:
        return "OK", ""
    if abs(difference) <= TOLERANCES[tolerance]:
        return "OKISH", f"{difference:+.2f}, within {tolerance} tolerance"
    return "FAIL", f"{difference:+.2f}, beyond {tolerance} tolerance {TOLERANCES[tolerance]:g}"


def compare(rows: Sequence[Mapping[str, Any]], expected: Mapping[str, Any]) -> list[Comparison]:
    """Compare measured rows (`{"method": ..., metric: number}`) with an expected file, cell by
    cell.
    """
    measured = {row["method"]: row for row in rows}
    cells = []
    for name in dict.fromkeys([*measured, *expected["rows"]]):
        stored, found = expected["rows"].get(name, {}), measured.get(name, {})
        metrics = stored.get("metrics", {})
        for metric in dict.fromkeys([*metrics, *found]):
            if metric == "method":
                continue
            numbers, number = metrics.get(metric, {}), found.get(metric)
            paper, reference, ours = map(numbers.get, ("paper", "reference", "ours"))
            tolerance = numbers.get("tolerance", stored.get("tolerance", "exact"))
            state, reason = judge(ours, number, tolerance)
            cells.append(Comparison(name, metric, paper, reference, ours, number, state, reason))
    return cells
