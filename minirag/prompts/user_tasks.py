"""Task: who might use a collection of texts, and for what. Inventing them takes a model; there is
no rule.
"""

from .reading import Pairs, is_array, read_items, read_text
from .task import Task

SYSTEM = (
    "You imagine who would want to make sense of a collection of texts as a whole. Reply with one JSON object and nothing beside it: "
    '{"users": [{"user": who, with an interest, "tasks": [what this user wants to find out about the collection as a whole, ...]}, ...]}'
)
TEMPLATE = """The collection: $description

Name $users users with $tasks tasks each."""


def read_user(item):
    if not isinstance(item, Pairs):
        return None
    user = next((read_text(value) for value in item.lookup("user") if read_text(value)), None)
    tasks = [read_text(task) for value in item.lookup("tasks") if is_array(value) for task in value]
    return (
        (user, tuple(task for task in dict.fromkeys(tasks) if task))
        if user and any(tasks)
        else None
    )


def parse(text):
    """(((user, (task, ...)), ...), dropped)."""
    return read_items(text, "users", read_user)


TASK = Task(
    name="user_tasks",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    needs_model=True,
    max_tokens=2000,
)
