"""Printing: tables with rules and colour in a terminal, plain columns everywhere else."""

import unicodedata

COLOURS = {"OK": "green", "OKISH": "yellow", "FAIL": "bold red", "PAPER-ONLY": "dim"}
NO_WRAP = 1000  # columns, where nobody watches: a line of a file should stay one line


def console():
    """A rich console on the present stdout. Colours obey NO_COLOR; nothing in a text is read as
    markup.
    """
    from rich.console import Console

    watched = Console().is_terminal
    return Console(highlight=False, markup=False, emoji=False, width=None if watched else NO_WRAP)


def safe(text):
    """Text of unknown origin for a terminal: without control characters, which could move the
    cursor or rename the window.
    """
    return "".join(c for c in str(text) if c in "\n\t" or unicodedata.category(c) != "Cc")


def say(*lines, style=None):
    """Print lines of any text."""
    printer = console()
    for line in lines:
        printer.print(safe(line), style=style, soft_wrap=True)


def table(headers, rows, numbers=(), title=None):
    """Print rows (lists of values); the columns whose header is in `numbers` are set flush right."""
    printer = console()
    printer.print(_grid(printer, headers, rows, numbers, title))


def columns(rank, lists):
    """Print lists of texts, {header: texts}, side by side with a first column of ranks; one below
    the other where the lines would not fit.
    """
    from itertools import zip_longest

    from rich.measure import Measurement

    rows = [
        [place, *cells]
        for place, cells in enumerate(zip_longest(*lists.values(), fillvalue=""), start=1)
    ]
    printer = console()
    grid = _grid(printer, [rank, *lists], rows, [rank])
    if (
        Measurement.get(printer, printer.options.update(width=NO_WRAP), grid).maximum
        <= printer.width
    ):
        return printer.print(grid)
    for header, cells in lists.items():
        say(header, style="bold")
        say(*(f"  {place}. {cell}" for place, cell in enumerate(cells, start=1)))


def _grid(printer, headers, rows, numbers=(), title=None):
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD if printer.is_terminal else None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for header in headers:
        grid.add_column(header, justify="right" if header in numbers else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(safe(cell), style=COLOURS.get(str(cell), "")) for cell in row))
    return grid


def markdown(headers, rows):
    """The same as a Markdown table, as text."""
    lines = [headers, ["---"] * len(headers), *rows]
    return (
        "\n".join(
            "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"
            for line in lines
        )
        + "\n"
    )


def snippet(text, length=160):
    """The beginning of a text on one line, cut between words."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text[:length].rsplit(" ", 1)[0] if " " in text[:length] else text[:length]
    return cut.rstrip(" ,;:") + " …"
