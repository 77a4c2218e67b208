"""What LightRAG and PathRAG share: from a corpus to a rich graph, to elements, to text."""

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

from ..algorithms.packing import prefix
from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..core.graph import Graph
from ..core.options import as_tuples
from ..core.trace import ContextStep
from ..graphs import extract_elements, given_elements, rich_knowledge_graph
from ..text.tokens import count_tokens


def rich_graph_of(
    corpus, llm, extraction=None, pairs="undirected", executor=None, gleanings=1, **asked
):
    """The rich knowledge graph of a corpus.

    extraction: None lets `llm` read the text; "annotations" takes the hand-written elements of a
    shipped corpus, or where it has none its hand-written triples; `Elements`, an `Extraction`, or a
    whole `Graph` are used as they are.
    gleanings, **asked: of `extract_elements`.
    """
    if isinstance(extraction, Graph):
        return extraction
    if extraction is None:
        asked |= {"gleanings": gleanings, "executor": executor}
        elements = extract_elements(corpus, llm, rich=True, **asked)
    else:
        elements = given_elements(corpus, extraction, llm, executor)
    return rich_knowledge_graph(corpus.chunks, elements, llm, pairs=pairs, executor=executor)


def search_nonempty(texts, vdb, index, k, blank):
    """The steps of the vector search `vdb` for a batch of texts; `blank` for an empty one."""
    found = iter(vdb([text for text in texts if text], index, k) if any(texts) else ())
    return [next(found) if text else blank for text in texts]


def drop_below(step, key, cutoff):
    """The step of a vector search without the rows of `data[key]` whose cosine (last in a row) is
    below `cutoff`; None keeps all."""
    if cutoff is None:
        return step
    rows = [row for row in step.data[key] if row[-1] >= cutoff]
    summary = f"{step.summary}, of which {len(rows)} with a cosine of {cutoff:g} or more"
    items = tuple(item for item in step.items if item[1] >= cutoff)
    return replace(step, summary=summary, items=items, data={**step.data, key: rows})


def entity_row(graph, place):
    """A node as a line of the context: name (type): description."""
    node = graph.nodes[place]
    kind = f" ({node.type})" if node.type else ""
    return f"{node.name}{kind}{f': {node.description}' if node.description else ''}"


def relation_row(graph, place):
    """An edge as a line of the context: source — target [keywords]: name and description."""
    edge = graph.edges[place]
    ends = f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}"
    keywords = f" [{edge.keywords}]" if edge.keywords else ""
    text = " ".join(filter(None, (edge.name, edge.description)))
    return f"{ends}{keywords}{f': {text}' if text else ''}"


def count_with(count, text):
    """Tokens of a text; count is a tokenizer's name, or a function text -> tokens."""
    return count(text) if callable(count) else count_tokens(text, count)


def fitting(items, text_of, budget, count):
    """The first items whose texts fit into a budget of tokens; all where it is None."""
    if budget is None:
        return items
    return items[: prefix([count_with(count, text_of(item)) for item in items], budget)]


def degrees(graph):
    """Position of a node -> its degree, in and out; several relations of a pair are one."""
    pairs = {(edge.source, edge.target) for edge in graph.edges if edge.kind == "relation"}
    return Counter(end for pair in pairs for end in pair)


def cited_by_relations(graph, relations):
    """Passages in the order of the relations that were read from them."""
    return list(dict.fromkeys(i for place in relations for i in graph.edges[place].chunks))


def fill(sections, count):
    """`(sections, step)`: each section cut at the first text that its budget does not hold.

    sections: name -> (texts, budget); a budget is a number of tokens, None (no limit), or a
    function of the tokens that the sections before it took.

    Source: Survey, Sec. 6.3 (generation)
    """
    kept, summaries, tokens = {}, [], 0
    for name, (texts, budget) in sections.items():
        sizes = [count_with(count, text) for text in texts]
        limit = budget(tokens) if callable(budget) else budget
        fit = len(texts) if limit is None else prefix(sizes, limit)
        kept[name] = list(texts[:fit])
        tokens += sum(sizes[:fit])
        within = "" if limit is None else f" in {limit} tokens"
        summaries.append(f"{fit} of {len(texts)} {name}{within}")
    rows = {name: len(texts) for name, texts in kept.items()}
    summary = f"{'; '.join(summaries)}; {tokens} tokens"
    return kept, ContextStep("context", summary, sections=rows, tokens=tokens)


def save(graph, choices, folder):
    """Write graph and choices to a folder, in open formats; the choices last, so that a killed run
    leaves nothing that loads.
    """
    graph.save(Path(folder) / "graph")
    plain = {name: value for name, value in asdict(choices).items() if not callable(value)}
    write_atomic(Path(folder) / "choices.json", json.dumps(plain, indent=1) + "\n")


def load(folder, kind):
    """`(Graph, choices as a dict)` of what `save` wrote. Raises `MiniragError` where the folder
    holds no complete index.
    """
    folder = Path(folder)
    if not (folder / "choices.json").is_file():
        raise MiniragError(
            f"{folder} holds no saved {kind} index: choices.json is missing. Build it again."
        )
    choices = json.loads((folder / "choices.json").read_text(encoding="utf-8"))
    return Graph.load(folder / "graph"), {name: as_tuples(value) for name, value in choices.items()}
