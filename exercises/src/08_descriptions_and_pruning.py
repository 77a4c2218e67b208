# ---
# jupyter:
#   minirag:
#     title: Descriptions and soft pruning
#     minutes: 40
# ---

# %% [markdown]
# # Exercise 8: descriptions and soft pruning
#
# GRAG retrieves small graphs and shows each to a language model twice: as a text from which the graph can be rebuilt, and as a vector in which what does not
# matter to the question has been turned down. You write the text, the way back from it, and the layer that turns things down.
#
# **You will be able to** split an ego-graph into a tree and the rest, describe it without losing an edge, say which names would break the description, and
# compute a soft pruning factor and a scaled message by hand.
#
# 40 minutes, no model, no network. A graph is a list of names and a list of edges `(head, relation, tail)`; head and tail are positions in the list of names.

# %%
import numpy as np

nodes = ["lighthouse", "harbour board", "keeper", "toll", "lamp", "gulls"]
edges = [(0, "is run by", 1), (0, "is home to", 2), (1, "collects", 3), (2, "lights", 4)]
edges += [(2, "counts", 5), (1, "pays", 2), (3, "pays for", 4), (2, "sleeps in", 0)]

# %% [markdown]
# You will often need the edges of one node. `leaving` is given:

# %%
def leaving(edges, node):
    """The positions in `edges` of those that leave a node, in their order."""
    return [number for number, (head, _, _) in enumerate(edges) if head == node]


[edges[number][1] for number in leaving(edges, 2)]

# %% [markdown]
# ## 1. The tree
#
# This is the ego-graph of the lighthouse with two hops. It is not a tree, so it is split: a tree that grows breadth-first from the root, and the edges that
# are left over. Nodes are visited in the order in which they are reached, and the edges of a node are looked at in their order. **An edge that first reaches
# a node belongs to the tree.**
#
# **Predict first.** How many edges does the tree have, and which are left over?
#
# <details><summary>Answer</summary>
#
# Five: every node but the root is reached once. Left over are *pays*, *pays for* and *sleeps in*, which lead to nodes that were reached before.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "tree-edges", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tree_edges(edges, root):
    """Returns a set: the positions in edges of those that belong to the tree."""
    ### BEGIN SOLUTION
    reached, tree = [root], set()
    for node in reached:
        for number in leaving(edges, node):
            tail = edges[number][2]
            if tail not in reached:
                reached.append(tail)
                tree.add(number)
    return tree
    ### END SOLUTION


# %% [raw] tags=["hints"] item="tree-edges"
# - What do you have to remember while you go, to know whether an edge is the first that reaches its tail?
# - "Keep a list of the nodes that were reached, in order, beginning with the root. A `for` loop over a list goes on to what is appended while it runs."
# - "For every `number` in `leaving(edges, node)`: if `edges[number][2]` has not been reached, append it to the list and add `number` to the tree."

# %% nbgrader={"grade": true, "grade_id": "test-tree-edges", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
small = [(0, "r1", 1), (0, "r2", 2), (1, "r3", 3), (1, "r4", 4), (2, "r5", 3)]
found = tree_edges(small, 0)
assert found is not None, "tree_edges returns nothing: return the set of positions"
found = set(found)
assert found != {0, 1}, "your tree ends after the first hop: go on from every node that is reached"
assert 4 not in found or 2 in found, "node 3 is reached through node 2 in your tree, but node 1 was reached before: finish a layer before you go deeper"
assert 4 not in found, "edge 4 leads to node 3, which edge 2 has reached already: it does not belong to the tree"
assert found == {0, 1, 2, 3}, f"the tree of the small graph has the edges 0, 1, 2 and 3; yours: {sorted(found)}"
assert set(tree_edges(small, 1)) == {2, 3}, "from node 1 the tree has the edges 2 and 3: does yours begin at the root that was asked for?"
twice = set(tree_edges([(0, "r1", 1), (0, "r2", 1)], 0))
assert twice != {1}, "of two edges to the same node yours takes the later one: look at a node's edges in their order"
assert twice == {0}, f"of two edges to the same node the first belongs to the tree; yours: {sorted(twice)}"
assert set(tree_edges([(0, "r1", 1), (1, "r2", 0)], 0)) == {0}, "an edge that leads back to the root has got into the tree: the root is reached from the start"

# %% [markdown]
# The lighthouse's tree, and what is left over:

