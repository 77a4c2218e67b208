"""Where the nodes and their labels go: stress majorisation in plain arithmetic. `layout` gives
several figures of a graph the same positions.

Every machine draws the same picture: only +, -, *, / and square roots are used, on arrays and in a
fixed order; those are exact to the last bit under IEEE 754, while layouts that call eigenvalue
solvers or random numbers move with library versions.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.trace import Vector
from .scene import Point, text_width

if TYPE_CHECKING:
    from .charts import Highlight
    from .graphs import AnyGraph, Key

Bounds = tuple[float, float, float, float]  # left, top, right, bottom
Circles = list[tuple[int, int, int]]  # x, y, radius of all nodes
Segments = list[tuple[int, int, int, int]]  # x1, y1, x2, y2 of the edges


class Canvas(NamedTuple):
    """The size of a drawing, and how far from its rims nodes stay, in pixels."""

    width: int
    height: int
    margin_x: int
    margin_y: int

    @property
    def inside(self) -> tuple[Point, Point]:
        """The corners, top left and bottom right, that the margins leave."""
        low = (self.margin_x, self.margin_y)
        return low, (self.width - self.margin_x, self.height - self.margin_y)


def layout(
    graph: "AnyGraph", width: int = 760, height: int | None = None,
    highlight: "Highlight | None" = None,
) -> dict["Key", Point]:  # fmt: skip
    """Node -> (x, y) on the canvas, whole numbers: what `draw_graph` would use, to keep nodes in
    place over several figures.
    """
    from . import graph_scene, graphs  # which stand on this file

    view, roles = graphs.drawable(graph), graphs.as_roles(highlight)
    count = len(view.nodes)
    height, font = height or graph_scene.canvas_height(count), graph_scene.font_size(count)
    ranked = graphs.by_relevance(view, graph_scene.Marks(roles=roles))
    lines = graph_scene.label_lines(view, ranked, font)
    return graph_scene.node_points(view, None, lines, font, (width, height), roles)


@lru_cache(maxsize=64)
def stress_layout(count: int, edges: tuple[Point, ...]) -> Vector:
    """Positions (count, 2) in which drawn distances follow the distances in the graph.

    `edges` is a tuple of pairs of node numbers. Around hubs edges are longer, which spreads their
    leaves.
    """
    if count < 2:
        return np.zeros((count, 2))
    lengths = _distances(count, edges)
    np.fill_diagonal(lengths, 1.0)
    weights = 1.0 / (lengths * lengths)
    np.fill_diagonal(weights, 0.0)
    total = weights.sum(axis=0)
    rounds, starts = (150, 4) if count <= 100 else (60, 1)
    orders = _orders(_degrees(count, edges))[:starts]
    candidates = [_majorise(_spiral(o), lengths, weights, total, rounds) for o in orders]
    return min(candidates, key=lambda found: found[0])[1]


def _majorise(
    points: Vector, lengths: Vector, weights: Vector, total: Vector, rounds: int
) -> tuple[float, Vector]:
    """Move every node to the weighted mean of where the others want it, again and again; returns
    stress and positions.
    """
    for _ in range(rounds):
        dx = points[None, :, 0] - points[:, None, 0]
        dy = points[None, :, 1] - points[:, None, 1]
        apart = np.sqrt(dx * dx + dy * dy) + 1e-9
        pull = weights * lengths / apart
        x = (weights * points[:, None, 0] + pull * dx).sum(axis=0) / total
        y = (weights * points[:, None, 1] + pull * dy).sum(axis=0) / total
        points = np.round(np.stack([x, y], axis=1), 6)
    error = (apart - lengths) ** 2 * weights
    return float(np.round(error.sum(), 3)), points


def _degrees(count: int, edges: tuple[Point, ...]) -> list[int]:
    return np.bincount(np.array(edges, dtype=int).ravel(), minlength=count).tolist()


def _distances(count: int, edges: tuple[Point, ...]) -> Vector:
    """Shortest-path lengths of all pairs, in whole numbers; unconnected parts stand a bit apart."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    degree = _degrees(count, edges)
    length = [4 + int((2 * (degree[a] + degree[b])) ** 0.5) for a, b in edges]
    ends = tuple(zip(*edges)) or ((), ())
    graph = coo_array((length, ends), shape=(count, count))
    found = shortest_path(graph.tocsr(), directed=False)
    finite = found[np.isfinite(found)]
    furthest = max(8.0, float(finite.max()) * 0.6)
    return np.where(np.isfinite(found), found, furthest)


