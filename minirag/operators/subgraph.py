"""Operators that choose subgraphs of a textual graph. Each takes a batch of questions and returns one `Step` a question.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

from ..results import Step


def ego_graphs(questions, index, top=10):
    """The ego-graphs nearest to the question, as the paper's S(G)_N: one `Step` a question.

    index: an `EgoIndex`; top: the paper's N. `step.data["roots"]` holds `(label, root position, cosine)`, best first; `data["nodes"]` and `data["edges"]`
    are the positions of what these ego-graphs hold together, each once and sorted. `index.subgraph(root)` gives one of them by itself.

    Source: GRAG, Eq. 3-4 (eq-3, eq-4)
    """
    steps = []
    for ranked in index.rank_many(questions, top):
        roots = [(index.labels[root], root, cosine) for root, cosine in ranked]
        nodes, edges = index.union([root for root, _ in ranked])
        nearest = f"{_count(roots, 'ego-graph')} of {_count(range(index.hops), 'hop')} nearest to the question"
        said = f"the {nearest}, together {_count(nodes, 'node')} and {_count(edges, 'edge')}"
        items = tuple((label, cosine) for label, _, cosine in roots[:10])
        steps.append(Step("ego-graphs", said, items, {"roots": roots, "nodes": nodes, "edges": edges}))
    return steps


def _count(some, noun):
    return f"{len(some)} {noun}{'s' * (len(some) != 1)}"
