"""What ExplaGraphs' answers can be told from without reading the graph as a graph: rules, counts,
bags of words, mean vectors.

The people who drew the graphs knew the answer, and it shows in the relations they chose. These rows
stand beside every trained model's accuracy.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..corpora.expla_graphs import ANSWERS, belief_and_argument, split
from ..encoders.text_encoders import load_encoder
from . import stance_features as features
from .graph_baselines import best_fitted
from .stance_features import count_negated, denies

STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # logistic regression's C, chosen on the validation part
LEAVES = (4, 8, 16)  # of a boosted tree, chosen on the validation part
SPLIT_SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Baseline:
    """A row: its name, how it decides, and what it looks at.

    model: "rule", where `look(question, usual)` is the answer; "words", logistic regression on
    tf-idf of the text `look(question)`; "linear" or "trees", logistic regression or boosted trees
    on the matrix `look(questions, embed)`. encoder: whether it needs one.
    """

    name: str
    model: str
    look: Callable[..., Any]
    encoder: bool = False


BASELINES = (
    Baseline("majority", "rule", lambda question, usual: usual),
    Baseline(
        "any negated relation", "rule", lambda question, usual: ANSWERS[count_negated(question) > 0]
    ),
    Baseline(
        "negated relation xor denying belief",
        "rule",
        lambda question, usual: ANSWERS[(count_negated(question) > 0) != _denying(question)],
    ),
    Baseline("number of negated relations", "linear", features.negation_counts),
    Baseline("bag of relations", "linear", features.relation_bag),
    Baseline("pair vectors", "linear", features.pair_vectors, encoder=True),
    Baseline("pair vectors compared", "linear", features.pair_comparison, encoder=True),
    Baseline("node vectors", "linear", features.node_vectors, encoder=True),
    Baseline("relation vectors", "linear", features.edge_vectors, encoder=True),
    Baseline("node and relation vectors", "linear", features.graph_vectors, encoder=True),
    Baseline("pooled graph vector", "linear", features.pooled_vectors, encoder=True),
    Baseline("words of the pair", "words", features.pair_words),
    Baseline("words of the graph", "words", features.graph_words),
    Baseline("words of both", "words", features.all_words),
    Baseline("line on hand features", "linear", features.hand_features),
    Baseline("trees on hand features", "trees", features.hand_features),
)


def _denying(question):
    return denies(belief_and_argument(question)[0])


def measure_baselines(task, names=None, encoder="minilm", seeds=SPLIT_SEEDS):
    """Rows of `{"method", "accuracy", "other splits", "sd"}` in percent: on the task's own test
    part, and mean and deviation over splits drawn anew.

    names: which baselines, by default all. seeds: of the other splits; () measures the task's own
    only.

    Source: GRAG, Table 2 (tab-2)
    """
    chosen = [baseline for baseline in BASELINES if names is None or baseline.name in names]
    embed = _embedder(task, encoder) if any(baseline.encoder for baseline in chosen) else None
    others = [
        split(tuple(sorted(everything(task), key=lambda question: question.id)), seed)
        for seed in seeds
    ]
    rows = []
    for baseline in chosen:
        row = {
            "method": baseline.name,
            "accuracy": accuracy(predict(baseline, task, embed), task.test),
        }
        again = [accuracy(predict(baseline, other, embed), other.test) for other in others]
        rows.append(
            row
            | ({"other splits": float(np.mean(again)), "sd": float(np.std(again))} if again else {})
        )
    return rows


def everything(task):
    """All questions of a task."""
    return (*task.train, *task.validation, *task.test)


def accuracy(predicted, questions):
    """Percent of the questions whose answer was predicted."""
    return percent_equal(predicted, [question.answer for question in questions])


def percent_equal(some, others):
    """Percent of the places where two lists of answers agree."""
    return 100 * sum(one == other for one, other in zip(some, others, strict=True)) / len(some)


def _embedder(task, encoder):
    """texts -> vectors, each different text encoded once."""
    encoder, known = load_encoder(encoder), {}
    texts = {
        text
        for question in everything(task)
        for text in (
            *belief_and_argument(question),
            *question.graph.nodes,
            *(e[1] for e in question.graph.edges),
        )
    }
    encoder.fit(sorted(texts))

    def embed(wanted):
        missing = list(dict.fromkeys(text for text in wanted if text not in known))
        known.update(zip(missing, encoder.encode(missing)) if missing else ())
        return np.stack([known[text] for text in wanted])

    return embed


def predict(baseline, task, embed=None):
    """The baseline's answers to the test part; what there is to learn is learnt on the training
    part and chosen on the validation part.
    """
    if baseline.model == "rule":
        usual = Counter(question.answer for question in task.train).most_common(1)[0][0]
        return [baseline.look(question, usual) for question in task.test]
    parts = (task.train, task.validation, task.test)
    if baseline.model == "words":
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"[\w']+"
        ).fit(map(baseline.look, task.train))
        matrices = [vectorizer.transform(map(baseline.look, part)) for part in parts]
    else:
        matrices = [baseline.look(part, embed) for part in parts]
    answers = [[question.answer for question in part] for part in parts[:2]]
    return list(
        best_fitted(
            _trees() if baseline.model == "trees" else _lines(), matrices[:2], answers
        ).predict(matrices[2])
    )


def _lines():
    from sklearn.linear_model import LogisticRegression

    return [LogisticRegression(C=strength, max_iter=3000) for strength in STRENGTHS]


def _trees():
    from sklearn.ensemble import HistGradientBoostingClassifier

    return [
        HistGradientBoostingClassifier(learning_rate=0.05, max_leaf_nodes=leaves, random_state=0)
        for leaves in LEAVES
    ]


def stance_by_negations(questions):
    """For 0, 1, 2, 3 or more negated relations, and for beliefs without and with a negation: how
    many items, and percent counter.
    """
    rows = []
    for count in range(4):
        some = [question for question in questions if min(count_negated(question), 3) == count]
        row = {
            "negated relations": str(count) if count < 3 else "3 or more",
            **_counter(some, "all"),
        }
        for denying, name in ((False, "plain belief"), (True, "denying belief")):
            row |= _counter([question for question in some if _denying(question) == denying], name)
        rows.append(row)
    return rows


def stance_by_relation(questions):
    """For every relation: in how many items it occurs, and what percent of those are counter; most
    counter first.
    """
    rows = []
    for relation in features.RELATIONS:
        some = [
            question
            for question in questions
            if any(name == relation for _, name, _ in question.graph.edges)
        ]
        rows += (
            [{"relation": relation, "negated": features.negated(relation), **_counter(some, "all")}]
            if some
            else []
        )
    return sorted(rows, key=lambda row: (-row["all: % counter"], row["relation"]))


def _counter(questions, name):
    counters = sum(question.answer == "counter" for question in questions)
    return {
        f"{name}: items": len(questions),
        f"{name}: % counter": 100 * counters / len(questions) if questions else None,
    }
