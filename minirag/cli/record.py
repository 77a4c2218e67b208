"""`minirag record`: ask a model once, replay its answers for a class or in CI."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import typer

from ..core.errors import MiniragError
from .app import app, split_names
from .ask import CORPUS, ENCODER, show_plan
from .models import check_needs, encoder_named, open_llm
from .opening import open_corpus
from .show import say


@app.command()
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
    base_url: str | None = typer.Option(None, help="The address of an OpenAI-compatible server."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Count calls and tokens, ask nobody."),
):
    """Record a model's answers, to replay them without it.

    Recorded are its reading of the corpus (triples that came with it are not used), the entities of
    the questions, and the short answers. An interrupted run goes on where it stopped.
    """
    from ..methods import METHODS

    names = split_names(methods, list(METHODS), "method")
    texts = open_corpus(corpus)
    wanted = [question.text for question in texts.questions][:questions] + (ask or [])
    if not any(question.strip() for question in wanted) and questions != 0:
        raise MiniragError(
            f"{texts.name!r} comes without questions: give some with --ask, or --questions 0 to record the reading alone."
        )
    encoder_named(encoder)
    if not dry_run:
        check_needs(names, llm)
    model = open_llm(llm, record=file, max_calls=max_calls, base_url=base_url, dry_run=dry_run)
    try:
        run(texts, model, wanted, names, "lsa" if dry_run else encoder, k, workers)
    finally:
        if not dry_run and file.exists():
            say(f"Recorded in {file}:", repr(model.ledger))
    if dry_run:
        return show_plan(model.ledger, llm)
    say(f'Replay it with the same encoder and -k: minirag ask {corpus} "..." --llm replay:{file}')


def run(corpus, llm, questions, names, encoder, k, workers):
    """Everything worth recording, asked in the order in which it depends on each other."""
    from ..graphs import extract
    from ..methods import METHODS

    extraction = None
    with ThreadPoolExecutor(workers) as pool:
        for name in names:
            options = {}
            if METHODS[name].graph_type != "none":
                extraction = options["extraction"] = extraction or extract(corpus, llm, pool)
            method = METHODS[name].build(corpus, llm=llm, encoder=encoder, **options)
            ask = partial(method.answer, k=k, task=method.short_task)  # what `minirag ask` asks
            if method.needs_training:  # a trained model's answers are not the language model's
                ask = partial(method.retrieve, k=k)
            list(pool.map(ask, questions))
