"""What chapter 17b (measuring a change) says beyond the old chapter 17, computed another way: the
control with as many nodes as Link, one corpus at a time, and what the bootstrap's figures show.
"""

from itertools import product

import numpy as np
import pytest

import minirag as mr
from minirag.evaluate import recall_at_k

SETS = {
    "professors": "annotations", "mini_wiki": "triples", "textbook": "annotations",
    "harbor_news": "annotations",
}  # fmt: skip
N, R, C = "node VDB", "relationship Onehop", "chunk Occurrence"
RULES = "left empty", "filled"
LISTS = {
    "N, R, C": (N, R, C),
    "Link": ("node Link", R, C),
    "Onehop": (N, "node Onehop", R, C),
    "four": ("relationship VDB", C),
    "two": (mr.OPERATORS["relationship VDB"](k=2), C),
    "flat": ("chunk VDB",),
}


@pytest.fixture(scope="module")
def measured():
    """By list, five ids at most for each question; the questions; where each stands."""
    encoder, lists, asked, where = mr.load_encoder("minilm"), {}, [], []
    lists = {name: [] for name in (*LISTS, "one", "as many")}
    for place, kind in SETS.items():
        corpus = mr.load_corpus(place)
        graph = mr.METHODS["hipporag"].build(corpus, extraction=kind).graph
        questions = [q for q in corpus.questions if q.gold]

        def results(*operators, corpus=corpus, graph=graph, questions=questions):
            made = mr.compose(graph="knowledge", operators=operators)
            method = made.build(corpus, extraction=graph, encoder=encoder)
            return method.retrieve_many([q.text for q in questions], 5)

        def found(retrieved):
            return [[p.id for p in each.passages if p.score > 0] for each in retrieved]

        by_k = {k: results(mr.OPERATORS[N](k=k), R, C) for k in (1, 2, 3)}
        for name, operators in LISTS.items():
            lists[name] += found(results(*operators))
        lists["one"] += found(by_k[1])
        for i, link in enumerate(results(*LISTS["Link"])):
            number = len(link.trace.last(mr.NodeStep).nodes)
            if number:
                same = by_k[number][i]
                assert len(same.trace.last(mr.NodeStep).nodes) == number
            lists["as many"] += found([same]) if number else [[]]
        asked += questions
        where += [place] * len(questions)
    return lists, asked, np.array(where)


def level(each, measured, rule):
    lists, asked, _ = measured
    if rule == "filled":
        each = [[*dict.fromkeys(own + more)][:5] for own, more in zip(each, lists["flat"])]
    return np.array([100 * recall_at_k(ids, q.gold, 5) for ids, q in zip(each, asked)])


def gain(measured, ours, theirs, rule, same_length=False):
    ours, theirs = (measured[0][name] for name in (ours, theirs))
    if same_length:
        pairs = [(a[: len(b)], b[: len(a)]) for a, b in zip(ours, theirs)]
        ours, theirs = ([*each] for each in zip(*pairs))
    return level(ours, measured, rule) - level(theirs, measured, rule)


def paired(gains):
    means = np.random.default_rng(0).choice(gains, (10_000, len(gains))).mean(axis=1)
    return [gains.mean(), *np.percentile(means, [2.5, 97.5])]


def side(gains):
    _, low, high = paired(gains)
    return int(low > 0) - int(high < 0)


def test_link_over_as_many_nodes_gains_left_empty_only(measured):
    for rule, cut, shown in (
        ("left empty", False, [6.0, 0.1, 12.0]),
        ("filled", False, [2.2, -2.2, 6.4]),
        ("left empty", True, [1.9, -3.8, 7.6]),
        ("filled", True, [0.4, -3.4, 3.9]),
    ):
        each = gain(measured, "Link", "as many", rule, cut)
        assert paired(each) == pytest.approx(shown, abs=0.06)


def test_both_controls_change_the_sign_of_the_mean_with_the_rule(measured):
    for control in ("one", "as many"):
        empty, filled = (gain(measured, control, "N, R, C", rule) for rule in RULES)
        assert side(empty) == -1 and filled.mean() > 0
    assert side(gain(measured, "as many", "N, R, C", "filled")) == 1
    assert side(gain(measured, "one", "N, R, C", "filled")) == 0


