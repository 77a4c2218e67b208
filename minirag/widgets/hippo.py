"""Explorers of HippoRAG: its walk from a question to passages, and power iteration step by step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ..algorithms.pagerank import transition_matrix
from ..core.corpus import Corpus, Question
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.results import Retrieval
from ..core.trace import NodeStep, ScoredNode, Vector, WalkStep
from ..index import adjacency_matrix
from ..viz import Figure, draw_graph, layout
from ..viz.passages import passage_lines, passage_table
from ..viz.scene import Point
from .explorer import Choice, Explorer, Slider, Switch

if TYPE_CHECKING:
    import networkx as nx

    from ..methods.hipporag import HippoRAG

LARGE = 5000  # nodes
MEANING = {"restart": "restart probability", "follow": "probability of following an edge"}


class HippoExplorer(Explorer):
    """Question, restart probability, synonymy threshold and node specificity of a HippoRAG method,
    and what they do to its walk.

    `questions`: a `Corpus`, or a list of `Question`s or strings. The figure shows the `nodes` nodes
    that hold most mass at two restart probabilities, always in the same places for one question;
    node area is comparable while the question stays. On a graph of more than 5,000 nodes the
    threshold cannot go below the method's own, since searching for more synonyms takes seconds
    there.

    Source: Wang, Sec. IV-B (hippo-ppr)
    """

    def __init__(
        self,
        method: "HippoRAG",
        questions: Corpus | Iterable[Question | str],
        question: str | None = None,
        k: int = 5,
        nodes: int = 26,
    ) -> None:
        listed = questions.questions if isinstance(questions, Corpus) else questions
        named = ((f"q{i}", q) for i, q in enumerate(listed, start=1))
        asked = [q if isinstance(q, Question) else Question(name, q) for name, q in named]
        if not asked:
            wanted = "pass a corpus that has some, or a list of strings"
            raise MiniragError(f"HippoExplorer needs at least one question: {wanted}.")
        self.method, self.k, self.nodes = method, k, nodes
        self.questions = {q.id: q for q in asked}
        self._walked: dict[float, HippoRAG] = {}
        self._at = lru_cache(maxsize=32)(self._ask)
        self._around = lru_cache(maxsize=64)(self._neighbourhood)
        self._joined = lru_cache(maxsize=8)(self._with_threshold)
        self._drawn = lru_cache(maxsize=64)(self._shown_part)
        own = method.chosen
        threshold, probability = own.synonymy_threshold, own.restart_probability
        self.meaning = MEANING[own.restart_read_as]
        lowest = threshold if len(method.graph.nodes) > LARGE else 0.6
        options = tuple((f"{q.id}: {q.text}", q.id) for q in asked)
        super().__init__(
            Choice("question", "Question", options, question or asked[0].id),
            Slider("restart_probability", self.meaning, 0.1, 0.9, 0.05, probability),
            Slider("synonymy_threshold", "synonymy from cosine", lowest, 1.0, 0.02, threshold),
            Switch("specificity", "node specificity", own.specificity),
        )

    @property
    def question(self) -> Question:
        return self.questions[self.state["question"]]

    @property
    def retrieval(self) -> Retrieval:
        """The `Retrieval` at the present state."""
        return self._at(*self.state.values())

    def _ask(self, question: str, restart: float, threshold: float, specificity: bool) -> Retrieval:
        """Retrieve with these options. Each copy of the method is made from the last one that
        walked, so that they share its matrices.
        """
        method = self._walked.get(threshold, self._joined(threshold))
        method = method.with_options(restart_probability=restart, specificity=specificity)
        if len(self._walked) >= 8:
            self._walked.clear()
        self._walked[threshold] = method
        return method.retrieve(self.questions[question].text, self.k)

    def _with_threshold(self, threshold: float) -> "HippoRAG":
        """The method at a threshold. Raising it only takes synonymy edges away, so nothing is
        searched for again.
        """
        own, graph = self.method.chosen, self.method.hippocampal_index
        if threshold == own.synonymy_threshold:
            return self.method
        copy = self.method.with_options(synonymy_threshold=threshold)
        if threshold > own.synonymy_threshold:
            kept = []
            for edge in graph.edges:
                close = edge.weight > threshold or (not own.strict and edge.weight == threshold)
                if edge.kind != "synonymy" or close:
                    kept.append(edge)
            copy.hippocampal_index = replace(graph, edges=tuple(kept))
        return copy

    def _neighbourhood(self, question: str) -> tuple[tuple[int, ...], dict[str, Point], float]:
        """Positions of the nodes to show for a question, their places, and the mass drawn largest:
        all independent of the sliders.
        """
        own, specificity = self.method.chosen, bool(self.controls["specificity"].value)
        threshold = own.synonymy_threshold
        walks = [self._ask(question, restart, threshold, specificity) for restart in (0.3, 0.7)]
        masses = [self._mass(walk) for walk in walks]
        scores, linked = np.sum(masses, axis=0), [node.index for node in _linked(walks[0])]

        def key(i: int) -> tuple[bool, float, int]:
            return i not in linked, -round(float(scores[i]), 9), i

        shown = [i for i in sorted(range(len(scores)), key=key)[: self.nodes] if scores[i] > 0]
        peak = max(float(mass.max(initial=0.0)) for mass in masses) or 1.0
        names = {"query node": [self._name(i) for i in linked]}
        places = layout(_part(self.method.hippocampal_index, shown), highlight=names)
        return tuple(shown), places, peak

    def _shown_part(self, question: str, threshold: float) -> Graph:
        return _part(self._joined(threshold).hippocampal_index, self._around(question)[0])

    def _name(self, i: int) -> str:
        return self.method.graph.nodes[i].name

    def _mass(self, retrieval: Retrieval) -> Vector:
        """The walk's distribution, (nodes,); zeros where no walk took place."""
        walks = retrieval.trace.all(WalkStep)
        return walks[0].scores if walks else np.zeros(len(self.method.graph.nodes))

    def figure(self) -> Figure:
        """The neighbourhood of the question, with the mass that each node holds now."""
        shown, places, peak = self._around(self.state["question"])
        retrieval, scores = self.retrieval, self._mass(self.retrieval)
        names = dict.fromkeys(self._name(node.index) for node in _linked(retrieval))
        part = self._drawn(self.state["question"], self.state["synonymy_threshold"])
        share = 100 * float(scores[list(shown)].sum())
        caption = f"The {len(shown)} nodes shown hold {share:.1f} % of the mass; "
        caption += f"{len(scores)} nodes in all."
        mass, roles = {self._name(i): float(scores[i]) for i in shown}, {"query node": list(names)}
        draw = partial(draw_graph, part, places, mass, roles, score_name="mass", score_max=peak)
        return draw(title=self.question.text, caption=caption)

    def html(self) -> str:
        retrieval, gold = self.retrieval, self.question.gold
        if not self._mass(retrieval).any():
            note = "<p>No node is linked to this question, so no mass flows.</p>"
            return note + passage_table(retrieval.passages, gold)
        names = [self._name(node.index) for node in _linked(retrieval)]
        return self.figure().svg + passage_table(retrieval.passages, gold, names)

    def describe(self) -> str:
        retrieval, state = self.retrieval, self.state
        scores = self._mass(retrieval)
        graph = self._joined(state["synonymy_threshold"]).hippocampal_index
        synonyms = sum(edge.kind == "synonymy" for edge in graph.edges)
        places = range(len(scores))
        best = sorted(places, key=lambda i: (-round(float(scores[i]), 6), self._name(i)))[:6]
        linked = [f"{n.label} -> {self._name(n.index)} ({n.score:.2f})" for n in _linked(retrieval)]
        mass = [f"{self._name(i)} {scores[i]:.3f}" for i in best if scores[i] > 0]
        switch = "on" if state["specificity"] else "off"
        threshold = f"synonymy from {state['synonymy_threshold']:.2f} ({synonyms} edges)"
        lines = [
            f"{self.question.id}: {self.question.text}",
            f"{self.meaning} {state['restart_probability']:.2f}, {threshold}, specificity {switch}",
            f"linked: {', '.join(linked) or 'nothing'}",
            f"mass: {', '.join(mass) or 'none'}",
            "passages:",
        ]
        return "\n".join(lines + passage_lines(retrieval.passages, self.question.gold))


