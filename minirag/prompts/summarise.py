"""Task: one description of an element out of all that was written about it."""

from ..text.tokens import count_tokens
from .rules.spans import sentences_of
from .task import Task

SYSTEM = (
    "You merge several descriptions of one thing into a single one. Keep every fact, say each once, resolve contradictions, write in the "
    "third person and name the thing. Reply with the description alone."
)
TEMPLATE = """Thing: $name

Descriptions:
$descriptions

Merge them into one description of at most $max_tokens tokens."""
MAX_TOKENS = 500


def parse(text):
    """The reply as one line; an empty reply is ("", 1)."""
    summary = " ".join(text.split())
    return summary, int(not summary)


def sentences_up_to(texts, max_tokens):
    """The sentences of the texts in order, each once, as long as they fit into `max_tokens`; the
    first always.
    """
    kept, used = {}, 0
    for sentence in (" ".join(s.split()) for text in texts for s in sentences_of(text)):
        size = count_tokens(sentence)
        if sentence not in kept:
            if kept and used + size > max_tokens:
                break
            kept[sentence], used = size, used + size
    return " ".join(kept)


def rule(fields):
    """The sentences of all descriptions, repetitions left out, up to the limit: nothing is said
    shorter or better.
    """
    return sentences_up_to(fields["descriptions"], fields.get("max_tokens", MAX_TOKENS))


def show(fields):
    listed = "\n".join(f"- {text}" for text in fields["descriptions"])
    return {"max_tokens": MAX_TOKENS, **fields, "descriptions": listed}


TASK = Task(
    name="summarise",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    show=show,
)
