"""DALK: paths and facts as its official code recorded them, the survey's KhopPath, and what a model
that replies nonsense leaves.
"""

import json
import random
from pathlib import Path as File

import numpy as np
import pytest
from scripted import Scripted

import minirag as mr
from minirag.algorithms.khop_paths import (
    Path,
    Ways,
    balanced,
    chained_paths,
    combined,
    khop_paths,
    merged,
    nearest,
    shortest_paths,
)
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.trace import ChunkStep, NodeStep, PathStep, ScoredNode, Trace
from minirag.index.vectors import VectorIndex
from minirag.methods.dalk import DALK, DALKOptions
from minirag.methods.graph_agent import ChoiceStep, StopStep
from minirag.operators import node, paths
from minirag.prompts import TASKS

from .small import TableEncoder, corpus_of, extraction_of


def recorded(name):
    path = File(__file__).parent / "recorded" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


EVIDENCE, LINKING, COMBINE, TESTBED = map(
    recorded, ("dalk_evidence", "dalk_linking", "dalk_combine_lists", "digimon_paths")
)
CODE = DALKOptions(**DALK.settings["code"])


def graph_of(triples):
    """A graph of triples, one passage each; "_" stands for a blank, as the code prints it."""
    triples = [[part.replace("_", " ") for part in triple] for triple in triples]
    names = list(dict.fromkeys(name for s, _, o in triples for name in (s, o)))
    corpus = corpus_of(*((f"p{i}", " ".join(triple)) for i, triple in enumerate(triples)))
    nodes = tuple(Node(name) for name in names)
    place = {name: i for i, name in enumerate(names)}
    edges = tuple(Edge(place[s], place[o], r, chunks=(i,)) for i, (s, r, o) in enumerate(triples))
    return Graph("knowledge", "a test", nodes, edges, corpus.chunks)


def linked(graph, names):
    rows = [ScoredNode(name, graph.position[name.replace("_", " ")], 1.0) for name in names]
    return NodeStep("link", "", nodes=tuple(rows))


def method_of(graph, reply=lambda task, fields: "", options=CODE):
    return DALK(graph, Scripted(reply), TableEncoder(), options)


def said(graph, step):
    """Each path as [entity, relation, entity, ...]."""
    rows = []
    for path, edges in zip(step.paths, step.edges):
        row = [path.nodes[0]]
        for edge, name in zip(edges, path.nodes[1:]):
            row += [graph.edges[edge[0]].name, name]
        rows.append(row)
    return rows


def once(path):
    """The recorded path without the joining entity's second mention."""
    return [part for i, part in enumerate(path) if i == 0 or part != path[i - 1]]


ALONE = [case for case in EVIDENCE["cases"] if "ended_with" in case["expected"]]  # raises NameError
BOTH = [case for case in EVIDENCE["cases"] if case not in ALONE]


def given(case):
    graph = graph_of(EVIDENCE["about"]["graphs"][case["input"]["kg"]])
    return graph, linked(graph, case["input"]["keywords"])


@pytest.mark.parametrize("case", BOTH, ids=lambda case: str(list(case["input"].values())))
def test_chained_paths_as_recorded(case):
    graph, step = given(case)
    names = [each.name for each in graph.nodes]
    ways = Ways(len(names), [(edge.source, edge.target) for edge in graph.edges], directed=True)
    every = [
        [part for i, edge in zip(path.nodes, (*path.edges, None)) for part in (names[i], edge)][:-1]
        for path in chained_paths(ways, [row.index for row in step.nodes], 5)
    ]
    every = [[graph.edges[x].name if isinstance(x, int) else x for x in path] for path in every]
    best = said(graph, paths.khop_path([step], graph, 5, 5, directed=True, chained=True)[0])
    # An unreachable pair leaves an empty path in the recording.
    for found, name in ((every, "all_paths"), (best, "selected_paths")):
        assert found == [once(path) for path in case["expected"][name] if path]


@pytest.mark.parametrize(
    "case", EVIDENCE["cases"], ids=lambda case: str(list(case["input"].values()))
)
def test_facts_beside_the_entities_as_recorded(case):
    graph, step = given(case)
    # The recording lists some lines twice.
    expected = list(dict.fromkeys(case["expected"]["neighbour_lines"]))[:5]
    method = method_of(graph)
    found = [text.replace(" -> ", "->") for text in method.texts(method.neighbours(step))]
    assert [text.replace(", ", ",") for text in found] == expected


