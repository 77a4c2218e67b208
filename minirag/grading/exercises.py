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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..core.errors import MiniragError
from ..core.files import read_notebook
from .run_cells import Failure, Outcome, run_cells

if TYPE_CHECKING:
    from nbformat import NotebookNode

PATIENCE = 60  # seconds for a whole notebook; the solutions need about two

Status = Literal["passed", "not yet", "hint"]
Cells = list[tuple[str, str]]  # name and source of code cells, in their order
Run = Callable[[Cells], dict[str, Outcome]]
Place = str | Path | None


@dataclass(frozen=True)
class Item:
    """One graded cell. message: a sentence where it is not passed; hints: three, for whoever
    asks.
    """

    name: str
    status: Status
    points: float
    message: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What became of every graded cell of a notebook."""

    exercise: str
    items: tuple[Item, ...]

    @property
    def ok(self) -> bool:
        return all(item.status == "passed" for item in self.items)

    @property
    def points(self) -> tuple[float, float]:
        """(reached, possible)"""
        reached = sum(item.points for item in self.items if item.status == "passed")
        return reached, sum(item.points for item in self.items)

    def text(self, hints: int = 0) -> str:
        """The report for a terminal, with the first `hints` (0 to 3) prepared hints under each item
        that is not passed.
        """
        lines = [f"{self.exercise}: {self.points[0]:g} of {self.points[1]:g} points"]
        for item in self.items:
            message = f": {item.message}" if item.message else ""
            lines.append(f"  {item.status:8}{item.name}{message}")
            shown = item.hints[:hints] if item.status != "passed" else ()
            lines += [f"          hint {i}: {text}" for i, text in enumerate(shown, start=1)]
        if hints < 3 and any(item.hints for item in self.items if item.status != "passed"):
            lines.append(f"  More help: --hints {hints + 1}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.text()


def exercises_folder() -> Path:
    """The kit's exercises: inside the installed package, else beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "exercises", package.parent / "exercises"):
        if (folder / "solutions").is_dir():
            return folder
    advice = "Install minirag-kit again, or work in a complete checkout."
    raise MiniragError(f"The kit's exercises are missing from this installation. {advice}")


def list_exercises(folder: Place = None) -> list[str]:
    """Names of the exercises in `folder` (default: the kit's own), sorted."""
    folder = Path(folder) if folder else exercises_folder()
    return sorted(path.stem for path in folder.glob("[0-9][0-9]_*.ipynb"))


def exercise_name(name: str | int, folder: Place = None) -> str:
    """The full name for 3, "3", "03", a notebook of that name, or for three letters or more that
    begin a word of only one name.
    """
    names, wanted = list_exercises(folder), Path(str(name)).stem
    number = f"{int(wanted):02d}_" if wanted.isdecimal() else None
    begins = f"_{number or wanted}" if number or len(wanted) > 2 else None
    found = [known for known in names if known == wanted]
    found = found or [known for known in names if begins and begins in f"_{known}"]
    if len(found) != 1:
        problem = "Several exercises match" if found else "There is no exercise"
        raise MiniragError(f"{problem} {wanted!r}; there are: {', '.join(names) or 'none'}.")
    return found[0]


def check(
    name: str | int, path: Place = None, folder: Place = None, patience: float = PATIENCE
) -> Report:
    """Grade a student's notebook; returns a `Report`.

    name: see `exercise_name`. path: the notebook, by default `name` if it is one, NAME.ipynb here,
    then exercises/NAME.ipynb here, then the kit's own copy.
    folder: a folder of exercises other than the kit's, for a course with its own. patience: seconds
    before a run is given up.
    """
    folder = Path(folder) if folder else exercises_folder()
    path = path or (str(name) if str(name).endswith(".ipynb") else None)
    name = exercise_name(name, folder)
    file = f"{name}.ipynb"
    places = [Path(path)] if path else [Path(file), Path("exercises") / file, folder / file]
    if not (found := next((place for place in places if place.is_file()), None)):
        advice = f"copy {file} from the exercises and work in the copy"
        raise MiniragError(f"There is no notebook {places[0].name}; {advice}.")
    solution = folder / "solutions" / file
    released = read_notebook(solution if solution.is_file() else folder / file)
    notebook = read_notebook(found)
    if other := _another_exercise(released, notebook, folder):
        why = f"its graded cells are that exercise's. Check it as {other[:2]}"
        raise MiniragError(f"{found} looks like {other}, not like {name}: {why}.")
    run = partial(run_in_process, working_folder=found.resolve().parent, patience=patience)
    return grade(released, notebook, run)


