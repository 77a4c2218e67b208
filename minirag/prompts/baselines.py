"""What the baselines ask beside an answer: reasoning, a passage to search with, propositions.

`chain_of_thought` reasons from what the model knows and says the answer behind a fixed marker.
`thought` is the next sentence, given what was retrieved so far (IRCoT); one worked example stands
in its instruction, as in the released code: passages, a question and all thoughts that answer it.
`hypothetical_document` is a passage that would answer the question, true or not; only its vector is
used (HyDE). `propositions` splits a passage into statements that are atomic and can be understood
alone (Propositionizer).
"""

import json
import re
from string import Template

from ..text.chunking import sentences_of
from .answer import ANSWER_EXAMPLE, show_passages
from .entities_and_triples import EXAMPLE_FIELDS
from .json_replies import LONGEST, THOUGHT, read_distinct, read_line
from .task import Fields, Task

# Where a model goes on to ask itself something else.
NEXT = re.compile(r"\n[ \t*]*question[ \t*]{0,9}:", re.IGNORECASE)
MARKER = re.compile(r"\bthe answer is\b[ \t]*:?", re.IGNORECASE)


def read_chain_of_thought(text: str) -> tuple[str, int]:
    """What follows the last "The answer is", up to the end of its line; ("", 1) where the marker is
    missing or nothing follows.

    The marker is all that is read: a reply that reasons well and never says it counts as
    unreadable.
    """
    text = NEXT.split(THOUGHT.sub(" ", text[:LONGEST]), maxsplit=1)[0]
    marks = list(MARKER.finditer(text))
    if not marks:
        return "", 1
    line = text[marks[-1].end() :].strip().partition("\n")[0]
    answer = line.strip(" \t*`\"'").rstrip(".!").strip(" \t*`\"'")
    return answer, int(not answer)


CHAIN_OF_THOUGHT = Task(
    name="chain_of_thought",
    stage="answer",
    system=(
        "You answer questions from what you know. First reason in a few short sentences. Then write"
        ' one last sentence that starts with "The answer is" and holds the answer alone, as short'
        " as it can be."
    ),
    template="""Question: A bakery sells rolls in bags of six. How many bags are \
needed for 20 guests who eat two rolls each?
Reasoning: 20 guests who eat two rolls each eat 40 rolls. 40 divided by 6 is a little more than \
6, so six bags are too few. The answer is 7.

Question: Did the author of Frankenstein live to see the first underground railway in London?
Reasoning: Frankenstein was written by Mary Shelley. She died in 1851. The first underground \
railway in London opened in 1863. The answer is no.

Question: Into which sea does the river flow on which Vienna stands?
Reasoning: Vienna stands on the Danube. The Danube flows into the Black Sea. The answer is the \
Black Sea.

Question: $question
Reasoning:""",
    parse=read_chain_of_thought,
    needs_model=True,
    max_tokens=400,
)


THOUGHT_TEMPLATE = """Passages:

$passages

Question: $question
Thoughts so far: $thoughts"""


def show_thought(fields: Fields) -> Fields:
    """The passages, and the thoughts so far, as one text each."""
    return {**show_passages(fields), "thoughts": " ".join(fields["thoughts"]) or "(none yet)"}


CHAIN = (
    "Harrowgate Observatory was founded by Ilse Brandt.",
    "Ilse Brandt was born in Selm.",
    "So the answer is: Selm",
)
THOUGHT_SYSTEM = (
    "You reason towards an answer one sentence at a time. You see passages, a question and the "
    "sentences written so far. Write the one next sentence, using only facts from the passages. "
    'When the answer is reached, write "So the answer is:" and the answer. Here is a question with '
    "all its thoughts; write one at a time.\n\n"
    + Template(THOUGHT_TEMPLATE).substitute(show_thought({**ANSWER_EXAMPLE[0], "thoughts": CHAIN}))
)


NEXT_THOUGHT = Task(
    name="thought",
    stage="retrieve",
    system=THOUGHT_SYSTEM,
    template=THOUGHT_TEMPLATE,
    parse=read_line,
    needs_model=True,
    max_tokens=200,
    show=show_thought,
)


def read_hypothetical(text: str) -> tuple[str, int]:
    """The reply as one paragraph; an empty reply is ("", 1)."""
    return read_line(THOUGHT.sub(" ", text[:LONGEST]))


HYPOTHETICAL_DOCUMENT = Task(
    name="hypothetical_document",
    stage="retrieve",
    system=(
        "You write one short encyclopaedia passage that answers a question. If you do not know the"
        " answer, invent one that sounds right: the passage is used to find real passages like it"
        " and is never shown to anybody. Reply with the passage alone."
    ),
    template="Question: $question\n\nPassage:",
    parse=read_hypothetical,
    needs_model=True,
    max_tokens=300,
)


EXAMPLE_PROPOSITIONS = (
    "Harrowgate Observatory stands on Mount Orrin.",
    "Mount Orrin lies in northern Veldania.",
    "Harrowgate Observatory was founded in 1911.",
    "Harrowgate Observatory was founded by Ilse Brandt.",
    "Ilse Brandt discovered the comet Tamsin at Harrowgate Observatory.",
    "Harrowgate Observatory has belonged to the University of Selm since 1987.",
)


def read_propositions(text: str) -> tuple[tuple[str, ...], int]:
    """The propositions of a reply, in order, each once; a bare JSON list is read too."""
    return read_distinct(text, "propositions")


def propositions_by_rule(fields: Fields) -> str:
    """Every sentence with the title in front of it. Not propositions: a sentence with two facts
    stays whole, and the title only hints at who "she" is.
    """
    title = fields["title"].strip()
    sentences = [sentence.strip() for sentence in sentences_of(fields["text"])]
    named = [
        f"{title}: {s}" if title and title.lower() not in s.lower() else s for s in sentences if s
    ]
    return json.dumps({"propositions": list(dict.fromkeys(named)) or [title]}, ensure_ascii=False)


PROPOSITIONS = Task(
    name="propositions",
    stage="index",
    system=(
        "You split a passage into propositions. Each one is a single sentence that states one fact,"
        " and that can be understood without the others: take long sentences apart, and put names"
        " in the place of he, she, it, they, this and there. Leave nothing out and add nothing."
        " Reply with one JSON object and nothing else."
    ),
    template="""Write the propositions of this passage as {"propositions": [...]}.

Title: $title
Content: $text""",
    parse=read_propositions,
    rule=propositions_by_rule,
    max_tokens=2048,
    example=(EXAMPLE_FIELDS, json.dumps({"propositions": EXAMPLE_PROPOSITIONS})),
)
