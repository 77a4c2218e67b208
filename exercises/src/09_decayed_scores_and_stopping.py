# ---
# jupyter:
#   minirag:
#     title: Decayed scores and a stopping rule
#     minutes: 40
# ---

# %% [markdown]
# # Exercise 9: decayed scores and a stopping rule
#
# ToG-2 walks over a knowledge graph and reads passages on the way. Two decisions steer the walk. Which entities does it go on from? And when does it stop?
# Wang (Sec. IV-A) answers the first with a sum over ranked chunks, and leaves the second to a language model. You write both: the sum as it is, and a rule
# in the model's place.
#
# **You will be able to** score entities by the ranks of their chunks, say which decay lets the best chunk decide alone, write a walk that always ends and
# says why, and recognise a stopping rule that stops too early or never.
#
# 40 minutes, no model, no network. A chunk is a pair of its entity and its score, a triple has a head, a relation and a tail.

# %%
from collections import namedtuple
from math import exp, log
from random import Random
import re

from minirag.methods.tog import ENOUGH, EXHAUSTED, NO_RELATION

# %% [markdown]
# ## 1. By hand
#
# The passages of all candidate entities are cut into chunks, scored against the question and ranked together. The chunk on rank $i$ adds its score times
# $e^{-\alpha i}$ to its entity:
#
# $$\mathrm{score}(e) = \sum_{i \,:\, \text{chunk } i \text{ belongs to } e} s_i \, e^{-\alpha i}, \qquad i = 1, \dots, K.$$
#
# Four chunks of three entities, with $\alpha = 0.8$:
#
# | rank $i$ | entity | score $s_i$ | weight $e^{-0.8\,i}$ |
# | --- | --- | --- | --- |
# | 1 | A | 0.9 | 0.4493 |
# | 2 | B | 0.8 | 0.2019 |
# | 3 | B | 0.7 | 0.0907 |
# | 4 | C | 0.6 | 0.0408 |
#
# **Predict first.** B has two chunks with scores of 1.5 together, A one with 0.9. Which of them wins?
#
# <details><summary>Answer</summary>
#
# A. The first weight is 0.4493, and the second and third together are 0.2926.
#
# </details>
#
# Write the three scores. Numbers from a calculator, rounded to three decimals, are as good as a formula.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": false, "schema_version": 3, "solution": true, "task": false}
def by_hand():
    """Returns the scores from the table: {"A": number, "B": number, "C": number}."""
    ### BEGIN SOLUTION
    weight = [exp(-0.8 * rank) for rank in (1, 2, 3, 4)]
    return {"A": 0.9 * weight[0], "B": 0.8 * weight[1] + 0.7 * weight[2], "C": 0.6 * weight[3]}
    ### END SOLUTION


# %% [raw] tags=["hints"] item="by-hand"
# - Which rows of the table belong to B, and what happens to what they give?
# - Multiply the score in each row by the weight in the same row. An entity with several rows gets the sum.
# - "A is 0.9 · 0.4493. B is the sum of two such products, from the second row and the third."

# %% nbgrader={"grade": true, "grade_id": "test-by-hand", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
near = lambda found, expected: abs(float(found) - expected) < 6e-4
hand = by_hand()
assert isinstance(hand, dict) and set(hand) == {"A", "B", "C"}, "by_hand returns a dictionary with the keys A, B and C"
assert not near(hand["A"], 0.9), "A has its full 0.9 in your version: the first rank is 1, not 0, so its weight is 0.4493 and not 1"
assert not near(hand["A"], 0.9 * exp(0.8)), "your weights grow with the rank: there is a minus in the exponent"
assert near(hand["A"], 0.404396), f"A has one chunk, on rank 1: 0.9 times 0.4493; yours: {hand['A']}"
assert not near(hand["B"], 0.161517), "B has two chunks, and you count the better one only: add what both give"
assert not near(hand["B"], 0.112510), "you take the mean of B's chunks: the score is their sum"
assert not near(hand["B"], 0.500791), "you rank the chunks of each entity by themselves: B's best chunk has rank 2 of all chunks"
assert near(hand["B"], 0.225020), f"B has the ranks 2 and 3: 0.8 times 0.2019 plus 0.7 times 0.0907; yours: {hand['B']}"
assert not near(hand["C"], 0.054431), "C's chunk stands on rank 4, although it is the third entity: ranks belong to chunks"
assert near(hand["C"], 0.024457), f"C has one chunk, on rank 4: 0.6 times 0.0408; yours: {hand['C']}"

# %% [markdown]
# ## 2. The decayed score
#
# The chunks come in any order. Rank them by their scores, the best first; of equal scores, the earlier in the list ranks higher. Keep the `top_k` best
# *chunks*, give them the ranks 1, 2, 3, ..., and add up. The result is a list of pairs, the best entity first. An entity without a chunk among the
# `top_k` does not appear.
#
# **Predict first.** Somebody counts the ranks from 0. What changes?
#
# <details><summary>Answer</summary>
#
# Every score is $e^{\alpha}$ times as large, and the order of the entities stays the same. For a choice of the best entities either will do. This exercise
# asks for ranks from 1, as the released code and the package have them, so that numbers can be compared.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "decayed-scores", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decayed_scores(pooled, top_k, alpha):
    """pooled: a list of (entity, score), one for each chunk. Returns [(entity, score), ...]."""
    ### BEGIN SOLUTION
    best = sorted(pooled, key=lambda chunk: chunk[1], reverse=True)[:top_k]
    totals = {}
    for rank, (entity, score) in enumerate(best, start=1):
        totals[entity] = totals.get(entity, 0) + score * exp(-alpha * rank)
    return sorted(totals.items(), key=lambda pair: pair[1], reverse=True)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="decayed-scores"
# - You sort twice. What is sorted the first time, and what the second time?
# - "Sort the chunks and cut the list. Go through it with `enumerate(..., start=1)` and collect in a dictionary. Then sort the entities by what they have."
# - "In the loop: `totals[entity] = totals.get(entity, 0) + ...`, where the dots are the chunk's score times its weight. `totals.items()` has the pairs to sort."

