"""Questions that need a whole corpus, and head-to-head judging of their answers by a language
model: who wins by which criterion, how often, and how sure that is.

Three papers judge, each in its own way, and `judge_answers` does what each says:

- GraphRAG, Sec. 3.4: one criterion a call, five repeats, one order (the defaults);
- PathRAG, Sec. 5.1.4: its five criteria, both orders, the win rates averaged
  (`criteria=PATHRAG_CRITERIA, repeats=1, swap=True`; it names no repeats);
- the survey, App. A.4: all criteria and an overall winner in one call
  (`criteria=SURVEY_CRITERIA, repeats=1, overall=True`; neither repeats nor order are named).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MiniragError
from ..core.options import check_value
from ..llm import LLM
from ..prompts import find_task
from ..prompts.questions_and_judging import OVERALL
from .metrics import answer_all

CRITERIA = {
    "comprehensiveness": "How many of the question's sides does the answer treat, and in how much"
    " detail?",
    "diversity": "How many different views and insights on the question does the answer offer?",
    "empowerment": "How well does the answer let the reader understand the matter and judge it for"
    " themselves?",
    "directness": "How plainly and specifically does the answer address what was asked?",
    "logicality": "How sound are the steps by which the answer gets from one statement to the"
    " next?",
    "relevance": "How much of the answer bears on the question, without straying from it?",
    "coherence": "How well do the parts of the answer hang together?",
}
GRAPHRAG_CRITERIA = ("comprehensiveness", "diversity", "empowerment", "directness")
PATHRAG_CRITERIA = ("comprehensiveness", "diversity", "logicality", "relevance", "coherence")
SURVEY_CRITERIA = GRAPHRAG_CRITERIA[:3]
WINDOWS = (8000, 16000, 32000, 64000)
Ties = Literal["half", "exclude"]
Slots = tuple[int | None, ...]


@dataclass(frozen=True)
class SenseQuestion:
    """A global question, and for whom and what it was made up."""

    id: str
    text: str
    user: str
    task: str


def generate_questions(
    llm: LLM, description: str, users: int = 5, tasks: int = 5, questions: int = 5,
    executor: Executor | None = None,
) -> list[SenseQuestion]:  # fmt: skip
    """N users, N tasks for each, N questions for each task, out of a short description of a corpus:
    125 for N = 5, fewer where a model names fewer.

    Needs a model: the offline rules raise `MiniragError`.

    Source: GraphRAG, Sec. 3.2 (sec-3.2); GraphRAG, Table 1 (tab-1); Survey, Fig. 18 (fig-18)
    """
    people = llm("user_tasks", description=description, users=users, tasks=tasks)[:users]
    pairs = [(user, task) for user, named in people for task in named[:tasks]]
    fields = [
        {"description": description, "user": user, "activity": task, "count": questions}
        for user, task in pairs
    ]
    written = llm.map("global_questions", fields, executor=executor, description="questions")
    rows = [(text, *pair) for pair, texts in zip(pairs, written) for text in texts[:questions]]
    return [SenseQuestion(f"g{number:03d}", *row) for number, row in enumerate(rows, start=1)]


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
    slots: Slots
    repeat: int = 0

    @property
    def winners(self) -> tuple[str, ...]:
        """The winner in each order, "" for a tie; empty where a reply could not be read."""
        shown = (("", self.first, self.second), ("", self.second, self.first))
        read = [names[slot] for names, slot in zip(shown, self.slots) if slot is not None]
        return tuple(read) if len(read) == len(self.slots) else ()


def combine(first: str, second: str, slots: Slots) -> str | None:
    """Who won more over the orders, "" if nobody, None where a reply could not be read.

    A win in one order and a tie in the other are a win; two contradicting wins are a tie.

    Source: PathRAG, Sec. 5.1.4 (tab-1)
    """
    won = Verdict("", "", first, second, None, (), slots).winners
    lead = won.count(first) - won.count(second)
    if not won:
        return None
    return first if lead > 0 else second if lead < 0 else ""


def judge_answers(
    llm: LLM, questions: Mapping[str, str], answers: Mapping[str, Mapping[str, str]],
    criteria: Sequence[str] = GRAPHRAG_CRITERIA, repeats: int = 5, swap: bool = False,
    overall: bool = False, temperature: float = 0.7, executor: Executor | None = None,
) -> list[Verdict]:  # fmt: skip
    """Compare every pair of conditions on every question.

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
        if missing := [id for id in questions if id not in given]:
            raise MiniragError(
                f"{condition!r} has no answer to question {missing[0]!r}: every condition must"
                " answer every question."
            )
    together = [(*criteria, OVERALL)] if overall else [(criterion,) for criterion in criteria]
    pairs = list(combinations(answers, 2))
    asked = [(id, named, *pair) for pair in pairs for named in together for id in questions]
    fields = [
        _fields(questions[id], named, answers[a][id], answers[b][id]) for id, named, a, b in asked
    ]
    turned = [{**row, "first": row["second"], "second": row["first"]} for row in fields]
    task, verdicts = find_task("judge_overall" if overall else "judge"), []
    orders = [fields, turned] if swap else [fields]

    def ask(repeat: int) -> list[list[Any]]:
        sample, said = task.sampled(repeat, temperature), f"judging, repeat {repeat + 1}"
        return llm.each(lambda rows: llm.map(sample, rows, executor, said), orders)

    for repeat, rounds in enumerate(llm.each(ask, range(repeats))):
        for (id, named, a, b), *replies in zip(asked, *rounds):
            for criterion in named:
                read = [_read(reply, criterion) if overall else reply for reply in replies]
                slots, reasons = zip(*read)
                winner = combine(a, b, slots)
                verdicts.append(Verdict(id, criterion, a, b, winner, reasons, slots, repeat))
    return verdicts


