"""The survey's other public sets, read from small files of the same shape, which are invented."""

import json
import warnings

import pytest

import minirag as mr
from minirag.core.corpus import Chunk
from minirag.core.errors import MiniragError
from minirag.corpora.survey_sets import SETS, MultipleChoice, Parted, read_dataset

FILLER = " ".join(f"word{n}" for n in range(1300))  # more than one chunk of 1,200 tokens
FACT = "The ferry to Selm was sold in May."
ARTICLE = {"title": "Ferry sold", "body": f"{FACT} {FILLER} Nobody said why.", "url": "u1"}
OTHER = {"title": "Port opens", "body": "The port of Carrow opened.", "category": "business"}
QUERY = {
    "query": "What was sold before the port opened?", "answer": "the ferry",
    "question_type": "temporal_query",
    "evidence_list": [
        {"title": "Ferry sold", "fact": FACT, "url": "u1"},
        {"title": "Port opens", "fact": "Carrow has a new port."},  # not word by word
    ],
}  # fmt: skip
NULL = {
    "query": "Who sold the moon?", "answer": "Insufficient information.",
    "question_type": "null_query", "evidence_list": [],
}  # fmt: skip
FACTS = [{"id": "7", "title": "Ada Lund", "text": "Ada Lund is a baker.", "hasanswer": True}]
FACTS += [{"id": "9", "title": None, "text": "Selm lies on the Ine."}]
POPQA = {
    "id": 41, "subj": "Ada Lund", "prop": "occupation", "obj": "baker", "s_pop": 12,
    "question": "What is Ada Lund's occupation?", "possible_answers": '["baker", "bread maker"]',
}  # fmt: skip
LEVEL = {
    "question": "Why does Ada leave?", "question_unique_id": "52_A_1", "gold_label": 3,
    "options": ["Rain.", "Debt.", "A letter.", "Rain."], "writer_label": 3, "difficult": 1,
}  # fmt: skip
QUALITY = {
    "article_id": "52", "set_unique_id": "52_A", "title": "The Letter", "article": "Ada left.",
    "questions": [LEVEL],
}  # fmt: skip
PAIRS = [{"question": "Who won in 1990?", "short_answers": ["Lund", "Ada Lund"]}]
PAIRS += [{"question": "Who won in 1994?", "short_answers": ["Berg", "Lund"]}]
ALCE = {
    "sample_id": "-17", "question": "Who won the regatta?", "qa_pairs": PAIRS,
    "answer": "In 1990 Ada Lund, in 1994 Berg.", "annotations": [{"long_answer": "..."}],
    "docs": [{"id": "1", "title": "Regatta", "text": "Lund won.", "score": 0.9}],
}  # fmt: skip
ULTRA = {
    "_id": "5f", "input": "Which crop is rotated?", "answers": ["Barley."], "label": "agriculture",
    "context": "Barley is rotated with beans.", "length": 5,
}  # fmt: skip
ROWS = {"multihop-rag": QUERY, "popqa": POPQA, "quality": QUALITY, "alce": ALCE}
ROWS["ultradomain"] = ULTRA


