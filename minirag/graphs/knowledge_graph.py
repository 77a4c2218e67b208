"""The open knowledge graph that HippoRAG calls its hippocampal index; and its entities and triples,
read out of chunks by a model, a rule, or in somebody's published work.

Differs from the released code in two choices: non-Latin names are kept (`script="unicode"`), and
names of which nothing is left are not (`empty_names="drop"`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms.late_interaction import TokenVectors
from ..algorithms.synonyms import synonymy_pairs, token_synonymy_pairs
from ..core.corpus import Chunk, Corpus, Extraction, Triple
from ..core.errors import MiniragError
from ..core.graph import Edge, Graph, Node
from ..llm.base import LLM

Script = Literal["unicode", "ascii", "as written"]
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


def normalise_phrase(phrase: str, script: Script = "unicode") -> str:
    """Lower-case a phrase and turn everything but letters, marks, digits and spaces into a space.

    `script="unicode"` keeps the letters of every script. `script="ascii"` keeps A-Z, a-z and 0-9
    only, as HippoRAG's
    released code does: there "São Paulo" becomes "s o paulo" and "北京" becomes the empty string.
    `script="as written"` only squeezes blanks: for a curated graph whose names are right already.

    Source: Wang, Sec. IV-B (hippo-ner-openie)
    """
    if script == "as written":
        return " ".join(phrase.split())
    if script == "ascii":
        return re.sub("[^A-Za-z0-9 ]", " ", phrase.lower()).strip()
    letters = unicodedata.normalize("NFC", phrase).lower()
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in letters).strip()


def knowledge_graph(
    chunks: Sequence[Chunk],
    extraction: Extraction,
    script: Script = "unicode",
    empty_names: EmptyNames = "drop",
) -> Graph:
    """Build a graph whose nodes are the subjects and objects of triples and whose edges are the
    distinct triples.

    An edge remembers the chunk of each of its occurrences, and its weight is their number. An
    entity that stands in no triple is no node. `empty_names="keep"` makes one node of all names of
    which normalisation leaves nothing, as the released code does; "drop" leaves their triples out.
    Raises `MiniragError` when no triple is left, since nothing could be retrieved from an empty
    graph.

    Source: Wang, Sec. IV-B (hippo-ner-openie); Survey, Sec. 4 (graphs)
    """
    normalise = partial(normalise_phrase, script=script)
    occurrences: defaultdict[Triple, list[int]] = defaultdict(list)
    mentions: defaultdict[str, list[int]] = defaultdict(list)
    for place, chunk in enumerate(chunks):
        for stated in extraction.triples.get(chunk.id, ()):
            triple = Triple(*map(normalise, stated))
            if (triple.subject and triple.object) or empty_names == "keep":
                occurrences[triple].append(place)
                mentions[triple.subject].append(place)
                mentions[triple.object].append(place)
    if not mentions:
        raise MiniragError(
            f"The {extraction!r} gave no usable triple for {len(chunks)} chunks: "
            "is the text empty, or the model's output malformed?"
        )
    nodes = tuple(Node(name, chunks=tuple(places)) for name, places in mentions.items())
    position = {name: i for i, name in enumerate(mentions)}
    edges = tuple(
        Edge(position[start], position[end], name, weight=float(len(places)), chunks=tuple(places))
        for (start, name, end), places in occurrences.items()
    )
    return Graph("knowledge", extraction.source, nodes, edges, tuple(chunks))


def with_synonymy(
    graph: Graph,
    vectors: NDArray[np.float32] | TokenVectors,
    threshold: float = 0.8,
    strict: bool = True,
    min_letters: int = 0,
    max_neighbours: int | None = None,
) -> Graph:
    """The graph with a synonymy edge from each node to every other whose name is at least
    `threshold` close.

    `vectors` is (nodes, d), L2-normalised, and an edge's weight the cosine; or it is
    `TokenVectors`, and the weight the normalised MaxSim, which differs between the two directions
    of a pair. `strict` asks for more than the threshold, as the paper writes; the released code
    accepts equality, skips source phrases of `min_letters` = 2 letters or fewer, and keeps the
    best `max_neighbours` = 101 of a phrase, so that a pair may be joined in one direction only.

    Source: Wang, Sec. IV-B (hippo-synonymy)
    """
    if isinstance(vectors, TokenVectors):
        found = token_synonymy_pairs(vectors, threshold, max_neighbours, strict)
    else:
        found = synonymy_pairs(vectors, threshold, max_neighbours, strict=strict)
    long_enough = [sum(c.isalnum() for c in node.name) > min_letters for node in graph.nodes]
    synonyms = tuple(
        Edge(int(i), int(j), "synonymous with", weight=float(score), kind="synonymy")
        for i, j, score in zip(*found)
        if long_enough[i]
    )
    relations = tuple(edge for edge in graph.edges if edge.kind == "relation")
    return replace(graph, edges=relations + synonyms)
