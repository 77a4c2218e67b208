"""Chain-of-Knowledge: two rationales and an answer, the sources to check them with, each rationale
corrected by what a source holds, and the answer that follows from the corrected ones.

All but the choice of sources ask for what a model knows or concludes, so no rule can answer them.
"""

import re
from functools import partial
from typing import NamedTuple

from .baselines import read_chain_of_thought
from .json_replies import LONGEST, THOUGHT, read_distinct, read_line
from .task import Fields, Task

FIRST = re.compile(r"\bfirst[,:]", re.IGNORECASE)
SECOND = re.compile(r"\bsecond[,:]", re.IGNORECASE)
ANSWER = re.compile(r"\b(?:therefore, |so |thus, )?the answer is\b[ \t]*:?", re.IGNORECASE)


class Rationales(NamedTuple):
    """Two sentences of reasoning and the answer; "" for what a reply lacks."""

    first: str = ""
    second: str = ""
    answer: str = ""


def read_rationales(text: str) -> tuple[Rationales, int]:
    """What follows "First,", "Second," and the first "The answer is"; a reply without an answer, or
    without both rationales, counts as one that broke the format, and what it has is kept.
    """
    text = THOUGHT.sub(" ", text[:LONGEST])
    reasoning, *said = ANSWER.split(text, maxsplit=1)
    answer = read_chain_of_thought("The answer is " + ANSWER.split(said[0])[0])[0] if said else ""
    opening, *rest = SECOND.split(reasoning, maxsplit=1)
    second = " ".join(rest[0].split()) if rest else ""
    start = FIRST.search(opening)
    first = " ".join(opening[start.end() :].split()) if start else ""
    found = Rationales(first, second, answer)
    return found, int(not all(found))


from_model = partial(Task, stage="retrieve", parse=read_line, needs_model=True, max_tokens=150)
TWO_RATIONALES = from_model(
    name="two_rationales", parse=read_rationales, max_tokens=200,
    system=(
        "You answer questions from what you know, in three sentences on one line. The first starts"
        ' with "First," and states one fact. The second starts with "Second," and states the fact'
        ' that leads on to the answer. The third starts with "The answer is" and holds the answer'
        " alone. Where you do not know, make your best guess, and keep the form."
    ),
    template="Question: $question",
    example=(
        {"question": "Into which sea does the river flow on which Vienna stands?"},
        (
            "First, Vienna stands on the Danube. Second, the Danube flows into the Black Sea. The"
            " answer is the Black Sea."
        ),
    ),
)  # fmt: skip


def read_sources(text: str) -> tuple[tuple[str, ...], int]:
    """The names of sources in a reply, {"sources": [...]} or a bare list, each once."""
    names, dropped = read_distinct(text, "sources")
    return tuple(dict.fromkeys(name.lower() for name in names)), dropped


def show_sources(fields: Fields) -> Fields:
    """The sources offered, a line each."""
    lines = [f"- {name}: {about}" for name, about in fields["sources"].items()]
    return {**fields, "sources": "\n".join(lines)}


def every_source(fields: Fields) -> str:
    """All of them, whatever the question."""
    listed = ", ".join(f'"{name}"' for name in fields["sources"])
    return f'{{"sources": [{listed}]}}'


CHOOSE_SOURCES = Task(
    name="choose_sources",
    stage="retrieve",
    system=(
        "You choose the sources of knowledge in which the facts behind an answer should be looked"
        ' up. Reply with one JSON object, {"sources": [...]}, that names one or more of those'
        " offered, and nothing else."
    ),
    template="Sources:\n$sources\n\nQuestion: $question",
    parse=read_sources,
    rule=every_source,
    max_tokens=60,
    show=show_sources,
)

CORRECT_RATIONALE = from_model(
    name="correct_rationale",
    system=(
        "You are given a question, one sentence of reasoning towards its answer, and knowledge from"
        " reliable sources. Rewrite the sentence so that it agrees with the knowledge: correct what"
        " is wrong, add the name or number that the knowledge gives, and leave the sentence as it"
        " is where the knowledge says nothing about it. Reply with the sentence alone."
    ),
    template="Question: $question\n\nKnowledge:\n$knowledge\n\nSentence: $rationale",
)

NEXT_RATIONALE = from_model(
    name="next_rationale",
    system=(
        "You reason towards the answer of a question in two sentences. The first is given and can"
        " be relied on. Write the second: the fact that leads from it to the answer. Where you do"
        " not know the fact, make your best guess. Reply with the sentence alone."
    ),
    template="Question: $question\nFirst sentence: $first\nSecond sentence:",
)

CONSOLIDATE = from_model(
    name="consolidate", stage="answer", parse=read_chain_of_thought, max_tokens=60,
    system=(
        "You are given a question and two sentences that were checked against reliable sources."
        " Answer the question from them, even where they are not complete. Write one sentence that"
        ' starts with "The answer is" and holds the answer alone, as short as it can be.'
    ),
    template="Question: $question\nFirst, $first\nSecond, $second",
)  # fmt: skip
RATIONALE_TASKS = (TWO_RATIONALES, CHOOSE_SOURCES, CORRECT_RATIONALE, NEXT_RATIONALE, CONSOLIDATE)
