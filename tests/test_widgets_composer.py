"""The composer: a preset retrieves what its method retrieves, what does not fit is told and not
raised, and graphs are built once.
"""

import functools
import xml.etree.ElementTree as ET

import pytest

import minirag as mr
from minirag.core.errors import MiniragError
from minirag.evaluate.metrics import evaluate_retrieval
from minirag.methods.composed import Composed
from minirag.operators.operator import GRAPHS
from minirag.operators.pool import OPERATORS
from minirag.widgets import ComposerExplorer
from minirag.widgets.composer import MOST, PRESETS, SLOTS, preset

from .small import corpus_of

# Where the survey's row is an option of the method.
OPTIONS = {"hipporag": {"passage_matrix": "facts", "no_entities": "uniform"}}


@functools.cache
def professors():
    return mr.load_corpus("professors")


@functools.cache
def shared():
    return ComposerExplorer(professors(), encoder="lsa")


@pytest.fixture
def composer():
    return shared().set("question", "q01").set("k", 5).set("preset", "hipporag")


def choose(composer, graph, *operators):
    composer.set("graph", graph)
    for slot, name in zip(SLOTS, [*operators, *[""] * len(SLOTS)]):
        composer.set(slot, name)
    return composer


@pytest.mark.paper("Survey", "tab-3")
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_retrieves_what_its_method_retrieves(name, composer):
    method = mr.METHODS[name].build(professors(), encoder="lsa", **OPTIONS.get(name, {}))
    composer.set("preset", name)
    whole = method.retrieve_many([question.text for question in professors().questions], 5)
    for question, own in zip(professors().questions, whole):
        found = composer.set("question", question.id).shown()[2]
        assert [(p.id, p.score) for p in found] == [(p.id, p.score) for p in own]
    graph, operators = preset(name)
    assert graph == method.graph_type and composer.state["preset"] == name
    named = {f"{kind} {each}" for kind, names in method.operators.items() for each in names}
    assert set(operators) - {"question Keywords"} == named


@pytest.mark.parametrize("k", [1, 5, MOST])
def test_means_are_those_of_the_benchmark(composer, k):
    composer.set("preset", "lightrag-local").set("k", k)
    means = []
    for name in ("lightrag-local", "dense"):
        method = mr.METHODS[name].build(professors(), encoder="lsa")
        means.append(evaluate_retrieval(method, professors().questions, ks=[k])[0][f"R@{k}"])
    own, dense = means
    told = composer.shown()[3]
    assert told.startswith(f"R@{k}, mean of 24 questions: {own:.1f}, dense {dense:.1f}; ")
    assert f"; {own - dense:+.1f}, 95 % interval [" in told
    assert len(composer.shown()[2].passages) == k
    assert "equal for every question" in composer.set("preset", "dense").shown()[3]


@pytest.mark.parametrize(
    "graph, operators, said",
    [
        ("none", (), "No operator chooses anything"),
        ("knowledge", ("chunk FromRel",), "nothing before it gives relations. These do: "),
        ("tree", ("node VDB", "node PPR"), "node PPR works on a graph of type knowledge,"),
        ("knowledge", ("node Link", "chunk Aggregator"), "scores of all relations or scores of"),
    ],
)
def test_what_does_not_fit_is_told_in_the_composers_words(composer, graph, operators, said):
    choose(composer, graph, *operators)
    with pytest.raises(MiniragError) as error:
        mr.compose(graph=graph, operators=operators)
    head, figure, found, means = composer.shown()
    assert head == f"Does not run: {error.value}" and said in head
    assert (found, means, composer.state["preset"]) == (None, "", "")
    assert figure.text.count("does not fit") == bool(operators)
    for text in (composer.describe(), composer.figure().text):
        assert head in text
    assert "rank" not in composer.html() and "<b>Does not run:</b>" in composer.html()


def test_every_single_operator_on_every_graph_is_shown(composer):
    ran = []
    for graph in GRAPHS:
        for name in OPERATORS:
            choose(composer, graph, name)
            ET.fromstring(f"<div>{composer.html()}</div>".replace("<br>", "<br/>"))
            ran += [(graph, name)] if composer.shown()[2] else []
    assert ("none", "chunk VDB") in ran and ("none", "node VDB") not in ran
    assert {graph for graph, _ in ran} == set(GRAPHS)


