"""The explorers of plain retrieval: what a moved slider shows, and that it is the package's own
chunks.
"""

import xml.etree.ElementTree as ET

import pytest

import minirag as mr
from minirag.core.corpus import Document
from minirag.core.errors import MiniragError
from minirag.widgets import ChunkExplorer

EVIL = "<script>alert('x')</script>"
TEXT = (
    " ".join(f"word{i}" for i in range(42))
    + f" Yuzhen Lin set a wrist {EVIL} "
    + " ".join(f"more{i}" for i in range(40))
)
FACT = "Yuzhen Lin set a wrist"


@pytest.fixture
def chunks():
    return ChunkExplorer(Document("d", TEXT), FACT, size=40, sizes=(20, 100))


def test_a_fact_at_a_border_is_cut_and_overlap_mends_it(chunks):
    assert not chunks.set("size", 45).whole and [part.strip() for _, part in chunks.touched] == [
        "Yuzhen Lin set",
        "a wrist",
    ]
    assert (
        "the fact is cut in two" in chunks.describe()
        and "d#1 holds: Yuzhen Lin set" in chunks.describe()
    )
    chunks.set("overlap", 10)
    assert (
        chunks.whole
        and any(chunk.text.count(FACT) for chunk in chunks.chunks)
        and "whole" in chunks.describe()
    )
    stored = sum(mr.count_tokens(chunk.text) for chunk in chunks.chunks)
    assert f"{len(chunks.chunks)} chunks, {stored} tokens stored" in chunks.describe()


def test_an_overlap_stays_below_the_size(chunks):
    chunks.set("size", 100).set("overlap", 50).set("size", 20)
    assert chunks.state == {"size": 20, "overlap": 15} and len(chunks.chunks) > 10
    view = chunks.view()
    chunks.widgets["size"].value = 60
    assert chunks.state["size"] == 60 and "size 60" in view.children[-1].value


def test_what_the_text_says_is_escaped_and_the_picture_is_well_formed(chunks):
    chunks.set("size", 100)
    assert (
        "<script>" not in chunks.html()
        and "&lt;script&gt;" in chunks.html()
        and "<mark>" in chunks.html()
    )
    ET.fromstring(chunks.figure().svg)
    with pytest.raises(MiniragError, match="does not stand in"):
        ChunkExplorer(Document("d", TEXT), "another fact")
