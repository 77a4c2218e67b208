"""How fast the algorithms are beside the libraries one would otherwise use, as ratios measured in
one run.

`python tests/benchmarks/bench_algorithms.py` prints the table; `pytest -m slow tests/benchmarks`
holds the ratios. The corpus is MuSiQue's tuning set where MINIRAG_DATA has it, else random text and
a random graph of the same size.
"""

import re
import time
from statistics import median

import igraph
import numpy as np
import scipy.sparse as sp
from rank_bm25 import BM25Okapi

from minirag.algorithms.bm25 import BM25, tokenize
from minirag.algorithms.pagerank import personalized_pagerank, transition_matrix
from minirag.algorithms.synonyms import synonymy_pairs
from minirag.algorithms.vectors import normalize, top_k
from minirag.corpora.datasets import OPENIE, load_dataset
from minirag.corpora.fetching import available

PHRASES, FACTS, PAIRS, PASSAGES = 16_234, 17_000, 14_280, 1_890


def milliseconds(*actions, rounds=7):
    """Median time of each action, taken in turns so that a busy moment of the machine hits all of
    them.
    """
    taken = [[] for _ in actions]
    for _ in range(rounds):
        for action, times in zip(actions, taken):
            start = time.perf_counter()
            action()
            times.append(1000 * (time.perf_counter() - start))
    return [median(times) for times in taken]


def texts():
    """(passages, questions) as token lists."""
    if available("musique_train"):
        corpus = load_dataset("musique_train")
        return [tokenize(chunk.passage) for chunk in corpus.chunks], [
            tokenize(question.text) for question in corpus.questions
        ]
    rng = np.random.default_rng(0)

    def draw(size):
        return [f"w{rank}" for rank in np.minimum(rng.zipf(1.2, size), 30_000)]

    return [draw(rng.integers(40, 160)) for _ in range(PASSAGES)], [draw(15) for _ in range(100)]


def walk():
    """(adjacency, passages x phrases counts, reset (phrases, 100)), as HippoRAG would have them."""
    rng = np.random.default_rng(0)
    facts = _published_facts() if available("musique_train") else _random_facts(rng)
    passage, head, tail = map(np.array, zip(*facts))
    phrases = max(head.max(), tail.max()) + 1
    near = rng.integers(
        0, phrases, (2, PAIRS // 2)
    )  # where the synonymy edges lie matters little for the time
    rows, columns = np.concatenate([head, near[0]]), np.concatenate([tail, near[1]])
    weights = np.concatenate([np.ones(len(head)), rng.uniform(0.8, 1, len(near[0]))])
    apart = rows != columns
    upper = sp.coo_array(
        (weights[apart], (rows[apart], columns[apart])), shape=(phrases, phrases)
    ).tocsr()
    counts = sp.coo_array(
        (np.ones(2 * len(head)), (np.tile(passage, 2), np.concatenate([head, tail]))),
        shape=(PASSAGES, phrases),
    ).tocsr()
    reset = np.zeros((phrases, 100))
    for column in reset.T:
        column[rng.choice(np.concatenate([head, tail]), 3)] = 1 / rng.integers(1, 6, 3)
    return upper + upper.T, counts, reset


def _published_facts():
    corpus = load_dataset("musique_train")
    number, facts = {}, []
    for row, chunk in enumerate(corpus.chunks):
        for triple in dict.fromkeys(corpus.extractions[OPENIE].triples.get(chunk.id, ())):
            head, _, tail = (re.sub(r"[^a-z0-9 ]", " ", part.lower()).strip() for part in triple)
            facts.append(
                (row, number.setdefault(head, len(number)), number.setdefault(tail, len(number)))
            )
    return facts


def _random_facts(rng):
    popularity = rng.permutation(1 / np.arange(1, PHRASES + 1) ** 0.6)
    ends = rng.choice(PHRASES, (FACTS, 2), p=popularity / popularity.sum())
    return [(int(p), int(h), int(t)) for p, (h, t) in zip(rng.integers(0, PASSAGES, FACTS), ends)]


def bench_pagerank():
    """(name, ms of ours, ms of igraph), for one question and per question of a batch; and how many
    of 100 float32 rankings equal float64's.
    """
    adjacency, counts, reset = walk()
    edges = sp.triu(adjacency).tocoo()
    graph = igraph.Graph(
        adjacency.shape[0], edges=np.stack([edges.row, edges.col], axis=1).tolist()
    )
    weights, one = edges.data.tolist(), reset[:, 0].copy()
    home, batch, prepared = one.tolist(), reset.astype(np.float32), transition_matrix(adjacency)
    theirs, raw, ready, many = milliseconds(
        lambda: graph.personalized_pagerank(
            damping=0.5, reset=home, weights=weights, directed=False, implementation="prpack"
        ),
        lambda: personalized_pagerank(adjacency, one, tol=1e-9),
        lambda: personalized_pagerank(prepared, one, tol=1e-9),
        lambda: personalized_pagerank(adjacency, batch),
    )
    best = [
        np.argsort(
            -(counts @ personalized_pagerank(adjacency, mass).astype(float)), axis=0, kind="stable"
        )[:20]
        for mass in (reset, batch)
    ]
    rows = [
        ("PPR, one question", raw, theirs),
        ("PPR, one question, prepared", ready, theirs),
        ("PPR, of 100 in float32", many / 100, theirs),
    ]
    return rows, int((best[0] == best[1]).all(axis=0).sum())


def bench_bm25():
    passages, questions = texts()
    ours, theirs = BM25(passages), BM25Okapi(passages)
    ten = questions[:10]
    fast, slow = milliseconds(
        lambda: [ours.scores(question) for question in ten],
        lambda: [theirs.get_scores(question) for question in ten],
    )
    apart = max(
        np.abs(ours.scores(question) - theirs.get_scores(question)).max() for question in questions
    )
    return [("BM25, one question", fast / 10, slow / 10)], apart


def bench_vectors():
    """Synonymy pairs and search on random unit vectors of MiniLM's width, beside one plain matrix
    product.
    """
    many = normalize(np.random.default_rng(0).normal(size=(PHRASES, 384)).astype(np.float32))
    pairs, product = milliseconds(
        lambda: synonymy_pairs(many),
        lambda: [many[i : i + 2048] @ many.T for i in range(0, PHRASES, 2048)],
        rounds=3,
    )
    search, plain = milliseconds(
        lambda: top_k(many[:100], many, 20),
        lambda: np.argsort(-(many[:100] @ many.T), axis=1)[:, :20],
    )
    return [
        ("synonymy pairs, 16,234 phrases", pairs, product),
        ("top 20, of 100 queries", search / 100, plain / 100),
    ]


def main():
    (pagerank, same), (bm25, apart) = bench_pagerank(), bench_bm25()
    print(f"{'':34}{'ours, ms':>10}{'other, ms':>11}{'other/ours':>12}")
    for name, ours, other in [*pagerank, *bm25, *bench_vectors()]:
        print(f"{name:34}{ours:10.3f}{other:11.3f}{other / ours:12.2f}")
    print(
        f"float32 top-20 passages equal to float64's: {same} of 100; BM25 scores apart by "
        f"{apart:.1e} at most"
    )


if __name__ == "__main__":
    main()
