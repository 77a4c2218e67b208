"""The command line. Every command imports what it needs when it runs, so that `minirag --help` is
quick.
"""

import sys

# isort: off
from . import (
    ask,
    compare,
    tables,
    papers,
    workshop,
    fetch,
    reproduce,
    record,
    train,
)  # in the order in which --help lists them

# isort: on
from .app import app

__all__ = ["app", "main"]


def main():
    """The entry point. A terminal that cannot show a letter shows a question mark instead of
    failing.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
