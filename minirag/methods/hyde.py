"""HyDE: retrieve with a passage that a model made up, because an answer looks more like a passage
than a question does.

The default is what PathRAG, App. B says: one hypothetical passage, and its vector alone searches.
HyDE's authors' code (`follow="code"`) draws eight passages at temperature 0.7 and averages their
vectors with the question's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..algorithms.vectors import normalize
from ..core.options import Options, Positive, Temperature
from ..core.trace import Step, Vector
from ..operators import chunk
from ..prompts import find_task
from .baselines import DenseRetriever


@dataclass(frozen=True)
class HyDEOptions(Options):
    """The defaults are PathRAG's; `CODE` holds what HyDE's authors' code does instead.

    documents: hypothetical passages a question; several are sampled at `temperature`.
    temperature: see `documents`; a single passage is not sampled.
    with_question: whether the question's own vector joins the mean (code).
    """

    documents: Positive = 1
    temperature: Temperature = 0.7
    with_question: bool = False


CODE = {"documents": 8, "with_question": True}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HypotheticalStep(Step):
    """The passages that the model made up."""

    passages: tuple[str, ...]


class HyDE(DenseRetriever):
    """Passages nearest to a hypothetical passage, or to the mean vector of several.

    What the hypothetical passage claims is never shown to the reader of the answer: only its vector
    is used.

    Source: PathRAG, Table 1 (tab-1); PathRAG, App. B (sec-B)
    """

    name = "hyde"
    paper = "PathRAG, Table 1 (HyDE, a baseline)"
    primitive = "Hypothetical passage vector"
    needs_model = True
    options_type = HyDEOptions
    settings: ClassVar = {"paper": {}, "code": CODE}
    chosen: HyDEOptions

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        traces: list[Sequence[Step]] = []
        for question, passages in zip(questions, self.llm.each(self.hypothetical, questions)):
            shown = " | ".join(passages) or "none: the question alone is used"
            made_up = HypotheticalStep("hypothetical passages", shown, passages=tuple(passages))
            scores = self.index.vectors @ self.vector(question, passages)
            summary = "cosine of the searching vector and the passage"
            found = chunk.scored_step("chunk vdb", summary, self.labels, scores)
            traces.append((made_up, found))
        return traces

    def hypothetical(self, question: str) -> list[str]:
        """The made-up passages for a question, those without any text left out."""
        task, options = find_task("hypothetical_document"), self.chosen
        tasks = [task]
        if options.documents > 1:
            tasks = [task.sampled(i, options.temperature) for i in range(options.documents)]
        passages = self.llm.each(lambda task: self.llm(task, question=question), tasks)
        return [passage for passage in passages if passage]

    def vector(self, question: str, passages: Sequence[str]) -> Vector:
        """The mean vector, of length 1: (d,). Without any passage it is the question's."""
        vectors = list(self.encoder.encode(passages)) if passages else []
        if self.chosen.with_question or not vectors:
            vectors.append(self.encoder.encode([question], kind="query")[0])
        return normalize(sum(vectors) / len(vectors))
