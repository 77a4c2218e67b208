"""LightRAG: keywords, the two searches, their orders and merges against worked examples."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minirag as mr
from minirag.build import annotated_elements
from minirag.corpus import Chunk
from minirag.graph import Edge, Graph, Node
from minirag.index.relationships import entity_index, relationship_index
from minirag.methods import METHODS
from minirag.methods.lightrag import LightRAGHybrid, LightRAGLocal, in_turns, one_after_the_other
from minirag.methods.rich_parts import stand_in
from minirag.prompts import TASKS
from minirag.prompts.keywords import Keywords
from minirag.utils import MiniragError

from .scripted import Scripted
from .small import TableEncoder, corpus_of

NAMES = ("lightrag-local", "lightrag-global", "lightrag-hybrid")


def asked(text):
    return TASKS["keywords"].parse(TASKS["keywords"].rule({"question": text}))[0]


def test_names_are_low_and_other_content_words_high():
    found = asked("How did Ilse Brandt change astronomy in Veldania, and what did astronomy gain?")
    assert found == Keywords(("change", "astronomy", "gain"), ("Ilse Brandt", "Veldania"))
    assert asked("what do bees eat in winter?").low == ("bees", "winter")
    assert asked("") == Keywords()


@given(st.text(max_size=200))
def test_the_parser_takes_any_reply_and_the_rule_any_question(text):
    TASKS["keywords"].parse(text)
    high, low = asked(text)
    assert all(isinstance(word, str) and word for word in (*high, *low))


def test_broken_replies_keep_what_is_whole():
    parse = TASKS["keywords"].parse
    assert parse('Sure: {"high_level_keywords": ["a"], "low_level_keywords": ["b", 3, null]}')[0] == Keywords(("a",), ("b", "3"))
    assert parse('{"low_level_keywords": ["b"], "high_level_keywords": ["cut')[0].low == ("b",)
    assert parse("I cannot help.") == (Keywords(), 2)
    value, dropped = parse(TASKS["keywords"].example[1])
    assert value.high and value.low and not dropped


def test_what_stands_in_for_an_empty_level():
    none, low = Keywords(), Keywords((), ("Selm",))
    assert stand_in("Why?", none, "question") == (("Why?",), ("Why?",))
    assert stand_in("Why?", low, "question") == (("Why?",), ("Selm",))
    assert stand_in("Why?", none, "short question") == ((), ("Why?",))
    assert stand_in("Why? " * 20, none, "short question") == ((), ())
    assert stand_in("Why?", low, "short question") == ((), ("Selm",))
    assert stand_in("Why?", low, "nothing") == ((), ())


def test_merges_of_the_released_versions():
    local, overall = ["a", "b", "c"], ["b", "d"]
    assert in_turns(local, overall) == ["a", "b", "d", "c"]
    assert one_after_the_other(local, overall) == ["b", "d", "a", "c"]


# e1 is read from c1 and c2, e2 from c2, its neighbour n1 from c2: within e1, c2 comes first because a neighbour cites it too.
CHUNKS = tuple(Chunk(f"c{i}", f"Text {i}.", f"c{i}") for i in (1, 2, 3))
GRAPH = Graph(
    "rich knowledge",
    "a test",
    (Node("e1", chunks=(0, 1)), Node("e2", chunks=(1,)), Node("n1", chunks=(1,)), Node("far", chunks=(2,))),
    (Edge(0, 2, description="e1 to n1", keywords="red", chunks=(1,)), Edge(2, 3, description="n1 to far", keywords="blue", weight=5.0, chunks=(2,))),
    CHUNKS,
)
TABLE = {"e1 e2": (1,), "blue things": (0, 0, 1), "e1": (1,), "e2": (0.9, 0.1), "n1": (0, 1), "n1 to far n1 far": (0, 0, 1), "e1 to n1 e1 n1": (0, 0, 0.5, 0.5)}
ENCODER = TableEncoder(TABLE)


def says(high, low):
    return Scripted(lambda task, fields: f'{{"high_level_keywords": {high}, "low_level_keywords": {low}}}'.replace("'", '"'))


def test_local_passages_in_the_codes_order():
    method = LightRAGLocal.from_graph(GRAPH, says(["x"], ["e1 e2"]), ENCODER, top_k=2, chunk_order="citation")
    found = method.retrieve("?", k=2)
    assert [name for name, *_ in found.trace[1].data["nodes"]] == ["e1", "e2"]
    assert found.ids == ["c2", "c1"]


def test_relations_by_chosen_ends_or_by_degree_and_weight():
    graph = dataclasses.replace(GRAPH, edges=(*GRAPH.edges, Edge(0, 1, description="e1 to e2", weight=1.0, chunks=(0,)), Edge(0, 3, weight=1.0, chunks=(0,))))
    find = lambda **choices: LightRAGLocal.from_graph(graph, says(["x"], ["e1 e2"]), ENCODER, top_k=2, **choices).retrieve("?").trace[2].data["relations"]
    assert [edge for edge, _ in find()][0] == 2  # both ends chosen
    assert [edge for edge, _ in find(local_order="degree")] == [0, 3, 2]


def test_global_search_finds_relations_their_ends_and_their_passages():
    method = METHODS["lightrag-global"].from_graph(GRAPH, says(["blue things"], ["x"]), ENCODER, top_k=1)
    _, relations, nodes, _ = (found := method.retrieve("?", k=1)).trace
    assert [edge for edge, _ in relations.data["relations"]] == [1]
    assert [name for name, *_ in nodes.data["nodes"]] == ["n1", "far"] and found.ids == ["c3"]
    early = METHODS["lightrag-global"].from_graph(GRAPH, says(["blue things"], ["x"]), ENCODER, top_k=2, global_order="degree").retrieve("?")
    assert [edge for edge, _ in early.trace[1].data["relations"]] == [1, 0]  # equal degrees, larger weight


def test_hybrid_holds_what_both_hold_in_the_chosen_order():
    hybrid = LightRAGHybrid.from_graph(GRAPH, says(["blue things"], ["e1 e2"]), ENCODER, top_k=1)
    late, early = (hybrid.with_options(merge=merge).retrieve("?") for merge in ("late", "early"))
    names = lambda found: [name for name, *_ in found.trace[-3].data["nodes"]]
    assert names(late) == ["e1", "n1", "far"] and names(early) == ["n1", "far", "e1"]
    assert {edge for edge, _ in late.trace[-2].data["relations"]} == {0, 1}


def test_budgets_cut_at_the_first_text_that_does_not_fit():
    method = LightRAGHybrid.from_graph(GRAPH, says(["blue things"], ["e1 e2"]), ENCODER, top_k=2, entity_budget=2, relation_budget=0, text_budget=10_000)
    sections, step = method.context(method.retrieve("?"))
    assert len(sections["entities"]) <= 2 and sections["relations"] == [] and sections["passages"]
    assert step.data["tokens"] == sum(mr.count_tokens(text) for texts in sections.values() for text in texts)


def test_no_keyword_retrieves_nothing_in_the_codes_setting():
    silent = Scripted(lambda task, fields: "no")
    for name in NAMES:
        method = METHODS[name].from_graph(GRAPH, silent, ENCODER, follow="code")
        found = method.retrieve("A question that is far too long to be taken for a keyword itself?", k=2)
        assert all(passage.score == 0 for passage in found.passages) and not any(method.context(found)[0].values())


def test_what_is_encoded():
    table = entity_index(GRAPH, ENCODER, "name and description"), relationship_index(GRAPH, ENCODER, "keywords, names, description")
    assert table[0].labels == ("e1", "e2", "n1", "far") and table[1].labels[1] == "n1 — far"
    for build in (entity_index, relationship_index):
        with pytest.raises(MiniragError, match="expected one of"):
            build(GRAPH, ENCODER, "poem")


@pytest.mark.parametrize("name", NAMES)
def test_choices_are_checked_and_saved(name, tmp_path):
    with pytest.raises(MiniragError, match="merge"):
        METHODS[name].from_graph(GRAPH, "offline", ENCODER, merge="sideways")
    with pytest.raises(MiniragError, match="no choice 'speed'"):
        METHODS[name].from_graph(GRAPH, "offline", ENCODER, speed=1)
    method = METHODS[name].from_graph(GRAPH, "offline", ENCODER, follow="code", top_k=2)
    method.save(tmp_path)
    again = METHODS[name].load(tmp_path, "offline", ENCODER)
    assert again.chosen == method.chosen and again.graph == method.graph
    assert again.retrieve("e1 e2").ids == method.retrieve("e1 e2").ids


@pytest.mark.parametrize("name", NAMES)
def test_from_a_corpus_to_an_answer(name):
    corpus = corpus_of(("p1", "Ada Renner founded Selm Clinic in Oslo."), ("p2", "Selm Clinic employs Ben Lorne. Ben Lorne met Ada Renner in Bergen."))
    answer = METHODS[name].build(corpus, encoder="lsa").answer("Where did Ada Renner found Selm Clinic?")
    assert answer.text and answer.prompt_tokens > 0 and answer.retrieval.trace[-1].operator == "context"


def test_annotations_are_hand_written_elements_where_a_corpus_has_them():
    corpus = mr.load_corpus("textbook")
    elements = annotated_elements(corpus)
    assert elements.source == "hand-written annotations" and set(elements.entities) <= {chunk.id for chunk in corpus.chunks}
    graph = LightRAGLocal.build(corpus, encoder="lsa", extraction="annotations").graph
    assert graph.source == elements.source and all(edge.keywords and edge.description for edge in graph.edges)
    assert annotated_elements(corpus_of(("x", "Another text."), name="textbook")) is None
    professors = mr.load_corpus("professors")
    assert annotated_elements(professors) is None
    assert LightRAGLocal.build(professors, encoder="lsa", extraction="annotations").graph.source == "hand-written annotations"