# %% nbgrader={"grade": true, "grade_id": "test-decayed-scores", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
close = lambda found, expected: abs(float(found) - expected) < 1e-6
found = decayed_scores(pooled := [("C", 0.6), ("B", 0.7), ("A", 0.9), ("B", 0.8)], 10, 0.8)
assert found is not None and not isinstance(found, dict), "return a list of pairs (entity, score), the best first"
assert pooled == [("C", 0.6), ("B", 0.7), ("A", 0.9), ("B", 0.8)], "the list that was handed in has changed its order: use sorted, which makes a new list"
assert sorted(entity for entity, _ in found) == ["A", "B", "C"], f"A, B and C appear once each; yours: {found}"
scores, expected = dict(found), {"A": 0.404396, "B": 0.225020, "C": 0.024457}
assert not close(scores["B"], 0.7 * exp(-1.6) + 0.8 * exp(-3.2)), "the ranks are places in the list as it was given: sort the chunks by score first"
assert not any(close(scores["B"], (0.8 * exp(-1.6) + 0.7 * exp(-2.4)) / by) for by in (2, exp(-1.6) + exp(-2.4))), "you take the mean of B's two chunks, plain or weighted: the score is their sum"
assert not any(close(scores["A"], 0.9 * by) for by in (1, exp(0.8))), ("your weights fall as a power of the rank: the weight is exp(-alpha * rank)" if close(scores["B"], 0.8 * 2**-0.8 + 0.7 * 3**-0.8) else "your rank begins at 0: the order is right, but every score is e^alpha times too large; here the first rank is 1") if close(scores["A"], 0.9) else "your weights grow with the rank: where is the minus?"
assert not close(scores["B"], 0.7 * exp(-1.6) + 0.8 * exp(-2.4)), "your best chunk comes last: sort with the highest score first"
assert not close(scores["B"], 0.8 * exp(-0.8) + 0.7 * exp(-1.6)), "your rank begins anew for each entity: a chunk's rank is its place among all chunks"
assert not close(scores["B"], 0.7 * exp(-2.4)), "B's second chunk has replaced the first: add to what the entity has"
assert not close(scores["B"], 0.8 * exp(-1.6)), "only the best chunk of B counts in your version: all of its chunks among the top_k do"
assert not close(scores["B"], exp(-1.6) + exp(-2.4)), "only the weights are added up: multiply each by the chunk's score"
assert not close(scores["A"], 0.9 / 2), "one divided by rank + 1 is another decay: the weight is e to the power of -alpha times the rank"
assert not any(close(scores["A"], 0.9 * exp(-0.8) / by) for by in (0.7827056, 0.9, 0.9 * exp(-0.8))), "do not divide, neither by the sum of the weights, nor by the best chunk's score, nor by the best sum: each score is a plain sum"
assert not any(close(scores["B"], 1.5 * exp(-0.8 * rank)) for rank in (1, 2)), "both chunks of B have one rank in your version: a rank belongs to a chunk, not to an entity"
assert all(close(scores[entity], expected[entity]) for entity in expected), f"expected {expected}; yours: {scores}"
assert [entity for entity, _ in found] != ["C", "B", "A"], "the worst entity comes first: turn the last sorting round"
assert not close(dict(late := decayed_scores([("A", 1.0), ("B", 0.95), ("B", 0.9)], 10, 0.3))["A"], exp(-0.8)), "your decay is 0.8, whatever was asked for: use alpha"
assert [entity for entity, _ in late] == ["B", "A"], "the entities come in the order of their best chunks: sort them by their sums"
two = decayed_scores(pooled, 2, 0.8)
assert len(two) == 2, "with top_k = 2 only A and B have a chunk that counts: is top_k used?"
assert not close(dict(two).get("B", 0), scores["B"]), "you keep top_k entities; top_k counts chunks, and is applied before the sum"
assert dict(two).keys() == {"A", "B"}, "you cut the list before it is sorted: the top_k best chunks are kept, not the first ones"
assert close(dict(two)["B"], 0.161517), f"with top_k = 2 B has 0.8 times 0.2019; yours: {dict(two)['B']}"
assert not (lost := close(dict(decayed_scores([("A", 0.9), ("B", 0.5), ("B", 0.5)], 10, 0.8))["B"], 0.5 * exp(-1.6))) and [*dict(equal := decayed_scores([("X", 0.5), ("Z", 0.5), ("Y", 0.5)], 10, 0.8))] == ["X", "Z", "Y"], "two chunks of B have the same score, and both count: keep every chunk of the list" if lost else "of equal scores the earlier chunk ranks higher: sort by the score alone"
assert close(dict(equal)["Z"], 0.5 * exp(-1.6)), f"no two chunks share a rank: of three equal scores the second has rank 2, and Z has 0.1009; yours: {dict(equal)['Z']}"
assert dict(decayed_scores([("A", 0.5), ("B", -0.5)], 10, 0.8)).get("B", 0) < 0, "a score below zero counts as it is: do not leave it out or raise it to zero"
assert list(decayed_scores([], 10, 0.8)) == [], "without chunks there is no entity: return an empty list"

# %% [markdown]
# ## 3. Why $\alpha > \ln 2$ keeps the first chunk's entity first
#
# Assume scores that are not negative. The worst case for A, which has the best chunk, is a rival with *all* the later ranks and chunks as good as A's.
# Then only weights matter: the first one against the sum of all others. Write that sum as a share of the first weight:
#
# $$\mathrm{rest}(\alpha) = \frac{e^{-2\alpha} + e^{-3\alpha} + e^{-4\alpha} + \dots}{e^{-\alpha}} .$$
#
# **Predict first.** With $\alpha = \ln 2$ every weight is half of the one before. What is the rest?
#
# <details><summary>Answer</summary>
#
# 1, because 1/4 + 1/8 + 1/16 + ... = 1/2, which is the first weight. A larger alpha makes the rest smaller than 1, and then no rival can catch up.
#
# </details>
#
# A geometric series gives a short formula. A sum of a thousand terms is as good.

# %% nbgrader={"grade": false, "grade_id": "rest", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rest(alpha):
    """Returns the sum of all weights from rank 2 on, divided by the weight of rank 1."""
    ### BEGIN SOLUTION
    return 1 / (exp(alpha) - 1)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="rest"
# - Divide every term by the first weight. By which factor does each of the terms that are left differ from the one before?
# - "With $r = e^{-\\alpha}$ the rest is $r + r^2 + r^3 + \\dots$, a geometric series whose first term is $r$."
# - "The series is $r / (1 - r)$. Or add up `exp(-alpha * step)` for a thousand steps, beginning at 1."

# %% nbgrader={"grade": true, "grade_id": "test-rest", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
good = lambda found, expected: abs(float(found) - expected) < 1e-4
found = rest(0.8)
assert found is not None, "rest returns nothing: return a number"
assert not good(found, 1.815962), "the first rank is in your sum: begin with rank 2"
assert not good(found, 0.366644), "that is the sum of the later weights as it is: divide it by the first weight"
assert not good(found, exp(0.8) - 1), "that is the first weight divided by the rest: turn the fraction round"
assert not good(found, exp(-0.8)), "that is the second weight alone, divided by the first: add up all the later ones"
assert abs(found - 0.815962) > 0.01 or good(found, 0.815962), f"your sum ends too early: take more terms; with alpha = 0.8 the rest is 0.81596, yours: {found}"
assert good(found, 0.815962), f"with alpha = 0.8 the rest is 0.816; yours: {found}"
assert good(rest(log(2)), 1), f"with alpha = ln 2 the rest is 1; yours: {rest(log(2))}"
assert good(rest(0.3), 2.858278), f"with alpha = 0.3 the rest is 2.858; yours: {rest(0.3)}. If you add up terms, take more of them: the decay is slow"

# %% [markdown]
# The rest for four decays:

# %%
for alpha in (0.3, 0.6, log(2), 0.8):
    print(f"alpha {alpha:.3f}: the later ranks weigh {rest(alpha):.3f} times the first")

# %% [markdown]
# With $\alpha = 0.3$ the later ranks weigh almost three times the first. Find two lists of chunks, with `top_k = 10` and scores that are not negative, in
# which the owner of the best chunk does *not* come first:
#
# - `short` has three chunks, which is the least that will do, and one of them has the highest score alone;
# - in `clear` the best chunk has at least 1.5 times the score of every other chunk. It has ten chunks at most.

