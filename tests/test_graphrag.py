"""Global search never exceeds its window and loses nothing silently; local search and text
summaries; both settings of each choice.
"""

import json
import random
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import Scripted
from small import TableEncoder, corpus_of
from small_graphs import WORDS, communities_of, graph_of

import minirag as mr
from minirag.core.errors import MiniragError
from minirag.core.reports import CommunityIndex, Report
from minirag.core.trace import ChunkStep, CommunityStep, ContextStep, NodeStep, ScoredNode
from minirag.index import write_reports
from minirag.llm import load_llm
from minirag.methods import METHODS
from minirag.methods.graphrag.global_search import map_reduce
from minirag.methods.graphrag.map_reduce import (
    MapStep,
    PackStep,
    prompt_tokens,
    shorten,
    shuffle_and_pack,
)
from minirag.methods.graphrag.released import MAP_REDUCE_CODE, MapReduceOptions
from minirag.operators import chunk, community, node, relationship
from minirag.prompts import TASKS
from minirag.text.tokens import count_tokens

GLOBAL, LOCAL, TS = (METHODS[f"graphrag-{name}"] for name in ("global", "local", "ts"))
QUESTION = "What worries the town most?"


def scored(answer="It helps [u1].", score=50):
    return Scripted(
        lambda task, fields: (
            json.dumps({"answer": answer, "score": score})
            if task == "map_answer"
            else f"Reduced {len(fields['answers'])}."
        )
    )


OVER, SCORINGS, COUNTS = (
    st.sampled_from(["cut", "leave out"]),
    st.sampled_from(["answer", "points"]),
    st.sampled_from([WORDS, "regex", len]),
)
SIZES = st.lists(st.one_of(st.integers(0, 60), st.integers(300, 900)), max_size=25)


@settings(max_examples=80, deadline=None)
@given(SIZES, st.integers(0, 400), st.integers(0, 5), OVER, SCORINGS, COUNTS)
def test_no_prompt_exceeds_the_window_and_no_unit_is_lost_silently(
    sizes, extra, seed, oversize, scoring, count
):
    units = [(f"u{i}", f"start{i} " + "word " * size) for i, size in enumerate(sizes)]
    choices = MapReduceOptions(seed=seed, oversize=oversize, scoring=scoring, count=count)
    empty = prompt_tokens(
        f"map_{'answer' if scoring == 'answer' else 'points'}",
        {"question": QUESTION, "units": []},
        choices,
    )
    reducing = prompt_tokens("reduce_answer", {"question": QUESTION, "answers": []}, choices)
    choices = MapReduceOptions(
        window=max(empty, reducing) + 1 + extra,
        seed=seed,
        oversize=oversize,
        scoring=scoring,
        count=count,
    )
    long = "word " * random.Random(seed).choice([1, 30, 2000])
    points = {"points": [{"description": f"{i} {long}", "score": 7} for i in range(3)]}
    said = {
        "map_answer": json.dumps({"answer": long, "score": 7}),
        "map_points": json.dumps(points),
        "reduce_answer": "done",
    }
    llm = Scripted(lambda task, fields: said[task])
    _text, (packing, mapped, reduced), kept = map_reduce(llm, QUESTION, units, choices)
    assert all(count_tokens(prompt, choices.count) <= choices.window for _, prompt, _ in llm.asked)
    held = [name for window in packing.windows for name in window]
    assert sorted(held + packing.left_out) == sorted(name for name, _ in units)
    for _place, (name, whole) in enumerate(units):
        sent = [
            prompt
            for task, prompt, _ in llm.asked
            if task != "reduce_answer" and whole.strip() in prompt
        ]
        assert sent or name in packing.shortened + packing.left_out
    for kind in ("shortened", "left_out"):
        named = getattr(packing, kind)
        assert not named or f"{len(named)} " in packing.summary
    helpful = sum(score > 0 for _, score, _ in mapped.answers)
    assert len(kept) + reduced.left_out == helpful


@pytest.mark.paper("GraphRAG", "sec-2.6")
def test_the_windows_of_the_worked_example():
    """WE-G3: sizes 50 30 60 20 90 in the order given, ten tokens of header, windows of 100."""
    sizes = dict(zip("abcde", (50, 30, 60, 20, 90)))

    def count(text):
        return sum(sizes.get(line.strip("[]"), 0) for line in text.split("\n"))

    seed = next(seed for seed in range(5000) if _shuffled("abcde", seed) == list("abcde"))
    choices = MapReduceOptions(
        window=90, whole_prompt=False, seed=seed, count=count
    )  # the header's ten tokens taken off the limit
    windows, _ = shuffle_and_pack([(name, "") for name in "abcde"], "q", choices)
    assert [[name for name, _ in window] for window in windows] == [["a", "b"], ["c", "d"], ["e"]]


