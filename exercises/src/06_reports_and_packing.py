# ---
# jupyter:
#   minirag:
#     title: What goes into a window
#     minutes: 40
# ---

# %% [markdown]
# # Exercise 6: what goes into a window
#
# GraphRAG has a language model write a report on each community of a graph, and answers a question from those reports. At every step there is more
# to say than a window holds. So the method is, to a good part, a set of rules for what comes first and what is left out. You write these rules.
#
# **You will be able to** order the facts of a community by their prominence, shrink a community of communities until it fits, fill windows without
# losing a report unnoticed, and pick the partial answers from which the last one is written.
#
# 40 minutes, no model, no network: a text is only its number of tokens here.

# %%
degree = {"keeper": 1, "harbour": 3, "whale oil": 2, "customs house": 3, "ledger": 1}
edges = [
    ("e1", "keeper", "harbour"),
    ("e2", "harbour", "whale oil"),
    ("e3", "whale oil", "customs house"),
    ("e4", "harbour", "customs house"),
    ("e5", "customs house", "ledger"),
]
max(degree, key=degree.get)

# %% [markdown]
# ## 1. The most prominent edges
#
# A community at the bottom of the hierarchy is described by its edges and their nodes. An edge is as prominent as its two nodes *together*: edges go
# by decreasing sum of the two degrees. The degrees are those in the whole graph, and come as a dictionary. Equal sums stay in the given order.
#
# **Predict first.** Write down the five sums for the edges above. Which edge comes first, and which two pairs are equal?
#
# <details><summary>Answer</summary>
#
# 4, 5, 5, 6, 4: first e4, then e2 and e3, last e1 and e5.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "edge-order", "locked": false, "schema_version": 3, "solution": true, "task": false}
def edge_order(edges, degree):
    """edges: [(edge id, source, target)]; degree: node -> its degree in the whole graph.

    Returns the same edges, the most prominent first.
    """
    ### BEGIN SOLUTION
    return sorted(edges, key=lambda edge: -(degree[edge[1]] + degree[edge[2]]))
    ### END SOLUTION


# %% [raw] tags=["hints"] item="edge-order"
# - One number decides where an edge goes. From which three parts of the input is it made?
# - "`sorted(edges, key=...)` sorts upwards and leaves equal ones as they are. Give it a key that is small for a prominent edge."
# - "The key of an edge is `-(degree[edge[1]] + degree[edge[2]])`."

# %% nbgrader={"grade": true, "grade_id": "test-edge-order", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
pairs = ["ab", "bc", "cd", "bd", "de"]
links = [(f"e{number}", *pair) for number, pair in enumerate(pairs, 1)]
found = edge_order(links, {"a": 1, "b": 3, "c": 2, "d": 3, "e": 1})
assert found is not None and len(found) == 5, "edge_order returns all the edges, in another order"
assert all(len(edge) == 3 for edge in found), "edge_order returns whole edges: (edge id, source, target)"
ids = " ".join(edge for edge, _, _ in found)
assert ids != "e1 e2 e3 e4 e5", "nothing has moved: perhaps the busier node of an edge decides alone, so that all five are equal? Add both degrees"
assert ids != "e2 e4 e5 e3 e1", "you look at the source's degree and not at the target's: add both"
assert ids != "e1 e5 e2 e3 e4", "the least prominent edge comes first: turn the order round"
assert ids != "e4 e3 e2 e5 e1", "the sums are right, but equal ones have changed places: e2 was given before e3, and e1 before e5"
assert ids == "e4 e2 e3 e1 e5", f"the sums are 4, 5, 5, 6, 4, so the order is e4 e2 e3 e1 e5; yours: {ids}"
busy = edge_order(links, {"a": 1, "b": 3, "c": 2, "d": 3, "e": 9})
assert busy[0][0] != "e4", "node e is busy elsewhere in the graph, with degree 9, but you count degrees by these few edges: use the dictionary"
assert [edge[0] for edge in busy] == ["e5", "e4", "e2", "e3", "e1"], "with degree 9 at e the last edge comes first, the others stay"

