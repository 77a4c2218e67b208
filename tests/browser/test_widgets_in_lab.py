"""Every notebook that shows widgets works in a real JupyterLab: it runs, and each control changes
what is shown, quickly.
"""

import itertools
import json
import statistics
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from slices import needed_by_widgets, shows_widget

from minirag.core.files import read_notebook
from minirag.workshop import refresh

ROOT = Path(__file__).parents[2]
MOVES = 3  # of each control, so that the median is not one accident
PATIENCE = (0.4, 3)  # seconds before a control is called dead: a machine may be very busy
LIMIT = 0.3  # seconds from the hand's event to the redrawn figure, in the median

ALIVE = """import ipywidgets
slider = ipywidgets.FloatSlider(
    value=0.5, min=0, max=1, step=0.05, continuous_update=False, description="damping"
)
choice = ipywidgets.Dropdown(options=["one", "two", "three"], description="question")
switch = ipywidgets.Checkbox(value=True, description="specificity")
kinds = ipywidgets.ToggleButtons(options=["paper", "code"])
pick = ipywidgets.RadioButtons(options=["a", "b"])
count = ipywidgets.Button(description="step")
pressed = []
shown = ipywidgets.HTML()
def redraw(change=None):
    chosen = f"{choice.value} {switch.value} {kinds.value} {pick.value}"
    shown.value = f"<b>{slider.value:.2f} {chosen} {len(pressed)}</b>"
for control in (slider, choice, switch, kinds, pick):
    control.observe(redraw, "value")
count.on_click(lambda button: (pressed.append(button), redraw()))
redraw()
ipywidgets.VBox([slider, choice, switch, kinds, pick, count, shown])"""
DEAD = """import ipywidgets
ipywidgets.VBox([ipywidgets.IntSlider(value=3, max=9), ipywidgets.HTML("<b>never changes</b>")])"""


# Their widgets stand in an earlier chapter, too: driven with `-m slow`. So are widgets that need a
# model which the chapter trains; the plain run drives the same class before the training.
AGAIN = ("05_hipporag_examined", "06_hipporag_on_musique", "09_graphrag_on_dulce")
UNTRAINED = {"12_grag": 1}


def cases():
    """The notebooks with widgets, and how many of these are driven (None: all); one on published
    data is skipped where that is absent. Backwards: the other process encodes for the first ones
    meanwhile, and nothing is encoded twice.
    """
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"), reverse=True):
        if any(map(shows_widget, read_notebook(path).cells)):
            needs = (
                json.loads(path.read_text(encoding="utf-8"))["metadata"]
                .get("minirag", {})
                .get("needs", [])
            )
            marks = [pytest.mark.needs(*needs)] if needs else []
            slow = [*marks, pytest.mark.slow]
            if views := UNTRAINED.get(path.stem):
                yield pytest.param(path, views, id=f"{path.stem}, untrained", marks=marks)
            again = path.stem in (*AGAIN, *UNTRAINED)
            yield pytest.param(path, None, id=path.stem, marks=slow if again else marks)


def drive(lab, notebook, record, cells=None):
    """Open, run these cells or all, move everything; returns the problems and the seconds of each
    move.
    """
    lab.open(notebook)
    before = [
        words for words in ("Error displaying widget", "Loading widget") if words in lab.text()
    ]
    assert not before, f"{notebook.name} shows an empty frame before it is run"
    lab.run(cells)
    problems, seconds, quiet = lab.problems(), [], []
    controls = list(enumerate(lab.controls(), start=1))
    for number, (kind, control, area) in controls:
        moves = (lab.move(kind, control, area) for _ in range(MOVES))
        took = list(itertools.takewhile(lambda each: each is not None, moves))
        quiet += [(number, kind, control, area)] if len(took) < MOVES else []
        seconds += took
    # A switch may rightly do nothing to one question; with the others elsewhere it must do
    # something. What stands beside it, and the choice of a question, are tried first.
    for number, kind, control, area in quiet:
        others = [other for place, other in controls if place != number]
        others.sort(key=lambda other: (other[2] is not area, other[0] != "dropdown"))
        if not any(
            lab.move(*other, patience=patience) and lab.move(kind, control, area, patience=patience)
            for patience in PATIENCE
            for other in others
            for _ in range(MOVES)
        ):
            problems.append(f"{kind} {number} changes nothing that is shown")
    empty = statistics.median(lab.round_trip() for _ in range(9))
    median = statistics.median(seconds) if seconds else None
    figure = (
        f"median {median:.3f} s to the redrawn figure" if seconds else "none changed the figure"
    )
    record(
        "widgets",
        f"{notebook.stem}: {len(controls)} controls, {len(seconds)} moves, {figure} (empty "
        f"round trip {empty:.3f} s)",
    )
    return (
        problems + [problem for problem in lab.problems() if problem not in problems],
        len(controls),
        median,
        empty,
    )


@pytest.mark.parametrize("notebook, views", list(cases()))
def test_a_notebook_with_widgets_works_in_jupyterlab(notebook, views, lab, record_property):
    cells = needed_by_widgets(read_notebook(notebook), views)
    problems, moved, median, empty = drive(lab, notebook, record_property, cells)
    assert not problems, "\n".join(problems)
    assert moved, "the notebook shows widgets, but no control was found on the page"
    # On a machine so busy that even an empty request is slow, the figure may be slower by as much
    # and more.
    assert median < LIMIT + 5 * max(0, empty - 0.05)