def _orders(degree: list[int]) -> list[list[int]]:
    """Nodes in four orders: the busiest first, last, or shuffled by a stride, and as given."""
    busiest = sorted(range(len(degree)), key=lambda node: (-degree[node], node))
    shuffled = busiest[::2] + busiest[1::2]
    return [busiest, busiest[::-1], shuffled, list(range(len(degree)))]


def _spiral(order: list[int]) -> Vector:
    """A golden spiral whose places are handed out in this order, from its middle outwards."""
    places = np.arange(len(order)) + 0.5
    angle, radius = places * 2.399963, 4 * np.sqrt(places)
    spiral = np.round(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), 4)
    points = np.empty_like(spiral)
    points[order] = spiral
    return points


def level(points: Vector) -> Vector:
    """Turn the drawing so that its longest direction lies flat: canvases and labels are wide."""
    if len(points) < 3:
        return points
    x, y = (points - points.mean(axis=0)).T
    xx, yy, xy = float((x * x).sum()), float((y * y).sum()), float((x * y).sum())
    spread = (((xx - yy) / 2) ** 2 + xy * xy) ** 0.5
    if spread < 1e-9:
        return points
    cosine = max(0.0, (1 + (xx - yy) / (2 * spread)) / 2) ** 0.5
    sine = max(0.0, (1 - (xx - yy) / (2 * spread)) / 2) ** 0.5 * (1 if xy >= 0 else -1)
    return np.stack([x * cosine + y * sine, y * cosine - x * sine], axis=1)


