# ---
# jupyter:
#   minirag:
#     title: A paired gain and its interval
#     minutes: 35
# ---

# %% [markdown]
# # Exercise 11: A paired gain and its interval
#
# Two retrieval methods answer the same questions. Which one is better, and would it be better on other questions, too? You write the whole measurement: the recall
# of one question, two rules for places that a list leaves empty, the gain of each question, the interval of the mean gain, and the verdict.
#
# **You will be able to** compare two lists of passages when one of them is short, compute a paired bootstrap interval, and say *inconclusive* where that is
# what the interval says.
#
# 35 minutes, no language model, no network. The encoder `lsa` is computed from the texts.

# %%
import numpy as np

import minirag as mr

# %% [markdown]
# ## 1. Recall of one question
#
# A method found the passages `ids`, the best first. The *gold* passages of the question are those that its answer needs. R@k is the share of the gold passages that
# stand among the first `k`, in percent. A list may be shorter than `k`. Its empty places are misses, and nothing more: they change neither the first `k` nor the
# number that you divide by.
#
# **Predict first.** The gold passages are p2, p4, p7 and p8; a list holds p4 and p1 only. What is its R@5?
#
# <details><summary>Answer</summary>
#
# One of four gold passages is there: 25 percent. The three empty places count as misses.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "recall", "locked": false, "schema_version": 3, "solution": true, "task": false}
def recall(ids, gold, k=5):
    """ids, gold: lists of passage ids. Returns a number from 0 to 100."""
    ### BEGIN SOLUTION
    return 100 * len(set(ids[:k]) & set(gold)) / len(gold)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="recall"
# - Which passages of the list may count, and by what number is divided?
# - "Cut the list to `ids[:k]`; a shorter list stays as it is. Count the gold passages in it, and divide by the number of *gold* passages."
# - "`100 * len(set(ids[:k]) & set(gold)) / len(gold)`"

# %% nbgrader={"grade": true, "grade_id": "test-recall", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
alike = lambda found, wanted: abs(float(found) - wanted) < 0.01
found = recall(["p4", "p1"], ["p2", "p4", "p7", "p8"])
assert found is not None, "recall returns nothing: return a number"
assert not alike(found, 0.25), "yours is a share between 0 and 1: recall is in percent here, so multiply it by 100"
assert not alike(found, 50), "you divide by the number of passages found: divide by the number of gold passages"
assert not alike(found, 20), "you divide by k: that is precision. Divide by the number of gold passages"
assert not alike(found, 100), "one gold passage is not all of them: count the share, not whether there is one"
assert alike(found, 25), f"one of four gold passages is found, 25 percent; yours: {found}"
six = ["p9", "p2", "p1", "p3", "p5", "p4"]
assert not alike(recall(six, ["p2", "p4"]), 100), "p4 stands on rank 6, and k is 5: look at the first k only"
assert alike(recall(six, ["p2", "p4"]), 50), f"p2 is among the first five, p4 is not: 50 percent; yours: {recall(six, ['p2', 'p4'])}"
assert alike(recall(six, ["p2", "p4"], 6), 100), "with k = 6 rank 6 counts, too: does a 5 stand in your code?"
assert not alike(recall(six, ["p9", "p4"], 1), 100), "you divide by k where there are more gold passages: divide by the number of gold passages"
assert alike(recall(six, ["p9", "p4"], 1), 50), "with k = 1 only rank 1 counts, and p9 stands there: 50 percent"
assert alike(recall(["p2"], ["p2", "p4", "p7"]), 100 / 3), "one of three gold passages is 33.33 percent: do not round"
assert alike(recall([], ["p2"]), 0), f"a list that found nothing has recall 0; yours: {recall([], ['p2'])}"
assert alike(recall(("p1", "p1", "p2"), ("p1", "p2")), 100), "a passage that stands twice in a list is one passage: recall is at most 100"

# %% [markdown]
# ## 2. Fill the empty places
#
# Another rule fills the empty places of `own` with the passages of a second list, `more`, for example those of flat search. The own passages stay in front, in
# their order. Then come those of `more`, in *their* order, from its first passage on. No passage stands twice, and at most `k` are returned. Neither `own` nor `more`
# holds a passage twice.
#
# **Predict first.** `own` is a, d, e, and `more` is a, c, b, g, h. What is returned for `k = 5`? And if `own` is empty?
#
# <details><summary>Answer</summary>
#
# a, d, e, c, b: the a of `more` is there already, so c and b come next. If `own` is empty, a, c, b, g, h: the list *is* the second one.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "fill", "locked": false, "schema_version": 3, "solution": true, "task": false}
def fill(own, more, k=5):
    """own, more: lists of passage ids. Returns a new list of at most k."""
    ### BEGIN SOLUTION
    added = [each for each in more if each not in own]
    return [*own, *added][:k]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="fill"
# - Which passages of `more` may not be added, and when is the list long enough?
# - "Make a new list that begins with `own`. Add each passage of `more` that is not in `own`, and cut the result at `k`."
# - "`added = [each for each in more if each not in own]`, and then the first `k` of `own` and `added` together."

