"""Reasoning written out: all of it without any passage, or one sentence at a time beside passages.

`chain_of_thought` reasons from what the model knows and says the answer behind a fixed marker.
`thought` is the next sentence, given what was retrieved so far (IRCoT); one worked example stands
in its instruction, as in the released code: passages, a question and all thoughts that answer it.
"""

import re
from string import Template

from .answer import ANSWER_EXAMPLE, show_passages
from .json_replies import LONGEST, THOUGHT
from .task import Fields, Task

CHAIN_OF_THOUGHT_SYSTEM = (
    "You answer questions from what you know. First reason in a few short sentences. Then write one"
    ' last sentence that starts with "The answer is" and holds the answer alone, as short as it'
    " can be."
)
CHAIN_OF_THOUGHT_TEMPLATE = """Question: A bakery sells rolls in bags of six. How many bags are \
needed for 20 guests who eat two rolls each?
Reasoning: 20 guests who eat two rolls each eat 40 rolls. 40 divided by 6 is a little more than \
6, so six bags are too few. The answer is 7.

Question: Did the author of Frankenstein live to see the first underground railway in London?
Reasoning: Frankenstein was written by Mary Shelley. She died in 1851. The first underground \
railway in London opened in 1863. The answer is no.

Question: Into which sea does the river flow on which Vienna stands?
Reasoning: Vienna stands on the Danube. The Danube flows into the Black Sea. The answer is the \
Black Sea.

Question: $question
Reasoning:"""
# Where a model goes on to ask itself something else.
NEXT = re.compile(r"\n[ \t*]*question[ \t*]{0,9}:", re.IGNORECASE)
MARKER = re.compile(r"\bthe answer is\b[ \t]*:?", re.IGNORECASE)


def read_chain_of_thought(text: str) -> tuple[str, int]:
    """What follows the last "The answer is", up to the end of its line; ("", 1) where the marker is
    missing or nothing follows.

    The marker is all that is read: a reply that reasons well and never says it counts as
    unreadable.
    """
    text = NEXT.split(THOUGHT.sub(" ", text[:LONGEST]), maxsplit=1)[0]
    marks = list(MARKER.finditer(text))
    if not marks:
        return "", 1
    line = text[marks[-1].end() :].strip().partition("\n")[0]
    answer = line.strip(" \t*`\"'").rstrip(".!").strip(" \t*`\"'")
    return answer, int(not answer)


CHAIN_OF_THOUGHT = Task(
    name="chain_of_thought",
    stage="answer",
    system=CHAIN_OF_THOUGHT_SYSTEM,
    template=CHAIN_OF_THOUGHT_TEMPLATE,
    parse=read_chain_of_thought,
    needs_model=True,
    max_tokens=400,
)


THOUGHT_TEMPLATE = """Passages:

$passages

Question: $question
Thoughts so far: $thoughts"""


def show_thought(fields: Fields) -> Fields:
    """The passages, and the thoughts so far, as one text each."""
    return {**show_passages(fields), "thoughts": " ".join(fields["thoughts"]) or "(none yet)"}


CHAIN = (
    "Harrowgate Observatory was founded by Ilse Brandt.",
    "Ilse Brandt was born in Selm.",
    "So the answer is: Selm",
)
THOUGHT_SYSTEM = (
    "You reason towards an answer one sentence at a time. You see passages, a question and the "
    "sentences written so far. Write the one next sentence, using only facts from the passages. "
    'When the answer is reached, write "So the answer is:" and the answer. Here is a question with '
    "all its thoughts; write one at a time.\n\n"
    + Template(THOUGHT_TEMPLATE).substitute(show_thought({**ANSWER_EXAMPLE[0], "thoughts": CHAIN}))
)


def read_thought(text: str) -> tuple[str, int]:
    """The reply as one line; an empty reply is ("", 1)."""
    thought = " ".join(text.split())
    return thought, int(not thought)


NEXT_THOUGHT = Task(
    name="thought",
    stage="retrieve",
    system=THOUGHT_SYSTEM,
    template=THOUGHT_TEMPLATE,
    parse=read_thought,
    needs_model=True,
    max_tokens=200,
    show=show_thought,
)
