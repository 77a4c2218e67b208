"""The composer: a reader chooses operators and sees what the method made of them retrieves."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from itertools import chain, permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.corpus import Corpus, Question
from ..core.errors import MiniragError
from ..core.results import Retrieval
from ..core.trace import EntityStep, KeywordStep, Step, VectorStep
from ..encoders.text_encoders import LoadedEncoder
from ..evaluate.metrics import interval, recall_at_k
from ..llm import LLM
from ..methods import METHODS
from ..methods.compose import compose, with_conversions
from ..methods.composed import Composed
from ..operators.operator import GRAPHS, KNOWLEDGE, WORDS
from ..operators.pool import OPERATORS, Operator
from ..viz import Figure, draw_panels, draw_ranking
from ..viz.passages import passage_lines, passage_table
from ..viz.scene import Colour, Scene, shorten, wrap
from .explorer import Choice, Explorer, Slider

if TYPE_CHECKING:
    from ipywidgets import VBox

Plan = tuple[str, tuple[str, ...]]  # the type of the graph, and names of operators
SLOTS = ("first", "second", "third", "fourth")
MOST, WIDTH, GAP, TALL = 10, 760, 26, 46  # passages; pixels: of a row, between boxes, of a box
# Methods whose row of Table 3 the pool composes to the same passages; other rows take more slots,
# options of their own, or a loop.
PRESETS = (
    "dense", "hipporag", "graphrag-local", "graphrag-er", "vgraphrag", "vgraphrag-cc",
    "lightrag-local", "lightrag-global",
)  # fmt: skip
DENSE: Plan = ("none", ("chunk VDB",))


class Outcome(NamedTuple):
    """A composition that runs, and what it retrieves for every question."""

    row: str
    retrievals: list[Retrieval]


def preset(name: str) -> Plan:
    """The graph and the operators of a method's row, in the first order in which they fit.

    Source: Survey, Table 3 (tab-3)
    """
    method = METHODS[name]
    front = ("question Keywords",) if "keywords" in method.primitive else ()
    listed = [f"{kind} {each}" for kind, names in method.operators.items() for each in names]
    for order in permutations(listed):
        try:
            compose(graph=method.graph_type, operators=[*front, *order])
        except MiniragError:
            continue
        return method.graph_type, (*front, *order)
    raise MiniragError(f"The operators of {name} fit in no order: {', '.join(listed) or 'none'}.")


class ComposerExplorer(Explorer):
    """Up to four operators on a graph of a type, and what the method that they make retrieves for a
    question of the corpus, and for all of them against `dense`.

    questions: those of the corpus unless given; the ones with gold passages are asked. k: passages
    that count as found. A graph and its vectors are made when a composition first needs them, and
    shared by all later ones. The questions choose nothing here, but a reader who tries many
    compositions on the same questions does: their best recall is optimistic.

    Source: Survey, Table 3 (tab-3); Survey, Alg. 1 (alg-1)
    """

    def __init__(
        self, corpus: Corpus, questions: Iterable[Question] | None = None, k: int = 5,
        encoder: LoadedEncoder | str = "minilm", llm: LLM | str = "offline",
    ) -> None:  # fmt: skip
        asked = corpus.questions if questions is None else questions
        self.questions = {each.id: each for each in asked if each.gold}
        if not self.questions:
            raise MiniragError(
                "ComposerExplorer needs a question with gold passages; there is none."
            )
        self.corpus, self.encoder, self.llm = corpus, encoder, llm
        self.presets = {name: preset(name) for name in PRESETS}
        self._base = lru_cache(maxsize=None)(self._build)
        self._at = lru_cache(maxsize=128)(self._ask)
        kinds = tuple((kind, kind) for kind in GRAPHS)
        pool = (("nothing", ""), *((shown(each), name) for name, each in OPERATORS.items()))
        texts = tuple((f"{each.id}: {each.text}", each.id) for each in self.questions.values())
        known = (("your own", ""), *((name, name) for name in PRESETS))
        super().__init__(
            Choice("question", "Question", texts, texts[0][1]),
            Choice("preset", "Method", known, ""),
            Choice("graph", "Graph", kinds, "none"),
            *(Choice(slot, f"Operator {i}", pool, "") for i, slot in enumerate(SLOTS, 1)),
            Slider("k", "k", 1, MOST, 1, k),
        )
        self.set("preset", "hipporag")

    @property
    def plan(self) -> Plan:
        """The chosen graph and operators."""
        return self.state["graph"], tuple(filter(None, (self.state[slot] for slot in SLOTS)))

    @property
    def question(self) -> Question:
        return self.questions[self.state["question"]]

    def changed(self, name: str) -> None:
        """Choose a preset's parts; name the preset of the chosen parts."""
        if name == "preset" and self.state["preset"]:
            graph, operators = self.presets[self.state["preset"]]
            empty = [""] * (len(SLOTS) - len(operators))
            self.state |= {"graph": graph, **dict(zip(SLOTS, [*operators, *empty]))}
        same = [name for name, plan in self.presets.items() if plan == self.plan]
        self.state["preset"] = same[0] if same else ""

    def _build(self, graph: str) -> Composed:
        """A method on a graph of this type, whose graph, reports and vectors all others share."""
        first = "community Layer" if graph in KNOWLEDGE[1:] else "chunk VDB"
        made = compose(graph=graph, operators=[first])
        return made.build(self.corpus, llm=self.llm, encoder=self.encoder)

    def _ask(self, graph: str, operators: Sequence[str]) -> Outcome:
        made = compose(graph=graph, operators=operators)
        base = self._base(graph)
        method = made(base.built, base.llm, base.encoder, base.chosen)
        method.parts = base.parts
        texts = [each.text for each in self.questions.values()]
        return Outcome(made.row, method.retrieve_many(texts, MOST))

    @property
    def outcome(self) -> Outcome | str:
        """What the composition retrieves, or the composer's words on what is missing."""
        try:
            return self._at(*self.plan)
        except MiniragError as error:
            return str(error)

    def recalls(self, outcome: Outcome) -> np.ndarray:
        """Each question's evidence recall at k, in percent."""
        pairs = zip(outcome.retrievals, self.questions.values())
        return np.array([100 * recall_at_k(r.ids, q.gold, self.state["k"]) for r, q in pairs])

    def retrieval(self, outcome: Outcome) -> Retrieval:
        """What an outcome has for the present question."""
        return outcome.retrievals[[*self.questions].index(self.state["question"])]

    def compared(self, outcome: Outcome) -> str:
        """Its recall over all questions beside that of `dense`."""
        own, dense = self.recalls(outcome), self.recalls(self._at(*DENSE))
        low, high = interval(own - dense)
        between = f"{(own - dense).mean():+.1f} points [{low:+.1f}, {high:+.1f}]"
        means = f"{own.mean():.1f}, dense {dense.mean():.1f}"
        return f"R@{self.state['k']} over {len(own)} questions: {means}; {between}"

    def drawn(self) -> Figure:
        """The operators with what each takes and gives, and below what the composer says."""
        (graph, names), found = self.plan, self.outcome
        plan = with_conversions([OPERATORS[name] for name in names])
        if isinstance(found, str):
            return draw_plan(graph, plan, (), f"Does not run. {found}")
        return draw_plan(graph, plan, self.retrieval(found).trace, f"Runs. {told(found.row)}")

    def figure(self) -> Figure:
        """The operators, and the passages that they retrieve beside those of `dense`."""
        drawn, found, question = self.drawn(), self.outcome, self.question
        if isinstance(found, str):
            return drawn
        both, names = (self._at(*DENSE), found), ("dense", self.state["preset"] or "yours")
        lists = (self.retrieval(each) for each in both)
        k, title = self.state["k"], self.compared(found)
        ranked = draw_ranking(*lists, names=names, gold=question.gold, k=k, title=title)
        return draw_panels([drawn, ranked], columns=1, title=question.text)

    def html(self) -> str:
        found, gold = self.outcome, self.question.gold
        if isinstance(found, str):
            return self.drawn().svg
        passages = self.retrieval(found).passages[: self.state["k"]]
        head = f"<p><b>{escape(self.compared(found))}</b></p>"
        return self.drawn().svg + head + passage_table(passages, gold)

    def describe(self) -> str:
        found, question = self.outcome, self.question
        lines = [f"{question.id}: {question.text}", self.drawn().text]
        if not isinstance(found, str):
            passages = self.retrieval(found).passages[: self.state["k"]]
            lines += [self.compared(found), *passage_lines(passages, question.gold)]
        return "\n".join(lines)

    def view(self) -> "VBox":
        """As other explorers, with the short controls side by side."""
        import ipywidgets

        view = super().view()
        short = [self.widgets[name] for name in ("preset", "graph", *SLOTS)]
        for widget in short:
            widget.layout.width = "250px"
        wrapped = ipywidgets.HBox(short, layout={"flex_flow": "row wrap"})
        view.children = (self.widgets["question"], wrapped, *view.children[-2:])
        return view


