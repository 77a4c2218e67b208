"""Bars and rankings: what score tables, rankings and context windows look like."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..core.results import Retrieval
from .figure import MARGIN, Figure
from .scene import Anchor, Colour, Scene, clean, mix, shorten, text_width

Highlight: TypeAlias = str | Iterable[Hashable] | Mapping[str, str | Iterable[Hashable]]
Rows: TypeAlias = Iterable[tuple[object, float]]
BAR, LINK, WINDOW = 24, 28, 40  # height of a row, in pixels


def as_roles(highlight: Highlight | None) -> dict[Any, str]:
    """Node -> role, in the order given: from a list of nodes (role "highlighted") or a mapping from
    role to nodes.
    """
    by_role = highlight if isinstance(highlight, Mapping) else {"highlighted": highlight or ()}
    roles: dict[Any, str] = {}
    for role, nodes in by_role.items():
        for node in [nodes] if isinstance(nodes, str) else nodes:
            roles.setdefault(node, role)
    return roles


def draw_scores(
    rows: Retrieval | Mapping[object, float] | Rows, highlight: Highlight | None = None,
    title: str = "", caption: str = "", score_name: str = "score", decimals: int = 3,
    width: int = 760, sort: bool = False,
) -> Figure:  # fmt: skip
    """A score table as horizontal bars: `rows` are (label, score) pairs, a mapping, or a
    `Retrieval`'s passages. The first 30 are drawn.

    `highlight`: labels, or a mapping from a role such as "gold" to labels; they are drawn in green
    and named in the text. Rows are drawn in the order given unless `sort` (by score, ties by
    label). Negative scores point to the left.
    """
    if isinstance(rows, Retrieval):
        rows = [(passage.chunk.label, passage.score) for passage in rows.passages]
    pairs = rows.items() if isinstance(rows, Mapping) else rows
    table = [(clean(label), float(score)) for label, score in pairs]
    if sort:
        table = sorted(table, key=lambda row: (-round(row[1], 9), row[0]))
    roles, total, table = as_roles(highlight), len(table), table[:30]
    labels = [shorten(label, width * 0.6, 13, bold=label in roles) for label, _ in table]
    marks = [f"{score:.{decimals}f}" for _, score in table]
    left = MARGIN + round(max((text_width(x, 13, bold=True) for x in labels), default=0)) + 12
    right = width - MARGIN - round(max((text_width(x, 13) for x in marks), default=0)) - 8
    scores = [0.0, *(score for _, score in table)]
    unit = (right - left) / ((max(scores) - min(scores)) or 1.0)
    zero = round(left - min(scores) * unit)
    scene = Scene(width, len(table) * BAR + 34)
    scene.text(left, 16, shorten(score_name, right - left, 12), 12, colour=Colour.MUTED)
    scene.line(((zero, 22), (zero, scene.height - 8)), Colour.EDGE)
    text = [f"{score_name} of {total} items"]
    for number, ((label, score), short, mark) in enumerate(zip(table, labels, marks)):
        y, end, bold = 26 + number * BAR, zero + round(score * unit), label in roles
        hint, fill = label if short != label else "", Colour.GREEN if bold else Colour.BLUE
        scene.text(left - 10, y + 16, short, 13, "end", bold=bold, title=hint)
        long = max(1, abs(end - zero))
        scene.box(min(zero, end), y + 3, long, BAR - 8, fill, title=f"{label}: {mark}")
        scene.text(max(zero, end) + 6, y + 16, mark, 13)
        text.append(f"  {mark}  {label}" + (f" [{clean(roles[label])}]" if bold else ""))
    if roles:
        names = ", ".join(dict.fromkeys(clean(role) for role in roles.values()))
        scene.box(right - 12 - round(text_width(names, 12)), 6, 12, 12, Colour.GREEN)
        scene.text(right, 16, names, 12, "end")
    if total > len(table):
        caption = f"{caption} Shown: the first {len(table)} of {total} rows.".strip()
    return Figure(scene, "\n".join(text), title, caption)


def draw_ranking(
    a: Retrieval | Iterable[str], b: Retrieval | Iterable[str], names: Sequence[str] = ("A", "B"),
    gold: Iterable[str] = (), k: int = 10, title: str = "", caption: str = "", width: int = 760,
) -> Figure:  # fmt: skip
    """Two rankings side by side, the same item joined by a line: who moved up, who fell out of the
    first `k`.

    `a`, `b`: ids best first, or two `Retrieval`s; `gold`: ids drawn in green and bold.
    """
    labels = {p.id: p.chunk.label for r in (a, b) if isinstance(r, Retrieval) for p in r.passages}
    lists = (each.ids if isinstance(each, Retrieval) else each for each in (a, b))
    first, second = ([str(item) for item in each][:k] for each in lists)
    gold, scene = set(gold), Scene(width, max(len(first), len(second), 1) * LINK + 40)
    left, right = round(width * 0.40), round(width * 0.60)
    scene.text(left, 18, shorten(names[0], width * 0.38, 13, True), 13, "end", bold=True)
    scene.text(right, 18, shorten(names[1], width * 0.38, 13, True), 13, "start", bold=True)
    for i, item in enumerate(first):
        if item in second:
            ends = (left + 12, 42 + LINK * i), (right - 12, 42 + LINK * second.index(item))
            colour, thick = (Colour.GREEN, 3) if item in gold else (Colour.EDGE, 1)
            scene.line(ends, colour, thick, title=clean(labels.get(item, item)))
    for ids, others, x, sign in ((first, second, left, -1), (second, first, right, 1)):
        anchor: Anchor = "end" if sign < 0 else "start"
        for i, item in enumerate(ids):
            y, bold, label = 42 + LINK * i, item in gold, clean(labels.get(item, item))
            colour, ring = (Colour.GREEN, Colour.GREEN) if bold else (Colour.SKY, Colour.OUTLINE)
            scene.circle(x - sign * 10, y, 5, colour if item in others else Colour.WHITE, ring)
            scene.text(x + sign * 4, y + 5, f"{i + 1}", 12, anchor, Colour.MUTED)
            row = shorten(label, width * 0.36 - 30, 13, bold)
            scene.text(x + sign * 26, y + 5, row, 13, anchor, bold=bold, title=label)
    text = [f"Ranking of {names[0]} against {names[1]}"]
    for item in dict.fromkeys(second + first):
        places = (str(ids.index(item) + 1) if item in ids else "-" for ids in (first, second))
        mark = " [gold]" if item in gold else ""
        text.append(f"  {' / '.join(places)}  {clean(labels.get(item, item))}{mark}")
    if not caption:
        both = len(set(first) & set(second))
        caption = f"{both} items are in both lists; "
        caption += "a hollow dot marks one that the other list lacks."
        caption += " Green: gold." if gold else ""
    return Figure(scene, "\n".join(text), title, caption)


def draw_windows(
    windows: Sequence[Sequence[tuple[str, int]]], limit: int, header: int | Sequence[int] = 0,
    names: Sequence[str] | None = None, left_out: Collection[str] = (), title: str = "",
    caption: str = "",
) -> Figure:  # fmt: skip
    """Windows below each other, a box an item, as wide as its tokens; a red line is the limit.

    `windows`: lists of (label, tokens). `header`: tokens that every window spends before its first
    item, or one number a window.
    `names`: the windows' names. `left_out`: labels of items that did not fit; they are drawn in
    another colour behind the limit.
    """
    headers = [header] * len(windows) if isinstance(header, int) else header
    names = names or [f"window {i}" for i in range(1, len(windows) + 1)]
    used = [first + sum(tokens for _, tokens in held) for first, held in zip(headers, windows)]
    left, scene = MARGIN + 84, Scene(760, len(windows) * WINDOW + 26)
    unit = (scene.width - MARGIN - left - 8) / max(1, limit, *used)

    def place(tokens: int) -> int:
        return round(left + tokens * unit)

    text = [f"{len(windows)} windows of at most {limit} tokens"]
    for number, (name, items, first) in enumerate(zip(names, windows, headers)):
        y, total, held = 4 + number * WINDOW, first, []
        middle, tall = y + WINDOW // 2, WINDOW - 8
        scene.text(MARGIN, middle, shorten(name, 80, 12), 12, colour=Colour.MUTED)
        if first:
            hint, wide = f"instructions and question, {first} tokens", place(first) - left
            scene.box(left, y, wide, tall, Colour.PALE, Colour.OUTLINE, title=hint)
        for label, tokens in items:
            out = label in left_out
            x, end = place(total), place(total + tokens)
            fill = mix(Colour.PALE, *((Colour.VERMILLION, 0.25) if out else (Colour.SKY, 0.55)))
            hint = f"{clean(label)}, {tokens} tokens"
            scene.box(x, y, max(1, end - x), tall, fill, Colour.OUTLINE, title=hint)
            if end - x > 24:
                short = shorten(label, end - x - 4, 11)
                scene.text((x + end) // 2, middle, short, 11, "middle")
            held.append(f"{clean(label)} {tokens}{' (left out)' if out else ''}")
            total += 0 if out else tokens
        text.append(f"  {name}: {total} of {limit} tokens: {', '.join(held) or 'nothing'}")
    bottom, line = 4 + len(windows) * WINDOW, place(limit)
    scene.line(((line, 0), (line, bottom)), Colour.VERMILLION, 2)
    scene.text(line, bottom + 14, f"limit {limit}", 12, "end", Colour.VERMILLION)
    return Figure(scene, "\n".join(text), title, caption)
