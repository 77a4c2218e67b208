"""The notebooks keep the rules that nbval does not see, and each rule is shown to catch what it is
for.
"""

import base64
import copy
import io
import os
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from minirag.core.errors import MiniragError
from minirag.core.files import read_notebook
from minirag.workshop import notebook_lint, refresh

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    [*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "exercises" / "solutions").glob("*.ipynb")]
)

WIDGET = """import ipywidgets
slider, shown = ipywidgets.IntSlider(value=2), ipywidgets.HTML()
slider.observe(lambda change: setattr(shown, "value", f"<b>{change.new}</b>"), "value")
ipywidgets.VBox([slider, shown])"""

COLAB = """import sys
if "google.colab" in sys.modules:
    get_ipython().run_line_magic("pip", "install minirag-kit")
print(1)"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_keeps_the_rules(path):
    problems = notebook_lint.lint(path)
    assert not problems, "\n".join(
        f"{path.name}, cell {problem.cell}: {problem.message} [{problem.rule}]"
        for problem in problems
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A small notebook as it should be, run and normalised by the package."""
    path = tmp_path_factory.mktemp("notebook") / "good.ipynb"
    cells = [
        new_markdown_cell("# A title\n\nOne claim."),
        new_markdown_cell("## A step"),
        new_code_cell("numbers = [1, 2, 3]"),
        new_code_cell("print(sum(numbers))\nprint('two lines, one output')"),
        new_markdown_cell("### A widget\n\n```\n# no header, a comment\n```"),
        new_code_cell(WIDGET),
        new_code_cell(
            "slider.value = 7\nprint(shown.value)", metadata={"tags": ["trace"], "collapsed": True}
        ),
        new_markdown_cell("What raises is the lesson of the next cell."),
        new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]}),
        new_markdown_cell("The end."),
    ]
    nbformat.write(
        new_notebook(cells=cells, metadata={"minirag": {"rung": 0}, "widgets": {"state": {}}}), path
    )
    assert refresh.execute_and_normalise(path), "running a fresh notebook changes its file"
    return path


def test_the_good_notebook_breaks_no_rule(good):
    assert notebook_lint.lint(good) == []


def test_refreshing_twice_changes_nothing(good):
    before = good.read_bytes()
    assert not refresh.execute_and_normalise(good)
    assert good.read_bytes() == before and before.endswith(b"}\n")


def test_normalising_keeps_what_is_meant_and_drops_what_varies(good):
    notebook = read_notebook(good)
    assert (
        set(notebook.metadata) == {"kernelspec", "language_info", "minirag"}
        and "version" not in notebook.metadata.language_info
    )
    assert refresh.WIDGET_VIEW not in good.read_text(encoding="utf-8")
    assert (
        notebook.cells[6].metadata == {"tags": ["trace"]}
        and notebook.cells[6].outputs[0].text == "<b>7</b>\n"
    )
    ids = [cell.id for cell in notebook.cells]
    assert [cell.id for cell in refresh.normalise(notebook).cells] == ids and len(set(ids)) == len(
        ids
    )


def test_a_picture_of_a_chart_loses_weight_and_not_its_looks():
    figure = plt.figure(figsize=(3, 2))
    figure.subplots().plot([1, 3, 2], color="#0072B2")
    figure.savefig(buffer := io.BytesIO(), format="png")
    plt.close(figure)
    png = base64.b64encode(buffer.getvalue()).decode()
    cell = new_code_cell("chart", outputs=[new_output("display_data", {"image/png": png})])
    [light] = (
        cell.outputs[0].data["image/png"]
        for cell in refresh.normalise(new_notebook(cells=[cell])).cells
    )
    before, after = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(one))).convert("RGB"), dtype=float)
        for one in (png, light)
    )
    assert (
        len(light) < len(png) / 2
        and before.shape == after.shape
        and np.abs(before - after).mean() < 1
        and np.abs(before - after).max() < 40
    )


