"""What chapter 17b (measuring a change) says beyond the old chapter 17, computed another way: each
rule and length, the order of equal passages, and what was told before.
"""

import re
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

import minirag as mr
from minirag.evaluate import recall_at_k
from minirag.evaluate.metrics import load_expected

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
    lists = {name: [] for name in (*LISTS, "N 1", "N 2", "N 3", "N 6", "as many")}
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

        by_k = {k: results(mr.OPERATORS[N](k=k), R, C) for k in (1, 2, 3, 6)}
        for name, operators in LISTS.items():
            lists[name] += found(results(*operators))
        for k, each in by_k.items():
            lists[f"N {k}"] += found(each)
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


def paired(gains, seed=0):
    means = np.random.default_rng(seed).choice(gains, (10_000, len(gains))).mean(axis=1)
    return [gains.mean(), *np.percentile(means, [2.5, 97.5])]


def side(gains):
    _, low, high = paired(gains)
    return int(low > 0) - int(high < 0)


def test_link_over_as_many_nodes_gains_left_empty_only(measured):
    """Told before the chapter left out the control with as many nodes as Link."""
    for rule, cut, shown in (
        ("left empty", False, [6.0, 0.1, 12.0]),
        ("filled", False, [2.2, -2.2, 6.4]),
        ("left empty", True, [1.9, -3.8, 7.6]),
        ("filled", True, [0.4, -3.4, 3.9]),
    ):
        each = gain(measured, "Link", "as many", rule, cut)
        assert paired(each) == pytest.approx(shown, abs=0.06)


def test_both_controls_change_the_sign_of_the_mean_with_the_rule(measured):
    """Told before the chapter left out the controls."""
    for control in ("N 1", "as many"):
        empty, filled = (gain(measured, control, "N, R, C", rule) for rule in RULES)
        assert side(empty) == -1 and filled.mean() > 0
    assert side(gain(measured, "as many", "N, R, C", "filled")) == 1
    assert side(gain(measured, "N 1", "N, R, C", "filled")) == 0


def test_no_list_with_a_graph_and_no_control_is_shown_to_beat_flat_search(measured):
    for name, rule, cut in product(measured[0].keys() - {"flat"}, RULES, (False, True)):
        assert side(gain(measured, name, "flat", rule, cut)) < 1
    graphs = [name for name in LISTS if name != "flat"]
    over_flat = {name: gain(measured, name, "flat", "left empty", True) for name in graphs}
    assert [side(each) for each in over_flat.values()] == [-1, 0, -1, -1, 0]
    for each in over_flat.values():
        means = {place: each[measured[2] == place].mean() for place in SETS}
        assert min(means, key=means.get) == "mini_wiki"
    filled = {name: level(measured[0][name], measured, "filled").mean() for name in LISTS}
    assert [name for name in graphs if filled[name] > filled["flat"]] == ["two"]
    assert side(gain(measured, "two", "flat", "filled")) == 0


def test_the_verdicts_at_one_length_are_the_same_filled(measured):
    """Filled was told before the chapter showed both cut lists left empty alone."""
    for rule in RULES:
        rivals = ("Link", "Onehop", "four", "two", "flat")
        cut = [side(gain(measured, name, "N, R, C", rule, True)) for name in rivals]
        assert cut == [0, -1, 0, 1, 1]


def test_unpaired_the_interval_is_wider(measured):
    here, rng = measured[2] == "professors", np.random.default_rng(0)
    levels = [level(measured[0][x], measured, "left empty")[here] for x in ("Onehop", "N, R, C")]
    with_it, without = (rng.choice(each, (10_000, 24)).mean(axis=1) for each in levels)
    ends = np.percentile(with_it - without, [2.5, 97.5])
    assert ends == pytest.approx([-31.2, 10.4], abs=0.06)
    assert np.corrcoef(levels)[0, 1] > 0.4  # a hard question is hard for both


def test_four_equal_gains_and_no_loss_lie_above_zero_however_many_stay_equal(measured):
    """Told before the chapter left the sign test to 17c."""
    each = gain(measured, "two", "flat", "filled")[measured[2] == "professors"]
    assert sorted(each[each != 0]) == [50] * 4 and binomtest(4, 4).pvalue == 0.125
    for n in (*range(4, 100), 10_000):  # the share of draws whose mean is zero
        assert (1 - 4 / n) ** n < 0.025
    assert side(each) == side(each[each > 0]) == 1


