# ---
# jupyter:
#   minirag:
#     title: VGraphRAG from operators
#     minutes: 40
# ---

# %% [markdown]
# # Exercise 10: VGraphRAG from operators
#
# The Survey takes every graph-based RAG method apart into operators: small functions that find nodes, relations, passages or communities (Table 3). From
# operators it then composes a method of its own, VGraphRAG (Sec. 7.2). You write what two operators compute, the Aggregator and the VDB, a checker that says whether a list of
# operators can run, and VGraphRAG itself in two lines. At the end you take operators out and measure what changes.
#
# **You will be able to** score relations and passages by sums, search anything that has a vector, say why a composition cannot run, and read an ablation
# without mistaking what it measures.
#
# 40 minutes, no language model, no network. The encoder `lsa` is computed from the texts, and the graph is read by rules.

# %%
from collections import namedtuple

import numpy as np

import minirag as mr

news = mr.load_corpus("harbor_news")
theirs = mr.METHODS["vgraphrag"].build(news, encoder="lsa")
print(theirs)

# %% [markdown]
# ## 1. The Aggregator, twice
#
# HippoRAG and FastGraphRAG score all *nodes* by a walk. But a prompt holds passages. The Aggregator gets from the one to the other in two steps (Survey, Sec. 6.1):
#
# - the score of a relation is the sum of the scores of its two ends,
# - the score of a passage (a *chunk*) is the sum of the scores of the relations that were read from it.
#
# Four nodes A, B, C, D with the scores 0.3, 0.4, 0.1, 0.2 and the relations A-B, B-C, C-D. The first chunk states A-B and B-C, the second one C-D.
#
# **Predict first.** Which scores do the two chunks get? And how much of the score of B is in the first chunk's?
#
# <details><summary>Answer</summary>
#
# The relations have 0.7, 0.5 and 0.3. So the chunks have 1.2 and 0.3. The first one holds the 0.4 of B twice, once for each relation at B: the sum of its
# *nodes* would be 0.8.
#
# </details>
#
# Nodes and relations are numbered from 0. `chunk_edges` has a list for each chunk: the numbers of the relations that it states. A relation may stand in
# several chunks, and counts fully in each. A chunk without relations scores 0.

# %% nbgrader={"grade": false, "grade_id": "from-sums", "locked": false, "schema_version": 3, "solution": true, "task": false}
def from_sums(edges, node_scores, chunk_edges):
    """edges: [(node, node), ...]. Returns two lists: the relations' scores, the chunks' scores."""
    ### BEGIN SOLUTION
    edge_scores = [node_scores[head] + node_scores[tail] for head, tail in edges]
    chunk_scores = [sum(edge_scores[edge] for edge in stated) for stated in chunk_edges]
    return edge_scores, chunk_scores
    ### END SOLUTION


# %% [raw] tags=["hints"] item="from-sums"
# - Which of the two lists do you need in order to compute the other one?
# - "First a list with one number for each pair in `edges`. Then, for each list in `chunk_edges`, add up what the first list has at these places."
# - "A relation: `node_scores[head] + node_scores[tail]`. A chunk: `sum(edge_scores[edge] for edge in stated)`, where `stated` is its list."

# %% nbgrader={"grade": true, "grade_id": "test-from-sums", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
like = lambda found, expected: len(found) == len(expected) and all(abs(float(a) - b) < 1e-6 for a, b in zip(found, expected))
ends, scores, stated = [(0, 1), (1, 2), (2, 3)], [0.3, 0.4, 0.1, 0.2], [[0, 1], [1, 2], []]
as_list = lambda scores: list(scores.values() if isinstance(scores, dict) else scores)
found = from_sums(ends, scores, stated)
found = [] if found is None else list(found)
assert len(found) == 2, "from_sums returns two lists: the scores of the relations and the scores of the chunks"
of_edges, of_chunks = map(as_list, found)
assert not like(of_chunks, [0.7, 0.5, 0.3]), "the two lists are exchanged: relations come first, then chunks"
assert not like(of_edges, [0.3, 0.4, 0.1]), "your relations have the score of their first end only: add the second"
assert not like(of_edges, [0.4, 0.1, 0.2]), "your relations have the score of their second end only: add the first"
assert not like(of_edges, [0.4, 0.4, 0.2]), "your relations have the larger score of their two ends: the Aggregator adds both"
assert not like(of_edges, [0.3, 0.1, 0.1]), "your relations have the smaller score of their two ends: the Aggregator adds both"
assert not like(of_edges, [0.1, 0.3, 0.1]), "you take the difference of the two ends: the Aggregator adds them"
assert not like(of_edges, [0.35, 0.25, 0.15]), "you take the mean of the two ends: the Aggregator adds them"
assert not like(of_edges, [0.12, 0.04, 0.02]), "you multiply the two ends: the Aggregator adds them"
assert like(of_edges, [0.7, 0.5, 0.3]), f"the relations have 0.7, 0.5 and 0.3; yours: {of_edges}"
assert len(of_chunks) == 3, f"there are three chunks, and the last one states nothing: it scores 0; yours: {of_chunks}"
assert not like(of_chunks, [0.6, 0.4, 0]), "a chunk's score is a sum in the definition, and yours is a mean: many relations shall count more than one"
assert not like(of_chunks, [0.8, 0.7, 0]), "you add up the nodes of a chunk, each once: add up its relations, so that a node counts for each of them"
assert not like(of_chunks, [0.7, 0.5, 0]), "only the best relation of a chunk counts in your version: add up all of them"
assert not like(of_chunks, [0.5, 0.3, 0]), "only the worst relation of a chunk counts in your version: add up all of them"
assert not like(of_chunks, [0.95, 0.55, 0]), "you divide a relation among the chunks that state it: it counts fully in each"
assert not like(of_chunks, [1.2, 0.3, 0]), "a relation that two chunks state counts in the first of them only: it counts in both"
assert not like(of_chunks, [2, 2, 0]), "you count the relations of a chunk: add up their scores"
assert like(of_chunks, [1.2, 0.8, 0]), f"the chunks have 1.2, 0.8 and 0; yours: {of_chunks}"
twice = list(map(as_list, from_sums([(0, 1), (1, 0), (0, 1), (1, 0), (0, 1)], [0.5, 0.25], [[0, 1, 2, 3, 4]])))
assert len(twice[0]) == 5, "two relations between the same two nodes are two relations: your first list holds one of them only"
assert like(twice[1], [3.75]), f"five relations of a chunk have the score 0.75 each, and all count: the chunk has 3.75; yours: {twice[1]}"
alone = list(map(as_list, from_sums([(0, 0)], [0.5], [[0]])))
assert like(alone[0], [1]), f"a relation of a node with itself has two ends, too, and both count: 0.5 + 0.5; yours: {alone[0]}"

