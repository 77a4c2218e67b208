"""Explorers of GRAG and of the data set ExplaGraphs: soft pruning, and items with their stances."""

from functools import lru_cache
from html import escape

import numpy as np

from ..algorithms.vectors import normalize
from ..core.errors import MiniragError
from ..corpora.expla_graphs import belief_and_argument
from ..reproduce.stance_baselines import BASELINES
from ..reproduce.stance_features import negated
from ..viz import draw_graph, layout
from .explorer import Choice, Explorer, Slider

BY_HAND = "by hand: a falling curve"


class PruningExplorer(Explorer):
    """One graph, two questions and what lies between them: nodes and edges fade with their factors.

    graph: a `TextualGraph`. questions: the questions to choose from. encoder: see
    `minirag.load_encoder`. The question moves: with a share s, its vector is (1 - s) times the
    first one's plus s times the second one's, at length 1. Factors by hand are a sigmoid that falls
    with the distance, sigmoid(steepness * (middle - distance)), the same for nodes and edges.
    learnt: {name: function of the question's vector (d,) to (alpha_n (n,), alpha_e (m,))}, more
    ways to choose the factors. answer: a function of the question's vector to what is shown below
    the figure, a text. near: how many texts `describe` tells of.

    Source: GRAG, Eq. 5-6 (eq-5, eq-6)
    """

    def __init__(
        self,
        graph,
        questions,
        encoder,
        learnt=None,
        answer=None,
        middle=1.2,
        steepness=10.0,
        near=5,
        highlight=None,
    ):
        questions = list(questions)
        if not graph.nodes or not questions:
            raise MiniragError(
                "PruningExplorer needs a graph with nodes and at least one question."
            )
        self.graph, self.near, self.highlight = graph, near, highlight
        self.learnt, self.answer = dict(learnt or {}), answer
        vectors = np.asarray(
            encoder.encode([*graph.nodes, *(text for _, text, _ in graph.edges)]), dtype=np.float64
        )
        self.node_vectors, self.edge_vectors = np.split(vectors, [len(graph.nodes)])
        self.asked = dict(
            zip(questions, np.asarray(encoder.encode(questions, kind="query"), dtype=np.float64))
        )
        self._places = layout(graph, height=400)
        self._found = lru_cache(maxsize=512)(self._factors)
        choices = tuple((question, question) for question in questions)
        ways = (BY_HAND, *self.learnt)
        super().__init__(
            [
                Choice("question", "question", choices, questions[0]),
                Choice("other", "moves towards", choices, questions[-1]),
                *(
                    [Choice("factors", "factors", tuple((way, way) for way in ways), ways[-1])]
                    if self.learnt
                    else []
                ),  # one way is no choice
                Slider("share", "share of the other", 0.0, 1.0, 0.05, 0.0),
                Slider("middle", "distance where the factor is 1/2", 0.7, 1.5, 0.05, middle),
                Slider("steepness", "steepness", 0.0, 30.0, 1.0, steepness),
            ]
        )

    @property
    def vector(self):
        """z_q as it is now: (d,), of length 1."""
        s = self.state
        return normalize(
            (1 - s["share"]) * self.asked[s["question"]] + s["share"] * self.asked[s["other"]]
        )

    def distances(self):
        """How far each node and each edge lies from the question: (n,) and (m,).

        Source: GRAG, Eq. 6 (eq-6)
        """
        return tuple(
            np.linalg.norm(part - self.vector, axis=1)
            for part in (self.node_vectors, self.edge_vectors)
        )

    @property
    def factors(self):
        """(alpha_n (n,), alpha_e (m,)) as they are now."""
        s = self.state
        return self._found(
            s["question"], s["other"], self.way, s["share"], s["middle"], s["steepness"]
        )

    @property
    def way(self):
        """How the factors are made: by hand, or the name of a learnt way."""
        return self.state.get("factors", BY_HAND)

    def _factors(self, question, other, way, share, middle, steepness):
        if way != BY_HAND:
            return tuple(
                np.asarray(part, dtype=np.float64) for part in self.learnt[way](self.vector)
            )
        return tuple(1 / (1 + np.exp(-steepness * (middle - far))) for far in self.distances())

    def figure(self):
        """The graph with its factors as ink; two edges between the same nodes show the larger one."""
        nodes, edges = self.factors
        pairs = {}
        for (head, _, tail), share in zip(self.graph.edges, edges.tolist()):
            pairs[head, tail] = max(share, pairs.get((head, tail), 0.0))
        return draw_graph(
            self.graph, self._places, highlight=self.highlight, edge_labels=True, height=400, node_opacity=nodes, edge_opacity=pairs, caption=self._said(),
        )  # fmt: skip

    def html(self):
        told = f"<p>{escape(self.answer(self.vector))}</p>" if self.answer else ""
        return self.figure().svg + told

    def _said(self):
        s = self.state
        asked = (
            s["question"]
            if not s["share"]
            else f"{1 - s['share']:.0%} {s['question']} + {s['share']:.0%} {s['other']}"
        )
        how = (
            f"by hand, 1/2 at {s['middle']:.2f}, steepness {s['steepness']:g}"
            if self.way == BY_HAND
            else self.way
        )
        return f"{asked} Factors {how}."

    def describe(self):
        """The nearest nodes and edges with distance and factor, and the sums of all factors: how
        much is left of the graph.
        """
        lines = [self._said()]
        texts = list(self.graph.nodes), self.graph.lines()
        for name, some, far, alpha in zip(
            ("nodes", "edges"), texts, self.distances(), self.factors
        ):
            lines.append(
                f"{name}: {alpha.sum():.1f} of {len(some)} left; the nearest, with distance and factor"
            )
            best = sorted(range(len(some)), key=lambda i: (round(far[i], 6), i))[: self.near]
            lines += [f"  {far[i]:.2f}  {alpha[i]:.2f}  {some[i]}" for i in best]
        return "\n".join([*lines, self.answer(self.vector)] if self.answer else lines)