# %% [markdown]
# ## 2. Nodes and edges in one list
#
# The context of a report names, for each edge in that order, its source, its target and then the edge itself. What has been named is not named again.
# (Claims about the two nodes would come just before the edge. The package has them; we leave them out.)
#
# **Predict first.** The first edge brings three elements. How many does the second one, e2, bring?
#
# <details><summary>Answer</summary>
#
# Two: the whale oil and e2. The harbour is there already.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "elements", "locked": false, "schema_version": 3, "solution": true, "task": false}
def elements(edges, degree):
    """Returns [("node", name) or ("edge", edge id), ...] in the order of the context."""
    ### BEGIN SOLUTION
    named = []
    for edge, source, target in edge_order(edges, degree):
        for element in [("node", source), ("node", target), ("edge", edge)]:
            if element not in named:
                named.append(element)
    return named
    ### END SOLUTION


# %% [raw] tags=["hints"] item="elements"
# - Go through the edges in the order of step 1. What does each of them add, and what do you ask before you add it?
# - "Two loops: over `edge_order(edges, degree)`, and over the three elements of an edge. Append an element only if it is not in the list yet."
# - "The inner loop runs over `[(\"node\", source), (\"node\", target), (\"edge\", edge)]`, and appends `if element not in named`."

# %% nbgrader={"grade": true, "grade_id": "test-elements", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = elements(links, {"a": 1, "b": 3, "c": 2, "d": 3, "e": 1})
assert found is not None, "elements returns nothing: the list has to be returned"
assert all(len(pair) == 2 and pair[0] in ("node", "edge") for pair in found), 'an element is a pair, ("node", name) or ("edge", id)'
assert len(found) == len(set(found)), "a node is named twice: every repetition costs tokens that another fact could have had"
said = " ".join(name for _, name in found)
assert not said.startswith("a b e1"), "you go through the edges as they are given; take them in the order of step 1"
assert not said.startswith("e4"), "an edge comes before its nodes: a reader first has to know who it is about"
assert not said.startswith("d b"), "the target comes before the source: name the source first"
assert said == "b d e4 c e2 e3 a e1 e e5", f"expected b d e4 c e2 e3 a e1 e e5; yours: {said}"

# %% [markdown]
# ## 3. As much as fits
#
# A context ends where the next element would go over the limit. **The first overflow stops**: a smaller element further down is not pulled forward,
# because the order means something. A window may be filled to its last token.
#
# **Predict first.** Sizes 40, 50, 20 and 10, limit 100. How many are taken?
#
# <details><summary>Answer</summary>
#
# Two, 90 tokens. The third overflows and stops, though the fourth would just fit.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "prefix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def prefix(sizes, limit):
    """sizes: tokens of each item, in order. Returns how many of the first items fit."""
    ### BEGIN SOLUTION
    used = 0
    for count, size in enumerate(sizes):
        used += size
        if used > limit:
            return count
    return len(sizes)
    ### END SOLUTION


# %% [raw] tags=["hints"] item="prefix"
# - Keep a running total. At which moment do you know the answer, and what is it if that moment never comes?
# - "`enumerate(sizes)` counts from 0: at an item's turn, `count` items have been taken before it."
# - "Add the size to `used`; if `used > limit`, `return count`. After the loop everything has fitted: `return len(sizes)`."

# %% nbgrader={"grade": true, "grade_id": "test-prefix", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
found = prefix([40, 50, 20, 10], 100)
assert found is not None, "prefix returns nothing where an item overflows: return how many fitted before it"
assert found != 4, "each size alone is smaller than the limit; it is their running total that must not go over it"
assert prefix([60, 50, 10, 5], 100) != 3, "you skip the item that overflows and go on with smaller ones: the first overflow stops"
assert found != 3, "the item that overflows is taken along: 40 + 50 + 20 are more than 100"
assert found == 2, f"40 and 50 fit into 100, the next 20 do not; yours: {found}"
assert prefix([40, 60, 5], 100) != 1, "a window that is exactly full is not over its limit: 40 + 60 fit into 100"
assert prefix([40, 60, 5], 100) == 2, "40 and 60 fit into 100, the 5 do not"
assert prefix([10, 20], 100) == 2, "if nothing overflows, all of them fit"
assert prefix([200, 10], 100) == 0, "the first item is too large already: none is taken"

# %% [markdown]
# The report on the community above, if a node takes 12 tokens and an edge 20, for a small and a large window:

# %%
listed = elements(edges, degree)
tokens = [12 if kind == "node" else 20 for kind, _ in listed]
for limit in (60, 140):
    print(f"{limit:3}:", ", ".join(name for _, name in listed[: prefix(tokens, limit)]))

