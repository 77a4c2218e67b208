"""A model that is asked in batches, which services answer within a day for half the price: a round
writes all prompts that can be written now, the next one goes on from their answers.

`send` gives the files to a service with OpenAI's /files and /batches, and fetches what it answers.
batch-NNN.txt remembers the batch of requests-NNN.jsonl, so that a killed run asks for its answers
and not for the work again.
"""

import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..prompts.task import Fields, Messages, Task
from .base import ROUND, Completion, Waiting, tokens_sent
from .batch_files import URL, BatchFolder, rows_in
from .openai_compatible import OpenAICompatible
from .replay import prompt_key

ENDED = ("completed", "failed", "expired", "cancelled")
LOOKED_THROUGH = 300  # batches of the service, for one that a killed run has begun


class Batch(OpenAICompatible):
    """A chat model whose prompts are written to `FOLDER/requests-NNN.jsonl` and whose answers are
    read from `FOLDER/responses-*.jsonl`, both in the OpenAI Batch format.

    A prompt without an answer raises `Waiting`, or with `submit` is sent to the service at
    `base_url`, which is looked at every `pause` seconds. A request that failed, was refused or got
    an empty reply is written again in the next round, `attempts` times in all. max_calls: requests
    that one run may write.
    """

    travels = False
    waits = True
    note = "Answers from the files of a batch: their tokens were paid when they were written."

    def __init__(
        self, folder: str | Path, model: str | None = None, *, submit: bool = False,
        max_calls: int | None = None, pause: float = 10, **options: Any,
    ) -> None:  # fmt: skip
        self.folder = BatchFolder(folder)
        asked = sorted(self.folder.models)
        if model is None and len(asked) != 1:
            raise MiniragError(
                f"{self.folder.path} does not say which model it asks: "
                "give its name, such as model='gpt-4o-mini'."
            )
        super().__init__("batch", model or asked[0], **options)
        if others := [name for name in asked if name != self.model]:
            raise MiniragError(
                f"{self.folder.path} asks {', '.join(others)}, not {self.model}. "
                "Give each model a folder of its own."
            )
        self.name = f"batch:{self.model}"
        self.submit, self.max_calls, self.pause = submit, max_calls, pause
        if submit:
            self._key()
        self._using = threading.RLock()
        self._round: object = None
        self._written, self._fetched = 0, set[str]()

    def __repr__(self) -> str:
        return f"{self.name}, {self.folder!r}"

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        key, now = prompt_key(task, messages), ROUND.get()
        with self._using:
            if key not in self.folder.answers and (now is None or now is not self._round):
                self._look()
                self._round = now
            while (reply := self._reply(key, task)) is None:
                self._write(key, task, messages)
                if now is not None:
                    raise Waiting("a prompt waits for the answers of a batch", self.end_round)
                self.end_round()
        sent = reply.prompt_tokens or tokens_sent(messages)
        return replace(reply, prompt_tokens=sent, replayed=key not in self._fetched)

    def _look(self) -> None:
        """Look for answers, and for arguments that the service does not take."""
        self.folder.read()
        for said in self.folder.refused:
            self.leave_out(("max_tokens", *self.options), said)

    def _reply(self, key: str, task: Task) -> Completion | None:
        """The answer; an empty one if the last of all attempts brought one; None to ask for it."""
        failures = list(self.folder.failed.get(key, {}).values())
        if key in self.folder.answers or len(failures) < self.attempts:
            return self.folder.answers.get(key)
        if isinstance(failures[-1], Completion):
            return failures[-1]
        raise MiniragError(
            f"{self.name} gave no answer to a {task.name!r} prompt in {len(failures)} batches; the "
            f"last one: {failures[-1]}. Its id is {key}: delete its lines in responses-*.jsonl to "
            "ask again."
        )

    def _write(self, key: str, task: Task, messages: Messages) -> None:
        """Write a request, unless it waits for an answer already."""
        if self.folder.waits(key):
            return
        if self._written == self.max_calls:
            raise MiniragError(
                f"stopped before request {self._written + 1}: max_calls is {self.max_calls}. Raise "
                f"it, or look at a dry run first. What is written stays in {self.folder.path}."
            )
        self.folder.write(key, {"model": self.model, "messages": messages, **self.arguments(task)})
        self._written += 1

    def end_round(self) -> None:
        """All prompts of this round are written: send them, or say what to do with them."""
        if not self.submit:
            raise Waiting(self.summary(), self.end_round)
        import openai

        with self._using:
            before = set(self.folder.answers)
            try:
                send(self.folder, self._open().with_options(max_retries=self.attempts), self.pause)
            except openai.APIError as error:
                raise MiniragError(
                    f"the service at {self.address} gave {type(error).__name__} "
                    f"({self._said(error)}). Run the same again to go on from here."
                ) from None
            finally:
                self._look()
                self._fetched |= self.folder.answers.keys() - before

    def summary(self) -> str:
        """How many prompts wait, where, and what to do."""
        waiting = self.folder.waiting()
        files = ", ".join(f"{name} ({len(keys)})" for name, keys in waiting.items())
        count = sum(map(len, waiting.values()))
        trouble = "".join(f"; {counted}" for counted in self.folder.troubles())
        return (
            f"{count} {'prompt waits' if count == 1 else 'prompts wait'} for an answer, in "
            f"{self.folder.path}: {files}{trouble}. Send these files to a service that takes the "
            "OpenAI Batch format (submit=True does it), put what it returns beside them as "
            "responses-NNN.jsonl, and run the same again."
        )


