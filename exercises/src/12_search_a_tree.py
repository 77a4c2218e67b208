# ---
# jupyter:
#   minirag:
#     title: Soft clusters and the search of a tree
#     minutes: 35
# ---

# %% [markdown]
# # Exercise 12: Soft clusters and the search of a tree
#
# RAPTOR clusters passages by a mixture of bell curves, in which a passage may belong to several clusters. A language model summarises each cluster, and the summaries again: a tree.
# A question then searches this tree in one of two ways, as one list or from the top down. You write the heart of each step: the posteriors, the soft clusters, one step of
# the fit, the price of a curve, and both searches.
#
# **You will be able to** compute to which curves a number belongs, say why a fit moves, and predict which leaf a search from the top down loses.
#
# 35 minutes, no language model, no network. The tree at the end is built by rules, with the encoder `lsa`, which is computed from the texts.

# %%
import numpy as np

import minirag as mr

passages = np.array([0, 0.5, 1, 2, 3.5, 4, 4.5])  # seven toy passages, each a single number

# %% [markdown]
# ## 1. Posteriors
#
# $K$ bell curves have the means $\mu_k$, the weights $w_k$ and all the same width $\sigma$. At the number $x$ curve $k$ is this high, up to a factor that all curves share:
#
# $$h_k(x) = w_k \exp\left(-\frac{(x - \mu_k)^2}{2 \sigma^2}\right)$$
#
# The *posterior* of a curve at $x$ is its share of the whole height there, $h_k(x) / \sum_j h_j(x)$.
#
# **Predict first.** Two curves have the means 0 and 4. At $x = 2$ both are equally far. What are the posteriors with the weights $\frac12, \frac12$, and what with $\frac14, \frac34$?
#
# <details><summary>Answer</summary>
#
# With equal weights one half each; else $\frac14$ and $\frac34$: where all curves are equally far, the posteriors are the weights.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "posteriors", "locked": false, "schema_version": 3, "solution": true, "task": false}
def posteriors(x, means, width, weights):
    """x: (n,), means and weights: (K,), width: a number. Returns (n, K); every row sums to 1."""
    ### BEGIN SOLUTION
    heights = weights * np.exp(-((x[:, None] - means) ** 2) / (2 * width**2))
    return heights / heights.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="posteriors"
# - You need a table with a row for each number and a column for each curve. Which two operations lead from the distances to the shares?
# - "`x[:, None] - means` is the table of distances, (n, K). Compute the heights from it, times the weights, and divide every row by its sum."
# - "`heights = weights * np.exp(-(x[:, None] - means) ** 2 / (2 * width ** 2))`, and then divide by `heights.sum(axis=1, keepdims=True)`."

# %% nbgrader={"grade": true, "grade_id": "test-posteriors", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
x, means, weights = np.array([0.0, 1.0, 2.0, 4.0, 6.0]), np.array([0.0, 4.0]), np.array([0.25, 0.75])
near = lambda found, expected: np.shape(found) == np.shape(expected) and np.allclose(np.asarray(found, dtype=float), expected, atol=1e-3)
found = posteriors(x, means, 1.5, weights)
assert found is not None, "posteriors returns nothing: return a table with a row for each number"
assert np.shape(found) != (2, 5), "your table has a row for each curve: turn it round, so that a row is a number and a column a curve"
assert np.shape(found) == (5, 2), f"five numbers and two curves make a table of 5 rows and 2 columns; yours has the shape {np.shape(found)}"
found, right = np.asarray(found, dtype=float), np.array([0.079, 0.336, 0.75, 0.991, 1.0])
assert not near(found.sum(axis=0), [1, 1]), "the columns sum to 1 in your version: divide every row by its own sum"
assert not np.isclose(found.sum(), 1), "you divide by one sum for the whole table: every row has its own"
assert near(found.sum(axis=1), np.ones(5)), f"a posterior is a share of the height at its number, so every row sums to 1; yours sum to {found.sum(axis=1).round(3).tolist()}"
assert not np.isin(found, [0, 1]).all(), "yours are zeros and ones: a posterior says how much of the height is a curve's, not which curve is the highest"
assert not near(found[:, 1], [0.028, 0.145, 0.5, 0.972, 0.999]), "your curves are equally heavy: multiply each height by its weight"
assert not near(found[:, 1], [0.014, 0.172, 0.75, 0.998, 1]), "the width stands squared in the formula, yours is not"
assert not near(found[:, 1], [0.382, 0.577, 0.75, 0.936, 0.986]), "your curves are too wide: the width is squared once, not twice"
assert not near(found[:, 1], [0.002, 0.079, 0.75, 1, 1]), "the 2 below the squared distance is missing"
assert not near(found[:, 1], [0.001, 0.052, 0.75, 1, 1]), "your curves have the width 1: is the width used?"
assert not near(found[:, 1], 1 - right), "the two columns are exchanged: they have the order of means"
assert not near(found[:, 1], [0.552, 0.658, 0.75, 0.879, 0.879]), "a bell curve falls with the squared distance, yours with the distance"
assert near(found[:, 1], right), f"of the right curve the posteriors are {right.tolist()}; yours: {found[:, 1].round(3).tolist()}"
assert near(posteriors(x, means, 1.0, weights)[1], [0.948, 0.052]), "with the width 1 the left curve has 0.948 at the number 1, and yours has not"
assert near(posteriors(x[:2], np.array([0.0, 1.0, 2.0]), 1.0, np.full(3, 1 / 3)), [[0.574, 0.348, 0.078], [0.274, 0.452, 0.274]]), "with three curves every row has three shares: a number of curves stands in your code"

