"""`minirag lab`, `refresh`, `check` and `handouts`: the notebooks and the exercises. `minirag map`:
where the papers' elements are.
"""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from ..core.errors import MiniragError
from ..core.files import write_atomic
from .show import FAILED, MAINTAINERS, complain, did_you_mean, say

START = "00_start_here.ipynb"


def notebooks_folder() -> Path:
    """The checkout's notebooks; an installed wheel carries none."""
    folder = Path(__file__).resolve().parents[2] / "notebooks"
    if not folder.is_dir():
        raise MiniragError(
            "the notebooks are not part of the installed package. Clone the repository and run"
            " minirag there."
        )
    return folder


def lab_command(folder: Path, browser: bool = True, port: int | None = None) -> list[str]:
    """The command that opens JupyterLab at the first notebook, to be run beside `notebooks/`."""
    if not (folder / START).is_file():
        raise MiniragError(f"{START} is missing from {folder}. Restore it from version control.")
    if importlib.util.find_spec("jupyterlab") is None:
        raise MiniragError(
            "JupyterLab is not installed. Install the kit as its README says: pip install -e"
            ' ".[offline]" -c constraints.txt'
        )
    page = f"--LabApp.default_url=/lab/tree/{folder.name}/{START}"
    command = [sys.executable, "-m", "jupyterlab", page]
    if not browser:
        command.append("--no-browser")
    # JupyterLab refuses to start for root unless told; in a container root is who there is.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return [*command, f"--port={port}"] if port else command


def lab(
    browser: bool = typer.Option(True, help="Open a browser window."),
    port: int | None = typer.Option(
        None, min=1, max=65535, help="By default the first free one from 8888 on."
    ),
) -> None:
    """Open JupyterLab at the first notebook."""
    folder = notebooks_folder()
    with subprocess.Popen(lab_command(folder, browser, port), cwd=folder.parent) as server:
        while True:
            try:
                status = server.wait()  # below 0: stopped by a signal, which is how one leaves
                raise typer.Exit(max(0, status))
            except KeyboardInterrupt:  # JupyterLab got it too, and asks whether to stop
                continue


def refresh(
    notebooks: list[Path] | None = typer.Argument(None, help="By default all of notebooks/."),
    timeout: int = typer.Option(120, min=1, help="Seconds a cell may take."),
) -> None:
    """Run notebooks again; only a real change shows in a diff."""
    from ..corpora.fetching import available
    from ..workshop.refresh import execute_and_normalise, needed_data

    for path in notebooks or sorted(notebooks_folder().glob("*.ipynb")):
        if not path.is_file():
            raise MiniragError(f"there is no notebook {str(path)!r}.")
        absent = [name for name in needed_data(path) if not available(name)]
        if absent:
            say(f"{path.name}: left as it is, its data is not here (minirag fetch {absent[0]})")
            continue
        changed = execute_and_normalise(path, timeout)
        say(f"{path.name}: {'changed' if changed else 'unchanged'}")


def check(
    exercise: str = typer.Argument(help="Its number or name, such as 03."),
    notebook: Path | None = typer.Option(
        None, help="Your notebook; by default NAME.ipynb here, then in exercises/."
    ),
    hints: int = typer.Option(
        0, min=0, max=3, help="How many prepared hints to show under what is not passed yet."
    ),
) -> None:
    """Grade an exercise: passed, not yet, or a hint for every item.

    Exit status 1 until all is passed.
    """
    try:
        from ..grading import exercises
    except ImportError as error:
        raise MiniragError(
            "the grader is missing from this installation. Install minirag-kit again."
        ) from error
    report = exercises.check(exercise, notebook)
    say(report.text(hints))
    if not report.ok:
        complain("not everything is passed yet")
        raise typer.Exit(FAILED)


def handouts(
    notebooks: list[Path] | None = typer.Argument(
        None, help="By default all notebooks and exercises."
    ),
    out: Path = typer.Option(Path("handouts"), help="The folder to write to."),
    pdf: bool = typer.Option(True, help="Print PDF too, where Chromium is found."),
    run: bool = typer.Option(
        True, help="Run notebooks with widgets once more, to print what these show."
    ),
) -> None:
    """Print the notebooks: HTML that needs no network, and PDF."""
    from ..workshop.handouts import make

    for path in make(out, notebooks, pdf, run):
        say(path)


