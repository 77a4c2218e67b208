"""Training GRAG or G-Retriever on the questions of a corpus: who is taught what, and how well
held-out questions go.

Gold answers are read here and nowhere nearer to the methods: the training questions' to learn from,
the validation questions' to choose an epoch, the test questions' to count.
"""

import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ..core.corpus import Corpus, Question
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..methods.graph_prompted import GraphPrompted
from ..neural import ModelOptions
from ..neural import trained as bundles
from ..neural.batches import Collator, Example, TextTable
from ..neural.language_model import LanguageModel
from ..neural.model import Collate, GraphPrompt, chosen_device, write_all
from ..neural.pretraining import Pretraining, taught_once
from ..neural.training import Plan, Report, Trainer
from .metrics import exact_match

LEAST = 10  # questions with an answer
SPLIT_SEED = 0
TOY = 300  # training questions, below which what is learnt says little
PARTS = ("train", "validation", "test")
# A few validation questions seldom tell epochs apart.
PLAN = Plan(alignment_epochs=30, epochs=6, batch=8, later_wins=True)
PRETRAINING = Pretraining(
    steps=300, batch=32, batch_with_text=16, with_text=0.7, keyword=0.8, vocabulary=1000,
    max_text=64,
)  # fmt: skip


@dataclass(frozen=True)
class Lesson:
    """Everything that is taught and measured. parts: `Example`s of train, validation and test; ids:
    of their questions; accepted: of the test questions.

    words: the training questions' answers, which a tiny language model learns to write.
    fingerprint: of what the trained model will fit to.
    """

    name: str
    source: str
    method: str
    encoder: Encoder
    options: ModelOptions
    parts: dict[str, list[Example]]
    ids: dict[str, list[str]]
    accepted: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]
    fingerprint: str
    plan: Plan
    pretraining: Pretraining


