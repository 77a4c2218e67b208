"""Batches through files: a round writes every prompt that it can, and goes on from what a service
answered. Nothing that is answered here is a model's.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from batch_server import BatchServer, body_of, dump, line_of
from typer.testing import CliRunner

import minirag as mr
from minirag.cli import app
from minirag.core.errors import MiniragError
from minirag.evaluate import answer_all, evaluate_answers
from minirag.evaluate.judging import compare_windows, judge_answers
from minirag.graphs import extract_elements
from minirag.llm import LLM, Completion, Waiting, batch_files, load_llm
from minirag.llm.batch_files import BatchFolder
from minirag.llm.replay import read_answers
from minirag.prompts import TASKS

from .small import corpus_of

ROOT = Path(__file__).parents[1]
TOWN = corpus_of(
    *((f"n{i}", f"In year {i} Saltrey moved its harbour {i} miles.") for i in range(4))
)
QUESTIONS = [f"Where was the harbour in year {i}?" for i in range(3)]
FIELDS = [{"question": f"Where is Port {i}?"} for i in range(12)]
PORTS = [(f"Port {i}",) for i in range(12)]
ELEMENTS = (
    '("entity"<|>SALTREY<|>GEO<|>A town)##("entity"<|>HARBOUR<|>GEO<|>Of Saltrey)##'
    '("relationship"<|>SALTREY<|>HARBOUR<|>It has one<|>7)<|COMPLETE|>'
)
REPLIES = {
    "elements": ELEMENTS,
    "gleaning": ELEMENTS.replace("HARBOUR", "MILES"),
    "map_points": json.dumps({"points": [{"description": "It moved [n1].", "score": 80}]}),
    "map_answer": json.dumps({"answer": "It moved.", "score": 55}),
    "reduce_answer": "It moved, they say.",
    "judge": json.dumps({"winner": 1, "explanation": "It says more."}),
}


def reply(body):
    """What is answered to a request; the same whoever carries it."""
    last, system = body["messages"][-1]["content"], body["messages"][0]["content"]
    name = next(name for name, task in TASKS.items() if task.system == system)
    if name == "elements" and "Records so far" in last:
        name = "gleaning"
    if name == "question_entities":
        return json.dumps([last.rsplit("Where is ", 1)[-1][:-1]])
    if name == "glean_check":
        return "YES" if "year 1" in last else "NO"
    if name == "thought":
        return f"Thought {len(last)}."
    if name == "chain_of_thought":
        return f"I guess. The answer is {body.get('seed', 0) // 2}."
    if name == "hypothetical_document":
        return f"Saltrey lies {body.get('seed', 0)} miles away."
    return REPLIES.get(name, f"Answer: {last[-12:]}")


class Live(LLM):
    """The same replies, one by one."""

    name = "batch:m"

    def complete(self, task, messages, fields):
        seed = task.sample or 0
        return Completion(reply({"messages": messages, "seed": seed}), 7, 3)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def batch(folder, **options):
    return load_llm(f"batch:{folder}", **{"model": "m", **options})


def serve(folder, answer=lambda row: line_of(row, reply(row["body"]))):
    """Answer by hand, in another order, every requests file without responses; how many."""
    count = 0
    for path in sorted(folder.glob("requests-*.jsonl")):
        output = folder / path.name.replace("requests", "responses")
        if not output.exists():
            rows = [row for request in rows_of(path) if (row := answer(request))]
            output.write_text(dump(reversed(rows)))
            count += len(rows_of(path))
    return count


def in_rounds(folder, run, llm=None):
    """What `run(llm)` returns in the end, and how many requests each round wrote."""
    rounds = []
    for _ in range(20):
        try:
            return run(llm or batch(folder)), rounds
        except Waiting:
            rounds.append(serve(folder))
    raise AssertionError(rounds)


def ask_for(name, **options):
    def run(llm):
        method = mr.METHODS[name].build(TOWN, llm=llm, encoder="lsa", **options)
        return [(answer.text, answer.retrieval.ids) for answer in answer_all(method, QUESTIONS)]

    return run


def judge(llm):
    answers = {name: {str(i): f"{name} {i}" for i in range(3)} for name in ("a", "b", "c")}
    questions = {str(i): text for i, text in enumerate(QUESTIONS)}
    return judge_answers(llm, questions, answers, ("directness",), repeats=5, swap=True)


def windows(llm):
    method = mr.METHODS["graphrag-ss"].build(TOWN, llm=llm, encoder="lsa")
    questions = {str(i): text for i, text in enumerate(QUESTIONS)}
    return compare_windows(method, llm, questions, (8000, 16000), ("directness",), repeats=2)


WAYS = {
    "bm25": (ask_for("bm25"), [3]),
    "gleaning": (lambda llm: extract_elements(TOWN, llm, gleanings=2), [4, 4, 1, 1, 1]),
    "claims of gleaned elements": (
        lambda llm: extract_elements(TOWN, llm, gleanings=1, claims=True), [4, 4, 1, 4],
    ),
    "map, then reduce": (ask_for("graphrag-ts"), [3, 3]),
    "IRCoT": (ask_for("ircot", retriever="bm25", max_steps=3), [3, 3, 3]),
    "self-consistency": (ask_for("cot-sc", samples=5), [15]),
    "HyDE": (ask_for("hyde", follow="code"), [24, 3]),
    "LightRAG": (ask_for("lightrag-hybrid"), None),
    "global search": (ask_for("graphrag-global"), None),
    "judging": (judge, [3 * 3 * 2 * 5]),
    "windows": (windows, [3, 6]),  # both windows take all, so their prompts are the same
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_a_round_for_everything_gives_what_one_by_one_gives(way, tmp_path):
    run, expected = WAYS[way]
    found, rounds = in_rounds(tmp_path / "files", run)
    assert found == run(Live()) and (expected is None or rounds == expected), rounds
    same = batch(tmp_path / "object")
    assert in_rounds(tmp_path / "object", run, same) == (found, rounds)
    rows = [row for path in (tmp_path / "files").glob("requests-*") for row in rows_of(path)]
    assert len({row["custom_id"] for row in rows}) == len(rows) == sum(rounds)


def test_samples_are_requests_of_their_own(tmp_path):
    with pytest.raises(Waiting, match="15 prompts wait"):
        ask_for("cot-sc", samples=5)(batch(tmp_path))
    bodies = [row["body"] for row in rows_of(tmp_path / "requests-001.jsonl")]
    assert [body["seed"] for body in bodies] == [0, 1, 2, 3, 4] * 3
    assert {body["temperature"] for body in bodies} == {0.7}


def test_a_request_is_in_the_format_and_the_answer_counts_the_tokens(tmp_path):
    llm = batch(tmp_path, top_p=0.5)
    with pytest.raises(
        Waiting, match=r"1 prompt waits for an answer, in .*requests-001.jsonl \(1\)"
    ):
        llm("question_entities", **FIELDS[0])
    [row] = rows_of(tmp_path / "requests-001.jsonl")
    assert (row["method"], row["url"]) == ("POST", "/v1/chat/completions")
    assert row["body"].pop("messages")[-1]["content"].endswith("Where is Port 0?")
    sent = {"model": "m", "max_tokens": 300, "temperature": 0, "seed": 0, "top_p": 0.5}
    assert row["body"] == sent
    serve(tmp_path)
    for same in (llm, batch(tmp_path)):
        assert same("question_entities", **FIELDS[0]) == ("Port 0",) and same.is_model
        total = same.ledger.total
        assert (total.calls, total.replayed, total.prompt_tokens) == (1, 1, 7)
        assert total.completion_tokens == 3 and "1 answered, 0 waiting" in repr(same)
    usage_less = body_of('["Port 0"]') | {"usage": {"prompt_tokens": True}}
    (tmp_path / "responses-001.jsonl").write_text(dump([line_of(row, body=usage_less)]))
    llm = batch(tmp_path)
    assert llm("question_entities", **FIELDS[0]) == ("Port 0",)
    assert llm.ledger.total.prompt_tokens > 50 and llm.ledger.total.completion_tokens > 1


def test_what_waits_is_not_written_twice_and_what_is_new_goes_into_a_new_file(tmp_path):
    for _ in range(3):
        with pytest.raises(Waiting, match="4 prompts wait"):
            batch(tmp_path).map("question_entities", FIELDS[:4])
    with pytest.raises(Waiting, match=r"12 prompts .*001.jsonl \(4\), requests-002.jsonl \(8\)"):
        batch(tmp_path).map("question_entities", [*FIELDS, *FIELDS])
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "requests-001.jsonl",
        "requests-002.jsonl",
    ]
    assert serve(tmp_path) == 12
    assert batch(tmp_path).map("question_entities", FIELDS) == PORTS


@pytest.mark.parametrize("limit", [("MAX_REQUESTS", 5), ("MAX_BYTES", 4000)])
def test_a_file_takes_so_many_requests_and_bytes(limit, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_files, *limit)
    with pytest.raises(Waiting, match="12 prompts"):
        batch(tmp_path).map("question_entities", FIELDS)
    files = sorted(tmp_path.iterdir())
    sizes = [(len(rows_of(path)), path.stat().st_size) for path in files]
    assert len(files) >= 3 and sum(count for count, _ in sizes) == 12
    assert all(size[limit[0] == "MAX_BYTES"] <= limit[1] for size in sizes)
    serve(tmp_path)
    assert batch(tmp_path).map("question_entities", FIELDS) == PORTS


FAULTS = {
    "an error": lambda row: line_of(row, error={"code": "batch_expired", "message": "too late"}),
    "a status": lambda row: line_of(row, status=500, body={"error": {"message": "broken"}}),
    "a refusal": lambda row: line_of(
        row, body={"choices": [{"message": {"content": None, "refusal": "I cannot"}}]}
    ),
    "an empty reply": lambda row: line_of(row, " \n"),
    "no choices": lambda row: line_of(row, body={"choices": []}),
    "a strange body": lambda row: line_of(row, body=[1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_failed_is_asked_again_in_the_next_round(fault, tmp_path):
    with pytest.raises(Waiting):
        batch(tmp_path).map("question_entities", FIELDS)
    bad = {row["custom_id"] for row in rows_of(tmp_path / "requests-001.jsonl")[3:5]}
    good = line_of  # the rest is answered

    def answer(row):
        return FAULTS[fault](row) if row["custom_id"] in bad else good(row, reply(row["body"]))

    serve(tmp_path, answer)
    for _ in range(2):  # asked again once, and not once more while it waits
        with pytest.raises(Waiting, match=r"2 prompts .*002.jsonl \(2\); 2 without an answer"):
            batch(tmp_path).map("question_entities", FIELDS)
    assert "10 answered, 2 waiting, 2 without an answer" in repr(batch(tmp_path))
    assert {row["custom_id"] for row in rows_of(tmp_path / "requests-002.jsonl")} == bad
    serve(tmp_path, answer)
    once = batch(tmp_path, attempts=2)
    if fault in ("a refusal", "an empty reply"):
        found = once.map("question_entities", FIELDS)
        assert found == [*PORTS[:3], (), (), *PORTS[5:]] and once.ledger.total.malformed == 2
    else:
        with pytest.raises(
            MiniragError, match="no answer to a 'question_entities' .* in 2 batches"
        ):
            once.map("question_entities", FIELDS)
    with pytest.raises(Waiting, match="003"):
        batch(tmp_path).map("question_entities", FIELDS)
    serve(tmp_path)
    assert batch(tmp_path).map("question_entities", FIELDS) == PORTS


def test_an_argument_that_the_model_does_not_take_is_left_out_of_the_next_round(tmp_path):
    refusals = [
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "Unsupported value: 'temperature' does not support 0 with this model.",
    ]

    def answer(row):
        arguments = [name for name in ("max_tokens", "temperature") if name in row["body"]]
        said = refusals[arguments[0] == "temperature"] if arguments else ""
        broken = {"error": {"message": said}}
        if arguments:
            return line_of(row, status=400, body=broken)
        return line_of(row, reply(row["body"]))

    for _ in range(2):
        with pytest.raises(Waiting):
            batch(tmp_path).map("question_entities", FIELDS)
        serve(tmp_path, answer)
    with pytest.raises(Waiting):
        batch(tmp_path).map("question_entities", FIELDS)
    [body, *_] = [row["body"] for row in rows_of(tmp_path / "requests-003.jsonl")]
    assert body["max_completion_tokens"] == 300 and not {"max_tokens", "temperature"} & set(body)
    serve(tmp_path, answer)
    assert batch(tmp_path).map("question_entities", FIELDS) == PORTS


def broken_lines(lines, rng):
    """The lines of a file, and what happens to files."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(lines) + 1)
        line = rng.choice(lines) if lines else b"{}"
        row = json.loads(line) if line.startswith(b'{"') and line.endswith(b"}") else {}
        strange = [
            b"", b"null", b"[]", b"{}", b"\xff\xfe\x00", b"[" * 5000, b'"x"', b"not JSON", b"12",
            b'{"custom_id": 3}', b'{"custom_id": "unknown", "response": {}}', line, line,
            json.dumps({**row, "custom_id": "unknown"}).encode(),
            json.dumps({**row, "response": None, "error": {"code": "expired"}}).encode(),
            json.dumps({**row, "response": rng.choice([3, [], "x", {"body": 3}])}).encode(),
            json.dumps({**row, "error": rng.choice([3, [], "x", ["y"]])}).encode(),
            line[: rng.randrange(len(line) + 1)],
        ]  # fmt: skip
        lines = rng.choice(
            [
                [*lines[:place], rng.choice(strange), *lines[place:]],
                lines[:place],
                lines[place:],
                rng.sample(lines, len(lines)),
                lines + lines,
                lines,
            ]
        )
    data = b"\n".join(lines) + rng.choice([b"", b"\n", b"\r\n"])
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data


