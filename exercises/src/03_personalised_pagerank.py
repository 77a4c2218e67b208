# ---
# jupyter:
#   minirag:
#     title: Personalised PageRank
#     minutes: 40
# ---

# %% [markdown]
# # Exercise 3: personalised PageRank
#
# HippoRAG finds passages by a walk over a graph: the walker starts at the things that the question names, follows edges at random, and now and then
# jumps back to where it started. Where it is found most often is close to the question, by *all* paths at once. You build this walk.
#
# **You will be able to** turn edge weights into step probabilities, say what happens at a node without a way out, tell the probability of following an
# edge from that of jumping back, and check a walk against an exact solution.
#
# 40 minutes, no model, no network.

# %%
import numpy as np

places = ["harbour", "customs house", "lighthouse", "keeper", "whale oil", "weather diary"]
ways = [
    ("harbour", "customs house", 2),
    ("harbour", "whale oil", 1),
    ("whale oil", "lighthouse", 1),
    ("lighthouse", "keeper", 3),
    ("keeper", "weather diary", 1),
]
adjacency = np.zeros((6, 6))
for source, target, weight in ways:
    adjacency[places.index(source), places.index(target)] = weight
    adjacency[places.index(target), places.index(source)] = weight
adjacency

# %% [markdown]
# ## 1. From weights to steps
#
# `adjacency[i, j]` is the weight of the edge from i to j. A walker at i takes an edge in proportion to its weight. We keep that as a matrix $T$, which chapter 04 calls $A$, with
#
# $$T_{ji} = \text{the probability of stepping from } i \text{ to } j,$$
#
# so that $T x$ moves a whole crowd: if $x_i$ walkers stand at i, $(Tx)_j$ arrive at j. Mind the order of the indices: **column i says where one goes from i**.
#
# **Predict first.** The harbour has an edge of weight 2 and one of weight 1. Which numbers stand in its column, and what is their sum? What stands in
# the column of a node that no edge leaves?
#
# <details><summary>Answer</summary>
#
# 2/3 and 1/3, together 1. Without a way out there is nothing but zeros: such a node is called dangling (chapter 04's graphs have none: they are undirected, and each node has an edge).
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "step-matrix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def step_matrix(adjacency):
    """adjacency: (n, n) weights >= 0, [i, j] from i to j.

    Returns T (n, n), [j, i] the probability of stepping from i to j.
    """
    ### BEGIN SOLUTION
    strength = adjacency.sum(axis=1)
    return adjacency.T / np.where(strength > 0, strength, 1)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="step-matrix"
# - By what does the walker at i divide the weights of its edges? Is that a sum over a row of `adjacency` or over a column?
# - "`adjacency.sum(axis=1)` has one number for each node that is left. After transposing, those nodes are the columns, and NumPy divides columns by itself."
# - "`adjacency.T / np.where(strength > 0, strength, 1)`: a dangling node's zeros are divided by 1."

# %% nbgrader={"grade": true, "grade_id": "test-step-matrix", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
one_way = np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
with np.errstate(all="ignore"):
    found = step_matrix(one_way)
assert one_way.tolist() == [[0, 3, 1], [0, 0, 2], [0, 0, 0]], "the weights that were handed in have changed: make a new matrix, do not divide in place"
assert np.shape(found) == (3, 3), "step_matrix returns a matrix of the same shape"
assert not np.isnan(found).any(), "a dangling node has no weight to divide by: its column stays zero, and is not `not a number`"
assert not np.allclose(found, one_way.T), "these are still weights: divide them so that a column adds up to 1"
assert not np.allclose(found, [[0, 0.75, 0.25], [0, 0, 1], [0, 0, 0]]), "rows and columns are exchanged: T[j, i] is the step from i to j"
into = np.array([[0, 0, 0], [1, 0, 0], [1 / 3, 2 / 3, 0]])
assert not np.allclose(found, into), "you divide by what arrives at a node; the walker divides by what leaves the node on which it stands"
assert not np.allclose(found, [[0, 0, 0], [0.5, 0, 0], [0.5, 1, 0]]), "all edges count the same in your version: an edge of weight 3 is taken three times as often as one of weight 1"
assert not np.allclose(found, into.T), "each column is divided by what arrives there, and not exchanged with its row: with edges that go both ways (chapter 04) this is the same, with one-way edges it is not"
assert not np.allclose(found[:, 2], 1 / 3), "from the dangling node your walker goes to any node: here nobody leaves it by an edge, and nothing stands in its column"
assert found[2][2] == 0, "the dangling node has an edge to itself in your version: nobody leaves it by an edge, so nothing stands in its column"
assert np.allclose(found, [[0, 0, 0], [0.75, 0, 0], [0.25, 1, 0]]), f"three edges, with 0.75, 0.25 and 1; yours: {np.round(found, 2).tolist()}"
light = step_matrix(np.array([[0.0, 0.5], [0.25, 0.0]]))
assert np.allclose(light, [[0, 1], [1, 0]]), f"weights below 1: every column has to add up to 1 here, too; yours add up to {light.sum(axis=0).tolist()}"

