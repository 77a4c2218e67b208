"""The kit's recordings: a large language model's replies to prompts over the shipped corpora and
MuSiQue. `data/recordings/README.md` is the card of all.
"""

import warnings
from functools import cache

from ..core.errors import MiniragError
from ..corpora.shipped_and_folders import shipped
from ..prompts.task import Fields, Messages, Task
from .base import LLM, Completion
from .ledger import Counts
from .offline import OfflineRules
from .replay import Replay, Row, prompt_key, read_answers, replayed

AS_RECORDED = "wording, method and k must be as recorded: data/recordings/README.md"


def recording(name: str) -> Replay:
    """The shipped recording of a corpus, and nothing else: a prompt that it lacks is an error."""
    return Replay(shipped(f"recordings/{name}.jsonl"))


@cache
def all_recordings() -> dict[str, Row]:
    """Every shipped reply, by the key of its prompt."""
    answers: dict[str, Row] = {}
    for path in sorted(shipped("recordings").glob("*.jsonl")):
        answers |= read_answers(path)[0]
    return answers


class Recorded(LLM):
    """Recorded replies where a shipped recording holds the prompt, the offline rules elsewhere,
    with a warning; an answer says which of the two wrote it, and the ledger counts the recorded
    ones as `replayed`.
    """

    name = "recorded replies of a large language model, else the offline rules"
    replies = "recorded replies of a large language model"
    travels = True
    note = (
        "Calls counted as replayed: a large language model's recorded replies "
        "(data/recordings/README.md). The others: the offline rules; nothing was sent anywhere."
    )

    def __init__(self) -> None:
        super().__init__()
        self.rules = OfflineRules()

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        if row := all_recordings().get(prompt_key(task, messages)):
            return replayed(row)
        why = f"no recording holds this prompt of the task {task.name!r} ({AS_RECORDED})"
        if task.rule is None:
            raise MiniragError(f"needs a model: {why}. Pass llm='openai:MODEL' or another one.")
        warnings.warn(f"An offline rule answers, not a model: {why}.", stacklevel=2)
        return self.rules.complete(task, messages, fields)

    def signed(self, spent: Counts) -> str:
        if not spent.asked:
            return self.replies
        if not spent.replayed:
            return f"{self.rules.name}; not recorded for this wording, method and k"
        return f"{self.replies}; {spent.asked} of {spent.calls} calls by the offline rules"
