"""Node-link figures: a graph, and probability mass walking over it."""

from dataclasses import dataclass

import numpy as np

from ..algorithms.textual import TextualGraph
from ..core.errors import MiniragError
from ..core.graph import Graph
from .figure import MARGIN, Figure
from .graph_scene import (
    ROLES,
    canvas_height,
    faded,
    font_size,
    graph_scene,
    group_colours,
    label_lines,
    node_points,
)
from .scene import (
    BLUE,
    EDGE,
    INK,
    OUTLINE,
    VERMILLION,
    WHITE,
    Circle,
    Line,
    Scene,
    Text,
    clean,
    ramp,
    shorten,
    text_width,
    wrap,
)


@dataclass(frozen=True)
class Tie:
    """All edges between two nodes, drawn as one line: names of the relations, heaviest weight, and
    whether any is a real relation.
    """

    source: object
    target: object
    names: tuple[str, ...]
    kind: str
    weight: float


@dataclass(frozen=True)
class Drawable:
    """Node keys in their graph's order, their labels, and one tie per connected pair."""

    nodes: tuple
    labels: dict
    ties: tuple[Tie, ...]
    directed: bool = False

    def keep(self, chosen):
        """The part induced by these nodes."""
        chosen = set(chosen)
        nodes = tuple(node for node in self.nodes if node in chosen)
        ties = tuple(tie for tie in self.ties if tie.source in chosen and tie.target in chosen)
        return Drawable(nodes, {node: self.labels[node] for node in nodes}, ties, self.directed)

    def degrees(self):
        degree = dict.fromkeys(self.nodes, 0)
        for tie in self.ties:
            degree[tie.source] += 1
            degree[tie.target] += 1
        return degree


def drawable(graph, node_labels=None):
    """Read a `minirag.core.graph.Graph`, a networkx graph or a `TextualGraph`, whose nodes are its
    positions; raises `MiniragError` for anything else.
    """
    given = node_labels or {}
    if isinstance(graph, Graph):
        names = [node.name for node in graph.nodes]
        rows = [(names[e.source], names[e.target], e.name, e.kind, e.weight) for e in graph.edges]
        nodes, directed = names, False
    elif isinstance(graph, TextualGraph):
        nodes, directed, given = (
            range(len(graph.nodes)),
            True,
            {**dict(enumerate(graph.nodes)), **given},
        )
        rows = [(head, tail, text, "relation", 1.0) for head, text, tail in graph.edges]
    elif hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        nodes, directed = list(graph.nodes), graph.is_directed()
        rows = [
            (
                a,
                b,
                data.get("name") or data.get("relation") or "",
                data.get("kind", "relation"),
                data.get("weight", 1.0),
            )
            for a, b, data in graph.edges(data=True)
        ]
    else:
        raise MiniragError(
            f"Cannot draw a {type(graph).__name__}: a minirag.core.graph.Graph, a TextualGraph or a networkx graph is expected."
        )
    labels = {node: clean(given.get(node, node)) for node in nodes}
    return Drawable(tuple(dict.fromkeys(nodes)), labels, _ties(rows, directed), directed)


def _ties(rows, directed):
    """Merge parallel edges; in an undirected graph both directions are one tie, named from its
    first edge.
    """
    merged = {}
    for source, target, name, kind, weight in rows:
        key = (source, target)
        if not directed and (target, source) in merged:
            key = (target, source)
        names, kinds, heaviest = merged.setdefault(key, ([], set(), []))
        if name and clean(name) not in names and kind != "synonymy":
            names.append(clean(name))
        kinds.add(kind)
        heaviest.append(float(weight))
    return tuple(
        Tie(a, b, tuple(names), "synonymy" if kinds == {"synonymy"} else "relation", max(heaviest))
        for (a, b), (names, kinds, heaviest) in merged.items()
    )


