"""What chapter 03 (notebooks/03_from_text_to_graph.ipynb) says, checked beyond what its cells
print: the readers and how far they agree, the names that cut its questions, what synonymy edges
join and how far they carry a walk, the five graphs and one hop in each. Gleaning,
records, claims and chunk sizes are told in section 3 of chapter 07.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import minirag
from minirag import graphs
from minirag.algorithms.pagerank import personalized_pagerank
from minirag.evaluate.metrics import load_expected
from minirag.graphs import Elements
from minirag.graphs.elements import TiringReader, entity_references, one_document
from minirag.graphs.knowledge_graph import normalise_phrase
from minirag.prompts import TASKS
from minirag.prompts.records import (
    EntityRecord,
    RelationshipRecord,
    read_instances,
    read_instances_as_released,
)
from minirag.prompts.rules import guess_type, names_in
from minirag.text.chunking import sentences

IDS = ("p02", "p04", "p15", "p17", "p20")
MEDAL, DISEASE = "candlemas medal", "lanthorn s disease"
plain = graphs.normalise_phrase


@pytest.fixture(scope="module")
def llm():
    return minirag.load_llm("offline")


@pytest.fixture(scope="module")
def corpus():
    return minirag.load_corpus("professors")


@pytest.fixture(scope="module")
def chunks(corpus):
    return [chunk for chunk in corpus.chunks if chunk.id in IDS]


@pytest.fixture(scope="module")
def notes(corpus):
    return corpus.extractions["annotations"]


@pytest.fixture(scope="module")
def model(corpus):
    return graphs.extract(corpus, minirag.load_llm("recorded"))


@pytest.fixture(scope="module")
def elements(chunks, llm):
    return graphs.extract_elements(chunks, llm, claims=True)


def nodes_by_passage(extraction):
    return {
        id: {plain(end) for triple in triples for end in (triple.subject, triple.object)}
        for id, triples in extraction.triples.items()
    }


def test_the_models_replies_are_recorded_and_no_rule_stands_in(corpus):
    reader = minirag.load_llm("recorded")
    graphs.extract(corpus, reader)
    graphs.extract_elements(minirag.load_corpus("harbor_news"), reader)
    total = reader.ledger.total
    assert total.calls == total.replayed == 80 + 138 and not total.dropped


def test_the_knowledge_graph_by_hand_is_the_packages(chunks, notes):
    triples = [triple for chunk in chunks for triple in notes.triples[chunk.id]]
    stated = Counter(tuple(plain(part) for part in triple) for triple in triples)
    kg = graphs.knowledge_graph(chunks, notes)
    names = [node.name for node in kg.nodes]
    assert set(names) == {end for subject, _, thing in stated for end in (subject, thing)}
    assert {(names[e.source], e.name, names[e.target]): e.weight for e in kg.edges} == stated
    assert not nx.has_path(kg.to_networkx(), DISEASE, MEDAL)


def test_one_letter_is_mended_by_spelling_as_well_as_by_an_encoder(chunks, notes):
    encoder = minirag.load_encoder("minilm")
    two = encoder.encode(["katarzyna wąsik", "katarzyna wasik"])
    assert np.array_equal(*two), "the tokenizer strips accents: the vectors are identical"
    kg = graphs.knowledge_graph(chunks, notes)
    vectors = encoder.encode([node.name for node in kg.nodes])
    path = nx.shortest_path(graphs.with_synonymy(kg, vectors, 0.8).to_networkx(), DISEASE, MEDAL)
    assert path == [DISEASE, "katarzyna wąsik", "katarzyna wasik", MEDAL]

    def pairs(threshold):
        edges = graphs.with_synonymy(kg, vectors, threshold).edges
        return {kg.nodes[e.source].name for e in edges if e.kind == "synonymy"}

    assert "adeyemi frost" not in pairs(0.78) and "blood test" in pairs(0.78)
    assert {"adeyemi frost", "blood test"} <= pairs(0.76), "no threshold parts right from wrong"


def test_the_model_leaves_the_surname_alone(chunks, model, notes):
    assert "wąsik" in nodes_by_passage(model)["p15"]
    assert "wąsik" not in nodes_by_passage(notes)["p15"]
    graph = nx.Graph(graphs.knowledge_graph(chunks, model).to_networkx())
    assert not nx.has_path(graph, DISEASE, MEDAL)
    assert not nx.has_path(
        nx.relabel_nodes(graph, {"katarzyna wąsik": "katarzyna wasik"}), DISEASE, MEDAL
    ), "removing the accent is not enough"
    three = [set(graph[name]) for name in ("wąsik", "katarzyna wąsik", "katarzyna wasik")]
    assert not three[0] & three[1] and not three[0] & three[2] and not three[1] & three[2]


def test_the_same_five_questions_are_cut_for_every_reader(corpus, model, notes, llm):
    for extraction in (model, notes, graphs.extract(corpus, llm)):
        of = nodes_by_passage(extraction)
        cut = [
            q.id
            for q in corpus.questions
            if q.kind in ("bridge", "path-finding")
            and not all(of[a] & of[b] for a, b in zip(q.gold, q.gold[1:]))
        ]
        assert cut == ["q13", "q14", "q16", "q19", "q20"]
        for q in map(corpus.question, cut):
            one = dict.fromkeys(map(plain, q.answers), "the answer")
            nodes = [{one.get(name, name) for name in of[id]} for id in q.gold]
            assert all(a & b for a, b in pairwise(nodes)), "one name mends it"


def test_in_the_textual_graph_of_the_rule_she_is_three_nodes(chunks, elements, llm):
    textual = graphs.textual_knowledge_graph(chunks, elements, llm).to_networkx()
    assert not nx.has_path(textual, "Lanthorn's Disease", "Candlemas Medal")
    assert {name: sorted(textual[name]) for name in textual if "sik" in name} == {
        "Katarzyna Wąsik": ["Poland"],
        "Wąsik": ["Lanthorn's Disease", "Purkinje"],
        "Katarzyna Wasik": ["Candlemas Medal"],
    }


def test_the_rule_guesses_types_from_cues(chunks):
    text = chunks[2].text
    first = text[slice(*sentences(text)[0])]
    found = [(first[a:b], guess_type(first[a:b], first[:a])) for a, b in names_in(first, text)]
    assert found == [("Poland", "geo"), ("1961", "date"), ("Katarzyna Wąsik", "person")]


def test_types_and_examples_are_the_domains_own(chunks, llm):
    people = graphs.extract_elements(chunks, llm, entity_types=("person",))
    persons = {e.name for some in people.entities.values() for e in some if e.type == "person"}
    assert persons == {
        "Dr Ilse Marrow",
        "Edmund Lanthorn",
        "Katarzyna Wasik",
        "Katarzyna Wąsik",
        "Samuel Adeyemi-Frost",
    }
    domain = {"entity_types": ["gene"], "examples": [("BRCA1 ...", "(its records)")]}
    prompt = TASKS["elements"].prompt({"text": "TP53 binds MDM2.", **domain})
    assert prompt.startswith("Entity types: gene") and "Harrowgate" not in prompt


def test_a_broken_reply_is_read_as_far_as_it_goes():
    broken = 'Sure! ("entity"<|>Ada<|>person<|>A clerk.)\n("entity"<|>Selm)'
    broken += '##("relationship"<|>Ada<|>Selm<|>She lives there.<|>strong)##("entity"<|>Ot'
    found, dropped = read_instances(broken)
    assert [entity.name for entity in found.entities] == ["Ada"] and dropped == 2
    assert found.relationships[0].strength == 1


def test_gleaning_by_the_rule_and_by_a_reader_that_tires(chunks, llm):
    def read(gleanings):
        reader = TiringReader(llm, limit=3)
        found = graphs.extract_elements(chunks[2:3], reader, gleanings=gleanings)
        return found.gleanings["p15"], len(found.entities["p15"])

    assert [read(gleanings) for gleanings in range(4)] == [(0, 3), (1, 6), (2, 7), (2, 7)]

    def calls(order, gleanings):
        reader = TiringReader(llm, limit=3)
        graphs.extract_elements(chunks, reader, gleanings=gleanings, order=order)
        return reader.ledger.total.calls

    assert [calls("assess first", n) for n in range(4)] == [5, 15, 21, 22]
    assert [calls("continue first", n) for n in range(4)] == [5, 10, 16, 17]


def test_the_notes_have_none_of_the_gleaned_names_though_they_have_such_types():
    news, reader = minirag.load_corpus("harbor_news"), minirag.load_llm("recorded")
    found = [graphs.extract_elements(news, reader, gleanings=n) for n in (0, 1)]
    wanted = graphs.annotated_elements(news)

    def named(some):
        return {(id, plain(e.name)) for id, rows in some.entities.items() for e in rows}

    first, both = map(named, found)
    assert sum(found[1].gleanings.values()) == 18 and len(both - first) == 246
    assert not (both - first) & named(wanted) and len(first & named(wanted)) == 314
    types = {e.type.casefold() for rows in wanted.entities.values() for e in rows}
    assert {"person", "organization", "event", "geo"} <= types
    # Nor is it the spelling: with cosines above .8 the share is a tenth, of the first a third.
    encoder, close = minirag.load_encoder("minilm"), [0, 0]
    for id, rows in wanted.entities.items():
        theirs = encoder.encode([e.name for e in rows])
        for place, group in enumerate((first, both - first)):
            names = [name for of, name in group if of == id]
            if names:
                close[place] += int(((encoder.encode(names) @ theirs.T).max(axis=1) > 0.8).sum())
    assert close[1] / 246 < 0.12 < 0.28 < close[0] / len(first)


def test_how_replies_of_a_chunk_are_joined_is_a_difference_of_the_released_code():
    first = '("entity"<|>A<|>person<|>one)##("relationship"<|>A<|>B<|>met<|>9)<|COMPLETE|>'
    gleaned = '("entity"<|>C<|>person<|>two)##("entity"<|>D<|>person<|>three)<|COMPLETE|>'
    apart, glued = (
        read_instances(first + "\n" + gleaned),
        read_instances_as_released(first + gleaned),
    )
    assert [e.name for e in apart[0].entities] == ["A", "C", "D"]
    assert [e.name for e in glued[0].entities] == ["A", "D"]
    assert [found[0].relationships[0].strength for found in (apart, glued)] == [9, 1]


def test_the_rules_claims(elements, chunks, llm):
    claims = [claim for some in elements.claims.values() for claim in some]
    assert len(claims) == 7 and not any(claim.status for claim in claims)
    assert (claims[0].subject, claims[0].object, claims[0].start) == (
        "Edmund Lanthorn", "Skerrow Islands", "1907",
    )  # fmt: skip
    tkg = graphs.textual_knowledge_graph(chunks, elements, llm)
    assert len(tkg.claims) == 7 and tkg.nodes[tkg.claims[0].subject].name == "Edmund Lanthorn"


def test_instances_of_one_name_are_one_node_and_a_summary_costs_a_call_only_if_needed(
    elements, chunks, llm
):
    said = Counter(e.name for some in elements.entities.values() for e in some)
    assert sum(said.values()) == 26 and said["Lanthorn's Disease"] == 4
    tkg = graphs.textual_knowledge_graph(chunks, elements, llm)
    assert {node.name for node in tkg.nodes} == set(said)

    def calls(texts):
        before = llm.ledger.snapshot()
        graphs.summarise_elements(llm, [("Selm", texts)])
        return (llm.ledger - before).total.calls

    port = "A port."
    assert [calls(t) for t in ([], [port], [port, port], [port, "It sinks."])] == [0, 0, 0, 1]


def test_what_an_edge_is_worth(chunks):
    read = [("Ada", "Ben", "They met.", 3), ("Ben", "Ada", "Again.", 5), ("Ada", "Cy", "Kin.", 2)]
    people = tuple(EntityRecord(name, "person", "Somebody.") for name in ("Ada", "Ben", "Cy"))
    relations = tuple(RelationshipRecord(*row) for row in read)
    small = Elements("an example", {"p02": people}, {"p02": relations})

    def weights(**choices):
        graph = graphs.textual_knowledge_graph(chunks[:1], small, **choices)
        names = [node.name for node in graph.nodes]
        return {f"{names[e.source]}-{names[e.target]}": e.weight for e in graph.edges}

    assert weights() == {"Ada-Ben": 1.0, "Ada-Cy": 0.5}
    assert weights(weight="count") == {"Ada-Ben": 2, "Ada-Cy": 1}
    assert weights(weight="strength") == {"Ada-Ben": 8, "Ada-Cy": 2}
    directed = {"Ada-Ben": 3, "Ben-Ada": 5, "Ada-Cy": 2}
    assert weights(weight="strength", pairs="directed") == directed
    assert weights(weight="strength", pairs="last") == {"Ben-Ada": 5, "Ada-Cy": 2}


def test_paper_and_code_on_all_passages(corpus):
    found = {}
    for follow in ("paper", "code"):
        reader = minirag.load_llm("offline")
        read = graphs.extract_elements(corpus, reader, follow=follow)
        graph = graphs.textual_knowledge_graph(corpus.chunks, read, reader, follow=follow)
        names = [node.name.upper() for node in graph.nodes]
        weights = {(names[e.source], names[e.target]): e.weight for e in graph.edges}
        found[follow] = reader.ledger.total.calls, len(graph.nodes), len(graph.edges), weights
    paper, code = found["paper"], found["code"]
    assert paper[:3] == (106, 116, 112) and code[:3] == (105, 116, 113)
    pair, both = ("QUILLON INSTRUMENTS", "QUILLON"), ("KITTERING EXPEDITION", "CAMP TEN")
    assert (paper[3][pair], code[3][pair]) == (1, 2)
    assert both[::-1] not in paper[3] and code[3][both] == code[3][both[::-1]] == 1


def test_keywords_are_what_the_rich_graph_adds(chunks, llm):
    rich = graphs.rich_knowledge_graph(chunks, graphs.extract_elements(chunks, llm, rich=True), llm)
    textual = graphs.textual_knowledge_graph(chunks, graphs.extract_elements(chunks, llm), llm)
    assert rich.edges[0].keywords == "doctors, progressive, temporal, dysmetria"
    for one, other in zip(rich.edges, textual.edges, strict=True):
        ends = [textual.nodes[i].name.upper() for i in (other.source, other.target)]
        assert [rich.nodes[i].name for i in (one.source, one.target)] == ends


def test_passages_share_few_names_that_tell(corpus, notes, llm):
    shared = graphs.shared_entities(corpus.chunks, notes)
    at = {n: len(graphs.passage_graph(corpus.chunks, notes, n).edges) for n in (0, 1)}
    assert at == {0: 137, 1: 12} == {n: sum(len(s) > n for s in shared.values()) for n in at}
    graph = graphs.passage_graph(corpus.chunks, notes, 1).to_networkx()
    assert sum(graph.degree(name) == 0 for name in graph) == 23, "most stand alone"
    assert nx.is_connected(nx.Graph(graphs.passage_graph(corpus.chunks, notes, 0).to_networkx()))
    by_rule = graphs.shared_entities(corpus.chunks, graphs.extract_elements(corpus, llm))
    common = Counter(name for names in by_rule.values() for name in names).most_common(4)
    assert {count for _, count in common} == {15} and len(by_rule) == 136
    by_notes = Counter(name for names in shared.values() for name in names).most_common(6)
    assert [count for _, count in by_notes] == [15] * 5 + [10], "six passages: 15 pairs of two"
    assert {"university of veldmark", "veldmark university"} < dict(by_notes).keys()


def test_weights_of_knowledge_graphs(corpus, notes, llm):
    by_rule = graphs.knowledge_graph(corpus.chunks, graphs.extract(corpus, llm))
    assert {edge.weight for edge in by_rule.edges} == {1.0}
    assert sum(e.weight > 1 for e in graphs.knowledge_graph(corpus.chunks, notes).edges) == 2


def test_the_tree_of_five_passages(chunks, llm):
    encoder = minirag.load_encoder("minilm")
    tree = graphs.tree(chunks, encoder, llm, layers=2, branching=3)
    below = {node.name: node.chunks for node in tree.nodes if node.type == "summary"}
    assert below == {"summary 1.1": (0, 1, 4), "summary 2.1": (0, 1, 2, 3, 4)}


def test_chunk_sizes(corpus, llm):
    text = [one_document(corpus)]
    rows = {size: entity_references(text, llm, size) for size in (600, 1200, 2400)}
    assert [row["references"] for row in rows.values()] == [185, 169, 139]
    assert [row["distinct"] for row in rows.values()] == [119, 120, 120]
    apart = {size: entity_references(text, llm, size, overlap=0) for size in (600, 900, 2400)}
    assert [row["references"] for row in apart.values()] == [163, 160, 137]
    assert [row["distinct"] for row in apart.values()] == [118, 122, 120]
    tired = TiringReader(llm, limit=30)
    found = [entity_references(text, tired, size, overlap=0)["distinct"] for size in apart]
    assert found == [118, 116, 54]
    tired = TiringReader(llm, limit=12)

    def names(size, rounds):
        return entity_references(text, tired, size, 0, rounds)["distinct"]

    assert [names(600, n) for n in (0, 1, 2)] == [76, 117, 118]
    assert [names(2400, n) for n in range(4)] == [22, 43, 64, 85], "the answer to the last task"
    stored = load_expected("chunk_size")
    assert stored["rule"]["dulce"][600]["distinct"] - stored["rule"]["dulce"][2400]["distinct"] == 1


def test_what_each_type_of_graph_costs_by_the_rule(corpus):
    encoder = minirag.load_encoder("minilm")
    fields = [{"title": chunk.title, "text": chunk.text} for chunk in corpus.chunks]

    def textual(llm, rich=False):
        read = graphs.extract_elements(corpus, llm, gleanings=0, rich=rich)
        if rich:
            return graphs.rich_knowledge_graph(corpus.chunks, read, llm, call_from=0)
        return graphs.textual_knowledge_graph(corpus.chunks, read, llm)

    makers = {
        "tree": lambda llm: graphs.tree(corpus.chunks, encoder, llm),
        "pg": lambda llm: llm.map("passage_entities", fields),
        "kg": lambda llm: graphs.extract(corpus, llm),
        "tkg": textual,
        "rkg": lambda llm: textual(llm, rich=True),
    }
    tokens = {}
    for name, make in makers.items():
        reader = minirag.load_llm("offline")
        make(reader)
        total = reader.ledger.total
        tokens[name] = total.prompt_tokens + total.completion_tokens
    assert tokens == {"tree": 5929, "pg": 13587, "kg": 40396, "tkg": 44768, "rkg": 46891}
    reader = minirag.load_llm("recorded")
    graphs.extract(corpus, reader)
    assert reader.ledger.total.completion_tokens == 14099, "the rule writes 7500"


def test_how_far_readers_agree_hangs_on_articles(corpus, model, notes, llm):
    """Pairs of names in a passage against the annotations: the rule's F1 is level with the model's
    as written, and lower once leading articles are dropped.
    """

    def pairs(extraction, write):
        ends = [(id, (t.subject, t.object)) for id, ts in extraction.triples.items() for t in ts]
        return {(id, frozenset(map(write, pair))) for id, pair in ends}

    def bare(name):
        return re.sub("^(a|an|the) ", "", plain(name))

    found = {}
    for name, extraction in {"rule": graphs.extract(corpus, llm), "model": model}.items():
        for write in (plain, bare):
            theirs, wanted = pairs(extraction, write), pairs(notes, write)
            hits, sizes = len(theirs & wanted), (len(theirs), len(wanted))
            found[name, write] = hits, *sizes, round(200 * hits / sum(sizes), 1)
    assert found["rule", plain] == (92, 305, 269, 32.1)
    assert found["model", plain] == (132, 563, 269, 31.7)
    assert found["rule", bare] == (94, 303, 269, 32.9)
    assert found["model", bare] == (148, 563, 269, 35.6)
    pair = ("p17", frozenset(("katarzyna wasik", "an organist turned neuroscientist")))
    assert pair in pairs(model, plain) - pairs(notes, plain)
    bared = ("p17", frozenset(map(bare, pair[1])))
    assert bared in pairs(model, bare) & pairs(notes, bare)


def test_an_entity_without_a_triple_has_no_node(corpus, notes):
    graph = graphs.knowledge_graph(corpus.chunks, notes)
    listed = {plain(name) for names in notes.entities.values() for name in names}
    assert "1907" in listed - {node.name for node in graph.nodes}


def links_of(graph):
    return nx.Graph(graph.to_networkx())


def synonyms(graph):
    ends = [(e.source, e.target) for e in graph.edges if e.kind == "synonymy"]
    return {frozenset((graph.nodes[i].name, graph.nodes[j].name)) for i, j in ends}


def test_the_pairs_of_digits_are_years(mended):
    for name, number in (("rule", 34), ("model", 31), ("notes", 5)):
        digits = [pair for pair in synonyms(mended[name]) if "".join(pair).isdigit()]
        assert len(digits) == number
        assert all(re.fullmatch("[12][0-9]{3}", year) for pair in digits for year in pair)


def test_where_her_names_stand_in_the_rules_two_graphs(chunks, llm):
    encoder = minirag.load_encoder("minilm")
    _, _, kg, tkg, _ = graphs.five_graphs(llm, encoder, chunks, branching=3)
    assert MEDAL not in kg.to_networkx()["katarzyna wasik"]
    assert "Candlemas Medal" in tkg.to_networkx()["Katarzyna Wasik"]


def test_the_edges_that_let_passages_meet_are_names_of_one_person(corpus, model):
    encoder = minirag.load_encoder("minilm")
    graph = graphs.knowledge_graph(corpus.chunks, model)
    vectors = encoder.encode([node.name for node in graph.nodes])
    edges = [e for e in graphs.with_synonymy(graph, vectors).edges if e.kind == "synonymy"]
    pairs = {(graph.nodes[e.source].name, graph.nodes[e.target].name) for e in edges}
    assert len({frozenset(pair) for pair in pairs}) == 58
    for pair in (
        ("dr ilse marrow", "ilse marrow"),
        ("dr jonah birtwhistle", "jonah birtwhistle"),
        ("lin yuzhen", "yuzhen lin"),
        ("bishop anselm thorley", "bishop thorley"),
        ("lanthorn disease", "lanthorn s disease"),
    ):
        assert pair in pairs
    assert ("wąsik", "katarzyna wąsik") not in pairs


def test_one_edge_mends_the_question_that_starts_at_a_variant(corpus, model):
    graph = graphs.knowledge_graph(corpus.chunks, model)
    links = graph.to_networkx()

    def reached(*names):
        near = {name for start in names for name in (start, *links[start])}
        return {corpus.chunks[i].id for n in near for i in graph.nodes[graph.position[n]].chunks}

    gold = set(next(q.gold for q in corpus.questions if q.id == "q02"))
    assert not gold & reached("lanthorn disease")
    hop = set(graph.nodes[graph.position[DISEASE]].chunks)
    assert gold <= {corpus.chunks[i].id for i in hop}, "the edge to the other spelling suffices"


def test_no_shortest_path_of_any_reader_leads_through_her(corpus, model, notes, llm):
    for extraction in (model, notes, graphs.extract(corpus, llm)):
        graph = nx.Graph(graphs.knowledge_graph(corpus.chunks, extraction).to_networkx())
        paths = list(nx.all_shortest_paths(graph, MEDAL, DISEASE))
        assert paths and not any("sik" in name for path in paths for name in path)


def test_the_synonymy_pairs_of_the_notes(corpus, notes):
    encoder = minirag.load_encoder("minilm")
    graph = graphs.knowledge_graph(corpus.chunks, notes)
    vectors = encoder.encode([node.name for node in graph.nodes])
    edges = [e for e in graphs.with_synonymy(graph, vectors, 0.8).edges if e.kind == "synonymy"]
    pairs = {frozenset((graph.nodes[e.source].name, graph.nodes[e.target].name)) for e in edges}
    assert len(pairs) == 16
    assert frozenset(("university of veldmark", "veldmark university")) in pairs
    assert frozenset(("a herring ship", "herring fleet")) in pairs


def test_a_cap_of_twelve_names_decides_what_the_tiring_reader_finds(corpus, llm):
    tired = TiringReader(llm, limit=12)
    row = entity_references([one_document(corpus)], tired, 2400, overlap=0, gleanings=3)
    assert row["distinct"] == 85 <= row["references"] <= 2 * 4 * 12


@pytest.fixture(scope="module")
def as_written(corpus, model, notes, llm):
    """{reader: its knowledge graph of the forty passages}."""
    readers = {"rule": graphs.extract(corpus, llm), "model": model, "notes": notes}
    return {name: graphs.knowledge_graph(corpus.chunks, read) for name, read in readers.items()}


def with_synonyms(graph, threshold=0.8):
    vectors = minirag.load_encoder("minilm").encode([node.name for node in graph.nodes])
    return graphs.with_synonymy(graph, vectors, threshold=threshold)


def test_the_mend_is_right_for_the_notes_and_leads_the_rule_over_two_years(as_written):
    """All shortest paths from the medal to the disease, with synonymy edges."""
    found = {}
    for name, graph in as_written.items():
        links = nx.Graph(with_synonyms(graph).to_networkx())
        assert not set(links[MEDAL]) & set(links[DISEASE])
        found[name] = [path[1:-1] for path in nx.all_shortest_paths(links, MEDAL, DISEASE)]
    assert found == {
        "rule": [["2011", "2012"]],
        "model": [["rosalind achterberg", "port sable", "skerrow islands"]],
        "notes": [["katarzyna wasik", "katarzyna wąsik"]],
    }


def test_without_the_word_between_the_rule_joins_her_to_the_medal(corpus, llm):
    text = next(chunk for chunk in corpus.chunks if chunk.id == "p17").text
    for one, joined in ((text, False), (text.replace(" on Saturdays", ""), True)):
        triples = llm("triples", title="", text=one, entities=[])
        ends = {(triple.subject, triple.object) for triple in triples}
        assert (("Katarzyna Wasik", "Candlemas Medal") in ends) is joined


def test_the_rules_graph_needs_the_word_and_the_spelling_mended(corpus, llm):
    def beside_both(text, bare):
        chunks = [replace(c, text=text(c.text)) if c.id == "p17" else c for c in corpus.chunks]
        read = graphs.extract(replace(corpus, chunks=tuple(chunks)), llm)
        links = nx.Graph(graphs.knowledge_graph(chunks, read).to_networkx())
        if bare:
            links = nx.relabel_nodes(links, {"katarzyna wąsik": "katarzyna wasik"})
        return set(links[MEDAL]) & set(links[DISEASE])

    def shorter(text):
        return text.replace(" on Saturdays", "")

    assert not beside_both(shorter, False) and not beside_both(str, True)
    assert beside_both(shorter, True) == {"katarzyna wasik"}


def test_the_rule_joins_her_to_the_medal_in_the_textual_graph_for_it_keeps_no_dates(chunks, llm):
    types = ("organization", "person", "geo", "event", "date", "other")
    for kept, beside in (({}, "Candlemas Medal"), ({"entity_types": types}, "Saturdays")):
        elements = graphs.extract_elements(chunks, llm, **kept)
        textual = graphs.textual_knowledge_graph(chunks, elements, llm).to_networkx()
        assert beside in textual["Katarzyna Wasik"]
        assert ("Candlemas Medal" in textual["Katarzyna Wasik"]) is (not kept)


@pytest.mark.parametrize("q15_too", [False, True])
def test_with_the_bad_starts_moved_synonymy_adds_little_or_nothing(corpus, as_written, q15_too):
    encoder = minirag.load_encoder("minilm")
    queries = encoder.encode([q.text for q in corpus.questions], kind="query")
    usual = {"lanthorn disease": DISEASE}
    if q15_too:
        usual["veldmark university"] = "university of veldmark"
    added, without = {}, {}
    for name, graph in as_written.items():
        vectors = encoder.encode([f"{node.name} " for node in graph.nodes])
        best = [graph.nodes[i].name for i in (queries @ vectors.T).round(6).argmax(axis=1)]
        recall = []
        for one in (graph, with_synonyms(graph)):
            links, shares = one.to_networkx(), []
            for q, start in zip(corpus.questions, [usual.get(n, n) for n in best]):
                near = [one.nodes[one.position[n]] for n in (start, *links[start])]
                ids = {corpus.chunks[i].id for node in near for i in node.chunks}
                shares.append(100 * len(ids & set(q.gold)) / len(q.gold))
            recall.append(float(np.mean(shares)))
        without[name], added[name] = round(recall[0], 1), round(recall[1] - recall[0], 1)
    assert set(added.values()) == {0.0 if q15_too else 2.1}
    if not q15_too:
        assert without == {"rule": 81.9, "model": 86.1, "notes": 81.9}


def test_two_right_pairs_are_the_gain_of_one_hop_for_every_reader(corpus, as_written):
    encoder = minirag.load_encoder("minilm")
    queries = encoder.encode([q.text for q in corpus.questions], kind="query")
    right = [
        {"lanthorn disease", "lanthorn s disease"},
        {"university of veldmark", "veldmark university"},
    ]

    def recall(graph, keeps):
        edges = tuple(
            edge
            for edge in graph.edges
            if edge.kind != "synonymy"
            or keeps({graph.nodes[edge.source].name, graph.nodes[edge.target].name})
        )
        links = replace(graph, edges=edges).to_networkx()
        vectors = encoder.encode([f"{node.name} " for node in graph.nodes])
        shares = []
        for q, best in zip(corpus.questions, (queries @ vectors.T).round(6).argmax(axis=1)):
            start = graph.nodes[best].name
            near = [graph.nodes[graph.position[name]] for name in (start, *links[start])]
            ids = {corpus.chunks[i].id for node in near for i in node.chunks}
            shares.append(100 * len(ids & set(q.gold)) / len(q.gold))
        return round(float(np.mean(shares)), 1)

    found = {}
    for name, graph in as_written.items():
        every = with_synonyms(graph)
        found[name] = [
            recall(every, keeps)
            for keeps in (
                lambda pair: False,
                lambda pair: pair in right,
                lambda pair: pair not in right,
                lambda pair: pair == right[0],
                lambda pair: True,
            )
        ]
    assert found == {
        "rule": [68.8, 80.6, 68.8, 78.5, 80.6],
        "model": [72.9, 84.7, 79.2, 82.6, 84.7],
        "notes": [68.8, 80.6, 68.8, 78.5, 80.6],
    }


def test_what_the_rules_textual_graph_loses_and_what_would_join_it(corpus, chunks, llm):
    _, _, kg, tkg, _ = graphs.five_graphs(llm, minirag.load_encoder("minilm"), chunks, branching=3)
    links, names = nx.Graph(kg.to_networkx()), [node.name for node in kg.nodes]
    way = ["the organ at lissen cross", "may", "skerrow cohort"]
    assert list(nx.all_shortest_paths(links, MEDAL, DISEASE)) == [[MEDAL, *way, DISEASE]]
    dates = ("may", "september", "saturdays", "2011", "1734", "1907", "1961", "1995", "2004")
    dateless = links.subgraph(set(links) - set(dates))
    assert not nx.has_path(dateless, MEDAL, DISEASE)
    told = nx.Graph((names[e.source], names[e.target]) for e in kg.edges if e.name != "mentions")
    assert not nx.has_path(told, MEDAL, DISEASE), "the titles' mentions carry the path, too"
    hers = {"Katarzyna Wasik", "Katarzyna Wąsik", "Wąsik"}
    one = nx.relabel_nodes(nx.Graph(tkg.to_networkx()), dict.fromkeys(hers, "Wasik"))
    assert nx.has_path(one, "Candlemas Medal", "Lanthorn's Disease")


def test_the_passage_graph_of_the_rule_ties_and_loses_with_dates(corpus, llm):
    encoder = minirag.load_encoder("minilm")
    dense = minirag.DenseRetriever.build(corpus)
    queries = encoder.encode([q.text for q in corpus.questions], kind="query")
    types = ("organization", "person", "geo", "event", "date", "other")
    found = {}
    for name, kept in (("no dates", {}), ("dates", {"entity_types": types})):
        read = graphs.extract_elements(corpus.chunks, llm, **kept)
        graph = graphs.passage_graph(corpus.chunks, read)
        links, gains = graph.to_networkx(), []
        texts = [graphs.node_text(node, corpus.chunks) for node in graph.nodes]
        vectors = encoder.encode(texts)
        for q, best in zip(corpus.questions, (queries @ vectors.T).round(6).argmax(axis=1)):
            start = graph.nodes[best].name
            hop = {start, *links[start]}
            near = dense.retrieve(q.text, k=len(hop)).ids
            gains.append(
                100 * (len(hop & set(q.gold)) - len(set(near) & set(q.gold))) / len(q.gold)
            )
        found[name] = len(graph.edges), round(float(np.mean(gains)), 1)
    assert found == {"no dates": (136, 0.0), "dates": (141, -1.4)}


def test_the_pairs_that_we_judge_two_names_for_one_thing_are_synonyms(as_written):
    right = {
        "rule": ["bishop anselm thorley ~ bishop thorley", "brisling ~ m  brisling",
                 "composer rosalind achterberg ~ rosalind achterberg",
                 "dr ilse marrow ~ ilse marrow", "dr jonah birtwhistle ~ jonah birtwhistle",
                 "fanshawe ~ odile fanshawe", "katarzyna wasik ~ katarzyna wąsik",
                 "lanthorn disease ~ lanthorn s disease", "lin yuzhen ~ yuzhen lin",
                 "lost hour ~ the lost hour", "the thursday lectures ~ thursday lectures",
                 "university of veldmark ~ veldmark university"],
        "model": ["a chain of lakes ~ a chain of lakes under the ice",
                  "bishop anselm thorley ~ bishop thorley", "dr ilse marrow ~ ilse marrow",
                  "dr jonah birtwhistle ~ jonah birtwhistle", "katarzyna wasik ~ katarzyna wąsik",
                  "lanthorn disease ~ lanthorn s disease", "lin yuzhen ~ yuzhen lin",
                  "university of veldmark ~ veldmark university"],
        "notes": ["bishop anselm thorley ~ bishop thorley", "brisling ~ m  brisling",
                  "dr ilse marrow ~ ilse marrow", "dr jonah birtwhistle ~ jonah birtwhistle",
                  "katarzyna wasik ~ katarzyna wąsik", "lanthorn disease ~ lanthorn s disease",
                  "lin yuzhen ~ yuzhen lin", "university of veldmark ~ veldmark university"],
    }  # fmt: skip
    assert {name: len(pairs) for name, pairs in right.items()} == {
        "rule": 12, "model": 8, "notes": 8,
    }  # fmt: skip
    for name, pairs in right.items():
        graph = with_synonyms(as_written[name])
        ends = [(e.source, e.target) for e in graph.edges if e.kind == "synonymy"]
        alike = {" ~ ".join(sorted((graph.nodes[i].name, graph.nodes[j].name))) for i, j in ends}
        assert set(pairs) <= alike
        assert len(alike) == {"rule": 51, "model": 58, "notes": 16}[name]


@pytest.fixture(scope="module")
def mended(as_written):
    return {reader: with_synonyms(graph) for reader, graph in as_written.items()}


def test_the_toys_normalisation_does_for_every_name_of_the_corpus(corpus, model, notes, llm):
    def by_hand(phrase):
        return "".join(c if c.isalnum() else " " for c in phrase.lower()).strip()

    for found in (model, notes, graphs.extract(corpus, llm)):
        triples = [triple for some in found.triples.values() for triple in some]
        names = [part for triple in triples for part in triple]
        assert [by_hand(name) for name in names] == [plain(name) for name in names]


FIRM, EXPEDITION = "quillon instruments", "kittering expedition"
ENDS = {
    "q13": ("university of veldmark", DISEASE), "q14": (MEDAL, DISEASE),
    "q16": (EXPEDITION, DISEASE), "q19": (FIRM, EXPEDITION), "q20": (FIRM, DISEASE),
}  # fmt: skip


def across(corpus, written, joined, q):
    """The synonymy edges that join a cut question's passages."""
    place = {chunk.id: number for number, chunk in enumerate(corpus.chunks)}
    nodes = [{n.name for n in written.nodes if place[id] in n.chunks} for id in q.gold]
    [(left, right)] = [(a, b) for a, b in pairwise(nodes) if not a & b]
    return [pair for pair in synonyms(joined) if pair & left and pair & right]


