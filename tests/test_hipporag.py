"""HippoRAG against the worked examples of its paper and code, and against the invariants a reader
may rely on.
"""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import minirag as mr
from minirag.core.corpus import Chunk
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.options import choose
from minirag.core.trace import ChunkStep, NodeStep, WalkStep
from minirag.encoders.token_encoders import load_token_encoder
from minirag.graphs import knowledge_graph, normalise_phrase
from minirag.index import adjacency_matrix, node_specificity, passage_matrix
from minirag.methods.hipporag import HippoOptions
from minirag.methods.hipporag_code import CODE, spread_to_neighbours
from minirag.methods.ircot import merge_rounds
from minirag.operators import chunk, min_max, node, rank

from .small import TableEncoder, corpus_of, extraction_of

STAB = corpus_of(("p1", "s t"), ("p2", "t a"), ("p3", "s b"))
STAB_TRIPLES = extraction_of(
    {"p1": [("s", "r", "t")], "p2": [("t", "r", "a")], "p3": [("s", "r", "b")]}
)

SETTINGS = {"paper": {}, "code": CODE}


def stab(question_entities=("s", "a"), **options):
    options = {"synonymy": "none", **options}
    return mr.HippoRAG.build(
        STAB,
        encoder=TableEncoder(),
        extraction=STAB_TRIPLES,
        question_entities={"?": question_entities},
        **options,
    )


def walked(method):
    return dict(zip((n.name for n in method.graph.nodes), walked_scores(method)))


@pytest.mark.paper("Wang", "hippo-ppr", "hippo-specificity", "hippo-passages")
def test_specificity_flips_the_top_passage():
    """WE-H2."""
    plain, specific = stab(specificity=False), stab()
    assert walked(plain) == pytest.approx(
        {"s": 16 / 45, "t": 11 / 45, "a": 14 / 45, "b": 4 / 45}, abs=1e-9
    )
    assert walked(specific) == pytest.approx(
        {"s": 4 / 15, "t": 4 / 15, "a": 6 / 15, "b": 1 / 15}, abs=1e-9
    )
    assert [(p.id, pytest.approx(p.score, abs=1e-9)) for p in plain.retrieve("?").passages] == [
        ("p1", 3 / 5),
        ("p2", 5 / 9),
        ("p3", 4 / 9),
    ]
    assert [(p.id, pytest.approx(p.score, abs=1e-9)) for p in specific.retrieve("?").passages] == [
        ("p2", 10 / 15),
        ("p1", 8 / 15),
        ("p3", 5 / 15),
    ]
    assert min_max(np.array([3 / 5, 5 / 9, 4 / 9])) == pytest.approx([1, 5 / 7, 0])


@pytest.mark.paper("Wang", "hippo-synonymy")
@pytest.mark.parametrize("synonymy, weight", [("overwrite", 0.85), ("add", 3.85), ("none", 3.0)])
def test_synonymy_overwrites_or_adds(synonymy, weight):
    """WE-H3; both directions are summed, so only ratios matter."""
    edges = (
        Edge(0, 1, "r", weight=3.0, chunks=(0, 0, 0)),
        Edge(0, 1, kind="synonymy", weight=0.85),
        Edge(1, 0, kind="synonymy", weight=0.85),
    )
    graph = Graph(
        "knowledge",
        "a test",
        (Node("a", chunks=(0,)), Node("b", chunks=(0,))),
        edges,
        STAB.chunks[:1],
    )
    matrix = adjacency_matrix(graph, synonymy).toarray()
    assert matrix == pytest.approx(np.array([[0, 2 * weight], [2 * weight, 0]]))
    with pytest.raises(MiniragError, match="overwrite"):
        adjacency_matrix(graph, "sum")


NAMES = [
    ("O'Neil-Smith", "o neil smith", "o neil smith"),
    ("U.S.", "u s", "u s"),
    ("São Paulo", "s o paulo", "são paulo"),
    ("北京", "", "北京"),
]


@pytest.mark.parametrize("name, ascii_, unicode", [*NAMES, ("हिन्दी", "", "हिन्दी")])
def test_normalisation(name, ascii_, unicode):
    """WE-H4, and what the paper's setting keeps."""
    assert normalise_phrase(name, "ascii") == ascii_
    assert normalise_phrase(name) == unicode


