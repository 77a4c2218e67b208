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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.files import read_jsonl, write_atomic
from ..corpora.shipped_and_own import shipped
from ..index.vectors import AnyEncoder
from ..llm import LLM, Completion
from ..llm.base import Waiting, tokens_sent
from ..llm.replay import prompt_key, replayed
from ..prompts.task import Fields, Messages, Task
from ..reproduce import answers, judged

# Prompts that show no passage of the corpus.
CLOSED_BOOK = frozenset((
    "direct", "chain_of_thought", "hypothetical_document", "question_entities", "keywords",
    "user_tasks", "global_questions",
))  # fmt: skip


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


# What a recording holds: everything that these runs ask.
RUNS: dict[str, tuple[Run, ...]] = {
    **{part: (partial(answers.score_rows, part),) for part in answers.PARTS},
    **{part: (partial(judged.judge_matches, part),) for part in judged.CONDITIONS},
}
RUNS["harbor_news"] += (local_answers, invented_questions)


def requests_of(part: str, replies: Mapping[str, str], encoder: AnyEncoder | str) -> list[Request]:
    """Every prompt that the part's runs ask, as far as the replies lead them."""
    llm = Asking(part, replies)
    for run in RUNS[part]:
        with suppress(Waiting):
            run(llm, encoder)
    return list(llm.asked.values())


def blind_files(
    requests: Iterable[Request], seed: str, most: int = 110, tokens: int = 85_000
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
