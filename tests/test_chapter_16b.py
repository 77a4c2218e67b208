"""What chapter 16b (notebooks/16b_fast_graphs.ipynb) says, checked beyond what its cells print: its
question, each operator taken out, its costs, and what is behind its failure. Some tests check what
it told before: five passages for four, other graphs, the dampings, the links' wrong names, sixteen
settings for q20, the toy's second damping.
"""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from recorded_answers import context, is_right
from scipy.stats import binomtest

import minirag
from minirag.algorithms.pagerank import personalized_pagerank, transition_matrix
from minirag.core.trace import NodeStep, ScoredNode
from minirag.evaluate import exact_match, recall_at_k
from minirag.evaluate.metrics import answer_all, interval, load_expected
from minirag.evaluate.survey_metrics import contains
from minirag.graphs import extract_elements
from minirag.graphs.knowledge_graph import extract
from minirag.llm.recorded import recording
from minirag.methods import METHODS
from minirag.operators import node
from minirag.reproduce.answers import SMALL_K, SMALL_TREE


@pytest.fixture(scope="module")
def corpus():
    return minirag.load_corpus("professors")


@pytest.fixture(scope="module")
def flat(corpus):
    return METHODS["vanilla"].build(corpus, llm="recorded")


@pytest.fixture(scope="module")
def bm25(corpus):
    return METHODS["bm25"].build(corpus, llm="recorded")


@pytest.fixture(scope="module")
def tree(corpus):
    return METHODS["raptor"].build(corpus, llm="recorded", **SMALL_TREE)


@pytest.fixture(scope="module")
def own(corpus):
    """FastGraphRAG over the replies to its own prompt, the chapter's graph."""
    return METHODS["fastgraphrag"].build(corpus, llm="recorded", gleanings=0)


@pytest.fixture(scope="module")
def triples(corpus):
    return extract(corpus, minirag.load_llm("recorded"))


@pytest.fixture(scope="module")
def fast(corpus, triples):
    return METHODS["fastgraphrag"].build(corpus, llm="recorded", extraction=triples)


def recall(method, corpus, k=5):
    pairs = [(method.retrieve(q.text, k=k).ids, q.gold) for q in corpus.questions]
    return np.array([100 * recall_at_k(ids, gold, k) for ids, gold in pairs])


def more_and_less(ours, theirs, corpus):
    """The questions on which ours is larger, and those on which it is smaller."""
    gains = {q.id: a - b for q, a, b in zip(corpus.questions, ours, theirs)}
    more = [name for name, gain in gains.items() if gain > 0.01]
    return more, [name for name, gain in gains.items() if gain < -0.01]


def test_its_question_is_the_first_that_both_searches_leave_incomplete(corpus, flat, bm25, own):
    lacking = [
        {q.id for q, found in zip(corpus.questions, recall(method, corpus)) if found < 100}
        for method in (flat, bm25)
    ]
    assert [len(each) for each in lacking] == [12, 9]
    both = lacking[0] & lacking[1]
    assert len(both) == 8 and min(both) == "q10"
    complete = {q.id for q, found in zip(corpus.questions, recall(own, corpus)) if found == 100}
    assert both & complete == {"q10"}


def test_with_exact_names_p24_rises_and_p23_falls(corpus, own):
    q20, labels = corpus.question("q20"), [n.name for n in own.graph.nodes]

    def exact(names):
        near = nearest_to(names, own.entity_index)
        return [labels.index(n) if n in labels else i for n, i in zip(names, near)]

    def ranks(q, links, total=np.sum):
        scores = scored(corpus, own, q, links, total=total)
        return {g: sum(score >= scores[g] for score in scores.values()) for g in q.gold}

    names = named_in(own, q20)
    assert ranks(q20, nearest_to(names, own.entity_index)) == {"p23": 25, "p24": 8}
    assert ranks(q20, exact(names)) == {"p23": 30, "p24": 6}
    assert ranks(q20, exact(names), np.mean)["p24"] == 4
    read = [ranks(q, exact(named_in(own, q))) for q in corpus.questions]
    assert sum(rank <= 4 for each in read for rank in each.values()) == 31


def test_p23_names_the_disease_in_descriptions_of_its_entities_alone(corpus, own):
    place = [chunk.id for chunk in corpus.chunks].index("p23")
    read = [node for node in own.graph.nodes if place in node.chunks]
    names = [node.name for node in read]
    assert "Jonah Birtwhistle" in names and not any("Lanthorn" in name for name in names)
    assert "Quillon Instruments" not in names
    naming = {node.name for node in read if "Lanthorn's Disease" in node.description}
    assert naming == {"University of Carrowgate", "Birtwhistle's report of 2012"}


def test_the_chain_of_scores_of_the_five_entities():
    def rows(*scores):
        return NodeStep("", "", nodes=tuple(ScoredNode("", i, 2 * s - 1) for i, s in scores))

    names = ["Medal", "Society", "Winner", "Founder", "Charter"]
    (start,) = node.shares([rows((0, 0.9))], [[rows((0, 0.6), (2, 0.6))]], names)
    shares = {row.label: row.score for row in start.nodes}
    assert shares == pytest.approx({"Medal": 1.0, "Winner": 0.5})
    weights = np.zeros((5, 5))
    edges = [(0, 1), (0, 2), (1, 3), (1, 4)]  # two of passage c0, two of c1
    for a, b in edges:
        weights[a, b] = weights[b, a] = 1
    reset = np.array([1, 0, 0.5, 0, 0])
    walk = personalized_pagerank(transition_matrix(weights), reset, damping=0.85)
    assert walk == pytest.approx([0.351, 0.287, 0.199, 0.081, 0.081], abs=1e-3)
    related = [walk[a] + walk[b] for a, b in edges]
    assert [sum(related[:2]), sum(related[2:])] == pytest.approx([1.188, 0.738], abs=1e-3)


def test_the_walk_alone_brings_the_second_passage_of_its_question(corpus, own):
    q10, position = corpus.question("q10"), [chunk.id for chunk in corpus.chunks]
    scores = {}
    for name, method in (("walk", own), ("none", own.with_options(damping=0))):
        found = method.retrieve(q10.text, k=40)
        scores[name] = {p.chunk.id: p.score for p in found}
        if name == "walk":
            assert [*found.ids[:5]] == ["p16", "p17", "p25", "p39", "p26"]
            walked = found.trace.last("ppr").scores
    own_relations = [e for e in own.relations.edges if position.index("p39") in e.chunks]
    total = sum(walked[e.source] + walked[e.target] for e in own_relations)
    assert scores["walk"]["p39"] == pytest.approx(total)
    assert scores["none"].get("p39", 0) == 0


def test_the_walk_decides_one_to_three_questions(corpus, own):
    still = own.with_options(damping=0)
    found = {
        k: more_and_less(recall(own, corpus, k), recall(still, corpus, k), corpus)
        for k in (3, 5, 8, 10)
    }
    assert found == {
        3: (["q21"], []),
        5: (["q09", "q10", "q21"], ["q19"]),
        8: (["q09", "q10", "q20"], []),
        10: (["q09", "q10", "q20"], []),
    }


