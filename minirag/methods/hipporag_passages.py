"""HippoRAG's walk with passages as nodes: it starts at phrases and passages, and ends at passages.

A composition of this kit, not a paper's method. The idea is that of HippoRAG's successor (*From RAG
to Memory*, Gutiérrez et al., 2025): passages are nodes of the walk, and dense retrieval decides
where it starts. There a language model reads the triples and filters them for each question. Here
rules read the text unless a model is given, and nothing is filtered.

The defaults were chosen on MuSiQue's 100 questions (`minirag reproduce musique_train`), among some
thousand settings. The recalls on these questions are therefore optimistic.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Self

from ..algorithms.pagerank import Transitions, transition_matrix
from ..core.corpus import Corpus, Extraction
from ..core.graph import Graph
from ..core.options import Between, NotNegative, Options, choose
from ..core.trace import Step, Trace
from ..index import chunk_index, matrices
from ..index.vectors import AnyEncoder, TextIndex
from ..llm import LLM, load_llm
from ..operators import chunk, node, question
from .base import StoredMethod
from .hipporag import HippoOptions, HippoRAG, Known

OWN = "each passage gets the score of its own node"


@dataclass(frozen=True)
class PassageOptions(Options):
    """The walk's options. The phrase graph is the one that HippoRAG builds by default.

    passage_weight: of the edge between a passage and a phrase that was read from it, where an edge
        of one triple weighs 2, as in HippoRAG's `adjacency`.
    restart_probability: of jumping back to the query nodes and passages at a step of the walk.
    passage_share: how much of the walk starts at passages, for each 1 that starts at phrases; 0
        leaves the phrases alone.
    power: passages start the walk by their cosine, moved to [0, 1], to this power.
    specificity: weigh query nodes by 1 / number of passages.
    synonymy_threshold: the cosine above which two names are synonyms, τ.
    """

    passage_weight: NotNegative = 0.3
    restart_probability: Annotated[float, Between(0, 1, above=True, below=True)] = 0.2
    passage_share: NotNegative = 2
    power: NotNegative = 2
    specificity: bool = True
    synonymy_threshold: Annotated[float, Between(-1, 1)] = 0.8


class HippoRAGPassages(StoredMethod):
    """Personalised PageRank over phrases and passages, from both; passages are ranked by their own
    nodes. A composition of this kit after HippoRAG's successor.

    `phrases` is the HippoRAG that supplies phrase graph, synonyms and links.

    Source: Wang, Sec. IV-B (hippo-ppr); Survey, App. B.1 (op-new)
    """

    name = "hipporag-passages"
    paper = "a composition of this kit, after From RAG to Memory (2025)"
    graph_type = "knowledge and passage"
    index_components = ("Entity", "Chunk")
    primitive = "Entities in question; Question vector"
    granularity = ("Chunk",)
    operators: ClassVar = {"node": ("Link", "PPR"), "chunk": ("VDB", "Aggregator")}
    options_type = PassageOptions
    stored_type = Graph
    decided_by: ClassVar = {
        "phrases": ("specificity", "synonymy_threshold"),
        "transition": ("passage_weight", "synonymy_threshold"),
    }  # fmt: skip
    chosen: PassageOptions

    def __init__(
        self, graph: Graph, llm: LLM, encoder: AnyEncoder | str, chosen: PassageOptions,
        question_entities: Known | None = None,
    ) -> None:  # fmt: skip
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen = graph, chosen
        self.hippo = HippoRAG(graph, llm, encoder, HippoOptions(), question_entities)

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        extraction: Extraction | str | None = None, executor: Executor | None = None,
        question_entities: Known | None = None, follow: str | None = None,
        **options: object,  # the fields of `PassageOptions`
    ) -> Self:  # fmt: skip
        """Read triples and build the phrase graph, as `HippoRAG.build` does; encode the passages.

        extraction, question_entities: as in `HippoRAG.build`.
        """
        chosen = choose(PassageOptions, cls.settings, follow, options)
        hippo = HippoRAG.build(corpus, llm, encoder, extraction, executor, question_entities)
        method = cls(hippo.graph, hippo.llm, hippo.encoder, chosen, question_entities)
        _ = method.chunk_index
        return method

    @classmethod
    def from_graph(
        cls, graph: Graph, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        question_entities: Known | None = None, follow: str | None = None,
        **options: object,  # the fields of `PassageOptions`
    ) -> Self:  # fmt: skip
        """The walk over a graph that exists already. The other arguments are those of `build`."""
        chosen = choose(PassageOptions, cls.settings, follow, options)
        return cls(graph, load_llm(llm), encoder, chosen, question_entities)

    @cached_property
    def phrases(self) -> HippoRAG:
        """The phrase graph with its synonymy edges and specificities."""
        options = self.chosen
        return self.hippo.with_options(
            specificity=options.specificity, synonymy_threshold=options.synonymy_threshold
        )

    @cached_property
    def chunk_index(self) -> TextIndex:
        """Every passage, encoded."""
        return chunk_index(self.chunks, self.hippo.encoder)

    @cached_property
    def hippocampal_index(self) -> Graph:
        """The phrase graph with synonymy edges, for figures; without the passages."""
        return self.phrases.hippocampal_index

    @cached_property
    def transition(self) -> Transitions:
        """What the walk goes by: phrases first, then passages, (nodes + passages,) each way."""
        adjacency, weight = self.phrases.adjacency, self.chosen.passage_weight
        return transition_matrix(matrices.with_passages(adjacency, self.graph, weight))

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """Query entities, query nodes, dense scores, personalised PageRank, passages: the trace of
        each question.
        """
        options, names = self.chosen, self.phrases.node_index.labels
        # Where the walk starts among phrases: each linked node by specificity times cosine.
        entities = question.entities(questions, self.llm, self.hippo.question_entities)
        query_nodes = node.link([step.entities for step in entities], self.phrases.node_index)
        weights = self.phrases.specificity
        at_phrases = node.reset_vectors(query_nodes, len(names), weights, per="score")
        # Where it starts among passages: those that dense retrieval finds.
        dense = chunk.vdb(questions, self.chunk_index)
        starts = node.restarts(at_phrases, dense, options.passage_share, options.power)
        # The walk over both, and the passages by what arrives at their own nodes.
        nodes, follow = [*names, *self.labels], 1 - options.restart_probability
        walked = node.ppr(self.transition, starts, nodes, follow)
        passages = chunk.aggregator(walked, matrices.own_nodes(self.graph), self.labels, OWN)
        return [Trace(found) for found in zip(entities, query_nodes, dense, walked, passages)]

    @property
    def stored(self) -> Graph:
        return self.graph

    def extras(self) -> dict[str, object]:
        return self.hippo.extras()