# %%
tree = tree_edges(edges, 0)
print("tree:     ", ", ".join(edges[number][1] for number in sorted(tree)))
print("left over:", ", ".join(edge[1] for number, edge in enumerate(edges) if number not in tree))

# %% [markdown]
# ## 2. The description
#
# Every edge becomes a line, *head is connected to tail via relation*. The lines come in **pre-order**: the edges of a node in their order, and after
# the line of a *tree* edge everything that hangs from its tail, before the node's next edge. An edge that is left over is written too, among the edges
# of its head, but nothing follows from it.
#
# **Predict first.** Which line comes third?
#
# <details><summary>Answer</summary>
#
# *toll is connected to lamp via pays for*. The first is *lighthouse ... harbour board*, the second *harbour board ... toll*, and the toll hangs from a tree
# edge, so its own edge follows at once, although this edge is left over. GRAG's released code has a function for such a text as well: it forgets edges that
# leave a node at the last hop, and *pays for* is such an edge, for the toll is two hops from the root. (It also never calls the function.)
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "describe", "locked": false, "schema_version": 3, "solution": true, "task": false}
def describe(nodes, edges, node, tree):
    """Returns a list of lines for all that hangs from a node: for the root, the description."""
    ### BEGIN SOLUTION
    lines = []
    for number in leaving(edges, node):
        head, relation, tail = edges[number]
        lines.append(f"{nodes[head]} is connected to {nodes[tail]} via {relation}")
        if number in tree:
            lines += describe(nodes, edges, tail, tree)
    return lines
    ### END SOLUTION


# %% [raw] tags=["hints"] item="describe"
# - The description of what hangs from a tail is a description, too. Which function writes it?
# - "For each edge that leaves `node`: first its line, then, if the edge is in the tree, the lines that `describe` itself returns for its tail."
# - "`lines.append(f\"{nodes[head]} is connected to {nodes[tail]} via {relation}\")`, then `if number in tree: lines += describe(nodes, edges, tail, tree)`."

# %% nbgrader={"grade": true, "grade_id": "test-describe", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
letters = list("ABCDE")
found = describe(letters, small, 0, {0, 1, 2, 3})
assert found is not None, "describe returns nothing: return the list of lines"
assert isinstance(found, list) and all(isinstance(line, str) for line in found), "a list of lines is expected, each of them a string"
told = [line.replace("is connected to ", "").replace("via ", "") for line in found]
assert told[:1] != ["0 1 r1"], "your lines hold numbers: a position has to be looked up in nodes"
assert "B A r1" not in told, "head and tail are the wrong way round: the edge leads from its head to its tail"
assert len(told) > 2, "only the edges of the root are there: what hangs from its tree edges is described, too"
assert "A is connected to B via r1" in found, f"the template is 'A is connected to B via r1'; your first line: {found[0]!r}"
assert "C D r5" in told, "C D r5 is missing: edges outside the tree are written as well, at their head"
assert told[:2] != ["A B r1", "A C r2"], "both edges of A come first: what hangs from B stands right after the line that leads to B"
assert told[:1] == ["A B r1"], "what hangs from B stands before the line that leads to B: write the edge's own line first"
assert told == ["A B r1", "B D r3", "B E r4", "A C r2", "C D r5"], f"the order is A B, B D, B E, A C, C D; yours: {told}"
deeper = [*small, (3, "r6", 4)]
found = describe(letters, deeper, 0, {0, 1, 2, 3})
assert found.count("D is connected to E via r6") != 2, "D's edge is told twice, because two edges lead to D: only a tree edge is followed"
assert found[2] == "D is connected to E via r6" and len(found) == 6, f"D's edge follows the line that leads to D in the tree; yours: {found}"
found = describe(letters, [(0, "r1", 1), (0, "r2", 2), (1, "r3", 2), (2, "r4", 3)], 0, {0, 1, 3})
late = ["A is connected to C via r2", "C is connected to D via r4"]
assert found[2:] == late, "C's edge follows B's line to C, which is left over: ask the tree that was handed in, not what you have visited"

# %% [markdown]
# The lighthouse again, as a language model reads it. All eight edges are there:

# %%
print("\n".join(describe(nodes, edges, 0, tree_edges(edges, 0))))

