"""Questions and claims of the public sets in Wang's Table II, as their authors and ToG publish
them. Their sources of knowledge, all of Wikipedia and Wikidata, are not part of these files.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..core.corpus import Question
from ..core.errors import MiniragError
from ..core.files import read_jsonl

Row = Mapping[str, Any]  # a row of JSON
LABELS = {"true": "SUPPORTS", "false": "REFUTES"}


def _webqsp(row: Row) -> tuple[str, str, list[str]]:
    answers = [answer for parse in row["Parses"] for answer in parse["Answers"]]
    named = [each["EntityName"] or each["AnswerArgument"] for each in answers]
    return row["QuestionId"], row["RawQuestion"], named


def _zero_shot_re(row: Row) -> tuple[str, str, list[str]]:
    first = next(iter(row["template_questions"]), row["input"].replace(" [SEP] ", ", "))
    return row["input"], first, [row["answer"], *row.get("alias", ())]


# For each set: a row's id ("" where rows have none), text, and accepted answers or label.
READERS: dict[str, Callable[[Row], tuple[str, str, list[str]]]] = {
    "webqsp": _webqsp,
    "advhotpotqa": lambda row: (row.get("_id", ""), row["question"], [row["answer"]]),
    "qald-10-en": lambda row: ("", row["question"], list(row["answer"].values())),
    "zero-shot-re": _zero_shot_re,
    "fever": lambda row: (str(row["id"]), row["claim"], [row["label"]]),
    "creak": lambda row: (row["ex_id"], row["sentence"], [LABELS[row["label"]]]),
}
CLAIMS = ("fever", "creak")


def read_table_ii(path: str | Path, name: str) -> tuple[Question, ...]:
    """The questions of a set: a JSON list, WebQSP's {"Questions": [...]}, or a row a line (.jsonl).

    name: one of `READERS`. A claim has the kind "claim" and its label as the one answer: SUPPORTS,
    REFUTES or NOT ENOUGH INFO; the claims of `mini_wiki` are rows of "fever" with gold pages.
    Raises `MiniragError` for another name, and for a row that lacks a field.

    Source: Wang, Table II (tab-2)
    """
    path = Path(path)
    if name not in READERS:
        raise MiniragError(f"There is no set {name!r}; there are: {', '.join(READERS)}.")
    if path.suffix == ".jsonl":
        rows = list(read_jsonl(path))
    else:
        whole = json.loads(path.read_text(encoding="utf-8"))
        rows = whole.get("Questions", []) if isinstance(whole, dict) else whole
    kind, questions = "claim" if name in CLAIMS else "", []
    for number, row in enumerate(rows, start=1):
        try:
            id, text, answers = READERS[name](row)
        except (KeyError, TypeError, AttributeError) as error:
            raise MiniragError(
                f"{path.name}, row {number}: not a row of {name}: {type(error).__name__} {error}."
            ) from None
        accepted = tuple(dict.fromkeys(filter(None, answers)))
        gold = tuple(row.get("gold", ()))
        questions.append(Question(id or f"{name}-{number}", text, accepted, gold, kind))
    return tuple(questions)
