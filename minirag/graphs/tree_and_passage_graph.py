"""Two graphs whose nodes are chunks: the passage graph, which joins chunks that name the same
entities, and the tree, which puts summaries above them.

The passage graph differs from KGP's code in: entities come from an extraction rather than from a
linking service, and an edge is one, whatever the number of shared entities. The tree clusters by
k-means: what RAPTOR does with soft clusters, in its plainest form.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import combinations
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ..core.corpus import Chunk, Extraction
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import Edge, Graph, Node
from ..llm.base import LLM
from .elements import Elements
from .knowledge_graph import normalise_phrase


def shared_entities(
    chunks: Sequence[Chunk],
    extraction: Extraction | Elements,
    titles: bool = True,
    normalise: Callable[[str], str] = normalise_phrase,
) -> dict[tuple[int, int], tuple[str, ...]]:
    """{(i, j): (entity, ...)}, i < j: the entities that two chunks have in common, by normalised
    name.

    `extraction`: anything whose `entities` go from chunk id to names or to records with a name.
    titles: the title of a document counts as an entity of its chunks.
    """
    places: dict[str, list[int]] = {}
    for place, chunk in enumerate(chunks):
        found = extraction.entities.get(chunk.id, ())
        names = [entity if isinstance(entity, str) else entity.name for entity in found]
        names += [chunk.title] if titles else []
        for name in dict.fromkeys(map(normalise, names)):
            if name:
                places.setdefault(name, []).append(place)
    shared: dict[tuple[int, int], list[str]] = {}
    for name, where in places.items():
        for pair in combinations(where, 2):
            shared.setdefault(pair, []).append(name)
    return {pair: tuple(shared[pair]) for pair in sorted(shared)}


def passage_graph(
    chunks: Sequence[Chunk],
    extraction: Extraction | Elements,
    threshold: int = 0,
    titles: bool = True,
    normalise: Callable[[str], str] = normalise_phrase,
) -> Graph:
    """A node for each chunk, named by its id, and an edge between two that share more than
    `threshold` entities.

    The survey gives no threshold; 0, one shared entity, is what KGP's code does. The survey's Table
    2 gives this graph no
    attribute but the chunk: what two chunks share is asked of `shared_entities`.

    Source: Survey, Sec. 4 (graphs)
    """
    shared = shared_entities(chunks, extraction, titles, normalise)
    edges = tuple(
        Edge(i, j, chunks=(i, j)) for (i, j), names in shared.items() if len(names) > threshold
    )
    return Graph("passage", extraction.source, _leaves(chunks), edges, tuple(chunks))


def _leaves(chunks: Sequence[Chunk]) -> tuple[Node, ...]:
    return tuple(Node(chunk.id, "chunk", chunks=(place,)) for place, chunk in enumerate(chunks))


def tree(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    llm: LLM,
    layers: int = 2,
    branching: int = 5,
    max_tokens: int = 100,
    seed: int = 0,
    executor: Executor | None = None,
) -> Graph:
    """Chunks as leaves; then, `layers` times, the nodes without a parent are clustered and every
    cluster of more than two gets a summary.

    Clusters are k-means on the text's vectors, one for each `branching` nodes begun. A cluster of
    one or two waits, without a parent, for the next layer. Summaries are nodes of type "summary",
    their text is the description, their chunks all the leaves below; edges run from parent to
    child. Only the leaves are chunks: `node_text` reads either kind.

    Source: Survey, Sec. 4 (graphs)
    """
    if not chunks:
        raise MiniragError("A tree needs at least one chunk, and the corpus has none.")
    nodes, edges = list(_leaves(chunks)), []
    waiting = list(range(len(nodes)))  # nodes without a parent
    vectors = [*encoder.encode([chunk.passage for chunk in chunks], kind="passage")]
    for layer in range(1, layers + 1):
        found = clusters(np.array([vectors[i] for i in waiting]), branching, seed)
        families = [[waiting[member] for member in family] for family in found if len(family) > 2]
        if not families:
            break
        texts = [tuple(node_text(nodes[i], chunks) for i in family) for family in families]
        fields = [{"texts": own, "max_tokens": max_tokens} for own in texts]
        summaries = llm.map("cluster_summary", fields, executor, f"layer {layer}")
        waiting = sorted({*waiting}.difference(*families))
        for number, (family, summary) in enumerate(zip(families, summaries), start=1):
            below = tuple(sorted({place for i in family for place in nodes[i].chunks}))
            edges += [Edge(len(nodes), child) for child in family]
            waiting.append(len(nodes))
            nodes.append(Node(f"summary {layer}.{number}", "summary", summary, below))
        vectors += [*encoder.encode(summaries, kind="passage")]
    return Graph("tree", llm.name, tuple(nodes), tuple(edges), tuple(chunks))


def clusters(vectors: NDArray[np.float32], branching: int = 5, seed: int = 0) -> list[list[int]]:
    """Positions of the rows by k-means cluster, one cluster for each `branching` rows begun, in the
    order of their first members.
    """
    from sklearn.cluster import KMeans

    count, labels = ceil(len(vectors) / branching), np.zeros(len(vectors), int)
    if count > 1:
        k_means = KMeans(count, n_init=10, random_state=seed)
        labels = k_means.fit_predict(vectors.astype(np.float64))
    return sorted((np.flatnonzero(labels == label).tolist() for label in {*labels}), key=min)


def node_text(node: Node, chunks: Sequence[Chunk]) -> str:
    """What a node of a tree says: the passage of a leaf, the summary of an inner node."""
    return chunks[node.chunks[0]].passage if node.type == "chunk" else node.description
