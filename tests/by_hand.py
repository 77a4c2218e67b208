"""What the package computes on arrays, once more in plain Python and slowly: what its results are
compared with.
"""

import math
import re
import string
from collections import Counter

import numpy as np

from minirag.prompts.map_reduce import CITED, Quote, stems
from minirag.text.chunking import sentences_of


def bm25_by_hand(documents, query, k1=1.5, b=0.75, epsilon=0.25):
    """BM25 scores (list of floats, one per document) of a token list, word by word and document by
    document.

    A word in more than half of the documents has a negative inverse document frequency; it gets
    `epsilon` times the vocabulary's mean instead.
    """
    containing = Counter(word for document in documents for word in set(document))
    idf = {word: math.log((len(documents) - n + 0.5) / (n + 0.5)) for word, n in containing.items()}
    floor = epsilon * sum(idf.values()) / max(len(idf), 1)
    idf = {word: value if value >= 0 else floor for word, value in idf.items()}
    mean_length = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        for word in query:
            if counts[word]:
                damped = counts[word] + k1 * (1 - b + b * len(document) / mean_length)
                score += idf[word] * counts[word] * (k1 + 1) / damped
        scores.append(score)
    return scores


def personalized_pagerank_by_hand(graph, reset, damping=0.5, steps=100):
    """Personalised PageRank as a crowd of walkers on a networkx graph, one step after the other.

    graph: any networkx graph; an edge's "weight" counts (default 1), parallel edges add up, a
    directed edge is walked forwards only.
    reset: dict node -> mass >= 0, not all zero. steps: walks this many steps; what is still wrong
    shrinks by `damping` at each. Returns a dict node -> probability, summing to 1.

    Source: Wang, Sec. IV-B (hippo-ppr)
    """
    total = sum(reset.values())
    home = {node: reset.get(node, 0) / total for node in graph}
    standing = home
    for _ in range(steps):
        arrived = dict.fromkeys(graph, 0.0)
        for node, mass in standing.items():
            out = [
                (neighbour, weight)
                for _, neighbour, weight in graph.edges(node, data="weight", default=1)
            ]
            strength = sum(weight for _, weight in out)
            for neighbour, weight in out:
                arrived[neighbour] += damping * mass * weight / strength
        jumping = 1 - sum(arrived.values())
        standing = {node: arrived[node] + jumping * home[node] for node in graph}
    return standing


def synonymy_pairs_by_hand(vectors, threshold=0.8, max_neighbours=100, strict=False):
    """The same as `synonymy_pairs`, one vector after the other, as a list of (i, j, score)."""
    pairs = []
    for i, vector in enumerate(vectors):
        scores = [(float(np.dot(vector, other)), j) for j, other in enumerate(vectors) if j != i]
        close = [
            (score, j)
            for score, j in scores
            if (score > threshold if strict else score >= threshold)
        ]
        close.sort(key=lambda pair: (-pair[0], pair[1]))
        pairs += [(i, j, score) for score, j in close[:max_neighbours]]
    return pairs


def cosine_by_hand(a, b):
    """The cosine of two vectors in plain Python, for reading; 0 where one of them is zero."""
    a, b = list(a), list(b)
    dot = sum(x * y for x, y in zip(a, b))
    lengths = math.hypot(*a) * math.hypot(*b)
    return dot / lengths if lengths else 0.0


def top_k_by_hand(query, vectors, k):
    """The k vectors with the greatest cosine to `query`, as [(index, cosine)], best first, equals
    by index. Plain Python, for reading.
    """
    cosines = [(i, cosine_by_hand(query, vector)) for i, vector in enumerate(vectors)]
    return sorted(cosines, key=lambda pair: (-pair[1], pair[0]))[:k]


def measured_epsilon(queries, vectors, found):
    """How far each answer is from the best one: (q,) values of d(q, p) / d(q, P) - 1, where p is
    the first position found for the query.

    An answer is an epsilon-nearest neighbour if its value is at most epsilon. Nothing found is
    infinitely far; an exact hit has the value 0.

    Source: Wang, Def. 5 (def-5)
    """
    values = []
    for query, positions in zip(np.atleast_2d(queries), found):
        distances = np.linalg.norm(np.asarray(vectors) - query, axis=1)
        best, mine = distances.min(), distances[positions[0]] if positions else np.inf
        values.append(0.0 if mine == best else mine / best - 1 if best > 0 else np.inf)
    return np.array(values)


def maxsim_by_hand(query_tokens, doc_tokens):
    """For every question token the best cosine with a document token, added up. Plain Python, for
    reading.
    """
    return sum(max(cosine_by_hand(q, d) for d in doc_tokens) for q in query_tokens)


def best_sentences_by_hand(question, units):
    """The `Quote`s of `best_sentences`, every text cut and read anew for the question."""
    wanted, found = stems(question), []
    for unit, text in units:
        for paragraph in text.split("\n"):
            if paragraph.startswith("#"):
                continue
            cited = "".join(f" {citation}" for citation in CITED.findall(paragraph)[:2])
            for sentence in sentences_of(CITED.sub(" ", paragraph)):
                if shared := wanted & stems(sentence):
                    plain = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(sentence.split()))
                    found.append(Quote(shared, f"{plain} [{unit}]{cited}", unit))
    common = Counter(word for quote in found for word in quote.shared)
    return sorted(found, key=lambda quote: -sum(1 / common[word] for word in sorted(quote.shared)))


def normalise_answer_by_hand(text):
    """The SQuAD rule, letter by letter."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())
