"""The community index: a graph divided at every level, how good and how sure a division is, and the
reports on its communities, written from the bottom up or taken from rows that were kept.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import mean, median
from typing import Any, Literal

from ..algorithms.communities import hierarchy, modularity
from ..core.communities import Communities, Community, weighted_network
from ..core.corpus import Corpus
from ..core.errors import MiniragError
from ..core.files import read_jsonl
from ..core.graph import Graph
from ..core.reports import CommunityIndex, Finding, Report, ReportContext
from ..core.trace import Step
from ..corpora.shipped_and_folders import shipped
from ..llm import LLM
from .contexts import PAPER, ContextBuilder, ReportOptions

Written = Mapping[frozenset[str], Report]  # names of a community's members -> its report
Row = Mapping[str, Any]  # Any: out of JSON
KEPT = "reports.jsonl"


def find_communities(
    graph: Graph, method: Literal["leiden", "leidenalg", "louvain"] = "leiden", max_size: int = 10,
    seed: int = 0, resolution: float = 1.0, largest_component_only: bool = False,
    reversed_edges: Literal["add", "last"] = "add", best_of: int = 1,
) -> Communities:  # fmt: skip
    """Divide a graph into communities at every level.

    best_of: try this many seeds from `seed` on and keep the one whose coarsest level has the
    highest modularity. The other arguments are those of `algorithms.communities.hierarchy` and of
    `weighted_network`.

    Source: GraphRAG, Sec. 2.4 (sec-2.4); Survey, Sec. 5 (indices)
    """
    network = weighted_network(graph, reversed_edges)
    tried = [
        hierarchy(network, method, max_size, number, resolution, largest_component_only)
        for number in range(seed, seed + best_of)
    ]
    quality = [modularity(network, levels[0], resolution) for levels in tried if best_of > 1]
    best = quality.index(max(quality)) if quality else 0
    return gather(graph, tried[best], f"{method}, seed {seed + best}")


def gather(
    graph: Graph, levels: Sequence[Sequence[Collection[int]]], source: str = ""
) -> Communities:
    """Communities out of levels of node sets, coarsest first, in which every community lies inside
    one of the level above.

    A set that is equal to its parent is the same community and stands once in `items`.
    """
    items: list[Community] = []
    places: list[list[int]] = []
    above: dict[int, int] = {}
    for depth, sets in enumerate(levels):
        here, new = [], 0
        for members in sets:
            parent = above.get(next(iter(members)))
            if parent is not None and len(items[parent].members) == len(members):
                here.append(parent)
                continue
            here.append(len(items))
            items.append(Community(f"{depth}-{new}", depth, tuple(sorted(members)), parent=parent))
            new += 1
        places.append(here)
        above = {node: place for place in here for node in items[place].members}
    return Communities.of(graph, items, places, source)


def agreement(first: Communities, second: Communities, level: int = 0) -> float:
    """Adjusted mutual information of the same level of two divisions of one graph: 1 where they are
    equal, about 0 where one says nothing of the other.

    Nodes without a community count as alone.
    """
    from sklearn.metrics import adjusted_mutual_info_score

    labels = [_labels(communities.partition(level)) for communities in (first, second)]
    return float(adjusted_mutual_info_score(*labels))


def _labels(parts: Sequence[set[int]]) -> list[int]:
    """The number of its part for every node."""
    home = {node: number for number, members in enumerate(parts) for node in members}
    return [home[node] for node in range(len(home))]


def stability(graph: Graph, seeds: int = 5, level: int = 0, **options: Any) -> float:
    """Mean agreement of the divisions that `seeds` different seeds give, pair by pair; options go
    to `find_communities`.

    Source: GraphRAG, Sec. 2.4 (sec-2.4)
    """
    found = [find_communities(graph, seed=seed, **options) for seed in range(seeds)]
    return mean(agreement(first, second, level) for first, second in combinations(found, 2))


def level_table(communities: Communities) -> list[dict[str, float]]:
    """One row a level: number of communities, their sizes, and modularity.

    Source: GraphRAG, Fig. 3 (fig-3)
    """
    rows = []
    for level, places in enumerate(communities.levels):
        sizes = [len(communities.items[place].members) for place in places]
        row: dict[str, float] = {"level": level, "communities": len(sizes), "largest": max(sizes)}
        row |= {"median": median(sizes), "alone": sizes.count(1)}
        rows.append({**row, "modularity": round(communities.modularity(level), 4)})
    return rows


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


def kept_index(corpus: Corpus, graph: Graph) -> CommunityIndex:
    """The communities and reports that were written by hand for a shipped corpus,
    `data/corpora/NAME/reports.jsonl`; an error where it has none.
    """
    path = shipped("corpora") / corpus.name / KEPT
    if not path.is_file():
        raise MiniragError(
            f"Corpus {corpus.name!r} has no {KEPT}. Leave reports out to let the language model,"
            " or the offline rule, write them."
        )
    return frozen_index(graph, read_jsonl(path))