def test_no_cosine_lies_so_near_a_threshold_of_the_figure_that_rounding_decides(as_written):
    encoder = minirag.load_encoder("minilm")
    for graph in as_written.values():
        vectors = encoder.encode([node.name for node in graph.nodes]).astype(float)
        cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
        for threshold in np.arange(60, 96, 5) / 100:
            assert np.abs(cosines - threshold).min() > 2e-5


def test_the_model_writes_his_full_name_only(model, notes):
    assert {name for name in nodes_by_passage(model)["p30"] if "brisling" in name} == {
        "matteo brisling"
    }
    one, other, short = minirag.load_encoder("minilm").encode(
        ["matteo brisling", "m  brisling", "brisling"]
    )
    assert one @ other < 0.6 < 0.8 < short @ other
    assert {"matteo brisling", "brisling"} <= nodes_by_passage(notes)["p30"]


def test_synonymy_edges_join_the_cut_passages_by_two_names_of_the_answer(
    corpus, as_written, mended
):
    joined = {}
    for name, graph in as_written.items():
        for q in map(corpus.question, ENDS):
            both = across(corpus, graph, mended[name], q)
            assert all(pair <= set(map(plain, q.answers)) for pair in both), "one person"
            joined[name, q.id] = len(both)
    assert joined.pop(("model", "q19")) == 0 and set(joined.values()) == {1} and len(joined) == 14