# %% [markdown]
# ## 2. Soft clusters
#
# A cluster holds the numbers whose posterior of its curve is *above* a threshold, by default 0.1. So a number may be in several clusters. Return a list with one entry for each curve: the positions of its
# numbers, counted from 0.
#
# **Predict first.** Three posteriors of a number sum to 1. In how many clusters can it be at most, and at least, with the threshold 0.1?
#
# <details><summary>Answer</summary>
#
# In three at most, in one at least: three numbers that sum to 1 cannot all be 0.1 or less.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "members", "locked": false, "schema_version": 3, "solution": true, "task": false}
def members(shares, threshold=0.1):
    """shares: (n, K) posteriors. Returns K lists: for each curve the positions of its numbers."""
    ### BEGIN SOLUTION
    return [np.flatnonzero(column > threshold).tolist() for column in shares.T]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="members"
# - For one curve you look at one column of the table. What do you ask of each number in it?
# - "`shares.T` goes through the columns. `column > threshold` is true or false for each number; you want the positions where it is true."
# - "`[np.flatnonzero(column > threshold) for column in shares.T]`"

# %% nbgrader={"grade": true, "grade_id": "test-members", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
shares = np.array([[0.95, 0.03, 0.02], [0.45, 0.40, 0.15], [0.10, 0.85, 0.05], [0.04, 0.90, 0.06], [0.36, 0.34, 0.30]])
listed = lambda found: [sorted(np.ravel(list(each)).tolist()) for each in (found.values() if isinstance(found, dict) else found)]
found = members(shares)
assert found is not None, "members returns nothing: return a list with one entry for each curve"
found = list(found.values() if isinstance(found, dict) else found)
assert not any(np.asarray(list(each)).dtype == bool for each in found if len(list(each))), "yours are true and false: return the positions of those that are true"
found = listed(found)
assert len(found) != 5, "you have one entry for each number: there is one for each curve, with the positions of its numbers"
assert found != [[0, 1, 4], [2, 3], []], "you put a number into its highest cluster alone: it is in every cluster whose posterior is above 0.1"
assert found != [[0, 1, 2, 4], [1, 2, 3, 4], [1, 4]], "position 2 is not in the first cluster, where its posterior is exactly 0.1: that is not above 0.1. (Compare the posterior itself, not its share of the largest one.)"
assert found != [[1, 2, 5], [2, 3, 4, 5], [2, 5]], "positions are counted from 0, yours from 1"
assert found != [[0, 1, 2, 4], [1, 2, 3, 4], [1, 2, 3, 4]], "0.1 is a share of 1, not of the largest posterior of a curve"
assert found == [[0, 1, 4], [1, 2, 3, 4], [1, 4]], f"the clusters are [0, 1, 4], [1, 2, 3, 4] and [1, 4]; yours: {found}"
assert listed(members(np.array([[0.896, 0.104]]))) == [[0], [0]], "0.104 is above 0.1: do not round the posteriors"
higher = listed(members(shares, 0.38))
assert higher != [[0, 1, 4], [1, 2, 3, 4], [1, 4]], "with the threshold 0.38 your clusters are those of 0.1: use the threshold that is handed in"
assert higher != [[0, 1, 4], [1, 2, 3], []], "position 4 is in no cluster at the threshold 0.38, as its highest posterior is 0.36: do not add the highest in any case"
assert higher != [[0, 1], [1, 2, 3]], "a curve without numbers has an empty list: three curves, three lists"
assert higher == [[0, 1], [1, 2, 3], []], f"with the threshold 0.38 the clusters are [0, 1], [1, 2, 3] and []; yours: {higher}"

# %% [markdown]
# ## 3. One step of the fit
#
# A fit repeats two steps: compute the posteriors; move each mean to the average of *all* numbers, each weighted by its posterior of that curve. Write the second.
#
# $$\mu_k = \frac{\sum_i P(k \mid x_i) \; x_i}{\sum_i P(k \mid x_i)}$$
#
# **Predict first.** The numbers are 0, 2, 10; the left curve's posteriors are 1, 0.5, 0. Where is its new mean?
#
# <details><summary>Answer</summary>
#
# At $1 / 1.5 = 0.667$: the number 2 counts half, and so does its place in the count.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "moved", "locked": false, "schema_version": 3, "solution": true, "task": false}
def moved(x, shares):
    """x: (n,), shares: (n, K) posteriors. Returns the new means, (K,)."""
    ### BEGIN SOLUTION
    return shares.T @ x / shares.sum(axis=0)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="moved"
# - A weighted average has a sum above the line and a sum below it. Over what do both go?
# - "For one curve: `shares[:, k] * x` summed over all numbers, divided by the sum of `shares[:, k]`."
# - "`shares.T @ x` has the upper sums of all curves, `shares.sum(axis=0)` the lower ones."

