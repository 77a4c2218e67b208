"""The prize-collecting Steiner tree: a tree that takes many of the prizes on a graph's nodes and
pays little for its edges.

Goemans and Williamson's method in three steps. *Growth*: every node is a cluster with a moat around
it. All moats widen at the same speed, and what a cluster spends on moats comes out of its prizes.
Two moats that meet on an edge merge their clusters along it; a cluster whose prizes are spent goes
idle. *The tree*: the merge edges inside the last cluster standing. *Pruning*: a part that had gone
idle, and that nothing but its own branch holds on to, is cut off again: its prizes did not pay for
the way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf, isfinite

Ends = list[tuple[int, int]]
Tree = tuple[list[int], list[int]]  # positions of its nodes and of its edges

TOLERANCE = 1e-12  # of an edge's cost and the time: what is left of an edge below this is rounding
STOP, LOOK = 0, 1  # kinds of events; at equal times a cluster goes idle first


def prize_collecting_steiner_tree(
    count: int, edges: Iterable[Sequence[int]], costs: Iterable[float], prizes: Iterable[float]
) -> Tree:
    """A tree with small cost(tree) + missed prizes: sorted positions of its nodes and its edges.

    count: number of nodes. edges: (m, 2) node positions, undirected; parallel edges and self-loops
    are allowed. costs (m,) and prizes (count,): finite and not negative. The tree always has a
    node, unless `count` is 0.

    With OPT the least cost + missed prizes of any tree, cost + 2 * missed <= 2 * OPT, up to
    rounding. Nothing bounds prizes - cost, which may be far from the best. Goemans and Williamson's
    own factor, 2 - 1/(n-1), is for a given root. For one unrooted growth as here, Johnson, Minkoff
    and Phillips claimed it too; Feofiloff and others showed that 2 holds and is tight. Equal times
    are settled by position: a cluster goes idle before moats meet, the lower position first, so
    that of two equal prizes that never meet the higher position stays. Raises ValueError for
    anything else.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    ends = [(int(u), int(v)) for u, v in edges]
    costs, prizes = [float(c) for c in costs], [float(p) for p in prizes]
    _check(count, ends, costs, prizes)
    if not count:
        return [], []
    growth = Growth(ends, costs, prizes)
    nodes, tree = _without_idle_branches(growth, growth.run())
    return sorted(nodes), sorted(tree)


def _check(count: int, ends: Ends, costs: list[float], prizes: list[float]) -> None:
    if (len(costs), len(prizes)) != (len(ends), count):
        raise ValueError(
            f"{len(costs)} costs and {len(prizes)} prizes for {len(ends)} edges and {count} nodes: "
            "one each is expected."
        )
    for name, values in (("cost", costs), ("prize", prizes)):
        for place, value in enumerate(values):
            if not (isfinite(value) and value >= 0):
                what = f"{name} {place} is {value}"
                raise ValueError(f"{what}: a finite number, not negative, is expected.")
    for place, (u, v) in enumerate(ends):
        if not (0 <= u < count and 0 <= v < count):
            raise ValueError(
                f"edge {place} is ({u}, {v}): both ends must be positions of the {count} nodes."
            )


@dataclass(slots=True, eq=False)
class Cluster:
    """Nodes that merges have joined, and the moat around them."""

    number: int
    left: float  # prizes left to spend, at birth
    born: float = 0.0
    zero: float = 0.0  # when its clock read 0
    stopped: float = inf  # when it went idle or was merged; infinite: it grows
    notes: list[tuple[float, int, int]] = field(default_factory=list)  # heap: clock, edge, version
    inside: "Cluster | None" = None  # the cluster that it was merged into
    up: "Cluster | None" = None  # union-find: a cluster around it, or None for the outermost
    gap: float = 0.0  # the width of all moats on the way to `up`
    # Of one that a merge made: the edge, its two parts, and the part that had gone idle, if any.
    edge: int = -1
    parts: tuple["Cluster", ...] = ()
    idle: "Cluster | None" = None


