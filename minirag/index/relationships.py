"""The vector index of relationships, encoded by the text that a method reads."""

from typing import Literal

from ..core.encoder import Encoder
from ..core.graph import Edge, Graph
from ..core.options import check_value
from .vectors import VectorIndex

RelationText = Literal["description and names", "keywords, names, description"]


def relationship_index(
    graph: Graph, encoder: Encoder, text: RelationText = "description and names"
) -> VectorIndex:
    """Encode every edge; row i is edge i. "description and names" (the survey), or "keywords,
    names, description" (LightRAG's code).

    Source: Survey, Sec. 5 (indices)
    """
    check_value("relation_text", text, RelationText)
    labels = [
        f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}" for edge in graph.edges
    ]
    texts = [relationship_text(graph, edge, text) for edge in graph.edges]
    return VectorIndex(tuple(labels), encoder.encode(texts), encoder)


def relationship_text(graph: Graph, edge: Edge, text: RelationText) -> str:
    """What of an edge is encoded (see `relationship_index`)."""
    names = f"{graph.nodes[edge.source].name} {graph.nodes[edge.target].name}"
    about = edge.description or edge.name
    parts = (about, names) if text == "description and names" else (edge.keywords, names, about)
    return " ".join(filter(None, parts))
