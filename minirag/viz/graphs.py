"""Node-link figures: a graph, and probability mass walking over it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.ego_graphs import TextualGraph
from ..core.errors import MiniragError
from ..core.graph import Graph
from . import graph_scene
from .charts import Highlight, as_roles
from .figure import MARGIN, Figure
from .graph_scene import BLUE, VERMILLION, Drawable, GraphScene, Key, Marks, Pair, Tie
from .scene import Colour, Scene, clean, shorten, text_width, wrap

if TYPE_CHECKING:
    import networkx as nx

Scores = Mapping[Key, float] | ArrayLike
AnyGraph: TypeAlias = "Graph | TextualGraph | nx.Graph"
LISTED = 40  # nodes, and edges, that a summary names


def drawable(graph: AnyGraph, node_labels: Mapping[Key, str] | None = None) -> Drawable:
    """Read a `minirag.core.graph.Graph`, a networkx graph or a `TextualGraph`, whose nodes are its
    positions; raises `MiniragError` for anything else.
    """
    given: Mapping[Key, object] = node_labels or {}
    nodes: Sequence[Key]
    if isinstance(graph, Graph):
        nodes, directed = [node.name for node in graph.nodes], False
        rows = [(nodes[e.source], nodes[e.target], e.name, e.kind, e.weight) for e in graph.edges]
    elif isinstance(graph, TextualGraph):
        nodes, directed = range(len(graph.nodes)), True
        given = {**dict(enumerate(graph.nodes)), **given}
        rows = [(head, tail, text, "relation", 1.0) for head, text, tail in graph.edges]
    elif hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        nodes, directed, rows = list(graph.nodes), graph.is_directed(), []
        for source, target, data in graph.edges(data=True):
            name = data.get("name") or data.get("relation") or ""
            kind, weight = data.get("kind", "relation"), data.get("weight", 1.0)
            rows.append((source, target, name, kind, weight))
    else:
        raise MiniragError(
            f"Cannot draw a {type(graph).__name__}: a minirag.core.graph.Graph, a TextualGraph or "
            "a networkx graph is expected."
        )
    labels = {node: clean(given.get(node, node)) for node in nodes}
    return Drawable(tuple(labels), labels, _ties(rows, directed), directed)


def _ties(rows: list[tuple[Key, Key, str, str, float]], directed: bool) -> tuple[Tie, ...]:
    """Merge parallel edges; in an undirected graph both directions are one tie, named from its
    first edge.
    """
    merged: dict[Pair, list[tuple[str, str, float]]] = {}
    for source, target, name, kind, weight in rows:
        turned = not directed and (target, source) in merged
        ends = (target, source) if turned else (source, target)
        merged.setdefault(ends, []).append((clean(name or ""), kind, float(weight)))
    ties = []
    for ends, edges in merged.items():
        names = dict.fromkeys(name for name, kind, _ in edges if name and kind != "synonymy")
        kind = "synonymy" if all(kind == "synonymy" for _, kind, _ in edges) else "relation"
        ties.append(Tie(*ends, tuple(names), kind, max(weight for *_, weight in edges)))
    return tuple(ties)


def as_scores(view: Drawable, scores: Scores | None) -> dict[Key, float]:
    """Node -> float, from a mapping (absent nodes score 0) or from an array in the order of the
    graph's nodes.
    """
    if scores is None:
        return {}
    if isinstance(scores, Mapping):
        return {node: float(scores.get(node, 0.0)) for node in view.nodes}
    values = np.asarray(scores, dtype=float)
    if values.shape != (len(view.nodes),):
        raise MiniragError(
            f"node_scores has shape {values.shape}: one score for each of the {len(view.nodes)} "
            "nodes, or a mapping from node to score, is expected."
        )
    return dict(zip(view.nodes, values.tolist()))


def draw_graph(
    graph: AnyGraph, positions: Mapping[Key, Sequence[float]] | None = None,
    node_scores: Scores | None = None, highlight: Highlight | None = None,
    node_labels: Mapping[Key, str] | None = None, edge_labels: bool | Mapping[Pair, str] = False,
    node_groups: Mapping[Key, str] | None = None, paths: Sequence[Sequence[Key]] = (),
    title: str = "", caption: str = "", max_nodes: int = 300, width: int = 760,
    height: int | None = None, score_name: str = "score", score_max: float | None = None,
    path_name: str = "path", node_opacity: Scores | None = None,
    edge_opacity: Mapping[Pair, float] | None = None,
) -> Figure:  # fmt: skip
    """Draw a `minirag.core.graph.Graph`, a `TextualGraph` (nodes are positions, labelled by their
    texts) or a networkx graph as a `Figure`.

    `node_scores` (mapping or array in node order) sets area and colour of the nodes, `score_max`
    the score of the largest node (to compare figures). `highlight` rings nodes: a list, or a
    mapping from a role such as "query" to nodes. `node_groups` (node -> group) colours by kind.
    `paths` (lists of nodes) are drawn bold, and named `path_name`. `edge_labels` is True for the
    relations' names, or a mapping from node pairs to text. `node_opacity` (mapping or array) and
    `edge_opacity` (mapping from node pairs; absent pairs keep 1), from 0 to 1, say how much ink
    nodes and edges get, and are told in the text. Synonymy edges are dashed. `positions` (node ->
    x, y, any scale) replaces the layout. Beyond `max_nodes` the nodes with a role, then those of
    the highest score, then of the highest degree stay, and the caption says how many were left out.
    """
    view = drawable(graph, node_labels)
    scores, roles = as_scores(view, node_scores), as_roles(highlight)
    node_ink, edge_ink = as_scores(view, node_opacity), {}
    if edge_opacity is not None:
        edge_ink = {tie.ends: float(edge_opacity.get(tie.ends, 1.0)) for tie in view.ties}
    for share in (*node_ink.values(), *edge_ink.values()):
        if not 0 <= share <= 1:
            raise MiniragError(f"An opacity of {share}: a number from 0 to 1 is expected.")
    marks = Marks(scores, roles, node_groups or {}, paths, node_ink, edge_ink)
    ranked = by_relevance(view, marks)
    shown = view.keep(ranked[:max_nodes])
    if len(shown.nodes) < len(view.nodes):
        nodes = f"Shown: the {len(shown.nodes)} most relevant of {len(view.nodes)} nodes"
        caption = f"{caption} {nodes}, and {len(shown.ties)} of {len(view.ties)} edges.".strip()
    top = score_max or max((scores.get(node, 0.0) for node in shown.nodes), default=0.0) or 1.0
    count = len(shown.nodes)
    height, font = height or graph_scene.canvas_height(count), graph_scene.font_size(count)
    lines = graph_scene.label_lines(shown, ranked[:max_nodes], font)
    points = graph_scene.node_points(shown, positions, lines, font, (width, height), roles, paths)
    drawing = GraphScene(shown, marks, points, Scene(width, height), top)
    drawing.draw_ties()
    drawing.draw_nodes()
    taken = drawing.draw_labels(lines, font, drawing.radii)
    if edge_labels:
        drawing.draw_tie_names(edge_labels, font - 2, taken)
    _legend(drawing.scene, shown, marks, score_name if scores else "", path_name)
    return Figure(drawing.scene, _summary(view, marks, ranked), title, caption)


def draw_walk(
    graph: AnyGraph, distributions: Iterable[Scores], names: Iterable[str] | None = None,
    highlight: Highlight | None = None, title: str = "", caption: str = "",
    columns: int | None = None, positions: Mapping[Key, Sequence[float]] | None = None,
    width: int = 760,
) -> Figure:  # fmt: skip
    """Draw probability mass over a graph, one panel a step, all with the same layout and the same
    scale. At most 60 nodes are shown, those that hold most.

    `distributions`: a list of mappings or arrays (one a step), or one array (steps, n). `names`:
    the panels' headings.
    """
    view, roles = drawable(graph), as_roles(highlight)
    steps = [as_scores(view, row) for row in distributions]
    names = [clean(name) for name in names or (f"step {i}" for i in range(len(steps)))]
    highest = {node: max((step[node] for step in steps), default=0.0) for node in view.nodes}
    marks = Marks(highest, roles)
    ranked = by_relevance(view, marks)[:60]
    shown, peak = view.keep(ranked), max(highest.values(), default=0.0) or 1.0
    columns = columns or (1 if len(steps) == 1 else 2 if len(steps) <= 4 else 3)
    wide, tall = (width - (columns - 1) * 8) // columns, {1: 400, 2: 270}.get(columns, 220)
    labelled = ranked[: 60 if columns == 1 else 12]
    lines = {node: wrap(shown.labels[node], 105, 11) for node in labelled}
    points = graph_scene.node_points(shown, positions, lines, 11, (wide, tall), roles)
    # labels stay put over the panels
    clear = graph_scene.node_radii(shown, highest, peak, Scene(wide, tall))
    scene = Scene(width, -(-len(steps) // columns) * (tall + 20))
    for number, (name, step) in enumerate(zip(names, steps)):
        panel = GraphScene(shown, Marks(step, roles), points, Scene(wide, tall), peak)
        panel.draw_ties()
        panel.draw_nodes()
        panel.draw_labels(lines, 11, clear)
        x, y = (number % columns) * (wide + 8), (number // columns) * (tall + 20)
        scene.paste(panel.scene, x, y + 14)
        scene.text(x + MARGIN, y + 16, name, 13, bold=True)
    _legend(scene, shown, marks, "probability mass (same scale in every panel)", "")
    rows = [f"{name}: {_most_mass(view, step)}" for name, step in zip(names, steps)]
    if len(shown.nodes) < len(view.nodes):
        kept = f"Shown: the {len(shown.nodes)} of {len(view.nodes)} nodes that hold most."
        caption = f"{caption} {kept}".strip()
    head = f"Walk over {len(view.nodes)} nodes, {len(steps)} steps"
    return Figure(scene, "\n".join([head, *rows]), title, caption)


def by_relevance(view: Drawable, marks: Marks) -> list[Key]:
    """The nodes: those with a role, then those on a path, then by score, then by degree."""
    degree, on_path = dict.fromkeys(view.nodes, 0), {node for path in marks.paths for node in path}
    for tie in view.ties:
        degree[tie.source] += 1
        degree[tie.target] += 1

    def key(node: Key) -> tuple[bool, bool, float, int]:
        score = round(marks.scores.get(node, 0.0), 9)
        return node not in marks.roles, node not in on_path, -score, -degree[node]

    return sorted(view.nodes, key=key)


def _legend(scene: Scene, view: Drawable, marks: Marks, score_name: str, path_name: str) -> None:
    """One row under the drawing that explains every mark used in it."""
    roles = {node: role for node, role in marks.roles.items() if node in view.nodes}
    rings, fills = graph_scene.role_colours(roles), graph_scene.group_colours(marks.groups)
    ink = marks.node_opacity or marks.edge_opacity
    entries = [("score", score_name, BLUE)] if score_name else []
    entries += [("ink", "factor: 0 to 1", BLUE)] if ink else []
    entries += [("ring", role, colour) for role, colour in rings.items()]
    entries += [("dot", group, colour) for group, colour in fills.items()]
    if any(tie.kind == "synonymy" for tie in view.ties):
        entries += [("solid", "relation", Colour.EDGE), ("dashed", "synonymy", Colour.EDGE)]
    entries += [("bold", path_name, VERMILLION)] if marks.paths else []
    x, y = MARGIN, scene.height + 14
    for mark, name, colour in entries:
        short, indent = shorten(name, 300, 12), 62 if mark in ("score", "ink") else 34
        wide = indent + round(text_width(short, 12)) + 16
        if x + wide > scene.width and x > MARGIN:
            x, y = MARGIN, y + 22
        graph_scene.legend_mark(scene, mark, x, y, colour)
        scene.text(x + indent, y + 4, short, 12)
        x += wide
    if entries:
        scene.height = y + 14


def _most_mass(view: Drawable, scores: Mapping[Key, float]) -> str:
    best = sorted(view.nodes, key=lambda n: (-round(scores[n], 9), view.labels[n]))[:8]
    mass = [f"{view.labels[n]} {scores[n]:.3f}" for n in best if scores[n] > 0]
    return ", ".join(mass) or "no mass"


def _summary(view: Drawable, marks: Marks, ranked: list[Key]) -> str:
    """The figure in words: counts, then nodes by score and edges by name."""
    scores, labels = marks.scores, view.labels
    synonyms = sum(tie.kind == "synonymy" for tie in view.ties)
    head = f"Graph with {len(view.nodes)} nodes and {len(view.ties)} edges"
    head += f", {synonyms} of them synonymy" if synonyms else ""
    if scores:
        ranked = sorted(view.nodes, key=lambda n: (-round(scores[n], 3), labels[n]))
    elif len(view.nodes) <= LISTED:
        ranked = sorted(view.nodes, key=lambda n: labels[n])
    rows = []
    for node in ranked:
        score = f"{scores[node]:.3f}  " if scores else ""
        ink = f"{marks.node_opacity[node]:.2f}  " if marks.node_opacity else ""
        role = f" [{clean(marks.roles[node])}]" if node in marks.roles else ""
        rows.append(f"  {score}{ink}{labels[node]}{role}")
    ties = sorted(_tie_text(view, tie, marks) for tie in view.ties)
    return "\n".join([head, "nodes:", *_first(rows), "edges:", *_first(ties)])


def _tie_text(view: Drawable, tie: Tie, marks: Marks) -> str:
    source, target = (view.labels[node] for node in tie.ends)
    ink = f"  {marks.edge_opacity[tie.ends]:.2f}" if marks.edge_opacity else ""
    if tie.kind == "synonymy":
        return f"  {source} ~ {target} (synonymy {tie.weight:.2f}){ink}"
    names = f" {', '.join(tie.names)} " if tie.names else ""
    return f"  {source} --{names}{'->' if view.directed else '--'} {target}{ink}"


def _first(rows: list[str]) -> list[str]:
    more = [f"  ... and {len(rows) - LISTED} more"] if len(rows) > LISTED else []
    return rows[:LISTED] + more
