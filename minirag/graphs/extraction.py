"""Reading entities and triples out of chunks: a model, a rule, or somebody's published work."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Literal

from ..core.corpus import Corpus, Extraction, Triple
from ..core.errors import MiniragError
from ..llm.base import LLM

EmptyNames = Literal["drop", "keep"]


def extract(corpus: Corpus, llm: LLM, executor: Executor | None = None) -> Extraction:
    """Ask `llm` for each chunk's entities, then for its triples given the entities.

    Two calls a chunk. `executor` is any `concurrent.futures.Executor`; without one the chunks go
    one by one.

    Source: Wang, Sec. IV-B (hippo-ner-openie)
    """
    fields = [{"title": chunk.title, "text": chunk.text} for chunk in corpus.chunks]
    entities = llm.map("passage_entities", fields, executor=executor, description="entities")
    fields = [{**given, "entities": found} for given, found in zip(fields, entities)]
    triples = llm.map("triples", fields, executor=executor, description="triples")
    ids = [chunk.id for chunk in corpus.chunks]
    return Extraction(
        llm.name, dict(zip(ids, map(tuple, entities))), dict(zip(ids, map(tuple, triples)))
    )


def choose_extraction(
    corpus: Corpus, extraction: Extraction | str | None, llm: LLM, executor: Executor | None = None
) -> Extraction:
    """The extraction a graph is built from: the one given, one that came with the corpus (by name),
    or a fresh one by `llm`.
    """
    if isinstance(extraction, Extraction):
        return extraction
    if extraction is None:
        return extract(corpus, llm, executor)
    if extraction not in corpus.extractions:
        known = ", ".join(map(repr, corpus.extractions)) or "none"
        raise MiniragError(
            f"Corpus {corpus.name!r} has no extraction {extraction!r}; it has: {known}. Leave "
            "extraction out to let the language model, or the offline rule, read the text."
        )
    return corpus.extractions[extraction]


def well_formed(
    extraction: Extraction,
    chunk_id: str,
    normalise: Callable[[str], str],
    empty_names: EmptyNames = "drop",
) -> Iterator[Triple]:
    """The triples of one chunk, normalised. Those whose subject or object loses all its letters
    are left out, or kept with the empty name.
    """
    for triple in extraction.triples.get(chunk_id, ()):
        subject, relation, obj = (normalise(part) for part in triple)
        if (subject and obj) or empty_names == "keep":
            yield Triple(subject, relation, obj)
