"""A walk one step at a time: probability mass leaves the seeds, spreads, and settles."""

from functools import lru_cache

import numpy as np

from ..algorithms.pagerank import transition_matrix
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..index import adjacency_matrix
from ..viz import draw_graph, layout
from .explorer import Explorer, Slider


class WalkExplorer(Explorer):
    """Power iteration of personalised PageRank on a small graph: step and damping (the probability
    of following an edge).

    `graph`: a `minirag.core.graph.Graph` or a networkx graph; `seeds`: node names, or a mapping
    from node to weight.

    Source: Wang, Sec. IV-B (hippo-ppr)
    """

    def __init__(self, graph, seeds, damping=0.5, steps=20, node_labels=None):
        self.graph, self.last, self.node_labels = graph, steps, node_labels
        self.names = (
            [node.name for node in graph.nodes] if isinstance(graph, Graph) else list(graph.nodes)
        )
        weights = (
            seeds
            if hasattr(seeds, "items")
            else dict.fromkeys([seeds] if isinstance(seeds, str) else seeds, 1.0)
        )
        unknown = [seed for seed in weights if seed not in self.names]
        if unknown or not weights:
            raise MiniragError(
                f"Seeds must be nodes of the graph; {unknown[0]!r} is none."
                if unknown
                else "A walk needs at least one seed node."
            )
        home = np.array([float(weights.get(name, 0.0)) for name in self.names])
        self.home, self.seeds = home / home.sum(), list(weights)
        self._matrix = transition_matrix(_adjacency(graph)).matrix
        self._places = layout(graph, highlight={"seed": self.seeds})
        self.walk = lru_cache(maxsize=32)(self._walk)
        super().__init__(
            [
                Slider("step", "step", 0, steps, 1, 0),
                Slider("damping", "damping: follow an edge", 0.1, 0.95, 0.05, damping),
            ]
        )

    def _walk(self, damping):
        """Distributions of all steps, (steps + 1, nodes): follow an edge with probability
        `damping`, else jump home.
        """
        rows = [self.home]
        for _ in range(self.last):
            arrived = damping * (self._matrix @ rows[-1])
            rows.append(arrived + (1 - arrived.sum()) * self.home)
        return np.array(rows)

    @property
    def mass(self):
        """The distribution at the present step, (nodes,)."""
        return self.walk(self.state["damping"])[self.state["step"]]

    def _moved_mass(self):
        rows, step = self.walk(self.state["damping"]), self.state["step"]
        return float(np.abs(rows[step] - rows[step - 1]).sum() / 2) if step else 0.0

    def figure(self):
        step, damping = self.state["step"], self.state["damping"]
        caption = f"Step {step} of {self.last}, damping {damping:.2f}. Mass that moved in this step: {self._moved_mass():.4f}."
        return draw_graph(
            self.graph,
            self._places,
            self.mass,
            {"seed": self.seeds},
            self.node_labels,
            caption=caption,
            score_name="probability mass",
            score_max=self.home.max(),
        )

    def html(self):
        return self.figure().svg

    def describe(self):
        mass, labels = self.mass, self.node_labels or {}
        best = sorted(
            range(len(mass)), key=lambda i: (-round(float(mass[i]), 6), str(self.names[i]))
        )[:8]
        head = f"step {self.state['step']}, damping {self.state['damping']:.2f}; mass that moved in this step: {self._moved_mass():.4f}"
        return "\n".join(
            [head]
            + [
                f"  {mass[i]:.4f}  {labels.get(self.names[i], self.names[i])}"
                for i in best
                if mass[i] > 0
            ]
        )


def _adjacency(graph):
    if isinstance(graph, Graph):
        return adjacency_matrix(graph)
    import networkx as nx

    return nx.to_scipy_sparse_array(graph, dtype=float)