# %% [markdown]
# ## 2. One step of the crowd
#
# `standing` says how many walkers stand where, 1 in all; `home` where walkers start, also 1 in all. With probability `damping` a walker follows an edge. Every
# other walker jumps home, and so does everyone on a dangling node, who could not follow an edge. So **all who have not arrived by an edge arrive at home**, and
# nobody is lost.
#
# The original HippoRAG paper (Gutiérrez et al., 2024) calls its parameter the probability of jumping back; its released code takes the same number as the probability of following an edge. With 0.5 nobody notices.
#
# **Predict first.** Half of the crowd stands on a dangling node; `damping` is 0.8. Which share of the whole crowd jumps home?
#
# <details><summary>Answer</summary>
#
# All of the dangling half and a fifth of the other: 0.5 + 0.1 = 0.6.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "one-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def one_step(walk, standing, home, damping):
    """walk: the matrix T; standing, home: (n,), each adding up to 1.

    Returns where the crowd stands after one step, (n,).
    """
    ### BEGIN SOLUTION
    arrived = damping * (walk @ standing)
    return arrived + (1 - arrived.sum()) * home
    ### END SOLUTION


# %% [raw] tags=["hints"] item="one-step"
# - Separate the crowd in two, those who follow an edge and those who jump home. The two numbers have to add up to 1.
# - "`walk @ standing` moves everyone who may follow an edge; only the share `damping` of them does. How many are then missing?"
# - "`arrived = damping * (walk @ standing)`, and everyone else, `1 - arrived.sum()`, is spread like `home`."

# %% nbgrader={"grade": true, "grade_id": "test-one-step", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
pair = np.array([[0.0, 1.0], [1.0, 0.0]])
found = np.asarray(one_step(pair, np.array([1.0, 0.0]), np.array([1.0, 0.0]), 0.8))
assert np.shape(found) == (2,), "one_step returns a share for every node"
assert not np.allclose(found, [0.8, 0.2]), "damping stands on the wrong term: it is the probability of following an edge, not of jumping home"
assert not np.allclose(found, [0.2, 0.2]) and not np.allclose(found, [0, 1]), "is damping used on both sides? 0.8 of the crowd follow the edge, 0.2 jump"
assert np.allclose(found, [0.2, 0.8]), f"0.8 of the crowd follow the edge to the second node, 0.2 jump home to the first; yours: {np.round(found, 3).tolist()}"
dead_end = np.array([[0.0, 0.0], [1.0, 0.0]])
found = np.asarray(one_step(dead_end, np.array([0.5, 0.5]), np.array([1.0, 0.0]), 0.8))
assert not np.allclose(found, [1 / 3, 2 / 3]), "you divide the result by its sum: that sends some of those on a dangling node to where others walk, and they have to jump home"
assert found.sum() > 1 - 1e-9, f"only {found.sum():.2f} of the crowd are left: those on a dangling node are lost, they have to jump home"
assert found.sum() < 1 + 1e-9, f"{found.sum():.2f} of the crowd have arrived, more than there were: does somebody jump twice?"
other = one_step(dead_end, np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.8)
assert np.allclose(other, [0.15, 0.85]), "those who jump are spread like `home`, not evenly and not to one node; that goes for those on a dangling node, too"
assert np.allclose(found, [0.6, 0.4]), f"0.6 jump home, 0.4 arrive at the dead end; yours: {np.round(found, 3).tolist()}"

