"""What PathRAG puts into the prompt beside its paths, and how it is written down."""

import csv
import io
from collections import defaultdict

from . import rich_parts as parts
from .pathrag_paths import edge_said

NODE_HEAD = ("id", "entity", "type", "description", "rank")
UNTYPED = "UNKNOWN"  # what the released code makes of a node without a type
RELATION_HEAD = ("id", "source", "target", "description", "keywords", "weight", "rank")


class Lines:
    """A node and a relation as a line each; a budget counts the whole line."""

    def __init__(self, graph):
        self.graph = graph

    def node(self, place):
        """What a budget counts of a node."""
        return parts.entity_row(self.graph, place)

    def relation(self, place):
        """What a budget counts of a relation."""
        return parts.relation_row(self.graph, place)

    def nodes(self, places):
        """The nodes as texts of the prompt."""
        return [self.node(place) for place in places]

    def relations(self, places):
        """The relations as texts of the prompt."""
        return [self.relation(place) for place in places]

    def passages(self, places):
        """The passages as texts of the prompt."""
        return [self.graph.chunks[place].passage for place in places]

    def paths(self, texts):
        """The paths as texts of the prompt, in its order."""
        return list(texts)


class Tables(Lines):
    """Tables of comma-separated values, as the released code prints them; a budget counts a
    description alone. A rank is a degree, of a relation the sum of its ends'."""

    def __init__(self, graph):
        super().__init__(graph)
        self.degree = parts.degrees(graph)

    def node(self, place):
        return self.graph.nodes[place].description

    def relation(self, place):
        edge = self.graph.edges[place]
        return edge.description or edge.name

    def nodes(self, places):
        found = [(i, self.graph.nodes[i]) for i in places]
        rows = [
            (node.name, node.type or UNTYPED, node.description, self.degree[i]) for i, node in found
        ]
        return table(NODE_HEAD, rows)

    def relations(self, places):
        rows = []
        for place in places:
            edge = self.graph.edges[place]
            names = [self.graph.nodes[end].name for end in (edge.source, edge.target)]
            rank = self.degree[edge.source] + self.degree[edge.target]
            rows.append((*names, self.relation(place), edge.keywords, edge.weight, rank))
        return table(RELATION_HEAD, rows)

    def passages(self, places):
        numbered = enumerate(super().passages(places), start=1)
        rows = [f"{number},\t{passage}" for number, passage in numbered]
        return ["id,\tcontent\n" + rows[0], *rows[1:]] if rows else []

    def paths(self, texts):
        return table(("id", "context"), [([text],) for text in texts])  # a list of one, as there


LAYOUTS = {"lines": Lines, "tables": Tables}


def table(head, rows):
    """Numbered rows of comma-separated values, a text each; the head stands in the first one."""
    texts = []
    for number, row in enumerate(rows):
        written = io.StringIO()
        csv.writer(written).writerows([[number, *row]] if number else [head, [number, *row]])
        texts.append(written.getvalue().rstrip("\r\n"))
    return texts


def ends_of(graph, relations):
    """Both ends of every relation, each node once."""
    edges = [graph.edges[place] for place in relations]
    return list(dict.fromkeys(end for edge in edges for end in (edge.source, edge.target)))


def cited_by_nodes(graph, nodes):
    """Passages by the first node that cites them, then by how often a node that cites them points
    to another one that does, summed over all `nodes`."""
    onward, order = defaultdict(set), {}
    for edge in graph.edges:
        if edge.kind == "relation":
            onward[edge.source].add(edge.target)
    for number, node in enumerate(nodes):
        for place in dict.fromkeys(graph.nodes[node].chunks):
            shared = sum(place in graph.nodes[other].chunks for other in onward[node])
            first, before = order.get(place, (number, 0))
            order[place] = first, before - shared
    return sorted(order, key=order.get)


def told_path(path, places, graph, edge_text="keywords"):
    """A path in the words of the released code: each edge between the texts of its two ends, so
    that an inner node stands in it twice. places, edge_text: as in `textual_path`.

    Source: PathRAG, Eq. 5 (eq-5)
    """
    gap = " " if len(path) == 4 else ""  # the code writes one more space in its longest paths
    steps = []
    for source, target, edges in zip(path, path[1:], places):
        said = edge_said(graph, edges, edge_text)
        edge = f"through edge{gap}({said}) to connect to {source} and {target}."
        steps.append(_told_node(graph, source) + edge + _told_node(graph, target))
    return "and".join(steps)


def _told_node(graph, name):
    node = graph.nodes[graph.position[name]]
    return f"The entity {name} is a {node.type or UNTYPED} with the description({node.description})"
