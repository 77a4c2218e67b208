"""G-Retriever: one connected subgraph that collects what is similar to the question, and a trained
model that answers from it.

Its paper is not among this kit's papers: the defaults are the survey's composition with the numbers
of the released code for WebQSP, so that `follow="code"` changes nothing. Known difference, not
reproduced: in the survey's code edges never get a prize. Node prizes k, k - 1, ..., 1, edge prizes
and the tree are computed in `algorithms.retriever_prizes`, which `operators.subgraph.steiner`
calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from ..algorithms.descriptions import describe, flat_text
from ..core.options import Count, NotNegative
from ..core.results import Retrieval
from ..core.trace import SteinerStep, Step, SubgraphStep, VectorStep
from ..index import EgoIndex, VectorIndex
from ..neural import Distance, HardPrompt
from ..operators import node, question, relationship, subgraph
from ..prompts import Task
from .graph_prompted import GraphPrompted, Piece, PromptOptions


@dataclass(frozen=True)
class RetrieverOptions(PromptOptions):
    """Everything about G-Retriever that can be chosen: it prunes nothing and reads flat tables.

    k, k_e: how many ranks of nodes and of edges get a prize (`retrieve_subgraph`).
    edge_cost: the price of an edge.
    """

    text: HardPrompt = "flat"
    pruning: Distance | Literal["none"] = "none"
    k: Count = 3
    k_e: Count = 5
    edge_cost: NotNegative = 0.5


class GRetriever(GraphPrompted):
    """The Steiner tree that collects the prizes of similar nodes and edges; graph attention and a
    language model behind one graph token, once trained.

    Source: GRAG, Sec. 5.1 (tab-2); Survey, Table 3 (tab-3)
    """

    name = "g-retriever"
    paper = "Survey, Table 3 (G-Retriever)"
    index_components = ("Entity", "Relationship")
    primitive = "Question vector"
    granularity = ("Subgraph",)
    operators: ClassVar = {"node": ("VDB",), "relationship": ("VDB",), "subgraph": ("Steiner",)}
    options_type = RetrieverOptions
    chosen: RetrieverOptions

    # Indexing: the text of every node and of every edge as a vector.

    @cached_property
    def index(self) -> EgoIndex:
        """The vectors of nodes and edges; ego-graphs of no hops, which nothing here searches."""
        return EgoIndex.build(self.textual_graph, self.encoder, hops=0, direction="both")

    @cached_property
    def node_index(self) -> VectorIndex:
        """Every node, by its text."""
        return VectorIndex(self.textual_graph.nodes, self.index.node_vectors, self.encoder)

    @cached_property
    def edge_index(self) -> VectorIndex:
        """Every edge, by its text."""
        lines = tuple(self.textual_graph.lines())
        return VectorIndex(lines, self.index.edge_vectors, self.encoder)

    # Retrieval: it "retrieves relevant nodes and edges, and then constructs a relevant subgraph
    # using a Prize-Collecting Steiner Tree method" (GRAG, Sec. 5.1).

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """Nodes and edges near the question, the tree that collects their prizes, and the passages
        that it speaks for: the trace of each question.
        """
        if not questions:
            return []
        options = self.chosen
        asked = question.vector(questions, self.encoder)  # encoded once, for all that follows
        # The k nodes and the k_e edges nearest to the question are shown in the trace; `steiner`
        # below ranks all of them itself, because it gives prizes by rank.
        near: list[Sequence[Step]] = []
        if options.k:
            near.append(node.vdb(asked, self.node_index, options.k))
        if options.k_e and self.textual_graph.edges:
            near.append(relationship.vdb(asked, self.edge_index, options.k_e))
        # The connected subgraph that maximises the prizes of its nodes and edges, less `edge_cost`
        # for each of its edges.
        trees = self.subgraphs(asked)
        # Not in the survey: the passages of the tree.
        read = [self.passages(z_q, tree) for z_q, tree in zip(asked, trees)]
        return [(*steps, tree, *more) for *steps, tree, more in zip(*near, trees, read)]

    def subgraphs(self, asked: Sequence[VectorStep]) -> list[SteinerStep]:
        """The Steiner tree of each question."""
        options = self.chosen
        return subgraph.steiner(asked, self.index, options.k, options.k_e, options.edge_cost)

    # Generation: one graph token and the tables of the subgraph before the question.

    def pieces(self, found: SubgraphStep) -> list[Piece]:
        """The subgraph, which is one connected graph."""
        return [(found.nodes, found.edges)]

    def hard_prompt(self, text: str, pieces: Sequence[Piece]) -> str:
        """Tables of the subgraph's nodes and edges, or its description."""
        if self.chosen.text == "none":
            return ""
        if self.chosen.text == "description":
            return "\n".join(describe(self.textual_graph.subgraph(*piece)) for piece in pieces)
        return "\n".join(flat_text(self.textual_graph, *piece) for piece in pieces)

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer that the trained model writes from [graph token; tables; question]."""
        model, language = self.writer.model, self.writer.model.language
        example = self.example(retrieval.question, retrieval.trace.last(SteinerStep))
        # The graph token: graph attention over the texts' vectors, pooled and projected.
        graph_token = model.token(self.writer.batch([example], self.encoder))
        # The prompt behind it: the tables, cut to what the model reads, and the question.
        prompt = language.prompt_ids(example)
        [text] = language.write([prompt], graph_token)
        self.writer.count(prompt, text)
        return text, retrieval
