"""What every graph has to beat: passages ranked by words (BM25), by one vector each (dense, or its
propositions'), and by one vector for each token (ColBERT).
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from ..algorithms.bm25 import BM25, tokenize
from ..algorithms.late_interaction import best_matches, maxsim_corpus, pad
from ..core.corpus import Chunk, Corpus
from ..core.encoder import Encoder, TokenEncoder
from ..core.options import NotNegative, Options, Probability, choose
from ..core.trace import Step, Vector
from ..encoders.text_encoders import load_encoder
from ..encoders.token_encoders import load_token_encoder
from ..index import VectorIndex, chunk_index
from ..index.vectors import AnyEncoder
from ..llm import LLM, load_llm
from ..operators import chunk, question
from ..operators.ranking import top_items
from .base import Method


@dataclass(frozen=True)
class NoOptions(Options):
    """Of a method that offers none."""


class PassageMethod(Method):
    """A method without a graph, built over the passages alone.

    Subclasses write `index`, what is searched: it is made when the method is built.
    """

    options_type: ClassVar[type[Options]] = NoOptions
    chosen: Options

    def __init__(
        self, chunks: Sequence[Chunk], llm: LLM, encoder: AnyEncoder | str = "minilm",
        chosen: Options | None = None,
    ) -> None:  # fmt: skip
        super().__init__(chunks, llm)
        self.asked_encoder, self.chosen = encoder, chosen or self.options_type()
        self.passages = [chunk.passage for chunk in chunks]

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Index the passages. encoder: not looked at by a method that needs none."""
        chosen = choose(cls.options_type, cls.settings, follow, options)
        method = cls(corpus.chunks, load_llm(llm), encoder, chosen)
        _ = method.index
        return method

    @cached_property
    def index(self) -> object:
        """Nothing, where nothing is searched."""
        return None


@dataclass(frozen=True)
class BM25Options(Options):
    """The numbers of Okapi BM25, as rank-bm25 has them.

    k1: how soon the repetition of a word stops counting. b: how far long passages are held back.
    epsilon: weight of words that most passages hold, as a share of the average weight.
    """

    k1: NotNegative = 1.5
    b: Probability = 0.75
    epsilon: NotNegative = 0.25


class BM25Retriever(PassageMethod):
    """Passages ranked by Okapi BM25 over lower-cased words of title and text; no graph, no encoder,
    no model.

    Source: Wang, Table IV (tab-4)
    """

    name = "bm25"
    paper = "Robertson and Walker (baseline of Wang, Table IV)"
    primitive = "Question words"
    granularity = ("Chunk",)
    options_type = BM25Options
    chosen: BM25Options

    @cached_property
    def index(self) -> BM25:
        options = self.chosen
        return BM25(map(tokenize, self.passages), options.k1, options.b, options.epsilon)

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        summary = "words shared with the question, rare ones count more"
        found = [self.index.scores(tokenize(question)) for question in questions]
        return [(chunk.scored_step("bm25", summary, self.labels, scores),) for scores in found]


class DenseRetriever(PassageMethod):
    """Every passage on its own, ranked by the cosine of its vector with the question's.

    Source: Survey, App. B.1 (op-new); Wang, Table IV (tab-4)
    """

    name = "dense"
    paper = "naive RAG (baseline of Wang, Table IV)"
    index_components = ("Chunk",)
    primitive = "Question vector"
    granularity = ("Chunk",)
    operators: ClassVar = {"chunk": ("VDB",)}

    @cached_property
    def encoder(self) -> Encoder:
        return load_encoder(cast("Encoder | str", self.asked_encoder)).fit(self.passages)

    @cached_property
    def index(self) -> VectorIndex:
        """A vector for every passage."""
        return cast("VectorIndex", chunk_index(self.chunks, self.encoder))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        asked = question.vector(questions, self.encoder)
        return [(step,) for step in chunk.vdb(asked, self.index)]


class VanillaRAG(DenseRetriever):
    """Naive RAG: dense retrieval and an answer, under the name and in the row that the papers give
    it; `dense` is the same retrieval as a retriever's baseline.

    Source: Survey, Table 5 (tab-5); Wang, Table II (tab-2)
    """

    name = "vanilla"
    paper = "Survey, Table 5 (VanillaRAG); Wang, Table II (Vanilla RAG)"


