"""How large the package is: code lines, without blank lines, comments and docstrings.

Counted are the tracked Python files outside tests/ and exercises/, as ruff formats them. `python
tests/code_lines.py` prints the table by folder.
"""

import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def counted_files():
    """The files that count, as paths."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [
        name for name in listed.stdout.split() if not name.startswith(("tests/", "exercises/"))
    ]
    return [ROOT / name for name in names if (ROOT / name).exists()]


def code_lines(source):
    """The number of lines on which code stands."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def by_folder():
    """Two counters, folder -> files and folder -> code lines."""
    files, lines = Counter(), Counter()
    for path in counted_files():
        folder = path.parent.relative_to(ROOT).as_posix()
        files[folder] += 1
        lines[folder] += code_lines(path.read_text(encoding="utf-8"))
    return files, lines


if __name__ == "__main__":
    files, lines = by_folder()
    for folder in sorted(files):
        print(f"{folder:26} {files[folder]:4} files {lines[folder]:6} code lines")
    print(f"{'all':26} {files.total():4} files {lines.total():6} code lines")
