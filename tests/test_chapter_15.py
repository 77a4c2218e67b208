"""What chapter 15 (notebooks/15_agents_on_graphs.ipynb) says, checked beyond what its cells print:
its question and the rule that chose it, the nine facts, the walks by hand with other choices, the
decayed score, KGP without its sentences, what twenty questions can tell, and how released codes
mark answers.
"""

import json
import math
from collections import Counter
from pathlib import Path

import networkx
import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

import minirag
from minirag.algorithms.entity_scores import decayed_scores
from minirag.algorithms.khop_paths import Ways, khop_paths
from minirag.core.files import read_notebook
from minirag.evaluate import exact_match
from minirag.evaluate.kgqa import claim_label
from minirag.evaluate.metrics import load_expected
from minirag.graphs.knowledge_graph import normalise_phrase
from minirag.methods import METHODS
from minirag.methods.graph_agent import ChoiceStep
from minirag.widgets.agents import AgentWalk, walk_stepper


@pytest.fixture(scope="module")
def corpus():
    return minirag.load_corpus("mini_wiki")


@pytest.fixture(scope="module")
def triples(corpus):
    of_pages = corpus.extractions["triples"].triples.values()
    return [triple for of_page in of_pages for triple in of_page]


def left_out(method, question):
    return set(question.gold) - set(method.retrieve(question.text, k=5).ids)


def test_its_question_is_the_first_that_the_rule_finds(corpus):
    vector = METHODS["vanilla"].build(corpus)
    words = METHODS["bm25"].build(corpus)
    found = [
        question
        for question in corpus.questions[:20]
        if question.kind == "bridge"
        and left_out(vector, question)
        and any(chunk.title in question.text for chunk in corpus.chunks)
    ]
    assert [question.id for question in found] == ["q09", "q17", "q19"]
    assert [len(left_out(words, question)) for question in found] == [2, 0, 0]
    assert left_out(vector, found[0]) == left_out(words, found[0]) == set(found[0].gold)


def test_four_edges_lead_to_the_answer_and_to_nearly_every_name(triples):
    beside = {}
    for subject, _, obj in triples:
        beside.setdefault(subject, set()).add(obj)
        beside.setdefault(obj, set()).add(subject)
    reached, sizes = {"Mount Haldry"}, []
    for _ in range(4):
        reached = reached.union(*(beside[name] for name in reached))
        sizes.append(len(reached))
        assert ("Gannet Prize" in reached) == (len(sizes) == 4)
    assert (sizes, len(beside)) == ([7, 30, 79, 127], 144)
    assert len({normalise_phrase(name) for name in beside}) == 144


@pytest.mark.parametrize("alpha", [math.log(2) + 1e-9, 0.8, 2.0])
def test_above_ln_2_the_owner_of_the_best_chunk_comes_first(alpha):
    random = np.random.default_rng(0)
    for _ in range(300):
        scores = np.sort(random.random(10))[::-1]
        chunks = [("first", scores[0]), *(("other", score) for score in scores[1:])]
        assert decayed_scores(chunks, alpha=alpha)[0][0] == "first"


def test_below_ln_2_enough_equal_chunks_beat_the_best_one():
    chunks = [("first", 1.0), *[("other", 1.0)] * 30]
    assert decayed_scores(chunks, top_k=31, alpha=0.69)[0][0] == "other"


def test_the_two_curves_cross_between_3_and_4_tenths():
    chunks = [("A", 0.9), ("B", 0.8), ("B", 0.7)]
    assert [decayed_scores(chunks, alpha=alpha)[0][0] for alpha in (0.3, 0.4)] == ["B", "A"]
    by_hand = dict(decayed_scores(chunks, alpha=0.8))
    assert {name: round(score, 6) for name, score in by_hand.items()} == {
        "A": 0.404396,
        "B": 0.225020,
    }


def test_substrings_turn_labels_round():
    assert claim_label("The answer is unsupported.", "substrings") == "SUPPORTS"
    assert claim_label("The answer is unsupported.") == "REFUTES"
    assert claim_label("The answer is: incomplete evidence.", "substrings") == "REFUTES"
    assert claim_label("The answer is: incomplete evidence.") == "NOT ENOUGH INFO"


def test_kgp_reads_nearly_twice_the_pages_of_vector_search(corpus):
    options = {"llm": "recorded"}
    kgp = METHODS["kgp"].build(corpus, extraction="triples", k=9, **options)
    vector = METHODS["vanilla"].build(corpus, **options)
    words = METHODS["bm25"].build(corpus)
    read, found, as_many, by_words = [], [], [], []
    for question in corpus.questions[:20]:
        pairs = kgp.retrieve(question.text).trace.last("pairs").pairs
        pages = {corpus.chunks[place].id for pair in pairs for place in pair}
        same, gold = set(vector.retrieve(question.text, k=len(pages)).ids), set(question.gold)
        read.append(len(pages))
        found.append(len(gold & pages) / len(gold))
        as_many.append(len(gold & same) / len(gold))
        by_words.append(
            len(gold & set(words.retrieve(question.text, k=len(pages)).ids)) / len(gold)
        )
    assert (np.mean(read), min(read), max(read)) == (9.35, 6, 12)
    assert (round(np.mean(found), 3), round(np.mean(as_many), 3)) == (0.875, 0.808)
    assert round(np.mean(by_words), 3) == 0.833


def test_four_answers_stand_in_no_triple_and_only_readers_of_pages_give_them(corpus, triples):
    words = {word for triple in triples for part in triple for word in part.lower().split()}
    options = {"llm": "recorded", "extraction": "triples"}
    build = {name: METHODS[name].build(corpus, **options) for name in ("tog", "tog2", "dalk")}
    build["kgp"] = METHODS["kgp"].build(corpus, k=9, **options)
    answers = {"q07": "131", "q08": "cello", "q17": "samphire", "q19": "five"}
    for number, answer in answers.items():
        question = corpus.question(number)
        assert answer not in words
        right = [
            name
            for name, method in build.items()
            if exact_match(method.answer(question.text).text, question.answers)
        ]
        assert right == ["tog2", "kgp"]


def test_more_pages_of_vector_search_do_not_reach_the_prize(corpus):
    question = corpus.question("q09")
    wife = next(chunk.id for chunk in corpus.chunks if chunk.title == "Hester Quillfeather")
    found = METHODS["vanilla"].build(corpus, llm="recorded").retrieve(question.text, k=10)
    assert wife not in found.ids


@pytest.mark.parametrize(
    ("name", "where", "walked", "other"),
    [("tog", 4, 7, 12), ("tog2", 4, 12, 12), ("dalk", 7, 4, 10)],
)
def test_part_of_what_is_right_is_the_fallback_to_vector_search(corpus, name, where, walked, other):
    method = METHODS[name].build(corpus, llm="recorded", extraction="triples")
    vector = METHODS["vanilla"].build(corpus, llm="recorded")
    fallback, own, same = 0, 0, 0
    for question in corpus.questions[:20]:
        answer = method.answer(question.text)
        beside = vector.answer(question.text)
        if "dense retrieval" in answer.retrieval.trace.last("stop").reason:
            fallback += 1
            assert (answer.text, answer.retrieval.ids[:5]) == (
                beside.text,
                beside.retrieval.ids[:5],
            )
        else:
            own += exact_match(answer.text, question.answers)
            same += exact_match(beside.text, question.answers)
    assert (fallback, own, same) == (where, walked, other)