def test_one_linked_entity_has_facts_and_no_paths():
    """Where the code raises NameError."""
    for case in ALONE:
        graph, step = given(case)
        assert not paths.khop_path([step], graph, 5, 5, True, chained=True)[0].paths


def test_relations_in_a_ring_come_to_an_end():
    """Where the code does not terminate."""
    graph = graph_of([("a", "disease", "b"), ("b", "disease", "a")])
    assert not method_of(graph).neighbours(linked(graph, ["a", "b"])).paths


BY_DOT = {"dot_beats_cosine", "row0_norm_only"}  # vectors of other lengths, ranked by dot product


@pytest.mark.parametrize("case", LINKING["cases"], ids=lambda case: case["name"])
def test_linking_as_recorded(case):
    if case["name"] in BY_DOT:
        pytest.skip("the code divides by the norm of entity 0 only: a dot product, not a cosine")
    given = case["input"]
    table = {row["keyword"]: row["vector"] for row in given["keywords"]}
    encoder = TableEncoder(table, 2)
    rows = np.array(given["entity_vectors"], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    step = node.link([list(table)], VectorIndex(tuple(given["entities"]), rows, encoder), False)[0]
    assert [given["entities"][row.index] for row in step.nodes] == case["expected"][
        "linked_entities"
    ]


def test_more_phrases_than_nodes():
    index = VectorIndex(("a",), np.ones((1, 1), np.float32), TableEncoder({"x": [1], "y": [1]}, 1))
    one, many = (node.link([["x", "y"], [], ["x"]], index, again) for again in (False, True))
    assert [len(step.nodes) for step in one] == [1, 0, 1]
    assert [len(step.nodes) for step in many] == [2, 0, 1]


def test_lists_are_combined_as_recorded():
    """Without the joining entity's second mention; no list gives no path, not an empty one."""
    for case in COMBINE["cases"]:
        number = {}
        segments = [
            [
                Path(
                    tuple(number.setdefault(name, len(number)) for name in path[::2]),
                    tuple(number.setdefault(name, len(number)) for name in path[1::2]),
                )
                for path in segment
            ]
            for segment in case["input"]["lists"]
        ]
        name = {place: text for text, place in number.items()}
        rows = [
            [name[i] for pair in zip(path.nodes, (*path.edges, -1)) for i in pair if i >= 0]
            for path in combined(segments)
        ]
        assert rows == [once(path) for path in case["expected"] if path]


NOT_OURS = (
    "digimon_khop: an operator that returns the nodes at exactly k steps; the survey's KhopPath"
    " returns paths, and its Onehop leaves the chosen nodes out"
)


@pytest.mark.paper("Survey", "op-subgraph")
@pytest.mark.parametrize(
    "case", TESTBED["cases"], ids=lambda case: str(list(case["input"].values()))
)
def test_the_nearest_of_the_set_as_the_surveys_testbed(case):
    given, graph = case["input"], TESTBED["about"]["graphs"][case["input"]["graph"]]
    place = {name: i for i, name in enumerate(graph["nodes"])}
    edges = [(place[s], place[t]) for s, _, t in graph["edges"]]
    ways, start = Ways(len(place), edges, directed=False), place[given["start"]]
    end = nearest(ways, start, [place[name] for name in given["candidates"]], given["cutoff"])
    if case["expected"] is None:
        assert end is None
        return
    assert graph["nodes"][end] == case["expected"]["end"]
    path = next(shortest_paths(ways, start, end, given["cutoff"]))
    assert [graph["edges"][edge] for edge in path.edges] == case["expected"]["edges"]


def ways_of(edges, directed=True):
    return Ways(1 + max((max(edge) for edge in edges), default=0), edges, directed)


@pytest.mark.paper("Survey", "op-subgraph")
def test_the_surveys_example_is_merged():
    a, b, c, d = range(4)
    whole = Path((a, b, c, d), (0, 1, 2))
    assert merged([Path((a, b, c), (0, 1)), whole]) == [whole]
    ways = ways_of([(a, b), (b, c), (c, d)])
    assert khop_paths(ways, [a, c, d], 3) == [whole]
    assert khop_paths(ways, [a, c, d], 2) == [Path((a, b, c), (0, 1))]
    assert merged([whole, Path((d, c, b), (2, 1)), whole]) == [whole]  # backwards, and twice


def test_who_is_on_a_path_leaves_the_set():
    # 0-1-2 and 3-4, far apart: from 0 to 1 and 2, then a new start.
    ways = ways_of([(0, 1), (1, 2), (3, 4)], directed=False)
    found = khop_paths(ways, [0, 2, 1, 4, 3], 5)
    assert [path.nodes for path in found] == [(0, 1, 2), (4, 3)]
    assert (
        khop_paths(ways, [0, 3], 5) == [] == khop_paths(ways, [], 5) == chained_paths(ways, [], 5)
    )


def test_a_directed_path_may_end_at_a_node_that_leads_nowhere():
    ways = ways_of([(1, 0)])
    assert khop_paths(ways, [0, 1], 5) == khop_paths(ways, [1, 0], 5) == [Path((1, 0), (0,))]


def test_paths_are_shared_among_their_starts():
    rows = [Path((start, end), (0,)) for start in range(3) for end in (7, 8, 9)]
    assert [path.nodes[0] for path in balanced(rows, 5)] == [0, 1, 2, 2, 2]
    assert [path.nodes[0] for path in balanced(rows, 2)] == [0, 1]
    assert len(balanced(rows, 5, ends=True)) == 5 and balanced([], 5) == []


def every_path(ways, start, end, hops):
    """All simple paths, by brute force."""
    stack, found = [Path((start,), ())], []
    while stack:
        path = stack.pop()
        if path.nodes[-1] == end:
            found.append(path)
        elif len(path.edges) < hops:
            for edge, far in ways.on[path.nodes[-1]]:
                if far not in path.nodes:
                    stack.append(Path((*path.nodes, far), (*path.edges, edge)))
    return found


def test_shortest_paths_against_all_paths_of_300_graphs():
    rng = random.Random(0)
    for _ in range(300):
        count = rng.randint(2, 7)
        edges = [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(1, 12))]
        ways, hops = Ways(count, edges, rng.random() < 0.5), rng.randint(1, 5)
        start, end = rng.sample(range(count), 2)
        rows = every_path(ways, start, end, hops)
        least = min((len(path.edges) for path in rows), default=0)
        expected = sorted(path for path in rows if len(path.edges) == least)
        found = list(shortest_paths(ways, start, end, hops))
        assert sorted(found) == expected
        nodes = rng.sample(range(count), rng.randint(1, count))
        for path in khop_paths(ways, nodes, hops):
            assert {path.nodes[0], path.nodes[-1]} <= set(nodes) and len(path.edges) <= hops
        for path in chained_paths(ways, nodes, hops):
            assert len(path.nodes) == len(path.edges) + 1 and path.nodes[0] in nodes


