"""ExplaGraphs: reading its file, the released split, Table 1's row, and how much of the answer the
relations give away.
"""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from minirag import reproduce_table
from minirag.algorithms.ego_graphs import TextualGraph
from minirag.cli import app
from minirag.core.errors import MiniragError
from minirag.core.graph import GraphQuestion, GraphTask
from minirag.corpora.expla_graphs import (
    belief_and_argument,
    describe,
    load_expla_graphs,
    parse_graph,
    read_expla_graphs,
    shape,
    split,
)
from minirag.evaluate import load_expected
from minirag.reproduce.expla_graphs import expla_rows, stance_by_negations, stance_by_relation
from minirag.reproduce.graph_baselines import accuracy
from minirag.reproduce.stance_baselines import (
    BASELINES,
    RELATIONS,
    by_hand,
    count_negated,
    denies,
    hand_features,
    measure_baselines,
    negated,
    pair_comparison,
    pooled_vectors,
    predict,
)

needs_data = pytest.mark.needs("expla_graphs")
HEADER = "arg1\targ2\tlabel\tgraph"
GOOD = "Tea is good.\tTea warms people.\tsupport\t(tea; causes; Warmth)(warmth ; desires;people)"
ENCODERS = [baseline.name for baseline in BASELINES if baseline.encoder]


def write(folder, *lines):
    path = folder / "items.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def task():
    return load_expla_graphs()


# --- reading


def test_one_item_is_read_as_it_stands(tmp_path):
    [item], counts = read_expla_graphs(write(tmp_path, HEADER, GOOD))
    assert (
        item.id == "expla_graphs/0000"
        and item.answer == "support"
        and item.asked == "Tea is good. Tea warms people."
    )
    assert item.graph == TextualGraph(
        ("tea", "warmth", "people"), ((0, "causes", 1), (1, "desires", 2))
    )
    assert belief_and_argument(item) == (
        "Tea is good.",
        "Tea warms people.",
    ) and item.question.endswith("support or counter.")
    assert counts == {"items": 1}


def test_quoted_cells_lose_their_quotes(tmp_path):
    line = GOOD.replace("Tea is good.", '"The ""best"" drink is tea."')
    [item], _ = read_expla_graphs(write(tmp_path, HEADER, line))
    assert belief_and_argument(item)[0] == 'The "best" drink is tea.'


def test_what_the_encoder_sees_can_be_chosen(tmp_path):
    path = write(tmp_path, HEADER, GOOD, GOOD.replace("Tea is good.", "Milk is good."))
    seen = {
        asks: [item.asked for item in read_expla_graphs(path, asks)[0]]
        for asks in ("pair", "prompt", "same")
    }
    assert len(set(seen["pair"])) == len(set(seen["prompt"])) == 2 and len(set(seen["same"])) == 1
    assert seen["prompt"][0].startswith("Belief: Tea is good.\n")
    with pytest.raises(MiniragError, match="asks is one of"):
        read_expla_graphs(path, "everything")


@pytest.mark.parametrize(
    "broken, why",
    [
        (GOOD.replace("support", "maybe"), "neither support nor counter"),
        (GOOD.rsplit("\t", 1)[0], "a text is missing"),
        (GOOD + "\tmore", "one too many"),
        (GOOD.replace("Tea warms people.", " "), "a text is missing"),
        (GOOD.rsplit("\t", 1)[0] + "\tno triple", r"not a row of"),
        (GOOD.replace("; causes;", "; causes"), r"not a row of"),
        (GOOD.replace("(tea;", "(;"), r"not a row of"),
    ],
)
def test_a_broken_item_is_counted_and_named_and_the_others_keep_their_ids(tmp_path, broken, why):
    with pytest.warns(UserWarning, match=f"1 of 2 items were left out.*item 0.*{why}"):
        [item], counts = read_expla_graphs(write(tmp_path, HEADER, broken, GOOD))
    assert item.id == "expla_graphs/0001" and counts["items"] == 1 and sum(counts.values()) == 2


def test_a_file_of_another_kind_is_an_error(tmp_path):
    with pytest.raises(
        MiniragError, match="expected the tab-separated columns arg1, arg2, label, graph"
    ):
        read_expla_graphs(write(tmp_path, "belief\targument", "a\tb"))
    with pytest.raises(MiniragError, match="no item that can be read"):
        read_expla_graphs(write(tmp_path, HEADER))
    with pytest.raises(MiniragError, match="neither support nor counter"):
        read_expla_graphs(write(tmp_path, HEADER, GOOD.replace("support", "maybe")))