# %% [markdown]
# ## 3. The way back
#
# *Lossless* is a promise that can be tested: rebuild the graph from the text alone. Names are numbered in the order in which the text names them, a line's head
# before its tail, so that the root becomes node 0.
#
# You may rely on names without the words *is connected to* and *via*. A relation may hold *via*, but not *is connected to*.
#
# **Predict first.** *mill is connected to quay via carts via the bridge*. What are the tail and the relation?
#
# <details><summary>Answer</summary>
#
# *quay*, and *carts via the bridge*: no name holds *via*, so the first one belongs to the template.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "parse", "locked": false, "schema_version": 3, "solution": true, "task": false}
def parse(lines):
    """Returns (nodes, edges), in the form that the exercise began with."""
    ### BEGIN SOLUTION
    nodes, edges = [], []
    for line in lines:
        head, rest = line.split(" is connected to ")
        tail, relation = rest.split(" via ", 1)
        for name in (head, tail):
            if name not in nodes:
                nodes.append(name)
        edges.append((nodes.index(head), relation, nodes.index(tail)))
    return nodes, edges
    ### END SOLUTION


# %% [raw] tags=["hints"] item="parse"
# - Which two separators cut a line into three parts, and where does a name's number come from?
# - "`text.split(\" via \", 1)` cuts at the first place only. Append a name to `nodes` if it is not in there yet; its number is `nodes.index(name)`."
# - "`head, rest = line.split(\" is connected to \")`, `tail, relation = rest.split(\" via \", 1)`, then
#   `edges.append((nodes.index(head), relation, nodes.index(tail)))`."

# %% nbgrader={"grade": true, "grade_id": "test-parse", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
text = ["A is connected to B via r1", "B is connected to D via r3", "A is connected to C via r2", "C is connected to D via r5"]
found = parse(text)
assert found is not None, "parse returns nothing: return the names and the edges"
assert len(found) == 2, "two things are returned: the names and the edges"
names, told = list(found[0]), [tuple(edge) for edge in found[1]]
assert len(names) == len(set(names)), "a name is there more than once: a node that is named again is the same node"
assert names[:1] != ["B"], "a line's head is named before its tail, so that the root becomes node 0"
assert names == ["A", "B", "D", "C"], f"the names come in the order of the text, A, B, D, C; yours: {names}"
assert told[:1] != [("A", "r1", "B")], "an edge holds the positions of its ends, not their names"
assert told == [(0, "r1", 1), (1, "r3", 2), (0, "r2", 3), (3, "r5", 2)], f"the edges in the order of the text, with the new numbers; yours: {told}"
copies = parse([text[0], text[0]])
assert len(copies[1]) == 2, "two equal lines are two edges: a multigraph may hold copies of an edge"
assert [list(part) for part in parse([])] == [[], []], "no lines make a graph without nodes and edges"
try:
    ways = parse(["mill is connected to quay via carts via the bridge"])
except ValueError:
    ways = "cut in three"
assert ways != "cut in three", "a relation that holds ' via ' is cut as well: cut at one place only"
assert list(ways[0]) != ["mill", "quay via carts"], "you cut at the last ' via ', and a part of the relation became the name: the first one ends the tail"
assert [tuple(edge) for edge in ways[1]] == [(0, "carts via the bridge", 1)], f"the relation is 'carts via the bridge'; yours: {ways}"
assert list(ways[0]) == ["mill", "quay"], f"the names are mill and quay; yours: {ways[0]}"

# %% [markdown]
# Is anything lost? The same edges between the same names come back:

# %%
rebuilt, again = parse(describe(nodes, edges, 0, tree_edges(edges, 0)))
named = lambda names, some: sorted((names[head], text, names[tail]) for head, text, tail in some)
print(named(rebuilt, again) == named(nodes, edges))

# %% [markdown]
# But two nodes that share a name would become one, and a name with *via* in it would be cut. The package numbers the first and quotes the second, and leaves
# ordinary names alone, so that any graph survives:

# %%
from minirag.algorithms.graph_text import describe as package_describe
from minirag.algorithms.ego_graphs import TextualGraph

names = "Newport", "Newport", "Dover via Calais"
print(package_describe(TextualGraph(names, ((0, "is not", 1), (1, "trades with", 2)))))