TRIPLES = {
    "p0": [("Harrowgate Observatory", "founded by", "Ilse Brandt")],
    "p1": [("Ilse Brandt", "born in", "Selm")],
    "p2": [("Harrowgate Observatory", "stands on", "Mount Orrin")],
    "p3": [("Selm", "port of", "Veldania")],
}
TEXTS = [(id, ", ".join(triples[0])) for id, triples in TRIPLES.items()]
QUESTION = "Who links Harrowgate Observatory and Selm?"
NEAR = {text: [1, 1] for text in (QUESTION, *("\n".join(passage) for passage in TEXTS))}
ENTITIES = json.dumps({"named_entities": ["Harrowgate Observatory", "Selm"]})
WAY = "Harrowgate Observatory -> founded by -> Ilse Brandt -> born in -> Selm"


def walked(replies, **options):
    """DALK over TRIPLES; replies: task -> text, a question's entities among them by default."""
    replies = {"question_entities": ENTITIES, **replies}
    llm = Scripted(lambda task, fields: replies.get(task, ""))
    method = DALK.build(
        corpus_of(*TEXTS), llm, TableEncoder(NEAR), extraction=extraction_of(TRIPLES), **options
    )
    return method, method.retrieve(QUESTION, 4)


def test_a_walk_checked_by_hand():
    method, found = walked(
        {
            "rerank_evidence": f"Reranked Triple 1: {WAY.upper()}\nReranked Triple 2: no such path",
            "state_paths": "Path-based Evidence 1: Ilse Brandt, its founder, was born in Selm.",
            "answer": "Answer: Ilse Brandt",
        }
    )
    assert [row.nodes for row in found.trace.last(PathStep).paths] == [
        ("Harrowgate Observatory", "Ilse Brandt", "Selm")
    ]
    assert found.trace.last(PathStep).edges == (((0,), (1,)),)
    choices = {step.kind: step.offered for step in found.trace.all(ChoiceStep)}
    assert [(row.label, row.dropped) for row in choices["paths"]] == [(WAY, "")]
    # No fact was named that was offered, so all are kept.
    assert {row.label for row in choices["neighbours"]} == {
        "Harrowgate Observatory -> founded by -> Ilse Brandt",
        "Harrowgate Observatory -> stands on -> Mount Orrin",
        "Selm <- born in <- Ilse Brandt",
        "Selm -> port of -> Veldania",
    }
    assert np.count_nonzero(found.trace.last(ChunkStep).scores) == 4 and list(found.ids[:2]) == [
        "p0",
        "p1",
    ]
    answer = method.answer(QUESTION)
    assert answer.text == "Ilse Brandt"
    assert "Ilse Brandt, its founder" in method.llm.asked[-1][1]
    assert [name for name, _, _ in method.llm.asked[-6:]] == [
        "question_entities", "rerank_evidence", "rerank_evidence", "state_paths", "state_paths",
        "answer",
    ]  # fmt: skip


