"""The exercises are held to what they promise: solvable, gradable, and no mistake slips through
without its own hint.
"""

import ast
import contextlib
import importlib.util
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest

from minirag.core.errors import MiniragError
from minirag.core.files import read_notebook
from minirag.grading import exercises, run_cells
from minirag.methods.graphrag import global_search
from minirag.methods.graphrag.variants import VGraphRAG
from minirag.workshop import exercises_build

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "exercises"
BLANK = (FOLDER / "src" / "blank.txt").read_text(encoding="utf-8")
SOURCES = {
    path.stem: exercises_build.read_source(path) for path in sorted((FOLDER / "src").glob("*.py"))
}
POINTS = {
    "01_chunking_and_bm25": 8,
    "02_maxsim": 7,
    "03_personalised_pagerank": 9,
    "04_node_specificity": 9,
    "05_graph_from_triples": 9,
}
POINTS |= {"06_reports_and_packing": 9, "07_flow_and_paths": 9, "08_descriptions_and_pruning": 10}
POINTS |= {"09_decayed_scores_and_stopping": 10, "10_vgraphrag_from_operators": 11}
POINTS |= {"11_paired_gains": 10}
POINTS |= {"12_search_a_tree": 10, "13_from_name_to_passage": 10}
BUILT = {}  # methods and indices of corpora, as `built_once` keeps them
# Every solution is run by nbval and by `minirag check`; nbgrader starts a kernel for each, too.
SOLVED = ("01_chunking_and_bm25", "06_reports_and_packing")
WRONG = [(name, answer) for name, source in SOURCES.items() for answer in source.wrong_answers]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # wrong answers divide by zero
each_exercise = pytest.mark.parametrize("name", SOURCES)


@pytest.fixture(autouse=True)
def kernels_find_the_package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def built_once(monkeypatch):
    """A corpus gets its community index, and VGraphRAG with LSA, once: not again for every answer
    that is graded.
    """
    index, method = global_search.build_index, VGraphRAG.build.__func__

    def one_index(corpus, llm, options, *given):
        if any(each is not None for each in given) or llm.is_model:
            return index(corpus, llm, options, *given)
        key = corpus.name, options
        if key not in BUILT:
            BUILT[key] = index(corpus, llm, options)
        return BUILT[key]

    def one_method(cls, corpus, *given, **named):
        if given or named != {"encoder": "lsa"}:
            return method(cls, corpus, *given, **named)
        key = corpus.name, cls
        if key not in BUILT:
            BUILT[key] = method(cls, corpus, **named)
        return BUILT[key]

    monkeypatch.setattr(global_search, "build_index", one_index)
    monkeypatch.setattr(VGraphRAG, "build", classmethod(one_method))


def student(name):
    return read_notebook(FOLDER / f"{name}.ipynb")


def nbgrader_of(cell):
    return cell.metadata.get("nbgrader", {})


def solution_cells(name):
    return [cell for cell in SOURCES[name].notebook.cells if nbgrader_of(cell).get("solution")]


def graded(name, notebook, run=run_cells.run_cells):
    """The report on a notebook, run in this process, as no course would do with strangers' code."""
    return exercises.grade(SOURCES[name].notebook, notebook, run)


def to_the_first_broken_test(cells):
    """`run_cells` that ends with the first test that fails: the first item that is not passed, and
    whether all are, stand as they do after a whole run.
    """
    outcomes = {}

    def report(name, outcome):
        outcomes[name] = outcome
        if outcome and name.startswith("test-"):
            raise StopIteration

    with contextlib.suppress(StopIteration):
        run_cells.run_cells(cells, report)
    return outcomes


def with_source(notebook, cell_id, text):
    notebook = nbformat.from_dict(notebook)
    next(cell for cell in notebook.cells if cell.id == cell_id).source = text
    return notebook


@each_exercise
def test_what_is_committed_is_what_the_source_gives(name, tmp_path):
    exercises_build.build_exercise(FOLDER / "src" / f"{name}.py", tmp_path)
    for made in (f"{name}.ipynb", f"solutions/{name}.ipynb"):
        assert (tmp_path / made).read_bytes() == (FOLDER / made).read_bytes(), (
            f"{made} is not what its source gives: run python -m minirag.workshop.exercises_build"
        )


def test_every_source_has_its_notebooks_and_no_notebook_is_without_source():
    assert (
        list(SOURCES)
        == exercises.list_exercises()
        == sorted(path.stem for path in FOLDER.glob("solutions/*.ipynb"))
    )


