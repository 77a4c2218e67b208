# ---
# jupyter:
#   minirag:
#     title: Chunking and BM25
#     minutes: 35
# ---

# %% [markdown]
# # Exercise 1: chunking and BM25
#
# Before any graph there is a search over pieces of text. You cut a text into windows that overlap, count in how many pieces a word stands,
# and put both together into BM25, the ranking that every graph method has to beat.
#
# **You will be able to** say where a window begins and ends, why a rare word usually weighs more than a common one, and what BM25 does with a word that
# stands almost everywhere.
#
# 35 minutes, no model, no network. Write your code where it says `YOUR CODE HERE`; the cell after it checks it and tells you in a sentence what
# it misses. In a terminal, `minirag check 01` does the same for the whole notebook.

# %%
import math
from collections import Counter

from minirag.algorithms.bm25 import tokenize

passages = [
    "The harbour master keeps the tide tables in the old customs house.",
    "The old lighthouse was lit with whale oil until 1871, "
    + "and the keeper slept beneath the lamp.",
    "Whale oil was landed in the harbour, boiled on the quay and sold by the barrel, "
    + "barrel after barrel.",
    "The customs house burned in 1902; the tide tables were saved, the ledgers were not.",
    "A keeper wrote the weather down every night.",
]
documents = [tokenize(passage) for passage in passages]
[len(document) for document in documents]

# %% [markdown]
# ## 1. Windows
#
# A text of `count` tokens is cut into windows of `size` tokens. Neighbours share `overlap` tokens, which is less than `size`. A fact of up to
# `overlap + 1` tokens that lies across a cut is then whole in one of them. The last window may be shorter. It is the first one that reaches the end: one more would only repeat what is there.
#
# **Predict first.** Eleven tokens, numbered 0 to 10, `size` 5, `overlap` 2. At which tokens do the windows begin, and how many are there?
#
# <details><summary>Answer</summary>
#
# They begin at 0, 3 and 6. The third holds 6, 7, 8, 9 and 10: it reaches the end, so there are three.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "windows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def windows(count, size, overlap):
    """[(first, last), ...]: a window holds the tokens first, ..., last - 1. overlap < size."""
    ### BEGIN SOLUTION
    found = []
    for first in range(0, count, size - overlap):
        found.append((first, min(first + size, count)))
        if first + size >= count:
            break
    return found
    ### END SOLUTION


# %% [raw] tags=["hints"] item="windows"
# - How far apart do two neighbouring windows begin, if they share `overlap` tokens? Write that down for `size` 5 and `overlap` 2 first.
# - "`range(0, count, step)` gives you every beginning. Two things remain: a window must not end behind the last token,
#   and nothing may follow the window that reaches it."
# - "The step is `size - overlap`; a window ends at `min(first + size, count)`; after appending it, `break` if `first + size >= count`."

# %% nbgrader={"grade": true, "grade_id": "test-windows", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
found = windows(11, 5, 2)
assert found is not None, "windows returns nothing: the list has to be returned at the end"
found = [tuple(window) for window in found]
begins = [first for first, last in found]
assert begins[:3] != [0, 5, 10], "your windows do not overlap: the next one has to begin before the last one ends"
assert begins[:3] == [0, 3, 6], f"with size 5 and overlap 2 the windows begin at 0, 3, 6; yours begin at {begins}: how many tokens do neighbours share?"
assert found[:3] == [(0, 5), (3, 8), (6, 11)], f"the windows begin where they should, but do they hold 5 tokens each? Yours: {found}"
assert len(found) == 3, f"the window (6, 11) reaches the end; what follows it only repeats its tokens. Yours: {found}"
clipped = [tuple(window) for window in windows(10, 5, 2)]
assert clipped[-1][1] <= 10, f"a text of 10 tokens has no token behind the tenth, but your last window is {clipped[-1]}: it has to end with the text"
nine = [tuple(window) for window in windows(9, 5, 2)]
assert nine and nine[-1][1] == 9, f"a text of 9 tokens: your last window is {nine[-1:]}, and the last token is in none; go on until a window reaches the end"
assert clipped == [(0, 5), (3, 8), (6, 10)], f"10 tokens, size 5, overlap 2 gives (0, 5), (3, 8), (6, 10); yours: {clipped}"
assert [tuple(window) for window in windows(3, 10, 2)] == [(0, 3)], "a text shorter than one window is one window, as long as the text"
assert [tuple(window) for window in windows(2, 5, 2)] == [(0, 2)], "a text no longer than the overlap is still one window: does your loop stop before it begins?"
assert [tuple(window) for window in windows(0, 10, 2)] == [], "a text without tokens has no windows"

