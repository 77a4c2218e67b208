"""ToG and ToG-2: walks checked by hand, what `follow="code"` changes, models that reply nonsense.

Source: Wang, Sec. IV-A (tog2-init, tog2-rp, tog2-ep, tog2-er); Survey, Sec. 6.1 (op-node)
"""

import json
import math
import random

import numpy as np
import pytest
from scripted import Scripted

import minirag as mr
from minirag.algorithms.entity_scores import decayed_scores
from minirag.core.trace import ChunkStep, PathStep
from minirag.methods import METHODS, tog, tog2
from minirag.methods.graph_agent import ChoiceStep, StopStep
from minirag.methods.zeroshot import VoteStep
from minirag.prompts import TASKS
from minirag.prompts.agent_walk import WALK_TASKS

from .small import TableEncoder, corpus_of, extraction_of

TEXTS = corpus_of(
    ("Ann", "Ann married Bob. Ann was born in Selm."),
    ("Bob", "Bob works at the Mill. Bob sings."),
    ("Mill", "The Mill stands in Carrow. It grinds rye."),
    ("Selm", "Selm lies on a lake. The lake is deep."),
)
TRIPLES = {
    "Ann": [("Ann", "married", "Bob"), ("Ann", "was born in", "Selm")],
    "Bob": [("Bob", "works at", "Mill")],
    "Mill": [("Mill", "stands in", "Carrow")],
    "Selm": [("Selm", "lies on", "a lake")],
}
QUESTION = "Where is the mill at which the husband of Ann works?"


class Alike(TableEncoder):
    """Any two texts are a little alike, a text and itself entirely."""

    def encode(self, texts, kind="passage"):
        rows = super().encode(texts, kind)
        rows[:, 0] += 0.5
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def built(name, reply, triples=TRIPLES, corpus=TEXTS, encoder=None, **options):
    """A method asked by a model of scripted replies; where `reply` gives None, the rule answers."""

    def said(task, fields):
        text = "{}" if task == "question_entities" else reply(task, fields)
        if task == "question_entities":
            return json.dumps({"named_entities": ["Ann"]})
        return TASKS[task].rule(fields) if text is None else text

    return METHODS[name].build(
        corpus, Scripted(said), encoder or Alike(), extraction_of(triples), **options
    )


def tasks_of(method):
    return [task for task, _, _ in method.llm.asked]


def prompts_of(method, name):
    return [prompt for task, prompt, _ in method.llm.asked if task == name]


RELATIONS = {
    "Ann": "{married (Score: 0.6)} {was born in (Score: 0.4)}",
    "Bob": "{works at (Score: 1.0)}",
    "Selm": "{lies on (Score: 0.1)}",
    "Mill": "{stands in (Score: 0.9)}",
}


def by_hand(task, fields):
    if task == "choose_relations":
        return RELATIONS.get(fields["entity"], "")
    if task == "choose_relations_of_all":
        rows = enumerate(fields["entities"], start=1)
        return "\n".join(f"Entity {i}: {name}\n{RELATIONS.get(name, '')}" for i, (name, _) in rows)
    if task in ("examine_triples", "examine"):
        found = any("Carrow" in triple for triple in fields["triples"])
        return "{Yes}. {Carrow}" if found else "{No}. {the mill}"
    return "Answer: Carrow"


def test_tog_walks_until_the_triples_are_enough():
    method = built("tog", by_hand)
    answer = method.answer(QUESTION)
    found = answer.retrieval.trace
    assert [path.nodes for path in found.last(PathStep).paths] == [
        ("Ann", "Bob", "Mill", "Carrow"), ("Ann", "Selm", "a lake"),
    ]  # fmt: skip
    assert [path.score for path in found.last(PathStep).paths] == [0.9, 0.1]
    stop = found.last(StopStep)
    assert (stop.reason, stop.sufficient) == (tog.ENOUGH, True)
    # One prompt a node that has somewhere to go, none for single candidates, one verdict a depth.
    assert tasks_of(method) == [
        "question_entities", "choose_relations", "examine_triples",
        "choose_relations", "choose_relations", "examine_triples",
        "choose_relations", "examine_triples", "answer",
    ]  # fmt: skip
    assert answer.text == "Carrow"
    read = prompts_of(method, "answer")[0]
    assert "Mill, stands in, Carrow" in read and "grinds rye" not in read  # triples only
    assert answer.retrieval.ids == ["Ann", "Bob", "Mill", "Selm"]
    # Nobody was offered the edge that led there.
    assert "- married" not in prompts_of(method, "choose_relations")[1].split("Entity: Bob")[-1]


