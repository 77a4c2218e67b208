"""Task: write a passage that would answer the question, true or not; only its vector is used
(HyDE).
"""

from .json_replies import LONGEST, THOUGHT
from .task import Task

SYSTEM = (
    "You write one short encyclopaedia passage that answers a question. If you do not know the"
    " answer, invent one that sounds right: the passage is used to find real passages like it and"
    " is never shown to anybody. Reply with the passage alone."
)


def parse(text: str) -> tuple[str, int]:
    """The reply as one paragraph; an empty reply is ("", 1)."""
    passage = " ".join(THOUGHT.sub(" ", text[:LONGEST]).split())
    return passage, int(not passage)


HYPOTHETICAL_DOCUMENT = Task(
    name="hypothetical_document",
    stage="retrieve",
    system=SYSTEM,
    template="Question: $question\n\nPassage:",
    parse=parse,
    needs_model=True,
    max_tokens=300,
)
