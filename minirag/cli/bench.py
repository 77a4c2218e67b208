"""`minirag bench`: every method over all questions of a corpus, in one table."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import MiniragError
from ..core.files import write_atomic
from . import opening
from .show import markdown, one_of, say, split_names, table

if TYPE_CHECKING:
    from ..core.corpus import Corpus, Question
    from ..llm import LLM

SHORT = "accuracy,low,high,gain,gain low,gain high,verdict,recall,EM,F1,R@2,R@5,cover@4k,calls"
SHORT += ",prompt tokens,completion tokens,seconds"
OFFLINE = "Rules answered, nothing was sent anywhere: tokens are what a model would have been sent."
WORDS = ("method", "methods", "graph", "verdict", "note", "answers by")
Row = dict[str, Any]


def bench(
    corpus: str = opening.CORPUS,
    methods: str = typer.Option("all", help="Names with commas between them, or all."),
    questions: Path | None = typer.Option(
        None,
        help="Your own, a line of JSON each: question, answers, perhaps id and gold (passages).",
    ),
    llm: str = opening.LLM_SPEC,
    encoder: str = opening.ENCODER,
    extraction: str | None = opening.EXTRACTION,
    k: int = opening.K,
    baseline: str = typer.Option("vanilla", help="Whom the others are compared with."),
    by_code: bool = typer.Option(False, "--by-code", help="Score as the papers' code does."),
    out: Path | None = typer.Option(None, help="A folder for log and results; else the cache's."),
    workers: int = typer.Option(1, min=1, help="Processes, or with a model threads, at once."),
    columns: str = typer.Option(SHORT, help="Of the printed table, or all."),
    as_markdown: bool = typer.Option(False, "--markdown", help="Print Markdown tables."),
    json_file: Path | None = typer.Option(None, "--json", help="Also write all to this file."),
    figure: Path | None = typer.Option(None, help="Draw accuracies as .png, times as _time.png."),
    record: Path | None = opening.RECORD,
    max_calls: int | None = opening.MAX_CALLS,
    base_url: str | None = opening.BASE_URL,
    model: str | None = opening.MODEL,
    submit: bool = opening.SUBMIT,
) -> None:
    """Ask every method every question of a corpus, in one table.

    Compared are answers, evidence and costs. A run that was killed goes on where it stopped: type
    the same command again. Gains are those in accuracy over the baseline on the same questions,
    with 95 % bootstrap intervals. Replies by rules and recorded ones take no time, so that the
    seconds are then those of the retrieval.
    """
    from ..evaluate.bench import run_bench
    from ..methods import METHODS

    known = [name for name in METHODS if METHODS[name].name == name]
    names = known if methods == "all" else split_names(methods, known, "method")
    one_of(baseline, known, "method")
    if figure and figure.suffix != ".png":
        raise MiniragError(f"--figure {figure}: give a name that ends in .png.")
    opening.encoder_named(encoder)
    texts = opening.open_corpus(corpus)
    if questions:
        texts = replace(texts, questions=tuple(read_questions(questions, texts)))
    chosen = [opening.extraction_for(name, texts, extraction, llm) for name in names]
    asked = opening.open_llm(
        llm, record=record, base_url=base_url, max_calls=max_calls, model=model, submit=submit
    )
    with pool(workers, asked) as executor:
        result = run_bench(
            texts, names, asked, encoder, next(filter(None, chosen), None), k, out, baseline,
            "code" if by_code else "paper", executor,
        )  # fmt: skip
    told = {"leaderboard": result.leaderboard, "graphs": result.graphs, "answers": result.answers}
    written = [write_table(result.folder / name, rows) for name, rows in told.items()]
    if json_file:
        by: dict[str, Any] = {"corpus": texts.name, "llm": asked.name, "encoder": encoder}
        written.append(write_atomic(json_file, json.dumps({**by, **told}, ensure_ascii=False)))
    there = ["all", *dict.fromkeys(key for row in result.leaderboard for key in row)]
    picked = columns.split(",") if columns == SHORT else split_names(columns, there, "column")
    wanted = [] if columns == "all" else ["method", "graph", "n", *picked, "note"]
    if len({row["answers by"] for row in result.leaderboard if "answers by" in row}) > 1:
        wanted += ["answers by"] * bool(wanted)
    show_rows(result.leaderboard, wanted, as_markdown)
    show_rows(result.graphs, [], as_markdown)
    if figure:
        from ..viz import draw_points, draw_vectors

        ran = [row for row in result.leaderboard if "accuracy" in row]
        dots = {row["method"]: (row["accuracy"], row["low"], row["high"]) for row in ran}
        chart = draw_points(dots, "accuracy, % of questions", title=texts.name)
        written.append(write_atomic(figure, chart.png))
        paid = {row["method"]: (row["completion tokens"] or 1, row["seconds"]) for row in ran}
        axes = "tokens written for a question", "seconds for a question"
        chart = draw_vectors(paid, axes, title=texts.name, arrows=False, log=True)
        written.append(write_atomic(figure.with_stem(f"{figure.stem}_time"), chart.png))
    say("", f"Answers by {asked.name}.", *[OFFLINE] * (not asked.is_model))
    say(*(f"Written: {path}" for path in written))


def read_questions(path: Path, corpus: "Corpus") -> "Iterator[Question]":
    """The questions of a file, checked line by line. gold: ids or titles of passages, or ids of
    documents, which stand for all their passages; answers: wordings, or for each of several things
    asked a list of them.
    """
    from ..corpora.survey_sets import Parted
    from ..evaluate.bench import EXAMPLE

    passages: dict[str, list[str]] = {}
    for chunk in corpus.chunks:
        for known in {chunk.id, chunk.document_id, chunk.title}:
            passages.setdefault(known, []).append(chunk.id)
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
            text, answers, gold = row["question"], row["answers"], row.get("gold", [])
            parts = answers if answers and isinstance(answers[0], list) else [answers]
            if not (all(map(are_texts, [[text], gold, *parts])) and all(parts)):
                raise ValueError("answers and gold are lists of texts, and no text is empty")
        except (ValueError, TypeError, KeyError) as error:
            raise MiniragError(
                f"{where}: no question with answers ({type(error).__name__}: {error}). Write each "
                f"on a line of its own as {EXAMPLE}."
            ) from None
        if unknown := [each for each in gold if each not in passages]:
            raise MiniragError(
                f"{where}: {unknown[0]!r} is no passage, file or title of {corpus.name!r}; the "
                f"first are: {', '.join(list(passages)[:5])}."
            )
        yield Parted(
            str(row.get("id", number)), text,
            tuple(wording for part in parts for wording in part),
            tuple(dict.fromkeys(id for each in gold for id in passages[each])),
            parts=tuple(map(tuple, parts)),
        )  # fmt: skip


def are_texts(value: object) -> bool:
    """Whether a value is a list of texts that are not blank."""
    return isinstance(value, list) and all(isinstance(t, str) and t.strip() for t in value)


@contextmanager
def pool(workers: int, llm: "LLM") -> "Iterator[Executor | None]":
    """Threads for a model, which is waited for; processes for rules, which compute."""
    if workers == 1 or llm.waits:
        yield None
        return
    threads = llm.is_model or not llm.travels
    spawn = get_context("spawn")
    with ThreadPoolExecutor(workers) if threads else ProcessPoolExecutor(workers, spawn) as made:
        yield made


def write_table(path: Path, rows: Sequence[Row]) -> Path:
    """`rows` as path.parquet where pandas and pyarrow are installed (the extra `parquet`), else as
    path.csv; returns which.
    """
    data, text = io.BytesIO(), io.StringIO(newline="")
    try:
        import pandas as pd

        pd.DataFrame(rows).to_parquet(data)
    except ImportError:
        writer = csv.DictWriter(text, dict.fromkeys(key for row in rows for key in row))
        writer.writeheader()
        writer.writerows(rows)
        return write_atomic(path.with_suffix(".csv"), text.getvalue())
    return write_atomic(path.with_suffix(".parquet"), data.getvalue())


def show_rows(rows: Sequence[Row], wanted: Sequence[str], as_markdown: bool) -> None:
    """Those of the wanted columns that any row has."""
    there = list(dict.fromkeys(key for row in rows for key in row))
    headers = [name for name in wanted or there if name in there]
    cells = [[shown(row.get(name, "")) for name in headers] for row in rows]
    if as_markdown:
        typer.echo(markdown(headers, cells))
    else:
        table(headers, cells, numbers=[name for name in headers if name not in WORDS])


def shown(value: object) -> str:
    """A cell: a number with one decimal where it has any, names with commas between them."""
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
