"""Before and while money is spent: a dry run that only counts, and a cap on the number of calls."""

import threading
from pathlib import Path

from ..utils import MiniragError
from .base import LLM, Completion, token_count
from .replay import prompt_key, read_answers


class DryRun(LLM):
    """Counts calls and prompt tokens and asks nobody. Values come from the recording, if there is one, else from the offline
    rules, and are empty where there is no rule. Recorded answers cost nothing."""

    is_model = False
    travels = True
    note = "Dry run: nobody was asked; the completion tokens are an estimate."

    def __init__(self, model_name, record=None):
        super().__init__()
        self.name = f"dry run of {model_name}"
        self.answers = read_answers(Path(record))[0] if record else {}

    def complete(self, task, messages, fields):
        row = self.answers.get(prompt_key(task, messages))
        if row:
            return Completion(row["reply"], replayed=True)
        text = task.rule(fields) if task.rule else ""
        # Without a rule to imitate the reply, a quarter of what the task allows.
        written = token_count(text) if task.rule else task.max_tokens // 4
        return Completion(text, token_count(*(message["content"] for message in messages)), written, estimated=True)


class Capped(LLM):
    """A model that answers at most `max_calls` prompts, then raises before it asks the next one."""

    def __init__(self, live, max_calls):
        super().__init__()
        self.live, self.name, self.max_calls = live, live.name, max_calls
        self._calls, self._lock = 0, threading.Lock()

    def complete(self, task, messages, fields):
        with self._lock:
            if self._calls >= self.max_calls:
                raise MiniragError(
                    f"stopped before call {self.max_calls + 1} to {self.name}: max_calls is {self.max_calls}. "
                    "Raise it, or look at a dry run first; what was recorded is kept."
                )
            self._calls += 1
        return self.live.complete(task, messages, fields)
