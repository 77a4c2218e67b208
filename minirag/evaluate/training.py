"""Training GRAG or G-Retriever on the questions of a corpus, or on a task of small graphs: who is
taught what, and how well held-out questions go.

Gold answers are read here and nowhere nearer to the methods: the training questions' to learn from,
the validation questions' to choose an epoch, the test questions' to count.
"""

import hashlib
import json
import random
import shutil
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..corpora.detours import detours
from ..corpora.expla_graphs import load_expla_graphs
from ..encoders.text_encoders import load_encoder
from ..neural import trained as bundles
from ..neural.batches import Collator, TextTable
from ..neural.language_model import LanguageModel
from ..neural.model import GraphPrompt, chosen_device, write_all
from ..neural.pretraining import Pretraining, taught_once
from ..neural.training import Plan, Trainer
from ..reproduce import detours_conditions, expla_conditions
from ..reproduce.graph_prompts import Condition, examples, table_of
from .metrics import exact_match

LEAST = 10  # questions with an answer
SPLIT_SEED = 0
TOY = 300  # training questions, below which what is learnt says little
PARTS = ("train", "validation", "test")
SIZES = {"train": 6000, "validation": 600, "test": 600}  # of the generated task
SEES = {
    ("detours", "grag"): Condition("grag", "named", text="description"),
    ("detours", "g-retriever"): Condition("g-retriever", "steiner", text="flat"),
    ("expla_graphs", "grag"): Condition("grag", "whole", text="description"),
    ("expla_graphs", "g-retriever"): Condition("g-retriever", "whole", text="flat"),
}
TASKS = ("detours", "expla_graphs")
SMALL = Pretraining(
    steps=300,
    batch=32,
    batch_with_text=16,
    with_text=0.7,
    keyword=0.8,
    vocabulary=1000,
    max_text=64,
)
PLANS = {
    "corpus": (
        Plan(alignment_epochs=30, epochs=6, batch=8, later_wins=True),
        SMALL,
    ),  # a few validation questions seldom tell epochs apart
    "detours": (
        detours_conditions.PLAN,
        detours_conditions.PRETRAINING,
    ),  # as in the rows of `minirag reproduce`
    "expla_graphs": (expla_conditions.PLAN, expla_conditions.PRETRAINING),
}
SETTINGS = {"detours": detours_conditions.SMALL, "expla_graphs": expla_conditions.TOKEN}


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
    encoder: Any
    settings: Any
    parts: dict
    ids: dict
    accepted: tuple
    words: tuple
    fingerprint: str
    plan: Plan
    pretraining: Pretraining


