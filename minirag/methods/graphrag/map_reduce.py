"""The windows of map-reduce: how units are packed for the map step and partial answers for the
reduce step, and the steps of a trace that say which window holds what.

The window is the whole prompt, question and instructions included; no prompt is a token larger, and
what did not fit is in the trace. `global_search.map_reduce` puts the steps together.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...algorithms.report_elements import prefix
from ...core.errors import MiniragError
from ...core.trace import Step
from ...prompts import Task, find_task
from ...prompts.map_reduce import Unit, answer_block, unit_block
from ...prompts.task import Fields
from ...text.tokens import count_tokens
from .released import MapReduceOptions

SCORINGS = {"answer": "map_answer", "points": "map_points"}
CUT = " [shortened]"
Rank = Mapping[str, tuple[float, ...]]  # id of a unit -> what it is sorted by


class PartialAnswer(NamedTuple):
    """An intermediate answer from one window, how helpful it is, from 0 to 100, and the units of
    that window.
    """

    text: str
    score: float
    units: tuple[str, ...]


class Reduced(NamedTuple):
    """A global answer, the steps that led to it, and the partial answers that it rests on."""

    text: str
    steps: tuple[Step, ...]
    kept: Sequence[PartialAnswer]

    @property
    def best(self) -> dict[str, float]:
        """For each unit that the answer rests on, the best score of a partial answer that read
        it.
        """
        best: dict[str, float] = {}
        for answer in self.kept:
            for unit in answer.units:
                best[unit] = float(max(answer.score, best.get(unit, 0.0)))
        return best


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PackStep(Step):
    """Ids of the units in each window, the tokens of each window, and which units were larger than
    a window.
    """

    windows: Sequence[Sequence[str]]
    tokens: Sequence[int]
    limit: int
    shortened: Sequence[str]
    left_out: Sequence[str]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MapStep(Step):
    """All partial answers, in the order of the windows, and how many of them scored 0."""

    answers: tuple[PartialAnswer, ...]
    dropped: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReduceStep(Step):
    """Tokens of the last window, and how many helpful answers it does not hold."""

    tokens: int
    left_out: int
    limit: int


def prompt_tokens(task: str | Task, fields: Fields, options: MapReduceOptions) -> int:
    """Tokens of a prompt as the options count it: all its turns, or the data in it alone."""
    found: Task = find_task(task)
    if not options.whole_prompt:
        return count_tokens(found.show(fields)["context"], options.count)
    turns = [message["content"] for message in found.messages(fields)]
    return count_tokens("\n".join(turns), options.count)


def shorten(text: str, fits: Callable[[str], bool]) -> str:
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


def shuffle_and_pack(
    units: Sequence[Unit], question: str, options: MapReduceOptions, rank: Rank | None = None
) -> tuple[list[list[Unit]], PackStep]:
    """Units in random order, divided into windows of a given number of tokens.

    rank: what `resort` sorts by inside a window, highest first.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """
    units, packer = list(units), _Packer(question, options)
    if options.seed is not None:
        random.Random(options.seed).shuffle(units)
    windows = packer.pack(units)
    if options.resort and rank:
        for window in windows:
            window.sort(key=lambda unit: rank[unit[0]], reverse=True)
    return windows, packer.step(len(units), windows)


def pack(
    sizes: Iterable[int], limit: int, header: int = 0, split: bool = False, most: int | None = None
) -> tuple[list[list[int]], list[int]]:
    """Fill windows in the given order: `(windows, too_large)`.

    sizes: tokens of each item. header: tokens that every window spends before its first item. A
    window is closed when the next item would make it larger than `limit`. Returns lists of
    positions, and the positions that fit no window at all.
    most: a window holds at most so many items (None: as many as fit).
    split: an item that fits no window gets one of its own where it stands, between the items before
    and after it, as GraphRAG's released code has it.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """
    windows: list[list[int]] = []
    too_large: list[int] = []
    used = limit + 1
    for place, size in enumerate(sizes):
        if header + size > limit and not split:
            too_large.append(place)
        elif used + size > limit or len(windows[-1]) == most:
            windows.append([place])
            used = header + size
        else:
            windows[-1].append(place)
            used += size
    return windows, too_large


