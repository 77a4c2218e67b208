"""What chapter 17b (measuring a change) says beyond the old chapter 17, computed another way: each
filler and length, the old list's nodes, each corpus left out, the order of equal passages.
"""

import re

import numpy as np
import pytest

import minirag as mr
from minirag.evaluate import recall_at_k

SETS = {
    "professors": "annotations", "mini_wiki": "triples", "textbook": "annotations",
    "harbor_news": "annotations",
}  # fmt: skip
N, R, C = "node VDB", "relationship Onehop", "chunk Occurrence"
LISTS = {
    "N, R, C": (N, R, C),
    "Link": ("node Link", R, C),
    "flat": ("chunk VDB",),
    **{f"N {k}": (mr.OPERATORS[N](k=k), R, C) for k in (1, 2, 3, 8)},
}
WAYS = ("left empty", False), ("filled", False), ("left empty", True)
CUT_FILLED = ("filled", True)
LENGTHS = ("left empty", "filled", "one length")


@pytest.fixture(scope="module")
def measured():
    """By list, five ids at most for each question; the questions; where each stands; how many nodes
    Link gives.
    """
    encoder, asked, where = mr.load_encoder("minilm"), [], []
    lists, nodes = {name: [] for name in LISTS}, []
    for place, kind in SETS.items():
        corpus = mr.load_corpus(place)
        graph = mr.METHODS["hipporag"].build(corpus, extraction=kind).graph
        questions = [q for q in corpus.questions if q.gold]
        for name, operators in LISTS.items():
            made = mr.compose(graph="knowledge", operators=operators)
            method = made.build(corpus, extraction=graph, encoder=encoder)
            retrieved = method.retrieve_many([q.text for q in questions], 5)
            lists[name] += [[p.id for p in each.passages if p.score > 0] for each in retrieved]
            if name == "Link":
                nodes += [len(each.trace.last(mr.NodeStep).nodes) for each in retrieved]
        asked += questions
        where += [place] * len(questions)
    return lists, asked, np.array(where), np.array(nodes)


def fill(lists, fillers):
    return [[*dict.fromkeys([*own, *more])][:5] for own, more in zip(lists, fillers)]


def cut(ours, theirs):
    pairs = [(a[: len(b)], b[: len(a)]) for a, b in zip(ours, theirs)]
    return ([*each] for each in zip(*pairs))


def level(each, measured, rule):
    lists, asked, *_ = measured
    if rule == "filled":
        each = fill(each, lists["flat"])
    return np.array([100 * recall_at_k(ids, q.gold, 5) for ids, q in zip(each, asked)])


def gain(measured, ours, theirs, rule, same_length=False):
    ours, theirs = (measured[0][name] for name in (ours, theirs))
    if same_length:
        ours, theirs = cut(ours, theirs)
    return level(ours, measured, rule) - level(theirs, measured, rule)


def paired(gains, seed=0):
    means = np.random.default_rng(seed).choice(gains, (10_000, len(gains))).mean(axis=1)
    return [gains.mean(), *np.percentile(means, [2.5, 97.5])]


def side(gains, seed=0):
    _, low, high = paired(gains, seed)
    return int(low > 0) - int(high < 0)


def test_link_over_n_r_c_and_over_flat_search_in_three_ways(measured):
    shown = {
        ("Link", "N, R, C"): [[-16.1, -24.4, -8.2], [9.6, 2.6, 16.4], [4.2, -0.7, 9.2]],
        ("N, R, C", "flat"): [[-15.0, -23.2, -6.9], [-10.9, -18.6, -3.3], [-12.1, -20.2, -4.1]],
        ("Link", "flat"): [[-31.1, -40.0, -22.4], [-1.3, -6.4, 3.8], [-3.4, -9.5, 2.8]],
    }
    for pair, rows in shown.items():
        found = [paired(gain(measured, *pair, *way)) for way in WAYS]
        assert np.array(found) == pytest.approx(np.array(rows), abs=0.06)


def test_unpaired_the_interval_is_wider(measured):
    here, rng = measured[2] == "professors", np.random.default_rng(0)
    levels = [level(measured[0][x], measured, "left empty")[here] for x in ("Link", "N, R, C")]
    with_it, without = (rng.choice(each, (10_000, 24)).mean(axis=1) for each in levels)
    ends = np.percentile(with_it - without, [2.5, 97.5])
    assert ends == pytest.approx([-26.4, 13.2], abs=0.06)


