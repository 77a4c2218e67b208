"""`minirag bench`: its scores against worked examples and recorded cases, its table against loops
written by hand, and runs that are killed and started again.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import minirag as mr
from minirag.cli import app
from minirag.core.errors import MiniragError
from minirag.corpora.survey_sets import MultipleChoice
from minirag.evaluate import survey_metrics as sm
from minirag.evaluate.bench import COUNTS, LOG, run_bench
from minirag.evaluate.metrics import exact_match, f1, interval, recall_at_k
from minirag.methods import METHODS
from minirag.prompts import find_task

from .scripted import Scripted
from .small import corpus_of

SIX = ["vanilla", "bm25", "hipporag", "lightrag-local", "graphrag-er", "raptor-k"]
QUICK = ["vanilla", "tog"]
OWN = {"extraction": "annotations"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(cache))


@pytest.fixture(scope="module")
def professors():
    return mr.load_corpus("professors")


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


# Scores.


def recorded(name):
    path = Path(__file__).parent / "recorded" / f"digimon_{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["cases"]


SHORT = [
    c for c in recorded("short_metrics") if "percent" in c["expected"] and "answer" in c["input"]
]


@pytest.mark.paper("Survey", "tab-5")
@pytest.mark.parametrize("case", SHORT, ids=lambda case: str(list(case["input"].values())))
def test_the_testbed_by_follow_code(case):
    """All 50 recorded pairs, those with letters inside of words and empty texts among them."""
    parts, wanted = [case["input"]["answer"].split("|")], case["expected"]["percent"]
    found = sm.score_answer(case["input"]["prediction"], parts, "code")
    names = {"accuracy": "accuracy", "recall": "recall", "EM": "em"}
    assert [100 * found[name] for name in names] == pytest.approx(
        [wanted[name] for name in names.values()]
    )
    if wanted["f1"] or found["EM"] == 0:  # two empty texts: F1 is 1 here, 0 there
        assert 100 * found["F1"] == pytest.approx(wanted["f1"])


@pytest.mark.parametrize("case", recorded("alce_metrics"), ids=lambda case: str(case["input"]))
def test_strings_by_sub_question(case):
    """The paper's STRREC is the testbed's str_em, its STREM the testbed's str_hit."""
    given = case["input"]
    found = sm.string_scores(given["prediction"], given["short_answers_per_question"], True)
    assert found["STRREC"] == pytest.approx(case["expected"]["str_em"])
    assert found["STREM"] == case["expected"]["str_hit"]


def test_two_of_three_sub_questions():
    parts = [["Paris", "City of Light"], ["London", "Big Smoke"], ["Rome"]]
    found = sm.score_answer("Paris and London", parts)
    assert found["STRREC"] == pytest.approx(2 / 3)
    assert (found["STREM"], found["STRHIT"]) == (0, 1)
    assert "STRHIT" not in sm.score_answer("Paris and London", parts, "code")


def test_any_wording_or_all_of_them():
    said, parts = "The capital of France is Paris.", [["Paris", "City of Light"]]
    paper, code = sm.score_answer(said, parts), sm.score_answer(said, parts, "code")
    assert (paper["accuracy"], code["accuracy"]) == (1, 0)
    assert (paper["recall"], code["recall"]) == (1, 0.5)  # "Paris" and "of"
    assert paper["F1"] == pytest.approx(1 / 3)
    assert sm.contains("education", ["cat"]) == 0 and sm.contains("education", ["cat"], True) == 1


@pytest.mark.paper("GRAG", "tab-2")
def test_lists_of_answers():
    golds = [["apple"], ["pear"], ["plum"]]
    assert sm.list_f1("apple, pear and plum", golds, "code") == pytest.approx(1.5)
    assert sm.list_f1("apple, pear and plum", golds) == 1
    assert sm.list_f1("apple\nfig", golds) == pytest.approx(2 * 0.5 / 3 / (0.5 + 1 / 3))
    assert (sm.hit_at_1("fig\napple", golds), sm.hit_at_1("fig\napple", golds, "code")) == (0, 1)
    assert sm.list_f1("", golds) == sm.hit_at_1("", golds) == 0