WALKS = {"llm": "recorded", "extraction": "triples"}


def entity_steps(trace):
    return [step for step in trace.all(ChoiceStep) if step.kind == "entities"]


def test_decay_changes_what_is_kept_on_one_question_only(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)

    def beams(method):
        kept = {}
        for question in corpus.questions[:20]:
            steps = entity_steps(method.retrieve(question.text).trace)
            kept[question.id] = [{e.label for e in s.offered if not e.dropped} for s in steps]
        return kept

    usual, other = beams(tog2), {}
    for alpha in (0.0, 0.1, 0.2, 0.4, 3.0):
        found = beams(tog2.with_options(alpha=alpha))
        other[alpha] = [each for each in usual if found[each] != usual[each]]
    assert other == {0.0: ["q20"], 0.1: ["q20"], 0.2: [], 0.4: [], 3.0: []}


def test_the_names_offered_on_its_question_have_one_chunk_each(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)
    pages = {node.name: page for node, page in zip(tog2.agent.graph.nodes, tog2.pages)}
    steps = entity_steps(tog2.retrieve(corpus.question("q09").text).trace)
    labels = [each.label.split(", ") for step in steps for each in step.offered]
    names = {name for subject, *_, obj in labels for name in (subject, obj)}
    assert len(names) == 14
    assert {len(pages[name]) for name in names} == {1}


def gold_names(corpus, question, trace):
    """Gold names that are no start: all, those offered, those kept at some depth."""
    title_of = {chunk.id: chunk.title for chunk in corpus.chunks}
    starts = {label.split(" → ")[1] for label, _ in trace.last("link").items}
    offered, stay = set(), set()
    for step in entity_steps(trace):
        for each in step.offered:
            subject, *_, obj = each.label.split(", ")
            offered |= {subject, obj}
            stay |= set() if each.dropped else {subject, obj}
    gold = {title_of[page] for page in question.gold} - starts
    return gold, gold & offered, gold & stay


@pytest.mark.parametrize(
    ("name", "lost"),
    [("tog", ["Sunniva Reck"]), ("tog2", ["Ysolde Merrin", "Hester Quillfeather", "Sunniva Reck"])],
)
def test_few_gold_names_are_dropped_and_most_are_offered(corpus, name, lost):
    method, wanted, seen, dropped = METHODS[name].build(corpus, **WALKS), 0, 0, []
    for question in corpus.questions[:20]:
        trace = method.answer(question.text).retrieval.trace
        if "dense retrieval" not in trace.last("stop").reason:
            gold, offered, stay = gold_names(corpus, question, trace)
            wanted, seen = wanted + len(gold), seen + len(offered)
            dropped += sorted(offered - stay)
    assert (seen, wanted, dropped) == (18, 23, lost)


def test_a_name_that_the_graph_lacks_is_linked_to_a_wrong_node_on_three_questions(corpus):
    tog, weak = METHODS["tog"].build(corpus, **WALKS), {}
    for question in corpus.questions[:20]:
        links = tog.retrieve(question.text).trace.last("link").items
        low = [(label, round(score, 3)) for label, score in links if score < 0.6]
        weak |= {question.id: low} if low else {}
    hydrographer = [("Shearwater → hydrographer", 0.482)]
    assert weak == {
        "q02": hydrographer, "q06": [("Goat Bank → The Salt Ledger", 0.325)], "q07": hydrographer,
    }  # fmt: skip


def test_no_page_names_both_the_director_and_his_wife(corpus):
    texts = [chunk.text for chunk in corpus.chunks]
    assert not any("Lucan Vane" in text and "Quillfeather" in text for text in texts)


def test_a_vote_repeats_the_most_frequent_answer(corpus):
    voters = METHODS["cot-sc"].build(corpus, llm="recorded", samples=5)
    agree, one, vote = [], 0.0, 0.0
    for question in corpus.questions[:20]:
        said = voters.answer(question.text).retrieval.trace.last("vote").answers
        winner, count = Counter(said).most_common(1)[0]
        agree.append(count)
        one += sum(exact_match(each, question.answers) for each in said) / 5
        vote += exact_match(winner, question.answers)
    assert (agree.count(5), round(one, 1), vote) == (3, 0.4, 0)


def test_cok_is_right_where_its_samples_disagree(corpus):
    cok, hits = METHODS["cok"].build(corpus, samples=5, **WALKS), {True: [], False: []}
    for question in corpus.questions[:20]:
        answer = cok.answer(question.text)
        rang = any(step.operator == "correct rationale" for step in answer.retrieval.trace)
        hits[rang].append(exact_match(answer.text, question.answers))
    assert [(sum(each), len(each)) for each in (hits[True], hits[False])] == [(9, 10), (1, 10)]


FACTS = [
    ("Mount Haldry", "located in/on physical feature", "Ormel"),
    ("Haldry School of Mines", "named after", "Mount Haldry"),
    ("Haldry Observatory", "located in/on physical feature", "Mount Haldry"),
    ("Haldry Observatory", "director / manager", "Sunniva Reck"),
    ("Haldry Observatory", "director / manager", "Lucan Vane"),
    ("Sunniva Reck", "award received", "Thrane Medal"),
    ("Lucan Vane", "award received", "Thrane Medal"),
    ("Hester Quillfeather", "spouse", "Lucan Vane"),
    ("Hester Quillfeather", "award received", "Gannet Prize"),
]


def test_the_nine_facts_stand_in_the_graph(triples):
    assert set(FACTS) <= {tuple(triple) for triple in triples}


def test_the_package_finds_the_two_paths_between_mountain_and_medal():
    names = list(dict.fromkeys(name for s, _, o in FACTS for name in (s, o)))
    ways = Ways(len(names), [(names.index(s), names.index(o)) for s, _, o in FACTS], directed=False)
    ends = [names.index("Mount Haldry"), names.index("Thrane Medal")]
    found = [[names[i] for i in path.nodes] for path in khop_paths(ways, ends, hops=5)]
    middle = [["Haldry Observatory", director] for director in ("Sunniva Reck", "Lucan Vane")]
    assert found == [["Mount Haldry", *each, "Thrane Medal"] for each in middle]
    assert khop_paths(ways, ends[:1], hops=5) == []


def test_following_named_after_the_walk_loses_the_director(corpus):
    tog = METHODS["tog"].build(corpus, **WALKS)
    walk = AgentWalk(tog, corpus.question("q09").text).overrule(1, "Mount Haldry", "named after")
    assert walk.frontier(2) == ["Haldry School of Mines", "Haldry Symphony"]
    kept = [row["offered"] for row in walk.table(2) if row["kept"]]
    assert not any("Lucan Vane" in each for each in kept)