# %% [markdown]
# ## 4. How far from the question
#
# Now the vector. Every name and relation has a vector (here three numbers, made by hand: money, light, birds), and so has the question. GRAG's ⊖ is the
# **Euclidean distance: one number for each text**.
#
# $$z \ominus z_q = \sqrt{\sum_i (z[i] - z_q[i])^2}$$
#
# Distances of real encoders crowd together in a narrow band, and a small network that sees them raw hardly learns anything. So they are *standardised*:
# how many `spread` does a distance lie above `center`? (The paper does not say so. The released code takes the differences themselves instead of their
# length, one for each dimension.)
#
# **Predict first.** The text (3, 4), the question (0, 0), center 2, spread 1.5. Which number comes out?
#
# <details><summary>Answer</summary>
#
# The distance is 5, and (5 − 2) / 1.5 = 2.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "distance", "locked": false, "schema_version": 3, "solution": true, "task": false}
def distance(vectors, question, center, spread):
    """vectors: (n, d), question: (d,); center and spread: numbers. Returns (n,)."""
    ### BEGIN SOLUTION
    euclidean = np.sqrt(((vectors - question) ** 2).sum(axis=1))
    return (euclidean - center) / spread
    ### END SOLUTION


# %% [raw] tags=["hints"] item="distance"
# - In which order do root, sum and square come, and over which axis is added?
# - "`vectors - question` subtracts the question from every row. Square, add along each row (`axis=1`), take the root; then standardise."
# - "`(np.sqrt(((vectors - question) ** 2).sum(axis=1)) - center) / spread`"

# %% nbgrader={"grade": true, "grade_id": "test-distance", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
rows = np.array([[4.0, 4.0], [1.0, 0.0], [1.0, 2.0]])
near = lambda found, expected: np.allclose(found, expected, atol=1e-9)
found = distance(rows, np.array([1.0, 0.0]), 0.0, 1.0)
assert found is not None, "distance returns nothing: return the array"
assert np.shape(found) != (3, 2), "one number for each dimension, as in the released code: the paper has one number for each text"
assert np.shape(found) != (2,), "you add over the texts, axis 0: each text keeps its own number"
assert np.shape(found) == (3,), f"three texts have three distances; yours has the shape {np.shape(found)}"
assert not near(found, [25, 0, 4]), "the square root is missing"
assert not near(found, [7, 0, 2]), "you add up the differences without squaring them: that is another distance"
assert near(found, [5, 0, 2]), f"the distances are 5, 0 and 2; yours: {found}"
found = distance(rows, np.array([1.0, 0.0]), 2.0, 1.5)
assert not near(found, np.array([5, 0, 2]) / 1.5), "center is not used: subtract it before you divide"
assert not near(found, [3, -2, 0]), "spread is not used: divide by it"
assert near(found, [2, -4 / 3, 0]), f"with center 2 and spread 1.5 they become 2, -1.33 and 0; yours: {found}"

# %% [markdown]
# ## 5. The factor
#
# A small network turns the number into a factor α between 0 and 1 (Eq. 6): here a hidden layer of 64 units with ReLU, one output, a
# sigmoid. (The released code, and the package, have two hidden layers; the paper does not say.)
#
# $$\alpha = \sigma\Big(\sum_j w_{2,j} \max(0,\; w_{1,j}\, x + b_{1,j}) + b_2\Big), \qquad \sigma(y) = \frac{1}{1 + e^{-y}}$$
#
# In GRAG the weights are learnt, by whether the language model's answer gets better. Here they are given. The paper names no last activation; the
# sigmoid is the released code's.
#
# **Predict first.** The output weights below are all negative. What happens to α as the distance grows?
#
# <details><summary>Answer</summary>
#
# It falls: each hidden unit grows with x (its weight is 1) and pulls the output down. Learnt weights may do something else, and need not even be monotonic.
#
# </details>

# %%
w1, b1 = np.ones(64), -np.linspace(-2, 2, 64)
w2, b2 = np.full(64, -0.1), 3.0

# %% nbgrader={"grade": false, "grade_id": "factors", "locked": false, "schema_version": 3, "solution": true, "task": false}
def factors(x, w1, b1, w2, b2):
    """x: (n,); w1, b1, w2: (hidden,); b2: a number. Returns (n,), between 0 and 1."""
    ### BEGIN SOLUTION
    hidden = np.maximum(0, np.outer(x, w1) + b1)
    return 1 / (1 + np.exp(-(hidden @ w2 + b2)))
    ### END SOLUTION


