"""Where the labels go: for each one the place, out of a few around its node, that covers least."""

import numpy as np

from .scene import text_width

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
