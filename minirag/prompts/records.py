"""Element instances as delimited tuples:
("entity"<|>name<|>type<|>description)##("relationship"<|>...)##<|COMPLETE|>.

Whatever is well formed is kept, whatever is not is counted; nothing raises. A model may forget the
separator, quote with other quotation marks, talk before and after: that is read past. A record that
was cut off at the end of a reply is dropped.
"""

import html
import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from .json_replies import FENCE, LONGEST, THOUGHT

TUPLE, RECORD, END = "<|>", "##", "<|COMPLETE|>"
QUOTES = "\"'“”„«»‘’"
# Between two records stands ##, or the end mark, or, where a model forgot both, only the closing
# and the opening bracket.
BETWEEN = re.compile(
    rf"\)\s{{0,20}}##|##(?=\s*(?:\(|\Z|{re.escape(END)}))|{re.escape(END)}|\)(?=\s{{0,20}}\([{QUOTES}]?\w{{1,30}}[{QUOTES}]?\s?<\|>)"
)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
NUMBER = re.compile(r"\s*\+?(\d{1,12}(?:\.\d{1,12})?)")


class EntityRecord(NamedTuple):
    """One mention of an entity, as it was written."""

    name: str
    type: str = ""
    description: str = ""


class RelationshipRecord(NamedTuple):
    """One mention of a relationship; `strength` is the extractor's own number, `keywords` are
    LightRAG's.
    """

    source: str
    target: str
    description: str = ""
    strength: float = 1.0
    keywords: str = ""


class ClaimRecord(NamedTuple):
    """A covariate: what is claimed of `subject`. `object` and the dates may be empty; `text` is the
    sentence it stands in.
    """

    subject: str
    object: str = ""
    type: str = ""
    status: str = ""
    start: str = ""
    end: str = ""
    description: str = ""
    text: str = ""


Record = EntityRecord | RelationshipRecord | ClaimRecord


class Instances(NamedTuple):
    """What one reply names, in order, and the reply itself, which the next turn of a gleaning shows
    to the model.
    """

    entities: tuple[EntityRecord, ...] = ()
    relationships: tuple[RelationshipRecord, ...] = ()
    text: str = ""


def clean(field: str) -> str:
    """A field without the quotation marks around it, HTML escapes and control characters; line
    breaks become spaces.
    """
    field = " ".join(CONTROL.sub("", html.unescape(field)).split())
    quoted = len(field) > 1 and field[0] in QUOTES and field[-1] in QUOTES
    return field[1:-1].strip() if quoted else field


def fields_of(text: str) -> tuple[list[list[str]], int]:
    """The records of a reply as lists of cleaned fields, and the number of pieces that look like
    one and are not whole.
    """
    text = FENCE.sub(" ", THOUGHT.sub(" ", text[:LONGEST]))
    records, broken, start = [], 0, 0
    for match in [*BETWEEN.finditer(text), None]:
        piece = text[start : match.start() if match else len(text)]
        if match:
            piece += ")" if match[0].startswith(")") else ""
            start = match.end()
        if TUPLE in piece:
            body = body_of(piece, last=match is None)
            broken += body is None
            if body is not None:
                records.append([clean(field) for field in body.split(TUPLE)])
    return records, broken


def body_of(piece: str, last: bool) -> str | None:
    """What stands between the brackets of one record; None where they are missing.

    Elsewhere a forgotten closing bracket is forgiven. At the end of a reply (`last`) it means that
    the record was cut off, and words after the bracket that closes it are only talk.
    """
    opening = (
        len(piece) - len(piece.lstrip())
        if piece.lstrip()[0] == "("
        else piece.rfind("(", 0, piece.find(TUPLE))
    )
    if opening < 0:
        return None
    if last:
        depth = 0
        for bracket in re.finditer(r"[()]", piece[opening:]):
            depth += 1 if bracket[0] == "(" else -1
            if depth == 0:
                body = piece[opening + 1 : opening + bracket.start()]
                return None if TUPLE in piece[opening + bracket.end() :] else body
        return None
    closing = piece.rfind(")")
    return piece[opening + 1 : closing] if closing > piece.rfind(TUPLE) else piece[opening + 1 :]


def read_strength(field: str) -> float:
    """The number a field begins with; 1.0 where there is none, as the released code has it."""
    match = NUMBER.match(field)
    value = float(match[1]) if match else 1.0
    return value if math.isfinite(value) and value > 0 else 1.0


