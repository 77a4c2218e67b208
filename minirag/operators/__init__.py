"""Stage 3 of the unified framework: the operators that every retrieval is composed of."""

from . import chunk, node, relationship
from .ranking import min_max, rank

__all__ = ["chunk", "min_max", "node", "rank", "relationship"]
