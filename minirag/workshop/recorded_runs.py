"""What the recordings in `data/recordings` hold: for each corpus the runs of which a large language
model answered every prompt.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from ..core.results import Answer
from ..corpora.shipped_and_folders import corpus_card, load_corpus
from ..evaluate import answer_all
from ..evaluate.judging import SenseQuestion, generate_questions
from ..index.vectors import AnyEncoder
from ..llm import LLM, Completion
from ..llm.base import Waiting
from ..llm.batch_files import request_row
from ..llm.replay import prompt_key
from ..methods import METHODS
from ..prompts.task import Fields, Messages, Task
from ..reproduce import agents, answers, judged, unified
from ..reproduce.judged import LOCAL_QUESTIONS

# Prompts that show no passage of the corpus.
CLOSED_BOOK = frozenset((
    "direct", "chain_of_thought", "hypothetical_document", "question_entities", "keywords",
    "user_tasks", "global_questions", "two_rationales",
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
        return json.dumps(request_row(self.key, body), ensure_ascii=False) + "\n"


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


def local_answers(llm: LLM, encoder: AnyEncoder | str) -> list[Answer]:
    """Local search's answers to the first local questions of `harbor_news`, from the model's graph
    and reports.
    """
    corpus = load_corpus("harbor_news")
    method = METHODS["graphrag-local"].build(corpus, llm=llm, encoder=encoder, gleanings=1)
    texts = [question.text for question in corpus.questions if question.kind == "local"]
    return answer_all(method, texts[:LOCAL_QUESTIONS])


def invented_questions(llm: LLM, encoder: AnyEncoder | str) -> list[SenseQuestion]:
    """Ten questions about `harbor_news`, invented for five users with two tasks each."""
    about = corpus_card("harbor_news")["description"]
    return generate_questions(llm, about, users=5, tasks=2, questions=1)


def vanilla_answers(llm: LLM, encoder: AnyEncoder | str) -> list[Answer]:
    """Short answers to the textbook's first questions, from the passages nearest to each."""
    corpus = load_corpus("textbook")
    method = METHODS["vanilla"].build(corpus, llm=llm, encoder=encoder)
    return answer_all(method, judged.asked("textbook").values())


def benchmark(llm: LLM, encoder: AnyEncoder | str) -> None:
    """What the benchmark's table by recorded replies asks; a kept index would ask nothing."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, MINIRAG_CACHE=folder):
        unified.ask_recorded(llm, folder)


# RAPTOR's trees: as they are by default, with clusters for few passages, and by k-means.
BY_TREE = [row for row in answers.PROFESSORS if row.method in ("raptor", "raptor-k")]
TREES = answers.AnswerRow("", "raptor", {"reduction": "pca"}), *BY_TREE


def tree(part: str, row: answers.AnswerRow, llm: LLM, encoder: AnyEncoder | str) -> None:
    """The summaries of a tree."""
    METHODS[row.method].build(load_corpus(part), llm=llm, encoder=encoder, **row.options)


# What a recording holds: everything that these runs ask.
RUNS: dict[str, tuple[Run, ...]] = {
    **{part: (partial(answers.score_rows, part),) for part in answers.PARTS},
    **{part: (partial(judged.judge_matches, part),) for part in judged.CONDITIONS},
    "mini_wiki": (partial(agents.run_rows, "mini_wiki"),),
}
RUNS["professors"] += (benchmark,)
RUNS["musique_train"] += (partial(agents.run_rows, "musique_train"),)
RUNS["harbor_news"] += (local_answers, invented_questions)
RUNS["textbook"] += (vanilla_answers,)
for shipped in ("professors", "harbor_news"):
    RUNS[shipped] += tuple(partial(tree, shipped, each) for each in TREES)


def requests_of(part: str, replies: Mapping[str, str], encoder: AnyEncoder | str) -> list[Request]:
    """Every prompt that the part's runs ask, as far as the replies lead them."""
    llm = Asking(part, replies)
    for run in RUNS[part]:
        with suppress(Waiting):
            run(llm, encoder)
    return list(llm.asked.values())
