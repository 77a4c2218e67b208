"""`minirag methods`: the survey's tables, read off the classes."""

import typer

from .app import app
from .show import markdown, table

HEADERS = ["method", "paper", "graph type", "index", "primitive", "granularity", "operators", "language model"]


def method_rows():
    """One row a method, from its class attributes.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """
    from ..methods import METHODS

    return [
        [
            name,
            method.paper,
            method.graph_type,
            ", ".join(method.index_components) or "none",
            method.primitive,
            ", ".join(method.granularity),
            "; ".join(f"{kind}: {', '.join(names)}" for kind, names in method.operators.items()) or "none",
            "needed" if method.needs_model else "optional",
        ]
        for name, method in METHODS.items()
    ]


@app.command()
def methods(as_markdown: bool = typer.Option(False, "--markdown", help="As a Markdown table.")):
    """Every method: its paper, graph, index, retrieval primitive, granularity and operators."""
    if as_markdown:
        typer.echo(markdown(HEADERS, method_rows()), nl=False)
    else:
        table(HEADERS, method_rows())
