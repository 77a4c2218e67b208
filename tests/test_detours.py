"""The synthetic task `detours`: the same everywhere, answerable only by walking, balanced, and with
evidence that is right.
"""

import hashlib
import os
import subprocess
import sys
from collections import Counter

import pytest

from minirag.algorithms.ego_graphs import TextualGraph
from minirag.core.errors import MiniragError
from minirag.corpora.detours import NAMES, RELATIONS, VALUES, detours, named_entity

ANSWERS = {value for values in VALUES.values() for value in values}
DIGEST = "75329e672ce32ee3"


@pytest.fixture(scope="module")
def task():
    return detours(train=480, validation=48, test=240)


def digest(questions):
    lines = [
        f"{q.id} {q.question} {q.answer} {q.graph.nodes} {q.graph.edges} {q.evidence_nodes} "
        f"{q.evidence_edges}"
        for q in questions
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def walk(question):
    """All answers that a reader finds by following the two words of the question from the person it
    names.
    """
    attribute, relation, name = (
        question.question.removeprefix("what is the ").removesuffix(" ?").split(" of ")
    )
    graph, relation = question.graph, relation.removeprefix("the ")
    reached = [
        tail for head, text, tail in graph.edges if graph.nodes[head] == name and text == relation
    ]
    return [
        graph.nodes[tail]
        for head, text, tail in graph.edges
        if head in reached and text == attribute
    ]


def test_the_same_questions_everywhere():
    assert digest(detours(train=3, validation=2, test=5).test) == DIGEST
    code = "from test_detours import *; print(digest(detours(train=3, validation=2, test=5).test))"
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, check=False
        )
        assert run.stdout.decode().strip() == DIGEST, run.stderr.decode()


def test_a_smaller_task_is_the_beginning_of_a_larger_one(task):
    assert detours(train=10, validation=5, test=30).test == task.test[:30]
    assert detours(train=0, validation=0, test=5, seed=1).test != task.test[:5]


def test_the_answer_is_found_by_walking_and_only_one_is(task):
    for question in task.train + task.validation + task.test:
        assert walk(question) == [question.answer]


def test_every_question_has_its_own_small_graph(task):
    for question in task.test:
        assert len(question.graph.edges) == 40
        assert sum(text in NAMES for text in question.graph.nodes) == 8
        assert len(set(question.graph.nodes)) == len(question.graph.nodes)
    mean = sum(len(question.graph.nodes) for question in task.test) / len(task.test)
    assert 23 < mean < 25


def test_no_detour_leads_to_the_answer(task):
    for question in task.test:
        graph, (asked, reached, _), (_, last) = (
            question.graph,
            question.evidence_nodes,
            question.evidence_edges,
        )
        attribute = graph.edges[last][1]
        near = {asked} | {
            tail for head, _, tail in graph.edges if head == asked and graph.nodes[tail] in NAMES
        } - {reached}
        assert len(near) == 2  # the named person and one other
        assert question.answer not in {
            graph.nodes[tail]
            for head, text, tail in graph.edges
            if head in near and text == attribute
        }


def test_answers_relations_and_places_are_balanced(task):
    assert set(Counter(question.answer for question in task.test).values()) == {10}
    assert {question.answer for question in task.train} == ANSWERS == set(task.answers)
    relations = Counter(
        question.graph.edges[question.evidence_edges[0]][1] for question in task.train
    )
    assert set(relations) == set(RELATIONS) and max(relations.values()) < 2 * min(
        relations.values()
    )
    first = [question.evidence_nodes[2] < len(question.graph.nodes) / 2 for question in task.train]
    assert (
        0.42 < sum(first) / len(first) < 0.58
    )  # where a node stands says nothing about whether it is the answer


def test_no_graph_comes_twice(task):
    graphs = [
        (frozenset(q.graph.nodes), frozenset(q.graph.lines()))
        for q in task.train + task.validation + task.test
    ]
    assert len(set(graphs)) == len(graphs)


def test_evidence_is_the_way(task):
    for question in task.test:
        graph, (asked, reached, answer) = question.graph, question.evidence_nodes
        first, second = (graph.edges[edge] for edge in question.evidence_edges)
        assert (first[0], first[2], second[0], second[2]) == (asked, reached, reached, answer)
        assert (
            question.question
            == f"what is the {second[1]} of the {first[1]} of {graph.nodes[asked]} ?"
        )
        assert graph.nodes[answer] == question.answer


def test_entity_linking_needs_no_gold(task):
    for question in task.test:
        assert named_entity(question.question, question.graph) == question.evidence_nodes[0]


def test_entity_linking_reads_whole_words_and_prefers_the_longest():
    graph = TextualGraph(("Ann", "Anna", "Anna Berg", "C++ (old)"))
    assert named_entity("where does anna berg live?", graph) == 2
    assert named_entity("where does Anna live?", graph) == 1
    assert named_entity("who wrote C++ (old)?", graph) == 3
    with pytest.raises(MiniragError, match="names no node"):
        named_entity("where does Annabel live?", graph)


def test_other_sizes():
    task = detours(train=2, validation=1, test=4, people=12, contacts=3)
    assert "12 people" in task.source and "synthetic" in task.source
    for question in task.test:
        assert len(question.graph.edges) == 12 * 6 and walk(question) == [question.answer]
    assert all(
        walk(question) == [question.answer]
        for question in detours(0, 0, 40, people=2, contacts=1).test
    )


@pytest.mark.parametrize(
    "sizes",
    [
        {"people": 1},
        {"people": 41},
        {"contacts": 0},
        {"contacts": 8},
        {"contacts": 9, "people": 12},
    ],
)
def test_sizes_that_cannot_be_made(sizes):
    with pytest.raises(MiniragError, match="cannot be made"):
        detours(1, 1, 1, **sizes)


def test_words_do_not_overlap():
    words = [*NAMES, *RELATIONS, *VALUES, *ANSWERS]
    assert (
        len({word.lower() for word in words})
        == len(words)
        == len(NAMES) + len(RELATIONS) + len(VALUES) + sum(map(len, VALUES.values()))
    )
