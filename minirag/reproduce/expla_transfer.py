"""What a graph encoder has learnt on ExplaGraphs: how often it says what the rules of one and of
two bits say, and whether it helps on another task, the synthetic `detours` (Table 4's question).

Only GRAG's graph part is trained here, by the alignment warm-up; the answer is the one whose word
embedding is nearest to the graph token, and no language model writes.

The paper trains on one data set and asks its language model about the other. A small frozen model
cannot do that: the two tasks have no answer in common. So there are several readings. "own test":
the trained model on the task that it learnt. "as it is": on the other one, with the answers of both
to choose from. "new projector": pruning and encoder stay as trained on the one task, only the
projector learns on the other. "untrained encoder": the same with a random encoder, as control.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

from ..core.graph import GraphTask
from ..corpora.detours import detours
from ..corpora.expla_graphs import load_expla_graphs
from ..encoders.text_encoders import load_encoder
from ..neural import ModelOptions
from ..neural.batches import Collator, Example
from ..neural.language_model import LanguageModel
from ..neural.model import Collate, GraphPrompt
from ..neural.soft_pruning import Factors
from ..neural.training import Plan, Trainer
from .graph_baselines import Row, accuracy, over_seeds, percent_equal
from .graph_conditions import PLAIN, SEEDS, TASKS, TOKEN, make_bench
from .graph_prompts import Bench, Condition, examples, table_of
from .stance_baselines import one_bit, two_bits

AGREEMENT: dict[str, dict[str, Any]] = {"graph part": TOKEN, "graph part unpruned": PLAIN}
AGREEMENT_NAMES = tuple(AGREEMENT)
RULES = {"one bit": one_bit, "two bits": two_bits}
READINGS = ("own test", "as it is", "new projector", "untrained encoder")
WAYS = (("detours", "ExplaGraphs"), ("ExplaGraphs", "detours"))
TRANSFER_NAMES = tuple(
    f"{one} to {other}: {reading}" for one, other in WAYS for reading in READINGS
)


def measure_agreement(
    names: Sequence[str] = AGREEMENT_NAMES,
    encoder: str = "minilm",
    seeds: Sequence[int] = SEEDS,
    folder: str | None = None,
    bench: Bench | None = None,
) -> list[Row]:
    """A row for each part: means over the seeds, in percent of the test questions.

    accuracy, sd: as elsewhere. "as one bit", "as two bits": how often it answers as that rule.
    "where they differ as one bit": among the questions to which the two rules give different
    answers, how often it sides with the first. folder: keeps the tiny language models.
    bench: another one than that of ExplaGraphs.

    Source: GRAG, Eq. 9-10 (eq-9, eq-10)
    """
    rows = []
    with TemporaryDirectory() as temporary:
        bench = bench or make_bench("expla_graphs", folder or temporary, encoder)
        test = bench.task.test
        rules = {short: [rule(question) for question in test] for short, rule in RULES.items()}
        pairs = zip(*rules.values())
        differ = [place for place, (one, other) in enumerate(pairs) if one != other]
        first = [rules["one bit"][place] for place in differ]
        for name in names:
            condition = Condition("whole graph", options=AGREEMENT[name])
            answers = [_answers(condition, bench, seed) for seed in seeds]
            row = over_seeds(name, [accuracy(given, test) for given in answers])
            for short, rule in rules.items():
                same = [percent_equal(given, rule) for given in answers]
                row[f"as {short}"] = float(np.mean(same))
            sides = [percent_equal([given[place] for place in differ], first) for given in answers]
            rows.append(row | {"where they differ as one bit": float(np.mean(sides))})
    return rows


def _answers(condition: Condition, bench: Bench, seed: int) -> list[str]:
    """What the graph part of one seed answers to the test questions."""
    (train, _), (test, _) = (bench.seen(part, condition) for part in ("train", "test"))
    model = bench.model(condition, seed)
    Trainer(model, bench.collate, replace(bench.plan, epochs=0, seed=seed)).fit(train, [])
    return nearest(model, bench.collate, test, bench.task.answers)


class Side(NamedTuple):
    """A task of the transfer: its questions, what is seen of them, how its graph part learns."""

    task: GraphTask
    train: list[Example]
    test: list[Example]
    plan: Plan


def measure_transfer(
    encoder: str = "minilm",
    seeds: Sequence[int] = SEEDS,
    folder: str | None = None,
    task: GraphTask | None = None,
) -> list[Row]:
    """Rows of `{"method", "accuracy", "sd", "seeds"}`, in percent of the other task's test
    questions; no language model writes.

    folder: keeps the tiny language models of ExplaGraphs, whose word embeddings are compared.
    task: another `detours(...)` than the default.

    Source: GRAG, Table 4 (tab-4)
    """
    tasks = {"detours": task or detours(train=4000), "ExplaGraphs": load_expla_graphs()}
    questions = [q for each in tasks.values() for part in (each.train, each.test) for q in part]
    table = table_of(questions, load_encoder(encoder))
    collate, sides = Collator(table), {}
    for name, each in tasks.items():
        condition = Condition(name, "named" if name == "detours" else "whole")
        train, test = (examples(part, condition, table)[0] for part in (each.train, each.test))
        plan = replace(TASKS[each.name].plan, epochs=0)
        sides[name] = Side(each, train, test, plan)
    found: dict[str, list[float]] = {name: [] for name in TRANSFER_NAMES}
    with TemporaryDirectory() as temporary:
        bench = make_bench("expla_graphs", folder or temporary, encoder)
        for seed in seeds:
            language = LanguageModel.load(bench.language_model("tiny", seed))
            for one, other in WAYS:
                torch.manual_seed(seed)
                model = GraphPrompt(language, table.dimensions, ModelOptions(hidden=32))
                readings = _transferred(model, collate, sides[one], sides[other], seed)
                for reading, percent in zip(READINGS, readings):
                    found[f"{one} to {other}: {reading}"].append(percent)
    return [over_seeds(name, values) for name, values in found.items()]


def _transferred(
    model: GraphPrompt, collate: Collator, one: Side, other: Side, seed: int
) -> Iterator[float]:
    """Percent right on the test part of `other`, for each of `READINGS`, of a model trained on
    `one`.
    """
    untrained = copy.deepcopy(model.state_dict())
    Trainer(model, collate, replace(one.plan, seed=seed)).fit(one.train, [])
    yield accuracy(nearest(model, collate, one.test, one.task.answers), one.task.test)
    both = sorted({*one.task.answers, *other.task.answers})
    yield accuracy(nearest(model, collate, other.test, both), other.task.test)
    trained = copy.deepcopy(model.state_dict())
    for state in (trained, untrained):
        model.load_state_dict(
            {name: (untrained if name.startswith("projector.") else state)[name] for name in state}
        )
        model.fit_pruning(collate, other.train)
        head, look = encoded_once(model, collate, [*other.train, *other.test])
        Trainer(head, look, replace(other.plan, seed=seed)).fit(other.train, [])
        yield accuracy(nearest(head, look, other.test, other.task.answers), other.task.test)


@dataclass(frozen=True)
class Encoded:
    """A batch whose graphs have been read: `vectors` (B, hidden)."""

    vectors: torch.Tensor

    def to(self, device: torch.device) -> "Encoded":
        return Encoded(self.vectors.to(device))


class Encoding(torch.nn.Module):
    """Replays the vectors of an `Encoded` batch, so that no encoder is needed."""

    def forward(self, batch: Encoded, factors: Factors | None = None) -> torch.Tensor:
        return batch.vectors


@torch.no_grad()
def encoded_once(
    model: GraphPrompt, collate: Collate, seen: Sequence[Example]
) -> tuple[GraphPrompt, Any]:  # of `Encoded` batches
    """`(model, collate)` of which only the projector is left to learn: pruning and encoder stay as
    they are, so they read every example once.
    """
    model.eval()
    assert model.encoder is not None, "a model without an encoder reads no graph"
    batches = [collate(seen[start : start + 128]) for start in range(0, len(seen), 128)]
    vectors = torch.cat([model.encoder(batch, model.factors(batch)) for batch in batches])
    place = {id(example): row for row, example in enumerate(seen)}
    head = copy.deepcopy(model)
    head.pruning, head.encoder = None, Encoding()

    def look(some: Sequence[Example]) -> Encoded:
        return Encoded(vectors[[place[id(example)] for example in some]])

    return head, look


def nearest(
    model: GraphPrompt, collate: Collate, seen: Sequence[Example], answers: Sequence[str]
) -> list[str]:
    """For each example the answer, of all `answers`, whose word embedding is nearest to the graph
    token.
    """
    model.eval()
    with torch.no_grad():
        vectors = F.normalize(model.language.answer_vectors(answers), dim=1)
        batches = (collate(seen[start : start + 128]) for start in range(0, len(seen), 128))
        best = [place for b in batches for place in (model.direction(b) @ vectors.T).argmax(dim=1)]
    return [answers[place] for place in best]
