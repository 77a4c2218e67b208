"""Stage 2 of the unified framework: what is computed once so that questions are cheap."""

from .communities import Communities, Community, find_communities
from .contexts import Context, ContextBuilder
from .ego_graphs import EgoIndex
from .matrices import (
    adjacency_matrix,
    fact_matrix,
    fact_passage_matrix,
    node_specificity,
    passage_matrix,
)
from .reports import CommunityIndex, write_reports
from .vectors import TokenIndex, VectorIndex, chunk_index, node_index

__all__ = [
    "Communities",
    "Community",
    "CommunityIndex",
    "Context",
    "ContextBuilder",
    "EgoIndex",
    "TokenIndex",
    "VectorIndex",
    "find_communities",
    "write_reports",
    "adjacency_matrix",
    "chunk_index",
    "fact_matrix",
    "fact_passage_matrix",
    "node_index",
    "node_specificity",
    "passage_matrix",
]
