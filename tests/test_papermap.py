"""The paper map is complete, honest and up to date: what is not in the kit is a hole with a reason,
and holes only become fewer.
"""

import ast
import pkgutil
import re
from pathlib import Path

import nbformat
import pytest
from citing import unknown_citations
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from typer.testing import CliRunner

from minirag.cli import app
from minirag.core.errors import MiniragError
from minirag.workshop import citations
from minirag.workshop import paper_map as papermap
from minirag.workshop.paper_map import Reader

ROOT = Path(__file__).parents[1]
NOTEBOOKS = [
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
    *sorted((ROOT / "exercises" / "solutions").glob("*.ipynb")),
]
# Empty cells of the map; lower it whenever holes are filled, raise it only by those of elements
# that join the list.
MAX_HOLES = 201
ADVICE = "run `minirag map --write`, look at the difference and commit it"


@pytest.fixture(scope="module")
def table():
    return papermap.rows()


def test_every_source_line_names_what_the_papers_have():
    problems = citations.code_places()[1]
    assert not problems, "\n".join(problems)


def test_what_is_empty_is_a_hole_and_what_is_a_hole_is_empty(table):
    empty = {(row.element.paper, row.element.id): papermap.missing(row) for row in table}
    holes = citations.holes()
    assert not set(holes) - set(empty), "holes that are no elements of a paper"
    unlisted = {
        key: columns
        for key, columns in empty.items()
        if set(columns) - set(holes.get(key, ((), ""))[0])
    }
    assert not unlisted, f"neither mapped nor a hole: {unlisted}"
    filled = {key: columns for key, (columns, _) in holes.items() if set(columns) - set(empty[key])}
    assert not filled, f"no longer holes: {filled}; {ADVICE}"


def test_holes_become_fewer_and_each_has_a_reason():
    holes = citations.holes()
    count = sum(len(columns) for columns, _ in holes.values())
    print(f"{count} empty cells in {len(holes)} of {len(citations.elements())} elements")
    assert count <= MAX_HOLES
    assert all(
        len(reason.split()) >= 3 and set(columns) <= set(papermap.COLUMNS)
        for columns, reason in holes.values()
    )


def test_the_committed_map_is_the_generated_one(table):
    assert (ROOT / "data" / "paper_map.md").read_text(encoding="utf-8") == papermap.render(table), (
        f"data/paper_map.md is out of date: {ADVICE}"
    )


def test_links_of_the_map_lead_somewhere(table):
    targets = set(re.findall(r"\]\(([^)]+)\)", papermap.render(table)))
    assert targets and not [target for target in targets if not (ROOT / "data" / target).exists()]


def test_a_row_names_code_notebook_and_test(table):
    row = next(row for row in table if (row.element.paper, row.element.id) == ("Wang", "hippo-ppr"))
    assert ("minirag/algorithms/pagerank.py", "personalized_pagerank") in row.code
    assert any(file.startswith("exercises/solutions/03") for file, _ in row.notebook)
    assert ("tests/test_pagerank.py", "test_equal_to_igraph") in row.test


def test_every_marker_names_an_element():
    marked = papermap.test_places()
    assert len(marked) > 50
    assert not {key: tests for key, tests in marked.items() if key not in citations.elements()}
    background = {key for key in marked if not citations.elements()[key].own}
    assert not background, "a background definition owes no test"


def test_markers_are_read_from_the_tests(tmp_path, monkeypatch):
    monkeypatch.setattr(papermap, "checkout", lambda: tmp_path)
    marks = '@pytest.mark.slow\n@pytest.mark.paper("Wang", "def-4", "def-5")\n'
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(f"{marks}def test_b():\n    pass\n")
    place = [("tests/test_a.py", "test_b")]
    assert papermap.test_places() == {("Wang", "def-4"): place, ("Wang", "def-5"): place}


def test_the_text_of_one_paper():
    said = papermap.text("PathRAG")
    assert (
        "PathRAG eq-2: resource propagation" in said
        and "algorithms/flow.py: resource_flow" in said
        and "Wang" not in said
    )
    with pytest.raises(MiniragError, match="no paper 'Pathrag'"):
        papermap.text("Pathrag")


