"""GraphRAG-ER, GraphRAG-CC, VGraphRAG-CC, VGraphRAG and CheapRAG: the survey's Tables 9 and 10,
what they share with LGraphRAG and VanillaRAG, and what CheapRAG's map-reduce costs.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from scripted import Scripted
from small import corpus_of

import minirag as mr
from minirag.core.errors import MiniragError
from minirag.core.trace import ChunkStep, CommunityStep, ContextStep, EdgeStep, NodeStep
from minirag.evaluate.metrics import load_expected
from minirag.methods import METHODS
from minirag.methods.graphrag.citations import CitedStep
from minirag.methods.graphrag.map_reduce import MapStep, PackStep, pack

TABLES = load_expected("survey_tables")
NINE = TABLES["table_9"]
DIRECT = ("graphrag-local", "graphrag-er", "graphrag-cc", "vgraphrag-cc", "vgraphrag")
SECTION = {"Community": "reports", "Entity": "entities and relations", "Chunk": "passages"}
BESIDE = {  # what runs and is not retrieved: for the metrics, or on the way
    "graphrag-er": {"chunk from relations"},
    "graphrag-cc": {"node vdb", "relationship onehop"},
}


@pytest.fixture(scope="module")
def corpus():
    return mr.load_corpus("professors")


@pytest.fixture(scope="module")
def methods(corpus):
    """Every method over one index, by LSA."""
    index = METHODS["graphrag-local"].build(corpus, encoder="lsa").index
    kinds = {name: METHODS[name] for name in (*DIRECT, "cheaprag", "graphrag-global")}
    return {name: kind.from_index(index, encoder="lsa") for name, kind in kinds.items()}


def rows(method, question, *kinds):
    """The fields of each kind of step of a retrieval."""
    trace = method.retrieve(question).trace
    return [getattr(trace.last(kind), kind.shows) for kind in kinds]


@pytest.mark.paper("Survey", "tab-9", "vgraphrag")
@pytest.mark.parametrize("name", DIRECT)
def test_a_method_retrieves_what_its_row_of_table_9_names(name):
    assert sorted(METHODS[name].granularity) == sorted(NINE[name]["elements"])
    searched = [METHODS[name].operators.get(kind) for kind in ("chunk", "community")]
    assert (("VDB",) in searched) == NINE[name]["new"]


@pytest.mark.paper("Survey", "tab-9", "vgraphrag", "cheaprag")
def test_compositions():
    """ER is LGraphRAG's search for entities, CC the rest of it; V is ER and the vector search."""
    local, er, cc, vcc, v = (METHODS[name].operators for name in DIRECT)
    assert er == {"node": ("VDB",), "relationship": ("Onehop",)} and local == {**er, **cc}
    assert cc == {"chunk": ("Occurrence",), "community": ("Entity",)}
    assert vcc == {"chunk": ("VDB",), "community": ("VDB",)} and v == {**er, **vcc}
    assert METHODS["cheaprag"].operators == vcc
    assert METHODS["cheaprag"].granularity == METHODS["vgraphrag-cc"].granularity


@pytest.mark.paper("Survey", "op-new")
@pytest.mark.parametrize("name", [*DIRECT, "cheaprag"])
def test_the_operators_that_run_are_those_of_the_row(name, methods, corpus):
    ran = {step.operator for step in methods[name].retrieve(corpus.questions[0].text).trace}
    row = methods[name].operators.items()
    listed = {f"{kind} {operator.lower()}" for kind, several in row for operator in several}
    assert listed <= ran and ran - listed == BESIDE.get(name, set())


@pytest.mark.paper("Survey", "generation")
@pytest.mark.parametrize("name", DIRECT)
def test_the_prompt_has_a_section_for_what_the_row_names(name, methods, corpus):
    sections, found = methods[name].context(methods[name].retrieve(corpus.questions[0].text))
    wanted = [SECTION[e] for e in ("Chunk", "Entity", "Community") if e in NINE[name]["elements"]]
    assert list(sections) == wanted and all(sections.values())
    step = found.trace.last(ContextStep)
    budgets = {"passages": 4000, "entities and relations": 2800, "reports": 1200}
    assert all(f"{part} in {budgets[part]} tokens" in step.summary for part in wanted)


@pytest.mark.paper("Survey", "tab-9")
def test_er_and_cc_together_show_what_local_search_shows(methods, corpus):
    for question in corpus.questions[:6]:
        local, er, cc = (
            methods[name].context(methods[name].retrieve(question.text))[0] for name in DIRECT[:3]
        )
        assert {**er, **cc} == local


