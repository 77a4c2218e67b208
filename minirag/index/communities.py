"""The community index: a graph divided at every level, each community with the elements that lie
inside it.
"""

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from ..algorithms.communities import hierarchy, modularity
from ..core.graph import Graph


@dataclass(frozen=True)
class Community:
    """Nodes that belong together. `members`, `edges` and `claims` are positions in the graph;
    `parent` and `children` in `Communities.items`.

    `level` is the first level on which it stands; a community that is not split any more stands on
    all deeper levels too.
    """

    id: str
    level: int
    members: tuple[int, ...]
    edges: tuple[int, ...] = ()
    claims: tuple[int, ...] = ()
    parent: int | None = None
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class Communities:
    """All communities of a graph. `levels[k]` are the positions in `items` that make up level k,
    coarsest level first.
    """

    graph: Graph
    items: tuple[Community, ...]
    levels: tuple[tuple[int, ...], ...]
    source: str = ""

    def __repr__(self):
        return f"Communities by {self.source}: {', '.join(f'C{k}: {len(level)}' for k, level in enumerate(self.levels))}, of {len(self.graph.nodes)} nodes"

    @property
    def deepest(self):
        return len(self.levels) - 1

    def at(self, level, union=False):
        """Positions of the communities of a level. A level deeper than any that exists is the
        deepest, projected down.

        union: every community down to this level instead, parents beside their children, as
        GraphRAG's released code reads a level.

        Source: GraphRAG, Sec. 3.3 (sec-3.3)
        """
        level = max(0, min(level, self.deepest))
        return (
            tuple(i for i, c in enumerate(self.items) if c.level <= level)
            if union
            else self.levels[level]
        )

    def partition(self, level):
        """The level as sets of node positions that cover every node: a node outside of all
        communities is alone.
        """
        found = [set(self.items[i].members) for i in self.at(level)]
        covered = set().union(*found)
        return found + [{i} for i in range(len(self.graph.nodes)) if i not in covered]

    def modularity(self, level=0):
        """Newman's modularity of a level on the weighted graph, nodes without a community counted
        as alone.
        """
        return modularity(self.network, self.partition(level))

    @cached_property
    def network(self):
        return weighted_network(self.graph)

    @cached_property
    def homes(self):
        """Node position -> positions of the communities that hold it, coarsest first."""
        homes = {}
        for place, community in enumerate(self.items):
            for node in community.members:
                homes.setdefault(node, []).append(place)
        return homes

    def ancestor(self, place, steps):
        """The community `steps` levels above, or the root above it."""
        while steps > 0 and self.items[place].parent is not None:
            place, steps = self.items[place].parent, steps - 1
        return place


def weighted_network(graph, reversed_edges="add"):
    """The undirected weighted network of a graph's relations, nodes as positions.

    reversed_edges: "add" the weights of a relation and its reverse, or keep the "last" one only, as
    GraphRAG's released code does.

    Source: GraphRAG, Sec. 2.4 (sec-2.4)
    """
    directed = {}
    for edge in graph.edges:
        if edge.kind == "relation" and edge.source != edge.target:
            directed[edge.source, edge.target] = (
                directed.get((edge.source, edge.target), 0.0) + edge.weight
            )
    summed = {}
    for (source, target), weight in directed.items():
        pair = (source, target) if source < target else (target, source)
        summed[pair] = weight + (summed.get(pair, 0.0) if reversed_edges == "add" else 0.0)
    network = nx.empty_graph(len(graph.nodes))
    network.add_weighted_edges_from((u, v, weight) for (u, v), weight in summed.items())
    return network


def find_communities(
    graph,
    method="leiden",
    max_size=10,
    seed=0,
    resolution=1.0,
    largest_component_only=False,
    reversed_edges="add",
    best_of=1,
):
    """Divide a graph into communities at every level.

    best_of: try this many seeds from `seed` on and keep the one whose coarsest level has the
    highest modularity. The other arguments are those of `algorithms.communities.hierarchy` and of
    `weighted_network`.

    Source: GraphRAG, Sec. 2.4 (sec-2.4); Survey, Sec. 5 (indices)
    """
    network = weighted_network(graph, reversed_edges)
    tried = []
    for number in range(seed, seed + best_of):
        levels = hierarchy(network, method, max_size, number, resolution, largest_component_only)
        tried.append(
            (modularity(network, levels[0], resolution) if best_of > 1 else 0.0, -number, levels)
        )
    _, number, levels = max(tried, key=lambda row: row[:2])
    return gather(graph, levels, f"{method}, seed {-number}")


def gather(graph, levels, source=""):
    """Communities out of levels of node sets, coarsest first, in which every community lies inside
    one of the level above.

    A set that is equal to its parent is the same community and stands once in `items`.
    """
    items, places, above = [], [], {}
    for depth, sets in enumerate(levels):
        here, fresh = [], 0
        for members in sets:
            parent = above.get(next(iter(members)))
            if parent is not None and len(items[parent].members) == len(members):
                here.append(parent)
                continue
            here.append(len(items))
            items.append(
                Community(f"{depth}-{fresh}", depth, tuple(sorted(members)), parent=parent)
            )
            fresh += 1
        places.append(tuple(here))
        above = {node: place for place in here for node in items[place].members}
    return Communities(graph, with_elements(graph, items, places), tuple(places), source)


def with_elements(graph, items, places):
    """The same communities with their inner edges, their members' claims and their children."""
    sources = np.array([e.source for e in graph.edges], dtype=int)
    targets = np.array([e.target for e in graph.edges], dtype=int)
    relation = np.array([e.kind == "relation" for e in graph.edges], dtype=bool)
    subjects = np.array([c.subject for c in graph.claims], dtype=int)
    edges, claims, children = [()] * len(items), [()] * len(items), [[] for _ in items]
    for level in places:
        label = np.full(len(graph.nodes), -1)
        for place in level:
            label[list(items[place].members)] = place
        inside = np.flatnonzero(
            relation & (label[sources] == label[targets]) & (label[sources] >= 0)
        )
        for place, found in _grouped(label[sources[inside]], inside):
            edges[place] = found
        for place, found in _grouped(label[subjects], np.arange(len(subjects))):
            claims[place] = found
    for place, item in enumerate(items):
        if item.parent is not None:
            children[item.parent].append(place)
    rows = zip(items, edges, claims, children)
    return tuple(
        Community(c.id, c.level, c.members, e, k, c.parent, tuple(below)) for c, e, k, below in rows
    )


def _grouped(labels, values):
    """`(label, tuple of values)` of every label but -1, values in their order."""
    order = np.argsort(labels, kind="stable")
    labels, values = labels[order], values[order]
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]]) if len(labels) else []
    for start, end in zip(starts, [*starts[1:], len(labels)]):
        if labels[start] >= 0:
            yield int(labels[start]), tuple(values[start:end].tolist())