# %% [markdown]
# ## 3. Many steps
#
# `reset` gives every node that the question names some mass, all others zero; it need not add up to 1. The walkers start there, and return there.
#
# **Predict first.** A question names the whale oil. After many steps with `damping` 0.5, is the harbour or the keeper visited more often?
#
# <details><summary>Answer</summary>
#
# The harbour, one step away. The keeper is two steps away, and at each step only half of the walkers follow an edge. You will see the numbers below.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "pagerank", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pagerank(adjacency, reset, damping=0.5, steps=100):
    """adjacency: (n, n); reset: (n,) >= 0, not all 0. Returns (n,), adding up to 1."""
    ### BEGIN SOLUTION
    walk = step_matrix(adjacency)
    home = reset / reset.sum()
    standing = home
    for _ in range(steps):
        standing = one_step(walk, standing, home, damping)
    return standing
    ### END SOLUTION


# %% [raw] tags=["hints"] item="pagerank"
# - You have all the parts. Which of them are made once, which at every step?
# - "Make T, turn `reset` into shares that add up to 1, and let the crowd start at home."
# - "`home = reset / reset.sum()`, `standing = home`, and in the loop `standing = one_step(walk, standing, home, damping)`."

# %% nbgrader={"grade": true, "grade_id": "test-pagerank", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
line = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
first = np.asarray(pagerank(line, np.array([1.0, 0.0, 0.0])))
assert np.shape(first) == (3,), "pagerank returns a probability for every node"
mass = np.array([2.0, 0.0, 0.0])
double = np.asarray(pagerank(line, mass))
assert mass.tolist() == [2, 0, 0], "`reset` has changed: make a new array, do not write into the one that was handed in"
assert np.isclose(double.sum(), 1) and np.allclose(first, double), "twice the mass in reset is the same question: reset has to be divided by its sum"
two_names = np.asarray(pagerank(line, np.array([3.0, 0.0, 1.0])))
largest = "two names in `reset` have to become shares of their sum, not of the largest"
assert np.isclose(two_names.sum(), 1), largest
assert first[0] > first[2] + 1e-9, "the first node is where the walk restarts, and is not visited more than the last: do walkers jump to `home`?"
assert not np.allclose(first, [0.5, 0.5, 0]), "that is the crowd after a single step: is the loop using the result of the step before?"
exact = np.array([7 / 12, 4 / 12, 1 / 12])
far = abs(first - exact).max()
assert np.allclose(first, exact) or far > 0.05, f"nearly right, but {far:.1e} away: the walk stops too early, do all `steps`"
assert np.allclose(first, exact), f"expected 7/12, 4/12, 1/12; yours, times 12: {np.round(12 * first, 2).tolist()}"
once = pagerank(line, np.array([1.0, 0.0, 0.0]), steps=1)
assert np.allclose(once, [0.5, 0.5, 0]), "one step from home gives [0.5, 0.5, 0]: is `steps` used, and does the crowd start at home?"
once = pagerank(line, np.array([3.0, 0.0, 1.0]), steps=1)
assert np.allclose(once, [3 / 8, 4 / 8, 1 / 8]), f"{largest}: divide before the walk, not after it"
assert np.allclose(two_names, np.array([22, 16, 10]) / 48), f"two names: expected 22, 16 and 10 of 48; yours, times 48: {np.round(48 * two_names, 1).tolist()}"
restless = pagerank(line, np.array([1.0, 0.0, 0.0]), damping=0.9)
assert restless[2] > first[2], "with more damping the crowd gets further: hand damping on"

# %%
visited = pagerank(adjacency, np.array([0, 0, 0, 0, 1.0, 0]))
for share, place in sorted(zip(visited, places), reverse=True):
    print(f"{share:.3f}  {place}")

# %% [markdown]
# ## 4. The same without walking
#
# When nothing changes any more, what arrives and what jumps balance. That is a system of linear equations: with $d$ for the damping and $h$ for home, solve
#
# $$y = h + d\,T y, \qquad x = y\,/\,\textstyle\sum_j y_j .$$
#
# The second part is what becomes of the dangling nodes: those who jump from there only make the whole crowd at home larger, so everything is scaled alike.
#
# **Predict first.** No node is dangling and $h$ adds up to 1. What is the sum of $y$ for $d = 0.5$?
#
# <details><summary>Answer</summary>
#
# Sum both sides: $s = 1 + 0.5\,s$, so $s = 2$, that is $1/(1-d)$.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "pagerank-exact", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pagerank_exact(adjacency, reset, damping=0.5):
    """The same as pagerank with infinitely many steps.

    np.linalg.solve(A, h) returns the y with A y = h.
    """
    ### BEGIN SOLUTION
    y = np.linalg.solve(np.eye(len(reset)) - damping * step_matrix(adjacency), reset)
    return y / y.sum()
    ### END SOLUTION


