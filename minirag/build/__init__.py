"""Stage 1 of the unified framework: from a corpus to a graph."""

from .extraction import choose_extraction, extract
from .knowledge_graph import knowledge_graph, with_synonymy
from .phrases import normalise_phrase

__all__ = ["choose_extraction", "extract", "knowledge_graph", "normalise_phrase", "with_synonymy"]
