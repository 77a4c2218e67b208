"""What chapter 17d (the survey's tables) says beyond what its cells print: whole counts, many
looks, and what the tables were asked before.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom, spearmanr
from unified_rows import (
    COUNTED,
    COUNTED_5,
    clear_by_holm,
    fisher,
    graph_methods,
    in_survey,
    size_of,
)

from minirag.evaluate.metrics import load_expected


def test_told_before_most_graph_methods_are_above_vanilla_in_one_column_of_the_surveys_table():
    table, most = load_expected("survey_tables")["table_5"], []
    for place, measure in enumerate(table["columns"]):
        cells = {name: row[place] for name, row in table["rows"].items() if row[place] is not None}
        graphs = [value for name, value in cells.items() if name not in ("zeroshot", "vanilla")]
        above = sum(value > cells.get("vanilla", 100) for value in graphs)
        most += [measure] if above > len(graphs) / 2 else []
    assert most == ["MultihopQA Recall"]
    above = {}
    for place, measure in enumerate(table["columns"]):
        if "Recall" in measure or "STRREC" in measure:
            cells = {name: row[place] for name, row in table["rows"].items() if row[place]}
            flat, _ = cells.pop("vanilla"), cells.pop("zeroshot")
            above[measure] = sum(value > flat for value in cells.values()), len(cells)
    assert [*above.values()] == [(9, 11), (1, 11), (2, 11), (2, 8), (1, 10)]


@pytest.mark.paper("Survey", "tab-5")
def test_which_graph_methods_are_clearly_above_vanilla_in_table_5():
    graphs = graph_methods()
    clear, near = [], {}
    for measure in COUNTED_5:
        for name in graphs:
            x, y, p = in_survey(5, measure, name, "vanilla")
            if x > y:
                clear += [(name, measure.split()[0])] if 66 * p < 0.05 else []
                near[name, measure] = 66 * p
    assert sorted(clear) == [
        ("hipporag", "Quality"), ("raptor", "MultihopQA"), ("raptor", "MusiqueQA"),
        ("raptor", "Quality"),
    ]  # fmt: skip
    assert near["graphrag-local", "MultihopQA Accuracy"] == pytest.approx(0.0508, abs=0.00005)
    assert len(near) == 11 and sum(p < 0.05 for p in near.values()) == 4
    poor = ("g-retriever", "tog", "dalk")  # by the survey's own words
    assert sum(name not in poor for name, _ in near) == 10
    assert 6 * sum(name not in poor for name in graphs) == 48
    of = {name: [clear.count(each) for each in clear if each[0] == name] for name in graphs}
    assert [len(of[name]) for name in ("raptor", "hipporag")] == [3, 1]
    ahead = [[m.removeprefix("ALCE ").split()[0] for each, m in near if each == name]
             for name in ("raptor", "hipporag", "graphrag-local")]  # fmt: skip
    assert ahead == [["MultihopQA", "MusiqueQA", "STRHIT", "Quality", "PopQA"],
                     ["MultihopQA", "Quality"], ["MultihopQA"]]  # fmt: skip
    x, y, p = in_survey(5, "ALCE STRHIT", "hipporag", "vanilla")
    assert (x, y) == (414, 603) and 66 * p < 0.05
    assert in_survey(5, "ALCE STREM", "raptor", "vanilla")[:2] == (105, 106)
    assert in_survey(5, "MusiqueQA Accuracy", "kgp", "vanilla")[:2] == (520, 517)


@pytest.mark.paper("Survey", "tab-5", "tab-10", "tab-12")
def test_which_shares_of_the_chapter_are_no_whole_counts_by_their_columns_rounding():
    survey, used = load_expected("survey_tables"), []
    for measure in COUNTED_5:
        used += [(5, name, measure) for name in survey["table_5"]["rows"]]
    used += [(10, name, measure) for name in survey["table_10"]["rows"] for measure in COUNTED]
    for name in ("vgraphrag", "raptor"):
        used += [(12, f"{name} Llama-3-{size}", f"ALCEAll {measure}")
                 for size in ("8B", "70B") for measure in ("STREM", "STRHIT")]  # fmt: skip
        used += [(12, f"{name} Llama-3-70B", "MultihopQA Accuracy")]
    assert sum(number == 5 for number, *_ in used) == 78
    missed = {}
    for number, name, measure in used:
        table, n = survey[f"table_{number}"], size_of(measure)
        share = table["rows"][name][table["columns"].index(measure)]
        count = share * n / 100
        if abs(count - round(count)) > n * 0.0005 / 100:
            digits = round(1000 * abs(share - round(100 * round(count) / n, 3)))
            missed[number, name, measure.split()[0]] = digits
    assert missed == {
        (5, "dalk", "MultihopQA"): 1, (5, "lightrag-global", "ALCE"): 1,
        (5, "hipporag", "MultihopQA"): 4, (5, "dalk", "Quality"): 8,
        (12, "raptor Llama-3-8B", "ALCEAll"): 1,
    }  # fmt: skip
    assert f"{100 * 1374 / 2556:.2f}" == "53.76"  # HippoRAG's, to two decimals


@pytest.mark.paper("Survey", "tab-12")
def test_on_alce_cut_anew_vgraphrag_is_not_clearly_above_raptor():
    survey, n = load_expected("survey_tables"), 948
    anew, before = survey["table_12"], survey["table_10"]
    assert anew["columns"][-1] == "ALCEAll STRHIT" and before["columns"][-1] == "ALCE STRHIT"
    p, moved = {}, {}
    for measure in ("STREM", "STRHIT"):
        old = before["columns"].index(f"ALCE {measure}")
        new = anew["columns"].index(f"ALCEAll {measure}")
        counts, then = {}, {}
        for name in ("vanilla", "raptor", "vgraphrag"):
            share = anew["rows"][f"{name} Llama-3-8B"][new]
            assert share < before["rows"][name][old]
            assert abs(share * n / 100 - round(share * n / 100)) < 0.02
            counts[name] = round(share * n / 100)
            then[name] = round(before["rows"][name][old] * n / 100)
        x, y = counts["vgraphrag"], counts["raptor"]
        p[measure] = round(fisher(x, y, n), 3)
        moved[measure] = (then["vgraphrag"], x, then["raptor"], y)
        assert x > y
    assert p == {"STREM": 0.717, "STRHIT": 0.475}
    assert moved == {"STREM": (146, 110, 105, 104), "STRHIT": (681, 607, 620, 591)}
    for name in ("vanilla", "raptor", "vgraphrag"):  # the model of Table 10
        assert anew["rows"][f"{name} Llama-3-8B"][:2] == before["rows"][name][:2]
    large = {
        m: [anew["rows"][f"{name} Llama-3-70B"][place] for name in ("vgraphrag", "raptor")]
        for place, m in enumerate(anew["columns"])
    }
    p = {m: fisher(*(round(share * size / 100) for share in large[m]), size)
         for m, size in (("MultihopQA Accuracy", 2556), ("ALCEAll STREM", n),
                         ("ALCEAll STRHIT", n))}  # fmt: skip
    assert [round(each, 4) for each in p.values()] == [0.0007, 0.9444, 0.8427]
    assert [3 * each < 0.05 for each in p.values()] == [True, False, False]
    assert [round(share * n / 100) for m in ("ALCEAll STREM", "ALCEAll STRHIT")
            for share in large[m]] == [118, 116, 656, 651]  # fmt: skip
    assert all(large[m][0] > large[m][1] for m in p)
    for model in ("Llama-3-8B", "Llama-3-70B"):
        columns = [*zip(*(row for name, row in anew["rows"].items() if name.endswith(model)))]
        first = anew["rows"][f"vgraphrag {model}"]
        assert [max(column) for column in columns] == first
    places, raptor = [anew["columns"].index(m) for m in p], anew["rows"]["raptor Llama-3-70B"]
    assert all(sorted(columns[i])[-2] == raptor[i] for i in places)  # of 70B, the last


@pytest.mark.paper("Survey", "tab-7")
def test_told_before_rank_correlations_of_tokens_and_seconds():
    table, found = load_expected("survey_tables")["table_7"], []
    for i in range(0, len(table["columns"]), 2):
        both = [row[i : i + 2] for row in table["rows"].values() if None not in row[i : i + 2]]
        found += [round(float(spearmanr(both).statistic), 2)]
    assert found == [0.62, 0.69, 0.81, 0.75, 0.77, 0.68]


def test_of_the_surveys_methods_how_many_are_above_vanilla_depends_on_the_data_set():
    table = load_expected("survey_tables")["table_5"]
    above = {}
    for name in ("MultihopQA", "MusiqueQA", "PopQA", "Quality"):
        place = table["columns"].index(f"{name} Accuracy")
        values = {method: row[place] for method, row in table["rows"].items()}
        flat = values.pop("vanilla")
        values.pop("zeroshot")
        assert len(values) == 11
        above[name] = sum(value > flat for value in values.values())
        assert values["raptor"] > flat
    assert above == {"MultihopQA": 5, "MusiqueQA": 2, "PopQA": 1, "Quality": 2}
    place, rows = table["columns"].index("MultihopQA Recall"), table["rows"]
    graphs = graph_methods()
    assert sum(rows[name][place] > rows["vanilla"][place] for name in graphs) == 9
    place = table["columns"].index("MultihopQA Accuracy")
    assert rows["dalk"][place] > rows["vanilla"][place]


def test_of_the_surveys_methods_the_slower_of_two_may_take_fewer_tokens():
    table = load_expected("survey_tables")["table_7"]
    tokens, seconds = (table["columns"].index(f"MusiqueQA {name}") for name in ("token", "time"))
    rows = [row for row in table["rows"].values() if row[tokens] and row[seconds]]
    assert len(rows) == len(table["rows"]) == 13
    pairs = [(a, b) for a, b in combinations(rows, 2)]
    against = sum((a[tokens] - b[tokens]) * (a[seconds] - b[seconds]) < 0 for a, b in pairs)
    assert (against, len(pairs)) == (16, 78)


@pytest.mark.paper("Survey", "tab-10")
def test_vgraphrag_is_first_in_table_10_and_over_all_112_looks_not_clearly_above_raptor():
    """By an unpaired test, in the columns whose shares are whole counts of questions."""
    survey = load_expected("survey_tables")
    columns, rows = survey["table_10"]["columns"], survey["table_10"]["rows"]
    whole, looks = [], {}
    for i, measure in enumerate(columns):
        assert max(rows, key=lambda name: rows[name][i] or 0) == "vgraphrag"
        n = survey["table_4"]["rows"][measure.split()[0]][1]
        shares = {name: row[i] * n / 100 for name, row in rows.items() if row[i] is not None}
        if any(abs(share - round(share)) > 0.02 for share in shares.values()):
            continue
        whole.append(measure)
        for pair in combinations(rows, 2):
            looks[measure, *pair] = in_survey(10, measure, *pair)[2]
    assert whole == ["MultihopQA Accuracy", "MusiqueQA Accuracy", "ALCE STREM", "ALCE STRHIT"]
    assert len(looks) == 112 and sum(112 * p < 0.05 for p in looks.values()) == 59
    ranked = sorted(looks, key=looks.get)
    clear = ranked[: clear_by_holm([*looks.values()])]
    assert len(clear) == 62 and looks[ranked[62]] == pytest.approx(0.00115, abs=5e-6)
    assert 0.05 / (112 - 62) == 0.001  # Holm's limit where it stops
    found = {
        pair: [measure for measure in whole if (measure, *pair) in clear]
        for pair in (
            ("raptor", "vgraphrag"), ("vgraphrag-cc", "vgraphrag"), ("graphrag-cc", "vgraphrag-cc"),
            ("graphrag-local", "graphrag-cc"), ("graphrag-local", "vgraphrag-cc"),
        )
    }  # fmt: skip
    assert [*found.values()] == [[], whole[1:2], whole[1:2], whole[3:], whole[1:]]
    # "performs best on all complex QA datasets" has 28 looks of its own
    best = {look: looks[look] for look in ranked if "vgraphrag" in look[1:]}
    assert len(best) == 28 and clear_by_holm([*best.values()]) == 24
    assert len(set(best) - set(clear)) == 10
    assert "vgraphrag" not in survey["table_7"]["rows"]


@pytest.mark.paper("Survey", "tab-10")
def test_which_of_the_surveys_own_claims_on_table_10_are_clear_over_their_looks():
    multihop, musique, *alce = COUNTED
    claims = {
        "a": [(m, "vgraphrag", "raptor") for m in (multihop, musique)],
        "b": [(m, "vgraphrag", "vgraphrag-cc") for m in alce],
        "c": [(multihop, "graphrag-local", name) for name in ("graphrag-cc", "vgraphrag-cc")],
        "d": [(m, "vgraphrag-cc", "graphrag-cc") for m in COUNTED],
    }
    clear, counts, p = {}, {}, {}
    for claim, family in claims.items():
        found = [in_survey(10, *look) for look in family]
        counts[claim] = [(x, y) for x, y, _ in found]
        p[claim] = [float(each) for *_, each in found]
        clear[claim] = [len(family) * each < 0.05 for each in p[claim]]
        assert clear_by_holm(p[claim]) == sum(clear[claim])  # Holm's says the same
        assert all(x > y for x, y in counts[claim])
    assert clear == {"a": [True, True], "b": [False, False], "c": [True, False],
                     "d": [False, True, False, False]}  # fmt: skip
    assert [round(2 * each, 3) for each in p["a"]] == [0.02, 0.028]
    assert [round(each, 3) for each in p["b"]] == [0.297, 0.12]
    assert round(2 * p["c"][0], 3) == 0.043 and round(p["c"][1], 2) == 0.93
    assert counts["c"][1] == (1415, 1411)
    assert [float(f"{each:.2g}") for each in p["d"]] == [0.029, 3.7e-18, 0.3, 0.088]
    # claim c names no measure: with recall, which has no counts, it has four looks
    assert round(4 * p["c"][0], 3) == 0.086
    local = load_expected("survey_tables")["table_10"]
    recall = local["columns"].index("MultihopQA Recall")
    highest = sorted(local["rows"], key=lambda name: local["rows"][name][recall])[-3:]
    assert highest == ["vgraphrag-cc", "graphrag-local", "vgraphrag"]
    # b's and c's pairs on all four columns, those that the claims do not name, too
    first = [in_survey(10, m, "vgraphrag", "vgraphrag-cc") for m in COUNTED]
    second = [in_survey(10, m, "graphrag-local", "graphrag-cc") for m in COUNTED]
    assert [(x, y) for x, y, _ in first] == [(1525, 1411), (808, 672), (146, 129), (681, 649)]
    assert [(x, y) for x, y, _ in second] == [(1415, 1332), (374, 413), (81, 113), (519, 613)]
    assert [float(f"{each:.2g}") for *_, each in second] == [0.021, 0.15, 0.019, 1.3e-05]
    assert [4 * each < 0.05 for *_, each in second] == [False, False, False, True]
    # a paired test could find b clear: if the two differ on as few questions as they may
    assert all(2 * binomtest(x - y, x - y).pvalue < 0.05 for x, y in counts["b"])
    # and could find a's or c's lead not clear: if they differ on as many as they may
    for (measure, *_), (x, y) in [*zip(claims["a"], counts["a"]), (claims["c"][0], counts["c"][0])]:
        differ = min(x + y, 2 * size_of(measure) - x - y)
        assert 2 * binomtest((differ + x - y) // 2, differ).pvalue > 0.05
    at = {d: binomtest((d + 92) // 2, d).pvalue for d in (1600, 1648, 1650, 1800)}
    assert [p < 0.025 for p in at.values()] == [True, True, False, False]  # claim a, MultihopQA
    at = {d: binomtest((d + 84) // 2, d).pvalue for d in (1368, 1370, 1372, 1374)}
    assert [p < 0.025 for p in at.values()] == [True, True, False, False]  # claim a, MusiqueQA
    at = {d: binomtest((d + 83) // 2, d).pvalue for d in (1337, 1339, 1341, 1343)}
    assert [p < 0.025 for p in at.values()] == [True, True, False, False]  # c, over GraphRAG-CC
    x, y = counts["c"][0]
    assert round((x * (2556 - y) + y * (2556 - x)) / 2556) == 1272


@pytest.mark.paper("Survey", "tab-10")
def test_told_before_of_the_claims_fourteen_looks_as_one_family_one_is_clear():
    multihop, musique, *alce = COUNTED
    looks = [(m, "vgraphrag", "raptor") for m in (multihop, musique)]
    looks += [(m, "vgraphrag", "vgraphrag-cc") for m in alce]
    looks += [(multihop, "graphrag-local", name) for name in ("graphrag-cc", "vgraphrag-cc")]
    looks += [(m, "vgraphrag-cc", rival) for rival in ("graphrag-cc", "raptor") for m in COUNTED]
    ranked = sorted((in_survey(10, *look)[2], look) for look in looks)
    assert len(looks) == 14 and clear_by_holm([p for p, _ in ranked]) == 1
    assert ranked[0][1] == (musique, "vgraphrag-cc", "graphrag-cc")
    hand = [p < 0.05 / (3 - i) for i, p in enumerate((0.004, 0.03, 0.04))]  # the worked example
    assert hand == [True, False, True] and clear_by_holm([0.004, 0.03, 0.04]) == 1


@pytest.mark.paper("Survey", "tab-10", "tab-6")
def test_claim_e_and_the_one_that_the_reader_tests_are_clear_in_no_look():
    found = [in_survey(10, measure, "vgraphrag-cc", "raptor") for measure in COUNTED]
    assert [x > y for x, y, _ in found] == [False, False, True, True]
    assert round(min(4 * p for *_, p in found), 3) == 0.433
    p, right = {}, {}
    for measure in ("MultihopQA Accuracy", "Quality Accuracy", "PopQA Accuracy"):
        x, y, p[measure] = in_survey(6, measure, "raptor-k", "raptor")
        right[measure] = (x, y)
        assert (x > y) == (measure != "Quality Accuracy")
    assert right["Quality Accuracy"] == (2515, 2627)
    assert round(p["Quality Accuracy"], 3) == 0.020  # clear as the only look
    k_means, mixtures = (100 * each / 4609 for each in right["Quality Accuracy"])
    error = (sum(part * (100 - part) for part in (k_means, mixtures)) / 4609) ** 0.5
    ends = [round(k_means - mixtures + side * 1.96 * error, 1) for side in (-1, 1)]
    assert size_of("Quality") == 4609 and ends == [-4.5, -0.4]
    at = {d: binomtest((d + 112) // 2, d).pvalue for d in (2150, 2152)}  # with pairs
    assert [3 * p < 0.05 for p in at.values()] == [True, False]
    x, y = right["Quality Accuracy"]
    assert round((x * (4609 - y) + y * (4609 - x)) / 4609) == 2275
    assert min(p, key=p.get) == "Quality Accuracy" and round(3 * min(p.values()), 3) == 0.060
    # against RAPTOR-K on MultihopQA, too, VGraphRAG's lead of claim a would not be clear
    best, *_ = in_survey(10, "MultihopQA Accuracy", "vgraphrag", "raptor")
    rival, _ = right["MultihopQA Accuracy"]
    assert (best, rival) == (1525, 1451)
    assert round(2 * fisher(best, rival, size_of("MultihopQA")), 3) == 0.077


@pytest.mark.paper("Survey", "tab-5", "tab-10")
def test_table_10_has_the_shares_of_raptor_that_table_5_marks_as_clustered_by_k_means():
    ours, before = (load_expected("survey_tables")[f"table_{number}"] for number in (10, 5))
    marked = [m for m in ours["columns"] if m.split()[0] in ("MusiqueQA", "ALCE")]
    assert len(marked) == 5
    for m in marked:
        shares = [t["rows"]["raptor"][t["columns"].index(m)] for t in (ours, before)]
        assert shares[0] == shares[1] is not None


@pytest.mark.paper("Survey", "tab-10", "tab-12")
def test_told_before_the_change_of_the_lead_over_raptor_between_two_cuts_is_below_1_96_errors():
    survey, found = load_expected("survey_tables"), {}
    for measure in ("STREM", "STRHIT"):
        leads, variance = [], 0
        for number, data, model in ((10, "ALCE", ""), (12, "ALCEAll", " Llama-3-8B")):
            table = survey[f"table_{number}"]
            place = table["columns"].index(f"{data} {measure}")
            x, y = (table["rows"][name + model][place] for name in ("vgraphrag", "raptor"))
            leads.append(x - y)
            variance += sum(part * (100 - part) / 948 for part in (x, y))
        found[measure] = round((leads[0] - leads[1]) / variance**0.5, 2)
    assert found == {"STREM": 1.74, "STRHIT": 1.55}


@pytest.mark.paper("Survey", "tab-5", "tab-10", "tab-12")
def test_told_before_strem_strrec_and_strhit_have_the_order_of_our_reading_in_all_rows_but_one():
    survey, against, held = load_expected("survey_tables"), [], 0
    for number, data in ((5, "ALCE"), (10, "ALCE"), (12, "ALCEAll")):
        columns = survey[f"table_{number}"]["columns"]
        places = [columns.index(f"{data} {m}") for m in ("STREM", "STRREC", "STRHIT")]
        for name, row in survey[f"table_{number}"]["rows"].items():
            cells = [row[place] for place in places]
            if None not in cells:
                against += [(number, name, *cells)] if cells != sorted(cells) else []
                held += cells == sorted(cells)
    assert against == [(12, "hipporag Llama-3-70B", 9.916, 32.904, 32.534)] and held == 32
    assert round(32.534 * 948 / 100, 2) == 308.42  # no whole count
    table = survey["table_10"]
    em, rec, hit = (table["rows"]["graphrag-local"][table["columns"].index(f"ALCE {m}")]
                    for m in ("STREM", "STRREC", "STRHIT"))  # fmt: skip
    could = [round(whole + 0.448, 3) for whole in range(100) if em <= whole + 0.448 <= hit]
    assert rec is None and (could[0], could[-1]) == (9.448, 54.448)
    assert table["rows"]["vgraphrag"][table["columns"].index("ALCE STRREC")] == 41.023


@pytest.mark.paper("Survey", "tab-10")
def test_vgraphrag_ccs_numbers_on_alce_are_restored_and_the_highest_of_the_others():
    table = load_expected("survey_tables")["table_10"]
    restored = {note["column"] for note in table["notes"] if "the rest by the gain" in note["note"]}
    assert restored == {"ALCE STRREC", "ALCE STREM", "ALCE STRHIT"}
    rows = table["rows"]
    assert len(rows) == 8 and table["notes"][1]["row"] == "graphrag-local"  # of its STRREC decimals
    for measure, gain in (("STRREC", 8.47), ("STREM", 13.18), ("STRHIT", 4.93)):
        i = table["columns"].index(f"ALCE {measure}")
        others = [name for name in rows if name != "vgraphrag" and rows[name][i] is not None]
        assert max(others, key=lambda name: rows[name][i]) == "vgraphrag-cc"
        over = 100 * (rows["vgraphrag"][i] / rows["vgraphrag-cc"][i] - 1)
        assert over == pytest.approx(gain, abs=0.006)
        digits = rows["vgraphrag-cc"][i] % 1  # our copy has these; one whole number fits the gain
        gains = {w: 100 * (rows["vgraphrag"][i] / (w + digits) - 1) for w in range(100)}
        fits = [whole for whole, each in gains.items() if abs(each - gain) < 0.05]
        assert fits == [int(rows["vgraphrag-cc"][i])]


@pytest.mark.paper("Survey", "tab-10")
def test_shuffling_and_pairing_of_the_pair_on_multihopqa():
    """The dealt difference is hypergeometric; the sign test's p grows with who differ."""
    n, first, second = 2556, 1525, 1433
    law = hypergeom(2 * n, first + second, n)
    dealt = np.arange(n + 1)
    far = abs(2 * dealt - first - second) >= first - second
    assert law.pmf(dealt)[far].sum() == pytest.approx(fisher(first, second, n))
    differ = range(92, 1123 + 1031 + 1, 2)  # won 92 to 1123, the questions that RAPTOR misses
    assert n - second == 1123 and n - first == 1031 and first - second == 92
    p = [binomtest((d + 92) // 2, d).pvalue for d in differ]
    assert p == sorted(p) and p[-1] < 0.05
    at = dict(zip(differ, p))
    assert at[1240] < fisher(first, second, n) < at[1250]


@pytest.mark.paper("Survey", "tab-5")
def test_told_before_by_holm_two_more_of_table_5_are_clear_and_ten_of_44_accuracies_are_above():
    graphs = graph_methods()
    tests = sorted(
        (p, x > y, name, measure) for name in graphs for measure in COUNTED_5
        for x, y, p in [in_survey(5, measure, name, "vanilla")]
    )  # fmt: skip
    by_holm = np.maximum.accumulate([(66 - i) * p for i, (p, *_) in enumerate(tests)]) < 0.05
    by_bonferroni = [66 * p < 0.05 for p, *_ in tests]
    added = [test[1:3] for test, a, b in zip(tests, by_holm, by_bonferroni) if a and not b]
    assert sum(by_bonferroni) == 45 and (True, "graphrag-local") in added
    assert sum(above and clear for (_, above, *_), clear in zip(tests, by_holm)) == 5
    assert by_holm.sum() == 47
    assert sorted(above for above, _ in added) == [False, True]
    assert sum(above for _, above, *_ in tests) == 11
    assert sum(above for _, above, _, measure in tests if "Accuracy" in measure) == 10


@pytest.mark.paper("Survey", "tab-4", "tab-5")
def test_1399_is_the_only_number_of_questions_up_to_2000_that_makes_popqa_whole():
    table = load_expected("survey_tables")["table_5"]
    place = table["columns"].index("PopQA Accuracy")
    shares = np.array([row[place] for row in table["rows"].values()])
    counts = shares[:, None] * np.arange(100, 2001) / 100
    far = abs(counts - counts.round()).max(axis=0)
    assert (100 + np.flatnonzero(far < 0.02)).tolist() == [1399] and far[1172 - 100] > 0.4
    twice = shares * 2 * 1399 / 100  # a multiple does it, too
    assert 2 * 1399 == 2798 and abs(twice - twice.round()).max() < 2798 * 0.0005 / 100
