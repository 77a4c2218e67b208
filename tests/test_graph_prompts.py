"""How the rows of a table of trained models are run side by side."""

import math
import os
import time

import pytest
from threadpoolctl import threadpool_info

from minirag.reproduce.graph_prompts import run_all


@pytest.mark.slow
def test_calls_that_train_nothing_come_back_in_their_order():
    runs, found = run_all(
        [], (), jobs=2, others=[(math.factorial, 5), (len, "abc"), (threadpool_info,)]
    )
    assert (runs, found[:2]) == ([], [120, 3])
    assert len(found[2]) > 1 and all(pool["num_threads"] == 1 for pool in found[2]), (
        "a worker computes with several threads"
    )


@pytest.mark.slow
def test_after_an_error_what_has_not_begun_does_not_begin(tmp_path):
    with pytest.raises(ValueError, match="invalid literal"):
        run_all(
            [],
            (),
            jobs=1,
            others=[(int, "five"), *[(time.sleep, 0.2)] * 3, (os.mkdir, tmp_path / "late")],
        )
    assert not (tmp_path / "late").exists()
