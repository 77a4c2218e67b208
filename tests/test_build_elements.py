"""Gleaning, merging and summarising element instances into textual and rich knowledge graphs."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from small import corpus_of

from minirag.core.errors import MiniragError
from minirag.core.graph import Graph
from minirag.graphs import (
    Elements,
    extract_elements,
    rich_knowledge_graph,
    summarise_elements,
    textual_knowledge_graph,
)
from minirag.llm.base import LLM, Completion
from minirag.prompts.records import END, ClaimRecord, EntityRecord, RelationshipRecord

FIRST = '("entity"<|>A<|>person<|>one)##("relationship"<|>A<|>B<|>they met<|>9)' + END
GLEANED = '("entity"<|>C<|>person<|>two)##("entity"<|>D<|>person<|>three)' + END


class Scripted(LLM):
    """Replies written down beforehand, by task and in order; keeps what it was asked."""

    name = "a script"

    def __init__(self, **replies):
        super().__init__()
        self.replies, self.asked = {task: list(texts) for task, texts in replies.items()}, []

    def complete(self, task, messages, fields):
        self.asked.append(task.name)
        return Completion(self.replies[task.name].pop(0))


def elements_of(entities=(), relationships=(), claims=()):
    """Elements of chunks c0, c1, ... from one list of records for each."""
    rows = [
        {f"c{i}": tuple(each) for i, each in enumerate(lists)}
        for lists in (entities, relationships, claims)
    ]
    return Elements("a test", *rows)


def chunks_of(count):
    return corpus_of(*((f"c{i}", f"text {i}") for i in range(count))).chunks


def edges_of(graph):
    return {(graph.nodes[e.source].name, graph.nodes[e.target].name): e for e in graph.edges}


CORPUS = corpus_of(("c0", "A and B."))


@pytest.mark.paper("GraphRAG", "sec-2.2")
def test_the_paper_assesses_first_and_stops_when_nothing_is_missed():
    llm = Scripted(elements=[FIRST], glean_check=["NO"])
    found = extract_elements(CORPUS, llm, gleanings=3)
    assert llm.asked == ["elements", "glean_check"] and found.gleanings == {"c0": 0}
    llm = Scripted(elements=[FIRST], glean_check=["YES", "NO"], gleaning=[GLEANED])
    found = extract_elements(CORPUS, llm, gleanings=3)
    assert llm.asked == ["elements", "glean_check", "gleaning", "glean_check"]
    assert [e.name for e in found.entities["c0"]] == ["A", "C", "D"] and found.relationships["c0"][
        0
    ].strength == 9


def test_the_code_gleans_first_and_does_not_check_after_the_last():
    llm = Scripted(elements=[FIRST], gleaning=[GLEANED])
    extract_elements(CORPUS, llm, gleanings=1, order="continue first")
    assert llm.asked == ["elements", "gleaning"]
    llm = Scripted(elements=[FIRST], gleaning=[GLEANED, END], glean_check=["YES"])
    extract_elements(CORPUS, llm, gleanings=2, order="continue first")
    assert llm.asked == ["elements", "gleaning", "glean_check", "gleaning"]
    llm = Scripted(elements=[FIRST], gleaning=[GLEANED], glean_check=["NO"])
    assert extract_elements(CORPUS, llm, gleanings=3, follow="code").gleanings == {"c0": 1}


def test_the_code_glues_the_replies_and_loses_a_record_and_a_strength():
    found = extract_elements(CORPUS, Scripted(elements=[FIRST], gleaning=[GLEANED]), follow="code")
    assert [e.name for e in found.entities["c0"]] == ["A", "D"] and found.relationships["c0"][
        0
    ].strength == 1
    kept = extract_elements(
        CORPUS, Scripted(elements=[FIRST], gleaning=[GLEANED]), follow="code", turns="separated"
    )
    assert [e.name for e in kept.entities["c0"]] == ["A", "C", "D"] and kept.relationships["c0"][
        0
    ].strength == 9


def test_chunks_are_gleaned_one_by_one_and_the_check_sees_what_was_found():
    seen = []

    class Watching(Scripted):
        def complete(self, task, messages, fields):
            seen.append(
                (
                    task.name,
                    fields["text"],
                    "<|>" in messages[-1]["content"].split("Records so far:")[-1],
                )
            )
            return super().complete(task, messages, fields)

    llm = Watching(elements=[FIRST, FIRST], glean_check=["NO", "YES", "NO"], gleaning=[GLEANED])
    found = extract_elements(corpus_of(("c0", "one"), ("c1", "two")), llm, gleanings=2)
    assert (
        found.gleanings == {"c0": 0, "c1": 1}
        and ("gleaning", "two", True) in seen
        and ("gleaning", "one", True) not in seen
    )


def test_broken_replies_leave_an_empty_chunk_and_are_counted():
    llm = Scripted(elements=["I would rather not.", FIRST], glean_check=["?", "NO"])
    found = extract_elements(corpus_of(("c0", "one"), ("c1", "two")), llm)
    assert (
        found.entities["c0"] == ()
        and len(found.entities["c1"]) == 1
        and llm.ledger["build"].dropped == 2
    )


@pytest.mark.paper("GraphRAG", "sec-2.2")
def test_claims_are_asked_with_the_names_of_the_chunk_and_linked_to_nodes():
    llm = Scripted(
        elements=[FIRST, END],
        claims=[f"(a<|>B<|>FRAUD<|>TRUE<|>1911<|>1911<|>A did it.<|>He did.)##(Z<|>A<|>LIE){END}"],
    )
    corpus = corpus_of(("c0", "one"), ("c1", "two"))
    found = extract_elements(corpus, llm, gleanings=0, claims=True)
    assert (
        len(found.claims["c0"]) == 2 and "c1" not in found.claims and llm.asked.count("claims") == 1
    )
    graph = textual_knowledge_graph(corpus.chunks, found, names="upper")
    (claim,) = graph.claims
    assert (
        graph.nodes[claim.subject].name,
        graph.nodes[claim.object].name,
        claim.start,
        claim.chunks,
    ) == ("A", "B", "1911", (0,))


def test_claims_that_match_are_summarised_into_one_unless_the_code_is_followed():
    """GraphRAG, Sec. 2.3: claims become one block of text as nodes and edges do."""

    def told(status, *said):
        return ClaimRecord("A", "B", "FRAUD", status, *said)

    claims = [
        [told("TRUE", "1911", "1912", "A did it.", "He did.")],
        [told("true", "1910", "", "A did it twice.", "Twice."), told("FALSE", "", "", "Not A.")],
    ]
    elements = elements_of([[E("A", "person", "a")], []], [[], []], claims)
    llm = Scripted(summarise=["A did it, more than once."] * 2)
    merged, other = textual_knowledge_graph(chunks_of(2), elements, llm).claims
    assert (merged.description, merged.start, merged.end, merged.chunks) == (
        "A did it, more than once.",
        "1910",
        "1912",
        (0, 1),
    )
    assert (
        merged.text == "He did. Twice."
        and other.description == "Not A."
        and other.status == "FALSE"
        and llm.asked == ["summarise"]
    )
    kept = textual_knowledge_graph(chunks_of(2), elements, llm, follow="code").claims
    assert [(claim.description, claim.chunks) for claim in kept] == [
        ("A did it.", (0,)),
        ("A did it twice.", (1,)),
        ("Not A.", (1,)),
    ]
    assert (
        len(
            textual_knowledge_graph(
                chunks_of(2), elements, llm, follow="code", claims="summarise"
            ).claims
        )
        == 2
    )
    with pytest.raises(MiniragError, match="claims='merged': expected one of"):
        textual_knowledge_graph(chunks_of(2), elements, claims="merged")


@pytest.mark.paper("GraphRAG", "sec-2.2")
def test_examples_of_the_domain_stand_in_the_extraction_prompt():
    """GraphRAG, Sec. 2.2: few-shot examples tailor the prompt, and so the key under which a
    recording finds it.
    """
    example = ("Aspirin inhibits COX-1.", '("entity"<|>ASPIRIN<|>drug<|>It inhibits COX-1.)' + END)
    sent = []
    llm = Scripted(elements=[FIRST, FIRST])
    llm.complete = lambda task, messages, fields: (
        sent.append(messages[-1]["content"]) or Completion(FIRST)
    )
    extract_elements(CORPUS, llm, gleanings=0, examples=[example])
    extract_elements(CORPUS, llm, gleanings=0)
    assert all(part in sent[0] for part in example) and "Harrowgate" not in sent[0]
    assert "Aspirin" not in sent[1] and "Harrowgate" in sent[1]


@pytest.mark.parametrize(
    "examples, said",
    [
        ("Aspirin inhibits COX-1.", "examples must be pairs"),
        ([("text", "reply", "more")], "example 1 .* is no pair"),
        ([("text", FIRST), ("text", "The entities are A and B.")], "example 2: .* no entity"),
        ([("text", FIRST + "##(cut<|>")], "example 1: .* 1 record that cannot be read"),
        ([("", FIRST)], "example 1 .* is no pair"),
    ],
)
def test_a_malformed_example_is_named(examples, said):
    with pytest.raises(MiniragError, match=said):
        extract_elements(CORPUS, Scripted(elements=[FIRST]), examples=examples)


def test_an_example_for_the_rich_graph_needs_keywords():
    rich = '("entity"<|>A<|>person<|>one)##("relationship"<|>A<|>B<|>they met<|>meeting<|>9)' + END
    llm = Scripted(rich_elements=[rich])
    assert (
        extract_elements(CORPUS, llm, gleanings=0, rich=True, examples=[("A met B.", rich)])
        .relationships["c0"][0]
        .keywords
        == "meeting"
    )
    with pytest.raises(MiniragError, match="example 1: .* without keywords"):
        extract_elements(CORPUS, llm, gleanings=0, rich=True, examples=[("A met B.", FIRST)])


def test_a_pool_gives_the_same_elements():
    import minirag

    corpus, llm = minirag.load_corpus("professors"), minirag.load_llm("offline")
    with ThreadPoolExecutor(2) as pool:
        assert extract_elements(corpus, llm, claims=True, executor=pool) == extract_elements(
            corpus, llm, claims=True
        )


@pytest.mark.parametrize("wrong", [{"follow": "news"}, {"order": "never"}, {"turns": "one"}])
def test_a_wrong_choice_is_named(wrong):
    with pytest.raises(MiniragError, match="expected one of"):
        extract_elements(CORPUS, Scripted(elements=[FIRST]), **wrong)


E, R = EntityRecord, RelationshipRecord
MET = elements_of(
    [
        [E("Ada", "person", "One."), E("Ben", "person", "B.")],
        [E("Ada", "person", "Two."), E("ADA", "geo", "A town.")],
        [],
    ],
    [
        [R("Ada", "Ben", "They met.", 3), R("Ben", "Ada", "They met again.", 5)],
        [R("Ada", "Cy", "She knew Cy.", 2)],
        [R("Ada", "Ada", "self", 9)],
    ],
)


@pytest.mark.paper("GraphRAG", "sec-2.4")
def test_weights_are_normalised_counts_or_counts_or_strengths():
    weights = {
        w: [e.weight for e in textual_knowledge_graph(chunks_of(3), MET, weight=w).edges]
        for w in ("normalised count", "count", "strength")
    }
    assert weights == {"normalised count": [1.0, 0.5], "count": [2.0, 1.0], "strength": [8.0, 2.0]}


def test_pairs_are_added_up_kept_apart_or_replaced():
    graphs = {
        pairs: edges_of(textual_knowledge_graph(chunks_of(3), MET, weight="strength", pairs=pairs))
        for pairs in ("undirected", "directed", "last")
    }
    assert (
        graphs["undirected"]["Ada", "Ben"].weight == 8
        and ("Ben", "Ada") not in graphs["undirected"]
    )
    assert (graphs["directed"]["Ada", "Ben"].weight, graphs["directed"]["Ben", "Ada"].weight) == (
        3,
        5,
    )
    assert graphs["last"]["Ben", "Ada"].weight == 5 and ("Ada", "Ben") not in graphs["last"]


def test_names_merge_as_written_in_capitals_or_normalised():
    names = {
        how: [n.name for n in textual_knowledge_graph(chunks_of(3), MET, names=how).nodes]
        for how in ("as written", "upper", "normalised")
    }
    assert (
        names["as written"] == ["Ada", "Ben", "ADA", "Cy"]
        and names["upper"] == ["ADA", "BEN", "CY"]
        and names["normalised"] == ["Ada", "Ben", "Cy"]
    )


def test_unknown_endpoints_are_created_or_their_edges_dropped():
    created, dropped = (
        textual_knowledge_graph(chunks_of(3), MET, unknown=how) for how in ("create", "drop")
    )
    assert "Cy" in created.position and created.nodes[created.position["Cy"]].chunks == (1,)
    assert "Cy" not in dropped.position and len(dropped.edges) == 1


def test_one_name_with_two_types_merges_or_keeps_the_first():
    merged, first = (
        textual_knowledge_graph(chunks_of(3), MET, names="upper", same_name=how).nodes[0]
        for how in ("merge", "first type")
    )
    assert "A town." in merged.description and "A town." not in first.description
    assert (merged.type, first.type, merged.chunks, first.chunks) == (
        "person",
        "person",
        (0, 1, 1),
        (0, 1),
    )


def test_follow_sets_the_defaults_and_a_named_argument_wins():
    code = textual_knowledge_graph(chunks_of(3), MET, follow="code")
    assert [n.name for n in code.nodes] == ["ADA", "BEN"] and [e.weight for e in code.edges] == [
        3,
        5,
    ]
    assert (
        len(textual_knowledge_graph(chunks_of(3), MET, follow="code", pairs="undirected").edges)
        == 1
    )
    with pytest.raises(MiniragError, match="weight='heavy': expected one of"):
        textual_knowledge_graph(chunks_of(3), MET, weight="heavy")


def test_edges_remember_their_chunks_and_descriptions():
    edge = edges_of(textual_knowledge_graph(chunks_of(3), MET))["Ada", "Ben"]
    assert (
        edge.chunks == (0, 0)
        and edge.description == "They met.\nThey met again."
        and not edge.name
        and not edge.keywords
    )


def test_rich_edges_carry_distinct_keywords_and_summed_strengths():
    rich = elements_of(
        [[E("Ada", "person", "x"), E("Ben", "person", "y")]],
        [[R("Ada", "Ben", "d", 3, "trade, art"), R("Ben", "ada", "e", 4, "art, sea")]],
    )
    graph = rich_knowledge_graph(chunks_of(1), rich)
    (edge,) = graph.edges
    assert (
        graph.type == "rich knowledge"
        and edge.keywords == "trade, art, sea"
        and edge.weight == 7
        and [n.name for n in graph.nodes] == ["ADA", "BEN"]
    )
    assert len(rich_knowledge_graph(chunks_of(1), rich, pairs="directed").edges) == 2


def test_nothing_extracted_is_an_error_that_says_so():
    with pytest.raises(MiniragError, match="name no entity in 2 chunks"):
        textual_knowledge_graph(chunks_of(2), elements_of([[], []], [[], []]))


def test_a_graph_with_claims_survives_its_files(tmp_path):
    elements = elements_of(
        [[E("Ada", "person", "x")]],
        [[]],
        [[ClaimRecord("Ada", "", "LIE", "TRUE", "1911", "", "d", "t")]],
    )
    graph = textual_knowledge_graph(chunks_of(1), elements)
    assert Graph.load(graph.save(tmp_path)) == graph and len(graph.claims) == 1
    (tmp_path / "claims.jsonl").write_text("")
    with pytest.raises(MiniragError, match="incomplete"):
        Graph.load(tmp_path)


def summarise_element(llm, name, texts, **options):
    return summarise_elements(llm, [(name, texts)], **options)[0]


@pytest.mark.paper("GraphRAG", "sec-2.3")
def test_nothing_and_one_description_need_no_call_and_repetitions_count_once():
    llm = Scripted(summarise=["Both."])
    assert (
        summarise_element(llm, "A", []) == ""
        and summarise_element(llm, "A", ["One.", "One. ", ""]) == "One."
        and not llm.asked
    )
    assert summarise_element(llm, "A", ["One.", "Two."]) == "Both." and llm.asked == ["summarise"]
    assert summarise_element(None, "A", ["One.", "Two."]) == "One.\nTwo."
    assert summarise_element(Scripted(), "A", ["One.", "Two."], call_from=500) == "One.\nTwo."


@pytest.mark.paper("GraphRAG", "sec-2.3")
def test_long_descriptions_are_summarised_in_turns_and_an_empty_reply_loses_nothing():
    llm = Scripted(summarise=["S1.", "", "S3."])
    texts = [f"word {i} {'x ' * 20}." for i in range(4)]
    assert summarise_element(llm, "A", texts, input_limit=47) == "S3." and len(llm.asked) == 3
    assert summarise_element(Scripted(summarise=[""]), "A", ["One.", "Two."]) == "One.\nTwo."
    assert summarise_elements(
        Scripted(summarise=["ab", "cd"]), [("a", ["1.", "2."]), ("b", ["3."]), ("c", ["4.", "5."])]
    ) == ["ab", "3.", "cd"]


def test_random_instances_keep_their_counts():
    """On random instances the plain counting below and the builder agree on every weight and every
    mention.
    """
    rng = random.Random(5)
    for _ in range(50):
        names = [f"n{i}" for i in range(6)]
        pairs = [[rng.sample(names, 2) for _ in range(rng.randrange(4))] for _ in range(4)]
        elements = elements_of(
            [[E(n, "t", "d") for n in rng.sample(names, 3)] for _ in range(4)],
            [[R(a, b, "d", 2) for a, b in each] for each in pairs],
        )
        graph = textual_knowledge_graph(chunks_of(4), elements, weight="count")
        counted = {}
        for a, b in (pair for each in pairs for pair in each):
            counted[frozenset((a, b))] = counted.get(frozenset((a, b)), 0) + 1
        assert {frozenset(ends): e.weight for ends, e in edges_of(graph).items()} == counted
        assert all(len(e.chunks) == e.weight for e in graph.edges)
