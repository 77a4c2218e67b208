"""Textual graphs of a few nodes, with element texts of exactly the size a test wants."""

from minirag.core.communities import Communities, Community
from minirag.core.corpus import Chunk
from minirag.core.graph import Claim, Edge, Graph, Node


def WORDS(text):
    return len(text.split())


def graph_of(edges, nodes=None, claims=(), description="", weights=None):
    """`edges`: "A-B" strings. Every node is named by its letters; `description` is that of every
    element.
    """
    pairs = [tuple(edge.split("-")) for edge in edges]
    names = list(dict.fromkeys([*(nodes or ()), *(name for pair in pairs for name in pair)]))
    place = {name: i for i, name in enumerate(names)}
    rows = tuple(
        Edge(
            place[a],
            place[b],
            description=description,
            weight=(weights or {}).get(f"{a}-{b}", 1.0),
            chunks=(0,),
        )
        for a, b in pairs
    )
    said = tuple(Claim(place[name], type="CLAIM", description=description) for name in claims)
    return Graph(
        "textual knowledge",
        "a test",
        tuple(Node(name, "thing", description, (0,)) for name in names),
        rows,
        (Chunk("p1", "text"),),
        said,
    )


def communities_of(graph, levels):
    """`levels`: lists of lists of strings of one-letter names, coarsest first."""
    items, places, above = [], [], {}
    for depth, sets in enumerate(levels):
        here = []
        for number, names in enumerate(sets):
            members = tuple(sorted(graph.position[name] for name in names))
            parent = above.get(members[0])
            if parent is not None and items[parent].members == members:
                here.append(parent)
            else:
                here.append(len(items))
                items.append(Community(f"{depth}-{number}", depth, members, parent=parent))
        places.append(tuple(here))
        above = {node: place for place in here for node in items[place].members}
    return Communities.of(graph, items, places, "a test")