def test_the_trace_says_what_was_dropped_and_why():
    def reply(task, fields):
        if task == "choose_relations" and fields["entity"] == "Ann":
            return "{married (Score: 0.9)} {was born in (Score: 0.0)} {is fond of (Score: 0.8)}"
        return by_hand(task, fields)

    trace = built("tog", reply).retrieve(QUESTION).trace
    first = next(step for step in trace.all(ChoiceStep) if step.kind == "relations")
    assert (first.depth, first.topics) == (1, ("Ann",))
    assert [tuple(row) for row in first.offered] == [
        ("Ann: married", 0.9, ""), ("Ann: is fond of", 0.8, "not one of those offered"),
        ("Ann: was born in", 0.0, "score 0"),
    ]  # fmt: skip


@pytest.mark.paper("Wang", "tog2-init", "tog2-rp", "tog2-ep", "tog2-er")
def test_tog2_asks_for_all_relations_at_once_and_reads_passages():
    method = built("tog2", by_hand)
    answer = method.answer(QUESTION)
    trace = answer.retrieval.trace
    assert trace.last(StopStep).reason == tog.ENOUGH
    assert ("Ann", "Bob", "Mill", "Carrow") in [p.nodes for p in trace.last(PathStep).paths]
    walk = ["choose_relations_of_all", "examine"] * 3
    assert tasks_of(method) == ["question_entities", *walk, "answer"]
    first, second, _ = prompts_of(method, "choose_relations_of_all")
    assert "Entity 1: Ann" in first and "Clue: (none yet)" in first
    assert "Clue: the mill" in second and "Entity 2: Selm" in second
    read = prompts_of(method, "answer")[0]
    assert "Mill, stands in, Carrow" in read and "grinds rye" in read


WORKED = [("A", 0.9), ("B", 0.8), ("B", 0.7), ("C", 0.6)]


@pytest.mark.paper("Wang", "tog2-ep")
def test_the_decayed_scores_of_the_worked_example():
    found = decayed_scores(WORKED, alpha=0.8)
    assert [name for name, _ in found] == ["A", "B", "C"]
    scores = [score for _, score in found]
    assert scores == pytest.approx([0.404396, 0.225020, 0.024457], abs=1e-6)
    assert [name for name, _ in decayed_scores(WORKED, top_k=3)] == ["A", "B"]


def random_pool(rng):
    owners = "ABCDE"[: rng.randint(1, 5)]
    return [(rng.choice(owners), rng.choice([0.0, 0.5, rng.random()])) for _ in range(30)]


def test_above_ln_2_the_owner_of_the_best_chunk_comes_first():
    rng, below = random.Random(0), 0
    for _ in range(500):
        pool = random_pool(rng)
        best = max(pool, key=lambda row: row[1])
        for alpha in (math.log(2) + 1e-6, 0.8, 3.0):
            found = decayed_scores(pool, rng.randint(1, 30), alpha)
            assert best[1] == 0 or found[0][0] == best[0]
        below += decayed_scores(pool, 10, 0.1)[0][0] != best[0]
    assert below > 100  # with a slow decay many chunks beat the best one


@pytest.mark.parametrize("name", ["tog", "tog2"])
@pytest.mark.parametrize("task", [task.name for task in WALK_TASKS])
@pytest.mark.parametrize(
    "reply",
    [
        "", "nonsense", "{Yes", "{No}. {No}", "{}", "null", "[" * 60, "\x00" * 9,
        "{married (Score: 1.2.3)}", "Entity 1: Ann\n{married (Score: 99999999999)}",
        "Entity 1: Ann\n{married (Score: 0.7)}", "0.5 " * 500, "{married (Score: 0.7)}",
    ],
)  # fmt: skip
def test_a_model_that_repeats_nonsense_ends_with_a_reason(name, task, reply):
    triples = {**TRIPLES, "Ann": [*TRIPLES["Ann"], ("Ann", "married", "Ben"), ("Cy", "saw", "Ann")]}
    for follow in ("paper", "code"):
        method = built(
            name, lambda asked, fields: reply if asked == task else None, triples, follow=follow,
            **({"samples": 0} if name == "tog2" else {}),
        )  # fmt: skip
        found = method.retrieve(QUESTION)
        stop = found.trace.last(StopStep)
        assert stop.reason and isinstance(stop.sufficient, bool)
        assert isinstance(found.trace[-1], ChunkStep) and len(found.trace[-1].scores) == 4
        assert len(method.llm.asked) <= 1 + 3 * (3 + 9 + 1)


