"""Task: another turn over the same chunk, for the entities that were missed."""

from .elements import FORM, SYSTEM, find_elements, show
from .glean_check import unlisted
from .records import (
    RelationshipRecord,
    read_instances,
    read_rich_relationship,
    write_records,
)
from .rich_elements import FORM as RICH_FORM
from .task import Task

TEMPLATE = """Entity types: $entity_types

$form

Text:
$title
$text

Records so far:
$records

MANY entities of this text are still missing. Write the missing ones, and their relationships, in the same form; repeat none."""


def rule(fields):
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


def parse(text):
    """As `elements`, or as `rich_elements` where a relationship has a sixth field."""
    return read_instances(text, read_rich_relationship)


def show_form(fields):
    return show(fields, RICH_FORM if fields.get("rich") else FORM)


TASK = Task(
    name="gleaning",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=4096,
    show=show_form,
)
