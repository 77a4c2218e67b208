"""G-Retriever: one connected subgraph that collects what is similar to the question, and a trained
model that answers from it.

`steiner` is its retrieval: two vector searches, prizes by rank, and the tree that collects them.

Its paper is not among this kit's papers: the defaults are the survey's composition with the numbers
of the released code for WebQSP, so that `follow="code"` changes nothing. Known difference, not
reproduced: in the survey's code edges never get a prize.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algorithms.descriptions import describe, flat_text
from ..algorithms.steiner import prize_collecting_steiner_tree
from ..core.options import Count, NotNegative
from ..core.results import Retrieval
from ..core.trace import SHOWN, EdgeStep, NodeStep, SteinerStep, Step, SubgraphStep, VectorStep
from ..index import EgoIndex
from ..neural import Distance, HardPrompt
from ..operators import node, question, relationship
from ..operators.ranking import count_of
from ..prompts import Task
from .graph_prompted import GraphPrompted, Piece, PromptOptions

FADE = 0.01  # a prize of a lower rank is at most (1 - FADE) times the one above it


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


def steiner(
    asked: VectorStep, index: EgoIndex, options: RetrieverOptions = RetrieverOptions()
) -> tuple[NodeStep, EdgeStep, SteinerStep]:
    """Nodes and edges near a question, and the tree that collects their prizes.

    index: of any hops; only the vectors of nodes and edges are looked at. The items of the last
    step are the nodes and edges with a prize, the highest first, nodes before edges where they tie.

    Source: GRAG, Sec. 5.1 (tab-2); Survey, Sec. 6.1 (op-subgraph)
    """
    graph, ends = index.graph, [(head, tail) for head, _, tail in index.graph.edges]
    # The k nodes nearest to the question, and the edges with one of the k_e highest cosines, which
    # may be many: all edges with the same text have the same.
    [near_nodes] = node.vdb([asked], index.node_index, options.k)
    [near_edges] = relationship.vdb([asked], index.edge_index, options.k_e)
    # Prizes k, k - 1, ..., 1 by rank. Edges share those of their rank.
    node_prizes, bonus = np.zeros(len(graph.nodes)), np.zeros(len(ends))
    node_prizes[[row.index for row in near_nodes.nodes]] = range(len(near_nodes.nodes), 0, -1)
    cosines = [row.score for row in near_edges.edges]
    bonus[[row.index for row in near_edges.edges]] = edge_prizes(cosines, options.k_e)
    nodes, edges = set(range(len(graph.nodes))), set[int]()
    if ends:  # the released code returns a graph without edges whole
        # An edge's prize makes it cheaper. Where the prize exceeds the price, the rest becomes the
        # prize of a virtual node in the middle of the edge.
        instance = with_virtual_nodes(ends, node_prizes, bonus, options.edge_cost)
        # The tree with the highest prizes, less the prices of its edges, by an approximation.
        tree_nodes, tree_edges = prize_collecting_steiner_tree(
            len(instance.prizes), instance.ends, instance.costs, instance.prizes
        )
        # Back in the graph: taking a virtual node means taking its edge, and an edge both its ends.
        edges = {instance.plain[edge] for edge in tree_edges if edge < len(instance.plain)}
        edges |= {instance.virtual[each - len(nodes)] for each in tree_nodes if each >= len(nodes)}
        nodes = nodes & set(tree_nodes) | {end for edge in edges for end in ends[edge]}
    prized = count_of(near_nodes.nodes, "node"), count_of(near_edges.edges, "edge")
    summary = f"prizes on {' and '.join(prized)}; the tree that collects them has"
    summary += f" {count_of(nodes, 'node')} and {count_of(edges, 'edge')}"
    rows = [*zip(graph.nodes, node_prizes.tolist()), *zip(graph.lines(), bonus.tolist())]
    items = sorted((row for row in rows if row[1] > 0), key=lambda row: -row[1])[:SHOWN]
    tree = SteinerStep(
        "steiner", summary, tuple(items), nodes=tuple(sorted(nodes)), edges=tuple(sorted(edges)),
        node_prizes=node_prizes, edge_prizes=bonus,
    )  # fmt: skip
    return near_nodes, near_edges, tree


def edge_prizes(similarities: ArrayLike, k_e: int = 5) -> NDArray[np.float64]:
    """(m,) prizes for the edges with one of the k_e highest *distinct* similarities, 0 for all
    others.

    The edges of the i-th value (from 0) share k_e - i among them, and each gets at most 0.99 of
    what an edge one value higher gets, so that many copies of one relation are worth no more than a
    rare one. A value of zero or below gets its prize too when it ranks among the k_e. (The released
    code writes prizes over similarities while it compares: where zero ranks among the k_e, all
    lower values share its prize. Not rebuilt.)

    Source: GRAG, Sec. 5.1 (tab-2)
    """
    values, place, ties = np.unique(similarities, return_inverse=True, return_counts=True)
    k_e = min(k_e, len(values))
    prize_of_value, most = np.zeros(len(values)), float(k_e)
    for rank in range(k_e):
        value = len(values) - 1 - rank
        prize_of_value[value] = min((k_e - rank) / ties[value], most)
        most = prize_of_value[value] * (1 - FADE)
    prizes: NDArray[np.float64] = prize_of_value[place]
    return prizes


class VirtualNodes(NamedTuple):
    """A Steiner instance in which a virtual node follows the real ones for each edge whose prize
    exceeds its price.

    plain: the original position of each of the first edges, which keep both their ends; virtual:
    that of each virtual node.
    """

    ends: list[tuple[int, int]]
    costs: list[float]
    prizes: NDArray[np.float64]
    plain: list[int]
    virtual: list[int]


def with_virtual_nodes(
    edges: Sequence[tuple[int, int]],
    prizes: NDArray[np.float64],
    bonus: NDArray[np.float64],
    edge_cost: float,
) -> VirtualNodes:
    """The instance to solve, from the prizes of nodes and those of edges (`bonus`). The price is
    lowered to 0.995 of the highest edge prize, so that at least one edge is worth more than it
    costs; a virtual node has two edges for nothing.

    Source: GRAG, Sec. 5.1 (tab-2)
    """
    price = min(edge_cost, bonus.max() * (1 - FADE / 2)) if bonus.any() else edge_cost
    plain = [edge for edge in range(len(edges)) if bonus[edge] <= price]
    virtual = [edge for edge in range(len(edges)) if bonus[edge] > price]
    ends, costs = [edges[edge] for edge in plain], [price - bonus[edge] for edge in plain]
    for middle, edge in enumerate(virtual, start=len(prizes)):
        ends += [(edges[edge][0], middle), (middle, edges[edge][1])]
        costs += [0.0, 0.0]
    all_prizes = np.concatenate([prizes, bonus[virtual] - price])
    return VirtualNodes(ends, costs, all_prizes, plain, virtual)


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
        """Nodes and edges near the question, the tree that collects their prizes, and the passages
        that it speaks for: the trace of each question.
        """
        traces: list[Sequence[Step]] = []
        for z_q in question.vector(questions, self.encoder) if questions else ():
            near_nodes, near_edges, tree = steiner(z_q, self.index, self.chosen)
            near = [step for step in (near_nodes, near_edges) if step.items]
            # Not in the survey: the passages of the tree.
            traces.append((*near, tree, *self.passages(z_q, tree)))
        return traces

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