def test_no_control_is_shown_to_beat_flat_search(measured):
    for control, rule, cut in product(("one", "as many"), RULES, (False, True)):
        assert side(gain(measured, control, "flat", rule, cut)) < 1


def test_two_relations_gain_over_flat_search_on_professors_alone(measured):
    _, _, where = measured
    each = gain(measured, "two", "flat", "filled")
    assert paired(each[where == "professors"]) == pytest.approx([8.3, 2.1, 16.7], abs=0.06)
    assert [side(each[where == place]) for place in SETS] == [1, 0, 0, 0]
    for name in measured[0].keys() - {"flat"}:
        each = gain(measured, name, "flat", "filled")
        means = {place: each[where == place].mean() for place in SETS}
        assert max(means, key=means.get) == "professors"


def test_only_onehop_keeps_its_verdict_in_all_six_columns(measured):
    where, held, lost = measured[2], set(), set()
    for name, rule in product(("Link", "Onehop", "four", "two", "flat"), RULES):
        each = gain(measured, name, "N, R, C", rule)
        without = {place: side(each[where != place]) for place in SETS}
        sides = {side(each), *without.values(), side(gain(measured, name, "N, R, C", rule, True))}
        if len(sides) == 1 and 0 not in sides:
            held.add((name, rule))
        if side(each) and not without["mini_wiki"]:
            lost.add((name, rule))
    assert held == {("Onehop", rule) for rule in RULES}
    assert lost == {("flat", "left empty")} | {
        (x, "filled") for x in ("Link", "four", "two", "flat")
    }
    ways = [gain(measured, "two", "N, R, C", "left empty", cut) for cut in (False, True)]
    assert [side(each) for each in ways] == [-1, 1]


def test_the_drawn_samples_and_the_copies(measured):
    gains = gain(measured, "Onehop", "N, R, C", "left empty")[measured[2] == "professors"]
    assert len(gains) == 24 and (gains == 0).sum() == 18 and gains.sum() == -250
    rng = np.random.default_rng(0)
    drawn = [gains[rng.choice(24, 24)].mean() for _ in range(3)]
    assert drawn == pytest.approx([-18.8, -29.2, -8.3], abs=0.06)
    once, four_times = (paired(np.tile(gains, times)) for times in (1, 4))
    assert once == pytest.approx([-10.4, -27.1, 4.2], abs=0.06) and four_times[2] < 0
    assert 0.4 < (four_times[2] - four_times[1]) / (once[2] - once[1]) < 0.6


def counts_and_more():
    """By question: how many nodes Link gives; what relationship VDB finds with each k."""
    encoder, counts, by_k = mr.load_encoder("minilm"), [], {1: [], 3: [], 6: []}
    for place, kind in SETS.items():
        corpus = mr.load_corpus(place)
        graph = mr.METHODS["hipporag"].build(corpus, extraction=kind).graph
        asked = [q.text for q in corpus.questions if q.gold]

        def results(*operators, corpus=corpus, graph=graph, asked=asked):
            method = mr.compose(graph="knowledge", operators=operators)
            return method.build(corpus, extraction=graph, encoder=encoder).retrieve_many(asked, 5)

        counts += [len(r.trace.last(mr.NodeStep).nodes) for r in results(*LISTS["Link"])]
        for k, lists in by_k.items():
            retrieved = results(mr.OPERATORS["relationship VDB"](k=k), C)
            lists += [[p.id for p in r.passages if p.score > 0] for r in retrieved]
    return np.array(counts), by_k


@pytest.fixture(scope="module")
def more(measured):
    """`measured` with relationship VDB at k = 1, 3, 6 and with Link that falls back on N."""
    lists, asked, where = measured
    counts, by_k = counts_and_more()
    both = [a if n else b for a, b, n in zip(lists["Link"], lists["N, R, C"], counts)]
    return (lists | by_k | {"else N": both}, asked, where), counts > 0


