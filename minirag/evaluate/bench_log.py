"""What a benchmark keeps while it runs: finished questions in a file, and what each asks of the
model.
"""

import json
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..llm import LLM, Completion
from ..llm.ledger import Counts
from ..llm.replay import append_row, mend_end, prompt_key
from ..prompts.task import Fields, Messages, Task

Row = dict[str, Any]
Asked = list[tuple[Task, Fields, Completion]]
ASKED: ContextVar[Asked | None] = ContextVar("ASKED", default=None)  # by the question under way


class Log:
    """Rows by their `key`, each appended to a file as it comes; the half of a last line that a
    killed run left is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, dict[str, Row]()
        data = path.read_bytes() if path.exists() else b""
        whole, _, torn = data.rpartition(b"\n")
        mend_end(path, len(data) - len(torn))
        for number, line in enumerate(whole.split(b"\n") if whole else (), start=1):
            try:
                row = json.loads(line)
                self.rows[row["key"]] = row
            except (ValueError, TypeError, KeyError):
                raise MiniragError(
                    f"{path}, line {number}: no row of a bench. Delete that line, or give another "
                    "folder."
                ) from None

    def add(self, row: Row) -> None:
        append_row(self.path, row, sync=False)
        self.rows[row["key"]] = row


class Watched(LLM):
    """A model that notes what the question under way asks it, in whichever thread, and that is
    asked each prompt of building and indexing once.
    """

    def __init__(self, live: LLM) -> None:
        super().__init__()
        self.live, self.name, self.is_model = live, live.name, live.is_model
        self.travels, self.waits, self.known = live.travels, live.waits, dict[str, Completion]()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "known": {}}

    def signed(self, spent: Counts) -> str:
        return self.live.signed(spent)

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        if task.stage in ("build", "index"):
            key = prompt_key(task, messages)
            if key not in self.known:
                self.known[key] = self.live.complete(task, messages, fields)
            return self.known[key]
        reply = self.live.complete(task, messages, fields)
        if (asked := ASKED.get()) is not None:
            asked.append((task, fields, reply))
        return reply
