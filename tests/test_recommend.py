"""`minirag recommend`: the decision table, its paths, its reasons."""

from itertools import product

import pytest
import yaml
from typer.testing import CliRunner

from minirag.cli import app
from minirag.cli.recommend import ASKED, MOST, WHEN, reasons, recommended
from minirag.core.errors import MiniragError
from minirag.corpora.shipped_and_folders import shipped
from minirag.evaluate import load_expected
from minirag.methods import METHODS

ROWS = yaml.safe_load((shipped("recommend.yaml")).read_text(encoding="utf-8"))["rows"]
# Methods of the survey that the kit may lack: their rows are passed over then.
FLAGS = "--questions facts --hops several --model yes --index much --tokens any --passages yes"


def run(*arguments, typed="", code=0):
    result = CliRunner().invoke(app, ["recommend", *arguments], input=typed)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def paths():
    """Every way through the questions, as answers."""
    values = {name: known for name, (_, known) in ASKED.items()} | {"tokens": ("any", "6000")}
    for chosen in product(*values.values()):
        answers = dict(zip(values, chosen))
        skipped = [name for name, (other, needed) in WHEN.items() if answers[other] != needed]
        yield {name: value for name, value in answers.items() if name not in skipped}


def test_every_method_that_is_named_exists():
    assert {row["method"] for row in ROWS} <= set(METHODS)
    named = {row["method"] for answers in paths() for row in recommended(answers)}
    assert named == {row["method"] for row in ROWS}


@pytest.mark.parametrize("answers", [a for a in paths() if a["model"] == "no"], ids=str)
def test_without_a_model_two_or_three_methods_run_offline(answers):
    named = recommended(answers)
    assert 2 <= len(named) <= MOST
    for row in named:
        method = METHODS[row["method"]]
        assert not method.needs_model and not method.needs_training


def test_answers_are_heeded():
    for answers in paths():
        for row in recommended(answers):
            assert row["for"] == answers["questions"]
            if answers["passages"] == "yes":
                assert {"Chunk", "Tree node"} & set(METHODS[row["method"]].granularity)
            if answers.get("tokens") == "6000":
                assert row["tokens"] <= 6000
            if answers.get("index") == "none":
                assert row["index"] == "none"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['method']} {row['for']}")
def test_every_reason_says_whose_it_is_and_each_number_stands_in_the_expected_values(row):
    given = reasons(row)
    assert given and all(whose in ("the survey", "measured here") for whose, _ in given)
    assert row.get("kit", "").count("{}") == len(row.get("cells", ()))
    for target, name, metric in row.get("cells", ()):
        stored = load_expected(target)["rows"][name]["metrics"][metric]["ours"]
        assert str(stored) in dict(given)["measured here"]


def test_flags_and_typed_answers_say_the_same():
    by_flags = run(*FLAGS.split()).stdout
    typed = "".join(f"{each}\n" for each in FLAGS.split()[1::2])
    asked = run(typed=typed).stdout
    assert asked.endswith(by_flags) and "hipporag-passages" in by_flags
    assert "Its settings were chosen on these questions" in by_flags
    offline = run(*"--questions themes --model no --passages yes".split()).stdout
    assert "they neither judge nor summarise" in offline and "they neither" not in by_flags


def test_what_is_no_answer_or_fits_nothing_is_told():
    said = run("--questions", "fact", code=2)
    assert "Did you mean 'facts'?" in said.stderr
    assert "answer to --tokens 'some'" in run(*FLAGS.replace("any", "some").split(), code=2).stderr
    poor = {"questions": "themes", "model": "yes", "index": "none", "tokens": "9", "passages": "no"}
    with pytest.raises(MiniragError, match="allow more --tokens"):
        recommended(poor)
