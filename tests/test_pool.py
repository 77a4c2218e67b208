"""Every operator of the pool alone, on a graph of five nodes; results are worked out by hand."""

import re
from pathlib import Path

import numpy as np
import pytest
from scripted import Scripted

import minirag as mr
from minirag.core.communities import Communities, Community
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.reports import CommunityIndex, Report
from minirag.core.trace import (
    ChunkStep,
    CommunityStep,
    EdgeStep,
    EntityStep,
    FactStep,
    KeywordStep,
    NodeStep,
    PathStep,
    ScoredEdge,
    ScoredNode,
    ScoredPath,
    VectorStep,
    WalkStep,
)
from minirag.operators.operator import WORDS
from minirag.operators.pool import OPERATORS, Operator, Parts

from .small import TableEncoder, corpus_of

# Ada -0- Ben -1- Cy -2- Di, Ben -3- Di; Eve alone. Chunk 0 states 0 and 1, chunk 1 the other two.
NODES = [("Ada", (0,)), ("Ben", (0, 1)), ("Cy", (0, 1)), ("Di", (1,)), ("Eve", (2,))]
EDGES = [(0, 1, "met", (0,)), (1, 2, "saw", (0,)), (2, 3, "met", (1,)), (1, 3, "knows", (1,))]
CHUNKS = corpus_of(
    ("p1", "Ada met Ben. Ben saw Cy."), ("p2", "Cy met Di. Ben knows Di."), ("p3", "Eve.")
).chunks
# Cosines with the question: Ada 1, Ben .8, Cy .6, Di 0; the keywords' as their names say.
VECTORS = {
    "Who?": (1, 0), "Ada": (1, 0), "Ben": (0.8, 0.6), "Cy": (0.6, 0.8), "Di": (0, 1),
    "low": (0, 1), "high": (0, 1), "met Ada Ben": (1, 0), "saw Ben Cy": (0.8, 0.6),
    "met Cy Di": (0.6, 0.8), "knows Ben Di": (0, 1), "met": (1, 0), "saw": (0, 1),
    CHUNKS[0].passage: (0.6, 0.8), CHUNKS[1].passage: (1, 0), "# All\n\nevery": (0.6, 0.8),
    "# Left\n\nhalf": (1, 0), "# Right\n\nhalf": (0, 1),
}  # fmt: skip


def a_graph(kind="textual knowledge"):
    nodes = tuple(Node(name, chunks=chunks) for name, chunks in NODES)
    edges = tuple(Edge(s, t, name, chunks=chunks) for s, t, name, chunks in EDGES)
    return Graph(kind, "a test", nodes, edges, CHUNKS)


def parts(reply=lambda task, fields: ""):
    graph = a_graph()
    items = [
        Community("0", 0, (0, 1, 2, 3), children=(1, 2)),
        Community("1", 1, (0, 1), parent=0),
        Community("2", 1, (2, 3), parent=0),
    ]
    told = [Report("All", "every", 5.0), Report("Left", "half", 3.0), Report("Right", "half", 4.0)]
    communities = Communities.of(graph, items, [[0], [1, 2]])
    index = CommunityIndex(communities, dict(enumerate(told)), {}, "a test")
    return Parts(graph, Scripted(reply), TableEncoder(VECTORS), index)


def nodes(*rows):
    return NodeStep("given", "", nodes=tuple(ScoredNode(NODES[i][0], i, s) for i, s in rows))


def edges(*rows):
    return EdgeStep("given", "", edges=tuple(ScoredEdge("", i, s) for i, s in rows))


def walk(*scores):
    return WalkStep("given", "", scores=np.array(scores), reset=np.zeros(len(scores)))


VECTOR = VectorStep("given", "", vector=np.eye(64, dtype=np.float32)[0])
KEYWORDS = KeywordStep("given", "", high=("high",), low=("low",), given=())
ENTITIES = EntityStep("given", "", entities=("Ben", "Di"))
LINKED = nodes((0, 1.0), (3, 0.5))


def paths(*rows):
    walked = tuple(ScoredPath(names, 1.0) for names, _ in rows)
    return PathStep("given", "", paths=walked, edges=tuple(way for _, way in rows))


def seen(step):
    """What a step chose, rounded."""
    if isinstance(step, WalkStep | FactStep | ChunkStep):
        return np.round(step.scores.astype(float), 6).tolist()
    if isinstance(step, PathStep):
        return [(path.nodes, round(path.score, 6)) for path in step.paths]
    return [(row.index, round(float(row.score), 6)) for row in getattr(step, step.shows)]


# A walk restarts at Ada: half of it comes from there, half from the neighbours: Ada = 1/2 + Ben/6,
# Ben = Ada/2 + Cy/4 + Di/4, Cy = Di = Ben/6 + Cy/4 = 2/9 Ben. So Ben = 1/4 + Ben/12 + Ben/9.
BEN = (1 / 4) / (1 - 1 / 12 - 1 / 9)
ADA, CY = 1 / 2 + BEN / 6, BEN * 2 / 9
PPR = {"specificity": False, "synonymy_threshold": None}

