"""`minirag map` and `handouts`: where the papers' elements are, and the notebooks on paper."""

from pathlib import Path
from typing import Optional

import typer

from .app import app
from .show import say


@app.command("map")
def paper_map(
    paper: Optional[str] = typer.Argument(None, help="Wang, PathRAG, GraphRAG, Survey or GRAG; by default all five."),
    write: bool = typer.Option(False, "--write", help="Bring data/paper_map.md and data/paper_holes.yaml up to date instead."),
):
    """Where each equation, operator and table of the papers is: code, notebook section, test."""
    from .. import papermap

    if write:
        papermap.write()
        say("data/paper_map.md and data/paper_holes.yaml are up to date")
    else:
        say(papermap.text(paper))


@app.command()
def handouts(
    notebooks: Optional[list[Path]] = typer.Argument(None, help="By default all notebooks and exercises."),
    out: Path = typer.Option(Path("handouts"), help="The folder to write to."),
    pdf: bool = typer.Option(True, help="Print PDF too, where Chromium is found."),
    run: bool = typer.Option(True, help="Run notebooks with widgets once more, to print what these show."),
):
    """Print the notebooks: HTML that needs no network, and PDF."""
    from ..handouts import make

    for path in make(out, notebooks, pdf, run):
        say(str(path))
