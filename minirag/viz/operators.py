"""A drawn example of every operator of the pool: left what goes in, right what comes out.

All share the question, the graph of six nodes, the four passages and the two communities of
`data/operators`, written by hand. Every score is what the operator itself computes. An encoder of
two numbers a text stands for a trained one, and scripted replies for a language model.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import yaml
from numpy.typing import NDArray

from ..core import trace
from ..core.errors import MiniragError
from ..core.reports import CommunityIndex
from ..corpora.shipped_and_folders import shipped
from ..llm import LLM, Completion
from ..operators.operator import WORDS
from ..operators.pool import OPERATORS, Parts
from ..prompts.task import Fields, Messages, Task
from .figure import Figure, draw_panels
from .scene import Colour, Scene, mix, text_width, wrap

WIDE = 204  # of a side, in pixels
KINDS = {
    trace.NodeStep: "node", trace.WalkStep: "node", trace.CommunityStep: "community",
    trace.EdgeStep: "relationship", trace.FactStep: "relationship", trace.ChunkStep: "chunk",
}  # fmt: skip
Row = tuple[str, int | str, str, float]
# (kind, name) of an element -> what is written there, and its share of ink, 0 to 1. Texts, such as
# the question, count as chunks.
Marks = dict[tuple[str, str], tuple[str, float]]
BARE = "", 0.0


class Example(LLM):
    """What the drawings run on. It encodes, and replies, with what `drawings.yaml` holds."""

    name, is_model, dimensions = "scripted replies", False, 2

    def __init__(self) -> None:
        super().__init__()
        folder, self.said = shipped("operators"), list[str]()
        self.data = yaml.safe_load((folder / "drawings.yaml").read_text(encoding="utf-8"))
        reports = CommunityIndex.load(folder)
        graph = self.graph = reports.communities.graph
        self.parts = Parts(graph, self, self, reports)
        at = self.parts.node_names
        self.names = {
            "node": at, "chunk": [f"{chunk.label}: {chunk.text}" for chunk in graph.chunks],
            "relationship": [f"{at[e.source]} {e.name} {at[e.target]}" for e in graph.edges],
            "community": [report.title for report in reports.reports.values()],
        }  # fmt: skip

    def fit(self, texts: Sequence[str]) -> Self:
        return self

    def encode(self, texts: Sequence[str], kind: str = "passage") -> NDArray[np.float32]:
        return np.array([self.data["vectors"].get(t, (1, 0)) for t in texts], dtype=np.float32)

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        self.said.append(self.data["replies"][task.name])
        return Completion(self.said[-1])

    def run(self, name: str, found: Sequence[trace.Step]) -> trace.Step:
        """The step of an operator after those found; `said` are the replies that it got."""
        self.said.clear()
        operator = OPERATORS[name](**self.data["drawings"][name].get("options", {}))
        return operator.run(self.parts, [self.data["question"]], [found])[0]

    def marks(self, step: trace.Step) -> Marks:
        """What a step says of each element that it names."""
        marks: Marks = {}
        for kind, place, value, share in rows_of(step, self.data["question"]):
            marks[kind, place if isinstance(place, str) else self.names[kind][place]] = value, share
        return marks


def number(*values: float) -> str:
    """A score, or a vector, as figures show it."""
    return ", ".join(f"{round(float(value), 2) + 0:g}" for value in values)


def rows_of(step: trace.Step, question: str) -> list[Row]:
    """Kind, position or name, number and share of ink of each element that a step names."""
    kind = KINDS.get(type(step), "chunk")
    match step:
        case trace.WalkStep() | trace.FactStep() | trace.ChunkStep():
            shares = (step.scores / step.scores.max()).clip(0).tolist()
            return [(kind, i, number(step.scores[i]), share) for i, share in enumerate(shares)]
        case trace.SteinerStep():
            rows: list[Row] = [("node", i, number(step.node_prizes[i]), 1) for i in step.nodes]
            prizes = step.edge_prizes
            return rows + [("relationship", i, number(prizes[i]), 1) for i in step.edges]
        case trace.PathStep():
            rows = []
            for rank, (path, ways) in enumerate(zip(step.paths, step.edges), 1):
                rows += [("node", name, "", 1) for name in path.nodes]
                rows += [("relationship", i, f"path {rank}", 1) for way in ways for i in way]
                rows.append((kind, f"path {rank}: {path.label}", number(path.score), 1))
            return rows
        case trace.VectorStep():
            return [(kind, question, number(*step.vector), 1)]
        case trace.EntityStep():
            return [(kind, entity, "", 1) for entity in step.entities]
        case trace.KeywordStep():
            levels = (("high", step.high), ("low", step.low))
            return [(kind, f"{name} level: {', '.join(words)}", "", 1) for name, words in levels]
    return [(kind, row.index, number(row.score), 1) for row in getattr(step, step.shows)]


def marks_before(name: str, given: Sequence[trace.Step], example: Example) -> Marks:
    """The left side: what goes in, and the vectors or ratings that are looked at."""
    kind, parts, marks, shown = OPERATORS[name].kind, example.parts, Marks(), list[str]()
    for step in given:
        found = example.marks(step)
        # What an agent is offered is paler than where it stands.
        offered = name.endswith(" Agent") and step is given[1]
        marks |= dict.fromkeys(found, ("", 0.4)) if offered else found
    if any(isinstance(step, trace.VectorStep | trace.EntityStep) for step in given):
        index = parts.report_index[1] if kind == "community" else getattr(parts, f"{kind}_index")
        marks = {key: (number(*example.encode([key[1]])[0]), 1) for key in marks}
        shown = [number(*vector) for vector in index.vectors]
    elif kind == "community":
        shown = [f"rated {row.rating:g}" for row in parts.communities.reports.values()]
    elif kind == "node":
        shown = [""] * len(parts.node_names)
    if example.said or not given:
        marks = {("chunk", example.data["question"]): ("", 1), **marks}
    rest = {(kind, row): (value, 0.0) for row, value in zip(example.names.get(kind, ()), shown)}
    rest |= {("chunk", f"scripted reply: {reply}"): BARE for reply in example.said}
    return marks | {key: mark for key, mark in rest.items() if key not in marks}


def draw_operator(name: str) -> Figure:
    """An operator of the pool at work on a small example, such as "chunk Occurrence": left what
    goes in, right what comes out, below why.
    """
    if name not in OPERATORS:
        raise MiniragError(f"No operator is called {name!r}; there are: {', '.join(OPERATORS)}.")
    operator, example, found = OPERATORS[name], Example(), list[trace.Step]()
    drawing = example.data["drawings"][name]
    for earlier in drawing.get("before", ()):
        found.append(example.run(earlier, found))
    places = operator.sources([type(step) for step in found], example.parts.graph.type)
    given = [found[place] for slot in places for place in slot]
    came = example.run(name, found)
    kinds = " and ".join(dict.fromkeys(WORDS[type(step)] for step in given)) or "the question"
    sides, told = [], []
    for head, marks, colour in (
        (f"in: {kinds}", marks_before(name, given, example), Colour.ORANGE),
        (f"out: {WORDS[operator.gives]}", example.marks(came), Colour.BLUE),
    ):
        seen = {key: mark for key, mark in marks.items() if any(mark) or key[0] == "chunk"}
        rows = {row: value for (_, row), (value, _) in seen.items()}
        text = "\n".join([head, *(f"  {value:>5}  {row}" for row, value in rows.items())])
        sides.append(Figure(draw_side(head, marks, colour, example), text))
        told.append({row.split(":")[0]: value for row, value in rows.items()})
    options = ", ".join(f"{key} = {value}" for key, value in drawing.get("options", {}).items())
    title, caption = f"{name} ({options})" if options else name, drawing["caption"]
    return draw_panels(sides, title=title, caption=caption.format(i=told[0], o=told[1]))


def draw_side(head: str, marks: Marks, colour: str, example: Example) -> Scene:
    """One side: the graph where something of it is marked, and below it passages and texts."""
    scene = Scene(WIDE, 26)
    scene.text(2, 14, head, bold=True)
    scene.line(((2, 21), (WIDE - 2, 21)), colour, 4)
    if any(kind != "chunk" for kind, _ in marks):
        draw_graph(scene, marks, colour, example)
    for (kind, text), (value, share) in marks.items():
        if kind == "chunk":
            lines = wrap(text, WIDE - 22 - text_width(value, 12, share > 0), 12, lines=6)
            y, fill = scene.height + 4, mix(Colour.WHITE, colour, share / 3)
            scene.height = y + 16 * len(lines) + 8
            edge = colour if share else Colour.FAINT
            scene.box(2, y, WIDE - 4, scene.height - y, fill, edge, 2, 4)
            scene.text(WIDE - 8, y + 16, value, anchor="end", bold=share > 0)
            for i, line in enumerate(lines):
                scene.text(8, y + 16 + 16 * i, line)
    if head.startswith("in"):
        height, scene.width = min(120, scene.height // 2 + 12), WIDE + 26
        scene.arrow((WIDE + 4, height), (WIDE + 30, height), width=3, size=12)
    return scene


def draw_graph(scene: Scene, marks: Marks, colour: str, example: Example) -> None:
    """The graph, in front of its communities where they are marked."""
    framed = any(kind == "community" for kind, _ in marks)
    places = [(x, y + 24 * framed) for x, y in example.data["places"]]
    for title, top in zip(example.names["community"] if framed else (), (30, 148)):
        value, share = marks.get(("community", title), BARE)
        fill, edge = mix(Colour.WHITE, colour, share / 3), colour if share else Colour.EDGE
        scene.box(2, top, WIDE - 4, 114, fill, edge, 3 if share else 1, 6)
        y = top + (14 if top == 30 else 107)
        scene.text(8, y, f"{title}: {value}" if value else title, bold=share > 0)
    names = example.names["relationship"]
    lines = [(places[edge.source], places[edge.target]) for edge in example.graph.edges]
    for name, line in zip(names, lines):
        share = marks.get(("relationship", name), BARE)[1]
        scene.line(line, colour if share else Colour.EDGE, 1 + round(4 * share))
    for name, ((x1, y1), (x2, y2)), along in zip(names, lines, example.data["along"]):
        value, share = marks.get(("relationship", name), BARE)
        x, y, verb = round(x1 + (x2 - x1) * along), round(y1 + (y2 - y1) * along), name.split()[1]
        if value and y1 != y2:
            half = round(text_width(max(value, verb, key=len), 12, True) / 2)
            scene.box(x - half, y - 15, 2 * half, 31, Colour.WHITE)
        scene.text(x, y - 5, verb, 12, "middle", bold=share > 0.5, italic=True, halo=True)
        scene.text(x, y + 13, value, 12, "middle", bold=share > 0, halo=True)
    for name, (x, y) in zip(example.names["node"], places):
        value, share = marks.get(("node", name), BARE)
        scene.circle(x, y, 6 + round(5 * share), mix(Colour.WHITE, colour, share), Colour.OUTLINE)
        heights = (-32 if value else -18, -17) if y < 120 else (27, 41)
        for down, label, size in zip(heights, (name, value), (13, 12)):
            scene.text(x, y + down, label, size, "middle", bold=share > 0, halo=True)
    scene.height = 262 if framed else 218
