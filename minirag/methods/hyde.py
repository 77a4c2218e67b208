"""HyDE: retrieve with a passage that a model made up, because an answer looks more like a passage than a question does.

Differs from the authors' code, which draws eight passages at temperature 0.7, only in the default of one passage at temperature 0;
`documents=8` is theirs.
"""

from ..algorithms.vectors import normalize
from ..choices import Positive, Temperature
from ..encoders import load_encoder
from ..index import chunk_index
from ..llm import load_llm
from ..operators.ranking import top_items
from ..prompts import find_task
from ..results import Step
from .base import Method


class HyDE(Method):
    """Passages nearest to the mean of the vectors of hypothetical passages and of the question itself.

    What the hypothetical passage claims is never shown to the reader of the answer: only its vector is used.

    Source: PathRAG, Table 1 (tab-1)
    """

    name = "hyde"
    paper = "PathRAG, Table 1 (HyDE, a baseline)"
    index_components = ("Chunk",)
    primitive = "Question vector and hypothetical passage vectors"
    granularity = ("Chunk",)
    operators = {"chunk": ("VDB",)}
    needs_model = True

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", documents: Positive = 1, temperature: Temperature = 0.7, with_question: bool = True):
        """documents: hypothetical passages a question; several are sampled at `temperature`. with_question: whether its vector joins the mean."""
        method = cls(corpus.chunks, load_llm(llm))
        encoder = load_encoder(encoder).fit([c.passage for c in corpus.chunks])
        method.index = chunk_index(corpus.chunks, encoder)
        method.documents, method.temperature, method.with_question = documents, temperature, with_question
        return method

    def hypothetical(self, question):
        """The made-up passages for a question, those without any text left out."""
        task = find_task("hypothetical_document")
        tasks = [task] if self.documents == 1 else [task.sampled(number, self.temperature) for number in range(self.documents)]
        return [text for text in (self.llm(t, question=question) for t in tasks) if text]

    def vector(self, question, passages):
        """The mean vector, of length 1: (d,). Without any passage it is the question's."""
        encoder = self.index.encoder
        parts = list(encoder.encode(passages)) if passages else []
        if self.with_question or not parts:
            parts.append(encoder.encode([question], kind="query")[0])
        return normalize(sum(parts) / len(parts))

    def score_many(self, questions):
        return [self._trace(question) for question in questions]

    def _trace(self, question):
        passages = self.hypothetical(question)
        scores = self.index.vectors @ self.vector(question, passages)
        made_up = Step("hypothetical passages", " | ".join(passages) or "none: the question alone is used", (), {"passages": tuple(passages)})
        return made_up, Step("chunk vdb", "cosine of the mean vector and the passage", top_items(self.index.labels, scores), {"scores": scores})
