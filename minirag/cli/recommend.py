"""`minirag recommend`: a few questions about the questions, the model and the budget, and two or
three methods, each with a reason that says whose it is.

The decision table is `data/recommend.yaml`.
"""

from collections.abc import Mapping
from typing import Any

import typer

from ..core.errors import MiniragError
from .show import one_of, say

# What is asked, and the answers: the first is the default. `WHEN`: only after this other answer.
ASKED = {
    "questions": ("Do your questions ask for single facts, or for themes?", ("facts", "themes")),
    "hops": ("Does a fact stand in one passage, or in several?", ("one", "several")),
    "model": ("Is a language model at hand?", ("no", "yes")),
    "index": ("How many tokens may indexing cost?", ("none", "little", "much")),
    "tokens": ("How many tokens may a question cost? (any, or a number)", ("any",)),
    "passages": ("Must passages be shown as evidence?", ("yes", "no")),
}
WHEN = {"hops": ("questions", "facts"), "index": ("model", "yes"), "tokens": ("model", "yes")}
RULES = "Without a model, rules find names and sentences; they neither judge nor summarise."
MOST = 3  # methods that are named


def recommend(
    questions: str | None = typer.Option(None, help="facts or themes."),
    hops: str | None = typer.Option(None, help="Passages that hold a fact: one or several."),
    model: str | None = typer.Option(None, help="Is a language model at hand? yes or no."),
    index: str | None = typer.Option(None, help="Tokens of indexing: none, little or much."),
    tokens: str | None = typer.Option(None, help="Tokens a question may cost: any or a number."),
    passages: str | None = typer.Option(None, help="Must passages be shown? yes or no."),
) -> None:
    """Name two or three methods for your questions.

    What no option says is asked. Indexing costs little where a model reads each text once or
    twice, and much where it also describes entities and relations or writes reports. Each reason
    says whether the survey gives it (Zhou et al.) or this kit measured it.
    """
    given = dict(zip(ASKED, (questions, hops, model, index, tokens, passages)))
    answers: dict[str, str] = {}
    for name, (asked, known) in ASKED.items():
        other, needed = WHEN.get(name, ("", None))
        if answers.get(other) == needed:
            answer = given[name] or typer.prompt(f"{asked} {', '.join(known)}", default=known[0])
            number = name == "tokens" and answer.isdecimal()
            answers[name] = answer if number else one_of(answer, known, f"answer to --{name}")
    for place, row in enumerate(recommended(answers), start=1):
        say(f"{place}. {row['method']}", style="bold")
        say(*(f"   {whose}: {why}" for whose, why in reasons(row)))
    say(
        "", *[RULES] * (answers["model"] == "no"), "Next: minirag ask CORPUS QUESTION --method NAME"
    )


def recommended(answers: Mapping[str, str]) -> list[dict[str, Any]]:
    """The first rows of the table that fit the answers; without a model those that run offline,
    what this kit measured first.

    Raises `MiniragError` where none fits.
    """
    import yaml

    from ..corpora.shipped_and_folders import shipped
    from ..methods import METHODS

    rows = yaml.safe_load(shipped("recommend.yaml").read_text(encoding="utf-8"))["rows"]
    levels, budget = ASKED["index"][1], answers.get("tokens", "any")
    fitting = []
    for row in rows:
        if row["for"] != answers["questions"]:
            continue
        method = METHODS[row["method"]]
        near = answers.get("hops") in row.get("hops", [None])
        shown = answers["passages"] == "no" or {"Chunk", "Tree node"} & {*method.granularity}
        if answers["model"] == "no":
            runs = not (method.needs_model or method.needs_training)
        else:
            runs = levels.index(row["index"]) <= levels.index(answers["index"])
            runs = runs and (budget == "any" or row["tokens"] <= int(budget))
        fitting += [row] * bool(near and shown and runs)
    if answers["model"] == "no":  # the survey's reasons come from methods with a model
        fitting.sort(key=lambda row: "kit" not in row)
    if not fitting:
        raise MiniragError("no method fits: allow more --tokens for a question, or more --index.")
    return fitting[:MOST]


def reasons(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(whose reason it is, the reason) of a row; measured numbers come from `data/expected`."""
    from ..evaluate.metrics import load_expected

    cells = [
        load_expected(target)["rows"][name]["metrics"][metric]["ours"]
        for target, name, metric in row.get("cells", ())
    ]
    said = ("the survey", row.get("paper", "")), ("measured here", row.get("kit", ""))
    return [(whose, why.format(*cells)) for whose, why in said if why]