def test_pages_that_share_a_name_are_the_neighbours_that_kgp_offers(corpus, triples):
    on_page = {chunk.title: {chunk.title} for chunk in corpus.chunks}
    for triple in triples:
        on_page[triple.subject].add(triple.object)
    kgp = METHODS["kgp"].build(corpus, k=9, **WALKS)
    steps = kgp.retrieve(corpus.question("q09").text).trace.all(ChoiceStep)
    for step in steps:
        at = step.topics[0]
        near = {title for title in on_page if on_page[title] & on_page[at]}
        assert near - {at} == {each.label for each in step.offered}


@pytest.fixture(scope="module")
def answers(corpus):
    """The answers of the chapter's methods to the twenty questions, and which are right."""
    build = {name: METHODS[name].build(corpus, **WALKS) for name in ("tog", "tog2", "dalk")}
    build["kgp"] = METHODS["kgp"].build(corpus, k=9, **WALKS)
    build["vanilla"] = METHODS["vanilla"].build(corpus, llm="recorded")
    first, given = corpus.questions[:20], {}
    for name, method in build.items():
        said = [method.answer(question.text).text for question in first]
        given[name] = [(a, exact_match(a, q.answers) == 1) for a, q in zip(said, first)]
    return given


@pytest.mark.parametrize(
    ("name", "won", "lost"), [("tog", 0, 5), ("tog2", 2, 2), ("kgp", 4, 2), ("dalk", 0, 6)]
)
def test_no_difference_in_answers_is_beyond_chance_once_four_are_looked_at(
    answers, name, won, lost
):
    pairs = [(a[1], b[1]) for a, b in zip(answers[name], answers["vanilla"])]
    assert (pairs.count((True, False)), pairs.count((False, True))) == (won, lost)
    assert 4 * binomtest(won, won + lost).pvalue > 0.05


def test_tog_and_dalk_are_behind_vector_search_on_the_other_sixteen_too(corpus, triples, answers):
    names = {name.lower() for triple in triples for name in (triple.subject, triple.object)}
    named = [bool(names & {a.lower() for a in q.answers}) for q in corpus.questions[:20]]
    right = {
        name: sum(hit for (_, hit), named_one in zip(rows, named) if named_one)
        for name, rows in answers.items()
    }
    assert named.count(True) == 16
    assert right == {"tog": 10, "tog2": 11, "dalk": 9, "kgp": 13, "vanilla": 13}


def test_containment_either_way_marks_one_more_answer_as_right(corpus, answers):
    more = [
        (name, said, question.answers[0])
        for name, rows in answers.items()
        for (said, hit), question in zip(rows, corpus.questions)
        if not hit and contained(said, question.answers)
    ]
    assert more == [("kgp", "Merrin", "Tobit Merrin")]
    assert all(contained("", question.answers) for question in corpus.questions[:20])


def contained(answer, accepted):
    said, *gold = (text.lower().replace(" ", "") for text in (answer, *accepted))
    return any(said in each or each in said for each in gold)


def test_without_its_guess_the_text_of_kgp_finds_the_wife_and_the_question_does_not(corpus, kgp):
    question = corpus.question("q09")
    step = kgp.retrieve(question.text).trace.all(ChoiceStep)[-1]
    text = step.summary.split(": ", 1)[1]
    at = [chunk.title for chunk in corpus.chunks].index(step.topics[0])
    place = []
    for asked in (text, text.replace(", possibly Lucan Vane,", ""), question.text):
        near = [page.label for page in kgp.neighbours(at, asked).nodes]
        place.append(near.index("Hester Quillfeather") + 1)
    assert (place, len(near)) == ([3, 3, 13], 15)


def test_a_kept_triple_comes_back_by_another_way(corpus):
    tog = METHODS["tog"].build(corpus, **WALKS)
    trace = tog.answer(corpus.question("q09").text).retrieval.trace
    first, _, third = entity_steps(trace)
    again = "Haldry Observatory, located in/on physical feature, Mount Haldry"
    for step in (first, third):
        assert again in {each.label for each in step.offered if not each.dropped}


NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "15_agents_on_graphs.ipynb"
BY_HAND = ("c15tiny0", "c15tog0a", "c15tog0", "c15tog0c", "c15tog0b")


def run(names, *changes, **given):
    """What the notebook's cells of these ids define, each change of a text made once; `given` are
    names that they need.
    """
    cells = {cell.id: cell.source for cell in read_notebook(NOTEBOOK).cells}
    text, made = "\n".join(cells[name] for name in names), {"math": math, **given}
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    exec(text, made)
    return made


DEPTHS = ("depth in (1, 2, 3):", "depth in (1, 2, 3, 4):")
SCORES = [
    ('("Lucan Vane", "spouse"): 0.6', '("Lucan Vane", "spouse"): 0.4'),
    ('("Lucan Vane", "award"): 0.4', '("Lucan Vane", "award"): 0.6'),
]


def test_by_hand_the_prize_is_a_fourth_edge():
    assert run(BY_HAND)["kept"]["kept at depth 3"] == ["Thrane Medal", "Hester Quillfeather"]
    assert "Gannet Prize" in run(BY_HAND, DEPTHS)["kept"]["kept at depth 4"]


def test_by_hand_with_the_scores_exchanged_the_wife_is_dropped():
    made = run(BY_HAND, *SCORES)
    assert made["kept"]["kept at depth 3"] == ["Thrane Medal", "Thrane Medal"]
    directors = {way[-1][0] for _, way in made["beam"]}
    assert directors == {"Sunniva Reck", "Lucan Vane"}
    assert "Hester Quillfeather" in {other for _, other, _ in made["offers"][2:]}


def test_the_shares_that_the_model_gave_behind_named_after(corpus):
    tog = METHODS["tog"].build(corpus, **WALKS)
    relations, names, *_ = tog.retrieve(corpus.question("q09").text).trace.all(ChoiceStep)
    score = next(each.score for each in relations.offered if "named after" in each.label)
    behind = [each for each in names.offered if "named after" in each.label]
    assert {each.label.split(",")[0]: round(each.score / score, 6) for each in behind} == {
        "Haldry School of Mines": 0.6,
        "Haldry Symphony": 0.4,
    }


def test_the_page_of_the_wife_does_not_say_whom_she_married(corpus, triples):
    [text] = [chunk.text for chunk in corpus.chunks if chunk.title == "Hester Quillfeather"]
    assert "she married an astronomer" in text and "Vane" not in text and "Gannet Prize" in text
    texts = [f"{chunk.title} {chunk.text}" for chunk in corpus.chunks]
    assert not any("Vane" in each and "Quillfeather" in each for each in texts)
    assert ("Hester Quillfeather", "spouse", "Lucan Vane") in map(tuple, triples)


def test_dalk_finds_keeps_and_answers_by_the_path_between_two_names(corpus):
    question = corpus.question("q05")
    answer = METHODS["dalk"].build(corpus, **WALKS).answer(question.text)
    for operator in ("khop path", "agent path"):
        [path] = answer.retrieval.trace.last(operator).paths
        assert path.nodes == ("Thrane Medal", "Ysolde Merrin", "Gannet Prize")
    assert exact_match(answer.text, question.answers)


