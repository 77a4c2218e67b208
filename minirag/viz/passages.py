"""Retrieved passages as safe HTML: cards, tables and text, with names and gold passages marked."""

import re
from html import escape

from ..core.display import not_math
from .scene import BLUE, FAINT, GREEN, MUTED


class Html:
    """HTML for notebooks with a plain-text twin; corpus text in it is escaped."""

    def __init__(self, html, text):
        self.html, self.text = html, text

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.text, "text/html": not_math(self.html)}


def marked(text, names, before="<mark>", after="</mark>", quote=escape):
    """The text, escaped, with every whole-word occurrence of a name (any case, longest first)
    between the two marks.
    """
    names = sorted({name for name in names if name.strip()}, key=lambda n: (-len(n), n))
    if not names:
        return quote(text)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, names)) + r")(?!\w)", re.IGNORECASE)
    parts = pattern.split(text)
    return "".join(
        before + quote(part) + after if i % 2 else quote(part) for i, part in enumerate(parts)
    )


def show_chunks(chunks, highlight=()):
    """Chunks as they stand in a corpus: a table of id, title and text, with the names in
    `highlight` marked. Returns an `Html` object.
    """
    row = "<tr><td style='vertical-align:top'>{}</td><td style='text-align:left'><b>{}.</b> {}</td></tr>"
    rows = [
        row.format(escape(c.id), marked(c.title, highlight), marked(c.text, highlight))
        for c in chunks
    ]
    return Html(
        f"<table style='background:#FFFFFF;color:#1A1A1A'>{''.join(rows)}</table>",
        "\n".join(f"{c.id}  {c.title}" for c in chunks),
    )


def show_passages(retrieval, highlight=(), gold=(), max_characters=600):
    """The passages of a `Retrieval`, best first, entities marked, gold ones named. Returns an
    `Html` object.

    `highlight`: names to mark in titles and texts; `gold`: ids of the passages that answer the
    question.
    """
    gold, cards, lines = set(gold), [], [f"{retrieval.method}: {retrieval.question}"]
    for passage in retrieval.passages:
        text = passage.chunk.text
        text = (
            text if len(text) <= max_characters else text[:max_characters].rsplit(" ", 1)[0] + " …"
        )
        title = passage.chunk.label
        badge = (
            " <span style='color:#FFFFFF;background:#00694D;border-radius:4px;padding:0 6px'>gold</span>"
            if passage.id in gold
            else ""
        )
        cards.append(
            f"<div style='border-left:4px solid {GREEN if passage.id in gold else FAINT};padding:2px 0 2px 10px;margin:8px 0'>"
            f"<b>{passage.rank}. {marked(title, highlight)}</b>{badge} <span style='color:{MUTED}'>{passage.score:.4f}</span>"
            f"<br>{marked(text, highlight)}</div>"
        )
        flag = " [gold]" if passage.id in gold else ""
        lines.append(
            f"{passage.rank}. {passage.score:.4f}  {title}{flag}\n   "
            + marked(text, highlight, "**", "**", str)
        )
    head = f"<p><b>{escape(retrieval.method)}</b>: {escape(retrieval.question)}</p>"
    return Html(
        f"<div style='background:#FFFFFF;color:#1A1A1A;padding:6px 10px'>{head}{''.join(cards)}</div>",
        "\n".join(lines),
    )


GOLD = "<span style='color:#FFFFFF;background:#00694D;border-radius:4px;padding:0 6px'>gold</span>"


def passage_rows(passages, gold=(), names=(), characters=110):
    """Table rows of ranked `Passage`s with a bar for each score; gold ones are named as such,
    `names` marked in the text.
    """
    gold, peak = set(gold), max((abs(p.score) for p in passages), default=0.0) or 1.0
    rows = []
    for p in passages:
        bar = f"<div style='background:{GREEN if p.id in gold else BLUE};height:9px;width:{max(1, round(90 * abs(p.score) / peak))}px'></div>"
        text = (
            p.chunk.text
            if len(p.chunk.text) <= characters
            else p.chunk.text[:characters].rsplit(" ", 1)[0] + " …"
        )
        rows.append(
            f"<tr style='background:transparent'><td style='vertical-align:top'>{p.rank}</td><td style='vertical-align:top'>{p.score:.4f}{bar}</td>"
            f"<td style='text-align:left'><b>{escape(p.chunk.label)}</b> {GOLD if p.id in gold else ''}"
            f"<br><span style='color:{MUTED}'>{marked(text, names)}</span></td></tr>"
        )
    return "".join(rows)


def passage_table(passages, gold=(), names=()):
    """A whole table of `passage_rows`."""
    head = "<tr><th>rank</th><th style='text-align:left'>score</th><th style='text-align:left'>passage</th></tr>"
    return f"<table style='width:100%;color:#1A1A1A'>{head}{passage_rows(passages, gold, names)}</table>"


def passage_lines(passages, gold=()):
    """The same as text, one line a passage."""
    return [
        f"  {p.rank}. {p.score:.4f}  {p.chunk.label}{' [gold]' if p.id in gold else ''}"
        for p in passages
    ]
