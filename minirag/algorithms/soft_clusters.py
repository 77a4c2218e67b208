"""Clusters of vectors as RAPTOR makes them: Gaussian mixtures, whose number of components the
Bayesian information criterion (BIC) chooses and in which a row may have several clusters; and the
balanced k-means of RAPTOR-K.

On fewer than about 100 rows BIC picks clusters of one or two: a component that holds one row has
almost no variance, so its density is huge and pays for any number of parameters.
`rows_per_cluster` bounds that number.

Official code: parthsarthi03/raptor, commit 2e3e83e; JayLZhou/GraphRAG, commit 4e87938, for k-means.
Not rebuilt: rows matched by equal values, so that equal rows carry a label twice; a recursion
without end on a cluster that stays too long, and with other settings than those asked for; seeds
224 (BIC), 0 (final mixture) and none (UMAP), here one for all; errors on one row or on fewer rows
than k-means puts into a cluster, here one cluster; k-means that settles in its first round and
then puts all rows into one cluster.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Families = list[list[int]]  # positions of the rows of each cluster, ascending
Reduce = Callable[[Rows, int, int], Rows]  # rows, dimensions, neighbours -> (rows, dimensions)
Reduction = Literal["auto", "umap", "pca", "none"]
LOCAL_NEIGHBOURS = 10
DEEPEST = 20  # rounds of `recluster`


def mixture(rows: Rows, count: int, seed: int) -> Any:  # Any: scikit-learn is not typed
    """A Gaussian mixture of `count` components with full covariances, fitted to the rows."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows, or too few
        return GaussianMixture(count, random_state=seed).fit(rows)


