"""The prize-collecting Steiner tree: a tree that takes many of the prizes on a graph's nodes and pays little for its edges.

Goemans and Williamson's method in three steps. *Growth*: every node is a cluster with a moat around it. All moats widen at the same
speed, and what a cluster spends on moats comes out of its prizes. Two moats that meet on an edge merge their clusters along it; a
cluster whose prizes are spent goes idle. *The tree*: the merge edges inside the last cluster standing. *Pruning*: a part that had
gone idle, and that nothing but its own branch holds on to, is cut off again: its prizes did not pay for the way.
"""

from heapq import heappop, heappush
from math import inf, isfinite

TOLERANCE = 1e-12  # of an edge's cost and the time: what is left of an edge below this is rounding
STOP, LOOK = 0, 1  # kinds of events; at equal times a cluster goes idle first
PRUNINGS = ("gw", "strong", "none")


def prize_collecting_steiner_tree(count, edges, costs, prizes, root=None, pruning="gw"):
    """A tree with small cost(tree) + missed prizes: `(nodes, edges)`, both sorted lists of positions.

    count: number of nodes. edges: (m, 2) node positions, undirected; parallel edges and self-loops are allowed. costs (m,) and
    prizes (count,): finite and not negative. root: a node that the tree must hold, or None. pruning: "gw" (Goemans and
    Williamson), "strong" (the best subtree of the unpruned tree) or "none". The tree always has a node, unless `count` is 0.

    With OPT the least cost + missed prizes of any tree (of any tree through `root`, if there is one), up to rounding:

    - "gw":     cost + 2 * missed <= 2 * OPT
    - "strong": cost + missed <= 2 * OPT, and never more than with "gw"
    - "none":   no promise

    None bounds prizes - cost, which may be far from the best. Goemans and Williamson's own factor, 2 - 1/(n-1), is for a given
    root. For one unrooted growth as here, Johnson, Minkoff and Phillips claimed it too; Feofiloff and others showed that 2 holds
    and is tight. Equal times are settled by position: a cluster goes idle before moats meet, the lower position first, so that
    of two equal prizes that never meet the higher position stays. Raises ValueError for anything else.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    ends, costs, prizes = _checked(count, edges, costs, prizes, root, pruning)
    if not count:
        return [], []
    growth = _Growth(ends, costs, prizes, root)
    last = growth.run()
    nodes, tree = _without_idle_branches(growth, count, last, cut=pruning == "gw")
    if pruning == "strong":
        nodes, tree = _best_subtree(nodes, tree, ends, costs, prizes, root)
    return sorted(nodes), sorted(tree)


def objective(nodes, edges, costs, prizes):
    """What the tree is chosen for, smaller being better: the cost of its edges plus the prizes of the nodes it misses."""
    inside = set(nodes)
    return float(sum(costs[edge] for edge in edges) + sum(prize for node, prize in enumerate(prizes) if node not in inside))


def _checked(count, edges, costs, prizes, root, pruning):
    ends = [(int(u), int(v)) for u, v in edges]
    costs, prizes = [float(cost) for cost in costs], [float(prize) for prize in prizes]
    if (len(costs), len(prizes)) != (len(ends), count):
        raise ValueError(f"{len(costs)} costs and {len(prizes)} prizes for {len(ends)} edges and {count} nodes: one each is expected.")
    for name, values in (("cost", costs), ("prize", prizes)):
        for place, value in enumerate(values):
            if not (isfinite(value) and value >= 0):
                raise ValueError(f"{name} {place} is {value}: a finite number, not negative, is expected.")
    for place, (u, v) in enumerate(ends):
        if not (0 <= u < count and 0 <= v < count):
            raise ValueError(f"edge {place} is ({u}, {v}): both ends must be positions of the {count} nodes.")
    if root is not None and not 0 <= root < count:
        raise ValueError(f"root={root}: a position of the {count} nodes, or None, is expected.")
    if pruning not in PRUNINGS:
        raise ValueError(f"pruning={pruning!r}: one of {', '.join(PRUNINGS)} is expected.")
    return ends, costs, prizes


class _Growth:
    """Clusters and their moats. A merge makes a new cluster; the two old ones stay in the lists, as what lies inside it.

    The rest of an edge, what no moat covers yet, is shared out between its two ends: each end's cluster notes, on a clock of its own
    that stands still while the cluster is idle, when it will have covered its share. Then the edge is looked at again: it is
    covered, or the other end fell behind (it went idle) and the rest is shared out anew. So an idle cluster costs nothing, and
    merging two clusters moves the notes of the smaller one only.
    """

    def __init__(self, ends, costs, prizes, root):
        count = len(prizes)
        self.ends, self.costs, self.now = ends, costs, 0.0
        self.root = root  # the cluster that holds the root; it never grows
        self.born = [0.0] * count  # time of birth, of each cluster
        self.left = list(prizes)  # prizes left to spend, at birth
        self.stopped = [inf] * count  # when it went idle or was merged; infinite: it grows
        self.zero = [0.0] * count  # when its clock read 0
        self.notes = [[] for _ in range(count)]  # heap of (clock, edge, version)
        self.inside = [None] * count  # the cluster it was merged into
        self.up, self.gap = list(range(count)), [0.0] * count  # union-find: a cluster around, and the width of all moats on the way there
        self.merges = []  # (edge, cluster, cluster, the one of them that was idle, or None); the i-th made cluster count + i
        self.version = [0] * len(ends)  # of an edge: notes of an older version are void
        self.events = []  # heap of (time, kind, edge or cluster, cluster, version)
        self.growing = count
        if root is not None:
            self.stopped[root], self.growing = 0.0, count - 1
        for edge, (u, v) in enumerate(ends):
            if u != v:
                self.share_out(edge, costs[edge], u, v)
        for cluster in range(count):
            self.plan(cluster)

    def run(self):
        """Grow until one cluster is left growing, or, with a root, none; returns the cluster to take the tree from."""
        while self.growing > (self.root is None):
            time, kind, edge, cluster, version = heappop(self.events)
            if self.stopped[cluster] < inf:
                continue
            self.now = max(self.now, time)
            if kind == STOP:
                self.stopped[cluster] = self.now
                self.growing -= 1
            elif self.notes[cluster] and self.notes[cluster][0][1:] == (edge, version):
                heappop(self.notes[cluster])
                if version == self.version[edge]:
                    self.look(edge)
                self.announce(cluster)
        return self.stopped.index(inf) if self.root is None else self.root

    def look(self, edge):
        """Merge along an edge that is covered, or share out the rest of it."""
        (one, radius), (other, other_radius) = map(self.find, self.ends[edge])
        if one == other:
            return
        rest = self.costs[edge] - radius - other_radius
        if rest <= TOLERANCE * (self.costs[edge] + self.now):
            self.merge(edge, one, other)
        else:
            self.share_out(edge, rest, one, other)
            self.announce(one)
            self.announce(other)

    def share_out(self, edge, rest, one, other):
        """Growing ends take equal shares of the rest. An idle end takes none, so that its first act on growing again is to look at the edge."""
        self.version[edge] += 1
        growing = (self.stopped[one] == inf) + (self.stopped[other] == inf)
        for cluster in (one, other):
            share = rest / growing if self.stopped[cluster] == inf else 0.0
            heappush(self.notes[cluster], (self.clock(cluster) + share, edge, self.version[edge]))

    def merge(self, edge, one, other):
        """A new cluster of two, with what is left of both prizes. One that holds the root does not grow."""
        new, left = len(self.born), 0.0
        idle = [cluster for cluster in (one, other) if self.stopped[cluster] < inf]
        for cluster in (one, other):
            left += max(0.0, self.left[cluster] - self.moat(cluster))
            self.up[cluster], self.gap[cluster], self.inside[cluster] = new, self.moat(cluster), new
        few, many = sorted((one, other), key=lambda cluster: len(self.notes[cluster]))
        notes, later = self.notes[many], self.clock(many) - self.clock(few)
        for clock, noted, version in self.notes[few]:
            if version == self.version[noted]:
                heappush(notes, (clock + later, noted, version))
        zero = self.now - self.clock(many)
        for cluster in (one, other):
            self.stopped[cluster], self.notes[cluster] = min(self.now, self.stopped[cluster]), None
        rooted = self.root in (one, other)
        self.merges.append((edge, one, other, idle[0] if idle and not rooted else None))
        for column, value in (
            (self.born, self.now), (self.left, left), (self.stopped, self.now if rooted else inf), (self.zero, zero),
            (self.notes, notes), (self.inside, None), (self.up, new), (self.gap, 0.0),
        ):  # fmt: skip
            column.append(value)
        self.growing += len(idle) - 2 + (not rooted)
        self.root = new if rooted else self.root
        self.plan(new)

    def plan(self, cluster):
        """The events of a new cluster: when its prizes will be spent, and the first edge to look at."""
        if self.stopped[cluster] == inf:
            heappush(self.events, (self.born[cluster] + self.left[cluster], STOP, cluster, cluster, 0))
            self.announce(cluster)

    def announce(self, cluster):
        """Make an event of a growing cluster's earliest valid note."""
        if self.stopped[cluster] < inf:
            return
        notes = self.notes[cluster]
        while notes and notes[0][2] != self.version[notes[0][1]]:
            heappop(notes)
        if notes:
            clock, edge, version = notes[0]
            heappush(self.events, (self.zero[cluster] + clock, LOOK, edge, cluster, version))

    def find(self, node):
        """The outermost cluster around a node, and how far the moats around the node reach."""
        up, gap, reach = self.up, self.gap, 0.0
        while up[node] != node:
            around = up[node]
            if up[around] != around:
                gap[node] += gap[around]
                up[node] = up[around]
            reach += gap[node]
            node = up[node]
        return node, reach + self.moat(node)

    def moat(self, cluster):
        return min(self.now, self.stopped[cluster]) - self.born[cluster]

    def clock(self, cluster):
        return min(self.now, self.stopped[cluster]) - self.zero[cluster]


