"""The figure object: text for tests and screen readers, SVG for trusted notebooks, PNG elsewhere.

Both pictures are rendered from the same shapes: the SVG is written by hand, the same to the byte
everywhere; matplotlib draws its PNG twin.
"""

import base64
import io
import warnings
from functools import cache, cached_property
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ..core.errors import MiniragError
from ..core.files import write_atomic
from .scene import FONTS, INK, MUTED, WHITE, Box, Circle, Line, Scene, Shape, Text, clean, mix, wrap

CROWDED = 400


def _points(points):
    return " ".join(f"{x},{y}" for x, y in points)


def _attributes(**values):
    """XML attributes in the order given; what is None stays out."""
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(str(value))}"
        for name, value in values.items()
        if value is not None
    )


def _element(item):
    """Tag, attributes and text content of one shape."""
    faded = {"opacity": f"{item.opacity:.2f}" if getattr(item, "opacity", 1.0) < 1 else None}
    match item:
        case Line():
            pen = {
                "fill": "none",
                "stroke": item.colour,
                "stroke_width": item.width,
                "stroke_dasharray": "5 4" if item.dash else None,
            }
            return "polyline", {"points": _points(item.points), **pen, **faded}, ""
        case Shape():
            return "polygon", {"points": _points(item.points), "fill": item.fill, **faded}, ""
        case Circle():
            return (
                "circle",
                {
                    "cx": item.x,
                    "cy": item.y,
                    "r": item.radius,
                    "fill": item.fill,
                    "stroke": item.stroke,
                    "stroke_width": item.width,
                    **faded,
                },
                "",
            )
        case Box():
            place = {
                "x": item.x,
                "y": item.y,
                "width": item.width,
                "height": item.height,
                "rx": item.round or None,
            }
            return (
                "rect",
                {**place, "fill": item.fill, "stroke": item.stroke, "stroke_width": item.line},
                "",
            )
        case Text():
            halo = (
                {
                    "stroke": WHITE,
                    "stroke_width": 3,
                    "stroke_linejoin": "round",
                    "paint_order": "stroke",
                }
                if item.halo
                else {}
            )
            face = {
                "font_weight": "bold" if item.bold else None,
                "font_style": "italic" if item.italic else None,
            }
            anchor = None if item.anchor == "start" else item.anchor
            return (
                "text",
                {
                    "x": item.x,
                    "y": item.y,
                    "font_size": item.size,
                    "text_anchor": anchor,
                    **face,
                    "fill": item.colour,
                    **halo,
                },
                escape(clean(item.text)),
            )
    raise TypeError(f"cannot draw {item!r}")


def to_svg(scene, title, description):
    """The scene as an SVG document with alternative text. No ids, no style sheet, no script: safe
    to inline many times on a page.
    """
    name, about = clean(title), "\n".join(map(clean, description.splitlines()))
    fonts = ", ".join(f"'{f}'" if " " in f else f for f in FONTS)
    head = _attributes(
        xmlns="http://www.w3.org/2000/svg", width=scene.width, height=scene.height, viewBox=f"0 0 {scene.width} {scene.height}",
        role="img", aria_label=name, font_family=fonts, style="max-width:100%;height:auto",
    )  # fmt: skip
    lines = [f"<svg{head}>", f"<title>{escape(name)}</title>", f"<desc>{escape(about)}</desc>"]
    lines.append(f'<rect width="{scene.width}" height="{scene.height}" fill="{scene.background}"/>')
    for item in scene.items:
        tag, attributes, content = _element(item)
        content += f"<title>{escape(clean(item.title))}</title>" if item.title else ""
        lines.append(
            f"<{tag}{_attributes(**attributes)}" + (f">{content}</{tag}>" if content else "/>")
        )
    return "\n".join(lines + ["</svg>\n"])


