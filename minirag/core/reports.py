"""Reports on communities, the contexts they are written from, and the index that holds both."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from .communities import Communities, Community
from .errors import MiniragError
from .files import dump_jsonl, read_jsonl, write_atomic
from .graph import Graph, check_places
from .trace import Step

Kind = Literal["node", "edge", "claim", "report"]
NAMES = {"node": "entities", "edge": "relationships", "claim": "claims", "report": "reports"}


@dataclass(frozen=True)
class Finding:
    """One insight of a report: a sentence, and a paragraph that says what it rests on."""

    summary: str
    explanation: str = ""

    @classmethod
    def several(cls, rows: Iterable[Mapping[str, str]]) -> "tuple[Finding, ...]":
        """Findings out of JSON."""
        return tuple(cls(row["summary"], row.get("explanation") or "") for row in rows)


@dataclass(frozen=True)
class Report:
    """What is known of a community. `source` says who wrote it: a rule, a person or a named model.

    Source: GraphRAG, Sec. 2.5
    """

    title: str
    summary: str
    rating: float = 0.0
    rating_explanation: str = ""
    findings: tuple[Finding, ...] = ()
    source: str = ""

    @cached_property
    def text(self) -> str:
        """The report as it enters a context window."""
        findings = [f"## {f.summary}\n\n{f.explanation}" for f in self.findings]
        parts = [f"# {self.title}", self.summary, *findings]
        return "\n\n".join(part for part in parts if part.strip())

    def to_json(self) -> str:
        """The report in the output format of the task that writes it."""
        fields = {name: value for name, value in asdict(self).items() if name != "source"}
        return json.dumps(fields, ensure_ascii=False, indent=1)


class Element(NamedTuple):
    """A node, an edge or a claim, by its position in the graph, or the report of a community, by
    that of the community.
    """

    kind: Kind
    place: int


@dataclass(frozen=True)
class ReportContext:
    """What one report is written from: elements, in the order in which they stand in `text`.

    kind: "elements" (all of them), "trimmed" (as many as fit) or "substituted" (reports of parts
    stand for their elements). left_out counts what did not fit, by name; `replaced` are the
    sub-communities whose report stands for their elements.
    """

    community: int
    kind: Literal["elements", "trimmed", "substituted"]
    items: tuple[Element, ...]
    text: str
    tokens: int
    left_out: Mapping[str, int]
    replaced: tuple[int, ...] = ()

    def __repr__(self) -> str:
        held = _counted(Counter(NAMES[item.kind] for item in self.items))
        lost = f"; left out: {_counted(self.left_out)}" if self.left_out else ""
        named = f"Context of community {self.community} ({self.kind})"
        return f"{named}: {held}, {self.tokens} tokens{lost}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"


@dataclass(frozen=True)
class CommunityIndex:
    """Communities, the report of each (by position), and the context it was written from."""

    communities: Communities
    reports: Mapping[int, Report]
    contexts: Mapping[int, ReportContext]
    source: str
    trace: tuple[Step, ...] = ()

    def __repr__(self) -> str:
        return f"CommunityIndex: {len(self.reports)} reports by {self.source}; {self.communities!r}"

    def at(self, level: int, union: bool = False) -> list[int]:
        """Positions of the communities of a level that have a report."""
        return [place for place in self.communities.at(level, union) if place in self.reports]

    def report(self, community: int | str) -> Report:
        """A report by position, or by the id that citations use."""
        places = {item.id: place for place, item in enumerate(self.communities.items)}
        place = community if isinstance(community, int) else places.get(community, -1)
        if place not in self.reports:
            known = ", ".join(self.communities.items[p].id for p in sorted(self.reports)[:8])
            raise MiniragError(f"No report on community {community!r}; the first are: {known}.")
        return self.reports[place]

    def drill_down(self, place: int) -> list[tuple[Community, Report | None]]:
        """Each sub-community of a community with its report, largest first; the way from a theme to
        its details.

        Source: GraphRAG, Sec. 2.5
        """
        items = self.communities.items
        children = sorted(items[place].children, key=lambda child: -len(items[child].members))
        return [(items[child], self.reports.get(child)) for child in children]

    def occurrence(self) -> dict[int, float]:
        """Community -> passages that name a member, over the most of any community with a report.

        GraphRAG's released code calls it the occurrence weight of a report.
        """
        items, nodes = self.communities.items, self.communities.graph.nodes
        named = {
            place: len({chunk for i in items[place].members for chunk in nodes[i].chunks})
            for place in self.reports
        }
        most = max(named.values(), default=0) or 1
        return {place: count / most for place, count in named.items()}

    def table(self, tokens: Callable[[str], int]) -> list[dict[str, int]]:
        """Units and tokens of each level: `[{"level": k, "units": ..., "tokens": ...}]`;
        tokens(text) counts.

        Source: GraphRAG, Table 3 (tab-3)
        """
        sizes = {place: tokens(report.text) for place, report in self.reports.items()}
        levels = map(self.at, range(len(self.communities.levels)))
        return [
            {"level": k, "units": len(places), "tokens": sum(sizes[place] for place in places)}
            for k, places in enumerate(levels)
        ]

    def save(self, folder: str | Path) -> Path:
        """Write graph, communities and reports to a folder; `communities.json` comes last. Contexts
        are not kept: the builder makes them again.
        """
        folder, communities = Path(folder), self.communities
        items = communities.items
        communities.graph.save(folder / "graph")
        reports = ({"community": items[p].id, **asdict(r)} for p, r in sorted(self.reports.items()))
        write_atomic(folder / "reports.jsonl", dump_jsonl(reports))
        kept = ("id", "level", "members", "parent")
        header = {
            "source": self.source,
            "divided_by": communities.source,
            "levels": communities.levels,
            "communities": [{name: getattr(item, name) for name in kept} for item in items],
            "trace": [{"operator": s.operator, "summary": s.summary} for s in self.trace],
        }
        write_atomic(folder / "communities.json", json.dumps(header, ensure_ascii=False) + "\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> "CommunityIndex":
        """Read what `save` wrote. Raises `MiniragError` where the index is not complete."""
        folder = Path(folder)
        path = folder / "communities.json"
        if not path.is_file():
            raise MiniragError(
                f"{folder} holds no saved community index: {path.name} is missing. Build it again."
            )
        header, graph = json.loads(path.read_text(encoding="utf-8")), Graph.load(folder / "graph")
        items = [
            Community(row["id"], row["level"], tuple(row["members"]), parent=row["parent"])
            for row in header["communities"]
        ]
        members = [place for item in items for place in item.members]
        check_places(members, len(graph.nodes), f"{folder} names members")
        named = [place for level in header["levels"] for place in level]
        named += [item.parent for item in items if item.parent is not None]
        check_places(named, len(items), f"{folder} names communities")
        places = {item.id: place for place, item in enumerate(items)}
        reports = {}
        for row in read_jsonl(folder / "reports.jsonl"):
            place, findings = places[row.pop("community")], Finding.several(row.pop("findings"))
            reports[place] = Report(**row, findings=findings)
        communities = Communities.of(graph, items, header["levels"], header["divided_by"])
        trace = tuple(Step(**row) for row in header["trace"])
        return cls(communities, reports, {}, header["source"], trace)
