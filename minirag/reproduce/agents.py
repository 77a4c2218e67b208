"""The target `agents`: methods in which a model steers a walk, and what they are compared with, in
the layout of Wang's Table II.

A row is a method on a part, by recorded replies of a large language model or by the offline rules,
and says which. The graph is the curated one of `mini_wiki`, or GPT-3.5's published triples of
MuSiQue; the first twenty questions of each are asked. Two more parts ask `mini_wiki` by the rules
alone, since no replies are recorded for them: `claims`, its 24 claims, of which each method gives
the label; `sweeps`, all 40 questions under one changed option a row. Evidence is what stood before
the reader: passages, and the passages that triples were read from. Calls and tokens are those of a
question.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.corpus import Corpus
from ..core.display import progress
from ..core.results import Answer
from ..corpora.datasets import load_dataset
from ..corpora.fetching import available
from ..corpora.kgqa import read_table_ii
from ..corpora.shipped_and_folders import load_corpus, shipped
from ..encoders.token_encoders import load_any_encoder
from ..evaluate.kgqa import JUDGED, claim_label, marked, wording
from ..evaluate.metrics import compare, recall_at_k
from ..index.vectors import AnyEncoder
from ..llm import LLM, load_llm
from ..llm.recorded import recording
from ..methods import METHODS, Method
from ..methods.graph_agent import GraphAgent
from .answers import AnswerRow, against, expected_here, interval

FIRST, K = 20, 5  # questions, and passages of each
RECORDED = {"mini_wiki": "triples", "musique_train": "gpt-3.5-turbo-1106"}
GRAPHS = {**RECORDED, "claims": "triples", "sweeps": "triples"}
Changed = Mapping[str, object]  # options
SAMPLED: Changed = {"samples": 5}
CLOSED = {"direct": "zeroshot", "cot": "cot", "cot-sc": "cot-sc"}
OPTIONS: Mapping[str, Changed] = {"cot-sc": SAMPLED, "cok": SAMPLED, "kgp": {"k": 9}}
OVER_GRAPH = ("tog", "cok", "tog2", "kgp", "dalk")  # KGP: three seeds, each with a call of its own
METRIC, MAJORITY = {"claims": "accuracy"}, "majority"  # else EM; always the more frequent label
# One option away from the defaults, which are width 3 and depth 3. Where ToG-2 ranks chunks by LSA,
# topics are linked as before. KGP's nine pairs hold up to twelve pages.
VARIED = [("width", n) for n in range(1, 6)] + [("depth", n) for n in (1, 2, 4)]
BY_LSA = "tog2-lsa"
READ = {"vanilla-9": 9, "vanilla-12": 12, "kgp-12": 12}  # passages, where they are not K


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
    """Every method on a part; those over a graph with the graph that the corpus comes with."""

    def row(name: str, method: str, **changed: object) -> AnswerRow:
        graph = {"extraction": GRAPHS[part]} if method in OVER_GRAPH else {}
        return AnswerRow(name, method, {**graph, **OPTIONS.get(method, {}), **changed})

    if part != "sweeps":
        closed = [row(name, method) for name, method in CLOSED.items()]
        return [*closed, row("vanilla", "vanilla"), *(row(name, name) for name in OVER_GRAPH)]
    walks = [
        row(f"{name}-{option}-{value}", name, **{option: value})
        for name in ("tog", "tog2")
        for option, value in VARIED
    ]
    others = (BY_LSA, "vanilla", "kgp", *READ)
    return [*walks, *(row(name, name.partition("-")[0]) for name in others)]


def row_names(groups: bool = False) -> list[str]:
    """Every row as `reproduce(rows=...)` names it: the part, the method, and who replied. groups:
    the parts themselves, too, each for all of its rows.
    """
    by_rules = [
        f"{part} {row.name} rules"
        for part in GRAPHS
        for row in rows_of(part)
        if not METHODS[row.method].needs_model
    ]
    recorded = [f"{part} {row.name} recorded" for part in RECORDED for row in rows_of(part)]
    return [*recorded, *by_rules, f"claims {MAJORITY} rules", *(GRAPHS if groups else ())]


def corpus_of(part: str) -> Corpus:
    """The corpus of a part, shipped or published, with the questions that are asked of it."""
    corpus = load_dataset(part) if part == "musique_train" else load_corpus("mini_wiki")
    if part == "claims":
        claims = read_table_ii(shipped("corpora/mini_wiki/claims.jsonl"), "fever")
        return replace(corpus, questions=claims)
    return replace(corpus, questions=corpus.questions[: FIRST if part in RECORDED else None])


def reproduce_agents(
    rows: Sequence[str] | None = None, encoder: AnyEncoder | str = "minilm"
) -> dict[str, Any]:
    """Ask every method: `{"target", "rows", "table", "notes", "comparison"}`.

    rows: names of rows or of whole parts. MuSiQue's rows need its passages; without them they are
    left out, and a note says so. Raises `MiniragError` where a call is in no recording.

    Source: Wang, Table II (tab-2); Wang, Table III (tab-3)
    """
    measured: list[dict[str, Any]] = []
    notes: list[str] = []
    wanted = [name for name in row_names() if not rows or {name, name.split(" ")[0]} & {*rows}]
    for part in GRAPHS:
        if part == "musique_train" and not available(part):
            notes.append(f"{part} is not here, so its rows are left out: minirag fetch {part}.")
            continue
        for by in ("recorded", "rules") if part in RECORDED else ("rules",):
            chosen = [row for row in rows_of(part) if f"{part} {row.name} {by}" in wanted]
            llm = recording(part) if by == "recorded" else load_llm("offline")
            found = run_rows(part, llm, encoder, chosen)
            if f"{part} {MAJORITY} {by}" in wanted:
                found[MAJORITY] = majority(part)
            measured += [cells(f"{part} {name} {by}", each) for name, each in found.items()]
            notes += differences(
                f"{part}, {by}", found, "vanilla" if part != "claims" else MAJORITY
            )
    return {
        "target": "agents", "rows": measured, "table": table_ii(measured), "notes": notes,
        "comparison": compare(measured, expected_here("agents", wanted if rows else None)),
    }  # fmt: skip


def run_rows(
    part: str, llm: LLM, encoder: AnyEncoder | str, rows: Sequence[AnswerRow] | None = None
) -> dict[str, Measured]:
    """Answers to the questions or claims of a part, by row (rows: None for all). A model that
    answers in batches is asked all that can be asked now, over all rows.
    """
    corpus = corpus_of(part)

    def run(row: AnswerRow) -> Measured:
        method: Method = METHODS[row.method].build(corpus, llm=llm, encoder=encoder, **row.options)
        if row.name == BY_LSA and isinstance(method, GraphAgent):
            method.encoder = load_any_encoder("lsa").fit([each.passage for each in method.chunks])
        judged = part == "claims" and method.short_task == JUDGED.name
        task, k = JUDGED if judged else method.short_task, READ.get(row.name, K)
        before = method.llm.ledger.snapshot()
        answers = llm.each(lambda asked: method.answer(wording(asked), k, task), corpus.questions)
        spent = (method.llm.ledger - before).total
        pairs = list(zip(answers, corpus.questions))
        return Measured(
            tuple(answers),
            np.array([100 * marked(answer.text, asked) for answer, asked in pairs]),
            np.array([
                100 * recall_at_k(answer.retrieval.ids, asked.gold, k) for answer, asked in pairs
            ]),
            spent.calls / len(pairs),
            (spent.prompt_tokens + spent.completion_tokens) / len(pairs),
        )  # fmt: skip

    rows = rows_of(part) if rows is None else rows
    found = llm.each(run, progress(rows, description=part, unit="row"))
    return {row.name: each for row, each in zip(rows, found)}


def majority(part: str) -> Measured:
    """What always saying the more frequent label gives; of labels equally frequent the first."""
    labels = [asked.answers[0] for asked in corpus_of(part).questions]
    often, _ = Counter(labels).most_common(1)[0]
    right = np.array([100.0 * (label == often) for label in labels])
    return Measured((), right, np.zeros(0), 0.0, 0.0)


def cells(name: str, found: Measured) -> dict[str, Any]:
    """The row's cells; evidence recall is left out where nothing is retrieved by design. A claim's
    label that cannot be told is wrong, and counted.
    """
    part, method, _ = name.split(" ")
    metric, (low, high) = METRIC.get(part, "EM"), interval(found.right)
    row = {"method": name, "n": len(found.right), metric: round(float(found.right.mean()), 1)}
    row |= {f"{metric} low": low, f"{metric} high": high}
    if part == "claims" and method != MAJORITY:
        labels = [claim_label(answer.text) for answer in found.answers]
        row["said true"] = labels.count("SUPPORTS")
        row["cannot tell"] = labels.count("NOT ENOUGH INFO")
    if method not in {MAJORITY, *CLOSED}:
        row["evidence recall"] = round(float(found.recall.mean()), 1)
    return row | {"calls": round(found.calls, 1), "tokens": round(found.tokens)}


def differences(where: str, found: Mapping[str, Measured], baseline: str = "vanilla") -> list[str]:
    """In words, each row's exact match or accuracy against the baseline's on the same questions."""
    metric = METRIC.get(where.split(",")[0], "EM")
    return [
        against(where, name, baseline, metric, each.right - found[baseline].right)
        for name, each in found.items()
        if baseline in found and name != baseline
    ]


def table_ii(measured: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows as Wang's Table II has them: a row for each method, a column for each corpus and
    who replied; "needs a model" where no rule can take a model's place.
    """
    table: dict[str, dict[str, Any]] = {}
    for row in measured:
        part, name, by = row["method"].split(" ")
        metric = METRIC.get(part, "EM")
        column = f"{part} {metric}, {by}"
        table.setdefault(name, {"method": name})[column] = row[metric]
        for other in rows_of(part):
            if by == "rules" and METHODS[other.method].needs_model:
                table.setdefault(other.name, {"method": other.name})[column] = "needs a model"
    return list(table.values())
