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
from typing import Literal, NamedTuple, get_args

Pruning = Literal["gw", "strong", "none"]
PRUNINGS = get_args(Pruning)
Tree = tuple[list[int], list[int]]  # positions of its nodes and of its edges

TOLERANCE = 1e-12  # of an edge's cost and the time: what is left of an edge below this is rounding
STOP, LOOK = 0, 1  # kinds of events; at equal times a cluster goes idle first


class Instance(NamedTuple):
    """Each edge's ends and cost, each node's prize, and the root, if there is one."""

    ends: list[tuple[int, int]]
    costs: list[float]
    prizes: list[float]
    root: int | None


def prize_collecting_steiner_tree(
    count: int,
    edges: Iterable[Sequence[int]],
    costs: Iterable[float],
    prizes: Iterable[float],
    root: int | None = None,
    pruning: Pruning = "gw",
) -> Tree:
    """A tree with small cost(tree) + missed prizes: sorted positions of its nodes and its edges.

    count: number of nodes. edges: (m, 2) node positions, undirected; parallel edges and self-loops
    are allowed. costs (m,) and prizes (count,): finite and not negative. root: a node that the tree
    must hold, or None. pruning: "gw" (Goemans and Williamson), "strong" (the best subtree of the
    unpruned tree) or "none". The tree always has a node, unless `count` is 0.

    With OPT the least cost + missed prizes of any tree (through `root`, if given), up to rounding:

    - "gw":     cost + 2 * missed <= 2 * OPT
    - "strong": cost + missed <= 2 * OPT, and never more than with "gw"
    - "none":   no promise

    None bounds prizes - cost, which may be far from the best. Goemans and Williamson's own factor,
    2 - 1/(n-1), is for a given root. For one unrooted growth as here, Johnson, Minkoff and Phillips
    claimed it too; Feofiloff and others showed that 2 holds and is tight. Equal times are settled
    by position: a cluster goes idle before moats meet, the lower position first, so that of two
    equal prizes that never meet the higher position stays. Raises ValueError for anything else.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    ends = [(int(u), int(v)) for u, v in edges]
    instance = Instance(ends, [float(c) for c in costs], [float(p) for p in prizes], root)
    _check(instance, count, pruning)
    if not count:
        return [], []
    growth = Growth(instance)
    last = growth.run()
    nodes, tree = _without_idle_branches(growth, last, cut=pruning == "gw")
    if pruning == "strong":
        nodes, tree = _best_subtree(nodes, tree, instance)
    return sorted(nodes), sorted(tree)


def _check(instance: Instance, count: int, pruning: str) -> None:
    ends, costs, prizes, root = instance
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
    if root is not None and not 0 <= root < count:
        raise ValueError(f"root={root}: a position of the {count} nodes, or None, is expected.")
    if pruning not in PRUNINGS:
        raise ValueError(f"pruning={pruning!r}: one of {', '.join(PRUNINGS)} is expected.")


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

    def __init__(self, instance: Instance) -> None:
        self.ends, self.costs, prizes, root = instance
        self.now = 0.0
        self.clusters = [Cluster(node, prize) for node, prize in enumerate(prizes)]
        # The cluster that holds the root; it never grows.
        self.root = None if root is None else self.clusters[root]
        self.version = [0] * len(self.ends)  # of an edge: notes of an older version are void
        self.events = list[
            tuple[float, int, int, int, int]
        ]()  # heap: time, kind, of what, cluster, version
        self.growing = self.count = len(prizes)
        if self.root:
            self.root.stopped, self.growing = 0.0, self.growing - 1
        for edge, (u, v) in enumerate(self.ends):
            if u != v:
                self.share_out(edge, self.costs[edge], self.clusters[u], self.clusters[v])
        for cluster in self.clusters:
            self.plan(cluster)

    def run(self) -> Cluster:
        """The cluster to take the tree from: the last one growing, or the one around the root."""
        while self.growing > (self.root is None):
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
        return self.root or next(cluster for cluster in self.clusters if cluster.stopped == inf)

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
        """A new cluster with what is left of both prizes; one around the root never grows."""
        idle = [cluster for cluster in (first, second) if cluster.stopped < inf]
        rooted = self.root is first or self.root is second
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
            stopped=self.now if rooted else inf,
            notes=many.notes,
            edge=edge,
            parts=(first, second),
            idle=idle[0] if idle and not rooted else None,
        )
        for cluster in (first, second):
            cluster.up, cluster.gap, cluster.inside = made, self.moat(cluster), made
            cluster.stopped, cluster.notes = min(self.now, cluster.stopped), []
        self.clusters.append(made)
        self.growing += len(idle) - 2 + (not rooted)
        self.root = made if rooted else self.root
        self.plan(made)

    def plan(self, cluster: Cluster) -> None:
        """The events of a new cluster: when its prizes will be spent, the first edge to look at."""
        if cluster.stopped == inf:
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


def _without_idle_branches(growth: Growth, last: Cluster, cut: bool) -> Tree:
    """Nodes and merge edges of the last cluster; with `cut`, an idle part stays only if a later
    edge that stays ends in it.
    """
    kept, touched, tree = {last}, set[Cluster](), list[int]()
    for made in reversed(growth.clusters[growth.count :]):
        if made not in kept:
            continue
        parts = {part for part in made.parts if not cut or part is not made.idle or part in touched}
        kept |= parts
        if len(parts) == 2:
            tree.append(made.edge)
            for node in growth.ends[made.edge]:
                around: Cluster | None = growth.clusters[node]
                while around and around not in touched:
                    touched.add(around)
                    around = around.inside
    return [node for node in range(growth.count) if growth.clusters[node] in kept], tree


def _best_subtree(nodes: list[int], tree: list[int], instance: Instance) -> Tree:
    """The subtree with the most prizes - cost: a branch stays if it is worth more than its edge."""
    ends, costs, prizes, root = instance
    beside: dict[int, list[tuple[int, int]]] = {node: [] for node in nodes}
    for edge in sorted(tree):
        u, v = ends[edge]
        beside[u].append((v, edge))
        beside[v].append((u, edge))
    order = [min(nodes) if root is None else root]
    above: dict[int, tuple[int, int]] = {}  # node -> the node above it, and the edge to it
    for node in order:  # grows meanwhile
        for child, edge in beside[node]:
            if child != order[0] and child not in above:
                above[child] = (node, edge)
                order.append(child)
    worth = {node: prizes[node] for node in nodes}
    for node in reversed(order[1:]):
        parent, edge = above[node]
        worth[parent] += max(0.0, worth[node] - costs[edge])
    top = min(nodes, key=lambda node: (-worth[node], node)) if root is None else root
    kept = {top}
    for node in order[1:]:
        parent, edge = above[node]
        if parent in kept and worth[node] > costs[edge]:
            kept.add(node)
    return list(kept), [above[node][1] for node in kept if node != top]
