"""The rules behind every task that can be answered without a model's knowledge or judgement."""

from ..core.errors import MiniragError
from .base import LLM, Completion, token_count


class OfflineRules(LLM):
    """Answers by the tasks' offline rules, through the same parsers as a model's replies. Not a
    language model, and says so.
    """

    name = "offline rules (not a language model)"
    is_model = False
    travels = True
    note = "Offline rules: nothing was sent anywhere; the tokens are those a model would have read, and those the rules wrote."

    def complete(self, task, messages, fields):
        if task.needs_model:
            forms = "'openai:MODEL', 'ollama:MODEL', 'hf:MODEL' or 'replay:FILE'"
            raise MiniragError(
                f"needs a model: no rule can answer the task {task.name!r}. Pass llm={forms}."
            )
        text = task.rule(fields)
        return Completion(
            text, token_count(*(message["content"] for message in messages)), token_count(text)
        )