ALONE = {
    "node VDB": ({"k": 2}, [VECTOR], [(0, 1.0), (1, 0.8)]),
    "node FromRel": ({}, [edges((2, 0.9), (1, 0.5))], [(2, 0.9), (3, 0.9), (1, 0.5)]),
    "node PPR": (PPR, [nodes((0, 1.0))], np.round([ADA, BEN, CY, CY, 0], 6).tolist()),
    "node Onehop": ({}, [LINKED], [(1, 1.0), (2, 0.5)]),
    "node Link": ({}, [ENTITIES], [(1, 1.0), (3, 1.0)]),
    # The only word that the question shares with a name.
    "node TF-IDF": ({"k": 1}, [], [(4, 1.0)]),
    "relationship VDB": ({"k": 2}, [VECTOR], [(0, 1.0), (1, 0.8)]),
    # Relation 0 leads to Ben; 3 and 2 to Ben and Cy: Ben is beside both, so 0 and 3 come first.
    "relationship Onehop": ({}, [LINKED], [(3, 1.0), (0, 1.0), (2, 1.0)]),
    "relationship Aggregator": ({}, [walk(0.4, 0.3, 0.2, 0.1, 0)], [0.7, 0.5, 0.3, 0.4]),
    "chunk Aggregator": (
        {}, [FactStep("given", "", scores=np.array([0.7, 0.5, 0.3, 0.4]))], [1.2, 0.7, 0.0],
    ),
    "chunk FromRel": ({}, [edges((0, 0.9), (1, 0.5), (3, 0.2))], [1.4, 0.2, 0.0]),
    # Both ends of 1 are in two passages, those of 0 in one, those of 3 in the other.
    "chunk Occurrence": ({}, [edges((0, 0.9), (1, 0.5), (3, 0.2))], [2.0, 2.0, 0.0]),
    "chunk VDB": ({}, [VECTOR], [0.6, 1.0, 0.0]),
    "subgraph KhopPath": ({"most": 1}, [LINKED], [(("Ada", "Ben", "Di"), 1.0)]),
    # Of level 1, then level 0: rated 5, 4, 3; Eve is in none.
    "community Entity": ({"k": 2}, [LINKED], [(0, 5.0), (2, 4.0)]),
    "community Layer": ({"level": 1}, [], [(1, 3.0), (2, 4.0)]),
    "community VDB": ({"k": 2}, [VECTOR], [(1, 1.0), (0, 0.6)]),
}  # fmt: skip


@pytest.mark.paper("Survey", "op-node", "op-relationship", "op-chunk", "op-community", "op-new")
@pytest.mark.parametrize("name", ALONE)
def test_an_operator_alone(name):
    options, given, expected = ALONE[name]
    question = "Eve?" if name == "node TF-IDF" else "Who?"
    [step] = OPERATORS[name](**options).run(parts(), [question], [given])
    assert isinstance(step, OPERATORS[name].gives) and seen(step) == expected


def test_keywords_search_on_their_own_level():
    for name, nearest in (("node VDB", 3), ("relationship VDB", 3)):
        [step] = OPERATORS[name](k=1).run(parts(), ["Who?"], [[VECTOR, KEYWORDS]])
        assert seen(step) == [(nearest, 1.0)]
    [step] = OPERATORS["node VDB"](k=1).run(parts(), ["Who?"], [[KEYWORDS, VECTOR]])
    assert seen(step) == [(0, 1.0)]  # the latest of either


def test_relations_alone_are_found_with_all_that_read_the_same():
    [step] = OPERATORS["relationship VDB"](k=1, text="alone").run(parts(), ["Who?"], [[VECTOR]])
    assert seen(step) == [(0, 1.0), (2, 1.0)]


def test_a_walk_restarts_at_the_nodes_of_all_operators_and_weighs_them():
    given = [nodes((0, 1.0)), walk(0, 0, 0, 0, 0), nodes((1, 1.0), (0, 1.0))]
    ppr = OPERATORS["node PPR"](synonymy_threshold=None)
    [step] = ppr.run(parts(), ["Who?"], [given])
    assert step.reset.tolist() == [1.0, 0.5, 0, 0, 0]  # Ben is in two passages
    [near] = OPERATORS["node PPR"](synonymy_threshold=0.7).run(parts(), ["Who?"], [given])
    assert near.scores[2] != pytest.approx(step.scores[2])  # Ben and Cy, .96, are joined


def test_a_chunk_gets_the_scores_of_nodes_where_no_relation_is_scored():
    run = OPERATORS["chunk Aggregator"](counts="incidence").run
    [step] = run(parts(), ["Who?"], [[walk(0.4, 0.3, 0.2, 0.1, 0.05)]])
    assert seen(step) == [0.9, 0.6, 0.05]


def test_a_tree_collects_the_prizes():
    given = [nodes((0, 1.0), (2, 0.9)), edges((1, 0.9))]
    [step] = OPERATORS["subgraph Steiner"](k_e=1).run(parts(), ["Who?"], [given])
    assert step.nodes == (0, 1, 2) and step.edges == (0, 1)


