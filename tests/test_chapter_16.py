"""What chapter 16 (notebooks/16_trees.ipynb) says, checked beyond what its cells print: its
question, the clusters and their number, both searches of the tree, and what its reader gets.
The graph has tests/test_chapter_16b.py.
"""

import math

import numpy as np
import pytest
from recorded_answers import context, is_right

import minirag
from minirag.algorithms.soft_clusters import (
    GlobalThenLocal,
    mixture,
    over_threshold,
    pca,
    soft_clusters,
)
from minirag.evaluate.metrics import load_expected
from minirag.evaluate.survey_metrics import contains
from minirag.methods import METHODS
from minirag.reproduce.answers import SMALL_K, SMALL_TREE


@pytest.fixture(scope="module")
def corpus():
    return minirag.load_corpus("professors")


@pytest.fixture(scope="module")
def vectors(corpus):
    encoder = minirag.load_encoder("minilm")
    return encoder.encode([chunk.passage for chunk in corpus.chunks]).astype(float)


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
def small_k(corpus):
    return METHODS["raptor-k"].build(corpus, llm="recorded", **SMALL_K)


def held(method, corpus, k=5):
    """Whether an accepted answer stands in the first k passages or nodes."""
    texts = [" ".join(p.chunk.text for p in method.retrieve(q.text, k)) for q in corpus.questions]
    return np.array([contains(text, q.answers) for text, q in zip(texts, corpus.questions)])


def test_of_twenty_curves_twelve_are_least_from_start_zero_and_fourteen_from_start_one(vectors):
    space = pca(vectors, 5)
    values = {
        start: [mixture(space, curves, start).bic(space) for curves in range(1, 21)]
        for start in (0, 1)
    }
    assert np.argmin(values[0]) + 1 == 12 and np.argmin(values[1]) + 1 == 14


def test_the_leaves_of_the_tree_alone_are_flat_search(corpus, tree, flat):
    for q in corpus.questions:
        ids = tree.retrieve(q.text, k=50).ids
        leaves = [name for name in ids if not name.startswith("summary")]
        assert leaves == [*flat.retrieve(q.text, k=40).ids]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_traversal_retrieves_two_k_and_one_items(k, corpus, tree):
    walker = tree.with_options(search="traversal", k=k)
    found = [walker.retrieve(q.text, k=50).ids for q in corpus.questions]
    assert {len(each) for each in found} == {2 * k + 1}, "a root, summaries, leaves"


def test_odile_fanshawes_chair_and_lin_yuzhens_voyage_are_not_in_what_is_read(corpus, tree):
    """q16 and q17: the answer's words are read, from a summary, without the rest."""
    for name, other in (("q17", "professor"), ("q16", "Kittering")):
        q = corpus.question(name)
        [told] = [p.chunk for p in tree.retrieve(q.text, k=5) if contains(p.chunk.text, q.answers)]
        assert "summary" in told.id
        sentences = [s for s in context(tree, q).split(".") if contains(s, q.answers)]
        assert not any(other in sentence for sentence in sentences)


def has_summary_over_all_gold(method, q):
    place = {chunk.id: i for i, chunk in enumerate(method.chunks)}
    gold = {place[passage] for passage in q.gold}
    firsts = [node for node in method.graph.nodes if node.name.startswith("summary 1")]
    return any(gold <= {*node.chunks} for node in firsts)


def test_two_of_eighteen_questions_have_a_summary_over_all_their_gold_passages(corpus, tree):
    several = [q for q in corpus.questions if len(q.gold) > 1]
    whole = [q.id for q in several if has_summary_over_all_gold(tree, q)]
    assert len(several) == 18 and whole == ["q10", "q23"]


def test_the_surveys_tables_add_up():
    tables = load_expected("survey_tables")
    for shares in tables["table_8"]["rows"].values():
        assert sum(shares) == pytest.approx(100)
    raptor, with_k_means = tables["table_6"]["rows"].values()
    better = [b > a for a, b in zip(raptor, with_k_means)]
    assert better == [True, False, False, True, True]
    accuracy, tokens = tables["table_5"], tables["table_7"]["rows"]
    above = [
        column.split()[0]
        for column, fast, plain in zip(
            accuracy["columns"], *(accuracy["rows"][name] for name in ("fastgraphrag", "vanilla"))
        )
        if plain is not None and fast > plain
    ]
    assert {*above} == {"MultihopQA"}
    for name in ("vanilla", "raptor"):
        pairs = zip(tokens["fastgraphrag"][1::2], tokens[name][1::2])
        assert all(fast > other for fast, other in pairs)
    assert tables["table_10"]["rows"]["raptor"][:2] == raptor[:2]


