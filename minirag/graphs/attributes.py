"""The survey's attribute matrix, read off graphs that were built rather than copied."""

from ..core.corpus import Chunk, Corpus
from .elements import extract_elements
from .extraction import extract
from .knowledge_graph import knowledge_graph
from .passage_graph import passage_graph
from .textual_graph import rich_knowledge_graph, textual_knowledge_graph
from .tree import tree

# One thing is said twice and one once: only then does a weight differ from 1.
PROBE = (
    "Ilse Brandt founded Harrowgate Observatory.",
    "Ilse Brandt founded Harrowgate Observatory. Harrowgate Observatory belongs to the University of Selm.",
    "The University of Selm pays Otto Lenz.",
)
GRAPH_TYPES = {
    "tree": "Tree",
    "passage": "PG",
    "knowledge": "KG",
    "textual knowledge": "TKG",
    "rich knowledge": "RKG",
}


def _entities(graph):
    return [node for node in graph.nodes if node.type not in ("chunk", "summary")]


def _relations(graph):
    """Edges between entities; what joins chunks or summaries is no relationship."""
    inner = {i for i, node in enumerate(graph.nodes) if node.type in ("chunk", "summary")}
    return [
        edge
        for edge in graph.edges
        if edge.kind == "relation" and not inner.intersection((edge.source, edge.target))
    ]


ATTRIBUTES = {
    "Original Chunk": lambda graph: any(node.type == "chunk" for node in graph.nodes),
    "Entity Name": lambda graph: any(node.name for node in _entities(graph)),
    "Entity Type": lambda graph: any(node.type for node in _entities(graph)),
    "Entity Description": lambda graph: any(node.description for node in _entities(graph)),
    "Relationship Name": lambda graph: any(edge.name for edge in _relations(graph)),
    "Relationship Keyword": lambda graph: any(edge.keywords for edge in _relations(graph)),
    "Relationship Description": lambda graph: any(edge.description for edge in _relations(graph)),
    "Edge Weight": lambda graph: any(edge.weight != 1.0 for edge in graph.edges),
}


def attributes(graph):
    """{attribute: whether any node or edge of the graph carries it}; a weight counts once it
    differs from 1.

    Source: Survey, Table 2 (tab-2)
    """
    return {name: bool(carries(graph)) for name, carries in ATTRIBUTES.items()}


def attribute_matrix(graphs):
    """Rows of the survey's Table 2, one a dict: the attribute and, for each graph in the table's
    order, whether it carries it.
    """
    order = list(GRAPH_TYPES)
    columns = {
        GRAPH_TYPES[graph.type]: attributes(graph)
        for graph in sorted(graphs, key=lambda g: order.index(g.type))
    }
    return [
        {"attribute": name, **{short: found[name] for short, found in columns.items()}}
        for name in ATTRIBUTES
    ]


def five_graphs(llm, encoder, chunks=None, **tree_options):
    """All five graph types from the same chunks, in the order of the survey's Table 2; without
    chunks from a probe of three short passages.

    Source: Survey, Sec. 4 (graphs)
    """
    chunks = tuple(chunks or (Chunk(f"probe {i}", text) for i, text in enumerate(PROBE, start=1)))
    elements = extract_elements(chunks, llm)
    rich = extract_elements(chunks, llm, rich=True)
    extraction = extract(Corpus("five graphs", (), chunks), llm)
    graphs = (
        tree(chunks, encoder, llm, **tree_options),
        passage_graph(chunks, elements),
        knowledge_graph(chunks, extraction),
    )
    return [
        *graphs,
        textual_knowledge_graph(chunks, elements, llm),
        rich_knowledge_graph(chunks, rich, llm),
    ]
