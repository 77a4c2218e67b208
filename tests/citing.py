"""What a notebook's text cites and the kit does not know."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from minirag.core.files import read_notebook
from minirag.workshop import citations
from minirag.workshop.citations import Key
from minirag.workshop.notebook_lint import FENCE


def unknown(text: str, context: Collection[str], known: Collection[Key]) -> Iterator[str]:
    """Sentences on what Markdown `text` cites and the kit does not know: a section that the paper
    lacks, an equation that is not in `known`.

    context: the papers that a bare 'Eq. (2)' may mean.
    """
    for paper, id in sorted(citations.in_prose(text) - set(citations.elements())):
        yield f"{paper} has no element {id!r}"
    named = {match.start(2): match[1] for match in citations.CITED.finditer(text)}
    for match in citations.REFERENCE.finditer(text):
        papers = [named[match.start()]] if match.start() in named else sorted(context)
        for kind, number in citations._references(match[0]):
            if kind in ("tab", "fig") or any(_has(paper, kind, number, known) for paper in papers):
                continue
            problem = f"no {kind}-{number} of {' or '.join(papers)} is known to the package"
            yield f"{match[0]!r}: {problem if papers else 'of which paper?'}"


def _has(paper: str, kind: str, number: str, known: Collection[Key]) -> bool:
    if kind == "sec":
        return number in citations.sections()[paper]
    element = citations.elements().get((paper, f"{kind}-{number}"))
    return element is not None and (not element.own or (paper, element.id) in known)


def unknown_citations(path: Path, known: Collection[Key] | None = None) -> list[tuple[int, str]]:
    """(cell number, sentence) on what the notebook's text cites and the kit does not know; empty
    where all is well.

    A bare 'Eq. (2)' belongs to one of the papers that the notebook names. known: by default what
    some code cites and what is listed as a hole: a notebook may point ahead, but not at what the
    kit has never heard of.
    """
    known = {*citations.code_places()[0], *citations.holes()} if known is None else known
    cells = [
        (number, FENCE.sub("", cell.source))
        for number, cell in enumerate(read_notebook(path).cells)
        if cell.cell_type == "markdown"
    ]
    whole = "\n".join(text for _, text in cells).replace("the survey", "the Survey")
    context = set(re.findall(citations.PAPER, whole))
    return [
        (number, problem) for number, text in cells for problem in unknown(text, context, known)
    ]