@each_exercise
def test_the_solution_passes_in_a_fresh_process(name):
    report = exercises.check(name, FOLDER / "solutions" / f"{name}.ipynb", patience=30)
    assert report.ok and report.points == (POINTS[name], POINTS[name]), report.text()


@each_exercise
def test_the_unsolved_notebook_fails_only_because_it_is_unsolved(name):
    notebook = student(name)
    outcomes = run_cells.run_cells(exercises.cells_to_run(SOURCES[name].notebook, notebook))
    assert {outcome.error for outcome in outcomes.values() if outcome} == {"NotImplementedError"}
    assert all(outcomes[cell.id] for cell in notebook.cells if nbgrader_of(cell).get("grade"))
    assert {item.status for item in graded(name, notebook).items} == {"not yet"}


@pytest.mark.parametrize(
    "name, answer",
    WRONG,
    ids=[
        f"{name[:2]}-{answer['item']}-{answer['name'].replace(' ', '-')}" for name, answer in WRONG
    ],
)
def test_a_typical_wrong_answer_gets_its_own_hint(name, answer, built_once):
    notebook = exercises_build.with_wrong_answer(SOURCES[name], answer)
    test = [cell.id for cell in notebook.cells].index(f"test-{answer['item']}")
    notebook.cells = notebook.cells[: test + 1]  # what comes later has no say in the hint
    report = graded(name, notebook, to_the_first_broken_test)
    first = next(item for item in report.items if item.status != "passed")
    assert (first.name, first.status) == (answer["item"], "hint") and answer[
        "hint"
    ] in first.message, report.text()


@each_exercise
def test_every_item_has_wrong_answers_and_every_hint_belongs_to_one_of_them(name):
    answers = SOURCES[name].wrong_answers
    assert {answer["item"] for answer in answers} == {
        cell.id for cell in solution_cells(name)
    } and len(answers) >= 2
    assert (
        len({answer["hint"] for answer in answers})
        == len(answers)
        == len({(answer["item"], answer["name"]) for answer in answers})
    )
    for answer in answers:
        graded_cell = next(
            cell for cell in SOURCES[name].notebook.cells if cell.id == f"test-{answer['item']}"
        )
        assert graded_cell.source.count(answer["hint"]) == 1


def without_each_statement(source):
    """(the statement, the cell without it) for every statement of a cell's solution, inner ones
    included.
    """
    lines = source.splitlines()
    first, last = (
        next(n for n, line in enumerate(lines, 1) if line.strip() == f"### {edge} SOLUTION")
        for edge in ("BEGIN", "END")
    )

    def places(tree):
        for node in ast.walk(tree):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                for position, statement in enumerate(block if isinstance(block, list) else []):
                    if first < statement.lineno < last:
                        yield block, position

    for number in range(len(list(places(ast.parse(source))))):
        tree = ast.parse(source)
        block, position = list(places(tree))[number]
        said = ast.unparse(block[position])
        block[position] = ast.Pass()
        yield said, ast.unparse(tree)


def needless(name, cell_id, source):
    """The statements of a solution cell without which everything still passes."""
    notebook = SOURCES[name].notebook
    return [
        said
        for said, rest in without_each_statement(source)
        if graded(name, with_source(notebook, cell_id, rest), to_the_first_broken_test).ok
    ]


@each_exercise
def test_no_statement_of_a_solution_can_be_left_out(name, built_once):
    counted = 0
    for cell in solution_cells(name):
        assert not needless(name, cell.id, cell.source)
        counted += len(list(without_each_statement(cell.source)))
    assert counted >= len(solution_cells(name))


def test_a_statement_that_can_be_left_out_is_found():
    cell = next(cell for cell in solution_cells("02_maxsim") if cell.id == "maxsim")
    padded = cell.source.replace("    cosines =", "    if True:\n        unused = 1\n    cosines =")
    assert needless("02_maxsim", "maxsim", padded) == ["if True:\n    unused = 1", "unused = 1"]


