"""Summaries: of an element, out of all that was written about it; of a cluster of texts, a virtual
parent in a tree; and of a community, a report out of its elements or of the reports of its parts.
"""

import json
import math
import re
from collections.abc import Iterable
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from ..core.reports import Finding, Report
from ..text.chunking import sentences_of
from ..text.tokens import count_tokens
from .json_replies import Items, Pairs, is_array, read_line, read_text, read_values
from .task import Fields, Task

MAX_TOKENS = 500


def sentences_up_to(texts: Iterable[str], max_tokens: int) -> str:
    """The sentences of the texts in order, each once, as long as they fit into `max_tokens`; the
    first always.
    """
    kept: list[str] = []
    used = 0
    for sentence in (" ".join(s.split()) for text in texts for s in sentences_of(text)):
        size = count_tokens(sentence)
        if sentence not in kept:
            if kept and used + size > max_tokens:
                break
            kept.append(sentence)
            used += size
    return " ".join(kept)


def summarise_by_rule(fields: Fields) -> str:
    """The sentences of all descriptions, repetitions left out, up to the limit: nothing is said
    shorter or better.
    """
    return sentences_up_to(fields["descriptions"], fields.get("max_tokens", MAX_TOKENS))


def show_summarise(fields: Fields) -> Fields:
    """The texts as one, and the default limit."""
    listed = "\n".join(f"- {text}" for text in fields["descriptions"])
    return {"max_tokens": MAX_TOKENS, **fields, "descriptions": listed}


SUMMARISE = Task(
    name="summarise",
    stage="build",
    system=(
        "You merge several descriptions of one thing into a single one. Keep every fact, say each"
        " once, resolve contradictions, write in the third person and name the thing. Reply with"
        " the description alone."
    ),
    template="""Thing: $name

Descriptions:
$descriptions

Merge them into one description of at most $max_tokens tokens.""",
    parse=read_line,
    rule=summarise_by_rule,
    show=show_summarise,
)


CLUSTER_MAX_TOKENS = 100


def cluster_summary_by_rule(fields: Fields) -> str:
    """The first sentence of every text, then the second of every text, and so on up to the limit: a
    digest, not a summary.
    """
    rounds = zip_longest(*map(sentences_of, fields["texts"]))
    sentences = [sentence for sentence in chain.from_iterable(rounds) if sentence]
    return sentences_up_to(sentences, fields.get("max_tokens", CLUSTER_MAX_TOKENS))


def show_cluster_summary(fields: Fields) -> Fields:
    """The texts as one, and the default limit."""
    return {"max_tokens": CLUSTER_MAX_TOKENS, **fields, "texts": "\n\n".join(fields["texts"])}


CLUSTER_SUMMARY = Task(
    name="cluster_summary",
    stage="build",
    system=(
        "You summarise texts that belong together, keeping as many details as fit. Reply with the"
        " summary alone."
    ),
    template="""Texts:

$texts

Summarise them in at most $max_tokens tokens.""",
    parse=read_line,
    rule=cluster_summary_by_rule,
    max_tokens=300,
    show=show_cluster_summary,
)


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


