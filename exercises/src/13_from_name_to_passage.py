# ---
# jupyter:
#   minirag:
#     title: From a name to a passage
#     minutes: 35
# ---

# %% [markdown]
# # Exercise 13: From a name to a passage
#
# FastGraphRAG hands a score from a name in the question to a passage in five steps: it links names to entities, adds the entities near the question, walks from both over the graph, scores
# relations, and scores passages. You write each step, first for a graph that fits on paper.
#
# **You will be able to** link names whose vectors have any length, say where a walk restarts and what becomes of an entity without an edge, pass scores on to passages, and predict what is
# lost if one step is left out.
#
# 35 minutes, no language model, no network. The end differs from chapter 16b: rules read the graph and the questions (in q04 and q12 they find no name), the encoder `lsa` is computed from the texts, and a name is linked only from the cosine
# `link_cutoff` on.

# %%
import numpy as np

import minirag as mr

# %% [markdown]
# The toy: six entities, four passages, four relations. The vectors of the entities have two numbers each.

# %%
names = ["Ida Crane", "Glass Prize", "Lantern Guild", "Otto Vey", "Saltmoor", "Blue Ledger"]
entities = np.array([[0, 1], [0.8, 0.6], [6, 8], [-3, 4], [-4, 3], [0.28, 0.96]])
passages = [
    "Ida Crane won the Glass Prize, which the Lantern Guild gives.",
    "Otto Vey, born in Saltmoor, founded the Lantern Guild.",
    "The harbour of Saltmoor has a plaque for Otto Vey.",
    "Nobody has seen the Blue Ledger since the fire.",
]
relations = [(0, 1, [0]), (1, 2, [0]), (2, 3, [1]), (3, 4, [1, 2])]

# %% [markdown]
# An entity is a row of `entities`. A relation is a triple: its two ends, and the list of passages that state it. All are numbered from 0. The last relation, *Otto Vey - Saltmoor*, is stated by two passages;
# *Blue Ledger* stands in no relation.
#
# ## 1. Link the names
#
# Each name in the question goes to its nearest entity, by **cosine**; of equal cosines the smaller position wins. The vectors may have any length. A name whose largest cosine is below `least` is in no entity, and is left out. A name of
# which the encoder knows no word has the zero vector; count its cosines as 0.
#
# Return a list with one position for each name that is linked, in the order of the names. If two names go to the same entity, its position stands there twice.
#
# **Predict first.** A name has the vector (2, 0). To which of the six entities does the largest dot product send it, and to which the largest cosine?
#
# <details><summary>Answer</summary>
#
# The dot product sends it to *Lantern Guild* (12, against 1.6 for *Glass Prize*). The cosine sends it to *Glass Prize* (0.8, against 0.6): the vector of *Lantern Guild* is only longer.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "link", "locked": false, "schema_version": 3, "solution": true, "task": false}
def link(name_vectors, entity_vectors, least=0.5):
    """(names, d) and (entities, d), of any length. Returns a list of positions of entities."""
    ### BEGIN SOLUTION
    long = np.linalg.norm(name_vectors, axis=1)[:, None] * np.linalg.norm(entity_vectors, axis=1)
    cosines = name_vectors @ entity_vectors.T / np.where(long > 0, long, 1)
    return [int(row.argmax()) for row in cosines if row.max() >= least]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="link"
# - "By what is a dot product divided, so that it is a cosine? Why do both lengths matter, once there is a `least`?"
# - "Make the table of cosines, a row for each name and a column for each entity. Then go through its rows: keep a row whose maximum is at least `least`."
# - "`[int(row.argmax()) for row in cosines if row.max() >= least]`, where `cosines` is the dot products divided by both lengths."

# %% nbgrader={"grade": true, "grade_id": "test-link", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
listed = lambda found: [None if each is None else int(each) for each in found]
def linked_by(*arguments):
    with np.errstate(all="ignore"):
        found = link(*arguments)
    assert found is not None, "link returns nothing: return a list of positions"
    return [each if each is None else float(each) for each in np.ravel(np.array(list(found), dtype=object))]
asked = np.array([[2, 0], [0.6, -0.8], [0, 0], [-3, 4.2], [3, 0.3]])
found = linked_by(asked, entities)
assert not any(each is not None and each % 1 for each in found), "yours are cosines: return the positions of the entities"
found = listed(found)
assert None not in found and -1 not in found, "a name in no entity is left out: it has no entry in the list, so the list may be shorter than the names"
assert len(found) != 6, "you have one entry for each entity, the name nearest to it: take one entity for each name"
assert found != [2, 3, 2], "*Lantern Guild* gets names that are *Glass Prize*, since its vector is long: divide by the lengths of the entities' vectors"
assert found != [1, 3, 3, 1], "the second name points away from *Otto Vey*, with a cosine of -1, and you link it there: keep the sign"
assert found != [1, 1, 0, 3, 1], "every name is linked in your version: leave out those whose largest cosine is below `least`"
assert found != [1, 3], "two names may go to the same entity, and its position stands there twice"
assert found == [1, 3, 1], f"expected [1, 3, 1]; yours: {found}"
assert linked_by(np.array([[10, 0]]), np.array([[8, 6], [0.1, 0]])) == [1], "you take the distance between the ends of the vectors: the second entity has the cosine 1, though it is short"
assert linked_by(np.array([[0.2, 0]]), entities) == [1], "(0.2, 0) has the cosine 0.8 with *Glass Prize* and is left out: divide by the length of the name's vector, too, or `least` compares something else"
assert linked_by(np.array([[4, -3]]), entities) == [], "(4, -3) has no cosine above 0.28, so it is in no entity, and the list is empty"
found = linked_by(asked, entities, 0.9)
assert found != [1, 3, 1], "with least = 0.9 only the fourth name is linked: use the `least` that is handed in"
assert found == [3], "with least = 0.9 only the fourth name is linked: compare with `least` itself, not with a looser bound"
assert linked_by(np.array([[1, 0]]), np.array([[-1, 0], [3, 4], [6, 8]])) == [1], "two entities have the cosine 0.6 here: of equal ones the smaller position wins"
assert linked_by(np.array([[1, 0]]), np.array([[1, 0.005], [1, 0]])) == [1], "the second entity has the cosine 1, the first a little less: compare the cosines as they are, not rounded"
assert linked_by(np.array([[1, 0]]), np.array([[0, 1], [-1, 0]]), 0) == [0], "a cosine that is exactly `least` is not below it: the name is linked"
assert linked_by(np.zeros((2, 2)), entities, 0) == [0, 0], "a zero vector has only cosines of 0, and with least = 0 that is not below `least`: the name is linked, to entity 0. Count its cosines as 0, and do not skip it"
assert linked_by(np.zeros((0, 2)), entities) == [], "a question without a name has an empty list"