@each_exercise
def test_ids_points_and_hints_are_in_order(name):
    cells = [cell for cell in SOURCES[name].notebook.cells if nbgrader_of(cell)]
    ids = [nbgrader_of(cell)["grade_id"] for cell in cells]
    assert (
        len(set(ids)) == len(ids)
        and ids == [cell.id for cell in cells]
        and all(re.fullmatch(r"[\w-]{1,64}", name) for name in ids)
    )
    tests = [cell for cell in cells if nbgrader_of(cell)["grade"]]
    assert sum(nbgrader_of(cell)["points"] for cell in tests) == POINTS[name] and all(
        nbgrader_of(cell)["points"] > 0 for cell in tests
    )
    assert (
        all(nbgrader_of(cell)["locked"] for cell in tests)
        and tests[-1].id == "test-package"
        and "minirag" in tests[-1].source
    )
    items = [cell.id for cell in solution_cells(name)]
    assert [cell.id.removeprefix("test-") for cell in tests[:-1]] == items
    hints = student(name).metadata["minirag"]["hints"]
    assert set(hints) == set(items)
    shown = {cell.id: cell.source for cell in student(name).cells}
    for item in items:
        assert len(set(hints[item])) == 3 and all(
            text in shown[f"hints-{item}"] for text in hints[item]
        )
        assert shown[f"hints-{item}"].count("<details>") == 3


@each_exercise
def test_every_check_of_a_graded_cell_says_what_is_wrong(name):
    for cell in SOURCES[name].notebook.cells:
        if nbgrader_of(cell).get("grade"):
            checks = [
                node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Assert)
            ]
            assert checks and all(check.msg is not None for check in checks), cell.id


@each_exercise
def test_no_solution_is_left_in_the_student_notebook(name):
    notebook = student(name)
    code = "\n".join(
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and not nbgrader_of(cell).get("grade")
    )
    for cell in solution_cells(name):
        inside = exercises_build.SOLUTION.search(cell.source)[0].splitlines()[1:-1]
        assert not [line for line in inside if len(line.strip()) > 12 and line.strip() in code]
    text = nbformat.writes(notebook)
    assert "SOLUTION" not in text and "HIDDEN" not in text and "wrong-answers" not in text
    assert not any(answer["name"] + "\n" in text for answer in SOURCES[name].wrong_answers)
    assert all(
        not cell.outputs and cell.execution_count is None
        for cell in notebook.cells
        if cell.cell_type == "code"
    )
    assert code.count("raise NotImplementedError()") == len(solution_cells(name))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder with one tiny exercise, which has a hidden test."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "src").mkdir()
    (folder / "src" / "blank.txt").write_text(BLANK, encoding="utf-8")
    said = '"locked": %s, "schema_version": 3, "solution": %s, "task": false}'
    text = f"""# %% [markdown]
# # Twice
# %% nbgrader={{"grade": false, "grade_id": "twice", {said % ("false", "true")}
def twice(number):
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION
# %% [raw] tags=["hints"] item="twice"
# - one
# - two
# - three
# %% nbgrader={{"grade": true, "grade_id": "test-twice", "points": 3, {said % ("true", "false")}
assert twice(2) == 4, "two and two make four"
### BEGIN HIDDEN TESTS
assert twice(0.5) == 1, "halves, too"
### END HIDDEN TESTS
# %% [raw] tags=["wrong-answers"]
# - {{item: twice, name: square, replace: 2 * number, by: number ** 2, hint: halves}}
"""
    (folder / "src" / "01_twice.py").write_text(text, encoding="utf-8")
    assert len(exercises_build.build_all(folder)) == 2 and not exercises_build.build_all(folder)
    return folder


def answer(small, tmp_path, code, more=(), **changes):
    """The report on the tiny exercise with `code` in the place of its solution, `more` cells at the
    end and other cells changed.
    """
    notebook = read_notebook(small / "01_twice.ipynb")
    for cell in notebook.cells:
        cell.source = changes.get(cell.id.replace("-", "_"), cell.source)
        cell.source = code if cell.id == "twice" else cell.source
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in more]
    path = tmp_path / "mine.ipynb"
    nbformat.write(notebook, path)
    return exercises.check(1, path, folder=small, patience=5)


def test_a_hidden_test_is_not_handed_out_and_counts(small, tmp_path):
    assert "halves" not in (small / "01_twice.ipynb").read_text(encoding="utf-8")
    report = answer(small, tmp_path, "def twice(number):\n    return number**2")
    assert [item.message for item in report.items] == ["halves, too"] and report.points == (0, 3)


