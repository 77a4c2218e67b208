"""GraphRAG's two conditions without a graph; the released code has neither.

TS is map-reduce over all chunks, the costly comparison; SS is vector search into one window.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from ...algorithms.report_elements import prefix
from ...core.corpus import Chunk, Corpus
from ...core.encoder import Encoder
from ...core.options import choose, vary
from ...core.results import Passage, Retrieval
from ...core.trace import ChunkStep, ContextStep
from ...llm import LLM, load_llm
from ...operators import rank
from ...prompts import Task
from ...prompts.map_reduce import unit_block
from ...text.tokens import count_tokens
from ..base import Method, Sections
from ..baselines import DenseRetriever
from .global_search import map_reduce
from .map_reduce import prompt_tokens, shorten
from .released import MAP_REDUCE_CODE, MapReduceOptions

SETTINGS: Mapping[str, Mapping[str, object]] = {"paper": {}, "code": MAP_REDUCE_CODE}


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
    options_type: ClassVar[type[MapReduceOptions]] = MapReduceOptions
    settings = SETTINGS

    def __init__(
        self, chunks: Sequence[Chunk], llm: LLM, chosen: MapReduceOptions,
        executor: Executor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(chunks, llm)
        self.chosen, self.executor = chosen, executor

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str | None = None,
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Take the chunks as they are. executor: any `concurrent.futures.Executor`, for the map
        step.
        """
        chosen = choose(cls.options_type, cls.settings, follow, options)
        return cls(corpus.chunks, load_llm(llm), chosen, executor)

    def with_options(self, **options: object) -> Self:
        """The same chunks read in another way."""
        return type(self)(self.chunks, self.llm, vary(self.chosen, options), self.executor)

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        """The first k chunks: nothing is chosen, so all have the same score."""
        ranked = enumerate(self.chunks[:k], start=1)
        found = tuple(Passage(each, 1.0, place) for place, each in ranked)
        said = f"all {len(self.chunks)} chunks, whatever the question"
        step = ChunkStep("all chunks", said, scores=np.ones(len(self.chunks)))
        return [Retrieval(text, self.name, found).followed_by(step) for text in questions]

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """Map-reduce over every chunk, however small k is; the retrieval holds the chunks in the
        windows that the answer rests on.

        Source: GraphRAG, Sec. 2.6 (sec-2.6)
        """
        units = {each.id: each for each in self.chunks}
        texts = [(name, each.passage) for name, each in units.items()]
        reduced = map_reduce(
            self.llm, retrieval.question, texts, self.chosen, "texts", self.executor
        )
        best = reduced.best
        named = {name: score for name, score in best.items() if f"[{name}]" in reduced.text} or best
        ranked = enumerate(sorted(named.items(), key=lambda row: -row[1]), start=1)
        passages = tuple(Passage(units[name], score, place) for place, (name, score) in ranked)
        found = replace(retrieval, passages=passages).followed_by(*reduced.steps)
        return reduced.text, found


class SemanticSearch(DenseRetriever):
    """Naive RAG as GraphRAG compares with it: the nearest chunks fill the window.

    The prompt, `full_answer`, has the instructions of the last step of map-reduce. The options of
    the map step do nothing here.

    Source: GraphRAG, Sec. 3.3 (sec-3.3)
    """

    name = "graphrag-ss"
    paper = "GraphRAG, Sec. 3.3 (SS)"
    answer_task = "full_answer"
    options_type = MapReduceOptions
    settings = SETTINGS
    chosen: MapReduceOptions

    def with_options(self, **options: object) -> Self:
        """The same vectors, another window."""
        other = copy(self)
        other.chosen = vary(self.chosen, options)
        return other

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """As many chunks, the nearest first, as the window holds, however small k was.

        The first that does not fit ends it; a nearest chunk larger than the window is cut. The
        retrieval lists the chunks in the window.

        Source: GraphRAG, Sec. 3.3 (sec-3.3)
        """
        scores, limit = retrieval.trace.last(ChunkStep).scores, self.chosen.window
        order = rank(scores)
        texts = [unit_block((self.chunks[i].id, self.chunks[i].passage)) for i in order]
        sizes = [count_tokens(text + "\n\n", self.chosen.count) for text in texts]

        def size(texts: Sequence[str]) -> int:
            return self._tokens(retrieval.question, texts, reader)

        kept = texts[: prefix(sizes, limit, size([]))]
        kept = kept or [shorten(texts[0], lambda text: size([text]) <= limit)]
        while len(kept) > 1 and size(kept) > limit:
            kept.pop()
        kept = [text for text in kept if text]
        said = f"{len(kept)} of {len(texts)} chunks in a window of {limit} tokens"
        step = ContextStep("fill", said, sections={"chunks": len(kept)}, tokens=size(kept))
        found = enumerate(order[: len(kept)], start=1)
        passages = tuple(Passage(self.chunks[i], float(scores[i]), place) for place, i in found)
        return {"chunks": kept}, replace(retrieval, passages=passages).followed_by(step)

    def _tokens(self, question: str, texts: Sequence[str], reader: Task | None) -> int:
        if not self.chosen.whole_prompt:
            return count_tokens("\n\n".join(texts), self.chosen.count)
        fields = {"question": question, "passages": texts}
        return prompt_tokens(self.reader(reader), fields, self.chosen)
