"""Sentences that share words with a question: what the offline rules quote instead of an answer."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from .names import HAN, STOP_WORDS, sentences_of

ENDING = re.compile(r"(?<=\w{3})(?:ies|ied|y|ing|ed|es|s|e)$")
CITED = re.compile(r"\[[^\[\]]{1,400}\]")
MOST_SENTENCES = 4

Unit = tuple[str, str]  # what a window is made of: its id and its text


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


def best_sentences(question: str, units: Iterable[Unit]) -> list[Quote]:
    """The sentences that share any word with the question, best first, each with its citations.

    A shared word counts the more, the fewer sentences of the window have it.
    """
    wanted, found = stems(question), []
    for unit, text in units:
        for paragraph in text.split("\n"):
            if paragraph.startswith("#"):
                continue
            cited = "".join(f" {citation}" for citation in CITED.findall(paragraph)[:2])
            for sentence in sentences_of(CITED.sub(" ", paragraph)):
                if shared := wanted & stems(sentence):
                    plain = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(sentence.split()))
                    found.append(Quote(shared, f"{plain} [{unit}]{cited}", unit))
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
