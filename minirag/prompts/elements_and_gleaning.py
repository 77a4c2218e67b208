"""The entities and relationships of a chunk, each with a description, as delimited tuples; and the
turns that ask for those that were missed.

`rich_elements` also asks for a relationship's keywords, as LightRAG does. `glean_check` asks whether
entities were missed, and so whether a chunk is gleaned once more; `gleaning` asks for the missing
ones.

Differs from the paper in: it biases two tokens by 100 to force a yes or a no. Token numbers differ
from model to model, so here the prompt asks for one word and the parser takes the first yes or no.
"""

import re
from functools import partial

from .records import (
    EntityRecord,
    RelationshipRecord,
    clean,
    read_instances,
    read_rich_relationship,
    write_records,
)
from .rules.entity_types import guess_type
from .rules.names import STOP_WORDS, names_in, sentences_of
from .task import Task

ENTITY_TYPES = ("organization", "person", "geo", "event")
ELEMENTS_SYSTEM = (
    "You read a text and write down the elements of a graph: first its entities, then the relationships between those that are clearly "
    "related. One record in round brackets for each, fields separated by <|>, records by ##, and <|COMPLETE|> after the last."
)
FORM = """An entity: ("entity"<|>name<|>one of the types<|>what the text says of it, in full sentences)
A relationship: ("relationship"<|>name of one entity<|>name of another<|>why they are related<|>strength, a number from 1 to 10)"""
ELEMENTS_TEMPLATE = """Entity types: $entity_types

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


def show_elements(fields, form=FORM, examples=EXAMPLES):
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
        if title and (lonely or (number == 0 and title.lower() not in text.lower())):
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


def elements_by_rule(fields):
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


ELEMENTS = Task(
    name="elements",
    stage="build",
    system=ELEMENTS_SYSTEM,
    template=ELEMENTS_TEMPLATE,
    parse=read_instances,
    rule=elements_by_rule,
    max_tokens=4096,
    show=show_elements,
)


RICH_FORM = """An entity: ("entity"<|>name<|>one of the types<|>what the text says of it, in full sentences)
A relationship: ("relationship"<|>name of one entity<|>name of another<|>why they are related<|>keywords for the theme of the relationship, \
separated by commas<|>strength, a number from 1 to 10)"""
KEYWORDS = iter(["location, landscape", "founding, astronomy", "ownership, higher education"])
RICH_EXAMPLE = [
    record._replace(keywords=next(KEYWORDS)) if isinstance(record, RelationshipRecord) else record
    for record in EXAMPLE_RECORDS
]
RICH_EXAMPLES = ((EXAMPLE_TEXT, write_records(RICH_EXAMPLE)),)


def rich_elements_by_rule(fields):
    """As the rule for `elements`; keywords are the longer words that stand between the two names."""
    entities, pairs = find_elements(fields)
    relationships = [
        RelationshipRecord(
            a,
            b,
            " ".join(dict.fromkeys(s for s, _ in said)),
            float(len(said)),
            keywords_between(wording for _, wording in said),
        )
        for (a, b), said in pairs.items()
    ]
    return write_records([*entities, *relationships])


RICH_ELEMENTS = Task(
    name="rich_elements",
    stage="build",
    system=ELEMENTS_SYSTEM,
    template=ELEMENTS_TEMPLATE,
    parse=partial(read_instances, relationship=read_rich_relationship),
    rule=rich_elements_by_rule,
    max_tokens=4096,
    show=partial(show_elements, form=RICH_FORM, examples=RICH_EXAMPLES),
)


GLEAN_CHECK_SYSTEM = (
    "You check whether a list of records covers a text. You reply with one word, YES or NO."
)
GLEAN_CHECK_TEMPLATE = """Entity types: $entity_types

Text:
$title
$text

Records so far:
$records

Were entities of these types missed? Reply YES if some were, NO if all are there."""
WORD = re.compile(r"\b(yes|no|y|n)\b", re.IGNORECASE)


def read_glean_check(text):
    """(True if entities were missed, dropped): the first yes or no of the reply; a reply without
    one counts as no.
    """
    found = WORD.search(text[:2000])
    return bool(found) and found[1][0].lower() == "y", int(not found)


def unlisted(fields):
    """The entities that the rule finds in the text and that the records so far do not name."""
    listed = {record.name.casefold() for record in read_instances(fields["records"])[0].entities}
    return [record for record in find_elements(fields)[0] if record.name.casefold() not in listed]


def glean_check_by_rule(fields):
    """YES while a name that the rule for `elements` finds is not listed. That rule lists all it
    finds, so after it the answer is NO.
    """
    return "YES" if unlisted(fields) else "NO"


def show_glean_check(fields):
    return {
        **fields,
        "title": fields.get("title", ""),
        "entity_types": ", ".join(fields.get("entity_types") or ENTITY_TYPES),
    }


GLEAN_CHECK = Task(
    name="glean_check",
    stage="build",
    system=GLEAN_CHECK_SYSTEM,
    template=GLEAN_CHECK_TEMPLATE,
    parse=read_glean_check,
    rule=glean_check_by_rule,
    max_tokens=64,
    show=show_glean_check,
)


GLEANING_TEMPLATE = """Entity types: $entity_types

$form

Text:
$title
$text

Records so far:
$records

MANY entities of this text are still missing. Write the missing ones, and their relationships, in the same form; repeat none."""


def gleaning_by_rule(fields):
    """The entities that are not listed yet, and the relationships in which one of them stands."""
    missing = unlisted(fields)
    names = {record.name for record in missing}
    pairs = find_elements(fields)[1]
    related = [
        RelationshipRecord(a, b, " ".join(dict.fromkeys(s for s, _ in said)), float(len(said)))
        for (a, b), said in pairs.items()
        if a in names or b in names
    ]
    return write_records([*missing, *related])


def read_gleaning(text):
    """As `elements`, or as `rich_elements` where a relationship has a sixth field."""
    return read_instances(text, read_rich_relationship)


def show_gleaning(fields):
    return show_elements(fields, RICH_FORM if fields.get("rich") else FORM)


GLEANING = Task(
    name="gleaning",
    stage="build",
    system=ELEMENTS_SYSTEM,
    template=GLEANING_TEMPLATE,
    parse=read_gleaning,
    rule=gleaning_by_rule,
    max_tokens=4096,
    show=show_gleaning,
)