# %% [raw] tags=["hints"] item="pagerank-exact"
# - Bring everything with y to the left side. Which matrix stands before y?
# - "The matrix is the identity, `np.eye(n)`, less `damping` times T."
# - "`y = np.linalg.solve(np.eye(len(reset)) - damping * step_matrix(adjacency), reset)`, then divide y by its sum."

# %% nbgrader={"grade": true, "grade_id": "test-pagerank-exact", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
line = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
found = pagerank_exact(line, np.array([1.0, 0.0, 0.0]))
assert found is not None and np.shape(found) == (3,), "pagerank_exact returns a probability for every node"
assert not np.isclose(found.sum(), 2), "this is y itself, whose sum is 2: divide it by its sum"
assert np.allclose(found, [7 / 12, 4 / 12, 1 / 12]), f"expected 7/12, 4/12, 1/12; yours: {np.round(found, 3).tolist()}"
leak = pagerank_exact(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0]), damping=0.8)
assert leak.sum() > 1 - 1e-9, "with a dangling node your probabilities do not add up to 1: (1 - d) is not the right factor there, divide by the sum of y"
assert np.allclose(leak, [1 / 1.8, 0.8 / 1.8]), f"a walk that ends at a dead end: expected 0.556 and 0.444; yours: {np.round(leak, 3).tolist()}"
slow = pagerank_exact(line, np.array([1.0, 0.0, 0.0]), damping=0.999999)
assert np.allclose(slow, [0.25, 0.5, 0.25], atol=1e-5), "with a damping this close to 1 even thousands of steps end far from the limit: solve the equations instead of walking"

# %% [markdown]
# ## 5. Compare with the package
#
# `personalized_pagerank` solves the same equation for many questions at once, with sparse matrices and fewer steps.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
import scipy.sparse as sparse

from minirag.algorithms.pagerank import personalized_pagerank

random = np.random.default_rng(3)
weights = np.where(random.random((30, 30)) < 0.15, random.integers(1, 4, (30, 30)), 0).astype(float)
weights[[4, 11]] = 0  # two dangling nodes
questions = random.random((30, 5))
for damping in (0.0, 0.5, 0.85):
    theirs = personalized_pagerank(sparse.csr_array(weights), questions, damping=damping)
    for column, reset in enumerate(questions.T):
        assert np.allclose(pagerank(weights, reset, damping, steps=200), theirs[:, column]), f"the walk differs from the package at damping {damping}"
        assert np.allclose(pagerank_exact(weights, reset, damping), theirs[:, column]), f"the solution differs from the package at damping {damping}"

# %% [markdown]
# **To think about.** The wrong versions are easy to miss: with `damping` 0.5 the exchanged terms give the very same numbers, and without a dangling node
# nobody is lost. Which graphs, and which settings, would you test a walk on that somebody else wrote?