def test_link_by_description_passes_half_of_the_names_by(corpus, own):
    """With its name in the text an entity is found more often; whether that finds more gold
    passages depends on their number.
    """
    labels, both = (
        [n.name for n in own.graph.nodes],
        own.with_options(node_text="name and description"),
    )

    def elsewhere(method):
        steps = [method.retrieve(q.text, k=5).trace for q in corpus.questions]
        pairs = [
            (name, labels[found.index])
            for step in steps
            for name, found in zip(step.last("entities").entities, step.last("link").nodes)
        ]
        return sum(name != label for name, label in pairs), len(pairs)

    assert [elsewhere(own), elsewhere(both)] == [(21, 38), (14, 38)]
    assert {"Quillon Instruments", "Lanthorn's Disease"} <= {*labels}
    found = [
        more_and_less(recall(both, corpus, k), recall(own, corpus, k), corpus)
        for k in (3, 5, 8, 10)
    ]
    assert found == [
        (["q09", "q20"], ["q13", "q15"]),
        (["q15", "q18", "q20"], []),
        (["q15"], []),
        (["q15", "q16"], []),
    ]


def test_fastgraphrag_finds_more_than_vector_search_and_about_as_much_as_bm25(
    corpus, flat, bm25, own
):
    for k, means in {3: (66, 66.7, 70.1), 5: (68.1, 80.6, 78.5), 8: (78.5, 86.1, 88.9)}.items():
        found = [recall(method, corpus, k).mean() for method in (flat, bm25, own)]
        assert found == pytest.approx(means, abs=0.06)
    five = [recall(method, corpus) for method in (own, flat, bm25)]
    more, less = more_and_less(five[0], five[1], corpus)
    assert (len(more), len(less)) == (6, 1)
    more, less = more_and_less(five[0], five[2], corpus)
    assert (more, less) == (["q10", "q11"], ["q19", "q20"])


def test_what_indices_cost_that_the_chapter_does_not_print(corpus):
    """HippoRAG's triples, and the reports that GraphRAG adds to FastGraphRAG's graph."""
    spent = {}
    for name, options in (("hipporag", {}), ("graphrag-local", {"gleanings": 0})):
        total = METHODS[name].build(corpus, llm="recorded", **options).llm.ledger.total
        assert total.calls == total.replayed
        spent[name] = (total.calls, total.prompt_tokens, total.completion_tokens)
    assert spent == {"hipporag": (80, 32818, 14099), "graphrag-local": (113, 63311, 69097)}


def test_which_link_of_the_chain_finds_passages(corpus, fast):
    q07, whole = corpus.question("q07"), recall(fast, corpus)
    lost = {}
    for name, options in {
        "walk": {"damping": 0},
        "half": {"damping": 0.5},
        "link": {"link_cutoff": 1.01},
        "vdb": {"node_cutoff": 1.01},
    }.items():
        changed = fast.with_options(**options)
        fewer = recall(changed, corpus) < whole
        lost[name] = [q.id for q, less in zip(corpus.questions, fewer) if less]
        assert ("p29" in changed.retrieve(q07.text, k=5).ids) == (name != "walk")
    assert lost == {
        "walk": ["q07", "q11", "q12"],
        "half": [],
        "link": ["q12", "q13", "q16", "q18"],
        "vdb": ["q04"],
    }


def test_without_the_walk_six_of_the_eight_gains_over_flat_search_remain(corpus, flat, fast):
    base = recall(flat, corpus)

    def above(method):
        return {
            q.id for q, gain in zip(corpus.questions, recall(method, corpus) - base) if gain > 0
        }

    whole = {"q07", "q10", "q12", "q15", "q16", "q17", "q18", "q20"}
    assert above(fast) == whole
    assert above(fast.with_options(damping=0)) == whole - {"q07", "q12"}


@pytest.mark.slow  # all questions, over other graphs
def test_the_extraction_matters_as_much_as_its_reader(corpus):
    rules = extract(corpus, minirag.load_llm("offline"))
    found = {}
    for name in ("fastgraphrag", "hipporag"):
        for llm in ("offline", "recorded"):  # who names what is in the question
            method = METHODS[name].build(corpus, llm=llm, extraction=rules)
            found[name, llm] = round(recall(method, corpus).mean(), 1)
    assert [*found.values()] == [77.8, 77.8, 84.0, 86.1]
    triples = METHODS["fastgraphrag"].build(corpus, llm="recorded", extraction=rules)
    for gleanings in (0, 1):  # by rules a second turn finds nothing more
        own = extract_elements(corpus, minirag.load_llm("offline"), gleanings=gleanings)
        method = METHODS["fastgraphrag"].build(corpus, llm="recorded", extraction=own)
        assert len(method.graph.nodes) == 116
        assert recall(method, corpus).mean() == pytest.approx(61.8, abs=0.05)
    by_model = METHODS["fastgraphrag"].build(corpus, llm="recorded", gleanings=0)
    for other in (by_model, triples):
        gains = recall(other, corpus) - recall(method, corpus)
        assert ((gains > 0.01).sum(), (gains < -0.01).sum()) == (8, 2)


@pytest.mark.slow  # all questions, over other graphs
def test_over_graphs_not_by_the_model_fewer_gains_stay_without_the_walk(corpus):
    base = recall(METHODS["vanilla"].build(corpus, llm="recorded"), corpus)
    offline = minirag.load_llm("offline")
    rules, own = extract(corpus, offline), extract_elements(corpus, offline, gleanings=0)
    kept = []
    for extraction in ("annotations", rules, own, None):  # None: the model's replies
        method = METHODS["fastgraphrag"].build(
            corpus, llm="recorded", extraction=extraction, gleanings=0
        )
        gained = recall(method, corpus) - base > 0.01
        still = recall(method.with_options(damping=0), corpus) - base > 0.01
        kept.append(((gained & still).sum(), gained.sum()))
    assert kept == [(4, 8), (3, 7), (1, 3), (5, 6)]


def test_eight_passages_make_as_long_a_prompt_as_fastgraphrags(corpus, own):
    lengths = {}
    for name, k in (("fastgraphrag", 5), ("vanilla", 8), ("bm25", 8)):
        method = own if name == "fastgraphrag" else METHODS[name].build(corpus)
        before = method.llm.ledger.snapshot()  # by rules for the other two: the prompts are equal
        answer_all(method, [q.text for q in corpus.questions], k, method.short_task)
        lengths[name] = (method.llm.ledger - before)["answer"].prompt_tokens
    assert lengths["fastgraphrag"] < lengths["vanilla"] < 1.03 * lengths["fastgraphrag"]
    assert lengths["fastgraphrag"] < lengths["bm25"] < 1.03 * lengths["fastgraphrag"]


