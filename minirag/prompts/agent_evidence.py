"""What KGP and DALK ask of a language model: the evidence to look for next, the triples that a
question needs, and triples as sentences.
"""

import re
from functools import partial

from ..text.chunking import sentences_of
from .json_replies import LONGEST, THOUGHT, read_line
from .map_reduce import content_words, stems
from .rules import names_of_passage
from .task import Fields, Task

ARROW = re.compile(r"\s*(<[-—–]+|[-—–]+>|→|←)\s*")
NEXT = re.compile(r"\A\W*next evidence\W*[:：]", re.IGNORECASE)
LINES = re.IGNORECASE | re.MULTILINE
OPENING = r"^[^\w\n]*(?:\d{1,3}[.)][^\w\n]*)?"
NUMBER = r"[ \t]*\d{0,9}[ \t]*[:：](.*)$"
RANKED = re.compile(f"{OPENING}reranked triples?{NUMBER}", LINES)
STATED = re.compile(f"{OPENING}(?:path|neighbou?r)-based evidence{NUMBER}", LINES)
NONE = "none"
BY_RULE = "Written by rule, no language model: names and relations in their order."


def read_next_evidence(text: str) -> tuple[str, int]:
    """The reply as one line, without the words "Next evidence:"; an empty reply is ("", 1)."""
    return read_line(NEXT.sub("", THOUGHT.sub(" ", text[:LONGEST])))


def next_evidence_by_rule(fields: Fields) -> str:
    """The question's words that the passage lacks, then the names in the passage that the question
    lacks. Words to search with, no sentence.
    """
    question, passage = fields["question"], fields["passage"]
    title, _, text = passage.partition("\n")
    known, asked = content_words(passage), content_words(question)
    lacked = [word for word in re.findall(r"\w+", question) if content_words(word) - known]
    parts = [title, *sentences_of(text)]
    names = [part[a:b] for part in parts for a, b in names_of_passage(part, title, text)]
    new = [name for name in names if content_words(name) - asked]
    lacked = list(dict.fromkeys([*lacked, *new]))
    return f"Next evidence: {' '.join(lacked)}"


NEXT_EVIDENCE = Task(
    name="next_evidence", stage="retrieve", parse=read_next_evidence, rule=next_evidence_by_rule,
    system=(
        "You collect evidence for a question, passage by passage. You see the question and a"
        " passage that was found. Write one sentence that says what the next passage should state"
        " so that both together answer the question. It is only used to search, so name people,"
        " places and things. Do not repeat what the passage already says."
    ),
    template="Question: $question\n\nPassage:\n$passage\n\nNext evidence:", max_tokens=100,
)  # fmt: skip


def plain_arrows(text: str) -> str:
    """A path's text with one form of arrow, letters in lower case."""
    text = ARROW.sub(lambda arrow: " <- " if arrow[1][0] in "<←" else " -> ", text)
    return " ".join(text.lower().split()).strip("\"'`* .")


def read_ranked(text: str) -> tuple[tuple[str, ...], int]:
    """What follows each "Reranked Triple n:" of a reply, in order and each once, as `plain_arrows`
    writes it; ("none",) where the reply is "none", ((), 1) where nothing can be read.
    """
    text = THOUGHT.sub(" ", text[:LONGEST])
    found = [plain_arrows(line) for line in RANKED.findall(text)]
    found = found or [NONE] * (plain_arrows(text) == NONE)
    kept = tuple(dict.fromkeys(line for line in found if line))
    return kept, found.count("") or int(not kept)


def rerank_by_rule(fields: Fields) -> str:
    """The evidence that shares words with what the question asks beside the names that it gives,
    most words first; all of it where none shares any. At most as many lines as asked for.
    """
    asked, offered = stems(fields["question"]), list(dict.fromkeys(fields["evidence"]))
    names = [stems(name) for line in offered for name in ARROW.split(line)[::4]]
    wanted = asked.difference(*(name for name in names if name <= asked))
    shared = {line: len(wanted & stems(line)) for line in offered}
    best = sorted(filter(shared.get, offered), key=lambda line: -shared[line]) or offered
    rows = [f"Reranked Triple {i}: {line}" for i, line in enumerate(best[: fields["most"]], 1)]
    return "\n".join(rows) or NONE


def show_evidence(fields: Fields) -> Fields:
    """The evidence, one to a line."""
    return {**fields, "evidence": "\n".join(fields["evidence"])}


evidence_task = partial(Task, max_tokens=512, show=show_evidence)
RERANK_EVIDENCE = evidence_task(
    name="rerank_evidence", stage="retrieve", parse=read_ranked, rule=rerank_by_rule,
    system=(
        "You see evidence from a knowledge graph, one path or fact to a line, and a question. Keep"
        " only the lines that help to answer the question, the most helpful one first. Copy each"
        ' of them, unchanged, on a line of its own that starts with "Reranked Triple 1:",'
        ' "Reranked Triple 2:" and so on. Where no line helps, reply "none".'
    ),
    template="Evidence:\n$evidence\n\nQuestion: $question\n\nKeep at most $most lines.",
    example=(
        {
            "evidence": [
                "Harrowgate Observatory -> stands on -> Mount Orrin",
                "Harrowgate Observatory -> founded by -> Ilse Brandt -> born in -> Selm",
            ],
            "question": "In which town was the founder of Harrowgate Observatory born?",
            "most": 5,
        },
        "Reranked Triple 1: Harrowgate Observatory -> founded by -> Ilse Brandt -> born in -> Selm",
    ),
)  # fmt: skip


def read_stated(text: str) -> tuple[tuple[str, ...], int]:
    """What follows each "Path-based Evidence n:" or "Neighbor-based Evidence n:", in order; a reply
    without any is ((), 1).
    """
    found = [line.strip() for line in STATED.findall(THOUGHT.sub(" ", text[:LONGEST]))]
    kept = tuple(line for line in found if line)
    return kept, found.count("") or int(not kept)


def state_by_rule(fields: Fields) -> str:
    """Each step of each path as a sentence of its subject, relation and object."""
    rows = [BY_RULE]
    for number, line in enumerate(fields["evidence"], start=1):
        names = ARROW.split(line)
        steps = [names[at : at + 5] for at in range(0, len(names) - 4, 4)]
        ordered = [step[::-1] if step[1][0] in "<←" else step for step in steps]
        said = " ".join(f"{step[0]} {step[2]} {step[4]}." for step in ordered)
        rows.append(f"{fields['kind']}-based Evidence {number}: {said or line}")
    return "\n".join(rows)


STATE_PATHS = evidence_task(
    name="state_paths", stage="answer", parse=read_stated, rule=state_by_rule,
    system=(
        "You turn paths of a knowledge graph into plain sentences. An arrow goes from subject to"
        " relation and from relation to object. Write one line for each path, in the given order,"
        " that says all that the path says and nothing else."
    ),
    template=(
        "Question that the paths belong to: $question\n\nPaths:\n$evidence\n\n"
        'Start each line with "$kind-based Evidence 1:", "$kind-based Evidence 2:" and so on.'
    ),
)  # fmt: skip
EVIDENCE_TASKS = (NEXT_EVIDENCE, RERANK_EVIDENCE, STATE_PATHS)
