"""Question conversion: what a question is searched by.

Each function takes a batch of questions and returns one step a question.

Source: Survey, Sec. 6.3 (conversion)
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from ..core.encoder import Encoder
from ..core.trace import EntityStep, KeywordStep, VectorStep
from ..graphs.knowledge_graph import Script, normalise_phrase
from ..llm import LLM
from ..prompts.keywords import Keywords

SHORT = 50  # characters
Empty = Literal["question", "short question", "skip", "nothing"]


def entities(
    questions: Sequence[str],
    llm: LLM,
    known: Mapping[str, Sequence[str]] | None = None,
    script: Script = "unicode",
) -> list[EntityStep]:
    """The entities of a question, as `normalise_phrase` writes them.

    known: question -> names, where `llm` need not be asked. script: see `normalise_phrase`.

    Source: Survey, Sec. 6.3 (conversion)
    """
    known = known or {}
    asked = [text for text in questions if text not in known]
    replies = llm.map("question_entities", [{"question": text} for text in asked])
    named = {**known, **dict(zip(asked, replies))}
    steps = []
    for text in questions:
        phrases = tuple(filter(None, (normalise_phrase(name, script) for name in named[text])))
        found = f"named in the question: {', '.join(named[text])}"
        summary = found if phrases else "the question names no entity"
        steps.append(EntityStep("entities", summary, entities=phrases))
    return steps


def keywords(questions: Sequence[str], llm: LLM, empty: Empty = "question") -> list[KeywordStep]:
    """Keywords on two levels, for themes and for particulars.

    empty: what a level without keywords is searched by.

    - "question": the question itself.
    - "short question" (LightRAG's late code): where both levels are empty, a question of fewer than
      50 characters becomes the low one; any other empty level is not searched.
    - "skip" (LightRAG's early code): an empty level is not searched.
    - "nothing" (PathRAG's code): if either level is empty, neither is searched.

    Source: Survey, Sec. 6.3 (conversion)
    """
    asked = [{"question": text} for text in questions]
    steps = []
    for text, reply in zip(questions, llm.map("keywords", asked, description="keywords")):
        given = reply or Keywords()
        high, low = fill_levels(text, given, empty)
        summary = f"high level: {', '.join(high) or 'none'}; low level: {', '.join(low) or 'none'}"
        steps.append(KeywordStep("keywords", summary, high=high, low=low, given=tuple(given)))
    return steps


def fill_levels(
    question: str, given: Keywords, empty: Empty
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`(high, low)` keywords after `empty` (see `keywords`) has been applied."""
    high, low = tuple(given.high), tuple(given.low)
    if empty == "question":
        return high or (question,), low or (question,)
    if empty == "nothing" and not (high and low):
        return (), ()
    if empty == "short question" and not (high or low) and len(question) < SHORT:
        return (), (question,)
    return high, low


def vector(questions: Sequence[str], encoder: Encoder) -> list[VectorStep]:
    """The vector of a question, (d,). The vector searches (`vdb`) take these steps in place of
    texts.

    Source: Survey, Sec. 6.3 (conversion)
    """
    vectors = encoder.encode(list(questions), kind="query")
    return [
        VectorStep("vector", f"the question as {len(row)} numbers", vector=row) for row in vectors
    ]
