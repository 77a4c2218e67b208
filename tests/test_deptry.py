"""deptry: every library that the package and its notebooks import is declared, and none in vain.

pyproject.toml has the exceptions, each with its reason.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_deptry_finds_nothing():
    checked = subprocess.run(
        [sys.executable, "-m", "deptry", "--no-ansi", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
