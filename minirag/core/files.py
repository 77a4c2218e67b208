"""Files that are whole or not there, text that every file takes, and the cache folder."""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import MiniragError

if TYPE_CHECKING:
    from nbformat import NotebookNode


def write_atomic(path: str | Path, data: str | bytes) -> Path:
    """Write text or bytes under a temporary name, then rename: a reader sees the old file or the
    new one, never half of it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            # A lone surrogate, which JSON may hold, becomes what JSON calls it: \udXXX.
            file.write(data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data)
        umask = os.umask(0)  # can only be read by setting it
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def read_notebook(path: str | Path) -> "NotebookNode":
    """The notebook at `path`, in format 4; anything else is an error that says so."""
    import nbformat

    try:
        notebook: NotebookNode = nbformat.read(  # type: ignore[no-untyped-call]  # it has no types
            path, as_version=4
        )
        return notebook
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise MiniragError(
            f"{Path(path).name} is not a readable notebook ({reason}). "
            "Restore it from version control."
        ) from error


def read_jsonl(path: str | Path) -> Iterator[Any]:  # Any: whatever a line of JSON says
    """Yield the objects of a JSON-lines file; a broken line is an error that names file and
    line.
    """
    path = Path(path)
    lines = path.read_text(encoding="utf-8").split("\n")  # splitlines() would also cut at U+2028
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except json.JSONDecodeError as error:
            raise MiniragError(
                f"{path.name}, line {number}: not valid JSON ({error.msg}). "
                "One JSON object per line is expected."
            ) from error


def dump_jsonl(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as JSON-lines text, keys in the order given, every script kept readable."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def valid_text(text: str) -> str:
    """The text with U+FFFD for every lone surrogate: half a character, which no file takes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)
    return text


def cache_folder() -> Path:
    """The folder for embeddings and indices: `MINIRAG_CACHE`, else the system's cache folder for
    minirag.
    """
    from platformdirs import user_cache_dir

    return Path(os.environ.get("MINIRAG_CACHE") or user_cache_dir("minirag"))
