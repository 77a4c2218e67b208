"""`minirag reproduce unified`: one table for every method, and passages of another size."""

import pytest

import minirag as mr
from minirag.algorithms.voting import normalise_answer
from minirag.corpora.microsoft_index import load_dulce
from minirag.reproduce import unified
from minirag.reproduce.unified import SPLITS, TABLES, resplit, row_names, split_anew, table
from minirag.text.tokens import count_tokens

NOT_RECORDED = "not all of its answers are recorded"


@pytest.fixture(scope="module")
def professors():
    return mr.load_corpus("professors")


def words(corpus):
    return " ".join(chunk.passage for chunk in corpus.chunks).split()


@pytest.mark.paper("Survey", "fig-15")
@pytest.mark.parametrize("seed", [None, 0])
def test_passages_joined_and_cut_again_lose_no_word(professors, seed):
    anew = split_anew(professors, 200, seed)
    assert sorted("".join(words(anew))) == sorted("".join(words(professors)))
    assert {count_tokens(chunk.text) for chunk in anew.chunks[:-1]} == {200}
    assert anew.questions == professors.questions
    assert not anew.extractions


def test_the_seed_changes_the_order_only(professors):
    kept, moved = (split_anew(professors, 200, seed).documents[0].text for seed in (None, 0))
    passages = [chunk.passage for chunk in professors.chunks]
    assert kept.split("\n\n") == passages
    assert moved.split("\n\n") != passages
    assert sorted(moved.split("\n\n")) == sorted(passages)


def test_every_method_has_a_row_in_every_table():
    names = row_names()
    assert len(names) == len(set(names))
    for name in TABLES:
        methods = {row.split(": ")[1] for row in names if row.startswith(f"{name}: ")}
        assert methods == {method.name for method in mr.METHODS.values()}


def test_a_table_holds_what_the_bench_measured(professors):
    rows, left = table(TABLES["professors by annotations"], ["bm25", "zeroshot"], "minilm")
    bm25 = mr.METHODS["bm25"].build(professors)
    found = bm25.retrieve_many([question.text for question in professors.questions], 5)
    recall = [
        len(set(question.gold) & set(retrieval.ids)) / len(question.gold)
        for question, retrieval in zip(professors.questions, found)
    ]
    (row,) = rows
    assert row["method"] == "bm25"
    assert row["R@5"] == pytest.approx(100 * sum(recall) / len(recall), abs=0.05)
    assert left == {"needs a model": ["zeroshot"]}


def test_a_recorded_row_stands_only_on_recorded_answers(professors):
    rows, left = table(TABLES["professors recorded"], ["bm25", "graphrag-ts"], "minilm")
    assert [row["method"] for row in rows] == ["bm25"]
    assert left == {NOT_RECORDED: ["graphrag-ts"]}


def test_rows_on_absent_data_are_left_out_with_a_note(monkeypatch):
    monkeypatch.setattr(unified, "available", lambda name: False)
    absent = [f"{SPLITS[0]}: bm25", "dulce by GPT-4: bm25"]
    found = unified.reproduce_unified([*absent, "professors by annotations: bm25"])
    assert [row["method"] for row in found["rows"]] == ["professors by annotations: bm25"]
    for name, note in zip(("musique_train", "dulce"), found["notes"], strict=True):
        assert f"minirag fetch {name}" in note


@pytest.mark.needs("dulce")
def test_dulce_has_the_relations_of_microsofts_index_and_questions_with_evidence():
    corpus, published = unified.dulce("dulce"), load_dulce().graph
    pairs = {
        frozenset((published.nodes[edge.source].name, published.nodes[edge.target].name))
        for edge in published.edges
    }
    triples = corpus.extractions["gpt-4"].triples
    read = [frozenset((t.subject, t.object)) for of in triples.values() for t in of]
    assert set(read) == pairs
    assert len(read) == sum(len(edge.chunks) for edge in published.edges)
    texts = {chunk.id: chunk.text for chunk in corpus.chunks}
    for question in corpus.questions:
        assert question.gold
        for phrase in question.answers:
            assert any(phrase in texts[id] for id in question.gold)


@pytest.mark.needs("dulce")
def test_a_row_on_dulce_counts_evidence_and_no_answers():
    rows, left = table(TABLES["dulce by GPT-4"], ["bm25", "zeroshot"], "minilm")
    assert left == {"needs a model": ["zeroshot"]}
    assert rows[0]["n"] == 10 and not {"accuracy", "EM", "F1"} & set(rows[0])
    corpus = unified.dulce("dulce")
    found = mr.METHODS["bm25"].build(corpus).retrieve_many([q.text for q in corpus.questions], 5)
    recall = [
        len({*q.gold} & {*each.ids}) / len(q.gold) for q, each in zip(corpus.questions, found)
    ]
    assert rows[0]["R@5"] == pytest.approx(100 * sum(recall) / len(recall), abs=0.05)


@pytest.mark.needs("musique_train")
def test_coverage_of_passages_as_published_is_that_of_their_text():
    (row,) = resplit([f"{SPLITS[0]}: bm25"], "minilm")
    corpus = mr.load_dataset("musique_train")
    method = mr.METHODS["bm25"].build(corpus)
    held = 0
    for question in corpus.questions:
        text = " ".join(p.chunk.passage for p in method.retrieve(question.text, 40).passages)
        held += any(
            f" {normalise_answer(answer)} " in f" {normalise_answer(text)} "
            for answer in question.answers
        )
    # 40 passages of about 100 tokens lie between two of the budgets.
    assert row["cover@2k"] <= held <= row["cover@8k"]
