"""The typer application, and what becomes of errors and warnings: one sentence on stderr, exit
status 2.
"""

import difflib
import re
import warnings

import typer
from typer.core import TyperGroup

from .. import __version__
from ..core.errors import MiniragError
from .show import safe

BAD_INPUT, FAILED, STOPPED = 2, 1, 130
USAGE = typer.BadParameter.__base__  # click's error of usage, whose home differs between releases
MAINTAINERS = "For maintainers"
ARGUMENT = re.compile(r"\b(llm|encoder|extraction|base_url|max_calls|record)=(?:\.\.\.)? ?")


def complain(message):
    typer.echo(f"minirag: {safe(message)}", err=True)


def note(message):
    typer.echo(f"note: {safe(message)}", err=True)


def as_options(message):
    """The package speaks of arguments of Python; who typed a command knows them as options:
    `llm='x'` becomes `--llm 'x'`.
    """
    return ARGUMENT.sub(lambda match: f"--{match[1].replace('_', '-')} ", str(message))


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
                if not hasattr(error, "option_name"):
                    raise
                complain(as_known_option(error))
            except OSError as error:
                complain(f"{error.filename or 'a file or connection'}: {error.strerror or error}")
        raise typer.Exit(BAD_INPUT)

    def resolve_command(self, context, args):
        if args and not args[0].startswith("-"):
            one_of(args[0], list(self.commands), "command")
        return super().resolve_command(context, args)

    def format_commands(self, context, formatter):
        """Every command with its first sentence uncut, and those that only maintainers need under a
        heading of their own.
        """
        panels = {"Commands": [], MAINTAINERS: []}
        for name, command in self.commands.items():
            panel = command.rich_help_panel if command.rich_help_panel in panels else "Commands"
            panels[panel].append((name, command.get_short_help_str(limit=200).removesuffix(".")))
            own = [
                option
                for option in command.params
                if getattr(option, "rich_help_panel", None) == MAINTAINERS
            ]
            panels[MAINTAINERS] += [
                (f"{name} {option.opts[0]}", option.help.removesuffix(".")) for option in own
            ]
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted):
    if wanted:
        typer.echo(f"minirag {__version__}")
        raise typer.Exit()


@app.callback()
def minirag(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and stop.",
    ),
):
    """Graph-based RAG, one readable method at a time: ask your own texts, follow the papers, repeat
    their tables.
    """


def as_known_option(error):
    """The sentence on an option that a command does not have."""
    known = [
        name
        for option in error.ctx.command.get_params(error.ctx)
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("-")
    ]
    hint = did_you_mean(error.option_name, known)
    said = f"`minirag {error.ctx.info_name}` has no option {error.option_name!r}.{hint}"
    return f"{said} Known: {', '.join(known)}."


def did_you_mean(name, known, count=2):
    """' Did you mean ...?' with the nearest known names, or ''."""
    near = difflib.get_close_matches(name, known, n=count, cutoff=0.5)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def one_of(name, known, what):
    """`name` if it is known, else an error with the nearest known names and then all of them."""
    if name in known:
        return name
    raise MiniragError(
        f"there is no {what} {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}."
    )


def split_names(text, known, what):
    """The names in 'a,b', each checked; all of them for None. A name may have commas of its own:
    the longest known one counts.
    """
    if text is None:
        return list(known)
    pieces, names = [piece.strip() for piece in text.split(",") if piece.strip()], []
    if not pieces:
        raise MiniragError(f"no {what} is named in {text!r}. Known: {', '.join(known)}.")
    while pieces:
        taken = next(
            (end for end in range(len(pieces), 1, -1) if ", ".join(pieces[:end]) in known), 1
        )
        names.append(one_of(", ".join(pieces[:taken]), known, what))
        pieces = pieces[taken:]
    return list(dict.fromkeys(names))
