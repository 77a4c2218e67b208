"""What a teaching notebook must keep, and what running it under nbval does not see.

nbval compares outputs, and tells of an error or of an output that is missing. It does not see a
notebook that was half run, a picture from the network, an `interact` whose output it cannot
compare, a header that skips a level, a cell too long to read. What a linter of code can say of the
cells, ruff says, by notebooks/ruff.toml; each other rule here is a small generator of (cell number,
sentence).
"""

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import MiniragError
from ..core.files import read_notebook
from . import refresh

if TYPE_CHECKING:
    from nbformat import NotebookNode

SETTINGS = Path(__file__).parents[2] / "notebooks" / "ruff.toml"
MAX_LINES, MAX_MEDIAN_LINES = 30, 10
TEXT_PER_CODE = (1.0, 3.0)  # Markdown cells for each code cell
# Text and SVG are read, reviewed and compared, so they stay small. PNG twins are what an untrusted
# notebook and a code host show: they cannot be dropped, and one weighs 20 to 60 KB; they alone may
# take the rest.
MAX_KB, MAX_KB_WITH_PNG = 300, 600

MUTING_TAGS = {"nbval-ignore-output", "nbval-skip"}
MUTING = re.compile(
    r"(?m)^\s*#\s*(NBVAL_IGNORE_OUTPUT|NBVAL_SKIP|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$"
)
MAGIC = re.compile(r"^\s*(?:%|!|\?|[\w.]+\?)")
REMOTE = re.compile(r"(?i)https?://(?!localhost\b|127\.0\.0\.1\b|\[::1\])")
REMOTE_IMAGE = re.compile(
    r"(?i)!\[[^\]]*\]\(\s*<?(?:https?:)?//"
    r"|<(?:img|iframe|script|link)\b[^>]*(?:src|href)\s*=\s*[\"']?(?:https?:)?//"
)
LOCAL_IMAGE = re.compile(r"!\[[^\]]*\]\(\s*<?(?!attachment:|data:|https?:|//)([^)\s>]+)")
KEY = re.compile(
    r"(?i)\bsk-[A-Za-z0-9_-]{8,}|<[^<>\n]*(?:api[- _]?key|token)[^<>\n]*>"
    r"|environ\[[^\]]*KEY[^\]]*\]\s*=|api_key\s*=\s*[\"']|getpass"
)
MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|Users|work|mnt|private|var|opt|usr)/[\w.@-]|\b[A-Z]:\\\\?Users\b"
)
PROGRESS_BAR = re.compile(r"\d+%\|.*\|\s*\d|\b\d+(?:\.\d+)?\s?(?:it|s)/(?:s|it)\b")
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
WIDGET_REPR = re.compile(
    r"^(?:VBox|HBox|GridBox|Tab|Accordion|AppLayout)\(children="
    r"|^\w*(?:Slider|Dropdown|Checkbox|ToggleButtons?|RadioButtons|Button)\("
)
HEADER = re.compile(r"^(#{1,6})\s+\S", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)

Cells = list[tuple[int, "NotebookNode"]]  # with their numbers
Found = Iterator[tuple[int | None, str]]  # None: the notebook as a whole


class Problem(NamedTuple):
    """What breaks a rule: the rule's name, the cell (None: the notebook as a whole), a sentence."""

    rule: str
    cell: int | None
    message: str


def lint(path: str | Path) -> list[Problem]:
    """Every problem of the notebook at `path`; an empty list when it may be committed."""
    path = Path(path)
    notebook = read_notebook(path)
    found = [(name, problem) for name, rule in RULES.items() for problem in rule(notebook, path)]
    return [Problem(name, *problem) for name, problem in found]


def _cells(notebook: "NotebookNode", kind: str = "code") -> Cells:
    return [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == kind]


def _tags(cell: "NotebookNode") -> set[str]:
    return set(cell.metadata.get("tags", []))


def _lines(cell: "NotebookNode") -> int:
    return sum(1 for line in cell.source.splitlines() if line.strip())