# %% nbgrader={"grade": true, "grade_id": "test-fill", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
own, more = ["a", "d", "e"], ["a", "c", "b", "g", "h"]
found = fill(own, more)
assert own == ["a", "d", "e"] and more == ["a", "c", "b", "g", "h"], "a list that was handed in has changed: make a new list"
assert found is not None, "fill returns nothing: return the list"
assert not isinstance(found, (set, frozenset)), "a set has no order: return a list, the own passages first"
found = [str(each) for each in found]
assert found != ["a", "d", "e", "a", "c"], "a stands twice in your list: leave out of `more` what is there already"
assert found != ["a", "d", "e"], "nothing is added: a short list is filled, too, not only an empty one"
assert found != ["a", "d", "e", "c"], "your list has an empty place left: first leave out what is there already, then cut at k"
assert found != ["a", "d", "e", "c", "b", "g", "h"], "your list is longer than k: cut it"
assert found != ["a", "d", "e", "g", "h"], "you begin with the fourth passage of `more`: its best passage that is not there yet comes first"
assert found[:3] != ["a", "c", "b"], "the passages of `more` stand in front: the own ones come first"
assert found[:1] != ["c"], "what you add stands in front of the own passages: it comes after them"
assert found != ["a", "b", "c", "d", "e"], "your list is sorted by name: the own passages come first, then those of `more`, each in their order"
assert found != ["a", "d", "e", "h", "g"], "you take the last passages of `more`: it begins with the best"
assert found == ["a", "d", "e", "c", "b"], f"expected a, d, e, c, b; yours: {found}"
assert list(fill(["a", "b"], ["a", "b", "c", "d", "e", "f"])) == ["a", "b", "c", "d", "e"], "two of the first passages of `more` are there already: go on until the list has k passages"
assert list(fill(["a", "b", "c", "d"], ["a", "b", "c", "d", "e"])) == ["a", "b", "c", "d", "e"], "all four own passages are the first of `more`, too: its fifth fills the place"
assert list(fill([], more)) == more, f"an empty list, filled, is the second one; yours: {list(fill([], more))}"
found = [str(each) for each in fill(["x"], more, 3)]
assert found[:1] == ["x"], f"a single own passage comes first, too; yours: {found}"
assert len(found) == 3, f"with k = 3 and one own passage two are added; yours has {len(found)} passages: does a 5 stand in your code?"
assert found == ["x", "a", "c"], f"with k = 3 and one own passage expected x, a, c; yours: {found}"
assert list(fill([], more, 3)) != more, "where `own` is empty you return the whole of `more`: cut at k there, too"
assert list(fill([], more, 3)) == ["a", "c", "b"], f"with k = 3 and no own passage expected a, c, b; yours: {list(fill([], more, 3))}"
found = [str(each) for each in fill(["x", "y", "z"], more, 2)]
assert found != ["x", "y", "z", *more], "own has more than k passages, and yours returns all of `own` and all of `more`: a loop that ends at `len(...) == k` never ends here. Cut `own` at k first, or end at `>= k` and cut"
assert len(found) == 2, f"own has more than k passages, so nothing is added; yours has {len(found)}: k - len(own) is below zero here, and a slice that ends below zero counts from the end"
assert found == ["x", "y"], f"own has more than k passages: return the first k of them; yours: {found}"
assert list(fill(["e", "a"], ["d"], 5)) == ["e", "a", "d"], "if `more` is short, too, the list stays short; its order is e, a, d"

# %% [markdown]
# The rule decides here. The gold passages are a, b and c:

# %%
short, long = ["a", "d", "e"], ["a", "b", "d", "e", "f"]
for name, ids in (("short", short), ("long", long)):
    numbers = recall(ids, ["a", "b", "c"]), recall(fill(ids, more), ["a", "b", "c"])
    print(f"{name:5}  left empty {numbers[0]:5.1f}  filled {numbers[1]:5.1f}")

# %% [markdown]
# A third rule asks neither list for more than the other has: cut both to the length of the shorter one, for each question.
#
# **Predict first.** What is left of the short list and of the long one?
#
# <details><summary>Answer</summary>
#
# a, d, e of the short one, and a, b, d of the long one: now the long one has more gold passages.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "cut", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cut(ours, theirs):
    """ours, theirs: the passage ids of one question. Returns both, as long as the shorter."""
    ### BEGIN SOLUTION
    size = min(len(ours), len(theirs))
    return ours[:size], theirs[:size]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="cut"
# - How long may each list be?
# - "Take the smaller of the two lengths, and the first passages of both lists up to it."
# - "`size = min(len(ours), len(theirs))`, then `ours[:size], theirs[:size]`"

# %% nbgrader={"grade": true, "grade_id": "test-cut", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = cut(short, long)
assert short == ["a", "d", "e"] and long == ["a", "b", "d", "e", "f"], "a list that was handed in has changed: return new lists"
assert found is not None and len(found) == 2, "two lists are returned: ours, then theirs"
found = [[str(each) for each in ids] for ids in found]
assert found != [["a", "b", "d"], ["a", "d", "e"]], "the two lists are exchanged: ours comes first"
assert found != [["a", "d", "e"], ["a", "b", "d", "e", "f"]], "the longer list is as long as before: cut both to the shorter one"
assert found != [["a", "d", "e"], ["d", "e", "f"]], "you keep the last passages of the longer list: the best stand first"
assert found != [["a", "d", "e"], ["a", "d", "e"]], "both are the same list: keep the first passages of each"
assert found == [["a", "d", "e"], ["a", "b", "d"]], f"expected a, d, e and a, b, d; yours: {found}"
assert [list(ids) for ids in cut(long, short)] == [["a", "b", "d"], ["a", "d", "e"]], "here ours is the longer list: it is cut, too"
found = [list(ids) for ids in cut(["y", "x"], ["d", "a", "e"])]
assert found != [["x", "y"], ["a", "d"]], "your lists are sorted by name: keep the order, the best first"
assert found == [["y", "x"], ["d", "a"]], "two passages and three, none of them in both lists: each is cut to two. Only the lengths count; and does a 3 stand in your code?"
sizes = [len(ids) for ids in cut(list("abcdef"), list("ghijklm"))]
assert sizes == [6, 6], f"six passages and seven: each is cut to six; yours: {sizes}"
assert [list(ids) for ids in cut([], short)] == [[], []], "ours is empty here, so both lists are"
assert [list(ids) for ids in cut(short, [])] == [[], []], "theirs is empty here, so both lists are"
found = cut(["a", "b"], ["c", "d"])
assert found is not None and [list(ids) for ids in found] == [["a", "b"], ["c", "d"]], "lists of equal length stay as they are, and both are returned"

# %% [markdown]
# ## 3. The gain of each question
#
# `before` and `after` are arrays with the recall of each question, by two methods. The gain of a question is what it has *after* less what it had *before*. Return all gains.
#
# **Predict first.** Before: 50, 100, 0. After: 100, 50, 0. What are the gains? And their mean?
#
# <details><summary>Answer</summary>
#
# 50, −50, 0. Their mean is 0. The mean alone hides that two of three questions have changed.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "gains", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gains(before, after):
    """before, after: arrays of the same length. Returns the gain of each question."""
    ### BEGIN SOLUTION
    return np.asarray(after) - np.asarray(before)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="gains"
