"""`minirag fetch`: published data, pinned and verified."""

from pathlib import Path

import typer

from ..core.errors import MiniragError
from .app import app, one_of
from .show import say, table


@app.command()
def fetch(
    name: str | None = typer.Argument(None, help="One of `minirag fetch --list`."),
    folder: Path | None = typer.Option(
        None, help="Where to put it; by default MINIRAG_DATA, else the system's data folder."
    ),
    show_list: bool = typer.Option(False, "--list", help="What can be fetched, and what is here."),
):
    """Download a published dataset and verify every file.

    The commit is pinned; a download that was interrupted goes on where it stopped.
    """
    from ..corpora import fetching

    if show_list:
        return table(
            ["name", "what", "licence", "MB", "here"], _rows(fetching, folder), numbers=["MB"]
        )
    if name is None:
        raise MiniragError(
            f"name a dataset: {', '.join(fetching.DATASETS)}. `minirag fetch --list` tells what they are."
        )
    one_of(name, list(fetching.DATASETS), "dataset")
    say(f"{name}: complete and verified in {fetching.fetch(name, folder)}")


def _rows(fetching, folder):
    rows = []
    for dataset in fetching.DATASETS.values():
        sizes = [file.bytes for file in dataset.files]
        megabytes = f"{sum(sizes) / 1e6:.1f}" if all(sizes) else "not measured"
        rows.append(
            [
                dataset.name,
                dataset.title,
                dataset.licence,
                megabytes,
                "yes" if fetching.available(dataset.name, folder) else "no",
            ]
        )
    return rows
