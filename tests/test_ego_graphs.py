"""Ego-graphs: members against networkx, pooling against a loop, the ranking against scikit-learn,
and an index that grows without starting over.
"""

import random

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from minirag.algorithms.ego_graphs import TextualGraph, ego_graph, members, pool, rank_ego_graphs
from minirag.core.errors import MiniragError
from minirag.index.ego_graphs import EgoIndex
from minirag.operators.subgraph import ego_graphs

from .small import TableEncoder

EXAMPLE = TextualGraph(
    tuple("ABCDE"), ((0, "r1", 1), (0, "r2", 2), (1, "r3", 3), (1, "r4", 4), (2, "r5", 3))
)
EMPTY = TextualGraph(())
DIRECTIONS = ("out", "in", "both")


def random_graph(rng, most=12, texts="abcdef"):
    """Loops, copies of edges and nodes without any are all there."""
    count = rng.randint(1, most)
    edges = [
        (rng.randrange(count), rng.choice(texts), rng.randrange(count))
        for _ in range(rng.randint(0, 2 * count))
    ]
    edges += rng.sample(edges, min(2, len(edges)))
    return TextualGraph(tuple(rng.choice(texts) for _ in range(count)), tuple(edges))


def by_networkx(graph, root, hops, direction):
    whole = nx.MultiDiGraph()
    whole.add_nodes_from(range(len(graph.nodes)))
    whole.add_edges_from((head, tail, i) for i, (head, _, tail) in enumerate(graph.edges))
    found = nx.ego_graph(
        whole.reverse() if direction == "in" else whole,
        root,
        radius=hops,
        undirected=direction == "both",
    )
    return set(found.nodes), {key for *_, key in found.edges(keys=True)}


def rows(matrix):
    return [set(matrix[[i]].indices.tolist()) for i in range(matrix.shape[0])]


@pytest.mark.paper("GRAG", "eq-2")
def test_members_of_the_worked_example():
    """GRAG, Eq. 2"""
    nodes, edges = members(EXAMPLE, 1)
    assert rows(nodes) == [{0, 1, 2}, {1, 3, 4}, {2, 3}, {3}, {4}] and rows(edges) == [
        {0, 1},
        {2, 3},
        {4},
        set(),
        set(),
    ]
    assert rows(members(EXAMPLE, 1, "in")[0]) == [{0}, {0, 1}, {0, 2}, {1, 2, 3}, {1, 4}]
    assert rows(members(EXAMPLE, 1, "both")[0])[3] == {1, 2, 3}
    assert rows(members(EXAMPLE, 0)[0]) == [{i} for i in range(5)]
    two, edges = members(EXAMPLE, 2)
    assert rows(two)[0] == set(range(5)) and rows(edges)[0] == set(range(5))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_members_are_those_of_networkx(direction):
    rng = random.Random(1)
    for _ in range(60):
        graph, hops = random_graph(rng), rng.randint(0, 4)
        nodes, edges = members(graph, hops, direction)
        assert set(nodes.data) <= {1.0} and set(edges.data) <= {1.0}
        assert list(zip(rows(nodes), rows(edges))) == [
            by_networkx(graph, root, hops, direction) for root in range(len(graph.nodes))
        ]
        some = rng.choices(range(len(graph.nodes)), k=3)
        assert rows(members(graph, hops, direction, some)[1]) == [
            rows(edges)[root] for root in some
        ]


@pytest.mark.paper("GRAG", "eq-2")
def test_pooling_of_the_worked_example():
    """GRAG, Eq. 2"""
    pair = TextualGraph(("x", "y"), ((0, "to", 1),))
    found = pool([[1, 0], [0, 1]], [[1, 1]], *members(pair, 1))
    assert found.tolist() == [[2 / 3, 2 / 3], [0, 1]]


def test_pooling_is_the_loops_mean():
    rng = random.Random(2)
    for _ in range(40):
        graph = random_graph(rng)
        numbers = np.random.default_rng(len(graph.edges))
        n, e = (
            numbers.normal(size=(len(graph.nodes), 5)),
            numbers.normal(size=(len(graph.edges), 5)),
        )
        nodes, edges = members(graph, 2)
        naive = [
            np.mean([n[i] for i in sorted(some)] + [e[i] for i in sorted(others)], axis=0)
            for some, others in zip(rows(nodes), rows(edges))
        ]
        assert np.allclose(pool(n, e, nodes, edges), naive)