def test_normalisation_can_drop_the_accent_that_the_encoder_drops(as_written):
    def bare(name):
        parts = unicodedata.normalize("NFKD", name)
        return "".join(part for part in parts if not unicodedata.combining(part))

    links = nx.relabel_nodes(nx.Graph(as_written["notes"].to_networkx()), bare)
    paths = list(nx.all_shortest_paths(links, MEDAL, DISEASE))
    assert paths == [[MEDAL, "katarzyna wasik", DISEASE]]


def test_accents_that_unicode_splits_off_are_dropped():
    encoder = minirag.load_encoder("minilm")
    for one, other in ("ąa", "ée", "üu", "åa", "źz", "çc"):
        assert np.allclose(*encoder.encode([f"w{one}sik", f"w{other}sik"]), atol=1e-5)


def test_what_the_paths_of_model_and_rule_hang_on(mended):
    links = nx.Graph(mended["model"].to_networkx())
    assert not any(
        "wąsik" in (mended["model"].nodes[e.source].name, mended["model"].nodes[e.target].name)
        for e in mended["model"].edges
        if e.kind == "synonymy"
    )
    links.add_edge("wąsik", "katarzyna wąsik")
    paths = list(nx.all_shortest_paths(links, MEDAL, DISEASE))
    assert sorted("wąsik" in path for path in paths) == [False, True], "a tie"
    links = nx.Graph(mended["rule"].to_networkx())
    years = [name for name in links if re.fullmatch(r"\d{4}", name)]
    links.remove_edges_from(list(links.subgraph(years).edges))
    paths = list(nx.all_shortest_paths(links, MEDAL, DISEASE))
    assert sum("katarzyna wąsik" in path for path in paths) == 2 and len(paths) == 7


