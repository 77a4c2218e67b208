"""GraphRAG's two conditions without a graph; the released code has neither.

TS is map-reduce over all chunks, the costly comparison; SS is vector search into one window.
"""

from copy import copy
from dataclasses import replace

from ...algorithms.packing import prefix
from ...core.options import choose, vary
from ...core.results import Answer, Passage, Retrieval
from ...core.trace import Step
from ...llm import load_llm
from ...operators import rank
from ...prompts.map_reduce import unit_block
from ..base import Method
from ..baselines import DenseRetriever
from .map_reduce import CODE, MapReduceChoices, map_reduce, prompt_tokens, shorten


class TextSummaries(Method):
    """Every chunk of the corpus, mapped to partial answers and reduced to one; `retrieve` lists
    chunks in the order in which they are read.

    Source: GraphRAG, Sec. 3.3 (sec-3.3)
    """

    name = "graphrag-ts"
    paper = "GraphRAG, Sec. 3.3 (TS)"
    index_components = ()
    primitive = "none: every chunk is read"
    granularity = ("Chunk",)
    answer_task = "reduce_answer"

    @classmethod
    def build(cls, corpus, llm="offline", encoder=None, executor=None, follow="paper", **choices):
        """executor: any `concurrent.futures.Executor`, for the map step. follow, **choices: the
        fields of `MapReduceChoices`.
        """
        method = cls(corpus.chunks, load_llm(llm))
        method.choices, method.executor = (
            choose(MapReduceChoices, {"paper": {}, "code": CODE}, follow, choices),
            executor,
        )
        return method

    def with_options(self, **choices):
        """The same chunks read in another way."""
        copy = type(self)(self.chunks, self.llm)
        copy.choices, copy.executor = vary(self.choices, choices), self.executor
        return copy

    def retrieve_many(self, questions, k=5):
        """The first k chunks: nothing is chosen, so all have the same score."""
        found = tuple(
            Passage(chunk, 1.0, rank) for rank, chunk in enumerate(self.chunks[:k], start=1)
        )
        step = Step(
            "all chunks",
            f"all {len(self.chunks)} chunks, whatever the question",
            (),
            {"chunks": len(self.chunks)},
        )
        return [Retrieval(question, self.name, found, (step,)) for question in questions]

    def answer(self, question, k=5, task=None):
        """Map-reduce over every chunk, however small k is; the retrieval holds the chunks in the
        windows that the answer rests on.

        Source: GraphRAG, Sec. 2.6 (sec-2.6)
        """
        self.reader(task)  # refuses those that read passages
        before = self.llm.ledger.snapshot()
        chunk = {one.id: one for one in self.chunks}
        text, steps, kept = map_reduce(
            self.llm,
            question,
            [(one.id, one.passage) for one in self.chunks],
            self.choices,
            "texts",
            self.executor,
        )
        best = {}
        for _, score, window in kept:
            for name in window:
                best[name] = max(score, best.get(name, 0.0))
        named = {name: score for name, score in best.items() if f"[{name}]" in text} or best
        ranked = sorted(named.items(), key=lambda pair: -pair[1])
        passages = tuple(
            Passage(chunk[name], float(score), rank)
            for rank, (name, score) in enumerate(ranked, start=1)
        )
        spent = (self.llm.ledger - before).total
        trace = (self.retrieve(question, 0).trace[0], *steps)
        return Answer(
            text,
            self.llm.name,
            Retrieval(question, self.name, passages, trace),
            spent.prompt_tokens,
            spent.completion_tokens,
        )


class SemanticSearch(DenseRetriever):
    """Naive RAG as GraphRAG compares with it: the nearest chunks fill the window.

    The prompt, `full_answer`, has the instructions of the last step of map-reduce.

    Source: GraphRAG, Sec. 3.3 (sec-3.3)
    """

    name = "graphrag-ss"
    paper = "GraphRAG, Sec. 3.3 (SS)"
    answer_task = "full_answer"
    kind = (MapReduceChoices, CODE)

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", follow="paper", **choices):
        """follow, **choices: of `MapReduceChoices`; those of the map step do nothing here."""
        method = super().build(corpus, llm, encoder)
        method.choices = choose(cls.kind[0], {"paper": {}, "code": cls.kind[1]}, follow, choices)
        return method

    def with_options(self, **choices):
        """The same vectors, another window."""
        other = copy(self)
        other.choices = vary(self.choices, choices)
        return other

    def context(self, retrieval, task=None):
        """As many chunks, the nearest first, as the window holds, however small k was.

        The first that does not fit ends it; a nearest chunk larger than the window is cut. The
        retrieval lists the chunks in the window.

        Source: GraphRAG, Sec. 3.3 (sec-3.3)
        """
        c, scores = self.choices, retrieval.trace[-1].data["scores"]
        order = rank(scores)
        texts = [unit_block((self.chunks[i].id, self.chunks[i].passage)) for i in order]
        size = lambda some: self._tokens(retrieval.question, some, task)
        fit = prefix([c.tokens(text + "\n\n") for text in texts], c.window, size([]))
        kept = texts[:fit] or [shorten(texts[0], lambda text: size([text]) <= c.window)]
        while len(kept) > 1 and size(kept) > c.window:
            kept.pop()
        kept = [text for text in kept if text]
        said = f"{len(kept)} of {len(texts)} chunks in a window of {c.window} tokens"
        step = Step("fill", said, (), {"tokens": size(kept), "limit": c.window})
        found = enumerate(order[: len(kept)], start=1)
        passages = tuple(Passage(self.chunks[i], float(scores[i]), place) for place, i in found)
        return {"chunks": kept}, replace(
            retrieval, passages=passages, trace=(*retrieval.trace, step)
        )

    def _tokens(self, question, texts, task):
        if not self.choices.whole_prompt:
            return self.choices.tokens("\n\n".join(texts))
        fields = {"question": question, "passages": texts}
        return prompt_tokens(self.reader(task), fields, self.choices)
