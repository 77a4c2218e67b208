"""Personalised PageRank: by hand, by matrix and by igraph, on worked examples and random graphs."""

import warnings
from fractions import Fraction

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms import pagerank
from minirag.algorithms.pagerank import personalized_pagerank, transition_matrix

from .by_hand import personalized_pagerank_by_hand

PATH = sp.csr_array(nx.to_scipy_sparse_array(nx.path_graph(4), dtype=float))
FIRST = np.array([1.0, 0, 0, 0])


def random_graph(seed):
    """An adjacency with self-loops left out, some nodes isolated, half of the graphs directed; and
    its igraph twin.
    """
    rng = np.random.default_rng(seed)
    nodes, directed = int(rng.integers(2, 300)), seed % 2 == 1
    ends = rng.integers(0, max(2, int(nodes * 0.8)), (2, int(rng.integers(1, 3 * nodes))))
    ends = ends[:, ends[0] != ends[1]]
    weights = rng.random(ends.shape[1]) * 5 + 0.01
    adjacency = sp.coo_array((weights, tuple(ends)), shape=(nodes, nodes)).tocsr()
    graph = igraph.Graph(nodes, edges=ends.T.tolist(), directed=directed)
    reset = np.where(rng.random(nodes) < 0.2, rng.random(nodes), 0)
    reset[rng.integers(nodes)] = 1
    return (
        adjacency if directed else adjacency + adjacency.T,
        graph,
        weights.tolist(),
        reset,
        directed,
    )


@pytest.mark.paper("Wang", "hippo-ppr")
def test_walking_a_path_of_four():  # WE-H1
    assert personalized_pagerank(PATH, FIRST, 0.5) * 45 == pytest.approx([26, 14, 4, 1])
    assert personalized_pagerank(PATH, FIRST, 0.1) * 4389 == pytest.approx([3970, 398, 20, 1])
    assert personalized_pagerank(PATH * 2, FIRST, 0.5) == pytest.approx(
        personalized_pagerank(PATH, FIRST, 0.5), abs=1e-15
    )


@pytest.mark.paper("Wang", "hippo-specificity")
def test_node_specificity_flips_the_order():  # WE-H2
    adjacency = sp.coo_array(
        (np.ones(3), ([0, 1, 0], [1, 2, 3])), shape=(4, 4)
    ).tocsr()  # S-T, T-A, S-B
    adjacency = adjacency + adjacency.T
    passages = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    plain, specific = np.array([1, 0, 1, 0]), np.array([0.5, 0, 1, 0])
    assert personalized_pagerank(adjacency, plain) * 45 == pytest.approx([16, 11, 14, 4])
    assert passages @ personalized_pagerank(adjacency, plain) == pytest.approx(
        [3 / 5, 5 / 9, 4 / 9]
    )
    assert personalized_pagerank(adjacency, specific) * 15 == pytest.approx([4, 4, 6, 1])
    assert passages @ personalized_pagerank(adjacency, specific) * 15 == pytest.approx([8, 10, 5])


@pytest.mark.paper("Wang", "hippo-ppr")
@pytest.mark.parametrize("seed", range(200))
def test_equal_to_igraph(seed):
    adjacency, graph, weights, reset, directed = random_graph(seed)
    damping = (0.1, 0.5, 0.85)[seed % 3]
    expected = graph.personalized_pagerank(
        damping=damping,
        reset=reset.tolist(),
        weights=weights,
        directed=directed,
        implementation="prpack",
    )
    assert np.abs(personalized_pagerank(adjacency, reset, damping) - expected).max() < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_by_hand_and_by_matrix_agree(seed):
    adjacency, _, _, reset, directed = random_graph(seed)
    graph = nx.from_scipy_sparse_array(adjacency, create_using=nx.DiGraph if directed else nx.Graph)
    slow = personalized_pagerank_by_hand(graph, dict(enumerate(reset)), damping=0.5, steps=60)
    assert (
        np.abs(
            personalized_pagerank(adjacency, reset) - [slow[node] for node in range(len(reset))]
        ).sum()
        < 1e-9
    )