# %% [markdown]
# ## 4. Reports in the place of elements
#
# A community further up consists of sub-communities. If all of their elements fit, nothing changes. If not, the sub-community with *the most tokens in its
# elements* is replaced by its own, shorter report, then the next largest, one at a time, until the rest fits. If not even all the reports fit together, as
# many are taken as do, those of the largest sub-communities first.
#
# **Predict first.** X has 70 tokens of elements and a report of 20; Y 50 and 15; Z 30 and 10. Which are replaced for a limit of 100, of 99, of 40?
#
# <details><summary>Answer</summary>
#
# 100: X alone, 20 + 50 + 30 is exactly 100. 99: X and Y, 65. 40: all three, and their reports have 45 tokens: those of X and Y are taken, Z is left out.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "substitute", "locked": false, "schema_version": 3, "solution": true, "task": false}
def substitute(children, limit):
    """children: [(tokens of its elements, tokens of its report)] for each sub-community.

    Returns two lists of positions: whose report stands in for its elements, the largest
    first, and who is left out.
    """
    ### BEGIN SOLUTION
    ranked = sorted(range(len(children)), key=lambda child: -children[child][0])
    for count in range(len(ranked) + 1):
        reports = [children[child][1] for child in ranked[:count]]
        rest = [children[child][0] for child in ranked[count:]]
        if sum(reports) + sum(rest) <= limit:
            return ranked[:count], []
    fit = prefix(reports, limit)
    return ranked[:fit], ranked[fit:]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="substitute"
# - Rank the sub-communities first. Then try nothing replaced, one replaced, two replaced. What is the total each time?
# - "With `ranked` the positions by decreasing elements: for each `count`, the first `count` give their report, the others their elements. Return as soon
#   as that fits. What is left after the loop is step 3, on the reports."
# - "`ranked = sorted(range(len(children)), key=lambda child: -children[child][0])`; inside the loop return `ranked[:count], []` if it fits; after it
#   `fit = prefix(reports, limit)` and `ranked[:fit], ranked[fit:]`."

# %% nbgrader={"grade": true, "grade_id": "test-substitute", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
three = [(50, 15), (70, 20), (30, 10)]
found = substitute(three, 100)
assert found is not None and len(found) == 2, "substitute returns two lists: replaced, and left out"
whole = substitute(three, 160)
assert whole is not None and list(whole[0]) == [], "150 tokens fit into 160: while everything fits, nothing is replaced"
replaced = list(found[0])
assert replaced != [2, 0], "you replace the smallest sub-community first: the largest one goes first, the small keep their detail"
assert replaced[:1] != [0], "you take the sub-communities as they are given: rank them by the tokens of their elements"
assert replaced != [1, 0, 2], "everything is replaced at once: stop as soon as the rest fits, because a report says less than the elements"
assert replaced != [1, 0], "20 + 50 + 30 are exactly 100, which fits: one replacement is enough"
assert found == ([1], []), f"the sub-community at position 1 is replaced and nobody left out; yours: {found}"
saving = substitute([(40, 5), (60, 50), (20, 18)], 110)
assert saving[0] != [0], "you replace where the most tokens are saved; the rule looks at the elements alone, so 60 goes before 40"
assert substitute(three, 99) == ([1, 0], []), f"for 99 the positions 1 and 0 are replaced, in this order; yours: {substitute(three, 99)}"
tight = substitute(three, 40)
assert tight is not None and tight[1] != [], "the three reports have 45 tokens and the limit is 40: somebody has to be left out, and named"
assert tight == ([1, 0], [2]), f"the reports of 1 and 0 fit into 40, that of 2 does not; yours: {tight}"

# %% [markdown]
# ## 5. Filling windows
#
# A question to the whole collection goes to *every* report. They are shuffled, so that no window holds one topic only, and packed into windows in that order.
# Each window begins with a header (the instructions and the question). It is closed when the next report would take it over the limit, and is not opened again.
# A report that fits no window, not even alone, is not dropped in silence: its position is returned too.
#
# **Predict first.** Reports of 50, 30, 60, 20 and 90 tokens, a header of 10, a limit of 100. How many windows?
#
# <details><summary>Answer</summary>
#
# Three: 10 + 50 + 30, then 10 + 60 + 20, then 10 + 90, which is exactly full.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "pack", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pack(sizes, limit, header=0):
    """sizes: tokens of each report; header: tokens of the header.

    Returns (windows, too_large): a list of positions for each window, and a list of positions.
    """
    ### BEGIN SOLUTION
    windows, too_large = [], []
    for place, size in enumerate(sizes):
        if header + size > limit:
            too_large.append(place)
        elif windows and used + size <= limit:
            windows[-1].append(place)
            used += size
        else:
            windows.append([place])
            used = header + size
    return windows, too_large
    ### END SOLUTION


