"""What a command prints: lines, tables with rules and colour in a terminal and plain columns
elsewhere, passages, complaints, and the nearest known names of what was misspelt.
"""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import MiniragError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ..core.results import Answer, Passage, Retrieval
    from ..llm import LLM
    from ..methods.base import Method
    from ..viz import Figure

Rows = Iterable[Iterable[object]]
BAD_INPUT, FAILED, STOPPED = 2, 1, 130  # exit states
MAINTAINERS = "For maintainers"  # the heading of what nobody else needs
COLOURS = {"OK": "green", "OKISH": "yellow", "FAIL": "bold red", "PAPER-ONLY": "dim"}
GOLD_NOTE = "* a passage that the corpus marks as needed for this question"
NODES_SHOWN = 4
NO_WRAP = 1000  # columns where nobody watches: a line of a file should stay one line
ARGUMENTS = "llm encoder extraction base_url max_calls record model submit".replace(" ", "|")
ARGUMENT = re.compile(rf"\b({ARGUMENTS})=(?:\.\.\.|True)? ?")


def safe(text: object) -> str:
    """Text of unknown origin for a terminal: without control characters, which could move the
    cursor or rename the window.
    """
    return "".join(c for c in str(text) if c in "\n\t" or unicodedata.category(c) != "Cc")


def complain(message: str) -> None:
    """The sentence on what stopped a command."""
    typer.echo(f"minirag: {safe(message)}", err=True)


def note(message: str) -> None:
    """A sentence on what the reader should know and that stops nothing."""
    typer.echo(f"note: {safe(message)}", err=True)


def as_options(message: object) -> str:
    """A message on arguments of Python as one on options: `llm='x'` becomes `--llm 'x'`."""
    return ARGUMENT.sub(lambda match: f"--{match[1].replace('_', '-')} ", str(message))


def did_you_mean(name: str, known: Iterable[str], count: int = 2) -> str:
    """' Did you mean ...?' with the nearest known names, or ''."""
    near = difflib.get_close_matches(name, list(known), n=count, cutoff=0.5)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def one_of(name: str, known: Collection[str], what: str) -> str:
    """`name` if it is known, else an error with the nearest known names and then all of them."""
    if name in known:
        return name
    raise MiniragError(
        f"there is no {what} {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}."
    )


def split_names(text: str, known: Collection[str], what: str) -> list[str]:
    """The names in 'a,b', each checked. A name may have commas of its own: the longest known one
    counts.
    """
    pieces, names = [piece.strip() for piece in text.split(",") if piece.strip()], []
    if not pieces:
        raise MiniragError(f"no {what} is named in {text!r}. Known: {', '.join(known)}.")
    while pieces:
        longer = (end for end in range(len(pieces), 1, -1) if ", ".join(pieces[:end]) in known)
        taken = next(longer, 1)
        names.append(one_of(", ".join(pieces[:taken]), known, what))
        pieces = pieces[taken:]
    return list(dict.fromkeys(names))


def console() -> "Console":
    """A rich console on the present stdout. Colours obey NO_COLOR; nothing in a text is read as
    markup.
    """
    from rich.console import Console

    watched = Console().is_terminal
    return Console(highlight=False, markup=False, emoji=False, width=None if watched else NO_WRAP)


def say(*lines: object, style: str | None = None) -> None:
    """Print lines of any text."""
    printer = console()
    for line in lines:
        printer.print(safe(line), style=style, soft_wrap=True)


def table(headers: Sequence[str], rows: Rows, numbers: Collection[str] = ()) -> None:
    """Print rows of values; the columns whose header is in `numbers` are set flush right."""
    printer = console()
    printer.print(_grid(printer, headers, rows, numbers))


def columns(rank: str, lists: Mapping[str, Sequence[str]]) -> None:
    """Print lists of texts, {header: texts}, side by side with a first column of ranks; one below
    the other where the lines would not fit.
    """
    from rich.measure import Measurement

    printer, ranked = console(), enumerate(zip_longest(*lists.values(), fillvalue=""), start=1)
    grid = _grid(printer, [rank, *lists], [[place, *cells] for place, cells in ranked], [rank])
    unbounded = printer.options.update(width=NO_WRAP)
    if Measurement.get(printer, unbounded, grid).maximum <= printer.width:
        return printer.print(grid)
    for header, cells in lists.items():
        say(header, style="bold")
        say(*(f"  {place}. {cell}" for place, cell in enumerate(cells, start=1)))
    return None


def _grid(
    printer: "Console", headers: Sequence[str], rows: Rows, numbers: Collection[str]
) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rules = box.SIMPLE_HEAD if printer.is_terminal else None
    grid = Table(box=rules, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        grid.add_column(header, justify="right" if header in numbers else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(safe(cell), style=COLOURS.get(str(cell), "")) for cell in row))
    return grid


