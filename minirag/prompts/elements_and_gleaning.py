"""The entities and relationships of a chunk, each with a description, as delimited tuples; and the
turns that ask for those that were missed.

`rich_elements` also asks for a relationship's keywords, as LightRAG does. `glean_check` asks
whether entities were missed, and so whether a chunk is gleaned once more; `gleaning` asks for the
missing ones.

Differs from the paper in: it biases two tokens by 100 to force a yes or a no. Token numbers differ
from model to model, so here the prompt asks for one word and the parser takes the first yes or no.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise

from ..text.chunking import sentences_of
from .records import (
    EntityRecord,
    RelationshipRecord,
    clean,
    read_instances,
    read_rich_instances,
    write_records,
)
from .rules import STOP_WORDS, guess_type, names_in
from .task import Fields, Task

ENTITY_TYPES = ("organization", "person", "geo", "event")
ELEMENTS_SYSTEM = (
    "You read a text and write down the elements of a graph: first its entities, then the"
    " relationships between those that are clearly related. One record in round brackets for each,"
    " fields separated by <|>, records by ##, and <|COMPLETE|> after the last."
)
FORM = """An entity: ("entity"<|>name<|>one of the types<|>what the text says of it, in full \
sentences)
A relationship: ("relationship"<|>name of one entity<|>name of another<|>why they are \
related<|>strength, a number from 1 to 10)"""
ELEMENTS_TEMPLATE = """Entity types: $entity_types

$form

$examples
Text:
$title
$text"""

EXAMPLE_TEXT = (
    "Harrowgate Observatory stands on Mount Orrin. It was founded in 1911 by Ilse Brandt, who "
    "discovered the comet Tamsin there. Since 1987 it has belonged to the University of Selm."
)
OBSERVATORY = "Harrowgate Observatory"
IN_SHORT = (
    "An observatory on Mount Orrin, founded in 1911 and part of the University of Selm since 1987."
)
FOUNDER = "The founder of Harrowgate Observatory, who discovered the comet Tamsin there."
OWNER = "The university to which Harrowgate Observatory has belonged since 1987."
OWNED = "The university has owned the observatory since 1987."
EXAMPLE_ENTITIES = (
    EntityRecord(OBSERVATORY, "organization", IN_SHORT),
    EntityRecord("Mount Orrin", "geo", "The mountain on which Harrowgate Observatory stands."),
    EntityRecord("Ilse Brandt", "person", FOUNDER),
    EntityRecord("University of Selm", "organization", OWNER),
)
EXAMPLE_RELATIONSHIPS = (
    RelationshipRecord(OBSERVATORY, "Mount Orrin", "The observatory stands on the mountain.", 7),
    RelationshipRecord("Ilse Brandt", OBSERVATORY, "She founded the observatory in 1911.", 9),
    RelationshipRecord("University of Selm", OBSERVATORY, OWNED, 8),
)
EXAMPLE_KEYWORDS = ("location, landscape", "founding, astronomy", "ownership, higher education")
EXAMPLES = ((EXAMPLE_TEXT, write_records([*EXAMPLE_ENTITIES, *EXAMPLE_RELATIONSHIPS])),)
RICH_RELATIONSHIPS = [
    record._replace(keywords=keywords)
    for record, keywords in zip(EXAMPLE_RELATIONSHIPS, EXAMPLE_KEYWORDS, strict=True)
]
RICH_EXAMPLES = ((EXAMPLE_TEXT, write_records([*EXAMPLE_ENTITIES, *RICH_RELATIONSHIPS])),)

Examples = Sequence[tuple[str, str]]
Pairs = dict[tuple[str, str], list[tuple[str, str]]]


def show_examples(examples: Examples) -> str:
    """Few-shot examples, pairs of a text and the reply to it, as they stand in the prompt."""
    return "\n".join(f"Example text:\n{text}\nIts records:\n{reply}\n" for text, reply in examples)


def show_elements(fields: Fields, form: str = FORM, examples: Examples = EXAMPLES) -> Fields:
    """Entity types and examples are the domain's own where they are given."""
    shown = show_examples(fields.get("examples") or examples)
    return {**show_types(fields), "form": form, "examples": shown}


def show_types(fields: Fields) -> Fields:
    """The fields with the title, which may be missing, and the entity types as text."""
    types = ", ".join(fields.get("entity_types") or ENTITY_TYPES)
    return {**fields, "title": fields.get("title", ""), "entity_types": types}


def find_elements(fields: Fields) -> tuple[list[EntityRecord], Pairs]:
    """(entities, {(first, second): [(sentence, words between them), ...]}) of a chunk, by rule."""
    title = re.sub(r"^The (?=[^\W\d_a-z])", "", clean(fields.get("title", "")))
    text, asked = fields["text"], (*(fields.get("entity_types") or ENTITY_TYPES), "other")
    described: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    pairs: Pairs = {}
    for number, sentence in enumerate(sentences_of(text)):
        plain, named = " ".join(sentence.split()), []
        for start, end in names_in(sentence, f"{title}\n{text}"):
            kind = guess_type(sentence[start:end], sentence[:start])
            if kind in asked:
                named.append((clean(sentence[start:end]), kind, start, end))
        lonely = len(named) == 1 and named[0][0] != title
        if title and (lonely or (number == 0 and title.lower() not in text.lower())):
            named.insert(0, (title, guess_type(title), 0, 0))
        for name, kind, _, _ in named:
            described.setdefault(name, []).append(plain)
            types.setdefault(name, kind)
        for (first, _, _, end), (second, _, start, _) in pairwise(named):
            if first != second:
                key = (second, first) if (second, first) in pairs else (first, second)
                pairs.setdefault(key, []).append((plain, sentence[end:start]))
    entities = [
        EntityRecord(name, types[name], " ".join(dict.fromkeys(sentences)))
        for name, sentences in described.items()
    ]
    return entities, pairs


