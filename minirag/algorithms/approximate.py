"""Approximate nearest neighbours: look into a few cells instead of at every vector, and measure
what that costs.
"""

import numpy as np

from .vectors import top_k


class InvertedLists:
    """Vectors sorted into cells by k-means; a search compares the query with the vectors of its
    nearest cells only.

    vectors: (n, d). `cells` is how many groups there are, `centres` (cells, d) their means,
    `cell_of` (n,) who is where.

    Source: Wang, Def. 5 (def-5)
    """

    def __init__(self, vectors, cells, seed=0):
        from sklearn.cluster import KMeans

        self.vectors = np.asarray(vectors, dtype=np.float64)
        means = KMeans(cells, n_init=1, random_state=seed).fit(self.vectors)
        self.centres, self.cell_of = means.cluster_centers_, means.labels_

    def candidates(self, query, probes=1):
        """Positions of the vectors in the `probes` cells whose centres are nearest to the query
        (d,), in ascending order.
        """
        nearest = np.argsort(np.linalg.norm(self.centres - query, axis=1), kind="stable")[:probes]
        return np.flatnonzero(np.isin(self.cell_of, nearest))

    def search(self, queries, k=1, probes=1):
        """For every query a list of up to k positions, nearest (Euclidean) first, equals by
        position; and how many vectors were compared in all.
        """
        found, compared = [], 0
        for query in np.atleast_2d(queries):
            close = self.candidates(query, probes)
            distances = np.linalg.norm(self.vectors[close] - query, axis=1)
            found.append(close[np.argsort(distances, kind="stable")[:k]].tolist())
            compared += len(close)
        return found, compared


def exact_neighbours(queries, vectors, k=1):
    """For every query the list of its k nearest vectors of length 1 (for those, nearest is most
    alike), found by comparing with all.

    Source: Wang, Def. 4 (def-4)
    """
    return top_k(queries, vectors, k)[0].tolist()


def measured_epsilon(queries, vectors, found):
    """How far each answer is from the best one: (q,) values of d(q, p) / d(q, P) - 1, where p is
    the first position found for the query.

    An answer is an epsilon-nearest neighbour if its value is at most epsilon. Nothing found is
    infinitely far; an exact hit has the value 0.

    Source: Wang, Def. 5 (def-5)
    """
    values = []
    for query, positions in zip(np.atleast_2d(queries), found):
        distances = np.linalg.norm(np.asarray(vectors) - query, axis=1)
        best, mine = distances.min(), distances[positions[0]] if positions else np.inf
        values.append(0.0 if mine == best else mine / best - 1 if best > 0 else np.inf)
    return np.array(values)