def level(vectors, seed):
    """One level of the chapter's tree, from one start."""
    clusters = []
    for outer in soft_clusters(pca(vectors, 5), per_cluster=5, seed=seed):
        rows = pca(vectors[outer], 5)
        inner = soft_clusters(rows, per_cluster=5, seed=seed) if len(outer) > 6 else None
        clusters += [{outer[i] for i in part} for part in inner or [range(len(outer))]]
    return clusters


def test_neither_searchs_passages_hold_an_answer_on_two_questions(corpus, flat, bm25):
    lacking = [
        {q.id for q in corpus.questions if not contains(context(method, q), q.answers)}
        for method in (flat, bm25)
    ]
    assert lacking[0] & lacking[1] == {"q10", "q16"}
    assert sum(len(q.gold) for q in corpus.questions) == 43


def test_the_mixture_of_seven_numbers_has_two_curves_and_shares_one_passage():
    toy, means = np.array([0, 0.5, 1, 2, 3.5, 4, 4.5]), np.array([0, 4])

    def posteriors(x):
        heights = np.exp(-((x[:, None] - means) ** 2) / 2)
        return heights / heights.sum(axis=1, keepdims=True)

    assert posteriors(np.array([1]))[0, 1] == pytest.approx(0.018, abs=5e-4)
    assert over_threshold(posteriors(toy), 0.1) == [[0, 1, 2, 3], [3, 4, 5, 6]]
    for _ in range(100):
        shares = posteriors(toy)
        means = shares.T @ toy / shares.sum(axis=0)
    assert means == pytest.approx([0.82, 3.81], abs=5e-3)
    assert over_threshold(posteriors(toy), 0.1) == [[0, 1, 2, 3], [3, 4, 5, 6]]


def test_the_toys_bic_is_less_with_two_guessed_curves_than_with_one_and_a_fit_makes_it_smaller():
    toy, found = np.array([0, 0.5, 1, 2, 3.5, 4, 4.5]), []
    for means in ([toy.mean()], [0, 4], [0.82, 3.81]):
        heights = np.exp(-((toy[:, None] - np.array(means)) ** 2) / 2).mean(axis=1)
        heights /= np.sqrt(2 * np.pi)
        found.append(len(means) * np.log(7) - 2 * np.log(heights).sum())
    assert found == pytest.approx([34.2, 30.8, 28.5], abs=0.05)


def test_eight_curves_are_the_cap_from_five_starts_and_no_passage_is_shared(vectors):
    space = pca(vectors, 5)
    for start in range(5):
        assert np.argmin([mixture(space, n, start).bic(space) for n in range(1, 9)]) + 1 == 8
    posteriors = np.sort(mixture(space, 8, 0).predict_proba(space), axis=1)
    assert posteriors[:, -2].max() < 0.0001


def test_items_above_the_leaves_are_most_on_the_two_sets_that_the_survey_names():
    above = {
        name: sum(shares[1:])
        for name, shares in load_expected("survey_tables")["table_8"]["rows"].items()
    }
    assert sorted(above, key=above.get)[-2:] == ["MusiqueQA", "MultihopQA"]


def test_the_package_builds_the_level_by_eight_curves_of_which_one_is_divided(tree, vectors):
    outer = soft_clusters(pca(vectors, 5), per_cluster=5, seed=0)
    assert [*map(len, outer)] == [10, 4, 3, 6, 7, 3, 3, 4]
    families = [{*n.chunks} for n in tree.graph.nodes[40:49]]
    assert families == level(vectors, 0) and {*tree.graph.nodes[49].chunks} == {*range(40)}


def test_what_trees_have_to_read_and_whose_reader_gives_it(corpus, flat, bm25, tree, small_k):
    there, right = {}, {}
    methods = {"vector": flat, "bm25": bm25, "raptor": tree, "raptor-k": small_k}
    for name, method in methods.items():
        given = is_right(method, corpus)
        there[name] = {q.id for q in corpus.questions if contains(context(method, q), q.answers)}
        right[name] = {q.id for q, good in zip(corpus.questions, given) if good}
    assert [*map(len, there.values())] == [17, 21, 21, 21]
    assert [*map(len, right.values())] == [16, 21, 19, 20]
    assert right["raptor-k"] - there["raptor-k"] == {"q23"} and right["raptor"] < there["raptor"]
    assert there["raptor"] - right["raptor"] == {"q12", "q14"}
    assert there["raptor"] - there["vector"] == {"q10", "q14", "q16", "q17"}
    assert right["raptor"] - right["bm25"] == {"q10", "q11", "q16"}
    assert right["bm25"] - right["raptor"] == {"q07", "q08", "q12", "q14", "q20"}
    assert right["raptor"] - right["vector"] == {"q10", "q16", "q17"}
    single = {q.id for q in corpus.questions if len(q.gold) == 1}
    assert len(single) == 6 and all(single <= each for each in right.values())


