"""The explorer of PathRAG: resource flowing from a start, and the paths that it makes reliable."""

from functools import lru_cache

from ..algorithms.flow import expands, resource_flow, search_paths
from ..core.errors import MiniragError
from ..viz import draw_graph, layout
from .explorer import Choice, Explorer, Slider, Switch

ANY = ""
MAX_PATHS = 2000  # looked at from one start: a hand on a slider should not wait
GRID = (
    (0.8, 0.05),
    (0.8, 0.01),
    (1.0, 0.01),
    (0.5, 0.05),
)  # settings whose paths decide which nodes are drawn


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
        graph,
        nodes,
        count=None,
        top_k=5,
        alpha=0.8,
        threshold=0.05,
        start=ANY,
        end=ANY,
        shown=30,
        directed=True,
    ):
        if not graph.is_directed():
            raise MiniragError(
                "PathExplorer needs a networkx DiGraph; its switch opens every edge both ways."
            )
        self.nodes = list(dict.fromkeys(nodes))
        unknown = [name for name in self.nodes if name not in graph]
        if unknown or len(self.nodes) < 2:
            raise MiniragError(
                f"{unknown[0]!r} is no node of the graph."
                if unknown
                else "PathExplorer needs two retrieved nodes or more."
            )
        self.graphs, self.shown = {True: graph, False: graph.to_undirected()}, shown
        self._search = lru_cache(maxsize=256)(self._searched)
        self._flow = lru_cache(maxsize=512)(
            lambda directed, name, alpha, threshold: resource_flow(
                self.graphs[directed], name, alpha, threshold
            )
        )
        self._around = lru_cache(maxsize=64)(self._neighbourhood)
        options = tuple((name, name) for name in self.nodes)
        super().__init__(
            [
                Choice("start", "start", (("every node found", ANY), *options), start),
                Choice("end", "end", (("every node found", ANY), *options), end),
                Slider("alpha", "alpha: what is passed on", 0.1, 1.0, 0.05, alpha),
                Slider("threshold", "theta: too thin to go on", 0.01, 0.4, 0.01, threshold),
                Slider("count", "N: nodes found", 2, len(self.nodes), 1, count or len(self.nodes)),
                Slider("top_k", "K: paths kept", 1, 15, 1, top_k),
                Switch("directed", "along the arrows only", directed),
            ]
        )

    @property
    def found(self):
        """The N nodes that count; a chosen start or end counts too."""
        s = self.state
        return list(
            dict.fromkeys(
                [
                    *self.nodes[: s["count"]],
                    *(name for name in (s["start"], s["end"]) if name != ANY),
                ]
            )
        )

    @property
    def starts(self):
        return [self.state["start"]] if self.state["start"] != ANY else self.found

    @property
    def search(self):
        """`(paths, pruned, cut)` now: `[(path, reliability)]`, best first; starts pruned at once;
        whether there are paths not looked at.
        """
        s = self.state
        return self._search(
            tuple(self.found),
            s["start"],
            s["end"],
            s["alpha"],
            s["threshold"],
            s["directed"],
            s["top_k"],
        )

    def _searched(self, found, start, end, alpha, threshold, directed, top_k):
        graph = self.graphs[directed]
        seen = search_paths(graph, found, alpha, threshold, None, max_paths=MAX_PATHS)
        kept = [
            (path, score)
            for path, score in seen.paths
            if start in (ANY, path[0]) and end in (ANY, path[-1])
        ]
        starts = [start] if start != ANY else found
        pruned = [name for name in starts if not expands(graph, name, 1.0, threshold)]
        return kept[:top_k], pruned, bool(seen.capped_starts)

    @property
    def resource(self):
        """What each node holds: from the start, or on average over all starts."""
        s, total = self.state, {}
        for name in self.starts:
            for node, amount in self._flow(s["directed"], name, s["alpha"], s["threshold"]).items():
                total[node] = total.get(node, 0.0) + amount / len(self.starts)
        return total

    def _neighbourhood(self, start, end):
        """The part of the graph to draw for a start and an end, and its places: the same for all
        other controls.
        """
        names = list(self.nodes)
        for directed in (True, False):
            for alpha, threshold in GRID:
                paths, _, _ = self._search(
                    tuple(self.nodes), start, end, alpha, threshold, directed, 15
                )
                names += [name for path, _ in paths for name in path]
        kept = list(dict.fromkeys(names))[: self.shown]
        part = type(self.graphs[True])()  # not `subgraph`: its order is that of a set
        part.add_nodes_from(kept)
        part.add_edges_from((u, v) for u, v in self.graphs[True].edges if u in part and v in part)
        return part, layout(part, highlight={"found": self.nodes})

    def figure(self):
        """The resource as area, the kept paths bold; paths over nodes that are not drawn are told
        in the caption.
        """
        s, (paths, _, _) = self.state, self.search
        part, places = self._around(s["start"], s["end"])
        drawn = [path for path, _ in paths if all(name in part for name in path)]
        resource = self.resource
        caption = f"{self._head()} {len(paths)} paths kept" + (
            f", {len(paths) - len(drawn)} of them over nodes not drawn."
            if len(drawn) < len(paths)
            else "."
        )
        roles = {
            "start or end": [n for n in (s["start"], s["end"]) if n != ANY],
            "found": [n for n in self.found if n not in (s["start"], s["end"])],
        }
        name = "resource" if s["start"] != ANY else "mean resource over all starts"
        graph = part if s["directed"] else part.to_undirected()
        return draw_graph(
            graph, places, {n: resource.get(n, 0.0) for n in part}, roles, paths=drawn, caption=caption, score_name=name,
            score_max=max(resource.values()), height=max(y for _, y in places.values()) + 40,
        )  # fmt: skip

    def html(self):
        return self.figure().svg

    def _head(self):
        s = self.state
        way = "along the arrows" if s["directed"] else "both ways"
        return f"alpha {s['alpha']:.2f}, theta {s['threshold']:.2f}, N {s['count']}, K {s['top_k']}, {way}."

    def describe(self):
        s, (paths, pruned, cut) = self.state, self.search
        resource = self.resource
        best = sorted(resource, key=lambda name: (-round(resource[name], 9), name))[:6]
        lines = [
            f"from {s['start'] or 'every node found'} to {s['end'] or 'every node found'}: {self._head()}"
        ]
        lines += [
            f"{len(resource)} nodes reached; most resource: "
            + ", ".join(f"{name} {resource[name]:.3f}" for name in best)
        ]
        lines += [f"pruned at the start: {', '.join(pruned)}"] if pruned else []
        lines += ["not all paths were looked at"] if cut else []
        return "\n".join(
            [
                *lines,
                *([f"  {score:.4f}  {' > '.join(path)}" for path, score in paths] or ["  no path"]),
            ]
        )
