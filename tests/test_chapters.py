"""The chapters that were told again keep their budgets, and every number in their prose stands in
an output of their cells.
"""

from pathlib import Path

import pytest
from chapters import MIN_FIGURES, problems
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
TOLD_AGAIN = (
    "00_start_here",
    "01_rag_from_scratch",
    "02_sharper_retrieval",
    "03_from_text_to_graph",
    "04_hipporag",
    "05_hipporag_examined",
    "06_hipporag_on_musique",
    "15_agents_on_graphs",
    "16_trees",
    "16b_fast_graphs",
    "17_the_unified_framework",
    "17b_measuring_a_change",
    "17c_what_the_benchmark_says",
    "17d_the_surveys_tables",
    "paper_against_code",
)  # the rest follow


@pytest.mark.parametrize("name", TOLD_AGAIN)
def test_a_chapter_keeps_its_budgets_and_its_numbers_are_measured(name):
    _, wrong = problems(NOTEBOOKS / f"{name}.ipynb")
    assert not wrong, "\n".join(wrong)


def printing(text):
    return new_code_cell("print(found)", outputs=[new_output("stream", text=text)])


def told(tmp_path, *cells, name="00_start_here"):
    path = tmp_path / f"{name}.ipynb"
    path.write_text(writes(new_notebook(cells=list(cells))), encoding="utf-8")
    return problems(path)[1]


@pytest.mark.parametrize(
    "prose",
    [
        "R@5 is 83.3<!--=-->.",
        "It falls by −4.2<!--=--> points, or 16<!--=--> %.",
        "**83.3**<!--=--> and 1,890<!--=-->.",
        "Wang reports 67.3<!--= found--> (Table IV, Sec. IV-B, Eq. 2-3), in 2024, for q13 and R@5.",
        "`k = 7`, $d = 0.5$, 45 minutes, a 95 % interval, [a link](notes_7.md).",
        "## 3. A title\n\n1. first\n\n| 4 | words |",
    ],
)
def test_numbers_that_were_measured_or_need_no_measure(prose, tmp_path):
    shown = printing("R@5 83.3, 67.3, -4.2, 16 %, 1,890 passages")
    assert told(tmp_path, shown, new_markdown_cell(prose)) == []


@pytest.mark.parametrize(
    "prose, problem",
    [
        ("R@5 is 83.4<!--=-->.", "83.4 does not stand in"),
        ("R@5 is 83<!--=-->.", "83 does not stand in"),
        ("R@5 is 83.3.", "83.3 carries no mark"),
        ("Of 24 questions", "24 carries no mark"),
        ("It was 83.3<!--= other-->.", "no output"),
        ("Wang reports 3.14159<!--expected musique-->.", "data/expected/musique.yaml"),
        ("Nothing<!--=-->.", "follows no number"),
    ],
)
def test_a_number_that_nothing_shows_is_found(prose, problem, tmp_path):
    wrong = told(tmp_path, printing("R@5 83.3"), new_markdown_cell(prose))
    assert len(wrong) == 1 and problem in wrong[0]


def test_the_answer_to_a_prediction_stands_below(tmp_path):
    asked = new_markdown_cell("**Predict.** How many? <details>Ten: 10<!--=-->.</details>")
    assert told(tmp_path, asked, printing("10 pairs")) == []


def test_a_chapter_over_its_budgets_is_found(tmp_path):
    long = new_code_cell("\n".join(["assert True"] * 21))
    wrong = told(tmp_path, new_markdown_cell("word " * 3001), long, name="01_long")
    assert [row.split(":")[0] for row in wrong] == [
        "words", "median", "longest", "asserts", "figures",
    ]  # fmt: skip
    assert f"fewer than {MIN_FIGURES}" in wrong[-1]
    idle = [new_markdown_cell("text") for _ in range(12)]
    assert "idle: 13, more than 10" in told(tmp_path, *idle, printing("x"))