def shown(operator: Operator) -> str:
    """An operator with the types that it takes and gives."""
    return f"{operator}: {takes(operator)} → {WORDS[operator.gives]}"


def takes(operator: Operator) -> str:
    """What an operator takes, in words."""
    return " and ".join(map(str, operator.takes)) or "the question"


def told(row: str) -> str:
    """All of a composition's row but its operators, in one line."""
    return "; ".join(line.strip() for line in row.split("\n")[1:])


def size(step: Step) -> str:
    """How many things a step holds."""
    match step:
        case VectorStep():
            return f"{len(step.vector)} numbers"
        case EntityStep():
            return str(len(step.entities))
        case KeywordStep():
            return str(len(step.high) + len(step.low))
    if hasattr(step, "scores"):
        return f"{np.count_nonzero(step.scores > 0)} of {len(step.scores)}"
    return str(len(getattr(step, step.shows or "nodes")))


def draw_plan(graph: str, plan: Sequence[Operator], trace: Sequence[Step], words: str) -> Figure:
    """Operators in a row; arrows lead from what each takes, and below it stands what it gives. What
    does not fit has a red edge.
    """
    wide = min(132, (WIDTH - 8 - GAP * (len(plan) - 1)) // max(len(plan), 1))
    wanted, misfits, text = [], set(), []
    for place, operator in enumerate(plan):
        sources = list[int]()
        try:
            sources = [*chain(*operator.sources([o.gives for o in plan[:place]], graph))]
        except MiniragError:
            misfits.add(place)
        if graph not in operator.needs.graphs:
            misfits.add(place)
        wanted += [(source, place) for source in sources]
        given = WORDS[operator.gives] + (f": {size(trace[place])}" if trace else "")
        after = ", ".join(str(plan[source]) for source in sources) or "the question"
        text.append(f"  {operator} <- {after}; gives {given}")
    far = [pair for pair in wanted if pair[1] - pair[0] > 1]
    top = 10 + 12 * len(far)
    scene = Scene(WIDTH, top + TALL + 54 if plan else 8)
    for place, operator in enumerate(plan):
        x, red = 4 + place * (wide + GAP), place in misfits
        edge = Colour.VERMILLION if red else Colour.OUTLINE
        scene.box(x, top, wide, TALL, Colour.PALE, edge, 3 if red else 1, 6, shown(operator))
        middle = x + wide // 2
        scene.text(middle, top + 18, operator.kind, 11, "middle", Colour.MUTED)
        scene.text(
            middle, top + 35, shorten(operator.name, wide - 4, 12, True), 12, "middle", bold=True
        )
        gives = [
            *wrap(WORDS[operator.gives], wide + GAP - 8, 11),
            *([size(trace[place])] if trace else []),
        ]
        for line, row in enumerate(gives):
            scene.text(
                middle,
                top + TALL + 16 + 15 * line,
                row,
                11,
                "middle",
                bold=line == len(gives) - 1 and bool(trace),
            )
    for source, place in wanted:
        left, right = (4 + at * (wide + GAP) for at in (source, place))
        if place - source == 1:
            scene.arrow((left + wide + 2, top + TALL // 2), (right - 2, top + TALL // 2))
        else:
            lane = far.index((source, place))
            y, start, end = 8 + 12 * lane, left + wide // 2 + 6, right + wide // 2 - 6 - 5 * lane
            scene.line(((start, top), (start, y), (end, y)), Colour.INK)
            scene.arrow((end, y), (end, top))
    return Figure(scene, "\n".join(text), caption=words)
