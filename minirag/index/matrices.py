"""A graph as sparse matrices: who is next to whom, and which passage mentions what."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy.sparse as sparse

from ..core.graph import Edge, Graph
from ..core.options import check_value
from ..core.trace import Vector
from ..graphs.knowledge_graph import Script, normalise_phrase

Synonymy = Literal["add", "overwrite", "none"]
Counts = Literal["text", "facts", "incidence"]


def adjacency_matrix(graph: Graph, synonymy: Synonymy = "add") -> sparse.csr_matrix:
    """Symmetric weights (nodes, nodes): how often two nodes are related, and how alike their names
    are.

    `synonymy="add"` adds the cosine to the number of triples (Wang gives no weights); `"overwrite"`
    lets it replace that number, as the released code does (three triples and a cosine of .85 give
    .85 instead of 3.85); `"none"` leaves it out. Self-loops are dropped. Only ratios matter to a
    random walk: every weight is counted in both directions.

    Source: Wang, Sec. IV-B (hippo-synonymy)
    """
    check_value("synonymy", synonymy, Synonymy)
    count = len(graph.nodes)
    triples = [e for e in graph.edges if e.kind == "relation" and e.source != e.target]
    synonyms = [e for e in graph.edges if e.kind == "synonymy" and synonymy != "none"]
    one_way, similar = _weights(triples, count), _weights(synonyms, count)
    related = one_way + one_way.T
    if synonymy == "overwrite":
        related = related - related.multiply(similar > 0)
    ordered = (related + similar).tocsr()
    ordered.eliminate_zeros()
    return (ordered + ordered.T).tocsr()


def _weights(edges: Sequence[Edge], count: int) -> sparse.csr_matrix:
    """The summed weights from source to target: (nodes, nodes)."""
    ends = [e.source for e in edges], [e.target for e in edges]
    weights = np.array([e.weight for e in edges], dtype=float)
    return sparse.csr_matrix((weights, ends), shape=(count, count))


def fact_matrix(graph: Graph) -> sparse.csr_matrix:
    """Which node stands in which relation: (relations, nodes) of zeros and ones. Relations come in
    the order of `graph.edges`.
    """
    relations = [e for e in graph.edges if e.kind == "relation"]
    pairs = [(r, node) for r, e in enumerate(relations) for node in sorted({e.source, e.target})]
    return _marked(pairs, np.ones(len(pairs)), (len(relations), len(graph.nodes)))


def fact_passage_matrix(graph: Graph) -> sparse.csr_matrix:
    """Which passage states which relation: (passages, relations) of zeros and ones."""
    relations = [e for e in graph.edges if e.kind == "relation"]
    pairs = sorted({(place, r) for r, edge in enumerate(relations) for place in edge.chunks})
    return _marked(pairs, np.ones(len(pairs)), (len(graph.chunks), len(relations)))


def _marked(
    pairs: Sequence[tuple[int, int]], values: Vector, shape: tuple[int, int]
) -> sparse.csr_matrix:
    """A matrix that holds `values` at its (row, column) `pairs`."""
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    return sparse.csr_matrix((values, (rows, columns)), shape=shape)


def passage_matrix(
    graph: Graph, counts: Counts = "text", script: Script = "unicode"
) -> sparse.csr_matrix:
    """Wang's P, transposed: the (passages, nodes) matrix that turns node probabilities into passage
    scores. How a phrase is counted is a choice:

    - "text": how often the phrase occurs in the passage, title included, and at least 1 where it
      was extracted from it. The paper counts how often a phrase "appears in each original
      passage", which is text and not triples; its released code does not look at the text.
    - "facts": in how many distinct triples of the passage the phrase stands (the released code).
    - "incidence": 1 where the phrase was extracted from the passage, however often it occurs there.

    All three are 0 where the phrase was not extracted from the passage, even if its words stand
    there: the paper's indexing extracts phrases passage by passage, and its node specificity
    counts these passages, too. Occurrences are whole words after normalisation in the graph's
    `script`; without spaces, as in Chinese, a phrase is found only where it stands alone.

    Source: Wang, Sec. IV-B (hippo-matrix)
    """
    check_value("passage_matrix", counts, Counts)
    if counts == "facts":
        return (fact_passage_matrix(graph) @ fact_matrix(graph)).tocsr()
    pairs = sorted({(place, i) for i, node in enumerate(graph.nodes) for place in node.chunks})
    values = np.ones(len(pairs))
    if counts == "text":
        texts = [_words(chunk.passage, script) for chunk in graph.chunks]
        phrases = [_words(node.name, script) for node in graph.nodes]
        found = [texts[place].count(phrases[i]) if phrases[i] else 1 for place, i in pairs]
        values = np.maximum(found, 1.0)
    return _marked(pairs, values, (len(graph.chunks), len(graph.nodes)))


def with_passages(adjacency: sparse.sparray, graph: Graph, weight: float) -> sparse.csr_matrix:
    """The weights of a walk over nodes and, behind them, passages, (nodes + passages,) each way:
    `adjacency` between nodes, `weight` between a passage and a node that was read from it.
    """
    read = weight * passage_matrix(graph, "incidence")
    return sparse.bmat([[adjacency, read.T], [read, None]])


def own_nodes(graph: Graph) -> sparse.csr_matrix:
    """Which node is the passage's own: (passages, nodes + passages) of zeros and ones."""
    nodes, passages = len(graph.nodes), len(graph.chunks)
    return sparse.eye(passages, nodes + passages, k=nodes, format="csr")


def _words(text: str, script: Script) -> str:
    """Words with a space on either side: two occurrences in a row, as of a title that the text
    repeats, share none.
    """
    return "".join(f" {word} " for word in normalise_phrase(text, script).split())


def node_specificity(graph: Graph) -> Vector:
    """s_i = 1 / |P_i|, where P_i is the set of passages from which node i was extracted: (nodes,).

    Source: Wang, Sec. IV-B (hippo-specificity)
    """
    return np.array([1 / len(set(node.chunks)) for node in graph.nodes])