def test_the_smallest_graphs():
    assert [m.shape for m in members(EMPTY, 2)] == [(0, 0), (0, 0)]
    assert pool(np.zeros((0, 3)), np.zeros((0, 3)), *members(EMPTY, 2)).shape == (0, 3)
    assert rank_ego_graphs(np.ones((2, 3)), np.zeros((0, 3)), 4)[0].shape == (2, 0)
    alone = TextualGraph(("A",))
    assert pool([[2.0, 0]], np.zeros((0, 2)), *members(alone, 3)).tolist() == [[2, 0]]
    assert ego_graph(TextualGraph(("A",), ((0, "is", 0),)), 0, 2) == (
        TextualGraph(("A",), ((0, "is", 0),)),
        (0,),
        (0,),
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_ego_graph_and_where_its_parts_come_from(direction):
    rng = random.Random(3)
    for _ in range(60):
        graph, hops = random_graph(rng), rng.randint(0, 3)
        root = rng.randrange(len(graph.nodes))
        ego, nodes, edges = ego_graph(graph, root, hops, direction)
        assert (set(nodes), set(edges)) == by_networkx(graph, root, hops, direction)
        assert (
            nodes[0] == root
            and edges == tuple(sorted(edges))
            and ego == graph.subgraph(nodes, edges)
        )
        whole = nx.DiGraph([(head, tail) for head, _, tail in graph.edges])
        whole.add_nodes_from(range(len(graph.nodes)))
        whole = {"out": whole, "in": whole.reverse(), "both": whole.to_undirected()}[direction]
        walk = nx.bfs_edges(whole, root, depth_limit=hops, sort_neighbors=sorted)
        assert nodes == (root, *(node for _, node in walk))


def test_the_order_of_an_ego_graph():
    graph = TextualGraph(
        tuple("ABCDE"), ((2, "r", 4), (2, "r", 1), (1, "r", 3), (4, "r", 0), (1, "r", 2))
    )
    assert ego_graph(graph, 2, 2)[1] == (2, 1, 4, 3, 0)


@pytest.mark.paper("GRAG", "eq-4")
def test_ranking_is_scikit_learns_cosine():
    """GRAG, Eq. 4"""
    numbers = np.random.default_rng(4)
    questions, pooled = numbers.normal(size=(300, 6)), numbers.normal(size=(40, 6))
    pooled[7] = pooled[3] * 2  # the same direction: a tie
    pooled[9] = 0
    places, cosines = rank_ego_graphs(questions, pooled, 40)
    expected = cosine_similarity(questions, pooled)
    assert np.allclose(cosines, -np.sort(-expected, axis=1)) and np.allclose(
        np.take_along_axis(expected, places, axis=1), cosines
    )
    assert all(list(row).index(3) + 1 == list(row).index(7) for row in places)
    one = rank_ego_graphs(questions[0], pooled, 5)
    assert one[0].tolist() == places[0, :5].tolist() and one[1].tolist() == cosines[0, :5].tolist()
    assert rank_ego_graphs(np.zeros(6), pooled, 3)[0].tolist() == [0, 1, 2]


def test_the_order_of_additions_makes_no_difference():
    """Two ego-graphs with the same texts in another order are a tie, which a last digit must not
    decide. GRAG, Eq. 4
    """
    numbers = np.random.default_rng(5)
    vectors = numbers.normal(size=(30, 8))
    pooled = np.array([sum(vectors[i] for i in numbers.permutation(30)) / 30 for _ in range(20)])
    assert len({row.tobytes() for row in pooled}) > 1
    assert (
        rank_ego_graphs(numbers.normal(size=(50, 8)), pooled, 20)[0].tolist()
        == [list(range(20))] * 50
    )


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="hops=-1"):
        members(EXAMPLE, -1)
    with pytest.raises(ValueError, match="direction='up'"):
        members(EXAMPLE, 1, "up")
    with pytest.raises(ValueError, match="among 5 nodes"):
        members(EXAMPLE, 1, roots=[5])
    with pytest.raises(ValueError, match="root=-1"):
        ego_graph(EXAMPLE, -1, 1)
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        pool(np.zeros((2, 3)), np.zeros((5, 3)), *members(EXAMPLE, 1))
    with pytest.raises(ValueError, match="same d"):
        rank_ego_graphs(np.ones(3), np.ones((2, 4)), 1)
    with pytest.raises(ValueError, match="top"):
        rank_ego_graphs(np.ones(3), np.ones((2, 3)), 0)