# %% [markdown]
# Which entities do three names of the toy go to? The second one goes to none.

# %%
said = np.array([[2, 0], [0.6, -0.8], [-3, 4.2]])
print([names[place] for place in link(said, entities)])

# %% [markdown]
# ## 2. Restart values
#
# The walk restarts at two kinds of entities. One found by a name (`linked`) gets the value 1. Those near the question itself (`near`, with their cosines) share 1 among them, in proportion to the similarity $(1 + \cos)/2$. An entity found
# by both keeps the larger of its two values; one found by neither gets 0. Either list may be empty. No entity stands twice in `near`.
#
# **Predict first.** Two entities are near, with the cosines 0.6 and −0.2. What do they get? And what do they get if you forget to halve, so that $1 + \cos$ is the similarity?
#
# <details><summary>Answer</summary>
#
# The similarities are 0.8 and 0.4, so they get 2/3 and 1/3. Without the half it is 1.6 and 0.8, and the shares are the same: a factor that all have cancels out. The 1 does not cancel.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "restart", "locked": false, "schema_version": 3, "solution": true, "task": false}
def restart_values(linked, near, cosines, n):
    """linked, near: positions; cosines: those of near; n: entities. Returns an array, (n,)."""
    ### BEGIN SOLUTION
    similarity = (1 + np.asarray(cosines)) / 2
    values = np.zeros(n)
    values[list(near)] = similarity / similarity.sum()
    values[list(linked)] = 1
    return values
    ### END SOLUTION


# %% [raw] tags=["hints"] item="restart"
# - A share is never above 1. What does this say about the larger of two values, if one of them is 1?
# - "Begin with zeros. Write the shares of `near` first, and the 1 of the linked ones after that, so that the larger value stays."
# - "`similarity = (1 + np.asarray(cosines)) / 2`; the shares are `similarity / similarity.sum()`."

# %% nbgrader={"grade": true, "grade_id": "test-restart", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
alike = lambda found, wanted: np.shape(found) == np.shape(wanted) and np.allclose(found, wanted, atol=1e-6)
as_array = lambda found, n: np.array([np.nan] * n if found is None or isinstance(found, dict) else found, dtype=float)
values = restart_values([1, 3], [1, 4, 0], np.array([0.6, 0.2, -0.4]), 6)
assert values is not None, "restart_values returns nothing: return an array with a value for each entity"
assert not isinstance(values, dict), "a dictionary does not fit here: return an array with a value for each entity, in their order"
values = as_array(values, 6)
assert values.shape == (6,), f"six entities have six values, most of them 0; yours has the shape {values.shape}"
assert not np.isclose(values.sum(), 1), "your values sum to 1: the walk divides them by their sum later. Here a linked entity gets 1, whole"
assert not np.isclose(values[1], 25 / 17), "an entity found by both gets the sum of its values in your version: it keeps the larger one"
assert not np.isclose(values[1], 8 / 17), "entity 1 has its share of the near ones, not the 1 that it gets as a linked one: it keeps the larger value"
assert alike(values[[1, 3]], [1, 1]), f"entities 1 and 3 are linked, and get 1; yours: {values[[1, 3]].tolist()}"
assert not alike(values[[4, 0]], [1, 1]), "the near entities get 1 each in your version: they share one 1 among them"
assert not alike(values[[4, 0]], [0.5, -1]), "you share in proportion to the cosines, so that one is below zero: move them to (1 + cos)/2 first"
assert not alike(values[[4, 0]], [0.25, 0]), "a cosine below zero is cut off in your version: (1 + cos)/2 makes it 0.3, which counts"
softmax = [np.exp(each)[1:] / np.exp(each).sum() for each in (np.array([0.6, 0.2, -0.4]), np.array([0.8, 0.6, 0.3]))]
assert not any(alike(values[[4, 0]], each) for each in softmax), "your shares are a softmax: divide the similarities themselves by their sum, without an exponential"
assert not any(alike(values[[4, 0]], each) for each in ([0.6, 0.3], [1.2, 0.6])), "the near entities have their similarities: divide them by the sum of these, so that the shares sum to 1"
assert not alike(values[[4, 0]], [2 / 3, 1 / 3]), "the share of a linked entity is not given to the others: entity 1 is near, too, and the three near ones share 1"
assert alike(values, [3 / 17, 1, 0, 1, 6 / 17, 0]), f"expected 3/17, 1, 0, 1, 6/17, 0; yours: {values.round(3).tolist()}"
assert alike(as_array(restart_values([2, 2], [0], [0.4], 3), 3), [1, 0, 1]), "entity 2 is linked by two names and still gets 1; entity 0 is near, alone, and has the whole share"
assert alike(as_array(restart_values([], [2, 0], [0.5, 0.5], 3), 3), [0.5, 0, 0.5]), "a question without a linked name restarts at the near entities alone"
assert alike(as_array(restart_values([1], [], [], 3), 3), [0, 1, 0]), "without near entities the linked one has 1, all others 0"

