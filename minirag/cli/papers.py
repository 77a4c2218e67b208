"""`minirag map` and `handouts`: where the papers' elements are, and the notebooks on paper."""

import re
from pathlib import Path

import typer

from ..core.errors import MiniragError
from .app import MAINTAINERS, app, did_you_mean
from .show import say


@app.command("map")
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
):
    """Find the papers' equations and tables in code and notebooks.

    The papers are Wang, PathRAG, GraphRAG, Survey and GRAG. Words find the elements whose id or
    name contains all of them.
    """
    from ..workshop import paper_map as papermap

    if write:
        papermap.write()
        say("data/paper_map.md and data/paper_holes.yaml are up to date")
    elif wanted is None or not wanted.strip():
        say(papermap.text())
    else:
        say(_of_paper(wanted) or _search(wanted))


def _of_paper(name):
    """The map of the paper of this name, in whatever case it is written; None if there is none."""
    from ..workshop.citations import papers
    from ..workshop.paper_map import text

    paper = next((known for known in papers() if known.lower() == name.strip().lower()), None)
    return text(paper) if paper else None


def _search(words):
    """The entries whose paper, id and name contain all words; an error with what is nearest if
    there are none.
    """
    from ..workshop.citations import elements, papers
    from ..workshop.paper_map import text as whole_map

    written = {key: f"{row.paper} {row.id} {row.name}".lower() for key, row in elements().items()}
    for edge in (r"\b", ""):  # a word's beginning first: who looks for ppr means no "approximate"
        found = [
            key
            for key, text in written.items()
            if all(re.search(edge + re.escape(part), text) for part in words.lower().split())
        ]
        if found:
            break
    else:
        known = sorted(
            {
                *papers(),
                *(word for text in written.values() for word in text.split() if len(word) > 3),
            }
        )
        raise MiniragError(
            f"no paper and no element of one is called {words!r}.{did_you_mean(words, known)} Papers: {', '.join(papers())}."
        )
    head = f"{len(found)} of {len(written)} elements have {words!r} in their id or name. Whole papers: minirag map {' | '.join(papers())}"
    return "\n".join([head, "", *(entry for key, entry in _entries(whole_map()) if key in found)])


def _entries(whole):
    """[((paper, id), entry)] of the map as a checkout prints it, or of the Markdown that an
    installed package carries.
    """
    from ..workshop.paper_map import TITLES

    if not whole.startswith("#"):
        entries = re.split(r"\n(?=\S)", whole)
        return [(tuple(entry.split(":")[0].split(" ", 1)), entry) for entry in entries]
    paper, entries = None, []
    for line in whole.splitlines():
        if line.startswith("## "):
            paper = next((name for name, title in TITLES.items() if title == line[3:]), None)
        elif row := re.match(r"\| `([^`]+)` \|", line):
            entries.append(((paper, row[1]), f"{paper} {line}"))
    return entries


@app.command(rich_help_panel=MAINTAINERS)
def handouts(
    notebooks: list[Path] | None = typer.Argument(
        None, help="By default all notebooks and exercises."
    ),
    out: Path = typer.Option(Path("handouts"), help="The folder to write to."),
    pdf: bool = typer.Option(True, help="Print PDF too, where Chromium is found."),
    run: bool = typer.Option(
        True, help="Run notebooks with widgets once more, to print what these show."
    ),
):
    """Print the notebooks: HTML that needs no network, and PDF."""
    from ..workshop.handouts import make

    for path in make(out, notebooks, pdf, run):
        say(str(path))