def bic_curve(
    rows: Rows, max_clusters: int = 50, seed: int = 0, per_cluster: int = 1
) -> list[float]:
    """BIC of n = 1, 2, ... components: up to min(max_clusters, rows) - 1, exclusive as RAPTOR's
    code has it, and up to rows / `per_cluster`. A mixture that cannot be fitted has infinite BIC.
    """
    most = max(1, min(max_clusters - 1, len(rows) - 1, len(rows) // per_cluster))
    curve = []
    for count in range(1, most + 1):
        try:
            curve.append(float(mixture(rows, count, seed).bic(rows)))
        except ValueError:  # a covariance that is none
            curve.append(np.inf)
    return curve


def best_count(rows: Rows, max_clusters: int = 50, seed: int = 0, per_cluster: int = 1) -> int:
    """The number of components with the least BIC (`bic_curve`), the first of equals; 1 for a
    single row.
    """
    curve = bic_curve(rows, max_clusters, seed, per_cluster) if len(rows) > 1 else [0.0]
    return 1 + int(np.argmin(curve))


def over_threshold(posteriors: Rows, threshold: float) -> Families:
    """For each component the rows whose posterior is greater than the threshold.

    posteriors: (rows, components). A row may be in several clusters, or in none.
    """
    return [np.flatnonzero(column > threshold).tolist() for column in posteriors.T]


def soft_clusters(
    rows: Rows, threshold: float = 0.1, max_clusters: int = 50, seed: int = 0, per_cluster: int = 1
) -> Families:
    """The clusters of a Gaussian mixture with as many components as BIC chooses."""
    count = best_count(rows, max_clusters, seed, per_cluster)
    if count == 1:
        return [[*range(len(rows))]]
    return over_threshold(mixture(rows, count, seed).predict_proba(rows), threshold)


def reducer(name: Reduction, seed: int = 0) -> tuple[Reduction, Reduce]:
    """What reduces the dimensions, and what it is called. "auto": UMAP where umap-learn is
    installed, else PCA.
    """
    if name == "auto":
        name = "umap" if find_spec("umap") else "pca"

    def umap(rows: Rows, dim: int, neighbours: int) -> Rows:
        sizes = {"n_neighbors": neighbours, "n_components": dim}
        made = import_module("umap").UMAP(metric="cosine", random_state=seed, **sizes)
        return np.asarray(made.fit_transform(rows), dtype=np.float64)

    return name, {"umap": umap, "pca": pca, "none": lambda rows, dim, neighbours: rows}[name]


def pca(rows: Rows, dim: int, neighbours: int = 0) -> Rows:
    """The first `dim` principal components of the rows, or as many as there are."""
    centred = rows - rows.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    reduced: Rows = (left * values)[:, :dim]
    return reduced


@dataclass(frozen=True)
class GlobalThenLocal:
    """RAPTOR's clusters: of all rows, then inside each cluster of more than `dim` + 1 rows.

    dim: dimensions after `reduce`, at most rows - 2. threshold, max_clusters, per_cluster, seed:
    see `soft_clusters`. Fewer than four rows are not reduced.
    """

    reduce: Reduce = pca
    dim: int = 10
    threshold: float = 0.1
    max_clusters: int = 50
    per_cluster: int = 1
    seed: int = 0

    def __call__(self, rows: Rows) -> Families:
        found = []
        for outer in self.soft(rows, max(2, int((len(rows) - 1) ** 0.5))):
            own = rows[outer]
            small = len(outer) <= self.dim + 1
            inner = [[*range(len(outer))]] if small else self.soft(own, LOCAL_NEIGHBOURS)
            found += [[outer[place] for place in members] for members in inner if members]
        return found

    def soft(self, rows: Rows, neighbours: int) -> Families:
        """Clusters of the reduced rows."""
        dim = min(self.dim, len(rows) - 2)
        reduced = self.reduce(rows, dim, neighbours) if dim > 1 else rows
        return soft_clusters(
            reduced, self.threshold, self.max_clusters, self.seed, self.per_cluster
        )


def recluster(
    rows: Rows, sizes: Sequence[int], limit: int, cluster: Callable[[Rows], Families]
) -> Families:
    """The clusters of the rows, those of more than `limit` tokens clustered again until none is
    left that can be divided.

    sizes: tokens of each row. A cluster that comes back whole stays as it is, and so does one of a
    single row.
    """

    def divided(places: list[int], depth: int) -> Families:
        parts = [[places[i] for i in part] for part in cluster(rows[places])]
        found: Families = []
        for part in parts:
            long = len(part) > 1 and sum(sizes[i] for i in part) > limit
            again = long and len(part) < len(places) and depth < DEEPEST
            found += divided(part, depth + 1) if again else [part]
        return found

    return divided([*range(len(rows))], 1)


@dataclass(frozen=True)
class BalancedKMeans:
    """The clusters of RAPTOR-K: k-means with rows // `size` clusters, of which none may be more
    than `spare` larger than the mean; the first rows of one that is go to the nearest centre whose
    cluster is smaller than the mean.
    """

    size: int = 10
    spare: float = 0.2
    rounds: int = 10
    tolerance: float = 1e-4
    seed: int = 0

    def __call__(self, rows: Rows) -> Families:
        count = max(1, len(rows) // self.size)
        start = np.random.default_rng(self.seed).choice(len(rows), count, replace=False)
        labels = self.labels(rows, start.tolist())
        found = [np.flatnonzero(labels == label).tolist() for label in range(count)]
        return [members for members in found if members]

    def labels(self, rows: Rows, start: Sequence[int]) -> NDArray[np.intp]:
        """The cluster of each row. start: the rows that the centres begin at."""
        centres, mean = rows[[*start]], len(rows) / len(start)
        most = mean * (1 + self.spare)
        labels = np.zeros(len(rows), dtype=np.intp)
        for _ in range(self.rounds):
            far = np.linalg.norm(rows[:, None] - centres, axis=2)
            labels = far.argmin(axis=1)
            sizes = np.bincount(labels, minlength=len(start))
            for label in np.flatnonzero(sizes > most):
                for row in np.flatnonzero(labels == label):
                    if sizes[label] <= most:
                        break
                    near = [c for c in np.argsort(far[row]) if c != label and sizes[c] < mean]
                    if near:
                        labels[row] = near[0]
                        sizes[label], sizes[near[0]] = sizes[label] - 1, sizes[near[0]] + 1
            moved = np.array(
                [
                    rows[labels == c].mean(axis=0) if sizes[c] else centres[c]
                    for c in range(len(start))
                ]
            )
            settled = np.linalg.norm(moved - centres) < self.tolerance
            centres = moved
            if settled:
                break
        return labels
