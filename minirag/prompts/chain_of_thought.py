"""Task: reason step by step without any passage, then say the answer behind a fixed marker."""

import re

from .reading import LONGEST, THOUGHT
from .task import Task

SYSTEM = (
    "You answer questions from what you know. First reason in a few short sentences. Then write one last sentence that starts with "
    '"The answer is" and holds the answer alone, as short as it can be.'
)
TEMPLATE = """Question: A bakery sells rolls in bags of six. How many bags are needed for 20 guests who eat two rolls each?
Reasoning: 20 guests who eat two rolls each eat 40 rolls. 40 divided by 6 is a little more than 6, so six bags are too few. The answer is 7.

Question: Did the author of Frankenstein live to see the first underground railway in London?
Reasoning: Frankenstein was written by Mary Shelley. She died in 1851. The first underground railway in London opened in 1863. The answer is no.

Question: Into which sea does the river flow on which Vienna stands?
Reasoning: Vienna stands on the Danube. The Danube flows into the Black Sea. The answer is the Black Sea.

Question: $question
Reasoning:"""
NEXT = re.compile(
    r"\n[ \t*]*question[ \t*]{0,9}:", re.IGNORECASE
)  # a model that goes on to ask itself something else
MARKER = re.compile(r"\bthe answer is\b[ \t]*:?", re.IGNORECASE)


def parse(text):
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


TASK = Task(
    name="chain_of_thought",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    needs_model=True,
    max_tokens=400,
)