# %% [markdown]
# ## 2. VDB: the nearest rows
#
# VDB stands for vector database. It encodes rows beforehand, and for a question returns the `k` rows whose vectors are nearest to the question's. All vectors here have length
# 1, so that the cosine of two of them is their dot product. Return pairs of the row's position and its cosine, the best first; of equal cosines, the earlier
# row comes first. `vectors` is a matrix with one row for each text. If it has fewer than `k` rows, return all of them.
#
# **Predict first.** The rows are (1, 0), (0.6, 0.8) and (0, 1), the question is (0.8, 0.6), and `k` is 2. What is returned?
#
# <details><summary>Answer</summary>
#
# The cosines are 0.8, 0.96 and 0.6, so it is [(1, 0.96), (0, 0.8)].
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "nearest", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nearest(question_vector, vectors, k):
    """question_vector: (d,), vectors: (rows, d). Returns [(position, cosine), ...], at most k."""
    ### BEGIN SOLUTION
    cosines = vectors @ question_vector
    best = np.argsort(-cosines, kind="stable")[:k]
    return [(int(row), float(cosines[row])) for row in best]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="nearest"
# - One product gives you all cosines at once. What has to be sorted after that, the cosines or their positions?
# - "`vectors @ question_vector` has the cosine of every row. `np.argsort` gives positions, the smallest value first: sort the negative cosines."
# - "`best = np.argsort(-cosines, kind=\"stable\")[:k]`, and then a pair `(row, cosines[row])` for every row in `best`."

# %% nbgrader={"grade": true, "grade_id": "test-nearest", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
rows, asked = np.array([[1, 0], [0.6, 0.8], [0, 1], [0.6, 0.8]]), np.array([0.8, 0.6])
found = nearest(asked, rows, 3)
assert found is not None, "nearest returns nothing: return a list of pairs (position, cosine)"
found = list(found)
assert all(np.ndim(pair) == 1 and len(pair) == 2 for pair in found), f"every row that is returned is a pair (position, cosine); yours: {found}"
assert len(found) != 4, "with k = 3 three rows are returned; yours has all four: is k used?"
assert len(found) == 3, f"with k = 3 three rows are returned; yours: {found}"
places, cosines = [float(place) for place, _ in found], [float(cosine) for _, cosine in found]
assert not like(cosines, [1, 3, 0]) and not like(cosines, [3, 1, 0]), "a pair has the position first and the cosine second"
assert places != [2, 0, 1] and places != [2, 0, 3], "your worst row comes first: a large cosine means near"
assert places != [0, 1, 2], "your rows are the first ones of the table: sort all rows by their cosines"
assert places != [1, 0, 3] and places != [0, 1, 3], "you choose the right rows and leave them in the order of the table: the best comes first"
assert places != [3, 1, 0], "the rows 1 and 3 have equal cosines: the earlier comes first, so do not turn a sorted list round"
assert not any(abs(cosine - 0.2828427) < 1e-6 for cosine in cosines), "the second number is a distance in your version: return the cosine"
assert places != [2, 4, 1], "your first row has the number 1: positions are counted from 0"
assert not like(cosines, [0.9216, 0.9216, 0.36 + 0.28]), "the second number is the square of the cosine in your version: return the cosine itself"
assert places == [1, 3, 0] and like(cosines, [0.96, 0.96, 0.8]), f"expected [(1, 0.96), (3, 0.96), (0, 0.8)]; yours: {found}"
away = np.array([[-1, 0], [0, -1.0]])
[(place, cosine)] = nearest(asked, away, 1)
assert place == 1, "with negative cosines the larger one is nearer: -0.6 and not -0.8. Do not take away the sign"
assert abs(cosine + 0.6) < 1e-9, f"you choose the right row, and its cosine is negative, -0.6: hand it on with its sign; yours: {cosine}"
assert len(list(nearest(asked, rows, 10))) == 4, "with k = 10 and four rows all four are returned"
mixed = np.array([[each, (1 - each**2) ** 0.5] for each in (0.6, 1, 1, 0.6, 0, 1, 0, 0, 0.6, 0.6, 1, 1)])
four = [int(place) for place, _ in nearest(np.array([1.0, 0]), mixed, 4)]
assert four == [1, 2, 5, 10], "of several rows with equal cosines you return a later one: choose the best k by a stable sort of all rows"
close = np.array([[each, (1 - each**2) ** 0.5] for each in (0.6, 0.6000001)])
[(place, cosine)] = nearest(np.array([1.0, 0]), close, 1)
assert place == 1 and abs(cosine - 0.6000001) < 1e-8, "rounded cosines make two different rows equal: sort the cosines, and return them, as they are"
level = np.tile([0.6, 0.8], (40, 1))
assert [int(place) for place, _ in nearest(np.array([1.0, 0]), level, 5)] == [0, 1, 2, 3, 4], "of forty rows with equal cosines you return others than the first five: sort all rows, stably"

# %% [markdown]
# A VDB does not care what a row is. `tables` has four kinds of rows, each with labels and vectors:

# %%
parts, encoder = theirs.parts, theirs.parts.encoder
indices = {"nodes": parts.node_index, "relations": parts.relationship_index}
indices |= {"passages": parts.chunk_index, "reports": parts.report_index[1]}
tables = {kind: (index.labels, index.vectors) for kind, index in indices.items()}
for kind, (labels, vectors) in tables.items():
    print(f"{kind:9}  {vectors.shape}  {labels[0][:40]}")

# %% [markdown]
# Write one function that searches all of them with `nearest`. It returns a dictionary with the same keys, and for each kind the labels of the `k` nearest rows.

# %% nbgrader={"grade": false, "grade_id": "search-all", "locked": false, "schema_version": 3, "solution": true, "task": false}
def search_all(question_vector, tables, k):
    """tables: {kind: (labels, vectors)}. Returns {kind: [label, ...]}, the nearest first."""
    ### BEGIN SOLUTION
    found = {}
    for kind, (names, rows) in tables.items():
        found[kind] = [names[place] for place, _ in nearest(question_vector, rows, k)]
    return found
    ### END SOLUTION


# %% [raw] tags=["hints"] item="search-all"
# - What of a pair that `nearest` returns leads to a label?
# - "Go through `tables.items()`; call `nearest` with the vectors of each kind, and look up the positions in the labels of the *same* kind."
# - "`[names[place] for place, _ in nearest(question_vector, rows, k)]` is the entry of one kind."