# %% nbgrader={"grade": false, "grade_id": "overtaken", "locked": false, "schema_version": 3, "solution": true, "task": false}
def overtaken():
    """Returns two lists of (entity, score): short, clear."""
    ### BEGIN SOLUTION
    short = [("A", 0.9), ("B", 0.8), ("B", 0.8)]
    clear = [("A", 0.9), ("B", 0.6), ("B", 0.6), ("B", 0.6)]
    return short, clear
    ### END SOLUTION


# %% [raw] tags=["hints"] item="overtaken"
# - To whom should all the chunks after the first one belong, and how good may they be?
# - "One rival has all the later chunks. The weights are 0.741, 0.549, 0.407, 0.301: how many of the later ones make up for the first?"
# - "For `short` two chunks of the rival, nearly as good as the first. For `clear` three of them, each with two thirds of the first one's score."

# %% nbgrader={"grade": true, "grade_id": "test-overtaken", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
def first_and_winner(chunks, alpha):
    best = sorted(chunks, key=lambda chunk: -chunk[1])[:10]
    sums = {}
    for rank, (entity, score) in enumerate(best, start=1):
        sums[entity] = sums.get(entity, 0) + score * exp(-alpha * rank)
    return best[0][0], max(sums, key=sums.get)


lists = overtaken()
assert lists is not None and len(lists) == 2, "overtaken returns two lists"
short, clear = ([(entity, float(score)) for entity, score in chunks] for chunks in lists)
assert len(short) == 3, f"short has three chunks; yours has {len(short)}"
assert len(clear) <= 10, f"clear has ten chunks at most; yours has {len(clear)}"
assert min(score for _, score in short + clear) >= 0, "a score is negative: with negative scores the best chunk can lose at any alpha"
second, top = sorted(score for _, score in short)[1:]
assert top > second, "in short no chunk is the best one alone: give the first a higher score than the other two"
assert len({entity for entity, _ in short[:3]}) < 3, "in short every chunk has another owner, so that nobody can catch up: give the later ones to one rival"
first, winner = first_and_winner(short, 0.3)
assert first != winner, f"in short {first} has the best chunk and wins: does the rival have both of the other chunks, and are they good enough?"
top, *others = sorted((score for _, score in clear), reverse=True)
assert others and top >= 1.5 * others[0] - 1e-9, "in clear the best chunk is less than 1.5 times as good as the next"
first, winner = first_and_winner(clear, 0.3)
assert first != winner, f"in clear {first} has the best chunk and wins: how many chunks does a rival need?"
assert all(len(set(first_and_winner(chunks, 0.8))) == 1 for chunks in (short, clear)), "with alpha = 0.8 the owner of the best chunk has to win again"

# %% [markdown]
# Your lists were built to fail. How often does it happen to lists that were not? Here are 2,000 random ones, each with ten chunks of five entities.

# %%
random = Random(0)
drawn = [[(random.choice("ABCDE"), random.random()) for _ in range(10)] for _ in range(2000)]
for alpha in (0.1, 0.3, 0.6, log(2), 0.8):
    firsts = [max(chunks, key=lambda chunk: chunk[1])[0] for chunks in drawn]
    winners = [decayed_scores(chunks, 10, alpha)[0][0] for chunks in drawn]
    lost = sum(winner != first for winner, first in zip(winners, firsts))
    print(f"alpha {alpha:.3f}: in {lost:4} of 2000 lists the best chunk's owner is not first")

# %% [markdown]
# At 0.6 the owner of the best chunk can lose, and in random lists it rarely does. From ln 2 on it cannot.
#
# ## 4. When is it enough?
#
# Eight triples of the corpus `mini_wiki`, an encyclopaedia of a country that does not exist:

# %%
kg = [
    ("Haldry Observatory", "director / manager", "Sunniva Reck"),
    ("Haldry Observatory", "director / manager", "Lucan Vane"),
    ("Sunniva Reck", "award received", "Thrane Medal"),
    ("Lucan Vane", "award received", "Thrane Medal"),
    ("Lucan Vane", "spouse", "Hester Quillfeather"),
    ("Hester Quillfeather", "award received", "Gannet Prize"),
    ("Thrane Medal", "named after", "Adela Thrane"),
    ("Gannet Prize", "founded by", "Agnes Wendle"),
]

# %% [markdown]
# The *content words* of a text are its words without the stop words:

# %%
STOP_WORDS = set("a an and did do does for has have in is of on the to was what which who".split())


def content_words(text):
    """The words of a text in lower case, without the stop words; a set."""
    return set(re.findall(r"\w+", text.lower())) - STOP_WORDS


sorted(content_words("Who is the spouse of the director of Haldry Observatory?"))

# %% [markdown]
# In ToG-2 a language model reads the triples and says whether they are enough. Our rule needs no model. **The evidence is enough when every content word of
# the question stands somewhere in it**, in a head, a relation or a tail. The words may stand in different triples. They have to be whole words.
#
# **Predict first.** *Who is the spouse of the director of Haldry Observatory?* Are the first two triples enough? And the first five?
#
# <details><summary>Answer</summary>
#
# The first two are not: *spouse* is missing. The first five are.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "enough", "locked": false, "schema_version": 3, "solution": true, "task": false}
def enough(question, triples):
    """triples: a list of (head, relation, tail). Returns True or False."""
    ### BEGIN SOLUTION
    evidence = " ".join(part for triple in triples for part in triple)
    return content_words(question) <= content_words(evidence)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="enough"
# - You have two sets of words. What has to hold between them?
# - "Join all parts of all triples into one text and take its content words. Between sets, `<=` asks whether all of the left one stands in the right one."
# - "`\" \".join(part for triple in triples for part in triple)` is the text; compare `content_words` of the question with `content_words` of that text."

# %% nbgrader={"grade": true, "grade_id": "test-enough", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
toy = [("Ann", "mother", "Bob"), ("Bob", "lives in", "Rome")]
assert enough("Who is the mother of Bob?", toy) is not None, "enough returns nothing: return True or False"
assert enough("Who is Ann?", toy[:1]), "Ann is in the evidence, which has more words besides: is the comparison the wrong way round, are stop words in it, or is the head left out?"
assert enough("mother", toy[:1]), "the word mother stands in a relation only: look at all three parts of a triple"
assert enough("Rome", toy), "Rome stands in a tail only: look at heads, relations and tails"
assert enough("Ann Rome", toy), "Ann stands in one triple and Rome in another: the words need not stand in the same one"
assert not enough("Who is the mother of Carl?", toy), "Carl stands nowhere in the evidence: one word that matches does not do, all have to"
assert not enough("Ann mother Bob lives Rome Carl", toy), "five of six words are in the evidence, and Carl is not: all have to be there, not most"
crowd = [(f"w{number}", "is", "here") for number in range(20)]
assert enough("w0", crowd), "w0 stands in the first of twenty triples: read all of them, not the last ones"
assert not enough(" ".join(f"w{number}" for number in range(21)), crowd), "twenty of twenty-one words are in the evidence: every single one has to be"
assert not enough("Who is the other Bob?", toy), "other is only a part of mother: compare whole words, not letters in a text"
assert not enough("Who is Bo?", toy), "Bo is only the beginning of Bob: compare whole words"
assert enough("Who is the manager?", kg[:1]), "the relation is director / manager: take the words of the relation, too, with content_words"
assert enough("ANN? Bob!", toy), "capitals and punctuation do not matter: take content_words of both sides"
assert not enough("Who is Bob?", []), "without evidence nothing about Bob is known"
assert enough("Ann mother Bob", toy[:1]), "question and evidence have the same words, and that is enough: `<=`, not `<`"
assert enough("Is St. Ives in Kent?", [("St. Ives", "lies in", "Kent")]), "St. Ives is in the evidence: take its words with content_words, which drops the full stop, not with split"

