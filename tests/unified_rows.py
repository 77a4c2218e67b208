"""The stored rows of `minirag reproduce unified`, the counts of the survey's tables, and a test of
two shares, for the tests of more than one chapter.
"""

from functools import cache

import numpy as np
from scipy.stats import fisher_exact

from minirag.evaluate.metrics import load_expected

COUNTED = ["MultihopQA Accuracy", "MusiqueQA Accuracy", "ALCE STREM", "ALCE STRHIT"]
COUNTED_5 = [*COUNTED, "Quality Accuracy", "PopQA Accuracy"]


@cache
def stored_rows():
    """{row: {metric: number}} of the table that `minirag reproduce unified` stores."""
    rows = load_expected("unified")["rows"]
    return {
        name: {metric: cell["ours"] for metric, cell in row["metrics"].items()}
        for name, row in rows.items()
    }


def of_table(stored, start):
    """The rows whose names begin with `start`, by the rest of their names."""
    return {name.removeprefix(start): row for name, row in stored.items() if name.startswith(start)}


def fisher(x, y, n=100):
    """p of two counts of n each."""
    return fisher_exact([[x, n - x], [y, n - y]]).pvalue


def clear_by_holm(ps):
    """How many of these p, the smallest first, are clear by Holm's correction."""
    over = [p >= 0.05 / (len(ps) - i) for i, p in enumerate(sorted(ps))]
    return [*over, True].index(True)


def by_method(result, name, metric):
    """One number for each question."""
    return np.array([row[metric] for row in result.answers if row["method"] == name])


@cache
def survey():
    """The survey's tables."""
    return load_expected("survey_tables")


def graph_methods():
    """The methods of the survey's Table 5 that use a graph."""
    rows = survey()["table_5"]["rows"]
    return [name for name in rows if name not in ("zeroshot", "vanilla")]


def size_of(measure):
    """The questions of a column's data set; PopQA's shares are of more than Table 4 has."""
    data_set = measure.split()[0].removesuffix("All")
    rows = survey()["table_4"]["rows"]
    return 1399 if data_set == "PopQA" else rows[data_set][1]


def in_survey(number, measure, first, second):
    """The two counts in a column of the survey's table, and Fisher's p."""
    part, n = survey()[f"table_{number}"], size_of(measure)
    place = part["columns"].index(measure)
    x, y = (round(part["rows"][name][place] * n / 100) for name in (first, second))
    return x, y, fisher(x, y, n)
