"""What can be had on graph questions without a graph network and without a language model: counting
words, averaging vectors, guessing the commonest value.

They bound what a task measures: one that they solve needs no walking.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.bm25 import BM25
from ..algorithms.ego_graphs import TextualGraph
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import GraphQuestion, GraphTask
from ..encoders.text_encoders import load_encoder

Row = dict[str, Any]  # of a table: its name, and numbers by their column
Parts = list[Any]  # features of the training, validation and test part
Vectors = Mapping[str, NDArray[np.float32]]  # of texts
STRENGTHS = (0.01, 0.1, 1.0)  # of the logistic regression; the validation part chooses


def shallow_baselines(
    task: GraphTask, encoder: str | Encoder = "minilm", names: Iterable[str] | None = None
) -> list[Row]:
    """`[{"method", "accuracy %"}]` on the test part of a `GraphTask`. names: some of `BASELINES`,
    by default all.

    Everything is learnt from the train part, and the validation part picks the strength of the
    regularisation. Raises MiniragError for a task without training or test questions.
    """
    if not task.train or not task.test:
        raise MiniragError(
            f"{task!r}: baselines learn from training questions and are measured on test questions;"
            " one of the two is missing."
        )
    chosen = [name for name in BASELINES if names is None or name in names]
    right = [accuracy(BASELINES[name](task, encoder), task.test) for name in chosen]
    return [{"method": name, "accuracy %": round(of, 1)} for name, of in zip(chosen, right)]


def accuracy(found: Sequence[str], questions: Sequence[GraphQuestion]) -> float:
    """Percent of the questions whose answer was found."""
    return percent_equal(found, [question.answer for question in questions])


def percent_equal(found: Sequence[str], others: Sequence[str]) -> float:
    """Percent of the places where two lists of answers agree."""
    same = [answer == other for answer, other in zip(found, others, strict=True)]
    return 100 * sum(same) / len(same)


def flat(
    question: GraphQuestion, how: str, top: int, encoder: Encoder
) -> tuple[list[int], list[int]]:
    """The `top` nodes and the `top` edges whose texts are nearest to the question, each by itself:
    what the paper's flat retrievers do. how: "bm25" or "dense".

    Source: GRAG, Table 5 (tab-5)
    """
    graph = question.graph
    texts = [*graph.nodes, *graph.lines()]
    if not texts:
        return [], []
    if how == "bm25":
        scores = BM25([words_of(text) for text in texts]).scores(words_of(question.asked))
    else:
        vectors = encoder.encode(question.graph_texts)
        scores = np.round(vectors @ encoder.encode([question.asked])[0], 6)
    parts = np.split(scores, [len(graph.nodes)])
    nodes, edges = (np.argsort(-part, kind="stable")[:top].tolist() for part in parts)
    ends = {end for edge in edges for end in graph.edges[edge][::2]}
    return sorted({*nodes, *ends}), sorted(edges)


def most_frequent_answer(task: GraphTask) -> list[str]:
    """The training answer that comes most often, for every test question; equals by name."""
    counts = Counter(question.answer for question in task.train)
    return [min(counts, key=lambda answer: (-counts[answer], answer))] * len(task.test)


def most_frequent(task: GraphTask) -> list[str]:
    """For each test question, the answer word that most edges point to, among the edges whose text
    stands in the question; equals by name. No training.

    Where no edge qualifies, the first of the training answers.
    """
    known, found = set(task.answers), []
    for question in task.test:
        graph, words = question.graph, set(words_of(question.question))
        tails = [graph.nodes[tail] for _, text, tail in graph.edges if text.lower() in words]
        counts = Counter(value for value in tails if value in known)
        best = sorted(counts, key=lambda value: (-counts[value], value))
        found.append(next(iter(best), task.answers[0]))
    return found


def words_apart(question: GraphQuestion) -> list[str]:
    """The words of the question, and in columns of their own those of its graph."""
    asked = [f"question {word}" for word in words_of(question.question)]
    return asked + [f"graph {word}" for word in words_of(graph_text(question.graph))]


def words_and_triples(question: GraphQuestion) -> list[str]:
    """The words of the question, and of its graph the words and the whole triples."""
    asked = [f"question {word}" for word in words_of(question.question)]
    return asked + [*words_of(graph_text(question.graph)), *question.graph.lines()]


def bags_of_words(task: GraphTask) -> Parts:
    """Word counts of the question and, in columns of their own, of the graph: three sparse
    matrices, one for each part.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    return _learned(CountVectorizer(analyzer=words_apart), task)


