"""What an answer rests on: reports as passages, the reports that it cites, and through them, or
cited directly, passages of the corpus.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...core.corpus import Chunk
from ...core.reports import CommunityIndex
from ...core.results import Passage
from ...core.trace import ScoredCommunity, Step
from ...prompts.map_reduce import Unit
from .map_reduce import Reduced

BRACKET = re.compile(r"\[([^\[\]]{1,600})\]")
NUMBERED = re.compile(
    r"\b(report|entit|relationship|claim)(?:s|y|ies)?\s*\(([^()]*)\)", re.IGNORECASE
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CitedStep(Step):
    """The reports behind an answer, those of the most helpful partial answers first, and the ids of
    the chunks it cites.
    """

    reports: tuple[ScoredCommunity, ...]
    chunks: tuple[str, ...]
    shows = "reports"


def report_chunk(index: CommunityIndex, place: int) -> Chunk:
    """A report as a chunk: its id is `report:` and the community's id."""
    report, item = index.reports[place], index.communities.items[place]
    return Chunk(f"report:{item.id}", report.text, report.title, end=len(report.text))


def report_passages(index: CommunityIndex, rows: Sequence[ScoredCommunity]) -> tuple[Passage, ...]:
    """Reports as passages, ranked in the order given."""
    ranked = enumerate(rows, start=1)
    return tuple(Passage(report_chunk(index, row.index), row.score, rank) for rank, row in ranked)


def report_units(
    index: CommunityIndex, rows: Sequence[ScoredCommunity]
) -> tuple[dict[str, int], list[Unit]]:
    """The chosen reports as map-reduce reads them: each id with its position, and the units."""
    places = {report_chunk(index, row.index).id: row.index for row in rows}
    return places, [(name, index.reports[place].text) for name, place in places.items()]


def cite(
    index: CommunityIndex, places: Mapping[str, int], reduced: Reduced, by_model: bool
) -> tuple[str, CitedStep]:
    """The answer's text, and the reports that it cites; where it cites none, those that its partial
    answers were written from.

    places: the id of each report that was read, and its position; other units are passages. Where
    the text cites none and there are such units, those that its partial answers were written from
    stand for them. by_model: who answered; the offline rule cites nothing in its text, so that the
    reports are listed below it.
    """
    named, positions = cited(index, reduced.text)
    units = dict.fromkeys(unit for answer in reduced.kept for unit in answer.units)
    read = [places[unit] for unit in units if unit in places]
    used = dict.fromkeys([place for place in named if place in places.values()] or read)
    graph, text = index.communities.graph, reduced.text
    chunks = tuple(graph.chunks[i].id for i in positions)
    chunks = chunks or tuple(unit for unit in units if unit not in places)
    if reduced.kept and not by_model:
        reports = ", ".join(index.communities.items[place].id for place in used) or "none"
        behind = ", ".join(chunks[:12]) or "none named"
        text += f"\nReports: {reports}. Passages behind them: {behind}."
    best, id_of = reduced.best, {place: name for name, place in places.items()}
    rows = [
        ScoredCommunity(index.reports[place].title, place, best.get(id_of[place], 0.0))
        for place in used
    ]
    rows.sort(key=lambda row: (-row.score, row.index))
    behind = f"{len(rows)} reports and {len(chunks)} passages behind the answer"
    summary = f"{behind}: {', '.join(chunks[:8]) or 'no passage is cited'}"
    return text, CitedStep("cited", summary, reports=tuple(rows), chunks=chunks)


class Cited(NamedTuple):
    """Positions of reports and of chunks, each once, in order of mention."""

    reports: list[int]
    chunks: list[int]


def cited(index: CommunityIndex, text: str) -> Cited:
    """What stands in square brackets in `text`.

    `[Data: Entities (3, 8); Reports (1-2)]` and `[report:1-2]` name elements by their number,
    `[n07, n12]` names passages by their id. A text that cites nothing but reports stands for the
    passages that these cite themselves; "+more" and numbers that do not exist stand for nothing.
    """
    lookup = _Lookup(index)
    texts, read = [text], set[int]()
    while texts and not lookup.chunks:
        for bracket in (inside for text in texts for inside in BRACKET.findall(text)):
            lookup.read(bracket)
        unread = [place for place in lookup.reports if place not in read]
        texts = [index.reports[place].text for place in unread if place in index.reports]
        read.update(unread)
    return Cited(list(lookup.reports), list(lookup.chunks))


class _Lookup:
    """What was cited so far: `reports` and `chunks`, in order of mention."""

    def __init__(self, index: CommunityIndex) -> None:
        graph, items = index.communities.graph, index.communities.items
        claims = enumerate(graph.claims)
        self.community = {item.id: place for place, item in enumerate(items)}
        self.chunk = {chunk.id: place for place, chunk in enumerate(graph.chunks)}
        self.behind = {  # number of an element -> the chunks it was read from
            "entit": {number: node.chunks for number, node in enumerate(graph.nodes)},
            "relationship": {number: edge.chunks for number, edge in enumerate(graph.edges)},
            "claim": {i if c.number is None else c.number: c.chunks for i, c in claims},
        }
        self.reports: dict[int, None] = {}
        self.chunks: dict[int, None] = {}

    def read(self, bracket: str) -> None:
        """Add what stands between two brackets."""
        for kind, numbers in NUMBERED.findall(bracket):
            for number in map(str.strip, numbers.split(",")):
                self.add(kind.lower(), number)
        for name in map(str.strip, re.split(r"[,;]\s*", bracket)):
            if name in self.chunk:
                self.chunks[self.chunk[name]] = None
            elif name.startswith("report:"):
                self.add("report", name.removeprefix("report:"))

    def add(self, kind: str, number: str) -> None:
        """Add an element by its kind and number."""
        if kind == "report" and number in self.community:
            self.reports[self.community[number]] = None
        elif kind in self.behind and number.isdigit():
            self.chunks |= dict.fromkeys(self.behind[kind].get(int(number), ()))