# %% nbgrader={"grade": true, "grade_id": "test-moved", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
x, shares = np.array([0.0, 2.0, 10.0]), np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
uneven = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
found = moved(x, shares)
assert found is not None, "moved returns nothing: return one mean for each curve"
assert np.size(found) == 2, f"two curves have two means; yours: {found}"
found = np.ravel(np.asarray(found, dtype=float))
assert not near(found, [1, 11]), "the sum above the line is right, and nothing is divided: divide by the sum of the posteriors"
assert not near(found, [1 / 3, 11 / 3]), "you divide by the number of passages: divide by the sum of the curve's posteriors"
assert not near(found, [1, 10]), "each number counts for its highest curve alone: it counts for both, by its posteriors"
assert not near(found, [1, 6]), "whoever belongs to a curve a little counts in full: weight it by its posterior"
assert not near(found, [4, 4]), "your means are plain averages: the posteriors are the weights"
assert not near(found, [0.4, 8.4]), "you square the posteriors: weight by the posteriors as they are"
assert not near(found, [0.5, 0.5]), "these are mean posteriors: average the numbers, weighted by the posteriors"
assert not near(found, [22 / 3, 2 / 3]), "your means are in the wrong order: curve by curve, as the columns"
assert near(found, [2 / 3, 22 / 3]), f"the new means are 0.667 and 7.333; yours: {found.round(3).tolist()}"
low = np.ravel(np.asarray(moved(np.array([0.0, 10]), np.array([[0.995, 0.005], [0.005, 0.995]])), dtype=float))
assert near(low, [0.05, 9.95]), "every posterior counts in the fit, small ones, too: the threshold belongs to the clusters alone"
heavy = np.ravel(np.asarray(moved(x, uneven), dtype=float))
assert not near(heavy, [5.6 / 1.5, 6.4 / 1.5]), "you divide every curve by the same sum: a curve's mean is divided by the sum of its own posteriors"
assert near(heavy, [5.6 / 2.1, 6.4 / 0.9]), f"with posteriors that sum to 2.1 and 0.9 the means are 2.667 and 7.111; yours: {heavy.round(3).tolist()}"
three = moved(x, np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]))
assert np.size(three) == 3, f"three curves have three means, yours are {np.size(three)}: a number of curves stands in your code"
assert near(np.ravel(three), [1.4, 4, 6.6]), "with three curves the means are 1.4, 4 and 6.6: every column is a curve's, the middle one, too"

# %% [markdown]
# Both steps together, for the seven toy passages, from the guess 0 and 4:

# %%
centres, equal = np.array([0.0, 4.0]), np.array([0.5, 0.5])
for _ in range(100):
    centres = np.asarray(moved(passages, np.asarray(posteriors(passages, centres, 1.0, equal))))
belongs = np.asarray(posteriors(passages, centres, 1.0, equal))
print("means:", *centres.round(2), " clusters:", *members(belongs))

# %% [markdown]
# ## 4. How many curves?
#
# More curves usually fit better. The *Bayesian information criterion* charges for each of $p$ free numbers:
#
# $$\text{BIC} = p \ln n - 2 \ln L$$
#
# $L$ is the product of the whole heights at the $n$ passages. You get these heights; the least BIC wins.
#
# **Predict first.** The heights at four passages are 0.5, 0.25, 0.125, 0.125. What is $\ln L$?
#
# <details><summary>Answer</summary>
#
# $\ln 0.5 + \ln 0.25 + 2 \ln 0.125 = -9 \ln 2 = -6.24$: the logarithm of a product is a sum of logarithms.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "bic", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bic(heights, p):
    """heights: (n,), the whole height at each passage; p: free numbers. Returns a number."""
    ### BEGIN SOLUTION
    n = len(heights)
    return p * np.log(n) - 2 * np.log(heights).sum()
    ### END SOLUTION


# %% [raw] tags=["hints"] item="bic"
# - What is the logarithm of a product? And which number in the formula is the number of passages?
# - "$\\ln L$ is the sum of the logarithms of the heights, and $n$ is how many there are."
# - "`p * np.log(len(heights)) - 2 * np.log(heights).sum()`"

# %% nbgrader={"grade": true, "grade_id": "test-bic", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
heights = np.array([0.5, 0.25, 0.125, 0.125])
found = bic(heights, 3)
assert found is not None and np.size(found) == 1, "bic returns one number"
found = float(np.ravel(found)[0])
close = lambda expected: abs(found - expected) < 1e-2
assert not close(-8.318), "your fit is charged and your free numbers are not: the first part is added, the second taken away"
assert not close(8.318), "yours is half of it: the formula has ln n in full, and twice ln L"
assert not close(4.159), "you take the logarithm of the sum of the heights: ln L is the sum of their logarithms"
assert not close(10.397), "ln L counts twice: there is a 2 before it"
assert not close(18.476), "you charge 2 for each free number: BIC charges ln n"
assert not close(7.278), "you charge the mean of the logarithms: ln L is their sum"
assert not close(7.225), "ln is the natural logarithm, np.log; yours is to the base 10"
assert not close(24.477), "you charge n for each free number: BIC charges ln n for it"
assert close(16.636), f"3 ln 4 + 2 * 6.238 is 16.636; yours: {found:.3f}"
assert abs(float(bic(np.array([2.0, 4.0]), 1)) + 3.4657) < 0.01, "with two heights, 2 and 4, and p = 1 BIC is ln 2 - 2 ln 8, -3.466: a height may be larger than one, and BIC below zero"
assert abs(float(bic(np.full(2, 1e-6), 1)) - 55.955) < 0.01, "with two heights of 0.000001 and p = 1 BIC is 55.955: a height may be as small as it likes"
assert abs(float(bic(np.array([20.0, 20.0]), 1)) + 11.2898) < 0.01, "with two heights of 20 and p = 1 BIC is ln 2 - 2 ln 400, -11.29: a height may be as large as it likes"
assert np.isfinite(bic(np.full(2000, 0.1), 1)), "the product of two thousand heights of 0.1 is zero for a computer: add up logarithms instead"
assert abs(float(bic(np.full(2000, 0.1), 1)) - 9217.9) < 1, "with two thousand heights of 0.1 and p = 1 BIC is 9217.9: does ln n follow the number of heights?"

