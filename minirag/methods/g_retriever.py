"""G-Retriever: one connected subgraph that collects what is similar to the question, and a trained
model that answers from it.

`steiner` is its retrieval: two vector searches, prizes by rank, and the tree that collects them.

Its paper is not among this kit's papers: the defaults are the survey's composition with the numbers
of the released code for WebQSP, so that `follow="code"` changes nothing. Known difference, not
reproduced: in the survey's code edges never get a prize.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algorithms.graph_text import describe, flat_text
from ..algorithms.steiner import prize_collecting_steiner_tree
from ..core.options import Count, NotNegative
from ..core.results import Retrieval
from ..core.trace import (
    SHOWN,
    EdgeStep,
    NodeStep,
    SteinerStep,
    Step,
    SubgraphStep,
    Vector,
    VectorStep,
)
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
    z_q: VectorStep, index: EgoIndex, options: RetrieverOptions = RetrieverOptions()
) -> tuple[NodeStep, EdgeStep, SteinerStep]:
    """Nodes and edges near a question, and the tree that collects their prizes.

    z_q: the question as a vector. index: of any hops; only the vectors of nodes and edges are
    searched.

    Source: GRAG, Sec. 5.1 (tab-2); Survey, Sec. 6.1 (op-subgraph)
    """
    count = len(index.graph.nodes)
    ends = [(head, tail) for head, _, tail in index.graph.edges]

    # Retrieval: the k nodes nearest to the question, and the edges with one of the k_e highest
    # cosines. These edges may be many, because edges with the same text have the same cosine.
    [near_nodes] = node.vdb([z_q], index.node_index, options.k)
    [near_edges] = relationship.vdb([z_q], index.edge_index, options.k_e)

    # Prizes: k, k - 1, ..., 1 for the nodes in their order; edges with the same cosine share one.
    node_prizes, edge_prizes = np.zeros(count), np.zeros(len(ends))
    node_prizes[[near.index for near in near_nodes.nodes]] = range(len(near_nodes.nodes), 0, -1)
    cosines = [near.score for near in near_edges.edges]
    edge_prizes[[near.index for near in near_edges.edges]] = shared_prizes(cosines, options.k_e)

    # The released code returns a graph without edges whole.
    if not ends:
        return near_nodes, near_edges, steiner_step(index, node_prizes, edge_prizes, range(count))

    # Virtual nodes: only nodes have prizes in the tree's problem. An edge's prize makes the edge
    # cheaper; where it exceeds the price, the rest is the prize of a virtual node on the edge.
    problem = with_virtual_nodes(ends, node_prizes, edge_prizes, options.edge_cost)

    # The prize-collecting Steiner tree: high prizes, less the costs of the edges that join them.
    tree_nodes, tree_edges = prize_collecting_steiner_tree(
        len(problem.prizes), problem.ends, problem.costs, problem.prizes
    )

    # Back in the graph: a virtual node of the tree stands for its edge, an edge brings its ends.
    edges = {problem.plain[edge] for edge in tree_edges if edge < len(problem.plain)}
    edges |= {problem.virtual[place - count] for place in tree_nodes if place >= count}
    nodes = {place for place in tree_nodes if place < count}
    nodes |= {end for edge in edges for end in ends[edge]}
    return near_nodes, near_edges, steiner_step(index, node_prizes, edge_prizes, nodes, edges)


def shared_prizes(similarities: ArrayLike, k_e: int = 5) -> NDArray[np.float64]:
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
    """A Steiner problem in which a virtual node follows the real ones for each edge whose prize
    exceeds its price: the ends and costs of its edges, the prizes of its nodes.

    plain: where in the graph the first of its edges stand, those that keep both their ends;
    virtual: the edge that each virtual node stands for.
    """

    ends: list[tuple[int, int]]
    costs: list[float]
    prizes: NDArray[np.float64]
    plain: list[int]
    virtual: list[int]


def with_virtual_nodes(
    edges: Sequence[tuple[int, int]],
    node_prizes: NDArray[np.float64],
    edge_prizes: NDArray[np.float64],
    edge_cost: float,
) -> VirtualNodes:
    """The problem to solve. The price of an edge is `edge_cost`, but at most 0.995 of the highest
    edge prize, so that at least one edge is worth more than it costs. A virtual node is joined to
    both ends of its edge for nothing.

    Source: GRAG, Sec. 5.1 (tab-2)
    """
    highest = edge_prizes.max()
    price = min(edge_cost, highest * (1 - FADE / 2)) if highest else edge_cost
    plain = [edge for edge in range(len(edges)) if edge_prizes[edge] <= price]
    virtual = [edge for edge in range(len(edges)) if edge_prizes[edge] > price]
    ends, costs = [edges[edge] for edge in plain], [price - edge_prizes[edge] for edge in plain]
    for middle, edge in enumerate(virtual, start=len(node_prizes)):
        ends += [(edges[edge][0], middle), (middle, edges[edge][1])]
        costs += [0.0, 0.0]
    prizes = np.concatenate([node_prizes, edge_prizes[virtual] - price])
    return VirtualNodes(ends, costs, prizes, plain, virtual)


def steiner_step(
    index: EgoIndex, node_prizes: Vector, edge_prizes: Vector, nodes: Collection[int],
    edges: Collection[int] = (),
) -> SteinerStep:  # fmt: skip
    """The tree for a trace. Its items are the nodes and edges with a prize, the highest first,
    nodes before edges where they tie.
    """
    prized = [count_of(np.flatnonzero(node_prizes), "node")]
    prized += [count_of(np.flatnonzero(edge_prizes), "edge")]
    summary = f"prizes on {' and '.join(prized)}; the tree that collects them has"
    summary += f" {count_of(nodes, 'node')} and {count_of(edges, 'edge')}"
    labels = index.node_index.labels + index.edge_index.labels
    prizes = [*node_prizes.tolist(), *edge_prizes.tolist()]
    rows = [row for row in zip(labels, prizes) if row[1] > 0]
    items = tuple(sorted(rows, key=lambda row: -row[1])[:SHOWN])
    places = {"nodes": tuple(sorted(nodes)), "edges": tuple(sorted(edges))}
    return SteinerStep(
        "steiner", summary, items, **places, node_prizes=node_prizes, edge_prizes=edge_prizes
    )


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
