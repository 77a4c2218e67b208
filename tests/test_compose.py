"""Compositions: the package's own methods composed again, what is refused, and whatever else."""

import functools
import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import minirag as mr
from minirag.core.errors import MiniragError
from minirag.core.trace import ChunkStep, CommunityStep, EdgeStep, NodeStep, SteinerStep
from minirag.methods import METHODS, Method
from minirag.methods.compose import compose
from minirag.operators import agent, chunk, community, node, paths, relationship, subgraph
from minirag.operators.operator import GRAPHS
from minirag.operators.pool import OPERATORS

from .small import corpus_of

HIPPO = ["node Link", "node PPR", "relationship Aggregator", "chunk Aggregator"]
JOINT_WALK = [
    "node Link", "chunk VDB", OPERATORS["node PPR"](restart_probability=0.2, per="score"),
    "chunk Aggregator",
]  # fmt: skip
LOCAL = ["question Keywords", "node VDB", "relationship Onehop", "chunk Occurrence"]
GLOBAL = ["relationship VDB", "node FromRel", "chunk FromRel"]
GRAPHRAG = ["node VDB", "relationship Onehop", "chunk Occurrence", "community Entity"]
TOG = ["node Link", "relationship Onehop", "relationship Agent", "node Onehop", "node Agent"]
DALK = ["node Link", "subgraph KhopPath", "subgraph AgentPath", "node Onehop", "node Agent"]


@functools.cache
def professors():
    return mr.load_corpus("professors")


@functools.cache
def built(graph, *operators, encoder="lsa", **options):
    made = compose(graph=graph, operators=operators, **options)
    return made.build(professors(), encoder=encoder)


def rows(method):
    found = method.retrieve_many([question.text for question in professors().questions])
    return [[(passage.id, passage.score) for passage in each] for each in found]


SAME = {
    "dense": ({}, "none", ["chunk VDB"]),
    "hipporag": ({"passage_matrix": "facts", "no_entities": "uniform"}, "knowledge", HIPPO),
    "graphrag-local": ({}, "textual knowledge", GRAPHRAG),
    "lightrag-local": ({}, "rich knowledge", LOCAL),
    "lightrag-global": ({}, "rich knowledge", ["question Keywords", *GLOBAL]),
    "lightrag-hybrid": ({}, "rich knowledge", [*LOCAL, *GLOBAL]),
    "hipporag-passages": ({}, "knowledge and passage", JOINT_WALK),
}


@pytest.mark.paper("Survey", "tab-1", "tab-3")
@pytest.mark.parametrize("name", SAME)
def test_a_method_composed_again_finds_the_same_passages_with_the_same_scores(name):
    options, graph, operators = SAME[name]
    method, composed = (
        METHODS[name].build(professors(), encoder="lsa", **options),
        built(graph, *operators),
    )
    assert rows(composed) == rows(method)
    row = (type(composed).graph_type, type(composed).operators)
    assert row == (method.graph_type, dict(method.operators))
    if name != "lightrag-global":  # Table 1 counts the entities' index too, which it never searches
        searched = set(type(composed).index_components)
        assert searched <= set(method.index_components)
    assert set(type(composed).granularity) == set(method.granularity)
    assert type(composed).primitive == method.primitive


@pytest.mark.paper("Survey", "op-new")
def test_a_walk_restarts_at_passages_only_where_these_are_nodes():
    """On a knowledge graph dense scores beside the walk stay a choice of their own."""
    apart = built("knowledge", *JOINT_WALK)
    found = apart.retrieve("Who founded the Lanthorn Trust?").trace
    assert len(found.last("ppr").reset) == len(apart.graph.nodes)
    assert [step.operator for step in found.all(ChunkStep)][-1] == "chunk merge"
    with pytest.raises(MiniragError, match="passages .on a graph of type knowledge and passage."):
        compose(graph="knowledge and passage", operators=["node Link", "node PPR"])
    joint = built("knowledge and passage", *JOINT_WALK[:-1])
    best = joint.retrieve("Who founded the Lanthorn Trust?").trace.last("nodes by score").nodes
    assert len(best) == 4 and max(row.index for row in best) < len(joint.graph.nodes)


