"""What a reader sees while a long step runs and after it: progress bars, safe HTML."""

import os
import sys
from collections.abc import Iterable
from typing import Any


def not_math(markup: str) -> str:
    """HTML in which a notebook reads no mathematics: "$5 or $7" in a text is no formula."""
    return f'<div class="mathjax_ignore">{markup}</div>'


def progress(
    iterable: Iterable[Any] | None = None,  # Any: the items pass through
    *,
    description: str = "",
    total: int | None = None,
    unit: str = "it",
) -> Any:  # tqdm's bar
    """A tqdm bar that appears after one second, in a terminal or in a live notebook.

    `MINIRAG_PROGRESS=0` silences it (tests and stored notebooks do), `MINIRAG_PROGRESS=1` forces
    it.
    """
    from tqdm import tqdm

    wish = os.environ.get("MINIRAG_PROGRESS")
    shown = wish != "0" and (wish == "1" or sys.stderr.isatty() or "ipykernel" in sys.modules)
    return tqdm(
        iterable, desc=description, total=total, unit=unit, delay=1, leave=False, disable=not shown
    )
