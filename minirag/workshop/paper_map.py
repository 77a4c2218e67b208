"""The paper map: for every element of the five papers, where it is in code, which notebook section
shows it, which test holds it.

Generated from the files (see `paper_places`). Cells of the map that are empty stand, with a reason,
in data/paper_holes.yaml. After a change: `minirag map --write`.
"""

import re
from collections import defaultdict, namedtuple

from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..corpora.shipped_and_own import shipped
from . import refresh
from .citations import PAPER, elements, papers, unknown
from .notebook_lint import FENCE
from .paper_places import code_places, in_checkout, notebook_places, test_places

COLUMNS = ("code", "notebook", "test")
TITLES = {
    "Wang": "Wang, Graph RAG: Efficient and Powerful LLM Enhancement Systems",
    "PathRAG": "Chen et al., PathRAG",
    "GraphRAG": "Edge et al., From Local to Global (GraphRAG)",
    "Survey": "Zhou et al., In-depth Analysis of Graph-based RAG in a Unified Framework (the survey)",
    "GRAG": "Hu et al., GRAG",
}
INTRODUCTION = """# The paper map

Where each equation, definition, operator and table of the five papers is in the kit: the code that cites it, the notebook sections that show it, the
tests that hold it. Generated from the code by `minirag map --write`; what is empty stands in [paper_holes.yaml](paper_holes.yaml) with its reason.
"""
SHOWN = 3  # places named in one cell of the map
Row = namedtuple("Row", "element code notebook test")  # each a list of places: (file, what)


def rows():
    """The map: one Row for every element, in the papers' order."""
    code, shown, held = code_places()[0], notebook_places(), test_places()
    named = {
        key: [(f"minirag/{source.file}", source.symbol) for source in found]
        for key, found in code.items()
    }
    return [
        Row(element, named.get(key, []), shown.get(key, []), held.get(key, []))
        for key, element in elements().items()
    ]


def missing(row):
    """The columns that a row still owes. A background definition owes an explanation only, in a
    notebook or in the glossary.
    """
    owed = COLUMNS if row.element.own else ("notebook",)
    return tuple(column for column in owed if not getattr(row, column))


def holes():
    """{(paper, id): (missing columns, reason)} as committed in data/paper_holes.yaml."""
    import yaml

    said = yaml.safe_load(shipped("paper_holes.yaml").read_text(encoding="utf-8")) or {}
    return {
        (paper, id): (tuple(row["missing"].split()), row["reason"])
        for paper, some in said.items()
        for id, row in some.items()
    }


def unknown_citations(path, known=None):
    """[(cell number, sentence)] on what the notebook's text cites and the kit does not know; empty
    where all is well.

    A bare 'Eq. (2)' belongs to one of the papers that the notebook names. known: {(paper, id)}, by
    default what some code cites and what is listed as a
    hole: a notebook may point ahead, but not at what the kit has never heard of.
    """
    known = {*code_places()[0], *holes()} if known is None else known
    cells = [
        (number, FENCE.sub("", cell.source))
        for number, cell in enumerate(refresh.read(path).cells)
        if cell.cell_type == "markdown"
    ]
    context = {
        paper
        for _, text in cells
        for paper in re.findall(PAPER, text.replace("the survey", "the Survey"))
    }
    return [(number, said) for number, text in cells for said in unknown(text, context, known)]


def shrink_holes(table=None):
    """Take out of data/paper_holes.yaml what is no longer missing. Nothing is ever added: a new
    hole is written by hand, with its reason.
    """
    import yaml

    empty = {(row.element.paper, row.element.id): missing(row) for row in table or rows()}
    path, kept = shipped("paper_holes.yaml"), defaultdict(dict)
    for (paper, id), (columns, reason) in holes().items():
        if left := [column for column in columns if column in empty.get((paper, id), ())]:
            kept[paper][id] = {"missing": " ".join(left), "reason": reason}
    comment = "".join(
        line + "\n"
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    )
    write_atomic(
        path, comment + yaml.safe_dump(dict(kept), sort_keys=False, allow_unicode=True, width=160)
    )


def _link(file, what, column):
    target = file if column == "page" else f"../{file}"
    name = (
        file.removeprefix("minirag/")
        .removeprefix("notebooks/")
        .removeprefix("tests/")
        .removeprefix("exercises/solutions/")
        .removesuffix(".ipynb")
    )
    return f"[{name}]({target})" + (f" {what}" if what and column != "test" else "")


def _cell(row, column):
    places = getattr(row, column)
    if (
        column == "test"
    ):  # the files only: a new test in a file that is already named changes nothing here
        places = list({file: (file, what) for file, what in places}.values())
    more = ", …" if len(places) > SHOWN else ""
    return (
        ", ".join(_link(file, what.replace("|", "/"), column) for file, what in places[:SHOWN])
        + more
        or "–"
    )


def render(table=None):
    """The map as Markdown, with links that work from data/."""
    parts, table, reasons = [INTRODUCTION], table or rows(), holes()
    for paper in papers():
        parts.append(
            f"\n## {TITLES[paper]}\n\n| element | what | code | notebook | test |\n| --- | --- | --- | --- | --- |\n"
        )
        for row in (row for row in table if row.element.paper == paper):
            reason = reasons.get((paper, row.element.id), ("", ""))[1]
            cells = [_cell(row, column) for column in COLUMNS]
            what = row.element.name + (f" *({reason})*" if reason else "")
            parts.append(f"| `{row.element.id}` | {what} | {' | '.join(cells)} |\n")
    return "".join(parts)


def text(paper=None):
    """The map for a terminal, of one paper or of all; in an installed package the whole map as it
    was shipped.
    """
    if paper is not None and paper not in papers():
        raise MiniragError(f"there is no paper {paper!r}; the papers are {', '.join(papers())}.")
    if not in_checkout():
        return shipped("paper_map.md").read_text(encoding="utf-8")
    lines, reasons = [], holes()
    for row in rows():
        element = row.element
        if paper in (None, element.paper):
            lines.append(f"{element.paper} {element.id}: {element.name}")
            for column in COLUMNS:
                places = dict.fromkeys(
                    f"{file}: {what}" if what and column != "test" else file
                    for file, what in getattr(row, column)
                )
                lines += (
                    [
                        f"    {column:9s}{', '.join(list(places)[:SHOWN])}{' ...' if len(places) > SHOWN else ''}"
                    ]
                    if places
                    else []
                )
            if gap := reasons.get((element.paper, element.id)):
                lines.append(f"    missing  {', '.join(gap[0])}: {gap[1]}")
    return "\n".join(lines)


def write():
    """Bring data/paper_map.md and data/paper_holes.yaml up to date."""
    table = rows()
    shrink_holes(table)
    write_atomic(shipped("paper_holes.yaml").parent / "paper_map.md", render(table))
