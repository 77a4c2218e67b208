"""Questions that need a whole corpus, windows judged against one another, and counts of answers."""

import re
from dataclasses import dataclass

from ..core.errors import MiniragError
from ..prompts.rules.quotes import stems
from ..text.tokens import count_tokens
from .judging import GRAPHRAG_CRITERIA, judge_answers

WINDOWS = (8000, 16000, 32000, 64000)


@dataclass(frozen=True)
class SenseQuestion:
    """A global question, and for whom and what it was made up."""

    id: str
    text: str
    user: str
    task: str


def generate_questions(llm, description, users=5, tasks=5, questions=5, executor=None):
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
    rows = [
        (user, task, text)
        for (user, task), some in zip(pairs, written)
        for text in some[:questions]
    ]
    return [
        SenseQuestion(f"g{number:03d}", text, user, task)
        for number, (user, task, text) in enumerate(rows, start=1)
    ]


def compare_windows(
    method, judge, questions, windows=WINDOWS, criteria=GRAPHRAG_CRITERIA[:3], **judging
):
    """Answer every question with each window and judge the answers pairwise: a list of `Verdict`.

    method: one with a window, such as `graphrag-ss`, with which GraphRAG chose its 8k tokens; its
    language model answers, `judge` compares. questions: {id: text}; **judging: of `judge_answers`.
    Raises `MiniragError` where a rule would have to answer or to judge.

    Source: GraphRAG, Sec. 3.5 (sec-3.5)
    """
    for llm, what in ((method.llm, "answers of several windows"), (judge, "a judgement of them")):
        if not llm.is_model:
            raise MiniragError(f"needs a model: {llm.name} cannot give {what}.")
    answers = {}
    for window in windows:
        same = method.with_options(window=window)
        given = {id: same.answer(text).text for id, text in questions.items()}
        answers[f"{window:,} tokens"] = given
    return judge_answers(judge, questions, answers, criteria, **judging)


def answer_measures(question, answer, passages=()):
    """What can be counted of an answer: none of these is a win, and none says that an answer is
    good.

    Its tokens; its different content words, and different words in percent of all; the question's
    content words that it takes up, in percent; how many of the ids in `passages` it names.
    """
    words, asked = stems(answer), stems(question)
    said = [word for word in answer.lower().split() if word.isalpha()]
    return {
        "tokens": count_tokens(answer),
        "distinct content words": len(words),
        "distinct words, % of all": round(100 * len(set(said)) / len(said), 1) if said else 0.0,
        "question words taken up, %": round(100 * len(words & asked) / len(asked), 1)
        if asked
        else 0.0,
        "passages named": sum(
            bool(re.search(rf"(?<!\w){re.escape(passage)}(?!\w)", answer))
            for passage in set(passages)
        ),
    }