def _shuffled(items, seed):
    items = list(items)
    random.Random(seed).shuffle(items)
    return items


@pytest.mark.paper("GraphRAG", "sec-2.6")
def test_the_reduce_window_of_the_worked_example():
    """WE-G4: p1 and p3 fit, p4 overflows and stops, p2 scored 0."""
    answers = {"p1": (90, 40), "p2": (0, 5), "p3": (70, 50), "p4": (70, 20), "p5": (20, 10)}

    def size(text):
        return sum(tokens for name, (_, tokens) in answers.items() if name in text.split())

    points = json.dumps(
        {"points": [{"description": name, "score": score} for name, (score, _) in answers.items()]}
    )

    def reply(task, fields):
        return points if task == "map_points" else "done"

    choices = MapReduceOptions(window=100, whole_prompt=False, scoring="points", count=size)
    _, (_, mapped, reduced), kept = map_reduce(Scripted(reply), "q", [("u", "text")], choices)
    assert (
        [text for text, _, _ in kept] == ["p1", "p3"]
        and (reduced.tokens, reduced.left_out, reduced.limit) == (90, 2, 100)
        and mapped.dropped == 1
    )


def test_a_report_larger_than_the_window_is_shortened_left_out_or_alone():
    units = [("big", "first " + "word " * 500), ("small", "words")]
    room = prompt_tokens("map_answer", {"question": "q", "units": []}, MapReduceOptions()) + 100
    seen = {}
    for oversize in ("cut", "leave out", "exceed"):
        llm = scored()
        packing = map_reduce(llm, "q", units, MapReduceOptions(window=room, oversize=oversize))[1][
            0
        ]
        seen[oversize] = (
            packing.shortened,
            packing.left_out,
            max(packing.tokens) > room,
            packing.summary,
        )
    assert (
        seen["cut"][:3] == (["big"], [], False)
        and "1 larger than a window, shortened" in seen["cut"][3]
    )
    assert seen["leave out"][:3] == ([], ["big"], False) and "LEFT OUT" in seen["leave out"][3]
    assert (
        seen["exceed"][:3] == ([], [], True) and "1 windows exceed the limit" in seen["exceed"][3]
    )


def test_shortening_takes_all_that_fits():
    assert (
        shorten("one two three four", lambda text: len(text.split()) <= 3) == "one two [shortened]"
    )
    assert shorten("one two", lambda text: False) == ""


def test_a_window_without_room_is_an_error_that_names_the_numbers():
    with pytest.raises(MiniragError, match="window of 10 tokens"):
        map_reduce(scored(), "q", [("u", "text")], MapReduceOptions(window=10))
    with pytest.raises(MiniragError, match="scoring"):
        MapReduceOptions(scoring="stars")


def test_nothing_helpful_is_a_stated_answer_and_no_reduce_call():
    llm = scored(score=0)
    text, steps, kept = map_reduce(llm, "q", [("u", "text")], MapReduceOptions())
    assert (
        "scored above 0" in text
        and kept == []
        and [task for task, *_ in llm.asked] == ["map_answer"]
        and len(steps) == 3
    )
    assert (
        "hold no answer"
        in map_reduce(load_llm("offline"), "zebras?", [("u", "About ships.")], MapReduceOptions())[
            0
        ]
    )
    assert "hold no answer" in map_reduce(scored(), "q", [], MapReduceOptions())[0]


def test_replies_without_an_answer_are_counted():
    llm = Scripted(lambda task, fields: "no json")
    _, (_, mapped, _), _ = map_reduce(llm, "q", [("u", "text")], MapReduceOptions())
    assert "1 windows without a readable answer" in mapped.summary and llm.ledger.total.dropped == 1


@pytest.mark.paper("GraphRAG", "sec-2.6")
@pytest.mark.paper("Survey", "generation")
def test_helpful_answers_are_sorted_by_score():
    scores = iter([20, 90, 0, 60])
    llm = Scripted(
        lambda task, fields: (
            json.dumps({"answer": f"a{(s := next(scores))}", "score": s})
            if task == "map_answer"
            else "x"
        )
    )
    header = prompt_tokens("map_answer", {"question": "q", "units": []}, MapReduceOptions())
    units = [(f"u{i}", "word " * 400) for i in range(4)]
    _, _, kept = map_reduce(llm, "q", units, MapReduceOptions(window=header + 500))
    assert [score for _, score, _ in kept] == [90, 60, 20]


