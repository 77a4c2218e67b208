"""Baselines that cannot walk, and what Eq. 2-4 find of the named entity's ego-graph, on the
synthetic task `detours`.
"""

from dataclasses import replace

import numpy as np
import pytest

from minirag.algorithms.ego_graphs import TextualGraph
from minirag.core.graph import GraphQuestion, GraphTask
from minirag.corpora.detours import around_named, detours
from minirag.reproduce.detours import RANKINGS, Ranking, asked_texts, ego_retrieval_table, near
from minirag.reproduce.graph_baselines import (
    bags_of_words,
    graph_text,
    mean_vectors,
    most_frequent,
    regression,
    shallow_baselines,
    tfidf_of_triples,
)


class WordVectors:
    """A text is the normalised sum of fixed random vectors, one a word: a stand-in for an encoder
    that knows words and nothing else.
    """

    name = "words"

    def encode(self, texts, kind="passage"):
        rows = [
            sum(
                np.random.default_rng(list(word.encode())).standard_normal(64)
                for word in text.lower().split()
            )
            for text in texts
        ]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32)


@pytest.fixture(scope="module")
def task():
    return detours(train=240, validation=48, test=96)


def toy(train, test):
    """Questions from (question, answer, triples)."""

    def part(rows):
        questions = []
        for number, (question, answer, triples) in enumerate(rows):
            texts = list(dict.fromkeys(text for head, _, tail in triples for text in (head, tail)))
            edges = tuple(
                (texts.index(head), text, texts.index(tail)) for head, text, tail in triples
            )
            questions.append(
                GraphQuestion(str(number), question, answer, TextualGraph(tuple(texts), edges))
            )
        return tuple(questions)

    return GraphTask("toy", "written for a test", part(train), part(train), part(test))


def test_the_most_frequent_value_needs_the_right_edge_and_a_known_answer():
    triples = [
        ("Ann", "pet", "cat"),
        ("Bob", "pet", "cat"),
        ("Eve", "pet", "dog"),
        ("Ann", "job", "dog"),
        ("Bob", "job", "dog"),
        ("Eve", "pet", "Eve"),
    ]
    task = toy(
        [("the pet of Ann ?", "cat", triples), ("the job of Ann ?", "dog", triples)],
        [("the pet of Eve ?", "dog", triples), ("who ?", "dog", triples)],
    )
    assert most_frequent(task) == ["cat", "cat"]  # the second question names no edge


def test_counting_learns_what_counting_can_learn():
    yes, no = [("a", "likes", "b")], [("a", "hates", "b")]
    rows = [("does a like b ?", "yes", yes), ("does a like b ?", "no", no)] * 4
    task = toy(rows, rows[:2])
    for features in (
        bags_of_words,
        tfidf_of_triples,
        lambda task: mean_vectors(task, WordVectors()),
    ):
        assert regression(task, features(task)) == ["yes", "no"]


def test_question_and_graph_have_columns_of_their_own():
    same = [("a", "likes", "b")]
    task = toy(
        [("likes ?", "x", same), ("b ?", "y", same)] * 2,
        [("likes ?", "x", same), ("b ?", "y", same)],
    )
    assert regression(task, bags_of_words(task)) == ["x", "y"]


def test_a_node_without_edges_is_in_the_text_too():
    assert graph_text(TextualGraph(("a", "b", "alone"), ((0, "to", 1),))) == "a -> to -> b\nalone"


def test_no_baseline_walks(task):
    rows = shallow_baselines(task, WordVectors())
    assert len(rows) == 5
    assert all(
        row["accuracy %"] < 60 for row in rows + shallow_baselines(near(task), WordVectors())
    )


def test_evidence_changes_no_baseline_and_no_ranking(task):
    bare = [replace(question, evidence_nodes=(), evidence_edges=()) for question in task.test]
    assert most_frequent(replace(task, test=tuple(bare))) == most_frequent(task)
    assert [question.graph for question in map(around_named, bare)] == [
        question.graph for question in map(around_named, task.test)
    ]


