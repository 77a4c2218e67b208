"""A graph whose nodes and edges are texts: GRAG and G-Retriever retrieve, describe, encode it."""

from collections.abc import Iterable
from dataclasses import dataclass


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
