"""Paths of few edges between the nodes of a set: as the survey describes them, and as DALK's
released code chains them.

Both look for the shortest paths between two nodes, edges in their given order, parallel edges as
paths of their own.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice, product
from typing import NamedTuple

LOOKED_AT = 1000  # shortest paths of one pair of nodes


class Path(NamedTuple):
    """Nodes in their order, and the edge between each two."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]

    def then(self, other: "Path") -> "Path":
        """The path that goes on along another one, which begins where this one ends."""
        return Path(self.nodes + other.nodes[1:], self.edges + other.edges)


class Ways:
    """For each node the edges that lead on from it, and those that lead to it, as (edge, node at
    the other end). directed: an edge is walked from its first end to its second only.
    """

    def __init__(self, count: int, edges: Sequence[tuple[int, int]], directed: bool) -> None:
        self.on: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self.back: list[list[tuple[int, int]]] = [[] for _ in range(count)] if directed else self.on
        for edge, (source, target) in enumerate(edges):
            self.on[source].append((edge, target))
            if directed or source != target:
                self.back[target].append((edge, source))


def distances(ways: Sequence[Sequence[tuple[int, int]]], start: int, hops: int) -> dict[int, int]:
    """The number of edges from `start` to every node within `hops`, in the order of reaching it."""
    found, last = {start: 0}, [start]
    for hop in range(1, hops + 1):
        reached = dict.fromkeys(far for node in last for _, far in ways[node] if far not in found)
        found.update(dict.fromkeys(reached, hop))
        last = list(reached)
    return found


def shortest_paths(ways: Ways, start: int, end: int, hops: int) -> Iterator[Path]:
    """Every shortest path of at most `hops` edges, the first edges first."""
    left = distances(ways.back, end, hops)
    waiting = [Path((start,), ())] if start in left else []
    while waiting:
        path = waiting.pop()
        here = path.nodes[-1]
        if here == end:
            yield path
            continue
        nearer = [row for row in ways.on[here] if left.get(row[1], hops) == left[here] - 1]
        waiting += [path.then(Path((here, far), (edge,))) for edge, far in reversed(nearer)]


def nearest(ways: Ways, start: int, ends: Sequence[int], hops: int) -> int | None:
    """The node of `ends` that is reached first from `start`, or None where none is within `hops`.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    wanted = set(ends)
    return next((node for node in distances(ways.on, start, hops) if node in wanted), None)


def khop_paths(ways: Ways, nodes: Sequence[int], hops: int, per_pair: int = 5) -> list[Path]:
    """KhopPath: paths of at most `hops` edges whose two ends belong to the given nodes.

    From the first node the shortest paths, at most `per_pair`, to the nearest of the others are
    found, and all nodes on them leave the set; then to the nearest of those that are left. Where no
    other is within reach, the next node of the set is the start, until none is left. At last a
    path that lies within another is merged into it: A→B→C into A→B→C→D. The survey leaves open from
    where it searches on; the same start, as its own code has it, is the reading under which its
    example can occur.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    found: list[Path] = []
    left = list(dict.fromkeys(nodes))
    for start in [*left]:
        others = [node for node in left if node != start] if start in left else []
        while (end := nearest(ways, start, others, hops)) is not None:
            new = list(islice(shortest_paths(ways, start, end, hops), per_pair))
            found += new
            on = {node for path in new for node in path.nodes}
            others, left = ([node for node in some if node not in on] for some in (others, left))
    return merged(found)


def merged(paths: Sequence[Path]) -> list[Path]:
    """The paths that do not lie, in either direction, within another one; equals once."""
    kept = list(dict.fromkeys(paths))

    def within(path: Path, other: Path) -> bool:
        size, ways = len(path.edges), (path.edges, path.edges[::-1])
        starts = range(len(other.edges) - size + 1)
        return path != other and any(other.edges[at : at + size] in ways for at in starts)

    return [path for path in kept if not any(within(path, other) for other in kept)]


def chained_paths(
    ways: Ways, nodes: Sequence[int], hops: int, per_pair: int = 5,
    length: Callable[[Path], int] = lambda path: len(path.edges),
) -> list[Path]:  # fmt: skip
    """What DALK's released code does: paths that lead from the first node to the second, from there
    to the third, and so on, in all combinations of their segments.

    A segment is one of the shortest paths, at most `per_pair`, by `length` where there are more.
    The first that meets another given node stands alone, and the last such node is not visited
    again. Where a node cannot be reached, it is passed over, and a new chain begins at the next.
    """
    found: list[Path] = []
    segments: list[list[Path]] = []
    start, *left = list(dict.fromkeys(nodes)) or [-1]
    while left:
        end = left.pop(0)
        new = list(islice(shortest_paths(ways, start, end, hops), LOOKED_AT))
        meeting = next((path for path in new if not set(left).isdisjoint(path.nodes)), None)
        if meeting:
            left.remove([node for node in meeting.nodes if node in left][-1])
            new = [meeting]
        if len(new) > per_pair:
            new = sorted(new, key=length)[:per_pair]
        if new:
            segments.append(new)
            start = end
        else:
            found += combined(segments)
            segments = []
            start = left.pop(0) if left else start
    return found + combined(segments)


def combined(segments: Sequence[Sequence[Path]]) -> list[Path]:
    """Every way to follow one path of each segment after the other."""
    return [reduce(Path.then, chosen) for chosen in product(*segments)] if segments else []


def balanced(paths: Sequence[Path], most: int, ends: bool = False) -> list[Path]:
    """At most `most` paths, shared among the nodes where they start, or with `ends` among the pairs
    of start and end: each has the same share, the last one also what is left over.
    """
    groups: dict[tuple[int, ...], list[Path]] = {}
    for path in paths:
        groups.setdefault((path.nodes[0], path.nodes[-1] if ends else -1), []).append(path)
    share, over = divmod(most, max(len(groups), 1))
    *first, last = [*groups.values()] or [[]]
    kept = [path for group in first for path in group[: max(share, 1)]]
    return (kept + last[: share + over if share else 1])[:most]
