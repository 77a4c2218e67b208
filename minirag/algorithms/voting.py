"""Self-consistency: ask the same question several times, then let the answers vote."""

import re
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces (the SQuAD rule)."""
    text = text.lower().translate(PUNCTUATION)
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


def majority_vote(
    answers: Iterable[str | None],
    denominator: Literal["samples", "parsable"] = "samples",
    normalise: Callable[[str], str] = normalise_answer,
) -> Vote:
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
    spelled: dict[str, str] = {}
    counts: dict[str, int] = {}
    for answer in answers:
        if answer and re.search(r"\w", answer):
            # The rule takes the option "A" for an article.
            key = normalise(answer) or answer.strip().lower()
            spelled.setdefault(key, answer)
            counts[key] = counts.get(key, 0) + 1
    parsable = sum(counts.values())
    if not parsable:
        return Vote("", 0, len(answers), len(answers), 0.0)
    # Of equals the first: a dictionary keeps the order of arrival.
    best = max(counts, key=lambda key: counts[key])
    score = counts[best] / (len(answers) if denominator == "samples" else parsable)
    return Vote(spelled[best], counts[best], len(answers), len(answers) - parsable, score)
