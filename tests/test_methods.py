"""Every method against the survey's own tables, and against the promise that it never sees gold."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import Scripted

import minirag as mr
from minirag.core.corpus import Extraction, Triple
from minirag.core.errors import MiniragError
from minirag.core.results import Answer
from minirag.evaluate.metrics import load_expected
from minirag.methods import METHODS, Method, store
from minirag.methods.graph_prompted import NeedsTraining
from minirag.methods.store import open_method

from .small import corpus_of

TABLES = load_expected("survey_tables")
LISTED = sorted(set(METHODS) & set(TABLES["table_1"]))


def test_the_survey_lists_some_of_our_methods():
    assert {"hipporag", "g-retriever"} <= set(LISTED)


@pytest.mark.paper("Survey", "indices", "tab-1", "tab-3")
@pytest.mark.parametrize("name", LISTED)
def test_a_methods_row_is_the_surveys_row(name):
    method, one, three = METHODS[name], TABLES["table_1"][name], TABLES["table_3"][name]
    assert (
        method.graph_type,
        list(method.index_components),
        method.primitive,
        list(method.granularity),
    ) == tuple(one.values())
    assert {kind: list(names) for kind, names in method.operators.items()} == three


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_describes_itself(name):
    method = METHODS[name]
    assert (
        issubclass(method, Method)
        and method.__doc__
        and "Source:" in method.__doc__
        and method.paper
    )


def offline_methods():
    return sorted(name for name, method in METHODS.items() if not method.needs_model)


@pytest.mark.parametrize("name", offline_methods())
def test_gold_never_reaches_a_method(name):
    corpus = mr.load_corpus("professors")
    seeing, blind = (METHODS[name].build(c, encoder="lsa") for c in (corpus, corpus.without_gold()))
    for question in corpus.questions[:3]:
        one, two = seeing.retrieve(question.text), blind.retrieve(question.text)
        assert [(p.id, p.score) for p in one.passages] == [(p.id, p.score) for p in two.passages]
    if METHODS[name].needs_training:
        for method in (seeing, blind):
            with pytest.raises(NeedsTraining, match=f"minirag train {name} CORPUS"):
                method.answer(question.text)
        assert seeing.fingerprint == blind.fingerprint
    else:
        assert seeing.answer(question.text).text == blind.answer(question.text).text


LIGHTRAG = {"lightrag-local", "lightrag-global", "lightrag-hybrid"}
VARIANTS = {"graphrag-er", "graphrag-cc", "vgraphrag-cc", "vgraphrag"}
OTHERS = {"pathrag", "pathrag-lt", "graphrag-local", "graphrag-ss", "fastgraphrag"}
JUDGED = OTHERS | LIGHTRAG | VARIANTS


def test_judged_methods_answer_in_full():
    tasks = {name: method.answer_task for name, method in METHODS.items()}
    assert {name for name, task in tasks.items() if task == "full_answer"} == JUDGED
    own = {
        "zeroshot",
        "direct",
        "cot",
        "cot-sc",
        "graphrag-global",
        "graphrag-ts",
        "cheaprag",
        "cok",
        "grag",
        "g-retriever",
    }
    assert {name for name, task in tasks.items() if task == "answer"} == set(METHODS) - JUDGED - own


@pytest.mark.paper("Survey", "generation")
@pytest.mark.parametrize(
    "name", ["bm25", "hipporag", "graphrag-local", "graphrag-ss", "lightrag-hybrid", "pathrag"]
)
def test_one_argument_chooses_who_answers(name):
    method = METHODS[name].build(mr.load_corpus("professors"), encoder="lsa")
    method.llm = llm = Scripted(lambda task, fields: "Answer: short")
    readers = ("answer", "answer_open", "full_answer")
    said = [method.answer("Who chairs the board?", task=task) for task in (None, *readers)]
    asked = [task for task, _, _ in llm.asked if task in readers]
    assert asked == [METHODS[name].answer_task, *readers] and method.short_task == "answer"
    assert (said[1].text, said[3].text) == ("short", "Answer: short")
    with pytest.raises(MiniragError, match="answer, answer_open, full_answer"):
        method.answer("Who?", task="direct")


@pytest.mark.parametrize("name", ["graphrag-ts", "zeroshot", "grag"])
def test_who_reads_no_passages_has_one_way_to_answer(name):
    method = METHODS[name].build(mr.load_corpus("professors"), encoder="lsa")
    with pytest.raises(MiniragError, match="task='answer_open': .* answers by"):
        method.answer("Who?", task="answer_open")
    assert method.short_task == METHODS[name].answer_task


def test_pathrag_asks_the_question_first_or_last_of_every_reader():
    method = METHODS["pathrag"].build(mr.load_corpus("professors"), encoder="lsa")
    for place in ("first", "last"):
        varied = method.with_options(question=place)
        for task in ("answer", "answer_open", "full_answer"):
            varied.llm = llm = Scripted(lambda task, fields: "Answer: x")
            varied.answer("Who chairs the board?", task=task)
            prompt = llm.asked[-1][1].rstrip()
            assert prompt.endswith("Question: Who chairs the board?") == (place == "last")


@pytest.mark.parametrize("name", offline_methods())
def test_html_escapes_what_a_corpus_says(name):
    corpus = corpus_of(
        ("<b>p1</b>", "Ada <script>alert(1)</script> met Ben in Oslo."),
        ("p2", "Ben met Cy & Di in Bergen. Oslo is far."),
    )
    found = (
        METHODS[name].build(corpus, encoder="lsa").retrieve("Where did Ada <i>meet</i> Ben?", k=2)
    )
    assert "<script>" not in found._repr_html_() and "<i>" not in found._repr_html_()
    ignored = '<div class="mathjax_ignore">'
    shown = [corpus._repr_html_(), found._repr_html_(), Answer("$1$", "me", found)._repr_html_()]
    assert [html[: len(ignored)] for html in shown] == [ignored] * 3


def test_a_stored_index_is_reused_until_something_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = mr.load_corpus("professors")
    first, state = open_method("hipporag", corpus, encoder="lsa")
    assert state == "kept"
    again, state = open_method("hipporag", corpus, encoder="lsa")
    question = corpus.questions[0].text
    assert state == "reused" and again.retrieve(question).ids == first.retrieve(question).ids
    assert open_method("hipporag", corpus, encoder="lsa", restart_probability=0.3)[1] == "kept"
    (next(tmp_path.glob("indices/*")) / "index" / "edges.jsonl").write_text("{", encoding="utf-8")
    states = [
        open_method("hipporag", corpus, encoder="lsa", **o)[1]
        for o in ({}, {"restart_probability": 0.3})
    ]
    assert sorted(states) == ["kept", "reused"]
    with pytest.raises(MiniragError, match="hipporag"):
        open_method("hippo", corpus)


KEPT = [name for name in offline_methods() if hasattr(METHODS[name], "save")]


@pytest.mark.parametrize("name", KEPT)
def test_text_that_is_no_valid_unicode_is_built_kept_and_found_again(name, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = corpus_of(
        ("caf\udce9", "Ada \ud83d met Ben in Oslo."), ("p2", "Ben met Cy in Bergen.")
    )
    assert (corpus.chunks[0].id, corpus.chunks[0].text) == ("caf�", "Ada � met Ben in Oslo.")
    states, ids = zip(
        *(
            (state, method.retrieve("Where did \ud83d Ada meet Ben?").ids)
            for method, state in twice(name, corpus)
        )
    )
    assert states == ("kept", "reused") and ids[0] == ids[1]


def twice(name, corpus, **options):
    return [open_method(name, corpus, encoder="lsa", **options) for _ in range(2)]


def test_what_a_model_said_is_kept_also_where_it_is_no_valid_unicode(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = corpus_of(("p1", "Ada met Ben."))
    said = Extraction(
        "a model", {"p1": ("Ada \ud83d",)}, {"p1": (Triple("Ada", "met \ud83d", "Ben"),)}
    )
    (built, first), (loaded, second) = twice("lightrag-local", corpus, extraction=said)
    assert (first, second) == ("kept", "reused") and loaded.graph == built.graph


def test_an_index_that_cannot_be_saved_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = corpus_of(("p1", "Ada met Ben."), ("p2", "Ben met Cy in Bergen."))
    for error in (
        UnicodeEncodeError("utf-8", "x", 0, 1, "no"),
        OSError(28, "No space left on device"),
    ):
        monkeypatch.setattr(
            METHODS["hipporag"],
            "save",
            lambda self, folder, error=error: (_ for _ in ()).throw(error),
        )
        with pytest.warns(UserWarning, match="could not be kept"):
            method, state = open_method("hipporag", corpus, encoder="lsa")
        assert state == "not kept" and method.retrieve("Who met Cy?").ids


def test_an_index_does_not_outlive_the_rules_that_built_it(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path / "cache"))
    corpus = corpus_of(("p1", "Ada met Ben."))
    assert [state for _, state in twice("hipporag", corpus)] == ["kept", "reused"]
    package = tmp_path / "minirag"
    shutil.copytree(Path(mr.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    whole = store.code_version(package)
    assert whole == store.code_version()
    for name in (
        "prompts/entities_and_triples.py",
        "build/knowledge_graph.py",
        "segmentation.py",
        "a_new_layer/rules.py",
    ):
        store.code_version.cache_clear()
        (package / name).parent.mkdir(exist_ok=True)
        with open(package / name, "a") as file:
            file.write("# changed")
        whole, before = store.code_version(package), whole
        assert whole != before, name
    (package / "cli" / "ask.py").write_text("# changed")
    store.code_version.cache_clear()
    assert store.code_version(package) == whole
    monkeypatch.setattr(store, "code_version", lambda: whole)
    assert open_method("hipporag", corpus, encoder="lsa")[1] == "kept"


def test_an_index_does_not_outlive_the_triples_that_a_name_stands_for(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus, named = corpus_of(("p1", "Ada met Ben.")), {}
    for relation in ("met", "saw"):
        named = {"mine": Extraction("me", {}, {"p1": (Triple("Ada", relation, "Ben"),)})}
        assert (
            open_method(
                "hipporag", replace(corpus, extractions=named), encoder="lsa", extraction="mine"
            )[1]
            == "kept"
        )


def test_a_retrieval_can_be_iterated():
    corpus = corpus_of(("p1", "Ada met Ben."), ("p2", "Ben met Cy in Bergen."))
    found = METHODS["bm25"].build(corpus).retrieve("Who met Cy?", k=2)
    assert [passage.rank for passage in found] == [1, 2] and [
        passage.id for passage in found
    ] == found.ids


@pytest.mark.parametrize("name, what", [("edges.jsonl", "source"), ("nodes.jsonl", "chunks")])
@pytest.mark.parametrize("wrong", [99, -1, "x"])
def test_an_index_that_points_nowhere_is_built_again(name, what, wrong, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = corpus_of(("p1", "Ada met Ben."), ("p2", "Ben met Cy in Bergen."))
    expected = open_method("hipporag", corpus, encoder="lsa")[0].retrieve("Who met Cy?")
    graph = next(tmp_path.glob("indices/*/index"))
    first, *rest = (graph / name).read_text(encoding="utf-8").splitlines(keepends=True)
    edited = json.loads(first) | {what: [wrong] if what == "chunks" else wrong}
    (graph / name).write_text(json.dumps(edited) + "\n" + "".join(rest), encoding="utf-8")
    with pytest.raises(MiniragError, match=f"that are not there, such as number {wrong!r} of"):
        METHODS["hipporag"].load(graph.parent, encoder="lsa")
    method, state = open_method("hipporag", corpus, encoder="lsa")
    assert state == "kept" and method.retrieve("Who met Cy?") == expected


def test_a_reused_index_knows_the_entities_it_was_given(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIRAG_CACHE", str(tmp_path))
    corpus = mr.load_corpus("professors")
    known = {"Who is she?": ("Odile Fanshawe",)}
    ids = []
    for expected in ("kept", "reused"):
        method, state = open_method(
            "hipporag", corpus, encoder="lsa", extraction="annotations", question_entities=known
        )
        assert state == expected
        before = method.llm.ledger.snapshot()
        found = method.retrieve("Who is she?")
        assert (
            found.trace[0].entities == ("odile fanshawe",)
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
