"""Microsoft's index files: Operation Dulce whole, and our own graph written and read in both
layouts.
"""

import zipfile

import pytest
from microsoft_2024 import write_2024
from small_graphs import communities_of, graph_of

from minirag.core.errors import MiniragError
from minirag.core.graph import Claim, Graph
from minirag.corpora.microsoft_index import load_dulce, read_microsoft, write_microsoft
from minirag.index import write_reports
from minirag.llm import load_llm
from minirag.methods.graphrag.citations import cited

pytest.importorskip("pyarrow")
CURRENT = {
    "entities": "id human_readable_id title type description text_unit_ids frequency degree x y",
    "relationships": "id human_readable_id source target description weight combined_degree "
    "text_unit_ids",
    "communities": "id human_readable_id community parent children level title entity_ids "
    "relationship_ids text_unit_ids period size",
    "community_reports": "id human_readable_id community parent children level title summary "
    "full_content rank rating_explanation findings "
    "full_content_json period size",
    "covariates": "id human_readable_id covariate_type type description subject_id object_id "
    "status start_date end_date source_text text_unit_id",
    "text_units": "id human_readable_id text n_tokens document_ids entity_ids relationship_ids "
    "covariate_ids",
    "documents": "id human_readable_id title text text_unit_ids",
}


LAYOUTS = {"current": write_microsoft, "2024": write_2024}


def ours():
    graph = graph_of(
        ["A-B", "C-D", "B-C"], nodes="ABCDE", description="Seen in Oslo, by naïve 观众."
    )
    claims = (
        Claim(0, 1, "CLAIM", "TRUE", "1999", "", "Said so.", "A said so."),
        Claim(2, None, "OTHER", "", "", "", "d", "t"),
    )
    graph = Graph(graph.type, graph.source, graph.nodes, graph.edges, graph.chunks, claims)
    return write_reports(
        communities_of(graph, [["ABCD", "E"], ["AB", "CD", "E"]]), load_llm("offline")
    )


@pytest.mark.parametrize("layout, write", LAYOUTS.items())
def test_what_is_written_is_read_back(layout, write, tmp_path):
    index = ours()
    again = read_microsoft(write(index, tmp_path))
    graph, read = index.communities.graph, again.graph
    assert (
        again.layout == layout
        and read.nodes == graph.nodes
        and read.edges == graph.edges
        and read.claims == graph.claims
    )

    def names(items):
        return {(item.level, item.members, item.edges, item.claims) for item in items}

    assert names(again.index.communities.items) == names(index.communities.items)

    def sets(i):
        return [
            sorted(i.communities.items[p].members for p in level) for level in i.communities.levels
        ]

    assert sets(again.index) == sets(index)

    def texts(i):
        return {
            i.communities.items[p].members: (r.text, r.rating, r.rating_explanation)
            for p, r in i.reports.items()
        }

    assert texts(again.index) == texts(index)


def test_the_current_columns_are_there(tmp_path):
    import pandas as pd

    write_microsoft(ours(), tmp_path)
    for table, columns in CURRENT.items():
        assert set(columns.split()) <= set(
            pd.read_parquet(tmp_path / f"{table}.parquet").columns
        ), table


def test_a_zip_of_a_folder_is_read_too(tmp_path):
    write_microsoft(ours(), tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "index.zip", "w") as archive:
        for file in (tmp_path / "out").iterdir():
            archive.write(file, f"run/artifacts/{file.name}")
    assert len(read_microsoft(tmp_path / "index.zip").graph.nodes) == 5


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MiniragError, match="neither a folder nor a zip"):
        read_microsoft(tmp_path / "nothing.zip")
    write_microsoft(ours(), tmp_path)
    (tmp_path / "relationships.parquet").unlink()
    with pytest.raises(MiniragError, match="relationships.parquet"):
        read_microsoft(tmp_path)


def test_an_index_without_reports_claims_or_communities_is_a_graph(tmp_path):
    write_microsoft(ours(), tmp_path)
    for name in ("communities", "community_reports", "covariates", "documents"):
        (tmp_path / f"{name}.parquet").unlink()
    found = read_microsoft(tmp_path)
    assert (
        len(found.graph.nodes) == 5
        and not found.index.reports
        and not found.claims
        and not found.index.communities.items
    )


@pytest.mark.needs("dulce")
def test_operation_dulce_loads_whole():
    real = load_dulce()
    assert (
        len(real.graph.nodes),
        len(real.graph.edges),
        real.claims,
        len(real.index.reports),
        len(real.graph.chunks),
    ) == (89, 373, 156, 20, 50)
    assert (
        len(real.graph.claims) == 149
        and len(real.unlinked) == 7
        and all(row["subject_id"] not in real.graph.position for row in real.unlinked)
    )
    communities = real.index.communities
    assert [len(level) for level in communities.levels] == [7, 17] and len(real.index.at(1)) == 17
    assert all(
        set(c.members) <= set(communities.items[c.parent].members)
        for c in communities.items
        if c.parent is not None
    )
    report = real.index.report("10")
    assert (
        report.title.startswith("Paranormal Military Squad at Dulce Base") and report.rating == 8.5
    )
    assert len(report.findings) >= 5 and report.rating_explanation


@pytest.mark.needs("dulce")
@pytest.mark.parametrize("write", LAYOUTS.values())
def test_operation_dulce_survives_both_layouts(write, tmp_path):
    real = load_dulce()
    again = read_microsoft(write(real.index, tmp_path, real.unlinked))
    for part in ("nodes", "edges", "claims"):
        assert getattr(again.graph, part) == getattr(real.graph, part)
    assert (
        again.index.reports == real.index.reports
        and again.index.communities.items == real.index.communities.items
        and again.claims == 156
    )


@pytest.mark.needs("dulce")
def test_a_claim_is_cited_by_microsofts_own_number():
    real = load_dulce()
    numbers = [
        i if claim.number is None else claim.number for i, claim in enumerate(real.graph.claims)
    ]
    assert len(set(numbers)) == 149 and numbers != list(range(149)) and max(numbers) > 149
    for claim, number in zip(real.graph.claims, numbers):
        assert cited(real.index, f"Told so [Data: Claims ({number})].") == ([], list(claim.chunks))
