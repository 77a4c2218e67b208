"""The prize-collecting Steiner tree: a tree that takes many of the prizes on a graph's nodes and
pays little for its edges.

Goemans and Williamson's method in three steps. *Growth*: every node is a cluster with a moat around
it. All moats widen at the same speed, and what a cluster spends on moats comes out of its prizes.
Two moats that meet on an edge merge their clusters along it; a cluster whose prizes are spent goes
idle. *The tree*: the merge edges inside the last cluster standing. *Pruning*: a part that had gone
idle, and that nothing but its own branch holds on to, is cut off again: its prizes did not pay for
the way. `moats.py` has the growth, this file the tree and the pruning.
"""

from math import isfinite

from .moats import Growth

PRUNINGS = ("gw", "strong", "none")


def prize_collecting_steiner_tree(count, edges, costs, prizes, root=None, pruning="gw"):
    """A tree with small cost(tree) + missed prizes: `(nodes, edges)`, both sorted lists of
    positions.

    count: number of nodes. edges: (m, 2) node positions, undirected; parallel edges and self-loops
    are allowed. costs (m,) and prizes (count,): finite and not negative. root: a node that the tree
    must hold, or None. pruning: "gw" (Goemans and Williamson), "strong" (the best subtree of the
    unpruned tree) or "none". The tree always has a node, unless `count` is 0.

    With OPT the least cost + missed prizes of any tree (of any tree through `root`, if there is
    one), up to rounding:

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
    ends, costs, prizes = _checked(count, edges, costs, prizes, root, pruning)
    if not count:
        return [], []
    growth = Growth(ends, costs, prizes, root)
    last = growth.run()
    nodes, tree = _without_idle_branches(growth, count, last, cut=pruning == "gw")
    if pruning == "strong":
        nodes, tree = _best_subtree(nodes, tree, ends, costs, prizes, root)
    return sorted(nodes), sorted(tree)


def objective(nodes, edges, costs, prizes):
    """What the tree is chosen for, smaller being better: the cost of its edges plus the prizes of
    the nodes it misses.
    """
    inside = set(nodes)
    return float(
        sum(costs[edge] for edge in edges)
        + sum(prize for node, prize in enumerate(prizes) if node not in inside)
    )


def _checked(count, edges, costs, prizes, root, pruning):
    ends = [(int(u), int(v)) for u, v in edges]
    costs, prizes = [float(cost) for cost in costs], [float(prize) for prize in prizes]
    if (len(costs), len(prizes)) != (len(ends), count):
        raise ValueError(
            f"{len(costs)} costs and {len(prizes)} prizes for {len(ends)} edges and {count} nodes: one each is expected."
        )
    for name, values in (("cost", costs), ("prize", prizes)):
        for place, value in enumerate(values):
            if not (isfinite(value) and value >= 0):
                raise ValueError(
                    f"{name} {place} is {value}: a finite number, not negative, is expected."
                )
    for place, (u, v) in enumerate(ends):
        if not (0 <= u < count and 0 <= v < count):
            raise ValueError(
                f"edge {place} is ({u}, {v}): both ends must be positions of the {count} nodes."
            )
    if root is not None and not 0 <= root < count:
        raise ValueError(f"root={root}: a position of the {count} nodes, or None, is expected.")
    if pruning not in PRUNINGS:
        raise ValueError(f"pruning={pruning!r}: one of {', '.join(PRUNINGS)} is expected.")
    return ends, costs, prizes


def _without_idle_branches(growth, count, last, cut):
    """Nodes and merge edges of the last cluster. With `cut`, from the last merge back: what was
    idle stays only if a later edge that stays ends in it.
    """
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
    """The subtree with the most prizes - cost (through the root, if there is one): a branch stays
    if it is worth more than the edge to it.
    """
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