@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_on_four_questions_no_walk_begins(corpus, name):
    method = METHODS[name].build(corpus, **WALKS)
    reasons = [method.retrieve(q.text).trace.last("stop").reason for q in corpus.questions[:20]]
    assert sum("names no entity" in each for each in reasons) == 4
    assert sum("dense" in each for each in reasons) == 4


@pytest.fixture(scope="module")
def kgp(corpus):
    return METHODS["kgp"].build(corpus, k=9, **WALKS)


def given_pages(kgp, question):
    """The pages that KGP's reader is given, in order, some of them more than once."""
    pairs = kgp.retrieve(question.text).trace.last("pairs").pairs
    return [kgp.chunks[place] for pair in pairs for place in pair]


def test_eight_pages_of_vector_search_hold_all_that_kgp_has(corpus, kgp):
    question = corpus.question("q09")
    vector = METHODS["vanilla"].build(corpus, llm="recorded")
    assert len({page.id for page in given_pages(kgp, question)}) == 8
    names = ["Mount Haldry", "Observatory", "Lucan Vane", "Quillfeather", "Gannet Prize"]
    given = {k: str(vector.context(vector.retrieve(question.text, k=k))[0]) for k in (5, 7, 8)}
    assert [all(name in given[k] for name in names) for k in (5, 7, 8)] == [False, False, True]


def test_a_seed_shares_words_with_the_question(corpus):
    question = corpus.question("q09").text
    [text] = [chunk.text for chunk in corpus.chunks if chunk.title == "Piers Halloway"]
    assert all(word in text and word in question for word in ("director", "wife", "Mount Haldry"))


def test_right_answers_on_the_sixteen_questions_on_which_a_walk_begins(corpus, answers):
    tog = METHODS["tog"].build(corpus, **WALKS)
    began = [bool(tog.retrieve(q.text).trace.last("link").items) for q in corpus.questions[:20]]
    right = {
        name: sum(hit for (_, hit), walked in zip(rows, began) if walked)
        for name, rows in answers.items()
    }
    assert began.count(True) == 16
    assert right == {"vanilla": 12, "tog": 7, "tog2": 12, "kgp": 15, "dalk": 6}


def test_at_depth_three_the_model_wants_the_wife_and_the_pages_put_her_fourth(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)
    relations, names = tog2.retrieve(corpus.question("q09").text).trace.all(ChoiceStep)[-2:]
    assert relations.offered[0].label == "Lucan Vane: spouse"
    assert relations.offered[0].score - relations.offered[1].score > 0.1
    places = [each.label for each in names.offered]
    assert places.index("Hester Quillfeather, spouse, Lucan Vane") == 3
    assert [not each.dropped for each in names.offered[:4]] == [True, True, True, False]
    assert names.offered[2].score - names.offered[3].score > 1e-3


def test_where_the_nine_wrong_walks_of_tog_are_lost(corpus, triples, answers):
    tog = METHODS["tog"].build(corpus, **WALKS)
    graph = networkx.Graph([(triple.subject, triple.object) for triple in triples])
    lost = {}
    for question, (_, hit) in zip(corpus.questions[:20], answers["tog"]):
        trace = tog.retrieve(question.text).trace
        links, accepted = trace.last("link"), {each.lower() for each in question.answers}
        if hit or not links.items:
            continue
        starts = [tog.graph.nodes[node.index].name for node in links.nodes]
        goal = next((name for name in graph if name.lower() in accepted), None)
        if min(score for _, score in links.items) < 0.6:
            why = "start"
        elif goal is None:
            why = "no name"
        elif min(networkx.shortest_path_length(graph, at, goal) for at in starts) > 3:
            why = "far"
        else:
            on_ways = {name for way in trace.last("paths").paths for name in way.nodes}
            why = "reader" if goal in on_ways else "not kept"
        lost.setdefault(why, []).append(question.id)
    assert lost == {
        "start": ["q02", "q06", "q07"], "no name": ["q08", "q17", "q19"], "far": ["q09"],
        "not kept": ["q11"], "reader": ["q10"],
    }  # fmt: skip


def test_the_stepper_begins_with_named_after_where_the_text_says(corpus):
    stepper = walk_stepper(METHODS["tog"].build(corpus, **WALKS), corpus.question("q09").text)
    assert stepper.set("relation", ("named after",)).walk.frontier(2) == [
        "Haldry School of Mines", "Haldry Symphony",
    ]  # fmt: skip


def test_83_names_have_a_page_of_their_own_and_56_borrow_one(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)
    titles = {normalise_phrase(chunk.title) for chunk in corpus.chunks}
    own, borrowed = Counter(), Counter()
    for node, pages in zip(tog2.agent.graph.nodes, tog2.pages):
        kind = own if normalise_phrase(node.name) in titles else borrowed
        kind[len(set(pages))] += 1
    assert (own, borrowed[1], borrowed.total()) == ({1: 83}, 56, 61)
    assert tog2.chosen.alpha == 0.8


def test_the_wife_loses_to_a_page_that_the_walk_had_read_and_the_reader_lacks_hers(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)
    retrieval = tog2.answer(corpus.question("q09").text).retrieval
    pages = {node.name: p for node, p in zip(tog2.agent.graph.nodes, tog2.pages)}
    third = "president of the Society of the Compass"
    assert third not in {chunk.title for chunk in corpus.chunks}
    assert [corpus.chunks[place].title for place in pages[third]] == ["Piers Halloway"]
    searches = [step for step in retrieval.trace if step.operator == "search of pages"]
    assert "Piers Halloway" in [title for title, _ in searches[1].items]
    order = [title for title, _ in searches[-1].items]
    assert order.index("Hester Quillfeather") == 6
    given = tog2.context(retrieval)[0]["passages"]
    assert len(given) == tog2.chosen.references == 5
    [wife] = [chunk.passage for chunk in corpus.chunks if chunk.title == "Hester Quillfeather"]
    assert wife not in given


def test_as_many_pages_of_vector_search_hold_all_gold_on_12_questions(corpus, kgp):
    vector, whole = METHODS["vanilla"].build(corpus, llm="recorded"), Counter()
    for question in corpus.questions[:20]:
        pages = {page.id for page in given_pages(kgp, question)}
        same = set(vector.retrieve(question.text, k=len(pages)).ids)
        whole["kgp"] += set(question.gold) <= pages
        whole["vanilla"] += set(question.gold) <= same
    assert whole == {"kgp": 16, "vanilla": 12}


def test_by_hand_one_relation_runs_both_ways_and_is_not_divided():
    made = run(BY_HAND)
    first = made["offer"]("Mount Haldry", [])
    assert [(score, other) for score, other, _ in first if score > 0.5] == [
        (0.9, "Ormel"), (0.9, "Observatory"),
    ]  # fmt: skip
    director = ("Observatory", "director", "Lucan Vane")
    for name in {end for s, _, o in made["facts"] for end in (s, o)}:
        left = made["triples_at"](name, [director] if name == "Lucan Vane" else [])
        assert len({relation for _, relation, _ in left}) <= 2


