"""Figures: well-formed, the same everywhere, legible, and the same picture as SVG and as PNG."""

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from minirag import viz
from minirag.algorithms.ego_graphs import TextualGraph
from minirag.core.corpus import Chunk
from minirag.core.errors import MiniragError
from minirag.core.graph import Edge, Graph, Node
from minirag.core.results import Passage, Retrieval
from minirag.viz.layout import Canvas, Label, off_paths, place_labels
from minirag.viz.passages import passage_lines, passage_table
from minirag.viz.scene import Colour, Text, channels, shorten, text_width

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    'a" onload="x',
    "R&D",
    "nul\x00l",
    "$x^2$ _y_",
    "知识图谱",
    "Ελένη",
    "a\nb",
    "",
    "—" * 60,
]


def town():
    """A small knowledge graph with two hubs, a bridge and a name variant."""
    pairs = "mill:river mill:baker baker:bread river:ferry ferry:hall hall:mayor mayor:baker "
    pairs += "hall:archive archive:map mill:miller"
    graph = nx.Graph()
    for pair in pairs.split():
        a, b = pair.split(":")
        graph.add_edge(a, b, name=f"knows {b}", kind="relation")
    graph.add_edge("mill", "old mill", kind="synonymy", weight=0.87)
    return graph


def kit_graph():
    nodes = tuple(Node(name) for name in ("Ada", "Bell", "Cara"))
    edges = (
        Edge(1, 0, "teaches"),
        Edge(0, 1, "writes to"),
        Edge(1, 2, kind="synonymy", weight=0.91),
    )
    return Graph("knowledge", "a test", nodes, edges, ())


def retrieval(ids, method="m", text="Mill & <b>river</b>"):
    chunks = [Chunk(i, text, f"Title {i}") for i in ids]
    return Retrieval(
        "Where is the mill?",
        method,
        tuple(Passage(c, 1 / n, n) for n, c in enumerate(chunks, start=1)),
    )


def every_figure(names=None):
    """One figure of each kind, with hostile names if asked."""
    n = names or [f"name {i}" for i in range(10)]
    graph = nx.relabel_nodes(nx.barbell_graph(4, 2), dict(enumerate(dict.fromkeys(n))))
    scores = {node: (i + 1) / 55 for i, node in enumerate(graph)}
    return {
        "graph": viz.draw_graph(
            graph,
            node_scores=scores,
            highlight={n[0]: [n[1]]},
            edge_labels={(n[0], n[1]): n[2]},
            title=n[0],
            caption=n[1],
        ),
        "directed": viz.draw_graph(
            nx.DiGraph(graph), node_groups=dict.fromkeys(graph, n[3]), paths=[[n[0], n[1]]]
        ),
        "walk": viz.draw_walk(graph, [scores, scores], names=n[:2]),
        "scores": viz.draw_scores(
            [(x, i - 2) for i, x in enumerate(n)], highlight=n[:1], title=n[3]
        ),
        "ranking": viz.draw_ranking(n[:5], n[3:8], (n[0], n[1]), gold=n[3:4]),
        "flow": viz.draw_flow([(n[0], n[1]), n[2], (n[3], "detail")], highlight=[n[2]]),
        "flow rows": viz.draw_flow({n[0]: n[1:4], n[2]: n[4:7]}),
        "path": viz.draw_path([n[:3], n[4:6]], relations={(n[1], n[0]): n[6]}, scores=[0.5, 0.25]),
        "hierarchy": viz.draw_hierarchy(
            [[set(n[:6]), set(n[6:])], [set(n[:2]), set(n[2:6]), set(n[6:])]]
        ),
    }


def texts_of(figure):
    return [item for item in figure.scene.items if isinstance(item, Text)]


@pytest.mark.parametrize("names", [None, HOSTILE], ids=["plain", "hostile"])
@pytest.mark.parametrize("kind", list(every_figure()))
def test_every_figure_is_well_formed_and_inside_its_canvas(kind, names):
    figure = every_figure(names)[kind]
    root = ET.fromstring(figure.svg)
    assert (
        root[0].tag == f"{SVG}title"
        and root[0].text
        and root[1].tag == f"{SVG}desc"
        and root[1].text
    )
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "rect",
        "circle",
        "polyline",
        "polygon",
        "text",
    }
    assert not [
        name
        for e in root.iter()
        for name in e.attrib
        if name.startswith("on") or name in ("id", "href")
    ]
    width, height = int(root.get("width")), int(root.get("height"))
    for item in texts_of(figure):
        left, top, right, bottom = item.bounds
        assert left >= -1 and top >= -1 and right <= width + 1 and bottom <= height + 1, item
    for circle in root.iter(f"{SVG}circle"):
        x, y, r = (int(circle.get(name)) for name in ("cx", "cy", "r"))
        assert r <= x <= width - r and r <= y <= height - r


