"""Scores of a retrieval or an answer, as the papers compute them."""

from collections import Counter

from ..algorithms.voting import normalise_answer
from ..core.errors import MiniragError

VERDICTS = frozenset(("yes", "no", "noanswer"))


def recall_at_k(retrieved, gold, k):
    """Share of the gold ids among the first k retrieved, rounded to 4 decimals a question as
    HippoRAG's authors do.

    Source: Wang, Table IV (tab-4)
    """
    return round(len(set(gold) & set(retrieved[:k])) / len(set(gold)), 4)


def exact_match(answer, accepted):
    """1.0 if the normalised answer is one of the accepted ones, else 0.0.

    Source: Wang, Table V (tab-5)
    """
    return float(normalise_answer(answer) in {normalise_answer(a) for a in accepted})


def f1(answer, accepted, yes_no="words"):
    """The best token-overlap F1 of the answer with an accepted one.

    yes_no: "words" counts yes, no and noanswer like other words (MuSiQue's own F1); "exact" gives 0
    where one of the two is such a word and the other is not the same (HotpotQA's and
    2WikiMultiHopQA's own).

    Source: Wang, Table V (tab-5)
    """
    if yes_no not in ("words", "exact"):
        raise MiniragError(f"yes_no={yes_no!r}: expected 'words' or 'exact'.")
    found, exact = normalise_answer(answer), yes_no == "exact"
    return max((_f1(found, normalise_answer(one), exact) for one in accepted), default=0.0)


def _f1(found, wanted, exact):
    if exact and found != wanted and VERDICTS & {found, wanted}:
        return 0.0
    found, wanted = found.split(), wanted.split()
    if not found or not wanted:
        return float(found == wanted)
    shared = sum((Counter(found) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(found), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def answer_coverage(passages, accepted):
    """1.0 if an accepted answer occurs, as whole normalised words, in one of the passages, else
    0.0.

    This asks whether a reader could find the answer in what was retrieved; it says nothing about a
    reader who did.
    """
    texts = [f" {normalise_answer(p)} " for p in passages]
    wanted = [normalise_answer(a) for a in accepted]
    return float(any(f" {a} " in text for a in wanted if a for text in texts))