# %% nbgrader={"grade": true, "grade_id": "test-search-all", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
toy = {"cities": (("Bonn", "Rome", "Oslo"), rows[:3]), "rivers": (("Rhine", "Po"), rows[[3, 2]])}
found = search_all(asked, toy, 2)
assert isinstance(found, dict), "search_all returns a dictionary: one entry for each kind"
assert set(found) == {"cities", "rivers"}, f"the keys are those of tables, cities and rivers; yours: {sorted(map(str, found))}"
found = {kind: list(labels) for kind, labels in found.items()}
assert not any(isinstance(each, (int, np.integer)) for each in found["cities"]), "yours are positions: look them up in the labels"
assert not any(isinstance(each, tuple) for each in found["cities"]), "only the labels are returned, without their cosines"
assert found["rivers"] != ["Rhine"], "you rank all kinds together: every kind has its own k rows"
assert not set(found["rivers"]) & {"Rome", "Oslo", "Bonn"}, "the rivers have labels of the cities: each kind has its own labels"
assert found["cities"] != ["Bonn", "Rome"], "your labels are sorted by name or left in the order of the table: the nearest comes first"
assert found["rivers"] == ["Rhine", "Po"], f"the rivers are Rhine and Po, in this order: is every kind searched by its own vectors? yours: {found['rivers']}"
assert found["cities"] == ["Rome", "Bonn"], f"the two nearest cities are Rome and Bonn; yours: {found['cities']}"
assert len(list(search_all(asked, toy, 1)["cities"])) == 1, "with k = 1 every kind has one label: is k handed on?"

# %% [markdown]
# The first question of the corpus that has gold passages, and the two nearest rows of each kind:

# %%
first = next(question.text for question in news.questions if question.gold)
print(first)
for kind, labels in search_all(encoder.encode([first], kind="query")[0], tables, 2).items():
    print(f"  {kind:9}  {' | '.join(label[:40] for label in labels)}")

# %% [markdown]
# ## 3. Does it fit together?
#
# The package has the Survey's operators in `mr.OPERATORS`. Each says what it takes and what it gives:

# %%
shown = ("question Vector", "node VDB", "relationship Onehop", "subgraph Steiner", "node Agent")
for name in shown:
    print(repr(mr.OPERATORS[name]))

# %% [markdown]
# In code, an operator has
#
# - `operator.gives`: one type, such as `NodeStep`;
# - `operator.takes`: a list of slots. Every slot needs something, and **one** of the types in `slot.kinds` is enough for it. A slot with `slot.optional` may stay empty.

# %%
for name in ("node VDB", "subgraph Steiner", "node Agent"):
    for slot in mr.OPERATORS[name].takes:
        print(f"{name}: {[kind.__name__ for kind in slot.kinds]}, optional: {slot.optional}")

# %% [markdown]
# An operator can run if for every slot that is not optional *some* operator before it gives a type of that slot. What was given stays there: several operators
# may take the same thing. Write the checker. It returns the first operator that cannot run, and `None` where all of them can.
#
# (Two operators are special. `node Agent` has two slots for nodes, and the package wants two different operators for them; here one is enough. `node PPR` takes
# passages only where these are nodes of the graph, too; the checker knows no graph, so it always asks for them.)
#
# **Predict first.** *question Vector, node VDB, chunk Occurrence, relationship Onehop*: which operator is returned?
#
# <details><summary>Answer</summary>
#
# `chunk Occurrence`. It takes relations, and these come only after it.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "check", "locked": false, "schema_version": 3, "solution": true, "task": false}
def check(operators):
    """operators: a list, in the order they run in. Returns the first that cannot run, or None."""
    ### BEGIN SOLUTION
    given, stuck = set(), []
    for operator in operators:
        if not all(slot.optional or given.intersection(slot.kinds) for slot in operator.takes):
            stuck.append(operator)
        given.add(operator.gives)
    return stuck[0] if stuck else None
    ### END SOLUTION


# %% [raw] tags=["hints"] item="check"
# - What do you have to remember while you go through the list, and when does an operator add to it?
# - "Keep a set of the types given so far. For each operator: first look at its slots, then add what it gives."
# - "A slot is in trouble if it is not optional and none of its `kinds` is in the set: `given.intersection(slot.kinds)` is empty. The first operator with such a slot is the answer."

# %% nbgrader={"grade": true, "grade_id": "test-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
row = lambda *names: [mr.OPERATORS[name] for name in names]
told = lambda *names: (answer := check(row(*names))) and str(answer)
assert not isinstance(check(row("node Onehop")), (str, bool, list, tuple)), "return the operator itself, or None: no name, no list, and neither True nor False"
assert told("node Onehop") == "node Onehop", "node Onehop takes nodes and gives nodes: what it gives itself comes too late for it"
assert told("question Vector") is None, "question Vector takes nothing, so it can always run: the answer is None"
assert told("question Vector", "node VDB") is None, "node VDB takes the question's vector or its keywords: one type of a slot is enough"
assert told("question Keywords", "node VDB") is None, "keywords fill the slot of node VDB, too: look at all types of a slot"
assert told("question Vector", "node VDB", "chunk Occurrence", "relationship Onehop") == "chunk Occurrence", "relationship Onehop comes after chunk Occurrence: what is given later does not count"
assert told("question Vector", "node VDB", "subgraph Steiner") == "subgraph Steiner", "subgraph Steiner has two slots, nodes and relations, and nobody gives relations: all of its slots have to be filled"
assert told("question Vector", "node VDB", "relationship Onehop", "subgraph Steiner") is None, "subgraph Steiner takes nodes from an operator that is not the last one before it: look at all before it"
assert told("question Vector", "node VDB", "chunk VDB") is None, "node VDB and chunk VDB take the same vector: what is given is not used up"
assert told("question Vector", "chunk VDB", "community VDB", "node VDB", "relationship VDB") is None, "four operators take the same vector: nothing is taken out of what is given, however many take it"
assert told("question Vector", "node VDB", "node Agent") is None, "the relations of node Agent are optional: it can run without"
assert told("chunk FromRel", "question Vector", "node Link") == "chunk FromRel", "two operators cannot run, and yours returns the second: return the first"
assert told("node TF-IDF", "community Layer", "relationship Onehop", "chunk FromRel") is None, "nothing is missing here: node TF-IDF and community Layer take the question alone"
kept = row("question Vector", "node VDB")
assert check(kept) is None and len(kept) == 2, "check takes operators out of the list that it was handed: leave that list as it is"
assert check([]) is None, "without operators nothing is missing: return None"

