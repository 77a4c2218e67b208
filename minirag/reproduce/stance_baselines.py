"""What ExplaGraphs' answers can be told from without reading the graph as a graph: rules, counts,
bags of words, mean vectors.

The people who drew the graphs knew the answer, and it shows in the relations they chose. These rows
stand beside every trained model's accuracy.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms.vectors import normalize
from ..core.graph import GraphQuestion, GraphTask
from ..corpora.expla_graphs import ANSWERS, belief_and_argument, split
from ..encoders.text_encoders import load_encoder
from .graph_baselines import Row, accuracy, fit_best

Questions = Sequence[GraphQuestion]
Embed = Callable[[Sequence[str]], NDArray[np.floating[Any]]]  # texts to vectors
Matrix = NDArray[np.floating[Any]]
NEGATIONS = re.compile(
    r"(?i)\b(?:not|no|never|nor|none|nothing|cannot|without|\w+n't|lack\w*|unable|fail\w*)\b"
)
PREVENTIONS = re.compile(
    r"(?i)\b(?:ban\w*|abolish\w*|end|ended|stop\w*|prohibit\w*|eliminat\w*|against|outlaw\w*|illegal)\b"
)
WORDS = re.compile(r"[\w']+")
PLAIN = (
    "at location", "capable of", "causes", "created by", "desires", "has context", "has property",
    "has subevent", "made of", "part of", "receives action", "used for",
)  # fmt: skip
DENIED = [f"not {name}" for name in PLAIN]
RELATIONS = tuple(sorted([*PLAIN, *DENIED, "is a", "is not a", "synonym of", "antonym of"]))
STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # logistic regression's C, chosen on the validation part
LEAVES = (4, 8, 16)  # of a boosted tree, chosen on the validation part
SPLIT_SEEDS = (0, 1, 2, 3, 4)


def negated(relation: str) -> bool:
    """Whether a relation denies something: "not ...", "is not a", "antonym of"."""
    return relation.startswith("not ") or relation in ("is not a", "antonym of")


def count_negated(question: GraphQuestion) -> int:
    """How many edges of the question's graph are negated."""
    return sum(negated(relation) for _, relation, _ in question.graph.edges)


def denies(text: str) -> bool:
    """Whether a text has a word of negation."""
    return bool(NEGATIONS.search(text.replace("’", "'")))


def belief_denies(question: GraphQuestion) -> bool:
    """Whether the question's belief has a word of negation."""
    return denies(belief_and_argument(question)[0])


def one_bit(question: GraphQuestion, usual: str | None = None) -> str:
    """The stance by whether any relation is negated."""
    return ANSWERS[count_negated(question) > 0]


def two_bits(question: GraphQuestion, usual: str | None = None) -> str:
    """The stance by whether just one of the two is negated, a relation or the belief."""
    return ANSWERS[(count_negated(question) > 0) != belief_denies(question)]


def negation_counts(questions: Questions, embed: Embed | None = None) -> Matrix:
    """(n, 5) one-hot: 0, 1, 2, 3, or more negated edges."""
    return np.eye(5)[[min(count_negated(question), 4) for question in questions]]


def relation_bag(questions: Questions, embed: Embed | None = None) -> Matrix:
    """(n, relations) how often each relation occurs, relations in alphabetical order."""
    counts = [Counter(name for _, name, _ in question.graph.edges) for question in questions]
    return np.array([[count[name] for name in RELATIONS] for count in counts], dtype=float)


def pair_vectors(questions: Questions, embed: Embed) -> Matrix:
    """(n, 2d) belief beside argument."""
    sides = zip(*map(belief_and_argument, questions))
    return np.hstack([embed(texts) for texts in sides])


def pair_comparison(questions: Questions, embed: Embed) -> Matrix:
    """(n, 4d) belief, argument, their element-wise distance and product: the usual features of a
    pair of sentences.
    """
    belief, argument = np.split(pair_vectors(questions, embed), 2, axis=1)
    return np.hstack([belief, argument, np.abs(belief - argument), belief * argument])


def node_vectors(questions: Questions, embed: Embed) -> Matrix:
    """(n, d) mean over a graph's nodes, made a unit vector."""
    return _means([question.graph.nodes for question in questions], embed)