@pytest.mark.parametrize("kind", list(every_figure()))
def test_coordinates_are_whole_numbers(kind):
    root = ET.fromstring(every_figure()[kind].svg)
    for element in root.iter():
        for name in (
            "x",
            "y",
            "cx",
            "cy",
            "r",
            "width",
            "height",
            "points",
            "stroke-width",
            "font-size",
        ):
            assert re.fullmatch(r"-?\d+([ ,]-?\d+)*", element.get(name, "0")), (element.tag, name)


@pytest.mark.slow
def test_the_same_figures_under_any_hash_seed():
    script = (
        "import hashlib, sys; sys.path.insert(0, 'tests')\n"
        "from test_viz import every_figure, HOSTILE\n"
        "for names in (None, HOSTILE):\n"
        "    for kind, f in every_figure(names).items():\n"
        "        print(kind, hashlib.sha256((f.svg + f.text).encode()).hexdigest())\n"
        "print(hashlib.sha256(every_figure()['graph'].png).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in "17"
    ]
    assert (
        runs[0].stdout == runs[1].stdout
        and len(runs[0].stdout.splitlines()) == 2 * len(every_figure()) + 1
    )


def test_a_notebook_gets_text_svg_and_a_small_png_of_the_same_size():
    figure = viz.draw_graph(town(), node_scores=nx.pagerank(town()), title="Town")
    data, metadata = figure._repr_mimebundle_()
    assert list(data) == ["text/plain", "image/svg+xml", "image/png"]
    png = base64.b64decode(data["image/png"])
    image = Image.open(io.BytesIO(png))
    assert image.format == "PNG" and len(png) < 60_000
    assert image.size == tuple(1.5 * x for x in metadata["image/png"].values())
    assert list(figure._repr_mimebundle_(include={"text/plain"})[0]) == ["text/plain"]


def test_the_png_is_not_drawn_before_it_is_asked_for():
    figure = viz.draw_graph(town())
    assert figure.svg and "png" not in vars(figure)
    figure._repr_mimebundle_(exclude={"image/png"})
    assert "png" not in vars(figure)


def test_svg_and_png_show_the_same_picture():
    figure = viz.draw_graph(town(), node_scores=nx.pagerank(town()), highlight={"query": ["mill"]})
    image = np.asarray(Image.open(io.BytesIO(figure.png)).convert("RGB")).astype(int)
    circles = [
        c for c in ET.fromstring(figure.svg).iter(f"{SVG}circle") if c.get("fill") != "#FFFFFF"
    ]
    assert len(circles) > 10
    for circle in circles:
        x, y = round(1.5 * int(circle.get("cx"))), round(1.5 * int(circle.get("cy")))
        assert np.abs(image[y, x] - channels(circle.get("fill"))).max() <= 8
    assert tuple(image[0, 0]) == (255, 255, 255)
    assert (
        np.abs(image - 255).sum(axis=2).astype(bool).mean() < 0.5
    )  # a drawing on white, not a dark rectangle


@given(st.integers(1, 14), st.data())
@settings(max_examples=40, deadline=None)
def test_any_graph_can_be_drawn(count, data):
    names = data.draw(st.lists(st.text(max_size=30), min_size=count, max_size=count, unique=True))
    pairs = data.draw(
        st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=25)
    )
    graph = nx.MultiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(pairs)
    figure = viz.draw_graph(
        graph,
        node_scores=data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)),
        highlight=names[:1],
    )
    root = ET.fromstring(figure.svg)
    assert f"{count} node" in figure.text
    nodes = [c for c in root.iter(f"{SVG}circle") if c.get("stroke") == Colour.OUTLINE]
    assert len(nodes) == count + 3  # three more in the legend's scale


def test_an_empty_graph_is_a_figure_too():
    assert "0 nodes" in viz.draw_graph(nx.Graph()).text
    assert viz.draw_graph(nx.Graph(), node_scores={}).png