# %% [markdown]
# ### The walk
#
# The walk begins at one entity. At each depth it does three things:
#
# 1. It collects the **new** triples: their head is an entity where the walk stands, and they are not in the evidence yet. If there are none, it stops with the
#    reason `NO_RELATION`.
# 2. It adds them to the evidence and moves to their tails.
# 3. It asks the rule about *all* the evidence, once. If the rule says yes, the walk stops with the reason `ENOUGH`.
#
# After `depth` depths it stops with `EXHAUSTED`. It returns the evidence, the reason, and `calls`: how often the rule was asked. (The walk follows every
# relation, and outward only. ToG-2 asks the model for relations, walks both ways, and keeps the W entities with the best decayed scores. Eight triples can
# do without.)
#
# **Predict first.** `depth` is 3, and the rule never says yes. How often is it asked at most?
#
# <details><summary>Answer</summary>
#
# Three times, once for each depth. That holds for every graph and every rule. In the package's ToG-2 a depth costs two calls of the model at most: one to choose
# relations, one to examine the evidence.
#
# </details>
#
# What your walk returns, and the three reasons:

# %%
Walked = namedtuple("Walked", "evidence reason calls")
for reason in (ENOUGH, EXHAUSTED, NO_RELATION):
    print(reason)

# %% [markdown]
# The next cell is for the checks alone: `tried` looks at what your walk hands to its rule, and counts how often.

# %%
handed = []  # what the rule got for its question


def tried(says_yes, start, kg, depth):
    """Your walk, and what its rule was shown at each call; gives up after fifty calls."""
    shown = []

    def rule(question, evidence):
        handed.append(question)
        shown.append(list(evidence))
        if len(shown) > 50:
            raise RecursionError
        return says_yes(evidence)

    try:
        return walk("a question", start, kg, depth, rule), shown
    except RecursionError:
        return None, shown


# %% nbgrader={"grade": false, "grade_id": "walk", "locked": false, "schema_version": 3, "solution": true, "task": false}
def walk(question, start, kg, depth, rule):
    """rule: a function of the question and the evidence, such as `enough`. Returns a Walked."""
    ### BEGIN SOLUTION
    evidence, here = [], {start}
    for step in range(1, depth + 1):
        new = [triple for triple in kg if triple[0] in here and triple not in evidence]
        if not new:
            return Walked(evidence, NO_RELATION, step - 1)
        evidence, here = evidence + new, {tail for _, _, tail in new}
        if rule(question, evidence):
            return Walked(evidence, ENOUGH, step)
    return Walked(evidence, EXHAUSTED, depth)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="walk"
# - Which two things does the walk have to remember from one depth to the next, and at which three places can it end?
# - "Remember the evidence and the set of entities where the walk stands. Inside a `for` loop over the depths there are two ends, after the loop the third."
# - "`for step in range(1, depth + 1)`: collect the new triples; none: return with `NO_RELATION` and `step - 1` calls; otherwise add them, move to their tails,
#   ask the rule, and on yes return with `ENOUGH` and `step` calls."

# %% nbgrader={"grade": true, "grade_id": "test-walk", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
never, chain = (lambda evidence: False), [(f"n{number}", "next", f"n{number + 1}") for number in range(90)]
walked, shown = tried(never, "n0", chain, 3)
assert len(shown) <= 50 and len(chain) == 90, "your walk does not end: with depth 3 it has asked the rule more than fifty times" if len(chain) == 90 else "your walk has changed kg, which the caller needs: look for used triples in the evidence"
assert walked is not None, "walk returns nothing: return Walked(evidence, reason, calls) after the last depth, too"
assert len(walked) == 3 and isinstance(walked[0], list), "walk returns Walked(evidence, reason, calls), where the evidence is a list of triples"
assert shown and set(map(str, handed)) == {"a question"}, "the rule that was handed in is never asked: call rule(question, evidence)" if not shown else "the arguments of your rule are exchanged: first the question" if isinstance(handed[0], list) else f"hand the rule the question that walk was given, as it is; yours: {handed[0]!r}"
assert all(isinstance(triple, tuple) and len(triple) == 3 and isinstance(triple[0], str) for triple in walked[0]), "your evidence does not hold the triples one by one, as they are: add the new list's triples with `+` or `extend`, not the whole list with `append`, and do not join their parts into texts"
assert ("n1", "next", "n2") in walked[0] or walked[1] != NO_RELATION, "after the first depth the walk finds nothing: it has to move on to the tails of the new triples"
assert len(walked[0]) not in (2, 4), "with depth 3 your walk goes two steps: range(1, depth) ends before depth" if len(walked[0]) == 2 else "with depth 3 your walk goes four steps: it goes one too far"
assert sorted(walked[0]) == chain[:3], f"from n0 with depth 3 the evidence is {chain[:3]}; yours: {walked[0]}"
assert all(shown) and [len(seen) for seen in shown] == sorted({len(seen) for seen in shown}), "the rule sees the new triples only: show it all the evidence" if all(shown) else "your walk asks the rule before it has collected anything: collect the new triples and add them first"
assert walked[1] == EXHAUSTED and walked[2] == len(shown) == 3, f"the rule has never said yes, and more triples follow: the reason is EXHAUSTED; yours: {walked[1]!r}" if walked[1] != EXHAUSTED else f"three depths, three calls of the rule; calls says {walked[2]}, and the rule was asked {len(shown)} times"
walked, shown = tried(lambda evidence: True, "n0", chain, 3)
assert walked and walked[1] == ENOUGH, "a rule that says yes at once has to stop the walk with the reason ENOUGH"
assert (len(walked[0]), walked[2]) == (1, 1), "the rule said yes after the first depth, and your walk went on" if len(walked[0]) > 1 else f"one depth, one call; yours: {walked[2]}" if walked[0] else "the rule said yes, and your walk returns the evidence without the new triples: add them first"
walked, shown = tried(never, "n88", chain, 5)
assert walked and chain[88] in walked[0] and chain[87] not in walked[0], "your walk also follows triples against their direction: outward only, from head to tail"
assert walked[1] == NO_RELATION and walked[2] == len(shown) == 2, "the chain ends two steps after n88: where no triple leads on, the reason is NO_RELATION" if walked[1] != NO_RELATION else f"where no triple leads on the rule is not asked again; calls says {walked[2]}, and the rule was asked {len(shown)} times"
ends = [tried(never, "n88", chain, depth)[0][1] for depth in (2, 3)]
assert ends == [EXHAUSTED, NO_RELATION], "the last depth still had a new triple: do not look ahead after it, the reason is EXHAUSTED" if ends[0] != EXHAUSTED else "at the last depth no triple leads on: the reason is NO_RELATION there, too"
walked, shown = tried(lambda evidence: True, "nowhere", chain, 3)
assert walked and not shown and (walked[1], walked[2]) == (NO_RELATION, 0), f"no triple starts at the entity: the walk stops with NO_RELATION before it asks the rule, at the first depth, too; yours: {walked[1]!r}, {len(shown)} calls"
(walked, shown), found = tried(never, "a", [(here, "next", there) for here, there in ("ab", "ba", "ac", "bd", "cd", "de")], 6), tried(never, "Haldry Observatory", kg, 2)
assert walked and len(walked[0]) >= 6, "a triple is missing: follow the tails of all new triples; a triple whose tail was seen before is still new, and only triples that are in the evidence already are left out"
assert (again := walked[0].count(("a", "next", "b"))) == 1 and len(walked[0]) == 6, "in a circle triples are collected again and again: leave out those that are in the evidence" if again != 1 else "b and c lead both to d, and your walk collects the triple from d twice: the places where it stands are a set"
back = tried(never, "a", [("a", "next", "b"), ("b", "next", "a")], 2)[0]
assert walked[1] == NO_RELATION and len(back[0]) == 2, "after the third depth nothing new comes: the reason is NO_RELATION" if walked[1] != NO_RELATION else "at the last depth a triple leads back to where the walk began: it is new all the same"
assert (walked := tried(lambda evidence: ("n2", "next", "n3") in evidence, "n0", chain, 3)[0]) and walked[1] == ENOUGH, "the rule says yes at the last depth: ask it there, too, before you say EXHAUSTED"
assert sorted(found[0][0]) == sorted(kg[:5]), f"two depths from the observatory lead to five triples; yours: {found[0][0]}"
assert found[0][2] == len(found[1]) == 2, f"add all new triples of a depth, then ask the rule once, not once for each triple: two depths, two calls; calls says {found[0][2]}, and the rule was asked {len(found[1])} times"

