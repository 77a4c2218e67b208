"""Every method against the survey's own tables, and against the promise that it never sees gold."""

import pytest
import yaml

import minirag as mr
from minirag.methods import METHODS, Method
from minirag.methods.graph_prompted import NeedsTraining
from minirag.methods.store import open_method
from minirag.shipped import shipped
from minirag.utils import MiniragError

TABLES = yaml.safe_load((shipped("expected") / "survey_tables.yaml").read_text(encoding="utf-8"))
LISTED = sorted(set(METHODS) & set(TABLES["table_1"]))


def test_the_survey_lists_some_of_our_methods():
    assert {"hipporag", "g-retriever"} <= set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_a_methods_row_is_the_surveys_row(name):
    method, one, three = METHODS[name], TABLES["table_1"][name], TABLES["table_3"][name]
    assert (method.graph_type, list(method.index_components), method.primitive, list(method.granularity)) == tuple(one.values())
    assert {kind: list(names) for kind, names in method.operators.items()} == three


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_describes_itself(name):
    method = METHODS[name]
    assert issubclass(method, Method) and method.__doc__ and "Source:" in method.__doc__ and method.paper
    assert {"build", "retrieve", "answer"} <= set(dir(method))


def offline_methods():
    return sorted(name for name, method in METHODS.items() if not method.needs_model)


@pytest.mark.parametrize("name", offline_methods())
def test_gold_never_reaches_a_method(name):
    corpus = mr.load_corpus("professors")
    seeing, blind = (METHODS[name].build(c, encoder="lsa") for c in (corpus, corpus.without_gold()))
    for question in corpus.questions[:8]:
        one, two = seeing.retrieve(question.text), blind.retrieve(question.text)
        assert [(p.id, p.score) for p in one.passages] == [(p.id, p.score) for p in two.passages]
    if METHODS[name].needs_training:
        for method in (seeing, blind):
            with pytest.raises(NeedsTraining, match=f"minirag train {name} CORPUS"):
                method.answer(question.text)
        assert seeing.fingerprint == blind.fingerprint
    else:
        assert seeing.answer(question.text).text == blind.answer(question.text).text


@pytest.mark.parametrize("name", offline_methods())
def test_html_escapes_what_a_corpus_says(name):
    from .small import corpus_of

    corpus = corpus_of(("<b>p1</b>", "Ada <script>alert(1)</script> met Ben in Oslo."), ("p2", "Ben met Cy & Di in Bergen. Oslo is far."))
    found = METHODS[name].build(corpus, encoder="lsa").retrieve("Where did Ada <i>meet</i> Ben?", k=2)
    assert "<script>" not in found._repr_html_() and "<i>" not in found._repr_html_()


def test_a_stored_index_is_reused_until_something_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = mr.load_corpus("professors")
    first, reused = open_method("hipporag", corpus, encoder="lsa")
    assert not reused
    again, reused = open_method("hipporag", corpus, encoder="lsa")
    question = corpus.questions[0].text
    assert reused and again.retrieve(question).ids == first.retrieve(question).ids
    assert not open_method("hipporag", corpus, encoder="lsa", damping=0.3)[1]
    (next(tmp_path.glob("indices/*")) / "graph" / "edges.jsonl").write_text("{", encoding="utf-8")
    states = [open_method("hipporag", corpus, encoder="lsa", **o)[1] for o in ({}, {"damping": 0.3})]
    assert sorted(states) == [False, True]
    with pytest.raises(MiniragError, match="hipporag"):
        open_method("hippo", corpus)


def test_a_reused_index_knows_the_entities_it_was_given(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = mr.load_corpus("professors")
    known = {"Who is she?": ("Odile Fanshawe",)}
    ids = []
    for expected in (False, True):
        method, reused = open_method(
            "hipporag", corpus, encoder="lsa", extraction="annotations", question_entities=known
        )
        assert reused is expected
        before = method.llm.ledger.snapshot()
        found = method.retrieve("Who is she?")
        assert (
            found.trace[0].data["entities"] == ["odile fanshawe"]
            and not (method.llm.ledger - before).total.calls
        )
        ids.append(found.ids)
    assert ids[0] == ids[1]


@pytest.mark.parametrize("name", offline_methods())
def test_a_trace_calls_a_passage_by_its_title_only(name):
    """One label for passages everywhere: an id only where there is no title."""
    corpus = mr.load_corpus("professors")
    options = {"extraction": "annotations"} if name == "hipporag" else {}
    method = METHODS[name].build(corpus, encoder="lsa", **options)
    shown = {
        label
        for question in ("Who founded the Lanthorn Trust?", "why?")
        for step in method.retrieve(question).trace
        for label, *_ in step.items
    }
    assert not shown & {chunk.id for chunk in corpus.chunks}
    assert [mr.Chunk("p1", "text", title).label for title in ("", "Title")] == ["p1", "Title"]
