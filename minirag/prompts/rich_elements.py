"""Task: the elements of a rich knowledge graph; a relationship also has keywords, as LightRAG asks."""

from functools import partial

from .elements import (
    EXAMPLE_RECORDS,
    EXAMPLE_TEXT,
    SYSTEM,
    TEMPLATE,
    find_elements,
    keywords_between,
    show,
)
from .records import (
    RelationshipRecord,
    read_instances,
    read_rich_relationship,
    write_records,
)
from .task import Task

FORM = """An entity: ("entity"<|>name<|>one of the types<|>what the text says of it, in full sentences)
A relationship: ("relationship"<|>name of one entity<|>name of another<|>why they are related<|>keywords for the theme of the relationship, \
separated by commas<|>strength, a number from 1 to 10)"""
KEYWORDS = iter(["location, landscape", "founding, astronomy", "ownership, higher education"])
RICH_EXAMPLE = [
    record._replace(keywords=next(KEYWORDS)) if isinstance(record, RelationshipRecord) else record
    for record in EXAMPLE_RECORDS
]
EXAMPLES = ((EXAMPLE_TEXT, write_records(RICH_EXAMPLE)),)


def rule(fields):
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


TASK = Task(
    name="rich_elements",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=partial(read_instances, relationship=read_rich_relationship),
    rule=rule,
    max_tokens=4096,
    show=partial(show, form=FORM, examples=EXAMPLES),
)
