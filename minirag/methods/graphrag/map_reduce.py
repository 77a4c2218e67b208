"""Map-reduce over a whole collection: shuffle, pack, answer each window, drop what scores 0, sort,
pack again, answer once.

The window is the whole prompt, question and instructions included; no prompt is a token larger, and
what did not fit is in the trace.
"""

import random
from dataclasses import dataclass, fields
from typing import Literal

from ...algorithms.packing import pack, prefix
from ...core.errors import MiniragError
from ...core.options import Options, Positive
from ...core.trace import Step
from ...prompts import find_task
from ...prompts.map_reduce import answer_block, unit_block
from ...text.tokens import TokenCounter, count_tokens

SCORINGS = {"answer": "map_answer", "points": "map_points"}
CUT = " [shortened]"


@dataclass(frozen=True)
class MapReduceChoices(Options):
    """How a collection is read. The defaults are the paper's; `CODE` holds what the released code
    does instead.

    window: tokens of a prompt (the paper tried 8k, 16k, 32k and 64k and kept 8k). whole_prompt: the
        instructions and the question count too; False counts the data alone, as the code does.
    seed: of the shuffle (the code always uses 86); None keeps the order given. resort: after
        packing, reports go by "rating" inside their window, or by "occurrence" (the code, G10): the
        passages that name a member of the community, then the rating.
    scoring: "answer", one answer and one score a window (paper), or "points", a list of scored
        points (G9).
    oversize: a unit larger than the window is "cut" to what fits, or "leave out", or alone in a
        window that "exceed"s the limit and parts the units before it from those after it (code).
    """

    window: Positive = 8000
    whole_prompt: bool = True
    seed: int | None = 0
    resort: Literal[False, "rating", "occurrence"] = False
    scoring: Literal["answer", "points"] = "answer"
    oversize: Literal["cut", "leave out", "exceed"] = "cut"
    count: TokenCounter = "regex"

    def tokens(self, text):
        return self.count(text) if callable(self.count) else count_tokens(text, self.count)


CODE = {
    "window": 12000, "whole_prompt": False, "seed": 86, "resort": "occurrence", "scoring": "points",
    "oversize": "exceed",
}  # fmt: skip
NAMES = frozenset(field.name for field in fields(MapReduceChoices))


def prompt_tokens(task, asked, choices):
    """Tokens of a prompt as `choices` count it: all its turns, or the data in it alone."""
    task = find_task(task)
    if not choices.whole_prompt:
        return choices.tokens(task.show(asked)["context"])
    return choices.tokens("\n".join(message["content"] for message in task.messages(asked)))