# %% [markdown]
# ## 4. VGraphRAG
#
# The Survey describes it in two sentences (Sec. 7.2). It retrieves the k nearest entities and their relationships, as LGraphRAG does. And it retrieves communities and chunks by
# vector search, as VGraphRAG-CC does. In the words of the pool:
#
# | | node | relationship | chunk | community |
# | --- | --- | --- | --- | --- |
# | LGraphRAG | VDB | Onehop | Occurrence | Entity |
# | VGraphRAG-CC | | | VDB | VDB |
# | **VGraphRAG** | ? | ? | ? | ? |
#
# `mr.compose(operators=[...], graph=...)` makes a class of it: `operators` are names out of `mr.OPERATORS`, and the graph is `"textual knowledge"`, a knowledge graph with
# descriptions. You can leave out `question Vector`; `compose` puts it in front.
#
# **Predict first.** Section 1 is about sums of scores. Which of the four operators needs them?
#
# <details><summary>Answer</summary>
#
# None. The passages of VGraphRAG are scored by their own vectors, and no node is scored by a walk. The Aggregator belongs to HippoRAG and FastGraphRAG.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "vgraphrag", "locked": false, "schema_version": 3, "solution": true, "task": false}
def vgraphrag():
    """Returns VGraphRAG as a class that `mr.compose` makes."""
    ### BEGIN SOLUTION
    operators = ["node VDB", "relationship Onehop", "chunk VDB", "community VDB"]
    return mr.compose(operators=operators, graph="textual knowledge")
    ### END SOLUTION


# %% [raw] tags=["hints"] item="vgraphrag"
# - Which row of the table does each of the two sentences take its columns from?
# - "Nodes and relations from LGraphRAG, chunks and communities from VGraphRAG-CC. A name has two words, the kind and the operator, as in `\"node VDB\"`."
# - "`mr.compose(operators=[\"node VDB\", \"relationship Onehop\", ..., ...], graph=\"textual knowledge\")`, with two more VDBs."

# %% nbgrader={"grade": true, "grade_id": "test-vgraphrag", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
try:
    made, refused = vgraphrag(), None
except mr.MiniragError as error:
    made, refused = None, error
assert refused is None, f"compose refuses your composition: {refused}"
assert made is not None, "vgraphrag returns nothing: return what mr.compose returns"
assert isinstance(made, type) and hasattr(made, "plan"), "return the class that mr.compose makes: neither a list of operators nor the package's own method"
asked = {str(each) for each in made.plan if each.kind == "question"}
assert asked == {"question Vector"}, f"VGraphRAG searches by the vector of the question, which compose adds by itself; yours: {sorted(asked)}"
names = [str(each) for each in made.plan if each.kind != "question"]
assert "relationship VDB" not in names, "relationship VDB searches relations by the question; VGraphRAG takes those at the nodes that were found"
assert "relationship Onehop" in names, f"the relations of the nodes that were found are missing: {names}"
assert "chunk Occurrence" not in names and "chunk FromRel" not in names, "your passages come by way of the relations, as LGraphRAG's do: VGraphRAG searches the passages themselves"
assert "chunk VDB" in names, f"nothing searches the passages by their vectors: {names}"
assert "community Entity" not in names, "your communities are those of the entities, as LGraphRAG's are: VGraphRAG searches the reports themselves"
assert "community VDB" in names, f"nothing searches the reports of the communities: {names}"
assert sorted(names) == ["chunk VDB", "community VDB", "node VDB", "relationship Onehop"], f"VGraphRAG has four operators, one of each kind; yours: {names}"
assert made.graph_type == "textual knowledge", f"the graph of VGraphRAG is of the type textual knowledge; yours: {made.graph_type}"
assert not made.map_reduced, "CheapRAG is read by map-reduce; VGraphRAG is read directly"
assert all(each.options == mr.OPERATORS[str(each)].options for each in made.plan), "an operator has other options than the package's: leave k as it is"

# %% [markdown]
# Does it retrieve the same as the package's own method? We ask all questions of the corpus. Both work on the same graph and the same reports.

# %%
steps = ("node vdb", "relationship onehop", "community vdb", "chunk vdb")
built = {"encoder": "lsa", "extraction": theirs.graph, "reports": theirs.index}
mine = vgraphrag().build(news, **built)
texts = [question.text for question in news.questions]
pairs = list(zip(mine.retrieve_many(texts), theirs.retrieve_many(texts)))
for step in steps:
    same = [a.trace.last(step).items == b.trace.last(step).items for a, b in pairs]
    print(f"{step:19}  {sum(same)} of {len(same)} questions alike")

# %% [markdown]
# (They retrieve the same. They do not write the same prompt: a composition shares the window in equal parts, and VGraphRAG has parts of its own. So compare tokens only
# between compositions.)
#
# ## 5. Take one operator out
#
# If an operator is taken out, others may lack what they take. Write `without`: it takes out every operator of that name and then, as long as `check` finds
# one that cannot run, that one too. The list that was handed in stays as it is.
#
# **Predict first.** What is left of *question Vector, node VDB, relationship Onehop, chunk VDB, community VDB* without `node VDB`? And without `question Vector`?
#
# <details><summary>Answer</summary>
#
# Without `node VDB` the relations go, too: there are no nodes to find them at. `chunk VDB` and `community VDB` stay. Without `question Vector` nothing is left.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "without", "locked": false, "schema_version": 3, "solution": true, "task": false}
def without(operators, name):
    """operators: a list; name: such as "node VDB". Returns a new list of those that are left."""
    ### BEGIN SOLUTION
    left = []
    for operator in operators:
        if str(operator) != name and not check([*left, operator]):
            left.append(operator)
    return left
    ### END SOLUTION


# %% [raw] tags=["hints"] item="without"
# - When an operator goes because it lacks something, who may lack something now?
# - "Build a new list from the front. An operator goes into it if its name is another one, `str(operator) != name`, and if it can run after those that are in the list."
# - "In a loop over `operators`: `if str(operator) != name and not check([*left, operator])`, then `left.append(operator)`. At the end return `left`."

# %% nbgrader={"grade": true, "grade_id": "test-without", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
whole = row("question Vector", "node VDB", "relationship Onehop", "chunk VDB", "community VDB")
before = list(whole)
left = without(whole, "chunk VDB")
assert whole == before, "the list that was handed in has changed: make a new one"
assert left is not None, "without returns nothing: return the list of operators that are left"
assert all(isinstance(each, type(whole[0])) for each in left), "return the operators themselves, not their names"
named = lambda *given: [str(each) for each in without(*given)]
assert named(whole, "chunk VDB") != named(whole, "no such operator"), "chunk VDB is still there: compare str(operator) with the name. (If check is not passed yet, mend check first.)"
assert "node VDB" in named(whole, "chunk VDB"), "all VDBs are gone: only the one of that kind is taken out, so compare both words of the name. (If check is not passed yet, mend check first.)"
assert "node VDB" in named(row("question Vector", "node VDB", "node Onehop"), "node Onehop"), "all operators on nodes are gone: compare the second word of the name, too"
assert "community VDB" in named(whole, "chunk VDB"), "community VDB can run without chunk VDB, and is gone: take out only what check returns"
assert "relationship Onehop" not in named(whole, "node VDB"), "without node VDB relationship Onehop cannot run: what check returns goes, too"
twice = named(row("question Vector", "node VDB", "node Onehop", "node Onehop"), "node Onehop")
assert twice == ["question Vector", "node VDB"], f"an operator may stand twice in a list: take out every one of that name; yours: {twice}"
searched = named(row("question Vector", "node VDB", "relationship VDB"), "node VDB")
assert searched == ["question Vector", "relationship VDB"], "relationship VDB needs no nodes, and is gone: let check decide, not the kind of an operator"
assert named(whole, "question Vector") == [], f"without the vector no operator is left; yours: {named(whole, 'question Vector')}. Is check asked again after each one that goes?"
assert named(whole, "node VDB") == ["question Vector", "chunk VDB", "community VDB"], f"without node VDB two searches are left; yours: {named(whole, 'node VDB')}"
later = named(row("node Onehop", "question Vector", "node VDB", "node Onehop"), "no such operator")
assert later == ["question Vector", "node VDB", "node Onehop"], f"only the first node Onehop cannot run; yours: {later}"

