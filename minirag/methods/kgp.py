"""KGP: passages found by TF-IDF, and from each of them, over a graph of passages, those that state
what a language model says is still missing.

Paper: Wang et al., Knowledge Graph Prompting (2023), which is not among the kit's five. This file
follows the survey's Sec. 4 and 5 (passage graph, TF-IDF matrix) and the official code, yuwvandy's
KG-LLM-MDQA, in the order of its retriever. What the code does otherwise is an option.

Known differences, not rebuilt: a fine-tuned T5 or LLaMA writes the evidence, here any language
model does; entities come from an extraction, not from a linking service; where k is smaller than
k_nei the code takes every passage as a seed; the paper walks on from the neighbours, the code and
this kit take one step. The code's TF-IDF graph, which reads the keywords of the first passage only,
and its retriever without a model are left out.
"""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np

from ..core.corpus import Corpus, Extraction
from ..core.graph import Edge, Graph, Node
from ..core.options import Count, Options, Positive, choose
from ..core.results import Retrieval
from ..core.trace import ChunkStep, NodeStep, PathStep, ScoredPath, Step
from ..encoders.token_encoders import load_any_encoder
from ..graphs import choose_extraction, passage_graph
from ..index.vectors import AnyEncoder, TextIndex, TfidfIndex, chunk_index
from ..llm import LLM, load_llm
from ..operators import chunk, node
from ..operators.ranking import Ties, count_of
from ..prompts import Task
from .base import Sections, StoredMethod
from .graph_agent import ChoiceStep, Considered, StopStep

DROPPED = "farther from the wanted evidence than the neighbours kept"


@dataclass(frozen=True)
class KGPOptions(Options):
    """The survey's paper gives no numbers: `k` and `k_nei` are its code's, `nearest` is this kit's.

    graph: passages are joined by shared "entities" (the survey), or each with those "nearest" to it
        by their vectors, which needs no extraction (an alternative in the code).
    nearest: how many passages each one is joined with then.
    threshold: two passages are joined when they share more than this many entities.
    titles: the title of a passage counts as an entity of it.
    k: how many pairs of a seed and a neighbour are found; there are k // k_nei seeds.
    k_nei: how many neighbours of a seed are kept.
    idf: words are weighed by how many passages hold them, of all ("corpus", the survey's TF-IDF
        matrix) or of the "candidates" that are ranked (code).
    ties: order of passages with equal scores, "ascending" or "descending" by position.
    """

    graph: Literal["entities", "nearest"] = "entities"
    nearest: Positive = 10
    threshold: Count = 0
    titles: bool = True
    k: Positive = 30
    k_nei: Positive = 3
    idf: Literal["corpus", "candidates"] = "corpus"
    ties: Ties = "ascending"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairStep(PathStep):
    """What KGP reads, in order: positions of a seed and its neighbour, or of a seed alone."""

    pairs: tuple[tuple[int, ...], ...]


