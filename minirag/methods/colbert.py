"""Late interaction: every token of the question looks for its best token in the passage."""

from ..algorithms.late_interaction import best_matches, maxsim_corpus, pad
from ..core.trace import Step
from ..encoders.token_encoders import load_token_encoder
from ..llm import load_llm
from ..operators.ranking import top_items
from .base import Method


class ColBERT(Method):
    """Passages ranked by MaxSim over token vectors, compared with all passages, without the
    compression of ColBERTv2's index.

    encoder: "colbertv2" is the model of the papers. The default, "minilm", takes the last hidden
    states of a model that was trained for one vector a text, not for this; any other encoder is
    asked for the vector of each word alone.

    Source: Wang, Table IV (tab-4)
    """

    name = "colbert"
    paper = "Wang, Table IV (ColBERTv2)"
    index_components = ("Chunk",)
    primitive = "Question token vectors"
    granularity = ("Chunk",)
    operators = {"chunk": ("MaxSim",)}
    vectors_are_kept = False  # one for each token: hundreds of times the room of one for each text

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm"):
        method = cls(corpus.chunks, load_llm(llm))
        passages = [c.passage for c in corpus.chunks]
        method.encoder = load_token_encoder(encoder).fit(passages)
        method.documents = method.encoder.encode(passages)
        method.vectors, method.mask = pad(method.documents)
        return method

    def score_many(self, questions):
        labels = [c.label for c in self.chunks]
        scored = [
            maxsim_corpus(tokens, self.vectors, self.mask)
            for tokens in self.encoder.encode(questions, kind="query")
        ]
        summary = "sum over question tokens of the best cosine with a passage token"
        return [(Step("maxsim", summary, top_items(labels, s), {"scores": s}),) for s in scored]

    def matches(self, question, chunk_id):
        """[(question token, passage token, cosine)]: which token of a passage answered which of the
        question.
        """
        place = [c.id for c in self.chunks].index(chunk_id)
        query = self.encoder.encode([question], kind="query")[0]
        asked, found = (
            self.encoder.tokens(question, kind="query"),
            self.encoder.tokens(self.chunks[place].passage),
        )
        positions, cosines = best_matches(query, self.documents[place])
        return [
            (token, found[at], float(cosine))
            for token, at, cosine in zip(asked, positions, cosines)
        ]