def test_what_the_model_drops_is_dropped():
    fact = "Harrowgate Observatory -> stands on -> Mount Orrin"
    _, found = walked({"rerank_evidence": f"Reranked Triple 1: {fact}"})
    choices = {step.kind: step.offered for step in found.trace.all(ChoiceStep)}
    assert [row.dropped for row in choices["neighbours"]] == [
        "",
        *["the agent did not keep it"] * 3,
    ]


def test_none_helps():
    method, found = walked({"rerank_evidence": "None."})
    assert "no path or fact was kept" in found.trace.last(StopStep).reason
    sections, _ = method.context(found)
    assert len(sections["passages"]) == 4 and not sections["triples"]


def test_a_question_without_entities():
    method, found = walked({"question_entities": "{}"})
    assert "names no entity" in found.trace.last(StopStep).reason and len(found.ids) == 4
    sections, _ = method.context(found)
    assert len(sections["passages"]) == 4 and not sections["triples"]


JUNK = ["", " ", "\x00", "[{" * 40, "Reranked Triple 1:", "-> <- ->", "YES", "zzz " * 999]


@pytest.mark.parametrize("follow", ["paper", "code"])
@pytest.mark.parametrize("task", ["question_entities", "rerank_evidence", "state_paths", "answer"])
@pytest.mark.parametrize("junk", JUNK)
def test_nonsense_at_any_step_ends_in_few_calls(task, junk, follow):
    method, found = walked({task: junk}, follow=follow)
    assert found.trace.last(StopStep).reason and len(found.ids) == 4
    if task == "rerank_evidence":
        assert "all are kept" in found.trace.last("agent path").summary
    method.answer(QUESTION)
    assert len(method.llm.asked) <= 3 + 6


def test_evidence_that_nobody_states_is_shown_as_it_is():
    method, found = walked({"rerank_evidence": f"Reranked Triple 1: {WAY}"})
    sections, after = method.context(found)
    assert sections["path-based evidence"] == [WAY]
    assert after.trace[-1].operator == "state paths"


def test_a_graph_without_edges():
    method = DALK(graph_of([]), Scripted(lambda task, fields: ENTITIES), TableEncoder(), CODE)
    assert not method.neighbours(NodeStep("link", "", nodes=())).paths
    lone = Graph("knowledge", "a test", (Node("Selm"),), (), corpus_of(("p0", "Selm")).chunks)
    found = DALK(lone, Scripted(lambda task, fields: ENTITIES), TableEncoder(), CODE).retrieve("?")
    assert "no path or fact" in found.trace.last(StopStep).reason


def test_an_extraction_without_triples_is_refused():
    with pytest.raises(MiniragError, match="no usable triple"):
        DALK.build(corpus_of(*TEXTS), extraction=extraction_of({id: [] for id, _ in TEXTS}))


# What follow="code" changes, one at a time.