def as_scores(view, scores):
    """Node -> float, from a mapping (absent nodes score 0) or from an array in the order of the
    graph's nodes.
    """
    if scores is None:
        return {}
    if hasattr(scores, "items"):
        return {node: float(scores.get(node, 0.0)) for node in view.nodes}
    values = np.asarray(scores, dtype=float)
    if values.shape != (len(view.nodes),):
        raise MiniragError(
            f"node_scores has shape {values.shape}: one score for each of the {len(view.nodes)} nodes, or a mapping from node to score, is expected."
        )
    return {node: float(value) for node, value in zip(view.nodes, values)}


def as_opacity(view, nodes, edges):
    """(node -> share, node pair -> share) of ink, from 0 to 1; None where nothing was given. Raises
    `MiniragError` for a share outside.
    """
    pairs = (
        {
            (tie.source, tie.target): float(edges.get((tie.source, tie.target), 1.0))
            for tie in view.ties
        }
        if edges is not None
        else None
    )
    found = as_scores(view, nodes) or None, pairs
    for share in (share for shares in found if shares for share in shares.values()):
        if not 0 <= share <= 1:
            raise MiniragError(f"An opacity of {share}: a number from 0 to 1 is expected.")
    return found


def as_roles(highlight):
    """Node -> role, in the order given: from a list of nodes (role "highlighted") or a mapping from
    role to nodes.
    """
    if not highlight:
        return {}
    if not hasattr(highlight, "items"):
        highlight = {"highlighted": [highlight] if isinstance(highlight, str) else highlight}
    roles = {}
    for role, nodes in highlight.items():
        for node in [nodes] if isinstance(nodes, str) else nodes:
            roles.setdefault(node, role)
    return roles


def draw_graph(
    graph, positions=None, node_scores=None, highlight=None, node_labels=None, edge_labels=False, node_groups=None, paths=(), title="", caption="",
    max_nodes=300, width=760, height=None, score_name="score", decimals=3, score_max=None, path_name="path", node_opacity=None, edge_opacity=None,
    opacity_name="factor",
):  # fmt: skip
    """Draw a `minirag.core.graph.Graph`, a `TextualGraph` (nodes are positions, labelled by their
    texts) or a networkx graph as a `Figure`.

    `node_scores` (mapping or array in node order) sets area and colour of the nodes, `score_max`
    the score of the largest node (to compare figures).
    `highlight` rings nodes: a list, or a mapping from a role such as "query" to nodes.
    `node_groups` (node -> group) colours by kind. `paths` (lists of nodes) are drawn bold, and
    named `path_name`. `edge_labels` is True for the relations' names, or a mapping from node pairs
    to text. `node_opacity` (mapping or array) and `edge_opacity` (mapping from node pairs; absent
    pairs keep 1), from 0 to 1, say how much ink nodes and edges get, and are told in the text;
    `opacity_name` is what they are called. Synonymy edges are dashed. `positions` (node -> x, y,
    any scale) replaces the layout. Beyond `max_nodes` the nodes with a role, then those of the
    highest score, then of the highest degree stay, and the caption says how many were left out.
    """
    view = drawable(graph, node_labels)
    scores, roles = as_scores(view, node_scores), as_roles(highlight)
    ink = as_opacity(view, node_opacity, edge_opacity)
    ranked = _by_relevance(view, scores, roles, paths)
    shown = view.keep(ranked[:max_nodes])
    left_out = len(view.nodes) - len(shown.nodes)
    if left_out:
        note = f"Shown: the {len(shown.nodes)} most relevant of {len(view.nodes)} nodes, and {len(shown.ties)} of {len(view.ties)} edges."
        caption = f"{caption} {note}".strip()
    text = _summary(view, scores, roles, ranked, decimals, ink)
    scene = graph_scene(
        shown, positions=positions, scores=scores, roles=roles, groups=node_groups or {}, paths=paths, edge_labels=edge_labels,
        ranked=ranked[:max_nodes], width=width, height=height, score_max=score_max, node_opacity=ink[0], edge_opacity=ink[1],
    )  # fmt: skip
    _legend(
        scene,
        shown,
        score_name if scores else "",
        roles,
        node_groups or {},
        path_name if paths else "",
        opacity_name if any(ink) else "",
    )
    return Figure(scene, text, title, caption)


