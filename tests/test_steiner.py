"""The prize-collecting Steiner tree against all trees of small graphs, a plain exact version of
itself, and recorded answers of pcst_fast.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

import json
import random
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms.steiner import prize_collecting_steiner_tree

RECORDED = json.loads(
    (Path(__file__).parent / "recorded" / "pcst_fast.json").read_text(encoding="utf-8")
)["cases"]
TIED = [case for case in RECORDED if len(case["answers"]) > 1]


def random_graph(seed, most=10, ties=False):
    """Node count, edges (with parallel ones and loops), costs and prizes; with `ties` all numbers
    are from a handful of halves.
    """
    rng = random.Random(seed)
    count = rng.randint(1, most)
    edges = [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(0, 2 * count))]
    scale = rng.choice([0.4, 1, 2])
    costs = [rng.choice([0, 0.5, 1, 2]) if ties else rng.random() for _ in edges]
    prizes = [
        rng.choice([0, 0, 0.5, 1, 2]) if ties else scale * rng.random() * rng.choice([0, 1])
        for _ in range(count)
    ]
    return count, edges, costs, prizes


def objective(nodes, edges, costs, prizes):
    """The cost of a tree's edges plus the prizes of the nodes it misses; smaller is better."""
    missed = [prize for node, prize in enumerate(prizes) if node not in set(nodes)]
    return float(sum(costs[edge] for edge in edges) + sum(missed))


def least_objective(count, edges, costs, prizes):
    """The least cost + missed prizes: for every set of nodes that hangs together, its cheapest
    spanning tree.
    """
    cheapest, best = sorted(range(len(edges)), key=lambda edge: costs[edge]), float("inf")
    for chosen in range(1, 1 << count):
        part, missing, cost = list(range(count)), chosen.bit_count() - 1, 0.0
        for edge in cheapest:
            if not missing:
                break
            u, v = edges[edge]
            if chosen >> u & 1 and chosen >> v & 1 and part[u] != part[v]:
                gone, cost, missing = part[u], cost + costs[edge], missing - 1
                part = [part[v] if name == gone else name for name in part]
        if not missing:
            best = min(
                best, cost + sum(prizes[node] for node in range(count) if not chosen >> node & 1)
            )
    return best


def assert_tree(nodes, tree, edges):
    assert nodes == sorted(set(nodes)) and tree == sorted(set(tree)) and len(tree) == len(nodes) - 1
    reached = {nodes[0]}
    for _ in tree:
        reached |= {end for edge in tree if reached & set(edges[edge]) for end in edges[edge]}
    assert reached == set(nodes)


@pytest.mark.paper("Survey", "op-subgraph")
@pytest.mark.parametrize("ties", [False, True])
def test_the_promise_against_all_trees_of_500_graphs(ties):
    """cost + 2 * missed <= 2 * OPT."""
    best_missed = 0
    for seed in range(250):
        graph = random_graph(f"{seed} False", ties=ties)
        _, edges, costs, prizes = graph
        optimum = least_objective(*graph)
        nodes, tree = prize_collecting_steiner_tree(*graph)
        assert_tree(nodes, tree, edges)
        value = objective(nodes, tree, costs, prizes)
        missed = sum(prizes) - sum(prizes[node] for node in nodes)
        assert optimum - 1e-9 <= value and value + missed <= 2 * optimum + 1e-9
        best_missed += value > optimum + 1e-9
    assert best_missed  # it is an approximation: not all answers are the best ones


def test_the_factor_is_two_and_not_less():
    """Two nodes are enough to come close to 2, where 2 - 1/(n-1) would be 1: that factor does not
    hold for one unrooted growth.
    """
    prizes, costs = [1, 1], [2 - 2**-20]
    found = prize_collecting_steiner_tree(2, [(0, 1)], costs, prizes)
    assert found == ([0, 1], [0])
    assert objective(*found, costs, prizes) > 1.999 * least_objective(2, [(0, 1)], costs, prizes)


