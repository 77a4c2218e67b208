# ---
# jupyter:
#   minirag:
#     title: MaxSim, late interaction
#     minutes: 30
# ---

# %% [markdown]
# # Exercise 2: MaxSim, late interaction
#
# One vector for a whole passage has to mean everything in it at once. Late interaction keeps one vector for *every token* and lets each token of the
# question look for the token of the passage that suits it best. You write that search, first for one passage, then for many at once, where the
# trouble is the padding.
#
# **You will be able to** compute MaxSim by hand and in one array operation, say over which axis the maximum goes and why, and show which token of
# the passage answered which token of the question.
#
# 30 minutes, no model, no network: the token vectors here are made by hand, one direction for each topic, so that you can follow every number.

# %%
import numpy as np

TOPICS = ["place", "person", "disease", "music", "time"]
VECTORS = {
    "where": [3, 0, 0, 0, 1],
    "who": [0, 2, 0, 0, 0],
    "hospital": [2, 0, 2, 0, 0],
    "harbour": [5, 0, 0, 0, 0],
    "doctor": [0, 3, 2, 0, 0],
    "fever": [0, 0, 4, 0, 0],
    "violin": [0, 0, 0, 3, 0],
    "singer": [0, 2, 0, 3, 0],
    "winter": [0, 0, 0, 0, 2],
}


def tokens(text):
    """The token vectors of a text, one row each: (tokens, 5)."""
    return np.array([VECTORS[word] for word in text.split()], dtype=float)


tokens("who fever")

# %% [markdown]
# ## 1. Unit vectors
#
# Only the direction of a token vector says what it means, so every row is divided by its length. Then a dot product is a cosine.
#
# **Predict first.** What are the lengths of the rows for *where* and *harbour*? And what should become of a row of zeros?
#
# <details><summary>Answer</summary>
#
# $\sqrt{10}$ and 5. A row of zeros has no direction: it stays zero, and must not become "not a number".
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "unit", "locked": false, "schema_version": 3, "solution": true, "task": false}
def unit(rows):
    """rows: (n, d). Returns (n, d), every row of length 1; a row of zeros stays as it is.

    `rows` itself is not changed.
    """
    ### BEGIN SOLUTION
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="unit"
# - How many lengths are there for n rows, and along which axis do the squares have to be added up?
# - "`np.linalg.norm(rows, axis=1, keepdims=True)` gives a column of lengths, (n, 1), by which the rows can be divided. Mind the lengths that are 0."
# - "Divide by `np.where(length > 0, length, 1)`: a row of zeros is then divided by 1."

# %% nbgrader={"grade": true, "grade_id": "test-unit", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
rows = np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]])
with np.errstate(all="ignore"):
    found = unit(rows)
assert found is not None and np.shape(found) == (3, 2), "unit returns an array of the same shape"
assert not np.allclose(found, rows / np.linalg.norm(rows)), "you divide by one length for the whole array; each row has its own"
assert not np.allclose(found[:2], (rows / np.linalg.norm(rows, axis=0))[:2]), "you divide columns, not rows: the squares have to be added up along a row"
assert not np.isnan(found).any(), "a row of zeros became `not a number`: it has no length to divide by and stays zero"
assert np.allclose(found, [[0.6, 0.8], [0, 1], [0, 0]]), f"[3, 4] becomes [0.6, 0.8]; yours: {found.tolist()}"
assert np.allclose(unit(np.array([[3e-12, 4e-12]])), [[0.6, 0.8]]), "a very short row gets another length than 1: add nothing to its length"
assert rows[0, 0] == 3, "the rows that were handed in have changed: divide into a new array"

# %% [markdown]
# ## 2. MaxSim
#
# For a question with token vectors $q_i$ and a passage with token vectors $p_j$, all of length 1,
#
# $$\mathrm{MaxSim}(q, p) = \sum_i \max_j \; q_i \cdot p_j .$$
#
# Every token of the question asks: who in this passage suits me best? Only that one counts.
#
# **Predict first.** The question has 2 tokens, the passage 4. How many cosines are there, how many maxima, and what is the largest score possible?
#
# <details><summary>Answer</summary>
#
# 8 cosines, 2 maxima (one for each token of the question), and 2.0 at most: a cosine is never more than 1.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "maxsim", "locked": false, "schema_version": 3, "solution": true, "task": false}
def maxsim(question, passage):
    """question: (q, d), passage: (p, d), rows of length 1. Returns a number."""
    ### BEGIN SOLUTION
    cosines = question @ passage.T
    return cosines.max(axis=1).sum()
    ### END SOLUTION


