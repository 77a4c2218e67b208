"""Explorers that go from question to question: what two methods find, and the items of ExplaGraphs
with their stances.
"""

from collections.abc import Iterable, Sequence
from html import escape

from ..algorithms.ego_graphs import TextualGraph
from ..core.corpus import Question
from ..core.errors import MiniragError
from ..core.graph import GraphQuestion
from ..core.results import Retrieval
from ..corpora.expla_graphs import belief_and_argument
from ..reproduce.stance_baselines import BASELINES, negated
from ..viz import Figure, draw_graph, draw_ranking
from ..viz.passages import passage_lines, passage_rows
from .explorer import Choice, Explorer, Slider

SHOWN = {
    "all": "all questions",
    "hit": "all gold found by {b}",
    "miss": "some gold missed by {b}",
    "gained": "{b} finds more than {a}",
    "lost": "{b} finds less than {a}",
}
EVERY = "every item"
LOOKS = {rule.name: rule.look for rule in BASELINES if rule.model == "rule"}
RULES = {name: look for name, look in LOOKS.items() if name != "majority"}


class RetrievalBrowser(Explorer):
    """Two methods on the same questions. `rows`: (Question, Retrieval by the first, Retrieval by
    the second), as `zip` gives them.

    `k`: how many passages count as found. `names`: the methods' names, from the retrievals if not
    given.
    """

    def __init__(
        self,
        rows: Iterable[tuple[Question, Retrieval, Retrieval]],
        names: Sequence[str] | None = None,
        k: int = 5,
    ) -> None:
        self.rows = {question.id: (question, first, second) for question, first, second in rows}
        if not self.rows:
            raise MiniragError(
                "RetrievalBrowser needs at least one row (Question, Retrieval, Retrieval)."
            )
        _, first, second = next(iter(self.rows.values()))
        self.names, self.k = tuple(names or (first.method, second.method)), k
        self.members = {state: [i for i in self.rows if self._is(i, state)] for state in SHOWN}
        a, b = self.names
        counts = {state: len(members) for state, members in self.members.items()}
        filters = [(f"{text.format(a=a, b=b)} ({counts[s]})", s) for s, text in SHOWN.items()]
        show = Choice("show", "Show", tuple(filters), "all")
        super().__init__(show, self._question_choice("all"))

    def found(self, question_id: str) -> tuple[int, int, int]:
        """How many gold passages each method has among its first k: (first, second, all gold)."""
        question, first, second = self.rows[question_id]
        gold = set(question.gold)
        hits = [len(gold.intersection(r.ids[: self.k])) for r in (first, second)]
        return hits[0], hits[1], len(gold)

    def _is(self, question_id: str, state: str) -> bool:
        first, second, gold = self.found(question_id)
        hits = {"all": True, "hit": second == gold, "miss": second < gold}
        return {**hits, "gained": second > first, "lost": second < first}[state]

    def _question_choice(self, state: str) -> Choice:
        options = [(f"{i}: {self.rows[i][0].text[:110]}", i) for i in self.members[state]]
        shown = tuple(options) or (("no such question", None),)
        return Choice("question", "Question", shown, shown[0][1])

    def changed(self, name: str) -> None:
        """Offer the questions of the kind that is shown."""
        if name == "show":
            choice = self.controls["question"] = self._question_choice(self.state["show"])
            if self.state["question"] not in self.members[self.state["show"]]:
                self.state["question"] = choice.value

    def figure(self) -> Figure:
        """Both rankings of the present question side by side."""
        question, first, second = self.rows[self.state["question"]]
        k, title = max(10, self.k), question.text
        return draw_ranking(first, second, self.names, gold=question.gold, k=k, title=title)

    def html(self) -> str:
        if self.state["question"] is None:
            return "<p>No question is of this kind.</p>"
        question, *retrievals = self.rows[self.state["question"]]
        *found, gold = self.found(question.id)
        answers = f"Answer: {escape(' / '.join(question.answers))}"
        answers = f" <span style='color:#555555'>{answers}</span>" if question.answers else ""
        columns, missing = "", set(question.gold)
        for name, hits, retrieval in zip(self.names, found, retrievals):
            missing -= set(retrieval.ids[: self.k])
            rows = passage_rows(
                retrieval.passages[: self.k], question.gold, question.answers, characters=90
            )
            head = f"<b>{escape(name)}</b>: {hits} of {gold} gold in the first {self.k}"
            table = f"<table style='width:100%;color:#1A1A1A'>{rows}</table>"
            columns += f"<td style='vertical-align:top;width:50%'>{head}{table}</td>"
        lost = ", ".join(i for i in question.gold if i in missing)
        note = f"<p>Found by neither: {escape(lost)}</p>" if lost else ""
        table = f"<tr style='background:transparent'>{columns}</tr>"
        table = f"<table style='width:100%'>{table}</table>"
        return f"<p><b>{escape(question.text)}</b>{answers}</p>{table}{note}"

    def describe(self) -> str:
        counts = [f"{s} {len(ids)}" for s, ids in self.members.items() if s != "all"]
        head = f"{len(self.rows)} questions, {self.names[0]} against {self.names[1]}, "
        lines = [f"{head}first {self.k}: {', '.join(counts)}"]
        if self.state["question"] is None:
            return f"{lines[0]}\nno question is of this kind"
        question, *retrievals = self.rows[self.state["question"]]
        *found, gold = self.found(question.id)
        lines.append(f"{question.id}: {question.text}")
        for name, hits, retrieval in zip(self.names, found, retrievals):
            lines.append(f"{name}: {hits} of {gold} gold")
            lines += passage_lines(retrieval.passages[: self.k], question.gold)
        return "\n".join(lines)


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
        super().__init__(Choice("shown", "Show", options, EVERY), item)

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
