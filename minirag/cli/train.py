"""`minirag train`: what GRAG and G-Retriever need before they can answer."""

import shlex
from dataclasses import replace
from pathlib import Path

import typer

from ..core.errors import MiniragError
from ..core.files import cache_folder
from .app import app, note, one_of
from .ask import ENCODER, EXTRACTION, LLM
from .models import can_write, encoder_named, open_llm
from .opening import open_corpus, open_index, options_for
from .show import say, table


@app.command()
def train(
    method: str = typer.Argument(help="grag or g-retriever."),
    corpus: str = typer.Argument(
        metavar="CORPUS_OR_TASK",
        help="A corpus or folder with questions and answers, or the task detours or expla_graphs.",
    ),
    seed: int = typer.Option(
        0, min=0, help="The seed of all that is drawn by chance, except the split of the questions."
    ),
    epochs: int | None = typer.Option(
        None, min=0, help="Epochs of training through the language model; the paper has at most 10."
    ),
    alignment_epochs: int | None = typer.Option(
        None, min=0, help="Epochs of the warm-up before that, without the language model."
    ),
    questions: int | None = typer.Option(
        None, min=1, help="Only for a task: how many of its training questions to use."
    ),
    language_model: str | None = typer.Option(
        None,
        help="A causal model of Hugging Face, by name or folder; by default a tiny one is taught first.",
    ),
    language_steps: int | None = typer.Option(
        None, min=1, help="Steps of teaching the tiny language model."
    ),
    tuning: str = typer.Option(
        "frozen", help="What is trained of the language model: nothing (frozen), lora or full."
    ),
    encoder: str = ENCODER,
    extraction: str | None = EXTRACTION,
    llm: str = LLM,
    follow: str = typer.Option(
        "paper", help="Do as the paper says or as its official code does: paper or code."
    ),
    device: str | None = typer.Option(None, help="cpu or cuda; by default a GPU if there is one."),
    folder: Path | None = typer.Option(
        None, help="Where the trained model goes; by default where `minirag ask` looks for it."
    ),
):
    """Train GRAG or G-Retriever, so that they can answer.

    The questions are split by chance, the same way each time: most are learnt from, some decide
    when to stop, the rest are only measured. A killed
    run goes on where it stopped: type the same command again.
    """
    from ..methods import METHODS

    one_of(
        method,
        [name for name, known in METHODS.items() if known.needs_training],
        "method to train called",
    )
    one_of(tuning, ["frozen", "lora", "full"], "tuning")
    one_of(follow, ["paper", "code"], "version to follow called")
    if device is not None:
        one_of(device.partition(":")[0], ["cpu", "cuda"], "device")
    encoder_named(encoder)
    elsewhere = folder is not None
    lesson, folder = lesson_of(method, corpus, encoder, extraction, llm, follow, questions, folder)
    changed = {
        name: value
        for name, value in {
            "epochs": epochs,
            "alignment_epochs": alignment_epochs,
            "device": device,
        }.items()
        if value is not None
    }
    lesson = replace(lesson, plan=replace(lesson.plan, seed=seed, **changed))
    if language_steps is not None:
        lesson = replace(lesson, pretraining=replace(lesson.pretraining, steps=language_steps))
    told = run(lesson, folder, language_model, tuning)
    report(told, folder)
    say(
        "",
        "Next:",
        *(
            f"  {line}"
            for line in next_lines(
                told, folder, lesson, corpus, encoder, extraction, llm, follow, elsewhere
            )
        ),
    )


def lesson_of(method, corpus, encoder, extraction, llm, follow, questions, folder):
    """What is taught, and the folder where it goes."""
    from ..evaluate.training import TASKS, corpus_lesson, split_questions, task_lesson
    from ..methods import METHODS

    if corpus in TASKS:
        if extraction is not None:
            raise MiniragError(
                f"the task {corpus!r} brings its own graphs: leave --extraction out."
            )
        lesson = task_lesson(corpus, METHODS[method], encoder, follow, questions)
        return lesson, folder or cache_folder() / "trained" / f"{method}-{corpus}"
    try:
        texts = open_corpus(corpus)
    except MiniragError as error:
        raise MiniragError(f"{error} The tasks to train on are {' and '.join(TASKS)}.") from error
    if questions is not None:
        raise MiniragError(
            f"--questions is for the tasks {' and '.join(TASKS)}; of {texts.name!r} all questions are used."
        )
    split_questions(texts)  # too few questions are told before a graph is read
    options = options_for(method, texts, extraction, llm) | (
        {"follow": follow} if follow != "paper" else {}
    )
    built, state = open_index(method, texts, open_llm(llm), encoder, options)
    say(repr(built.relations), f"Index: {state}.")
    return corpus_lesson(built, texts), folder or built.trained_folder


