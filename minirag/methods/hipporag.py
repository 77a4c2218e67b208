"""HippoRAG: passages found by a walk over an open knowledge graph.

Paper: Wang, Graph RAG, Sec. IV-B, which this file follows; quoted comments are the paper's words.
Online retrieval is `score_many`. Offline indexing has five steps; the last four are properties,
each computed when it is first needed:

    1. `build`                                         noun phrase nodes N, relation edges E
    2. `node_index`                                    M(e_j), the nodes as the encoder M has them
    3. `hippocampal_index`, `adjacency`, `transition`  synonymy edges E', and what PPR walks over
    4. `passage_matrix`                                P, which phrase appears where how often
    5. `specificity`                                   s_i, node specificity

Official code: OSU-NLP-Group/HippoRAG, tag v1.0.0; what it or an ablation does otherwise is an
option, and stands in `hipporag_code`.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from scipy import sparse

from ..algorithms.pagerank import Transitions, transition_matrix
from ..core.corpus import Corpus, Extraction
from ..core.graph import Graph
from ..core.options import Between, choose
from ..core.trace import Step, Trace, Vector
from ..encoders.token_encoders import load_any_encoder
from ..graphs import choose_extraction, knowledge_graph, with_synonymy
from ..index import matrices, vectors
from ..index.vectors import AnyEncoder, TextIndex
from ..llm import LLM, load_llm
from ..operators import chunk, node, question
from ..operators.ranking import Ties
from . import hipporag_code as code
from .base import StoredMethod

Known = Mapping[str, Sequence[str]]  # a question's text -> the entities that it names
# The options that decide the synonymy edges, and the weights of all edges.
SYNONYMS = ("node_text", "synonymy_threshold", "strict", "min_letters", "max_neighbours")
WEIGHTS = (*SYNONYMS, "synonymy")


@dataclass(frozen=True)
class HippoOptions(code.HippoCodeOptions):
    """The paper's parameters. Where Wang gives no number, the original HippoRAG paper's is the
    default.

    restart_probability: of jumping back to the query nodes at a step of the walk.
    synonymy_threshold: the cosine above which two names are synonyms, τ.
    specificity: weigh query nodes by 1 / number of passages; False is an ablation of the original
        HippoRAG paper (Gutiérrez et al., 2024).
    no_entities: what Wang leaves open: a question without entities falls back to "dense" retrieval,
        or to "uniform" scores, as in the released code.
    """

    restart_probability: Annotated[float, Between(0, 1, above=True, below=True)] = 0.5
    synonymy_threshold: Annotated[float, Between(-1, 1)] = 0.8
    specificity: bool = True
    no_entities: Literal["dense", "uniform"] = "dense"

    @property
    def follow_probability(self) -> float:
        """The probability of following an edge, which `personalized_pagerank` calls damping."""
        number = self.restart_probability
        return number if self.restart_read_as == "follow" else 1 - number


class HippoRAG(StoredMethod):
    """Single-step retrieval by personalised PageRank from the question's entities.

    `graph` holds the relations of the text, `hippocampal_index` synonymy edges too;
    `with_options(...)` is a cheap copy with other options. `operators` are the survey's row; by
    default passages are scored by nodes, without relations in between, as Wang does.

    Source: Wang, Sec. IV-B (hippo-ppr); Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """

    name = "hipporag"
    paper = "Wang, Sec. IV-B"
    graph_type = "knowledge"
    index_components = ("Entity",)
    primitive = "Entities in question"
    granularity = ("Chunk",)
    operators: ClassVar = {
        "node": ("Link", "PPR"), "relationship": ("Aggregator",), "chunk": ("Aggregator",),
    }  # fmt: skip
    options_type = HippoOptions
    settings: ClassVar = {"paper": {}, "code": code.CODE}
    stored_type = Graph
    built_with = ("script", "empty_names")
    decided_by: ClassVar = {
        "node_index": ("node_text",), "hippocampal_index": SYNONYMS, "adjacency": WEIGHTS,
        "transition": WEIGHTS, "passage_matrix": ("passage_matrix",),
        "specificity": ("specificity",),
    }  # fmt: skip
    chosen: HippoOptions

    def __init__(
        self, graph: Graph, llm: LLM, encoder: AnyEncoder | str, chosen: HippoOptions,
        question_entities: Known | None = None,
    ) -> None:  # fmt: skip
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen = graph, chosen
        self.encoder = load_any_encoder(encoder).fit([chunk.passage for chunk in graph.chunks])
        self.question_entities = dict(question_entities or {})

    def __repr__(self) -> str:
        made = f"encoder {self.encoder.name}; answers by {self.llm.name}"
        return f"HippoRAG over a {self.graph!r}; {made}"

    # Offline indexing.

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        extraction: Extraction | str | None = None, executor: Executor | None = None,
        question_entities: Known | None = None, follow: str | None = None,
        **options: object,  # the fields of `HippoOptions`
    ) -> Self:  # fmt: skip
        """Read triples, build the graph, encode its nodes.

        encoder: one vector per text, or one per token, as HippoRAG (ColBERTv2) in Wang, Table IV
        has it: "colbertv2", "tokens:minilm" and whatever else
        `minirag.encoders.token_encoders.load_any_encoder` takes. With one per token, links,
        synonyms and dense retrieval are scored by normalised MaxSim.
        extraction: None lets `llm` read the text; a name picks one that came with the corpus; an
        `Extraction` is used as it is.
        question_entities: entities already known for a question's text, so that nobody is asked for
        them.
        follow: "paper" (the default) or "code".
        """
        chosen = choose(HippoOptions, cls.settings, follow, options)
        model, loaded = load_llm(llm), load_any_encoder(encoder)
        # 1. "We first extract a set of named entities from each passage", "then add the named
        # entities to the OpenIE prompt to extract the final triples": noun phrase nodes N, relation
        # edges E.
        read = choose_extraction(corpus, extraction, model, executor)
        graph = knowledge_graph(corpus.chunks, read, chosen.script, chosen.empty_names)
        method = cls(graph, model, loaded, chosen, question_entities)
        _ = method.node_index  # encoded now, so that a missing encoder fails here
        return method

    @cached_property
    def node_index(self) -> TextIndex:
        """2. M(e_j): every noun phrase, encoded by the retrieval encoder M."""
        return vectors.node_index(self.graph, self.encoder, self.chosen.node_text)

    @cached_property
    def hippocampal_index(self) -> Graph:
        """3. The graph with "the extra set of synonymy relations E'", between names whose cosine
        "is above a threshold" τ.
        """
        options, names = self.chosen, self.node_index.vectors
        return with_synonymy(
            self.graph, names, threshold=options.synonymy_threshold, strict=options.strict,
            min_letters=options.min_letters, max_neighbours=options.max_neighbours,
        )  # fmt: skip

    @cached_property
    def adjacency(self) -> sparse.csr_matrix:
        """3. The |E| + |E'| edges, (nodes, nodes). Wang gives no weights; an edge has its number of
        triples, plus the cosine.
        """
        return matrices.adjacency_matrix(self.hippocampal_index, self.chosen.synonymy)

    @cached_property
    def transition(self) -> Transitions:
        """3. The probabilities of following them, out of each node: what PPR walks by."""
        return transition_matrix(self.adjacency)

    @cached_property
    def passage_matrix(self) -> sparse.csr_matrix:
        """4. P, kept as (passages, nodes): "the number of times each noun phrase in the KG appears
        in each original passage".
        """
        return matrices.passage_matrix(self.graph, self.chosen.passage_matrix, self.chosen.script)

    @cached_property
    def specificity(self) -> Vector | None:
        """5. s_i = 1 / |P_i|, (nodes,); P_i: the passages "from which node i was extracted"."""
        return matrices.node_specificity(self.graph) if self.chosen.specificity else None

    # Online retrieval.

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """Query entities, query nodes, personalised PageRank, passages: the trace of each question.

        n and n' are (nodes, questions), p is (passages, questions).
        """
        options, names = self.chosen, self.node_index.labels
        # C_q = {c_1, ..., c_n}: "a set of salient named entities from a query".
        entities = question.entities(questions, self.llm, self.question_entities, options.script)
        # R_q = {r_1, ..., r_n}, the query nodes: r_i = e_k, k = argmax_j cosine(M(c_i), M(e_j)).
        query_nodes = node.link([step.entities for step in entities], self.node_index)
        # n: "each query node has equal probability and all other nodes have a probability of zero".
        # Node specificity: "multiplying each query node probability with s_i before PPR". Here n
        # holds 1 or s_i; PPR divides by the sum.
        n = node.reset_vectors(query_nodes, len(names), self.specificity, options.reset)
        # n' = PPR(n), over the hippocampal index with its |N| nodes and |E| + |E'| edges.
        if options.propagation == "ppr":
            n_prime = node.ppr(self.transition, n, names, options.follow_probability)
        else:  # an ablation in its place
            share = options.neighbour_share
            n_prime = code.spread_to_neighbours(self.adjacency, n, names, options.hops, per=share)
        steps: list[Sequence[Step]] = [entities, query_nodes, n_prime]
        # p = n' P, "a ranking score for each passage"; with P as (passages, nodes), p = P n'.
        if options.passage_matrix != "facts":
            summary = code.SUMMARY[options.passage_matrix]
            steps.append(chunk.aggregator(n_prime, self.passage_matrix, self.labels, summary))
        else:  # the survey's composition and the released code score relations first
            steps += code.scores_by_facts(n_prime, self.facts, self.labels)
        # Wang leaves open what a question without entities retrieves: here, what is dense nearest.
        # The ensemble, an option, averages walk and dense retrieval where a link is uncertain.
        return code.with_dense(self, questions, [Trace(found) for found in zip(*steps)])

    # What Wang does not have: the way over relations, and dense retrieval.

    @cached_property
    def facts(self) -> code.Facts:
        return code.Facts.of(self.graph)

    @cached_property
    def chunk_index(self) -> TextIndex:
        """Every passage, encoded."""
        return vectors.chunk_index(self.chunks, self.encoder)

    # Over a graph that exists already; what is kept in a folder.

    @classmethod
    def from_graph(
        cls, graph: Graph, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
        question_entities: Known | None = None, follow: str | None = None,
        **options: object,  # the fields of `HippoOptions`
    ) -> Self:  # fmt: skip
        """HippoRAG over a graph that exists already, such as a rich knowledge graph: the walk then
        follows the edges' weights.

        The other arguments are those of `build`. `node_text` decides whether entities are linked to
        names or to descriptions; `script`, only how a question's entities are written.

        Source: Survey, App. B.3 (sec-B.3)
        """
        chosen = choose(HippoOptions, cls.settings, follow, options)
        return cls(graph, load_llm(llm), encoder, chosen, question_entities)

    @property
    def ties(self) -> Ties:
        return self.chosen.ties

    @property
    def stored(self) -> Graph:
        return self.graph

    def extras(self) -> dict[str, object]:
        return {"question_entities": self.question_entities}
