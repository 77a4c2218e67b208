"""The stored rows of `minirag reproduce unified`, and a test of two shares, for the tests of more
than one chapter.
"""

from functools import cache

import numpy as np
from scipy.stats import fisher_exact

from minirag.evaluate.metrics import load_expected


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


def by_method(result, name, metric):
    """One number for each question."""
    return np.array([row[metric] for row in result.answers if row["method"] == name])
