"""Bars, rankings and links: what score tables, rankings, matrices and context windows look like."""

import numpy as np

from .figure import MARGIN, Figure
from .graphs import as_roles
from .scene import (
    BLUE,
    EDGE,
    GREEN,
    MUTED,
    OUTLINE,
    PALE,
    SKY,
    VERMILLION,
    Box,
    Circle,
    Line,
    Scene,
    Text,
    clean,
    mix,
    ramp,
    shorten,
    text_width,
)

ROW = 24


def draw_scores(
    rows,
    highlight=None,
    title="",
    caption="",
    score_name="score",
    decimals=3,
    max_rows=30,
    width=760,
    sort=False,
):
    """A score table as horizontal bars: `rows` are (label, score) pairs, a mapping, or a
    `Retrieval`'s passages.

    `highlight`: labels, or a mapping from a role such as "gold" to labels; they are drawn in green
    and named in the text. Rows are drawn in the order given unless `sort` (by score, ties by
    label). Negative scores point to the left.
    """
    rows = _score_rows(rows)
    if sort:
        rows = sorted(rows, key=lambda row: (-round(row[1], 9), row[0]))
    roles, total = as_roles(highlight), len(rows)
    rows = rows[:max_rows]
    labels = [shorten(label, width * 0.42, 13, bold=label in roles) for label, _ in rows]
    left = MARGIN + round(max((text_width(x, 13, bold=True) for x in labels), default=0)) + 12
    marks = [f"{score:.{decimals}f}" for _, score in rows]
    right = width - MARGIN - round(max((text_width(x, 13) for x in marks), default=0)) - 8
    low, high = min([0.0] + [s for _, s in rows]), max([0.0] + [s for _, s in rows])
    unit = (right - left) / ((high - low) or 1.0)
    zero = round(left - low * unit)
    scene = Scene(width, len(rows) * ROW + 34)
    scene.add(
        Text(left, 16, shorten(score_name, right - left, 12), 12, colour=MUTED),
        Line(((zero, 22), (zero, scene.height - 8)), EDGE),
    )
    for number, ((label, score), short, mark) in enumerate(zip(rows, labels, marks)):
        y, end = 26 + number * ROW, zero + round(score * unit)
        chosen = label in roles
        scene.add(
            Text(
                left - 10,
                y + 16,
                short,
                13,
                "end",
                bold=chosen,
                title=label if short != label else "",
            )
        )
        scene.add(
            Box(
                min(zero, end),
                y + 3,
                max(1, abs(end - zero)),
                ROW - 8,
                fill=GREEN if chosen else BLUE,
                title=f"{label}: {mark}",
            )
        )
        scene.add(Text(max(zero, end) + 6, y + 16, mark, 13))
    if roles:
        names = ", ".join(dict.fromkeys(clean(r) for r in roles.values()))
        scene.add(
            Box(right - 12 - round(text_width(names, 12)), 6, 12, 12, fill=GREEN),
            Text(right, 16, names, 12, "end"),
        )
    if total > len(rows):
        caption = f"{caption} Shown: the first {len(rows)} of {total} rows.".strip()
    text = [
        f"  {mark}  {clean(label)}" + (f" [{clean(roles[label])}]" if label in roles else "")
        for (label, _), mark in zip(rows, marks)
    ]
    return Figure(scene, "\n".join([f"{score_name} of {total} items"] + text), title, caption)


def _score_rows(rows):
    if hasattr(rows, "passages"):
        return [(p.chunk.label, float(p.score)) for p in rows.passages]
    return [
        (clean(label), float(score))
        for label, score in (rows.items() if hasattr(rows, "items") else rows)
    ]