def test_eight_questions_are_path_finding_and_six_bridge(corpus):
    kinds = Counter(q.kind for q in corpus.questions)
    assert (len(corpus.questions), kinds["path-finding"], kinds["bridge"]) == (24, 8, 6)
    asked = [q for q in corpus.questions if q.kind in ("path-finding", "bridge")]
    assert {q.id: len(q.gold) for q in asked if len(q.gold) != 2} == {"q16": 3}


def test_an_edge_between_her_two_names_joins_the_medal_to_the_disease(corpus, notes):
    gold = [chunk for chunk in corpus.chunks if chunk.id in corpus.question("q14").gold]
    links = nx.Graph(graphs.knowledge_graph(gold, notes).to_networkx())
    assert not nx.has_path(links, MEDAL, DISEASE)
    links.add_edge("katarzyna wasik", "katarzyna wąsik")
    path = [MEDAL, "katarzyna wasik", "katarzyna wąsik", DISEASE]
    assert list(nx.all_shortest_paths(links, MEDAL, DISEASE)) == [path]


def test_of_the_figures_thresholds_only_the_lowest_joins_the_surname(as_written):
    her = {"wąsik", "katarzyna wąsik"}
    alike = {t: synonyms(with_synonyms(as_written["model"], t)) for t in (0.6, 0.65, 0.8)}
    assert [her in some for some in alike.values()] == [True, False, False]
    assert [len(some) for some in alike.values()] == [460, 295, 58]


