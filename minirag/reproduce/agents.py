"""The target `agents`: methods in which a model steers a walk, and what they are compared with, in
the layout of Wang's Table II.

A row is a method on a corpus, by recorded replies of a large language model or by the offline
rules, and says which. The graph is the curated one of `mini_wiki`, or GPT-3.5's published triples
of MuSiQue; the first twenty questions of each are asked. Evidence is what stood before the reader:
passages, and the passages that triples were read from. Calls and tokens are those of a question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.corpus import Corpus
from ..core.display import progress
from ..core.results import Answer
from ..corpora.datasets import load_dataset
from ..corpora.fetching import available
from ..corpora.shipped_and_folders import load_corpus
from ..evaluate.metrics import compare, evaluate_answers, exact_match, recall_at_k
from ..index.vectors import AnyEncoder
from ..llm import LLM, load_llm
from ..llm.recorded import recording
from ..methods import METHODS
from .answers import AnswerRow, against, expected_here, interval

FIRST, K = 20, 5  # questions, and passages of each
GRAPHS = {"mini_wiki": "triples", "musique_train": "gpt-3.5-turbo-1106"}
SAMPLED: dict[str, object] = {"samples": 5}
CLOSED = (
    AnswerRow("direct", "zeroshot"),
    AnswerRow("cot", "cot"),
    AnswerRow("cot-sc", "cot-sc", SAMPLED),
)
OVER_GRAPH: dict[str, dict[str, object]] = {
    "tog": {},
    "cok": SAMPLED,
    "tog2": {},
    "kgp": {"k": 9},  # three seeds, each with a call of its own
    "dalk": {},
}
BY = ("recorded", "rules")


@dataclass(frozen=True)
class Measured:
    """A row's answers, and for each question whether it is right, the share of its gold passages
    among the evidence (both in percent), and the mean calls and tokens of a question.
    """

    answers: tuple[Answer, ...]
    right: NDArray[np.float64]
    recall: NDArray[np.float64]
    calls: float
    tokens: float


def rows_of(part: str) -> list[AnswerRow]:
    """Every method on a corpus; those over a graph with the graph that it comes with."""
    graph = {"extraction": GRAPHS[part]}
    over = [AnswerRow(name, name, {**graph, **more}) for name, more in OVER_GRAPH.items()]
    return [*CLOSED, AnswerRow("vanilla", "vanilla"), *over]


def row_names() -> list[str]:
    """Every row as `reproduce(rows=...)` names it: the corpus, the method, and who replied."""
    return [
        f"{part} {row.name} {by}"
        for part in GRAPHS
        for row in rows_of(part)
        for by in BY
        if by == "recorded" or not METHODS[row.method].needs_model
    ]


def corpus_of(part: str) -> Corpus:
    """The corpus of a part, shipped or published."""
    return load_corpus(part) if part == "mini_wiki" else load_dataset(part)


def reproduce_agents(
    rows: Sequence[str] | None = None, encoder: AnyEncoder | str = "minilm"
) -> dict[str, Any]:
    """Ask every method: `{"target", "rows", "table", "notes", "comparison"}`.

    MuSiQue's rows need its passages; without them they are left out, and a note says so. Raises
    `MiniragError` where a call is in no recording.

    Source: Wang, Table II (tab-2); Wang, Table III (tab-3)
    """
    measured: list[dict[str, Any]] = []
    notes: list[str] = []
    for part in GRAPHS:
        if part != "mini_wiki" and not available(part):
            notes.append(f"{part} is not here, so its rows are left out: minirag fetch {part}.")
            continue
        for by, llm in (("recorded", recording(part)), ("rules", load_llm("offline"))):
            chosen = [
                row for row in rows_of(part)
                if f"{part} {row.name} {by}" in (rows or row_names())
            ]  # fmt: skip
            found = run_rows(part, llm, encoder, chosen)
            measured += [cells(f"{part} {name} {by}", each) for name, each in found.items()]
            notes += differences(f"{part}, {by}", found)
    return {
        "target": "agents", "rows": measured, "table": table_ii(measured), "notes": notes,
        "comparison": compare(measured, expected_here("agents", rows)),
    }  # fmt: skip


def run_rows(
    part: str, llm: LLM, encoder: AnyEncoder | str, rows: Sequence[AnswerRow] | None = None
) -> dict[str, Measured]:
    """Answers to the first questions of a corpus, by row (rows: None for all). A model that answers
    in batches is asked all that can be asked now, over all rows.
    """
    corpus = corpus_of(part)
    questions = corpus.questions[:FIRST]

    def run(row: AnswerRow) -> Measured:
        method = METHODS[row.method].build(corpus, llm=llm, encoder=encoder, **row.options)
        before = method.llm.ledger.snapshot()
        _, answers = evaluate_answers(method, questions)
        spent = (method.llm.ledger - before).total
        pairs = list(zip(answers, questions))
        return Measured(
            tuple(answers),
            np.array([100 * exact_match(answer.text, asked.answers) for answer, asked in pairs]),
            np.array([
                100 * recall_at_k(answer.retrieval.ids, asked.gold, K) for answer, asked in pairs
            ]),
            spent.calls / len(pairs),
            (spent.prompt_tokens + spent.completion_tokens) / len(pairs),
        )  # fmt: skip

    rows = rows_of(part) if rows is None else rows
    found = llm.each(run, progress(rows, description=part, unit="row"))
    return {row.name: each for row, each in zip(rows, found)}


def cells(name: str, found: Measured) -> dict[str, Any]:
    """The row's cells; evidence recall is left out where nothing is retrieved by design."""
    low, high = interval(found.right)
    row = {"method": name, "n": len(found.right), "EM": round(float(found.right.mean()), 1)}
    row |= {"EM low": low, "EM high": high}
    if name.split()[1] not in {each.name for each in CLOSED}:
        row["evidence recall"] = round(float(found.recall.mean()), 1)
    return row | {"calls": round(found.calls, 1), "tokens": round(found.tokens)}


def differences(where: str, found: Mapping[str, Measured], baseline: str = "vanilla") -> list[str]:
    """In words, each row's exact match against the baseline's on the same questions."""
    return [
        against(where, name, baseline, "EM", each.right - found[baseline].right)
        for name, each in found.items()
        if baseline in found and name != baseline
    ]


def table_ii(measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows as Wang's Table II has them: a row for each method, a column for each corpus and
    who replied.
    """
    table: dict[str, dict[str, Any]] = {}
    for row in measured:
        part, name, by = row["method"].split(" ")
        table.setdefault(name, {"method": name})[f"{part} EM, {by}"] = row["EM"]
    return list(table.values())