# %% [markdown]
# One, two or three curves of width 1 for the toy passages? Only the means are free here, so $p$ is the number of curves. With which number is BIC least?
#
# <details><summary>Answer</summary>
#
# With two: 28.5, against 34.2 with one and 30.8 with three. With equal weights the third curve does not raise the product of the heights (24.9 against 24.6 for $-2 \ln L$), and it is charged $\ln 7$ besides.
#
# </details>

# %%
for starts in ([2.0], [0.0, 4.0], [0.0, 2.0, 4.0]):
    centres, equal = np.array(starts), np.full(len(starts), 1 / len(starts))
    for _ in range(100):
        centres = np.asarray(moved(passages, np.asarray(posteriors(passages, centres, 1.0, equal))))
    bells = np.exp(-0.5 * np.subtract.outer(passages, centres) ** 2) / np.sqrt(2 * np.pi)
    print(len(starts), "curves: BIC", round(float(bic(bells @ equal, len(starts))), 1))

# %% [markdown]
# ## 5. The tree as one list
#
# Leaves and summaries have vectors, and are numbered: one row of `vectors` each. Return the positions of the `k` nodes with the largest *cosine* to the question, the best first; of equal cosines the smaller
# position first. The vectors may have any length (none is zero), so a dot product is not yet a cosine. If there are fewer than `k` rows, return all.
#
# **Predict first.** The question is (1, 0), the nodes are (3, 4) and (1, 0.5). Which has the larger dot product, which the larger cosine?
#
# <details><summary>Answer</summary>
#
# (3, 4) has the dot product 3, but the cosine $3/5$. (1, 0.5) has the dot product 1 and the cosine $1 / \sqrt{1.25} = 0.89$: it is nearer.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "one-list", "locked": false, "schema_version": 3, "solution": true, "task": false}
def one_list(question, vectors, k):
    """question: (d,), vectors: (nodes, d). Returns at most k positions, the nearest first."""
    ### BEGIN SOLUTION
    cosines = vectors @ question / np.linalg.norm(vectors, axis=1)
    return np.argsort(-cosines, kind="stable")[:k].tolist()
    ### END SOLUTION


# %% [raw] tags=["hints"] item="one-list"
# - What has each dot product to be divided by, and why may the length of the question be left out?
# - "Divide `vectors @ question` by the length of each row, `np.linalg.norm(vectors, axis=1)`. Then sort the positions by the negative cosine, stably."
# - "`np.argsort(-cosines, kind=\"stable\")[:k]`"

# %% nbgrader={"grade": true, "grade_id": "test-one-list", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
at = lambda *rows: np.array([[length * cosine, length * (1 - cosine**2) ** 0.5] for cosine, length in rows])
asked = np.array([2.0, 0.0])
nodes = at((0.6, 1), (0.9, 1), (0.8, 5), (0.9, 1), (-0.95, 1), (0.1, 1))
flat = lambda found: [int(place) for place in found]
found = one_list(asked, nodes, 4)
assert found is not None, "one_list returns nothing: return a list of positions"
assert all(np.ndim(each) == 0 for each in found), "return the positions alone, without their cosines"
assert not any(float(each) % 1 for each in found), "yours are cosines: return the positions of the nodes"
found = flat(found)
assert len(found) != 6, "with k = 4 four nodes are returned; yours has all six: is k used?"
assert found[:1] != [2], "a long vector comes first in your version: divide each dot product by the length of its row"
assert found[:1] != [4], "your first node points away from the question: the largest cosine comes first, with its sign"
assert found != [3, 1, 2, 0], "the nodes 1 and 3 have equal cosines: the smaller position comes first, so do not turn a sorted list round"
assert found != [0, 1, 2, 3], "you choose the right nodes and leave them in the order of their numbers: the nearest comes first"
assert found != [1, 3, 0, 5], "you take the distance between the ends of the vectors: take the cosine, for which length does not count"
assert found == [1, 3, 2, 0], f"the order is [1, 3, 2, 0]; yours: {found}"
assert flat(one_list(asked, at((0.6, 1), (0.601, 1)), 2)) == [1, 0], "0.601 is nearer than 0.6: do not round the cosines"
assert flat(one_list(asked, at((0.5, 1), (0.95, 4), (0.99, 0.1)), 1)) == [2], "a short vector in the question's direction is the nearest: its length does not count, nor how far its end is"
assert flat(one_list(asked, at(*[(0.9, 1), (0.5, 1), (0.2, 1)] * 20), 20)) == [*range(0, 60, 3)], "twenty nodes share each cosine here: of equal ones the smaller position comes first, so sort with kind='stable'"
assert flat(one_list(asked, at((-0.9, 1), (-0.2, 1), (-0.5, 1)), 3)) == [1, 2, 0], "cosines below zero have an order, too: the largest comes first"
assert len(flat(one_list(asked, nodes[:3], 10))) == 3, "with k = 10 and three nodes all three are returned"

