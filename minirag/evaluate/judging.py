"""Head-to-head judging by a language model: who wins by which criterion, how often, and how sure that is.

Differs from the papers in: order swapping is our extension, off by default; neither GraphRAG nor the survey mentions it.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..prompts import find_task
from ..utils import MiniragError

CRITERIA = {
    "comprehensiveness": "How many of the question's sides does the answer treat, and in how much detail?",
    "diversity": "How many different views and insights on the question does the answer offer?",
    "empowerment": "How well does the answer let the reader understand the matter and judge it for themselves?",
    "directness": "How plainly and specifically does the answer address what was asked?",
    "logicality": "How sound are the steps by which the answer gets from one statement to the next?",
    "relevance": "How much of the answer bears on the question, without straying from it?",
    "coherence": "How well do the parts of the answer hang together?",
}
GRAPHRAG_CRITERIA = ("comprehensiveness", "diversity", "empowerment", "directness")
PATHRAG_CRITERIA = ("comprehensiveness", "diversity", "logicality", "relevance", "coherence")
TIES = ("half", "exclude")


@dataclass(frozen=True)
class Verdict:
    """One comparison: `winner` is the name of a condition, "" for a tie, None where no reply could be read.

    slots: what was said in each order, 1 or 2 for the answer shown first or second, 0 for a tie; two entries where the order was swapped.
    """

    question: str
    criterion: str
    first: str
    second: str
    winner: str | None
    reasons: tuple[str, ...]
    slots: tuple[int | None, ...]
    repeat: int = 0


def combine(first, second, slots):
    """The winner out of what was said with `first` in front, and, where swapped, with `second` in front; a contradiction is a tie.

    Source: GraphRAG, Sec. 3.4 (sec-3.4)
    """
    names = {0: "", 1: first, 2: second}
    said = [names.get(slots[0])] + [{0: "", 1: second, 2: first}.get(slot) for slot in slots[1:]]
    if None in said:
        return None
    return said[0] if len(set(said)) == 1 else ""


def judge_answers(llm, questions, answers, criteria=GRAPHRAG_CRITERIA, repeats=5, swap=False, temperature=0.7, executor=None):
    """Compare every pair of conditions on every question: a list of `Verdict`.

    questions: {id: text}; answers: {condition: {question id: answer}}. Each comparison is asked `repeats` times, as samples at `temperature`, one
    criterion a call; swap asks each once more with the answers in the other order. Needs a model: the offline rules raise `MiniragError`.

    Source: GraphRAG, Sec. 3.4 (sec-3.4); PathRAG, App. C (sec-C); Survey, Fig. 6 (fig-6); Survey, Fig. 19 (fig-19)
    """
    unknown = sorted(set(criteria) - set(CRITERIA))
    if unknown:
        raise MiniragError(f"There is no criterion {unknown[0]!r}; there are: {', '.join(CRITERIA)}.")
    for condition, given in answers.items():
        if missing := [q for q in questions if q not in given]:
            raise MiniragError(f"{condition!r} has no answer to question {missing[0]!r}: every condition must answer every question.")
    pairs = [(q, c, a, b) for a, b in combinations(answers, 2) for c in criteria for q in questions]
    fields = [_fields(questions[q], c, answers[a][q], answers[b][q]) for q, c, a, b in pairs]
    verdicts = []
    for repeat in range(repeats):
        task = find_task("judge").sampled(repeat, temperature)
        rounds = [llm.map(task, fields, executor=executor, description=f"judging, repeat {repeat + 1}")]
        if swap:
            turned = [{**row, "first": row["second"], "second": row["first"]} for row in fields]
            rounds.append(llm.map(task, turned, executor=executor, description=f"judging swapped, repeat {repeat + 1}"))
        for (q, c, a, b), *said in zip(pairs, *rounds):
            slots = tuple(winner for winner, _ in said)
            verdicts.append(Verdict(q, c, a, b, combine(a, b, slots), tuple(reason for _, reason in said), slots, repeat))
    return verdicts


def _fields(question, criterion, first, second):
    return {"question": question, "criterion": criterion.capitalize(), "definition": CRITERIA[criterion], "first": first, "second": second}


def win_rate(wins, losses, tied, ties="half"):
    """Percent won; a tie is half a win and half a loss, or is left out. None where nothing is left to divide by.

    Source: GraphRAG, Fig. 4 (fig-4)
    """
    if ties not in TIES:
        raise MiniragError(f"ties={ties!r}: expected 'half' or 'exclude'.")
    won, total = (wins + tied / 2, wins + losses + tied) if ties == "half" else (wins, wins + losses)
    return 100 * won / total if total else None


@dataclass(frozen=True)
class WinMatrix:
    """Percent won, row over column, `(conditions, conditions)`; the diagonal is not judged and shown as 50. `low` and `high` bound the interval."""

    criterion: str
    conditions: tuple[str, ...]
    rates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unread: int

    def __repr__(self):
        lines = [f"{self.criterion}: percent won, row over column, [95% of bootstrap samples]; {self.unread} replies could not be read"]
        cell = lambda i, j: "50" if i == j else f"{self.rates[i, j]:.0f} [{self.low[i, j]:.0f}, {self.high[i, j]:.0f}]"
        rows = [[name, *(cell(i, j) for j in range(len(self.conditions)))] for i, name in enumerate(self.conditions)]
        widths = [max(len(row[c]) for row in [["", *self.conditions], *rows]) for c in range(len(self.conditions) + 1)]
        return "\n".join(lines + ["  ".join(text.rjust(w) for text, w in zip(row, widths)) for row in [["", *self.conditions], *rows]])


def win_matrix(verdicts, criterion, ties="half", samples=1000, seed=0):
    """Win rates of all pairs by one criterion, with a bootstrap over questions: repeats of a question are not independent, questions are.

    Source: GraphRAG, Fig. 4 (fig-4)
    """
    ours = [v for v in verdicts if v.criterion == criterion]
    conditions = tuple(dict.fromkeys(name for v in ours for name in (v.first, v.second)))
    shape = (len(conditions), len(conditions))
    rates, low, high = np.full(shape, 50.0), np.full(shape, 50.0), np.full(shape, 50.0)
    place = {name: i for i, name in enumerate(conditions)}
    counts = defaultdict(lambda: defaultdict(lambda: np.zeros(3)))
    for v in ours:
        if v.winner is not None:
            counts[v.first, v.second][v.question][0 if v.winner == v.first else 2 if v.winner == "" else 1] += 1
    rng = np.random.default_rng(seed)
    for (a, b), by_question in counts.items():
        table = np.array(list(by_question.values()))
        drawn = table[rng.integers(0, len(table), (samples, len(table)))].sum(axis=1)
        rate = win_rate(*table.sum(axis=0), ties)
        spread = [r for r in (win_rate(*row, ties) for row in drawn) if r is not None]
        i, j = place[a], place[b]
        bounds = np.percentile(spread, [2.5, 97.5]) if spread else (np.nan, np.nan)
        rates[i, j], low[i, j], high[i, j] = (np.nan if rate is None else rate), *bounds
        rates[j, i], low[j, i], high[j, i] = 100 - rates[i, j], 100 - high[i, j], 100 - low[i, j]
    return WinMatrix(criterion, conditions, rates, low, high, sum(v.winner is None for v in ours))


def order_effect(verdicts):
    """What the order of the two answers did, in percent: `{"first slot won": ..., "contradictory": ...}`; contradictions need swapped verdicts."""
    slots = Counter(slot for v in verdicts for slot in v.slots if slot in (1, 2))
    swapped = [v for v in verdicts if len(v.slots) == 2 and None not in v.slots]
    contradictory = sum(combine(v.first, v.second, v.slots) == "" and v.slots != (0, 0) for v in swapped)
    decided = sum(slots.values())
    return {
        "first slot won": 100 * slots[1] / decided if decided else None,
        "contradictory": 100 * contradictory / len(swapped) if swapped else None,
    }
