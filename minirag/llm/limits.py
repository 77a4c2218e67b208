"""Before and while money is spent: a dry run that only counts, and a cap on the number of calls."""

import threading
from pathlib import Path

from ..core.errors import MiniragError
from .base import LLM, Completion, token_count
from .replay import prompt_key, read_answers


class DryRun(LLM):
    """Counts calls and prompt tokens and asks nobody.

    Values come from the recording, if there is one, else from the offline rules, and are empty
    where there is no rule. Recorded answers cost nothing; with a recording no prompt is paid twice.
    """

    is_model = False
    travels = True
    note = "Dry run: nobody was asked; the completion tokens are an estimate."

    def __init__(self, model_name, record=None):
        super().__init__()
        self.name = f"dry run of {model_name}"
        self.answers = read_answers(Path(record))[0] if record else {}
        self.records = record is not None

    def complete(self, task, messages, fields):
        key = prompt_key(task, messages)
        if key in self.answers:
            return Completion(self.answers[key]["reply"], replayed=True)
        text = task.rule(fields) if task.rule else ""
        if self.records:
            self.answers[key] = {"reply": text}
        # Without a rule to imitate the reply, a quarter of what the task allows.
        written = token_count(text) if task.rule else task.max_tokens // 4
        return Completion(
            text,
            token_count(*(message["content"] for message in messages)),
            written,
            estimated=True,
        )


class Capped(LLM):
    """A model that answers at most `max_calls` prompts, then raises before it asks the next one.

    record: the file that keeps the answers, if any.
    """

    def __init__(self, live, max_calls, record=None):
        super().__init__()
        self.live, self.name, self.max_calls, self.record = live, live.name, max_calls, record
        self._calls, self._lock = 0, threading.Lock()

    def complete(self, task, messages, fields):
        with self._lock:
            if self._calls >= self.max_calls:
                kept = "The answers so far were not recorded: record= names a file that keeps them."
                if self.record:
                    kept = f"The answers so far are kept in {self.record} and not asked again."
                raise MiniragError(
                    f"stopped before call {self.max_calls + 1} to {self.name}: max_calls is {self.max_calls}. "
                    f"Raise it, or look at a dry run first. {kept}"
                )
            self._calls += 1
        return self.live.complete(task, messages, fields)
