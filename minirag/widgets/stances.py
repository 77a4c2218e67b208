"""ExplaGraphs item by item: the two texts, the graph with its negated relations, and what one bit
and two bits say of the answer.
"""

from html import escape

from ..core.errors import MiniragError
from ..corpora.expla_graphs import belief_and_argument
from ..reproduce.stance_baselines import BASELINES
from ..reproduce.stance_features import negated
from ..viz import draw_graph
from .explorer import Choice, Explorer, Slider

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
