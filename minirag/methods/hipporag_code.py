"""What HippoRAG's released code and the ablations do: their options, and where they leave the
paper's way.

Where the released code finds or scores otherwise there is an option; `follow="code"` sets them all.
Known difference, not reproduced: in the code's ColBERT variant, names that look for synonyms are
encoded as questions, and find at most 99.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.graph import Graph
from ..core.options import Count, Options, Positive
from ..core.trace import ChunkStep, FactStep, NodeStep, Step, Trace, WalkStep
from ..graphs.knowledge_graph import EmptyNames, Script
from ..index import fact_matrix, fact_passage_matrix
from ..index.matrices import Counts, Synonymy
from ..index.vectors import NodeText
from ..operators import chunk, relationship
from ..operators.node import Per
from ..operators.ranking import Ties, count_of, top_items

if TYPE_CHECKING:
    from .hipporag import HippoOptions, HippoRAG

Share = Literal["question", "node"]


@dataclass(frozen=True)
class HippoCodeOptions(Options):
    """What Wang leaves open, and what the released code and the ablations do otherwise.

    restart_read_as: "restart" (the paper), or "follow": the code hands `restart_probability` to its
        PageRank library, which takes it for the probability of following an edge.
    synonymy: "add" the cosine to the number of triples, "overwrite" it, or "none" (an ablation).
    strict: names are synonyms above the threshold; or, not strict, from the threshold on.
    min_letters: the code joins no name of this many letters or fewer.
    max_neighbours: the code joins no more than this many synonyms to a name.
    passage_matrix: "text" counts a phrase in the passage's text, "facts" in its triples,
        "incidence" takes 0 or 1 (see `minirag.index.passage_matrix`).
    reset: "node" gives each query node the same weight, "entity" each query entity, so that a node
        named twice weighs twice.
    propagation: "ppr", or the ablations "query-nodes" and "neighbours".
    neighbour_hops: how far the neighbours of that ablation are: 1 in the original HippoRAG paper's
        words, 2 in its code.
    neighbour_share: a neighbour gets its share once a "question", or once for each query "node"
        that reaches it, as in the code.
    ensemble: average with dense retrieval when some link is no better than `ensemble_threshold`.
    ensemble_threshold: the cosine up to which a link is uncertain.
    node_text: entities are linked to, and synonyms found by, a node's "name", or its description in
        a graph that has them (see `minirag.index.node_index`).
    script: "unicode" keeps every letter in a node's name, "ascii" erases all but A-Z and digits.
    empty_names: "drop" a triple with a name of which nothing is left, or "keep" one node for all
        such names, as in the code.
    ties: order of passages with equal scores, "ascending" or "descending" by position.
    """

    restart_read_as: Literal["restart", "follow"] = "restart"
    synonymy: Synonymy = "add"
    strict: bool = True
    min_letters: Count = 0
    max_neighbours: Positive | None = None
    passage_matrix: Counts = "text"
    reset: Per = "node"
    propagation: Literal["ppr", "query-nodes", "neighbours"] = "ppr"
    neighbour_hops: Positive = 1
    neighbour_share: Share = "question"
    ensemble: bool = False
    ensemble_threshold: float = 0.9
    node_text: NodeText = "name"
    script: Script = "unicode"
    empty_names: EmptyNames = "drop"
    ties: Ties = "ascending"

    @property
    def hops(self) -> int:
        """How far an ablation spreads; 0 hops leave the query nodes alone."""
        return self.neighbour_hops if self.propagation == "neighbours" else 0


CODE: Mapping[str, object] = {
    "restart_read_as": "follow", "synonymy": "overwrite", "strict": False, "min_letters": 2,
    "max_neighbours": 101, "passage_matrix": "facts", "neighbour_hops": 2,
    "neighbour_share": "node", "no_entities": "uniform", "script": "ascii", "empty_names": "keep",
    "ties": "descending",
}  # fmt: skip


def spread_to_neighbours(
    adjacency: sparse.sparray, resets: NDArray[np.float64], labels: Sequence[str], hops: int = 1,
    share: float = 0.5, per: Share = "question",
) -> list[WalkStep]:  # fmt: skip
    """The ablation that replaces PPR: nodes near the query nodes get `share` of the smallest reset
    weight of their question.

    `per="question"` gives it once to every node within `hops`, the query nodes among them.
    `per="node"` gives it once for each query node from which a path of 1 to `hops` edges leads
    there (the released code): shares add up, and a query node gets its own only where a path leads
    back to it. 0 hops leaves the query nodes alone.

    Source: Wang, Sec. IV-B (hippo-ppr); ablation of the original HippoRAG paper
    """
    steps = []
    links = (adjacency > 0).astype(float)
    for reset in resets.T:
        starts = np.flatnonzero(reset)
        ends = np.zeros((len(reset), len(starts)), dtype=bool)
        ends[starts, np.arange(len(starts))] = True
        reached = np.zeros_like(ends)
        for _ in range(hops):
            ends = links @ ends > 0
            reached |= ends
        times = reached.sum(axis=1)
        if per == "question":
            times = (times > 0) | (reset > 0) if hops else np.zeros(len(reset))
        scores = reset + share * reset[starts].min() * times if len(starts) else reset.copy()
        scores = scores / max(scores.sum(), 1e-300)
        near = f"query nodes and what is within {count_of(range(hops), 'hop')}"
        summary = near if hops else "query nodes only"
        items = top_items(labels, scores)
        steps.append(WalkStep("neighbours", summary, items, scores=scores, reset=reset))
    return steps


# What the step says that scores passages.
SUMMARY = {
    "text": "each passage gets the scores of the nodes read from it, as often as it names them",
    "incidence": "each passage gets the scores of the nodes read from it",
}


class Facts(NamedTuple):
    """Which node stands in which relation, (relations, nodes), how the relations are called, and
    which passage states which, (passages, relations).
    """

    nodes: sparse.csr_matrix
    labels: list[str]
    passages: sparse.csr_matrix

    @classmethod
    def of(cls, graph: Graph) -> "Facts":
        name = [node.name for node in graph.nodes]
        ends = [(name[edge.source], edge.name, name[edge.target]) for edge in graph.edges]
        labels = [" — ".join(filter(None, parts)) for parts in ends]
        return cls(fact_matrix(graph), labels, fact_passage_matrix(graph))


def scores_by_facts(
    walked: Sequence[WalkStep], facts: Facts, labels: Sequence[str]
) -> tuple[list[FactStep], list[ChunkStep]]:
    """The relations of each question, scored by their nodes, and the passages, scored by those."""
    related = relationship.aggregator(walked, facts.nodes, facts.labels)
    return related, chunk.aggregator(related, facts.passages, labels)


def with_dense(
    method: "HippoRAG", questions: Sequence[str], traces: list[Trace]
) -> list[Sequence[Step]]:
    """The traces, with dense retrieval in place of the walk, or averaged with it."""
    roles = [role_of_dense(trace.last(NodeStep), method.chosen) for trace in traces]
    places = [i for i, role in enumerate(roles) if role != "none"]
    dense = chunk.vdb([questions[i] for i in places], method.chunk_index) if places else []
    longer: list[Sequence[Step]] = [*traces]
    for i, step in zip(places, dense):
        walk = traces[i].last(ChunkStep)
        mean = [chunk.average(walk, step, method.labels)] if roles[i] == "mean" else []
        longer[i] = [*traces[i], step, *mean]
    return longer


def role_of_dense(linked: NodeStep, options: "HippoOptions") -> Literal["none", "instead", "mean"]:
    """What dense retrieval does for a question: it stands in for the walk where nothing is linked,
    or, in the ensemble, is averaged with it where a link is uncertain.
    """
    if not linked.nodes:
        return "instead" if options.ensemble or options.no_entities == "dense" else "none"
    weakest = min(linked.nodes, key=lambda node: node.score)
    uncertain = options.ensemble and weakest.score <= options.ensemble_threshold
    return "mean" if uncertain else "none"
