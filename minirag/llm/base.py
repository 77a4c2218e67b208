"""One way to ask: `llm(task, **fields)`, and `llm.map(task, many_fields)` over any executor."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..core.display import progress
from ..core.errors import MiniragError
from ..prompts import TASKS, Task, find_task
from ..prompts.task import Fields, Messages
from ..text.tokens import count_tokens
from .ledger import Counts, Ledger

Item = TypeVar("Item")
Value = TypeVar("Value")
ROUND: ContextVar[object] = ContextVar("ROUND", default=None)  # that the outermost `each` began


@dataclass(frozen=True)
class Completion:
    """A reply and what it cost. `replayed`: it came from a file; `estimated`: nobody was asked (a
    dry run).
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retries: int = 0
    replayed: bool = False
    estimated: bool = False


class Reply(NamedTuple):
    """What a prompt was answered with: the parsed value, the task's stage, and what it cost."""

    value: Any
    stage: str
    counts: Counts


class Waiting(MiniragError):
    """Prompts wait for the answers of a batch. `end_round` of the model that they wait for sends
    them and returns when they are answered, or raises the error that says what to do.
    """

    def __init__(self, message: str, end_round: Callable[[], None]) -> None:
        super().__init__(message)
        self.end_round = end_round


class LLM:
    """Whatever answers tasks. A subclass sets `name` and implements `complete(task, messages,
    fields) -> Completion`.

    is_model: False for rules, so that no table shows their work as a model's.
    travels: whether a copy may work in another process; if not, `map` takes threads only.
    waits: whether answers come in batches, so that a prompt may raise `Waiting`.
    """

    name = "unnamed"
    is_model = True
    travels = False
    waits = False
    note = ""

    def __init__(self) -> None:
        self.ledger = Ledger(note=self.note)

    def __repr__(self) -> str:
        return self.name

    def signed(self, spent: Counts) -> str:
        """Who wrote an answer that took these calls."""
        return self.name

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        raise MiniragError(
            f"{type(self).__name__} must implement complete(task, messages, fields) "
            "and return a Completion."
        )

    def __call__(self, task: Task | str, **fields: Any) -> Any:
        """Ask, parse, count; return the parsed value. A reply that breaks the format never raises,
        its losses are in the ledger.
        """
        reply = ask(self, task, fields)
        self.ledger.add(reply.stage, reply.counts)
        return reply.value

    def map(
        self,
        task: Task | str,
        list_of_fields: Iterable[Fields],
        executor: Executor | None = None,
        description: str = "",
    ) -> list[Any]:
        """The values for many fields, in order.

        executor: None, a thread pool, a process pool, or a Dask cluster's `client.get_executor()`.
        If one call fails, those not yet started are cancelled, the others are waited for and
        counted, and the error is raised.
        """
        task, items = find_task(task), list(list_of_fields)
        if self.waits:
            return self.each(lambda fields: self(task, **fields), items)
        if executor is None:
            return [self(task, **fields) for fields in progress(items, description=description)]
        threads = isinstance(executor, ThreadPoolExecutor)
        if not (threads or self.travels):
            raise MiniragError(
                f"{self.name} cannot be sent to another process. "
                "Use a concurrent.futures.ThreadPoolExecutor."
            )
        # A call to a model is slow and goes alone; rules are quick, so other processes get them by
        # the dozen.
        size = 1 if threads else max(1, min(64, len(items) // 16))
        batches = [items[start : start + size] for start in range(0, len(items), size)]
        # A name travels better than functions do.
        portable = task.name if TASKS.get(task.name) is task else task
        futures = [executor.submit(ask_all, self, portable, batch) for batch in batches]
        self._collect(futures, description, len(items))
        return [reply.value for future in futures for reply in future.result()]

    def each(
        self, ask: Callable[[Item], Value], items: Iterable[Item], executor: Executor | None = None
    ) -> list[Value]:
        """`[ask(item) for item in items]`, for loops whose items ask this model.

        Where answers come in batches, an item that waits does not keep the next ones from asking:
        all prompts of a round go into one batch, and `Waiting` is raised once, after the last item.
        executor: a thread pool, for answers that come one by one.
        """
        if not self.waits:
            return list(executor.map(ask, items) if executor else map(ask, items))
        values: dict[int, Value] = {}
        outer, left = ROUND.get(), list(enumerate(items))
        while left:
            last, waiting = None, []
            token = ROUND.set(outer or object())
            try:
                for place, item in left:
                    before = self.ledger.snapshot()
                    try:
                        values[place] = ask(item)
                    except Waiting as error:
                        last = error
                        waiting.append((place, item))
                        self.ledger.reset(before)  # the next round counts the item anew
            finally:
                ROUND.reset(token)
            if last and outer:
                raise last
            if last:
                last.end_round()
            left = waiting
        return [values[place] for place in sorted(values)]

    def _collect(self, futures: "list[Future[list[Reply]]]", description: str, total: int) -> None:
        try:
            with progress(description=description, total=total) as bar:
                for future in as_completed(futures):
                    bar.update(len(future.result()))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        finally:
            for future in futures:
                if not future.cancelled() and future.exception() is None:
                    for reply in future.result():
                        self.ledger.add(reply.stage, reply.counts)


class Capped(LLM):
    """A model that answers at most `max_calls` prompts, then raises before it asks the next one.

    record: the file that keeps the answers, if any.
    """

    def __init__(self, live: LLM, max_calls: int, record: str | Path | None = None) -> None:
        super().__init__()
        if live.waits:
            raise MiniragError("max_calls= of a batch is limited where its folder is opened.")
        self.live, self.name, self.max_calls, self.record = live, live.name, max_calls, record
        self._calls, self._lock = 0, threading.Lock()

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        with self._lock:
            if self._calls >= self.max_calls:
                kept = "were not recorded: record= names a file that keeps them."
                if self.record:
                    kept = f"are kept in {self.record} and not asked again."
                raise MiniragError(
                    f"stopped before call {self.max_calls + 1} to {self.name}: max_calls is "
                    f"{self.max_calls}. Raise it, or look at a dry run first. "
                    f"The answers so far {kept}"
                )
            self._calls += 1
        return self.live.complete(task, messages, fields)


def token_count(*texts: str) -> int:
    """Tokens as `minirag.text.tokens` counts them without a model: an estimate, for those who
    report none.
    """
    return sum(count_tokens(text) for text in texts)


def tokens_sent(messages: Messages) -> int:
    """The same of a whole chat."""
    return token_count(*(message["content"] for message in messages))


def ask(llm: LLM, task: Task | str, fields: Fields) -> Reply:
    """One question. A function of its own, so that a pool can run it."""
    task = find_task(task)
    completion = llm.complete(task, task.messages(fields), fields)
    value, dropped = task.parse(completion.text)
    if completion.estimated:
        dropped = 0
    tokens = completion.prompt_tokens, completion.completion_tokens
    malformed, replayed = int(dropped > 0), int(completion.replayed)
    counts = Counts(1, *tokens, dropped, malformed, completion.retries, replayed)
    return Reply(value, task.stage, counts)


def ask_all(llm: LLM, task: Task | str, batch: Iterable[Fields]) -> list[Reply]:
    """Several questions of one task, one after the other."""
    return [ask(llm, task, fields) for fields in batch]
