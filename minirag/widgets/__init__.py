"""Explorers: plain objects with a state, a text and a picture, and a thin view of sliders on top.

`explorer.set(name, value)` and `print(explorer.describe())` do without a browser what moving a
control does in one.
"""

from .agents import AgentWalk, WalkStepper, walk_stepper
from .build import ChunkExplorer, ChunkSizeExplorer
from .composer import ComposerExplorer
from .explorer import Choice, Explorer, Slider, Switch
from .graphrag import HierarchyExplorer, PackingExplorer
from .hippo import HippoExplorer, WalkExplorer
from .pruning import PathExplorer, PruningExplorer
from .questions import RetrievalBrowser, StanceExplorer