def split_questions(corpus: Corpus, seed: int = SPLIT_SEED) -> dict[str, list[Question]]:
    """{"train", "validation", "test"}: the questions that have an answer, 60, 20 and 20 % by
    chance; a question asked twice is taken once.

    Raises MiniragError for fewer than `LEAST`.
    """
    answered = {
        " ".join(question.text.split()).casefold(): question
        for question in reversed(corpus.questions)
        if question.answers
    }
    known = sorted(answered.values(), key=lambda question: question.id)
    if len(known) < LEAST:
        raise MiniragError(
            f"{corpus.name!r} has {len(corpus.questions)} questions, {len(known)} of them different"
            f" and with an answer; training needs {LEAST} or more, since some are kept to stop in"
            " time and some to measure. Write them into questions.jsonl beside passages.jsonl, or"
            " train on detours."
        )
    random.Random(f"split {seed}").shuffle(known)
    held = max(2, len(known) // 5)
    return {"train": known[2 * held :], "validation": known[held : 2 * held], "test": known[:held]}


def corpus_lesson(method: GraphPrompted, corpus: Corpus) -> Lesson:
    """What a built GRAG or G-Retriever can be taught about its corpus. Retrieval sees the
    questions' texts only.
    """
    split = split_questions(corpus)
    parts = {
        part: method.examples([q.text for q in some], [q.answers[0] for q in some])
        for part, some in split.items()
    }
    return Lesson(
        name=corpus.name,
        source=f"graph by {method.graph.source}",
        method=method.name,
        encoder=method.encoder,
        options=method.chosen.model_options(),
        parts=parts,
        ids={part: [q.id for q in some] for part, some in split.items()},
        accepted=tuple(q.answers for q in split["test"]),
        words=tuple(sorted({example.answer for example in parts["train"]})),
        fingerprint=method.fingerprint,
        plan=PLAN,
        pretraining=PRETRAINING,
    )


def train(
    lesson: Lesson, folder: str | Path, language_model: str | None = None, tuning: str = "frozen"
) -> dict[str, Any]:
    """Train, measure on the held-out questions, save to `folder`, and return what the bundle tells.

    language_model: a name or folder that Hugging Face reads; None teaches a tiny one first. A run
    that was killed goes on where it stopped, as long as nothing else was asked for; one that was
    finished is not repeated.

    Source: GRAG, Sec. 4.2 (eq-11); GRAG, App. A.1 (tab-2)
    """
    chosen_device(lesson.plan.device)  # told before anything is taught
    folder, key = Path(folder), run_key(lesson, language_model, tuning)
    if finished(folder, key):
        return bundles.load(folder, "cpu").told
    run, plan = run_folder(folder, key), lesson.plan
    learnt, pretraining = lesson.parts["train"], replace(lesson.pretraining, seed=plan.seed)
    own, limits = None, {}
    if not language_model:
        own = taught_once(run / bundles.LANGUAGE, lambda: learnt, lesson.words, pretraining)
        limits = {"max_text": pretraining.max_text}
    torch.manual_seed(plan.seed)
    language = LanguageModel.load(own or str(language_model), tuning=tuning, **limits)
    seen = [example for part in PARTS for example in lesson.parts[part]]
    table = TextTable.of(seen, lesson.encoder)
    model, collate = GraphPrompt(language, table.dimensions, lesson.options), Collator(table)
    report = Trainer(model, collate, plan, run).fit(learnt, lesson.parts["validation"])
    about = {"name": lesson.name, "source": lesson.source, "fingerprint": lesson.fingerprint}
    told = {
        "method": lesson.method, "trained_on": about, "encoder": lesson.encoder.name,
        "questions": lesson.ids, "seed": plan.seed, "plan": asdict(plan),
        "pretraining": None if language_model else asdict(lesson.pretraining),
        "measured": measure(lesson, model, collate, report), "report": asdict(report), "run": key,
        "language": language_model,
    }  # fmt: skip
    told = bundles.save(folder, model, told, own)
    shutil.rmtree(run)
    return told


def run_key(lesson: Lesson, language_model: str | None = None, tuning: str = "frozen") -> str:
    """A hash of all that decides how a run goes, but for the machine."""
    plan = {name: value for name, value in asdict(lesson.plan).items() if name != "device"}
    seen = [(e.question, e.answer, e.text) for part in PARTS for e in lesson.parts[part]]
    pretraining, options = asdict(lesson.pretraining), asdict(lesson.options)
    named = [lesson.fingerprint, lesson.encoder.name, plan, pretraining, options]
    parts = [*named, str(language_model), tuning, seen]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def finished(folder: Path, key: str) -> bool:
    """Whether the folder holds the bundle of this very run."""
    try:
        return bundles.read(folder).get("run") == key
    except MiniragError:
        return False


def run_folder(folder: Path, key: str) -> Path:
    """Where a run keeps what it needs to go on; it is removed when the bundle is written."""
    return Path(folder) / f"run-{key}"


def measure(lesson: Lesson, model: GraphPrompt, collate: Collate, report: Report) -> dict[str, Any]:
    """Percent of questions answered rightly, but for case, articles and punctuation: of the test
    part, of the first training questions, and by always giving the most frequent training answer.
    """
    learnt, test = lesson.parts["train"], lesson.parts["test"]
    [(usual, _)] = Counter(example.answer for example in learnt).most_common(1)
    seen = learnt[:TOY]
    known = [(example.answer,) for example in seen]
    return {
        "train": percent_right(write_all(model, collate, seen), known),
        "validation": 100 * max(report.best["accuracy"], 0.0),
        "test": percent_right(write_all(model, collate, test), lesson.accepted),
        "majority": percent_right([usual] * len(test), lesson.accepted),
        "majority answer": usual,
        "seconds": report.seconds,
    }


def percent_right(texts: Sequence[str], accepted: Sequence[Sequence[str]]) -> float:
    """Percent of the texts that are one of their accepted answers."""
    right = sum(exact_match(text, answers) for text, answers in zip(texts, accepted))
    return 100 * right / max(1, len(accepted))
