"""Where the papers' elements are: in the package's code, in notebook sections, in tests. Each is
found by reading the files, nothing is kept by hand.

Code comes from `Source:` lines. A notebook section shows an element if its code uses a function or
class that cites it, or if its text cites it ('PathRAG, Eq. 2', or `<!-- paper: Wang hippo-ppr
-->`). A test checks an element if it says so: `@pytest.mark.paper("Wang", "hippo-ppr")`.
"""

import ast
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from ..core.files import read_notebook
from .citations import Key, Source, elements, in_prose, read_source, sources
from .notebook_lint import FENCE, MAGIC

PACKAGE = Path(__file__).parents[1]
Places = Mapping[Key, list[tuple[str, str]]]  # of an element: files, and what in them


def in_checkout() -> bool:
    """Whether the tests and notebooks are here; an installed package carries neither."""
    return all((PACKAGE.parent / name).is_dir() for name in ("tests", "notebooks"))


def checkout() -> Path:
    """The repository's folder. Raises MiniragError in an installed package."""
    if not in_checkout():
        raise MiniragError(
            "the paper map is made from the notebooks and tests of the repository. Clone it, or "
            "read data/paper_map.md."
        )
    return PACKAGE.parent


@cache
def code_places() -> tuple[dict[Key, list[Source]], list[str]]:
    """The `Source:` lines of the package that cite each element, and what is wrong with some."""
    places, problems = defaultdict(list), []
    for path in sorted(PACKAGE.rglob("*.py")):
        for source in sources(path, path.relative_to(PACKAGE).as_posix()):
            cited, wrong = read_source(source.text)
            at = f"minirag/{source.file}:{source.line} {source.symbol}"
            problems += [f"{at}: {problem}" for problem in wrong]
            for key in cited:
                places[key].append(source)
    return dict(places), problems


@cache
def citing() -> Mapping[str, set[Key]]:
    """Full name of a function, class or module -> what it cites."""
    found = defaultdict(set)
    for key, rows in code_places()[0].items():
        for row in rows:
            module = f"minirag.{row.file.removesuffix('.py').replace('/', '.')}"
            found[f"{module.removesuffix('.__init__')}:{row.symbol}"].add(key)
    return found


class Reader:
    """Follows a notebook's names, cell after cell: imports, and variables that hold an instance, as
    after `hippo = mr.HippoRAG.build(corpus)`. Nothing is run but the package's own imports.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}  # name -> the module, function or class of ours behind it

    def read(self, tree: ast.AST) -> set[str]:
        """Full names of everything of ours that the cell uses."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._remember(alias.asname or alias.name.split(".")[0], alias.name)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self._remember(alias.asname or alias.name, f"{node.module}.{alias.name}")
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                made = self._behind(node.value)
                if isinstance(made, type):
                    self.names[node.targets[0].id] = made
        return {full_name(self._behind(node)) for node in ast.walk(tree)} - {""}

    def _remember(self, name: str, dotted: str) -> None:
        if dotted.split(".")[0] == PACKAGE.name:
            with suppress(ImportError, AttributeError):  # a cell that cannot run shows nothing
                self.names[name] = pkgutil.resolve_name(dotted if name != PACKAGE.name else name)

    def _behind(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._behind(node.value), node.attr, None)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            table = self._behind(node.value)
            return table.get(node.slice.value) if isinstance(table, dict) else None
        if isinstance(node, ast.Call):
            called = self._behind(node.func)
            return called if isinstance(called, type) else getattr(called, "__self__", None)
        return None


def full_name(found: Any) -> str:
    """'minirag.methods.hipporag:HippoRAG.build' for what is ours, "" for anything else."""
    is_module = inspect.ismodule(found)
    module = found.__name__ if is_module else getattr(found, "__module__", None)
    name = "" if is_module else getattr(found, "__qualname__", None)
    ours = name is not None and str(module).split(".")[0] == PACKAGE.name
    return f"{module}:{name}" if ours else ""


def notebook_sections(path: Path) -> dict[str, set[Key]]:
    """What the text and the code under each header of a notebook cite or use, in order."""
    reader, found, header = Reader(), defaultdict[str, set[Key]](set), path.stem
    for cell in read_notebook(path).cells:
        if cell.cell_type == "markdown":
            headers = re.findall(r"^#{1,6}\s+(.*)", FENCE.sub("", cell.source), re.MULTILINE)
            header = headers[-1].strip() if headers else header
            found[header] |= in_prose(cell.source)
        elif cell.cell_type == "code":
            for name in reader.read(_parse(cell.source)):
                found[header] |= citing().get(name, set())
    return found


def _parse(source: str) -> ast.AST:
    lines = ["pass" if MAGIC.match(line) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError:
        return ast.Module([], [])


def notebook_places() -> Places:
    """The sections of notebooks and of the exercises' solutions that show each element; of a
    background definition also the glossary.
    """
    root, places = checkout(), defaultdict(list)
    for folder in ("notebooks", "exercises/solutions"):
        for path in sorted((root / folder).glob("*.ipynb")):
            for header, keys in notebook_sections(path).items():
                for key in keys:
                    places[key].append((path.relative_to(root).as_posix(), header))
    for path in sorted((root / "notebooks").glob("*.md")):
        for key in in_prose(path.read_text(encoding="utf-8")):
            # What is ours to build is not shown by a page of words.
            if key in elements() and not elements()[key].own:
                places[key].append((path.relative_to(root).as_posix(), "glossary"))
    return places


def test_places() -> Places:
    """The tests that are marked as checking each element."""
    root, places = checkout(), defaultdict(list)
    for path in sorted((root / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for test in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.paper":
                    paper, *ids = map(ast.literal_eval, mark.args)
                    for id in ids:
                        places[paper, id].append((path.relative_to(root).as_posix(), test.name))
    return places