def test_no_entities_in_the_code_means_uniform_scores_in_descending_order():
    """WE-H5."""
    corpus = corpus_of(*((f"p{i}", "x y") for i in range(4)))
    triples = extraction_of({f"p{i}": [("x", "r", "y")] for i in range(4)})
    method = mr.HippoRAG.build(
        corpus,
        encoder=TableEncoder(),
        extraction=triples,
        question_entities={"?": ()},
        follow="code",
    )
    assert method.retrieve("?", k=4).ids == ["p3", "p2", "p1", "p0"]
    paper = method.with_options(no_entities="dense", ties="ascending").retrieve("?", k=4)
    assert paper.trace[-1].operator == "chunk vdb"


@pytest.mark.parametrize("cosine, mixes", [(0.9, True), (0.89, True), (0.91, False)])
def test_ensemble_threshold_is_strict(cosine, mixes):
    """WE-H6: a least link score of exactly .9 is still uncertain."""
    table = {"s": [1, 0], "q": [cosine, np.sqrt(1 - cosine**2)]}
    choices = {"question_entities": {"?": ("q",)}, "ensemble": True, "synonymy": "none"}
    method = mr.HippoRAG.build(
        STAB, encoder=TableEncoder(table), extraction=STAB_TRIPLES, **choices
    )
    [linked] = method.retrieve("?").trace.last(NodeStep).nodes
    assert linked.score == pytest.approx(cosine, abs=1e-6)
    exact = method.with_options(ensemble_threshold=linked.score if cosine == 0.9 else 0.9)
    assert (exact.retrieve("?").trace[-1].operator == "ensemble") == mixes


def test_rounds_merge_by_best_score():
    """WE-H7."""
    assert merge_rounds([{"p1": 1.0, "p2": 0.6}, {"p3": 1.0, "p2": 0.8}]) == [
        ("p1", 1.0),
        ("p3", 1.0),
        ("p2", 0.8),
    ]


def test_reset_gives_each_entity_or_each_node_its_share():
    linked = [("a", 0, 1.0), ("a'", 0, 0.9), ("b", 1, 1.0)]
    assert list(node.reset_vector(linked, 3, per="entity")) == [2, 1, 0]
    assert list(node.reset_vector(linked, 3)) == [1, 1, 0]
    assert list(node.reset_vector(linked, 3, np.array([0.5, 1, 1]))) == [0.5, 1, 0]


@pytest.mark.paper("Wang", "hippo-matrix", "hippo-passages")
def test_the_defaults_are_the_papers_counts_and_equal_query_nodes():
    """Wang, Sec. IV-B: "the number of times each noun phrase ... appears"; "each query node has
    equal probability".
    """
    table = {"s": [1, 0], "s again": [1, 0]}
    asked = {
        "question_entities": {"?": ("s", "s again", "a")},
        "synonymy": "none",
        "specificity": False,
    }
    corpus = corpus_of(("p1", "s and s, then t"), ("p2", "t a"), ("p3", "s b"))
    method = mr.HippoRAG.build(
        corpus, encoder=TableEncoder(table), extraction=STAB_TRIPLES, **asked
    )
    names = [n.name for n in method.graph.nodes]

    def reset(m):
        return dict(zip(names, m.retrieve("?").trace.last(WalkStep).reset))

    assert reset(method) == {"s": 1, "t": 0, "a": 1, "b": 0}
    assert reset(method.with_options(reset="entity")) == {"s": 2, "t": 0, "a": 1, "b": 0}
    assert passage_matrix(method.graph).toarray().tolist() == [
        [2, 1, 0, 0],
        [0, 1, 1, 0],
        [1, 0, 0, 1],
    ]
    trace = method.retrieve("?").trace
    s, t, a, b = trace.last(WalkStep).scores
    assert trace.last(ChunkStep).scores == pytest.approx([2 * s + t, t + a, s + b])