def test_missing_data_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr("minirag.corpora.fetching.PAUSE", 0)
    with pytest.raises(MiniragError, match="minirag fetch expla_graphs"):
        load_expla_graphs(tmp_path)
    with pytest.raises(MiniragError, match="follow is 'paper' or 'code'"):
        load_expla_graphs(tmp_path, follow="book")


def test_another_file_under_the_name_is_not_taken_for_a_missing_one(tmp_path):
    (tmp_path / "expla_graphs").mkdir()
    (tmp_path / "expla_graphs" / "train_dev.tsv").write_text(HEADER, encoding="utf-8")
    with pytest.raises(MiniragError, match="is not the declared file") as raised:
        load_expla_graphs(tmp_path)
    assert "minirag fetch" not in str(raised.value)


TEXTS = st.text("abcXYZ ", min_size=1, max_size=8).filter(str.strip)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=6))
def test_every_triple_becomes_one_edge_between_its_texts(triples):
    graph = parse_graph("".join(f"({'; '.join(triple)})" for triple in triples))
    cleaned = [tuple(part.strip().lower() for part in triple) for triple in triples]
    assert [
        (graph.nodes[head], relation, graph.nodes[tail]) for head, relation, tail in graph.edges
    ] == cleaned
    assert len(set(graph.nodes)) == len(graph.nodes) and set(graph.nodes) == {
        text for head, _, tail in cleaned for text in (head, tail)
    }


@pytest.mark.parametrize(
    "text, connected, acyclic, chain, one_way",
    [
        ("(a; r; b)(b; r; c)", True, True, True, True),
        ("(a; r; b)(c; r; b)", True, True, True, False),
        ("(a; r; b)(b; r; c)(b; r; d)", True, True, False, False),
        ("(a; r; b)(c; r; d)", False, True, False, False),
        ("(a; r; b)(b; r; c)(c; r; a)", True, False, False, False),
        ("(a; r; b)(a; s; b)", True, True, True, True),
    ],
)
def test_shapes(text, connected, acyclic, chain, one_way):
    assert shape(parse_graph(text)) == {
        "connected": connected,
        "without a directed cycle": acyclic,
        "chains": chain,
        "chains one way": one_way,
    }


# --- what the relations give away, on a task small enough to check by hand


def item(number, answer, relation="is a", belief="Tea is good."):
    asked = f"Belief: {belief}\nArgument: Tea warms."
    return GraphQuestion(
        f"q/{number:03d}",
        asked,
        answer,
        parse_graph(f"(tea; {relation}; drink)(drink; causes; warmth)"),
    )


@pytest.fixture
def leaky():
    """Counter exactly where "is not a" stands, but for one support item that a negation in the
    belief turns round.
    """

    def make(start):
        return tuple(
            item(start + n, *(("counter", "is not a") if n % 3 == 0 else ("support", "is a")))
            for n in range(30)
        )

    return GraphTask(
        "leaky",
        "made for a test",
        make(0),
        make(100),
        (*make(200)[:9], item(300, "support", "is not a", "Tea is not bad.")),
    )


def by_name(name):
    return next(baseline for baseline in BASELINES if baseline.name == name)


def test_negated_relations_and_denying_texts():
    assert {relation for relation in RELATIONS if negated(relation)} == {
        name for name in RELATIONS if "not" in name.split()
    } | {"antonym of"}
    assert len(RELATIONS) == 28 and sum(map(negated, RELATIONS)) == 14
    assert (
        denies("It is not so.") and denies("They don’t care.") and not denies("A notable nation.")
    )
    assert count_negated(item(0, "counter", "antonym of")) == 1


def test_rules_on_the_leaky_task(leaky):
    rows = {
        row["method"]: row["accuracy"]
        for row in measure_baselines(
            leaky, [b.name for b in BASELINES if b.model == "rule"], seeds=()
        )
    }
    assert rows == {
        "majority": 70.0,
        "any negated relation": 90.0,
        "negated relation xor denying belief": 100.0,
    }