def test_nearly_the_whole_loss_of_link_is_where_it_gives_no_node(more):
    measured, has_node = more
    assert has_node.sum() == 83
    for rule, cut, chosen, shown in (
        ("left empty", False, has_node, [-0.4, -8.0, 7.0]),
        ("left empty", False, ~has_node, [-58.1, -71.5, -44.1]),
        ("filled", False, has_node, [10.3, 2.8, 17.9]),
        ("filled", False, ~has_node, [7.5, -7.5, 22.0]),
        ("left empty", True, has_node, [5.8, -1.0, 12.7]),
        ("filled", True, has_node, [2.4, -3.6, 8.4]),
    ):
        each = gain(measured, "Link", "N, R, C", rule, cut)[chosen]
        assert paired(each) == pytest.approx(shown, abs=0.06)
    each = gain(measured, "Link", "N, R, C", "left empty")
    assert each[~has_node].sum() / each.sum() > 0.97 and each[~has_node].max() == 0
    for rule, shown in (("left empty", [-0.3, -5.8, 5.1]), ("filled", [7.5, 2.0, 13.2])):
        each = gain(measured, "else N", "N, R, C", rule)
        assert paired(each) == pytest.approx(shown, abs=0.06)


def test_the_gain_of_relations_follows_the_length(more):
    measured, _ = more
    empty, filled = (
        [gain(measured, name, "N, R, C", rule).mean() for name in (1, "two", 3, "four", 6)]
        for rule in RULES
    )
    assert empty == sorted(empty) and filled[1:] == sorted(filled[1:])[::-1]
    assert filled[0] < filled[1] and abs(empty[-1]) < 0.15 > abs(filled[-1])
    for name in (1, 3, 6, "else N"):
        for rule, cut in product(RULES, (False, True)):
            assert side(gain(measured, name, "flat", rule, cut)) < 1


def test_how_often_a_verdict_stays_with_forty_questions_fewer(measured):
    rng, stayed = np.random.default_rng(0), {}
    for rule, name in product(RULES, ("Link", "Onehop", "four", "two", "flat")):
        each = gain(measured, name, "N, R, C", rule)
        if side(each) != side(each[measured[2] != "mini_wiki"]):
            tries = [side(rng.permutation(each)[40:]) for _ in range(60)]
            stayed[name, rule] = tries.count(side(each))
    assert stayed == {
        ("flat", "left empty"): 58, ("Link", "filled"): 34, ("four", "filled"): 16,
        ("two", "filled"): 58, ("flat", "filled"): 36,
    }  # fmt: skip


def test_how_many_comparisons_the_chapter_looks_at(more):
    measured, has_node = more
    where, seen = measured[2], {}

    def look(each):
        key = max(tuple(each.round(3)), tuple(-each.round(3)))  # A over B, or B over A
        seen[key] = side(each) != 0

    every = np.full(114, True)
    for rule in RULES:
        for name in ("Link", "Onehop", "four", "two", "flat"):
            each = gain(measured, name, "N, R, C", rule)
            for chosen in (every, *(where != place for place in SETS)):
                look(each[chosen])
            look(gain(measured, name, "N, R, C", rule, True))
        for name in ("else N", "as many", 1, 3, 6):
            look(gain(measured, name, "N, R, C", rule))
        for chosen in (has_node, ~has_node):
            look(gain(measured, "Link", "N, R, C", rule)[chosen])
        look(gain(measured, "Link", "N, R, C", rule, True)[has_node])
        for cut in (False, True):
            look(gain(measured, "Link", "as many", rule, cut))
        for name in ("N, R, C", "Link", "Onehop", "four", "two", "as many"):
            look(gain(measured, name, "flat", rule, True))
        for place in SETS:
            look(gain(measured, "two", "flat", rule)[where == place])
    for place in SETS:
        look(gain(measured, "two", "flat", "left empty", True)[where == place])
    assert (len(seen), sum(seen.values())) == (101, 59)


def test_two_relations_against_flat_search_corpus_by_corpus(measured):
    where = measured[2]
    filled = gain(measured, "two", "flat", "filled")[where == "professors"]
    assert ((filled > 0).sum(), (filled < 0).sum()) == (4, 0)
    sides = {
        cut: [side(gain(measured, "two", "flat", "left empty", cut)[where == x]) for x in SETS]
        for cut in (False, True)
    }
    assert sides == {False: [0, -1, -1, 0], True: [0, -1, 0, 0]}


def test_the_kept_dots_hold_more_than_95_percent(measured):
    gains = gain(measured, "Onehop", "N, R, C", "left empty")[measured[2] == "professors"]
    means = np.random.default_rng(0).choice(gains, (10_000, 24)).mean(axis=1).round(1)
    low, high = np.percentile(means, [2.5, 97.5])
    assert ((low <= means) & (means <= high)).mean().round(3) == 0.969