# %% [markdown]
# ## 6. From the top down
#
# *Tree traversal* looks at one layer after the other. In the top layer it keeps the `k` nearest nodes. The next layer is all children of the nodes that were kept; of these *together* it keeps the `k` nearest.
# It ends when nobody kept has children.
#
# - `layer` has the nodes of the top layer; `children` is `{node: [its children]}`. A leaf has no entry.
# - Return **all nodes that were kept**, summaries and leaves, in one list: layer by layer from the top, in each layer the nearest first, of equal cosines the smaller number first.
# - A node below two kept nodes (a soft cluster!) counts once.
#
# **Predict first.** The nearest leaf of all is below a summary that is far from the question. With `k = 1`: is the leaf found?
#
# <details><summary>Answer</summary>
#
# Not if another summary of that layer is nearer: the leaf is lost with its summary. One list would have it first.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "go-down", "locked": false, "schema_version": 3, "solution": true, "task": false}
def go_down(question, vectors, children, layer, k):
    """layer: list of the top nodes. Returns the numbers of all kept nodes, from the top down."""
    ### BEGIN SOLUTION
    if not layer:
        return []
    layer = sorted(layer)
    kept = [layer[place] for place in one_list(question, vectors[layer], k)]
    below = {child for node in kept for child in children.get(node, [])}
    return kept + go_down(question, vectors, children, list(below), k)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="go-down"
# - What do you need to know of one layer in order to find the next? Either a loop or a function that calls itself goes on from there.
# - "`one_list(question, vectors[layer], k)` gives positions *in the layer*: look the nodes up in `layer`. The next layer is the set of the children of those, sorted."
# - "In a loop `while layer:` with `kept = [layer[i] for i in one_list(question, vectors[layer], k)]`; add `kept` to the answer; `layer = sorted({child for node in kept for child in children.get(node, [])})`."

# %% nbgrader={"grade": true, "grade_id": "test-go-down", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
cosine_of = [0.9, 0.2, 0.6, 0.7, 0.1, 0.99, 0.0, 0.8, 0.5, 0.3, 0.4]
nodes, asked, below = at(*[(each, 1) for each in cosine_of]), np.array([1.0, 0.0]), {10: [9, 8, 7], 7: [2, 1, 0], 8: [2, 3, 4], 9: [5, 6]}
try:
    found, broken = go_down(asked, nodes, below, [10], 2), ""
except KeyError as error:
    found, broken = [], f"a leaf has no entry in children ({error}): it has no children, and that is no error"
assert not broken and found is not None, broken or "go_down returns nothing: return the list of all kept nodes"
assert all(np.ndim(each) == 0 for each in found), "return one flat list of numbers: neither a list for each layer nor pairs"
found = flat(found)
assert found != [0, 3], "these are the leaves alone: return all nodes that were kept, the summaries, too"
assert found != [7, 8, 0, 3], "the top layer is missing: its kept nodes are part of the answer"
assert found != [10, 7, 8], "you stop above the leaves: go on until nobody kept has children"
assert found != [10, 7, 8, 5, 0] and found != [10, 7, 8, 9, 5, 0, 3], "node 5 is found, but its parent 9 was not kept: the next layer has the children of the kept nodes only"
assert sorted(found) != [0, 2, 2, 3, 7, 8, 10] and sorted(found) != [0, 2, 3, 7, 8, 10], "you keep k below each node: of the children of all kept nodes together there are k"
assert found[-1:] != [10] or len(found) == 5, "your list ends with the top: it begins there, and goes down"
assert len(found) != 8 and len(found) != 11, "yours keeps every child, or comes back to nodes of earlier layers: of each layer only the k nearest are kept, and the next layer has the children of these alone"
assert found != [0, 7, 3, 8, 10], "your list is sorted by cosine: it goes from the top down, layer by layer"
assert found != [0, 3, 7, 8, 10], "your list goes from the leaves up: the top comes first"
assert found[:1] != [0] and found[:2] != [10, 2], "positions in a layer are taken for nodes: look them up in the layer"
assert found == [10, 7, 8, 0, 3], f"with k = 2 the kept nodes are [10, 7, 8, 0, 3]: the children of all kept nodes compete, not those of the nearest alone; yours: {found}"
assert flat(go_down(asked, at(*[({7: 0.5, 8: 0.8}.get(place, each), 1) for place, each in enumerate(cosine_of)]), below, [10], 2)) == [10, 8, 7, 0, 3], "node 8 is nearer than node 7 here: in each layer the nearest comes first"
assert flat(go_down(asked, nodes, below, [10], 1)) == [10, 7, 0], "with k = 1 it is [10, 7, 0]: one node a layer"
assert flat(go_down(asked, at(*[(0.95 if place == 2 else each, 1) for place, each in enumerate(cosine_of)]), below, [10], 2)) == [10, 7, 8, 2, 0], "node 2 is below two kept nodes, and counts once: [10, 7, 8, 2, 0]"
assert flat(go_down(asked, nodes, below, [9, 7], 1)) == [7, 0], "with the top layer [9, 7] and k = 1 only 7 is kept of it: the top layer is chosen from, too"
assert flat(go_down(asked, at(*[(max(each, 0.05), 1) for each in cosine_of]), below, [3, 9], 2)) not in ([3, 9, 5], [3, 9, 3, 5], [3, 9, 5, 3]), "leaf 3 was kept in the top layer, and competes again below it: the next layer has the children of the kept nodes only"
assert flat(go_down(asked, nodes, below, [3, 9], 2)) != [3, 9, 5], "node 6 has a cosine of zero and is among the nearest two: a cosine may be zero or below"
assert flat(go_down(asked, nodes, below, [3, 9], 2)) == [3, 9, 5, 6], "a leaf may stand in the top layer; it is kept, and the search goes on below the others: [3, 9, 5, 6]"
assert flat(go_down(asked, nodes, {node: [node - 1] for node in range(1, 11)}, [10], 2)) == [*range(10, -1, -1)], "this tree has eleven layers: no number of layers may stand in your code, go on until nobody kept has children"
assert flat(go_down(asked, at(*[(each, 1) for each in (0.6, 0.5, 0.4, 0, 0, 0, 0, 0.9, 0.8, 0.7, 1)]) * np.arange(1, 12)[:, None] ** 2, {10: [7, 8, 9], 7: [0], 8: [1], 9: [2]}, [10], 3)) == [10, 7, 8, 9, 0, 1, 2], "with k = 3 three nodes are kept, and the next layer has the children of all three: [10, 7, 8, 9, 0, 1, 2]. (The vectors have different lengths; the cosine counts.)"
assert flat(go_down(asked, at(*[(0.5, 1)] * 11), below, [10], 2)) == [10, 7, 8, 0, 1], "all cosines are equal here: of equal ones the smaller numbers are kept, [10, 7, 8, 0, 1]"

