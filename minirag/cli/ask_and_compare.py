"""`minirag ask`: a question to any texts, and how the answer was found. `minirag compare`: what
several methods retrieve for the same question.
"""

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..core.errors import MiniragError
from .opening import (
    BASE_URL,
    CORPUS,
    DRY_RUN,
    ENCODER,
    EXTRACTION,
    LLM_SPEC,
    MAX_CALLS,
    RECORD,
    K,
    Session,
    open_session,
)
from .show import (
    BAD_INPUT,
    GOLD_NOTE,
    answer_lines,
    as_options,
    columns,
    complain,
    cost_lines,
    draw_walk,
    mark,
    one_of,
    say,
    scored,
    show_passages,
    show_plan,
    split_names,
    training_line,
)

if TYPE_CHECKING:
    from ..core.results import Retrieval

QUESTION = typer.Argument(help="In quotes.")
DEFAULT = "bm25,dense,hipporag,graphrag-local"  # words, vectors, a walk, entities and their reports


def ask(
    corpus: str = CORPUS,
    question: str = QUESTION,
    method: str = typer.Option("hipporag", help="One of `minirag methods`."),
    llm: str = LLM_SPEC,
    encoder: str = ENCODER,
    k: int = K,
    task: str | None = typer.Option(
        None,
        help="answer (short, the default), answer_open (may add what it knows) or full_answer.",
    ),
    trace: bool = typer.Option(False, help="Show every step of the retrieval."),
    dry_run: bool = DRY_RUN,
    max_calls: int | None = MAX_CALLS,
    record: Path | None = RECORD,
    base_url: str | None = BASE_URL,
    extraction: str | None = EXTRACTION,
    trained: Path | None = typer.Option(
        None,
        help=(
            "The folder of a model that `minirag train` wrote, if it is not where it is looked for."
        ),
    ),
    figure: Path | None = typer.Option(
        None, help="Also draw the walk over the graph, as .svg or .png."
    ),
) -> None:
    """Ask a question; see the answer and what led to it.

    Shown are the answer and who wrote it, the passages (* marks those that the corpus names as
    needed), and the entities that led there.
    """
    from ..core.results import Answer
    from ..methods import METHODS
    from ..methods.graph_prompted import NeedsTraining

    check_question(question)
    METHODS[one_of(method, list(METHODS), "method")].check_task(task)
    options = {"trained": str(trained.expanduser().resolve())} if trained else {}
    if trained and not METHODS[method].needs_training:
        raise MiniragError(f"the method {method!r} is not trained: leave --trained out.")
    session = open_session(
        corpus, [method], llm, encoder, extraction, record, max_calls, base_url, dry_run
    )
    opened, state = session.open(method, **options)
    try:
        answer = opened.answer(question, k, task or opened.short_task)
        lines = answer_lines(answer, opened)
    except NeedsTraining:
        answer = Answer("", opened.name, opened.retrieve(question, k))
        lines = [training_line(opened, corpus, session.untrainable)]
    if dry_run:
        return show_plan(session.llm, llm, f"Index: {state}.")
    say(session.about[0], f"Index: {state}.", *session.about[1:], "", f"Question: {question}")
    say(*lines, "")
    show_passages(opened, answer.retrieval, session.gold.get(question.strip(), ()))
    if trace:
        say("", "Trace:", answer.retrieval.explain())
    say("", *cost_lines(session.llm))
    if figure:
        draw_walk(opened, answer.retrieval).save(figure)
        say(f"Figure: {figure}")
    return None


def check_question(question: str) -> None:
    """Raise for an empty question."""
    if not question.strip():
        raise MiniragError("the question is empty. Write it in quotes after the corpus.")


def compare(
    corpus: str = CORPUS,
    question: str = QUESTION,
    methods: str | None = typer.Option(
        None, help=f"Names with commas between them; by default {DEFAULT}."
    ),
    llm: str = LLM_SPEC,
    encoder: str = ENCODER,
    k: int = K,
    dry_run: bool = DRY_RUN,
    max_calls: int | None = MAX_CALLS,
    record: Path | None = RECORD,
    base_url: str | None = BASE_URL,
    extraction: str | None = EXTRACTION,
) -> None:
    """See the passages of several methods side by side.

    Where the terminal is too narrow for that they stand one below the other. Passages with score
    0 are left out. If a method fails, the others are shown, and the exit status is 2.
    """
    from ..methods import METHODS

    check_question(question)
    names = split_names(DEFAULT if methods is None else methods, list(METHODS), "method")
    session = open_session(
        corpus, names, llm, encoder, extraction, record, max_calls, base_url, dry_run
    )
    found: dict[str, Retrieval] = {}
    failed: dict[str, Exception] = {}
    states = []
    for name in names:
        try:
            opened, state = session.open(name)
            found[name] = opened.retrieve(question, k)
            states.append(f"Index of {name}: {state}.")
        except (MiniragError, OSError) as error:
            failed[name] = error
    if failed and (dry_run or not found):
        raise next(iter(failed.values()))
    if dry_run:
        return show_plan(session.llm, llm, *states)
    say(*session.about, f"Question: {question}", "")
    show_side_by_side(session, found, session.gold.get(question.strip(), ()))
    if session.llm.is_model:
        say("", *cost_lines(session.llm))
    if methods is None:
        others = [name for name in METHODS if name == METHODS[name].name and name not in names]
        needy = [name for name in others if METHODS[name].needs_model]
        free = [name for name in others if name not in needy]
        say("", f"more: --methods {','.join(free)} (with a model also {','.join(needy)})")
    for name, failure in failed.items():
        complain(f"{name}: {as_options(failure)}")
    if failed:
        raise typer.Exit(BAD_INPUT)
    return None


def show_side_by_side(
    session: Session, found: dict[str, "Retrieval"], gold: Collection[str]
) -> None:
    """'Title (score) *' of each passage that scores; its id where chunks share the title."""
    titles = Counter(chunk.title for chunk in session.corpus.chunks)
    cells: dict[str, list[str]] = {}
    for name, retrieval in found.items():
        cells[name] = ["nothing scores above 0"] * (not scored(retrieval))
        for passage in scored(retrieval):
            title = passage.chunk.title if titles[passage.chunk.title] < 2 else ""
            cells[name].append(f"{title or passage.id} ({passage.score:.3f}){mark(passage, gold)}")
    columns("rank", cells)
    if any(line.endswith(" *") for lines in cells.values() for line in lines):
        say("", GOLD_NOTE)