def test_the_command_prints_a_paper_and_an_installed_package_what_was_shipped(monkeypatch):
    said = CliRunner().invoke(app, ["map", "GRAG"])
    assert said.exit_code == 0 and "GRAG eq-6: soft pruning factors" in said.stdout
    monkeypatch.setattr(papermap, "in_checkout", lambda: False)
    assert papermap.text() == (ROOT / "data" / "paper_map.md").read_text(encoding="utf-8")


def test_holes_shrink_and_never_grow(tmp_path, monkeypatch, table):
    path = tmp_path / "paper_holes.yaml"
    built = "  hippo-ppr: {missing: code notebook test, reason: long since built}\n"
    path.write_text(
        f"# kept\nWang:\n{built}  tab-2: {{missing: notebook, reason: needs a model}}\n"
    )
    for module in (citations, papermap):
        monkeypatch.setattr(module, "shipped", lambda name: path)
    rows = [
        row._replace(notebook=[], test=[]) if row.element.id == "tab-2" else row
        for row in table
        if row.element.paper == "Wang"
    ]
    papermap.shrink_holes(rows)
    assert citations.holes() == {
        ("Wang", "tab-2"): (("notebook",), "needs a model")
    } and path.read_text().startswith("# kept")


# what a Source line says


@pytest.mark.parametrize(
    "line, ids",
    [
        (
            "Wang, Sec. IV-B (hippo-ppr); Survey, Sec. 6.1 (op-node, op-chunk)",
            {("Wang", "hippo-ppr"), ("Survey", "op-node"), ("Survey", "op-chunk")},
        ),
        ("PathRAG, Eq. 2-3", {("PathRAG", "eq-2"), ("PathRAG", "eq-3")}),
        ("GRAG, Eq. (6)", {("GRAG", "eq-6")}),
        ("Wang, Table IV", {("Wang", "tab-4")}),
        ("Survey, Alg. 1; the code of rank-bm25", {("Survey", "alg-1")}),
        ("GraphRAG, Sec. 2.4", {("GraphRAG", "sec-2.4")}),
        ("GraphRAG, Sec. 2.5", {("GraphRAG", "sec-2.5-leaf"), ("GraphRAG", "sec-2.5-higher")}),
        ("Robertson and Zaragoza (2009)", set()),
    ],
)
def test_source_lines_are_read(line, ids):
    assert citations.read_source(line) == (ids, [])


@pytest.mark.parametrize(
    "line, problem",
    [
        ("Wang, Sec. IV-B (hippo-walk)", "no element 'hippo-walk'"),
        ("Wang, Sec. IV-B", "names no element"),
        ("PathRAG, Eq. 12", "names no element"),
        ("Wang, Sec. IX (hippo-ppr)", "no Sec. IX"),
        ("PathRag, Eq. 2", "names 'PathRag'"),
    ],
)
def test_a_wrong_source_line_is_found(line, problem):
    assert problem in " ".join(citations.read_source(line)[1])


def test_sources_know_their_place(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        'class A:\n    def f(self):\n        """One.\n\n        Source: PathRAG,\n        Eq. '
        '2\n\n        More.\n        """\n'
    )
    assert citations.sources(path, "some.py") and list(citations.sources(path, "some.py")) == [
        citations.Source("some.py", 2, "A.f", "PathRAG, Eq. 2")
    ]


# what code uses


def test_names_are_followed_through_imports_and_instances():
    imports = "import minirag as mr\nfrom minirag.algorithms import pagerank as p\n"
    code = (
        imports + "hippo = "
        "mr.HippoRAG.build(c)\nhippo.retrieve(q)\np.personalized_pagerank\nmr.METHODS['bm25']"
    )
    used = Reader().read(ast.parse(code))
    assert {
        "minirag.methods.hipporag:HippoRAG.build",
        "minirag.methods.base:Method.retrieve",
        "minirag.algorithms.pagerank:personalized_pagerank",
        "minirag.methods.baselines:BM25Retriever",
    } <= used
    assert not Reader().read(ast.parse("import numpy as np\nnp.linalg.norm(hippo.retrieve(1))"))