def test_missing_and_repeated_cell_ids_are_mended(good):
    notebook = read_notebook(good)
    notebook.cells[3].id = notebook.cells[2].id
    del notebook.cells[4]["id"]
    ids = [cell.id for cell in refresh.normalise(notebook).cells]
    assert ids[3] == "cell-003" and ids[4] == "cell-004" and len(set(ids)) == len(ids)


def test_a_failing_notebook_is_named_and_left_as_it_was(tmp_path):
    path = tmp_path / "broken.ipynb"
    nbformat.write(
        new_notebook(cells=[new_code_cell("fine = 1"), new_code_cell("fine.nothing_of_the_kind")]),
        path,
    )
    before = path.read_bytes()
    with pytest.raises(MiniragError, match="broken.ipynb, cell 1: AttributeError"):
        refresh.execute_and_normalise(path)
    assert path.read_bytes() == before
    path.write_text("{ half a file", encoding="utf-8")
    with pytest.raises(MiniragError, match="broken.ipynb is not a readable notebook"):
        notebook_lint.lint(path)


def cell_with(source, **changes):
    """A breakage that replaces the notebook's second code cell."""

    def change(notebook):
        cell = notebook.cells[3]
        cell.source = source
        for name, value in changes.items():
            setattr(cell, name, value)

    return change


def text_with(source):
    return lambda notebook: setattr(notebook.cells[1], "source", source)


def printing(text, name="stdout"):
    return lambda notebook: setattr(
        notebook.cells[3], "outputs", [new_output("stream", name=name, text=text)]
    )


def showing(kind, data):
    return lambda notebook: setattr(
        notebook.cells[3], "outputs", [new_output("display_data", data={kind: data})]
    )


def every_code_cell(change):
    return lambda notebook: [change(cell) for cell in notebook.cells if cell.cell_type == "code"]


def png(kilobytes):
    return base64.b64encode(os.urandom(kilobytes * 768)).decode()


