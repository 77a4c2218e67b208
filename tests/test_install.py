"""The wheel is whole: installed elsewhere, without the checkout, it answers from a shipped corpus."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("minirag_kit-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that holds the installed wheel and nothing else."""
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def run_installed(installed, tmp_path, *arguments):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(installed), os.environ["PYTHONPATH"]]), "MINIRAG_CACHE": str(tmp_path / "cache")}
    return subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)


def test_the_wheel_carries_corpora_and_exercises_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    shipped = [path.relative_to(ROOT).as_posix() for name in ("data", "exercises") for path in (ROOT / name).rglob("*") if path.is_file()]
    shipped = [name for name in shipped if "__pycache__" not in name and ".ipynb_checkpoints" not in name]
    assert {f"minirag/{name}" for name in shipped} <= set(names)
    assert not [name for name in names if name.split("/")[0] not in ("minirag",) and ".dist-info/" not in name]
    assert not [name for name in names if name.endswith((".pyc", ".part"))]


def test_the_installed_package_is_the_one_that_runs(installed, tmp_path):
    said = run_installed(installed, tmp_path, "-c", "import minirag; print(minirag.__file__)")
    assert said.stdout.strip().startswith(str(installed)), said.stderr


@pytest.mark.skipif(importlib.util.find_spec("minirag.cli") is None, reason="this checkout has no command line")
def test_the_installed_command_line_answers_outside_the_checkout(installed, tmp_path):
    question = "Which professor works on the disease that the university's hospital treats?"
    said = run_installed(installed, tmp_path, "-m", "minirag", "ask", "professors", question)
    assert said.returncode == 0, said.stderr
    assert "Traceback" not in said.stderr and len(said.stdout.splitlines()) >= 5
    assert "Graph: hand-written annotations; --extraction rules" in said.stdout


def test_the_installed_map_is_searched(installed, tmp_path):
    said = run_installed(installed, tmp_path, "-m", "minirag", "map", "ppr")
    assert said.returncode == 0, said.stderr
    assert "\nWang | `hippo-ppr` |" in said.stdout and "GRAG |" not in said.stdout
