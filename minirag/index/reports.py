"""Community reports: written level by level from the bottom, so that a report on the whole can rest
on reports of its parts; or taken from rows that were written once and kept. And the way back, from
what a report or an answer cites to the passages: `cited`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..core.communities import Communities
from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.reports import CommunityIndex, Finding, Report, ReportContext
from ..core.trace import ScoredCommunity, Step
from ..llm import LLM
from .communities import gather
from .contexts import PAPER, ContextBuilder, ReportOptions

Written = Mapping[frozenset[str], Report]  # names of a community's members -> its report
Row = Mapping[str, Any]  # Any: out of JSON
BRACKET = re.compile(r"\[([^\[\]]{1,600})\]")
NUMBERED = re.compile(
    r"\b(report|entit|relationship|claim)(?:s|y|ies)?\s*\(([^()]*)\)", re.IGNORECASE
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReportStep(Step):
    """The reports of a level: elements that their contexts left out, by name, and how many replies
    held no readable report.
    """

    left_out: Mapping[str, int]
    missing: int


def write_reports(
    communities: Communities, llm: LLM, options: ReportOptions = PAPER,
    executor: Executor | None = None, given: Written | None = None,
) -> CommunityIndex:  # fmt: skip
    """Write the report of every community, the deepest first.

    given: reports that somebody wrote before; these are not asked for again. executor: used level
    by level. A reply without a readable report leaves its community without one; its parent then
    keeps its elements. What did not fit is counted in the trace.

    Source: GraphRAG, Sec. 2.5
    """
    builder, given = ContextBuilder(communities, options), given or {}
    reports: dict[int, Report] = {}
    contexts: dict[int, ReportContext] = {}
    trace: list[Step] = []
    for level in reversed(range(len(communities.levels))):
        places = [p for p in communities.levels[level] if communities.items[p].level == level]
        contexts |= {place: builder.build(place, reports) for place in places}
        known = {p: given[names] for p in places if (names := communities.names(p)) in given}
        asked = [place for place in places if place not in known]
        rows = [{"context": contexts[p].text, "max_words": options.max_words} for p in asked]
        said = f"reports of level {level}"
        replies = llm.map("community_report", rows, executor=executor, description=said)
        found = {p: replace(r, source=llm.name) for p, r in zip(asked, replies) if r is not None}
        reports |= found | known
        trace.append(
            _step(level, [contexts[p] for p in places], len(asked) - len(found), len(known))
        )
    sources = " and ".join(dict.fromkeys(report.source for report in reports.values()))
    return CommunityIndex(communities, reports, contexts, sources or llm.name, tuple(trace[::-1]))


def _step(level: int, contexts: Sequence[ReportContext], missing: int, given: int) -> ReportStep:
    kinds = Counter(context.kind for context in contexts)
    lost = sum((Counter(context.left_out) for context in contexts), Counter[str]())
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    left_out = ", ".join(f"{count} {name}" for name, count in lost.items())
    summary = [f"level {level}: {len(contexts)} contexts ({counted or 'none'})"]
    summary.append(f"left out: {left_out}" if lost else "nothing left out")
    if given:
        summary.append(f"{given} given")
    if missing:
        summary.append(f"{missing} without a readable report")
    return ReportStep("community reports", "; ".join(summary), left_out=lost, missing=missing)


def read_report_rows(rows: Iterable[Row], source: str = "") -> Written:
    """Reports out of JSON objects, one a community: the names of its members, and its report.

    Raises `MiniragError` for a row without members, title or summary.
    """
    found = {}
    for number, row in enumerate(rows, start=1):
        missing = [key for key in ("members", "title", "summary") if not row.get(key)]
        if missing:
            raise MiniragError(
                f"Report {number} has no {missing[0]!r}; each needs members, title, summary, rating"
                " and findings."
            )
        found[frozenset(row["members"])] = Report(
            row["title"],
            row["summary"],
            float(row.get("rating", 0.0)),
            row.get("rating_explanation", ""),
            Finding.several(row.get("findings", ())),
            row.get("source") or source,
        )
    return found


def frozen_index(
    graph: Graph, rows: Iterable[Row], source: str = "the corpus's writers"
) -> CommunityIndex:
    """The division and the reports that such rows keep, over the graph they were made for.

    A community that no row of the next level splits stands on that level too. Raises `MiniragError`
    for a member that is no node of the graph, or for communities of one level that overlap; nodes
    that no row names stay without a community.
    """
    rows = list(rows)
    named = {name for row in rows for name in row.get("members", ())}
    if unknown := sorted(named - set(graph.position)):
        raise MiniragError(
            f"The reports speak of {unknown[0]!r}, which is no node of the graph: they belong to"
            " another one. Divide and write anew."
        )
    levels: list[list[set[int]]] = []
    for depth in range(max((int(row.get("level", 0)) for row in rows), default=-1) + 1):
        here = [
            {graph.position[name] for name in row["members"]}
            for row in rows
            if int(row.get("level", 0)) == depth
        ]
        covered = set[int]().union(*here)
        if sum(map(len, here)) != len(covered):
            raise MiniragError(
                f"Two reports of level {depth} share a member: a level divides the nodes, so that"
                " each has one community."
            )
        above = levels[-1] if levels else []
        levels.append(here + [members for members in above if not members & covered])
    communities = gather(graph, levels, "a division kept with its reports")
    ids = {frozenset(row["members"]): row["community"] for row in rows if row.get("community")}
    items = tuple(
        replace(item, id=ids.get(communities.names(place), item.id))
        for place, item in enumerate(communities.items)
    )
    if len({item.id for item in items}) < len(items):
        raise MiniragError(
            "Two communities of the reports have the same id: ids must be unique, for answers cite"
            " them."
        )
    communities, reports = replace(communities, items=items), read_report_rows(rows, source)
    named_by = {place: communities.names(place) for place in range(len(items))}
    found = {place: reports[names] for place, names in named_by.items() if names in reports}
    sources = " and ".join(dict.fromkeys(report.source for report in found.values()))
    return CommunityIndex(communities, found, {}, sources)


class Cited(NamedTuple):
    """Positions of reports and of chunks, each once, in order of mention."""

    reports: list[int]
    chunks: list[int]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CitedStep(Step):
    """The reports behind an answer, those of the most helpful partial answers first, and the ids of
    the chunks it cites.
    """

    reports: tuple[ScoredCommunity, ...]
    chunks: tuple[str, ...]
    shows = "reports"

    @classmethod
    def of(
        cls, index: CommunityIndex, best: Mapping[int, float], chunks: Sequence[str]
    ) -> "CitedStep":
        """best: the position of each report, and the score of its best partial answer."""
        titles = {place: index.reports[place].title for place in best}
        reports = [ScoredCommunity(titles[place], place, score) for place, score in best.items()]
        reports.sort(key=lambda row: (-row.score, row.index))
        behind = f"{len(reports)} reports and {len(chunks)} passages behind the answer"
        summary = f"{behind}: {', '.join(chunks[:8]) or 'no passage is cited'}"
        return cls("cited", summary, reports=tuple(reports), chunks=tuple(chunks))


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
