"""The command line: the typer application, and what becomes of errors and warnings, one sentence on
stderr and exit status 2. Every command imports what it needs when it runs, so that
`minirag --help` is quick.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..core.errors import MiniragError
from .ask import ask, compare, record
from .bench import bench
from .recommend import recommend
from .reproduce import fetch, methods, operators, reproduce
from .show import BAD_INPUT, MAINTAINERS, STOPPED, as_options, complain, did_you_mean, note, one_of
from .train import train
from .workshop import check, handouts, lab, paper_map, recordings, refresh

# click's error of usage, whose home differs between releases
USAGE: type[Exception] = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """Runs a command so that a reader sees a sentence where a programmer would see a traceback."""

    def invoke(self, context: Any) -> Any:  # of typer's own copy of click, in newer releases
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(context)
            except MiniragError as error:
                complain(as_options(error))
            except BrokenPipeError:  # `minirag ... | head` has read enough
                raise
            except KeyboardInterrupt:
                complain(
                    "stopped. Vectors and recorded answers are kept; "
                    "the same command goes on from there."
                )
                raise typer.Exit(STOPPED) from None
            except USAGE as error:
                if not hasattr(error, "possibilities"):  # an option without its value, say
                    raise
                complain(_unknown_option(error))
            except OSError as error:
                complain(f"{error.filename or 'a file or connection'}: {error.strerror or error}")
        raise typer.Exit(BAD_INPUT)

    def resolve_command(self, context: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-"):
            one_of(args[0], list(self.commands), "command")
        return super().resolve_command(context, args)

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Every command with its first sentence uncut, and those that only maintainers need under a
        heading of their own.
        """
        panels: dict[str, list[tuple[str, str]]] = {"Commands": [], MAINTAINERS: []}
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None)
            help_text = command.get_short_help_str(limit=200).removesuffix(".")
            panels[heading if heading in panels else "Commands"].append((name, help_text))
            panels[MAINTAINERS] += [
                (f"{name} {option.opts[0]}", getattr(option, "help", "").removesuffix("."))
                for option in command.params
                if getattr(option, "rich_help_panel", None) == MAINTAINERS
            ]
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, UserWarning):
        note(message)


def _unknown_option(error: Any) -> str:
    """The sentence on an option that a command does not have."""
    known = [
        name
        for option in error.ctx.command.get_params(error.ctx)
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("-")
    ]
    hint = did_you_mean(error.option_name, known)
    return (
        f"`minirag {error.ctx.info_name}` has no option {error.option_name!r}.{hint}"
        f" Known: {', '.join(known)}."
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"minirag {__version__}")
        raise typer.Exit()


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


VERSION = typer.Option(
    False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
)


@app.callback()
def minirag(version: bool = VERSION) -> None:
    """Graph-based RAG, one readable method at a time: ask your own texts, follow the papers, repeat
    their tables.
    """


COMMANDS: tuple[Callable[..., None], ...] = (  # as --help lists them
    ask, compare, methods, operators, recommend, bench, paper_map, handouts, lab, refresh,
    recordings, check, fetch, reproduce, record, train,
)  # fmt: skip
for command in COMMANDS:
    panel = MAINTAINERS if command in (handouts, recordings, refresh) else None
    app.command("map" if command is paper_map else None, rich_help_panel=panel)(command)


def main() -> None:
    """The entry point. A terminal that cannot show a letter shows a question mark instead of
    failing.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