def test_the_drawn_samples(measured):
    gains = gain(measured, "Link", "N, R, C", "left empty")[measured[2] == "professors"]
    assert len(gains) == 24 and (gains > 0).sum() == 3 and (gains < 0).sum() == 5
    assert gains.sum() == pytest.approx(-166.7, abs=0.06)
    rng = np.random.default_rng(0)
    drawn = [gains[rng.choice(24, 24)].mean() for _ in range(3)]
    assert drawn == pytest.approx([8.3, -0.7, 1.4], abs=0.06)
    assert paired(gains) == pytest.approx([-6.9, -20.8, 5.6], abs=0.06)
    means = np.random.default_rng(0).choice(gains, (10_000, 24)).mean(axis=1)
    assert (means >= 0).sum() == 1564


def test_with_few_questions_the_interval_misses_somewhat_more_often(measured):
    """The twenty-four gains as all there are: how often an interval holds their mean."""
    gains = gain(measured, "Link", "N, R, C", "left empty")[measured[2] == "professors"]
    rng, held = np.random.default_rng(0), 0
    for _ in range(1000):
        means = rng.choice(rng.choice(gains, 24), (500, 24)).mean(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        held += low <= gains.mean() <= high
    assert 0.88 < held / 1000 < 0.94


def filled_gain(measured, fillers):
    """The gain of Link over N, R, C, both filled from `fillers`, a list for each question."""
    link, old = (fill(measured[0][name], fillers) for name in ("Link", "N, R, C"))
    return level(link, measured, "left empty") - level(old, measured, "left empty")


def test_filled_the_old_list_rises_by_being_cut(measured):
    link, old = (measured[0][name] for name in ("Link", "N, R, C"))
    assert sum(len(a) > len(b) for a, b in zip(link, old)) == 4
    cut_old, cut_link = cut(old, link)
    levels = [level(each, measured, "filled").mean() for each in (old, cut_old, link, cut_link)]
    assert levels == pytest.approx([60.2, 68.3, 69.8, 70.1], abs=0.06)
    empty = level(measured[0]["flat"], measured, "left empty") - level(old, measured, "filled")
    assert paired(empty) == pytest.approx([10.9, 3.3, 18.6], abs=0.06)


def test_filled_at_random_the_change_is_a_loss_in_fifty_orders(measured):
    ids = {name: [chunk.id for chunk in mr.load_corpus(name).chunks] for name in SETS}
    flat, mean = filled_gain(measured, measured[0]["flat"]), []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        each = filled_gain(measured, [rng.permutation(ids[name]) for name in measured[2]])
        mean.append(each.mean())
        assert side(each) == -1 and side(flat - each) == 1
    assert -16 < min(mean) and max(mean) < -10


def test_left_empty_link_loses_where_it_finds_nothing(measured):
    lists, *_, nodes = measured
    assert [bool(each) for each in lists["Link"]] == (nodes > 0).tolist()
    groups = [nodes == 0, nodes > 0]
    assert [group.sum() for group in groups] == [31, 83]
    for rule, shown in (
        ("left empty", [[-58.1, -71.5, -44.1], [-0.4, -8.0, 7.0]]),
        ("filled", [[7.5, -7.5, 22.0], [10.3, 2.8, 17.9]]),
        ("one length", [[0, 0, 0], [5.8, -1.0, 12.7]]),
    ):
        each = gain(measured, "Link", "N, R, C", *WAYS[LENGTHS.index(rule)])
        found = [paired(each[group]) for group in groups]
        assert np.array(found) == pytest.approx(np.array(shown), abs=0.06)
    assert not gain(measured, "Link", "N, R, C", "left empty", True)[nodes == 0].any()


def settings(measured):
    """Link's gains in three ways: N with other k, and with four nodes without each corpus."""
    for name in ("N, R, C", "N 1", "N 2", "N 3", "N 8"):
        yield name, [gain(measured, "Link", name, *way) for way in WAYS]
    for place in SETS:
        kept = measured[2] != place
        yield place, [gain(measured, "Link", "N, R, C", *way)[kept] for way in WAYS]


def test_no_verdict_of_link_holds_in_all_nine_settings_but_cut_and_filled_it_does(measured):
    sides = {name: [side(each) for each in three] for name, three in settings(measured)}
    assert sides == {
        "N, R, C": [-1, 1, 0], "N 1": [0, 0, 0], "N 2": [-1, 0, 0], "N 3": [-1, 1, 0],
        "N 8": [-1, 1, 1], "professors": [-1, 1, 0], "mini_wiki": [-1, 0, 0],
        "textbook": [-1, 1, 0], "harbor_news": [-1, 1, 1],
    }  # fmt: skip
    main = gain(measured, "Link", "N, R, C", *CUT_FILLED)
    assert paired(main) == pytest.approx([1.8, -2.8, 6.3], abs=0.06)
    equal = [gain(measured, "Link", f"N {k}", *CUT_FILLED) for k in (1, 2, 3, 8)]
    equal += [main[measured[2] != place] for place in SETS]
    assert not any(side(each) for each in equal)


def test_no_shown_verdict_turns_with_ten_seeds(measured):
    groups = [measured[3] == 0, measured[3] > 0]
    shown = [each for _, three in settings(measured) for each in three]
    for rule in ("left empty", "filled"):
        shown += [gain(measured, "Link", "N, R, C", rule)[group] for group in groups]
    for ours in ("N, R, C", "Link"):
        shown += [gain(measured, ours, "flat", *way) for way in WAYS]
    for each in shown:
        assert len({side(each, seed) for seed in range(10)}) == 1


def test_without_mini_wiki_n_r_c_shows_no_loss_to_flat_search(measured):
    kept = measured[2] != "mini_wiki"
    assert kept.sum() == 74
    assert all(side(gain(measured, "N, R, C", "flat", *way)[kept]) == 0 for way in WAYS)
    for place in SETS:
        kept = measured[2] != place
        sides = [side(gain(measured, name, "flat", "filled")[kept]) for name in LISTS][:2]
        assert sides == [0 if place == "mini_wiki" else -1, 0]


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


@pytest.fixture(scope="module")
def orders(measured):
    """Fifty times `measured`, passages of one score in random order (flat search: no ties)."""
    encoder, names = mr.load_encoder("minilm"), ("Link", "N, R, C")
    scored, rng = {name: [] for name in names}, np.random.default_rng(0)
    for place, kind in SETS.items():
        corpus = mr.load_corpus(place)
        graph = mr.METHODS["hipporag"].build(corpus, extraction=kind).graph
        asked = [q.text for q in corpus.questions if q.gold]
        for name in scored:
            made = mr.compose(graph="knowledge", operators=LISTS[name])
            method = made.build(corpus, extraction=graph, encoder=encoder)
            scored[name] += [r.passages for r in method.retrieve_many(asked, 100)]

    def order(name):
        ranked = [sorted(x, key=lambda p: (-p.score, rng.random())) for x in scored[name]]
        return [[p.id for p in x if p.score > 0][:5] for x in ranked]

    assert [
        sum(len(x) > 5 and x[4].score == x[5].score > 0 for x in scored[name])
        for name in ("N, R, C", "Link")
    ] == [48, 20]
    flat = measured[0]["flat"]
    return [
        ({name: order(name) for name in names} | {"flat": flat}, *measured[1:]) for _ in range(50)
    ]


def test_the_order_of_equal_passages_decides_two_of_links_three_verdicts(orders):
    shown_in = [50, 0, 0], [0, 4, 46], [0, 39, 11], [0, 50, 0]
    for way, shown in zip((*WAYS, CUT_FILLED), shown_in):
        sides = [side(gain(each, "Link", "N, R, C", *way)) for each in orders]
        assert [sides.count(x) for x in (-1, 0, 1)] == shown


def test_ties_change_the_three_gains_of_professors_and_none_of_its_losses(measured, orders):
    here = measured[2] == "professors"
    base = gain(measured, "Link", "N, R, C", "left empty")[here]
    found = np.array([gain(each, "Link", "N, R, C", "left empty")[here] for each in orders])
    assert (found[:, base > 0].std(axis=0) > 5).all()
    assert (found[:, base < 0] == base[base < 0]).all()
