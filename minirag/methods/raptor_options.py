"""The options of RAPTOR and RAPTOR-K, and the clusters that they ask for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, Self

import numpy as np

from ..algorithms.soft_clusters import (
    BalancedKMeans,
    Families,
    GlobalThenLocal,
    Reduction,
    Rows,
    recluster,
    reducer,
)
from ..core.errors import MiniragError
from ..core.options import Options, Positive, Probability
from ..graphs.tree_and_passage_graph import Vectors
from ..text.tokens import TokenCounter, count_tokens

BUILT = ("layers", "min_members", "cluster_tokens", "summary_tokens", "count", "seed")


@dataclass(frozen=True)
class TreeOptions(Options):
    """How a tree is built, and how it is searched.

    layers: the most layers of summaries.
    min_members: clusters with fewer members get no summary; their members wait for the next layer.
    cluster_tokens: clusters with more tokens are clustered again.
    summary_tokens: length that a summary is asked for.
    search: "collapsed" ranks the nodes of all layers together; "traversal" starts at the top layer
        and goes down to the children of the nodes chosen so far.
    k: nodes that a search chooses, in a traversal on each layer.
    budget: tokens of all chosen nodes; the search ends at the first one that does not fit.
    cutoff: in a traversal, choose every child with at least this cosine instead of the k nearest.
    count: tokenizer, or a function text -> number of tokens.
    seed: of every random choice of the clusters.
    """

    layers: Positive = 5
    min_members: Positive = 3
    cluster_tokens: Positive = 3500
    summary_tokens: Positive = 100
    search: Literal["collapsed", "traversal"] = "collapsed"
    k: Positive = 4
    budget: Positive | None = None
    cutoff: float | None = None
    count: TokenCounter = "regex"
    seed: int = 0

    @property
    def last_layer(self) -> int:
        """A layer of so many nodes or fewer is the last."""
        raise TypeError(f"{type(self).__name__} must say when to stop.")

    def decided(self) -> Self:
        """The options with what they stand for on this machine."""
        return self

    def divide(self, rows: Rows) -> Families:
        """The clusters of the vectors of a layer."""
        raise TypeError(f"{type(self).__name__} must say how it clusters.")

    def cluster(self, vectors: Vectors, texts: Sequence[str]) -> Families:
        """The clusters of a layer, none longer than `cluster_tokens` where it can be divided."""
        sizes = [count_tokens(text, self.count) for text in texts]
        return recluster(vectors.astype(np.float64), sizes, self.cluster_tokens, self.divide)


@dataclass(frozen=True)
class RaptorOptions(TreeOptions):
    """Options of soft clusters.

    reduction: of the vectors before they are clustered; "auto" is UMAP where umap-learn is
        installed, else PCA.
    dim: dimensions after it; a layer of dim + 1 nodes or fewer is the last.
    threshold: a node joins every cluster whose posterior is greater.
    max_clusters: BIC compares fewer than so many clusters.
    rows_per_cluster: BIC compares at most nodes / rows_per_cluster of them; 1 is RAPTOR's. On fewer
        than about 100 nodes 5 prevents most clusters of one or two, which BIC prefers there.
    """

    reduction: Reduction = "auto"
    dim: Positive = 10
    threshold: Probability = 0.1
    max_clusters: Positive = 50
    rows_per_cluster: Positive = 1

    @property
    def last_layer(self) -> int:
        return self.dim + 1

    def decided(self) -> Self:
        name, _ = reducer(self.reduction)
        if name == "umap" and not find_spec("umap"):
            raise MiniragError(
                "reduction='umap' needs umap-learn: pip install umap-learn, or take 'pca'."
            )
        return replace(self, reduction=name)

    def divide(self, rows: Rows) -> Families:
        _, reduce = reducer(self.reduction, self.seed)
        return GlobalThenLocal(
            reduce, self.dim, self.threshold, self.max_clusters, self.rows_per_cluster, self.seed
        )(rows)


@dataclass(frozen=True)
class RaptorKOptions(TreeOptions):
    """Options of balanced k-means.

    cluster_size: nodes for each cluster; a layer of cluster_size + 1 nodes or fewer is the last.
    """

    cluster_size: Positive = 10

    @property
    def last_layer(self) -> int:
        return self.cluster_size + 1

    def divide(self, rows: Rows) -> Families:
        return BalancedKMeans(self.cluster_size, seed=self.seed)(rows)
