"""Task: in one call, which of two answers is better by each of several criteria, and overall.

The survey's judge. Its prompt announces three criteria, lists four, and has slots for three and the
overall winner; here every criterion that is asked for has a slot. A judgement takes a model.
"""

from .judge import read_winner
from .reading import Pairs, read_text, read_values
from .task import Task

OVERALL = "overall winner"
SYSTEM = (
    "You compare two answers to the same question by several criteria. By each criterion, name the "
    "better answer and say why in one sentence; then name the overall winner by all of them. Reply "
    "with one JSON object and nothing beside it, with a key for each criterion and one more: "
    '{the criterion: {"winner": 1 or 2, "reason": why}, ..., '
    '"Overall Winner": {"winner": 1 or 2, "reason": why}}'
)
TEMPLATE = """Question: $question

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


def parse(text):
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


def show(fields):
    lines = [f"- {name.capitalize()}: {said}" for name, said in fields["criteria"].items()]
    return {**fields, "criteria": "\n".join(lines)}


TASK = Task(
    name="judge_overall",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    needs_model=True,
    max_tokens=1000,
    show=show,
)
