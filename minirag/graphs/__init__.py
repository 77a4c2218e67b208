"""Stage 1 of the unified framework: from a corpus to a graph."""

from .attributes import attributes, five_graphs
from .elements import Elements, annotated_elements, extract_elements, given_elements
from .knowledge_graph import (
    choose_extraction,
    extract,
    knowledge_graph,
    normalise_phrase,
    with_synonymy,
)
from .textual_graph import rich_knowledge_graph, summarise_elements, textual_knowledge_graph
from .tree_and_passage_graph import clusters, node_text, passage_graph, shared_entities, tree
