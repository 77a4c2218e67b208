"""The exercises and their grader: passed, not yet, or a hint, for every graded cell.

Plain execution of the student's notebook in a fresh process; no kernel, no database. The graded
cells are always those that were handed out, whatever the student did to them. Student code is run
as it is, with the rights of whoever calls this: grade strangers' work in a container.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import MiniragError
from ..workshop import refresh
from . import run_cells as exercises_run

PATIENCE = 60  # seconds for a whole notebook; the solutions need about two


@dataclass(frozen=True)
class Item:
    """One graded cell. status: "passed", "not yet" or "hint"; message: a sentence where it is not
    passed; hints: three, for whoever asks.
    """

    name: str
    status: str
    points: float
    message: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What became of every graded cell of a notebook."""

    exercise: str
    items: tuple[Item, ...]

    @property
    def ok(self):
        return all(item.status == "passed" for item in self.items)

    @property
    def points(self):
        """(reached, possible)"""
        return sum(item.points for item in self.items if item.status == "passed"), sum(
            item.points for item in self.items
        )

    def text(self, hints=0):
        """The report for a terminal, with the first `hints` (0 to 3) prepared hints under each item
        that is not passed.
        """
        lines = [f"{self.exercise}: {self.points[0]:g} of {self.points[1]:g} points"]
        for item in self.items:
            lines.append(
                f"  {item.status:8}{item.name}" + (f": {item.message}" if item.message else "")
            )
            if item.status != "passed":
                lines += [
                    f"          hint {number}: {text}"
                    for number, text in enumerate(item.hints[:hints], 1)
                ]
        if (
            not self.ok
            and hints < 3
            and any(item.hints for item in self.items if item.status != "passed")
        ):
            lines.append(f"  More help: --hints {hints + 1}")
        return "\n".join(lines)

    def __repr__(self):
        return self.text()


