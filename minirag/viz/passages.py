"""Chunks and retrieved passages as safe HTML and as text, with names and gold passages marked."""

import re
from collections.abc import Collection, Iterable
from html import escape

from ..core.corpus import Chunk
from ..core.display import not_math
from ..core.results import Passage
from .scene import Colour

GOLD = "<span style='color:#FFFFFF;background:#00694D;border-radius:4px;padding:0 6px'>gold</span>"
TOP = "style='vertical-align:top'"


class Html:
    """HTML for notebooks with a plain-text twin; corpus text in it is escaped."""

    def __init__(self, html: str, text: str) -> None:
        self.html, self.text = html, text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": not_math(self.html)}


def marked(text: str, names: Iterable[str]) -> str:
    """The text, escaped, with every whole-word occurrence of a name (any case, longest first)
    marked.
    """
    names = sorted({name for name in names if name.strip()}, key=lambda n: (-len(n), n))
    if not names:
        return escape(text)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, names)) + r")(?!\w)", re.IGNORECASE)
    parts = map(escape, pattern.split(text))
    return "".join(f"<mark>{part}</mark>" if i % 2 else part for i, part in enumerate(parts))


def show_chunks(chunks: Iterable[Chunk], highlight: Collection[str] = ()) -> Html:
    """Chunks as they stand in a corpus: a table of id, title and text, with the names in
    `highlight` marked. Returns an `Html` object.
    """
    rows, lines = [], []
    for chunk in chunks:
        words = f"<b>{marked(chunk.title, highlight)}.</b> {marked(chunk.text, highlight)}"
        text = f"<td style='text-align:left'>{words}</td>"
        rows.append(f"<tr><td {TOP}>{escape(chunk.id)}</td>{text}</tr>")
        lines.append(f"{chunk.id}  {chunk.title}")
    table = f"<table style='background:#FFFFFF;color:#1A1A1A'>{''.join(rows)}</table>"
    return Html(table, "\n".join(lines))


def _cut(passage: Passage, characters: int) -> str:
    """The passage's text, cut before a word where it is longer."""
    text = passage.chunk.text
    return text if len(text) <= characters else text[:characters].rsplit(" ", 1)[0] + " …"


def passage_rows(
    passages: Iterable[Passage],
    gold: Collection[str] = (),
    names: Collection[str] = (),
    characters: int = 110,
) -> str:
    """Table rows of ranked passages with a bar for each score; gold ones are named as such,
    `names` marked in the text.
    """
    passages = list(passages)
    rows, peak = [], max((abs(p.score) for p in passages), default=0.0) or 1.0
    for p in passages:
        colour, wide = (Colour.GREEN if p.id in gold else Colour.BLUE), 90 * abs(p.score) / peak
        bar = f"background:{colour};height:9px;width:{max(1, round(wide))}px"
        score = f"<td {TOP}>{p.score:.4f}<div style='{bar}'></div></td>"
        title = f"<b>{escape(p.chunk.label)}</b> {GOLD if p.id in gold else ''}"
        text = f"<span style='color:{Colour.MUTED}'>{marked(_cut(p, characters), names)}</span>"
        words = f"<td style='text-align:left'>{title}<br>{text}</td>"
        cells = f"<td {TOP}>{p.rank}</td>{score}{words}"
        rows.append(f"<tr style='background:transparent'>{cells}</tr>")
    return "".join(rows)


def passage_table(
    passages: Iterable[Passage], gold: Collection[str] = (), names: Collection[str] = ()
) -> str:
    """A whole table of `passage_rows`."""
    left = "<th style='text-align:left'>"
    head = f"<tr><th>rank</th>{left}score</th>{left}passage</th></tr>"
    rows = passage_rows(passages, gold, names)
    return f"<table style='width:100%;color:#1A1A1A'>{head}{rows}</table>"


def passage_lines(passages: Iterable[Passage], gold: Collection[str] = ()) -> list[str]:
    """The same as text, one line a passage."""
    flags = ((p, " [gold]" if p.id in gold else "") for p in passages)
    return [f"  {p.rank}. {p.score:.4f}  {p.chunk.label}{flag}" for p, flag in flags]