def test_fastgraphrags_reader_is_right_by_recorded_replies_alone(corpus):
    only = recording("professors")  # a prompt that it lacks is an error
    trees = (("raptor", SMALL_TREE), ("raptor-k", SMALL_K))
    plans = (
        ("vanilla", {}),
        ("bm25", {}),
        *trees,
        ("hipporag", {}),
        ("fastgraphrag", {"gleanings": 0}),
    )
    right, exact = {}, {}
    for name, options in plans:
        method = METHODS[name].build(corpus, llm=only, **options)
        replies = answer_all(method, [q.text for q in corpus.questions], 5, method.short_task)
        pairs = [(reply.text, q.answers) for reply, q in zip(replies, corpus.questions)]
        right[name] = np.array([contains(*pair) for pair in pairs])
        exact[name] = sum(exact_match(*pair) for pair in pairs)
    assert [int(each.sum()) for each in right.values()] == [16, 21, 19, 20, 20, 23]
    assert [*exact.values()] == [16, 21, 19, 20, 20, 22]
    gains = right["fastgraphrag"] - right["vanilla"]
    assert ((gains > 0).sum(), (gains < 0).sum()) == (7, 0)
    assert interval(100 * gains) == pytest.approx((12.5, 50.0))
    gains = right["fastgraphrag"] - right["bm25"]
    assert ((gains > 0).sum(), (gains < 0).sum()) == (3, 1)


def test_what_the_walk_reaches_and_what_lies_beside_the_name(corpus, fast):
    walked = fast.retrieve(corpus.question("q07").text, k=5).trace.last("ppr").scores
    assert ((walked < 1e-12).sum(), len(walked)) == (40, 522)
    ends = [(e.source, e.target) for e in fast.graph.edges]
    start = [n.name for n in fast.graph.nodes].index("Katarzyna Wąsik")
    beside = {b if a == start else a for a, b in ends if start in (a, b)}
    degrees = sorted(sum(i in pair for pair in ends) for i in beside)
    assert degrees == [1, 1, 1, 1, 1, 3, 13]


def test_one_spelling_does_not_complete_the_last_failure(corpus, fast, triples):
    def spelled(name):
        return name.replace("M. Brisling", "Matteo Brisling")

    one = replace(
        triples,
        triples={
            chunk: tuple(type(t)(spelled(t.subject), t.relation, spelled(t.object)) for t in found)
            for chunk, found in triples.triples.items()
        },
        entities={chunk: tuple(map(spelled, found)) for chunk, found in triples.entities.items()},
    )
    joined = METHODS["fastgraphrag"].build(corpus, llm="recorded", extraction=one)
    q19 = corpus.question("q19")
    ranks = [
        [method.retrieve(q19.text, k=10).ids.index(gold) + 1 for gold in ("p30", "p31")]
        for method in (fast, joined)
    ]
    assert ranks == [[8, 6], [7, 6]]


@pytest.mark.slow  # all questions, over other graphs
def test_names_in_the_text_of_a_node_gain_by_the_number_of_passages(corpus, own):
    named, counts = own.with_options(node_text="name and description"), {}
    for k in (3, 5, 8, 10):
        found = [
            [len({*q.gold} & {*m.retrieve(q.text, k=k).ids}) for q in corpus.questions]
            for m in (named, own)
        ]
        pairs = list(zip(*found))
        counts[k] = (sum(a > b for a, b in pairs), sum(a < b for a, b in pairs))
    assert counts == {3: (2, 2), 5: (3, 0), 8: (1, 0), 10: (2, 0)}


def named_in(method, q):
    return list(method.retrieve(q.text, k=5).trace.last("entities").entities)


def test_what_else_the_graph_and_the_surveys_questions_cost(corpus, own):
    several = [sum(len(each.chunks) > 1 for each in own.graph.nodes)]
    several.append(sum(len(each.chunks) > 1 for each in own.graph.edges))
    assert several == [22, 2] and own.llm.ledger["build"].calls == len(corpus.chunks) + 24
    before = own.llm.ledger.snapshot()
    for q in corpus.questions:
        own.retrieve(q.text, k=5)
    assert (own.llm.ledger - before)["retrieve"].calls == 24
    tables = load_expected("survey_tables")
    tokens = tables["table_7"]["rows"]
    assert min(tokens["fastgraphrag"][1::2]) == 5874.8 and max(tokens["raptor"][1::2]) == 4140.7
    rows = tables["table_12"]["rows"]
    assert rows["raptor Llama-3-70B"][3] == rows["fastgraphrag Llama-3-70B"][3]


def by_hand(corpus, own, q, links, near, damping=0.85):
    """The five passages by the chapter's cells: Link by `links`, VDB by the index `near`."""
    places, cosines = near.search([q.text], k=4)
    similarity = (1 + cosines[0]) / 2
    restart = np.zeros(len(own.graph.nodes))
    restart[places[0]] = similarity / similarity.sum()
    restart[links] = 1
    walk = personalized_pagerank(own.transition, restart, damping)
    edges, chunks = own.graph.edges, range(len(corpus.chunks))
    scores = [sum(walk[e.source] + walk[e.target] for e in edges if i in e.chunks) for i in chunks]
    return [corpus.chunks[i].id for i in sorted(chunks, key=lambda i: -scores[i])[:5]]


def nearest_to(names, index):
    return index.search(names, k=1)[0][:, 0] if names else []


def scored(corpus, own, q, links, share=1.0, damping=0.85, total=np.sum):
    """The score of each passage by the chapter's cells; share: what VDB hands out."""
    places, cosines = own.entity_index.search([q.text], k=4)
    similarity = (1 + cosines[0]) / 2
    walk = np.zeros(len(own.graph.nodes))
    walk[places[0]] = share * similarity / similarity.sum()
    walk[links] = 1
    if walk.any():
        walk = personalized_pagerank(own.transition, walk, damping)
    found = {}
    for i, chunk in enumerate(corpus.chunks):
        stated = [walk[e.source] + walk[e.target] for e in own.graph.edges if i in e.chunks]
        found[chunk.id] = round(float(total(stated)), 9)
    return found


def gold_range(scores, gold, k=5):
    """The gold passages among the first k with equal scores in the worst and the best order."""
    last = sorted(scores.values())[-k]
    sure = sum(scores[g] > last for g in gold)
    tied, places = sum(scores[g] == last for g in gold), k - sum(s > last for s in scores.values())
    others = sum(s == last for s in scores.values()) - tied
    return sure + max(0, places - others), sure + min(places, tied)