def write(path, rows):
    """Rows as a JSON list (.json), else a row a line."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(json.dumps(rows) if path.suffix == ".json" else lines, encoding="utf-8")
    return path


def without(row, field):
    return {key: value for key, value in row.items() if key != field}


def texts(corpus, ids):
    return [chunk.text for chunk in corpus.chunks if chunk.id in ids]


@pytest.mark.paper("Survey", "tab-4")
def test_multihop_rag(tmp_path):
    paths = write(tmp_path / "corpus.json", [ARTICLE, OTHER]), tmp_path / "MultiHopRAG.json"
    corpus = mr.read_dataset("multihop-rag", paths[0], write(paths[1], [QUERY, NULL]))
    assert [d.id for d in corpus.documents] == ["multihop-rag/0000", "multihop-rag/0001"]
    assert [d.title for d in corpus.documents] == ["Ferry sold", "Port opens"]
    assert len(corpus.chunks) == 3  # 1,200 tokens each, of the first article two
    asked, null = corpus.questions
    assert (asked.id, asked.answers, asked.kind) == (
        "multihop-rag-1", ("the ferry",), "temporal_query",
    )  # fmt: skip
    assert asked.chain == (FACT, "Carrow has a new port.")
    first, second = texts(corpus, asked.gold)
    assert first.startswith(FACT) and "Nobody said why" not in first
    assert second == OTHER["body"]  # the whole article, where the fact stands otherwise
    assert (null.gold, null.answers) == ((), ("Insufficient information.",))
    assert corpus.documents == read_dataset("multihop-rag", paths[1], paths[0]).documents


def test_a_fact_that_no_chunk_holds_makes_all_of_its_article_gold(tmp_path):
    query = QUERY | {"evidence_list": [{"title": "Ferry sold", "fact": "It was sold in spring."}]}
    path = write(tmp_path / "both.jsonl", [ARTICLE, query])
    corpus = read_dataset("multihop-rag", path)
    assert corpus.questions[0].gold == tuple(chunk.id for chunk in corpus.chunks)
    assert len(corpus.chunks) == 2


def test_evidence_from_an_article_that_is_not_there_is_told(tmp_path):
    path = write(tmp_path / "both.jsonl", [OTHER, QUERY])
    with pytest.warns(UserWarning, match="1 articles of the evidence are not in the corpus"):
        corpus = read_dataset("multihop-rag", path)
    assert texts(corpus, corpus.questions[0].gold) == [OTHER["body"]]


@pytest.mark.paper("Survey", "tab-4")
def test_popqa_with_its_passages(tmp_path):
    twin = POPQA | {"id": 42, "possible_answers": ["baker"]}
    path = write(tmp_path / "popqa.jsonl", [POPQA | {"ctxs": FACTS}, twin | {"ctxs": FACTS[:1]}])
    corpus = read_dataset("popqa", path)
    assert [(c.id, c.title, c.text) for c in corpus.chunks] == [
        ("popqa/0000", "Ada Lund", "Ada Lund is a baker."),
        ("popqa/0001", "", "Selm lies on the Ine."),
    ]  # a passage that two questions share is there once
    first, second = corpus.questions
    assert (first.id, first.answers, first.kind) == ("41", ("baker", "bread maker"), "occupation")
    assert (second.id, second.answers, second.gold) == ("42", ("baker",), ())


def test_popqa_as_its_authors_publish_it(tmp_path):
    table = tmp_path / "popQA.tsv"
    table.write_text(
        "id\tprop\tquestion\tpossible_answers\n"
        '41\toccupation\tWhat is Ada Lund\'s occupation?\t"[""baker"", ""bread maker""]"\n',
        encoding="utf-8",
    )
    alone = read_dataset("popqa", table)
    assert not alone.chunks and alone.questions[0].answers == ("baker", "bread maker")
    found = write(tmp_path / "bm25.jsonl", [{"question": POPQA["question"], "ctxs": FACTS}])
    both = read_dataset("popqa", table, found)
    assert both.questions == alone.questions and len(both.chunks) == 2


@pytest.mark.paper("Survey", "tab-4")
def test_quality(tmp_path):
    easy = LEVEL | {"question_unique_id": "52_B_1", "gold_label": 4, "difficult": 0}
    hidden = {"question": "Where?", "options": ["Here.", "There."], "question_unique_id": "52_B_2"}
    other = QUALITY | {"set_unique_id": "52_B", "questions": [easy, hidden]}
    paths = write(tmp_path / "Q.train", [QUALITY]), write(tmp_path / "Q.dev", [other])
    corpus = read_dataset("quality", *paths)
    assert [d.text for d in corpus.documents] == ["Ada left."]  # two writers, one article
    first, second, third = corpus.questions
    assert isinstance(first, MultipleChoice) and first.options == tuple(LEVEL["options"])
    assert (first.letter, first.answers, first.kind) == ("C", ("A letter.",), "hard")
    # The same text twice among the options: the letter is that of the label.
    assert (second.letter, second.answers, second.kind) == ("D", ("Rain.",), "")
    assert (third.letter, third.answers) == ("", ())  # the test split has no label
    assert first.text == "Why does Ada leave?"
    assert not hasattr(corpus.without_gold().questions[0], "letter")


@pytest.mark.paper("Survey", "tab-4", "metrics")
def test_alce(tmp_path):
    corpus = read_dataset("alce", write(tmp_path / "asqa.json", [ALCE]))
    (asked,) = corpus.questions
    assert isinstance(asked, Parted) and asked.id == "-17"
    assert asked.parts == (("Lund", "Ada Lund"), ("Berg", "Lund"))
    assert asked.answers == ("Lund", "Ada Lund", "Berg")
    assert corpus.chunks == (Chunk("alce/0000", "Lund won.", "Regatta", "alce/0000", 0, 9),)


@pytest.mark.paper("Survey", "tab-4")
def test_ultradomain(tmp_path):
    rows = [ULTRA, ULTRA | {"_id": "60", "input": "With what?", "answers": ["Beans."]}]
    corpus = read_dataset("ultradomain", write(tmp_path / "agriculture.jsonl", rows))
    assert corpus.name == "ultradomain-agriculture"
    assert [d.text for d in corpus.documents] == [ULTRA["context"]]
    asked = {question.id: question.answers for question in corpus.questions}
    assert asked == {"5f": ("Barley.",), "60": ("Beans.",)}


def test_a_chunker_of_the_readers_own(tmp_path):
    path = write(tmp_path / "cs.jsonl", [ULTRA])
    corpus = read_dataset("ultradomain", path, chunker=lambda d: [Chunk("x", d.text[:6], "", d.id)])
    assert [chunk.text for chunk in corpus.chunks] == ["Barley"]


def test_long_passages_of_alce_stay_whole(tmp_path):
    docs = [{"title": "Regatta", "text": FILLER}]
    corpus = read_dataset("alce", write(tmp_path / "asqa.json", [ALCE | {"docs": docs}]))
    assert [chunk.text for chunk in corpus.chunks] == [FILLER]


def test_every_set_can_be_asked(tmp_path):
    path = write(tmp_path / "popqa.jsonl", [POPQA | {"ctxs": FACTS}])
    corpus = read_dataset("popqa", path)
    method = mr.METHODS["bm25"].build(corpus.without_gold())
    assert method.retrieve(corpus.questions[0].text).ids[0] == "popqa/0000"


BROKEN = [
    ("multihop-rag", without(QUERY, "answer"), "KeyError: 'answer'"),
    ("multihop-rag", without(ARTICLE, "title"), "KeyError: 'title'"),
    ("multihop-rag", QUERY | {"evidence_list": [{"title": "Port opens"}]}, "KeyError: 'fact'"),
    ("multihop-rag", QUERY | {"answer": 3}, "a list of texts is expected"),
    ("popqa", POPQA | {"possible_answers": '["baker'}, "JSONDecodeError"),
    ("popqa", POPQA | {"possible_answers": '"baker"'}, "a list of texts is expected, not 'baker'"),
    ("popqa", {"question": "Who?", "answers": ["a"]}, "KeyError: 'possible_answers'"),
    ("popqa", POPQA | {"ctxs": [{"title": "no text"}]}, "KeyError: 'text'"),
    ("quality", QUALITY | {"questions": [LEVEL | {"gold_label": 0}]}, "gold_label 0 is none of"),
    ("quality", QUALITY | {"questions": [LEVEL | {"gold_label": 5}]}, "none of the 4 options"),
    ("quality", QUALITY | {"questions": [LEVEL | {"options": "ABCD"}]}, "a list of texts"),
    ("quality", QUALITY | {"article": None}, "TypeError|AttributeError"),
    ("quality", QUALITY | {"questions": [LEVEL, LEVEL]}, "before it has the id 52_A_1"),
    ("alce", without(ALCE, "qa_pairs"), "KeyError: 'qa_pairs'"),  # as in ELI5
    ("alce", ALCE | {"qa_pairs": None}, "TypeError"),
    ("alce", ALCE | {"qa_pairs": [{"short_answers": "Lund"}]}, "not 'Lund'"),
    ("ultradomain", ULTRA | {"answers": "Barley."}, "not 'Barley.'"),
    ("ultradomain", ULTRA | {"input": None}, "a list of texts"),
    ("ultradomain", ["no", "object"], "AttributeError|TypeError"),
    ("ultradomain", 3, "AttributeError|TypeError"),
]


@pytest.mark.parametrize("form, place", [("rows.json", "row 2"), ("rows.jsonl", "line 3")])
@pytest.mark.parametrize("name, row, reason", BROKEN)
def test_a_bad_row_is_told_with_its_number(name, row, reason, form, place, tmp_path):
    good = ROWS[name]
    if name == "multihop-rag":
        good = OTHER
    if name == "quality":
        good = QUALITY | {"questions": [LEVEL | {"question_unique_id": "1"}]}
    good = good | {"id": 1, "_id": "1", "sample_id": "1"}
    path = write(tmp_path / form, [good, row])
    if form == "rows.jsonl":  # a blank line is no row, and is counted
        path.write_text(path.read_text(encoding="utf-8").replace("\n", "\n\n", 1), encoding="utf-8")
    with pytest.raises(
        MiniragError, match=rf"{form}, {place}: cannot be read as {name} \(.*({reason})"
    ):
        read_dataset(name, path)


@pytest.mark.parametrize("name", sorted(SETS))
def test_what_is_no_json_is_told_with_its_line(name, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(OTHER if name == "multihop-rag" else ROWS[name]) + "\n{oops\n")
    with pytest.raises(MiniragError, match="rows.jsonl, line 2: .*JSONDecodeError"):
        read_dataset(name, path)
    path.write_text("[{},\n{oops]")
    with pytest.raises(MiniragError, match="rows.jsonl, as a whole: .*line 2 column 2"):
        read_dataset(name, path)
    with pytest.raises(MiniragError, match="none.json, as a whole: .*No such file"):
        read_dataset(name, tmp_path / "none.json")


def test_a_short_line_of_a_table_is_told(tmp_path):
    path = tmp_path / "popQA.tsv"
    path.write_text('id\tquestion\tpossible_answers\n1\tWho?\t"[""a""]"\n2\tWho?\n')
    with pytest.raises(MiniragError, match="popQA.tsv, line 3: .*a list of texts is expected"):
        read_dataset("popqa", path)


def test_two_files_with_one_question_are_refused(tmp_path):
    path = write(tmp_path / "asqa.json", [ALCE])
    with pytest.raises(MiniragError, match="a question before it has the id -17"):
        read_dataset("alce", path, path)


@pytest.mark.parametrize("name, paths", [("hotpotqa", ["x.json"]), ("alce", []), ("", ["x"])])
def test_a_name_without_files_and_another_name_say_what_there_is(name, paths):
    with pytest.raises(
        MiniragError, match="multihop-rag, popqa, quality, alce, ultradomain"
    ) as told:
        read_dataset(name, *paths)
    assert repr(name) in str(told.value)


def test_reading_is_quiet(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in sorted(set(SETS) - {"multihop-rag"}):
            read_dataset(name, write(tmp_path / f"{name}.json", [ROWS[name]]))
