"""Judging: its arithmetic on the worked examples, and its mechanics with scripted replies. No
verdict here is a model's.
"""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted

from minirag.core.errors import MiniragError
from minirag.evaluate.judging import (
    CRITERIA,
    SURVEY_CRITERIA,
    Verdict,
    combine,
    compare_windows,
    generate_questions,
    judge_answers,
    order_effect,
    win_matrix,
    win_rate,
)
from minirag.llm import load_llm
from minirag.methods import METHODS
from minirag.prompts import TASKS

from .small import corpus_of

TOWN = corpus_of(
    *(
        (
            f"n{i}",
            f"In year {i} the town of Saltrey moved its harbour, and the mill gained {i} workers.",
        )
        for i in range(12)
    )
)
QUESTIONS = {"q1": "What changed?", "q2": "Who gained?"}
ANSWERS = {
    "long": {"q1": "Much, and here is all of it.", "q2": "Many people did."},
    "short": {"q1": "Much.", "q2": "Many."},
}


def prefers(words, reason="r"):
    """Scripted: the answer with more words wins, as if length were quality; equals are a tie."""

    def reply(task, fields):
        first, second = (len(fields[name].split()) for name in ("first", "second"))
        return json.dumps(
            {
                "winner": 0
                if first == second
                else 1
                if (first > second) == (words == "more")
                else 2,
                "reason": reason,
            }
        )

    return Scripted(reply)


def test_ties_are_halved_or_left_out():
    """WE-J: A, A, tie, B, A."""
    assert (win_rate(3, 1, 1), win_rate(1, 3, 1)) == (70, 30)
    assert (win_rate(3, 1, 1, "exclude"), win_rate(1, 3, 1, "exclude")) == (75, 25)
    assert win_rate(0, 0, 3, "exclude") is None and win_rate(0, 0, 3) == 50
    with pytest.raises(MiniragError, match="ties"):
        win_rate(1, 1, 1, "third")


def test_a_contradiction_between_the_orders_is_a_tie_and_a_win_with_a_tie_is_none():
    """WE-J2: A first, slot 1 wins; B first, slot 1 wins."""
    assert (
        combine("A", "B", (1, 1)) == ""
        and combine("A", "B", (1, 2)) == "A"
        and combine("A", "B", (2, 1)) == "B"
    )
    assert (
        combine("A", "B", (0, 2)) == "A"
        and combine("A", "B", (1,)) == "A"
        and combine("A", "B", (1, None)) is None
    )


@pytest.mark.parametrize(
    "slots, rate",
    [((1, 2), 100), ((1, 0), 75), ((0, 2), 75), ((1, 1), 50), ((0, 0), 50), ((2, 0), 25)],
)
def test_the_win_rates_of_both_orders_are_averaged(slots, rate):
    verdict = Verdict("q", "diversity", "A", "B", combine("A", "B", slots), (), slots)
    assert win_matrix([verdict], "diversity", samples=5).rates[0, 1] == rate
    left_out = win_matrix([verdict], "diversity", "exclude", samples=5).rates[0, 1]
    assert (
        np.isnan(left_out)
        if slots == (0, 0)
        else left_out == (100 if rate > 50 else 50 if rate == 50 else 0)
    )


@pytest.mark.paper("GraphRAG", "sec-3.4")
def test_every_pair_is_asked_five_times_and_the_order_swapped_on_request():
    llm = prefers("more")
    verdicts = judge_answers(llm, QUESTIONS, ANSWERS, criteria=("comprehensiveness", "directness"))
    assert (
        len(llm.asked) == len(verdicts) == 2 * 2 * 5
        and {v.winner for v in verdicts} == {"long"}
        and verdicts[0].reasons == ("r",)
    )
    assert {sample for _, _, sample in llm.asked} == set(range(5))
    swapped = judge_answers(
        prefers("more"), QUESTIONS, ANSWERS, criteria=("comprehensiveness",), swap=True
    )
    assert {v.slots for v in swapped} == {(1, 2)} and {v.winner for v in swapped} == {"long"}
    assert order_effect(swapped) == {"first slot won": 50.0, "contradictory": 0.0}


def test_a_judge_that_likes_the_first_slot_is_found_out_by_swapping():
    first = Scripted(lambda task, fields: '{"winner": 1, "reason": "it came first"}')
    plain = win_matrix(judge_answers(first, QUESTIONS, ANSWERS), "diversity")
    swapped = judge_answers(first, QUESTIONS, ANSWERS, swap=True)
    assert plain.rates[0, 1] == 100 and win_matrix(swapped, "diversity").rates[0, 1] == 50
    assert order_effect(swapped) == {"first slot won": 100.0, "contradictory": 100.0}
    assert order_effect(judge_answers(first, QUESTIONS, ANSWERS))["contradictory"] is None


