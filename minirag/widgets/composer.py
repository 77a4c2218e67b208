"""The composer: a reader chooses operators and sees what the method that they make retrieves."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from html import escape
from itertools import chain, permutations
from typing import Any

import numpy as np

from ..core.corpus import Corpus, Question
from ..core.errors import MiniragError
from ..core.results import Retrieval
from ..core.trace import EntityStep, KeywordStep, SteinerStep, Step, VectorStep
from ..encoders.text_encoders import LoadedEncoder
from ..evaluate.metrics import interval, recall_at_k, verdict
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

Plan = tuple[str, tuple[str, ...]]  # the type of the graph, and names of operators
Outcome = tuple[str, dict[str, Retrieval]]  # a composition's row, and what it finds by question
SLOTS = ("first", "second", "third", "fourth")
MOST, WIDTH, GAP, TALL = 10, 760, 26, 46  # passages; pixels: of a row, between boxes, of a box
# Methods whose rows of Table 3 the pool composes to the same passages. The other rows take more
# slots than there are, options of their own, or a loop.
PRESETS = "dense hipporag graphrag-local graphrag-er vgraphrag vgraphrag-cc".split()
PRESETS += ["lightrag-local", "lightrag-global"]
HELD = {VectorStep: "vector", EntityStep: "entities", SteinerStep: "nodes"}


def preset(name: str) -> Plan:
    """The graph and the operators of a method's row, in the first order in which they fit.

    Source: Survey, Table 3 (tab-3)
    """
    method = METHODS[name]
    front = ("question Keywords",) if "keywords" in method.primitive else ()
    listed = [f"{kind} {each}" for kind, names in method.operators.items() for each in names]
    for order in permutations(listed):
        with suppress(MiniragError):
            compose(graph=method.graph_type, operators=[*front, *order])
            return method.graph_type, (*front, *order)
    raise MiniragError(f"The operators of {name} fit in no order: {', '.join(listed) or 'none'}.")


class ComposerExplorer(Explorer):
    """Up to four operators on a graph of some type, and what the method that they make retrieves,
    for one question of a corpus and, against `dense`, for all of them.

    questions: those of the corpus unless given; the ones with gold passages are asked. k: passages
    that count as found, at most 10. A graph and its vectors are made when a composition first needs
    them, and all later ones share them. A reader who tries many compositions chooses on these very
    questions, so the best recall found is optimistic.

    Source: Survey, Table 3 (tab-3); Survey, Alg. 1 (alg-1)
    """

    def __init__(
        self, corpus: Corpus, questions: Iterable[Question] | None = None, k: int = 5,
        encoder: LoadedEncoder | str = "minilm", llm: LLM | str = "offline",
    ) -> None:  # fmt: skip
        asked = corpus.questions if questions is None else questions
        self.questions = {each.id: each for each in asked if each.gold}
        if not self.questions:
            raise MiniragError("ComposerExplorer needs questions with gold passages; it got none.")
        self.corpus, self.encoder, self.llm = corpus, encoder, llm
        self.presets = {name: preset(name) for name in PRESETS}
        self._base = lru_cache(maxsize=None)(self._build)
        self._at = lru_cache(maxsize=128)(self._ask)
        texts = tuple((f"{name}: {each.text}", name) for name, each in self.questions.items())
        pool = (("nothing", ""), *((f"{o} → {WORDS[o.gives]}", str(o)) for o in OPERATORS.values()))
        super().__init__(
            Choice("question", "Question", texts, texts[0][1]),
            Choice("preset", "Method", (("your own", ""), *zip(PRESETS, PRESETS)), ""),
            Choice("graph", "Graph", tuple(zip(GRAPHS, GRAPHS)), "none"),
            *(Choice(slot, f"Operator {i}", pool, "") for i, slot in enumerate(SLOTS, 1)),
            Slider("k", "k", 1, MOST, 1, k),
        )
        self.set("preset", "hipporag")

    @property
    def plan(self) -> Plan:
        """The chosen graph and operators."""
        return self.state["graph"], tuple(filter(None, map(self.state.get, SLOTS)))

    def changed(self, name: str) -> None:
        """Choose the parts of a preset, or find the preset that has the chosen parts."""
        if name == "preset" and self.state["preset"]:
            graph, operators = self.presets[self.state["preset"]]
            self.state |= dict.fromkeys(SLOTS, "") | dict(zip(SLOTS, operators)) | {"graph": graph}
        self.state["preset"] = next((n for n, p in self.presets.items() if p == self.plan), "")

    def _build(self, graph: str) -> Composed:
        """A method on a graph of this type, whose parts all others use."""
        first = "community Layer" if graph in KNOWLEDGE[1:] else "chunk VDB"
        return compose(graph=graph, operators=[first]).build(self.corpus, self.llm, self.encoder)

    def _ask(self, graph: str, operators: Sequence[str]) -> Outcome:
        """Compose, and retrieve for every question. Raises `MiniragError` where nothing fits."""
        made, base = compose(graph=graph, operators=operators), self._base(graph)
        method = made(base.built, base.llm, base.encoder, base.chosen)
        method.parts = base.parts
        found = method.retrieve_many([each.text for each in self.questions.values()], MOST)
        return made.row, dict(zip(self.questions, found))

    def against_dense(self, found: dict[str, Retrieval]) -> str:
        """The mean evidence recall at k beside that of `dense`, in percent, and the interval of
        their difference.
        """
        k, both = self.state["k"], (found, self._at(*self.presets["dense"])[1])
        rows = [[recall_at_k(r[n].ids, q.gold, k) for r in both] for n, q in self.questions.items()]
        recalls = 100 * np.array(rows)
        (own, dense), gains = recalls.mean(axis=0), recalls[:, 0] - recalls[:, 1]
        low, high = interval(gains)
        says = verdict(low, high, 0) if gains.any() else "equal for every question"
        lead = f"{own - dense:+.1f}, 95 % interval [{low:+.1f}, {high:+.1f}]: {says}"
        return f"R@{k}, mean of {len(gains)} questions: {own:.1f}, dense {dense:.1f}; {lead}"

    def shown(self) -> tuple[str, Figure, Retrieval | None, str]:
        """Whether the composition runs, or the composer's message; its operators as boxes; where it
        runs, what it retrieves for the question, and `against_dense`.
        """
        graph, names = self.plan
        plan = with_conversions([OPERATORS[name] for name in names])
        try:
            row, found = self._at(graph, names)
        except MiniragError as error:
            return f"Does not run: {error}", draw_plan(graph, plan), None, ""
        k, here = self.state["k"], found[self.state["question"]]
        lines = [line.strip() for line in row.split("\n")[1:]]
        lines += [f"{step.operator}: {step.summary}" for step in here.trace[len(plan) :]]
        drawn, means = draw_plan(graph, plan, here.trace), self.against_dense(found)
        return f"Runs: {'; '.join(lines)}.", drawn, replace(here, passages=here.passages[:k]), means

    def figure(self) -> Figure:
        """The operators, and the passages that they retrieve beside those of `dense`."""
        said, drawn, found, means = self.shown()
        question, panels = self.questions[self.state["question"]], [drawn]
        if found:
            dense, k = self._at(*self.presets["dense"])[1][question.id], self.state["k"]
            names = ("dense", self.state["preset"] or "your composition")
            panels += [draw_ranking(dense, found, names, question.gold, k, title=means)]
        return draw_panels(panels, columns=1, title=question.text, caption=said)

    def html(self) -> str:
        said, drawn, found, means = self.shown()
        gold = self.questions[self.state["question"]].gold
        head, _, rest = said.partition(":")
        top = f"<p><b>{head}:</b>{escape(rest)}</p>{drawn.svg}"
        return top + (f"<p><b>{means}</b></p>{passage_table(found, gold)}" if found else "")

    def describe(self) -> str:
        said, drawn, found, means = self.shown()
        question = self.questions[self.state["question"]]
        lines = [f"{question.id}: {question.text}", drawn.text, said]
        return "\n".join(lines + ([means, *passage_lines(found, question.gold)] if found else []))

    def view(self) -> Any:  # an ipywidgets.VBox
        """The controls, the short ones two in a row, above one HTML panel."""
        import ipywidgets

        view = super().view()
        short = [self.widgets[name] for name in ("preset", "graph", *SLOTS)]
        for widget in short:
            widget.layout.width = "380px"
        wrapped = ipywidgets.HBox(short, layout={"flex_flow": "row wrap"})
        view.children = (self.widgets["question"], wrapped, *view.children[-2:])
        return view


def size(step: Step) -> str:
    """How much a step holds, in a word or two."""
    if hasattr(step, "scores"):
        return f"{np.count_nonzero(step.scores > 0)} above 0"
    if isinstance(step, KeywordStep):
        return str(len({*step.high, *step.low}))
    return str(len(getattr(step, step.shows or HELD[type(step)])))


def sources(plan: Sequence[Operator], place: int, graph: str) -> list[int] | None:
    """The places of the operators that this one takes from; None where it does not fit."""
    with suppress(MiniragError):
        found = chain(*plan[place].sources([each.gives for each in plan[:place]], graph))
        return [*found] if graph in plan[place].needs.graphs else None
    return None


def draw_plan(graph: str, plan: Sequence[Operator], trace: Sequence[Step] = ()) -> Figure:
    """Operators in a row: arrows lead to each from what it takes, and below it stands what it
    gives. A red edge marks one that does not fit.
    """
    links, steps = [sources(plan, i, graph) for i in range(len(plan))], iter(trace)
    arrows = [(start, end) for end, starts in enumerate(links) for start in starts or ()]
    lanes, text = [pair for pair in arrows if pair[1] - pair[0] > 1], []
    wide = min(132, (WIDTH - 8 - GAP * (len(plan) - 1)) // max(len(plan), 1))
    top, apart = 10 + 12 * len(lanes), wide + GAP
    scene = Scene(WIDTH, top + TALL + 54 if plan else 8)
    for place, (operator, starts) in enumerate(zip(plan, links)):
        x, held = 4 + place * apart, size(step) if (step := next(steps, None)) else ""
        edge = (Colour.VERMILLION, 3) if starts is None else (Colour.OUTLINE, 1)
        scene.box(x, top, wide, TALL, Colour.PALE, *edge, 6, repr(operator))
        scene.text(x + wide // 2, top + 18, operator.kind, 11, "middle", Colour.MUTED)
        name, gives = shorten(operator.name, wide - 4, 12, True), WORDS[operator.gives]
        scene.text(x + wide // 2, top + 35, name, 12, "middle", bold=True)
        for line, row in enumerate([*wrap(gives, apart - 8, 11), held]):
            y = top + TALL + 16 + 15 * line
            scene.text(x + wide // 2, y, row, 11, "middle", bold=row == held)
        taken = ", ".join(str(plan[start]) for start in starts or ()) or "the question"
        taken = "does not fit" if starts is None else f"takes from {taken}"
        text.append(f"  {operator} {taken}; gives {gives}{held and f' ({held})'}")
    for start, end in arrows:
        left, right, y = 4 + start * apart, 4 + end * apart, top + TALL // 2
        if (start, end) in lanes:
            y = 8 + 12 * lanes.index((start, end))
            left, right = left + wide // 2 + 6, right + wide // 2 - 6 - y // 3
            scene.line(((left, top), (left, y), (right, y)), Colour.INK)
            scene.arrow((right, y), (right, top))
        else:
            scene.arrow((left + wide + 2, y), (right - 2, y))
    return Figure(scene, "\n".join(text))
