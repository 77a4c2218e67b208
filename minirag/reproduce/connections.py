"""What PathRAG's flow connects on real graphs: pairs joined and starts pruned against theta, along
the arrows and both ways.

Rows of the target `paths`, named like `musique connections theta 0.05 directed`.
"""

from ..methods.pathrag_paths import connections

THRESHOLDS = (0.3, 0.1, 0.05, 0.02, 0.01, 0.005)
DIRECTIONS = {"directed": True, "undirected": False}
CONNECTED = ("dulce", "textbook", "musique")  # corpora
CONNECTION_NAMES = tuple(
    f"{name} connections theta {theta:g} {way}"
    for name in CONNECTED
    for way in DIRECTIONS
    for theta in THRESHOLDS
)


def connection_rows(name, method, questions, rows=None):
    """Rows of one corpus, all or those in `rows`: pairs connected, starts pruned, and those of them
    without a way out; means of a question.
    """
    wanted = [
        row for row in CONNECTION_NAMES if row.startswith(f"{name} ") and (not rows or row in rows)
    ]
    measured = {}
    for row in connection_table(method, questions) if wanted else ():
        way = next(way for way, directed in DIRECTIONS.items() if directed == row["directed"])
        counts = {
            key: row[key] for key in ("pairs connected", "starts pruned", "without a way out")
        }
        measured[f"{name} connections theta {row['threshold']:g} {way}"] = counts
    return [{"method": row, **measured[row]} for row in wanted]


def stored_connections(expected, name, way, metric):
    """The stored numbers of one corpus, one direction and one metric, a value for each of
    `THRESHOLDS`. expected: what `load_expected("paths")` gives.
    """
    return [
        expected["rows"][f"{name} connections theta {theta:g} {way}"]["metrics"][metric]["ours"]
        for theta in THRESHOLDS
    ]


def connection_table(method, questions, thresholds=THRESHOLDS, directed=(True, False)):
    """Against theta, each way or both: ordered pairs connected, starts pruned, nodes visited, means
    of a question; and pairs and starts in percent.

    method: a `PathRAG`. A start is pruned at once for one of two reasons, in columns of their own:
    it has no way out at all, whatever theta is, or more than 1 / theta of them, which at .05 is
    more than 20.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    names = [
        [name for name, _, _ in trace[1].data["nodes"]]
        for trace in method.with_options(global_edges=0, top_k=1, max_paths=1).score_many(
            list(questions)
        )
    ]
    rows = []
    for both_ways in directed:
        ways, _ = method.with_options(directed=both_ways).ways
        for threshold in thresholds:
            seen = [connections(ways, some, method.chosen.alpha, threshold) for some in names]
            rows.append(
                {
                    "directed": both_ways,
                    "threshold": threshold,
                    **_summed_up(seen, [len(some) for some in names]),
                }
            )
    return rows


def _summed_up(seen, sizes):
    """Means of a question and percentages, from what `connections` saw for each and the number of
    its nodes.
    """
    pairs, pruned, sinks, visited = (
        sum(one[key] for one in seen) for key in ("pairs", "pruned", "sinks", "visited")
    )
    starts, possible = max(sum(sizes), 1), max(sum(size * (size - 1) for size in sizes), 1)
    row = {
        "pairs connected": pairs / len(seen),
        "pairs connected %": 100 * pairs / possible,
        "starts pruned": pruned / len(seen),
    }
    row |= {"without a way out": sinks / len(seen), "without a way out %": 100 * sinks / starts}
    row |= {"too many ways out %": 100 * (pruned - sinks) / starts, "visited": visited / len(seen)}
    return {name: round(value, 1) for name, value in row.items()}
