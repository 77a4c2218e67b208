"""The shapes of one graph: where its nodes go, how large they are, and what is written where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from .layout import (
    Bounds,
    Canvas,
    Label,
    fit,
    level,
    off_paths,
    place_labels,
    shared_areas,
    spread,
    stress_layout,
)
from .scene import SERIES, Colour, Point, Scene, faded, mix, ramp, shorten, text_width, wrap

Key: TypeAlias = Any  # what a graph calls a node: a name, a number, anything hashable
Pair = tuple[Key, Key]
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, YELLOW, _ = SERIES
ROLES = (VERMILLION, GREEN, ORANGE, PURPLE, BLUE)
GROUPS = (SKY, ORANGE, GREEN, PURPLE, BLUE, VERMILLION, YELLOW)
LABELLED = 60
# Where on an edge its relation may stand, as a share of the edge; the first place is the best.
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)


@dataclass(frozen=True)
class Tie:
    """All edges between two nodes, drawn as one line: names of the relations, heaviest weight, and
    whether any is a real relation.
    """

    source: Key
    target: Key
    names: tuple[str, ...]
    kind: str
    weight: float

    @property
    def ends(self) -> Pair:
        return self.source, self.target


@dataclass(frozen=True)
class Drawable:
    """Node keys in their graph's order, their labels, and one tie per connected pair."""

    nodes: tuple[Key, ...]
    labels: Mapping[Key, str]
    ties: tuple[Tie, ...]
    directed: bool = False

    def keep(self, nodes: Sequence[Key]) -> "Drawable":
        """The part induced by these nodes."""
        kept = set(nodes)
        ties = tuple(tie for tie in self.ties if kept.issuperset(tie.ends))
        nodes = tuple(node for node in self.nodes if node in kept)
        return Drawable(nodes, self.labels, ties, self.directed)


@dataclass(frozen=True)
class Marks:
    """What a figure tells of nodes and edges by size, colour and ink; empty where it tells nothing.

    Opacities go from 0 to 1.
    """

    scores: Mapping[Key, float] = field(default_factory=dict)
    roles: Mapping[Key, str] = field(default_factory=dict)
    groups: Mapping[Key, str] = field(default_factory=dict)
    paths: Sequence[Sequence[Key]] = ()
    node_opacity: Mapping[Key, float] = field(default_factory=dict)
    edge_opacity: Mapping[Pair, float] = field(default_factory=dict)


def path_steps(paths: Sequence[Sequence[Key]]) -> list[Pair]:
    """Neighbours on the paths."""
    return [pair for path in paths for pair in zip(path, list(path)[1:])]


def canvas_height(count: int) -> int:
    """The height that so many nodes need, in pixels."""
    heights = ((8, 300), (20, 390), (40, 470), (100, 580))
    return next((height for most, height in heights if count <= most), 760)


def font_size(count: int) -> int:
    """The size of the labels of so many nodes."""
    return 13 if count <= 30 else 12 if count <= 60 else 10


def label_lines(view: Drawable, ranked: Sequence[Key], font: int) -> dict[Key, list[str]]:
    """Node -> its label broken into lines, for the nodes that are labelled."""
    count = LABELLED if len(view.nodes) <= 100 else LABELLED // 2
    width = 130 if font > 11 else 105
    return {node: wrap(view.labels[node], width, font) for node in ranked[:count]}