def to_png(scene):
    """The scene as PNG bytes, at 1.5 times its size for sharp screens and print (a crowded one at
    its size), in few colours: under 60 KB.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    with rc_context({"path.simplify": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(
            figsize=(scene.width / 72, scene.height / 72),
            dpi=72 * (1.5 if len(scene.items) <= CROWDED else 1),
            facecolor=scene.background,
        )
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes([0, 0, 1, 1])
        axes.set(xlim=(0, scene.width), ylim=(scene.height, 0))
        axes.axis("off")
        for layer, item in enumerate(scene.items):
            axes.add_artist(_artist(item, layer))
        canvas.draw()
        picture = Image.fromarray(_pixels(canvas)).convert("RGB")
    buffer = io.BytesIO()
    picture.quantize(palette=_palette(scene), dither=Image.Dither.NONE).save(
        buffer, "PNG", optimize=True
    )
    return buffer.getvalue()


def _palette(scene):
    """The scene's own colours and their half tones on white: exact fills, and an eighth of the
    bytes of true colour.
    """
    from PIL import Image

    colours = [scene.background] + [
        getattr(item, name, "none") for item in scene.items for name in ("fill", "stroke", "colour")
    ]
    plain = [c for c in dict.fromkeys(colours) if c != "none"]
    tones = [mix(c, WHITE, share) for share in (0.35, 0.7) for c in plain]
    kept = plain + [
        tone for tone in dict.fromkeys(tones) if all(_far(tone, colour) for colour in plain)
    ]
    kept = kept[:256]
    image = Image.new("P", (1, 1))
    image.putpalette(bytes(int(c[i : i + 2], 16) for c in kept for i in (1, 3, 5)))
    return image


def _far(first, second):
    """Whether two colours differ enough not to be mistaken for each other when pixels are matched
    to the palette.
    """
    return max(abs(int(first[i : i + 2], 16) - int(second[i : i + 2], 16)) for i in (1, 3, 5)) > 20


def _pixels(canvas):
    import numpy as np

    return np.asarray(canvas.buffer_rgba())


def _artist(item, layer):
    """The matplotlib artist of one shape. Line widths and font sizes are points, which at 72 dpi
    are our pixels.
    """
    from matplotlib import lines, patches, patheffects
    from matplotlib import text as texts

    opacity = getattr(item, "opacity", 1.0)
    match item:
        case Line():
            dash = (0, (5 / item.width, 4 / item.width)) if item.dash else "-"
            return lines.Line2D(
                *zip(*item.points),
                color=item.colour,
                lw=item.width,
                ls=dash,
                alpha=opacity,
                zorder=layer,
                solid_capstyle="butt",
                dash_capstyle="butt",
            )
        case Shape():
            return patches.Polygon(
                item.points, closed=True, fc=item.fill, ec="none", alpha=opacity, zorder=layer
            )
        case Circle():
            return patches.Circle(
                (item.x, item.y),
                item.radius,
                fc=item.fill,
                ec=item.stroke,
                lw=item.width,
                alpha=opacity,
                zorder=layer,
            )
        case Box():
            rounding = f"round,pad=0,rounding_size={item.round}" if item.round else "square,pad=0"
            return patches.FancyBboxPatch(
                (item.x, item.y),
                item.width,
                item.height,
                boxstyle=rounding,
                fc=item.fill,
                ec=item.stroke,
                lw=item.line,
                zorder=layer,
            )
    rim = [patheffects.withStroke(linewidth=3, foreground=WHITE)] if item.halo else []
    face = {
        "weight": "bold" if item.bold else "normal",
        "style": "italic" if item.italic else "normal",
        "family": _families(),
        "fontsize": item.size,
    }
    side = {"start": "left", "middle": "center", "end": "right"}[item.anchor]
    place = {"ha": side, "va": "baseline", "zorder": layer}
    return texts.Text(
        item.x,
        item.y,
        clean(item.text),
        color=item.colour,
        parse_math=False,
        path_effects=rim,
        **face,
        **place,
    )


@cache
def _families():
    """DejaVu Sans, which comes with matplotlib, and whichever wide-coverage fonts this machine has
    for other scripts.
    """
    from matplotlib import font_manager

    known = {font.name for font in font_manager.fontManager.ttflist}
    wide = (
        "Noto Sans CJK SC",
        "Noto Sans",
        "WenQuanYi Zen Hei",
        "Arial Unicode MS",
        "Microsoft YaHei",
        "PingFang SC",
    )
    return ["DejaVu Sans"] + [name for name in wide if name in known]


MARGIN = 16


class Figure:
    """A drawn scene with its title, its caption and its text summary.

    In a notebook it shows the SVG where that is trusted and the PNG elsewhere; both are rendered
    from the same shapes. `print(figure)` and screen readers get `text`.
    """

    def __init__(self, scene, text, title="", caption=""):
        self.title, self.caption = title, caption
        self.text = "\n".join(part for part in (title, text, caption) if part)
        self.scene = _framed(scene, title, caption)

    def __repr__(self):
        return self.text

    @cached_property
    def svg(self):
        return to_svg(self.scene, self.title or self.text.split("\n", 1)[0], self.text)

    @cached_property
    def png(self):
        return to_png(self.scene)

    def save(self, path):
        """Write the figure as `.svg`, `.png` or `.txt`, by the name's ending. Returns the path."""
        contents = {".svg": "svg", ".png": "png", ".txt": "text"}
        kind = Path(path).suffix.lower()
        if kind not in contents:
            raise MiniragError(
                f"Cannot save a figure as {Path(path).name!r}: a name ending in .svg, .png or .txt is expected."
            )
        return write_atomic(path, getattr(self, contents[kind]))

    def _repr_mimebundle_(self, include=None, exclude=None):
        makers = {
            "text/plain": lambda: self.text,
            "image/svg+xml": lambda: self.svg,
            "image/png": lambda: base64.b64encode(self.png).decode("ascii"),
        }
        wanted = [
            kind
            for kind in makers
            if (not include or kind in include) and kind not in (exclude or ())
        ]
        size = {"width": self.scene.width, "height": self.scene.height}
        return {kind: makers[kind]() for kind in wanted}, {
            "image/png": size
        } if "image/png" in wanted else {}


