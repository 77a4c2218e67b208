"""The chunk size explorer: model and text agree, and corpus text is escaped; figures in panels."""

import time
import xml.etree.ElementTree as ET

from small import corpus_of

import minirag
from minirag.core.corpus import Extraction
from minirag.graphs import passage_graph
from minirag.graphs.elements import TiringReader, one_document
from minirag.viz import draw_graph, draw_panels
from minirag.widgets import ChunkSizeExplorer

EVIL = "<script>alert('x')</script>"
CORPUS = corpus_of((EVIL, "a"), ("b", "b"), ("c", "c"))
SHARED = Extraction("a test", {EVIL: ("X", "Y"), "b": ("X", "Y"), "c": ("Y",)}, {})


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
    one = draw_graph(passage_graph(CORPUS.chunks, SHARED), width=376, height=200, title="One")
    both = draw_panels([one, one, one], columns=2, title="All", caption="Three.")
    assert (
        both.scene.width == 2 * 376 + 8
        and both.scene.height > 2 * one.scene.height
        and both.text.count("One") == 3
    )
    assert len(list(ET.fromstring(both.svg).iter())) > 3 * 3
