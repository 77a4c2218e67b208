"""Chunkers by their properties: nothing lost, order kept, sizes and overlaps exact; sentences by
examples.
"""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.core.corpus import Document
from minirag.core.errors import MiniragError
from minirag.text.chunking import chunk_sentences, chunk_structure, chunk_tokens, sentences
from minirag.text.tokens import count_tokens, token_spans

PIECES = [
    "\n\n",
    "# Head\n",
    "## Sub\n",
    "- item\n",
    "```\n",
    "a|b\n",
    "---\n",
    "\t",
    "\r\n",
    "\x00",
    "« Oui ! »",
    "x" * 23,
]
WORDS = st.sampled_from(PIECES + "tree Dr. ends. Why? 東京。 3.5 é".split())
TEXTS = st.one_of(st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=150))


def check(document, chunks, size, tokenizer="regex"):
    """What holds for every chunker."""
    covered = set()
    for chunk in chunks:
        assert document.text[chunk.start : chunk.end] == chunk.text == chunk.text.strip() != ""
        assert count_tokens(chunk.text, tokenizer) <= size
        assert chunk.document_id == document.id
        covered |= set(range(chunk.start, chunk.end))
    assert {i for i, character in enumerate(document.text) if not character.isspace()} <= covered
    assert [(c.start, c.end) for c in chunks] == sorted({(c.start, c.end) for c in chunks})
    assert [c.id for c in chunks] == (
        [document.id]
        if len(chunks) == 1
        else [f"{document.id}#{n}" for n in range(1, len(chunks) + 1)]
    )