# %% [raw] tags=["hints"] item="pack"
# - Three things can happen to a report. Which, and in what order do you ask?
# - "First: does it fit an empty window, header included? Then: does it fit the last window as it is now? If not, it begins a new one. Keep the tokens
#   used in the last window in a variable."
# - "`if header + size > limit` it is too large; `elif windows and used + size <= limit` it joins `windows[-1]`; else `windows.append([place])` and
#   `used = header + size`."

# %% nbgrader={"grade": true, "grade_id": "test-pack", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
found = pack([50, 30, 60, 20, 90], 100, header=10)
assert found is not None and len(found) == 2, "pack returns two things: the windows, and the positions that fit none"
windows, too_large = found
assert 4 not in too_large, "90 tokens and a header of 10 are exactly 100: that report fits a window of its own"
assert sorted(place for window in windows for place in window) == [0, 1, 2, 3, 4], f"every report stands in one window, once; yours: {windows}"
assert windows == [[0, 1], [2, 3], [4]], f"expected [[0, 1], [2, 3], [4]]; yours: {windows}"
full = pack([60, 40, 55, 45], 100)[0]
assert full != [[0], [1, 2], [3]], "60 + 40 are exactly 100, and you close the window before it is full: it is over the limit only above 100"
assert full == [[0, 1], [2, 3]], f"60 + 40 and 55 + 45 fill two windows to the last token; yours: {full}"
spent = pack([50, 45], 100, header=10)[0]
assert spent != [[0, 1]], "50 + 45 and a header of 10 are more than 100: the header is spent in every window, so count it whenever you open one"
again = pack([50, 60, 40], 100)[0]
assert again != [[0, 2], [1]], "the 40 went back into an earlier window: once closed, a window stays closed, and the shuffled order is kept"
windows, too_large = pack([20, 95, 30], 100, header=10)
assert [1] not in windows, "95 tokens and the header are more than 100, and you give them a window all the same: a limit is never exceeded"
assert too_large != [], "a report that fits no window has vanished: return its position, so that somebody can say so"
assert (windows, too_large) == ([[0, 2]], [1]), f"the windows are [[0, 2]], and 1 is too large; yours: {(windows, too_large)}"
assert pack([], 100) == ([], []), "without reports there are no windows"

# %% [markdown]
# How much of four windows is used, each `#` being five tokens, `=` the header:

