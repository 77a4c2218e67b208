"""GraphRAG's Figure 2 with readers that are known: what its count measures, and what it does
not.
"""

import pytest

import minirag
from minirag.core.corpus import Document
from minirag.evaluate.metrics import load_expected
from minirag.graphs.elements import TiringReader, entity_references, one_document

SIZES = (600, 1200, 2400)


@pytest.fixture(scope="module")
def llm():
    return minirag.load_llm("offline")


@pytest.fixture(scope="module")
def professors():
    return [one_document(minirag.load_corpus("professors"))]


def test_a_rule_finds_the_same_names_at_every_size_but_more_references_in_small_chunks(
    llm, professors
):
    found = {size: entity_references(professors, llm, size) for size in SIZES}
    assert found[600]["references"] > found[1200]["references"] > found[2400]["references"]
    assert (
        max(row["distinct"] for row in found.values())
        - min(row["distinct"] for row in found.values())
        <= 1
    )
    once = entity_references(professors, llm, 10**6)
    assert once["chunks"] == 1 and once["references"] == once["distinct"]


@pytest.mark.paper("GraphRAG", "fig-2")
def test_gleaning_a_rule_that_missed_nothing_adds_nothing(llm, professors):
    assert entity_references(professors, llm, 600, gleanings=2) == entity_references(
        professors, llm, 600
    )


def test_a_reader_that_tires_loses_names_in_long_chunks_and_gleaning_brings_them_back(
    llm, professors
):
    tired = TiringReader(llm, limit=12)
    found = {
        (size, g): entity_references(professors, tired, size, gleanings=g)
        for size in SIZES
        for g in (0, 3)
    }
    assert (
        found[600, 0]["distinct"]
        > 1.5 * found[1200, 0]["distinct"]
        > 2 * found[2400, 0]["distinct"]
    )
    assert found[600, 0]["references"] <= 12 * found[600, 0]["chunks"]
    assert all(found[size, 3]["distinct"] > found[size, 0]["distinct"] for size in SIZES)
    assert found[600, 3]["distinct"] == entity_references(professors, llm, 600)["distinct"]
    assert not tired.is_model and "not a language model" in tired.name


@pytest.mark.slow
@pytest.mark.needs("dulce", "musique_train")
def test_the_stored_numbers_of_the_rule_on_real_text(llm):
    from minirag.corpora.datasets import load_dataset
    from minirag.corpora.fetching import fetch

    text = (fetch("dulce") / "Operation Dulce v2 1 1.md").read_text(encoding="utf-8")
    documents = {
        "dulce": Document("dulce", text),
        "musique_train": one_document(load_dataset("musique_train")),
    }
    for name, rows in load_expected("chunk_size")["rule"].items():
        corpus, _, without = name.partition(", ")
        for size, stored in rows.items():
            assert (
                entity_references([documents[corpus]], llm, size, 0 if without else 100) == stored
            ), (name, size)


@pytest.mark.paper("GraphRAG", "fig-2")
@pytest.mark.needs("dulce")
def test_the_stored_numbers_of_gpt4_on_dulce():
    from minirag.corpora.fetching import fetch
    from minirag.corpora.microsoft_index import read_microsoft

    graph = read_microsoft(fetch("dulce") / "dataset.zip").graph
    stored = load_expected("chunk_size")["gpt4"]["dulce"]
    places = reading_order(
        graph.chunks, (fetch("dulce") / "Operation Dulce v2 1 1.md").read_text(encoding="utf-8")
    )
    counted = {
        600 * units: sum(
            len({places[chunk] // units for chunk in node.chunks}) for node in graph.nodes
        )
        for units in (1, 2, 4)
    }
    assert counted == stored and len(graph.nodes) == 89 and len(graph.chunks) == 50


def reading_order(chunks, text):
    """Position of a unit -> its rank in the text; a table's order need not be the story's."""
    starts = [text.find(chunk.text[20:90]) for chunk in chunks]
    assert -1 not in starts and len(set(starts)) == len(starts)
    ranked = sorted(range(len(chunks)), key=starts.__getitem__)
    return {place: rank for rank, place in enumerate(ranked)}
