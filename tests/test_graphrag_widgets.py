"""GraphRAG's two explorers: opening a part goes down, changing the level keeps the place, and boxes
add up to the windows that were packed.
"""

import xml.etree.ElementTree as ET

import pytest
from small_graphs import communities_of, graph_of

from minirag.core.errors import MiniragError
from minirag.core.reports import CommunityIndex
from minirag.index import write_reports
from minirag.llm import load_llm
from minirag.methods import METHODS
from minirag.methods.graphrag.map_reduce import PackStep
from minirag.viz import draw_hierarchy, draw_windows
from minirag.widgets.graphrag import HierarchyExplorer, PackingExplorer

EVIL = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def index():
    graph = graph_of(["A-B", "B-C", "C-D", "D-E", "E-F"], description=f"A word of {EVIL} and fish.")
    return write_reports(
        communities_of(graph, [["ABCD", "EF"], ["AB", "CD", "EF"]]), load_llm("offline")
    )


def svg_of(html):
    return ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])


def test_a_part_is_opened_and_the_level_follows(index):
    explorer = HierarchyExplorer(index)
    assert (
        explorer.describe().startswith("level 0, community 0-0: 4 entities")
        and "part 1-0, 2 entities" in explorer.describe()
    )
    explorer.set("open", "1-1")
    assert (
        explorer.state == {"community": "1-1", "open": "(stay here)", "level": 1}
        and "0 parts" in explorer.describe()
    )
    explorer.set("level", 0)
    assert explorer.state["community"] == "0-0"
    explorer.set("community", "0-1").set("level", 1)
    assert explorer.state["community"] == "0-1"  # it stands on the deeper level too
    with pytest.raises(MiniragError, match="9-9"):
        explorer.set("community", "9-9")


def test_the_open_community_is_marked_and_the_report_says_who_wrote_it(index):
    explorer = HierarchyExplorer(index)
    explorer.set("open", "1-0")
    assert (
        explorer.figure().text.count("[marked]") == 1 and "A, B [marked]" in explorer.figure().text
    )
    assert "offline rules" in explorer.html() and EVIL not in explorer.html()
    svg_of(explorer.html())


def test_a_moved_control_is_a_set(index):
    explorer = HierarchyExplorer(index)
    explorer.view()
    explorer.widgets["open"].value = "1-1"
    assert (
        explorer.state["level"] == 1 == explorer.widgets["level"].value
        and explorer.widgets["community"].value == "1-1"
    )
    assert len(explorer.widgets["open"].options) == 1


def test_a_community_without_a_report_says_so(index):
    bare = HierarchyExplorer(CommunityIndex(index.communities, {}, {}, "nobody"))
    assert "no report" in bare.describe() and "Nobody wrote" in bare.html()


def test_boxes_add_up_to_the_windows_that_were_packed(index):
    method = METHODS["graphrag-global"].from_index(index)
    explorer = PackingExplorer(
        method, "What of the fish?", level=1, window=400, smallest=300, largest=900
    )
    for level, window, seed in ((1, 400, 0), (1, 900, 3), (0, 400, 1)):
        explorer.set("level", level).set("window", window).set("seed", seed)
        names, windows, headers, lost = explorer.rows()
        packed = explorer.answer.retrieval.trace.last(PackStep)
        sums = [h + sum(t for _, t in w) for h, w in zip(headers, windows)]
        assert sums[:-1] == packed.tokens
        assert all(h > 0 for h in headers) and not lost and names[-1] == "reduce"
        assert sorted(u for held in windows[:-1] for u, _ in held) == sorted(
            index.communities.items[p].id for p in index.at(level)
        )
        assert max(packed.tokens) <= window and f"window {window}" in explorer.describe()
        svg_of(explorer.html())


def test_figures_say_in_words_what_they_show():
    figure = draw_windows([[("a", 40), ("b", 50)], [("c", 60)]], 100, header=10, left_out=["c"])
    assert (
        "window 1: 100 of 100 tokens: a 40, b 50" in figure.text
        and "window 2: 10 of 100 tokens: c 60 (left out)" in figure.text
    )
    ET.fromstring(figure.svg)
    assert (
        "[marked]" not in draw_hierarchy([[{"a", "b"}]]).text
        and "[marked]" in draw_hierarchy([[{"a", "b"}]], highlight=[{"b", "a"}]).text
    )