# %% [markdown]
# What a window does to a fact: with windows of eight tokens and no overlap, the words *tide tables* of the first passage and the house in which they
# are kept lie on two sides of a cut. Three tokens of overlap put them together again. That is luck: they promise it for four tokens, and *tide tables in
# the old customs house* has seven. The second window happens to begin with *tide*.

# %%
words = documents[0]
for overlap in (0, 3):
    cuts = windows(len(words), 8, overlap)
    print(f"overlap {overlap}:", [" ".join(words[first:last]) for first, last in cuts])

# %% [markdown]
# ## 2. In how many passages does a word stand?
#
# A word is rare if few *passages* have it. How often it is repeated inside one of them does not matter here.
#
# **Predict first.** "barrel" is said three times above. What is its document frequency?
#
# <details><summary>Answer</summary>
#
# One: all three are in the same passage.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "document-frequency", "locked": false, "schema_version": 3, "solution": true, "task": false}
def document_frequency(documents):
    """documents: lists of tokens. Returns a dict: word -> number of documents that hold it."""
    ### BEGIN SOLUTION
    return Counter(word for document in documents for word in set(document))
    ### END SOLUTION


# %% [raw] tags=["hints"] item="document-frequency"
# - Look at "barrel" above. What has to happen to a document before its words are counted?
# - A `Counter` counts whatever it is fed. Feed it each word of a document once.
# - "`set(document)` holds every word once: `Counter(word for document in documents for word in set(document))`."

# %% nbgrader={"grade": true, "grade_id": "test-document-frequency", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = document_frequency([["sea", "sea", "sea"], ["sea", "salt"], ["sand", "seaside"]])
assert found is not None, "document_frequency returns nothing: the counts have to be returned"
assert found["sea"] != 4, "you count how often a word is said; count the documents that hold it, each once"
assert found["sea"] != 3, "you count seaside as sea: compare whole words, not their letters in a joined text"
assert dict(found) == {"sea": 2, "salt": 1, "sand": 1, "seaside": 1}, f"sea stands in 2 documents, every other word in 1; yours: {dict(found)}"

# %% [markdown]
# ## 3. How much a word weighs
#
# With $N$ documents, $n_w$ of which hold the word $w$, BM25 weighs it by its inverse document frequency
#
# $$\mathrm{idf}(w) = \ln\frac{N - n_w + 0.5}{n_w + 0.5}.$$
#
# **Predict first.** What is the sign of this for a word that stands in more than half of the documents? What would a search engine do with it?
#
# <details><summary>Answer</summary>
#
# It is negative: a document would be punished for holding a word of the question. So a negative value is replaced by a substitute weight: a share `epsilon` of the
# mean idf over the whole vocabulary, negative values included, as they were computed.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "idf", "locked": false, "schema_version": 3, "solution": true, "task": false}
def idf(documents, epsilon=0.25):
    """Returns a dict: word -> weight; a negative one becomes epsilon times the mean of all."""
    ### BEGIN SOLUTION
    values = {}
    for word, n in document_frequency(documents).items():
        values[word] = math.log((len(documents) - n + 0.5) / (n + 0.5))
    substitute = epsilon * sum(values.values()) / len(values)
    return {word: value if value >= 0 else substitute for word, value in values.items()}
    ### END SOLUTION


# %% [raw] tags=["hints"] item="idf"
# - "Two steps: first the formula for every word, then a second look at the values that came out negative."
# - The mean is taken over the values as the formula gives them, one for each word of the vocabulary, before anything is replaced.
# - "With `values` a dict from word to the formula's value: `substitute = epsilon * sum(values.values()) / len(values)`, and every value below 0 becomes `substitute`."

