"""The pipeline with its *you are here*, and charts that matplotlib draws: vectors, curves, dots."""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import MiniragError
from .charts import Highlight, as_roles
from .figure import MARGIN, Figure
from .scene import Colour, Scene, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAGES = {
    "documents": "texts",
    "chunks": "passages",
    "graph": "names, relations",
    "index": "vectors, reports",
    "retrieval": "what fits?",
    "answer": "a model writes",
    "measure": "is it right?",
}
BOX, STEP = 92, 106  # width of a stage, and from one stage to the next, in pixels
Interval = tuple[float, float, float]


def draw_pipeline(*here: str, title: str = "You are here", caption: str = "") -> Figure:
    """The stages from documents to measured answers, those named in `here` lit."""
    if unknown := set(here) - set(STAGES):
        raise MiniragError(f"No stage is called {unknown.pop()!r}; there are {', '.join(STAGES)}.")
    scene = Scene(760, 64)
    for number, (stage, words) in enumerate(STAGES.items()):
        x, lit = MARGIN + number * STEP, stage in here
        fill, ink = (Colour.BLUE, Colour.WHITE) if lit else (Colour.PALE, Colour.INK)
        scene.box(x, 8, BOX, 46, fill, Colour.OUTLINE, round=6)
        scene.text(x + BOX // 2, 28, stage, 13, "middle", ink, bold=lit)
        scene.text(x + BOX // 2, 44, words, 10, "middle", ink)
        if number:
            scene.arrow((x - STEP + BOX + 1, 31), (x - 1, 31), Colour.MUTED)
    shown = " -> ".join(f"[{stage}]" if stage in here else stage for stage in STAGES)
    return Figure(scene, shown, title, caption)


class Chart:
    """A matplotlib chart as a notebook shows it: a PNG picture, and `text` for tests and screen
    readers.
    """

    def __init__(self, png: bytes, text: str) -> None:
        self.png, self.text = png, text

    def __repr__(self) -> str:
        return self.text

    def _repr_png_(self) -> bytes:
        return self.png


@contextmanager
def _chart(
    lines: list[str], title: str, caption: str, width: float = 6.4, height: float = 3.6
) -> Iterator[tuple["Axes", list[Chart]]]:
    """Axes to draw on; the list holds the `Chart` when the block has ended."""
    from matplotlib import pyplot

    made: list[Chart] = []
    with style(width, height):
        figure, axes = pyplot.subplots(subplot_kw={"title": title})
        yield axes, made
        if caption:
            figure.supxlabel(caption, fontsize=9, color=Colour.MUTED, wrap=True)
        figure.savefig(buffer := io.BytesIO(), format="png", dpi=110)
        pyplot.close(figure)
    made.append(Chart(buffer.getvalue(), "\n".join(filter(None, (title, *lines, caption)))))


def draw_vectors(
    vectors: Mapping[str, Sequence[float]], axes: tuple[str, str] = ("x", "y"),
    highlight: Highlight | None = None, title: str = "", caption: str = "", arrows: bool = True,
    write: Sequence[str] = (), log: bool = False,
) -> Chart:  # fmt: skip
    """Vectors in the plane: of two dimensions as arrows from the origin, or as points where not
    `arrows`; of more as points, in their first two principal components.

    `highlight`: labels, or a mapping from a role such as "gold" to labels; the first
    role is drawn in green, others in orange. `write`: the labels that are written; all where empty.
    `log`: x on a logarithmic axis, written in plain numbers.
    """
    places = np.array(list(vectors.values()), dtype=float)
    if places.ndim != 2 or places.shape[1] < 2 or not np.isfinite(places).all():
        raise MiniragError("Vectors of one length, of two or more finite numbers, are expected.")
    if places.shape[1] > 2:
        from sklearn.decomposition import PCA

        model = PCA(2, svd_solver="full").fit(places)
        shares, arrows = 100 * model.explained_variance_ratio_, False
        flip = np.sign(model.components_[range(2), abs(model.components_).argmax(1)])
        places = model.transform(places) * flip
        first, second = (f"component {i}: {x:.0f} % of variance" for i, x in enumerate(shares, 1))
        axes = first, second
    roles, lines = as_roles(highlight), [f"x: {axes[0]}, y: {axes[1]}"]
    with _chart(lines, title, caption, 5.2, 4.2) as (plane, made):
        for label, (x, y) in zip(vectors, places.tolist()):
            colours = {None: Colour.BLUE, next(iter(roles.values()), ""): Colour.GREEN}
            colour = colours.get(roles.get(label), Colour.VERMILLION)
            if arrows:
                pen = {"arrowstyle": "->", "color": colour}
                plane.annotate("", (x, y), (0, 0), arrowprops=pen, zorder=3 - np.hypot(x, y) / 1e3)
            plane.plot(x, y, "o", color=colour, markersize=0 if arrows else 6)
            if label in (write or vectors):
                turned: dict[str, Any] = {"rotation": -30 * log, "rotation_mode": "anchor"}
                plane.annotate(f"  {label}", (x, y), color=colour, fontsize=9, **turned)
            role = f" [{roles[label]}]" if label in roles else ""
            lines.append(f"  {label}: {x:{'.0f' if log else '.2f'}}, {y:.2f}{role}")
        plane.set(xlabel=axes[0], ylabel=axes[1], xscale="log" if log else "linear")
        plane.margins(0.18)
        if log:
            plane.xaxis.set_major_formatter("{x:.0f}")
        elif places.min() >= 0 and not arrows:
            plane.set_xlim(left=0)
        if arrows:
            plane.plot(0, 0, "o", color=Colour.MUTED, markersize=3)
            plane.set_aspect("equal", "datalim")
    return made[0]


def draw_lines(
    x: Sequence[float], series: Mapping[str, Sequence[float]], x_name: str, y_name: str,
    title: str = "", caption: str = "",
) -> Chart:  # fmt: skip
    """Curves over the same `x`, one for each name in `series`."""
    lines = [f"{y_name} over {x_name}: " + ", ".join(f"{value:g}" for value in x)]
    with _chart(lines, title, caption) as (plane, made):
        for name, values in series.items():
            plane.plot(x, values, label=name, markersize=4.5 if len({*values}) > 1 else 0)
            lines.append(f"  {name}: " + ", ".join(f"{value:.4g}" for value in values))
        plane.set(xlabel=x_name, ylabel=y_name)
        plane.locator_params(axis="x", integer=all(value == int(value) for value in x))
        if len(series) > 1:
            plane.legend()
    return made[0]


def draw_points(
    rows: Mapping[str, float | Interval], name: str, zero: float | None = None, title: str = "",
    caption: str = "", decimals: int = 1,
    parts: Mapping[str, Mapping[str, float]] | None = None,
) -> Chart:  # fmt: skip
    """One dot a row, with its interval where the row is (value, low, high); a line at `zero`.

    parts: by part of the questions, such as a corpus, the value of each row in it; small marks.
    """
    lines, parts = [name], parts or {}
    with _chart(lines, title, caption, 6.4, 1.2 + 0.3 * len(rows)) as (plane, made):
        for place, (label, row) in enumerate(rows.items()):
            value, *ends = row if isinstance(row, tuple) else (row,)
            plane.plot(ends, [place] * len(ends), "-", color=Colour.SKY, marker="|", linewidth=3)
            plane.plot(value, place, "o", color=Colour.BLUE, markersize=7)
            between = f" [{', '.join(f'{end:.{decimals}f}' for end in ends)}]" if ends else ""
            each = "".join(f"; {part} {of[label]:.{decimals}f}" for part, of in parts.items())
            lines.append(f"  {value:.{decimals}f}{between}  {label}{each}")
        if zero is not None:
            plane.axvline(zero, color=Colour.VERMILLION, linewidth=1.2)
        plane.set_yticks(range(len(rows)), list(rows))
        plane.set(xlabel=name, ylim=(len(rows) - 0.5, -0.5))
        for (part, of), shape in zip(parts.items(), "s^vDP*X"):
            plane.plot([of[x] for x in rows], range(len(rows)), f"k{shape}", mfc="none", label=part)
        if parts:
            plane.figure.legend(ncols=4, loc="outside upper center")
    return made[0]


def draw_dots(
    rows: Mapping[str, Collection[str]], columns: Sequence[str], title: str = "", caption: str = "",
    rings: Mapping[str, Collection[str]] | None = None,
) -> Chart:  # fmt: skip
    """A matrix: a dot where a row has the column, a ring where `rings` has it, too."""
    lines, wide, high = list[str](), 2.2 + 0.27 * len(columns), 1.7 + 0.27 * len(rows)
    with _chart(lines, title, caption, wide, high) as (plane, made):
        for place, (label, held) in enumerate(rows.items()):
            ringed = [each for each in held if each in (rings or {}).get(label, ())]
            for some, ink, size in ((held, Colour.BLUE, 8), (ringed, Colour.WHITE, 5)):
                plane.plot([*map(columns.index, some)], [place] * len(some), "o", c=ink, ms=size)
            lines.append(f"  {label}: {', '.join(f'({x})' if x in ringed else x for x in held)}")
        plane.set_xticks(range(len(columns)), list(columns), rotation=90)
        plane.set_yticks(range(len(rows)), list(rows))
        plane.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
        plane.grid(visible=True, linewidth=0.4)
    return made[0]