def walks(corpus, as_written, joined, keeps=lambda linking: True):
    """Thirty walks over the written edges and those synonymy edges that `keeps` lets through, by
    whether they join the question's passages; computed by the package's PageRank. Returns the rank
    of each far passage, (readers, walks).
    """
    place = {chunk.id: number for number, chunk in enumerate(corpus.chunks)}
    ranks = []
    for reader, graph in as_written.items():
        names = [node.name for node in graph.nodes]
        for id, pair in ENDS.items():
            own = across(corpus, graph, joined[reader], corpus.question(id))
            links = links_of(graph)
            links.add_edges_from(p for p in synonyms(joined[reader]) if keeps(p in own))
            adjacency = nx.to_scipy_sparse_array(links, nodelist=names, weight=None, format="csr")
            gold = corpus.question(id).gold
            held = [{n.name for n in graph.nodes if place[p] in n.chunks} for p in gold]
            for start in pair:
                [far] = [n for n, some in enumerate(held) if {*pair} & some == {*pair} - {start}]
                reset = np.array([float(name == start) for name in names])
                score = dict(zip(names, personalized_pagerank(adjacency, reset, damping=0.5)))
                near = [
                    sum(score[n.name] for n in graph.nodes if i in n.chunks) for i in place.values()
                ]
                assert round(near[place[gold[far]]], 9) > 0, "other passages always join the two"
                ranks.append(int(np.sum(np.round(near, 9) >= round(near[place[gold[far]]], 9))))
    return np.array(ranks).reshape(len(as_written), -1)


