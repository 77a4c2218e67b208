"""The drawn operators: each of the pool has its picture, nothing in it is cut off, its text holds
the numbers, and these are what one gets by hand.
"""

import re
from itertools import combinations

import pytest

from minirag import viz
from minirag.core.errors import MiniragError
from minirag.operators.pool import OPERATORS
from minirag.viz.operators import Example
from minirag.viz.scene import Text

FIGURES = {name: viz.draw_operator(name) for name in OPERATORS}
EXAMPLE = Example()
ENDS = {name: set(name.split()[::2]) for name in EXAMPLE.names["relationship"]}
PASSAGES = [row.text for row in EXAMPLE.graph.chunks]


def out(name):
    """Element -> number, as the right side of a figure's text has them."""
    right = FIGURES[name].text.split("\nout: ")[1].splitlines()[1:]
    found = [re.fullmatch(r" +(path \d|\S*(?:, \S+)?)  (.+)", line) for line in right]
    return {row[2].split(":")[0]: row[1] for row in found if row}


def numbers(name):
    return {element: float(value) for element, value in out(name).items() if value}


def test_every_operator_of_the_pool_has_its_drawing():
    assert set(EXAMPLE.data["drawings"]) == set(OPERATORS)
    with pytest.raises(MiniragError, match="there are: question Vector"):
        viz.draw_operator("node Walk")


@pytest.mark.parametrize("name", OPERATORS)
def test_nothing_is_cut_off_or_covered(name):
    scene, texts = FIGURES[name].scene, []
    for item in scene.items:
        if isinstance(item, Text) and item.text:
            left, top, right, bottom = item.bounds
            assert left >= 0 and top >= 0 and right <= scene.width and bottom <= scene.height, item
            assert "…" not in item.text and item.size >= 12
            texts.append((item.bounds, item.text))
    for (a, first), (b, second) in combinations(texts, 2):
        wide, tall = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        assert wide <= 2 or tall <= 3, (first, second)
    assert scene.width <= 450 and scene.height <= 560


@pytest.mark.parametrize("name", OPERATORS)
def test_picture_and_text_hold_what_the_operator_gives(name):
    figure, drawing = FIGURES[name], EXAMPLE.data["drawings"][name]
    found = []
    for earlier in drawing.get("before", ()):
        found.append(EXAMPLE.run(earlier, found))
    step = EXAMPLE.run(name, found)
    drawn = [item.text for item in figure.scene.items if isinstance(item, Text)]
    assert len(out(name)) >= len(step.items)
    for _, score in step.items if not name.startswith("subgraph Steiner") else ():
        assert f"{round(score, 2):g}" in [*out(name).values()]
    for value in filter(None, out(name).values()):
        assert value in drawn or any(text.endswith(f": {value}") for text in drawn)
    assert figure.caption.endswith(".") and figure.caption in figure.text
    assert f"{name} (" in f"{figure.title} ("
    for option, value in drawing.get("options", {}).items():
        assert f"{option} = {value}" in figure.title


@pytest.mark.parametrize("name", OPERATORS)
def test_sums_and_products_in_a_caption_are_right(name):
    terms = r"-?[\d.]+(?:·[\d.]+)?(?: [+-] [\d.]+(?:·[\d.]+)?)+"
    for left, right in re.findall(rf"({terms}) = (-?\d+(?:\.\d+)?)", FIGURES[name].caption):
        assert eval(left.replace("·", "*")) == pytest.approx(float(right), abs=0.006)


def test_captions_with_arithmetic_are_found():
    assert sum(" + " in figure.caption for figure in FIGURES.values()) >= 7


def test_an_agent_is_named_as_scripted():
    for name in ("node Agent", "relationship Agent", "subgraph AgentPath", "question Entities"):
        assert "scripted reply: " in FIGURES[name].text and "scripted" in FIGURES[name].caption
    assert "scripted" not in FIGURES["node PPR"].text and not Example().is_model


def test_the_layout_is_one():
    places = {}
    for name in ("node Link", "relationship VDB", "subgraph Steiner"):
        items = [i for i in FIGURES[name].scene.items if isinstance(i, Text) and i.size == 13]
        places[name] = [(item.x, item.text) for item in items]
    assert places["node Link"] == places["relationship VDB"] == places["subgraph Steiner"]