def test_the_model_divides_by_relation_and_direction(corpus):
    tog = METHODS["tog"].build(corpus, **WALKS)
    relations, names, *_ = tog.retrieve(corpus.question("q09").text).trace.all(ChoiceStep)
    lies = [each for each in names.offered if "located in" in each.label]
    assert [round(each.score, 6) for each in lies] == [0.9, 0.9]
    assert max(each.score for each in relations.offered) == 0.9


def test_on_how_many_questions_a_reader_got_every_gold_page(corpus):
    build = {name: METHODS[name].build(corpus, **WALKS) for name in ("tog", "tog2", "dalk")}
    build["kgp"] = METHODS["kgp"].build(corpus, k=9, **WALKS)
    build["vanilla"] = METHODS["vanilla"].build(corpus, llm="recorded")
    text_of, whole = {chunk.id: chunk.text for chunk in corpus.chunks}, Counter()
    for name, method in build.items():
        for question in corpus.questions[:20]:
            given = method.context(method.answer(question.text).retrieval)[0]
            read = "\n".join(given.get("passages", []))
            whole[name] += all(text_of[page] in read for page in question.gold)
    assert whole == {"vanilla": 8, "tog": 1, "tog2": 9, "kgp": 16, "dalk": 2}


def test_it_takes_eight_to_nothing_to_pass_a_quarter_of_five_per_cent():
    least = {number: binomtest(0, number).pvalue for number in (4, 5, 6, 7, 8)}
    assert [number for number in least if least[number] < 0.05 / 4] == [8]
    assert least[6] == 0.03125


def test_the_survey_has_kgp_behind_vector_search_on_two_sets_and_ahead_on_musique():
    five = load_expected("survey_tables")["table_5"]
    row = {
        name: dict(zip(five["columns"], five["rows"][name]))
        for name in ("kgp", "vanilla", "dalk", "tog")
    }
    multihop, pop, musique = (f"{name} Accuracy" for name in ("MultihopQA", "PopQA", "MusiqueQA"))
    assert row["kgp"][multihop] < row["vanilla"][multihop] < row["dalk"][multihop]
    assert row["kgp"][pop] < row["vanilla"][pop]
    for alce in (f"ALCE {name}" for name in ("STRREC", "STREM", "STRHIT")):
        assert row["kgp"][alce] < row["vanilla"][alce]
    assert row["dalk"][musique] < row["vanilla"][musique]
    assert row["vanilla"][multihop] - row["tog"][multihop] == pytest.approx(8.685)
    assert (row["kgp"][musique], row["vanilla"][musique]) == (17.333, 17.233)


ENDS = [
    ("tog", "the agent says that the evidence is enough", (7, 7, 7)),
    ("tog", "the walk has reached its greatest depth", (0, 5, 9)),
    ("tog", "the question names no entity", (3, 3, 4)),
    ("tog2", "the agent says that the evidence is enough", (11, 9, 11)),
    ("tog2", "the walk has reached its greatest depth", (1, 3, 5)),
    ("tog2", "the question names no entity", (3, 3, 4)),
]


@pytest.mark.parametrize(("name", "reason", "counts"), ENDS)
def test_after_enough_every_answer_is_right(corpus, answers, name, reason, counts):
    walk, hits = METHODS[name].build(corpus, **WALKS), []
    for question, own, beside in zip(corpus.questions, answers[name], answers["vanilla"]):
        if walk.retrieve(question.text).trace.last("stop").reason.startswith(reason):
            hits.append((own[1], beside[1]))
    assert (*(sum(each) for each in zip(*hits)), len(hits)) == counts


def test_vector_search_says_not_stated_wherever_it_is_wrong(answers):
    assert [hit for _, hit in answers["vanilla"]] == [
        "Not stated" not in said for said, _ in answers["vanilla"]
    ]


def test_half_of_the_failures_of_tog_are_out_of_its_reach_and_pages_hold_four(corpus, answers):
    built_in = {"q07": "131", "q08": "cello", "q17": "samphire", "q19": "five"}
    for name in ("tog", "dalk"):
        wrong = {q.id for q, (_, hit) in zip(corpus.questions, answers[name]) if not hit}
        assert {*built_in, "q09"} <= wrong
    assert len([hit for _, hit in answers["tog"] if not hit]) == 10
    for number, answer in built_in.items():
        pages = [chunk.text for chunk in corpus.chunks if chunk.id in corpus.question(number).gold]
        assert any(answer in text.lower() for text in pages)


@pytest.mark.filterwarnings("ignore:An offline rule answers")
def test_a_fourth_round_by_the_offline_rule_keeps_the_prize(corpus):
    tog, question = METHODS["tog"].build(corpus, **WALKS), corpus.question("q09").text
    usual = entity_steps(tog.retrieve(question).trace)
    longer = entity_steps(tog.with_options(depth=4).retrieve(question).trace)
    assert [each.offered for each in longer[:3]] == [each.offered for each in usual]
    kept = [each.label for each in longer[3].offered if not each.dropped]
    assert "Hester Quillfeather, award received, Gannet Prize" in kept


@pytest.mark.filterwarnings("ignore:An offline rule answers")
def test_with_width_4_by_rules_the_wife_is_kept_and_the_reader_gets_no_prize(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS).with_options(width=4)
    found = tog2.retrieve(corpus.question("q09").text)
    ways = [way.nodes for way in found.trace.last("paths").paths]
    assert any(nodes[-1] == "Hester Quillfeather" for nodes in ways)
    assert "Gannet Prize" not in str(tog2.context(found)[0])


def test_with_another_decay_the_ways_on_its_question_are_the_same(corpus):
    tog2, question = METHODS["tog2"].build(corpus, **WALKS), corpus.question("q09").text
    ways = [
        [way.nodes for way in method.retrieve(question).trace.last("paths").paths]
        for method in (tog2, tog2.with_options(alpha=0.1))
    ]
    assert ways[0] == ways[1]


def test_the_medal_is_the_husbands_and_the_reader_of_tog2_gets_his_page(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)
    given = tog2.context(tog2.answer(corpus.question("q09").text).retrieval)[0]["passages"]
    [his] = [chunk.passage for chunk in corpus.chunks if chunk.title == "Lucan Vane"]
    assert his in given and "won the Thrane Medal" in his


def test_one_way_of_tog_takes_the_marriage_against_its_arrow(corpus):
    tog = METHODS["tog"].build(corpus, **WALKS)
    paths = tog.retrieve(corpus.question("q09").text).trace.last("paths")
    names = [node.name for node in tog.graph.nodes]
    last = [tog.graph.edges[way[-1][0]] for way in paths.edges[1:3]]
    assert [names[edge.target] for edge in last] == ["Hester Quillfeather", "Lucan Vane"]
    assert all(path.nodes[-1] == "Hester Quillfeather" for path in paths.paths[1:3])


