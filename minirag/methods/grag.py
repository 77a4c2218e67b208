"""GRAG: whole neighbourhoods of a graph are retrieved, and a trained model answers from their shape
and their text.

Paper: GRAG, Sec. 4. Official code: HuieL/GRAG, at the commit named in the fact sheet. What of it is
not rebuilt: the description of an ego-graph, which nothing there calls and which fails on most
graphs; the encoders other than graph attention, which crash; tables of nodes and edges that no
longer match the graph after parallel edges were dropped; and one identical question for all of
ExplaGraphs, which is a choice of that loader.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..algorithms.descriptions import describe_all, flat_text
from ..algorithms.vectors import SAME
from ..core.options import Count, Positive
from ..neural import CODE as MODEL_CODE
from ..operators import subgraph
from .graph_prompted import GraphPrompted, ModelChoices


@dataclass(frozen=True)
class GragChoices(ModelChoices):
    """Everything about GRAG that can be chosen, besides `ModelChoices`. The defaults are the
    paper's; `CODE` holds what the official code does instead.

    hops, top: the paper's k and N. direction: "both" forgets which way a relation was written down,
    since the triples of a text point either way (on the task `detours` it ranks the named entity's
    ego-graph first for .2 % of the questions, "out" for 22.8 %); "out" takes what the root reaches,
    "in" what reaches the root (code). text "flat": for each ego-graph the tables of its
    `text_items` nodes and edges that are most similar to the question (code).
    """

    hops: Count = 2
    direction: Literal["out", "in", "both"] = "both"
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
    operators = {"subgraph": ("VDB",)}
    kind = (GragChoices, CODE)

    def subgraphs(self, questions):
        return [(step,) for step in subgraph.ego_graphs(questions, self.index, self.chosen.top)]

    def pieces(self, step):
        """(node positions, edge positions) of each retrieved ego-graph, its root first."""
        return [self.index.subgraph(root)[1:] for _, root, _ in step.data["roots"]]

    def text_of(self, question, pieces, graphs):
        """The hard prompt: the ego-graphs' descriptions in their order, a line that several share
        only once; or the tables of the official code.

        Source: GRAG, Eq. 8 (eq-8)
        """
        if self.chosen.text == "none":
            return ""
        if self.chosen.text == "description":
            return describe_all(graphs)
        asked = np.asarray(self.encoder.encode([question], kind="query")[0], dtype=np.float64)
        nodes, edges = (
            np.round(vectors @ asked, SAME)
            for vectors in (self.index.node_vectors, self.index.edge_vectors)
        )
        best = lambda places, cosines: sorted(places, key=lambda place: (-cosines[place], place))[
            : self.chosen.text_items
        ]
        return "\n".join(
            flat_text(self.graph, best(some, nodes), best(others, edges)) for some, others in pieces
        )