@pytest.mark.parametrize("seed", range(200))
def test_broken_files_never_raise_and_never_lose_a_reply(seed, tmp_path):
    rng = random.Random(seed)
    for fields in (FIELDS[:7], FIELDS):
        with pytest.raises(Waiting):
            batch(tmp_path).map("question_entities", fields)
    serve(tmp_path)
    keys = [
        row["custom_id"] for n in (1, 2) for row in rows_of(tmp_path / f"requests-{n:03d}.jsonl")
    ]
    for path in sorted(tmp_path.iterdir()):
        if rng.random() < 0.7:
            path.write_bytes(broken_lines(path.read_bytes().splitlines(), rng))
    stored = set()
    for path in tmp_path.glob("responses-*.jsonl"):
        for line in path.read_bytes().split(b"\n"):
            stored |= {key for key in keys if is_reply(line, key)}
    folder = BatchFolder(tmp_path)
    assert stored <= set(folder.answers) and repr(folder)
    for number in range(6):
        llm = batch(tmp_path)
        try:
            assert llm.map("question_entities", FIELDS) == PORTS
            break
        except Waiting as error:
            waiting = llm.folder.waiting()
            lost = set(keys) - set(llm.folder.answers)
            assert lost == {key for names in waiting.values() for key in names} - {"unknown"}
            assert f"{sum(map(len, waiting.values()))} prompt" in str(error)
        for name, missing in waiting.items():  # the service answers what the files ask for
            held = map(json.loads, BatchFolder(tmp_path).lines_of(name, missing).splitlines())
            rows = [line_of(row, reply(row["body"])) for row in held]
            (tmp_path / f"responses-{name[9:12]}-{number}.jsonl").write_text(dump(rows))
    else:
        raise AssertionError(repr(batch(tmp_path)))


