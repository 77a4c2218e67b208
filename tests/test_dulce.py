"""The target `dulce`: Table 3's structure on Microsoft's real index, and our division against
theirs.
"""

import json

import pytest
from typer.testing import CliRunner

from minirag import reproduce_table
from minirag.cli import app
from minirag.reproduce.dulce import reproduce_dulce

pytestmark = pytest.mark.needs("dulce")


@pytest.fixture(scope="module")
def result():
    return reproduce_table("dulce")


def rows_of(result):
    return {row["method"]: row for row in result["rows"]}


def test_everything_loads(result):
    files = rows_of(result)["files"]
    assert [
        files[name]
        for name in ("entities", "relationships", "claims", "reports", "text units", "levels")
    ] == [89, 373, 156, 20, 50, 2]


def test_our_division_is_no_worse_than_microsoft_s(result):
    found = rows_of(result)["modularity"]
    assert (
        found["ours level 0"] >= found["microsoft level 0"]
        and 0 < rows_of(result)["agreement"]["AMI level 0"] <= 1
    )


@pytest.mark.paper("GraphRAG", "tab-3")
def test_table_3_on_real_reports(result):
    rows = rows_of(result)
    for owner in ("microsoft", "ours"):
        assert rows["C0"][f"{owner} % of TS"] <= 20 < 100 == rows["TS"][f"{owner} % of TS"]
        assert (
            rows["C0"][f"{owner} tokens"]
            < rows["C1"][f"{owner} tokens"]
            < rows["TS"][f"{owner} tokens"]
        )
    for name in ("C2", "C3"):
        assert (
            rows[name]["microsoft tokens"] == rows["C1"]["microsoft tokens"]
            and "projected down" in rows[name]["microsoft note"]
        )
    assert "microsoft note" not in rows["C1"]


def test_paper_microsoft_and_ours_have_their_own_columns(result):
    line = result["table"][0]
    assert (
        line["paper, podcast: units"] == 34
        and line["paper, news: tokens"] == 39770
        and line["Microsoft's files: units"] == 7
    )
    assert (
        line["ours: units"] != line["Microsoft's files: units"]
        or line["ours: tokens"] != line["Microsoft's files: tokens"]
    )
    assert any("C2 and C3 are C1" in note for note in result["notes"])


def test_contexts_hold_member_elements_only_and_account_for_all(result):
    contexts = [row for row in result["rows"] if row["method"].startswith("contexts ")]
    assert len(contexts) == 20
    for row in contexts:
        assert row["tokens"] <= 8000 and row["packed"] <= row["member elements"]
        if not row["reports instead"]:
            assert row["packed"] + row["left out"] == row["member elements"]
    assert any(row["reports instead"] for row in contexts) and any(
        row["code from outside"] for row in contexts
    )


def test_windows_hold_what_they_say(result):
    for row in result["rows"]:
        for size in (8, 16, 32, 64) if row["method"].startswith("windows ") else ():
            assert row[f"{size}k largest"] <= 1000 * size and row[f"{size}k windows"] >= 1


def test_nothing_differs_from_what_is_stored(result):
    assert {cell.state for cell in result["comparison"]} <= {"OK", "PAPER-ONLY"}


def test_rows_can_be_picked():
    assert [row["method"] for row in reproduce_dulce(["modularity"])["rows"]] == ["modularity"]
    assert len(reproduce_dulce(["contexts"])["rows"]) == 20


def test_the_command_writes_json(tmp_path):
    run = CliRunner().invoke(
        app,
        ["reproduce", "dulce", "--rows", "files,C0,modularity", "--json", str(tmp_path / "d.json")],
    )
    written = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert (
        run.exit_code == 0
        and written["target"] == "dulce"
        and written["rows"][0]["claims"] == 156
        and "Only 2 levels exist" in run.output
    )
    assert CliRunner().invoke(app, ["reproduce", "dulce", "--dry-run"]).exit_code == 0
    assert (
        CliRunner()
        .invoke(app, ["reproduce", "dulce", "--markdown"])
        .output.startswith("| condition")
    )
