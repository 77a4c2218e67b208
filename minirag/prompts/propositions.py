"""Task: split a passage into propositions, statements that are atomic and can be understood alone
(Propositionizer).
"""

import json

from .entities_and_triples import EXAMPLE_FIELDS
from .json_replies import read_items, read_text
from .rules.names import sentences_of
from .task import Fields, Task

SYSTEM = (
    "You split a passage into propositions. Each one is a single sentence that states one fact, and"
    " that can be understood without the others: take long sentences apart, and put names in the"
    " place of he, she, it, they, this and there. Leave nothing out and add nothing. Reply with one"
    " JSON object and nothing else."
)
TEMPLATE = """Write the propositions of this passage as {"propositions": [...]}.

Title: $title
Content: $text"""
EXAMPLE = (
    "Harrowgate Observatory stands on Mount Orrin.",
    "Mount Orrin lies in northern Veldania.",
    "Harrowgate Observatory was founded in 1911.",
    "Harrowgate Observatory was founded by Ilse Brandt.",
    "Ilse Brandt discovered the comet Tamsin at Harrowgate Observatory.",
    "Harrowgate Observatory has belonged to the University of Selm since 1987.",
)


def parse(text: str) -> tuple[tuple[str, ...], int]:
    """The propositions of a reply, in order, each once; a bare JSON list is read too."""
    found, dropped = read_items(text, "propositions", read_text)
    return tuple(dict.fromkeys(found)), dropped


def rule(fields: Fields) -> str:
    """Every sentence with the title in front of it. Not propositions: a sentence with two facts
    stays whole, and the title only hints at who "she" is.
    """
    title = fields["title"].strip()
    sentences = [sentence.strip() for sentence in sentences_of(fields["text"])]
    named = [
        f"{title}: {s}" if title and title.lower() not in s.lower() else s for s in sentences if s
    ]
    return json.dumps({"propositions": list(dict.fromkeys(named)) or [title]}, ensure_ascii=False)


PROPOSITIONS = Task(
    name="propositions",
    stage="index",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=2048,
    example=(EXAMPLE_FIELDS, json.dumps({"propositions": EXAMPLE})),
)
