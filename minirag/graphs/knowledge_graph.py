"""The open knowledge graph that HippoRAG calls its hippocampal index.

Differs from the released code in two choices: non-Latin names are kept (`script="unicode"`), and
names of which nothing is left are not (`empty_names="drop"`).
"""

from collections import defaultdict
from dataclasses import replace
from functools import partial

from ..algorithms.late_interaction import TokenVectors
from ..algorithms.synonyms import synonymy_pairs, token_synonymy_pairs
from ..core.errors import MiniragError
from ..core.graph import Edge, Graph, Node
from .extraction import well_formed
from .phrases import normalise_phrase


def knowledge_graph(chunks, extraction, script="unicode", empty_names="drop"):
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
    occurrences = defaultdict(list)
    mentions = defaultdict(list)
    for place, chunk in enumerate(chunks):
        for triple in well_formed(extraction, chunk.id, normalise, empty_names):
            occurrences[triple].append(place)
            mentions[triple.subject].append(place)
            mentions[triple.object].append(place)
    if not mentions:
        raise MiniragError(
            f"The {extraction!r} gave no usable triple for {len(chunks)} chunks: is the text empty, or the model's output malformed?"
        )
    position = {name: i for i, name in enumerate(mentions)}
    nodes = tuple(Node(name, chunks=tuple(places)) for name, places in mentions.items())
    edges = tuple(
        Edge(
            position[t.subject],
            position[t.object],
            t.relation,
            weight=float(len(places)),
            chunks=tuple(places),
        )
        for t, places in occurrences.items()
    )
    return Graph("knowledge", extraction.source, nodes, edges, tuple(chunks))


def with_synonymy(graph, vectors, threshold=0.8, strict=True, min_letters=0, max_neighbours=None):
    """The graph with a synonymy edge from each node to every other whose name is at least
    `threshold` close.

    `vectors` is (nodes, d), L2-normalised, and an edge's weight the cosine; or it is
    `TokenVectors`, and the weight the normalised MaxSim, which differs between the two directions
    of a pair. `strict` asks for more than the threshold, as the paper writes; the released code
    accepts equality, skips source phrases of `min_letters` = 2 letters or fewer, and keeps the
    best `max_neighbours` = 101 of a phrase, so that a pair may be joined in one direction only.

    Source: Wang, Sec. IV-B (hippo-synonymy)
    """
    search = token_synonymy_pairs if isinstance(vectors, TokenVectors) else synonymy_pairs
    sources, targets, scores = search(vectors, threshold, max_neighbours, strict=strict)
    long_enough = [sum(c.isalnum() for c in node.name) > min_letters for node in graph.nodes]
    synonyms = tuple(
        Edge(int(i), int(j), "synonymous with", weight=float(score), kind="synonymy")
        for i, j, score in zip(sources, targets, scores)
        if long_enough[i]
    )
    relations = tuple(edge for edge in graph.edges if edge.kind == "relation")
    return replace(graph, edges=relations + synonyms)
