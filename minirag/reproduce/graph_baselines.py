"""What can be had on graph questions without a graph network and without a language model: counting
words, averaging vectors, guessing the commonest value.

They bound what a task measures: one that they solve needs no walking.
"""

import re
from collections import Counter

import numpy as np

from ..core.errors import MiniragError
from ..encoders.text_encoders import load_encoder

STRENGTHS = (
    0.01,
    0.1,
    1.0,
)  # of the logistic regression, the inverse of its regularisation; the validation part chooses


def shallow_baselines(task, encoder="minilm", names=None):
    """`[{"method", "accuracy %"}]` on the test part of a `GraphTask`. names: some of `BASELINES`,
    by default all.

    Everything is learnt from the train part, and the validation part picks the strength of the
    regularisation. Raises MiniragError for a task without training or test questions.
    """
    if not task.train or not task.test:
        raise MiniragError(
            f"{task!r}: baselines learn from training questions and are measured on test questions; one of the two is missing."
        )
    truth = [question.answer for question in task.test]
    chosen = [name for name in BASELINES if names is None or name in names]
    return [
        {
            "method": name,
            "accuracy %": round(100 * accuracy(BASELINES[name](task, encoder), truth), 1),
        }
        for name in chosen
    ]


def accuracy(found, truth):
    """Share of the answers found that are the true ones, from 0 to 1."""
    return float(np.mean([one == other for one, other in zip(found, truth, strict=True)]))


def most_frequent_answer(task):
    """The training answer that comes most often, for every test question; equals by name."""
    counts = Counter(question.answer for question in task.train)
    return [min(counts, key=lambda answer: (-counts[answer], answer))] * len(task.test)


def most_frequent(task):
    """For each test question, the answer word that most edges point to, among the edges whose text
    stands in the question; equals by name. No training.

    Where no edge qualifies, the first of the training answers.
    """
    known, found = set(task.answers), []
    for question in task.test:
        words = set(words_of(question.question))
        tails = Counter(
            question.graph.nodes[tail]
            for _, text, tail in question.graph.edges
            if text.lower() in words
        )
        possible = {value: count for value, count in tails.items() if value in known}
        found.append(
            min(possible, key=lambda value: (-possible[value], value), default=task.answers[0])
        )
    return found


def bags_of_words(task):
    """Word counts of the question and, in columns of their own, of the graph: three sparse
    matrices, one for each part.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    split = lambda question: (
        [f"question {word}" for word in words_of(question.question)]
        + [f"graph {word}" for word in words_of(graph_text(question.graph))]
    )
    return _learned(CountVectorizer(analyzer=split), task)


def tfidf_of_triples(task):
    """TF-IDF of words and of whole triples, question and graph apart: what counting can know about
    edges. Three sparse matrices.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    split = lambda question: (
        [f"question {word}" for word in words_of(question.question)]
        + [*words_of(graph_text(question.graph)), *question.graph.lines()]
    )
    return _learned(TfidfVectorizer(analyzer=split, sublinear_tf=True, min_df=2), task)


def mean_vectors(task, encoder):
    """[z_q, z_g], z_g being the mean over the vectors of all nodes and edges of the graph: three
    arrays (questions, 2 d), scaled to unit coordinates.

    Source: GRAG, Eq. 2-3 (eq-2, eq-3)
    """
    parts = task.train, task.validation, task.test
    vector = text_vectors([question for part in parts for question in part], encoder)
    pooled = lambda graph: np.mean(
        [vector[text] for text in [*graph.nodes, *(text for _, text, _ in graph.edges)]], axis=0
    )
    arrays = [
        np.array(
            [np.concatenate([vector[question.asked], pooled(question.graph)]) for question in part]
        )
        for part in parts
    ]
    mean, spread = arrays[0].mean(axis=0), arrays[0].std(axis=0) + 1e-9
    return tuple((array - mean) / spread for array in arrays)


def regression(task, train, validation, test):
    """Answers of a logistic regression for the test part; of the strengths tried, the first that is
    best on the validation part.
    """
    from sklearn.linear_model import LogisticRegression

    answers = [[question.answer for question in part] for part in (task.train, task.validation)]
    models = [LogisticRegression(C=strength, max_iter=2000, tol=1e-3) for strength in STRENGTHS]
    return list(best_fitted(models, (train, validation), answers).predict(test))


def best_fitted(models, matrices, answers):
    """The model that is right most often on the validation part, the first of equals. matrices,
    answers: of the training and of the validation part.
    """
    fitted = [model.fit(matrices[0], answers[0]) for model in models]
    return max(fitted, key=lambda model: model.score(matrices[1], answers[1]))


def text_vectors(questions, encoder):
    """{text: vector} of all distinct texts: questions, nodes and edges. Each is encoded once."""
    texts = {
        text
        for question in questions
        for text in [
            question.asked,
            *question.graph.nodes,
            *(text for _, text, _ in question.graph.edges),
        ]
    }
    texts = sorted(texts)
    return dict(zip(texts, encoder.encode(texts)))


def words_of(text):
    """The words of a text, in lower case."""
    return re.findall(r"\w+", text.lower())


def graph_text(graph):
    """The graph as one text, an edge a line; nodes without edges come last."""
    touched = {end for head, _, tail in graph.edges for end in (head, tail)}
    return "\n".join(
        [*graph.lines(), *(text for node, text in enumerate(graph.nodes) if node not in touched)]
    )


def _learned(vectorizer, task):
    return (
        vectorizer.fit_transform(task.train),
        vectorizer.transform(task.validation),
        vectorizer.transform(task.test),
    )


BASELINES = {
    "most frequent answer": lambda task, encoder: most_frequent_answer(task),
    "most frequent value of the right type": lambda task, encoder: most_frequent(task),
    "bag of words": lambda task, encoder: regression(task, *bags_of_words(task)),
    "TF-IDF of triples": lambda task, encoder: regression(task, *tfidf_of_triples(task)),
    "mean vectors": lambda task, encoder: regression(
        task, *mean_vectors(task, load_encoder(encoder))
    ),
}