def is_reply(line, key):
    """Whether a line answers this request, read without the package."""
    try:
        row = json.loads(line)
        good = (
            row["custom_id"] == key and not row["error"] and row["response"]["status_code"] == 200
        )
        return good and row["response"]["body"]["choices"][0]["message"]["content"].strip() != ""
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return False


def test_a_requests_file_cut_at_any_byte_is_mended_and_the_rest_is_written(tmp_path):
    with pytest.raises(Waiting):
        batch(tmp_path / "whole").map("question_entities", FIELDS[:4])
    whole = (tmp_path / "whole/requests-001.jsonl").read_bytes()
    for end in [0, 1, len(whole) - 1, *range(7, len(whole), 211)]:
        folder = tmp_path / str(end)
        folder.mkdir()
        (folder / "requests-001.jsonl").write_bytes(whole[:end])
        with pytest.raises(Waiting, match="4 prompts wait"):
            batch(folder).map("question_entities", FIELDS[:4])
        lines = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
        assert lines.rstrip() == whole.rstrip()
        serve(folder)
        assert batch(folder).map("question_entities", FIELDS[:4]) == PORTS[:4]


def test_answers_are_read_by_the_same_object_and_executors_are_not_needed(tmp_path):
    llm = batch(tmp_path)
    for pool in (None, ThreadPoolExecutor(3), ProcessPoolExecutor(2)):
        with pytest.raises(Waiting, match="12 prompts"):
            llm.map("question_entities", FIELDS, executor=pool)
    serve(tmp_path)
    with ThreadPoolExecutor(3) as pool:
        assert llm.map("question_entities", FIELDS, executor=pool) == PORTS
    assert llm.ledger.total.calls == 12
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda row: llm("question_entities", **row), FIELDS)) == PORTS


