"""The speeds that the kit promises, as ratios measured in one run."""

import pytest
from benchmarks import bench_algorithms as bench

pytestmark = pytest.mark.slow


def test_pagerank_keeps_up_with_igraph():
    rows, same = bench.bench_pagerank()
    (_, one, theirs), _, (_, batched, _) = rows
    assert one <= 1.2 * theirs
    assert batched <= theirs / 4
    assert same == 100


def test_bm25_is_twenty_times_faster_than_rank_bm25():
    [(_, ours, theirs)], apart = bench.bench_bm25()
    assert ours <= theirs / 20
    assert apart < 1e-6


def test_synonymy_takes_seconds():
    [(_, pairs, product), (_, search, plain)] = bench.bench_vectors()
    assert pairs <= 3 * product  # the products themselves are the least it can cost
    assert search <= plain
