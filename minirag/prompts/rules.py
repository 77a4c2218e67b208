"""The rules that stand in for a language model: names by how they are written, types by cue words.

In scripts with capital letters a name is a run of capitalised words, with "of", particles ("van",
"de la") and years inside ("Euro 2016"); other years are names of their own. In a passage "in",
"on", "to", "for" and "and" end a name, because passages are joined where they hold the same name:
"Acme in Oslo" is Acme and Oslo, and so "Alice in Wonderland" is parted too, unless it is the title.
In a question only "and" ends one, because its names are looked up by likeness. Common nouns with a
capital (German) count as names. Where nothing is capitalised, because the script has no case or the
writer used none, quoted phrases, numbers and content words have to do.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from ..text.chunking import sentences, sentences_of
from ..text.tokens import Span

STOP_WORDS = frozenset(
    "a about after all also although an and another any are as at be because been before being"
    " between both but by can could did do does during each few for from had has have he her here"
    " him his how however i if in into is it its just like many me more most much my no nor not of"
    " on once one only or other our out over same she should since so some such than that the their"
    " them then there these they this those though through thus to under until up upon us very was"
    " we were what when where whether which while who whom whose why with within without would yet"
    " you your".split()
)
_UPPER = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x2000) if chr(code).isupper())
_WORD = rf"[{_UPPER}][\w.'’-]*"
# not "A. Milne"
_FUNCTION_WORD = rf"(?:{'|'.join(sorted(word.capitalize() for word in STOP_WORDS))})"
_FUNCTION_WORD += r"(?:n?['’]\w{1,2})?(?![\w'’-]|(?<=\b[AI])\.)"
_PARTICLE = r"(?:de|di|du|da|del|van|von)(?: (?:la|las|los|den|der|dem))?"


def _runs(inside: str, head: str = "") -> re.Pattern[str]:
    """A pattern for names with these small words `inside`; no function word leads one, and a year
    only after "the".
    """
    words = (
        rf"(?:(?<=the )\d{{4}} )?(?!{_FUNCTION_WORD}){_WORD}(?:[^\S\n]+(?:(?:{inside}|{_PARTICLE})"
        rf" )?(?:{_WORD}|\d{{4}}(?!\w)))*"
    )
    return re.compile(rf"(?<!\w)(?:{head}{words}|\d{{4}}(?!\d))")


# "Lord of the Rings": one word, not the first of a sentence (Ned Tolliver of the Good Intent: two)
IN_PASSAGES = _runs("of", rf"(?:(?<=[\w,;] )(?!{_FUNCTION_WORD}){_WORD} of the )?")
IN_QUESTIONS = _runs("of|of the|the|in|on|to|for")

QUOTED = re.compile(r"[\"“„«「『《]([^\"“”„«»「」『』《》\n]{2,60})[\"”“»」』》]")
# A run of one script: Chinese, katakana, Thai, Latin letters and digits, or any other letters.
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏ"
RUN = re.compile(
    rf"[\u3400-\u9fff々]+|[\u30a0-\u30ff]+|[\u0e00-\u0e7f]+|[{_LATIN}0-9][{_LATIN}0-9.'’-]*"
    r"|(?:(?![\u3040-\u30ff])[^\W_A-Za-z0-9][\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0d7f]*)+"
)
HAN = re.compile(r"[\u3400-\u9fff々]+")
# What Chinese uses between words rather than in names, and the question words around it.
HAN_GLUE = re.compile(
    "什么|什麼|哪里|哪裡|哪儿|哪个|哪個|哪些|怎么|怎麼|为什么|為什麼|多少|是否|以及|因为|因為|所以|但是"
    "|[的了是在和与與及于於为為有也都就而或之其这這那被把从從由对對到谁誰何吗嗎呢吧几幾]"
)
# What opens a request rather than names something, beside the function words above: courtesies and
# imperatives, then question words, auxiliaries and imperatives in German, Spanish and French.
# "Will" and "May", which are names as well, stand in `ASKING`.
OPENERS = frozenset(
    "please kindly hello hi hey dear thanks ok okay let tell explain describe list name give show"
    " find help compare contrast define discuss outline summarise summarize write identify"
    " enumerate would shall must wer wen wem wessen wann wo wohin woher warum weshalb wieso wie"
    " welche welcher welches welchen welchem ist sind hat haben hatte kann können könnte könnten"
    " ich wir sie uns bitte hallo nenne nennen erkläre erklären beschreibe vergleiche zeige erzähle"
    " sag sage gib mir über quién quiénes quien qué que cuál cuáles cuándo cuánto cuántos dónde"
    " donde cómo es fue puede puedes podría explica explique describa compara compare enumera dime"
    " dame háblame cuéntame favor por hola qui quoi quel quelle quels quelles quand où comment"
    " pourquoi combien est est-ce qu expliquez décris décrivez comparez citez donne donnez parle"
    " parlez dis dites bonjour".split()
)
ASKING = re.compile(
    r"(?:will|may)\s+(?:i|we|you|he|she|it|they|there|the|this|that)\b", re.IGNORECASE
)
HAN_OPENING = re.compile(
    "(?:请问|請問|请|請|告诉|告訴|介绍|介紹|解释|解釋|比较|比較|列出|说明|說明|关于|關於|一下|我们|我們|我|你|您|能|可以|[，"
    ", ])+"
)
# A lone capitalised word that opens a question is a name if it is possessive, alone, or the subject
# of one of these.
SUBJECT = re.compile(
    r"['’]s\b|\W*\Z|\s+(?:is|are|was|were|has|have|had|does|did|can|could|will|would|and|or|ist|war|hat|wurde|und|es|fue|y|est|était|et)\b"
)


def caseless_positions(text: str) -> list[Span]:
    """(start, end) of quoted phrases, numbers and content words: for text in which nothing is
    capitalised.
    """
    positions = [match.span(1) for match in QUOTED.finditer(text)]
    quoted = list(positions)
    for match in RUN.finditer(text):
        for start, end in _pieces(match):
            if not any(s < end and start < e for s, e in quoted):
                positions.append((start, end))
    return sorted(positions)


def _pieces(run: re.Match[str]) -> list[Span]:
    """The content words in one run: Chinese is cut at its small words; elsewhere short words and
    stop words go.
    """
    if not HAN.fullmatch(run.group()):
        word = run.group().rstrip(".'’-")
        long_enough = len(word) >= (4 if re.fullmatch(rf"[{_LATIN}.'’-]+", word) else 2)
        kept = long_enough and word.lower() not in STOP_WORDS
        return [(run.start(), run.start() + len(word))] if kept else []
    pieces, start = [], run.start()
    for glue in [*HAN_GLUE.finditer(run.group()), None]:
        end = run.start() + glue.start() if glue else run.end()
        if end - start >= 2:
            pieces.append((start, end))
        start = run.start() + glue.end() if glue else end
    return pieces


@lru_cache(maxsize=64)  # asked again for every sentence of a long text
def uses_capitals(text: str) -> bool:
    """Whether capitals can mark names here: at least half of the letters have a case, and one of
    them is a capital.
    """
    letters = [letter for letter in text if letter.isalpha()]
    cased = sum(letter.lower() != letter.upper() for letter in letters)
    # A text of digits only has no letters and keeps the capitalised rule, which finds its years.
    return not letters or (2 * cased >= len(letters) and any(map(str.isupper, letters)))


def names_in(
    sentence: str,
    whole: str,
    evidence: Callable[[str], bool] | None = None,
    runs: re.Pattern[str] = IN_PASSAGES,
) -> list[Span]:
    """(start, end) of the names in a sentence of the text `whole`, in order.

    evidence(word): whether one word that opens the sentence is a name; by default if the text
    writes it with a capital elsewhere too.
    """
    if not uses_capitals(whole):
        return caseless_positions(sentence)
    found = [_trimmed(sentence, *match.span()) for match in runs.finditer(sentence)]
    evidence = evidence or (lambda word: _recurs(word, whole))
    return [
        (a, b)
        for a, b in found
        if b - a > 1 and (not _is_lone_opening(sentence, a, b) or evidence(sentence[a:b]))
    ]


def names_of_passage(part: str, title: str, text: str) -> list[Span]:
    """As `names_in`, for the title or a sentence of a passage; a word of the title is a name where
    it opens a sentence, too.
    """
    whole, words = f"{title}\n{text}", title.split()
    return names_in(part, whole, lambda word: word in words or _recurs(word, whole))


def names_asked(question: str) -> list[Span]:
    """(start, end) of the names in a question, in order: as `names_in` after the words that open
    the request, and quoted phrases with a capital whole.
    """
    quoted = QUOTED.finditer(question)
    found = [match.span(1) for match in quoted if re.search(rf"[{_UPPER}]", match[1])]
    for start, end, opened in asked_parts(question):
        part = question[start:end]

        def is_name(word: str, part: str = part, opened: bool = opened) -> bool:
            return opened or bool(SUBJECT.match(part, part.index(word) + len(word)))

        names = names_in(part, question, is_name, IN_QUESTIONS)
        found += [
            (start + a, start + b)
            for a, b in names
            if not any(s < start + b and start + a < e for s, e in found)
        ]
    return sorted(found)


def asked_parts(question: str) -> list[tuple[int, int, bool]]:
    """[(start, end, opened)]: each sentence without the courtesies, question words and imperatives
    in front; opened: whether there were any.
    """
    parts = []
    for start, end in sentences(question):
        begin = start
        for word in re.finditer(r"[^\W_][\w'’-]*", question[start:end]):
            if not (
                is_function_word(word[0])
                or _stem(word[0]) in OPENERS
                or ASKING.match(question, start + word.start(), end)
            ):
                break
            begin = start + word.end()
        chinese = HAN_OPENING.match(question, begin, end)
        begin = chinese.end() if chinese else begin
        parts.append((begin, end, begin > start))
    return parts


def is_function_word(word: str) -> bool:
    """Whether it is an English function word, alone or contracted ("I'd", "Don't"); "US" and "IT"
    are none.
    """
    return word in ("I", word.capitalize(), word.lower()) and _stem(word) in STOP_WORDS


def _stem(word: str) -> str:
    stem, apostrophe, _ = word.lower().replace("’", "'").partition("'")
    return stem.removesuffix("n") if apostrophe and stem not in STOP_WORDS else stem


def _trimmed(sentence: str, start: int, end: int) -> Span:
    piece = sentence[start:end]
    end -= len(piece) - len(piece.rstrip(" .,;'’-"))
    return start, end - 2 if sentence[max(start, end - 2) : end] in ("'s", "’s") else end


def _is_lone_opening(sentence: str, start: int, end: int) -> bool:
    word = sentence[start:end]
    return word[1:].islower() and not re.search(r"\w", sentence[:start])


def _recurs(word: str, whole: str) -> bool:
    first, all_words = _openings(whole)
    return all_words[word] > first[word]


@lru_cache(maxsize=64)
def _openings(whole: str) -> tuple[Counter[str], Counter[str]]:
    """(how often each word opens a sentence or a line, how often it occurs at all)."""
    opening = (
        sentence.lstrip("\"“‘'") for line in whole.split("\n") for sentence in sentences_of(line)
    )
    first = Counter(match[0] for match in map(re.compile(r"\w+").match, opening) if match)
    return first, Counter(re.findall(r"\w+", whole))


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
    person = capitalised and 2 <= len(words) <= 3
    return "person" if person and not before.rstrip().lower().endswith("the") else "other"
