"""Summaries: one description of an element out of all that was written about it, and the summary
of a cluster of texts, a virtual parent in a tree.
"""

from collections.abc import Iterable
from itertools import chain, zip_longest

from ..text.tokens import count_tokens
from .rules.names import sentences_of
from .task import Fields, Task

SUMMARISE_SYSTEM = (
    "You merge several descriptions of one thing into a single one. Keep every fact, say each once,"
    " resolve contradictions, write in the third person and name the thing. Reply with the"
    " description alone."
)
SUMMARISE_TEMPLATE = """Thing: $name

Descriptions:
$descriptions

Merge them into one description of at most $max_tokens tokens."""
MAX_TOKENS = 500


def read_summary(text: str) -> tuple[str, int]:
    """The reply as one line; an empty reply is ("", 1)."""
    summary = " ".join(text.split())
    return summary, int(not summary)


def sentences_up_to(texts: Iterable[str], max_tokens: int) -> str:
    """The sentences of the texts in order, each once, as long as they fit into `max_tokens`; the
    first always.
    """
    kept: list[str] = []
    used = 0
    for sentence in (" ".join(s.split()) for text in texts for s in sentences_of(text)):
        size = count_tokens(sentence)
        if sentence not in kept:
            if kept and used + size > max_tokens:
                break
            kept.append(sentence)
            used += size
    return " ".join(kept)


def summarise_by_rule(fields: Fields) -> str:
    """The sentences of all descriptions, repetitions left out, up to the limit: nothing is said
    shorter or better.
    """
    return sentences_up_to(fields["descriptions"], fields.get("max_tokens", MAX_TOKENS))


def show_summarise(fields: Fields) -> Fields:
    """The texts as one, and the default limit."""
    listed = "\n".join(f"- {text}" for text in fields["descriptions"])
    return {"max_tokens": MAX_TOKENS, **fields, "descriptions": listed}


SUMMARISE = Task(
    name="summarise",
    stage="build",
    system=SUMMARISE_SYSTEM,
    template=SUMMARISE_TEMPLATE,
    parse=read_summary,
    rule=summarise_by_rule,
    show=show_summarise,
)


CLUSTER_SUMMARY_SYSTEM = (
    "You summarise texts that belong together, keeping as many details as fit. Reply with the"
    " summary alone."
)
CLUSTER_SUMMARY_TEMPLATE = """Texts:

$texts

Summarise them in at most $max_tokens tokens."""
CLUSTER_MAX_TOKENS = 100


def cluster_summary_by_rule(fields: Fields) -> str:
    """The first sentence of every text, then the second of every text, and so on up to the limit: a
    digest, not a summary.
    """
    rounds = zip_longest(*map(sentences_of, fields["texts"]))
    sentences = [sentence for sentence in chain.from_iterable(rounds) if sentence]
    return sentences_up_to(sentences, fields.get("max_tokens", CLUSTER_MAX_TOKENS))


def show_cluster_summary(fields: Fields) -> Fields:
    """The texts as one, and the default limit."""
    return {"max_tokens": CLUSTER_MAX_TOKENS, **fields, "texts": "\n\n".join(fields["texts"])}


CLUSTER_SUMMARY = Task(
    name="cluster_summary",
    stage="build",
    system=CLUSTER_SUMMARY_SYSTEM,
    template=CLUSTER_SUMMARY_TEMPLATE,
    parse=read_summary,
    rule=cluster_summary_by_rule,
    max_tokens=300,
    show=show_cluster_summary,
)
