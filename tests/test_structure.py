"""The package stays small enough to read.

What a linter checks (imports, dependencies, types, names, complexity) stands in test_ruff.py,
test_mypy.py, test_layers.py and test_deptry.py.
"""

import ast
import re
from pathlib import Path

from .code_lines import by_folder, code_lines, counted_files

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "minirag"
FILES = sorted(PACKAGE.rglob("*.py"))
STRICT = [
    path
    for name in ("core", "algorithms", "operators", "methods")
    for path in sorted((PACKAGE / name).rglob("*.py"))
]

MAX_FILES = 176
MAX_CODE_LINES = 20_694
# Counted apart, each with what only it uses: files, code lines.
APART = {
    "methods in which a model steers a walk": (
        (
            r"methods/(graph_agent|tog|tog2|kgp|dalk|cok)|prompts/agent_\w+|operators/(agent|paths)"
            r"|algorithms/(khop_paths|entity_scores)|corpora/kgqa|reproduce/agents\w*|widgets/agents"
            r"|evaluate/kgqa"
        ),
        17,
        1_970,
    ),
    "the rest of the survey's methods, its pool of operators, and compose": (
        (
            r"methods/(raptor\w*|fastgraphrag|hipporag_passages|compose\w*|graphrag/variants)"
            r"|operators/(operator|pool)|algorithms/soft_clusters|cli/recommend|viz/operators"
            r"|widgets/composer"
        ),
        13,
        1_790,
    ),
    "the benchmark, and what it finds": (
        (
            r"evaluate/(bench\w*|survey_metrics)|cli/bench|reproduce/(compositions|unified)"
            r"|corpora/survey_sets"
        ),
        7,
        1_000,
    ),
}
MAX_FILE = 300  # lines of a file, all of them
MAX_ANY, MAX_IGNORED = 20, 20
MAX_BARE = 0  # without a reason

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
# Folders of one machine, spelled so that this file does not hold one itself.
MACHINE_PATH = re.compile(r"[\"'`\s(=]/(?:home|root|work|tmp|Users|mnt)(?=/)[\w./-]*")


def test_the_package_stays_small():
    files, lines = by_folder()
    left_files, left_lines = files.total(), lines.total()
    for what, (pattern, most_files, most_lines) in APART.items():
        sizes = [
            code_lines(path.read_text(encoding="utf-8"))
            for path in counted_files()
            if re.fullmatch(rf"minirag/({pattern})\.py", path.relative_to(ROOT).as_posix())
        ]
        assert 0 < len(sizes) <= most_files, what
        assert sum(sizes) <= most_lines, what
        left_files, left_lines = left_files - len(sizes), left_lines - sum(sizes)
    assert left_files <= MAX_FILES, dict(files)
    assert left_lines <= MAX_CODE_LINES, dict(lines)


def test_files_stay_short():
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in counted_files()
    }
    assert not {name: length for name, length in lengths.items() if length > MAX_FILE}


def test_code_lines_are_counted_without_docstrings_and_comments():
    assert code_lines('"""What\nit is."""\n\n# why\nx = f(\n    1\n)\n') == 3


def without_reason(path, marks):
    """(number of marked lines, the lines of them with no comment on them or above them)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for number in marks
        if not re.search(r"#(?! type: ignore\S*$)", lines[number - 1])
        and not lines[number - 2].strip().startswith("#")
    ]
    return len(marks), bare


def lines_with_any(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sorted(
        {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Any"}
    )


def lines_ignored(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if "# type: ignore" in line]


def test_any_and_ignored_types_are_few_and_each_has_a_reason():
    for find, most in ((lines_with_any, MAX_ANY), (lines_ignored, MAX_IGNORED)):
        count, bare = 0, []
        for path in STRICT:
            marked, without = without_reason(path, find(path))
            count, bare = count + marked, bare + without
        assert count <= most
        assert len(bare) <= MAX_BARE, f"no reason given: {bare}"


def test_nothing_is_left_unfinished():
    found = [
        f"{path.name}:{n}"
        for path in FILES
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert not found


def test_no_file_names_a_folder_of_one_machine():
    kinds = ("*.py", "*.md", "*.toml", "*.yaml", "*.yml", "*.txt", "*.cfg", "*.jsonl")
    places = [
        ROOT / name
        for name in ("minirag", "tests", "data", "exercises", ".github", ".binder", ".ci")
    ]
    paths = [path for place in places for kind in kinds for path in place.rglob(kind)] + [
        path for kind in kinds for path in ROOT.glob(kind)
    ]
    tested_on_purpose = {"test_notebook_style.py", "notebook_lint.py"}
    found = [
        f"{path.relative_to(ROOT)}:{n}"
        for path in paths
        if path.name not in tested_on_purpose
        for n, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert len(paths) > 20
    assert not found


def test_a_folder_of_one_machine_is_found():
    assert MACHINE_PATH.search(f"folder = '/{'home'}/ada/texts'")
    assert not MACHINE_PATH.search("see https://example.org/home/x")
