"""MaxSim three ways, its worked examples, and the token encoders that feed it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms.late_interaction import (
    TokenVectors,
    best_matches,
    maxsim,
    maxsim_blocks,
    maxsim_corpus,
    pad,
    self_maxsim,
)
from minirag.algorithms.synonyms import token_synonymy_pairs
from minirag.algorithms.vectors import InvertedLists, normalize, top_k
from minirag.encoders import text_encoders as encoders
from minirag.encoders.token_encoders import load_token_encoder

from .by_hand import maxsim_by_hand, measured_epsilon
from .small import TableEncoder
from .test_encoders import needs_weights

AXES = np.eye(2)


def test_the_worked_example():
    document = np.array([[0.6, 0.8], [1.0, 0.0]])
    assert maxsim(AXES, document) == pytest.approx(1.8) == maxsim_by_hand(AXES, document)
    assert maxsim(AXES, AXES) == 2 and maxsim(AXES, document) / maxsim(AXES, AXES) == pytest.approx(
        0.9
    )
    positions, cosines = best_matches(AXES, document)
    assert positions.tolist() == [1, 0] and cosines == pytest.approx([1.0, 0.8])


def test_it_is_not_symmetric():
    one, both = AXES[:1], AXES
    assert maxsim(one, both) / len(one) == 1.0 and maxsim(both, one) / len(both) == 0.5


def test_only_directions_count_and_a_zero_vector_answers_nothing():
    assert maxsim(3 * AXES, [[6, 8], [5, 0]]) == pytest.approx(1.8)
    assert maxsim(AXES, [[0.0, 0.0]]) == 0 == maxsim_by_hand(AXES, [[0.0, 0.0]])


tokens = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=n, max_size=n)
)


@settings(deadline=None, max_examples=80)
@given(tokens, st.lists(tokens, min_size=1, max_size=6))
def test_by_hand_one_at_a_time_and_padded_agree(query, documents):
    documents = [np.array(d, dtype=float) for d in documents]
    one_by_one = [maxsim(query, d) for d in documents]
    assert one_by_one == pytest.approx([maxsim_by_hand(query, d) for d in documents])
    assert maxsim_corpus(query, *pad(documents)) == pytest.approx(one_by_one)
    assert all(-len(query) - 1e-9 <= score <= len(query) + 1e-9 for score in one_by_one)


def test_padding_never_wins():
    """Beside a longer neighbour a document is padded with zeros, whose cosine 0 is better than its
    own negative ones.
    """
    opposite, longer = np.array([[-1.0, 0.0]]), np.array([[0.0, 1.0]] * 4)
    assert maxsim_corpus(AXES[:1], *pad([opposite, longer])).tolist() == [-1.0, 0.0]


def test_a_document_without_tokens_comes_last():
    empty = np.zeros((0, 2))
    assert maxsim(AXES, empty) == -2 and maxsim_corpus(AXES, *pad([empty, AXES])).tolist() == [
        -2.0,
        2.0,
    ]
    with pytest.raises(ValueError, match="no tokens"):
        best_matches(AXES, empty)
    with pytest.raises(ValueError, match="same d"):
        maxsim(AXES, np.ones((2, 3)))


def test_many_documents_are_scored_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    documents, query = (
        [rng.normal(size=(rng.integers(1, 9), 8)) for _ in range(50)],
        rng.normal(size=(4, 8)),
    )
    whole = maxsim_corpus(query, *pad(documents))
    monkeypatch.setattr("minirag.algorithms.late_interaction.DOCUMENTS_AT_ONCE", 7)
    assert maxsim_corpus(query, *pad(documents)) == pytest.approx(whole)


many_texts = st.lists(
    tokens.map(np.array) | st.just(np.zeros((0, 3))), min_size=1, max_size=8
).filter(lambda some: any(map(len, some)))


@settings(deadline=None, max_examples=80)
@given(many_texts, many_texts, st.integers(1, 40))
def test_all_pairs_in_blocks_are_the_single_scores(queries, documents, cells):
    blocks = list(maxsim_blocks(TokenVectors.stack(queries), TokenVectors.stack(documents), cells))
    assert [start for start, _ in blocks] == [
        sum(len(scores) for _, scores in blocks[:i]) for i in range(len(blocks))
    ]
    for query, scores in zip(
        queries, np.concatenate([scores for _, scores in blocks]), strict=True
    ):
        assert scores == pytest.approx(
            [maxsim(query, document) if len(query) else 0 for document in documents], abs=1e-9
        )


def test_a_text_scores_most_against_itself_and_a_block_stays_small():
    texts = TokenVectors.stack([AXES, AXES[:1], np.zeros((0, 2))])
    assert self_maxsim(texts, texts).tolist() == [2, 1, 0]
    assert [len(scores) for _, scores in maxsim_blocks(texts, texts, cells=3)] == [1, 2]


@pytest.mark.paper("Wang", "hippo-synonymy")
def test_synonyms_by_normalised_maxsim():
    """WE-C: MaxSim 1.8 of 2; and the asymmetry 1/1 against 1/2."""
    texts = TokenVectors.stack([AXES, np.array([[0.6, 0.8], [1.0, 0.0]]), AXES[:1]])
    pairs = {(int(i), int(j)): score for i, j, score in zip(*token_synonymy_pairs(texts, 0.5))}
    assert pairs == pytest.approx(
        {(0, 1): 0.9, (1, 0): 0.9, (0, 2): 0.5, (1, 2): 0.8, (2, 0): 1, (2, 1): 1}
    )
    assert (0, 2) not in set(
        zip(*map(np.ndarray.tolist, token_synonymy_pairs(texts, 0.5, strict=True)[:2]))
    )
    i, j, score = token_synonymy_pairs(texts, 0.5, max_neighbours=1)
    assert (i.tolist(), j.tolist(), score.round(2).tolist()) == (
        [0, 1, 2],
        [1, 0, 0],
        [0.9, 0.9, 1],
    )
    assert [len(part) for part in token_synonymy_pairs(TokenVectors.stack([]))] == [0, 0, 0]


# Token encoders


def test_any_encoder_gives_word_vectors():
    encoder = load_token_encoder(TableEncoder({"ada": [1, 0], "oslo": [0, 1], "met": [0, 0, 1]}))
    assert encoder.tokens("Ada met: Oslo!") == ["ada", "met", "oslo"]
    first, nothing = encoder.encode(["Ada met: Oslo!", "..."])
    assert first[:, :3] == pytest.approx(np.eye(3)[[0, 2, 1]]) and nothing.shape == (0, 64)
    assert load_token_encoder(encoder) is encoder


@needs_weights
def test_hidden_states_do_not_depend_on_company_and_average_to_the_text(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    encoder, texts = (
        load_token_encoder("minilm"),
        ["A kettle boils.", "The university has stood on a marsh since 1611, sinking slowly.", ""],
    )
    together = encoder.encode(texts)
    for text, rows in zip(texts, together):
        assert np.abs(rows - encoder.encode([text])[0]).max(initial=0) < 1e-5 and len(rows) == len(
            encoder.tokens(text)
        )
    assert encoder.tokens(texts[0]) == ["a", "kettle", "boil", "##s", "."] and len(together[2]) == 0
    raw = encoder.encoder.model.encode(texts[:1], output_value="token_embeddings")[0].cpu().numpy()
    assert normalize(raw[1:-1]) == pytest.approx(together[0], abs=1e-6)
    assert normalize(raw.mean(axis=0)) == pytest.approx(
        encoders.load_encoder("minilm").encode(texts[:1])[0], abs=1e-6
    )


# Approximate neighbours


@pytest.mark.paper("Wang", "def-4", "def-5")
def test_all_cells_are_exact_and_one_cell_is_only_near():
    rng = np.random.default_rng(1)
    vectors, queries = normalize(rng.normal(size=(200, 8))), normalize(rng.normal(size=(30, 8)))
    lists, exact = InvertedLists(vectors, 10), top_k(queries, vectors, 1)[0].tolist()
    found, compared = lists.search(queries, probes=10)
    assert (
        found == exact
        and compared == 200 * 30
        and (measured_epsilon(queries, vectors, found) == 0).all()
    )
    near, fewer = lists.search(queries, probes=1)
    epsilon = measured_epsilon(queries, vectors, near)
    assert fewer < compared / 4 and epsilon.max() > 0 and (epsilon >= 0).all()
    assert (epsilon == 0).tolist() == [a == b for a, b in zip(near, exact)]


@pytest.mark.paper("Wang", "def-5")
def test_epsilon_by_hand():
    vectors, query = np.array([[1.0, 0], [0, 2.0], [3.0, 0]]), np.zeros((1, 2))
    assert [measured_epsilon(query, vectors, [[at]])[0] for at in (0, 1, 2)] == [0, 1, 2]
    assert (
        measured_epsilon(query, vectors, [[]])[0] == np.inf
        and measured_epsilon(vectors[:1], vectors, [[0]])[0] == 0
    )


def test_half_a_character_does_not_stop_the_tokenizer():
    encoder = load_token_encoder("minilm")
    assert encoder.tokens("half \ud83d of it") == encoder.tokens("half � of it")
    assert [len(rows) for rows in encoder.encode(["half \ud83d of it"], kind="query")] == [3]