@pytest.mark.paper("Survey", "vgraphrag", "tab-10")
def test_vgraphrag_is_local_search_for_entities_and_vanilla_for_passages(methods, corpus):
    vanilla = METHODS["vanilla"].build(corpus, encoder="lsa")
    for question in (q.text for q in corpus.questions[:6]):
        found, plain = methods["vgraphrag"].retrieve(question), vanilla.retrieve(question)
        shared = [
            rows(methods[name], question, NodeStep, EdgeStep)
            for name in ("vgraphrag", "graphrag-local", "graphrag-er")
        ]
        assert shared[0] == shared[1] == shared[2]
        assert [(p.id, p.score) for p in found] == [(p.id, p.score) for p in plain]
        every = [each.trace.last(ChunkStep).scores for each in (found, plain)]
        assert np.array_equal(*every)
        searched = [
            (rows(methods[name], question, CommunityStep), methods[name].retrieve(question).ids)
            for name in ("vgraphrag", "vgraphrag-cc", "cheaprag")
        ]
        assert searched[0] == searched[1] == searched[2]


@pytest.mark.paper("Survey", "op-new")
def test_reports_are_the_nearest_and_4_by_default(methods, corpus):
    method = methods["vgraphrag"]
    asked, (places, index) = corpus.questions[0].text, method.parts.report_index
    cosines = dict(zip(places, index.similarities([asked])[0]))
    ((*chosen,),) = rows(method, asked, CommunityStep)
    assert [row.index for row in chosen] == sorted(cosines, key=lambda p: (-cosines[p], p))[:4]
    every = method.with_options(community_k=None)
    assert len(rows(every, asked, CommunityStep)[0]) == len(places) > 4
    assert every.parts is method.parts  # nothing is encoded again


def test_vector_search_keeps_k_passages_also_at_a_cosine_of_0(methods):
    for name in DIRECT:
        if name != "graphrag-er":
            method = methods[name]
            sections, found = method.context(method.retrieve("zzz qqq", k=3))
            assert len(sections["passages"]) == len(found.passages) == 3
    assert {p.score for p in methods["vgraphrag"].retrieve("zzz qqq", k=3)} == {0}


def test_er_scores_the_passages_its_relations_were_read_from_and_shows_none(methods, corpus):
    method, question = methods["graphrag-er"], corpus.questions[0].text
    found, scores = method.retrieve(question), np.zeros(len(corpus.chunks))
    for row in found.trace.last(EdgeStep).edges:
        scores[list(set(method.graph.edges[row.index].chunks))] += row.score
    assert found.trace[-1].scores == pytest.approx(scores) and scores.any()
    told = [text for section in method.context(found)[0].values() for text in section]
    assert not any(chunk.passage in told for chunk in corpus.chunks)


def test_no_context_is_larger_than_its_window(methods, corpus):
    for name in DIRECT:
        for window in (8000, 600, 90, 1):
            method = methods[name].with_options(window=window)
            found = method.context(method.retrieve(corpus.questions[1].text))[1]
            assert found.trace.last(ContextStep).tokens <= window


def test_variants_follow_the_paper_alone(methods):
    for name in ("graphrag-er", "graphrag-cc", "vgraphrag-cc", "vgraphrag", "cheaprag"):
        with pytest.raises(MiniragError, match="follow='code': expected one of 'paper'"):
            METHODS[name].from_index(methods[name].index, encoder="lsa", follow="code")
        assert type(methods[name]).__name__ in repr(methods[name])
    with pytest.raises(MiniragError, match="chunk_order"):
        METHODS["vgraphrag"].from_index(methods["vgraphrag"].index, chunk_order="entity")


# CheapRAG.


def reader(score=lambda units: 50, answer="It helps."):
    """A model that scores what it reads, and merges by counting."""

    def reply(task, fields):
        if task == "map_answer":
            return json.dumps({"answer": answer, "score": score(fields["units"])})
        return f"Merged {len(fields['answers'])}."

    return Scripted(reply)


def asked_of(method, llm, **options):
    """A copy of the method that asks another model."""
    other = method.with_options(**options)
    other.llm = llm
    return other


@pytest.mark.paper("Survey", "cheaprag", "generation")
@pytest.mark.parametrize("k", [1, 4, 5])
def test_every_report_and_passage_is_answered_from_by_itself(k, methods, corpus):
    llm = reader()
    question = corpus.questions[0].text
    answer = asked_of(methods["cheaprag"], llm).answer(question, k=k)
    (reports,) = rows(methods["cheaprag"], question, CommunityStep)
    assert [task for task, *_ in llm.asked] == ["map_answer"] * (4 + k) + ["reduce_answer"]
    texts = [methods["cheaprag"].index.reports[row.index].text for row in reports]
    texts += [passage.chunk.passage for passage in answer.retrieval.passages]
    for text in texts:
        assert sum(text in prompt for task, prompt, _ in llm.asked if task == "map_answer") == 1
    assert answer.text == f"Merged {4 + k}." and len(answer.retrieval.passages) == k
    cited = answer.retrieval.trace.last(CitedStep)
    assert {row.index for row in cited.reports} == {row.index for row in reports}
    assert set(cited.chunks) == set(answer.retrieval.ids)