def run(lesson, folder, language_model, tuning):
    """Train, or go on, or find it done; an interruption says how to go on."""
    from ..evaluate import training

    if not can_write(folder):
        raise MiniragError(
            f"{folder} cannot be written: give another --folder, or set MINIRAG_CACHE to a folder of your own."
        )
    sizes = ", ".join(
        f"{len(lesson.parts[part])} {what}"
        for part, what in zip(training.PARTS, ("to learn from", "to choose an epoch", "to measure"))
    )
    say(f"Questions of {lesson.name} ({lesson.source}): {sizes}.")
    key = training.run_key(lesson, language_model, tuning)
    if training.finished(folder, key):
        say("Trained already with the same options; delete the folder to train anew.")
    elif training.run_folder(folder, key).is_dir():
        note("an earlier run with the same options was stopped; it goes on from there.")
    try:
        return training.train(lesson, folder, language_model, tuning)
    except KeyboardInterrupt:
        raise MiniragError(
            "stopped. What was learnt up to the last epoch is kept: the same command goes on from there."
        ) from None


def report(told, folder):
    """The table of what was measured, and how far to trust it."""
    from ..evaluate.training import TOY
    from ..neural.trained import describe

    questions, measured = told["questions"], told["measured"]
    rows = [
        [
            "questions learnt from"
            + (f" (the first {TOY})" if len(questions["train"]) > TOY else ""),
            len(questions["train"]),
            measured["train"],
        ],
        ["validation, the best epoch", len(questions["validation"]), measured["validation"]],
        ["test, never learnt from", len(questions["test"]), measured["test"]],
        [
            f"test, always {measured['majority answer']!r}",
            len(questions["test"]),
            measured["majority"],
        ],
    ]
    say(
        "",
        f"Trained: {describe(told)}; seed {told['seed']}, encoder {told['encoder']}, {measured['seconds']:.0f} s of training.",
        "",
    )
    table(
        ["questions", "how many", "right %"],
        [[*row[:2], f"{row[2]:.1f}"] for row in rows],
        numbers=["how many", "right %"],
    )
    if len(questions["train"]) < TOY:
        said = "are far too few to learn how new ones are answered. This shows how training goes, not how well the method works."
        say("", f"A toy: {len(questions['train'])} questions {said}")
    say("", f"Saved in {folder}")


def next_lines(told, folder, lesson, corpus, encoder, extraction, llm, follow, elsewhere):
    """What to type next: the folder only where the model is not looked for by itself."""
    from ..evaluate.training import TASKS

    if corpus in TASKS:
        there = f"model = trained.load({str(folder)!r})"
        return [
            "in Python, for graphs of the same kind:",
            "from minirag.neural import trained",
            there,
            "model.write(examples, encoder)  # of minirag.neural.batches.Example",
        ]
    question, method = lesson.parts["test"][0].question, told["method"]
    if follow == "code":
        given = f"follow='code', encoder={encoder!r}, extraction={extraction!r}, trained={str(folder)!r}"
        return [
            "in Python, since a command follows the paper:",
            f"minirag.METHODS[{method!r}].build(corpus, {given}).answer({question!r})",
        ]
    words = [
        "minirag",
        "ask",
        corpus,
        question,
        "--method",
        method,
        *["--encoder", encoder] * (encoder != "minilm"),
        *["--llm", llm] * (llm != "offline"),
    ]
    return [
        shlex.join(
            [
                *words,
                *(["--extraction", extraction] if extraction else []),
                *(["--trained", str(folder)] if elsewhere else []),
            ]
        )
    ]
