"""`minirag compare`: what several methods retrieve for the same question."""

from typing import Optional

import typer

from .app import app, split_names
from .ask import CORPUS, ENCODER, EXTRACTION, GOLD_NOTE, LLM, NOTHING, gold_of, graph_line, not_empty
from .models import check_needs, encoder_named, open_llm
from .opening import open_corpus, open_index, options_for
from .show import columns, say

DEFAULT = ("bm25", "dense", "hipporag", "graphrag-local")  # words, vectors, a walk over a graph, entities and their reports


@app.command()
def compare(
    corpus: str = CORPUS,
    question: str = typer.Argument(help="In quotes."),
    methods: Optional[str] = typer.Option(None, help=f"Names with commas between them; by default {','.join(DEFAULT)}."),
    llm: str = LLM,
    encoder: str = ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages."),
    base_url: Optional[str] = typer.Option(None, help="The address of an OpenAI-compatible server."),
    extraction: Optional[str] = EXTRACTION,
):
    """See the passages of several methods side by side.

    Where the terminal is too narrow for that they stand one below the other. Passages with score 0 are left out.
    """
    from ..methods import METHODS

    not_empty(question)
    names = split_names(methods, list(METHODS), "method") if methods is not None else list(DEFAULT)
    encoder_named(encoder)
    check_needs(names, llm)
    texts, model = open_corpus(corpus), open_llm(llm, base_url=base_url)
    gold, found = gold_of(texts, question), {}
    for name in names:
        method = open_index(name, texts, model, encoder, options_for(name, texts, extraction, llm))[0]
        found[name] = _cells(method.retrieve(question, k), gold)
    say(repr(texts), *graph_line(names, texts, extraction, llm, model), f"Question: {question}", "")
    columns("rank", {name: cells or ["nothing scores above 0"] for name, cells in found.items()})
    if any(cell.endswith(" *") for cells in found.values() for cell in cells):
        say("", GOLD_NOTE)
    if methods is None:
        others = [name for name, method in METHODS.items() if name not in DEFAULT and name == method.name]
        free = [name for name in others if not METHODS[name].needs_model]
        say("", f"more: --methods {','.join(free)} (with a model also {','.join(name for name in others if name not in free)})")


def _cells(retrieval, gold):
    """'Title (score) *' of every passage that scores at all."""
    scored = [passage for passage in retrieval.passages if abs(passage.score) >= NOTHING]
    return [
        f"{passage.chunk.label} ({passage.score:.3f}){' *' if passage.id in gold else ''}"
        for passage in scored
    ]
