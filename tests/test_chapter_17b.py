"""What chapter 17b (what the benchmark says) says beyond what its cells print, and what it used to
say: coverage and tokens in numbers, agents over three graphs, the survey's compositions. Its
lessons and opportunities are checked in test_chapter_17.py.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

import minirag as mr
from minirag.evaluate.bench import run_bench
from minirag.evaluate.metrics import load_expected
from minirag.graphs.knowledge_graph import extract
from minirag.reproduce.unified import RECORDED


def side(values, looks):
    """-1 or 1 where the interval of one of `looks` comparisons leaves out zero, else 0."""
    rng, tail = np.random.default_rng(0), 2.5 / looks
    drawn = rng.choice(values, (10_000, len(values))).mean(axis=1)
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return int(low > 0) - int(high < 0)


@pytest.fixture(scope="module")
def stored():
    """{row: {metric: number}} of the table that `minirag reproduce unified` stores."""
    rows = load_expected("unified")["rows"]
    return {
        name: {metric: cell["ours"] for metric, cell in row["metrics"].items()}
        for name, row in rows.items()
    }


def of_table(stored, start):
    return {name.removeprefix(start): row for name, row in stored.items() if name.startswith(start)}


def by_method(result, name, metric):
    return np.array([row[metric] for row in result.answers if row["method"] == name])


@pytest.mark.parametrize(
    ("start", "everywhere", "middle", "alike"),
    [
        ("professors by annotations: ", 0.78, 0.71, (11, 70.8, 91.7)),
        ("musique_train by GPT-3.5: ", 0.76, 0.19, (11, 31.0, 56.0)),
    ],
)
def test_coverage_goes_with_tokens_on_musique_only_at_the_ends(
    stored, start, everywhere, middle, alike
):
    read = np.array([
        (row["context tokens"], row["cover@8k"])
        for row in of_table(stored, start).values()
        if 0 < row.get("context tokens", 0) <= 8000
    ])  # fmt: skip

    def r(some):
        return np.corrcoef(np.log10(some[:, 0]), some[:, 1])[0, 1]

    between = read[(read[:, 0] > 300) & (read[:, 0] < 2000)]
    assert (r(read), r(between)) == pytest.approx((everywhere, middle), abs=0.006)
    equal = read[(read[:, 0] > 500) & (read[:, 0] < 600), 1]
    assert (len(equal), equal.min(), equal.max()) == alike


def test_how_many_methods_find_more_than_bm25(stored):
    counts = {}
    for name in ("professors by annotations", "professors by rules", "musique_train by GPT-3.5"):
        rows = of_table(stored, f"{name}: ")
        above = [m for m, row in rows.items() if row.get("R@5", 0) > rows["bm25"]["R@5"]]
        graphs = [m for m in above if mr.METHODS[m].graph_type != "none"]
        counts[name] = len(graphs), len(above) - len(graphs)
    assert [*counts.values()] == [(3, 0), (2, 0), (14, 5)]


def test_most_graph_methods_are_above_vanilla_in_one_column_of_the_surveys_table():
    table, most = load_expected("survey_tables")["table_5"], []
    for place, measure in enumerate(table["columns"]):
        cells = {name: row[place] for name, row in table["rows"].items() if row[place] is not None}
        graphs = [value for name, value in cells.items() if name not in ("zeroshot", "vanilla")]
        above = sum(value > cells.get("vanilla", 100) for value in graphs)
        most += [measure] if above > len(graphs) / 2 else []
    assert most == ["MultihopQA Recall"]


def test_kgp_gives_a_passage_more_than_once():
    corpus = mr.load_corpus("professors")
    kgp = mr.METHODS["kgp"].build(corpus)
    sections, _ = kgp.context(kgp.retrieve(corpus.question("q07").text, k=5))
    text = "\n".join(line for part in sections.values() for line in part)
    times = [text.count(chunk.text) for chunk in corpus.chunks]
    assert np.count_nonzero(times) < sum(times) and max(times) > 1


@pytest.mark.slow  # six runs of two agents
def test_over_whose_graph_agents_cover_more_than_one_passage():
    corpus, found = mr.load_corpus("professors"), {}
    one = run_bench(corpus, ["vanilla"], extraction="annotations", k=1)
    alone = by_method(one, "vanilla", "cover@8k")
    by_model = extract(corpus, mr.load_llm("recorded"))
    for reader, graph in (("own", "annotations"), ("rules", None), ("model", by_model)):
        walks = run_bench(corpus, ["tog", "dalk"], extraction=graph)
        for name in ("tog", "dalk"):
            found[reader, name] = side(by_method(walks, name, "cover@8k") - alone, looks=6)
    assert {key for key, sign in found.items() if sign} == {
        ("own", "tog"), ("own", "dalk"), ("model", "tog")
    }  # fmt: skip


@pytest.mark.slow  # recorded answers of nine methods
def test_answers_by_missing_gold_and_the_variants_that_are_not_told_apart():
    corpus, once = mr.load_corpus("professors"), ["vanilla", "bm25", "hyde", "hipporag"]
    variants = ["graphrag-local", "graphrag-er", "graphrag-cc", "vgraphrag-cc", "vgraphrag"]
    spoken = run_bench(corpus, [*once, *variants], llm="recorded", gleanings=0)
    full, stands, right = (
        np.array([by_method(spoken, name, metric) == 100 for name in once])
        for metric in ("R@5", "cover@8k", "accuracy")
    )
    counts = [(right[some].sum(), some.sum()) for some in (full, ~full & stands, ~full & ~stands)]
    assert counts == [(57, 57), (17, 21), (0, 18)]
    mixed = np.flatnonzero(full.any(axis=0) & ~full.all(axis=0))
    within = [100 * (right[full[:, i], i].mean() - right[~full[:, i], i].mean()) for i in mixed]
    assert len(within) == 7 and side(np.array(within), looks=1) > 0
    for a, b in combinations(variants, 2):
        gain = by_method(spoken, a, "accuracy") - by_method(spoken, b, "accuracy")
        assert not side(gain, looks=1)


@pytest.mark.slow  # recorded answers of twenty methods
def test_by_the_corrected_sign_test_no_method_is_ahead_of_vanilla():
    names = [name for name in (*RECORDED, "ircot-hipporag") if name != "dense"]
    spoken = run_bench(mr.load_corpus("professors"), names, llm="recorded", gleanings=0)
    flat = by_method(spoken, "vanilla", "accuracy")
    for name in names:
        lead = by_method(spoken, name, "accuracy") - flat
        won, lost = int((lead > 0).sum()), int((lead < 0).sum())
        assert won <= lost or 20 * binomtest(won, won + lost).pvalue > 0.05


@pytest.mark.paper("Survey", "opportunities")
def test_the_first_lines_on_files_and_graph_databases_run(tmp_path):
    (tmp_path / "a.html").write_text("<p>Maud Ellery founded the Lanthorn Trust.</p>", "utf-8")
    (tmp_path / "b.csv").write_text("title,text\nA,Ilse Marrow read it.\n", "utf-8")
    folder = mr.read_folder(tmp_path)
    assert len(folder.documents) == 2
    graph = mr.METHODS["hipporag"].build(folder).graph
    linked = graph.to_networkx()
    assert len(linked.nodes) == len(graph.nodes) > 0
