"""The one figure object: text for tests and screen readers, SVG for trusted notebooks, PNG for
everything else.
"""

import base64
from functools import cached_property
from pathlib import Path

from ..core.errors import MiniragError
from ..core.files import write_atomic
from .palette import INK, MUTED
from .render import to_png, to_svg
from .scene import Scene, Text, wrap

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
