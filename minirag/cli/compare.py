"""`minirag compare`: what several methods retrieve for the same question."""

from collections import Counter
from pathlib import Path

import typer

from ..core.errors import MiniragError
from .app import BAD_INPUT, app, as_options, complain, split_names
from .ask import (  # fmt: skip
    BASE_URL,
    CORPUS,
    DRY_RUN,
    ENCODER,
    EXTRACTION,
    GOLD_NOTE,
    LLM,
    MAX_CALLS,
    NOTHING,
    RECORD,
    gold_of,
    graph_line,
    not_empty,
    show_plan,
)
from .models import check_needs, encoder_named, kept_line, open_llm
from .opening import open_corpus, open_index, options_for, plan_index
from .show import columns, say

DEFAULT = (
    "bm25",
    "dense",
    "hipporag",
    "graphrag-local",
)  # words, vectors, a walk over a graph, entities and their reports


@app.command()
def compare(
    corpus: str = CORPUS,
    question: str = typer.Argument(help="In quotes."),
    methods: str | None = typer.Option(
        None, help=f"Names with commas between them; by default {','.join(DEFAULT)}."
    ),
    llm: str = LLM,
    encoder: str = ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages."),
    dry_run: bool = DRY_RUN,
    max_calls: int | None = MAX_CALLS,
    record: Path | None = RECORD,
    base_url: str | None = BASE_URL,
    extraction: str | None = EXTRACTION,
):
    """See the passages of several methods side by side.

    Where the terminal is too narrow for that they stand one below the other. Passages with score
    0 are left out. If a method fails, the others are shown, and the exit status is 2.
    """
    from ..methods import METHODS

    not_empty(question)
    names = split_names(methods, list(METHODS), "method") if methods is not None else list(DEFAULT)
    encoder_named(encoder)
    if not dry_run:
        check_needs(names, llm)
    texts = open_corpus(corpus)
    options = {name: options_for(name, texts, extraction, llm) for name in names}
    model = open_llm(llm, record=record, max_calls=max_calls, base_url=base_url, dry_run=dry_run)
    if dry_run:
        planned = {
            name: plan_index(name, texts, llm, model, encoder, options[name], base_url=base_url)
            for name in names
        }
        for method, _ in planned.values():
            method.retrieve(question, k)
        return show_plan(
            model.ledger,
            llm,
            *(f"Index of {name}: {state}." for name, (_, state) in planned.items()),
        )
    found, failed = retrieve_all(names, texts, model, encoder, options, question, k)
    say(repr(texts), *graph_line(names, texts, extraction, llm, model), f"Question: {question}", "")
    gold, titles = gold_of(texts, question), Counter(chunk.title for chunk in texts.chunks)
    cells = {name: _cells(retrieval, gold, titles) for name, retrieval in found.items()}
    columns("rank", {name: lines or ["nothing scores above 0"] for name, lines in cells.items()})
    if any(line.endswith(" *") for lines in cells.values() for line in lines):
        say("", GOLD_NOTE)
    if model.is_model:
        say("", repr(model.ledger), *kept_line(model))
    if methods is None:
        others = [
            name for name, method in METHODS.items() if name not in DEFAULT and name == method.name
        ]
        free = [name for name in others if not METHODS[name].needs_model]
        say(
            "",
            f"more: --methods {','.join(free)} (with a model also {','.join(name for name in others if name not in free)})",
        )
    for name, error in failed.items():
        complain(f"{name}: {as_options(error)}")
    if failed:
        raise typer.Exit(BAD_INPUT)


def retrieve_all(names, corpus, model, encoder, options, question, k):
    """`(found, failed)`: what each method retrieves, or its error; raised where all have one."""
    found, failed = {}, {}
    for name in names:
        try:
            method, _ = open_index(name, corpus, model, encoder, options[name])
            found[name] = method.retrieve(question, k)
        except (MiniragError, OSError) as error:
            failed[name] = error
    if not found:
        raise next(iter(failed.values()))
    return found, failed


def _cells(retrieval, gold, titles):
    """'Title (score) *' of each passage that scores; its id where chunks share the title."""
    cells = []
    for passage in retrieval:
        if abs(passage.score) >= NOTHING:
            title = passage.chunk.title if titles[passage.chunk.title] < 2 else ""
            mark = " *" if passage.id in gold else ""
            cells.append(f"{title or passage.id} ({passage.score:.3f}){mark}")
    return cells
