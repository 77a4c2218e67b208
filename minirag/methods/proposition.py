"""Proposition retrieval: search among single statements, return the passages they came from."""

import numpy as np

from ..core.trace import Step
from ..encoders.text_encoders import load_encoder
from ..index import VectorIndex
from ..llm import load_llm
from ..operators import question
from ..operators.ranking import top_items
from .base import Method


def best_per_passage(scores, owners, count):
    """A passage's score is that of its best proposition: (count,). scores: (propositions,); owners:
    the passage of each; -1 for a passage without any.

    A passage has one score however many of its propositions match, so the best k are k different
    passages.

    Source: Wang, Table IV (tab-4)
    """
    best = np.full(count, -1.0, dtype=np.asarray(scores).dtype if len(scores) else float)
    np.maximum.at(best, np.asarray(owners, dtype=int), scores)
    return best


class PropositionRetriever(Method):
    """Passages ranked by their proposition most similar to the question.

    Propositions come from `llm`. The offline rule only cuts sentences and puts the title in front
    of each, which is neither atomic nor self-contained: with it this is sentence retrieval. A
    passage for which no proposition could be read stands in for itself.

    Source: Wang, Table IV (tab-4)
    """

    name = "proposition"
    paper = "Wang, Table IV (Proposition)"
    index_components = ("Proposition",)
    primitive = "Question vector"
    granularity = ("Chunk",)
    operators = {"chunk": ("VDB",)}

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", executor=None):
        method = cls(corpus.chunks, load_llm(llm))
        fields = [{"title": c.title, "text": c.text} for c in corpus.chunks]
        found = method.llm.map(
            "propositions", fields, executor=executor, description="propositions"
        )
        pairs = [
            (i, text)
            for i, (c, texts) in enumerate(zip(corpus.chunks, found))
            for text in texts or (c.passage,)
        ]
        method.owners, texts = [i for i, _ in pairs], tuple(text for _, text in pairs)
        encoder = load_encoder(encoder).fit([c.passage for c in corpus.chunks])
        method.index = VectorIndex(texts, encoder.encode(list(texts)), encoder)
        return method

    def score_many(self, questions):
        labels = [c.label for c in self.chunks]
        traces = []
        for similar in self.index.similarities(question.vector(questions, self.index.encoder)):
            scores = best_per_passage(similar, self.owners, len(self.chunks))
            near = Step(
                "proposition vdb",
                "cosine of question and proposition",
                top_items(self.index.labels, similar),
                {"scores": similar},
            )
            traces.append(
                (
                    near,
                    Step(
                        "best proposition",
                        "a passage counts as much as its best proposition",
                        top_items(labels, scores),
                        {"scores": scores},
                    ),
                )
            )
        return traces
