"""How long the hierarchy and the report contexts of a large graph take, and how much memory.

`python tests/benchmarks/bench_communities.py [NODES EDGES ...]` prints a row a size; `pytest -m
slow tests/benchmarks` holds the largest to its bars. Times are processor seconds of one core, which
is what the clock shows where nothing else runs: all of this is one thread. Reports are written by
the offline rule, so that contexts of higher levels have sub-reports to substitute.
"""

import resource
import sys
import time
from statistics import median

import numpy as np

from minirag.algorithms.communities import hierarchy, modularity
from minirag.core.corpus import Chunk
from minirag.core.graph import Edge, Graph, Node
from minirag.index import ContextBuilder, find_communities, write_reports
from minirag.index.communities import weighted_network
from minirag.llm import load_llm

SIZES = ((1_000, 3_000), (10_000, 30_000), (30_000, 90_000), (100_000, 300_000))
WORDS = (
    "harbour council quota school flood clinic paper vote boat wall nurse mayor fish price "
    "storm meeting budget river teacher road"
).split()


def graph_of_size(nodes, edges, seed=0):
    """A graph with planted groups of about 30 nodes and a description of about 15 words a node and
    10 an edge.
    """
    rng = np.random.default_rng(seed)
    groups = max(1, nodes // 30)
    home = rng.integers(0, groups, nodes)
    order = np.argsort(home, kind="stable")
    starts = np.searchsorted(home[order], np.arange(groups + 1))
    source = rng.integers(0, nodes, edges)
    low, high = starts[home[source]], starts[home[source] + 1]
    near = order[low + (rng.random(edges) * (high - low)).astype(int)]
    target = np.where(rng.random(edges) < 0.8, near, rng.integers(0, nodes, edges))

    def say(count):
        return " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), count)) + "."

    rows = tuple(Node(f"ENTITY {i}", "thing", say(15), (i % 50,)) for i in range(nodes))
    links = tuple(
        Edge(int(a), int(b), description=say(10), chunks=(int(a) % 50,))
        for a, b in zip(source, target)
        if a != b
    )
    return Graph(
        "textual knowledge",
        "a benchmark",
        rows,
        links,
        tuple(Chunk(f"p{i}", "text") for i in range(50)),
    )


def measure(nodes, edges):
    """{"communities": seconds, "reports": seconds of contexts and extracts together, "contexts":
    seconds of contexts alone, ...}.
    """
    graph = graph_of_size(nodes, edges)
    start = time.process_time()
    communities = find_communities(graph)
    divided = time.process_time()
    index = write_reports(communities, load_llm("offline"))
    written = time.process_time()
    builder = ContextBuilder(communities)
    contexts = [builder.build(place, index.reports) for place in range(len(communities.items))]
    done = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    kinds = {
        kind: sum(context.kind == kind for context in contexts)
        for kind in ("elements", "substituted", "trimmed")
    }
    times = {
        "communities": divided - start,
        "contexts and extracts": written - divided,
        "contexts": done - written,
    }
    return {
        "nodes": nodes,
        "edges": len(graph.edges),
        "levels": len(communities.levels),
        "reports": len(index.reports),
        **times,
        **kinds,
        "GiB": memory,
    }


def against_graspologic(nodes, edges, repeats=3):
    """{"ours": median processor seconds of `repeats` runs, "graspologic-native": ...}, in turn.

    Each gets its own input ready made: a networkx graph, and graspologic-native's list of edges.
    """
    import graspologic_native

    network = weighted_network(graph_of_size(nodes, edges))
    rows = [(str(u), str(v), weight) for u, v, weight in network.edges(data="weight")]
    hierarchy(network.subgraph(range(100)))  # imports igraph
    run = {
        "ours": lambda: hierarchy(network, max_size=10, seed=0),
        "graspologic-native": lambda: graspologic_native.hierarchical_leiden(
            rows, max_cluster_size=10, seed=0
        ),
    }
    seconds = {name: [] for name in run}
    for _ in range(repeats):
        for name, divide in run.items():
            start = time.process_time()
            divide()
            seconds[name].append(time.process_time() - start)
    return {name: median(taken) for name, taken in seconds.items()}


def modularities(nodes, edges, methods):
    """For each method the modularity of every level."""
    network = weighted_network(graph_of_size(nodes, edges))
    found = [hierarchy(network, method) for method in methods]
    return [[modularity(network, level) for level in levels] for levels in found]


def main():
    numbers = [int(number) for number in sys.argv[1:]]
    sizes = list(zip(numbers[::2], numbers[1::2])) or SIZES
    for size in sizes:
        print(
            "  ".join(
                f"{name} {value:,.1f}" if isinstance(value, float) else f"{name} {value:,}"
                for name, value in measure(*size).items()
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
