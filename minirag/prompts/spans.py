"""Names found by how they are written: the rule that stands in for a language model offline.

In scripts with capital letters a name is a run of capitalised words and years. Where nothing is capitalised, because the
script has no case or the writer used none, phrases in quotation marks, numbers and content words have to do.
"""

import re

from ..segmentation import sentences

_OTHER_CAPITALS = "".join(chr(code) for code in range(0xC0, 0x2000) if chr(code).isupper())
_WORD = rf"(?:[A-Z{_OTHER_CAPITALS}][\w\.\'\u2019\-]*|\d{{4}})"
CAPITALISED = re.compile(rf"{_WORD}(?:\s+(?:of|the|de|and|for|in|on|to)?\s*{_WORD})*")
LEADING = frozenset("Who What When Where Which In How Why The Whose Was Is Are Did Does Of On At Name For By From A An".split())

QUOTED = re.compile(r"[\"“„«「『《]([^\"“”„«»「」『』《》\n]{2,60})[\"”“»」』》]")
# A run of one script: Chinese characters, katakana, Thai, Latin letters and digits, or any other letters.
RUN = re.compile(
    r"[\u3400-\u9fff々]+|[\u30a0-\u30ff]+|[\u0e00-\u0e7f]+|[A-Za-z0-9][A-Za-z0-9.'’-]*"
    r"|(?:(?![\u3040-\u30ff])[^\W_A-Za-z0-9][\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0d7f]*)+"
)
HAN = re.compile(r"[\u3400-\u9fff々]+")
# Characters that Chinese uses between words rather than in names, and the question words around them.
HAN_GLUE = re.compile(
    "什么|什麼|哪里|哪裡|哪儿|哪个|哪個|哪些|怎么|怎麼|为什么|為什麼|多少|是否|以及|因为|因為|所以|但是"
    "|[的了是在和与與及于於为為有也都就而或之其这這那被把从從由对對到谁誰何吗嗎呢吧几幾]"
)
STOP_WORDS = frozenset(
    "a about after all also although an and another any are as at be because been before being between both but by can could did do does during each few "
    "for from had has have he her here him his how however i if in into is it its just like many me more most much my no nor not of on once one only or other "
    "our out over same she should since so some such than that the their them then there these they this those though through thus to under until up upon us "
    "very was we were what when where whether which while who whom whose why with within without would yet you your".split()
)


def capitalised_spans(text):
    """Runs of capitalised words and four-digit years, in order, repetitions kept.

    Small words such as "of" may stand inside; question words and articles in front are dropped. A capital may be of any
    alphabet; on text whose only capitals are A to Z this is the plain A-to-Z rule.
    """
    return [text[start:end] for start, end in capitalised_positions(text)]


def capitalised_positions(text):
    """(start, end) of each capitalised span."""
    positions = []
    for match in CAPITALISED.finditer(text):
        words = list(re.finditer(r"\S+", match.group()))
        while words and words[0].group() in LEADING:
            words.pop(0)
        if words:
            start = match.start() + words[0].start()
            end = match.start() + len(match.group().rstrip("?,.'"))
            if end > start:
                positions.append((start, end))
    return positions


def caseless_positions(text):
    """(start, end) of quoted phrases, numbers and content words: for text in which nothing is capitalised."""
    positions = [match.span(1) for match in QUOTED.finditer(text)]
    quoted = list(positions)
    for match in RUN.finditer(text):
        for start, end in _pieces(match):
            if not any(s < end and start < e for s, e in quoted):
                positions.append((start, end))
    return sorted(positions)


def _pieces(run):
    """The content words in one run: Chinese is cut at its small words; elsewhere short words and stop words go."""
    if not HAN.fullmatch(run.group()):
        word = run.group().rstrip(".'’-")
        long_enough = len(word) >= (4 if re.fullmatch(r"[A-Za-z.'’-]+", word) else 2)
        return [(run.start(), run.start() + len(word))] if long_enough and word.lower() not in STOP_WORDS else []
    pieces, start = [], run.start()
    for glue in [*HAN_GLUE.finditer(run.group()), None]:
        end = run.start() + glue.start() if glue else run.end()
        if end - start >= 2:
            pieces.append((start, end))
        start = run.start() + glue.end() if glue else end
    return pieces


def uses_capitals(text):
    """Whether capitals can mark names here: at least half of the letters have a case, and one of them is a capital."""
    letters = [letter for letter in text if letter.isalpha()]
    cased = sum(letter.lower() != letter.upper() for letter in letters)
    # A text of digits only has no letters and keeps the capitalised rule, which finds its years.
    return not letters or (2 * cased >= len(letters) and any(letter.isupper() for letter in letters))


def positions(text, whole=None):
    """(start, end) of the names in a text; `whole` is the longer text it belongs to, which decides whether capitals count."""
    return capitalised_positions(text) if uses_capitals(whole or text) else caseless_positions(text)


def passage_positions(text, whole=None):
    """As `positions`, without the words that are capitalised only because they open a sentence ("She", "However", "This")."""
    return [(start, end) for start, end in positions(text, whole) if not opens_sentence(text[start:end])]


def opens_sentence(span):
    """Whether a span is one function word with a first capital; "US" and "IT" are not."""
    return span.lower() in STOP_WORDS and span == span.capitalize()


def sentences_of(text):
    """The sentences as strings."""
    return [text[start:end] for start, end in sentences(text)]
