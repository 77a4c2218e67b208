"""Where the nodes and their labels go: stress majorisation in plain arithmetic.

Every machine draws the same picture: only +, -, *, / and square roots are used, on arrays and in a
fixed order; those are exact to the last bit under IEEE 754, while layouts that call eigenvalue
solvers or random numbers move with library versions.
"""

from functools import lru_cache

import numpy as np

from .scene import text_width


@lru_cache(maxsize=64)
def stress_layout(count, edges):
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
    candidates = [
        _majorise(_start(count, edges, turn), lengths, weights, total, rounds)
        for turn in range(starts)
    ]
    best = min(range(starts), key=lambda turn: candidates[turn][0])
    return candidates[best][1]


def _majorise(points, lengths, weights, total, rounds):
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


def _distances(count, edges):
    """Shortest-path lengths between all nodes, in whole numbers; unconnected parts stand a little
    apart.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    degree = [0] * count
    for a, b in edges:
        degree[a] += 1
        degree[b] += 1
    length = [4 + int((2 * (degree[a] + degree[b])) ** 0.5) for a, b in edges]
    ends = tuple(zip(*edges)) or ((), ())
    found = (
        shortest_path(coo_array((length, ends), shape=(count, count)).tocsr(), directed=False)
        if edges
        else np.full((count, count), np.inf)
    )
    finite = found[np.isfinite(found)]
    furthest = max(8.0, float(finite.max()) * 0.6) if len(finite) else 8.0
    return np.where(np.isfinite(found), found, furthest)


def _start(count, edges, turn):
    """A golden spiral; each turn hands its places out in another order, the busiest nodes first,
    last or shuffled by a stride.
    """
    degree = [0] * count
    for a, b in edges:
        degree[a] += 1
        degree[b] += 1
    order = sorted(range(count), key=lambda node: (-degree[node], node))
    order = [order, order[::-1], order[::2] + order[1::2], list(range(count))][turn]
    places = np.arange(count) + 0.5
    angle, radius = places * 2.399963, 4 * np.sqrt(places)
    spiral = np.round(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), 4)
    points = np.empty((count, 2))
    points[order] = spiral
    return points


def level(points):
    """Turn the drawing so that its longest direction lies flat, since canvases and labels are wide."""
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


def fit(points, width, height, margin_x, margin_y):
    """Scale positions to a canvas; a narrow drawing is stretched at most 2.5 times more in one
    direction than in the other.
    """
    points = np.asarray(points, dtype=float)
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([width - 2 * margin_x, height - 2 * margin_y], dtype=float)
    scale = np.where(high - low > 1e-9, room / np.maximum(high - low, 1e-9), np.inf)
    scale = np.where(np.isfinite(scale), np.minimum(scale, 2.5 * scale.min()), 1.0)
    return (points - (low + high) / 2) * scale + np.array([width / 2, height / 2])


def spread(points, sizes, width, height, margin_x, margin_y, rounds=60):
    """Push apart nodes whose boxes (`sizes`: (n, 2), label included) overlap, and keep all inside
    the margins.
    """
    points = np.array(points, dtype=float)
    if len(points) < 2:
        return points
    need = (sizes[:, None, :] + sizes[None, :, :]) / 2
    for _ in range(rounds):
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
        step = np.stack(
            [
                np.where(sideways, lack[..., 0] * sign[..., 0], 0),
                np.where(upright, lack[..., 1] * sign[..., 1], 0),
            ],
            axis=-1,
        )
        points = points + 0.3 * np.round(step, 6).sum(axis=1)
        points = np.clip(points, [margin_x, margin_y], [width - margin_x, height - margin_y])
    return points


def off_paths(points, segments, room, width, height, margin_x, margin_y, rounds=40):
    """Move nodes sideways off the path segments that are not theirs, so that a path never seems to
    pass through them.

    `segments`: pairs of node numbers; `room`: how far from a segment a node has to stay. A node
    that would leave the margins stays inside.
    """
    points = np.array(points, dtype=float)
    for _ in range(rounds):
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
        points = np.clip(points, [margin_x, margin_y], [width - margin_x, height - margin_y])
        if not moved:
            break
    return points


# Direction of the label from its node, and how much worse it reads than the first choice.
PLACES = (
    (0, 1, 0),
    (0, -1, 1),
    (1, 0, 1),
    (-1, 0, 2),
    (1, -1, 2),
    (-1, -1, 3),
    (1, 1, 2),
    (-1, 1, 3),
)


def place_labels(nodes, circles, segments, width, height, sweeps=2):
    """Choose label places greedily, then once more with all others in place.

    `nodes`: (x, y, radius, lines of text, size, bold), most important first; `circles`: (x, y,
    radius) of all nodes;
    `segments`: (x1, y1, x2, y2) of the edges. Returns per node (x, baseline of the first line) and
    the box (left, top, right, bottom).
    """
    options = [_options(node, width, height) for node in nodes]
    if not options:
        return []
    boxes = np.array([[box for _, box, _ in choices] for choices in options])
    costs = np.array([[badness for *_, badness in choices] for choices in options], dtype=float)
    costs = costs + _covered(boxes, np.array([node[:2] for node in nodes]), circles, segments)
    taken = np.zeros((len(nodes), 4))
    chosen = [0] * len(nodes)
    for _ in range(sweeps):
        for number in range(len(nodes)):
            taken[number] = 0
            total = np.round(
                costs[number] + shared_areas(boxes[number][:, None], taken[None]).sum(axis=1), 3
            )
            chosen[number] = int(total.argmin())
            taken[number] = boxes[number][chosen[number]]
    return [options[number][choice][:2] for number, choice in enumerate(chosen)]


def _options(node, width, height):
    """All places for one label: ((x, baseline), box, badness), moved inside the canvas where they
    would leave it.
    """
    x, y, radius, lines, size, bold = node
    wide = max(text_width(line, size, bold) for line in lines)
    tall = len(lines) * (size + 2)
    found = []
    for dx, dy, badness in PLACES:
        for further in (0, 10):
            reach = radius + 4 + further
            slant = 0.7 if dx and dy else 1.0
            left = x + dx * (reach * slant + wide / 2) - wide / 2
            top = y + dy * reach * slant - (tall if dy < 0 else tall / 2 if dy == 0 else 0)
            left = min(max(left, 3), width - wide - 3)
            top = min(max(top, 2), height - tall - 2)
            found.append(
                (
                    (round(left + wide / 2), round(top + 0.85 * size)),
                    (left, top, left + wide, top + tall),
                    6 * badness + 2 * further,
                )
            )
    return found


def shared_areas(a, b):
    """Areas that boxes share; `a` and `b` are arrays (..., 4) that broadcast."""
    wide = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0])
    tall = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1])
    return np.maximum(wide, 0) * np.maximum(tall, 0)


def _covered(boxes, owners, circles, segments):
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


def _crossed(boxes, segments):
    """Whether segments (s, 4) run through boxes (..., 1, 4), after Liang and Barsky."""
    enter, leave = 0.0, 1.0
    for axis in (0, 1):
        start = segments[:, axis]
        step = segments[:, axis + 2] - start
        step = np.where(step == 0, 1e-9, step)
        first, second = (boxes[..., axis] - start) / step, (boxes[..., axis + 2] - start) / step
        enter, leave = (
            np.maximum(enter, np.minimum(first, second)),
            np.minimum(leave, np.maximum(first, second)),
        )
    return enter < leave
