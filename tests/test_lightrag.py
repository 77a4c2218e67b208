"""LightRAG: keywords, the two searches, their orders and merges against worked examples."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minirag as mr
from minirag.core.corpus import Chunk
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.trace import ChunkStep, ContextStep, EdgeStep, NodeStep
from minirag.graphs import annotated_elements
from minirag.index import node_index
from minirag.index.vectors import relationship_index
from minirag.methods import METHODS, lightrag_code
from minirag.methods.lightrag import LightRAGHybrid, LightRAGLocal
from minirag.methods.lightrag_code import LightOptions, Released, weighted_polling
from minirag.methods.rich_graph import merged, ranked
from minirag.prompts import TASKS
from minirag.prompts.keywords import Keywords

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
    assert parse('Sure: {"high_level_keywords": ["a"], "low_level_keywords": ["b", 3, null]}')[
        0
    ] == Keywords(("a",), ("b", "3"))
    assert parse('{"low_level_keywords": ["b"], "high_level_keywords": ["cut')[0].low == ("b",)
    assert parse("I cannot help.") == (Keywords(), 2)
    value, dropped = parse(TASKS["keywords"].example[1])
    assert value.high and value.low and not dropped


def test_merges_of_the_released_versions():
    local, overall = ["a", "b", "c"], ["b", "d"]
    assert merged([local, overall], "in turns") == ["a", "b", "d", "c"]
    assert merged([local, overall], "global first") == ["b", "d", "a", "c"]


# e1 is read from c1 and c2, e2 from c2, its neighbour n1 from c2: within e1, c2 comes first because
# a neighbour cites it too.
CHUNKS = tuple(Chunk(f"c{i}", f"Text {i}.", f"c{i}") for i in (1, 2, 3))
GRAPH = Graph(
    "rich knowledge",
    "a test",
    (
        Node("e1", chunks=(0, 1)),
        Node("e2", chunks=(1,)),
        Node("n1", chunks=(1,)),
        Node("far", chunks=(2,)),
    ),
    (
        Edge(0, 2, description="e1 to n1", keywords="red", chunks=(1,)),
        Edge(2, 3, description="n1 to far", keywords="blue", weight=5.0, chunks=(2,)),
    ),
    CHUNKS,
)
TABLE = {
    "e1 e2": (1,),
    "blue things": (0, 0, 1),
    "e1": (1,),
    "e2": (0.9, 0.1),
    "n1": (0, 1),
    "n1 to far n1 far": (0, 0, 1),
    "e1 to n1 e1 n1": (0, 0, 0.5, 0.5),
}
ENCODER = TableEncoder(TABLE)


def says(high, low):
    return Scripted(
        lambda task, fields: (
            f'{{"high_level_keywords": {high}, "low_level_keywords": {low}}}'.replace("'", '"')
        )
    )


def names_in(step):
    return [node.label for node in step.nodes]


def places_in(step):
    return [edge.index for edge in step.edges]


def test_local_passages_in_the_codes_order():
    method = LightRAGLocal.from_graph(
        GRAPH, says(["x"], ["e1 e2"]), ENCODER, top_k=2, chunk_order="citation"
    )
    found = method.retrieve("?", k=2)
    assert names_in(found.trace.last("node vdb")) == ["e1", "e2"]
    assert found.ids == ["c2", "c1"]


def test_relations_by_chosen_ends_or_by_degree_and_weight():
    graph = dataclasses.replace(
        GRAPH,
        edges=(
            *GRAPH.edges,
            Edge(0, 1, description="e1 to e2", weight=1.0, chunks=(0,)),
            Edge(0, 3, weight=1.0, chunks=(0,)),
        ),
    )

    def find(**choices):
        return (
            LightRAGLocal.from_graph(graph, says(["x"], ["e1 e2"]), ENCODER, top_k=2, **choices)
            .retrieve("?")
            .trace.last("relationship onehop")
        )

    assert places_in(find())[0] == 2  # both ends chosen
    assert places_in(find(local_order="degree")) == [0, 3, 2]


def test_global_search_finds_relations_their_ends_and_their_passages():
    method = METHODS["lightrag-global"].from_graph(
        GRAPH, says(["blue things"], ["x"]), ENCODER, top_k=1
    )
    found = method.retrieve("?", k=1)
    assert places_in(found.trace.last(EdgeStep)) == [1]
    assert names_in(found.trace.last(NodeStep)) == ["n1", "far"] and found.ids == ["c3"]
    early = (
        METHODS["lightrag-global"]
        .from_graph(GRAPH, says(["blue things"], ["x"]), ENCODER, top_k=2, global_order="degree")
        .retrieve("?")
    )
    assert places_in(early.trace.last(EdgeStep)) == [1, 0]  # equal degrees, larger weight


def test_the_searches_of_the_codes_are_the_surveys_with_its_options():
    method = LightRAGHybrid.from_graph(GRAPH, "offline", ENCODER)
    for name in ("local_search", "global_search"):
        searches = (getattr(by, name) for by in (LightRAGHybrid, Released))
        survey, code = (search(method, ["blue things", "e1 e2"]) for search in searches)
        assert survey == code and [len(trace) for trace in survey] == [3, 3]


@pytest.mark.parametrize("name", NAMES)
def test_the_surveys_searches_find_nothing_without_keywords_or_relations(name):
    silent, edgeless = says([], []), dataclasses.replace(GRAPH, edges=())
    for graph, choices in ((GRAPH, {"empty": "skip"}), (edgeless, {})):
        method = METHODS[name].from_graph(graph, silent, ENCODER, **choices)
        (found,) = method.retrieve_many(["?"])
        assert not found.trace.last(EdgeStep).edges and not any(p.score for p in found.passages)
        assert method.retrieve_many([]) == []


def test_hybrid_holds_what_both_hold_in_the_chosen_order():
    hybrid = LightRAGHybrid.from_graph(GRAPH, says(["blue things"], ["e1 e2"]), ENCODER, top_k=1)
    late, early = (
        hybrid.with_options(merge=merge).retrieve("?") for merge in ("in turns", "global first")
    )
    assert names_in(late.trace.last("node merge")) == ["e1", "n1", "far"]
    assert names_in(early.trace.last("node merge")) == ["n1", "far", "e1"]
    assert set(places_in(late.trace.last("relationship merge"))) == {0, 1}


def test_budgets_cut_at_the_first_text_that_does_not_fit():
    method = LightRAGHybrid.from_graph(
        GRAPH,
        says(["blue things"], ["e1 e2"]),
        ENCODER,
        top_k=2,
        entity_budget=2,
        relation_budget=0,
        text_budget=10_000,
    )
    sections, told = method.context(method.retrieve("?"))
    assert len(sections["entities"]) <= 2 and sections["relations"] == [] and sections["passages"]
    assert told.trace.last(ContextStep).tokens == sum(
        mr.count_tokens(text) for texts in sections.values() for text in texts
    )


@pytest.mark.parametrize("follow", ["early", "late"])
def test_no_keyword_retrieves_nothing_in_the_codes_settings(follow):
    silent = Scripted(lambda task, fields: "no")
    for name in NAMES:
        method = METHODS[name].from_graph(GRAPH, silent, ENCODER, follow=follow)
        found = method.retrieve(
            "A question that is far too long to be taken for a keyword itself?", k=2
        )
        assert all(passage.score == 0 for passage in found.passages) and not any(
            method.context(found)[0].values()
        )


def test_the_three_settings_have_names_and_the_survey_is_the_default():
    build = METHODS["lightrag-hybrid"].from_graph
    assert (
        build(GRAPH, "offline", ENCODER).chosen
        == build(GRAPH, "offline", ENCODER, "survey").chosen
        == LightOptions()
    )
    early, late = (build(GRAPH, "offline", ENCODER, follow).chosen for follow in ("early", "late"))
    assert (early.top_k, early.chunk_order, early.global_order) == (60, "citation", "degree")
    assert (late.top_k, late.chunk_order, late.total_budget) == (40, "similarity", 30000)
    for follow in ("paper", "code"):
        with pytest.raises(
            MiniragError, match=f"follow='{follow}': expected one of 'survey', 'early', 'late'"
        ):
            build(GRAPH, "offline", ENCODER, follow)


def test_the_early_code_cuts_what_each_search_found():
    """Each relation's description has 3 tokens: a budget of 3 holds one for each search."""
    model, choices = (
        says(["blue things"], ["e1 e2"]),
        {"relation_budget": 3, "cutoff": None, "top_k": 2},
    )
    hybrid = LightRAGHybrid.from_graph(GRAPH, model, ENCODER, "early", **choices)
    found = hybrid.retrieve("?")
    searched = [places_in(step) for step in found.trace.all(EdgeStep)]
    assert searched == [[0], [1], [1, 0]] and len(hybrid.context(found)[0]["relations"]) == 2
    uncut = hybrid.with_options(cut="context").retrieve("?")
    assert [len(step.edges) for step in uncut.trace.all(EdgeStep)] == [1, 2, 2]


