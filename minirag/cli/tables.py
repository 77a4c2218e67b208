"""`minirag methods`: the survey's tables, read off the classes."""

import typer

from .app import app
from .show import markdown, table

HEADERS = [
    "method",
    "paper",
    "graph type",
    "index",
    "primitive",
    "granularity",
    "operators",
    "language model",
]


def method_rows():
    """One row a method, from its class attributes; a second name of a method says only whose it is.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """
    from ..methods import METHODS

    rows = []
    for name, method in METHODS.items():
        if name != method.name:
            rows.append([name, f"alias of {method.name}", *[""] * (len(HEADERS) - 2)])
            continue
        operators = (
            "; ".join(f"{kind}: {', '.join(names)}" for kind, names in method.operators.items())
            or "none"
        )
        index, granularity = (
            ", ".join(method.index_components) or "none",
            ", ".join(method.granularity),
        )
        needs = (
            "needed"
            if method.needs_model
            else "its own, after training"
            if method.needs_training
            else "optional"
        )
        rows.append(
            [
                name,
                method.paper,
                method.graph_type,
                index,
                method.primitive,
                granularity,
                operators,
                needs,
            ]
        )
    return rows


@app.command()
def methods(as_markdown: bool = typer.Option(False, "--markdown", help="As a Markdown table.")):
    """List every method: its paper, graph, index and operators."""
    if as_markdown:
        typer.echo(markdown(HEADERS, method_rows()), nl=False)
    else:
        table(HEADERS, method_rows())