def test_the_code_keeps_points_and_sorts_windows():
    """G9 and G10."""
    units = [("u1", "a"), ("u2", "b"), ("u3", "c")]
    windows, _ = shuffle_and_pack(
        units,
        "q",
        MapReduceOptions(**MAP_REDUCE_CODE),
        rank={"u1": (0.5, 9.0), "u2": (1.0, 3.0), "u3": (0.5, 10.0)},
    )
    assert [[name for name, _ in window] for window in windows] == [["u2", "u3", "u1"]]
    value, dropped = TASKS["map_points"].parse(
        '{"points": [{"description": "p", "score": 40}, {"description": "x", "score": "much"}]}'
    )
    assert value == (("p", 40.0),) and dropped == 1
    assert TASKS["map_answer"].parse('{"answer": "p", "score": 140}') == ((("p", 100.0),), 0)


def test_a_report_over_the_limit_parts_the_window_where_it_stands():
    units = [("u1", "w"), ("big", "w " * 9), ("u2", "w"), ("u3", "w")]
    choices = MapReduceOptions(
        window=4,
        whole_prompt=False,
        seed=None,
        oversize="exceed",
        count=lambda text: text.count("w"),
    )
    windows, step = shuffle_and_pack(units, "q", choices)
    assert [[name for name, _ in window] for window in windows] == [["u1"], ["big"], ["u2", "u3"]]
    assert "in the order given" in step.summary and "1 windows exceed the limit" in step.summary


def test_windows_are_sorted_by_rating_or_by_the_passages_that_name_a_community():
    index = toy()
    many = replace(
        index.communities.graph.nodes[index.communities.graph.position["E"]], chunks=(0, 1)
    )
    graph = replace(
        index.communities.graph,
        nodes=(*index.communities.graph.nodes[:4], many),
        chunks=index.communities.graph.chunks * 2,
    )
    index = replace(index, communities=replace(index.communities, graph=graph))

    def order(**options):
        return _packed(GLOBAL.from_index(index, encoder="lsa", level=1, seed=None, **options))

    assert order() == [["report:1-0", "report:1-1", "report:0-1"]]
    assert order(resort="rating") == [["report:1-1", "report:1-0", "report:0-1"]]
    assert order(resort="occurrence") == [["report:0-1", "report:1-1", "report:1-0"]]
    assert index.occurrence() == {0: 0.5, 1: 1.0, 2: 0.5, 3: 0.5}
    assert order(min_rating=2) == [["report:1-0", "report:1-1"]]
    with pytest.raises(
        MiniragError, match="resort=True: expected one of False, 'rating', 'occurrence'"
    ):
        GLOBAL.from_index(index, resort=True)


def test_a_shuffle_repeats_and_another_seed_differs():
    units = [(f"u{i}", "x") for i in range(30)]

    def order(seed):
        return [
            name
            for window in shuffle_and_pack(units, "q", MapReduceOptions(seed=seed))[0]
            for name, _ in window
        ]

    assert order(1) == order(1) != order(2)


def test_any_executor_gives_the_same_answer():
    units = [(f"u{i}", f"The town worries about flood {i}. " + "word " * 200) for i in range(12)]
    choices = MapReduceOptions(window=900)
    plain = map_reduce(load_llm("offline"), QUESTION, units, choices)[0]
    for pool in (ThreadPoolExecutor(2), ProcessPoolExecutor(2)):
        with pool:
            assert (
                map_reduce(load_llm("offline"), QUESTION, units, choices, executor=pool)[0] == plain
            )


def toy():
    graph = graph_of(
        ["A-B", "C-D", "B-C"], nodes="ABCDE", description="The town worries about the flood."
    )
    communities = communities_of(graph, [["ABCD", "E"], ["AB", "CD", "E"]])
    reports = {
        p: Report(f"T{p}", f"The town worries about thing {p}. [p1]", float(p))
        for p in range(len(communities.items))
    }
    return CommunityIndex(communities, reports, {}, "a test")


