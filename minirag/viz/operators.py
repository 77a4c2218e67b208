"""A drawn example of every operator of the pool: left what goes in, right what comes out.

All share the question, the graph of six nodes, the four passages and the two communities of
`data/operators`, written by hand. Every score is what the operator itself computes. An encoder of
two numbers a text stands for a trained one, and scripted replies for a language model.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from ..core import trace
from ..core.encoder import Kind
from ..core.errors import MiniragError
from ..core.reports import CommunityIndex
from ..corpora.shipped_and_folders import shipped
from ..llm import LLM, Completion
from ..operators.operator import WORDS
from ..operators.pool import OPERATORS, Parts
from ..prompts.task import Fields, Messages, Task
from .figure import Figure, draw_panels
from .scene import Colour, Scene, mix, text_width, wrap

WIDE, TALL = 192, 228  # of a side, and of the graph on it, in pixels
ROW = "row"  # the layer of texts: the question, what was read out of it, paths, replies
LAYERS = {
    trace.NodeStep: "node", trace.WalkStep: "node", trace.EdgeStep: "edge", trace.FactStep: "edge",
    trace.ChunkStep: "chunk", trace.CommunityStep: "community",
}  # fmt: skip
# What gives the steps that an operator takes.
GIVES = {
    trace.VectorStep: "question Vector", trace.EntityStep: "question Entities",
    trace.NodeStep: "node Link", trace.EdgeStep: "relationship VDB", trace.WalkStep: "node PPR",
    trace.FactStep: "relationship Aggregator", trace.PathStep: "subgraph KhopPath",
}  # fmt: skip
# layer -> position, or text of a row -> what is written there, and its share of ink, 0 to 1.
Marks = dict[str, dict[Any, tuple[str, float]]]


class Example(LLM):
    """What the drawings run on. It encodes, and replies, with what `drawings.yaml` holds."""

    name, is_model = "scripted replies", False

    def __init__(self) -> None:
        super().__init__()
        folder = shipped("operators")
        self.data = yaml.safe_load((folder / "drawings.yaml").read_text(encoding="utf-8"))
        self.index, self.said = CommunityIndex.load(folder), list[str]()
        self.graph = self.index.communities.graph
        self.parts = Parts(self.graph, self, self, self.index)

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return np.array([self.data["vectors"].get(t, (1, 0)) for t in texts], dtype=np.float32)

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        self.said.append(self.data["replies"][task.name])
        return Completion(self.said[-1])

    def run(self, name: str, found: Sequence[trace.Step]) -> trace.Step:
        """The step of an operator after those found; `said` are the replies that it got."""
        self.said.clear()
        operator = OPERATORS[name](**self.data["drawings"][name].get("options", {}))
        return operator.run(self.parts, [self.data["question"]], [found])[0]

    def before(self, name: str) -> list[str]:
        """The operators that run before one, so that what it takes is there."""
        first = [GIVES[slot.kinds[0]] for slot in OPERATORS[name].takes if not slot.optional]
        found = [each for one in first for each in (*self.before(one), one)]
        return self.data["drawings"][name].get("before") or list(dict.fromkeys(found))

    def named(self, layer: str) -> list[str]:
        """What figures call the elements of a layer."""
        at, edges = self.parts.node_names, self.graph.edges
        return {
            "node": at, "edge": [f"{at[e.source]} {e.name} {at[e.target]}" for e in edges],
            "chunk": [f"{chunk.label}: {chunk.text}" for chunk in self.graph.chunks],
            "community": [report.title for report in self.index.reports.values()],
        }[layer]  # fmt: skip

    def searched(self, layer: str) -> Iterable[tuple[float, float]]:
        """The vectors of a layer."""
        parts = self.parts
        return {
            "node": parts.node_index, "relationship": parts.relationship_index,
            "chunk": parts.chunk_index, "community": parts.report_index[1],
        }[layer].vectors.tolist()  # fmt: skip


def number(*values: float) -> str:
    """A score, or a vector, as figures show it."""
    return ", ".join(f"{round(float(value), 2) + 0:g}" for value in values)


def marks_of(step: trace.Step, example: Example) -> Marks:
    """What a step says of each element that it names."""
    if isinstance(step, trace.WalkStep | trace.FactStep | trace.ChunkStep):
        scores = step.scores.tolist()
        shares = [max(0.0, score / max(scores)) for score in scores]
        return {LAYERS[type(step)]: dict(enumerate(zip(map(number, scores), shares)))}
    if isinstance(step, trace.SteinerStep):
        nodes = {i: (number(step.node_prizes[i]), 1.0) for i in step.nodes}
        return {"node": nodes, "edge": {i: (number(step.edge_prizes[i]), 1.0) for i in step.edges}}
    if isinstance(step, trace.PathStep):
        marks: Marks = {"node": {}, "edge": {}, ROW: {}}
        for place, (path, ways) in enumerate(zip(step.paths, step.edges), 1):
            marks["node"] |= {example.graph.position[name]: ("", 1.0) for name in path.nodes}
            marks["edge"] |= {edge: (f"path {place}", 1.0) for way in ways for edge in way}
            marks[ROW][f"path {place}: {path.label}"] = number(path.score), 1.0
        return marks
    if isinstance(step, trace.VectorStep):
        return {ROW: {example.data["question"]: (number(*step.vector), 1.0)}}
    if isinstance(step, trace.EntityStep):
        return {ROW: {name: (number(*example.encode([name])[0]), 1.0) for name in step.entities}}
    if isinstance(step, trace.KeywordStep):
        levels = (("high", step.high), ("low", step.low))
        return {ROW: {f"{level} level: {', '.join(words)}": ("", 1.0) for level, words in levels}}
    rows = getattr(step, step.shows)
    return {LAYERS[type(step)]: {row.index: (number(row.score), 1.0) for row in rows}}


def draw_operator(name: str) -> Figure:
    """An operator of the pool at work on a small example, such as "chunk Occurrence": left what
    goes in, right what comes out, below why.
    """
    if name not in OPERATORS:
        raise MiniragError(f"No operator is called {name!r}; there are: {', '.join(OPERATORS)}.")
    operator, example, found = OPERATORS[name], Example(), list[trace.Step]()
    for earlier in example.before(name):
        found.append(example.run(earlier, found))
    places = operator.sources([type(step) for step in found])
    given = [found[place] for slot in places for place in slot]
    came = example.run(name, found)
    kinds = " and ".join(dict.fromkeys(WORDS[type(step)] for step in given)) or "the question"
    sides = (
        (f"in: {kinds}", marks_before(name, given, example), Colour.ORANGE),
        (f"out: {WORDS[operator.gives]}", marks_of(came, example), Colour.BLUE),
    )
    scene, text, told = Scene(2 * WIDE + 36, 0), "", []
    for x, (heading, marks, colour) in zip((4, WIDE + 32), sides):
        side = draw_side(marks, colour, heading, example)
        scene.paste(side, x, 0)
        scene.height = max(scene.height, side.height + 4)
        rows = [
            (row if layer == ROW else example.named(layer)[row], *mark)
            for layer, found_marks in marks.items()
            for row, mark in found_marks.items()
        ]
        told.append({row.split(":")[0]: value for row, value, _ in rows})
        text += "\n".join([heading, *(f"  {value:>5}  {row}" for row, value, _ in rows), ""])
    scene.arrow((WIDE + 6, 120), (WIDE + 30, 120), width=3, size=12)
    drawing = example.data["drawings"][name]
    options = ", ".join(f"{key} = {value}" for key, value in drawing.get("options", {}).items())
    title = f"{name} ({options})" if options else name
    return Figure(scene, text.rstrip(), title, drawing["caption"].format(i=told[0], o=told[1]))


def draw_operators(kind: str) -> Figure:
    """Every operator of a kind, such as "node", each as `draw_operator` draws it."""
    names = [name for name, operator in OPERATORS.items() if operator.kind == kind]
    return draw_panels(map(draw_operator, names))


def marks_before(name: str, given: Sequence[trace.Step], example: Example) -> Marks:
    """The left side: what goes in, and the vectors or ratings that are looked at."""
    kind, marks = OPERATORS[name].kind, Marks()
    if any(isinstance(step, trace.VectorStep | trace.EntityStep) for step in given):
        layer = "edge" if kind == "relationship" else kind
        marks[layer] = {i: (number(*v), 0) for i, v in enumerate(example.searched(kind))}
    elif kind == "community":
        ratings = [number(report.rating) for report in example.index.reports.values()]
        marks[kind] = {i: (f"rated {rating}", 0) for i, rating in enumerate(ratings)}
    elif kind == "node":
        marks[kind] = {}
    for step in given:
        # What an agent is offered is paler than where it stands.
        offered = name.endswith(" Agent") and step is given[1]
        for layer, rows in marks_of(step, example).items():
            shown = dict.fromkeys(rows, ("", 0.4)) if offered else rows
            marks[layer] = marks.get(layer, {}) | shown
    replies = {f"scripted reply: {reply}": ("", 0.0) for reply in example.said}
    if replies or not given:
        marks[ROW] = {example.data["question"]: ("", 1.0)} | marks.get(ROW, {}) | replies
    return marks


def draw_side(marks: Marks, colour: str, heading: str, example: Example) -> Scene:
    """One side: the graph where something of it is marked, and below it passages and texts."""
    scene = Scene(WIDE, 26)
    scene.text(2, 14, heading, 12, bold=True)
    scene.line(((2, 21), (WIDE - 2, 21)), colour, 4)
    if marks.keys() & {"node", "edge", "community"}:
        draw_graph(scene, marks, colour, example)
    texts = [(text, *mark) for text, mark in marks.get(ROW, {}).items()]
    passages = example.named("chunk")
    texts += [(passages[place], *mark) for place, mark in marks.get("chunk", {}).items()]
    for text, value, share in texts:
        lines = wrap(text, WIDE - 22 - text_width(value, 12, share > 0), 12, lines=4)
        y, tall, fill = scene.height + 4, 16 * len(lines) + 8, mix(Colour.WHITE, colour, share / 3)
        edge = colour if share else Colour.FAINT
        scene.box(2, y, WIDE - 4, tall, fill, edge, 2 if share else 1, 4)
        for i, line in enumerate(lines):
            scene.text(8, y + 16 + 16 * i, line)
        scene.text(WIDE - 8, y + 16, value, anchor="end", bold=share > 0)
        scene.height = y + tall
    return scene


def draw_graph(scene: Scene, marks: Marks, colour: str, example: Example) -> None:
    """The graph, in front of its communities where they are marked."""
    drop = 16 if "community" in marks else 0
    places = [(x, y + drop) for x, y in example.data["places"]]
    for place, title in enumerate(example.named("community") if drop else ()):
        value, share = marks["community"].get(place, ("", 0))
        y, fill = 30 + 104 * place, mix(Colour.WHITE, colour, share / 3)
        scene.box(2, y, WIDE - 4, 100, fill, colour if share else Colour.EDGE, 3 if share else 1, 6)
        scene.text(8, y + (13, 94)[place], f"{title}  {value}", bold=share > 0)
    for place, (edge, along) in enumerate(zip(example.graph.edges, example.data["along"])):
        (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
        value, share = marks.get("edge", {}).get(place, ("", 0))
        x, y = round(x1 + (x2 - x1) * along), round(y1 + (y2 - y1) * along)
        ink = colour if share else Colour.EDGE
        scene.line(((x1, y1), (x2, y2)), ink, 1 + round(4 * share))
        if value and y1 != y2:
            half = round(text_width(max(value, edge.name, key=len), 11, True) / 2)
            scene.box(x - half, y - 15, 2 * half, 32, Colour.WHITE)
        scene.text(x, y - 5, edge.name, 11, "middle", bold=share > 0.5, italic=True, halo=True)
        scene.text(x, y + 13, value, 11, "middle", bold=share > 0, halo=True)
    for place, (title, (x, y)) in enumerate(zip(example.named("node"), places)):
        value, share = marks.get("node", {}).get(place, ("", 0))
        above = y < TALL / 2
        fill = mix(Colour.WHITE, colour, share)
        scene.circle(x, y, 6 + round(5 * share), fill, Colour.OUTLINE)
        top = y + (-32 if value else -18) if above else y + 27
        scene.text(x, top, title, 13, "middle", bold=share > 0, halo=True)
        scene.text(x, y + (-17 if above else 41), value, 11, "middle", bold=share > 0, halo=True)
    scene.height = TALL + drop - 8
