"""Which names a chunk holds and what kind of thing each is, guessed from how they are written: the offline stand-in for judgement."""

import re
from collections import Counter
from functools import lru_cache

from .spans import STOP_WORDS, capitalised_positions, caseless_positions, sentences_of, uses_capitals

TITLES = "Dr Mr Mrs Ms Miss Sir Dame Lady Lord Prof Professor Bishop King Queen Captain Agent Saint President Judge Father Sister".split()
CUES = {
    "organization": "University Institute Society Trust Clinic Hospital Company Foundry Group Bank School College Museum Ltd Inc Corporation "
    "Pharmaceuticals Instruments Library Orchestra Council Ministry Committee Association Press Party Club Agency Squad Laboratory Foundation Department",
    "event": "Expedition Trial War Battle Festival Lectures Revolt Election Conference Games Cup Treaty Day Olympics Championship Revolution Operation Study",
    "geo": "Street Road Avenue Island Islands Mount Lake River Bay Port Valley Garden Court County City Sea Cape Forest Bridge Harbour Square Camp Base "
    "Coast Ocean Peninsula State Province Kingdom Republic Hill Cross Village Town North South East West",
    "other": "Disease Syndrome Medal Prize Award Act Law Chair Hour Clock",
}
KIND = {cue: kind for kind, cues in CUES.items() for cue in cues.split()}
PLACE_BEFORE = re.compile(r"\b(?:in|at|near|from|to|across|outside)\s+(?:the\s+)?\Z")
TITLE_BEFORE = re.compile(rf"\b(?:{'|'.join(TITLES)})\.?\s+\Z")
# The span rule joins names over these; here they part them again ("University of Selm in 1987"), as a year or a line's end does.
PARTING = re.compile(r"\n|(?<!\S)(?:in|on|to|for|and|the)(?!\S)|(?<!\w)(\d{4})(?!\w)")
DATES = frozenset(
    "January February March April May June July August September October November December Monday Tuesday Wednesday Thursday Friday Saturday "
    "Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays".split()
)
PART_WORDS = frozenset("in on to for and the".split())
NAME_WORD = re.compile(r"[^\W\d_][\w'’-]*\.?\Z")


def guess_type(name, before=""):
    """'organization', 'person', 'geo', 'event', 'date' or 'other', from cue words in the name and the few words before it.

    A year, month or weekday is a date; a word such as University, Expedition or Street decides, the last one first; a title, or two or three
    capitalised words with none of these, make a person; what follows "in", "at", "near" or "from" is a place.
    """
    words = re.findall(r"[\w'’.-]+", name)
    if name.isdigit() or name in DATES:
        return "date"
    if words and words[0].rstrip(".") in TITLES or TITLE_BEFORE.search(before[-20:]):
        return "person"
    for word in reversed(words):
        if word in KIND:
            return KIND[word]
    if PLACE_BEFORE.search(before[-20:]):
        return "geo"
    capitalised = all(NAME_WORD.match(word) and word[0].isupper() for word in words)
    return "person" if capitalised and 2 <= len(words) <= 3 and not before.rstrip().lower().endswith("the") else "other"


def names_in(sentence, whole):
    """(start, end) of the names in a sentence of the text `whole`, in order.

    The capitalised spans and years, parted at "in", "on", "to", "for", "and", "the" and at years. One word that opens a sentence is a name only
    if the text writes it with a capital elsewhere too ("Students", "Born" are none).
    """
    if not _in_capitals(whole):
        return caseless_positions(sentence)
    found = []
    for start, end in capitalised_positions(sentence):
        edges = [start]
        for match in PARTING.finditer(sentence, start, end):
            edges += match.span()
        edges.append(end)
        found += [_trimmed(sentence, a, b) for a, b in zip(edges, edges[1:])]
    return [(a, b) for a, b in found if b - a > 1 and _is_name(sentence, a, b, whole)]


def _trimmed(sentence, start, end):
    piece = sentence[start:end]
    start += len(piece) - len(piece.lstrip(" \t\n.,;"))
    end = max(start, end - (len(piece) - len(piece.rstrip(" \t\n.,;'’-"))))
    return start, end - 2 if sentence[max(start, end - 2) : end] in ("'s", "’s") else end


def _is_name(sentence, start, end, whole):
    word = sentence[start:end]
    if not (word[0].isupper() or word[0].isdigit()) or word.lower() in STOP_WORDS or word.lower() in PART_WORDS:
        return False
    if start > 0 or " " in word or word.isdigit() or not word[1:].islower():
        return True
    return _openings(whole)[1][word] > _openings(whole)[0][word]


_in_capitals = lru_cache(maxsize=64)(uses_capitals)  # asked once for every sentence of a long text


@lru_cache(maxsize=64)
def _openings(whole):
    """(how often each word opens a sentence or a line, how often it occurs at all)."""
    sentences = (sentence.lstrip("\"“‘'") for line in whole.split("\n") for sentence in sentences_of(line))
    first = Counter(match[0] for match in map(re.compile(r"\w+").match, sentences) if match)
    return first, Counter(re.findall(r"\w+", whole))
