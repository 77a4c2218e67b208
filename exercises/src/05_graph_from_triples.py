# ---
# jupyter:
#   minirag:
#     title: Building a graph from triples
#     minutes: 45
# ---

# %% [markdown]
# # Exercise 5: building a graph from triples
#
# A model or a person has read the passages and left triples: *subject, relation, object*. Between them and a graph on which a walk can go there are a few
# decisions that look too small to matter: which spellings are one node, what is thrown away, how heavy an edge is, in which directions it can be walked.
#
# **You will be able to** bring names into one spelling, keep the passages of every statement, build the weights for a walk, find the pairs of
# names that are alike, and join them by synonymy edges.
#
# 45 minutes, no model, no network: the triples below were written by hand.

# %%
import numpy as np

triples = [
    [
        ("The Harbour Master", "keeps", "the tide tables"),
        ("tide tables", "lie in", "Customs-House"),
    ],
    [
        ("Lena Ó Briain", "was keeper of", "the lighthouse"),
        ("the lighthouse", "burned", "whale oil"),
    ],
    [
        ("whale oil", "was landed in", "Harbour"),
        ("Whale Oil", "was landed in", "harbour"),
        ("...", "was sold by", "barrel"),
    ],
    [
        ("customs house", "burned in", "1902"),
        ("the fire", "spared", "tide tables"),
    ],
    [
        ("LENA Ó BRIAIN", "wrote", "weather diary"),
        ("weather diary", "continues", "Weather Diary"),
    ],
]
sum(map(len, triples))

# %% [markdown]
# ## 1. One spelling
#
# *Customs-House* and *customs house* are to be one node. So a name is lower-cased, every character that is no letter and no digit becomes a space (an underscore,
# too), and spaces at the two ends are removed. Spaces inside stay as many as they are. Letters stay, an accented one too
# if it is one character, as *Ó* is, and so do Chinese characters.
#
# **Predict first.** What becomes of *Ó Briain* if of all letters only a to z are kept? And of *...*?
#
# <details><summary>Answer</summary>
#
# Just *briain*, a name that others may have; and HippoRAG's released code does that. Of *...* nothing is left in either case.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "normalise", "locked": false, "schema_version": 3, "solution": true, "task": false}
def normalise(phrase):
    """A name as all its spellings are written; empty if there is no letter or digit in it."""
    ### BEGIN SOLUTION
    return "".join(c if c.isalnum() else " " for c in phrase.lower()).strip()
    ### END SOLUTION


# %% [raw] tags=["hints"] item="normalise"
# - Go through the name character by character. What stays, what becomes a space?
# - Strings have a method that tells letters and digits, not only those of English, from everything else, and one that removes spaces at both ends.
# - "`\"\".join(c if c.isalnum() else \" \" for c in phrase.lower()).strip()`"

# %% nbgrader={"grade": true, "grade_id": "test-normalise", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = normalise("Customs-House")
assert found is not None, "normalise returns nothing"
assert found == found.lower(), f"capital letters are left: {found!r}"
assert found != "customshouse", "the hyphen is deleted, and two words have become one: put a space in its place"
assert found == "customs house", f"expected 'customs house'; yours: {found!r}"
kept = normalise("Lena Ó Briain")
assert "ó" in kept, f"the letter ó is gone, and the name is now {kept!r}: accented letters stay"
assert normalise("北京") == "北京", "Chinese characters stay, as letters do"
assert normalise("1902") == "1902", "digits are part of a name"
assert normalise("m²") == "m²", f"'m²' became {normalise('m²')!r}: letters and digits stay as they are, do not rewrite them"
assert normalise("Straße") == "straße", f"'Straße' became {normalise('Straße')!r}: lower() only lower-cases, casefold() also writes ß as ss"
assert normalise("tide_tables–Lanthorn’s") == "tide tables lanthorn s", "an underscore is no letter, nor is a dash or a curly apostrophe: each becomes a space, too"
assert normalise("M. Brisling") == "m  brisling", "each character becomes one space: the full stop and the space make two"
assert normalise(" (the fire). ") == "the fire", "spaces at the two ends remain: remove them, after the punctuation has become spaces"
assert normalise("...") == "", "without a letter or a digit the result is the empty string"

