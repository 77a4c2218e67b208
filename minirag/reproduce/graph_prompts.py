"""One condition of GRAG's tables: what is retrieved, what the prompt holds, what is trained; run
for a seed, and measured.
"""

import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..algorithms.bm25 import BM25
from ..algorithms.descriptions import describe_all, flat_text
from ..algorithms.ego_graphs import OTHER_WAY, ego_graph
from ..core.display import progress
from ..core.errors import MiniragError
from ..corpora.detours import named_entity
from ..index.ego_graphs import EgoIndex
from ..neural import Settings
from ..neural.batches import Collator, Example, TextTable
from ..neural.language_model import TUNINGS, LanguageModel
from ..neural.model import GraphPrompt, write_all
from ..neural.pretraining import SIZES, Pretraining, taught_once
from ..neural.training import Plan, Trainer
from ..operators import subgraph
from .graph_baselines import words_of

RETRIEVERS = ("whole", "named", "ego", "linked", "steiner", "bm25", "dense", "none")
TEXTS = ("description", "flat", "none")


@dataclass(frozen=True)
class Condition:
    """A row of a table.

    retrieve: the "whole" graph; the ego-graph of the "named" entity, found by text match; the `top`
    "ego"-graphs of Eq. 4; "linked", the named entity's and then those of Eq. 4; the "steiner"
    subgraph of G-Retriever; the `top` nodes and edges by "bm25" or by cosine ("dense"); or "none".
    text: the hard prompt, a "description" for each graph, "flat" tables of nodes and edges, or
    "none". text_from: another retriever for the text alone, as in the paper's Figure 4. size,
    tuning: of the language model. settings, plan: what the condition changes in `Settings` and
    `Plan`.

    Source: GRAG, Table 3 (tab-3); GRAG, Fig. 3 (fig-3); GRAG, Fig. 4 (fig-4)
    """

    name: str
    retrieve: str = "whole"
    top: int = 3
    hops: int = 2
    direction: str = "out"
    text: str = "none"
    text_from: str = ""
    size: str = "tiny"
    tuning: str = "frozen"
    settings: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        for given, kind in ((self.settings, Settings), (self.plan, Plan)):
            if unknown := sorted(set(given) - {field.name for field in fields(kind)}):
                raise MiniragError(
                    f"A condition changes {', '.join(field.name for field in fields(kind))} of `{kind.__name__}`; got {unknown[0]!r}."
                )
        if self.size not in SIZES or self.tuning not in TUNINGS:
            raise MiniragError(
                f"A condition's size is one of {', '.join(SIZES)}, its tuning one of {', '.join(TUNINGS)}; got {self!r}."
            )
        if self.top < 1 or self.hops < 0 or self.direction not in OTHER_WAY:
            raise MiniragError(
                f"A condition has top from 1, hops from 0 and a direction of {', '.join(OTHER_WAY)}; got {self!r}."
            )
        if (
            self.retrieve not in RETRIEVERS
            or self.text not in TEXTS
            or self.text_from not in ("", *RETRIEVERS)
        ):
            raise MiniragError(
                f"A condition retrieves one of {', '.join(RETRIEVERS)} and reads one of {', '.join(TEXTS)}; got {self!r}."
            )


class KnownTexts:
    """An encoder over a `TextTable`: the same vectors without asking the encoder again, since each
    question brings a graph of its own.
    """

    name = "known texts"

    def __init__(self, table):
        self.row, self.vectors = table.row, table.vectors.numpy()

    def encode(self, texts, kind="passage"):
        return self.vectors[[self.row[text] for text in texts]]


def table_of(questions, encoder):
    """The `TextTable` of everything that these questions and their graphs say."""
    return TextTable.of(
        [Example(q.question, q.answer, (q.graph,), asked=q.asked) for q in questions], encoder
    )


def examples(questions, condition, table):
    """What the model of this condition sees of each question, as `Example`s, and for each the
    positions of the nodes that were retrieved.
    """
    known, seen, held = KnownTexts(table), [], []
    for question in questions:
        pieces = retrieve(question, condition.retrieve, condition, known)
        graphs = tuple(question.graph.subgraph(nodes, edges) for nodes, edges in pieces)
        source = (
            retrieve(question, condition.text_from, condition, known)
            if condition.text_from
            else pieces
        )
        seen.append(
            Example(
                question.question,
                question.answer,
                graphs,
                hard_prompt(question.graph, source, condition.text),
                question.asked,
            )
        )
        held.append({node for nodes, _ in (*pieces, *source) for node in nodes})
    return seen, held