# %% [markdown]
# ## 7. Compare with the package
#
# First a tree of the forty passages of `professors`, whose summaries are made by rules. Then both searches over all questions: how many of the forty-three gold passages are among the kept nodes, if the
# one list gets as many nodes as the traversal?

# %%
corpus = mr.load_corpus("professors")
options = {"encoder": "lsa", "reduction": "pca", "dim": 5, "rows_per_cluster": 5}
tree = mr.METHODS["raptor"].build(corpus, **options)
rows = np.asarray(tree.node_index.vectors, dtype=float)
below = {}
for edge in tree.graph.edges:
    below.setdefault(edge.source, []).append(edge.target)
top = sorted(set(range(len(rows))) - {child for each in below.values() for child in each})
names = [tree.as_chunk(place).id for place in range(len(rows))]
asked = tree.encoder.encode([each.text for each in corpus.questions], kind="query")
for k in (1, 2, 3, 4):
    lists, walks = 0, 0
    for vector, each in zip(asked, corpus.questions):
        kept = go_down(vector, rows, below, top, k)
        lists += len({names[i] for i in one_list(vector, rows, len(kept))} & {*each.gold})
        walks += len({names[i] for i in kept} & {*each.gold})
    print(f"k = {k}: {lists} gold passages in one list, {walks} from the top down")

# %% [markdown]
# From the top down fewer are found, for each of the four `k`. (Among a traversal's nodes are the root and the summaries on the way; only leaves are gold.)
#
# The last cell compares your functions with scikit-learn's mixture of curves of one width, with the package's soft clusters, and with its two searches.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from sklearn.mixture import GaussianMixture

from minirag.algorithms.soft_clusters import over_threshold

drawn = np.random.default_rng(0)
x = np.concatenate([drawn.normal(0, 1, 40), drawn.normal(3, 1, 60)])
fit = GaussianMixture(2, covariance_type="tied", tol=1e-9, max_iter=5000, random_state=0).fit(x[:, None])
means, width, weights = fit.means_[:, 0], float(fit.covariances_[0, 0]) ** 0.5, fit.weights_
theirs = fit.predict_proba(x[:, None])
yours = np.asarray(posteriors(x, means, width, weights))
assert np.allclose(yours, theirs, atol=1e-6), "`posteriors` (section 1) differs from scikit-learn's mixture"
assert listed(members(theirs)) == over_threshold(theirs, 0.1), "`members` (section 2) differs from minirag's over_threshold"
assert np.allclose(np.ravel(moved(x, theirs)), means, atol=1e-3), "`moved` (section 3) moves means that scikit-learn's fit leaves where they are"
heights = np.exp(fit.score_samples(x[:, None]))
assert np.isclose(float(bic(heights, 4)), fit.bic(x[:, None])), "`bic` (section 4) differs from scikit-learn's: two means, one width and one weight are four free numbers"
for k in (1, 2, 4):
    walker = tree.with_options(search="traversal", k=k)
    for vector, each in zip(asked, corpus.questions):
        mine = [names[place] for place in one_list(vector, rows, k)]
        assert mine == list(tree.retrieve(each.text, k=k).ids), f"`one_list` (section 5) differs from the package's on {each.id}"
        mine = [names[place] for place in go_down(vector, rows, below, top, k)]
        assert mine == list(walker.retrieve(each.text, k=50).ids), f"`go_down` (section 6) differs from the package's traversal on {each.id}"

# %% [markdown]
# **To think about.** Traversal loses a leaf with its summary. Which of the two would you change: keep more nodes in the upper layers than in the lower ones, or let a leaf be in several clusters? What does each cost?
#
# <details><summary>Answer</summary>
#
# Both give a leaf more ways to be reached. More nodes above cost cosines, and the kept summaries fill the reader's window. Soft clusters with a lower threshold cost longer clusters, so more tokens for each summary, before the first
# question is asked.
#
# </details>