def test_no_triple_has_the_years_that_q10_asks_for(corpus, triples):
    """The prize's page has them; the two who won it are in triples, without a year."""
    [page] = [chunk.text for chunk in corpus.chunks if chunk.title == "Thrane Medal"]
    at_medal = [triple for triple in triples if "Thrane Medal" in triple]
    assert "1933" in page and "1939" in page and len(at_medal) > 2
    assert not any(year in str(triple) for triple in at_medal for year in ("1933", "1939"))


TOY = ("c15toy0", "c15toy1")


def test_by_hand_the_two_pages_of_the_wife_count_little_unless_alpha_is_small():
    usual, slow = run(TOY)["total"], run(TOY, ("alpha = 0.8", "alpha = 0.1"))["total"]
    order = [sorted(each, key=each.get, reverse=True) for each in (usual, slow)]
    assert order == [["Medal", "Society", "Wife"], ["Wife", "Medal", "Society"]]
    assert [round(slow[name], 3) for name in order[1]] == [0.692, 0.543, 0.450]
    made = run(TOY)
    assert dict(decayed_scores(made["pages"], alpha=0.8)) == pytest.approx(usual)


def of_hops(*wanted):
    """The ids of the first twenty questions whose shipped number of hops is among `wanted`."""
    path = next((NOTEBOOK.parents[1] / "data").rglob("mini_wiki/questions.jsonl"))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:20]]
    return [row["id"] for row in rows if row["hops"] in wanted]


SEVERAL, HOPS = (2, 3, 4), ("c15hops",)


def test_sixteen_of_the_first_twenty_questions_have_two_hops_or_more(corpus):
    hops = {"two": of_hops(2), "three": of_hops(3), "four": of_hops(4)}
    made = run(HOPS, corpus=corpus)
    assert {name: made[name] for name in hops} == hops
    assert made["several"] == [*hops["two"], *hops["three"], *hops["four"]]
    assert [question.id for question in made["questions"]] == made["several"]
    assert (len(made["several"]), len(of_hops(1)), "q09" in of_hops(3)) == (16, 4, True)


def test_on_several_hops_one_method_is_ahead_and_no_difference_is_clear(corpus, answers):
    chosen, right = of_hops(*SEVERAL), {}
    for name, rows in answers.items():
        hits = {q.id for q, (_, hit) in zip(corpus.questions, rows) if hit}
        right[name] = hits & set(chosen)
    assert {name: len(ids) for name, ids in right.items()} == {
        "tog": 7, "tog2": 11, "dalk": 7, "kgp": 13, "vanilla": 11,
    }  # fmt: skip
    base = right.pop("vanilla")
    split = {name: (len(ids - base), len(base - ids)) for name, ids in right.items()}
    assert split == {"tog": (0, 4), "tog2": (2, 2), "dalk": (0, 4), "kgp": (4, 2)}
    assert min(binomtest(won, won + lost).pvalue for won, lost in split.values()) == 0.125
    assert set(chosen) - right["kgp"] == {"q03", "q15", "q18"}
    assert answers["kgp"][17] == ("Merrin", False)


def by_question(corpus, kgp, question, count=3):
    """The pages of KGP's walk, for each seed, if its neighbours are ranked by the question."""
    places, found = {chunk.title: at for at, chunk in enumerate(corpus.chunks)}, {}
    for step in kgp.retrieve(question.text).trace.all(ChoiceStep):
        seed = places[step.topics[0]]
        near = kgp.neighbours(seed, question.text).nodes[:count]
        found[step.topics[0]] = [
            corpus.chunks[each].id for each in (seed, *(n.index for n in near))
        ]
    return found


def test_by_the_question_alone_no_seed_of_kgp_finds_the_wife(corpus, kgp):
    [wife] = [chunk.id for chunk in corpus.chunks if chunk.title == "Hester Quillfeather"]
    found = by_question(corpus, kgp, corpus.question("q09"))
    assert len(found) == 3 and not any(wife in pages for pages in found.values())


@pytest.mark.parametrize("count, found, uneven", [(3, 9, (3, 0)), (4, 10, (2, 0)), (5, 12, (1, 1))])
def test_the_sentences_of_kgp_bring_more_gold_than_the_question_or_as_many_pages(
    corpus, kgp, count, found, uneven
):
    vector, whole = METHODS["vanilla"].build(corpus, llm="recorded"), Counter()
    won, lost = 0, 0
    for question in map(corpus.question, of_hops(*SEVERAL)):
        read = {page.id for page in given_pages(kgp, question)}
        seeds = by_question(corpus, kgp, question, count).values()
        plain = {page for pages in seeds for page in pages}
        same = set(vector.retrieve(question.text, k=len(read)).ids)
        for name, pages in (("sentences", read), ("question", plain), ("vector", same)):
            whole[name] += set(question.gold) <= pages
        held = (set(question.gold) <= read, set(question.gold) <= plain)
        won, lost = won + (held == (True, False)), lost + (held == (False, True))
    assert whole == {"sentences": 12, "question": found, "vector": 8}
    assert (won, lost) == uneven


def test_every_gold_page_is_neither_needed_nor_enough_for_a_right_answer(corpus, kgp, answers):
    chosen, whole = of_hops(*SEVERAL), set()
    right = {q.id for q, (_, hit) in zip(corpus.questions, answers["kgp"]) if hit} & set(chosen)
    for question in map(corpus.question, chosen):
        if set(question.gold) <= {page.id for page in given_pages(kgp, question)}:
            whole.add(question.id)
    assert (right - whole, whole - right) == ({"q02", "q11"}, {"q15"})


ENOUGH = "the agent says that the evidence is enough"
LATE = "the walk has reached its greatest depth"


def how_walks_end(corpus, name):
    """The questions of several hops that a method walks on, by the reason why it stops."""
    method, ends = METHODS[name].build(corpus, **WALKS), {ENOUGH: [], LATE: []}
    for question in map(corpus.question, of_hops(*SEVERAL)):
        reason = method.retrieve(question.text).trace.last("stop").reason
        if "names no entity" not in reason:
            ends[reason].append(question.id)
    return ends


@pytest.mark.parametrize(
    ("name", "enough", "late"), [("tog", (4, 4), (8, 0)), ("tog2", (7, 7), (5, 1))]
)
def test_on_the_sixteen_a_walk_ends_with_enough_or_after_three_rounds(
    corpus, answers, name, enough, late
):
    ends = how_walks_end(corpus, name)
    hit = {q.id: right for q, (_, right) in zip(corpus.questions, answers[name])}
    counts = {end: (len(ids), sum(hit[each] for each in ids)) for end, ids in ends.items()}
    assert counts == {ENOUGH: enough, LATE: late}
    assert name == "tog" or [each for each in ends[LATE] if hit[each]] == ["q05"]


def test_two_questions_begin_at_a_wrong_node_in_four_of_the_thirteen_late_walks(corpus):
    for name in ("tog", "tog2"):
        method = METHODS[name].build(corpus, **WALKS)
        assert {"q02", "q06"} <= set(how_walks_end(corpus, name)[LATE])
        for id, link in (
            ("q02", "Shearwater → hydrographer"),
            ("q06", "Goat Bank → The Salt Ledger"),
        ):
            links = method.retrieve(corpus.question(id).text).trace.last("link").items
            assert link in [label for label, _ in links]


