"""Communities and reports that were written once and kept: beside a shipped corpus, keyed by the
names of their members.
"""

from dataclasses import replace

from ..core.errors import MiniragError
from ..prompts.community_report import Finding, Report
from .communities import gather
from .reports import CommunityIndex


def report_rows(index):
    """The rows to keep: one JSON object a community: its id, its first level, the names of its
    members and its report.
    """
    graph = index.communities.graph
    for place, report in sorted(index.reports.items()):
        item = index.communities.items[place]
        findings = [{"summary": f.summary, "explanation": f.explanation} for f in report.findings]
        fields = {
            "title": report.title,
            "summary": report.summary,
            "rating": report.rating,
            "rating_explanation": report.rating_explanation,
        }
        members = sorted(graph.nodes[i].name for i in item.members)
        yield {
            "community": item.id,
            "level": item.level,
            "members": members,
            **fields,
            "findings": findings,
            "source": report.source,
        }


def read_report_rows(rows, source=""):
    """`{frozenset of member names: Report}` out of such rows; a row without members, title or
    summary is an error that names it.
    """
    found = {}
    for number, row in enumerate(rows, start=1):
        missing = [key for key in ("members", "title", "summary") if not row.get(key)]
        if missing:
            raise MiniragError(
                f"Report {number} has no {missing[0]!r}; each needs members, title, summary, rating and findings."
            )
        findings = tuple(
            Finding(f["summary"], f.get("explanation", "")) for f in row.get("findings", ())
        )
        rating = float(row.get("rating", 0.0))
        why, wrote = row.get("rating_explanation", ""), row.get("source") or source
        found[frozenset(row["members"])] = Report(
            row["title"], row["summary"], rating, why, findings, wrote
        )
    return found


def frozen_index(graph, rows, source="the corpus's writers"):
    """The division and the reports that such rows keep, over the graph they were made for: a
    `CommunityIndex`.

    A community that no row of the next level splits stands on that level too. Raises `MiniragError`
    for a member that is no node of the graph, or for communities of one level that overlap; nodes
    that no row names stay without a community.
    """
    rows = list(rows)
    if unknown := sorted(
        {name for row in rows for name in row.get("members", ())} - set(graph.position)
    ):
        raise MiniragError(
            f"The reports speak of {unknown[0]!r}, which is no node of the graph: they belong to another one. Divide and write anew."
        )
    levels = []
    for depth in range(max((int(row.get("level", 0)) for row in rows), default=-1) + 1):
        here = [
            {graph.position[name] for name in row["members"]}
            for row in rows
            if int(row.get("level", 0)) == depth
        ]
        covered = set().union(*here)
        if sum(map(len, here)) != len(covered):
            raise MiniragError(
                f"Two reports of level {depth} share a member: a level divides the nodes, so that each has one community."
            )
        levels.append(
            here + [members for members in (levels[-1] if levels else []) if not members & covered]
        )
    communities = gather(graph, levels, "a division kept with its reports")
    ids = {
        frozenset(graph.position[name] for name in row["members"]): row["community"]
        for row in rows
        if row.get("community")
    }
    items = tuple(
        replace(item, id=ids.get(frozenset(item.members), item.id)) for item in communities.items
    )
    if len({item.id for item in items}) < len(items):
        raise MiniragError(
            "Two communities of the reports have the same id: ids must be unique, for answers cite them."
        )
    communities = replace(communities, items=items)
    reports = {
        frozenset(graph.position[name] for name in names): report
        for names, report in read_report_rows(rows, source).items()
    }
    found = {
        place: reports[frozenset(item.members)]
        for place, item in enumerate(communities.items)
        if frozenset(item.members) in reports
    }
    return CommunityIndex(
        communities,
        found,
        {},
        " and ".join(dict.fromkeys(report.source for report in found.values())),
    )
