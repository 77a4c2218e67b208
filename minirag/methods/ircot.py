"""IRCoT: retrieve, think one sentence, retrieve with it, keep the best score of every passage.

Follows the loop of HippoRAG's authors (tag v1.0.0), which runs over any retriever: a thought comes
from the current best passages, and new passages may displace old ones; the original IRCoT only ever
appends. Wang gives results and no details of the loop, so there is no other setting. Told, not
rebuilt: after a failed call the released loop searches for the empty thought; here it ends.
"""

import numpy as np

from ..core.errors import MiniragError
from ..core.options import Positive
from ..core.results import Passage, Retrieval
from ..core.trace import Step
from ..llm import load_llm
from ..operators import min_max
from .base import Method
from .hipporag import HippoRAG

DONE = "So the answer is:"
GRAPH_SCORES = ("chunk aggregator",)  # the last step of a walk; its sums have no scale of their own


def merge_rounds(rounds):
    """Merge the scores of several rounds, each a dict id -> score: `[(id, best score)]`, best
    first; of equal scores the one seen earlier comes first.

    Source: Wang, Table V (tab-5)
    """
    best = {}
    for scores in rounds:
        for passage, score in scores.items():
            best[passage] = max(score, best.get(passage, score))
    return sorted(best.items(), key=lambda pair: -pair[1])


def comparable(trace):
    """A round's passage scores for merging: a walk's moved to [0, 1], all others as they are.

    Cosines, and the mean that HippoRAG's ensemble takes, have one scale in every round. A walk that
    started nowhere scores all passages alike, 1 / their number.

    Source: Wang, Table V (tab-5)
    """
    scores = trace[-1].data["scores"]
    if trace[-1].operator not in GRAPH_SCORES:
        return scores
    return min_max(scores) if np.ptp(scores) else np.full(len(scores), 1 / len(scores))


class IRCoT(Method):
    """Multi-step retrieval over any method that scores passages; no rule can write the thoughts.

    Source: Wang, Table V (tab-5)
    """

    name = "ircot"
    paper = "Wang, Table V (IRCoT)"
    index_components = ("Chunk",)
    primitive = "Question and thoughts"
    granularity = ("Chunk",)
    operators = {"chunk": ("MaxSim",)}
    needs_model = True
    over = "colbert"

    @classmethod
    def build(
        cls, corpus, llm="offline", encoder="minilm", retriever: str | None = None,
        max_steps: Positive = 2, top_k: Positive = 10, **options,
    ):  # fmt: skip
        """The loop over a retriever built on the corpus.

        retriever: a method that scores passages, by name, such as "bm25", "dense" or "hipporag";
        by default Wang's ColBERT, and HippoRAG for `ircot-hipporag`. max_steps: retrievals in all,
        so at most one thought fewer (the authors use 2, for MuSiQue 4). top_k: passages a round.
        **options: of the retriever. Raises `MiniragError` for a name that is none of those.
        """
        from . import METHODS

        known = [name for name, one in METHODS.items() if one.score_many is not Method.score_many]
        name = retriever or cls.over
        if name not in known:
            raise MiniragError(f"retriever={name!r}: expected one of {', '.join(known)}.")
        built = METHODS[name].build(corpus, llm=load_llm(llm), encoder=encoder, **options)
        method = cls(built.chunks, built.llm)
        method.retriever, method.max_steps, method.top_k = built, max_steps, top_k
        return method

    def retrieve_many(self, questions, k=5):
        return [self._retrieve(question, k) for question in questions]

    def _retrieve(self, question, k):
        query, thoughts, rounds, trace = question, [], [], []
        position = {chunk.id: i for i, chunk in enumerate(self.chunks)}
        while True:
            found = self.retriever.retrieve(query, self.top_k)
            scores = comparable(found.trace)
            rounds.append({id: float(scores[position[id]]) for id in found.ids})
            said = Step("round", f"{len(rounds)}: {query}", (), {"scores": rounds[-1]})
            trace += [said, *found.trace]
            merged = merge_rounds(rounds)
            if len(rounds) == self.max_steps:
                break
            passages = [self.chunks[position[id]].passage for id, _ in merged[: self.top_k]]
            query = self.llm("thought", question=question, passages=passages, thoughts=thoughts)
            thoughts.append(query)
            if DONE in query or not query:
                break
        ranked = [(self.chunks[position[id]], score) for id, score in merged]
        best = tuple((chunk.label, score) for chunk, score in ranked[:10])
        said = "best score of each passage over the rounds"
        trace.append(Step("merge", said, best, {"thoughts": tuple(thoughts)}))
        passages = tuple(
            Passage(chunk, score, rank) for rank, (chunk, score) in enumerate(ranked[:k], start=1)
        )
        return Retrieval(question, self.name, passages, tuple(trace))


class IRCoTHippoRAG(IRCoT):
    """IRCoT with HippoRAG as the retriever.

    Source: Wang, Table V (tab-5)
    """

    name = "ircot-hipporag"
    paper = "Wang, Table V"
    graph_type = HippoRAG.graph_type
    index_components = HippoRAG.index_components
    primitive = "Entities in question and thoughts"
    operators = HippoRAG.operators
    over = "hipporag"
