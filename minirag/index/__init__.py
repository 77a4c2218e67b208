"""Stage 2 of the unified framework: what is computed once so that questions are cheap."""

from .matrices import adjacency_matrix, fact_matrix, fact_passage_matrix, node_specificity, passage_matrix
from .vectors import VectorIndex, chunk_index, node_index

__all__ = [
    "VectorIndex", "adjacency_matrix", "chunk_index", "fact_matrix", "fact_passage_matrix", "node_index", "node_specificity", "passage_matrix",
]