def draw_ranking(
    a, b, names=("A", "B"), labels=None, gold=(), k=10, title="", caption="", width=760
):
    """Two rankings side by side, the same item joined by a line: who moved up, who fell out of the
    first `k`.

    `a`, `b`: ids best first, or two `Retrieval`s; `labels`: id -> text to show; `gold`: ids drawn
    in green and bold.
    """
    labels = {**_titles(a), **_titles(b), **(labels or {})}
    first, second = _ids(a)[:k], _ids(b)[:k]
    rows = max(len(first), len(second), 1)
    gold, scene = set(gold), Scene(width, rows * 28 + 40)
    left, right = round(width * 0.40), round(width * 0.60)
    for x, anchor, name in ((left, "end", names[0]), (right, "start", names[1])):
        scene.add(Text(x, 18, shorten(name, width * 0.38, 13, True), 13, anchor, bold=True))
    for i, item in enumerate(first):
        if item in second:
            strong = item in gold
            scene.add(
                Line(
                    ((left + 12, 42 + 28 * i), (right - 12, 42 + 28 * second.index(item))),
                    GREEN if strong else EDGE,
                    3 if strong else 1,
                    title=clean(labels.get(item, item)),
                )
            )
    for ids, others, x, sign in ((first, second, left, -1), (second, first, right, 1)):
        for i, item in enumerate(ids):
            y, mark, anchor = 42 + 28 * i, item in gold, "end" if sign < 0 else "start"
            row = shorten(labels.get(item, item), width * 0.36 - 30, 13, mark)
            number = f"{i + 1}"
            scene.add(
                Circle(
                    x - sign * 10,
                    y,
                    5,
                    fill=GREEN if mark else (SKY if item in others else "#FFFFFF"),
                    stroke=OUTLINE,
                )
            )
            scene.add(
                Text(x + sign * 4, y + 5, number, 12, anchor, colour=MUTED),
                Text(
                    x + sign * 26,
                    y + 5,
                    row,
                    13,
                    anchor,
                    bold=mark,
                    title=clean(labels.get(item, item)),
                ),
            )
    return Figure(
        scene,
        _ranking_text(first, second, names, labels, gold),
        title,
        caption or _ranking_caption(first, second, gold),
    )


def _ids(ranking):
    return [str(i) for i in getattr(ranking, "ids", ranking)]


def _titles(ranking):
    return {p.id: p.chunk.label for p in getattr(ranking, "passages", ())}


def _ranking_caption(first, second, gold):
    shared = len(set(first) & set(second))
    return (
        f"{shared} items are in both lists; a hollow dot marks one that the other list lacks."
        + (" Green: gold." if gold else "")
    )


def _ranking_text(first, second, names, labels, gold):
    rows = [f"Ranking of {names[0]} against {names[1]}"]
    for item in dict.fromkeys(second + first):
        places = " / ".join(
            str(ids.index(item) + 1) if item in ids else "-" for ids in (first, second)
        )
        rows.append(
            f"  {places}  {clean(labels.get(item, item))}" + (" [gold]" if item in gold else "")
        )
    return "\n".join(rows)


def draw_bipartite(
    nodes,
    passages,
    matrix,
    node_scores=None,
    passage_scores=None,
    highlight=None,
    title="",
    caption="",
    names=("nodes", "passages"),
    max_rows=24,
    width=760,
):
    """The node-to-passage matrix as links: left the nodes, right the passages, a line where a node
    occurs in a passage.

    `matrix`: (nodes, passages), dense or sparse; the line's width follows the number. Scores fill
    the dots and are written beside them.
    """
    matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)
    nodes, passages, roles = (
        [clean(n) for n in nodes],
        [clean(p) for p in passages],
        as_roles(highlight),
    )
    rows = min(max_rows, max(len(nodes), len(passages), 1))
    scene = Scene(width, rows * 28 + 46)
    left, right = [
        [(x, round(36 + rows * 28 / count * (i + 0.5))) for i in range(count)]
        for x, count in _columns(nodes, passages, max_rows, width)
    ]
    top = matrix.max(initial=0.0) or 1.0
    for i, j in zip(*np.nonzero(matrix[:max_rows, :max_rows])):
        thick = max(1, round(3 * matrix[i, j] / top)) if top > 1 else 1
        scene.add(
            Line(
                (left[i], right[j]),
                EDGE,
                thick,
                title=f"{nodes[i]} – {passages[j]}: {matrix[i, j]:g}",
            )
        )
    for spots, items, scores, sign, name in (
        (left, nodes, node_scores, -1, names[0]),
        (right, passages, passage_scores, 1, names[1]),
    ):
        if spots:
            scene.add(Text(spots[0][0], 18, name, 13, "end" if sign < 0 else "start", bold=True))
        _draw_column(scene, spots, items, scores, sign, roles)
    left_out = max(0, len(nodes) - max_rows) + max(0, len(passages) - max_rows)
    if left_out:
        caption = f"{caption} {left_out} rows beyond the first {max_rows} are left out.".strip()
    return Figure(
        scene,
        _bipartite_text(nodes, passages, matrix, node_scores, passage_scores, names),
        title,
        caption,
    )


def _columns(nodes, passages, max_rows, width):
    return (round(width * 0.38), min(len(nodes), max_rows)), (
        round(width * 0.62),
        min(len(passages), max_rows),
    )


