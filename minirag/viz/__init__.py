"""Figures: each is one object with a text summary, a deterministic SVG and a PNG twin.

Charts of measurements are plain matplotlib inside `with viz.style():`.
"""

from .charts import draw_bipartite, draw_ranking, draw_scores
from .figure import Figure
from .flows import draw_flow, draw_path
from .graphs import draw_graph, draw_walk, layout
from .hierarchy import draw_hierarchy
from .palette import SERIES, contrast, style
from .panels import draw_panels
from .passages import Html, marked, show_chunks, show_passages
from .windows import draw_windows

__all__ = [
    "SERIES",
    "Figure",
    "Html",
    "contrast",
    "draw_bipartite",
    "draw_flow",
    "draw_graph",
    "draw_hierarchy",
    "draw_panels",
    "draw_path",
    "draw_ranking",
    "draw_scores",
    "draw_walk",
    "draw_windows",
    "layout",
    "marked",
    "show_chunks",
    "show_passages",
    "style",
]  # fmt: skip
