"""What a community's report is written from: its elements in order of prominence, or reports on its parts, token-exact."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from ..algorithms.packing import prefix, prioritise, substitute
from ..tokens import count_tokens

NAMES = {"node": "entities", "edge": "relationships", "claim": "claims", "report": "reports"}


@dataclass(frozen=True)
class Context:
    """The context of one report. `items` are ("node" | "edge" | "claim" | "report", position) in the order in which they stand in `text`.

    kind: "elements" (all of them), "trimmed" (as many as fit) or "substituted" (reports of parts stand for their elements).
    left_out counts what did not fit, by name; `replaced` are the sub-communities whose report stands for their elements.
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
    """Builds report contexts for the communities of one graph; the text and size of an element are computed once.

    limit: tokens a context may have. count: text -> tokens, or the name of a tokenizer of `minirag.tokens`.
    substitution, every_edge, claims: see `minirag.index.reports.ReportChoices`.

    Source: GraphRAG, Sec. 2.5
    """

    def __init__(self, communities, limit=8000, count="regex", substitution=True, every_edge=True, claims=True):
        self.communities, self.graph, self.limit = communities, communities.graph, limit
        self.count = count if callable(count) else lambda text: count_tokens(text, count)
        self.substitution, self.every_edge, self.claims = substitution, every_edge, claims
        self._sizes = {}

    @cached_property
    def degree(self):
        """Relations of each node in the whole graph: its prominence."""
        return Counter(node for edge in self.graph.edges if edge.kind == "relation" for node in {edge.source, edge.target})

    @cached_property
    def claims_of(self):
        linked = {}
        for place, claim in enumerate(self.graph.claims if self.claims else ()):
            for node in dict.fromkeys([claim.subject, claim.object]):
                if node is not None:
                    linked.setdefault(node, []).append(place)
        return linked

    @cached_property
    def _first(self):
        """Node -> the one relation that the released code keeps for it: its first as a source, else its first as a target."""
        source, target = {}, {}
        for place, edge in enumerate(self.graph.edges):
            if edge.kind == "relation":
                source.setdefault(edge.source, place)
                target.setdefault(edge.target, place)
        return {**target, **source}

    def line(self, kind, place, reports=None):
        """One element as the single line that stands in a context."""
        if kind == "report":
            report = reports[place]
            findings = " ".join(f"{f.summary}. {f.explanation}" for f in report.findings)
            return _one_line(f"Report {self.communities.items[place].id}: {report.title}", f"{report.summary} {findings}")
        name = lambda node: self.graph.nodes[node].name
        if kind == "node":
            node = self.graph.nodes[place]
            return _one_line(f"Entity {place}: {node.name}{f' ({node.type})' if node.type else ''}", node.description)
        if kind == "edge":
            edge = self.graph.edges[place]
            return _one_line(f"Relationship {place}: {name(edge.source)} — {name(edge.target)}", f"{edge.name} {edge.description}")
        claim = self.graph.claims[place]
        dates = " to ".join(date for date in dict.fromkeys([claim.start, claim.end]) if date)
        about = f"{name(claim.subject)}{f', {name(claim.object)}' if claim.object is not None else ''}"
        return _one_line(f"Claim {place}: {about}", f"{' '.join(part for part in (claim.type, claim.status, dates) if part)} {claim.description}")

    def size(self, kind, place):
        """Tokens of an element's line and the line break after it."""
        key = kind, place
        if key not in self._sizes:
            self._sizes[key] = self.count(self.line(kind, place) + "\n")
        return self._sizes[key]

    def elements(self, place, within=None):
        """The elements of a community in the order of the leaf rule; `within`: only these edges and, alone, these nodes."""
        community = self.communities.items[place]
        members, edges = within or (community.members, community.edges)
        if not self.every_edge:
            edges = sorted({self._first[node] for node in members if node in self._first})
        rows = [(e, self.graph.edges[e].source, self.graph.edges[e].target) for e in edges]
        touched = {node for _, *ends in rows for node in ends}
        return prioritise(rows, self.degree, self.claims_of, [node for node in members if node not in touched])

    def build(self, place, reports=None):
        """The `Context` of a community. `reports`: position -> Report of the sub-communities; one without a report keeps its elements.

        Source: GraphRAG, Sec. 2.5 (sec-2.5-leaf, sec-2.5-higher)
        """
        items = self.elements(place)
        sizes = [self.size(*item) for item in items]
        children = self.communities.items[place].children
        if sum(sizes) <= self.limit:
            return self._finish(place, "elements", items, [], reports)
        if not (children and self.substitution and reports):
            fit = prefix(sizes, self.limit)
            return self._finish(place, "trimmed", items[:fit], items[fit:], reports)
        return self._substituted(place, items, dict(zip(items, sizes)), [c for c in children if c in reports], reports)

    def _substituted(self, place, items, sizes, children, reports):
        """Sub-communities in decreasing order of their elements' tokens give way to their reports, until the rest fits.

        Elements that no reported sub-community holds, such as relations between two of them, stay. When not even all reports and those fit
        together, reports go first, then what else fits in the order of the leaf rule.
        """
        home = {}
        for child in children:
            inside = self.communities.items[child]
            home.update({("node", n): child for n in inside.members} | {("edge", e): child for e in inside.edges})
            home.update({("claim", c): child for n in inside.members for c in self.claims_of.get(n, ())})
        loads = Counter()
        for item in items:
            loads[home.get(item)] += sizes[item]
        lines = {child: self.count(self.line("report", child, reports) + "\n") for child in children}
        rows = [(loads[child], lines[child]) for child in children]
        room = self.limit - loads[None]
        replaced, _, dropped = substitute(rows, room) if room >= 0 else ([], [], [True])
        if dropped:
            ranked = sorted(range(len(rows)), key=lambda i: -rows[i][0])
            fit = prefix([rows[i][1] for i in ranked], self.limit)
            replaced, dropped = ranked[:fit], ranked[fit:]
        gone = {children[i] for i in replaced + dropped}
        kept = [("report", children[i]) for i in replaced] + [item for item in items if home.get(item) not in gone]
        used = [lines[child] if kind == "report" else sizes[kind, child] for kind, child in kept]
        fit = prefix(used, self.limit)
        left = kept[fit:] + [("report", children[i]) for i in dropped]
        return self._finish(place, "substituted", kept[:fit], left, reports, tuple(children[i] for i in replaced))

    def _finish(self, place, kind, kept, left, reports, replaced=()):
        """Join the lines; should a tokenizer count the whole as more than its parts, the last lines go until it fits."""
        lines, left = [self.line(*item, reports) for item in kept], list(left)
        text = "\n".join(lines)
        while (tokens := self.count(text)) > self.limit and lines:
            left.append(kept[len(lines) - 1])
            lines.pop()
            text = "\n".join(lines)
        kept = tuple(kept[: len(lines)])
        return Context(place, "trimmed" if left and kind == "elements" else kind, kept, text, tokens, dict(Counter(NAMES[k] for k, _ in left)), replaced)


def _one_line(name, said):
    """Name and words of an element on one line, so that no text can pass for another element."""
    return " | ".join(part for part in (" ".join(name.split()), " ".join(said.split())) if part)