def _fields(question: str, criteria: Sequence[str], first: str, second: str) -> dict[str, Any]:
    """What a prompt of one criterion, or of several, shows."""
    shown = {"question": question, "first": first, "second": second}
    if len(criteria) > 1:
        named = {name: CRITERIA[name] for name in criteria if name != OVERALL}
        return {**shown, "criteria": named}
    name = criteria[0]
    return {**shown, "criterion": name.capitalize(), "definition": CRITERIA[name]}


def _read(reply: Sequence[Sequence[Any]], criterion: str) -> Sequence[Any]:
    """`(winner, reason)` by one criterion in a reply about several, (None, "") if it is missing."""
    return next((verdict for name, *verdict in reply if name == criterion), (None, ""))


def win_rate(wins: float, losses: float, tied: float, ties: Ties = "half") -> float | None:
    """Percent won; a tie is half a win and half a loss, or is left out. None where nothing is left
    to divide by.

    Source: GraphRAG, Fig. 4 (fig-4)
    """
    check_value("ties", ties, Ties)
    shared = tied if ties == "half" else 0
    total = wins + losses + shared
    return 100 * (wins + shared / 2) / total if total else None


@dataclass(frozen=True)
class WinMatrix:
    """Percent won, row over column, `(conditions, conditions)`; the diagonal is not judged and
    shown as 50. `low` and `high` bound the interval.
    """

    criterion: str
    conditions: tuple[str, ...]
    rates: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    unread: int

    def __repr__(self) -> str:
        head = f"{self.criterion}: percent won, row over column, [95% of bootstrap samples]"
        rows = [["", *self.conditions]]
        for i, name in enumerate(self.conditions):
            cells = [
                f"{rate:.0f} [{low:.0f}, {high:.0f}]"
                for rate, low, high in zip(self.rates[i], self.low[i], self.high[i])
            ]
            cells[i] = "50"
            rows.append([name, *cells])
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths)) for row in rows]
        return "\n".join([f"{head}; {self.unread} replies could not be read", *lines])


