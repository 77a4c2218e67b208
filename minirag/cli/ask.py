"""`minirag ask`: a question to any texts, and how the answer was found. `minirag compare`: what
several methods retrieve for the same question. `minirag record`: ask a model once, replay its
answers for a class or in CI.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import MiniragError
from . import opening, show
from .opening import Session, open_session
from .show import one_of, say, split_names

if TYPE_CHECKING:
    from ..core.results import Retrieval

QUESTION = typer.Argument(help="In quotes.")
DEFAULT = "bm25,dense,hipporag,graphrag-local"  # words, vectors, a walk, entities and their reports


ASKED_LLM = typer.Option(
    None,
    help=f"{opening.SPECS}; by default recorded for a corpus of the kit, else offline; "
    f"{opening.BATCHES}.",
)


def ask(
    corpus: str = opening.CORPUS,
    question: str = QUESTION,
    method: str = typer.Option("hipporag", help="One of `minirag methods`."),
    llm: str | None = ASKED_LLM,
    encoder: str = opening.ENCODER,
    k: int = opening.K,
    task: str | None = typer.Option(
        None,
        help="answer (short, the default), answer_open (may add what it knows) or full_answer.",
    ),
    trace: bool = typer.Option(False, help="Show every step of the retrieval."),
    dry_run: bool = opening.DRY_RUN,
    max_calls: int | None = opening.MAX_CALLS,
    record: Path | None = opening.RECORD,
    base_url: str | None = opening.BASE_URL,
    model: str | None = opening.MODEL,
    submit: bool = opening.SUBMIT,
    extraction: str | None = opening.EXTRACTION,
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
    llm = llm or default_llm(corpus, dry_run)
    METHODS[one_of(method, list(METHODS), "method")].check_task(task)
    options = {"trained": str(trained.expanduser().resolve())} if trained else {}
    if trained and not METHODS[method].needs_training:
        raise MiniragError(f"the method {method!r} is not trained: leave --trained out.")
    session = open_session(
        corpus, [method], llm, encoder, extraction, record, base_url, dry_run,
        max_calls=max_calls, model=model, submit=submit,
    )  # fmt: skip
    opened, state = session.open(method, **options)
    try:
        answer = opened.answer(question, k, task or opened.short_task)
        lines = show.answer_lines(answer, opened)
    except NeedsTraining:
        answer = Answer("", opened.name, opened.retrieve(question, k))
        lines = [show.training_line(opened, corpus, session.untrainable)]
    if dry_run:
        return show.show_plan(session.llm, llm, f"Index: {state}.")
    say(session.about[0], f"Index: {state}.", *session.about[1:], "", f"Question: {question}")
    say(*lines, "")
    show.show_passages(opened, answer.retrieval, session.gold.get(question.strip(), ()))
    if trace:
        say("", "Trace:", answer.retrieval.explain())
    say("", *show.cost_lines(session.llm))
    if figure:
        show.draw_walk(opened, answer.retrieval).save(figure)
        say(f"Figure: {figure}")
    return None


def default_llm(where: str, dry_run: bool) -> str:
    """The recordings for a corpus of the kit; a dry run counts what a live model would be asked."""
    from ..corpora.shipped_and_folders import list_corpora

    return "recorded" if where in list_corpora() and not dry_run else "offline"


def check_question(question: str) -> None:
    """Raise for an empty question."""
    if not question.strip():
        raise MiniragError("the question is empty. Write it in quotes after the corpus.")


def compare(
    corpus: str = opening.CORPUS,
    question: str = QUESTION,
    methods: str | None = typer.Option(
        None, help=f"Names with commas between them; by default {DEFAULT}."
    ),
    llm: str | None = ASKED_LLM,
    encoder: str = opening.ENCODER,
    k: int = opening.K,
    dry_run: bool = opening.DRY_RUN,
    max_calls: int | None = opening.MAX_CALLS,
    record: Path | None = opening.RECORD,
    base_url: str | None = opening.BASE_URL,
    model: str | None = opening.MODEL,
    submit: bool = opening.SUBMIT,
    extraction: str | None = opening.EXTRACTION,
) -> None:
    """See the passages of several methods side by side.

    Where the terminal is too narrow for that they stand one below the other. Passages with score
    0 are left out. If a method fails, the others are shown, and the exit status is 2.
    """
    from ..llm import Waiting
    from ..methods import METHODS

    check_question(question)
    llm = llm or default_llm(corpus, dry_run)
    names = split_names(DEFAULT if methods is None else methods, list(METHODS), "method")
    session = open_session(
        corpus, names, llm, encoder, extraction, record, base_url, dry_run,
        max_calls=max_calls, model=model, submit=submit,
    )  # fmt: skip
    found: dict[str, Retrieval] = {}
    failed: dict[str, Exception] = {}
    states = []

    def search(name: str) -> None:
        try:
            opened, state = session.open(name)
            found[name] = opened.retrieve(question, k)
            states.append(f"Index of {name}: {state}.")
        except Waiting:  # for a batch, with the prompts of the other methods
            raise
        except (MiniragError, OSError) as error:
            failed[name] = error

    session.llm.each(search, names)
    if failed and (dry_run or not found):
        raise next(iter(failed.values()))
    if dry_run:
        return show.show_plan(session.llm, llm, *states)
    say(*session.about, f"Question: {question}", "")
    show_side_by_side(session, found, session.gold.get(question.strip(), ()))
    if session.llm.is_model:
        say("", *show.cost_lines(session.llm))
    if methods is None:
        others = [name for name in METHODS if name == METHODS[name].name and name not in names]
        needy = [name for name in others if METHODS[name].needs_model]
        free = [name for name in others if name not in needy]
        say("", f"more: --methods {','.join(free)} (with a model also {','.join(needy)})")
    for name, failure in failed.items():
        show.complain(f"{name}: {show.as_options(failure)}")
    if failed:
        raise typer.Exit(show.BAD_INPUT)
    return None


def show_side_by_side(
    session: Session, found: dict[str, "Retrieval"], gold: Collection[str]
) -> None:
    """'Title (score) *' of each passage that scores; its id where chunks share the title."""
    titles = Counter(chunk.title for chunk in session.corpus.chunks)
    cells: dict[str, list[str]] = {}
    for name, retrieval in found.items():
        cells[name] = ["nothing scores above 0"] * (not show.scored(retrieval))
        for passage in show.scored(retrieval):
            title = passage.chunk.title if titles[passage.chunk.title] < 2 else ""
            star = show.mark(passage, gold)
            cells[name].append(f"{title or passage.id} ({passage.score:.3f}){star}")
    show.columns("rank", cells)
    if any(line.endswith(" *") for lines in cells.values() for line in lines):
        say("", show.GOLD_NOTE)


def record(
    corpus: str = opening.CORPUS,
    llm: str = typer.Option(..., help=f"{opening.LIVE}."),
    file: Path = typer.Option(..., help="The recording; one that exists is continued."),
    questions: int | None = typer.Option(
        None, min=0, help="How many of the corpus's questions; by default all."
    ),
    ask: list[str] | None = typer.Option(None, help="A question of your own; may be repeated."),
    methods: str = typer.Option(
        "hipporag", help="Methods whose answers are recorded, with commas between them."
    ),
    encoder: str = opening.ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages an answer is written from."),
    workers: int = typer.Option(4, min=1, help="Calls in flight at once."),
    max_calls: int | None = typer.Option(None, min=0, help="Stop before one call more."),
    base_url: str | None = opening.BASE_URL,
    model: str | None = opening.MODEL,
    submit: bool = opening.SUBMIT,
    dry_run: bool = opening.DRY_RUN,
) -> None:
    """Record a model's answers, to replay them without it.

    Recorded are its reading of the corpus (triples that came with it are not used), the entities of
    the questions, and the short answers. An interrupted run goes on where it stopped.
    """
    from ..methods import METHODS

    names = split_names(methods, list(METHODS), "method")
    session = open_session(
        corpus, names, llm, encoder, opening.RULES, file, base_url, dry_run,
        max_calls=max_calls, model=model, submit=submit,
    )  # fmt: skip
    known = session.corpus.questions
    wanted = [question.text for question in known][:questions] + (ask or [])
    if not any(question.strip() for question in wanted) and questions != 0:
        raise MiniragError(
            f"{session.corpus.name!r} comes without questions: give some with --ask, or --questions"
            " 0 to record the reading alone."
        )
    try:
        ask_everything(session, wanted, names, k, workers)
    finally:
        if not dry_run and file.exists():
            say(f"Recorded in {file}:", repr(session.llm.ledger))
    if dry_run:
        return show.show_plan(session.llm, llm)
    say(f'Replay it with the same encoder and -k: minirag ask {corpus} "..." --llm replay:{file}')
    return None


def ask_everything(
    session: Session, questions: Sequence[str], names: Sequence[str], k: int, workers: int
) -> None:
    """Everything worth recording, asked in the order in which it depends on each other."""
    from ..graphs import extract
    from ..methods import METHODS

    extraction, encoder = None, "lsa" if session.dry_run else session.encoder
    with ThreadPoolExecutor(workers) as pool:

        def ask_one(name: str) -> None:
            nonlocal extraction
            options: dict[str, Any] = {}
            if METHODS[name].graph_type != "none":
                extraction = extraction or extract(session.corpus, session.llm, pool)
                options["extraction"] = extraction
            method = METHODS[name].build(
                session.corpus, llm=session.llm, encoder=encoder, **options
            )
            ask: Any = partial(method.answer, k=k, task=method.short_task)  # as `minirag ask` does
            if method.needs_training:  # a trained model's answers are not the language model's
                ask = partial(method.retrieve, k=k)
            session.llm.each(ask, questions, pool)

        session.llm.each(ask_one, names)
