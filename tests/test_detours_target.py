"""The target `detours`: its rows, and the stored numbers that a new run is held to."""

import pytest

from minirag.detours import detours
from minirag.evaluate import load_expected
from minirag.evaluate.detours import DETOURS_ROWS, near, reproduce_detours


def test_every_row_has_stored_numbers():
    stored = load_expected("detours")["rows"]
    assert set(stored) == set(DETOURS_ROWS)
    assert all("ours" in numbers for row in stored.values() for numbers in row["metrics"].values())


def test_cheap_rows_agree_with_the_stored_numbers():
    rows = ["most frequent answer", "most frequent value of the right type", "ranking: Eq. 2-4", "ranking: linked by name"]
    result = reproduce_detours(rows)
    assert [row["method"] for row in result["rows"]] == rows
    assert {cell.row for cell in result["comparison"]} == set(rows)
    assert all(cell.state in ("OK", "OKISH") for cell in result["comparison"]), result["comparison"]
    assert "synthetic" in result["notes"][0]


@pytest.mark.slow
def test_all_baselines_and_rankings_agree_with_the_stored_numbers():
    cells = reproduce_detours()["comparison"]
    assert all(cell.state in ("OK", "OKISH") for cell in cells), [cell for cell in cells if cell.state == "FAIL"]


def test_the_oracle_of_retrieval_says_what_it_is():
    task = near(detours(train=2, validation=1, test=3))
    assert "ego-graphs of the named entities" in task.source and "synthetic" in task.source
    assert all(question.graph.nodes[0] in question.question for question in task.test)