def test_two_relations_gain_over_flat_search_on_professors_alone(measured):
    """Told before the chapter showed each corpus at one length alone."""
    _, _, where = measured
    each = gain(measured, "two", "flat", "filled")
    assert paired(each[where == "professors"]) == pytest.approx([8.3, 2.1, 16.7], abs=0.06)
    assert [side(each[where == place]) for place in SETS] == [1, 0, 0, 0]
    for name in measured[0].keys() - {"flat"}:
        each = gain(measured, name, "flat", "filled")
        means = {place: each[where == place].mean() for place in SETS}
        assert max(means, key=means.get) == "professors"


def test_onehop_and_link_left_empty_keep_their_verdict_in_all_five_columns(measured):
    """Told before the chapter left out verdicts without one corpus."""
    where, held, lost = measured[2], set(), set()
    for name, rule in product(("Link", "Onehop", "four", "two", "flat"), RULES):
        each = gain(measured, name, "N, R, C", rule)
        without = {place: side(each[where != place]) for place in SETS}
        sides = {side(each), *without.values()}
        if len(sides) == 1 and 0 not in sides:
            held.add((name, rule))
        if side(each) and not without["mini_wiki"]:
            lost.add((name, rule))
    assert held == {("Onehop", rule) for rule in RULES} | {("Link", "left empty")}
    assert lost == {("flat", "left empty")} | {
        (x, "filled") for x in ("Link", "four", "two", "flat")
    }
    ways = [gain(measured, "two", "N, R, C", "left empty", cut) for cut in (False, True)]
    assert [side(each) for each in ways] == [-1, 1]
    for name, shown in (("Link", [0, 0, 0, 0, 1]), ("two", [1] * 5)):  # at one length
        each = gain(measured, name, "N, R, C", "left empty", True)
        assert [side(each), *(side(each[where != place]) for place in SETS)] == shown


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
    """At one length with a node was told before, and Link that falls back on N."""
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
    each = gain(measured, "flat", "N, R, C", "filled")  # a list that finds nothing, filled
    assert paired(each[has_node]) == pytest.approx([12.1, 3.5, 21.0], abs=0.06)
    assert paired(each[~has_node]) == pytest.approx([7.5, -7.5, 22.0], abs=0.06)
    each = gain(measured, "Link", "N, R, C", "left empty")
    assert 0.975 < each[~has_node].sum() / each.sum() < 0.985 and each[~has_node].max() == 0
    for rule, cut in product(RULES, (False, True)):  # at one length: zero by construction
        each = gain(measured, "Link", "N, R, C", rule, cut)[~has_node]
        assert cut == (not each.any())
    # told before the chapter left "Link, else N" to the reader
    for rule, shown in (("left empty", [-0.3, -5.8, 5.1]), ("filled", [7.5, 2.0, 13.2])):
        each = gain(measured, "else N", "N, R, C", rule)
        assert paired(each) == pytest.approx(shown, abs=0.06)


def test_the_gain_of_relations_follows_the_length(more):
    """Told before the chapter left out other k of two relations."""
    measured, _ = more
    levels = [level(measured[0][x], measured, "filled").mean() for x in (1, "two", 3, "four", 6)]
    assert levels == pytest.approx([72.0, 72.3, 67.8, 66.7, 60.3], abs=0.06)
    names = (1, "two", 3, "four", 6)
    over_flat = [side(gain(measured, name, "flat", "left empty", True)) for name in names]
    assert over_flat == [0, 0, 0, -1, -1]
    for name, shown in (
        (1, [8.8, 2.8, 15.0]),
        ("two", [13.0, 7.1, 19.3]),
        (3, [8.3, 2.4, 14.4]),
        ("four", [3.9, -2.1, 10.1]),
        (6, [-1.0, -7.3, 5.1]),
    ):
        each = gain(measured, name, "N, R, C", "left empty", True)
        assert paired(each) == pytest.approx(shown, abs=0.06)
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
    """Told before the chapter left out verdicts without one corpus."""
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


def lent(measured):
    """The gain of Link over N, R, C, which fills Link's empty places itself."""
    link, rival = measured[0]["Link"], measured[0]["N, R, C"]
    filled = [[*dict.fromkeys(own + more)][:5] for own, more in zip(link, rival)]
    return level(filled, measured, "left empty") - level(rival, measured, "left empty")


