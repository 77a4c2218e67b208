"""Hits and misses, question by question: what two methods bring for each, and which of it is gold."""

from html import escape

from ..core.errors import MiniragError
from ..viz import draw_ranking
from .explorer import Choice, Explorer
from .tables import passage_lines, passage_rows

SHOWN = {
    "all": "all questions",
    "hit": "all gold found by {b}",
    "miss": "some gold missed by {b}",
    "gained": "{b} finds more than {a}",
    "lost": "{b} finds less than {a}",
}


class RetrievalBrowser(Explorer):
    """Two methods on the same questions. `rows`: (Question, Retrieval by the first, Retrieval by
    the second), as `zip` gives them.

    `k`: how many passages count as found. `names`: the methods' names, from the retrievals if not
    given.
    """

    def __init__(self, rows, names=None, k=5):
        self.rows = {question.id: (question, first, second) for question, first, second in rows}
        if not self.rows:
            raise MiniragError(
                "RetrievalBrowser needs at least one row (Question, Retrieval, Retrieval)."
            )
        _, first, second = next(iter(self.rows.values()))
        self.names, self.k = tuple(names or (first.method, second.method)), k
        self.members = {state: [i for i in self.rows if self._is(i, state)] for state in SHOWN}
        a, b = self.names
        filters = tuple(
            (f"{text.format(a=a, b=b)} ({len(self.members[state])})", state)
            for state, text in SHOWN.items()
        )
        super().__init__([Choice("show", "Show", filters, "all"), self._question_choice("all")])

    def found(self, question_id):
        """How many gold passages each method has among its first k: (first, second, all gold)."""
        question, *retrievals = self.rows[question_id]
        return (
            *(len(set(question.gold) & set(r.ids[: self.k])) for r in retrievals),
            len(set(question.gold)),
        )

    def _is(self, question_id, state):
        first, second, gold = self.found(question_id)
        return {
            "all": True,
            "hit": second == gold,
            "miss": second < gold,
            "gained": second > first,
            "lost": second < first,
        }[state]

    def _question_choice(self, state):
        ids = self.members[state]
        options = tuple((f"{i}: {self.rows[i][0].text[:110]}", i) for i in ids) or (
            ("no such question", None),
        )
        return Choice("question", "Question", options, options[0][1])

    def changed(self, name):
        if name == "show":
            choice = self.controls["question"] = self._question_choice(self.state["show"])
            if self.state["question"] not in self.members[self.state["show"]]:
                self.state["question"] = choice.value

    def _counts(self):
        return ", ".join(
            f"{state} {len(members)}" for state, members in self.members.items() if state != "all"
        )

    def figure(self):
        """Both rankings of the present question side by side."""
        question, first, second = self.rows[self.state["question"]]
        return draw_ranking(
            first, second, self.names, gold=question.gold, k=max(10, self.k), title=question.text
        )

    def html(self):
        if self.state["question"] is None:
            return "<p>No question is of this kind.</p>"
        question, *retrievals = self.rows[self.state["question"]]
        *found, gold = self.found(question.id)
        answers = (
            f" <span style='color:#555555'>Answer: {escape(' / '.join(question.answers))}</span>"
            if question.answers
            else ""
        )
        columns = "".join(
            f"<td style='vertical-align:top;width:50%'><b>{escape(name)}</b>: {hits} of {gold} gold in the first {self.k}"
            f"<table style='width:100%;color:#1A1A1A'>{passage_rows(r.passages[: self.k], question.gold, question.answers, 90)}</table></td>"
            for name, hits, r in zip(self.names, found, retrievals)
        )
        missing = [i for i in question.gold if not any(i in r.ids[: self.k] for r in retrievals)]
        note = f"<p>Found by neither: {escape(', '.join(missing))}</p>" if missing else ""
        return f"<p><b>{escape(question.text)}</b>{answers}</p><table style='width:100%'><tr style='background:transparent'>{columns}</tr></table>{note}"

    def describe(self):
        head = f"{len(self.rows)} questions, {self.names[0]} against {self.names[1]}, first {self.k}: {self._counts()}"
        if self.state["question"] is None:
            return f"{head}\nno question is of this kind"
        question, *retrievals = self.rows[self.state["question"]]
        lines = [head, f"{question.id}: {question.text}"]
        for name, hits, retrieval in zip(self.names, self.found(question.id), retrievals):
            lines += [f"{name}: {hits} of {len(set(question.gold))} gold"] + passage_lines(
                retrieval.passages[: self.k], question.gold
            )
        return "\n".join(lines)
