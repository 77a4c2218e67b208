"""Retrieved passages as safe HTML, with the entities that led to them marked."""

import re
from html import escape

from ..core.display import not_math
from .palette import FAINT, GREEN, MUTED


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