def test_boxes_say_what_each_takes_and_how_much_it_gives(composer):
    choose(composer, "rich knowledge", "question Keywords", "relationship VDB", "node FromRel")
    found = composer.shown()[2]
    ends = len(found.trace.all(mr.NodeStep)[0].nodes)
    assert composer.shown()[1].text.splitlines() == [
        "  question Keywords takes from the question; gives the question's keywords (2)",
        "  relationship VDB takes from question Keywords; gives relations (4)",
        f"  node FromRel takes from relationship VDB; gives nodes ({ends})",
    ]
    assert "; passages behind: " in composer.describe()  # no operator scores passages
    choose(composer, "none", "question Keywords", "chunk VDB")
    assert "nobody uses what these give: question Keywords" in composer.describe()


def test_the_preset_follows_the_operators(composer):
    composer.set("fourth", "")
    assert composer.state["preset"] == ""
    composer.set("fourth", "chunk Aggregator")
    assert composer.state["preset"] == "hipporag"
    composer.set("preset", "vgraphrag")
    assert composer.plan == preset("vgraphrag") and composer.state["fourth"] == "community VDB"
    assert composer.set("preset", "").state["preset"] == "vgraphrag"


def test_gold_passages_are_marked(composer):
    gold = {q.id: q.gold for q in professors().questions}["q01"]
    found = composer.shown()[2]
    marks = sum(passage.id in gold for passage in found)
    assert marks and composer.describe().count("[gold]") == marks
    assert composer.html().count(">gold</span>") == marks
    assert f"{found.passages[0].chunk.label} [gold]" in composer.figure().text


def test_graphs_are_built_once_and_compositions_run_once(monkeypatch):
    composer, built, asked = ComposerExplorer(professors(), encoder="lsa"), [], []
    build, retrieve = Composed.build.__func__, Composed.retrieve_many

    def building(cls, *args, **named):
        built.append(cls.graph_type)
        return build(cls, *args, **named)

    def retrieving(self, *args, **named):
        asked.append(type(self).row)
        return retrieve(self, *args, **named)

    monkeypatch.setattr(Composed, "build", classmethod(building))
    monkeypatch.setattr(Composed, "retrieve_many", retrieving)
    for _ in range(2):
        for name in ("graphrag-local", "vgraphrag", "dense"):
            for question in ("q01", "q02"):
                composer.set("preset", name).set("question", question).html()
    assert sorted(built) == ["none", "textual knowledge"] and len(asked) == 3
    first, second = (composer._at(*preset(name)) for name in ("graphrag-local", "vgraphrag"))
    assert first is not second


def test_controls_move_the_panel(composer):
    view = composer.view()
    before = composer._panel.value
    composer.widgets["preset"].value = "lightrag-local"
    assert composer.widgets["first"].value == "question Keywords"
    assert composer.widgets["graph"].value == "rich knowledge"
    assert composer._panel.value != before and view.children[-1] is composer._panel
    composer.widgets["graph"].value = "tree"
    assert "Does not run:" in composer._panel.value and composer.widgets["preset"].value == ""


def test_questions_without_gold_are_not_asked():
    corpus = corpus_of(("p1", "Ada met Ben in Oslo."), ("p2", "Cy left Bergen."))
    with pytest.raises(MiniragError, match="needs questions with gold passages"):
        ComposerExplorer(corpus)
    composer = ComposerExplorer(
        corpus, [mr.Question("q", "Who met <Ben>?", gold=("p1",))], 1, "lsa"
    )
    assert "R@1, mean of 1 questions" in composer.set("preset", "dense").describe()
    assert "<Ben>" not in composer.html()


def test_a_text_without_triples_is_told_not_raised():
    corpus = corpus_of(("p1", "it is so."), ("p2", "and so it was."))
    composer = ComposerExplorer(corpus, [mr.Question("q", "Was it?", gold=("p1",))], encoder="lsa")
    assert "Does not run: " in composer.describe() and "no usable triple" in composer.html()
