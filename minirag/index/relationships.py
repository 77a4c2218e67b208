"""The vector index of relationships, encoded by the text that a method reads."""

from typing import Literal, get_args

from ..utils import MiniragError
from .vectors import VectorIndex

RelationText = Literal["description and names", "keywords, names, description"]
RELATIONSHIP_TEXTS = get_args(RelationText)


def relationship_index(graph, encoder, text="description and names"):
    """Encode every edge; row i is edge i. "description and names" (the survey), or "keywords, names, description" (LightRAG's code).

    Source: Survey, Sec. 5 (indices)
    """
    if text not in RELATIONSHIP_TEXTS:
        raise MiniragError(f"relation_text={text!r}: expected one of {', '.join(map(repr, RELATIONSHIP_TEXTS))}.")
    labels = [f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}" for edge in graph.edges]
    texts = [relationship_text(graph, edge, text) for edge in graph.edges]
    return VectorIndex(tuple(labels), encoder.encode(texts), encoder)


def relationship_text(graph, edge, text):
    names = f"{graph.nodes[edge.source].name} {graph.nodes[edge.target].name}"
    said = edge.description or edge.name
    parts = (said, names) if text == RELATIONSHIP_TEXTS[0] else (edge.keywords, names, said)
    return " ".join(filter(None, parts))
