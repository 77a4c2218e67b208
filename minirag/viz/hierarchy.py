"""A community hierarchy as nested bars."""

from .figure import MARGIN, Figure
from .palette import MUTED, OUTLINE, PALE, SKY, VERMILLION, mix
from .scene import Box, Scene, Text, clean, shorten


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
