"""`minirag reproduce`: a table run again and compared, cell by cell, with the stored numbers."""

import json
import shlex
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import typer

from ..core.errors import MiniragError
from ..core.files import write_atomic
from .app import FAILED, app, one_of, split_names
from .ask import ENCODER
from .models import encoder_named
from .show import markdown, say, table

HEADERS = ["row", "metric", "measured", "stored", "reference", "paper", "state", "why"]
STATES = ("OK", "OKISH", "FAIL", "PAPER-ONLY")


@app.command()
def reproduce(
    target: str | None = typer.Argument(None, help="One of `minirag reproduce --list`."),
    json_file: Path | None = typer.Option(
        None, "--json", metavar="FILE", help="Also write the result to this file."
    ),
    rows: str | None = typer.Option(
        None, help="Only these rows, with commas between them; `all` for every row there is."
    ),
    encoder: str = ENCODER,
    show_list: bool = typer.Option(False, "--list", help="Targets and rows."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would run, and run nothing."),
    display_commands: bool = typer.Option(
        False, "--display-commands", help="Print the command of every row."
    ),
    as_markdown: bool = typer.Option(
        False, "--markdown", help="Print the measured values as a Markdown table."
    ),
):
    """Run a table again and compare it with the stored numbers.

    Exit status 1 if any cell FAILs.
    """
    from ..reproduce.retrieval_tables import TARGETS, row_names

    if show_list:
        return list_targets()
    if target is None:
        raise MiniragError(
            f"name a target: {', '.join(TARGETS)}. `minirag reproduce --list` tells what they are."
        )
    one_of(target, list(TARGETS), "target")
    encoder_named(encoder)
    names = (
        row_names(target, all_rows=rows == "all")
        if rows in (None, "all")
        else split_names(rows, row_names(target), "row")
    )
    if json_file and json_file.is_dir():
        raise MiniragError(f"--json {json_file}: a file is expected, this is a folder.")
    if display_commands:
        return say(
            *(shlex.join(["minirag", "reproduce", target, "--rows", name]) for name in names)
        )
    if dry_run:
        return show_plan(target, names, encoder)
    run(target, names if rows else None, encoder, json_file, as_markdown)


def run(target, names, encoder, json_file, as_markdown):
    from ..reproduce.retrieval_tables import reproduce_table as measure

    result = measure(target, encoder=encoder, rows=names)
    cells = result["comparison"]
    if json_file:
        write_atomic(
            json_file,
            json.dumps(
                {**result, "comparison": [asdict(cell) for cell in cells]},
                ensure_ascii=False,
                indent=1,
            )
            + "\n",
        )
    if as_markdown:
        lines = [
            ["" if cell is None else cell for cell in line.values()]
            for line in result.get("table", ())
        ]
        typer.echo(
            markdown(list(result["table"][0]), lines)
            if lines
            else markdown_table(result["rows"], cells),
            nl=False,
        )
    else:
        show_cells(target, cells)
        say(*result.get("notes", ()))
    if any(cell.state == "FAIL" for cell in cells):
        raise typer.Exit(FAILED)


def markdown_table(
    rows, cells, metrics=("R@2", "R@5", "R@10", "R@20", "coverage@5"), referred=("R@2", "R@5")
):
    """A line a row, as the README shows it: whose triples, the measured values, and the reference's
    in a column of its own.

    Where nothing was retrieved, the columns are simply what was measured.
    """
    from ..reproduce.retrieval_tables import ROWS

    if not any(metric in row for row in rows for metric in metrics):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return markdown(
            ["row", *names[1:]],
            [["" if row.get(name) is None else row[name] for name in names] for row in rows],
        )
    triples = {row.name: _describe(row)[-1] for row in ROWS}
    reference = {
        (cell.row, cell.metric): cell.reference for cell in cells if cell.reference is not None
    }
    lines = []
    for row in rows:
        name = row["method"]
        numbers = [f"{row[metric]:.1f}" if metric in row else "" for metric in metrics]
        known = [
            f"{reference[name, metric]:.1f}" for metric in referred if (name, metric) in reference
        ]
        lines.append([name, triples.get(name, ""), *numbers, " / ".join(known)])
    return markdown(["row", "triples", *metrics, f"reference {' / '.join(referred)}"], lines)


def show_cells(target, cells):
    """One line a cell: measured here and now, stored for this kit, an independent reference, the
    paper; each in its own column.
    """
    shown, last = [], None
    for cell in cells:
        numbers = [cell.measured, cell.expected, cell.reference, cell.paper]
        shown.append(
            [
                "" if cell.row == last else cell.row,
                cell.metric,
                *("" if n is None else f"{n:.2f}" for n in numbers),
                cell.state,
                cell.reason,
            ]
        )
        last = cell.row
    table(HEADERS, shown, numbers=HEADERS[2:6])
    counts = Counter(cell.state for cell in cells)
    say("", f"{target}: " + ", ".join(f"{counts[state]} {state}" for state in STATES))


def list_targets():
    from ..reproduce.retrieval_tables import OWN_ROWS, ROWS, TARGETS

    table(
        ["target", "what", "data here"],
        [[name, what, _data_is_here(name)] for name, what in TARGETS.items()],
    )
    shared = [name for name in TARGETS if name not in OWN_ROWS]
    say(
        "",
        f"`minirag reproduce TARGET --dry-run` lists the rows of {', '.join(OWN_ROWS)}. These are the rows of {', '.join(shared)}:",
    )
    table(["row", "method", "follow", "choices", "triples"], [_describe(row) for row in ROWS])


def show_plan(target, names, encoder):
    from ..evaluate import load_expected
    from ..reproduce.retrieval_tables import ROWS, TARGETS

    stored = load_expected(target)["rows"]
    say(
        f"{target}: {TARGETS[target]}",
        f"data here: {_data_is_here(target)}; encoder: {encoder}; nothing was run",
        "",
    )
    described = {row.name: _describe(row) for row in ROWS}
    plan = [
        [
            *described.get(name, [name, "", "", "", ""]),
            ", ".join(stored.get(name, {}).get("metrics", {})) or "none",
        ]
        for name in names
    ]
    table(["row", "method", "follow", "choices", "triples", "stored metrics"], plan)


def _describe(row):
    triples = (
        "none"
        if row.method in ("bm25", "dense")
        else "with the corpus"
        if row.published
        else "offline rules"
    )
    choices = [f"{k}={v}" for k, v in row.options.items()]
    choices += ["MaxSim of token vectors"] * row.tokens
    return [row.name, row.method, row.follow, ", ".join(choices), triples]


def _data_is_here(target):
    from ..corpora.fetching import DATASETS, available

    if target not in DATASETS:
        return "yes (shipped)"
    return "yes" if available(target) else f"no: minirag fetch {target}"