@pytest.mark.paper("GraphRAG", "sec-2.1")
@given(TEXTS, st.integers(1, 12), st.data())
def test_token_chunks(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    document, spans = Document("d", text, "T"), token_spans(text)
    chunks = chunk_tokens(document, size, overlap)
    check(document, chunks, size)
    counts = [count_tokens(chunk.text) for chunk in chunks]
    assert all(count == size for count in counts[:-1])
    for number, chunk in enumerate(chunks):
        assert chunk.start == spans[number * (size - overlap)][0], "the stride is size - overlap"
        assert chunk.title == "T"
    for one, two in pairwise(chunks):
        assert count_tokens(text[two.start : one.end]) == overlap
        assert two.end > one.end, "no chunk lies wholly within the one before"


@pytest.mark.parametrize(
    "count, size, overlap, chunks",
    [
        (1200, 1200, 100, 1),
        (1201, 1200, 100, 2),
        (2300, 1200, 100, 2),
        (2301, 1200, 100, 3),
        (600, 600, 100, 1),
        (0, 600, 100, 0),
    ],
)
def test_the_last_chunk_is_the_first_that_reaches_the_end(count, size, overlap, chunks):
    assert len(chunk_tokens(Document("d", "w " * count), size, overlap)) == chunks


@given(TEXTS, st.integers(1, 12), st.integers(0, 3))
def test_sentence_chunks(text, size, overlap):
    document = Document("d", text)
    chunks = chunk_sentences(document, size, overlap)
    check(document, chunks, size)
    edges = sentences(text)
    for start, end in edges:
        if count_tokens(text[start:end]) <= size:
            assert any(chunk.start <= start and end <= chunk.end for chunk in chunks), (
                "a sentence that fits is never cut"
            )
    if not overlap:
        assert all(one.end <= two.start for one, two in pairwise(chunks))


def test_sentence_overlap_repeats_whole_sentences():
    text = "One a. Two b. Three c. Four d. Five e."
    assert [c.text for c in chunk_sentences(Document("d", text), size=9, overlap=1)] == [
        "One a. Two b. Three c.",
        "Three c. Four d. Five e.",
    ]
    assert [c.text for c in chunk_sentences(Document("d", text), size=9)] == [
        "One a. Two b. Three c.",
        "Four d. Five e.",
    ]
    # Two sentences of overlap leave no room for a new one in 6 tokens, so one is repeated.
    assert [c.text for c in chunk_sentences(Document("d", text), size=6, overlap=2)][:2] == [
        "One a. Two b.",
        "Two b. Three c.",
    ]


def test_a_sentence_longer_than_the_size_is_cut_by_tokens():
    chunks = chunk_sentences(
        Document("d", "Short one. Long " + "long " * 6 + "end. Last one."), size=4
    )
    assert [c.text for c in chunks] == [
        "Short one.",
        "Long long long long",
        "long long long end",
        ".",
        "Last one.",
    ]


@given(TEXTS, st.integers(1, 12))
def test_structure_chunks(text, size):
    document = Document("d", text, "T")
    chunks = chunk_structure(document, size)
    check(document, chunks, size)
    assert all(one.end <= two.start for one, two in pairwise(chunks))


HANDBOOK = """---
author: nobody
---
Before any heading.

# Guide

## Set up

First paragraph. It has two sentences.

```
# not a heading
```

## Use *it* ##
How to.

Setext next
===========
Text under it.

### Deep
Deeper text.
# Guide
"""


def test_headings_become_the_title():
    assert [
        (c.title, c.text) for c in chunk_structure(Document("d", HANDBOOK, "Guide"), size=100)
    ] == [
        ("Guide", "---\nauthor: nobody\n---\nBefore any heading."),
        (
            "Guide > Set up",
            (
                "# Guide\n\n## Set up\n\nFirst paragraph. It has two sentences.\n\n```\n# not a "
                "heading\n```"
            ),
        ),
        ("Guide > Use *it*", "## Use *it* ##\nHow to."),
        ("Guide > Setext next", "Setext next\n===========\nText under it."),
        ("Guide > Setext next > Deep", "### Deep\nDeeper text."),
        ("Guide", "# Guide"),
    ]


def test_a_long_paragraph_is_cut_by_sentences():
    chunks = chunk_structure(
        Document("d", "# H\n\nOne two. Three four. Five six.\n\nLast.", "D"), size=6
    )
    assert [c.text for c in chunks] == ["# H\n\nOne two.", "Three four. Five six.", "Last."]
    assert {c.title for c in chunks} == {"D > H"}


@pytest.mark.parametrize("chunker", [chunk_tokens, chunk_sentences, chunk_structure])
@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_documents_have_no_chunks(chunker, text):
    assert chunker(Document("d", text)) == []


@pytest.mark.parametrize("size, overlap", [(100, 100), (100, 101), (0, 0), (-1, -2), (10, -1)])
def test_impossible_sizes(size, overlap):
    with pytest.raises(MiniragError, match=f"size is {size} and overlap {overlap}"):
        chunk_tokens(Document("d", "text"), size, overlap)


def test_impossible_sentence_and_structure_sizes():
    for call in (
        lambda d: chunk_sentences(d, 0),
        lambda d: chunk_sentences(d, 10, -1),
        lambda d: chunk_structure(d, 0),
    ):
        with pytest.raises(MiniragError):
            call(Document("d", "text"))


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(2, 9))
def test_tokenizers_that_leave_characters_out_lose_nothing(text, size):
    def letters_only(some):
        return [match.span() for match in re.finditer("[a-z]", some)]

    document = Document("d", text)
    check(document, chunk_tokens(document, size, size // 2, letters_only), size, letters_only)
    check(document, chunk_sentences(document, size, 0, letters_only), size, letters_only)


@given(TEXTS)
def test_sentences_cover_everything_in_order_and_are_stable(text):
    spans = sentences(text)
    covered = {i for start, end in spans for i in range(start, end)}
    assert {i for i, character in enumerate(text) if not character.isspace()} <= covered
    assert all(a < b <= c for (a, b), (c, _) in pairwise(spans))
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)


@pytest.mark.parametrize(
    "text",
    [
        "Dr. J. R. Smith met Mr. Jones on Jan. 5 in the U.S. Supreme Court.|It cost $3.14 today.",
        '"Stop!" he said.|"Go."|Then he left (see Fig. 2).|He returned.',
        "Acme Inc. was sold to Foo Inc.|The price rose to 3.5.|Next came Ms. Li.",
        "The cat sat.|Dogs bark.|Martin Luther King Jr. spoke.|St. Louis listened.",
        (
            "He died in Washington, D.C. and not at 5 p.m. in Rome.[3]|She came.|He saw No. "
            "5.|No.|He did not."
        ),
        (
            "Wait... what?|Yes…|No.|Really?!|Vitamin C.|It helps, e.g. Paris, cf. Rome et al. 1999 "
            "vs. Oslo."
        ),
        (
            "First line\n\n|Second paragraph without a stop\n\n|# Heading\n|Body text.\n|- one "
            "item\n|- another\n|1. First.\n|2. Second."
        ),
        "東京は日本の首都です。|人口が多い！|「はい。」|次の文。",
        "यह एक वाक्य है।|दूसरा वाक्य।",
        "هل هذا سؤال؟|نعم.|هذا جواب.",
        "یہ اردو ہے۔|دوسرا جملہ۔",
        "In 1999.|Then 2.000 Menschen, z.B. Berlin.|Vol. IV follows Everson v. Board.",
        "One line that is\nwrapped in the middle.|Next.",
    ],
)
def test_sentence_examples(text):
    whole, expected = (
        text.replace("\n|", "\n").replace("|", " "),
        [part.strip() for part in text.split("|")],
    )
    assert [whole[a:b] for a, b in sentences(whole)] == expected


def test_a_megabyte_in_one_line_takes_seconds_not_minutes():
    text = "A short sentence by Dr. J. Smith, no. 5. " * 25_000
    begun = time.perf_counter()
    assert len(sentences(text)) == 25_000
    assert time.perf_counter() - begun < 10
