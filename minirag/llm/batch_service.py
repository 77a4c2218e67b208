"""Sending the files of a batch folder to a service with OpenAI's /files and /batches, and fetching
what it answers. The folder remembers the batches, so that a killed run asks for the answers again
and not for the work.
"""

import json
import time
import uuid
from collections.abc import Sequence
from itertools import islice
from typing import Any

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import write_atomic
from .batch_files import URL, BatchFolder, rows_in

BATCHES = "batches.json"  # requests file -> the mark and the id of its batch
ENDED = ("completed", "failed", "expired", "cancelled")
LOOKED_THROUGH = 300  # batches of the service, for one that a killed run has begun


def send(folder: BatchFolder, client: Any, pause: float) -> None:
    """Send every request that waits, wait for the service, and write what it answers to
    responses-NNN.jsonl. client: of `openai`. pause: seconds between two looks at the service.
    """
    waiting = folder.waiting()
    under_way = {name: _begin(folder, client, name, waiting[name]) for name in waiting}
    done = dict.fromkeys(under_way, 0)
    with progress(description="batch", total=sum(map(len, waiting.values()))) as bar:
        while under_way:
            for name, batch_id in list(under_way.items()):
                batch = client.batches.retrieve(batch_id)
                done[name] = getattr(batch.request_counts, "completed", None) or 0
                if batch.status in ENDED:
                    _fetch(folder, client, name, waiting[name], batch)
                    del under_way[name]
            bar.update(sum(done.values()) - bar.n)
            if under_way:
                time.sleep(pause)


def _begin(folder: BatchFolder, client: Any, name: str, keys: Sequence[str]) -> str:
    """The id of the batch for the requests of a file that wait: one that was begun, or a new one.

    Its mark is written down before it begins, so that a run that is killed in between finds it.
    """
    begun = _begun(folder)
    known = begun.get(name)
    if known is None:
        mark, batch_id = uuid.uuid4().hex, None
        _remember(folder, {**begun, name: {"mark": mark, "batch": None}})
    else:
        mark, batch_id = known["mark"], known["batch"]
        if batch_id is None:
            listed = islice(client.batches.list(limit=100), LOOKED_THROUGH)
            ours = (batch.id for batch in listed if (batch.metadata or {}).get("mark") == mark)
            batch_id = next(ours, None)
    if batch_id is None:
        content = folder.lines_of(name, keys)
        file = client.files.create(file=(name, content), purpose="batch")
        # Not tried again by the client: a reply that is lost would begin two batches.
        batch_id = (
            client.with_options(max_retries=0)
            .batches.create(
                input_file_id=file.id,
                endpoint=URL,
                completion_window="24h",
                metadata={"mark": mark},
            )
            .id
        )
    _remember(folder, {**_begun(folder), name: {"mark": mark, "batch": batch_id}})
    return str(batch_id)


def _fetch(folder: BatchFolder, client: Any, name: str, keys: Sequence[str], batch: Any) -> None:
    """Write what a batch answered. A request that it left out counts as failed."""
    if batch.status == "failed":
        _remember(folder, {file: job for file, job in _begun(folder).items() if file != name})
        errors = getattr(batch.errors, "data", None) or []
        said = "; ".join(str(error.message) for error in errors[:3]) or "it does not say why"
        raise MiniragError(
            f"the service took no batch from {name}: {said}. Run the same again to send it anew."
        )
    files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
    lines = [line for file in files for line in client.files.content(file).read().split(b"\n")]
    named = {row["custom_id"] for row in rows_in(lines) if row}
    lost = {"message": f"the batch {batch.status} without it"}
    rows = [{"custom_id": key, "error": lost} for key in keys if key not in named]
    path = folder.path / name.replace("requests", "responses")
    kept = path.read_bytes().split(b"\n") if path.exists() else []
    lines = [*kept, *lines, *(json.dumps(row).encode() for row in rows)]
    write_atomic(path, b"".join(line + b"\n" for line in lines if line.strip()))
    if batch.status == "cancelled":
        raise MiniragError(
            f"the batch of {name} was cancelled. What it answered is kept; run the same again to "
            "ask for the rest."
        )


def _begun(folder: BatchFolder) -> dict[str, dict[str, Any]]:
    path = folder.path / BATCHES
    try:
        begun = json.loads(path.read_bytes()) if path.exists() else {}
        return {
            str(name): {"mark": job["mark"], "batch": job["batch"]} for name, job in begun.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        raise MiniragError(
            f"{path} cannot be read: it says which batches were sent. Restore it, or delete it to "
            "send, and pay, what still waits again."
        ) from None


def _remember(folder: BatchFolder, begun: dict[str, dict[str, Any]]) -> None:
    write_atomic(folder.path / BATCHES, json.dumps(begun, indent=1) + "\n")
