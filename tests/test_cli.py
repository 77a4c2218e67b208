"""The command line: what it prints, what it asks for, what it refuses."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from fake_server import FakeServer
from typer.testing import CliRunner

from minirag import __version__
from minirag.cli import app, opening, show, workshop
from minirag.cli.show import as_options
from minirag.core.errors import MiniragError
from minirag.core.trace import WalkStep
from minirag.encoders import text_encoders as encoders
from minirag.evaluate import load_expected
from minirag.methods import METHODS

QUESTION = "Who paid for the observatory of Tilda Brant?"
GOLDEN = "Which professor at the University of Veldmark was born in Port Sable?"
TEXTS = {
    "brant.txt": "Tilda Brant built the Kestrel Observatory on Mount Orrin. The Kestrel "
    "Observatory opened in 1911.",
    "money.txt": "Augusta Fenwick paid for the Kestrel Observatory. Augusta Fenwick lived in "
    "Port Helm.",
    "звезда.txt": "Тильда Брант открыла комету. Обсерватория Кестрел стоит на горе Оррин.",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "my_texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "broken.txt").write_bytes(b"\x00\x01\x80\xff" * 20)
    return folder


def on(server):
    """The options that ask the model of a server."""
    return "--llm", "openai:m", "--base-url", server.url


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output and "\x1b" not in result.output
    return result


def refused(*arguments):
    """The one sentence on stderr of a run that exits with 2."""
    result = run(*arguments, code=2)
    lines = [line for line in result.stderr.splitlines() if line.startswith("minirag: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_version_and_help():
    assert run("--version").stdout == f"minirag {__version__}\n"
    listed = run("--help").stdout
    everyone, maintainers = listed.split("For maintainers:\n")
    for command in (
        "ask",
        "compare",
        "bench",
        "methods",
        "operators",
        "fetch",
        "reproduce",
        "record",
        "train",
        "lab",
        "check",
        "map",
    ):
        assert f"\n  {command} " in everyone and f"  {command} " not in maintainers.replace(
            "map --write", ""
        )
    assert [line[:13].strip() for line in maintainers.splitlines() if line] == [
        "map --write",
        "handouts",
        "refresh",
        "recordings",
    ]
    described = (everyone + maintainers)[listed.index("Commands:") :].splitlines()
    assert not [
        line for line in described if "..." in line or len(line) > 80 or line.startswith(" " * 12)
    ]


def test_python_dash_m_minirag_exits_with_2_and_one_sentence():
    said = subprocess.run(
        [sys.executable, "-m", "minirag", "ask", "profesors", "Who?"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
    assert "Did you mean 'professors'?" in said.stderr


def test_operators_are_read_off_the_pool_and_their_methods_off_the_classes():
    shown, marked = run("operators").stdout, run("operators", "--markdown").stdout
    assert len(shown.splitlines()) == 1 + 24 and len(marked.splitlines()) == 2 + 24
    cells = "| chunk Occurrence | relations | passages | a knowledge graph | "
    [row] = [line for line in marked.splitlines() if line.startswith(cells)]
    users = [n for n, m in METHODS.items() if "Occurrence" in m.operators.get("chunk", ())]
    assert row == f"{cells}{', '.join(sorted(users))} |" and "lightrag-local" in users


def test_methods_are_read_off_the_classes():
    shown, marked = run("methods").stdout, run("methods", "--markdown").stdout
    assert marked.splitlines()[1].count("---") == marked.splitlines()[0].count("|") - 1
    for name, method in METHODS.items():
        row = next(line for line in shown.splitlines() if line.split()[0] == name)
        written = next(line for line in marked.splitlines() if line.startswith(f"| {name} |"))
        if name != method.name:
            assert row.split() == [name, "alias", "of", method.name] and method.paper not in written
            continue
        for line in (row, written):
            operators = [each for names in method.operators.values() for each in names]
            assert all(
                part in line
                for part in (
                    method.paper,
                    method.graph_type,
                    method.primitive,
                    *method.granularity,
                    *operators,
                )
            )


def test_own_folder_is_answered_offline(folder):
    said = run("ask", folder, QUESTION, "--encoder", "lsa", "--trace")
    assert "Answer, by offline rules (not a language model): " in said.stdout
    assert "Graph: read by offline rules (not a language model)" in said.stdout
    assert (
        "1. " in said.stdout
        and "Trace:\n1. entities:" in said.stdout
        and "tilda brant" in said.stdout
    )
    assert "broken.txt" in said.stderr and "encoding" in said.stderr
    ledger = said.stdout[said.stdout.index("stage ") :]
    assert (
        ledger.index("build")
        < ledger.index("retrieve")
        < ledger.index("answer")
        < ledger.index("total")
    )


def test_each_passage_shows_the_nodes_that_led_there(folder):
    with pytest.warns(UserWarning, match="broken.txt"):
        session = opening.open_session(str(folder), ["hipporag"], "offline", "lsa")
    corpus, (method, _) = session.corpus, session.open("hipporag")
    retrieval = method.retrieve("Who paid for the Kestrel Observatory?", k=2)
    scores = dict(
        zip((node.name for node in method.graph.nodes), retrieval.trace.last(WalkStep).scores)
    )
    for passage in retrieval.passages:
        named = show.entities_behind(method, retrieval, passage)
        place = [c.id for c in corpus.chunks].index(passage.id)
        inside = {node.name for node in method.graph.nodes if place in node.chunks}
        assert named and {name for name, _ in named} <= inside
        assert named[0][1] == pytest.approx(max(scores[name] for name in inside))
    assert (
        show.entities_behind(METHODS["bm25"].build(corpus), retrieval, retrieval.passages[0]) == []
    )


def test_a_question_that_names_no_entity_says_what_ranks_the_passages(folder):
    said = run("ask", folder, "who was it?", "--encoder", "lsa").stdout
    assert "no entity was named, so the passages are ranked by their vectors" in said


def test_another_script_is_read_and_answered(folder):
    said = run("ask", folder, "Кто такая Тильда Брант?", "--encoder", "lsa", "-k", "1").stdout
    assert "звезда" in said and "тильда брант" in said


def test_one_file_and_a_method_without_a_graph(folder):
    said = run(
        "ask", folder / "money.txt", "Where did Augusta Fenwick live?", "--method", "bm25"
    ).stdout
    assert "1. " in said and "led there" not in said and "Index: built" in said


class CountingModel:
    """Stands in for the transformer: a vector from each text's letters, and a list of what was
    encoded.
    """

    def __init__(self):
        self.seen = []

    def encode(self, texts, **_):
        self.seen += texts
        return np.array(
            [
                np.bincount([ord(c) % 64 for c in text.lower()], minlength=64) + 0.01
                for text in texts
            ],
            dtype=np.float32,
        )


@pytest.fixture
def counted(tmp_path, monkeypatch):
    model = CountingModel()
    (tmp_path / "model").mkdir()
    monkeypatch.setattr(encoders, "minilm_folder", lambda: tmp_path / "model")
    monkeypatch.setattr(encoders, "_load_model", lambda _: model)
    return model


def test_the_index_is_built_once_and_built_anew_when_a_file_changes(folder, counted):
    first = run("ask", folder, QUESTION).stdout
    assert "Index: built and kept" in first and counted.seen
    counted.seen.clear()
    second = run("ask", folder, QUESTION).stdout
    assert "Index: reused from an earlier run" in second and not counted.seen
    assert "\nbuild " in first and "\nbuild " not in second
    passages = [text[text.index("1. ") : text.index("stage ")] for text in (first, second)]
    assert passages[0] == passages[1]
    (folder / "money.txt").write_text(
        "Ottoline Vane paid for the Kestrel Observatory.", encoding="utf-8"
    )
    third = run("ask", folder, QUESTION).stdout
    assert "Index: built and kept" in third and any(
        "ottoline vane" in text for text in counted.seen
    )


def cut(file):
    file.write_bytes(file.read_bytes()[:-40])


def replace(file):
    file.write_text('{"another": "file"}', encoding="utf-8")


def remove(file):
    file.unlink()


@pytest.mark.parametrize(
    "name, spoil",
    [(name, spoil) for name in ("options.json", "index/nodes.jsonl") for spoil in (cut, remove)]
    + [
        ("options.json", replace),
        ("index/graph.json", remove),
        ("index/graph.json", replace),
        ("index/nodes.jsonl", replace),
    ],
)
def test_a_broken_index_is_built_again(folder, tmp_path, name, spoil):
    before = run("ask", folder, QUESTION, "--encoder", "lsa").stdout
    index = next((tmp_path / "cache" / "indices").iterdir())
    spoil(index / name)
    assert run("ask", folder, QUESTION, "--encoder", "lsa").stdout == before
    assert "reused" in run("ask", folder, QUESTION, "--encoder", "lsa").stdout


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(folder, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_text("a file where a folder is needed")
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "occupied"))
    said = run("ask", folder, QUESTION, "--encoder", "lsa")
    assert (
        "Index: built, not kept" in said.stdout
        and "cannot be written" in said.stderr
        and "1. " in said.stdout
    )
    with FakeServer(reply=lambda body: "So the answer is: the moon.") as server:
        said = run("ask", folder, QUESTION, "--method", "bm25", *on(server))
    assert (
        "the moon" in said.stdout
        and "Answers kept" not in said.stdout
        and "the model's answers will not be kept" in said.stderr
    )


def test_what_is_kept_and_what_is_not_is_said(folder, counted, monkeypatch):
    def state(*arguments):
        return re.search(
            "^Index: (.*)$", run("ask", folder, QUESTION, *arguments).stdout, flags=re.MULTILINE
        )[1]

    every_time = "built, which every run does anew"
    assert (
        state("--method", "bm25")
        == state("--method", "dense", "--encoder", "lsa")
        == f"{every_time}."
    )
    assert state("--method", "proposition") == f"{every_time}, with the vectors that are kept."
    counted.seen.clear()
    assert (
        state("--method", "proposition") == f"{every_time}, with the vectors that are kept."
        and not counted.seen
    )
    assert not METHODS["colbert"].vectors_are_kept
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(
        METHODS["hipporag"], "save", lambda self, folder: (_ for _ in ()).throw(full)
    )
    said = run("ask", folder, QUESTION)
    assert (
        "Index: built, not kept." in said.stdout
        and "could not be kept" in said.stderr
        and "No space left" in said.stderr
    )


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["ask", "professors", " "], "question is empty"),
        (["ask", "profesors", "Who?"], "Did you mean 'professors'?"),
        (["ask", "no/such/folder", "Who?"], "no corpus, folder or file"),
        (["ask", "professors", "Who?", "--method", "hiporag"], "Did you mean 'hipporag'"),
        (["ask", "professors", "Who?", "--encoder", "minilmm"], "minilm"),
        (["ask", "professors", "Who?", "--llm", "openay:x"], "openai:MODEL"),
        (
            ["ask", "professors", "Who?", "--encoder", "lsa", "--extraction", "anotations"],
            "Did you mean 'annotations'?",
        ),
        (
            [
                "ask",
                "professors",
                "Who?",
                "--encoder",
                "lsa",
                "--extraction",
                "annotations",
                "--method",
                "ircot-hipporag",
            ],
            "needs a model",
        ),
        (["ask", "professors", "Who?", "--llm", "replay:none.jsonl"], "none.jsonl"),
        (["compare", "professors", "Who?", "--methods", "bm25,denze"], "Did you mean 'dense'?"),
        (["compare", "professors", "Who?", "--methods", ","], "no method is named"),
        (["fetch"], "name a dataset"),
        (["fetch", "musique-train"], "Did you mean 'musique_train'"),
        (["reproduce"], "name a target"),
        (["reproduce", "musiqe"], "Did you mean 'musique'"),
        (["reproduce", "professors", "--rows", "bm52"], "Did you mean 'bm25'"),
        (
            ["record", "professors", "--llm", "offline", "--file", "r.jsonl", "--methods", "bm52"],
            "Did you mean 'bm25'",
        ),
        (["refresh", "none.ipynb"], "no notebook 'none.ipynb'"),
        (["check", "77"], "no exercise '77'"),
        (
            ["ask", "professors", "Who?", "--method", "hyde", "--llm", "offline"],
            "the method 'hyde' needs a model",
        ),
        (
            ["compare", "professors", "Who?", "--methods", "bm25,cot", "--llm", "offline"],
            "the method 'cot' needs a model",
        ),
        (
            ["record", "professors", "--llm", "offline", "--file", "r.jsonl", "--methods", "hyde"],
            "the method 'hyde' needs a model",
        ),
        (["reproduce", "professors", "--encoder", "minilmm"], "Did you mean 'minilm'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in refused(*arguments)
    assert not list(tmp_path.glob("*.jsonl"))


def test_an_empty_folder_and_a_folder_of_unreadable_files(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    assert "no text to read" in refused("ask", tmp_path / "empty", QUESTION)
    for name in TEXTS:
        (folder / name).unlink()
    assert "broken.txt" in refused("ask", folder, QUESTION)
    assert "'my_texts'" in refused("ask", tmp_path / "my_text", QUESTION)
    assert "comes without triples" in refused(
        "ask", _one_text(tmp_path), QUESTION, "--extraction", "annotations"
    )


def _one_text(tmp_path):
    (tmp_path / "note.txt").write_text(TEXTS["money.txt"], encoding="utf-8")
    return tmp_path / "note.txt"


def test_a_dry_run_asks_nobody_and_keeps_nothing(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_API_KEY", "unused")
    with FakeServer() as server:
        said = run("ask", folder, QUESTION, *on(server), "--dry-run").stdout
        assert not server.requests
    assert (
        "with openai:m this asks 8 times" in said
    )  # two calls for each of three texts, one for the question, one for the answer
    assert "to be built" in said and "Answer" not in said
    assert not list((tmp_path / "cache").rglob("*.jsonl"))
    assert (
        "asks 8 times"
        in run(
            "ask",
            folder,
            QUESTION,
            "--llm",
            "openai:m",
            "--base-url",
            "http://127.0.0.1:9/v1",
            "--dry-run",
        ).stdout
    )
    monkeypatch.delenv("MINIRAG_API_KEY")
    assert (
        "asks 8 times" in run("ask", folder, QUESTION, "--llm", "openai:m", "--dry-run").stdout
    )  # not even a key is needed
    run("ask", folder, QUESTION, "--encoder", "lsa")
    reused = run("ask", folder, QUESTION, "--encoder", "lsa", "--dry-run").stdout
    assert "reused from an earlier run" in reused and "asks 2 times" in reused


def test_a_model_on_a_server_answers_and_is_named(folder):
    with FakeServer(reply=lambda body: "So the answer is: Augusta Fenwick.") as server:
        said = run("ask", folder, QUESTION, "--method", "bm25", *on(server)).stdout
        assert (
            len(server.requests) == 1
            and "Answer, by openai:m at 127.0.0.1:" in said
            and "Augusta Fenwick" in said
        )
        there = ["--method", "bm25", *on(server), "--max-calls", "0"]
        stopped = refused("ask", folder, "Where did Augusta Fenwick live?", *there)
        assert (
            len(server.requests) == 1
            and "max_calls is 0" in stopped.replace("--max-calls ", "max_calls is ")
            and "are kept in" in stopped
        )
        assert (
            "the moon" not in said
            and "Augusta Fenwick" in run("ask", folder, QUESTION, *there).stdout
        )  # asked once, and kept
        assert len(server.requests) == 1


def records(body):
    """A reply for whatever is asked: an entity list, triples or an answer."""
    said = str(body["messages"])
    return (
        '{"triples": [["Augusta Fenwick", "paid for", "Kestrel Observatory"]]}'
        if "triple" in said.lower()
        else '["Augusta Fenwick"]'
    )


def test_no_prompt_is_paid_twice_by_two_methods_or_after_a_file_came_in(folder):
    with FakeServer(reply=records) as server:
        there = [*on(server), "--encoder", "lsa"]
        said = run("compare", folder, QUESTION, "--methods", "hipporag,grag", *there).stdout
        prompts = [json.dumps(body["messages"]) for _, _, body in server.requests]
        assert (
            len(prompts) == len(set(prompts)) == 7 and "Answers kept in " in said
        )  # two for each of three texts, one for the question
        assert (
            "asks 0 times, and 1 answers are recorded"
            in run("compare", folder, QUESTION, "--methods", "hipporag", *there, "--dry-run").stdout
        )
        (folder / "more.txt").write_text("Ottoline Vane met Augusta Fenwick.", encoding="utf-8")
        planned = run(
            "compare", folder, QUESTION, "--methods", "hipporag,grag", *there, "--dry-run"
        ).stdout
        assert (
            len(server.requests) == 7
            and "this asks 2 times" in planned
            and "Index of grag: to be built." in planned
        )
        run("compare", folder, QUESTION, "--methods", "hipporag,grag", *there)
        assert len(server.requests) == 9


def test_compare_stops_at_the_cap_and_records_where_it_is_told(folder, tmp_path):
    file = tmp_path / "answers.jsonl"
    with FakeServer(reply=records) as server:
        there = [*on(server), "--encoder", "lsa", "--record", file, "--max-calls", "3"]
        said = run(
            "compare",
            folder,
            "Where did Augusta Fenwick live?",
            "--methods",
            "hipporag,bm25",
            *there,
            code=2,
        )
        assert len(server.requests) == 3 == len(file.read_text(encoding="utf-8").splitlines())
    assert (
        "1  money (" in re.sub(" +", " ", said.stdout).replace("1 ", "1  ")
        and "hipporag" not in said.stdout.split("Question")[1].split("stage")[0]
    )
    assert "minirag: hipporag: stopped before call 4" in said.stderr and str(file) in said.stderr


def test_a_recording_is_continued_and_replayed(folder, tmp_path):
    file = tmp_path / "answers.jsonl"
    with FakeServer(reply=lambda body: "So the answer is: the moon.") as server:
        there = [
            *on(server),
            "--file",
            file,
            "--methods",
            "bm25",
            "--ask",
            QUESTION,
            "--workers",
            "1",
        ]
        run("record", folder, *there)
        assert len(server.requests) == 1
        again = run("record", folder, *there, "--ask", "Where did Augusta Fenwick live?").stdout
        assert len(server.requests) == 2 and "Replay it" in again
        assert (
            "asks 0 times, and 1 answers are recorded already"
            in run("record", folder, *there, "--dry-run").stdout
        )
        assert len(server.requests) == 2
    said = run("ask", folder, QUESTION, "--method", "bm25", "--llm", f"replay:{file}").stdout
    assert "Answer, by replay of openai:m" in said and "the moon" in said
    assert "no answer to this prompt" in refused(
        "ask", folder, "Never asked?", "--method", "bm25", "--llm", f"replay:{file}"
    )


def test_a_recording_holds_the_reading_of_the_corpus(folder, tmp_path):
    file = tmp_path / "all.jsonl"
    said = run(
        "record", folder, "--llm", "offline", "--file", file, "--ask", QUESTION, "--encoder", "lsa"
    ).stdout
    tasks = [json.loads(line)["task"] for line in file.read_text(encoding="utf-8").splitlines()]
    assert {name: tasks.count(name) for name in set(tasks)} == {
        "passage_entities": 3,
        "triples": 3,
        "question_entities": 1,
        "answer": 1,
    }
    assert "total         8" in said
    live, replayed = (
        run("ask", folder, QUESTION, "--encoder", "lsa", "--llm", llm).stdout
        for llm in ("offline", f"replay:{file}")
    )
    assert (
        live[live.index("1. ") :].split("stage")[0]
        == replayed[replayed.index("1. ") :].split("stage")[0]
    )
    assert "without questions" in refused(
        "record", folder, "--llm", "offline", "--file", tmp_path / "none.jsonl"
    )
    assert not (tmp_path / "none.jsonl").exists()


def test_compare_puts_methods_side_by_side_and_marks_gold():
    question = "Who founded the Lanthorn Trust?"
    said = run(
        "compare",
        "professors",
        question,
        "--methods",
        "bm25,hipporag",
        "--encoder",
        "lsa",
        "--extraction",
        "annotations",
        "-k",
        "3",
    )
    lines = said.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("rank"))
    assert lines[head].split() == ["rank", "bm25", "hipporag"]
    assert [line.split()[0] for line in lines[head + 1 : head + 4]] == ["1", "2", "3"]
    assert any("Lanthorn Trust (" in line and " *" in line for line in lines[head + 1 : head + 4])
    assert "needed for this question" in said.stdout and "more:" not in said.stdout


def test_compare_shows_four_methods_and_names_the_others():
    lines = run("compare", "professors", GOLDEN, "--encoder", "lsa").stdout.splitlines()
    assert next(line for line in lines if line.startswith("rank")).split()[1:] == [
        "bm25",
        "dense",
        "hipporag",
        "graphrag-local",
    ]
    free, needy = (
        lines[-1].removeprefix("more: --methods ").removesuffix(")").split(" (with a model also ")
    )
    named = [*free.split(","), *needy.split(",")]
    assert {METHODS[name].needs_model for name in free.split(",")} == {False} and {
        METHODS[name].needs_model for name in needy.split(",")
    } == {True}
    assert sorted([*named, "bm25", "dense", "hipporag", "graphrag-local"]) == sorted(
        name for name, m in METHODS.items() if name == m.name
    )


def test_compare_tells_the_chunks_of_a_document_apart(tmp_path):
    (tmp_path / "long_story.txt").write_text(
        "Tilda Brant built it. " * 200 + "Augusta Fenwick paid. " * 200, encoding="utf-8"
    )
    (tmp_path / "note.txt").write_text("Tilda Brant met Augusta Fenwick.", encoding="utf-8")
    cells = run("compare", tmp_path, "Who is Augusta Fenwick?", "--methods", "bm25").stdout
    assert "long_story.txt#3 (" in cells and "note (" in cells and "long story (" not in cells


def test_a_score_of_zero_is_no_rank(folder):
    alone = run("compare", folder, "Where did Augusta Fenwick live?", "--methods", "bm25").stdout
    assert "money (" in alone and "(0.000)" not in alone and "brant (" not in alone
    assert "nothing scores above 0" in run("compare", folder, "xyzzy", "--methods", "bm25").stdout
    asked = run("ask", folder, "Where did Augusta Fenwick live?", "--method", "bm25").stdout
    assert "1. " in asked and "\n2. " not in asked and "2 more passages have score 0" in asked
    assert "3 passages have score 0" in run("ask", folder, "xyzzy", "--method", "bm25").stdout


def test_a_table_too_wide_for_the_terminal_goes_one_below_the_other(monkeypatch, capsys):
    lists = {
        "first": ["a long title (1.000) *", "another (0.500)"],
        "second": ["a title of some length (2.000)"],
    }
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    show.columns("rank", lists)
    narrow = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
    assert narrow.splitlines() == [
        "first",
        "  1. a long title (1.000) *",
        "  2. another (0.500)",
        "second",
        "  1. a title of some length (2.000)",
    ]
    monkeypatch.setenv("COLUMNS", "100")
    show.columns("rank", lists)
    assert re.search(
        r"1 +a long title \(1.000\) \* +a title of some length", capsys.readouterr().out
    )


def test_offline_a_corpus_is_read_by_its_own_annotations():
    said = run("ask", "professors", GOLDEN, "--encoder", "lsa").stdout
    assert (
        "Graph: shipped annotations; --extraction rules lets the offline rules read the text\n"
        in said
    )
    gold = next(
        question.gold
        for question in opening.open_corpus("professors").questions
        if question.text == GOLDEN
    )
    marked = [line for line in said.splitlines() if line.endswith("] *")]
    assert len(marked) == sum(f"[{id}]" in said for id in gold) > 0 and all(
        any(f"[{id}]" in line for id in gold) for line in marked
    )
    assert "needed for this question" in said
    rules = ("--encoder", "lsa", "--extraction", "rules", "--llm", "offline")
    read = run("ask", "professors", GOLDEN, *rules).stdout
    assert (
        "Graph: read by offline rules (not a language model); also here: --extraction "
        "annotations (shipped annotations)" in read
    )
    assert (
        "*"
        not in run("ask", "professors", GOLDEN.replace("Which", "What"), "--encoder", "lsa").stdout
    )
    for extraction in ("rules", "annotations"):
        assert (
            "Graph:"
            not in run(
                "ask", "professors", GOLDEN, "--method", "bm25", "--extraction", extraction
            ).stdout
        )
    assert (
        "Graph: shipped"
        in run(
            "compare", "professors", GOLDEN, "--methods", "bm25,hipporag", "--encoder", "lsa"
        ).stdout
    )


def test_a_model_reads_the_text_itself_unless_told(tmp_path):
    corpus = opening.open_corpus("professors")
    assert opening.extraction_for("hipporag", corpus, None, "offline") == "annotations"
    assert (
        opening.extraction_for("hipporag", corpus, None, "openai:m")
        is opening.extraction_for("hipporag", corpus, "rules", "offline")
        is None
    )
    assert opening.extraction_for("hipporag", corpus, "annotations", "openai:m") == "annotations"
    assert opening.extraction_for("bm25", corpus, "annotations", "offline") is None
    run(
        "record",
        "professors",
        "--llm",
        "offline",
        "--file",
        tmp_path / "r.jsonl",
        "--questions",
        "0",
        "--encoder",
        "lsa",
    )
    tasks = [
        json.loads(line)["task"]
        for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert tasks.count("triples") == len(corpus.chunks)


def test_a_short_answer_is_given_unless_a_full_one_is_asked_for():
    ask = [
        "ask",
        "professors",
        "Who directs Osmere Observatory?",
        "--method",
        "graphrag-ss",
        "--encoder",
        "lsa",
    ]
    short, full = (run(*ask, *more).stdout for more in ((), ("--task", "full_answer")))
    assert "Extract by rule" not in short and "Extract by rule" in full
    assert "task='direct': graphrag-ss answers by answer, answer_open, full_answer" in refused(
        *ask, "--task", "direct"
    )


def test_what_map_reduce_found_is_scored_of_a_hundred_and_a_rule_does_not_judge():
    rules = ("--method", "graphrag-global", "--llm", "offline")
    said = run("ask", "professors", GOLDEN, *rules).stdout
    assert (
        "(a rule cannot judge or summarise: see the reports)" in said
        and "by rule: the share of the question's words" in said
    )
    assert re.search(r"^1\. \d+/100  .*\[report:", said, flags=re.MULTILINE) and not re.search(
        r"^1\. \d+\.\d{4}", said, flags=re.MULTILINE
    )
    assert "/100" not in run("ask", "professors", GOLDEN, "--method", "bm25").stdout


def test_errors_speak_of_options(monkeypatch):
    for name in ("OPENAI_API_KEY", "MINIRAG_API_KEY", "MINIRAG_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    errors = [
        refused("ask", "professors", "Who?", "--llm", llm)
        for llm in ("openai:m", "gpt4", "offlin", "openai:")
    ]
    errors += [
        refused("ask", "professors", "Who?", "--encoder", "x"),
        refused("ask", "professors", "Who?", "--method", "hyde", "--llm", "offline"),
    ]
    assert not [said for said in errors if re.search(r"\w=|encode\(|object", said)]
    assert (
        "--base-url" in errors[0]
        and "--llm takes" in errors[1]
        and "--encoder takes" in errors[4]
        and "--llm openai:MODEL" in errors[5]
    )
    assert (
        as_options("Pass llm='a' or base_url=... for b; n=3.")
        == "Pass --llm 'a' or --base-url for b; n=3."
    )


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("gpt4", "openai:gpt4"),
        ("openay:x", "openai:x"),
        ("llama3", "ollama:llama3"),
        ("Qwen/Qwen3", "ollama:Qwen/Qwen3"),
        ("a.jsonl", "replay:a.jsonl"),
    ]
    + [("acme/model", "hf:acme/model"), ("ofline", "offline")],
)
def test_a_language_model_that_is_none_suggests_what_was_meant(typed, meant):
    assert f"Did you mean {meant!r}?" in refused("ask", "professors", "Who?", "--llm", typed)


def test_the_paper_map_is_searched(monkeypatch):
    found = run("map", "ppr").stdout
    assert (
        "\nWang hippo-ppr: " in found
        and "\n    code     minirag/algorithms/pagerank.py" in found
        and "approximate" not in found
    )
    assert "Wang | PathRAG | GraphRAG" in found
    grag = run("map", "grag").stdout
    assert "\nGRAG eq-5: " in grag and "\nWang" not in grag
    assert "Did you mean 'pagerank'" in refused("map", "pagrank") and "Papers: Wang" in refused(
        "map", "zzzz"
    )
    monkeypatch.setattr("minirag.workshop.paper_map.in_checkout", lambda: False)
    pruned = run("map", "wang prun").stdout.splitlines()[2:]
    assert pruned and all(line.startswith("Wang | ") for line in pruned)
    shipped = run("map", "ppr").stdout
    assert "\nWang | `hippo-ppr` |" in shipped and "approximate" not in shipped


def test_fetch_lists_what_can_be_had(tmp_path):
    lines = run("fetch", "--list", "--folder", tmp_path).stdout.splitlines()
    assert lines[0].split() == ["name", "what", "licence", "MB", "here"]
    row = next(line for line in lines if line.startswith("musique_train "))
    assert row.split()[-2:] == ["5.5", "no"]


def test_reproduce_writes_rows_and_exits_by_the_verdict(tmp_path, monkeypatch):
    file = tmp_path / "new" / "out.json"
    said = run("reproduce", "professors", "--rows", "bm25", "--json", file).stdout
    written = json.loads(file.read_text(encoding="utf-8"))
    stored = load_expected("professors")["rows"]["bm25"]["metrics"]
    assert written["target"] == "professors" and [row["method"] for row in written["rows"]] == [
        "bm25"
    ]
    assert {name: value for name, value in written["rows"][0].items() if name != "method"} == {
        name: numbers["ours"] for name, numbers in stored.items()
    }
    assert {cell["state"] for cell in written["comparison"]} == {"OK"}
    assert said.splitlines()[0].split() == [
        "row",
        "metric",
        "measured",
        "stored",
        "reference",
        "paper",
        "state",
        "why",
    ]
    assert said.splitlines()[-1] == f"professors: {len(stored)} OK, 0 OKISH, 0 FAIL, 0 PAPER-ONLY"

    wrong = {
        "rows": {
            "bm25": {"metrics": {"R@2": {"ours": 99.0, "paper": 98.0}, "MRR": {"paper": 50.0}}}
        }
    }
    monkeypatch.setattr(
        sys.modules["minirag.reproduce.retrieval_tables"], "load_expected", lambda *_: wrong
    )
    failed = run("reproduce", "professors", "--rows", "bm25", "--json", file, code=1).stdout
    assert "1 FAIL, 1 PAPER-ONLY" in failed and "beyond exact tolerance" in failed
    states = {
        cell["metric"]: cell["state"]
        for cell in json.loads(file.read_text(encoding="utf-8"))["comparison"]
    }
    assert states["R@2"] == "FAIL" and states["MRR"] == "PAPER-ONLY" and states["R@5"] == "OKISH"
    assert not list(file.parent.glob(".*"))
    assert "a file is expected" in refused("reproduce", "professors", "--json", tmp_path)


def test_reproduce_can_say_what_it_would_do(monkeypatch):
    monkeypatch.setattr(
        sys.modules["minirag.reproduce.retrieval_tables"],
        "reproduce_table",
        lambda *_, **__: pytest.fail("it ran"),
    )
    plan = run("reproduce", "musique", "--rows", "bm25,hipporag-code", "--dry-run").stdout
    assert "nothing was run" in plan and "hipporag-code" in plan and "hipporag-ensemble" not in plan
    commands = run("reproduce", "professors", "--display-commands").stdout.splitlines()
    assert "minirag reproduce professors --rows hipporag-no-specificity" in commands
    commands = run(
        "reproduce",
        "detours",
        "--rows",
        "trained: LM, hard prompt,mean vectors",
        "--display-commands",
    ).stdout.splitlines()
    assert commands == [
        "minirag reproduce detours --rows 'trained: LM, hard prompt'",
        "minirag reproduce detours --rows 'mean vectors'",
    ]
    usual, every = (
        run("reproduce", "detours", *rows, "--dry-run").stdout for rows in ((), ("--rows", "all"))
    )
    assert (
        "trained: GRAG" in usual
        and "trained: LM, hard prompt" not in usual
        and "trained: LM, hard prompt" in every
    )
    listed = run("reproduce", "--list").stdout
    assert "rung 0: the shipped corpus" in listed and "hipporag-ensemble" in listed


def test_reproduce_prints_markdown():
    lines = run("reproduce", "professors", "--rows", "bm25", "--markdown").stdout.splitlines()
    stored = load_expected("professors")["rows"]["bm25"]["metrics"]
    assert (
        lines[0] == "| row | triples | R@2 | R@5 | R@10 | R@20 | coverage@5 | reference R@2 / R@5 |"
    )
    assert (
        lines[2]
        == "| bm25 | none | "
        + " | ".join(f"{numbers['ours']:.1f}" for numbers in stored.values())
        + " |  |"
    )


@pytest.mark.paper("Wang", "tab-4")
@pytest.mark.needs("musique_train")
def test_the_real_data_is_verified_and_reproduced(tmp_path):
    assert "complete and verified" in run("fetch", "musique_train").stdout
    run("reproduce", "musique_train", "--rows", "bm25", "--json", tmp_path / "out.json")
    row = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["rows"][0]
    assert (
        row["method"] == "bm25"
        and row["R@2"] == pytest.approx(34.3, abs=0.2)
        and row["R@5"] == pytest.approx(45.2, abs=0.2)
    )


def test_lab_opens_the_first_notebook(tmp_path, monkeypatch):
    with pytest.raises(MiniragError, match="00_start_here.ipynb is missing"):
        workshop.lab_command(tmp_path)
    (tmp_path / "00_start_here.ipynb").write_text("{}")
    monkeypatch.setattr(workshop.os, "geteuid", lambda: 1000, raising=False)
    command = workshop.lab_command(tmp_path, browser=False, port=9999)
    assert command[1:] == [
        "-m",
        "jupyterlab",
        f"--LabApp.default_url=/lab/tree/{tmp_path.name}/00_start_here.ipynb",
        "--no-browser",
        "--port=9999",
    ]
    assert workshop.lab_command(tmp_path) == command[:-2]
    monkeypatch.setattr(workshop.os, "geteuid", lambda: 0, raising=False)
    assert workshop.lab_command(tmp_path)[-1] == "--allow-root"
    monkeypatch.setattr(
        workshop, "__file__", str(tmp_path / "site-packages" / "minirag" / "cli" / "workshop.py")
    )
    assert "Clone the repository" in refused("lab")


def test_refresh_leaves_what_it_cannot_run(tmp_path, monkeypatch):
    import nbformat

    monkeypatch.setenv("MINIRAG_DATA", str(tmp_path / "nothing"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1", id="sum")])
    nbformat.write(notebook, tmp_path / "zero.ipynb")
    notebook.metadata["minirag"] = {"rung": 1, "needs": ["musique_train"]}
    nbformat.write(notebook, tmp_path / "one.ipynb")
    said = run("refresh", tmp_path / "zero.ipynb", tmp_path / "one.ipynb").stdout.splitlines()
    assert said == [
        "zero.ipynb: changed",
        "one.ipynb: left as it is, its data is not here (minirag fetch musique_train)",
    ]


@pytest.mark.parametrize("passed, code", [(True, 0), (False, 1)])
def test_check_exits_by_the_grade(passed, code, monkeypatch):
    from minirag.grading import exercises

    asked = []
    status = "passed" if passed else "hint"
    items = (exercises.Item("one", "passed", 3), exercises.Item("two", status, 2, "why", ("so",)))
    report = exercises.Report("03_name", items)
    monkeypatch.setattr(exercises, "check", lambda *given: asked.append(given) or report)
    said = run("check", "03", "--hints", "2", code=code).stdout
    assert f"{5 if passed else 3} of 5 points" in said and ("hint 1: so" in said) != passed
    assert asked == [("03", None)]


def test_text_cannot_steer_the_terminal(tmp_path):
    (tmp_path / "evil.txt").write_text(
        "Mallory \x1b]0;owned\x07 wrote to [bold]Eve[/bold] in 1999.", encoding="utf-8"
    )
    said = run(
        "ask", tmp_path / "evil.txt", "To whom did Mallory write?", "--method", "bm25"
    ).stdout
    assert "\x07" not in said and "[bold]Eve[/bold]" in said


@pytest.mark.skipif(os.name == "nt", reason="no such file names")
def test_a_file_name_cannot_steer_the_terminal(tmp_path):
    (tmp_path / "note.txt").write_text("Mallory wrote to Eve.", encoding="utf-8")
    (tmp_path / "a\x1b]0;owned\x07.png").write_bytes(b"")
    said = run("ask", tmp_path, "To whom did Mallory write?", "--method", "bm25")
    assert "files of another kind (1: a]0;owned.png)" in said.stderr


def test_an_address_that_no_model_uses_is_noted(folder):
    options = ("--encoder", "lsa", "--base-url", "http://localhost:1/v1")
    assert "note: --base-url is not used" in run("ask", folder, QUESTION, *options).stderr


def test_whoever_stops_a_command_is_told_what_is_kept(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(opening, "open_corpus", stop)
    assert run("ask", "professors", "Who?", code=130).stderr.startswith(
        "minirag: stopped. Vectors and recorded answers are kept"
    )


def test_a_method_that_a_folder_cannot_train_says_so(folder):
    said = run("ask", folder, QUESTION, "--method", "grag", "--encoder", "lsa").stdout
    assert (
        "It cannot be trained on this corpus: 'my_texts' has 0 questions" in said
        and "minirag train" not in said
    )
    assert (
        "answers after: minirag train grag professors"
        in run("ask", "professors", GOLDEN, "--method", "grag", "--encoder", "lsa").stdout
    )


def test_help_has_a_short_name_and_the_shell_completes(folder):
    assert (
        run("-h").stdout == run("--help").stdout
        and run("ask", "-h").stdout == run("ask", "--help").stdout
    )
    assert "--install-completion" in run("-h").stdout


def test_colours_obey_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    show.table(["state"], [["FAIL"]])
    assert "\x1b[1;31m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    show.table(["state"], [["FAIL"]])
    assert "31m" not in capsys.readouterr().out


def test_a_figure_of_the_walk_is_saved(folder, tmp_path):
    assert (
        "Figure: "
        in run(
            "ask", folder, QUESTION, "--encoder", "lsa", "--figure", tmp_path / "walk.svg"
        ).stdout
    )
    drawn = (tmp_path / "walk.svg").read_text(encoding="utf-8")
    assert "tilda brant" in drawn and drawn.startswith("<svg")
    assert "nothing to draw" in refused(
        "ask", folder, QUESTION, "--method", "bm25", "--figure", tmp_path / "none.svg"
    )