# %% [raw] tags=["wrong-answers"]
# - item: posteriors
#   name: rows and columns exchanged
#   replace: heights / heights.sum(axis=1, keepdims=True)
#   by: (heights / heights.sum(axis=1, keepdims=True)).T
#   hint: your table has a row for each curve
# - item: posteriors
#   name: columns divided
#   replace: axis=1
#   by: axis=0
#   hint: the columns sum to 1 in your version
# - item: posteriors
#   name: one sum for all
#   replace: heights.sum(axis=1, keepdims=True)
#   by: heights.sum()
#   hint: one sum for the whole table
# - item: posteriors
#   name: heights returned
#   replace: heights / heights.sum(axis=1, keepdims=True)
#   by: heights
#   hint: is a share of the height at its number
# - item: posteriors
#   name: highest curve only
#   replace: return heights / heights.sum(axis=1, keepdims=True)
#   by: return (heights == heights.max(axis=1, keepdims=True)).astype(float)
#   hint: yours are zeros and ones
# - item: posteriors
#   name: weights forgotten
#   replace: weights * np.exp
#   by: np.exp
#   hint: your curves are equally heavy
# - item: posteriors
#   name: width not squared
#   replace: (2 * width**2)
#   by: (2 * width)
#   hint: the width stands squared in the formula
# - item: posteriors
#   name: width squared twice
#   replace: (2 * width**2)
#   by: (2 * width**4)
#   hint: squared once, not twice
# - item: posteriors
#   name: two forgotten
#   replace: (2 * width**2)
#   by: width**2
#   hint: the 2 below the squared distance
# - item: posteriors
#   name: distance not squared
#   replace: -((x[:, None] - means) ** 2)
#   by: -np.abs(x[:, None] - means)
#   hint: yours with the distance
# - item: posteriors
#   name: width ignored
#   replace: (2 * width**2)
#   by: '2'
#   hint: is the width used
# - item: members
#   name: true and false
#   replace: np.flatnonzero(column > threshold).tolist()
#   by: (column > threshold).tolist()
#   hint: yours are true and false
# - item: members
#   name: one entry for each number
#   replace: shares.T]
#   by: shares]
#   hint: you have one entry for each number
# - item: members
#   name: highest cluster alone
#   replace: np.flatnonzero(column > threshold).tolist() for column in shares.T]
#   by: np.flatnonzero(shares.argmax(axis=1) == k).tolist() for k in range(shares.shape[1])]
#   hint: its highest cluster alone
# - item: members
#   name: threshold included
#   replace: column > threshold
#   by: column >= threshold
#   hint: that is not above 0.1
# - item: members
#   name: posteriors rounded
#   replace: column > threshold
#   by: column.round(2) > threshold
#   hint: do not round the posteriors
# - item: one-list
#   name: negative cosines cut
#   replace: cosines = vectors @ question / np.linalg.norm(vectors, axis=1)
#   by: cosines = (vectors @ question / np.linalg.norm(vectors, axis=1)).clip(0)
#   hint: have an order, too
# - item: members
#   name: share of the largest of its curve
#   replace: column > threshold
#   by: column > threshold * column.max()
#   hint: not of the largest posterior of a curve
# - item: members
#   name: threshold fixed
#   replace: column > threshold
#   by: column > 0.1
#   hint: use the threshold that is handed in
# - item: members
#   name: empty clusters left out
#   replace: in shares.T]
#   by: in shares.T if (column > threshold).any()]
#   hint: a curve without numbers has an empty list
# - item: moved
#   name: nothing divided
#   replace: ' / shares.sum(axis=0)'
#   by: ''
#   hint: nothing is divided
# - item: moved
#   name: divided by the passages
#   replace: shares.sum(axis=0)
#   by: len(x)
#   hint: you divide by the number of passages
# - item: moved
#   name: small posteriors dropped
#   replace: '    return shares.T @ x / shares.sum(axis=0)'
#   by: |2-
#         shares = np.where(shares > 0.1, shares, 0)
#         return shares.T @ x / shares.sum(axis=0)
#   hint: the threshold belongs to the clusters alone
# - item: moved
#   name: hard clusters
#   replace: '    return shares.T @ x / shares.sum(axis=0)'
#   by: |2-
#         hard = np.eye(shares.shape[1])[shares.argmax(axis=1)]
#         return hard.T @ x / hard.sum(axis=0)
#   hint: counts for its highest curve alone
# - item: moved
#   name: members in full
#   replace: return shares.T @ x / shares.sum(axis=0)
#   by: return (shares > 0.1).T @ x / (shares > 0.1).sum(axis=0)
#   hint: a little counts in full
# - item: moved
#   name: the same sum for all
#   replace: shares.sum(axis=0)
#   by: (shares.sum() / shares.shape[1])
#   hint: you divide every curve by the same sum
# - item: moved
#   name: mean posteriors
#   replace: shares.T @ x / shares.sum(axis=0)
#   by: shares.mean(axis=0)
#   hint: these are mean posteriors
# - item: moved
#   name: first and last curve alone
#   replace: return shares.T @ x / shares.sum(axis=0)
#   by: return np.array([shares[:, k] @ x / shares[:, k].sum() for k in (0, -1)])
#   hint: three curves have three means
# - item: bic
#   name: signs exchanged
#   replace: '- 2 * np.log(heights).sum()'
#   by: '+ 2 * np.log(heights).sum()'
#   hint: the second taken away
# - item: bic
#   name: logarithm of the sum
#   replace: np.log(heights).sum()
#   by: np.log(heights.sum())
#   hint: the logarithm of the sum of the heights
# - item: bic
#   name: two forgotten
#   replace: '- 2 * np'
#   by: '- np'
#   hint: there is a 2 before it
# - item: bic
#   name: half of it
#   replace: 'return p * np.log(n) - 2 * np.log(heights).sum()'
#   by: 'return p * np.log(n) / 2 - np.log(heights).sum()'
#   hint: yours is half of it
# - item: bic
#   name: charge of another criterion
#   replace: p * np.log(n)
#   by: 2 * p
#   hint: you charge 2 for each free number
# - item: bic
#   name: heights cut at four
#   replace: np.log(heights).sum()
#   by: np.log(np.minimum(heights, 4)).sum()
#   hint: a height may be as large as it likes
# - item: bic
#   name: product first
#   replace: np.log(heights).sum()
#   by: np.log(np.prod(heights))
#   hint: add up logarithms instead
# - item: one-list
#   name: dot product
#   replace: ' / np.linalg.norm(vectors, axis=1)'
#   by: ''
#   hint: a long vector comes first in your version
# - item: one-list
#   name: distance
#   replace: argsort(-cosines
#   by: argsort(np.linalg.norm(vectors - question, axis=1)
#   hint: you take the distance between the ends
# - item: one-list
#   name: farthest first
#   replace: argsort(-cosines
#   by: argsort(cosines
#   hint: your first node points away
# - item: one-list
#   name: sorted list turned round
#   replace: 'np.argsort(-cosines, kind="stable")[:k]'
#   by: 'np.argsort(cosines, kind="stable")[::-1][:k]'
#   hint: do not turn a sorted list round
# - item: one-list
#   name: k ignored
#   replace: '[:k]'
#   by: ''
#   hint: yours has all six
# - item: one-list
#   name: order of the numbers
#   replace: 'np.argsort(-cosines, kind="stable")[:k].tolist()'
#   by: 'sorted(np.argsort(-cosines, kind="stable")[:k].tolist())'
#   hint: leave them in the order of their numbers
# - item: one-list
#   name: cosines returned
#   replace: 'np.argsort(-cosines, kind="stable")[:k].tolist()'
#   by: 'sorted(cosines.tolist())[::-1][:k]'
#   hint: return the positions of the nodes
# - item: one-list
#   name: cosines rounded
#   replace: cosines = vectors @ question / np.linalg.norm(vectors, axis=1)
#   by: cosines = (vectors @ question / np.linalg.norm(question) / np.linalg.norm(vectors, axis=1)).round(2)
#   hint: do not round the cosines
# - item: go-down
#   name: layer by number
#   replace: kept = [layer[place] for place in one_list(question, vectors[layer], k)]
#   by: kept = sorted(layer[place] for place in one_list(question, vectors[layer], k))
#   hint: in each layer the nearest comes first
# - item: one-list
#   name: unstable, turned round
#   replace: 'np.argsort(-cosines, kind="stable")[:k]'
#   by: 'np.argsort(cosines)[::-1][:k]'
#   hint: so sort with kind='stable'
# - item: go-down
#   name: cosines of zero dropped
#   replace: '    below = {child for node in kept for child in children.get(node, [])}'
#   by: |2
#         kept = [node for node in kept if vectors[node] @ question > 0]
#         below = {child for node in kept for child in children.get(node, [])}
#   hint: a cosine may be zero or below
# - item: go-down
#   name: six layers
#   replace: '    return kept + go_down(question, vectors, children, list(below), k)'
#   by: |2-
#         for _ in range(5):
#             layer = sorted(below)
#             near = [layer[place] for place in one_list(question, vectors[layer], k)] if layer else []
#             below = {child for node in near for child in children.get(node, [])}
#             kept = kept + near
#         return kept
#   hint: this tree has eleven layers
# - item: go-down
#   name: leaves without entry
#   replace: children.get(node, [])
#   by: children[node]
#   hint: a leaf has no entry in children
# - item: go-down
#   name: leaves alone
#   replace: return kept + go_down(question, vectors, children, list(below), k)
#   by: return [node for node in kept if node not in children] + go_down(question, vectors, children, list(below), k)
#   hint: these are the leaves alone
# - item: go-down
#   name: stops early
#   replace: go_down(question, vectors, children, list(below), k)
#   by: '[list(below)[place] for place in one_list(question, vectors[list(below)], k)]'
#   hint: you stop above the leaves
# - item: go-down
#   name: all nodes of the layer
#   replace: for node in kept for
#   by: for node in layer for
#   hint: its parent 9 was not kept
# - item: go-down
#   name: two kept nodes opened
#   replace: for node in kept for
#   by: 'for node in kept[:2] for'
#   hint: the children of all three
# - item: go-down
#   name: k below each node
#   replace: return kept + go_down(question, vectors, children, list(below), k)
#   by: return kept + [each for node in kept for each in go_down(question, vectors, children, children.get(node, []), k)]
#   hint: you keep k below each node
# - item: go-down
#   name: every child kept
#   replace: one_list(question, vectors[layer], k)
#   by: one_list(question, vectors[layer], len(layer))
#   hint: yours keeps every child
# - item: go-down
#   name: from the leaves up
#   replace: return kept + go_down(question, vectors, children, list(below), k)
#   by: return go_down(question, vectors, children, list(below), k) + kept
#   hint: the top comes first
# - item: go-down
#   name: positions for nodes
#   replace: layer[place] for place
#   by: place for place
#   hint: look them up in the layer
# - item: go-down
#   name: shared child twice
#   replace: '{child for node in kept for child in children.get(node, [])}'
#   by: '[child for node in kept for child in children.get(node, [])]'
#   hint: is below two kept nodes, and counts once
# - item: go-down
#   name: layer left unsorted
#   replace: sorted(layer)
#   by: sorted(layer, reverse=True)
#   hint: of equal ones the smaller numbers are kept