# %% [markdown]
# The word rule stops the walk from the observatory to the spouse after two depths:

# %%
question = "Who is the spouse of the director of Haldry Observatory?"
walked = walk(question, "Haldry Observatory", kg, 3, enough)
print(f"{walked.reason}, after {walked.calls} calls")
for triple in walked.evidence:
    print("  " + " | ".join(triple))

# %% [markdown]
# ## 5. Too early, or never
#
# The reason says why a walk stopped, not whether it was right to. If the answer is known, as in a test set, two questions tell: did the *rule* stop the
# walk, and does the answer stand in the evidence?
#
# | | the answer is in the evidence | it is not |
# | --- | --- | --- |
# | the rule said yes | `"in time"` | `"too early"` |
# | the rule never said yes | `"unnoticed"` | `"not found"` |
#
# The answer is the name of an entity, and stands in the evidence if some triple has it as its head or its tail.

# %% nbgrader={"grade": false, "grade_id": "outcome", "locked": false, "schema_version": 3, "solution": true, "task": false}
def outcome(walked, answer):
    """walked: what `walk` returns; answer: a name. Returns one of the four words of the table."""
    ### BEGIN SOLUTION
    found = any(answer in (head, tail) for head, _, tail in walked.evidence)
    if walked.reason == ENOUGH:
        return "in time" if found else "too early"
    return "unnoticed" if found else "not found"
    ### END SOLUTION


# %% [raw] tags=["hints"] item="outcome"
# - Each of the two questions has a yes or a no. Which part of `walked` answers the first, and which the second?
# - "`walked.reason == ENOUGH` chooses the row. For the column, look through the triples for one that has the answer at either end."
# - "`any(answer in (head, tail) for head, _, tail in ...)` is the second question; two `if`s, one inside the other, do the rest."

# %% nbgrader={"grade": true, "grade_id": "test-outcome", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
seen = [("Ann", "mother", "Bob"), ("Bob", "lives in", "New Rome")]
cases = {reason: [outcome(Walked(seen, reason, 2), answer) for answer in ("Bob", "Carl")] for reason in (ENOUGH, EXHAUSTED, NO_RELATION)}
assert cases[ENOUGH][0] is not None, "outcome returns nothing: return one of the four words"
assert cases[ENOUGH] != ["too early", "in time"], "the columns are exchanged: a walk that stops without the answer stops too early"
assert cases[ENOUGH] != ["in time", "in time"], "the answer makes no difference in your version: look for it in the evidence"
assert cases[ENOUGH] != ["unnoticed", "not found"], "the rows are exchanged: ENOUGH means that the rule said yes"
assert cases[ENOUGH] == ["in time", "too early"], f"with the reason ENOUGH: in time, too early; yours: {cases[ENOUGH]}"
assert cases[EXHAUSTED] == ["unnoticed", "not found"], f"the greatest depth is no yes of the rule: unnoticed, not found; yours: {cases[EXHAUSTED]}"
assert cases[NO_RELATION] == ["unnoticed", "not found"], f"that nothing leads on is no yes of the rule: unnoticed, not found; yours: {cases[NO_RELATION]}"
assert outcome(Walked([("Ann", "mother", "Bob"), ("Ann", "mother", "Dan")], ENOUGH, 2), "Bob") == "in time", "you look at the last triple only: look through all triples of the evidence"
assert outcome(Walked(seen, ENOUGH, 2), "Ann") == "in time", "the answer may be a head: look at both ends of every triple"
assert outcome(Walked(seen, ENOUGH, 2), "New Rome") == "in time", "the answer may be the tail of any triple, and of the last one, too"
assert outcome(Walked(seen, ENOUGH, 2), "Rome") == "too early", "Rome is not New Rome: compare whole names"
assert outcome(Walked([], NO_RELATION, 0), "Bob") == "not found", "a walk without evidence has not found the answer"
assert outcome(Walked(seen, ENOUGH, 2), "mother") == "too early", "an answer is an entity: the word mother as a relation does not count"

# %% [markdown]
# Three questions from the same start, with the word rule and with two rules that do not look at all. The second asks what the third asks, in the
# words of the graph. (The third is question q09 of the corpus, shortened.)
#
# **Predict first.** For which of the questions does the word rule stop too early, and for which never?
#
# <details><summary>Answer</summary>
#
# Too early for the second: after two depths *director*, *spouse* and *award received* all stand in the evidence, but the award is the Thrane Medal of the
# directors and not the spouse's. Never for the third: *wife* and *win* stand in no triple.
#
# </details>

# %%
asked = {
    "Who is the spouse of the director of Haldry Observatory?": "Hester Quillfeather",
    "Which award has the spouse of the director of Haldry Observatory received?": "Gannet Prize",
    "Which prize did the wife of the director of Haldry Observatory win?": "Gannet Prize",
}
rules = {
    "word rule": enough,
    "always yes": lambda question, evidence: True,
    "never yes": lambda question, evidence: False,
}
for question, answer in asked.items():
    print(question)
    for name, rule in rules.items():
        walked = walk(question, "Haldry Observatory", kg, 3, rule)
        seen = f"{walked.calls} calls, {len(walked.evidence)} triples"
        print(f"  {name:10}  {seen}: {outcome(walked, answer)}")