def test_a_loop_of_ones_own_collects_through_each(tmp_path):
    def ask(row):
        return llm("question_entities", **row)

    llm = batch(tmp_path)
    with pytest.raises(Waiting, match="12 prompts .*requests-001"):
        llm.each(ask, FIELDS)
    with pytest.raises(ZeroDivisionError):
        llm.each(lambda row: 1 / 0, FIELDS)
    serve(tmp_path)
    assert llm.each(ask, FIELDS) == PORTS == Live().each(ask, iter(FIELDS))
    with ThreadPoolExecutor(3) as pool:
        assert Live().each(ask, FIELDS, pool) == PORTS


def test_averages_of_answers_come_in_one_round(tmp_path):
    corpus = mr.load_corpus("professors")
    questions = corpus.questions[:5]
    method = mr.METHODS["bm25"].build(corpus, llm=batch(tmp_path))
    with pytest.raises(Waiting, match="5 prompts"):
        evaluate_answers(method, questions)
    serve(tmp_path)
    _, answers = evaluate_answers(method, questions)
    assert [answer.prompt_tokens for answer in answers] == [7] * 5


def test_a_folder_asks_one_model(tmp_path):
    with pytest.raises(MiniragError, match="does not say which model .*model='gpt-4o-mini'"):
        load_llm(f"batch:{tmp_path / 'new'}")
    with pytest.raises(Waiting):
        batch(tmp_path).map("question_entities", FIELDS[:2])
    assert load_llm(f"batch:{tmp_path}").name == "batch:m"
    with pytest.raises(MiniragError, match="asks m, not other. Give each model a folder"):
        batch(tmp_path, model="other")
    with pytest.raises(MiniragError, match="is a file: batch:FOLDER names a folder"):
        batch(tmp_path / "requests-001.jsonl")
    for spec in ("offline", "openai:m", Live()):
        for option in ({"model": "m"}, {"submit": True}):
            with pytest.raises(MiniragError, match="belong to llm='batch:FOLDER'"):
                load_llm(spec, **option)


