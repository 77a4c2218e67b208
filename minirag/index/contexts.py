"""What a community's report is written from: its elements in order of prominence, or reports on its
parts, token-exact.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

from ..algorithms.report_elements import first_edges, prefix, prioritise, substitute
from ..core.communities import Communities
from ..core.graph import Claim
from ..core.options import Options, Positive
from ..core.reports import NAMES, Element, Report, ReportContext
from ..text.tokens import TokenCounter, count_tokens

Reports = Mapping[int, Report]  # position of a community -> its report


@dataclass(frozen=True)
class TokenOptions(Options):
    """count: tokenizer, or text -> tokens."""

    count: TokenCounter = "regex"


@dataclass(frozen=True)
class ReportOptions(TokenOptions):
    """How the context of a report is chosen. The defaults are the paper's; `CODE` holds what the
    released code does instead.

    limit: tokens of a context (the paper names no number, the code has 8000).
    max_words: what a report may be long.
    substitution: reports of sub-communities stand for their elements where these do not fit
        (current releases never do so and cut elements). "released" is the rule that those releases
        hold and never reach: see `ContextBuilder.mixed`.
    every_edge: consider every relation inside a community (the code keeps one for each node, its
        first among those of the level; some leave the community, whose nodes without such a
        relation are not described).
    claims: covariates enter with their nodes (in the code they never appear).
    whole_edges: a relation enters together with its nodes and claims or not at all, and the first
        one always, however large (code).
    """

    limit: Positive = 8000
    max_words: Positive = 1500
    substitution: bool | Literal["released"] = True
    every_edge: bool = True
    claims: bool = True
    whole_edges: bool = False


PAPER = ReportOptions()
CODE: Mapping[str, object] = {
    "max_words": 2000, "substitution": False, "every_edge": False, "claims": False,
    "whole_edges": True,
}  # fmt: skip


class Chosen(NamedTuple):
    """What a context is to hold, in order, with the sub-communities whose report stands for their
    elements, and those whose report did not fit either.
    """

    items: list[Element]
    replaced: Sequence[int] = ()
    dropped: Sequence[int] = ()


class ContextBuilder:
    """Builds report contexts for the communities of one graph; the text and size of an element are
    computed once.

    Source: GraphRAG, Sec. 2.5
    """

    def __init__(self, communities: Communities, options: ReportOptions = PAPER) -> None:
        self.communities, self.graph, self.options = communities, communities.graph, options
        self._sizes: dict[Element, int] = {}

    def build(self, place: int, reports: Reports | None = None) -> ReportContext:
        """The context of a community. `reports`: position -> Report of the sub-communities; one
        without a report keeps its elements.

        Source: GraphRAG, Sec. 2.5 (sec-2.5-leaf, sec-2.5-higher)
        """
        # "Leaf-level communities": elements by prominence, until the limit is reached.
        items, reports = self.elements(place), reports or {}
        # "Higher-level communities": the same where all fit, else reports of sub-communities.
        parts = [part for part in self.communities.items[place].children if part in reports]
        fits = sum(map(self.size, items)) <= self.options.limit
        if fits or not parts or not self.options.substitution:
            return self._cut(place, Chosen(items), reports)
        if self.options.substitution == "released":
            return self._cut(place, self.mixed(place, reports), reports)
        return self._cut(place, self.substituted(items, parts, reports), reports)

    def elements(self, *places: int) -> list[Element]:
        """The elements of a community, or of several together, in the order of the leaf rule."""
        members = {node for place in places for node in self.communities.items[place].members}
        rows = self._rows({edge for place in places for edge in self.relations(place)})
        touched = {node for _, *ends in rows for node in ends}
        alone = sorted(members - touched) if self.options.every_edge else ()
        claims = {node: self.claims_of.get(node, ()) for node in members}
        found = [Element(*item) for item in prioritise(rows, self.degree, claims, alone)]
        return [item for item in found if item.kind != "node" or item.place in members]

    def substituted(self, items: list[Element], parts: Sequence[int], reports: Reports) -> Chosen:
        """Parts give way to their reports, until the rest fits.

        Parts with most tokens of elements go first. Elements that no reported part holds, such as
        relations between two of them, stay. When not even all reports and those fit together,
        reports go first, then what else fits in the order of the leaf rule.
        """
        home = {item: part for part in parts for item in self._inside(part)}
        loads, staying = dict.fromkeys(parts, 0), 0
        for item in items:
            if item in home:
                loads[home[item]] += self.size(item)
            else:
                staying += self.size(item)
        lines = {part: self.size(Element("report", part), reports) for part in parts}
        rows = [(loads[part], lines[part]) for part in parts]
        chosen, _, unfit = substitute(rows, self.options.limit - staying)
        replaced, dropped = [parts[i] for i in chosen], list[int]()
        if unfit:
            ranked = sorted(parts, key=lambda part: -loads[part])
            fit = prefix([lines[part] for part in ranked], self.options.limit)
            replaced, dropped = ranked[:fit], ranked[fit:]
        gone = {*replaced, *dropped}
        kept = [item for item in items if home.get(item) not in gone]
        return Chosen([*_as_reports(replaced), *kept], replaced, dropped)

    def mixed(self, place: int, reports: Reports) -> Chosen:
        """As the released code has it: sub-communities, those with the largest contexts first, give
        way to their reports until the reports and the elements of the others fit.

        Release v3.1.2 holds this code and never reaches it: it builds all contexts before the first
        report is written. Three things differ from the paper's rule: relations between two
        sub-communities are lost; a sub-community without a report loses its elements all the same;
        where nothing fits, reports stand alone, up to the first that does not fit.

        Source: GraphRAG, Sec. 2.5 (sec-2.5-higher)
        """
        parts = self.communities.items[place].children
        ranked = sorted(parts, key=lambda part: -sum(map(self.size, self.elements(part))))
        for number in range(1, len(ranked) + 1):
            written = [part for part in ranked[:number] if part in reports]
            items = _as_reports(written) + self.elements(*ranked[number:])
            if sum(self.size(item, reports) for item in items) <= self.options.limit:
                return Chosen(items, ranked[:number])
        sizes = [self.size(Element("report", p), reports) if p in reports else 0 for p in ranked]
        fit = prefix(sizes, self.options.limit)
        written = [part for part in ranked[:fit] if part in reports]
        return Chosen(_as_reports(written), ranked[:fit], ranked[fit:])

    def _cut(self, place: int, chosen: Chosen, reports: Reports) -> ReportContext:
        """The context of the chosen items, as many as fit."""
        limit, items = self.options.limit, chosen.items
        used = list(accumulate((self.size(item, reports) for item in items), initial=0))
        allowed = self._lengths(items)
        lengths = [length for length in allowed if used[length] <= limit] or [allowed[0]]
        lines = [self.line(item, reports) for item in items[: lengths[-1]]]
        # A tokenizer may count the whole as more than its lines.
        while (tokens := self.count("\n".join(lines))) > limit and len(lengths) > 1:
            lengths.pop()
            del lines[lengths[-1] :]
        left = items[len(lines) :] + _as_reports(chosen.dropped)
        whole: Literal["trimmed", "elements"] = "trimmed" if left else "elements"
        return ReportContext(
            place,
            "substituted" if chosen.replaced or chosen.dropped else whole,
            tuple(items[: len(lines)]),
            "\n".join(lines),
            tokens,
            dict(Counter(NAMES[item.kind] for item in left)),
            tuple(chosen.replaced),
        )

    def _lengths(self, items: list[Element]) -> Sequence[int]:
        """Numbers of items that a context may be cut to. With `whole_edges` none lies inside what a
        relation brings, and there is no empty context.
        """
        if not self.options.whole_edges:
            return range(len(items) + 1)
        last = max((i for i, item in enumerate(items) if item.kind == "edge"), default=-1)
        closing = (i for i, item in enumerate(items) if i > last or item.kind in ("edge", "report"))
        return [i + 1 for i in closing] or [0]

    def relations(self, place: int) -> Sequence[int]:
        """Positions of the relations that a community's context is packed from.

        With `every_edge` those inside the community. Otherwise, as the released code has it, of
        each member the first relation with both ends at the community's level: its first as the
        source, else its first as the target. Such a relation may leave the community.
        """
        community = self.communities.items[place]
        if self.options.every_edge:
            return community.edges
        near = {e for node in community.members for e in self._relations_of.get(node, ())}
        level, rows = self._at_level[community.level], self._rows(near)
        kept = [row for row in rows if level.issuperset(row[1:])]
        return [edge for edge, *_ in first_edges(kept, community.members)]

    def line(self, item: Element, reports: Reports | None = None) -> str:
        """One element as the single line that stands in a context."""
        graph, place = self.graph, item.place
        if item.kind == "report":
            report, id = (reports or {})[place], self.communities.items[place].id
            findings = " ".join(f"{f.summary}. {f.explanation}" for f in report.findings)
            return _one_line(f"Report {id}: {report.title}", f"{report.summary} {findings}")
        if item.kind == "node":
            node = graph.nodes[place]
            kind = f" ({node.type})" if node.type else ""
            return _one_line(f"Entity {place}: {node.name}{kind}", node.description)
        if item.kind == "edge":
            edge = graph.edges[place]
            ends = f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}"
            return _one_line(f"Relationship {place}: {ends}", f"{edge.name} {edge.description}")
        claim = graph.claims[place]
        ends = ", ".join(
            graph.nodes[i].name for i in (claim.subject, claim.object) if i is not None
        )
        return _one_line(f"Claim {place}: {ends}", claim_text(claim))

    def size(self, item: Element, reports: Reports | None = None) -> int:
        """Tokens of an element's line and the line break after it."""
        if item.kind == "report":
            return self.count(self.line(item, reports) + "\n")
        if item not in self._sizes:
            self._sizes[item] = self.count(self.line(item) + "\n")
        return self._sizes[item]

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return count_tokens(text, self.options.count)

    @cached_property
    def degree(self) -> Mapping[int, int]:
        """Relations of each node in the whole graph: its prominence."""
        return Counter({node: len(edges) for node, edges in self._relations_of.items()})

    @cached_property
    def claims_of(self) -> dict[int, list[int]]:
        """Node -> positions of the claims about it or its relation to another."""
        linked: dict[int, list[int]] = {}
        for place, claim in enumerate(self.graph.claims if self.options.claims else ()):
            for node in dict.fromkeys([claim.subject, claim.object]):
                if node is not None:
                    linked.setdefault(node, []).append(place)
        return linked

    @cached_property
    def _relations_of(self) -> dict[int, list[int]]:
        """Node -> positions of its relations, in the order of the graph."""
        found: dict[int, list[int]] = {}
        for place, edge in enumerate(self.graph.edges):
            if edge.kind == "relation":
                for node in {edge.source, edge.target}:
                    found.setdefault(node, []).append(place)
        return found

    @cached_property
    def _at_level(self) -> dict[int, set[int]]:
        """Level -> the nodes whose community was made at this level."""
        nodes: dict[int, set[int]] = {}
        for community in self.communities.items:
            nodes.setdefault(community.level, set()).update(community.members)
        return nodes

    def _rows(self, edges: set[int]) -> list[tuple[int, int, int]]:
        """(position, source, target) of relations, in the order of the graph."""
        return [(e, self.graph.edges[e].source, self.graph.edges[e].target) for e in sorted(edges)]

    def _inside(self, place: int) -> Iterator[Element]:
        """All nodes, relations and claims of a community, in no particular order."""
        community = self.communities.items[place]
        yield from (Element("node", node) for node in community.members)
        yield from (Element("edge", edge) for edge in community.edges)
        for node in community.members:
            yield from (Element("claim", claim) for claim in self.claims_of.get(node, ()))


def claim_text(claim: Claim) -> str:
    """A claim as a line of text: type, status, dates, description."""
    dates = " to ".join(date for date in dict.fromkeys([claim.start, claim.end]) if date)
    return " ".join(filter(None, (claim.type, claim.status, dates, claim.description)))


def _as_reports(places: Sequence[int]) -> list[Element]:
    return [Element("report", place) for place in places]


def _one_line(name: str, text: str) -> str:
    """Name and words of an element on one line, so that no text can pass for another element."""
    return " | ".join(part for part in (" ".join(name.split()), " ".join(text.split())) if part)
