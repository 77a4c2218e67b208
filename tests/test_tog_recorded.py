"""ToG's and ToG-2's parts against what the official functions gave for the same input.

Source: Wang, Sec. IV-A (tog2-rp, tog2-ep, tog2-er); Survey, Sec. 6.1 (op-node, op-relationship)
"""

import json
from pathlib import Path

import pytest
from scripted import Scripted

from minirag.algorithms.entity_scores import decayed_scores
from minirag.algorithms.voting import majority_vote
from minirag.core.corpus import Chunk
from minirag.core.graph import Edge, Graph, Node
from minirag.methods.graph_agent import relations_at
from minirag.methods.tog2 import windows
from minirag.operators import agent
from minirag.operators.agent import Agent, Chosen, Offer, Reached, Relation
from minirag.prompts import agent_walk
from minirag.prompts.baselines import read_chain_of_thought

RECORDED = json.loads((Path(__file__).parent / "recorded" / "tog.json").read_text(encoding="utf-8"))


def cases(name, skipped=lambda case: False):
    return [case for case in RECORDED[name] if not skipped(case)]


def graph_of(triples):
    names = list(dict.fromkeys(end for s, _, o in triples for end in (s, o)))
    edges = tuple(Edge(names.index(s), names.index(o), r, chunks=(0,)) for s, r, o in triples)
    nodes = tuple(Node(name, chunks=(0,)) for name in names)
    return Graph("knowledge", "a test", nodes, edges, (Chunk("p", "x", "x", "p", 0, 1),))


def agent_of(graph, reply=""):
    return Agent(
        Scripted(lambda task, fields: reply), graph, lambda asked, texts: [0.0] * len(texts)
    )


def pairs(relations):
    return [(" ".join(row["relation"].split()), row["score"]) for row in relations]


# The shipped pattern takes a brace for a part of a name; here a name holds none.
BRACES = ("{note}", "{{A")


@pytest.mark.parametrize(
    "case",
    cases("tog_clean_relations", lambda case: any(b in case["input"]["reply"] for b in BRACES)),
)
def test_a_reply_holds_these_relations(case):
    found, dropped = agent_walk.read_relations(case["input"]["reply"])
    assert list(found) == pairs(case["expected"]["relations"])
    assert bool(dropped) >= (not found)


def test_a_name_holds_no_brace():
    for reply in ("text {note} then {A (Score: 0.6)}: why", "{{A (Score: 0.6)}}"):
        assert agent_walk.read_relations(reply) == ((("A", 0.6),), 0)


TWICE = "{A (Score: 0.5)}{B (Score: 0.4)}{A (Score: 0.3)}"  # the code keeps both A


@pytest.mark.parametrize(
    "case",
    cases(
        "tog2_clean_relations",
        lambda case: any(b in case["input"]["reply"] for b in (*BRACES, TWICE)),
    ),
)
def test_the_floor_and_the_width_of_one_node(case):
    found, _ = agent_walk.read_relations(case["input"]["reply"])
    relations = tuple(Relation(0, name, True, (i,)) for i, (name, _) in enumerate(found))
    offers = [Offer(Reached((0,)), relations)]
    walker = agent_of(graph_of([("Ann", "r", "Bob")]))
    _, chosen = agent.choose_relations(walker, offers, [found], 1, width=3, floor=0.2)
    kept = [(each.relation.name, each.score) for each in chosen]
    assert kept == pairs(case["expected"]["relations"])


FAMILY = graph_of([
    ("Ann", "spouse", "X"), ("Y", "place of birth", "Ann"), ("Bob", "employer", "Z"),
    ("W", "spouse", "Bob"),
])  # fmt: skip


def unlike_all(case):
    """The code keeps a score of 0, whose entities it drops later, and raises for 1.2.3."""
    return "raises" in case["expected"] or "(Score: 0.0)" in case["input"]["reply"]


@pytest.mark.paper("Wang", "tog2-rp")
@pytest.mark.parametrize("case", cases("tog2_clean_relations_all", unlike_all))
def test_one_reply_for_all_entities(case):
    walker, at = agent_of(FAMILY, case["input"]["reply"]), relations_at(FAMILY)
    starts = [Reached((FAMILY.position[name],)) for name in case["input"]["offered"]]
    offers = [agent.offer(each, at[each.nodes[0]], FAMILY) for each in starts]
    scored = agent.score_relations_of_all(walker, "Who?", "", offers, 3)
    _, chosen = agent.choose_relations(walker, offers, scored, 1)
    found = {(walker.name(c.here), c.relation.name, c.score, c.relation.outward) for c in chosen}
    rows = case["expected"]["relations"]
    assert found == {(r["entity_name"], r["relation"], r["score"], r["head"]) for r in rows}


