"""What a teaching notebook must keep, and what running it under nbval does not see.

nbval compares outputs. It does not see a notebook that was cleared or half run, a picture from the
network, an `interact` whose output it cannot compare, a header that skips a level, a cell too long
to read. Each rule here is a small generator of (cell number, sentence).
"""

import ast
import re
import statistics
from collections import namedtuple
from pathlib import Path

from ..core.files import read_notebook
from . import refresh

Problem = namedtuple("Problem", "rule cell message")

MAX_LINES, MAX_MEDIAN_LINES = 30, 10
# of a code line: what a notebook shows beside its prompt without a scroll bar; 92 reads better
MAX_CHARACTERS = 100
TEXT_PER_CODE = (1.0, 3.0)  # Markdown cells for each code cell
# Text and SVG are read, reviewed and compared, so they stay small. PNG twins are what an untrusted
# notebook and a code host show: they
# cannot be dropped, and one weighs 20 to 60 KB; they alone may take the rest.
MAX_KB, MAX_KB_WITH_PNG = 300, 600

UNCHECKED_WIDGETS = {
    "interact",
    "interact_manual",
    "interactive",
    "interactive_output",
    "Output",
    "clear_output",
    "update_display",
}
UNCHECKED_MODULES = {"threading", "asyncio", "tqdm"}
NETWORK_MODULES = {"requests", "urllib", "httpx", "aiohttp", "socket", "ftplib", "http"}
SHELLS = {"get_ipython", "subprocess"}
SHELL_CALLS = {
    "system",
    "popen",
}  # of the module os; an attribute of that name may be anything, a prompt's system turn for one
MUTING_TAGS = {"nbval-ignore-output", "nbval-skip"}
MUTING_COMMENT = re.compile(
    r"^\s*#\s*(NBVAL_IGNORE_OUTPUT|NBVAL_SKIP|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.MULTILINE
)
MAGIC = re.compile(r"^\s*(?:%|!|\?|[\w.]+\?)")
REMOTE = re.compile(r"https?://(?!localhost\b|127\.0\.0\.1\b|\[::1\])", re.IGNORECASE)
REMOTE_IMAGE = re.compile(
    r"!\[[^\]]*\]\(\s*<?(?:https?:)?//|<(?:img|iframe|script|link)\b[^>]*(?:src|href)\s*=\s*[\"']?(?:https?:)?//",
    re.IGNORECASE,
)
LOCAL_IMAGE = re.compile(r"!\[[^\]]*\]\(\s*<?(?!attachment:|data:|https?:|//)([^)\s>]+)")
KEY = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}|<[^<>\n]*(?:api[- _]?key|token)[^<>\n]*>|environ\[[^\]]*KEY[^\]]*\]\s*=|api_key\s*=\s*[\"']|getpass",
    re.IGNORECASE,
)
MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|Users|work|mnt|private|var|opt|usr)/[\w.@-]|\b[A-Z]:\\\\?Users\b"
)
PROGRESS_BAR = re.compile(r"\d+%\|.*\|\s*\d|\b\d+(?:\.\d+)?\s?(?:it|s)/(?:s|it)\b")
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
WIDGET_REPR = re.compile(
    r"^(?:VBox|HBox|GridBox|Tab|Accordion|AppLayout)\(children=|^\w*(?:Slider|Dropdown|Checkbox|ToggleButtons?|RadioButtons|Button)\("
)
HEADER = re.compile(r"^(#{1,6})\s+\S", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def lint(path):
    """Every problem of the notebook at `path`, as a list of Problem(rule, cell, message); empty
    when it may be committed.
    """
    path = Path(path)
    notebook = read_notebook(path)
    return [
        Problem(name, cell, message)
        for name, rule in RULES.items()
        for cell, message in rule(notebook, path)
    ]


def measure(path):
    """The notebook in numbers: cells, Markdown per code cell, lines of its code cells, KB."""
    path = Path(path)
    notebook = read_notebook(path)
    lines = [_lines(cell) for _, cell in _code(notebook)] or [0]
    return {
        "cells": len(notebook.cells),
        "text_per_code": round(
            sum(cell.cell_type == "markdown" for cell in notebook.cells) / len(lines), 2
        ),
        "median_lines": statistics.median(lines),
        "longest": max(lines),
        "KB": round(path.stat().st_size / 1024),
    }


def _code(notebook):
    return [
        (number, cell) for number, cell in enumerate(notebook.cells) if cell.cell_type == "code"
    ]


def _text(notebook):
    return [
        (number, cell) for number, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"
    ]


def _tags(cell):
    return set(cell.metadata.get("tags", []))


def _lines(cell):
    return sum(1 for line in cell.source.splitlines() if line.strip())


def _tree(cell):
    """The cell's syntax tree, its magics left out; None where it does not parse (a rule of its own
    says so).
    """
    try:
        return ast.parse(
            "\n".join("" if MAGIC.match(line) else line for line in cell.source.splitlines())
        )
    except SyntaxError:
        return None


def _texts(cell):
    """(kind, text) of every textual output."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.name, output.text
        elif output.output_type == "error":
            yield "error", "\n".join(output.traceback)
        for kind, text in output.get("data", {}).items():
            if not kind.startswith("image/") or kind == "image/svg+xml":
                yield kind, text if isinstance(text, str) else str(text)


def executed(notebook, path):
    expected = 1
    for number, cell in _code(notebook):
        if cell.execution_count != expected:
            yield (
                number,
                f"execution count {cell.execution_count}, expected {expected}: not executed from top to bottom. Run `minirag refresh`.",
            )
            return
        expected += 1


def normalised(notebook, path):
    if path.read_text(encoding="utf-8") != refresh.to_text(refresh.normalise(notebook)):
        yield (
            None,
            "holds what differs from run to run (widget state, versions, editor metadata). Run `minirag refresh`.",
        )


def outputs(notebook, path):
    """A cell that prints, or ends in a plain value, has an output; so has the notebook as a whole."""
    if not any(cell.outputs for _, cell in _code(notebook)):
        yield None, "no cell has an output: the notebook was cleared."
    for number, cell in _code(notebook):
        tree = _tree(cell)
        if cell.outputs or tree is None or not tree.body:
            continue
        calls = [
            node.value.func
            for node in tree.body
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ]
        prints = any(getattr(call, "id", None) in ("print", "display") for call in calls)
        last = tree.body[-1]
        shows = (
            isinstance(last, ast.Expr)
            and not isinstance(last.value, (ast.Call, ast.Constant))
            and not cell.source.rstrip().endswith(";")
        )
        if prints or shows:
            yield number, "should show something and has no output. Run `minirag refresh`."


def errors(notebook, path):
    for number, cell in _code(notebook):
        if any(
            output.output_type == "error" for output in cell.outputs
        ) and "raises-exception" not in _tags(cell):
            yield (
                number,
                "shows an error. Mend it, or tag the cell raises-exception if the error is the lesson.",
            )


def muted(notebook, path):
    for number, cell in _code(notebook):
        if _tags(cell) & MUTING_TAGS or MUTING_COMMENT.search(cell.source):
            yield (
                number,
                "keeps nbval from comparing its output. Make the output deterministic instead.",
            )


def parses(notebook, path):
    for number, cell in _code(notebook):
        if not cell.source.strip():
            yield number, "is empty."
        elif _tree(cell) is None:
            yield number, "is not valid Python."


def _used(tree):
    """Every name that the code mentions: variables, attributes, modules and what is imported from
    them.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield getattr(node, "id", getattr(node, "attr", None))
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
    yield from _imported(tree)


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _shells(tree):
    """Whether the code starts a shell: by IPython, subprocess, or the calls of os that do."""
    nodes = list(ast.walk(tree))
    imported = [
        (node, alias)
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    ]
    modules = {
        alias.asname or alias.name
        for node, alias in imported
        if isinstance(node, ast.Import) and alias.name == "os"
    }
    from_os = any(
        getattr(node, "module", None) == "os" and alias.name in SHELL_CALLS
        for node, alias in imported
    )
    calls = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in SHELL_CALLS]
    return (
        from_os
        or bool(SHELLS.intersection(_used(tree)))
        or any(getattr(node.value, "id", None) in modules | {"os"} for node in calls)
    )