def _without_idle_branches(growth, count, last, cut):
    """Nodes and merge edges of the last cluster. With `cut`, from the last merge back: what was idle stays only if a later edge that stays ends in it."""
    kept, touched = [False] * len(growth.born), [False] * len(growth.born)
    kept[last], tree = True, []
    for step in reversed(range(len(growth.merges))):
        edge, one, other, idle = growth.merges[step]
        if not kept[count + step]:
            continue
        for cluster in (one, other):
            kept[cluster] = not cut or cluster != idle or touched[cluster]
        if kept[one] and kept[other]:
            tree.append(edge)
            for cluster in growth.ends[edge]:
                while cluster is not None and not touched[cluster]:
                    touched[cluster] = True
                    cluster = growth.inside[cluster]
    return [node for node in range(count) if kept[node]], tree


def _best_subtree(nodes, tree, ends, costs, prizes, root):
    """The subtree with the most prizes - cost (through the root, if there is one): a branch stays if it is worth more than the edge to it."""
    beside = {node: [] for node in nodes}
    for edge in sorted(tree):
        u, v = ends[edge]
        beside[u].append((v, edge))
        beside[v].append((u, edge))
    start = min(nodes) if root is None else root
    order, above = [start], {start: None}
    for node in order:
        for child, edge in beside[node]:
            if child not in above:
                above[child] = (node, edge)
                order.append(child)
    worth = {node: prizes[node] for node in nodes}
    for node in reversed(order[1:]):
        parent, edge = above[node]
        worth[parent] += max(0.0, worth[node] - costs[edge])
    top = min(nodes, key=lambda node: (-worth[node], node)) if root is None else root
    kept = {top}
    for node in order:
        if above[node] and above[node][0] in kept and worth[node] > costs[above[node][1]]:
            kept.add(node)
    return kept, [above[node][1] for node in kept if node != top]
