"""The stepper for walks of ToG and ToG-2: it shows what the trace holds, and a reader's choice
changes what follows from it and nothing before.
"""

import xml.etree.ElementTree as ET
from itertools import pairwise

import ipywidgets
import pytest

import minirag as mr
from minirag.core.errors import MiniragError
from minirag.methods import METHODS, tog
from minirag.operators.agent import ChoiceStep
from minirag.widgets import AgentWalk, walk_stepper

from .small import corpus_of, extraction_of

QUESTION = "In which town did the surveyor who put Goat Bank on paper die?"
ENTITY, RELATION = "Hester Quillfeather", "award received"
EVIL = "<script>alert('x')</script>"


@pytest.fixture(scope="module", params=["tog", "tog2"])
def method(request):
    corpus = mr.load_corpus("mini_wiki")
    return METHODS[request.param].build(corpus, extraction="triples", encoder="lsa")


@pytest.fixture(scope="module")
def walk(method):
    return AgentWalk(method, QUESTION)


def spot_of(walk):
    """A depth after the first where something is kept, an entity there, a relation not chosen."""
    for depth in walk.depths[1:]:
        for entity, (known, _) in walk.offered(depth).items():
            rows = {row["offered"]: row for row in walk.table(depth)}
            for name in known:
                if not rows[f"{entity}: {name}"]["kept"]:
                    return depth, entity, name
    raise AssertionError("the walk has no such spot")


def test_a_walk_shows_what_the_trace_of_the_method_holds(method, walk):
    trace = method.retrieve(QUESTION).trace
    steps = trace.all(ChoiceStep)
    assert [walk.frontier(d) for d in walk.depths] == [
        list(step.topics) for step in steps if step.kind == "relations"
    ]
    for depth in walk.depths:
        offered = [(s.kind, *row) for s in steps if s.depth == depth for row in s.offered]
        table = walk.table(depth)
        assert [(r["kind"], r["offered"], r["score"], r["why"]) for r in table] == offered
        assert all(row["kept"] == (not row["why"]) for row in table)
    assert walk.reason == trace.last("stop").summary and walk.reason in walk.summary
    triples, passages = walk.evidence(1)
    kept = [r["offered"] for r in walk.table(1) if r["kind"] == "entities" and r["kept"]]
    assert triples == kept and bool(passages) == (method.name == "tog2")
    assert len(walk.evidence(2)[0]) > len(triples)


def test_a_walk_counts_its_own_calls_and_leaves_the_method_as_it_was(method, walk):
    before, model = method.llm.ledger.total, method.llm
    again = AgentWalk(method, QUESTION)
    assert method.llm is model and method.llm.ledger.total == before
    assert again.llm.ledger.total == walk.llm.ledger.total
    assert again.llm.name == model.name and "overruled" not in again.summary


def test_a_reader_changes_one_choice_and_what_follows(method, walk):
    depth, entity, relation = spot_of(walk)
    other = walk.overrule(depth, entity, relation)
    assert walk.choices == {} and [*other.choices.values()] == [(relation,)]
    for earlier in range(1, depth):
        assert other.table(earlier) == walk.table(earlier)
    assert other.offered(depth) == walk.offered(depth)

    def relations(of, mine):
        rows = (row for row in of.table(depth) if row["kind"] == "relations")
        return [row for row in rows if row["offered"].startswith(f"{entity}: ") == mine]

    assert relations(other, False) == relations(walk, False)
    assert [r["offered"] for r in relations(other, True) if r["kept"]] == [f"{entity}: {relation}"]
    told = {row["why"] for row in relations(other, True)}
    assert told <= {"the reader's choice", "not chosen by the reader"}
    assert "a reader overruled it" in other.llm.name and "a reader overruled it" in other.summary
    assert other.llm.by_reader == (method.name == "tog")
    assert other.overrule(depth, entity).choices[(walk.offered(depth)[entity][1])] == ()


def test_choosing_what_the_rule_chose_keeps_the_ways(walk):
    entity = walk.frontier(1)[0]
    rows = [row for row in walk.table(1) if row["kind"] == "relations" and row["kept"]]
    mine = [r["offered"] for r in rows if r["offered"].startswith(f"{entity}: ")]
    same = walk.overrule(1, entity, *(label.removeprefix(f"{entity}: ") for label in mine))
    entities = [{r["offered"] for r in w.table(1) if r["kind"] == "entities"} for w in (walk, same)]
    assert entities[0] == entities[1]


def test_no_relation_at_the_only_topic_ends_the_walk(walk):
    ended = walk
    for entity in walk.frontier(1):
        ended = ended.overrule(1, entity)
    assert tog.NONE_CHOSEN in ended.reason and [*ended.depths] == [1]
    assert ended.figure(1).svg


def test_wrong_choices_are_refused_with_what_is_offered(walk):
    entity = walk.frontier(1)[0]
    for wrong in ((1, "Nobody"), (1, entity, "no such relation")):
        with pytest.raises(MiniragError, match="is not offered, but"):
            walk.overrule(*wrong)
    with pytest.raises(MiniragError, match="depth 9: this walk ended"):
        walk.table(9)


def test_nodes_keep_their_places_at_all_depths(walk):
    def places(figure):
        discs = (item for item in figure.scene.items if type(item).__name__ == "Circle")
        return {(disc.x, disc.y) for disc in discs if disc.title}

    figures = [walk.figure(depth) for depth in walk.depths]
    assert len({frozenset(places(figure)) for figure in figures}) == 1
    assert len({figure.svg for figure in figures}) == len(figures)


def test_controls_move_the_panel_and_overrule(method, walk):
    stepper = walk_stepper(method, QUESTION)
    view = stepper.view()
    panels = [each for each in view.children if isinstance(each, ipywidgets.HTML)]
    depth, entity, relation = spot_of(walk)
    seen = [panels[0].value]
    moves = [("depth", depth), ("entity", entity), ("relation", (relation,)), ("depth", 1)]
    for name, value in moves:
        stepper.widgets[name].value = value
        seen.append(panels[0].value)
    assert stepper.state["depth"] == 1 and len(stepper.walk.choices) == 1
    changed = [a != b for a, b in pairwise(seen)]
    assert changed[0] and changed[2] and changed[3]
    stepper.set("depth", depth).set("entity", entity)
    assert stepper.state["relation"] == (relation,) and "the reader chooses" in panels[0].value
    assert stepper.set("relation", "agent").walk.choices == {}
    assert stepper.describe() == walk_stepper(method, QUESTION).set("depth", depth).set(
        "entity", entity
    ).describe()  # fmt: skip


@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_panels_are_well_formed_and_hold_no_corpus_markup(name):
    triples = {"Ann": [("Ann", f"likes {EVIL}", EVIL), (EVIL, "knows", "Bob & Co")]}
    texts = corpus_of(("Ann", f"Ann likes {EVIL}. It knows Bob & Co."))
    method = METHODS[name].build(texts, extraction=extraction_of(triples), encoder="lsa")
    stepper = walk_stepper(method, f"Whom does what Ann likes know {EVIL}?")
    view = stepper.view()
    known = stepper.walk.offered(1)["Ann"][0]
    for state in ("agent", (known[0],), ()):
        panel = stepper.set("relation", state) and view.children[-1].value
        assert "<script" not in panel and "&lt;script" in panel
        ET.fromstring(panel)


def test_a_question_without_entities_has_no_walk(method):
    with pytest.raises(MiniragError, match="there is no walk to show"):
        walk_stepper(method, "why?")
