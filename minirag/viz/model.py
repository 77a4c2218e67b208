"""What a graph figure needs of a graph, whichever library it comes from."""

from dataclasses import dataclass

import numpy as np

from ..algorithms.textual import TextualGraph
from ..core.errors import MiniragError
from ..core.graph import Graph
from .scene import clean


@dataclass(frozen=True)
class Tie:
    """All edges between two nodes, drawn as one line: names of the relations, heaviest weight, and
    whether any is a real relation.
    """

    source: object
    target: object
    names: tuple[str, ...]
    kind: str
    weight: float


@dataclass(frozen=True)
class Drawable:
    """Node keys in their graph's order, their labels, and one tie per connected pair."""

    nodes: tuple
    labels: dict
    ties: tuple[Tie, ...]
    directed: bool = False

    def keep(self, chosen):
        """The part induced by these nodes."""
        chosen = set(chosen)
        nodes = tuple(node for node in self.nodes if node in chosen)
        ties = tuple(tie for tie in self.ties if tie.source in chosen and tie.target in chosen)
        return Drawable(nodes, {node: self.labels[node] for node in nodes}, ties, self.directed)

    def degrees(self):
        degree = dict.fromkeys(self.nodes, 0)
        for tie in self.ties:
            degree[tie.source] += 1
            degree[tie.target] += 1
        return degree


def drawable(graph, node_labels=None):
    """Read a `minirag.core.graph.Graph`, a networkx graph or a `TextualGraph`, whose nodes are its
    positions; raises `MiniragError` for anything else.
    """
    given = node_labels or {}
    if isinstance(graph, Graph):
        names = [node.name for node in graph.nodes]
        rows = [(names[e.source], names[e.target], e.name, e.kind, e.weight) for e in graph.edges]
        nodes, directed = names, False
    elif isinstance(graph, TextualGraph):
        nodes, directed, given = (
            range(len(graph.nodes)),
            True,
            {**dict(enumerate(graph.nodes)), **given},
        )
        rows = [(head, tail, text, "relation", 1.0) for head, text, tail in graph.edges]
    elif hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        nodes, directed = list(graph.nodes), graph.is_directed()
        rows = [
            (
                a,
                b,
                data.get("name") or data.get("relation") or "",
                data.get("kind", "relation"),
                data.get("weight", 1.0),
            )
            for a, b, data in graph.edges(data=True)
        ]
    else:
        raise MiniragError(
            f"Cannot draw a {type(graph).__name__}: a minirag.core.graph.Graph, a TextualGraph or a networkx graph is expected."
        )
    labels = {node: clean(given.get(node, node)) for node in nodes}
    return Drawable(tuple(dict.fromkeys(nodes)), labels, _ties(rows, directed), directed)


def _ties(rows, directed):
    """Merge parallel edges; in an undirected graph both directions are one tie, named from its
    first edge.
    """
    merged = {}
    for source, target, name, kind, weight in rows:
        key = (source, target)
        if not directed and (target, source) in merged:
            key = (target, source)
        names, kinds, heaviest = merged.setdefault(key, ([], set(), []))
        if name and clean(name) not in names and kind != "synonymy":
            names.append(clean(name))
        kinds.add(kind)
        heaviest.append(float(weight))
    return tuple(
        Tie(a, b, tuple(names), "synonymy" if kinds == {"synonymy"} else "relation", max(heaviest))
        for (a, b), (names, kinds, heaviest) in merged.items()
    )


def as_scores(view, scores):
    """Node -> float, from a mapping (absent nodes score 0) or from an array in the order of the
    graph's nodes.
    """
    if scores is None:
        return {}
    if hasattr(scores, "items"):
        return {node: float(scores.get(node, 0.0)) for node in view.nodes}
    values = np.asarray(scores, dtype=float)
    if values.shape != (len(view.nodes),):
        raise MiniragError(
            f"node_scores has shape {values.shape}: one score for each of the {len(view.nodes)} nodes, or a mapping from node to score, is expected."
        )
    return {node: float(value) for node, value in zip(view.nodes, values)}


def as_opacity(view, nodes, edges):
    """(node -> share, node pair -> share) of ink, from 0 to 1; None where nothing was given. Raises
    `MiniragError` for a share outside.
    """
    pairs = (
        {
            (tie.source, tie.target): float(edges.get((tie.source, tie.target), 1.0))
            for tie in view.ties
        }
        if edges is not None
        else None
    )
    found = as_scores(view, nodes) or None, pairs
    for share in (share for shares in found if shares for share in shares.values()):
        if not 0 <= share <= 1:
            raise MiniragError(f"An opacity of {share}: a number from 0 to 1 is expected.")
    return found


def as_roles(highlight):
    """Node -> role, in the order given: from a list of nodes (role "highlighted") or a mapping from
    role to nodes.
    """
    if not highlight:
        return {}
    if not hasattr(highlight, "items"):
        highlight = {"highlighted": [highlight] if isinstance(highlight, str) else highlight}
    roles = {}
    for role, nodes in highlight.items():
        for node in [nodes] if isinstance(nodes, str) else nodes:
            roles.setdefault(node, role)
    return roles
