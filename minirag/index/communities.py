"""The community index: a graph divided at every level, and how good and how sure a division is."""

from collections.abc import Collection, Sequence
from itertools import combinations
from statistics import mean, median
from typing import Any, Literal

from ..algorithms.communities import hierarchy, modularity
from ..core.communities import Communities, Community, weighted_network
from ..core.graph import Graph


def find_communities(
    graph: Graph, method: Literal["leiden", "leidenalg", "louvain"] = "leiden", max_size: int = 10,
    seed: int = 0, resolution: float = 1.0, largest_component_only: bool = False,
    reversed_edges: Literal["add", "last"] = "add", best_of: int = 1,
) -> Communities:  # fmt: skip
    """Divide a graph into communities at every level.

    best_of: try this many seeds from `seed` on and keep the one whose coarsest level has the
    highest modularity. The other arguments are those of `algorithms.communities.hierarchy` and of
    `weighted_network`.

    Source: GraphRAG, Sec. 2.4 (sec-2.4); Survey, Sec. 5 (indices)
    """
    network = weighted_network(graph, reversed_edges)
    tried = [
        hierarchy(network, method, max_size, number, resolution, largest_component_only)
        for number in range(seed, seed + best_of)
    ]
    quality = [modularity(network, levels[0], resolution) for levels in tried if best_of > 1]
    best = quality.index(max(quality)) if quality else 0
    return gather(graph, tried[best], f"{method}, seed {seed + best}")


def gather(
    graph: Graph, levels: Sequence[Sequence[Collection[int]]], source: str = ""
) -> Communities:
    """Communities out of levels of node sets, coarsest first, in which every community lies inside
    one of the level above.

    A set that is equal to its parent is the same community and stands once in `items`.
    """
    items: list[Community] = []
    places: list[list[int]] = []
    above: dict[int, int] = {}
    for depth, sets in enumerate(levels):
        here, new = [], 0
        for members in sets:
            parent = above.get(next(iter(members)))
            if parent is not None and len(items[parent].members) == len(members):
                here.append(parent)
                continue
            here.append(len(items))
            items.append(Community(f"{depth}-{new}", depth, tuple(sorted(members)), parent=parent))
            new += 1
        places.append(here)
        above = {node: place for place in here for node in items[place].members}
    return Communities.of(graph, items, places, source)


def agreement(first: Communities, second: Communities, level: int = 0) -> float:
    """Adjusted mutual information of the same level of two divisions of one graph: 1 where they are
    equal, about 0 where one says nothing of the other.

    Nodes without a community count as alone.
    """
    from sklearn.metrics import adjusted_mutual_info_score

    labels = [_labels(communities.partition(level)) for communities in (first, second)]
    return float(adjusted_mutual_info_score(*labels))


def _labels(parts: Sequence[set[int]]) -> list[int]:
    """The number of its part for every node."""
    home = {node: number for number, members in enumerate(parts) for node in members}
    return [home[node] for node in range(len(home))]


def stability(graph: Graph, seeds: int = 5, level: int = 0, **options: Any) -> float:
    """Mean agreement of the divisions that `seeds` different seeds give, pair by pair; options go
    to `find_communities`.

    Source: GraphRAG, Sec. 2.4 (sec-2.4)
    """
    found = [find_communities(graph, seed=seed, **options) for seed in range(seeds)]
    return mean(agreement(first, second, level) for first, second in combinations(found, 2))


def level_table(communities: Communities) -> list[dict[str, float]]:
    """One row a level: number of communities, their sizes, and modularity.

    Source: GraphRAG, Fig. 3 (fig-3)
    """
    rows = []
    for level, places in enumerate(communities.levels):
        sizes = [len(communities.items[place].members) for place in places]
        row: dict[str, float] = {"level": level, "communities": len(sizes), "largest": max(sizes)}
        row |= {"median": median(sizes), "alone": sizes.count(1)}
        rows.append({**row, "modularity": round(communities.modularity(level), 4)})
    return rows
