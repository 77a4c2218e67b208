"""Question conversion: what a question is searched by.

Each function takes a batch of questions and returns one `Step` a question.

Source: Survey, Sec. 6.3 (conversion)
"""

from typing import Literal

from ..core.results import Step
from ..graphs.phrases import normalise_phrase
from ..prompts.keywords import Keywords

SHORT = 50  # characters
Empty = Literal["question", "short question", "skip", "nothing"]


def entities(questions, llm, known=None, script="unicode"):
    """The entities of a question, as `normalise_phrase` writes them: `step.data["entities"]`.

    known: question -> names, where `llm` need not be asked. script: see `normalise_phrase`.

    Source: Survey, Sec. 6.3 (conversion)
    """
    known = known or {}
    asked = [text for text in questions if text not in known]
    replies = llm.map("question_entities", [{"question": text} for text in asked])
    named = {**known, **dict(zip(asked, replies))}
    steps = []
    for text in questions:
        phrases = [
            phrase for phrase in (normalise_phrase(name, script) for name in named[text]) if phrase
        ]
        summary = (
            f"named in the question: {', '.join(named[text])}"
            if phrases
            else "the question names no entity"
        )
        steps.append(Step("entities", summary, (), {"entities": phrases}))
    return steps


def keywords(questions, llm, empty="question"):
    """Keywords on two levels: `step.data["high"]` (themes) and `step.data["low"]` (particulars).

    `step.data["given"]` is what `llm` replied. empty: what a level without keywords is searched by.

    - "question": the question itself.
    - "short question" (LightRAG's late code): where both levels are empty, a question of fewer than
      50 characters becomes the low one; any other empty level is not searched.
    - "skip" (LightRAG's early code): an empty level is not searched.
    - "nothing" (PathRAG's code): if either level is empty, neither is searched.

    Source: Survey, Sec. 6.3 (conversion)
    """
    replies = llm.map(
        "keywords", [{"question": text} for text in questions], description="keywords"
    )
    steps = []
    for text, reply in zip(questions, replies):
        given = reply or Keywords()
        high, low = fill_levels(text, given, empty)
        summary = f"high level: {', '.join(high) or 'none'}; low level: {', '.join(low) or 'none'}"
        steps.append(
            Step("keywords", summary, (), {"high": high, "low": low, "given": tuple(given)})
        )
    return steps


def fill_levels(question, given, empty):
    """`(high, low)` keywords after `empty` (see `keywords`) has been applied."""
    high, low = tuple(given.high), tuple(given.low)
    if empty == "question":
        return high or (question,), low or (question,)
    if empty == "nothing" and not (high and low):
        return (), ()
    if empty == "short question" and not (high or low) and len(question) < SHORT:
        return (), (question,)
    return high, low


def vector(questions, encoder):
    """The vector of a question: `step.data["vector"]`, (d,).

    The vector searches (`vdb`) take these steps in place of texts.

    Source: Survey, Sec. 6.3 (conversion)
    """
    vectors = encoder.encode(list(questions), kind="query")
    return [
        Step("vector", f"the question as {len(row)} numbers", (), {"vector": row})
        for row in vectors
    ]
