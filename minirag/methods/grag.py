"""GRAG: whole neighbourhoods of a graph are retrieved, and a trained model answers from their shape
and their text.

Paper: GRAG, Sec. 4. Its equations stand here in their order: `index` (Eq. 2), `score_many` (Eq. 3
and 4), `hard_prompt` and `generate` (Eq. 5 to 11). Quoted comments are the paper's words. The
networks themselves are in `minirag.neural`: `soft_pruning`, graph attention in `encoder`, projector
and loss in `model`.

Official code: HuieL/GRAG, at the commit named in the fact sheet. Its description of an ego-graph,
which nothing there calls and which fails on most graphs, is rebuilt in part and for comparison
alone (`graph_text.code_outline`). Not rebuilt: the encoders other than graph attention, which
crash; tables of nodes and edges that no longer match the graph after parallel edges were dropped;
and one identical question for all of ExplaGraphs, which is a choice of that loader.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..algorithms.ego_graphs import Direction
from ..algorithms.graph_text import describe_all, flat_text
from ..algorithms.vectors import SAME
from ..core.options import Count, Positive
from ..core.results import Retrieval
from ..core.trace import EgoGraphStep, Step, SubgraphStep
from ..index import EgoIndex
from ..neural import CODE as MODEL_CODE
from ..operators import question, subgraph
from ..prompts import Task
from .graph_prompted import GraphPrompted, Piece, PromptOptions


@dataclass(frozen=True)
class GragOptions(PromptOptions):
    """Everything about GRAG that can be chosen. The defaults are the paper's, but for these: `top`,
    `direction` and `messages` are this kit's, because the paper names no value; so is the sigmoid
    of `squash`, which the official code has too; `hidden` and `layers` are small, for a laptop.
    `CODE` holds what the official code does instead.

    hops: the paper's k.
    top: the paper's N, which it varies.
    direction: "both" forgets which way a relation was written down, since the triples of a text
    point either way (on the task `detours` it ranks the named entity's ego-graph first for .2 % of
    the questions, "out" for 22.8 %); "out" takes what the root reaches, "in" what reaches the root
    (code).
    text_items: where `text` is "flat", the tables of each ego-graph hold so many of its nodes and
    edges, those most similar to the question (code).
    """

    hops: Count = 2
    direction: Direction = "both"
    top: Positive = 10
    text_items: Count = 10


CODE = {"direction": "in", "top": 20, "parallel_edges": "drop", "text": "flat", **MODEL_CODE}


class GRAG(GraphPrompted):
    """The ego-graphs nearest to the question; soft pruning, graph attention and a language model
    behind one graph token, once trained.

    Source: GRAG, Sec. 4.1 (eq-4); GRAG, Sec. 4.2 (eq-11)
    """

    name = "grag"
    paper = "GRAG, Sec. 4"
    index_components = ("Subgraph",)
    primitive = "Question vector"
    granularity = ("Subgraph",)
    operators: ClassVar = {"subgraph": ("VDB",)}
    options_type = GragOptions
    settings: ClassVar = {"paper": {}, "code": CODE}
    chosen: GragOptions

    # Sec. 4.1, textual subgraph indexing: "we index k-hop ego-graphs in G and convert them to graph
    # embeddings".

    @cached_property
    def index(self) -> EgoIndex:
        """Eq. 2: z_g = POOL(PLM({T_n}, {T_e})), the mean vector of the texts of nodes and edges, of
        the ego-graph g of every node.

        Source: GRAG, Eq. 2 (eq-2)
        """
        options = self.chosen
        return EgoIndex.build(self.textual_graph, self.encoder, options.hops, options.direction)

    # Sec. 4.1, textual subgraph ranking.

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """Ego-graphs, and the passages that they speak for: the trace of each question.

        Source: GRAG, Eq. 4 (eq-4)
        """
        # Eq. 3: z_q = PLM(q), by "the same PLM".
        asked = question.vector(questions, self.encoder) if questions else []
        # Eq. 4: S(G)_N = argtopN cos(z_q, z_g), "the top-N relevant subgraphs".
        found = subgraph.ego_graphs(asked, self.index, self.chosen.top)
        # Not in the paper: the passages of these ego-graphs.
        return [(step, *self.passages(z_q, step)) for z_q, step in zip(asked, found)]

    def pieces(self, found: SubgraphStep) -> list[Piece]:
        """(node positions, edge positions) of each retrieved ego-graph, its root first."""
        roots = found.roots if isinstance(found, EgoGraphStep) else ()
        return [self.index.subgraph(root.index)[1:] for root in roots]

    # Sec. 4.1, textual subgraph pruning, and Sec. 4.2, generation.

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """Y, which the trained model writes from [h_G; h_T; h_q]. `GraphPrompt.loss` goes the same
        way when phi_1, phi_2, phi_3 and Phi are learnt.

        Source: GRAG, Eq. 5-11 (eq-5, eq-6, eq-7, eq-8, eq-9, eq-10, eq-11)
        """
        model, language = self.writer.model, self.writer.model.language
        ego_graphs = self.pieces(retrieval.trace.last(EgoGraphStep))
        # Eq. 5: z_n = PLM(T_n) and z_e = PLM(T_e), of all g in S(G)_N.
        batch = self.writer.batch(retrieval.question, self.graphs(ego_graphs), self.encoder)
        # Eq. 6: alpha_n = MLP_phi1(z_n ⊖ z_q), alpha_e = MLP_phi2(z_e ⊖ z_q), "to scale the node &
        # edge attributes"; ⊖ is the Euclidean distance. This kit standardises it, and a sigmoid
        # ends each MLP. Its z_q here is encoded as a passage, that of Eq. 3 as a query, where the
        # paper has one: the same vector for MiniLM, two for an encoder with prefixes, such as E5.
        factors = model.factors(batch)
        # Eq. 7: h_q = TextEmbedder(q), here the ids of its tokens: "the first layer" of the
        # language model embeds them, as it does those of Eq. 8.
        question_tokens = language.question_ids(retrieval.question)
        # Eq. 8: h_T = TextEmbedder(Concat({D_g})), cut after `max_text` tokens, as in the code.
        text_tokens = language.text_ids(self.hard_prompt(retrieval.question, ego_graphs))
        # Eq. 9: m_u = MSG(alpha_u h_u, alpha_uv e_uv), for u in N(v) and v itself, in every layer.
        # Layer normalisation and the residual around a layer are this kit's.
        node_states = model.node_states(batch, factors)
        # Eq. 10: h_G = MLP_phi3(1/N sum of POOL(GNN(g)) over g). The layer normalisation before the
        # MLP is this kit's, and so is the length of h_G, that of a word's embedding.
        graph_token = model.token(batch, node_states)
        # Eq. 11: p(Y | G, q) = product of p(y_i | y_<i, [h_G; h_T; h_q]), the likeliest y_i each.
        prompt = text_tokens + question_tokens
        [text] = language.write([prompt], graph_token)
        self.writer.count(prompt, text)
        return text, retrieval

    def hard_prompt(self, text: str, pieces: Sequence[Piece]) -> str:
        """Concat({D_g}): each ego-graph's description, "a tree-like structure": the edges of the
        tree T_g in pre-order, those of E_g at their head nodes. Or the tables of the official code.

        This kit's: a line that several descriptions share stands only once, and with direction
        "both" or "in" T_g may be several trees, since no edge need leave the ego node.

        Source: GRAG, Eq. 8 (eq-8)
        """
        if self.chosen.text == "none":
            return ""
        if self.chosen.text == "description":
            return describe_all(self.textual_graph.subgraph(*piece) for piece in pieces)
        [z_q] = np.asarray(self.index.question_vectors([text]), dtype=np.float64)
        nodes = np.round(self.index.node_vectors @ z_q, SAME)
        edges = np.round(self.index.edge_vectors @ z_q, SAME)
        tables = [(self._nearest(some, nodes), self._nearest(rest, edges)) for some, rest in pieces]
        return "\n".join(flat_text(self.textual_graph, *table) for table in tables)

    def _nearest(self, places: Sequence[int], cosines: np.ndarray) -> list[int]:
        """The `text_items` places with the highest cosine, equals by position."""
        ranked = sorted(places, key=lambda place: (-cosines[place], place))
        return ranked[: self.chosen.text_items]