# %% [raw] tags=["hints"] item="maxsim"
# - Write down the table of cosines with a row for each token of the question. Does the maximum go along a row or down a column?
# - "`question @ passage.T` is that table, (q, p). You need one maximum for each row, and then their sum."
# - "`(question @ passage.T).max(axis=1).sum()`"

# %% nbgrader={"grade": true, "grade_id": "test-maxsim", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
question = np.array([[1.0, 0.0], [0.6, 0.8]])
passage = np.array([[0.0, 1.0], [0.8, 0.6], [-0.6, 0.8]])
table = np.array([[0.0, 0.8, -0.6], [0.8, 0.96, 0.28]])
found = maxsim(question, passage)
assert found is not None and np.ndim(found) == 0, "maxsim returns one number: have the maxima been added up?"
assert not np.isclose(found, table.max(axis=0).sum()), "your maximum goes over the tokens of the question; each of them has to choose one of the passage"
assert not np.isclose(found, table.sum()), "you add up all cosines; of every row only the largest counts"
assert not np.isclose(found, table.max()), "you keep one maximum of the whole table; there is one for each token of the question"
assert not np.isclose(found, table.max(axis=1).mean()), "you take the mean of the maxima; MaxSim is their sum"
assert not np.isclose(found, 1.6), "the second token gets 0.8 as if its best one were taken: two tokens of the question may choose the same token of the passage"
assert not np.isclose(found * np.array([3, 2**0.5, 3**0.5]), 1.76).any(), "you divide the sum by a length or its root: a long passage is not made smaller, MaxSim is the bare sum"
assert np.isclose(found, 1.76), f"the best cosines are 0.8 and 0.96, so the score is 1.76; yours: {found:.2f}"
found = maxsim(question, np.array([[-1.0, 0.0], [-0.6, -0.8]]))
assert np.isclose(found, -1.2), f"here all cosines are negative, the best ones are -0.6 and -0.6, so the score is -1.2: a maximum keeps its sign, and 0 is no cosine; yours: {found:.2f}"

# %% [markdown]
# ## 3. Which token answered?
#
# The same table explains the score: the token of the passage at which a row has its maximum is the one that answered.

# %% nbgrader={"grade": false, "grade_id": "answered-by", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answered_by(question, passage):
    """For every token of the question the position of its best token of the passage: (q,).

    Of equal ones the first.
    """
    ### BEGIN SOLUTION
    return (question @ passage.T).argmax(axis=1)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="answered-by"
# - You have the table already. What you want is not the largest value of a row but its place.
# - NumPy has a sibling of `max` that returns places.
# - "`(question @ passage.T).argmax(axis=1)`"

# %% nbgrader={"grade": true, "grade_id": "test-answered-by", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
question = np.array([[0.0, 1.0], [0.8, 0.6], [0.6, 0.8]])
passage = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0], [0.6, 0.8]])
found = answered_by(question, passage)
assert found is not None, "answered_by returns nothing"
assert np.shape(found) != (4,), "you get one place for each token of the passage; the question is to be on the rows"
assert np.shape(found) == (3,), f"three tokens ask, so there are three places; yours has shape {np.shape(found)}"
assert list(found) != [0, 2, 2], "these are the places of the worst token, not of the best"
assert list(found) == [1, 1, 1], f"all three are answered by the token at place 1, the first of two equal ones; yours: {np.asarray(found).tolist()}"
found = answered_by(np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[-1.0, 0.0], [-0.6, -0.8]]))
assert list(found) == [1, 0], f"here all cosines are negative, and the best is the one nearest to 0: places 1 and 0; a cosine keeps its sign; yours: {np.asarray(found).tolist()}"

# %% [markdown]
# No token of this passage is *where* or *fever*. See who answers for them, and why the doctor does not answer for the fever.
#
# <details><summary>Answer</summary>
#
# The hospital answers for the fever, with cosine $2/\sqrt{8}=0.71$. The doctor has the same 2 for *disease*, but a longer vector:
# $2/\sqrt{13}=0.55$. The harbour answers for *where*.
#
# </details>

# %%
question_text, passage_text = "where fever", "doctor harbour winter hospital"
chosen = answered_by(unit(tokens(question_text)), unit(tokens(passage_text)))
for asks, place in zip(question_text.split(), chosen):
    print(f"{asks:6} is answered by {passage_text.split()[place]}")