def test_question_conversions():
    replies = {
        "question_entities": '{"named_entities": ["Ben"]}',
        "keywords": '{"high_level_keywords": ["high"], "low_level_keywords": ["low"]}',
    }
    given = parts(lambda task, fields: replies[task])
    made = [OPERATORS[f"question {n}"].run(given, ["Who?"], [[]])[0] for n in
            ("Vector", "Entities", "Keywords")]  # fmt: skip
    assert made[0].vector[:2].tolist() == [1, 0] and made[1].entities == ("ben",)
    assert (made[2].high, made[2].low) == (("high",), ("low",))


def test_an_agent_chooses_relations_at_the_nodes_where_the_walk_stands():
    reply = "1. {knows (Score: 0.7)}: near\n2. {met (Score: 0.3)}: near"
    given = parts(lambda task, fields: reply)
    step = OPERATORS["relationship Agent"](width=1)
    [step] = step.run(given, ["Who?"], [[nodes((1, 1.0)), edges((0, 1.0), (3, 1.0))]])
    assert seen(step) == [(3, 0.7)]
    assert [task for task, _, _ in given.llm.asked] == ["choose_relations"]


def test_an_agent_chooses_nodes_beside_those_where_the_walk_stands():
    given = parts(lambda task, fields: "0.9, 0.1")
    standing, offered = nodes((1, 1.0)), nodes((0, 1.0), (2, 1.0), (3, 1.0))
    run = OPERATORS["node Agent"].run
    [step] = run(given, ["Who?"], [[standing, offered]])
    # Behind each relation stands one node, so that nobody is asked.
    assert seen(step) == [(3, 1.0), (0, 1.0), (2, 1.0)] and not given.llm.asked
    [step] = run(given, ["Who?"], [[standing, edges((0, 0.7), (1, 0.2)), offered]])
    assert seen(step) == [(0, 0.7), (2, 0.2)]
    [step] = run(given, ["Who?"], [[nodes((2, 1.0)), nodes((4, 1.0))]])
    assert seen(step) == []  # Eve is beside nobody


def test_an_agent_chooses_paths():
    given = parts(lambda task, fields: "Reranked Triple 1: Ada -> met -> Ben")
    rows = paths((("Ben", "Cy"), ((1,),)), (("Ada", "Ben"), ((0,),)))
    [step] = OPERATORS["subgraph AgentPath"].run(given, ["Who?"], [[rows]])
    assert seen(step) == [(("Ada", "Ben"), 1.0)]


def test_every_operator_is_tested_alone():
    text = Path(__file__).read_text(encoding="utf-8")
    named = set(re.findall(r'"((?:node|relationship|chunk|subgraph|community) [\w-]+)"', text))
    assert named | {f"question {n}" for n in ("Vector", "Entities", "Keywords")} == set(OPERATORS)


@pytest.mark.paper("Survey", "tab-3")
def test_the_pool_is_the_surveys():
    """19 operators and two new ones, named as in Table 3, and three conversions."""
    from .test_methods import TABLES

    named = {f"{k} {n}" for row in TABLES["table_3"].values() for k, ns in row.items() for n in ns}
    new = {"chunk VDB", "community VDB"}
    pool = {name for name, each in OPERATORS.items() if each.kind != "question"}
    assert named | new == pool and len(pool) == 21 and len(OPERATORS) == 24


def test_an_operator_says_what_goes_in_and_out():
    assert repr(OPERATORS["chunk Occurrence"]) == (
        "chunk Occurrence: relations -> passages; needs a knowledge graph"
    )
    for name, each in OPERATORS.items():
        assert repr(each).startswith(name) and "\n" not in repr(each) and each.about.endswith(".")
        assert each.gives in WORDS and isinstance(each, Operator)
    assert mr.OPERATORS is OPERATORS


def test_options_are_a_copys_and_checked():
    vdb = OPERATORS["node VDB"]
    assert vdb(k=7).options == {"k": 7} and vdb.options == {"k": 4}
    with pytest.raises(MiniragError, match="node VDB has no option 'top'; it has: k."):
        vdb(top=3)
    with pytest.raises(MiniragError, match="k=0: expected a whole number from 1"):
        vdb(k=0)
    with pytest.raises(MiniragError, match="node FromRel has no option 'k'; it has: none"):
        OPERATORS["node FromRel"](k=1)


def test_no_question_is_no_work_and_a_missing_step_is_told():
    assert OPERATORS["node Onehop"].run(parts(), [], []) == []
    with pytest.raises(MiniragError, match="chunk FromRel takes relations, and nothing before"):
        OPERATORS["chunk FromRel"].run(parts(), ["Who?"], [[VECTOR]])
    with pytest.raises(MiniragError, match="no community index"):
        bare = Parts(a_graph(), Scripted(None), TableEncoder())
        OPERATORS["community Layer"].run(bare, ["Who?"], [[]])
    assert isinstance(OPERATORS["community Layer"].run(parts(), ["?"], [[]])[0], CommunityStep)