def test_coverage_grows_with_the_budget():
    context = "word " * 1500 + "Maud Ellery " + "word " * 1500
    found = sm.coverage(context, ["Maud Ellery"])
    assert found == {"cover@1k": 0, "cover@2k": 1, "cover@4k": 1, "cover@8k": 1}
    assert sm.coverage("word " * 999 + "Ellery", ["Ellery"])["cover@1k"] == 1
    assert sm.coverage("word " * 1000 + "Ellery", ["Ellery"])["cover@1k"] == 0
    assert sm.coverage("", ["Ellery"]) == {}


def test_the_reader_s_context():
    reader, mapping, reducing = map(find_task, ("answer", "map_answer", "reduce_answer"))
    asked = [(find_task("question_entities"), {"question": "Who?"})]
    assert sm.context_of(asked) == ""
    asked += [(reader, {"question": "Who?", "passages": ["one", "two"]})]
    assert sm.context_of(asked) == "one\ntwo"
    windows = [[("r1", "one")], [("r2", "two")]]
    asked = [(mapping, {"question": "Who?", "units": window}) for window in windows]
    asked += [(reducing, {"question": "Who?", "answers": [("three", 50)]})]
    assert sm.context_of(asked) == "r1\none\nr2\ntwo"


# The table.


@pytest.fixture(scope="module")
def six(professors, cache, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINIRAG_CACHE", str(cache))
        folder = tmp_path_factory.mktemp("six")
        return run_bench(professors, SIX, encoder="lsa", extraction="annotations", folder=folder)


@pytest.mark.parametrize("name", SIX)
def test_six_methods_by_hand(six, professors, name):
    options = OWN if METHODS[name].graph_type not in ("none", "tree") else {}
    if name == "graphrag-er":  # over the index of its graph type
        index = mr.GraphRAGLocal.build(professors, encoder="lsa", **options).index
        method = mr.GraphRAGER.from_index(index, encoder="lsa")
    else:
        method = METHODS[name].build(professors, encoder="lsa", **options)
    right, em, overlap, recall, calls, tokens = [], [], [], [], [], []
    for asked in professors.questions:
        before = method.llm.ledger.snapshot()
        answer = method.answer(asked.text, 5, method.short_task)
        spent = (method.llm.ledger - before).total
        text = f" {sm.normalise_answer(answer.text)} "
        right.append(100.0 * any(f" {sm.normalise_answer(a)} " in text for a in asked.answers))
        em.append(100 * exact_match(answer.text, asked.answers))
        overlap.append(100 * f1(answer.text, asked.answers))
        recall.append(100 * recall_at_k(answer.retrieval.ids, asked.gold, 5))
        calls.append(spent.calls)
        tokens.append((spent.prompt_tokens, spent.completion_tokens))
    (row,) = [row for row in six.leaderboard if row["method"] == name]
    names = ("accuracy", "EM", "F1", "R@5", "calls")
    means = [np.mean(each) for each in (right, em, overlap, recall, calls)]
    assert [row[each] for each in names] == pytest.approx(means)
    assert [row["prompt tokens"], row["completion tokens"]] == pytest.approx(np.mean(tokens, 0))
    assert (row["low"], row["high"]) == interval(np.array(right))
    base = [each["accuracy"] for each in six.answers if each["method"] == "vanilla"]
    if name == "vanilla":
        assert "gain" not in row
        return
    assert row["gain"] == pytest.approx(np.mean(np.array(right) - base))
    assert (row["gain low"], row["gain high"]) == interval(np.array(right) - base)


def test_graphs_are_shared_and_counted(six, professors):
    rows = {row["methods"][0]: row for row in six.graphs}
    assert set(rows) == {"hipporag", "lightrag-local", "graphrag-er", "raptor-k"}
    tree = mr.RAPTORK.build(professors, encoder="lsa")
    assert rows["raptor-k"]["edges"] == len(tree.graph.edges)
    assert rows["raptor-k"]["build prompt tokens"] == tree.llm.ledger["build"].prompt_tokens > 0
    local = mr.GraphRAGLocal.build(professors, encoder="lsa", **OWN).llm.ledger
    assert rows["graphrag-er"]["index prompt tokens"] == local["index"].prompt_tokens > 0
    (board,) = [row for row in six.leaderboard if row["method"] == "raptor-k"]
    found = [tree.retrieve(asked.text, 5) for asked in professors.questions]
    shares = tree.layer_shares(found)
    assert [board[f"layer {n}"] for n in shares] == pytest.approx(
        [100 * s for s in shares.values()]
    )


@pytest.mark.slow
def test_an_index_that_nobody_counted(six, professors, tmp_path, monkeypatch):
    """The log is new, the indices are there: the same graphs, counted the same, and counted once;
    also in other processes.
    """
    cache = Path(os.environ["MINIRAG_CACHE"])
    for file in cache.rglob(COUNTS):
        file.unlink()
    for turn in ("first", "second"):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            again = run_bench(
                professors, SIX, encoder="lsa", extraction="annotations", folder=tmp_path / turn,
                executor=pool,
            )  # fmt: skip
        assert again.graphs == six.graphs
        assert without_seconds(again.answers) == without_seconds(six.answers)
        monkeypatch.setattr(mr.HippoRAG, "build", None)


def test_a_text_that_is_read_by_the_rules(professors, tmp_path):
    found = run_bench(
        professors, ["hipporag", "tog"], encoder="lsa", folder=tmp_path, baseline="tog"
    )
    tokens = {row["build prompt tokens"] for row in found.graphs}
    assert tokens == {
        mr.HippoRAG.build(professors, encoder="lsa").llm.ledger["build"].prompt_tokens
    }


def test_what_needs_a_model_or_training_has_no_numbers(professors, tmp_path):
    found = run_bench(professors, ["zeroshot", "bm25", "grag"], folder=tmp_path, encoder="lsa")
    notes = {row["method"]: row.get("note", "") for row in found.leaderboard}
    assert notes["zeroshot"] == "needs a model" and notes["grag"].startswith("needs training")
    assert [len(row) for row in found.leaderboard if row["method"] != "bm25"] == [3, 3]
    with pytest.raises(MiniragError, match="no method ran. cot: needs a model"):
        run_bench(professors, ["cot"], folder=tmp_path)


def test_a_finished_question_is_not_asked_again(six, professors, monkeypatch):
    monkeypatch.setattr(mr.Method, "answer", None)
    again = run_bench(professors, SIX, encoder="lsa", extraction="annotations", folder=six.folder)
    assert again == six
    with pytest.raises(TypeError):  # another k is another question
        run_bench(professors, SIX, encoder="lsa", extraction="annotations", folder=six.folder, k=4)


def test_a_torn_line_is_dropped_and_another_is_an_error(professors, tmp_path):
    asked = {"names": ["bm25"], "encoder": "lsa", "folder": tmp_path}
    whole, log = run_bench(professors, **asked), tmp_path / LOG
    log.write_bytes(log.read_bytes()[:-30])
    again = run_bench(professors, **asked)
    assert without_seconds(again.answers) == without_seconds(whole.answers)
    log.write_bytes(b'{"no": "row"}\n' + log.read_bytes())
    with pytest.raises(MiniragError, match=r"log.jsonl, line 1: no row of a bench"):
        run_bench(professors, **asked)


def test_answers_by_rules_are_never_shown_as_a_model_s(professors, tmp_path):
    """RAPTOR-K's prompts over this tree are in no recording, BM25's are."""
    names, options = ["bm25", "raptor-k", "ircot-hipporag"], {"encoder": "lsa", "llm": "recorded"}
    rows = run_bench(professors, names, folder=tmp_path, baseline="bm25", **options).leaderboard
    told = {row["method"]: row.get("answers by", row.get("note")) for row in rows}
    assert told["bm25"].startswith("24 by recorded replies")
    assert "by offline rules" in told["raptor-k"]
    assert told["ircot-hipporag"].startswith("needs a model: no recording holds this prompt")
    shown = run("professors", "--methods", "bm25,raptor-k", "--encoder", "lsa", "--llm", "recorded")
    assert "answers by" in shown.stdout and "by offline rules" in shown.stdout
    assert "what a model would have been sent" not in shown.stdout


LEVEL = ("Debt.", "A letter from Selm.", "Rain.")
OPTIONS = "\nA. Debt.\nB. A letter from Selm.\nC. Rain."


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("B", "B"), ("(c)", ""), ("C. Debt", "C"), ("Option A", "A"), ("A letter came", "B"),
     ("It rained: rain", "C"), ("I. Newton", ""), ("Debt and rain", ""), ("", "")],
)  # fmt: skip
def test_the_option_that_an_answer_chooses(answer, letter):
    assert sm.option_chosen(answer, LEVEL) == letter