# %% [markdown]
# ## 2. Statements and their passages
#
# The same triple may be read more than once. It becomes *one* statement that remembers the passage of each of its occurrences, by its position, also when
# one passage says it twice. A triple whose subject or object has become empty is dropped;
# one with an empty relation is kept, and so is one about a name and itself.
#
# **Predict first.** Which passages does (whale oil, was landed in, harbour) remember above?
#
# <details><summary>Answer</summary>
#
# Position 2 twice: `[2, 2]`. The second spelling is the same statement.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "statements", "locked": false, "schema_version": 3, "solution": true, "task": false}
def statements(triples):
    """triples: a list of (subject, relation, object) for each passage.

    Returns a dict: normalised triple -> positions of its passages.
    """
    ### BEGIN SOLUTION
    found = {}
    for place, passage in enumerate(triples):
        for triple in passage:
            subject, relation, obj = map(normalise, triple)
            if subject and obj:
                found.setdefault((subject, relation, obj), []).append(place)
    return found
    ### END SOLUTION


# %% [raw] tags=["hints"] item="statements"
# - Two loops, over passages and over their triples. What is the key of the dictionary, and what is collected under it?
# - "Normalise all three parts, skip the triple if subject or object is empty, and append the passage's position to the list under that key."
# - "`enumerate(triples)` gives positions; `found.setdefault((subject, relation, obj), []).append(place)` makes the list when it is needed."

# %% nbgrader={"grade": true, "grade_id": "test-statements", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
read = [[("Sea", "eats", "sand"), ("sea", "eats", "Sand."), ("?", "is", "sea"), ("sea", "is", "!"), ("sea", "...", "sky"), ("sea", "lies-near", "sky"), ("sea", "lies near", "sky")], [("sand", "meets", "Sand")], [("the sea", "Is", "wide"), ("sea", "eats", "sand"), ("sand", "eats", "sea")]]
found = statements(read)
assert found is not None, "statements returns nothing"
assert not any("" in (subject, obj) for subject, _, obj in found), "a triple with an empty subject or object is still there: it would make a nameless node"
assert all(len(key) == 3 for key in found), "a key has three parts: subject, relation, object"
assert not any("Sea" in key or "Sand." in key for key in found), "two spellings of one statement are two keys: normalise the parts first"
assert ("the sea", "is", "wide") in found and not any("..." in key or "lies-near" in key for key in found), f"the relation is normalised, too; your keys: {list(found)}"
places = list(found[("sea", "eats", "sand")])
assert places != [0, 0, 2, 2] and ("sand", "eats", "sea") in found, "sand eats sea is another statement than sea eats sand: keep the direction"
assert places != [0], "only the first occurrence of a statement is kept: append the position of each later one"
assert places != [0, 2], "a passage that says it twice counts twice: keep a position for each occurrence"
assert places == [0, 0, 2], f"sea eats sand: said in passages 0, 0 and 2; yours: {places}"
assert list(*statements([[("a", "is", "b")]] * 2).values()) == [0, 1], "two passages with the same triples have two positions: count the passages as you go"
assert ("sand", "meets", "sand") in found, "a statement about a name and itself is missing: it is kept here, and left out of the weights only"
assert ("sea", "", "sky") in found and len(found) == 6, f"six statements remain; only an empty subject or object drops a triple, one with an empty relation stays; yours: {list(found)}"

# %% [markdown]
# ## 3. Nodes
#
# Every subject and every object is a node. They are numbered as they first appear, so that the same triples always give the same graph.

# %% nbgrader={"grade": false, "grade_id": "node-positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def node_positions(found):
    """found: what statements returns. Returns a dict: name -> 0, 1, 2, ...

    Names are numbered as they first appear, the subject before the object."""
    ### BEGIN SOLUTION
    position = {}
    for subject, _, obj in found:
        position.setdefault(subject, len(position))
        position.setdefault(obj, len(position))
    return position
    ### END SOLUTION


# %% [raw] tags=["hints"] item="node-positions"
# - What is the number of a node that appears for the first time, if so many others are known already?
# - "A dictionary remembers its order. `position.setdefault(name, number)` leaves a known name as it is."
# - "For each statement: `position.setdefault(subject, len(position))`, then the same for its object. The relation is no node."