def plain_growth(count, edges, costs, prizes):
    """The growth as one would do it by hand, in fractions: at each moment look at all clusters and
    all edges. Returns sets, not positions.
    """
    costs, left = (
        [Fraction(cost) for cost in costs],
        {frozenset([node]): Fraction(prize) for node, prize in enumerate(prizes)},
    )
    born = {cluster: order for order, cluster in enumerate(left)}
    reach, growing = [Fraction(0)] * count, set(left)
    went_idle, tree = [], []

    def around(node):
        return next(cluster for cluster in left if node in cluster)

    while len(growing) > 1:
        waits = [(left[cluster], 0, born[cluster], cluster) for cluster in growing]
        for edge, (u, v) in enumerate(edges):
            sides = (around(u) in growing) + (around(v) in growing)
            if around(u) != around(v) and sides:
                waits.append(((costs[edge] - reach[u] - reach[v]) / sides, 1, edge, None))
        wait, kind, edge, cluster = min(waits, key=lambda event: event[:3])
        for grown in growing:
            left[grown] -= wait
            for node in grown:
                reach[node] += wait
        if kind == 0:
            growing.remove(cluster)
            went_idle.append(cluster)
        else:
            one, other = (around(end) for end in edges[edge])
            new = one | other
            left[new], born[new] = left.pop(one) + left.pop(other), len(born)
            growing -= {one, other}
            growing.add(new)
            tree.append(edge)
    return next(iter(growing)), tree, went_idle


def plain_pruning(last, tree, went_idle, edges):
    """Take off, as long as there is one, a set that went idle and that a single edge holds."""
    nodes, tree = set(last), {edge for edge in tree if edges[edge][0] in last}
    changed = True
    while changed:
        changed = False
        for idle in went_idle:
            border = [edge for edge in tree if len(idle & set(edges[edge])) == 1]
            if len(border) == 1 and nodes - idle:
                nodes -= idle
                tree = {edge for edge in tree if set(edges[edge]) <= nodes}
                changed = True
    return sorted(nodes), sorted(tree)


def test_the_same_tree_as_the_plain_exact_growth_ties_included():
    for seed in range(400):
        count, edges, costs, prizes = random_graph(seed, most=12, ties=seed % 4 > 0)
        last, tree, went_idle = plain_growth(count, edges, costs, prizes)
        assert prize_collecting_steiner_tree(count, edges, costs, prizes) == plain_pruning(
            last, tree, went_idle, edges
        ), seed


def solved(case):
    return prize_collecting_steiner_tree(
        case["count"], case["edges"], case["costs"], case["prizes"]
    )


@cache
def recorded_objectives(name):
    [case] = [case for case in RECORDED if case["name"] == name]
    return [objective(*answer, case["costs"], case["prizes"]) for answer in case["answers"]]


def test_the_same_nodes_and_edges_as_pcst_fast_where_nothing_ties():
    """Random graphs, trees with chords and grids; and G-Retriever's instances."""
    untied = [case for case in RECORDED if len(case["answers"]) == 1]
    assert len(untied) >= 59
    for case in untied:
        assert list(solved(case)) == case["answers"][0], case["name"]


def test_the_same_objective_as_pcst_fast_where_moments_tie():
    """G-Retriever's whole prizes and its single price make many moments equal, and pcst_fast's tree
    then depends on how the nodes are numbered. Ours has the objective of one of its trees; in all
    but one recorded case they all have the same.
    """
    assert len(TIED) >= 10
    for case in TIED:
        recorded = recorded_objectives(case["name"])
        assert (
            min(
                abs(objective(*solved(case), case["costs"], case["prizes"]) - value)
                for value in recorded
            )
            < 1e-9
        ), case["name"]
    apart = [case["name"] for case in TIED if np.ptp(recorded_objectives(case["name"])) > 1e-9]
    assert apart == ["example C, chain of 8"]


