"""The dense baseline: every passage on its own, ranked by the cosine with the question."""

from ..encoders.text_encoders import load_encoder
from ..index import chunk_index
from ..llm import load_llm
from ..operators import chunk, question
from .base import Method


class DenseRetriever(Method):
    """Passages ranked by cosine similarity of their vectors with the question's.

    Source: Survey, App. B.1 (op-new); Wang, Table IV (tab-4)
    """

    name = "dense"
    paper = "naive RAG (baseline of Wang, Table IV)"
    index_components = ("Chunk",)
    primitive = "Question vector"
    granularity = ("Chunk",)
    operators = {"chunk": ("VDB",)}

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm"):
        method = cls(corpus.chunks, load_llm(llm))
        encoder = load_encoder(encoder).fit([c.passage for c in corpus.chunks])
        method.index = chunk_index(corpus.chunks, encoder)
        return method

    def score_many(self, questions):
        asked = question.vector(questions, self.index.encoder)
        return [(step,) for step in chunk.vdb(asked, self.index)]
