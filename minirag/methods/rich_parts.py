"""What LightRAG and PathRAG share: from a corpus to a rich graph, from a question to keywords, from elements to text."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal, get_args

from ..algorithms.packing import prefix
from ..build import Elements, choose_extraction, extract_elements, rich_knowledge_graph
from ..build.annotated import annotated_elements
from ..corpus import Extraction
from ..graph import Graph
from ..prompts.keywords import Keywords
from ..results import Step
from ..tokens import count_tokens
from ..utils import MiniragError, write_atomic
from .graphrag_parts import elements_of

Empty = Literal["question", "short question", "nothing"]
SHORT = 50  # characters


def rich_graph_of(
    corpus, llm, extraction=None, gleanings=1, pairs="undirected", executor=None, order=None
):
    """The rich knowledge graph of a corpus.

    extraction: None lets `llm` read the text; "annotations" takes the hand-written elements of a shipped corpus, or where it has none its
    hand-written triples; `Elements`, an `Extraction`, or a whole `Graph` are used as they are.
    gleanings, order: of `extract_elements`.
    """
    if isinstance(extraction, Graph):
        return extraction
    if extraction is None:
        asked = {"gleanings": gleanings, "order": order, "executor": executor}
        extraction = extract_elements(corpus, llm, rich=True, **asked)
    elif extraction == "annotations":
        extraction = annotated_elements(corpus) or choose_extraction(corpus, extraction, llm, executor)
    elif not isinstance(extraction, Elements):
        extraction = choose_extraction(corpus, extraction, llm, executor)
    if isinstance(extraction, Extraction):
        extraction = elements_of(extraction)
    return rich_knowledge_graph(corpus.chunks, extraction, llm, pairs=pairs, executor=executor)


def ask_keywords(llm, questions, empty="question"):
    """A "keywords" step a question, `data` with "high" and "low".

    empty: what stands in for a level without keywords. "question": the question itself. "short question" (LightRAG's late code): if both
    levels are empty, a question of fewer than 50 characters becomes the low level; nothing else is replaced. "nothing" (PathRAG's code): if
    either level is empty, both are, and the method retrieves nothing.
    """
    if empty not in get_args(Empty):
        raise MiniragError(f"empty={empty!r}: expected one of {', '.join(map(repr, get_args(Empty)))}.")
    steps = []
    for question, found in zip(questions, llm.map("keywords", [{"question": q} for q in questions], description="keywords")):
        high, low = stand_in(question, found or Keywords(), empty)
        said = f"high level: {', '.join(high) or 'none'}; low level: {', '.join(low) or 'none'}"
        steps.append(Step("keywords", said, (), {"high": high, "low": low, "given": tuple(found or Keywords())}))
    return steps


def stand_in(question, found, empty):
    high, low = tuple(found.high), tuple(found.low)
    if empty == "question":
        return high or (question,), low or (question,)
    if empty == "nothing":
        return (high, low) if high and low else ((), ())
    return (high, (question,)) if not (high or low) and len(question) < SHORT else (high, low)


def where_any(texts, operator, blank):
    """Run an operator that takes a batch of texts on those that are not empty; the others get the step `blank`."""
    found = iter(operator([text for text in texts if text]) if any(texts) else ())
    return [next(found) if text else blank for text in texts]


def above(step, key, cutoff):
    """A vdb step without what is not nearer than `cutoff` (a cosine; None keeps all); scores come last in a row."""
    if cutoff is None:
        return step
    rows = [row for row in step.data[key] if row[-1] > cutoff]
    said = f"{step.summary}, of which {len(rows)} above {cutoff:g}"
    return replace(step, summary=said, items=tuple(item for item in step.items if item[1] > cutoff), data={**step.data, key: rows})


def entity_row(graph, place):
    one = graph.nodes[place]
    return f"{one.name}{f' ({one.type})' if one.type else ''}{f': {one.description}' if one.description else ''}"


def relation_row(graph, place):
    edge = graph.edges[place]
    ends = f"{graph.nodes[edge.source].name} — {graph.nodes[edge.target].name}"
    said = " ".join(filter(None, (edge.name, edge.description)))
    return f"{ends}{f' [{edge.keywords}]' if edge.keywords else ''}{f': {said}' if said else ''}"


def count_with(count, text):
    """Tokens of a text; count is a tokenizer's name, or a function text -> tokens."""
    return count(text) if callable(count) else count_tokens(text, count)


def fill(sections, count):
    """`(sections, step)`: each section cut at the first text that its budget does not hold. sections: name -> (texts, budget or None).

    Source: Survey, Sec. 6.3 (generation)
    """
    kept, said, tokens = {}, [], 0
    for name, (texts, budget) in sections.items():
        sizes = [count_with(count, text) for text in texts]
        fit = len(texts) if budget is None else prefix(sizes, budget)
        kept[name] = list(texts[:fit])
        tokens += sum(sizes[:fit])
        said.append(f"{fit} of {len(texts)} {name}" + ("" if budget is None else f" in {budget} tokens"))
    return kept, Step("context", f"{'; '.join(said)}; {tokens} tokens", (), {"sections": {name: len(texts) for name, texts in kept.items()}, "tokens": tokens})


def save(graph, choices, folder):
    """Write graph and choices to a folder, in open formats; the choices last, so that a killed run leaves nothing that loads."""
    graph.save(Path(folder) / "graph")
    plain = {name: value for name, value in asdict(choices).items() if not callable(value)}
    write_atomic(Path(folder) / "choices.json", json.dumps(plain, indent=1) + "\n")


def load(folder, kind):
    """`(Graph, choices as a dict)` of what `save` wrote. Raises `MiniragError` where the folder holds no complete index."""
    folder = Path(folder)
    if not (folder / "choices.json").is_file():
        raise MiniragError(f"{folder} holds no saved {kind} index: choices.json is missing. Build it again.")
    return Graph.load(folder / "graph"), json.loads((folder / "choices.json").read_text(encoding="utf-8"))
