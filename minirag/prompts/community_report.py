"""Task: a report on a community, out of its elements or of the reports of its parts."""

import json
import math
import re

from ..core.reports import Finding, Report
from .json_replies import is_array, read_text, read_values
from .rules.names import sentences_of
from .task import Task

SYSTEM = (
    "You write a report on one community of a knowledge graph, for readers who will use it in place of the sources. You are given its entities, "
    "relationships and claims, each with a number, or reports on its parts. Use nothing else. After each statement name what it rests on, like this: "
    "[Data: Entities (3, 8); Relationships (12)]. Reply with one JSON object and nothing beside it:\n"
    '{"title": a short name for the community that mentions its main entities, "summary": what it is about and how its parts are related, '
    '"rating": a number from 0 to 10 for its impact, "rating_explanation": one sentence, '
    '"findings": [{"summary": a short sentence, "explanation": a paragraph with its data in brackets}, 5 to 10 of these]}'
)
TEMPLATE = """The community:

$context

Write the report in at most $max_words words."""
MAX_WORDS = 1500
LINE = re.compile(r"(Entity|Relationship|Claim|Report) (\S+): ([^\n]*)")
DATA = {
    "Entity": "Entities",
    "Relationship": "Relationships",
    "Claim": "Claims",
    "Report": "Reports",
}
MOST_FINDINGS, MOST_WORDS = 5, 60
NOTICE = "Extract by rule, no language model"
OWN_NOTICE = re.compile(rf"{NOTICE}: [^.]*\.\s*")


def read_number(value, low, high):
    """A number within bounds out of a string, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return min(max(number, low), high) if math.isfinite(number) else None


def read_finding(item):
    if isinstance(item, str):
        return Finding(item.strip()) if item.strip() else None
    if not isinstance(item, list):
        return None
    named = (
        {key: read_text(value) for key, value in reversed(item) if isinstance(key, str)}
        if hasattr(item, "lookup")
        else {}
    )
    summary, explanation = named.get("summary"), named.get("explanation")
    return (
        Finding(summary or explanation, explanation if summary and explanation else "")
        if summary or explanation
        else None
    )


def parse(text):
    """(Report, dropped), or (None, 1) where no title and no summary can be read. What is ill formed
    inside a report is counted and left out.
    """
    values, objects = read_values(text)
    candidates = [o for o in objects if o.lookup("title") or o.lookup("findings")]
    if not candidates:
        return None, 1
    found = max(candidates, key=len)
    first = lambda name: next(
        (read_text(value) for value in found.lookup(name) if read_text(value)), ""
    )
    title, summary = first("title"), first("summary")
    if not (title or summary):
        return None, 1
    arrays = [value for value in found.lookup("findings") if is_array(value)]
    findings = [read_finding(item) for array in arrays for item in array]
    rating = read_number(first("rating"), 0, 10)
    dropped = (
        findings.count(None)
        + sum(a.broken + a.cut for a in arrays if hasattr(a, "cut"))
        + (not arrays)
        + (rating is None)
        + (not title)
        + (not summary)
    )
    kept = tuple(dict.fromkeys(f for f in findings if f))
    return Report(
        title or summary[:80], summary, rating or 0.0, first("rating_explanation"), kept
    ), dropped


def rule(fields):
    """An extract, not a summary: the elements that come first in the context, in their own words,
    with their numbers.

    The title names the first entities or parts, the findings quote up to five relationships, claims
    or reports (entities where there are none), two sentences and 60 words each; the rating is a
    size, the square root of the number of elements read, and the explanation says so.
    """
    rows = [match.groups() for match in LINE.finditer(fields["context"])]
    entities, others = (
        [row for row in rows if row[0] == "Entity"],
        [row for row in rows if row[0] != "Entity"],
    )
    parts = [row for row in others if row[0] == "Report"]
    names = [_name(row[2]) for row in (parts or entities or others)[:3]]
    findings = []
    for kind, number, said in [
        *parts,
        *[row for row in others if row[0] != "Report"],
        *([] if others else entities),
    ][:MOST_FINDINGS]:
        name, words = _name(said), OWN_NOTICE.sub("", said.partition(" | ")[2])
        findings.append(
            {
                "summary": name,
                "explanation": f"{_short(words)} [Data: {DATA[kind]} ({number})]".strip(),
            }
        )
    told = " ".join(_short(said.partition(" | ")[2], 1) for _, _, said in entities[:3])
    told += (
        f" [Data: Entities ({', '.join(number for _, number, _ in entities[:3])})]"
        if told.strip()
        else ""
    )
    counts = ", ".join(
        f"{sum(row[0] == kind for row in rows)} {name.lower()}"
        for kind, name in DATA.items()
        if any(row[0] == kind for row in rows)
    )
    report = {
        "title": " and ".join(names) or "An empty community",
        "summary": f"{NOTICE}: {counts or 'nothing to read'}. {told}".strip(),
        "rating": round(min(10.0, math.sqrt(len(rows))), 1),
        "rating_explanation": f"A size, not a judgement of impact: the square root of the {len(rows)} elements read, at most 10.",
        "findings": findings,
    }
    return json.dumps(report, ensure_ascii=False)


def _name(said):
    return re.sub(r" \([^()]*\)$", "", said.partition(" | ")[0])


def _short(text, count=2):
    words = " ".join(sentences_of(text)[:count]).split()
    return " ".join(words[:MOST_WORDS]) + " …" * (len(words) > MOST_WORDS)


COMMUNITY_REPORT = Task(
    name="community_report",
    stage="index",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=2000,
    show=lambda fields: {"max_words": MAX_WORDS, **fields},
)
