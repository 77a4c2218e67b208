"""The target `unified`: every method in one table, by the offline rules and by recorded replies;
and what passages of another size change.

One graph a type, one encoder, five passages: see `evaluate.bench`. A row by recorded replies stands
only where all its answers come from them. Operation Dulce has questions with phrases quoted from
the novella and no answers, so its rows count evidence and costs. In the rows about the size of
passages every method fills the same budgets of tokens, so that a long passage is no gain by itself.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core.corpus import Corpus, Document, Extraction, Question, Triple
from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import read_jsonl
from ..corpora.datasets import load_dataset
from ..corpora.fetching import available
from ..corpora.microsoft_index import load_dulce
from ..corpora.shipped_and_folders import load_corpus, shipped
from ..evaluate.bench import run_bench
from ..evaluate.metrics import compare, interval
from ..evaluate.survey_metrics import BUDGETS, coverage
from ..llm import LLM, load_llm
from ..methods import METHODS
from ..text.chunking import chunk_tokens
from .answers import expected_here

DATASET, RULES = "musique_train", load_llm("offline").name
GPT_4 = "gpt-4"
METRICS = (
    "n", "accuracy", "low", "high", "recall", "EM", "F1", "R@2", "R@5", "cover@1k", "cover@2k",
    "cover@4k", "cover@8k", "context tokens", "calls", "prompt tokens", "completion tokens",
)  # fmt: skip


class Table(NamedTuple):
    """A corpus, who answers, whose triples the graphs are made of (None: the text is read by
    whoever answers), how often entities are gleaned, and what is measured.
    """

    corpus: str
    llm: str
    extraction: str | None
    gleanings: int = 1
    measures: Sequence[str] = METRICS


TABLES = {
    "professors by annotations": Table("professors", "offline", "annotations"),
    "professors by rules": Table("professors", "offline", None),
    "professors recorded": Table("professors", "recorded", None, gleanings=0),
    f"{DATASET} by GPT-3.5": Table(DATASET, "offline", "gpt-3.5-turbo-1106"),
    "dulce by GPT-4": Table("dulce", "offline", GPT_4, measures=("n", *METRICS[7:])),
}
# What a large language model was asked: what the survey asks about single facts, and variants.
RECORDED = (
    "zeroshot", "cot", "vanilla", "bm25", "dense", "colbert", "hyde", "raptor", "raptor-k",
    "hipporag", "hipporag-passages", "fastgraphrag", "graphrag-local", "graphrag-er", "graphrag-cc",
    "vgraphrag-cc", "vgraphrag", "lightrag-local", "lightrag-global", "lightrag-hybrid", "pathrag",
)  # fmt: skip
SIZE = 1200
SPLITS = tuple(
    f"{DATASET} {how}" for how in ("as published", "joined in order", "joined at random")
)
RESPLIT = ("dense", "bm25", "hipporag", "hipporag-passages")  # graphs by the offline rules


def dulce(name: str) -> Corpus:
    """Microsoft's text units of Operation Dulce, the relations of its GPT-4 index as triples, and
    this kit's questions. An answer is covered where a phrase quoted as evidence stands in the
    context; gold are the text units that hold one.
    """
    graph, triples, questions = load_dulce().graph, dict[str, tuple[Triple, ...]](), []
    named = [node.name for node in graph.nodes]
    for place, chunk in enumerate(graph.chunks):
        said = [edge for edge in graph.edges if place in edge.chunks]
        triples[chunk.id] = tuple(
            Triple(named[edge.source], edge.description, named[edge.target]) for edge in said
        )
    for row in read_jsonl(shipped("questions_dulce.jsonl")):
        quoted = tuple(row["evidence"])
        gold = tuple(c.id for c in graph.chunks if any(words in c.text for words in quoted))
        questions.append(Question(row["id"], row["question"], quoted, gold))
    read = {GPT_4: Extraction("Microsoft's GPT-4 index", {}, triples)}
    return Corpus(name, (), graph.chunks, tuple(questions), read)


PUBLISHED: dict[str, Callable[[str], Corpus]] = {DATASET: load_dataset, "dulce": dulce}


def row_names() -> list[str]:
    """Every row there may be; a method that turns out to need a model or training has none."""
    names = [method.name for method in dict.fromkeys(METHODS.values())]
    rows = [f"{table}: {name}" for table in TABLES for name in names]
    return rows + [f"{split}: {name}" for split in SPLITS for name in RESPLIT]


def reproduce_unified(rows: Sequence[str] | None = None, encoder: str = "minilm") -> dict[str, Any]:
    """Run the tables: `{"target", "rows", "notes", "comparison"}`.

    Rows on MuSiQue and on Operation Dulce need their texts; without them they are left out, and a
    note says so.

    Source: Survey, Table 5 (tab-5); Survey, Table 7 (tab-7); Survey, Fig. 15 (fig-15)
    """
    measured, notes = list[dict[str, Any]](), list[str]()
    lost = tuple(data for data in PUBLISHED if not available(data))
    notes += [
        f"{data} is not here, so its rows are left out: minirag fetch {data}." for data in lost
    ]
    wanted = [name for name in rows or row_names() if not name.startswith(lost)]
    for name, at in TABLES.items():
        if chosen := [row.split(": ")[1] for row in wanted if row.startswith(f"{name}: ")]:
            found, why = table(at, chosen, encoder)
            measured += [{**row, "method": f"{name}: {row['method']}"} for row in found]
            notes += [f"{name}: {reason}: {', '.join(left)}" for reason, left in why.items()]
    if sizes := [row for row in wanted if row.split(": ")[0] in SPLITS]:
        measured += resplit(sizes, encoder)
    cells = compare(measured, expected_here("unified", rows))
    return {"target": "unified", "rows": measured, "notes": notes, "comparison": cells}


def table(
    at: Table, names: Sequence[str], encoder: str
) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """The leaderboard, and {reason: methods} of those without a row."""
    corpus = PUBLISHED.get(at.corpus, load_corpus)(at.corpus)
    rows, left = list[dict[str, Any]](), dict[str, list[str]]()
    try:
        board = run_bench(
            corpus, names, at.llm, encoder, at.extraction, gleanings=at.gleanings
        ).leaderboard
    except MiniragError as error:  # none of the methods runs
        return [], {str(error): list(names)}
    for line in board:
        why = line.get("note", "")
        if at.llm == "recorded" and RULES in line.get("answers by", ""):
            why = "not all of its answers are recorded"
        if why:
            left.setdefault(why.split(":")[0], []).append(line["method"])
            continue
        cells = {name: round(float(line[name]), 1) for name in at.measures if name in line}
        rows.append({"method": line["method"], **cells})
    return rows, left


def ask_recorded(llm: LLM, folder: str) -> None:
    """Everything that the table by recorded replies asks of a model; folder: for the log."""
    run_bench(load_corpus("professors"), RECORDED, llm, folder=folder, gleanings=0)


def split_anew(corpus: Corpus, size: int, seed: int | None = None) -> Corpus:
    """The passages joined to one text, in their order or shuffled by `seed`, and cut at every
    `size` tokens, wherever that is.

    Source: Survey, Fig. 15 (fig-15)
    """
    texts = [chunk.passage for chunk in corpus.chunks]
    if seed is not None:
        random.Random(seed).shuffle(texts)
    whole = Document(corpus.name, "\n\n".join(texts))
    return replace(
        corpus, name=f"{corpus.name}-{size}-{seed}", documents=(whole,), extractions={},
        chunks=tuple(chunk_tokens(whole, size, 0)),
    )  # fmt: skip


def resplit(rows: Iterable[str], encoder: str) -> list[dict[str, Any]]:
    """In how many percent of the questions an accepted answer stands in the first so many tokens of
    the passages found; "low" and "high" are of the largest budget.
    """
    published = replace(load_dataset(DATASET), extractions={})
    joined = (split_anew(published, SIZE), split_anew(published, SIZE, seed=0))
    corpora, found = dict(zip(SPLITS, (published, *joined))), list[dict[str, Any]]()
    for row in progress(list(rows), description="passages", unit="row"):
        split, name = row.split(": ")
        corpus = corpora[split]
        words = sum(len(chunk.passage.split()) for chunk in corpus.chunks)
        k = 2 * BUDGETS[-1] * len(corpus.chunks) // words  # enough for the largest budget
        method = METHODS[name].build(corpus, encoder=encoder)
        retrieved = method.retrieve_many([asked.text for asked in corpus.questions], k)
        contexts = ["\n".join(each.chunk.passage for each in of.passages) for of in retrieved]
        shares = [coverage(*pair) for pair in zip(contexts, (q.answers for q in corpus.questions))]
        values = {at: 100 * np.array([share[at] for share in shares]) for at in shares[0]}
        cells = {at: round(float(value.mean()), 1) for at, value in values.items()}
        low, high = interval([*values.values()][-1])
        found.append({"method": row, "n": len(shares), **cells, "low": low, "high": high})
    return found
