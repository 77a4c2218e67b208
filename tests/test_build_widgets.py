"""The passage graph and chunk size explorers: model, text and picture agree, and corpus text is
escaped.
"""

import time
import xml.etree.ElementTree as ET

import pytest
from small import corpus_of

import minirag
from minirag.core.corpus import Extraction
from minirag.core.errors import MiniragError
from minirag.graphs.elements import TiringReader, one_document
from minirag.viz import draw_graph, draw_panels
from minirag.widgets import ChunkSizeExplorer, PassageGraphExplorer

EVIL = "<script>alert('x')</script>"
CORPUS = corpus_of((EVIL, "a"), ("b", "b"), ("c", "c"))
SHARED = Extraction("a test", {EVIL: ("X", "Y"), "b": ("X", "Y"), "c": ("Y",)}, {})


def test_raising_the_threshold_takes_edges_away():
    explorer = PassageGraphExplorer(CORPUS.chunks, SHARED)
    assert (
        len(explorer.graph.edges) == 3 and "3 edges, 0 of 3 passages alone" in explorer.describe()
    )
    explorer.set("threshold", 1)
    assert (
        len(explorer.graph.edges) == 1
        and "1 edges, 1 of 3 passages alone" in explorer.describe()
        and "x, y" in explorer.describe()
    )
    assert "1 edges; 1 of 3" in explorer.figure().text and EVIL not in explorer.html()
    with pytest.raises(MiniragError, match="threshold"):
        explorer.set("threshold", 9)


def test_nodes_stay_in_place_and_the_view_follows():
    explorer = PassageGraphExplorer(CORPUS.chunks, SHARED)
    view = explorer.view()
    before = explorer.html()
    explorer.widgets["threshold"].value = 2
    assert (
        explorer.state["threshold"] == 2
        and explorer.html() != before
        and view.children[-1].value.count("<svg") == 1
    )


def test_a_title_may_count_as_an_entity():
    mentioned = Extraction("a test", {"c": ("B",)}, {})
    assert "1 edges" in PassageGraphExplorer(CORPUS.chunks, mentioned).describe()
    assert "0 edges" in PassageGraphExplorer(CORPUS.chunks, mentioned, titles=False).describe()


def test_chunk_size_counts_for_every_reader_and_names_them():
    rules = minirag.load_llm("offline")
    explorer = ChunkSizeExplorer(
        [one_document(minirag.load_corpus("professors"))],
        {"rule": rules, EVIL: TiringReader(rules)},
    )
    small = explorer.measured()
    large = explorer.set("size", 2400).measured()
    assert (
        small["rule"]["references"] > large["rule"]["references"]
        and small[EVIL]["distinct"] > large[EVIL]["distinct"]
    )
    assert "rule: 139 references to 120 names in 2 chunks" in explorer.describe()
    assert EVIL not in explorer.html() and "not a language model" in explorer.html()
    started = time.perf_counter()
    slowest = explorer.set("gleanings", 3).measured()
    print(f"slowest setting: {time.perf_counter() - started:.2f} s")
    assert slowest[EVIL]["distinct"] > large[EVIL]["distinct"]


def test_panels_hold_every_figure():
    explorer = PassageGraphExplorer(CORPUS.chunks, SHARED)
    one = draw_graph(explorer.graph, width=376, height=200, title="One")
    both = draw_panels([one, one, one], columns=2, title="All", caption="Three.")
    assert (
        both.scene.width == 2 * 376 + 8
        and both.scene.height > 2 * one.scene.height
        and both.text.count("One") == 3
    )
    assert len(list(ET.fromstring(both.svg).iter())) > 3 * 3