class _Packer:
    """Windows of one question; `shortened` and `left_out` are the units larger than a window."""

    def __init__(self, question: str, options: MapReduceOptions) -> None:
        self.question, self.options = question, options
        self.header = self.size([])
        self.shortened: list[str] = []
        self.left_out: list[str] = []

    def size(self, window: Sequence[Unit]) -> int:
        """Tokens of the prompt that shows a window."""
        fields = {"question": self.question, "units": window}
        return prompt_tokens(SCORINGS[self.options.scoring], fields, self.options)

    def pack(self, units: Sequence[Unit]) -> list[list[Unit]]:
        limit = self.options.window
        if units and self.header >= limit:
            raise MiniragError(
                f"A window of {limit} tokens cannot hold anything: instructions and question alone"
                f" take {self.header}. Use a larger window."
            )
        kept = ((name, self.fitted(name, text)) for name, text in units)
        fitted = [(name, text) for name, text in kept if text is not None]
        sizes, most = [self.tokens(unit) for unit in fitted], self.options.per_window
        packed, _ = pack(sizes, limit, self.header, split=True, most=most)
        windows = [[fitted[i] for i in window] for window in packed]
        # A tokenizer may count a text as more than its parts: then the last units of a window move
        # to a window of their own.
        for window in windows:
            moved: list[Unit] = []
            while len(window) > 1 and self.size(window) > limit:
                moved.insert(0, window.pop())
            if moved:
                windows.append(moved)
        return windows

    def tokens(self, unit: Unit) -> int:
        """Tokens of a unit in a window, with the blank line after it."""
        return count_tokens(unit_block(unit) + "\n\n", self.options.count)

    def fitted(self, name: str, text: str) -> str | None:
        """The text of a unit as it enters a window: whole, shortened, or None, left out."""

        def holds(text: str) -> bool:
            return self.size([(name, text)]) <= self.options.window

        small = self.header + self.tokens((name, text)) <= self.options.window or holds(text)
        if small or self.options.oversize == "exceed":
            return text
        if self.options.oversize == "cut" and (shorter := shorten(text, holds)):
            self.shortened.append(name)
            return shorter
        self.left_out.append(name)
        return None

    def step(self, count: int, windows: Sequence[Sequence[Unit]]) -> PackStep:
        limit, seed, sizes = self.options.window, self.options.seed, list(map(self.size, windows))
        order = "in the order given" if seed is None else f"shuffled (seed {seed})"
        room = f"windows of at most {limit} tokens, the largest {max(sizes, default=0)}"
        said = [f"{count} units {order} into {len(windows)} {room}"]
        if self.shortened:
            said.append(f"{len(self.shortened)} larger than a window, shortened")
        if self.left_out:
            said.append(f"{len(self.left_out)} LEFT OUT, larger than a window")
        if over := sum(size > limit for size in sizes):
            said.append(f"{over} windows exceed the limit, each with one unit")
        return PackStep(
            "pack", "; ".join(said), windows=[[name for name, _ in window] for window in windows],
            tokens=sizes, limit=limit, shortened=self.shortened, left_out=self.left_out,
        )  # fmt: skip


def map_record(
    answers: Sequence[PartialAnswer], helpful: Sequence[PartialAnswer], replies: Sequence[object],
    is_model: bool,
) -> MapStep:  # fmt: skip
    """The trace's record of the map step; `replies` are empty where a window had no readable
    answer.
    """
    kind = "score: percent of the question's words that the quotes contain, an overlap"
    if is_model:
        kind = "helpfulness as the model scored it"
    dropped, unread = len(answers) - len(helpful), sum(not reply for reply in replies)
    given = f"{len(replies)} windows gave {len(answers)} partial answers"
    said = [given, f"{dropped} with score 0 dropped", kind]
    if unread:
        said.append(f"{unread} windows without a readable answer")
    return MapStep("map", "; ".join(said), _rows(helpful), answers=tuple(answers), dropped=dropped)


def fill_last_window(
    question: str, helpful: Sequence[PartialAnswer], options: MapReduceOptions
) -> tuple[list[PartialAnswer], ReduceStep]:
    """As many of the best partial answers as the last window holds; the first overflow stops. A
    best answer that is larger than the window is shortened.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """

    def size(answers: Sequence[PartialAnswer]) -> int:
        fields = {"question": question, "answers": [answer[:2] for answer in answers]}
        return prompt_tokens("reduce_answer", fields, options)

    limit = options.window
    if not helpful:
        return [], ReduceStep("reduce", "nothing to reduce", tokens=0, left_out=0, limit=limit)
    blocks = [answer_block(i, answer[:2]) + "\n\n" for i, answer in enumerate(helpful, start=1)]
    sizes = [count_tokens(block, options.count) for block in blocks]
    kept, cut = list(helpful[: prefix(sizes, limit, size([]))]), ""
    if not kept:
        best = helpful[0]
        text = shorten(best.text, lambda text: size([best._replace(text=text)]) <= limit)
        if text:
            kept, cut = [best._replace(text=text)], "; the best one shortened"
    while kept and size(kept) > limit:
        kept.pop()
    tokens, left = size(kept), len(helpful) - len(kept)
    said = f"{len(kept)} of {len(helpful)} answers in a window of {tokens} tokens (limit {limit})"
    said += f"{cut}; {left} did not fit"
    return kept, ReduceStep("reduce", said, _rows(kept), tokens=tokens, left_out=left, limit=limit)


def _rows(answers: Sequence[PartialAnswer]) -> tuple[tuple[str, float], ...]:
    return tuple((answer.text[:80], answer.score) for answer in answers[:10])


def no_answer(
    answers: Sequence[PartialAnswer], helpful: Sequence[PartialAnswer], window: int, what: str
) -> str:
    """Why there is nothing to reduce. what: the name of the units."""
    if helpful:
        return f"A window of {window} tokens holds none of the partial answers."
    none = f"none of the {len(answers)} partial answers scored above 0"
    return f"The {what} hold no answer to this question: {none}."
