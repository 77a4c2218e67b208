"""Where the papers' elements are: in the package's code, in notebook sections, in tests. Each is
found by reading the files, nothing is kept by hand.

Code comes from `Source:` lines. A notebook section shows an element if its code uses a function or
class that cites it, or if its text cites it ('PathRAG, Eq. 2', or `<!-- paper: Wang hippo-ppr
-->`). A test holds an element if it uses such a function, or a method that is put together from it,
or cites the element in its docstring.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from ..core.errors import MiniragError
from . import refresh
from .citations import elements, in_prose, read_source, sources
from .notebook_lint import FENCE, MAGIC
from .symbol_use import Reader, compositions, used_by_functions

PACKAGE = Path(__file__).parents[1]
STAGES = (
    "build",
    "index",
    "operators",
    "methods",
    "neural",
)  # where functions are put together from others that cite a paper


def in_checkout():
    return all((PACKAGE.parent / name).is_dir() for name in ("tests", "notebooks"))


def checkout():
    """The repository's folder; an installed package carries neither notebooks nor tests."""
    if not in_checkout():
        raise MiniragError(
            "the paper map is made from the notebooks and tests of the repository. Clone it, or read data/paper_map.md."
        )
    return PACKAGE.parent


@cache
def code_places():
    """({(paper, id): [Source]}, problems) over the package."""
    places, problems = defaultdict(list), []
    for path in sorted(PACKAGE.rglob("*.py")):
        for source in sources(path, path.relative_to(PACKAGE).as_posix()):
            cited, wrong = read_source(source.text)
            problems += [
                f"minirag/{source.file}:{source.line} {source.symbol}: {problem}"
                for problem in wrong
            ]
            for key in cited:
                places[key].append(source)
    return dict(places), problems


@cache
def _citing():
    """(own, composed): two functions, full name of a function, class or module -> {(paper, id)}
    that it cites, or that its parts cite too.
    """
    own, composed = defaultdict(set), {}
    for key, found in code_places()[0].items():
        for source in found:
            own[f"{_module(source.file)}:{source.symbol}"].add(key)
    for folder in STAGES:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            composed |= compositions(_module(path.relative_to(PACKAGE).as_posix()))

    def with_parts(name):
        owner, _, member = name.rpartition(".")
        inherited = member and name not in composed and owner in composed and ":" in owner
        parts = composed.get(owner if inherited else name, ()) if member or ":" in name else ()
        return set().union(own.get(name, ()), *(own.get(part, ()) for part in parts))

    return own.get, with_parts


def _module(file):
    return ".".join(
        ["minirag", *file.removesuffix(".py").removesuffix("__init__").rstrip("/").split("/")]
    ).rstrip(".")


def notebook_sections(path, citing):
    """[(header, {(paper, id)})] of a notebook, in order: what the text and the code under each
    header cite or use.
    """
    reader, found, header = Reader(), defaultdict(set), path.stem
    for cell in refresh.read(path).cells:
        if cell.cell_type == "markdown":
            header = _header(cell.source) or header
            found[header] |= in_prose(cell.source)
        elif cell.cell_type == "code" and (tree := _parse(cell.source)):
            found[header] |= {key for name in reader.read(tree) for key in citing(name, ())}
    return list(found.items())


def _header(text):
    titles = [
        line.lstrip("#").strip()
        for line in FENCE.sub("", text).splitlines()
        if re.match(r"#{1,6}\s", line)
    ]
    return titles[-1] if titles else None


def _parse(source):
    try:
        return ast.parse(
            "\n".join("pass" if MAGIC.match(line) else line for line in source.splitlines())
        )
    except SyntaxError:
        return None


def notebook_places():
    """{(paper, id): [(file, header)]} over the notebooks, the exercises' solutions and the glossary
    page.
    """
    root, citing, places = checkout(), _citing()[0], defaultdict(list)
    for path in [
        *sorted((root / "notebooks").glob("*.ipynb")),
        *sorted((root / "exercises" / "solutions").glob("*.ipynb")),
    ]:
        for header, keys in notebook_sections(path, citing):
            for key in keys:
                places[key].append((path.relative_to(root).as_posix(), header))
    for path in sorted((root / "notebooks").glob("*.md")):
        for key in in_prose(path.read_text(encoding="utf-8")):
            if (
                key in elements() and not elements()[key].own
            ):  # what is ours to build is not shown by a page of words
                places[key].append((path.relative_to(root).as_posix(), "glossary"))
    return places


def test_places():
    """{(paper, id): [(file, test)]}."""
    folder, (_, citing), places = checkout() / "tests", _citing(), defaultdict(list)
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.py"))
    }
    helpers = [tree for path, tree in trees.items() if not path.name.startswith("test_")]
    for path, tree in trees.items():
        for name, used in (
            used_by_functions(tree, helpers).items() if path.name.startswith("test_") else ()
        ):
            if name.lower().startswith("test"):
                for key in {key for symbol in used for key in citing(symbol)}:
                    places[key].append((f"tests/{path.name}", name))
        for source in sources(path, path.name):
            for key in read_source(source.text)[0]:
                places[key].append((f"tests/{path.name}", source.symbol))
    return places
