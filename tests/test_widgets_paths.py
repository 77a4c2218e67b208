"""The path explorer: its paths and numbers are those of the algorithm, every control moves it, and
hostile names are escaped.
"""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import networkx as nx
import pytest

from minirag.algorithms.flow import flow_paths, resource_flow
from minirag.core.errors import MiniragError
from minirag.widgets import PathExplorer

WORKED = [("S", "A"), ("S", "B"), ("A", "T"), ("A", "C"), ("B", "C"), ("C", "T"), ("C", "D")]


@pytest.fixture
def explorer():
    return PathExplorer(nx.DiGraph(WORKED), ["S", "T", "C"], start="S", end="T")


def test_the_worked_example_is_told(explorer):
    expected = [("SAT", 0.78), ("SACT", 0.68), ("SBCT", 0.68)]
    assert explorer.search[0] == [(tuple(path), pytest.approx(score)) for path, score in expected]
    assert explorer.resource == pytest.approx(
        {"S": 1, "A": 0.4, "B": 0.4, "T": 0.16, "C": 0.48, "D": 0.192}
    )
    assert "0.7800  S > A > T" in explorer.describe() and "C 0.480" in explorer.describe()


@pytest.mark.parametrize(
    "name, value",
    [
        ("start", "C"),
        ("end", "C"),
        ("alpha", 0.5),
        ("threshold", 0.4),
        ("count", 2),
        ("top_k", 1),
        ("directed", False),
    ],
)
def test_every_control_changes_what_is_shown(explorer, name, value):
    panel = explorer.view().children[-1]
    before = panel.value
    explorer.set(name, value)
    assert panel.value != before and explorer.widgets[name].value == value


def test_a_moved_slider_does_what_set_does(explorer):
    explorer.view()
    explorer.widgets["alpha"].value = 1.0
    assert explorer.state["alpha"] == 1.0 and explorer.resource["A"] == 0.5


def test_every_start_pools_all_pairs_and_averages_the_resource():
    graph = nx.DiGraph(WORKED)
    explorer = PathExplorer(graph, ["S", "C", "T"], top_k=15)
    assert explorer.search[0] == flow_paths(graph, ["S", "C", "T"])
    flows = [resource_flow(graph, start) for start in ("S", "C", "T")]
    assert explorer.resource["D"] == pytest.approx(sum(flow.get("D", 0) for flow in flows) / 3)
    assert "pruned at the start: T" in explorer.describe()  # a sink passes nothing on


def test_a_busy_start_is_pruned():
    star = nx.DiGraph([("hub", f"leaf {i}") for i in range(21)])
    explorer = PathExplorer(star, ["hub", "leaf 3"], start="hub")
    assert explorer.search == ([], ["hub"], False) and "no path" in explorer.describe()
    assert explorer.set("threshold", 0.04).search[0] == [
        (("hub", "leaf 3"), pytest.approx(1 + 0.8 / 21))
    ]


def test_paths_over_nodes_that_are_not_drawn_are_told():
    chain = nx.DiGraph([(f"n{i}", f"n{i + 1}") for i in range(8)])
    explorer = PathExplorer(chain, ["n0", "n8"], shown=4)
    assert "1 of them over nodes not drawn" in explorer.figure().caption


def test_names_are_escaped_and_text_is_the_same_every_time():
    evil = nx.DiGraph([("<script>alert('x')</script>", "b")])
    explorer = PathExplorer(evil, list(evil))
    assert "<script>" not in explorer.html()
    ET.fromstring(explorer.figure().svg)
    assert explorer.describe() == PathExplorer(evil, list(evil)).describe()


def test_a_redraw_is_quick():
    graph = nx.gnp_random_graph(180, 0.012, seed=1, directed=True)
    graph = nx.relabel_nodes(graph, {i: f"node {i}" for i in graph})
    explorer = PathExplorer(graph, [f"node {i}" for i in range(12)])
    explorer.view()
    begin = time.perf_counter()
    explorer.set("alpha", 0.7)
    assert time.perf_counter() - begin < 1.0


def test_what_cannot_be_explored_is_refused():
    graph = nx.DiGraph(WORKED)
    with pytest.raises(MiniragError, match="'Z' is no node"):
        PathExplorer(graph, ["S", "Z"])
    with pytest.raises(MiniragError, match="two retrieved nodes"):
        PathExplorer(graph, ["S"])
    with pytest.raises(MiniragError, match="DiGraph"):
        PathExplorer(nx.Graph(WORKED), ["S", "T"])
    with pytest.raises(MiniragError, match="no control"):
        PathExplorer(graph, ["S", "T"]).set("damping", 1)


@pytest.mark.slow
def test_the_figure_does_not_depend_on_hashes():
    """Networkx's own subgraphs keep the order of a set, and so move with PYTHONHASHSEED."""
    script = "import networkx as nx; from minirag.widgets import PathExplorer; "
    script += "g = nx.DiGraph([('S', 'A'), ('S', 'B'), ('A', 'T'), ('B', 'T')])"
    command = [
        sys.executable,
        "-c",
        script + "; print(PathExplorer(g, ['S', 'T', 'A']).figure().svg)",
    ]
    drawn = {
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "127"
    }
    assert len(drawn) == 1
