"""What asking cost: calls and tokens per stage, because cost is half of what graph-based RAG papers
compare.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, fields
from html import escape

from ..prompts import STAGES


@dataclass(frozen=True)
class Counts:
    """calls: prompts answered; tokens: of those prompts and answers, also of replayed ones;
    dropped: items the parser could not use;
    malformed: replies that had any; retries: extra attempts; replayed: calls answered from a file,
    so not paid again.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dropped: int = 0
    malformed: int = 0
    retries: int = 0
    replayed: int = 0

    def __add__(self, other):
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other))))

    def __sub__(self, other):
        return Counts(*(a - b for a, b in zip(astuple(self), astuple(other))))

    @property
    def asked(self):
        return self.calls - self.replayed


@dataclass
class Spent:
    """The tokens of a block of code, filled in when it ends; see `Ledger.spent`."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Ledger:
    """Counts per stage (build, index, retrieve, answer). Threads may add at once; `snapshot` is a
    copy that stands still.

    `ledger - earlier_snapshot` is a ledger of what came in between. `note` says whose tokens these
    are.
    """

    def __init__(self, counts=None, note=""):
        self._counts = dict(counts or {})
        self._lock = threading.Lock()
        self.note = note

    def __getstate__(self):
        return {"_counts": dict(self._counts), "note": self.note}

    def __setstate__(self, state):
        self.__init__(state["_counts"], state["note"])

    def add(self, stage, counts):
        with self._lock:
            self._counts[stage] = self._counts.get(stage, Counts()) + counts

    def __getitem__(self, stage):
        return self._counts.get(stage, Counts())

    @property
    def total(self):
        return sum(dict(self._counts).values(), Counts())

    def snapshot(self):
        with self._lock:
            return Ledger(self._counts, self.note)

    def __sub__(self, earlier):
        now = self.snapshot()
        return Ledger({stage: now[stage] - earlier[stage] for stage in now._counts}, self.note)

    @contextmanager
    def spent(self) -> Iterator[Spent]:
        """`with llm.ledger.spent() as spent:` gives `spent.prompt_tokens` and
        `spent.completion_tokens` of all that was asked in the block, once it has ended.
        """
        before, spent = self.snapshot(), Spent()
        yield spent
        total = (self - before).total
        spent.prompt_tokens, spent.completion_tokens = total.prompt_tokens, total.completion_tokens

    def table(self):
        """One row (a dict) per stage that was used, then the total."""
        counts = self.snapshot()._counts
        stages = [stage for stage in STAGES if stage in counts] + sorted(set(counts) - set(STAGES))
        return [{"stage": stage, **asdict(counts[stage])} for stage in stages] + [
            {"stage": "total", **asdict(self.total)}
        ]

    def __repr__(self):
        names = ["stage", *(field.name for field in fields(Counts))]
        rows = [names] + [
            [f"{row[name]:,}" if name != "stage" else row[name] for name in names]
            for row in self.table()
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
            )
            for row in rows
        ]
        return "\n".join(lines + ([self.note] if self.note else []))

    def _repr_html_(self):
        names = ["stage", *(field.name for field in fields(Counts))]
        head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
        body = ""
        for row in self.table():
            cells = [escape(row["stage"]), *(f"{row[name]:,}" for name in names[1:])]
            body += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        return f"<table><tr>{head}</tr>{body}</table>" + (
            f"<p>{escape(self.note)}</p>" if self.note else ""
        )