def test_a_reply_without_a_winner_is_no_tie():
    verdicts = judge_answers(
        Scripted(lambda task, fields: "Both are nice essays."), QUESTIONS, ANSWERS, repeats=1
    )
    matrix = win_matrix(verdicts, "diversity")
    assert (
        {v.winner for v in verdicts} == {None}
        and matrix.unread == 2
        and "2 replies could not be read" in repr(matrix)
    )


@pytest.mark.parametrize(
    "reply, winner",
    [
        ('{"winner": 1, "reason": "x"}', 1),
        ('{"winner": "Answer 2"}', 2),
        ('{"winner": "tie"}', 0),
        ('{"winner": "0"}', 0),
        ('{"winner": "[Answer 2]"}', 2),
        ('{"winner": 3}', None),
        ("Answer 1 wins", None),
        ('{"winner": "12"}', None),
    ],
)
def test_verdicts_are_read(reply, winner):
    assert TASKS["judge"].parse(reply)[0][0] == winner


def in_one_call(**by_criterion):
    """Scripted: one reply about all criteria, 1 or 2 for each, whatever the answers are."""
    reply = {
        name: {"Winner": f"Answer {slot}", "Explanation": f"by {name}"}
        for name, slot in by_criterion.items()
    }
    return Scripted(lambda task, fields: json.dumps(reply))


@pytest.mark.paper("Survey", "fig-19")
def test_the_surveys_judge_is_asked_once_for_all_criteria_and_an_overall_winner():
    judge = in_one_call(Comprehensiveness=1, Diversity=2, Empowerment=1, Overall_Winner=1)
    verdicts = judge_answers(judge, QUESTIONS, ANSWERS, SURVEY_CRITERIA, repeats=1, overall=True)
    assert [task for task, _, _ in judge.asked] == ["judge_overall"] * 2
    prompt = judge.asked[0][1]
    assert all(f"- {name.capitalize()}: {CRITERIA[name]}" in prompt for name in SURVEY_CRITERIA)
    won = {(v.question, v.criterion): v.winner for v in verdicts}
    by_criterion = {
        "comprehensiveness": "long",
        "diversity": "short",
        "empowerment": "long",
        "overall winner": "long",
    }
    assert won == {(q, name): winner for q in QUESTIONS for name, winner in by_criterion.items()}
    assert win_matrix(verdicts, "overall winner").rates[0, 1] == 100 and verdicts[0].reasons == (
        "by Comprehensiveness",
    )
    swapped = judge_answers(
        judge, QUESTIONS, ANSWERS, SURVEY_CRITERIA, repeats=1, overall=True, swap=True
    )
    assert {v.slots for v in swapped if v.criterion == "diversity"} == {(2, 2)} and {
        v.winner for v in swapped
    } == {""}


def test_what_one_reply_does_not_say_of_a_criterion_is_unread_and_counted():
    judge = in_one_call(Comprehensiveness=1, Diversity=3)
    verdicts = judge_answers(judge, QUESTIONS, ANSWERS, SURVEY_CRITERIA, repeats=1, overall=True)
    assert {v.criterion for v in verdicts if v.winner is None} == {
        "diversity",
        "empowerment",
        "overall winner",
    }
    assert win_matrix(verdicts, "diversity").unread == 2 and judge.ledger["answer"].dropped == 2


@pytest.mark.parametrize(
    "reply, read, dropped",
    [
        ('{"Diversity": {"Winner": "Answer 2", "Explanation": "x"}}', (("diversity", 2, "x"),), 0),
        (
            (
                'Sure: ```json\n{"diversity": {"winner": 1}, "Overall Winner": {"Winner": "Answer '
                '1"}}```'
            ),
            (("diversity", 1, ""), ("overall winner", 1, "")),
            0,
        ),
        (
            '{"Diversity": {"Winner": "Answer 1"}} {"Diversity": {"Winner": "Answer 2"}}',
            (("diversity", 1, ""),),
            0,
        ),
        (
            '{"Diversity": {"Winner": "neither of them, or 1"}, "Empowerment": {"Winner": "?"}}',
            (("diversity", 0, ""),),
            1,
        ),
        ('{"Diversity": "Answer 1"}', (), 1),
        ("Answer 1 wins.", (), 1),
    ],
)
def test_verdicts_by_several_criteria_are_read(reply, read, dropped):
    assert TASKS["judge_overall"].parse(reply) == (read, dropped)


VERDICTS = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.sampled_from(["a", "b", "", None])),
    min_size=1,
    max_size=30,
)


