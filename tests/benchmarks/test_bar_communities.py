"""A graph of 100,000 nodes and 300,000 edges, divided and with every report context, in a minute and 3 GiB."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
MEASURE = "import json, bench_communities; print(json.dumps(bench_communities.measure(100_000, 300_000)))"


def test_a_large_graph_takes_under_a_minute():
    run = subprocess.run([sys.executable, "-c", MEASURE], cwd=Path(__file__).parent, capture_output=True, text=True)  # a process of its own, for its memory
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["communities"] + found["contexts"] < 60 and found["GiB"] < 3, found
