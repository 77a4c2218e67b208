"""Explorers of rankings: BM25's two parameters, and what two methods find question by question."""

from html import escape

from ..algorithms.bm25 import BM25, tokenize
from ..core.errors import MiniragError
from ..core.results import Passage
from ..operators import rank
from ..viz import draw_ranking
from ..viz.passages import passage_lines, passage_rows, passage_table
from ..viz.scene import Colour, ink_on
from .explorer import Choice, Explorer, Slider

LANE, LEFT, WIDTH = 26, 64, 760
CELL = "style='text-align:left;vertical-align:top'"


class BM25Explorer(Explorer):
    """BM25 over a corpus with its two parameters as sliders: the ranking, and what each word of the
    question brings the first passages.

    questions: `Question`s; their gold passages are marked as such in the picture and used for
    nothing else.
    """

    def __init__(self, corpus, questions, shown=5):
        self.chunks, self.questions, self.shown = corpus.chunks, {q.id: q for q in questions}, shown
        if not self.questions:
            raise MiniragError("BM25Explorer needs at least one question.")
        self.documents = [tokenize(chunk.passage) for chunk in self.chunks]
        options = tuple((f"{q.id}: {q.text[:100]}", q.id) for q in self.questions.values())
        choice = Choice("question", "Question", options, options[0][1])
        super().__init__(
            [
                choice,
                Slider("k1", "k1: repetition", 0.0, 3.0, 0.1, 1.5),
                Slider("b", "b: length", 0.0, 1.0, 0.05, 0.75),
            ]
        )

    @property
    def question(self):
        return self.questions[self.state["question"]]

    def index(self):
        return BM25(self.documents, k1=self.state["k1"], b=self.state["b"])

    def passages(self):
        scores = self.index().scores(tokenize(self.question.text))
        return [
            Passage(self.chunks[i], float(scores[i]), place)
            for place, i in enumerate(rank(scores, self.shown), start=1)
        ]

    def words(self):
        """{word of the question: its share of the score of every passage shown}, words in the
        question's order, those worth nothing left out.
        """
        index, places = (
            self.index(),
            [[c.id for c in self.chunks].index(p.id) for p in self.passages()],
        )
        asked = dict.fromkeys(tokenize(self.question.text))
        shares = {word: [float(index.scores([word])[i]) for i in places] for word in asked}
        return {word: row for word, row in shares.items() if any(row)}

    def describe(self):
        head = f"k1 {self.state['k1']:.2f}, b {self.state['b']:.2f}: {self.question.text}"
        best = sorted(
            ((row[0], word) for word, row in self.words().items() if row[0]),
            key=lambda pair: (-round(pair[0], 6), pair[1]),
        )
        first = "  first passage: " + ", ".join(f"{word} {share:.2f}" for share, word in best[:5])
        return "\n".join([head, *passage_lines(self.passages(), self.question.gold), first])

    def html(self):
        words, passages = self.words(), self.passages()
        top = max((value for row in words.values() for value in row), default=0.0) or 1.0
        head = "".join(f"<th>{p.rank}</th>" for p in passages)
        rows = "".join(
            f"<tr style='background:transparent'><td {CELL}>{escape(w)}</td>{''.join(_shade(v, top) for v in row)}</tr>"
            for w, row in words.items()
        )
        table = f"<table style='color:#1A1A1A'><tr><th style='text-align:left'>word</th>{head}</tr>{rows}</table>"
        found = passage_table(passages, self.question.gold, list(words))
        return f"<p>{escape(self.question.text)}</p>{found}<p>What each word brings the passage at each rank:</p>{table}"


def _shade(value, top):
    colour = Colour.SKY if value > top / 2 else Colour.PALE if value else Colour.WHITE
    return (
        f"<td style='background:{colour};color:{ink_on(colour)};text-align:right'>{value:.2f}</td>"
    )


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