def test_a_search_without_a_budget_names_none():
    model = says(["blue things"], ["e1 e2"])
    budgets = ("entity_budget", "relation_budget", "text_budget")
    hybrid = LightRAGHybrid.from_graph(GRAPH, model, ENCODER, "early", **dict.fromkeys(budgets))
    assert not [step for step in hybrid.retrieve("?").trace if "None" in step.summary]


def test_mix_brings_the_passages_nearest_to_the_question_in_turns():
    encoder = TableEncoder({**TABLE, "?": (0, 0, 0, 0, 0, 1), "c3\nText 3.": (0, 0, 0, 0, 0, 1)})
    hybrid = LightRAGHybrid.from_graph(GRAPH, says(["x"], ["e1 e2"]), encoder, "late", top_k=1)
    assert (
        hybrid.retrieve("?").ids[0] != "c3"
        and hybrid.with_options(mix=True).retrieve("?").ids[0] == "c3"
    )


@pytest.mark.parametrize("task", [None, "answer"])
def test_a_total_budget_leaves_passages_what_prompt_entities_and_relations_leave(task):
    hybrid = LightRAGHybrid.from_graph(
        GRAPH, says(["blue things"], ["e1 e2"]), ENCODER, "late", top_k=2
    )

    def passages_of(method):
        return method.answer("?", task=task).retrieval.trace.last(ContextStep).sections["passages"]

    whole = passages_of(hybrid)
    name, sent, _ = hybrid.llm.asked[-1]
    least = mr.count_tokens(sent) + 200
    held = [passages_of(hybrid.with_options(total_budget=least - less)) for less in (0, 1)]
    assert name == (task or "full_answer") and held == [whole, whole - 1]


