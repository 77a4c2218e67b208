"""Explorers of HippoRAG: its walk from a question to passages, and power iteration step by step."""

from functools import lru_cache

import numpy as np

from ..algorithms.pagerank import transition_matrix
from ..core.corpus import Question
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.trace import WalkStep
from ..index import adjacency_matrix
from ..viz import draw_graph, layout
from ..viz.passages import passage_lines, passage_table
from .explorer import Choice, Explorer, Slider, Switch

LARGE = 5000
MEANING = {"restart": "restart probability", "follow": "probability of following an edge"}


class HippoExplorer(Explorer):
    """Question, restart probability, synonymy threshold and node specificity of a HippoRAG method, and what
    they do to its walk.

    `questions`: a `Corpus`, or a list of `Question`s or strings. The figure shows the `nodes` nodes
    that hold most mass over several restart probabilities, always in the same places for one question; node area
    is comparable while the question stays. On a graph of more than 5,000 nodes the threshold cannot
    go below the method's own, since searching for more synonyms takes seconds there.

    Source: Wang, Sec. IV-B (hippo-ppr)
    """

    def __init__(self, method, questions, question=None, k=5, nodes=26, show_gold=True):
        asked = [
            q if isinstance(q, Question) else Question(f"q{i + 1}", str(q))
            for i, q in enumerate(getattr(questions, "questions", questions))
        ]
        if not asked:
            raise MiniragError(
                "HippoExplorer needs at least one question: pass a corpus that has some, or a list of strings."
            )
        self.method, self.k, self.nodes = method, k, nodes
        self.questions = {q.id: q for q in asked}
        self.show_gold = show_gold
        options = method.chosen
        threshold, self.meaning = options.synonymy_threshold, MEANING[options.restart_read_as]
        self.strict, self.own_threshold = options.strict, threshold
        self._walked = {}
        self._at = lru_cache(maxsize=32)(self._compute)
        self._around = lru_cache(maxsize=64)(self._neighbourhood)
        self._joined = lru_cache(maxsize=8)(self._with_threshold)
        self._drawn = lru_cache(maxsize=64)(
            lambda question, threshold: self._part(
                self._joined(threshold).hippocampal_index, self._around(question)[0]
            )
        )
        lowest = threshold if len(method.graph.nodes) > LARGE else 0.6
        super().__init__(
            [
                Choice(
                    "question",
                    "Question",
                    tuple((f"{q.id}: {q.text}", q.id) for q in asked),
                    question or asked[0].id,
                ),
                Slider(
                    "restart_probability",
                    self.meaning,
                    0.1,
                    0.9,
                    0.05,
                    options.restart_probability,
                ),
                Slider("synonymy_threshold", "synonymy from cosine", lowest, 1.0, 0.02, threshold),
                Switch("specificity", "node specificity", options.specificity),
            ]
        )

    @property
    def question(self):
        return self.questions[self.state["question"]]

    @property
    def retrieval(self):
        """The `Retrieval` at the present state."""
        return self._at(*self.state.values())

    def _compute(self, question, restart, threshold, specificity):
        changed = {"restart_probability": restart, "specificity": specificity}
        return self._ask(question, self.k, threshold, **changed)

    def _ask(self, question, k, threshold, **options):
        """Retrieve with other options. Each copy of the method is made from the last one that
        walked, so that they share its matrices.
        """
        method = self._walked.get(threshold, self._joined(threshold)).with_options(**options)
        retrieval = method.retrieve(self.questions[question].text, k)
        self._walked = (
            {**self._walked, threshold: method} if len(self._walked) < 8 else {threshold: method}
        )
        return retrieval

    def _with_threshold(self, threshold):
        """The method at a threshold. Raising it only takes synonymy edges away, so nothing is
        searched for again.
        """
        if threshold == self.own_threshold:
            return self.method
        copy = self.method.with_options(synonymy_threshold=threshold)
        if threshold > self.own_threshold:
            g = self.method.hippocampal_index
            close = (
                (lambda weight: weight > threshold)
                if self.strict
                else (lambda weight: weight >= threshold)
            )
            copy.hippocampal_index = Graph(
                g.type,
                g.source,
                g.nodes,
                tuple(e for e in g.edges if e.kind != "synonymy" or close(e.weight)),
                g.chunks,
            )
        return copy

    def _neighbourhood(self, question):
        """Names of the nodes to show for a question, their places, and the mass drawn largest: all
        independent of the sliders.
        """
        specificity = self.controls["specificity"].value
        found = [
            self._ask(
                question,
                1,
                self.own_threshold,
                restart_probability=probability,
                specificity=specificity,
            )
            for probability in (0.3, 0.7)
        ]
        scores = sum(_mass(r, len(self.method.graph.nodes)) for r in found)
        linked = [i for _, i, _ in _linked(found[0])]
        best = sorted(
            range(len(scores)), key=lambda i: (i not in linked, -round(float(scores[i]), 9), i)
        )[: self.nodes]
        shown = [i for i in best if scores[i] > 0]
        peak = (
            max((float(_mass(r, len(scores)).max(initial=0.0)) for r in found), default=0.0) or 1.0
        )
        part = self._part(self.method.hippocampal_index, shown)
        return (
            tuple(shown),
            layout(part, highlight={"query node": [self._name(i) for i in linked]}),
            peak,
        )

    def _name(self, i):
        return self.method.graph.nodes[i].name

    @staticmethod
    def _part(graph, shown):
        """The subgraph of the shown node positions."""
        place = {node: i for i, node in enumerate(shown)}
        edges = tuple(
            type(e)(**{**vars(e), "source": place[e.source], "target": place[e.target]})
            for e in graph.edges
            if e.source in place and e.target in place
        )
        return Graph(
            graph.type, graph.source, tuple(graph.nodes[i] for i in shown), edges, graph.chunks
        )

    def figure(self):
        """The neighbourhood of the question, with the mass that each node holds now."""
        shown, places, peak = self._around(self.state["question"])
        retrieval = self.retrieval
        graph = self._joined(self.state["synonymy_threshold"]).hippocampal_index
        scores = _mass(retrieval, len(graph.nodes))
        linked = dict.fromkeys(self._name(i) for _, i, _ in _linked(retrieval))
        part = self._drawn(self.state["question"], self.state["synonymy_threshold"])
        caption = f"The {len(shown)} nodes shown hold {100 * float(scores[list(shown)].sum()):.1f} % of the mass; {len(graph.nodes)} nodes in all."
        mass = {self._name(i): float(scores[i]) for i in shown}
        return draw_graph(
            part,
            places,
            mass,
            {"query node": list(linked)},
            title=self.question.text,
            caption=caption,
            score_name="mass",
            score_max=peak,
        )

    def html(self):
        retrieval = self.retrieval
        gold = self.question.gold if self.show_gold else ()
        names = [self._name(i) for _, i, _ in _linked(retrieval)]
        if not _mass(retrieval, len(self.method.graph.nodes)).any():
            return f"<p>No node is linked to this question, so no mass flows.</p>{passage_table(retrieval.passages, gold)}"
        return self.figure().svg + passage_table(retrieval.passages, gold, names)

    def describe(self):
        retrieval = self.retrieval
        graph = self._joined(self.state["synonymy_threshold"]).hippocampal_index
        scores = _mass(retrieval, len(graph.nodes))
        synonyms = sum(e.kind == "synonymy" for e in graph.edges)
        best = sorted(
            range(len(scores)), key=lambda i: (-round(float(scores[i]), 6), self._name(i))
        )[:6]
        s = self.state
        lines = [
            f"{self.question.id}: {self.question.text}",
            f"{self.meaning} {s['restart_probability']:.2f}, synonymy from {s['synonymy_threshold']:.2f} ({synonyms} edges), specificity {'on' if s['specificity'] else 'off'}",
            "linked: "
            + (
                ", ".join(
                    f"{phrase} -> {self._name(i)} ({cosine:.2f})"
                    for phrase, i, cosine in _linked(retrieval)
                )
                or "nothing"
            ),
            "mass: "
            + (
                ", ".join(f"{self._name(i)} {scores[i]:.3f}" for i in best if scores[i] > 0)
                or "none"
            ),
            "passages:",
        ]
        return "\n".join(
            lines + passage_lines(retrieval.passages, self.question.gold if self.show_gold else ())
        )


def _linked(retrieval):
    """The nodes of the link step."""
    return retrieval.trace.last("link").nodes


def _mass(retrieval, count):
    """The walk's distribution over the graph's nodes, (count,); zeros where no walk took place."""
    walks = retrieval.trace.all(WalkStep)
    return walks[-1].scores if walks else np.zeros(count)


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
