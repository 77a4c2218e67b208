"""The files of a batch folder, in the OpenAI Batch format: requests-NNN.jsonl, written here, and
responses-*.jsonl, which a service wrote. Whatever stands in them, what can be read is read and the
rest is counted.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from .base import Completion, token_count
from .replay import append_row, mend_end

MAX_REQUESTS, MAX_BYTES = 50_000, 100_000_000  # of one file
URL = "/v1/chat/completions"
Row = dict[str, Any]


class BatchFolder:
    """What the files of a folder say; `read` looks again.

    asked: id -> the requests files that hold it. answers: id -> the answer. failed: id ->
    {responses file: why there is no answer in it}; said: what services said when they refused.
    models: those that are asked. counts: lines that are of no use, by what is wrong with them.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise MiniragError(f"{self.path} is a file: batch:FOLDER names a folder.")
        self._seen: object = None
        self._writing: Path | None = None
        self._room = (0, 0)  # requests and bytes that the open file still takes
        self.read()

    def __repr__(self) -> str:
        waiting = sum(map(len, self.waiting().values()))
        failed = sum(key not in self.answers for key in self.failed)
        counted = [f"{waiting} wait", f"{failed} failed"]
        counted += [f"{number} {what}" for what, number in sorted(self.counts.items())]
        return f"{self.path.name}: {len(self.answers)} answers, {', '.join(counted)}"

    def files(self, kind: str) -> list[Path]:
        return sorted(path for path in self.path.glob(f"{kind}-*.jsonl") if path.is_file())

    def read(self) -> None:
        """Read the files anew if there are other answers than before. The next request begins a
        new file, since nobody knows whether the last one was sent.
        """
        self._writing = None
        responses = self.files("responses")
        seen = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in responses]
        if seen == self._seen:
            return
        self._seen, self.counts = seen, Counter[str]()
        self.asked: dict[str, list[str]] = {}
        self.answers: dict[str, Completion] = {}
        self.failed: dict[str, dict[str, str]] = {}
        self.said: list[str] = []
        self.models: set[str] = set()
        for path in self.files("requests"):
            for row in self._rows(path):
                self._note_request(path.name, row["custom_id"])
                if isinstance(body := row.get("body"), dict) and isinstance(body.get("model"), str):
                    self.models.add(body["model"])
        for path in responses:
            for row in self._rows(path):
                self._note_response(path.name, row)

    def _rows(self, path: Path) -> Iterator[Row]:
        with path.open("rb") as file:
            for line in file:
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
                    yield row
                elif line.strip():
                    self.counts["lines cannot be read"] += 1

    def _note_request(self, name: str, key: str) -> None:
        names = self.asked.setdefault(key, [])
        if name not in names:
            names.append(name)

    def _note_response(self, name: str, row: Row) -> None:
        key, read = row["custom_id"], read_response(row)
        if key not in self.asked:
            self.counts["answers to nothing that was asked"] += 1
        if isinstance(read, str):
            self.failed.setdefault(key, {})[name] = read
            self.said.append(read)
        elif key in self.answers:
            self.counts["answers came twice"] += 1
        else:
            self.answers[key] = read

    def waiting(self) -> dict[str, list[str]]:
        """For each requests file the ids that wait for an answer to it."""
        found: dict[str, list[str]] = {}
        for key, names in self.asked.items():
            if key not in self.answers and self.waits(key):
                found.setdefault(names[-1], []).append(key)
        return found

    def waits(self, key: str) -> bool:
        """Whether a request was written that has neither an answer nor an error yet."""
        return len(self.failed.get(key, ())) < len(self.asked.get(key, ()))

    def write(self, key: str, body: Row) -> None:
        """Append a request to this round's file, or to the next one where that is full."""
        row = {"custom_id": key, "method": "POST", "url": URL, "body": body}
        size = len(json.dumps(row))  # never less than is written
        requests, room = self._room
        if self._writing is None or not requests or size >= room:
            self._writing, (requests, room) = self._new_file(), (MAX_REQUESTS, MAX_BYTES)
        append_row(self._writing, row, sync=False)
        self._room = requests - 1, room - size - 1
        self._note_request(self._writing.name, key)
        self.models.add(body["model"])

    def _new_file(self) -> Path:
        self.path.mkdir(parents=True, exist_ok=True)
        for path in self.files("requests"):
            mend_end(path, len(path.read_bytes().rpartition(b"\n")[0]) + 1)
        names = [path.name for kind in ("requests", "responses") for path in self.files(kind)]
        numbers = [int(found[1]) for name in names if (found := re.search(r"-(\d+)\.", name))]
        number = max(numbers, default=0)
        while True:
            number += 1
            path = self.path / f"requests-{number:03d}.jsonl"
            try:
                path.touch(exist_ok=False)
                return path
            except FileExistsError:  # another run was quicker
                continue


def read_response(row: Row) -> Completion | str:
    """The answer in a line of a service's output, or why there is none."""
    response = _part(row, "response")
    body = _part(response, "body")
    error = row.get("error") or body.get("error")
    status = response.get("status_code")
    if error or status != 200:
        said = error.get("message") or error.get("code") if isinstance(error, dict) else error
        return f"status {status}: {said or 'no answer'}"[:400]
    try:
        message = body["choices"][0]["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return "a reply without choices[0].message"
    if refusal or not isinstance(text, str) or not text.strip():
        return f"refused: {refusal}"[:400] if refusal else "an empty reply"
    tokens = [_part(body, "usage").get(name) for name in ("prompt_tokens", "completion_tokens")]
    counted = [number if type(number) is int else None for number in tokens]
    written = token_count(text) if counted[1] is None else counted[1]
    return Completion(text, counted[0] or 0, written, replayed=True)


def _part(row: Row, name: str) -> Row:
    part = row.get(name)
    return part if isinstance(part, dict) else {}
