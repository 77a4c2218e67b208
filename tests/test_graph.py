"""Graphs keep what they were built from, and survive a round trip through open files."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.core.errors import MiniragError
from minirag.core.graph import Graph
from minirag.graphs import knowledge_graph, with_synonymy

from .small import TableEncoder, corpus_of, extraction_of

CORPUS = corpus_of(("p1", "one"), ("p2", "two"))
NAMES = st.text(min_size=1, max_size=6)


@given(
    st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=8),
    st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_save_and_load_round_trip(tmp_path_factory, first, second):
    try:
        graph = knowledge_graph(CORPUS.chunks, extraction_of({"p1": first, "p2": second}))
    except MiniragError as error:
        assert "no usable triple" in str(error)
        return
    graph = with_synonymy(graph, TableEncoder().encode([n.name for n in graph.nodes]))
    folder = tmp_path_factory.mktemp("graph")
    assert Graph.load(graph.save(folder)) == graph
    assert len({n.name for n in graph.nodes}) == len(graph.nodes)
    assert all(edge.weight == len(edge.chunks) for edge in graph.edges if edge.kind == "relation")


def small_graph():
    return knowledge_graph(
        CORPUS.chunks,
        extraction_of(
            {"p1": [("Ada", "knows", "Ben")], "p2": [("ada", "knows", "BEN"), ("Ada", "is", "Ada")]}
        ),
    )


def test_repeated_triples_are_one_edge_that_counts():
    graph = small_graph()
    assert [(e.name, e.weight, e.chunks) for e in graph.edges] == [
        ("knows", 2.0, (0, 1)),
        ("is", 1.0, (1,)),
    ]
    assert graph.nodes[0].chunks == (0, 1, 1, 1)


def test_incomplete_folders_are_refused(tmp_path):
    with pytest.raises(MiniragError, match="no saved graph"):
        Graph.load(tmp_path)
    folder = small_graph().save(tmp_path / "g")
    lines = (folder / "edges.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "edges.jsonl").write_text(lines[0] + "\n", encoding="utf-8")
    with pytest.raises(MiniragError, match="incomplete"):
        Graph.load(folder)
    (folder / "edges.jsonl").write_text("{broken\n", encoding="utf-8")
    with pytest.raises(MiniragError, match="line 1"):
        Graph.load(folder)


def test_files_are_plain_json(tmp_path):
    folder = small_graph().save(tmp_path)
    assert json.loads((folder / "graph.json").read_text())["nodes"] == 2
    assert sorted(path.suffix for path in folder.iterdir()) == [
        ".json",
        ".jsonl",
        ".jsonl",
        ".jsonl",
    ]


def test_networkx_view_has_names_and_attributes():
    view = small_graph().to_networkx()
    assert set(view) == {"ada", "ben"} and view.number_of_edges() == 2
    assert view["ada"]["ben"][0]["name"] == "knows"