# - How many numbers are returned, and what is the sign of one that went up?
# - "Subtract the arrays, so that a question that rose from 0 to 50 has +50."
# - "`np.asarray(after) - np.asarray(before)`"

# %% nbgrader={"grade": true, "grade_id": "test-gains", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
before, after = np.array([50.0, 100, 0, 40]), np.array([100.0, 50, 0, 60])
found = gains(before, after)
assert found is not None, "gains returns nothing: return one number for each question"
assert np.ndim(found) == 1, "yours is one number: return the gain of each question, not their mean or sum"
found = [float(each) for each in found]
assert len(found) == 4, f"four questions have four gains; yours has {len(found)}. A question that stays equal has the gain 0"
assert not np.allclose(found, [-50, 50, 0, -20]), "you take before less after: a question that rose has a gain above zero"
assert not np.allclose(found, [50, 50, 0, 20]), "the signs are lost: a question that fell has a gain below zero"
assert not np.allclose(found, [1, -1, 0, 1]), "these are only the directions: return how much each question gained"
assert not np.allclose(found[:2] + found[3:], [1, -0.5, 0.5], equal_nan=True), "you divide by what was there before: a gain is the plain difference"
assert np.allclose(found, [50, -50, 0, 20]), f"expected 50, -50, 0 and 20; yours: {found}"
assert np.allclose(np.ravel(gains(np.array([0.0, 50]), np.array([33.3, 50.4]))), [33.3, 0.4]), "a third more is a gain of 33.3: do not round"
assert np.allclose(np.ravel(gains(np.array([100.0, 0]), np.array([0.0, 20]))), [-100, 20]), f"a fall from 100 to 0 is a gain of -100, also where most fall; yours: {[float(each) for each in np.ravel(gains(np.array([100.0, 0]), np.array([0.0, 20])))]}"
assert before[0] == 50 and after[0] == 100, "an array that was handed in has changed: make a new one"

# %% [markdown]
# How many questions went up, how many down, and how many stayed equal? Return the three numbers in this order.

# %% nbgrader={"grade": false, "grade_id": "count", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count(gains):
    """gains: an array of numbers. Returns (up, down, equal)."""
    ### BEGIN SOLUTION
    up, down = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    return int(up), int(down), len(gains) - int(up) - int(down)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="count"
# - What is true of a gain that went up?
# - "Count the gains above zero, those below zero, and those that are zero. The three numbers add up to the number of questions."
# - "`(gains > 0).sum()` counts an array's gains above zero. The other two are counted in the same way."

# %% nbgrader={"grade": true, "grade_id": "test-count", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = count(np.array([50.0, -50, 0, 20, 0, 0, 33.3]))
assert found is not None, "count returns nothing: return three numbers"
found = [float(each) for each in (found.values() if isinstance(found, dict) else found)]
assert len(found) == 3, f"three numbers are returned: up, down and equal; yours: {found}"
assert found != [1, 3, 3], "up and down are exchanged: a gain above zero went up"
assert found != [6, 1, 0] and found != [3, 4, 0], "questions with the gain 0 went neither up nor down: they are equal"
assert found != [6, 4, 3] and found != [6, 1, 3] and found != [3, 4, 3], "your numbers add up to more than seven questions: one with the gain 0 is only equal"
assert found != [3, 3, 1], "the order is up, down, equal"
assert not np.allclose(found, [103.3, -50, 0]) and not np.allclose(found, [103.3, -50, 3]), "you add up the gains: count the questions"
assert not np.allclose(found, [3 / 7, 1 / 7, 3 / 7]), "yours are shares: return how many questions"
assert found == [3, 1, 3], f"three went up, one down, three are equal; yours: {found}"
found = count(np.array([0.1, -0.1]))
assert [int(each) for each in (found.values() if isinstance(found, dict) else found)] == [1, 1, 0], "a tenth of a point is a gain, too: do not round the gains"

