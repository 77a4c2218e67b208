"""Nested cross-validation on toys whose best setting is known, and walks that are added up."""

import numpy as np
import pytest

import minirag as mr
from minirag.core.trace import ChunkStep
from minirag.evaluate import evaluate_retrieval
from minirag.methods import METHODS, HippoRAGPassages
from minirag.operators import chunk
from minirag.reproduce.compositions import Scored, Setting, best, held_out, splits, walks
from minirag.reproduce.retrieval_tables import TARGETS, row_names

OPTIONS = ("passage_weight", "restart_probability", "passage_share", "power", "specificity")


@pytest.fixture(scope="module")
def scored():
    return Scored(mr.load_corpus("professors"), "lsa")


@pytest.mark.parametrize("seed", range(5))
def test_no_question_is_in_its_own_training_fold(seed):
    parts = list(splits(24, seed))
    assert len(parts) == 10
    for train, held in parts:
        assert not set(train) & set(held)
        assert sorted([*train, *held]) == list(range(24))
    assert sorted(np.concatenate([held for _, held in parts])) == list(range(24))


def test_shuffles_differ_and_are_repeatable():
    first, again, other = ([h.tolist() for _, h in splits(24, seed)] for seed in (0, 0, 1))
    assert first == again != other


def test_the_best_setting_is_chosen_in_every_fold():
    recalls = np.array([[50.0] * 40, [60.0, 80.0] * 20, [0.0, 100.0] * 20])
    found, chosen = held_out(recalls, splits(40, seed=0))
    assert chosen == [1] * 10
    assert found == pytest.approx(recalls[1])


def test_of_equal_settings_the_first_is_chosen():
    assert best(np.array([[40.0, 60.0], [60.0, 40.0], [50.0, 50.0 + 1e-9]])) == 0


def test_choosing_on_all_questions_is_optimistic_where_settings_are_noise():
    """Settings that answer by the toss of a coin: the best of 500 looks good, held out it is 50."""
    recalls = 100.0 * np.random.default_rng(0).integers(0, 2, (500, 100))
    on_all = recalls[best(recalls)].mean()
    held = np.mean([held_out(recalls, splits(100, seed))[0].mean() for seed in range(5)])
    assert on_all > 60
    assert held < 56


def test_a_question_in_its_own_training_fold_would_be_seen():
    """Each setting knows one question by heart. Choosing without that question never finds its
    setting; choosing with it does.
    """
    recalls = 100 * np.eye(20)
    clean, _ = held_out(recalls, splits(20, seed=0, folds=20))
    leaky, _ = held_out(recalls, ((held, held) for _, held in splits(20, seed=0, folds=20)))
    assert clean.max() == 0
    assert leaky.min() == 100


@pytest.mark.parametrize(
    "changed", [{}, {"passage_weight": 0.6, "power": 4, "passage_share": 0.5, "specificity": False}]
)
def test_walks_added_up_are_the_walk_of_the_method(scored, changed):
    """Also where a question names nothing, and where a passage is joined to no phrase."""
    at = Setting(**changed)
    method = HippoRAGPassages.from_graph(
        scored.graph, "offline", "lsa", **{name: getattr(at, name) for name in OPTIONS}
    )
    for step, trace in zip(scored.scores(at), method.score_many(scored.asked)):
        expected = trace[-1].scores
        assert step.scores / step.scores.sum() == pytest.approx(expected / expected.sum(), abs=2e-5)


def test_recall_is_that_of_the_methods(scored):
    for name in ("bm25", "dense"):
        method = METHODS[name].build(scored.corpus, encoder="lsa")
        averages, _ = evaluate_retrieval(method, scored.corpus.questions)
        found = scored.recall(scored.steps[name])
        assert found.mean() == pytest.approx(averages["R@5"]) and found.mean() > 30


def test_each_part_changes_the_scores(scored):
    plain = np.array([step.scores for step in scored.scores(Setting())])
    for part in ({"bm25": 0.3}, {"idf": True}, {"second": True}):
        other = np.array([step.scores for step in scored.scores(Setting(**part))])
        assert np.abs(other - plain).max() > 1e-3, part


def test_without_phrases_at_the_start_no_phrase_counts(scored):
    far = scored.scores(Setting(passage_share=1e9))
    alone = scored.scores(Setting(passage_share=np.inf))
    for one, other in zip(far, alone):
        assert one.scores / one.scores.sum() == pytest.approx(other.scores / other.scores.sum())


def test_the_second_counts_for_its_share():
    one, two = (ChunkStep(name, "", scores=np.array(s)) for name, s in
                (("a", [0.0, 2.0, 1.0]), ("b", [3.0, 1.0, 1.0])))  # fmt: skip
    assert chunk.average(one, two, "xyz").scores == pytest.approx([0.5, 0.5, 0.25])
    assert chunk.average(one, two, "xyz", 0.3).scores == pytest.approx([0.3, 0.7, 0.35])


def test_the_target_is_listed_with_its_rows():
    assert "compositions" in TARGETS
    assert "held out" in row_names("compositions")
    assert len(walks()) == len(set(walks())) == 600
