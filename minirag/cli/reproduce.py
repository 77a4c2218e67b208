"""`minirag fetch`: published data, pinned and verified. `minirag reproduce`: a table run again and
compared, cell by cell, with the stored numbers. `minirag methods`: the survey's tables of methods,
read off the classes.
"""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import MiniragError
from ..core.files import write_atomic
from .opening import ENCODER, encoder_named
from .show import FAILED, markdown, one_of, say, split_names, table

if TYPE_CHECKING:
    from ..evaluate.metrics import Comparison
    from ..reproduce.retrieval_tables import Row

HEADERS = ["row", "metric", "measured", "stored", "reference", "paper", "state", "why"]
ROW_HEADERS = ["row", "method", "follow", "choices", "triples"]
OPERATOR_HEADERS = ("operator", "takes", "gives", "needs", "used by")
METHOD_HEADERS = ["method", "paper", "graph type", "index", "primitive", "granularity"]
METHOD_HEADERS += ["operators", "offline, by rules"]
STATES = ("OK", "OKISH", "FAIL", "PAPER-ONLY")
RETRIEVED = ("R@2", "R@5", "R@10", "R@20", "coverage@5")
REFERRED = ("R@2", "R@5")


def fetch(
    name: str | None = typer.Argument(None, help="One of `minirag fetch --list`."),
    folder: Path | None = typer.Option(
        None, help="Where to put it; by default MINIRAG_DATA, else the system's data folder."
    ),
    show_list: bool = typer.Option(False, "--list", help="What can be fetched, and what is here."),
) -> None:
    """Download a published dataset and verify every file.

    The commit is pinned; a download that was interrupted goes on where it stopped.
    """
    from ..corpora import fetching
    from ..corpora.datasets import DATASETS

    if show_list:
        rows = []
        for dataset in DATASETS.values():
            sizes = [file.bytes or 0 for file in dataset.files]
            size = f"{sum(sizes) / 1e6:.1f}" if all(sizes) else "not measured"
            here = "yes" if fetching.available(dataset.name, folder) else "no"
            rows.append([dataset.name, dataset.title, dataset.licence, size, here])
        return table(["name", "what", "licence", "MB", "here"], rows, numbers=["MB"])
    if name is None:
        raise MiniragError(
            f"name a dataset: {', '.join(DATASETS)}. `minirag fetch --list` tells what they are."
        )
    one_of(name, list(DATASETS), "dataset")
    say(f"{name}: complete and verified in {fetching.fetch(name, folder)}")
    return None


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
) -> None:
    """Run a table again and compare it with the stored numbers.

    Exit status 1 if any cell FAILs.
    """
    from ..reproduce.retrieval_tables import TARGETS, reproduce_table, row_names

    if show_list:
        return list_targets()
    if target is None:
        raise MiniragError(
            f"name a target: {', '.join(TARGETS)}. `minirag reproduce --list` tells what they are."
        )
    one_of(target, list(TARGETS), "target")
    encoder_named(encoder)
    if rows in (None, "all"):
        names = row_names(target, all_rows=rows == "all")
    else:
        names = split_names(rows, row_names(target), "row")
    if json_file and json_file.is_dir():
        raise MiniragError(f"--json {json_file}: a file is expected, this is a folder.")
    if display_commands:
        commands = [["minirag", "reproduce", target, "--rows", name] for name in names]
        return say(*map(shlex.join, commands))
    if dry_run:
        return show_plan(target, names, encoder)
    result = reproduce_table(target, encoder=encoder, rows=names if rows else None)
    show_result(target, result, json_file, as_markdown)
    if any(cell.state == "FAIL" for cell in result["comparison"]):
        raise typer.Exit(FAILED)
    return None


def show_result(
    target: str, result: dict[str, Any], json_file: Path | None, as_markdown: bool
) -> None:
    """result: of `reproduce_table`, which is also what `json_file` gets."""
    cells = result["comparison"]
    if json_file:
        plain = {**result, "comparison": [asdict(cell) for cell in cells]}
        write_atomic(json_file, json.dumps(plain, ensure_ascii=False, indent=1) + "\n")
    if not as_markdown:
        show_cells(target, cells)
        say(*result.get("notes", ()))
    elif result.get("table"):
        typer.echo(_markdown(result["table"]), nl=False)
    else:
        typer.echo(markdown_table(result["rows"], cells), nl=False)