# %% [raw] tags=["hints"] item="factors"
# - Which shape has the hidden layer for n texts at once?
# - "`np.outer(x, w1)` is (n, hidden), and `b1` is added to each of its rows. `np.maximum(0, ...)` is the ReLU, `@ w2` the weighted sum."
# - "`1 / (1 + np.exp(-(np.maximum(0, np.outer(x, w1) + b1) @ w2 + b2)))`"

# %% nbgrader={"grade": true, "grade_id": "test-factors", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
net = np.array([1.0, -1.0, 2.0]), np.array([0.25, 0.5, -1.0]), np.array([1.0, -2.0, 0.5]), 0.5
logits, sigmoid = np.array([-2.5, -0.25, 4.25]), lambda y: 1 / (1 + np.exp(-np.asarray(y)))
found = factors(np.array([-1.0, 0.0, 2.0]), *net)
assert found is not None, "factors returns nothing: return the array"
assert np.shape(found) == (3,), f"three numbers have three factors; yours has the shape {np.shape(found)}"
assert not near(found, logits), "the sigmoid is missing: a factor lies between 0 and 1"
assert not near(found, sigmoid(-logits)), "the sign in the sigmoid is wrong: a great output is a factor near 1"
assert not near(found, np.exp(logits) / np.exp(logits).sum()), "your factors add up to 1, as if texts were rivals: each text has a sigmoid of its own"
assert not near(found, sigmoid(logits - 0.5)), "b2 is missing: add it before the sigmoid"
assert not near(found, sigmoid([-1.5, 0.5, 4.5])), "b1 is missing: each hidden unit has its own"
assert not near(found, sigmoid([-4.75, -0.75, 7.25])), "the ReLU is missing: without it the network is one straight line"
assert near(found, sigmoid(logits)), f"the factors are {np.round(sigmoid(logits), 3)}; yours: {np.round(found, 3)}"

# %% [markdown]
# ## 6. The scaled message
#
# The factors act where nodes tell each other what they hold (Eq. 9). Along every edge goes the message
#
# $$\alpha_{\mathrm{head}} \cdot h_{\mathrm{head}} + \alpha_{\mathrm{edge}} \cdot e_{\mathrm{edge}}$$
#
# and a node hears itself, too: α · h, without an edge. Its new vector is the **mean of all it hears**. (A plain mean; GRAG takes graph attention, which
# weighs the messages. And the package sends messages both ways along an edge, here they go from head to tail.)
#
# **Predict first.** A node into which two edges lead: by how much is divided? And if one of the two senders and its edge have the factor 0?
#
# <details><summary>Answer</summary>
#
# By 3, both times. That message is a vector of zeros, but it is heard: soft pruning turns down, it does not cut.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "aggregate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def aggregate(h, e, edges, alpha_n, alpha_e):
    """h: (n, d), e: (m, d), alpha_n: (n,), alpha_e: (m,). Returns the new vectors, (n, d)."""
    ### BEGIN SOLUTION
    heard, count = alpha_n[:, None] * h, np.ones(len(h))
    for number, (head, _, tail) in enumerate(edges):
        heard[tail] += alpha_n[head] * h[head] + alpha_e[number] * e[number]
        count[tail] += 1
    return heard / count[:, None]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="aggregate"
# - What does every node hear before the first edge is looked at, and how many messages is that?
# - "Begin with `alpha_n[:, None] * h`, a new array, and a count of one for each node. Each edge adds its message, and 1, at its *tail*."
# - "`heard[tail] += alpha_n[head] * h[head] + alpha_e[number] * e[number]` and `count[tail] += 1`; at the end `heard / count[:, None]`."

