"""TS: the same map-reduce over the source chunks themselves, with no graph and no index. GraphRAG's costly comparison."""

from ..choices import choose, vary
from ..llm import load_llm
from ..results import Answer, Passage, Retrieval, Step
from .base import Method
from .map_reduce import CODE, MapReduceChoices, map_reduce


class TextSummaries(Method):
    """Every chunk of the corpus, mapped to partial answers and reduced to one; `retrieve` lists chunks in the order in which they are read.

    Source: GraphRAG, Sec. 3.3 (sec-3.3)
    """

    name = "graphrag-ts"
    paper = "GraphRAG, Sec. 3.3 (TS)"
    index_components = ()
    primitive = "none: every chunk is read"
    granularity = ("Chunk",)

    @classmethod
    def build(cls, corpus, llm="offline", encoder=None, executor=None, follow="paper", **choices):
        """executor: any `concurrent.futures.Executor`, for the map step. follow, **choices: the fields of `MapReduceChoices`."""
        method = cls(corpus.chunks, load_llm(llm))
        method.choices, method.executor = choose(MapReduceChoices, CODE, follow, **choices), executor
        return method

    def with_options(self, **choices):
        """The same chunks read in another way."""
        copy = type(self)(self.chunks, self.llm)
        copy.choices, copy.executor = vary(self.choices, **choices), self.executor
        return copy

    def retrieve_many(self, questions, k=5):
        """The first k chunks: nothing is chosen, so all have the same score."""
        found = tuple(Passage(chunk, 1.0, rank) for rank, chunk in enumerate(self.chunks[:k], start=1))
        step = Step("all chunks", f"all {len(self.chunks)} chunks, whatever the question", (), {"chunks": len(self.chunks)})
        return [Retrieval(question, self.name, found, (step,)) for question in questions]

    def answer(self, question, k=5):
        """Map-reduce over every chunk, however small k is; the retrieval holds the chunks in the windows that the answer rests on.

        Source: GraphRAG, Sec. 2.6 (sec-2.6)
        """
        before = self.llm.ledger.snapshot()
        chunk = {one.id: one for one in self.chunks}
        text, steps, kept = map_reduce(self.llm, question, [(one.id, one.passage) for one in self.chunks], self.choices, "texts", self.executor)
        best = {}
        for _, score, window in kept:
            for name in window:
                best[name] = max(score, best.get(name, 0.0))
        named = {name: score for name, score in best.items() if f"[{name}]" in text} or best
        ranked = sorted(named.items(), key=lambda pair: -pair[1])
        passages = tuple(Passage(chunk[name], float(score), rank) for rank, (name, score) in enumerate(ranked, start=1))
        spent = (self.llm.ledger - before).total
        trace = (self.retrieve(question, 0).trace[0], *steps)
        return Answer(text, self.llm.name, Retrieval(question, self.name, passages, trace), spent.prompt_tokens, spent.completion_tokens)