def draw_walk(
    graph,
    distributions,
    names=None,
    highlight=None,
    node_labels=None,
    title="",
    caption="",
    columns=None,
    max_nodes=60,
    positions=None,
    width=760,
):
    """Draw probability mass over a graph, one panel a step, all with the same layout and the same
    scale.

    `distributions`: a list of mappings or arrays (one a step), or one array (steps, n). `names`:
    the panels' headings.
    """
    view = drawable(graph, node_labels)
    steps = [as_scores(view, row) for row in distributions]
    names = list(names or (f"step {i}" for i in range(len(steps))))
    peak = max((max(step.values(), default=0.0) for step in steps), default=0.0)
    roles = as_roles(highlight)
    overall = {node: max(step[node] for step in steps) for node in view.nodes} if steps else {}
    ranked = _by_relevance(view, overall, roles, ())[:max_nodes]
    shown = view.keep(ranked)
    columns = columns or (1 if len(steps) == 1 else 2 if len(steps) <= 4 else 3)
    wide = (width - (columns - 1) * 8) // columns
    tall = {1: 400, 2: 270}.get(columns, 220)
    lines = {
        node: wrap(shown.labels[node], 105, 11) for node in ranked[: 60 if columns == 1 else 12]
    }
    points = node_points(shown, positions, lines, 11, wide, tall, roles)
    scene = Scene(width, -(-len(steps) // columns) * (tall + 20))
    for number, (name, step) in enumerate(zip(names, steps)):
        panel = graph_scene(
            shown,
            points=points,
            scores=step,
            roles=roles,
            ranked=[n for n in ranked if n in lines],
            width=wide,
            height=tall,
            score_max=peak,
            font=11,
            label_scores=overall,
        )
        x, y = (number % columns) * (wide + 8), (number // columns) * (tall + 20)
        scene.paste(panel, x, y + 14)
        scene.add(Text(x + MARGIN, y + 16, clean(name), 13, bold=True))
    _legend(scene, shown, "probability mass (same scale in every panel)", roles, {}, "")
    text = "\n".join(f"{clean(name)}: " + _top(view, step, 8) for name, step in zip(names, steps))
    if len(shown.nodes) < len(view.nodes):
        caption = f"{caption} Shown: the {len(shown.nodes)} of {len(view.nodes)} nodes that hold most.".strip()
    return Figure(
        scene, f"Walk over {len(view.nodes)} nodes, {len(steps)} steps\n{text}", title, caption
    )


def layout(graph, width=760, height=None, highlight=None):
    """Node -> (x, y) on the canvas, whole numbers: what `draw_graph` would use, to keep nodes in
    place over several figures.
    """
    view = drawable(graph)
    height, font = height or canvas_height(len(view.nodes)), font_size(len(view.nodes))
    ranked = _by_relevance(view, {}, as_roles(highlight), ())
    return node_points(
        view, None, label_lines(view, ranked, font), font, width, height, as_roles(highlight)
    )


def _by_relevance(view, scores, roles, paths):
    degree, on_path = view.degrees(), {node for path in paths for node in path}
    order = {node: i for i, node in enumerate(view.nodes)}
    return sorted(
        view.nodes,
        key=lambda n: (
            n not in roles,
            n not in on_path,
            -round(scores.get(n, 0.0), 9),
            -degree[n],
            order[n],
        ),
    )


def _legend(scene, view, score_name, roles, groups, path_name, opacity_name=""):
    """One row under the drawing that explains every mark used in it."""
    entries = [("score", score_name, BLUE)] if score_name else []
    entries += [("ink", f"{opacity_name}: 0 to 1", BLUE)] if opacity_name else []
    entries += [
        ("ring", role, colour)
        for role, colour in zip(
            dict.fromkeys(role for node, role in roles.items() if node in view.labels), ROLES * 3
        )
    ]
    entries += [
        ("dot", group, colour)
        for group, colour in group_colours({n: g for n, g in groups.items()}).items()
    ]
    if any(tie.kind == "synonymy" for tie in view.ties):
        entries += [("solid", "relation", EDGE), ("dashed", "synonymy", EDGE)]
    entries += [("bold", path_name, VERMILLION)] if path_name else []
    x, y = MARGIN, scene.height + 14
    for mark, name, colour in entries:
        name = shorten(name, 300, 12)
        wide = (62 if mark in ("score", "ink") else 34) + round(text_width(name, 12)) + 16
        if x + wide > scene.width and x > MARGIN:
            x, y = MARGIN, y + 22
        _legend_mark(scene, mark, x, y, colour)
        scene.add(Text(x + wide - round(text_width(name, 12)) - 16, y + 4, name, 12, colour=INK))
        x += wide
    if entries:
        scene.height = y + 14


def _legend_mark(scene, mark, x, y, colour):
    if mark == "score":
        for share, radius, shift in ((0.1, 4, 6), (0.5, 6, 22), (1.0, 9, 43)):
            scene.add(Circle(x + shift, y, radius, fill=ramp(share), stroke=OUTLINE))
    elif mark == "ink":
        for share, shift in ((0.0, 6), (0.5, 24), (1.0, 42)):
            scene.add(Circle(x + shift, y, 7, fill=faded(colour, share), stroke=OUTLINE))
    elif mark == "ring":
        scene.add(Circle(x + 14, y, 8, fill=WHITE, stroke=colour, width=3))
    elif mark == "dot":
        scene.add(Circle(x + 14, y, 7, fill=colour, stroke=OUTLINE))
    else:
        scene.add(
            Line(((x, y), (x + 26, y)), colour, 3 if mark == "bold" else 1, dash=mark == "dashed")
        )


def _top(view, scores, count):
    best = sorted(view.nodes, key=lambda n: (-round(scores[n], 9), str(view.labels[n])))[:count]
    return (
        ", ".join(f"{view.labels[n]} {scores[n]:.3f}" for n in best if scores[n] > 0) or "no mass"
    )


def _summary(view, scores, roles, ranked, decimals, ink, limit=40):
    """The figure in words: counts, then nodes by score and edges by name, at most `limit` of each."""
    synonyms = sum(tie.kind == "synonymy" for tie in view.ties)
    head = f"Graph with {len(view.nodes)} nodes and {len(view.ties)} edges" + (
        f", {synonyms} of them synonymy" if synonyms else ""
    )
    if scores:
        ordered = sorted(view.nodes, key=lambda n: (-round(scores[n], decimals), view.labels[n]))
    else:
        ordered = (
            sorted(view.nodes, key=lambda n: view.labels[n]) if len(view.nodes) <= limit else ranked
        )
    rows = [f"  {scores[n]:.{decimals}f}  " if scores else "  " for n in ordered[:limit]]
    rows = [row + (f"{ink[0][n]:.2f}  " if ink[0] else "") for row, n in zip(rows, ordered)]
    rows = [
        row + view.labels[n] + (f" [{clean(roles[n])}]" if n in roles else "")
        for row, n in zip(rows, ordered)
    ]
    ties = sorted(
        _tie_text(view, tie) + (f"  {ink[1][tie.source, tie.target]:.2f}" if ink[1] else "")
        for tie in view.ties
    )
    return "\n".join(
        [head, "nodes:"]
        + rows
        + _more(len(ordered), limit)
        + ["edges:"]
        + ties[:limit]
        + _more(len(ties), limit)
    )


def _tie_text(view, tie):
    if tie.kind == "synonymy":
        return (
            f"  {view.labels[tie.source]} ~ {view.labels[tie.target]} (synonymy {tie.weight:.2f})"
        )
    end = "->" if view.directed else "--"
    return (
        f"  {view.labels[tie.source]} --"
        + (f" {', '.join(tie.names)} " if tie.names else "")
        + f"{end} {view.labels[tie.target]}"
    )


def _more(total, limit):
    return [f"  ... and {total - limit} more"] if total > limit else []
