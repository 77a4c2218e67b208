"""The wheel is whole: installed elsewhere, without the checkout, it answers from a shipped
corpus.
"""

import ast
import importlib.util
import os
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("minirag_kit-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that holds the installed wheel and nothing else."""
    target = tmp_path_factory.mktemp("installed")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def run_installed(installed, tmp_path, *arguments):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(installed), os.environ["PYTHONPATH"]]),
        "MINIRAG_CACHE": str(tmp_path / "cache"),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_wheel_carries_corpora_and_exercises_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    shipped = [
        path.relative_to(ROOT).as_posix()
        for name in ("data", "exercises")
        for path in (ROOT / name).rglob("*")
        if path.is_file()
    ]
    shipped = [
        name for name in shipped if "__pycache__" not in name and ".ipynb_checkpoints" not in name
    ]
    assert {f"minirag/{name}" for name in shipped} <= set(names)
    assert not [
        name for name in names if name.split("/")[0] != "minirag" and ".dist-info/" not in name
    ]
    assert not [name for name in names if name.endswith((".pyc", ".part"))]


def test_the_installed_package_is_the_one_that_runs(installed, tmp_path):
    said = run_installed(installed, tmp_path, "-c", "import minirag; print(minirag.__file__)")
    assert said.stdout.strip().startswith(str(installed)), said.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("minirag.cli") is None, reason="this checkout has no command line"
)
def test_the_installed_command_line_answers_outside_the_checkout(installed, tmp_path):
    question = "Which professor works on the disease that the university's hospital treats?"
    said = run_installed(installed, tmp_path, "-m", "minirag", "ask", "professors", question)
    assert said.returncode == 0, said.stderr
    assert "Traceback" not in said.stderr and len(said.stdout.splitlines()) >= 5
    assert "Graph: shipped annotations; --extraction rules" in said.stdout


# What Windows lacks, or macOS: nothing that a student does may need it.
UNIX_ONLY = "crypt fcntl grp nis ossaudiodev pty pwd resource spwd syslog termios tty".split()
IMPORT_ALL = """
import importlib, pathlib, sys
root, unix_only = pathlib.Path(sys.argv[1]), sys.argv[2:]
files = sorted((root / "minirag").rglob("*.py"))
paths = [path.relative_to(root).with_suffix("") for path in files]
names = [".".join(path.parts).removesuffix(".__init__") for path in paths]
names = [name for name in names if not name.endswith("__main__") and ".exercises." not in name]
for name in names:  # with the libraries, which know their system themselves
    importlib.import_module(name)
for name in [*unix_only, *(name for name in sys.modules if name.split(".")[0] == "minirag")]:
    sys.modules.pop(name, None)
sys.modules.update(dict.fromkeys(unix_only))  # None: an import raises ImportError
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.mark.slow
def test_every_module_imports_where_unix_ends(tmp_path):
    said = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, str(ROOT), *UNIX_ONLY],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert said.returncode == 0, said.stderr
    assert int(said.stdout) > 150


@pytest.mark.slow
def test_no_module_needs_what_only_unix_has():
    """Also inside functions: no import that nothing catches, no call that Windows lacks."""
    calls = {
        "fork",
        "geteuid",
        "getuid",
        "getpgid",
        "killpg",
        "mkfifo",
        "setsid",
        "sysconf",
        "O_NONBLOCK",
        "SIGALRM",
        "SIGHUP",
        "SIGKILL",
    }
    found = []
    for path in sorted((ROOT / "minirag").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        caught = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.Try)
            for child in node.body
            for inner in ast.walk(child)
        }
        asked = {
            name for name in calls if f'hasattr(os, "{name}")' in path.read_text(encoding="utf-8")
        }
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [
                (path.name, name) for name in names if name in UNIX_ONLY and node not in caught
            ]
            if (
                isinstance(node, ast.Attribute)
                and getattr(node.value, "id", "") in ("os", "signal")
                and node.attr in calls - asked
            ):
                found.append((path.name, node.attr))
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.startswith(("/dev/", "/proc/"))
            ):
                found.append((path.name, node.value))
    assert not found


def test_the_highest_memory_is_told_in_one_unit(monkeypatch):
    from minirag.reproduce import graph_prompts

    monkeypatch.setitem(sys.modules, "resource", None)
    assert graph_prompts.peak_memory() is None
    used = types.SimpleNamespace(
        RUSAGE_SELF=0, getrusage=lambda _: types.SimpleNamespace(ru_maxrss=3 * 2**20)
    )
    monkeypatch.setitem(sys.modules, "resource", used)
    for system, memory in (("linux", 3.0), ("darwin", 0.0)):  # kibibytes, bytes
        monkeypatch.setattr(sys, "platform", system)
        assert graph_prompts.peak_memory() == memory


def test_the_installed_map_is_searched(installed, tmp_path):
    said = run_installed(installed, tmp_path, "-m", "minirag", "map", "ppr")
    assert said.returncode == 0, said.stderr
    assert "\nWang | `hippo-ppr` |" in said.stdout and "GRAG |" not in said.stdout
