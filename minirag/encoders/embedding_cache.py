"""Vectors on disk: no text is encoded twice by the same model, whichever notebook, script or
process asks.

One SQLite file, because 20,000 small values are read from it in a fraction of a second, several
processes may share it, and no value is ever unpickled. A row is (key, vector): the key is the
SHA-256 of model fingerprint, kind and text; the vector is float32 bytes behind their checksum.
"""

import hashlib
import sqlite3
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.files import cache_folder

Float32 = NDArray[np.float32]
Vectors = dict[bytes, Float32]

KEYS_AT_ONCE = 500  # older SQLite builds take at most 999 parameters


def key_of(fingerprint: str, kind: str, text: str) -> bytes:
    """The 32-byte key of a text under a model; `kind` is "passage" or "query"."""
    whole = f"{fingerprint}\0{kind}\0{text}"
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


class EmbeddingCache:
    """Keys to vectors in `cache_folder()/embeddings/vectors.sqlite`.

    A value that fails its checksum counts as absent. Where the file cannot be read, or cannot be
    written, one warning is given and that is not tried again: slower, never wrong. A file that can
    only be read (a course's shared folder) is still read.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder() / "embeddings") / "vectors.sqlite"
        self.broken: set[str] = set()

    def get(self, keys: Sequence[bytes]) -> Vectors:
        """Return {key: vector (d,)} of those keys that are stored whole."""
        found: Vectors = {}

        def read(database: sqlite3.Connection) -> None:
            for start in range(0, len(keys), KEYS_AT_ONCE):
                part = keys[start : start + KEYS_AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                rows = {key: _unpacked(value) for key, value in database.execute(query, part)}
                found.update({key: v for key, v in rows.items() if v is not None})

        if keys and self.path.exists():  # reading alone creates no file
            self._try("read", read)
        return found

    def put(self, vectors: Mapping[bytes, Float32]) -> None:
        """Store {key: vector}, all of them or none."""
        rows = [(key, _packed(vector)) for key, vector in vectors.items()]
        insert = "INSERT OR REPLACE INTO vectors VALUES (?, ?)"
        self._try("written", lambda database: database.executemany(insert, rows))

    def _try(self, deed: str, action: Callable[[sqlite3.Connection], object]) -> None:
        if deed in self.broken:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=60)) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)"
                )
                database.text_factory = bytes  # a damaged value may claim to be text
                action(database)
        except (OSError, sqlite3.Error) as error:
            self.broken.add(deed)
            warnings.warn(
                f"The embedding cache {self.path} cannot be {deed} ({error}), so texts are encoded "
                "anew. Delete that file, or set MINIRAG_CACHE to a folder that can be written.",
                stacklevel=2,
            )


def _packed(vector: Float32) -> bytes:
    data = np.asarray(vector, dtype="<f4").tobytes()
    return zlib.crc32(data).to_bytes(4, "little") + data


def _unpacked(value: object) -> Float32 | None:
    if not isinstance(value, bytes) or len(value) <= 4 or len(value) % 4:
        return None
    whole = zlib.crc32(value[4:]) == int.from_bytes(value[:4], "little")
    return np.frombuffer(value, dtype="<f4", offset=4) if whole else None