def _texts(cell: "NotebookNode") -> Iterator[tuple[str, str]]:
    """(kind, text) of every textual output."""
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            yield output.name, output.text
        elif output.output_type == "error":
            yield "error", "\n".join(output.traceback)
        for kind, text in output.get("data", {}).items():
            if not kind.startswith("image/") or kind == "image/svg+xml":
                yield kind, str(text)


def ruff(notebook: "NotebookNode", path: Path) -> Found:
    """What ruff says of the code. Graded cells may be wide: what is long in them is what they tell
    whoever fails.
    """
    command = [sys.executable, "-m", "ruff", "check", "--quiet", f"--config={SETTINGS}"]
    command += ["--output-format=json", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):
        raise MiniragError(f"ruff could not check {path.name}: {ran.stderr.strip()}")
    for problem in json.loads(ran.stdout):
        number = problem["cell"] - 1
        graded = notebook.cells[number].metadata.get("nbgrader", {}).get("grade")
        if problem["code"] != "E501" or not graded:
            yield number, f"{problem['message']} [{problem['code']}]"


def executed(notebook: "NotebookNode", path: Path) -> Found:
    """Every code cell holds something and was run."""
    for number, cell in _cells(notebook):
        if not cell.source.strip():
            yield number, "is empty."
        elif cell.execution_count is None:
            yield number, "was not executed. Run `minirag refresh`."


def normalised(notebook: "NotebookNode", path: Path) -> Found:
    """The file is what `minirag refresh` would write, cells numbered from top to bottom."""
    if path.read_text(encoding="utf-8") != refresh.to_text(refresh.normalise(notebook)):
        what = "widget state, versions, editor metadata, the order in which cells ran"
        yield None, f"holds what differs from run to run ({what}). Run `minirag refresh`."


def muted(notebook: "NotebookNode", path: Path) -> Found:
    """No cell keeps nbval from comparing its output."""
    for number, cell in _cells(notebook):
        if _tags(cell) & MUTING_TAGS or MUTING.search(cell.source):
            advice = "Make the output deterministic instead."
            yield number, f"keeps nbval from comparing its output. {advice}"


def network(notebook: "NotebookNode", path: Path) -> Found:
    """No shell line and no remote address; one cell tagged `colab` may install the kit there."""
    colab = [number for number, cell in _cells(notebook) if "colab" in _tags(cell)]
    for number, cell in _cells(notebook):
        if colab[:1] == [number] and "google.colab" in cell.source:
            continue
        if "get_ipython" in cell.source or any(map(MAGIC.match, cell.source.splitlines())):
            advice = "Notebooks run as they are, with nothing to install."
            yield number, f"has a shell line or a magic. {advice}"
        if REMOTE.search(cell.source):
            advice = "Only servers on this machine may be named."
            yield number, f"names a remote address in its code. {advice}"


def keys(notebook: "NotebookNode", path: Path) -> Found:
    """No API key is written or asked for."""
    for number, cell in enumerate(notebook.cells):
        if KEY.search(cell.source) and (cell.cell_type == "code" or "sk-" in cell.source):
            where = "Keys come from the environment and are never written into a notebook."
            yield number, f"handles an API key. {where}"


def pictures(notebook: "NotebookNode", path: Path) -> Found:
    """Pictures are in the notebook or beside it."""
    for number, cell in enumerate(notebook.cells):
        shown = [text for kind, text in _texts(cell) if kind in ("text/html", "text/markdown")]
        shown += [cell.source] if cell.cell_type == "markdown" else []
        if any(REMOTE_IMAGE.search(text) for text in shown):
            why = "offline it is blank, online it tracks the reader"
            yield number, f"shows something from the network: {why}."
        for name in (name for text in shown for name in LOCAL_IMAGE.findall(text)):
            if not (path.parent / name).is_file():
                yield number, f"shows {name}, which is not there."


