"""Re-execute notebooks and write them so that nothing but a real change shows in a diff.

The stored outputs are what readers see and what the tests compare, so a notebook is committed
executed and normalised: no widget state (its ids differ from run to run, and a view without its
model is an empty frame), no interpreter version, no editor leftovers.
"""

import base64
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import MiniragError
from ..core.files import read_notebook, write_atomic

if TYPE_CHECKING:
    from nbformat import NotebookNode

PNG, COLOURS = "image/png", 64
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
KEPT_CELL_METADATA = ("tags", "nbgrader", "minirag", "editable", "deletable")
# What a stored notebook must not depend on: progress bars, a hub that answers, a plotting backend
# from the shell.
QUIET = {"MINIRAG_PROGRESS": "0", "TOKENIZERS_PARALLELISM": "false"}
QUIET |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def execute(path: str | Path, timeout: int = 120) -> "NotebookNode":
    """Run every cell in a fresh kernel, in the notebook's own folder. Raises MiniragError naming
    the first cell that fails.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    path, notebook = Path(path), read_notebook(path)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(path.resolve().parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,  # one print is one output, however the kernel flushed it
    )
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    try:
        client.execute(env=environment | QUIET)
    except CellTimeoutError as error:
        raise MiniragError(
            f"{path.name}: a cell ran longer than {timeout} s. Make it faster or raise the timeout."
        ) from error
    except CellExecutionError as error:
        outputs = [cell.get("outputs", []) for cell in notebook.cells]
        broken = [any(out.output_type == "error" for out in cell) for cell in outputs].index(True)
        raise MiniragError(
            f"{path.name}, cell {broken}: {error.ename}: {error.evalue}. Mend the cell, or tag it "
            "raises-exception if the error is the lesson."
        ) from error
    return notebook


def normalise(notebook: "NotebookNode") -> "NotebookNode":
    """A copy of the notebook without anything that differs from one run to the next; normalising
    twice changes nothing.
    """
    import nbformat

    notebook = nbformat.from_dict(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, max(5, notebook.nbformat_minor)
    own = {"minirag": notebook.metadata["minirag"]} if notebook.metadata.get("minirag") else {}
    language = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    notebook.metadata = nbformat.from_dict(language | own)
    ids, ran = set(), 0
    for position, cell in enumerate(notebook.cells):
        if not cell.get("id") or cell["id"] in ids:
            cell["id"] = f"cell-{position:03d}"
        ids.add(cell["id"])
        kept = {key: value for key, value in cell.metadata.items() if key in KEPT_CELL_METADATA}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            ran += cell.execution_count is not None
            _normalise_code(cell, ran if cell.execution_count is not None else None)
    return notebook


def _normalise_code(cell: "NotebookNode", count: int | None) -> None:
    """Number the cell and strip its outputs of what varies."""
    cell.execution_count = count
    for output in cell.outputs:
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            output.metadata.pop(WIDGET_VIEW, None)
            if PNG in output.data:
                output.data[PNG] = _lighter(output.data[PNG])
        if output.output_type == "execute_result":
            output.execution_count = count
    cell.outputs = [output for output in cell.outputs if output.get("data", True)]


def _lighter(png: str) -> str:
    """A picture in base64 with at most `COLOURS` colours: a chart does not miss the others, and
    weighs a quarter. A picture with a palette stays as it is.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(base64.b64decode(png)))
    except UnidentifiedImageError:
        return png
    if picture.mode == "P":
        return png
    light = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    light.save(buffer := io.BytesIO(), "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def to_text(notebook: "NotebookNode") -> str:
    """The text that belongs on disk: sorted keys, indented, every script readable, one newline at
    the end.
    """
    import nbformat

    return nbformat.writes(notebook).rstrip("\n") + "\n"


def execute_and_normalise(path: str | Path, timeout: int = 120) -> bool:
    """Re-execute the notebook at `path` in place; True if that changed the file. A notebook that
    fails is left as it was.
    """
    path = Path(path)
    text = to_text(normalise(execute(path, timeout)))
    if text == path.read_text(encoding="utf-8"):
        return False
    write_atomic(path, text)
    return True


def needed_data(path: str | Path) -> list[str]:
    """The data sets that a rung-1 notebook stands on, from its metadata; empty for any other."""
    return list(read_notebook(path).metadata.get("minirag", {}).get("needs", []))