BREAKAGES = {
    "executed": [
        lambda notebook: setattr(notebook.cells[3], "execution_count", None),
        every_code_cell(lambda cell: cell.update(execution_count=None)),
        cell_with(""),
    ],
    "normalised": [
        lambda notebook: notebook.metadata.update(widgets={"state": {}}),
        lambda notebook: notebook.metadata.language_info.update(version="3.11.7"),
        lambda notebook: (
            notebook.cells[5].outputs[0].data.update({refresh.WIDGET_VIEW: {"model_id": "0f"}})
        ),
        lambda notebook: notebook.cells[3].metadata.update(scrolled=True),
        lambda notebook: setattr(notebook.cells[3], "execution_count", 9),
    ],
    "muted": [
        lambda notebook: notebook.cells[3].metadata.update(tags=["nbval-ignore-output"]),
        lambda notebook: notebook.cells[3].metadata.update(tags=["nbval-skip"]),
        cell_with("# NBVAL_IGNORE_OUTPUT\nprint(1)"),
    ],
    "ruff": [
        cell_with("key = <your-key>"),
        cell_with("numbers = [" + "1, " * 40 + "]"),
        cell_with("import os\nos.system('git clone corpus')"),
        cell_with("import os as shell\nshell.popen('git clone corpus')"),
        cell_with("from os import system\nsystem('git clone corpus')"),
        cell_with("import subprocess\nsubprocess.run(['git', 'clone', 'corpus'])"),
        cell_with("import requests"),
        cell_with("from urllib.request import urlopen"),
        cell_with("from ipywidgets import interact"),
        cell_with("import ipywidgets\nipywidgets.Output()"),
        cell_with("import threading"),
        cell_with("from tqdm.auto import tqdm"),
    ],
    "network": [
        cell_with("!pip install minirag-kit"),
        cell_with("%pip install minirag-kit"),
        cell_with("get_ipython().run_line_magic('pip', 'install minirag-kit')"),
        cell_with("address = 'https://example.org/corpus.zip'"),
    ],
    "keys": [
        cell_with("import os\nos.environ['OPENAI_API_KEY'] = input()"),
        cell_with("api_key = 'abc'"),
        text_with("The key is sk-abcdefgh12345678."),
    ],
    "pictures": [
        text_with("![a graph](https://example.org/graph.png)"),
        text_with("<img alt='a graph' src='//example.org/graph.png'>"),
        text_with("![a graph](images/not_there.png)"),
        showing("text/html", '<script src="https://example.org/plot.js"></script>'),
    ],
    "headers": [
        text_with("### A step"),
        text_with("# A second title"),
        lambda notebook: setattr(notebook.cells[0], "source", "Words only."),
    ],
    "length": [
        cell_with("\n".join(f"x{n} = {n}" for n in range(31))),
        every_code_cell(lambda cell: cell.update(source="\n".join(["x = 1"] * 11))),
    ],
    "balance": [
        lambda notebook: notebook.cells.extend(
            new_markdown_cell("More.", id=f"more-{n}") for n in range(20)
        ),
        lambda notebook: notebook.update(
            cells=[cell for n, cell in enumerate(notebook.cells) if n not in (4, 7)]
        ),
    ],
    "size": [printing("x" * 310_000), showing("image/png", png(620))],
    "unstable": [
        printing("read from /home/ada/texts/a.txt"),
        printing("C:\\Users\\ada"),
        cell_with("print(open('/tmp/corpus.txt'))"),
        printing("UserWarning: old", name="stderr"),
        printing("encoding:  40%|####      | 4/10 [00:01<00:02, 3.1it/s]"),
        printing("<Graph object at 0x7f1a2b3c4d5e>"),
    ],
    "widgets": [
        lambda notebook: notebook.cells[6].metadata.update(tags=[]),
        lambda notebook: notebook.update(
            cells=[cell for n, cell in enumerate(notebook.cells) if n not in (6, 8)]
        ),
    ],
    "rung": [
        lambda notebook: notebook.metadata.pop("minirag"),
        lambda notebook: notebook.metadata.update(minirag={"rung": 1}),
        lambda notebook: notebook.metadata.update(minirag={"rung": 0, "needs": ["musique_train"]}),
    ],
}


@pytest.mark.parametrize(
    "rule, number", [(rule, number) for rule in BREAKAGES for number in range(len(BREAKAGES[rule]))]
)
def test_each_rule_catches_what_it_is_for(good, tmp_path, rule, number):
    notebook = copy.deepcopy(read_notebook(good))
    BREAKAGES[rule][number](notebook)
    path = tmp_path / "bad.ipynb"
    path.write_text(
        refresh.to_text(
            notebook if rule in ("normalised", "executed") else refresh.normalise(notebook)
        ),
        encoding="utf-8",
    )
    caught = {problem.rule for problem in notebook_lint.lint(path)}
    assert rule in caught


def test_every_rule_has_a_breakage():
    assert set(BREAKAGES) == set(notebook_lint.RULES)


@pytest.mark.parametrize(
    "change",
    [
        text_with(
            "## A step\n\nSee [the paper](https://example.org/paper) and open /notebooks in "
            "JupyterLab."
        ),
        cell_with("base_url = 'http://localhost:11434/v1'\nprint(1)"),
        cell_with("print('recall/precision', 1 / 2)"),
        cell_with("print(task.system)"),
        cell_with(
            "assert sum(numbers) == 6, 'add all of them up'" + " " * 60 + "# 6",
            metadata={"nbgrader": {"grade": True}},
        ),
        cell_with(COLAB, metadata={"tags": ["colab"]}),
        showing("image/png", png(400)),
    ],
)
def test_what_is_allowed_is_not_caught(good, tmp_path, change):
    notebook = copy.deepcopy(read_notebook(good))
    change(notebook)
    path = tmp_path / "fine.ipynb"
    path.write_text(refresh.to_text(refresh.normalise(notebook)), encoding="utf-8")
    assert notebook_lint.lint(path) == []