def test_by_hand_adds_parallel_edges_and_needs_no_integer_nodes():
    graph = nx.MultiGraph([("a", "b"), ("a", "b"), ("a", "c")])
    found = personalized_pagerank_by_hand(graph, {"a": 5}, damping=0.5)
    assert found["b"] == pytest.approx(2 * found["c"])
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.paper("Wang", "hippo-ppr")
@given(seed=st.integers(0, 10_000), damping=st.sampled_from([0.0, 0.3, 0.5, 0.9]))
@settings(max_examples=40, deadline=None)
def test_solves_the_equation_that_defines_it(seed, damping):
    adjacency, _, _, reset, _ = random_graph(seed)
    found = personalized_pagerank(adjacency, reset, damping, tol=1e-12)
    dense, home = adjacency.toarray(), reset / reset.sum()
    out = dense.sum(axis=1)
    steps = np.where(
        out[:, None] > 0, dense / np.where(out > 0, out, 1)[:, None], home
    )  # a dangling node jumps home
    assert np.abs(damping * found @ steps + (1 - damping) * home - found).sum() < 1e-11
    assert found.sum() == pytest.approx(1) and (found >= 0).all()


def test_a_batch_is_its_columns():
    adjacency, _, _, reset, _ = random_graph(4)
    batch = np.random.default_rng(0).random((len(reset), 2 * pagerank.COLUMNS_AT_ONCE + 3))
    found = personalized_pagerank(adjacency, batch)
    assert found.shape == batch.shape
    for column in range(batch.shape[1]):
        assert found[:, column] == pytest.approx(
            personalized_pagerank(adjacency, batch[:, column]), abs=1e-10
        )
    assert personalized_pagerank(adjacency, batch[:, :0]).shape == (len(reset), 0)


def test_prepared_transitions_give_the_same_and_leave_the_graph_alone():
    adjacency, _, _, reset, _ = random_graph(6)
    before = adjacency.copy()
    walk = transition_matrix(adjacency)
    assert walk.symmetric and not transition_matrix(random_graph(7)[0]).symmetric
    assert (personalized_pagerank(walk, reset) == personalized_pagerank(adjacency, reset)).all()
    assert (adjacency != before).nnz == 0


def test_float32_stays_float32_and_close():
    adjacency, _, _, reset, _ = random_graph(8)
    found = personalized_pagerank(adjacency, reset.astype(np.float32))
    assert found.dtype == np.float32
    assert np.abs(found - personalized_pagerank(adjacency, reset)).sum() < 1e-5
    assert personalized_pagerank(adjacency, (reset > 0).astype(int)).dtype == np.float64


def test_the_fast_iteration_is_used_only_where_it_holds():
    """The directed circle has eigenvalues all around the unit circle: a method for real ones would
    not converge.
    """
    circle = sp.csr_array(
        nx.to_scipy_sparse_array(nx.cycle_graph(5, create_using=nx.DiGraph), dtype=float)
    )
    expected = np.array([0.9**step for step in range(5)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = personalized_pagerank(circle, np.eye(5)[0], damping=0.9)
    assert found == pytest.approx(expected / expected.sum(), abs=1e-9)


def test_error_stays_below_the_stated_bound():
    exact = np.array([float(Fraction(x, 45)) for x in (26, 14, 4, 1)])
    for tol in (1e-2, 1e-4, 1e-6):
        assert np.abs(personalized_pagerank(PATH, FIRST, tol=tol) - exact).sum() <= 2 * tol / (
            1 - 0.5
        )


def test_too_few_steps_are_reported():
    with pytest.warns(RuntimeWarning, match="max_iter"):
        found = personalized_pagerank(PATH, FIRST, max_iter=2)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "adjacency, reset, damping, message",
    [
        (PATH, [1, 0, 0], 0.5, "shape"),
        (PATH, np.ones((4, 2, 2)), 0.5, "shape"),
        (PATH, [1, -1, 1, 1], 0.5, "not negative"),
        (PATH, [1, np.nan, 0, 0], 0.5, "finite"),
        (PATH, [0, 0, 0, 0], 0.5, "mass"),
        (PATH, [[1, 0]] * 4, 0.5, "mass"),
        (PATH, FIRST, 1.0, "damping"),
        (PATH, FIRST, -0.1, "damping"),
        (PATH, FIRST, float("nan"), "damping"),
        (-PATH, FIRST, 0.5, "weights"),
        (PATH * np.nan, FIRST, 0.5, "weights"),
        (PATH[:3], FIRST, 0.5, "square"),
    ],
)
def test_nonsense_is_refused(adjacency, reset, damping, message):
    with pytest.raises(ValueError, match=message):
        personalized_pagerank(adjacency, np.asarray(reset), damping)


def test_an_isolated_seed_keeps_everything():
    adjacency = sp.block_diag([PATH, sp.csr_array((1, 1))]).tocsr()
    assert personalized_pagerank(adjacency, np.array([0, 0, 0, 0, 2.0])) == pytest.approx(
        [0, 0, 0, 0, 1]
    )
