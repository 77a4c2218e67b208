"""PathRAG's flow against its worked examples, an independent transcription of the released
procedure, and the paper's bound.
"""

import os
import random
import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.algorithms.flow import (
    edge_flow_paths,
    expands,
    flow_paths,
    resource_flow,
    search_paths,
)

EXAMPLE = [("S", "A"), ("S", "B"), ("A", "T"), ("A", "C"), ("B", "C"), ("C", "T"), ("C", "D")]


@pytest.mark.paper("PathRAG", "eq-2")
def test_resource_is_set_once_a_layer_at_a_time():
    flow = resource_flow(nx.DiGraph(EXAMPLE), "S")
    assert flow == pytest.approx({"S": 1, "A": 0.4, "B": 0.4, "T": 0.16, "C": 0.48, "D": 0.192})


@pytest.mark.paper("PathRAG", "eq-4")
def test_paths_of_the_worked_example():
    paths = [("".join(path), score) for path, score in flow_paths(nx.DiGraph(EXAMPLE), ["S", "T"])]
    assert [path for path, _ in paths] == ["SAT", "SACT", "SBCT"]
    assert [score for _, score in paths] == pytest.approx([0.78, 0.68, 0.68])


@pytest.mark.parametrize(
    "threshold, scores",
    [
        (0.3, {"SAT": 0.45, "SBCT": 0.4067, "SACT": 0.3667}),
        (0.05, {"SAT": 0.53, "SBCT": 0.46, "SACT": 0.42}),
    ],
)
def test_paths_of_the_released_code(threshold, scores):
    """Both directions are scored and the better one is kept; six enumerated paths are cut to
    three.
    """
    found = {
        "".join(sorted(path)): score
        for path, score in edge_flow_paths(nx.DiGraph(EXAMPLE), ["S", "T"], threshold=threshold)
    }
    assert found == pytest.approx(
        {"".join(sorted(path)): score for path, score in scores.items()}, abs=1e-4
    )


def test_a_chain():
    chain = nx.DiGraph([(0, 1), (1, 2), (2, 3)])
    scores = dict(flow_paths(chain, [0, 1, 2, 3]))
    assert [scores[0, 1], scores[0, 1, 2], scores[0, 1, 2, 3]] == pytest.approx([1.8, 1.22, 0.984])


@pytest.mark.paper("PathRAG", "eq-3")
@pytest.mark.parametrize("successors, pruned", [(20, False), (21, True)])
def test_a_busy_start_is_pruned_at_once(successors, pruned):
    star = nx.DiGraph([("hub", i) for i in range(successors)])
    search = search_paths(star, ["hub", 0])
    assert (search.seen.pruned, search.seen.pairs) == (2 if pruned else 1, 0 if pruned else 1)


def test_four_successors_degenerate_to_hops_in_the_released_code():
    graph = nx.Graph(
        [("s", f"m{i}") for i in range(4)]
        + [(f"m{i}", "t") for i in range(3)]
        + [("m3", "n"), ("n", "t")]
    )
    found = edge_flow_paths(graph, ["s", "t"], top_k=99)
    assert all(
        score == pytest.approx(1 / 4 / (len(path) - 1)) for path, score in found if path[0] == "s"
    )


def transcription(graph, nodes, alpha, threshold):
    """The released procedure once more, as plain nested loops over everything (in the order of
    names).
    """
    graph, result, total = nx.Graph(graph), [], 0
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    for s in sorted(nodes):
        for t in sorted(nodes):
            if s == t:
                continue
            paths = sorted(tuple(p) for p in nx.all_simple_paths(graph, s, t, cutoff=3))
            total += len(paths)
            after = {
                u: sorted({p[i + 1] for p in paths for i in range(len(p) - 1) if p[i] == u})
                for p in paths
                for u in p[:-1]
            }
            w = {}
            for a in after.get(s, []):
                w[s, a] = 1 / len(after[s])
                if not w[s, a] > threshold:
                    continue
                for b in after.get(a, []):
                    w[a, b] = w.get((a, b), 0) + w[s, a] * alpha / len(after[a])
                    if not w[a, b] > threshold:
                        continue
                    for c in after.get(b, []):
                        w[b, c] = w.get((b, c), 0) + w[a, b] * alpha / len(after[b])
            result += [
                (p, sum(w.get((p[i], p[i + 1]), 0) for i in range(len(p) - 1)) / (len(p) - 1))
                for p in paths
            ]
    best = {}
    for p, score in result:
        key = frozenset(p)
        if key not in best or score > best[key]:
            best[key] = score
    return best, total


