"""Task: the entities and relationships of a chunk, each with a description, as delimited tuples."""

import re

from .records import (
    EntityRecord,
    RelationshipRecord,
    clean,
    read_instances,
    write_records,
)
from .rules.cues import guess_type
from .rules.spans import STOP_WORDS, names_in, sentences_of
from .task import Task

ENTITY_TYPES = ("organization", "person", "geo", "event")
SYSTEM = (
    "You read a text and write down the elements of a graph: first its entities, then the relationships between those that are clearly "
    "related. One record in round brackets for each, fields separated by <|>, records by ##, and <|COMPLETE|> after the last."
)
FORM = """An entity: ("entity"<|>name<|>one of the types<|>what the text says of it, in full sentences)
A relationship: ("relationship"<|>name of one entity<|>name of another<|>why they are related<|>strength, a number from 1 to 10)"""
TEMPLATE = """Entity types: $entity_types

$form

$examples
Text:
$title
$text"""

EXAMPLE_TEXT = (
    "Harrowgate Observatory stands on Mount Orrin. It was founded in 1911 by Ilse Brandt, who discovered the comet Tamsin there. "
    "Since 1987 it has belonged to the University of Selm."
)
EXAMPLE_RECORDS = (
    EntityRecord(
        "Harrowgate Observatory",
        "organization",
        "An observatory on Mount Orrin, founded in 1911 and part of the University of Selm since 1987.",
    ),
    EntityRecord("Mount Orrin", "geo", "The mountain on which Harrowgate Observatory stands."),
    EntityRecord(
        "Ilse Brandt",
        "person",
        "The founder of Harrowgate Observatory, who discovered the comet Tamsin there.",
    ),
    EntityRecord(
        "University of Selm",
        "organization",
        "The university to which Harrowgate Observatory has belonged since 1987.",
    ),
    RelationshipRecord(
        "Harrowgate Observatory", "Mount Orrin", "The observatory stands on the mountain.", 7
    ),
    RelationshipRecord(
        "Ilse Brandt", "Harrowgate Observatory", "She founded the observatory in 1911.", 9
    ),
    RelationshipRecord(
        "University of Selm",
        "Harrowgate Observatory",
        "The university has owned the observatory since 1987.",
        8,
    ),
)
EXAMPLES = ((EXAMPLE_TEXT, write_records(EXAMPLE_RECORDS)),)


def show_examples(examples):
    """Few-shot examples, pairs of a text and the reply to it, as they stand in the prompt."""
    return "\n".join(f"Example text:\n{text}\nIts records:\n{reply}\n" for text, reply in examples)


def show(fields, form=FORM, examples=EXAMPLES):
    """Entity types and examples are the domain's own where they are given."""
    shown = {
        **fields,
        "form": form,
        "title": fields.get("title", ""),
        "examples": show_examples(fields.get("examples") or examples),
    }
    return {**shown, "entity_types": ", ".join(fields.get("entity_types") or ENTITY_TYPES)}


def find_elements(fields):
    """(entities, {(first, second): [(sentence, wording between them), ...]}) of a chunk, by rule."""
    title, text, asked = (
        clean(fields.get("title", "")),
        fields["text"],
        fields.get("entity_types") or ENTITY_TYPES,
    )
    title = re.sub(r"^The (?=[^\W\d_a-z])", "", title)
    whole, described, kinds, pairs = f"{title}\n{text}", {}, {}, {}
    for number, sentence in enumerate(sentences_of(text)):
        named = [
            (clean(sentence[a:b]), guess_type(sentence[a:b], sentence[:a]), a, b)
            for a, b in names_in(sentence, whole)
        ]
        named = [row for row in named if row[1] in asked or row[1] == "other"]
        lonely = len(named) == 1 and named[0][0] != title
        if title and (lonely or number == 0 and title.lower() not in text.lower()):
            named.insert(0, (title, guess_type(title), 0, 0))
        for name, kind, _, _ in named:
            described.setdefault(name, []).append(" ".join(sentence.split()))
            kinds.setdefault(name, kind)
        for (first, _, _, end), (second, _, start, _) in zip(named, named[1:]):
            if first != second:
                key = (second, first) if (second, first) in pairs else (first, second)
                pairs.setdefault(key, []).append((" ".join(sentence.split()), sentence[end:start]))
    return [
        EntityRecord(name, kinds[name], " ".join(dict.fromkeys(said)))
        for name, said in described.items()
    ], pairs


def rule(fields):
    """Every span that is written like a name, and neighbouring spans of a sentence as related;
    nothing is understood.

    The type is guessed from visible cues (`guess_type`), a span whose cue says a type that was not
    asked for is left out. The description is the sentences in which the name stands; a strength is
    the number of sentences in which the two are neighbours. The title joins a sentence that has one
    name only, and the first sentence if the text never says it.
    """
    entities, pairs = find_elements(fields)
    relationships = [
        RelationshipRecord(a, b, " ".join(dict.fromkeys(s for s, _ in said)), float(len(said)))
        for (a, b), said in pairs.items()
    ]
    return write_records([*entities, *relationships])


def keywords_between(wordings):
    """The longer words between two names, each once: all that a rule can offer for the theme of a
    relationship.
    """
    words = [word.lower() for wording in wordings for word in re.findall(r"[^\W\d_]{5,}", wording)]
    return (
        ", ".join(word for word in dict.fromkeys(words) if word not in STOP_WORDS)
        or "mentioned together"
    )


TASK = Task(
    name="elements",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=read_instances,
    rule=rule,
    max_tokens=4096,
    show=show,
)