@pytest.mark.paper("GraphRAG", "sec-3.3")
@pytest.mark.paper("Survey", "op-community")
def test_levels_and_their_projection():
    method = GLOBAL.from_index(toy(), encoder="lsa", level=1)

    def ids(**options):
        return sorted(name for window in _packed(method.with_options(**options)) for name in window)

    assert ids(level=0) == ["report:0-0", "report:0-1"] and ids(level=1) == ids(level=3) == [
        "report:0-1",
        "report:1-0",
        "report:1-1",
    ]
    assert ids(level=1, union=True) == ["report:0-0", "report:0-1", "report:1-0", "report:1-1"]
    said = (
        method.with_options(level=3)
        .answer(QUESTION)
        .retrieval.trace.last("community layer")
        .summary
    )
    assert "level 3 does not exist: the deepest is 1" in said


def _packed(method):
    return method.answer(QUESTION).retrieval.trace.last(PackStep).windows


def test_an_offline_answer_cites_reports_and_passages_and_counts_its_tokens():
    answer = GLOBAL.from_index(toy(), encoder="lsa", level=1).answer(QUESTION, k=1)
    assert (
        "no language model" in answer.text
        and "[report:" in answer.text
        and "Passages behind them: p1" in answer.text
    )
    assert answer.prompt_tokens > 0 and {p.id for p in answer.retrieval.passages} <= {
        "report:0-1",
        "report:1-0",
        "report:1-1",
    }
    assert "overlap" in answer.retrieval.trace.last(MapStep).summary


@pytest.mark.paper("GraphRAG", "sec-5")
@pytest.mark.paper("Survey", "op-new")
def test_reports_are_searched_by_vectors_before_map_reduce_and_rolled_up():
    index = toy()
    index.reports[3] = Report("Lighthouse", "The lighthouse keeper paints lamps.", 1.0)
    lamps = "Who paints the lamps of the lighthouse?"
    near = TableEncoder({text: [1] for text in (lamps, index.reports[3].text)})
    method = GLOBAL.from_index(index, encoder=near, level=1, report_k=1)
    found = method.retrieve(lamps)
    assert (
        found.ids == [f"report:{index.communities.items[3].id}"]
        and found.trace.last(CommunityStep).operator == "community vdb"
    )
    above = method.with_options(roll_up=1).retrieve(lamps)
    parent = index.communities.items[3].parent
    assert above.ids == [
        f"report:{index.communities.items[parent if parent is not None else 3].id}"
    ]


@pytest.mark.parametrize("follow", ["paper", "code"])
def test_both_settings_run_on_a_corpus_and_come_back_from_disk(follow, tmp_path):
    corpus = mr.load_corpus("professors")
    question = corpus.questions[0].text
    for method in (GLOBAL, LOCAL):
        built = method.build(corpus, encoder="lsa", follow=follow)
        built.save(tmp_path / method.name)
        again = method.load(tmp_path / method.name, encoder="lsa")
        assert (
            again.answer(question).text == built.answer(question).text
            and again.chosen == built.chosen
        )
    with pytest.raises(MiniragError, match="options.json"):
        GLOBAL.load(tmp_path / "nowhere")


def test_the_code_s_choices_are_single_arguments():
    corpus = corpus_of(("p1", "Ada met Ben in Oslo. Ben likes Cy."), ("p2", "Dora lives in Rome."))
    method = GLOBAL.build(corpus, encoder="lsa", follow="code", substitution=True, level=0)
    chosen = method.chosen
    assert (
        chosen.substitution
        and not chosen.every_edge
        and chosen.union
        and chosen.largest_component_only
    )
    covered = {i for item in method.index.communities.items for i in item.members}
    assert len(covered) < len(method.index.communities.graph.nodes)
    with pytest.raises(MiniragError, match="no option 'levels'"):
        GLOBAL.build(corpus, levels=3)
    with pytest.raises(MiniragError, match="gleanings is chosen when"):
        method.with_options(gleanings=3)
    with pytest.raises(MiniragError, match="follow"):
        GLOBAL.build(corpus, follow="blog")
    for wrong in (
        {"reversed_edges": "lst"},
        {"chunk_order": "entities"},
        {"fill": "by row"},
        {"substitution": "old"},
    ):
        with pytest.raises(MiniragError, match=f"{next(iter(wrong))}=.*: expected"):
            LOCAL.build(corpus, **wrong)


