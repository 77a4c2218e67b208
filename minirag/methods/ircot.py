"""IRCoT: retrieve, think one sentence, retrieve with it, keep the best score of every passage.

Follows the loop of HippoRAG's authors (tag v1.0.0), which runs over any retriever: a thought comes
from the current best passages, and new passages may displace old ones; the original IRCoT only ever
appends. Wang gives results and no details of the loop, so there is no other setting. Told, not
rebuilt: after a failed call the released loop searches for the empty thought; here it ends.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from ..core.corpus import Chunk, Corpus
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.options import Positive
from ..core.results import Passage, Retrieval
from ..core.trace import SHOWN, ChunkStep, Step, Trace, Vector
from ..llm import LLM, load_llm
from ..operators import min_max
from .base import Method
from .hipporag import HippoRAG

DONE = "So the answer is:"
GRAPH_SCORES = ("chunk aggregator",)  # the last step of a walk; its sums have no scale of their own


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RoundStep(Step):
    """What one round searched for, and the scores of the passages that it found, by id."""

    query: str
    scores: Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MergeStep(Step):
    """The passages of all rounds, and the thoughts between the rounds."""

    thoughts: tuple[str, ...]


def merge_rounds(rounds: Iterable[Mapping[str, float]]) -> list[tuple[str, float]]:
    """Merge the scores of several rounds, each a dict id -> score: `[(id, best score)]`, best
    first; of equal scores the one seen earlier comes first.

    Source: Wang, Table V (tab-5)
    """
    best: dict[str, float] = {}
    for scores in rounds:
        for passage, score in scores.items():
            best[passage] = max(score, best.get(passage, score))
    return sorted(best.items(), key=lambda pair: -pair[1])


def comparable(step: ChunkStep) -> Vector:
    """A round's passage scores for merging: a walk's moved to [0, 1], all others as they are.

    Cosines, and the mean that HippoRAG's ensemble takes, have one scale in every round. A walk that
    started nowhere scores all passages alike, 1 / their number.

    Source: Wang, Table V (tab-5)
    """
    if step.operator not in GRAPH_SCORES:
        return step.scores
    count = len(step.scores)
    return min_max(step.scores) if np.ptp(step.scores) else np.full(count, 1 / count)


class IRCoT(Method):
    """Multi-step retrieval over any method that scores passages; no rule can write the thoughts.

    Source: Wang, Table V (tab-5)
    """

    name = "ircot"
    paper = "Wang, Table V (IRCoT)"
    index_components = ("Chunk",)
    primitive = "Question and thoughts"
    granularity = ("Chunk",)
    operators: ClassVar = {"chunk": ("MaxSim",)}
    needs_model = True
    over: ClassVar[str] = "colbert"

    def __init__(self, retriever: Method, max_steps: int = 2, top_k: int = 10) -> None:
        super().__init__(retriever.chunks, retriever.llm)
        self.retriever, self.max_steps, self.top_k = retriever, max_steps, top_k
        self.position = {chunk.id: i for i, chunk in enumerate(self.chunks)}

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        retriever: str | None = None, max_steps: Positive = 2, top_k: Positive = 10,
        **options: object,  # of the retriever
    ) -> Self:  # fmt: skip
        """The loop over a retriever built on the corpus.

        retriever: a method that scores passages, by name, such as "bm25", "dense" or "hipporag";
        by default Wang's ColBERT, and HippoRAG for `ircot-hipporag`. max_steps: retrievals in all,
        so at most one thought fewer (the authors use 2, for MuSiQue 4). top_k: passages a round.
        **options: of the retriever. Raises `MiniragError` for a name that is none of those.
        """
        from . import METHODS

        unscored = Method.score_many
        known = [name for name, method in METHODS.items() if method.score_many is not unscored]
        name = retriever or cls.over
        if name not in known:
            raise MiniragError(f"retriever={name!r}: expected one of {', '.join(known)}.")
        built = METHODS[name].build(corpus, llm=load_llm(llm), encoder=encoder, **options)
        return cls(built, max_steps, top_k)

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        return self.llm.each(lambda question: self._retrieve(question, k), questions)

    def _retrieve(self, question: str, k: int) -> Retrieval:
        query, trace = question, Trace()
        thoughts: list[str] = []
        while True:
            found = self.retriever.retrieve(query, self.top_k)
            scores = comparable(found.trace.last(ChunkStep))
            by_id = {id: float(scores[self.position[id]]) for id in found.ids}
            number = len(trace.all(RoundStep)) + 1
            searched = RoundStep("round", f"{number}: {query}", query=query, scores=by_id)
            trace = Trace([*trace, searched, *found.trace])
            merged = merge_rounds(step.scores for step in trace.all(RoundStep))
            if number == self.max_steps:
                break
            texts = [self._chunk(id).passage for id, _ in merged[: self.top_k]]
            query = self.llm("thought", question=question, passages=texts, thoughts=thoughts)
            thoughts.append(query)
            if DONE in query or not query:
                break
        best = tuple((self._chunk(id).label, score) for id, score in merged[:SHOWN])
        summary = "best score of each passage over the rounds"
        last = MergeStep("merge", summary, best, thoughts=tuple(thoughts))
        ranked = enumerate(merged[:k], start=1)
        passages = tuple(Passage(self._chunk(id), score, rank) for rank, (id, score) in ranked)
        return Retrieval(question, self.name, passages, Trace([*trace, last]))

    def _chunk(self, id: str) -> Chunk:
        return self.chunks[self.position[id]]


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