def test_told_before_the_linking_edge_brings_the_far_passage_nearer_and_the_others_do_not(
    corpus, as_written, mended
):
    none = walks(corpus, as_written, mended, lambda linking: False)
    found = {
        "all": walks(corpus, as_written, mended),
        "linking": walks(corpus, as_written, mended, lambda linking: linking),
        "others": walks(corpus, as_written, mended, lambda linking: not linking),
    }
    moved = {name: ((some < none).sum(), (some > none).sum()) for name, some in found.items()}
    assert moved == {"all": (21, 4), "linking": (25, 0), "others": (11, 12)}
    medians = [float(np.median(some)) for some in (none, *found.values())]
    assert medians == [29, 17.5, 16.5, 29.5]
    assert min(map(np.min, (none, *found.values()))) == 6, "none is among the first five"
    gains = none - found["all"]
    assert gains[1, 2] >= np.sort(gains.ravel())[-5] <= gains[2, 2], "q14 from the medal"


def test_at_six_tenths_a_wrong_edge_links_the_models_q19(corpus, as_written):
    low, q = with_synonyms(as_written["model"], 0.6), corpus.question("q19")
    [pair] = across(corpus, as_written["model"], low, q)
    assert pair == {"fridays", "twenty six sundays"}


def test_hipporag_finds_no_more_gold_passages_with_synonymy_edges(corpus, as_written, mended):
    rules, model = minirag.load_llm("offline"), minirag.load_llm("recorded")
    asked = [q for q in corpus.questions if q.kind in ("bridge", "path-finding")]
    assert (len(asked), sum(len(q.gold) for q in asked)) == (14, 29)
    counts, sets = [], {}
    for reader, graph in as_written.items():
        extraction = corpus.extractions["annotations"]
        if reader != "notes":
            extraction = graphs.extract(corpus, rules if reader == "rule" else model)
        walk = minirag.METHODS["hipporag"].build(
            corpus, extraction=extraction, encoder=minirag.load_encoder("minilm"),
            llm=rules if reader == "rule" else model,
        )  # fmt: skip
        whole, right = walk.hippocampal_index, []
        for id in ENDS:
            right += across(corpus, graph, mended[reader], corpus.question(id))
        for keeps in (lambda pair: False, lambda pair: True, right.__contains__):
            edges = tuple(
                e for e in whole.edges if e.kind != "synonymy"
                or keeps({whole.nodes[e.source].name, whole.nodes[e.target].name})
            )  # fmt: skip
            for kept in ("adjacency", "transition"):
                walk.__dict__.pop(kept, None)
            walk.hippocampal_index = replace(whole, edges=edges)
            found = {(q.id, p) for q in asked
                     for p in {*walk.retrieve(q.text, k=5).ids} & {*q.gold}}  # fmt: skip
            counts.append(len(found))
            sets[reader, len(counts) % 3] = found
    # without, with, linking edges alone: 62, 60 and 63 of three times 29
    assert counts == [21, 21, 21, 19, 18, 19, 22, 21, 23]
    won = sum(len(sets[reader, 2] - sets[reader, 1]) for reader in as_written)
    lost = sum(len(sets[reader, 1] - sets[reader, 2]) for reader in as_written)
    assert (won, lost) == (2, 4)


