"""The shipped corpus `mini_wiki`: its pages, triples, questions and claims agree with each other,
its prose is prose, and BM25 alone does not solve it.
"""

import json
import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
import yaml

from minirag import load_corpus
from minirag.core.corpus import Triple
from minirag.core.errors import MiniragError
from minirag.corpora.shipped_and_folders import read_corpus
from minirag.methods import METHODS
from minirag.text.tokens import count_tokens

FOLDER = Path(__file__).parents[1] / "data" / "corpora" / "mini_wiki"
KINDS = {"single-hop": 8, "bridge": 22, "comparison": 6, "path-finding": 4}
STUBS = {"Cadmoor", "Rufus Tance"}
NEAR_NAMES = [
    ("Adela Thrane", "MV Adela Thrane"),
    ("Adela Thrane", "Josias Thrane"),
    ("Nine Tides", "The Ninth Tide"),
    ("Tobit Merrin", "Ysolde Merrin"),
    ("Petrel class", "Vesk petrel"),
    ("Haldry School of Mines", "Haldry Slate Company"),
    ("Haldry Observatory", "Haldry Symphony"),
]


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


PASSAGES, TRIPLES, QUESTIONS, CLAIMS = (
    rows(f"{name}.jsonl") for name in ("passages", "triples", "questions", "claims")
)
BODY = {row["id"]: f"{row['title']}\n{row['text']}" for row in PASSAGES}
PAGE = {row["title"]: row["id"] for row in PASSAGES}
PAGES = {(row["head"], row["relation"], row["tail"]): row.get("pages", []) for row in TRIPLES}
README = (FOLDER / "README.md").read_text(encoding="utf-8")
BY_ID = pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["id"])


def tokens(text):
    return re.findall(r"\w+", text.lower())


def says(text, phrase):
    """Whether the words of `phrase` stand together in `text`."""
    return f" {' '.join(tokens(phrase))} " in f" {' '.join(tokens(text))} "


def entities(path):
    return {end for head, _, tail in path for end in (head, tail)}


def ends(path):
    """The first and the last entity of a walk along triples, each in either direction."""
    here = set(path[0][::2])
    if len(path) == 1:
        return path[0][0], path[0][2]
    (first,) = here - set(path[1][::2])
    last = first
    for head, _, tail in path:
        assert last in (head, tail), f"{path} is no walk"
        last = tail if last == head else head
    return first, last


def pieces(path):
    """How many connected components the triples of a path make."""
    graph = nx.Graph((head, tail) for head, _, tail in path)
    return nx.number_connected_components(graph)


def test_counts_that_the_card_states():
    assert [row["id"] for row in PASSAGES] == [f"w{n:02}" for n in range(1, 84)]
    assert [row["id"] for row in QUESTIONS] == [f"q{n:02}" for n in range(1, 41)]
    assert [row["id"] for row in CLAIMS] == [f"c{n:02}" for n in range(1, 25)]
    relations, total = {row["relation"] for row in TRIPLES}, sum(map(count_tokens, BODY.values()))
    tails = sum(row["tail"] in PAGE for row in TRIPLES)
    unstated = sum("pages" not in row for row in TRIPLES)
    for said in (
        f"{len(PASSAGES)} encyclopaedia pages, {total:,} tokens",
        f"{len(TRIPLES)} triples with {len(relations)} relations",
        f"{tails} tails have a page",
        f"{unstated} triples stand in no page",
    ):
        assert said in README, said


def test_rows_have_exactly_the_stated_fields():
    assert all(row.keys() == {"id", "title", "text"} for row in PASSAGES)
    assert all(row.keys() - {"pages"} == {"head", "relation", "tail"} for row in TRIPLES)
    shipped = {"id", "question", "answers", "gold", "kind", "chain"}
    assert all(row.keys() == shipped | {"hops", "last", "path"} for row in QUESTIONS)
    assert all(row.keys() == {"id", "claim", "label", "gold", "path"} for row in CLAIMS)
    card = yaml.safe_load((FOLDER / "corpus.yaml").read_text(encoding="utf-8"))
    assert (
        card["name"] == FOLDER.name
        and {"title", "description", "language", "licence", "notes"} <= card.keys()
    )
    assert f"knowledge graph of {len(TRIPLES)} triples" in card["description"]


def test_titles_are_unique_and_near_names_are_two_pages():
    assert len(PAGE) == len(PASSAGES)
    for names in NEAR_NAMES:
        assert set(names) <= PAGE.keys()
        assert all(f"*{name}*" in README for name in names), names