class Found:
    """A vector search that finds what a recorded case says, best first."""

    measure = "cosine"

    def __init__(self, places, count, similarity=()):
        self.places, self.labels, self.scores = places, [""] * count, similarity

    def search(self, queries, k=1):
        found = np.array([self.places[:k]] * len(queries), dtype=int)
        return found, np.linspace(0.9, 0.3, found.shape[1]) + np.zeros(found.shape)

    def similarities(self, queries):
        return np.array([self.scores] * len(queries))


def letters_w(text):
    """Tokens as the cases count them."""
    return len(re.findall(r"\bw\b", text))


BUDGETS = {"entity": "entities", "relation": "relations", "total": "total"}


def recorded_method(case):
    """LightRAG over a recorded case's graph, with searches that find what the case says."""
    chunk_at = {name: i for i, name in enumerate(case["chunks"])}
    node_at = {row["name"]: i for i, row in enumerate(case["nodes"])}
    nodes = [
        Node(n["name"], n["type"], n["description"], tuple(chunk_at[c] for c in n["chunks"]))
        for n in case["nodes"]
    ]
    edges = [
        Edge(
            node_at[e["source"]],
            node_at[e["target"]],
            "",
            e["description"],
            e["keywords"],
            e["weight"],
            tuple(chunk_at[c] for c in e["chunks"]),
        )
        for e in case["edges"]
    ]
    chunks = tuple(Chunk(name, text, name) for name, text in case["chunks"].items())
    choices = {
        "top_k": case["top_k"],
        "chunk_k": case["chunk_top_k"],
        "mix": case["mode"] == "mix",
        "chunk_order": {"WEIGHT": "polling", "VECTOR": "similarity"}[case["pick_method"]],
        "related_chunks": case["related_chunk_number"],
        "count": letters_w,
        **{f"{part}_budget": case["budgets"][key] for part, key in BUDGETS.items()},
    }
    name = f"lightrag-{'hybrid' if case['mode'] == 'mix' else case['mode']}"
    method = METHODS[name].from_graph(
        Graph("rich knowledge", "a case", tuple(nodes), tuple(edges), chunks),
        says(["x"], ["y"]),
        ENCODER,
        "late",
        **choices,
    )
    pairs = {frozenset((edge.source, edge.target)): i for i, edge in enumerate(edges)}
    relations = [pairs[frozenset((node_at[a], node_at[b]))] for a, b in case["relations_found"]]
    method.__dict__ |= {
        "entity_index": Found([node_at[name] for name in case["entities_found"]], len(nodes)),
        "relationship_index": Found(relations, len(edges)),
        "chunk_index": Found([], len(chunks), list(case["chunk_similarity"].values())),
    }
    return method, [chunk_at[name] for name in case["chunks_found"]]


