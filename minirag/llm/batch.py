"""A model that is asked in batches, which services answer within a day for half the price: a round
writes all prompts that can be written now, the next one goes on from their answers.
"""

from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..prompts.task import Fields, Messages, Task
from .base import ROUND, Completion, Waiting
from .batch_files import BatchFolder
from .openai_compatible import OpenAICompatible
from .replay import prompt_key


class Batch(OpenAICompatible):
    """A chat model whose prompts are written to `FOLDER/requests-NNN.jsonl` and whose answers are
    read from `FOLDER/responses-*.jsonl`, both in the OpenAI Batch format.

    A prompt without an answer raises `Waiting`; one that failed, was refused or answered with
    nothing is asked again in the next round, `attempts` times in all.
    """

    travels = False
    waits = True
    note = "Answers from the files of a batch: their tokens were paid when they were written."

    def __init__(
        self, folder: str | Path, model: str | None = None, *, submit: bool = False,
        max_calls: int | None = None, **options: Any,
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
        self.submit, self.max_calls = submit, max_calls
        self._round: object = None
        self._written = 0

    def __repr__(self) -> str:
        return f"{self.name}, {self.folder!r}"

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        key, now = prompt_key(task, messages), ROUND.get()
        if key not in self.folder.answers and (now is None or now is not self._round):
            self.folder.read()
            self._round = now
        if key not in self.folder.answers:
            self._ask(key, task, messages)
            if now is not None:
                raise Waiting("a prompt waits for the answers of a batch", self.end_round)
            self.end_round()
        return self.folder.answers[key]

    def _ask(self, key: str, task: Task, messages: Messages) -> None:
        """Write a prompt, unless it waits for an answer already."""
        if self.folder.waits(key):
            return
        body = {"model": self.model, "messages": messages, **self.arguments(task)}
        self.folder.write(key, body)

    def end_round(self) -> None:
        """All prompts of this round are written: say what to do with them."""
        raise Waiting(self.summary(), self.end_round)

    def summary(self) -> str:
        """How many prompts wait, where, and what to do."""
        waiting = self.folder.waiting()
        files = ", ".join(f"{name} ({len(keys)})" for name, keys in waiting.items())
        count = sum(map(len, waiting.values()))
        return (
            f"{count} {'prompt waits' if count == 1 else 'prompts wait'} for answers, in "
            f"{self.folder.path}: {files}. Send these files to a service that takes the OpenAI "
            "Batch format (submit=True does it), put what it returns beside them as "
            "responses-NNN.jsonl, and run the same again."
        )