# %%
sizes = [30, 45, 25, 60, 15, 70, 40, 35]
for window in pack(sizes, 100, header=10)[0]:
    row = "==" + " ".join("#" * (sizes[place] // 5) for place in window)
    print(f"{10 + sum(sizes[place] for place in window):3} {row}")

# %% [markdown]
# ## 6. The last window
#
# For each window the model writes a partial answer and says how helpful it is, from 0 to 100. Those with 0 are dropped, however much room there is. The others
# go by decreasing helpfulness (equals as they came) into one last window, by the rule of step 3. From these the final answer is written.
#
# **Predict first.** Helpfulness and tokens are (90, 40), (0, 5), (70, 50), (70, 20), (20, 10), the limit 100. Which answers are kept?
#
# <details><summary>Answer</summary>
#
# The first and the third, 90 tokens. The fourth would be 110 and stops the filling, so that the fifth is not reached.
#
# </details>

# %% nbgrader={"grade": false, "grade_id": "last-window", "locked": false, "schema_version": 3, "solution": true, "task": false}
def last_window(answers, limit):
    """answers: [(helpfulness, tokens)]. Returns the positions kept, the most helpful first."""
    ### BEGIN SOLUTION
    helpful = [place for place, (score, _) in enumerate(answers) if score > 0]
    ranked = sorted(helpful, key=lambda place: -answers[place][0])
    return ranked[: prefix([answers[place][1] for place in ranked], limit)]
    ### END SOLUTION


# %% [raw] tags=["hints"] item="last-window"
# - Three steps, each a line, and you have written the last one already. Which are they?
# - Collect the positions whose helpfulness is above 0, sort them by decreasing helpfulness, and let `prefix` say how many fit.
# - "With `ranked` sorted: `ranked[: prefix([answers[place][1] for place in ranked], limit)]`."

# %% nbgrader={"grade": true, "grade_id": "test-last-window", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
partial = [(90, 40), (0, 5), (70, 50), (70, 20), (20, 10)]
found = last_window(partial, 100)
assert found is not None, "last_window returns nothing: the positions have to be returned"
assert 1 not in last_window(partial, 1000), "an answer with helpfulness 0 is kept where there is room: it says of itself that it does not help"
assert list(last_window(partial, 1000)) != [0, 3, 2, 4], "of two equally helpful answers the shorter one goes first in your version: equals stay as they came"
mixed = list(last_window([(50, 10), (90, 40), (20, 5)], 100))
assert mixed != [0, 1, 2], "the answers are not sorted: the most helpful one comes first"
assert mixed != [2, 0, 1], "the least helpful answer comes first: turn the order round"
assert list(found) != [0, 2, 4], "the 20 tokens overflow, and you go on to the 10 behind them: the first overflow stops"
assert list(found) == [0, 2], f"the first and the third answer are kept; yours: {list(found)}"
assert list(last_window(partial, 1000)) == [0, 2, 3, 4], "with room for all, the four helpful ones are kept in the order 0, 2, 3, 4"

# %% [markdown]
# ## 7. Compare with the package
#
# `minirag.algorithms.report_elements` and `minirag.methods.graphrag.map_reduce` have the same rules. Random communities, reports and limits have to come out alike.

# %% nbgrader={"grade": true, "grade_id": "test-package", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from random import Random

from minirag.algorithms import report_elements
from minirag.methods.graphrag import map_reduce

random = Random(0)
assert elements(edges, degree) == report_elements.prioritise(edges, degree), "the package names the harbour's elements in another order"
for _ in range(200):
    nodes = {name: random.randint(1, 5) for name in "abcdefg"}
    some = [(f"e{n}", *random.sample("abcdefg", 2)) for n in range(random.randint(0, 9))]
    assert elements(some, nodes) == report_elements.prioritise(some, nodes), f"the package orders {some} differently"
    sizes = [random.randint(1, 12) * 5 for _ in range(random.randint(0, 8))]
    limit, header = random.randint(6, 24) * 5, random.randint(0, 3) * 5
    assert prefix(sizes, limit) == report_elements.prefix(sizes, limit), f"the package takes another number of {sizes}, limit {limit}"
    assert pack(sizes, limit, header) == map_reduce.pack(sizes, limit, header), f"the package packs {sizes} differently"
    children = [(size, random.randint(1, size)) for size in sizes]
    replaced, _, dropped = report_elements.substitute(children, limit)
    assert substitute(children, limit) == (replaced, dropped), f"the package replaces others of {children}, limit {limit}"

# %% [markdown]
# **To think about.** A busy node takes many edges to the top of its report. Which facts of a community will no report ever tell? And the map step reads every
# report for every question: which of the rules above could leave one unread, and how would a user notice?

# %% [raw] tags=["wrong-answers"]
# - item: edge-order
#   name: source degree only
#   replace: '-(degree[edge[1]] + degree[edge[2]])'
#   by: '-degree[edge[1]]'
#   hint: you look at the source's degree
# - item: edge-order
#   name: larger degree only
#   replace: '-(degree[edge[1]] + degree[edge[2]])'
#   by: '-max(degree[edge[1]], degree[edge[2]])'
#   hint: the busier node of an edge decides alone
# - item: edge-order
#   name: least prominent first
#   replace: '-(degree[edge[1]] + degree[edge[2]])'
#   by: degree[edge[1]] + degree[edge[2]]
#   hint: the least prominent edge comes first
# - item: edge-order
#   name: sorted upwards and reversed
#   replace: "-(degree[edge[1]] + degree[edge[2]]))"
#   by: "degree[edge[1]] + degree[edge[2]])[::-1]"
#   hint: equal ones have changed places
# - item: edge-order
#   name: degrees inside the community
#   replace: return sorted(
#   by: |-
#     ends = [node for _, *pair in edges for node in pair]
#         degree = {node: ends.count(node) for node in ends}
#         return sorted(
#   hint: you count degrees by these few edges
# - item: elements
#   name: nodes named twice
#   replace: if element not in named
#   by: if True
#   hint: a node is named twice
# - item: elements
#   name: edge before its nodes
#   replace: '[("node", source), ("node", target), ("edge", edge)]'
#   by: '[("edge", edge), ("node", source), ("node", target)]'
#   hint: an edge comes before its nodes
# - item: elements
#   name: target before source
#   replace: '("node", source), ("node", target)'
#   by: '("node", target), ("node", source)'
#   hint: the target comes before the source
# - item: elements
#   name: edges not sorted
#   replace: edge_order(edges, degree)
#   by: edges
#   hint: you go through the edges as they are given
# - item: prefix
#   name: full counts as over
#   replace: used > limit
#   by: used >= limit
#   hint: a window that is exactly full
# - item: prefix
#   name: overflowing item skipped
#   replace: |-
#     for count, size in enumerate(sizes):
#             used += size
#             if used > limit:
#                 return count
#         return len(sizes)
#   by: |-
#     taken = 0
#         for size in sizes:
#             if used + size <= limit:
#                 used, taken = used + size, taken + 1
#         return taken
#   hint: you skip the item that overflows
# - item: prefix
#   name: overflowing item taken along
#   replace: return count
#   by: return count + 1
#   hint: the item that overflows is taken along
# - item: prefix
#   name: no running total
#   replace: used += size
#   by: used = size
#   hint: each size alone is smaller
# - item: substitute
#   name: smallest first
#   replace: '-children[child][0]'
#   by: children[child][0]
#   hint: you replace the smallest sub-community first
# - item: substitute
#   name: in the given order
#   replace: 'sorted(range(len(children)), key=lambda child: -children[child][0])'
#   by: list(range(len(children)))
#   hint: you take the sub-communities as they are given
# - item: substitute
#   name: where most is saved
#   replace: '-children[child][0]'
#   by: children[child][1] - children[child][0]
#   hint: you replace where the most tokens are saved
# - item: substitute
#   name: all at once
#   replace: range(len(ranked) + 1)
#   by: (0, len(ranked))
#   hint: everything is replaced at once
# - item: substitute
#   name: full counts as over
#   replace: <= limit
#   by: < limit
#   hint: 20 + 50 + 30 are exactly 100
# - item: substitute
#   name: nobody left out
#   replace: return ranked[:fit], ranked[fit:]
#   by: return ranked, [][fit:]
#   hint: somebody has to be left out
# - item: pack
#   name: full window closed early
#   replace: used + size <= limit
#   by: used + size < limit
#   hint: you close the window before it is full
# - item: pack
#   name: full report too large
#   replace: header + size > limit
#   by: header + size >= limit
#   hint: that report fits a window of its own
# - item: pack
#   name: header not counted
#   replace: used = header + size
#   by: used = size
#   hint: the header is spent in every window
# - item: pack
#   name: closed windows filled up
#   replace: |-
#     elif windows and used + size <= limit:
#                 windows[-1].append(place)
#                 used += size
#             else:
#                 windows.append([place])
#                 used = header + size
#   by: |-
#     else:
#                 fits = lambda window: header + sum(sizes[i] for i in window) + size <= limit
#                 room = [window for window in windows if fits(window)]
#                 windows += [] if room else [[]]
#                 (room or windows[-1:])[0].append(place)
#   hint: went back into an earlier window
# - item: pack
#   name: limit exceeded
#   replace: too_large.append(place)
#   by: windows, used = [*windows, [place]], limit
#   hint: a limit is never exceeded
# - item: pack
#   name: too large reports lost
#   replace: too_large.append(place)
#   by: continue
#   hint: has vanished
# - item: last-window
#   name: helpfulness 0 kept
#   replace: if score > 0
#   by: if score >= 0
#   hint: an answer with helpfulness 0 is kept
# - item: last-window
#   name: not sorted
#   replace: "sorted(helpful, key=lambda place: -answers[place][0])"
#   by: helpful
#   hint: the answers are not sorted
# - item: last-window
#   name: least helpful first
#   replace: "-answers[place][0]"
#   by: answers[place][0]
#   hint: the least helpful answer comes first
# - item: last-window
#   name: overflowing answer skipped
#   replace: "return ranked[: prefix([answers[place][1] for place in ranked], limit)]"
#   by: |-
#     kept = []
#         for place in ranked:
#             if sum(answers[i][1] for i in [*kept, place]) <= limit:
#                 kept.append(place)
#         return kept
#   hint: you go on to the 10 behind them
# - item: last-window
#   name: shorter of equals first
#   replace: "-answers[place][0])"
#   by: "(-answers[place][0], answers[place][1]))"
#   hint: the shorter one goes first
