"""Which of two answers is better: by one criterion, or in one call by each of several and overall.

A judgement takes a model; there is no rule. `judge_overall` is the survey's judge. Its prompt
announces three criteria, lists four, and has slots for three and the overall winner; here every
criterion that is asked for has a slot.
"""

import re

from .json_replies import Pairs, read_text, read_values
from .task import Task

JUDGE_SYSTEM = (
    "You compare two answers to the same question by one criterion and nothing else. Name the better one; call it a tie only if the answers are much alike and "
    "what sets them apart is negligible. Reply with one JSON object and nothing beside it: "
    '{"winner": 1 or 2, or 0 for a tie, "reason": why, in a few sentences}'
)
JUDGE_TEMPLATE = """Question: $question

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


def read_judgement(text):
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


JUDGE = Task(
    name="judge",
    stage="answer",
    system=JUDGE_SYSTEM,
    template=JUDGE_TEMPLATE,
    parse=read_judgement,
    needs_model=True,
    max_tokens=500,
)


OVERALL = "overall winner"
JUDGE_OVERALL_SYSTEM = (
    "You compare two answers to the same question by several criteria. By each criterion, name the "
    "better answer and say why in one sentence; then name the overall winner by all of them. Reply "
    "with one JSON object and nothing beside it, with a key for each criterion and one more: "
    '{the criterion: {"winner": 1 or 2, "reason": why}, ..., '
    '"Overall Winner": {"winner": 1 or 2, "reason": why}}'
)
JUDGE_OVERALL_TEMPLATE = """Question: $question

Criteria:
$criteria

Answer 1:
$first

Answer 2:
$second"""


def first_text(pairs, *keys):
    """The first text under one of the keys; "" where there is none."""
    found = [text for key in keys for value in pairs.lookup(key) if (text := read_text(value))]
    return found[0] if found else ""


def read_judgements(text):
    """(((criterion, winner, reason), ...), dropped), criteria in lower case, each once; 0 is a tie.

    An entry whose winner cannot be read is dropped and counted, as is a reply without any entry.
    """
    unread, read = 0, {}
    for pairs in read_values(text)[1]:
        for key, value in pairs:
            if isinstance(key, str) and isinstance(value, Pairs) and value.lookup("winner"):
                winner = read_winner(first_text(value, "winner"))
                unread += winner is None
                if winner is not None:
                    criterion = " ".join(key.lower().replace("_", " ").split())
                    read.setdefault(criterion, (winner, first_text(value, "reason", "explanation")))
    verdicts = tuple((criterion, *verdict) for criterion, verdict in read.items())
    return verdicts, max(unread, int(not read))


def show_criteria(fields):
    lines = [f"- {name.capitalize()}: {said}" for name, said in fields["criteria"].items()]
    return {**fields, "criteria": "\n".join(lines)}


JUDGE_OVERALL = Task(
    name="judge_overall",
    stage="answer",
    system=JUDGE_OVERALL_SYSTEM,
    template=JUDGE_OVERALL_TEMPLATE,
    parse=read_judgements,
    needs_model=True,
    max_tokens=1000,
    show=show_criteria,
)
