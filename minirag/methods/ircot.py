"""IRCoT with HippoRAG: retrieve, think one sentence, retrieve with the thought, keep the best score of every passage.

Follows the loop of HippoRAG's authors (tag v1.0.0), where a thought comes from the current best passages and new passages may
displace old ones; the original IRCoT only ever appends.
"""

from ..choices import Positive
from ..operators import min_max
from ..results import Passage, Retrieval, Step
from .base import Method
from .hipporag import HippoRAG

DONE = "So the answer is:"


def merge_rounds(rounds):
    """Merge the scores of several rounds, each a dict id -> score: `[(id, best score)]`, best first; of equal scores the one seen earlier comes first.

    Source: Wang, Table V (tab-5)
    """
    best = {}
    for scores in rounds:
        for passage, score in scores.items():
            best[passage] = max(score, best.get(passage, score))
    return sorted(best.items(), key=lambda pair: -pair[1])


class IRCoTHippoRAG(Method):
    """Multi-step retrieval. The thoughts need a language model; there is no rule for them.

    Source: Wang, Table V (tab-5)
    """

    name = "ircot-hipporag"
    paper = "Wang, Table V"
    graph_type = HippoRAG.graph_type
    index_components = HippoRAG.index_components
    primitive = "Entities in question and thoughts"
    granularity = ("Chunk",)
    operators = HippoRAG.operators
    needs_model = True

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", max_steps: Positive = 2, top_k: Positive = 10, **options):
        """max_steps: retrievals in all, so at most one thought fewer (the authors use 2, for MuSiQue 4); top_k: passages a round."""
        retriever = HippoRAG.build(corpus, llm=llm, encoder=encoder, **options)
        method = cls(retriever.chunks, retriever.llm)
        method.retriever, method.max_steps, method.top_k = retriever, max_steps, top_k
        return method

    def retrieve_many(self, questions, k=5):
        return [self._retrieve(question, k) for question in questions]

    def _retrieve(self, question, k):
        query, thoughts, rounds, trace = question, [], [], []
        position = {chunk.id: i for i, chunk in enumerate(self.chunks)}
        while True:
            found = self.retriever.retrieve(query, self.top_k)
            scores = min_max(found.trace[-1].data["scores"])
            rounds.append({id: float(scores[position[id]]) for id in found.ids})
            trace += [Step("round", f"{len(rounds)}: {query}"), *found.trace]
            merged = merge_rounds(rounds)
            if len(rounds) == self.max_steps:
                break
            passages = [self.chunks[position[id]].passage for id, _ in merged[: self.top_k]]
            query = self.llm("thought", question=question, passages=passages, thoughts=thoughts)
            thoughts.append(query)
            if DONE in query or not query:
                break
        trace.append(Step("merge", "best score of each passage over the rounds", tuple(merged[:10]), {"thoughts": tuple(thoughts)}))
        passages = tuple(Passage(self.chunks[position[id]], score, place) for place, (id, score) in enumerate(merged[:k], start=1))
        return Retrieval(question, self.name, passages, tuple(trace))
