"""The prize-collecting Steiner tree's cost, held as ratios of one run."""

import pytest
from benchmarks import bench_steiner as bench

pytestmark = pytest.mark.slow


def test_ten_times_the_edges_cost_about_ten_times_as_much():
    (_, _, few, tree, fast, _), (_, _, many, _, slow, _) = bench.bench_growth()
    assert many == 10 * few and tree > 1_000
    assert slow <= 25 * fast  # linear would be 10, quadratic 100


def test_waking_a_hub_again_does_not_cost_its_degree_again():
    (_, _, few, _, fast, _), (_, _, many, _, slow, _) = bench.bench_hub()
    assert many == 10 * few
    assert slow <= 25 * fast


def test_a_question_costs_a_few_spanning_trees():
    """A graph of WebQSP's average size; the spanning tree is networkx's, a sort and a union-find in
    plain Python too.
    """
    _, _, _, tree, took, spanning = bench.bench_question()
    assert tree > 3
    assert took <= 10 * spanning