def edge_vectors(questions: Questions, embed: Embed) -> Matrix:
    """(n, d) mean over a graph's relations, made a unit vector."""
    return _means([[name for _, name, _ in question.graph.edges] for question in questions], embed)


def graph_vectors(questions: Questions, embed: Embed) -> Matrix:
    """(n, 2d) mean of the nodes beside mean of the relations."""
    return np.hstack([node_vectors(questions, embed), edge_vectors(questions, embed)])


def pooled_vectors(questions: Questions, embed: Embed) -> Matrix:
    """(n, d) mean over nodes and relations together, the graph's own vector in GRAG.

    Source: GRAG, Eq. 2 (eq-2)
    """
    return _means([question.graph_texts for question in questions], embed)


def _means(groups: Sequence[Sequence[str]], embed: Embed) -> Matrix:
    vectors = embed([text for group in groups for text in group])
    ends = np.cumsum([len(group) for group in groups])
    return normalize(np.stack([part.mean(axis=0) for part in np.split(vectors, ends[:-1])]))


def pair_words(question: GraphQuestion) -> str:
    """Belief and argument as one text."""
    return " ".join(belief_and_argument(question))


def graph_words(question: GraphQuestion) -> str:
    """The graph's triples as one text; a relation is one word."""
    nodes, edges = question.graph.nodes, question.graph.edges
    return " ".join(f"{nodes[h]} {name.replace(' ', '_')} {nodes[t]}" for h, name, t in edges)


def all_words(question: GraphQuestion) -> str:
    """Belief, argument and triples as one text."""
    return f"{pair_words(question)} {graph_words(question)}"


def hand_features(questions: Questions, embed: Embed | None = None) -> Matrix:
    """(n, 22) numbers that a person thought of who had looked at the data, all of it: the accuracy
    is a little flattered. `by_hand` names them.
    """
    return np.array([list(by_hand(question).values()) for question in questions], dtype=float)


def by_hand(question: GraphQuestion) -> dict[str, float]:
    """The hand-made features of one question by name: negations in relations and texts, the graph's
    shape, words shared with its ends.
    """
    belief, argument = belief_and_argument(question)
    nodes, edges = question.graph.nodes, question.graph.edges
    heads, tails = {head for head, _, _ in edges}, {tail for _, _, tail in edges}
    starts = [place for place in range(len(nodes)) if place not in tails]
    sinks = [place for place in range(len(nodes)) if place not in heads]

    def shared(places: Sequence[int], text: str) -> float:
        return max((_share(nodes[place], text) for place in places), default=0.0)

    count, denying = count_negated(question), denies(belief)
    into_sinks = [negated(relation) for _, relation, tail in edges if tail in sinks]
    return {
        "negated edges": count,
        "any negated edge": count > 0,
        "odd number of negated edges": count % 2,
        "antonyms": sum(relation == "antonym of" for _, relation, _ in edges),
        "first edge negated": negated(edges[0][1]),
        "last edge negated": negated(edges[-1][1]),
        "negated edges into sinks": sum(into_sinks),
        "belief denies": denying,
        "argument denies": denies(argument),
        "belief prevents": bool(PREVENTIONS.search(belief)),
        "argument prevents": bool(PREVENTIONS.search(argument)),
        "either negated edge or denying belief": (count > 0) != denying,
        "odd number, the belief counted": (count + denying) % 2,
        "nodes that deny": sum(map(denies, nodes)),
        "nodes": len(nodes),
        "edges": len(edges),
        "starts": len(starts),
        "sinks": len(sinks),
        "words shared by belief and argument": _share(belief, argument),
        "belief's words in a sink": shared(sinks, belief),
        "argument's words in a start": shared(starts, argument),
        "belief's words in a start": shared(starts, belief),
    }


def _share(text: str, other: str) -> float:
    """Share of the words of a text that another has too."""
    words, others = (set(WORDS.findall(each.lower())) for each in (text, other))
    return len(words & others) / max(len(words), 1)


@dataclass(frozen=True)
class Baseline:
    """A row: its name, how it decides, and what it looks at.

    model: "rule", where `look(question, usual)` is the answer; "words", logistic regression on
    tf-idf of the text `look(question)`; "linear" or "trees", logistic regression or boosted trees
    on the matrix `look(questions, embed)`. encoder: whether it needs one.
    """

    name: str
    model: Literal["rule", "words", "linear", "trees"]
    look: Callable[..., Any]
    encoder: bool = False