def retrieve(question, how, condition, known):
    """The retrieved pieces of a question's graph: a list of (node positions, edge positions), the
    root of an ego-graph first.
    """
    graph = question.graph
    if how == "none":
        return []
    if how == "whole":
        return [(range(len(graph.nodes)), range(len(graph.edges)))]
    if how in ("bm25", "dense"):
        return [flat(question, how, condition.top, known)]
    if how == "named":
        return [
            ego_graph(
                graph, named_entity(question.question, graph), condition.hops, condition.direction
            )[1:]
        ]
    index = EgoIndex.build(graph, known, condition.hops, condition.direction)
    if how == "steiner":
        [step] = subgraph.steiner([question.asked], index)
        return [(step.data["nodes"], step.data["edges"])]
    roots = [root for root, _ in index.rank(question.asked, condition.top)]
    if how == "linked":
        named = named_entity(question.question, graph)
        roots = [named, *(root for root in roots if root != named)][: condition.top]
    return [index.subgraph(root)[1:] for root in roots]


def flat(question, how, top, known):
    """The `top` nodes and the `top` edges whose texts are nearest to the question, each by itself:
    what the paper's flat retrievers do.

    Source: GRAG, Table 5 (tab-5)
    """
    graph = question.graph
    texts = [*graph.nodes, *graph.lines()]
    if not texts:
        return [], []
    if how == "bm25":
        scores = BM25([words_of(text) for text in texts]).scores(words_of(question.asked))
    else:
        vectors = known.encode([*graph.nodes, *(text for _, text, _ in graph.edges)])
        scores = np.round(vectors @ known.encode([question.asked])[0], 6)
    nodes, edges = (
        np.argsort(-part, kind="stable")[:top] for part in np.split(scores, [len(graph.nodes)])
    )
    ends = {end for edge in edges for end in graph.edges[edge][::2]}
    return sorted({*nodes.tolist(), *ends}), sorted(edges.tolist())


def hard_prompt(graph, pieces, how):
    """The text of these pieces of a graph: their descriptions, a line that several share only once;
    "flat" tables; or nothing.

    Source: GRAG, Eq. 8 (eq-8)
    """
    if how == "none" or not pieces:
        return ""
    if how == "flat":
        return "\n".join(flat_text(graph, nodes, edges) for nodes, edges in pieces)
    return describe_all(graph.subgraph(nodes, edges) for nodes, edges in pieces)


@dataclass(frozen=True)
class Bench:
    """What all conditions of a task share. folder: where the tiny language models lie, one for each
    size and seed, so that rows differ in one thing only.

    pretraining: of these models; plan: the training that a condition may change; reads: the
    conditions whose prompts these models are taught to read.
    """

    task: Any
    table: TextTable
    folder: Path
    pretraining: Pretraining = Pretraining()
    plan: Plan = Plan()
    reads: tuple[Condition, ...] = ()

    @cached_property
    def collate(self):
        return Collator(self.table)

    @cached_property
    def _seen(self):
        return {}

    def seen(self, part, condition):
        """The `examples` of the "train", "validation" or "test" questions, made once for all
        conditions that see the same of them.
        """
        key = (
            part,
            condition.retrieve,
            condition.top,
            condition.hops,
            condition.direction,
            condition.text,
            condition.text_from,
        )
        if key not in self._seen:
            self._seen[key] = examples(getattr(self.task, part), condition, self.table)
        return self._seen[key]

    def language_model(self, size, seed):
        """The folder of the tiny language model of this size and seed, taught once on the form of
        the training questions, as `reads` sees them.
        """
        read = lambda: [
            example for condition in self.reads for example in self.seen("train", condition)[0]
        ]
        return taught_once(
            Path(self.folder) / f"{size}-{seed}",
            read,
            self.task.answers,
            replace(self.pretraining, size=size, seed=seed),
        )