def test_gold_without_each_operator_in_the_worst_and_the_best_order(corpus, own):
    changes = {
        "as it is": {},
        "link": {},
        "vdb": {"share": 0.0},
        "walk": {"damping": 0},
        "mean": {"total": np.mean},
    }
    sums, loose = {}, {}
    for name, change in changes.items():
        ranges = {}
        for q in corpus.questions:
            names = [] if name == "link" else named_in(own, q)
            links = nearest_to(names, own.entity_index)
            scores = scored(corpus, own, q, links, **change)
            ranges[q.id] = gold_range(scores, q.gold)
            if name == "walk" and q.id == "q10":
                assert scores["p39"] == 0 and [*scores.values()].count(0) == 36
        sums[name] = tuple(map(sum, zip(*ranges.values())))
        loose[name] = [each for each, (low, high) in ranges.items() if low < high]
    assert sums == {
        "as it is": (32, 32),
        "link": (30, 30),
        "vdb": (29, 30),
        "walk": (28, 33),
        "mean": (33, 33),
    }
    assert loose == {
        "as it is": [],
        "link": [],
        "vdb": ["q04"],
        "walk": ["q09", "q10", "q15", "q18"],
        "mean": [],
    }
    assert not named_in(own, corpus.question("q04"))


def test_the_order_by_gold_turns_between_four_and_five_passages(corpus, flat, bm25, tree, own):
    counts = {}
    for k in (4, 5):
        found = [
            [len({*q.gold} & {*m.retrieve(q.text, k=5).ids[:k]}) for q in corpus.questions]
            for m in (flat, bm25, tree, own)
        ]
        counts[k] = [sum(each) for each in found]
    assert counts == {4: [27, 29, 25, 31], 5: [27, 33, 26, 32]}


