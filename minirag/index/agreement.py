"""How good a division is, and how sure: modularity, sizes, and how much two divisions of one graph
agree.
"""

from itertools import combinations
from statistics import mean, median

from .communities import find_communities


def agreement(first, second, level=0):
    """Adjusted mutual information of the same level of two divisions of one graph: 1 where they are
    equal, about 0 where one says nothing of the other.

    Nodes without a community count as alone.
    """
    from sklearn.metrics import adjusted_mutual_info_score

    return float(
        adjusted_mutual_info_score(
            *(_labels(communities, level) for communities in (first, second))
        )
    )


def _labels(communities, level):
    home = {
        node: number
        for number, members in enumerate(communities.partition(level))
        for node in members
    }
    return [home[node] for node in range(len(communities.graph.nodes))]


def stability(graph, seeds=5, level=0, **options):
    """Mean agreement of the divisions that `seeds` different seeds give, pair by pair; options go
    to `find_communities`.

    Source: GraphRAG, Sec. 2.4 (sec-2.4)
    """
    found = [find_communities(graph, seed=seed, **options) for seed in range(seeds)]
    return mean(agreement(one, other, level) for one, other in combinations(found, 2))


def level_table(communities):
    """One row a level: number of communities, their sizes, and modularity.

    Source: GraphRAG, Fig. 3 (fig-3)
    """
    rows = []
    for level, places in enumerate(communities.levels):
        sizes = [len(communities.items[place].members) for place in places]
        row = {
            "level": level,
            "communities": len(sizes),
            "largest": max(sizes),
            "median": median(sizes),
            "alone": sizes.count(1),
        }
        rows.append({**row, "modularity": round(communities.modularity(level), 4)})
    return rows
