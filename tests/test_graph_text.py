"""Descriptions of ego-graphs: the paper's template on its worked example, nothing lost whatever the
texts are, and what the released outline loses.
"""

import csv
import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms.ego_graphs import TextualGraph
from minirag.algorithms.graph_text import (
    canonical,
    code_outline,
    describe,
    flat_text,
    parse_description,
    reading_order,
    split,
)

EDGES = ((0, "r1", 1), (0, "r2", 2), (1, "r3", 3), (1, "r4", 4), (2, "r5", 3))
EXAMPLE = TextualGraph(tuple("ABCDE"), EDGES)
DEEPER = TextualGraph(
    tuple("ABCDE"), (*EDGES, (3, "r6", 4))
)  # an edge that leaves a node at depth two

HOSTILE = [
    "",
    " ",
    "A",
    "A [2]",
    "A [02]",
    "[2]",
    " [2]",
    '"',
    '"A"',
    '"A" [2]',
    "\\",
    "\\n",
    "\n",
    "\r\n",
    "A\nB is connected to C via r",
    "\u2028",
    "\x85",
    "\x00",
    " via ",
    "via",
    "via via",
    "A via",
    "via B",
    " is connected to ",
    "is connected to",
    "A is connected to",
    "is connected to B",
    "A is connected to B via r",
    'said "no"',
    'ends in a quote"',
    "Zürich",
    "東京",
    "🦉",
    "e\u0301",
    "\t",
    "\xa0",
    "A  B",
    "connected",
    "\u200b",
    '", "',
    "\\u0041",
    '\\"',
]


def naive(graph):
    """The template alone, without quotes and numbers."""
    return "\n".join(
        f"{graph.nodes[head]} is connected to {graph.nodes[tail]} via {text}"
        for head, text, tail in graph.edges
    )


def survives(graph, root=0, text=None):
    """Whether a description gives its graph back, `reading_order` being a mere renumbering."""
    nodes, edges = reading_order(graph, root)
    assert sorted(nodes) == list(range(len(graph.nodes))) and sorted(edges) == list(
        range(len(graph.edges))
    )
    assert not nodes or nodes[0] == root
    return parse_description(describe(graph, root) if text is None else text) == graph.subgraph(
        nodes, edges
    )


def random_graph(rng, texts, most=7):
    count = rng.randint(1, most)
    edges = [
        (rng.randrange(count), rng.choice(texts), rng.randrange(count))
        for _ in range(rng.randint(0, 2 * most))
    ]
    return TextualGraph(
        tuple(rng.choice(texts) for _ in range(count)), tuple(edges)
    ), rng.randrange(count)


@pytest.mark.paper("GRAG", "description")
def test_the_papers_template_on_the_worked_example():
    """GRAG, Sec. 4.2 (description)"""
    assert split(EXAMPLE) == ((0, 1, 2, 3), (4,))
    assert describe(EXAMPLE).split("\n") == [
        "A is connected to B via r1",
        "B is connected to D via r3",
        "B is connected to E via r4",
        "A is connected to C via r2",
        "C is connected to D via r5",
    ]
    assert parse_description(describe(EXAMPLE)) == canonical(EXAMPLE) and survives(EXAMPLE)
    assert canonical(EXAMPLE) == TextualGraph(
        tuple("ABDEC"), ((0, "r1", 1), (1, "r3", 2), (1, "r4", 3), (0, "r2", 4), (4, "r5", 2))
    )


def test_the_released_outline_loses_what_leaves_the_outermost_nodes():
    outline = [
        "[ROOT] A.",
        "A is connected to: ",
        "1 B via r1.",
        "B is connected to: ",
        "B is connected to:",
        "  1.1 D via r3.",
        "  1.2 E via r4.",
        "2 C via r2.",
        "C is connected to: D via r5;",
    ]
    assert code_outline(EXAMPLE, hops=2).split("\n") == outline
    assert code_outline(DEEPER, hops=2).split("\n") == outline  # the added edge is nowhere
    assert "D is connected to E via r6" in describe(DEEPER).split("\n") and survives(DEEPER)
    assert describe(DEEPER) != describe(EXAMPLE)


def test_the_outline_keeps_one_of_two_edges_between_the_same_nodes():
    twice = TextualGraph(("A", "B"), ((0, "r1", 1), (0, "r2", 1)))
    assert code_outline(twice) == "[ROOT] A.\nA is connected to: \n1 B via r2."
    assert describe(twice) == "A is connected to B via r1\nA is connected to B via r2" and survives(
        twice
    )
    assert code_outline(TextualGraph(("A",))) == "[ROOT] A."


def test_what_is_quoted_and_numbered_and_what_is_not():
    plain = TextualGraph(
        ("St. Mary's (old)", 'said "no"', "a via-point"), ((0, "goes via sea", 1), (1, "[2]", 2))
    )
    assert describe(plain) == naive(plain) and survives(plain)
    twins = TextualGraph(("Paris", "Paris", "Paris [2]"), ((0, "is not", 1), (1, "is not", 2)))
    assert (
        describe(twins)
        == 'Paris is connected to Paris [2] via is not\nParis [2] is connected to "Paris [2]" '
        "via is not"
    )
    odd = TextualGraph(("by sea via Cork", "two\nlines", ""), ((0, ' "x', 1), (1, "", 2)))
    assert (
        describe(odd)
        == '"by sea via Cork" is connected to "two\\nlines" via " \\"x"\n"two\\nlines" is '
        'connected to "" via ""'
    )
    assert survives(twins) and survives(odd)