# %% [markdown]
# The question *Who founded the guild that gives the Glass Prize?* has one name, with the vector (2, 0). The two entities nearest to the whole question are *Glass Prize* and *Blue Ledger*, with the cosines 0.6 and 0.2.

# %%
start = restart_values(link(np.array([[2, 0]]), entities), [1, 5], [0.6, 0.2], 6)
print(dict(zip(names, np.round(start, 3).tolist())))

# %% [markdown]
# ## 3. The walk
#
# `transition[i, j]` is the probability of stepping from entity i to entity j: **row** i says where one goes from i, and sums to 1. (Exercise 3 has columns here.)
#
# At each step a walker follows an edge with probability `damping`. Else it restarts, at an entity
# drawn in proportion to `restart`. The row of an entity without an edge is zero: whoever stands there *always* restarts. Walk until the scores no longer change. They sum to 1. If all restart values are zero, return zeros.
#
# **Predict first.** Three entities in a line, 0 - 1 - 2. The walk restarts at 0, and `damping` is 0.8. Which entity has the largest score?
#
# <details><summary>Answer</summary>
#
# The middle one: 17/45, 20/45 and 8/45. From both ends all who follow an edge come to the middle.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "walk", "locked": false, "schema_version": 3, "solution": true, "task": false}
def walk(transition, restart, damping=0.85):
    """transition: (n, n), rows sum to 1 or are zero; restart: (n,) >= 0. Returns scores, (n,)."""
    ### BEGIN SOLUTION
    if not restart.any():
        return restart
    home = restart / restart.sum()
    scores, before = home, 0 * home
    while abs(scores - before).max() > 1e-12:
        before, followed = scores, damping * (scores @ transition)
        scores = followed + (1 - followed.sum()) * home
    return scores
    ### END SOLUTION


# %% [raw] tags=["hints"] item="walk"
# - "Who arrives at entity j: do you need row j of the matrix, or column j? And how many walkers have followed no edge?"
# - "`scores @ transition` moves everybody along the rows. The share `damping` of it followed an edge; all who are missing, `1 - followed.sum()`, restart."
# - "In a loop: `followed = damping * (scores @ transition)`, then `scores = followed + (1 - followed.sum()) * home`, where `home` is `restart` divided by its sum. End when no score changes."

# %% nbgrader={"grade": true, "grade_id": "test-walk", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
line, start = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]]), np.array([1.0, 0, 0])
scores = walk(line, start, 0.8)
assert scores is not None and np.shape(scores) == (3,), "walk returns one score for each entity"
assert not alike(scores, [0.816667, 0.166667, 0.016667]), "damping stands on the wrong term: it is the probability of following an edge, not of restarting"
early = [start @ np.linalg.matrix_power(0.8 * line + 0.2 * start, steps) for steps in range(50)]
assert not any(alike(scores, each) for each in early), "you stop too early: walk until the scores no longer change"
against = ([0.377778, 0.222222, 0.177778], [0.485714, 0.285714, 0.228571], [0.457111, 0.295334, 0.247555])
assert not any(alike(scores, each) for each in against), "you step against the rows: row i says where one goes FROM i, so a score moves as scores @ transition"
assert np.isclose(scores.sum(), 1), f"the scores sum to 1; yours sum to {scores.sum():.3f}"
assert alike(scores, np.array([17, 20, 8]) / 45), f"expected 17/45, 20/45 and 8/45; yours, times 45: {(45 * scores).round(2).tolist()}"
assert not np.allclose(walk(line, start), [0.3778, 0.4444, 0.1778], atol=1e-3), "without a word `damping` is 0.85, and a 0.8 stands in your code"
assert alike(walk(line, np.array([3.0, 0, 1]), 0.8), np.array([14.75, 20, 10.25]) / 45), "with the restart values 3 and 1 the walk restarts at entity 0 with probability 3/4, at entity 2 with 1/4: divide by their sum, before the walk"
assert alike(walk(line, np.array([2.0, 0, 2]), 0), [0.5, 0, 0.5]), "with damping = 0 nobody follows an edge: the scores are the shares of the restart values"
four, both = np.pad(line, (0, 1)), np.array([1.0, 0, 0, 1])
scores = np.asarray(walk(four, both, 0.8))
assert not np.isnan(scores).any(), "entity 3 has no edge, so its row sums to 0: do not divide by that"
assert scores.sum() < 1.001, f"your scores sum to {scores.sum():.2f}, so somebody is counted twice: whoever stands at the entity without an edge restarts once"
assert not np.allclose(scores, [0.1889, 0.2222, 0.0889, 0.1], atol=1e-3), "0.4 of the walkers are lost: whoever stands at the entity without an edge restarts"
assert not np.allclose(scores, [0.1889, 0.2222, 0.0889, 0.5], atol=1e-3), "in your version a walker at the entity without an edge follows an edge to itself: it restarts, always"
anywhere = [0.2861, 0.4028, 0.1861, 0.125], [0.2926, 0.4148, 0.1924, 0.1]
assert not any(np.allclose(scores, each, atol=5e-4) for each in anywhere), "in your version a walker at the entity without an edge goes to any entity: it restarts, and that is at `restart` only"
assert not np.allclose(scores, [0.2920, 0.4160, 0.1824, 0.1096], atol=5e-4), "you divide by the sum after each step: then those without an edge go where the others walk. They restart"
assert np.allclose(scores, np.array([17, 20, 8, 9]) / 54, atol=1e-4), f"with an entity without an edge expected 17, 20, 8 and 9 of 54; yours, times 54: {(54 * scores).round(2).tolist()}"
long = (np.eye(30, k=1) + np.eye(30, k=-1)) / np.array([1] + [2] * 28 + [1])[:, None]
assert np.allclose(walk(long, np.eye(30)[0], 0.99)[[0, 29]], [0.0709, 0.0023], atol=1e-3), "with damping 0.99 and thirty entities your walk has not settled: do not count steps, go on until the scores no longer change"
assert alike(walk(line, np.zeros(3)), np.zeros(3)), "there is nothing to restart at: return zeros, and do not divide by 0"
assert start.tolist() == [1, 0, 0] and both.tolist() == [1, 0, 0, 1], "an array that was handed in has changed: make a new one"

