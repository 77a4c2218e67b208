"""GraphRAG's global answers: partial answers from windows of reports, then one answer out of them.

`map_answer` gives a window one answer and one score, `map_points` the points of the released code,
each with its own score; `reduce_answer` merges those that scored best. The offline rules quote the
sentences that share words with the question.

Differs from the released code in: there one score that is no whole number loses all points of the
window; here it loses its own point.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ..text.chunking import sentences_of
from .json_replies import Pairs, read_items, read_text, read_values
from .rules import HAN, STOP_WORDS
from .summaries_and_reports import read_number
from .task import Fields, Task

Unit = tuple[str, str]  # what a window is made of: its id and its text
Scored = tuple[str, float]  # a partial answer or a point, and how helpful it is, from 0 to 100
ENDING = re.compile(r"(?<=\w{3})(?:ies|ied|y|ing|ed|es|s|e)$")
CITED = re.compile(r"\[[^\[\]]{1,400}\]")
MOST_SENTENCES = 4


class Quote(NamedTuple):
    """A sentence with what it cites, and the words that it shares with the question."""

    shared: set[str]
    text: str
    unit: str


def content_words(text: str) -> set[str]:
    """Lower-cased words without stop words; Chinese text as pairs of characters."""
    words: set[str] = set()
    for word in re.findall(r"\w+", text.lower()):
        if HAN.search(word):
            words.update(word[i : i + 2] for i in range(len(word) - 1))
        elif word not in STOP_WORDS:
            words.add(word)
    return words


def stems(text: str) -> set[str]:
    """Content words without the commonest English endings, so that "worries" meets "worry"."""
    return {
        ENDING.sub(lambda end: "i" if end[0] in ("ies", "ied", "y") else "", word)
        for word in content_words(text)
    }


@lru_cache(maxsize=2**13)  # every question is asked about the same texts
def quotable(text: str) -> list[tuple[frozenset[str], str, str]]:
    """[(stems, sentence, citations of its paragraph)] of a text, headings left out."""
    found = []
    for paragraph in text.split("\n"):
        if paragraph.startswith("#"):
            continue
        cited = "".join(f" {citation}" for citation in CITED.findall(paragraph)[:2])
        for sentence in sentences_of(CITED.sub(" ", paragraph)):
            plain = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(sentence.split()))
            found.append((frozenset(stems(sentence)), plain, cited))
    return found


def best_sentences(question: str, units: Iterable[Unit]) -> list[Quote]:
    """The sentences that share any word with the question, best first, each with its citations.

    A shared word counts the more, the fewer sentences of the window have it.
    """
    wanted, found = stems(question), []
    for unit, text in units:
        for words, sentence, cited in quotable(text):
            if shared := wanted & words:
                found.append(Quote(shared, f"{sentence} [{unit}]{cited}", unit))
    common = Counter(word for quote in found for word in quote.shared)
    return sorted(found, key=lambda quote: -sum(1 / common[word] for word in sorted(quote.shared)))


def overlap(question: str, shared: set[str]) -> int:
    """The percentage of the question's content words that the quoted sentences contain: an overlap,
    not a judgement of help.
    """
    return round(100 * len(shared) / max(1, len(stems(question))))


def best_quotes(question: str, units: Iterable[Unit]) -> list[Quote]:
    """At most four sentences; each adds a word of the question or comes from another unit."""
    quotes: list[Quote] = []
    covered: set[str] = set()
    for quote in best_sentences(question, units):
        new = quote.shared - covered or quote.unit not in {other.unit for other in quotes}
        if len(quotes) < MOST_SENTENCES and new:
            quotes.append(quote)
            covered |= quote.shared
    return quotes


MAP_TEMPLATE = """Part of the collection:

$context

