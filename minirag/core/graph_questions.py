"""A question with its own small graph: what GRAG and G-Retriever are trained and measured on."""

from dataclasses import dataclass

from ..algorithms.textual import TextualGraph


@dataclass(frozen=True)
class GraphQuestion:
    """One question over one textual graph.

    question: the prompt's own text. asked: what the encoder sees of it (by default the same).
    answer: the text that a model learns to write.
    evidence_nodes, evidence_edges: positions of what a person would need; they measure retrieval
    and no method sees them.
    """

    id: str
    question: str
    answer: str
    graph: TextualGraph
    asked: str = ""
    evidence_nodes: tuple[int, ...] = ()
    evidence_edges: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.asked:
            object.__setattr__(self, "asked", self.question)

    @property
    def graph_texts(self) -> list[str]:
        """The texts of the graph's nodes, then those of its edges."""
        return [*self.graph.nodes, *(text for _, text, _ in self.graph.edges)]

    def __repr__(self) -> str:
        size = f"{len(self.graph.nodes)} nodes, {len(self.graph.edges)} edges"
        return f"GraphQuestion {self.id}: {self.question} -> {self.answer} ({size})"


@dataclass(frozen=True)
class GraphTask:
    """Graph questions in three parts; `train` is learnt from, `validation` decides when to stop,
    `test` is only measured.

    source: who made it, in a few words ("synthetic, seed 0"); every table that shows its numbers
    shows this too.
    """

    name: str
    source: str
    train: tuple[GraphQuestion, ...]
    validation: tuple[GraphQuestion, ...]
    test: tuple[GraphQuestion, ...]

    def __repr__(self) -> str:
        train, validation, test = map(len, self.parts)
        parts = f"{train} questions to train, {validation} to validate, {test} to test"
        return f"{self.name} ({self.source}): {parts}"

    @property
    def parts(self) -> tuple[tuple[GraphQuestion, ...], ...]:
        """The questions to train, to validate and to test."""
        return self.train, self.validation, self.test

    @property
    def questions(self) -> tuple[GraphQuestion, ...]:
        """All questions, in the order of the parts."""
        return (*self.train, *self.validation, *self.test)

    @property
    def answers(self) -> tuple[str, ...]:
        """The different answers of the training questions, sorted: what a tiny model can be taught
        to write.
        """
        return tuple(sorted({question.answer for question in self.train}))
