"""Hierarchies are partitions all the way down, Leiden's communities hang together, modularity is
networkx's.
"""

import random
import subprocess
import sys
from itertools import pairwise

import igraph
import networkx as nx
import pytest

from minirag.algorithms.communities import hierarchy, modularity


def random_graph(number):
    graph = nx.gnm_random_graph(10 + number % 60, 3 * (number % 40), seed=number)
    for place, (u, v) in enumerate(graph.edges):
        graph[u][v]["weight"] = 1 + place % 4
    graph.add_nodes_from(f"alone {i}" for i in range(number % 4))
    return graph


@pytest.mark.paper("GraphRAG", "sec-2.4")
@pytest.mark.paper("Wang", "def-7")
@pytest.mark.parametrize("method", ["leiden", "leidenalg", "louvain"])
def test_every_level_is_a_partition_that_refines_the_one_above(method):
    for number in range(200 if method == "leiden" else 40):
        graph = random_graph(number)
        levels = hierarchy(graph, method=method, max_size=5)
        for level in levels:
            assert sum(map(len, level)) == len(graph) and set().union(*level) == set(graph)
        for above, below in pairwise(levels):
            assert len(below) > len(above)
            assert all(any(members <= whole for whole in above) for members in below)
        if method != "louvain":
            assert all(
                nx.is_connected(graph.subgraph(members)) for level in levels for members in level
            )


def test_modularity_is_networkx_s():
    for number in range(1, 60):
        graph = random_graph(number)
        if graph.number_of_edges():
            for level in hierarchy(graph, max_size=4):
                assert modularity(graph, level) == pytest.approx(
                    nx.community.modularity(graph, level), abs=1e-12
                )


@pytest.mark.paper("GraphRAG", "sec-2.4")
@pytest.mark.parametrize("method", ["leiden", "leidenalg"])
def test_leiden_finds_the_best_known_partition_of_a_known_graph(method):
    club = nx.Graph(list(nx.karate_club_graph().edges))
    assert modularity(club, hierarchy(club, method)[0]) == pytest.approx(0.4198, abs=1e-4)


def test_each_community_is_divided_as_well_as_if_it_were_alone():
    """All communities go to igraph in one call; leidenalg gets each root as a graph of its own."""
    together = alone = 0.0
    for number in range(4):
        graph = nx.gnm_random_graph(300, 1500, seed=number)
        top, below = hierarchy(graph)[:2]
        for root in (root for root in top if len(root) > 10):
            own = graph.subgraph(root)
            together += modularity(own, [part for part in below if part <= root])
            alone += modularity(own, hierarchy(own, "leidenalg")[0])
    assert together > alone > 0


def test_the_seed_decides_and_the_generators_of_others_are_left_alone():
    graph = nx.gnm_random_graph(80, 200, seed=1)
    levels = hierarchy(graph, seed=1)
    drawn = []
    for state in (5, 5):
        random.seed(state)
        assert hierarchy(graph, seed=1) == levels
        drawn.append((random.random(), igraph.Graph.Erdos_Renyi(30, m=40).get_edgelist()))
    assert drawn[0] == drawn[1]
    assert hierarchy(graph, seed=2) != levels


def test_another_process_finds_the_same():
    """Other hashes of strings, so another order of their sets."""
    code = (
        "import networkx as nx; from minirag.algorithms.communities import hierarchy; graph "
        "= nx.relabel_nodes(nx.gnm_random_graph(80, 200, seed=1), str); found = "
        "[sorted(map(sorted, level)) for level in hierarchy(graph, seed=4)]"
    )
    here = {}
    exec(code, here)
    run = [sys.executable, "-c", code + "; print(found)"]
    there = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert there.strip() == str(here["found"])


def test_same_seed_same_levels_whatever_the_edge_order():
    graph = random_graph(57)
    again = nx.Graph()
    again.add_nodes_from(graph)
    again.add_weighted_edges_from(
        (v, u, w) for u, v, w in reversed(list(graph.edges(data="weight")))
    )
    assert hierarchy(graph, seed=3) == hierarchy(again, seed=3)


def test_parallel_and_reversed_edges_add_up():
    directed = nx.MultiDiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    simple = nx.Graph()
    simple.add_weighted_edges_from([("a", "b", 2), ("b", "c", 1)])
    for partition in ([{"a", "b"}, {"c"}], [{"a"}, {"b", "c"}]):
        assert modularity(directed, partition) == pytest.approx(modularity(simple, partition))


def test_small_communities_are_not_split_and_cliques_cannot_be():
    clique = nx.complete_graph(20)
    assert hierarchy(clique, max_size=5) == [[set(range(20))]]
    assert len(hierarchy(nx.empty_graph(3))[0]) == 3


def test_largest_component_only_leaves_the_others_out():
    graph = nx.Graph([(1, 2), (2, 3), (4, 5)])
    assert set().union(*hierarchy(graph, largest_component_only=True)[0]) == {1, 2, 3}


def test_bad_graphs_are_named():
    with pytest.raises(ValueError, match="no nodes"):
        hierarchy(nx.Graph())
    with pytest.raises(ValueError, match="negative"):
        hierarchy(nx.Graph([(1, 2, {"weight": -1})]))
    with pytest.raises(ValueError, match="not negative"):
        hierarchy(nx.Graph([(1, 2, {"weight": float("nan")})]))
    with pytest.raises(ValueError, match="leiden, leidenalg, louvain"):
        hierarchy(nx.path_graph(3), method="girvan")