def test_examples_reach_the_extraction_prompt_and_come_back_from_disk(tmp_path):
    corpus = corpus_of(("p1", "Ada met Ben in Oslo."))
    reply = '("entity"<|>ASPIRIN<|>drug<|>It inhibits COX-1.)<|COMPLETE|>'
    examples = (("Aspirin inhibits COX-1.", reply),)
    offline = load_llm("offline")
    llm = Scripted(lambda task, fields: TASKS[task].rule(fields))
    built = GLOBAL.build(corpus, llm=llm, encoder="lsa", examples=examples)
    assert {task for task, prompt, _ in llm.asked if "Aspirin inhibits COX-1." in prompt} == {
        "elements"
    }
    built.save(tmp_path)
    assert GLOBAL.load(tmp_path, llm=offline, encoder="lsa").chosen == built.chosen
    with pytest.raises(MiniragError, match="example 1"):
        LOCAL.build(corpus, llm=llm, encoder="lsa", examples=[("Aspirin.", "no records")])


def test_triples_that_came_with_a_corpus_become_a_textual_graph():
    corpus = mr.load_corpus("professors")
    method = GLOBAL.build(corpus, encoder="lsa", extraction="annotations")
    graph = method.index.communities.graph
    assert (
        graph.type == "textual knowledge"
        and "shipped" in graph.source
        and all(edge.description for edge in graph.edges)
    )


@pytest.mark.paper("Survey", "op-node", "op-relationship", "op-chunk", "op-community")
def test_local_search_composes_its_four_operators():
    graph = graph_of(["A-B", "B-C", "D-E"])
    index = write_reports(communities_of(graph, [["ABC", "DE"]]), load_llm("offline"))
    method = LOCAL.from_index(index, encoder="lsa", node_k=2)
    found = method.retrieve("A and B", k=1)
    assert [step.operator for step in found.trace] == [
        "node vdb",
        "relationship onehop",
        "community entity",
        "chunk occurrence",
    ]
    assert len(found.trace.last(NodeStep).nodes) == 2


def test_onehop_takes_relations_between_chosen_nodes_first_and_occurrence_counts_pairs():
    graph = graph_of(["C-D", "A-C", "A-B", "B-D", "E-F"])
    chosen = [chosen_of(graph, "AB")]
    related = relationship.onehop(chosen, graph)
    assert related[0].edges[0][1:] == (2, 2.0)
    assert sorted(row.index for row in related[0].edges) == [1, 2, 3]
    assert [row.index for row in relationship.onehop(chosen, graph, k=1)[0].edges] == [2]
    assert chunk.occurrence(related, graph, ["p1"])[0].scores.tolist() == [3.0]
    assert chunk.from_relationships(related, graph, ["p1"])[0].scores.tolist() == [4.0]
    assert {row.label for row in node.onehop(chosen, graph)[0].nodes} == {"C", "D"}
    ends = node.from_relationships(related, graph)[0].nodes
    assert [row.label for row in ends][:2] == ["A", "B"]
    reports = {0: Report("low", "s", 1.0), 1: Report("high", "s", 9.0), 2: Report("no", "s", 10.0)}
    index = CommunityIndex(communities_of(graph, [["ABC", "D", "EF"]]), reports, {}, "t")
    touched = [chosen_of(graph, "ABD")]
    assert places_of(community.entity(touched, index)) == [1, 0]
    assert places_of(community.entity(touched, index, order="hits")) == [0, 1]
    assert places_of(community.entity(touched, index, k=1)) == [1]


def chosen_of(graph, names):
    """A step that chose the nodes of these names."""
    nodes = tuple(ScoredNode(name, graph.position[name], 1.0) for name in names)
    return NodeStep("node vdb", "", nodes=nodes)


def places_of(steps):
    """Positions of the communities that the only step chose."""
    return [row.index for row in steps[0].communities]


def test_the_sections_of_a_local_context_keep_their_budgets():
    corpus = mr.load_corpus("professors")
    method = LOCAL.build(corpus, encoder="lsa", window=400)
    sections, told = method.context(method.retrieve(corpus.questions[0].text))
    shares = {"reports": 60, "entities and relations": 140, "passages": 200}
    assert all(
        sum(mr.count_tokens(text + "\n\n") for text in sections[name]) <= limit
        for name, limit in shares.items()
    )
    assert " of " in told.trace.last(ContextStep).summary and any(sections.values())
    with pytest.raises(MiniragError, match="at most 1"):
        LOCAL.build(corpus, encoder="lsa", report_share=0.7, text_share=0.7)


def star():
    """H with six neighbours, two of which are chosen beside it; a claim about each of H and A."""
    graph = graph_of(
        ["H-A", "H-B", "H-C", "H-D", "A-C", "A-E"], claims="HA", description="Seen in Oslo."
    )
    reports = {p: Report(f"T{p}", "s", float(p)) for p in range(3)}
    return CommunityIndex(
        communities_of(graph, [["HABCDE"], ["HA", "BCDE"]]), reports, {}, "a test"
    )


