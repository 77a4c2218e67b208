"""A graph of 100,000 nodes and 300,000 edges, divided and with every report context, in a minute and 3 GiB; and how the time grows up to there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
MEASURE = "import json, bench_communities as b; print(json.dumps([b.measure(10_000, 30_000), b.measure(100_000, 300_000)]))"


@pytest.fixture(scope="module")
def found():
    run = subprocess.run([sys.executable, "-c", MEASURE], cwd=Path(__file__).parent, capture_output=True, text=True)  # a process of its own, for its memory
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_large_graph_takes_under_a_minute(found):
    large = found[1]
    assert large["communities"] + large["contexts"] < 60 and large["GiB"] < 3, large


def test_ten_times_the_graph_costs_about_ten_times_as_much(found):
    small, large = (one["communities"] + one["contexts"] for one in found)
    assert large < 12 * small, found
