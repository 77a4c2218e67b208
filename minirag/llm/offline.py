"""Without a model: the tasks' offline rules, and the dry run that counts what one would cost."""

from pathlib import Path

from ..core.errors import MiniragError
from ..prompts.task import Fields, Messages, Task
from .base import LLM, Completion, token_count, tokens_sent
from .replay import prompt_key, read_answers


class OfflineRules(LLM):
    """Answers by the tasks' offline rules, through the same parsers as a model's replies. Not a
    language model, and says so.
    """

    name = "offline rules (not a language model)"
    is_model = False
    travels = True
    note = (
        "Offline rules: nothing was sent anywhere; the tokens are those a model would have read, "
        "and those the rules wrote."
    )

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        if task.rule is None:
            forms = "'openai:MODEL', 'ollama:MODEL', 'hf:MODEL' or 'replay:FILE'"
            raise MiniragError(
                f"needs a model: no rule can answer the task {task.name!r}. Pass llm={forms}."
            )
        text = task.rule(fields)
        return Completion(text, tokens_sent(messages), token_count(text))


class DryRun(LLM):
    """Counts calls and prompt tokens and asks nobody.

    Values come from the recording, if there is one, else from the offline rules, and are empty
    where there is no rule. Recorded answers cost nothing; with a recording no prompt is paid twice.
    """

    is_model = False
    travels = True
    note = "Dry run: nobody was asked; the completion tokens are an estimate."

    def __init__(self, model_name: str, record: Path | str | None = None) -> None:
        super().__init__()
        self.name = f"dry run of {model_name}"
        self.answers = read_answers(Path(record))[0] if record else {}
        self.records = record is not None

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        key = prompt_key(task, messages)
        if key in self.answers:
            return Completion(self.answers[key]["reply"], replayed=True)
        text = task.rule(fields) if task.rule else ""
        if self.records:
            self.answers[key] = {"reply": text}
        # Without a rule to imitate the reply, a quarter of what the task allows.
        written = token_count(text) if task.rule else task.max_tokens // 4
        return Completion(text, tokens_sent(messages), written, estimated=True)
