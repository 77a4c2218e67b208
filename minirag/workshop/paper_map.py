"""The paper map: for every element of the five papers, where it is in code, which notebook section
shows it, which test checks it.

Generated from the files (see `paper_places`). Cells of the map that are empty stand, with a reason,
in data/paper_holes.yaml. After a change: `minirag map --write`.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from ..core.errors import MiniragError
from ..core.files import read_notebook, write_atomic
from ..corpora.shipped_and_own import shipped
from .citations import PAPER, Element, Key, elements, papers, unknown
from .notebook_lint import FENCE
from .paper_places import code_places, in_checkout, notebook_places, test_places

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


class Hole(NamedTuple):
    """The columns that an element lacks, and why."""

    missing: tuple[str, ...]
    reason: str


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


def holes() -> dict[Key, Hole]:
    """The holes as committed in data/paper_holes.yaml."""
    import yaml

    listed = yaml.safe_load(shipped("paper_holes.yaml").read_text(encoding="utf-8")) or {}
    return {
        (paper, id): Hole(tuple(hole["missing"].split()), hole["reason"])
        for paper, of_paper in listed.items()
        for id, hole in of_paper.items()
    }


def unknown_citations(path: Path, known: Collection[Key] | None = None) -> list[tuple[int, str]]:
    """(cell number, sentence) on what the notebook's text cites and the kit does not know; empty
    where all is well.

    A bare 'Eq. (2)' belongs to one of the papers that the notebook names. known: by default what
    some code cites and what is listed as a hole: a notebook may point ahead, but not at what the
    kit has never heard of.
    """
    known = {*code_places()[0], *holes()} if known is None else known
    cells = [
        (number, FENCE.sub("", cell.source))
        for number, cell in enumerate(read_notebook(path).cells)
        if cell.cell_type == "markdown"
    ]
    whole = "\n".join(text for _, text in cells).replace("the survey", "the Survey")
    context = set(re.findall(PAPER, whole))
    return [
        (number, problem) for number, text in cells for problem in unknown(text, context, known)
    ]


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