# %% [markdown]
# The walk for the question about the Glass Prize. Nobody links *Otto Vey*, and he has a score:

# %%
steps = np.zeros((6, 6))
for one, other, _ in relations:
    steps[one, other] = steps[other, one] = 1
steps /= np.maximum(steps.sum(axis=1, keepdims=True), 1)  # rows sum to 1, the last is zero
start = np.array([0, 1, 0, 0, 0, 3 / 7])  # the restart values from above
print(dict(zip(names, np.round(walk(steps, start), 3).tolist())))

# %% [markdown]
# ## 4. Scores of relations
#
# A relation gets the **sum** of the scores of its two ends. Return one number for each relation, in their order. Two relations may join the same two entities.
#
# **Predict first.** The scores are 0.4, 0.3, 0.2, 0.1, 0, 0. What do the four toy relations get? And what would a product do to *Otto Vey - Saltmoor*?
#
# <details><summary>Answer</summary>
#
# 0.7, 0.5, 0.3 and 0.1. A product would give the last one 0: it asks that *both* ends are reached.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "relations", "locked": false, "schema_version": 3, "solution": true, "task": false}
def relation_scores(scores, relations):
    """scores: of entities; relations: [(end, end, passages), ...]. Returns a list of numbers."""
    ### BEGIN SOLUTION
    return [scores[one] + scores[other] for one, other, _ in relations]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="relations"
# - Which parts of a triple do you need here?
# - "Go through the relations, unpack each triple, and look up the scores of its two ends."
# - "`[scores[one] + scores[other] for one, other, _ in relations]`"

# %% nbgrader={"grade": true, "grade_id": "test-relations", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
scores, more = np.array([0.4, 0.3, 0.2, 0.1, 0, 0]), [*relations, (1, 0, [3])]
found = relation_scores(scores, more)
assert found is not None, "relation_scores returns nothing: return one number for each relation"
found = list(found.values()) if (by_name := isinstance(found, dict)) else [float(each) for each in found]
assert len(found) != 4, "*Ida Crane - Glass Prize* stands twice, once from each side, and you have one number for both: two relations have two numbers"
assert not by_name, "a dictionary does not fit here: return a list, in the order of the relations"
assert len(found) == 5, f"five relations have five scores; yours: {found}"
assert not alike(found, [0.12, 0.06, 0.02, 0, 0.12]), "you multiply the two ends: add them"
assert not alike(found, [0.35, 0.25, 0.15, 0.05, 0.35]), "you take the mean of the two ends: take their sum"
assert not alike(found, [0.4, 0.3, 0.2, 0.1, 0.4]), "you take the larger of the two ends: add them"
assert not alike(found, [0.3, 0.2, 0.1, 0, 0.3]), "you take the smaller of the two ends: add them"
assert not alike(found, [0.3, 0.2, 0.1, 0, 0.4]), "only the second end counts in your version: add the first"
assert not alike(found, [0.4, 0.3, 0.2, 0.1, 0.3]), "only the first end counts in your version: add the second"
assert alike(found, [0.7, 0.5, 0.3, 0.1, 0.7]), f"expected 0.7, 0.5, 0.3, 0.1, 0.7; yours: {found}"

# %% [markdown]
# ## 5. Scores of passages
#
# A passage gets the **sum** of the scores of the relations that it states. A relation that two passages state counts fully in both. A passage that states no relation gets 0. A relation remembers its passages; a passage does not know its
# relations.
#
# **Predict first.** The relations have 0.7, 0.5, 0.3 and 0.1. What do the four passages get?
#
# <details><summary>Answer</summary>
#
# 1.2, 0.4, 0.1 and 0.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "passages", "locked": false, "schema_version": 3, "solution": true, "task": false}
def passage_scores(related, relations, n):
    """related: the relations' scores; n: passages. Returns n numbers, in the corpus' order."""
    ### BEGIN SOLUTION
    totals = np.zeros(n)
    for score, (_, _, stated_by) in zip(related, relations):
        totals[list(stated_by)] += score
    return totals
    ### END SOLUTION


# %% [raw] tags=["hints"] item="passages"
# - Which is easier, to ask each passage for its relations, or each relation for its passages?
# - "Begin with `n` zeros. Go through the relations, each with its score, and add the score to every passage that states it."
# - "`for score, (_, _, stated_by) in zip(related, relations):`, and in it `totals[list(stated_by)] += score`."

# %% nbgrader={"grade": true, "grade_id": "test-passages", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = passage_scores([0.5, 0.7, 0.3, 0.1], relations, 4)
assert found is not None, "passage_scores returns nothing: return one number for each passage"
assert not isinstance(found, dict), "a dictionary does not fit here: return a list or an array, in the order of the passages"
assert len(found) == 4, f"there are four passages, and the last one states no relation: it gets 0; yours has {len(found)} numbers"
found = as_array(found, 4)
assert not np.isnan(found).any(), "a passage without relations gets 0: do not divide by their number"
assert not alike(found, [0.6, 0.2, 0.1, 0]), "you take the mean of a passage's relations: take their sum"
assert not alike(found, [0.7, 0.3, 0.1, 0]), "you take the largest of a passage's relations: add them"
assert not alike(found, [0.7, 0.1, 0.1, 0]), "only the last relation of a passage counts in your version: add each to what is there"
assert not alike(found, [1.2, 0.4, 0, 0]), "a relation counts for its first passage only in your version: it counts in each passage that states it"
assert not alike(found, [1.2, 0.35, 0.05, 0]), "a relation is divided among its passages in your version: it counts fully in each"
assert not np.isclose(found.max(), 1), "your largest score is 1: do not divide by the largest"
assert alike(found, [1.2, 0.4, 0.1, 0]), f"expected 1.2, 0.4, 0.1 and 0; yours: {found.round(3).tolist()}"
found = as_array(passage_scores([0.5, 0.25, 0.5], [(0, 1, (1,)), (1, 0, (1,)), (0, 2, (1, 2))], 3), 3)
assert not alike(found, [0, 1, 0.5]), "entities 0 and 1 stand in two relations, once from each side, and you count one of them: both count"
assert not alike(found, [0, 0.75, 0.5]), "two relations with equal scores count once in your version: both count"
assert alike(found, [0, 1.25, 0.5]), f"three relations of passage 1 have 0.5, 0.25 and 0.5, and the last is stated by passage 2, too: 0, 1.25, 0.5; yours: {found.round(3).tolist()}"