def best_per_passage(scores: Vector, owners: Sequence[int], count: int) -> Vector:
    """A passage's score is that of its best proposition: (count,). scores: (propositions,); owners:
    the passage of each; -1 for a passage without any.

    A passage has one score however many of its propositions match, so the best k are k different
    passages.

    Source: Wang, Table IV (tab-4)
    """
    best = np.full(count, -1.0, dtype=np.asarray(scores).dtype if len(scores) else float)
    np.maximum.at(best, np.asarray(owners, dtype=int), scores)
    return best


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PropositionStep(Step):
    """A score for every proposition, (propositions,)."""

    scores: Vector


class PropositionRetriever(Method):
    """Passages ranked by their proposition most similar to the question: search among single
    statements, return the passages they came from.

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
    operators: ClassVar = {"chunk": ("VDB",)}

    def __init__(
        self, chunks: Sequence[Chunk], llm: LLM, index: VectorIndex, owners: Sequence[int]
    ) -> None:
        super().__init__(chunks, llm)
        self.index, self.owners = index, owners

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        executor: Executor | None = None,
    ) -> Self:  # fmt: skip
        """Ask for the propositions of every passage and encode them."""
        chunks, model = corpus.chunks, load_llm(llm)
        fields = [{"title": chunk.title, "text": chunk.text} for chunk in chunks]
        found = model.map("propositions", fields, executor=executor, description="propositions")
        owned = [texts or (chunk.passage,) for chunk, texts in zip(chunks, found)]
        owners = [owner for owner, texts in enumerate(owned) for _ in texts]
        texts = [text for texts in owned for text in texts]
        loaded = load_encoder(encoder).fit([chunk.passage for chunk in chunks])
        index = VectorIndex(tuple(texts), loaded.encode(texts), loaded)
        return cls(chunks, model, index, owners)

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        traces: list[Sequence[Step]] = []
        near = "cosine of question and proposition"
        summary = "a passage counts as much as its best proposition"
        for scores in self.index.similarities(question.vector(questions, self.index.encoder)):
            items = top_items(self.index.labels, scores)
            best = best_per_passage(scores, self.owners, len(self.chunks))
            found = PropositionStep("proposition vdb", near, items, scores=scores)
            traces.append(
                (found, chunk.scored_step("best proposition", summary, self.labels, best))
            )
        return traces


class TokenArrays(NamedTuple):
    """Token vectors of all passages, (passages, tokens, d), and which of them are real."""

    vectors: NDArray[np.floating]
    mask: NDArray[np.bool_]


class ColBERT(PassageMethod):
    """Passages ranked by MaxSim over token vectors (late interaction: every token of the question
    looks for its best token in the passage), compared with all passages, without the compression of
    ColBERTv2's index.

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
    operators: ClassVar = {"chunk": ("MaxSim",)}
    vectors_are_kept = False  # one for each token: hundreds of times the room of one for each text

    @cached_property
    def encoder(self) -> TokenEncoder:
        return load_token_encoder(self.asked_encoder).fit(self.passages)

    @cached_property
    def documents(self) -> list[NDArray[np.float32]]:
        """The token vectors of each passage, (tokens, d)."""
        return self.encoder.encode(self.passages)

    @cached_property
    def index(self) -> TokenArrays:
        return TokenArrays(*pad(self.documents))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        asked = self.encoder.encode(questions, kind="query")
        found = [maxsim_corpus(tokens, *self.index) for tokens in asked]
        summary = "sum over question tokens of the best cosine with a passage token"
        return [(chunk.scored_step("maxsim", summary, self.labels, scores),) for scores in found]

    def matches(self, question: str, chunk_id: str) -> list[tuple[str, str, float]]:
        """[(question token, passage token, cosine)]: which token of a passage answered which of the
        question.
        """
        place = [chunk.id for chunk in self.chunks].index(chunk_id)
        query = self.encoder.encode([question], kind="query")[0]
        asked = self.encoder.tokens(question, kind="query")
        found = self.encoder.tokens(self.chunks[place].passage)
        positions, cosines = best_matches(query, self.documents[place])
        return [
            (token, found[at], float(cosine))
            for token, at, cosine in zip(asked, positions, cosines)
        ]
