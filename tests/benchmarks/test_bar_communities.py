"""100,000 nodes and 300,000 edges: against graspologic-native and leidenalg, and how time grows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


def measured(expression):
    """The value of `expression` over `bench_communities`, `b`, in a process of its own."""
    code = f"import json, bench_communities as b; print(json.dumps({expression}))"
    run = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def found():
    return measured("[b.measure(10_000, 30_000), b.measure(100_000, 300_000)]")


def test_a_large_graph_takes_under_3_gib(found):
    assert found[1]["GiB"] < 3, found[1]


def test_ten_times_the_graph_costs_about_ten_times_as_much(found):
    small, large = (one["communities"] + one["contexts"] for one in found)
    assert large < 12 * small, found


def test_the_hierarchy_takes_at_most_twice_the_time_of_graspologic_native():
    pytest.importorskip("graspologic_native", reason="pip install minirag-kit[test]")
    seconds = measured("b.against_graspologic(100_000, 300_000)")
    assert seconds["ours"] < 2 * seconds["graspologic-native"], seconds


def test_no_level_has_a_lower_modularity_than_with_leidenalg():
    ours, theirs = measured("b.modularities(100_000, 300_000, ['leiden', 'leidenalg'])")
    assert len(ours) == len(theirs) == 4
    assert all(one >= other for one, other in zip(ours, theirs)), (ours, theirs)