def test_text_names_nodes_by_score_and_edges_with_their_relations():
    figure = viz.draw_graph(
        kit_graph(),
        node_scores=[0.2, 0.5, 0.3],
        highlight={"query": ["Ada"]},
        title="Letters",
        caption="All of it.",
    )
    assert figure.text.splitlines() == [
        "Letters",
        "Graph with 3 nodes and 2 edges, 1 of them synonymy",
        "nodes:",
        "  0.500  Bell",
        "  0.300  Cara",
        "  0.200  Ada [query]",
        "edges:",
        "  Bell -- teaches, writes to -- Ada",
        "  Bell ~ Cara (synonymy 0.91)",
        "All of it.",
    ]
    assert repr(figure) == figure.text


def test_a_textual_graph_is_drawn_by_its_texts_with_directions():
    graph = TextualGraph(
        ("tea", "warmth", "tea"), ((0, "causes", 1), (0, "needs", 1), (1, "part of", 2))
    )
    figure = viz.draw_graph(graph, edge_labels=True, highlight={"start": [0]})
    assert figure.text.splitlines() == [
        "Graph with 3 nodes and 2 edges",
        "nodes:",
        "  tea [start]",
        "  tea",
        "  warmth",
        "edges:",
        "  tea -- causes, needs -> warmth",
        "  warmth -- part of -> tea",
    ]


def test_synonymy_is_dashed_and_relations_are_solid():
    lines = list(ET.fromstring(viz.draw_graph(kit_graph()).svg).iter(f"{SVG}polyline"))
    dashed = [line for line in lines if line.get("stroke-dasharray")]
    assert (
        len(lines) == 4 and len(dashed) == 2
    )  # one of each in the drawing, one of each in the legend


def test_node_area_follows_the_score():
    graph = nx.empty_graph(["large", "quarter"])
    figure = viz.draw_graph(graph, node_scores={"large": 0.8, "quarter": 0.2})
    sizes = {
        c[0].text.split(":")[0]: int(c.get("r"))
        for c in ET.fromstring(figure.svg).iter(f"{SVG}circle")
        if len(c)
    }
    assert sizes["large"] == 2 * sizes["quarter"]
    twice = viz.draw_graph(graph, node_scores={"large": 0.8, "quarter": 0.2}, score_max=3.2)
    assert f'r="{sizes["quarter"]}"' in twice.svg


def test_scores_of_the_wrong_length_are_an_error_that_says_so():
    with pytest.raises(MiniragError, match="one score for each of the 3 nodes"):
        viz.draw_graph(kit_graph(), node_scores=[1, 2])
    with pytest.raises(MiniragError, match="networkx"):
        viz.draw_graph([("a", "b")])


def test_beyond_max_nodes_the_relevant_stay_and_the_caption_says_it():
    graph = nx.barabasi_albert_graph(400, 2, seed=1)
    scores = nx.pagerank(graph)
    lowest = min(scores, key=scores.get)
    figure = viz.draw_graph(graph, node_scores=scores, highlight=[lowest])
    assert (
        "Shown: the 300 most relevant of 400 nodes" in figure.caption
        and "Graph with 400 nodes" in figure.text
    )
    drawn = {
        c[0].text.split(":")[0] for c in ET.fromstring(figure.svg).iter(f"{SVG}circle") if len(c)
    }
    best = sorted(scores, key=scores.get, reverse=True)[:290]
    assert {str(node) for node in [lowest, *best]} <= drawn and len(drawn) == 300
    assert (
        "left out" not in viz.draw_graph(town()).text and "Shown" not in viz.draw_graph(town()).text
    )
    assert len(figure.png) < 80_000


def overlapping(boxes):
    """Number of pairs of boxes that share more than a sliver."""
    return sum(
        min(a[2], b[2]) - max(a[0], b[0]) > 2 and min(a[3], b[3]) - max(a[1], b[1]) > 2
        for a, b in combinations(boxes, 2)
    )


@pytest.mark.parametrize("count, allowed", [(10, 0), (25, 0), (50, 3)])
def test_labels_do_not_cover_each_other(count, allowed):
    tree = nx.relabel_nodes(
        nx.random_labeled_tree(count, seed=5), {i: f"entity number {i}" for i in range(count)}
    )
    figure = viz.draw_graph(tree)
    labels = [t.bounds for t in texts_of(figure) if t.halo]
    assert overlapping(labels) <= allowed
    naive = [Text(t.x, 10, t.text, t.size, "middle").bounds for t in texts_of(figure) if t.halo]
    assert (
        overlapping(naive) > allowed
    )  # the same labels on one line do collide, so the count above can fail