def test_a_classifier_learns_the_leak_from_the_training_part(leaky):
    assert accuracy(predict(by_name("bag of relations"), leaky), leaky.test) == 90.0
    turned = GraphTask(
        "turned",
        "made for a test",
        *(
            tuple(_turned(question) for question in part)
            for part in (leaky.train, leaky.validation)
        ),
        leaky.test,
    )
    assert accuracy(predict(by_name("bag of relations"), turned), leaky.test) == 10.0


def _turned(question):
    return GraphQuestion(
        question.id,
        question.question,
        {"support": "counter", "counter": "support"}[question.answer],
        question.graph,
    )


@pytest.mark.parametrize("name", [baseline.name for baseline in BASELINES])
def test_no_baseline_sees_a_test_answer(name, leaky):
    def embed(texts):
        return np.array([[len(text), text.count("n"), 1.0] for text in texts], dtype=float)

    hidden = GraphTask(
        "hidden", "made for a test", leaky.train, leaky.validation, tuple(map(_turned, leaky.test))
    )
    assert predict(by_name(name), leaky, embed) == predict(by_name(name), hidden, embed)


def test_stances_count_every_item_once(leaky):
    rows = stance_by_negations(leaky.questions)
    assert sum(row["all: items"] for row in rows) == 70 and all(
        row["all: items"] == row["plain belief: items"] + row["denying belief: items"]
        for row in rows
    )
    assert (
        rows[0]["all: % counter"] == 0
        and rows[1]["plain belief: % counter"] == 100
        and rows[1]["denying belief: % counter"] == 0
    )
    assert rows[2]["all: % counter"] is None and stance_by_relation(leaky.train)[0] == {
        "relation": "is not a",
        "negated": True,
        "all: items": 10,
        "all: % counter": 100.0,
    }


def test_hand_features_are_named_and_numbers():
    features = by_hand(item(0, "counter", "is not a", "Tea is not bad."))
    assert (
        len(features) == 22
        and features["negated edges"] == 1
        and features["first edge negated"]
        and not features["last edge negated"]
    )
    assert (
        not features["either negated edge or denying belief"]
        and features["nodes"] == 3
        and features["sinks"] == features["starts"] == 1
    )
    assert features["argument's words in a start"] == 1.0 and hand_features(
        [item(0, "counter")]
    ).shape == (1, 22)


def test_mean_vectors_are_means():
    vectors = {
        "tea": [3.0, 0],
        "is a": [0, 0],
        "drink": [0, 4.0],
        "causes": [0, 0],
        "warmth": [0, 0],
    }

    def embed(texts):
        return np.array([vectors.get(text, [1.0, 1.0]) for text in texts])

    assert pooled_vectors([item(0, "counter")], embed)[0] == pytest.approx([0.6, 0.8])
    assert pair_comparison([item(0, "counter")], embed).tolist() == [[1, 1, 1, 1, 0, 0, 1, 1]]


# --- the real data


@pytest.mark.paper("GRAG", "tab-1")
@needs_data
def test_table_1(task):
    numbers = describe(task)
    assert [numbers[name] for name in ("graphs", "train", "validation", "test")] == [
        2766,
        1659,
        553,
        554,
    ]
    assert numbers["nodes"] == pytest.approx(5.17, abs=5e-3) and numbers["edges"] == pytest.approx(
        4.25, abs=5e-3
    )
    assert (numbers["most nodes"], numbers["most edges"]) == (9, 8) and numbers[
        "connected"
    ] == numbers["without a directed cycle"] == 2766
    assert numbers["chains"] == 1707  # the appendix: "each graph is actually a chain"
    assert (
        numbers["majority %"] == pytest.approx(100 * 326 / 554)
        and round(numbers["beliefs seen %"]) == 21
    )


@needs_data
def test_the_split_is_a_partition_and_the_released_one(task):
    parts = (task.train, task.validation, task.test)
    ids = [question.id for part in parts for question in part]
    assert len(set(ids)) == len(ids) == 2766 and task.answers == ("counter", "support")
    order = np.random.RandomState(42).permutation(
        2766
    )  # what the released split comes down to: the first 40% are held out
    assert [question.id for question in task.train] == [
        f"expla_graphs/{place:04d}" for place in order[1107:]
    ]
    assert [part[0].id for part in parts] == [
        "expla_graphs/1087",
        "expla_graphs/1966",
        "expla_graphs/1474",
    ]
    texts = [{(question.asked, question.graph) for question in part} for part in parts]
    assert not (texts[0] & texts[2] or texts[1] & texts[2])
    assert Counter(question.answer for question in task.test) == {"support": 326, "counter": 228}


