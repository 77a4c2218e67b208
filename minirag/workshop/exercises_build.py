"""From one percent-format source to the notebook that students get and to the solution with its
outputs.

A source is a Python file in nbgrader's cell format, read by jupytext. Two kinds of raw cell hold
what is no part of the running code, in YAML: tag `hints` (metadata `item="GRADE_ID"`): three
sentences, from a nudge to almost the answer; tag `wrong-answers`: a list of {item, name, replace,
by, hint}, each a typical mistake as an edit of the solution, and a part of the sentence that its
maker must be told. `python -m minirag.workshop.exercises_build [FOLDER]` writes both notebooks of
every source in FOLDER/src.
"""

import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import MiniragError
from ..core.files import write_atomic
from . import refresh

if TYPE_CHECKING:
    from nbformat import NotebookNode

SOLUTION = re.compile(r"(?ms)^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$")
HIDDEN = re.compile(r"(?ms)^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS(\n|\Z)")
HINTS_ASIDE = "<details><summary>Hint {number}</summary>\n\n{text}\n\n</details>"


@dataclass(frozen=True)
class Source:
    """A source, read: the notebook with its solutions (nothing run), and its typical wrong answers
    as the YAML writes them.
    """

    name: str
    notebook: "NotebookNode"
    wrong_answers: tuple[dict[str, str], ...]


def read_source(path: str | Path) -> Source:
    """Read a percent-format source. Raises MiniragError where hints are not three or an edit does
    not fit the solution.
    """
    import jupytext
    import nbformat
    import yaml

    path = Path(path)
    notebook = nbformat.from_dict(jupytext.read(path, fmt="py:percent"))
    cells, hints, wrong_answers = [], {}, []
    for cell in notebook.cells:
        if cell.cell_type != "raw":
            cells.append(cell)
        elif "hints" in cell.metadata.get("tags", []):
            item = cell.metadata["item"]
            hints[item] = [" ".join(text.split()) for text in yaml.safe_load(cell.source)]
            cells.append(_hints_cell(path.name, item, hints[item]))
        else:
            wrong_answers += yaml.safe_load(cell.source)
    notebook.cells = cells
    own = {"rung": 0} | dict(notebook.metadata.get("minirag", {}))
    notebook.metadata = {"minirag": own | {"exercise": path.stem, "hints": hints}}
    _name_cells(notebook)
    source = Source(path.stem, refresh.normalise(notebook), tuple(wrong_answers))
    for answer in wrong_answers:
        with_wrong_answer(source, answer)  # raises where it does not fit
    return source


def _hints_cell(name: str, item: str, texts: list[str]) -> "NotebookNode":
    from nbformat.v4 import new_markdown_cell

    if len(texts) != 3:
        wanted = "three are expected, from a nudge to almost the answer"
        raise MiniragError(f"{name}: item {item!r} has {len(texts)} hints; {wanted}.")
    shown = [HINTS_ASIDE.format(number=number, text=text) for number, text in enumerate(texts, 1)]
    return new_markdown_cell("\n".join(shown), id=f"hints-{item}")


def _name_cells(notebook: "NotebookNode") -> None:
    """Cell ids that say what the cell is: the grade_id, `hints-ITEM`, or text-1, text-2, code-1,
    ...
    """
    numbers = Counter[str]()
    for cell in notebook.cells:
        if graded := cell.metadata.get("nbgrader", {}).get("grade_id"):
            cell.id = graded
        elif not cell.id.startswith("hints-"):
            kind = {"markdown": "text", "code": "code"}[cell.cell_type]
            numbers[kind] += 1
            cell.id = f"{kind}-{numbers[kind]}"


def with_wrong_answer(source: Source, answer: dict[str, str]) -> "NotebookNode":
    """A copy of the source's notebook in which one solution makes the typical mistake."""
    import nbformat

    notebook = nbformat.from_dict(source.notebook)
    cells = [cell for cell in notebook.cells if cell.id == answer["item"]]
    found = sum(cell.source.count(answer["replace"]) for cell in cells)
    if found != 1:
        which = f"{source.name}, wrong answer {answer['name']!r}"
        where = f"the text to replace is {found} times in item {answer['item']!r}"
        raise MiniragError(f"{which}: {where}; once is expected.")
    cells[0].source = cells[0].source.replace(answer["replace"], answer["by"])
    return notebook


def student_version(notebook: "NotebookNode", blank: str) -> "NotebookNode":
    """The notebook without outputs, hidden tests and solutions (each replaced by the text `blank`),
    its locked cells not editable.
    """
    import nbformat

    def blanked(match: re.Match[str]) -> str:
        return "\n".join(match[1] + line for line in blank.splitlines())

    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = HIDDEN.sub("", SOLUTION.sub(blanked, cell.source)).rstrip("\n")
        if marks.get("locked"):
            cell.metadata["deletable"] = False
            cell.metadata["editable"] = marks.get("solution", False)
    return refresh.normalise(notebook)


def build_exercise(path: str | Path, folder: str | Path | None = None) -> list[Path]:
    """Write NAME.ipynb and solutions/NAME.ipynb (executed) for one source; returns the paths that
    changed.

    folder: where to write, by default beside the source's own folder.
    """
    path = Path(path)
    folder = Path(folder) if folder else path.parent.parent
    source, blank = read_source(path), (path.parent / "blank.txt").read_text(encoding="utf-8")
    name = f"{source.name}.ipynb"
    with tempfile.TemporaryDirectory() as empty:
        draft = write_atomic(Path(empty) / name, refresh.to_text(source.notebook))
        solution = refresh.normalise(refresh.execute(draft))
    student = student_version(source.notebook, blank)
    changed = []
    for file, notebook in ((folder / "solutions" / name, solution), (folder / name, student)):
        before = file.read_bytes() if file.is_file() else None
        write_atomic(file, refresh.to_text(notebook))
        changed += [file] if file.read_bytes() != before else []
    return changed


def build_all(folder: str | Path) -> list[Path]:
    """Build every source of `folder`/src; returns the paths that changed."""
    sources = sorted(Path(folder).glob("src/*.py"))
    return [changed for path in sources for changed in build_exercise(path, folder)]


if __name__ == "__main__":
    for written in build_all(sys.argv[1] if len(sys.argv) > 1 else "exercises"):
        print(f"written: {written}")
