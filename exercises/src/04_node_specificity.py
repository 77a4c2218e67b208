# ---
# jupyter:
#   minirag:
#     title: Node specificity and passage scores
#     minutes: 35
# ---

# %% [markdown]
# # Exercise 4: node specificity and passage scores
#
# A walk over a graph ends with a probability for every *node*. What a reader wants is *passages*. Two small ideas of HippoRAG stand before and behind the
# walk: a name that stands in few passages says more than one that stands in many, and a passage is worth what the names in it are worth.
#
# **You will be able to** weigh the names of a question before the walk, turn node probabilities into passage scores, keep equal scores in a fixed order,
# and tell what changes if the weights come too late.
#
# 35 minutes, no model, no network. The walk itself is taken from the package; exercise 3 builds it.

# %%
import numpy as np

from minirag.algorithms.pagerank import personalized_pagerank

mentions = [
    ["harbour", "customs house", "tide tables", "harbour"],
    ["lighthouse", "keeper", "whale oil"],
    ["harbour", "whale oil", "quay", "harbour", "harbour"],
    ["customs house", "fire", "tide tables"],
    ["keeper", "weather diary"],
    ["harbour", "quay", "ferry"],
    ["harbour", "ferry", "winter"],
]
names = list(dict.fromkeys(name for passage in mentions for name in passage))
print(len(mentions), "passages,", len(names), "names:", ", ".join(names))

# %% [markdown]
# ## 1. Which name stands in which passage?
#
# A matrix with a row for each passage and a column for each name, 1 where the passage mentions the name and 0 elsewhere. (The paper counts the
# mentions, and so does the package by default; its option `passage_matrix="incidence"` gives zeros and ones. From them step 2 counts passages.)
#
# **Predict first.** What stands in the first row under *harbour*, which the first passage mentions twice?
#
# <details><summary>Answer</summary>
#
# 1: the matrix says whether, not how often.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "incidence", "locked": false, "schema_version": 3, "solution": true, "task": false}
def incidence(mentions, names):
    """mentions: a list of names for each passage; names: all names, each once.

    Returns (passages, names), zeros and ones.
    """
    ### BEGIN SOLUTION
    return np.array([[float(name in passage) for name in names] for passage in mentions])
    ### END SOLUTION


# %% [raw] tags=["hints"] item="incidence"
# - A name is mentioned or it is not. Which Python word asks that of a list?
# - "Two loops, one inside the other: over the passages for the rows, over the names for what stands in a row."
# - "`np.array([[float(name in passage) for name in names] for passage in mentions])`"

# %% nbgrader={"grade": true, "grade_id": "test-incidence", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = incidence([["sea", "salt", "sea"], ["sand", "sea salt"]], ["sea", "salt", "sand", "sea salt"])
assert found is not None and np.shape(found) != (4, 2), "rows and columns are exchanged: a row is a passage, a column a name"
assert np.shape(found) == (2, 4), f"two passages and four names make a (2, 4) matrix; yours: {np.shape(found)}"
assert isinstance(found, np.ndarray) and found.dtype != bool, "return a numpy array of numbers, np.array([[...], [...]]): lists and truth values cannot be used in step 6"
assert found[0][0] != 2, "you count mentions; a name that a passage mentions twice is in it once"
assert found[0][3] == 0 and found[1][0] == 0, "you look for the letters of a name in the joined passage; ask whether the name is an item of its list: sea and sea salt are two names"
assert np.array_equal(found, [[1, 1, 0, 0], [0, 0, 1, 1]]), f"expected [[1, 1, 0, 0], [0, 0, 1, 1]]; yours: {found.tolist()}"

# %% [markdown]
# ## 2. Specificity
#
# With $P_i$ for the set of passages that mention name $i$, its specificity is
#
# $$s_i = \frac{1}{|P_i|}.$$
#
# It plays the part of the inverse document frequency, and needs no more than what the graph knows of a single node.
#
# **Predict first.** Which name above has the smallest specificity, and how large is it?
#
# <details><summary>Answer</summary>
#
# The harbour: it stands in four passages, so 1/4.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "specificity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def specificity(matrix):
    """matrix: (passages, names) of zeros and ones, every name in some passage.

    Returns (names,).
    """
    ### BEGIN SOLUTION
    return 1 / matrix.sum(axis=0)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="specificity"
# - In which direction do you have to add up the ones to count the passages of a name?
# - The passages of a name are the ones in its column.
# - "`1 / matrix.sum(axis=0)`"

