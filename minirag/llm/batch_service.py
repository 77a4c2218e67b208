"""Sending the files of a batch folder to a service with OpenAI's /files and /batches, and fetching
what it answers. batch-NNN.txt remembers the batch of requests-NNN.jsonl, so that a killed run asks
for its answers and not for the work again.
"""

import json
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import write_atomic
from .batch_files import URL, BatchFolder, rows_in

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

    Its mark is noted before it begins, so that a run that is killed in between finds it.
    """
    note = folder.path / _named(name, "batch", ".txt")
    mark, _, batch_id = (note.read_text().strip() if note.exists() else "").partition(" ")
    if mark and not batch_id:
        listed = islice(client.batches.list(limit=100), LOOKED_THROUGH)
        ours = (batch.id for batch in listed if (batch.metadata or {}).get("mark") == mark)
        batch_id = next(ours, "")
    if not batch_id:
        mark = mark or uuid.uuid4().hex
        write_atomic(note, mark)
        file = client.files.create(file=(name, folder.lines_of(name, keys)), purpose="batch")
        once = client.with_options(max_retries=0)  # a reply that is lost would begin two batches
        named = {"input_file_id": file.id, "metadata": {"mark": mark}}
        batch_id = once.batches.create(endpoint=URL, completion_window="24h", **named).id
    write_atomic(note, f"{mark} {batch_id}")
    return batch_id


def _fetch(folder: BatchFolder, client: Any, name: str, keys: Sequence[str], batch: Any) -> None:
    """Write what a batch answered. A request that it left out counts as failed."""
    if batch.status == "failed":
        (folder.path / _named(name, "batch", ".txt")).unlink()
        said = "; ".join(str(error.message) for error in getattr(batch.errors, "data", None) or [])
        raise MiniragError(
            f"the service took no batch from {name}: {said}. Run the same again to send it anew."
        )
    files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
    lines = [line for file in files for line in client.files.content(file).read().split(b"\n")]
    named = {row["custom_id"] for row in rows_in(lines, Counter())}
    lost = {"message": f"the batch {batch.status} without it"}
    rows = [{"custom_id": key, "error": lost} for key in keys if key not in named]
    path = folder.path / _named(name, "responses")
    kept = path.read_bytes().split(b"\n") if path.exists() else []
    lines = [*kept, *lines, *(json.dumps(row).encode() for row in rows)]
    write_atomic(path, b"".join(line + b"\n" for line in lines if line.strip()))
    if batch.status == "cancelled":
        raise MiniragError(f"the batch of {name} was cancelled. The same again asks for the rest.")


def _named(requests: str, kind: str, ending: str = ".jsonl") -> str:
    return requests.replace("requests", kind).replace(".jsonl", ending)
