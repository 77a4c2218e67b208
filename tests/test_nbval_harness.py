"""Plain pytest proves notebooks strictly, skips those whose data is absent, and says both. One run
over six small notebooks shows it.
"""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from minirag.core.files import read_notebook
from minirag.workshop import refresh

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow  # a pytest within pytest


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The output of pytest, with the repository's own settings, over a folder of notebooks made
    here.
    """
    folder = tmp_path_factory.mktemp("notebooks")

    def write(name, *sources, tags=(), **metadata):
        path = folder / f"{name}.ipynb"
        nbformat.write(
            new_notebook(
                cells=[new_code_cell(source, metadata={"tags": list(tags)}) for source in sources],
                metadata={"minirag": metadata},
            ),
            path,
        )
        return path

    reach_out = (
        "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), "
        "timeout=1)\nexcept OSError as error:\n    print(error)"
    )
    slow_but_fine = "import os\nprint(os.environ['HF_HUB_OFFLINE'], os.environ['MINIRAG_PROGRESS'])"
    for path in (
        write("good", slow_but_fine, reach_out, rung=0),
        write("changed", "print(1)", "2 + 2", rung=0),
    ):
        refresh.execute_and_normalise(path)
    changed = folder / "changed.ipynb"
    changed.write_text(changed.read_text(encoding="utf-8").replace('"4"', '"5"'), encoding="utf-8")
    cleared = read_notebook(write("cleared", "print(1)", rung=0))
    cleared.cells[0].execution_count = 1
    nbformat.write(cleared, folder / "cleared.ipynb")
    refresh.execute_and_normalise(write("broken", "1 / 0", rung=0, tags=["raises-exception"]))
    broken = read_notebook(folder / "broken.ipynb")
    broken.cells[0].metadata.tags = []
    nbformat.write(broken, folder / "broken.ipynb")
    write("absent", "raise RuntimeError('never run')", rung=1, needs=["no_such_data"])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "conftest",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(folder),
    ]
    command += [
        "-p",
        "no:cacheprovider",
        f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval_sanitize.cfg'}",
        str(folder),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    ).stdout


def test_a_stored_notebook_that_still_holds_passes_without_a_network(run):
    assert "good.ipynb .." in run and "refuse every connection" not in run


def test_a_changed_output_fails(run):
    assert "changed.ipynb .F" in run and "3 failed, 3 passed, 1 skipped" in run


def test_an_output_that_was_cleared_and_an_error_that_is_no_lesson_fail(run):
    assert "cleared.ipynb F" in run and "broken.ipynb F" in run


def test_a_notebook_without_its_data_is_skipped_with_the_reason(run):
    assert "rung 1: no_such_data not found in MINIRAG_DATA" in run and "RuntimeError" not in run


def test_the_summary_says_which_rungs_ran(run):
    assert "rung 0 (shipped corpora): 3 notebook cells failed, 3 notebook cells passed" in run
    assert "rung 1 (published data): 1 notebooks left out" in run
