"""A graph whose nodes and edges are texts, and its ego-graphs: who belongs to them, their mean
vectors, and which are nearest to a question. All roots at once, as sparse matrices.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .vectors import SAME, Positions, normalize

Direction = Literal["out", "in", "both"]
QUESTIONS_AT_ONCE = 256


@dataclass(frozen=True)
class TextualGraph:
    """A directed multigraph of texts, the papers' G(V, E, {T_n}, {T_e}).

    nodes: the text of each node; two nodes may share one. edges: `(head, text, tail)`, head and
    tail being positions in `nodes`. Raises ValueError for an edge that leaves the graph or is no
    triple. GRAG defines it in its Sec. 3.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        edges = [(*edge,) for edge in self.edges]
        if wrong := next((edge for edge in edges if len(edge) != 3), None):
            raise ValueError(f"the edge {wrong!r} is not of the form (head, text, tail).")
        object.__setattr__(
            self, "edges", tuple((int(head), text, int(tail)) for head, text, tail in edges)
        )
        for edge in self.edges:
            if not (0 <= edge[0] < len(self.nodes) and 0 <= edge[2] < len(self.nodes)):
                raise ValueError(
                    f"the edge {edge} leaves a graph of {len(self.nodes)} nodes: "
                    "head and tail are positions in `nodes`."
                )

    def __repr__(self) -> str:
        return f"TextualGraph of {len(self.nodes)} nodes and {len(self.edges)} edges"

    def subgraph(self, nodes: Iterable[int], edges: Iterable[int] | None = None) -> "TextualGraph":
        """The graph of these node positions, in this order, with these edge positions, or with all
        edges between them.

        Raises ValueError for a position that is none or comes twice, and for an edge whose ends are
        not both among the nodes.
        """
        nodes = list(nodes)
        place = {node: position for position, node in enumerate(nodes)}
        if len(place) < len(nodes) or (
            nodes and not 0 <= min(nodes) <= max(nodes) < len(self.nodes)
        ):
            raise ValueError(
                f"the nodes {nodes} are not different positions among {len(self.nodes)} nodes."
            )
        if edges is None:
            edges = [
                i for i, (head, _, tail) in enumerate(self.edges) if head in place and tail in place
            ]
        edges = list(edges)
        if edges and not 0 <= min(edges) <= max(edges) < len(self.edges):
            raise ValueError(f"the edges {edges} are not positions among {len(self.edges)} edges.")
        kept = [self.edges[i] for i in edges]
        if lost := next(
            (edge for edge in kept if edge[0] not in place or edge[2] not in place), None
        ):
            raise ValueError(f"the edge {lost} has an end that is not among the nodes kept.")
        return TextualGraph(
            tuple(self.nodes[node] for node in nodes),
            tuple((place[head], text, place[tail]) for head, text, tail in kept),
        )

    def lines(self) -> list[str]:
        """Each edge as "head -> text -> tail", for people."""
        return [
            f"{self.nodes[head]} -> {text} -> {self.nodes[tail]}" for head, text, tail in self.edges
        ]