@pytest.mark.parametrize(
    "code, status, said",
    [
        ("def twice(number):\n    return 2 * number", "passed", ""),
        ("%matplotlib inline\ndef twice(number):\n    return 2 * number", "passed", ""),
        ("def twice(number):\n    " + BLANK.splitlines()[1], "not yet", ""),
        ("def twice(number):\n    return number + 1", "hint", "two and two make four"),
        ("def twice(number):\n    return number + None", "hint", "stops with TypeError"),
        ("def twice(number)\n    return 2 * number", "hint", "SyntaxError"),
        ("def twice(number):\n    return 2 * nmber", "hint", "line 2: return 2 * nmber"),
        ("zwei = 2", "hint", "name 'twice' is not defined: is its cell still there"),
        ("import sys\nsys.exit()", "hint", "SystemExit"),
        ("import os\nos._exit(0)", "hint", "ended the whole program"),
        ("while True:\n    pass", "hint", "is there a loop without an end?"),
    ],
)
def test_the_grader_answers_in_a_sentence(small, tmp_path, code, status, said):
    report = answer(small, tmp_path, code)
    assert (
        report.items[0].status == status
        and said in report.items[0].message
        and report.ok == (status == "passed")
    )
    assert "Traceback" not in report.text()


def test_a_loop_without_an_end_is_blamed_on_its_own_item_only(tmp_path):
    name = "03_personalised_pagerank"
    first, second, *_ = [cell.id for cell in solution_cells(name)]
    looping = with_source(SOURCES[name].notebook, second, "while True:\n    pass")
    nbformat.write(looping, tmp_path / "mine.ipynb")
    report = exercises.check(name, tmp_path / "mine.ipynb", patience=8)
    items = {item.name: item for item in report.items}
    assert (
        items[first].status == "passed"
        and items[second].status == "hint"
        and "loop without an end" in items[second].message
    )
    after = [item for item in report.items if item.name not in (first, second)]
    assert after and all(
        item.status == "not yet" and item.message.startswith(f"not reached: cell {second!r}")
        for item in after
    )
    assert report.text().count("loop without an end") == 1


def test_a_file_may_be_named_in_place_of_its_exercise(tmp_path):
    name = "03_personalised_pagerank"
    nbformat.write(SOURCES[name].notebook, tmp_path / f"{name}.ipynb")
    report = exercises.check(str(tmp_path / f"{name}.ipynb"))
    assert {item.status for item in report.items} == {"passed"}


def test_the_notebook_of_another_exercise_is_recognised(tmp_path):
    for given in (
        student("03_personalised_pagerank"),
        SOURCES["03_personalised_pagerank"].notebook,
    ):
        nbformat.write(given, tmp_path / "mine.ipynb")
        with pytest.raises(
            MiniragError,
            match="looks like 03_personalised_pagerank, not like 01_chunking_and_bm25.*Check "
            "it as 03",
        ):
            exercises.check(1, tmp_path / "mine.ipynb")
    lost = student("01_chunking_and_bm25")
    lost.cells = [cell for cell in lost.cells if cell.id != "test-package"][:-2]
    nbformat.write(lost, tmp_path / "mine.ipynb")
    assert {item.status for item in exercises.check(1, tmp_path / "mine.ipynb").items} == {
        "not yet"
    }


def test_changed_lost_and_copied_tests_count_as_they_were_handed_out(small, tmp_path):
    wrong = "def twice(number):\n    return 0"
    assert not answer(small, tmp_path, wrong, test_twice="pass").ok
    notebook = read_notebook(small / "01_twice.ipynb")
    notebook.cells = [cell for cell in notebook.cells if cell.id != "test-twice"]
    released = read_notebook(small / "solutions" / "01_twice.ipynb")
    assert exercises.grade(released, notebook).items[0].status == "not yet"
    copied = read_notebook(small / "01_twice.ipynb")
    copied.cells += [nbformat.from_dict(cell) for cell in copied.cells]
    assert len(exercises.cells_to_run(released, copied)) == 4


def test_the_solution_may_be_kept_back(small, tmp_path):
    """Without solutions/ the tests are those of the notebook handed out, so a hidden one is not
    run.
    """
    (tmp_path / "01_twice.ipynb").write_bytes((small / "01_twice.ipynb").read_bytes())
    report = exercises.check(1, folder=tmp_path)
    assert not report.ok and report.text(hints=2).splitlines()[1:] == [
        "  not yet twice",
        "          hint 1: one",
        "          hint 2: two",
        "  More help: --hints 3",
    ]


def test_hints_come_when_asked_for_and_end_at_three(small, tmp_path):
    report = answer(small, tmp_path, "def twice(number):\n    return 0")
    assert (
        "hint 1" not in report.text()
        and "--hints 1" in report.text()
        and repr(report) == report.text()
    )
    assert report.text(3).count("          hint ") == 3 and "More help" not in report.text(3)