def test_most_trees_on_tied_instances_are_among_those_of_pcst_fast():
    """Not all need be: 41 runs do not list every tree."""
    assert sum(list(solved(case)) in case["answers"] for case in TIED) >= 0.9 * len(TIED)


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    node = st.integers(0, count - 1)
    number = st.one_of(
        st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.floats(0, 1e6, allow_subnormal=False)
    )
    edges = draw(st.lists(st.tuples(node, node), max_size=30))
    return (
        count,
        edges,
        draw(st.lists(number, min_size=len(edges), max_size=len(edges))),
        draw(st.lists(number, min_size=count, max_size=count)),
    )


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_always_a_tree_and_never_twice_as_bad_as_a_single_node(graph):
    """No better bound by a single node holds: the chain of seven in G-Retriever's tests is worse
    than its first node.
    """
    _, edges, costs, prizes = graph
    nodes, tree = prize_collecting_steiner_tree(*graph)
    assert_tree(nodes, tree, edges)
    assert prize_collecting_steiner_tree(*graph) == (nodes, tree)
    alone = sum(prizes) - max(prizes)
    assert objective(nodes, tree, costs, prizes) <= 2 * alone + 1e-9 * sum(prizes)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.sampled_from([2.0**-30, 2.0**40]))
def test_the_unit_of_prices_does_not_matter(graph, unit):
    count, edges, costs, prizes = graph
    scaled = prize_collecting_steiner_tree(
        count, edges, np.array(costs) * unit, np.array(prizes) * unit
    )
    assert scaled == prize_collecting_steiner_tree(*graph)


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_loops_and_dearer_parallel_edges_change_nothing(graph):
    count, edges, costs, prizes = graph
    more = edges + [(node, node) for node in range(count)] + [(v, u) for u, v in edges]
    dearer = costs + [0.0] * count + [cost + 1 for cost in costs]
    assert prize_collecting_steiner_tree(
        count, more, dearer, prizes
    ) == prize_collecting_steiner_tree(*graph)


def test_pruning_keeps_what_lies_on_the_way():
    """Node 1 has no prize but leads from 0 to 2; node 3 went idle and leads nowhere."""
    edges, costs, prizes = [(0, 1), (1, 2), (1, 3)], [1, 1, 1], [5, 0, 5, 0.25]
    assert prize_collecting_steiner_tree(4, edges, costs, prizes) == ([0, 1, 2], [0, 1])


@pytest.mark.parametrize(
    "count, edges, costs, prizes, expected",
    [
        (0, [], [], [], ([], [])),
        (1, [], [], [0], ([0], [])),
        (3, [], [], [1, 3, 2], ([1], [])),
        (3, [(0, 1), (1, 2)], [1, 1], [0, 0, 0], ([2], [])),
        (2, [(0, 1)], [0], [0, 0], ([1], [])),
        (2, [(0, 1)], [1], [0.4, 0.4], ([1], [])),
        (4, [(0, 1), (2, 3)], [1, 1], [2, 2.5, 3, 1], ([0, 1], [0])),
        (3, [(0, 1), (1, 2)], [0, 0], [1, 0, 1], ([0, 1, 2], [0, 1])),
    ],
    ids=[
        "empty",
        "one node",
        "no edges",
        "no prizes",
        "nothing to pay or win",
        "equal prizes too far apart",
        "two parts",
        "edges for nothing",
    ],
)
def test_small_and_odd_graphs(count, edges, costs, prizes, expected):
    assert (
        prize_collecting_steiner_tree(count, np.array(edges).reshape(-1, 2), costs, prizes)
        == expected
    )


@pytest.mark.parametrize(
    "change, said",
    [
        ({"costs": [-1]}, "cost 0 is -1.0"),
        ({"prizes": [1, -0.5]}, "prize 1 is -0.5"),
        ({"costs": [float("nan")]}, "cost 0 is nan"),
        ({"prizes": [float("inf"), 0]}, "prize 0 is inf"),
        ({"edges": [(0, 2)]}, "edge 0 is"),
        ({"edges": [(-1, 0)]}, "edge 0 is"),
        ({"costs": [1, 1]}, "2 costs and 2 prizes for 1 edges and 2 nodes"),
    ],
)
def test_what_is_wrong_is_named(change, said):
    with pytest.raises(ValueError, match=said):
        prize_collecting_steiner_tree(
            **({"count": 2, "edges": [(0, 1)], "costs": [1], "prizes": [1, 1]} | change)
        )
