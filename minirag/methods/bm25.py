"""The lexical baseline: no graph, no encoder, no model."""

from ..algorithms.bm25 import BM25, tokenize
from ..core.options import NotNegative, Probability
from ..core.trace import Step
from ..llm import load_llm
from ..operators.ranking import top_items
from .base import Method


class BM25Retriever(Method):
    """Passages ranked by Okapi BM25 over lower-cased words of title and text.

    Source: Wang, Table IV (tab-4)
    """

    name = "bm25"
    paper = "Robertson and Walker (baseline of Wang, Table IV)"
    primitive = "Question words"
    granularity = ("Chunk",)

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder=None,
        k1: NotNegative = 1.5,
        b: Probability = 0.75,
        epsilon: NotNegative = 0.25,
    ):
        method = cls(corpus.chunks, load_llm(llm))
        method.index = BM25([tokenize(chunk.passage) for chunk in corpus.chunks], k1, b, epsilon)
        return method

    def score_many(self, questions):
        labels = [chunk.label for chunk in self.chunks]
        scored = [self.index.scores(tokenize(question)) for question in questions]
        return [
            (
                Step(
                    "bm25",
                    "words shared with the question, rare ones count more",
                    top_items(labels, s),
                    {"scores": s},
                ),
            )
            for s in scored
        ]
