"""Explorers: a slider moved from Python does what a reader's hand does, and the text says the same
as the picture.
"""

import statistics
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace

import ipywidgets
import networkx as nx
import numpy as np
import pytest

from minirag.algorithms.pagerank import personalized_pagerank
from minirag.core.corpus import Chunk, Question
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.results import Passage, Retrieval
from minirag.core.trace import NodeStep, ScoredNode, Step, WalkStep
from minirag.widgets import (
    Choice,
    Explorer,
    HippoExplorer,
    RetrievalBrowser,
    Slider,
    Switch,
    WalkExplorer,
)

EVIL = "<script>alert('x')</script>"


class Counter(Explorer):
    """A model with one control of each kind."""

    def __init__(self):
        super().__init__(
            Slider("count", "count", 0, 10, 1, 3),
            Slider("share", "share", 0.0, 1.0, 0.1, 0.5),
            Choice("word", "word", (("one", 1), ("two", 2)), 1),
            Switch("on", "on", True),
        )

    def describe(self):
        return ", ".join(f"{name} {value}" for name, value in self.state.items())

    def html(self):
        return f"<p>{self.describe()}</p>"


@dataclass
class StubOptions:
    restart_probability: float = 0.5
    synonymy_threshold: float = 0.8
    specificity: bool = True
    strict: bool = True
    restart_read_as: str = "follow"


class StubHippo:
    """A method of HippoRAG's shape whose numbers can be worked out by hand: mass
    `1 - restart_probability` stays on the linked node.
    """

    def __init__(self, chosen=None):
        self.chosen = chosen or StubOptions()
        nodes = tuple(Node(name) for name in ("mill", EVIL, "old mill", "river"))
        edges = (
            Edge(0, 1, "near"),
            Edge(1, 3, "crosses"),
            Edge(0, 2, kind="synonymy", weight=0.85),
            Edge(2, 3, kind="synonymy", weight=0.95),
        )
        self.graph = self.hippocampal_index = Graph("knowledge", "a test", nodes, edges, ())

    def with_options(self, **options):
        copy = StubHippo(replace(self.chosen, **options))
        copy.hippocampal_index = self.hippocampal_index
        return copy

    def retrieve(self, question, k=5):
        if "nothing" in question:
            return Retrieval(
                question,
                "stub",
                (Passage(Chunk("p1", "Only dense."), 0.4, 1),),
                (Step("entities", "none"), NodeStep("link", "none", nodes=())),
            )
        d = self.chosen.restart_probability
        edges = self.hippocampal_index.edges
        bridge = sum(e.weight for e in edges if e.kind == "synonymy")
        scores = np.array([1 - d, d / 2, d / 2 * bridge, 0.0 if self.chosen.specificity else d])
        trace = (
            Step("entities", "mill"),
            NodeStep("link", "1 phrase", nodes=(ScoredNode("mill", 0, 0.99),)),
            WalkStep("ppr", "walk", scores=scores / scores.sum(), reset=np.eye(4)[0]),
        )
        chunks = [
            Chunk("p1", f"The mill of {EVIL}.", "Mill & more"),
            Chunk("p2", "A river.", "River"),
        ]
        return Retrieval(
            question,
            "stub",
            tuple(Passage(c, float(s), i) for i, (c, s) in enumerate(zip(chunks, scores), start=1))[
                :k
            ],
            trace,
        )


def hippo(**options):
    questions = [
        Question("q1", "Where is the mill?", gold=("p2",)),
        Question("q2", f"What of {EVIL}?"),
        Question("q3", "About nothing?"),
    ]
    return HippoExplorer(StubHippo(), questions, **options)


def browser():
    def found(question, method, ids):
        return Retrieval(
            question,
            method,
            tuple(
                Passage(Chunk(i, f"Text of {i} {EVIL}", f"T {i}"), 1 / n, n)
                for n, i in enumerate(ids, start=1)
            ),
        )

    data = [
        ("q1", ("a",), "ab", "ba"),
        ("q2", ("c",), "ab", "ca"),
        ("q3", ("d", "a"), "da", "ab"),
        ("q4", ("z",), "ab", "ab"),
    ]
    return RetrievalBrowser(
        [
            (
                Question(i, f"Question {i} {EVIL}?", (EVIL,), gold),
                found(i, "dense", a),
                found(i, "hipporag", b),
            )
            for i, gold, a, b in data
        ],
        k=2,
    )


def walk():
    return WalkExplorer(nx.path_graph(["ann", "bob", "cy", EVIL]), ["ann"], steps=40)


EXPLORERS = {"counter": Counter, "hippo": hippo, "browser": browser, "walk": walk}