def test_names_and_files_that_are_not_there_are_named(small, tmp_path, monkeypatch):
    assert (
        exercises.exercise_name(3)
        == exercises.exercise_name("03")
        == exercises.exercise_name("pagerank")
        == "03_personalised_pagerank"
    )
    with pytest.raises(MiniragError, match="no exercise '99'.*01_chunking"):
        exercises.check(99)
    with pytest.raises(MiniragError, match="Several exercises match 'and'"):
        exercises.exercise_name("and")
    for meant_for_none in ("x", "rank", "m", ""):  # part of one name each, or of all
        with pytest.raises(
            MiniragError, match=f"no exercise '{meant_for_none}'; there are: 01_chunking"
        ):
            exercises.exercise_name(meant_for_none)
    with pytest.raises(MiniragError, match="no notebook nowhere.ipynb; copy 01_twice.ipynb"):
        exercises.check(1, tmp_path / "nowhere.ipynb", folder=small)
    (tmp_path / "01_twice.ipynb").write_bytes((small / "solutions" / "01_twice.ipynb").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert exercises.check(1, folder=small).ok, (
        "the notebook in the working folder comes before the one handed out"
    )


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("# - three\n", "", "has 2 hints; three are expected"),
        ("replace: 2 * number", "replace: 3 * number", "is 0 times in item 'twice'"),
    ],
)
def test_a_source_that_does_not_fit_is_an_error(small, tmp_path, old, new, said):
    text = (small / "src" / "01_twice.py").read_text(encoding="utf-8")
    (tmp_path / "01_twice.py").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(MiniragError, match=re.escape(said)):
        exercises_build.read_source(tmp_path / "01_twice.py")


def mixed(name):
    """A student's notebook in which the second item is blank, the third wrong, and the rest
    solved.
    """
    source = SOURCES[name]
    blank, wrong = (cell.id for cell in solution_cells(name)[1:3])
    notebook = exercises_build.with_wrong_answer(
        source, next(answer for answer in source.wrong_answers if answer["item"] == wrong)
    )
    return with_source(
        notebook, blank, next(cell.source for cell in student(name).cells if cell.id == blank)
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """nbgrader's course folder after its own generate and autograde, with a student who solved what
    she handed in, and one who handed in everything, some of it solved.
    """
    if importlib.util.find_spec("nbgrader") is None:
        pytest.skip("nbgrader is not installed: pip install 'minirag-kit[grading]'")
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    root = tmp_path_factory.mktemp("nbgrader")
    for name, source in SOURCES.items():
        places = [("source", source.notebook), ("submitted/mixed", mixed(name))]
        if name in SOLVED:
            places.append(("submitted/solved", source.notebook))
        for folder, notebook in places:
            (root / folder / "ps1").mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, root / folder / "ps1" / f"{name}.ipynb")
    config = Config()
    config.CourseDirectory.root = str(root)
    config.IncludeHeaderFooter.header = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        patch.setenv(
            "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        )  # it calls alembic by name
        api = NbGraderAPI(config=config)
        for step in (
            api.generate_assignment,
            lambda of: api.autograde(of, "solved"),
            lambda of: api.autograde(of, "mixed"),
        ):
            done = step("ps1")
            assert done["success"], done["log"]
    return root, api


@pytest.mark.slow
def test_nbgrader_hands_out_the_same_notebooks(course):
    root, _ = course
    for name in SOURCES:
        released = read_notebook(root / "release" / "ps1" / f"{name}.ipynb")
        assert [cell.source for cell in released.cells] == [
            cell.source for cell in student(name).cells
        ]


@pytest.mark.slow
@pytest.mark.parametrize("who", ["solved", "mixed"])
def test_nbgrader_gives_the_same_points(course, who):
    from nbgrader.api import Gradebook

    _, api = course
    with Gradebook(api.coursedir.db_url) as gradebook:
        for name in SOLVED if who == "solved" else SOURCES:
            source = SOURCES[name]
            theirs = {
                grade.name: (grade.auto_score, grade.max_score)
                for grade in gradebook.find_submission_notebook(name, "ps1", who).grades
            }
            report = graded(name, source.notebook if who == "solved" else mixed(name))
            ours = {
                f"test-{item.name}": (item.points if item.status == "passed" else 0, item.points)
                for item in report.items
            }
            assert theirs == ours and report.ok == (who == "solved")


def test_a_wrong_idf_does_not_make_a_right_bm25_wrong():
    name = "01_chunking_and_bm25"
    for answer in (row for row in SOURCES[name].wrong_answers if row["item"] == "idf"):
        report = graded(name, exercises_build.with_wrong_answer(SOURCES[name], answer))
        [item] = [item for item in report.items if item.name == "bm25"]
        assert item.status == "passed" or "bm25 builds on idf" in item.message, item.message
