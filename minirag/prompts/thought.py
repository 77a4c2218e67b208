"""Task: the next sentence of a chain of thought, given what was retrieved so far (IRCoT).

One worked example stands in the instruction, as in the released code: passages, a question and the
whole chain of thought that answers it.
"""

from string import Template

from .answer import EXAMPLE
from .task import Task

TEMPLATE = """Passages:

$passages

Question: $question
Thoughts so far: $thoughts"""


def show(fields):
    thoughts = " ".join(fields["thoughts"]) or "(none yet)"
    return {**fields, "passages": "\n\n".join(fields["passages"]), "thoughts": thoughts}


CHAIN = (
    "Harrowgate Observatory was founded by Ilse Brandt.",
    "Ilse Brandt was born in Selm.",
    "So the answer is: Selm",
)
SYSTEM = (
    "You reason towards an answer one sentence at a time. You see passages, a question and the "
    "sentences written so far. Write the one next sentence, using only facts from the passages. "
    'When the answer is reached, write "So the answer is:" and the answer. Here is a question with '
    "all its thoughts; write one at a time.\n\n"
    + Template(TEMPLATE).substitute(show({**EXAMPLE[0], "thoughts": CHAIN}))
)


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
    show=show,
)
