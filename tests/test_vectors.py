"""Exact search: the fast version returns what the readable one does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms import vectors
from minirag.algorithms.vectors import normalize, top_k

from .by_hand import top_k_by_hand


def unit_vectors(n, d, seed=0):
    return normalize(np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32))


@pytest.mark.paper("Wang", "def-4")
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 9),
    q=st.integers(1, 5),
    k=st.integers(1, 70),
    seed=st.integers(0, 999),
)
@settings(max_examples=60, deadline=None)
def test_by_hand_and_by_blocks_agree(n, d, q, k, seed):
    many, queries = (
        unit_vectors(n, d, seed).astype(float),
        unit_vectors(q, d, seed + 1).astype(float),
    )
    indices, scores = top_k(queries, many, k)
    assert indices.shape == scores.shape == (q, min(k, n))
    for query, found, score in zip(queries, indices, scores):
        expected = top_k_by_hand(query, many, k)
        assert score == pytest.approx([value for _, value in expected], abs=1e-6)
        cosines = dict(top_k_by_hand(query, many, n))
        assert [cosines[i] for i in found] == pytest.approx(
            [value for _, value in expected], abs=1e-6
        )


def test_equals_come_by_index_wherever_they_stand():
    many = unit_vectors(3000, 37)
    twins = [5, 700, 701, 1999, 2999]
    many[twins] = many[5]
    for block in ([5], [5, 9], list(range(5, 300))):
        indices, scores = top_k(many[block], many, 8)
        assert indices[0, :5].tolist() == twins and len(set(scores[0, :5].tolist())) == 1
    assert top_k(many[:1] * 0, many, 4)[0].tolist() == [[0, 1, 2, 3]]
    assert top_k(many[5], many, 2)[0].tolist() == [[5, 700]]


def test_two_spellings_that_an_encoder_reads_alike_come_by_index_whatever_its_rounding():
    # "wąsik" and "wasik" have the same tokens, so the same vector but for the seventh decimal
    many = unit_vectors(40, 384)
    many[[3, 30, 31]] = many[3] * np.array([[1 - 1.2e-7], [1], [1 - 6e-8]], np.float32)
    query = many[30]
    assert top_k(query, many, 1)[0].tolist() == [[3]]
    assert top_k(query, many, 3)[0].tolist() == [[3, 30, 31]]
    many[3] *= np.float32(1 - 1e-6)  # a real difference
    assert top_k(query, many, 3)[0].tolist() == [[30, 31, 3]]


def test_a_query_gets_the_same_answer_alone_and_in_a_crowd(monkeypatch):
    many = unit_vectors(500, 384)
    together = top_k(many[:50], many, 10)
    monkeypatch.setattr(vectors, "QUERIES_AT_ONCE", 7)
    for part, whole in zip(top_k(many[:50], many, 10), together):
        assert (part == whole).all()
    alone = [top_k(query, many, 10) for query in many[:50]]
    assert (np.concatenate([indices for indices, _ in alone]) == together[0]).all()
    assert (np.concatenate([scores for _, scores in alone]) == together[1]).all()


def test_unnormalised_vectors_are_ranked_by_dot_product():
    many = np.random.default_rng(0).normal(size=(400, 6)) * np.geomspace(1e-3, 1e6, 400)[:, None]
    query = np.random.default_rng(1).normal(size=6) * 1e4
    expected = np.argsort(-(many @ query), kind="stable")[:20]
    assert top_k(query, many, 20)[0][0].tolist() == expected.tolist()


def test_normalize():
    assert normalize(np.array([[3, 4], [0, 0]])).tolist() == [[0.6, 0.8], [0, 0]]
    assert normalize(np.ones((2, 2), dtype=np.float32)).dtype == np.float32
    assert np.linalg.norm(normalize([1e-30, 1e-30])) == pytest.approx(1)


def test_edges_and_errors():
    many = unit_vectors(4, 3)
    assert top_k(many[:0], many, 2)[0].shape == (0, 2)
    assert top_k(many, many[:0], 2)[0].shape == (4, 0)
    assert top_k(many, many, 2)[1].dtype == np.float32
    with pytest.raises(ValueError, match="same d"):
        top_k(many[:, :2], many, 1)
    with pytest.raises(ValueError, match="k must"):
        top_k(many, many, 0)
    with pytest.raises(ValueError, match="NaN"):
        top_k(many * np.nan, many, 1)