def test_at_equal_words_both_searches_read_more_gold_passages_and_fewer_answers(
    corpus, flat, bm25, own
):
    rows = {}
    for method, k in ((flat, 8), (bm25, 8), (own, 4)):
        words, there, gold = 0, 0, 0
        for q in corpus.questions:
            found = method.retrieve(q.text, k=k)
            parts, _ = method.context(found)
            text = " ".join(text for texts in parts.values() for text in texts)
            words, there = words + len(text.split()), there + bool(contains(text, q.answers))
            gold += len({*q.gold} & {*found.ids[:k]})
        rows[method.name] = (words // len(corpus.questions), there, gold)
    assert [*rows.values()] == [(779, 20, 32), (780, 22, 36), (750, 23, 31)]


def test_q10_needs_the_walk_and_not_link(corpus, own):
    q10, index = corpus.question("q10"), own.entity_index
    links = nearest_to(named_in(own, q10), index)
    assert by_hand(corpus, own, q10, links, index).index("p39") == 3
    assert by_hand(corpus, own, q10, [], index).index("p39") == 2
    assert by_hand(corpus, own, q10, links, index, damping=0)[4] == "p01"
    changed = {}
    for q in corpus.questions:
        links = nearest_to(named_in(own, q), index)
        counts = [
            len({*q.gold} & {*by_hand(corpus, own, q, links, index, damping)})
            for damping in (0.85, 0)
        ]
        if counts[0] != counts[1]:
            changed[q.id] = counts[0] - counts[1]
    assert changed.pop("q18", 1) == 1  # by the order of equal scores
    assert changed == {"q09": 1, "q10": 1, "q19": -1, "q21": 1}


def test_without_the_walk_both_gold_passages_of_q18_tie_for_two_places(corpus, own):
    q18 = corpus.question("q18")
    found = own.with_options(damping=0).retrieve(q18.text, k=8)
    scores = {p.chunk.id: round(p.score, 5) for p in found}
    tied = [name for name, score in scores.items() if score == scores["p25"]]
    assert {*tied} == {"p06", "p17", "p25", "p26"} and {*q18.gold} == {"p25", "p26"}
    assert sum(score > scores["p25"] for score in scores.values()) == 3


def test_six_questions_miss_the_disease_and_one_reader_of_them_is_wrong(corpus, own):
    labels = [n.name for n in own.graph.nodes]
    asked = [q for q in corpus.questions if "Lanthorn's Disease" in named_in(own, q)]
    assert [q.id for q in asked] == ["q02", "q08", "q13", "q14", "q16", "q20"]
    [linked] = {labels[i] for i in nearest_to(["Lanthorn's Disease"], own.entity_index)}
    right = dict(zip([q.id for q in corpus.questions], is_right(own, corpus)))
    assert linked == "Skerrow Cohort" and [q.id for q in asked if not right[q.id]] == ["q20"]


def test_what_is_found_with_another_link_and_without_link_or_walk(corpus, own):
    """The gold passages behind the sums of Sections 4 and 6."""
    labels, index = [n.name for n in own.graph.nodes], own.entity_index
    both = own.with_options(node_text="name and description").entity_index

    def exact(names):
        return [labels.index(n) if n in labels else nearest_to([n], index)[0] for n in names]

    rows = {
        "as it is": lambda names: nearest_to(names, index),
        "without Link": lambda names: [],
        "exact names": exact,
        "both texts": lambda names: nearest_to(names, both),
    }
    found = {
        row: {
            f"{q.id}-{p}"
            for q in corpus.questions
            for p in {*q.gold} & {*by_hand(corpus, own, q, links(named_in(own, q)), index)}
        }
        for row, links in rows.items()
    }
    base = found.pop("as it is")
    assert len(base) == 32
    changes = {row: (len(pairs), pairs - base, base - pairs) for row, pairs in found.items()}
    assert changes == {
        "without Link": (30, {"q16-p02", "q19-p30"}, {"q09-p32", "q14-p17", "q16-p19", "q18-p26"}),
        "exact names": (34, {"q13-p03", "q14-p15", "q16-p02", "q19-p30"}, {"q13-p04", "q14-p17"}),
        "both texts": (33, {"q13-p03", "q20-p24"}, {"q13-p04"}),
    }


def test_its_four_passages_alone_hold_as_many_answers_as_bm25s_five(corpus, bm25, own):
    alone, words = {}, 0
    for q in corpus.questions:
        parts, _ = own.context(own.retrieve(q.text, k=5))
        assert len(parts["passages"]) == 4
        words += len(" ".join(parts["passages"]).split())
        holds = [part for part, texts in parts.items() if contains(" ".join(texts), q.answers)]
        if "passages" not in holds:
            alone[q.id] = holds
    assert alone == {"q09": ["entities"], "q19": ["entities"], "q20": []}
    assert words // len(corpus.questions) == 393
    assert sum(bool(contains(context(bm25, q), q.answers)) for q in corpus.questions) == 21
    fifth = own.retrieve(corpus.question("q09").text, k=5).ids[4]
    assert fifth == "p32" and fifth in corpus.question("q09").gold
    q19 = corpus.question("q19")
    assert not {*q19.gold} & {*own.retrieve(q19.text, k=5).ids}


def test_links_text_alone_mends_q20_and_the_exact_name_does_not(corpus, own):
    q20, labels, index = corpus.question("q20"), [n.name for n in own.graph.nodes], own.entity_index
    both = own.with_options(node_text="name and description").entity_index
    names = named_in(own, q20)
    exact = [labels.index(name) for name in names]
    assert not {*q20.gold} & {*by_hand(corpus, own, q20, exact, index)}
    assert not {*q20.gold} & {*by_hand(corpus, own, q20, exact, both)}
    links = nearest_to(names, both)
    assert by_hand(corpus, own, q20, links, index)[0] == "p24"
    assert not {labels[i] for i in links} & {*names}
    totals = [
        sum(
            len({*q.gold} & {*by_hand(corpus, own, q, nearest_to(named_in(own, q), link), near)})
            for q in corpus.questions
        )
        for link, near in ((index, index), (both, index), (index, both), (both, both))
    ]
    assert totals == [32, 33, 32, 35]


def test_what_is_read_holds_an_answer_and_whose_reader_gives_it(corpus, flat, bm25, tree, own):
    there, wrong = [], []
    for method in (flat, bm25, tree, own):
        held_ = [contains(context(method, q), q.answers) for q in corpus.questions]
        given = is_right(method, corpus)
        there.append(int(sum(held_)))
        wrong.append([q.id for q, right in zip(corpus.questions, given) if not right])
        assert not [1 for a, b in zip(held_, given) if b > a], "right, and not read"
    assert there == [17, 21, 21, 23] and [*map(len, wrong)] == [8, 3, 5, 1]
    assert wrong[1] == ["q10", "q11", "q16"] and wrong[3] == ["q20"]


def test_only_the_graph_costs_more_completion_than_prompt(corpus, tree, own):
    paid = [method.llm.ledger["build"] for method in (tree, own)]
    assert paid[0].prompt_tokens > paid[0].completion_tokens
    assert paid[1].prompt_tokens < paid[1].completion_tokens
    tables = load_expected("survey_tables")
    rows = tables["table_5"]["rows"]
    assert all(a > b for a, b in zip(rows["raptor"], rows["fastgraphrag"]))
    rows = tables["table_12"]["rows"]
    pairs = zip(rows["raptor Llama-3-70B"], rows["fastgraphrag Llama-3-70B"])
    assert [a > b for a, b in pairs] == [True, True, True, False, True]
    pairs = zip(rows["vanilla Llama-3-70B"], rows["fastgraphrag Llama-3-70B"])
    assert [a > b for a, b in pairs] == [True, False, False, False, True]
    leaves = [shares[0] for shares in tables["table_8"]["rows"].values()]
    assert (min(leaves), max(leaves)) == (59.3, 90.6)


def test_without_the_walk_only_four_passages_of_the_question_have_a_score(corpus, own):
    found = own.with_options(damping=0).retrieve(corpus.question("q10").text, k=40)
    assert [p.chunk.id for p in found if p.score > 0] == ["p16", "p17", "p25", "p27"]


def test_links_wrong_names_and_what_two_mends_bring(corpus, own):
    """With the names embedded, and with Link alone sent to the entity of the name."""
    questions, labels = corpus.questions, [n.name for n in own.graph.nodes]
    both = own.with_options(node_text="name and description")
    found = []
    for method in (own, both):
        elsewhere = [
            (q.id, name, labels[to.index])
            for q in questions
            for name, to in zip(
                named_in(method, q), method.retrieve(q.text).trace.last("link").nodes
            )
            if name in labels and labels[to.index] != name
        ]
        gold = sum(len({*q.gold} & {*method.retrieve(q.text, k=5).ids}) for q in questions)
        found.append((len(elsewhere), len({row[0] for row in elsewhere}), gold))
        if method is own:
            harmless = [
                row
                for row in elsewhere
                if row[1:] == ("University of Veldmark", "Veldmark University")
            ]
            right = dict(zip([q.id for q in questions], is_right(own, corpus)))
            assert len(harmless) == 4
            assert sum(right[name] for name in {row[0] for row in elsewhere}) == 14
    assert found[0] == (19, 15, 32) and (found[1][0], found[1][2]) == (12, 35)
    assert sum(name in labels for q in questions for name in named_in(own, q)) == 36
    assert both.retrieve(corpus.question("q20").text, k=5).ids[0] == "p24"

    index, edges = own.entity_index, own.graph.edges
    gained = {}
    for q in questions:
        names, counts = named_in(own, q), []
        places, cosines = index.search([q.text], k=4)
        similarity = (1 + cosines[0]) / 2
        for exact in (False, True):
            linked = index.search(names, k=1)[0][:, 0] if names else []
            if exact:
                linked = [labels.index(n) if n in labels else i for n, i in zip(names, linked)]
            restart = np.zeros(len(labels))
            restart[places[0]] = similarity / similarity.sum()
            restart[linked] = 1
            walk = personalized_pagerank(own.transition, restart, damping=0.85)
            scores = np.zeros(len(corpus.chunks))
            for edge in edges:
                scores[[*edge.chunks]] += walk[edge.source] + walk[edge.target]
            best = [corpus.chunks[i].id for i in np.argsort(-scores, kind="stable")[:5]]
            if not exact:
                assert best == [*own.retrieve(q.text, k=5).ids], "by hand as by the package"
            counts.append(len({*q.gold} & {*best}))
        if counts[0] != counts[1]:
            gained[q.id] = counts[1] - counts[0]
    assert gained == {"q16": 1, "q19": 1}


def test_no_relation_joins_the_two_spellings_of_the_adviser(own):
    labels = [node.name for node in own.graph.nodes]
    pair = {labels.index(name) for name in ("Jonah Birtwhistle", "Dr Jonah Birtwhistle")}
    assert not [edge for edge in own.graph.edges if {edge.source, edge.target} == pair]


def test_at_four_passages_ties_without_the_walk_leave_27_to_30_gold_passages(corpus, own):
    found = {}
    for name, change in {"walk": {"damping": 0}, "vdb": {"share": 0.0}}.items():
        ranges = {}
        for q in corpus.questions:
            links = nearest_to(named_in(own, q), own.entity_index)
            scores = scored(corpus, own, q, links, **change)
            ranges[q.id] = gold_range(scores, q.gold, k=4)
            if name == "walk" and q.id == "q10":
                assert [*scores.values()].count(0) == 36
        loose = [each for each, (low, high) in ranges.items() if low < high]
        found[name] = tuple(map(sum, zip(*ranges.values()))), loose
    assert found["walk"][0] == (27, 30)
    assert found["vdb"] == ((28, 29), ["q04"])


def read_with_scores(corpus, own, relations=None, damping=0.85, tie=1):
    """Gold passages among the first four with a score, gold last among equals and gold first; q10's
    scores. relations: how many hand on their score; tie: which of equal relations comes first.
    """
    edges, worst, best = own.graph.edges, set(), set()
    for q in corpus.questions:
        places, cosines = own.entity_index.search([q.text], k=4)
        walk = np.zeros(len(own.graph.nodes))
        walk[places[0]] = (1 + cosines[0]) / (1 + cosines[0]).sum()
        walk[nearest_to(named_in(own, q), own.entity_index)] = 1
        walk = personalized_pagerank(own.transition, walk, damping)
        related = [round(walk[e.source] + walk[e.target], 12) for e in edges]
        order = sorted(range(len(edges)), key=lambda e: (-related[e], tie * e))[:relations]
        sums = {
            chunk.id: round(sum(related[e] for e in order if i in edges[e].chunks), 9)
            for i, chunk in enumerate(corpus.chunks)
        }
        for found, first in ((worst, False), (best, True)):
            ranked = sorted(sums, key=lambda p: (-sums[p], (p in q.gold) != first))[:4]
            found |= {(q.id, p) for p in ranked if p in q.gold and sums[p] > 0}
        if q.id == "q10":
            kept = sums
    return worst, best, kept


def test_how_many_relations_hand_on_their_scores(corpus, own):
    whole, _, scores = read_with_scores(corpus, own)
    assert len(whole) == 31 and rank_in(scores, "p39") == 4
    found = {}
    for relations in (16, 8, 4):
        rows = [read_with_scores(corpus, own, relations, tie=tie) for tie in (1, -1)]
        assert rows[0] == rows[1], "the order of equal relations changes nothing"
        worst, best, scores = rows[0]
        assert worst == best
        scored = sum(score > 0 for score in scores.values())
        p39 = scores["p39"] > 0 and rank_in(scores, "p39")
        found[relations] = scored, p39, len(worst), len(whole - worst), len(worst - whole)
        other = own.with_options(aggregate="kept", relation_k=relations, entity_k=None)
        first = [p.chunk.id for p in other.retrieve(corpus.question("q10").text) if p.score > 0]
        assert ("p39" in first) == bool(p39), "the package does the same"
    assert found == {16: (4, 4, 28, 4, 1), 8: (3, False, 24, 8, 1), 4: (3, False, 19, 13, 1)}


def test_with_a_score_the_first_four_hold_27_to_29_gold_passages_without_the_walk(corpus, own):
    worst, best, scores = read_with_scores(corpus, own, damping=0)
    assert (len(worst), len(best)) == (27, 29) and scores["p39"] == 0
    assert sum(score > 0 for score in scores.values()) == 4
    worst, best, scores = read_with_scores(corpus, own, damping=0.01)
    assert (len(worst), len(best), rank_in(scores, "p39")) == (30, 30, 5)
    assert sum(score > 0 for score in scores.values()) == 29


def test_without_vdb_its_operators_are_hipporags():
    fast, hippo = (METHODS[name].operators for name in ("fastgraphrag", "hipporag"))
    assert fast["node"] == ("Link", "VDB", "PPR") and hippo["node"] == ("Link", "PPR")
    assert {**fast, "node": None} == {**hippo, "node": None}


def test_an_entity_without_an_edge_sends_its_whole_score_back():
    line = np.zeros((4, 4))
    for a, b in ((0, 1), (1, 2)):
        line[a, b] = line[b, a] = 1
    walk = personalized_pagerank(transition_matrix(line), np.array([1.0, 0, 0, 1]), damping=0.8)
    assert walk == pytest.approx(np.array([17, 20, 8, 9]) / 54, abs=1e-6)
    shares, steps = np.array([0.5, 0, 0, 0.5]), line / np.maximum(line.sum(axis=1), 1)[:, None]
    home = 0.2 * walk[:3].sum() + walk[3]  # all that is sent back
    assert walk == pytest.approx(home * shares + 0.8 * walk @ steps, abs=1e-6)


def test_another_text_for_link_brings_at_most_one_gold_passage_more(corpus, own):
    labels, rows = [n.name for n in own.graph.nodes], {}
    for text in ("description", "name", "name and description"):
        index, gold, same = own.with_options(node_text=text).entity_index, 0, []
        for q in corpus.questions:
            names = named_in(own, q)
            links = nearest_to(names, index)
            same += [labels[i] == name for i, name in zip(links, names) if name in labels]
            scores = scored(corpus, own, q, links)
            gold += sum(rank_in(scores, name) <= 4 for name in q.gold)
        rows[text] = (sum(same), len(same), gold)
    assert rows["description"] == (17, 36, 31)
    assert [row[2] for row in rows.values()] == [31, 31, 32] and rows["name"][:2] == (36, 36)


def test_the_toy_on_paper():
    names = ["Organ", "Winner", "Medal", "Society", "Founder", "Town"]
    stated = {(0, 1): "C", (1, 2): "A", (2, 3): "A", (3, 4): "B", (4, 5): "B"}
    weights = np.zeros((6, 6))
    for a, b in stated:
        weights[a, b] = weights[b, a] = 1
    restart = np.array([0, 0.2, 0.8, 0, 0, 0])

    def passages(scores):
        sums = {"A": 0.0, "B": 0.0, "C": 0.0}
        for (a, b), passage in stated.items():
            sums[passage] += scores[a] + scores[b]
        return [sums[name] for name in "ABC"]

    def walked(scores, damping, steps):
        for _ in range(steps):
            sent = weights.T @ (scores / weights.sum(axis=1))
            scores = (1 - damping) * restart + damping * sent
        return scores

    two = walked(restart, 0.5, 2)
    assert dict(zip(names, two)) == pytest.approx(
        dict(zip(names, [0.075, 0.2375, 0.525, 0.1125, 0.05, 0]))
    )
    assert passages(two) == pytest.approx([1.4, 0.2125, 0.3125])
    assert passages(walked(restart, 0.85, 2))[1:] == pytest.approx([0.3761, 0.3466], abs=5e-5)
    still = personalized_pagerank(transition_matrix(weights), restart, damping=0.85)
    assert still == pytest.approx(walked(restart, 0.85, 300), abs=1e-6)
    low, high = passages(walked(restart, 0.5, 300)), passages(still)
    assert low[1] < low[2] and high[1] > high[2], "B passes C by the damping alone"


def test_only_one_entity_of_p39_is_beside_a_restart_entity_and_dunmore_is_beside_neither(own):
    """What the drawing around the medal and the society shows."""
    labels = [n.name for n in own.graph.nodes]
    pairs = [{labels[e.source], labels[e.target]} for e in own.graph.edges]
    for other in ("Candlemas Medal", "Royal Hesper Society"):
        assert {"Hamish Dunmore", other} not in pairs
    starts = {"Candlemas Medal", "Establishment of the award in 1932", "Katarzyna Wasik"}
    starts.add("Hamish Dunmore")
    stated = [pairs[i] for i, e in enumerate(own.graph.edges) if 38 in e.chunks]
    assert len(stated) == 7 and sum("Royal Hesper Society" in pair for pair in stated) == 5
    beside = {n for n in set().union(*stated) if any({n, start} in pairs for start in starts)}
    assert beside == {"Royal Hesper Society"}


def test_from_one_entity_alone_each_gold_passage_of_q20_needs_its_own_spelling(corpus, own):
    labels = [n.name for n in own.graph.nodes]
    found = {}
    clock = "Development of the Quillon tide clock"
    for name in ("Lanthorn's Disease", "Jonah Birtwhistle", "Dr Jonah Birtwhistle", clock):
        reset = np.zeros(len(labels))
        reset[labels.index(name)] = 1
        walk = personalized_pagerank(own.transition, reset, damping=0.85)
        scores = [
            sum(walk[e.source] + walk[e.target] for e in own.graph.edges if i in e.chunks)
            for i in range(len(corpus.chunks))
        ]
        found[name] = [sum(s >= scores[i] for s in scores) for i in (22, 23)]  # p23, p24
    assert [*found.values()] == [[25, 20], [1, 18], [26, 1], [26, 1]]
    chunks = {n.name: n.chunks for n in own.graph.nodes}
    assert chunks["Jonah Birtwhistle"] == (22,) and chunks["Dr Jonah Birtwhistle"] == (23,)


def test_the_reader_gets_four_passages_entities_and_relations(corpus, own):
    for q in corpus.questions:
        parts, _ = own.context(own.retrieve(q.text, k=4))
        assert {part: len(texts) for part, texts in parts.items()} == {
            "entities": 4, "relations": 4, "passages": 4
        }  # fmt: skip


def test_the_surveys_numbers_beside_vector_search_and_hipporag():
    tables = load_expected("survey_tables")
    larger = tables["table_12"]["rows"]
    assert larger["fastgraphrag Llama-3-70B"] == [54.069, 55.787, 35.658, 12.236, 65.612]
    assert larger["vanilla Llama-3-70B"] == [56.768, 49.127, 34.961, 9.810, 68.038]
    rows, columns = tables["table_5"]["rows"], tables["table_5"]["columns"]
    above = {"vanilla": set(), "hipporag": set()}
    below = {"vanilla": set(), "hipporag": set()}
    for name in above:
        for column, fast, other in zip(columns, rows["fastgraphrag"], rows[name]):
            if other is not None:
                (above if fast > other else below)[name].add(column.split()[0])
    five = {"Quality", "PopQA", "MusiqueQA", "HotpotQA"}
    assert above["vanilla"] == {"MultihopQA"} and below["vanilla"] == five | {"ALCE"}
    assert above["hipporag"] == {"ALCE"} and below["hipporag"] == five | {"MultihopQA"}
    cost = tables["table_7"]["rows"]
    ends = {
        name: [
            (min(each), max(each))
            for each in ([x for x in cost[name][0::2] if x is not None], cost[name][1::2])
        ]
        for name in ("fastgraphrag", "vanilla")
    }
    assert ends["fastgraphrag"] == [(3.48, 28.71), (5874.8, 6157.0)]
    assert ends["vanilla"] == [(1.10, 2.35), (644.1, 4502.0)]
    assert [cost[name][:2] for name in ("fastgraphrag", "vanilla")] == [
        [7.17, 5874.8],
        [2.35, 3623.4],
    ]
    times = zip(cost["fastgraphrag"][0::2], cost["vanilla"][0::2])
    assert all(ours > theirs for ours, theirs in times if theirs is not None)


def test_p39_alone_of_the_twelve_texts_holds_the_answer(corpus, flat, own):
    q10 = corpus.question("q10")
    parts, _ = own.context(own.retrieve(q10.text, k=4))
    texts = [text for part in parts.values() for text in part]
    holding = [text for text in texts if contains(text, q10.answers)]
    assert len(texts) == 12 and len(holding) == 1
    assert holding[0] == parts["passages"][3] and holding[0].startswith("Royal Hesper Society")
    assert flat.retrieve(q10.text, k=40).ids.index("p39") == 5


def test_the_tide_clock_alone_brings_p24_which_holds_an_answer_by_itself(corpus, own):
    q20, labels = corpus.question("q20"), [n.name for n in own.graph.nodes]
    ranks = {}
    for name in ("Development of the Quillon tide clock", "Lanthorn Disease"):
        scores = scored(corpus, own, q20, [labels.index(name)])
        ranks[name] = sum(score >= scores["p24"] for score in scores.values())
    assert [*ranks.values()] == [1, 7]
    [p24] = [chunk.passage for chunk in corpus.chunks if chunk.id == "p24"]
    assert contains(p24, q20.answers) and "Dr Jonah Birtwhistle" in p24


def test_its_own_description_is_the_fourth_nearest_to_the_name_of_the_disease(own):
    places, cosines = own.entity_index.search(["Lanthorn's Disease"], k=6)
    labels = [own.graph.nodes[i].name for i in places[0]]
    assert labels[0] == "Skerrow Cohort" and labels[3] == "Lanthorn's Disease"
    assert cosines[0] == pytest.approx([0.806, 0.795, 0.722, 0.671, 0.668, 0.654], abs=1e-3)


def test_gold_passages_over_the_damping(corpus, own):
    counts = []
    for damping in (0, 0.1, 0.5, 0.8, 0.85, 0.9, 0.95, 0.99):
        found = 0
        for q in corpus.questions:
            links = nearest_to(named_in(own, q), own.entity_index)
            scores = scored(corpus, own, q, links, damping=damping)
            found += sum(sum(s >= scores[g] for s in scores.values()) <= 4 for g in q.gold)
        counts.append(found)
    assert counts == [27, 30, 29, 31, 31, 31, 30, 26]


def test_what_the_reader_gets_on_q16_and_q19_and_where_all_gold_passages_are(corpus, bm25, own):
    whole = {
        method.name: sum({*q.gold} <= {*method.retrieve(q.text, k=k).ids[:k]} for q in
                         corpus.questions)
        for method, k in ((bm25, 5), (own, 4))
    }  # fmt: skip
    assert [*whole.values()] == [15, 15]
    read = {name: {*own.retrieve(corpus.question(name).text, k=4).ids} for name in ("q16", "q19")}
    gold = {name: {*corpus.question(name).gold} for name in read}
    assert read["q16"] & gold["q16"] == {"p19"} and not read["q19"] & gold["q19"]
    parts, _ = own.context(own.retrieve(corpus.question("q16").text, k=4))
    texts = [text for part in parts.values() for text in part]
    assert not [text for text in texts if "Yuzhen" in text and "Lanthorn" in text]


def rank_in(scores, name):
    """As the chapter counts: among equal scores the last."""
    return sum(score >= scores[name] for score in scores.values())


def test_its_question_is_not_typical(corpus, flat, bm25, own):
    def missed(k):
        found = set()
        for q in corpus.questions:
            texts = [method.context(method.retrieve(q.text, k=k))[0] for method in (flat, bm25)]
            both = [" ".join(t for part in parts.values() for t in part) for parts in texts]
            found |= set() if any(contains(text, q.answers) for text in both) else {q.id}
        return found

    assert missed(5) == {"q10", "q16"} and not missed(8)
    read = {name: context(own, corpus.question(name)) for name in missed(5)}
    assert all(contains(read[name], corpus.question(name).answers) for name in read)


def test_one_woman_is_two_entities_and_one_of_them_is_a_restart_entity(corpus, own):
    chunks = {n.name: n.chunks for n in own.graph.nodes}
    assert chunks["Katarzyna Wąsik"] == (14,) and chunks["Katarzyna Wasik"] == (16,)
    texts = {chunk.id: chunk.passage for chunk in corpus.chunks}
    assert "trained as an organist before turning to medicine" in texts["p15"]
    assert "organist turned neuroscientist, Katarzyna Wasik as the concert bills" in texts["p17"]
    q10, index = corpus.question("q10"), own.entity_index
    near = [index.labels[i] for i in index.search([q10.text], k=4)[0][0]]
    assert near[2:] == ["Katarzyna Wasik", "Hamish Dunmore"]


def test_p39_just_enters_the_four(corpus, own):
    q10, index = corpus.question("q10"), own.entity_index
    links = nearest_to(named_in(own, q10), index)
    found = {
        damping: rank_in(scored(corpus, own, q10, links, damping=damping), "p39")
        for damping in (0.3, 0.5, 0.85)
    }
    assert found == {0.3: 5, 0.5: 5, 0.85: 4}
    started = {*links, *index.search([q10.text], k=4)[0][0]}
    ends = {i for e in own.graph.edges if 38 in e.chunks for i in (e.source, e.target)}
    assert not started & ends


def test_sign_tests():
    def two_sided(more, less):
        n = more + less
        return min(1, 2 * sum(comb(n, i) for i in range(min(more, less) + 1)) / 2**n)

    assert two_sided(3, 1) == 0.625
    rows = {"Link": (4, 1), "VDB": (4, 1), "walk": (4, 0), "damping 0.01": (2, 1)}
    found = {name: two_sided(*row) for name, row in rows.items()}
    assert found == {"Link": 0.375, "VDB": 0.375, "walk": 0.125, "damping 0.01": 1}


def test_what_elsewhere_counts(corpus, own):
    """Another label is an error only where the name has an entity that is not the same thing."""
    labels, names = list(own.entity_index.labels), []
    for q in corpus.questions:
        asked = named_in(own, q)
        names += zip(asked, (labels[i] for i in nearest_to(asked, own.entity_index)))
    other = [pair for pair in names if pair[0] != pair[1]]
    assert (len(other), len(names)) == (21, 38)
    assert other.count(("University of Veldmark", "Veldmark University")) == 4
    missing = [name for name, _ in names if name not in labels]
    assert missing == ["Tamsin Chronoscope", "folding hydrophone"]


def test_which_changes_bring_the_gold_passages_of_q20(corpus, own):
    q20, labels = corpus.question("q20"), [n.name for n in own.graph.nodes]
    both = own.with_options(node_text="name and description").entity_index
    man, doctor, disease = (
        labels.index(name)
        for name in ("Jonah Birtwhistle", "Dr Jonah Birtwhistle", "Lanthorn's Disease")
    )
    places, cosines = own.entity_index.search([q20.text], k=4)
    similarity = (1 + cosines[0]) / 2

    def ranks(index, merge, relation, total, damping=0.85):
        rows = [(e.source, e.target, e.chunks) for e in own.graph.edges]
        rows = [(*(man if merge and i == doctor else i for i in row[:2]), row[2]) for row in rows]
        rows += [(man, disease, (22,))] * relation
        weights = np.zeros((len(labels), len(labels)))
        for a, b, _ in rows:
            weights[a, b] = weights[b, a] = 1
        restart = np.zeros(len(labels))
        restart[places[0]] = similarity / similarity.sum()
        restart[nearest_to(named_in(own, q20), index)] = 1
        walk = personalized_pagerank(transition_matrix(weights), restart, damping)
        scores = {
            chunk.id: total([walk[a] + walk[b] for a, b, chunks in rows if i in chunks])
            for i, chunk in enumerate(corpus.chunks)
        }
        return tuple(rank_in(scores, name) for name in q20.gold)

    graphs = ((False, False), (False, True), (True, False), (True, True))
    found = {
        (name, total.__name__): [ranks(index, *graph, total) for graph in graphs]
        for name, index in (("descriptions", own.entity_index), ("both", both))
        for total in (sum, np.mean)
    }
    assert found == {
        ("descriptions", "sum"): [(25, 8), (18, 8), (22, 8), (15, 8)],
        ("descriptions", "mean"): [(21, 6), (16, 6), (17, 6), (14, 6)],
        ("both", "sum"): [(29, 1), (17, 1), (11, 1), (9, 1)],
        ("both", "mean"): [(24, 2), (14, 2), (6, 2), (4, 2)],
    }
    brought = [row for rows in found.values() for row in rows if row[0] <= 4]
    assert brought == [(4, 2)], "one of sixteen settings brings p23"
    assert all(row[1] > 4 for total in ("sum", "mean") for row in found["descriptions", total])
    others = {d: ranks(both, True, True, np.mean, d)[0] for d in (0.5, 0.7, 0.9, 0.95)}
    assert others == {0.5: 5, 0.7: 3, 0.9: 6, 0.95: 7}


def test_bm25s_reader_of_q20_gets_p24_without_p23_and_is_right(corpus):
    q20 = corpus.question("q20")
    method = METHODS["bm25"].build(corpus, llm=recording("professors"))  # recorded replies alone
    found = method.retrieve(q20.text, k=5).ids
    assert "p24" in found and "p23" not in found
    assert contains(method.answer(q20.text, task=method.short_task).text, q20.answers)


def test_three_of_five_comparisons_turn_with_the_larger_model_and_alce_has_other_chunks():
    tables = load_expected("survey_tables")
    larger, five = tables["table_12"], tables["table_5"]
    pairs = [
        (larger["rows"][f"fastgraphrag {llm}"], larger["rows"][f"vanilla {llm}"])
        for llm in ("Llama-3-8B", "Llama-3-70B")
    ]
    above = [[a > b for a, b in zip(*pair)] for pair in pairs]
    assert above == [[True, True, False, False, False], [False, True, True, True, False]]
    assert larger["columns"][2] == "ALCEAll STRREC" and five["columns"][9] == "ALCE STRREC"
    small = larger["rows"]["fastgraphrag Llama-3-8B"]
    assert small[:2] == five["rows"]["fastgraphrag"][:2]
    assert (small[2], five["rows"]["fastgraphrag"][9]) == (27.258, 30.190)


def test_of_bm25s_eight_passages_and_fastgraphrags_four_neither_is_clearly_ahead(corpus, bm25, own):
    gold = []
    for q in corpus.questions:
        wide, four = (
            {*method.retrieve(q.text, k=k).ids[:k]} & {*q.gold}
            for method, k in ((bm25, 8), (own, 4))
        )
        gold.append(len(wide) - len(four))
    ahead, behind = sum(g > 0 for g in gold), sum(g < 0 for g in gold)
    assert (sum(gold), ahead, behind) == (5, 6, 2)
    assert round(binomtest(ahead, ahead + behind).pvalue, 2) == 0.29
    assert round(binomtest(7, 7).pvalue, 3) == 0.016