# %% [markdown]
# - **Too early** costs the answer: the reader gets evidence that seems complete and is not. The words of the question are all there, and the path between them is
#   not checked.
# - **Never** costs calls and room in the prompt: the walk had the answer and went on to its greatest depth. The bound on the depth turns a walk without end into a
#   dear one.
#
# (These are three questions, chosen to show the three cases. How often a rule errs on other questions is not measured here.)
#
# **Now you.** Change `depth` from 3 to 2, and then to 6. Which outcomes change, and which reasons?
#
# <details><summary>Answer</summary>
#
# With 2, every *unnoticed* of the second and the third question becomes *not found*; the first question keeps its outcomes. With 6 no outcome changes, but
# the walks that no yes has stopped end with `NO_RELATION` after four calls.
#
# </details>
#
# ## 6. Compare with the package
#
# The package's `decayed_scores` is what its ToG-2 prunes entities with. On random lists you have to agree. The depth of a walk that is never stopped
# is compared with the distances that `networkx` finds.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
import networkx
from minirag.algorithms.entity_scores import decayed_scores as package_scores

random = Random(1)
for _ in range(200):
    chunks = [(random.choice("ABCDEF"), random.randint(0, 20) / 20) for _ in range(random.randint(0, 15))]
    top_k, alpha = random.choice([1, 3, 10]), random.choice([0.0, 0.3, 0.8])
    theirs, yours = package_scores(chunks, top_k, alpha), decayed_scores(chunks, top_k, alpha)
    assert {entity for entity, _ in theirs} == {entity for entity, _ in yours}, f"for {chunks} the package keeps other entities"
    assert all(close(score, dict(yours)[entity]) for entity, score in theirs), f"for {chunks} the package has other scores"
    assert all(close(a, b) for (_, a), (_, b) in zip(theirs, yours)), f"for {chunks} the package has another order"
for _ in range(60):
    drawn_kg = [(a, "to", b) for a in "abcdefg" for b in "abcdefg" if a != b and random.random() < 0.2]
    depth = random.randint(1, 4)
    near_by = networkx.single_source_shortest_path_length(networkx.DiGraph([("a", "a")] + [(a, b) for a, _, b in drawn_kg]), "a", depth - 1)
    yours, _ = tried(never, "a", drawn_kg, depth)
    assert yours and sorted(yours[0]) == [triple for triple in drawn_kg if triple[0] in near_by], f"in {drawn_kg} the walk of depth {depth} has other triples"

# %% [markdown]
# **To think about.** With $\alpha > \ln 2$ the best chunk decides which entity comes first. What are the other K - 1 chunks for, if the walk keeps W = 3
# entities? And how would you mend the word rule for the second question, so that it asks for a path and not for words?

