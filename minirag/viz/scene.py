"""A picture as a list of shapes with whole-number coordinates, and the colours that they may have.

The origin is the top left corner, x grows to the right, y grows downwards, the unit is the CSS
pixel. The palette is safe for colour-blind readers and prints well on white: its eight hues are
Okabe and Ito's; text uses only the two inks, which reach a contrast of 7:1 on white.
"""

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Concatenate, Literal, ParamSpec

Point = tuple[int, int]
Anchor = Literal["start", "middle", "end"]
P = ParamSpec("P")


class Colour:
    """The palette: eight hues for data, inks for text, greys and tints for everything else."""

    BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
    PURPLE, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
    WHITE, INK, MUTED = "#FFFFFF", "#1A1A1A", "#555555"
    EDGE, FAINT, PALE, OUTLINE = "#808080", "#D9D9D9", "#E8F1F8", "#404040"


SERIES = (
    *(Colour.BLUE, Colour.VERMILLION, Colour.GREEN, Colour.ORANGE),
    *(Colour.PURPLE, Colour.SKY, Colour.YELLOW, Colour.BLACK),
)
FONTS = ("DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif")
NARROW, SLIM, WIDE = set("ijlI|.,:;'!` "), set('ftr()[]{}/\\-"*^'), set("mwMW@%—…→←↔")