def test_the_two_readings_of_the_restart_probability_agree_only_at_one_half():
    base = stab(restart_probability=0.5)
    assert walked(base) == pytest.approx(
        walked(stab(restart_probability=0.5, restart_read_as="follow"))
    )
    assert walked(stab(restart_probability=0.1)) == pytest.approx(
        walked(stab(restart_probability=0.9, restart_read_as="follow"))
    )
    assert walked(stab(restart_probability=0.1)) != pytest.approx(
        walked(stab(restart_probability=0.1, restart_read_as="follow"))
    )


def test_occurrences_in_a_row_all_count():
    """A passage often begins with its title, so that the two stand side by side; neighbours share
    no space between words.
    """
    chunks = (mr.Chunk("p", "Maiden Japan is a live record. Maiden, maiden!", "Maiden Japan"),)
    graph = knowledge_graph(
        chunks,
        extraction_of({"p": [("Maiden Japan", "is", "record"), ("maiden", "is", "absent name")]}),
    )
    counts = dict(zip((n.name for n in graph.nodes), passage_matrix(graph).toarray()[0]))
    assert counts == {"maiden japan": 2, "record": 1, "maiden": 4, "absent name": 1}
    triples = extraction_of({"p": [("São Paulo", "is beside", "北京")]})
    place = (mr.Chunk("p", "São Paulo, São Paulo! A a a."),)
    graph = knowledge_graph(place, triples, "ascii", "keep")
    assert [n.name for n in graph.nodes] == ["s o paulo", ""]
    assert passage_matrix(graph, script="ascii").toarray().tolist() == [[2, 1]]


@pytest.mark.paper("Wang", "hippo-matrix")
def test_passage_matrices_count_differently():
    corpus = corpus_of(("p", "Ada met Ben. Ada wrote to Ben. Ada saw Cy. Ada!"))
    triples = [
        ("Ada", "met", "Ben"),
        ("Ada", "wrote to", "Ben"),
        ("Ada", "saw", "Cy"),
        ("Ada", "met", "Ben"),
    ]
    graph = knowledge_graph(corpus.chunks, extraction_of({"p": triples}))
    names = [n.name for n in graph.nodes]
    counts = {
        kind: dict(zip(names, passage_matrix(graph, kind).toarray()[0]))
        for kind in ("incidence", "text", "facts")
    }
    assert counts["incidence"] == {"ada": 1, "ben": 1, "cy": 1}
    assert counts["text"] == {"ada": 4, "ben": 2, "cy": 1}
    assert counts["facts"] == {"ada": 3, "ben": 2, "cy": 1}
    with pytest.raises(MiniragError, match="incidence"):
        passage_matrix(graph, "sum")


@pytest.mark.paper("Survey", "op-relationship", "op-chunk")
def test_facts_route_equals_relationship_then_chunk_aggregators():
    method = stab(passage_matrix="facts")
    retrieval = method.retrieve("?")
    assert [s.operator for s in retrieval.trace] == [
        "entities",
        "link",
        "ppr",
        "relationship aggregator",
        "chunk aggregator",
    ]
    direct = passage_matrix(method.graph, "facts") @ retrieval.trace.last(WalkStep).scores
    assert retrieval.trace.last(ChunkStep).scores == pytest.approx(direct)


def test_ablations_spread_less_than_the_walk():
    nodes_only = walked_scores(stab(propagation="query-nodes", specificity=False))
    near = walked_scores(stab(propagation="neighbours", specificity=False))
    far = walked_scores(stab(propagation="neighbours", specificity=False, neighbour_hops=2))
    assert (
        np.count_nonzero(nodes_only) == 2
        and np.count_nonzero(near) == 4
        and np.count_nonzero(far) == 4
    )
    assert nodes_only.sum() == pytest.approx(1) and near.sum() == pytest.approx(1)
    with pytest.raises(MiniragError, match="query-nodes"):
        stab(propagation="jump").retrieve("?")


def walked_scores(method):
    return method.retrieve("?").trace.last(WalkStep).scores


@pytest.mark.paper("Wang", "hippo-specificity")
def test_specificity_is_one_over_passages():
    graph = knowledge_graph(STAB.chunks, STAB_TRIPLES)
    assert dict(zip((n.name for n in graph.nodes), node_specificity(graph))) == {
        "s": 0.5,
        "t": 0.5,
        "a": 1.0,
        "b": 1.0,
    }