@needs_data
def test_the_code_s_questions_are_all_the_same_to_an_encoder(task):
    code = load_expla_graphs(follow="code")
    assert (
        len({question.asked for question in code.questions}) == 1
        and len({question.asked for question in task.questions}) == 2766
    )
    assert [question.question for question in code.test] == [
        question.question for question in task.test
    ]


@needs_data
def test_the_answer_leaks_through_the_relations(task):
    """One bit, negated or not, is worth 11 points over the majority; with a second bit from the
    belief it is worth 18.
    """
    rules = {
        row["method"]: row
        for row in measure_baselines(task, [b.name for b in BASELINES if b.model == "rule"])
    }
    assert rules["any negated relation"]["accuracy"] == pytest.approx(100 * 387 / 554)
    assert rules["negated relation xor denying belief"]["accuracy"] == pytest.approx(
        100 * 428 / 554
    )
    assert all(
        rules[name]["other splits"] > rules["majority"]["other splits"] + 10
        for name in rules
        if name != "majority"
    )
    shares = [row["all: % counter"] for row in stance_by_negations(task.questions)]
    assert shares == pytest.approx([23.3, 60.4, 62.5, 77.9], abs=0.05)
    assert stance_by_relation(task.questions)[0]["relation"] == "is not a"


@pytest.mark.slow
@needs_data
def test_the_command_writes_the_stored_numbers_without_an_encoder_as_json(tmp_path):
    names = [
        "data",
        "majority",
        "any negated relation",
        "number of negated relations",
        "bag of relations",
    ]
    file = tmp_path / "e.json"
    run = CliRunner().invoke(
        app, ["reproduce", "expla_graphs", "--rows", ",".join(names), "--json", str(file)]
    )
    written = json.loads(file.read_text(encoding="utf-8"))
    assert run.exit_code == 0 and [row["method"] for row in written["rows"]] == names
    assert written["rows"][1]["accuracy"] == 58.8448 and len(written["stances"]) == 4
    assert any("appendix" in note for note in written["notes"])
    states = {cell["state"] for cell in written["comparison"]}
    assert "OK" in states and states <= {"OK", "OKISH", "PAPER-ONLY"}


@needs_data
@pytest.mark.slow
def test_stored_numbers_of_the_rows_with_an_encoder():
    result = reproduce_table(
        "expla_graphs", rows=["data", *(baseline.name for baseline in BASELINES)]
    )
    assert not [cell for cell in result["comparison"] if cell.state == "FAIL"]
    found = {row["method"]: row["accuracy"] for row in result["rows"] if "accuracy" in row}
    assert found["trees on hand features"] > found["any negated relation"] > found[
        "pair vectors"
    ] and set(ENCODERS) <= set(found)


@pytest.mark.paper("GRAG", "tab-2", "tab-4", "tab-5")
def test_the_paper_s_numbers_are_stored_with_every_row_of_ours():
    """Source: GRAG, Table 2 (tab-2); GRAG, Table 4 (tab-4); GRAG, Table 5 (tab-5)"""
    rows = load_expected("expla_graphs")["rows"]
    assert set(expla_rows()) <= set(rows)
    paper = {
        name: metrics["metrics"]["accuracy"]["paper"]
        for name, metrics in rows.items()
        if name.startswith("paper ")
    }
    assert paper["paper GRAG"] == 92.23 and paper["paper LLM only"] == 33.94 and len(paper) == 13
    top = rows["paper BM25"]["metrics"]
    assert [top[f"top-{k}"]["paper"] for k in (3, 5, 10)] == [57.04, 59.21, 60.11]


def test_what_cannot_be_read_or_split_is_one_sentence(tmp_path):
    (tmp_path / "latin.tsv").write_bytes(
        "arg1\targ2\tlabel\tgraph\ncaf\xe9\tb\tsupport\t(a; r; b)\n".encode("latin-1")
    )
    for name in ("latin.tsv", "missing.tsv", ""):
        with pytest.raises(MiniragError, match="cannot be read"):
            read_expla_graphs(tmp_path / name)
    with pytest.raises(MiniragError, match="4 or more"):
        split((), 0)
    with pytest.raises(MiniragError, match="has 2 parts"):
        parse_graph("(a; b)")