class KGP(StoredMethod):
    """Seeds by TF-IDF; from each seed the neighbours nearest to the evidence that a language model
    asks for.

    Source: Survey, Table 3 (tab-3); Survey, Sec. 4 (graphs)
    """

    name = "kgp"
    paper = "Survey, Table 3 (KGP)"
    graph_type = "passage"
    index_components = ("Entity",)
    primitive = "Question"
    granularity = ("Chunk",)
    operators: ClassVar = {"node": ("TF-IDF",)}
    options_type = KGPOptions
    settings: ClassVar = {"paper": {}, "code": {"idf": "candidates", "ties": "descending"}}
    stored_type = Graph
    built_with = ("graph", "nearest", "threshold", "titles")
    chosen: KGPOptions

    def __init__(
        self, graph: Graph, llm: LLM, encoder: AnyEncoder | str, chosen: KGPOptions
    ) -> None:
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen = graph, chosen

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        extraction: Extraction | str | None = None, executor: Executor | None = None,
        follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Take or read entities, and join the passages that share some.

        encoder: only looked at for `graph="nearest"`. extraction: None lets `llm` read the text; a
        name picks one that came with the corpus; an `Extraction` is used as it is. follow: "paper"
        (the default) or "code".
        """
        chosen = choose(cls.options_type, cls.settings, follow, options)
        model = load_llm(llm)
        if chosen.graph == "nearest":
            return cls(nearest_graph(corpus, encoder, chosen.nearest), model, encoder, chosen)
        read = choose_extraction(corpus, extraction, model, executor)
        graph = passage_graph(corpus.chunks, read, chosen.threshold, chosen.titles)
        return cls(graph, model, encoder, chosen)

    @property
    def stored(self) -> Graph:
        return self.graph

    @property
    def ties(self) -> Ties:
        return self.chosen.ties

    @cached_property
    def index(self) -> TfidfIndex:
        """The TF-IDF matrix of the passages."""
        return TfidfIndex(self.labels, [each.passage for each in self.chunks])

    @cached_property
    def beside(self) -> dict[int, dict[int, int]]:
        """For each passage those beside it in the graph, and the edge to each."""
        found: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for place, edge in enumerate(self.graph.edges):
            found[edge.source].setdefault(edge.target, place)
            found[edge.target].setdefault(edge.source, place)
        return found

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        return self.llm.each(self.walk, questions)

    def walk(self, asked: str) -> Sequence[Step]:
        """The trace of one question."""
        options = self.chosen
        # Seeds: the passages nearest to the question.
        count = max(1, options.k // options.k_nei)
        seeds = node.tfidf([asked], self.index, count, ties=options.ties)[0]
        # For each seed the model writes the evidence that is to be found next.
        fields = [
            {"question": asked, "passage": self.chunks[seed.index].passage} for seed in seeds.nodes
        ]
        evidence = self.llm.map("next_evidence", fields)
        # The seed's neighbours are ranked against it.
        choices, pairs = list[ChoiceStep](), list[tuple[int, ...]]()
        for seed, wanted in zip(seeds.nodes, evidence):
            ranked = self.neighbours(seed.index, wanted or asked)
            best = [row.index for row in ranked.nodes[: options.k_nei]]
            pairs += [(seed.index, place) for place in best] or [(seed.index,)]
            choices.append(choice(seed.label, wanted, ranked, len(best)))
        reason = f"one step from {count_of(seeds.nodes, 'seed')} is all that KGP takes"
        stop = StopStep("stop", reason, reason=reason)
        return [seeds, *choices, self.pair_step(pairs), stop, self.scored(pairs)]

    def neighbours(self, seed: int, wanted: str) -> NodeStep:
        """The passages beside a seed in the graph, nearest to the wanted evidence first; one that
        says the same as the seed is left out.
        """
        text, options = self.chunks[seed].passage, self.chosen
        others = [place for place in self.beside[seed] if self.chunks[place].passage != text]
        refit = options.idf == "candidates"
        return node.tfidf([wanted], self.index, None, others, refit, options.ties)[0]

    def pair_step(self, pairs: Sequence[tuple[int, ...]]) -> "PairStep":
        """The pairs in the order of reading, as paths of the passage graph."""
        paths = tuple(
            ScoredPath(tuple(self.labels[place] for place in pair), 1 / rank)
            for rank, pair in enumerate(pairs, start=1)
        )
        edges = tuple(tuple((self.beside[pair[0]][at],) for at in pair[1:]) for pair in pairs)
        summary = f"{len(pairs)} contexts: a seed and a neighbour, or a seed alone"
        return PairStep("pairs", summary, paths=paths, edges=edges, pairs=tuple(pairs))

    def scored(self, pairs: Sequence[tuple[int, ...]]) -> ChunkStep:
        """Each passage scored by 1 / its place in the order of reading."""
        scores = np.zeros(len(self.chunks))
        order = dict.fromkeys(place for pair in pairs for place in pair)
        scores[list(order)] = 1 / np.arange(1, len(order) + 1)
        return chunk.scored_step("chunk order", "passages as they are read", self.labels, scores)

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """All pairs, a seed and then its neighbour, in one text each."""
        pairs = retrieval.trace.last(PairStep).pairs
        texts = ["\n".join(self.chunks[place].passage for place in pair) for pair in pairs]
        return {"passages": texts}, retrieval


def choice(seed: str, wanted: str, ranked: NodeStep, kept: int) -> ChoiceStep:
    """What stood beside a seed, and what was wanted there."""
    offered = tuple(
        Considered(row.label, row.score, DROPPED if place >= kept else "")
        for place, row in enumerate(ranked.nodes)
    )
    summary = f"wanted beside {seed}: {wanted or 'no reply, so the question'}"
    return ChoiceStep(
        "next evidence", summary, depth=1, kind="neighbours", topics=(seed,), offered=offered
    )


def nearest_graph(corpus: Corpus, encoder: AnyEncoder | str, k: int) -> Graph:
    """A node for each chunk, and an edge to each of the k that are nearest by their vectors."""
    used = load_any_encoder(encoder).fit([each.passage for each in corpus.chunks])
    found = nearest_places(chunk_index(corpus.chunks, used), [c.passage for c in corpus.chunks], k)
    pairs = {(min(i, far), max(i, far)) for i, row in enumerate(found) for far in row}
    edges = tuple(Edge(*pair, chunks=pair) for pair in sorted(pairs))
    nodes = tuple(Node(each.id, "chunk", chunks=(i,)) for i, each in enumerate(corpus.chunks))
    return Graph("passage", used.name, nodes, edges, corpus.chunks)


def nearest_places(index: TextIndex, texts: Sequence[str], k: int) -> list[list[int]]:
    """For each text of an index its k nearest others, best first."""
    places, _ = index.search(texts, min(k + 1, len(texts)), "passage")
    return [[far for far in row if far != i][:k] for i, row in enumerate(places.tolist())]
