"""G-Retriever's prizes, virtual nodes and subgraph, and the operator that makes them from vectors.

Source: GRAG, Sec. 5.1; Survey, Sec. 6.1 (op-subgraph)
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms.ego_graphs import TextualGraph
from minirag.algorithms.steiner import prize_collecting_steiner_tree
from minirag.core.errors import MiniragError
from minirag.index.ego_graphs import EgoIndex
from minirag.methods.g_retriever import RetrieverOptions
from minirag.operators import node, question, relationship
from minirag.operators.subgraph import shared_prizes, steiner, with_virtual_nodes

from .small import TableEncoder


def steps_of(asked, index, **options):
    """Nodes, edges and tree of the question `asked`, a text."""
    chosen, vector = RetrieverOptions(**options), question.vector([asked], index.encoder)
    nodes = node.vdb(vector, index.node_index, chosen.k)
    edges = relationship.vdb(vector, index.edge_index, chosen.k_e)
    return *nodes, *edges, *steiner(nodes, edges, index, chosen.k_e, chosen.edge_cost)


def searched(nodes, edges, ends, **options):
    """The steps for a graph whose nodes and edges have these cosines with the question."""
    texts = {f"node {i}": cosine for i, cosine in enumerate(nodes)}
    texts |= {f"edge {i}": cosine for i, cosine in enumerate(edges)}
    table = {text: [cosine, (1 - cosine**2) ** 0.5] for text, cosine in texts.items()}
    relations = tuple((head, f"edge {i}", tail) for i, (head, tail) in enumerate(ends))
    graph = TextualGraph(tuple(f"node {i}" for i in range(len(nodes))), relations)
    index = EgoIndex.build(graph, TableEncoder(table | {"?": [1, 0]}, dimensions=2), hops=0)
    return steps_of("?", index, **options)


def retrieve_subgraph(nodes, edges, ends, k=3, k_e=5, edge_cost=0.5):
    """Sorted positions of nodes and edges."""
    *_, tree = searched(nodes, edges, ends, k=k, k_e=k_e, edge_cost=edge_cost)
    return list(tree.nodes), list(tree.edges)


def node_prizes(nodes, k):
    return searched(nodes, [], [], k=k)[-1].node_prizes


def chain(count):
    return [(node, node + 1) for node in range(count - 1)]


def test_example_a_a_chain_of_four():
    """A prize below the price makes an edge cheaper, one above it a virtual node."""
    nodes, edges = [0.9, 0.3, 0.1, 0.8], [0.9, 0.5, 0.1]
    assert node_prizes(nodes, 3).tolist() == [3, 1, 0, 2]
    assert shared_prizes(edges, 1).tolist() == [1, 0, 0]
    ends, costs, prizes, plain, virtual = with_virtual_nodes(
        chain(4), node_prizes(nodes, 3), shared_prizes(edges, 1), 0.5
    )
    assert (ends, costs) == ([(1, 2), (2, 3), (0, 4), (4, 1)], [0.5, 0.5, 0, 0])
    assert (prizes.tolist(), plain, virtual) == ([3, 1, 0, 2, 0.5], [1, 2], [0])
    assert retrieve_subgraph(nodes, edges, chain(4), k=3, k_e=1) == ([0, 1, 2, 3], [0, 1, 2])


def test_example_b_ties_share_a_prize():
    assert shared_prizes([0.9, 0.8, 0.8, 0.7], 3) == pytest.approx([3, 1, 1, 0.99])
    prizes = shared_prizes([0.9, 0.8, 0.8, 0.7], 3)
    _, costs, *_ = with_virtual_nodes(chain(5), np.zeros(5), prizes, 0.5)
    assert costs[:2] == [0, 0]  # all four exceed 0.5: no plain edges


@pytest.mark.parametrize(
    "count, expected, value", [(7, (list(range(7)), list(range(6))), 1.0), (8, ([0], []), 2.0)]
)
def test_example_c_a_chain_as_long_as_the_prizes_reach(count, expected, value):
    """Seven nodes are all taken, though the first alone collects 2.0 net: a factor of 2 on costs
    and missed prizes promises no more. Eight are not.
    """
    nodes, edges = [0.9] + [0.1] * (count - 2) + [0.8], [0.1] * (count - 2) + [0.9]
    assert retrieve_subgraph(nodes, edges, chain(count), k=2, k_e=1) == expected
    ends, costs, prizes, *_ = with_virtual_nodes(
        chain(count), node_prizes(nodes, 2), shared_prizes(edges, 1), 0.5
    )
    nodes, tree = prize_collecting_steiner_tree(len(prizes), ends, costs, prizes)
    collected = sum(prizes[node] for node in nodes) - sum(costs[edge] for edge in tree)
    assert collected == pytest.approx(value)


def test_the_price_is_lowered_until_an_edge_is_worth_more():
    """Ten equal edges share a prize of 1: 0.1 each, so the price is 0.0995 and not 0.5, and each
    becomes a virtual node.
    """
    prizes = shared_prizes([0.5] * 10, 1)
    assert prizes == pytest.approx([0.1] * 10)
    *_, all_prizes, plain, virtual = with_virtual_nodes(chain(11), np.zeros(11), prizes, 0.5)
    assert (plain, virtual) == ([], list(range(10))) and all_prizes[11:] == pytest.approx(
        [0.0005] * 10
    )
    assert retrieve_subgraph([0] * 11, [0.5] * 10, chain(11), k=0, k_e=1) == (
        list(range(11)),
        list(range(10)),
    )
    assert with_virtual_nodes(chain(11), np.zeros(11), np.zeros(10), 0.5)[1] == [0.5] * 10


def test_a_value_of_zero_or_below_still_ranks():
    assert shared_prizes([0.5, 0.0, 0.0, -0.2], 2) == pytest.approx([2, 0.5, 0.5, 0])
    assert shared_prizes([-0.5, -0.1], 2).tolist() == [1, 2]
    assert shared_prizes([0.0, -0.0], 5).tolist() == [0.5, 0.5]


def test_equal_nodes_are_taken_by_position():
    assert node_prizes([0.5, 0.9, 0.5, 0.5], 3).tolist() == [2, 3, 1, 0]
    assert node_prizes([0.2, 0.1], 5).tolist() == [2, 1]


def released_edge_prizes(similarities, k_e):
    """Step by step, with one pass over the edges a value."""
    values = sorted(set(similarities), reverse=True)[:k_e]
    prizes, last = [0.0] * len(similarities), len(values)
    for rank, value in enumerate(values):
        same = [edge for edge, similarity in enumerate(similarities) if similarity == value]
        prize = min((len(values) - rank) / len(same), last)
        for edge in same:
            prizes[edge] = prize
        last = prize * 0.99
    return prizes


@given(st.lists(st.sampled_from([0.9, 0.8, 0.5, 0.1, 0.0, -0.3]), max_size=20), st.integers(0, 8))
def test_edge_prizes_rank_by_rank(similarities, k_e):
    prizes = shared_prizes(similarities, k_e)
    assert prizes.tolist() == pytest.approx(released_edge_prizes(similarities, k_e))
    assert [prize for _, prize in sorted(zip(similarities, prizes.tolist()))] == sorted(
        prizes.tolist()
    )
    assert np.count_nonzero(prizes) == sum(
        similarity in sorted(set(similarities), reverse=True)[:k_e] for similarity in similarities
    )


@st.composite
def asked(draw):
    count = draw(st.integers(1, 12))
    node, cosine = st.integers(0, count - 1), st.sampled_from([0.9, 0.7, 0.5, 0.2, 0.0])
    edges = draw(st.lists(st.tuples(node, node), max_size=25))
    return [draw(cosine) for _ in range(count)], [draw(cosine) for _ in edges], edges


@settings(max_examples=200, deadline=None)
@given(asked(), st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 0.3, 0.5, 2]))
def test_the_subgraph_hangs_together_and_holds_both_ends_of_its_edges(case, k, k_e, edge_cost):
    nodes, edges = retrieve_subgraph(*case, k, k_e, edge_cost)
    ends = case[2]
    assert (
        {end for edge in edges for end in ends[edge]} <= set(nodes)
        and nodes == sorted(set(nodes))
        and edges == sorted(set(edges))
    )
    reached = set(nodes[:1])
    for _ in nodes:
        reached |= {end for edge in edges if reached & set(ends[edge]) for end in ends[edge]}
    assert reached == set(nodes) or not ends


def test_a_graph_without_edges_is_returned_whole():
    assert retrieve_subgraph([0.5, 0.1], [], []) == ([0, 1], [])
    assert retrieve_subgraph([], [], []) == ([], [])


def test_only_a_virtual_node_is_collected_and_brings_both_ends():
    """The edge's prize is out of reach of the nodes' prizes and larger: the tree is the virtual
    node alone, its ends come with the edge.
    """
    assert retrieve_subgraph([0.0] * 5, [0.1, 0.1, 0.1, 0.9], chain(5), k=0, k_e=1) == ([3, 4], [3])


@pytest.mark.parametrize(
    "given_, wrong",
    [
        (([0.1], [], []), {"k": -1}),
        (([0.1], [], []), {"k_e": -1}),
        (([0.1], [], []), {"edge_cost": -0.5}),
    ],
)
def test_what_is_wrong_is_named(given_, wrong):
    [(name, value)] = wrong.items()
    with pytest.raises(MiniragError, match=f"{name}={value}"):
        retrieve_subgraph(*given_, **wrong)


@pytest.mark.parametrize("cosines", [([float("nan")], [0.5]), ([0.1], [float("inf")])])
def test_what_is_no_number_is_refused(cosines):
    """Before anything is ranked."""
    with pytest.raises(ValueError, match="no number|NaN"):
        retrieve_subgraph(*cosines, [(0, 0)])


def test_the_searches_feed_the_tree():
    """What the two searches found, and nothing else, has a prize, by its rank; of edges that tie
    either all are found or none.
    """
    nodes, edges = [0.2, 0.9, 0.5, 0.5], [0.3, 0.8, 0.3, 0.1]
    found, relations, tree = searched(nodes, edges, [(0, 1), (1, 2), (2, 3), (3, 0)], k=2, k_e=2)
    assert [row.index for row in found.nodes] == [1, 2]
    assert tree.node_prizes.tolist() == [0, 2, 1, 0]
    assert [row.index for row in relations.edges] == [1, 0, 2]
    assert tree.edge_prizes.tolist() == [0.5, 2, 0.5, 0]


GRAPH = TextualGraph(
    ("tide", "mill", "river", "baker"), ((0, "turns", 1), (2, "feeds", 1), (1, "sells to", 3))
)
TABLE = {
    "tide": [1, 0, 0],
    "mill": [0.8, 0.6, 0],
    "river": [0, 1, 0],
    "baker": [0, 0, 1],
    "turns": [0.9, 0.1, 0],
    "feeds": [0, 1, 0],
    "sells to": [0, 0, 1],
    "What does the tide turn?": [1, 0.2, 0],
}


@pytest.mark.paper("Survey", "op-subgraph")
def test_the_operator_says_what_it_prized_and_what_the_tree_took():
    index = EgoIndex.build(GRAPH, TableEncoder(TABLE, dimensions=8), hops=1)
    *_, step = steps_of("What does the tide turn?", index, k=2, k_e=1)
    assert (step.nodes, step.edges) == ((0, 1), (0,))
    assert step.items == (("tide", 2.0), ("mill", 1.0), ("tide -> turns -> mill", 1.0))
    assert (
        step.summary
        == "prizes on 2 nodes and 1 edge; the tree that collects them has 2 nodes and 1 edge"
    )
    assert step.node_prizes.tolist() == [2, 1, 0, 0] and step.edge_prizes.tolist() == [1, 0, 0]
    assert GRAPH.subgraph(step.nodes, step.edges).lines() == ["tide -> turns -> mill"]


def test_edges_with_one_text_tie_whatever_stands_between_them():
    rng = np.random.default_rng(0)
    words = {word: rng.normal(size=48) for word in ("is a", "part of", "near", "question")}
    texts = [("is a", "part of", "near")[i % 3] for i in range(97)]
    graph = TextualGraph(
        tuple(f"n{i}" for i in range(98)), tuple((i, text, i + 1) for i, text in enumerate(texts))
    )
    index = EgoIndex.build(graph, TableEncoder(words, 300), hops=0)
    *_, step = steps_of("question", index, k=0, k_e=3)
    assert all(
        len({prize for prize, text in zip(step.edge_prizes, texts) if text == word}) == 1
        for word in words
        if word != "question"
    )


def test_graphs_without_edges_or_nodes():
    encoder = TableEncoder(TABLE, dimensions=8)
    *_, step = steps_of("tide", EgoIndex.build(TextualGraph(("tide", "mill")), encoder, hops=1))
    assert (step.nodes, step.edges) == ((0, 1), ())
    *_, step = steps_of("tide", EgoIndex.build(TextualGraph(()), encoder, hops=1))
    assert (step.nodes, step.edges, step.items) == ((), (), ())
