"""The passage graph, the tree, and the survey's attribute matrix read off all five graphs."""

import numpy as np
import pytest
from small import TableEncoder, corpus_of, extraction_of

import minirag
from minirag.core.corpus import Extraction
from minirag.core.errors import MiniragError
from minirag.core.graph import Graph
from minirag.graphs import attributes, five_graphs, node_text, passage_graph, shared_entities, tree

# Table 2 of the survey as printed: the graphs that have each attribute.
TABLE_2 = {
    "Original Chunk": {"Tree", "PG"},
    "Entity Name": {"KG", "TKG", "RKG"},
    "Entity Type": {"TKG", "RKG"},
    "Entity Description": {"TKG", "RKG"},
    "Relationship Name": {"KG"},
    "Relationship Keyword": {"RKG"},
    "Relationship Description": {"TKG", "RKG"},
    "Edge Weight": {"KG", "TKG", "RKG"},
}


@pytest.fixture(scope="module")
def llm():
    return minirag.load_llm("offline")


@pytest.mark.paper("Survey", "graphs", "tab-2")
def test_the_matrix_of_our_graphs_is_the_surveys(llm):
    graphs = five_graphs(llm, TableEncoder())
    kinds = ["tree", "passage", "knowledge", "textual knowledge", "rich knowledge"]
    assert [graph.type for graph in graphs] == kinds
    carried = dict(zip(("Tree", "PG", "KG", "TKG", "RKG"), map(attributes, graphs)))
    assert all(list(has) == list(TABLE_2) for has in carried.values())
    matrix = {name: {short for short, has in carried.items() if has[name]} for name in TABLE_2}
    assert matrix == TABLE_2


def test_the_matrix_sees_what_a_graph_carries(llm):
    tree_, passages, knowledge, textual, _ = five_graphs(llm, TableEncoder())
    stripped = Graph(
        textual.type,
        "",
        tuple(type(n)(n.name, chunks=n.chunks) for n in textual.nodes),
        textual.edges,
        textual.chunks,
    )
    assert (
        attributes(textual)["Entity Description"] and not attributes(stripped)["Entity Description"]
    )
    assert {g.type for g in (tree_, passages, knowledge)} == {"tree", "passage", "knowledge"}


def entities(**by_chunk):
    return Extraction("a test", {name: tuple(names) for name, names in by_chunk.items()}, {})


def edges(graph):
    return {(e.source, e.target) for e in graph.edges}


def test_passages_are_joined_by_more_shared_entities_than_the_threshold():
    chunks = corpus_of(("a", ""), ("b", ""), ("c", ""), ("d", "")).chunks
    found = entities(a=["X", "Y", "Z"], b=["x", "y.", "Q"], c=["Q", "Z"], d=["alone"])
    assert shared_entities(chunks, found) == {(0, 1): ("x", "y"), (0, 2): ("z",), (1, 2): ("q",)}
    assert [edges(passage_graph(chunks, found, threshold)) for threshold in (0, 1, 2)] == [
        {(0, 1), (0, 2), (1, 2)},
        {(0, 1)},
        set(),
    ]
    graph = passage_graph(chunks, found)
    assert [node.name for node in graph.nodes] == ["a", "b", "c", "d"] and all(
        node.type == "chunk" for node in graph.nodes
    )


def test_a_title_counts_as_an_entity_unless_told_otherwise():
    chunks = corpus_of(("Selm", "s"), ("b", "t")).chunks
    found = entities(b=["Selm"])
    assert edges(passage_graph(chunks, found)) == {(0, 1)} and not edges(
        passage_graph(chunks, found, titles=False)
    )


def test_passage_graphs_do_not_depend_on_the_order_of_entities():
    corpus, llm = minirag.load_corpus("professors"), minirag.load_llm("offline")
    names = {c.id: llm("passage_entities", title=c.title, text=c.text) for c in corpus.chunks}
    forward, backward = (
        entities(**names),
        entities(**{i: tuple(reversed(found)) for i, found in names.items()}),
    )
    counts = [len(passage_graph(corpus.chunks, forward, t).edges) for t in range(4)]
    assert edges(passage_graph(corpus.chunks, forward, 1)) == edges(
        passage_graph(corpus.chunks, backward, 1)
    )
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def grouped(count, per_group):
    """A corpus whose passages point in `count` directions, and the encoder that knows it."""
    passages = [
        (f"p{g}{i}", f"Here Group {g} says {i}.") for g in range(count) for i in range(per_group)
    ]
    corpus = corpus_of(*passages)
    table = {
        chunk.passage: np.eye(64)[n // per_group] + 0.01 * np.eye(64)[40 + n % 20]
        for n, chunk in enumerate(corpus.chunks)
    }
    return corpus, TableEncoder(table)


def test_clusters_get_a_parent_and_its_chunks_are_the_leaves_below(llm):
    corpus, encoder = grouped(4, 3)
    graph = tree(corpus.chunks, encoder, llm, layers=1, branching=3)
    summaries = [node for node in graph.nodes if node.type == "summary"]
    assert [node.chunks for node in summaries] == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]
    assert summaries[0].name == "summary 1.1" and "Group 0 says" in summaries[0].description
    assert (
        len(graph.edges) == 12
        and node_text(graph.nodes[0], graph.chunks) == "p00\nHere Group 0 says 0."
    )
    deeper = tree(corpus.chunks, encoder, llm, layers=2, branching=4)
    children = [edge.target for edge in deeper.edges]
    assert len(children) == len(set(children)), "every node has one parent at most"
    assert deeper.nodes[-1].name.startswith("summary 2.") and deeper.nodes[-1].chunks == tuple(
        range(12)
    )


def test_clusters_of_one_or_two_wait_for_the_next_layer(llm):
    corpus, encoder = grouped(2, 2)
    assert not tree(corpus.chunks, encoder, llm, layers=1, branching=2).edges
    whole = tree(corpus.chunks, encoder, llm, layers=1, branching=5)
    assert len(whole.edges) == 4
    assert len(tree(corpus_of(("a", "x"), ("b", "y")).chunks, encoder, llm).edges) == 0
    with pytest.raises(MiniragError, match="at least one chunk"):
        tree((), encoder, llm)


def test_every_graph_survives_its_files(tmp_path, llm):
    corpus, encoder = grouped(2, 4)
    for number, graph in enumerate(five_graphs(llm, encoder, corpus.chunks, branching=4)):
        assert Graph.load(graph.save(tmp_path / str(number))) == graph


def test_triples_are_not_needed_for_a_passage_graph():
    assert passage_graph(corpus_of(("a", "x")).chunks, extraction_of({})).edges == ()
