"""The figure object: text for tests and screen readers, SVG for trusted notebooks, PNG elsewhere.

Both pictures are rendered from the same shapes: the SVG is written by hand, the same to the byte
everywhere; matplotlib draws its PNG twin.
"""

import base64
import io
import warnings
from collections.abc import Callable, Collection, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..core.errors import MiniragError
from ..core.files import write_atomic
from . import scene as shapes
from .scene import FONTS, Colour, Item, Scene, channels, clean, mix, wrap

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from PIL.Image import Image

MARGIN = 16
CROWDED = 400  # shapes; a PNG with more is drawn at its own size, any other at 1.5 times that
# What a machine may have for scripts that DejaVu Sans, which comes with matplotlib, lacks.
CHINESE = ("Noto Sans CJK SC", "Noto Sans", "WenQuanYi Zen Hei")
WIDE_FONTS = (*CHINESE, "Arial Unicode MS", "Microsoft YaHei", "PingFang SC")


class Figure:
    """A drawn scene with its title, its caption and its text summary.

    In a notebook it shows the SVG where that is trusted and the PNG elsewhere; both are rendered
    from the same shapes. `print(figure)` and screen readers get `text`.
    """

    def __init__(self, scene: Scene, text: str, title: str = "", caption: str = "") -> None:
        self.title, self.caption = title, caption
        self.text = "\n".join(part for part in (title, text, caption) if part)
        self.scene = _framed(scene, title, caption)

    def __repr__(self) -> str:
        return self.text

    @cached_property
    def svg(self) -> str:
        return to_svg(self.scene, self.title or self.text.split("\n", 1)[0], self.text)

    @cached_property
    def png(self) -> bytes:
        return to_png(self.scene)

    def save(self, path: str | Path) -> Path:
        """Write the figure as `.svg`, `.png` or `.txt`, by the name's ending. Returns the path."""
        contents = {".svg": "svg", ".png": "png", ".txt": "text"}
        kind = Path(path).suffix.lower()
        if kind not in contents:
            raise MiniragError(
                f"Cannot save a figure as {Path(path).name!r}: "
                "a name ending in .svg, .png or .txt is expected."
            )
        return write_atomic(path, getattr(self, contents[kind]))

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
        makers: dict[str, Callable[[], str]] = {
            "text/plain": lambda: self.text,
            "image/svg+xml": lambda: self.svg,
            "image/png": lambda: base64.b64encode(self.png).decode("ascii"),
        }
        kinds = [k for k in makers if (not include or k in include) and k not in (exclude or ())]
        size = {"width": self.scene.width, "height": self.scene.height}
        metadata = {"image/png": size} if "image/png" in kinds else {}
        return {kind: makers[kind]() for kind in kinds}, metadata


def _framed(body: Scene, title: str, caption: str) -> Scene:
    """The scene with its title above and its caption below."""
    inner = body.width - 2 * MARGIN
    heads, tails = wrap(title, inner, 15, lines=2, bold=True), wrap(caption, inner, 12, lines=4)
    top = 20 * len(heads) + 14 if heads[0] else 4
    foot = 16 * len(tails) + 14 if tails[0] else 4
    scene = Scene(body.width, top + body.height + foot)
    scene.paste(body, 0, top)
    for i, line in enumerate(heads if heads[0] else ()):
        scene.text(MARGIN, 24 + 20 * i, line, 15, bold=True)
    for i, line in enumerate(tails if tails[0] else ()):
        scene.text(MARGIN, top + body.height + 14 + 16 * i, line, 12, colour=Colour.MUTED)
    return scene


def draw_panels(
    figures: Iterable[Figure], columns: int = 2, title: str = "", caption: str = ""
) -> Figure:
    """Figures pasted into a grid, each as wide as it was drawn; their texts follow one another.

    Draw each with `width=376` for two columns of a page.
    """
    figures, gap = list(figures), 8
    rows = [figures[start : start + columns] for start in range(0, len(figures), columns)]
    scene = Scene(max(sum(f.scene.width + gap for f in row) - gap for row in rows), -gap)
    for row in rows:
        x, y = 0, scene.height + gap
        for figure in row:
            scene.paste(figure.scene, x, y)
            x += figure.scene.width + gap
        scene.height = y + max(figure.scene.height for figure in row)
    return Figure(scene, "\n\n".join(figure.text for figure in figures), title, caption)


def _attributes(**values: object) -> str:
    """XML attributes in the order given; what is None stays out."""
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(str(value))}"
        for name, value in values.items()
        if value is not None
    )


def _element(item: Item) -> tuple[str, str, str]:
    """Tag, attributes and text content of one shape."""
    match item:
        case shapes.Line() | shapes.Shape():
            points = _attributes(points=" ".join(f"{x},{y}" for x, y in item.points))
            if isinstance(item, shapes.Shape):
                return "polygon", points + _attributes(fill=item.fill), ""
            dash = _attributes(stroke_dasharray="5 4" if item.dash else None)
            pen = _attributes(fill="none", stroke=item.colour, stroke_width=item.width)
            return "polyline", points + pen + dash, ""
        case shapes.Circle():
            place = _attributes(cx=item.x, cy=item.y, r=item.radius)
            pen = _attributes(fill=item.fill, stroke=item.stroke, stroke_width=item.width)
            return "circle", place + pen, ""
        case shapes.Box():
            place = _attributes(x=item.x, y=item.y, width=item.width, height=item.height)
            pen = _attributes(fill=item.fill, stroke=item.stroke, stroke_width=item.line)
            return "rect", place + _attributes(rx=item.round or None) + pen, ""
        case shapes.Text():
            anchor = None if item.anchor == "start" else item.anchor
            place = _attributes(x=item.x, y=item.y, font_size=item.size, text_anchor=anchor)
            weight, slant = "bold" if item.bold else None, "italic" if item.italic else None
            face = _attributes(font_weight=weight, font_style=slant, fill=item.colour)
            rim = _attributes(
                stroke=Colour.WHITE, stroke_width=3, stroke_linejoin="round", paint_order="stroke"
            )
            return "text", place + face + (rim if item.halo else ""), escape(clean(item.text))


