"""From what a report or an answer cites back to the passages: entities, relationships, claims and
reports by number, or passage ids.
"""

import re
from typing import NamedTuple

from ..core.reports import CommunityIndex

BRACKET = re.compile(r"\[([^\[\]]{1,600})\]")
NUMBERED = re.compile(
    r"\b(report|entit|relationship|claim)(?:s|y|ies)?\s*\(([^()]*)\)", re.IGNORECASE
)


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