# %% [markdown]
# ### What to measure
#
# *Evidence recall* of a question is the share of its gold passages among the first `k` that were retrieved. The recall of a method is the mean over
# the questions. A question about the whole collection has no gold passages: leave it out.
#
# `found` has a list of passage ids for each question, the best first. `gold` has the ids of its gold passages, perhaps none.

# %% nbgrader={"grade": false, "grade_id": "recall", "locked": false, "schema_version": 3, "solution": true, "task": false}
def recall(found, gold, k):
    """found, gold: a list of ids for each question. Returns a number between 0 and 1."""
    ### BEGIN SOLUTION
    pairs = [(ids[:k], right) for ids, right in zip(found, gold) if right]
    return sum(len(set(ids) & set(right)) / len(right) for ids, right in pairs) / len(pairs)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="recall"
# - By what is divided for one question, and by what for all of them?
# - "Leave out the questions without gold passages. For each of the others count how many gold ids are among the first k, and divide by the number of its gold ids."
# - "`len(set(ids[:k]) & set(right)) / len(right)` is one question's recall; add these up and divide by the number of questions that count."

# %% nbgrader={"grade": true, "grade_id": "test-recall", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
three = [["p1", "p2", "p3", "p4", "p9"], ["p5", "p6", "p7", "p8", "p9"], ["p1", "p2", "p3", "p4", "p9"]]
right = [("p2", "p4", "p8"), ("p5",), ()]
share = recall(three, right, 3)
assert share is not None, "recall returns nothing: return a number"
share, of_four = float(share), float(recall(three, right, 4))
assert abs(share - 4 / 9) > 1e-9, "the question without gold passages counts as a miss: leave it out"
assert abs(share - 7 / 9) > 1e-9, "a question without gold passages counts as a hit: leave it out"
assert abs(share - 1) > 1e-9, "one gold passage is not all of them: count the share of gold passages, not whether there is one"
assert abs(share - 1 / 3) > 1e-9, "you divide by the number of retrieved passages, which is precision: divide by the number of gold passages"
assert abs(of_four - 1 / 2) > 1e-9, "a question counts only with all of its gold passages in your version: count the share of them"
assert abs(share - 1 / 2) > 1e-9, "you count all gold passages of all questions together: take each question's share first, then the mean"
assert abs(share - 5 / 6) > 1e-9, "p4 stands on rank 4, and k is 3: look at the first k only"
assert abs(share - 1 / 6) > 1e-9, "you look at the last k passages: the best stand first"
assert abs(share - 200 / 3) > 1e-6, "yours is in percent: recall is a share between 0 and 1"
assert abs(share - 4 / 3) > 1e-9, "the shares are added up: divide by the number of questions that count"
assert abs(share - 2 / 3) < 1e-9, f"one question has a third of its gold passages, one has all: the mean is 2/3; yours: {share}"
assert abs(of_four - 2 / 3) > 1e-9, "with k = 4 the passage on rank 4 counts, too: the first k are ids[:k]"
assert abs(of_four - 5 / 6) < 1e-9, f"with k = 4 it is 5/6; yours: {of_four}"
single = recall([["p1", "p2"]], [("p1", "p2")], 1)
assert abs(single - 1) > 1e-9, "you divide by k where k is smaller than the number of gold passages: one of two was found, so the share is 1/2"
assert abs(single - 1 / 2) < 1e-9, f"with k = 1 one of two gold passages is found, 1/2; yours: {single}"
assert abs(recall([["p1"], []], [("p1",), ("p2",)], 5) - 1 / 2) < 1e-9, "a question for which nothing was found is a miss: its share is 0, and it counts"
assert recall([["p1", "p1", "p2"]], [("p2",)], 2) == 0, "p2 stands on rank 3, and k is 2: cut the list first, as it was retrieved"
assert abs(recall([["p1", "p1", "p2"]], [("p1",)], 3) - 1) < 1e-9, "a passage that stands twice in a list is one passage: count it once, so that recall is at most 1"

# %% [markdown]
# Now the measurement. For VGraphRAG, and for what is left of it without each operator: the recall at 5 over the 25 questions that have gold passages; in how many of these
# questions the first five passages are the same as before; and the tokens of what was retrieved and stands in the prompt, as a mean over these questions.
#
# **Predict first.** Which of the four operators changes the recall when it is taken out?
#
# <details><summary>Answer</summary>
#
# Only `chunk VDB`. Recall looks at passages, and no other operator of VGraphRAG chooses or ranks any. Without it the composition still names passages, so that
# something can be measured: those that the chosen relations were read from. They hold less of the evidence.
#
# </details>

# %%
Measured = namedtuple("Measured", "recall ids tokens")
questions = [question for question in news.questions if question.gold]


def measured(operators):
    """Builds the composition of these operators and measures it."""
    method = mr.compose(operators=operators, graph="textual knowledge").build(news, **built)
    found = method.retrieve_many([each.text for each in questions])
    ids = [each.ids[:5] for each in found]
    read = [method.context(each)[1].trace.last("context").tokens for each in found]
    score = recall(ids, [each.gold for each in questions], 5)
    return Measured(score, ids, sum(read) / len(read))


whole = list(vgraphrag().plan)
all_of_it = measured(whole)
print(f"{'nothing taken out':26}  recall {all_of_it.recall:.3f}  {all_of_it.tokens:5.0f} tokens")
for gone in [str(operator) for operator in whole if operator.kind != "question"]:
    less = measured(without(whole, gone))
    same = sum(a == b for a, b in zip(less.ids, all_of_it.ids))
    numbers = f"{less.recall:.3f}  {less.tokens:5.0f}  same passages: {same} of 25"
    print(f"{gone + ' taken out':29}  {numbers}")

