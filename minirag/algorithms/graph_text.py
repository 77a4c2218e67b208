"""An ego-graph as a text for a language model: GRAG's description, which loses nothing, and the two
texts that its code and G-Retriever's use instead.
"""

import csv
import io
import json
import re
from collections import deque
from collections.abc import Iterable

from .ego_graphs import TextualGraph

TO, VIA = " is connected to ", " via "
SUFFIX = re.compile(r" \[([0-9]+)\]")
NUMBERED = re.compile(f"(.*){SUFFIX.pattern}", re.DOTALL)
# json leaves these as they are, and some readers begin a new line at them
UNSEEN_BREAKS = re.compile("[\x7f\x85\u2028\u2029]")
DECODER = json.JSONDecoder()


def split(ego: TextualGraph, root: int = 0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The two parts of an ego-graph, as two sorted tuples of edge positions: the paper's T_g, a
    tree grown breadth-first from the root, and E_g, the rest.

    A node's edges are looked at in their order; an edge that first reaches a node belongs to the
    tree. What the root does not reach (an ego-graph with another direction than "out") grows trees
    of its own, from the first node that is left, so that T_g is then several trees.

    Source: GRAG, Sec. 4.2 (description)
    """
    tree = {edge for _, edges in _trees(ego, root) for edge in edges}
    return tuple(sorted(tree)), tuple(i for i in range(len(ego.edges)) if i not in tree)


def reading_order(ego: TextualGraph, root: int = 0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """In which order a description names things: `(node positions, edge positions)`, all of them,
    the root first.

    Pre-order: the edges of a node stand in their order, and the edges of a node's child follow the
    tree edge that leads to the child.
    """
    out = _leaving(ego)
    order: list[int] = []
    for start, tree in _trees(ego, root):
        path = [iter(out[start])]
        while path:
            edge = next(path[-1], None)
            if edge is None:
                path.pop()
                continue
            order.append(edge)
            if edge in tree:
                path.append(iter(out[ego.edges[edge][2]]))
    named = [root] if ego.nodes else []
    for edge in order:
        head, _, tail = ego.edges[edge]
        named += [head, tail]
    return tuple(dict.fromkeys([*named, *range(len(ego.nodes))])), tuple(order)


def canonical(ego: TextualGraph, root: int = 0) -> TextualGraph:
    """The same graph with nodes and edges in the order of its description, so the root is node 0:
    what `parse_description(describe(ego, root))` gives back.
    """
    return ego.subgraph(*reading_order(ego, root))


def describe(ego: TextualGraph, root: int = 0) -> str:
    """The ego-graph as sentences "{head} is connected to {tail} via {relation}", a line an edge, in
    pre-order of its breadth-first tree.

    An edge outside the tree stands with its head's other edges, in their order. Ordinary texts
    stand as they are. A node's text that holds a word of the template, and any text with a line
    break, an outer space, a leading quote or nothing in it, is quoted as in JSON. The second node
    of the same text gets the suffix ` [2]`, and so on. A node without any edge, and a root from
    which no edge leaves, have a line of their own with nothing but their name.

    Lossless: `parse_description(describe(ego, root)) == canonical(ego, root)`, whatever the texts
    are. `canonical` only renumbers (`reading_order` says how): the texts, which edge joins which
    nodes, copies of edges, the root, and the order of each node's own edges survive. What does not
    survive is how nodes were numbered and how edges of different heads were ordered. Raises
    ValueError for a root that is no node.

    Source: GRAG, Sec. 4.2 (description)
    """
    nodes, edges = reading_order(ego, root)
    seen: dict[str, int] = {}
    name: dict[int, str] = {}
    for node in nodes:
        text = ego.nodes[node]
        seen[text] = seen.get(text, 0) + 1
        padded = f" {text} "
        ambiguous = TO in padded or VIA in padded or NUMBERED.fullmatch(text) is not None
        name[node] = _quoted(text, ambiguous) + (f" [{seen[text]}]" if seen[text] > 1 else "")
    joined = {end for head, _, tail in ego.edges for end in (head, tail)}
    first = [name[root]] if nodes and all(head != root for head, _, _ in ego.edges) else []
    lines = [
        f"{name[head]}{TO}{name[tail]}{VIA}{_quoted(text)}"
        for head, text, tail in (ego.edges[i] for i in edges)
    ]
    return "\n".join(
        first + lines + [name[node] for node in nodes if node not in joined and node != root]
    )


def describe_all(egos: Iterable[TextualGraph]) -> str:
    """The descriptions of several graphs, one after the other; a line that more than one of them
    has stands where it comes first.

    Several together are therefore not lossless, as one is.

    Source: GRAG, Eq. 8 (eq-8)
    """
    return "\n".join(dict.fromkeys(line for ego in egos for line in describe(ego).split("\n")))


def parse_description(text: str) -> TextualGraph:
    """The graph that a description tells of, its root node 0, nodes and edges in the order in which
    they are named.

    Raises ValueError, with the line, for a text that `describe` cannot have written.

    Source: GRAG, Sec. 4.2 (description)
    """
    place: dict[tuple[str, int], int] = {}
    edges = []
    for number, line in enumerate(text.split("\n") if text else [], start=1):
        try:
            name, rest = _name(line, TO)
            head = place.setdefault(name, len(place))
            if rest:
                name, rest = _name(rest.removeprefix(TO), VIA)
                relation = rest.removeprefix(VIA)
                if not rest or not relation:
                    raise ValueError("a relation after ' via ' is missing")
                edges.append((head, _unquoted(relation), place.setdefault(name, len(place))))
        except ValueError as error:
            raise ValueError(
                f"Line {number} of the description, {line!r}: {error}. "
                "Expected 'head is connected to tail via relation', or a name."
            ) from error
    return TextualGraph(tuple(text for text, _ in place), tuple(edges))


def code_outline(ego: TextualGraph, root: int = 0, hops: int = 2) -> str:
    """The numbered outline that a function of the released code would print for node 0's ego-graph.
    Nothing there calls it, and it loses edges.

    Two losses are kept here, for the comparison: edges that leave nodes `hops` steps from the root,
    and all but the last of several edges between the same two nodes. Its slips with roots other
    than node 0 and with more than nine children are not.

    Source: GRAG, Sec. 4.2 (description); released code, `hard_prompt`
    """
    if not ego.nodes:
        return ""
    _check_root(ego, root)
    out = _leaving(ego)
    text = {(head, tail): relation for head, relation, tail in ego.edges}
    depth, number, waiting = {root: 0}, {root: ""}, deque([root])
    parent: dict[int, int] = {}
    extra: dict[int, list[int]] = {}
    lines: list[str] = []
    while waiting:
        node = waiting.popleft()
        for tail in dict.fromkeys(ego.edges[i][2] for i in out[node] if depth[node] < hops):
            if tail in depth:
                extra.setdefault(node, []).append(tail)
                continue
            depth[tail], parent[tail] = depth[node] + 1, node
            number[tail] = f"{number[node]}.{sum(p == node for p in parent.values())}".strip(".")
            waiting.append(tail)
    for node in sorted(depth, key=lambda node: [int(i) for i in number[node].split(".") if i]):
        name, indent = ego.nodes[node], "  " * max(depth[node] - 1, 0)
        inner = node in parent.values()
        others = [f"{ego.nodes[tail]} via {text[node, tail]};" for tail in extra.get(node, ())]
        if node == root:
            lines.append(f"[ROOT] {name}.")
        else:
            lines.append(f"{indent}{number[node]} {name} via {text[parent[node], node]}.")
        if inner or others:
            lines.append(f"{indent}{name} is connected to: {' '.join(others)}")
        if inner and node != root:
            lines.append(f"{name} is connected to:")
    return "\n".join(lines)


def flat_text(
    graph: TextualGraph, nodes: Iterable[int] | None = None, edges: Iterable[int] | None = None
) -> str:
    """G-Retriever's text of a subgraph: two tables as CSV, `node_id,node_attr` and
    `src,edge_attr,dst`.

    nodes, edges: positions in `graph`, which are the ids too; None takes all.
    """
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["node_id", "node_attr"])
    positions = range(len(graph.nodes)) if nodes is None else nodes
    rows.writerows((node, graph.nodes[node]) for node in positions)
    table.write("\n")
    rows.writerow(["src", "edge_attr", "dst"])
    rows.writerows(graph.edges if edges is None else (graph.edges[edge] for edge in edges))
    return table.getvalue()


def _check_root(ego: TextualGraph, root: int) -> None:
    if ego.nodes and not 0 <= root < len(ego.nodes):
        raise ValueError(f"root={root!r}: expected a position among {len(ego.nodes)} nodes.")


def _leaving(ego: TextualGraph) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in ego.nodes]
    for edge, (head, _, _) in enumerate(ego.edges):
        out[head].append(edge)
    return out


def _trees(ego: TextualGraph, root: int) -> list[tuple[int, set[int]]]:
    """(start, positions of its tree's edges): the root's tree first, then one for each first node
    that is left and has an edge to go on.
    """
    _check_root(ego, root)
    out, reached = _leaving(ego), set[int]()
    trees: list[tuple[int, set[int]]] = []
    for start in [root] * bool(ego.nodes) + [node for node in range(len(ego.nodes)) if out[node]]:
        if start in reached:
            continue
        reached.add(start)
        tree, waiting = set[int](), deque([start])
        while waiting:
            for edge in out[waiting.popleft()]:
                tail = ego.edges[edge][2]
                if tail not in reached:
                    reached.add(tail)
                    tree.add(edge)
                    waiting.append(tail)
        trees.append((start, tree))
    return trees


def _quoted(text: str, ambiguous: bool = False) -> str:
    one_line = text.splitlines() == [text] and text == text.strip()
    if one_line and not ambiguous and not text.startswith('"'):
        return text
    return UNSEEN_BREAKS.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    whole: str
    whole, end = DECODER.raw_decode(text)
    if end < len(text):
        raise ValueError("something follows a closing quote")
    return whole


def _name(line: str, separator: str) -> tuple[tuple[str, int], str]:
    """((text, number), rest): the name at the start of a line, and what is left from the separator
    on, "" if nothing is.
    """
    if line.startswith('"'):
        text, end = DECODER.raw_decode(line)
        number = SUFFIX.match(line, end)
        rest = line[number.end() if number else end :]
        if rest and not rest.startswith(separator):
            raise ValueError("something follows a closing quote")
        return (text, int(number[1]) if number else 1), rest
    end = line.find(separator)
    name, rest = (line, "") if end < 0 else (line[:end], line[end:])
    if not name:
        raise ValueError("a name is missing")
    numbered = NUMBERED.fullmatch(name)
    return ((numbered[1], int(numbered[2])) if numbered else (name, 1)), rest
