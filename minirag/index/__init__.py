"""Stage 2 of the unified framework: what is computed once so that questions are cheap."""

from .communities import find_communities, write_reports
from .contexts import ContextBuilder, ReportOptions
from .ego_graphs import EgoIndex
from .matrices import (
    adjacency_matrix,
    fact_matrix,
    fact_passage_matrix,
    node_specificity,
    passage_matrix,
)
from .vectors import TokenIndex, VectorIndex, chunk_index, node_index
