"""Flow-based pruning beside enumeration, held as ratios and counts of one run."""

import pytest
from benchmarks import bench_flow as bench

pytestmark = pytest.mark.slow


def test_pruning_is_a_hundred_times_faster_and_still_finds_paths():
    for row in bench.bench_pruning():
        assert row["paths"] >= bench.TOP_K and row["connected"] >= bench.TOP_K and not row["pruned"]
        assert row["passed on"] <= row["by a start"] <= row["bound"]
        assert row["faster"] >= 100


def test_cost_does_not_grow_with_the_graph():
    rows = bench.bench_growth()
    assert all(row["paths"] == bench.TOP_K for row in rows)
    assert max(row["ms"] for row in rows) <= 4 * min(row["ms"] for row in rows)
    assert max(row["visited"] for row in rows) <= 2 * min(row["visited"] for row in rows)


def test_adjacency_lists_and_networkx_give_the_same_paths():
    assert bench.same_as_networkx()
