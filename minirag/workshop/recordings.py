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
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..algorithms.voting import normalise_answer
from ..core.files import read_jsonl, write_atomic
from ..corpora.shipped_and_folders import corpus_card, load_corpus, shipped
from ..evaluate.judging import SenseQuestion, generate_questions
from ..evaluate.metrics import f1
from ..index.vectors import AnyEncoder
from ..llm import LLM, Completion
from ..llm.base import Waiting, token_count, tokens_sent
from ..llm.replay import prompt_key
from ..methods import METHODS
from ..prompts.task import Fields, Messages, Task
from ..reproduce import answers, judged
from ..reproduce.judged import LOCAL_QUESTIONS

# Prompts that show no passage of the corpus.
CLOSED_BOOK = frozenset((
    "direct", "chain_of_thought", "hypothetical_document", "question_entities", "keywords",
    "user_tasks", "global_questions",
))  # fmt: skip

SHORT = ("answer", "answer_open", "direct", "chain_of_thought")
MARKS = ('"gold"', '"answers"', "gold passage", "accepted answer", "expected answer")


@dataclass(frozen=True)
class Request:
    """A prompt: what its reply is stored under, the corpus, what it asks about, its chat."""

    key: str
    part: str
    about: str
    task: Task
    messages: Messages

    @property
    def closed_book(self) -> bool:
        return self.task.name in CLOSED_BOOK

    @property
    def line(self) -> str:
        """The request in the OpenAI Batch format."""
        body: dict[str, Any] = {"model": "any", "messages": self.messages}
        body |= {"max_tokens": self.task.max_tokens}
        if self.task.sample is not None:
            body |= {"temperature": self.task.temperature, "seed": self.task.sample}
        row = {"custom_id": self.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        return json.dumps(row, ensure_ascii=False) + "\n"


def asked_twice(request: Request) -> bool:
    """Whether somebody else answers the prompt once more, for agreement: one prompt in twenty."""
    return int(request.key[:8], 16) % 20 == 0


class Asking(LLM):
    """Replies that exist already, and a list of every prompt that was asked for; one without a
    reply raises `Waiting`.
    """

    name = "a large language model"
    waits = True

    def __init__(self, part: str, replies: Mapping[str, str]) -> None:
        super().__init__()
        self.part, self.replies = part, replies
        self.asked: dict[str, Request] = {}

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        key = prompt_key(task, messages)
        about = str(fields.get("question") or fields.get("passage") or key)
        self.asked.setdefault(key, Request(key, self.part, about, task, messages))
        if key not in self.replies:
            raise Waiting("a prompt waits", self.end_round)
        return Completion(self.replies[key], replayed=True)

    def end_round(self) -> None:
        raise Waiting("prompts wait", self.end_round)


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


Run = Callable[[LLM, AnyEncoder | str], object]


def local_answers(llm: LLM, encoder: AnyEncoder | str) -> list[str]:
    """Local search's answers to the first local questions of `harbor_news`, from the model's graph
    and reports.
    """
    corpus = load_corpus("harbor_news")
    build = METHODS["graphrag-local"].build
    method = build(corpus, llm=llm, encoder=encoder, gleanings=1)
    texts = [question.text for question in corpus.questions if question.kind == "local"]
    return llm.each(lambda text: method.answer(text).text, texts[:LOCAL_QUESTIONS])


def invented_questions(llm: LLM, encoder: AnyEncoder | str) -> list[SenseQuestion]:
    """Ten questions about `harbor_news`, invented for five users with two tasks each."""
    about = corpus_card("harbor_news")["description"]
    return generate_questions(llm, about, users=5, tasks=2, questions=1)


def vanilla_answers(llm: LLM, encoder: AnyEncoder | str) -> list[str]:
    """Short answers to the textbook's first questions, from the passages nearest to each."""
    corpus = load_corpus("textbook")
    method = METHODS["vanilla"].build(corpus, llm=llm, encoder=encoder)
    texts = judged.asked("textbook").values()
    return llm.each(lambda text: method.answer(text).text, texts)


# What a recording holds: everything that these runs ask.
RUNS: dict[str, tuple[Run, ...]] = {
    **{part: (partial(answers.score_rows, part),) for part in answers.PARTS},
    **{part: (partial(judged.judge_matches, part),) for part in judged.CONDITIONS},
}
RUNS["harbor_news"] += (local_answers, invented_questions)
RUNS["textbook"] += (vanilla_answers,)


def requests_of(part: str, replies: Mapping[str, str], encoder: AnyEncoder | str) -> list[Request]:
    """Every prompt that the part's runs ask, as far as the replies lead them."""
    llm = Asking(part, replies)
    for run in RUNS[part]:
        with suppress(Waiting):
            run(llm, encoder)
    return list(llm.asked.values())


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
    """{key: reply} of all `responses*.jsonl` in a folder; the first reply to a prompt counts."""
    replies: dict[str, str] = {}
    for path in sorted(folder.glob("responses*.jsonl")):
        for row in read_jsonl(path):
            choice = row["response"]["body"]["choices"][0]
            replies.setdefault(row["custom_id"], choice["message"]["content"])
    return replies


def read_recording(part: str) -> list[dict[str, Any]]:
    """The rows of a shipped recording."""
    return list(read_jsonl(shipped(f"recordings/{part}.jsonl")))


def write_round(folder: Path, name: str, encoder: AnyEncoder | str) -> list[str]:
    """Write the request files of a round, `requests_{name}NN.jsonl`: every prompt that can be
    asked now, that has no reply in the folder and stands in no request file of it. Returns a line
    about each file.
    """
    replies = read_replies(folder)
    written = {
        row["custom_id"] for path in folder.glob("requests*.jsonl") for row in read_jsonl(path)
    }
    waiting = [
        request
        for part in RUNS
        for request in requests_of(part, replies, encoder)
        if request.key not in replies and request.key not in written
    ]
    lines = []
    for number, requests in enumerate(blind_files(waiting, name), start=1):
        path = folder / f"requests_{name}{number:02}.jsonl"
        write_atomic(path, "".join(request.line for request in requests))
        tasks = Counter(request.task.name for request in requests)
        lines.append(f"{path.name}: {len(requests)} requests, {dict(tasks)}")
    return lines


def take_replies(
    folder: Path, again: Path, recordings: Path, encoder: AnyEncoder | str
) -> dict[str, Any]:
    """Write the recording of every part from the replies in a folder, and the cards' numbers; what
    nothing asks any more is left out. again: the folder of the second replies.

    Returns the numbers: replies, tasks, replies that broke the format, prompts that wait, and
    agreement for each part; the hashes of the request files.
    """
    replies, second = read_replies(folder), read_replies(again)
    places = {
        row["custom_id"]: (path.stem.removeprefix("requests_"), number)
        for path in sorted(folder.glob("requests*.jsonl"))
        for number, row in enumerate(read_jsonl(path), start=1)
    }
    files = defaultdict[str, list[tuple[int, Request]]](list)
    parts = {}
    for part in RUNS:
        asked = requests_of(part, replies, encoder)
        answered = [request for request in asked if request.key in replies]
        answered.sort(key=lambda request: places[request.key])
        for request in answered:
            file, line = places[request.key]
            files[file].append((line, request))
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


def hashes(files: Mapping[str, list[tuple[int, Request]]]) -> dict[str, str]:
    """The SHA-256 of every request file, written again from its requests."""
    found = {}
    for name, requests in sorted(files.items()):
        lines = [request.line for _, request in sorted(requests, key=lambda pair: pair[0])]
        found[name] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return found


def broken_claims(files: Mapping[str, list[Request]], replies: Mapping[str, str]) -> list[str]:
    """Every claim of the cards that a request file breaks: a question that stands twice in a file,
    a closed-book prompt beside passages of its corpus, a question's gold passages or accepted
    answers named as such, or another answer in a prompt that asks for one.
    """
    answering = {"answer", "answer_open", "full_answer", *CLOSED_BOOK}
    texts = {key: reply for key, reply in replies.items() if len(reply) > 60}
    found = []
    for name, requests in files.items():
        about = Counter(request.about for request in requests)
        found += [f"{name}: {text!r} stands {n} times" for text, n in about.items() if n > 1]
        kinds = {(request.part, request.closed_book) for request in requests}
        mixed = {part for part, _ in kinds if {(part, True), (part, False)} <= kinds}
        found += [f"{name}: closed-book prompts beside passages of {part}" for part in mixed]
        for request in requests:
            shown = "\n".join(message["content"] for message in request.messages)
            marks = [mark for mark in MARKS if mark in shown.lower()]
            if request.task.name in answering:
                marks += [key for key, reply in texts.items() if reply in shown]
            found += [f"{name}: {request.key} shows {mark}" for mark in marks]
    return found