def channels(colour: str) -> list[int]:
    """Red, green and blue of `#RRGGBB`, each from 0 to 255."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def mix(first: str, second: str, share: float) -> str:
    """The colour `share` (0 to 1) of the way from one `#RRGGBB` to another."""
    share = min(1.0, max(0.0, share))
    pairs = zip(channels(first), channels(second))
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


def ramp(share: float) -> str:
    """A one-hue scale of 17 steps from pale (0) to deep blue (1), readable in grey as well."""
    return mix(Colour.PALE, Colour.BLUE, round(16 * min(1.0, max(0.0, share))) / 16)


def faded(colour: str, opacity: float) -> str:
    """The colour as it looks on white with this much ink, in twentieths; mixed rather than
    transparent, so that SVG and PNG agree.
    """
    return mix(Colour.WHITE, colour, round(20 * opacity) / 20)


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours after WCAG 2, from 1 (same) to 21 (black on white)."""

    def luminance(colour: str) -> float:
        parts = [c / 255 for c in channels(colour)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(fill: str) -> str:
    """Black or white text, whichever reads better on this fill."""
    inks = (Colour.INK, Colour.WHITE)
    return max(inks, key=lambda ink: contrast(ink, fill))


@contextmanager
def style(width: float = 6.4, height: float = 3.6) -> Iterator[None]:
    """A `with` block in which matplotlib charts look like the kit's own figures. `width` and
    `height` are inches.

    The cycle pairs each colour with its own line style and marker, so that series stay apart in
    print.
    """
    import matplotlib
    from cycler import cycler

    dashes, markers = ["-", "--", "-.", ":"] * 2, list("osD^vPX*")
    series = cycler(color=SERIES) + cycler(linestyle=dashes) + cycler(marker=markers)
    with matplotlib.rc_context():
        matplotlib.rc("svg", hashsalt="minirag", fonttype="none")
        matplotlib.rc("font", family=["DejaVu Sans"], size=10)
        matplotlib.rc("text", color=Colour.INK)
        matplotlib.rc("axes", titlesize=11, titleweight="bold", titlelocation="left")
        matplotlib.rc("axes", edgecolor=Colour.MUTED, labelcolor=Colour.INK, prop_cycle=series)
        matplotlib.rc("axes", grid=True, axisbelow=True)
        matplotlib.rc("axes.spines", top=False, right=False)
        matplotlib.rc("grid", color=Colour.FAINT, linewidth=0.6)
        matplotlib.rc("lines", linewidth=1.8, markersize=4.5)
        matplotlib.rc("legend", frameon=False)
        matplotlib.rc("figure", figsize=(width, height), dpi=100)
        matplotlib.rc("figure.constrained_layout", use=True)
        matplotlib.rc("savefig", facecolor=Colour.WHITE)
        matplotlib.rc("xtick", color=Colour.MUTED)
        matplotlib.rc("ytick", color=Colour.MUTED)
        yield


@dataclass(frozen=True)
class Line:
    """A polyline; `dash` says "only the encoder thinks so" throughout the kit."""

    points: tuple[Point, ...]
    colour: str = Colour.INK
    width: int = 1
    dash: bool = False
    title: str = ""


@dataclass(frozen=True)
class Shape:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str = Colour.INK
    title: str = ""


@dataclass(frozen=True)
class Circle:
    """A disc, or a ring, around x, y."""

    x: int
    y: int
    radius: int
    fill: str = "none"
    stroke: str = "none"
    width: int = 1
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
    """One line of text; y is the baseline, `halo` a white rim for text on lines."""

    x: int
    y: int
    text: str
    size: int = 12
    anchor: Anchor = "start"
    colour: str = Colour.INK
    bold: bool = False
    italic: bool = False
    halo: bool = False
    title: str = ""

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom, by the width estimate of `text_width`."""
        width = text_width(self.text, self.size, self.bold)
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.8 * self.size, left + width, self.y + 0.25 * self.size


Item = Line | Shape | Circle | Box | Text


def _adds(shape: Callable[P, Item]) -> Callable[Concatenate["Scene", P], None]:
    """A method of `Scene` that draws such a shape; its parameters are the shape's fields."""

    def add(scene: "Scene", *args: P.args, **named: P.kwargs) -> None:
        scene.items.append(shape(*args, **named))

    return add


@dataclass
class Scene:
    """A canvas: its size and its shapes, in drawing order."""

    width: int
    height: int
    items: list[Item] = field(default_factory=list)

    line, polygon, circle = _adds(Line), _adds(Shape), _adds(Circle)
    box, text = _adds(Box), _adds(Text)

    def arrow(
        self,
        start: Point,
        end: Point,
        colour: str = Colour.INK,
        width: int = 1,
        title: str = "",
        size: int = 8,
    ) -> None:
        """A straight arrow: a line and a filled head, without a marker that needs an id."""
        (x1, y1), (x2, y2) = start, end
        length = max(1.0, ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        back_x, back_y = x2 - size * dx, y2 - size * dy
        half = size * 0.45
        left = (round(back_x - half * dy), round(back_y + half * dx))
        right = (round(back_x + half * dy), round(back_y - half * dx))
        neck = (round(x2 - 0.7 * size * dx), round(y2 - 0.7 * size * dy))
        self.line((start, neck), colour, width, title=title)
        self.polygon((end, left, right), colour, title)

    def paste(self, other: "Scene", x: int, y: int) -> None:
        """Draw another scene's shapes, moved to the right by `x` and down by `y`."""
        for item in other.items:
            if isinstance(item, (Line, Shape)):
                moved = tuple((px + x, py + y) for px, py in item.points)
                self.items.append(replace(item, points=moved))
            else:
                self.items.append(replace(item, x=item.x + x, y=item.y + y))


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Estimate a line's width in pixels, for DejaVu Sans or Verdana; other fonts are narrower."""
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


def shorten(text: object, width: float, size: float, bold: bool = False) -> str:
    """Cut a line so that it fits `width` pixels, with an ellipsis where something is missing."""
    line = clean(text)
    if text_width(line, size, bold) <= width:
        return line
    while line and text_width(line + "…", size, bold) > width:
        line = line[:-1]
    return line.rstrip() + "…"


def wrap(text: object, width: float, size: float, lines: int = 2, bold: bool = False) -> list[str]:
    """Break a text into at most `lines` lines of `width` pixels; the last is cut if it must be."""
    words = clean(text).split(" ")
    rows: list[str] = []
    while words and len(rows) < lines - 1:
        row = words.pop(0)
        while words and text_width(f"{row} {words[0]}", size, bold) <= width:
            row += " " + words.pop(0)
        rows.append(shorten(row, width, size, bold))
    return rows + ([shorten(" ".join(words), width, size, bold)] if words else [])


def clean(text: object) -> str:
    """One line without control characters, so that any corpus text may be drawn (and stays
    well-formed XML).
    """

    def drawable(char: str) -> bool:
        return unicodedata.category(char) not in ("Cc", "Cs") and char not in "\ufffe\uffff"

    kept = (" " if c.isspace() else c for c in str(text) if c.isspace() or drawable(c))
    return " ".join("".join(kept).split())
