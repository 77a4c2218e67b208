"""Figures: each is one object with a text summary, a deterministic SVG and a PNG twin.

Charts of measurements are plain matplotlib inside `with viz.style():`.
"""

from .charts import draw_ranking, draw_scores, draw_windows
from .figure import Figure, draw_panels
from .flows import draw_flow, draw_hierarchy, draw_path
from .graphs import draw_graph, draw_walk
from .layout import layout
from .operators import draw_operator
from .passages import Html, marked, show_chunks
from .plots import Chart, draw_dots, draw_lines, draw_pipeline, draw_points, draw_vectors
from .scene import SERIES, contrast, style
