"""G-Retriever: one connected subgraph that collects what is similar to the question, and a trained
model that answers from it.

Its paper is not among this kit's papers: the defaults are the survey's composition with the numbers
of the released code for WebQSP, and `follow="code"` changes nothing. The unified framework's
version, whose edges never get a prize, is another code's and not rebuilt.
"""

from dataclasses import dataclass
from typing import Literal

from ..algorithms.descriptions import describe, flat_text
from ..core.options import Count, NotNegative
from ..index import VectorIndex
from ..neural import Distance
from ..operators import node, question, relationship, subgraph
from .graph_prompted import GraphPrompted, HardPrompt, ModelChoices


@dataclass(frozen=True)
class RetrieverChoices(ModelChoices):
    """Everything about G-Retriever that can be chosen, besides `ModelChoices`: it prunes nothing
    and reads flat tables.

    k, k_e, edge_cost: how many ranks of nodes and of edges get a prize, and the price of an edge
    (`retrieve_subgraph`).
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
    operators = {"node": ("VDB",), "relationship": ("VDB",), "subgraph": ("Steiner",)}
    kind = (RetrieverChoices, {})

    def subgraphs(self, questions):
        """Nodes and edges near the question, for the eye, and the tree that collects their prizes."""
        c, index = self.chosen, self.index
        if not questions:
            return []
        asked = question.vector(questions, self.encoder)
        nodes = VectorIndex(self.graph.nodes, index.node_vectors, self.encoder)
        steps = [node.vdb(asked, nodes, c.k)] if c.k else []
        if c.k_e and self.graph.edges:
            edges = VectorIndex(tuple(self.graph.lines()), index.edge_vectors, self.encoder)
            steps.append(relationship.vdb(asked, edges, c.k_e))
        return list(zip(*steps, subgraph.steiner(questions, index, c.k, c.k_e, c.edge_cost)))

    def pieces(self, step):
        return [(step.data["nodes"], step.data["edges"])]

    def text_of(self, question, pieces, graphs):
        """The hard prompt: tables of the subgraph's nodes and edges."""
        if self.chosen.text == "none":
            return ""
        if self.chosen.text == "description":
            return "\n".join(map(describe, graphs))
        return "\n".join(flat_text(self.graph, nodes, edges) for nodes, edges in pieces)
