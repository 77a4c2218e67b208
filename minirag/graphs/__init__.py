"""Stage 1 of the unified framework: from a corpus to a graph."""

from .attributes import attribute_matrix, attributes, five_graphs
from .elements import Elements, annotated_elements, extract_elements, given_elements
from .extraction import choose_extraction, extract
from .knowledge_graph import knowledge_graph, normalise_phrase, with_synonymy
from .textual_graph import (
    rich_knowledge_graph,
    summarise_element,
    summarise_elements,
    textual_knowledge_graph,
)
from .tree_and_passage_graph import clusters, node_text, passage_graph, shared_entities, tree

__all__ = [
    "Elements",
    "annotated_elements",
    "attribute_matrix",
    "attributes",
    "choose_extraction",
    "clusters",
    "extract",
    "extract_elements",
    "five_graphs",
    "given_elements",
    "knowledge_graph",
    "node_text",
    "normalise_phrase",
    "passage_graph",
    "rich_knowledge_graph",
    "shared_entities",
    "summarise_element",
    "summarise_elements",
    "textual_knowledge_graph",
    "tree",
    "with_synonymy",
]
