"""The graph between corpus and index: nodes and edges that know the chunks they were read from. And
questions with a small graph each: what GRAG and G-Retriever are trained and measured on.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..algorithms.ego_graphs import TextualGraph
from .corpus import Chunk
from .errors import MiniragError
from .files import dump_jsonl, read_jsonl, write_atomic

if TYPE_CHECKING:
    import networkx as nx


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
    `Graph.nodes`; read from `chunks`.
    """

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

    def __repr__(self) -> str:
        relations = sum(edge.kind == "relation" for edge in self.edges)
        pairs = {
            frozenset((edge.source, edge.target)) for edge in self.edges if edge.kind == "synonymy"
        }
        extra = f" and {len(pairs)} synonymous pair{'s' * (len(pairs) != 1)}" if pairs else ""
        size = (
            f"{len(self.nodes)} nodes, {relations} relations{extra}, from {len(self.chunks)} chunks"
        )
        return f"{self.type.capitalize()} graph by {self.source}: {size}"

    @cached_property
    def position(self) -> dict[str, int]:
        """Node name -> position in `nodes`."""
        return {node.name: i for i, node in enumerate(self.nodes)}

    def to_networkx(self) -> "nx.MultiGraph":
        """A `networkx.MultiGraph` of node names, with every attribute of nodes and edges (readable
        for small graphs).
        """
        import networkx as nx

        graph = nx.MultiGraph(type=self.type, source=self.source)
        for node in self.nodes:
            attributes = {k: v for k, v in vars(node).items() if k != "name"}
            graph.add_node(node.name, **attributes)
        for edge in self.edges:
            attributes = {k: v for k, v in vars(edge).items() if k not in ("source", "target")}
            graph.add_edge(self.nodes[edge.source].name, self.nodes[edge.target].name, **attributes)
        return graph

    def save(self, folder: str | Path) -> Path:
        """Write `nodes.jsonl`, `edges.jsonl`, `chunks.jsonl` and, last of all, `graph.json`: a
        killed run leaves no half that loads.
        """
        folder = Path(folder)
        parts = {name: getattr(self, name) for name in PARTS}
        for name, rows in parts.items():
            if rows or name != "claims":
                write_atomic(folder / f"{name}.jsonl", dump_jsonl(map(asdict, rows)))
        counts = {name: len(rows) for name, rows in parts.items()}
        header = {"type": self.type, "source": self.source, **counts}
        write_atomic(folder / "graph.json", json.dumps(header, ensure_ascii=False, indent=1) + "\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> "Graph":
        """Read what `save` wrote. Raises `MiniragError` where the folder has no complete graph."""
        folder = Path(folder)
        if not (folder / "graph.json").is_file():
            raise MiniragError(
                f"{folder} holds no saved graph: a folder with graph.json, written by Graph.save,"
                " is expected."
            )
        header = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
        parts: dict[str, tuple[Any, ...]] = {}  # Any: Node, Edge, Chunk or Claim
        for name, kind in PARTS.items():
            written = name != "claims" or header.get(name)
            rows = read_jsonl(folder / f"{name}.jsonl") if written else ()
            parts[name] = tuple(kind(**_with_tuple(row)) for row in rows)
        found = {name: len(rows) for name, rows in parts.items()}
        if any(header.get(name, 0) != count for name, count in found.items()):
            raise MiniragError(
                f"{folder} is incomplete: graph.json announces {header}, the files hold {found}."
                " Build the graph again."
            )
        graph = cls(header["type"], header["source"], **parts)
        graph._check_places(folder)
        return graph

    def _check_places(self, folder: Path) -> None:
        """Raise where a node, edge or claim points to a node or chunk that is not there."""
        claims = [claim.subject for claim in self.claims]
        claims += [claim.object for claim in self.claims if claim.object is not None]
        ends = [place for edge in self.edges for place in (edge.source, edge.target)]
        check_places(claims + ends, len(self.nodes), f"{folder} names nodes")
        elements: tuple[Node | Edge | Claim, ...] = (*self.nodes, *self.edges, *self.claims)
        read = [place for element in elements for place in element.chunks]
        check_places(read, len(self.chunks), f"{folder} names chunks")


# Any: they have no base class in common.
PARTS: dict[str, type[Any]] = {"nodes": Node, "edges": Edge, "chunks": Chunk, "claims": Claim}


def _with_tuple(row: dict[str, Any]) -> dict[str, Any]:  # Any: a row of JSON
    return {**row, "chunks": tuple(row["chunks"])} if "chunks" in row else row


def check_places(places: Iterable[object], count: int, what: str) -> None:
    """Raise `MiniragError` unless every place is a whole number from 0 to `count` - 1."""
    for place in places:
        if type(place) is not int or not 0 <= place < count:
            named = f"{what} that are not there, such as number {place!r} of {count}"
            raise MiniragError(f"{named}. Build it again.")


@dataclass(frozen=True)
class GraphQuestion:
    """One question over one textual graph.

    question: the prompt's own text. asked: what the encoder sees of it (by default the same).
    answer: the text that a model learns to write.
    evidence_nodes, evidence_edges: positions of what a person would need; they measure retrieval
    and no method sees them.
    """

    id: str
    question: str
    answer: str
    graph: TextualGraph
    asked: str = ""
    evidence_nodes: tuple[int, ...] = ()
    evidence_edges: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.asked:
            object.__setattr__(self, "asked", self.question)

    @property
    def graph_texts(self) -> list[str]:
        """The texts of the graph's nodes, then those of its edges."""
        return [*self.graph.nodes, *(text for _, text, _ in self.graph.edges)]

    def __repr__(self) -> str:
        size = f"{len(self.graph.nodes)} nodes, {len(self.graph.edges)} edges"
        return f"GraphQuestion {self.id}: {self.question} -> {self.answer} ({size})"


@dataclass(frozen=True)
class GraphTask:
    """Graph questions in three parts; `train` is learnt from, `validation` decides when to stop,
    `test` is only measured.

    source: who made it, in a few words ("synthetic, seed 0"); every table that shows its numbers
    shows this too.
    """

    name: str
    source: str
    train: tuple[GraphQuestion, ...]
    validation: tuple[GraphQuestion, ...]
    test: tuple[GraphQuestion, ...]

    def __repr__(self) -> str:
        train, validation, test = map(len, self.parts)
        parts = f"{train} questions to train, {validation} to validate, {test} to test"
        return f"{self.name} ({self.source}): {parts}"

    @property
    def parts(self) -> tuple[tuple[GraphQuestion, ...], ...]:
        """The questions to train, to validate and to test."""
        return self.train, self.validation, self.test

    @property
    def questions(self) -> tuple[GraphQuestion, ...]:
        """All questions, in the order of the parts."""
        return (*self.train, *self.validation, *self.test)

    @property
    def answers(self) -> tuple[str, ...]:
        """The different answers of the training questions, sorted: what a tiny model can be taught
        to write.
        """
        return tuple(sorted({question.answer for question in self.train}))