# %% [raw] tags=["wrong-answers"]
# - item: by-hand
#   name: rank from zero
#   replace: (1, 2, 3, 4)
#   by: (0, 1, 2, 3)
#   hint: A has its full 0.9
# - item: by-hand
#   name: growing weights
#   replace: exp(-0.8
#   by: exp(0.8
#   hint: there is a minus in the exponent
# - item: by-hand
#   name: best chunk only
#   replace: ' + 0.7 * weight[2]'
#   by: ''
#   hint: you count the better one only
# - item: by-hand
#   name: mean of the chunks
#   replace: 0.8 * weight[1] + 0.7 * weight[2]
#   by: (0.8 * weight[1] + 0.7 * weight[2]) / 2
#   hint: you take the mean of B's chunks
# - item: by-hand
#   name: ranks within an entity
#   replace: 0.8 * weight[1] + 0.7 * weight[2]
#   by: 0.8 * weight[0] + 0.7 * weight[1]
#   hint: you rank the chunks of each entity by themselves
# - item: by-hand
#   name: rank of the entity
#   replace: 0.6 * weight[3]
#   by: 0.6 * weight[2]
#   hint: although it is the third entity
# - item: decayed-scores
#   name: sorted in place
#   replace: 'best = sorted(pooled, key=lambda chunk: chunk[1], reverse=True)[:top_k]'
#   by: |-
#     pooled.sort(key=lambda chunk: chunk[1], reverse=True)
#         best = pooled[:top_k]
#   hint: has changed its order
# - item: decayed-scores
#   name: power of the rank
#   replace: exp(-alpha * rank)
#   by: rank**-alpha
#   hint: your weights fall as a power of the rank
# - item: decayed-scores
#   name: not sorted
#   replace: 'sorted(pooled, key=lambda chunk: chunk[1], reverse=True)[:top_k]'
#   by: pooled[:top_k]
#   hint: places in the list as it was given
# - item: decayed-scores
#   name: worst chunk first
#   replace: 'chunk[1], reverse=True)'
#   by: 'chunk[1])[-top_k:]'
#   hint: your best chunk comes last
# - item: decayed-scores
#   name: ranks within an entity
#   replace: exp(-alpha * rank)
#   by: exp(-alpha * (1 + [owner for owner, _ in best[:rank - 1]].count(entity)))
#   hint: your rank begins anew for each entity
# - item: decayed-scores
#   name: entities ranked in place of chunks
#   replace: exp(-alpha * rank)
#   by: exp(-alpha * (1 + list(dict.fromkeys(owner for owner, _ in best)).index(entity)))
#   hint: a rank belongs to a chunk, not to an entity
# - item: decayed-scores
#   name: rank from zero
#   replace: start=1
#   by: start=0
#   hint: every score is e^alpha times too large
# - item: decayed-scores
#   name: growing weights
#   replace: exp(-alpha
#   by: exp(alpha
#   hint: where is the minus?
# - item: decayed-scores
#   name: assigned instead of added
#   replace: totals.get(entity, 0) + score
#   by: score
#   hint: second chunk has replaced the first
# - item: decayed-scores
#   name: best chunk of an entity
#   replace: totals.get(entity, 0) + score * exp(-alpha * rank)
#   by: max(totals.get(entity, 0), score * exp(-alpha * rank))
#   hint: only the best chunk of B counts
# - item: decayed-scores
#   name: weights without scores
#   replace: + score * exp
#   by: + exp
#   hint: multiply each by the chunk's score
# - item: decayed-scores
#   name: mean instead of sum
#   replace: return sorted(totals.items()
#   by: |-
#     owners = [owner for owner, _ in best]
#         totals = {each: total / owners.count(each) for each, total in totals.items()}
#         return sorted(totals.items()
#   hint: you take the mean of B's two chunks
# - item: decayed-scores
#   name: divided by the best chunk's score
#   replace: score * exp(-alpha * rank)
#   by: score / best[0][1] * exp(-alpha * rank)
#   hint: nor by the best chunk's score
# - item: decayed-scores
#   name: divided by the best sum
#   replace: return sorted(totals.items()
#   by: |-
#     totals = {each: total / max(totals.values()) for each, total in totals.items()}
#         return sorted(totals.items()
#   hint: nor by the best sum
# - item: decayed-scores
#   name: reciprocal rank
#   replace: score * exp(-alpha * rank)
#   by: score / (1 + rank)
#   hint: is another decay
# - item: decayed-scores
#   name: weights divided by their sum
#   replace: score * exp(-alpha * rank)
#   by: score * exp(-alpha * rank) / sum(exp(-alpha * place) for place in range(1, len(best) + 1))
#   hint: neither by the sum of the weights
# - item: decayed-scores
#   name: worst entity first
#   replace: 'pair[1], reverse=True)'
#   by: 'pair[1])'
#   hint: turn the last sorting round
# - item: decayed-scores
#   name: alpha fixed
#   replace: -alpha
#   by: '-0.8'
#   hint: 'whatever was asked for: use alpha'
# - item: decayed-scores
#   name: entities in order of first chunks
#   replace: 'sorted(totals.items(), key=lambda pair: pair[1], reverse=True)'
#   by: list(totals.items())
#   hint: sort them by their sums
# - item: decayed-scores
#   name: top_k ignored
#   replace: '[:top_k]'
#   by: ''
#   hint: is top_k used?
# - item: decayed-scores
#   name: top_k entities
#   replace: '[:top_k]'
#   by: "\n    owners = list(dict.fromkeys(owner for owner, _ in best))[:top_k]\n    best = [chunk for chunk in best if chunk[0] in owners]"
#   hint: you keep top_k entities
# - item: decayed-scores
#   name: cut before sorting
#   replace: 'sorted(pooled, key=lambda chunk: chunk[1], reverse=True)[:top_k]'
#   by: 'sorted(pooled[:top_k], key=lambda chunk: chunk[1], reverse=True)'
#   hint: you cut the list before it is sorted
# - item: decayed-scores
#   name: names decide between equal scores
#   replace: 'key=lambda chunk: chunk[1]'
#   by: 'key=lambda chunk: chunk[::-1]'
#   hint: sort by the score alone
# - item: decayed-scores
#   name: equal chunks dropped
#   replace: sorted(pooled, key
#   by: sorted(dict.fromkeys(pooled), key
#   hint: keep every chunk of the list
# - item: decayed-scores
#   name: equal scores share a rank
#   replace: score * exp(-alpha * rank)
#   by: score * exp(-alpha * (1 + [each for _, each in best].index(score)))
#   hint: no two chunks share a rank
# - item: decayed-scores
#   name: scores below zero clipped
#   replace: + score * exp
#   by: + max(score, 0) * exp
#   hint: a score below zero counts as it is
# - item: rest
#   name: first rank included
#   replace: 1 / (exp(alpha) - 1)
#   by: 1 / (1 - exp(-alpha))
#   hint: the first rank is in your sum
# - item: rest
#   name: not divided
#   replace: 1 / (exp(alpha) - 1)
#   by: exp(-alpha) / (exp(alpha) - 1)
#   hint: the sum of the later weights as it is
# - item: rest
#   name: turned round
#   replace: 1 / (exp(alpha) - 1)
#   by: exp(alpha) - 1
#   hint: turn the fraction round
# - item: rest
#   name: second rank only
#   replace: 1 / (exp(alpha) - 1)
#   by: exp(-alpha)
#   hint: that is the second weight alone
# - item: rest
#   name: twenty terms
#   replace: 1 / (exp(alpha) - 1)
#   by: sum(exp(-alpha * step) for step in range(1, 20))
#   hint: the decay is slow
# - item: overtaken
#   name: every chunk another owner
#   replace: '[("A", 0.9), ("B", 0.8), ("B", 0.8)]'
#   by: '[("A", 0.9), ("B", 0.8), ("C", 0.8)]'
#   hint: in short every chunk has another owner
# - item: overtaken
#   name: two chunks
#   replace: '[("A", 0.9), ("B", 0.8), ("B", 0.8)]'
#   by: '[("A", 0.9), ("B", 0.8)]'
#   hint: short has three chunks
# - item: overtaken
#   name: owner of the best chunk wins
#   replace: '[("A", 0.9), ("B", 0.8), ("B", 0.8)]'
#   by: '[("A", 0.9), ("B", 0.8), ("B", 0.1)]'
#   hint: does the rival have both
# - item: overtaken
#   name: nobody is best alone
#   replace: '[("A", 0.9), ("B", 0.8), ("B", 0.8)]'
#   by: '[("A", 1.0), ("B", 1.0), ("B", 1.0)]'
#   hint: no chunk is the best one alone
# - item: overtaken
#   name: negative score
#   replace: '[("A", 0.9), ("B", 0.8), ("B", 0.8)]'
#   by: '[("A", 0.1), ("A", -0.8), ("B", 0.05)]'
#   hint: a score is negative
# - item: overtaken
#   name: clear is not clear
#   replace: '("B", 0.6), ("B", 0.6), ("B", 0.6)]'
#   by: '("B", 0.8), ("B", 0.8), ("B", 0.8)]'
#   hint: less than 1.5 times as good
# - item: overtaken
#   name: one chunk too few
#   replace: '("B", 0.6), ("B", 0.6), ("B", 0.6)]'
#   by: '("B", 0.6), ("B", 0.6)]'
#   hint: how many chunks does a rival need?
# - item: decayed-scores
#   name: weighted mean
#   replace: 'return sorted(totals.items(), key=lambda pair: pair[1], reverse=True)'
#   by: |-
#     weights = {}
#         for rank, (entity, score) in enumerate(best, start=1):
#             weights[entity] = weights.get(entity, 0) + exp(-alpha * rank)
#         return sorted(((e, s / weights[e]) for e, s in totals.items()), key=lambda pair: pair[1], reverse=True)
#   hint: plain or weighted
# - item: enough
#   name: beginnings of words
#   replace: return content_words(question) <= content_words(evidence)
#   by: 'return all(re.search(r"\b" + word, evidence.lower()) for word in content_words(question))'
#   hint: Bo is only the beginning of Bob
# - item: enough
#   name: the last two triples
#   replace: for triple in triples
#   by: for triple in triples[-2:]
#   hint: not the last ones
# - item: enough
#   name: nine words of ten are enough
#   replace: return content_words(question) <= content_words(evidence)
#   by: 'asked = content_words(question); return len(asked & content_words(evidence)) >= 0.9 * len(asked)'
#   hint: twenty of twenty-one words
# - item: enough
#   name: one triple has to hold all
#   replace: return content_words(question) <= content_words(evidence)
#   by: 'return any(content_words(question) <= content_words(" ".join(triple)) for triple in triples)'
#   hint: the words need not stand in the same one
# - item: enough
#   name: most words are enough
#   replace: return content_words(question) <= content_words(evidence)
#   by: 'asked = content_words(question); return len(asked & content_words(evidence)) >= 0.75 * len(asked)'
#   hint: all have to be there, not most
# - item: enough
#   name: comparison turned round
#   replace: content_words(question) <= content_words(evidence)
#   by: content_words(question) >= content_words(evidence)
#   hint: is the comparison the wrong way round
# - item: enough
#   name: more words than the question
#   replace: content_words(question) <= content_words(evidence)
#   by: content_words(question) < content_words(evidence)
#   hint: '`<=`, not `<`'
# - item: enough
#   name: evidence split at spaces
#   replace: content_words(evidence)
#   by: set(evidence.lower().split())
#   hint: which drops the full stop
# - item: enough
#   name: stop words required
#   replace: content_words(question) <= content_words(evidence)
#   by: set(re.findall(r"\w+", question.lower())) <= content_words(evidence)
#   hint: are stop words in it
# - item: enough
#   name: one word does
#   replace: content_words(question) <= content_words(evidence)
#   by: bool(content_words(question) & content_words(evidence))
#   hint: one word that matches does not do
# - item: enough
#   name: relations left out
#   replace: for part in triple)
#   by: for part in triple[::2])
#   hint: the word mother stands in a relation
# - item: enough
#   name: tails left out
#   replace: for part in triple)
#   by: for part in triple[:2])
#   hint: Rome stands in a tail only
# - item: enough
#   name: letters in a text
#   replace: content_words(question) <= content_words(evidence)
#   by: all(word in evidence.lower() for word in content_words(question))
#   hint: other is only a part of mother
# - item: walk
#   name: depth ignored
#   replace: range(1, depth + 1)
#   by: range(1, 1000)
#   hint: your walk does not end
# - item: walk
#   name: one depth short
#   replace: range(1, depth + 1)
#   by: range(1, depth)
#   hint: range(1, depth) ends before depth
# - item: walk
#   name: one depth too many
#   replace: range(1, depth + 1)
#   by: range(1, depth + 2)
#   hint: it goes one too far
# - item: walk
#   name: both directions
#   replace: 'triple[0] in here and triple not in evidence'
#   by: '(triple[0] in here or triple[2] in here) and triple not in evidence'
#   hint: outward only
# - item: walk
#   name: never moves
#   replace: '{tail for _, _, tail in new}'
#   by: '{start}'
#   hint: it has to move on to the tails
# - item: walk
#   name: rule not asked
#   replace: rule(question, evidence)
#   by: enough(question, evidence)
#   hint: the rule that was handed in is never asked
# - item: walk
#   name: rule sees the last depth only
#   replace: rule(question, evidence)
#   by: rule(question, new)
#   hint: the rule sees the new triples only
# - item: walk
#   name: always enough in the end
#   replace: EXHAUSTED
#   by: ENOUGH
#   hint: 'more triples follow: the reason is EXHAUSTED'
# - item: walk
#   name: one call too many
#   replace: Walked(evidence, EXHAUSTED, depth)
#   by: Walked(evidence, EXHAUSTED, depth + 1)
#   hint: three depths, three calls of the rule
# - item: walk
#   name: goes on after yes
#   replace: |-
#     if rule(question, evidence):
#                 return Walked(evidence, ENOUGH, step)
#   by: |-
#     said = rule(question, evidence)
#             if said and step == depth:
#                 return Walked(evidence, ENOUGH, step)
#   hint: and your walk went on
# - item: walk
#   name: asks before it collects
#   replace: "new = [triple for triple in kg if triple[0] in here and triple not in evidence]"
#   by: |-
#     if rule(question, evidence):
#                 return Walked(evidence, ENOUGH, step)
#             new = [triple for triple in kg if triple[0] in here and triple not in evidence]
#   hint: before it has collected anything
# - item: walk
#   name: dead end taken for the depth
#   replace: NO_RELATION
#   by: EXHAUSTED
#   hint: 'two steps after n88: where no triple leads on'
# - item: walk
#   name: dead end counted as a call
#   replace: step - 1
#   by: step
#   hint: the rule is not asked again
# - item: walk
#   name: triples collected again
#   replace: ' and triple not in evidence'
#   by: ''
#   hint: in a circle triples are collected again
# - item: walk
#   name: places in a list, each triple once for each place
#   replace: |-
#     new = [triple for triple in kg if triple[0] in here and triple not in evidence]
#             if not new:
#                 return Walked(evidence, NO_RELATION, step - 1)
#             evidence, here = evidence + new, {tail for _, _, tail in new}
#   by: |-
#     new = [triple for at in here for triple in kg if triple[0] == at and triple not in evidence]
#             if not new:
#                 return Walked(evidence, NO_RELATION, step - 1)
#             evidence, here = evidence + new, [tail for _, _, tail in new]
#   hint: the places where it stands are a set
# - item: walk
#   name: whole list appended
#   replace: evidence + new
#   by: evidence + [new]
#   hint: not the whole list with `append`
# - item: walk
#   name: triples joined into texts
#   replace: evidence + new
#   by: 'evidence + [" ".join(triple) for triple in new]'
#   hint: do not join their parts into texts
# - item: walk
#   name: arguments of the rule exchanged
#   replace: rule(question, evidence)
#   by: rule(evidence, question)
#   hint: the arguments of your rule are exchanged
# - item: walk
#   name: rule asked about the start
#   replace: rule(question, evidence)
#   by: rule(start, evidence)
#   hint: hand the rule the question that walk was given
# - item: walk
#   name: returned without the new triples
#   replace: Walked(evidence, ENOUGH, step)
#   by: Walked(evidence[:-len(new)], ENOUGH, step)
#   hint: returns the evidence without the new triples
# - item: walk
#   name: used triples removed
#   replace: evidence, here = evidence + new
#   by: |-
#     kg[:] = [triple for triple in kg if triple not in new]
#             evidence, here = evidence + new
#   hint: your walk has changed kg
# - item: walk
#   name: rule asked after each triple
#   replace: |-
#     evidence, here = evidence + new, {tail for _, _, tail in new}
#             if rule(question, evidence):
#                 return Walked(evidence, ENOUGH, step)
#   by: |-
#     here = {tail for _, _, tail in new}
#             for triple in new:
#                 evidence = [*evidence, triple]
#                 if rule(question, evidence):
#                     return Walked(evidence, ENOUGH, step)
#   hint: once, not once for each triple
# - item: walk
#   name: new triples that lead back are dropped at the end
#   replace: if not new
#   by: if not new or all(tail in {start, *(t for _, _, t in evidence)} for _, _, tail in new)
#   hint: leads back to where the walk began
# - item: walk
#   name: a dead end at the last depth called exhausted
#   replace: return Walked(evidence, NO_RELATION, step - 1)
#   by: return Walked(evidence, EXHAUSTED if step == depth and step > 1 else NO_RELATION, step - 1)
#   hint: at the last depth no triple leads on
# - item: walk
#   name: last depth not examined
#   replace: if rule(question, evidence)
#   by: if rule(question, evidence) and step < depth
#   hint: the rule says yes at the last depth
# - item: outcome
#   name: columns exchanged
#   replace: '"in time" if found else "too early"'
#   by: '"too early" if found else "in time"'
#   hint: the columns are exchanged
# - item: outcome
#   name: rows exchanged
#   replace: walked.reason == ENOUGH
#   by: walked.reason != ENOUGH
#   hint: the rows are exchanged
# - item: outcome
#   name: answer not looked for
#   replace: '"in time" if found else "too early"'
#   by: '"in time"'
#   hint: the answer makes no difference
# - item: outcome
#   name: depth taken for a yes
#   replace: walked.reason == ENOUGH
#   by: walked.reason in (ENOUGH, EXHAUSTED)
#   hint: the greatest depth is no yes
# - item: outcome
#   name: dead end taken for a yes
#   replace: walked.reason == ENOUGH
#   by: walked.reason != EXHAUSTED
#   hint: that nothing leads on is no yes
# - item: outcome
#   name: tails only
#   replace: answer in (head, tail)
#   by: answer == tail
#   hint: the answer may be a head
# - item: outcome
#   name: last triple only
#   replace: for head, _, tail in walked.evidence
#   by: 'for head, _, tail in walked.evidence[-1:]'
#   hint: you look at the last triple only
# - item: outcome
#   name: part of a name
#   replace: answer in (head, tail)
#   by: (answer in head or answer in tail)
#   hint: Rome is not New Rome
# - item: outcome
#   name: relations count
#   replace: answer in (head, tail) for head, _, tail in walked.evidence
#   by: answer in triple for triple in walked.evidence
#   hint: an answer is an entity
