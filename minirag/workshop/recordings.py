"""How the recordings in `data/recordings` are made, and how their claims are checked.

A round runs every part and writes the prompts without a reply to request files, which somebody
answers *blind*: with one file and nothing else. A file holds a question at most once, and prompts
without passages stand apart from the passages of the same world, since those answer them. The rows
of a recording name the request file and the line that they come from, so that the files can be
written again, byte for byte, and their hashes compared with those in the recording's card.
"""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..algorithms.voting import normalise_answer
from ..core.errors import MiniragError
from ..core.files import read_jsonl, write_atomic
from ..corpora.fetching import available
from ..corpora.shipped_and_folders import shipped
from ..evaluate.metrics import f1
from ..index.vectors import AnyEncoder
from ..llm.base import Completion, token_count, tokens_sent
from ..llm.batch_files import read_response, rows_in
from ..llm.recorded import all_recordings
from .recorded_runs import RUNS, Asking, Request, requests_of

SHORT = ("answer", "answer_open", "direct", "chain_of_thought")


@dataclass
class BlindFile:
    """The requests of one file, in the making."""

    requests: list[Request] = field(default_factory=list)
    tokens: int = 0
    about: set[str] = field(default_factory=set)
    closed_book: dict[str, bool] = field(default_factory=dict)  # of each corpus

    def takes(self, request: Request, most: int, tokens: int) -> bool:
        """Whether a request may join: see `blind_files`."""
        alike = self.closed_book.get(request.part, request.closed_book) == request.closed_book
        fits = len(self.requests) < most and self.tokens + tokens_sent(request.messages) <= tokens
        return alike and fits and request.about not in self.about

    def add(self, request: Request) -> None:
        self.requests.append(request)
        self.tokens += tokens_sent(request.messages)
        self.about.add(request.about)
        self.closed_book[request.part] = request.closed_book


def blind_files(
    requests: Iterable[Request], seed: str, most: int = 110, tokens: int = 60_000
) -> list[list[Request]]:
    """Requests in random order, divided so that a file holds a question at most once, never a
    closed-book prompt beside passages of its corpus, and at most so many requests and tokens.
    """
    rng, files = random.Random(seed), list[BlindFile]()
    shuffled = sorted(requests, key=lambda request: request.key)
    rng.shuffle(shuffled)
    often = Counter(request.about for request in shuffled)
    for request in sorted(shuffled, key=lambda request: -often[request.about]):
        fitting = [file for file in files if file.takes(request, most, tokens)]
        if not fitting:
            files.append(BlindFile())
        max(fitting, key=lambda file: file.tokens, default=files[-1]).add(request)
    for file in files:
        rng.shuffle(file.requests)
    return [file.requests for file in files]


def read_replies(folder: Path) -> dict[str, str]:
    """{key: reply} of all `responses*.jsonl` in a folder, lines that hold none left out; the first
    reply to a prompt counts.
    """
    replies = dict[str, str]()
    for path in sorted(folder.glob("responses*.jsonl")):
        for row in rows_in(path.read_bytes().splitlines(), Counter()):
            reply = read_response(row)
            if isinstance(reply, Completion) and reply.text.strip():
                replies.setdefault(row["custom_id"], reply.text)
    return replies


def shipped_replies() -> dict[str, str]:
    """{key: reply} of all shipped recordings."""
    return {key: row["reply"] for key, row in all_recordings().items()}


def rebuilt(encoder: AnyEncoder | str) -> dict[str, list[Request]]:
    """The request files behind the shipped recordings, by name, from the texts that are here."""
    found: dict[str, list[tuple[int, Request]]] = {}
    rows, replies = all_recordings(), shipped_replies()
    for part in RUNS:
        if part != "musique_train" or available(part):
            for request in requests_of(part, replies, encoder):
                row = rows[request.key]
                found.setdefault(row["file"], []).append((row["line"], request))
    ordered = {name: sorted(rows, key=lambda row: row[0]) for name, rows in sorted(found.items())}
    return {name: [request for _, request in rows] for name, rows in ordered.items()}