# %% nbgrader={"grade": true, "grade_id": "test-node-positions", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
said = {("sea", "eats", "sand"): [0], ("quay", "stands in", "sea"): [0], ("ant", "bites", "quay"): [1], ("owl", "is", "owl"): [1]}
found = node_positions(said)
assert found is not None, "node_positions returns nothing"
assert "eats" not in found, "a relation has become a node: only subjects and objects do"
assert "owl" in found, "the owl is missing: a statement about a name and itself makes a node, too"
assert set(found) == {"sea", "sand", "quay", "ant", "owl"}, f"every subject and every object is a node, once; yours: {sorted(found)}"
assert sorted(found.values()) == [0, 1, 2, 3, 4], f"the numbers 0 to 4 are given once each; yours: {sorted(found.values())}"
assert (found["quay"], found["ant"]) != (1, 2), "all subjects are numbered before the objects: go statement by statement, subject and then object"
assert found["ant"] != 0, "your nodes are sorted by name; number them as they first appear"
assert found == {"sea": 0, "sand": 1, "quay": 2, "ant": 3, "owl": 4}, f"expected sea 0, sand 1, quay 2, ant 3, owl 4; yours: {found}"

# %% [markdown]
# ## 4. Weights for a walk
#
# The weight between two nodes is the number of times that *any* statement joining them was made. The walk goes both ways: whoever stands at the
# whale oil gets to the harbour, and back. A statement about a node and itself leads nowhere and is left out.
#
# **Predict first.** (a, likes, b) is said twice and (b, fears, a) once. What is the weight from a to b, and from b to a?
#
# <details><summary>Answer</summary>
#
# 3 both ways.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "edge-weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def edge_weights(found):
    """found: what statements returns. Returns (nodes, nodes), nodes as in node_positions.

    The weights are symmetric, with zeros on the diagonal.
    """
    ### BEGIN SOLUTION
    position = node_positions(found)
    weights = np.zeros((len(position), len(position)))
    for (subject, _, obj), places in found.items():
        if subject != obj:
            weights[position[subject], position[obj]] += len(places)
            weights[position[obj], position[subject]] += len(places)
    return weights
    ### END SOLUTION


# %% [raw] tags=["hints"] item="edge-weights"
# - How many times was a statement made? What happens to the weight when a second statement joins the same two nodes?
# - "Start from zeros. Each statement adds the number of its occurrences at two places of the matrix, unless both are on the diagonal."
# - "`weights[i, j] += len(places)` and `weights[j, i] += len(places)`, with i and j from `node_positions(found)`, only if subject and object differ."

# %% nbgrader={"grade": true, "grade_id": "test-edge-weights", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
said = {("a", "likes", "b"): [0, 0, 4], ("b", "fears", "a"): [1], ("c", "is", "c"): [2], ("b", "sees", "c"): [3, 3, 3]}
found = edge_weights(said)
assert isinstance(found, np.ndarray) and found.shape == (3, 3), f"edge_weights returns a numpy array; three nodes make it (3, 3); yours: {type(found).__name__} {getattr(found, 'shape', '')}"
assert found[2, 2] == 0, "c is joined to itself: a walker would stand still there, so self-loops are left out"
assert found[1, 2] == found[2, 1] != 0, f"from b to c and back: {'the weights differ' if found[1, 2] and found[2, 1] else 'every statement counts in both directions'}"
assert not any(np.allclose(by * found, [[0, 4, 0], [4, 0, 3], [0, 3, 0]]) for by in (0.5, 2)), "every weight is half of what it should be: each direction gets the full number of occurrences" if found[1, 2] < 3 else "every weight is twice what it should be: each direction gets the number of occurrences once"
assert found[1, 2] != 1, "a statement that one passage makes twice counts twice: you count its passages, each once, in the place of its occurrences" if found[0, 1] == 3 else "a statement that was made three times weighs 1: count its occurrences, not its existence"
assert found[0, 1] not in (1, 3), f"only {'one, with 3 occurrences,' if found[0, 1] == 3 else 'the last'} of the two statements between a and b counts: add their weights up"
assert edge_weights({("a", "likes", "b"): [0], ("a", "fears", "b"): [1]})[0, 1] != 1, "of two statements from a to b one has replaced the other: both count"
assert found.tolist() == [[0, 4, 0], [4, 0, 3], [0, 3, 0]], f"a-b weighs 3 + 1, b-c 3; yours: {found.tolist()}"