class Growth:
    """Clusters and their moats. A merge makes a new cluster; the two old ones stay in the list.

    The rest of an edge, what no moat covers yet, is shared out between its two ends: each end's
    cluster notes, on a clock of its own that stands still while the cluster is idle, when it will
    have covered its share. Then the edge is looked at again: it is covered, or the other end fell
    behind (it went idle) and the rest is shared out anew. So an idle cluster costs nothing, and
    merging two clusters moves the notes of the smaller one only.
    """

    def __init__(self, ends: Ends, costs: list[float], prizes: list[float]) -> None:
        self.ends, self.costs = ends, costs
        self.now = 0.0
        self.clusters = [Cluster(node, prize) for node, prize in enumerate(prizes)]
        self.version = [0] * len(self.ends)  # of an edge: notes of an older version are void
        # heap: time, kind, of what, cluster, version
        self.events: list[tuple[float, int, int, int, int]] = []
        self.growing = self.count = len(prizes)
        for edge, (u, v) in enumerate(self.ends):
            if u != v:
                self.share_out(edge, self.costs[edge], self.clusters[u], self.clusters[v])
        for cluster in self.clusters:
            self.plan(cluster)

    def run(self) -> Cluster:
        """The last cluster growing, from which the tree is taken."""
        while self.growing > 1:
            time, kind, edge, number, version = heappop(self.events)
            cluster = self.clusters[number]
            if cluster.stopped < inf:
                continue
            self.now = max(self.now, time)
            if kind == STOP:
                cluster.stopped = self.now
                self.growing -= 1
            elif cluster.notes and cluster.notes[0][1:] == (edge, version):
                heappop(cluster.notes)
                if version == self.version[edge]:
                    self.look(edge)
                self.announce(cluster)
        return next(cluster for cluster in self.clusters if cluster.stopped == inf)

    def look(self, edge: int) -> None:
        """Merge along an edge that is covered, or share out the rest of it."""
        (first, first_radius), (second, second_radius) = map(self.find, self.ends[edge])
        if first is second:
            return
        rest = self.costs[edge] - first_radius - second_radius
        if rest <= TOLERANCE * (self.costs[edge] + self.now):
            self.merge(edge, first, second)
        else:
            self.share_out(edge, rest, first, second)
            self.announce(first)
            self.announce(second)

    def share_out(self, edge: int, rest: float, first: Cluster, second: Cluster) -> None:
        """Growing ends take equal shares of the rest. An idle end takes none: growing again, it
        looks at the edge first.
        """
        self.version[edge] += 1
        growing = (first.stopped == inf) + (second.stopped == inf)
        for cluster in (first, second):
            share = rest / growing if cluster.stopped == inf else 0.0
            heappush(cluster.notes, (self.clock(cluster) + share, edge, self.version[edge]))

    def merge(self, edge: int, first: Cluster, second: Cluster) -> None:
        """A new cluster with what is left of both prizes."""
        idle = [cluster for cluster in (first, second) if cluster.stopped < inf]
        few, many = sorted((first, second), key=lambda cluster: len(cluster.notes))
        later = self.clock(many) - self.clock(few)
        for clock, noted, version in few.notes:
            if version == self.version[noted]:
                heappush(many.notes, (clock + later, noted, version))
        made = Cluster(
            len(self.clusters),
            left=sum(max(0.0, cluster.left - self.moat(cluster)) for cluster in (first, second)),
            born=self.now,
            zero=self.now - self.clock(many),
            notes=many.notes,
            edge=edge,
            parts=(first, second),
            idle=idle[0] if idle else None,
        )
        for cluster in (first, second):
            cluster.up, cluster.gap, cluster.inside = made, self.moat(cluster), made
            cluster.stopped, cluster.notes = min(self.now, cluster.stopped), []
        self.clusters.append(made)
        self.growing += len(idle) - 1
        self.plan(made)

    def plan(self, cluster: Cluster) -> None:
        """The events of a new cluster: when its prizes will be spent, the first edge to look at."""
        spent = cluster.born + cluster.left
        heappush(self.events, (spent, STOP, cluster.number, cluster.number, 0))
        self.announce(cluster)

    def announce(self, cluster: Cluster) -> None:
        """Make an event of a growing cluster's earliest valid note."""
        if cluster.stopped < inf:
            return
        notes = cluster.notes
        while notes and notes[0][2] != self.version[notes[0][1]]:
            heappop(notes)
        if notes:
            clock, edge, version = notes[0]
            heappush(self.events, (cluster.zero + clock, LOOK, edge, cluster.number, version))

    def find(self, node: int) -> tuple[Cluster, float]:
        """The outermost cluster around a node, and how far the moats around the node reach."""
        cluster, reach = self.clusters[node], 0.0
        while around := cluster.up:
            if around.up:
                cluster.gap += around.gap
                cluster.up = around = around.up
            reach += cluster.gap
            cluster = around
        return cluster, reach + self.moat(cluster)

    def moat(self, cluster: Cluster) -> float:
        """How wide the cluster's own moat is by now."""
        return min(self.now, cluster.stopped) - cluster.born

    def clock(self, cluster: Cluster) -> float:
        """How long the cluster has grown; this clock stands still while it is idle."""
        return min(self.now, cluster.stopped) - cluster.zero


def _without_idle_branches(growth: Growth, last: Cluster) -> Tree:
    """Nodes and merge edges of the last cluster; an idle part stays only if a later edge that stays
    ends in it.
    """
    kept, touched, tree = {last}, set[Cluster](), list[int]()
    for made in reversed(growth.clusters[growth.count :]):
        if made not in kept:
            continue
        parts = {part for part in made.parts if part is not made.idle or part in touched}
        kept |= parts
        if len(parts) == 2:
            tree.append(made.edge)
            for node in growth.ends[made.edge]:
                around: Cluster | None = growth.clusters[node]
                while around and around not in touched:
                    touched.add(around)
                    around = around.inside
    return [node for node in range(growth.count) if growth.clusters[node] in kept], tree