# %% [markdown]
# ## 4. Many passages at once
#
# Passages differ in length. To compute them in one array they are filled up with rows of zeros to the longest, and a mask says which rows are real.
#
# **Predict first.** All cosines of a question token with a passage are negative. What does `max` return if two rows of zeros have been added?
#
# <details><summary>Answer</summary>
#
# Zero, which is the cosine with the padding and larger than every real one. So 0 is too high for a padded place: it must be no higher than any real cosine.
#
# </details>

# %% [markdown]
# This function does the filling up; nothing is to be done here but to read it.

# %%
def pad(passages):
    """passages: list of (p_i, d) arrays. Returns rows (n, longest, d) and mask (n, longest).

    The mask is True where a row is real.
    """
    longest = max(len(passage) for passage in passages)
    rows = np.zeros((len(passages), longest, passages[0].shape[1]))
    mask = np.zeros((len(passages), longest), dtype=bool)
    for number, passage in enumerate(passages):
        rows[number, : len(passage)] = passage
        mask[number, : len(passage)] = True
    return rows, mask


# %% nbgrader={"grade": false, "grade_id": "maxsim-all", "locked": false, "schema_version": 3, "solution": true, "task": false}
def maxsim_all(question, rows, mask):
    """question: (q, d); rows: (n, longest, d); mask: (n, longest). Returns the n scores."""
    ### BEGIN SOLUTION
    cosines = question @ rows.transpose(0, 2, 1)
    cosines = np.where(mask[:, None, :], cosines, -np.inf)
    return cosines.max(axis=2).sum(axis=1)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="maxsim-all"
# - What are the three axes of the table of all cosines, and which one does the maximum remove?
#   What may stand in the padded places, so that it is never the maximum?
# - "`question @ rows.transpose(0, 2, 1)` has the shape (n, q, longest). `mask[:, None, :]` fits onto it."
# - "`np.where(mask[:, None, :], cosines, -np.inf)`, then the maximum over axis 2 and the sum over axis 1."

