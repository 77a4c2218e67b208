"""The graph between corpus and index: nodes and edges that remember the chunks they were read from."""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from .corpus import Chunk
from .errors import MiniragError
from .files import dump_jsonl, read_jsonl, write_atomic


@dataclass(frozen=True)
class Node:
    """A phrase, entity, chunk or summary. `chunks` are positions in `Graph.chunks`, one per
    mention, sorted.
    """

    name: str
    type: str = ""
    description: str = ""
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Edge:
    """A relation between two nodes (positions in `Graph.nodes`), read from `chunks`, one entry per
    occurrence.

    `kind` is "relation" for what a text says and "synonymy" for what only the encoder says (weight:
    cosine).
    """

    source: int
    target: int
    name: str = ""
    description: str = ""
    keywords: str = ""
    weight: float = 1.0
    chunks: tuple[int, ...] = ()
    kind: str = "relation"


@dataclass(frozen=True)
class Claim:
    """A covariate: what the text claims of `subject` and perhaps `object`, both positions in
    `Graph.nodes`; read from `chunks`."""

    subject: int
    object: int | None = None
    type: str = ""
    status: str = ""
    start: str = ""
    end: str = ""
    description: str = ""
    text: str = ""
    chunks: tuple[int, ...] = (0,)
    number: int | None = (
        None  # by which reports cite it, where that is not its position in `Graph.claims`
    )


@dataclass(frozen=True)
class Graph:
    """Nodes, edges and the chunks they came from.

    `type` is one of the survey's five: knowledge, textual knowledge, rich knowledge, passage, tree.
    `source` says who extracted it (a rule, a person, a named model). `claims` stay empty unless
    GraphRAG's covariates were asked for.

    Source: Survey, Sec. 4 (graphs); Survey, Table 2 (tab-2)
    """

    type: str
    source: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    chunks: tuple[Chunk, ...]
    claims: tuple[Claim, ...] = ()

    def __repr__(self):
        relations = sum(edge.kind == "relation" for edge in self.edges)
        pairs = len(
            {
                frozenset((edge.source, edge.target))
                for edge in self.edges
                if edge.kind == "synonymy"
            }
        )
        extra = f" and {pairs} synonymous pair{'s' * (pairs != 1)}" if pairs else ""
        size = (
            f"{len(self.nodes)} nodes, {relations} relations{extra}, from {len(self.chunks)} chunks"
        )
        return f"{self.type.capitalize()} graph by {self.source}: {size}"

    @cached_property
    def position(self):
        """Node name -> position in `nodes`."""
        return {node.name: i for i, node in enumerate(self.nodes)}

    def to_networkx(self):
        """A `networkx.MultiGraph` of node names, with every attribute of nodes and edges (readable
        for small graphs).
        """
        import networkx as nx

        graph = nx.MultiGraph(type=self.type, source=self.source)
        for node in self.nodes:
            graph.add_node(
                node.name, type=node.type, description=node.description, chunks=node.chunks
            )
        for edge in self.edges:
            attributes = {k: v for k, v in vars(edge).items() if k not in ("source", "target")}
            graph.add_edge(self.nodes[edge.source].name, self.nodes[edge.target].name, **attributes)
        return graph

    def save(self, folder):
        """Write `nodes.jsonl`, `edges.jsonl`, `chunks.jsonl` and, last of all, `graph.json`: a
        killed run leaves no half that loads.
        """
        folder = Path(folder)
        write_atomic(folder / "nodes.jsonl", dump_jsonl(map(asdict, self.nodes)))
        write_atomic(folder / "edges.jsonl", dump_jsonl(map(asdict, self.edges)))
        write_atomic(folder / "chunks.jsonl", dump_jsonl(map(asdict, self.chunks)))
        if self.claims:
            write_atomic(folder / "claims.jsonl", dump_jsonl(map(asdict, self.claims)))
        counts = {
            "nodes": len(self.nodes),
            "edges": len(self.edges),
            "chunks": len(self.chunks),
            "claims": len(self.claims),
        }
        header = {"type": self.type, "source": self.source, **counts}
        write_atomic(folder / "graph.json", json.dumps(header, ensure_ascii=False, indent=1) + "\n")
        return folder

    @classmethod
    def load(cls, folder):
        """Read what `save` wrote. Raises `MiniragError` where the folder holds no complete graph."""
        folder = Path(folder)
        if not (folder / "graph.json").is_file():
            raise MiniragError(
                f"{folder} holds no saved graph: a folder with graph.json, written by Graph.save, is expected."
            )
        header = json.loads((folder / "graph.json").read_text(encoding="utf-8"))

        with_tuple = lambda row: {**row, "chunks": tuple(row["chunks"])}
        rows = lambda name: map(with_tuple, read_jsonl(folder / name))
        nodes, edges = rows("nodes.jsonl"), rows("edges.jsonl")
        chunks = tuple(Chunk(**row) for row in read_jsonl(folder / "chunks.jsonl"))
        claims = tuple(Claim(**row) for row in rows("claims.jsonl")) if header.get("claims") else ()
        graph = cls(
            header["type"],
            header["source"],
            tuple(Node(**row) for row in nodes),
            tuple(Edge(**row) for row in edges),
            chunks,
            claims,
        )
        found = {
            "nodes": len(graph.nodes),
            "edges": len(graph.edges),
            "chunks": len(graph.chunks),
            "claims": len(graph.claims),
        }
        if any(header.get(name, 0) != count for name, count in found.items()):
            raise MiniragError(
                f"{folder} is incomplete: graph.json announces {header}, the files hold {found}. Build the graph again."
            )
        graph._check_places(folder)
        return graph

    def _check_places(self, folder):
        """Raise where a node, edge or claim points to a node or chunk that is not there."""
        claims = [claim.subject for claim in self.claims]
        claims += [claim.object for claim in self.claims if claim.object is not None]
        ends = [place for edge in self.edges for place in (edge.source, edge.target)]
        check_places(claims + ends, len(self.nodes), f"{folder} names nodes")
        elements = (*self.nodes, *self.edges, *self.claims)
        read = [place for element in elements for place in element.chunks]
        check_places(read, len(self.chunks), f"{folder} names chunks")


def check_places(places, count, what):
    """Raise `MiniragError` unless every place is a whole number from 0 to `count` - 1."""
    for place in places:
        if type(place) is not int or not 0 <= place < count:
            said = f"{what} that are not there, such as number {place!r} of {count}"
            raise MiniragError(f"{said}. Build it again.")
