"""The growth phase of the prize-collecting Steiner tree: moats around clusters of nodes, all
widening at one speed.
"""

from heapq import heappop, heappush
from math import inf

TOLERANCE = 1e-12  # of an edge's cost and the time: what is left of an edge below this is rounding
STOP, LOOK = 0, 1  # kinds of events; at equal times a cluster goes idle first


class Growth:
    """Clusters and their moats. A merge makes a new cluster; the two old ones stay in the lists, as
    what lies inside it.

    The rest of an edge, what no moat covers yet, is shared out between its two ends: each end's
    cluster notes, on a clock of its own that stands still while the cluster is idle, when it will
    have covered its share. Then the edge is looked at again: it is covered, or the other end fell
    behind (it went idle) and the rest is shared out anew. So an idle cluster costs nothing, and
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
        self.up, self.gap = (
            list(range(count)),
            [0.0] * count,
        )  # union-find: a cluster around, and the width of all moats on the way there
        # (edge, cluster, cluster, the one of them that was idle, or None); the i-th made cluster
        # count + i
        self.merges = []
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
        """Grow until one cluster is left growing, or, with a root, none; returns the cluster to
        take the tree from.
        """
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
        """Growing ends take equal shares of the rest. An idle end takes none, so that its first act
        on growing again is to look at the edge.
        """
        self.version[edge] += 1
        growing = (self.stopped[one] == inf) + (self.stopped[other] == inf)
        for cluster in (one, other):
            share = rest / growing if self.stopped[cluster] == inf else 0.0
            heappush(self.notes[cluster], (self.clock(cluster) + share, edge, self.version[edge]))

    def merge(self, edge, one, other):
        """A new cluster of two, with what is left of both prizes. One that holds the root does not
        grow.
        """
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
        """The events of a new cluster: when its prizes will be spent, and the first edge to look
        at.
        """
        if self.stopped[cluster] == inf:
            heappush(
                self.events, (self.born[cluster] + self.left[cluster], STOP, cluster, cluster, 0)
            )
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
        """How wide the cluster's own moat is by now."""
        return min(self.now, self.stopped[cluster]) - self.born[cluster]

    def clock(self, cluster):
        """How long the cluster has grown, on the clock of its notes, which stands still while it is
        idle.
        """
        return min(self.now, self.stopped[cluster]) - self.zero[cluster]