def _linked(retrieval: Retrieval) -> Sequence[ScoredNode]:
    """The nodes that the question was linked to, each labelled by the phrase that led to it."""
    steps = retrieval.trace.all(NodeStep)
    return steps[0].nodes if steps else ()


def _part(graph: Graph, shown: Sequence[int]) -> Graph:
    """The subgraph of these node positions."""
    place = {node: i for i, node in enumerate(shown)}
    inside = (e for e in graph.edges if e.source in place and e.target in place)
    edges = tuple(replace(e, source=place[e.source], target=place[e.target]) for e in inside)
    return replace(graph, nodes=tuple(graph.nodes[i] for i in shown), edges=edges, claims=())


class WalkExplorer(Explorer):
    """Power iteration of personalised PageRank on a small graph: step and damping (the probability
    of following an edge).

    `graph`: a `minirag.core.graph.Graph` or a networkx graph; `seeds`: node names, or a mapping
    from node to weight.

    Source: Wang, Sec. IV-B (hippo-ppr)
    """

    def __init__(
        self,
        graph: "Graph | nx.Graph",
        seeds: str | Iterable[str] | Mapping[str, float],
        damping: float = 0.5,
        steps: int = 20,
    ) -> None:
        self.graph, self.last = graph, steps
        if isinstance(graph, Graph):
            self.names, adjacency = [node.name for node in graph.nodes], adjacency_matrix(graph)
        else:
            import networkx as nx

            self.names, adjacency = list(graph), nx.to_scipy_sparse_array(graph, dtype=float)
        if not isinstance(seeds, Mapping):
            seeds = dict.fromkeys([seeds] if isinstance(seeds, str) else seeds, 1.0)
        if not seeds:
            raise MiniragError("A walk needs at least one seed node.")
        if unknown := [seed for seed in seeds if seed not in self.names]:
            raise MiniragError(f"Seeds must be nodes of the graph; {unknown[0]!r} is none.")
        home = np.array([float(seeds.get(name, 0.0)) for name in self.names])
        self.home, self.seeds = home / home.sum(), {"seed": list(seeds)}
        self._matrix = transition_matrix(adjacency).matrix
        self._places = layout(graph, highlight=self.seeds)
        self.walk = lru_cache(maxsize=32)(self._walk)
        meaning = "damping: follow an edge"
        sliders = [Slider("step", "step", 0, steps, 1, 0)]
        super().__init__(*sliders, Slider("damping", meaning, 0.1, 0.95, 0.05, damping))

    def _walk(self, damping: float) -> Vector:
        """Distributions of all steps, (steps + 1, nodes): follow an edge with probability
        `damping`, else jump home.
        """
        rows = [self.home]
        for _ in range(self.last):
            arrived = damping * (self._matrix @ rows[-1])
            rows.append(arrived + (1 - arrived.sum()) * self.home)
        return np.array(rows)

    @property
    def mass(self) -> Vector:
        """The distribution at the present step, (nodes,)."""
        return self.walk(self.state["damping"])[self.state["step"]]

    def _moved_mass(self) -> float:
        rows, step = self.walk(self.state["damping"]), self.state["step"]
        return float(np.abs(rows[step] - rows[step - 1]).sum() / 2) if step else 0.0

    def figure(self) -> Figure:
        step, damping = self.state["step"], self.state["damping"]
        caption = f"Step {step} of {self.last}, damping {damping:.2f}. "
        caption += f"Mass that moved in this step: {self._moved_mass():.4f}."
        name, peak = "probability mass", self.home.max()
        mass = (self._places, self.mass, self.seeds)
        return draw_graph(self.graph, *mass, caption=caption, score_name=name, score_max=peak)

    def describe(self) -> str:
        state, mass = self.state, self.mass
        order = sorted(zip(-mass.round(6), map(str, self.names), mass))[:8]
        head = f"step {state['step']}, damping {state['damping']:.2f}; "
        head += f"mass that moved in this step: {self._moved_mass():.4f}"
        return "\n".join(
            [head, *(f"  {share:.4f}  {name}" for _, name, share in order if share > 0)]
        )
