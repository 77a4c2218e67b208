"""Explorers of GRAG and of the data set ExplaGraphs: soft pruning, and items with their stances."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from html import escape

import numpy as np

from ..algorithms.textual import TextualGraph
from ..algorithms.vectors import normalize
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import GraphQuestion
from ..core.trace import Vector
from ..corpora.expla_graphs import belief_and_argument
from ..reproduce.stance_baselines import BASELINES, negated
from ..viz import Figure, draw_graph, layout
from ..viz.charts import Highlight
from .explorer import Choice, Explorer, Slider

BY_HAND = "by hand: a falling curve"
NEAR = 5  # texts that `describe` tells of
EVERY = "every item"
LOOKS = {rule.name: rule.look for rule in BASELINES if rule.model == "rule"}
RULES = {name: look for name, look in LOOKS.items() if name != "majority"}

Factors = tuple[Vector, Vector]  # alpha_n (n,) and alpha_e (m,)


class PruningExplorer(Explorer):
    """One graph, two questions and what lies between them: nodes and edges fade with their factors.

    graph: a `TextualGraph`. questions: the questions to choose from. encoder: see
    `minirag.load_encoder`. The question moves: with a share s, its vector is (1 - s) times the
    first one's plus s times the second one's, at length 1. Factors by hand are a sigmoid that falls
    with the distance, sigmoid(steepness * (middle - distance)), the same for nodes and edges.
    learnt: {name: function of the question's vector (d,) to (alpha_n (n,), alpha_e (m,))}, more
    ways to choose the factors. answer: a function of the question's vector to what is shown below
    the figure, a text.

    Source: GRAG, Eq. 5-6 (eq-5, eq-6)
    """

    def __init__(
        self,
        graph: TextualGraph,
        questions: Iterable[str],
        encoder: Encoder,
        learnt: Mapping[str, Callable[[Vector], Factors]] | None = None,
        answer: Callable[[Vector], str] | None = None,
        middle: float = 1.2,
        steepness: float = 10.0,
        highlight: Highlight | None = None,
    ) -> None:
        questions = list(questions)
        if not graph.nodes or not questions:
            wanted = "a graph with nodes and at least one question"
            raise MiniragError(f"PruningExplorer needs {wanted}.")
        self.graph, self.highlight = graph, highlight
        self.learnt, self.answer = dict(learnt or {}), answer
        relations = [text for _, text, _ in graph.edges]
        vectors = np.asarray(encoder.encode([*graph.nodes, *relations]), dtype=np.float64)
        self.node_vectors, self.edge_vectors = np.split(vectors, [len(graph.nodes)])
        asked = np.asarray(encoder.encode(questions, kind="query"), dtype=np.float64)
        self.asked = dict(zip(questions, asked))
        self._places = layout(graph, height=400)
        self._found = lru_cache(maxsize=512)(self._factors)
        options = tuple((question, question) for question in questions)
        ways = tuple((way, way) for way in (BY_HAND, *self.learnt))
        choices = [Choice("question", "question", options, questions[0])]
        choices += [Choice("other", "moves towards", options, questions[-1])]
        choices += [Choice("factors", "factors", ways, ways[-1][0])] if self.learnt else []
        super().__init__(
            [
                *choices,
                Slider("share", "share of the other", 0.0, 1.0, 0.05, 0.0),
                Slider("middle", "distance where the factor is 1/2", 0.7, 1.5, 0.05, middle),
                Slider("steepness", "steepness", 0.0, 30.0, 1.0, steepness),
            ]
        )

    @property
    def vector(self) -> Vector:
        """z_q as it is now: (d,), of length 1."""
        question, other = self.asked[self.state["question"]], self.asked[self.state["other"]]
        share = self.state["share"]
        return np.asarray(normalize((1 - share) * question + share * other), dtype=np.float64)

    def distances(self) -> Factors:
        """How far each node and each edge lies from the question: (n,) and (m,).

        Source: GRAG, Eq. 6 (eq-6)
        """
        vector = self.vector
        nodes = np.linalg.norm(self.node_vectors - vector, axis=1)
        return nodes, np.linalg.norm(self.edge_vectors - vector, axis=1)

    @property
    def factors(self) -> Factors:
        """(alpha_n (n,), alpha_e (m,)) as they are now."""
        return self._found(*self.state.values())

    @property
    def way(self) -> str:
        """How the factors are made: by hand, or the name of a learnt way."""
        return self.state.get("factors", BY_HAND)

    def _factors(self, *state: object) -> Factors:
        """The factors of this state, which is the present one."""
        if self.way != BY_HAND:
            nodes, edges = self.learnt[self.way](self.vector)
            return np.asarray(nodes, dtype=np.float64), np.asarray(edges, dtype=np.float64)
        middle, steepness = self.state["middle"], self.state["steepness"]
        nodes, edges = (1 / (1 + np.exp(-steepness * (middle - far))) for far in self.distances())
        return nodes, edges

    def figure(self) -> Figure:
        """The graph with its factors as ink; of parallel edges the larger one."""
        nodes, edges = self.factors
        pairs: dict[tuple[int, int], float] = {}
        for (head, _, tail), share in zip(self.graph.edges, edges.tolist()):
            pairs[head, tail] = max(share, pairs.get((head, tail), 0.0))
        draw = partial(draw_graph, self.graph, self._places, edge_labels=True, height=400)
        roles, note = self.highlight, self._setting()
        return draw(highlight=roles, node_opacity=nodes, edge_opacity=pairs, caption=note)

    def html(self) -> str:
        below = f"<p>{escape(self.answer(self.vector))}</p>" if self.answer else ""
        return self.figure().svg + below

    def _setting(self) -> str:
        state = self.state
        question, share = state["question"], state["share"]
        if share:
            question = f"{1 - share:.0%} {question} + {share:.0%} {state['other']}"
        way = self.way
        if way == BY_HAND:
            way = f"by hand, 1/2 at {state['middle']:.2f}, steepness {state['steepness']:g}"
        return f"{question} Factors {way}."

    def describe(self) -> str:
        """The nearest nodes and edges with distance and factor, and the sums of all factors: how
        much is left of the graph.
        """
        lines, texts = [self._setting()], (self.graph.nodes, self.graph.lines())
        for name, rows, far, alpha in zip(
            ("nodes", "edges"), texts, self.distances(), self.factors
        ):
            left = f"{alpha.sum():.1f} of {len(rows)} left"
            lines.append(f"{name}: {left}; the nearest, with distance and factor")
            nearest = sorted(zip(far.round(6), range(len(rows))))[:NEAR]
            lines += [f"  {far[i]:.2f}  {alpha[i]:.2f}  {rows[i]}" for _, i in nearest]
        return "\n".join([*lines, self.answer(self.vector)] if self.answer else lines)


class StanceExplorer(Explorer):
    """Items of ExplaGraphs one after another: all of them, or those that one of the two rules gets
    wrong.

    Source: GRAG, Table 2 (tab-2)
    """

    def __init__(self, questions: Iterable[GraphQuestion]) -> None:
        self.lists = {EVERY: list(questions)}
        if not self.lists[EVERY]:
            raise MiniragError("StanceExplorer needs at least one question.")
        for name, look in RULES.items():
            wrong = [q for q in self.lists[EVERY] if look(q, None) != q.answer]
            self.lists[f"wrong by: {name}"] = wrong
        options = tuple((f"{name} ({len(items)})", name) for name, items in self.lists.items())
        item = Slider("item", "item", 1, len(self.lists[EVERY]), 1, 1)
        super().__init__([Choice("shown", "Show", options, EVERY), item])

    @property
    def question(self) -> GraphQuestion | None:
        """The item now, or None where the list is empty; beyond its end it starts again."""
        items = self.lists[self.state["shown"]]
        return items[(self.state["item"] - 1) % len(items)] if items else None

    def verdicts(self) -> dict[str, str]:
        """{rule: its answer} for the item now."""
        return {name: look(self.question, None) for name, look in RULES.items()}

    def figure(self) -> Figure:
        """The item's graph, with its negated relations in bold."""
        graph = self.question.graph if self.question else TextualGraph(())
        denied = [[head, tail] for head, relation, tail in graph.edges if negated(relation)]
        name, note = "negated relation", "" if denied else "No relation is negated."
        return draw_graph(
            graph, edge_labels=True, paths=denied, path_name=name, height=300, caption=note
        )

    def html(self) -> str:
        question = self.question
        if question is None:
            return "There is no such item."
        belief, argument = map(escape, belief_and_argument(question))
        answers = [f"{escape(name)}: <b>{answer}</b>" for name, answer in self.verdicts().items()]
        head = f"<p><b>Belief.</b> {belief}<br><b>Argument.</b> {argument}</p>"
        foot = f"<p>{'; '.join(answers)}. Right: <b>{question.answer}</b>.</p>"
        return head + self.figure().svg + foot

    def describe(self) -> str:
        question = self.question
        if question is None:
            return f"{self.state['shown']}: no item"
        belief, argument = belief_and_argument(question)
        lines = [f"{self.state['shown']}, {question.id}"]
        lines += [f"belief:   {belief}", f"argument: {argument}"]
        lines += [f"  {line}" for line in question.graph.lines()]
        lines += [f"{name}: {answer}" for name, answer in self.verdicts().items()]
        return "\n".join([*lines, f"right: {question.answer}"])