@pytest.mark.parametrize("row", PASSAGES, ids=lambda row: row["id"])
def test_pages_are_short(row):
    words = len(row["text"].split())
    assert words < 40 if row["title"] in STUBS else 60 <= words <= 160


def repeated_share(texts, n=5):
    """Share of all word n-grams that belong to an n-gram occurring more than once."""
    counts = Counter(
        tuple(words[i : i + n]) for words in map(tokens, texts) for i in range(len(words) - n + 1)
    )
    return sum(count for count in counts.values() if count > 1) / counts.total()


def test_prose_is_not_made_from_a_template():
    share = repeated_share([row["text"] for row in PASSAGES])
    assert share <= 0.05 and f"{100 * share:.2f} %" in README


@pytest.mark.slow
def test_no_name_of_another_corpus_has_a_page():
    others = " ".join(
        chunk.passage
        for name in ("professors", "harbor_news", "textbook")
        for chunk in load_corpus(name).chunks
    )
    assert [title for title in PAGE if says(others, title)] == []


def test_every_head_and_most_tails_have_a_page():
    assert len(PAGES) == len(TRIPLES)  # no triple stands there twice
    assert {row["head"] for row in TRIPLES} == PAGE.keys()
    assert 0.75 <= sum(row["tail"] in PAGE for row in TRIPLES) / len(TRIPLES) <= 0.85
    graph = nx.Graph((row["head"], row["tail"]) for row in TRIPLES)
    assert nx.is_connected(graph.subgraph(PAGE))


# Stated in other words: a younger sister, "to A.", the Customs House.
ASIDE = {
    ("Ilian Prouse", "sibling", "Agnes Wendle"),
    ("Agnes Wendle", "sibling", "Ilian Prouse"),
    ("Nine Tides", "dedicated to", "Agnes Wendle"),
    ("Museum of the Sea", "architect", "Tobit Merrin"),
}


def names(text, entity):
    """Whether a text holds a word of an entity's name."""
    return any(says(text, word) for word in tokens(entity) if word not in ("of", "the"))


def test_pages_of_a_triple_name_both_its_ends():
    elsewhere = {
        triple
        for triple, pages in PAGES.items()
        for page in pages
        if not (names(BODY[page], triple[0]) and names(BODY[page], triple[2]))
    }
    assert elsewhere == ASIDE


def test_question_kinds_and_the_first_twenty():
    assert Counter(row["kind"] for row in QUESTIONS) == KINDS
    hops = Counter((row["kind"], row["hops"]) for row in QUESTIONS)
    assert (hops["single-hop", 1], hops["bridge", 2], hops["bridge", 3]) == (8, 14, 8)
    first = Counter(row["kind"] for row in QUESTIONS[:20])
    assert first == {"single-hop": 4, "bridge": 10, "comparison": 3, "path-finding": 3}
    assert Counter(row["last"] for row in QUESTIONS) == {"both": 25, "text": 11, "kg": 4}


@BY_ID
def test_gold_paths_are_walks_in_the_graph(row):
    path = [tuple(triple) for triple in row["path"]]
    assert set(path) <= PAGES.keys()
    if row["kind"] == "comparison":
        assert pieces(path) in (1, 2)
        return
    walked = row["hops"] - (row["last"] == "text")
    assert len(path) == walked
    if path and row["kind"] == "bridge":
        first, last = ends(path)
        assert first in PAGE and (last == row["answers"][0]) == (row["last"] != "text")
    elif path:
        ends(path)
        assert row["answers"][0] in entities(path)


@BY_ID
def test_gold_pages_state_the_path(row):
    gold, path = set(row["gold"]), [tuple(triple) for triple in row["path"]]
    assert row["gold"] == sorted(gold) and gold <= BODY.keys()
    assert len(gold) == 1 or row["kind"] != "single-hop"
    for triple in path:
        assert not PAGES[triple] or gold & set(PAGES[triple]), triple
    stating = {page for triple in path for page in PAGES[triple]}
    about = {PAGE[name] for name in entities(path) & PAGE.keys()}
    assert gold <= stating | about or not path
    if path and row["last"] != "text":
        assert (row["last"] == "kg") == (not PAGES[path[-1]])


