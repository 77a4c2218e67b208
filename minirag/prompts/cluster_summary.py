"""Task: the summary of a cluster of texts, a virtual parent in a tree."""

from itertools import chain, zip_longest

from .rules.spans import sentences_of
from .summarise import parse, sentences_up_to
from .task import Task

SYSTEM = "You summarise texts that belong together, keeping as many details as fit. Reply with the summary alone."
TEMPLATE = """Texts:

$texts

Summarise them in at most $max_tokens tokens."""
MAX_TOKENS = 100


def rule(fields):
    """The first sentence of every text, then the second of every text, and so on up to the limit: a
    digest, not a summary.
    """
    rounds = zip_longest(*map(sentences_of, fields["texts"]))
    return sentences_up_to(
        [s for s in chain.from_iterable(rounds) if s], fields.get("max_tokens", MAX_TOKENS)
    )


def show(fields):
    return {"max_tokens": MAX_TOKENS, **fields, "texts": "\n\n".join(fields["texts"])}


TASK = Task(
    name="cluster_summary",
    stage="build",
    system=SYSTEM,
    template=TEMPLATE,
    parse=parse,
    rule=rule,
    max_tokens=300,
    show=show,
)
