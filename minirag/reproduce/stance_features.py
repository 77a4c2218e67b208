"""ExplaGraphs' questions as numbers: what relations, words and mean vectors tell without reading
the graph as a graph.
"""

import re
from collections import Counter

import numpy as np

from ..algorithms.vectors import normalize
from ..corpora.expla_graphs import belief_and_argument

NEGATIONS = re.compile(
    r"\b(?:not|no|never|nor|none|nothing|cannot|without|\w+n't|lack\w*|unable|fail\w*)\b",
    re.IGNORECASE,
)
PREVENTIONS = re.compile(
    r"\b(?:ban\w*|abolish\w*|end|ended|stop\w*|prohibit\w*|eliminat\w*|against|outlaw\w*|illegal)\b",
    re.IGNORECASE,
)
WORDS = re.compile(r"[\w']+")


def negated(relation):
    """Whether a relation denies something: "not ...", "is not a", "antonym of"."""
    return relation.startswith("not ") or relation in ("is not a", "antonym of")


def count_negated(question):
    """How many edges of the question's graph are negated."""
    return sum(negated(relation) for _, relation, _ in question.graph.edges)


def denies(text):
    """Whether a text has a word of negation."""
    return bool(NEGATIONS.search(text.replace("’", "'")))


def negation_counts(questions, embed=None):
    """(n, 5) one-hot: 0, 1, 2, 3, or more negated edges."""
    return np.eye(5)[[min(count_negated(question), 4) for question in questions]]


def relation_bag(questions, embed=None):
    """(n, relations) how often each relation occurs, relations in alphabetical order."""
    order = {relation: place for place, relation in enumerate(RELATIONS)}
    bag = np.zeros((len(questions), len(RELATIONS)))
    for row, question in enumerate(questions):
        for _, relation, _ in question.graph.edges:
            bag[row, order[relation]] += 1
    return bag


PLAIN = (
    "at location",
    "capable of",
    "causes",
    "created by",
    "desires",
    "has context",
    "has property",
    "has subevent",
    "made of",
    "part of",
)
PLAIN += ("receives action", "used for")
RELATIONS = tuple(
    sorted(
        [*PLAIN, *(f"not {name}" for name in PLAIN), "is a", "is not a", "synonym of", "antonym of"]
    )
)


def pair_vectors(questions, embed):
    """(n, 2d) belief beside argument."""
    belief, argument = (
        embed([belief_and_argument(question)[side] for question in questions]) for side in (0, 1)
    )
    return np.hstack([belief, argument])


def pair_comparison(questions, embed):
    """(n, 4d) belief, argument, their element-wise distance and product: the usual features of a
    pair of sentences.
    """
    belief, argument = np.split(pair_vectors(questions, embed), 2, axis=1)
    return np.hstack([belief, argument, np.abs(belief - argument), belief * argument])


def node_vectors(questions, embed):
    """(n, d) mean over a graph's nodes, made a unit vector."""
    return _means([question.graph.nodes for question in questions], embed)


def edge_vectors(questions, embed):
    """(n, d) mean over a graph's relations, made a unit vector."""
    return _means(
        [[relation for _, relation, _ in question.graph.edges] for question in questions], embed
    )


def graph_vectors(questions, embed):
    """(n, 2d) mean of the nodes beside mean of the relations."""
    return np.hstack([node_vectors(questions, embed), edge_vectors(questions, embed)])


def pooled_vectors(questions, embed):
    """(n, d) mean over nodes and relations together, the graph's own vector in GRAG.

    Source: GRAG, Eq. 2 (eq-2)
    """
    return _means(
        [
            [*question.graph.nodes, *(relation for _, relation, _ in question.graph.edges)]
            for question in questions
        ],
        embed,
    )


def _means(groups, embed):
    vectors = embed([text for group in groups for text in group])
    ends = np.cumsum([len(group) for group in groups])
    return normalize(np.stack([part.mean(axis=0) for part in np.split(vectors, ends[:-1])]))


def pair_words(question):
    """Belief and argument as one text."""
    return " ".join(belief_and_argument(question))


def graph_words(question):
    """The graph's triples as one text; a relation is one word."""
    nodes = question.graph.nodes
    return " ".join(
        f"{nodes[head]} {relation.replace(' ', '_')} {nodes[tail]}"
        for head, relation, tail in question.graph.edges
    )


def all_words(question):
    """Belief, argument and triples as one text."""
    return f"{pair_words(question)} {graph_words(question)}"


def hand_features(questions, embed=None):
    """(n, 22) numbers that a person thought of who had looked at the data, all of it: the accuracy
    is a little flattered. `by_hand` names them.
    """
    return np.array([list(by_hand(question).values()) for question in questions], dtype=float)


def by_hand(question):
    """The hand-made features of one question by name: negations in relations and texts, the graph's
    shape, words shared with its ends.
    """
    belief, argument = belief_and_argument(question)
    graph, edges = question.graph, question.graph.edges
    heads, tails = Counter(head for head, _, _ in edges), Counter(tail for _, _, tail in edges)
    starts, sinks = (
        [place for place in range(len(graph.nodes)) if place not in ends] for ends in (tails, heads)
    )
    of_belief, of_argument = _words(belief), _words(argument)
    shared = lambda places, text: max(
        (_share(_words(graph.nodes[place]), text) for place in places), default=0.0
    )
    count, belief_denies = count_negated(question), denies(belief)
    return {
        "negated edges": count,
        "any negated edge": count > 0,
        "odd number of negated edges": count % 2,
        "antonyms": sum(relation == "antonym of" for _, relation, _ in edges),
        "first edge negated": negated(edges[0][1]),
        "last edge negated": negated(edges[-1][1]),
        "negated edges into sinks": sum(
            negated(relation) for _, relation, tail in edges if tail in sinks
        ),
        "belief denies": belief_denies,
        "argument denies": denies(argument),
        "belief prevents": bool(PREVENTIONS.search(belief)),
        "argument prevents": bool(PREVENTIONS.search(argument)),
        "either negated edge or denying belief": (count > 0) != belief_denies,
        "odd number, the belief counted": (count + belief_denies) % 2,
        "nodes that deny": sum(map(denies, graph.nodes)),
        "nodes": len(graph.nodes),
        "edges": len(edges),
        "starts": len(starts),
        "sinks": len(sinks),
        "words shared by belief and argument": _share(of_belief, of_argument),
        "belief's words in a sink": shared(sinks, of_belief),
        "argument's words in a start": shared(starts, of_argument),
        "belief's words in a start": shared(starts, of_belief),
    }


def _words(text):
    return set(WORDS.findall(text.lower()))


def _share(words, others):
    return len(words & others) / max(len(words), 1)