def test_with_options_equals_building_anew():
    added = {"synonymy": "add"}
    changes = [
        {"specificity": False},
        added,
        {"synonymy_threshold": 0.5, **added},
        {"passage_matrix": "facts"},
        {"restart_probability": 0.2},
        {"min_letters": 3, **added},
    ]
    for change in changes:
        table = {"s": [1, 0], "t": [0.8, 0.6], "a": [0.6, 0.8]}

        def build(**c):
            return mr.HippoRAG.build(
                STAB,
                encoder=TableEncoder(table),
                extraction=STAB_TRIPLES,
                question_entities={"?": ("s", "a")},
                **c,
            )

        base = build(synonymy="none")
        base.retrieve("?")
        changed, fresh = (
            base.with_options(**change).retrieve("?"),
            build(**{"synonymy": "none", **change}).retrieve("?"),
        )
        assert [(p.id, pytest.approx(p.score)) for p in changed.passages] == [
            (p.id, p.score) for p in fresh.passages
        ], change


@pytest.mark.paper("Survey", "sec-B.3")
def test_a_walk_over_a_rich_graph_links_to_names_or_to_descriptions():
    """Source: Survey, App. B.3 (sec-B.3). Only a description calls Ada "the founder"."""
    chunks = tuple(Chunk(f"p{i}", f"Passage {i}.", f"p{i}") for i in (1, 2, 3))
    ada, selm = Node("ADA", "", "The founder.", (0,)), Node("SELM", "", "A port.", (1,))
    word = Node("FOUNDERING", "", "A word.", (2,))
    born = Edge(0, 1, description="She was born there.", weight=7.0, chunks=(1,))
    rich = Graph("rich knowledge", "a test", (ada, selm, word), (born,), chunks)
    encoder = TableEncoder(
        {"founder": (1, 0, 0), "The founder.": (1, 0, 0), "FOUNDERING": (0.9, 0.1, 0)}
    )
    build = partial(mr.HippoRAG.from_graph, rich, "offline", encoder, {"?": ["founder"]})
    by_name, by_text = build(), build(node_text="description")
    assert by_name.retrieve("?", k=1).ids == ["p3"]
    assert by_text.retrieve("?", k=2).ids == ["p1", "p2"]  # the second through the relation
    assert by_name.with_options(node_text="description").retrieve("?", k=2).ids == ["p1", "p2"]


def test_unknown_choices_are_named():
    with pytest.raises(MiniragError, match="damping.*restart_probability"):
        choose(HippoOptions, SETTINGS, None, {"damping": 0.5})
    with pytest.raises(MiniragError, match="paper"):
        choose(HippoOptions, SETTINGS, "folk")
    for choice in ({"script": "ascii"}, {"empty_names": "keep"}):
        with pytest.raises(
            MiniragError, match=f"{next(iter(choice))} is chosen when the graph is built"
        ):
            stab().with_options(**choice)
    assert choose(HippoOptions, SETTINGS, "code") == HippoOptions(**CODE)
    assert choose(HippoOptions, SETTINGS) == HippoOptions()


NEIGHBOURS = json.loads(
    (Path(__file__).parent / "recorded" / "hipporag_neighbours.json").read_text(encoding="utf-8")
)["cases"]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("case", NEIGHBOURS, ids=lambda case: case["input"]["note"])
def test_neighbours_of_the_released_code(case, depth):
    """Recorded from the project's own `get_neighbors`; ours are scaled to sum to 1, which leaves
    every ranking as it is.
    """
    given = case["input"]
    adjacency = np.zeros((given["nodes"], given["nodes"]))
    for i, j in given["edges"]:
        adjacency[i, j] = adjacency[j, i] = i != j
    labels, resets = list(range(given["nodes"])), np.array([given["reset"]]).T
    [step] = spread_to_neighbours(sparse.csr_matrix(adjacency), resets, labels, depth, per="node")
    wanted = np.array(case["expected"][f"depth_{depth}"])
    assert step.scores * wanted.sum() == pytest.approx(wanted, abs=2e-6)


