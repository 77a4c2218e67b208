"""The typer application, and what becomes of errors and warnings: one sentence on stderr, exit status 2."""

import difflib
import warnings

import typer
from typer.core import TyperGroup

from .. import __version__
from ..utils import MiniragError

BAD_INPUT, FAILED = 2, 1


def complain(message):
    typer.echo(f"minirag: {message}", err=True)


def note(message):
    typer.echo(f"note: {message}", err=True)


def _show_warning(message, category, *_, **__):
    if issubclass(category, UserWarning):
        note(message)


class Commands(TyperGroup):
    """Runs a command so that a reader sees a sentence where a programmer would see a traceback."""

    def invoke(self, context):
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(context)
            except MiniragError as error:
                complain(error)
            except BrokenPipeError:  # `minirag ... | head` has read enough
                raise
            except OSError as error:
                complain(f"{error.filename or 'a file or connection'}: {error.strerror or error}")
        raise typer.Exit(BAD_INPUT)


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(wanted):
    if wanted:
        typer.echo(f"minirag {__version__}")
        raise typer.Exit()


@app.callback()
def minirag(version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop.")):
    """Graph-based RAG, one readable method at a time: ask your own texts, follow the papers, repeat their tables."""


def one_of(name, known, what):
    """`name` if it is known, else an error with the nearest known names and then all of them."""
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise MiniragError(f"there is no {what} {name!r}.{hint} Known: {', '.join(known)}.")


def split_names(text, known, what):
    """The names in 'a,b', each checked; all of them for None."""
    if text is None:
        return list(known)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise MiniragError(f"no {what} is named in {text!r}. Known: {', '.join(known)}.")
    return list(dict.fromkeys(one_of(name, known, what) for name in names))
