"""Community reports: written level by level from the bottom, so that a report on the whole can rest
on reports of its parts.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from ..core.errors import MiniragError
from ..core.files import dump_jsonl, read_jsonl, write_atomic
from ..core.graph import Graph, check_places
from ..core.options import Options, Positive, choose
from ..core.trace import Step
from ..prompts.community_report import Finding, Report
from .communities import Communities, Community, with_elements
from .contexts import Context, ContextBuilder


@dataclass(frozen=True)
class ReportChoices(Options):
    """How the context of a report is chosen. The defaults are the paper's; `CODE` holds what the
    released code does instead.

    limit: tokens of a context (the paper names no number, the code has 8000). max_words: what a
    report may be long.
    substitution: reports of sub-communities stand for their elements where these do not fit (G1:
    dead in current releases, elements are cut). "released" is the rule that those releases hold and
    never reach: see `minirag.index.mixed_contexts`.
    every_edge: consider every relation inside a community (G2: the code keeps one a node, its first
    among those of the level; some leave the community, whose nodes without such a relation are not
    described).
    claims: covariates enter with their nodes (G3: in the code they never appear).
    whole_edges: a relation enters together with its nodes and claims or not at all, and the first
    one always, however large (code).
    """

    limit: Positive = 8000
    max_words: Positive = 1500
    substitution: bool | Literal["released"] = True
    every_edge: bool = True
    claims: bool = True
    whole_edges: bool = False


CODE = {
    "max_words": 2000, "substitution": False, "every_edge": False, "claims": False,
    "whole_edges": True,
}  # fmt: skip


def context_builder(communities, choices, count="regex"):
    """The `ContextBuilder` of these communities with the choices of a `ReportChoices`."""
    return ContextBuilder(
        communities, choices.limit, count, choices.substitution, choices.every_edge,
        choices.claims, choices.whole_edges,
    )  # fmt: skip


@dataclass(frozen=True)
class CommunityIndex:
    """Communities, the report of each (by position), and the context each report was written from."""

    communities: Communities
    reports: Mapping[int, Report]
    contexts: Mapping[int, Context]
    source: str
    trace: tuple[Step, ...] = ()

    def __repr__(self):
        return f"CommunityIndex: {len(self.reports)} reports by {self.source}; {self.communities!r}"

    def at(self, level, union=False):
        """Positions of the communities of a level that have a report."""
        return [place for place in self.communities.at(level, union) if place in self.reports]

    def report(self, community):
        """A report by position, or by the id that citations use."""
        places = {item.id: place for place, item in enumerate(self.communities.items)}
        place = places.get(community, community)
        if place not in self.reports:
            known = ", ".join(self.communities.items[p].id for p in sorted(self.reports)[:8])
            raise MiniragError(f"No report on community {community!r}; the first are: {known}.")
        return self.reports[place]

    def drill_down(self, place):
        """`(community, report)` of each sub-community of one, largest first; the way from a theme
        to its details.

        Source: GraphRAG, Sec. 2.5
        """
        items = self.communities.items
        return [
            (items[child], self.reports.get(child))
            for child in sorted(items[place].children, key=lambda c: -len(items[c].members))
        ]

    def occurrence(self):
        """Community -> passages that name a member, over the most of any community with a report.

        GraphRAG's released code calls it the occurrence weight of a report.
        """
        items, nodes = self.communities.items, self.communities.graph.nodes
        read = lambda place: {chunk for i in items[place].members for chunk in nodes[i].chunks}
        named = {place: len(read(place)) for place in self.reports}
        most = max(named.values(), default=0) or 1
        return {place: count / most for place, count in named.items()}

    def table(self, tokens):
        """Units and tokens of each level: `[{"level": k, "units": ..., "tokens": ...}]`;
        tokens(text) counts.

        Source: GraphRAG, Table 3 (tab-3)
        """
        sizes = {place: tokens(report.text) for place, report in self.reports.items()}
        levels = range(len(self.communities.levels))
        return [
            {"level": k, "units": len(self.at(k)), "tokens": sum(sizes[p] for p in self.at(k))}
            for k in levels
        ]


def write_reports(
    communities, llm, follow="paper", count="regex", executor=None, given=None, **choices
):
    """Write the report of every community, the deepest first: a `CommunityIndex`.

    given: frozenset of member names -> Report, for reports that somebody wrote before; these are
    not asked for again.
    count: tokenizer or function. executor: any `concurrent.futures.Executor`, used level by level.
    A reply without a readable report leaves its community without one; its parent then keeps its
    elements. What did not fit is counted in the trace.

    Source: GraphRAG, Sec. 2.5
    """
    chosen, given = choose(ReportChoices, {"paper": {}, "code": CODE}, follow, choices), given or {}
    builder = context_builder(communities, chosen, count)
    name = [node.name for node in communities.graph.nodes]
    reports, contexts, trace = {}, {}, []
    for level in reversed(range(len(communities.levels))):
        places = [
            place for place in communities.levels[level] if communities.items[place].level == level
        ]
        for place in places:
            contexts[place] = builder.build(place, reports)
        known = (
            {p: given.get(frozenset(name[i] for i in communities.items[p].members)) for p in places}
            if given
            else {}
        )
        asked = [place for place in places if known.get(place) is None]
        rows = [{"context": contexts[place].text, "max_words": chosen.max_words} for place in asked]
        written = llm.map(
            "community_report", rows, executor=executor, description=f"reports of level {level}"
        )
        found = {
            place: replace(report, source=llm.name)
            for place, report in zip(asked, written)
            if report is not None
        }
        reports |= found | {place: report for place, report in known.items() if report is not None}
        trace.append(
            _step(
                level,
                [contexts[place] for place in places],
                len(asked) - len(found),
                len(places) - len(asked),
            )
        )
    sources = dict.fromkeys(report.source for report in reports.values())
    return CommunityIndex(
        communities, reports, contexts, " and ".join(sources) or llm.name, tuple(trace[::-1])
    )


def _step(level, contexts, missing, given):
    kinds = Counter(context.kind for context in contexts)
    lost = sum((Counter(context.left_out) for context in contexts), Counter())
    summary = f"level {level}: {len(contexts)} contexts ({', '.join(f'{n} {kind}' for kind, n in kinds.items()) or 'none'})"
    summary += (
        f"; left out: {', '.join(f'{n} {kind}' for kind, n in lost.items())}"
        if lost
        else "; nothing left out"
    )
    summary += f"; {given} given" * bool(given) + f"; {missing} without a readable report" * bool(
        missing
    )
    return Step(
        "community reports",
        summary,
        (),
        {"left_out": dict(lost), "missing": missing, "kinds": dict(kinds)},
    )


def save_index(index, folder):
    """Write graph, communities and reports to a folder; `communities.json` comes last. Contexts are
    not kept: the builder makes them again.
    """
    folder, items = Path(folder), index.communities.items
    index.communities.graph.save(folder / "graph")
    write_atomic(
        folder / "reports.jsonl",
        dump_jsonl(
            {"community": items[p].id, **asdict(r)} for p, r in sorted(index.reports.items())
        ),
    )
    rows = [{"id": c.id, "level": c.level, "members": c.members, "parent": c.parent} for c in items]
    trace = [{"operator": step.operator, "summary": step.summary} for step in index.trace]
    header = {
        "source": index.source,
        "divided_by": index.communities.source,
        "levels": index.communities.levels,
        "communities": rows,
        "trace": trace,
    }
    write_atomic(folder / "communities.json", json.dumps(header, ensure_ascii=False) + "\n")
    return folder


def load_index(folder):
    """Read what `save_index` wrote. Raises `MiniragError` where the folder holds no complete index."""
    folder = Path(folder)
    if not (folder / "communities.json").is_file():
        raise MiniragError(
            f"{folder} holds no saved community index: communities.json is missing. Build it again."
        )
    header, graph = (
        json.loads((folder / "communities.json").read_text(encoding="utf-8")),
        Graph.load(folder / "graph"),
    )
    items = [
        Community(row["id"], row["level"], tuple(row["members"]), parent=row["parent"])
        for row in header["communities"]
    ]
    levels = tuple(map(tuple, header["levels"]))
    members = [place for item in items for place in item.members]
    check_places(members, len(graph.nodes), f"{folder} names members")
    named = [place for level in levels for place in level]
    named += [item.parent for item in items if item.parent is not None]
    check_places(named, len(items), f"{folder} names communities")
    communities = Communities(
        graph, with_elements(graph, items, levels), levels, header["divided_by"]
    )
    places = {item.id: place for place, item in enumerate(items)}
    reports = {}
    for row in read_jsonl(folder / "reports.jsonl"):
        place, findings = (
            places[row.pop("community")],
            tuple(Finding(**finding) for finding in row.pop("findings")),
        )
        reports[place] = Report(**row, findings=findings)
    return CommunityIndex(
        communities, reports, {}, header["source"], tuple(Step(**step) for step in header["trace"])
    )
