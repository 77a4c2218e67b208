"""The explorer of PathRAG: resource flowing from a start, and the paths that it makes reliable."""

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..algorithms.flow import expands, resource_flow, search_paths
from ..core.errors import MiniragError
from ..viz import Figure, draw_graph, layout
from .explorer import Choice, Explorer, Slider, Switch

if TYPE_CHECKING:
    import networkx as nx

    from ..viz.scene import Point

ANY = ""
MAX_PATHS = 2000  # looked at from one start: a hand on a slider should not wait
# Alpha and threshold of the searches whose paths decide which nodes are drawn.
GRID = ((0.8, 0.05), (0.8, 0.01), (1.0, 0.01), (0.5, 0.05))


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
        self,
        graph: "nx.DiGraph",
        nodes: Iterable[str],
        count: int | None = None,
        top_k: int = 5,
        start: str = ANY,
        end: str = ANY,
        shown: int = 30,
    ) -> None:
        if not graph.is_directed():
            way = "its switch opens every edge both ways"
            raise MiniragError(f"PathExplorer needs a networkx DiGraph; {way}.")
        self.nodes = list(dict.fromkeys(nodes))
        if unknown := [name for name in self.nodes if name not in graph]:
            raise MiniragError(f"{unknown[0]!r} is no node of the graph.")
        if len(self.nodes) < 2:
            raise MiniragError("PathExplorer needs two retrieved nodes or more.")
        self.graphs, self.shown = {True: graph, False: graph.to_undirected()}, shown
        self._search = lru_cache(maxsize=256)(self._searched)
        self._flow = lru_cache(maxsize=512)(self._flowed)
        self._around = lru_cache(maxsize=64)(self._neighbourhood)
        options = (("every node found", ANY), *((name, name) for name in self.nodes))
        most = len(self.nodes)
        super().__init__(
            [
                Choice("start", "start", options, start),
                Choice("end", "end", options, end),
                Slider("alpha", "alpha: what is passed on", 0.1, 1.0, 0.05, 0.8),
                Slider("threshold", "theta: too thin to go on", 0.01, 0.4, 0.01, 0.05),
                Slider("count", "N: nodes found", 2, most, 1, count or most),
                Slider("top_k", "K: paths kept", 1, 15, 1, top_k),
                Switch("directed", "along the arrows only", True),
            ]
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
        setting = (s["alpha"], s["threshold"], s["directed"], s["top_k"])
        return self._search(tuple(self.found), s["start"], s["end"], *setting)

    def _searched(
        self,
        found: tuple[str, ...],
        start: str,
        end: str,
        alpha: float,
        threshold: float,
        directed: bool,
        top_k: int,
    ) -> Search:
        graph = self.graphs[directed]
        most = MAX_PATHS * len(found)
        search = search_paths(graph, found, alpha, threshold, most, max_paths=MAX_PATHS)
        kept = []
        for path, score in search.paths:
            if start in (ANY, path[0]) and end in (ANY, path[-1]):
                kept.append((path, score))
        starts = [start] if start != ANY else found
        pruned = [name for name in starts if not expands(graph, name, 1.0, threshold)]
        return Search(kept[:top_k], pruned, bool(search.capped_starts))

    def _flowed(
        self, directed: bool, start: str, alpha: float, threshold: float
    ) -> dict[str, float]:
        return resource_flow(self.graphs[directed], start, alpha, threshold)

    @property
    def resource(self) -> dict[str, float]:
        """What each node holds: from the start, or on average over all starts."""
        s, total = self.state, dict[str, float]()
        for start in self.starts:
            flow = self._flow(s["directed"], start, s["alpha"], s["threshold"])
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
                found = tuple(self.nodes)
                search = self._search(found, start, end, alpha, threshold, directed, 15)
                names += [name for path, _ in search.paths for name in path]
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
        ends = (s["start"], s["end"])
        roles = {
            "start or end": [name for name in ends if name != ANY],
            "found": [name for name in self.found if name not in ends],
        }
        return draw_graph(
            part if s["directed"] else part.to_undirected(),
            places,
            {name: resource.get(name, 0.0) for name in part},
            roles,
            paths=drawn,
            caption=caption,
            height=max(y for _, y in places.values()) + 40,
            score_name="resource" if s["start"] != ANY else "mean resource over all starts",
            score_max=max(resource.values()),
        )

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