def all_widgets(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from all_widgets(child)


def panel(view):
    return next(w for w in all_widgets(view) if isinstance(w, ipywidgets.HTML))


def test_a_moved_slider_changes_state_and_panel():
    explorer = Counter()
    view = explorer.view()
    assert panel(view).value.startswith('<div class="mathjax_ignore">')
    before = panel(view).value
    explorer.widgets["count"].value = 7
    assert (
        explorer.state["count"] == 7
        and "count 7" in panel(view).value
        and panel(view).value != before
    )
    explorer.widgets["on"].value = False
    assert explorer.describe() == "count 7, share 0.5, word 1, on False"


def test_set_moves_the_slider_and_draws_once():
    explorer = Counter()
    view = explorer.view()
    drawn = []
    panel(view).observe(lambda change: drawn.append(change["new"]), names="value")
    assert explorer.set("share", 0.30000000000000004).set("word", 2) is explorer
    assert explorer.widgets["share"].value == 0.3 and explorer.widgets["word"].value == 2
    assert len(drawn) == 2 and "share 0.3, word 2" in drawn[-1]


def test_sliders_wait_for_the_hand_to_let_go():
    explorer = Counter()
    explorer.view()
    assert [explorer.widgets[name].continuous_update for name in ("count", "share")] == [
        False,
        False,
    ]


@pytest.mark.parametrize(
    "name, value",
    [
        ("count", 11),
        ("count", "3"),
        ("count", True),
        ("share", -0.2),
        ("word", 3),
        ("on", 1),
        ("speed", 1),
    ],
)
def test_wrong_values_are_refused_with_what_was_expected(name, value):
    explorer = Counter()
    with pytest.raises(MiniragError, match="expected|it has: count, share, word, on"):
        explorer.set(name, value)
    assert explorer.describe() == "count 3, share 0.5, word 1, on True"


def test_values_snap_to_the_sliders_steps():
    assert Counter().set("share", 0.26).state["share"] == 0.3
    assert Counter().set("count", 4.4).state["count"] == 4


@pytest.mark.parametrize("kind", EXPLORERS)
def test_views_hold_only_what_a_stored_notebook_can_prove(kind):
    explorer = EXPLORERS[kind]()
    view = explorer.view()
    assert not [
        w for w in all_widgets(view) if isinstance(w, (ipywidgets.Output, ipywidgets.interactive))
    ]
    assert sum(isinstance(w, ipywidgets.HTML) for w in all_widgets(view)) == 1
    assert (
        "0x" not in repr(explorer)
        and repr(explorer) == repr(EXPLORERS[kind]())
        and repr(view) == repr(EXPLORERS[kind]().view())
    )
    assert (
        explorer.describe() == EXPLORERS[kind]().describe()
        and explorer.html() == EXPLORERS[kind]().html()
    )


@pytest.mark.parametrize("kind", EXPLORERS)
def test_panels_are_well_formed_and_hold_no_corpus_markup(kind):
    explorer = EXPLORERS[kind]()
    view = explorer.view()
    for name, control in explorer.controls.items():
        values = (
            [v for _, v in control.options]
            if isinstance(control, Choice)
            else [False, True]
            if isinstance(control, Switch)
            else [control.low, control.high]
        )
        for value in values:
            explorer.set(name, value)
            assert "<script" not in panel(view).value
            ET.fromstring(panel(view).value.replace("<br>", "<br/>"))


def test_hippo_shows_what_the_restart_probability_does():
    explorer = hippo()
    assert explorer.describe().splitlines() == [
        "q1: Where is the mill?",
        "probability of following an edge 0.50, synonymy from 0.80 (2 edges), specificity on",
        "linked: mill -> mill (0.99)",
        f"mass: mill 0.417, old mill 0.375, {EVIL} 0.208",
        "passages:",
        "  1. 0.5000  Mill & more",
        "  2. 0.2500  River [gold]",
    ]
    assert "mass: mill 0.865" in explorer.set("restart_probability", 0.1).describe()
    assert "river" in explorer.set("specificity", False).describe().splitlines()[3]


def test_hippo_threshold_takes_synonymy_edges_away():
    explorer = hippo()
    assert (
        explorer.figure().svg.count("stroke-dasharray") == 2
    )  # mill ~ old mill, and the legend; no mass reaches the river
    assert "(1 edges)" in explorer.set("synonymy_threshold", 0.9).describe()
    assert explorer.figure().svg.count("stroke-dasharray") == 0
    assert "(0 edges)" in explorer.set("synonymy_threshold", 1.0).describe()


def test_hippo_nodes_stay_in_place_while_sliders_move():
    explorer = hippo()

    def where():
        return {
            (c.title.split(":")[0]): (c.x, c.y)
            for c in explorer.figure().scene.items
            if type(c).__name__ == "Circle" and c.title
        }

    places = where()
    explorer.set("restart_probability", 0.9).set("synonymy_threshold", 1.0)
    assert where() == places and len(places) == 3


def test_hippo_survives_questions_without_entities():
    explorer = hippo().set("question", "q3")
    assert "linked: nothing" in explorer.describe() and "No node is linked" in explorer.html()
    with pytest.raises(MiniragError, match="at least one question"):
        HippoExplorer(StubHippo(), [])


def test_hippo_on_the_real_method():
    from minirag.corpora.shipped_and_folders import load_corpus
    from minirag.methods.hipporag import HippoRAG

    corpus = load_corpus("professors")
    method = HippoRAG.build(corpus, encoder="lsa", extraction="annotations")
    explorer = HippoExplorer(method, corpus)
    view = explorer.view()
    for threshold in (0.9, 0.7):
        own = method.with_options(synonymy_threshold=threshold, restart_probability=0.3)
        explorer.set("synonymy_threshold", threshold).set("restart_probability", 0.3)
        drawn = explorer._joined(threshold).hippocampal_index
        assert drawn.edges == own.hippocampal_index.edges
        assert explorer.retrieval.ids == own.retrieve(explorer.question.text, 5).ids
    times, seen = [], {}
    for question in corpus.questions:
        for name, value in (
            ("question", question.id),
            ("restart_probability", 0.4),
            ("restart_probability", 0.8),
            ("specificity", False),
            ("specificity", True),
        ):
            start = time.perf_counter()
            explorer.widgets[name].value = value
            times.append(time.perf_counter() - start)
            seen[question.id, name, value] = panel(view).value
            assert question.text[:20] in explorer.describe() and panel(view).value.count("<tr") == 6
        walks = "linked: nothing" not in explorer.describe()
        rarely, often = (seen[question.id, "restart_probability", p] for p in (0.4, 0.8))
        assert (rarely != often) == walks
    all_seen = {seen[q.id, "restart_probability", 0.8] for q in corpus.questions}
    assert len(all_seen) == len(corpus.questions)
    assert statistics.median(times) < 0.3


def test_walk_is_the_power_iteration_of_pagerank():
    explorer = walk()
    assert explorer.mass.tolist() == [1, 0, 0, 0]
    explorer.set("step", 1)
    np.testing.assert_allclose(explorer.mass, [0.5, 0.5, 0, 0])
    explorer.set("step", 40)
    adjacency = nx.to_scipy_sparse_array(explorer.graph, dtype=float)
    np.testing.assert_allclose(
        explorer.mass, personalized_pagerank(adjacency, np.array([1.0, 0, 0, 0]), 0.5), atol=1e-9
    )
    assert explorer.describe().startswith(
        "step 40, damping 0.50; mass that moved in this step: 0.0000\n  0.5"
    )


def test_walk_moves_mass_in_the_figure():
    explorer = walk()
    view = explorer.view()
    seen = []
    for step in (0, 1, 2, 3):
        explorer.widgets["step"].value = step
        seen.append(panel(view).value)
    assert len(set(seen)) == 4 and "ann: 1.0000" in seen[0] and "bob: 0.5000" in seen[1]
    with pytest.raises(MiniragError, match="'zoe' is none"):
        WalkExplorer(nx.path_graph(["ann", "bob"]), ["zoe"])


def test_walk_over_a_kit_graph_counts_weights():
    graph = Graph(
        "knowledge",
        "a test",
        tuple(Node(n) for n in "abc"),
        (Edge(0, 1, weight=3.0), Edge(0, 2, weight=1.0)),
        (),
    )
    np.testing.assert_allclose(
        WalkExplorer(graph, {"a": 2}, damping=0.8).set("step", 1).mass, [0.2, 0.6, 0.2]
    )


def test_browser_sorts_questions_into_hits_and_misses():
    explorer = browser()
    assert explorer.members == {
        "all": ["q1", "q2", "q3", "q4"],
        "hit": ["q1", "q2"],
        "miss": ["q3", "q4"],
        "gained": ["q2"],
        "lost": ["q3"],
    }
    assert (
        explorer.describe().splitlines()[0]
        == "4 questions, dense against hipporag, first 2: hit 2, miss 2, gained 1, lost 1"
    )
    view = explorer.view()
    explorer.widgets["show"].value = "lost"
    assert (
        explorer.state["question"] == "q3"
        and explorer.widgets["question"].options == explorer.controls["question"].options
    )
    assert (
        "dense: 2 of 2 gold\n  1. 1.0000  T d [gold]\n  2. 0.5000  T a [gold]\nhipporag: 1 of "
        "2 gold" in explorer.describe()
    )
    assert panel(view).value.count(">gold</span>") == 3
    explorer.set("show", "miss").set("question", "q4")
    assert "Found by neither: z" in panel(view).value
    with pytest.raises(MiniragError):
        explorer.set("question", "q1")
    assert "q4" in explorer.figure().title


def test_browser_says_when_no_question_is_left():
    question, retrieval = (
        Question("q", "Q?", gold=("a",)),
        Retrieval("Q?", "m", (Passage(Chunk("a", "t"), 1.0, 1),)),
    )
    explorer = RetrievalBrowser([(question, retrieval, retrieval)], names=("one", "two"))
    explorer.view()
    explorer.set("show", "lost")
    assert (
        "no question is of this kind" in explorer.describe()
        and "No question" in explorer._panel.value
    )
    assert "one: 1 of 1 gold" in explorer.set("show", "hit").describe()
