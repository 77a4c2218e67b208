"""A drawn example of every operator of the pool: left what goes in, right what comes out.

All share the question, the graph of six nodes, the four passages and the two communities of
`data/operators.yaml`, written by hand. Every score is what the operator itself computes. An encoder
of two numbers a text stands for a trained one, and scripted replies for a language model.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from ..core import trace
from ..core.communities import Communities, Community
from ..core.corpus import Chunk
from ..core.encoder import Kind
from ..core.errors import MiniragError
from ..core.graph import Edge, Graph, Node
from ..core.reports import CommunityIndex, Report
from ..corpora.shipped_and_folders import shipped
from ..index.vectors import relationship_text
from ..llm import LLM, Completion
from ..operators.operator import WORDS
from ..operators.pool import OPERATORS, Operator, Parts
from ..prompts.task import Fields, Messages, Task
from .figure import Figure, draw_panels
from .scene import Colour, Scene, mix, text_width, wrap

WIDE, IN, OUT = 192, Colour.ORANGE, Colour.BLUE
LAYERS = {"relationship": "edge", "subgraph": "edge"}
STEPS = {
    trace.NodeStep: "node", trace.WalkStep: "node", trace.EdgeStep: "edge", trace.FactStep: "edge",
    trace.ChunkStep: "chunk", trace.CommunityStep: "community",
}  # fmt: skip
FIRST = {
    trace.VectorStep: "question Vector", trace.EntityStep: "question Entities",
    trace.NodeStep: "node Link", trace.EdgeStep: "relationship VDB", trace.WalkStep: "node PPR",
    trace.FactStep: "relationship Aggregator", trace.PathStep: "subgraph KhopPath",
}  # fmt: skip


class Mark(NamedTuple):
    """What is written beside an element, and how strongly it is marked, from 0 to 1."""

    value: str = ""
    share: float = 1.0


Marks = dict[str, dict[Any, Mark]]  # layer -> position, or text of a row


@cache
def example() -> dict[str, Any]:
    """`data/operators.yaml`; under "names", what figures call the elements of each layer."""
    data: dict[str, Any] = yaml.safe_load(shipped("operators.yaml").read_text(encoding="utf-8"))
    layers = {"node": "nodes", "edge": "relations", "chunk": "passages", "community": "communities"}
    return data | {"layers": {layer: data[name] for layer, name in layers.items()}}


class Example(LLM):
    """What the drawings run on: the parts, the vectors of texts and, as a model, the replies."""

    name, is_model = "scripted replies", False

    def __init__(self) -> None:
        super().__init__()
        data, self.said = example(), list[str]()
        at, passages = [*data["nodes"]], data["passages"]
        texts = [row["text"] for row in passages.values()]
        nodes = [Node(n, chunks=tuple(i for i, t in enumerate(texts) if n in t)) for n in at]
        edges = []
        for named, row in data["relations"].items():
            head, name, tail = named.split()
            edges.append(Edge(at.index(head), at.index(tail), name, chunks=(row["passage"],)))
        chunks = tuple(map(Chunk, passages, texts))
        graph = Graph("textual knowledge", "hand", tuple(nodes), tuple(edges), chunks)
        rows = data["communities"].items()
        items = [Community(name, 0, tuple(row["members"])) for name, row in rows]
        reports = [Report(name, row["report"], row["rating"]) for name, row in rows]
        communities = Communities.of(graph, items, [[*range(len(items))]], "hand")
        index = CommunityIndex(communities, dict(enumerate(reports)), {}, "hand")
        self.parts = Parts(graph, self, self, index)
        searched = {
            "node": at, "chunk": texts, "community": [report.text for report in reports],
            "edge": [relationship_text(graph, e, "description and names") for e in edges],
        }  # fmt: skip
        self.vectors = {
            data["question"]: data["vectors"]["question"],
            **data["vectors"]["entities"],
        }
        for layer, keys in searched.items():
            self.vectors |= zip(keys, (row["vector"] for row in data["layers"][layer].values()))

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return np.array([self.vectors.get(text, (1, 0)) for text in texts], dtype=np.float32)

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        self.said.append(example()["replies"][task.name])
        return Completion(self.said[-1])

    def run(self, name: str, found: Sequence[trace.Step]) -> trace.Step:
        self.said.clear()
        operator = OPERATORS[name](**example()["drawings"][name].get("options", {}))
        return operator.run(self.parts, [example()["question"]], [found])[0]


def before(name: str) -> list[str]:
    """The operators that run before it, so that what it takes is there."""
    first = [FIRST[slot.kinds[0]] for slot in OPERATORS[name].takes if not slot.optional]
    found = [each for one in first for each in (*before(one), one)]
    return example()["drawings"][name].get("before") or list(dict.fromkeys(found))


def marks_of(step: trace.Step) -> Marks:
    """What a step says of each element that it names."""
    at = [*example()["nodes"]]
    match step:
        case trace.WalkStep() | trace.FactStep() | trace.ChunkStep():
            top = max(step.scores.max(), 1e-9)
            rows = {i: Mark(f"{x:.2f}", max(0, x / top)) for i, x in enumerate(step.scores)}
            return {STEPS[type(step)]: rows}
        case trace.SteinerStep():
            nodes = {i: Mark(f"{step.node_prizes[i]:g}") for i in step.nodes}
            return {
                "node": nodes,
                "edge": {i: Mark(f"{step.edge_prizes[i]:g}") for i in step.edges},
            }
        case trace.PathStep():
            nodes = {at.index(name): Mark() for path in step.paths for name in path.nodes}
            ways = [(path, edge) for path, way in zip(step.paths, step.edges) for (edge,) in way]
            return {"node": nodes, "edge": {edge: Mark(f"{path.score:.2f}") for path, edge in ways}}
        case trace.VectorStep():
            return {"row": {example()["question"]: Mark(pair(step.vector))}}
        case trace.EntityStep():
            return {"row": dict.fromkeys(step.entities, Mark())}
        case trace.KeywordStep():
            levels = {"themes": step.high, "particulars": step.low}
            return {
                "row": {f"{level}: {', '.join(words)}": Mark() for level, words in levels.items()}
            }
    layer = STEPS[type(step)]
    rows = getattr(step, step.shows)
    return {layer: {row.index: Mark(f"{row.score:.2f}") for row in rows}}


def pair(vector: Iterable[float]) -> str:
    """A vector of two numbers as figures show it."""
    return ", ".join(f"{number:.2g}" for number in vector)


def marks_before(operator: Operator, given: Sequence[trace.Step], host: Example) -> Marks:
    """What stands on the left: what goes in, and the vectors, ratings or words that are searched."""
    data, layer = example(), LAYERS.get(operator.kind, operator.kind)
    left: Marks = {"row": {}}
    if any(isinstance(step, trace.VectorStep | trace.EntityStep) for step in given):
        left[layer] = {
            i: Mark(pair(row["vector"]), 0) for i, row in enumerate(data["layers"][layer].values())
        }
    elif layer == "community":
        left[layer] = {
            i: Mark(f"{row['rating']:.2f}", 0)
            for i, row in enumerate(data["layers"][layer].values())
        }
    elif layer == "node":
        left[layer] = {}
    for number, step in enumerate(given):
        for kind, rows in marks_of(step).items():
            if operator.name == "Agent" and number == 1:
                rows = {place: Mark("", 0.4) for place in rows}
            left[kind] = rows | left.get(kind, {}) if number == 1 else left.get(kind, {}) | rows
    if not given or host.said:
        left["row"][data["question"]] = Mark()
    for text in left["row"] if layer in left and given else ():
        left["row"][text] = Mark(pair(host.encode([text])[0]))
    left["row"] |= {f"scripted reply: {text}": Mark("", 0) for text in host.said}
    return left


def panel(marks: Marks, colour: str, heading: str) -> Scene:
    """One side of a drawing."""
    data, scene = example(), Scene(WIDE, 26)
    scene.text(2, 14, heading, 12, bold=True)
    scene.line(((2, 21), (WIDE - 2, 21)), colour, 4)
    if marks.keys() - {"row", "chunk"}:
        draw_graph(scene, marks, colour)
        scene.height = 222
    rows = [(text, *mark) for text, mark in marks.get("row", {}).items()]
    for place, mark in marks.get("chunk", {}).items():
        name, row = [*data["passages"].items()][place]
        rows.append((f"{name}: {row['text']}", *mark))
    for text, value, share in rows:
        lines = wrap(text, WIDE - 20 - text_width(value, 12, True), 12, lines=4)
        tall, y = 16 * len(lines) + 8, scene.height + 4
        lit = share > 0
        scene.box(
            2,
            y,
            WIDE - 4,
            tall,
            mix(Colour.WHITE, colour, 0.3 * share),
            colour if lit else Colour.FAINT,
            1 + lit,
            4,
        )
        for i, line in enumerate(lines):
            scene.text(8, y + 16 + 16 * i, line, 12)
        scene.text(WIDE - 8, y + 16, value, 12, "end", bold=lit)
        scene.height = y + tall
    return scene


def draw_graph(scene: Scene, marks: Marks, colour: str) -> None:
    """The graph, in front of its communities where they are marked."""
    data, places = example(), [row["place"] for row in example()["nodes"].values()]
    at = [*data["nodes"]]
    for place, mark in marks.get("community", {}).items():
        lit, top = mark.share > 0, 30 + 98 * place
        fill = mix(Colour.WHITE, colour, 0.25 * mark.share)
        scene.box(2, top, WIDE - 4, 92, fill, colour if lit else Colour.EDGE, 1 + 2 * lit, 6)
        name = f"{[*data['communities']][place]}  {mark.value}"
        scene.text(8, top + (14, 86)[place], name, 12, bold=lit, halo=True)
    for number, (named, row) in enumerate(data["relations"].items()):
        head, name, tail = named.split()
        (x1, y1), (x2, y2) = places[at.index(head)], places[at.index(tail)]
        value, share = marks.get("edge", {}).get(number, Mark("", 0))
        scene.line(((x1, y1), (x2, y2)), colour if share else Colour.EDGE, 1 + round(4 * share))
        x, y = round(x1 + (x2 - x1) * row["at"]), round(y1 + (y2 - y1) * row["at"])
        scene.text(x, y - 5, name, 11, "middle", bold=share > 0.5, italic=True, halo=True)
        scene.text(x, y + 14, value, 11, "middle", bold=share > 0, halo=True)
    for number, (name, (x, y)) in enumerate(zip(at, places)):
        value, share = marks.get("node", {}).get(number, Mark("", 0))
        scene.circle(x, y, 6 + round(5 * share), mix(Colour.WHITE, colour, share), Colour.OUTLINE)
        side = -1 if number < 3 else 1
        scene.text(
            x,
            y + (-30 if side < 0 and value else -16 if side < 0 else 24),
            name,
            13,
            "middle",
            bold=share > 0,
            halo=True,
        )
        scene.text(x, y + (-16 if side < 0 else 38), value, 11, "middle", bold=share > 0, halo=True)


def told(marks: Marks) -> tuple[dict[str, str], str]:
    """The numbers by the names of what they belong to, and all of it as text."""
    rows, text = {}, ""
    for layer, found in marks.items():
        for place, mark in found.items():
            name = place if layer == "row" else [*example()["layers"][layer]][place]
            rows[name] = mark.value
            text += f"\n  {mark.value:>5}  {name}" if mark.share or mark.value else ""
    return rows, text


def draw_operator(name: str) -> Figure:
    """An operator of the pool at work on a small example, such as "chunk Occurrence"."""
    if name not in OPERATORS:
        raise MiniragError(f"No operator is called {name!r}; there are: {', '.join(OPERATORS)}.")
    host, found, drawing = Example(), list[trace.Step](), example()["drawings"][name]
    for earlier in before(name):
        found.append(host.run(earlier, found))
    operator = OPERATORS[name]
    places = operator.sources([type(step) for step in found])
    given = [found[place] for slot in places for place in slot]
    right = marks_of(host.run(name, found))
    left = marks_before(operator, given, host)
    words = dict.fromkeys(WORDS[type(step)] for step in given)
    inward, outward = " and ".join(words) or "the question", WORDS[operator.gives]
    sides = panel(left, IN, f"in: {inward}"), panel(right, OUT, f"out: {outward}")
    scene = Scene(2 * WIDE + 36, max(side.height for side in sides) + 4)
    scene.paste(sides[0], 4, 0)
    scene.paste(sides[1], WIDE + 32, 0)
    scene.arrow((WIDE + 6, 110), (WIDE + 30, 110), width=3, size=12)
    (i, before_text), (o, after_text) = told(left), told(right)
    text = f"in: {inward}{before_text}\nout: {outward}{after_text}"
    options = ", ".join(f"{key} = {value}" for key, value in drawing.get("options", {}).items())
    title = f"{name} ({options})" if options else name
    return Figure(scene, text, title, drawing["caption"].format(i=i, o=o))


def draw_operators(kind: str) -> Figure:
    """Every operator of a kind, such as "node", each as `draw_operator` draws it."""
    names = [name for name, each in OPERATORS.items() if each.kind == kind]
    return draw_panels(map(draw_operator, names))
