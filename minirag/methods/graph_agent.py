"""What ToG, ToG-2, DALK and CoK share: a language model that steers a walk over a knowledge graph.

The walk starts at the nodes that the question's entities are linked to, its *topic entities*. An
agent chooses among `Relation`s: all edges of one name at one node, in one direction. Whatever the
model replies, a walk ends: after a bounded number of calls, with what it has found so far, and with
a `StopStep` that says why.
"""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

from ..core.corpus import Corpus, Extraction
from ..core.graph import Graph
from ..core.options import Options, choose
from ..core.results import Retrieval
from ..core.trace import EdgeStep, PathStep, ScoredEdge, Step, Trace
from ..encoders.token_encoders import load_any_encoder
from ..graphs import choose_extraction, knowledge_graph, normalise_phrase
from ..index import vectors
from ..index.vectors import AnyEncoder, TextIndex
from ..llm import LLM, load_llm
from ..operators import chunk, node, question
from ..operators.agent import ChoiceStep, Considered, Relation, triple_text
from ..operators.relationship import relations_at
from ..prompts import Task
from .base import Sections, StoredMethod

__all__ = [
    "ChoiceStep", "Considered", "GraphAgent", "Relation", "StopStep", "pages_of", "relations_at",
    "triple_text",
]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StopStep(Step):
    """Why a walk ended. sufficient: the agent said that it can answer."""

    reason: str
    sufficient: bool = False


def pages_of(graph: Graph) -> list[tuple[int, ...]]:
    """For every node the positions of its chunks: those that have its name as title, else those
    that mention it.
    """
    titled = defaultdict[str, list[int]](list)
    for place, each in enumerate(graph.chunks):
        titled[normalise_phrase(each.title)].append(place)
    named = [titled.get(normalise_phrase(node.name)) or node.chunks for node in graph.nodes]
    return [tuple(sorted(set(places))) for places in named]


NO_TOPICS = "the question names no entity; its passages are those of dense retrieval"


class GraphAgent(StoredMethod):
    """A walk over a knowledge graph that a language model, or the offline rule, steers.

    A subclass writes `walk(question)`, whose trace ends in a `PathStep` (where paths were found), a
    `StopStep` and a `ChunkStep`. A question without topic entities falls back to dense retrieval,
    and its `StopStep` says so.
    """

    graph_type = "knowledge"
    granularity: ClassVar[tuple[str, ...]] = ("Subgraph",)
    stored_type = Graph
    reads_pages: ClassVar[bool] = True  # whether the answer is given passages beside paths
    chosen: Options

    def __init__(self, graph: Graph, llm: LLM, encoder: AnyEncoder | str, chosen: Options) -> None:
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen = graph, chosen
        self.encoder = load_any_encoder(encoder).fit([each.passage for each in graph.chunks])

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        extraction: Extraction | str | None = None, executor: Executor | None = None,
        follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Take or read triples, build the graph, encode its nodes.

        extraction: None lets `llm` read the text; a name picks one that came with the corpus, such
        as the curated "triples" of `mini_wiki`; an `Extraction` is used as it is.
        follow: "paper" (the default) or "code".
        """
        chosen = choose(cls.options_type, cls.settings, follow, options)
        model = load_llm(llm)
        read = choose_extraction(corpus, extraction, model, executor)
        method = cls(knowledge_graph(corpus.chunks, read, "as written"), model, encoder, chosen)
        _ = method.node_index  # encoded now, so that a missing encoder fails here
        return method

    @property
    def stored(self) -> Graph:
        return self.graph

    @cached_property
    def node_index(self) -> TextIndex:
        """Every node's name, encoded."""
        return vectors.node_index(self.graph, self.encoder, "name")

    @cached_property
    def chunk_index(self) -> TextIndex:
        """Every passage, encoded."""
        return vectors.chunk_index(self.chunks, self.encoder)

    @cached_property
    def relations(self) -> list[list[Relation]]:
        """For each node what an agent may follow from it."""
        return relations_at(self.graph)

    @cached_property
    def pages(self) -> list[tuple[int, ...]]:
        """For each node the positions of its passages."""
        return pages_of(self.graph)

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        """As every method; a passage that nothing led to is left out."""
        return [
            replace(found, passages=tuple(each for each in found if each.score > 0))
            for found in super().retrieve_many(questions, k)
        ]

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        return self.llm.each(self.walk, questions)

    def walk(self, asked: str) -> Sequence[Step]:
        """The trace of one question."""
        raise TypeError(f"{type(self).__name__} must write its own walk().")

    def topic_entities(self, asked: str) -> Trace:
        """The question's entities, and the node that each is linked to, every node once.

        Source: Wang, Sec. IV-A (tog2-init); Survey, Sec. 6.1 (op-node)
        """
        named = question.entities([asked], self.llm, script="as written")
        return Trace([*named, *node.link([step.entities for step in named], self.node_index)])

    def without_evidence(self, asked: str, reason: str, said: str = "") -> list[Step]:
        """The end of a walk that found nothing: the reason, as `said`, and dense retrieval."""
        stop = StopStep("stop", said or reason, reason=reason)
        return [stop, *chunk.vdb([asked], self.chunk_index)]

    def chunks_of_paths(self, paths: PathStep) -> list[Step]:
        """The passages that the paths' triples were read from."""
        scored: dict[int, float] = {}
        for path, edges in zip(paths.paths, paths.edges):
            for edge in {each for step in edges for each in step}:
                scored[edge] = max(path.score, scored.get(edge, 0.0))
        rows = [ScoredEdge(triple_text(self.graph, e), e, score) for e, score in scored.items()]
        chosen = EdgeStep("paths' triples", f"{len(rows)} triples", edges=tuple(rows))
        return list(chunk.from_relationships([chosen], self.graph, self.labels))

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The triples of the paths that were kept, then the passages where the method reads any."""
        found = retrieval.trace.all(PathStep)
        edges = [edge for step in found[-1:] for path in step.edges for at in path for edge in at]
        triples = [triple_text(self.graph, edge) for edge in dict.fromkeys(edges)]
        texts = {"triples": triples}
        if self.reads_pages or not triples:
            texts["passages"] = [passage.chunk.passage for passage in retrieval.passages]
        return texts, retrieval