def run(condition, bench, seed):
    """Train and measure one condition: a row of numbers.

    accuracy: percent of test questions answered. recall: percent of the evidence nodes that were
    retrieved. valid: percent of the written answers that are the text of a node of the question's
    graph (only where there is evidence to retrieve). seconds: of training, after the shared
    language model. memory: see `peak_memory`. Also `factors`, the spread of alpha over the nodes
    and edges of the test graphs.

    Source: GRAG, Table 2 (tab-2)
    """
    import torch

    taught = bench.language_model(condition.size, seed)
    torch.manual_seed(seed)
    language = LanguageModel.load(taught, tuning=condition.tuning)
    model = GraphPrompt(language, bench.table.dimensions, Settings(**condition.settings))
    (train, _), (validation, _), (test, held) = (
        bench.seen(part, condition) for part in ("train", "validation", "test")
    )
    started = time.perf_counter()
    report = Trainer(model, bench.collate, replace(bench.plan, **condition.plan, seed=seed)).fit(
        train, validation
    )
    written = write_all(model, bench.collate, test)
    row = {
        "condition": condition.name,
        "seed": seed,
        **measure(bench.task.test, written, held),
        "validation": round(100 * report.best["accuracy"], 2),
    }
    row |= {"seconds": round(time.perf_counter() - started, 1), "memory": peak_memory()}
    if model.pruning is not None:
        with torch.no_grad():
            nodes, edges = model.factors(bench.collate(test[:200]).to(model.device))
        row |= {
            "factor sd nodes": round(float(nodes.std()), 3),
            "factor sd edges": round(float(edges.std()), 3),
        }
    return row


def peak_memory():
    """The process' highest memory so far, in GiB; None on Windows, where Python does not tell."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes on macOS, kibibytes on Linux
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30, 2)


def measure(questions, written, held):
    """accuracy, recall and valid of `run`, in percent.

    Source: GRAG, Sec. 5.2 (valid-entities)
    """
    right = [
        text.casefold() == question.answer.casefold() for question, text in zip(questions, written)
    ]
    found = [
        len(nodes & set(q.evidence_nodes)) / len(q.evidence_nodes)
        for q, nodes in zip(questions, held)
        if q.evidence_nodes
    ]
    valid = [text in question.graph.nodes for question, text in zip(questions, written)]
    numbers = {"accuracy": right, "recall": found, "valid": valid if found else []}
    return {
        name: round(100 * float(np.mean(values)), 2) for name, values in numbers.items() if values
    }


def mean_and_spread(rows, metric="accuracy"):
    """{condition: (mean, population standard deviation, seeds)} over the seeds' rows."""
    values = {}
    for row in rows:
        values.setdefault(row["condition"], []).append(row[metric])
    return {
        name: (float(np.mean(found)), float(np.std(found)), len(found))
        for name, found in values.items()
    }


def run_all(rows, seeds, jobs=None, others=()):
    """`(runs, found)`: what `run` gives for every row and seed, in that order, and what each of the
    `others` gives.

    rows: pairs of a function that makes the bench, and a condition. The function is a `partial` of
    a module's, which remembers what it made, so that a process makes a bench once. others: further
    calls, each a function of a module and its arguments. jobs: processes, by default one a core;
    each computes with a single thread, so that numbers do not depend on how many there are. What
    takes longest is begun first.
    """
    runs = [
        (_measure, make_bench, condition, seed) for make_bench, condition in rows for seed in seeds
    ]
    calls = sorted([*runs, *others], key=_turn)
    pool = ProcessPoolExecutor(
        jobs or os.cpu_count(), mp_context=get_context("spawn"), initializer=_one_thread
    )
    with pool, progress(total=len(calls), description="training and measuring", unit="run") as bar:
        given = {id(call): pool.submit(*call) for call in calls}
        try:
            for done in as_completed(given.values()):
                done.result()
                bar.update()
        finally:
            pool.shutdown(cancel_futures=True)  # after an error, what has not begun does not begin
    return [given[id(call)].result() for call in runs], [
        given[id(call)].result() for call in others
    ]


def _turn(call):
    """What takes longest comes first: tuning a language model, then what is no condition, then
    training a graph token, then reading alone.
    """
    if call[0] is not _measure:
        return 1
    condition = call[2]
    return (
        0
        if condition.tuning != "frozen"
        else 3
        if condition.settings.get("graph_token") == "none"
        else 2
    )


def _one_thread():
    import sklearn  # noqa: F401  (its libraries must be there to be limited)
    import torch

    torch.set_num_threads(1)
    threadpool_limits(1)  # of NumPy and scikit-learn


def _measure(make_bench, condition, seed):
    return run(condition, make_bench(), seed)
