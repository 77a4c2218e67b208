"""The target `paths`: what is counted, on which corpora, beside the paper's numbers."""

import json

import pytest
from typer.testing import CliRunner

from minirag import reproduce_table
from minirag.cli import app
from minirag.core.errors import MiniragError
from minirag.evaluate import load_expected
from minirag.evaluate.metrics import phrase_coverage, plain, word_coverage
from minirag.reproduce import paths
from minirag.reproduce.paths import (
    CONNECTED,
    DIRECTIONS,
    PATH_NAMES,
    THRESHOLDS,
    open_corpus,
    stored_connections,
    verdicts,
)

TEXTBOOK = ["textbook lightrag-hybrid", "textbook pathrag", "textbook pathrag-lt", "textbook flat"]


def test_evidence_is_found_word_for_word_whatever_the_quotation_marks():
    assert plain("A  razor’s\nEdge") == "a razor's edge"
    assert phrase_coverage("It is a Razor's edge.", ["a razor’s edge", "a knife"]) == 0.5
    assert word_coverage("An edge, a razor.", ["a razor edge", "knife edge"]) == pytest.approx(0.75)


@pytest.mark.paper("PathRAG", "tokens")
def test_rows_and_savings():
    result = reproduce_table("paths", rows=TEXTBOOK, encoder="lsa")
    rows = {row["method"]: row for row in result["rows"]}
    assert list(rows) == TEXTBOOK
    assert rows["textbook lightrag-hybrid"]["saved %"] == 0
    assert rows["textbook pathrag-lt"]["tokens"] < rows["textbook pathrag"]["tokens"]
    assert (
        rows["textbook flat"]["tokens"] <= rows["textbook pathrag"]["tokens"]
    )  # shared nodes are written once
    assert rows["textbook flat"]["evidence words %"] == rows["textbook pathrag"]["evidence words %"]
    assert any("paper's order" in note for note in result["notes"])
    paper = {(cell.row, cell.metric): cell.paper for cell in result["comparison"]}
    assert (
        paper["textbook pathrag", "tokens"] == 13318
        and paper["textbook pathrag-lt", "saved %"] == 44
    )


def test_verdicts_say_when_the_order_does_not_hold():
    def tokens(*numbers):
        return [
            {"method": f"dulce {name}", "tokens": n}
            for name, n in zip(("pathrag-lt", "pathrag", "lightrag-hybrid"), numbers)
        ]

    assert (
        "15,837) holds" in verdicts(tokens(1, 2, 3))[0]
        and "does not hold" in verdicts(tokens(1, 4, 3))[0]
    )


def test_every_row_has_stored_numbers():
    stored = load_expected("paths")["rows"]
    assert set(stored) == set(PATH_NAMES)
    assert all("ours" in numbers for row in stored.values() for numbers in row["metrics"].values())


# What the released code's own functions gave over this kit's graph, vectors, keywords and tokens.
OFFICIAL = {"textbook": (15_333, 80.3), "dulce": (19_002, 51.7)}


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_codes_setting_sends_as_much_as_the_released_code(name):
    metrics = load_expected("paths")["rows"][f"{name} pathrag-code"]["metrics"]
    tokens, evidence = OFFICIAL[name]
    assert metrics["tokens"]["ours"] == pytest.approx(tokens, rel=0.02)
    assert metrics["evidence %"]["ours"] == pytest.approx(evidence, abs=2)


@pytest.mark.paper("PathRAG", "fig-3")
def test_a_sweep_passes_through_the_papers_setting():
    """Source: PathRAG, Fig. 3 (fig-3)"""
    names = ["textbook pathrag-paths-only", "textbook pathrag K 5", "textbook pathrag K 15"]
    alone, five, fifteen = reproduce_table("paths", rows=names, encoder="lsa")["rows"]
    assert {**alone, "method": ""} == {**fifteen, "method": ""}
    assert five["paths"] == 5 < fifteen["paths"] and five["tokens"] < fifteen["tokens"]


