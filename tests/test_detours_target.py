"""The target `detours`: its rows, and the stored numbers that a new run is held to."""

import pytest

from minirag.core.errors import MiniragError
from minirag.corpora.detours import detours
from minirag.encoders.text_encoders import load_encoder
from minirag.evaluate import load_expected
from minirag.reproduce.detours import detours_rows, near, reproduce_detours, trained_rows, verdicts
from minirag.reproduce.graph_baselines import shallow_baselines
from minirag.reproduce.graph_prompts import Condition, examples, measure, table_of
from minirag.reproduce.retrieval_tables import OWN, ROWS, TARGETS, row_names


def test_every_row_has_stored_numbers():
    stored = load_expected("detours")["rows"]
    assert set(stored) == set(detours_rows())
    assert all("ours" in numbers for row in stored.values() for numbers in row["metrics"].values())


@pytest.mark.slow
def test_cheap_rows_agree_with_the_stored_numbers():
    rows = [
        "most frequent answer",
        "most frequent value of the right type",
        "ranking: Eq. 2-4",
        "ranking: linked by name",
    ]
    result = reproduce_detours(rows)
    assert [row["method"] for row in result["rows"]] == rows
    assert {cell.row for cell in result["comparison"]} == set(rows)
    assert all(cell.state in ("OK", "OKISH") for cell in result["comparison"]), result["comparison"]
    assert "synthetic" in result["notes"][0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"retrieve": "all"},
        {"text": "prose"},
        {"size": "huge"},
        {"tuning": "some"},
        {"top": 0},
        {"direction": "up"},
        {"options": {"colour": 1}},
        {"plan": {"colour": 1}},
    ],
)
def test_a_condition_that_cannot_be_run_is_one_sentence(wrong):
    with pytest.raises(MiniragError, match="A condition"):
        Condition("wrong", **wrong)


def test_a_task_without_questions_has_no_baselines():
    with pytest.raises(MiniragError, match="one of the two is missing"):
        shallow_baselines(detours(train=0, validation=0, test=0))


@pytest.mark.paper("GRAG", "fig-3")
def test_more_and_larger_ego_graphs_retrieve_more_of_the_evidence():
    """What the sweep of Figure 3 turns, before anything is trained. Source: GRAG, Fig. 3 (fig-3)"""
    questions = detours(train=0, validation=0, test=40).test
    table = table_of(questions, load_encoder("minilm"))

    def evidence(hops, top):
        held = examples(questions, Condition("swept", "ego", top=top, hops=hops), table)[1]
        return measure(questions, [""] * len(questions), held)["recall"]

    one, two = ([evidence(hops, top) for top in (1, 3, 5, 10)] for hops in (1, 2))
    assert (
        one == sorted(one) and two == sorted(two) and one[0] < one[-1] and two[0] < two[-1] <= 100
    )
    assert all(fewer <= more for fewer, more in zip(one, two))


@pytest.mark.paper("GRAG", "valid-entities")
def test_an_answer_is_valid_if_the_graph_has_a_node_of_this_text():
    """Right and made-up answers, told apart by a program; the paper asked people. Source: GRAG,
    Sec. 5.2 (valid-entities)
    """
    questions = detours(train=0, validation=0, test=3).test
    other = next(node for node in questions[1].graph.nodes if node != questions[1].answer)
    numbers = measure(questions, [questions[0].answer, other, "nobody at all"], [set()] * 3)
    assert (numbers["accuracy"], numbers["valid"], numbers["recall"]) == (33.33, 66.67, 0.0)


def test_targets_with_rows_of_their_own_are_listed():
    assert set(OWN) == {
        target for target in TARGETS if set(row_names(target)) != {row.name for row in ROWS}
    }


@pytest.mark.slow
def test_all_baselines_and_rankings_agree_with_the_stored_numbers():
    cells = reproduce_detours([name for name in detours_rows() if not name.startswith("trained")])[
        "comparison"
    ]
    assert all(cell.state in ("OK", "OKISH") for cell in cells), [
        cell for cell in cells if cell.state == "FAIL"
    ]


def test_the_oracle_of_retrieval_says_what_it_is():
    task = near(detours(train=2, validation=1, test=3))
    assert "ego-graphs of the named entities" in task.source and "synthetic" in task.source
    assert all(question.graph.nodes[0] in question.question for question in task.test)


@pytest.mark.paper("GRAG", "tab-3")
def test_a_drop_counts_when_it_is_larger_than_the_seeds_differ():
    """Source: GRAG, Table 3 (tab-3)"""
    runs = [
        {"condition": name, "seed": 0, "accuracy": value, "recall": 100.0, "valid": 90.0}
        for name, values in RUNS.items()
        for value in values
    ]
    rows = trained_rows(runs)
    assert rows[0] == {
        "method": "trained: GRAG",
        "accuracy %": 90.0,
        "sd": 2.0,
        "evidence %": 100.0,
        "valid %": 90.0,
    }
    first, second, route = verdicts(rows)
    assert "a drop of 60.0 against deviations of 2.0; the paper's drop appears here" in first
    assert "does not appear here" in second
    assert "lost the question" in route
    lost = [rows[0], {**rows[1], "accuracy %": 12.5}]
    assert "learnt too little" in verdicts(lost)[0] and "appears here" not in verdicts(lost)[0]
    guess = {"method": "most frequent value of the right type in the ego-graph", "accuracy %": 30.2}
    assert "30.0 is less than the 30.2 of guessing" in verdicts([*rows, guess])[-1]


RUNS = {
    "GRAG": (88.0, 92.0),
    "w/o soft pruning": (30.0, 30.0),
    "w/o graph descriptions": (85.0, 93.0),
}
