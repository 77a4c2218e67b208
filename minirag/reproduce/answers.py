"""The target `answers`: exact match and F1 of answers that a large language model gave, from the
recordings in `data/recordings`, in the layout of Wang's Table V.

A row is a method, its graph, and the prompt that answers. Every reply comes from a recording; a
call that is in none is an error, so no cell holds a rule's answer. Intervals are 95 % of bootstrap
samples over questions; a difference whose interval holds 0 is called inconclusive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.display import progress
from ..corpora.datasets import load_dataset
from ..corpora.fetching import available
from ..corpora.shipped_and_folders import load_corpus
from ..evaluate.metrics import (
    compare,
    evaluate_answers,
    exact_match,
    f1,
    interval,
    load_expected,
    verdict,
)  # fmt: skip
from ..index.vectors import AnyEncoder
from ..llm import LLM
from ..llm.recorded import recording
from ..methods import METHODS, Method


@dataclass(frozen=True)
class AnswerRow:
    """A row of the table: its name, the method, the options of `build`, the prompt that answers
    (None: the method's own), and how many questions it was asked (None: all).
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    first: int | None = None


ANNOTATED, PUBLISHED = {"extraction": "annotations"}, {"extraction": "gpt-3.5-turbo-1106"}
# Clusters of five passages on average, in five dimensions: few enough rows for a mixture.
SMALL_TREE = {"reduction": "pca", "dim": 5, "rows_per_cluster": 5}
SMALL_K = {"cluster_size": 5}
# HippoRAG walks the graph that the model read itself, unless the name says whose.
PROFESSORS = (
    *(AnswerRow(name, name) for name in ("zeroshot", "cot")),
    AnswerRow("cot-sc", "cot-sc", {"samples": 5}),
    *(AnswerRow(name, name) for name in ("vanilla", "bm25", "hyde", "hipporag")),
    AnswerRow("hipporag-annotations", "hipporag", ANNOTATED),
    AnswerRow("ircot-hipporag", "ircot-hipporag"),
    AnswerRow("raptor", "raptor", SMALL_TREE),
    AnswerRow("raptor-k", "raptor-k", SMALL_K),
)
MUSIQUE = (
    AnswerRow("zeroshot", "zeroshot"),
    AnswerRow("bm25", "bm25"),
    AnswerRow("bm25-open", "bm25", task="answer_open"),
    AnswerRow("dense", "dense"),
    AnswerRow("dense-open", "dense", task="answer_open"),
    AnswerRow("hipporag-gpt-3.5-triples", "hipporag", PUBLISHED),
    AnswerRow("hipporag-gpt-3.5-triples-open", "hipporag", PUBLISHED, "answer_open"),
    *(AnswerRow(name, name, first=50) for name in ("cot", "hyde", "colbert")),
    AnswerRow("hipporag-passages-gpt-3.5-triples", "hipporag-passages", PUBLISHED, first=50),
    AnswerRow("ircot-dense", "ircot", {"retriever": "dense"}, first=30),
    AnswerRow("ircot-hipporag-gpt-3.5-triples", "ircot-hipporag", PUBLISHED, first=30),
)
PARTS = {"professors": PROFESSORS, "musique_train": MUSIQUE}
Scores = dict[str, NDArray[np.float64]]  # "EM", "F1": a value from 0 to 100 for every question


def reproduce_answers(
    rows: Sequence[str] | None = None, encoder: AnyEncoder | str = "minilm"
) -> dict[str, Any]:
    """Score the recorded answers: `{"target", "rows", "table", "notes", "comparison"}`.

    MuSiQue's rows need its passages; without them they are left out, and a note says so. Raises
    `MiniragError` where a call is in no recording.

    Source: Wang, Table V (tab-5)
    """
    measured: list[dict[str, Any]] = []
    notes: list[str] = []
    for part, plan in PARTS.items():
        chosen = [row for row in plan if not rows or f"{part} {row.name}" in rows]
        if chosen and part == "musique_train" and not available(part):
            notes.append(f"{part} is not here, so its rows are left out: minirag fetch {part}.")
        elif chosen:
            scores = score_rows(part, recording(part), encoder, chosen)
            measured += [measure(part, row, scores[row.name]) for row in chosen]
            notes += differences(part, scores)
    return {
        "target": "answers", "rows": measured, "table": table_v(measured), "notes": notes,
        "comparison": compare(measured, expected_here("answers", rows)),
    }  # fmt: skip


def row_names() -> list[str]:
    """Every row as `reproduce(rows=...)` names it: the part, then the row."""
    return [f"{part} {row.name}" for part, plan in PARTS.items() for row in plan]


def score_rows(
    part: str, llm: LLM, encoder: AnyEncoder | str, rows: Sequence[AnswerRow] | None = None
) -> dict[str, Scores]:
    """EM and F1 of every question that a row was asked, by the row's name (rows: None for all).
    Rows of one method and graph share what is built. A model that answers in batches is asked all
    that can be asked now, over all rows.
    """
    rows = PARTS[part] if rows is None else rows
    corpus = load_corpus(part) if part == "professors" else load_dataset(part)
    built: dict[str, Method] = {}

    def score(row: AnswerRow) -> Scores:
        shared = repr((row.method, row.options))
        if shared not in built:
            built[shared] = METHODS[row.method].build(
                corpus, llm=llm, encoder=encoder, **row.options
            )
        questions = corpus.questions[: row.first]
        _, answers = evaluate_answers(built[shared], questions, task=row.task or "")
        pairs = [(answer.text, question.answers) for answer, question in zip(answers, questions)]
        return {
            "EM": 100 * np.array([exact_match(*pair) for pair in pairs]),
            "F1": 100 * np.array([f1(*pair) for pair in pairs]),
        }

    scores = llm.each(score, progress(rows, description=part, unit="row"))
    return {row.name: found for row, found in zip(rows, scores)}


def measure(part: str, row: AnswerRow, scores: Scores) -> dict[str, Any]:
    """The row's cells: the number of questions, and each mean with its interval."""
    cells: dict[str, Any] = {"method": f"{part} {row.name}", "n": len(scores["EM"])}
    for metric, values in scores.items():
        low, high = interval(values)
        cells |= {metric: round(float(values.mean()), 1)}
        cells |= {f"{metric} low": low, f"{metric} high": high}
    return cells


def against(where: str, name: str, baseline: str, metric: str, gains: NDArray[np.float64]) -> str:
    """In words, what a row gains over a baseline on the same questions, (questions,)."""
    low, high = interval(gains)
    return (
        f"{where}: {name} against {baseline}, {metric} {gains.mean():+.1f} [{low:+.1f}, "
        f"{high:+.1f}] over {len(gains)} questions: {verdict(low, high, even=0)}"
    )


def expected_here(target: str, rows: Sequence[str] | None) -> dict[str, Any]:
    """The stored numbers of a target; without MuSiQue's where its passages are not here."""
    expected = load_expected(target, rows)
    if not available("musique_train"):
        expected["rows"] = {n: r for n, r in expected["rows"].items() if "musique_train" not in n}
    return expected


def differences(part: str, scores: Mapping[str, Scores]) -> list[str]:
    """In words, each row's F1 against BM25's and vector search's, on the questions that both were
    asked: an `-open` row against theirs with `-open`, every other row, closed-book ones included,
    against theirs without.
    """
    found = []
    for name, values in scores.items():
        prompt = "-open" if name.endswith("-open") else ""
        for baseline in ("bm25", "vanilla", "dense"):
            other = scores.get(baseline + prompt)
            if other is None or name in (baseline + prompt, "bm25" + prompt):
                continue
            asked = len(values["F1"])
            gains = values["F1"] - other["F1"][:asked]
            found.append(against(part, name, baseline + prompt, "F1", gains))
    return found


def table_v(measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows as Wang's Table V has them: a row for each method, EM and F1 for each corpus."""
    table: dict[str, dict[str, Any]] = {}
    for row in measured:
        part, name = row["method"].split(" ")
        cells = {f"{part} {metric}": row[metric] for metric in ("n", "EM", "F1")}
        table.setdefault(name, {"method": name}).update(cells)
    return list(table.values())