def headline(measured):
    """The gains over N, R, C from which the chapter leaves out each corpus."""
    yield gain(measured, "Link", "N, R, C", "filled")
    yield gain(measured, "flat", "N, R, C", "filled")
    yield gain(measured, "Link", "N, R, C", "left empty", True)


def shown_gains(measured, has_node):
    """The gains of each interval that sections 6 to 9 show, ties left out."""
    three_ways = (("left empty", False), ("filled", False), ("left empty", True))
    for name, way in product(("Link", "Onehop", "two"), three_ways):
        yield gain(measured, name, "N, R, C", *way)
    for name, rule in (("Link", "left empty"), ("Link", "filled"), ("flat", "filled")):
        each = gain(measured, name, "N, R, C", rule)
        yield from (each, each[has_node], each[~has_node])
    for name, way in product(("N, R, C", "Link", "Onehop", "two"), three_ways):
        yield gain(measured, name, "flat", *way)
    yield lent(measured)
    for each in headline(measured):
        yield from (each[measured[2] != place] for place in SETS)
    for name, way in product(("N 1", "N 2", "N 3", "N, R, C", "N 6"), three_ways):
        yield gain(measured, "Link", name, *way)


def test_how_many_intervals_the_chapter_looks_at_and_which_turn_with_ten_seeds(more):
    seen, turn = {}, []
    for each in shown_gains(*more):
        key = max(tuple(each.round(3)), tuple(-each.round(3)))  # A over B, or B over A
        if key not in seen:
            ends = [paired(each, seed)[1:] for seed in range(10)]
            verdicts = [int(low > 0) - int(high < 0) for low, high in ends]
            seen[key] = verdicts[0] != 0
            if len({*verdicts}) > 1:
                turn.append((round(each.mean(), 1), verdicts.count(1)))
    assert (len(seen), sum(seen.values()), turn) == (51, 32, [(5.8, 3)])


def test_without_mini_wiki_no_gain_filled_and_without_harbor_news_one_at_one_length(measured):
    where = measured[2]
    assert side(lent(measured)) == 0 and round(lent(measured).mean(), 1) == 3.5
    sides = [[side(each[where != place]) for place in SETS] for each in headline(measured)]
    assert [*SETS][1::2] == ["mini_wiki", "harbor_news"]
    assert sides == [[1, 0, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1]]


def test_two_relations_against_flat_search_corpus_by_corpus(measured):
    """Told before the chapter showed the mean gains alone."""
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
    assert ((low <= means) & (means <= high)).sum() == 9688 and (means > 0).sum() == 635


def test_at_one_length_two_losses_to_flat_search_rest_on_mini_wiki(measured):
    """Told before the chapter left each corpus out of the gains over N, R, C."""
    where = measured[2]
    rest = gain(measured, "N, R, C", "flat", "left empty", True)[where != "mini_wiki"]
    assert len(rest) == 74 and paired(rest) == pytest.approx([-2.9, -12.6, 6.8], abs=0.06)
    without = {
        name: side(gain(measured, name, "flat", "left empty", True)[where != "mini_wiki"])
        for name in ("N, R, C", "Link", "Onehop", "four", "two")
    }
    assert without == {"N, R, C": 0, "Link": 0, "Onehop": -1, "four": 0, "two": 0}
    for name, shown in (
        ("N, R, C", [-1, -1, 0, -1, -1]),
        ("Link", [0, -1, 0, 0, 0]),
        ("Onehop", [-1] * 5),
        ("two", [0] * 5),
    ):
        each = gain(measured, name, "flat", "left empty", True)
        assert [side(each), *(side(each[where != place]) for place in SETS)] == shown


