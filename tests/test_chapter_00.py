"""What 00_start_here and paper_against_code say, measured again."""

import numpy as np
import pytest

import minirag as mr
from minirag.evaluate import exact_match


@pytest.fixture(scope="module")
def corpus():
    return mr.load_corpus("professors")


@pytest.fixture(scope="module")
def recorded(corpus):
    def build(name, **options):
        return mr.METHODS[name].build(corpus, "recorded", "minilm", **options)

    return {"bm25": build("bm25"), "hippo": build("hipporag", extraction="annotations")}


@pytest.fixture(scope="module")
def offline(corpus):
    return mr.HippoRAG.build(corpus, extraction="annotations")


def recall(method, corpus):
    scores, _ = mr.evaluate_retrieval(method, corpus.questions)
    return round(scores["R@2"], 1), round(scores["R@5"], 1)


def test_the_rule_chooses_q10_and_counts_both_ways(corpus, recorded):
    won = {"hippo": [], "bm25": []}
    for q in corpus.questions:
        answers = {name: method.answer(q.text) for name, method in recorded.items()}
        assert all(answer.llm.startswith("recorded") for answer in answers.values())
        right = {name: exact_match(answer.text, q.answers) for name, answer in answers.items()}
        if right["hippo"] != right["bm25"]:
            won[max(right, key=right.get)].append(q.id)
    assert won == {"hippo": ["q10", "q11", "q16"], "bm25": ["q08", "q19"]}


def test_the_second_passage_is_fifth_at_every_restart_probability_of_the_slider(corpus, recorded):
    q, hippo = corpus.question("q10"), recorded["hippo"]
    assert recorded["bm25"].retrieve(q.text, k=40).ids.index("p39") == 36
    for restart in np.arange(0.1, 0.91, 0.05):
        found = hippo.with_options(restart_probability=float(restart)).retrieve(q.text, k=5)
        assert found.ids.index("p39") == 4
    staying = hippo.with_options(propagation="query-nodes").retrieve(q.text, k=40)
    assert staying.passages[staying.ids.index("p39")].score == 0


def test_four_passages_name_the_medal_and_six_the_disease(corpus, recorded):
    hippo = recorded["hippo"]
    names = [node.name for node in hippo.hippocampal_index.nodes]
    ids = [chunk.id for chunk in corpus.chunks]
    for name, question, gold, count in [
        ("candlemas medal", "q10", "p39", 4),
        ("lanthorn s disease", "q08", "p22", 6),
    ]:
        holds = hippo.passage_matrix[:, [names.index(name)]].toarray()[:, 0] > 0
        found = hippo.retrieve(corpus.question(question).text, k=40).ids
        assert holds.sum() == count == found.index(gold)
        assert {ids[i] for i in np.flatnonzero(holds)} == set(found[:count])


def test_counting_each_node_once_turns_the_kinds_around(corpus, recorded):
    once = recorded["hippo"].with_options(passage_matrix="incidence")
    found = {}
    for name, method in {**recorded, "once": once}.items():
        for kind in ("bridge", "path-finding", "comparison"):
            asked = [q for q in corpus.questions if q.kind == kind]
            scores, _ = mr.evaluate_retrieval(method, asked)
            found[name, kind] = scores["R@2"], scores["R@5"]
    assert found["hippo", "bridge"] > found["bm25", "bridge"] == found["once", "bridge"]
    assert found["hippo", "path-finding"][0] < found["bm25", "path-finding"][0]
    assert found["once", "path-finding"] > found["bm25", "path-finding"]
    assert found["once", "comparison"] < found["bm25", "comparison"]
    assert found["hippo", "comparison"] == found["bm25", "comparison"]


def test_the_one_question_that_the_rule_answers_from_hipporags_passages(corpus, offline):
    q = corpus.question("q17")
    answer = offline.answer(q.text)
    plain = mr.METHODS["bm25"].build(corpus).answer(q.text)
    assert answer.text in q.answers and plain.text not in q.answers
    assert set(q.gold) <= set(answer.retrieval.ids)
    assert not set(q.gold) <= set(plain.retrieval.ids)


def test_a_sixth_file_about_the_founder_comes_right_after_the_choir(tmp_path):
    texts = {
        "bakery": "The Corner Bakery was opened by Mina Okoro. It sells bread.",
        "choir": "Mina Okoro conducts the Lantern Choir. It sings at the Harvest Fair.",
        "mill": "The Old Mill grinds flour for the Corner Bakery. Tom Reed built it.",
        "school": "Tom Reed is the founder of the Bridge School. It has forty pupils.",
        "cafe": "The Corner Cafe is next to the school. What else it sells nobody knows.",
        "sixth": "Mina Okoro plays chess.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    method = mr.HippoRAG.build(mr.read_folder(tmp_path))
    found = method.retrieve("What else does the founder of the Corner Bakery do?", k=6)
    titles = [passage.chunk.title for passage in found]
    assert titles == ["bakery", "mill", "choir", "sixth", "school", "cafe"]


def test_why_three_of_the_codes_differences_change_nothing(corpus, offline):
    kinds = {"relation": set(), "synonymy": set()}
    for edge in offline.hippocampal_index.edges:
        kinds[edge.kind].add(frozenset((edge.source, edge.target)))
    assert len(kinds["synonymy"]) == 16 and not kinds["synonymy"] & kinds["relation"]
    for q in corpus.questions:
        linked = [node.index for node in offline.retrieve(q.text).trace.last(mr.NodeStep).nodes]
        assert len(linked) == len(set(linked))
    for options in (
        {"restart_read_as": "follow"},
        {"synonymy": "overwrite"},
        {"reset": "entity"},
        {"strict": False, "min_letters": 2},
        {"ties": "descending"},
    ):
        assert recall(offline.with_options(**options), corpus) == (59.7, 81.9)
    ascii_names = {"script": "ascii", "empty_names": "keep"}
    plain = mr.HippoRAG.build(corpus, extraction="annotations", **ascii_names)
    assert recall(plain, corpus) == (59.7, 81.9)


def test_the_codes_setting_is_one_gain_and_one_loss(corpus, offline):
    facts = recall(offline.with_options(passage_matrix="facts"), corpus)
    assert facts == (69.4, 86.1)  # the two numbers on the corpus's own page
    code = mr.HippoRAG.build(corpus, extraction="annotations", follow="code")
    assert recall(code, corpus) == (63.2, 79.9)
    assert recall(code.with_options(no_entities="dense"), corpus) == facts
    default = recall(offline, corpus)
    assert recall(offline.with_options(passage_matrix="incidence"), corpus) > default
    assert default > recall(offline.with_options(no_entities="uniform"), corpus)
