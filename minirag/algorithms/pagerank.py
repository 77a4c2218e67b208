"""Personalised PageRank: where a walker is found who keeps starting over from the question's own
nodes.

At every step the walker follows an edge with probability `damping`, an edge being chosen in
proportion to its weight, and otherwise jumps back to a node drawn from the reset distribution. A
walker on a node without outgoing edges (a dangling node) always jumps back. The stationary
distribution x is what a method ranks by. With W for the matrix whose entry [j, i] is the
probability of stepping from i to j, d for the damping and r for the reset distribution,

    x is proportional to the y that solves  y = r + d W y    (*)

because the walkers that jump back, dangling ones included, only rescale r.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .vectors import Floats

# columns solved together: wide enough to share each look at the matrix, small enough to stay in a
# processor's cache
COLUMNS_AT_ONCE = 32


@dataclass(frozen=True)
class Transitions:
    """Step probabilities of a graph, made once by `transition_matrix` and used for every question.

    matrix: sparse (n, n), entry [j, i] the probability of stepping from i to j; the column of a
    dangling node is zero.
    symmetric: whether the adjacency was, in which case a faster iteration applies.
    """

    matrix: sp.csr_array
    symmetric: bool


def transition_matrix(adjacency: sp.csr_array | ArrayLike) -> Transitions:
    """Turn edge weights into step probabilities.

    adjacency: sparse (or dense) (n, n), entry [i, j] >= 0 the weight of the edge from i to j.
    Returns `Transitions`. Raises ValueError for a matrix that is not square, or a weight that is
    negative or not finite.
    """
    adjacency = sp.csr_array(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(
            f"The adjacency must be a square (n, n) matrix; this one has shape {adjacency.shape}."
        )
    if not np.issubdtype(adjacency.dtype, np.floating):
        adjacency = adjacency.astype(np.float64)
    if not np.isfinite(adjacency.data).all() or (adjacency.data < 0).any():
        raise ValueError(
            "Edge weights must be finite and not negative; drop or clip the others before walking."
        )
    # Also sorts the indices and is a copy, so that the caller's matrix stays as it was.
    backwards = adjacency.T.tocsr()
    strength = adjacency @ np.ones(len(backwards.indptr) - 1, dtype=adjacency.dtype)
    chance = np.divide(1, strength, out=np.zeros_like(strength), where=strength > 0)
    symmetric = (adjacency != backwards).nnz == 0
    backwards.data *= chance[backwards.indices]
    return Transitions(backwards, symmetric)


def personalized_pagerank(
    adjacency: sp.csr_array | ArrayLike | Transitions,
    reset: ArrayLike,
    damping: float = 0.5,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Floats:
    """Personalised PageRank of one question, or of a whole batch at once.

    adjacency: sparse (n, n) of edge weights >= 0, symmetric or not, or the `Transitions` made from
    it (then nothing is prepared twice).
    reset: (n,) or (n, batch), >= 0, every column with some mass; columns are normalised here.
    float32 is kept, anything else becomes float64.
    damping: the probability of FOLLOWING an edge, in [0, 1); 1 - damping is the restart
    probability.
    tol: bound on the L1 norm of the residual r + d W y - y of (*), r summing to 1; the L1 error of
    y is then at most tol / (1 - damping), that of
        the result at most twice as much. tol is raised to what the number type resolves (8 units of
        rounding); in float32 a hub of 100,000 edges costs another 1e-4, for the additions at the
        hub are rounded too.
    max_iter: a warning is given if this many steps do not reach `tol`.
    Returns an array shaped like `reset`; columns sum to 1. Raises ValueError for shapes or numbers
    that are none of the above.

    Source: Wang, Sec. IV-B (hippo-ppr)
    """
    walk = adjacency if isinstance(adjacency, Transitions) else transition_matrix(adjacency)
    home = _checked_reset(reset, walk.matrix.shape[0])
    if not 0 <= damping < 1:
        raise ValueError(
            f"damping must be in [0, 1), the probability of following an edge; got {damping}."
        )
    matrix = walk.matrix.astype(home.dtype, copy=False) * home.dtype.type(damping)
    tol = max(tol, 8 * float(np.finfo(home.dtype).eps))
    columns = home.reshape(len(home), -1)
    found = np.empty_like(columns)
    for start in range(0, columns.shape[1], COLUMNS_AT_ONCE):
        block = np.ascontiguousarray(columns[:, start : start + COLUMNS_AT_ONCE])
        found[:, start : start + COLUMNS_AT_ONCE] = _solve(
            matrix, _shares(block), damping if walk.symmetric else 0.0, tol, max_iter
        )
    return found.reshape(home.shape)


def _solve(walk: sp.csr_array, home: Floats, damping: float, tol: float, max_iter: int) -> Floats:
    """Solve y = home + walk y, for the columns of `home` (n, batch); returns y scaled to columns
    that sum to 1.

    With `damping` = 0 this is the power iteration. On an undirected graph the eigenvalues of W are
    real and lie in [-1, 1], so Chebyshev's semi-iteration, which stretches each step away from the
    one before the last, needs about half the steps at d = 0.5 and a sixth at d = 0.95.
    """
    before, now, stretch = np.zeros_like(home), home, 1.0
    for step in range(max_iter):
        fresh = walk @ now
        fresh += home
        if _l1(fresh, now) <= tol:
            break
        stretch = 1 / (1 - damping**2 * stretch / (2 if step == 1 else 4)) if step else 1.0
        fresh -= before
        fresh *= home.dtype.type(stretch)
        fresh += before
        before, now = now, fresh
    else:
        warnings.warn(
            f"PageRank stopped after {max_iter} steps before reaching tol={tol:g}; "
            "raise max_iter or tol.",
            RuntimeWarning,
            stacklevel=3,
        )
        fresh = now
    return _shares(np.maximum(fresh, 0))


def _l1(a: Floats, b: Floats) -> float:
    """The greatest L1 distance between two columns of the same number."""
    difference = a - b
    return float(np.abs(difference, out=difference).sum(axis=0).max(initial=0))


def _shares(columns: Floats) -> Floats:
    """Columns scaled to sum to 1; added up in float64, since 16,000 float32 additions in a row lose
    two digits.
    """
    shares: Floats = columns / columns.sum(axis=0, dtype=np.float64).astype(columns.dtype)
    return shares


def _checked_reset(reset: ArrayLike, nodes: int) -> Floats:
    masses = np.asarray(reset)
    masses = masses if masses.dtype == np.float32 else masses.astype(np.float64)
    if masses.ndim not in (1, 2) or len(masses) != nodes:
        raise ValueError(
            f"reset must have shape ({nodes},) or ({nodes}, batch), one row per node of the graph; "
            f"got {masses.shape}."
        )
    if not np.isfinite(masses).all() or (masses < 0).any():
        raise ValueError(
            "reset must be finite and not negative: it says how likely a walk is to start at each "
            "node."
        )
    if (masses.sum(axis=0) <= 0).any():
        raise ValueError(
            "Every column of reset needs some mass; a question without any linked node has no walk "
            "(fall back to another ranking)."
        )
    return masses