def test_relations_to_entities_outside_are_limited_for_each_chosen_one():
    graph = star().communities.graph

    def relations(**options):
        [step] = relationship.onehop([chosen_of(graph, "HA")], graph, **options)
        return [row.index for row in step.edges]

    assert relations() == [
        0,
        2,
        4,
        1,
        3,
        5,
    ]  # between the two; C, which both know; the others by degree
    assert (
        relations(outside_k=1) == [0, 2, 4]
        and relations(outside_k=0) == [0]
        and relations(k=1) == [0]
    )
    assert relations(order="degree") == [0, 2, 1, 3, 4, 5]


def test_reports_may_come_from_the_levels_down_to_one():
    index = star()
    chosen = [chosen_of(index.communities.graph, "HA")]

    def places(**options):
        return places_of(community.entity(chosen, index, order="hits", **options))

    assert (
        places() == [1, 0]
        and places(level=0) == [0]
        and places(level=1) == [1]
        and places(level=1, union=True) == [1, 0]
    )


def test_the_released_code_s_local_context_grows_entity_by_entity():
    index = star()
    graph = index.communities.graph
    chosen = chosen_of(graph, "HA")
    retrieval = mr.Retrieval("q", "test", ()).followed_by(
        chosen,
        relationship.onehop([chosen], graph, outside_k=1)[0],
        CommunityStep("test", "", communities=()),
        ChunkStep("test", "", scores=np.zeros(1)),
    )

    def titles(budget, **options):
        options = {"count": lambda text: 1, "window": budget, "report_share": 0, **options}
        method = LOCAL.from_index(index, encoder="lsa", follow="code", text_share=0, **options)
        texts = method.context(retrieval)[0]["entities and relations"]
        return [text.split("\n")[0] for text in texts]

    both = ["H", "A", "H — A", "H — C", "A — C", "Claim about H", "Claim about A"]
    assert titles(7, outside_k=1) == both
    assert titles(6, outside_k=1) == [
        "H",
        "A",
        "H — A",
        "Claim about H",
    ]  # H's turn alone: A's did not fit as a whole
    assert titles(3, outside_k=1) == ["H", "A"] and titles(1, outside_k=1) == ["H"]
    assert titles(6, outside_k=1, fill="in order") == both[:6]
    assert titles(7, outside_k=1, include_claims=False) == both[:5]


def test_local_search_may_put_reports_first_and_every_passage():
    corpus = mr.load_corpus("professors")
    question, said = corpus.questions[0].text, []
    llm = Scripted(lambda task, fields: said.append(fields["passages"]) or "Answer: x")
    built = LOCAL.build(corpus, encoder="lsa", llm="offline")
    for follow in ("paper", "code"):
        method = LOCAL.from_index(built.index, llm=llm, encoder="lsa", follow=follow)
        method.answer(question, k=1)
        held = method.context(method.retrieve(question, k=1))[0]
        assert next(iter(held)) == ("passages" if follow == "paper" else "reports")
        assert said[-1] == [text for texts in held.values() for text in texts]
        assert len(held["passages"]) == 1 if follow == "paper" else len(held["passages"]) > 1


@pytest.mark.paper("GraphRAG", "sec-3.3")
def test_text_summaries_read_every_chunk():
    corpus = mr.load_corpus("professors")
    answer = TS.build(corpus, window=3000).answer(corpus.questions[0].text)
    packing = answer.retrieval.trace.last(PackStep)
    assert sorted(name for window in packing.windows for name in window) == sorted(
        chunk.id for chunk in corpus.chunks
    )
    assert answer.retrieval.passages and all(
        f"[{p.id}]" in answer.text for p in answer.retrieval.passages
    )


@pytest.mark.needs("dulce")
def test_global_search_over_microsoft_s_reports():
    from minirag.corpora.microsoft_index import load_dulce

    real = load_dulce()
    for level, count in ((0, 7), (1, 17), (3, 17)):
        answer = GLOBAL.from_index(real.index, encoder="lsa", level=level, window=4000).answer(
            "How does the squad answer the signal?"
        )
        packing = answer.retrieval.trace.last(PackStep)
        assert (
            sum(map(len, packing.windows)) == count
            and max(packing.tokens) <= 4000
            and answer.retrieval.passages
        )