def read_entity(fields: list[str]) -> EntityRecord | None:
    """Four fields: tag, name, type, description."""
    whole = len(fields) >= 4 and fields[1]
    return EntityRecord(fields[1], fields[2], " ".join(fields[3:])) if whole else None


def read_relationship(fields: list[str], rich: bool = False) -> RelationshipRecord | None:
    """Five fields: tag, source, target, description, strength. rich: six, with keywords before the
    strength; without a strength at the end the last field is keywords.
    """
    if len(fields) < 5 or not (fields[1] and fields[2]):
        return None
    strength, keywords = read_strength(fields[-1]), fields[4:-1] if rich else []
    if rich and len(fields) == 5 and not NUMBER.fullmatch(fields[-1]):
        strength, keywords = 1.0, fields[4:]
    return RelationshipRecord(fields[1], fields[2], fields[3], strength, ", ".join(keywords))


def read_instances(text: str, rich: bool = False) -> tuple[Instances, int]:
    """(Instances, dropped) of a reply to `elements` or, where relationships are rich, to
    `rich_elements`.
    """
    records, dropped = fields_of(text)
    said_nothing = not records and not dropped and END not in text
    entities, relationships = [], []
    for fields in records:
        tag = fields[0].lower()
        if tag == "entity" and (entity := read_entity(fields)):
            entities.append(entity)
        elif tag == "relationship" and (related := read_relationship(fields, rich)):
            relationships.append(related)
        elif tag != "content_keywords":  # a summary that LightRAG asks for and never uses
            dropped += 1
    return Instances(tuple(entities), tuple(relationships), text), dropped + said_nothing


def read_rich_instances(text: str) -> tuple[Instances, int]:
    """As `read_instances`; a relationship's sixth field is its strength, the fifth its keywords."""
    return read_instances(text, rich=True)


def read_instances_as_released(text: str) -> tuple[Instances, int]:
    """(Instances, dropped) as GraphRAG's code reads: cut at ## only, tags in plain quotation marks,
    strength from the last field.

    Nothing takes the end mark off, so the record before it keeps no strength, and replies glued
    together lose the record after it as well.
    """
    entities, relationships, dropped = [], [], 0
    for piece in text[:LONGEST].split(RECORD):
        body = re.sub(r"^\(|\)$", "", piece.strip())
        if not body or body == END:
            continue
        tag, *fields = body.split(TUPLE)
        if tag == '"entity"' and len(fields) >= 3:
            entities.append(EntityRecord(*map(clean, fields[:3])))
        elif tag == '"relationship"' and len(fields) >= 4:
            strength = read_strength(fields[-1]) if NUMBER.fullmatch(fields[-1].rstrip()) else 1.0
            source, target, description = map(clean, fields[:3])
            relationships.append(RelationshipRecord(source, target, description, strength))
        else:
            dropped += 1
    return Instances(tuple(entities), tuple(relationships), text), dropped


def read_claims(text: str) -> tuple[tuple[ClaimRecord, ...], int]:
    """(tuple of ClaimRecord, dropped): eight fields, of which those that are missing at the end, or
    NONE, are empty.
    """
    records, dropped = fields_of(text)
    claims = []
    for record in records:
        own = record[1:] if record[0].lower() == "claim" else record
        fields = ["" if field.upper() in ("NONE", "NULL", "UNKNOWN") else field for field in own]
        if len(fields) >= 3 and fields[0]:
            padded = [*fields, *[""] * 7][:7]
            claims.append(ClaimRecord._make([*padded, " ".join(fields[7:])]))
        else:
            dropped += 1
    return tuple(claims), dropped + (not records and not dropped and END not in text)


def write_records(records: Iterable[Record]) -> str:
    """Records as a reply: what the offline rules write and the examples in a prompt show."""
    lines = ["(" + TUPLE.join(written(record)) + ")" for record in records]
    return f"\n{RECORD}\n".join([*lines, END])


def written(record: Record) -> list[str]:
    """The fields of one record as text, the tag first; a field cannot hold the marks that separate
    fields and records.
    """
    fields: list[object]
    if isinstance(record, EntityRecord):
        fields = ['"entity"', *record]
    elif isinstance(record, RelationshipRecord):
        keywords = [record.keywords] if record.keywords else []
        fields = ['"relationship"', *record[:3], *keywords, f"{record.strength:g}"]
    else:
        fields = [field or "NONE" for field in record]
    return [" ".join(re.sub(r"<\||\|>|##", " ", str(field)).split()) for field in fields]
