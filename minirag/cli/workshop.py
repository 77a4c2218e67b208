"""`minirag lab`, `refresh` and `check`: the notebooks and the exercises."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import typer

from ..core.errors import MiniragError
from .app import FAILED, MAINTAINERS, app, complain
from .show import say

START = "00_start_here.ipynb"


def notebooks_folder():
    """The checkout's notebooks; an installed wheel carries none."""
    folder = Path(__file__).resolve().parents[2] / "notebooks"
    if not folder.is_dir():
        raise MiniragError(
            "the notebooks are not part of the installed package. Clone the repository and run minirag there."
        )
    return folder


def lab_command(folder, browser=True, port=None):
    """The command that opens JupyterLab at the first notebook, to be run beside `notebooks/`."""
    if not (folder / START).is_file():
        raise MiniragError(f"{START} is missing from {folder}. Restore it from version control.")
    if importlib.util.find_spec("jupyterlab") is None:
        raise MiniragError(
            'JupyterLab is not installed. Install the kit as its README says: pip install -e ".[offline]" -c constraints.txt'
        )
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--LabApp.default_url=/lab/tree/{folder.name}/{START}",
    ]
    # JupyterLab refuses to start for root unless told; in a container root is who there is.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return (
        command
        + ["--no-browser"] * (not browser)
        + ["--allow-root"] * root
        + ([f"--port={port}"] if port else [])
    )


@app.command()
def lab(
    browser: bool = typer.Option(True, help="Open a browser window."),
    port: int | None = typer.Option(
        None, min=1, max=65535, help="By default the first free one from 8888 on."
    ),
):
    """Open JupyterLab at the first notebook."""
    folder = notebooks_folder()
    with subprocess.Popen(lab_command(folder, browser, port), cwd=folder.parent) as server:
        while True:
            try:
                raise typer.Exit(
                    max(0, server.wait())
                )  # below 0: stopped by a signal, which is how one leaves
            except KeyboardInterrupt:  # JupyterLab got it too, and asks whether to stop
                continue


@app.command(rich_help_panel=MAINTAINERS)
def refresh(
    notebooks: list[Path] | None = typer.Argument(None, help="By default all of notebooks/."),
    timeout: int = typer.Option(120, min=1, help="Seconds a cell may take."),
):
    """Run notebooks again; only a real change shows in a diff."""
    from ..corpora.fetching import available
    from ..workshop.refresh import execute_and_normalise, needed_data

    for path in notebooks or sorted(notebooks_folder().glob("*.ipynb")):
        if not path.is_file():
            raise MiniragError(f"there is no notebook {str(path)!r}.")
        absent = [name for name in needed_data(path) if not available(name)]
        if absent:
            say(f"{path.name}: left as it is, its data is not here (minirag fetch {absent[0]})")
        else:
            say(
                f"{path.name}: {'changed' if execute_and_normalise(path, timeout) else 'unchanged'}"
            )


@app.command()
def check(
    exercise: str = typer.Argument(help="Its number or name, such as 03."),
    notebook: Path | None = typer.Option(
        None, help="Your notebook; by default NAME.ipynb here, then in exercises/."
    ),
    hints: int = typer.Option(
        0, min=0, max=3, help="How many prepared hints to show under what is not passed yet."
    ),
):
    """Grade an exercise: passed, not yet, or a hint for every item.

    Exit status 1 until all is passed.
    """
    try:
        from ..grading.exercises import main_check
    except ImportError as error:
        raise MiniragError(
            "the grader is missing from this installation. Install minirag-kit again."
        ) from error
    text, passed = main_check(exercise, notebook, hints)
    say(text)
    if not passed:
        complain("not everything is passed yet")
        raise typer.Exit(FAILED)