def test_told_before_a_random_bridge_is_never_as_good_as_the_linking_edge_in_one_graph(
    corpus, as_written, mended
):
    """Bridges are drawn as the notebook draws them: by reader, then by question."""
    linking = walks(corpus, as_written, mended, lambda linking: linking)
    place = {chunk.id: number for number, chunk in enumerate(corpus.chunks)}
    rng, medians = np.random.default_rng(0), []
    for _ in range(20):
        joined = {}
        for reader, graph in as_written.items():
            written, edges = graph.edges[0], list(graph.edges)
            for id in ENDS:
                q = corpus.question(id)
                if across(corpus, graph, mended[reader], q):
                    nodes = [{n.name for n in graph.nodes if place[p] in n.chunks} for p in q.gold]
                    [gap] = [(a, b) for a, b in pairwise(nodes) if not a & b]
                    ends = [graph.position[str(rng.choice(sorted(side)))] for side in gap]
                    edges.append(replace(written, source=ends[0], target=ends[1], kind="synonymy"))
            joined[reader] = replace(graph, edges=tuple(edges))
        ranks = walks(corpus, as_written, joined, lambda linking: linking)
        medians.append(np.median(ranks, axis=1))
    rule, model, notes = np.array(medians).T
    assert (notes > np.median(linking[2])).all()
    assert (rule <= np.median(linking[0])).all() and rule.mean() < np.median(linking[0])
    assert (model < np.median(linking[1])).sum() == 4 and model.mean() > np.median(linking[1])


