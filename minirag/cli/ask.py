"""`minirag ask`: a question to any texts, and how the answer was found."""

from pathlib import Path

import typer

from ..core.errors import MiniragError
from .app import app, one_of
from .models import check_needs, encoder_named, kept_line, open_llm
from .opening import RULES, open_corpus, open_index, options_for, plan_index
from .show import say, snippet

CORPUS = typer.Argument(
    metavar="CORPUS_OR_FOLDER",
    help="A corpus of the kit, a dataset, or a folder or file of your own texts.",
)
LLM = typer.Option(
    "offline", help="offline, replay:FILE, openai:MODEL, ollama:MODEL or hf:MODEL_OR_PATH."
)
ENCODER = typer.Option("minilm", help="minilm, lsa (needs no weights) or hf:MODEL_OR_PATH.")
EXTRACTION = typer.Option(
    None,
    help="Triples that came with the corpus, by name (offline the default), or rules: the text is read anew, by the rules or the --llm.",
)
DRY_RUN = typer.Option(False, "--dry-run", help="Count calls and tokens, ask nobody.")
MAX_CALLS = typer.Option(None, min=0, help="Stop a model before one call more.")
RECORD = typer.Option(
    None,
    help="Keep the model's answers in this file, to replay them; else the cache folder keeps them.",
)
BASE_URL = typer.Option(None, help="The address of an OpenAI-compatible server.")
TASK_HELP = "answer (short, the default), answer_open (may add what it knows) or full_answer."
NODES_SHOWN = 4
GOLD_NOTE = "* a passage that the corpus marks as needed for this question"
NOTHING = 1e-9  # a score below it is 0, up to rounding


@app.command()
def ask(
    corpus: str = CORPUS,
    question: str = typer.Argument(help="In quotes."),
    method: str = typer.Option("hipporag", help="One of `minirag methods`."),
    llm: str = LLM,
    encoder: str = ENCODER,
    k: int = typer.Option(5, "-k", min=1, help="How many passages."),
    task: str | None = typer.Option(None, help=TASK_HELP),
    trace: bool = typer.Option(False, help="Show every step of the retrieval."),
    dry_run: bool = DRY_RUN,
    max_calls: int | None = MAX_CALLS,
    record: Path | None = RECORD,
    base_url: str | None = BASE_URL,
    extraction: str | None = EXTRACTION,
    trained: Path | None = typer.Option(
        None,
        help="The folder of a model that `minirag train` wrote, if it is not where it is looked for.",
    ),
    figure: Path | None = typer.Option(
        None, help="Also draw the walk over the graph, as .svg or .png."
    ),
):
    """Ask a question; see the answer and what led to it.

    Shown are the answer and who wrote it, the passages (* marks those that the corpus names as
    needed), and the entities that led there.
    """
    from ..methods import METHODS

    not_empty(question)
    one_of(method, list(METHODS), "method")
    METHODS[method].check_task(task)
    encoder_named(encoder)
    if not dry_run:
        check_needs([method], llm)
    texts = open_corpus(corpus)
    options = options_for(method, texts, extraction, llm) | trained_option(method, trained)
    model = open_llm(llm, record=record, max_calls=max_calls, base_url=base_url, dry_run=dry_run)
    if dry_run:
        opened, state = plan_index(method, texts, llm, model, encoder, options, base_url=base_url)
        answer_of(opened, question, k, task=task)
        return show_plan(model.ledger, llm, f"Index: {state}.")
    opened, state = open_index(method, texts, model, encoder, options)
    answer, untrained = answer_of(opened, question, k, corpus, texts, task)
    say(
        repr(texts),
        f"Index: {state}.",
        *graph_line([method], texts, extraction, llm, model),
        "",
        f"Question: {question}",
    )
    say(untrained, "") if untrained else show_answer(answer, model, opened)
    show_passages(opened, answer.retrieval, gold_of(texts, question))
    if trace:
        say("", "Trace:", answer.retrieval.explain())
    say("", repr(model.ledger), *kept_line(model))
    if figure:
        draw(opened, answer.retrieval).save(figure)
        say(f"Figure: {figure}")


def trained_option(method, folder):
    """`{"trained": folder}` for a method that answers from a trained model; empty without a folder."""
    from ..methods import METHODS

    if folder is None:
        return {}
    if not METHODS[method].needs_training:
        raise MiniragError(f"the method {method!r} is not trained: leave --trained out.")
    return {"trained": str(folder.expanduser().resolve())}


def answer_of(method, question, k, corpus="CORPUS", texts=None, task=None):
    """`(answer, "")`, or, of a method not trained yet, an answer without text and a sentence on it.

    texts: the corpus itself, to say where it cannot be trained on. task: see `Method.answer`.
    """
    from ..core.results import Answer
    from ..methods.graph_prompted import NeedsTraining

    try:
        return method.answer(question, k, task or method.short_task), ""
    except NeedsTraining:
        said = f"Answer: needs training. {method.name} retrieves without, as below"
        said += advice(method, corpus, texts)
        return Answer("", method.name, method.retrieve(question, k)), said


def advice(method, corpus, texts=None):
    """How to train a method on this corpus, or why that cannot be done."""
    from ..evaluate.training import split_questions

    try:
        if texts is not None:
            split_questions(texts)
    except MiniragError as error:
        return f". It cannot be trained on this corpus: {error}"
    return f", and answers after: {method.training_command(corpus)}"