# %% nbgrader={"grade": true, "grade_id": "test-maxsim-all", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
question = np.array([[1.0, 0.0], [0.6, 0.8]])
three = [np.array([[0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]]), np.array([[-1.0, 0.0]]), np.array([[0.6, 0.8], [1.0, 0.0]])]
found = np.asarray(maxsim_all(question, *pad(three)))
by_hand = np.array([sum(max(float(a @ b) for b in passage) for a in question) for passage in three])
assert np.shape(found) == (3,), f"three passages have three scores; yours has shape {np.shape(found)}"
assert found[0] > -2 and not np.isclose(found[0], 0), f"the first passage has no padding and gets {found[0]:.2f} instead of 1.76: are its real rows left out? The mask is True where a row is real"
assert not np.isclose(found[0], (question @ three[0].T).max(axis=0).sum()), "the first passage has no padding and gets 2.04 instead of 1.76: you keep one maximum for each of its tokens; there is one for each token of the question"
unknown = [np.array([[-1.0, 0.0], [0.0, 0.0]]), np.array([[-1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])]
blank = maxsim_all(question, *pad(unknown))[0]
assert not np.isclose(blank, -1.6), f"a passage with a real row of zeros, a token without a direction, gets {blank:.2f}: that row's cosine 0 counts, so the score is 0. Only the mask knows what is padding"
assert not np.isclose(found[1], 1.6), "the second passage fits badly, -1.6, but gets 1.6: a cosine keeps its sign"
assert not np.isclose(found[1], 0), "the second passage fits badly, -1.6, but gets 0: its padding, with the cosine 0, has won the maximum"
assert np.isfinite(found).all(), "a score is infinite or not a number: padded places may not reach the sum, and no real row may be left out"
assert not (found[1] > by_hand[1] + 1e-6 and np.allclose(found[[0, 2]], by_hand[[0, 2]])), f"the second passage gets {found[1]:.2f} instead of -1.6: its padding still wins against a real cosine of -1, so a padded place must be no higher than any real cosine"
assert not np.allclose(2 * found, by_hand), "you take the mean over the question's tokens; MaxSim is their sum"
assert not any(np.allclose(found * lengths, by_hand) for lengths in ([3, 1, 2], np.sqrt([3, 1, 2]), np.full(3, 3), np.full(3, np.sqrt(3)))), "you divide the sums by a length or its root: a long passage is not made smaller"
assert np.allclose(found, by_hand), f"one passage after the other gives {by_hand.round(2).tolist()}; yours: {np.round(found, 2).tolist()}"
longer = np.vstack([question, [[0.0, 1.0]]])
wanted = [sum(max(float(a @ b) for b in passage) for a in longer) for passage in three]
assert np.allclose(maxsim_all(longer, *pad(three)), wanted), "a question of three tokens gets other sums: does a number of tokens, a mean perhaps, stand in your code?"

# %% [markdown]
# ## 5. What one vector loses
#
# The question is *who* and *violin*. The second passage has both, among other things; the first one is about music,
# and its *singer* is a person, too. The mean of its token vectors
# says of the second passage that it is about a bit of everything.

# %%
texts = ["violin violin singer", "fever who harbour violin winter", "doctor hospital fever"]
rows, mask = pad([unit(tokens(text)) for text in texts])
asked = unit(tokens("who violin"))
means = unit(np.array([unit(tokens(text)).mean(axis=0) for text in texts]))
mean_asked = unit(asked.mean(axis=0, keepdims=True))[0]
for text, one, late in zip(texts, means @ mean_asked, maxsim_all(asked, rows, mask)):
    print(f"one vector {one:.2f}   MaxSim {late:.2f}   {text}")

# %% [markdown]
# ## 6. Compare with the package
#
# `minirag.algorithms.late_interaction` has `maxsim` for one passage, `best_matches` for who answered, and `maxsim_corpus` for many padded passages;
# `unit` is `vectors.normalize`. First comes one line of NumPy that you can read as the formula: multiply over `d`, keep question, passage and
# token, then the maximum over the tokens and the sum over the question. Then the package, also on passages of different lengths.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from minirag.algorithms import late_interaction
from minirag.algorithms.vectors import normalize

random = np.random.default_rng(0)
asked = np.asarray(unit(random.normal(size=(5, 8))))
stacked = random.normal(size=(20, 7, 8))
assert np.allclose(unit(stacked[0]), normalize(stacked[0])), "`unit` (section 1) gives other rows than minirag.algorithms.vectors.normalize; if its own test complains, too, mend that first"
stacked = normalize(stacked)
formula = np.einsum("qd,npd->nqp", asked, stacked).max(axis=2).sum(axis=1)
everything = np.ones(stacked.shape[:2], dtype=bool)
assert np.allclose(maxsim_all(asked, stacked, everything), formula), "`maxsim_all` (section 4) differs from the formula on random vectors; if its own test complains, too, mend that first"
assert np.allclose([maxsim(asked, passage) for passage in stacked], formula), "`maxsim` (section 2) differs from the formula on random vectors; if its own test complains, too, mend that first"
theirs = [late_interaction.maxsim(asked, passage) for passage in stacked]
assert np.allclose([maxsim(asked, passage) for passage in stacked], theirs), "the package scores single passages differently"
for passage in stacked:
    places, _ = late_interaction.best_matches(asked, passage)
    assert np.array_equal(answered_by(asked, passage), places), "`answered_by` (section 3) names other tokens than the package; if its own test complains, too, mend that first"
uneven = [passage[: 1 + number % 7] for number, passage in enumerate(stacked)] + [-asked[:1]]
theirs = late_interaction.maxsim_corpus(asked, *late_interaction.pad(uneven))
assert np.allclose(maxsim_all(asked, *pad(uneven)), theirs), "the package scores padded passages differently: is padding still able to win?"

# %% [markdown]
# **To think about.** MaxSim is not symmetric: which of your functions would change if the passage asked and the question answered? And what does it
# cost: how many numbers are stored for a passage of 180 tokens with 128 dimensions, against one vector of 384?
#
# <details><summary>Answer</summary>
#
# All but `unit`. In `maxsim` and `answered_by` the maximum goes along axis 0 of the same table. In `maxsim_all` it goes along axis 1, and the padded
# rows, which now ask, have to be left out of the sum. A passage of 180 tokens has 180 · 128 = 23,040 numbers, sixty times as many as 384.
#
# </details>

# %% [raw] tags=["wrong-answers"]
# - item: unit
#   name: one length for the whole array
#   replace: np.linalg.norm(rows, axis=1, keepdims=True)
#   by: np.linalg.norm(rows)
#   hint: each row has its own
# - item: unit
#   name: columns instead of rows
#   replace: axis=1, keepdims=True
#   by: axis=0, keepdims=True
#   hint: you divide columns, not rows
# - item: unit
#   name: zeros divided by zero
#   replace: np.where(length > 0, length, 1)
#   by: length
#   hint: a row of zeros became `not a number`
# - item: unit
#   name: a small number added to every length
#   replace: np.where(length > 0, length, 1)
#   by: (length + 1e-6)
#   hint: add nothing to its length
# - item: unit
#   name: a tiny number added to every length
#   replace: np.where(length > 0, length, 1)
#   by: (length + 1e-12)
#   hint: a very short row gets another length than 1
# - item: maxsim
#   name: maximum over the wrong axis
#   replace: axis=1
#   by: axis=0
#   hint: your maximum goes over the tokens of the question
# - item: maxsim
#   name: sum of all cosines
#   replace: cosines.max(axis=1).sum()
#   by: cosines.sum()
#   hint: you add up all cosines
# - item: maxsim
#   name: one maximum for the whole table
#   replace: cosines.max(axis=1).sum()
#   by: cosines.max()
#   hint: you keep one maximum of the whole table
# - item: maxsim
#   name: mean instead of sum
#   replace: .sum()
#   by: .mean()
#   hint: you take the mean of the maxima
# - item: maxsim
#   name: divided by the root of the passage's length
#   replace: cosines.max(axis=1).sum()
#   by: cosines.max(axis=1).sum() / len(passage) ** 0.5
#   hint: MaxSim is the bare sum
# - item: maxsim
#   name: each token of the passage used once
#   replace: "    return cosines.max(axis=1).sum()"
#   by: "    total, cosines = 0.0, cosines.copy()\n    for row in range(len(cosines)):\n        best = cosines[row].argmax()\n        total += cosines[row, best]\n        cosines[:, best] = -np.inf\n    return total"
#   hint: may choose the same token of the passage
# - item: maxsim
#   name: negative maxima replaced by zero
#   replace: question @ passage.T
#   by: np.maximum(question @ passage.T, 0)
#   hint: 0 is no cosine
# - item: maxsim
#   name: cosines without their sign
#   replace: question @ passage.T
#   by: abs(question @ passage.T)
#   hint: a maximum keeps its sign
# - item: answered-by
#   name: cosines without their sign
#   replace: (question @ passage.T)
#   by: abs(question @ passage.T)
#   hint: a cosine keeps its sign
# - item: answered-by
#   name: places of the question
#   replace: argmax(axis=1)
#   by: argmax(axis=0)
#   hint: one place for each token of the passage
# - item: answered-by
#   name: worst instead of best
#   replace: argmax
#   by: argmin
#   hint: the places of the worst token
# - item: maxsim-all
#   name: mask upside down
#   replace: cosines, -np.inf)
#   by: -np.inf, cosines)
#   hint: are its real rows left out
# - item: maxsim-all
#   name: cosines without their sign
#   replace: question @ rows.transpose(0, 2, 1)
#   by: abs(question @ rows.transpose(0, 2, 1))
#   hint: but gets 1.6
# - item: maxsim-all
#   name: cosines of zero taken for padding
#   replace: mask[:, None, :]
#   by: cosines != 0
#   hint: a token without a direction
# - item: maxsim-all
#   name: padding may win
#   replace: -np.inf
#   by: "0"
#   hint: has won the maximum
# - item: maxsim-all
#   name: padding only penalised
#   replace: "-np.inf)"
#   by: "-0.85)"
#   hint: no higher than any real cosine
# - item: maxsim-all
#   name: divided by the root of the passage's length
#   replace: cosines.max(axis=2).sum(axis=1)
#   by: cosines.max(axis=2).sum(axis=1) / mask.sum(axis=1) ** 0.5
#   hint: you divide the sums by a length
# - item: maxsim-all
#   name: rows of zeros taken for padding
#   replace: mask[:, None, :]
#   by: rows.any(axis=2)[:, None, :]
#   hint: Only the mask knows what is padding
# - item: maxsim-all
#   name: padding that is not a number
#   replace: -np.inf
#   by: np.nan
#   hint: padded places may not reach the sum
# - item: maxsim-all
#   name: maximum over the wrong axis
#   replace: cosines.max(axis=2)
#   by: cosines.max(axis=1)
#   hint: you keep one maximum for each of its tokens
