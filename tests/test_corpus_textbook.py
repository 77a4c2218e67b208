"""The shipped corpus `textbook`: its files agree with each other, its prose is prose, and its
chapters are joined by directed paths.
"""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import median

import networkx as nx
import pytest
import yaml

from minirag import load_corpus
from minirag.text.tokens import count_tokens

FOLDER = Path(__file__).parents[1] / "data" / "corpora" / "textbook"
KINDS = {"connection": 19, "single": 6}
TYPES = {
    "PERSON",
    "ORGANIZATION",
    "PLACE",
    "PLANT",
    "ANIMAL",
    "PEST",
    "DISEASE",
    "SOIL",
    "PRACTICE",
    "EVENT",
    "PRODUCT",
    "TOOL",
    "RESOURCE",
    "MEASURE",
    "DOCUMENT",
}


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


PASSAGES, QUESTIONS, ANNOTATIONS, ELEMENTS = (
    rows(f"{name}.jsonl") for name in ("passages", "questions", "annotations", "elements")
)
BODY = {row["id"]: f"{row['title']}\n{row['text']}" for row in PASSAGES}
README = (FOLDER / "README.md").read_text(encoding="utf-8")
CONNECTIONS = [row for row in QUESTIONS if row["kind"] == "connection"]


def tokens(text):
    return re.findall(r"\w+", text.lower())


def test_ids_are_unique_and_complete():
    assert list(BODY) == [
        f"c{chapter:02}s{section}" for chapter in range(1, 13) for section in range(1, 6)
    ]
    assert [row["id"] for row in QUESTIONS] == [f"q{n:02}" for n in range(1, 26)]
    assert [row["id"] for row in ANNOTATIONS] == [row["id"] for row in ELEMENTS] == list(BODY)
    assert len({row["title"] for row in PASSAGES}) == len(PASSAGES)


def test_rows_have_exactly_the_stated_fields():
    assert all(row.keys() == {"id", "title", "text"} for row in PASSAGES)
    assert all(
        row.keys() == {"id", "question", "answers", "gold", "kind", "chain", "evidence"}
        for row in QUESTIONS
    )
    assert all(row.keys() == {"id", "entities", "triples"} for row in ANNOTATIONS)
    assert all(row.keys() == {"id", "entities", "relationships", "claims"} for row in ELEMENTS)
    assert rows("evidence.jsonl") == [
        {"id": row["id"], "evidence": row["evidence"]} for row in QUESTIONS
    ]
    card = yaml.safe_load((FOLDER / "corpus.yaml").read_text(encoding="utf-8"))
    assert (
        card["name"] == FOLDER.name
        and {"title", "description", "language", "licence", "notes"} <= card.keys()
    )


def test_the_kit_loads_it():
    corpus = load_corpus("textbook")
    assert (len(corpus.chunks), len(corpus.questions), list(corpus.extractions)) == (
        60,
        25,
        ["annotations"],
    )


def test_twelve_chapters_of_about_25000_tokens_together():
    words = Counter()
    for row in PASSAGES:
        assert 250 <= len(row["text"].split()) <= 450, row["id"]
        words[row["title"].split(": ")[0]] += len(row["text"].split())
    assert len(words) == 12 and all(1700 <= count <= 2200 for count in words.values()), words
    total = sum(map(count_tokens, BODY.values()))
    assert 23_750 <= total <= 26_250
    assert f"{total:,} tokens" in README


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
    assert f"{100 * share:.2f} %" in README


def test_repeated_share_sees_a_template():
    assert (
        repeated_share(
            [f"the hives at {name} stand on a dry sunny bank" for name in ("Aal", "Bree", "Cly")]
        )
        > 0.3
    )


@pytest.mark.parametrize("row", ANNOTATIONS, ids=lambda row: row["id"])
def test_annotations_are_phrases_of_their_section(row):
    section = BODY[row["id"]].lower()
    phrases = set(row["entities"]) | {
        phrase for subject, _, obj in row["triples"] for phrase in (subject, obj)
    }
    assert sorted(phrase for phrase in phrases if phrase.lower() not in section) == []
    assert 5 <= len(row["triples"]) <= 10 and len(row["entities"]) == len(set(row["entities"])) >= 5
    assert all(
        len(triple) == 3 and all(part.strip() for part in triple) for triple in row["triples"]
    )
    assert len({tuple(triple) for triple in row["triples"]}) == len(row["triples"])


@pytest.mark.parametrize("row", ELEMENTS, ids=lambda row: row["id"])
def test_elements_of_a_section_hang_together(row):
    entities, relationships = row["entities"], row["relationships"]
    names = [entity["name"] for entity in entities]
    ends = {
        end
        for relationship in relationships
        for end in (relationship["source"], relationship["target"])
    }
    assert 5 <= len(names) == len(set(names)) <= 9 and 5 <= len(relationships) <= 9
    assert ends == set(names), (
        "each entity stands in a relationship, and each end of one is an entity of the section"
    )
    assert all(
        entity.keys() == {"name", "type", "description"}
        and entity["name"].isupper()
        and entity["description"].strip()
        for entity in entities
    )
    assert all(
        r.keys() == {"source", "target", "keywords", "description", "strength"}
        for r in relationships
    )
    assert all(
        r["keywords"].strip() and r["description"].strip() and 1 <= r["strength"] <= 10
        for r in relationships
    )
    assert len({(r["source"], r["target"]) for r in relationships}) == len(relationships) and all(
        r["source"] != r["target"] for r in relationships
    )