Question: $question"""


def unit_block(unit: Unit) -> str:
    """One unit, `(id, text)`, as it stands in a window."""
    return f"[{unit[0]}]\n{unit[1]}"


def show_window(fields: Fields) -> Fields:
    """The units of the window as one text."""
    return {**fields, "context": "\n\n".join(map(unit_block, fields["units"]))}


def read_map_answer(text: str) -> tuple[tuple[Scored, ...], int]:
    """(((answer, score),), dropped): one pair, or none where there is no answer or no score."""
    for pairs in read_values(text)[1]:
        answer = next(map(read_text, pairs.lookup("answer")), None)
        score = next((read_number(value, 0, 100) for value in pairs.lookup("score")), None)
        if answer and score is not None:
            return ((answer, score),), 0
    return (), 1


def map_answer_by_rule(fields: Fields) -> str:
    """Quotes: the sentences that share most words with the question, rare words first, each with
    the unit it stands in and what that cites.

    The score is the percentage of the question's content words that the quoted sentences contain.
    """
    quotes = best_quotes(fields["question"], fields["units"])
    none = "Nothing here shares a word with the question."
    answer = " ".join(quote.text for quote in quotes) or none
    covered = set().union(*(quote.shared for quote in quotes))
    return json.dumps({"answer": answer, "score": overlap(fields["question"], covered)})


MAP_ANSWER = Task(
    name="map_answer",
    stage="answer",
    system=(
        "You read one part of a collection and answer the question from that part alone. Say"
        " everything in it that helps, and after each statement name what it rests on, as the part"
        " names it, in square brackets. Then score from 0 to 100 how helpful your answer is for the"
        " question; an answer that does not help scores 0. Reply with one JSON object and nothing"
        ' beside it: {"answer": your answer, "score": a whole number}'
    ),
    template=MAP_TEMPLATE,
    parse=read_map_answer,
    rule=map_answer_by_rule,
    max_tokens=1000,
    show=show_window,
)


def read_point(item: object) -> Scored | None:
    """The description and the score of a point; None where one of them cannot be read."""
    if not isinstance(item, Pairs):
        return None
    description = item.first_text("description")
    score = next((read_number(value, 0, 100) for value in item.lookup("score")), None)
    return (description, score) if description and score is not None else None


def read_map_points(text: str) -> tuple[tuple[Scored, ...], int]:
    """((description, score) pairs, dropped)."""
    return read_items(text, "points", read_point)


def map_points_by_rule(fields: Fields) -> str:
    """The sentences that the rule for `map_answer` quotes, each a point; its score is its own
    overlap with the question's words.
    """
    question = fields["question"]
    points = [
        {"description": quote.text, "score": overlap(question, quote.shared)}
        for quote in best_quotes(question, fields["units"])
    ]
    return json.dumps({"points": points})


MAP_POINTS = Task(
    name="map_points",
    stage="answer",
    system=(
        "You read one part of a collection and list the key points in it that help to answer the"
        " question, from that part alone. In each point name what it rests on, as the part names"
        " it, in square brackets, and score from 0 to 100 how important the point is for the"
        ' answer. Reply with one JSON object and nothing beside it: {"points": [{"description": the'
        ' point, "score": a whole number}, ...]}'
    ),
    template=MAP_TEMPLATE,
    parse=read_map_points,
    rule=map_points_by_rule,
    max_tokens=1000,
    show=show_window,
)


INSTRUCTIONS = (
    "Merge what they say into a full answer that treats every side of the question they bear on. "
    "Keep every reference in square brackets as it is, leave out what does not help, and use "
    "nothing else. Reply with the answer alone."
)
REDUCE_ANSWER_SYSTEM = (
    "You write one answer to a question out of the partial answers of several analysts, each of "
    f"whom read another part of a collection and scored its own answer. {INSTRUCTIONS}"
)
REDUCE_ANSWER_NOTICE = (
    "Quoted by rule, no language model, from the partial answers that overlap most with the"
    " question's words:"
)
MOST_LINES = 8


def answer_block(number: int, answer: Scored) -> str:
    """One partial answer as it stands in the window."""
    return f"Analyst {number} (score {answer[1]:g}):\n{answer[0]}"


def show_reduce_answer(fields: Fields) -> Fields:
    """The partial answers as one text."""
    blocks = [answer_block(i, answer) for i, answer in enumerate(fields["answers"], start=1)]
    return {**fields, "context": "\n\n".join(blocks)}


def read_reduce_answer(text: str) -> tuple[str, int]:
    """The reply; an empty one is ("", 1)."""
    return text.strip(), int(not text.strip())


def reduce_answer_by_rule(fields: Fields) -> str:
    """The partial answers below each other, the best first, each once and at most eight: nothing is
    merged.
    """
    answers = dict.fromkeys(" ".join(text.split()) for text, _ in fields["answers"])
    return "\n".join([REDUCE_ANSWER_NOTICE, *[f"- {answer}" for answer in answers][:MOST_LINES]])


REDUCE_ANSWER = Task(
    name="reduce_answer",
    stage="answer",
    system=REDUCE_ANSWER_SYSTEM,
    template="""Partial answers, the best first:

$context

Question: $question""",
    parse=read_reduce_answer,
    rule=reduce_answer_by_rule,
    max_tokens=2000,
    show=show_reduce_answer,
)