def split_questions(corpus, seed=SPLIT_SEED):
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
            f"{corpus.name!r} has {len(corpus.questions)} questions, {len(known)} of them different and with an answer; training needs {LEAST} or more, "
            "since some are kept to stop in time and some to measure. Write them into questions.jsonl beside passages.jsonl, or train on detours."
        )
    random.Random(f"split {seed}").shuffle(known)
    held = max(2, len(known) // 5)
    return {"train": known[2 * held :], "validation": known[held : 2 * held], "test": known[:held]}


def corpus_lesson(method, corpus):
    """What a built GRAG or G-Retriever can be taught about its corpus. Retrieval sees the
    questions' texts only.
    """
    split = split_questions(corpus)
    parts = {
        part: method.examples([q.text for q in some], [q.answers[0] for q in some])
        for part, some in split.items()
    }
    words = tuple(sorted({example.answer for example in parts["train"]}))
    plan, pretraining = PLANS["corpus"]
    ids, accepted = (
        {part: [q.id for q in some] for part, some in split.items()},
        tuple(q.answers for q in split["test"]),
    )
    source = f"graph by {method.relations.source}"
    settings = method.chosen.settings()
    return Lesson(
        corpus.name,
        source,
        method.name,
        method.encoder,
        settings,
        parts,
        ids,
        accepted,
        words,
        method.fingerprint,
        plan,
        pretraining,
    )


def task_lesson(name, method, encoder="minilm", follow="paper", questions=None):
    """The same for a task of small graphs. method: GRAG or GRetriever. questions: at most so many
    to train on, and a tenth of it for each other part.
    """
    if name == "detours":
        sizes = (
            SIZES
            if questions is None
            else {
                part: questions if part == "train" else max(24, questions // 10) for part in PARTS
            }
        )
        task = detours(**sizes)
    else:
        task = load_expla_graphs(follow=follow)
        if questions is not None:
            task = replace(
                task,
                train=task.train[:questions],
                validation=task.validation[: max(24, questions // 10)],
            )
    asked = [question for part in PARTS for question in getattr(task, part)]
    encoder = load_encoder(encoder).fit(
        [text for q in task.train for text in (q.asked, *q.graph.nodes, *q.graph.lines())]
    )
    table = table_of(asked, encoder)
    parts = {
        part: examples(getattr(task, part), SEES[name, method.name], table)[0] for part in PARTS
    }
    ids, accepted = (
        {part: [q.id for q in getattr(task, part)] for part in PARTS},
        tuple((q.answer,) for q in task.test),
    )
    settings, source = method.choose(follow, **SETTINGS[name]).settings(), task.source
    return Lesson(
        name,
        source,
        method.name,
        encoder,
        settings,
        parts,
        ids,
        accepted,
        task.answers,
        f"{name} {source}",
        *PLANS[name],
    )


def train(lesson, folder, language_model=None, tuning="frozen"):
    """Train, measure on the held-out questions, save to `folder`, and return what the bundle tells.

    language_model: a name or folder that Hugging Face reads; None teaches a tiny one first. A run
    that was killed goes on where it stopped, as long as nothing else was asked for; one that was
    finished is not repeated.

    Source: GRAG, Sec. 4.2 (eq-11); GRAG, App. A.1 (tab-2)
    """
    import torch

    chosen_device(lesson.plan.device)  # told before anything is taught
    folder, key = Path(folder), run_key(lesson, language_model, tuning)
    if finished(folder, key):
        return bundles.load(folder, "cpu").told
    run = run_folder(folder, key)
    learnt, pretraining = lesson.parts["train"], replace(lesson.pretraining, seed=lesson.plan.seed)
    own = (
        None
        if language_model
        else taught_once(run / bundles.LANGUAGE, lambda: learnt, lesson.words, pretraining)
    )
    torch.manual_seed(lesson.plan.seed)
    limits = {} if language_model else {"max_text": lesson.pretraining.max_text}
    language = LanguageModel.load(language_model or own, tuning=tuning, **limits)
    table = TextTable.of(
        [example for part in PARTS for example in lesson.parts[part]], lesson.encoder
    )
    model, collate = GraphPrompt(language, table.dimensions, lesson.settings), Collator(table)
    report = Trainer(model, collate, lesson.plan, run).fit(learnt, lesson.parts["validation"])
    told = {
        "method": lesson.method, "trained_on": {"name": lesson.name, "source": lesson.source, "fingerprint": lesson.fingerprint},
        "encoder": lesson.encoder.name, "questions": lesson.ids, "seed": lesson.plan.seed, "plan": asdict(lesson.plan),
        "pretraining": None if language_model else asdict(lesson.pretraining), "measured": measure(lesson, model, collate, report),
        "report": asdict(report), "run": key, "language": language_model,
    }  # fmt: skip
    told = bundles.save(folder, model, told, own)
    shutil.rmtree(run)
    return told


def run_key(lesson, language_model=None, tuning="frozen"):
    """A hash of all that decides how a run goes, but for the machine."""
    plan = {name: value for name, value in asdict(lesson.plan).items() if name != "device"}
    said = [(e.question, e.answer, e.text) for part in PARTS for e in lesson.parts[part]]
    parts = [
        lesson.fingerprint,
        lesson.encoder.name,
        plan,
        asdict(lesson.pretraining),
        asdict(lesson.settings),
        str(language_model),
        tuning,
        said,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def finished(folder, key):
    """Whether the folder holds the bundle of this very run."""
    try:
        return bundles.read(folder).get("run") == key
    except MiniragError:
        return False


def run_folder(folder, key):
    """Where a run keeps what it needs to go on; it is removed when the bundle is written."""
    return Path(folder) / f"run-{key}"


def measure(lesson, model, collate, report):
    """Percent of questions answered rightly, but for case, articles and punctuation: of the test
    part, of the first training questions, and by always giving the most frequent training answer.
    """
    right = lambda texts, accepted: (
        100
        * sum(exact_match(text, answers) for text, answers in zip(texts, accepted))
        / max(1, len(accepted))
    )
    learnt, test = lesson.parts["train"], lesson.parts["test"]
    [(usual, _)] = Counter(example.answer for example in learnt).most_common(1)
    seen = learnt[:TOY]
    return {
        "train": right(write_all(model, collate, seen), [(example.answer,) for example in seen]),
        "validation": 100 * max(report.best["accuracy"], 0.0),
        "test": right(write_all(model, collate, test), lesson.accepted),
        "majority": right([usual] * len(test), lesson.accepted),
        "majority answer": usual,
        "seconds": report.seconds,
    }