# %% [markdown]
# ## 5. Pairs above a threshold
#
# *tide tables* and *the tide tables* mean the same and are two nodes. An encoder gives each name a vector, and two names are alike if the cosine of
# their vectors is above a threshold (equal to it is not above): the dot product, divided by both lengths. The vectors here may have any length but zero.
#
# **Predict first.** Four names have one pair with a cosine above the threshold of 0.8. How many of the sixteen entries in their matrix of cosines lie above it?
#
# <details><summary>Answer</summary>
#
# Six: the four on the diagonal, where each name meets itself with a cosine of 1, and the pair twice.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "pairs-above", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pairs_above(vectors, threshold):
    """vectors: (names, d), a row for each name; they stay unchanged.

    Returns [(i, j, cosine)], each pair of two names above the threshold once, in any order."""
    ### BEGIN SOLUTION
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    first, second = np.nonzero(np.triu(cosines > threshold, k=1))
    return [(i, j, cosines[i, j]) for i, j in zip(first, second)]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="pairs-above"
# - What must be done to the rows so that their dot products are cosines? Which half of the matrix has every pair just once?
# - "Divide each row by its length (`np.linalg.norm` with `axis=1, keepdims=True`), multiply the result by its own transpose, and go through the entries with i smaller than j."
# - "`cosines = unit @ unit.T`; then two loops, `for i in range(n)` and `for j in range(i + 1, n)`, that keep `(i, j, cosines[i, j])` where it is greater than the threshold."

# %% nbgrader={"grade": true, "grade_id": "test-pairs-above", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
given = np.array([[2.0, 0, 0, 0], [1, 1, 1, 1], [3, 0, 0, 0], [-5, 0, 0, 0], [4, 3, 0, 0]])
vectors = given.copy()
found = pairs_above(vectors, 0.5)
assert found is not None, "pairs_above returns nothing"
assert np.array_equal(vectors, given), "the vectors that were handed in have changed: divide a copy by the lengths"
rows = [tuple(row) for row in found]
assert all(len(row) == 3 for row in rows), f"a list of (i, j, cosine) is expected; yours: {rows[:3]}"
assert all(i != j for i, j, _ in rows), "a name is paired with itself: leave the diagonal out"
cosines = {frozenset((int(i), int(j))): float(cosine) for i, j, cosine in rows}
assert len(cosines) == len(rows), "a pair is there twice, as (i, j) and as (j, i): take one half of the matrix"
assert all(abs(cosine) < 1.001 for cosine in cosines.values()), f"a cosine is never greater than 1, yours go up to {max(cosines.values()):.2f}: divide each vector by its length (and a distance is no cosine)"
assert frozenset((0, 3)) not in cosines, "rows 0 and 3 point in opposite directions: their cosine is -1, which is not above the threshold"
assert frozenset((0, 1)) not in cosines, "rows 0 and 1 have a cosine of just 0.5: equal to the threshold is not above it"
assert len(list(pairs_above(np.array([[1.0, 0], [0, 1], [1, 0]]), 0.3))) == 1, "rows 0 and 2 are equal, and row 1 stands between them: compare each row with every later one, not with the next only"
assert not np.isclose(cosines.get(frozenset((0, 4)), 0), np.corrcoef(given[[0, 4]])[0, 1]), "you subtract each row's mean, which gives a correlation: divide each row by its length, no more"
wanted = {frozenset((0, 2)): 1, frozenset((0, 4)): 0.8, frozenset((2, 4)): 0.8, frozenset((1, 4)): 0.7}
missing = [sorted(pair) for pair in wanted if pair not in cosines]
assert not missing, f"above 0.5 these pairs are missing: {missing}; {'every name is compared with every other' if len(missing) < 3 else 'does each row (axis 1) have length 1 before you multiply?'}"
assert cosines.keys() == wanted.keys() and all(np.isclose(cosines[pair], wanted[pair]) for pair in wanted), f"four pairs lie above 0.5, with cosines of 1, 0.8, 0.8 and 0.7; yours: {rows}"
assert len(list(pairs_above(given, 0.75))) == 3, "three pairs lie above 0.75: compare with the threshold that was handed in"
assert len(list(pairs_above(np.array([[1.0, 0], [0, 1], [-1, 0]]), -0.5))) == 2, "above -0.5 lie two pairs of three: the half of the matrix that you set to 0 holds no pairs"
assert len(list(pairs_above(np.array([[1, 0], [21, 13.5]]), 0.8))) == 1, "a cosine of 0.84 is above 0.8: compare cosines as they are, not rounded"
assert len(list(pairs_above(np.array([[1, 0], [0.8003, 0.5996]]), 0.8))) == 1, "a cosine of 0.8003 is above 0.8: a rounded cosine is not enough"