def test_link_over_n_depends_on_the_k_of_n(more):
    """Filled, no gain over N with one or two nodes; left empty, no loss to N with one. Told before:
    a gain over it with the questions dropped that have no node.
    """
    measured, has_node = more
    filled = {
        "N 1": [3.2, -2.6, 9.1], "N 2": [3.1, -2.3, 8.5], "N 3": [7.7, 1.6, 13.9],
        "N, R, C": [9.6, 2.6, 16.4], "N 6": [15.7, 7.5, 24.1],
    }  # fmt: skip
    for name, shown in filled.items():
        assert paired(gain(measured, "Link", name, "filled")) == pytest.approx(shown, abs=0.06)
    empty = [gain(measured, "Link", name, "left empty") for name in filled]
    assert [side(each) for each in empty] == [0, -1, -1, -1, -1]
    assert [side(each[has_node]) for each in empty] == [1, 0, 0, 0, 0]
    levels = [level(measured[0][name], measured, "filled").mean() for name in filled]
    assert levels == pytest.approx([66.6, 66.7, 62.1, 60.2, 54.1], abs=0.06)
    alone = [level(measured[0][name], measured, "left empty").mean() for name in filled]
    assert alone == pytest.approx([38.3, 51.0, 55.7, 56.1, 54.1], abs=0.06)
    found = [np.mean([*map(len, measured[0][name])]) for name in filled]
    assert found == pytest.approx([2.11, 3.43, 4.23, 4.61, 4.95], abs=0.006)
    cut = [paired(gain(measured, "Link", name, "left empty", True)) for name in filled]
    assert [mean for mean, *_ in cut] == pytest.approx([1.8, 2.0, 4.1, 4.2, 5.8], abs=0.06)
    assert [low > 0 for _, low, _ in cut] == [False] * 4 + [True]
    assert cut[-1] == pytest.approx([5.8, 0.1, 11.5], abs=0.06)
    none = level([[]] * 114, measured, "filled") - level(measured[0]["N, R, C"], measured, "filled")
    assert paired(none) == pytest.approx([10.9, 3.3, 18.6], abs=0.06)


def test_link_finds_nothing_exactly_where_it_gives_no_node(more):
    """58.1 was told before a figure took the place of a table."""
    (lists, *_), has_node = more
    assert [bool(each) for each in lists["Link"]] == has_node.tolist()
    assert [
        level(lists[x], more[0], "left empty")[~has_node].mean() for x in ("N, R, C", "Link")
    ] == (pytest.approx([58.1, 0], abs=0.06))


def test_the_cut_tests_few_places_of_short_lists(measured):
    """How many are shorter than N, R, C was told before the chapter shortened its section 6."""
    lists, *_ = measured
    names, base = ("Link", "Onehop", "two", "flat"), [*map(len, lists["N, R, C"])]
    lengths = {name: np.array([*map(len, lists[name])]) for name in names}
    assert [(each < base).sum() for each in lengths.values()] == [76, 1, 112, 0]
    cut = [np.minimum(each, base).mean() for each in lengths.values()]
    assert cut == pytest.approx([2.52, 4.60, 1.96, 4.61], abs=0.006)


def test_both_ends_of_a_relation_stand_in_triples_of_a_passage():
    """A node's passages are those of its triples; in mini_wiki, its subject's page."""
    for place, kind in SETS.items():
        corpus = mr.load_corpus(place)
        graph = mr.METHODS["hipporag"].build(corpus, extraction=kind).graph
        passages = [set() for _ in graph.nodes]
        for edge in graph.edges:
            for end in (edge.source, edge.target):
                passages[end].update(edge.chunks)
            if place == "mini_wiki":
                page = re.sub(r"\W", " ", corpus.documents[edge.chunks[0]].title.lower())
                assert graph.nodes[edge.source].name == page and len(edge.chunks) == 1
        assert passages == [set(node.chunks) for node in graph.nodes]


def test_link_finds_more_passages_than_its_control(measured):
    """Told before the chapter left out the control with as many nodes as Link."""
    lists, *_ = measured
    means = [np.mean([*map(len, lists[name])]) for name in ("Link", "as many")]
    assert means == pytest.approx([2.56, 2.21], abs=0.005)