def graph_line(methods, corpus, extraction, llm, model):
    """In a list, who read the graph that the methods walk, and how to have it read by another; an
    empty list where there is no graph.
    """
    from ..methods import METHODS

    if all(METHODS[name].graph_type == "none" for name in methods):
        return []
    name = next(name for name in methods if METHODS[name].graph_type != "none")
    chosen = options_for(name, corpus, extraction, llm).get("extraction")
    if chosen and llm == "offline":
        return [
            f"Graph: {corpus.extractions[chosen].source}; --extraction {RULES} lets the offline rules read the text"
        ]
    if chosen:
        return [
            f"Graph: {corpus.extractions[chosen].source}; --extraction {RULES} lets {model.name} read the text"
        ]
    also = next(iter(corpus.extractions), None)
    return [
        f"Graph: read by {model.name}"
        + (f"; also here: --extraction {also} ({corpus.extractions[also].source})" if also else "")
    ]


def gold_of(corpus, question):
    """Ids of the passages that the corpus marks as needed, if the question is one of its own."""
    return {
        id
        for known in corpus.questions
        if known.text.strip() == question.strip()
        for id in known.gold
    }


def show_answer(answer, model, method):
    say(f"Answer, by {answer.llm}: {answer.text or '(none found)'}")
    if steps_of(answer.retrieval, "map") and not model.is_model:
        say(
            f"(a rule cannot judge or summarise: see the {'reports' if method.granularity == ('Community',) else 'passages'})"
        )
    say("")


def show_plan(ledger, spec, *lines):
    """What a dry run found, before money is spent."""
    total = ledger.total
    say(
        *lines,
        f"Dry run: with {spec} this asks {total.asked:,} times, and {total.replayed:,} answers "
        "are recorded already, or will be by then.",
    )
    say(
        f"It sends {total.prompt_tokens:,} tokens and gets about {total.completion_tokens:,} back, as counted without the model's own tokenizer."
    )
    say("", repr(ledger))


def show_passages(method, retrieval, gold=()):
    """Each passage with score, title, beginning, and what led to it; those with score 0 are only
    counted.
    """
    found = [passage for passage in retrieval.passages if abs(passage.score) >= NOTHING]
    mapped = bool(steps_of(retrieval, "map"))
    if mapped and found:
        say(
            "Helpfulness, of 100"
            + (
                ""
                if method.llm.is_model
                else " (by rule: the share of the question's words that the quotes contain)"
            )
        )
    for passage in found:
        title = passage.chunk.label
        score = f"{passage.score:.0f}/100" if mapped else f"{passage.score:.4f}"
        name = (
            title
            + (f"  [{passage.id}]" if passage.id != title else "")
            + (" *" if passage.id in gold else "")
        )
        say(f"{passage.rank}. {score}  {name}", style="bold")
        say(f"   {snippet(passage.chunk.text)}")
        led = [f"{name} {score:.3f}" for name, score in entities_behind(method, retrieval, passage)]
        if led:
            say(f"   led there by: {', '.join(led)}", style="cyan")
    if silent := len(retrieval.passages) - len(found):
        say(
            f"{silent}{' more' if found else ''} passage{'s have' if silent > 1 else ' has'} score 0"
        )
    if any(passage.id in gold for passage in found):
        say("", GOLD_NOTE)
    for step in steps_of(retrieval, "link"):
        instead = ", so the passages are ranked by their vectors"
        nothing = "no entity was named" + instead * bool(steps_of(retrieval, "chunk vdb"))
        linked = ", ".join(f"{label} ({cosine:.2f})" for label, cosine in step.items)
        say("", f"From the question to the graph: {linked or nothing}")


def entities_behind(method, retrieval, passage, limit=NODES_SHOWN):
    """`(node, score)` of the nodes read from a passage that the walk scored highest; empty for
    methods without a walk over nodes.
    """
    from ..core.trace import WalkStep

    walks = retrieval.trace.all(WalkStep)
    graph = getattr(getattr(method, "retriever", method), "graph", None)
    if graph is None or not walks:
        return []
    scores = walks[-1].scores
    place = next(i for i, chunk in enumerate(graph.chunks) if chunk.id == passage.id)
    inside = [i for i, node in enumerate(graph.nodes) if place in node.chunks and scores[i] > 0]
    best = sorted(inside, key=lambda i: (-scores[i], i))[:limit]
    return [(graph.nodes[i].name, float(scores[i])) for i in best]


def draw(method, retrieval):
    """The part of the graph that the walk reached, nodes sized by their score."""
    from ..core.trace import NodeStep
    from ..viz import draw_graph

    walks, links = steps_of(retrieval, "ppr"), retrieval.trace.all(NodeStep)
    if not walks or not links[0].nodes:
        raise MiniragError(
            f"{method.name} made no walk over a graph for this question, so there is nothing to draw. Leave --figure out."
        )
    graph, scores = getattr(method, "retriever", method).hippocampal_index, walks[0].scores
    named = {"linked from the question": [graph.nodes[row.index].name for row in links[0].nodes]}
    best = retrieval.passages[0].chunk
    caption = f"Size and colour: score after the walk. The best passage: {best.label}."
    caption += f" Graph by {graph.source}."
    return draw_graph(
        graph,
        node_scores=scores,
        highlight=named,
        title=retrieval.question,
        caption=caption,
        max_nodes=24,
        score_name="walk's score",
    )


def steps_of(retrieval, *operators):
    return [step for step in retrieval.trace if step.operator in operators]


def not_empty(question):
    if not question.strip():
        raise MiniragError("the question is empty. Write it in quotes after the corpus.")
