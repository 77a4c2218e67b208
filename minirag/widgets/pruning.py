"""Explorers of two prunings: PathRAG's flow, which keeps the most reliable paths, and GRAG's soft
pruning, which fades nodes and edges.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algorithms.ego_graphs import TextualGraph
from ..algorithms.flow import PathSearch, expands, resource_flow, search_paths
from ..algorithms.vectors import normalize
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.trace import Vector
from ..viz import Figure, draw_graph, layout
from ..viz.charts import Highlight
from .explorer import Choice, Explorer, Slider, Switch

if TYPE_CHECKING:
    import networkx as nx

    from ..viz.scene import Point

ANY = ""
MAX_PATHS = 2000  # looked at from one start: a hand on a slider should not wait
# Alpha and threshold of the searches whose paths decide which nodes are drawn.
GRID = ((0.8, 0.05), (0.8, 0.01), (1.0, 0.01), (0.5, 0.05))
BY_HAND = "by hand: a falling curve"
NEAR = 5  # texts that `describe` tells of

Factors = tuple[Vector, Vector]  # alpha_n (n,) and alpha_e (m,)


class Search(NamedTuple):
    """Paths with their reliability, best first; starts pruned at once; whether paths are left that
    were not looked at.
    """

    paths: list[tuple[tuple[str, ...], float]]
    pruned: list[str]
    cut: bool


class PathExplorer(Explorer):
    """PathRAG's flow over a graph: alpha, theta, N, K, a start and an end, each way or both.

    `graph`: a networkx DiGraph of names; `nodes`: the names that a question retrieved, best first,
    of which N count. The area of a node is its resource from the start, or its mean over all
    starts; the best K paths from start to end are bold. Drawn are the retrieved nodes and those on
    their paths, at most `shown`.

    Source: PathRAG, Eq. 2-4 (eq-2, eq-3, eq-4)
    """

    def __init__(
        self, graph: "nx.DiGraph", nodes: Iterable[str], count: int | None = None, top_k: int = 5,
        start: str = ANY, end: str = ANY, shown: int = 30,
    ) -> None:  # fmt: skip
        if not graph.is_directed():
            way = "its switch opens every edge both ways"
            raise MiniragError(f"PathExplorer needs a networkx DiGraph; {way}.")
        self.nodes = list(dict.fromkeys(nodes))
        if unknown := [name for name in self.nodes if name not in graph]:
            raise MiniragError(f"{unknown[0]!r} is no node of the graph.")
        if len(self.nodes) < 2:
            raise MiniragError("PathExplorer needs two retrieved nodes or more.")
        self.graphs, self.shown = {True: graph, False: graph.to_undirected()}, shown
        self._searched = lru_cache(maxsize=256)(self._search)
        self._flow = lru_cache(maxsize=512)(resource_flow)
        self._around = lru_cache(maxsize=64)(self._neighbourhood)
        options = (("every node found", ANY), *((name, name) for name in self.nodes))
        most = len(self.nodes)
        super().__init__(
            Choice("start", "start", options, start),
            Choice("end", "end", options, end),
            Slider("alpha", "alpha: what is passed on", 0.1, 1.0, 0.05, 0.8),
            Slider("threshold", "theta: too thin to go on", 0.01, 0.4, 0.01, 0.05),
            Slider("count", "N: nodes found", 2, most, 1, count or most),
            Slider("top_k", "K: paths kept", 1, 15, 1, top_k),
            Switch("directed", "along the arrows only", True),
        )

    @property
    def found(self) -> list[str]:
        """The N nodes that count; a chosen start or end counts too."""
        ends = (name for name in (self.state["start"], self.state["end"]) if name != ANY)
        return list(dict.fromkeys([*self.nodes[: self.state["count"]], *ends]))

    @property
    def starts(self) -> list[str]:
        return [self.state["start"]] if self.state["start"] != ANY else self.found

    @property
    def search(self) -> Search:
        """The search at the present state."""
        s = self.state
        setting = (tuple(self.found), s["alpha"], s["threshold"], s["directed"])
        kept = self._between(s["start"], s["end"], *setting)[: s["top_k"]]
        graph, threshold = self.graphs[s["directed"]], s["threshold"]
        pruned = [name for name in self.starts if not expands(graph, name, 1.0, threshold)]
        return Search(kept, pruned, bool(self._searched(*setting).capped))

    def _search(
        self, found: tuple[str, ...], alpha: float, threshold: float, directed: bool
    ) -> PathSearch:
        graph, most = self.graphs[directed], MAX_PATHS * len(found)
        return search_paths(graph, found, alpha, threshold, most, max_paths=MAX_PATHS)

    def _between(self, start: str, end: str, *setting: Any) -> list[tuple[tuple[str, ...], float]]:
        """The paths of a search that go from this start to this end."""
        rows = self._searched(*setting).paths
        return [row for row in rows if start in (ANY, row[0][0]) and end in (ANY, row[0][-1])]

    @property
    def resource(self) -> dict[str, float]:
        """What each node holds: from the start, or on average over all starts."""
        s, total = self.state, dict[str, float]()
        graph = self.graphs[s["directed"]]
        for start in self.starts:
            flow = self._flow(graph, start, s["alpha"], s["threshold"])
            for node, amount in flow.items():
                total[node] = total.get(node, 0.0) + amount / len(self.starts)
        return total

    def _neighbourhood(self, start: str, end: str) -> "tuple[nx.DiGraph, dict[str, Point]]":
        """The part of the graph to draw for a start and an end, and its places: the same for all
        other controls.
        """
        names = list(self.nodes)
        for directed in (True, False):
            for alpha, threshold in GRID:
                setting = (tuple(self.nodes), alpha, threshold, directed)
                paths = self._between(start, end, *setting)[:15]
                names += [name for path, _ in paths for name in path]
        whole = self.graphs[True]
        part = type(whole)()  # not `subgraph`: its order is that of a set
        part.add_nodes_from(list(dict.fromkeys(names))[: self.shown])
        part.add_edges_from((u, v) for u, v in whole.edges if u in part and v in part)
        return part, layout(part, highlight={"found": self.nodes})

    def figure(self) -> Figure:
        """The resource as area, the kept paths bold; paths over nodes that are not drawn are told
        in the caption.
        """
        s, paths, resource = self.state, self.search.paths, self.resource
        part, places = self._around(s["start"], s["end"])
        drawn = [path for path, _ in paths if all(name in part for name in path)]
        lost = len(paths) - len(drawn)
        caption = f"{self._setting()} {len(paths)} paths kept"
        caption += f", {lost} of them over nodes not drawn." if lost else "."
        ends = [name for name in (s["start"], s["end"]) if name != ANY]
        found = [name for name in self.found if name not in ends]
        held, roles = {name: resource.get(name, 0.0) for name in part}, {"start or end": ends}
        shown = part if s["directed"] else part.to_undirected()
        draw = partial(draw_graph, shown, places, held, roles | {"found": found}, paths=drawn)
        name = "resource" if s["start"] != ANY else "mean resource over all starts"
        height, top = max(y for _, y in places.values()) + 40, max(resource.values())
        return draw(caption=caption, height=height, score_name=name, score_max=top)

    def _setting(self) -> str:
        s = self.state
        way = "along the arrows" if s["directed"] else "both ways"
        numbers = f"alpha {s['alpha']:.2f}, theta {s['threshold']:.2f}"
        return f"{numbers}, N {s['count']}, K {s['top_k']}, {way}."

    def describe(self) -> str:
        search, resource = self.search, self.resource
        best = sorted(resource, key=lambda name: (-round(resource[name], 9), name))[:6]
        most = ", ".join(f"{name} {resource[name]:.3f}" for name in best)
        start, end = (self.state[name] or "every node found" for name in ("start", "end"))
        lines = [f"from {start} to {end}: {self._setting()}"]
        lines += [f"{len(resource)} nodes reached; most resource: {most}"]
        lines += [f"pruned at the start: {', '.join(search.pruned)}"] if search.pruned else []
        lines += ["not all paths were looked at"] if search.cut else []
        paths = [f"  {score:.4f}  {' > '.join(path)}" for path, score in search.paths]
        return "\n".join(lines + (paths or ["  no path"]))


class PruningExplorer(Explorer):
    """One graph, two questions and what lies between them: nodes and edges fade with their factors.

    graph: a `TextualGraph`. questions: the questions to choose from. encoder: see
    `minirag.load_encoder`. The question moves: with a share s, its vector is (1 - s) times the
    first one's plus s times the second one's, at length 1. Factors by hand are a sigmoid that falls
    with the distance, sigmoid(steepness * (middle - distance)), the same for nodes and edges.
    learnt: {name: function of the question's vector (d,) to (alpha_n (n,), alpha_e (m,))}, more
    ways to choose the factors. answer: a function of the question's vector to what is shown below
    the figure, a text.

    Source: GRAG, Eq. 5-6 (eq-5, eq-6)
    """

    def __init__(
        self, graph: TextualGraph, questions: Iterable[str], encoder: Encoder,
        learnt: Mapping[str, Callable[[Vector], Factors]] | None = None,
        answer: Callable[[Vector], str] | None = None, highlight: Highlight | None = None,
    ) -> None:  # fmt: skip
        questions = list(questions)
        if not graph.nodes or not questions:
            wanted = "a graph with nodes and at least one question"
            raise MiniragError(f"PruningExplorer needs {wanted}.")
        self.graph, self.highlight = graph, highlight
        self.learnt, self.answer = dict(learnt or {}), answer
        relations = [text for _, text, _ in graph.edges]
        vectors = np.asarray(encoder.encode([*graph.nodes, *relations]), dtype=np.float64)
        self.node_vectors, self.edge_vectors = np.split(vectors, [len(graph.nodes)])
        asked = np.asarray(encoder.encode(questions, kind="query"), dtype=np.float64)
        self.asked = dict(zip(questions, asked))
        self._places = layout(graph, height=400)
        options = tuple((question, question) for question in questions)
        ways = tuple((way, way) for way in (BY_HAND, *self.learnt))
        choices = [Choice("question", "question", options, questions[0])]
        choices += [Choice("other", "moves towards", options, questions[-1])]
        choices += [Choice("factors", "factors", ways, ways[-1][0])] if self.learnt else []
        super().__init__(
            *choices,
            Slider("share", "share of the other", 0.0, 1.0, 0.05, 0.0),
            Slider("middle", "distance where the factor is 1/2", 0.7, 1.5, 0.05, 1.2),
            Slider("steepness", "steepness", 0.0, 30.0, 1.0, 10.0),
        )

    @property
    def vector(self) -> Vector:
        """z_q as it is now: (d,), of length 1."""
        question, other = self.asked[self.state["question"]], self.asked[self.state["other"]]
        share = self.state["share"]
        return np.asarray(normalize((1 - share) * question + share * other), dtype=np.float64)

    def distances(self) -> Factors:
        """How far each node and each edge lies from the question: (n,) and (m,).

        Source: GRAG, Eq. 6 (eq-6)
        """
        vector = self.vector
        nodes = np.linalg.norm(self.node_vectors - vector, axis=1)
        return nodes, np.linalg.norm(self.edge_vectors - vector, axis=1)

    @property
    def way(self) -> str:
        """How the factors are made: by hand, or the name of a learnt way."""
        return self.state.get("factors", BY_HAND)

    @property
    def factors(self) -> Factors:
        """(alpha_n (n,), alpha_e (m,)) as they are now."""
        if self.way != BY_HAND:
            nodes, edges = self.learnt[self.way](self.vector)
            return np.asarray(nodes, dtype=np.float64), np.asarray(edges, dtype=np.float64)
        middle, steepness = self.state["middle"], self.state["steepness"]
        nodes, edges = (1 / (1 + np.exp(-steepness * (middle - far))) for far in self.distances())
        return nodes, edges

    def figure(self) -> Figure:
        """The graph with its factors as ink; of parallel edges the larger one."""
        nodes, edges = self.factors
        pairs: dict[tuple[int, int], float] = {}
        for (head, _, tail), share in zip(self.graph.edges, edges.tolist()):
            pairs[head, tail] = max(share, pairs.get((head, tail), 0.0))
        draw = partial(draw_graph, self.graph, self._places, edge_labels=True, height=400)
        roles, note = self.highlight, self._setting()
        return draw(highlight=roles, node_opacity=nodes, edge_opacity=pairs, caption=note)

    def html(self) -> str:
        below = f"<p>{escape(self.answer(self.vector))}</p>" if self.answer else ""
        return self.figure().svg + below

    def _setting(self) -> str:
        state = self.state
        question, share = state["question"], state["share"]
        if share:
            question = f"{1 - share:.0%} {question} + {share:.0%} {state['other']}"
        way = self.way
        if way == BY_HAND:
            way = f"by hand, 1/2 at {state['middle']:.2f}, steepness {state['steepness']:g}"
        return f"{question} Factors {way}."

    def describe(self) -> str:
        """The nearest nodes and edges with distance and factor, and the sums of all factors: how
        much is left of the graph.
        """
        lines, texts = [self._setting()], (self.graph.nodes, self.graph.lines())
        for name, rows, far, alpha in zip(
            ("nodes", "edges"), texts, self.distances(), self.factors
        ):
            left = f"{alpha.sum():.1f} of {len(rows)} left"
            lines.append(f"{name}: {left}; the nearest, with distance and factor")
            nearest = sorted(zip(far.round(6), range(len(rows))))[:NEAR]
            lines += [f"  {far[i]:.2f}  {alpha[i]:.2f}  {rows[i]}" for _, i in nearest]
        return "\n".join([*lines, self.answer(self.vector)] if self.answer else lines)
