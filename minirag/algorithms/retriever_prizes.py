"""G-Retriever's subgraph: prizes for the nodes and edges that are similar to a question, and the
tree that collects them.

What the method's released code does around its Steiner tree: ranks instead of similarities as
prizes, prizes on edges, and a price an edge.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .steiner import prize_collecting_steiner_tree

FADE = 0.01  # a prize of a lower rank is at most (1 - FADE) times the one above it


def node_prizes(similarities: ArrayLike, k: int = 3) -> NDArray[np.float64]:
    """(n,) prizes: k, k - 1, ..., 1 for the k most similar nodes, the lower position first where
    they tie; 0 for all others.

    Source: GRAG, Sec. 5.1 (tab-2)
    """
    cosines = _numbers(similarities, "node")
    prizes = np.zeros(len(cosines))
    k = min(_rank(k, "k"), len(cosines))
    prizes[np.argsort(-cosines, kind="stable")[:k]] = np.arange(k, 0, -1)
    return prizes


def edge_prizes(similarities: ArrayLike, k_e: int = 5) -> NDArray[np.float64]:
    """(m,) prizes for the edges with one of the k_e highest *distinct* similarities, 0 for all
    others.

    The edges of the i-th value (from 0) share k_e - i among them, and each gets at most 0.99 of
    what an edge one value higher gets, so that many copies of one relation are worth no more than a
    rare one. Equal means equal as numbers: round first if rounding errors may part what is the same
    text. A value of zero or below gets its prize too when it ranks among the k_e. (The released
    code writes prizes over similarities while it compares: where zero ranks among the k_e, all
    lower values share its prize. Not rebuilt.)

    Source: GRAG, Sec. 5.1 (tab-2)
    """
    cosines = _numbers(similarities, "edge")
    values, place, ties = np.unique(cosines, return_inverse=True, return_counts=True)
    k_e = min(_rank(k_e, "k_e"), len(values))
    prize_of_value, most = np.zeros(len(values)), float(k_e)
    for rank in range(k_e):
        value = len(values) - 1 - rank
        prize_of_value[value] = min((k_e - rank) / ties[value], most)
        most = prize_of_value[value] * (1 - FADE)
    prizes: NDArray[np.float64] = prize_of_value[place]
    return prizes


def retrieve_subgraph(
    node_similarities: ArrayLike,
    edge_similarities: ArrayLike,
    edges: Iterable[Sequence[int]],
    k: int = 3,
    k_e: int = 5,
    edge_cost: float = 0.5,
) -> tuple[list[int], list[int]]:
    """The subgraph for a question: `(nodes, edges)`, sorted lists of positions.

    node_similarities: (n,). edge_similarities: (m,). edges: (m, 2) positions of head and tail; the
    tree ignores directions.
    edge_cost: the price of every edge, C_e. It is lowered to 0.995 of the highest edge prize, so
    that at least one edge is worth more than it costs. An edge's prize makes it cheaper; where the
    prize exceeds the price, the rest becomes the prize of a virtual node in the middle of the edge,
    with two edges for nothing. Taking the virtual node means taking the edge, and with it both
    ends. A graph without edges is returned whole, as the released code does. Raises ValueError for
    shapes that do not fit and a negative price.

    Source: GRAG, Sec. 5.1 (tab-2); Survey, Sec. 6.1 (op-subgraph)
    """
    prizes, bonus = node_prizes(node_similarities, k), edge_prizes(edge_similarities, k_e)
    pairs = [(int(head), int(tail)) for head, tail in edges]
    count = len(prizes)
    if len(pairs) != len(bonus):
        raise ValueError(
            f"{len(pairs)} edges and {len(bonus)} edge similarities: one each is expected."
        )
    for place, pair in enumerate(pairs):
        # Here, since a virtual node would take a position past the last.
        if not 0 <= min(pair) <= max(pair) < count:
            raise ValueError(
                f"edge {place} is {pair}: both ends must be positions of the {count} nodes."
            )
    if not edge_cost >= 0:
        raise ValueError(f"edge_cost={edge_cost}: the price of an edge must not be negative.")
    if not pairs:
        return list(range(count)), []
    instance = with_virtual_nodes(pairs, prizes, bonus, edge_cost)
    plain, virtual = instance.plain, instance.virtual
    nodes, tree = prize_collecting_steiner_tree(
        len(instance.prizes), instance.edges, instance.costs, instance.prizes
    )
    taken = {plain[edge] for edge in tree if edge < len(plain)}
    taken |= {virtual[node - count] for node in nodes if node >= count}
    ends = {end for edge in taken for end in pairs[edge]}
    return sorted(ends | {node for node in nodes if node < count}), sorted(taken)


class VirtualNodes(NamedTuple):
    """A Steiner instance in which a virtual node follows the real ones for each edge whose prize
    exceeds its price.

    plain: the original position of each of the first edges, which keep both their ends; virtual:
    that of each virtual node.
    """

    edges: list[tuple[int, int]]
    costs: list[float]
    prizes: NDArray[np.float64]
    plain: list[int]
    virtual: list[int]


def with_virtual_nodes(
    edges: Sequence[tuple[int, int]],
    prizes: NDArray[np.float64],
    bonus: NDArray[np.float64],
    edge_cost: float,
) -> VirtualNodes:
    """The instance to solve, from the prizes of nodes and those of edges (`bonus`).

    Source: GRAG, Sec. 5.1 (tab-2)
    """
    price = min(edge_cost, bonus.max() * (1 - FADE / 2)) if bonus.any() else edge_cost
    plain = [edge for edge in range(len(edges)) if bonus[edge] <= price]
    virtual = [edge for edge in range(len(edges)) if bonus[edge] > price]
    ends, costs = [edges[edge] for edge in plain], [price - bonus[edge] for edge in plain]
    for node, edge in enumerate(virtual, start=len(prizes)):
        ends += [(edges[edge][0], node), (node, edges[edge][1])]
        costs += [0.0, 0.0]
    all_prizes = np.concatenate([prizes, bonus[virtual] - price])
    return VirtualNodes(ends, costs, all_prizes, plain, virtual)


def _numbers(similarities: ArrayLike, of: str) -> NDArray[np.float64]:
    numbers = np.asarray(similarities, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError(
            f"{of} similarities of shape {numbers.shape}: one finite number for each {of} is "
            "expected."
        )
    return numbers


def _rank(k: int, name: str) -> int:
    if k < 0:
        raise ValueError(f"{name}={k}: a number of ranks, 0 or more, is expected.")
    return int(k)