def test_a_label_avoids_the_node_beside_it():
    nodes = [Label(100, 100, 10, ["alpha"], 12, False)]
    free = place_labels(nodes, [(100, 100, 10)], [], 300, 300)[0].box
    below = (100, 125, 14)
    moved = place_labels(nodes, [(100, 100, 10), below], [], 300, 300)[0].box
    assert free[1] > 100 and moved[3] < 100


def test_no_node_lies_on_a_path_that_is_not_its_own():
    points = [(100, 100), (500, 100), (300, 100), (300, 104), (300, 300)]
    moved = off_paths(points, [(0, 1)], 18, Canvas(600, 400, 40, 34))
    assert np.array_equal(moved[[0, 1, 4]], np.array(points)[[0, 1, 4]])
    assert abs(moved[2, 1] - 100) >= 18 and abs(moved[3, 1] - 100) >= 18
    assert np.array_equal(off_paths(points, [], 18, Canvas(600, 400, 40, 34)), points)


def test_the_panels_of_a_walk_share_places_and_scale():
    graph = town()
    first = {node: float(node == "mill") for node in graph}
    figure = viz.draw_walk(
        graph, [first, dict.fromkeys(graph, 1 / len(graph))], names=["start", "end"]
    )
    circles = [c for c in figure.scene.items if type(c).__name__ == "Circle" and c.title]
    half = len(circles) // 2
    places = [
        {c.title.split(":")[0]: (c.x - base, c.y) for c in part}
        for part, base in ((circles[:half], 0), (circles[half:], 384))
    ]
    assert places[0] == places[1]
    mill = {c.title: c.radius for c in circles if c.title.startswith("mill:")}
    assert mill["mill: 1.0000"] > 2 * mill["mill: 0.0909"]
    assert "start: mill 1.000" in figure.text


def test_given_positions_are_kept():
    graph = town()
    places = viz.layout(graph)
    assert all(isinstance(x, int) for place in places.values() for x in place)
    mirrored = {node: (-x, y) for node, (x, y) in places.items()}
    drawn, flipped = (node_places(viz.draw_graph(graph, positions=p)) for p in (places, mirrored))
    middle = [drawn[node][0] + flipped[node][0] for node in graph]
    assert max(middle) - min(middle) <= 2 and all(
        drawn[node][1] == flipped[node][1] for node in graph
    )
    assert max(abs(drawn[node][0] - flipped[node][0]) for node in graph) > 100


def node_places(figure):
    """Node name -> where its circle is, from the SVG."""
    return {
        c[0].text.split(":")[0]: (int(c.get("cx")), int(c.get("cy")))
        for c in ET.fromstring(figure.svg).iter(f"{SVG}circle")
        if len(c)
    }


def test_connected_nodes_are_drawn_closer_than_distant_ones():
    graph = nx.path_graph(9)
    places = viz.layout(graph)

    def gap(a, b):
        return np.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1])

    assert max(gap(i, i + 1) for i in range(8)) < gap(0, 8) / 3


def test_width_estimate_is_close_to_the_real_font():
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    for text in (
        "Thornfield University",
        "Halvorsen's disease",
        "ILLIlli 1984",
        "WWW maximum",
        "the quick brown fox",
        "0.1234",
    ):
        for bold in (False, True):
            face = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
            real = TextPath((0, 0), text, size=100, prop=face).get_extents().x1
            assert 0.9 < text_width(text, 100, bold) / real < 1.15, (text, bold)


def test_shortening_says_that_something_is_missing():
    assert shorten("short", 100, 12) == "short"
    cut = shorten("a very long name indeed", 60, 12)
    assert cut.endswith("…") and text_width(cut, 12) <= 60


def test_the_palette_reads_on_white_and_for_colour_blind_readers():
    for ink in (Colour.INK, Colour.MUTED):
        assert viz.contrast(ink, Colour.WHITE) >= 7
    for mark in (Colour.OUTLINE, Colour.EDGE, Colour.BLUE, Colour.VERMILLION, Colour.GREEN):
        assert viz.contrast(mark, Colour.WHITE) >= 3
    deuteranopia = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])

    def seen(colour):
        return deuteranopia @ np.array(channels(colour))

    pairs = combinations((Colour.BLUE, Colour.VERMILLION, Colour.GREEN, Colour.ORANGE), 2)
    assert min(np.linalg.norm(seen(a) - seen(b)) for a, b in pairs) > 40
    assert (
        np.linalg.norm(seen("#B06000") - seen("#5F8A00")) < 40
    )  # a red and a green that only others can tell apart
    assert viz.contrast("#000000", "#FFFFFF") == pytest.approx(21)