def test_told_before_without_pairs_of_years_a_walk_is_farther_less_often_and_no_nearer(
    corpus, as_written, mended
):
    kept = {}
    for reader, graph in mended.items():
        names = [node.name for node in graph.nodes]
        edges = tuple(
            e for e in graph.edges
            if e.kind != "synonymy" or not (names[e.source] + names[e.target]).isdigit()
        )  # fmt: skip
        kept[reader] = replace(graph, edges=edges)
    none = walks(corpus, as_written, mended, lambda linking: False)
    found = walks(corpus, as_written, kept)
    assert ((found < none).sum(), (found > none).sum(), np.median(found)) == (23, 3, 20)


def test_spelling_alone_would_join_four_of_the_five_linking_pairs():
    def folded(name):
        parts = unicodedata.normalize("NFKD", name)
        bare = "".join(part for part in parts if not unicodedata.combining(part))
        return sorted(word for word in bare.split() if word != "dr")

    joined = {
        "q13": ("dr ilse marrow", "ilse marrow"), "q14": ("katarzyna wasik", "katarzyna wąsik"),
        "q16": ("lin yuzhen", "yuzhen lin"), "q19": ("brisling", "m  brisling"),
        "q20": ("dr jonah birtwhistle", "jonah birtwhistle"),
    }  # fmt: skip
    equal = [id for id, (one, other) in joined.items() if folded(one) == folded(other)]
    assert equal == ["q13", "q14", "q16", "q20"]


def test_twelve_of_the_fifteen_cases_are_connected(corpus, model, notes, llm):
    read = {"rule": graphs.extract(corpus, llm), "model": model, "notes": notes}
    apart = set()
    for reader, extraction in read.items():
        for id, (one, other) in ENDS.items():
            gold = [chunk for chunk in corpus.chunks if chunk.id in corpus.question(id).gold]
            written = graphs.knowledge_graph(gold, extraction)
            assert not nx.has_path(links_of(written), one, other)
            if not nx.has_path(links_of(with_synonyms(written)), one, other):
                apart.add((reader, id))
    assert apart == {("model", "q14"), ("model", "q19"), ("notes", "q19")}


def test_without_the_triples_of_the_title_none_of_the_rules_cases_is_connected(corpus, llm):
    read = graphs.extract(corpus, llm)
    few = {id: [triple for triple in triples if triple.relation != "mentions"]
           for id, triples in read.triples.items()}  # fmt: skip
    assert sum(map(len, few.values())) < sum(map(len, read.triples.values()))
    for id, ends in ENDS.items():
        gold = [chunk for chunk in corpus.chunks if chunk.id in corpus.question(id).gold]
        links = links_of(with_synonyms(graphs.knowledge_graph(gold, replace(read, triples=few))))
        assert not ({*ends} <= {*links} and nx.has_path(links, *ends))


def test_a_shortest_path_goes_through_the_answer_in_one_case_and_with_synonymy_edges_in_five(
    corpus, as_written, mended
):
    through = {}
    for when, graphs_of in (("before", as_written), ("after", mended)):
        for reader, graph in graphs_of.items():
            for id, ends in ENDS.items():
                names = {normalise_phrase(answer) for answer in corpus.question(id).answers}
                paths = [*nx.all_shortest_paths(links_of(graph), *ends)]
                met = sum(bool(names & {*path}) for path in paths)
                through |= {(when, reader, id): (met, len(paths))} if met else {}
    assert through == {
        ("before", "notes", "q13"): (1, 3), ("after", "notes", "q13"): (1, 1),
        ("after", "notes", "q14"): (1, 1), ("after", "notes", "q16"): (2, 3),
        ("after", "notes", "q20"): (1, 2), ("after", "model", "q20"): (1, 3),
    }  # fmt: skip