# %% nbgrader={"grade": true, "grade_id": "test-idf", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
six = [["the", "sea", "is", "wide", "wide"], ["the", "salt"], ["the", "sea"], ["the", "sea", "gull"], ["a", "quay"], ["rope"]]
found = idf(six)
assert found is not None, "idf returns nothing: the weights have to be returned"
assert found["salt"] > found["sea"], "a rare word has to weigh more than a common one: is the fraction upside down?"
assert abs(found["salt"] - math.log(1 + 5.5 / 1.5)) > 1e-9, "you add 1 under the logarithm, as Lucene does, where no weight is negative; the variant here has no 1"
assert abs(found["salt"] - math.log(5.5 / 1.5)) < 1e-9, f"salt stands in 1 of 6 documents: ln(5.5 / 1.5) = 1.299; yours: {found['salt']:.3f}"
assert abs(found["wide"] - found["salt"]) < 1e-9, "wide is said twice in one document, salt once: both stand in one document, so both weigh the same"
own = math.log(2.5 / 4.5)
raw = [own, 0, *[math.log(5.5 / 1.5)] * 7]
assert abs(found["sea"] - 0.25 * sum(raw) / 9) > 1e-9, "sea has the weight 0 and gets the substitute in your version: only negative weights are replaced; 0 stays as it is, and so does a positive weight below the substitute"
assert found["sea"] == 0, f"sea stands in exactly half of the documents: ln(3.5 / 3.5) = 0, and 0 is not negative; yours: {found['sea']:.3f}"
assert abs(found["the"] - own) > 1e-9, "the word `the` keeps its negative weight: here the epsilon rule has to step in"
assert found["the"] != 0, "negative weights become 0 in your version; the rule gives them a small share of the mean instead"
assert abs(found["the"] - abs(own)) > 1e-9, "you drop the sign of a negative weight; a substitute takes its place"
assert abs(abs(found["the"]) - 0.25 * abs(own)) > 1e-9, "you take a share of the word's own weight; the rule takes it of the mean over the vocabulary, one substitute for every negative word"
only_positive = 0.25 * sum(value for value in raw if value >= 0) / sum(value >= 0 for value in raw)
assert abs(found["the"] - only_positive) > 1e-9, "you leave the negative values out of the mean; it is taken over all words, as the formula gives them"
assert abs(found["the"] - 0.25 * sum(raw) / 6) > 1e-9, "you divide the sum of the weights by the number of documents; the mean has one term for each word of the vocabulary"
assert abs(found["the"] - 0.25 * sorted(raw)[4]) > 1e-9, "you take the median of the weights; the rule takes their mean"
said = 0.25 * sum(n * value for n, value in zip((4, 3, 2, 1, 1, 1, 1, 1, 1), raw)) / 15
assert abs(found["the"] - said) > 1e-9, "your mean counts a word as often as it is said; each word of the vocabulary counts once"
assert abs(found["the"] - 0.25 * sum(map(abs, raw)) / 9) > 1e-9, "your mean takes negative weights without their sign; they count as the formula gives them"
assert abs(found["the"] - 0.25 * sum(raw) / 9) < 1e-9, f"`the` gets a quarter of the mean, {0.25 * sum(raw) / 9:.4f}; yours: {found['the']:.4f}"
assert abs(idf(six, epsilon=1)["the"] - sum(raw) / 9) < 1e-9, "with epsilon = 1 a negative weight becomes the whole mean: is epsilon used?"
mean, found = (2 * math.log(0.5 / 3.5) + 3 * math.log(2.5 / 1.5)) / 5, idf([["a", "b", "c"], ["a", "b", "d"], ["a", "b", "e"]], epsilon=1)
assert abs(found["a"] - found["b"]) < 1e-9, "two words with the same negative weight get two substitutes in your version: compute the mean once, before you replace anything"
assert abs(found["a"] + mean) > 1e-9, "here the mean of the weights is negative, and you drop its sign; the substitute is then negative, too"
assert abs(found["a"] - mean) < 1e-9, f"here the mean of the weights is negative, {mean:.3f}, and with epsilon = 1 it is the substitute; yours: {found['a']:.3f}"

