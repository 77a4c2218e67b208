"""A task: everything there is to know about one kind of question to a language model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import Template
from typing import Any

from ..core.errors import MiniragError
from ..core.files import valid_text

Fields = Mapping[str, Any]  # what a call is about: each task names its own
Messages = list[dict[str, str]]  # a chat: role and content of every turn
STAGES = ("build", "index", "retrieve", "answer")


@dataclass(frozen=True)
class Task:
    """Prompt, parser and offline rule of one task.

    template: text with `$field` slots. show: turns the fields of a call into the strings that fill
    them. parse(text) -> (value, dropped): never raises; `dropped` counts the items it could not use
    (1 for a reply without any). rule(fields) -> text in the task's own output format, or None where
    only a language model can answer.
    example: (fields, reply), shown to the model as an earlier turn (one-shot).
    sample, temperature: see `sampled`.
    """

    name: str
    stage: str
    system: str
    template: str
    parse: Callable[[str], tuple[Any, int]]
    rule: Callable[[Fields], str] | None = None
    needs_model: bool = False
    max_tokens: int = 1024
    show: Callable[[Fields], Fields] = dict
    example: tuple[Fields, str] | None = None
    sample: int | None = None
    temperature: float | None = None

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise MiniragError(
                f"task {self.name!r}: stage {self.stage!r} is none of {', '.join(STAGES)}."
            )
        if self.needs_model != (self.rule is None):
            raise MiniragError(
                f"task {self.name!r}: give it a rule, or set needs_model=True; one of the two."
            )

    def sampled(self, number: int, temperature: float) -> "Task":
        """The same task, asked for its reply number `number` at a temperature above 0: the same
        prompt, kept apart in a recording.
        """
        return replace(self, sample=number, temperature=temperature)

    def prompt(self, fields: Fields) -> str:
        """The user's turn for these fields."""
        try:
            text = Template(self.template).substitute(self.show(fields))
        except KeyError as missing:
            wanted = ", ".join(Template(self.template).get_identifiers())
            raise MiniragError(
                f"task {self.name!r} needs the field {missing}; its prompt uses: {wanted}."
            ) from None
        return valid_text(text)  # half a character cannot be sent over a wire

    def messages(self, fields: Fields) -> Messages:
        """The chat that is sent: the system's turn, the example, then the question."""
        turns = [("system", self.system)]
        if self.example:
            example_fields, reply = self.example
            turns += [("user", self.prompt(example_fields)), ("assistant", reply)]
        turns.append(("user", self.prompt(fields)))
        return [{"role": role, "content": content} for role, content in turns]