# %% [markdown]
# ## 4. The interval of the mean gain
#
# With other questions the mean gain would be another one. The *bootstrap* estimates how much it varies: from the n questions draw n with replacement, so that some come twice
# and some never, and take the mean gain of those drawn. Do this `draws` times. The interval goes from the 2.5 to the 97.5 percentile of these means.
#
# The comparison is *paired*: with a question, both of its numbers are drawn, before **and** after. All random numbers come from the generator `rng` that is handed in, as
# `rng.choice` or `rng.integers`.
#
# **Predict first.** Hard questions are hard for both methods. Is the interval wider or narrower if before and after are drawn from different questions?
#
# <details><summary>Answer</summary>
#
# Wider. Then the mean difference also varies because one method got harder questions than the other. In a pair that cancels out.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def interval(before, after, rng, draws=10_000):
    """before, after: arrays; rng: a numpy Generator. Returns (low, high) of the mean gain."""
    ### BEGIN SOLUTION
    gained = np.asarray(after) - np.asarray(before)
    means = rng.choice(gained, (draws, len(gained))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="interval"
# - What do you draw, so that both numbers of a question stay together? And the percentiles of what do you take, of gains or of means?
# - "Compute the gains first and draw from *them*: `rng.choice(gained, (draws, len(gained)))` has a row for each draw. Take the mean of each row."
# - "`means = rng.choice(gained, (draws, len(gained))).mean(axis=1)`, and then `np.percentile(means, [2.5, 97.5])`."

# %% nbgrader={"grade": true, "grade_id": "test-interval", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
after = (before := (made := np.random.default_rng(7)).uniform(0, 100, 30)) + made.normal(6, 12, 30)
spread = (ours := np.random.default_rng(0).choice(after - before, (10_000, 30)).mean(axis=1)).std()
near, percentiles = (lambda ends, wanted: all(abs(a - b) < 0.15 * spread for a, b in zip(ends, wanted))), (lambda *ends: np.percentile(ours, ends))
found = interval(before, after, np.random.default_rng(0))
assert found is not None, "interval returns nothing: return low and high"
ends = [float(each) for each in np.ravel(found)]
assert len(ends) == 2, f"an interval has two ends: return low and high only; yours has {len(ends)} numbers"
assert np.allclose(ends, np.ravel(interval(before, after, np.random.default_rng(0)))), "two generators with the same seed give two intervals: draw with the `rng` that is handed in, not with np.random"
assert not abs(ends[1] - ends[0]) < 0.01 * spread, "all your means are the same: draw with replacement, so that a question may come twice and another never"
assert not near(ends, percentiles(97.5, 2.5)), "the ends are exchanged: low comes first"
assert not near(ends, -percentiles(97.5, 2.5)), "your interval is that of before less after: the gain is after less before"
assert not near(ends, percentiles(5, 95)), "you cut off 5 percent at each end, which leaves 90: cut off 2.5 at each. (Or no question comes twice in a draw of yours.)"
assert not near(ends, percentiles(0.025, 0.975)), "np.percentile counts from 0 to 100: 2.5 and 97.5, not 0.025 and 0.975"
assert not any(near(ends, np.percentile(np.repeat(after - before, often), [2.5, 97.5])) for often in (1, 10_000)), "your percentiles are those of single gains: take the mean of each draw first, then the percentiles of the means"
assert not near(ends, np.percentile(np.median(np.random.default_rng(0).choice(after - before, (10_000, 30)), axis=1), [2.5, 97.5])), "you take the median of each draw: take its mean"
same = np.array_equal(ends, np.ravel(interval(before, after, np.random.default_rng(1))))
assert not (same and abs(sum(ends) / 2 - (after - before).mean()) < 1e-6), "you go the same way up and down from the mean gain, whatever the seed: that is a formula, without draws. Draw questions, and take percentiles of the means"
assert not same, "two seeds give the same interval to the last digit: your draws do not come from the `rng` that is handed in, or no question comes twice in a draw"
assert not near((np.array(ends) - ours.mean()) * 30**0.5 + ours.mean(), percentiles(2.5, 97.5)), "your interval is narrower by the root of 30: the spread of the means is already that of a mean, so do not divide again"
assert not near(np.array(ends) / 30, percentiles(2.5, 97.5)), "your draws are added up: take their means"
assert not ends[1] - ends[0] > 8 * spread, "your interval is far too wide: before and after are drawn from different questions. Draw the gains, so that the pair stays together; and draw as many questions as there are"
assert near(ends, percentiles(2.5, 97.5)), "your upper end is the 99.5 percentile, or the 95: cut off 2.5 percent at each end" if near(ends, percentiles(2.5, 99.5)) or near(ends, percentiles(2.5, 95)) else "your interval lies around 0: you subtract the mean gain before you draw. Draw the gains as they are" if near(np.array(ends) + (after - before).mean(), percentiles(2.5, 97.5)) else f"expected about {percentiles(2.5, 97.5).round(1).tolist()}; yours: {np.round(ends, 1).tolist()}. From 30 gains 30 are drawn, 10,000 times"
assert np.ptp(np.ravel(interval(before, after, np.random.default_rng(0), 1))) < 1e-9, "with draws = 1 there is one mean, and low is high: is `draws` used?"
few, wanted, signs, skewed = np.ravel(interval(before[:4], after[:4], np.random.default_rng(0))), np.percentile(np.random.default_rng(0).choice((after - before)[:4], (10_000, 4)).mean(axis=1), [2.5, 97.5]), (centre := (after - before)[:4].mean()) + np.array([-1, 1]) * np.abs((after - before)[:4] - centre).mean(), np.ravel(interval(np.zeros(10), np.array([100.0] + [0] * 9), np.random.default_rng(0)))
assert np.abs(few - wanted).max() < 0.3 * (after - before)[:4].std() / 2, "you draw half of the questions, and none of them twice: draw as many as there are, with replacement" if np.abs(few - signs).max() < 1e-6 and np.abs(skewed - [0, 20]).max() < 1e-6 else "from four questions your interval is the mean gain, less and plus the mean distance of the gains from it: you give the distances random signs. Draw questions, so that one may come twice and another never" if np.abs(few - signs).max() < 1e-6 else f"from four questions four are drawn: about {wanted.round(1).tolist()}; yours: {few.round(1).tolist()}. Does a number of questions stand in your code, or do you draw numbers that are not gains?"
assert any(abs(float(np.ravel(interval(np.zeros(2), np.array([-100.0, 100]), np.random.default_rng(seed), 1))[0])) < 1e-6 for seed in range(30)), "with gains of -100 and 100 a draw of two may have the mean 0, and yours never has: perhaps you draw one question less than there are, or numbers that are not gains"
assert skewed[0] < 50, f"one gain of 100 and nine of zero: the interval is about 0 to 30; yours: {skewed.round(1).tolist()}. Gains of zero are drawn, too"
assert np.abs(skewed - [-10, 20]).max() > 3, "for one gain of 100 and nine of zero your interval begins at -10: you reflect the percentiles about the mean gain. Return them as they are"
assert skewed[0] > -4, f"one gain of 100 and nine of zero: no draw has a mean below zero, and your interval begins at {skewed[0]:.1f}. Do not go the same way up and down from the mean: the ends are the percentiles of the means"
assert np.abs(skewed - [0, 30]).max() < 5, f"one gain of 100 and nine of zero: the interval is about 0 to 30; yours: {skewed.round(1).tolist()}. The ends are percentiles of the means, as they are"

# %% [markdown]
# Paired and unpaired, on the numbers of that test. In the second line before and after are drawn from different questions.

# %%
paired_ends = interval(before, after, np.random.default_rng(0))
rng = np.random.default_rng(0)
means = [rng.choice(each, (10_000, 30)).mean(axis=1) for each in (after, before)]
print("paired   {:6.1f} to {:.1f}".format(*paired_ends))
print("unpaired {:6.1f} to {:.1f}".format(*np.percentile(means[0] - means[1], [2.5, 97.5])))

# %% [markdown]
# ## 5. The verdict
#
# If the whole interval is above zero, the verdict is `"gain"`; if the whole interval is below zero, `"loss"`. If it holds zero, as an inner point or as an end,
# it is `"inconclusive"`: the questions show neither a difference nor that there is none.
#
# **Predict first.** The interval goes from −0.4 to 12. What is the verdict?
#
# <details><summary>Answer</summary>
#
# Inconclusive. Most of the interval is above zero, and zero is in it all the same.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "verdict", "locked": false, "schema_version": 3, "solution": true, "task": false}
def verdict(low, high):
    """low, high: the ends of an interval. Returns "gain", "loss" or "inconclusive"."""
    ### BEGIN SOLUTION
    if low > 0:
        return "gain"
    return "loss" if high < 0 else "inconclusive"
    ### END SOLUTION


# %% [raw] tags=["hints"] item="verdict"
# - Which end has to be above zero, so that the whole interval is?
# - "A gain: the *low* end is above zero. A loss: the *high* end is below zero. All the rest is inconclusive."
# - "`if low > 0: return \"gain\"`, then `if high < 0: return \"loss\"`, and last `return \"inconclusive\"`."

# %% nbgrader={"grade": true, "grade_id": "test-verdict", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
said = lambda low, high: str(verdict(low, high)).strip().lower()
assert said(2.1, 9.8) != "none", "for an interval above zero verdict returns nothing: return a word"
assert said(2.1, 9.8) != "loss", "gain and loss are exchanged: an interval above zero is a gain"
assert said(2.1, 9.8) == "gain", f"from 2.1 to 9.8 the whole interval is above zero, a gain; yours: {said(2.1, 9.8)}"
assert said(-9.0, -0.5) != "inconclusive", "from -9 to -0.5 the whole interval is below zero: a loss is a result, too"
assert said(-9.0, -0.5) == "loss", f"from -9 to -0.5 it is a loss; yours: {said(-9.0, -0.5)}"
assert said(-0.4, 12.0) != "gain", "from -0.4 to 12 the interval holds zero, though its middle is above: look at the low end"
assert said(-12.0, 0.4) != "loss", "from -12 to 0.4 the interval holds zero: a loss needs a high end below zero"
assert said(-3.0, 4.0) == "inconclusive", f"from -3 to 4 it is inconclusive; yours: {said(-3.0, 4.0)}"
assert said(0.0, 5.0) == said(-5.0, 0.0) == said(0.0, 0.0) == "inconclusive", "an interval that ends at zero holds zero: it is inconclusive"
assert said(-0.4, 12.0) == said(-12.0, 0.4) == "inconclusive", "an interval that holds zero is inconclusive, wherever zero lies in it"
assert said(0.001, 0.3) == "gain" and said(-0.3, -0.001) == "loss", "a small gain is a gain, if its interval is above zero: compare with 0, without a margin"

# %% [markdown]
# ## 6. A real comparison
#
# `professors` has 24 questions. *Base* is the list of operators *node VDB, relationship Onehop, chunk Occurrence*. The second list is
# *relationship VDB, chunk Occurrence*. Flat search is *chunk VDB* alone. Only passages with a score above zero count.

# %%
# the encoder is `lsa`, chapter 17b's is another: its numbers for these lists differ
corpus = mr.load_corpus("professors")
graph = mr.METHODS["hipporag"].build(corpus, extraction="annotations").graph
compositions = {
    "base": ("node VDB", "relationship Onehop", "chunk Occurrence"),
    "relationship VDB": ("relationship VDB", "chunk Occurrence"),
    "flat search": ("chunk VDB",),
}
lists = {}
for name, operators in compositions.items():
    made = mr.compose(graph="knowledge", operators=operators)
    method = made.build(corpus, extraction=graph, encoder="lsa")
    results = method.retrieve_many([question.text for question in corpus.questions], 5)
    lists[name] = [[p.id for p in result.passages if p.score > 0] for result in results]
    print(f"{name:16}  {np.mean([len(ids) for ids in lists[name]]):.2f} passages found")

# %% [markdown]
# **Predict first.** *relationship VDB* finds fewest passages. Will it look better with places left empty, or filled by flat search?
#
# <details><summary>Answer</summary>
#
# Filled: it borrows most. Its mean gain over base is −3.5 left empty and 2.8 filled, and both are inconclusive.
#
# </details>

# %%
def levels(name, filled):
    """The recall of each question."""
    pairs = zip(lists[name], lists["flat search"])
    ids = [fill(own, more) if filled else own for own, more in pairs]
    return np.array([recall(each, q.gold) for each, q in zip(ids, corpus.questions)])


for filled in (False, True):
    for other in ("base", "flat search"):
        before, after = levels(other, filled), levels("relationship VDB", filled)
        low, high = interval(before, after, np.random.default_rng(0))
        mean = np.mean(gains(before, after))
        print(f"{'filled' if filled else 'left empty':10}  over {other:11} {mean:+5.1f}",
              f"({low:.1f} to {high:.1f}) {verdict(low, high):12}",
              "up, down, equal:", *count(gains(before, after)))

for other in ("base", "flat search"):
    pairs = [cut(*both) for both in zip(lists["relationship VDB"], lists[other])]
    both = [[recall(ids, q.gold) for ids in pair] for pair, q in zip(pairs, corpus.questions)]
    after, before = np.array(both).T
    low, high = interval(before, after, np.random.default_rng(0))
    print(f"one length  over {other:11} {np.mean(gains(before, after)):+5.1f}",
          f"({low:.1f} to {high:.1f}) {verdict(low, high):12}",
          "up, down, equal:", *count(gains(before, after)))

# %% [markdown]
# Over base the verdict changes with the rule: *inconclusive* left empty and filled, a *gain* at one length. (That gain rests on four questions, all up: few for an interval. Chapter 17c's sign test gives `2 / 16`.) Over flat search no rule shows a gain. So report the
# rule, the interval, and flat search beside both lists.
#
# ## 7. Compare with the package
#
# The package rounds recall to a hundredth and the ends of an interval to a tenth of a percent, and draws 2,000 times. Its verdict is *inconclusive* or *beyond chance*.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from minirag.evaluate import metrics, recall_at_k

by_list = {}
for name, found in lists.items():
    by_list[name] = np.array([100 * recall_at_k(ids, q.gold, 5) for ids, q in zip(found, corpus.questions)])
    mine = [recall(ids, q.gold) for ids, q in zip(found, corpus.questions)]
    assert np.allclose(mine, by_list[name], atol=0.01), "the package's recall_at_k gives other numbers; if the test of `recall` complains, too, mend that first"
for own, more in zip(lists["base"], lists["flat search"]):
    assert list(fill(own, more)) == list(dict.fromkeys(own + more))[:5], "`fill` (section 2) gives other lists here; if its own test complains, too, mend that first"
for name in ("relationship VDB", "flat search"):
    before, after = by_list["base"], by_list[name]
    theirs = metrics.interval(after - before)
    mine = interval(before, after, np.random.default_rng(0))
    assert np.abs(np.ravel(mine) - theirs).max() < 1.5, f"the package's interval goes from {theirs[0]:.1f} to {theirs[1]:.1f}; yours: {np.round(np.ravel(mine), 1).tolist()}. If the test of `interval` complains, too, mend that first"
    up, down, _ = count(gains(before, after)) if not isinstance(count(gains(before, after)), dict) else count(gains(before, after)).values()
    assert (up, down) == ((after > before).sum(), (after < before).sum()), "`gains` or `count` (section 3) differ from the package's recalls; if their own tests complain, too, mend those first"
    inconclusive = metrics.verdict(*theirs, even=0) == "inconclusive"
    assert (str(verdict(*theirs)).strip().lower() == "inconclusive") == inconclusive, "`verdict` (section 5) differs from the package's; if its own test complains, too, mend that first"

# %% [markdown]
# **To think about.** You try twenty lists of operators on the same 24 questions and report the one with the highest mean gain, with its interval. What is wrong with that interval?
#
# <details><summary>Answer</summary>
#
# It is made for one comparison that was chosen before looking. Each interval is meant to miss the true mean once in twenty times, and you chose the luckiest of twenty. Choose the list on
# one set of questions, and measure it on another.
#
# </details>

# %% [raw] tags=["wrong-answers"]
# - item: recall
#   name: rounded
#   replace: 100 * len(set(ids[:k]) & set(gold)) / len(gold)
#   by: round(100 * len(set(ids[:k]) & set(gold)) / len(gold))
#   hint: is 33.33 percent
# - item: recall
#   name: a share instead of percent
#   replace: 100 * len
#   by: len
#   hint: yours is a share between 0 and 1
# - item: recall
#   name: divided by what was found
#   replace: / len(gold)
#   by: / max(len(ids[:k]), 1)
#   hint: you divide by the number of passages found
# - item: recall
#   name: divided by k
#   replace: / len(gold)
#   by: / k
#   hint: "you divide by k: that is precision"
# - item: recall
#   name: divided by k where gold is more
#   replace: / len(gold)
#   by: / min(k, len(gold))
#   hint: you divide by k where there are more gold passages
# - item: recall
#   name: one gold passage is enough
#   replace: 100 * len(set(ids[:k]) & set(gold)) / len(gold)
#   by: 100 * bool(set(ids[:k]) & set(gold))
#   hint: one gold passage is not all of them
# - item: recall
#   name: the whole list counts
#   replace: ids[:k]
#   by: ids
#   hint: p4 stands on rank 6
# - item: recall
#   name: always five
#   replace: ids[:k]
#   by: ids[:5]
#   hint: with k = 6 rank 6 counts, too
# - item: recall
#   name: repeats counted
#   replace: len(set(ids[:k]) & set(gold))
#   by: sum(each in gold for each in ids[:k])
#   hint: a passage that stands twice in a list is one passage
# - item: fill
#   name: three too many of the second list
#   replace: '[each for each in more if each not in own]'
#   by: '[each for each in more[: k - len(own) + 3] if each not in own]'
#   hint: its fifth fills the place
# - item: fill
#   name: passages twice
#   replace: "[each for each in more if each not in own]"
#   by: "[*more]"
#   hint: a stands twice in your list
# - item: fill
#   name: cut before repeats go
#   replace: "for each in more if"
#   by: "for each in more[: k - len(own)] if"
#   hint: your list has an empty place left
# - item: fill
#   name: one more than the empty places
#   replace: "for each in more if"
#   by: "for each in more[: k - len(own) + 1] if"
#   hint: go on until the list has k passages
# - item: fill
#   name: not cut
#   replace: "added][:k]"
#   by: "added]"
#   hint: your list is longer than k
# - item: fill
#   name: place for place
#   replace: "for each in more if"
#   by: "for each in more[len(own) :] if"
#   hint: you begin with the fourth passage of `more`
# - item: fill
#   name: the other list first
#   replace: "[*own, *added]"
#   by: "[*more, *own]"
#   hint: the passages of `more` stand in front
# - item: fill
#   name: what is added first
#   replace: "[*own, *added]"
#   by: "[*added, *own]"
#   hint: what you add stands in front
# - item: fill
#   name: a single own passage last
#   replace: "return [*own, *added][:k]"
#   by: "return ([*own, *added] if len(own) != 1 else [*added[:k - 1], *own])[:k]"
#   hint: a single own passage comes first, too
# - item: fill
#   name: only an empty list
#   replace: "return [*own, *added][:k]"
#   by: "return [*(own or more)][:k]"
#   hint: a short list is filled, too
# - item: fill
#   name: sorted by name
#   replace: "[*own, *added][:k]"
#   by: "sorted([*own, *added][:k])"
#   hint: your list is sorted by name
# - item: fill
#   name: an empty list is not cut
#   replace: "return [*own, *added][:k]"
#   by: "return [*own, *added][:k] if own else added"
#   hint: where `own` is empty you return the whole of `more`
# - item: fill
#   name: worst first
#   replace: "for each in more if"
#   by: "for each in more[::-1] if"
#   hint: you take the last passages of `more`
# - item: fill
#   name: the own list grows
#   replace: "return [*own, *added][:k]"
#   by: "own += added\n    return own[:k]"
#   hint: a list that was handed in has changed
# - item: fill
#   name: always five
#   replace: "[:k]"
#   by: "[:5]"
#   hint: with k = 3 and one own passage two are added
# - item: fill
#   name: a slice that ends below zero
#   replace: "return [*own, *added][:k]"
#   by: "return own[:k] + [each for each in more[:k] if each not in own][: k - len(own)]"
#   hint: a slice that ends below zero counts from the end
# - item: fill
#   name: a loop that ends at k only
#   replace: "added = [each for each in more if each not in own]\n    return [*own, *added][:k]"
#   by: "out = list(own)\n    for each in more:\n        if len(out) == k:\n            break\n        if each not in out:\n            out.append(each)\n    return out"
#   hint: a loop that ends at `len(...) == k` never ends here
# - item: cut
#   name: exchanged
#   replace: 'return ours[:size], theirs[:size]'
#   by: 'return theirs[:size], ours[:size]'
#   hint: "the two lists are exchanged: ours comes first"
# - item: cut
#   name: the longer one
#   replace: 'min(len'
#   by: 'max(len'
#   hint: the longer list is as long as before
# - item: cut
#   name: the last passages
#   replace: 'theirs[:size]'
#   by: 'theirs[len(theirs) - size :]'
#   hint: you keep the last passages of the longer list
# - item: cut
#   name: the common ones
#   replace: 'return ours[:size], theirs[:size]'
#   by: 'return ours[:size], [each for each in theirs if each in ours]'
#   hint: both are the same list
# - item: cut
#   name: theirs alone
#   replace: 'return ours[:size], theirs[:size]'
#   by: 'return ours, theirs[: len(ours)]'
#   hint: here ours is the longer list
# - item: cut
#   name: as many as both have
#   replace: 'min(len(ours), len(theirs))'
#   by: 'len(set(ours) & set(theirs))'
#   hint: none of them in both lists
# - item: cut
#   name: five at most
#   replace: 'min(len(ours), len(theirs))'
#   by: 'min(len(ours), len(theirs), 5)'
#   hint: six passages and seven
# - item: cut
#   name: whole if theirs is empty
#   replace: 'size = min(len(ours), len(theirs))'
#   by: 'size = min(len(ours), len(theirs)) if theirs else len(ours)'
#   hint: theirs is empty here
# - item: cut
#   name: nothing for equal lengths
#   replace: 'size = min(len(ours), len(theirs))'
#   by: "size = min(len(ours), len(theirs))\n    if len(ours) == len(theirs) > 0:\n        return None"
#   hint: lists of equal length stay
# - item: cut
#   name: sorted by name
#   replace: 'return ours[:size], theirs[:size]'
#   by: 'return sorted(ours)[:size], sorted(theirs)[:size]'
#   hint: sorted by name
# - item: gains
#   name: sign by the mean
#   replace: return np.asarray(after) - np.asarray(before)
#   by: return (np.asarray(after) - np.asarray(before)) * (1 if np.mean(after) >= np.mean(before) else -1)
#   hint: also where most fall
# - item: gains
#   name: rounded
#   replace: np.asarray(after) - np.asarray(before)
#   by: np.round(np.asarray(after) - np.asarray(before))
#   hint: do not round
# - item: gains
#   name: before less after
#   replace: np.asarray(after) - np.asarray(before)
#   by: np.asarray(before) - np.asarray(after)
#   hint: you take before less after
# - item: gains
#   name: without signs
#   replace: np.asarray(after) - np.asarray(before)
#   by: abs(np.asarray(after) - np.asarray(before))
#   hint: the signs are lost
# - item: gains
#   name: the mean alone
#   replace: np.asarray(after) - np.asarray(before)
#   by: np.mean(after) - np.mean(before)
#   hint: yours is one number
# - item: gains
#   name: only the direction
#   replace: np.asarray(after) - np.asarray(before)
#   by: np.sign(np.asarray(after) - np.asarray(before))
#   hint: these are only the directions
# - item: gains
#   name: relative to before
#   replace: np.asarray(after) - np.asarray(before)
#   by: (np.asarray(after) - np.asarray(before)) / np.asarray(before)
#   hint: you divide by what was there before
# - item: gains
#   name: equal questions left out
#   replace: np.asarray(after) - np.asarray(before)
#   by: "[b - a for a, b in zip(before, after) if a != b]"
#   hint: four questions have four gains
# - item: count
#   name: up and down exchanged
#   replace: "return int(up), int(down), len(gains) - int(up) - int(down)"
#   by: "return int(down), int(up), len(gains) - int(up) - int(down)"
#   hint: up and down are exchanged
# - item: count
#   name: equal counts as up
#   replace: gain > 0
#   by: gain >= 0
#   hint: questions with the gain 0 went neither up nor down
# - item: count
#   name: equal counted twice
#   replace: "return int(up), int(down), len(gains) - int(up) - int(down)"
#   by: "return sum(gain >= 0 for gain in gains), int(down), sum(gain == 0 for gain in gains)"
#   hint: your numbers add up to more than seven questions
# - item: count
#   name: equal in the middle
#   replace: "return int(up), int(down), len(gains) - int(up) - int(down)"
#   by: "return int(up), len(gains) - int(up) - int(down), int(down)"
#   hint: the order is up, down, equal
# - item: count
#   name: gains added up
#   replace: "up, down = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)\n    return int(up), int(down), len(gains) - int(up) - int(down)"
#   by: "return sum(x for x in gains if x > 0), sum(x for x in gains if x < 0), 0"
#   hint: you add up the gains
# - item: count
#   name: gains rounded
#   replace: "up, down ="
#   by: "gains = [round(gain) for gain in gains]\n    up, down ="
#   hint: a tenth of a point is a gain, too
# - item: interval
#   name: zero gains left out
#   replace: "    means = rng"
#   by: |2-
#         gained = gained[gained != 0]
#         means = rng
#   hint: Gains of zero are drawn, too
# - item: interval
#   name: reflected about the mean gain
#   replace: low, high = np.percentile(means, [2.5, 97.5])
#   by: high, low = 2 * gained.mean() - np.percentile(means, [2.5, 97.5])
#   hint: you reflect the percentiles about the mean gain
# - item: interval
#   name: the same way up and down from the mean
#   replace: low, high = np.percentile(means, [2.5, 97.5])
#   by: low, high = means.mean() - 1.96 * means.std(), means.mean() + 1.96 * means.std()
#   hint: no draw has a mean below zero
# - item: interval
#   name: a formula without draws
#   replace: low, high = np.percentile(means, [2.5, 97.5])
#   by: half = 1.96 * gained.std() / len(gained) ** 0.5; low, high = gained.mean() - half, gained.mean() + half
#   hint: that is a formula, without draws
# - item: interval
#   name: random signs on the centred gains
#   replace: means = rng.choice(gained, (draws, len(gained))).mean(axis=1)
#   by: means = gained.mean() + (rng.choice([-1, 1], (draws, len(gained))) * (gained - gained.mean())).mean(axis=1)
#   hint: you give the distances random signs
# - item: interval
#   name: half of the questions without replacement
#   replace: means = rng.choice(gained, (draws, len(gained))).mean(axis=1)
#   by: "means = rng.permuted(np.tile(gained, (draws, 1)), axis=1)[:, : max(len(gained) // 2, 1)].mean(axis=1)"
#   hint: you draw half of the questions, and none of them twice
# - item: interval
#   name: centred gains
#   replace: rng.choice(gained, (draws, len(gained)))
#   by: rng.choice(gained - gained.mean(), (draws, len(gained)))
#   hint: you subtract the mean gain before you draw
# - item: interval
#   name: medians
#   replace: means = rng.choice(gained, (draws, len(gained))).mean(axis=1)
#   by: means = np.median(rng.choice(gained, (draws, len(gained))), axis=1)
#   hint: you take the median of each draw
# - item: interval
#   name: divided by the root again
#   replace: low, high = np.percentile(means, [2.5, 97.5])
#   by: low, high = means.mean() + (np.percentile(means, [2.5, 97.5]) - means.mean()) / len(gained) ** 0.5
#   hint: do not divide again
# - item: interval
#   name: not paired
#   replace: rng.choice(gained, (draws, len(gained))).mean(axis=1)
#   by: rng.choice(after, (draws, len(after))).mean(axis=1) - rng.choice(before, (draws, len(before))).mean(axis=1)
#   hint: before and after are drawn from different questions
# - item: interval
#   name: without replacement
#   replace: rng.choice(gained, (draws, len(gained)))
#   by: rng.permuted(np.tile(gained, (draws, 1)), axis=1)
#   hint: all your means are the same
# - item: interval
#   name: before less after
#   replace: np.asarray(after) - np.asarray(before)
#   by: np.asarray(before) - np.asarray(after)
#   hint: your interval is that of before less after
# - item: interval
#   name: ninety percent
#   replace: "[2.5, 97.5]"
#   by: "[5, 95]"
#   hint: you cut off 5 percent at each end
# - item: interval
#   name: an upper end at 99.5
#   replace: "[2.5, 97.5]"
#   by: "[2.5, 99.5]"
#   hint: your upper end is the 99.5 percentile
# - item: interval
#   name: an upper end at 95
#   replace: "[2.5, 97.5]"
#   by: "[2.5, 95]"
#   hint: or the 95
# - item: interval
#   name: shares instead of percent
#   replace: "[2.5, 97.5]"
#   by: "[0.025, 0.975]"
#   hint: np.percentile counts from 0 to 100
# - item: interval
#   name: percentiles of gains
#   replace: ".mean(axis=1)"
#   by: ".ravel()"
#   hint: your percentiles are those of single gains
# - item: interval
#   name: sums
#   replace: ".mean(axis=1)"
#   by: ".sum(axis=1)"
#   hint: your draws are added up
# - item: interval
#   name: a generator of its own
#   replace: rng.choice
#   by: np.random.default_rng(0).choice
#   hint: two seeds give the same interval
# - item: interval
#   name: the global generator
#   replace: rng.choice
#   by: np.random.choice
#   hint: two generators with the same seed give two intervals
# - item: interval
#   name: with the mean
#   replace: return float(low), float(high)
#   by: return float(means.mean()), float(low), float(high)
#   hint: return low and high only
# - item: interval
#   name: high first
#   replace: return float(low), float(high)
#   by: return float(high), float(low)
#   hint: "the ends are exchanged: low comes first"
# - item: interval
#   name: draws not used
#   replace: (draws, len(gained))
#   by: (10_000, len(gained))
#   hint: with draws = 1 there is one mean
# - item: interval
#   name: one question less
#   replace: (draws, len(gained))
#   by: (draws, len(gained) - 1)
#   hint: you draw one question less than there are
# - item: interval
#   name: always thirty
#   replace: (draws, len(gained))
#   by: (draws, 30)
#   hint: from four questions four are drawn
# - item: verdict
#   name: gain and loss exchanged
#   replace: "low > 0:\n        return \"gain\"\n    return \"loss\" if high < 0"
#   by: "low > 0:\n        return \"loss\"\n    return \"gain\" if high < 0"
#   hint: gain and loss are exchanged
# - item: verdict
#   name: no losses
#   replace: "return \"loss\" if high < 0 else \"inconclusive\""
#   by: "return \"inconclusive\""
#   hint: a loss is a result, too
# - item: verdict
#   name: the middle decides
#   replace: "low > 0:"
#   by: "low + high > 0:"
#   hint: though its middle is above
# - item: verdict
#   name: a low end below zero is a loss
#   replace: high < 0
#   by: low < 0 and high < 1
#   hint: a loss needs a high end below zero
# - item: verdict
#   name: zero at the end
#   replace: low > 0
#   by: low >= 0
#   hint: an interval that ends at zero holds zero
# - item: verdict
#   name: with a margin
#   replace: low > 0
#   by: low > 1
#   hint: compare with 0, without a margin