@BY_ID
def test_answers_stand_where_they_should(row):
    answer = row["answers"][0]
    text = "\n".join(BODY[page] for page in row["gold"])
    if row["last"] == "kg":
        assert answer in entities(row["path"])
    else:
        assert says(text, answer)
    if row["last"] == "text" and row["kind"] != "comparison":
        assert answer not in entities(row["path"])
    assert not any(says(row["question"], accepted) for accepted in row["answers"])
    assert row["chain"] and all(step.endswith(".") for step in row["chain"])


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row["id"])
def test_labels_agree_with_the_graph(row):
    path = [tuple(triple) for triple in row["path"]]
    assert path and set(path) <= PAGES.keys()
    assert row["gold"] == sorted(set(row["gold"])) and set(row["gold"]) <= BODY.keys()
    if row["label"] == "SUPPORTS":
        assert all(says(row["claim"], end) for end in ends(path))
    else:
        head, relation, true = path[0]
        assert says(row["claim"], head) and not says(row["claim"], true)
        other = [tail for h, r, tail in PAGES if (h, r) == (head, relation)]
        assert not any(says(row["claim"], tail) for tail in other)


def test_half_of_the_claims_are_refuted():
    assert Counter(row["label"] for row in CLAIMS) == {"SUPPORTS": 12, "REFUTES": 12}


def test_the_graph_is_loaded_page_by_page():
    corpus = load_corpus("mini_wiki")
    assert (len(corpus.chunks), len(corpus.questions)) == (83, 40)
    assert list(corpus.extractions) == ["triples"]
    graph = corpus.extractions["triples"]
    assert graph.source == "shipped triples"
    of_page = graph.triples[PAGE["Cadmoor"]]
    assert graph.entities[PAGE["Cadmoor"]] == (
        *dict.fromkeys(["Cadmoor", *(t.object for t in of_page)]),
    )
    assert (
        Triple("Ashlock Engineering", "headquarters location", "Quenby")
        in (graph.triples[PAGE["Ashlock Engineering"]])
    )
    assert sum(map(len, graph.triples.values())) == len(TRIPLES)


def test_pages_that_share_a_name_of_the_graph_are_neighbours_in_kgp():
    built = METHODS["kgp"].build(load_corpus("mini_wiki"), extraction="triples")
    assert len(built.graph.edges) == 628
    beside = {built.chunks[place].title for place in built.beside[list(PAGE).index("Lucan Vane")]}
    assert {"Hester Quillfeather", "Haldry Observatory"} <= beside


def test_without_gold_keeps_questions_and_graph():
    corpus = load_corpus("mini_wiki")
    bare = corpus.without_gold()
    assert [q.text for q in bare.questions] == [q.text for q in corpus.questions]
    assert all(not (q.answers or q.gold or q.kind or q.chain) for q in bare.questions)
    assert bare.extractions == corpus.extractions and bare.chunks == corpus.chunks


@pytest.mark.parametrize(
    "triple, said",
    [
        ({"head": "B", "relation": "is", "tail": "A"}, "triples.jsonl: the head 'B' is no"),
        ({"head": "A", "tail": "B"}, "has no 'relation'"),
        ({"head": "A", "relation": "is"}, "has no 'tail'"),
        ({"head": "A", "relation": "is", "tail": "B", "pages": ["p9"]}, "names 'p9'"),
    ],
)
def test_a_broken_graph_says_where(tmp_path, triple, said):
    page = {"id": "p1", "title": "A", "text": "Alpha."}
    (tmp_path / "passages.jsonl").write_text(json.dumps(page), encoding="utf-8")
    (tmp_path / "triples.jsonl").write_text(json.dumps(triple), encoding="utf-8")
    with pytest.raises(MiniragError, match=said):
        read_corpus(tmp_path)


def recall(method, k):
    """Mean recall in percent of a method's first k pages, per question kind and for all."""
    found = {}
    for question in load_corpus("mini_wiki").questions:
        ids = set(method.retrieve(question.text, k=k).ids)
        for kind in (question.kind, "all"):
            share = len(ids & set(question.gold)) / len(question.gold)
            found.setdefault(kind, []).append(share)
    return {kind: 100 * sum(shares) / len(shares) for kind, shares in found.items()}


def test_bm25_finds_single_facts_and_not_paths():
    method = METHODS["bm25"].build(load_corpus("mini_wiki"))
    at_2, at_5 = recall(method, 2), recall(method, 5)
    assert at_5["single-hop"] >= 90 and at_5["all"] < 80
    assert at_2["path-finding"] < 60 and at_2["comparison"] < 60
    row = " | ".join(f"{at_2[kind]:.1f} / {at_5[kind]:.1f}" for kind in (*KINDS, "all"))
    assert f"| BM25 | {row} |" in README
