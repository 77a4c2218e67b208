"""`minirag train`: what GRAG and G-Retriever need before they can answer."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import MiniragError
from ..core.files import cache_folder
from .opening import ENCODER, EXTRACTION, LLM_SPEC, can_write, encoder_named, open_session
from .show import note, one_of, say, table

if TYPE_CHECKING:
    from ..evaluate.training import Lesson


@dataclass(frozen=True)
class Asked:
    """What is to be trained, as it was typed: the method, and the task or the corpus with all that
    decides its index. folder: where the model goes, if that was said.
    """

    method: str
    corpus: str
    encoder: str
    extraction: str | None
    llm: str
    follow: str
    questions: int | None
    folder: Path | None


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
        help=(
            "A causal model of Hugging Face, by name or folder; by default a tiny one is taught"
            " first."
        ),
    ),
    language_steps: int | None = typer.Option(
        None, min=1, help="Steps of teaching the tiny language model."
    ),
    tuning: str = typer.Option(
        "frozen", help="What is trained of the language model: nothing (frozen), lora or full."
    ),
    encoder: str = ENCODER,
    extraction: str | None = EXTRACTION,
    llm: str = LLM_SPEC,
    follow: str = typer.Option(
        "paper", help="Do as the paper says or as its official code does: paper or code."
    ),
    device: str | None = typer.Option(None, help="cpu or cuda; by default a GPU if there is one."),
    folder: Path | None = typer.Option(
        None, help="Where the trained model goes; by default where `minirag ask` looks for it."
    ),
) -> None:
    """Train GRAG or G-Retriever, so that they can answer.

    The questions are split by chance, the same way each time: most are learnt from, some decide
    when to stop, the rest are only measured. A killed
    run goes on where it stopped: type the same command again.
    """
    from ..methods import METHODS

    trainable = [name for name, known in METHODS.items() if known.needs_training]
    one_of(method, trainable, "method to train called")
    one_of(tuning, ["frozen", "lora", "full"], "tuning")
    one_of(follow, ["paper", "code"], "version to follow called")
    if device is not None:
        one_of(device.partition(":")[0], ["cpu", "cuda"], "device")
    encoder_named(encoder)
    asked = Asked(method, corpus, encoder, extraction, llm, follow, questions, folder)
    lesson, target = lesson_of(asked)
    wishes = {"epochs": epochs, "alignment_epochs": alignment_epochs, "device": device}
    changed: dict[str, Any] = {name: wish for name, wish in wishes.items() if wish is not None}
    lesson = replace(lesson, plan=replace(lesson.plan, seed=seed, **changed))
    if language_steps is not None:
        lesson = replace(lesson, pretraining=replace(lesson.pretraining, steps=language_steps))
    told = train_lesson(lesson, target, language_model, tuning)
    report(told)
    say(
        "",
        f"Saved in {target}",
        "",
        "Next:",
        *(f"  {line}" for line in next_lines(asked, told, lesson, target)),
    )


def lesson_of(asked: Asked) -> "tuple[Lesson, Path]":
    """What is taught, and the folder where it goes."""
    from ..evaluate.training import corpus_lesson, split_questions
    from ..methods import METHODS
    from ..methods.graph_prompted import GraphPrompted
    from ..reproduce.graph_conditions import TASKS, task_lesson

    method, name = asked.method, asked.corpus
    if name in TASKS:
        if asked.extraction is not None:
            raise MiniragError(f"the task {name!r} brings its own graphs: leave --extraction out.")
        trainable: Any = METHODS[method]
        lesson = task_lesson(name, trainable, asked.encoder, asked.follow, asked.questions)
        return lesson, asked.folder or cache_folder() / "trained" / f"{method}-{name}"
    session = open_session(
        name, [method], asked.llm, asked.encoder, asked.extraction, tasks=tuple(TASKS)
    )
    if asked.questions is not None:
        raise MiniragError(
            f"--questions is for the tasks {' and '.join(TASKS)}; of {session.corpus.name!r} all"
            " questions are used."
        )
    split_questions(session.corpus)  # too few questions are told before a graph is read
    follow = {"follow": asked.follow} if asked.follow != "paper" else {}
    built, state = session.open(method, **follow)
    assert isinstance(built, GraphPrompted)
    say(repr(built.graph), f"Index: {state}.")
    return corpus_lesson(built, session.corpus), asked.folder or built.trained_folder


def train_lesson(
    lesson: "Lesson", folder: Path, language_model: str | None, tuning: str
) -> dict[str, Any]:
    """Train, or go on, or find it done; an interruption says how to go on."""
    from ..evaluate import training

    if not can_write(folder):
        raise MiniragError(
            f"{folder} cannot be written: give another --folder, or set MINIRAG_CACHE to a folder"
            " of your own."
        )
    purposes = ("to learn from", "to choose an epoch", "to measure")
    sizes = [f"{len(lesson.parts[part])} {why}" for part, why in zip(training.PARTS, purposes)]
    say(f"Questions of {lesson.name} ({lesson.source}): {', '.join(sizes)}.")
    key = training.run_key(lesson, language_model, tuning)
    if training.finished(folder, key):
        say("Trained already with the same options; delete the folder to train anew.")
    elif training.run_folder(folder, key).is_dir():
        note("an earlier run with the same options was stopped; it goes on from there.")
    try:
        return training.train(lesson, folder, language_model, tuning)
    except KeyboardInterrupt:
        raise MiniragError(
            "stopped. What was learnt up to the last epoch is kept: the same command goes on from"
            " there."
        ) from None


def report(told: dict[str, Any]) -> None:
    """The table of what was measured, and how far to trust it. told: what the saved model says of
    its training.
    """
    from ..evaluate.training import TOY
    from ..neural.trained import describe

    measured = told["measured"]
    sizes = {part: len(ids) for part, ids in told["questions"].items()}
    first = f" (the first {TOY})" if sizes["train"] > TOY else ""
    rows = [
        (f"questions learnt from{first}", sizes["train"], measured["train"]),
        ("validation, the best epoch", sizes["validation"], measured["validation"]),
        ("test, never learnt from", sizes["test"], measured["test"]),
        (f"test, always {measured['majority answer']!r}", sizes["test"], measured["majority"]),
    ]
    say(
        "",
        f"Trained: {describe(told)}; seed {told['seed']}, encoder {told['encoder']},"
        f" {measured['seconds']:.0f} s of training.",
        "",
    )
    numbers = ["how many", "right %"]
    table(["questions", *numbers], [[*row[:2], f"{row[2]:.1f}"] for row in rows], numbers)
    if sizes["train"] < TOY:
        say(
            "",
            f"A toy: {sizes['train']} questions are far too few to learn how new ones are answered."
            " This shows how training goes, not how well the method works.",
        )


def next_lines(asked: Asked, told: dict[str, Any], lesson: "Lesson", folder: Path) -> list[str]:
    """What to type next: the folder only where the model is not looked for by itself."""
    from ..reproduce.graph_conditions import TASKS

    if asked.corpus in TASKS:
        return [
            "in Python, for graphs of the same kind:",
            "from minirag.neural import trained",
            f"model = trained.load({str(folder)!r})",
            "model.write(examples, encoder)  # of minirag.neural.batches.Example",
        ]
    question, method = lesson.parts["test"][0].question, told["method"]
    if asked.follow == "code":
        options = (
            f"follow='code', encoder={asked.encoder!r}, extraction={asked.extraction!r},"
            f" trained={str(folder)!r}"
        )
        return [
            "in Python, since a command follows the paper:",
            f"minirag.METHODS[{method!r}].build(corpus, {options}).answer({question!r})",
        ]
    words = ["minirag", "ask", asked.corpus, question, "--method", method]
    if asked.encoder != "minilm":
        words += ["--encoder", asked.encoder]
    if asked.llm != "offline":
        words += ["--llm", asked.llm]
    if asked.extraction:
        words += ["--extraction", asked.extraction]
    if asked.folder is not None:
        words += ["--trained", str(folder)]
    return [shlex.join(words)]
