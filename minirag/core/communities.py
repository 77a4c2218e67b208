"""Communities of a graph at every level, each with the elements that lie inside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import networkx as nx

from ..algorithms.communities import modularity
from .graph import Graph


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

    @classmethod
    def of(
        cls,
        graph: Graph,
        items: Sequence[Community],
        levels: Sequence[Sequence[int]],
        source: str = "",
    ) -> "Communities":
        """The division whose `items` have members and parents: each gets the relations inside it,
        the claims about its members, and its children.
        """
        edges: list[list[int]] = [[] for _ in items]
        claims: list[list[int]] = [[] for _ in items]
        children: list[list[int]] = [[] for _ in items]
        for depth, level in enumerate(levels):
            home = {node: p for p in level if items[p].level == depth for node in items[p].members}
            for place, edge in enumerate(graph.edges):
                inside = home.get(edge.source)
                joins = edge.kind == "relation" and inside == home.get(edge.target)
                if inside is not None and joins:
                    edges[inside].append(place)
            for place, claim in enumerate(graph.claims):
                if claim.subject in home:
                    claims[home[claim.subject]].append(place)
        for place, item in enumerate(items):
            if item.parent is not None:
                children[item.parent].append(place)
        whole = tuple(
            replace(item, edges=tuple(e), claims=tuple(c), children=tuple(below))
            for item, e, c, below in zip(items, edges, claims, children)
        )
        return cls(graph, whole, tuple(map(tuple, levels)), source)

    def __repr__(self) -> str:
        sizes = ", ".join(f"C{k}: {len(level)}" for k, level in enumerate(self.levels))
        return f"Communities by {self.source}: {sizes}, of {len(self.graph.nodes)} nodes"

    @property
    def deepest(self) -> int:
        return len(self.levels) - 1

    def at(self, level: int, union: bool = False) -> tuple[int, ...]:
        """Positions of the communities of a level. A level deeper than any that exists is the
        deepest, projected down.

        union: every community down to this level instead, parents beside their children, as
        GraphRAG's released code reads a level.

        Source: GraphRAG, Sec. 3.3 (sec-3.3)
        """
        level = max(0, min(level, self.deepest))
        if union:
            return tuple(place for place, item in enumerate(self.items) if item.level <= level)
        return self.levels[level]

    def partition(self, level: int) -> list[set[int]]:
        """The level as sets of node positions that cover every node: a node outside of all
        communities is alone.
        """
        found = [set(self.items[place].members) for place in self.at(level)]
        covered = set[int]().union(*found)
        return found + [{node} for node in range(len(self.graph.nodes)) if node not in covered]

    def modularity(self, level: int = 0) -> float:
        """Newman's modularity of a level on the weighted graph, nodes without a community counted
        as alone.
        """
        return modularity(weighted_network(self.graph), self.partition(level))

    @cached_property
    def homes(self) -> dict[int, list[int]]:
        """Node position -> positions of the communities that hold it, coarsest first."""
        homes: dict[int, list[int]] = {}
        for place, community in enumerate(self.items):
            for node in community.members:
                homes.setdefault(node, []).append(place)
        return homes

    def names(self, place: int) -> frozenset[str]:
        """The names of a community's members."""
        return frozenset(self.graph.nodes[i].name for i in self.items[place].members)

    def ancestor(self, place: int, steps: int) -> int:
        """The community `steps` levels above, or the root above it."""
        parent = self.items[place].parent
        return place if steps <= 0 or parent is None else self.ancestor(parent, steps - 1)


def weighted_network(graph: Graph, reversed_edges: Literal["add", "last"] = "add") -> nx.Graph:
    """The undirected weighted network of a graph's relations, nodes as positions.

    reversed_edges: "add" the weights of a relation and its reverse, or keep the "last" one only, as
    GraphRAG's released code does.

    Source: GraphRAG, Sec. 2.4 (sec-2.4)
    """
    directed: dict[tuple[int, int], float] = {}
    for edge in graph.edges:
        if edge.kind == "relation" and edge.source != edge.target:
            ends = edge.source, edge.target
            directed[ends] = directed.get(ends, 0.0) + edge.weight
    summed: dict[tuple[int, int], float] = {}
    for (source, target), weight in directed.items():
        pair = min(source, target), max(source, target)
        summed[pair] = weight + (summed.get(pair, 0.0) if reversed_edges == "add" else 0.0)
    network = nx.empty_graph(len(graph.nodes))
    network.add_weighted_edges_from((u, v, weight) for (u, v), weight in summed.items())
    return network
