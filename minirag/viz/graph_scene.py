"""The shapes of one graph: where its nodes go, how large they are, and what is written where."""

import numpy as np

from .layout import fit, level, off_paths, place_labels, shared_areas, spread, stress_layout
from .scene import (
    BLUE,
    EDGE,
    FAINT,
    GREEN,
    MUTED,
    ORANGE,
    OUTLINE,
    PURPLE,
    SERIES,
    SKY,
    VERMILLION,
    WHITE,
    Circle,
    Line,
    Scene,
    Text,
    arrow,
    mix,
    ramp,
    shorten,
    text_width,
    wrap,
)

ROLES = (VERMILLION, GREEN, ORANGE, PURPLE, BLUE)
LABELLED = 60


def canvas_height(count):
    return (
        300
        if count <= 8
        else 390
        if count <= 20
        else 470
        if count <= 40
        else 580
        if count <= 100
        else 760
    )


def font_size(count):
    return 13 if count <= 30 else 12 if count <= 60 else 10


def label_lines(view, ranked, font):
    """Node -> its label broken into lines, for the nodes that are labelled."""
    count = LABELLED if len(view.nodes) <= 100 else LABELLED // 2
    return {
        node: wrap(view.labels[node], 130 if font > 11 else 105, font) for node in ranked[:count]
    }


def graph_scene(
    view,
    *,
    positions=None,
    points=None,
    scores=None,
    roles=None,
    groups=None,
    paths=(),
    edge_labels=False,
    ranked=None,
    width=760,
    height=None,
    score_max=None,
    font=None,
    label_scores=None,
    node_opacity=None,
    edge_opacity=None,
):
    """The shapes of one graph, without title and legend.

    `ranked`: the nodes to label, best first. `points`: their final places if known. `label_scores`:
    keep labels clear of nodes of these scores, so that labels stay put over several panels.
    `node_opacity` (node -> 0 to 1), `edge_opacity` (node pair -> 0 to 1): the share of ink.
    """
    scores, roles, groups = scores or {}, roles or {}, groups or {}
    height, font = height or canvas_height(len(view.nodes)), font or font_size(len(view.nodes))
    lines = label_lines(view, list(ranked or view.nodes), font)
    points = points or node_points(view, positions, lines, font, width, height, roles, paths)
    radii = _radii(view, scores, score_max, width, height)
    scene = Scene(width, height)
    _draw_ties(scene, view, points, radii, paths, edge_opacity)
    _draw_nodes(scene, view, points, radii, scores, score_max, roles, groups, node_opacity)
    clear = _radii(view, label_scores, score_max, width, height) if label_scores else radii
    taken = _draw_labels(scene, view, points, clear, lines, roles, font)
    if edge_labels:
        _draw_tie_names(scene, view, points, radii, edge_labels, font - 2, taken, edge_opacity)
    return scene


def _places(view):
    number = {node: i for i, node in enumerate(view.nodes)}
    pairs = {
        tuple(sorted((number[t.source], number[t.target])))
        for t in view.ties
        if t.source != t.target
    }
    return level(stress_layout(len(view.nodes), tuple(sorted(pairs))))


