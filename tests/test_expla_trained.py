"""Trained models on ExplaGraphs: what their rows mean, on a task small enough to learn at once, and
the stored numbers where there is time for them.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from minirag import reproduce_table
from minirag.core.graph import GraphQuestion, GraphTask
from minirag.corpora.expla_graphs import parse_graph
from minirag.evaluate import load_expected
from minirag.neural import ModelOptions
from minirag.neural.batches import Collator, Example
from minirag.neural.language_model import LanguageModel
from minirag.neural.model import GraphPrompt
from minirag.neural.training import Trainer
from minirag.reproduce.expla_graphs import expla_rows
from minirag.reproduce.expla_transfer import (
    TRANSFER_NAMES,
    encoded_once,
    measure_agreement,
    nearest,
)
from minirag.reproduce.graph_conditions import AS_CODE, EXPLA_GRAPHS, TASKS
from minirag.reproduce.graph_prompts import Bench, table_of


class Letters:
    """An encoder for tests: how often each letter occurs, as a unit vector."""

    name = "letters"

    def encode(self, texts, kind="passage"):
        rows = (
            np.array(
                [
                    [text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
                    for text in texts
                ],
                dtype=np.float32,
            )
            + 0.01
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def item(number, denied, denying):
    """The answer is that of two bits: counter if exactly one of relation and belief denies."""
    belief = "Tea is not bad." if denying else "Tea is good."
    graph = parse_graph(
        f"(tea; {'is not a' if denied else 'is a'}; drink)(drink; causes; warmth{number % 5})"
    )
    return GraphQuestion(
        f"q/{number:03d}",
        f"Belief: {belief}\nArgument: Tea warms.\nWhich?",
        ("support", "counter")[denied != denying],
        graph,
    )


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    plain = [item(n, n % 2 == 0, False) for n in range(64)]
    task = GraphTask(
        "leaky",
        "made for a test",
        tuple(plain),
        tuple(plain[:8]),
        tuple(item(n, n % 2 == 0, n % 4 < 2) for n in range(40)),
    )
    table = table_of([*task.train, *task.test], Letters())
    plan = replace(
        TASKS["expla_graphs"].plan, alignment_epochs=12, alignment_rate=3e-3, batch=16, epochs=0
    )
    return Bench(
        task,
        table,
        tmp_path_factory.mktemp("models"),
        replace(TASKS["expla_graphs"].pretraining, steps=2, vocabulary=300),
        plan,
        EXPLA_GRAPHS[:1],
    )


def test_agreement_tells_which_rule_was_learnt(bench):
    """Taught where no belief denies, the model can only learn the first bit; half of the test
    questions have a belief that turns it round.
    """
    [row] = measure_agreement(["graph part unpruned"], seeds=(0,), bench=bench)
    assert row["as one bit"] == 100.0 == row["where they differ as one bit"]
    assert row["accuracy"] == row["as two bits"] == 50.0


def test_nearest_answers_by_cosine(bench):
    language = LanguageModel.load(bench.language_model("tiny", 0))
    model = GraphPrompt(language, bench.table.dimensions, ModelOptions(graph_token="constant"))
    answers = ["counter", "support"]
    for wanted in answers:
        model.constant.data = 3 * language.answer_vectors([wanted])[0].detach()
        some = [
            Example(question.question, question.answer, (question.graph,), asked=question.asked)
            for question in bench.task.test[:3]
        ]
        assert nearest(model, Collator(bench.table), some, answers) == [wanted] * 3


def test_what_no_longer_learns_is_read_once_and_only_the_projector_changes(bench):
    language, collate = LanguageModel.load(bench.language_model("tiny", 0)), Collator(bench.table)
    model = GraphPrompt(language, bench.table.dimensions, ModelOptions(hidden=8))
    some = [
        Example(question.question, question.answer, (question.graph,), asked=question.asked)
        for question in bench.task.test
    ]
    head, look = encoded_once(model, collate, some)
    with torch.no_grad():
        assert torch.allclose(
            head.direction(look(some[5:9])), model.direction(collate(some[5:9])), atol=1e-6
        )
    before = copy.deepcopy(model.state_dict())
    Trainer(head, look, replace(bench.plan, alignment_epochs=1)).fit(some, [])
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    moved = [
        name for name, tensor in head.state_dict().items() if not torch.equal(before[name], tensor)
    ]
    assert moved and all(name.startswith("projector.") for name in moved)


def test_rows_have_names_of_their_own_that_a_command_line_can_pick():
    names = expla_rows()
    assert len(set(names)) == len(names) and not [name for name in names if "," in name]
    assert (
        AS_CODE.options["edges_in_messages"] is False
        and AS_CODE.name in names
        and set(TRANSFER_NAMES) <= set(names)
    )


def test_what_the_stored_runs_say():
    """In words: the token carries the relations; neither pruning nor a hard prompt adds what the
    seeds would not.
    """
    rows = load_expected("expla_graphs")["rows"]

    def ours(name, metric="accuracy"):
        return rows[name]["metrics"][metric]["ours"]

    assert (
        ours("GRAG") > ours("majority") + 5
        and ours("graph token unpruned") > ours("graph token unpruned and without relations") + 5
    )
    assert abs(ours("GRAG") - ours("graph token unpruned with hard prompt")) < 5 and ours(
        "GRAG"
    ) < ours("negated relation xor denying belief")
    assert ours("graph part", "as one bit") > ours("graph part", "as two bits") + 5


@pytest.mark.needs("expla_graphs")
@pytest.mark.slow
def test_grag_again_is_near_what_is_stored():
    result = reproduce_table("expla_graphs", rows=["graph token", "GRAG", "graph part"])
    assert {cell.state for cell in result["comparison"]} <= {
        "OK",
        "OKISH",
    }  # another processor draws other numbers; always "support" has 58.8
    assert result["rows"][1]["accuracy"] > 59 and len(result["runs"]) == 6
