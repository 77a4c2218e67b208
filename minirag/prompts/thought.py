"""Task: the next sentence of a chain of thought, given what was retrieved so far (IRCoT)."""

from .task import Task

SYSTEM = (
    "You reason towards an answer one sentence at a time. You see passages, a question and the sentences written so far. Write the one next "
    'sentence, using only facts from the passages. When the answer is reached, write "So the answer is:" and the answer.'
)
TEMPLATE = """Passages:

$passages

Question: $question
Thoughts so far: $thoughts"""


def parse(text):
    """The reply as one line; an empty reply is ("", 1)."""
    thought = " ".join(text.split())
    return thought, int(not thought)


TASK = Task(
    name="thought",
    stage="retrieve",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    needs_model=True,
    max_tokens=200,
    show=lambda fields: {**fields, "passages": "\n\n".join(fields["passages"]), "thoughts": " ".join(fields["thoughts"]) or "(none yet)"},
)
