"""Questions that need a whole corpus, windows judged against one another, and counts of answers."""

import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from ..core.errors import MiniragError
from ..llm import LLM
from ..prompts.rules.quotes import stems
from ..text.tokens import count_tokens
from .judging import GRAPHRAG_CRITERIA, Verdict, judge_answers

WINDOWS = (8000, 16000, 32000, 64000)


@dataclass(frozen=True)
class SenseQuestion:
    """A global question, and for whom and what it was made up."""

    id: str
    text: str
    user: str
    task: str


def generate_questions(
    llm: LLM, description: str, users: int = 5, tasks: int = 5, questions: int = 5,
    executor: Executor | None = None,
) -> list[SenseQuestion]:  # fmt: skip
    """N users, N tasks for each, N questions for each task, out of a short description of a corpus:
    125 for N = 5, fewer where a model names fewer.

    Needs a model: the offline rules raise `MiniragError`.

    Source: GraphRAG, Sec. 3.2 (sec-3.2); GraphRAG, Table 1 (tab-1); Survey, Fig. 18 (fig-18)
    """
    people = llm("user_tasks", description=description, users=users, tasks=tasks)[:users]
    pairs = [(user, task) for user, named in people for task in named[:tasks]]
    fields = [
        {"description": description, "user": user, "activity": task, "count": questions}
        for user, task in pairs
    ]
    written = llm.map("global_questions", fields, executor=executor, description="questions")
    rows = [(text, *pair) for pair, texts in zip(pairs, written) for text in texts[:questions]]
    return [SenseQuestion(f"g{number:03d}", *row) for number, row in enumerate(rows, start=1)]


def compare_windows(
    method: Any, judge: LLM, questions: Mapping[str, str], windows: Sequence[int] = WINDOWS,
    criteria: Sequence[str] = GRAPHRAG_CRITERIA[:3], **judging: Any,
) -> list[Verdict]:  # fmt: skip
    """Answer every question with each window and judge the answers pairwise.

    method: one with a window, such as `graphrag-ss`, with which GraphRAG chose its 8k tokens; its
    language model answers, `judge` compares. questions: {id: text}; **judging: of `judge_answers`.
    Raises `MiniragError` where a rule would have to answer or to judge.

    Source: GraphRAG, Sec. 3.5 (sec-3.5)
    """
    for llm, what in ((method.llm, "answers of several windows"), (judge, "a judgement of them")):
        if not llm.is_model:
            raise MiniragError(f"needs a model: {llm.name} cannot give {what}.")
    methods = {f"{window:,} tokens": method.with_options(window=window) for window in windows}
    answers = {
        name: {id: same.answer(text).text for id, text in questions.items()}
        for name, same in methods.items()
    }
    return judge_answers(judge, questions, answers, criteria, **judging)


def answer_measures(question: str, answer: str, passages: Collection[str] = ()) -> dict[str, float]:
    """What can be counted of an answer: none of these is a win, and none says that an answer is
    good.

    Its tokens; its different content words, and different words in percent of all; the question's
    content words that it takes up, in percent; how many of the ids in `passages` it names.
    """
    content, asked = stems(answer), stems(question)
    words = [word for word in answer.lower().split() if word.isalpha()]
    named = [id for id in set(passages) if re.search(rf"(?<!\w){re.escape(id)}(?!\w)", answer)]
    distinct = 100 * len(set(words)) / len(words) if words else 0.0
    taken_up = 100 * len(content & asked) / len(asked) if asked else 0.0
    return {
        "tokens": count_tokens(answer),
        "distinct content words": len(content),
        "distinct words, % of all": round(distinct, 1),
        "question words taken up, %": round(taken_up, 1),
        "passages named": len(named),
    }