def test_the_sentence_with_an_answer_says_all_that_is_asked_for_q10_alone(corpus, tree):
    asked = {"q10": ("Candlemas Medal",), "q16": ("Expedition", "Kittering"), "q17": ("rofessor",)}
    said = {}
    for name, words in asked.items():
        q = corpus.question(name)
        texts = [p.chunk.text for p in tree.retrieve(q.text, k=5)]
        found = [s for text in texts for s in text.split(". ") if contains(s, q.answers)]
        said[name] = (len(found), any(word in s for s in found for word in words))
    assert said == {"q10": (1, True), "q16": (1, False), "q17": (1, False)}


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_going_down_by_hand_is_the_packages_traversal(k, corpus, tree):
    children = {}
    for edge in tree.graph.edges:
        children.setdefault(edge.source, []).append(edge.target)
    walker = tree.with_options(search="traversal", k=k)
    for q in corpus.questions:
        cosines, kept, layer = tree.node_index.similarities([q.text])[0], [], [49]
        while layer:
            nearest = sorted(layer, key=lambda node: -cosines[node])[:k]
            kept += nearest
            layer = sorted({child for node in nearest for child in children.get(node, [])})
        assert [tree.as_chunk(node).id for node in kept] == [*walker.retrieve(q.text, k=50).ids]


def test_the_surveys_numbers_beside_the_tree():
    tables = load_expected("survey_tables")
    column = tables["table_5"]["columns"].index
    rows = tables["table_5"]["rows"]
    pairs = [
        (rows["raptor"][column(name)], rows["vanilla"][column(name)])
        for name in ("MultihopQA Accuracy", "MusiqueQA Accuracy")
    ]
    assert pairs == [(56.064, 50.626), (24.133, 17.233)]
    column, rows = tables["table_6"]["columns"].index, tables["table_6"]["rows"]
    pairs = [
        (rows["raptor-k"][column(name)], rows["raptor"][column(name)])
        for name in ("PopQA Accuracy", "Quality Accuracy")
    ]
    assert pairs == [(64.761, 62.545), (54.567, 56.997)]
    tokens, rows = tables["table_7"]["columns"].index("MusiqueQA token"), tables["table_7"]["rows"]
    assert (rows["raptor"][tokens], rows["vanilla"][tokens]) == (1742.9, 745.4)
    leaves = {name: shares[0] for name, shares in tables["table_8"]["rows"].items()}
    assert (leaves.pop("MultihopQA"), leaves.pop("MusiqueQA")) == (59.3, 69.3)
    assert min(leaves.values()) > 69.3 and max(leaves.values()) == 90.6


def test_no_item_read_has_both_the_name_and_the_rest_for_q16_and_q17(corpus, tree):
    for name, person, rest in (("q16", "Lin ", "Expedition"), ("q17", "Fanshawe", "professor")):
        texts = [p.chunk.text for p in tree.retrieve(corpus.question(name).text, k=5)]
        having = [{i for i, text in enumerate(texts) if word in text} for word in (person, rest)]
        assert having[0] and having[1] and not having[0] & having[1]
        assert not has_summary_over_all_gold(tree, corpus.question(name))


def test_the_survey_has_raptor_above_vector_search_in_all_but_one_value():
    tables = load_expected("survey_tables")
    columns, rows = tables["table_5"]["columns"], tables["table_5"]["rows"]
    gains = {
        column: mine - plain
        for column, mine, plain in zip(columns, rows["raptor"], rows["vanilla"])
        if plain is not None
    }
    assert len(gains) == 11 and [name for name in gains if gains[name] < 0] == ["ALCE STREM"]
    assert max(gains, key=gains.get) == "Quality Accuracy"
    column, rows = tables["table_6"]["columns"].index, tables["table_6"]["rows"]
    with_k_means, mixed = (rows[name] for name in ("raptor-k", "raptor"))
    recall = column("MultihopQA Recall")
    assert (with_k_means[recall], mixed[recall]) == (44.208, 44.832)
    tokens = [tables["table_7"]["rows"][name][1::2] for name in ("raptor", "vanilla")]
    assert [mine > plain for mine, plain in zip(*tokens)].count(True) == 3
    assert tables["table_8"]["rows"]["Quality"][0] == 76.8
    assert (rows_5 := tables["table_5"]["rows"])["raptor"][2] == 56.997
    assert rows_5["vanilla"][2] == 39.141


def test_the_survey_has_one_edge_fewer_than_nodes_in_each_tree():
    rows = load_expected("survey_tables")["table_13"]["rows"].values()
    assert all(row[0] - row[1] == 1 for row in rows)


def test_a_tree_asks_the_model_once_for_each_summary(tree, small_k):
    calls = [method.llm.ledger["build"].calls for method in (tree, small_k)]
    assert calls == [10, 8] == [len(method.graph.nodes) - 40 for method in (tree, small_k)]


