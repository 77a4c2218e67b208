"""Boxes: the stages of a pipeline, paths through a graph, and a hierarchy of communities."""

from .figure import MARGIN, Figure
from .scene import (
    EDGE,
    INK,
    MUTED,
    OUTLINE,
    PALE,
    SKY,
    VERMILLION,
    Box,
    Line,
    Scene,
    Text,
    arrow,
    clean,
    mix,
    shorten,
    text_width,
    wrap,
)

FILLS = (PALE, "#FDF1DC", "#E3F4EE", "#F8ECF3")


def draw_flow(
    steps, arrows=(), title="", caption="", width=760, highlight=(), link="plays the part of"
):
    """Boxes from left to right, joined by arrows: what happens to a text on its way to an answer.

    A step is a heading or (heading, detail). `arrows`: what the arrows carry. A mapping from row
    name to steps draws several rows; dotted lines join the boxes of one column (`link` says what
    they mean). More than six steps in one row continue below.
    """
    rows = dict(steps) if hasattr(steps, "items") else {"": list(steps)}
    linked = len(rows) > 1
    if not linked and len(next(iter(rows.values()))) > 6:
        rows = _folded(next(iter(rows.values())))
    columns = max(map(len, rows.values()))
    left = MARGIN + (round(max(text_width(name, 13, True) for name in rows)) + 18 if linked else 0)
    gap = min(104, max([44] + [round(text_width(clean(a), 11)) + 22 for a in arrows]))
    wide = (width - left - MARGIN - (columns - 1) * gap) // columns
    xs = [left + column * (wide + gap) for column in range(columns)]
    scene, top, carried = Scene(width, 0), 8, list(arrows)
    for number, (name, row) in enumerate(rows.items()):
        if number and linked:
            scene.add(
                *(
                    Line(((x + wide // 2, top - 34), (x + wide // 2, top)), EDGE, 1, dash=True)
                    for x in xs[: len(row)]
                )
            )
        elif number:
            _turn(scene, xs[-1] + wide // 2, xs[0] + wide // 2, top - 34, top)
            carried = carried[1:]
        tall = _draw_row(
            scene,
            row,
            carried,
            xs,
            wide,
            top,
            FILLS[number % len(FILLS)] if linked else PALE,
            highlight,
        )
        scene.add(Text(MARGIN, top + tall // 2 + 5, name, 13, bold=True)) if linked else None
        carried, top = carried[len(row) - 1 :], top + tall + 34
    scene.height = top - 26
    return Figure(scene, _flow_text(rows, arrows, linked, link), title, caption)


def _draw_row(scene, row, arrows, xs, wide, top, fill, highlight):
    """One row of boxes; returns its height."""
    cells = [_cell(step, wide) for step in row]
    tall = (
        max(len(head) * 17 + len(detail) * 15 + (6 if detail else 0) for head, detail in cells) + 22
    )
    middle = top + tall // 2
    for column, (x, step, (head, detail)) in enumerate(zip(xs, row, cells)):
        chosen = _heading(step) in highlight
        scene.add(
            Box(
                x,
                top,
                wide,
                tall,
                fill=fill,
                stroke=VERMILLION if chosen else OUTLINE,
                line=3 if chosen else 1,
                round=8,
            )
        )
        _write(scene, x + wide // 2, top, tall, head, detail)
        if column:
            start = xs[column - 1] + wide
            scene.add(*arrow((start + 4, middle), (x - 4, middle), INK, 2, size=10))
            carried = (
                shorten(arrows[column - 1], x - start - 6, 11) if column <= len(arrows) else ""
            )
            scene.add(
                Text((start + x) // 2, middle - 8, carried, 11, "middle", colour=MUTED, italic=True)
            ) if carried else None
    return tall


def _turn(scene, start, end, bottom, top):
    """The arrow from the end of one line of boxes to the start of the next."""
    turn = (bottom + top) // 2
    scene.add(
        Line(((start, bottom + 3), (start, turn), (end, turn)), INK, 2),
        *arrow((end, turn), (end, top - 3), INK, 2, size=10),
    )


def _folded(steps):
    """One long row as several of at most five."""
    lines = -(-len(steps) // 5)
    size = -(-len(steps) // lines)
    return {" " * i: steps[i * size : (i + 1) * size] for i in range(lines)}


def _heading(step):
    return step if isinstance(step, str) else step[0]


def _cell(step, wide):
    heading, detail = (step, "") if isinstance(step, str) else (*step, "")[:2]
    return wrap(heading, wide - 14, 13, lines=3, bold=True), wrap(
        detail, wide - 14, 11, lines=5
    ) if detail else []


def _write(scene, x, top, tall, head, detail):
    block = len(head) * 17 + len(detail) * 15 + (4 if detail else 0)
    y = top + (tall - block) // 2
    scene.add(
        *(Text(x, y + 14 + 17 * i, line, 13, "middle", bold=True) for i, line in enumerate(head))
    )
    scene.add(
        *(
            Text(x, y + 16 + 17 * len(head) + 15 * i, line, 11, "middle", colour=MUTED)
            for i, line in enumerate(detail)
        )
    )


def _flow_text(rows, arrows, linked, link):
    parts, number = [], 0
    for name, row in rows.items():
        words = []
        for column, step in enumerate(row):
            if column or (number and not linked):
                words.append(
                    f"--{clean(arrows[number])}-->"
                    if number < len(arrows) and arrows[number]
                    else "-->"
                )
                number += 1
            heading, detail = (step, "") if isinstance(step, str) else (*step, "")[:2]
            words.append(clean(heading) + (f" ({clean(detail)})" if detail else ""))
        parts.append((f"{clean(name)}: " if linked else "") + " ".join(words))
    names = list(rows)
    if linked:
        for column, cells in enumerate(zip(*rows.values())):
            parts.append("  " + f" ~ {link} ~ ".join(clean(_heading(c)) for c in reversed(cells)))
    return "\n".join(parts) if names else ""


def draw_path(
    paths, relations=None, scores=None, title="", caption="", width=760, score_name="score"
):
    """Paths through a graph, one a row: a chain of boxes joined by arrows that carry the relations.

    `paths`: a list of nodes, or a list of such lists, best first. `relations`: mapping (node, node)
    -> text, either direction.
    `scores`: one number a path.
    """
    paths = [list(paths)] if paths and isinstance(paths[0], str) else [list(p) for p in paths]
    relations = relations or {}
    longest = max(map(len, paths), default=1)
    left = MARGIN + (62 if scores is not None else 0)
    gap = {2: 150, 3: 110, 4: 84}.get(longest, 64)
    wide = min(170, (width - left - MARGIN - (longest - 1) * gap) // longest)
    scene, rows = Scene(width, len(paths) * 66 + 4), []
    for number, path in enumerate(paths):
        y = number * 66 + 6
        if scores is not None:
            scene.add(Text(MARGIN, y + 29, f"{scores[number]:.3f}", 13, bold=True))
        words = []
        for column, node in enumerate(path):
            x = left + column * (wide + gap)
            scene.add(
                Box(
                    x,
                    y,
                    wide,
                    48,
                    fill=mix(SKY, "#FFFFFF", 0.7),
                    stroke=OUTLINE,
                    round=8,
                    title=clean(node),
                )
            )
            lines = wrap(node, wide - 12, 12, lines=2)
            scene.add(
                *(
                    Text(x + wide // 2, y + 28 + 16 * i - 8 * (len(lines) - 1), line, 12, "middle")
                    for i, line in enumerate(lines)
                )
            )
            if column:
                relation = (
                    relations.get((path[column - 1], node))
                    or relations.get((node, path[column - 1]))
                    or ""
                )
                forward = (path[column - 1], node) in relations or (
                    node,
                    path[column - 1],
                ) not in relations
                ends = ((x - gap + 3, y + 28), (x - 3, y + 28))
                scene.add(*arrow(*(ends if forward else ends[::-1]), INK, 1))
                scene.add(
                    Text(
                        x - gap // 2,
                        y + 20,
                        shorten(relation, gap - 10, 11),
                        11,
                        "middle",
                        colour=MUTED,
                        italic=True,
                        title=clean(relation),
                    )
                )
                words.append(
                    (f"--{clean(relation)}--" if relation else "--")
                    if forward and not relation
                    else (f"--{clean(relation)}->" if forward else f"<-{clean(relation)}--")
                )
            words.append(clean(node))
        rows.append((f"  {scores[number]:.3f}  " if scores is not None else "  ") + " ".join(words))
    head = (
        f"{len(paths)} path"
        + "s" * (len(paths) != 1)
        + (f", {score_name} first" if scores is not None else "")
    )
    return Figure(scene, "\n".join([head] + rows), title, caption)


def draw_hierarchy(levels, labels=None, title="", caption="", width=760, row=64, highlight=()):
    """A community hierarchy as nested bars: a row a level, coarsest on top, a community as wide as
    it has nodes.

    `levels`: lists of sets of nodes, each level a partition that refines the one above. `labels`:
    node -> text.
    `highlight`: a list of communities (sets of nodes) that get a thick edge and are named in the
    text.
    """
    order = _hierarchy_order([list(map(set, level)) for level in levels])
    total = max(1, len(order))
    place = {node: i for i, node in enumerate(order)}
    scene, rows, marked = (
        Scene(width, len(levels) * row + 8),
        [],
        [set(members) for members in highlight],
    )
    left, unit = MARGIN + 64, (width - 2 * MARGIN - 64) / total
    for depth, level in enumerate(levels):
        y = depth * row + 4
        scene.add(Text(MARGIN, y + row // 2, f"level {depth}", 12, colour=MUTED))
        rows.append(f"level {depth}: {len(level)} communities")
        for members in sorted(level, key=lambda c: min(place[n] for n in c)):
            first, count = min(place[n] for n in members), len(members)
            x, end = round(left + first * unit), round(left + (first + count) * unit)
            names = [clean((labels or {}).get(n, n)) for n in sorted(members, key=place.get)]
            fill, thick = mix(PALE, SKY, 0.15 + 0.5 * (depth % 2)), set(members) in marked
            edge = {"stroke": VERMILLION, "line": 3} if thick else {"stroke": OUTLINE}
            scene.add(
                Box(
                    x + 1,
                    y,
                    max(1, end - x - 2),
                    row - 8,
                    fill=fill,
                    round=4,
                    title=", ".join(names),
                    **edge,
                )
            )
            lines = [
                f"{count} node" + "s" * (count != 1) if end - x > 80 else str(count),
                ", ".join(names),
            ]
            for i, line in enumerate(lines if end - x > 44 else []):
                scene.add(
                    Text(
                        x + 7,
                        y + 20 + 17 * i,
                        shorten(line, end - x - 16, 12, i == 0),
                        12,
                        bold=i == 0,
                    )
                )
            rows.append(
                f"  {count}: "
                + ", ".join(sorted(names)[:8])
                + (", ..." if count > 8 else "")
                + " [marked]" * thick
            )
    return Figure(
        scene,
        "\n".join([f"Hierarchy of {total} nodes, {len(levels)} levels"] + rows),
        title,
        caption,
    )


def _hierarchy_order(levels):
    """All nodes so that every community of every level is a contiguous run: sorted by the chain of
    communities they are in.
    """
    chains = {}
    for level in levels:
        ranked = sorted(level, key=lambda c: (-len(c), str(min(map(str, c)))))
        for number, members in enumerate(ranked):
            for node in members:
                chains.setdefault(node, []).append(number)
    return sorted(chains, key=lambda node: (chains[node], str(node)))
