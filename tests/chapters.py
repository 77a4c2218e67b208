"""The budgets of a chapter, and whether each number in its prose stands in an output of its cells.

    python tests/chapters.py notebooks/04_hipporag.ipynb

A number in Markdown carries a mark that readers do not see: `83.3<!--=-->` stands in an output of
the nearest code cell above that has one, or of the next one below (the answer to a prediction);
`83.3<!--= word-->` in one of the nearest cell above whose source has that word;
`37.2<!--expected musique-->` in data/expected/musique.yaml.
"""

import re
import statistics
import sys
from decimal import Decimal
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
MAX_WORDS, MAX_MEDIAN, MAX_LINES, MIN_FIGURES, MAX_ASSERTS, MAX_IDLE = 3000, 6, 20, 10, 5, 10
FEW_FIGURES = ("00_start_here", "paper_against_code")
ACT = re.compile(r"\*\*(Predict|Your turn)\b")
DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
WRITES = re.compile(r"(?i)(one|two|three|four|five|\d+) lines? to write")

MARK = re.compile(r"<!--\s*(=|expected)\s*(.*?)\s*-->")
MARKED = re.compile(rf"((?:(?<=[^\w.])[-−+])?\d[\d,]*(?:\.\d+)?|\.\d+)(?:\s?%|\*+)?{MARK.pattern}")
NUMBER = re.compile(r"(?:(?<![\w.])[-−+])?(?:\d[\d,]*\d|\d)(?:\.\d+)?|(?<![\w])[-−+]?\.\d+")
WORDS = (
    "Eq|Eqs|Equation|Equations|Sec|Secs|Section|Sections|Table|Tables|Tab|Fig|Figs|Figure|Figures|"
    "App|Appendix|Def|Chapter|Chapters|Notebook|Notebooks|Step|Steps|Rule|Question|Exercise|"
    "Exercises|Rung|Algorithm|Part|Page|Pages|Seed|Level|Line|Lines|Cell|Cells|arXiv|version|Hint"
)
ONE = r"\(?[\dIVX]+(?:[.:-]\w+)*\)?"
EXEMPT = [
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"```.*?```|~~~.*?~~~", re.DOTALL),
        (r"`[^`]*`", 0),
        (r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL),
        (r"<!--.*?-->", re.DOTALL),  # a paper's elements; the marks of numbers went before
        (r"</?\w+[^>]*>", 0),
        (r"\]\([^)]*\)", 0),
        (r"(?m)^#+\s+(?:\d+\.)+", 0),
        (r"(?m)^\s*\d+\.\s|^\|\s*\d+\s*\|", re.MULTILINE),  # numbered lists and rows of tables
        (rf"\b(?i:{WORDS})s?\.?\s+{ONE}(?:(?:,| and| to| or|,? and|\s?[-–])\s?{ONE})*", 0),
        (r"\d+(?:[-–]\d+)?\s(?:to \d+\s)?(?i:minutes?|seconds?|lines?|words?|cells?)\b", 0),
        (r"95\s?%(?=\s(?:\w+\s)?(?:interval|confidence|of))", 0),
        (r"(?<![\w.,])(?:1[5-9]|20)\d\d(?![\w%]|\.\d|,\d)", 0),
        (r"(?:[A-Za-z_@~#][\w@.-]*\d[\w.-]*)|\b\d+[A-Za-z][\w-]*", 0),
    )
]


def figures(cell):
    return any(
        kind.startswith("image/")
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    )


def lines(cell):
    return sum(1 for line in cell.source.splitlines() if line.strip())


def measure(notebook, name):
    """{budget: number} of the notebook, and what breaks it."""
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    words = sum(len(re.sub(r"<!--.*?-->", "", c.source, flags=re.DOTALL).split()) for c in prose)
    acts = [i for i, c in enumerate(notebook.cells) if ACT.match(c.source)]
    idle = [b - a - 1 for a, b in zip([-1, *acts], [*acts, len(notebook.cells)])]
    read = sum(lines(cell) for cell in code)
    found = {
        "words": words,
        "cells": len(notebook.cells),
        "median": statistics.median(map(lines, code)),
        "longest": max(map(lines, code)),
        "figures": sum(map(figures, code)),
        "asserts": sum(len(re.findall(r"(?m)^\s*assert\b", cell.source)) for cell in code),
        "idle": max(idle),
        "minutes": round(words / 130 + read / 3),
    }
    limits = {"words": MAX_WORDS, "median": MAX_MEDIAN, "longest": MAX_LINES}
    limits |= {"asserts": MAX_ASSERTS, "idle": MAX_IDLE}
    broken = [f"{k}: {found[k]}, more than {most}" for k, most in limits.items() if found[k] > most]
    if found["figures"] < MIN_FIGURES and name not in FEW_FIGURES:
        broken.append(f"figures: {found['figures']}, fewer than {MIN_FIGURES}")
    return found, broken


def as_number(text):
    return Decimal(text.replace(",", "").replace("−", "-").lstrip("+"))


def in_text(text):
    """The numbers of an output, each with and without the sign that may be a dash."""
    found = {as_number(number) for number in NUMBER.findall(text)}
    return found | {abs(number) for number in found}


def outputs(cell):
    texts = []
    for output in cell.get("outputs", []):
        texts.append(output.get("text", ""))
        data = output.get("data", {})
        texts += [data.get("text/plain", ""), re.sub(r"<[^>]*>", " ", data.get("text/html", ""))]
        texts += output.get("traceback", [])
    return "\n".join(texts)


def untrue(cells, number):
    """What is wrong with the numbers of the Markdown cell at `number`."""
    source = cells[number].source
    above = [c for c in cells[:number][::-1] if c.cell_type == "code"]
    below = next((c for c in cells[number:] if c.cell_type == "code"), None)
    for found in MARKED.finditer(source):
        value, kind, word = found[1], found[2], found[3]
        if kind == "expected":
            path = ROOT / "data" / "expected" / f"{word}.yaml"
            known = in_text(path.read_text(encoding="utf-8")) if path.is_file() else set()
            where = f"data/expected/{word}.yaml"
        else:
            shown = (c for c in above if outputs(c).strip() and (not word or word in c.source))
            cell = next(shown, None)
            known = in_text(outputs(cell)) if cell else set()
            if not word and below:
                known |= in_text(outputs(below))
            where = f"the output of `{cell.source.splitlines()[-1]}`" if cell else "no output"
        if as_number(value) not in known:
            yield f"{value} does not stand in {where}"
    rest = MARKED.sub(" ", source)
    if stray := MARK.search(rest):
        yield f"the mark {stray[0]} follows no number"
    for pattern in EXEMPT:
        rest = pattern.sub(" ", rest)
    for found in NUMBER.finditer(rest):
        around = rest[max(0, found.start() - 25) : found.end() + 15].replace("\n", " ")
        yield f"{found[0]} carries no mark: …{around}…"


def problems(path):
    """(budgets, sentences on what is wrong) of the chapter at `path`."""
    notebook = nbformat.read(path, as_version=4)
    found, broken = measure(notebook, Path(path).stem)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            broken += [f"cell {number}: {text}" for text in untrue(notebook.cells, number)]
    return found, broken


if __name__ == "__main__":
    for name in sys.argv[1:]:
        measured, wrong = problems(name)
        print(Path(name).stem, *(f"{key} {value}" for key, value in measured.items()), sep="  ")
        print(*(f"  {sentence}" for sentence in wrong), sep="\n")
