"""Explorers: plain objects with a state, a text and a picture, and a thin view of sliders on top.

`explorer.set(name, value)` and `print(explorer.describe())` do without a browser what moving a
control does in one.
"""

from .browser import RetrievalBrowser
from .build import ChunkSizeExplorer, PassageGraphExplorer
from .explorer import Choice, Explorer, Slider, Switch
from .graphrag import HierarchyExplorer, PackingExplorer
from .hippo import HippoExplorer
from .paths import PathExplorer
from .pruning import PruningExplorer
from .stances import StanceExplorer
from .text import BM25Explorer, ChunkExplorer
from .walk import WalkExplorer

__all__ = [
    "BM25Explorer",
    "Choice",
    "ChunkExplorer",
    "ChunkSizeExplorer",
    "Explorer",
    "HierarchyExplorer",
    "HippoExplorer",
    "PackingExplorer",
    "PassageGraphExplorer",
    "PathExplorer",
    "PruningExplorer",
    "RetrievalBrowser",
    "Slider",
    "StanceExplorer",
    "Switch",
    "WalkExplorer",
]  # fmt: skip