# %% [markdown]
# ## 6. Synonymy edges
#
# For each pair a synonymy edge is added, in both directions, weighted by the cosine, *on top of* what the statements say. (HippoRAG's released code lets the
# cosine replace the number of statements. The package has both.)

# %% nbgrader={"grade": false, "grade_id": "with-synonyms", "locked": false, "schema_version": 3, "solution": true, "task": false}
def with_synonyms(weights, pairs):
    """pairs: [(i, j, cosine)], each once. Returns new weights, floats; the old ones,
    which may be whole numbers, stay unchanged."""
    ### BEGIN SOLUTION
    joined = weights.astype(float)
    for i, j, cosine in pairs:
        joined[i, j] += cosine
        joined[j, i] += cosine
    return joined
    ### END SOLUTION


# %% [raw] tags=["hints"] item="with-synonyms"
# - Which two places of the matrix belong to a pair, and is what stands there lost or kept?
# - "Work on a copy that holds fractions: `weights.astype(float)`. The cosine is added, so that two names which are both related and alike are joined more strongly."
# - "`joined[i, j] += cosine` and `joined[j, i] += cosine` for each pair."

# %% nbgrader={"grade": true, "grade_id": "test-with-synonyms", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
before = np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
found = with_synonyms(before, [(0, 1, 0.9), (1, 2, 0.8)])
assert isinstance(found, np.ndarray) and found.shape == (3, 3), f"with_synonyms returns a numpy array of the same shape; yours is of type {type(found).__name__}"
assert before[0, 1] == 3 and before[1, 2] == 0, "the weights that were handed in have changed: work on a copy"
assert found[1, 2] == found[2, 1] or 0 not in (found[1, 2], found[2, 1]), "the synonymy edge leads one way only: being alike goes in both directions"
assert not np.isclose(found[0, 1], 3), "no pair was joined, though two were handed in" if not found[1, 2] else "the cosine is lost where statements join the two names already: it is added to their number"
assert not np.isclose(found[0, 1], 0.9), "the cosine has replaced three statements: it is added to their number"
assert np.allclose(found, [[0, 3.9, 0], [3.9, 0, 0.8], [0, 0.8, 0]]), f"expected 3.9 and 0.8 at two places each; yours: {np.round(found, 2).tolist()}"
assert np.isclose(with_synonyms(before, [(2, 1, 0.8)])[1, 2], 0.8), "a pair may come as (2, 1), too, and yours is lost: set both places for each pair"
assert np.isclose((whole := with_synonyms(before.astype(int), [(0, 1, 0.9)]))[0, 1], 3.9), f"from whole numbers 3 + 0.9 became {whole[0, 1]}: a copy of an integer array cuts fractions off, so make it float"

# %% [markdown]
# The graph of the five passages, edge by edge:

# %%
found = statements(triples)
names = list(node_positions(found))
weights = edge_weights(found)
print(len(names), "nodes:", ", ".join(names))
for i, j in zip(*np.nonzero(np.triu(weights))):
    print(f"  {weights[i, j]:.0f}  {names[i]} - {names[j]}")

# %% [markdown]
# And which of its names are alike? Here a name's vector counts its letters, which makes a poor encoder. Look at the pairs: which threshold joins
# names of different things?