def test_what_notebook_07_says_of_the_sweeps_and_of_musique():
    rows = load_expected("paths")["rows"]

    def swept(name, letter, metric, digits=0):
        values = paths.SWEPT[letter][1]
        found = [rows[f"{name} pathrag {letter} {value:g}"]["metrics"][metric] for value in values]
        return [round(cell["ours"], digits) for cell in found]

    words = swept("textbook", "N", "evidence words %")[1:]
    edges = swept("textbook", "N", "single edges %")[1:]
    assert (min(words), max(words), edges[0], edges[-1]) == (56, 60, 43, 100)
    tokens = swept("textbook", "N", "tokens")
    assert 0.37 < 1 - tokens[-1] / tokens[1] < 0.42
    for name, found, spent in (
        ("textbook", (41, 65), (500, 3200)),
        ("dulce", (8, 21), (300, 4500)),
    ):
        words, tokens = swept(name, "K", "evidence words %"), swept(name, "K", "tokens", -2)
        assert (words[0], words[-1]) == found and (tokens[0], tokens[-1]) == spent
    assert set(swept("textbook", "alpha", "evidence words %")) == {60, 61}
    assert set(swept("dulce", "alpha", "evidence words %", 1)) == {18.9}
    thin = rows[paths.BARE]["metrics"]
    wanted = {"paths": 2, "single edges %": 82, "no path %": 17}
    assert {metric: round(thin[metric]["ours"]) for metric in wanted} == wanted


def test_a_connections_row_is_what_the_method_itself_saw():
    both = reproduce_table(
        "paths",
        rows=["textbook pathrag", "textbook connections theta 0.05 directed"],
        encoder="lsa",
    )["rows"]
    method, row = sorted(both, key=lambda row: "connections" in row["method"])
    assert {metric: method[metric] for metric in row if metric != "method"} == {
        metric: row[metric] for metric in row if metric != "method"
    }


def test_connections_without_their_data_are_left_out_with_a_note(monkeypatch):
    monkeypatch.setattr(paths, "available", lambda name: False)
    names = [f"{corpus} connections theta 0.05 undirected" for corpus in CONNECTED]
    found = reproduce_table("paths", rows=names, encoder="lsa")
    assert (
        [row["method"] for row in found["rows"]]
        == ["textbook connections theta 0.05 undirected"]
        == list({cell.row for cell in found["comparison"]})
    )
    assert [note.split(":")[0] for note in found["notes"]] == [
        "dulce",
        "musique",
    ] and "minirag fetch musique_train" in found["notes"][1]
    with pytest.raises(MiniragError, match="minirag fetch musique_train"):
        reproduce_table("paths", rows=names[-1:], encoder="lsa")


@pytest.mark.slow
@pytest.mark.needs("musique_train")
def test_musique_is_barely_connected_and_more_so_both_ways():
    names = [f"musique connections theta 0.05 {way}" for way in DIRECTIONS]
    directed, undirected = reproduce_table("paths", rows=names, encoder="lsa")["rows"]
    assert 0 < directed["pairs connected"] < undirected["pairs connected"] < 1560 / 40
    assert directed["without a way out"] > 10 and undirected["without a way out"] == 0


def test_stored_connections_grow_and_prune_less_as_theta_falls():
    stored = load_expected("paths")
    for name in CONNECTED:
        for way in DIRECTIONS:
            pairs, pruned, sinks = (
                stored_connections(stored, name, way, metric)
                for metric in ("pairs connected", "starts pruned", "without a way out")
            )
            assert pairs == sorted(pairs) and len(pairs) == len(THRESHOLDS)
            assert pruned == sorted(pruned, reverse=True)
            assert len(set(sinks)) == 1  # no theta helps a start that leads nowhere
        for metric in ("pairs connected", "starts pruned", "without a way out"):
            own = stored["rows"].get(f"{name} pathrag", {"metrics": {}})["metrics"].get(metric)
            assert (
                own is None
                or own["ours"]
                == stored_connections(stored, name, "directed", metric)[THRESHOLDS.index(0.05)]
            )


def test_methods_see_no_evidence_and_no_gold():
    corpus, questions = open_corpus("textbook")
    assert len(questions) == 25 and not any(
        question.gold or question.answers for question in corpus.questions
    )


def test_on_the_command_line(tmp_path):
    file = tmp_path / "paths.json"
    done = CliRunner().invoke(
        app,
        [
            "reproduce",
            "paths",
            "--rows",
            "textbook pathrag-lt",
            "--encoder",
            "lsa",
            "--json",
            str(file),
        ],
    )
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (
        "textbook pathrag-lt" in done.stdout
        and found["target"] == "paths"
        and found["rows"][0]["tokens"] > 0
    )
