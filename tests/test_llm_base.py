"""Offline rules, the ledger, mapping over executors, limits, and the names of models."""

import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from minirag.core.errors import MiniragError
from minirag.llm import LLM, Completion, Counts, Ledger, load_llm
from minirag.prompts import Task

PASSAGES = [
    {"title": f"Port {i}", "text": f"Port {i} was founded by Ilse Brandt of Selm in {1900 + i}."}
    for i in range(150)
]


class Scripted(LLM):
    """Not a model: says what it was told to say, and fails where it was told to."""

    name = "scripted replies"

    def __init__(self, reply=lambda fields: '{"named_entities": ["Selm"]}'):
        super().__init__()
        self.reply, self.asked, self.lock = reply, 0, threading.Lock()

    def complete(self, task, messages, fields):
        with self.lock:
            self.asked += 1
        return Completion(self.reply(fields), 10, 2)


def test_offline_says_that_it_is_no_language_model():
    llm = load_llm("offline")
    assert repr(llm) == "offline rules (not a language model)" and llm.is_model is False
    assert llm("question_entities", question="Where is Selm?") == ("Selm",)
    assert "not" not in llm(
        "answer", question="Where is Selm?", passages=["Selm\nSelm lies in Veldania."]
    )
    assert "nothing was sent" in repr(llm.ledger)


def test_a_task_that_needs_a_model_says_so_offline():
    judge = Task("judge", "answer", "", "$a or $b?", lambda text: (text, 0), needs_model=True)
    with pytest.raises(MiniragError, match="needs a model: .*'judge'"):
        load_llm("offline")(judge, a="x", b="y")
    assert Scripted(lambda fields: "x")(judge, a="x", b="y") == "x"


@pytest.fixture(scope="module")
def serial():
    llm = load_llm("offline")
    return llm.map("passage_entities", PASSAGES), llm.ledger.total


def test_threads_and_processes_give_the_same_list_and_the_same_ledger(serial):
    for pool in (ThreadPoolExecutor(4), ProcessPoolExecutor(2)):
        llm = load_llm("offline")
        with pool:
            assert llm.map("passage_entities", PASSAGES, executor=pool) == serial[0]
        assert llm.ledger.total == serial[1]
    assert serial[1].calls == 150


def test_a_dask_cluster_gives_the_same_list_and_the_same_ledger(serial):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None
        ) as cluster,
        cluster.get_client() as client,
    ):
        llm = load_llm("offline")
        assert llm.map("passage_entities", PASSAGES, executor=client.get_executor()) == serial[0]
        assert llm.ledger.total == serial[1]


def test_what_holds_a_file_or_a_connection_takes_threads_only(tmp_path):
    llm = load_llm(Scripted(), record=tmp_path / "r.jsonl")
    with ProcessPoolExecutor(1) as pool, pytest.raises(MiniragError, match="ThreadPoolExecutor"):
        llm.map("passage_entities", PASSAGES[:2], executor=pool)


def test_one_failure_stops_the_rest_and_what_was_done_is_counted():
    def reply(fields):
        if fields["title"] == "Port 5":
            raise MiniragError("Port 5 is closed.")
        return "{}"

    llm = Scripted(reply)
    with ThreadPoolExecutor(2) as pool, pytest.raises(MiniragError, match="Port 5"):
        llm.map("passage_entities", PASSAGES, executor=pool)
    assert llm.ledger.total.calls == llm.asked - 1 < 150
    assert llm.ledger.total.malformed == llm.ledger.total.calls


def test_the_ledger_counts_per_stage_and_takes_differences():
    llm = Scripted(lambda fields: '{"named_entities": ["A", 1, null, ""')
    assert llm("passage_entities", title="a", text="b") == ("A", "1")
    before = llm.ledger.snapshot()
    llm("question_entities", question="c")
    spent = (llm.ledger - before).total
    assert (spent.prompt_tokens, spent.completion_tokens) == (10, 2)
    assert llm.ledger["build"] == Counts(
        calls=1, prompt_tokens=10, completion_tokens=2, dropped=2, malformed=1
    )
    assert (llm.ledger - before).total == llm.ledger["retrieve"] and (llm.ledger - before)[
        "build"
    ] == Counts()
    assert [row["stage"] for row in llm.ledger.table()] == ["build", "retrieve", "total"]
    assert (
        "prompt tokens" in llm.ledger._repr_html_()
        and pickle.loads(pickle.dumps(llm.ledger)).total == llm.ledger.total
    )
    assert (
        "&lt;" in Ledger({"<b>": Counts(1)}, note="<i>")._repr_html_()
        and "<i>" not in Ledger({"<b>": Counts(1)}, "<i>")._repr_html_()
    )


def test_many_threads_lose_no_count():
    ledger = Ledger()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ledger.add("build", Counts(1, 2, 3)), range(4000)))
    assert ledger.total == Counts(4000, 8000, 12000)


def test_a_capped_run_stops_before_the_next_call_and_keeps_what_it_has(tmp_path):
    live, path = Scripted(), tmp_path / "r.jsonl"
    llm = load_llm(live, record=path, max_calls=3)
    with pytest.raises(MiniragError, match="before call 4 .*max_calls is 3"):
        llm.map("passage_entities", PASSAGES)
    assert live.asked == 3 and len(path.read_text().splitlines()) == 3
    again = load_llm(live, record=path, max_calls=3)
    assert (
        len(again.map("passage_entities", PASSAGES[:6])) == 6
    )  # three recorded, three more allowed
    assert live.asked == 6 and again.ledger.total.replayed == 3
    with ThreadPoolExecutor(8) as pool, pytest.raises(MiniragError):
        load_llm(live, max_calls=5).map("passage_entities", PASSAGES, executor=pool)
    assert live.asked == 11
    assert load_llm("offline", max_calls=0)("question_entities", question="Where is Selm?") == (
        "Selm",
    )  # rules cost nothing


def test_a_dry_run_counts_and_asks_nobody(tmp_path):
    live, path = Scripted(), tmp_path / "r.jsonl"
    load_llm(live, record=path).map("passage_entities", PASSAGES[:2])
    llm = load_llm(live, dry_run=True, record=path)
    values = llm.map("passage_entities", PASSAGES[:5])
    total = llm.ledger.total
    assert live.asked == 2 and total.calls == 5 and total.replayed == 2 and values[0] == ("Selm",)
    assert (
        total.prompt_tokens
        == sum(llm.ledger[stage].prompt_tokens for stage in ("build",))
        > 3 * 100
        and total.completion_tokens > 0
    )
    assert (
        "dry run of scripted replies" in repr(llm)
        and llm.is_model is False
        and "estimate" in repr(llm.ledger)
    )
    judge = Task(
        "judge",
        "answer",
        "",
        "$a?",
        lambda text: (text, int(not text)),
        needs_model=True,
        max_tokens=400,
    )
    assert (
        llm(judge, a="x") == ""
        and llm.ledger["answer"].completion_tokens == 100
        and llm.ledger["answer"].dropped == 0
    )
    assert load_llm("openai:some-model", dry_run=True)(
        "question_entities", question="Where is Selm?"
    ) == ("Selm",)


def test_an_unknown_name_lists_the_forms_and_an_object_passes_through():
    for spec in ("gpt-4", "openai:", "replay:", None, 3):
        for dry in (False, True):
            with pytest.raises(MiniragError, match="'offline', 'recorded', 'replay:FILE', "):
                load_llm(spec, dry_run=dry)
    live = Scripted()
    assert load_llm(live) is live
    with pytest.raises(MiniragError, match="must implement complete"):
        LLM()("question_entities", question="x")