def test_the_next_nearest_node_is_taken():
    """Two phrases are nearest to one node."""
    table = {"x": [1, 0.1], "y": [1, 0], "a": [1, 0], "b": [0, 1]}
    graph = graph_of([("a", "r", "b")])
    names = json.dumps({"named_entities": ["x", "y"]})
    for linking, expected in (("nearest", ["a"]), ("next", ["a", "b"])):
        llm = Scripted(lambda task, fields: names)
        method = DALK(graph, llm, TableEncoder(table), DALKOptions(linking=linking))
        step = method.topic_entities("?").last(NodeStep)
        assert [graph.nodes[row.index].name for row in step.nodes] == expected


def found_nodes(triples, names, **options):
    graph, chosen = graph_of(triples), DALKOptions(**options)
    step = paths.khop_path(
        [linked(graph, names)], graph, directed=chosen.directed, chained=chosen.paths == "chain"
    )[0]
    return ["".join(path.nodes) for path in step.paths]


def test_a_chain_goes_in_the_order_of_the_question():
    triples = [("a", "r", "b"), ("a", "r", "c"), ("c", "r", "b")]
    assert found_nodes(triples, "abc") == ["ab", "ac"]
    assert found_nodes(triples, "acb", paths="chain") == ["acb"]
    assert found_nodes(triples, "abc", paths="chain") == ["abc"]


def test_directed_paths_follow_the_arrows():
    triples = [("a", "r", "m"), ("b", "r", "m")]
    assert found_nodes(triples, "ab") == ["amb"]
    assert found_nodes(triples, "ab", directed=True) == []


def test_a_relation_is_walked_through():
    graph = graph_of([("a", "has_disease", "b"), ("b", "treated_by", "c")])
    step = linked(graph, ["a"])
    for through, expected in (("", "a -> has disease -> b"), ("disease", "b -> treated by -> c")):
        method = method_of(graph, options=DALKOptions(through=through, directed=True))
        assert method.texts(method.neighbours(step)) == [expected]


def test_professors_offline():
    corpus = mr.load_corpus("professors")
    method = DALK.build(corpus, extraction="annotations")
    asked = corpus.questions[0].text
    assert method.answer(asked).text == "Maud Ellery"
    assert method.llm.ledger.total.calls <= 6
    both = method.retrieve(corpus.questions[1].text).trace
    assert both.last("khop path").paths[0].nodes == ("Samuel Adeyemi-Frost", "Lanthorn's Disease")


def test_the_rule_of_the_agent_passes_over_names_that_the_question_gives():
    lines = ["Selm -> port of -> Veldania", "Selm <- born in <- Ilse", "Selm -> old town of -> Orr"]
    fields = {"question": "Who was born in Selm?", "evidence": lines, "most": 5}
    rule, parse = TASKS["rerank_evidence"].rule, TASKS["rerank_evidence"].parse
    assert parse(rule(fields)) == (("selm <- born in <- ilse",), 0)
    fields["question"] = "And Selm?"
    assert len(parse(rule(fields))[0]) == 3


def test_the_rule_states_each_step_from_subject_to_object():
    fields = {"question": "?", "kind": "Path", "evidence": ["a -> r -> b <- s <- c", "lone"]}
    text = TASKS["state_paths"].rule(fields)
    assert "no language model" in text
    assert TASKS["state_paths"].parse(text) == (("a r b. c s b.", "lone"), 0)


@pytest.mark.parametrize(
    "reply, value, dropped",
    [
        (
            "Reranked Triple 1: A ——> r ——> B\n2. Reranked Triple2： A→s→C",
            ("a -> r -> b", "a -> s -> c"),
            0,
        ),
        ("**Reranked Triple 1:** A -> r -> B", ("a -> r -> b",), 0),
        ("none", ("none",), 0),
        ("Reranked Triple 1: none", ("none",), 0),
        ("<think>none</think>", (), 1),
        ("I cannot say.", (), 1),
    ],
)
def test_ranked_replies(reply, value, dropped):
    assert TASKS["rerank_evidence"].parse(reply) == (value, dropped)


def test_topics_and_traces_survive_a_batch_of_questions():
    method, _ = walked({})
    alone = Trace(method.walk(QUESTION)).last(ChunkStep).scores
    assert all(
        (row.scores == alone).all()
        for step in method.score_many([QUESTION] * 3)
        for row in step[-1:]
    )