def send(folder: BatchFolder, client: Any, pause: float) -> None:
    """Send every request that waits, wait for the service, and write what it answers to
    responses-NNN.jsonl. client: of `openai`. pause: seconds between two looks at the service.
    """
    waiting = folder.waiting()
    under_way = {name: _begin(folder, client, name, waiting[name]) for name in waiting}
    done = dict.fromkeys(under_way, 0)
    with progress(description="batch", total=sum(map(len, waiting.values()))) as bar:
        while under_way:
            for name, batch_id in list(under_way.items()):
                batch = client.batches.retrieve(batch_id)
                done[name] = getattr(batch.request_counts, "completed", None) or 0
                if batch.status in ENDED:
                    _fetch(folder, client, name, waiting[name], batch)
                    del under_way[name]
            bar.update(sum(done.values()) - bar.n)
            if under_way:
                time.sleep(pause)


def _begin(folder: BatchFolder, client: Any, name: str, keys: Sequence[str]) -> str:
    """The id of the batch for the requests of a file that wait: one that was begun, or a new one.

    Its mark is noted before it begins, so that a run that is killed in between finds it.
    """
    note = folder.path / _named(name, "batch", ".txt")
    mark, _, batch_id = (note.read_text().strip() if note.exists() else "").partition(" ")
    if mark and not batch_id:
        listed = islice(client.batches.list(limit=100), LOOKED_THROUGH)
        ours = (batch.id for batch in listed if (batch.metadata or {}).get("mark") == mark)
        batch_id = next(ours, "")
    if not batch_id:
        mark = mark or uuid.uuid4().hex
        write_atomic(note, mark)
        file = client.files.create(file=(name, folder.lines_of(name, keys)), purpose="batch")
        once = client.with_options(max_retries=0)  # a reply that is lost would begin two batches
        named = {"input_file_id": file.id, "metadata": {"mark": mark}}
        batch_id = once.batches.create(endpoint=URL, completion_window="24h", **named).id
    write_atomic(note, f"{mark} {batch_id}")
    return batch_id


def _fetch(folder: BatchFolder, client: Any, name: str, keys: Sequence[str], batch: Any) -> None:
    """Write what a batch answered. A request that it left out counts as failed."""
    if batch.status == "failed":
        (folder.path / _named(name, "batch", ".txt")).unlink()
        said = "; ".join(str(error.message) for error in getattr(batch.errors, "data", None) or [])
        raise MiniragError(
            f"the service took no batch from {name}: {said}. Run the same again to send it anew."
        )
    files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
    lines = [line for file in files for line in client.files.content(file).read().split(b"\n")]
    named = {row["custom_id"] for row in rows_in(lines, Counter())}
    lost = {"message": f"the batch {batch.status} without it"}
    rows = [{"custom_id": key, "error": lost} for key in keys if key not in named]
    path = folder.path / _named(name, "responses")
    kept = path.read_bytes().split(b"\n") if path.exists() else []
    lines = [*kept, *lines, *(json.dumps(row).encode() for row in rows)]
    write_atomic(path, b"".join(line + b"\n" for line in lines if line.strip()))
    if batch.status == "cancelled":
        raise MiniragError(f"the batch of {name} was cancelled. The same again asks for the rest.")


def _named(requests: str, kind: str, ending: str = ".jsonl") -> str:
    return requests.replace("requests", kind).replace(".jsonl", ending)
