"""Boxes: the stages of a pipeline, paths through a graph, and a hierarchy of communities."""

from collections.abc import Collection, Hashable, Mapping, Sequence, Set

from .figure import MARGIN, Figure
from .scene import Colour, Scene, clean, mix, shorten, text_width, wrap

Step = str | tuple[str, str]  # a heading, or a heading and a detail
FILLS = (Colour.PALE, "#FDF1DC", "#E3F4EE", "#F8ECF3")
GAP, LEVEL = 44, 64  # between boxes side by side; height of a level


def draw_flow(
    steps: Sequence[Step] | Mapping[str, Sequence[Step]], title: str = "", caption: str = "",
    width: int = 760, highlight: Collection[str] = (),
) -> Figure:  # fmt: skip
    """Boxes from left to right, joined by arrows: what happens to a text on its way to an answer.

    A step is a heading or (heading, detail). A mapping from row name to steps draws several rows;
    dotted lines say that a box plays the part of the one above it. `highlight`: headings whose
    boxes get a thick edge.
    """
    rows: dict[str, list[tuple[str, str]]] = {}
    for name, row in (steps if isinstance(steps, Mapping) else {"": steps}).items():
        rows[name] = [(step, "") if isinstance(step, str) else step for step in row]
    linked, columns = len(rows) > 1, max(map(len, rows.values()))
    indent = round(max(text_width(name, 13, True) for name in rows)) + 18 if linked else 0
    left, scene, top, text = MARGIN + indent, Scene(width, 0), 8, []
    wide = (width - left - MARGIN - (columns - 1) * GAP) // columns
    xs = [left + column * (wide + GAP) for column in range(columns)]
    for number, (name, boxes) in enumerate(rows.items()):
        for x in xs[: len(boxes)] if number else ():
            scene.line(((x + wide // 2, top - 34), (x + wide // 2, top)), Colour.EDGE, 1, dash=True)
        tall = _draw_row(scene, boxes, xs, wide, top, FILLS[number % len(FILLS)], highlight)
        if linked:
            scene.text(MARGIN, top + tall // 2 + 5, name, 13, bold=True)
        top += tall + 34
        words = [clean(head) + (f" ({clean(detail)})" if detail else "") for head, detail in boxes]
        text.append((f"{clean(name)}: " if linked else "") + " --> ".join(words))
    scene.height = top - 26
    for column in zip(*rows.values()) if linked else ():
        heads = (clean(heading) for heading, _ in reversed(column))
        text.append("  " + " ~ plays the part of ~ ".join(heads))
    return Figure(scene, "\n".join(text), title, caption)


def _draw_row(
    scene: Scene,
    row: Sequence[tuple[str, str]],
    xs: list[int],
    wide: int,
    top: int,
    fill: str,
    highlight: Collection[str],
) -> int:
    """One row of boxes; returns its height."""
    heads = [wrap(heading, wide - 14, 13, lines=3, bold=True) for heading, _ in row]
    details = [wrap(detail, wide - 14, 11, lines=5) if detail else [] for _, detail in row]
    heights = [17 * len(head) + 15 * len(detail) for head, detail in zip(heads, details)]
    tall = 22 + max(high + (6 if detail else 0) for high, detail in zip(heights, details))
    for column, (x, (heading, _)) in enumerate(zip(xs, row)):
        edge, thick = (Colour.VERMILLION, 3) if heading in highlight else (Colour.OUTLINE, 1)
        scene.box(x, top, wide, tall, fill, edge, thick, round=8)
        head, detail, middle = heads[column], details[column], x + wide // 2
        y = top + (tall - heights[column] - (4 if detail else 0)) // 2
        for i, line in enumerate(head):
            scene.text(middle, y + 14 + 17 * i, line, 13, "middle", bold=True)
        for i, line in enumerate(detail):
            down = y + 16 + 17 * len(head) + 15 * i
            scene.text(middle, down, line, 11, "middle", Colour.MUTED)
        if column:
            height = top + tall // 2
            start = xs[column - 1] + wide + 4
            scene.arrow((start, height), (x - 4, height), Colour.INK, 2, size=10)
    return tall


def draw_path(
    paths: Sequence[str] | Sequence[Sequence[str]],
    relations: Mapping[tuple[str, str], str] | None = None, scores: Sequence[float] | None = None,
    title: str = "", caption: str = "", width: int = 760, score_name: str = "score",
) -> Figure:  # fmt: skip
    """Paths through a graph, one a row: a chain of boxes joined by arrows that carry the relations.

    `paths`: a list of nodes, or a list of such lists, best first. `relations`: mapping (node, node)
    -> text, either direction.
    `scores`: one number a path.
    """
    rows = [list(path) for path in paths if not isinstance(path, str)]
    if paths and not rows:
        rows = [[node for node in paths if isinstance(node, str)]]
    relations, longest = relations or {}, max(map(len, rows), default=1)
    left = MARGIN + (62 if scores is not None else 0)
    gap = {2: 150, 3: 110, 4: 84}.get(longest, max(64, (width - 400) // longest))
    wide = min(170, (width - left - MARGIN - (longest - 1) * gap) // longest)
    scene, text = Scene(width, len(rows) * 66 + 4), []
    for number, path in enumerate(rows):
        y, words = number * 66 + 6, []
        score = f"{scores[number]:.3f}" if scores is not None else ""
        if score:
            scene.text(MARGIN, y + 29, score, 13, bold=True)
        for column, node in enumerate(path):
            x, fill = left + column * (wide + gap), mix(Colour.SKY, Colour.WHITE, 0.7)
            scene.box(x, y, wide, 48, fill, Colour.OUTLINE, round=8, title=clean(node))
            lines = wrap(node, wide - 12, 12, lines=2)
            for i, line in enumerate(lines):
                down = y + 28 + 16 * i - 8 * (len(lines) - 1)
                scene.text(x + wide // 2, down, line, 12, "middle")
            if column:
                step, back = (path[column - 1], node), (node, path[column - 1])
                relation = clean(relations.get(step) or relations.get(back) or "")
                forward = step in relations or back not in relations
                ends = ((x - gap + 3, y + 28), (x - 3, y + 28))
                scene.arrow(*(ends if forward else ends[::-1]))
                middle, grey, lines = x - gap // 2, Colour.MUTED, wrap(relation, gap - 6, 11)
                for i, line in enumerate(reversed(lines)):
                    scene.text(middle, y + 20 - 13 * i, line, 11, "middle", grey, italic=True)
                there = f"--{relation}->" if relation else "--"
                words.append(there if forward else f"<-{relation}--")
            words.append(clean(node))
        text.append((f"  {score}  " if score else "  ") + " ".join(words))
    head = f"{len(rows)} path{'' if len(rows) == 1 else 's'}"
    head += f", {score_name} first" if scores is not None else ""
    return Figure(scene, "\n".join([head, *text]), title, caption)


def draw_hierarchy(
    levels: Sequence[Sequence[Set[Hashable]]], title: str = "", caption: str = "", width: int = 760,
    highlight: Sequence[Set[Hashable]] = (),
) -> Figure:  # fmt: skip
    """A community hierarchy as nested bars: a row a level, coarsest on top, a community as wide as
    it has nodes.

    `levels`: lists of sets of nodes, each level a partition that refines the one above.
    `highlight`: a list of communities (sets of nodes) that get a thick edge and are named in the
    text.
    """
    place = {node: i for i, node in enumerate(_hierarchy_order(levels))}
    scene, left = Scene(width, len(levels) * LEVEL + 8), MARGIN + 64
    thick_edged = [set(members) for members in highlight]
    unit = (width - MARGIN - left) / max(1, len(place))
    text = [f"Hierarchy of {max(1, len(place))} nodes, {len(levels)} levels"]
    for depth, level in enumerate(levels):
        y = depth * LEVEL + 4
        scene.text(MARGIN, y + LEVEL // 2, f"level {depth}", 12, colour=Colour.MUTED)
        text.append(f"level {depth}: {len(level)} communities")
        fill = mix(Colour.PALE, Colour.SKY, 0.15 + 0.5 * (depth % 2))
        for members in sorted(level, key=lambda c: min(place[n] for n in c)):
            nodes = sorted(members, key=place.__getitem__)
            names, count = [clean(node) for node in nodes], len(nodes)
            marked = set(members) in thick_edged
            x = round(left + place[nodes[0]] * unit)
            end = round(left + (place[nodes[0]] + count) * unit)
            edge, thick = (Colour.VERMILLION, 3) if marked else (Colour.OUTLINE, 1)
            hint = ", ".join(names)
            scene.box(x + 1, y, max(1, end - x - 2), LEVEL - 8, fill, edge, thick, 4, hint)
            if end - x > 44:
                size = f"{count} node{'' if count == 1 else 's'}" if end - x > 80 else str(count)
                size, hint = shorten(size, end - x - 16, 12, True), shorten(hint, end - x - 16, 12)
                scene.text(x + 7, y + 20, size, 12, bold=True)
                scene.text(x + 7, y + 37, hint, 12)
            listed = ", ".join(sorted(names)[:8]) + (", ..." if count > 8 else "")
            text.append(f"  {count}: {listed}{' [marked]' if marked else ''}")
    return Figure(scene, "\n".join(text), title, caption)


def _hierarchy_order(levels: Sequence[Sequence[Set[Hashable]]]) -> list[Hashable]:
    """All nodes so that every community of every level is a contiguous run: sorted by the chain of
    communities they are in.
    """
    chains: dict[Hashable, list[int]] = {}
    for level in levels:
        ranked = sorted(level, key=lambda c: (-len(c), str(min(map(str, c)))))
        for number, members in enumerate(ranked):
            for node in members:
                chains.setdefault(node, []).append(number)
    return sorted(chains, key=lambda node: (chains[node], str(node)))
