"""Head-to-head judging by a language model: who wins by which criterion, how often, and how sure
that is.

Three papers judge, each in its own way, and `judge_answers` does what each says:

- GraphRAG, Sec. 3.4: one criterion a call, five repeats, one order (the defaults);
- PathRAG, Sec. 5.1.4: its five criteria, both orders, the win rates averaged
  (`criteria=PATHRAG_CRITERIA, repeats=1, swap=True`; it names no repeats);
- the survey, App. A.4: all criteria and an overall winner in one call
  (`criteria=SURVEY_CRITERIA, repeats=1, overall=True`; neither repeats nor order are named).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..core.errors import MiniragError
from ..prompts import find_task
from ..prompts.judging import OVERALL

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
SURVEY_CRITERIA = GRAPHRAG_CRITERIA[:3]
TIES = ("half", "exclude")


@dataclass(frozen=True)
class Verdict:
    """One comparison by one criterion.

    winner: the name of a condition, "" for a tie, None where no reply could be read.
    slots: what was said in each order, 1 or 2 for the answer shown first or second, 0 for a tie;
    two entries where the order was swapped, the second with the answer of `second` in front.
    """

    question: str
    criterion: str
    first: str
    second: str
    winner: str | None
    reasons: tuple[str, ...]
    slots: tuple[int | None, ...]
    repeat: int = 0

    @property
    def winners(self):
        """The winner in each order, "" for a tie; empty where a reply could not be read."""
        if None in self.slots:
            return ()
        shown = (("", self.first, self.second), ("", self.second, self.first))
        return tuple(names[slot] for names, slot in zip(shown, self.slots))


def combine(first, second, slots):
    """Who won more over the orders, "" if nobody, None where a reply could not be read.

    A win in one order and a tie in the other are a win; two contradicting wins are a tie.

    Source: PathRAG, Sec. 5.1.4 (tab-1)
    """
    won = Verdict("", "", first, second, None, (), slots).winners
    lead = won.count(first) - won.count(second)
    return None if not won else first if lead > 0 else second if lead < 0 else ""


def judge_answers(
    llm, questions, answers, criteria=GRAPHRAG_CRITERIA, repeats=5, swap=False, overall=False,
    temperature=0.7, executor=None,
):  # fmt: skip
    """Compare every pair of conditions on every question: a list of `Verdict`.

    questions: {id: text}; answers: {condition: {question id: answer}}. Each comparison is asked
    `repeats` times, as samples at `temperature`. swap asks each once more with the answers in the
    other order. overall puts all criteria in one call, which also names an "overall winner";
    otherwise every criterion is a call of its own. Needs a model: the offline rules raise
    `MiniragError`.

    Source: GraphRAG, Sec. 3.4 (sec-3.4); PathRAG, Sec. 5.1.4 (tab-1); PathRAG, App. C (sec-C);
    Survey, Fig. 6 (fig-6); Survey, Fig. 19 (fig-19)
    """
    if unknown := sorted(set(criteria) - set(CRITERIA)):
        raise MiniragError(
            f"There is no criterion {unknown[0]!r}; there are: {', '.join(CRITERIA)}."
        )
    for condition, given in answers.items():
        if missing := [q for q in questions if q not in given]:
            raise MiniragError(
                f"{condition!r} has no answer to question {missing[0]!r}: every condition must answer every question."
            )
    together = [(*criteria, OVERALL)] if overall else [(criterion,) for criterion in criteria]
    pairs = list(combinations(answers, 2))
    asked = [(q, some, a, b) for a, b in pairs for some in together for q in questions]
    fields = [_fields(questions[q], some, answers[a][q], answers[b][q]) for q, some, a, b in asked]
    turned = [{**row, "first": row["second"], "second": row["first"]} for row in fields]
    task, verdicts = find_task("judge_overall" if overall else "judge"), []
    for repeat in range(repeats):
        sample, said = task.sampled(repeat, temperature), f"judging, repeat {repeat + 1}"
        orders = [fields, turned] if swap else [fields]
        rounds = [llm.map(sample, some, executor=executor, description=said) for some in orders]
        for (q, some, a, b), *replies in zip(asked, *rounds):
            for criterion in some:
                read = [_read(reply, criterion) if overall else reply for reply in replies]
                slots, reasons = zip(*read)
                winner = combine(a, b, slots)
                verdicts.append(Verdict(q, criterion, a, b, winner, reasons, slots, repeat))
    return verdicts


def _fields(question, criteria, first, second):
    shown = {"question": question, "first": first, "second": second}
    named = {name: CRITERIA[name] for name in criteria if name != OVERALL}
    one = {"criterion": criteria[0].capitalize(), "definition": CRITERIA[criteria[0]]}
    return shown | (one if len(criteria) == 1 else {"criteria": named})


def _read(reply, criterion):
    """`(winner, reason)` by one criterion in a reply about several, (None, "") if it is missing."""
    return next((verdict for name, *verdict in reply if name == criterion), (None, ""))


def win_rate(wins, losses, tied, ties="half"):
    """Percent won; a tie is half a win and half a loss, or is left out. None where nothing is left
    to divide by.

    Source: GraphRAG, Fig. 4 (fig-4)
    """
    if ties not in TIES:
        raise MiniragError(f"ties={ties!r}: expected 'half' or 'exclude'.")
    won, total = (
        (wins + tied / 2, wins + losses + tied) if ties == "half" else (wins, wins + losses)
    )
    return 100 * won / total if total else None


@dataclass(frozen=True)
class WinMatrix:
    """Percent won, row over column, `(conditions, conditions)`; the diagonal is not judged and
    shown as 50. `low` and `high` bound the interval.
    """

    criterion: str
    conditions: tuple[str, ...]
    rates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unread: int

    def __repr__(self):
        lines = [
            f"{self.criterion}: percent won, row over column, [95% of bootstrap samples]; {self.unread} replies could not be read"
        ]
        cell = lambda i, j: (
            "50"
            if i == j
            else f"{self.rates[i, j]:.0f} [{self.low[i, j]:.0f}, {self.high[i, j]:.0f}]"
        )
        rows = [
            [name, *(cell(i, j) for j in range(len(self.conditions)))]
            for i, name in enumerate(self.conditions)
        ]
        widths = [
            max(len(row[c]) for row in [["", *self.conditions], *rows])
            for c in range(len(self.conditions) + 1)
        ]
        return "\n".join(
            lines
            + [
                "  ".join(text.rjust(w) for text, w in zip(row, widths))
                for row in [["", *self.conditions], *rows]
            ]
        )


def win_matrix(verdicts, criterion, ties="half", samples=1000, seed=0):
    """Win rates of all pairs by one criterion, with a bootstrap over questions: repeats of a
    question are not independent, questions are.

    Where both orders were asked, each counts half: a win and a tie are three quarters of a win.

    Source: GraphRAG, Fig. 4 (fig-4); PathRAG, Sec. 5.1.4 (tab-1)
    """
    ours = [v for v in verdicts if v.criterion == criterion]
    conditions = tuple(dict.fromkeys(name for v in ours for name in (v.first, v.second)))
    shape = (len(conditions), len(conditions))
    rates, low, high = np.full(shape, 50.0), np.full(shape, 50.0), np.full(shape, 50.0)
    place = {name: i for i, name in enumerate(conditions)}
    counts = defaultdict(lambda: defaultdict(lambda: np.zeros(3)))
    for v in ours:
        column = {v.first: 0, v.second: 1, "": 2}
        for winner in v.winners:
            counts[v.first, v.second][v.question][column[winner]] += 1 / len(v.winners)
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
    """What the order of the two answers did, in percent: `{"first slot won": ..., "contradictory":
    ...}`; contradictions need swapped verdicts.
    """
    slots = Counter(slot for v in verdicts for slot in v.slots if slot in (1, 2))
    swapped = [v for v in verdicts if len(v.winners) == 2]
    contradictory = sum(set(v.winners) == {v.first, v.second} for v in swapped)
    decided = sum(slots.values())
    return {
        "first slot won": 100 * slots[1] / decided if decided else None,
        "contradictory": 100 * contradictory / len(swapped) if swapped else None,
    }
