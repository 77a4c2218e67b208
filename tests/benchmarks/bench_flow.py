"""Flow-based pruning against exhaustive enumeration, on scale-free graphs with connected query
sets; and its cost as the graph grows.

`python tests/benchmarks/bench_flow.py` prints the tables; `pytest -m slow tests/benchmarks` holds
the ratios. Every row prints what was
connected: a search that connects nothing is fast and worth nothing.
"""

import random
import time
from itertools import permutations
from statistics import median

import networkx as nx

from minirag.algorithms.flow import expands, resource_flow, search_paths

ALPHA, THETA, TOP_K, HOPS = 0.8, 0.05, 15, 3
BOUND = 1 / ((1 - ALPHA) * THETA)  # nodes a start passes resource on from


def scale_free(nodes, seed, m=2):
    """A Barabasi-Albert graph as adjacency lists, each edge walked both ways: node -> list of
    neighbours. `graph[node]` is all that the flow reads.
    """
    rng = random.Random(seed)
    graph = {node: [] for node in range(nodes)}
    ends = list(range(m))
    for new in range(m, nodes):
        chosen = set()
        while len(chosen) < m:
            chosen.add(rng.choice(ends))
        for old in sorted(chosen):
            graph[new].append(old)
            graph[old].append(new)
            ends += (new, old)
    return graph


def query_set(graph, size, seed, most=20):
    """`size` nodes gathered by a random walk that keeps those with at most `most` ways out, so that
    the set hangs together.
    """
    rng = random.Random(seed)
    here = rng.choice([node for node in graph if 2 <= len(graph[node]) <= most])
    kept = {here}
    while len(kept) < size:
        here = rng.choice(graph[here])
        if (
            len(graph[here]) <= most
        ):  # the walk passes through hubs, but none starts a path: its resource is too thin at once
            kept.add(here)
    return sorted(kept)


def enumerate_all(graph, nodes, hops=HOPS):
    """The number of simple paths of at most `hops` edges between all ordered pairs: what must be
    listed where nothing is pruned.
    """
    count = 0
    for start, end in permutations(nodes, 2):
        stack = [(start,)]
        while stack:
            path = stack.pop()
            if path[-1] == end:
                count += 1
            elif len(path) <= hops:
                stack += [(*path, node) for node in graph[path[-1]] if node not in path]
    return count


def enumerate_once(graph, nodes, hops=HOPS):
    """The same paths by one walk a start instead of one a pair: the kindest enumeration, which no
    released code does.
    """
    ends, count = set(nodes), 0
    for start in nodes:
        stack = [(start,)]
        while stack:
            path = stack.pop()
            count += len(path) > 1 and path[-1] in ends
            if len(path) <= hops:
                stack += [(*path, node) for node in graph[path[-1]] if node not in path]
    return count


def largest(graph, nodes):
    """The most nodes that one start reaches with any resource, and the most it passes resource on
    from.
    """
    flows = [resource_flow(graph, start, ALPHA, THETA) for start in nodes]
    return max(map(len, flows)), max(
        sum(expands(graph, node, amount, THETA) for node, amount in flow.items()) for flow in flows
    )


def timed(action, rounds=1):
    """What the action gives, and the median of its milliseconds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = action()
        taken.append(1000 * (time.perf_counter() - start))
    return result, median(taken)


def in_turns(*actions, turns=10, at_least=15):
    """`(result, milliseconds)` of each action, the best of its turns: a busy machine then slows
    none more than another.

    An action is repeated in its turn until it has taken `at_least` milliseconds; what lasts that
    long anyway runs once.
    """
    taken, results = [[] for _ in actions], [None for _ in actions]
    for _ in range(turns):
        for place, action in enumerate(actions):
            spent = 0
            while spent < at_least:
                results[place], milliseconds = timed(action)
                taken[place].append(milliseconds)
                spent += milliseconds
    return [(result, min(some)) for result, some in zip(results, taken)]


def bench_pruning(nodes=20_000, sizes=(20, 40), seeds=(0, 1)):
    """Rows of both ways in one run: what was connected and found, milliseconds of each, and how
    many times faster pruning is than listing pair by pair.
    """
    rows = []
    for size in sizes:
        for seed in seeds:
            graph = scale_free(nodes, seed)
            asked = query_set(graph, size, seed)
            ways = in_turns(
                lambda: search(graph, asked),
                lambda: enumerate_all(graph, asked),
                lambda: enumerate_once(graph, asked),
            )
            (found, fast), (count, slow), (_, once) = ways
            rows.append(
                {
                    **said(graph, asked, found),
                    "ms": fast,
                    "listed": count,
                    "ms listing": slow,
                    "faster": slow / fast,
                    "ms a start": once,
                }
            )
    return rows


def bench_growth(edges=(2_000, 20_000, 200_000, 2_000_000), size=20, seeds=range(10)):
    """The same retrieval on ever larger graphs: the median of several query sets."""
    rows = []
    for count in edges:
        graph = scale_free(count // 2, 0)
        runs = []
        for seed in seeds:
            asked = query_set(graph, size, seed)
            found, took = timed(lambda: search(graph, asked), rounds=5)
            runs.append({**said(graph, asked, found), "ms": took})
        rows.append(
            {
                "edges": count,
                **{key: sorted(run[key] for run in runs)[len(runs) // 2] for key in runs[0]},
            }
        )
    return rows


def search(graph, asked):
    return search_paths(graph, asked, ALPHA, THETA, TOP_K)


def said(graph, asked, found):
    pairs = len(asked) * (len(asked) - 1)
    reached, opened = largest(graph, asked)
    return {
        "query": len(asked),
        "pairs": pairs,
        "connected": found.seen.pairs,
        "paths": len(found.paths),
        "visited": found.seen.visited,
        "by a start": reached,
        "passed on": opened,
        "bound": round(BOUND),
        "pruned": found.seen.pruned,
        "capped": found.capped,
    }


def same_as_networkx(nodes=300, seed=0):
    """Whether adjacency lists and a networkx graph give the same paths."""
    graph = scale_free(nodes, seed)
    asked = query_set(graph, 10, seed)
    return (
        search(graph, asked).paths
        == search(nx.DiGraph({u: {v: {} for v in some} for u, some in graph.items()}), asked).paths
    )


def show(title, rows):
    print(title)
    print("  ".join(f"{name:>10}" for name in rows[0]))
    for row in rows:
        print(
            "  ".join(
                f"{value:>10,.1f}" if isinstance(value, float) else f"{value:>10,}"
                for value in row.values()
            )
        )


if __name__ == "__main__":
    show(
        f"pruning (theta {THETA}) against enumeration up to {HOPS} hops, one process",
        bench_pruning(),
    )
    show("the same retrieval as the graph grows, medians", bench_growth())
