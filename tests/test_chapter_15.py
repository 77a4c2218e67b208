"""What chapter 15 (notebooks/15_agents_on_graphs.ipynb) says, checked beyond what its cells print:
its question and the rule that chose it, the decayed score, and how released codes mark answers.
"""

import math

import numpy as np
import pytest

import minirag
from minirag.algorithms.entity_scores import decayed_scores
from minirag.evaluate import exact_match
from minirag.evaluate.kgqa import claim_label
from minirag.graphs.knowledge_graph import normalise_phrase
from minirag.methods import METHODS


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
    read, found, as_many = [], [], []
    for question in corpus.questions[:20]:
        pairs = kgp.retrieve(question.text).trace.last("pairs").pairs
        pages = {corpus.chunks[place].id for pair in pairs for place in pair}
        same, gold = set(vector.retrieve(question.text, k=len(pages)).ids), set(question.gold)
        read.append(len(pages))
        found.append(len(gold & pages) / len(gold))
        as_many.append(len(gold & same) / len(gold))
    assert (np.mean(read), min(read), max(read)) == (9.35, 6, 12)
    assert (round(np.mean(found), 3), round(np.mean(as_many), 3)) == (0.875, 0.808)


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
