"""How answers to questions over knowledge graphs, and verdicts on claims, are read and marked."""

import re
from dataclasses import replace
from typing import Literal

from ..core.corpus import Question
from ..prompts.answer import ANSWER
from ..prompts.map_reduce import stems
from ..prompts.task import Fields
from ..text.chunking import sentences_of
from .metrics import exact_match

Label = Literal["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
AFTER = "the answer is"
# What a method is asked of a claim, which follows in a line of its own.
ASKED = "Is this claim true or false, or is there not enough info?\n"
# In this order: what refutes is looked for first.
WORDS: tuple[tuple[Label, tuple[str, ...]], ...] = (
    ("REFUTES", ("refute", "false", "incorrect", "not accurate", "not true", "not correct",
                 "does not make sense", "not entirely accurate", "incomplete")),
    ("SUPPORTS", ("support", "true", "correct")),
    ("NOT ENOUGH INFO", ("not enough info",)),
)  # fmt: skip


def claim_label(text: str, reading: Literal["words", "substrings"] = "words") -> Label:
    """SUPPORTS, REFUTES or NOT ENOUGH INFO, as a reply says behind its last "the answer is"; a
    reply that says none of them is NOT ENOUGH INFO.

    reading: "substrings" is what Chain-of-Knowledge's released code does for FEVER: the first word
    of a list that occurs anywhere, so that "unsupported" supports and "incomplete evidence"
    refutes. "words" reads whole words, and a denied one ("not supported", "untrue") as the other
    verdict.
    """
    said = text.lower().rpartition(AFTER)[2]
    if reading == "substrings":
        found = [label for label, words in WORDS if any(word in said for word in words)]
        return found[0] if found else "NOT ENOUGH INFO"
    if "not enough info" in said:
        return "NOT ENOUGH INFO"
    denied = bool(re.search(r"\b(?:not|un(?=true|support)|isn't|never)", said))
    if re.search(r"\b(?:refute[sd]?|false|incorrect|wrong)\b", said):
        return "SUPPORTS" if denied else "REFUTES"
    if re.search(r"(?:\b|un)(?:support(?:s|ed)?|true)\b|\bcorrect\b", said):
        return "REFUTES" if denied else "SUPPORTS"
    return "NOT ENOUGH INFO"


def wording(asked: Question) -> str:
    """The text that a method is given: a question as it is, a claim behind what is asked of it."""
    return ASKED * (asked.kind == "claim") + asked.text


def marked(answer: str, asked: Question) -> float:
    """1.0 where the answer is an accepted one, or says the label of a claim, else 0.0."""
    if asked.kind == "claim":
        return float(claim_label(answer) in asked.answers)
    return exact_match(answer, asked.answers)


def label_by_rule(fields: Fields) -> str:
    """A claim is true where all its words stand in one sentence (with its passage's title) or one
    triple, false where more than half of them do, and cannot be judged by fewer.

    A crude rule, of words alone: a claim that needs two passages is never found true, and one that
    differs from a sentence by a name is false only because the name is missing.
    """
    claim, best = stems(fields["question"].removeprefix(ASKED)), 0.0
    for title, _, text in (passage.partition("\n") for passage in fields["passages"]):
        for sentence in sentences_of(text or title):
            found = stems(f"{title} {sentence}" if text else sentence)
            best = max(best, len(claim & found) / max(1, len(claim)))
    said = "true" if best == 1 else "false" if best > 0.5 else "not enough info"
    return f"Thought: {best:.0%} of the claim's words stand together.\nAnswer: {said}"


# The prompt of `answer`; only the offline rule is another one, since that of `answer` quotes.
JUDGED = replace(ANSWER, rule=label_by_rule)
