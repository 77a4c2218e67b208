"""BM25: by hand, by matrix and by rank-bm25."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from minirag.algorithms.bm25 import BM25, tokenize

from .by_hand import bm25_by_hand

words = st.sampled_from([*"abcdefgh", "zürich", "北京"])
corpora = st.lists(st.lists(words, max_size=12), min_size=1, max_size=12).filter(any)


@given(
    documents=corpora,
    query=st.lists(words | st.just("unknown"), max_size=8),
    k1=st.floats(0.1, 3),
    b=st.floats(0, 0.95),
    epsilon=st.floats(0, 1),
)
@settings(max_examples=150, deadline=None)
def test_equal_to_rank_bm25_and_to_the_version_by_hand(documents, query, k1, b, epsilon):
    expected = BM25Okapi(documents, k1=k1, b=b, epsilon=epsilon).get_scores(query)
    assert BM25(documents, k1, b, epsilon).scores(query) == pytest.approx(expected, abs=1e-9)
    assert bm25_by_hand(documents, query, k1, b, epsilon) == pytest.approx(expected, abs=1e-9)


def test_defaults_are_those_of_rank_bm25():
    documents = [
        tokenize(text)
        for text in ("the cat sat", "the dog sat on the mat", "a fish swims", "the the the")
    ]
    assert BM25(documents).scores(["the", "cat"]) == pytest.approx(
        BM25Okapi(documents).get_scores(["the", "cat"])
    )


def test_a_word_said_twice_counts_twice():
    index = BM25([["a", "b"], ["c"], ["d"]])
    assert index.scores(["a", "a"]) == pytest.approx(2 * index.scores(["a"]))
    assert index.scores(["a"])[0] > 0


def test_an_empty_document_scores_nothing():
    assert BM25([["a"], [], ["b"]]).scores(["a"])[1] == 0
    assert (BM25([[], []]).scores(["a"]) == 0).all()
    assert (BM25([["a"]]).scores([]) == 0).all()


def test_misuse_is_explained():
    with pytest.raises(ValueError, match="empty"):
        BM25([])
    with pytest.raises(TypeError, match="token"):
        BM25(["one long string"])
    with pytest.raises(TypeError, match="token"):
        BM25([["a"]]).scores("a b")


def test_tokens_are_lower_cased_words_in_any_script():
    assert tokenize("O'Neil-Smith, São_Paulo 1963; 北京!") == [
        "o",
        "neil",
        "smith",
        "são_paulo",
        "1963",
        "北京",
    ]
    assert tokenize("...") == []


def test_weights_are_sparse():
    documents = [[f"w{i}", "common"] for i in range(50)]
    index = BM25(documents)
    assert index.weights.shape == (51, 50) and index.weights.nnz == 100
    assert np.argmax(index.scores(["w7"])) == 7


@pytest.mark.needs("musique_train")
def test_equal_to_rank_bm25_on_musique():
    from minirag.corpora.datasets import load_dataset

    corpus = load_dataset("musique_train")
    passages = [tokenize(chunk.passage) for chunk in corpus.chunks]
    ours, theirs = BM25(passages), BM25Okapi(passages)
    for question in corpus.questions:
        tokens = tokenize(question.text)
        assert np.abs(ours.scores(tokens) - theirs.get_scores(tokens)).max() < 1e-6