@pytest.mark.parametrize("follow", ["paper", "code"])
@pytest.mark.parametrize(("reply", "right"), [("B", 100), ("(A) Debt.", 0), ("Oslo", 0)])
def test_options_are_shown_and_the_chosen_one_is_scored(tmp_path, reply, right, follow):
    corpus, model = corpus_of(("p", "Ada left in May.")), Scripted(lambda *asked: reply)
    asked = MultipleChoice("1", "Why did Ada leave?", LEVEL[1:2], options=LEVEL, letter="B")
    corpus = replace(corpus, questions=(asked,))
    found = run_bench(corpus, ["bm25"], model, folder=tmp_path, baseline="bm25", follow=follow)
    ((_, prompt, _),) = model.asked
    assert prompt.endswith(f"Question: Why did Ada leave?{OPTIONS}")
    (row,) = found.leaderboard
    assert row["accuracy"] == row["EM"] == row["F1"] == row["hit@1"] == right


# From the command line.


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refused(*arguments):
    return run(*arguments, code=2).stderr


def test_threads_processes_and_none_agree(professors, tmp_path):
    plain = run_bench(professors, QUICK, encoder="lsa", folder=tmp_path / "1", **OWN)
    with ThreadPoolExecutor(2) as pool:
        threads = run_bench(
            professors, QUICK, encoder="lsa", folder=tmp_path / "2", executor=pool, **OWN
        )
    run("professors", "--methods", ",".join(QUICK), "--encoder", "lsa", "--out", tmp_path / "3",
        "--workers", 2, "--json", tmp_path / "3.json")  # fmt: skip
    processes = json.loads((tmp_path / "3.json").read_text())
    assert without_seconds(threads.leaderboard) == without_seconds(plain.leaderboard)
    assert without_seconds(processes["leaderboard"]) == without_seconds(plain.leaderboard)
    assert without_seconds(processes["answers"]) == without_seconds(plain.answers)


