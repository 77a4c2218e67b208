"""Scores of an answer as the survey and GRAG's paper compute them, with what their official code
does otherwise as an option.

A gold answer is `parts`: one tuple of accepted wordings for each thing that is asked. Most
questions ask one thing; ALCE's, and questions with several answers such as WebQSP's, ask several.

What the survey's testbed does otherwise (JayLZhou/GraphRAG, commit 4e87938), `follow="code"` here:
it joins the accepted wordings to one text and so asks for all of them in this order; letters inside
of a word count; yes, no and noanswer have no part of a word in common with another answer; and it
knows no STRHIT. Its `str_em` is the paper's STRREC, its `str_hit` the paper's STREM.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean, median
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np

from ..algorithms.voting import normalise_answer
from ..core.corpus import Question
from ..core.options import check_value
from ..methods import METHODS
from ..prompts.task import Fields, Task
from ..text.tokens import token_spans
from . import metrics
from .metrics import answer_coverage, recall_at_k

Follow = Literal["paper", "code"]
Parts = Sequence[Sequence[str]]
Row = dict[str, Any]
BUDGETS = (1000, 2000, 4000, 8000)  # tokens of the context in which the answer is looked for
SPENT = ("answer words", "context tokens", "calls", "prompt tokens", "completion tokens")
RAW = (*SPENT, "key", "method", "question", "by", "answer", "retrieved", "seconds", "layers")


def contains(answer: str, accepted: Iterable[str], letters: bool = False) -> float:
    """1.0 if an accepted wording stands in the answer, as whole normalised words, else 0.0.

    letters: any substring counts, "cat" in "education", and an empty wording everywhere.

    Source: Survey, Table 5 (tab-5)
    """
    if not letters:
        return answer_coverage([one_line(answer)], accepted)
    text = normalise_answer(one_line(answer))
    return float(any(normalise_answer(wording) in text for wording in accepted))


def token_recall(answer: str, accepted: Iterable[str], exact_verdicts: bool = False) -> float:
    """The share of an accepted wording's words that the answer says, the best of all wordings.

    exact_verdicts: 0.0 where one of the two is yes, no or noanswer and the other is not the same.

    Source: Survey, Table 5 (tab-5)
    """
    found, best = normalise_answer(one_line(answer)), 0.0
    for wanted in filter(None, map(normalise_answer, accepted)):
        if not (exact_verdicts and found != wanted and metrics.VERDICTS & {found, wanted}):
            best = max(best, metrics.shared_words(found, wanted) / len(wanted.split()))
    return best


def string_scores(answer: str, parts: Parts, letters: bool = False) -> dict[str, float]:
    """STRREC, the share of the parts that the answer contains a wording of; STREM, 1.0 if that is
    all of them; STRHIT, 1.0 if it is any.

    Source: Survey, Table 5 (tab-5)
    """
    found = [contains(answer, accepted, letters) for accepted in parts]
    scores = sum(found) / max(1, len(found)), float(bool(found) and all(found)), float(any(found))
    return dict(zip(("STRREC", "STREM", "STRHIT"), scores))


def hit_at_1(answer: str, parts: Parts, follow: Follow = "paper") -> float:
    """1.0 if the first line of the answer names one of the parts; "code": if any line does.

    Source: GRAG, Table 2 (tab-2)
    """
    first = answer if follow == "code" else next(filter(str.strip, answer.split("\n")), "")
    return contains(first, chain.from_iterable(parts), follow == "code")


def list_f1(answer: str, parts: Parts, follow: Follow = "paper") -> float:
    """F1 of an answer that is a list, one item a line: precision is the share of the lines that
    name a part, recall the share of the parts that are named.

    "code" divides the number of named parts by that of the lines, so that three parts in one line
    are a precision of 3 and F1 may exceed 1.

    Source: GRAG, Table 2 (tab-2)
    """
    lines, letters = [*filter(str.strip, answer.split("\n"))], follow == "code"
    named = sum(contains(answer, accepted, letters) for accepted in parts)
    right = named if letters else sum(hit_at_1(line, parts) for line in lines)
    if not lines or not named or not right:
        return 0.0
    precision, recall = right / len(lines), named / len(parts)
    return 2 * precision * recall / (precision + recall)


def score_answer(answer: str, parts: Parts, follow: Follow = "paper") -> dict[str, float]:
    """Every score of an answer by its name, from 0 to 1 (but for "list F1" by `follow="code"`)."""
    check_value("follow", follow, Follow)
    accepted, code = [*chain.from_iterable(parts)], follow == "code"
    wordings = [" ".join(accepted)] if code else accepted
    scores = {
        "accuracy": contains(answer, wordings, code),
        "recall": token_recall(answer, wordings, code),
        **string_scores(answer, parts, code),
        "EM": metrics.exact_match(one_line(answer), wordings),
        "F1": metrics.f1(one_line(answer), wordings, "exact" if code else "words"),
        "hit@1": hit_at_1(answer, parts, follow),
        "list F1": list_f1(answer, parts, follow),
    }
    return {name: score for name, score in scores.items() if not (code and name == "STRHIT")}


def option_chosen(answer: str, options: Sequence[str]) -> str:
    """The letter of the option that an answer chooses: the letter that it opens with, as "C",
    "(C)" or "C. Debt", else that of the option with most words in common (F1); "" where that is
    none, or several.
    """
    letters = ascii_uppercase[: len(options)]
    if opening := re.match(rf"\W*(?:[Oo]ption )?([{letters}])(?:[).:]|\W*$)", answer):
        return opening[1]
    shared = [metrics.f1(one_line(answer), [option]) for option in options]
    best = [letter for letter, each in zip(letters, shared) if each == max(shared) > 0]
    return best[0] if len(best) == 1 else ""


def one_line(answer: str) -> str:
    """The answer with blanks for line ends and for the bars between wordings."""
    return answer.replace("|", " ").replace("\n", " ")


def context_of(asked: Sequence[tuple[Task, Fields]]) -> str:
    """The texts that the reader was given for an answer, in their order: those of its last prompt,
    or of every map prompt where the answer is reduced from several; "" without any.
    """
    reading = [(task.name, fields) for task, fields in asked if task.stage == "answer"]
    mapped = [fields for name, fields in reading if name.startswith("map_")]
    read = mapped or [fields for _, fields in reading[-1:]]
    return "\n".join(text for fields in read for text in texts_in({**fields, "question": ""}))


def texts_in(value: Any) -> list[str]:  # nested in any way
    """Every text in the fields of a call."""
    if isinstance(value, str):
        return [value] * bool(value)
    parts = value.values() if isinstance(value, Mapping) else value
    return [t for part in (parts if isinstance(parts, Iterable) else ()) for t in texts_in(part)]


def coverage(context: str, accepted: Sequence[str]) -> dict[str, float]:
    """Whether an accepted wording stands in the first so many tokens of a context, 0.0 or 1.0 by
    budget; nothing for an empty context.
    """
    ends = [end for _, end in token_spans(context, most=BUDGETS[-1])]
    shares = {n: answer_coverage([context[: ends[:n][-1]]], accepted) for n in BUDGETS if ends}
    return {f"cover@{n // 1000}k": share for n, share in shares.items()}


def scored(
    rows: Mapping[str, Sequence[Row]], questions: Sequence[Question], passages: Collection[str],
    k: int, follow: Follow,
) -> list[Row]:  # fmt: skip
    """The rows of every method with their scores, in percent. Recall of the gold passages only
    where there are any, and by methods that retrieve `passages`, not reports or nothing.
    """
    done = list[Row]()
    for of in rows.values():
        found = any(id in passages for row in of for id in row["retrieved"])
        ks = sorted({*(n for n in metrics.KS if n < k), k}) if found else []
        for row, asked in zip(of, questions):
            said, parts = row["answer"], getattr(asked, "parts", (asked.answers,))
            if options := getattr(asked, "options", ()):  # not "A", which is an article
                chosen, right = option_chosen(said, options), getattr(asked, "letter", "")
                said, parts = f"option{chosen}", ((f"option{right}",),)
            scores = score_answer(said, parts, follow)
            if asked.gold:
                scores |= {f"R@{n}": recall_at_k(row["retrieved"], asked.gold, n) for n in ks}
            scores |= {name: row[name] for name in row if name.startswith("cover@")}
            kept = {name: row[name] for name in RAW if name in row}
            kept["answer words"] = len(row["answer"].split())
            done.append(kept | {name: 100 * score for name, score in scores.items()})
    return done


def leaderboard(
    names: Sequence[str], answers: Sequence[Row], failed: Mapping[str, str], baseline: str
) -> list[Row]:
    """A row a method, the most accurate first: means over questions, the median of the seconds (the
    first question takes longer), who wrote the answers, and the accuracy's difference to the
    baseline's on the same questions, with intervals. A method in `failed` has a note instead.
    """
    of: dict[str, list[Row]] = {}
    for row in answers:
        of.setdefault(row["method"], []).append(row)
    right = {name: np.array([row["accuracy"] for row in rows]) for name, rows in of.items()}
    board = list[Row]()
    for name, rows in of.items():
        line: Row = {"method": name, "graph": METHODS[name].graph_type, "n": len(rows)}
        line["accuracy"] = float(right[name].mean())
        line |= dict(zip(("low", "high"), metrics.interval(right[name])))
        if baseline in right and name != baseline:
            gains = right[name] - right[baseline]
            low, high = metrics.interval(gains)
            line |= {"gain": float(gains.mean()), "gain low": low, "gain high": high}
            line["verdict"] = metrics.verdict(low, high, even=0)
        measured = dict.fromkeys(key for row in rows for key in row if key not in RAW)
        for key in (*measured, *SPENT):
            line[key] = fmean(row[key] for row in rows if key in row)
        line["seconds"] = median(row["seconds"] for row in rows)
        writers = Counter(row["by"] for row in rows).items()
        line["answers by"] = "; ".join(f"{count} by {writer}" for writer, count in writers)
        counted = Counter(layer for row in rows for layer in row.get("layers", ()))
        for layer, count in sorted(counted.items()):
            line[f"layer {layer}"] = 100 * count / counted.total()
        board.append(line)
    board.sort(key=lambda line: -line["accuracy"])
    lost = [name for name in names if name in failed]
    return board + [{"method": n, "graph": METHODS[n].graph_type, "note": failed[n]} for n in lost]
