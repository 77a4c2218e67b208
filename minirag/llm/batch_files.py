"""The files of a batch folder, in the OpenAI Batch format: requests-NNN.jsonl, written here, and
responses-*.jsonl, which a service wrote. Whatever stands in them, what can be read is read and the
rest is counted.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
    {responses file: an empty reply, or why there is none}. refused: what the service said to
    requests that it did not like. models: those that are asked. counts: lines that are of no use,
    by what is wrong with them.
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
        counted = [f"{len(self.answers)} answered", f"{waiting} waiting", *self.troubles()]
        return f"{self.path}: {', '.join(counted)}"

    def troubles(self) -> list[str]:
        """What is wrong, each with its number."""
        failed = sum(key not in self.answers for key in self.failed)
        counts = {"without an answer": failed, **self.counts}
        read = {path.name for kind in ("requests", "responses") for path in self.files(kind)}
        other = sorted({path.name for path in self.path.glob("*.jsonl")} - read)
        counts[f"files not read ({', '.join(other)}: responses-NNN.jsonl are)"] = len(other)
        return [f"{number} {what}" for what, number in sorted(counts.items()) if number]

    def files(self, kind: str) -> list[Path]:
        return sorted(path for path in self.path.glob(f"{kind}*.jsonl") if path.is_file())

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
        self.failed: dict[str, dict[str, Completion | str]] = {}
        self.refused: set[str] = set()
        self.models: set[str] = set()
        for path in self.files("requests"):
            for row in requests_in(path, self.counts):
                self.models.add(row["body"]["model"])
                names = self.asked.setdefault(row["custom_id"], [])
                if path.name not in names:
                    names.append(path.name)
        for path in responses:
            with path.open("rb") as file:
                for row in rows_in(file, self.counts):
                    self._note_response(path.name, row)
        self._note_lost()

    def _note_lost(self) -> None:
        """A request without a line in the responses failed, once its file has come back."""
        back = {names[-1] for key, names in self.asked.items() if not self.waits(key)}
        for key, names in self.asked.items():
            if self.waits(key) and names[-1] in back:
                self.failed.setdefault(key, {})[names[-1]] = "no line in the responses"

    def _note_response(self, name: str, row: Row) -> None:
        key, read = row["custom_id"], read_response(row)
        if key not in self.asked:
            self.counts["answers to unknown requests"] += 1
        if isinstance(read, str) or not read.text.strip():
            self.failed.setdefault(key, {})[name] = read
            if isinstance(read, str) and read.startswith("status 400"):
                self.refused.add(read)
        elif key in self.answers:
            self.counts["answers to answered requests"] += 1
        else:
            self.answers[key] = read

    def waiting(self) -> dict[str, list[str]]:
        """For each requests file the ids that wait for an answer to it."""
        found: dict[str, list[str]] = {}
        for key, names in self.asked.items():
            if self.waits(key):
                found.setdefault(names[-1], []).append(key)
        return found

    def waits(self, key: str) -> bool:
        """Whether a request was written that has neither an answer nor an error yet."""
        return key not in self.answers and len(self.failed.get(key, ())) < len(
            self.asked.get(key, ())
        )

    def lines_of(self, name: str, keys: Sequence[str]) -> bytes:
        """The lines of a requests file that hold these ids, each once."""
        held = {row["custom_id"]: row for row in requests_in(self.path / name, Counter())}
        return b"".join(json.dumps(held[key]).encode() + b"\n" for key in keys)

    def write(self, key: str, body: Row) -> None:
        """Append a request to this round's file, or to the next one where that is full."""
        row = request_row(key, body)
        size = len(json.dumps(row))  # never less than is written
        requests, room = self._room
        if self._writing is None or not requests or size >= room:
            self._writing, (requests, room) = self._new_file(), (MAX_REQUESTS, MAX_BYTES)
        append_row(self._writing, row, sync=False)
        self._room = requests - 1, room - size - 1
        # As often as it failed and once more: the files may have lost earlier requests.
        names = self.asked.setdefault(key, [])
        names += [self._writing.name] * (len(self.failed.get(key, ())) + 1 - len(names))
        self.models.add(body["model"])

    def _new_file(self) -> Path:
        self.path.mkdir(parents=True, exist_ok=True)
        for path in self.files("requests"):
            data = path.read_bytes()
            torn = data[data.rfind(b"\n") + 1 :]  # by a killed run, or only without its line end
            whole = any(rows_in([torn], Counter()))
            mend_end(path, len(data) if whole else len(data) - len(torn))
        ends = [path.stem.rpartition("-")[2] for path in self.path.glob("re*s-*.jsonl")]
        number = max((int(end) for end in ends if end.isdecimal()), default=0) + 1
        path = self.path / f"requests-{number:03d}.jsonl"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:  # another run was quicker
            return self._new_file()
        return path


def request_row(key: str, body: Row) -> Row:
    """A line of a requests file."""
    return {"custom_id": key, "method": "POST", "url": URL, "body": body}


def rows_in(lines: Iterable[bytes], counts: Counter[str]) -> Iterator[Row]:
    """The rows with an id that the lines hold; the others are counted."""
    for line in filter(bytes.strip, lines):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
            yield row
        else:
            counts["unreadable lines"] += 1


def requests_in(path: Path, counts: Counter[str]) -> Iterator[Row]:
    """The rows of a file that ask a model."""
    with path.open("rb") as file:
        for row in rows_in(file, counts):
            if isinstance(_part(row, "body").get("model"), str):
                yield row


def read_response(row: Row) -> Completion | str:
    """The reply in a line of a service's output, empty where the model refused; or why there is
    none.
    """
    response = _part(row, "response")
    body, status = _part(response, "body"), response.get("status_code", 200)
    if (error := row.get("error") or body.get("error")) or status != 200:
        said = error.get("message") or error.get("code") if isinstance(error, dict) else error
        return f"status {status}: {said or 'no answer'}"[:400]
    try:
        message = body["choices"][0]["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return "a reply without choices[0].message"
    text = text if isinstance(text, str) and not refusal else ""
    usage = [_part(body, "usage").get(name) for name in ("prompt_tokens", "completion_tokens")]
    sent, written = (number if type(number) is int else None for number in usage)
    return Completion(text, sent or 0, token_count(text) if written is None else written)


def _part(row: Row, name: str) -> Row:
    part = row.get(name)
    return part if isinstance(part, dict) else {}