# %% nbgrader={"grade": true, "grade_id": "test-specificity", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
matrix = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
found = specificity(matrix)
assert np.shape(found) != (4,), "you have a number for each passage; specificity belongs to a name, so add up along its column"
assert np.shape(found) == (3,), f"three names have three numbers; yours: {np.shape(found)}"
assert not np.allclose(found, found[0]), "all names get the same in your version; the more passages a name stands in, the less it gets"
assert found[0] < found[1], "the name that stands everywhere gets the most: specificity is one divided by the number of passages"
logs = np.log(4 / np.array([4, 2, 3]))
assert not any(np.allclose(found, wrong) for wrong in (logs, logs + 1, logs / np.log(2))), "that is inverse document frequency with its logarithm, which needs the number of all passages; specificity is one divided by the number of passages with the name"
assert not np.allclose(found, 1 / (1 + np.log([4, 2, 3]))), "you take the logarithm of the number of passages; specificity is one divided by the number itself"
assert not np.allclose(found, [1, 2, 4 / 3]), "do not multiply by the number of all passages: specificity does without it"
assert not np.allclose(found, 1 - matrix.mean(axis=0)), "that is the share of passages without the name; the paper takes one divided by their number with it"
assert np.allclose(found, [1 / 4, 1 / 2, 1 / 3]), f"in 4, 2 and 3 passages: 1/4, 1/2, 1/3; yours: {np.round(found, 3).tolist()}"
assert np.allclose(specificity(np.eye(2)), 1), "a name that stands in one passage has specificity 1"

# %% [markdown]
# ## 3. Where the walk restarts
#
# The names in a question are linked to nodes, one node for each name. The walk restarts at these nodes, each with its specificity. Two names of
# the question may be linked to the same node. The paper gives each query *node* equal probability, so such a node still counts once.
#
# (The package can also give each *name* its share: `reset="entity"`. Then the node would count twice.)

# %% nbgrader={"grade": false, "grade_id": "reset-vector", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reset_vector(linked, weights):
    """linked: node positions, one for each name in the question; weights: (names,).

    Returns (names,), zero at all other nodes. Not divided by its sum: the walk does that.
    """
    ### BEGIN SOLUTION
    reset = np.zeros(len(weights))
    for node in linked:
        reset[node] = weights[node]
    return reset
    ### END SOLUTION


# %% [raw] tags=["hints"] item="reset-vector"
# - Begin with a vector of zeros. What does each linked node do to it, and what does it do the second time?
# - Assign its weight to a linked node. Assigning the same weight a second time changes nothing.
# - "`for node in linked: reset[node] = weights[node]`"

# %% nbgrader={"grade": true, "grade_id": "test-reset-vector", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
found = reset_vector([2, 0, 2], np.array([0.25, 0.9, 0.5, 0.2]))
assert found is not None and np.shape(found) == (4,), "reset_vector returns a number for every node, zero for those not linked"
assert not np.allclose(found, [1, 0, 1, 0]), "every linked node weighs 1 in your version: it has to weigh its specificity"
assert not np.allclose(found, [0.25, 0, 1, 0]), "two names of the question lead to node 2, and you count it twice: assign, do not add"
assert not np.allclose(found, np.array([1, 0, 2, 0]) / 3), "you divide by the sum, as chapter 04 does; personalized_pagerank does that itself, so leave the weights as they are"
assert np.allclose(found, [0.25, 0, 0.5, 0]), f"node 0 gets 0.25 and node 2 gets 0.5; yours: {np.round(found, 3).tolist()}"
assert np.allclose(reset_vector([], np.ones(3)), 0), "a question without names has a reset of zeros"
kept = np.array([0.25, 0.9])
reset_vector([0], kept)
assert np.allclose(kept, [0.25, 0.9]), "you change the weights that are handed in; begin with a new vector of zeros"

# %% [markdown]
# ## 4. From nodes to passages
#
# After the walk a passage gets the sum of the probabilities of the names that it mentions.
#
# **Predict first.** Written with the matrix from step 1, what is that in linear algebra?
#
# <details><summary>Answer</summary>
#
# A matrix times a vector: row after row, the probabilities under the ones are added up.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "passage-scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def passage_scores(matrix, probabilities):
    """matrix: (passages, names); probabilities: (names,).

    Returns (passages,), sums of probabilities as they are, divided by nothing.
    """
    ### BEGIN SOLUTION
    return matrix @ probabilities
    ### END SOLUTION