def test_an_import_alone_shows_nothing():
    reader = Reader()
    assert not reader.read(ast.parse("from minirag.algorithms.flow import resource_flow"))
    assert reader.read(ast.parse("resource_flow(g, 's')")) == {
        "minirag.algorithms.flow:resource_flow"
    }


# what notebooks cite


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_cite_only_what_the_package_knows(path):
    problems = unknown_citations(path)
    assert not problems, "\n".join(f"{path.name}, cell {cell}: {said}" for cell, said in problems)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("By PathRAG, Eq. 2 the resource thins out.", None),
        ("PathRAG's Eq. (2) and Sec. 4.2.", None),
        ("Wang, Eq. 1 is background.", None),
        ("PathRAG, Eq. 9", "eq-9"),
        ("PathRAG, Sec. 8.1", "sec-8.1"),
        ("Eq. (2) says so.", "of which paper?"),
        ("<!-- paper: Wang hippo-walk -->", "no element 'hippo-walk'"),
        ("<!-- paper: Wang hippo-ppr, def-7; PathRAG eq-2 -->", None),
        ("It took 5 sec. 3 times. Table 7 and Fig. 99 may be ours.", None),
    ],
)
def test_unknown_citations_are_found(tmp_path, text, problem):
    path = tmp_path / "some.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell(text), new_code_cell("x = 1")]), path)
    said = " ".join(sentence for _, sentence in unknown_citations(path))
    assert (problem in said and said) if problem else not said


def test_an_equation_that_is_neither_cited_nor_a_hole_is_unknown(tmp_path):
    path = tmp_path / "some.ipynb"
    nbformat.write(
        new_notebook(cells=[new_markdown_cell("As in PathRAG: see Eq. (2) there.")]), path
    )
    assert unknown_citations(path, frozenset()) and not unknown_citations(
        path, frozenset({("PathRAG", "eq-2")})
    )


# the pages beside the notebooks

PAGES = ("notebooks/notation.md", "exercises/course_plan.md", "exercises/reading_groups.md")


@pytest.mark.parametrize("page", PAGES)
def test_code_and_links_of_the_pages_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    names = re.findall(r"`(minirag(?:\.\w+)+)`", text)
    for name in names:
        pkgutil.resolve_name(name)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert links and not [
        link for link in links if not (ROOT / page).parent.joinpath(link).exists()
    ]


def test_the_glossary_explains_the_background_definitions():
    glossary = citations.in_prose((ROOT / "notebooks" / "notation.md").read_text(encoding="utf-8"))
    assert {key for key, element in citations.elements().items() if not element.own} <= glossary


def test_an_element_has_a_name_and_nothing_that_a_stray_comma_made():
    import yaml

    said = yaml.safe_load((ROOT / "data" / "paper_elements.yaml").read_text(encoding="utf-8"))
    assert not [
        id
        for row in said.values()
        for id, fields in row.items()
        if not set(fields) <= {"name", "own"}
    ]


def test_no_equation_definition_table_or_figure_of_the_papers_is_left_out():
    printed = {
        "Wang": {"eq": 2, "def": 7, "tab": 6, "fig": 10},
        "PathRAG": {"eq": 6, "tab": 5, "fig": 5},
        "GraphRAG": {"tab": 3, "fig": 4},
        "Survey": {"alg": 1, "tab": 13, "fig": 19},
        "GRAG": {"eq": 11, "tab": 5, "fig": 4},
    }
    wanted = {
        (paper, f"{kind}-{number}")
        for paper, kinds in printed.items()
        for kind, last in kinds.items()
        for number in range(1, last + 1)
    }
    numbered = {
        (paper, id)
        for paper, id in citations.elements()
        if re.fullmatch(r"(?:eq|def|tab|fig|alg)-\d+", id)
    }
    assert numbered == wanted