def to_svg(scene: Scene, title: str, description: str) -> str:
    """The scene as an SVG document with alternative text. No ids, no style sheet, no script: safe
    to inline many times on a page.
    """
    name, about = clean(title), "\n".join(map(clean, description.splitlines()))
    width, height = scene.width, scene.height
    size = _attributes(width=width, height=height)
    fonts = ", ".join(f"'{font}'" if " " in font else font for font in FONTS)
    head = _attributes(viewBox=f"0 0 {width} {height}", role="img", aria_label=name)
    head += _attributes(font_family=fonts, style="max-width:100%;height:auto")
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg"{size}{head}>']
    lines += [f"<title>{escape(name)}</title>", f"<desc>{escape(about)}</desc>"]
    lines.append(f'<rect{size} fill="{Colour.WHITE}"/>')
    for item in scene.items:
        tag, attributes, content = _element(item)
        content += f"<title>{escape(clean(item.title))}</title>" if item.title else ""
        lines.append(f"<{tag}{attributes}" + (f">{content}</{tag}>" if content else "/>"))
    return "\n".join(lines + ["</svg>\n"])


def to_png(scene: Scene) -> bytes:
    """The scene as PNG bytes, at 1.5 times its size for sharp screens and print (a crowded scene
    at its size), in few colours: under 60 KB.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Chart
    from PIL import Image

    with rc_context({"path.simplify": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        dpi = 72 * (1.5 if len(scene.items) <= CROWDED else 1)
        size = (scene.width / 72, scene.height / 72)
        chart = Chart(figsize=size, dpi=dpi, facecolor=Colour.WHITE)
        canvas = FigureCanvasAgg(chart)
        axes = chart.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, scene.width), ylim=(scene.height, 0))
        axes.axis("off")
        for layer, item in enumerate(scene.items):
            axes.add_artist(_artist(item, layer))
        canvas.draw()
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    picture = picture.quantize(palette=_palette(scene), dither=Image.Dither.NONE)
    picture.save(buffer := io.BytesIO(), "PNG", optimize=True)
    return buffer.getvalue()


def _palette(scene: Scene) -> "Image":
    """The scene's own colours and their half tones on white: exact fills, and an eighth of the
    bytes of true colour. Tones too close to a colour are left out, since pixels would be matched
    to them instead.
    """
    from PIL import Image

    names = ("fill", "stroke", "colour")
    used = [getattr(item, name, "none") for item in scene.items for name in names]
    plain = [c for c in dict.fromkeys([Colour.WHITE, *used]) if c != "none"]
    tones = dict.fromkeys(mix(c, Colour.WHITE, share) for share in (0.35, 0.7) for c in plain)
    kept = plain + [tone for tone in tones if all(_far(tone, colour) for colour in plain)]
    image = Image.new("P", (1, 1))
    image.putpalette(bytes(channel for colour in kept[:256] for channel in channels(colour)))
    return image


def _far(first: str, second: str) -> bool:
    """Whether two colours differ enough not to be mistaken for each other."""
    return max(abs(a - b) for a, b in zip(channels(first), channels(second))) > 20


def _artist(item: Item, layer: int) -> "Artist":
    """The matplotlib artist of one shape. Line widths and font sizes are points, which at 72 dpi
    are our pixels.
    """
    from matplotlib import lines, patches, patheffects
    from matplotlib import text as texts

    pen: dict[str, Any]
    match item:
        case shapes.Line():
            x, y = zip(*item.points)
            dash = (0, (5 / item.width, 4 / item.width)) if item.dash else "-"
            pen = {"solid_capstyle": "butt", "dash_capstyle": "butt", "color": item.colour}
            return lines.Line2D(x, y, lw=item.width, ls=dash, **pen, zorder=layer)
        case shapes.Shape():
            return patches.Polygon(item.points, closed=True, fc=item.fill, ec="none", zorder=layer)
        case shapes.Circle():
            pen = {"fc": item.fill, "ec": item.stroke, "lw": item.width}
            return patches.Circle((item.x, item.y), item.radius, **pen, zorder=layer)
        case shapes.Box():
            rounding = f"round,pad=0,rounding_size={item.round}" if item.round else "square,pad=0"
            pen = {"fc": item.fill, "ec": item.stroke, "lw": item.line, "boxstyle": rounding}
            corner = (item.x, item.y)
            return patches.FancyBboxPatch(corner, item.width, item.height, **pen, zorder=layer)
    rim = [patheffects.withStroke(linewidth=3, foreground=Colour.WHITE)] if item.halo else []
    weight, slant = "bold" if item.bold else "normal", "italic" if item.italic else "normal"
    side = {"start": "left", "middle": "center", "end": "right"}[item.anchor]
    pen = {"weight": weight, "style": slant, "family": _families(), "fontsize": item.size}
    pen |= {"color": item.colour, "ha": side, "va": "baseline", "path_effects": rim}
    return texts.Text(item.x, item.y, clean(item.text), parse_math=False, **pen, zorder=layer)


@cache
def _families() -> list[str]:
    """DejaVu Sans, which comes with matplotlib, and whichever wide-coverage fonts this machine has
    for other scripts.
    """
    from matplotlib import font_manager

    known = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans"] + [name for name in WIDE_FONTS if name in known]