@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_a_question_without_entities_is_answered_by_dense_retrieval(name):
    method = METHODS[name].build(TEXTS, "offline", "lsa", extraction_of(TRIPLES))
    found = method.retrieve("where does it lie?")
    assert "names no entity" in found.trace.last(StopStep).reason
    assert isinstance(found.trace[-1], ChunkStep) and not found.trace.all(PathStep)


@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_a_topic_that_leads_nowhere(name):
    """A node whose only relation is the one that it was reached by."""
    lonely = {"Ann": [("Ann", "married", "Bob")]}
    method = built(name, lambda task, fields: None if "examine" not in task else "{No}", lonely)
    found = method.retrieve(QUESTION)
    assert found.trace.last(StopStep).reason == tog.NO_RELATION
    assert [path.nodes for path in found.trace.last(PathStep).paths] == [("Ann", "Bob")]


# What the codes do otherwise.


def never_enough(task, fields):
    return "{No}. {more}" if task.startswith("examine") else None


CROWD = {"Ann": [("Ann", "met", f"guest {i:02d}") for i in range(25)]}


def test_code_a_crowd_is_sampled():
    for follow, count in (("paper", 25), ("code", 5)):
        method = built("tog", never_enough, CROWD, follow=follow, depth=1)
        method.retrieve(QUESTION)
        (asked,) = prompts_of(method, "score_entities")
        assert asked.count("guest") == count
        again = built("tog", never_enough, CROWD, follow=follow, depth=1)
        again.retrieve(QUESTION)
        assert prompts_of(again, "score_entities") == [asked]


def test_code_only_the_last_depth_is_kept():
    texts = [
        built("tog", by_hand, evidence=kept).context(
            built("tog", by_hand, evidence=kept).retrieve(QUESTION)
        )[0]["triples"]
        for kept in ("all depths", "last depth")
    ]
    assert len(texts[0]) == 5 and texts[1] == ["Mill, stands in, Carrow"]


KNOWN = {"Ann": [("Ann", "knows", "Bob"), ("Cy", "knows", "Bob"), ("Bob", "likes", "rye")]}


@pytest.mark.parametrize(
    "back, reached",
    [("edge", {"Cy", "rye"}), ("relation", {"rye"}), ("allowed", {"Ann", "Cy", "rye"})],
)
@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_code_where_a_walk_may_return_to(name, back, reached):
    method = built(name, never_enough, KNOWN, back=back, depth=2, width=5)
    steps = method.retrieve(QUESTION).trace.all(ChoiceStep)
    second = next(step for step in steps if (step.depth, step.kind) == (2, "entities"))
    ends = {end for row in second.offered for end in row.label.split(", ")[::2]}
    assert ends - {"Bob"} == reached


@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_code_relations_are_neither_cut_nor_all_offered(name):
    triples = {
        "Ann": [("Ann", f"r{i}", f"x{i}") for i in range(5)] + [("Ann", "country", "Veldania")]
    }

    def reply(task, fields):
        names = [*(f"r{i}" for i in range(5)), "country"]
        lines = "".join(f"{{{each} (Score: 0.5)}}\n" for each in names)
        return (
            f"Entity 1: Ann\n{lines}" if task.startswith("choose") else never_enough(task, fields)
        )

    followed = {}
    for follow in ("paper", "code"):
        extra = {"samples": 0} if name == "tog2" else {}
        method = built(name, reply, triples, follow=follow, depth=1, **extra)
        step = method.retrieve(QUESTION).trace.all(ChoiceStep)[0]
        followed[follow] = [row.label for row in step.offered if not row.dropped]
    assert len(followed["paper"]) == 3 and len(followed["code"]) == 5
    cut = built(name, reply, triples, cut_relations=False, depth=1)
    step = cut.retrieve(QUESTION).trace.all(ChoiceStep)[0]
    assert sum(not row.dropped for row in step.offered) == 6  # country too


@pytest.mark.parametrize("name", ["tog", "tog2"])
def test_code_an_unfinished_walk_answers_from_memory(name):
    def reply(task, fields):
        return (
            "I think. The answer is rye."
            if task == "chain_of_thought"
            else never_enough(task, fields)
        )

    for unfinished, last in (("evidence", "answer"), ("memory", "chain_of_thought")):
        method = built(name, reply, unfinished=unfinished, depth=1)
        answer = method.answer(QUESTION)
        assert answer.retrieval.trace.last(StopStep).reason == tog.EXHAUSTED
        assert tasks_of(method)[-1] == last
    assert answer.text == "rye"
    offline = METHODS[name].build(
        TEXTS, "offline", "lsa", extraction_of(TRIPLES), unfinished="memory", depth=1
    )
    assert offline.answer("Which rye did Ann mill for Bob in Carrow?").text  # no rule remembers