def test_answers_in_what_each_search_brings_at_five_sizes(corpus, flat, bm25, tree):
    sizes = (3, 5, 7, 9, 11)
    walks = [tree.with_options(search="traversal", k=k) for k in range(1, 6)]
    down = [int(held(walker, corpus, size).sum()) for walker, size in zip(walks, sizes)]
    found = [[int(held(each, corpus, size).sum()) for size in sizes] for each in (tree, flat, bm25)]
    assert down == [14, 17, 20, 21, 21]
    assert found == [[19, 21, 22, 22, 23], [16, 17, 19, 22, 24], [18, 21, 21, 22, 23]]


def test_groups_dealt_at_random_join_as_many_as_the_sum_of_chances_says(corpus):
    names = [chunk.id for chunk in corpus.chunks]
    golds = [{*q.gold} for q in corpus.questions if len(q.gold) > 1]
    sizes, dealer = (5, 5, 4, 3, 6, 7, 3, 3, 4), np.random.default_rng(0)
    exact = sum(math.comb(s, len(g)) / math.comb(40, len(g)) for s in sizes for g in golds)
    deals = []
    for _ in range(1000):
        groups = np.split(dealer.permutation(names), np.cumsum(sizes)[:-1])
        deals.append(sum(any(g <= {*group} for group in groups) for g in golds))
    assert round(exact, 1) == 1.7 and abs(np.mean(deals) - exact) < 0.15
    assert 0.45 < np.mean(np.array(deals) > 1) < 0.55


def test_twenty_starts_join_three_questions_on_average_and_by_chance_about_two(corpus, vectors):
    """The chances added up, a group and a question at a time."""
    golds = [{*q.gold} for q in corpus.questions if len(q.gold) > 1]
    names, found, chances = [chunk.id for chunk in corpus.chunks], [], []
    for seed in range(20):
        made = GlobalThenLocal(dim=5, per_cluster=5, seed=seed)(vectors)
        groups = [{names[i] for i in group} for group in made if len(group) > 2]
        found += [sum(any(gold <= group for group in groups) for gold in golds)]
        each = [
            math.comb(len(g), len(gold)) / math.comb(40, len(gold))
            for g in groups
            for gold in golds
        ]
        chances += [sum(each)]
    assert np.mean(found) == 3.0 and np.mean(chances) == pytest.approx(2.15, abs=0.05)


def test_three_readers_say_a_short_name_on_q07_which_is_wrong_by_our_count(
    corpus, flat, bm25, tree, small_k
):
    q07 = corpus.question("q07")
    said = [m.answer(q07.text, task=m.short_task).text for m in (flat, tree, small_k, bm25)]
    assert said == ["Brandreth"] * 3 + ["Cecily Brandreth"] and q07.answers == (said[-1],)


def test_from_some_starts_and_limits_a_passage_is_in_two_groups(vectors):
    made = {
        (limit, seed): GlobalThenLocal(dim=5, per_cluster=limit, seed=seed)(vectors)
        for limit in (5, 6, 8)
        for seed in range(20)
    }
    sizes = {key: sum(map(len, groups)) for key, groups in made.items()}
    assert sizes[5, 0] == 40 < max(sizes.values())


def test_raptor_k_is_above_raptor_in_three_values_of_five():
    table = load_expected("survey_tables")["table_6"]["rows"]
    assert [a > b for a, b in zip(table["raptor-k"], table["raptor"])].count(True) == 3
    assert len(table["raptor"]) == 5


def test_bm25_wins_two_questions_by_items_that_do_not_say_the_rest(corpus, bm25):
    for name, person in (("q14", "Wasik"), ("q20", "Birtwhistle")):
        texts = [p.chunk.text for p in bm25.retrieve(corpus.question(name).text, k=5)]
        having = [
            {i for i, text in enumerate(texts) if word in text} for word in (person, "Lanthorn")
        ]
        assert having[0] and having[1] and not having[0] & having[1]


def test_raptor_k_gives_both_facts_of_q10(corpus, small_k):
    found = small_k.retrieve(corpus.question("q10").text, k=5)
    [over] = [each for each in small_k.graph.nodes[40:-1] if each.name.endswith("1.7")]
    assert [*found.ids][:2] == ["p16", "summary 1.7"]
    assert "p39" in {corpus.chunks[i].id for i in over.chunks} and "Pell" in over.description


def test_five_items_of_the_tree_have_fewer_words_than_five_passages(corpus, flat, tree):
    words = [
        np.mean(
            [
                sum(len(p.chunk.text.split()) for p in method.retrieve(q.text, k=5))
                for q in corpus.questions
            ]
        )
        for method in (tree, flat)
    ]
    assert [round(each) for each in words] == [410, 477]