# %% [raw] tags=["wrong-answers"]
# - item: step-matrix
#   name: rows and columns exchanged
#   replace: adjacency.T / np.where(strength > 0, strength, 1)
#   by: adjacency / np.where(strength > 0, strength, 1)[:, None]
#   hint: rows and columns are exchanged
# - item: step-matrix
#   name: divided by what arrives
#   replace: adjacency.T / np.where(strength > 0, strength, 1)
#   by: (adjacency / np.where(adjacency.sum(axis=0) > 0, adjacency.sum(axis=0), 1)).T
#   hint: you divide by what arrives at a node
# - item: step-matrix
#   name: dangling node divided by zero
#   replace: np.where(strength > 0, strength, 1)
#   by: strength
#   hint: its column stays zero
# - item: step-matrix
#   name: weights below 1 left as they are
#   replace: np.where(strength > 0, strength, 1)
#   by: np.maximum(strength, 1)
#   hint: weights below 1
# - item: step-matrix
#   name: divided in place
#   replace: |-
#     return adjacency.T / np.where(strength > 0, strength, 1)
#   by: |-
#     adjacency /= np.where(strength > 0, strength, 1)[:, None]
#         return adjacency.T
#   hint: do not divide in place
# - item: step-matrix
#   name: edges without their weights
#   replace: |-
#     strength = adjacency.sum(axis=1)
#   by: |-
#     adjacency = (adjacency > 0).astype(float)
#         strength = adjacency.sum(axis=1)
#   hint: all edges count the same
# - item: step-matrix
#   name: dangling node with an edge to itself
#   replace: adjacency.T / np.where(strength > 0, strength, 1)
#   by: adjacency.T / np.where(strength > 0, strength, 1) + np.diag((strength == 0).astype(float))
#   hint: the dangling node has an edge to itself
# - item: step-matrix
#   name: as in the chapter, where the weights are symmetric
#   replace: return adjacency.T / np.where(strength > 0, strength, 1)
#   by: return adjacency / np.where(adjacency.sum(axis=0) > 0, adjacency.sum(axis=0), 1)
#   hint: with edges that go both ways
# - item: step-matrix
#   name: dangling node to every node
#   replace: adjacency.T / np.where(strength > 0, strength, 1)
#   by: adjacency.T / np.where(strength > 0, strength, 1) + (strength == 0) / len(strength)
#   hint: from the dangling node your walker goes to any node
# - item: one-step
#   name: divided by the sum
#   replace: return arrived + (1 - arrived.sum()) * home
#   by: return (arrived + (1 - damping) * home) / (arrived + (1 - damping) * home).sum()
#   hint: you divide the result by its sum
# - item: one-step
#   name: damping on the wrong term
#   replace: damping * (walk @ standing)
#   by: (1 - damping) * (walk @ standing)
#   hint: damping stands on the wrong term
# - item: one-step
#   name: dangling mass lost
#   replace: (1 - arrived.sum()) * home
#   by: (1 - damping) * home
#   hint: those on a dangling node are lost
# - item: one-step
#   name: jump to anywhere
#   replace: (1 - arrived.sum()) * home
#   by: (1 - arrived.sum()) * (home > 0) / (home > 0).sum()
#   hint: those who jump are spread like `home`
# - item: one-step
#   name: dangling mass jumps twice
#   replace: (1 - arrived.sum()) * home
#   by: (1 - damping + standing[walk.sum(axis=0) == 0].sum()) * home
#   hint: does somebody jump twice
# - item: one-step
#   name: dangling mass spread evenly
#   replace: return arrived + (1 - arrived.sum()) * home
#   by: return arrived + (1 - damping) * home + (damping - arrived.sum()) / len(home)
#   hint: that goes for those on a dangling node, too
# - item: one-step
#   name: dangling mass lost, as a list
#   replace: return arrived + (1 - arrived.sum()) * home
#   by: return [float(a + (1 - damping) * h) for a, h in zip(arrived, home)]
#   hint: of the crowd are left
# - item: pagerank
#   name: divided by the largest, and by the sum at the end
#   replace: |-
#     home = reset / reset.sum()
#         standing = home
#         for _ in range(steps):
#             standing = one_step(walk, standing, home, damping)
#         return standing
#   by: |-
#     home = reset / reset.max()
#         standing = home
#         for _ in range(steps):
#             standing = one_step(walk, standing, home, damping)
#         return standing / standing.sum()
#   hint: divide before the walk, not after it
# - item: pagerank
#   name: reset not normalised
#   replace: reset / reset.sum()
#   by: reset
#   hint: reset has to be divided by its sum
# - item: pagerank
#   name: reset divided by its largest
#   replace: reset / reset.sum()
#   by: reset / reset.max()
#   hint: shares of their sum, not of the largest
# - item: pagerank
#   name: reset changed in place
#   replace: |-
#     home = reset / reset.sum()
#   by: |-
#     reset /= reset.sum()
#         home = reset
#   hint: "`reset` has changed"
# - item: pagerank
#   name: not personalised
#   replace: home = reset / reset.sum()
#   by: home = np.full(len(reset), 1 / len(reset))
#   hint: is not visited more than the last
# - item: pagerank
#   name: every step starts anew
#   replace: standing = one_step(walk, standing, home, damping)
#   by: standing = one_step(walk, home, home, damping)
#   hint: the crowd after a single step
# - item: pagerank
#   name: stops early
#   replace: range(steps)
#   by: range(min(steps, 10))
#   hint: the walk stops too early
# - item: pagerank-exact
#   name: not divided by the sum
#   replace: y / y.sum()
#   by: "y"
#   hint: this is y itself
# - item: pagerank-exact
#   name: scaled as if nothing dangled
#   replace: y / y.sum()
#   by: (1 - damping) * y
#   hint: (1 - d) is not the right factor there
# - item: pagerank-exact
#   name: five thousand steps
#   replace: |-
#     y = np.linalg.solve(np.eye(len(reset)) - damping * step_matrix(adjacency), reset)
#         return y / y.sum()
#   by: return pagerank(adjacency, reset, damping, steps=5000)
#   hint: solve the equations instead of walking