def node_points(view, positions, lines, font, width, height, roles, paths=()):
    """Whole-number canvas coordinates: the layout scaled to the canvas, then pushed apart until
    labels have room, and off the paths.
    """
    if not view.nodes:
        return {}
    margin_x, margin_y = min(70, width // 9), 34
    raw = (
        _places(view)
        if positions is None
        else np.array([positions[node] for node in view.nodes], dtype=float)
    )
    places = fit(raw, width, height, margin_x, margin_y)
    if positions is None:
        cell = (width * height / len(view.nodes)) ** 0.5
        boxes = [(0.5 * cell, 0.5 * cell)] * len(view.nodes)
        for i, node in enumerate(view.nodes):
            if node in lines:
                disc, label = (
                    52 if node in roles else 26,
                    max(text_width(row, font) for row in lines[node]),
                )
                boxes[i] = (
                    min(1.3 * cell, disc + 4 + 0.75 * label),
                    min(cell, disc + (font + 2) * len(lines[node])),
                )
        places = spread(places, np.array(boxes), width, height, margin_x, margin_y)
        number = {node: i for i, node in enumerate(view.nodes)}
        segments = sorted(
            {
                (number[a], number[b])
                for path in paths
                for a, b in zip(path, list(path)[1:])
                if a in number and b in number
            }
        )
        places = off_paths(places, segments, 18, width, height, margin_x, margin_y)
    return {node: (round(x), round(y)) for node, (x, y) in zip(view.nodes, places.tolist())}


def _radii(view, scores, score_max, width, height):
    """Whole-number radii: area follows the score; crowded canvases get smaller nodes."""
    cell = (width * height / max(1, len(view.nodes))) ** 0.5
    small, large = max(3, min(4, round(cell / 12))), max(7, min(24, round(cell / 4)))
    if not scores:
        return dict.fromkeys(view.nodes, max(4, min(9, round(cell / 9))))
    top = score_max or max((scores.get(n, 0.0) for n in view.nodes), default=0.0) or 1.0
    return {
        n: max(small, round(large * min(1.0, max(0.0, scores.get(n, 0.0)) / top) ** 0.5))
        for n in view.nodes
    }


def faded(colour, opacity):
    """The colour as it looks on white with this much ink, in twentieths; mixed rather than
    transparent, so that SVG and PNG agree.
    """
    return mix(WHITE, colour, round(20 * opacity) / 20)


def _draw_ties(scene, view, points, radii, paths, opacity=None):
    bold = {frozenset(pair) for path in paths for pair in zip(path, list(path)[1:])}
    ordered = sorted(
        view.ties,
        key=lambda tie: (
            frozenset((tie.source, tie.target)) in bold,
            opacity[tie.source, tie.target] if opacity else 0,
        ),
    )
    for tie in ordered:
        start, end = points[tie.source], points[tie.target]
        chosen = frozenset((tie.source, tie.target)) in bold
        colour, width = (
            (VERMILLION, 3) if chosen else (EDGE if len(view.nodes) <= 100 else FAINT, 1)
        )
        title = f"{view.labels[tie.source]} – {', '.join(tie.names) or tie.kind} – {view.labels[tie.target]}"
        if opacity:
            share = opacity[tie.source, tie.target]
            colour, width, title = (
                faded(colour if chosen else OUTLINE, 0.1 + 0.9 * share),
                max(width, 1 + round(2 * share)),
                f"{title}: {share:.2f}",
            )
        if tie.source == tie.target:
            scene.add(
                Circle(
                    start[0] + radii[tie.source],
                    start[1] - radii[tie.source],
                    7,
                    stroke=colour,
                    width=width,
                    title=title,
                )
            )
        elif view.directed:
            scene.add(
                *arrow(
                    start,
                    _rim(start, end, radii[tie.target] + 2),
                    colour,
                    width,
                    title,
                    size=6 + 2 * width,
                )
            )
        else:
            scene.add(Line((start, end), colour, width, dash=tie.kind == "synonymy", title=title))


def _rim(start, end, radius):
    """Where a line towards a node meets the node's rim."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(1.0, (dx * dx + dy * dy) ** 0.5)
    share = max(0.0, 1 - radius / length)
    return round(start[0] + dx * share), round(start[1] + dy * share)


def _draw_nodes(scene, view, points, radii, scores, score_max, roles, groups, opacity=None):
    top = score_max or max((scores.get(n, 0.0) for n in view.nodes), default=0.0) or 1.0
    role_colour = dict(zip(dict.fromkeys(roles.values()), ROLES * 3))
    group_colour = group_colours(groups)
    for node in sorted(view.nodes, key=lambda n: -radii[n]):
        (x, y), radius, title = points[node], radii[node], view.labels[node]
        if scores:
            fill, title = (
                ramp(min(1.0, scores.get(node, 0.0) / top) ** 0.5),
                f"{title}: {scores.get(node, 0.0):.4f}",
            )
        else:
            fill = group_colour.get(groups.get(node), BLUE if opacity else mix(SKY, WHITE, 0.45))
        if opacity:
            fill, title = faded(fill, opacity[node]), f"{title}: {opacity[node]:.2f}"
        if node in roles:
            scene.add(
                Circle(
                    x,
                    y,
                    radius + 4,
                    fill=WHITE,
                    stroke=role_colour[roles[node]],
                    width=3,
                    title=title,
                )
            )
        scene.add(Circle(x, y, radius, fill=fill, stroke=OUTLINE, title=title))


def group_colours(groups):
    return dict(
        zip(
            sorted(set(groups.values()), key=str),
            (SKY, ORANGE, GREEN, PURPLE, BLUE, VERMILLION, SERIES[6]) * 9,
        )
    )


def _draw_labels(scene, view, points, radii, lines, roles, font):
    """Put the labels where they cover least; returns the boxes they take."""
    requests = [
        (*points[n], radii[n] + (5 if n in roles else 0), lines[n], font, n in roles)
        for n in lines
        if lines[n]
    ]
    circles = [(*points[n], radii[n]) for n in view.nodes]
    segments = [(*points[t.source], *points[t.target]) for t in view.ties]
    spots = place_labels(requests, circles, segments, scene.width, scene.height)
    for (_, _, _, rows, size, bold), ((x, y), _) in zip(requests, spots):
        scene.add(
            *(
                Text(x, y + i * (size + 2), row, size, "middle", bold=bold, halo=True)
                for i, row in enumerate(rows)
            )
        )
    return [box for _, box in spots]


def _draw_tie_names(scene, view, points, radii, edge_labels, size, taken, opacity=None):
    """Write each relation on its edge, at the point of the edge where it covers least."""
    taken = taken + [
        (x - radii[n], y - radii[n], x + radii[n], y + radii[n]) for n, (x, y) in points.items()
    ]
    for tie in view.ties:
        given = (
            edge_labels.get((tie.source, tie.target)) or edge_labels.get((tie.target, tie.source))
            if hasattr(edge_labels, "get")
            else ", ".join(tie.names)
        )
        if not given:
            continue
        (x1, y1), (x2, y2) = points[tie.source], points[tie.target]
        room = max(110, round(((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5) - 24)
        row = shorten(given, room, size)
        half = text_width(row, size) / 2
        spots = []
        for turn, share in enumerate((0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)):
            x = round(min(max(x1 + (x2 - x1) * share, half + 3), scene.width - half - 3))
            y = round(y1 + (y2 - y1) * share) + 4
            box = (x - half, y - size, x + half, y + 3)
            spots.append(
                (
                    round(float(shared_areas(np.array(box), np.array(taken)).sum()), 3),
                    turn,
                    x,
                    y,
                    box,
                )
            )
        _, _, x, y, box = min(spots)
        taken.append(box)
        colour = faded(MUTED, 0.5 + 0.5 * opacity[tie.source, tie.target]) if opacity else MUTED
        scene.add(
            Text(x, y, row, size, "middle", colour=colour, italic=True, halo=True, title=given)
        )
