"""Task: one answer out of the partial answers that scored best."""

from .task import Task

INSTRUCTIONS = (
    "Merge what they say into a full answer that treats every side of the question they bear on. "
    "Keep every reference in square brackets as it is, leave out what does not help, and use "
    "nothing else. Reply with the answer alone."
)
SYSTEM = (
    "You write one answer to a question out of the partial answers of several analysts, each of "
    f"whom read another part of a collection and scored its own answer. {INSTRUCTIONS}"
)
TEMPLATE = """Partial answers, the best first:

$context

Question: $question"""
NOTICE = "Quoted by rule, no language model, from the partial answers that overlap most with the question's words:"
MOST_LINES = 8


def block(number, answer):
    """One partial answer, `(text, score)`, as it stands in the window."""
    return f"Analyst {number} (score {answer[1]:g}):\n{answer[0]}"


def show(fields):
    return {
        **fields,
        "context": "\n\n".join(
            block(i, answer) for i, answer in enumerate(fields["answers"], start=1)
        ),
    }


def parse(text):
    """The reply; an empty one is ("", 1)."""
    return text.strip(), int(not text.strip())


def rule(fields):
    """The partial answers below each other, the best first, each once and at most eight: nothing is
    merged.
    """
    lines = [
        f"- {text}"
        for text in dict.fromkeys(" ".join(text.split()) for text, _ in fields["answers"])
    ]
    return "\n".join([NOTICE, *lines[:MOST_LINES]])


TASK = Task(
    name="reduce_answer",
    stage="answer",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=2000,
    show=show,
)
