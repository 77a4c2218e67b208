"""Task: the named entities of a passage, the first half of open information extraction."""

import json

from .reading import read_items, read_text
from .rules.spans import names_of_passage, sentences_of
from .task import Task

SYSTEM = (
    "You read one passage of an encyclopaedia and list the named entities in it: people, places, organisations, works, events, "
    "things with a name of their own, and dates. Copy each one as it is written. Reply with one JSON object and nothing else."
)
TEMPLATE = """List the named entities of this passage as {"named_entities": [...]}.

Passage:
$title
$text"""

EXAMPLE_FIELDS = {
    "title": "Harrowgate Observatory",
    "text": "Harrowgate Observatory stands on Mount Orrin in northern Veldania. It was founded in 1911 by Ilse Brandt, who discovered "
    "the comet Tamsin there. Since 1987 it has belonged to the University of Selm.",
}
EXAMPLE_ENTITIES = (
    "Harrowgate Observatory",
    "Mount Orrin",
    "Veldania",
    "1911",
    "Ilse Brandt",
    "Tamsin",
    "1987",
    "University of Selm",
)


def parse(text):
    """The entities of a reply, in order, each once."""
    entities, dropped = read_items(text, "named_entities", read_text)
    return tuple(dict.fromkeys(entities)), dropped


def rule(fields):
    """The title, then the names and years of each sentence (quoted phrases and content words where
    there is no case).
    """
    title, text = fields["title"].strip(), fields["text"]
    names = [title] if title else []
    names += [
        part[start:end]
        for part in (title, *sentences_of(text))
        for start, end in names_of_passage(part, title, text)
    ]
    return json.dumps({"named_entities": list(dict.fromkeys(names))}, ensure_ascii=False)


TASK = Task(
    name="passage_entities",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    example=(EXAMPLE_FIELDS, json.dumps({"named_entities": EXAMPLE_ENTITIES})),
)