def test_nodes_that_the_root_does_not_reach():
    """An ego-graph of nodes that reach the root: its edges lead to the root, which then has a line
    of its own. GRAG, Sec. 4.2 (description)
    """
    toward = TextualGraph(tuple("ABCD"), ((1, "r1", 0), (2, "r2", 1)))
    assert describe(toward) == "A\nB is connected to A via r1\nC is connected to B via r2\nD"
    assert (
        survives(toward)
        and survives(toward, 3)
        and parse_description(describe(toward, 3)).nodes[0] == "D"
    )
    assert describe(TextualGraph(("A",), ((0, "r", 0),))) == "A is connected to A via r"


def test_the_smallest_graphs():
    assert describe(TextualGraph(())) == "" and parse_description("") == TextualGraph(())
    assert describe(TextualGraph(("",))) == '""' and survives(TextualGraph(("",)))
    assert survives(TextualGraph(("A", "A", "A")), 1)


def test_a_long_chain_needs_no_recursion():
    chain = TextualGraph(
        tuple(map(str, range(5000))), tuple((i, "next", i + 1) for i in range(4999))
    )
    assert survives(chain)


@pytest.mark.paper("GRAG", "description")
def test_nothing_is_lost_on_five_hundred_hostile_graphs():
    """GRAG, Sec. 4.2 (description)"""
    rng = random.Random(8)
    drawn = [random_graph(rng, rng.sample(HOSTILE, 8)) for _ in range(500)]
    assert all(survives(*each) for each in drawn)
    assert sum(len(set(graph.nodes)) < len(graph.nodes) for graph, _ in drawn) > 100
    assert (
        sum(
            len(graph.edges) > len({(head, tail) for head, _, tail in graph.edges})
            for graph, _ in drawn
        )
        > 100
    )
    assert sum(any(head == tail for head, _, tail in graph.edges) for graph, _ in drawn) > 100


def test_the_template_alone_loses_hostile_texts():
    """The check can fail: without quotes and numbers, texts that hold the template, line breaks and
    twins do not come back.
    """
    for nodes in (("A is connected to B", "C"), ("A via B", "C"), ("A\nB", "C"), ("A", "A")):
        graph = TextualGraph(nodes, ((0, "r", 1), (1, "s", 0)))
        assert survives(graph)
        try:
            assert not survives(graph, text=naive(graph))
        except ValueError as error:
            assert "Line" in str(error)
    assert survives(EXAMPLE, text=describe(EXAMPLE)) and not survives(
        DEEPER, text=describe(EXAMPLE)
    )


any_text = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)


@st.composite
def graphs(draw):
    nodes = draw(st.lists(any_text, min_size=1, max_size=6))
    end = st.integers(0, len(nodes) - 1)
    return TextualGraph(
        tuple(nodes), tuple(draw(st.lists(st.tuples(end, any_text, end), max_size=12)))
    ), draw(end)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(graphs())
def test_any_text_survives(drawn):
    """GRAG, Sec. 4.2 (description)"""
    graph, root = drawn
    assert survives(graph, root)
    again = canonical(graph, root)
    assert canonical(again) == again and describe(again) == describe(graph, root)
    tree, rest = split(graph, root)
    assert sorted(tree + rest) == list(range(len(graph.edges)))
    assert len({graph.edges[i][2] for i in tree}) == len(tree)  # a tree leads to a node once


def test_a_description_is_a_line_an_edge_and_a_bare_name():
    rng = random.Random(3)
    for _ in range(200):
        graph, root = random_graph(rng, HOSTILE)
        ends = {end for head, _, tail in graph.edges for end in (head, tail)} | {root}
        bare = len(graph.nodes) - len(ends) + all(head != root for head, _, _ in graph.edges)
        assert len(describe(graph, root).splitlines()) == len(graph.edges) + bare


@pytest.mark.parametrize(
    "text, said",
    [
        ("A is connected to B", "a relation"),
        ("A is connected to B via ", "a relation"),
        (" is connected to B via r", "a name"),
        ("\n", "a name"),
        ('"A is connected to B via r', "Unterminated"),
        ('"A"B is connected to C via r', "closing quote"),
        ('A is connected to B via "r" s', "closing quote"),
    ],
)
def test_texts_that_are_no_description(text, said):
    with pytest.raises(ValueError, match=f"Line 1 of the description.*{said}"):
        parse_description(text)


def test_a_root_that_is_no_node():
    with pytest.raises(ValueError, match="root=5"):
        describe(EXAMPLE, 5)


def test_the_flat_tables_of_g_retriever():
    assert (
        flat_text(EXAMPLE, [0, 2], [1])
        == "node_id,node_attr\n0,A\n2,C\n\nsrc,edge_attr,dst\n0,r2,2\n"
    )
    rng = random.Random(5)
    for _ in range(50):
        graph, _ = random_graph(rng, [text for text in HOSTILE if "\x00" not in text])
        text = flat_text(graph)
        rows = list(csv.reader(io.StringIO(text, newline="")))
        cut = rows.index(["src", "edge_attr", "dst"])
        assert [(int(i), said) for i, said in rows[1 : cut - 1]] == list(enumerate(graph.nodes))
        assert [(int(head), said, int(tail)) for head, said, tail in rows[cut + 1 :]] == list(
            graph.edges
        )


def test_bad_positions_are_one_sentence():
    for nodes, edges in (([9], None), ([-1], None), ([0, 0], None), ([0], [99]), ([0], [0])):
        with pytest.raises(ValueError, match="position|an end that is not"):
            EXAMPLE.subgraph(nodes, edges)
    with pytest.raises(ValueError, match="not of the form"):
        TextualGraph(("a",), ((0, 0),))
    with pytest.raises(ValueError, match="root=7"):
        code_outline(TextualGraph(("a",)), 7)
    assert code_outline(TextualGraph(())) == describe(TextualGraph(())) == ""