def test_a_recording_keeps_what_a_batch_answered(tmp_path):
    path = tmp_path / "r.jsonl"
    with pytest.raises(Waiting, match="12 prompts"):
        batch(tmp_path, record=path).map("question_entities", FIELDS)
    assert not path.exists() and serve(tmp_path) == 12
    llm = batch(tmp_path, record=path)
    assert llm.map("question_entities", FIELDS) == PORTS and llm.ledger.total.calls == 12
    rows = read_answers(path)[0].values()
    assert {(row["model"], row["is_model"], row["prompt_tokens"]) for row in rows} == {
        ("batch:m", True, 7)
    }
    assert load_llm(f"replay:{path}").map("question_entities", FIELDS) == PORTS


def test_a_dry_run_writes_nothing_and_counts_what_is_not_answered(tmp_path):
    dry = load_llm(f"batch:{tmp_path / 'new'}", dry_run=True)
    dry.map("question_entities", FIELDS)
    assert dry.ledger.total.asked == 12 and not (tmp_path / "new").exists()
    with pytest.raises(Waiting):
        batch(tmp_path).map("question_entities", FIELDS[:4])
    serve(tmp_path)
    before = sorted(tmp_path.iterdir())
    dry = load_llm(f"batch:{tmp_path}", dry_run=True)
    assert dry.map("question_entities", FIELDS)[:4] == PORTS[:4]
    assert dry.ledger.total.asked == 8 and sorted(tmp_path.iterdir()) == before


def test_a_cap_stops_before_one_request_more(tmp_path):
    with pytest.raises(MiniragError, match="stopped before request 6: max_calls is 5") as caught:
        batch(tmp_path, max_calls=5).map("question_entities", FIELDS)
    assert not isinstance(caught.value, Waiting)
    assert len(rows_of(tmp_path / "requests-001.jsonl")) == 5
    with pytest.raises(Waiting, match="10 prompts"):  # five wait already, five are new
        batch(tmp_path, max_calls=5).map("question_entities", FIELDS[:10])
    serve(tmp_path)
    assert batch(tmp_path, max_calls=0).map("question_entities", FIELDS[:10]) == PORTS[:10]
    with pytest.raises(MiniragError, match="limited where its folder is opened"):
        load_llm(batch(tmp_path), max_calls=3)