@pytest.fixture(scope="module")
def orders(measured):
    """Fifty times `measured`, passages of one score in random order (flat search: no ties)."""
    encoder, names = mr.load_encoder("minilm"), ("N, R, C", "Link", "Onehop", "two")
    by_k = {f"N {k}": (mr.OPERATORS[N](k=k), R, C) for k in (1, 2, 3, 6)}
    scored, rng = {name: [] for name in (*names, *by_k)}, np.random.default_rng(0)
    made_of = LISTS | by_k
    for place, kind in SETS.items():
        corpus = mr.load_corpus(place)
        graph = mr.METHODS["hipporag"].build(corpus, extraction=kind).graph
        asked = [q.text for q in corpus.questions if q.gold]
        for name in scored:
            made = mr.compose(graph="knowledge", operators=made_of[name])
            method = made.build(corpus, extraction=graph, encoder=encoder)
            scored[name] += [r.passages for r in method.retrieve_many(asked, 100)]

    tops = [[p.score for p in passages[4:6]] for passages in scored["N, R, C"]]
    assert sum(fifth == sixth > 0 for fifth, sixth in tops) == 48

    def order(name):
        ranked = [sorted(x, key=lambda p: (-p.score, rng.random())) for x in scored[name]]
        return [[p.id for p in x if p.score > 0][:5] for x in ranked]

    lists = [{name: order(name) for name in names} for _ in range(50)]
    for each in lists:
        each["flat"] = measured[0]["flat"]
    for name in by_k:
        for each in lists:
            each[name] = order(name)
    return [(each, *measured[1:]) for each in lists]


def sides_of(orders, *pair):
    """How many orders of ties show a loss, nothing, and a gain."""
    sides = [side(gain(each, *pair)) for each in orders]
    return [sides.count(x) for x in (-1, 0, 1)]


def test_the_order_of_equal_passages_decides_five_of_nine_verdicts(orders):
    mixed = {
        ("Link", "filled", False): [0, 4, 46],
        ("Link", "left empty", True): [0, 34, 16],
        ("Onehop", "left empty", False): [48, 2, 0],
        ("Onehop", "left empty", True): [49, 1, 0],
        ("two", "left empty", False): [37, 13, 0],
    }
    three_ways = (("left empty", False), ("filled", False), ("left empty", True))
    for name, way in product(("Link", "Onehop", "two"), three_ways):
        times = sides_of(orders, name, "N, R, C", *way)
        assert times == mixed.get((name, *way), times) and (50 in times) != ((name, *way) in mixed)
    for name in ("N, R, C", "Link", "Onehop", "two"):  # the verdicts of the file's order
        times = sides_of(orders, name, "flat", "left empty", True)
        lost = {"N, R, C": 50, "Link": 2, "Onehop": 50, "two": 0}[name]  # told before for all
        assert times == [lost, 50 - lost, 0]


def test_in_random_orders_link_over_three_nodes_gains_in_37_of_fifty(orders):
    """Told before a table of it went."""
    filled = {"N 1": [0, 50, 0], "N 2": [0, 50, 0], "N 3": [0, 13, 37], "N 6": [0, 0, 50]}
    found = {name: sides_of(orders, "Link", name, "filled") for name in filled}
    assert found == filled
    for name in filled:
        empty = [0, 50, 0] if name == "N 1" else [50, 0, 0]
        assert sides_of(orders, "Link", name, "left empty") == empty


def test_recall_by_corpus(measured):
    """Told before: N, R, C is ahead of flat search on professors, Link gains most on mini_wiki."""
    lists, _, where = measured
    rows = [("N, R, C", "left empty"), *((name, "filled") for name in ("N, R, C", "Link", "flat"))]
    by_place = [
        [level(lists[name], measured, rule)[where == place].mean() for place in SETS]
        for name, rule in rows
    ]
    shown = [
        [76.4, 43.3, 45.3, 68.0], [76.4, 48.3, 54.0, 70.0], [79.9, 65.6, 62.0, 74.7],
        [68.1, 73.5, 64.7, 76.7],
    ]  # fmt: skip
    assert np.array(by_place) == pytest.approx(np.array(shown), abs=0.06)


def test_ten_of_44_accuracies_and_nine_of_eleven_recalls_lie_above_vector_search():
    """Told before the chapter left the counts of Table 5 to 17c and 17d."""
    table = load_expected("survey_tables")["table_5"]
    columns, rows = table["columns"], {**table["rows"]}
    del rows["zeroshot"]
    vanilla, above = rows.pop("vanilla"), {}
    for i, column in enumerate(columns):
        above[column] = sum((row[i] or 0) > (vanilla[i] or 100) for row in rows.values())
    sets = "MultihopQA", "Quality", "PopQA", "MusiqueQA"
    assert len(rows) == 11 and sum(above[f"{name} Accuracy"] for name in sets) == 10
    assert above["MultihopQA Recall"] == 9
