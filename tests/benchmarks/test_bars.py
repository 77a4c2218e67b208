"""The speeds that the kit promises, as ratios measured in one run."""

import pytest
from benchmarks import bench_algorithms as bench
from by_hand import best_sentences_by_hand

import minirag as mr
from minirag.corpora.datasets import load_dataset
from minirag.corpora.fetching import available
from minirag.prompts.map_reduce import best_sentences
from minirag.text.tokens import count_tokens, token_spans

pytestmark = pytest.mark.slow


def test_pagerank_keeps_up_with_igraph():
    rows, same = bench.bench_pagerank()
    (_, one, theirs), _, (_, batched, _) = rows
    assert one <= 1.2 * theirs
    assert batched <= theirs / 4
    assert same == 100


def test_bm25_is_twenty_times_faster_than_rank_bm25():
    [(_, ours, theirs)], apart = bench.bench_bm25()
    assert ours <= theirs / 20
    assert apart < 1e-6


def test_synonymy_takes_seconds():
    [(_, pairs, product), (_, search, plain)] = bench.bench_vectors()
    assert pairs <= 3 * product  # the products themselves are the least it can cost
    assert search <= plain


def test_texts_asked_about_again_are_neither_cut_nor_counted_again():
    here = available("musique_train")
    corpus = load_dataset("musique_train") if here else mr.load_corpus("harbor_news")
    units, ten = [(c.id, c.passage) for c in corpus.chunks], corpus.questions[:10]
    text = "\n\n".join(passage for _, passage in units)
    kept, anew, counted, spans = bench.milliseconds(
        lambda: [best_sentences(each.text, units) for each in ten],
        lambda: [best_sentences_by_hand(each.text, units) for each in ten],
        lambda: count_tokens(text),
        lambda: len(token_spans(text)),
        rounds=3,
    )
    print(f"quotes {anew / kept:.0f}, tokens {spans / counted:.0f} times as fast")
    assert kept <= anew / 10
    assert counted <= spans / 10
