"""Handouts: whole in one file, no network, no controls that do nothing, nothing given away on the
page of the question.
"""

import base64
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from minirag.cli import app
from minirag.core.errors import MiniragError
from minirag.workshop import handouts

WIDGET = """from minirag.widgets.explorer import Explorer, Slider

class Counter(Explorer):
    def __init__(self):
        super().__init__(Slider("step", "step", 0, 5, 1, 2))

    def html(self):
        return f"<svg width='10' height='10'><text>at {self.state['step']}</text></svg>"

Counter().view()"""
FIGURE = "<svg><circle r='3'/></svg>"
QUESTION = (
    "Predict: $x^2$.\n\n<details><summary>Answer</summary>\n\nIt is *four*, by `$not "
    "math$`.\n\n</details>"
)


@pytest.fixture
def notebook(tmp_path):
    """A stored notebook with a figure, a widget's repr, a formula and a folded answer."""
    svg = new_output("display_data", data={"image/svg+xml": FIGURE, "text/plain": "Figure"})
    view = new_output(
        "execute_result",
        data={"text/plain": "VBox(children=(IntSlider(value=2),))"},
        execution_count=2,
    )
    cells = [
        new_markdown_cell("# Counting & more"),
        new_code_cell(
            "print('kept')", execution_count=1, outputs=[new_output("stream", text="kept\n"), svg]
        ),
        new_code_cell(WIDGET, execution_count=2, outputs=[view]),
        new_markdown_cell(QUESTION),
        new_markdown_cell("$$\\frac{1}{|E|}\\sum_v S(v)$$ costs \\$5 or $6 a month."),
        new_markdown_cell("`a $b$ c` and\n\n```\n$y$\n```"),
    ]
    path = tmp_path / "some.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_a_page_keeps_code_and_figures_and_needs_no_network(notebook, tmp_path):
    written = handouts.make(tmp_path / "out", [notebook], pdf=False, run=False)
    page = written[0].read_text(encoding="utf-8")
    assert [path.name for path in written] == [
        "some.html"
    ] and "<title>Counting &amp; more</title>" in page
    assert (
        base64.b64encode(FIGURE.encode()).decode() in page
        and "kept" in page
        and "class Counter" in re.sub(r"<[^>]+>", "", page)
        and "@page" in page
    )
    assert not re.search(r"<script|<link|(?:src|href)=[\"']https?:|@import|url\(", page)


def test_formulas_are_mathml_and_code_is_left_alone(notebook):
    page = handouts.to_html(notebook, run=False)
    assert (
        page.count("<math") == 2
        and "<mfrac>" in page
        and "$not math$" in page
        and "$6 a month" in page
    )
    assert re.search(r"<mfrac><mrow><mn>1</mn></mrow>.*</mfrac>", page) and "{{formula" not in page
    assert "<code>a $b$ c</code>" in page
    assert "$y$\n</code>" in page


def test_answers_move_to_the_end(notebook):
    page = handouts.to_html(notebook, run=False)
    assert (
        page.index("see 1 at the end")
        < page.index("a month")
        < page.index(handouts.END)
        < page.index("<em>four</em>")
    )


def test_without_running_a_line_stands_in_for_the_widget(notebook):
    page = handouts.to_html(notebook, run=False)
    assert "VBox" not in page and handouts.NONE in page


def test_a_widget_is_printed_as_what_it_shows_first(notebook):
    page = handouts.to_html(notebook)
    assert (
        "VBox" not in page
        and "at 2</text>" in page
        and "step = 2" in page
        and handouts.FIRST in page
    )


def test_a_notebook_that_cannot_be_run_is_printed_all_the_same(notebook):
    broken = nbformat.read(notebook, 4)
    broken.cells[1].source = "raise ValueError('no data here')"
    nbformat.write(broken, notebook)
    assert handouts.NONE in handouts.to_html(notebook)


def test_pdf_where_chromium_is(notebook, tmp_path):
    if not handouts.chromium():
        pytest.skip(
            "no Chromium here: install your system's package `chromium`, or set "
            "MINIRAG_CHROMIUM to its path"
        )
    written = handouts.make(tmp_path / "out", [notebook], run=False)
    assert [path.name for path in written] == ["some.html", "some.pdf"] and written[
        1
    ].read_bytes().startswith(b"%PDF")


SQUARE = "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='300'/>"
DRAWING = new_code_cell(
    "\n".join(f"draw({i})" for i in range(8)),
    execution_count=1,
    outputs=[new_output("display_data", data={"image/svg+xml": SQUARE, "text/plain": "a square"})],
)
ROWS = new_markdown_cell("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 12)


@pytest.mark.parametrize("cell, below", [(DRAWING, 625), (ROWS, 775)], ids=["figure", "table"])
def test_a_page_break_parts_no_figure_from_its_code_and_no_table(cell, below, tmp_path):
    """What stands across the end of the first page moves to the second as a whole, and pushes what
    follows onto a third.
    """
    if not handouts.chromium():
        pytest.skip("no Chromium here")
    above, after = (f"<div style='height:{pixels}px'></div>" for pixels in (700, below))
    cells = [new_markdown_cell(f"# Long\n\n{above}"), cell, new_markdown_cell(after)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "long.ipynb")
    pdf = handouts.make(tmp_path / "out", [tmp_path / "long.ipynb"], run=False)[1]
    assert pdf.read_bytes().count(b"/Type /Page\n") == 3


def test_one_command_prints_them(notebook, tmp_path):
    said = CliRunner().invoke(
        app, ["handouts", str(notebook), "--out", str(tmp_path / "out"), "--no-pdf", "--no-run"]
    )
    assert (
        said.exit_code == 0
        and "some.html" in said.stdout
        and (tmp_path / "out" / "some.html").is_file()
    )


def test_errors_are_sentences(notebook, tmp_path, monkeypatch):
    with pytest.raises(MiniragError, match="no notebook"):
        handouts.make(tmp_path, [tmp_path / "absent.ipynb"])
    monkeypatch.setenv("MINIRAG_CHROMIUM", str(tmp_path / "no-browser"))
    with pytest.raises(MiniragError, match="could not print some.html"):
        handouts.make(tmp_path / "out", [notebook], run=False)
