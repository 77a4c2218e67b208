"""What holds for the tests and for every notebook: no network, a cache of their own, and rung-1
notebooks only where their data is.

This file stands beside the notebooks, not in tests/, so that `pytest notebooks/04_hipporag.ipynb`
obeys it too.
"""

import json
import os
import runpy
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
OFFLINE = ROOT / "tests" / "offline"
TEMPORARY = Path(tempfile.mkdtemp(prefix="minirag-tests-"))

# One cache for the session, so that nothing is encoded twice; empty at its start, so that no test
# leans on what an older version stored.
# MINIRAG_TEST_CACHE keeps one from run to run; the processes of one run share it.
os.environ.setdefault("MINIRAG_TEST_CACHE", str(TEMPORARY / "cache"))

if "PYTEST_XDIST_WORKER" in os.environ:
    # Two processes with two threads each wait for one another at every step.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Set before anything of ours is imported, and inherited by kernels, servers and command lines.
os.environ.update(
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    TOKENIZERS_PARALLELISM="false",
    MINIRAG_PROGRESS="0",
    MINIRAG_CACHE=os.environ["MINIRAG_TEST_CACHE"],
    IPYTHONDIR=str(TEMPORARY / "ipython"),
    PYTHONPATH=os.pathsep.join([str(OFFLINE), *filter(None, [os.environ.get("PYTHONPATH")])]),
)
os.environ.pop("MPLBACKEND", None)  # kernels draw inline, tests fall back to Agg
runpy.run_path(str(OFFLINE / "sitecustomize.py"))

pytest_plugins = ["suite"]  # tests/suite.py: how tests are dealt out, and what is said of them


def missing_data(names):
    """The reason for skipping what stands on these data sets, or None where all of their files lie
    in MINIRAG_DATA, else in the folder that `minirag fetch` fills.
    """
    from minirag.corpora.datasets import DATASETS
    from minirag.corpora.fetching import available

    absent = [name for name in names if name not in DATASETS or not available(name)]
    if not absent:
        return None
    return f"rung 1: {', '.join(absent)} not found in MINIRAG_DATA; run `minirag fetch {absent[0]}`"


def notebook_rung(path):
    """(rung, data sets needed) as the notebook's metadata says: {"minirag": {"rung": 1, "needs":
    ["musique_train"]}}.
    """
    said = json.loads(path.read_text(encoding="utf-8")).get("metadata", {}).get("minirag", {})
    return said.get("rung", 0), said.get("needs", [])


class SkippedNotebook(pytest.File):
    def collect(self):
        pytest.skip(missing_data(notebook_rung(self.path)[1]))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    collected = yield
    if file_path.suffix == ".ipynb" and collected and missing_data(notebook_rung(file_path)[1]):
        return [SkippedNotebook.from_parent(parent, path=file_path)]
    return collected


def pytest_collection_modifyitems(items):
    for item in items:
        needs = [name for mark in item.iter_markers("needs") for name in mark.args]
        if reason := missing_data(needs):
            item.add_marker(pytest.mark.skip(reason=reason))
        rung = notebook_rung(item.path)[0] if item.path.suffix == ".ipynb" else 1 if needs else 0
        item.user_properties.append(("rung", rung))
        if item.get_closest_marker("browser"):
            item.user_properties.append(("browser", True))


def pytest_unconfigure():
    shutil.rmtree(TEMPORARY, ignore_errors=True)
