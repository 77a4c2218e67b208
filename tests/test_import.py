"""`import minirag` stays light: what is heavy loads when it is first used."""

import statistics
import subprocess
import sys
import time

HEAVY = (
    *("torch", "transformers", "sentence_transformers", "matplotlib", "pandas", "openai"),
    *("httpx", "sklearn", "igraph", "jupyterlab", "nbformat", "ipywidgets"),
)
BASIS = "import numpy, scipy, scipy.sparse, networkx"


def seconds(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def loaded(code):
    """Which of the heavy packages a fresh interpreter has loaded after `code`."""
    printed = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return eval(printed.stdout)


def test_nothing_heavy_is_imported():
    assert loaded("import minirag; dir(minirag)") == []


def test_nothing_heavy_is_imported_by_naming_what_the_package_offers():
    assert loaded("from minirag import *") == []


def test_nothing_heavy_is_loaded_by_a_command_before_it_is_needed():
    code = (
        f"import sys; from minirag.cli import app; app(['methods'], standalone_mode=False); "
        f"sys.exit([m for m in {HEAVY} if m in sys.modules] or 0)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stderr
    assert "hipporag" in said.stdout


def test_the_check_sees_what_is_heavy():
    assert loaded("import nbformat") == ["nbformat"]


def test_the_import_takes_hardly_longer_than_arrays_and_graphs():
    seconds(BASIS), seconds("import minirag")  # both from warm files
    pairs = [
        (seconds(BASIS), seconds("import minirag")) for _ in range(5)
    ]  # taken in turn, so that a busy machine slows both alike
    basis, ours = (statistics.median(times) for times in zip(*pairs))
    print(f"numpy, scipy, networkx: {basis:.2f} s; minirag: {ours:.2f} s")
    assert ours <= basis + 0.3