def offered(case, exact=True):
    """What may be followed from Q1, however the walk came there."""
    given = case["input"]
    triples = [("Q1", name, f"to {name}") for name in given["kg_head"]]
    triples += [(f"from {name}", name, "Q1") for name in given["kg_tail"]]
    graph = graph_of(triples)
    here = Reached((graph.position["Q1"],))
    as_letters = isinstance(given["pre_relations"], str)  # the slip of the code
    if given["pre_relations"] and not as_letters:
        came = ("from spouse", "Q1") if given["pre_head"] else ("Q1", "to spouse")
        ends = [(graph.nodes[e.source].name, graph.nodes[e.target].name) for e in graph.edges]
        edge = ends.index(came)
        before = next(name for name in came if name != "Q1")
        here = Reached((graph.position[before], graph.position["Q1"]), (edge,))
    back, stop_list = "allowed" if as_letters else "relation", given["remove_unnecessary_rel"]
    return graph, agent.offer(here, relations_at(graph)[here.nodes[-1]], graph, back, stop_list)


@pytest.mark.paper("Survey", "op-relationship")
@pytest.mark.parametrize("case", cases("tog_relation_search"))
def test_tog_offers_and_follows_these_relations(case):
    graph, offer = offered(case)
    assert sorted(each.name for each in offer.relations) == case["expected"]["relations_shown"]
    walker = agent_of(graph, case["input"]["reply"])
    scored = agent.score_relations(walker, "Who?", [offer], 3)
    _, chosen = agent.choose_relations(walker, [offer], scored, 1)
    found = {(c.relation.name, c.score, c.relation.outward) for c in chosen}
    rows = case["expected"]["selected"]  # "unknown" was not offered, and leads nowhere in the code
    assert found >= {(r["relation"], r["score"], r["head"]) for r in rows[:-1]}
    assert {name for name, *_ in found} == {"spouse", "founded by"}


@pytest.mark.parametrize(
    "case", cases("tog2_relation_search", lambda case: "raises" in case["expected"])
)
def test_tog2_offers_these_relations_of_one_entity(case):
    names = {each.name for each in offered(case)[1].relations}
    assert sorted(names) == case["expected"]["relations_shown"]


@pytest.mark.parametrize("case", cases("tog2_relation_search_combined"))
def test_tog2_offers_these_relations_of_all_entities(case):
    """In lower case the code's stop list misses "imdb id"; here it is asked for the name itself."""
    found = sorted([each.name.lower(), each.outward] for each in offered(case)[1].relations)
    stopped = case["input"]["remove_unnecessary_rel"]
    assert found == [row for row in case["expected"] if row[0] != "imdb id" or not stopped]


@pytest.mark.parametrize("case", cases("tog2_abandon_relations"))
def test_the_stop_list(case):
    assert agent.unwanted(case["input"]["relation"]) == case["expected"]["abandoned"]


@pytest.mark.parametrize("version", ["tog", "tog2"])
def test_the_nodes_behind_a_relation(version):
    """Without a name (N/A) no node exists here."""
    for case in cases(f"{version}_entity_search"):
        kg, triples = case["input"]["kg"], [("Q1", "other", "x")]
        for relation, ends in kg.items():
            triples += [("Q1", relation, name) for _, name in ends.get("tail", ()) if name != "N/A"]
            triples += [(name, relation, "Q1") for _, name in ends.get("head", ())]
            triples += [("Q1", relation, value) for value in ends.get("values", ())]
        graph, outward = graph_of(triples), case["input"]["head"]
        found = [
            agent_of(graph).name(each)
            for relation in relations_at(graph)[graph.position["Q1"]]
            if (relation.name, relation.outward) == (case["input"]["relation"], outward)
            for each in agent.reach(Chosen(Reached((graph.position["Q1"],)), relation, 1.0), graph)
        ]
        named = case["expected"]
        names = named[1] if version == "tog" else [row["name"] for row in named]
        assert found == [name for name in names if name != "Unname_Entity"]


def all_zero_or_none(case):
    """Zeros become 1 / n one step later, see `test_scores_of_entities`; no nodes are never asked
    for.
    """
    return case["input"]["n_candidates"] == 0 or case["input"]["reply"] == "0.0, 0.0"


@pytest.mark.parametrize("case", cases("tog2_clean_scores", all_zero_or_none))
def test_as_many_scores_as_nodes_or_equal_ones(case):
    reply, _ = agent_walk.read_scores(case["input"]["reply"])
    found = agent.entity_scores(reply, case["input"]["n_candidates"])
    assert found == pytest.approx(case["expected"])


def not_in_a_graph(case):
    """No relation leads to no node, and no two nodes have one name."""
    names = case["input"]["candidates"]
    return not names or len(set(names)) < len(names)


