"""The passage graph: chunks as nodes, joined where they speak of the same entities.

Differs from KGP's code in: entities come from an extraction rather than from a linking service, and
an edge is one, whatever the number of shared entities.
"""

from itertools import combinations

from ..core.graph import Edge, Graph, Node
from .phrases import normalise_phrase


def shared_entities(chunks, extraction, titles=True, normalise=normalise_phrase):
    """{(i, j): (entity, ...)}, i < j: the entities that two chunks have in common, by normalised
    name.

    `extraction`: anything whose `entities` go from chunk id to names or to records with a name.
    titles: the title of a document counts as an entity of its chunks.
    """
    places = {}
    for place, chunk in enumerate(chunks):
        names = [
            getattr(entity, "name", entity) for entity in extraction.entities.get(chunk.id, ())
        ]
        for name in dict.fromkeys(normalise(name) for name in names + [chunk.title] * titles):
            if name:
                places.setdefault(name, []).append(place)
    shared = {}
    for name, where in places.items():
        for pair in combinations(where, 2):
            shared.setdefault(pair, []).append(name)
    return {pair: tuple(shared[pair]) for pair in sorted(shared)}


def passage_graph(chunks, extraction, threshold=0, titles=True, normalise=normalise_phrase):
    """A node for each chunk, named by its id, and an edge between two that share more than
    `threshold` entities.

    The survey gives no threshold; 0, one shared entity, is what KGP's code does. The survey's Table
    2 gives this graph no
    attribute but the chunk: what two chunks share is asked of `shared_entities`.

    Source: Survey, Sec. 4 (graphs)
    """
    shared = shared_entities(chunks, extraction, titles, normalise)
    nodes = tuple(Node(chunk.id, "chunk", chunks=(place,)) for place, chunk in enumerate(chunks))
    edges = tuple(
        Edge(i, j, chunks=(i, j)) for (i, j), names in shared.items() if len(names) > threshold
    )
    return Graph("passage", extraction.source, nodes, edges, tuple(chunks))