def test_neighbours_once_a_question_or_once_a_query_node():
    """Path a - b - c, all three query nodes: b is reached from two sides, and nobody is left out
    of the union.
    """
    path = sparse.csr_matrix(np.diag([1.0, 1], 1) + np.diag([1.0, 1], -1))
    once, each = (
        spread_to_neighbours(path, np.ones((3, 1)), "abc", per=per)[0].scores
        for per in ("question", "node")
    )
    assert once == pytest.approx(np.full(3, 1 / 3)) and each == pytest.approx([0.3, 0.4, 0.3])
    code = stab(propagation="neighbours", follow="code", question_entities=("s", "t"))
    assert code.chosen.neighbour_share == "node" and len(set(np.round(walked_scores(code), 9))) > 1


def test_empty_names_are_dropped_or_one_node():
    corpus = corpus_of(("p1", "北京"), ("p2", "上海"))
    triples = extraction_of({"p1": [("北京", "is", "city")], "p2": [("上海", "is", "port")]})
    with pytest.raises(MiniragError, match="no usable triple"):
        knowledge_graph(corpus.chunks, triples, "ascii")
    kept = mr.HippoRAG.build(
        corpus, encoder=TableEncoder(), extraction=triples, follow="code"
    ).graph
    assert [(n.name, n.chunks) for n in kept.nodes] == [
        ("", (0, 1)),
        ("city", (0,)),
        ("port", (1,)),
    ]


def words(**more):
    """A token encoder: "ada" and "adah" are alike, every other word is like itself only."""
    return load_token_encoder(TableEncoder({"ada": [1, 0], "adah": [0.96, 0.28], **more}))


def test_late_interaction_links_and_joins_by_normalised_maxsim():
    corpus = corpus_of(
        ("p1", "Ada Bell met Cy."), ("p2", "Dr Ada Bell left."), ("p3", "Bell rang.")
    )
    triples = extraction_of(
        {
            "p1": [("Ada Bell", "met", "Cy")],
            "p2": [("Dr Ada Bell", "left", "Oslo")],
            "p3": [("bell", "rang", "noon")],
        }
    )
    method = mr.HippoRAG.build(
        corpus, encoder=words(), extraction=triples, question_entities={"?": ("Adah Bell",)}
    )
    linked = method.retrieve("?", k=3).trace.last(NodeStep).nodes
    assert [(phrase, method.graph.nodes[i].name) for phrase, i, _ in linked] == [
        ("adah bell", "ada bell")
    ]
    assert linked[0][2] == pytest.approx((0.96 + 1) / 2)
    pairs = {
        (method.graph.nodes[e.source].name, method.graph.nodes[e.target].name): e.weight
        for e in method.hippocampal_index.edges
        if e.kind == "synonymy"
    }
    assert pairs == pytest.approx(
        {("ada bell", "dr ada bell"): 1, ("bell", "ada bell"): 1, ("bell", "dr ada bell"): 1}
    )
    close = method.with_options(synonymy_threshold=0.6).hippocampal_index
    joined = [e for e in close.edges if e.kind == "synonymy"]
    back = [e.weight for e in joined if close.nodes[e.source].name == "dr ada bell"]
    assert back == pytest.approx([2 / 3])
    nameless = method.retrieve("who?").trace[-1]
    assert nameless.summary == "normalised MaxSim of question and passage"


def test_a_token_encoder_is_named_by_a_string_too(tmp_path):
    corpus = mr.load_corpus("professors")
    method = mr.HippoRAG.build(corpus, encoder="tokens:lsa", extraction="annotations")
    assert method.encoder.name == "lsa, word by word" and "word by word" in repr(method.node_index)
    method.save(tmp_path)
    texts = [q.text for q in corpus.questions[:4]]
    again = mr.HippoRAG.load(tmp_path, encoder="tokens:lsa").retrieve_many(texts)
    assert [r.ids for r in again] == [r.ids for r in method.retrieve_many(texts)]


def test_batch_equals_one_by_one(professors):
    questions = [q.text for q in professors.corpus.questions]
    for one, many in zip(map(professors.retrieve, questions), professors.retrieve_many(questions)):
        assert one.ids == many.ids
        assert [p.score for p in one.passages] == pytest.approx(
            [p.score for p in many.passages], abs=1e-6
        )  # cosines are float32