def names_of(method, found):
    """What a retrieval holds, under the names of the recorded cases."""
    graph, trace = method.graph, found.trace
    passages = {
        step.operator: [graph.chunks[i].id for i in ranked(step.scores)]
        for step in trace.all(ChunkStep)
    }
    edges = [graph.edges[i] for i in places_in(trace.last(EdgeStep))]
    relations = [{graph.nodes[edge.source].name, graph.nodes[edge.target].name} for edge in edges]
    return {
        "entities_before_budget": [
            graph.nodes[node.index].name for node in trace.last(NodeStep).nodes
        ],
        "relations_before_budget": relations,
        "entity_chunks": passages["chunk from entities"],
        "relation_chunks": passages["chunk from relations"],
        "merged_chunks": passages["chunk merge"],
    }


CASES = json.loads(
    (Path(__file__).parent / "recorded" / "lightrag_late.json").read_text(encoding="utf-8")
)["cases"]


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if "polling_only" not in c["input"]],
    ids=lambda case: case["input"]["note"],
)
def test_the_late_setting_is_the_released_code(case, monkeypatch):
    given, expected = case["input"], case["expected"]
    method, nearest = recorded_method(given)
    monkeypatch.setattr(lightrag_code, "nearest", lambda near, options: nearest)
    found = method.retrieve("?")
    sections, _ = method.context(found)
    if "context" in expected:
        assert expected["context"] is None and not any(sections.values())
        return
    got = names_of(method, found)
    got |= {"entities": got["entities_before_budget"][: len(sections["entities"])]}
    got |= {"relations": got["relations_before_budget"][: len(sections["relations"])]}
    got |= {"chunks": [text.partition("\n")[0] for text in sections["passages"]]}
    pairs = {key: list(map(set, expected[key])) for key in ("relations", "relations_before_budget")}
    assert got == {**expected, **pairs}


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if "polling_only" in c["input"]],
    ids=lambda case: case["input"]["note"],
)
def test_weighted_polling_is_the_released_codes(case):
    given = case["input"]
    assert (
        weighted_polling(
            given["sorted_chunks"], given["max_related_chunks"], given["min_related_chunks"]
        )
        == case["expected"]["selected"]
    )


