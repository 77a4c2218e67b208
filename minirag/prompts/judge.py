"""Task: which of two answers is better by one criterion. A judgement takes a model; there is no
rule.
"""

import re

from .reading import read_text, read_values
from .task import Task

SYSTEM = (
    "You compare two answers to the same question by one criterion and nothing else. Name the better one; call it a tie only if the answers are much alike and "
    "what sets them apart is negligible. Reply with one JSON object and nothing beside it: "
    '{"winner": 1 or 2, or 0 for a tie, "reason": why, in a few sentences}'
)
TEMPLATE = """Question: $question

Criterion: $criterion. $definition

Answer 1:
$first

Answer 2:
$second"""
WINNER = re.compile(r"\s*(?:answer\s*)?([012])\b", re.IGNORECASE)
TIE = re.compile(r"\s*(?:tie|both|neither|none|equal)\b", re.IGNORECASE)


def read_winner(value):
    """1, 2, or 0 for a tie; None where it says something else."""
    said = (read_text(value) or "").strip("[]* ")
    match = WINNER.match(said)
    return int(match[1]) if match else 0 if TIE.match(said) else None


def parse(text):
    """((winner, reason), dropped); (None, reply) where no winner can be read, which is no tie."""
    for pairs in read_values(text)[1]:
        for value in pairs.lookup("winner"):
            winner = read_winner(value)
            if winner is not None:
                return (
                    winner,
                    next((read_text(v) for v in pairs.lookup("reason") if read_text(v)), ""),
                ), 0
    return (None, text[:200].strip()), 1


TASK = Task(
    name="judge",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    needs_model=True,
    max_tokens=500,
)