BASELINES = (
    Baseline("majority", "rule", lambda question, usual: usual),
    Baseline("any negated relation", "rule", one_bit),
    Baseline("negated relation xor denying belief", "rule", two_bits),
    Baseline("number of negated relations", "linear", negation_counts),
    Baseline("bag of relations", "linear", relation_bag),
    Baseline("pair vectors", "linear", pair_vectors, encoder=True),
    Baseline("pair vectors compared", "linear", pair_comparison, encoder=True),
    Baseline("node vectors", "linear", node_vectors, encoder=True),
    Baseline("relation vectors", "linear", edge_vectors, encoder=True),
    Baseline("node and relation vectors", "linear", graph_vectors, encoder=True),
    Baseline("pooled graph vector", "linear", pooled_vectors, encoder=True),
    Baseline("words of the pair", "words", pair_words),
    Baseline("words of the graph", "words", graph_words),
    Baseline("words of both", "words", all_words),
    Baseline("line on hand features", "linear", hand_features),
    Baseline("trees on hand features", "trees", hand_features),
)


def measure_baselines(
    task: GraphTask,
    names: Collection[str] | None = None,
    encoder: str = "minilm",
    seeds: Sequence[int] = SPLIT_SEEDS,
) -> list[Row]:
    """Rows of `{"method", "accuracy", "other splits", "sd"}` in percent: on the task's own test
    part, and mean and deviation over splits drawn anew.

    names: which baselines, by default all. seeds: of the other splits; () measures the task's own
    only.

    Source: GRAG, Table 2 (tab-2)
    """
    chosen = [baseline for baseline in BASELINES if names is None or baseline.name in names]
    embed = _embedder(task, encoder) if any(baseline.encoder for baseline in chosen) else None
    by_id = tuple(sorted(task.questions, key=lambda question: question.id))
    others = [split(by_id, seed) for seed in seeds]
    rows = []
    for baseline in chosen:
        own = accuracy(predict(baseline, task, embed), task.test)
        row: Row = {"method": baseline.name, "accuracy": own}
        if again := [accuracy(predict(baseline, other, embed), other.test) for other in others]:
            row |= {"other splits": float(np.mean(again)), "sd": float(np.std(again))}
        rows.append(row)
    return rows


def _embedder(task: GraphTask, encoder: str) -> Embed:
    """texts -> vectors, each different text encoded once."""
    loaded = load_encoder(encoder)
    known: dict[str, Matrix] = {}
    texts = {text for q in task.questions for text in (*belief_and_argument(q), *q.graph_texts)}
    loaded.fit(sorted(texts))

    def embed(wanted: Sequence[str]) -> Matrix:
        missing = list(dict.fromkeys(text for text in wanted if text not in known))
        known.update(zip(missing, loaded.encode(missing)) if missing else ())
        return np.stack([known[text] for text in wanted])

    return embed


def predict(baseline: Baseline, task: GraphTask, embed: Embed | None = None) -> list[str]:
    """The baseline's answers to the test part; what there is to learn is learnt on the training
    part and chosen on the validation part.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    if baseline.model == "rule":
        usual = Counter(question.answer for question in task.train).most_common(1)[0][0]
        return [baseline.look(question, usual) for question in task.test]
    if baseline.model == "words":
        words = {"ngram_range": (1, 2), "min_df": 2, "token_pattern": r"[\w']+"}
        vectorizer = TfidfVectorizer(sublinear_tf=True, **words)
        vectorizer.fit(map(baseline.look, task.train))
        matrices = [vectorizer.transform(map(baseline.look, part)) for part in task.parts]
    else:
        matrices = [baseline.look(part, embed) for part in task.parts]
    if baseline.model == "trees":
        steady = {"learning_rate": 0.05, "random_state": 0}
        models = [HistGradientBoostingClassifier(max_leaf_nodes=k, **steady) for k in LEAVES]
    else:
        models = [LogisticRegression(C=strength, max_iter=3000) for strength in STRENGTHS]
    return fit_best(models, matrices, task)
