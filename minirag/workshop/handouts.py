"""Printable handouts: every notebook as one HTML file that needs no network, and as PDF where
Chromium is found.

Code, text and figures stay as they are stored. A widget cannot be printed: in its place stands the
picture that it shows first, made by running the notebook once more. Where that is not possible (the
data is not here) a line says what the reader is missing.
"""

import html
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import read_notebook, write_atomic
from ..corpora.shipped_and_own import shipped
from . import refresh
from .notebook_lint import WIDGET_REPR

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
MATH = re.compile(r"(?<![\\$])(\$\$?)(?!\s)((?:\\.|[^$\\])+?)(?<!\s)\1(?!\d)", re.DOTALL)
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`|<code>.*?</code>", re.MULTILINE | re.DOTALL)
DETAILS = re.compile(r"<details[^>]*>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
END = "What the notebook folds away"
LIVE = "<p class='live'>Here the notebook has controls to move; they need a running kernel. {}</p>"
MARK = "minirag-explorer"
FIRST, NONE = "This is what they show first.", "The cells around this one show single settings."
# Run before a notebook: from then on an explorer's `view()` is what it shows, as plain HTML, under
# its settings in words.
AS_PICTURES = """
import sys
sys.path.insert(0, {kit!r})  # the kit that prints is the kit that runs
from minirag.widgets.explorer import Explorer

def view(self):
    import html
    from IPython.display import HTML
    settings = ", ".join(f"{{control.label}} = {{self.state[name]}}" for name, control in self.controls.items())
    return HTML(f"<div class='{mark}'><p class='settings'>{{html.escape(settings)}}</p>{{self.html()}}</div>")

Explorer.view = view
del sys, view
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
{style}
</style></head><body><main>
{body}
</main></body></html>
"""


def make(folder="handouts", notebooks=None, pdf=True, run=True):
    """Write NAME.html, and NAME.pdf where Chromium is found, for every notebook; returns the paths.

    notebooks: paths; by default those of the checkout, exercises included (without their
    solutions). run: make the pictures of widgets.
    """
    folder, written = Path(folder), []
    for path in progress(
        [*map(Path, notebooks or _all_notebooks())], description="handouts", unit="notebook"
    ):
        if not path.is_file():
            raise MiniragError(f"there is no notebook {str(path)!r}.")
        written.append(write_atomic(folder / f"{path.stem}.html", to_html(path, run)))
    browser = pdf and chromium()
    return written + [print_to_pdf(page, browser) for page in list(written) if browser]


def _all_notebooks():
    root = Path(__file__).parents[2]
    if not (root / "notebooks").is_dir():
        raise MiniragError(
            "the notebooks are not part of the installed package. Clone the repository, or name the notebooks."
        )
    return [
        *sorted((root / "notebooks").glob("*.ipynb")),
        *sorted((root / "exercises").glob("*.ipynb")),
    ]


def to_html(path, run=True):
    """The notebook as one self-contained page, its figures inside it."""
    from nbconvert import HTMLExporter

    notebook = refresh.normalise(read_notebook(path))
    _replace_widgets(notebook, path, run)
    formulas = Formulas()
    folded_to_the_end(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = formulas.take(cell.source)
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        embed_images=True,
    )
    body, resources = exporter.from_notebook_node(
        notebook, {"metadata": {"path": str(Path(path).parent), "name": Path(path).stem}}
    )
    style = "\n".join(
        [*resources["inlining"]["css"], shipped("handout.css").read_text(encoding="utf-8")]
    )
    title = next(
        (
            cell.source.lstrip("# ").splitlines()[0]
            for cell in notebook.cells
            if cell.cell_type == "markdown"
        ),
        Path(path).stem,
    )
    return PAGE.format(title=html.escape(title), style=style, body=formulas.put_back(body))


class Formulas:
    """Formulas leave Markdown before it is converted and come back as MathML, which browsers draw
    by themselves.

    Code is left alone, and so is what cannot be read as a formula. (The converter of notebooks
    would take MathML's tags apart.)
    """

    def __init__(self):
        self.mathml = []

    def take(self, text):
        parts, start = [], 0
        for code in CODE.finditer(text):
            parts += [MATH.sub(self._keep, text[start : code.start()]), code[0]]
            start = code.end()
        return "".join(parts) + MATH.sub(self._keep, text[start:])

    def _keep(self, match):
        from latex2mathml.converter import convert

        try:
            self.mathml.append(convert(match[2], display="block" if match[1] == "$$" else "inline"))
        except Exception:  # any failure of the converter: the reader sees the formula's source
            return match[0]
        return f"{{{{formula-{len(self.mathml) - 1}}}}}"

    def put_back(self, page):
        return re.sub(r"\{\{formula-(\d+)\}\}", lambda match: self.mathml[int(match[1])], page)


def folded_to_the_end(notebook):
    """What the notebook folds away (answers, hints) moves to a last section, so that a printed page
    does not give it away.
    """
    from nbformat.v4 import new_markdown_cell

    moved = []

    def move(match):
        moved.append(f"**{len(moved) + 1}. {match[1].strip()}**\n\n{match[2].strip()}")
        return f"{match[1].strip()} *(see {len(moved)} at the end)*"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = DETAILS.sub(move, cell.source)
    if moved:
        notebook.cells.append(new_markdown_cell("\n\n".join([f"## {END}", *moved])))


def _is_widget(output):
    return bool(WIDGET_REPR.match(output.get("data", {}).get("text/plain", "")))


def _replace_widgets(notebook, path, run):
    import nbformat

    live = [
        number
        for number, cell in enumerate(notebook.cells)
        if any(map(_is_widget, cell.get("outputs", [])))
    ]
    pictures = _pictures(path, live) if live and run else {}
    for number in live:
        kept = [output for output in notebook.cells[number].outputs if not _is_widget(output)]
        shown = pictures.get(number, [])
        note = LIVE.format(FIRST if shown else NONE)
        data = {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/html": "".join([note, *shown])},
        }
        notebook.cells[number].outputs = [*kept, nbformat.from_dict(data)]


def _pictures(path, cells):
    """{cell number: [HTML, ...]}: a copy of the notebook is run with `AS_PICTURES` before it; an
    empty dict where it cannot be run here.
    """
    from nbformat.v4 import new_code_cell

    notebook = read_notebook(path)
    notebook.cells.insert(
        0, new_code_cell(AS_PICTURES.format(kit=str(Path(__file__).parents[2]), mark=MARK))
    )
    with tempfile.TemporaryDirectory() as folder:
        copy = write_atomic(Path(folder) / Path(path).name, refresh.to_text(notebook))
        try:
            ran = refresh.execute(copy)
        except MiniragError:
            return {}
    shown = {
        n: [
            said
            for out in ran.cells[n + 1].outputs
            if MARK in (said := out.get("data", {}).get("text/html", ""))
        ]
        for n in cells
    }
    return {number: pictures for number, pictures in shown.items() if pictures}


def chromium():
    """The path of Chromium or Chrome, or None: `MINIRAG_CHROMIUM`, else the first that is found."""
    return os.environ.get("MINIRAG_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )


def print_to_pdf(page, browser):
    """Print an HTML file to a PDF beside it; returns the PDF's path. The browser gets a profile of
    its own and no network.
    """
    target = Path(page).with_suffix(".pdf").resolve()
    with tempfile.TemporaryDirectory() as profile:
        printed = Path(profile) / "page.pdf"
        flags = [
            "--headless",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}",
            "--proxy-server=127.0.0.1:9",
        ]
        sandbox = (
            ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        )  # Chromium refuses to be root with one, as in containers
        command = [
            browser,
            *flags,
            *sandbox,
            f"--print-to-pdf={printed}",
            Path(page).resolve().as_uri(),
        ]
        try:
            subprocess.run(command, capture_output=True, timeout=120, check=True)
            return write_atomic(target, printed.read_bytes())
        except (OSError, subprocess.SubprocessError) as error:
            said = (
                f"{Path(browser).name} could not print {Path(page).name} ({type(error).__name__})"
            )
            raise MiniragError(f"{said}. The HTML is there: print it from a browser.") from error
