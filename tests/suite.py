"""How the suite is dealt out to processes, and what it says of itself at its end."""

from collections import Counter

import pytest
from xdist.scheduler import LoadScopeScheduling


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config):
    """Two processes for the whole suite. A few files start faster in one, and what is slow holds
    measured times, which need the machine to themselves.
    """
    whole = config.args_source == config.ArgsSource.TESTPATHS
    return 2 if whole and config.option.markexpr == "not slow" else 0


class WholeFiles(LoadScopeScheduling):
    """A file stays in one process, so that a notebook keeps its kernel; the browser tests are long,
    and dealt out one by one.
    """

    def _split_scope(self, nodeid):
        return nodeid if nodeid.startswith("tests/browser/") else nodeid.split("::")[0]


def pytest_xdist_make_scheduler(config, log):
    return WholeFiles(config, log)


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
