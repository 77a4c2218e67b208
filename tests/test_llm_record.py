"""Recordings: replayed, resumed after a kill, mended; no stored prompt is asked again."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fake_server import FakeServer

from minirag.core.errors import MiniragError
from minirag.llm import LLM, Completion, load_llm
from minirag.llm.replay import mend_end, prompt_key, read_answers
from minirag.prompts import find_task

ROOT = Path(__file__).parents[1]
QUESTIONS = [{"question": f"Where is Port {i}?"} for i in range(60)]


class Scripted(LLM):
    name = "scripted replies"

    def __init__(self, reply=lambda question: json.dumps([question[9:-1]]), delay=0.0):
        super().__init__()
        self.reply, self.delay, self.asked = reply, delay, []

    def complete(self, task, messages, fields):
        time.sleep(self.delay)
        self.asked.append(fields["question"])
        return Completion(self.reply(fields["question"]), 5, 2)


def test_what_was_recorded_is_replayed_without_the_model(tmp_path):
    path = tmp_path / "deep" / "answers.jsonl"
    recorded = load_llm(Scripted(), record=path).map("question_entities", QUESTIONS)
    llm = load_llm(f"replay:{path}")
    assert llm.map("question_entities", QUESTIONS) == recorded
    total = llm.ledger.total
    assert (
        total.calls,
        total.replayed,
        total.asked,
        total.prompt_tokens,
        total.completion_tokens,
    ) == (60, 60, 0, 300, 120)
    assert llm.is_model and "scripted replies" in repr(llm) and "answers.jsonl" in repr(llm)
    with pytest.raises(
        MiniragError,
        match=r"answers.jsonl has no answer to this prompt of the task 'question_entities': it "
        r"holds 60 .*record=",
    ):
        llm("question_entities", question="Where is Selm?")
    with pytest.raises(MiniragError, match="'answer': it holds none to that task"):
        llm("answer", question="Where is Selm?", passages=[])
    with pytest.raises(MiniragError, match="there is no recording .*Record one first"):
        load_llm(f"replay:{tmp_path / 'nowhere.jsonl'}")


def test_what_rules_wrote_stays_marked_as_rules(tmp_path):
    load_llm("offline", record=tmp_path / "r.jsonl")("question_entities", question="Where is Selm?")
    llm = load_llm(f"replay:{tmp_path / 'r.jsonl'}")
    assert llm.is_model is False and "not a language model" in repr(llm)


def test_one_recording_holds_one_model(tmp_path):
    load_llm(Scripted(), record=tmp_path / "r.jsonl")("question_entities", question="x")
    with pytest.raises(
        MiniragError, match="recorded from scripted replies, not from offline rules"
    ):
        load_llm("offline", record=tmp_path / "r.jsonl")


def test_replies_of_any_characters_survive(tmp_path):
    odd = 'a\u2028b\x85c\ud800"\\\n\r\x00北'
    load_llm(Scripted(lambda question: f"Answer: {odd}"), record=tmp_path / "r.jsonl")(
        "answer", question="x", passages=[]
    )
    assert load_llm(f"replay:{tmp_path / 'r.jsonl'}")("answer", question="x", passages=[]) == odd
    assert (tmp_path / "r.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_file_cut_at_any_byte_is_mended_and_only_the_lost_line_is_asked_again(tmp_path, seed):
    path, rng = tmp_path / "r.jsonl", random.Random(seed)
    load_llm(
        Scripted(lambda question: json.dumps(["北京", question], ensure_ascii=False)), record=path
    ).map("question_entities", QUESTIONS[:8])
    whole = path.read_bytes()
    for end in [0, 1, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(40))]:
        path.write_bytes(whole[:end])
        stored = len(read_answers(path)[0])
        assert (
            whole[:end].count(b"\n") <= stored <= whole[:end].count(b"\n") + 1
        )  # a line may lack its line break only
        live = Scripted(lambda question: json.dumps(["北京", question], ensure_ascii=False))
        llm = load_llm(live, record=path)
        llm.map("question_entities", QUESTIONS[:8])
        assert len(live.asked) == 8 - stored == llm.ledger.total.asked
        assert path.read_bytes() == whole


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "r.jsonl"
    load_llm(Scripted(), record=path).map("question_entities", QUESTIONS[:3])
    lines = path.read_text().splitlines()
    for bad in ("{", "[]", '{"key": 1}', "null"):
        path.write_text("\n".join([lines[0], bad, lines[2]]) + "\n")
        for make in (lambda: load_llm(f"replay:{path}"), lambda: load_llm(Scripted(), record=path)):
            with pytest.raises(MiniragError, match="r.jsonl, line 2: not a recorded answer"):
                make()
    path.write_text(lines[0])  # an editor took the last line break away
    load_llm(Scripted(), record=path)("question_entities", **QUESTIONS[1])
    assert len(read_answers(path)[0]) == 2


@pytest.mark.parametrize("tokens", ["x", float("nan"), 1.5, True, None])
def test_a_number_of_tokens_that_is_none_is_an_error_that_names_the_line(tokens, tmp_path):
    path = tmp_path / "r.jsonl"
    load_llm(Scripted(), record=path).map("question_entities", QUESTIONS[:2])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in (rows[0] | {"prompt_tokens": tokens}, rows[1]))
    )
    with pytest.raises(MiniragError, match="r.jsonl, line 1: not a recorded answer"):
        load_llm(f"replay:{path}")


@pytest.mark.parametrize("content", ["my precious notes", '{"key": 1}', '["a list"]'])
def test_a_file_that_is_no_recording_is_refused_and_left_as_it_is(content, tmp_path):
    path = tmp_path / "note.txt"
    path.write_text(content)
    for wrong in ({"record": path}, {}):
        with pytest.raises(MiniragError, match="note.txt is no recording"):
            load_llm(Scripted() if wrong else f"replay:{path}", **wrong)
    assert path.read_text() == content


def test_an_empty_reply_is_asked_again_by_the_next_run_and_replayed_as_it_was(tmp_path):
    path, task, field = tmp_path / "r.jsonl", "question_entities", QUESTIONS[0]
    load_llm(Scripted(lambda _: ""), record=path)(task, **field)
    assert load_llm(f"replay:{path}")(task, **field) == ()
    repaired = Scripted()
    assert (
        load_llm(repaired, record=path)(task, **field) == ("Port 0",) and len(repaired.asked) == 1
    )
    assert load_llm(f"replay:{path}")(task, **field) == ("Port 0",)


def test_two_runs_with_one_file_lose_no_answer(tmp_path):
    path = tmp_path / "r.jsonl"
    one = load_llm(Scripted(), record=path)
    one("question_entities", **QUESTIONS[0])
    answers, size = read_answers(path)
    one(
        "question_entities", **QUESTIONS[1]
    )  # after another run has read the file and before it mends the file's end
    mend_end(path, size)
    assert len(answers) == 1 and len(read_answers(path)[0]) == 2


def test_a_cap_says_whether_the_answers_so_far_are_kept(tmp_path):
    def stopped(**options):
        with pytest.raises(MiniragError, match="stopped before call 2") as caught:
            load_llm(Scripted(), max_calls=1, **options).map("question_entities", QUESTIONS[:2])
        return str(caught.value)

    assert "were not recorded" in stopped() and f"kept in {tmp_path / 'r.jsonl'}" in stopped(
        record=tmp_path / "r.jsonl"
    )
    assert len(read_answers(tmp_path / "r.jsonl")[0]) == 1


def test_a_dry_run_counts_a_prompt_once_where_it_will_be_recorded(tmp_path):
    twice = [QUESTIONS[0], QUESTIONS[0]]
    for options, asked in (({}, 2), ({"record": tmp_path / "r.jsonl"}, 1)):
        llm = load_llm("openai:m", dry_run=True, **options)
        llm.map("question_entities", twice)
        assert llm.ledger.total.asked == asked


def test_threads_that_want_the_same_prompt_ask_it_once(tmp_path):
    live = Scripted(delay=0.02)
    llm = load_llm(live, record=tmp_path / "r.jsonl")
    with ThreadPoolExecutor(8) as pool:
        values = llm.map("question_entities", QUESTIONS[:5] * 8, executor=pool)
    assert values == [(f"Port {i}",) for i in range(5)] * 8
    assert sorted(live.asked) == sorted(question["question"] for question in QUESTIONS[:5])
    assert (llm.ledger.total.calls, llm.ledger.total.asked) == (40, 5)


def test_a_failed_prompt_is_not_stored_and_can_be_asked_again(tmp_path):
    def fail(question):
        raise MiniragError("closed")

    live = Scripted(fail)
    llm = load_llm(live, record=tmp_path / "r.jsonl")
    with pytest.raises(MiniragError, match="closed"):
        llm("question_entities", question="x")
    live.reply = lambda question: '["Selm"]'
    assert llm("question_entities", question="x") == ("Selm",)


RUN = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from minirag.llm import load_llm
url, path, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
llm = load_llm("openai:m", base_url=url, record=path)
with ThreadPoolExecutor(workers) as pool:
    fields = [{"question": f"Where is Port {i}?"} for i in range(60)]
    values = llm.map("question_entities", fields, executor=pool)
total = llm.ledger.total
counted = {name: getattr(total, name) for name in ("asked", "replayed", "prompt_tokens")}
print(json.dumps({"values": values, **counted}))
"""


