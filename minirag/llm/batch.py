"""A model that is asked in batches, which services answer within a day for half the price: a round
writes all prompts that can be written now, the next one goes on from their answers.
"""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..prompts.task import Fields, Messages, Task
from .base import ROUND, Completion, Waiting, tokens_sent
from .batch_files import BatchFolder
from .openai_compatible import OpenAICompatible
from .replay import prompt_key


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

        from .batch_service import send

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
