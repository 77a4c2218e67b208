"""IRCoT over any retriever, and what the released loop did with given scores, as recorded."""

import json
from pathlib import Path

import numpy as np
import pytest
from scripted import Scripted

import minirag as mr
from minirag.core.errors import MiniragError
from minirag.core.trace import WalkStep
from minirag.methods import METHODS
from minirag.methods.ircot import MergeStep, RoundStep
from minirag.operators import node

from .small import corpus_of, extraction_of

RECORDED = json.loads((Path(__file__).parent / "recorded" / "hipporag_ircot.json").read_text())[
    "cases"
]


class GivenCosines:
    """Encodes so that dot products are the recorded scores.

    A query's with a passage is the dense score, an entity's with its node the link's.
    """

    name = "given"

    def __init__(self, case):
        rounds, self.table = case["rounds"], {}
        axes = len(rounds) + sum(len(one["links"]) for one in rounds)
        for place, passage in enumerate(case["passages"]):
            self.table[passage] = [
                *(one["dense"][place] for one in rounds),
                *[0] * (axes - len(rounds)),
            ]
        basis = np.eye(axes)
        for axis, one in enumerate(rounds):
            self.table[one["query"]] = basis[axis]
        links = [link for one in rounds for link in one["links"]]
        for axis, link in enumerate(links, start=len(rounds)):
            self.table[link["entity"]] = link["score"] * basis[axis]
            self.table[f"n {axis - len(rounds)}"] = basis[axis]
        self.axes = axes

    def fit(self, texts):
        return self

    def encode(self, texts, kind="passage"):
        rows = [self.table.get(text, np.zeros(self.axes)) for text in texts]
        return np.array(rows, dtype=float).reshape(len(texts), self.axes)


def recorded_method(case, monkeypatch):
    """IRCoT as the case has it: the real ensemble and fallback; the walk gives the recorded
    scores.
    """
    titles = [passage.partition("\n")[0] for passage in case["passages"]]
    corpus = corpus_of(
        *((title, passage.partition("\n")[2]) for title, passage in zip(titles, case["passages"]))
    )
    thoughts = iter([one["query"] for one in case["rounds"][1:]])
    encoder, llm = GivenCosines(case), Scripted(lambda task, fields: next(thoughts))
    steps = {"max_steps": case["max_steps"], "top_k": case["top_k"]}
    if case["dense_only"]:
        return METHODS["ircot"].build(corpus, llm, encoder, "dense", **steps)
    triples = extraction_of({title: [(f"n {i}", "r", f"m {i}")] for i, title in enumerate(titles)})
    named = {one["query"]: tuple(link["entity"] for link in one["links"]) for one in case["rounds"]}
    method = METHODS["ircot-hipporag"].build(
        corpus,
        llm,
        encoder,
        **steps,
        extraction=triples,
        question_entities=named,
        follow="code",
        synonymy="none",
        ensemble=case["ensemble"],
    )
    places = {one.name: place for place, one in enumerate(method.retriever.graph.nodes)}
    walks = iter(case["rounds"])

    def walk(transition, resets, labels, *_):
        scores, one = np.zeros(len(labels)), next(walks)
        for i, score in enumerate(one["graph"] if one["links"] else ()):
            scores[places[f"n {i}"]] = score
        return [WalkStep("ppr", "recorded", scores=scores, reset=resets[:, 0])]

    monkeypatch.setattr(node, "ppr", walk)
    return method


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["input"]["note"])
def test_the_released_loop_merges_these_scores_so(case, monkeypatch):
    given, wanted = case["input"], case["expected"]
    found = recorded_method(given, monkeypatch).retrieve(
        given["rounds"][0]["query"], k=len(given["passages"])
    )
    ids = [passage.partition("\n")[0] for passage in given["passages"]]
    assert found.ids == [ids[one["passage"]] for one in wanted["merged"]]
    assert [p.score for p in found.passages] == pytest.approx(
        [one["score"] for one in wanted["merged"]], abs=1e-9
    )
    assert list(found.trace.last(MergeStep).thoughts) == wanted["thoughts"]
    rounds = found.trace.all(RoundStep)
    assert [step.query for step in rounds] == [one["query"] for one in wanted["rounds"]]
    for step, one in zip(rounds, wanted["rounds"], strict=True):
        assert list(step.scores) == [ids[i] for i in one["passages"]]
        assert list(step.scores.values()) == pytest.approx(one["scores"], abs=1e-9)


@pytest.mark.parametrize(
    "retriever",
    ["bm25", "dense", "colbert", "proposition", "hipporag", "lightrag-local", "graphrag-local"],
)
def test_the_loop_runs_over_any_retriever(retriever):
    corpus = mr.load_corpus("professors")
    method = METHODS["ircot"].build(corpus, encoder="lsa", retriever=retriever)
    method.llm = Scripted(lambda task, fields: corpus.questions[1].text)
    found = method.retrieve(corpus.questions[0].text)
    asked = [method.retriever.retrieve(q.text, 10) for q in corpus.questions[:2]]
    assert {p.id for one in asked for p in one.passages} >= set(found.ids) and len(
        found.passages
    ) == 5
    assert len(found.trace.all(RoundStep)) == 2


def test_the_retrievers_that_there_are_are_named():
    with pytest.raises(
        MiniragError, match="retriever='bm52': expected one of .*bm25.*hipporag"
    ) as refused:
        METHODS["ircot"].build(mr.load_corpus("professors"), retriever="bm52")
    assert "zeroshot" not in str(refused.value) and "graphrag-ts" not in str(refused.value)


def test_the_merged_passages_are_called_by_their_titles():
    corpus = mr.load_corpus("professors")
    method = METHODS["ircot"].build(corpus, retriever="bm25", max_steps=1)
    found = method.retrieve("Who is a dean?")
    titles = {chunk.label for chunk in corpus.chunks}
    merged = found.trace.last(MergeStep)
    assert merged.items and {label for label, _ in merged.items} <= titles
    assert not titles & {chunk.id for chunk in corpus.chunks}
