"""Run the code cells of a notebook one after the other, without a kernel, and say what became of
each.

`python -m minirag.grading.run_cells RESULTS` reads [[cell name, source], ...] as JSON from standard
input and appends one JSON line to RESULTS as each cell ends, so that a caller who loses patience
knows which cell was at work.
"""

import ast
import contextlib
import io
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)


class Failure(NamedTuple):
    """What stopped a cell: the type and the text of the error, and the innermost line of a cell
    (not of a library) that it came from.
    """

    error: str
    message: str
    cell: str
    line: int
    code: str


Outcome = Failure | None  # None: the cell ran


def run_cells(
    cells: Iterable[tuple[str, str]], report: Callable[[str, Outcome], None] | None = None
) -> dict[str, Outcome]:
    """Run (name, source) pairs in one namespace and go on after an error, as a notebook grader
    does. `report(name, outcome)` is called after each cell.
    """
    sources = dict(cells)
    namespace: dict[str, object] = {"__name__": "__main__"}
    outcomes: dict[str, Outcome] = {}
    for name, source in sources.items():
        outcomes[name] = None
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                # A student's code is run as it is; whoever grades strangers' work isolates it.
                exec(compile(_plain(source), f"<{name}>", "exec"), namespace)  # noqa: S102
        except BaseException as error:  # a student's sys.exit() ends the cell, not the grading
            outcomes[name] = _failure(error, name, sources)
        if report:
            report(name, outcomes[name])
    return outcomes


def _plain(source: str) -> str:
    """The source without notebook magics, which mean nothing here; they are looked for only in a
    cell that is not plain Python.
    """
    try:
        ast.parse(source)
    except SyntaxError:
        return MAGIC.sub(r"\1pass", source)
    return source


def _failure(error: BaseException, name: str, sources: dict[str, str]) -> Failure:
    frames = [(f.filename[1:-1], f.lineno or 1) for f in traceback.extract_tb(error.__traceback__)]
    places = [(cell, line) for cell, line in frames if cell in sources]
    line, message = 1, str(error)
    if isinstance(error, SyntaxError):
        line, message = error.lineno or 1, error.msg
    cell, line = places[-1] if places else (name, line)
    lines = sources[cell].splitlines()
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return Failure(type(error).__name__, message, cell, line, code)


def main() -> None:
    """Run the cells that stand on standard input; write what became of them to a file."""
    with Path(sys.argv[1]).open("w", encoding="utf-8") as results:

        def report(name: str, outcome: Outcome) -> None:
            results.write(json.dumps([name, outcome]) + "\n")
            results.flush()

        run_cells([tuple(cell) for cell in json.load(sys.stdin)], report)


if __name__ == "__main__":
    main()
