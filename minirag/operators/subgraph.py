"""Operators that choose subgraphs of a textual graph. Each takes a batch of questions and returns
one step a question.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

from ..core.trace import EgoGraphStep, ScoredNode
from ..index.ego_graphs import EgoIndex
from ..index.vectors import Queries
from .ranking import count_of


def ego_graphs(questions: Queries, index: EgoIndex, top: int = 10) -> list[EgoGraphStep]:
    """The ego-graphs nearest to the question, as the paper's S(G)_N.

    questions: texts, or the steps of `operators.question.vector`. top: the paper's N. The roots
    come with their cosine, best first; nodes and edges are what their ego-graphs hold together,
    each once and sorted. `index.subgraph(root)` gives one of them by itself.

    Source: GRAG, Eq. 3-4 (eq-3, eq-4)
    """
    steps = []
    for ranked in index.rank_many(questions, top):
        roots = tuple(ScoredNode(index.labels[root], root, cosine) for root, cosine in ranked)
        nodes, edges = index.union([root.index for root in roots])
        found = f"the {count_of(roots, 'ego-graph')} of {count_of(range(index.hops), 'hop')}"
        held = f"together {count_of(nodes, 'node')} and {count_of(edges, 'edge')}"
        summary = f"{found} nearest to the question, {held}"
        steps.append(EgoGraphStep("ego-graphs", summary, nodes=nodes, edges=edges, roots=roots))
    return steps
