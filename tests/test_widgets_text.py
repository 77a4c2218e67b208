"""The explorers of plain retrieval: what a moved slider shows, and that it is the package's own
chunks and scores.
"""

import xml.etree.ElementTree as ET

import pytest

import minirag as mr
from minirag.algorithms.bm25 import bm25_by_hand, tokenize
from minirag.core.corpus import Document, Question
from minirag.core.errors import MiniragError
from minirag.widgets import BM25Explorer, ChunkExplorer

from .small import corpus_of

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


def test_bm25_is_the_packages_and_its_words_add_up():
    others = (("c", "Nothing here."), ("d", "No more."), ("e", "Stop."))
    corpus = corpus_of(
        ("a", f"Heron heron court. {EVIL}"), ("b", "Heron court " + "and so on " * 20), *others
    )
    explorer = BM25Explorer(
        corpus,
        [Question("q1", f"Which heron court? {EVIL}", gold=("b",)), Question("q2", "Nothing?")],
        shown=3,
    )
    documents, query = (
        [tokenize(c.passage) for c in corpus.chunks],
        tokenize(explorer.question.text),
    )
    for k1, b in ((1.5, 0.75), (0.0, 0.0), (3.0, 1.0)):
        explorer.set("k1", k1).set("b", b)
        by_hand = bm25_by_hand(documents, query, k1, b)
        assert [p.score for p in explorer.passages()] == pytest.approx(
            sorted(by_hand, reverse=True)[:3]
        )
        shares = explorer.words()
        counted = [
            sum(query.count(word) * row[i] for word, row in shares.items()) for i in range(3)
        ]
        assert counted == pytest.approx([p.score for p in explorer.passages()])
    assert (
        "[gold]" in explorer.describe()
        and "<script>" not in explorer.html()
        and explorer.html().count("gold</span>") == 1
    )
    assert "Nothing?" in explorer.set("question", "q2").describe()
    with pytest.raises(MiniragError, match="at least one"):
        BM25Explorer(corpus, [])
