"""What a community's report is written from: its elements in order of prominence, or reports on its
parts, token-exact.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from ..algorithms.packing import first_edges, prefix, prioritise, substitute
from ..text.tokens import count_tokens
from .mixed_contexts import mix

NAMES = {"node": "entities", "edge": "relationships", "claim": "claims", "report": "reports"}


@dataclass(frozen=True)
class Context:
    """The context of one report. `items` are ("node" | "edge" | "claim" | "report", position) in
    the order in which they stand in `text`.

    kind: "elements" (all of them), "trimmed" (as many as fit) or "substituted" (reports of parts
    stand for their elements). left_out counts what did not fit, by name; `replaced` are the
    sub-communities whose report stands for their elements.
    """

    community: int
    kind: str
    items: tuple[tuple[str, int], ...]
    text: str
    tokens: int
    left_out: dict
    replaced: tuple[int, ...] = ()

    def __repr__(self):
        held = Counter(NAMES[kind] for kind, _ in self.items)
        lost = f"; left out: {_counted(self.left_out)}" if self.left_out else ""
        return f"Context of community {self.community} ({self.kind}): {_counted(held)}, {self.tokens} tokens{lost}"


def _counted(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"


class ContextBuilder:
    """Builds report contexts for the communities of one graph; the text and size of an element are
    computed once.

    limit: tokens a context may have. count: text -> tokens, or the name of a tokenizer of
    `minirag.text.tokens`. substitution, every_edge, claims, whole_edges: see
    `minirag.index.reports.ReportChoices`.

    Source: GraphRAG, Sec. 2.5
    """

    def __init__(
        self, communities, limit=8000, count="regex", substitution=True, every_edge=True,
        claims=True, whole_edges=False,
    ):  # fmt: skip
        self.communities, self.graph, self.limit = communities, communities.graph, limit
        self.count = count if callable(count) else lambda text: count_tokens(text, count)
        self.substitution, self.every_edge = substitution, every_edge
        self.claims, self.whole_edges = claims, whole_edges
        self._sizes = {}

    @cached_property
    def degree(self):
        """Relations of each node in the whole graph: its prominence."""
        return Counter(
            node
            for edge in self.graph.edges
            if edge.kind == "relation"
            for node in {edge.source, edge.target}
        )

    @cached_property
    def claims_of(self):
        linked = {}
        for place, claim in enumerate(self.graph.claims if self.claims else ()):
            for node in dict.fromkeys([claim.subject, claim.object]):
                if node is not None:
                    linked.setdefault(node, []).append(place)
        return linked

    @cached_property
    def _relations_of(self):
        """Node -> positions of its relations, in the order of the graph."""
        found = {}
        for place, edge in enumerate(self.graph.edges):
            if edge.kind == "relation":
                for node in {edge.source, edge.target}:
                    found.setdefault(node, []).append(place)
        return found

    @cached_property
    def _at_level(self):
        """Level -> the nodes whose community was made at this level."""
        nodes = {}
        for community in self.communities.items:
            nodes.setdefault(community.level, set()).update(community.members)
        return nodes

    def relations(self, place):
        """Positions of the relations that a community's context is packed from.

        With `every_edge` those inside the community. Otherwise, as the released code has it, of
        each member the first relation with both ends at the community's level: its first as the
        source, else its first as the target. Such a relation may leave the community.
        """
        community = self.communities.items[place]
        if self.every_edge:
            return community.edges
        near = {e for node in community.members for e in self._relations_of.get(node, ())}
        level, rows = self._at_level[community.level], self._rows(near)
        kept = [row for row in rows if level.issuperset(row[1:])]
        return [edge for edge, *_ in first_edges(kept, community.members)]

    def _rows(self, edges):
        """(position, source, target) of relations, in the order of the graph."""
        return [(e, self.graph.edges[e].source, self.graph.edges[e].target) for e in sorted(edges)]

    def line(self, kind, place, reports=None):
        """One element as the single line that stands in a context."""
        if kind == "report":
            report = reports[place]
            findings = " ".join(f"{f.summary}. {f.explanation}" for f in report.findings)
            return _one_line(
                f"Report {self.communities.items[place].id}: {report.title}",
                f"{report.summary} {findings}",
            )
        name = lambda node: self.graph.nodes[node].name
        if kind == "node":
            node = self.graph.nodes[place]
            return _one_line(
                f"Entity {place}: {node.name}{f' ({node.type})' if node.type else ''}",
                node.description,
            )
        if kind == "edge":
            edge = self.graph.edges[place]
            return _one_line(
                f"Relationship {place}: {name(edge.source)} — {name(edge.target)}",
                f"{edge.name} {edge.description}",
            )
        claim = self.graph.claims[place]
        dates = " to ".join(date for date in dict.fromkeys([claim.start, claim.end]) if date)
        about = (
            f"{name(claim.subject)}{f', {name(claim.object)}' if claim.object is not None else ''}"
        )
        return _one_line(
            f"Claim {place}: {about}",
            f"{' '.join(part for part in (claim.type, claim.status, dates) if part)} {claim.description}",
        )

    def size(self, kind, place, reports=None):
        """Tokens of an element's line and the line break after it."""
        if kind == "report":
            return self.count(self.line(kind, place, reports) + "\n")
        key = kind, place
        if key not in self._sizes:
            self._sizes[key] = self.count(self.line(kind, place) + "\n")
        return self._sizes[key]

    def elements(self, *places):
        """The elements of a community, or of several together, in the order of the leaf rule."""
        members = {node for place in places for node in self.communities.items[place].members}
        rows = self._rows({edge for place in places for edge in self.relations(place)})
        touched = {node for _, *ends in rows for node in ends}
        alone = sorted(members - touched) if self.every_edge else ()
        claims = {node: self.claims_of.get(node, ()) for node in members}
        found = prioritise(rows, self.degree, claims, alone)
        return [item for item in found if item[0] != "node" or item[1] in members]

    def build(self, place, reports=None):
        """The `Context` of a community. `reports`: position -> Report of the sub-communities; one
        without a report keeps its elements.

        Source: GraphRAG, Sec. 2.5 (sec-2.5-leaf, sec-2.5-higher)
        """
        items, reports = self.elements(place), reports or {}
        parts = [part for part in self.communities.items[place].children if part in reports]
        if not parts or not self.substitution or self._tokens(items) <= self.limit:
            return self._context(place, items)
        if self.substitution == "released":
            return self._context(place, *mix(self, place, reports), reports)
        return self._context(place, *self._substituted(items, parts, reports), reports)

    def _tokens(self, items, reports=None):
        return sum(self.size(*item, reports) for item in items)

    def _substituted(self, items, parts, reports):
        """`(items, replaced, dropped)`: parts give way to their reports, until the rest fits.

        Parts with most tokens of elements go first. Elements that no reported part holds, such as
        relations between two of them, stay. When not even all reports and those fit together,
        reports go first, then what else fits in the order of the leaf rule; parts whose report did
        not fit are `dropped`.
        """
        home = {item: part for part in parts for item in self._inside(part)}
        loads, stay = dict.fromkeys(parts, 0), 0
        for item in items:
            if item in home:
                loads[home[item]] += self.size(*item)
            else:
                stay += self.size(*item)
        lines = {part: self.size("report", part, reports) for part in parts}
        chosen, _, unfit = substitute([(loads[p], lines[p]) for p in parts], self.limit - stay)
        replaced, dropped = [parts[i] for i in chosen], []
        if unfit:
            ranked = sorted(parts, key=lambda part: -loads[part])
            fit = prefix([lines[part] for part in ranked], self.limit)
            replaced, dropped = ranked[:fit], ranked[fit:]
        gone = {*replaced, *dropped}
        kept = [item for item in items if home.get(item) not in gone]
        return [("report", part) for part in replaced] + kept, replaced, dropped

    def _inside(self, place):
        """All nodes, relations and claims of a community, in no particular order."""
        community = self.communities.items[place]
        yield from (("node", node) for node in community.members)
        yield from (("edge", edge) for edge in community.edges)
        for node in community.members:
            yield from (("claim", claim) for claim in self.claims_of.get(node, ()))

    def _context(self, place, wanted, replaced=(), dropped=(), reports=None):
        """The wanted items that fit, as a `Context`; `dropped`: parts whose report did not fit."""
        used = list(accumulate((self.size(*item, reports) for item in wanted), initial=0))
        stops = self._stops(wanted)
        ends = [stop for stop in stops if used[stop] <= self.limit] or stops[:1]
        lines = [self.line(*item, reports) for item in wanted[: ends[-1]]]
        # A tokenizer may count the whole as more than its lines.
        while (tokens := self.count("\n".join(lines))) > self.limit and len(ends) > 1:
            ends.pop()
            del lines[ends[-1] :]
        kept = tuple(wanted[: len(lines)])
        left = wanted[len(lines) :] + [("report", part) for part in dropped]
        kind = "substituted" if replaced or dropped else "trimmed" if left else "elements"
        left_out = dict(Counter(NAMES[name] for name, _ in left))
        text = "\n".join(lines)
        return Context(place, kind, kept, text, tokens, left_out, tuple(replaced))

    def _stops(self, items):
        """Lengths a context may be cut to; `whole_edges`: none inside what an edge brings, nor 0."""
        if not self.whole_edges:
            return range(len(items) + 1)
        last = max((i for i, (kind, _) in enumerate(items) if kind == "edge"), default=-1)
        closed = lambda i: i > last or items[i][0] in ("edge", "report")
        return [i + 1 for i in range(len(items)) if closed(i)] or [0]


def _one_line(name, said):
    """Name and words of an element on one line, so that no text can pass for another element."""
    return " | ".join(part for part in (" ".join(name.split()), " ".join(said.split())) if part)
