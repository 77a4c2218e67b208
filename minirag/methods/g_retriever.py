"""G-Retriever: one subgraph that collects what is similar to the question, and a trained model that
answers from it.

Its own paper is not among this kit's papers. The retrieval is the survey's row, VDB, VDB and
Steiner, with the numbers of the released code for WebQSP (its k, k_e, costs and prizes), so that
`follow="code"` changes nothing. Known differences:

- A relation is searched by its bare text. Survey, Sec. 5 encodes it with its ends' names.
- In the survey's code edges never get a prize. Not reproduced.
- The survey's language model reads text alone. Here, as in the released code, one graph token
  stands before the text; the network behind it is GRAG's graph attention, two layers of 64, where
  the released code has by default a graph transformer, four layers of 1024.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from ..algorithms.graph_text import describe, flat_text
from ..core.options import Count, NotNegative
from ..core.results import Retrieval
from ..core.trace import SteinerStep, Step, SubgraphStep
from ..index import EgoIndex
from ..neural import Distance, HardPrompt
from ..operators import node, question, relationship, subgraph
from ..prompts import Task
from .graph_prompted import GraphPrompted, Piece, PromptOptions


@dataclass(frozen=True)
class RetrieverOptions(PromptOptions):
    """Everything about G-Retriever that can be chosen: it prunes nothing and reads flat tables.

    k, k_e: how many ranks of nodes and of edges get a prize.
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

    # Retrieval: it "retrieves relevant nodes and edges, and then constructs a relevant subgraph
    # using a Prize-Collecting Steiner Tree method" (GRAG, Sec. 5.1).

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """The row of the survey's Table 3, and the passages that the tree speaks for: the trace of
        each question.
        """
        options, index, traces = self.chosen, self.index, list[Sequence[Step]]()
        # One question at a time: where edges tie, a batch would find as many edges for all.
        for z_q in question.vector(questions, self.encoder) if questions else ():
            # Node: VDB, the k nodes nearest to the question.
            nodes = node.vdb([z_q], index.node_index, options.k)
            # Relationship: VDB, the edges with one of the k_e highest cosines. These may be many,
            # because edges with the same text have the same cosine.
            edges = relationship.vdb([z_q], index.edge_index, options.k_e)
            # Subgraph: Steiner, the tree that collects the prizes of these nodes and edges.
            [tree] = subgraph.steiner(nodes, edges, index, options.k_e, options.edge_cost)
            # Not in the survey: the passages of the tree.
            found = [step for step in (*nodes, *edges) if step.items]
            traces.append((*found, tree, *self.passages(z_q, tree)))
        return traces

    # Generation: one graph token and the tables of the subgraph before the question.

    def pieces(self, found: SubgraphStep) -> list[Piece]:
        """The subgraph, connected unless the whole graph has no edge."""
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
        tree = self.pieces(retrieval.trace.last(SteinerStep))
        batch = self.writer.batch(retrieval.question, self.graphs(tree), self.encoder)
        # The graph token: graph attention over the texts' vectors, then pooled and projected.
        graph_token = model.token(batch, model.node_states(batch, None))
        # The prompt behind it: the tables, cut to what the model reads, and the question.
        prompt = language.text_ids(self.hard_prompt(retrieval.question, tree))
        prompt = prompt + language.question_ids(retrieval.question)
        [text] = language.write([prompt], graph_token)
        self.writer.count(prompt, text)
        return text, retrieval
