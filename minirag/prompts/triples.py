"""Task: subject-relation-object triples of a passage, given its entities."""

import json
import re

from ..core.corpus import Triple
from .passage_entities import EXAMPLE_ENTITIES, EXAMPLE_FIELDS
from .reading import is_array, read_items, read_text
from .rules.spans import names_of_passage, sentences_of
from .task import Task

SYSTEM = (
    "You turn one passage into the edges of a knowledge graph. Write down what it states as triples of subject, relation and "
    "object. Use the listed entities wherever you can, at least one in every triple and two if possible; put a name in the place of "
    "he, she, it or they. Reply with one JSON object and nothing else."
)
TEMPLATE = """Write the statements of this passage as {"triples": [[subject, relation, object], ...]}.

Passage:
$title
$text

Entities: $entities"""
EXAMPLE_TRIPLES = (
    ("Harrowgate Observatory", "stands on", "Mount Orrin"),
    ("Mount Orrin", "lies in", "Veldania"),
    ("Harrowgate Observatory", "was founded in", "1911"),
    ("Harrowgate Observatory", "was founded by", "Ilse Brandt"),
    ("Ilse Brandt", "discovered", "Tamsin"),
    ("Tamsin", "is a", "comet"),
    ("Tamsin", "was discovered at", "Harrowgate Observatory"),
    ("Harrowgate Observatory", "belongs to", "University of Selm"),
    ("Harrowgate Observatory", "has belonged to the university since", "1987"),
)


def read_triple(item):
    """Three non-blank strings as a Triple; None for anything else, also for a triple that was cut
    off.
    """
    if (
        not is_array(item)
        or len(item) != 3
        or getattr(item, "cut", False)
        or getattr(item, "broken", 0)
    ):
        return None
    parts = [read_text(part) for part in item]
    return None if None in parts else Triple(*parts)


def parse(text):
    """The triples of a reply, in order; what the model says twice in one list counts twice, as in
    the authors' graphs.
    """
    return read_items(text, "triples", read_triple)


def rule(fields):
    """Edges from the title to every name in it or in the text, and between neighbouring names of a
    sentence. The listed entities are not used.

    The relation is the wording between two names if that is short, so that the triples read well;
    retrieval ignores it.
    """
    title, text = fields["title"].strip(), fields["text"]
    triples = [
        (title, "is about", title[start:end])
        for start, end in names_of_passage(title, title, text)
        if title[start:end] != title
    ]
    for sentence in sentences_of(text):
        spans = names_of_passage(sentence, title, text)
        names = [sentence[start:end] for start, end in spans]
        triples += [
            (title, "mentions", name)
            for name in dict.fromkeys(names)
            if title and name.lower() != title.lower()
        ]
        for (start, end), (next_start, next_end) in zip(spans, spans[1:]):
            first, second = sentence[start:end], sentence[next_start:next_end]
            if first.lower() != second.lower():
                triples.append((first, wording(sentence[end:next_start]), second))
    return json.dumps({"triples": list(dict.fromkeys(triples))}, ensure_ascii=False)


def wording(between):
    """The words between two spans as a relation, or "is near" where there are none or more than
    six.
    """
    words = re.sub(r"[^\w\s'’-]+", " ", between).split()
    return " ".join(words) if 1 <= len(words) <= 6 else "is near"


TASK = Task(
    name="triples",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=4096,
    show=lambda fields: {
        **fields,
        "entities": json.dumps(list(fields["entities"]), ensure_ascii=False),
    },
    example=(
        {**EXAMPLE_FIELDS, "entities": EXAMPLE_ENTITIES},
        json.dumps({"triples": EXAMPLE_TRIPLES}),
    ),
)
