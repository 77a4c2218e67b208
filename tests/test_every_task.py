"""Whatever a model replies to whatever task: the parser returns a value of the same kind and a
count, and raises nothing.
"""

import json
import random

import pytest

from minirag.prompts import TASKS

RECORDS = (
    '("entity"<|>ADA<|>PERSON<|>A clock maker)##("entity"<|>SELM<|>GEO<|>A port)##'
    '("relationship"<|>ADA<|>SELM<|>Ada was born in Selm<|>origin<|>7)##'
    '("ADA"<|>SELM<|>BIRTH<|>TRUE<|>1870<|>1870<|>Ada came from Selm<|>"born in Selm")<|COMPLETE|>'
)
FINDINGS = [{"summary": "Trade", "explanation": "Whale oil [n1]."}]
REPORT = {
    "title": "Selm",
    "summary": "A port.",
    "rating": 6,
    "rating_explanation": "Busy.",
    "findings": FINDINGS,
}
REPLIES = (
    RECORDS,
    json.dumps(REPORT),
    json.dumps({"points": [{"description": "Floods worry the town [n3].", "score": 80}]}),
    json.dumps({"answer": "Floods.", "score": 55}),
    json.dumps(
        {
            "named_entities": ["Ada", "Selm"],
            "triples": [["Ada", "born in", "Selm"]],
            "propositions": ["Ada was born in Selm."],
        }
    ),
    json.dumps(
        {
            "high_level_keywords": ["trade"],
            "low_level_keywords": ["Ada", "Selm"],
            "questions": ["Who?"],
            "users": [{"name": "x", "tasks": ["y"]}],
        }
    ),
    json.dumps({"winner": 1, "explanation": "It says more."}),
    (
        "Thought: Ada was born in Selm. So the answer is: Selm\nThe answer is Selm.\nAnswer: "
        "Selm\nSCORE: 70"
    ),
    "YES",
)
JUNK = ["", " ", "\x00", "[" * 60, "{" * 60, '"' * 9, "<|>" * 20, "##" * 20, "(" * 40]
JUNK += ["实体：北京", "أسماء", "\ud800", "nan", "1e999", "-1", "null", "NO", "no.", "\u2028"]


def breakages(rng):
    """A reply, then up to three things that go wrong with it."""
    text = rng.choice(REPLIES)
    for _ in range(rng.randint(1, 3)):
        place, other = rng.randrange(len(text) + 1), rng.choice(REPLIES)
        text = rng.choice(
            [
                text[:place],
                text[place:],
                text + text,
                text[:place] + rng.choice(JUNK) + text[place:],
                f"Sure! {text} Anything else?",
                f"```json\n{text}\n```",
                text + other,
                text.replace('"', "'"),
                text.replace("<|>", rng.choice(["|", "<|", "\t"])),
                text.swapcase(),
                json.dumps(text),
                json.dumps([text, None, 3]),
            ]
        )
    return text


@pytest.mark.parametrize("name", sorted(TASKS))
def test_two_thousand_breakages_never_raise(name):
    rng, parse = random.Random(name), TASKS[name].parse
    kinds = set()
    for text in [*JUNK, *(breakages(rng) for _ in range(2000))]:
        value, dropped = parse(text)
        assert isinstance(dropped, int) and dropped >= 0
        kinds.add(type(value))
    assert len(kinds - {type(None)}) == 1, kinds


@pytest.mark.parametrize("name", sorted(TASKS))
def test_an_empty_reply_is_counted(name):
    assert TASKS[name].parse("")[1] >= 1