KEY = "sk-secret-0123456789"


@pytest.fixture
def server(monkeypatch):
    for name in ("MINIRAG_API_KEY", "MINIRAG_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with BatchServer(lambda row: line_of(row, reply(row["body"]))) as server:
        yield server


def submitted(folder, server, **options):
    return batch(folder, submit=True, base_url=server.url, pause=0.01, **options)


@pytest.mark.parametrize("way", ["bm25", "gleaning", "IRCoT", "map, then reduce", "windows"])
def test_a_service_answers_round_after_round(way, tmp_path, server):
    run, rounds = WAYS[way]
    llm = submitted(tmp_path, server)
    live = Live()
    assert run(llm) == run(live)
    assert [len(batch["requests"]) for batch in server.batches.values()] == rounds
    counted, expected = llm.ledger.total, live.ledger.total
    assert (counted.calls, counted.prompt_tokens) == (expected.calls, expected.prompt_tokens)
    assert counted.asked == counted.calls and server.keys == {f"Bearer {KEY}"}
    assert not [path for path in tmp_path.iterdir() if KEY in path.read_text()]
    again = submitted(tmp_path, server)
    assert run(again) == run(Live()) and again.ledger.total.asked == 0
    assert len(server.batches) == len(rounds)


def test_what_a_service_does_not_answer_is_sent_again(tmp_path, server):
    tried, faults = {}, [*FAULTS.values(), lambda row: None]

    def answer(row):
        tried[row["custom_id"]] = tried.get(row["custom_id"], 0) + 1
        if tried[row["custom_id"]] == 1 and len(tried) <= len(faults):
            return faults[len(tried) - 1](row)
        return line_of(row, reply(row["body"]))

    server.answer = answer
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    assert [len(batch["requests"]) for batch in server.batches.values()] == [12, len(faults)]


def test_what_was_answered_by_hand_is_not_sent(tmp_path, server):
    with pytest.raises(Waiting):
        batch(tmp_path).map("question_entities", FIELDS)
    rows = rows_of(tmp_path / "requests-001.jsonl")
    by_hand = dump(line_of(row, reply(row["body"])) for row in rows[:5])
    (tmp_path / "responses-001.jsonl").write_text(by_hand + '{"half')
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    assert [len(batch["requests"]) for batch in server.batches.values()] == [7]
    assert (tmp_path / "responses-001.jsonl").read_text().startswith(by_hand)


def test_a_batch_that_the_service_does_not_take_is_an_error_and_is_sent_anew(tmp_path, server):
    server.states = ["failed"]
    with pytest.raises(MiniragError, match="took no batch from requests-001.jsonl: the queue is"):
        submitted(tmp_path, server).map("question_entities", FIELDS)
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    assert len(server.batches) == 2


@pytest.mark.parametrize("state", ["expired", "cancelled"])
def test_what_a_batch_answered_before_its_end_is_kept(state, tmp_path, server):
    half = iter(range(24))

    def answer(row):
        return line_of(row, reply(row["body"])) if next(half) >= 5 else None

    server.states, server.answer = [state], answer
    if state == "cancelled":
        with pytest.raises(MiniragError, match="was cancelled. The same again asks"):
            submitted(tmp_path, server).map("question_entities", FIELDS)
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    assert [len(batch["requests"]) for batch in server.batches.values()] == [12, 5]


def test_a_service_that_refuses_is_one_sentence_without_the_key(tmp_path, server, monkeypatch):
    server.refuse = 401
    with pytest.raises(MiniragError, match="gave AuthenticationError .*Run the same") as caught:
        submitted(tmp_path, server).map("question_entities", FIELDS)
    assert KEY not in str(caught.value)
    server.refuse = None
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MiniragError, match="wants a key"):
        batch(tmp_path, submit=True)
    assert batch(tmp_path).map("question_entities", FIELDS) == PORTS


def test_a_batch_that_was_begun_and_not_noted_is_found_by_its_mark(tmp_path, server):
    llm = submitted(tmp_path, server)
    llm.map("question_entities", FIELDS)
    (tmp_path / "responses-001.jsonl").unlink()
    note = tmp_path / "batch-001.txt"
    mark, id = note.read_text().split()
    assert id == "batch-0"
    note.write_text(mark)
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    assert len(server.batches) == 1


