"""An OpenAI-compatible server that answers, refuses, stalls and breaks off; keys that stay
secret.
"""

import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path

import pytest
from fake_server import ENTITIES, FakeServer
from tiny_model import build_tiny_model

from minirag.core.errors import MiniragError
from minirag.llm import load_llm
from minirag.llm.openai_compatible import OLLAMA, _retry_after

KEY = "sk-secret-0123456789"
SELM = ("Selm", "Veldania")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("MINIRAG_API_KEY", "MINIRAG_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def model(server, **options):
    return load_llm(
        "openai:m",
        base_url=server.url,
        **{"timeout": 5, "attempts": 3, "first_wait": 0.01, **options},
    )


def ask(llm):
    return llm("question_entities", question="Where is Selm?")


def test_a_call_sends_the_messages_and_counts_the_tokens_reported():
    with FakeServer() as server:
        llm = model(server)
        assert ask(llm) == SELM
    path, headers, body = server.requests[0]
    assert path == "/v1/chat/completions" and headers["authorization"] == f"Bearer {KEY}"
    assert (
        body["model"] == "m"
        and body["temperature"] == 0
        and body["seed"] == 0
        and body["max_tokens"] == 300
    )
    assert body["messages"][-1]["content"].endswith("Question: Where is Selm?")
    assert (
        llm.ledger.total.prompt_tokens,
        llm.ledger.total.completion_tokens,
        llm.ledger.total.retries,
    ) == (7, 3, 0)


FAULTS = {
    "too many requests": [("status", 429, {"Retry-After": "0.2"}), ("status", 429)],
    "server errors": [("status", 500), ("status", 503)],
    "a silent socket": [("hang", 20)],
    "half a body": [("cut",), ("cut",)],
    "no reply at all": [("drop",), ("drop",)],
    "a body that is no JSON": [("raw", b"<html>gateway</html>"), ("raw", b'{"choices": [')],
    "JSON of another shape": [("raw", b'{"choices": []}'), ("raw", b"[1]")],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_passing_fault_ends_in_the_right_result(fault):
    with FakeServer(FAULTS[fault]) as server:
        llm = model(server, timeout=0.3)
        assert ask(llm) == SELM
    assert len(server.requests) == len(FAULTS[fault]) + 1 and llm.ledger.total.retries == len(
        FAULTS[fault]
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lasting_fault_ends_in_one_clear_error(fault):
    with FakeServer([FAULTS[fault][0]] * 9) as server:
        llm = model(server, timeout=0.3)
        with pytest.raises(
            MiniragError,
            match="openai:m at 127.0.0.1:.* gave no answer to a 'question_entities' prompt in "
            "3 attempts",
        ) as error:
            ask(llm)
    assert len(server.requests) == 3 and "\n" not in str(error.value)


def test_the_pause_a_server_asks_for_is_made():
    with FakeServer([("status", 429, {"Retry-After": "0.4"})]) as server:
        started = time.perf_counter()
        ask(model(server))
    assert time.perf_counter() - started >= 0.4
    assert 50 < _retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)}) <= 60
    assert (
        _retry_after({}) is None
        and _retry_after({"retry-after": "soon"}) is None
        and _retry_after({"retry-after": "-3"}) == 0
    )


def test_a_refusal_is_final_and_a_server_that_repeats_the_key_does_not_spread_it(tmp_path):
    with FakeServer([("status", 401, {}, f"Incorrect API key provided: {KEY}.")] * 9) as server:
        llm = load_llm(model(server), record=tmp_path / "r.jsonl")
        with pytest.raises(
            MiniragError, match=r"status 401: Incorrect API key provided: \*\*\*.*environment"
        ) as error:
            ask(llm)
    assert len(server.requests) == 1 and error.value.__suppress_context__


def picky(body):
    """A model that takes neither max_tokens nor a temperature, as OpenAI's reasoning models."""
    if "max_tokens" in body:
        return (
            "status",
            400,
            {},
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        )
    if "temperature" in body:
        return "status", 400, {}, "'temperature' does not support 0 with this model."
    return "ok", ENTITIES


def test_an_argument_that_a_model_refuses_is_left_out_from_then_on():
    with FakeServer(decide=picky) as server:
        llm = model(server, attempts=4)
        with ThreadPoolExecutor(6) as pool:  # several are refused before the first one has learnt
            assert (
                llm.map(
                    "question_entities",
                    [{"question": f"Where is {i}?"} for i in range(12)],
                    executor=pool,
                )
                == [SELM] * 12
            )
        llm("passage_entities", title="Selm", text="A port.")
    body = server.requests[-1][2]
    assert (
        sorted(body) == ["max_completion_tokens", "messages", "model", "seed"]
        and body["max_completion_tokens"] == 1024
    )