def markdown(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The same as a Markdown table, as text."""
    lines = [headers, ["---"] * len(headers), *rows]
    escaped = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in lines]
    return "".join(f"| {line} |\n" for line in escaped)


def snippet(text: str, length: int = 160) -> str:
    """The beginning of a text on one line, cut between words."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text[:length].rsplit(" ", 1)[0]
    return cut.rstrip(" ,;:") + " …"


def show_plan(llm: "LLM", spec: str, *lines: str) -> None:
    """What a dry run found, before money is spent. spec: the model as it was typed."""
    total = llm.ledger.total
    say(
        *lines,
        f"Dry run: with {spec} this asks {total.asked:,} times, and "
        f"{total.replayed:,} answers are recorded already, or will be by then.",
        f"It sends {total.prompt_tokens:,} tokens and gets about {total.completion_tokens:,} back, "
        "as counted without the model's own tokenizer.",
        "",
        repr(llm.ledger),
    )


def cost_lines(llm: "LLM") -> list[str]:
    """What was asked, and where the answers of a live model are kept."""
    from ..llm.replay import Recorder

    if not isinstance(llm, Recorder):
        return [repr(llm.ledger)]
    kept = f"Answers kept in {llm.path}: the same prompt is not asked again."
    return [repr(llm.ledger), kept]


def answer_lines(answer: "Answer", method: "Method") -> list[str]:
    """The answer and who wrote it, and where to look if a rule could not write it."""
    from ..llm.offline import OfflineRules

    line = f"Answer, by {answer.llm}: {answer.text or '(none found)'}"
    by_rule = answer.llm.startswith(OfflineRules.name)
    if not by_rule or not is_mapped(answer.retrieval):
        return [line]
    where = "reports" if method.granularity == ("Community",) else "passages"
    return [line, f"(a rule cannot judge or summarise: see the {where})"]


def training_line(method: Any, corpus: str, untrainable: str) -> str:
    """How to train a method on a corpus, by its name, or why that cannot be done."""
    line = f"Answer: needs training. {method.name} retrieves without, as below"
    if untrainable:
        return f"{line}. It cannot be trained on this corpus: {untrainable}"
    return f"{line}, and answers after: {method.training_command(corpus)}"


def scored(retrieval: "Retrieval") -> "list[Passage]":
    """The passages whose score is not 0, up to rounding."""
    return [passage for passage in retrieval if abs(passage.score) >= 1e-9]


def is_mapped(retrieval: "Retrieval") -> bool:
    """Whether passages are scored by how helpful the partial answers from them are."""
    return any(step.operator == "map" for step in retrieval.trace)


def show_passages(method: "Method", retrieval: "Retrieval", gold: Collection[str]) -> None:
    """Each passage with score, title, beginning, and what led to it; those with score 0 are only
    counted.
    """
    from ..core.trace import NodeStep

    found, mapped = scored(retrieval), is_mapped(retrieval)
    if mapped and found:
        by_rule = " (by rule: the share of the question's words that the quotes contain)"
        say(f"Helpfulness, of 100{'' if method.llm.is_model else by_rule}")
    for passage in found:
        title = passage.chunk.label
        score = f"{passage.score:.0f}/100" if mapped else f"{passage.score:.4f}"
        id = "" if passage.id == title else f"  [{passage.id}]"
        say(f"{passage.rank}. {score}  {title}{id}{mark(passage, gold)}", style="bold")
        say(f"   {snippet(passage.chunk.text)}")
        led = [f"{name} {score:.3f}" for name, score in entities_behind(method, retrieval, passage)]
        if led:
            say(f"   led there by: {', '.join(led)}", style="cyan")
    if silent := len(retrieval.passages) - len(found):
        have = "passages have" if silent > 1 else "passage has"
        say(f"{silent}{' more' if found else ''} {have} score 0")
    if any(passage.id in gold for passage in found):
        say("", GOLD_NOTE)
    by_vectors = any(step.operator == "chunk vdb" for step in retrieval.trace)
    for step in retrieval.trace.all(NodeStep):
        if step.operator == "link":
            linked = ", ".join(f"{label} ({cosine:.2f})" for label, cosine in step.items)
            instead = ", so the passages are ranked by their vectors" if by_vectors else ""
            say("", f"From the question to the graph: {linked or f'no entity was named{instead}'}")


def mark(passage: "Passage", gold: Collection[str]) -> str:
    """A star behind a passage that is needed."""
    return " *" if passage.id in gold else ""


def entities_behind(
    method: "Method", retrieval: "Retrieval", passage: "Passage"
) -> list[tuple[str, float]]:
    """`(node, score)` of the nodes read from a passage that the walk scored highest; empty for
    methods without a walk over nodes.
    """
    from ..core.graph import Graph
    from ..core.trace import WalkStep

    walker = getattr(method, "retriever", method)  # the method that it retrieves by, or itself
    graph, walks = getattr(walker, "graph", None), retrieval.trace.all(WalkStep)
    if not walks or not isinstance(graph, Graph):
        return []
    scores = walks[-1].scores
    place = next(i for i, chunk in enumerate(graph.chunks) if chunk.id == passage.id)
    inside = [i for i, node in enumerate(graph.nodes) if place in node.chunks and scores[i] > 0]
    best = sorted(inside, key=lambda i: (-scores[i], i))[:NODES_SHOWN]
    return [(graph.nodes[i].name, float(scores[i])) for i in best]


def draw_walk(method: "Method", retrieval: "Retrieval") -> "Figure":
    """The part of the graph that the walk reached, nodes sized by their score."""
    from ..core.trace import NodeStep, WalkStep
    from ..viz import draw_graph

    walks = [step for step in retrieval.trace.all(WalkStep) if step.operator == "ppr"]
    linked = [step for step in retrieval.trace.all(NodeStep) if step.operator == "link"]
    if not walks or not linked[0].nodes:
        raise MiniragError(
            f"{method.name} made no walk over a graph for this question, so there is nothing to"
            " draw. Leave --figure out."
        )
    walker: Any = getattr(method, "retriever", method)
    graph = walker.hippocampal_index
    best, names = retrieval.passages[0].chunk.label, [node.name for node in graph.nodes]
    roles = {"linked from the question": [names[node.index] for node in linked[0].nodes]}
    caption = f"Size and colour: score after the walk. The best passage: {best}."
    return draw_graph(
        graph,
        node_scores=walks[0].scores[: len(names)],  # passages may follow
        highlight=roles,
        title=retrieval.question,
        caption=f"{caption} Graph by {graph.source}.",
        max_nodes=24,
        score_name="walk's score",
    )