KILLED = ("professors", "--methods", "tog,kgp", "--encoder", "lsa")


def killed_and_started_again(tmp_path, times):
    """A run that is killed at random points ends in the same table and asks nothing twice."""
    folder, chance = tmp_path / "killed", random.Random(times)
    command = [sys.executable, "-m", "minirag", "bench", *KILLED, "--out", str(folder)]
    killed = 0
    for _ in range(10 * times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        lines, limit = done(folder), time.time() + 60
        wanted = lines + chance.randint(1, 48 // times - 1)
        while process.poll() is None and done(folder) < wanted and time.time() < limit:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL and done(folder) > lines
        if killed == times:
            break
    assert killed == times and done(folder) < 48 + 2  # it was never finished
    run(*KILLED, "--out", folder, "--json", tmp_path / "killed.json")
    run(*KILLED, "--out", tmp_path / "whole", "--json", tmp_path / "whole.json")
    found, whole = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("killed", "whole"))
    for part in ("leaderboard", "answers"):
        assert without_seconds(found[part]) == without_seconds(whole[part])
    assert found["graphs"] == whole["graphs"]
    keys = Counter(json.loads(line)["key"] for line in (folder / LOG).read_text().splitlines())
    assert len(keys) == 2 * 24 + 2 and set(keys.values()) == {1}


def done(folder):
    log = folder / LOG
    return log.read_bytes().count(b"\n") if log.exists() else 0


@pytest.mark.slow
def test_killed_twice(tmp_path):
    killed_and_started_again(tmp_path, 2)


@pytest.mark.slow
def test_killed_ten_times(tmp_path):
    killed_and_started_again(tmp_path, 10)


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "brant.txt").write_text("Tilda Brant built the Kestrel Observatory in 1911.")
    (folder / "money.txt").write_text("Augusta Fenwick paid for the Kestrel Observatory.")
    return folder


