"""mypy: the types hold, strictly in core, algorithms, operators and methods, plainly elsewhere.

pyproject.toml has the settings. The first run reads numpy's types and takes about 20 s; later ones
look at what changed and take one.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_mypy_finds_nothing():
    checked = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
