"""Documents, chunks, questions and what somebody read out of them: the first noun of the data
flow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import NamedTuple, TypeVar

from .display import not_math
from .files import valid_text


@dataclass(frozen=True)
class Document:
    """One text of a corpus, as it was read. `id` is unique in its corpus."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Chunk:
    """A piece of a document: `document.text[start:end] == text`. A short document is one chunk."""

    id: str
    text: str
    title: str = ""
    document_id: str = ""
    start: int = 0
    end: int = 0

    @property
    def passage(self) -> str:
        """Title, newline, text: what is encoded, scored and shown to a model (HippoRAG's passage
        string).
        """
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def label(self) -> str:
        """What traces, tables and figures call the chunk: its title, else its id."""
        return self.title or self.id


class Triple(NamedTuple):
    """Subject, relation, object: one statement of an open knowledge graph."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True)
class Extraction:
    """Entities and triples read out of each chunk, and by whom.

    `source` is printed wherever the graph is: a hand annotation or a rule is never shown as a
    model's work. Both mappings go from chunk id to a tuple; a chunk in which nothing was found may
    be absent.
    """

    source: str
    entities: Mapping[str, tuple[str, ...]]
    triples: Mapping[str, tuple[Triple, ...]]

    def __repr__(self) -> str:
        count = sum(map(len, self.triples.values()))
        return f"Extraction by {self.source}: {count} triples from {len(self.triples)} passages"


@dataclass(frozen=True)
class Question:
    """A question with what an evaluation needs: accepted answers, gold chunk ids, kind and
    reasoning chain.

    Only `evaluate` reads anything but `id` and `text`.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    kind: str = ""
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Corpus:
    """Documents, their chunks, and, where somebody made them, questions and extractions.

    A lone surrogate in an id, title, text or question becomes U+FFFD (�): half a character cannot
    be written to a file, sent to a model or encoded.
    """

    name: str
    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    questions: tuple[Question, ...] = ()
    extractions: Mapping[str, Extraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("documents", "chunks", "questions"):
            object.__setattr__(self, name, tuple(map(_valid, getattr(self, name))))

    def __repr__(self) -> str:
        parts = [f"{len(self.documents)} documents", f"{len(self.chunks)} chunks"]
        parts += [f"{len(self.questions)} questions"] if self.questions else []
        parts += [f"extractions: {', '.join(self.extractions)}"] if self.extractions else []
        return f"Corpus {self.name!r}: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        cell = "<td style='text-align:left'>"
        rows = "".join(
            f"<tr>{cell}{escape(chunk.id)}</td>{cell}{escape(chunk.title)}</td>"
            f"{cell}{escape(chunk.text[:90])}</td></tr>"
            for chunk in self.chunks[:5]
        )
        head = "<tr><th>id</th><th>title</th><th>text</th></tr>"
        return not_math(f"<p>{escape(repr(self))}</p><table>{head}{rows}</table>")

    def question(self, question_id: str) -> Question:
        """The question with this id."""
        for question in self.questions:
            if question.id == question_id:
                return question
        known = ", ".join(q.id for q in self.questions[:5]) or "none"
        raise KeyError(
            f"no question {question_id!r} in corpus {self.name!r}; the first ids are: {known}"
        )

    def without_gold(self) -> "Corpus":
        """The same corpus with every answer, gold passage, kind and chain removed from its
        questions.
        """
        return replace(self, questions=tuple(Question(q.id, q.text) for q in self.questions))


Noun = TypeVar("Noun", Document, Chunk, Question)


def _valid(noun: Noun) -> Noun:
    """The document, chunk or question with valid Unicode in its own strings."""
    own = {name: value for name, value in vars(noun).items() if isinstance(value, str)}
    changed = {name: valid_text(text) for name, text in own.items() if valid_text(text) != text}
    return type(noun)(**(vars(noun) | changed)) if changed else noun
