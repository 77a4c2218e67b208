"""Numbers we hold ourselves to, and one helper that compares with them.

A file `data/expected/TARGET.yaml` holds for every row and metric what the paper printed, what an
independent reference run gave, and what this kit gave when the file was written. Only the last is
compared with a new run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from ..corpora.shipped_and_own import shipped

# How far a new run may lie from the stored one and still count: "exact" has no encoder in it;
# "neural" depends on the
# last digits of an encoder, which differ between processors, so that near-ties may swap (percent
# points); "tokens" are those of a context so filled;
# "trained" is the mean over a few seeds of a model trained here, where the last digits of one step
# change all later ones: another processor is another draw.
TOLERANCES = {"exact": 1e-6, "neural": 1.0, "tokens": 100.0, "trained": 10.0}


@dataclass(frozen=True)
class Comparison:
    """One cell: a metric of a row, expected and measured, and the verdict OK, OKISH, FAIL or
    PAPER-ONLY.
    """

    row: str
    metric: str
    paper: float | None
    reference: float | None
    expected: float | None
    measured: float | None
    state: str
    reason: str = ""


def load_expected(target: str, rows: Iterable[str] | None = None) -> dict[str, Any]:
    """What `data/expected/TARGET.yaml` holds; no rows when nobody has stored any. rows: keep these
    only, by name.
    """
    path = shipped("expected") / f"{target}.yaml"
    expected: dict[str, Any] = {"rows": {}}
    if path.is_file():
        expected = yaml.safe_load(path.read_text(encoding="utf-8"))
    if rows:
        expected["rows"] = {name: row for name, row in expected["rows"].items() if name in rows}
    return expected


def judge(
    expected: float | None, measured: float | None, tolerance: str = "exact"
) -> tuple[str, str]:
    """`(state, reason)` for one number. Higher than expected is OKISH with a reason, never silently
    fine.
    """
    if expected is None and measured is None:
        return "PAPER-ONLY", "only the paper has this number"
    if measured is None:
        return "FAIL", "expected, but the run gave no number"
    if expected is None:
        return "OKISH", "no stored value to compare with"
    difference = measured - expected
    if abs(difference) <= 5e-7:
        return "OK", ""
    if abs(difference) <= TOLERANCES[tolerance]:
        return "OKISH", f"{difference:+.2f}, within {tolerance} tolerance"
    return "FAIL", f"{difference:+.2f}, beyond {tolerance} tolerance {TOLERANCES[tolerance]:g}"


def compare(rows: Sequence[Mapping[str, Any]], expected: Mapping[str, Any]) -> list[Comparison]:
    """Compare measured rows (`{"method": ..., metric: number}`) with an expected file, cell by
    cell.
    """
    measured = {row["method"]: row for row in rows}
    cells = []
    for name in dict.fromkeys([*measured, *expected["rows"]]):
        stored, found = expected["rows"].get(name, {}), measured.get(name, {})
        metrics = stored.get("metrics", {})
        for metric in dict.fromkeys([*metrics, *found]):
            if metric == "method":
                continue
            numbers, number = metrics.get(metric, {}), found.get(metric)
            paper, reference, ours = map(numbers.get, ("paper", "reference", "ours"))
            tolerance = numbers.get("tolerance", stored.get("tolerance", "exact"))
            state, reason = judge(ours, number, tolerance)
            cells.append(Comparison(name, metric, paper, reference, ours, number, state, reason))
    return cells
