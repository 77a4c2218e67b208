"""Task: answer a question from what the model knows, without any passage."""

from .answer import parse
from .task import Task

SYSTEM = (
    'You answer questions from what you know. Write nothing but one line that starts with "Answer:" and holds the answer alone, as short as it can '
    "be: a name, a date, a number, yes or no."
)

TASK = Task(
    name="direct",
    stage="answer",
    system=SYSTEM,
    template="Question: $question",
    parse=parse,
    needs_model=True,
    max_tokens=100,
    example=(
        {"question": "Which planet of the solar system has the most mass?"},
        "Answer: Jupiter",
    ),
)