@pytest.mark.paper("Survey", "op-node")
@pytest.mark.parametrize("case", cases("tog_entity_score", not_in_a_graph))
def test_scores_of_entities(case):
    given = case["input"]
    graph = graph_of([("T", "r", name) for name in given["candidates"]])
    walker = agent_of(graph, given["reply"])
    chosen = Chosen(Reached((0,)), relations_at(graph)[0][0], given["relation_score"])
    found = agent.score_entities(walker, "Who?", [(chosen, agent.reach(chosen, graph))])
    assert [walker.name(each) for each in found] == case["expected"]["candidates"]
    assert [each.score for each in found] == pytest.approx(case["expected"]["scores"])
    assert len(walker.llm.asked) == (len(found) > 1)


@pytest.mark.parametrize("case", cases("tog_entity_prune"))
def test_the_best_entities(case):
    given = case["input"]
    names = ["Unname_Entity" if t == "Q99" else "One" for t in given["topics"]]
    graph = graph_of(list(zip(names, given["relations"], given["candidates"])))
    reached = [
        Reached((graph.edges[i].source, graph.edges[i].target), (i,), score)
        for i, score in enumerate(given["scores"])
    ]
    step, kept = agent.choose_entities(agent_of(graph), reached, 1, given["width"])
    chains = [", ".join(chain) for chain in (case["expected"]["chains"] or [[]])[0]]
    assert agent_of(graph).triples(*kept) == chains
    assert len(step.offered) == len(reached)


@pytest.mark.paper("Wang", "tog2-ep")
@pytest.mark.parametrize("case", cases("tog2_entity_prune"))
def test_decayed_scores(case):
    """The code ranks chunks of equal score by their text, then by their entity, last first."""
    given = case["input"]
    rows = [(c["score"], c["text"], e["name"]) for e in given["candidates"] for c in e["chunks"]]
    pooled = [(name, score) for score, _, name in sorted(rows, reverse=True)]
    found = decayed_scores(pooled, given["top_k_chunks"], given["alpha"])[: given["width"]]
    expected = case["expected"].get("entities", [])
    assert [name for name, _ in found] == [row["name"] for row in expected]
    assert [score for _, score in found] == pytest.approx([row["score"] for row in expected])


@pytest.mark.parametrize("case", cases("tog2_extract_answer"))
def test_what_the_first_braces_hold(case):
    text = case["input"]["text"]
    assert agent_walk.first_braced(text) == case["expected"]["extracted"]
    verdict, _ = agent_walk.read_verdict(text)
    if "}" in text:  # without braces our reader looks at the first word
        assert verdict.sufficient == case["expected"]["is_true"]


@pytest.mark.paper("Wang", "tog2-er")
@pytest.mark.parametrize("name", ["tog_stop", "tog2_stop"])
def test_when_to_stop(name):
    """A bare "Yes" stops here in both; in ToG's code only braces do."""
    for case in cases(name, lambda case: name == "tog_stop" and case["input"]["reply"] == "Yes"):
        verdict, _ = agent_walk.read_verdict(case["input"]["reply"])
        stops = verdict.sufficient or (name == "tog2_stop" and verdict.mentions_yes)
        assert stops == case["expected"]["stop"], case


def no_choice(case):
    """The code takes what is none of the topics, and stops where none is kept; here all stay."""
    return (
        not set(case["expected"]) & set(case["input"]["entities"]) or "[" in case["input"]["reply"]
    )


@pytest.mark.parametrize("case", cases("tog2_topic_prune", no_choice))
def test_which_topics_are_kept(case):
    """Without "Output:" in front the code does not read a Llama model's reply; here it is read."""
    kept, _ = agent_walk.read_topics(case["input"]["reply"])
    if case["input"]["model"] == "gpt" or "Output:" in case["input"]["reply"]:
        names = [name for name in case["input"]["entities"].values() if name in kept]
        assert (names or list(case["input"]["entities"].values())) == list(
            case["expected"].values()
        )


@pytest.mark.parametrize(
    "case", cases("tog2_self_consistency", lambda case: len(case["input"]["replies"]) != 10)
)
def test_ten_chains_of_thought_vote(case):
    vote = majority_vote(read_chain_of_thought(text)[0] for text in case["input"]["replies"])
    assert vote.score == case["expected"]["cot_sc_score"]
    assert vote.answer.lower() == case["expected"]["cot_sc_answer"].rstrip(".")


@pytest.mark.parametrize("case", cases("tog2_windows", lambda case: not case["input"]["text"]))
def test_windows_of_sentences(case):
    """The sentences are the code's, which are its windows of one."""
    same = [
        each for each in RECORDED["tog2_windows"] if each["input"]["text"] == case["input"]["text"]
    ]
    single = next(e for e in same if (e["input"]["window"], e["input"]["step"]) == (1, 1))
    size, step = case["input"]["window"], case["input"]["step"]
    assert windows(single["expected"], size, step) == case["expected"]
