"""The survey's attribute matrix, read off graphs that were built rather than copied."""

from collections.abc import Sequence
from typing import Any

from ..core.corpus import Chunk, Corpus
from ..core.encoder import Encoder
from ..core.graph import Graph
from ..llm.base import LLM
from .elements import extract_elements
from .knowledge_graph import extract, knowledge_graph
from .textual_graph import rich_knowledge_graph, textual_knowledge_graph
from .tree_and_passage_graph import passage_graph, tree

# One thing is said twice and one once: only then does a weight differ from 1.
FOUNDED = "Ilse Brandt founded Harrowgate Observatory."
PROBE = (
    FOUNDED,
    f"{FOUNDED} Harrowgate Observatory belongs to the University of Selm.",
    "The University of Selm pays Otto Lenz.",
)


def attributes(graph: Graph) -> dict[str, bool]:
    """{attribute: whether any node or edge of the graph carries it}; a weight counts once it
    differs from 1.

    What joins chunks or summaries is no relationship.

    Source: Survey, Table 2 (tab-2)
    """
    texts = {i for i, node in enumerate(graph.nodes) if node.type in ("chunk", "summary")}
    entities = [node for i, node in enumerate(graph.nodes) if i not in texts]
    between = [e for e in graph.edges if not texts.intersection((e.source, e.target))]
    relations = [edge for edge in between if edge.kind == "relation"]
    return {
        "Original Chunk": any(node.type == "chunk" for node in graph.nodes),
        "Entity Name": any(node.name for node in entities),
        "Entity Type": any(node.type for node in entities),
        "Entity Description": any(node.description for node in entities),
        "Relationship Name": any(edge.name for edge in relations),
        "Relationship Keyword": any(edge.keywords for edge in relations),
        "Relationship Description": any(edge.description for edge in relations),
        "Edge Weight": any(edge.weight != 1.0 for edge in graph.edges),
    }


def five_graphs(
    llm: LLM, encoder: Encoder, chunks: Sequence[Chunk] | None = None, **tree_options: Any
) -> list[Graph]:
    """All five graph types from the same chunks, in the order of the survey's Table 2; without
    chunks from a probe of three short passages. `tree_options` are those of `tree`.

    Source: Survey, Sec. 4 (graphs)
    """
    chunks = tuple(chunks or (Chunk(f"probe {i}", text) for i, text in enumerate(PROBE, start=1)))
    elements = extract_elements(chunks, llm)
    return [
        tree(chunks, encoder, llm, **tree_options),
        passage_graph(chunks, elements),
        knowledge_graph(chunks, extract(Corpus("five graphs", (), chunks), llm)),
        textual_knowledge_graph(chunks, elements, llm),
        rich_knowledge_graph(chunks, extract_elements(chunks, llm, rich=True), llm),
    ]