def _another_exercise(
    released: "NotebookNode", notebook: "NotebookNode", folder: Path
) -> str | None:
    """The exercise whose graded cells the notebook holds more of than of the released one's; None
    where it is the right exercise, or nobody's.
    """

    def ids(notebook: "NotebookNode") -> set[str]:
        return {_marks(cell).get("grade_id", "") for cell in notebook.cells if _marks(cell)}

    here, own = ids(notebook), ids(released)
    if here == own:
        return None
    shared = {}
    for other in list_exercises(folder):
        shared[other] = len(here & ids(read_notebook(folder / f"{other}.ipynb")))
    best = max(shared, key=shared.__getitem__)
    return best if shared[best] > len(here & own) else None


def grade(released: "NotebookNode", notebook: "NotebookNode", run: Run = run_cells) -> Report:
    """Run the cells of `notebook`, its locked cells replaced by those of `released`; returns a
    `Report`. `run`: cells -> outcomes.
    """
    outcomes = run(cells_to_run(released, notebook))
    about, items = released.metadata.get("minirag", {}), []
    for cell in released.cells:
        if _marks(cell).get("grade"):
            name = cell.id.removeprefix("test-")
            status, message = _verdict(name, cell.id, outcomes)
            hints = tuple(about.get("hints", {}).get(name, ()))
            items.append(Item(name, status, _marks(cell)["points"], message, hints))
    return Report(about.get("exercise", ""), tuple(items))


def cells_to_run(released: "NotebookNode", notebook: "NotebookNode") -> Cells:
    """The student's code cells in their order. Locked cells are as released; a lost locked cell
    runs at the end.
    """
    locked = {}
    for cell in released.cells:
        marks = _marks(cell)
        if cell.cell_type == "code" and marks.get("locked") and not marks.get("solution"):
            locked[_identity(cell)] = cell.source
    cells: dict[str, str] = {}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        name = _identity(cell) or f"your cell {number}"
        name = f"{name} (copy {number})" if name in cells else name
        cells[name] = locked.get(name, cell.source)
    return [*cells.items(), *(item for item in locked.items() if item[0] not in cells)]


def _marks(cell: "NotebookNode") -> dict[str, Any]:
    """What nbgrader's metadata say of a cell."""
    return cell.metadata.get("nbgrader", {})


def _identity(cell: "NotebookNode") -> str:
    return _marks(cell).get("grade_id") or cell.get("id", "")


def _verdict(item: str, test: str, outcomes: dict[str, Outcome]) -> tuple[Status, str]:
    """Status of one graded cell, and a sentence."""
    failure, own = outcomes.get(test), outcomes.get(item)
    if failure is None:
        return "passed", ""
    if own and own.error != "AssertionError" and not _left_blank(own):
        failure = own  # the answer's own cell did not run, so the test can say little
    where = failure.cell
    if _left_blank(failure):
        other = f"it builds on {where!r}, which is still to be written"
        return "not yet", "" if where == item else other
    if failure.error == "AssertionError":
        broken = f"this does not hold yet: {failure.code.removeprefix('assert ')}"
        return "hint", failure.message or broken
    if failure.error == "Timeout" and where not in (item, test):
        return "not yet", f"not reached: cell {where!r} {failure.message.split(':')[0]}"
    if failure.error == "Timeout":
        return "hint", f"cell {where!r} {failure.message}"
    if failure.error == "NameError" and where == test:
        return "hint", f"{failure.message}: is its cell still there, and does it run?"
    stopped = f"your code stops with {failure.error} ({failure.message})"
    return "hint", f"{stopped} in cell {where!r}, line {failure.line}: {failure.code}"


def _left_blank(failure: Failure) -> bool:
    return failure.code.startswith(f"raise {failure.error}()")


def run_in_process(cells: Cells, working_folder: Path, patience: float) -> dict[str, Outcome]:
    """`run_cells` in a fresh process; the cell that is at work when patience ends, and those after
    it, get a Timeout.
    """
    path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, path)), "MPLBACKEND": "Agg"}
    with tempfile.TemporaryDirectory() as folder:
        results, why = Path(folder) / "results.jsonl", "ended the whole program"
        command = [sys.executable, "-m", "minirag.grading.run_cells", str(results)]
        try:
            subprocess.run(
                command,
                input=json.dumps(cells),
                text=True,
                cwd=working_folder,
                env=os.environ | environment,
                timeout=patience,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            why = f"was still running after {patience:g} seconds: is there a loop without an end?"
        lines = results.read_text(encoding="utf-8").splitlines() if results.is_file() else []
    told = dict(json.loads(line) for line in lines if line.endswith("]"))
    outcomes = {name: Failure(*failure) if failure else None for name, failure in told.items()}
    left = [name for name, _ in cells if name not in outcomes]
    return outcomes | {name: Failure("Timeout", why, left[0], 1, "") for name in left}
