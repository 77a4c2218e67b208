"""Scores of an answer as the survey and GRAG's paper compute them, with what their official code
does otherwise as an option.

A gold answer is `parts`: one tuple of accepted wordings for each thing that is asked. Most
questions ask one thing; ALCE's, and questions with several answers such as WebQSP's, ask several.

What the survey's testbed does otherwise (JayLZhou/GraphRAG, commit 4e87938), `follow="code"` here:
it joins the accepted wordings to one text and so asks for all of them in this order; letters inside
of a word count; yes, no and noanswer have no part of a word in common with another answer; and it
knows no STRHIT. Its `str_em` is the paper's STRREC, its `str_hit` the paper's STREM.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from ..algorithms.voting import normalise_answer
from ..core.corpus import Question
from ..core.options import check_value
from ..methods import METHODS
from .metrics import (
    VERDICTS,
    answer_coverage,
    exact_match,
    f1,
    interval,
    recall_at_k,
    shared_words,
    verdict,
)

Follow = Literal["paper", "code"]
Matching = Literal["words", "letters"]
Aliases = Literal["any", "joined"]
Parts = Sequence[Sequence[str]]
Row = dict[str, Any]
BUDGETS = (1000, 2000, 4000, 8000)  # tokens of the context in which the answer is looked for
SPENT = ("calls", "prompt tokens", "completion tokens", "context tokens")
RAW = (*SPENT, "key", "method", "question", "answer", "retrieved", "seconds", "layers")


@dataclass(frozen=True)
class Parted(Question):
    """A question that asks several things: `parts` holds the accepted wordings of each, `answers`
    all of them.
    """

    parts: tuple[tuple[str, ...], ...] = ()


def contains(answer: str, accepted: Iterable[str], matching: Matching = "words") -> float:
    """1.0 if an accepted wording stands in the answer, else 0.0.

    matching: "words" compares whole normalised words; "letters" takes any substring, and so "cat"
    in "education" and an empty wording in everything.
    """
    check_value("matching", matching, Matching)
    if matching == "words":
        return answer_coverage([_one_line(answer)], accepted)
    text = normalise_answer(_one_line(answer))
    return float(any(normalise_answer(wording) in text for wording in accepted))


def accuracy(
    answer: str, accepted: Sequence[str], aliases: Aliases = "any", matching: Matching = "words"
) -> float:
    """1.0 if the answer contains an accepted wording; with `aliases="joined"` all of them, one
    behind the other.

    Source: Survey, Table 5 (tab-5)
    """
    return contains(answer, _aliases(accepted, aliases), matching)


def token_recall(
    answer: str, accepted: Sequence[str], aliases: Aliases = "any", exact_verdicts: bool = False
) -> float:
    """The share of an accepted wording's words that the answer says, the best of all wordings.

    exact_verdicts: 0.0 where one of the two is yes, no or noanswer and the other is not the same.

    Source: Survey, Table 5 (tab-5)
    """
    found, best = normalise_answer(_one_line(answer)), 0.0
    for wanted in map(normalise_answer, _aliases(accepted, aliases)):
        if wanted and not (exact_verdicts and found != wanted and VERDICTS & {found, wanted}):
            best = max(best, shared_words(found, wanted) / len(wanted.split()))
    return best


def string_scores(answer: str, parts: Parts, matching: Matching = "words") -> dict[str, float]:
    """STRREC, the share of the parts that the answer contains a wording of; STREM, 1.0 if that is
    all of them; STRHIT, 1.0 if it is any.

    Source: Survey, Table 5 (tab-5)
    """
    found = [contains(answer, accepted, matching) for accepted in parts]
    return {
        "STRREC": sum(found) / max(1, len(found)),
        "STREM": float(bool(found) and all(found)),
        "STRHIT": float(any(found)),
    }


def hit_at_1(answer: str, parts: Parts, follow: Follow = "paper") -> float:
    """1.0 if the first line of the answer names one of the parts; "code": if any line does.

    Source: GRAG, Table 2 (tab-2)
    """
    lines = _lines(answer) if follow == "paper" else [answer]
    wordings = [*chain.from_iterable(parts)]
    return contains(lines[0] if lines else "", wordings, _letters(follow))


def list_f1(answer: str, parts: Parts, follow: Follow = "paper") -> float:
    """F1 of an answer that is a list, one item a line: precision is the share of the lines that
    name a part, recall the share of the parts that are named.

    "code" divides the number of named parts by that of the lines, so that three parts in one line
    are a precision of 3 and F1 may exceed 1.

    Source: GRAG, Table 2 (tab-2)
    """
    lines, matching = _lines(answer), _letters(follow)
    named = sum(contains(" ".join(lines), accepted, matching) for accepted in parts)
    if not lines or not named:
        return 0.0
    right = named
    if follow == "paper":
        wordings = [*chain.from_iterable(parts)]
        right = sum(contains(line, wordings, matching) for line in lines)
    precision, recall = right / len(lines), named / len(parts)
    return 2 * precision * recall / (precision + recall) if right else 0.0


def score_answer(answer: str, parts: Parts, follow: Follow = "paper") -> dict[str, float]:
    """Every score of an answer by its name, from 0 to 1 (but for "list F1" by `follow="code"`)."""
    check_value("follow", follow, Follow)
    accepted, code = [*chain.from_iterable(parts)], follow == "code"
    aliases: Aliases = "joined" if code else "any"
    matching, wordings = _letters(follow), _aliases(accepted, aliases)
    scores = {
        "accuracy": accuracy(answer, accepted, aliases, matching),
        "recall": token_recall(answer, accepted, aliases, exact_verdicts=code),
        **string_scores(answer, parts, matching),
        "EM": exact_match(_one_line(answer), wordings),
        "F1": f1(_one_line(answer), wordings, "exact" if code else "words"),
        "hit@1": hit_at_1(answer, parts, follow),
        "list F1": list_f1(answer, parts, follow),
    }
    if code:
        del scores["STRHIT"]
    return scores


def _letters(follow: Follow) -> Matching:
    return "letters" if follow == "code" else "words"


def _aliases(accepted: Sequence[str], aliases: Aliases) -> Sequence[str]:
    check_value("aliases", aliases, Aliases)
    return [" ".join(accepted)] if aliases == "joined" else accepted


def _one_line(answer: str) -> str:
    return answer.replace("|", " ").replace("\n", " ")


def _lines(answer: str) -> list[str]:
    return [line for line in answer.split("\n") if line.strip()]


def score_row(row: Mapping[str, Any], asked: Question, ks: Sequence[int], follow: Follow) -> Row:
    """A row of the log with its scores, in percent; recall of the gold passages where there are
    any, coverage of the context where the reader was given one.
    """
    parts = asked.parts if isinstance(asked, Parted) else (asked.answers,)
    scores = score_answer(row["answer"], parts, follow)
    if asked.gold:
        scores |= {f"R@{k}": recall_at_k(row["retrieved"], asked.gold, k) for k in ks}
    if row["covered"]:
        scores |= {f"cover@{n // 1000}k": row["covered"][str(n)] for n in BUDGETS}
    kept = {name: value for name, value in row.items() if name in RAW}
    return kept | {name: 100 * value for name, value in scores.items()}


def leaderboard(
    names: Sequence[str], answers: Sequence[Row], failed: Mapping[str, str], baseline: str
) -> list[Row]:
    """A row a method, the most accurate first: means over questions, the median of the seconds (the
    first question takes longer), and its accuracy's difference to the baseline's on the same
    questions, with intervals. A method in `failed` has no numbers, and a note instead.
    """
    of: dict[str, list[Row]] = {}
    for row in answers:
        of.setdefault(row["method"], []).append(row)
    right = {name: np.array([row["accuracy"] for row in rows]) for name, rows in of.items()}
    board = list[Row]()
    for name, rows in of.items():
        line: Row = {"method": name, "graph": METHODS[name].graph_type, "n": len(rows)}
        line["accuracy"] = float(right[name].mean())
        line |= dict(zip(("low", "high"), interval(right[name])))
        if baseline in right and name != baseline:
            gains = right[name] - right[baseline]
            low, high = interval(gains)
            line |= {"gain": float(gains.mean()), "gain low": low, "gain high": high}
            line["verdict"] = verdict(low, high, even=0)
        measured = dict.fromkeys(key for row in rows for key in row if key not in RAW)
        for key in (*measured, *SPENT):
            line[key] = fmean(row[key] for row in rows if key in row)
        line["seconds"] = median(row["seconds"] for row in rows)
        if "layers" in rows[0]:
            counted = Counter[str]()
            for row in rows:
                counted.update({n: s * len(row["retrieved"]) for n, s in row["layers"].items()})
            total = sum(counted.values()) or 1
            line |= {f"layer {n}": 100 * share / total for n, share in sorted(counted.items())}
        board.append(line)
    board.sort(key=lambda line: -line["accuracy"])
    return board + [
        {"method": name, "graph": METHODS[name].graph_type, "note": failed[name]}
        for name in names
        if name in failed
    ]
