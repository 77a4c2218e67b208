"""The declared datasets, and how their files come here: pinned, resumed, verified by Git blob id."""

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..core.display import progress as progress_bar
from ..core.errors import MiniragError
from .shipped_and_own import shipped

RAW_URL = "https://raw.githubusercontent.com/{repo}/{commit}/{path}"
ATTEMPTS, PAUSE = (
    3,
    1.0,
    # how often a broken download is tried, and the seconds before the second try; twice that before the
    # third
)


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset. `role` is what it is read as, `blob` its Git blob id, `bytes` its size
    where that was measured.
    """

    role: str
    path: str
    blob: str
    bytes: int | None = None

    @property
    def name(self):
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Dataset:
    """A published dataset: where it lies, at which commit, under which licence, and its files."""

    name: str
    title: str
    repo: str
    commit: str
    licence: str
    files: tuple[DataFile, ...]

    def file(self, role):
        """The file with this role, or None."""
        return next((file for file in self.files if file.role == role), None)

    def address(self, file, template=None):
        """Where `file` is downloaded from. `MINIRAG_RAW_URL`, or `template`, may name a mirror with
        the same {repo}, {commit}, {path}.
        """
        template = template or os.environ.get("MINIRAG_RAW_URL") or RAW_URL
        for field, value in (
            ("repo", self.repo),
            ("commit", self.commit),
            ("path", quote(file.path)),
        ):
            template = template.replace("{" + field + "}", value)
        return template


def read_declarations(path):
    """Read declarations in the form of `data/datasets.yaml`: {name: Dataset}."""
    import yaml

    declared = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return {
        name: Dataset(
            name, **{**fields, "files": tuple(DataFile(**file) for file in fields["files"])}
        )
        for name, fields in declared.items()
    }


DATASETS = read_declarations(shipped("datasets.yaml"))


def data_folder():
    """The folder that holds `<dataset>/<file>`: `MINIRAG_DATA`, else the system's data folder for
    minirag.
    """
    from platformdirs import user_data_dir

    return Path(os.environ.get("MINIRAG_DATA") or user_data_dir("minirag"))


def git_blob_id(path):
    """Git's name for a file's content: sha1 of "blob <bytes>", a zero byte, and the content."""
    content = Path(path).read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def find_dataset(name):
    """The declaration of a dataset, or an error that lists the names."""
    if isinstance(name, Dataset):
        return name
    if name not in DATASETS:
        raise MiniragError(f"There is no dataset {name!r}; there are: {', '.join(DATASETS)}.")
    return DATASETS[name]


def available(name, folder=None):
    """True if every file of the dataset already lies in the data folder. Looks only at names;
    `fetch` verifies.
    """
    dataset = find_dataset(name)
    return all(
        (Path(folder or data_folder()) / dataset.name / file.name).is_file()
        for file in dataset.files
    )


def fetch(name, folder=None, *, progress=True, address=None):
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
                f"{path} is not the declared file of {dataset.name!r}: expected Git blob id {file.blob}, found {found}. "
                f"It was left as it is; move it away and fetch again."
            )
    return target


def _download(address, path, file, progress):
    """Download to `<path>.part` (resuming one that is there), verify, rename. A part that is
    complete but wrong is removed.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "ab") as handle:
            resumed = handle.tell() > 0
    except OSError as error:
        raise MiniragError(
            f"{path.parent} cannot be written ({error.strerror}). Give fetch a folder of your own, or set MINIRAG_DATA to one."
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
            f"{address} served another file than the declared {file.name}: expected Git blob id {file.blob}, found {found}. Nothing was kept."
        )
    os.replace(part, path)


def _transfer(address, part, path, progress):
    """Append to `part` until the server has no more; a connection that breaks is tried again from
    where it stopped.
    """
    import httpx

    failure = None
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * attempt)
        try:
            with httpx.Client(
                follow_redirects=True, timeout=httpx.Timeout(60, connect=15)
            ) as client:
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
        f"{address} could not be downloaded ({failure}).{resume} Without a network: download it elsewhere and put it at {path}"
    )


def _stream(client, address, part, name, progress):
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
        goes_on = response.status_code == 206 and response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {have}-")
        if response.status_code == 206 and not goes_on:
            part.unlink()
            raise httpx.RemoteProtocolError(
                "the server sent another range than the one asked for", request=response.request
            )
        total = int(response.headers.get("Content-Length", 0)) + (have if goes_on else 0)
        with (
            open(part, "ab" if goes_on else "wb") as file,
            _bar(name, total, have if goes_on else 0, progress) as bar,
        ):
            for block in response.iter_bytes():
                file.write(block)
                bar.update(len(block))


def _bar(name, total, start, progress):
    bar = progress_bar(description=name, total=total or None, unit="B")
    bar.update(start)
    bar.disable = bar.disable or not progress
    return bar
