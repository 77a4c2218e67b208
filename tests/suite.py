"""How the suite is dealt out to processes, and what it says of itself at its end."""

import os
import sys
from collections import Counter
from pathlib import Path

import forked_kernels
import pytest

# Hundreds of processes import the package; without bytecode each would compile it anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_configure(config):
    if hasattr(config, "workerinput"):  # in one process, a kernel starts as a reader's does
        forked_kernels.use()


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config):
    """Two processes for the whole suite. A few files start faster in one, and what is slow holds
    measured times, which need the machine to themselves.
    """
    return 2 if whole(config) and config.option.markexpr != "slow" else 0


def whole(config):
    """Whether no file was named."""
    return config.args_source == config.ArgsSource.TESTPATHS


# Files, and tests, that together would make plain `pytest` take twice its ten minutes:
# `pytest -m long` runs them, and so does who names a file.
LONG = frozenset((Path(__file__).parent / "long.txt").read_text(encoding="utf-8").split("\n"))


# The longest files, which are begun first, so that no process waits for the other at the end. One
# process drives the browser; the other encodes the published passages, without a cell's limit of
# time, before a notebook asks for them.
FIRST = ("tests/browser/test_widgets_in_lab.py", "tests/test_chapter_06.py")


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config, items):
    if whole(config):
        absent = set(LONG - {""})
        for item in items:
            if found := LONG & {item.nodeid, item.nodeid.split("::")[0]}:
                item.add_marker("long")
                absent -= found
        if absent := [name for name in absent if "::" in name]:  # published data may be absent
            raise pytest.UsageError(f"tests/long.txt names tests that are none: {absent}")
    turns = {name: turn for turn, name in enumerate([*FIRST, "notebook"])}

    def turn(item):
        name = item.nodeid.split("::")[0]
        return turns.get("notebook" if name.endswith(".ipynb") else name, len(turns))

    items.sort(key=turn)  # stable: a file stays as it is


def pytest_terminal_summary(terminalreporter):
    rungs, browser, widgets = Counter(), Counter(), []
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            said = dict(getattr(report, "user_properties", []))
            kind = "notebook cells" if ".ipynb" in report.nodeid else "tests"
            if "rung" in said:
                rungs[said["rung"], kind, outcome] += 1
            elif kind == "notebook cells":
                rungs[1, "notebooks", "left out"] += 1
            if "browser" in said:
                browser[outcome] += 1
            widgets += [said["widgets"]] if "widgets" in said else []
    names = {0: "shipped corpora", 1: "published data"}
    terminalreporter.section("what ran")
    for rung, name in names.items():
        counts = [
            f"{number} {kind} {outcome}"
            for (of, kind, outcome), number in sorted(rungs.items())
            if of == rung
        ]
        terminalreporter.write_line(f"rung {rung} ({name}): {', '.join(counts) or 'nothing'}")
    terminalreporter.write_line(
        "rung 2 (live models): never run by the tests; servers on this machine stand in for them"
    )
    counts = [f"{number} {outcome}" for outcome, number in browser.items()]
    terminalreporter.write_line(f"browser tests: {', '.join(counts) or 'none ran'}")
    for line in widgets:
        terminalreporter.write_line(f"  {line}")
