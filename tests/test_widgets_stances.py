"""The explorer of ExplaGraphs' items: its lists and verdicts are the rules' own, and hostile text
stays text.
"""

import pytest

from minirag.core.errors import MiniragError
from minirag.core.graph import GraphQuestion
from minirag.corpora.expla_graphs import parse_graph
from minirag.reproduce.stance_baselines import count_negated
from minirag.widgets import StanceExplorer

ONE, TWO = "any negated relation", "negated relation xor denying belief"


def item(number, answer, relation, belief):
    return GraphQuestion(
        f"q/{number}",
        f"Belief: {belief}\nArgument: It warms.\nWhich?",
        answer,
        parse_graph(f"(tea; {relation}; <b>drink</b>)(x; desires; tea)"),
    )


@pytest.fixture
def explorer():
    rows = [
        ("support", "is a", "Tea is good."),
        ("counter", "is not a", "Tea is good."),
        ("support", "is not a", "Tea is not bad."),
        ("counter", "is a", "Tea!"),
    ]
    return StanceExplorer([item(n, *row) for n, row in enumerate(rows)])


def test_lists_hold_what_each_rule_gets_wrong(explorer):
    assert [len(some) for some in explorer.lists.values()] == [4, 2, 1]
    for name in (ONE, TWO):
        for question in explorer.lists[f"wrong by: {name}"]:
            explorer.set("shown", f"wrong by: {name}").set(
                "item", 1 + explorer.lists[f"wrong by: {name}"].index(question)
            )
            assert explorer.question is question and explorer.verdicts()[name] != question.answer
    assert [count_negated(question) for question in explorer.lists[f"wrong by: {ONE}"]] == [1, 0]


def test_every_control_changes_what_is_shown(explorer):
    panel = explorer.view().children[-1]
    for name, value in (("item", 2), ("shown", f"wrong by: {TWO}")):
        before = panel.value
        explorer.set(name, value)
        assert panel.value != before and explorer.widgets[name].value == value


def test_a_short_list_starts_again_and_an_empty_one_says_so(explorer):
    explorer.set("shown", f"wrong by: {TWO}").set("item", 3)
    assert explorer.question.id == "q/3"
    empty = StanceExplorer(explorer.lists["every item"][:1]).set("shown", f"wrong by: {ONE}")
    assert (
        empty.question is None and "no item" in empty.describe() and "no such item" in empty.html()
    )
    with pytest.raises(MiniragError, match="at least one question"):
        StanceExplorer([])


def test_text_is_escaped_and_negations_are_named(explorer):
    explorer.set("item", 2)
    assert "<b>drink" not in explorer.html() and "negated relation" in explorer.figure().svg
    assert f"{ONE}: counter" in explorer.describe() and "right: counter" in explorer.describe()
    assert "No relation is negated" in explorer.set("item", 1).figure().text