def network(notebook, path):
    """No shell line, download or remote address; one cell tagged `colab` may install the kit there."""
    colab = [number for number, cell in _code(notebook) if "colab" in _tags(cell)]
    for number, cell in _code(notebook):
        if colab[:1] == [number] and "google.colab" in cell.source:
            continue
        tree = _tree(cell) or ast.Module([], [])
        if any(MAGIC.match(line) for line in cell.source.splitlines()) or _shells(tree):
            yield (
                number,
                "has a shell line or a magic. Notebooks run as they are, with nothing to install.",
            )
        if reached := sorted(NETWORK_MODULES.intersection(_imported(tree))):
            yield number, f"imports {', '.join(reached)}: no cell reaches for the network."
        strings = (
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        if any(REMOTE.search(string) for string in strings):
            yield (
                number,
                "names a remote address in its code. Only servers on this machine may be named.",
            )


def keys(notebook, path):
    for number, cell in enumerate(notebook.cells):
        if KEY.search(cell.source) and (cell.cell_type == "code" or "sk-" in cell.source):
            yield (
                number,
                "handles an API key. Keys come from the environment and are never written into a notebook.",
            )


def pictures(notebook, path):
    for number, cell in enumerate(notebook.cells):
        shown = (
            [cell.source]
            if cell.cell_type == "markdown"
            else [text for kind, text in _texts(cell) if kind in ("text/html", "text/markdown")]
        )
        if any(REMOTE_IMAGE.search(text) for text in shown):
            yield (
                number,
                "shows something from the network: offline it is blank, online it tracks the reader.",
            )
        for text in shown:
            for name in LOCAL_IMAGE.findall(text):
                if not (path.parent / name).is_file():
                    yield number, f"shows {name}, which is not there."


def headers(notebook, path):
    level = 0
    for number, cell in _text(notebook):
        for marks in HEADER.findall(FENCE.sub("", cell.source)):
            if level == 0 and len(marks) != 1:
                yield number, "the first header is not a title (one #)."
            elif len(marks) > level + 1:
                yield (
                    number,
                    f"header level {len(marks)} follows level {level}: levels step by one.",
                )
            elif level and len(marks) == 1:
                yield number, "is a second title."
            level = len(marks)
    if level == 0:
        yield None, "has no title."


def length(notebook, path):
    lines = [_lines(cell) for _, cell in _code(notebook)]
    for (number, _), count in zip(_code(notebook), lines):
        if count > MAX_LINES:
            yield (
                number,
                f"has {count} lines of code, more than {MAX_LINES}: split it, or move it into the package.",
            )
    if lines and statistics.median(lines) > MAX_MEDIAN_LINES:
        yield (
            None,
            f"its median code cell has {statistics.median(lines):g} lines, more than {MAX_MEDIAN_LINES}.",
        )


def wide(notebook, path):
    """Graded cells may: what is long in them is what they tell whoever fails."""
    for number, cell in _code(notebook):
        longest = max(map(len, cell.source.splitlines()), default=0)
        if longest > MAX_CHARACTERS and not cell.metadata.get("nbgrader", {}).get("grade"):
            yield (
                number,
                f"has a line of {longest} characters, more than {MAX_CHARACTERS}: give parts of it a name, or break it.",
            )


def balance(notebook, path):
    ratio = len(_text(notebook)) / max(1, len(_code(notebook)))
    if not TEXT_PER_CODE[0] <= ratio <= TEXT_PER_CODE[1]:
        yield (
            None,
            f"has {ratio:.2f} Markdown cells for each code cell; {TEXT_PER_CODE[0]:g} to {TEXT_PER_CODE[1]:g} read well.",
        )


def size(notebook, path):
    png = sum(
        len(str(data))
        for _, cell in _code(notebook)
        for out in cell.outputs
        for kind, data in out.get("data", {}).items()
        if kind == "image/png"
    )
    total = path.stat().st_size
    if total - png > MAX_KB * 1024:
        yield (
            None,
            f"weighs {(total - png) / 1024:.0f} KB without its PNG pictures, more than {MAX_KB}.",
        )
    if total > MAX_KB_WITH_PNG * 1024:
        yield None, f"weighs {total / 1024:.0f} KB, more than {MAX_KB_WITH_PNG}."


def paths(notebook, path):
    for number, cell in enumerate(notebook.cells):
        texts = [cell.source] + (
            [text for _, text in _texts(cell)] if cell.cell_type == "code" else []
        )
        if any(MACHINE_PATH.search(text) for text in texts):
            yield number, "shows a path of one machine."


def unstable(notebook, path):
    """What differs from run to run, though nbval may let it pass: warnings, bars, addresses in
    memory.
    """
    for number, cell in _code(notebook):
        for kind, text in _texts(cell):
            if kind == "stderr":
                yield number, "writes to stderr: a warning is to be mended at its source."
            elif PROGRESS_BAR.search(text):
                yield number, "stores a progress bar."
            elif kind != "error" and ADDRESS.search(text):
                yield number, "shows an object's address in memory: give the object a repr."


def widgets(notebook, path):
    """Only what nbval can compare: sliders, observe, one HTML. The next code cell plays the user
    and prints what the widget then says.
    """
    cells = _code(notebook)
    for position, (number, cell) in enumerate(cells):
        tree = _tree(cell)
        used = (
            sorted((UNCHECKED_WIDGETS | UNCHECKED_MODULES).intersection(_used(tree)))
            if tree
            else []
        )
        if used:
            yield (
                number,
                f"uses {', '.join(used)}, which nbval cannot check: use sliders, observe and one HTML.",
            )
        shown = any(kind == "text/plain" and WIDGET_REPR.match(text) for kind, text in _texts(cell))
        following = cells[position + 1][1] if position + 1 < len(cells) else None
        if shown and (following is None or "trace" not in _tags(following)):
            yield (
                number,
                "shows a widget; the next code cell must be tagged trace: it sets values from Python and prints describe().",
            )


def rung(notebook, path):
    said = notebook.metadata.get("minirag", {})
    if said.get("rung") not in (0, 1, 2):
        yield None, 'its metadata does not say its rung: {"minirag": {"rung": 0}}.'
    elif (said["rung"] == 1) != bool(said.get("needs")):
        yield (
            None,
            'a rung-1 notebook names the data sets it needs, and no other does: {"minirag": {"rung": 1, "needs": ["NAME"]}}.',
        )


RULES = {
    rule.__name__: rule
    for rule in (executed, normalised, outputs, errors, muted, parses, network, keys, pictures)
    + (headers, length, wide, balance, size, paths, unstable, widgets, rung)
}