def _draw_column(scene, spots, items, scores, sign, roles):
    """Dots and labels of one side; `sign` is -1 for the left one, whose labels end at the dots."""
    peak = max(map(float, scores), default=0.0) or 1.0 if scores is not None else 1.0
    for i, ((x, y), item) in enumerate(zip(spots, items)):
        share = max(0.0, float(scores[i])) / peak if scores is not None else 0.3
        value = f"{float(scores[i]):.3f}" if scores is not None else ""
        row = shorten(item, scene.width * 0.36 - text_width(value, 13) - 22, 13, item in roles)
        words = (f"{row}  {value}" if sign > 0 else f"{value}  {row}") if value else row
        ring = {"stroke": VERMILLION, "width": 3} if item in roles else {"stroke": OUTLINE}
        scene.add(Circle(x, y, 4 + round(5 * share**0.5), fill=ramp(share**0.5), **ring))
        scene.add(
            Text(
                x + sign * 16,
                y + 5,
                words,
                13,
                "start" if sign > 0 else "end",
                bold=item in roles,
                title=item,
            )
        )


def _bipartite_text(nodes, passages, matrix, node_scores, passage_scores, names):
    rows = [
        f"{len(nodes)} {names[0]}, {len(passages)} {names[1]}, {int((matrix != 0).sum())} links"
    ]
    for i, node in enumerate(nodes):
        score = f" ({float(node_scores[i]):.3f})" if node_scores is not None else ""
        links = ", ".join(
            passages[j] + (f" x{matrix[i, j]:g}" if matrix[i, j] != 1 else "")
            for j in np.nonzero(matrix[i])[0]
        )
        rows.append(f"  {node}{score}: {links or 'nothing'}")
    rows += (
        [f"  {passage}: {float(passage_scores[j]):.3f}" for j, passage in enumerate(passages)]
        if passage_scores is not None
        else []
    )
    return "\n".join(rows)


def draw_windows(
    windows, limit, header=0, names=None, left_out=(), title="", caption="", width=760, row=40
):
    """Windows below each other, a box an item, as wide as its tokens; a red line is the limit.

    `windows`: lists of (label, tokens). `header`: tokens that every window spends before its first
    item, or one number a window.
    `names`: the windows' names. `left_out`: labels of items that did not fit; they are drawn in
    another colour behind the limit.
    """
    headers = list(header) if isinstance(header, (list, tuple)) else [header] * len(windows)
    names = list(names or (f"window {i}" for i in range(1, len(windows) + 1)))
    longest = max([limit, *(h + sum(t for _, t in items) for h, items in zip(headers, windows))])
    left, scene = MARGIN + 84, Scene(width, len(windows) * row + 26)
    unit = (width - MARGIN - left - 8) / max(1, longest)
    place = lambda tokens: round(left + tokens * unit)
    rows = []
    for number, (items, first) in enumerate(zip(windows, headers)):
        y, used = 4 + number * row, first
        scene.add(Text(MARGIN, y + row // 2, shorten(names[number], 80, 12), 12, colour=MUTED))
        if first:
            scene.add(
                Box(
                    left,
                    y,
                    place(first) - left,
                    row - 8,
                    fill=PALE,
                    stroke=OUTLINE,
                    title=f"instructions and question, {first} tokens",
                )
            )
        kept = []
        for label, tokens in items:
            out = label in left_out
            x, end = place(used), place(used + tokens)
            fill = mix(PALE, VERMILLION, 0.25) if out else mix(PALE, SKY, 0.55)
            scene.add(
                Box(
                    x,
                    y,
                    max(1, end - x),
                    row - 8,
                    fill=fill,
                    stroke=OUTLINE,
                    title=f"{clean(label)}, {tokens} tokens",
                )
            )
            if end - x > 24:
                scene.add(
                    Text(
                        (x + end) // 2, y + row // 2, shorten(label, end - x - 4, 11), 11, "middle"
                    )
                )
            kept.append(f"{clean(label)} {tokens}" + " (left out)" * out)
            used += 0 if out else tokens
        rows.append(f"  {names[number]}: {used} of {limit} tokens: {', '.join(kept) or 'nothing'}")
    bottom = 4 + len(windows) * row
    scene.add(Line(((place(limit), 0), (place(limit), bottom)), VERMILLION, 2))
    scene.add(Text(place(limit), bottom + 14, f"limit {limit}", 12, "end", colour=VERMILLION))
    return Figure(
        scene,
        "\n".join([f"{len(windows)} windows of at most {limit} tokens", *rows]),
        title,
        caption,
    )
