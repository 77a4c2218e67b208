"""Where sentences begin and end: a rule that can be read, for many scripts and without a model."""

import re

Span = tuple[int, int]  # of characters: start, end

# A full stop after these ends nothing; a name or an example follows.
NEVER = frozenset("mr mrs ms mx dr prof messrs v vs cf ca approx viz e.g i.e z.b d.h bzw".split())
# After these a number follows, as in "No. 5", "Fig. 2", "Jan. 3", "Vol. IV". Otherwise they are
# words of their own.
NUMBERED = frozenset(
    "no nos nr fig figs eq eqs sec ch chap art vol vols p pp pg b d c op jan feb mar apr jun jul"
    " aug sep sept oct nov dec".split()
)
# These may stand within a sentence or close it; the next word decides.
EITHER = frozenset(
    "st ste mt ft gen col maj capt cmdr lt sgt adm gov sen rep rev hon pres jr sr inc ltd co corp "
    "bros llc plc etc al ed eds trans dept univ assn esq ave blvd ph.d b.sc m.sc d.phil".split()
)
# Words that begin a new sentence after an abbreviation or an initial.
STARTERS = frozenset(
    "the a an this that these those it its he his she her they their we our you your there here in"
    " on at by for from with after before during until when while since as although though however"
    " but and so if then thus once both each many most some such another no not who what where why"
    " how despite because later today".split()
)
CLOSERS = r"(?:[\"'”’»›)\]}」』】）〉》]|\[\d+\])*"
STOP = re.compile(rf"(?P<wide>[。！？｡]+|[।॥۔؟።။։។]+){CLOSERS}|(?P<mark>[.!?…]+){CLOSERS}(?=\s|$)")
BREAK = re.compile(
    r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*+•‣]|\d{1,3}[.)])[^\S\n])|\n(?=#{1,6} )|^#{1,6} [^\n]*\n",
    re.MULTILINE,
)
WORD_BEFORE = re.compile(r"\w[\w.'’-]*\Z")
LIST_NUMBER = re.compile(r"(?:^|\n)[^\S\n]*\d{1,3}\Z")
NEXT_WORD = re.compile(r"[\s\"'“‘«‹(\[{「『]*([\w'’-]*)")
INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*\Z")


def sentences(text: str) -> list[Span]:
    """The sentences of `text` as [(start, end), ...] in characters, without the white space around
    them; every other character is in one.

    A sentence ends at . ! ? … or their sisters in Chinese, Japanese, Arabic, Urdu, Devanagari,
    Armenian, Ethiopic, Burmese and Khmer, together with the quotes, brackets and [1]-like notes
    that close after them. A full stop ends nothing within a number, before a lower-case word, after
    an initial or after a title. After an abbreviation that may also close a sentence ("Inc.",
    "U.S.", "Jr.") the next word decides: "The", "He", "In" and the like begin a new one. Blank
    lines, Markdown headings and list items end a sentence as well. Scripts that mark no ends (Thai)
    stay whole.
    """
    edges = {match.end() for match in BREAK.finditer(text)}
    edges |= {
        match.end() for match in STOP.finditer(text) if match["wide"] or _ends_sentence(text, match)
    }
    spans, start = [], 0
    for end in sorted(edges | {len(text)}):
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
        start = end
    return spans


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    next_word = NEXT_WORD.match(text, stop.end())
    following = next_word[1] if next_word else ""
    if following[:1].islower():
        return False
    return stop["mark"] != "." or not _is_abbreviated(text, stop.start(), following)


def _is_abbreviated(text: str, position: int, following: str) -> bool:
    """True if the full stop at `position` belongs to the word before it and does not also end the
    sentence.
    """
    nearby = max(0, position - 40)
    before = WORD_BEFORE.search(text, nearby, position)
    if before is None or not following:
        return False
    if LIST_NUMBER.search(text, nearby, position):
        return True
    word, name = before[0], before[0].casefold()
    if name in NEVER:
        return True
    if name in NUMBERED and (following[0].isdigit() or re.fullmatch("[IVXLC]+", following)):
        return True
    initials = "." in word and INITIALS.match(word)
    within = name in EITHER or initials or (len(word) == 1 and word.isupper())
    return bool(within) and following.casefold() not in STARTERS
