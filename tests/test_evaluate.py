"""Metrics by hand, and the comparison with stored numbers."""

from dataclasses import replace

import pytest
from scripted import Scripted

import minirag as mr
from minirag import reproduce_table
from minirag.core.errors import MiniragError
from minirag.evaluate import (
    answer_coverage,
    compare,
    evaluate_answers,
    evaluate_retrieval,
    exact_match,
    f1,
    load_expected,
    recall_at_k,
)
from minirag.evaluate.metrics import judge


def test_recall_rounds_a_question_to_four_decimals():
    assert recall_at_k(["a", "x", "b"], ["a", "b", "c"], 3) == 0.6667
    assert recall_at_k(["a", "x", "b"], ["a", "b", "c"], 1) == 0.3333
    assert recall_at_k([], ["a"], 5) == 0.0


ANSWERS = [
    ("The Beatles!", ["beatles"], 1, 1),
    ("in 1967", ["1967"], 0, 2 / 3),
    ("Oslo", ["Bergen", "Oslo"], 1, 1),
    ("", ["x"], 0, 0),
    ("no", ["yes"], 0, 0),
]


@pytest.mark.parametrize("answer, accepted, em, overlap", ANSWERS)
def test_em_and_f1(answer, accepted, em, overlap):
    assert exact_match(answer, accepted) == em
    assert f1(answer, accepted) == pytest.approx(overlap)


YES_NO = [
    ("Yes, in 1967", ["yes"], 0.5, 0),
    ("no, Oslo", ["Oslo"], 2 / 3, 2 / 3),
    ("No", ["no one"], 2 / 3, 0),
]
YES_NO += [("yes", ["Yes."], 1, 1), ("no", ["yes", "no"], 1, 1)]


@pytest.mark.parametrize("answer, accepted, words, exact", YES_NO)
def test_hotpotqa_and_2wiki_give_nothing_for_half_a_yes(answer, accepted, words, exact):
    assert f1(answer, accepted) == pytest.approx(words) and f1(
        answer, accepted, yes_no="exact"
    ) == pytest.approx(exact)
    with pytest.raises(MiniragError, match="words"):
        f1(answer, accepted, yes_no="strict")


def test_answers_are_measured_short_and_by_the_datasets_own_f1():
    corpus = mr.load_corpus("professors")
    question = replace(corpus.questions[0], answers=("no",))
    says = Scripted(
        lambda task, fields: "Thought: t\nAnswer: no, never" if task == "answer" else "All of it."
    )
    method = mr.METHODS["graphrag-ss"].build(corpus, says, "lsa")
    for dataset, score in (("musique", 200 / 3), ("hotpotqa", 0), ("2wikimultihopqa", 0)):
        averages, answers = evaluate_answers(method, [question], dataset=dataset)
        assert answers[0].text == "no, never" and averages["F1"] == pytest.approx(score)
    assert evaluate_answers(method, [question], task="full_answer")[1][0].text == "All of it."


def test_coverage_asks_for_whole_words():
    assert answer_coverage(["He lived in Oslo."], ["Oslo"]) == 1
    assert answer_coverage(["He lived in Oslofjord."], ["Oslo"]) == 0
    assert answer_coverage(["anything"], [""]) == 0


@pytest.mark.parametrize(
    "expected, measured, tolerance, state",
    [
        (50.0, 50.0, "exact", "OK"),
        (50.0, 50.01, "exact", "FAIL"),
        (50.0, 50.5, "neural", "OKISH"),
        (50.0, 51.5, "neural", "FAIL"),
        (50.0, 48.5, "neural", "FAIL"),
        (50.0, None, "neural", "FAIL"),
        (None, 50.0, "exact", "OKISH"),
        (None, None, "exact", "PAPER-ONLY"),
    ],
)
def test_judgement(expected, measured, tolerance, state):
    assert judge(expected, measured, tolerance)[0] == state


def test_a_missing_row_fails_and_a_paper_row_is_only_shown():
    expected = {
        "rows": {
            "bm25": {"metrics": {"R@2": {"ours": 1.0, "paper": 9.0}}},
            "colbert": {"metrics": {"R@2": {"paper": 37.9}}},
        }
    }
    states = {(c.row, c.metric): c.state for c in compare([], expected)}
    assert states == {("bm25", "R@2"): "FAIL", ("colbert", "R@2"): "PAPER-ONLY"}


def test_unknown_targets_and_rows_are_named():
    with pytest.raises(MiniragError, match="musique_train"):
        reproduce_table("musik")
    with pytest.raises(MiniragError, match="hipporag-code"):
        reproduce_table("professors", rows=["hippo"])


def test_questions_without_gold_are_refused():
    corpus = mr.load_corpus("professors").without_gold()
    method = mr.METHODS["bm25"].build(corpus)
    with pytest.raises(MiniragError, match="gold"):
        evaluate_retrieval(method, corpus.questions)
    with pytest.raises(MiniragError, match="answer"):
        evaluate_answers(method, corpus.questions)


def test_the_stored_table_of_the_shipped_corpus_still_holds():
    result = reproduce_table("professors")
    failed = [c for c in result["comparison"] if c.state == "FAIL"]
    assert not failed
    assert {
        c.row for c in result["comparison"] if c.state in ("OK", "OKISH") and c.expected is not None
    } >= {"bm25", "dense", "hipporag", "hipporag-code"}


def test_every_stored_number_says_where_it_is_from():
    for target in ("professors", "musique_train"):
        rows = load_expected(target)["rows"]
        assert rows
        for name, row in rows.items():
            assert row["tolerance"] in ("exact", "neural"), name
            assert all(
                set(cell) <= {"paper", "reference", "ours"} for cell in row["metrics"].values()
            ), name
