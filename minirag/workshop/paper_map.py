"""The paper map: for every element of the five papers, where it is in code, which notebook section
shows it, which test checks it.

Places are found by reading the files, nothing is kept by hand. Code comes from `Source:` lines. A
notebook section shows an element if its code uses a function or class that cites it, or if its
text cites it ('PathRAG, Eq. 2', or `<!-- paper: Wang hippo-ppr -->`). A test checks an element if
it says so: `@pytest.mark.paper("Wang", "hippo-ppr")`. Cells of the map that are empty stand, with a
reason, in data/paper_holes.yaml. After a change: `minirag map --write`.
"""

import ast
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import MiniragError
from ..core.files import read_notebook, write_atomic
from ..corpora.shipped_and_folders import shipped
from .citations import Element, Key, citing, code_places, elements, holes, in_prose, papers
from .notebook_lint import FENCE, MAGIC

COLUMNS = ("code", "notebook", "test")
TITLES = {
    "Wang": "Wang, Graph RAG: Efficient and Powerful LLM Enhancement Systems",
    "PathRAG": "Chen et al., PathRAG",
    "GraphRAG": "Edge et al., From Local to Global (GraphRAG)",
    "Survey": "Zhou et al., In-depth Analysis of Graph-based RAG in a Unified Framework "
    "(the survey)",
    "GRAG": "Hu et al., GRAG",
}
INTRODUCTION = """# The paper map

Where each equation, definition, operator and table of the five papers is in the kit: the code that
cites it, the notebook sections that show it, the tests that check it. Generated from the code by
`minirag map --write`; what is empty stands in [paper_holes.yaml](paper_holes.yaml) with its reason.
"""
FOLDERS = re.compile(r"^(minirag|notebooks|tests|exercises/solutions)/|\.ipynb$")
ROOT, KIT = Path(__file__).parents[2], "minirag"
Places = Mapping[Key, list[tuple[str, str]]]  # of an element: files, and what in them
SHOWN = 3  # places named in one cell of the map


class Row(NamedTuple):
    """An element and its places, each a file and what in it."""

    element: Element
    code: list[tuple[str, str]]
    notebook: list[tuple[str, str]]
    test: list[tuple[str, str]]

    def places(self, column: str) -> list[tuple[str, str]]:
        """The different places of a column. Tests are named by file, so that a new test in a file
        that is already named changes nothing here.
        """
        if column == "test":
            return [(file, "") for file in dict.fromkeys(file for file, _ in self.test)]
        return getattr(self, column)


def in_checkout() -> bool:
    """Whether the tests and notebooks are here; an installed package carries neither."""
    return all((ROOT / name).is_dir() for name in ("tests", "notebooks"))


def checkout() -> Path:
    """The repository's folder. Raises MiniragError in an installed package."""
    if not in_checkout():
        raise MiniragError(
            "the paper map is made from the notebooks and tests of the repository. Clone it, or "
            "read data/paper_map.md."
        )
    return ROOT


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
        if dotted.split(".")[0] == KIT:
            with suppress(ImportError, AttributeError):  # a cell that cannot run shows nothing
                self.names[name] = pkgutil.resolve_name(dotted if name != KIT else name)

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
    ours = name is not None and str(module).split(".")[0] == KIT
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


def rows() -> list[Row]:
    """The map: one Row for every element, in the papers' order."""
    code, shown, checked = code_places()[0], notebook_places(), test_places()
    return [
        Row(
            element,
            [(f"minirag/{source.file}", source.symbol) for source in code.get(key, [])],
            shown.get(key, []),
            checked.get(key, []),
        )
        for key, element in elements().items()
    ]


def missing(row: Row) -> tuple[str, ...]:
    """The columns that a row still owes. A background definition owes an explanation only, in a
    notebook or in the glossary.
    """
    owed = COLUMNS if row.element.own else ("notebook",)
    return tuple(column for column in owed if not row.places(column))


def shrink_holes(table: Iterable[Row] | None = None) -> None:
    """Take out of data/paper_holes.yaml what is no longer missing. Nothing is ever added: a new
    hole is written by hand, with its reason.
    """
    import yaml

    empty = {(row.element.paper, row.element.id): missing(row) for row in table or rows()}
    path, kept = shipped("paper_holes.yaml"), defaultdict[str, dict[str, dict[str, str]]](dict)
    for (paper, id), hole in holes().items():
        if left := [column for column in hole.missing if column in empty.get((paper, id), ())]:
            kept[paper][id] = {"missing": " ".join(left), "reason": hole.reason}
    comment = re.match(r"(#.*\n)*", path.read_text(encoding="utf-8"))
    listed = yaml.safe_dump(dict(kept), sort_keys=False, allow_unicode=True, width=160)
    write_atomic(path, (comment[0] if comment else "") + listed)


def _cell(row: Row, column: str) -> str:
    places = row.places(column)
    links = [
        f"[{FOLDERS.sub('', file)}](../{file}) {what.replace('|', '/')}".strip()
        for file, what in places[:SHOWN]
    ]
    return ", ".join(links + ["…"] * (len(places) > SHOWN)) or "–"


def render(table: Iterable[Row] | None = None) -> str:
    """The map as Markdown, with links that work from data/."""
    parts, table, reasons = [INTRODUCTION], list(table or rows()), holes()
    for paper in papers():
        parts.append(f"\n## {TITLES[paper]}\n\n| element | what | code | notebook | test |\n")
        parts.append("| --- | --- | --- | --- | --- |\n")
        for row in (row for row in table if row.element.paper == paper):
            hole = reasons.get((paper, row.element.id))
            what = row.element.name + (f" *({hole.reason})*" if hole else "")
            cells = " | ".join(_cell(row, column) for column in COLUMNS)
            parts.append(f"| `{row.element.id}` | {what} | {cells} |\n")
    return "".join(parts)


def text(paper: str | None = None) -> str:
    """The map for a terminal, of one paper or of all; in an installed package the whole map as it
    was shipped. Raises MiniragError for a paper that is none of the five.
    """
    if paper is not None and paper not in papers():
        raise MiniragError(f"there is no paper {paper!r}; the papers are {', '.join(papers())}.")
    if not in_checkout():
        return shipped("paper_map.md").read_text(encoding="utf-8")
    lines, reasons = [], holes()
    for row in rows():
        if paper not in (None, row.element.paper):
            continue
        lines.append(f"{row.element.paper} {row.element.id}: {row.element.name}")
        for column in COLUMNS:
            places = dict.fromkeys(": ".join(filter(None, place)) for place in row.places(column))
            if places:
                more = " ..." if len(places) > SHOWN else ""
                lines.append(f"    {column:9s}{', '.join(list(places)[:SHOWN])}{more}")
        if hole := reasons.get((row.element.paper, row.element.id)):
            lines.append(f"    missing  {', '.join(hole.missing)}: {hole.reason}")
    return "\n".join(lines)


def write() -> None:
    """Bring data/paper_map.md and data/paper_holes.yaml up to date."""
    table = rows()
    shrink_holes(table)
    write_atomic(shipped("paper_holes.yaml").parent / "paper_map.md", render(table))