def read_number(value: Any, low: float, high: float) -> float | None:
    """A number within bounds out of a string, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return min(max(number, low), high) if math.isfinite(number) else None


def read_finding(item: object) -> Finding | None:
    """A sentence, or an object with a summary, an explanation or both; None for anything else."""
    if isinstance(item, str) and item.strip():
        return Finding(item.strip())
    if not isinstance(item, Pairs):
        return None
    named = {key: read_text(value) for key, value in reversed(item) if isinstance(key, str)}
    summary, explanation = named.get("summary"), named.get("explanation")
    if summary:
        return Finding(summary, explanation or "")
    return Finding(explanation) if explanation else None


def read_report(text: str) -> tuple[Report | None, int]:
    """(Report, dropped), or (None, 1) where no title and no summary can be read. What is ill formed
    inside a report is counted and left out.
    """
    _, objects = read_values(text)
    candidates = [pairs for pairs in objects if pairs.lookup("title") or pairs.lookup("findings")]
    if not candidates:
        return None, 1
    found = max(candidates, key=len)
    title, summary = found.first_text("title"), found.first_text("summary")
    if not (title or summary):
        return None, 1
    arrays = [value for value in found.lookup("findings") if is_array(value)]
    findings = [read_finding(item) for array in arrays for item in array]
    rating = read_number(found.first_text("rating"), 0, 10)
    torn = sum(array.broken + array.cut for array in arrays if isinstance(array, Items))
    dropped = findings.count(None) + torn + (not title) + (not summary)
    dropped += (not arrays) + (rating is None)
    kept = tuple(dict.fromkeys(finding for finding in findings if finding))
    explanation = found.first_text("rating_explanation")
    return Report(title or summary[:80], summary, rating or 0.0, explanation, kept), dropped


def report_by_rule(fields: Fields) -> str:
    """An extract, not a summary: the elements that come first in the context, in their own words,
    with their numbers.

    The title names the first entities or parts, the findings quote up to five relationships, claims
    or reports (entities where there are none), two sentences and 60 words each; the rating is a
    size, the square root of the number of elements read, and the explanation says so.
    """
    rows = [Row(*match.groups()) for match in LINE.finditer(fields["context"])]
    kinds = {kind: [row for row in rows if row.kind == kind] for kind in DATA}
    entities, parts = kinds["Entity"], kinds["Report"]
    others = [row for row in rows if row.kind not in ("Entity", "Report")]
    names = [row.name for row in (parts or entities or others)[:3]]
    quoted = [*parts, *others] or entities
    findings = [row.finding for row in quoted[:MOST_FINDINGS]]
    words = " ".join(_short(row.words, 1) for row in entities[:3])
    if words.strip():
        words += f" [Data: Entities ({', '.join(row.number for row in entities[:3])})]"
    counts = [f"{len(kinds[kind])} {name.lower()}" for kind, name in DATA.items() if kinds[kind]]
    report = {
        "title": " and ".join(names) or "An empty community",
        "summary": f"{NOTICE}: {', '.join(counts) or 'nothing to read'}. {words}".strip(),
        "rating": round(min(10.0, math.sqrt(len(rows))), 1),
        "rating_explanation": (
            "A size, not a judgement of impact: the square root of the "
            f"{len(rows)} elements read, at most 10."
        ),
        "findings": findings,
    }
    return json.dumps(report, ensure_ascii=False)


class Row(NamedTuple):
    """A line of the context: an element or a report, its number, and "name (type) | words"."""

    kind: str
    number: str
    line: str

    @property
    def name(self) -> str:
        return re.sub(r" \([^()]*\)$", "", self.line.partition(" | ")[0])

    @property
    def words(self) -> str:
        return self.line.partition(" | ")[2]

    @property
    def finding(self) -> dict[str, str]:
        quote = _short(OWN_NOTICE.sub("", self.words), 2)
        explanation = f"{quote} [Data: {DATA[self.kind]} ({self.number})]".strip()
        return {"summary": self.name, "explanation": explanation}


def _short(text: str, count: int) -> str:
    words = " ".join(sentences_of(text)[:count]).split()
    cut = " ".join(words[:MOST_WORDS])
    return f"{cut} …" if len(words) > MOST_WORDS else cut


def show_community(fields: Fields) -> Fields:
    """The fields with the default limit."""
    return {"max_words": MAX_WORDS, **fields}


COMMUNITY_REPORT = Task(
    name="community_report",
    stage="index",
    system=(
        "You write a report on one community of a knowledge graph, for readers who will use it in"
        " place of the sources. You are given its entities, relationships and claims, each with a"
        " number, or reports on its parts. Use nothing else. After each statement name what it"
        " rests on, like this: [Data: Entities (3, 8); Relationships (12)]. Reply with one JSON"
        " object and nothing beside it:\n"
        '{"title": a short name for the community that mentions its main entities, "summary": what'
        ' it is about and how its parts are related, "rating": a number from 0 to 10 for its'
        ' impact, "rating_explanation": one sentence, "findings": [{"summary": a short sentence,'
        ' "explanation": a paragraph with its data in brackets}, 5 to 10 of these]}'
    ),
    template="""The community:

$context

Write the report in at most $max_words words.""",
    parse=read_report,
    rule=report_by_rule,
    max_tokens=2000,
    show=show_community,
)
