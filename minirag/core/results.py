"""What a question leaves behind: a retrieval with its trace, an answer.

A `Retrieval` carries what each operator saw and chose, so a test, a table, a figure and a widget
read the same object.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape

from .corpus import Chunk
from .display import not_math
from .trace import Step, Trace

NO_STEPS = Trace()


@dataclass(frozen=True)
class Passage:
    """A retrieved chunk with its score and its rank (1 is best)."""

    chunk: Chunk
    score: float
    rank: int

    @property
    def id(self) -> str:
        return self.chunk.id


@dataclass(frozen=True)
class Retrieval:
    """The passages a method chose for a question, and the trace of how it got there."""

    question: str
    method: str
    passages: tuple[Passage, ...]
    trace: Trace = NO_STEPS

    def __post_init__(self) -> None:
        object.__setattr__(self, "trace", Trace(self.trace))

    def __iter__(self) -> Iterator[Passage]:
        """The passages, best first."""
        return iter(self.passages)

    @property
    def ids(self) -> list[str]:
        return [passage.id for passage in self.passages]

    def __repr__(self) -> str:
        lines = [f"Retrieval by {self.method} for: {self.question}"]
        lines += [f"  {p.rank}. {p.score:.4f}  {p.chunk.label}" for p in self.passages]
        return "\n".join(lines)

    def followed_by(self, *steps: Step) -> "Retrieval":
        """The same retrieval with further steps."""
        return replace(self, trace=Trace((*self.trace, *steps)))

    def explain(self) -> str:
        """The trace as text, one line a step."""
        return "\n".join(f"{number}. {step}" for number, step in enumerate(self.trace, start=1))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{p.rank}</td><td>{p.score:.4f}</td><td style='text-align:left'>"
            f"<b>{escape(p.chunk.title)}</b> {escape(p.chunk.text[:160])}"
            f"{'…' if len(p.chunk.text) > 160 else ''}</td></tr>"
            for p in self.passages
        )
        steps = "".join(f"<li>{escape(str(step))}</li>" for step in self.trace)
        return not_math(
            f"<p><b>{escape(self.method)}</b>: {escape(self.question)}</p>"
            "<table><tr><th>rank</th><th>score</th><th style='text-align:left'>passage</th></tr>"
            f"{rows}</table>"
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

    def __repr__(self) -> str:
        return f"Answer by {self.llm}: {self.text}\n{self.retrieval!r}"

    def _repr_html_(self) -> str:
        said = f"<p><b>Answer</b> (by {escape(self.llm)}): {escape(self.text)}</p>"
        return not_math(said) + self.retrieval._repr_html_()