RULES = {
    baseline.name: baseline
    for baseline in BASELINES
    if baseline.model == "rule" and baseline.name != "majority"
}
EVERY = "every item"


class StanceExplorer(Explorer):
    """Items of ExplaGraphs one after another: all of them, or those that one of the two rules gets
    wrong.

    Source: GRAG, Table 2 (tab-2)
    """

    def __init__(self, questions, shown=EVERY, item=1):
        self.lists = {EVERY: list(questions)}
        if not self.lists[EVERY]:
            raise MiniragError("StanceExplorer needs at least one question.")
        for name, rule in RULES.items():
            self.lists[f"wrong by: {name}"] = [
                question for question in questions if rule.look(question, None) != question.answer
            ]
        options = tuple((f"{name} ({len(some)})", name) for name, some in self.lists.items())
        most = max(map(len, self.lists.values()))
        super().__init__(
            [Choice("shown", "Show", options, shown), Slider("item", "item", 1, most, 1, item)]
        )

    @property
    def question(self):
        """The item now, or None where the list is empty; beyond its end it starts again."""
        some = self.lists[self.state["shown"]]
        return some[(self.state["item"] - 1) % len(some)] if some else None

    def verdicts(self):
        """{rule: its answer} for the item now."""
        return {name: rule.look(self.question, None) for name, rule in RULES.items()}

    def figure(self):
        """The item's graph, with its negated relations in bold."""
        graph = self.question.graph
        denied = [[head, tail] for head, relation, tail in graph.edges if negated(relation)]
        caption = "" if denied else "No relation is negated."
        return draw_graph(
            graph,
            edge_labels=True,
            paths=denied,
            path_name="negated relation",
            height=300,
            caption=caption,
        )

    def html(self):
        if self.question is None:
            return "There is no such item."
        belief, argument = map(escape, belief_and_argument(self.question))
        said = "; ".join(
            f"{escape(name)}: <b>{answer}</b>" for name, answer in self.verdicts().items()
        )
        return f"<p><b>Belief.</b> {belief}<br><b>Argument.</b> {argument}</p>{self.figure().svg}<p>{said}. Right: <b>{self.question.answer}</b>.</p>"

    def describe(self):
        if self.question is None:
            return f"{self.state['shown']}: no item"
        belief, argument = belief_and_argument(self.question)
        lines = [
            f"{self.state['shown']}, {self.question.id}",
            f"belief:   {belief}",
            f"argument: {argument}",
        ]
        lines += [f"  {line}" for line in self.question.graph.lines()]
        return "\n".join(
            [
                *lines,
                *(f"{name}: {answer}" for name, answer in self.verdicts().items()),
                f"right: {self.question.answer}",
            ]
        )
