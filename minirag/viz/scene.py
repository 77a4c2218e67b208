"""A picture as a list of shapes with whole-number coordinates, and the colours that they may have.

The origin is the top left corner, x grows to the right, y grows downwards, the unit is the CSS
pixel. The palette is safe for colour-blind readers and prints well on white: its eight hues are
Okabe and Ito's; text uses only the two inks, which reach a contrast of 7:1 on white.
"""

import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass, field

BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
SERIES = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, YELLOW, BLACK)

WHITE, INK, MUTED = "#FFFFFF", "#1A1A1A", "#555555"
EDGE, FAINT, PANEL, PALE = "#808080", "#D9D9D9", "#F5F5F5", "#E8F1F8"
OUTLINE = "#404040"

FONTS = ("DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif")


def _channels(colour):
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def mix(first, second, share):
    """The colour `share` (0 to 1) of the way from one `#RRGGBB` to another."""
    share = min(1.0, max(0.0, share))
    return "#" + "".join(
        f"{round(a + (b - a) * share):02X}" for a, b in zip(_channels(first), _channels(second))
    )


def ramp(share):
    """A one-hue scale of 17 steps from pale (0) to deep blue (1), readable in grey as well."""
    return mix(PALE, BLUE, round(16 * min(1.0, max(0.0, share))) / 16)


def contrast(first, second):
    """The contrast ratio of two colours after WCAG 2, from 1 (same) to 21 (black on white)."""

    def luminance(colour):
        parts = [c / 255 for c in _channels(colour)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(fill):
    """Black or white text, whichever reads better on this fill."""
    return INK if contrast(INK, fill) >= contrast(WHITE, fill) else WHITE


@contextmanager
def style(width=6.4, height=3.6):
    """A `with` block in which matplotlib charts look like the kit's own figures. `width` and
    `height` are inches.

    The cycle pairs each colour with its own line style and marker, so that series stay apart in
    print.
    """
    import matplotlib
    from cycler import cycler

    lines = ["-", "--", "-.", ":", "-", "--", "-.", ":"]
    settings = {
        "svg.hashsalt": "minirag",
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=SERIES)
        + cycler(linestyle=lines)
        + cycler(marker=list("osD^vPX*")),
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.8,
        "lines.markersize": 4.5,
        "legend.frameon": False,
        "figure.figsize": (width, height),
        "figure.dpi": 100,
        "figure.constrained_layout.use": True,
        "savefig.facecolor": WHITE,
        "text.color": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
    }
    with matplotlib.rc_context(settings):
        yield


NARROW, SLIM, WIDE = set("ijlI|.,:;'!` "), set('ftr()[]{}/\\-"*^'), set("mwMW@%—…→←↔")


@dataclass(frozen=True)
class Line:
    """A polyline; `dash` says "only the encoder thinks so" throughout the kit."""

    points: tuple
    colour: str = INK
    width: int = 1
    dash: bool = False
    opacity: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Shape:
    """A filled polygon."""

    points: tuple
    fill: str = INK
    opacity: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Circle:
    x: int
    y: int
    radius: int
    fill: str = "none"
    stroke: str = "none"
    width: int = 1
    opacity: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Box:
    """A rectangle with its top left corner at x, y."""

    x: int
    y: int
    width: int
    height: int
    fill: str = "none"
    stroke: str = "none"
    line: int = 1
    round: int = 0
    title: str = ""


@dataclass(frozen=True)
class Text:
    """One line of text; y is the baseline, `anchor` is start, middle or end, `halo` a white rim for
    text on lines.
    """

    x: int
    y: int
    text: str
    size: int = 12
    anchor: str = "start"
    colour: str = INK
    bold: bool = False
    italic: bool = False
    halo: bool = False
    title: str = ""

    @property
    def bounds(self):
        """Left, top, right, bottom, by the width estimate of `text_width`."""
        width = text_width(self.text, self.size, self.bold)
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.8 * self.size, left + width, self.y + 0.25 * self.size


@dataclass
class Scene:
    """A canvas: its size and its shapes, in drawing order."""

    width: int
    height: int
    items: list = field(default_factory=list)
    background: str = WHITE

    def add(self, *items):
        self.items.extend(items)

    def paste(self, other, x, y):
        """Draw another scene's shapes, moved to the right by `x` and down by `y`."""
        from dataclasses import replace

        for item in other.items:
            if hasattr(item, "points"):
                self.add(replace(item, points=tuple((px + x, py + y) for px, py in item.points)))
            else:
                self.add(replace(item, x=item.x + x, y=item.y + y))


def text_width(text, size, bold=False):
    """Estimate the width of a line in pixels, for DejaVu Sans or Verdana; other fonts are narrower."""
    total = 0.0
    for char in text:
        if unicodedata.combining(char):
            continue
        if unicodedata.east_asian_width(char) in "WF":
            total += 1.0
        elif char in NARROW:
            total += 0.31
        elif char in SLIM:
            total += 0.41
        elif char in WIDE:
            total += 0.97
        else:
            total += 0.71 if char.isupper() else 0.625
    return total * size * (1.1 if bold else 1.0)


def shorten(text, width, size, bold=False):
    """Cut a line so that it fits `width` pixels, with an ellipsis where something is missing."""
    text = clean(text)
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrap(text, width, size, lines=2, bold=False):
    """Break a text into at most `lines` lines of `width` pixels; the last one is cut if it must be."""
    words, rows = clean(text).split(" "), []
    while words and len(rows) < lines - 1:
        row = words.pop(0)
        while words and text_width(f"{row} {words[0]}", size, bold) <= width:
            row += " " + words.pop(0)
        rows.append(shorten(row, width, size, bold))
    return rows + ([shorten(" ".join(words), width, size, bold)] if words else [])


def clean(text):
    """One line without control characters, so that any corpus text may be drawn (and stays
    well-formed XML).
    """
    kept = (
        " " if c.isspace() else c
        for c in str(text)
        if c.isspace() or (unicodedata.category(c) not in ("Cc", "Cs") and c not in "\ufffe\uffff")
    )
    return " ".join("".join(kept).split())


def arrow(start, end, colour=INK, width=1, title="", size=8):
    """A straight arrow from point to point: a line and a filled head, without a marker that needs
    an id.
    """
    (x1, y1), (x2, y2) = start, end
    length = max(1.0, ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    back_x, back_y = x2 - size * dx, y2 - size * dy
    half = size * 0.45
    left = (round(back_x - half * dy), round(back_y + half * dx))
    right = (round(back_x + half * dy), round(back_y - half * dx))
    neck = (round(x2 - 0.7 * size * dx), round(y2 - 0.7 * size * dy))
    return Line((start, neck), colour, width, title=title), Shape(
        (end, left, right), colour, title=title
    )