# %% [markdown]
# ## 4. BM25
#
# A passage gets, for every word of the question that it holds,
#
# $$\mathrm{idf}(w)\,\frac{f\,(k_1 + 1)}{f + k_1\left(1 - b + b\,\frac{\mathrm{length}}{\mathrm{mean\ length}}\right)},$$
#
# where $f$ is how often the passage says $w$. Repetition helps less and less ($k_1$), and a long passage has to say a word more often than a short
# one ($b$). A word that the question says twice counts twice; one that no passage holds has no weight and counts nothing.
#
# **Predict first.** Two passages say "quay" once. One has 5 words, the other 50. Which scores higher, and does `b = 0` change that?
#
# <details><summary>Answer</summary>
#
# The short one. With `b = 0` length is ignored, and they are equal.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "bm25", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bm25(documents, query, k1=1.5, b=0.75, epsilon=0.25):
    """query: a list of tokens, known or not. Returns a list of scores, one for each document."""
    ### BEGIN SOLUTION
    weight = idf(documents, epsilon)
    mean_length = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        f = Counter(document)
        damping = k1 * (1 - b + b * len(document) / mean_length)
        score = 0
        for word in query:
            if word in f:
                score += weight[word] * f[word] * (k1 + 1) / (f[word] + damping)
        scores.append(score)
    return scores
    ### END SOLUTION


# %% [raw] tags=["hints"] item="bm25"
# - What in the formula belongs to the word, what to the passage, and what to the whole collection? Compute each outside of the loops that it does not need.
# - Count a passage's words with `Counter`; what stands beside `f` below the line depends on the passage only.
#   Skip words of the question that the passage does not hold.
# - "For each document: `damping = k1 * (1 - b + b * len(document) / mean_length)`,
#   and the sum over `word in query` of `weight[word] * f[word] * (k1 + 1) / (f[word] + damping)`."

# %% nbgrader={"grade": true, "grade_id": "test-bm25", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
short, long, others, three, weight = ["quay", "sand"], ["quay", *"aaaabbbb"], [["tide"], ["oar"], ["net"], ["gull"]], [["a", "b"], ["a", "c"], ["a", "d"]], math.log(4.5 / 2.5)
fraction = lambda f, k1, length, mean: f * (k1 + 1) / (f + k1 * (0.25 + 0.75 * length / mean))
assert max(abs(idf([short, long, *others])["quay"] - weight), abs(idf([["quay"] * 4, ["rope"] * 4, *others])["quay"] - math.log(5.5 / 1.5))) < 1e-9, "bm25 builds on idf, and idf is not right yet: mend that first"
found = bm25([short, long, *others], ["quay"])
assert hasattr(found, "__len__") and len(found) == 6, "bm25 returns one score for each document, in their order"
assert [float(score) for score in found[2:]] == [0] * 4, f"a document without any word of the question scores 0; yours score {found[2:]}"
assert found[0] >= found[1], "a long passage outscores a short one in your version: the length stands over the mean length, not under it"
flat = bm25([short, long, *others], ["quay"], b=0)
assert abs(flat[0] - flat[1]) < 1e-9, "with b = 0 the length must not matter: is b in both of its places?"
assert abs(flat[0] - weight / 2.5) > 1e-9, "the factor (k1 + 1) above the line is missing"
assert abs(flat[0] - weight) < 1e-9, f"with b = 0 and f = 1 the fraction is 1, so the score is the idf, {weight:.3f}; yours: {flat[0]:.3f}"
assert found[0] > found[1] + 1e-9, "the passages' length has no effect in your version: b times the length over the mean length is missing"
for mean, why in ((1, "you compare with the median length, here 1; the formula has the mean length, here 2.5"), (15 / 8, "you divide the number of all words by the size of the vocabulary; the mean length is taken over the documents"), (1.5, "your mean length counts each word of a passage once; it counts every word, repetitions included")):
    assert abs(found[0] - weight * fraction(1, 1.5, 2, mean)) > 1e-9, why