def test_the_key_is_in_no_file_name_or_copy(tmp_path):
    with FakeServer() as server:
        path = tmp_path / "r.jsonl"
        live = model(server)
        llm = load_llm(live, record=path)
        ask(llm)
        secret = server.url.replace("http://", f"http://user:{KEY}@")
        texts = [
            repr(llm),
            repr(live),
            repr(load_llm("openai:m", base_url=secret)),
            str(live.__dict__),
            repr(llm.ledger),
        ]
        texts += [path.read_text(), str(pickle.dumps(live))]
    assert not any(KEY in text for text in texts)


def test_keys_and_addresses_come_from_the_environment(monkeypatch):
    assert (
        load_llm("ollama:llama3").base_url == OLLAMA and load_llm("ollama:llama3")._key() == "none"
    )
    with FakeServer() as server:
        monkeypatch.setenv("MINIRAG_BASE_URL", server.url)
        monkeypatch.setenv("MINIRAG_API_KEY", "own")
        assert (
            ask(load_llm("openai:m")) == SELM
            and server.requests[0][1]["authorization"] == "Bearer own"
        )
    for name in ("MINIRAG_BASE_URL", "MINIRAG_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(MiniragError, match="OPENAI_API_KEY"):
        load_llm("openai:m")


def test_threads_and_processes_ask_a_server_in_order():
    fields = [{"question": f"Where is Port {i}?"} for i in range(12)]
    with FakeServer(reply=lambda body: f'["{body["messages"][-1]["content"][-7:-1]}"]') as server:
        for pool in (ThreadPoolExecutor(4), ProcessPoolExecutor(2)):
            llm = model(server)
            with pool:
                assert llm.map("question_entities", fields, executor=pool) == [
                    (f"Port {i}"[-6:].strip(),) for i in range(12)
                ]
            assert llm.ledger.total.calls == 12 and llm.ledger.total.prompt_tokens == 84


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return build_tiny_model(tmp_path_factory.mktemp("tiny"))


def test_a_local_model_is_greedy_and_fits_its_window(tiny, tmp_path):
    llm = load_llm(f"hf:{tiny}", max_new_tokens=8)
    first = llm("answer", question="Where is Selm?", passages=["Selm\nA port."])
    assert first == load_llm(f"hf:{tiny}", max_new_tokens=8)(
        "answer", question="Where is Selm?", passages=["Selm\nA port."]
    )
    assert llm.ledger.total.completion_tokens == 8 and llm.ledger.total.prompt_tokens > 100
    with pytest.raises(MiniragError, match="prompt has .* tokens, the model takes 4096"):
        llm("answer", question="?", passages=["Selm is a port. " * 900])
    with pytest.raises(MiniragError, match="no causal language model could be loaded"):
        ask(load_llm(f"hf:{tmp_path}"))
    without = load_llm(f"hf:{build_tiny_model(tmp_path, chat_template=None)}", max_new_tokens=4)
    ask(without)
    assert without.ledger.total.calls == 1


@pytest.mark.slow
@pytest.mark.skipif(
    os.name == "nt", reason="the server is stopped by a signal that Windows has not"
)
def test_a_real_server_over_a_tiny_model_says_what_the_model_says(tiny):
    pytest.importorskip(
        "accelerate", reason="`transformers serve` loads its models with accelerate"
    )
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("transformers")),
        "serve",
        tiny,
        "--device",
        "cpu",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        llm = load_llm(f"openai:{tiny}", base_url=f"http://127.0.0.1:{port}/v1", max_tokens=8)
        local = load_llm(f"hf:{tiny}", max_new_tokens=8)
        fields = {"question": "Where is Selm?", "passages": ["Selm\nA port."]}
        assert llm("answer", **fields) == local("answer", **fields)
        assert llm.ledger.total == local.ledger.total
    finally:
        server.kill()
        server.wait()


def wait_for(port, server, seconds=180):
    import httpx

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert server.poll() is None, "transformers serve stopped by itself"
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("transformers serve did not come up")


@pytest.mark.parametrize(
    "address", ["localhost:9101", "localhost", "ftp://localhost/v1", "http:///v1"]
)
def test_an_address_without_its_scheme_is_refused_before_anything_is_sent(address):
    with pytest.raises(
        MiniragError,
        match=f"base_url='{address}' is no whole address: one such as http://localhost:8000/v1",
    ):
        load_llm("openai:m", base_url=address)