def keys_asked(server, start=0):
    """What was asked from the server, as recordings name it."""
    return [
        prompt_key(find_task("question_entities"), body["messages"])
        for _, _, body in server.requests[start:]
    ]


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_recording_that_is_killed_again_and_again_asks_no_stored_prompt_twice(tmp_path):
    path, rng, workers = tmp_path / "r.jsonl", random.Random(7), 4
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "OPENAI_API_KEY": "sk-secret",
    }
    with FakeServer(
        reply=lambda body: json.dumps(
            [body["messages"][-1]["content"].rsplit("Where is ", 1)[1][:-1]]
        ),
        delay=0.02,
    ) as server:
        command = [sys.executable, "-c", RUN, server.url, str(path), str(workers)]
        stored = set()
        for target in (8, 25, 40):
            start = len(server.requests)
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=tmp_path,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wait_until(
                lambda: len(server.requests) >= max(target, start + 1) or process.poll() is not None
            )
            time.sleep(rng.random() * 0.03)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            time.sleep(0.1)  # requests on their way still arrive
            asked = keys_asked(server, start)
            assert asked and not stored & set(asked)
            before, stored = stored, set(read_answers(path)[0])
            assert (
                len(asked) - len(stored - before) <= workers
            )  # lost are at most the calls in flight
        start = len(server.requests)
        run = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        asked = keys_asked(server, start)
    result = json.loads(run.stdout)
    assert result["values"] == [[f"Port {i}"] for i in range(60)]
    assert 0 < len(stored) < 60 and len(asked) == 60 - len(stored) and not stored & set(asked)
    assert (
        result["replayed"] == len(stored)
        and result["asked"] == len(asked)
        and result["prompt_tokens"] == 60 * 7
    )
    assert "sk-secret" not in path.read_text()


def wait_until(true, seconds=30):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_full_disk_keeps_what_is_there(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    llm = load_llm(Scripted(), record=path)
    llm("question_entities", **QUESTIONS[0])
    whole = path.read_bytes()

    class Short(io.FileIO):
        def write(self, data):
            return super().write(data[:10])

    with monkeypatch.context() as full:
        full.setattr(Path, "open", lambda path, mode, buffering: Short(path, "a"))
        with pytest.raises(MiniragError, match="disk is full"):
            llm("question_entities", **QUESTIONS[1])
    assert path.read_bytes() == whole