# %%
names = list(node_positions(statements(triples)))
letters = sorted(set("".join(names)))
counted = np.array([[name.count(letter) for letter in letters] for name in names])
for threshold in (0.9, 0.75):
    for i, j, cosine in sorted(pairs_above(counted, threshold)):
        print(f"above {threshold}: {names[i]} ~ {names[j]}, {cosine:.2f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# `0.75`: it joins a person with a diary, *the harbour master ~ weather diary*, and *the tide tables* with *the lighthouse* and *the fire*. `0.9` has one pair, of one thing.
#
# </details>
#
# ## 7. Compare with the package
#
# `knowledge_graph` and `adjacency_matrix` do the same for any corpus, with sparse matrices. Only the ratios of weights matter to a walk, so both are
# divided by their sum. Three passages are added for this, with other spellings, with two statements about one pair of names, and with one about a pair that
# is synonymous, too. The name vectors are made by hand: that of *tide tables* is turned a little away from that of *the tide tables*.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from minirag import Chunk, Extraction
from minirag.graphs import knowledge_graph, normalise_phrase, with_synonymy
from minirag.index import adjacency_matrix

more = triples + [
    [("Harbour", "Lies near", "customs_house"), ("customs house", "looks onto", "(harbour)"), ("harbour", "...", "Straße")],
    [("M. Brisling", "copied", "the tide tables"), ("the tide tables", "replaced", "Tide Tables")],
    [("Whale oil", "burns in", "北京"), ("!", "lies in", "harbour")],
]
phrases = [part for passage in more for triple in passage for part in triple]
assert [normalise(phrase) for phrase in phrases] == [normalise_phrase(phrase) for phrase in phrases], "the package writes a name differently"
chunks = [Chunk(f"p{place}", "") for place in range(len(more))]
graph = knowledge_graph(chunks, Extraction("by hand", {}, {chunk.id: tuple(passage) for chunk, passage in zip(chunks, more)}))
said = statements(more)
position, weights = node_positions(said), edge_weights(said)
assert [node.name for node in graph.nodes] == list(position), "the package has other nodes, or another order"
assert {(position[s], r, position[o]): list(places) for (s, r, o), places in said.items()} == {
    (edge.source, edge.name, edge.target): list(edge.chunks) for edge in graph.edges
}, "the package keeps other statements, or other passages for them"
vectors = np.eye(len(position))
one, other = position["the tide tables"], position["tide tables"]
vectors[other] = 0.9 * vectors[one] + np.sqrt(1 - 0.9**2) * vectors[other]
alike = with_synonyms(weights, pairs_above(vectors, 0.8))
for yours, theirs in [(weights, graph), (alike, with_synonymy(graph, vectors))]:
    theirs = adjacency_matrix(theirs).toarray()
    assert np.allclose(yours / yours.sum(), theirs / theirs.sum()), "the package has other weights"

# %% [markdown]
# **To think about.** *the tide tables* and *tide tables* have an edge, and are still two nodes. You could remove articles; what would that do to *The Hague*, or to a name in
# another language? And what does a walk do at *1902*, to which anything that happened in that year is tied?
#
# <details><summary>Answer</summary>
#
# *The Hague* would become *Hague*, and in another language the short first word may be no article. At *1902* a walk passes on to whatever happened in that year,
# however little the events have to do with one another.
#
# </details>

# %% [raw] tags=["wrong-answers"]
# - item: normalise
#   name: compatibility forms
#   replace: phrase.lower()
#   by: __import__("unicodedata").normalize("NFKC", phrase).lower()
#   hint: do not rewrite them
# - item: edge-weights
#   name: every weight doubled
#   replace: "weights[position[subject], position[obj]] += len(places)\n            weights[position[obj], position[subject]] += len(places)"
#   by: "weights[position[subject], position[obj]] += 2 * len(places)\n            weights[position[obj], position[subject]] += 2 * len(places)"
#   hint: every weight is twice what it should be
# - item: with-synonyms
#   name: pairs from the lower half lost
#   replace: "joined[j, i] += cosine\n    return joined"
#   by: "pass\n    joined = np.triu(joined)\n    return joined + joined.T"
#   hint: set both places for each pair
# - item: edge-weights
#   name: one direction overwritten, then both added
#   replace: |-
#     weights[position[subject], position[obj]] += len(places)
#                 weights[position[obj], position[subject]] += len(places)
#         return weights
#   by: |-
#     weights[position[subject], position[obj]] = len(places)
#         return weights + weights.T
#   hint: one has replaced the other
# - item: pairs-above
#   name: the half of zeros compared, too
#   replace: np.triu(cosines > threshold, k=1)
#   by: np.triu(cosines, k=1) > threshold
#   hint: that you set to 0 holds no pairs
# - item: pairs-above
#   name: correlation
#   replace: unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
#   by: "vectors = vectors - vectors.mean(axis=1, keepdims=True)\n    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)"
#   hint: which gives a correlation
# - item: normalise
#   name: punctuation deleted
#   replace: else " "
#   by: else " " * c.isspace()
#   hint: put a space in its place
# - item: normalise
#   name: ASCII only
#   replace: c.isalnum()
#   by: c.isalnum() and c.isascii()
#   hint: is gone, and the name is now
# - item: normalise
#   name: case kept
#   replace: phrase.lower()
#   by: phrase
#   hint: capital letters are left
# - item: normalise
#   name: casefold
#   replace: phrase.lower()
#   by: phrase.casefold()
#   hint: lower() only lower-cases
# - item: normalise
#   name: spaces at the ends
#   replace: .strip()
#   by: ""
#   hint: spaces at the two ends remain
# - item: normalise
#   name: underscore kept
#   replace: c.isalnum()
#   by: (c.isalnum() or c == "_")
#   hint: an underscore is no letter
# - item: normalise
#   name: inner spaces collapsed
#   replace: '"".join(c if c.isalnum() else " " for c in phrase.lower()).strip()'
#   by: '" ".join("".join(c if c.isalnum() else " " for c in phrase.lower()).split())'
#   hint: each character becomes one space
# - item: statements
#   name: direction lost
#   replace: found.setdefault((subject, relation, obj), []).append(place)
#   by: found.setdefault(next((each for each in ((obj, relation, subject), (subject, relation, obj)) if each in found), (subject, relation, obj)), []).append(place)
#   hint: keep the direction
# - item: statements
#   name: empty relations dropped
#   replace: if subject and obj
#   by: if subject and relation and obj
#   hint: one with an empty relation stays
# - item: statements
#   name: empty names kept
#   replace: if subject and obj
#   by: if True
#   hint: it would make a nameless node
# - item: statements
#   name: parts not normalised
#   replace: map(normalise, triple)
#   by: triple if all(map(normalise, triple)) else ("", "", "")
#   hint: two spellings of one statement are two keys
# - item: statements
#   name: each passage once
#   replace: |-
#     if subject and obj:
#   by: |-
#     if subject and obj and place not in found.get((subject, relation, obj), []):
#   hint: keep a position for each occurrence
# - item: statements
#   name: the first occurrence only
#   replace: "found.setdefault((subject, relation, obj), []).append(place)"
#   by: "found.setdefault((subject, relation, obj), [place])"
#   hint: only the first occurrence of a statement is kept
# - item: statements
#   name: the place is looked up
#   replace: append(place)
#   by: append(triples.index(passage))
#   hint: have two positions
# - item: node-positions
#   name: subjects before objects
#   replace: "for subject, _, obj in found:"
#   by: "for subject, obj in [(s, s) for s, _, _ in found] + [(o, o) for _, _, o in found]:"
#   hint: all subjects are numbered before the objects
# - item: node-positions
#   name: sorted by name
#   replace: return position
#   by: "return {name: number for number, name in enumerate(sorted(position))}"
#   hint: your nodes are sorted by name
# - item: node-positions
#   name: statements about a name and itself skipped
#   replace: "for subject, _, obj in found:"
#   by: "for subject, obj in [(s, o) for s, _, o in found if s != o]:"
#   hint: the owl is missing
# - item: node-positions
#   name: relations as nodes
#   replace: "for subject, _, obj in found:"
#   by: "for subject, _, obj in [pair for s, r, o in found for pair in ((s, '', r), (r, '', o))]:"
#   hint: a relation has become a node
# - item: edge-weights
#   name: nested lists
#   replace: return weights
#   by: return weights.tolist()
#   hint: edge_weights returns a numpy array
# - item: edge-weights
#   name: self-loops kept
#   replace: if subject != obj
#   by: if True
#   hint: self-loops are left out
# - item: edge-weights
#   name: direction not symmetrised
#   replace: weights[position[obj], position[subject]] += len(places)
#   by: pass
#   hint: every statement counts in both directions
# - item: edge-weights
#   name: rows divided by their sums
#   replace: return weights
#   by: return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)
#   hint: the weights differ
# - item: edge-weights
#   name: occurrences not counted
#   replace: |-
#     weights[position[subject], position[obj]] += len(places)
#                 weights[position[obj], position[subject]] += len(places)
#   by: |-
#     weights[position[subject], position[obj]] += 1
#                 weights[position[obj], position[subject]] += 1
#   hint: count its occurrences
# - item: edge-weights
#   name: passages counted once
#   replace: |-
#     weights[position[subject], position[obj]] += len(places)
#                 weights[position[obj], position[subject]] += len(places)
#   by: |-
#     weights[position[subject], position[obj]] += len(set(places))
#                 weights[position[obj], position[subject]] += len(set(places))
#   hint: you count its passages, each once
# - item: edge-weights
#   name: the first statement only
#   replace: if subject != obj
#   by: if subject != obj and not weights[position[subject], position[obj]]
#   hint: of the two statements between a and b counts
# - item: edge-weights
#   name: assigned instead of added
#   replace: |-
#     weights[position[subject], position[obj]] += len(places)
#                 weights[position[obj], position[subject]] += len(places)
#   by: |-
#     weights[position[subject], position[obj]] = len(places)
#                 weights[position[obj], position[subject]] = len(places)
#   hint: add their weights up
# - item: pairs-above
#   name: a name with itself
#   replace: k=1
#   by: k=0
#   hint: a name is paired with itself
# - item: pairs-above
#   name: each pair twice
#   replace: np.triu(cosines > threshold, k=1)
#   by: (cosines > threshold) & ~np.eye(len(cosines), dtype=bool)
#   hint: a pair is there twice
# - item: pairs-above
#   name: dot products
#   replace: vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
#   by: vectors
#   hint: divide each vector by its length
# - item: pairs-above
#   name: columns divided by their lengths
#   replace: vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
#   by: vectors / np.linalg.norm(vectors, axis=0, keepdims=True)
#   hint: does each row (axis 1) have length 1
# - item: pairs-above
#   name: equal to the threshold
#   replace: cosines > threshold
#   by: cosines >= threshold
#   hint: equal to the threshold is not above it
# - item: pairs-above
#   name: rounded
#   replace: cosines > threshold
#   by: cosines.round(1) > threshold
#   hint: not rounded
# - item: pairs-above
#   name: rounded to two decimals
#   replace: cosines > threshold
#   by: cosines.round(2) > threshold
#   hint: a rounded cosine is not enough
# - item: pairs-above
#   name: the sign dropped
#   replace: cosines > threshold
#   by: abs(cosines) > threshold
#   hint: point in opposite directions
# - item: pairs-above
#   name: cosines left out
#   replace: (i, j, cosines[i, j])
#   by: (i, j)
#   hint: a list of (i, j, cosine) is expected
# - item: pairs-above
#   name: one partner for each name
#   replace: zip(first, second)
#   by: dict(zip(first, second)).items()
#   hint: every name is compared with every other
# - item: pairs-above
#   name: a threshold of its own
#   replace: cosines > threshold
#   by: cosines > 0.6
#   hint: three pairs lie above 0.75
# - item: pairs-above
#   name: the given vectors changed
#   replace: unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
#   by: |-
#     vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
#         unit = vectors
#   hint: divide a copy by the lengths
# - item: with-synonyms
#   name: nested lists
#   replace: return joined
#   by: return joined.tolist()
#   hint: with_synonyms returns a numpy array
# - item: with-synonyms
#   name: nothing added
#   replace: |-
#     joined[i, j] += cosine
#             joined[j, i] += cosine
#   by: |-
#     continue
#   hint: no pair was joined
# - item: with-synonyms
#   name: the larger of the two
#   replace: |-
#     joined[i, j] += cosine
#             joined[j, i] += cosine
#   by: |-
#     joined[i, j] = max(joined[i, j], cosine)
#             joined[j, i] = max(joined[j, i], cosine)
#   hint: the cosine is lost where statements join
# - item: with-synonyms
#   name: overwritten instead of added
#   replace: |-
#     joined[i, j] += cosine
#             joined[j, i] += cosine
#   by: |-
#     joined[i, j] = cosine
#             joined[j, i] = cosine
#   hint: the cosine has replaced three statements
# - item: with-synonyms
#   name: one direction only
#   replace: joined[j, i] += cosine
#   by: pass
#   hint: the synonymy edge leads one way only
# - item: with-synonyms
#   name: the given weights changed
#   replace: weights.astype(float)
#   by: weights
#   hint: work on a copy
# - item: with-synonyms
#   name: a copy of whole numbers
#   replace: weights.astype(float)
#   by: weights.copy()
#   hint: cuts fractions off
# - item: edge-weights
#   name: half of every weight
#   replace: return weights
#   by: return weights / 2
#   hint: every weight is half of what it should be
# - item: pairs-above
#   name: neighbouring rows only
#   replace: k=1))
#   by: k=1) & np.eye(len(cosines), k=1, dtype=bool))
#   hint: not with the next only
