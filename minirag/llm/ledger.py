"""What asking cost: calls and tokens per stage, because cost is half of what graph-based RAG papers
compare.
"""

import threading
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields
from html import escape
from typing import Any

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

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other))))

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(*(a - b for a, b in zip(astuple(self), astuple(other))))

    @property
    def asked(self) -> int:
        return self.calls - self.replayed


class Ledger:
    """Counts per stage (build, index, retrieve, answer). Threads may add at once; `snapshot` is a
    copy that stands still.

    `ledger - earlier_snapshot` is a ledger of what came in between. `note` says whose tokens these
    are.
    """

    def __init__(self, counts: Mapping[str, Counts] | None = None, note: str = "") -> None:
        self._counts = dict(counts or {})
        self._lock = threading.Lock()
        self.note = note

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": dict(self._counts), "note": self.note}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(vars(Ledger(**state)))

    def add(self, stage: str, counts: Counts) -> None:
        with self._lock:
            self._counts[stage] = self._counts.get(stage, Counts()) + counts

    def __getitem__(self, stage: str) -> Counts:
        return self._counts.get(stage, Counts())

    @property
    def total(self) -> Counts:
        return sum(dict(self._counts).values(), Counts())

    def snapshot(self) -> "Ledger":
        with self._lock:
            return Ledger(self._counts, self.note)

    def reset(self, earlier: "Ledger") -> None:
        """Go back to an earlier snapshot."""
        with self._lock:
            self._counts = dict(earlier._counts)

    def __sub__(self, earlier: "Ledger") -> "Ledger":
        now = self.snapshot()
        return Ledger({stage: now[stage] - earlier[stage] for stage in now._counts}, self.note)

    def table(self) -> list[dict[str, Any]]:
        """One row (a dict) per stage that was used, then the total."""
        counts = self.snapshot()._counts
        stages = [stage for stage in STAGES if stage in counts] + sorted(set(counts) - set(STAGES))
        return [{"stage": stage, **asdict(counts[stage])} for stage in stages] + [
            {"stage": "total", **asdict(self.total)}
        ]

    def _cells(self) -> list[list[str]]:
        """The table as text: the names of the columns, then its rows."""
        names = [field.name for field in fields(Counts)]
        rows = [[row["stage"], *(f"{row[name]:,}" for name in names)] for row in self.table()]
        return [["stage", *names], *rows]

    def __repr__(self) -> str:
        rows = self._cells()
        first, *widths = (max(map(len, column)) for column in zip(*rows))
        lines = [
            "  ".join([stage.ljust(first), *map(str.rjust, numbers, widths)])
            for stage, *numbers in rows
        ]
        return "\n".join([*lines, self.note] if self.note else lines)

    def _repr_html_(self) -> str:
        names, *rows = self._cells()
        head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
        cells = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<table><tr>{head}</tr>{body}</table>{note}"
