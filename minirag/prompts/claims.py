"""Task: claims about the entities of a chunk, the covariates of GraphRAG."""

import re

from .records import ClaimRecord, read_claims, write_records
from .rules.names import names_in, sentences_of
from .task import Task

WHAT = "Statements about an entity that could be checked, or that somebody might dispute"
SYSTEM = (
    "You read a text and write down what is claimed of the entities you are given. One record in round brackets for each claim, fields "
    "separated by <|>, records by ##, and <|COMPLETE|> after the last. Write NONE where a field has no value."
)
TEMPLATE = """Entities: $entities
What counts as a claim: $claim_description

A claim: (subject<|>object<|>type of claim<|>TRUE, FALSE or SUSPECTED<|>start date<|>end date<|>what is claimed, in full sentences<|>\
the sentence of the text it stands in)

Text:
$title
$text"""
EXAMPLE_TEXT = "In 1911 Ilse Brandt founded Harrowgate Observatory. A rival said that she had copied its plans."
EXAMPLE = (
    {"title": "", "text": EXAMPLE_TEXT, "entities": ("Ilse Brandt", "Harrowgate Observatory")},
    write_records(
        [
            ClaimRecord(
                "Ilse Brandt",
                "Harrowgate Observatory",
                "FOUNDING",
                "TRUE",
                "1911",
                "1911",
                "She founded the observatory.",
                EXAMPLE_TEXT[:51],
            ),
            ClaimRecord(
                "Ilse Brandt",
                "",
                "PLAGIARISM",
                "SUSPECTED",
                "",
                "",
                "A rival said that she copied the plans.",
                EXAMPLE_TEXT[52:],
            ),
        ]
    ),
)
REPORTING = re.compile(
    r"\b(?:said|says|announced|reported|claimed|claims|argued|insists?|insisted|denied|denies|showed|found|proved|suggested|estimated|"
    r"admitted|alleged|warned)\b"
)
YEAR = re.compile(r"\b[12]\d{3}\b")


def rule(fields):
    """The sentences with a year or a reporting verb that name one of the entities; nothing is
    weighed.

    Subject and object are the first two names of the sentence, the type says which cue was seen
    (REPORTED or DATED), the dates are its first and last year, and the status is left empty:
    whether a claim is true is a judgement.
    """
    title, known, claims = (
        fields.get("title", ""),
        {name.casefold() for name in fields["entities"]},
        [],
    )
    for sentence in sentences_of(fields["text"]):
        years, reported = YEAR.findall(sentence), REPORTING.search(sentence)
        names = [
            sentence[start:end] for start, end in names_in(sentence, f"{title}\n{fields['text']}")
        ]
        names = [name for name in dict.fromkeys(names) if name.casefold() in known]
        if names and (years or reported):
            start, end = (years[0], years[-1]) if years else ("", "")
            other = names[1] if len(names) > 1 else ""
            claims.append(
                ClaimRecord(
                    names[0],
                    other,
                    "REPORTED" if reported else "DATED",
                    "",
                    start,
                    end,
                    sentence,
                    sentence,
                )
            )
    return write_records(claims)


def show(fields):
    shown = {**fields, "title": fields.get("title", ""), "entities": ", ".join(fields["entities"])}
    return {**shown, "claim_description": fields.get("claim_description") or WHAT}


CLAIMS = Task(
    name="claims",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=read_claims,
    rule=rule,
    max_tokens=2048,
    show=show,
    example=EXAMPLE,
)
