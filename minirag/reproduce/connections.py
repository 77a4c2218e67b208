"""What PathRAG's flow connects on real graphs: pairs joined and starts pruned against theta, along
the arrows and both ways.

Rows of the target `paths`, named like `musique connections theta 0.05 directed`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.trace import NodeStep
from ..methods.pathrag import PathRAG
from ..methods.pathrag_paths import Connections, connections, flow_graph

THRESHOLDS = (0.3, 0.1, 0.05, 0.02, 0.01, 0.005)
DIRECTIONS = {"directed": True, "undirected": False}
CONNECTED = ("dulce", "textbook", "musique")  # corpora
METRICS = ("pairs connected", "starts pruned", "without a way out")


def row_name(corpus: str, way: str, theta: float) -> str:
    """What a row is called."""
    return f"{corpus} connections theta {theta:g} {way}"


CONNECTION_NAMES = tuple(
    row_name(name, way, theta) for name in CONNECTED for way in DIRECTIONS for theta in THRESHOLDS
)


def connection_rows(
    name: str, method: PathRAG, questions: Sequence[str], wanted: Sequence[str]
) -> list[dict[str, Any]]:
    """The wanted rows of one corpus: `METRICS`, means of a question."""
    measured = {
        row_name(name, way, theta): {metric: numbers[metric] for metric in METRICS}
        for (way, theta), numbers in connection_table(method, questions).items()
    }
    return [{"method": row, **measured[row]} for row in wanted]


def stored_connections(
    expected: Mapping[str, Any], name: str, way: str, metric: str
) -> list[float]:
    """The stored numbers of one corpus, one direction and one metric, a value for each of
    `THRESHOLDS`. expected: what `load_expected("paths")` gives.
    """
    rows = [expected["rows"][row_name(name, way, theta)] for theta in THRESHOLDS]
    return [row["metrics"][metric]["ours"] for row in rows]


def connection_table(
    method: PathRAG, questions: Sequence[str]
) -> dict[tuple[str, float], dict[str, float]]:
    """For each direction and theta: ordered pairs connected, starts pruned, nodes visited, means of
    a question; and pairs and starts in percent.

    A start is pruned at once for one of two reasons, in columns of their own: it has no way out at
    all, whatever theta is, or more than 1 / theta of them, which at .05 is more than 20.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    quick = method.with_options(global_edges=0, top_k=1, max_paths=1)
    steps = [found.trace.last(NodeStep) for found in quick.retrieve_many(questions)]
    starts, table = [[node.label for node in step.nodes] for step in steps], {}
    for way, directed in DIRECTIONS.items():
        ways, alpha = flow_graph(method.graph, directed).ways, method.chosen.alpha
        for theta in THRESHOLDS:
            seen = [connections(ways, names, alpha, theta) for names in starts]
            table[way, theta] = _summed_up(seen, [len(names) for names in starts])
    return table


def _summed_up(seen: Sequence[Connections], sizes: Sequence[int]) -> dict[str, float]:
    """Means of a question and percentages, from what `connections` saw for each and the number of
    its nodes.
    """
    pairs, pruned, sinks, visited = map(sum, zip(*seen))
    starts, possible = max(sum(sizes), 1), max(sum(size * (size - 1) for size in sizes), 1)
    row = {
        "pairs connected": pairs / len(seen),
        "pairs connected %": 100 * pairs / possible,
        "starts pruned": pruned / len(seen),
        "without a way out": sinks / len(seen),
        "without a way out %": 100 * sinks / starts,
        "too many ways out %": 100 * (pruned - sinks) / starts,
        "visited": visited / len(seen),
    }
    return {name: round(value, 1) for name, value in row.items()}
