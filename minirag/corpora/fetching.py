"""How the files of declared datasets (`datasets`) come here: pinned, resumed, verified by Git blob
id.
"""

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.display import progress as progress_bar
from ..core.errors import MiniragError
from .datasets import DataFile, Dataset, find_dataset

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 3  # of a broken download
PAUSE = 1.0  # seconds before the second one; twice that before the third


def data_folder() -> Path:
    """The folder that holds `<dataset>/<file>`: `MINIRAG_DATA`, else the system's data folder for
    minirag.
    """
    from platformdirs import user_data_dir

    return Path(os.environ.get("MINIRAG_DATA") or user_data_dir("minirag"))


def git_blob_id(path: str | Path) -> str:
    """Git's name for a file's content: sha1 of "blob <bytes>", a zero byte, and the content."""
    content = Path(path).read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def available(name: str | Dataset, folder: str | Path | None = None) -> bool:
    """True if every file of the dataset already lies in the data folder. Looks only at names;
    `fetch` verifies.
    """
    dataset = find_dataset(name)
    target = Path(folder or data_folder()) / dataset.name
    return all((target / file.name).is_file() for file in dataset.files)


def fetch(
    name: str | Dataset,
    folder: str | Path | None = None,
    *,
    progress: bool = True,
    address: str | None = None,
) -> Path:
    """Make a dataset's files lie, verified, in `<folder>/<name>/`, and return that folder.

    Files that are there already are verified and not downloaded; an interrupted download is
    resumed. A file with other content than the declared one is an error, and it is left as it is.
    folder: default `data_folder()`.
    address: a template with {repo}, {commit}, {path}, for a mirror (or `MINIRAG_RAW_URL`).
    """
    dataset = find_dataset(name)
    target = Path(folder or data_folder()).expanduser() / dataset.name
    for file in dataset.files:
        path = target / file.name
        if not path.exists():
            _download(dataset.address(file, address), path, file, progress)
        elif (found := git_blob_id(path)) != file.blob:
            raise MiniragError(
                f"{path} is not the declared file of {dataset.name!r}: expected Git blob id "
                f"{file.blob}, found {found}. It was left as it is; move it away and fetch again."
            )
    return target


def _download(address: str, path: Path, file: DataFile, progress: bool) -> None:
    """Download to `<path>.part` (resuming one that is there), verify, rename. A part that is
    complete but wrong is removed.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as handle:
            resumed = handle.tell() > 0
    except OSError as error:
        raise MiniragError(
            f"{path.parent} cannot be written ({error.strerror}). "
            "Give fetch a folder of your own, or set MINIRAG_DATA to one."
        ) from error
    _transfer(address, part, path, progress)
    found = git_blob_id(part)
    if found != file.blob and resumed:
        part.unlink()
        _transfer(address, part, path, progress)
        found = git_blob_id(part)
    if found != file.blob:
        part.unlink()
        raise MiniragError(
            f"{address} served another file than the declared {file.name}: "
            f"expected Git blob id {file.blob}, found {found}. Nothing was kept."
        )
    part.replace(path)


def _transfer(address: str, part: Path, path: Path, progress: bool) -> None:
    """Append to `part` until the server has no more; a connection that breaks is tried again from
    where it stopped.
    """
    import httpx

    failure, timeout = "", httpx.Timeout(60, connect=15)
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * attempt)
        try:
            with httpx.Client(follow_redirects=True, timeout=timeout) as client:
                return _stream(client, address, part, path.name, progress)
        except httpx.HTTPStatusError as error:
            failure = f"the server answered {error.response.status_code}"
            if error.response.status_code < 500 and error.response.status_code != 429:
                break
        except httpx.HTTPError as error:
            failure = str(error) or type(error).__name__
    kept = part.stat().st_size if part.exists() else 0
    if not kept:
        part.unlink(missing_ok=True)
    resume = f" {kept:,} bytes are kept and the next try goes on from there." if kept else ""
    raise MiniragError(
        f"{address} could not be downloaded ({failure}).{resume} "
        f"Without a network: download it elsewhere and put it at {path}"
    )


def _stream(client: "httpx.Client", address: str, part: Path, name: str, progress: bool) -> None:
    """One request; returns when the body is complete, raises an httpx error when it breaks. 416
    says that nothing is left to send.
    """
    import httpx

    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", address, headers=headers) as response:
        if response.status_code == 416:
            return
        response.raise_for_status()
        if response.status_code != 206:
            have = 0  # the server sends all of it again
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink()
            raise httpx.RemoteProtocolError(
                "the server sent another range than the one asked for", request=response.request
            )
        total = int(response.headers.get("Content-Length", 0)) + have
        bar = progress_bar(description=name, total=total or None, unit="B")
        bar.disable = bar.disable or not progress
        with part.open("ab" if have else "wb") as file, bar:
            bar.update(have)
            for block in response.iter_bytes():
                file.write(block)
                bar.update(len(block))
