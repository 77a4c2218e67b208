"""The target `dulce`: Microsoft's published index of Operation Dulce beside ours, with the
structure of GraphRAG's Table 3.

The paper's Table 3 is about other texts (podcasts, news); its numbers stand in
`data/expected/dulce.yaml`, never in a column with measured ones.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..core.communities import Communities
from ..core.options import choose
from ..core.reports import CommunityIndex
from ..corpora.microsoft_index import MicrosoftIndex, load_dulce
from ..evaluate.judging import WINDOWS
from ..evaluate.metrics import compare, load_expected
from ..index import ContextBuilder, ReportOptions, find_communities, write_reports
from ..index.communities import agreement
from ..index.contexts import CODE
from ..llm import load_llm
from ..methods.graphrag.map_reduce import shuffle_and_pack
from ..methods.graphrag.released import MapReduceOptions
from ..prompts.map_reduce import Unit
from ..text.tokens import count_tokens

CONDITIONS = ("C0", "C1", "C2", "C3")
# only its length matters: nobody is asked
QUESTION = "What drives the people at Dulce Base, and how does their mission change over time?"
WINDOW_ROWS = tuple(f"windows {name}" for name in ("C0", "C1", "TS"))
ROWS = ("files", *CONDITIONS, "TS", "modularity", "agreement", "contexts", *WINDOW_ROWS)
MEASURES = ("units", "tokens", "% of TS")

Row = dict[str, Any]  # Any: "method" and numbers, or a note


def reproduce_dulce(
    rows: Collection[str] | None = None, seed: int = 0, best_of: int = 1
) -> dict[str, Any]:
    """Measure the target: `{"target", "rows", "table", "notes", "comparison"}`.

    rows of numbers: what the files hold; units, tokens and percent of TS for each condition,
    Microsoft's and ours; modularity; agreement of the partitions; report contexts; windows of
    map-reduce. seed, best_of: of our division (see `find_communities`). Our reports are extracts by
    the offline rule, Microsoft's are GPT-4's, so their tokens say how long each is and nothing
    about how good.

    Source: GraphRAG, Table 3 (tab-3)
    """
    real = load_dulce()
    theirs = real.index.communities
    divided = find_communities(real.graph, seed=seed, best_of=best_of)
    ours = write_reports(divided, load_llm("offline"))
    units = [(chunk.id, chunk.text) for chunk in real.graph.chunks]
    measured = [_files(real), *_table_3(real.index, ours, units)]
    measured += [_modularity(theirs, divided), _agreement(theirs, divided)]
    measured += [*_contexts(real.index), *_windows(real.index, units)]

    def wanted(name: str) -> bool:
        return not rows or name in rows or name.split(" ")[0] in rows

    measured = [row for row in measured if wanted(row["method"])]
    expected = load_expected("dulce")
    stored = {name: row for name, row in expected["rows"].items() if wanted(name)}
    numbers = [
        {key: value for key, value in row.items() if key == "method" or not isinstance(value, str)}
        for row in measured
    ]
    return {
        "target": "dulce",
        "rows": measured,
        "table": side_by_side(measured, stored),
        "notes": _notes(real, ours),
        "comparison": compare(numbers, {**expected, "rows": stored}),
    }


def _files(real: MicrosoftIndex) -> Row:
    graph = real.graph
    return {
        "method": "files",
        "entities": len(graph.nodes),
        "relationships": len(graph.edges),
        "claims": real.claims,
        "claims about no entity": len(real.unlinked),
        "reports": len(real.index.reports),
        "text units": len(graph.chunks),
        "levels": len(real.index.communities.levels),
    }


def _table_3(
    microsoft: CommunityIndex, ours: CommunityIndex, units: Sequence[Unit]
) -> Iterator[Row]:
    """Units, tokens and percent of TS of every condition. A level that does not exist is the
    deepest one, and its row says so.
    """
    indices = {"microsoft": microsoft, "ours": ours}
    whole = sum(count_tokens(text) for _, text in units)
    for level, name in enumerate(CONDITIONS):
        row: Row = {"method": name}
        for owner, index in indices.items():
            places, deepest = index.at(level), index.communities.deepest
            tokens = sum(count_tokens(index.reports[place].text) for place in places)
            values = (len(places), tokens, round(100 * tokens / whole, 1))
            row |= {f"{owner} {measure}": value for measure, value in zip(MEASURES, values)}
            if level > deepest:
                note = f"no level {level}: C{deepest} projected down, the same reports"
                row[f"{owner} note"] = note
        yield row
    all_text = tuple(zip(MEASURES, (len(units), whole, 100.0)))
    yield {"method": "TS"} | {
        f"{owner} {measure}": value for owner in indices for measure, value in all_text
    }


def _modularity(microsoft: Communities, ours: Communities) -> Row:
    both = {"microsoft": microsoft, "ours": ours}
    return {"method": "modularity"} | {
        f"{owner} level {level}": round(communities.modularity(level), 4)
        for level in (0, 1)
        for owner, communities in both.items()
    }


def _agreement(microsoft: Communities, ours: Communities) -> Row:
    levels = {f"AMI level {level}": round(agreement(microsoft, ours, level), 4) for level in (0, 1)}
    return {"method": "agreement", **levels}


def _contexts(index: CommunityIndex) -> Iterator[Row]:
    """For each of Microsoft's communities, what our builder packs as the paper says, and as the
    released code does, of its member elements.
    """
    paper = ContextBuilder(index.communities)
    code = ContextBuilder(index.communities, choose(ReportOptions, {"code": CODE}))
    for place, item in enumerate(index.communities.items):
        members = set(paper.elements(place))
        ours, released = paper.build(place, index.reports), code.build(place, index.reports)
        yield {
            "method": f"contexts {item.id}",
            "member elements": len(members),
            "packed": len(members.intersection(ours.items)),
            "reports instead": len(ours.replaced),
            "left out": sum(ours.left_out.values()),
            "tokens": ours.tokens,
            "code packed": len(members.intersection(released.items)),
            "code from outside": len(set(released.items) - members),
            "code tokens": released.tokens,
        }


def _windows(index: CommunityIndex, units: Sequence[Unit]) -> Iterator[Row]:
    """How many windows map-reduce reads, and the largest, for four sizes: the prompt is counted
    whole.
    """
    id_of = [f"report:{item.id}" for item in index.communities.items]
    reports = [[(id_of[p], index.reports[p].text) for p in index.at(level)] for level in (0, 1)]
    for name, read in zip(WINDOW_ROWS, (*reports, units)):
        row: Row = {"method": name}
        for window in WINDOWS:
            _, step = shuffle_and_pack(read, QUESTION, MapReduceOptions(window=window))
            row[f"{window // 1000}k windows"] = len(step.windows)
            row[f"{window // 1000}k largest"] = max(step.tokens)
        yield row


def side_by_side(measured: Sequence[Row], stored: Mapping[str, Any]) -> list[Row]:
    """Table 3 with a column each for the paper's two corpora, Microsoft's files and ours."""
    rows = []
    for row in measured:
        name = row["method"]
        if name not in (*CONDITIONS, "TS"):
            continue
        metrics, line = stored.get(name, {}).get("metrics", {}), {"condition": name}
        for measure in MEASURES:
            for corpus in ("podcast", "news"):
                printed = metrics.get(f"paper {corpus} {measure}", {}).get("paper")
                line[f"paper, {corpus}: {measure}"] = printed
            line[f"Microsoft's files: {measure}"] = row[f"microsoft {measure}"]
            line[f"ours: {measure}"] = row[f"ours {measure}"]
        rows.append({**line, "note": row.get("microsoft note", "")})
    return rows


def _notes(real: MicrosoftIndex, ours: CommunityIndex) -> list[str]:
    deepest, unlinked = real.index.communities.deepest, len(real.unlinked)
    released = ", ".join(f"{name}={value}" for name, value in CODE.items())
    lengths = "their tokens compare lengths, not quality."
    linked = "they are loaded and linked to nothing."
    return [
        f"Only {deepest + 1} levels exist in Microsoft's files, so C2 and C3 are C{deepest}.",
        f"Microsoft's reports are GPT-4's; ours are by {ours.source}: {lengths}",
        "Nodes that Microsoft left without a community count as alone in modularity and agreement.",
        f"{unlinked} claims are about a name that is no entity; {linked}",
        f"Released-code choices in the contexts: {released}.",
    ]
