"""The pruning explorer: its factors are Eq. 6 on the question as it moves, every control is felt,
and hostile text stays text.
"""

import statistics
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from minirag import viz
from minirag.algorithms.ego_graphs import TextualGraph
from minirag.core.errors import MiniragError
from minirag.viz.scene import Colour
from minirag.widgets import PruningExplorer
from minirag.widgets.pruning import BY_HAND

EVIL = "<script>alert('x')</script>"
STAR = TextualGraph(("Ann", "Bob", EVIL), ((0, "boss", 1), (0, "pet", 2), (0, "pays", 1)))
FIRST, SECOND = "the boss ?", "the pet ?"


PLACES = {
    "Ann": (1, 0),
    "Bob": (0, 1),
    EVIL: (-1, 0),
    "boss": (1, 0),
    "pet": (0, 1),
    "pays": (0, -1),
    FIRST: (1, 0),
    SECOND: (0, 1),
}


class Corners:
    """Texts at the corners of a square, so that every distance can be worked out by hand."""

    name = "corners"

    def encode(self, texts, kind="passage"):
        return np.array([PLACES[text] for text in texts], dtype=np.float32)


@pytest.fixture
def explorer():
    explorer = PruningExplorer(STAR, [FIRST, SECOND], Corners())
    return explorer.set("middle", 1.0).set("steepness", 5.0)


def test_factors_are_a_sigmoid_of_the_euclidean_distance(explorer):
    nodes, edges = explorer.distances()
    assert nodes == pytest.approx([0, 2**0.5, 2]) and edges == pytest.approx([0, 2**0.5, 2**0.5])
    alpha, _ = explorer.factors
    assert alpha == pytest.approx(
        [1 / (1 + np.exp(-5)), 1 / (1 + np.exp(5 * (2**0.5 - 1))), 1 / (1 + np.exp(5))]
    )


def test_the_question_moves_to_the_other_one_and_stays_a_unit_vector(explorer):
    start, end = explorer.vector, explorer.set("share", 1.0).vector
    middle = explorer.set("share", 0.5).vector
    assert (start, end) == (
        pytest.approx([1, 0]),
        pytest.approx([0, 1]),
    ) and middle == pytest.approx([0.5**0.5, 0.5**0.5])
    assert explorer.set("share", 1.0).factors[0] == pytest.approx(
        explorer.set("share", 0.0).set("question", SECOND).factors[0]
    )


def test_learnt_factors_and_an_answer_see_the_question_as_it_is():
    seen = []

    def learnt(vector):
        seen.append(vector)
        return np.full(3, 0.25), np.full(3, 0.75)

    explorer = PruningExplorer(
        STAR,
        [FIRST, SECOND],
        Corners(),
        {"learnt": learnt},
        lambda vector: f"it says {EVIL} at {vector[0]:.1f}",
    )
    assert explorer.state["factors"] == "learnt" and explorer.factors[0].tolist() == [0.25] * 3
    explorer.set("share", 1.0)
    assert (
        "at 0.0" in explorer.describe()
        and explorer.factors[1].tolist() == [0.75] * 3
        and seen[-1] == pytest.approx([0, 1])
    )
    assert EVIL not in explorer.html() and "alert" in explorer.html()
    assert explorer.set("factors", BY_HAND).factors[0][0] != 0.25


@pytest.mark.parametrize(
    "name, value", [("question", SECOND), ("share", 0.5), ("middle", 1.3), ("steepness", 20.0)]
)
def test_every_control_changes_what_is_shown(explorer, name, value):
    panel = explorer.view().children[-1]
    before = panel.value
    explorer.set(name, value)
    assert panel.value != before and explorer.widgets[name].value == value


def test_the_target_is_felt_once_the_question_has_left(explorer):
    explorer.set("share", 0.5)
    before = explorer.html()
    assert explorer.set("other", FIRST).html() != before and explorer.vector == pytest.approx(
        [1, 0]
    )


def test_ink_follows_the_factors_and_the_text_says_them(explorer):
    explorer.set("steepness", 30.0)
    figure = explorer.figure()
    fills = [
        circle.get("fill")
        for circle in ET.fromstring(figure.svg).iter("{http://www.w3.org/2000/svg}circle")
    ]
    assert Colour.BLUE in fills and Colour.WHITE in fills
    assert (
        "  1.00  Ann" in figure.text and "Ann -- boss, pays -> Bob  1.00" in figure.text
    )  # of two edges the larger factor
    assert "  0.00  1.00  Ann -> boss -> Bob" in explorer.describe()


def test_an_opacity_outside_is_refused():
    with pytest.raises(MiniragError, match="opacity of 1.2"):
        viz.draw_graph(STAR, node_opacity=[0.5, 1.2, 0])
    with pytest.raises(MiniragError, match="opacity of -1.0"):
        viz.draw_graph(STAR, edge_opacity={(0, 1): -1})


def test_what_cannot_be_explored_is_refused(explorer):
    with pytest.raises(MiniragError, match="at least one question"):
        PruningExplorer(STAR, [], Corners())
    with pytest.raises(MiniragError, match="with nodes"):
        PruningExplorer(TextualGraph(()), [FIRST], Corners())
    with pytest.raises(MiniragError, match="no control"):
        explorer.set("alpha", 1)


def test_a_graph_without_edges_is_explored(explorer):
    alone = PruningExplorer(TextualGraph(("Ann",)), [FIRST], Corners())
    assert "edges: 0.0 of 0 left" in alone.describe() and alone.html()


def test_a_redraw_is_quick(explorer):
    explorer.view()
    took = []
    for step in range(1, 10):
        begin = time.perf_counter()
        explorer.set("share", step / 10)
        took.append(time.perf_counter() - begin)
    assert statistics.median(took) < 0.5