RUN = """
import sys
from minirag.llm import load_llm
url, folder = sys.argv[1:]
llm = load_llm(f"batch:{folder}", model="m", submit=True, base_url=url, pause=0.01)
fields = [{"question": f"Where is Port {i}?"} for i in range(12)]
print(llm.map("question_entities", fields))
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_run_that_is_killed_while_it_waits_pays_once(tmp_path, server):
    server.polls = 10**9
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUN, server.url, str(tmp_path)]
    for _ in range(3):
        looks = server.looks
        process = subprocess.Popen(command, env=environment, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while server.looks < looks + 3:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    server.polls = server.looks
    for begun in server.batches.values():
        begun["looks"] = server.polls
    assert submitted(tmp_path, server).map("question_entities", FIELDS) == PORTS
    assert len(server.batches) == 1 and len(server.batches["batch-0"]["requests"]) == 12


def run_command(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_the_command_stops_and_goes_on(tmp_path, server):
    folder = tmp_path / "texts"
    folder.mkdir()
    for chunk in TOWN.chunks:
        (folder / f"{chunk.id}.txt").write_text(chunk.text)
    ask = ["ask", folder, QUESTIONS[0], "--method", "bm25", "--llm"]
    said = run_command(*ask, f"batch:{tmp_path / 'b'}", code=2).stderr
    assert "give its name, such as --model 'gpt-4o-mini'" in said
    asking = [*ask, f"batch:{tmp_path / 'b'}", "--model", "m"]
    plan = run_command(*asking, "--dry-run").stdout
    assert "asks 1 times" in plan and not (tmp_path / "b").exists()
    said = run_command(*asking, code=2).stderr
    assert said.startswith("minirag: 1 prompt waits") and "(--submit does it)" in said
    serve(tmp_path / "b")
    assert "Answer, by batch:m" in run_command(*asking).stdout
    sending = [*ask, f"batch:{tmp_path / 'c'}", "--model", "m", "--submit"]
    assert "Answer, by batch:m" in run_command(*sending, "--base-url", server.url).stdout
    names = ["compare", folder, QUESTIONS[0], "--methods", "hipporag,pathrag", "--encoder", "lsa"]
    said = run_command(*names, "--llm", f"batch:{tmp_path / 'd'}", "--model", "m", code=2).stderr
    assert "8 prompts wait" in said  # what both methods ask of each passage
    kept = ["record", folder, "--ask", QUESTIONS[0], "--ask", QUESTIONS[1], "--methods", "bm25"]
    kept += ["--file", tmp_path / "r.jsonl", "--llm", f"batch:{tmp_path / 'e'}", "--model", "m"]
    assert "2 prompts wait" in run_command(*kept, code=2).stderr
    serve(tmp_path / "e")
    assert "Replay it" in run_command(*kept).stdout


def test_a_line_that_did_not_come_back_is_asked_again_in_a_new_file(tmp_path):
    """A half-written line of a file that came back is lost; one of a file that did not come back
    waits.
    """

    def run(llm):
        method = mr.METHODS["bm25"].build(TOWN, llm=llm)
        return llm.each(lambda question: method.answer(question).text, QUESTIONS)

    with pytest.raises(Waiting, match=r"3 prompts wait .*requests-001.jsonl \(3\)"):
        run(load_llm(f"batch:{tmp_path}", model="m"))
    rows = rows_of(tmp_path / "requests-001.jsonl")
    lines = [json.dumps(line_of(row, "Answer: Saltrey")) for row in rows]
    (tmp_path / "responses.jsonl").write_text("\n".join([*lines[:2], lines[2][:40]]))
    (tmp_path / "output.jsonl").write_text(lines[2])  # under a name that is not read
    with pytest.raises(Waiting, match=r"1 prompt waits .*002.jsonl \(1\).*output.jsonl"):
        run(load_llm(f"batch:{tmp_path}", model="m"))
    assert [row["custom_id"] for row in rows_of(tmp_path / "requests-002.jsonl")] == [
        rows[2]["custom_id"]
    ]
    (tmp_path / "responses-002.jsonl").write_text(lines[2] + "\n")
    assert run(load_llm(f"batch:{tmp_path}", model="m")) == ["Saltrey"] * 3