def test_the_parts_of_other_methods():
    composed = built("textual knowledge", "community Layer", generate="map-reduce")
    method, asked = (
        METHODS["graphrag-global"].build(professors(), encoder="lsa"),
        professors().questions[0].text,
    )
    found = [each.retrieve(asked).trace.last(CommunityStep) for each in (composed, method)]
    assert found[0].communities == found[1].communities
    read = composed.answer(asked)
    assert len(read.retrieval.trace.last("pack").windows) and "items" not in read.text
    seeds = [
        each.retrieve(asked).trace.last("node tf-idf").nodes
        for each in (
            built("passage", OPERATORS["node TF-IDF"](k=10)), METHODS["kgp"].build(professors()),
        )
    ]  # fmt: skip
    assert [row.index for row in seeds[0]] == [row.index for row in seeds[1]]


def test_a_tree_of_prizes_composed_again():
    operators = [OPERATORS["node VDB"](k=3), OPERATORS["relationship VDB"](k=5, text="alone")]
    # G-Retriever searches in double precision: lsa's cosines differ only there, MiniLM's do not.
    composed = built("knowledge", *operators, "subgraph Steiner", encoder="minilm")
    method = METHODS["g-retriever"].build(professors())
    for question in professors().questions:
        one, two = (m.retrieve(question.text).trace.last(SteinerStep) for m in (composed, method))
        assert (one.nodes, one.edges) == (two.nodes, two.edges)


@pytest.mark.parametrize("operators", [TOG, DALK])
def test_agents_take_one_step(operators):
    method = built("knowledge", *operators, encoder="minilm")
    answer = method.answer("Who founded the Lanthorn Trust?")
    assert answer.retrieval.ids[0] and answer.retrieval.trace.last("node agent").nodes
    assert answer.retrieval.trace[-2].operator == "passages behind"