def test_vector_search_too_is_right_more_often_where_a_walk_ends_with_enough(corpus, answers):
    flat = {q.id: right for q, (_, right) in zip(corpus.questions, answers["vanilla"])}
    walks = [how_walks_end(corpus, name) for name in ("tog", "tog2")]
    ends = {end: [id for walk in walks for id in walk[end]] for end in (ENOUGH, LATE)}
    counts = [(len(ids), sum(flat[each] for each in ids)) for ids in ends.values()]
    assert counts == [(11, 9), (13, 7)] and len({*ends[ENOUGH]}) == 8
    assert len({*ends[ENOUGH]} & {*ends[LATE]}) == 5


@pytest.mark.parametrize("name", ["tog", "dalk"])
def test_three_answers_without_a_node_are_too_few_to_tell(corpus, answers, name):
    lacking, chosen = {"q08", "q17", "q19"}, set(of_hops(*SEVERAL))
    wrong = {q.id for q, (_, hit) in zip(corpus.questions, answers[name]) if not hit} & chosen
    assert lacking <= wrong and len(wrong - lacking) == 6
    assert round(fisher_exact([[3, 0], [6, 7]]).pvalue, 2) == 0.21


LOOP = ("c15w1", "c15w2", "c15w3", "c15w4", "c15w5", "c15w6")


@pytest.mark.parametrize(
    ("number", "end", "said", "rounds"),
    [("q19", "Nell Garrity", "five", 2), ("q17", "Winifred Asp", "samphire", 1)],
)
def test_the_loop_written_out_finds_what_the_package_finds(
    corpus, triples, number, end, said, rounds
):
    cells = {cell.id: cell.source for cell in read_notebook(NOTEBOOK).cells}
    made = {
        "math": math, "mr": minirag, "corpus": corpus, "triples": triples,
        "model": minirag.load_llm("recorded"),
        "vector": METHODS["vanilla"].build(corpus, llm="recorded"),
    }  # fmt: skip
    text = "\n".join(cells[name] for name in ("c15tiny0", "c15tog0a", "c15toy0", "c15toy1", *LOOP))
    exec(text.replace('"q19"', f'"{number}"'), made)
    question, package = corpus.question(number), METHODS["tog2"].build(corpus, **WALKS)
    answer = package.answer(question.text)
    assert (made["depth"], made["beam"][0][0], made["verdict"].text.lower()) == (rounds, end, said)
    assert made["verdict"].sufficient and exact_match(answer.text, question.answers)
    steps = entity_steps(answer.retrieval.trace)
    kept = [each.label for each in steps[-1].offered if not each.dropped]
    assert kept == [", ".join(way[-1]) for _, way in made["beam"]] and len(steps) == rounds
    assert not exact_match(made["vector"].answer(question.text).text, question.answers)


@pytest.mark.filterwarnings("ignore:An offline rule answers")
def test_the_loop_written_out_ends_in_an_error_on_other_questions_of_several_hops(corpus, triples):
    cells = {cell.id: cell.source for cell in read_notebook(NOTEBOOK).cells}
    vector, runs = METHODS["vanilla"].build(corpus, llm="recorded"), []
    text = "\n".join(cells[name] for name in ("c15tiny0", "c15tog0a", "c15toy0", "c15toy1", *LOOP))
    for number in of_hops(*SEVERAL):
        made = {"math": math, "mr": minirag, "corpus": corpus, "triples": triples}
        try:
            exec(text.replace('"q19"', f'"{number}"'), made | {"vector": vector})
        except (ValueError, KeyError):
            continue
        runs.append(number)
    assert runs == ["q17", "q19"]


def test_the_sentence_that_the_walk_on_q19_needs_stands_on_the_godmothers_page(corpus):
    [page] = [chunk.text for chunk in corpus.chunks if chunk.title == "Nell Garrity"]
    assert "brought up five nephews" in page
    [author] = [chunk.text for chunk in corpus.chunks if chunk.title == "Hester Quillfeather"]
    assert "Nell Garrity" in author


def test_three_of_the_sixteen_take_a_fact_from_the_graph_that_no_page_states(corpus, triples):
    asked = [q for q in corpus.questions if q.id in of_hops(*SEVERAL)]
    named = [q.id for q in asked if "knowledge graph" in " ".join(q.chain)]
    assert sorted(named) == ["q05", "q15", "q17"]
    facts = [
        ("Ysolde Merrin", "award received", "Gannet Prize"),
        ("Nell Garrity", "place of death", "Tarnsey"),
        ("Haldry Symphony", "dedicated to", "Winifred Asp"),
    ]
    assert set(facts) <= {tuple(triple) for triple in triples}
    both = [
        chunk.title
        for one, other in (("Ysolde", "Gannet"), ("Garrity", "Tarnsey"), ("Symphony", "Asp"))
        for chunk in corpus.chunks
        if all(word in f"{chunk.title} {chunk.text}" for word in (one, other))
    ]
    assert both == ["Hester Quillfeather"]  # whose own home Tarnsey is


def test_part_of_what_is_right_of_the_sixteen_comes_from_the_fallback(corpus):
    several, found = of_hops(*SEVERAL), {}
    for name in ("tog", "tog2", "dalk"):
        method, right, caught = METHODS[name].build(corpus, **WALKS), set(), set()
        for question in map(corpus.question, several):
            answer = method.answer(question.text)
            if exact_match(answer.text, question.answers):
                right.add(question.id)
                if "dense retrieval" in answer.retrieval.trace.last("stop").summary:
                    caught.add(question.id)
        found[name] = (len(right), sorted(caught))
    assert found == {
        "tog": (7, ["q03", "q12", "q14"]), "tog2": (11, ["q03", "q12", "q14"]),
        "dalk": (7, ["q02", "q03", "q12", "q14", "q16"]),
    }  # fmt: skip


def test_vector_search_has_every_gold_page_on_four_and_answers_eleven(corpus, answers):
    vector, whole = METHODS["vanilla"].build(corpus, llm="recorded"), set()
    for question in map(corpus.question, of_hops(*SEVERAL)):
        if not left_out(vector, question):
            whole.add(question.id)
    assert whole == {"q02", "q04", "q08", "q15"}


def test_three_answers_of_the_sixteen_are_no_nodes(corpus, triples, answers):
    names = {name.lower() for triple in triples for name in (triple.subject, triple.object)}
    lacking = [
        q.id
        for q in map(corpus.question, of_hops(*SEVERAL))
        if not names & {each.lower() for each in q.answers}
    ]
    assert lacking == ["q08", "q17", "q19"]
    right = {
        name: {q.id for q, (_, hit) in zip(corpus.questions, rows) if hit}
        for name, rows in answers.items()
    }
    assert {name: sorted(ids & set(lacking)) for name, ids in right.items()} == {
        "tog": [], "dalk": [], "vanilla": ["q08"], "tog2": lacking, "kgp": lacking,
    }  # fmt: skip


