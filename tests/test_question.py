"""Question conversion: entities, keywords and vectors, and that the methods search by them."""

import numpy as np
import pytest

import minirag as mr
from minirag.index import VectorIndex
from minirag.methods import METHODS
from minirag.operators import chunk, node, question, relationship
from minirag.prompts.keywords import Keywords

from .scripted import Scripted
from .small import TableEncoder


@pytest.mark.paper("Survey", "conversion")
def test_entities_are_asked_for_once_and_named_as_nodes_are():
    model = Scripted(lambda task, fields: '{"named_entities": ["São Paulo!", "?"]}')
    known, asked, empty = question.entities(
        ["Who?", "Where?", "When?"], model, {"Who?": ["Ada-Lee"], "When?": ()}
    )
    assert known.entities == ("ada lee",) and asked.entities == ("são paulo",)
    assert len(model.asked) == 1 and empty.entities == () and "no entity" in empty.summary
    assert question.entities(["Where?"], model, script="ascii")[0].entities == ("s o paulo",)


@pytest.mark.parametrize(
    "empty, given, text, levels",
    [
        ("question", Keywords(), "Why?", (("Why?",), ("Why?",))),
        ("question", Keywords((), ("Selm",)), "Why?", (("Why?",), ("Selm",))),
        ("short question", Keywords(), "Why?", ((), ("Why?",))),
        ("short question", Keywords(), "Why? " * 20, ((), ())),
        ("short question", Keywords((), ("Selm",)), "Why?", ((), ("Selm",))),
        ("skip", Keywords((), ("Selm",)), "Why?", ((), ("Selm",))),
        ("skip", Keywords(), "Why?", ((), ())),
        ("nothing", Keywords((), ("Selm",)), "Why?", ((), ())),
        ("nothing", Keywords(("port",), ("Selm",)), "Why?", (("port",), ("Selm",))),
    ],
)
def test_what_an_empty_level_is_searched_by(empty, given, text, levels):
    assert question.fill_levels(text, given, empty) == levels


def test_keywords_keep_what_the_model_gave():
    model = Scripted(
        lambda task, fields: '{"high_level_keywords": ["port"], "low_level_keywords": []}'
    )
    [step] = question.keywords(["Why?"], model)
    assert (step.high, step.low, step.given) == (("port",), ("Why?",), (("port",), ()))


class Counting(TableEncoder):
    """Counts its calls for questions."""

    calls = 0

    def encode(self, texts, kind="passage"):
        self.calls += kind == "query"
        return super().encode(texts, kind)


@pytest.mark.parametrize("search", [node.vdb, relationship.vdb, chunk.vdb])
def test_a_vector_search_takes_vectors_for_texts_and_encodes_no_question_again(search):
    encoder = Counting({"a": (1,), "b": (0.6, 0.8), "which a?": (0.9, 0.1)})
    index = VectorIndex(("a", "b"), encoder.encode(["a", "b"]), encoder)
    asked = question.vector(["which a?", "b"], encoder)
    assert [step.vector.shape for step in asked] == [(64,), (64,)] and encoder.calls == 1
    by_vector = search(asked, index)
    assert (
        encoder.calls == 1 and by_vector == search(["which a?", "b"], index) and encoder.calls == 2
    )


@pytest.mark.parametrize("name", ["dense", "proposition", "g-retriever", "graphrag-local"])
def test_methods_of_the_question_vector_search_by_it(name, monkeypatch):
    corpus, convert = mr.load_corpus("professors"), question.vector
    method = METHODS[name].build(corpus, encoder="lsa")
    first, second = (one.text for one in corpus.questions[:2])
    found = [step for step in method.retrieve(second).trace if "vdb" in step.operator]
    monkeypatch.setattr(
        question, "vector", lambda texts, encoder: convert([second] * len(texts), encoder)
    )
    assert [step for step in method.retrieve(first).trace if "vdb" in step.operator] == found


@pytest.mark.paper("Survey", "conversion")
def test_lightrag_hipporag_and_pathrag_convert_by_the_operator(monkeypatch):
    corpus = mr.load_corpus("professors")
    seen = []
    for name in ("entities", "keywords"):
        convert = getattr(question, name)
        monkeypatch.setattr(
            question,
            name,
            lambda *given, convert=convert, name=name: seen.append(name) or convert(*given),
        )
    for name in ("hipporag", "lightrag-hybrid", "pathrag"):
        METHODS[name].build(corpus, encoder="lsa", extraction="annotations").retrieve(
            corpus.questions[0].text
        )
    assert seen == ["entities", "keywords", "keywords"]


def test_vectors_of_no_question_are_none():
    assert question.vector([], TableEncoder()) == [] and np.shape(
        question.vector(["a"], TableEncoder())[0].vector
    ) == (64,)