def node_points(
    view: Drawable,
    positions: Mapping[Key, Sequence[float]] | None,
    lines: Mapping[Key, list[str]],
    font: int,
    size: tuple[int, int],
    roles: Mapping[Key, str],
    paths: Sequence[Sequence[Key]] = (),
) -> dict[Key, Point]:
    """Whole-number canvas coordinates: the layout scaled to the canvas, then pushed apart until
    labels have room, and off the paths.
    """
    if not view.nodes:
        return {}
    (width, height), number = size, {node: i for i, node in enumerate(view.nodes)}
    canvas = Canvas(width, height, min(70, width // 9), 34)
    if positions is not None:
        places = fit(np.array([positions[node] for node in view.nodes], dtype=float), canvas)
    else:
        ends = [sorted((number[tie.source], number[tie.target])) for tie in view.ties]
        edges = tuple(sorted({(a, b) for a, b in ends if a != b}))
        places = fit(level(stress_layout(len(view.nodes), edges)), canvas)
        cell = (width * height / len(view.nodes)) ** 0.5
        boxes = [(0.5 * cell, 0.5 * cell)] * len(view.nodes)
        for node, rows in lines.items():
            disc = 52 if node in roles else 26
            wide = disc + 4 + 0.75 * max(text_width(row, font) for row in rows)
            tall = disc + (font + 2) * len(rows)
            boxes[number[node]] = (min(1.3 * cell, wide), min(cell, tall))
        places = spread(places, np.array(boxes), canvas)
        steps = {(number[a], number[b]) for a, b in path_steps(paths) if {a, b} <= set(number)}
        places = off_paths(places, sorted(steps), 18, canvas)
    return {node: (round(x), round(y)) for node, (x, y) in zip(view.nodes, places.tolist())}


def node_radii(
    view: Drawable, scores: Mapping[Key, float], top: float, scene: Scene
) -> dict[Key, int]:
    """Whole-number radii: area follows the score; crowded canvases get smaller nodes."""
    cell = (scene.width * scene.height / max(1, len(view.nodes))) ** 0.5
    small, large = max(3, min(4, round(cell / 12))), max(7, min(24, round(cell / 4)))
    if not scores:
        return dict.fromkeys(view.nodes, max(4, min(9, round(cell / 9))))
    share = {n: min(1.0, max(0.0, scores.get(n, 0.0)) / top) for n in view.nodes}
    return {n: max(small, round(large * share[n] ** 0.5)) for n in view.nodes}


def role_colours(roles: Mapping[Key, str]) -> dict[str, str]:
    """Role -> the colour of its ring."""
    return dict(zip(dict.fromkeys(roles.values()), ROLES * 3))


def group_colours(groups: Mapping[Key, str]) -> dict[str, str]:
    """Group -> the colour of its nodes."""
    return dict(zip(sorted(set(groups.values()), key=str), GROUPS * 9))


@dataclass(frozen=True)
class GraphScene:
    """One graph on a canvas, without title and legend. `points`: where its nodes are; `top`: the
    score of the largest node.
    """

    view: Drawable
    marks: Marks
    points: Mapping[Key, Point]
    scene: Scene
    top: float

    @cached_property
    def radii(self) -> dict[Key, int]:
        return node_radii(self.view, self.marks.scores, self.top, self.scene)

    def draw_ties(self) -> None:
        """Draw the edges, those of paths and those with most ink on top."""
        bold = {frozenset(step) for step in path_steps(self.marks.paths)}
        ink = self.marks.edge_opacity
        thin = Colour.EDGE if len(self.view.nodes) <= 100 else Colour.FAINT
        order = {t: (frozenset(t.ends) in bold, ink.get(t.ends, 0)) for t in self.view.ties}
        for tie in sorted(self.view.ties, key=order.__getitem__):
            on_path = order[tie][0]
            colour, width = (VERMILLION, 3) if on_path else (thin, 1)
            source, target = (self.view.labels[node] for node in tie.ends)
            title = f"{source} – {', '.join(tie.names) or tie.kind} – {target}"
            if ink:
                share = ink[tie.ends]
                colour = faded(colour if on_path else Colour.OUTLINE, 0.1 + 0.9 * share)
                width, title = max(width, 1 + round(2 * share)), f"{title}: {share:.2f}"
            start, end = self.points[tie.source], self.points[tie.target]
            if tie.source == tie.target:
                x, y = start[0] + self.radii[tie.source], start[1] - self.radii[tie.source]
                self.scene.circle(x, y, 7, stroke=colour, width=width, title=title)
            elif self.view.directed:
                tip = _rim(start, end, self.radii[tie.target] + 2)
                self.scene.arrow(start, tip, colour, width, title, size=6 + 2 * width)
            else:
                dash = tie.kind == "synonymy"
                self.scene.line((start, end), colour, width, dash, title)

    def draw_nodes(self) -> None:
        """Draw the nodes, the largest first, with a ring around those that have a role."""
        marks, rings, fills = (
            self.marks,
            role_colours(self.marks.roles),
            group_colours(self.marks.groups),
        )
        plain = BLUE if marks.node_opacity else mix(SKY, Colour.WHITE, 0.45)
        for node in sorted(self.view.nodes, key=lambda n: -self.radii[n]):
            (x, y), radius, title = self.points[node], self.radii[node], self.view.labels[node]
            fill = fills[marks.groups[node]] if node in marks.groups else plain
            if marks.scores:
                score = marks.scores.get(node, 0.0)
                fill, title = ramp(min(1.0, score / self.top) ** 0.5), f"{title}: {score:.4f}"
            if marks.node_opacity:
                share = marks.node_opacity[node]
                fill, title = faded(fill, share), f"{title}: {share:.2f}"
            if node in marks.roles:
                ring = rings[marks.roles[node]]
                self.scene.circle(x, y, radius + 4, Colour.WHITE, ring, 3, title)
            self.scene.circle(x, y, radius, fill, Colour.OUTLINE, title=title)

    def draw_labels(
        self, lines: Mapping[Key, list[str]], font: int, clear: Mapping[Key, int]
    ) -> list[Bounds]:
        """Put the labels where they cover least, clear of nodes of these radii; returns the boxes
        that they take.
        """
        roles, points = self.marks.roles, self.points
        labels = [
            Label(*points[n], clear[n] + (5 if n in roles else 0), rows, font, n in roles)
            for n, rows in lines.items()
        ]
        circles = [(*points[n], clear[n]) for n in self.view.nodes]
        segments = [(*points[tie.source], *points[tie.target]) for tie in self.view.ties]
        spots = place_labels(labels, circles, segments, self.scene.width, self.scene.height)
        for label, spot in zip(labels, spots):
            for i, row in enumerate(label.lines):
                y = spot.y + i * (font + 2)
                self.scene.text(spot.x, y, row, font, "middle", bold=label.bold, halo=True)
        return [spot.box for spot in spots]

    def draw_tie_names(
        self, edge_labels: bool | Mapping[Pair, str], size: int, taken: list[Bounds]
    ) -> None:
        """Write each relation on its edge, at the point of the edge where it covers least."""
        discs = [(*point, self.radii[node]) for node, point in self.points.items()]
        taken = taken + [(x - r, y - r, x + r, y + r) for x, y, r in discs]
        for tie in self.view.ties:
            if isinstance(edge_labels, Mapping):
                given = edge_labels.get(tie.ends) or edge_labels.get(tie.ends[::-1])
            else:
                given = ", ".join(tie.names)
            if not given:
                continue
            (x1, y1), (x2, y2) = self.points[tie.source], self.points[tie.target]
            length = ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5
            row = shorten(given, max(110, round(length) - 24), size)
            half, spots = text_width(row, size) / 2, []
            for turn, share in enumerate(ALONG):
                x = round(min(max(x1 + (x2 - x1) * share, half + 3), self.scene.width - half - 3))
                y = round(y1 + (y2 - y1) * share) + 4
                box = (x - half, y - size, x + half, y + 3)
                covered = float(shared_areas(np.array(box), np.array(taken)).sum())
                spots.append((round(covered, 3), turn, x, y, box))
            _, _, x, y, box = min(spots)
            taken.append(box)
            ink = self.marks.edge_opacity.get(tie.ends, 1.0)
            colour = faded(Colour.MUTED, 0.5 + 0.5 * ink)
            self.scene.text(x, y, row, size, "middle", colour, italic=True, halo=True, title=given)


def _rim(start: Point, end: Point, radius: int) -> Point:
    """Where a line towards a node meets the node's rim."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(1.0, (dx * dx + dy * dy) ** 0.5)
    share = max(0.0, 1 - radius / length)
    return round(start[0] + dx * share), round(start[1] + dy * share)


def legend_mark(scene: Scene, mark: str, x: int, y: int, colour: str) -> None:
    """Draw the sample of a mark, at the left end of its entry in a legend."""
    if mark == "score":
        for share, radius, shift in ((0.1, 4, 6), (0.5, 6, 22), (1.0, 9, 43)):
            scene.circle(x + shift, y, radius, ramp(share), Colour.OUTLINE)
    elif mark == "ink":
        for share, shift in ((0.0, 6), (0.5, 24), (1.0, 42)):
            scene.circle(x + shift, y, 7, faded(colour, share), Colour.OUTLINE)
    elif mark == "ring":
        scene.circle(x + 14, y, 8, Colour.WHITE, colour, 3)
    elif mark == "dot":
        scene.circle(x + 14, y, 7, colour, Colour.OUTLINE)
    else:
        width = 3 if mark == "bold" else 1
        scene.line(((x, y), (x + 26, y)), colour, width, mark == "dashed")