def tfidf_of_triples(task: GraphTask) -> Parts:
    """TF-IDF of words and of whole triples, question and graph apart: what counting can know about
    edges. Three sparse matrices.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    return _learned(TfidfVectorizer(analyzer=words_and_triples, sublinear_tf=True, min_df=2), task)


def mean_vectors(task: GraphTask, encoder: Encoder) -> Parts:
    """[z_q, z_g], z_g being the mean over the vectors of all nodes and edges of the graph: three
    arrays (questions, 2 d), scaled to unit coordinates.

    Source: GRAG, Eq. 2-3 (eq-2, eq-3)
    """
    vectors = text_vectors(task.questions, encoder)

    def features(question: GraphQuestion) -> NDArray[np.float32]:
        pooled = np.mean([vectors[text] for text in question.graph_texts], axis=0)
        return np.concatenate([vectors[question.asked], pooled])

    arrays = [np.array([features(question) for question in part]) for part in task.parts]
    mean, spread = arrays[0].mean(axis=0), arrays[0].std(axis=0) + 1e-9
    return [(array - mean) / spread for array in arrays]


def regression(task: GraphTask, parts: Parts) -> list[str]:
    """Answers of a logistic regression for the test part; of the strengths tried, the first that is
    best on the validation part.
    """
    from sklearn.linear_model import LogisticRegression

    models = [LogisticRegression(C=strength, max_iter=2000, tol=1e-3) for strength in STRENGTHS]
    return fit_best(models, parts, task)


def fit_best(models: Iterable[Any], parts: Parts, task: GraphTask) -> list[str]:
    """Answers to the test part by the model that, fitted to the training part, is right most often
    on the validation part, the first of equals. parts: features of the three.
    """
    train, validation, test = parts
    learnt, known = ([question.answer for question in part] for part in task.parts[:2])
    fitted = [model.fit(train, learnt) for model in models]
    return list(max(fitted, key=lambda model: model.score(validation, known)).predict(test))


def text_vectors(questions: Iterable[GraphQuestion], encoder: Encoder) -> Vectors:
    """{text: vector} of all distinct texts: questions, nodes and edges. Each is encoded once."""
    texts = {text for question in questions for text in (question.asked, *question.graph_texts)}
    return dict(zip(sorted(texts), encoder.encode(sorted(texts))))


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"\w+", text.lower())


def graph_text(graph: TextualGraph) -> str:
    """The graph as one text, an edge a line; nodes without edges come last."""
    touched = {end for head, _, tail in graph.edges for end in (head, tail)}
    alone = [text for node, text in enumerate(graph.nodes) if node not in touched]
    return "\n".join([*graph.lines(), *alone])


def _learned(vectorizer: Any, task: GraphTask) -> Parts:
    train, *others = task.parts
    return [vectorizer.fit_transform(train), *map(vectorizer.transform, others)]


def by_condition(runs: Iterable[Row], metric: str = "accuracy") -> dict[str, list[float]]:
    """{condition: the metric of each of its runs}."""
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run["condition"], []).append(run[metric])
    return values


def over_seeds(method: str, values: Sequence[float]) -> Row:
    """The row of a method: mean accuracy and its population standard deviation over the seeds."""
    spread = {"accuracy": float(np.mean(values)), "sd": float(np.std(values))}
    return {"method": method, **spread, "seeds": len(values)}


BASELINES: dict[str, Callable[[GraphTask, str | Encoder], list[str]]] = {
    "most frequent answer": lambda task, encoder: most_frequent_answer(task),
    "most frequent value of the right type": lambda task, encoder: most_frequent(task),
    "bag of words": lambda task, encoder: regression(task, bags_of_words(task)),
    "TF-IDF of triples": lambda task, encoder: regression(task, tfidf_of_triples(task)),
    "mean vectors": lambda task, encoder: regression(
        task, mean_vectors(task, load_encoder(encoder))
    ),
}
