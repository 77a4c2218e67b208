"""References to the five papers: what a `Source:` line or a sentence cites, and whether the papers
have it.

A `Source:` line closes a docstring: `Source: Wang, Sec. IV-B (hippo-ppr); PathRAG, Eq. 2-3`. In
parentheses stand ids of data/paper_elements.yaml; an equation, definition, table, figure or
algorithm is its own id (`Eq. 2-3` is eq-2 and eq-3). A work that is none of the five papers may be
named freely.
"""

import ast
import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..corpora.shipped_and_folders import shipped

PACKAGE = Path(__file__).parents[1]
Key = tuple[str, str]  # a paper and the id of one of its elements


class Element(NamedTuple):
    """Something of a paper that a reader may look up; `own` is what the kit is to build or show."""

    paper: str
    id: str
    name: str
    own: bool


class Source(NamedTuple):
    """A `Source:` line; the symbol is "function", "Class.method", or "" for the module."""

    file: str
    line: int
    symbol: str
    text: str


class Hole(NamedTuple):
    """The columns that an element lacks, and why."""

    missing: tuple[str, ...]
    reason: str


NAMES = {"S0": "Wang"}  # the data files number one paper; readers know it by its author
KINDS = {
    kind: short
    for short, kinds in {
        "eq": ("eq", "equation"),
        "def": ("def", "definition"),
        "tab": ("tab", "table"),
        "fig": ("fig", "figure"),
        "alg": ("alg", "algorithm"),
        "sec": ("sec", "app"),  # "Section 3", spelled out, is one of a notebook's own
    }.items()
    for kind in kinds
}
ROMAN = {number: value for value, number in enumerate("I II III IV V VI VII VIII IX X".split(), 1)}
PAPER = r"\b(Wang|PathRAG|GraphRAG|Survey|GRAG)\b"
NUMBER = r"\(?((?:[IVX]+(?:-[A-Z])?\b|[A-F](?:\.\d)?\b|\d+(?:\.\d+)*))\)?"
REFERENCE = re.compile(
    r"\b(Eq|Equation|Def|Definition|Table|Tab|Fig|Figure|Alg|Algorithm|Sec|App)s?\.?"
    rf"\s+{NUMBER}(?:\s*(?:-|–|to)\s*{NUMBER})?"
)
CITED = re.compile(rf"{PAPER}(?:['’]s)?[,:]?\s+({REFERENCE.pattern})")
COMMENT = re.compile(r"<!--\s*paper:(.*?)-->", re.DOTALL)
SOURCE = re.compile(r"^Source:(.*?)(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


def _by_paper(name: str) -> dict[str, Any]:
    import yaml

    rows = yaml.load(shipped(name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) or {}
    return {NAMES.get(key, key): value for key, value in rows.items()}


@cache
def elements() -> dict[Key, Element]:
    """Everything a reader may look up."""
    return {
        (paper, id): Element(paper, id, fields["name"], fields.get("own", True))
        for paper, rows in _by_paper("paper_elements.yaml").items()
        for id, fields in rows.items()
    }


@cache
def sections() -> dict[str, frozenset[str]]:
    """The numbers of each paper's sections."""
    rows = _by_paper("paper_sections.yaml").items()
    return {paper: frozenset(numbers) for paper, numbers in rows}


def holes() -> dict[Key, Hole]:
    """The holes as committed in data/paper_holes.yaml."""
    return {
        (paper, id): Hole(tuple(hole["missing"].split()), hole["reason"])
        for paper, rows in _by_paper("paper_holes.yaml").items()
        for id, hole in rows.items()
    }


def papers() -> list[str]:
    """The names of the papers."""
    return list(sections())


def _references(text: str) -> Iterator[tuple[str, str]]:
    """(kind, number) of every 'Eq. 2-3', 'Table IV', 'Sec. 2.5' in the text; a range counts for
    each of its ends and what lies between.
    """
    for word, first, last in REFERENCE.findall(text):
        kind = KINDS[word.lower()]
        start, end = (
            ROMAN.get(number) or (int(number) if number.isdigit() else None)
            for number in (first, last or first)
        )
        if kind == "sec":
            yield from ((kind, number) for number in (first, last) if number)
        elif start and end:
            yield from ((kind, str(number)) for number in range(start, end + 1))
        else:
            yield kind, first


def _known(paper: str, id: str) -> list[str]:
    """The ids that `id` stands for: itself, or the parts that it is divided into (sec-2.5 is
    sec-2.5-leaf and sec-2.5-higher).
    """
    ids = [known for of, known in elements() if of == paper]
    return [known for known in ids if id and (known == id or known.startswith(f"{id}-"))]


def _cited(paper: str, text: str) -> set[Key]:
    """What a reference to `paper` names by number, sections included where one is an element."""
    return {
        (paper, id)
        for kind, number in _references(text)
        for id in _known(paper, f"{kind}-{number}")
    }


def read_source(text: str) -> tuple[set[Key], list[str]]:
    """What the part after `Source:` cites, and what is wrong with it."""
    found, problems = set[Key](), []
    for entry in filter(None, (part.strip(" .\n") for part in text.split(";"))):
        paper = entry.split(",")[0].split(" ")[0]
        if paper not in papers():
            names = [name.lower() for name in papers()]
            if difflib.get_close_matches(paper.lower(), names, n=1, cutoff=0.8):
                problems.append(f"names {paper!r}; the papers are {', '.join(papers())}")
            continue
        named = [
            id.strip() for group in re.findall(r"\(([^)]*)\)", entry) for id in group.split(",")
        ]
        ids = [id for id in named if not re.fullmatch(r"\d+|[IVX]+", id)]
        problems += [f"{paper} has no element {id!r}" for id in ids if not _known(paper, id)]
        for kind, number in _references(entry):
            if kind == "sec" and number not in sections()[paper]:
                problems.append(f"{paper} has no Sec. {number}")
        cited = {(paper, known) for id in ids for known in _known(paper, id)} | _cited(paper, entry)
        if not cited:
            advice = "put an id of data/paper_elements.yaml in parentheses"
            problems.append(f"{entry!r} names no element: {advice}")
        found |= cited
    return found, problems


def sources(path: Path, name: str) -> Iterator[Source]:
    """Every docstring of the Python file at `path` that has a `Source:` line, as Source rows with
    `name` for the file.
    """

    def walk(node: ast.AST, symbol: str) -> Iterator[Source]:
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            return
        if line := SOURCE.search(ast.get_docstring(node) or ""):
            yield Source(name, getattr(node, "lineno", 1), symbol, " ".join(line[1].split()))
        for child in node.body:
            yield from walk(child, f"{symbol}.{getattr(child, 'name', '')}".lstrip("."))

    return walk(ast.parse(path.read_text(encoding="utf-8")), "")


def in_prose(text: str) -> set[Key]:
    """What Markdown cites: 'PathRAG, Eq. 2-3' in a sentence, or `<!-- paper: Wang hippo-ppr, def-4;
    GRAG eq-2 -->`.
    """
    found = set[Key]()
    for entry in ";".join(COMMENT.findall(text)).split(";"):
        paper, _, ids = entry.strip().partition(" ")
        found |= {(paper, id.strip()) for id in ids.split(",") if paper}
    return found.union(*(_cited(match[1], match[2]) for match in CITED.finditer(text)))


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