def test_where_the_eight_walks_of_tog_that_reach_their_end_fail(corpus, answers):
    late = how_walks_end(corpus, "tog")[LATE]
    no_node, wrong_start, too_far, years = ["q08", "q17", "q19"], ["q02", "q06"], ["q09"], ["q10"]
    assert sorted(late) == sorted([*no_node, *wrong_start, *too_far, *years, "q11"])
    right = {q.id for q, (_, hit) in zip(corpus.questions, answers["tog"]) if hit}
    assert not right & {*late}
    tog = METHODS["tog"].build(corpus, **WALKS)
    steps = entity_steps(tog.retrieve(corpus.question("q11").text).trace)
    reck = [[e.dropped for e in step.offered if "Sunniva Reck" in e.label] for step in steps]
    assert [bool(found) for found in reck] == [False, True, False] and all(reck[1])


def test_kgp_hands_each_seed_over_with_each_of_its_three_neighbours(corpus):
    kgp = METHODS["kgp"].build(corpus, **WALKS, k=9)
    titles = [chunk.title for chunk in corpus.chunks]
    for q in map(corpus.question, of_hops(*SEVERAL)):
        texts = kgp.context(kgp.answer(q.text).retrieval)[0]["passages"]
        lines = [[line for line in text.splitlines() if line in titles] for text in texts]
        assert [len(each) for each in lines] == [2] * 9
        assert sorted(Counter(first for first, _ in lines).values()) == [3, 3, 3]


def test_dalk_keeps_one_line_of_five_on_its_question(corpus):
    answer = METHODS["dalk"].build(corpus, **WALKS).answer(corpus.question("q09").text)
    offered = answer.retrieval.trace.all(ChoiceStep)[0].offered
    assert [each.label.split()[-2:] for each in offered if not each.dropped] == [
        ["Haldry", "Observatory"]
    ]
    assert len(offered) == 5
    assert all(len(path.nodes) <= 2 for path in answer.retrieval.trace.last("node onehop").paths)


@pytest.mark.parametrize(
    ("name", "of_16", "walked", "own", "other"),
    [("tog", 7, 12, 4, 8), ("tog2", 11, 12, 8, 8), ("kgp", 13, 16, 13, 11), ("dalk", 7, 9, 2, 6)],
)
def test_right_answers_where_a_method_walked(corpus, answers, name, of_16, walked, own, other):
    made, method = run(HOPS, corpus=corpus), METHODS[name]
    method = method.build(corpus, **WALKS, **({"k": 9} if name == "kgp" else {}))
    rows = []
    for question, mine, base in zip(corpus.questions, answers[name], answers["vanilla"]):
        if question.id in made["several"]:
            back = "dense retrieval" in str(method.retrieve(question.text).trace)
            rows.append((not back, mine[1], base[1]))
    here = [row for row in rows if row[0]]
    found = (len(rows), sum(row[1] for row in rows), len(here))
    assert found == (16, of_16, walked)
    assert (sum(row[1] for row in here), sum(row[2] for row in here)) == (own, other)


def test_the_chains_that_name_the_graph_and_the_hops_are_the_files(corpus):
    path = Path(__file__).parents[1] / "data" / "corpora" / "mini_wiki" / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()][:20]
    made = run(HOPS, corpus=corpus)
    for kind, hops in (("two", 2), ("three", 3), ("four", 4)):
        assert made[kind] == [row["id"] for row in rows if row["hops"] == hops]
    graph = [row["id"] for row in rows if "knowledge graph" in " ".join(row["chain"])]
    assert graph == ["q05", "q15", "q17"]


@pytest.mark.parametrize(
    ("name", "mean"), [("vanilla", 5.0), ("tog", 1.0), ("tog2", 4.0), ("dalk", 1.75)]
)
def test_pages_of_a_reader_and_that_tog_and_dalk_give_them_in_the_fallback_only(corpus, name, mean):
    options = {"llm": "recorded"} if name == "vanilla" else WALKS
    method, given = METHODS[name].build(corpus, **options), []
    for question in corpus.questions[:20]:
        retrieval = method.answer(question.text).retrieval
        given.append(len(method.context(retrieval)[0].get("passages", [])))
        if name in ("tog", "dalk"):
            assert (given[-1] > 0) == ("dense retrieval" in str(retrieval.trace))
    assert sum(given) / 20 == mean


def test_gold_pages_of_vector_search_with_as_many_pages_as_kgp_and_with_five(corpus, kgp):
    made, whole = run(HOPS, corpus=corpus), Counter()
    vector = METHODS["vanilla"].build(corpus, llm="recorded")
    for number in made["several"]:
        question = corpus.question(number)
        own = {page.id for page in given_pages(kgp, question)}
        near = vector.retrieve(question.text, k=len(own)).ids
        for name, pages in (("kgp", own), ("many", near), ("five", near[:5])):
            whole[name] += set(question.gold) <= set(pages)
    assert whole == {"kgp": 12, "many": 8, "five": 4}


def test_the_wife_loses_by_seven_ten_thousandths_to_names_kept_before(corpus):
    tog2 = METHODS["tog2"].build(corpus, **WALKS)
    steps = entity_steps(tog2.retrieve(corpus.question("q09").text).trace)
    near = [each.score * math.exp(0.8 * i) for i, each in enumerate(steps[2].offered[:4], 1)]
    assert round(near[2] - near[3], 4) == 0.0007
    kept = [[e.label.split(", ") for e in step.offered if not e.dropped] for step in steps]
    stands = {"Lucan Vane", "Sunniva Reck", "Piers Halloway"}
    assert stands == {row[0] for row in kept[1]}
    ends = [(set(row[::2]) - stands).pop() for row in kept[2]]
    assert ends == [
        "Haldry Observatory", "Haldry School of Mines", "president of the Society of the Compass",
    ]  # fmt: skip
    assert set(ends[:2]) <= {name for row in kept[0] for name in row}


@pytest.mark.parametrize("alpha", [0.01, 0.8, 3.0])
def test_with_one_page_a_name_any_positive_alpha_keeps_the_order(alpha):
    random = np.random.default_rng(1)
    for _ in range(50):
        pages = [(str(name), score) for name, score in enumerate(random.random(10))]
        ranked = sorted(pages, key=lambda page: -page[1])
        assert [name for name, _ in decayed_scores(pages, alpha=alpha)] == [n for n, _ in ranked]


def test_where_all_facts_stand_on_pages_kgp_and_vector_search_are_level(corpus, answers):
    seen = {*of_hops(*SEVERAL)} - {"q05", "q09", "q15", "q17"}
    right = {
        name: sum(hit for q, (_, hit) in zip(corpus.questions, rows) if q.id in seen)
        for name, rows in answers.items()
    }
    assert {name: right[name] for name in ("vanilla", "kgp", "tog2", "tog", "dalk")} == {
        "vanilla": 10, "kgp": 10, "tog2": 9, "tog": 6, "dalk": 6,
    }  # fmt: skip
    text = dict(zip((q.id for q in corpus.questions), (text for text, _ in answers["kgp"])))
    assert text["q18"] == "Merrin"
