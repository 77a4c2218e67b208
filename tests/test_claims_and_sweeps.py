"""The parts `claims` and `sweeps` of `minirag reproduce agents`: claims are put to every method in
one wording, by rules or by a model, and their labels are read from what it says.
"""

from dataclasses import replace

import numpy as np
import pytest

from minirag.core.corpus import Question
from minirag.core.errors import MiniragError
from minirag.core.trace import NodeStep
from minirag.evaluate import load_expected
from minirag.evaluate.kgqa import ASKED, JUDGED, claim_label, label_by_rule, marked, wording
from minirag.llm import load_llm
from minirag.llm.recorded import recording
from minirag.methods import METHODS
from minirag.prompts import find_task
from minirag.reproduce import agents, reproduce_table
from minirag.reproduce.retrieval_tables import row_names

from .scripted import Scripted

CLAIMS = agents.corpus_of("claims").questions
OFFLINE = "Selm\nSelm is the oldest port of Veldania. Ilse Brandt was born there."
NEEDS = ("direct", "cot", "cot-sc", "cok")


def judged(claim, *passages):
    return claim_label(label_by_rule({"question": ASKED + claim, "passages": passages}))


@pytest.mark.parametrize(
    "claim, passages, label",
    [
        ("Selm is the oldest port.", [OFFLINE], "SUPPORTS"),
        ("Ilse Brandt was born in Selm.", [OFFLINE], "SUPPORTS"),  # the title is Selm
        ("Ilse Brandt was born in Carrow.", [OFFLINE], "REFUTES"),
        ("Selm is a harbour with two piers.", [OFFLINE], "NOT ENOUGH INFO"),
        ("Ilse Brandt was born in Selm.", ["Ilse Brandt, born in, Selm"], "SUPPORTS"),
        # Two triples hold all the words, no one of them does.
        ("Orrin founded a port in Selm.", ["Orrin, founded, Tamsin", "port, in, Selm"],
         "NOT ENOUGH INFO"),
        ("Ilse Brandt was born in Selm.", ["Ilse Brandt lived. Selm was born."], "NOT ENOUGH INFO"),
        ("Ilse Brandt was born in Selm.", [], "NOT ENOUGH INFO"),
        ("It is.", [OFFLINE], "NOT ENOUGH INFO"),  # no word to look for
    ],
)  # fmt: skip
def test_the_rule_looks_for_the_claims_words_in_one_sentence(claim, passages, label):
    assert judged(claim, *passages) == label


def test_a_claim_is_put_with_what_is_asked_of_it_and_a_question_as_it_is():
    claim = CLAIMS[1]
    assert wording(claim) == f"{ASKED}The film The Ninth Tide is based on Nine Tides."
    assert wording(Question("q", "Where?")) == "Where?"
    assert marked("Answer: it is false", claim) == 1 and marked("true", claim) == 0
    assert marked("cannot tell", claim) == 0
    assert marked("Selm", Question("q", "Where?", ("Selm",))) == 1


def test_a_models_prompt_is_that_of_the_answer():
    answer, fields = find_task("answer"), {"question": ASKED + "A is B.", "passages": ["A is B."]}
    assert JUDGED.name == "answer" and JUDGED.messages(fields) == answer.messages(fields)
    assert JUDGED.rule is not answer.rule


def test_the_claims_are_those_of_the_corpus():
    assert len(CLAIMS) == 24 and {claim.kind for claim in CLAIMS} == {"claim"}
    assert {claim.answers for claim in CLAIMS} == {("SUPPORTS",), ("REFUTES",)}
    ids = {chunk.id for chunk in agents.corpus_of("claims").chunks}
    assert all(claim.gold and set(claim.gold) <= ids for claim in CLAIMS)
    assert agents.majority("claims").right.mean() == 50


def test_the_rule_that_quotes_judges_no_claim():
    method = METHODS["bm25"].build(agents.corpus_of("claims"), llm="offline")
    said = [claim_label(method.answer(wording(claim)).text) for claim in CLAIMS]
    assert said == ["NOT ENOUGH INFO"] * 24