def test_score_tables_keep_order_or_sort_and_tell_what_is_left_out():
    rows = [("b", 0.2), ("a", 0.2), ("c", 0.9)]
    assert re.findall(r"\s([abc])$", viz.draw_scores(rows).text, re.MULTILINE) == ["b", "a", "c"]
    assert re.findall(r"\s([abc])$", viz.draw_scores(rows, sort=True).text, re.MULTILINE) == [
        "c",
        "a",
        "b",
    ]
    assert "first 30 of 31 rows" in viz.draw_scores([(f"{i}", i) for i in range(31)]).caption
    assert "0.500  Title p2" in viz.draw_scores(retrieval(["p1", "p2"])).text


def test_a_ranking_comparison_reads_retrievals():
    figure = viz.draw_ranking(
        retrieval(["p1", "p2", "p3"]),
        retrieval(["p3", "p1", "p4"]),
        ("dense", "HippoRAG"),
        gold=["p3"],
    )
    assert figure.text.splitlines()[:5] == [
        "Ranking of dense against HippoRAG",
        "  3 / 1  Title p3 [gold]",
        "  1 / 2  Title p1",
        "  - / 3  Title p4",
        "  2 / -  Title p2",
    ]
    lines = list(ET.fromstring(figure.svg).iter(f"{SVG}polyline"))
    assert len(lines) == 2 and sum(line.get("stroke") == Colour.GREEN for line in lines) == 1


def test_paths_keep_the_direction_of_their_relations():
    figure = viz.draw_path(
        ["Ada", "Bell", "Cara"],
        relations={("Bell", "Ada"): "teaches", ("Bell", "Cara"): "admires"},
        scores=[0.4],
    )
    assert "0.400  Ada <-teaches-- Bell --admires-> Cara" in figure.text


def test_hierarchies_in_words():
    levels = [[{"a", "b", "c"}, {"d"}], [{"a", "b"}, {"c"}, {"d"}]]
    assert "level 1: 3 communities" in viz.draw_hierarchy(levels).text


def test_saving_by_ending(tmp_path):
    figure = viz.draw_graph(town(), title="Town")
    for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("txt", b"Town")):
        assert figure.save(tmp_path / f"town.{ending}").read_bytes().startswith(start)
    with pytest.raises(MiniragError, match=r"\.svg, \.png or \.txt"):
        figure.save(tmp_path / "town.gif")


def test_passages_are_escaped_and_names_marked():
    found = retrieval(["p1", "p2"]).passages
    table = viz.show_chunks([passage.chunk for passage in found], highlight=["mill", "river"])
    data = table._repr_mimebundle_()
    assert data["text/html"].startswith('<div class="mathjax_ignore">')
    assert (
        "<mark>Mill</mark> &amp; &lt;b&gt;<mark>river</mark>&lt;/b&gt;" in data["text/html"]
        and "<b>river" not in data["text/html"]
    )
    ranked = passage_table(found, ["p2"], ["mill"])
    assert ranked.count(">gold</span>") == 1 and "<mark>Mill</mark> &amp; &lt;b&gt;" in ranked
    assert passage_lines(found, ["p2"])[1].endswith("Title p2 [gold]")
    assert (
        repr(table) == "p1  Title p1\np2  Title p2"
        and "<mark>Mill</mark> &amp; &lt;b&gt;" in table.html
    )
    assert viz.marked("windmill mill", ["mill"]) == "windmill <mark>mill</mark>"
    assert viz.marked("a <script>", ["<script>"]) == "a <mark>&lt;script&gt;</mark>"


def test_charts_in_the_kits_style_are_the_same_every_time():
    from matplotlib.figure import Figure as Chart

    def chart():
        with viz.style():
            figure = Chart()
            figure.subplots().plot([1, 2, 3], [0.2, 0.5, 0.4], label="recall")
            buffer = io.BytesIO()
            figure.savefig(buffer, format="svg", metadata={"Date": None})
        return hashlib.sha256(buffer.getvalue()).hexdigest()

    assert chart() == chart()


