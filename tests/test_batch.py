"""Batches through files: a round writes every prompt that it can, and goes on from what a service
answered.
"""

import json

import pytest

import minirag as mr
from minirag.llm import load_llm
from minirag.llm.base import Waiting

from .small import corpus_of

TOWN = corpus_of(
    *((f"n{i}", f"In year {i} the town of Saltrey moved its harbour.") for i in range(4))
)
QUESTIONS = [f"Where was the harbour in year {i}?" for i in range(3)]


def body_of(text, tokens=(7, 3)):
    """A chat completion, as a service writes it."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return {"choices": [{"index": 0, "message": message}], "usage": usage}


def answered(request, text):
    """The line that answers a request."""
    response = {"status_code": 200, "request_id": "r", "body": body_of(text)}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def serve(folder, reply):
    """Answer, by hand, every requests file that has no responses yet; the numbers of requests."""
    counts = []
    for path in sorted(folder.glob("requests-*.jsonl")):
        output = folder / path.name.replace("requests", "responses")
        if not output.exists():
            rows = [answered(row, reply(row["body"])) for row in rows_of(path)]
            output.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
            counts.append(len(rows))
    return counts


def in_rounds(folder, run, reply):
    """What `run(llm)` returns in the end, and how many requests each round wrote."""
    rounds = []
    for _ in range(20):
        try:
            return run(load_llm(f"batch:{folder}", model="m")), rounds
        except Waiting:
            rounds.append(sum(serve(folder, reply)))
    raise AssertionError(rounds)


def test_a_question_is_answered_through_files(tmp_path):
    def run(llm):
        return mr.METHODS["bm25"].build(TOWN, llm=llm).answer(QUESTIONS[0])

    with pytest.raises(Waiting, match=r"1 prompt waits .*requests-001.jsonl \(1\)"):
        run(load_llm(f"batch:{tmp_path}", model="m"))
    answer, rounds = in_rounds(tmp_path, run, lambda body: "Answer: Saltrey")
    assert answer.text == "Saltrey" and rounds == [1]
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 3)
    [row] = rows_of(tmp_path / "requests-001.jsonl")
    assert row["method"] == "POST" and row["url"] == "/v1/chat/completions"
    assert row["body"]["model"] == "m" and row["body"]["temperature"] == 0
