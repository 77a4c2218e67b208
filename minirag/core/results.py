"""What a question leaves behind: steps, a retrieval, an answer.

A `Retrieval` carries what each operator saw and chose, so a test, a table, a figure and a widget
read the same object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .corpus import Chunk
from .display import not_math


@dataclass(frozen=True)
class Step:
    """One operator at work: its name, what it did in a sentence, and the items it chose, best
    first.

    `items` are `(label, score)` pairs for people; `data` holds arrays and ids for code.
    """

    operator: str
    summary: str
    items: tuple[tuple[str, float], ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self):
        shown = ", ".join(f"{label} ({score:.3f})" for label, score in self.items[:5])
        more = f", and {len(self.items) - 5} more" if len(self.items) > 5 else ""
        return f"{self.operator}: {self.summary}" + (f" -> {shown}{more}" if shown else "")


@dataclass(frozen=True)
class Passage:
    """A retrieved chunk with its score and its rank (1 is best)."""

    chunk: Chunk
    score: float
    rank: int

    @property
    def id(self):
        return self.chunk.id


@dataclass(frozen=True)
class Retrieval:
    """The passages a method chose for a question, and the trace of how it got there."""

    question: str
    method: str
    passages: tuple[Passage, ...]
    trace: tuple[Step, ...] = ()

    def __iter__(self):
        """The passages, best first."""
        return iter(self.passages)

    @property
    def ids(self):
        return [passage.id for passage in self.passages]

    def __repr__(self):
        lines = [f"Retrieval by {self.method} for: {self.question}"]
        lines += [f"  {p.rank}. {p.score:.4f}  {p.chunk.label}" for p in self.passages]
        return "\n".join(lines)

    def explain(self):
        """The trace as text, one line a step."""
        return "\n".join(f"{number}. {step}" for number, step in enumerate(self.trace, start=1))

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{p.rank}</td><td>{p.score:.4f}</td><td style='text-align:left'><b>{escape(p.chunk.title)}</b> "
            f"{escape(p.chunk.text[:160])}{'…' if len(p.chunk.text) > 160 else ''}</td></tr>"
            for p in self.passages
        )
        steps = "".join(f"<li>{escape(str(step))}</li>" for step in self.trace)
        return not_math(
            f"<p><b>{escape(self.method)}</b>: {escape(self.question)}</p>"
            f"<table><tr><th>rank</th><th>score</th><th style='text-align:left'>passage</th></tr>{rows}</table>"
            f"<details><summary>trace</summary><ol>{steps}</ol></details>"
        )


@dataclass(frozen=True)
class Answer:
    """A text, who wrote it, what it cost, and the retrieval it rests on."""

    text: str
    llm: str
    retrieval: Retrieval
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __repr__(self):
        return f"Answer by {self.llm}: {self.text}\n{self.retrieval!r}"

    def _repr_html_(self):
        said = f"<p><b>Answer</b> (by {escape(self.llm)}): {escape(self.text)}</p>"
        return not_math(said) + self.retrieval._repr_html_()
