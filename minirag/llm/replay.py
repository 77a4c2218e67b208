"""Answers in a file: record a model once, replay it for a whole class and in CI."""

import hashlib
import json
import os
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..prompts.task import Fields, Messages, Task
from .base import LLM, Completion

Row = dict[str, Any]  # key, task, model, is_model, reply, and the tokens
TOKENS = ("prompt_tokens", "completion_tokens")
START = b'{"key": "'  # of every line that a recorder writes


def prompt_key(task: Task, messages: Messages) -> str:
    """What an answer is stored under: a hash of the task's name and of every turn that is sent; of
    a sample also of its number and temperature.
    """
    sample = [] if task.sample is None else [task.sample, task.temperature]
    return hashlib.sha256(json.dumps([task.name, messages, *sample]).encode()).hexdigest()[:32]


def read_answers(path: Path) -> tuple[dict[str, Row], int]:
    """A recording as {key: row}, and the number of bytes up to the end of its last whole line.

    A last line that was cut off, as a killed run leaves it, is no answer. A broken line elsewhere,
    and a last line that no run has written, are errors.
    """
    data = path.read_bytes() if path.exists() else b""
    whole, _, torn = data.rpartition(b"\n")
    answers = {}
    for number, line in enumerate(whole.split(b"\n"), start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            raise MiniragError(
                f"{path}, line {number}: not a recorded answer. "
                "Delete that line, or record into another file."
            )
        answers[row["key"]] = row
    row = _row(torn)  # complete but for its line end, as an editor may leave it
    if row:
        answers[row["key"]] = row
    elif torn.strip() and not torn.startswith(START) and not START.startswith(torn):
        raise MiniragError(
            f"{path} is no recording: its last line is no answer. Give another file."
        )
    return answers, len(data) if row else len(data) - len(torn)


def _row(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    texts = ("key", "task", "model", "reply")
    good = isinstance(row, dict) and all(isinstance(row.get(name), str) for name in texts)
    # A boolean is an int to Python, but no number of tokens.
    counted = good and all(type(row.get(name, 0)) is int for name in TOKENS)
    return row if counted else None


class Replay(LLM):
    """Answers recorded before, and only those: another prompt is an error that names the task and
    how to record it.
    """

    travels = True
    note = "Tokens of replayed answers are those that were paid when they were recorded."

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(path)
        if not self.path.is_file():
            raise MiniragError(
                f"there is no recording {self.path}. "
                f"Record one first, with llm='openai:MODEL' and record={str(self.path)!r}."
            )
        self.answers, _ = read_answers(self.path)
        models = sorted({row["model"] for row in self.answers.values()})
        self.name = f"replay of {' and '.join(models) or 'nothing'}, from {self.path.name}"
        self.is_model = any(row.get("is_model", True) for row in self.answers.values())

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        row = self.answers.get(prompt_key(task, messages))
        if row is None:
            same = sum(row["task"] == task.name for row in self.answers.values())
            others = "for other texts, another number k of passages or an older prompt"
            why = f"it holds {same} answers to that task, {others}"
            why = why if same else "it holds none to that task"
            raise MiniragError(
                f"{self.path.name} has no answer to this prompt of the task {task.name!r}: {why}. "
                f"Ask the model with record={str(self.path)!r} to add what is missing; "
                "what is there is not asked again."
            )
        return replayed(row)


def replayed(row: Row) -> Completion:
    """A recorded answer, with the tokens that were paid for it."""
    prompt_tokens, completion_tokens = (row.get(name, 0) for name in TOKENS)
    return Completion(row["reply"], prompt_tokens, completion_tokens, replayed=True)


class Recorder(LLM):
    """A model whose answers are appended to a file as they come, each one flushed to the disk
    before it is used.

    A prompt whose answer is in the file is not asked again, also after a run that was killed; a
    prompt that another thread is asking right now is waited for. An empty reply is asked again by
    the next run, so that a server's fault does not stay. Two runs with one file may ask a prompt
    twice; neither loses an answer.
    """

    note = Replay.note

    def __init__(self, live: LLM, path: str | Path) -> None:
        super().__init__()
        self.live, self.path, self.name, self.is_model = live, Path(path), live.name, live.is_model
        self.waits = live.waits
        stored, size = read_answers(self.path)
        self.answers = {key: row for key, row in stored.items() if row["reply"].strip()}
        others = {row["model"] for row in stored.values()} - {live.name}
        if others:
            recorded = ", ".join(sorted(others))
            raise MiniragError(
                f"{self.path.name} was recorded from {recorded}, not from {live.name}. "
                "Record each model into a file of its own."
            )
        mend_end(self.path, size)
        self._lock = threading.Lock()
        self._underway: dict[str, Future[Row]] = {}

    def __repr__(self) -> str:
        return f"{self.name}, recorded in {self.path.name}"

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        key = prompt_key(task, messages)
        with self._lock:
            if key in self.answers:
                return replayed(self.answers[key])
            asking = self._underway.get(key)
            if asking is None:
                mine = self._underway[key] = Future()
        if asking is not None:
            return replayed(asking.result())
        return self._ask(key, mine, task, messages, fields)

    def _ask(
        self, key: str, mine: "Future[Row]", task: Task, messages: Messages, fields: Fields
    ) -> Completion:
        try:
            completion = self.live.complete(task, messages, fields)
            row: Row = {"key": key, "task": task.name, "model": self.live.name}
            row |= {"is_model": self.live.is_model}
            row |= {name: getattr(completion, name) for name in TOKENS}
            row |= {"reply": completion.text}
            with self._lock:
                append_row(self.path, row)
                self.answers[key] = row
                del self._underway[key]
            mine.set_result(row)
        except BaseException as error:
            with self._lock:
                self._underway.pop(key, None)
            mine.set_exception(error)
            raise
        return completion


def append_row(path: Path, row: Row, sync: bool = True) -> None:
    """Append a row as one line of JSON, or nothing. sync: also wait for the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A lone surrogate in a reply stays what JSON calls it, \udXXX.
    line = (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    with path.open("ab", buffering=0) as file:
        start = file.tell()
        if file.write(line) != len(line):
            file.truncate(start)
            raise MiniragError(
                f"{path.name}: the disk is full. The answers recorded so far are kept."
            )
        if sync:
            os.fsync(file.fileno())


def mend_end(path: Path, size: int) -> None:
    """Cut off what a killed run left of its last line, and end the file with a line break."""
    if not path.exists() or size == 0 == path.stat().st_size:
        return
    with path.open("rb+") as file:
        file.seek(size)
        if b"\n" in file.read():  # written by another run since this one read the file
            return
        file.truncate(size)
        file.seek(max(size - 1, 0))
        if file.read(1) not in (b"\n", b""):
            file.write(b"\n")
