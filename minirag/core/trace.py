"""The typed steps of a trace: what each operator saw and chose, in fields with names.

A step is asked for by its type or by its operator's name, `trace.last(NodeStep)` or
`trace.last("ppr")`, never by position. Steps that only one method has stand beside that method.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from .errors import MiniragError

Vector = NDArray[np.floating]
SHOWN = 10  # rows of a step that people are shown


class Scored(NamedTuple):
    """What an operator chose: how it is called, where it stands in its list, how well it did."""

    label: str
    index: int  # type: ignore[assignment]  # the field's term; no row is searched by tuple.index
    score: float


class ScoredNode(Scored):
    """A chosen node: `index` in `Graph.nodes`; `label` is its name, or the phrase linked to it."""


class ScoredEdge(Scored):
    """A chosen relation: `index` in `Graph.edges`."""


class ScoredCommunity(Scored):
    """A chosen community, by its position; `score` is its report's rating, or a cosine."""


class ScoredPath(NamedTuple):
    """A path, as node names in their order, and its reliability."""

    nodes: tuple[str, ...]
    score: float

    @property
    def label(self) -> str:
        return " → ".join(self.nodes)


@dataclass(frozen=True)
class Step:
    """One operator at work: its name, what it did in a sentence, and what it chose, best first.

    `items` are `(label, score)` pairs for people; the fields of each subclass are for code.
    """

    operator: str
    summary: str
    items: tuple[tuple[str, float], ...] = ()
    shows: ClassVar[str] = ""  # the field whose first rows are `items` where none are given

    def __post_init__(self) -> None:
        if self.shows and not self.items:
            rows = getattr(self, self.shows)[:SHOWN]
            object.__setattr__(self, "items", tuple((row.label, float(row.score)) for row in rows))

    def __str__(self) -> str:
        shown = ", ".join(f"{label} ({score:.3f})" for label, score in self.items[:5])
        more = f", and {len(self.items) - 5} more" if len(self.items) > 5 else ""
        return f"{self.operator}: {self.summary}" + (f" -> {shown}{more}" if shown else "")


# Subclasses inherit `==` and `repr`: their own fields, often arrays, are neither compared nor
# shown.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EntityStep(Step):
    """The names that a question mentions, normalised."""

    entities: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KeywordStep(Step):
    """Keywords of a question: `high` (themes) and `low` (particulars), as they are searched;
    `given` is `(high, low)` as the model replied.
    """

    high: tuple[str, ...]
    low: tuple[str, ...]
    given: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VectorStep(Step):
    """The question as a vector, (d,)."""

    vector: Vector


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NodeStep(Step):
    """Chosen nodes, best first."""

    nodes: tuple[ScoredNode, ...]
    shows = "nodes"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WalkStep(Step):
    """A score for every node, (nodes,), and the weights that the walk restarted at, (nodes,)."""

    scores: Vector
    reset: Vector


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EdgeStep(Step):
    """Chosen relations, best first."""

    edges: tuple[ScoredEdge, ...]
    shows = "edges"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FactStep(Step):
    """A score for every distinct relation (row of `fact_matrix`), (relations,)."""

    scores: Vector


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChunkStep(Step):
    """A score for every chunk, (chunks,). Every trace of `score_many` ends in one."""

    scores: Vector


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PathStep(Step):
    """Chosen paths, best first, and for each step of each path the positions of its edges."""

    paths: tuple[ScoredPath, ...]
    edges: tuple[tuple[tuple[int, ...], ...], ...]
    shows = "paths"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubgraphStep(Step):
    """A subgraph, as sorted positions of its nodes and edges."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EgoGraphStep(SubgraphStep):
    """The union of ego-graphs, and their roots, best first."""

    roots: tuple[ScoredNode, ...]
    shows = "roots"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SteinerStep(SubgraphStep):
    """A tree, and the prizes, (nodes,) and (edges,), that it collects."""

    node_prizes: Vector
    edge_prizes: Vector


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CommunityStep(Step):
    """Chosen communities in the operator's order. `level`: the one they are of, where one is."""

    communities: tuple[ScoredCommunity, ...]
    level: int | None = None
    shows = "communities"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContextStep(Step):
    """What was put before the reader: section -> number of its texts, and all their tokens."""

    sections: Mapping[str, int]
    tokens: int


S = TypeVar("S", bound=Step)


class Trace(tuple[Step, ...]):
    """The steps of one question in their order."""

    def all(self, kind: type[S]) -> list[S]:
        """Every step of a type."""
        return [step for step in self if isinstance(step, kind)]

    @overload
    def last(self, kind: type[S]) -> S: ...
    @overload
    def last(self, kind: str) -> Step: ...
    def last(self, kind: type[Step] | str) -> Step:
        """The last step of a type, or of an operator's name.

        Raises `MiniragError`, naming the steps that there are.
        """
        for step in reversed(self):
            if step.operator == kind if isinstance(kind, str) else isinstance(step, kind):
                return step
        wanted = kind if isinstance(kind, str) else kind.__name__
        there = ", ".join(f"{step.operator} ({type(step).__name__})" for step in self) or "none"
        raise MiniragError(f"the trace has no step {wanted!r}; its steps are: {there}.")