assert abs(found[1] - weight * fraction(1, 1.5, 3, 2.5)) > 1e-9, "a passage that says a word four times is longer than one that says it once: its length counts every word, repetitions included"
assert abs(found[0] - weight * 2.5 / (1 + 1.5 * 0.25 + 0.75 * 2 / 2.5)) > 1e-9, "k1 stands before the whole bracket: it multiplies b times the length over the mean length, too"
negative, near = idf(three, epsilon=1)["a"], bm25([["quay", "quays"], ["quay", "ropes"], ["quay", "ropemaker"], *others], ["quay"])
assert abs(near[0] - near[1]) < 1e-9, "you count quays as quay: compare whole words, not their letters in a joined text"
assert abs(near[1] - near[2]) < 1e-9, "your lengths count letters: two passages of two words each are equally long, whatever the words"
assert abs(found[0] - weight * fraction(1, 1.5, 2, 2.5)) < 1e-9, f"2 words, mean length 2.5, f = 1: the formula gives {weight * fraction(1, 1.5, 2, 2.5):.3f}; yours: {found[0]:.3f}. How do you compute the two lengths?"
twice = bm25([short, long, *others], ["quay", "quay", "sea"])
assert abs(twice[0] - found[0]) > 1e-9, "the question says quay twice, and your score does not change: go through its words, repetitions included"
assert abs(twice[0] - 2 * found[0]) < 1e-9, "a word that the question says twice counts twice, an unknown word not at all"
repeated, expected = bm25([["quay"] * 4, ["rope"] * 4, *others], ["quay"], k1=2), math.log(5.5 / 1.5) * fraction(4, 2, 4, 2)
assert abs(repeated[0] - bm25([["quay"] * 4, ["rope"] * 4, *others], ["quay"], k1=1)[0]) > 1e-9, "k1 has no effect in your version: use the argument, not a number"
assert abs(repeated[0] - math.log(5.5 / 1.5) * fraction(1, 2, 4, 2)) > 1e-9, "the passage says quay four times and you count it once: f is how often the passage says the word"
assert abs(repeated[0] - expected) < 1e-9, f"quay said 4 times, k1 = 2: the formula gives {expected:.3f}; yours: {repeated[0]:.3f}. Is k1 in both of its places?"
assert not negative or bm25(three, ["a"], b=0, epsilon=1)[0], "a word whose weight is negative does not count in your version: it counts, with the weight that idf gives it"
assert abs(bm25(three, ["a"], b=0, epsilon=1)[0] - negative) < 1e-9, f"with epsilon = 1 idf gives the word {negative:.3f}, and bm25 has to count just that: do you hand epsilon on?"
assert abs(bm25([["a", "b"], ["a", "a", "c"], ["a", "d"]], ["b"])[0] - idf(three)["b"] * fraction(1, 1.5, 2, 7 / 3)) < 1e-9, "a passage's length counts each of its words, also one that is common or whose weight is negative: yours leaves some out"

# %% [markdown]
# Which passage tells where whale oil was boiled? The lighthouse burned whale oil, too, but nobody boils it there; three passages share no word with
# the question.

# %%
question = tokenize("Where was whale oil boiled?")
for score, passage in sorted(zip(bm25(documents, question), passages), reverse=True):
    print(f"{score:6.3f}  {passage}")

# %% [markdown]
# ## 5. Compare with the package
#
# `minirag.chunk_tokens` cuts real documents, and `minirag.algorithms.bm25.BM25` computes everything that does not depend on the question once, as
# sparse arrays. Both have to agree with you.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from minirag import Document, chunk_tokens
from minirag.algorithms.bm25 import BM25

for count, size, overlap in [(43, 10, 0), (43, 10, 3), (43, 7, 6), (43, 50, 5), (3, 7, 6)]:
    words = [f"w{number}" for number in range(count)]
    theirs = [chunk.text for chunk in chunk_tokens(Document("d", " ".join(words)), size, overlap)]
    yours = [" ".join(words[first:last]) for first, last in windows(count, size, overlap)]
    assert yours == theirs, f"chunk_tokens cuts {count} tokens differently for size {size} and overlap {overlap}"
for query in ("the tide tables", "whale oil and the keeper", "the barrel, the barrel!"):
    theirs, yours = BM25(documents).scores(tokenize(query)), bm25(documents, tokenize(query))
    assert max(abs(a - b) for a, b in zip(theirs, yours)) < 1e-9, f"the package scores {query!r} differently"

# %% [markdown]
# **To think about.** BM25 sees words, not meanings: for the one word *pier* the passage with the quay scores nothing. And it sees one passage at a
# time: no ranking of single passages can join what the first and the fourth say about the tide tables. The next exercises mend the one and the other.

