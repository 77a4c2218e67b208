"""GraphRAG's packing rules against the worked examples, and the promise that no window is exceeded
and nothing is lost silently.
"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minirag.algorithms.report_elements import first_edges, prefix, prioritise, substitute
from minirag.methods.graphrag.map_reduce import pack

EDGES = [("e1", "A", "B"), ("e2", "B", "C"), ("e3", "C", "D"), ("e4", "B", "D"), ("e5", "D", "E")]
DEGREE = {"A": 1, "B": 3, "C": 2, "D": 3, "E": 1}


@pytest.mark.paper("GraphRAG", "sec-2.5-leaf")
def test_leaf_elements_come_by_combined_degree():
    """WE-G1."""
    assert [name for _, name in prioritise(EDGES, DEGREE)] == [
        "B",
        "D",
        "e4",
        "C",
        "e2",
        "e3",
        "A",
        "e1",
        "E",
        "e5",
    ]


def test_claims_come_with_their_nodes_and_lonely_nodes_last():
    order = prioritise(
        EDGES[:1], {**DEGREE, "Z": 0}, claims={"B": ["k1", "k2"], "Z": ["k3"]}, alone=["Z"]
    )
    assert order == [
        ("node", "A"),
        ("node", "B"),
        ("claim", "k1"),
        ("claim", "k2"),
        ("edge", "e1"),
        ("node", "Z"),
        ("claim", "k3"),
    ]


def test_the_released_code_keeps_one_edge_a_node():
    """WE-G1 under G2: the most prominent edge vanishes."""
    assert [edge for edge, *_ in first_edges(EDGES)] == ["e1", "e2", "e3", "e5"]


@pytest.mark.paper("GraphRAG", "sec-2.5-higher")
def test_substitution_goes_from_the_largest_sub_community():
    """WE-G2."""
    children = [(70, 20), (50, 15), (30, 10)]
    assert substitute(children, 150) == ([], [0, 1, 2], [])
    assert substitute(children, 100) == ([0], [1, 2], [])
    assert substitute(children, 99) == ([0, 1], [2], [])
    assert substitute(children, 40) == ([0, 1], [], [2])


def test_windows_are_closed_only_when_the_next_item_overflows():
    """WE-G3."""
    assert pack([50, 30, 60, 20, 90], 100, header=10) == ([[0, 1], [2, 3], [4]], [])
    assert pack([50, 91, 30], 100, header=10) == ([[0, 2]], [1])


def test_the_reduce_window_stops_at_the_first_overflow():
    """WE-G4: the last answer would fit, and is not taken."""
    assert prefix([40, 50, 20, 10], 100) == 2


SIZES = st.lists(st.integers(0, 120), max_size=30)


@given(SIZES, st.integers(1, 150), st.integers(0, 20))
def test_no_window_is_exceeded_and_nothing_is_lost(sizes, limit, header):
    windows, too_large = pack(sizes, limit, header)
    assert all(window and header + sum(sizes[i] for i in window) <= limit for window in windows)
    assert sorted([i for window in windows for i in window] + too_large) == list(range(len(sizes)))
    assert all(header + sizes[i] > limit for i in too_large)
    for first, second in itertools.pairwise(windows):
        assert header + sum(sizes[i] for i in first) + sizes[second[0]] > limit


@given(
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 40)), max_size=12), st.integers(0, 200)
)
def test_substitution_fits_and_accounts_for_every_sub_community(children, limit):
    replaced, kept, dropped = substitute(children, limit)
    assert sorted(replaced + kept + dropped) == list(range(len(children)))
    assert sum(children[i][1] for i in replaced) + sum(children[i][0] for i in kept) <= limit
    assert not (kept and dropped)
