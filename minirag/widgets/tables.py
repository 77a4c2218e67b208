"""Small tables of passages for the explorers' panels."""

from html import escape

from ..viz import marked
from ..viz.palette import BLUE, GREEN, MUTED

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