def test_a_name_has_one_type_everywhere():
    kinds = {}
    for row in ELEMENTS:
        for entity in row["entities"]:
            kinds.setdefault(entity["name"], set()).add(entity["type"])
    assert {name: types for name, types in kinds.items() if len(types) > 1} == {}
    assert set().union(*kinds.values()) == TYPES


def test_question_kinds():
    assert Counter(row["kind"] for row in QUESTIONS) == KINDS


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])
def test_gold_sections_hold_answer_and_evidence(row):
    assert row["gold"] == sorted(set(row["gold"])) and set(row["gold"]) <= BODY.keys()
    assert len(row["gold"]) == 1 if row["kind"] == "single" else len(row["gold"]) in (2, 3)
    assert len({section[:3] for section in row["gold"]}) == len(row["gold"]), (
        "gold sections lie in different chapters"
    )
    assert row["chain"] and all(step.endswith(".") for step in row["chain"])
    gold = "\n".join(BODY[section] for section in row["gold"])
    assert (
        row["answers"][0].lower() in gold.lower()
        and row["answers"][0].lower() not in row["question"].lower()
    )
    assert (
        2 <= len(row["evidence"]) <= 4
        and [phrase for phrase in row["evidence"] if phrase not in gold] == []
    )
    assert all(
        any(phrase in BODY[section] for phrase in row["evidence"]) for section in row["gold"]
    ), "evidence from each gold section"


NAMES = {row["id"]: {entity["name"] for entity in row["entities"]} for row in ELEMENTS}
GRAPH = nx.DiGraph((r["source"], r["target"]) for row in ELEMENTS for r in row["relationships"])


def joined(first, second, hops=3):
    """Whether a directed path leads from a name that only one of two sections has to a name that
    only the other has.
    """
    reach = {
        name: nx.single_source_shortest_path_length(GRAPH, name, cutoff=hops).keys()
        for name in NAMES[first] | NAMES[second]
    }
    only_first, only_second = NAMES[first] - NAMES[second], NAMES[second] - NAMES[first]
    return any(reach[a] & only_second for a in only_first) or any(
        reach[b] & only_first for b in only_second
    )


def test_relationships_make_one_graph():
    largest = max(nx.weakly_connected_components(GRAPH), key=len)
    assert len(largest) >= 0.8 * len(set().union(*NAMES.values()))
    hubs = [name for name, degree in GRAPH.degree() if degree >= 10]
    typical, most = (
        median(dict(GRAPH.out_degree(hubs)).values()),
        max(out for _, out in GRAPH.out_degree()),
    )
    degrees = (
        f"median {typical:g} among the {len(hubs)} entities with ten relationships or "
        f"more, largest {most} "
    )
    print(f"out-degree: {degrees}")
    assert (
        degrees in README
        and f"{len(GRAPH)} entities and {GRAPH.number_of_edges()} directed relationships" in README
    )


def test_gold_sections_of_connection_questions_are_joined_by_short_directed_paths():
    whole = []
    for row in CONNECTIONS:
        sections = nx.Graph()
        sections.add_nodes_from(row["gold"])
        sections.add_edges_from(pair for pair in combinations(row["gold"], 2) if joined(*pair))
        whole.append(nx.is_connected(sections))
    assert sum(whole) >= 15
    assert f"{sum(whole)} of {len(CONNECTIONS)}" in README


def test_gold_sections_are_closer_than_other_sections():
    """Within three hops almost any two sections are joined; that gold sections share names is what
    sets them apart.
    """
    gold = [pair for row in CONNECTIONS for pair in combinations(row["gold"], 2)]
    others = [(a, b) for a, b in combinations(BODY, 2) if a[:3] != b[:3]]

    def share(pairs, together):
        return 100 * sum(together(*pair) for pair in pairs) / len(pairs)

    naming = [share(pairs, lambda a, b: bool(NAMES[a] & NAMES[b])) for pairs in (gold, others)]
    assert naming[0] >= 2 * naming[1]
    shown = [*naming, share(gold, joined), share(others, joined)]
    assert all(f"{percent:.0f} %" in README for percent in shown), shown


def bm25_recall(k):
    """Mean recall in percent of BM25's first k sections, per question kind and for all
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


def test_bm25_finds_single_facts_and_not_all_connections():
    table = [bm25_recall(k) for k in (2, 5, 10)]
    assert table[1]["single"] >= 90 and table[1]["connection"] < 80
    row = " | ".join(
        " / ".join(f"{recall[kind]:.1f}" for recall in table) for kind in (*KINDS, "all")
    )
    assert f"| BM25 | {row} |" in README
