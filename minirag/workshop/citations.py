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
from collections import namedtuple
from functools import cache

from ..corpora.shipped_and_own import shipped

Element = namedtuple("Element", "paper id name own")
Source = namedtuple(
    "Source", "file line symbol text"
)  # symbol: "function", "Class.method", or "" for the module

NAMES = {"S0": "Wang"}  # the data files number one paper; readers know it by its author
KINDS = {
    "eq": "eq",
    "equation": "eq",
    "def": "def",
    "definition": "def",
    "table": "tab",
    "tab": "tab",
    "fig": "fig",
    "figure": "fig",
}
KINDS |= {
    "alg": "alg",
    "algorithm": "alg",
    "sec": "sec",
    "app": "sec",
}  # "Section 3", spelled out, is one of a notebook's own
ROMAN = {
    number: value
    for value, number in enumerate(
        ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"], start=1
    )
}
PAPER = r"\b(Wang|PathRAG|GraphRAG|Survey|GRAG)\b"
NUMBER = r"\(?((?:[IVX]+(?:-[A-Z])?\b|[A-F](?:\.\d)?\b|\d+(?:\.\d+)*))\)?"
REFERENCE = re.compile(
    rf"\b(Eq|Equation|Def|Definition|Table|Tab|Fig|Figure|Alg|Algorithm|Sec|App)s?\.?\s+{NUMBER}(?:\s*(?:-|–|to)\s*{NUMBER})?"
)
CITED = re.compile(rf"{PAPER}(?:['’]s)?[,:]?\s+({REFERENCE.pattern})")
COMMENT = re.compile(r"<!--\s*paper:(.*?)-->", re.DOTALL)


@cache
def elements():
    """{(paper, id): Element} of everything a reader may look up."""
    import yaml

    known = yaml.safe_load(shipped("paper_elements.yaml").read_text(encoding="utf-8"))
    rows = [
        Element(NAMES.get(key, key), id, said["name"], said.get("own", True))
        for key, row in known.items()
        for id, said in row.items()
    ]
    return {(row.paper, row.id): row for row in rows}


@cache
def sections():
    """{paper: the numbers of its sections}."""
    import yaml

    known = yaml.safe_load(shipped("paper_sections.yaml").read_text(encoding="utf-8"))
    return {NAMES.get(key, key): frozenset(numbers) for key, numbers in known.items()}


def papers():
    return list(sections())


def _references(text):
    """(kind, number) of every 'Eq. 2-3', 'Table IV', 'Sec. 2.5' in the text; a range counts for
    each of its ends and what lies between.
    """
    for word, first, last in REFERENCE.findall(text):
        kind = KINDS[word.lower()]
        if kind == "sec":
            yield from ((kind, number) for number in (first, last) if number)
        else:
            start, end = (
                ROMAN.get(number) or (int(number) if number.isdigit() else None)
                for number in (first, last or first)
            )
            yield from (
                ((kind, str(number)) for number in range(start, end + 1))
                if start and end
                else ((kind, first),)
            )


def _ids(paper, id):
    """The ids that `id` stands for: itself, or the parts that it is divided into (sec-2.5 is
    sec-2.5-leaf and sec-2.5-higher).
    """
    return (
        [
            known
            for of, known in elements()
            if of == paper and (known == id or known.startswith(f"{id}-"))
        ]
        if id
        else []
    )


def _cited_ids(paper, text):
    """Ids that a reference to `paper` names by number and that the paper has, sections included
    where a section is an element.
    """
    return [
        known for kind, number in _references(text) for known in _ids(paper, f"{kind}-{number}")
    ]


def read_source(text):
    """({(paper, id)}, problems) of the part after `Source:`."""
    found, problems = set(), []
    for entry in filter(None, (part.strip(" .\n") for part in text.split(";"))):
        paper = entry.split(",")[0].split(" ")[0]
        if paper not in papers():
            near = difflib.get_close_matches(
                paper.lower(), [name.lower() for name in papers()], n=1, cutoff=0.8
            )
            problems += [f"names {paper!r}; the papers are {', '.join(papers())}"] if near else []
            continue
        ids = [
            id.strip()
            for group in re.findall(r"\(([^)]*)\)", entry)
            for id in group.split(",")
            if not re.fullmatch(r"\d+|[IVX]+", id.strip())
        ]
        problems += [f"{paper} has no element {id!r}" for id in ids if not _ids(paper, id)]
        problems += [
            f"{paper} has no Sec. {number}"
            for kind, number in _references(entry)
            if kind == "sec" and number not in sections()[paper]
        ]
        cited = [*(known for id in ids for known in _ids(paper, id)), *_cited_ids(paper, entry)]
        if not cited:
            problems.append(
                f"{entry!r} names no element: put an id of data/paper_elements.yaml in parentheses"
            )
        found |= {(paper, id) for id in cited}
    return found, problems


def sources(path, name):
    """Every docstring of the Python file at `path` that has a `Source:` line, as Source rows with
    `name` for the file.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))

    def walk(node, symbol):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            said = re.search(
                r"^Source:(.*?)(?:\n\s*\n|\Z)",
                ast.get_docstring(node) or "",
                re.DOTALL | re.MULTILINE,
            )
            if said:
                yield Source(name, getattr(node, "lineno", 1), symbol, " ".join(said[1].split()))
            for child in node.body:
                yield from walk(
                    child,
                    f"{symbol}.{child.name}"
                    if symbol and hasattr(child, "name")
                    else getattr(child, "name", ""),
                )

    yield from walk(tree, "")


def in_prose(text):
    """{(paper, id)} that Markdown cites: 'PathRAG, Eq. 2-3' in a sentence, or `<!-- paper: Wang
    hippo-ppr, def-4; GRAG eq-2 -->`.
    """
    found = set()
    for comment in COMMENT.findall(text):
        for entry in comment.split(";"):
            paper, _, ids = entry.strip().partition(" ")
            found |= {(paper, id.strip()) for id in ids.split(",")}
    for paper, reference in (match.groups()[:2] for match in CITED.finditer(text)):
        found |= {(paper, id) for id in _cited_ids(paper, reference)}
    return found


def unknown(text, context, known):
    """Sentences on what Markdown `text` cites and the kit does not know: a section that the paper
    lacks, an equation that is not in `known`.

    context: the papers that a bare 'Eq. (2)' may mean. known: {(paper, id)}.
    """
    for paper, id in sorted(in_prose(text) - set(elements())):
        yield f"{paper} has no element {id!r}"
    named = {match.start(2): match[1] for match in CITED.finditer(text)}
    for match in REFERENCE.finditer(text):
        candidates = [named[match.start()]] if match.start() in named else sorted(context)
        for kind, number in _references(match[0]):
            if kind in ("tab", "fig") or any(
                _known(paper, kind, number, known) for paper in candidates
            ):
                continue
            problem = (
                f"no {kind}-{number} of {' or '.join(candidates)} is known to the package"
                if candidates
                else "of which paper?"
            )
            yield f"{match[0]!r}: {problem}"


def _known(paper, kind, number, known):
    if kind == "sec":
        return number in sections()[paper]
    element = elements().get((paper, f"{kind}-{number}"))
    return element is not None and (not element.own or (paper, element.id) in known)
