"""A tree of summaries over chunks, by k-means: what RAPTOR does with soft clusters, in its plainest
form.
"""

from math import ceil

import numpy as np

from ..core.errors import MiniragError
from ..core.graph import Edge, Graph, Node


def tree(chunks, encoder, llm, layers=2, branching=5, max_tokens=100, seed=0, executor=None):
    """Chunks as leaves; then, `layers` times, the nodes without a parent are clustered and every
    cluster of more than two gets a summary.

    Clusters are k-means on the text's vectors, one for each `branching` nodes begun. A cluster of
    one or two waits, without a parent, for the next layer. Summaries are nodes of type "summary",
    their text is the description, their chunks all the leaves below; edges run from parent to
    child. Only the leaves are chunks: `node_text` reads either kind.

    Source: Survey, Sec. 4 (graphs)
    """
    chunks = tuple(chunks)
    if not chunks:
        raise MiniragError("A tree needs at least one chunk, and the corpus has none.")
    nodes = [Node(chunk.id, "chunk", chunks=(place,)) for place, chunk in enumerate(chunks)]
    edges, waiting = [], list(range(len(nodes)))
    vectors = [*encoder.encode([chunk.passage for chunk in chunks], kind="passage")]
    for layer in range(1, layers + 1):
        families = [
            family
            for family in clusters(np.array([vectors[i] for i in waiting]), branching, seed)
            if len(family) > 2
        ]
        families = [[waiting[member] for member in family] for family in families]
        if not families:
            break
        fields = [
            {"texts": tuple(node_text(nodes[i], chunks) for i in family), "max_tokens": max_tokens}
            for family in families
        ]
        summaries = llm.map(
            "cluster_summary", fields, executor=executor, description=f"layer {layer}"
        )
        for number, (family, text) in enumerate(zip(families, summaries), start=1):
            below = tuple(sorted({place for i in family for place in nodes[i].chunks}))
            edges += [Edge(len(nodes), child) for child in family]
            nodes.append(Node(f"summary {layer}.{number}", "summary", text, below))
        vectors += [*encoder.encode(summaries, kind="passage")]
        inside = {i for family in families for i in family}
        waiting = [
            i
            for i in range(len(nodes))
            if i not in inside and i in {*waiting, *range(len(nodes) - len(families), len(nodes))}
        ]
    return Graph("tree", llm.name, tuple(nodes), tuple(edges), chunks)


def clusters(vectors, branching=5, seed=0):
    """Positions of the rows by k-means cluster, one cluster for each `branching` rows begun, in the
    order of their first members.
    """
    from sklearn.cluster import KMeans

    count = ceil(len(vectors) / branching)
    labels = (
        KMeans(count, n_init=10, random_state=seed).fit_predict(vectors.astype(np.float64))
        if count > 1
        else np.zeros(len(vectors), int)
    )
    return sorted(
        (np.flatnonzero(labels == label).tolist() for label in set(labels.tolist())), key=min
    )


def node_text(node, chunks):
    """What a node of a tree says: the passage of a leaf, the summary of an inner node."""
    return chunks[node.chunks[0]].passage if node.type == "chunk" else node.description