# %% [markdown]
# The table does not show that nodes, relations and reports are of no use. It shows that evidence recall cannot see them: they stand in the prompt, cost tokens, and may help a model that
# reads it. Only a comparison of *answers* tells, and it needs a language model. The Survey made it (Table 10, Llama-3-8B): VGraphRAG answers better than VGraphRAG-CC,
# which has neither nodes nor relations, on all three of its data sets. And 25 questions are few: the recall that `chunk VDB` brings here is an effect on this corpus.
#
# **Now you.** Replace `chunk VDB` by `chunk Occurrence`, as LGraphRAG has it: `measured([*without(whole, "chunk VDB"), "chunk Occurrence"])`. Is the recall
# higher or lower than without any chunk operator?
#
# <details><summary>Answer</summary>
#
# Lower: 0.753 against 0.767, with 5115 tokens. `chunk Occurrence` counts the chosen relations of which a passage holds both ends. Without a chunk operator the composition adds up
# the scores of the chosen relations that were read from a passage. Both see only what the four nearest nodes lead to. (0.013 of 25 questions is a third of one question: too little to say which of the two is better.)
#
# </details>
#
# ## 6. Compare with the package
#
# Your functions do what the operators of the package do, on the graph of the town news and on random rows of operators.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from random import Random

from minirag import MiniragError, OPERATORS

graph, some = theirs.graph, [question.text for question in news.questions[:5]]
runs = [[] for _ in some]
for name in ("question Vector", "node VDB", "node PPR", "relationship Aggregator", "chunk Aggregator", "chunk VDB", "community VDB"):
    for run, step in zip(runs, OPERATORS[name].run(parts, some, [list(run) for run in runs])):
        run.append(step)
ends = [(edge.source, edge.target) for edge in graph.edges]
stated = [[place for place, edge in enumerate(graph.edges) if chunk in edge.chunks] for chunk in range(len(graph.chunks))]
for vector, nodes, walk, relations, sums, passages, reports in runs:
    of_edges, of_chunks = map(as_list, from_sums(ends, walk.scores, stated))
    assert np.allclose(of_edges, relations.scores), "the package's relationship Aggregator gives the relations other scores"
    assert np.allclose(of_chunks, sums.scores), "the package's chunk Aggregator gives the passages other scores"
    yours = search_all(vector.vector, tables, 4)
    assert list(yours["nodes"]) == [label for label, _ in nodes.items], "the package's node VDB finds other nodes"
    assert list(yours["passages"]) == [label for label, _ in passages.items[:4]], "the package's chunk VDB finds other passages"
    assert list(yours["reports"]) == [label for label, _ in reports.items], "the package's community VDB finds other reports"
random, pool = Random(0), [each for name, each in OPERATORS.items() if name != "node Agent"]
for _ in range(300):
    drawn, expected = random.choices(pool, k=random.randint(1, 8)), None
    for place, operator in enumerate(drawn):
        try:
            operator.sources([each.gives for each in drawn[:place]], "knowledge and passage")
        except MiniragError:
            expected = expected or operator
    assert check(drawn) is expected, f"in {[str(each) for each in drawn]} the package says that {expected} cannot run; yours: {check(drawn)}"

# %% [markdown]
# **To think about.** `check` compares types. It lets *question Vector, node VDB, relationship Onehop, chunk VDB* pass, although `chunk VDB` goes on with nothing that the
# first two searches found. What would a checker have to know in order to say that two operators contribute nothing to the *passages*? And would it be right to refuse such
# a composition?

