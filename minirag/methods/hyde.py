"""HyDE: retrieve with a passage that a model made up, because an answer looks more like a passage
than a question does.

The default is what PathRAG, App. B says: one hypothetical passage, and its vector alone searches.
HyDE's authors' code (`follow="code"`) draws eight passages at temperature 0.7 and averages their
vectors with the question's.
"""

from dataclasses import dataclass

from ..algorithms.vectors import normalize
from ..core.options import Options, Positive, Temperature, choose
from ..core.trace import Step
from ..encoders.text_encoders import load_encoder
from ..index import chunk_index
from ..llm import load_llm
from ..operators.ranking import top_items
from ..prompts import find_task
from .base import Method


@dataclass(frozen=True)
class HyDEChoices(Options):
    """The defaults are PathRAG's; `CODE` holds what HyDE's authors' code does instead.

    documents: hypothetical passages a question; several are sampled at `temperature`.
    with_question: whether the question's own vector joins the mean (code).
    """

    documents: Positive = 1
    temperature: Temperature = 0.7
    with_question: bool = False


CODE = {"documents": 8, "with_question": True}


class HyDE(Method):
    """Passages nearest to a hypothetical passage, or to the mean vector of several.

    What the hypothetical passage claims is never shown to the reader of the answer: only its vector
    is used.

    Source: PathRAG, Table 1 (tab-1); PathRAG, App. B (sec-B)
    """

    name = "hyde"
    paper = "PathRAG, Table 1 (HyDE, a baseline)"
    index_components = ("Chunk",)
    primitive = "Hypothetical passage vector"
    granularity = ("Chunk",)
    operators = {"chunk": ("VDB",)}
    needs_model = True
    kind = (HyDEChoices, CODE)

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", follow="paper", **choices):
        """Encode the passages. follow, **choices: the fields of `HyDEChoices`."""
        method = cls(corpus.chunks, load_llm(llm))
        method.choices = choose(cls.kind[0], {"paper": {}, "code": cls.kind[1]}, follow, choices)
        encoder = load_encoder(encoder).fit([c.passage for c in corpus.chunks])
        method.index = chunk_index(corpus.chunks, encoder)
        return method

    def hypothetical(self, question):
        """The made-up passages for a question, those without any text left out."""
        task, c = find_task("hypothetical_document"), self.choices
        drawn = [task.sampled(number, c.temperature) for number in range(c.documents)]
        tasks = [task] if c.documents == 1 else drawn
        return [text for text in (self.llm(t, question=question) for t in tasks) if text]

    def vector(self, question, passages):
        """The mean vector, of length 1: (d,). Without any passage it is the question's."""
        encoder = self.index.encoder
        parts = list(encoder.encode(passages)) if passages else []
        if self.choices.with_question or not parts:
            parts.append(encoder.encode([question], kind="query")[0])
        return normalize(sum(parts) / len(parts))

    def score_many(self, questions):
        return [self._trace(question) for question in questions]

    def _trace(self, question):
        passages = self.hypothetical(question)
        scores = self.index.vectors @ self.vector(question, passages)
        said = " | ".join(passages) or "none: the question alone is used"
        made_up = Step("hypothetical passages", said, (), {"passages": tuple(passages)})
        items = top_items(self.index.labels, scores)
        said = "cosine of the searching vector and the passage"
        return made_up, Step("chunk vdb", said, items, {"scores": scores})
