"""Open information extraction, as HippoRAG asks for it: the named entities of a passage, then
subject-relation-object triples given these; and the entities of a question, where its walk starts.
"""

import json
import re
from itertools import pairwise

from ..core.corpus import Triple
from ..text.chunking import sentences_of
from .json_replies import is_array, read_distinct, read_items, read_text
from .rules import names_asked, names_of_passage
from .task import Fields, Task

EXAMPLE_FIELDS = {
    "title": "Harrowgate Observatory",
    "text": (
        "Harrowgate Observatory stands on Mount Orrin in northern Veldania. It was founded in 1911"
        " by Ilse Brandt, who discovered the comet Tamsin there. Since 1987 it has belonged to the"
        " University of Selm."
    ),
}
EXAMPLE_ENTITIES = tuple(
    "Harrowgate Observatory, Mount Orrin, Veldania, 1911, Ilse Brandt, Tamsin, 1987, University of"
    " Selm".split(", ")
)


def read_entities(text: str) -> tuple[tuple[str, ...], int]:
    """The entities of a reply, in order, each once."""
    return read_distinct(text, "named_entities")


def passage_entities_by_rule(fields: Fields) -> str:
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


PASSAGE_ENTITIES = Task(
    name="passage_entities",
    stage="build",
    system=(
        "You read one passage of an encyclopaedia and list the named entities in it: people,"
        " places, organisations, works, events, things with a name of their own, and dates. Copy"
        " each one as it is written. Reply with one JSON object and nothing else."
    ),
    template="""List the named entities of this passage as {"named_entities": [...]}.

Passage:
$title
$text""",
    parse=read_entities,
    rule=passage_entities_by_rule,
    example=(EXAMPLE_FIELDS, json.dumps({"named_entities": EXAMPLE_ENTITIES})),
)


def question_entities_by_rule(fields: Fields) -> str:
    """The names, years and quoted phrases of the question (see `spans`); none if only the words
    that open the request are capitalised.
    """
    question = fields["question"]
    names = [question[start:end] for start, end in names_asked(question)]
    return json.dumps({"named_entities": list(dict.fromkeys(names))}, ensure_ascii=False)


QUESTION_ENTITIES = Task(
    name="question_entities",
    stage="retrieve",
    system=(
        "You list the named entities that a question mentions, so that they can be looked up. Copy"
        " each one as it is written and add nothing the question does not say. Reply with one JSON"
        " object and nothing else."
    ),
    template="""List the named entities of this question as {"named_entities": [...]}.

Question: $question""",
    parse=read_entities,
    rule=question_entities_by_rule,
    max_tokens=300,
    example=(
        {
            "question": (
                "Did Ilse Brandt, who founded Harrowgate Observatory, ever teach at the University"
                " of Selm?"
            )
        },
        '{"named_entities": ["Ilse Brandt", "Harrowgate Observatory", "University of Selm"]}',
    ),
)


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


def read_triple(item: object) -> Triple | None:
    """Three non-blank strings as a Triple; None for anything else, also for a triple that was cut
    off.
    """
    if not is_array(item) or len(item) != 3:
        return None
    parts = [text for part in item if (text := read_text(part))]
    torn = getattr(item, "cut", False) or getattr(item, "broken", 0)
    return None if torn or len(parts) < 3 else Triple(*parts)


def read_triples(text: str) -> tuple[tuple[Triple, ...], int]:
    """The triples of a reply, in order; what the model says twice in one list counts twice, as in
    the authors' graphs.
    """
    return read_items(text, "triples", read_triple)


def triples_by_rule(fields: Fields) -> str:
    """Edges from the title to every name in it or in the text, and between neighbouring names of a
    sentence. The listed entities are not used.

    The relation is the wording between two names if that is short, so that the triples read well;
    retrieval ignores it.
    """
    title, text = fields["title"].strip(), fields["text"]
    parts = [title[start:end] for start, end in names_of_passage(title, title, text)]
    triples = [(title, "is about", part) for part in parts if part != title]
    for sentence in sentences_of(text):
        spans = names_of_passage(sentence, title, text)
        names = dict.fromkeys(sentence[start:end] for start, end in spans)
        mentioned = [name for name in names if title and name.lower() != title.lower()]
        triples += [(title, "mentions", name) for name in mentioned]
        for (start, end), (next_start, next_end) in pairwise(spans):
            first, second = sentence[start:end], sentence[next_start:next_end]
            if first.lower() != second.lower():
                triples.append((first, wording(sentence[end:next_start]), second))
    return json.dumps({"triples": list(dict.fromkeys(triples))}, ensure_ascii=False)


def wording(between: str) -> str:
    """The words between two spans as a relation, or "is near" where there are none or more than
    six.
    """
    words = re.sub(r"[^\w\s'’-]+", " ", between).split()
    return " ".join(words) if 1 <= len(words) <= 6 else "is near"


def show_triples(fields: Fields) -> Fields:
    """The entities as a JSON array."""
    return {**fields, "entities": json.dumps(list(fields["entities"]), ensure_ascii=False)}


TRIPLES = Task(
    name="triples",
    stage="build",
    system=(
        "You turn one passage into the edges of a knowledge graph. Write down what it states as"
        " triples of subject, relation and object. Use the listed entities wherever you can, at"
        " least one in every triple and two if possible; put a name in the place of he, she, it or"
        " they. Reply with one JSON object and nothing else."
    ),
    template="""Write the statements of this passage as {"triples": [[subject, relation, \
object], ...]}.

Passage:
$title
$text

Entities: $entities""",
    parse=read_triples,
    rule=triples_by_rule,
    max_tokens=4096,
    show=show_triples,
    example=(
        {**EXAMPLE_FIELDS, "entities": EXAMPLE_ENTITIES},
        json.dumps({"triples": EXAMPLE_TRIPLES}),
    ),
)
