"""What an evaluation without gold answers asks: questions, and which of two answers is better.

`user_tasks` and `global_questions` invent who might use a collection of texts, for what, and
questions that need the whole collection. `judge` compares two answers by one criterion,
`judge_overall` in one call by each of several and overall. That is the survey's judge: its prompt
announces three criteria, lists four, and has slots for three and the overall winner; here every
criterion that is asked for has a slot. All of this takes a model; there is no rule.
"""

import re

from .json_replies import Pairs, is_array, read_items, read_text, read_values
from .task import Fields, Task


def read_user(item: object) -> tuple[str, tuple[str, ...]] | None:
    """(user, tasks), each task once; None where the user or all tasks are missing."""
    if not isinstance(item, Pairs):
        return None
    user = item.first_text("user")
    lists = [value for value in item.lookup("tasks") if is_array(value)]
    tasks = dict.fromkeys(text for tasks in lists for task in tasks if (text := read_text(task)))
    return (user, tuple(tasks)) if user and tasks else None


def read_user_tasks(text: str) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], int]:
    """(((user, (task, ...)), ...), dropped)."""
    return read_items(text, "users", read_user)


USER_TASKS = Task(
    name="user_tasks",
    stage="build",
    system=(
        "You imagine who would want to make sense of a collection of texts as a whole. Reply with"
        ' one JSON object and nothing beside it: {"users": [{"user": who, with an interest,'
        ' "tasks": [what this user wants to find out about the collection as a whole, ...]}, ...]}'
    ),
    template="""The collection: $description

Name $users users with $tasks tasks each.""",
    parse=read_user_tasks,
    needs_model=True,
    max_tokens=2000,
)


def read_global_questions(text: str) -> tuple[tuple[str, ...], int]:
    """((question, ...), dropped)."""
    return read_items(text, "questions", read_text)


GLOBAL_QUESTIONS = Task(
    name="global_questions",
    stage="build",
    system=(
        "You write questions that a user with a task would ask of a collection of texts. Each must"
        " need an understanding of the whole collection, and must not ask for a detail of one text."
        ' Reply with one JSON object and nothing beside it: {"questions": [a question, ...]}'
    ),
    template="""The collection: $description
User: $user
Task: $activity

Write $count questions.""",
    parse=read_global_questions,
    needs_model=True,
    max_tokens=1000,
)


WINNER = re.compile(r"\s*(?:answer\s*)?([012])\b", re.IGNORECASE)
TIE = re.compile(r"\s*(?:tie|both|neither|none|equal)\b", re.IGNORECASE)


def read_winner(value: object) -> int | None:
    """1, 2, or 0 for a tie; None where it says something else."""
    words = (read_text(value) or "").strip("[]* ")
    if match := WINNER.match(words):
        return int(match[1])
    return 0 if TIE.match(words) else None


def read_judgement(text: str) -> tuple[tuple[int | None, str], int]:
    """((winner, reason), dropped); (None, reply) where no winner can be read, which is no tie."""
    for pairs in read_values(text)[1]:
        for value in pairs.lookup("winner"):
            winner = read_winner(value)
            if winner is not None:
                return (winner, pairs.first_text("reason")), 0
    return (None, text[:200].strip()), 1


JUDGE = Task(
    name="judge",
    stage="answer",
    system=(
        "You compare two answers to the same question by one criterion and nothing else. Name the"
        " better one; call it a tie only if the answers are much alike and what sets them apart is"
        ' negligible. Reply with one JSON object and nothing beside it: {"winner": 1 or 2, or 0 for'
        ' a tie, "reason": why, in a few sentences}'
    ),
    template="""Question: $question

Criterion: $criterion. $definition

Answer 1:
$first

Answer 2:
$second""",
    parse=read_judgement,
    needs_model=True,
    max_tokens=500,
)


OVERALL = "overall winner"


def read_judgements(text: str) -> tuple[tuple[tuple[str, int, str], ...], int]:
    """(((criterion, winner, reason), ...), dropped), criteria in lower case, each once; 0 is a tie.

    An entry whose winner cannot be read is dropped and counted, as is a reply without any entry.
    """
    unread = 0
    verdicts: dict[str, tuple[str, int, str]] = {}
    for pairs in read_values(text)[1]:
        for key, value in pairs:
            if isinstance(key, str) and isinstance(value, Pairs) and value.lookup("winner"):
                winner = read_winner(value.first_text("winner"))
                unread += winner is None
                if winner is not None:
                    criterion = " ".join(key.lower().replace("_", " ").split())
                    reason = value.first_text("reason", "explanation")
                    verdicts.setdefault(criterion, (criterion, winner, reason))
    return tuple(verdicts.values()), max(unread, int(not verdicts))


def show_criteria(fields: Fields) -> Fields:
    """The criteria as a list."""
    lines = [f"- {name.capitalize()}: {meant}" for name, meant in fields["criteria"].items()]
    return {**fields, "criteria": "\n".join(lines)}


JUDGE_OVERALL = Task(
    name="judge_overall",
    stage="answer",
    system=(
        "You compare two answers to the same question by several criteria. By each criterion, name"
        " the better answer and say why in one sentence; then name the overall winner by all of"
        " them. Reply with one JSON object and nothing beside it, with a key for each criterion and"
        ' one more: {the criterion: {"winner": 1 or 2, "reason": why}, ..., "Overall Winner":'
        ' {"winner": 1 or 2, "reason": why}}'
    ),
    template="""Question: $question

Criteria:
$criteria

Answer 1:
$first

Answer 2:
$second""",
    parse=read_judgements,
    needs_model=True,
    max_tokens=1000,
    show=show_criteria,
)
