"""The shipped corpus `professors`: its files agree with each other, its prose is prose, and BM25
alone does not solve it.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[1] / "data" / "corpora" / "professors"
KINDS = {"single-hop": 6, "bridge": 6, "path-finding": 8, "comparison": 4}
# Question -> the names of its two constraints' hubs and of the person in whom they meet, every way
# they are written in the corpus.
UNIVERSITY, DISEASE = (
    r"University of Veldmark|Veldmark University|the Mark\b",
    r"Lanthorn('s)? Disease|PTD|temporal dysmetria",
)
MEDAL, EXPEDITION, COMPANY, TOWN = (
    "Candlemas Medal",
    "Kittering Expedition",
    "Quillon",
    "Port Sable",
)
MEETING = {
    "q13": (UNIVERSITY, DISEASE, "Marrow"),
    "q14": (MEDAL, DISEASE, "W[ąa]sik"),
    "q15": (UNIVERSITY, TOWN, "Stavrou|Σταύρου"),
    "q16": (EXPEDITION, DISEASE, "Yuzhen|林毓珍"),
    "q17": (UNIVERSITY, COMPANY, "Fanshawe"),
    "q18": (MEDAL, TOWN, "Achterberg"),
    "q19": (COMPANY, EXPEDITION, "Brisling"),
    "q20": (COMPANY, DISEASE, "Birtwhistle"),
}


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


PASSAGES, QUESTIONS, ANNOTATIONS = (
    rows("passages.jsonl"),
    rows("questions.jsonl"),
    rows("annotations.jsonl"),
)
BODY = {row["id"]: f"{row['title']}\n{row['text']}" for row in PASSAGES}


def tokens(text):
    return re.findall(r"\w+", text.lower())


def test_ids_are_unique_and_complete():
    assert [row["id"] for row in PASSAGES] == [f"p{n:02}" for n in range(1, 41)]
    assert [row["id"] for row in QUESTIONS] == [f"q{n:02}" for n in range(1, 25)]
    assert [row["id"] for row in ANNOTATIONS] == list(BODY)
    assert len({row["title"] for row in PASSAGES}) == len(PASSAGES)


def test_rows_have_exactly_the_stated_fields():
    assert all(row.keys() == {"id", "title", "text"} for row in PASSAGES)
    assert all(
        row.keys() == {"id", "question", "answers", "gold", "kind", "chain"} for row in QUESTIONS
    )
    assert all(row.keys() == {"id", "entities", "triples"} for row in ANNOTATIONS)
    card = yaml.safe_load((FOLDER / "corpus.yaml").read_text(encoding="utf-8"))
    assert (
        card["name"] == FOLDER.name
        and {"title", "description", "language", "licence", "notes"} <= card.keys()
    )


@pytest.mark.parametrize("row", PASSAGES, ids=lambda row: row["id"])
def test_passages_are_short(row):
    assert 60 <= len(row["text"].split()) <= 130


def repeated_share(texts, n=5):
    """Share of all word n-grams that belong to an n-gram occurring more than once, in one text or
    across texts.
    """
    counts = Counter(
        tuple(words[i : i + n]) for words in map(tokens, texts) for i in range(len(words) - n + 1)
    )
    return sum(count for count in counts.values() if count > 1) / counts.total()


def test_prose_is_not_made_from_a_template():
    share = repeated_share([row["text"] for row in PASSAGES])
    assert share <= 0.05
    assert f"{100 * share:.2f} %" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_repeated_share_sees_a_template():
    assert (
        repeated_share(
            [f"the town of {name} lies on a broad slow river" for name in ("Aal", "Bree", "Cly")]
        )
        > 0.3
    )


@pytest.mark.parametrize("row", ANNOTATIONS, ids=lambda row: row["id"])
def test_annotations_are_phrases_of_their_passage(row):
    passage = BODY[row["id"]].lower()
    phrases = set(row["entities"]) | {
        phrase for subject, _, obj in row["triples"] for phrase in (subject, obj)
    }
    assert sorted(phrase for phrase in phrases if phrase.lower() not in passage) == []
    assert 5 <= len(row["triples"]) <= 10 and len(row["entities"]) == len(set(row["entities"])) >= 1
    assert all(
        len(triple) == 3 and all(part.strip() for part in triple) for triple in row["triples"]
    )
    assert len({tuple(triple) for triple in row["triples"]}) == len(row["triples"])


def test_question_kinds():
    assert Counter(row["kind"] for row in QUESTIONS) == KINDS


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])
def test_gold_passages_hold_the_answer(row):
    assert row["gold"] == sorted(set(row["gold"])) and set(row["gold"]) <= BODY.keys()
    assert len(row["gold"]) == 1 if row["kind"] == "single-hop" else len(row["gold"]) in (2, 3)
    assert row["chain"] and all(step.endswith(".") for step in row["chain"])
    gold = "\n".join(BODY[passage] for passage in row["gold"]).lower()
    assert row["answers"][0].lower() in gold
    assert row["answers"][0].lower() not in row["question"].lower() or row["kind"] == "comparison"


def test_exactly_two_questions_name_nothing():
    nameless = [row["id"] for row in QUESTIONS if not re.search(r"[A-Z]", row["question"][1:])]
    assert nameless == ["q04", "q12"]


def test_meeting_points_cover_the_path_finding_questions():
    assert set(MEETING) == {row["id"] for row in QUESTIONS if row["kind"] == "path-finding"}


@pytest.mark.parametrize("question_id", MEETING)
def test_path_finding_needs_association(question_id):
    first, second, person = MEETING[question_id]
    question = next(row for row in QUESTIONS if row["id"] == question_id)
    assert re.search(person, question["answers"][0])
    about = [text for text in BODY.values() if re.search(person, text)]
    assert not [text for text in about if re.search(first, text) and re.search(second, text)]
    assert any(re.search(first, text) for text in about) and any(
        re.search(second, text) for text in about
    )
    assert all(
        re.search(person, BODY[passage]) for passage in question["gold"] if passage != "p02"
    )  # p02 says what PTD is, of nobody


@pytest.mark.parametrize("question_id", MEETING)
def test_each_constraint_alone_leaves_several_passages(question_id):
    first, second, person = MEETING[question_id]
    for hub in (first, second):
        assert (
            sum(
                bool(re.search(hub, text)) and not re.search(person, text) for text in BODY.values()
            )
            >= 3
        )


def bm25_recall(k):
    """Mean recall in percent of BM25's first k passages, per question kind and for all
    questions.
    """
    index = pytest.importorskip("rank_bm25").BM25Okapi([tokens(text) for text in BODY.values()])
    recall = {}
    for row in QUESTIONS:
        scores = dict(zip(BODY, index.get_scores(tokens(row["question"]))))
        found = sorted(scores, key=scores.get, reverse=True)[:k]
        for kind in (row["kind"], "all"):
            recall.setdefault(kind, []).append(
                len(set(found) & set(row["gold"])) / len(row["gold"])
            )
    return {kind: 100 * sum(values) / len(values) for kind, values in recall.items()}


def test_bm25_finds_single_facts_and_not_paths():
    at_2, at_5 = bm25_recall(2), bm25_recall(5)
    assert at_5["single-hop"] >= 90
    assert at_2["path-finding"] < 60
    row = " | ".join(f"{at_2[kind]:.1f} / {at_5[kind]:.1f}" for kind in (*KINDS, "all"))
    assert f"| BM25 | {row} |" in (FOLDER / "README.md").read_text(encoding="utf-8")