def test_figures_need_matplotlib_only_for_the_png():
    script = "import sys, networkx as nx; from minirag import viz; "
    script += "viz.draw_graph(nx.path_graph(4)).svg; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_dot_is_filled_only_where_both_lists_have_the_item_gold_or_not():
    scene = viz.draw_ranking(["a", "b"], ["b", "c"], gold=["a"]).scene
    fills = [item.fill for item in scene.items if type(item).__name__ == "Circle"]
    assert fills == ["#FFFFFF", "#56B4E9", "#56B4E9", "#FFFFFF"]


def test_the_pipeline_lights_the_stages_that_are_named_and_refuses_others():
    figure = viz.draw_pipeline("graph", "index")
    assert "chunks -> [graph] -> [index] -> retrieval" in figure.text
    with pytest.raises(MiniragError, match="'graphs'; there are documents, chunks"):
        viz.draw_pipeline("graphs")


def shows(chart):
    return Image.open(io.BytesIO(chart.png)).size[0] > 300 and repr(chart) == chart.text


def test_arrows_are_drawn_without_a_warning(caplog):
    viz.draw_vectors({"a": (1, 0), "b": (0.8, -0.6)})
    assert not caplog.records


def test_vectors_of_two_dimensions_stand_where_they_point():
    chart = viz.draw_vectors({"a": (2, 1), "b": (0.5, -3)}, ("honey", "hive"), {"gold": ["b"]})
    assert shows(chart)
    assert chart.text == "x: honey, y: hive\n  a: 2.00, 1.00\n  b: 0.50, -3.00 [gold]"


def test_vectors_of_more_dimensions_are_projected_so_that_distances_in_a_plane_stay():
    rng = np.random.default_rng(0)
    flat, turn = rng.normal(size=(6, 2)), np.linalg.qr(rng.normal(size=(5, 5)))[0][:2]
    chart = viz.draw_vectors({f"p{i}": row for i, row in enumerate(flat @ turn)})
    found = np.array(re.findall(r"p\d: (\S+), (\S+)", chart.text), dtype=float)
    for i, j in combinations(range(6), 2):
        gap = np.linalg.norm(flat[i] - flat[j])
        assert np.linalg.norm(found[i] - found[j]) == pytest.approx(gap, abs=0.02)


@pytest.mark.parametrize("wrong", [{"a": (1, 2), "b": (1, float("nan"))}, {"a": (1,)}])
def test_what_is_no_vector_is_refused(wrong):
    with pytest.raises(MiniragError, match="finite numbers"):
        viz.draw_vectors(wrong)


def test_curves_and_dots_say_their_numbers():
    curves = viz.draw_lines([0.1, 0.5], {"R@2": [50, 60.25]}, "restart", "recall", "Sweep")
    assert shows(curves)
    assert curves.text == "Sweep\nrecall over restart: 0.1, 0.5\n  R@2: 50, 60.25"
    dots = viz.draw_points({"bm25": (3.0, -2.0, 8.0), "dense": 1.25}, "gain", zero=0, caption="c")
    assert shows(dots)
    assert dots.text == "gain\n  3.0 [-2.0, 8.0]  bm25\n  1.2  dense\nc"
    parts = {"bees": {"dense": 1.0}, "ships": {"dense": 1.5}}
    parted = viz.draw_points({"dense": (1.25, 0, 2)}, "gain", parts=parts)
    assert shows(parted)
    assert parted.text == "gain\n  1.2 [0.0, 2.0]  dense; bees 1.0; ships 1.5"
    wide = viz.draw_vectors({"a": (10, 1), "b": (20_000, 2)}, arrows=False, log=True)
    assert shows(wide)
    assert wide.text == "x: x, y: y\n  a: 10, 1.00\n  b: 20000, 2.00"
    matrix = viz.draw_dots({"dense": ["VDB"], "hippo": ["Link", "PPR"]}, ["VDB", "Link", "PPR"])
    assert shows(matrix)
    assert matrix.text == "  dense: VDB\n  hippo: Link, PPR"
    ringed = viz.draw_dots({"dense": ["VDB", "PPR"]}, ["VDB", "PPR"], rings={"dense": ["PPR"]})
    assert ringed.text == "  dense: VDB, (PPR)"
    assert ringed.png != viz.draw_dots({"dense": ["VDB", "PPR"]}, ["VDB", "PPR"]).png
