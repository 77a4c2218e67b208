"""Task: questions that need the whole collection. Inventing them takes a model; there is no rule."""

from .reading import read_items, read_text
from .task import Task

SYSTEM = (
    "You write questions that a user with a task would ask of a collection of texts. Each must need an understanding of the whole collection, and must not "
    'ask for a detail of one text. Reply with one JSON object and nothing beside it: {"questions": [a question, ...]}'
)
TEMPLATE = """The collection: $description
User: $user
Task: $activity

Write $count questions."""


def parse(text):
    """((question, ...), dropped)."""
    return read_items(text, "questions", read_text)


TASK = Task(
    name="global_questions",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    needs_model=True,
    max_tokens=1000,
)