# %% [markdown]
# ## 6. The best first
#
# Return the positions of the `k` best passages, the best first; of equal scores, the passage that comes first in the corpus is first. Round the scores to nine digits before: two sums that are equal on paper may differ in a computer's last digit. A passage with the score
# 0 was not reached by the walk, and is left out, even if fewer than `k` are returned.
#
# **Predict first.** The scores are 0.3, 0, 0.5, 0.1 + 0.2. Which positions are returned for `k = 4`? (`0.1 + 0.2 > 0.3` is true in Python.)
#
# <details><summary>Answer</summary>
#
# [2, 0, 3]: positions 0 and 3 are equal on paper, and position 1 was not reached.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "best-first", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_first(scores, k=4):
    """scores: of passages, in the corpus' order. Returns at most k positions, a list."""
    ### BEGIN SOLUTION
    rounded = np.round(scores, 9)
    order = np.argsort(-rounded, kind="stable")
    return [int(place) for place in order if rounded[place] > 0][:k]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="best-first"
# - "Which sort leaves equal scores in the order in which they stood? And what happens to that order if you turn the sorted list round?"
# - "Sort the positions by the *negative* rounded score, stably. Then leave out those whose score is 0, and cut at `k`."
# - "`order = np.argsort(-rounded, kind=\"stable\")`, and then `[place for place in order if rounded[place] > 0][:k]`."

# %% nbgrader={"grade": true, "grade_id": "test-best-first", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
mixed = np.array([0.3, 0.0, 0.5, 0.2, 0.5, 0.1])
found = best_first(mixed)
assert found is not None, "best_first returns nothing: return a list of positions"
assert all(np.ndim(each) == 0 for each in found), "return the positions alone, without their scores"
assert not any(float(each) % 1 for each in found), "yours are scores: return the positions of the passages"
found = listed(found)
assert len(found) <= 4, f"with k = 4 at most four are returned; yours has {len(found)}: cut the list at k"
assert found != [4, 2, 0, 3], "passages 2 and 4 have equal scores, and 2 comes first in the corpus: do not turn a sorted list round"
assert found[:1] != [1] and found[:1] != [5], "your worst passage comes first: the largest score is the best"
assert found not in ([2, 0, 3, 5], [2, 2, 0, 3]), "passages 2 and 4 have the same score, and a look-up by score finds the first of them only: sort positions"
assert found == [2, 4, 0, 3], f"expected [2, 4, 0, 3]; yours: {found}"
assert listed(best_first(mixed, 2)) == [2, 4], "with k = 2 two are returned: does a 4 stand in your code?"
assert 1 not in listed(best_first(mixed, 6)), "passage 1 has the score 0, and you return it: leave out what was not reached"
assert listed(best_first(np.zeros(3))) == [], "nothing was reached here: return an empty list"
assert listed(best_first(np.array([0.3, 0.0, 0.5, 0.1 + 0.2]))) == [2, 0, 3], "0.3 and 0.1 + 0.2 are equal on paper: round to nine digits before you sort"
assert listed(best_first(np.array([0.1, 0.1001, 0.004, 0.0041]))) == [1, 0, 3, 2], "scores that differ in the fourth digit are different: round to nine digits, no fewer"
assert listed(best_first(np.array([0.3, 1e-12, 0.0]))) == [0], "1e-12 is 0 at nine digits, and you return it: look at the rounded score"
assert listed(best_first(np.array([0.3, 1e-8, 0.0]))) == [0, 1], "1e-8 is small, and not 0 at nine digits: leave out only those that round to 0"
assert listed(best_first(np.array([0.5, 0.25] * 20), 5)) == [0, 2, 4, 6, 8], "twenty passages share each score here: sort stably, so that equal ones stay in the corpus' order"

# %% [markdown]
# ## 7. What is lost without the walk?
#
# Back to the question about the Glass Prize, which restarts at *Glass Prize* and *Blue Ledger*.
#
# **Predict first.** The answer stands in passage 1. Which score does passage 1 get if `damping` is 0, so that nobody follows an edge? And which passage gets something from the score of *Blue Ledger*?
#
# <details><summary>Answer</summary>
#
# Passage 1 gets 0, and is not found: none of its three entities has a restart value. Nor does any passage get something from *Blue Ledger*: it stands in no relation.
#
# </details>

# %%
start = np.array([0, 1, 0, 0, 0, 3 / 7])
for damping in (0.85, 0):
    scores = walk(steps, start, damping)
    totals = passage_scores(relation_scores(scores, relations), relations, 4)
    print("damping", damping, "entities", np.round(scores, 3))
    print("   passages", np.round(totals, 3), "best first", best_first(totals))

# %% [markdown]
# Now the same on a small real graph, that of `professors`, read by rules.

# %%
corpus = mr.load_corpus("professors")
options = {"llm": "offline", "encoder": "lsa", "link_cutoff": 0.8}
fast = mr.METHODS["fastgraphrag"].build(corpus, **options)
index, edges = fast.entity_index, fast.relations.edges
steps = fast.transition.matrix.T.toarray()  # the package has columns; yours are rows
triples = [(edge.source, edge.target, edge.chunks) for edge in edges]
traces = {q.id: fast.retrieve(q.text, k=4).trace for q in corpus.questions}

