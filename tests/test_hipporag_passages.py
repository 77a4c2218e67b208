"""HippoRAG's walk with passages as nodes: its restarts, its walk, its fallbacks, its numbers."""

import networkx as nx
import numpy as np
import pytest

import minirag as mr
from minirag.core.corpus import Extraction, Triple
from minirag.core.errors import MiniragError
from minirag.core.trace import ChunkStep, NodeStep, ScoredNode, WalkStep
from minirag.evaluate import evaluate_retrieval
from minirag.methods import METHODS
from minirag.methods.hipporag_passages import HippoRAGPassages
from minirag.operators.node import reset_vector, restarts

from .by_hand import personalized_pagerank_by_hand
from .small import corpus_of

TEXTS = (
    ("p1", "Ada Berg met Ben Holt in Oslo."),
    ("p2", "Ben Holt was born in Bergen."),
    ("p3", "Bergen lies at the sea."),
    ("p4", "Cats sleep all day."),
)
TRIPLES = {
    "p1": (Triple("Ada Berg", "met", "Ben Holt"),),
    "p2": (Triple("Ben Holt", "born in", "Bergen"),),
    "p3": (Triple("Bergen", "lies at", "sea"),),
}
ASKED = "Where was the man born whom Ada Berg met?"
UNNAMED = "Which cats sleep?"


@pytest.fixture(scope="module")
def method():
    read = Extraction("hand", {}, TRIPLES)
    known = {UNNAMED: ()}
    return HippoRAGPassages.build(
        corpus_of(*TEXTS), encoder="lsa", extraction=read, question_entities=known
    )


def dense(*scores):
    return ChunkStep("chunk vdb", "", scores=np.array(scores))


def test_links_weigh_specificity_times_cosine_and_never_below_zero():
    linked = [ScoredNode("a", 0, 0.5), ScoredNode("b", 2, 0.8), ScoredNode("c", 1, -0.3)]
    specificity = np.array([1, 1, 0.25])
    assert reset_vector(linked, 4, specificity, per="score") == pytest.approx([0.5, 0, 0.2, 0])
    assert reset_vector(linked, 4, specificity) == pytest.approx([1, 1, 0.25, 0])


def test_restarts_by_hand():
    """Two questions: one with phrases .6 and .2, one with none; cosines .2, .4, .6 twice."""
    at_phrases = np.array([[0.6, 0], [0.2, 0]])
    found = restarts(at_phrases, [dense(0.2, 0.4, 0.6)] * 2, share=2, power=2)
    # Moved to [0, 1]: 0, .5, 1; squared: 0, .25, 1; scaled to sum 2, or 1 where nothing is linked.
    assert found[:, 0] == pytest.approx([0.75, 0.25, 0, 0.4, 1.6])
    assert found[:, 1] == pytest.approx([0, 0, 0, 0.2, 0.8])


def test_passages_that_score_alike_start_alike():
    found = restarts(np.zeros((1, 1)), [dense(0.5, 0.5)], share=2, power=2)
    assert found[:, 0] == pytest.approx([0, 0.5, 0.5])


@pytest.mark.paper("Wang", "hippo-ppr")
def test_the_walk_is_that_of_the_joint_graph_by_hand(method):
    """A networkx graph with the passages in it, walked by hand, gives every passage's score."""
    method = method.with_options(passage_weight=0.7, restart_probability=0.3)
    trace = method.retrieve(ASKED, k=4).trace
    adjacency, count = method.phrases.adjacency, len(method.graph.nodes)
    graph = nx.from_scipy_sparse_array(adjacency)
    for i, node in enumerate(method.graph.nodes):
        graph.add_weighted_edges_from((i, count + place, 0.7) for place in set(node.chunks))
    graph.add_nodes_from(range(count + len(TEXTS)))
    walked = trace.last(WalkStep)
    expected = personalized_pagerank_by_hand(graph, dict(enumerate(walked.reset)), damping=0.7)
    scores = [expected[i] for i in range(count + len(TEXTS))]
    assert walked.scores == pytest.approx(scores, abs=1e-9)
    assert trace.last("chunk aggregator").scores == pytest.approx(scores[count:], abs=1e-9)


def test_the_walk_reaches_what_the_question_does_not_name(method):
    """From phrases alone the passage on Bergen is reached over Ben Holt; the cats are not."""
    alone = method.with_options(passage_share=0).retrieve(ASKED, k=4)
    assert alone.ids[-1] == "p4" and alone.passages[-1].score == 0
    assert [p.score > 0 for p in alone.passages[:3]] == [True] * 3


def test_without_edges_to_phrases_the_order_is_that_of_dense_retrieval(method):
    alone = method.with_options(passage_weight=0, passage_share=5)
    order = METHODS["dense"].build(corpus_of(*TEXTS), encoder="lsa").retrieve(ASKED, k=4).ids
    assert alone.retrieve(ASKED, k=4).ids == order


def test_a_question_without_phrases_starts_at_the_passages_alone(method):
    for share in (0, 0.5, 9):
        trace = method.with_options(passage_share=share).retrieve(UNNAMED).trace
        reset = trace.last(WalkStep).reset
        assert not trace.last(NodeStep).nodes
        assert not reset[:-4].any() and reset.sum() == pytest.approx(1)
        assert trace.last(ChunkStep).scores.sum() > 0


@pytest.mark.parametrize("count, read_from", [(1, ["p1"]), (2, ["p1"]), (4, ["p3"])])
def test_one_passage_and_passages_of_which_nothing_was_read(count, read_from):
    read = Extraction("hand", {}, {id: TRIPLES[id] for id in read_from})
    built = HippoRAGPassages.build(corpus_of(*TEXTS[:count]), encoder="lsa", extraction=read)
    for question in (ASKED, "why?"):
        found = built.retrieve(question, k=9)
        assert len(found.ids) == count and np.isfinite([p.score for p in found]).all()
        assert sum(p.score for p in found) > 0


def test_a_text_of_which_nothing_was_read_is_refused():
    with pytest.raises(MiniragError, match="no usable triple"):
        HippoRAGPassages.build(corpus_of(*TEXTS), extraction=Extraction("hand", {}, {}))


def test_a_changed_option_recomputes_what_it_decides_and_no_more(method):
    _ = method.transition, method.chunk_index
    heavier, apart = method.with_options(passage_weight=2), method.with_options(specificity=False)
    assert heavier.transition is not method.transition and heavier.phrases is method.phrases
    assert apart.transition is method.transition and apart.phrases.specificity is None
    alike = method.with_options(synonymy_threshold=-1)
    assert len(alike.hippocampal_index.edges) > len(method.hippocampal_index.edges)
    with pytest.raises(MiniragError, match="no option 'damping'"):
        method.with_options(damping=0.5)


def test_a_walk_with_passages_can_be_drawn(method):
    from minirag.cli.show import draw_walk, entities_behind

    found = method.retrieve(ASKED)
    assert "ben holt" in draw_walk(method, found).text
    assert "ben holt" in [name for name, _ in entities_behind(method, found, found.passages[0])]


@pytest.mark.slow
@pytest.mark.needs("musique_train")
def test_rules_alone_find_four_fifths_of_what_musique_needs():
    corpus = mr.load_dataset("musique_train")
    built = HippoRAGPassages.build(corpus)
    averages, _ = evaluate_retrieval(built, corpus.questions)
    assert averages["R@2"] == pytest.approx(59.7, abs=1)
    assert averages["R@5"] == pytest.approx(79.7, abs=1)
