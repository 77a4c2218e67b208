"""`minirag fetch`: published data, pinned and verified. `minirag record`: ask a model once, replay
its answers for a class or in CI.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import typer

from ..core.errors import MiniragError
from .opening import BASE_URL, CORPUS, DRY_RUN, ENCODER, RULES, Session, open_session
from .show import one_of, say, show_plan, split_names, table


def fetch(
    name: str | None = typer.Argument(None, help="One of `minirag fetch --list`."),
    folder: Path | None = typer.Option(
        None, help="Where to put it; by default MINIRAG_DATA, else the system's data folder."
    ),
    show_list: bool = typer.Option(False, "--list", help="What can be fetched, and what is here."),
) -> None:
    """Download a published dataset and verify every file.

    The commit is pinned; a download that was interrupted goes on where it stopped.
    """
    from ..corpora import fetching

    if show_list:
        rows = []
        for dataset in fetching.DATASETS.values():
            sizes = [file.bytes or 0 for file in dataset.files]
            size = f"{sum(sizes) / 1e6:.1f}" if all(sizes) else "not measured"
            here = "yes" if fetching.available(dataset.name, folder) else "no"
            rows.append([dataset.name, dataset.title, dataset.licence, size, here])
        return table(["name", "what", "licence", "MB", "here"], rows, numbers=["MB"])
    if name is None:
        raise MiniragError(
            f"name a dataset: {', '.join(fetching.DATASETS)}. `minirag fetch --list` tells what"
            " they are."
        )
    one_of(name, list(fetching.DATASETS), "dataset")
    say(f"{name}: complete and verified in {fetching.fetch(name, folder)}")
    return None


def record(
    corpus: str = CORPUS,
    llm: str = typer.Option(..., help="openai:MODEL, ollama:MODEL or hf:MODEL_OR_PATH."),
    file: Path = typer.Option(..., help="The recording; one that exists is continued."),
    questions: int | None = typer.Option(
        None, min=0, help="How many of the corpus's questions; by default all."
    ),
    ask: list[str] | None = typer.Option(None, help="A question of your own; may be repeated."),
    methods: str = typer.Option(
        "hipporag", help="Methods whose answers are recorded, with commas between them."
    ),
    encoder: str = ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages an answer is written from."),
    workers: int = typer.Option(4, min=1, help="Calls in flight at once."),
    max_calls: int | None = typer.Option(None, min=0, help="Stop before one call more."),
    base_url: str | None = BASE_URL,
    dry_run: bool = DRY_RUN,
) -> None:
    """Record a model's answers, to replay them without it.

    Recorded are its reading of the corpus (triples that came with it are not used), the entities of
    the questions, and the short answers. An interrupted run goes on where it stopped.
    """
    from ..methods import METHODS

    names = split_names(methods, list(METHODS), "method")
    session = open_session(corpus, names, llm, encoder, RULES, file, max_calls, base_url, dry_run)
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
        return show_plan(session.llm, llm)
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
        for name in names:
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
            list(pool.map(ask, questions))
