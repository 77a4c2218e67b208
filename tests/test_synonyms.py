"""Synonymy pairs: the blockwise version returns what the readable one does."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms.synonyms import synonymy_pairs
from minirag.algorithms.vectors import normalize

from .by_hand import synonymy_pairs_by_hand


def phrases(n, d=6, seed=0, dtype=np.float64):
    return normalize(np.random.default_rng(seed).normal(size=(n, d)).astype(dtype))


@pytest.mark.paper("Wang", "hippo-synonymy")
@given(
    n=st.integers(0, 40),
    seed=st.integers(0, 999),
    threshold=st.sampled_from([-1.1, 0.0, 0.5, 0.8]),
    most=st.sampled_from([0, 1, 3, 100, None]),
    block=st.sampled_from([1, 7, 2048]),
)
@settings(max_examples=80, deadline=None)
def test_by_hand_and_by_blocks_agree(n, seed, threshold, most, block):
    many = phrases(n, seed=seed)
    expected = synonymy_pairs_by_hand(many, threshold, most)
    i, j, score = synonymy_pairs(many, threshold, most, block)
    assert list(zip(i.tolist(), j.tolist())) == [(a, b) for a, b, _ in expected]
    assert score == pytest.approx([value for _, _, value in expected], abs=1e-12)


@pytest.mark.paper("Wang", "hippo-synonymy")
def test_the_threshold_itself_counts_unless_strict():
    half = np.array([[1, 0], [0.5, 0.75**0.5], [0, 1]])
    assert len(synonymy_pairs(half, 0.5)[0]) == len(synonymy_pairs_by_hand(half, 0.5)) == 4
    assert (
        len(synonymy_pairs(half, 0.5, strict=True)[0])
        == len(synonymy_pairs_by_hand(half, 0.5, strict=True))
        == 2
    )


def test_the_cut_is_one_sided():
    """Everybody's best neighbour is the hub, but the hub keeps one only: pairs then exist in one
    direction.
    """
    hub = normalize(np.array([[1, 0, 0, 0], [1, 0.1, 0, 0], [1, 0, 0.2, 0], [1, 0, 0, 0.3]]))
    i, j, _ = synonymy_pairs(hub, 0.5, max_neighbours=1)
    assert list(zip(i.tolist(), j.tolist())) == [(0, 1), (1, 0), (2, 0), (3, 0)]


def test_scores_are_symmetric_and_do_not_depend_on_the_block():
    many = phrases(700, 48, dtype=np.float32)
    one, other = synonymy_pairs(many, 0.2, None, 64), synonymy_pairs(many, 0.2, None, 1000)
    assert all((a == b).all() for a, b in zip(one, other))
    scores = dict(zip(zip(one[0].tolist(), one[1].tolist()), one[2].tolist()))
    assert len(scores) > 1000 and all(scores[j, i] == score for (i, j), score in scores.items())


def test_memory_grows_with_the_block_only():
    many = phrases(6000, 16, dtype=np.float32)
    tracemalloc.start()
    synonymy_pairs(many, 0.9, block=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 4 / 8  # a full matrix of float32 scores is 144 MB