# %% [raw] tags=["wrong-answers"]
# - item: from-sums
#   name: lists exchanged
#   replace: return edge_scores, chunk_scores
#   by: return chunk_scores, edge_scores
#   hint: the two lists are exchanged
# - item: from-sums
#   name: keyed by the pair of nodes
#   replace: return edge_scores, chunk_scores
#   by: return dict(zip(edges, edge_scores)), chunk_scores
#   hint: your first list holds one of them only
# - item: from-sums
#   name: one end
#   replace: node_scores[head] + node_scores[tail]
#   by: node_scores[head]
#   hint: the score of their first end only
# - item: from-sums
#   name: the other end
#   replace: node_scores[head] + node_scores[tail]
#   by: node_scores[tail]
#   hint: the score of their second end only
# - item: from-sums
#   name: larger end
#   replace: node_scores[head] + node_scores[tail]
#   by: max(node_scores[head], node_scores[tail])
#   hint: the larger score of their two ends
# - item: from-sums
#   name: smaller end
#   replace: node_scores[head] + node_scores[tail]
#   by: min(node_scores[head], node_scores[tail])
#   hint: the smaller score of their two ends
# - item: from-sums
#   name: difference of the ends
#   replace: node_scores[head] + node_scores[tail]
#   by: abs(node_scores[head] - node_scores[tail])
#   hint: you take the difference of the two ends
# - item: from-sums
#   name: mean of the ends
#   replace: node_scores[head] + node_scores[tail]
#   by: (node_scores[head] + node_scores[tail]) / 2
#   hint: you take the mean of the two ends
# - item: from-sums
#   name: product of the ends
#   replace: node_scores[head] + node_scores[tail]
#   by: node_scores[head] * node_scores[tail]
#   hint: you multiply the two ends
# - item: from-sums
#   name: empty chunks left out
#   replace: for stated in chunk_edges]
#   by: for stated in chunk_edges if stated]
#   hint: the last one states nothing
# - item: from-sums
#   name: mean of the relations
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: sum(edge_scores[edge] for edge in stated) / max(len(stated), 1)
#   hint: and yours is a mean
# - item: from-sums
#   name: nodes instead of relations
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: sum(node_scores[node] for node in {node for edge in stated for node in edges[edge]})
#   hint: you add up the nodes of a chunk
# - item: from-sums
#   name: best relation
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: max((edge_scores[edge] for edge in stated), default=0)
#   hint: only the best relation of a chunk counts
# - item: from-sums
#   name: worst relation
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: min((edge_scores[edge] for edge in stated), default=0)
#   hint: only the worst relation of a chunk counts
# - item: from-sums
#   name: divided among chunks
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: sum(edge_scores[edge] / sum(edge in each for each in chunk_edges) for edge in stated)
#   hint: you divide a relation among the chunks
# - item: from-sums
#   name: each relation once
#   replace: '    chunk_scores = [sum(edge_scores[edge] for edge in stated) for stated in chunk_edges]'
#   by: |2-
#         chunk_scores, seen = [], set()
#         for stated in chunk_edges:
#             chunk_scores.append(sum(edge_scores[edge] for edge in set(stated) - seen))
#             seen.update(stated)
#   hint: counts in the first of them only
# - item: from-sums
#   name: number of relations
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: len(stated)
#   hint: you count the relations of a chunk
# - item: from-sums
#   name: equal scores once
#   replace: sum(edge_scores[edge] for edge in stated)
#   by: sum({edge_scores[edge] for edge in stated})
#   hint: and all count
# - item: from-sums
#   name: first three relations
#   replace: for edge in stated)
#   by: for edge in stated[:3])
#   hint: five relations of a chunk
# - item: from-sums
#   name: set of the ends
#   replace: node_scores[head] + node_scores[tail]
#   by: sum(node_scores[node] for node in {head, tail})
#   hint: a node with itself has two ends
# - item: nearest
#   name: positions alone
#   replace: '[(int(row), float(cosines[row])) for row in best]'
#   by: best.tolist()
#   hint: every row that is returned is a pair
# - item: nearest
#   name: k ignored
#   replace: '[:k]'
#   by: ''
#   hint: yours has all four
# - item: nearest
#   name: pairs turned round
#   replace: (int(row), float(cosines[row]))
#   by: (float(cosines[row]), int(row))
#   hint: a pair has the position first
# - item: nearest
#   name: worst row first
#   replace: argsort(-cosines
#   by: argsort(cosines
#   hint: your worst row comes first
# - item: nearest
#   name: not sorted
#   replace: 'np.argsort(-cosines, kind="stable")[:k]'
#   by: np.arange(len(vectors))[:k]
#   hint: your rows are the first ones
# - item: nearest
#   name: chosen but not sorted
#   replace: 'np.argsort(-cosines, kind="stable")[:k]'
#   by: 'sorted(np.argsort(-cosines, kind="stable")[:k])'
#   hint: you choose the right rows
# - item: nearest
#   name: sorted list turned round
#   replace: 'np.argsort(-cosines, kind="stable")[:k]'
#   by: 'np.argsort(cosines, kind="stable")[::-1][:k]'
#   hint: do not turn a sorted list round
# - item: nearest
#   name: chosen by a partition
#   replace: 'np.argsort(-cosines, kind="stable")[:k]'
#   by: 'sorted(np.argpartition(-cosines, min(k, len(cosines)) - 1)[:k], key=lambda row: -cosines[row])'
#   hint: choose the best k by a stable sort
# - item: nearest
#   name: distance
#   replace: float(cosines[row])
#   by: float(np.linalg.norm(vectors[row] - question_vector))
#   hint: the second number is a distance
# - item: nearest
#   name: sign taken away
#   replace: vectors @ question_vector
#   by: np.abs(vectors @ question_vector)
#   hint: Do not take away the sign
# - item: nearest
#   name: counted from one
#   replace: int(row)
#   by: int(row) + 1
#   hint: positions are counted from 0
# - item: nearest
#   name: squared
#   replace: float(cosines[row])
#   by: float(cosines[row]) ** 2
#   hint: is the square of the cosine
# - item: nearest
#   name: sign lost in the pair
#   replace: float(cosines[row])
#   by: abs(float(cosines[row]))
#   hint: hand it on with its sign
# - item: nearest
#   name: rounded cosines
#   replace: vectors @ question_vector
#   by: np.round(vectors @ question_vector, 4)
#   hint: rounded cosines make two different rows equal
# - item: search-all
#   name: positions
#   replace: '[names[place] for place, _ in nearest(question_vector, rows, k)]'
#   by: '[place for place, _ in nearest(question_vector, rows, k)]'
#   hint: yours are positions
# - item: search-all
#   name: with cosines
#   replace: '[names[place] for place, _ in nearest(question_vector, rows, k)]'
#   by: '[(names[place], cosine) for place, cosine in nearest(question_vector, rows, k)]'
#   hint: without their cosines
# - item: search-all
#   name: one list
#   replace: |2-
#         found[kind] = [names[place] for place, _ in nearest(question_vector, rows, k)]
#         return found
#   by: |2-
#         found[kind] = [names[place] for place, _ in nearest(question_vector, rows, k)]
#         return [label for labels in found.values() for label in labels]
#   hint: search_all returns a dictionary
# - item: search-all
#   name: labels of the first kind
#   replace: '[names[place] for'
#   by: '[next(iter(tables.values()))[0][place] for'
#   hint: the rivers have labels of the cities
# - item: search-all
#   name: vectors of the first kind
#   replace: nearest(question_vector, rows, k)]
#   by: nearest(question_vector, next(iter(tables.values()))[1][:len(names)], k)]
#   hint: is every kind searched by its own vectors
# - item: search-all
#   name: sorted by name
#   replace: '[names[place] for place, _ in nearest(question_vector, rows, k)]'
#   by: 'sorted(names[place] for place, _ in nearest(question_vector, rows, k))'
#   hint: sorted by name or left in the order
# - item: search-all
#   name: k fixed
#   replace: rows, k)
#   by: rows, 2)
#   hint: is k handed on
# - item: check
#   name: first type of a slot only
#   replace: given.intersection(slot.kinds)
#   by: given.intersection(slot.kinds[:1])
#   hint: look at all types of a slot
# - item: check
#   name: name returned
#   replace: return stuck[0]
#   by: return str(stuck[0])
#   hint: return the operator itself
# - item: check
#   name: every type of a slot
#   replace: given.intersection(slot.kinds)
#   by: given.issuperset(slot.kinds)
#   hint: one type of a slot is enough
# - item: check
#   name: order ignored
#   replace: set(), []
#   by: '{operator.gives for operator in operators[1:]}, []'
#   hint: what is given later does not count
# - item: check
#   name: any slot
#   replace: if not all(
#   by: if operator.takes and not any(
#   hint: all of its slots have to be filled
# - item: check
#   name: last operator only
#   replace: given.add(operator.gives)
#   by: 'given = {operator.gives}'
#   hint: an operator that is not the last one before it
# - item: check
#   name: optional slots required
#   replace: 'slot.optional or '
#   by: ''
#   hint: it can run without
# - item: check
#   name: last that cannot run
#   replace: 'stuck[0] if'
#   by: 'stuck[-1] if'
#   hint: yours returns the second
# - item: check
#   name: its own output counts
#   replace: '    for operator in operators:'
#   by: |2-
#         for operator in operators:
#             given.add(operator.gives)
#   hint: what it gives itself comes too late
# - item: check
#   name: used up
#   replace: '        given.add(operator.gives)'
#   by: |2-
#             if operator.name == "VDB":
#                 given -= {kind for slot in operator.takes for kind in slot.kinds}
#             given.add(operator.gives)
#   hint: what is given is not used up
# - item: check
#   name: list emptied
#   replace: '    for operator in operators:'
#   by: |2-
#         while operators:
#             operator = operators.pop(0)
#   hint: leave that list as it is
# - item: vgraphrag
#   name: graph forgotten
#   replace: ', graph="textual knowledge"'
#   by: ''
#   hint: compose refuses your composition
# - item: vgraphrag
#   name: searched by keywords
#   replace: return mr.compose(operators=operators,
#   by: return mr.compose(operators=["question Keywords", *operators],
#   hint: searches by the vector of the question
# - item: vgraphrag
#   name: list of operators
#   replace: return mr.compose(operators=operators, graph="textual knowledge")
#   by: return operators
#   hint: neither a list of operators
# - item: vgraphrag
#   name: relations by the question
#   replace: relationship Onehop
#   by: relationship VDB
#   hint: VGraphRAG takes those at the nodes that were found
# - item: vgraphrag
#   name: without relations
#   replace: '"relationship Onehop", '
#   by: ''
#   hint: the relations of the nodes that were found are missing
# - item: vgraphrag
#   name: passages of LGraphRAG
#   replace: chunk VDB
#   by: chunk Occurrence
#   hint: your passages come by way of the relations
# - item: vgraphrag
#   name: without passages
#   replace: '"chunk VDB", '
#   by: ''
#   hint: nothing searches the passages by their vectors
# - item: vgraphrag
#   name: communities of LGraphRAG
#   replace: community VDB
#   by: community Entity
#   hint: your communities are those of the entities
# - item: vgraphrag
#   name: without reports
#   replace: ', "community VDB"]'
#   by: ']'
#   hint: nothing searches the reports of the communities
# - item: vgraphrag
#   name: a fifth operator
#   replace: '"community VDB"]'
#   by: '"community VDB", "node Onehop"]'
#   hint: VGraphRAG has four operators
# - item: vgraphrag
#   name: another graph
#   replace: '"textual knowledge"'
#   by: '"rich knowledge"'
#   hint: the graph of VGraphRAG is of the type
# - item: vgraphrag
#   name: map-reduce
#   replace: 'graph="textual knowledge"'
#   by: 'graph="textual knowledge", generate="map-reduce"'
#   hint: CheapRAG is read by map-reduce
# - item: vgraphrag
#   name: ten nodes
#   replace: '"node VDB"'
#   by: 'mr.OPERATORS["node VDB"](k=10)'
#   hint: leave k as it is
# - item: without
#   name: taken out of the list itself
#   replace: '    for operator in operators:'
#   by: |2-
#         operators[:] = [each for each in operators if str(each) != name]
#         for operator in operators:
#   hint: has changed
# - item: without
#   name: names returned
#   replace: return left
#   by: 'return [str(operator) for operator in left]'
#   hint: not their names
# - item: without
#   name: operator compared with its name
#   replace: str(operator) != name
#   by: operator != name
#   hint: chunk VDB is still there
# - item: without
#   name: every VDB
#   replace: str(operator) != name
#   by: operator.name not in name
#   hint: all VDBs are gone
# - item: without
#   name: every operator of the kind
#   replace: str(operator) != name
#   by: operator.kind != name.split()[0]
#   hint: all operators on nodes are gone
# - item: without
#   name: everything after it
#   replace: '        if str(operator)'
#   by: |2-
#             if str(operator) == name:
#                 break
#             if str(operator)
#   hint: take out only what check returns
# - item: without
#   name: only the one named
#   replace: ' and not check([*left, operator])'
#   by: ''
#   hint: what check returns goes, too
# - item: without
#   name: checked once
#   replace: not check([*left, operator])
#   by: operator is not check([each for each in operators if str(each) != name])
#   hint: Is check asked again
# - item: without
#   name: every one of the name that cannot run
#   replace: '        if str(operator) != name and not check([*left, operator]):'
#   by: |2-
#             gone = [str(each) for i, each in enumerate(operators) if check([*operators[:i], each])]
#             if str(operator) != name and str(operator) not in gone and not check([*left, operator]):
#   hint: only the first node Onehop cannot run
# - item: without
#   name: relations fall with nodes
#   replace: ' and not check([*left, operator])'
#   by: ' and not (name.startswith("node") and str(operator).startswith("rel")) and not name.startswith("question")'
#   hint: let check decide
# - item: recall
#   name: no gold is a miss
#   replace: |2-
#         pairs = [(ids[:k], right) for ids, right in zip(found, gold) if right]
#         return sum(len(set(ids) & set(right)) / len(right) for
#   by: |2-
#         pairs = [(ids[:k], right) for ids, right in zip(found, gold)]
#         return sum(len(set(ids) & set(right)) / max(len(right), 1) for
#   hint: counts as a miss
# - item: recall
#   name: an empty list is left out
#   replace: zip(found, gold) if right]
#   by: zip(found, gold) if right and ids]
#   hint: nothing was found is a miss
# - item: recall
#   name: no gold is a hit
#   replace: |2-
#         pairs = [(ids[:k], right) for ids, right in zip(found, gold) if right]
#         return sum(len(set(ids) & set(right)) / len(right) for
#   by: |2-
#         pairs = [(ids[:k], right) for ids, right in zip(found, gold)]
#         return sum(len(set(ids) & set(right)) / len(right) if right else 1 for
#   hint: counts as a hit
# - item: recall
#   name: one is enough
#   replace: 'len(set(ids) & set(right)) / len(right)'
#   by: 'bool(set(ids) & set(right))'
#   hint: not whether there is one
# - item: recall
#   name: precision
#   replace: 'len(set(ids) & set(right)) / len(right)'
#   by: 'len(set(ids) & set(right)) / k'
#   hint: which is precision
# - item: recall
#   name: at most k gold passages
#   replace: 'len(set(ids) & set(right)) / len(right)'
#   by: 'len(set(ids) & set(right)) / min(k, len(right))'
#   hint: you divide by k where k is smaller
# - item: recall
#   name: last k
#   replace: 'ids[:k]'
#   by: 'ids[-k:]'
#   hint: you look at the last k passages
# - item: recall
#   name: duplicates counted
#   replace: 'len(set(ids) & set(right)) / len(right)'
#   by: 'sum(each in right for each in ids) / len(right)'
#   hint: count it once
# - item: recall
#   name: percent
#   replace: return sum(
#   by: return 100 * sum(
#   hint: yours is in percent
# - item: recall
#   name: all or nothing
#   replace: 'len(set(ids) & set(right)) / len(right)'
#   by: 'set(right) <= set(ids)'
#   hint: a question counts only with all of its gold passages
# - item: recall
#   name: one too few
#   replace: 'ids[:k]'
#   by: 'ids[: k - 1]'
#   hint: the passage on rank 4 counts
# - item: recall
#   name: all gold passages together
#   replace: 'return sum(len(set(ids) & set(right)) / len(right) for ids, right in pairs) / len(pairs)'
#   by: 'return sum(len(set(ids) & set(right)) for ids, right in pairs) / sum(len(right) for _, right in pairs)'
#   hint: all gold passages of all questions together
# - item: recall
#   name: k ignored
#   replace: '(ids[:k], right)'
#   by: '(ids, right)'
#   hint: p4 stands on rank 4
# - item: recall
#   name: not divided
#   replace: ' / len(pairs)'
#   by: ''
#   hint: the shares are added up