def test_packed_windows_hold_the_same_units(methods, corpus):
    question, held = corpus.questions[0].text, []
    for per_window, windows in ((1, 9), (2, 5), (4, 3), (None, 1)):
        llm = reader()
        found = asked_of(methods["cheaprag"], llm, per_window=per_window).answer(question).retrieval
        packed = found.trace.last(PackStep).windows
        assert len(packed) == windows and len(llm.asked) == windows + 1
        held.append(sorted(unit for window in packed for unit in window))
    assert held[0] == held[1] == held[2] == held[3]


def test_a_window_holds_at_most_so_many():
    assert pack([1, 1, 1, 5, 1], 6, most=2)[0] == [[0, 1], [2, 3], [4]]
    assert pack([1, 1, 1, 5, 1], 6)[0] == [[0, 1, 2], [3, 4]]
    assert pack([9, 1], 6, split=True, most=1)[0] == [[0], [1]]


@pytest.mark.paper("Survey", "cheaprag")
def test_what_cheaprag_costs_beside_global_search():
    """Fewer tokens. Fewer calls only where both read one unit in a prompt: global search packs."""
    corpus = mr.load_corpus("harbor_news")
    index = METHODS["graphrag-local"].build(corpus, encoder="lsa").index
    spent = {}
    for name, per_window in (("cheaprag", 1), ("graphrag-global", 1), ("graphrag-global", None)):
        method = METHODS[name].from_index(index, encoder="lsa", per_window=per_window)
        before = method.llm.ledger.snapshot()
        method.answer(corpus.questions[0].text)
        spent[name, per_window] = (method.llm.ledger - before).total
    cheap, alone, packed = spent.values()
    reports = len(index.at(2))
    assert (cheap.calls, alone.calls) == (10, reports + 1) and packed.calls < cheap.calls
    assert cheap.prompt_tokens * 3 < packed.prompt_tokens < alone.prompt_tokens


def test_a_map_reply_that_cannot_be_read_is_counted_and_the_rest_merged(methods, corpus):
    replies = iter(["no json", '{"answer": "no score"}', '{"answer": "", "score": 9}'])
    good = json.dumps({"answer": "yes", "score": 70})
    llm = Scripted(lambda task, fields: next(replies, good) if task == "map_answer" else "Merged.")
    answer = asked_of(methods["cheaprag"], llm).answer(corpus.questions[0].text)
    mapped = answer.retrieval.trace.last(MapStep)
    assert len(mapped.answers) == 6 and "3 windows without a readable answer" in mapped.summary
    assert answer.text == "Merged." and len(llm.asked) == 10


@pytest.mark.parametrize("score, calls, text", [(0, 9, "none of the 9"), (1, 10, "Merged 9")])
def test_nothing_above_0_is_stated_and_not_merged(score, calls, text, methods, corpus):
    llm = reader(lambda units: score)
    answer = asked_of(methods["cheaprag"], llm).answer(corpus.questions[0].text)
    assert text in answer.text and len(llm.asked) == calls
    assert ("reports and passages hold no answer" in answer.text) == (score == 0)


def test_no_report_above_0_leaves_the_passages(methods, corpus):
    llm = reader(lambda units: 0 if units[0][0].startswith("report:") else 60)
    answer = asked_of(methods["cheaprag"], llm).answer(corpus.questions[0].text)
    cited = answer.retrieval.trace.last(CitedStep)
    assert answer.text == "Merged 5." and not cited.reports
    assert set(cited.chunks) == set(answer.retrieval.ids)


def test_a_question_that_shares_no_word_has_no_answer_offline(methods):
    answer = methods["cheaprag"].answer("zzz qqq?")
    assert "hold no answer" in answer.text and "none of the 9" in answer.text


@pytest.mark.parametrize("name", [*DIRECT, "cheaprag"])
def test_an_index_without_reports_and_a_corpus_without_relations_are_answered(name):
    corpus = corpus_of(("p1", "Ada sings."), ("p2", "Ben walks far."))
    method = METHODS[name].build(corpus, encoder="lsa")
    bare = METHODS[name].from_index(replace(method.index, reports={}), encoder="lsa")
    for each in (method, bare):
        found = each.answer("Who walks far?").retrieval
        assert sorted(p.id for p in found.passages) == ["p1", "p2"]
    if name in ("vgraphrag", "vgraphrag-cc", "cheaprag"):
        assert "the 0 reports nearest" in found.trace.last(CommunityStep).summary


@pytest.mark.paper("Survey", "tab-10")
def test_the_restored_numbers_of_table_10_agree_with_the_gains_in_the_text():
    ten = TABLES["table_10"]["rows"]
    assert {len(row) for row in ten.values()} == {len(TABLES["table_10"]["columns"])}

    def gains(over, places):
        return [100 * (ten["vgraphrag"][i] / ten[over][i] - 1) for i in places]

    assert gains("vgraphrag-cc", (4, 5, 6)) == pytest.approx([8.47, 13.18, 4.93], abs=0.01)
    assert gains("raptor", (0, 2)) == pytest.approx([6.42, 11.6], abs=0.01)
    best = [max(row[i] for row in ten.values() if row[i] is not None) for i in range(7)]
    assert best == ten["vgraphrag"]  # "performs best on all complex QA datasets"
