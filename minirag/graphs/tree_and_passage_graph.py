"""Two graphs whose nodes are chunks: the passage graph, which joins chunks that name the same
entities, and the tree, which puts summaries above them.

The passage graph differs from KGP's code in: entities come from an extraction rather than from a
linking service, and an edge is one, whatever the number of shared entities. `tree` is the survey's
tree in its plainest form, by k-means; RAPTOR hands its own clusters to `cluster_tree`.
"""

from collections import Counter
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

Vectors = NDArray[np.float32]
Cluster = Callable[[Vectors, Sequence[str]], list[list[int]]]


def shared_entities(
    chunks: Sequence[Chunk], extraction: Extraction | Elements, titles: bool = True
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
        for name in dict.fromkeys(map(normalise_phrase, names)):
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
) -> Graph:
    """A node for each chunk, named by its id, and an edge between two that share more than
    `threshold` entities.

    The survey gives no threshold; 0, one shared entity, is what KGP's code does. The survey's Table
    2 gives this graph no
    attribute but the chunk: what two chunks share is asked of `shared_entities`.

    Source: Survey, Sec. 4 (graphs)
    """
    shared = shared_entities(chunks, extraction, titles)
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
    cluster of more than two gets a summary: `cluster_tree` with k-means on the text's vectors, one
    cluster for each `branching` nodes begun.

    Source: Survey, Sec. 4 (graphs)
    """

    def by_k_means(vectors: Vectors, texts: Sequence[str]) -> list[list[int]]:
        return clusters(vectors, branching, seed)

    return cluster_tree(chunks, encoder, llm, by_k_means, layers, max_tokens, executor=executor)


def cluster_tree(
    chunks: Sequence[Chunk],
    encoder: Encoder,
    llm: LLM,
    cluster: Cluster,
    layers: int = 5,
    max_tokens: int = 100,
    min_members: int = 3,
    stop_at: int = 0,
    executor: Executor | None = None,
) -> Graph:
    """Chunks as leaves; then, layer by layer, clusters of nodes with a summary each.

    cluster: vectors and texts of the nodes of a layer -> positions of the members of each cluster;
    a node may be in several. min_members: smaller clusters get no summary, and nodes without a
    parent wait for the next layer (the survey: 3); with 1 no node waits, and one in no cluster has
    no parent (RAPTOR's code). stop_at: no layer is put above so many nodes or fewer.

    Summaries are nodes of type "summary", named "summary LAYER.NUMBER"; their text is the
    description, their chunks all the leaves below; edges run from parent to child. Only the leaves
    are chunks: `node_text` reads either kind.

    Source: Survey, Sec. 4 (graphs)
    """
    if not chunks:
        raise MiniragError("A tree needs at least one chunk, and the corpus has none.")
    nodes, edges = list(_leaves(chunks)), []
    waiting = list(range(len(nodes)))  # nodes of the layer that is clustered
    vectors = [*encoder.encode([chunk.passage for chunk in chunks], kind="passage")]
    for layer in range(1, layers + 1):
        if len(waiting) <= stop_at:
            break
        own = [node_text(nodes[i], chunks) for i in waiting]
        found = cluster(np.array([vectors[i] for i in waiting]), own)
        found = [family for family in found if len(family) >= min_members]
        if not found:
            break
        fields = [{"texts": tuple(own[i] for i in f), "max_tokens": max_tokens} for f in found]
        families = [[waiting[member] for member in family] for family in found]
        summaries = llm.map("cluster_summary", fields, executor, f"layer {layer}")
        waiting = sorted({*waiting}.difference(*families)) if min_members > 1 else []
        for number, (family, summary) in enumerate(zip(families, summaries), start=1):
            below = tuple(sorted({place for i in family for place in nodes[i].chunks}))
            edges += [Edge(len(nodes), child) for child in family]
            waiting.append(len(nodes))
            nodes.append(Node(f"summary {layer}.{number}", "summary", summary, below))
        vectors += [*encoder.encode(summaries, kind="passage")]
    return Graph("tree", llm.name, tuple(nodes), tuple(edges), tuple(chunks))


def layer_of(node: Node) -> int:
    """The layer of a tree's node: 0 for a leaf, L for "summary L.NUMBER"."""
    return 0 if node.type == "chunk" else int(node.name.removeprefix("summary ").split(".")[0])


def family_sizes(graph: Graph) -> dict[int, list[int]]:
    """{layer: the number of children of each of its summaries, in their order}."""
    sizes: dict[int, list[int]] = {}
    children = Counter(edge.source for edge in graph.edges)
    for place, node in enumerate(graph.nodes):
        if node.type != "chunk":
            sizes.setdefault(layer_of(node), []).append(children[place])
    return sizes


def clusters(vectors: Vectors, branching: int = 5, seed: int = 0) -> list[list[int]]:
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