@pytest.mark.paper("GraphRAG", "fig-4")
@pytest.mark.paper("PathRAG", "tab-1")
@given(VERDICTS, st.sampled_from(["half", "exclude"]))
def test_a_matrix_is_antisymmetric_and_its_interval_holds_the_rate(rows, ties):
    slot = {"a": 1, "b": 2, "": 0, None: None}
    verdicts = [
        Verdict(question, "diversity", "a", "b", winner, (), (slot[winner],))
        for question, winner in rows
    ]
    matrix = win_matrix(verdicts, "diversity", ties, samples=200)
    assert np.allclose(np.diag(matrix.rates), 50)
    total = matrix.rates + matrix.rates.T
    assert np.allclose(total[~np.isnan(total)], 100)
    if (
        len(matrix.conditions) == 2
        and not np.isnan(matrix.rates[0, 1])
        and not np.isnan(matrix.low[0, 1])
    ):
        assert 0 <= matrix.low[0, 1] <= matrix.high[0, 1] <= 100
        by_question = {winner for _, winner in rows if winner is not None}
        if len(by_question) == 1:
            assert matrix.low[0, 1] == matrix.high[0, 1] == matrix.rates[0, 1]


def test_the_interval_shrinks_with_more_questions():
    def width(count):
        verdicts = [
            Verdict(f"q{i}", "diversity", "a", "b", "a" if i % 3 else "b", (), (1 if i % 3 else 2,))
            for i in range(count)
        ]
        matrix = win_matrix(verdicts, "diversity")
        return matrix.high[0, 1] - matrix.low[0, 1]

    assert width(300) < width(12) / 2


def test_offline_no_one_judges_and_no_one_invents_questions():
    with pytest.raises(MiniragError, match="needs a model"):
        judge_answers(load_llm("offline"), QUESTIONS, ANSWERS)
    with pytest.raises(MiniragError, match="needs a model"):
        judge_answers(load_llm("offline"), QUESTIONS, ANSWERS, SURVEY_CRITERIA, overall=True)
    with pytest.raises(MiniragError, match="needs a model"):
        generate_questions(load_llm("offline"), "news of a town")
    for answers_by, judge in (
        (load_llm("offline"), prefers("more")),
        (prefers("more"), load_llm("offline")),
    ):
        method = METHODS["graphrag-ss"].build(TOWN, answers_by, "lsa")
        with pytest.raises(MiniragError, match="needs a model"):
            compare_windows(method, judge, QUESTIONS)


@pytest.mark.paper("GraphRAG", "sec-3.5")
@pytest.mark.parametrize("name, windows", [("ss", (150, 200)), ("local", (20, 100))])
def test_windows_are_judged_against_one_another(name, windows):
    """Scripted: the reader repeats its passages, so a larger window gives a longer answer."""
    reader = Scripted(lambda task, fields: " ".join(fields["passages"]))
    build = METHODS[f"graphrag-{name}"].build
    method, judge = build(TOWN, encoder="lsa"), prefers("fewer")
    method.llm = reader
    verdicts = compare_windows(method, judge, QUESTIONS, windows=(*windows, 4000), repeats=2)
    assert [task for task, _, _ in reader.asked] == ["full_answer"] * 6 and len(
        judge.asked
    ) == 3 * 2 * 3 * 2
    matrix = win_matrix(verdicts, "diversity")
    assert matrix.conditions == (*(f"{window} tokens" for window in windows), "4,000 tokens")
    assert matrix.rates.tolist() == [[50, 100, 100], [0, 50, 100], [0, 0, 50]]


@pytest.mark.paper("PathRAG", "sec-C")
def test_mistakes_are_named():
    with pytest.raises(MiniragError, match="beauty"):
        judge_answers(prefers("more"), QUESTIONS, ANSWERS, criteria=("beauty",))
    with pytest.raises(MiniragError, match="q2"):
        judge_answers(prefers("more"), QUESTIONS, {"a": {"q1": "x"}, "b": {"q1": "x", "q2": "y"}})
    assert {
        "comprehensiveness",
        "diversity",
        "empowerment",
        "directness",
        "logicality",
        "relevance",
        "coherence",
    } == set(CRITERIA)


@pytest.mark.paper("GraphRAG", "sec-3.2", "tab-1")
@pytest.mark.paper("Survey", "fig-18")
def test_five_users_with_five_tasks_and_five_questions_make_125():
    def reply(task, fields):
        if task == "user_tasks":
            return json.dumps(
                {
                    "users": [
                        {"user": f"user {u}", "tasks": [f"task {u}.{t}" for t in range(7)]}
                        for u in range(6)
                    ]
                }
            )
        return json.dumps({"questions": [f"{fields['activity']}: question {i}?" for i in range(5)]})

    questions = generate_questions(Scripted(reply), "news of a town")
    assert (
        len(questions) == len({q.text for q in questions}) == len({q.id for q in questions}) == 125
    )
    assert (
        len({(q.user, q.task) for q in questions}) == 25
        and questions[0].text == "task 0.0: question 0?"
    )