def relationships_of(pairs: Pairs, rich: bool = False) -> list[RelationshipRecord]:
    """Neighbouring names as related: the sentences describe it, and their number is its strength.

    rich: with keywords.
    """
    return [
        RelationshipRecord(
            *names,
            " ".join(dict.fromkeys(sentence for sentence, _ in found)),
            float(len(found)),
            keywords_between(wording for _, wording in found) if rich else "",
        )
        for names, found in pairs.items()
    ]


def elements_by_rule(fields: Fields, rich: bool = False) -> str:
    """Every span that is written like a name, and neighbouring spans of a sentence as related;
    nothing is understood.

    The type is guessed from visible cues (`guess_type`), a span whose cue says a type that was not
    asked for is left out. The description is the sentences in which the name stands; a strength is
    the number of sentences in which the two are neighbours. The title joins a sentence that has one
    name only, and the first sentence if the text never says it.
    """
    entities, pairs = find_elements(fields)
    return write_records([*entities, *relationships_of(pairs, rich)])


def rich_elements_by_rule(fields: Fields) -> str:
    """As the rule for `elements`; keywords are the longer words that stand between two names."""
    return elements_by_rule(fields, rich=True)


def keywords_between(wordings: Iterable[str]) -> str:
    """The longer words between two names, each once: all that a rule can offer for the theme of a
    relationship.
    """
    words = [word.lower() for wording in wordings for word in re.findall(r"[^\W\d_]{5,}", wording)]
    longer = [word for word in dict.fromkeys(words) if word not in STOP_WORDS]
    return ", ".join(longer) or "mentioned together"


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


RICH_FORM = FORM.replace(
    "related<|>", "related<|>keywords for the theme of the relationship, separated by commas<|>"
)

RICH_ELEMENTS = Task(
    name="rich_elements",
    stage="build",
    system=ELEMENTS_SYSTEM,
    template=ELEMENTS_TEMPLATE,
    parse=read_rich_instances,
    rule=rich_elements_by_rule,
    max_tokens=4096,
    show=partial(show_elements, form=RICH_FORM, examples=RICH_EXAMPLES),
)


WORD = re.compile(r"\b(yes|no|y|n)\b", re.IGNORECASE)


def read_glean_check(text: str) -> tuple[bool, int]:
    """(True if entities were missed, dropped): the first yes or no of the reply; a reply without
    one counts as no.
    """
    found = WORD.search(text[:2000])
    return found is not None and found[1][0].lower() == "y", int(not found)


def unlisted(fields: Fields) -> list[EntityRecord]:
    """The entities that the rule finds in the text and that the records so far do not name."""
    listed = {record.name.casefold() for record in read_instances(fields["records"])[0].entities}
    return [record for record in find_elements(fields)[0] if record.name.casefold() not in listed]


def glean_check_by_rule(fields: Fields) -> str:
    """YES while a name that the rule for `elements` finds is not listed. That rule lists all it
    finds, so after it the answer is NO.
    """
    return "YES" if unlisted(fields) else "NO"


GLEAN_CHECK = Task(
    name="glean_check",
    stage="build",
    system="You check whether a list of records covers a text. You reply with one word, YES or NO.",
    template="""Entity types: $entity_types

Text:
$title
$text

Records so far:
$records

Were entities of these types missed? Reply YES if some were, NO if all are there.""",
    parse=read_glean_check,
    rule=glean_check_by_rule,
    max_tokens=64,
    show=show_types,
)


def gleaning_by_rule(fields: Fields) -> str:
    """The entities that are not listed yet, and the relationships in which one of them stands."""
    missing = unlisted(fields)
    names = {record.name for record in missing}
    pairs = find_elements(fields)[1]
    related = {pair: found for pair, found in pairs.items() if names.intersection(pair)}
    return write_records([*missing, *relationships_of(related)])


def show_gleaning(fields: Fields) -> Fields:
    """The form has keywords for a rich graph."""
    return show_elements(fields, RICH_FORM if fields.get("rich") else FORM)


GLEANING = Task(
    name="gleaning",
    stage="build",
    system=ELEMENTS_SYSTEM,
    template="""Entity types: $entity_types

$form

Text:
$title
$text

Records so far:
$records

MANY entities of this text are still missing. Write the missing ones, and their relationships, in \
the same form; repeat none.""",
    parse=read_rich_instances,
    rule=gleaning_by_rule,
    max_tokens=4096,
    show=show_gleaning,
)
