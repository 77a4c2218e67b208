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

MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)


def run_cells(cells, report=None):
    """Run (name, source) pairs in one namespace and go on after an error, as a notebook grader
    does.

    Returns {name: None, or {"error", "message", "cell", "line", "code"}}: the type and text of what
    was raised, and the innermost line of a cell (not of a library) that it came from. `report(name,
    outcome)` is called after each cell.
    """
    namespace, outcomes = {"__name__": "__main__"}, {}
    sources = dict(cells)
    for name, source in cells:
        outcomes[name] = None
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                exec(compile(_plain(source), f"<{name}>", "exec"), namespace)
        except BaseException as error:  # a student's sys.exit() ends the cell, not the grading
            outcomes[name] = _told(error, name, sources)
        if report:
            report(name, outcomes[name])
    return outcomes


def _plain(source):
    """The source without notebook magics, which mean nothing here; they are looked for only in a
    cell that is not plain Python.
    """
    try:
        ast.parse(source)
    except SyntaxError:
        return MAGIC.sub(r"\1pass", source)
    return source


def _told(error, name, sources):
    frames = [
        (frame.filename[1:-1], frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename[1:-1] in sources
    ]
    if isinstance(error, SyntaxError) and not frames:
        frames = [(name, error.lineno or 1)]
    cell, line = frames[-1] if frames else (name, 1)
    lines = sources[cell].splitlines()
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return {
        "error": type(error).__name__,
        "message": message,
        "cell": cell,
        "line": line,
        "code": code,
    }


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as results:

        def report(name, outcome):
            results.write(json.dumps([name, outcome]) + "\n")
            results.flush()

        run_cells([tuple(cell) for cell in json.load(sys.stdin)], report)


if __name__ == "__main__":
    main()