def win_matrix(
    verdicts: Sequence[Verdict], criterion: str, ties: Ties = "half", samples: int = 1000,
    seed: int = 0,
) -> WinMatrix:  # fmt: skip
    """Win rates of all pairs by one criterion, with a bootstrap over questions: repeats of a
    question are not independent, questions are.

    Where both orders were asked, each counts half: a win and a tie are three quarters of a win.

    Source: GraphRAG, Fig. 4 (fig-4); PathRAG, Sec. 5.1.4 (tab-1)
    """
    ours = [v for v in verdicts if v.criterion == criterion]
    conditions = tuple(dict.fromkeys(name for v in ours for name in (v.first, v.second)))
    place = {name: i for i, name in enumerate(conditions)}
    rates, low, high = (np.full((len(place), len(place)), 50.0) for _ in range(3))
    counts: dict[tuple[str, str], dict[str, NDArray[np.float64]]] = {}  # wins, losses, ties
    for v in ours:
        by_question = counts.setdefault((v.first, v.second), {})
        for winner in v.winners:
            row = by_question.setdefault(v.question, np.zeros(3))
            row[(v.first, v.second, "").index(winner)] += 1 / len(v.winners)
    rng = np.random.default_rng(seed)
    for (first, second), by_question in counts.items():
        if not by_question:
            continue
        table = np.array(list(by_question.values()))
        drawn = table[rng.integers(0, len(table), (samples, len(table)))].sum(axis=1)
        both = (table.sum(axis=0), *drawn)
        rate, *found = (win_rate(wins, losses, tied, ties) for wins, losses, tied in both)
        spread = [sample for sample in found if sample is not None]
        i, j = place[first], place[second]
        rates[i, j] = np.nan if rate is None else rate
        low[i, j], high[i, j] = np.percentile(spread or [np.nan], [2.5, 97.5])
        rates[j, i], low[j, i], high[j, i] = 100 - rates[i, j], 100 - high[i, j], 100 - low[i, j]
    return WinMatrix(criterion, conditions, rates, low, high, sum(v.winner is None for v in ours))


def order_effect(verdicts: Sequence[Verdict]) -> dict[str, float | None]:
    """What the order of the two answers did, in percent: `{"first slot won": ..., "contradictory":
    ...}`; contradictions need swapped verdicts.
    """
    slots = Counter(slot for v in verdicts for slot in v.slots if slot in (1, 2))
    swapped = [v for v in verdicts if len(v.winners) == 2]
    contradictory = sum(set(v.winners) == {v.first, v.second} for v in swapped)
    decided = slots.total()
    return {
        "first slot won": 100 * slots[1] / decided if decided else None,
        "contradictory": 100 * contradictory / len(swapped) if swapped else None,
    }


def compare_windows(
    method: Any, judge: LLM, questions: Mapping[str, str], windows: Sequence[int] = WINDOWS,
    criteria: Sequence[str] = GRAPHRAG_CRITERIA[:3], **judging: Any,
) -> list[Verdict]:  # fmt: skip
    """Answer every question with each window and judge the answers pairwise.

    method: one with a window, such as `graphrag-ss`, with which GraphRAG chose its 8k tokens; its
    language model answers, `judge` compares. questions: {id: text}; **judging: of `judge_answers`.
    Raises `MiniragError` where a rule would have to answer or to judge.

    Source: GraphRAG, Sec. 3.5 (sec-3.5)
    """
    for llm, what in ((method.llm, "answers of several windows"), (judge, "a judgement of them")):
        if not llm.is_model:
            raise MiniragError(f"needs a model: {llm.name} cannot give {what}.")
    methods = {f"{window:,} tokens": method.with_options(window=window) for window in windows}
    texts = list(questions.values())
    written = method.llm.each(lambda name: answer_all(methods[name], texts), methods)
    answers = {
        name: dict(zip(questions, (answer.text for answer in given)))
        for name, given in zip(methods, written)
    }
    return judge_answers(judge, questions, answers, criteria, **judging)