# By hand.


def test_link_by_hand():
    assert numbers("node Link") == {"Ada": 1, "mill": 0.96}


def test_node_vdb_by_hand():
    ferry, ada, mill = 0.8 * 0.6 + 0.6 * 0.8, 0.8 * 1, 0.6 * 1
    assert numbers("node VDB") == pytest.approx({"ferry": ferry, "Ada": ada, "mill": mill})


def test_tfidf_finds_no_part_of_a_word():
    assert numbers("node TF-IDF") == {"Ada": 1}
    scores = EXAMPLE.parts.tfidf_index.similarities([EXAMPLE.data["question"]], range(6))[0]
    assert scores.tolist() == [1, 0, 0, 0, 0, 0]


def test_walk_by_hand():
    # Half of a walker's steps go on, half restart: at Ada with weight 1/2, at mill with 1/3.
    reset, beside = {"Ada": 0.6, "mill": 0.4}, {name: [] for name in EXAMPLE.names["node"]}
    for ends in ENDS.values():
        for here, there in (sorted(ends), sorted(ends, reverse=True)):
            beside[here].append(there)
    scores = dict(reset)
    for _ in range(60):
        scores = {
            node: 0.5 * reset.get(node, 0)
            + 0.5 * sum(scores.get(other, 0) / len(beside[other]) for other in beside[node])
            for node in beside
        }
    assert numbers("node PPR") == pytest.approx(scores, abs=0.006)


def test_aggregators_by_hand():
    nodes, relations = numbers("node PPR"), numbers("relationship Aggregator")
    sums = {name: sum(nodes[end] for end in ends) for name, ends in ENDS.items()}
    assert relations == pytest.approx(sums, abs=0.016)
    stated = {
        "A": ["Ada takes ferry", "Ada knows Eva"],
        "B": ["Ben steers ferry", "ferry reaches mill"],
        "C": ["Eva bakes bread", "Eva runs mill"],
        "D": ["Ada takes bread"],
    }
    of = {name: sum(relations[each] for each in found) for name, found in stated.items()}
    assert numbers("chunk Aggregator") == pytest.approx(of, abs=0.016)


def test_passages_of_relations_by_hand():
    chosen = {"Ada takes ferry": 0.96, "Ben steers ferry": 0.8, "ferry reaches mill": 0.6}
    assert numbers("relationship VDB") == chosen
    assert numbers("chunk FromRel") == {"A": 0.96, "B": 0.8 + 0.6, "C": 0, "D": 0}
    counts = [sum(all(e in text for e in ENDS[name]) for name in chosen) for text in PASSAGES]
    assert [*numbers("chunk Occurrence").values()] == counts == [1, 2, 0, 2]


def test_agents_by_hand():
    assert numbers("relationship Agent") == {"Ada takes ferry": 0.7, "Ada takes bread": 0.7}
    times = {"ferry": 0.7 * 0.8, "bread": 0.7 * 0.2}
    assert numbers("node Agent") == pytest.approx(times)


def test_steiner_by_hand():
    # Three prizes of relations, each above the cost of 0.5: all of them are in the tree.
    tree = {"Ada takes ferry": 3, "Ben steers ferry": 2, "ferry reaches mill": 1}
    assert numbers("subgraph Steiner") == {"Ada": 2, "ferry": 0, "Ben": 0, "mill": 1, **tree}


def test_paths_by_hand():
    ways = {"path 1": "1", "path 2": "1"}
    found = out("subgraph KhopPath")
    assert {row: value for row, value in found.items() if row.startswith("path")} == ways
    over = {"Ada takes ferry", "ferry reaches mill"}
    assert {row for row, value in found.items() if value == "path 1"} == over
    assert {row for row, value in out("subgraph AgentPath").items() if value == "path 1"} == over


def test_communities_by_hand():
    assert numbers("community Entity") == {"river": 7}
    assert numbers("community Layer") == {"river": 7, "bakery": 4}
    assert numbers("community VDB") == {"river": 0.8 * 0.6 + 0.6 * 0.8}
