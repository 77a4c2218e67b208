"""Stage 3 of the unified framework: the operators that every retrieval is composed of."""

from . import chunk, community, node, paths, question, relationship, subgraph
from .ranking import min_max, rank