# %% nbgrader={"grade": true, "grade_id": "test-aggregate", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
h, e, fork = np.array([[1.0, 0.0], [0.0, 2.0], [4.0, 4.0]]), np.array([[1.0, 1.0], [2.0, 0.0]]), [(0, "a", 2), (1, "b", 2)]
alpha_n, alpha_e = np.array([0.5, 1.0, 0.25]), np.array([0.1, 0.5])
before = h.copy()
found = aggregate(h, e, fork, alpha_n, alpha_e)
assert found is not None, "aggregate returns nothing: return the new vectors"
assert near(h, before), "the vectors that were handed in have changed: collect the messages in a new array"
assert np.shape(found) == (3, 2), f"three nodes have three new vectors; yours have the shape {np.shape(found)}"
assert not near(found[0], [0, 0]), "nothing reaches node 0 in your version: a node hears itself, too"
assert near(found[0], [0.5, 0]) or not near(found[2], [1, 1]), "node 0 hears of node 2: a message goes from the head to the tail"
assert not near(found[0], [1, 0]), "what a node hears from itself is not scaled: its own factor counts there, too"
assert not near(found[2], [2.6, 3.1]), "you add the messages up: take their mean"
assert not near(found[2], [1.3, 1.55]), "you divide by the number of edges: what a node hears from itself is one more message"
assert not near(found[2], [4.5 / 3, 4 / 3]), "the edges' vectors are not scaled by their own factors"
assert not near(found[2], [3.1 / 3, 3.1 / 3]), "the senders' vectors are not scaled: is alpha_n of the head used?"
assert not near(found[2], [2.35 / 3, 1.6 / 3]), "you scale a message by the factor of the node that hears it: the factor is the sender's"
assert not near(found[2], [0.5, 1]), "the edges say nothing in your version, as in the released code: add their scaled vectors to the message"
assert near(found, [[0.5, 0], [0, 2], [2.6 / 3, 3.1 / 3]]), f"node 2 hears (1, 1), (0.6, 0.1) and (1, 2); yours: {found[2]}"

# %% [markdown]
# Put together, for *Who pays for the light?* No weight was learnt, and no model read the names; but you see what soft pruning does with them.

# %%
unit = lambda rows: rows / np.linalg.norm(rows, axis=-1, keepdims=True)
of_nodes = unit(np.array([[1, 6, 1], [5, 1, 0], [1, 3, 2], [6, 1, 0], [0, 6, 0], [0, 0, 5.0]]))
of_edges = [[2, 1, 1], [0, 1, 3], [5, 0, 0], [0, 5, 0], [0, 0, 4], [5, 1, 0], [5, 3, 0], [0, 1, 4]]
of_edges, question = unit(np.array(of_edges, dtype=float)), unit(np.array([4.0, 4.0, 0.0]))
seen = [distance(some, question, 0.8, 0.3) for some in (of_nodes, of_edges)]
alphas = [factors(x, w1, b1, w2, b2) for x in seen]
for names, alpha in ((nodes, alphas[0]), ([edge[1] for edge in edges], alphas[1])):
    print(", ".join(f"{name} {number:.2f}" for name, number in zip(names, alpha)))

# %% [markdown]
# The graph's vector is the mean over its nodes after the layer, and the cosine says how near it is to the question, with all factors at 1 and with those above:

# %%
pooled = lambda *pair: aggregate(of_nodes, of_edges, edges, *pair).mean(axis=0)
print(f"as it is: {unit(pooled(np.ones(6), np.ones(8))) @ question:.2f}")
print(f"pruned:   {unit(pooled(*alphas)) @ question:.2f}")

# %% [markdown]
# ## 7. Compare with the package
#
# `minirag.algorithms.graph_text` has to agree with you on every graph with ordinary names in which the root has an edge and reaches all the rest. (For a
# lone root the package writes one line with the name alone: yours has no line, and the node is lost. The pruning layer of the package is
# `minirag.neural.soft_pruning`, written in torch, because there the weights are learnt.)

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from random import Random

from minirag.algorithms import graph_text as package
from minirag.algorithms.ego_graphs import TextualGraph

random = Random(0)
for _ in range(60):
    names = list("abcdefgh"[: random.randint(2, 8)])
    drawn = [(random.randrange(node), f"r{node}", node) for node in range(1, len(names))]
    drawn += [(random.randrange(len(names)), f"s{number}", random.randrange(len(names))) for number in range(random.randint(0, 6))]
    random.shuffle(drawn)
    known = TextualGraph(tuple(names), tuple(drawn))
    assert set(package.split(known)[0]) == set(tree_edges(drawn, 0)), f"in {drawn} the package's tree has other edges"
    yours = describe(names, drawn, 0, tree_edges(drawn, 0))
    assert package.describe(known).split("\n") == yours, f"the package describes {drawn} differently"
    theirs = package.parse_description("\n".join(yours))
    names, told = parse(yours)
    assert list(theirs.nodes) == list(names) and list(theirs.edges) == [tuple(edge) for edge in told], f"from {yours} the package rebuilds another graph"

# %% [markdown]
# **To think about.** A factor is a number between 0 and 1 for *each* text, whatever stands around it. Draw a question for which a node is needed
# although its own text is far from the question. What, in GRAG, could still carry it into the answer? And which of the two prompts, the text or the
# vector, is touched by soft pruning at all?

