"""Sentences that share words with a question: what the offline rules quote instead of an answer."""

import re
from collections import Counter

from .names import HAN, STOP_WORDS, sentences_of

ENDING = re.compile(r"(?<=\w{3})(?:ies|ied|y|ing|ed|es|s|e)$")
CITED = re.compile(r"\[[^\[\]]{1,400}\]")
MOST_SENTENCES = 4


def content_words(text):
    """Lower-cased words without stop words; Chinese text as pairs of characters."""
    words = set()
    for word in re.findall(r"\w+", text.lower()):
        if HAN.search(word):
            words.update(word[i : i + 2] for i in range(len(word) - 1))
        elif word not in STOP_WORDS:
            words.add(word)
    return words


def stems(text):
    """Content words with the commonest English endings taken off, so that "worries" meets "worry"."""
    return {
        ENDING.sub(lambda end: "i" if end[0] in ("ies", "ied", "y") else "", word)
        for word in content_words(text)
    }


def best_sentences(question, units):
    """`[(words shared with the question, sentence with its citations, unit id)]` of the sentences
    that share any, best first.

    A shared word counts the more, the fewer sentences of the window have it.
    """
    wanted, found = stems(question), []
    for number, (unit, text) in enumerate(units):
        for paragraph in text.split("\n"):
            cited = CITED.findall(paragraph)
            for sentence in (
                () if paragraph.startswith("#") else sentences_of(CITED.sub(" ", paragraph))
            ):
                shared = wanted & stems(sentence)
                if shared:
                    said = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(sentence.split()))
                    found.append(
                        (
                            shared,
                            f"{said} [{unit}]{''.join(f' {c}' for c in cited[:2])}",
                            unit,
                            number,
                        )
                    )
    common = Counter(word for shared, *_ in found for word in shared)
    found.sort(key=lambda row: (-sum(1 / common[word] for word in sorted(row[0])), row[3]))
    return [row[:3] for row in found]


def overlap(question, shared):
    """The percentage of the question's content words that the quoted sentences contain: an overlap,
    not a judgement of help.
    """
    return round(100 * len(shared) / max(1, len(stems(question))))


def chosen(fields):
    """At most four sentences, each of which adds a word of the question or comes from another unit."""
    picked, covered, units = [], set(), set()
    for shared, said, unit in best_sentences(fields["question"], fields["units"]):
        if len(picked) < MOST_SENTENCES and (shared - covered or unit not in units):
            picked.append((shared, said))
            covered |= shared
            units.add(unit)
    return picked, covered
