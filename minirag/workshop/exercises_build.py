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
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import MiniragError
from ..core.files import write_atomic
from . import refresh

SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$", re.MULTILINE | re.DOTALL
)
HIDDEN = re.compile(
    r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS(\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
HINTS_ASIDE = "<details><summary>Hint {number}</summary>\n\n{text}\n\n</details>"


@dataclass(frozen=True)
class Source:
    """A source, read: the notebook with its solutions (nothing run), and its typical wrong answers
    (dicts).
    """

    name: str
    notebook: object
    wrong_answers: tuple


def read_source(path):
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
    said = dict(notebook.metadata.get("minirag", {}))
    notebook.metadata = {"minirag": {"rung": 0} | said | {"exercise": path.stem, "hints": hints}}
    _name_cells(notebook)
    source = Source(path.stem, refresh.normalise(notebook), tuple(wrong_answers))
    for answer in wrong_answers:
        with_wrong_answer(source, answer)  # raises where it does not fit
    return source


def _hints_cell(name, item, texts):
    from nbformat.v4 import new_markdown_cell

    if len(texts) != 3:
        raise MiniragError(
            f"{name}: item {item!r} has {len(texts)} hints; three are expected, from a nudge to almost the answer."
        )
    shown = [HINTS_ASIDE.format(number=number, text=text) for number, text in enumerate(texts, 1)]
    return new_markdown_cell("\n".join(shown), id=f"hints-{item}")


def _name_cells(notebook):
    """Cell ids that say what the cell is: the grade_id, `hints-ITEM`, or text-1, text-2, code-1,
    ...
    """
    numbers = {"markdown": 0, "code": 0}
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {}).get("grade_id")
        if not graded and not cell.id.startswith("hints-"):
            numbers[cell.cell_type] += 1
        kind = {"markdown": "text", "code": "code"}[cell.cell_type]
        cell.id = graded or (
            cell.id if cell.id.startswith("hints-") else f"{kind}-{numbers[cell.cell_type]}"
        )


def with_wrong_answer(source, answer):
    """A copy of the source's notebook in which one solution makes the typical mistake."""
    import nbformat

    notebook = nbformat.from_dict(source.notebook)
    cell = next((cell for cell in notebook.cells if cell.id == answer["item"]), None)
    found = cell.source.count(answer["replace"]) if cell else 0
    if found != 1:
        which = f"{source.name}, wrong answer {answer['name']!r}"
        raise MiniragError(
            f"{which}: the text to replace is {found} times in item {answer['item']!r}; once is expected."
        )
    cell.source = cell.source.replace(answer["replace"], answer["by"])
    return notebook


def student_version(notebook, blank):
    """The notebook without outputs, hidden tests and solutions (each replaced by the text `blank`),
    its locked cells not editable.
    """
    import nbformat

    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        said = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = SOLUTION.sub(
                lambda match: "\n".join(match[1] + line for line in blank.splitlines()), cell.source
            )
            cell.source = HIDDEN.sub("", cell.source).rstrip("\n")
        if said.get("locked"):
            cell.metadata["deletable"] = False
            cell.metadata["editable"] = said.get("solution", False)
    return refresh.normalise(notebook)


def build_exercise(path, folder=None):
    """Write NAME.ipynb and solutions/NAME.ipynb (executed) for one source; returns the paths that
    changed.

    folder: where to write, by default beside the source's own folder.
    """
    path = Path(path)
    folder = Path(folder) if folder else path.parent.parent
    source = read_source(path)
    blank = (path.parent / "blank.txt").read_text(encoding="utf-8")
    solution, student = (
        folder / "solutions" / f"{source.name}.ipynb",
        folder / f"{source.name}.ipynb",
    )
    before = [file.read_bytes() if file.is_file() else None for file in (solution, student)]
    with tempfile.TemporaryDirectory() as empty:
        draft = write_atomic(Path(empty) / solution.name, refresh.to_text(source.notebook))
        executed = refresh.normalise(refresh.execute(draft))
    write_atomic(solution, refresh.to_text(executed))
    write_atomic(student, refresh.to_text(student_version(source.notebook, blank)))
    return [file for file, old in zip((solution, student), before) if file.read_bytes() != old]


def build_all(folder):
    """Build every source of `folder`/src; returns the paths that changed."""
    return [
        changed
        for path in sorted(Path(folder).glob("src/*.py"))
        for changed in build_exercise(path, folder)
    ]


if __name__ == "__main__":
    for changed in build_all(sys.argv[1] if len(sys.argv) > 1 else "exercises"):
        print(f"written: {changed}")