def exercises_folder():
    """The kit's exercises: inside the installed package, else beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "exercises", package.parent / "exercises"):
        if (folder / "solutions").is_dir():
            return folder
    raise MiniragError(
        "The kit's exercises are missing from this installation. Install minirag-kit again, or work in a complete checkout."
    )


def list_exercises(folder=None):
    """Names of the exercises in `folder` (default: the kit's own), sorted."""
    folder = Path(folder) if folder else exercises_folder()
    return sorted(path.stem for path in folder.glob("[0-9][0-9]_*.ipynb"))


def exercise_name(name, folder=None):
    """The full name for 3, "3", "03", or for three or more letters that begin a word of only one."""
    names, wanted = list_exercises(folder), str(name)
    number = f"{int(wanted):02d}_" if wanted.isdecimal() else None
    begins = f"_{number or wanted}" if number or len(wanted) > 2 else None
    found = [known for known in names if known == wanted]
    found = found or [known for known in names if begins and begins in f"_{known}"]
    if len(found) != 1:
        raise MiniragError(
            f"{'Several exercises match' if found else 'There is no exercise'} {wanted!r}; there are: {', '.join(names) or 'none'}."
        )
    return found[0]


def check(name, path=None, folder=None, patience=PATIENCE):
    """Grade a student's notebook; returns a `Report`.

    name: see `exercise_name`. path: the notebook, by default NAME.ipynb here, then
    exercises/NAME.ipynb here, then the kit's own copy.
    folder: a folder of exercises other than the kit's, for a course with its own. patience: seconds
    before a run is given up.
    """
    folder = Path(folder) if folder else exercises_folder()
    name = exercise_name(name, folder)
    places = (
        [Path(path)]
        if path
        else [Path(f"{name}.ipynb"), Path("exercises") / f"{name}.ipynb", folder / f"{name}.ipynb"]
    )
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise MiniragError(
            f"There is no notebook {places[0].name}; copy {name}.ipynb from the exercises and work in the copy."
        )
    solution = folder / "solutions" / f"{name}.ipynb"
    released = refresh.read(solution if solution.is_file() else folder / f"{name}.ipynb")
    notebook = refresh.read(path)
    if other := _another_exercise(name, released, notebook, folder):
        raise MiniragError(
            f"{path} looks like {other}, not like {name}: its graded cells are that exercise's. Check it as {other[:2]}."
        )
    return grade(
        released, notebook, lambda cells: run_in_process(cells, path.resolve().parent, patience)
    )


def _another_exercise(name, released, notebook, folder):
    """The exercise whose graded cells the notebook holds more of than of `name`'s; None where it is
    the right one, or nobody's.
    """
    ids = lambda some: {
        cell.metadata["nbgrader"].get("grade_id")
        for cell in some.cells
        if "nbgrader" in cell.metadata
    }
    here = ids(notebook)
    if here == ids(released):
        return None
    shared = {
        other: len(here & ids(refresh.read(folder / f"{other}.ipynb")))
        for other in list_exercises(folder)
    }
    best = max(shared, key=shared.get)
    return best if shared[best] > len(here & ids(released)) else None


def main_check(name, path=None, hints=0, folder=None):
    """What `minirag check NAME` prints, and whether everything passed: (text, ok)."""
    report = check(name, path, folder)
    return report.text(hints), report.ok


def grade(released, notebook, run=exercises_run.run_cells):
    """Run the cells of `notebook`, its locked cells replaced by those of `released`; returns a
    `Report`. `run`: cells -> outcomes.
    """
    cells = cells_to_run(released, notebook)
    outcomes = run(cells)
    said = released.metadata.get("minirag", {})
    graded = [cell for cell in released.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    items = []
    for cell in graded:
        name = cell.id.removeprefix("test-")
        status, message = _verdict(name, cell.id, outcomes)
        points = cell.metadata["nbgrader"]["points"]
        items.append(
            Item(name, status, points, message, tuple(said.get("hints", {}).get(name, ())))
        )
    return Report(said.get("exercise", ""), tuple(items))


def cells_to_run(released, notebook):
    """[(cell name, source)] of the student's code cells in their order. Locked cells are as
    released; a lost one runs at the end.
    """
    locked = {_identity(cell): cell.source for cell in _code(released) if _is_locked(cell)}
    cells = {}
    for number, cell in enumerate(_code(notebook)):
        name = _identity(cell) or f"your cell {number + 1}"
        name = f"{name} (copy {number + 1})" if name in cells else name
        cells[name] = locked.get(name, cell.source)
    return list(
        (cells | {name: source for name, source in locked.items() if name not in cells}).items()
    )


def _code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _identity(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "")


def _is_locked(cell):
    said = cell.metadata.get("nbgrader", {})
    return said.get("locked", False) and not said.get("solution", False)


def _verdict(item, test, outcomes):
    """(status, sentence) for one graded cell."""
    outcome = outcomes.get(test)
    if outcome is None:
        return "passed", ""
    own = outcomes.get(item)
    if (
        own and own["error"] != "AssertionError" and not _left_blank(own)
    ):  # the answer's own cell did not run, so the test can say little
        outcome = own
    where = outcome["cell"]
    if _left_blank(outcome):
        return (
            "not yet",
            "" if where == item else f"it builds on {where!r}, which is still to be written",
        )
    if outcome["error"] == "AssertionError":
        return "hint", outcome[
            "message"
        ] or f"this does not hold yet: {outcome['code'].removeprefix('assert ')}"
    if outcome["error"] == "Timeout" and where not in (item, test):
        return "not yet", f"not reached: cell {where!r} {outcome['message'].split(':')[0]}"
    if outcome["error"] == "Timeout":
        return "hint", f"cell {where!r} {outcome['message']}"
    if outcome["error"] == "NameError" and where == test:
        return "hint", f"{outcome['message']}: is its cell still there, and does it run?"
    return (
        "hint",
        f"your code stops with {outcome['error']} ({outcome['message']}) in cell {where!r}, line {outcome['line']}: {outcome['code']}",
    )


def _left_blank(outcome):
    return outcome["code"].startswith("raise ") and outcome["code"].removeprefix(
        "raise "
    ).startswith(outcome["error"] + "()")


def run_in_process(cells, working_folder, patience=PATIENCE):
    """`exercises_run.run_cells` in a fresh process; the cell that is at work when patience ends,
    and those after it, get a Timeout.
    """
    package = str(Path(__file__).parents[2])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")])),
        "MPLBACKEND": "Agg",
    }
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        command = [sys.executable, "-m", "minirag.grading.run_cells", str(results)]
        says, why = json.dumps(cells), "ended the whole program"
        try:
            subprocess.run(
                command,
                input=says,
                text=True,
                cwd=working_folder,
                env=environment,
                timeout=patience,
                capture_output=True,
            )
        except subprocess.TimeoutExpired:
            why = f"was still running after {patience:g} seconds: is there a loop without an end?"
        lines = results.read_text(encoding="utf-8").splitlines() if results.is_file() else []
    outcomes = dict(json.loads(line) for line in lines if line.endswith("]"))
    left = [name for name, _ in cells if name not in outcomes]
    return outcomes | {
        name: {"error": "Timeout", "message": why, "cell": left[0], "line": 1, "code": ""}
        for name in left
    }