def write_round(folder: Path, name: str, encoder: AnyEncoder | str, most: int = 110) -> list[str]:
    """Write the request files of a round, `requests_{name}NN.jsonl`: every prompt that can be
    asked now, that has no reply yet and stands in no request file of the folder; and into the
    folder `again` one in twenty of those answered, for somebody else. Returns a line a file.
    """
    replies = shipped_replies() | read_replies(folder)
    again = folder / "again"
    files = [*folder.glob("requests*.jsonl"), *again.glob("requests*.jsonl")]
    written = defaultdict[Path, set[str]](set)
    for path in files:
        written[path.parent] |= {row["custom_id"] for row in read_jsonl(path)}
    asked = [request for part in RUNS for request in requests_of(part, replies, encoder)]
    waiting = [request for request in asked if request.key not in replies]
    twice = [r for r in asked if r.key in replies and int(r.key[:8], 16) % 20 == 0]
    used = {row["file"] for row in all_recordings().values()}
    lines = []
    for place, requests in ((folder, waiting), (again, twice)):
        new = [request for request in requests if request.key not in written[place]]
        for number, one_file in enumerate(blind_files(new, name, most), start=1):
            path = place / f"requests_{name}{number:02}.jsonl"
            if path.exists() or path.stem.removeprefix("requests_") in used:
                raise MiniragError(f"{path.name} exists already: give the round another name.")
            write_atomic(path, "".join(request.line for request in one_file))
            lines.append(f"{path}: {len(one_file)} requests")
    return lines


def take_replies(folder: Path, recordings: Path, encoder: AnyEncoder | str) -> dict[str, Any]:
    """Write the recording of every part from the shipped replies and those in a folder, and the
    cards' numbers; what nothing asks any more is left out.

    Returns the numbers: replies, tasks, replies that broke the format, prompts that wait, and
    agreement for each part; the hashes of the request files.
    """
    replies = shipped_replies() | read_replies(folder)
    second = read_replies(folder / "again")
    places = {key: (row["file"], row["line"]) for key, row in all_recordings().items()}
    places |= {
        row["custom_id"]: (path.stem.removeprefix("requests_"), number)
        for path in sorted(folder.glob("requests*.jsonl"))
        for number, row in enumerate(read_jsonl(path), start=1)
    }
    files = defaultdict[str, list[Request]](list)
    parts = {}
    for part in RUNS:
        asked = requests_of(part, replies, encoder)
        answered = [request for request in asked if request.key in replies]
        answered.sort(key=lambda request: places[request.key])
        for request in answered:
            files[places[request.key][0]].append(request)
        rows = [recorded_row(r, replies[r.key], *places[r.key]) for r in answered]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomic(recordings / f"{part}.jsonl", text)
        parts[part] = {
            "replies": len(rows),
            "waiting": len(asked) - len(rows),
            "tasks": dict(Counter(request.task.name for request in answered)),
            "broke the format": sum(r.task.parse(replies[r.key])[1] > 0 for r in answered),
            "asked twice": agreement(answered, replies, second),
        }
    for requests in files.values():
        requests.sort(key=lambda request: places[request.key])
    numbers = {"parts": parts, "request_files": hashes(files)}
    write_atomic(recordings / "cards.json", json.dumps(numbers, indent=1) + "\n")
    return numbers


def agreement(
    requests: Iterable[Request], first: Mapping[str, str], second: Mapping[str, str]
) -> dict[str, float]:
    """How far two replies to one prompt agree: short answers that are equal when normalised, and
    the mean F1 of the words of all other replies.
    """
    twice = [request for request in requests if request.key in second]
    short = [request for request in twice if request.task.name in SHORT]
    equal = 0
    for request in short:
        one, other = (request.task.parse(replies[request.key])[0] for replies in (first, second))
        equal += normalise_answer(one) == normalise_answer(other)
    shared = [f1(first[r.key], [second[r.key]]) for r in twice if r.task.name not in SHORT]
    mean = round(sum(shared) / len(shared), 2) if shared else 0.0
    return {"short": len(short), "equal": equal, "long": len(shared), "mean F1 of words": mean}


def recorded_row(request: Request, reply: str, file: str, line: int) -> dict[str, Any]:
    """A line of a recording, as `llm.replay` reads it, with the request file that it comes from."""
    return {
        "key": request.key, "task": request.task.name, "model": Asking.name, "is_model": True,
        "prompt_tokens": tokens_sent(request.messages), "completion_tokens": token_count(reply),
        "reply": reply, "file": file, "line": line,
    }  # fmt: skip


def hashes(files: Mapping[str, Iterable[Request]]) -> dict[str, str]:
    """The SHA-256 of every request file."""
    texts = {name: "".join(r.line for r in requests) for name, requests in sorted(files.items())}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def differing(files: Mapping[str, Iterable[Request]]) -> list[str]:
    """The request files that are not those that were answered. Files that also hold prompts over
    texts that are not here cannot be compared, and are none of these.
    """
    whole = Counter(row["file"] for row in all_recordings().values())
    card = json.loads(shipped("recordings/cards.json").read_text(encoding="utf-8"))["request_files"]
    complete = {name: list(requests) for name, requests in files.items()}
    complete = {name: found for name, found in complete.items() if len(found) == whole[name]}
    return [name for name, value in hashes(complete).items() if value != card[name]]
