"""Which elements of a community its report is written from, and in which order: the two rules of
GraphRAG's Sec. 2.5, for leaf-level (`prioritise`) and for higher-level communities (`substitute`).

Sizes are tokens, counted by whoever calls; a limit is never exceeded.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

Edge = tuple[int, int, int]  # its id, its source and its target
Element = tuple[Literal["node", "claim", "edge"], int]


def prefix(sizes: Sequence[int], limit: int, header: int = 0) -> int:
    """How many of the first items fit: the first overflow stops, even if a later item were small
    enough.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """
    used = header
    for count, size in enumerate(sizes):
        used += size
        if used > limit:
            return count
    return len(sizes)


def prefixes(sizes: Sequence[Sequence[int]], limits: Sequence[int]) -> list[int]:
    """How many of the first items of each list fit, where what one list leaves of its limit is for
    the others, an item each in turn, until nothing more fits.
    """
    counts, own, spare = [0] * len(sizes), list(limits), 0
    while True:
        before = spare
        for place, row in enumerate(sizes):
            for size in row[counts[place] :]:
                lent = size <= spare
                if not lent and size > own[place]:
                    break
                counts[place] += 1
                if lent:
                    spare -= size
                    break
                own[place] -= size
            spare, own[place] = spare + max(own[place], 0), 0
        if spare == before:
            return counts


def prioritise(
    edges: Iterable[Edge], degree: Mapping[int, int],
    claims: Mapping[int, Iterable[int]] | None = None, alone: Iterable[int] = (),
) -> list[Element]:  # fmt: skip
    """The elements of a leaf community in the order in which they enter its report's context.

    edges: `(edge id, source, target)`; degree: node -> degree in the whole graph; claims: node ->
    its claims' ids;
    alone: the community's nodes without an edge in it, which come last. Edges go by decreasing sum
    of their nodes' degrees (equals in the given order); each brings its source, its target, their
    claims and itself, and nothing is named twice. Returns `("node" | "claim" | "edge", id)` pairs.

    Source: GraphRAG, Sec. 2.5 (sec-2.5-leaf)
    """

    def described(*nodes: int) -> list[Element]:
        linked = [claim for node in nodes for claim in (claims or {}).get(node, ())]
        return [*(("node", node) for node in nodes), *(("claim", claim) for claim in linked)]

    order: list[Element] = []
    ranked = sorted(edges, key=lambda edge: -(degree[edge[1]] + degree[edge[2]]))
    for edge, source, target in ranked:
        order += [*described(source, target), ("edge", edge)]
    for node in sorted(alone, key=lambda node: -degree[node]):
        order += described(node)
    return list(dict.fromkeys(order))


def first_edges(edges: Sequence[Edge], nodes: Iterable[int] | None = None) -> list[Edge]:
    """The edges the released code keeps for a community: of each node its first edge as a source,
    else its first as a target.

    edges: `(edge id, source, target)`. nodes: keep the first edges of these only; None: of every
    node that has an edge. Busy nodes lose all their other edges, so that the most prominent edge
    may vanish.

    Source: GraphRAG, Sec. 2.5 (sec-2.5-leaf)
    """
    as_source: dict[int, int] = {}
    as_target: dict[int, int] = {}
    for edge, source, target in edges:
        as_source.setdefault(source, edge)
        as_target.setdefault(target, edge)
    first = {**as_target, **as_source}
    kept = {first[node] for node in (first if nodes is None else nodes) if node in first}
    return [row for row in edges if row[0] in kept]


def substitute(
    children: Sequence[tuple[int, int]], limit: int
) -> tuple[list[int], list[int], list[int]]:
    """Make the sub-communities of a community fit: `(replaced, kept, dropped)`, lists of positions
    in `children`.

    children: `(element tokens, report tokens)` of each sub-community. Taken by decreasing element
    tokens, sub-communities have their elements replaced by their report, one at a time, until the
    rest fits. If all reports together do not fit, as many as do are kept, the largest
    sub-communities first.

    Source: GraphRAG, Sec. 2.5 (sec-2.5-higher)
    """
    ranked = sorted(range(len(children)), key=lambda i: -children[i][0])
    total = sum(elements for elements, _ in children)
    for count in range(len(ranked) + 1):
        if total <= limit:
            return ranked[:count], sorted(ranked[count:]), []
        if count < len(ranked):
            elements, report = children[ranked[count]]
            total += report - elements
    fit = prefix([children[i][1] for i in ranked], limit)
    return ranked[:fit], [], ranked[fit:]