def test_the_ego_graph_of_the_named_entity_holds_the_way(task):
    """Source: GRAG, Sec. 4.1 (eq-2)"""
    for question in task.test:
        near = around_named(question)
        assert (
            near.graph.nodes[0] == question.graph.nodes[question.evidence_nodes[0]]
            and near.evidence_nodes[0] == 0
        )
        assert [near.graph.nodes[node] for node in near.evidence_nodes] == [
            question.graph.nodes[node] for node in question.evidence_nodes
        ]
        assert [near.graph.lines()[edge] for edge in near.evidence_edges] == [
            question.graph.lines()[edge] for edge in question.evidence_edges
        ]
    short = around_named(task.test[0], hops=1)
    assert len(short.evidence_nodes) == 2 and len(short.evidence_edges) == 1


def test_what_is_asked(task):
    question = task.test[0]
    attribute, relation, name = (
        question.question.removeprefix("what is the ")
        .removesuffix(" ?")
        .replace("the ", "")
        .split(" of ")
    )
    assert asked_texts(task.test)[0] == question.question
    assert asked_texts(task.test, "words")[0] == f"{attribute} {relation} {name}"
    assert asked_texts(task.test, "name")[0] == name


def brute(question, encoder, ranking):
    """Where the named entity's ego-graph ranks, written out: breadth-first, one mean, one sort."""
    graph = question.graph

    def vector(text):
        return encoder.encode([text])[0].astype(float)

    cosines = []
    for root in range(len(graph.nodes)):
        inside = {root}
        for _ in range(ranking.hops):
            inside |= {tail for head, _, tail in graph.edges if head in inside}
        texts = [graph.nodes[node] for node in inside] + [
            text for head, text, tail in graph.edges if head in inside and tail in inside
        ]
        mean = np.mean([vector(text) for text in texts], axis=0)
        both = (1 - ranking.root) * mean / np.linalg.norm(mean) + ranking.root * vector(
            graph.nodes[root]
        )
        cosines.append(round(float(both @ vector(question.asked) / np.linalg.norm(both)), 9))
    return sorted(range(len(cosines)), key=lambda root: (-cosines[root], root)).index(
        question.evidence_nodes[0]
    )


def test_the_ranking_is_the_paper_s(task):
    """Source: GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)"""
    encoder = WordVectors()
    for ranking in (Ranking("paper"), Ranking("one hop", hops=1), Ranking("with root", root=0.5)):
        places = [brute(question, encoder, ranking) for question in task.test[:12]]
        [row] = ego_retrieval_table(task.test[:12], encoder, [ranking])
        assert row["own in top 1 %"] == round(100 * np.mean([place < 1 for place in places]), 1)
        assert row["own in top 5 %"] == round(100 * np.mean([place < 5 for place in places]), 1)


def test_every_ranking_gives_a_row_that_makes_sense(task):
    rows = ego_retrieval_table(task.test[:24], WordVectors())
    assert [row["ranking"] for row in rows] == [ranking.name for ranking in RANKINGS]
    for row in rows:
        for what in ("own", "way", "evidence", "graph"):
            shares = [row[f"{what} in top {top} %"] for top in (1, 3, 5)]
            assert 0 <= shares[0] <= shares[1] <= shares[2] <= 100
    linked = rows[-1]
    assert (
        linked["own in top 1 %"] == linked["way in top 1 %"] == linked["evidence in top 1 %"] == 100
    )


def test_mean_pooling_loses_the_name_and_the_root_s_own_text_brings_it_back(task):
    """Source: GRAG, Eq. 2-4 (eq-2, eq-3, eq-4)"""
    rows = {
        row["ranking"]: row
        for row in ego_retrieval_table(
            task.test, "minilm", [Ranking("Eq. 2-4"), Ranking("root", root=0.25)]
        )
    }
    assert rows["Eq. 2-4"]["own in top 1 %"] < 45
    assert rows["root"]["own in top 1 %"] > 95
