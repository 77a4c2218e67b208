"""The code keeps the rules that pyproject.toml chooses for ruff, and ruff's format."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def ruff(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ruff", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_ruff_finds_nothing():
    checked = ruff("check", ".")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_code_is_formatted():
    checked = ruff("format", "--check", ".")
    assert checked.returncode == 0, f"run `ruff format .`:\n{checked.stdout}{checked.stderr}"
