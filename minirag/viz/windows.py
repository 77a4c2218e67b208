"""Context windows as bars: what was packed, what it weighs, how much room is left."""

from .figure import MARGIN, Figure
from .palette import MUTED, OUTLINE, PALE, SKY, VERMILLION, mix
from .scene import Box, Line, Scene, Text, clean, shorten


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