# %% [raw] tags=["hints"] item="passage-scores"
# - Which of the probabilities belong to a passage, and what is done with them?
# - The ones in a passage's row pick its names; multiplying the row by the probabilities leaves theirs and removes all others.
# - "`matrix @ probabilities`"

# %% nbgrader={"grade": true, "grade_id": "test-passage-scores", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
matrix = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
found = passage_scores(matrix, np.array([0.5, 0.2, 0.3]))
assert np.shape(found) == (2,), f"two passages have two scores; yours: {np.shape(found)}"
assert not np.allclose(found, [0.35, 0.25]), "you take the mean over a passage's names; it is their sum, a passage with more of the right names wins"
assert not np.allclose(found, [0.5, 0.3]), "you keep the best name of a passage; all of its names count"
assert not np.allclose(found, [7 / 12, 5 / 12]), "you divide the scores by their sum: they are not probabilities, a name of two passages counts for both"
assert np.allclose(found, [0.7, 0.5]), f"0.5 + 0.2 and 0.2 + 0.3; yours: {np.round(found, 3).tolist()}"
found = passage_scores(matrix, np.array([0.1, 0.4, 0.2]))
assert np.allclose(found, [0.5, 0.6]), f"0.1 + 0.4 and 0.4 + 0.2; yours: {np.round(found, 3).tolist()}: add up what is handed in, without dividing it"

# %% [markdown]
# ## 5. A ranking that stays the same
#
# Passages far from the question often have equal scores, all of them zero. Their order must not depend on the machine: of equal ones, the passage that
# comes first in the corpus comes first.

# %% nbgrader={"grade": false, "grade_id": "ranking", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ranking(scores):
    """scores: (passages,). Returns positions, best first, equal scores by position."""
    ### BEGIN SOLUTION
    return np.argsort(-scores, kind="stable")
    ### END SOLUTION


# %% [raw] tags=["hints"] item="ranking"
# - "`np.argsort` sorts upwards. There are two ways to turn that round; what does each of them do with equal scores?"
# - Turning the finished order round turns equal ones round, too. Changing the sign of the scores before does not.
# - "`np.argsort(-scores, kind=\"stable\")`; without `kind` equal ones may come in any order."

# %% nbgrader={"grade": true, "grade_id": "test-ranking", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
scores = np.array([0.0, 0.4, 0.0, 0.9, 0.4])
found = ranking(scores)
assert found is not None and sorted(found) == [0, 1, 2, 3, 4], "ranking returns every position once"
found = [int(place) for place in found]
assert found[0] != 0, "the worst passage comes first: argsort sorts upwards"
assert found != [3, 4, 1, 2, 0], "the order is right, but equal scores come last first: 1 has to stand before 4, and 0 before 2"
assert found == [3, 1, 4, 0, 2], f"expected [3, 1, 4, 0, 2]; yours: {found}"
assert list(ranking(np.array([0.34111, 0.34112]))) == [1, 0], "you round the scores; a small lead is a lead, too"
many = np.tile([0.0, 0.5], 100)
assert list(ranking(many)) == [*range(1, 200, 2), *range(0, 200, 2)], "with 200 passages equal scores come in no fixed order: ask for a stable sort"

# %% [markdown]
# ## 6. All together
#
# Weigh, walk, add up. `personalized_pagerank(adjacency, reset, damping)` is the walk.
#
# **Predict first.** Would it be the same to walk from weight 1 at every linked node, and to multiply the probabilities by the specificity *after* the walk?
#
# <details><summary>Answer</summary>
#
# No. Before the walk, the weight of a name goes wherever its walkers go: a specific name sends more of them to its neighbourhood. After the walk, it only
# changes how much is seen at a node, also at nodes that have nothing to do with the question.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "retrieve", "locked": false, "schema_version": 3, "solution": true, "task": false}
def retrieve(linked, matrix, adjacency, damping=0.5):
    """linked: node positions, one for each name in the question.

    Returns the passage scores, (passages,).
    """
    ### BEGIN SOLUTION
    reset = reset_vector(linked, specificity(matrix))
    return passage_scores(matrix, personalized_pagerank(adjacency, reset, damping))
    ### END SOLUTION