# %% [raw] tags=["wrong-answers"]
# - item: windows
#   name: overlap off by one
#   replace: range(0, count, size - overlap)
#   by: range(0, count, size - overlap + 1)
#   hint: how many tokens do neighbours share?
# - item: windows
#   name: overlap ignored
#   replace: range(0, count, size - overlap)
#   by: range(0, count, size)
#   hint: your windows do not overlap
# - item: windows
#   name: a window too many
#   replace: if first + size >= count
#   by: if first >= count
#   hint: what follows it only repeats its tokens
# - item: windows
#   name: the end not clipped
#   replace: min(first + size, count)
#   by: first + size
#   hint: it has to end with the text
# - item: windows
#   name: no window for a text as short as the overlap
#   replace: range(0, count, size - overlap)
#   by: range(0, count - overlap, size - overlap)
#   hint: a text no longer than the overlap is still one window
# - item: document-frequency
#   name: occurrences instead of documents
#   replace: set(document)
#   by: document
#   hint: count the documents that hold it
# - item: document-frequency
#   name: letters in a joined text instead of words
#   replace: Counter(word for document in documents for word in set(document))
#   by: "{word: sum(word in ' '.join(other) for other in documents) for document in documents for word in document}"
#   hint: you count seaside as sea
# - item: idf
#   name: no epsilon rule
#   replace: value if value >= 0 else substitute
#   by: value
#   hint: here the epsilon rule has to step in
# - item: idf
#   name: negative weights cut at zero
#   replace: else substitute
#   by: else 0
#   hint: negative weights become 0 in your version
# - item: idf
#   name: mean of the positive weights only
#   replace: substitute = epsilon * sum(values.values()) / len(values)
#   by: substitute = epsilon * sum(v for v in values.values() if v >= 0) / sum(v >= 0 for v in values.values())
#   hint: you leave the negative values out of the mean
# - item: idf
#   name: mean divided by the number of documents
#   replace: substitute = epsilon * sum(values.values()) / len(values)
#   by: substitute = epsilon * sum(values.values()) / len(documents)
#   hint: you divide the sum of the weights by the number of documents
# - item: idf
#   name: the mean drifts while weights are replaced
#   replace: "{word: value if value >= 0 else substitute for word, value in values.items()}"
#   by: "[values.update({w: epsilon * sum(values.values()) / len(values)}) for w in list(values) if values[w] < 0] and values or values"
#   hint: compute the mean once, before you replace anything
# - item: idf
#   name: a share of the word's own weight
#   replace: else substitute
#   by: else epsilon * abs(value)
#   hint: you take a share of the word's own weight
# - item: idf
#   name: median of the weights
#   replace: substitute = epsilon * sum(values.values()) / len(values)
#   by: substitute = epsilon * sorted(values.values())[len(values) // 2]
#   hint: you take the median of the weights
# - item: idf
#   name: mean over all tokens
#   replace: substitute = epsilon * sum(values.values()) / len(values)
#   by: substitute = epsilon * sum(values[w] for d in documents for w in d) / sum(map(len, documents))
#   hint: each word of the vocabulary counts once
# - item: idf
#   name: mean of absolute values
#   replace: substitute = epsilon * sum(values.values()) / len(values)
#   by: substitute = epsilon * sum(map(abs, values.values())) / len(values)
#   hint: negative weights without their sign
# - item: idf
#   name: fraction upside down
#   replace: (len(documents) - n + 0.5) / (n + 0.5)
#   by: (n + 0.5) / (len(documents) - n + 0.5)
#   hint: is the fraction upside down?
# - item: idf
#   name: a one under the logarithm
#   replace: math.log((len(documents) - n + 0.5) / (n + 0.5))
#   by: math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
#   hint: as Lucene does
# - item: idf
#   name: the sign dropped
#   replace: "{word: value if value >= 0 else substitute for word, value in values.items()}"
#   by: "{word: abs(value) for word, value in values.items()}"
#   hint: you drop the sign of a negative weight
# - item: idf
#   name: words counted as often as they are said
#   replace: document_frequency(documents).items()
#   by: Counter(word for document in documents for word in document).items()
#   hint: both stand in one document
# - item: bm25
#   name: negative weights dropped
#   replace: if word in f
#   by: if word in f and weight[word] > 0
#   hint: a word whose weight is negative does not count
# - item: bm25
#   name: the bracket closed too early
#   replace: k1 * (1 - b + b * len(document) / mean_length)
#   by: k1 * (1 - b) + b * len(document) / mean_length
#   hint: k1 stands before the whole bracket
# - item: bm25
#   name: length and mean length exchanged
#   replace: len(document) / mean_length
#   by: mean_length / len(document)
#   hint: the length stands over the mean length
# - item: bm25
#   name: length in different words
#   replace: b * len(document) / mean_length
#   by: b * len(f) / mean_length
#   hint: its length counts every word, repetitions included
# - item: bm25
#   name: no b
#   replace: damping = k1 * (1 - b + b * len(document) / mean_length)
#   by: damping = k1
#   hint: b times the length over the mean length is missing
# - item: bm25
#   name: median length
#   replace: mean_length = sum(map(len, documents)) / len(documents)
#   by: mean_length = sorted(map(len, documents))[len(documents) // 2]
#   hint: you compare with the median length
# - item: bm25
#   name: k1 fixed
#   replace: mean_length = sum(map(len, documents)) / len(documents)
#   by: mean_length, k1 = sum(map(len, documents)) / len(documents), 1.5
#   hint: use the argument, not a number
# - item: bm25
#   name: k1 fixed below the line
#   replace: damping = k1 *
#   by: damping = 1.5 *
#   hint: Is k1 in both of its places?
# - item: bm25
#   name: epsilon not handed on
#   replace: weight = idf(documents, epsilon)
#   by: weight = idf(documents)
#   hint: do you hand epsilon on
# - item: bm25
#   name: no k1 + 1
#   replace: f[word] * (k1 + 1) /
#   by: f[word] /
#   hint: the factor (k1 + 1) above the line is missing
# - item: bm25
#   name: repeated words of the question counted once
#   replace: for word in query
#   by: for word in set(query)
#   hint: go through its words, repetitions included
# - item: windows
#   name: the last token lost
#   replace: if first + size >= count
#   by: if first + size >= count - 1
#   hint: the last token is in none
# - item: idf
#   name: every low weight lifted
#   replace: value if value >= 0 else substitute
#   by: max(value, substitute)
#   hint: only negative weights are replaced
# - item: idf
#   name: mean without its sign
#   replace: substitute = epsilon * sum(values.values()) / len(values)
#   by: substitute = epsilon * abs(sum(values.values())) / len(values)
#   hint: you drop its sign
# - item: bm25
#   name: mean length over the vocabulary
#   replace: mean_length = sum(map(len, documents)) / len(documents)
#   by: mean_length = sum(map(len, documents)) / len(set(sum(documents, [])))
#   hint: by the size of the vocabulary
# - item: bm25
#   name: mean length in different words
#   replace: mean_length = sum(map(len, documents)) / len(documents)
#   by: mean_length = sum(len(set(document)) for document in documents) / len(documents)
#   hint: your mean length counts each word of a passage once
# - item: bm25
#   name: lengths in letters
#   replace: b * len(document) / mean_length
#   by: b * len(' '.join(document)) / mean_length
#   hint: your lengths count letters
# - item: bm25
#   name: letters in a joined text instead of words
#   replace: f = Counter(document)
#   by: "f = {word: ' '.join(document).count(word) for word in query if word in ' '.join(document)}"
#   hint: you count quays as quay
# - item: bm25
#   name: repeated words of the passage counted once
#   replace: f = Counter(document)
#   by: f = Counter(set(document))
#   hint: f is how often the passage says the word
# - item: bm25
#   name: length without words of negative weight
#   replace: damping = k1 * (1 - b + b * len(document) / mean_length)
#   by: damping = k1 * (1 - b + b * sum(weight[w] > 0 for w in document) / (sum(weight[w] > 0 for d in documents for w in d) / len(documents)))
#   hint: or whose weight is negative
# - item: bm25
#   name: length without common words
#   replace: damping = k1 * (1 - b + b * len(document) / mean_length)
#   by: n, N = document_frequency(documents), len(documents); damping = k1 * (1 - b + b * sum(2 * n[w] <= N for w in document) * N / sum(2 * n[w] <= N for d in documents for w in d))
#   hint: also one that is common
