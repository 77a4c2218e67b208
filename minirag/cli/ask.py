"""`minirag ask` and `minirag compare`: a question to any texts, and how the answer was found."""

from pathlib import Path
from typing import Optional

import typer

from ..utils import MiniragError
from .app import app, one_of, split_names
from .opening import open_corpus, open_index, plan_index
from .show import say, snippet, table

CORPUS = typer.Argument(metavar="CORPUS_OR_FOLDER", help="A corpus of the kit, a dataset, or a folder or file of your own texts.")
LLM = typer.Option("offline", help="offline, replay:FILE, openai:MODEL, ollama:MODEL or hf:MODEL_OR_PATH.")
ENCODER = typer.Option("minilm", help="minilm, lsa (needs no weights) or hf:MODEL_OR_PATH.")
EXTRACTION = typer.Option(None, help="Triples that came with the corpus, by name, instead of reading the text anew.")
NODES_SHOWN = 4


@app.command()
def ask(
    corpus: str = CORPUS,
    question: str = typer.Argument(help="In quotes."),
    method: str = typer.Option("hipporag", help="One of `minirag methods`."),
    llm: str = LLM,
    encoder: str = ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages."),
    trace: bool = typer.Option(False, help="Show every step of the retrieval."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Count calls and tokens, ask nobody."),
    max_calls: Optional[int] = typer.Option(None, min=0, help="Stop a model before one call more."),
    record: Optional[Path] = typer.Option(None, help="Keep every answer of the model in this file."),
    base_url: Optional[str] = typer.Option(None, help="The address of an OpenAI-compatible server."),
    extraction: Optional[str] = EXTRACTION,
    figure: Optional[Path] = typer.Option(None, help="Also draw the walk over the graph, as .svg or .png."),
):
    """Ask a question; see the answer, who wrote it, the passages and the entities that led there."""
    from ..llm import load_llm
    from ..methods import METHODS

    _not_empty(question)
    one_of(method, list(METHODS), "method")
    texts = open_corpus(corpus)
    model = load_llm(llm, record=record, max_calls=max_calls, base_url=base_url, dry_run=dry_run)
    if dry_run:
        opened, state = plan_index(method, texts, llm, model, encoder, extraction, base_url=base_url)
        opened.answer(question, k)
        return show_plan(model.ledger, llm, f"Index: {state}.")
    opened, state = open_index(method, texts, model, encoder, extraction)
    answer = opened.answer(question, k)
    say(repr(texts), f"Index: {state}." + _read_by(opened, texts), "")
    say(f"Question: {question}", f"Answer, by {answer.llm}: {answer.text or '(none found)'}", "")
    show_passages(opened, answer.retrieval)
    if trace:
        say("", "Trace:", answer.retrieval.explain())
    say("", repr(model.ledger))
    if figure:
        draw(opened, answer.retrieval).save(figure)
        say(f"Figure: {figure}")


@app.command()
def compare(
    corpus: str = CORPUS,
    question: str = typer.Argument(help="In quotes."),
    methods: Optional[str] = typer.Option(None, help="Names with commas between them; by default all that need no model."),
    llm: str = LLM,
    encoder: str = ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages."),
    base_url: Optional[str] = typer.Option(None, help="The address of an OpenAI-compatible server."),
    extraction: Optional[str] = EXTRACTION,
):
    """The passages of several methods side by side."""
    from ..llm import load_llm
    from ..methods import METHODS

    _not_empty(question)
    names = split_names(methods, list(METHODS), "method") if methods is not None else [n for n, m in METHODS.items() if not m.needs_model]
    texts, model = open_corpus(corpus), load_llm(llm, base_url=base_url)
    found = {name: open_index(name, texts, model, encoder, extraction)[0].retrieve(question, k) for name in names}
    gold = {id for known in texts.questions if known.text == question for id in known.gold}
    rows = [[place + 1, *(_cell(retrieval, place, gold) for retrieval in found.values())] for place in range(min(k, len(texts.chunks)))]
    say(repr(texts), f"Question: {question}", "")
    table(["rank", *names], rows, numbers=["rank"])
    if gold:
        say("", "* a passage that the corpus marks as needed for this question")


def show_plan(ledger, spec, *lines):
    """What a dry run found, before money is spent."""
    total = ledger.total
    say(*lines, f"Dry run: with {spec} this asks {total.asked:,} times, and {total.replayed:,} answers are recorded already.")
    say(f"It sends {total.prompt_tokens:,} tokens and gets about {total.completion_tokens:,} back, as counted without the model's own tokenizer.")
    say("", repr(ledger))


def show_passages(method, retrieval):
    """Each passage with score, title, beginning, and what led to it."""
    for passage in retrieval.passages:
        title = passage.chunk.title or passage.id
        say(f"{passage.rank}. {passage.score:.4f}  {title}" + (f"  [{passage.id}]" if passage.id != title else ""), style="bold")
        say(f"   {snippet(passage.chunk.text)}")
        led = [f"{name} {score:.3f}" for name, score in entities_behind(method, retrieval, passage)]
        if led:
            say(f"   led there by: {', '.join(led)}", style="cyan")
    for step in _steps(retrieval, "link"):
        say("", "From the question to the graph: " + (", ".join(f"{label} ({cosine:.2f})" for label, cosine in step.items) or "no entity was named"))


def entities_behind(method, retrieval, passage, limit=NODES_SHOWN):
    """`(node, score)` of the nodes read from a passage that the walk scored highest; empty for methods without a walk over nodes."""
    graph = getattr(getattr(method, "retriever", method), "relations", None)
    walks = _steps(retrieval, "ppr", "neighbours")
    if graph is None or not walks:
        return []
    scores, place = walks[-1].data["scores"], next(i for i, chunk in enumerate(graph.chunks) if chunk.id == passage.id)
    inside = [i for i, node in enumerate(graph.nodes) if place in node.chunks and scores[i] > 0]
    best = sorted(inside, key=lambda i: (-scores[i], i))[:limit]
    return [(graph.nodes[i].name, float(scores[i])) for i in best]


def draw(method, retrieval):
    """The part of the graph that the walk reached, nodes sized by their score."""
    from ..viz import draw_graph

    walks, links = _steps(retrieval, "ppr"), _steps(retrieval, "link")
    if not walks or not links[0].items:
        raise MiniragError(f"{method.name} made no walk over a graph for this question, so there is nothing to draw. Leave --figure out.")
    graph, scores = getattr(method, "retriever", method).graph, walks[0].data["scores"]
    named = {"linked from the question": [graph.nodes[i].name for _, i, _ in links[0].data["nodes"]]}
    best = retrieval.passages[0].chunk
    caption = f"Size and colour: score after the walk. The best passage: {best.title or best.id}. Graph by {graph.source}."
    return draw_graph(graph, node_scores=scores, highlight=named, title=retrieval.question, caption=caption, max_nodes=24, score_name="walk's score")


def _steps(retrieval, *operators):
    return [step for step in retrieval.trace if step.operator in operators]


def _not_empty(question):
    if not question.strip():
        raise MiniragError("the question is empty. Write it in quotes after the corpus.")


def _read_by(method, corpus):
    graph = getattr(getattr(method, "retriever", method), "relations", None)
    if graph is None:
        return ""
    other = [name for name, each in corpus.extractions.items() if each.source != graph.source]
    return f" Graph read by {graph.source}." + (f" Also here: --extraction {other[0]} ({corpus.extractions[other[0]].source})." if other else "")


def _cell(retrieval, place, gold):
    if place >= len(retrieval.passages):
        return ""
    passage = retrieval.passages[place]
    return f"{passage.chunk.title or passage.id} ({passage.score:.3f}){' *' if passage.id in gold else ''}"