def test_saved_index_answers_alike(professors, tmp_path):
    professors.save(tmp_path / "index")
    loaded = mr.HippoRAG.load(tmp_path / "index", encoder="lsa")
    for q in professors.corpus.questions[:6]:
        assert loaded.retrieve(q.text).ids == professors.retrieve(q.text).ids
    assert not list((tmp_path / "index").rglob("*.pickle"))
    (tmp_path / "index" / "options.json").unlink()
    with pytest.raises(MiniragError, match="options.json"):
        mr.HippoRAG.load(tmp_path / "index")


def test_gold_changes_nothing(professors):
    blind = mr.HippoRAG.build(
        professors.corpus.without_gold(), encoder="lsa", extraction="annotations"
    )
    for q in professors.corpus.questions:
        assert blind.retrieve(q.text).ids == professors.retrieve(q.text).ids


@pytest.fixture(scope="module")
def professors():
    corpus = mr.load_corpus("professors")
    method = mr.HippoRAG.build(corpus, encoder="lsa", extraction="annotations")
    method.corpus = corpus
    return method


def test_every_script_gets_a_node():
    corpus = corpus_of(("p", "北京 and São Paulo"))
    method = mr.HippoRAG.build(
        corpus,
        encoder=TableEncoder(),
        extraction=extraction_of({"p": [("北京", "twinned with", "São Paulo")]}),
    )
    assert [n.name for n in method.graph.nodes] == ["北京", "são paulo"]
    with pytest.raises(MiniragError, match="no usable triple"):
        knowledge_graph(
            corpus.chunks, extraction_of({"p": [("北京", "r", "上海")]}), script="ascii"
        )


@given(
    st.lists(st.integers(0, 12).map(lambda i: i / 13), min_size=1, max_size=30), st.integers(1, 30)
)
@settings(max_examples=60, deadline=None)
def test_rank_orders_by_score_then_position_and_ignores_rounding_errors(scores, k):
    noise = np.resize([0, 1e-16, -1e-16], len(scores))
    assert list(rank(np.array(scores) + noise, k)) == list(rank(scores, k))
    up, down = rank(scores, k), rank(scores, k, ties="descending")
    assert list(up) == sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert list(down) == sorted(range(len(scores)), key=lambda i: (-scores[i], -i))[:k]


def test_average_is_the_mean_of_min_max():
    first, second = (
        ChunkStep("a", "", scores=np.array([0.0, 1.0, 3.0])),
        ChunkStep("b", "", scores=np.array([5.0, 5.0, 5.0])),
    )
    assert chunk.average(first, second, list("xyz")).scores == pytest.approx([0, 1 / 6, 1 / 2])


class Scripted:
    """Replies written for the test, so that a loop that needs a model can be walked without one."""

    name, is_model = "scripted replies (test)", False

    def __init__(self, *thoughts):
        self.thoughts = list(thoughts)

    def each(self, ask, items):
        return [ask(item) for item in items]

    def map(self, task, fields, **_):
        return [
            tuple(w for w in f["question"].replace("?", " ").split() if len(w) == 1) for f in fields
        ]

    def __call__(self, task, **fields):
        assert task == "thought" and fields["passages"]
        return self.thoughts.pop(0)


def test_ircot_stops_at_the_answer_or_at_the_last_step():
    def run(max_steps, *thoughts):
        method = mr.METHODS["ircot-hipporag"].build(
            STAB,
            encoder=TableEncoder(),
            extraction=STAB_TRIPLES,
            max_steps=max_steps,
            synonymy="none",
        )
        method.llm = method.retriever.llm = Scripted(*thoughts)
        return method.retrieve("s ?", k=3)

    def asked(r):
        return [s.summary for s in r.trace if s.operator == "round"]

    assert asked(run(2, "now a", "never read")) == ["1: s ?", "2: now a"]
    assert asked(run(4, "So the answer is: t")) == ["1: s ?"]
    merged = run(2, "now a", "never read")
    assert {p.score for p in merged.passages[:2]} == {1.0}


def test_ircot_needs_a_model_offline():
    method = mr.METHODS["ircot-hipporag"].build(
        STAB, encoder=TableEncoder(), extraction=STAB_TRIPLES
    )
    with pytest.raises(MiniragError, match="needs a model"):
        method.retrieve("Who is S?")