@pytest.fixture
def notebook(tmp_path):
    def make(*sources, tags=()):
        path = tmp_path / "made_here.ipynb"
        cells = [new_markdown_cell("# Made by a test")] + [
            new_code_cell(source, metadata={"tags": list(tags)}) for source in sources
        ]
        path.write_text(
            refresh.to_text(refresh.normalise(new_notebook(cells=cells))), encoding="utf-8"
        )
        return path

    return make


SOURCES = [
    "import numpy as np",  # 0
    "found = {}\ndef measure(name):\n    found[name] = np.sum([1, name])",  # 1
    "print(np.mean([1]))",  # 2: nothing stands on it
    "measure(3)",  # 3: fills what the widget shows, by way of a function
    "other = [np]",  # 4
    "for i in range(2):\n    other.append(i)",  # 5
    "setting = dict(step=1)",  # 6
    "setting['step'] = len(other)",  # 7
    "print(found, setting)",  # 8
    "Explorer(found, setting)",  # 9: the widget
    "found.clear()",  # 10: comes too late
]


def test_a_widget_needs_what_binds_and_what_changes_what_it_reads():
    cells = [new_code_cell(source) for source in SOURCES]
    assert needed_by_widgets(new_notebook(cells=cells)) == []
    cells[9].outputs = [new_output("execute_result", {"text/plain": "VBox(children=(...))"})]
    assert needed_by_widgets(new_notebook(cells=cells)) == [0, 1, 3, 4, 5, 6, 7, 9]
    cells[6].source = "other = None\nsetting = dict(step=1)"  # the other is bound anew
    cells[7].source = "setting['step'] = other"
    assert needed_by_widgets(new_notebook(cells=cells)) == [0, 1, 3, 6, 7, 9]
    cells[7].source = "print(setting)"
    assert needed_by_widgets(new_notebook(cells=cells)) == [0, 1, 3, 6, 9]


def test_living_controls_are_all_moved(notebook, lab, record_property):
    problems, moved, median, empty = drive(
        lab, notebook("1 / 0  # the lesson", ALIVE, tags=["raises-exception"]), record_property
    )
    assert (problems, moved) == ([], 6)
    assert median < LIMIT + 5 * max(0, empty - 0.05)


COMPOSER = """import minirag as mr
from minirag.widgets import ComposerExplorer
composer = ComposerExplorer(mr.load_corpus("professors"), encoder="lsa")
composer.view()"""


@pytest.mark.slow
def test_a_composer_answers_each_choice(notebook, lab, record_property):
    problems, moved, median, empty = drive(lab, notebook(COMPOSER), record_property)
    assert (problems, moved) == ([], 8)
    assert median < LIMIT + 5 * max(0, empty - 0.05)
    text = lab.text()
    assert "Runs:" in text or "Does not run:" in text


def test_dead_controls_errors_and_remote_pictures_are_found(notebook, lab, record_property):
    remote = "from IPython.display import HTML\nHTML('<img src=\"http://192.0.2.1/pixel.png\">')"
    problems, moved, *_ = drive(
        lab, notebook(DEAD, "1 / 0", "print('never reached')", remote), record_property
    )
    told = "\n".join(problems)
    assert moved == 1 and "slider 1 changes nothing" in told
    assert "ZeroDivisionError" in told and "cell 3 did not run" in told


def test_what_leaves_this_machine_is_refused_and_told(notebook, lab):
    lab.open(
        notebook(
            "from IPython.display import HTML\nHTML('<img src=\"http://192.0.2.1/pixel.png\">')"
        )
    )
    lab.run()
    lab.page.wait_for_timeout(300)
    assert any("refused: http://192.0.2.1/pixel.png" in problem for problem in lab.problems())


DOLLARS = """from minirag import BM25Retriever
from minirag.core.corpus import Chunk, Corpus, Document
from minirag.viz import show_chunks
text = r"It cost $5 in 1901 and $7 later. "
text += r"$\\href{https://192.0.2.1/}{here}$ $$\\rule{500em}{500em}$$"
corpus = Corpus("prices", (Document("p", text, "$a$ and $b$"),), (Chunk("p", text, "$a$ and $b$"),))
method = BM25Retriever.build(corpus)
found = method.retrieve("What cost $5 or $7?")
for shown in (corpus, found, method.answer("What cost $5 or $7?"), show_chunks(corpus.chunks)):
    display(shown)"""


def test_dollar_signs_of_a_corpus_are_no_mathematics(notebook, lab):
    real = "from IPython.display import HTML\nHTML('<p>the cost $x^2$</p>')"
    lab.open(notebook(DOLLARS, real))
    lab.run()
    formulas = lab.page.locator("mjx-container, .MathJax")
    formulas.first.wait_for(state="attached")
    # The one formula that is meant as one: mathematics is set here, and only there.
    where = lab.page.locator(".jp-OutputArea-output", has=formulas)
    assert formulas.count() == 1 and "the cost" in where.inner_text()
    outputs = lab.page.locator(".jp-OutputArea-output", has_text="$5 in 1901 and $7 later")
    assert outputs.count() == 4 and not lab.problems()