# %% [markdown]
# `search` is your chain, with a switch for each step.

# %%
def search(q, by_name=True, by_question=True, damping=0.85):
    """The best passages of one question, and the scores of all passages."""
    said = list(traces[q.id].last("entities").entities) if by_name else []
    linked = link(index.encoder.encode(said), index.vectors, 0.8) if said else []
    near, cosines = (found[0] for found in index.search([q.text], k=4))
    if not by_question:
        near, cosines = [], []
    start = restart_values(linked, near, cosines, len(index.labels))
    scores = walk(steps, np.asarray(start, dtype=float), damping)
    totals = passage_scores(relation_scores(scores, triples), triples, len(corpus.chunks))
    return best_first(totals), totals


# %% [markdown]
# **Predict first.** Two questions, q04 and q12, hold no name. Which change loses most of the gold passages among the first four: without Link, without the entities near the question, or without the walk?
#
# <details><summary>Answer</summary>
#
# Without the entities near the question. On q04 and q12 nothing is left to restart at.
#
# </details>

# %%
def gold_found(**change):
    """The (question, gold passage) pairs among the first four, and how often ranks 4 and 5 tie."""
    found, ties = set(), 0
    for q in corpus.questions:
        best, totals = search(q, **change)
        found |= {(q.id, each) for each in {corpus.chunks[place].id for place in best} & {*q.gold}}
        ordered = np.sort(np.round(totals, 9))
        ties += int(ordered[-4] == ordered[-5])
    return found, ties


# %% [markdown]
# *Lost* are gold passages that the whole chain finds and the changed one does not; *won* are those that only the changed one finds.

# %% nbgrader={"grade": false, "grade_id": "count-gold-passages", "locked": true, "schema_version": 3, "solution": false, "task": false}
changes = {"as it is": {}, "without Link": {"by_name": False}}
changes |= {"without near": {"by_question": False}, "without walk": {"damping": 0}}
results = {name: gold_found(**change) for name, change in changes.items()}
whole = results["as it is"][0]
for name, (found, _) in results.items():
    print(f"{name:13} {len(found)} of 43, lost {len(whole - found)}, won {len(found - whole)}")
print("lost without near:", *sorted(whole - results["without near"][0]))
print("ranks 4 and 5 equal, without walk:", results["without walk"][1], "of 24")

# %% [markdown]
# Without the near entities five gold passages are lost, three of them on q04 and q12. Without Link as many are won as lost.
#
# Without the walk one more is found than with it. But then ranks 4 and 5 have equal scores on 19 of 24 questions, and the order of the corpus decides who is among the first four. Your toy shows *how* the walk reaches a passage; these 24 questions
# do not show that it helps.
#
# ## 8. Compare with the package
#
# The package's FastGraphRAG has the same five steps in its trace. We compare four questions. The last check is for a graph with an entity without an edge, *Tobias Renner*.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from minirag.algorithms.pagerank import personalized_pagerank

for q in corpus.questions[::6]:
    trace, said = traces[q.id], list(traces[q.id].last("entities").entities)
    theirs = [each.index for each in trace.last("link").nodes]
    mine = listed(link(index.encoder.encode(said), index.vectors, 0.8)) if said else []
    assert mine == theirs, f"`link` (section 1) differs from the package's on {q.id}; if its own test complains, too, mend that first"
    near, cosines = (found[0] for found in index.search([q.text], k=4))
    start = as_array(restart_values(theirs, near, cosines, len(index.labels)), len(index.labels))
    theirs = trace.last("ppr").reset
    assert alike(start, theirs), f"`restart_values` (section 2) differs from the package's on {q.id}; if its own test complains, too, mend that first"
    scores = walk(steps, theirs)
    theirs = trace.last("ppr").scores
    assert alike(scores, theirs), f"`walk` (section 3) differs from the package's on {q.id}; if its own test complains, too, mend that first"
    related, theirs = relation_scores(theirs, triples), trace.last("relationship aggregator").scores
    assert alike(related, theirs), f"`relation_scores` (section 4) differs from the package's on {q.id}; if its own test complains, too, mend that first"
    totals, theirs = as_array(passage_scores(theirs, triples, 40), 40), trace.last("chunk aggregator").scores
    assert alike(totals, theirs), f"`passage_scores` (section 5) differs from the package's on {q.id}; if its own test complains, too, mend that first"
    found = [corpus.chunks[place].id for place in best_first(theirs)]
    assert found == list(fast.retrieve(q.text, k=4).ids), f"`best_first` (section 6) differs from the package's on {q.id}; if its own test complains, too, mend that first"
start = np.zeros(len(index.labels))
start[[index.labels.index("Tobias Renner"), index.labels.index("Candlemas Medal")]] = 1
theirs = personalized_pagerank(fast.transition, start, 0.85)
assert alike(walk(steps, start), theirs), "`walk` (section 3) differs from the package's where it restarts at an entity without an edge; if its own test complains, too, mend that first"

# %% [markdown]
# **To think about.** A passage that states many relations gets many scores added. Is that a mistake? How would you find out?
#
# <details><summary>Answer</summary>
#
# It depends on the texts. A long passage is favoured, and so is one that says much about the question's entities. Divide each passage's score by the number of its relations, and count the gold passages over all questions, with an interval (exercise 11).
#
# </details>