class Counting(TableEncoder):
    """Remembers what it was asked to encode, call by call."""

    def __init__(self, *table):
        super().__init__(*table)
        self.calls = []

    def encode(self, texts, kind="passage"):
        self.calls.append((kind, list(texts)))
        return super().encode(texts, kind)


def letters(seed=0):
    numbers = np.random.default_rng(seed)
    return {letter: numbers.normal(size=6) for letter in "abcdefghijklmnop"}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_index_encodes_every_text_once_in_one_call(direction):
    """GRAG, Eq. 2"""
    rng, encoder = random.Random(6), Counting(letters())
    graph = random_graph(rng, 30)
    index = EgoIndex.build(graph, encoder, hops=2, direction=direction)
    [(kind, texts)] = encoder.calls
    assert kind == "passage" and sorted(texts) == sorted(
        {*graph.nodes, *(text for _, text, _ in graph.edges)}
    )
    naive = []
    for root in range(len(graph.nodes)):
        ego, *_ = index.subgraph(root)
        naive.append(
            Counting(letters())
            .encode([*ego.nodes, *(text for _, text, _ in ego.edges)])
            .astype(float)
            .mean(axis=0)
        )
    assert np.allclose(index.pooled, naive)
    assert np.array_equal(index.node_vectors, Counting(letters()).encode(graph.nodes))
    assert np.array_equal(
        index.edge_vectors, Counting(letters()).encode([text for _, text, _ in graph.edges])
    )


def test_an_index_ranks_in_one_call():
    """GRAG, Eq. 3-4"""
    encoder = Counting({**letters(), "near a?": letters()["a"], "near b?": letters()["b"]})
    index = EgoIndex.build(TextualGraph(("a", "b", "c", "a"), ((0, "a", 2),)), encoder, hops=1)
    found = index.rank_many(["near a?", "near b?"], 2)
    assert encoder.calls[1:] == [("query", ["near a?", "near b?"])]
    assert (
        found[0][0] == (3, pytest.approx(1))
        and found[1][0] == (1, pytest.approx(1))
        and found[0][1][0] == 0
    )
    assert (
        index.rank("near a?", 2) == found[0]
        and len(index.rank("near a?", 9)) == 4
        and index.rank_many([], 2) == []
    )
    expected = cosine_similarity(encoder.encode(["near a?"]), index.pooled)[0]
    assert {root: round(cosine, 6) for root, cosine in index.rank("near a?", 4)} == {
        i: round(float(c), 6) for i, c in enumerate(expected)
    }
    assert (
        repr(index)
        == "EgoIndex: 4 ego-graphs of 1 hop (reached from its root), 3 texts in 64 dimensions "
        "by table"
    )
    assert EgoIndex.build(EMPTY, Counting()).rank("near a?", 3) == []


def test_an_index_says_what_it_cannot_do():
    index = EgoIndex.build(EXAMPLE, Counting())
    with pytest.raises(MiniragError, match="direction='up'"):
        EgoIndex.build(EXAMPLE, Counting(), direction="up")
    with pytest.raises(MiniragError, match="from 0 to 4"):
        index.subgraph(5)
    with pytest.raises(MiniragError, match="top=0"):
        index.rank("?", 0)


def test_the_operator_shows_roots_and_what_they_hold_together():
    """GRAG, Eq. 4"""
    encoder = Counting({**letters(), "?": letters()["a"], "!": letters()["d"]})
    graph = TextualGraph(tuple("abcd"), ((0, "a", 1), (1, "e", 2), (3, "d", 3)))
    index = EgoIndex.build(graph, encoder, hops=1)
    first, second = ego_graphs(["?", "!"], index, top=1)
    assert (
        [(root.label, root.index) for root in first.roots] == [("a", 0)]
        and first.nodes == (0, 1)
        and first.edges == (0,)
    )
    assert (
        second.items == (("d", pytest.approx(1)),) and second.nodes == (3,) and second.edges == (2,)
    )
    assert (
        str(second)
        == "ego-graphs: the 1 ego-graph of 1 hop nearest to the question, together 1 node and "
        "1 edge -> d (1.000)"
    )
    [both] = ego_graphs(["?"], index, top=2)
    roots = [root.index for root in both.roots]
    parts = [index.subgraph(root) for root in roots]
    assert set(both.nodes) == {i for _, nodes, _ in parts for i in nodes} and set(both.edges) == {
        i for *_, edges in parts for i in edges
    }
    [nothing] = ego_graphs(["?"], EgoIndex.build(EMPTY, encoder), 3)
    assert (nothing.roots, nothing.nodes, nothing.edges) == ((), (), ())