def headers(notebook: "NotebookNode", path: Path) -> Found:
    """One title, then headers whose levels step by one."""
    level = 0
    for number, cell in _cells(notebook, "markdown"):
        for marks in HEADER.findall(FENCE.sub("", cell.source)):
            if level == 0 and len(marks) != 1:
                yield number, "the first header is not a title (one #)."
            elif len(marks) > level + 1:
                jump = f"header level {len(marks)} follows level {level}"
                yield number, f"{jump}: levels step by one."
            elif level and len(marks) == 1:
                yield number, "is a second title."
            level = len(marks)
    if level == 0:
        yield None, "has no title."


def length(notebook: "NotebookNode", path: Path) -> Found:
    """Code cells are short."""
    lines = {number: _lines(cell) for number, cell in _cells(notebook)}
    for number, count in lines.items():
        if count > MAX_LINES:
            advice = "split it, or move it into the package"
            yield number, f"has {count} lines of code, more than {MAX_LINES}: {advice}."
    median = statistics.median(lines.values() or [0])
    if median > MAX_MEDIAN_LINES:
        yield None, f"its median code cell has {median:g} lines, more than {MAX_MEDIAN_LINES}."


def balance(notebook: "NotebookNode", path: Path) -> Found:
    """Text and code alternate."""
    low, high = TEXT_PER_CODE
    ratio = len(_cells(notebook, "markdown")) / max(1, len(_cells(notebook)))
    if not low <= ratio <= high:
        advice = f"{low:g} to {high:g} read well"
        yield None, f"has {ratio:.2f} Markdown cells for each code cell; {advice}."


def size(notebook: "NotebookNode", path: Path) -> Found:
    """The file is small."""
    outputs = [out.get("data", {}) for _, cell in _cells(notebook) for out in cell.outputs]
    total = path.stat().st_size / 1024
    text = total - sum(len(str(data.get("image/png", ""))) for data in outputs) / 1024
    if text > MAX_KB:
        yield None, f"weighs {text:.0f} KB without its PNG pictures, more than {MAX_KB}."
    if total > MAX_KB_WITH_PNG:
        yield None, f"weighs {total:.0f} KB, more than {MAX_KB_WITH_PNG}."


def unstable(notebook: "NotebookNode", path: Path) -> Found:
    """Nothing differs from run to run or from machine to machine, though nbval may let it pass:
    paths, warnings, bars, addresses in memory.
    """
    for number, cell in enumerate(notebook.cells):
        shown = list(_texts(cell))
        if any(MACHINE_PATH.search(text) for _, text in [("source", cell.source), *shown]):
            yield number, "shows a path of one machine."
        for kind, text in shown:
            if kind == "stderr":
                yield number, "writes to stderr: a warning is to be mended at its source."
            elif PROGRESS_BAR.search(text):
                yield number, "stores a progress bar."
            elif kind != "error" and ADDRESS.search(text):
                yield number, "shows an object's address in memory: give the object a repr."


def widgets(notebook: "NotebookNode", path: Path) -> Found:
    """The code cell after a widget plays the user and prints what the widget then says."""
    cells = _cells(notebook)
    for (number, cell), (_, after) in zip(cells, [*cells[1:], (0, None)]):
        shown = any(kind == "text/plain" and WIDGET_REPR.match(text) for kind, text in _texts(cell))
        if shown and (after is None or "trace" not in _tags(after)):
            advice = "it sets values from Python and prints describe()"
            yield number, f"shows a widget; the next code cell must be tagged trace: {advice}."


def rung(notebook: "NotebookNode", path: Path) -> Found:
    """The metadata say the rung, and the data sets that a rung-1 notebook needs."""
    about = notebook.metadata.get("minirag", {})
    if about.get("rung") not in (0, 1, 2):
        yield None, 'its metadata does not say its rung: {"minirag": {"rung": 0}}.'
    elif (about["rung"] == 1) != bool(about.get("needs")):
        example = '{"minirag": {"rung": 1, "needs": ["NAME"]}}'
        yield None, f"a rung-1 notebook names the data sets it needs, and no other does: {example}."


Rule = Callable[["NotebookNode", Path], Found]
ORDER: tuple[Rule, ...] = (ruff, executed, normalised, muted, network, keys, pictures, headers)
ORDER += (length, balance, size, unstable, widgets, rung)
RULES = {rule.__name__: rule for rule in ORDER}