@pytest.mark.parametrize(
    "composition, said",
    [
        ({"operators": ["chunk FromRel"]}, "chunk FromRel works on a graph of type knowledge"),
        (
            {"operators": ["chunk FromRel"], "graph": "knowledge"},
            "nothing before it gives relations. These do: relationship VDB, relationship Onehop,",
        ),
        (
            {"operators": ["node VDB", "node Agent"], "graph": "knowledge"},
            "takes nodes and nodes and perhaps relations, and nothing else before it gives nodes.",
        ),
        (
            {"operators": ["node VDB"], "graph": "knowledge", "index": ["Chunk"]},
            "node VDB searches the index component 'Entity'; index has Chunk",
        ),
        ({"operators": ["node VDB"], "graph": "tree", "index": ["Entity"]}, "'Tree node'; index"),
        ({"operators": ["community Layer"], "graph": "knowledge"}, "type textual knowledge, rich"),
        ({"operators": ["node Vdb"], "graph": "tree"}, "no operator 'node Vdb'; there are: quest"),
        ({"operators": ["chunk VDB"], "graph": "wood"}, "graph='wood': expected one of 'none'"),
        ({"operators": ["chunk VDB"], "generate": "well"}, "generate='well': expected one of"),
        ({"operators": ["chunk VDB"], "index": ["Chunks"]}, "index='Chunks': expected one of"),
        ({"operators": ["chunk VDB"], "granularity": ["Entity"]}, "these operators choose Chunk"),
        ({"operators": []}, "No operator chooses anything"),
        ({"operators": ["question Vector"]}, "No operator chooses anything"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_when_it_is_composed(composition, said):
    with pytest.raises(MiniragError) as error:
        compose(**composition)
    assert said in str(error.value)


def test_every_type_that_nothing_gives_names_the_operator_and_who_gives_it():
    for name, operator in OPERATORS.items():
        needed = [s for s in operator.takes if not s.optional and "question" not in str(s)]
        if needed:
            with pytest.raises(MiniragError, match=f"^{name} takes .* These do: [a-z]+ "):
                compose(operators=[name], graph=operator.needs.graphs[-1])


def test_a_row_is_shown_and_names_what_nobody_uses():
    idle = compose(
        operators=["question Keywords", "chunk VDB", "node VDB"], graph="rich knowledge",
        granularity=["Chunk"], name="mine",
    )  # fmt: skip
    assert repr(idle) == (
        "mine: question Vector -> question Keywords -> chunk VDB -> node VDB\n"
        "  graph: rich knowledge; index: Entity, Chunk; read, directly: Chunk\n"
        "  nobody uses what these give: node VDB"
    )
    alone = compose(operators=["question Entities", "chunk VDB"])
    assert "nobody uses what these give: question Entities" in repr(alone)
    assert issubclass(alone, Method) and (alone.name, alone.graph_type) == ("composed", "none")
    method = alone.build(professors(), encoder="lsa")
    assert repr(method).startswith(repr(alone)) and "24 chunks" not in repr(idle)


def test_what_is_chosen_is_read_in_its_section_and_within_the_window():
    method = built("textual knowledge", *GRAPHRAG)
    found = method.retrieve("Who founded the Lanthorn Trust?")
    sections, read = method.context(found)
    assert list(sections) == ["entities", "relations", "reports", "passages"] and all(
        sections.values()
    )
    assert read.trace[-1].tokens <= 8000
    small, read = method.with_options(window=1000).context(found)
    assert read.trace[-1].tokens <= 1000 and len(small["relations"]) < len(sections["relations"])
    only = built("textual knowledge", *GRAPHRAG, granularity=("Chunk", "Community"))
    assert list(only.context(only.retrieve("Who founded it?"))[0]) == ["reports", "passages"]


def test_scores_that_nobody_sums_choose_the_best():
    method = built("knowledge", "node Link", "node PPR")
    found = method.retrieve("Who founded the Lanthorn Trust?")
    assert len(found.trace.last(NodeStep).nodes) == 4 and found.passages[0].score > 0
    sections, _ = method.context(found)
    assert list(sections) == ["entities"] and sections["entities"][0].startswith("lanthorn trust")


def test_steps_of_a_kind_are_united():
    method = built("rich knowledge", *LOCAL, *GLOBAL)
    trace = method.retrieve("Who founded the Lanthorn Trust?").trace
    for kind in (NodeStep, EdgeStep, ChunkStep):
        assert len(trace.all(kind)) == 3
    local, overall, both = trace.all(NodeStep)
    assert {r.index for r in both.nodes} == {r.index for r in (*local.nodes, *overall.nodes)}


def test_a_composition_is_saved_and_loaded(tmp_path):
    for graph, operators in (("textual knowledge", GRAPHRAG), ("knowledge", HIPPO)):
        method = built(graph, *operators)
        method.save(tmp_path / graph)
        assert rows(type(method).load(tmp_path / graph, encoder="lsa")) == rows(method)


NO_TRIPLES = [("knowledge", "no names"), ("knowledge and passage", "no names")]


def corpus(kind):
    if kind == "no names":
        return corpus_of(("p1", "it is so."), ("p2", "and so it was."))
    return corpus_of(("p1", "Ada met Ben in Oslo. Ben saw Cy."), ("p2", "Cy left Bergen."))


@settings(
    max_examples=30, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
@given(
    st.lists(st.sampled_from(list(OPERATORS)), max_size=7), st.sampled_from(GRAPHS),
    st.sampled_from(["directly", "map-reduce"]), st.sampled_from(["names", "no names"]),
)  # fmt: skip
def test_any_list_of_operators_runs_or_says_what_is_wrong(operators, graph, generate, kind):
    try:
        made = compose(operators=operators, graph=graph, generate=generate)
    except MiniragError as error:
        assert len(str(error)) > 40 and str(error).endswith(".")
        return
    try:
        method = made.build(corpus(kind), encoder="lsa")
    except MiniragError as error:
        assert (graph, kind) in NO_TRIPLES and "no usable triple" in str(error)
        return
    assert len(method.answer("Who met Ben in Oslo?", k=2).retrieval.passages) == 2


# HippoRAG refuses a text without triples too.
FITTING = [(g, k) for g in GRAPHS for k in ("names", "no names")]
FITTING = [(g, k) for g, k in FITTING if (g, k) not in NO_TRIPLES]


@pytest.mark.parametrize("graph, kind", FITTING)
def test_compositions_that_fit_run(graph, kind):
    """Random lists seldom fit: these are made to, one operator after the other."""
    chance = random.Random(f"{graph} {kind}")
    for _ in range(3):
        operators, made = [], None
        for name in chance.sample(list(OPERATORS), len(OPERATORS)) * 2:
            try:
                made = compose(operators=[*operators, name], graph=graph)
            except MiniragError:
                continue
            operators.append(name)
        method = made.build(corpus(kind), encoder="lsa")
        answer = method.answer("Who met Ben in Oslo?", k=2)
        assert len(answer.retrieval.passages) == 2, operators
        assert all(len(each.trace) for each in method.retrieve_many(["Who?", "Ben?"]))


# What a method declares is what it calls.

CALLED = {
    "node VDB": [(node, "vdb")], "node FromRel": [(node, "from_relationships")],
    "node PPR": [(node, "ppr")], "node Agent": [(agent, "score_entities"), (node, "by_agent")],
    "node Onehop": [(node, "onehop"), (agent, "reach")], "node Link": [(node, "link")],
    "node TF-IDF": [(node, "tfidf")], "relationship VDB": [(relationship, "vdb")],
    "relationship Onehop": [(relationship, "onehop"), (agent, "offer")],
    "relationship Aggregator": [(relationship, "aggregator")],
    "relationship Agent": [
        (agent, "score_relations"), (agent, "score_relations_of_all"), (relationship, "by_agent"),
    ],
    "chunk Aggregator": [(chunk, "aggregator")], "chunk FromRel": [(chunk, "from_relationships")],
    "chunk Occurrence": [(chunk, "occurrence")], "chunk VDB": [(chunk, "vdb")],
    "subgraph KhopPath": [(paths, "khop_path")], "subgraph Steiner": [(subgraph, "steiner")],
    "subgraph AgentPath": [(paths, "agent_path")], "community Entity": [(community, "entity")],
    "community Layer": [(community, "layer")], "community VDB": [(community, "vdb")],
}  # fmt: skip
# DALK's Onehop lists relations as paths, and one round of its agent serves nodes and paths.
TRACED = {"node onehop": "node Onehop", "node agent": "node Agent"}
# The survey's row is an option of the method.
ROW = {name: {"passage_matrix": "facts"} for name in ("hipporag", "ircot-hipporag")}
# What a method calls that is no operator of its row, and why.
PASSAGES = "passages of what was found, so that it can be measured"
BESIDE = {
    "g-retriever": {"chunk FromRel": PASSAGES}, "grag": {"chunk FromRel": PASSAGES},
    "tog": {"chunk FromRel": PASSAGES, "chunk VDB": "where no entity is named"},
    "dalk": {"chunk FromRel": PASSAGES, "chunk VDB": "where no entity is named"},
    "hipporag": {"chunk VDB": "where no entity is named"},
    "graphrag-er": {"chunk FromRel": PASSAGES},
    "graphrag-cc": {
        "node VDB": "Entity takes nodes, which the prompt does not hold",
        "relationship Onehop": "Occurrence takes relations, which the prompt does not hold",
    },
}  # fmt: skip

# What a method declares and does by a function of its own, and why.
OWN = {
    "proposition": {"chunk VDB": "a passage scores as its best proposition"},
    "pathrag": {"chunk FromRel": "passages come in the order of paths and relations"},
    "pathrag-lt": {"chunk FromRel": "passages come in the order of paths and relations"},
}


def test_the_list_of_calls_is_whole():
    assert set(CALLED) == {name for name, each in OPERATORS.items() if each.kind != "question"}


@pytest.mark.paper("Survey", "tab-3", "alg-1")
@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if not m.needs_model])
def test_a_row_does_not_lie(name, monkeypatch):
    called = set()

    def spy(operator, function):
        @functools.wraps(function)
        def counted(*args, **named):
            called.add(operator)
            return function(*args, **named)

        return counted

    for operator, functions in CALLED.items():
        for module, function in functions:
            monkeypatch.setattr(module, function, spy(operator, getattr(module, function)))
    method = METHODS[name].build(professors(), encoder="lsa", **ROW.get(name, {}))
    called.clear()
    for question in itertools.islice(professors().questions, 6):
        trace = method.retrieve(question.text).trace
        called |= {TRACED[step.operator] for step in trace if step.operator in TRACED}
    declared = {f"{kind} {n}" for kind, names in method.operators.items() for n in names}
    beside = set(BESIDE.get(name, ()))
    assert beside.isdisjoint(declared)
    assert called - beside == {each for each in declared if each in OPERATORS} - set(
        OWN.get(name, ())
    )