def test_own_texts_and_questions(texts, tmp_path):
    rows = [
        {"question": "Who paid for the Kestrel Observatory?", "answers": ["Augusta Fenwick"],
         "gold": ["money.txt"]},
        {"id": "two", "question": "Who built and who paid?",
         "answers": [["Tilda Brant"], ["Augusta Fenwick", "Fenwick"]]},
    ]  # fmt: skip
    file, out = tmp_path / "q.jsonl", tmp_path / "out"
    file.write_text("\n\n".join(map(json.dumps, rows)))
    options = ("--questions", file, "--encoder", "lsa", "--out", out)
    shown = run(texts, *options, "--methods", "bm25,vanilla,zeroshot", "--markdown",
                "--figure", tmp_path / "f.png", "--json", tmp_path / "r.json").stdout  # fmt: skip
    assert "| zeroshot | none |" in shown and "needs a model" in shown
    assert "what a model would have been sent" in shown
    for drawn in ("f.png", "f_time.png"):
        assert (tmp_path / drawn).read_bytes().startswith(b"\x89PNG")
    kept = json.loads((tmp_path / "r.json").read_text())
    first, second = [row for row in kept["answers"] if row["method"] == "bm25"]
    assert first["R@2"] == 100 and "R@2" not in second
    assert second["question"] == "two" and second["STRREC"] in (0, 50, 100)
    tables = sorted(path.name for path in out.iterdir() if path.name != LOG)
    assert [name.partition(".")[0] for name in tables] == ["answers", "graphs", "leaderboard"]


def test_tables_without_pandas(texts, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    (tmp_path / "q.jsonl").write_text('{"question": "Who built it?", "answers": ["Tilda Brant"]}')
    run(texts, "--questions", tmp_path / "q.jsonl", "--methods", "bm25", "--encoder", "lsa",
        "--out", tmp_path / "out")  # fmt: skip
    head, line = (tmp_path / "out" / "leaderboard.csv").read_text().splitlines()
    assert head.startswith("method,graph,n,accuracy") and line.startswith("bm25,none,1,")


@pytest.mark.parametrize(
    "line, said",
    [
        ("{broken", "q.jsonl, line 2: no question with answers"),
        ('{"question": "Who?"}', "line 2: no question with answers .KeyError: 'answers'"),
        ('{"question": "Who?", "answers": []}', "line 2: no question with answers"),
        ('{"question": "Who?", "answers": "Tilda"}', "line 2: no question with answers"),
        ('{"question": " ", "answers": ["x"]}', "line 2: no question with answers"),
        (
            '{"question": "Who?", "answers": ["x"], "gold": "p1"}',
            "line 2: no question with answers",
        ),
        ("[1, 2]", "line 2: no question with answers"),
        (
            '{"question": "Who?", "answers": ["x"], "gold": ["mony.txt"]}',
            "line 2: 'mony.txt' is no passage",
        ),
    ],
)
def test_a_bad_question_file(texts, tmp_path, line, said):
    good = '{"question": "Who?", "answers": ["Tilda Brant"]}'
    (tmp_path / "q.jsonl").write_text(f"{good}\n{line}\n")
    message = refused(texts, "--questions", tmp_path / "q.jsonl", "--methods", "bm25")
    assert re.search(said, message), message


def test_other_bad_input(texts, tmp_path):
    assert "Did you mean 'hipporag'" in refused("professors", "--methods", "hiporag")
    assert "Did you mean 'vanilla'" in refused("professors", "--baseline", "vanila")
    assert "no question with an accepted answer" in refused(texts, "--methods", "bm25")
    assert "ends in .png" in refused("professors", "--figure", tmp_path / "f.svg")
    assert "none.jsonl: No such file" in refused(texts, "--questions", tmp_path / "none.jsonl")
    with pytest.raises(MiniragError, match="no question with an accepted answer"):
        run_bench(corpus_of(("a", "text")), ["bm25"])