def members(
    graph: TextualGraph, hops: int, direction: Direction = "out", roots: ArrayLike | None = None
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """What belongs to the ego-graph of every node: `(nodes, edges)`, two CSR matrices of ones,
    (roots, nodes) and (roots, edges).

    graph: a `TextualGraph`; hops: the paper's k. direction: "out" takes the nodes that the root
    reaches along at most `hops` edges, the kit's reading of the paper; "in" those that reach the
    root, as the released code does; "both" forgets the direction. Edges are induced: an ego-graph
    has all edges between its nodes, those between two of its outermost nodes included. roots:
    positions, one row each; None takes all nodes in order. Raises ValueError for hops that are no
    whole number from 0 on, an unknown direction, or a root that is no node.

    Source: GRAG, Sec. 4.1 (eq-2)
    """
    count = len(graph.nodes)
    heads, tails = _ends(graph)
    _check_reach(hops, direction)
    rows = np.arange(count) if roots is None else np.asarray(roots, dtype=np.int64).reshape(-1)
    if len(rows) and not (0 <= rows.min() and rows.max() < count):
        raise ValueError(
            f"A root is a position among {count} nodes; got {rows.min()} to {rows.max()}."
        )
    links = _ones(heads, tails, (count, count))
    links = {"out": links, "in": links.T, "both": links + links.T}[direction].tocsr()
    inside = _ones(np.arange(len(rows)), rows, (len(rows), count))
    newest = inside
    for _ in range(int(hops)):
        reached = _as_ones(newest @ links)
        newest = _as_ones(reached - reached.multiply(inside))
        if not newest.nnz:
            break
        inside = (inside + newest).tocsr()
    induced = inside[:, heads].multiply(inside[:, tails])
    return _as_ones(inside), _as_ones(induced)


def pool(
    node_vectors: ArrayLike,
    edge_vectors: ArrayLike,
    node_members: sparse.csr_matrix,
    edge_members: sparse.csr_matrix,
) -> NDArray[np.float64]:
    """The paper's z_g: the mean over the vectors of all nodes and all edges of each ego-graph,
    (roots, d), float64.

    node_vectors: (n, d), edge_vectors: (m, d); node_members: (roots, n), edge_members: (roots, m),
    of ones and zeros, as `members` gives them.
    Nodes and edges weigh the same: two nodes [1, 0] and [0, 1] and an edge [1, 1] give [2/3, 2/3].
    An ego-graph without members gets zeros. Raises ValueError for shapes that do not fit.

    Source: GRAG, Eq. 2 (eq-2)
    """
    nodes = np.asarray(node_vectors, dtype=np.float64)
    edges = np.asarray(edge_vectors, dtype=np.float64)
    shapes = nodes.shape, edges.shape, node_members.shape, edge_members.shape
    wide = nodes.ndim == edges.ndim == 2 and nodes.shape[1] == edges.shape[1]
    if not (
        wide
        and node_members.shape == (edge_members.shape[0], len(nodes))
        and edge_members.shape[1] == len(edges)
    ):
        raise ValueError(
            "Shapes (n, d), (m, d), (roots, n) and (roots, m) are expected; "
            f"got {', '.join(map(str, shapes))}."
        )
    totals = node_members @ nodes + edge_members @ edges
    sizes = np.asarray(node_members.sum(axis=1) + edge_members.sum(axis=1), dtype=np.float64)
    means: NDArray[np.float64] = totals / np.maximum(sizes.reshape(-1, 1), 1)
    return means


def ego_graph(
    graph: TextualGraph, root: int, hops: int, direction: Direction = "out"
) -> tuple[TextualGraph, tuple[int, ...], tuple[int, ...]]:
    """One ego-graph: `(TextualGraph, node positions, edge positions)`; the positions say where in
    `graph` its nodes and edges come from.

    The root is node 0. The other nodes come breadth-first, the neighbours of a node in the order of
    their positions; the edges keep their order.

    Source: GRAG, Sec. 4.1 (eq-2)
    """
    if not 0 <= root < len(graph.nodes):
        raise ValueError(f"root={root!r}: expected a position among {len(graph.nodes)} nodes.")
    _check_reach(hops, direction)
    near: dict[int, set[int]] = {}
    for head, _, tail in graph.edges:
        if direction != "in":
            near.setdefault(head, set()).add(tail)
        if direction != "out":
            near.setdefault(tail, set()).add(head)
    depth, waiting = {root: 0}, deque([root])
    while waiting:
        node = waiting.popleft()
        if depth[node] < hops:
            fresh = [other for other in sorted(near.get(node, ())) if other not in depth]
            depth.update(dict.fromkeys(fresh, depth[node] + 1))
            waiting.extend(fresh)
    order = tuple(depth)
    edges = tuple(
        i for i, (head, _, tail) in enumerate(graph.edges) if head in depth and tail in depth
    )
    return graph.subgraph(order, edges), order, edges


def rank_ego_graphs(
    question_vectors: ArrayLike, pooled: ArrayLike, top: int
) -> tuple[Positions, NDArray[np.float64]]:
    """The `top` ego-graphs with the greatest cosine to each question: positions (q, min(top, n))
    and cosines of that shape, best first, equals by position.

    question_vectors: (q, d), or (d,) for one question, whose result is then (min(top, n),) twice;
    pooled: (n, d). A vector of zeros has the cosine 0. Raises ValueError for widths that differ or
    top < 1.

    Source: GRAG, Eq. 4 (eq-4)
    """
    given = np.asarray(question_vectors, dtype=np.float64)
    egos = np.asarray(pooled, dtype=np.float64)
    questions = np.atleast_2d(given)
    if egos.ndim != 2 or questions.shape[1] != egos.shape[1]:
        raise ValueError(
            f"Questions {questions.shape} and ego-graphs {egos.shape} must be (q, d) and (n, d) "
            "with the same d: were they made by one encoder?"
        )
    if top < 1:
        raise ValueError(f"top must be at least 1; got {top}.")
    asked, held = normalize(questions), normalize(egos)
    places = np.empty((len(questions), min(top, len(egos))), dtype=np.int64)
    cosines = np.empty(places.shape)
    for start in range(0, len(questions), QUESTIONS_AT_ONCE):
        block = slice(start, start + QUESTIONS_AT_ONCE)
        found = np.round(asked[block] @ held.T, SAME)
        places[block] = np.argsort(-found, axis=1, kind="stable")[:, : places.shape[1]]
        cosines[block] = np.take_along_axis(found, places[block], axis=1)
    return (places[0], cosines[0]) if given.ndim == 1 else (places, cosines)


def _check_reach(hops: int, direction: str) -> None:
    if int(hops) != hops or hops < 0:
        raise ValueError(f"hops={hops!r}: expected a whole number, 0 or more.")
    if direction not in get_args(Direction):
        raise ValueError(f"direction={direction!r}: expected 'out', 'in' or 'both'.")


def _ends(graph: TextualGraph) -> tuple[Positions, Positions]:
    ends = np.array([(head, tail) for head, _, tail in graph.edges], dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _ones(rows: Positions, columns: Positions, shape: tuple[int, int]) -> sparse.csr_matrix:
    return _as_ones(sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape))


def _as_ones(matrix: sparse.spmatrix) -> sparse.csr_matrix:
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    matrix.data = np.ones_like(matrix.data)
    return matrix