def fit(points: Vector, canvas: Canvas) -> Vector:
    """Scale positions to a canvas, at most 2.5 times more in one direction than in the other."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.subtract(*canvas.inside[::-1]).astype(float)
    scale = np.where(high - low > 1e-9, room / np.maximum(high - low, 1e-9), np.inf)
    scale = np.where(np.isfinite(scale), np.minimum(scale, 2.5 * scale.min()), 1.0)
    return (points - (low + high) / 2) * scale + np.array([canvas.width / 2, canvas.height / 2])


def spread(points: Vector, sizes: Vector, canvas: Canvas) -> Vector:
    """Push apart nodes whose boxes (`sizes`, (n, 2), with labels) overlap, inside the margins."""
    need = (sizes[:, None, :] + sizes[None, :, :]) / 2
    for _ in range(60):
        gap = points[:, None, :] - points[None, :, :]
        lack = need - np.abs(gap)
        crowded = (lack[..., 0] > 0) & (lack[..., 1] > 0)
        np.fill_diagonal(crowded, False)
        if not crowded.any():
            break
        sideways = crowded & (lack[..., 0] < lack[..., 1])
        upright = crowded & ~sideways
        order = np.sign(np.arange(len(points))[:, None] - np.arange(len(points))[None, :])
        sign = np.where(gap == 0, order[..., None], np.sign(gap))
        step = np.stack([sideways, upright], axis=-1) * lack * sign
        points = points + 0.3 * np.round(step, 6).sum(axis=1)
        points = np.clip(points, *canvas.inside)
    return points


def off_paths(points: Vector, segments: list[Point], room: float, canvas: Canvas) -> Vector:
    """Move nodes sideways off the path segments that are not theirs, so that a path never seems to
    pass through them.

    `segments`: pairs of node numbers; `room`: how far from a segment a node has to stay. A node
    that would leave the margins stays inside.
    """
    points = np.array(points, dtype=float)
    for _ in range(40):
        moved = False
        for a, b in segments:
            along = points[b] - points[a]
            length = max(1e-9, float(along[0] * along[0] + along[1] * along[1]) ** 0.5)
            for node in range(len(points)):
                away = points[node] - points[a]
                share = float(away[0] * along[0] + away[1] * along[1]) / (length * length)
                beside = float(along[0] * away[1] - along[1] * away[0]) / length
                if node in (a, b) or not 0 < share < 1 or abs(beside) >= room:
                    continue
                step = (room + 1 - abs(beside)) * (1 if beside >= 0 else -1)
                points[node] += np.round(np.array([-along[1], along[0]]) / length * step, 6)
                moved = True
        points = np.clip(points, *canvas.inside)
        if not moved:
            break
    return points


# Direction of the label from its node, and how much worse it reads than the first choice.
STRAIGHT = ((0, 1, 0), (0, -1, 1), (1, 0, 1), (-1, 0, 2))
PLACES = (*STRAIGHT, (1, -1, 2), (-1, -1, 3), (1, 1, 2), (-1, 1, 3))


class Label(NamedTuple):
    """The label of a node: where the node is and what is to be written beside it."""

    x: int
    y: int
    radius: int
    lines: list[str]
    size: int
    bold: bool


class Spot(NamedTuple):
    """A place for a label: middle and baseline of its first line, its box, how badly it reads."""

    x: int
    y: int
    box: Bounds
    badness: float


def place_labels(
    labels: list[Label], circles: Circles, segments: Segments, width: int, height: int
) -> list[Spot]:
    """Choose label places greedily, the first label first, then again with all others there."""
    spots = [_spots(label, width, height) for label in labels]
    if not spots:
        return []
    boxes = np.array([[spot.box for spot in places] for places in spots])
    costs = np.array([[spot.badness for spot in places] for places in spots], dtype=float)
    costs += _covered(boxes, np.array([label[:2] for label in labels]), circles, segments)
    taken = np.zeros((len(labels), 4))
    chosen = [0] * len(labels)
    for number in [*range(len(labels))] * 2:
        taken[number] = 0
        shared = shared_areas(boxes[number][:, None], taken[None]).sum(axis=1)
        chosen[number] = int(np.round(costs[number] + shared, 3).argmin())
        taken[number] = boxes[number][chosen[number]]
    return [places[choice] for places, choice in zip(spots, chosen)]


def _spots(label: Label, width: int, height: int) -> list[Spot]:
    """All places for one label, moved inside the canvas where they would leave it."""
    wide = max(text_width(line, label.size, label.bold) for line in label.lines)
    tall = len(label.lines) * (label.size + 2)
    found = []
    for dx, dy, badness in PLACES:
        for further in (0, 10):
            reach = (label.radius + 4 + further) * (0.7 if dx and dy else 1.0)
            left = label.x + dx * (reach + wide / 2) - wide / 2
            top = label.y + dy * reach - (tall if dy < 0 else tall / 2 if dy == 0 else 0)
            left = min(max(left, 3), width - wide - 3)
            top = min(max(top, 2), height - tall - 2)
            box = (left, top, left + wide, top + tall)
            x, y = round(left + wide / 2), round(top + 0.85 * label.size)
            found.append(Spot(x, y, box, 6 * badness + 2 * further))
    return found


def shared_areas(a: Vector, b: Vector) -> Vector:
    """Areas that boxes share; `a` and `b` are arrays (..., 4) that broadcast."""
    wide = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
    tall = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
    return np.maximum(wide, 0) * np.maximum(tall, 0)


def _covered(boxes: Vector, owners: Vector, circles: Circles, segments: Segments) -> Vector:
    """What each place, (labels, places, 4), covers of nodes and edges; a place close to another
    node could be read as that one's label.
    """
    x, y, radius = np.array(circles, dtype=float).T
    discs = np.stack([x - radius, y - radius, x + radius, y + radius], axis=-1)
    cost = 4 * shared_areas(boxes[:, :, None], discs).sum(axis=-1)
    halos = discs + np.array([-9, -9, 9, 9])
    foreign = (owners[:, None, 0] != x) | (owners[:, None, 1] != y)
    cost += 40 * ((shared_areas(boxes[:, :, None], halos) > 0) & foreign[:, None, :]).sum(axis=-1)
    if len(segments):
        cost += 12 * _crossed(boxes[:, :, None], np.array(segments, dtype=float)).sum(axis=-1)
    return cost


def _crossed(boxes: Vector, segments: Vector) -> NDArray[np.bool_]:
    """Whether segments (s, 4) run through boxes (..., 1, 4), after Liang and Barsky."""
    enter, leave = np.zeros(1), np.ones(1)
    for axis in (0, 1):
        start = segments[:, axis]
        step = segments[:, axis + 2] - start
        step = np.where(step == 0, 1e-9, step)
        first, second = (boxes[..., axis] - start) / step, (boxes[..., axis + 2] - start) / step
        enter = np.maximum(enter, np.minimum(first, second))
        leave = np.minimum(leave, np.maximum(first, second))
    return enter < leave