def _framed(body, title, caption):
    """The scene with its title above and its caption below."""
    inner = body.width - 2 * MARGIN
    heads, tails = wrap(title, inner, 15, lines=2, bold=True), wrap(caption, inner, 12, lines=4)
    top = 20 * len(heads) + 14 if heads and heads[0] else 4
    foot = 16 * len(tails) + 14 if tails and tails[0] else 4
    scene = Scene(body.width, top + body.height + foot)
    scene.paste(body, 0, top)
    if top > 4:
        scene.add(
            *(
                Text(MARGIN, 24 + 20 * i, line, 15, bold=True, colour=INK)
                for i, line in enumerate(heads)
            )
        )
    if foot > 4:
        scene.add(
            *(
                Text(MARGIN, top + body.height + 14 + 16 * i, line, 12, colour=MUTED)
                for i, line in enumerate(tails)
            )
        )
    return scene


def draw_panels(figures, columns=2, title="", caption="", gap=8):
    """Figures pasted into a grid, each as wide as it was drawn; the text summaries follow one
    another.

    Draw each with `width=376` for two columns of a page.
    """
    figures = list(figures)
    rows = [figures[start : start + columns] for start in range(0, len(figures), columns)]
    width = max(sum(figure.scene.width + gap for figure in row) - gap for row in rows)
    scene, y = (
        Scene(width, sum(max(figure.scene.height for figure in row) + gap for row in rows) - gap),
        0,
    )
    for row in rows:
        x = 0
        for figure in row:
            scene.paste(figure.scene, x, y)
            x += figure.scene.width + gap
        y += max(figure.scene.height for figure in row) + gap
    return Figure(scene, "\n\n".join(figure.text for figure in figures), title, caption)
