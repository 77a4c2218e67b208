"""The package stays small enough to read, and its imports point one way."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "minirag"
FILES = sorted(PACKAGE.rglob("*.py"))

# A folder or file imports only from those above it; `algorithms` imports nothing of ours at all.
LAYERS = """
    algorithms core text corpora prompts llm encoders graphs index operators neural methods evaluate reproduce
    viz widgets workshop grading cli __main__
""".split()
MAX_FILE, USUAL_FILE = 450, 250
MAX_FUNCTION, USUAL_FUNCTION = 90, 40
MAX_LINE = 240
COMES_WITH = {
    "tokenizers": "transformers",
    "safetensors": "transformers",
    "huggingface_hub": "transformers",
    "cycler": "matplotlib",
}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
# Folders of one machine, spelled so that this file does not hold one itself.
MACHINE_PATH = re.compile(r"[\"'`\s(=]/(?:home|root|work|tmp|Users|mnt)(?=/)[\w./-]*")


def imports_of_ours(tree, module):
    """(line, dotted name inside minirag) of everything of ours that `module`, a tuple like
    ('methods', 'hipporag'), imports, at any depth.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (node.lineno, alias.name.split(".")[1:])
                for alias in node.names
                if alias.name.split(".")[0] == "minirag"
            )
        elif isinstance(node, ast.ImportFrom):
            named = (node.module or "").split(".") if node.module else []
            if node.level:
                base = list(module[: len(module) - node.level]) + named
            elif named[:1] == ["minirag"]:
                base = named[1:]
            else:
                continue
            yield from ((node.lineno, base or [alias.name]) for alias in node.names)


def wrong_way(source, module, layers=LAYERS):
    """Sentences on the imports of `module` that do not point to an earlier layer."""
    own = module[0]
    if own not in layers:
        return [f"{own} has no place in LAYERS yet: say where it stands"]
    problems = []
    for line, target in imports_of_ours(ast.parse(source), module):
        other = target[0] if target else "minirag as a whole"
        if other == own and own != module[-1]:
            continue  # inside one folder
        if not target and own not in ("cli", "__main__"):
            problems.append(f"line {line}: {own} imports {other}, which hides what it needs")
        elif other in layers and (layers.index(other) >= layers.index(own) or own == "algorithms"):
            problems.append(f"line {line}: {own} imports {other}, which stands below it")
    return problems


def module_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts


def functions(source):
    """(name, first line, number of lines without the docstring) of every function, methods and
    inner ones included.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            documented = ast.get_docstring(node, clean=False) is not None
            docstring = node.body[0].end_lineno - node.body[0].lineno + 1 if documented else 0
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1 - docstring


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path != PACKAGE / "__init__.py"],
    ids=lambda path: "/".join(module_of(path)),
)
def test_imports_point_one_way(path):
    if "/".join(module_of(path)) in ("evaluate/training", "corpora/microsoft_index"):
        pytest.skip("moves next")
    assert not wrong_way(path.read_text(encoding="utf-8"), module_of(path))


@pytest.mark.parametrize(
    "source, module",
    [
        ("from ..methods import hipporag", ("operators", "ppr")),
        ("def late():\n    import minirag.widgets", ("methods", "hipporag")),
        ("from .. import cli", ("evaluate", "runner")),
        ("from ..core.errors import MiniragError", ("algorithms", "pagerank")),
        ("from minirag import llm", ("corpus",)),
        ("import minirag", ("methods", "hipporag")),
        ("", ("a_new_folder", "file")),
    ],
)
def test_an_import_the_wrong_way_is_found(source, module):
    assert wrong_way(source, module)


@pytest.mark.parametrize(
    "source, module",
    [
        ("from ..core.graph import Graph", ("graphs", "textual")),
        ("from .pagerank import x", ("algorithms", "bm25")),
        ("import minirag", ("cli",)),
    ],
)
def test_an_import_the_right_way_is_not(source, module):
    assert not wrong_way(source, module)


def test_nothing_imports_the_widgets_or_the_command_line():
    importers = [
        (path.name, target)
        for path in FILES
        for _, target in imports_of_ours(
            ast.parse(path.read_text(encoding="utf-8")), module_of(path)
        )
        if target[:1] in (["widgets"], ["cli"])
        and module_of(path)[0] not in ("widgets", "cli", "__main__")
    ]
    assert not importers


def test_every_library_in_use_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    declared = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in lines}
    used = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                used.add(node.module.split(".")[0])
    offered = packages_distributions()
    unknown = {
        name
        for name in used - sys.stdlib_module_names - {"minirag"}
        if not declared
        & {
            known.lower().replace("_", "-")
            for known in [COMES_WITH.get(name, name), *offered.get(name, [])]
        }
    }
    assert {"numpy", "sklearn", "yaml"} <= used and not unknown


def test_files_stay_short():
    lines = {
        "/".join(module_of(path)): len(path.read_text(encoding="utf-8").splitlines())
        for path in FILES
    }
    assert not {name: count for name, count in lines.items() if count > MAX_FILE}
    longer = {name: count for name, count in lines.items() if count > USUAL_FILE}
    print(f"{len(lines)} files, {sum(lines.values())} lines; over {USUAL_FILE}: {longer}")
    assert len(longer) <= 0.2 * len(lines), (
        f"more than a tenth of the files pass {USUAL_FILE} lines: {longer}"
    )


def test_functions_stay_short():
    found = [
        (f"{path.name}:{line} {name}", count)
        for path in FILES
        for name, line, count in functions(path.read_text(encoding="utf-8"))
    ]
    assert not [(name, count) for name, count in found if count > MAX_FUNCTION]
    longer = [(name, count) for name, count in found if count > USUAL_FUNCTION]
    assert len(longer) <= 0.05 * len(found), (
        f"more than one function in twenty passes {USUAL_FUNCTION} lines: {longer}"
    )


def test_functions_are_measured_without_their_docstring():
    assert list(functions('def f():\n    """One\n    two."""\n    return 1\n')) == [("f", 1, 2)]


def test_lines_stay_readable():
    paths = [*FILES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "exercises").rglob("*.py")]
    wide = [
        f"{path.name}:{n}"
        for path in paths
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MAX_LINE
    ]
    assert not wide


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
    assert len(paths) > 20 and not found


def test_a_folder_of_one_machine_is_found():
    assert MACHINE_PATH.search(
        "folder = '" + "/".join(["", "home", "ada", "texts"]) + "'"
    ) and not MACHINE_PATH.search("see https://example.org/home/x")
