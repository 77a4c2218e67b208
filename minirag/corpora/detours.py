"""The synthetic task `detours`: a question of two steps over a small graph of its own, full of
neighbours that lead astray.

"what is the pet of the boss of Clara ?" is answered in two steps, and Clara's own pet, the pet of
her dentist and those of other people's bosses lie at the wayside. What holds in one graph says
nothing about the next, so nothing can be learnt by heart. It stands in for WebQSP, which has to be
fetched and needs a large language model. It is generated from word lists and a seed, and `source`
says so wherever its numbers are shown.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ..algorithms.ego_graphs import Direction, TextualGraph, ego_graph
from ..core.errors import MiniragError
from ..core.graph import GraphQuestion, GraphTask

# Chosen so that MiniLM tells them apart: a question lies nearest to its own name, relation and
# attribute.
FIRST_NAMES = """
    Anna Boris Clara David Elena Felix Greta Hugo Irene Jonas Karen Louis Maria Nadia Oscar Paula
    Quentin Rosa Simon Tessa Ulrich Vera Walter Xenia Yusuf Zoe Albert Bruno Cecil Doris Ernest
    Flora Gavin Helga Isaac Judith Kevin Linda Martin Nelly
"""
NAMES = tuple(FIRST_NAMES.split())
RELATIONS = ("boss", "neighbour", "teacher", "dentist", "cousin", "rival", "tenant", "partner")
VALUES = {
    "pet": ("dog", "cat", "horse", "parrot", "rabbit", "turtle", "goat", "goldfish"),
    "job": ("baker", "lawyer", "sailor", "painter", "farmer", "plumber", "pilot", "singer"),
    "colour": ("red", "green", "blue", "yellow", "black", "white", "purple", "orange"),
}
T = TypeVar("T")
QUESTION = "what is the {attribute} of the {relation} of {name} ?"


def detours(
    train: int = 6000,
    validation: int = 600,
    test: int = 600,
    seed: int = 0,
    people: int = 8,
    contacts: int = 2,
) -> GraphTask:
    """The task as a `GraphTask`: `train`, `validation` and `test` questions, each with a graph of
    its own.

    people: persons of a graph. contacts: how many others each of them is related to, each by a
    relation of its own; each person has a pet, a job and a colour besides. With the default sizes a
    graph has 8 x 2 + 8 x 3 = 40 edges and about 24 nodes, as persons may share a value. The asked
    value differs from the one of the named person and of all this person's other relations, so that
    no detour gives the answer; answers are dealt from a shuffled deck of all 24, so that they are
    balanced. Evidence is the way walked: three nodes and two edges. The same arguments give the
    same questions on every machine. Raises MiniragError for sizes that the word lists cannot fill.
    """
    if not 2 <= people <= len(NAMES) or not 1 <= contacts <= min(len(RELATIONS), people - 1):
        raise MiniragError(
            f"detours(people={people}, contacts={contacts}) cannot be made: with {len(NAMES)}"
            f" names, people is 2 to {len(NAMES)}; with {len(RELATIONS)} relations, contacts is 1"
            f" to {len(RELATIONS)} and less than people."
        )
    if min(train, validation, test) < 0:
        raise MiniragError(
            f"detours(train={train}, validation={validation}, test={test}): numbers of questions"
            " from 0 on are expected."
        )
    sizes = {"train": train, "validation": validation, "test": test}
    parts = {
        name: _part(name, size, f"{seed} {people} {contacts}", people, contacts)
        for name, size in sizes.items()
    }
    return GraphTask("detours", f"synthetic, generated with seed {seed}, {people} people", **parts)


def named_entity(question: str, graph: TextualGraph) -> int:
    """The position of the node whose text stands in the question, word for word: entity linking in
    its simplest form.

    The longest such text wins, then the first node. It sees what any method sees: the question's
    words and the graph. Raises MiniragError where no node is named.
    """
    found = [
        node
        for node, text in enumerate(graph.nodes)
        if text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question, re.IGNORECASE)
    ]
    if not found:
        raise MiniragError(
            f"The question {question!r} names no node of its graph of {len(graph.nodes)} nodes:"
            " link it to a node in another way."
        )
    return min(found, key=lambda node: (-len(graph.nodes[node]), node))


def around_named(
    question: GraphQuestion, hops: int = 2, direction: Direction = "out"
) -> GraphQuestion:
    """The question over the ego-graph of the node that it names, which is the root and node 0.
    Evidence is kept as far as it lies in there.
    """
    root = named_entity(question.question, question.graph)
    graph, nodes, edges = ego_graph(question.graph, root, hops, direction)
    node_place, edge_place = ({old: new for new, old in enumerate(kept)} for kept in (nodes, edges))
    return replace(
        question,
        graph=graph,
        evidence_nodes=tuple(node_place[i] for i in question.evidence_nodes if i in node_place),
        evidence_edges=tuple(edge_place[i] for i in question.evidence_edges if i in edge_place),
    )


class Dice:
    """Random choices from `random()` alone: the one method whose numbers Python promises to keep
    from version to version.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choice(self, items: Sequence[T]) -> T:
        return items[int(self._random.random() * len(items))]

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """`size` different items in random order."""
        left = list(items)
        return [left.pop(int(self._random.random() * len(left))) for _ in range(size)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.sample(items, len(items))


def _part(name: str, size: int, seed: str, people: int, contacts: int) -> tuple[GraphQuestion, ...]:
    """`size` questions; the i-th does not depend on how many there are."""
    deck = [(attribute, value) for attribute, values in VALUES.items() for value in values]
    questions = []
    for number in range(size):
        if number % len(deck) == 0:
            hand = Dice(f"detours {seed} {name} deck {number}").shuffled(deck)
        attribute, answer = hand[number % len(deck)]
        dice = Dice(f"detours {seed} {name} {number}")
        id = f"{name}-{number}"
        questions.append(_question(id, attribute, answer, dice, people, contacts))
    return tuple(questions)


def _question(
    id: str, attribute: str, answer: str, dice: Dice, people: int, contacts: int
) -> GraphQuestion:
    names = dice.sample(NAMES, people)
    knows = {}
    for name in names:
        relations = dice.sample(RELATIONS, contacts)
        others = [other for other in names if other != name]
        knows[name] = list(zip(relations, dice.sample(others, contacts)))
    owns = {name: {kind: dice.choice(values) for kind, values in VALUES.items()} for name in names}
    asked = dice.choice(names)
    relation, reached = dice.choice(knows[asked])
    wrong = [value for value in VALUES[attribute] if value != answer]
    for detour in [asked, *(other for _, other in knows[asked] if other != reached)]:
        owns[detour][attribute] = dice.choice(wrong)
    owns[reached][attribute] = answer
    triples = [(name, word, other) for name in names for word, other in knows[name]]
    triples += [(name, kind, value) for name in names for kind, value in owns[name].items()]
    triples = dice.shuffled(triples)
    texts = dice.shuffled(sorted({text for head, _, tail in triples for text in (head, tail)}))
    place = {text: position for position, text in enumerate(texts)}
    edges = tuple((place[head], text, place[tail]) for head, text, tail in triples)
    way = triples.index((asked, relation, reached)), triples.index((reached, attribute, answer))
    return GraphQuestion(
        id,
        QUESTION.format(attribute=attribute, relation=relation, name=asked),
        answer,
        TextualGraph(tuple(texts), edges),
        evidence_nodes=(place[asked], place[reached], place[answer]),
        evidence_edges=way,
    )