def test_the_released_procedure_on_300_random_graphs():
    for seed in range(300):
        rng = random.Random(seed)
        graph = nx.gnm_random_graph(rng.randint(3, 9), rng.randint(2, 16), seed=seed)
        graph = nx.relabel_nodes(graph, {n: f"n{n}" for n in graph})
        nodes = rng.sample(sorted(graph), min(len(graph), rng.randint(2, 4)))
        threshold = rng.choice([0.05, 0.2, 0.3])
        best, total = transcription(graph, nodes, 0.8, threshold)
        found = edge_flow_paths(graph, nodes, threshold=threshold, top_k=10**9)
        assert len(found) == min(len(best), total // 2)
        assert [score for _, score in found] == pytest.approx(
            sorted(best.values(), reverse=True)[: len(found)]
        )
        assert all(score == pytest.approx(best[frozenset(path)]) for path, score in found)


@pytest.mark.paper("PathRAG", "complexity")
@given(st.integers(0, 10**6), st.sampled_from([0.6, 0.8, 0.9]), st.sampled_from([0.02, 0.05, 0.2]))
@settings(max_examples=80, deadline=None)
def test_nodes_passed_on_from_stay_under_the_papers_bound(seed, alpha, threshold):
    graph = nx.gnp_random_graph(120, 0.05, seed=seed, directed=True)
    flow = resource_flow(graph, 0, alpha, threshold)
    assert sum(expands(graph, node, amount, threshold) for node, amount in flow.items()) <= 1 / (
        (1 - alpha) * threshold
    )
    assert all(amount <= 1 + 1e-9 for amount in flow.values())


def every_path(graph, nodes, threshold, per_pair):
    """Eq. 4 with nothing clever in it: all simple paths over the edges that leave nodes which pass
    resource on.
    """
    pool = []
    for start in nodes:
        resource = resource_flow(graph, start, threshold=threshold)
        open_nodes = {
            node for node, amount in resource.items() if expands(graph, node, amount, threshold)
        }
        passable = nx.DiGraph((u, v) for u in open_nodes for v in graph[u])
        for end in nodes:
            paths = map(
                tuple,
                nx.all_simple_paths(passable, start, end)
                if {start, end} <= set(passable) and start != end
                else [],
            )
            scored = [
                (path, sum(resource[node] for node in path) / (len(path) - 1)) for path in paths
            ]
            pool += sorted(scored, key=in_order)[:per_pair]
    return sorted(pool, key=in_order)


def in_order(scored):
    path, score = scored
    return -round(score, 12), len(path), tuple(map(str, path))


@pytest.mark.parametrize("per_pair", [None, 1, 2])
def test_no_path_is_lost_and_equals_stand_by_name(per_pair):
    for seed in range(60):
        graph = nx.gnp_random_graph(14, 0.18, seed=seed, directed=seed % 3 > 0)
        threshold = (0.3, 0.05, 0.01)[seed % 3 - 1]
        nodes = random.Random(seed).sample(sorted(graph), 5)
        search = search_paths(graph, nodes, threshold=threshold, per_pair=per_pair, top_k=None)
        assert search.paths == every_path(graph, nodes, threshold, per_pair)
        assert search.seen.pairs == len({(path[0], path[-1]) for path, _ in search.paths})


def test_order_of_insertion_changes_nothing():
    for seed in range(30):
        edges = list(nx.gnp_random_graph(12, 0.25, seed=seed, directed=True).edges)
        shuffled = random.Random(seed).sample(edges, len(edges))
        for find in (flow_paths, edge_flow_paths):
            assert find(nx.DiGraph(edges), [0, 3, 5, 7]) == find(nx.DiGraph(shuffled), [7, 5, 3, 0])


def test_hash_seed_changes_nothing():
    code = (
        "import networkx as nx; from minirag.algorithms.flow import edge_flow_paths, flow_paths; "
        "g = nx.Graph(['sa', 'sb', 'ab', 'at', 'bt']); print(flow_paths(g, 'st'), "
        "edge_flow_paths(g, 'st', threshold=.05))"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "0123"]
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env=e, capture_output=True, text=True, check=True
        ).stdout
        for e in environments
    }
    assert len(runs) == 1 and "s" in runs.pop()


def test_many_paths_are_capped_and_said_so():
    complete = nx.complete_graph(12).to_directed()
    search = search_paths(complete, [0, 1], alpha=1.0, threshold=0.001, max_paths=50)
    assert search.capped == 2 and search.paths[0][0] in {(0, 1), (1, 0)}
    with pytest.warns(UserWarning, match="more than 20000 paths"):
        flow_paths(complete, [0, 1], alpha=1.0, threshold=0.001)


def test_unknown_and_lonely_nodes_give_no_paths():
    graph = nx.DiGraph([(1, 2)])
    graph.add_node(3)
    assert flow_paths(graph, [3, 99]) == [] and edge_flow_paths(graph, [3, 99]) == []
    assert flow_paths(graph, []) == []