def test_code_the_clue_is_never_updated():
    for follow, clue in (("paper", "Clue: more"), ("code", "Clue: (none yet)")):
        method = built("tog2", never_enough, follow=follow, samples=0, depth=2)
        method.retrieve(QUESTION)
        assert clue in prompts_of(method, "choose_relations_of_all")[1]


class Searched(Alike):
    """Remembers what it was asked to encode as a query."""

    def encode(self, texts, kind="passage"):
        if kind == "query":
            self.__dict__.setdefault("queries", []).extend(texts)
        return super().encode(texts, kind)


def test_code_pages_are_searched_with_the_question_alone():
    for value, longer in (("triple", True), ("question", False)):
        encoder = Searched()
        built("tog2", by_hand, encoder=encoder, search_with=value).retrieve(QUESTION)
        assert (f"{QUESTION} the mill Bob, works at, Mill" in encoder.queries) == longer


def test_code_the_second_stage_ranks_sentences():
    """A passage is far from the query as a whole; one of its windows is near."""
    near = "Bob\nBob works at the Mill."
    table = {QUESTION: [1, 0], near: [1, 0], TEXTS.chunks[1].passage: [0.1, 1]}
    table |= {TEXTS.chunks[3].passage: [0.5, 1]}
    first = {}
    for stage in (30, None):
        method = built(
            "tog2", by_hand, encoder=TableEncoder(table), first_stage=stage, depth=1,
            search_with="question",
        )  # fmt: skip
        found = method.retrieve(QUESTION)
        first[stage] = found.ids[0]
    assert first == {30: "Bob", None: "Selm"}


def test_code_a_yes_counts_anywhere():
    def reply(task, fields):
        return "{No}. Ask me again, yes?" if task == "examine" else None

    stops = [
        built("tog2", reply, yes=yes, depth=1).retrieve(QUESTION).trace.last(StopStep).reason
        for yes in ("braces", "anywhere")
    ]
    assert stops == [tog.EXHAUSTED, tog.ENOUGH]


@pytest.mark.parametrize("agreeing", [7, 8])
def test_code_chains_of_thought_that_agree_replace_the_walk(agreeing):
    drawn = iter(range(10))

    def reply(task, fields):
        if task == "chain_of_thought":
            return "The answer is Carrow." if next(drawn) < agreeing else "I do not know."
        return by_hand(task, fields)

    method = built("tog2", reply, follow="code")
    answer = method.answer(QUESTION)
    trace = answer.retrieval.trace
    assert trace.last(VoteStep).vote.score == agreeing / 10 and answer.text == "Carrow"
    sure = trace.last(StopStep).reason == tog2.AGREED
    assert sure == (agreeing == 8)
    assert sure == (answer.retrieval.ids == [])
    assert ("choose_relations_of_all" in tasks_of(method)) == (not sure)


def test_topics_are_pruned_where_there_are_more_than_two():
    asked = {"Ann", "Bob", "Mill"}

    def said(task, fields):
        if task == "question_entities":
            return json.dumps({"named_entities": sorted(asked)})
        if task == "prune_topics":
            return '{"3": "Mill", "9": "Nobody"}'
        return TASKS[task].rule(fields)

    method = METHODS["tog2"].build(TEXTS, Scripted(said), Alike(), extraction_of(TRIPLES))
    trace = method.retrieve(QUESTION).trace
    assert trace.all(ChoiceStep)[0].topics == ("Mill",)


@pytest.mark.parametrize("name", ["tog", "tog2"])
@pytest.mark.parametrize("follow", ["paper", "code"])
def test_offline_on_the_annotated_professors(name, follow):
    corpus = mr.load_corpus("professors")
    method = METHODS[name].build(corpus, "offline", "lsa", extraction="annotations", follow=follow)
    found = method.retrieve_many([question.text for question in corpus.questions])
    calls = method.llm.ledger.total.calls / len(corpus.questions)
    assert 2 < calls < (12 if name == "tog" else 8)
    recalled = [bool(set(f.ids) & set(q.gold)) for f, q in zip(found, corpus.questions)]
    assert sum(recalled) >= 12
    for each in found:
        assert each.trace.last(StopStep).reason and np.isfinite(each.trace[-1].scores).all()
