"""What chapter 17c (what the benchmark says) says beyond what its cells print, luck's shares found
another way, and the survey's numbers behind it.
"""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial
from unified_rows import by_method, graph_methods, of_table, stored_rows

import minirag as mr
from minirag.evaluate.bench import run_bench
from minirag.evaluate.metrics import load_expected
from minirag.reproduce.unified import DATASET

RECORDED_ROWS = "professors recorded: "
SETS = "MultihopQA", "Quality", "PopQA", "MusiqueQA"


@pytest.fixture(scope="module")
def stored():
    return stored_rows()


@pytest.fixture(scope="module")
def right(stored):
    """By method, which questions it answers; and what each method says to q07."""
    names = [n for n in of_table(stored, RECORDED_ROWS) if n not in ("dense", "zeroshot", "cot")]
    run = run_bench(mr.load_corpus("professors"), names, llm="recorded", gleanings=0)
    said = {r["method"]: r["answer"] for r in run.answers if r["question"] == "q07"}
    return {name: by_method(run, name, "accuracy") > 0 for name in names}, said


def p_of(won, lost):
    return binomtest(won, won + lost).pvalue if won + lost else 1.0


def lucky_share(rows, limit):
    """Over all ways to toss one coin a question: how often some row's p is so small."""
    rows = rows[:, (rows != 0).any(axis=0)]
    tosses = 1 - 2 * np.array([*product([0, 1], repeat=rows.shape[1])])
    small = np.zeros(len(tosses), bool)
    for row in rows:
        n = np.count_nonzero(row)
        p = np.array([p_of(won, n - won) for won in range(n + 1)])
        small |= p[(n + tosses @ row) // 2] <= limit + 1e-9
    return small.mean()


def own_share(rows, limit):
    """The same if each method has coins of its own."""
    none = 1.0
    for n in np.count_nonzero(rows, axis=1):
        chances = multinomial(n, [0.5, 0.5])
        small = [k for k in range(n + 1) if p_of(k, n - k) <= limit + 1e-9]
        none *= 1 - sum(chances.pmf([k, n - k]) for k in small)
    return 1 - none


def test_two_of_eighteen_answer_all_and_fourteen_are_above_by_right_answers(right):
    right = {**right[0]}
    flat = right.pop("vanilla")
    full = {name for name, row in right.items() if row.all()}
    assert len(right) == 18 and full == {"ircot-hipporag", "pathrag"} and (~flat).sum() == 8
    assert not full & set(load_expected("survey_tables")["table_5"]["rows"])
    nets = [row.sum() - flat.sum() for row in right.values()]
    assert [sum(np.sign(nets) == x) for x in (1, 0, -1)] == [14, 2, 2]
    bm25 = right["bm25"]
    assert mr.METHODS["bm25"].graph_type == "none" and (right["pathrag"] & ~bm25).sum() == 3
    assert [
        ((row & ~flat).sum(), (~row & flat).sum()) for row in (right["hipporag"], right["raptor"])
    ] == [(6, 2), (2, 0)]


def test_eight_to_none_is_shown_and_seven_to_none_is_not(right):
    """By all tosses; and with coins of its own for each method."""
    right = {**right[0]}
    flat = right.pop("vanilla").astype(int)
    rows = np.array([row - flat for row in right.values()])
    assert lucky_share(rows, p_of(8, 0)) == pytest.approx(0.0203, abs=6e-5)
    assert lucky_share(rows, p_of(7, 0)) == pytest.approx(0.0589, abs=6e-5)
    assert 0.07 < lucky_share(rows, 0.05) < 0.08
    assert own_share(rows, p_of(8, 0)) == pytest.approx(0.031, abs=6e-4)


def test_with_the_surname_accepted_on_q07_one_rule_of_three_shows_the_lead(right):
    right, said = right
    kinder = {name: row.copy() for name, row in right.items()}
    assert said["vanilla"] == "Brandreth" and not right["vanilla"][6]
    for name, row in kinder.items():
        row[6] = "Brandreth" in said[name]
    flat = kinder.pop("vanilla").astype(int)
    rows = np.array([row - flat for row in kinder.values()])
    assert rows.sum(axis=1).max() == 7
    assert lucky_share(rows, p_of(7, 0)) == pytest.approx(0.041, abs=6e-4)
    assert own_share(rows, p_of(7, 0)) == pytest.approx(0.061, abs=6e-4)


def test_eighteen_recorded_methods_are_compared_and_told_before_two_are_none_of_all(stored):
    recorded, musique = (
        {*of_table(stored, start)} for start in (RECORDED_ROWS, f"{DATASET} by GPT-3.5: ")
    )
    assert recorded - musique - {"zeroshot", "cot"} == {"hyde", "ircot-hipporag"}
    assert len(recorded - {"zeroshot", "cot", "dense", "vanilla"}) == 18


@pytest.mark.parametrize(
    "n, won, lost, shown", [(24, 6, 2, 17), (100, 6, 2, 78), (100, 5, 3, 24), (100, 7, 1, 100)]
)
def test_how_often_a_lead_is_shown_exactly(n, won, lost, shown):
    """All ways to win and lose so many of n questions, weighed by their chances."""
    chance, rates = 0.0, [won / 24, lost / 24, 1 - (won + lost) / 24]
    for w in range(1, n + 1):
        for ours in range(min(w, n - w + 1)):
            if binomtest(w, w + ours).pvalue < 0.05:
                chance += multinomial.pmf([w, ours, n - w - ours], n, rates)
    assert 100 * chance == pytest.approx(shown, abs=2)


def test_on_how_many_of_the_surveys_four_sets_each_method_is_above_vector_search():
    table = load_expected("survey_tables")["table_5"]
    places = [table["columns"].index(f"{name} Accuracy") for name in SETS]
    flat = [table["rows"]["vanilla"][place] for place in places]
    leads = {
        name: [table["rows"][name][place] - base for place, base in zip(places, flat)]
        for name in graph_methods()
    }
    above = {name: sum(lead > 0 for lead in row) for name, row in leads.items()}
    assert (above["hipporag"], above["raptor"], above["fastgraphrag"]) == (2, 4, 1)
    assert all(-1 < lead < 0 for lead in leads["hipporag"][2:])
    assert len(above) == 11 and sum(above.values()) == 10
    dalk = dict(zip(table["columns"], table["rows"]["dalk"]))
    assert (dalk["MultihopQA Accuracy"], flat[0]) == (53.952, 50.626)


def test_in_the_survey_hipporag_is_below_on_alce_in_all_three_measures_and_raptor_in_one():
    table = load_expected("survey_tables")["table_5"]
    places = [table["columns"].index(f"ALCE {name}") for name in ("STRREC", "STREM", "STRHIT")]
    below = {
        name: [table["rows"][name][c] < table["rows"]["vanilla"][c] for c in places]
        for name in ("hipporag", "raptor")
    }
    assert below == {"hipporag": [True] * 3, "raptor": [False, True, False]}
