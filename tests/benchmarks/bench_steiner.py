"""The prize-collecting Steiner tree as graphs grow, beside a minimum spanning tree of the same
graph; and a hub that is woken again and again.

`python tests/benchmarks/bench_steiner.py` prints the table; `pytest -m slow tests/benchmarks` holds
the ratios. Times are processor seconds. Every row prints the size of the tree: a growth that ends
at once is fast and worth nothing.
"""

import random
import time
from statistics import median

import networkx as nx
import numpy as np

from minirag.algorithms.steiner import prize_collecting_steiner_tree
from minirag.operators.subgraph import shared_prizes, with_virtual_nodes

WEBQSP = 1_371, 4_252  # nodes and edges of an average WebQSP graph, GRAG's Table 1


def scattered(nodes, edges, seed=0):
    """A random multigraph whose nodes all have prizes, about half an edge's cost: nearly all of it
    grows.
    """
    rng = random.Random(seed)
    ends = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(edges)]
    return nodes, ends, [rng.random() for _ in ends], [rng.random() / 2 for _ in range(nodes)]


def asked(nodes, edges, seed=0):
    """Cosines of nodes and edges, and the ends, of a graph whose edges say one of 200 things."""
    rng = random.Random(seed)
    says = [rng.random() for _ in range(200)]
    ends = [(rng.randrange(node), node) for node in range(1, nodes)]
    ends += [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(edges - len(ends))]
    return [rng.random() for _ in range(nodes)], [rng.choice(says) for _ in ends], ends


def woken_hub(size):
    """A hub with `size` long spokes is reached by `size` visitors, one after the other, each with
    hardly anything left: it wakes and goes idle each time.
    """
    ends = [(0, 1 + leaf) for leaf in range(size)] + [
        (0, 1 + size + visitor) for visitor in range(size)
    ]
    costs = [4.0 * size] * size + [1.0 + visitor for visitor in range(size)]
    return (
        1 + 2 * size,
        ends,
        costs,
        [0.0] * (1 + size) + [1.25 + visitor for visitor in range(size)],
    )


def tree_of(nodes, edges, ends, k=3, k_e=5):
    """G-Retriever's tree for these cosines."""
    prizes = np.zeros(len(nodes))
    prizes[np.argsort(nodes)[-k:]] = range(1, k + 1)
    instance = with_virtual_nodes(ends, prizes, shared_prizes(edges, k_e), 0.5)
    return prize_collecting_steiner_tree(
        len(instance.prizes), instance.ends, instance.costs, instance.prizes
    )


def seconds(action, rounds=3):
    """What the action gives, and the median of its processor seconds."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        result = action()
        taken.append(time.process_time() - start)
    return result, median(taken)


def spanning_tree(nodes, ends, costs):
    """networkx's minimum spanning tree of the same edges: the graph is made outside the clock."""
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((u, v, {"weight": cost}) for (u, v), cost in zip(ends, costs))
    return seconds(lambda: nx.minimum_spanning_tree(graph))[1]


def row(name, graph):
    (nodes, _), took = seconds(lambda: prize_collecting_steiner_tree(*graph))
    return name, graph[0], len(graph[1]), len(nodes), took, spanning_tree(*graph[:3])


def bench_growth(sizes=(2_000, 20_000)):
    """Rows (name, nodes, edges, nodes of the tree, seconds, seconds of the spanning tree), with ten
    edges a node.
    """
    return [row("all nodes have prizes", scattered(size, 10 * size)) for size in sizes]


def bench_hub(sizes=(1_000, 10_000)):
    return [row("a hub woken again", woken_hub(size)) for size in sizes]


def bench_question(nodes=WEBQSP[0], edges=WEBQSP[1]):
    """The same row for one question of G-Retriever's on a graph of WebQSP's size."""
    question = asked(nodes, edges)
    (found, _), took = seconds(lambda: tree_of(*question), rounds=7)
    return (
        "one question",
        nodes,
        edges,
        len(found),
        took,
        spanning_tree(nodes, question[2], question[1]),
    )


if __name__ == "__main__":
    print(f"{'':24}{'nodes':>10}{'edges':>10}{'tree':>8}{'seconds':>10}{'spanning':>10}")
    for name, nodes, edges, tree, took, theirs in [
        bench_question(),
        *bench_growth(),
        *bench_hub(),
        bench_question(100_000, 300_000),
    ]:
        print(f"{name:24}{nodes:>10,}{edges:>10,}{tree:>8,}{took:>10.3f}{theirs:>10.3f}")