def false_to_all(task, fields):
    """A model that takes every claim for false, in the format of each task."""
    if "question" in fields:
        assert ASKED in fields["question"]
    return {
        "answer": "Thought: so it is.\nAnswer: false", "direct": "Answer: refuted",
        "chain_of_thought": "The answer is false.", "consolidate": "The answer is false.",
        "two_rationales": "First, a. Second, b. The answer is false.",
        "examine": "{Yes}. {false}", "examine_triples": "{Yes}.",
    }.get(task, "")  # fmt: skip


@pytest.mark.parametrize("row", agents.rows_of("claims"), ids=lambda row: row.name)
def test_a_model_goes_the_same_way(row):
    said = agents.run_rows("claims", Scripted(false_to_all), "lsa", [row])
    found = agents.cells(f"claims {row.name} scripted", said[row.name])
    assert (found["n"], found["accuracy"], found["cannot tell"]) == (24, 50, 0)
    assert found["said true"] == 0
    assert np.array_equal(said[row.name].right, [0, 100] * 12)


def test_no_reply_to_a_claim_is_recorded():
    row = next(row for row in agents.rows_of("claims") if row.name == "direct")
    with pytest.raises(MiniragError, match="mini_wiki.jsonl has no answer to this prompt"):
        agents.run_rows("claims", recording("mini_wiki"), "minilm", [row])


def test_what_cannot_be_told_is_wrong_and_counted():
    silent = Scripted(lambda task, fields: "Answer: cannot tell")
    row = next(row for row in agents.rows_of("claims") if row.name == "direct")
    found = agents.cells(
        "claims direct x", agents.run_rows("claims", silent, "lsa", [row])["direct"]
    )
    assert (found["accuracy"], found["cannot tell"]) == (0, 24)
    assert "evidence recall" not in found


def test_rows_of_claims_are_as_stored_and_a_model_is_asked_for_by_name():
    picked = ["claims vanilla rules", "claims tog rules", "claims majority rules"]
    result = reproduce_table("agents", rows=picked)
    assert [row["method"] for row in result["rows"]] == picked
    assert {cell.state for cell in result["comparison"]} <= {"OK", "OKISH"}
    table = {row["method"]: row["claims accuracy, rules"] for row in result["table"]}
    assert all(table[name] == "needs a model" for name in NEEDS)
    assert table["majority"] == 50 and len(result["notes"]) == 2


def test_every_row_is_stored_and_a_part_names_all_its_rows():
    stored = load_expected("agents")["rows"].keys()
    assert set(agents.row_names()) <= stored
    assert set(row_names("agents")) - set(agents.row_names()) == set(agents.GRAPHS)
    assert row_names("agents", all_rows=False) == agents.row_names()


def test_sweeps_change_one_option_a_row():
    rows = {row.name: row for row in agents.rows_of("sweeps")}
    for name in ("tog", "tog2"):
        changed = [row.options for row in rows.values() if row.method == name]
        own = [{k: v for k, v in each.items() if k != "extraction"} for each in changed]
        widths = [each["width"] for each in own if "width" in each]
        depths = [each["depth"] for each in own if "depth" in each]
        default = METHODS[name].options_type()
        assert widths == [1, 2, 3, 4, 5] and depths == [1, 2, 4]  # depth 3 is the row of width 3
        assert (default.width, default.depth) == (3, 3) and all(len(each) <= 1 for each in own)
    assert rows["kgp-12"].options["k"] == 9 and rows["vanilla-9"].method == "vanilla"


def test_the_pruning_encoder_does_not_link_the_topics(monkeypatch):
    whole = agents.corpus_of("sweeps")
    monkeypatch.setattr(
        agents, "corpus_of", lambda part: replace(whole, questions=whole.questions[:8])
    )
    few = [row for row in agents.rows_of("sweeps") if row.name in (agents.BY_LSA, "tog2-width-3")]
    found = agents.run_rows("sweeps", load_llm("offline"), "minilm", few)
    both = zip(*(found[row.name].answers for row in few))
    links = [[answer.retrieval.trace.all(NodeStep)[0].nodes for answer in pair] for pair in both]
    assert len(links) == 8 and all(first == second for first, second in links)
    first, second = (found[row.name].recall for row in few)
    assert not np.array_equal(first, second)
