"""Task: were entities missed? The question that decides whether a chunk is gleaned once more.

Differs from the paper in: it biases two tokens by 100 to force a yes or a no. Token numbers differ
from model to model, so here the prompt asks for one word and the parser takes the first yes or no.
"""

import re

from .elements import ENTITY_TYPES, find_elements
from .records import read_instances
from .task import Task

SYSTEM = "You check whether a list of records covers a text. You reply with one word, YES or NO."
TEMPLATE = """Entity types: $entity_types

Text:
$title
$text

Records so far:
$records

Were entities of these types missed? Reply YES if some were, NO if all are there."""
WORD = re.compile(r"\b(yes|no|y|n)\b", re.IGNORECASE)


def parse(text):
    """(True if entities were missed, dropped): the first yes or no of the reply; a reply without
    one counts as no.
    """
    found = WORD.search(text[:2000])
    return bool(found) and found[1][0].lower() == "y", int(not found)


def unlisted(fields):
    """The entities that the rule finds in the text and that the records so far do not name."""
    listed = {record.name.casefold() for record in read_instances(fields["records"])[0].entities}
    return [record for record in find_elements(fields)[0] if record.name.casefold() not in listed]


def rule(fields):
    """YES while a name that the rule for `elements` finds is not listed. That rule lists all it
    finds, so after it the answer is NO.
    """
    return "YES" if unlisted(fields) else "NO"


def show(fields):
    return {
        **fields,
        "title": fields.get("title", ""),
        "entity_types": ", ".join(fields.get("entity_types") or ENTITY_TYPES),
    }


TASK = Task(
    name="glean_check",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=64,
    show=show,
)
