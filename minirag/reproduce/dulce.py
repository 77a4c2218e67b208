"""The target `dulce`: Microsoft's published index of Operation Dulce beside ours, with the
structure of GraphRAG's Table 3.

The paper's Table 3 is about other texts (podcasts, news); its numbers stand in
`data/expected/dulce.yaml`, never in a column with measured ones.
"""

from ..corpora.microsoft_index import load_dulce
from ..evaluate.expected import compare, load_expected
from ..evaluate.sensemaking import WINDOWS
from ..index import ContextBuilder, ReportOptions, find_communities, write_reports
from ..index.communities import agreement
from ..index.contexts import CODE
from ..llm import load_llm
from ..methods.graphrag.map_reduce import MapReduceOptions, shuffle_and_pack
from ..text.tokens import count_tokens

CONDITIONS = ("C0", "C1", "C2", "C3")
# only its length matters: nobody is asked
QUESTION = "What drives the people at Dulce Base, and how does their mission change over time?"
ROWS = (
    "files",
    *CONDITIONS,
    "TS",
    "modularity",
    "agreement",
    "contexts",
    *(f"windows {name}" for name in ("C0", "C1", "TS")),
)


def reproduce_dulce(rows=None, seed=0, best_of=1):
    """Measure the target: `{"target", "rows", "table", "notes", "comparison"}`.

    rows of numbers: what the files hold; units, tokens and percent of TS for each condition,
    Microsoft's and ours; modularity; agreement of the partitions; report contexts; windows of
    map-reduce. seed, best_of: of our division (see `find_communities`). Our reports are extracts by
    the offline rule, Microsoft's are GPT-4's, so their tokens say how long each is and nothing
    about how good.

    Source: GraphRAG, Table 3 (tab-3)
    """
    real = load_dulce()
    divided = find_communities(real.graph, seed=seed, best_of=best_of)
    ours = write_reports(divided, load_llm("offline"))
    units = [(chunk.id, chunk.text) for chunk in real.graph.chunks]
    measured = [
        _files(real),
        *_table_3(real.index, ours, units),
        _modularity(real.index.communities, divided),
        _agreement(real.index.communities, divided),
    ]
    measured += [*_contexts(real.index), *_windows(real.index, units)]
    wanted = lambda name: not rows or name in rows or name.split(" ")[0] in rows
    measured = [row for row in measured if wanted(row["method"])]
    expected = load_expected("dulce")
    expected = {
        **expected,
        "rows": {name: stored for name, stored in expected["rows"].items() if wanted(name)},
    }
    numbers = [
        {key: value for key, value in row.items() if key == "method" or not isinstance(value, str)}
        for row in measured
    ]
    shown = {"table": side_by_side(measured, expected), "notes": _notes(real, ours)}
    return {"target": "dulce", "rows": measured, **shown, "comparison": compare(numbers, expected)}


def _files(real):
    graph = real.graph
    counts = {
        "entities": len(graph.nodes),
        "relationships": len(graph.edges),
        "claims": real.claims,
        "claims about no entity": len(real.unlinked),
    }
    return {
        "method": "files",
        **counts,
        "reports": len(real.index.reports),
        "text units": len(graph.chunks),
        "levels": len(real.index.communities.levels),
    }


def _table_3(microsoft, ours, units):
    """Units, tokens and percent of TS of every condition. A level that does not exist is the
    deepest one, and its row says so.
    """
    whole = sum(count_tokens(text) for _, text in units)
    for level, name in enumerate(CONDITIONS):
        row = {"method": name}
        for owner, index in (("microsoft", microsoft), ("ours", ours)):
            places = index.at(level)
            tokens = sum(count_tokens(index.reports[place].text) for place in places)
            row |= {
                f"{owner} units": len(places),
                f"{owner} tokens": tokens,
                f"{owner} % of TS": round(100 * tokens / whole, 1),
            }
            if level > index.communities.deepest:
                row[f"{owner} note"] = (
                    f"no level {level}: C{index.communities.deepest} projected down, the same reports"
                )
        yield row
    for_both = {
        f"{owner} {key}": value
        for owner in ("microsoft", "ours")
        for key, value in (("units", len(units)), ("tokens", whole), ("% of TS", 100.0))
    }
    yield {"method": "TS", **for_both}


def _modularity(microsoft, ours):
    row = {"method": "modularity"}
    for level in (0, 1):
        row |= {
            f"microsoft level {level}": round(microsoft.modularity(level), 4),
            f"ours level {level}": round(ours.modularity(level), 4),
        }
    return row


def _agreement(microsoft, ours):
    return {
        "method": "agreement",
        **{f"AMI level {level}": round(agreement(microsoft, ours, level), 4) for level in (0, 1)},
    }


def _contexts(index):
    """For each of Microsoft's communities, what our builder packs as the paper says, and as the
    released code does, of its member elements.
    """
    both = ReportOptions(), ReportOptions(**CODE)
    paper, code = (ContextBuilder(index.communities, options) for options in both)
    for place, item in enumerate(index.communities.items):
        members = set(paper.elements(place))
        one, other = paper.build(place, index.reports), code.build(place, index.reports)
        packed = {element for element in one.items if element.kind != "report"}
        yield {
            "method": f"contexts {item.id}",
            "member elements": len(members),
            "packed": len(packed & members),
            "reports instead": len(one.replaced),
            "left out": sum(one.left_out.values()),
            "tokens": one.tokens,
            "code packed": len(set(other.items) & members),
            "code from outside": len(set(other.items) - members),
            "code tokens": other.tokens,
        }


def _windows(index, units):
    """How many windows map-reduce reads, and the largest, for four sizes: the prompt is counted
    whole.
    """
    reports = lambda level: [
        (f"report:{index.communities.items[p].id}", index.reports[p].text) for p in index.at(level)
    ]
    for name, some in (("C0", reports(0)), ("C1", reports(1)), ("TS", units)):
        row = {"method": f"windows {name}"}
        for window in WINDOWS:
            step = shuffle_and_pack(some, QUESTION, MapReduceOptions(window=window))[1]
            row |= {
                f"{window // 1000}k windows": len(step.windows),
                f"{window // 1000}k largest": max(step.tokens),
            }
        yield row


def side_by_side(measured, expected):
    """Table 3 with a column each for the paper's two corpora, Microsoft's files and ours."""
    rows = []
    for row in measured:
        if row["method"] not in (*CONDITIONS, "TS"):
            continue
        metrics = expected["rows"].get(row["method"], {}).get("metrics", {})
        line = {"condition": row["method"]}
        for key in ("units", "tokens", "% of TS"):
            line |= {
                f"paper, {corpus}: {key}": metrics.get(f"paper {corpus} {key}", {}).get("paper")
                for corpus in ("podcast", "news")
            }
            line |= {
                f"Microsoft's files: {key}": row[f"microsoft {key}"],
                f"ours: {key}": row[f"ours {key}"],
            }
        rows.append({**line, "note": row.get("microsoft note", "")})
    return rows


def _notes(real, ours):
    deepest = real.index.communities.deepest
    return [
        f"Only {deepest + 1} levels exist in Microsoft's files, so C2 and C3 are C{deepest}.",
        f"Microsoft's reports are GPT-4's; ours are by {ours.source}: their tokens compare lengths, not quality.",
        "Nodes that Microsoft left without a community count as alone in modularity and agreement.",
        f"{len(real.unlinked)} claims are about a name that is no entity; they are loaded and linked to nothing.",
        f"Released-code choices in the contexts: {', '.join(f'{name}={value}' for name, value in CODE.items())}.",
    ]
