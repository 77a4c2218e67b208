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
from collections.abc import Iterable
from pathlib import Path

import nbformat
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import read_notebook, write_atomic
from ..corpora.shipped_and_folders import shipped
from . import refresh
from .notebook_lint import WIDGET_REPR

KIT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
DETAILS = re.compile(r"<details[^>]*>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
END = "What the notebook folds away"
LIVE = "<p class='live'>Here the notebook has controls to move; they need a running kernel. {}</p>"
MARK = "minirag-explorer"
FIRST, NONE = "This is what they show first.", "The cells around this one show single settings."
# Run before a notebook: from then on an explorer's `view()` is what it shows, as plain HTML, under
# its settings in words.
AS_PICTURES = f"""
import sys
sys.path.insert(0, {str(KIT)!r})  # the kit that prints is the kit that runs
from minirag.widgets.explorer import Explorer

def view(self):
    import html
    from IPython.display import HTML
    settings = ", ".join(f"{{c.label}} = {{self.state[name]}}" for name, c in self.controls.items())
    words = f"<p class='settings'>{{html.escape(settings)}}</p>"
    return HTML(f"<div class='{MARK}'>{{words}}{{self.html()}}</div>")

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


def make(
    folder: str | Path = "handouts",
    notebooks: Iterable[str | Path] | None = None,
    pdf: bool = True,
    run: bool = True,
) -> list[Path]:
    """Write NAME.html, and NAME.pdf where Chromium is found, for every notebook; returns the paths.

    notebooks: paths; by default those of the checkout, exercises included (without their
    solutions). run: make the pictures of widgets.
    """
    pages = []
    paths = [*map(Path, notebooks or _all_notebooks())]
    for path in progress(paths, description="handouts", unit="notebook"):
        if not path.is_file():
            raise MiniragError(f"there is no notebook {str(path)!r}.")
        pages.append(write_atomic(Path(folder) / f"{path.stem}.html", to_html(path, run)))
    browser = chromium() if pdf else None
    return pages + [print_to_pdf(page, browser) for page in pages if browser]


def _all_notebooks() -> list[Path]:
    folders = (KIT / "notebooks", KIT / "exercises")
    if not folders[0].is_dir():
        raise MiniragError(
            "the notebooks are not part of the installed package. Clone the repository, or name "
            "the notebooks."
        )
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


class Renderer(IPythonRenderer):
    """Markdown to HTML with formulas as MathML, which browsers draw by themselves; a formula that
    cannot be read stays as it is.
    """

    def block_math(self, body: str) -> str:
        return _mathml(body, "block") or super().block_math(body)

    def inline_math(self, body: str) -> str:
        return _mathml(body, "inline") or super().inline_math(body)


def _mathml(formula: str, display: str) -> str:
    try:
        return convert(formula, display=display)
    except Exception:  # any failure of the converter: the reader sees the formula's source
        return ""


def to_html(path: str | Path, run: bool = True) -> str:
    """The notebook as one self-contained page, its figures inside it."""
    path = Path(path)
    notebook = refresh.normalise(read_notebook(path))
    _replace_widgets(notebook, path, run)
    folded_to_the_end(notebook)
    folder, attachments = str(path.parent), dict[str, dict[str, str]]()
    for cell in notebook.cells:
        attachments |= cell.get("attachments", {})
    renderer = Renderer(escape=False, attachments=attachments, embed_images=True, path=folder)
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        embed_images=True,
        filters={"markdown2html": MarkdownWithMath(renderer=renderer).render},
    )
    about = {"metadata": {"path": folder, "name": path.stem}}
    body, resources = exporter.from_notebook_node(notebook, about)
    looks = [*resources["inlining"]["css"], shipped("handout.css").read_text(encoding="utf-8")]
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    title = texts[0].lstrip("# ").splitlines()[0] if texts else path.stem
    return PAGE.format(title=html.escape(title), style="\n".join(looks), body=body)


def folded_to_the_end(notebook: nbformat.NotebookNode) -> None:
    """What the notebook folds away (answers, hints) moves to a last section, so that a printed page
    does not give it away.
    """
    moved: list[str] = []

    def move(match: re.Match[str]) -> str:
        question, answer = match[1].strip(), match[2].strip()
        moved.append(f"**{len(moved) + 1}. {question}**\n\n{answer}")
        return f"{question} *(see {len(moved)} at the end)*"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = DETAILS.sub(move, cell.source)
    if moved:
        notebook.cells.append(new_markdown_cell("\n\n".join([f"## {END}", *moved])))


def _is_widget(output: nbformat.NotebookNode) -> bool:
    return bool(WIDGET_REPR.match(output.get("data", {}).get("text/plain", "")))


def _replace_widgets(notebook: nbformat.NotebookNode, path: Path, run: bool) -> None:
    """In place of each widget: a line that says so, and the picture that it shows first."""
    shown = [cell.get("outputs", []) for cell in notebook.cells]
    live = [number for number, outputs in enumerate(shown) if any(map(_is_widget, outputs))]
    pictures = _pictures(path) if live and run else {}
    for number in live:
        found, cell = pictures.get(number, []), notebook.cells[number]
        text = LIVE.format(FIRST if found else NONE) + "".join(found)
        kept = [output for output in cell.outputs if not _is_widget(output)]
        cell.outputs = [*kept, new_output("display_data", {"text/html": text})]


def _pictures(path: Path) -> dict[int, list[str]]:
    """{cell number: [HTML, ...]}: a copy of the notebook is run with `AS_PICTURES` before it; an
    empty dict where it cannot be run here.
    """
    notebook = read_notebook(path)
    notebook.cells.insert(0, new_code_cell(AS_PICTURES))
    with tempfile.TemporaryDirectory() as folder:
        copy = write_atomic(Path(folder) / path.name, refresh.to_text(notebook))
        try:
            cells = refresh.execute(copy).cells[1:]
        except MiniragError:
            return {}
    outputs = [[out.get("data", {}) for out in cell.get("outputs", [])] for cell in cells]
    pages = [[data.get("text/html", "") for data in cell] for cell in outputs]
    return {i: [page for page in cell if MARK in page] for i, cell in enumerate(pages)}


def chromium() -> str | None:
    """The path of Chromium or Chrome, or None: `MINIRAG_CHROMIUM`, else the first that is found."""
    found = filter(None, map(shutil.which, BROWSERS))
    return os.environ.get("MINIRAG_CHROMIUM") or next(found, None)


def print_to_pdf(page: Path, browser: str) -> Path:
    """Print an HTML file to a PDF beside it; returns the PDF's path. The browser gets a profile of
    its own and no network.
    """
    with tempfile.TemporaryDirectory() as profile:
        printed = Path(profile) / "page.pdf"
        flags = ["--headless", "--disable-gpu", "--no-pdf-header-footer"]
        flags += [f"--user-data-dir={profile}", "--proxy-server=127.0.0.1:9"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # in containers, where it needs no sandbox
            flags.append("--no-sandbox")
        command = [browser, *flags, f"--print-to-pdf={printed}", Path(page).resolve().as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=120, check=True)
            return write_atomic(Path(page).with_suffix(".pdf").resolve(), printed.read_bytes())
        except (OSError, subprocess.SubprocessError) as error:
            problem = f"{Path(browser).name} could not print {Path(page).name}"
            raise MiniragError(
                f"{problem} ({type(error).__name__}). The HTML is there: print it from a browser."
            ) from error
