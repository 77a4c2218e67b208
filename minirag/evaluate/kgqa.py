"""How answers to questions over knowledge graphs, and verdicts on claims, are read and marked."""

import re
from typing import Literal

Label = Literal["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
AFTER = "the answer is"
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