def test_what_is_encoded():
    table = (
        node_index(GRAPH, ENCODER, "name and description"),
        relationship_index(GRAPH, ENCODER, "keywords, names, description"),
    )
    assert table[0].labels == ("e1", "e2", "n1", "far") and table[1].labels[1] == "n1 — far"
    for build in (node_index, relationship_index):
        with pytest.raises(MiniragError, match="expected one of"):
            build(GRAPH, ENCODER, "poem")


@pytest.mark.parametrize("name", NAMES)
def test_choices_are_checked_and_saved(name, tmp_path):
    with pytest.raises(MiniragError, match="merge"):
        METHODS[name].from_graph(GRAPH, "offline", ENCODER, merge="sideways")
    with pytest.raises(MiniragError, match="no option 'speed'"):
        METHODS[name].from_graph(GRAPH, "offline", ENCODER, speed=1)
    method = METHODS[name].from_graph(GRAPH, "offline", ENCODER, follow="late", top_k=2)
    method.save(tmp_path)
    again = METHODS[name].load(tmp_path, "offline", ENCODER)
    assert again.chosen == method.chosen and again.graph == method.graph
    assert again.retrieve("e1 e2").ids == method.retrieve("e1 e2").ids


@pytest.mark.parametrize("name", NAMES)
def test_from_a_corpus_to_an_answer(name):
    corpus = corpus_of(
        ("p1", "Ada Renner founded Selm Clinic in Oslo."),
        ("p2", "Selm Clinic employs Ben Lorne. Ben Lorne met Ada Renner in Bergen."),
    )
    answer = (
        METHODS[name].build(corpus, encoder="lsa").answer("Where did Ada Renner found Selm Clinic?")
    )
    assert (
        answer.text
        and answer.prompt_tokens > 0
        and answer.retrieval.trace.last(ContextStep).tokens > 0
    )


def test_annotations_are_hand_written_elements_where_a_corpus_has_them():
    corpus = mr.load_corpus("textbook")
    elements = annotated_elements(corpus)
    assert elements.source == "shipped annotations" and set(elements.entities) <= {
        chunk.id for chunk in corpus.chunks
    }
    graph = LightRAGLocal.build(corpus, encoder="lsa", extraction="annotations").graph
    assert graph.source == elements.source and all(
        edge.keywords and edge.description for edge in graph.edges
    )
    assert annotated_elements(corpus_of(("x", "Another text."), name="textbook")) is None
    professors = mr.load_corpus("professors")
    assert annotated_elements(professors) is None
    assert (
        LightRAGLocal.build(professors, encoder="lsa", extraction="annotations").graph.source
        == "shipped annotations"
    )


@pytest.mark.parametrize("name", ["lightrag-hybrid", "pathrag"])
def test_types_and_examples_of_the_domain_reach_the_extraction_prompt(name, tmp_path):
    entity, said = '("entity"<|>ASPIRIN<|>drug<|>It is a drug.)', "Aspirin inhibits COX-1."
    relation = '("relationship"<|>ASPIRIN<|>COX-1<|>It inhibits it.<|>inhibition<|>8)'
    own = {"entity_types": ("drug",), "examples": ((said, f"{entity}##{relation}<|COMPLETE|>"),)}
    corpus, llm = corpus_of(("p1", "Ada met Ben.")), Scripted(lambda task, fields: entity)
    built = METHODS[name].build(corpus, llm, ENCODER, gleanings=0, **own)
    sent = [prompt for task, prompt, _ in llm.asked if task == "rich_elements"]
    assert len(sent) == 1 and said in sent[0] and "Entity types: drug\n" in sent[0]
    built.save(tmp_path)
    assert METHODS[name].load(tmp_path, "offline", ENCODER).chosen == built.chosen
