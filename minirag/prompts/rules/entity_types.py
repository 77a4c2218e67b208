"""What kind of thing a name is, guessed from how it is written: the offline stand-in for
judgement.
"""

import re

TITLES = (
    "Dr Mr Mrs Ms Miss Sir Dame Lady Lord Prof Professor Bishop King Queen Captain Agent Saint"
    " President Judge Father Sister".split()
)
CUES = {
    "organization": (
        "University Institute Society Trust Clinic Hospital Company Foundry Group Bank School"
        " College Museum Ltd Inc Corporation Pharmaceuticals Instruments Library Orchestra Council"
        " Ministry Committee Association Press Party Club Agency Squad Laboratory Foundation"
        " Department"
    ),
    "event": (
        "Expedition Trial War Battle Festival Lectures Revolt Election Conference Games Cup Treaty"
        " Day Olympics Championship Revolution Operation Study"
    ),
    "geo": (
        "Street Road Avenue Island Islands Mount Lake River Bay Port Valley Garden Court County"
        " City Sea Cape Forest Bridge Harbour Square Camp Base Coast Ocean Peninsula State Province"
        " Kingdom Republic Hill Cross Village Town North South East West"
    ),
    "other": "Disease Syndrome Medal Prize Award Act Law Chair Hour Clock",
}
KIND = {cue: kind for kind, cues in CUES.items() for cue in cues.split()}
PLACE_BEFORE = re.compile(r"\b(?:in|at|near|from|to|across|outside)\s+(?:the\s+)?\Z")
TITLE_BEFORE = re.compile(rf"\b(?:{'|'.join(TITLES)})\.?\s+\Z")
DATES = frozenset(
    "January February March April May June July August September October November December Monday"
    " Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays"
    " Fridays Saturdays Sundays".split()
)
NAME_WORD = re.compile(r"[^\W\d_][\w'’-]*\.?\Z")


def guess_type(name: str, before: str = "") -> str:
    """'organization', 'person', 'geo', 'event', 'date' or 'other', from cue words in the name and
    the few words before it.

    A year, month or weekday is a date; a word such as University, Expedition or Street decides, the
    last one first; a title, or two or three capitalised words with none of these, make a person;
    what follows "in", "at", "near" or "from" is a place.
    """
    words = re.findall(r"[\w'’.-]+", name)
    if words and all(word.isdigit() or word in DATES for word in words if word != "of"):
        return "date"
    if (words and words[0].rstrip(".") in TITLES) or TITLE_BEFORE.search(before[-20:]):
        return "person"
    for word in reversed(words):
        if word in KIND:
            return KIND[word]
    if PLACE_BEFORE.search(before[-20:]):
        return "geo"
    capitalised = all(NAME_WORD.match(word) and word[0].isupper() for word in words)
    return (
        "person"
        if capitalised and 2 <= len(words) <= 3 and not before.rstrip().lower().endswith("the")
        else "other"
    )