# %% [raw] tags=["hints"] item="retrieve"
# - You have written all the parts. In which order do they come, and which of them needs the result of which?
# - The specificity goes into the reset vector, the reset vector into the walk, its probabilities into the passage scores.
# - "`reset = reset_vector(linked, specificity(matrix))`, then `passage_scores(matrix, personalized_pagerank(adjacency, reset, damping))`."

# %% nbgrader={"grade": true, "grade_id": "test-retrieve", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
matrix = np.array([[1.0, 1.0, 0, 0], [1.0, 0, 1.0, 0], [1.0, 0, 0, 0], [0, 0, 1.0, 1.0]])
adjacency = np.array([[0.0, 1.0, 1.0, 0], [1.0, 0, 0, 0], [1.0, 0, 0, 1.0], [0, 0, 1.0, 0]])
assert np.allclose(specificity(matrix), [1 / 3, 1, 1 / 2, 1]), "your specificity of step 2 is not right yet, and retrieve uses it: repair step 2 first"
found = retrieve([0, 3], matrix, adjacency, 0.6)
weights, ones = np.array([1 / 3, 1, 1 / 2, 1]), np.array([1.0, 0, 0, 1.0])
assert np.shape(found) == (4,), f"four passages have four scores; yours: {np.shape(found)}"
unweighted = personalized_pagerank(adjacency, ones, 0.6)
assert not np.allclose(found, matrix @ unweighted), "the names of the question weigh the same in your version: where does the specificity go?"
assert not np.allclose(found, matrix @ (weights * unweighted)), "the specificity comes after the walk in your version; it belongs into the reset, before it"
no_walk = matrix @ (ones * weights)
still = [no_walk, no_walk / (ones @ weights)]
assert not any(np.allclose(found, scores) for scores in still), "nobody walks in your version: from reset to passages without PageRank"
half = matrix @ personalized_pagerank(adjacency, ones * weights, 0.5)
assert not np.allclose(found, half), "your walk uses a damping of 0.5, whatever was asked for: hand damping on"
swapped = matrix @ personalized_pagerank(adjacency, ones * weights, 0.4)
assert not np.allclose(found, swapped), "your walk restarts with probability damping; damping is the probability of following an edge"
twice = matrix @ (weights * personalized_pagerank(adjacency, ones * weights, 0.6))
assert not np.allclose(found, twice), "the specificity comes before and after the walk in your version; it belongs before it only"
everywhere = matrix @ personalized_pagerank(adjacency, weights, 0.6)
assert not np.allclose(found, everywhere), "your walk restarts at every node; it restarts at the linked nodes only"
assert np.allclose(found, matrix @ personalized_pagerank(adjacency, ones * weights, 0.6)), "something else is different: go through the parts one by one"
heavy = adjacency * np.array([[1, 5, 1, 1], [5, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
by_weight = matrix @ personalized_pagerank(heavy, ones * weights, 0.6)
assert np.allclose(retrieve([0, 3], matrix, heavy, 0.6), by_weight), "your walk takes all edges alike; one that weighs five is taken five times as often as one that weighs 1"
one_way = adjacency * [1, 6, 1, 1]
by_way = matrix @ personalized_pagerank(one_way, ones * weights, 0.6)
assert np.allclose(retrieve([0, 3], matrix, one_way, 0.6), by_way, rtol=0, atol=1e-9), "an edge that weighs six in one direction and 1 in the other is walked otherwise in your version, or you round the scores: hand the adjacency on as it is, and return what passage_scores gives"
assert np.allclose(retrieve([0, 3, 0], matrix, adjacency, 0.6), found), "two names lead to node 0, and the walk restarts there twice as often: restart as reset_vector says"

# %% [markdown]
# *Which records did the harbour lose in the fire?* names the harbour, of which many passages speak, and the fire, of which one does. Two names are
# neighbours here if a passage mentions both. Look at the third place: after the walk the specificity lifts *winter*, which the question does not name.

# %%
where = incidence(mentions, names)
neighbours = where.T @ where - np.diag((where.T @ where).diagonal())
asked = [names.index("harbour"), names.index("fire")]
ones = np.isin(np.arange(len(names)), asked)
ways = {
    "every name weighs 1": where @ personalized_pagerank(neighbours, ones, 0.5),
    "specificity before the walk": retrieve(asked, where, neighbours),
    "specificity after the walk": where
    @ (specificity(where) * personalized_pagerank(neighbours, ones, 0.5)),
}
for title, scores in ways.items():
    print(title)
    for place in ranking(scores)[:3]:
        print(f"  {scores[place]:.3f}  {', '.join(dict.fromkeys(mentions[place]))}")

# %% [markdown]
# ## 7. Compare with the package
#
# The package keeps for each node the passages of its mentions, and builds everything else from that. The last comparison is a whole retrieval: the
# package's own reset, walk and sums against your `retrieve`.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from minirag import Chunk, Graph, Node
from minirag.index import node_specificity, passage_matrix
from minirag.operators import node, rank

yours = incidence(mentions, names)
places = [tuple(place for place, passage in enumerate(mentions) for mention in passage if mention == name) for name in names]
chunks = tuple(Chunk(f"p{place}", ", ".join(passage)) for place, passage in enumerate(mentions))
graph = Graph("knowledge", "this exercise", tuple(map(Node, names, [""] * 20, [""] * 20, places)), (), chunks)
assert np.array_equal(passage_matrix(graph, "incidence").toarray(), yours), "the package has another matrix of names in passages"
assert np.allclose(node_specificity(graph), specificity(yours)), "the package has other specificities"
linked = [0, 3, 0]
theirs = node.reset_vector([("", place, 1.0) for place in linked], len(names), node_specificity(graph))
assert np.allclose(reset_vector(linked, specificity(yours)), theirs), "the package restarts elsewhere"
scores = passage_scores(yours, theirs)
assert list(ranking(scores)) == list(rank(scores)), "the package ranks in another order"
edges = yours.T @ yours - np.diag((yours.T @ yours).diagonal())
walked = personalized_pagerank(edges, theirs, 0.6)
assert np.allclose(retrieve(linked, yours, edges, 0.6), passage_matrix(graph, "incidence") @ walked), "the package's whole retrieval has other scores: see what step 6 says of yours"

# %% [markdown]
# **To think about.** A passage that mentions twenty names collects from all of them. Is that fair to a short passage? What would you lose with the mean
# instead of the sum, and which passages would win then?

# %% [raw] tags=["wrong-answers"]
# - item: incidence
#   name: mentions counted
#   replace: float(name in passage)
#   by: float(passage.count(name))
#   hint: you count mentions
# - item: incidence
#   name: rows and columns exchanged
#   replace: for passage in mentions])
#   by: for passage in mentions]).T
#   hint: rows and columns are exchanged
# - item: incidence
#   name: letters of a name in the joined passage
#   replace: float(name in passage)
#   by: float(name in " ".join(passage))
#   hint: you look for the letters of a name
# - item: incidence
#   name: a list of lists
#   replace: np.array([[float(name in passage) for name in names] for passage in mentions])
#   by: "[[float(name in passage) for name in names] for passage in mentions]"
#   hint: return a numpy array of numbers
# - item: incidence
#   name: truth values
#   replace: float(name in passage)
#   by: name in passage
#   hint: lists and truth values cannot be used
# - item: specificity
#   name: a number for each passage
#   replace: axis=0
#   by: axis=1
#   hint: you have a number for each passage
# - item: specificity
#   name: the same for all names
#   replace: 1 / matrix.sum(axis=0)
#   by: np.ones(matrix.shape[1])
#   hint: all names get the same in your version
# - item: specificity
#   name: not inverted
#   replace: 1 / matrix.sum(axis=0)
#   by: matrix.sum(axis=0)
#   hint: the name that stands everywhere gets the most
# - item: specificity
#   name: logarithm of the inverse document frequency
#   replace: 1 / matrix.sum(axis=0)
#   by: np.log(len(matrix) / matrix.sum(axis=0))
#   hint: inverse document frequency with its logarithm
# - item: specificity
#   name: times the number of all passages
#   replace: 1 / matrix.sum(axis=0)
#   by: len(matrix) / matrix.sum(axis=0)
#   hint: do not multiply by the number of all passages
# - item: specificity
#   name: one by the logarithm
#   replace: 1 / matrix.sum(axis=0)
#   by: 1 / (1 + np.log(matrix.sum(axis=0)))
#   hint: you take the logarithm
# - item: specificity
#   name: share of passages without the name
#   replace: 1 / matrix.sum(axis=0)
#   by: 1 - matrix.mean(axis=0)
#   hint: that is the share of passages without the name
# - item: specificity
#   name: at least two passages
#   replace: 1 / matrix.sum(axis=0)
#   by: 1 / np.maximum(matrix.sum(axis=0), 2)
#   hint: a name that stands in one passage
# - item: reset-vector
#   name: added instead of assigned
#   replace: reset[node] = weights[node]
#   by: reset[node] += weights[node]
#   hint: and you count it twice
# - item: reset-vector
#   name: weights forgotten
#   replace: reset[node] = weights[node]
#   by: reset[node] = 1
#   hint: it has to weigh its specificity
# - item: reset-vector
#   name: divided by the sum
#   replace: return reset
#   by: return reset / (reset.sum() or 1)
#   hint: you divide by the sum
# - item: reset-vector
#   name: weights changed in place
#   replace: |-
#     reset = np.zeros(len(weights))
#         for node in linked:
#             reset[node] = weights[node]
#         return reset
#   by: |-
#     weights[[node not in linked for node in range(len(weights))]] = 0
#         return weights
#   hint: you change the weights that are handed in
# - item: passage-scores
#   name: mean instead of sum
#   replace: matrix @ probabilities
#   by: matrix @ probabilities / matrix.sum(axis=1)
#   hint: you take the mean over a passage's names
# - item: passage-scores
#   name: best name only
#   replace: matrix @ probabilities
#   by: (matrix * probabilities).max(axis=1)
#   hint: you keep the best name of a passage
# - item: passage-scores
#   name: scores divided by their sum
#   replace: return matrix @ probabilities
#   by: return (matrix @ probabilities) / (matrix @ probabilities).sum()
#   hint: you divide the scores by their sum
# - item: passage-scores
#   name: probabilities divided by their sum
#   replace: matrix @ probabilities
#   by: matrix @ (probabilities / probabilities.sum())
#   hint: add up what is handed in
# - item: ranking
#   name: finished order turned round
#   replace: np.argsort(-scores, kind="stable")
#   by: np.argsort(scores, kind="stable")[::-1]
#   hint: equal scores come last first
# - item: ranking
#   name: rounded scores
#   replace: "-scores"
#   by: "-np.round(scores, 3)"
#   hint: you round the scores
# - item: ranking
#   name: worst first
#   replace: "-scores"
#   by: scores
#   hint: the worst passage comes first
# - item: retrieve
#   name: specificity after the walk
#   replace: |-
#     reset = reset_vector(linked, specificity(matrix))
#         return passage_scores(matrix, personalized_pagerank(adjacency, reset, damping))
#   by: |-
#     reset = reset_vector(linked, np.ones(matrix.shape[1]))
#         return passage_scores(matrix, specificity(matrix) * personalized_pagerank(adjacency, reset, damping))
#   hint: the specificity comes after the walk
# - item: retrieve
#   name: no specificity
#   replace: specificity(matrix))
#   by: np.ones(matrix.shape[1]))
#   hint: where does the specificity go?
# - item: retrieve
#   name: weights of the edges ignored
#   replace: personalized_pagerank(adjacency, reset
#   by: personalized_pagerank(1.0 * (adjacency > 0), reset
#   hint: your walk takes all edges alike
# - item: retrieve
#   name: edges made symmetric
#   replace: personalized_pagerank(adjacency, reset
#   by: personalized_pagerank(adjacency + adjacency.T, reset
#   hint: hand the adjacency on as it is
# - item: retrieve
#   name: scores rounded
#   replace: return passage_scores(matrix, personalized_pagerank(adjacency, reset, damping))
#   by: return passage_scores(matrix, personalized_pagerank(adjacency, reset, damping)).round(7)
#   hint: or you round the scores
# - item: retrieve
#   name: damping forgotten
#   replace: reset, damping)
#   by: reset)
#   hint: hand damping on
# - item: retrieve
#   name: damping read as the restart probability
#   replace: reset, damping)
#   by: reset, 1 - damping)
#   hint: your walk restarts with probability damping
# - item: retrieve
#   name: specificity before and after the walk
#   replace: passage_scores(matrix, personalized
#   by: passage_scores(matrix, specificity(matrix) * personalized
#   hint: before and after the walk
# - item: retrieve
#   name: restart at every node
#   replace: reset_vector(linked, specificity(matrix))
#   by: specificity(matrix)
#   hint: your walk restarts at every node
# - item: retrieve
#   name: a node linked twice counts twice
#   replace: reset_vector(linked, specificity(matrix))
#   by: sum(reset_vector([node], specificity(matrix)) for node in linked)
#   hint: the walk restarts there twice as often