def shorten(text, fits):
    """The longest beginning of `text`, cut between words, for which `fits(beginning and a mark)`
    holds; "" if none does.
    """
    ends = [i for i, letter in enumerate(text) if letter.isspace()] + [len(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if fits(text[: ends[middle]] + CUT) else (low, middle)
    while low and not fits(text[: ends[low - 1]] + CUT):
        low -= 1
    return text[: ends[low - 1]] + CUT if low else ""


def windows_of(units, question, choices, rank=None):
    """Shuffled units in windows: `(windows, step)`, a window being a list of units.

    units: `[(id, text)]`. rank: id -> what `resort` sorts by inside a window, highest first.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """
    size = lambda some: prompt_tokens(
        SCORINGS[choices.scoring], {"question": question, "units": some}, choices
    )
    units, header = list(units), size([])
    if choices.seed is not None:
        random.Random(choices.seed).shuffle(units)
    if units and header >= choices.window:
        said = f"A window of {choices.window} tokens cannot hold anything: instructions and question alone take {header}."
        raise MiniragError(f"{said} Use a larger window.")
    fitted, changed = _fitted(units, size, header, choices)
    sizes = [_tokens(unit, choices) for unit in fitted]
    packed, _ = pack(sizes, choices.window, header, split=True)
    windows = [[fitted[i] for i in window] for window in packed]
    windows = _checked(windows, lambda window: size(window) <= choices.window)
    if choices.resort and rank:
        place = lambda unit: rank[unit[0]]
        windows = [sorted(window, key=place, reverse=True) for window in windows]
    return windows, _packing_step(len(units), windows, list(map(size, windows)), choices, changed)


def _tokens(unit, choices):
    """Tokens of a unit in a window, with the blank line after it."""
    return choices.tokens(unit_block(unit) + "\n\n")


def _fitted(units, size, header, choices):
    """Units, those larger than a window shortened, left out or kept, and what was done to which."""
    fitted, changed = [], {"shortened": [], "left_out": []}
    for name, text in units:
        holds = lambda text: size([(name, text)]) <= choices.window
        small = header + _tokens((name, text), choices) <= choices.window or holds(text)
        if small or choices.oversize == "exceed":
            fitted.append((name, text))
        elif choices.oversize == "cut" and (shorter := shorten(text, holds)):
            fitted.append((name, shorter))
            changed["shortened"].append(name)
        else:
            changed["left_out"].append(name)
    return fitted, changed


def _checked(windows, fits):
    """A tokenizer may count a text as more than its parts: then the last units of a window move to
    one of their own.
    """
    for window in windows:
        moved = []
        while len(window) > 1 and not fits(window):
            moved.insert(0, window.pop())
        if moved:
            windows.append(moved)
    return windows


def _packing_step(count, windows, tokens, choices, changed):
    shortened, left_out = changed["shortened"], changed["left_out"]
    order = "in the order given" if choices.seed is None else f"shuffled (seed {choices.seed})"
    said = [
        f"{count} units {order} into {len(windows)} windows of at most {choices.window} tokens, "
        f"the largest {max(tokens, default=0)}"
    ]
    if shortened:
        said.append(f"{len(shortened)} larger than a window, shortened")
    if left_out:
        said.append(f"{len(left_out)} LEFT OUT, larger than a window")
    if over := sum(size > choices.window for size in tokens):
        said.append(f"{over} windows exceed the limit, each with one unit")
    held = [[unit[0] for unit in window] for window in windows]
    data = {"windows": held, "tokens": tokens, "limit": choices.window, **changed}
    return Step("pack", "; ".join(said), (), data)


def map_reduce(llm, question, units, choices, what="reports", executor=None, rank=None):
    """Answer from a whole collection: `(text, steps, kept)`; `kept` are `(answer, score, unit ids
    of its window)` of what the answer rests on.

    units, rank: as in `windows_of`. executor: any `concurrent.futures.Executor` for the map step.
    Where no partial answer scores above 0 nobody is asked to reduce, and the text says so.

    Source: GraphRAG, Sec. 2.6 (sec-2.6); Survey, Sec. 6.3 (generation)
    """
    windows, packing = windows_of(units, question, choices, rank)
    asked = [{"question": question, "units": window} for window in windows]
    replies = llm.map(SCORINGS[choices.scoring], asked, executor=executor, description="map")
    partial = [
        (text, score, tuple(unit[0] for unit in window))
        for window, reply in zip(windows, replies)
        for text, score in reply
    ]
    helpful = sorted((row for row in partial if row[1] > 0), key=lambda row: -row[1])
    unread = sum(not reply for reply in replies)
    kind = (
        "helpfulness as the model scored it"
        if llm.is_model
        else "score: percent of the question's words that the quotes contain, an overlap"
    )
    said = f"{len(windows)} windows gave {len(partial)} partial answers; {len(partial) - len(helpful)} with score 0 dropped; {kind}"
    said += f"; {unread} windows without a readable answer" * bool(unread)
    mapped = Step(
        "map",
        said,
        tuple((text[:80], score) for text, score, _ in helpful[:10]),
        {"answers": partial, "dropped": len(partial) - len(helpful)},
    )
    if not helpful:
        text = f"The {what} hold no answer to this question: none of the {len(partial)} partial answers scored above 0."
        return (
            text,
            (
                packing,
                mapped,
                Step("reduce", "nothing to reduce", (), {"tokens": 0, "left_out": 0}),
            ),
            [],
        )
    kept, reducing = _reduce_window(question, helpful, choices)
    if not kept:
        return (
            f"A window of {choices.window} tokens holds none of the partial answers.",
            (packing, mapped, reducing),
            [],
        )
    return (
        llm("reduce_answer", question=question, answers=[row[:2] for row in kept]),
        (packing, mapped, reducing),
        kept,
    )


def _reduce_window(question, helpful, choices):
    """As many of the best partial answers as fit; the first overflow stops. A best answer that is
    larger than the window is shortened.
    """
    size = lambda rows: prompt_tokens(
        "reduce_answer", {"question": question, "answers": [row[:2] for row in rows]}, choices
    )
    sizes = [
        choices.tokens(answer_block(i, row) + "\n\n") for i, row in enumerate(helpful, start=1)
    ]
    kept = list(helpful[: prefix(sizes, choices.window, size([]))])
    cut = ""
    if not kept:
        best = helpful[0]
        text = shorten(best[0], lambda text: size([(text, *best[1:])]) <= choices.window)
        kept, cut = ([(text, *best[1:])], "; the best one shortened") if text else ([], "")
    while kept and size(kept) > choices.window:
        kept.pop()
    tokens, left = size(kept), len(helpful) - len(kept)
    said = f"{len(kept)} of {len(helpful)} answers in a window of {tokens} tokens (limit {choices.window}){cut}; {left} did not fit"
    return kept, Step(
        "reduce",
        said,
        tuple((row[0][:80], row[1]) for row in kept[:10]),
        {"tokens": tokens, "left_out": left, "limit": choices.window},
    )
