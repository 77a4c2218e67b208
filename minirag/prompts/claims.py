"""Task: claims about the entities of a chunk, the covariates of GraphRAG."""

import re

from ..text.chunking import sentences_of
from .records import ClaimRecord, read_claims, write_records
from .rules import names_in
from .task import Fields, Task

WHAT = "Statements about an entity that could be checked, or that somebody might dispute"
EXAMPLE_TEXT = (
    "In 1911 Ilse Brandt founded Harrowgate Observatory. A rival said that she had copied its"
    " plans."
)
FOUNDING, PLAGIARISM = EXAMPLE_TEXT[:51], EXAMPLE_TEXT[52:]
OBSERVATORY, FOUNDED = "Harrowgate Observatory", "She founded the observatory."
COPIED = "A rival said that she copied the plans."
EXAMPLE_CLAIMS = (
    ("Ilse Brandt", OBSERVATORY, "FOUNDING", "TRUE", "1911", "1911", FOUNDED, FOUNDING),
    ("Ilse Brandt", "", "PLAGIARISM", "SUSPECTED", "", "", COPIED, PLAGIARISM),
)
EXAMPLE = (
    {"title": "", "text": EXAMPLE_TEXT, "entities": ("Ilse Brandt", OBSERVATORY)},
    write_records(ClaimRecord(*fields) for fields in EXAMPLE_CLAIMS),
)
REPORTING = re.compile(
    r"\b(?:said|says|announced|reported|claimed|claims|argued|insists?|insisted|denied|denies|showed|found|proved|suggested|estimated|"
    r"admitted|alleged|warned)\b"
)
YEAR = re.compile(r"\b[12]\d{3}\b")


def rule(fields: Fields) -> str:
    """The sentences with a year or a reporting verb that name one of the entities; nothing is
    weighed.

    Subject and object are the first two names of the sentence, the type says which cue was seen
    (REPORTED or DATED), the dates are its first and last year, and the status is left empty:
    whether a claim is true is a judgement.
    """
    whole = f"{fields.get('title', '')}\n{fields['text']}"
    known, claims = {name.casefold() for name in fields["entities"]}, []
    for sentence in sentences_of(fields["text"]):
        years, reported = YEAR.findall(sentence), REPORTING.search(sentence)
        names = dict.fromkeys(sentence[start:end] for start, end in names_in(sentence, whole))
        subjects = [name for name in names if name.casefold() in known]
        if subjects and (years or reported):
            first, second, *_ = *subjects, ""
            kind, dates = "REPORTED" if reported else "DATED", years or [""]
            cited = (dates[0], dates[-1], sentence, sentence)
            claims.append(ClaimRecord(first, second, kind, "", *cited))
    return write_records(claims)


def show(fields: Fields) -> Fields:
    """The entities as text; what counts as a claim is the domain's own where it is given."""
    shown = {**fields, "title": fields.get("title", ""), "entities": ", ".join(fields["entities"])}
    return {**shown, "claim_description": fields.get("claim_description") or WHAT}


CLAIMS = Task(
    name="claims",
    stage="build",
    system=(
        "You read a text and write down what is claimed of the entities you are given. One record"
        " in round brackets for each claim, fields separated by <|>, records by ##, and"
        " <|COMPLETE|> after the last. Write NONE where a field has no value."
    ),
    template="""Entities: $entities
What counts as a claim: $claim_description

A claim: (subject<|>object<|>type of claim<|>TRUE, FALSE or SUSPECTED<|>start date<|>end \
date<|>what is claimed, in full sentences<|>\
the sentence of the text it stands in)

Text:
$title
$text""",
    parse=read_claims,
    rule=rule,
    max_tokens=2048,
    show=show,
    example=EXAMPLE,
)