def _markdown(rows: Sequence[dict[str, Any]], first: str | None = None) -> str:
    """Rows as a Markdown table, a column for each key that one of them has; first: the heading of
    the first column, if it is not its key.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [["" if row.get(name) is None else row[name] for name in names] for row in rows]
    return markdown([first or names[0], *names[1:]], cells)


def markdown_table(rows: Sequence[dict[str, Any]], cells: "Sequence[Comparison]") -> str:
    """A line a row, as the README shows it: whose triples, the measured values, and the reference's
    in a column of its own.

    Where nothing was retrieved, the columns are simply what was measured.
    """
    from ..reproduce.retrieval_tables import ROWS

    if not any(metric in row for row in rows for metric in RETRIEVED):
        return _markdown(rows, "row")
    triples = {row.name: _describe(row)[-1] for row in ROWS}
    reference = {(cell.row, cell.metric): cell.reference for cell in cells}
    lines = []
    for row in rows:
        name = row["method"]
        numbers = [f"{row[metric]:.1f}" if metric in row else "" for metric in RETRIEVED]
        known = [reference.get((name, metric)) for metric in REFERRED]
        references = " / ".join(f"{number:.1f}" for number in known if number is not None)
        lines.append([name, triples.get(name, ""), *numbers, references])
    headers = ["row", "triples", *RETRIEVED, f"reference {' / '.join(REFERRED)}"]
    return markdown(headers, lines)


def show_cells(target: str, cells: "Sequence[Comparison]") -> None:
    """One line a cell: measured here and now, stored for this kit, an independent reference, the
    paper; each in its own column.
    """
    lines: list[list[str]] = []
    last = None
    for cell in cells:
        row = "" if cell.row == last else cell.row
        numbers = [cell.measured, cell.expected, cell.reference, cell.paper]
        written = ["" if number is None else f"{number:.2f}" for number in numbers]
        lines.append([row, cell.metric, *written, cell.state, cell.reason])
        last = cell.row
    table(HEADERS, lines, numbers=HEADERS[2:6])
    counts = Counter(cell.state for cell in cells)
    say("", f"{target}: " + ", ".join(f"{counts[state]} {state}" for state in STATES))


def list_targets() -> None:
    """The tables that can be run, and the rows that most of them share."""
    from ..reproduce.retrieval_tables import OWN, ROWS, TARGETS

    rows = [[name, what, _data_is_here(name)] for name, what in TARGETS.items()]
    table(["target", "what", "data here"], rows)
    own, shared = ", ".join(OWN), ", ".join(name for name in TARGETS if name not in OWN)
    say(
        "",
        f"`minirag reproduce TARGET --dry-run` lists the rows of {own}. These are the rows of"
        f" {shared}:",
    )
    table(ROW_HEADERS, [_describe(row) for row in ROWS])


def show_plan(target: str, names: Sequence[str], encoder: str) -> None:
    """What would run, and which numbers are stored of it."""
    from ..evaluate import load_expected
    from ..reproduce.retrieval_tables import ROWS, TARGETS

    stored = load_expected(target)["rows"]
    here = _data_is_here(target)
    say(f"{target}: {TARGETS[target]}", f"data here: {here}; encoder: {encoder}; nothing was run")
    say("")
    described = {row.name: _describe(row) for row in ROWS}
    plan = []
    for name in names:
        metrics = ", ".join(stored.get(name, {}).get("metrics", {}))
        plan.append([*described.get(name, [name, "", "", "", ""]), metrics or "none"])
    table([*ROW_HEADERS, "stored metrics"], plan)


def _describe(row: "Row") -> list[str]:
    triples = "with the corpus" if row.published else "offline rules"
    choices = [f"{name}={value}" for name, value in row.options.items()]
    if row.tokens:
        choices.append("MaxSim of token vectors")
    if row.method in ("bm25", "dense"):
        triples = "none"
    return [row.name, row.method, row.follow, ", ".join(choices), triples]


def _data_is_here(target: str) -> str:
    from ..corpora import datasets, fetching

    if target not in datasets.DATASETS:
        return "yes (shipped)"
    return "yes" if fetching.available(target) else f"no: minirag fetch {target}"


def methods(
    as_markdown: bool = typer.Option(False, "--markdown", help="As a Markdown table."),
) -> None:
    """List every method: its paper, graph, index and operators."""
    if as_markdown:
        typer.echo(markdown(METHOD_HEADERS, method_rows()), nl=False)
    else:
        table(METHOD_HEADERS, method_rows())


def method_rows() -> list[list[str]]:
    """One row a method, from its class attributes; a second name of a method says only whose it is.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """
    from ..methods import METHODS

    rows = []
    for name, method in METHODS.items():
        if name != method.name:
            rows.append([name, f"alias of {method.name}", *[""] * 6])
            continue
        index, granularity = ", ".join(method.index_components), ", ".join(method.granularity)
        operators = [f"{kind}: {', '.join(names)}" for kind, names in method.operators.items()]
        offline = "needs training" if method.needs_training else "runs"
        row = [name, method.paper, method.graph_type, index or "none", method.primitive]
        row += [granularity, "; ".join(operators) or "none"]
        rows.append([*row, "needs a model" if method.needs_model else offline])
    return rows


def operators(
    as_markdown: bool = typer.Option(False, "--markdown", help="As a Markdown table."),
) -> None:
    """List every operator: what it takes and gives, and who uses it."""
    if as_markdown:
        typer.echo(markdown(OPERATOR_HEADERS, operator_rows()), nl=False)
    else:
        table(OPERATOR_HEADERS, operator_rows())


def operator_rows() -> list[list[str]]:
    """One row an operator of the pool; its methods are those that declare it.

    Source: Survey, Table 3 (tab-3)
    """
    from ..methods import METHODS
    from ..operators.operator import WORDS
    from ..operators.pool import OPERATORS

    rows = []
    for name, each in OPERATORS.items():
        takes = " and ".join(map(str, each.takes)) or "the question"
        named = {m.name for m in METHODS.values() if each.name in m.operators.get(each.kind, ())}
        rows.append([name, takes, WORDS[each.gives], str(each.needs), ", ".join(sorted(named))])
    return rows