def paper_map(
    wanted: str | None = typer.Argument(
        None,
        metavar="PAPER_OR_WORDS",
        help="A paper, or words such as ppr, pruning, eq-2; by default all.",
    ),
    write: bool = typer.Option(
        False,
        "--write",
        help="Bring the map's files in data/ up to date.",
        rich_help_panel=MAINTAINERS,
    ),
) -> None:
    """Find the papers' equations and tables in code and notebooks.

    The papers are Wang, PathRAG, GraphRAG, Survey and GRAG. Words find the elements whose id or
    name contains all of them.
    """
    from ..workshop.citations import papers
    from ..workshop.paper_map import text
    from ..workshop.paper_map import write as write_map

    if write:
        write_map()
        say("data/paper_map.md and data/paper_holes.yaml are up to date")
    elif wanted is None or not wanted.strip():
        say(text())
    else:
        of_name = {paper.lower(): paper for paper in papers()}
        paper = of_name.get(wanted.strip().lower())
        say(text(paper) if paper else search_map(wanted))


def search_map(words: str) -> str:
    """The entries whose paper, id and name contain all words; an error with what is nearest if
    there are none.
    """
    from ..workshop.citations import elements, papers
    from ..workshop.paper_map import text

    written = {key: f"{row.paper} {row.id} {row.name}".lower() for key, row in elements().items()}
    parts = [re.escape(part) for part in words.lower().split()]
    for edge in (r"\b", ""):  # a word's beginning first: who looks for ppr means no "approximate"
        found = [
            key
            for key, entry in written.items()
            if all(re.search(edge + part, entry) for part in parts)
        ]
        if found:
            break
    else:
        long = {word for entry in written.values() for word in entry.split() if len(word) > 3}
        hint = did_you_mean(words, sorted({*papers(), *long}))
        raise MiniragError(
            f"no paper and no element of one is called {words!r}.{hint} Papers:"
            f" {', '.join(papers())}."
        )
    head = (
        f"{len(found)} of {len(written)} elements have {words!r} in their id or name. Whole papers:"
        f" minirag map {' | '.join(papers())}"
    )
    return "\n".join([head, "", *(entry for key, entry in _entries(text()) if key in found)])


def _entries(whole: str) -> Sequence[tuple[tuple[str, ...], str]]:
    """[((paper, id), entry)] of the map as a checkout prints it, or of the Markdown that an
    installed package carries.
    """
    from ..workshop.paper_map import TITLES

    if not whole.startswith("#"):
        lines = re.split(r"\n(?=\S)", whole)
        return [(tuple(entry.split(":")[0].split(" ", 1)), entry) for entry in lines]
    paper, entries = "", []
    for line in whole.splitlines():
        if line.startswith("## "):
            paper = next((name for name, title in TITLES.items() if title == line[3:]), "")
        elif row := re.match(r"\| `([^`]+)` \|", line):
            entries.append(((paper, row[1]), f"{paper} {line}"))
    return entries


def recordings(
    folder: Path = typer.Argument(help="Where request files and replies lie."),
    name: str | None = typer.Option(
        None, "--round", help="Write the prompts that wait for a reply, in files of this name."
    ),
    take: bool = typer.Option(False, "--take", help="Make the recordings of the folder's replies."),
) -> None:
    """Write and check the request files of recorded replies."""
    from ..corpora.shipped_and_folders import shipped
    from ..encoders.text_encoders import load_encoder
    from ..workshop import recordings as made

    encoder = load_encoder("minilm")
    if name:
        return say(*made.write_round(folder, name, encoder))
    if take:
        taken = made.take_replies(folder, shipped("recordings"), encoder)["parts"]
        return say(*(f"{part}: {numbers}" for part, numbers in taken.items()))
    files = made.rebuilt(encoder)
    differing = made.differing(files)
    for file, requests in files.items():
        write_atomic(folder / f"requests_{file}.jsonl", "".join(r.line for r in requests))
    say(f"{len(files)} request files in {folder}; {len(files) - len(differing)} as the card says.")
    if differing:
        complain(f"not as the card says: {', '.join(differing)}")
        raise typer.Exit(FAILED)
    return None
