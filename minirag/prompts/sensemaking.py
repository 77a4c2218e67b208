"""Who might use a collection of texts and for what, and questions that need the whole collection.

Inventing them takes a model; there is no rule.
"""

from .json_replies import Pairs, is_array, read_items, read_text
from .task import Task

USER_TASKS_SYSTEM = (
    "You imagine who would want to make sense of a collection of texts as a whole. Reply with one"
    ' JSON object and nothing beside it: {"users": [{"user": who, with an interest, "tasks": [what'
    " this user wants to find out about the collection as a whole, ...]}, ...]}"
)
USER_TASKS_TEMPLATE = """The collection: $description

Name $users users with $tasks tasks each."""


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
    system=USER_TASKS_SYSTEM,
    template=USER_TASKS_TEMPLATE,
    parse=read_user_tasks,
    needs_model=True,
    max_tokens=2000,
)


GLOBAL_QUESTIONS_SYSTEM = (
    "You write questions that a user with a task would ask of a collection of texts. Each must need"
    " an understanding of the whole collection, and must not ask for a detail of one text. Reply"
    ' with one JSON object and nothing beside it: {"questions": [a question, ...]}'
)
GLOBAL_QUESTIONS_TEMPLATE = """The collection: $description
User: $user
Task: $activity

Write $count questions."""


def read_global_questions(text: str) -> tuple[tuple[str, ...], int]:
    """((question, ...), dropped)."""
    return read_items(text, "questions", read_text)


GLOBAL_QUESTIONS = Task(
    name="global_questions",
    stage="build",
    system=GLOBAL_QUESTIONS_SYSTEM,
    template=GLOBAL_QUESTIONS_TEMPLATE,
    parse=read_global_questions,
    needs_model=True,
    max_tokens=1000,
)