# %% [raw] tags=["wrong-answers"]
# - item: tree-edges
#   name: one hop only
#   replace: for node in reached
#   by: 'for node in [root]'
#   hint: your tree ends after the first hop
# - item: tree-edges
#   name: depth first
#   replace: reached.append(tail)
#   by: reached.insert(reached.index(node) + 1, tail)
#   hint: finish a layer before you go deeper
# - item: tree-edges
#   name: every edge
#   replace: if tail not in reached
#   by: if number not in tree
#   hint: edge 4 leads to node 3, which edge 2 has reached already
# - item: tree-edges
#   name: later edge first
#   replace: |-
#     reached.append(tail)
#                     tree.add(number)
#         return tree
#   by: |-
#     reached.append(tail)
#                     tree.add(max(n for n in leaving(edges, node) if edges[n][2] == tail))
#         return tree
#   hint: yours takes the later one
# - item: tree-edges
#   name: root not reached
#   replace: if tail not in reached
#   by: 'if tail not in reached[1:]'
#   hint: the root is reached from the start
# - item: tree-edges
#   name: always from node 0
#   replace: '[root], set()'
#   by: '[0], set()'
#   hint: does yours begin at the root
# - item: describe
#   name: positions instead of names
#   replace: '{nodes[head]} is connected to {nodes[tail]}'
#   by: '{head} is connected to {tail}'
#   hint: your lines hold numbers
# - item: describe
#   name: head and tail swapped
#   replace: '{nodes[head]} is connected to {nodes[tail]}'
#   by: '{nodes[tail]} is connected to {nodes[head]}'
#   hint: head and tail are the wrong way round
# - item: describe
#   name: root only
#   replace: lines += describe(nodes, edges, tail, tree)
#   by: continue
#   hint: only the edges of the root are there
# - item: describe
#   name: edges outside the tree forgotten
#   replace: 'for number in leaving(edges, node):'
#   by: 'for number in sorted(tree.intersection(leaving(edges, node))):'
#   hint: edges outside the tree are written as well
# - item: describe
#   name: all edges of a node first
#   replace: |-
#     if number in tree:
#                 lines
#   by: |-
#     pass
#         for tail in [edges[number][2] for number in leaving(edges, node) if number in tree]:
#                 lines
#   hint: stands right after the line that leads to B
# - item: describe
#   name: post-order
#   replace: lines += describe
#   by: 'lines[-1:-1] = describe'
#   hint: write the edge's own line first
# - item: describe
#   name: every edge followed
#   replace: if number in tree
#   by: if True
#   hint: only a tree edge is followed
# - item: describe
#   name: what was visited instead of the tree
#   replace: |-
#     lines = []
#         for number in leaving(edges, node):
#             head, relation, tail = edges[number]
#             lines.append(f"{nodes[head]} is connected to {nodes[tail]} via {relation}")
#             if number in tree:
#   by: |-
#     lines, tree = [], tree if isinstance(tree, list) else [node]
#         for number in leaving(edges, node):
#             head, relation, tail = edges[number]
#             lines.append(f"{nodes[head]} is connected to {nodes[tail]} via {relation}")
#             if tail not in tree:
#                 tree.append(tail)
#   hint: ask the tree that was handed in
# - item: describe
#   name: another template
#   replace: ' via {relation}"'
#   by: ' via {relation}."'
#   hint: the template is
# - item: parse
#   name: a node for every mention
#   replace: if name not in nodes
#   by: if True
#   hint: a node that is named again is the same node
# - item: parse
#   name: tail first
#   replace: for name in (head, tail)
#   by: for name in (tail, head)
#   hint: head is named before its tail
# - item: parse
#   name: names sorted
#   replace: nodes.append(name)
#   by: nodes[:] = sorted([*nodes, name])
#   hint: the names come in the order of the text
# - item: parse
#   name: names in the edges
#   replace: 'nodes.index(head), relation, nodes.index(tail)'
#   by: head, relation, tail
#   hint: the positions of its ends, not their names
# - item: parse
#   name: copies dropped
#   replace: return nodes, edges
#   by: return nodes, list(dict.fromkeys(edges))
#   hint: two equal lines are two edges
# - item: parse
#   name: cut at every via
#   replace: 'rest.split(" via ", 1)'
#   by: 'rest.split(" via ")'
#   hint: cut at one place only
# - item: parse
#   name: cut at the last via
#   replace: 'rest.split(" via ", 1)'
#   by: 'rest.rsplit(" via ", 1)'
#   hint: you cut at the last
# - item: distance
#   name: element by element
#   replace: 'np.sqrt(((vectors - question) ** 2).sum(axis=1))'
#   by: 'np.sqrt((vectors - question) ** 2)'
#   hint: as in the released code
# - item: distance
#   name: wrong axis
#   replace: axis=1
#   by: axis=0
#   hint: you add over the texts
# - item: distance
#   name: no root
#   replace: 'np.sqrt(((vectors - question) ** 2).sum(axis=1))'
#   by: '((vectors - question) ** 2).sum(axis=1)'
#   hint: the square root is missing
# - item: distance
#   name: differences added
#   replace: 'np.sqrt(((vectors - question) ** 2).sum(axis=1))'
#   by: 'np.abs(vectors - question).sum(axis=1)'
#   hint: that is another distance
# - item: distance
#   name: center forgotten
#   replace: (euclidean - center)
#   by: euclidean
#   hint: center is not used
# - item: distance
#   name: spread forgotten
#   replace: ' / spread'
#   by: ''
#   hint: spread is not used
# - item: factors
#   name: no sigmoid
#   replace: '1 / (1 + np.exp(-(hidden @ w2 + b2)))'
#   by: hidden @ w2 + b2
#   hint: the sigmoid is missing
# - item: factors
#   name: sign of the sigmoid
#   replace: 'np.exp(-(hidden @ w2 + b2))'
#   by: 'np.exp(hidden @ w2 + b2)'
#   hint: the sign in the sigmoid is wrong
# - item: factors
#   name: softmax
#   replace: '1 / (1 + np.exp(-(hidden @ w2 + b2)))'
#   by: 'np.exp(hidden @ w2 + b2) / np.exp(hidden @ w2 + b2).sum()'
#   hint: as if texts were rivals
# - item: factors
#   name: last bias forgotten
#   replace: 'hidden @ w2 + b2'
#   by: 'hidden @ w2'
#   hint: b2 is missing
# - item: factors
#   name: hidden biases forgotten
#   replace: ' + b1'
#   by: ''
#   hint: b1 is missing
# - item: factors
#   name: no ReLU
#   replace: 'np.maximum(0, np.outer(x, w1) + b1)'
#   by: 'np.outer(x, w1) + b1'
#   hint: the ReLU is missing
# - item: aggregate
#   name: scaled in place
#   replace: 'heard, count = alpha_n[:, None] * h, np.ones(len(h))'
#   by: |-
#     heard, count = h, np.ones(len(h))
#         heard *= alpha_n[:, None]
#   hint: the vectors that were handed in have changed
# - item: aggregate
#   name: itself not heard
#   replace: 'alpha_n[:, None] * h, np.ones(len(h))'
#   by: '0 * h, np.full(len(h), 1e-9)'
#   hint: nothing reaches node 0
# - item: aggregate
#   name: itself not scaled
#   replace: 'alpha_n[:, None] * h, np'
#   by: 1 * h, np
#   hint: what a node hears from itself is not scaled
# - item: aggregate
#   name: against the edge
#   replace: '(head, _, tail)'
#   by: '(tail, _, head)'
#   hint: a message goes from the head to the tail
# - item: aggregate
#   name: sum instead of mean
#   replace: ' / count[:, None]'
#   by: ''
#   hint: you add the messages up
# - item: aggregate
#   name: itself not counted
#   replace: 'heard / count[:, None]'
#   by: 'heard / np.maximum(1, count - 1)[:, None]'
#   hint: you divide by the number of edges
# - item: aggregate
#   name: edges not scaled
#   replace: 'alpha_e[number] * e[number]'
#   by: 'e[number]'
#   hint: vectors are not scaled by their own factors
# - item: aggregate
#   name: senders not scaled
#   replace: 'alpha_n[head] * h[head]'
#   by: 'h[head]'
#   hint: is alpha_n of the head used
# - item: aggregate
#   name: receiver's factor
#   replace: 'alpha_n[head] * h[head]'
#   by: 'alpha_n[tail] * h[head]'
#   hint: the factor is the sender's
# - item: aggregate
#   name: edges left out
#   replace: ' + alpha_e[number] * e[number]'
#   by: ''
#   hint: the edges say nothing
