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

    def __post_init__(self):
        if not self.asked:
            object.__setattr__(self, "asked", self.question)

    def __repr__(self):
        return f"GraphQuestion {self.id}: {self.question} -> {self.answer} ({len(self.graph.nodes)} nodes, {len(self.graph.edges)} edges)"


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

    def __repr__(self):
        return f"{self.name} ({self.source}): {len(self.train)} questions to train, {len(self.validation)} to validate, {len(self.test)} to test"

    @property
    def answers(self):
        """The different answers of the training questions, sorted: what a tiny model can be taught
        to write.
        """
        return tuple(sorted({question.answer for question in self.train}))
