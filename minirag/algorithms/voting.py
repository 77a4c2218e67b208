"""Self-consistency: ask the same question several times, then let the answers vote."""

import re
import string
from dataclasses import dataclass


def normalise_answer(text):
    """Lower case, no punctuation, no articles, single spaces (the SQuAD rule)."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


@dataclass(frozen=True)
class Vote:
    """The answer that won, as it was first written; how many samples said it, of how many; and how
    many could not be read.
    """

    answer: str
    votes: int
    samples: int
    unparsable: int
    score: float


def majority_vote(answers, denominator="samples", normalise=normalise_answer):
    """The most frequent answer, each sample one vote.

    answers: strings; None, or one without a letter or digit, is a reply in which no answer was
    found. Answers with the same `normalise`d form are one answer. Of answers with equally many
    votes the one that was given first wins, so that the same samples always give the same answer.
    denominator: what the winner's votes are divided by: "samples" (unreadable replies count against
    it) or "parsable". Without a readable answer the vote is ("", 0, ...) with score 0.

    Source: Wang, Table II (tab-2)
    """
    if denominator not in ("samples", "parsable"):
        raise ValueError(f"denominator={denominator!r}: expected 'samples' or 'parsable'.")
    answers = list(answers)
    spelled, counts = {}, {}
    for answer in answers:
        if answer and re.search(r"\w", answer):
            key = (
                normalise(answer) or answer.strip().lower()
            )  # the rule takes the option "A" for an article
            spelled.setdefault(key, answer)
            counts[key] = counts.get(key, 0) + 1
    parsable = sum(counts.values())
    if not parsable:
        return Vote("", 0, len(answers), len(answers), 0.0)
    best = max(
        counts, key=counts.get
    )  # the first of equals: a dictionary keeps the order of arrival
    return Vote(
        spelled[best],
        counts[best],
        len(answers),
        len(answers) - parsable,
        counts[best] / (len(answers) if denominator == "samples" else parsable),
    )