# %% [raw] tags=["wrong-answers"]
# - item: link
#   name: "dot product"
#   replace: " / np.where(long > 0, long, 1)"
#   by: ""
#   hint: "*Lantern Guild* gets names that are"
# - item: link
#   name: "names left as long as they are"
#   replace: "np.linalg.norm(name_vectors, axis=1)[:, None] * np.linalg"
#   by: "np.ones((len(name_vectors), 1)) * np.linalg"
#   hint: "divide by the length of the name's vector, too"
# - item: link
#   name: "distance"
#   replace: "return [int(row.argmax()) for row in cosines if row.max() >= least]"
#   by: "near = np.linalg.norm(name_vectors[:, None] - entity_vectors, axis=2).argmin(axis=1)\n    return [int(place) for place, row in zip(near, cosines) if row.max() >= least]"
#   hint: "you take the distance between the ends"
# - item: link
#   name: "sign lost"
#   replace: "cosines = name_vectors @ entity_vectors.T"
#   by: "cosines = abs(name_vectors @ entity_vectors.T)"
#   hint: "and you link it there: keep the sign"
# - item: link
#   name: "no cutoff"
#   replace: " if row.max() >= least]"
#   by: "]"
#   hint: "every name is linked in your version"
# - item: link
#   name: "none kept"
#   replace: "return [int(row.argmax()) for row in cosines if row.max() >= least]"
#   by: "return [int(row.argmax()) if row.max() >= least else None for row in cosines]"
#   hint: "it has no entry in the list"
# - item: link
#   name: "each entity once"
#   replace: "return [int(row.argmax()) for row in cosines if row.max() >= least]"
#   by: "return list(dict.fromkeys(int(row.argmax()) for row in cosines if row.max() >= least))"
#   hint: "and its position stands there twice"
# - item: link
#   name: "cutoff fixed"
#   replace: "row.max() >= least"
#   by: "row.max() >= 0.5"
#   hint: "use the `least` that is handed in"
# - item: link
#   name: "cutoff loosened"
#   replace: "row.max() >= least"
#   by: "row.max() >= least - 0.05"
#   hint: "not with a looser bound"
# - item: link
#   name: "later one of equals"
#   replace: "int(row.argmax())"
#   by: "len(row) - 1 - int(row[::-1].argmax())"
#   hint: "of equal ones the smaller position wins"
# - item: link
#   name: "cutoff itself left out"
#   replace: "row.max() >= least"
#   by: "row.max() > least"
#   hint: "that is exactly `least` is not below it"
# - item: link
#   name: "cosines rounded"
#   replace: "row in cosines if"
#   by: "row in cosines.round(4) if"
#   hint: "compare the cosines as they are, not rounded"
# - item: link
#   name: "zero vectors skipped"
#   replace: "for row in cosines if row.max() >= least"
#   by: "for row, name in zip(cosines, name_vectors) if np.any(name) and row.max() >= least"
#   hint: "and do not skip it"
# - item: restart
#   name: "normalised"
#   replace: "return values"
#   by: "return values / values.sum()"
#   hint: "the walk divides them by their sum later"
# - item: restart
#   name: "sum"
#   replace: "values[list(linked)] = 1"
#   by: "values[list(set(linked))] += 1"
#   hint: "gets the sum of its values in your version"
# - item: restart
#   name: "near last"
#   replace: "    values[list(near)] = similarity / similarity.sum()\n    values[list(linked)] = 1"
#   by: "    values[list(linked)] = 1\n    values[list(near)] = similarity / similarity.sum()"
#   hint: "entity 1 has its share of the near ones"
# - item: restart
#   name: "near get one each"
#   replace: "values[list(near)] = similarity / similarity.sum()"
#   by: "values[list(near)] = 1"
#   hint: "the near entities get 1 each"
# - item: restart
#   name: "shares by cosine"
#   replace: "similarity = (1 + np.asarray(cosines)) / 2"
#   by: "similarity = np.asarray(cosines)"
#   hint: "you share in proportion to the cosines"
# - item: restart
#   name: "cosines cut at zero"
#   replace: "similarity = (1 + np.asarray(cosines)) / 2"
#   by: "similarity = np.maximum(cosines, 0)"
#   hint: "a cosine below zero is cut off"
# - item: restart
#   name: "not divided"
#   replace: " / similarity.sum()"
#   by: ""
#   hint: "the near entities have their similarities"
# - item: restart
#   name: "softmax"
#   replace: "similarity / similarity.sum()"
#   by: "np.exp(similarity) / np.exp(similarity).sum()"
#   hint: "your shares are a softmax"
# - item: restart
#   name: "named twice counts twice"
#   replace: "values[list(linked)] = 1"
#   by: "values[list(linked)] = 0\n    for place in linked:\n        values[place] += 1"
#   hint: "entity 2 is linked by two names and still gets 1"
# - item: restart
#   name: "linked ones taken out of the near ones"
#   replace: "    similarity ="
#   by: "    kept = [i for i, place in enumerate(near) if place not in linked]\n    near, cosines = np.asarray(near)[kept], np.asarray(cosines)[kept]\n    similarity ="
#   hint: "the share of a linked entity is not given to the others"
# - item: walk
#   name: "damping on the wrong term"
#   replace: "damping * (scores"
#   by: "(1 - damping) * (scores"
#   hint: "damping stands on the wrong term"
# - item: walk
#   name: "transposed"
#   replace: "scores @ transition"
#   by: "transition @ scores"
#   hint: "you step against the rows"
# - item: walk
#   name: "one step"
#   replace: "while abs(scores - before).max() > 1e-12"
#   by: "for _ in range(1)"
#   hint: "you stop too early"
# - item: walk
#   name: "restart added whole"
#   replace: "(1 - followed.sum()) * home"
#   by: "home"
#   hint: "the scores sum to 1; yours"
# - item: walk
#   name: "restart not normalised"
#   replace: "restart / restart.sum()"
#   by: "restart"
#   hint: "divide by their sum, before the walk"
# - item: walk
#   name: "lost at the entity without an edge"
#   replace: "(1 - followed.sum()) * home"
#   by: "(1 - damping) * home"
#   hint: "of the walkers are lost"
# - item: walk
#   name: "divided after each step"
#   replace: "scores = followed + (1 - followed.sum()) * home"
#   by: "scores = followed + (1 - damping) * home\n        scores = scores / scores.sum()"
#   hint: "you divide by the sum after each step"
# - item: walk
#   name: "row sums of zero"
#   replace: "    home ="
#   by: "    transition = transition / transition.sum(axis=1, keepdims=True)\n    home ="
#   hint: "do not divide by that"
# - item: walk
#   name: "a hundred steps"
#   replace: "while abs(scores - before).max() > 1e-12"
#   by: "for _ in range(100)"
#   hint: "do not count steps"
# - item: walk
#   name: "zeros divided"
#   replace: "    if not restart.any():\n        return restart\n"
#   by: ""
#   hint: "and do not divide by 0"
# - item: walk
#   name: "written in place"
#   replace: "home = restart / restart.sum()"
#   by: "home = restart\n    home /= restart.sum()"
#   hint: "an array that was handed in has changed"
# - item: relations
#   name: "product"
#   replace: "scores[one] + scores[other]"
#   by: "scores[one] * scores[other]"
#   hint: "you multiply the two ends"
# - item: relations
#   name: "mean"
#   replace: "scores[one] + scores[other]"
#   by: "(scores[one] + scores[other]) / 2"
#   hint: "you take the mean of the two ends"
# - item: relations
#   name: "first end"
#   replace: "scores[one] + scores[other]"
#   by: "scores[one]"
#   hint: "only the first end counts"
# - item: relations
#   name: "larger end"
#   replace: "scores[one] + scores[other]"
#   by: "max(scores[one], scores[other])"
#   hint: "you take the larger of the two ends"
# - item: relations
#   name: "smaller end"
#   replace: "scores[one] + scores[other]"
#   by: "min(scores[one], scores[other])"
#   hint: "you take the smaller of the two ends"
# - item: relations
#   name: "second end"
#   replace: "scores[one] + scores[other]"
#   by: "scores[other]"
#   hint: "only the second end counts"
# - item: relations
#   name: "one number a pair"
#   replace: "return [scores[one] + scores[other] for one, other, _ in relations]"
#   by: "return list({frozenset((one, other)): scores[one] + scores[other] for one, other, _ in relations}.values())"
#   hint: "you have one number for both"
# - item: passages
#   name: "mean"
#   replace: "return totals"
#   by: "return totals / np.maximum([sum(place in each for _, _, each in relations) for place in range(n)], 1)"
#   hint: "you take the mean of a passage's relations"
# - item: passages
#   name: "largest"
#   replace: "totals[list(stated_by)] += score"
#   by: "totals[list(stated_by)] = np.maximum(totals[list(stated_by)], score)"
#   hint: "you take the largest of a passage's relations"
# - item: passages
#   name: "nothing divided by nothing"
#   replace: "return totals"
#   by: "return totals / [sum(place in each for _, _, each in relations) for place in range(n)]"
#   hint: "do not divide by their number"
# - item: passages
#   name: "overwritten"
#   replace: "totals[list(stated_by)] += score"
#   by: "totals[list(stated_by)] = score"
#   hint: "only the last relation of a passage"
# - item: passages
#   name: "first passage only"
#   replace: "totals[list(stated_by)] += score"
#   by: "totals[stated_by[0]] += score"
#   hint: "counts for its first passage only"
# - item: passages
#   name: "divided among passages"
#   replace: "totals[list(stated_by)] += score"
#   by: "totals[list(stated_by)] += score / len(stated_by)"
#   hint: "is divided among its passages"
# - item: passages
#   name: "passages with relations only"
#   replace: "return totals"
#   by: "return totals[totals > 0]"
#   hint: "there are four passages"
# - item: passages
#   name: "divided by the largest"
#   replace: "return totals"
#   by: "return totals / totals.max()"
#   hint: "do not divide by the largest"
# - item: passages
#   name: "a pair of ends once"
#   replace: "    for score, (_, _, stated_by) in zip(related, relations):"
#   by: "    once = {frozenset(each[:2]): (score, each) for score, each in zip(related[::-1], relations[::-1])}\n    for score, (_, _, stated_by) in once.values():"
#   hint: "and you count one of them: both count"
# - item: passages
#   name: "equal scores once"
#   replace: "totals[list(stated_by)] += score"
#   by: "for place in stated_by:\n            seen = [other for other, (_, _, each) in zip(related, relations) if place in each]\n            totals[place] = sum(set(seen))"
#   hint: "two relations with equal scores count once"
# - item: best-first
#   name: "ties reversed"
#   replace: "np.argsort(-rounded, kind=\"stable\")"
#   by: "np.argsort(rounded, kind=\"stable\")[::-1]"
#   hint: "passages 2 and 4 have equal scores"
# - item: best-first
#   name: "worst first"
#   replace: "np.argsort(-rounded"
#   by: "np.argsort(rounded"
#   hint: "your worst passage comes first"
# - item: best-first
#   name: "k ignored"
#   replace: "[:k]"
#   by: ""
#   hint: "cut the list at k"
# - item: best-first
#   name: "scores returned"
#   replace: "int(place) for"
#   by: "float(scores[place]) for"
#   hint: "yours are scores"
# - item: best-first
#   name: "zeros kept"
#   replace: " if rounded[place] > 0]"
#   by: "]"
#   hint: "and you return it: leave out"
# - item: best-first
#   name: "zero before rounding"
#   replace: "rounded[place] > 0"
#   by: "scores[place] > 0"
#   hint: "look at the rounded score"
# - item: best-first
#   name: "small ones left out"
#   replace: "rounded[place] > 0"
#   by: "rounded[place] > 1e-6"
#   hint: "1e-8 is small, and not 0 at nine digits"
# - item: best-first
#   name: "not rounded"
#   replace: "np.round(scores, 9)"
#   by: "np.asarray(scores)"
#   hint: "round to nine digits before you sort"
# - item: best-first
#   name: "unstable"
#   replace: ", kind=\"stable\""
#   by: ""
#   hint: "twenty passages share each score here"
