"""One condition of GRAG's tables: what is retrieved, what the prompt holds, what is trained; run
for a seed, and measured.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from ..algorithms.ego_graphs import Direction, TextualGraph, ego_graph
from ..algorithms.graph_text import describe_all, flat_text
from ..core.display import progress
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.graph import GraphQuestion, GraphTask
from ..core.options import Count, Options, Positive, refuse_unknown, vary
from ..corpora.detours import named_entity
from ..evaluate.training import PARTS
from ..index.ego_graphs import EgoIndex
from ..neural import HardPrompt, ModelOptions
from ..neural.batches import Collator, Example, TextTable
from ..neural.language_model import LanguageModel
from ..neural.model import GraphPrompt, write_all
from ..neural.pretraining import Pretraining, taught_once
from ..neural.training import Plan, Trainer
from ..operators import node, relationship, subgraph
from .graph_baselines import Row, flat

Retriever = Literal["whole", "named", "ego", "linked", "steiner", "bm25", "dense", "none"]
Pieces = list[tuple[Sequence[int], Sequence[int]]]  # positions of nodes and edges of each graph


@dataclass(frozen=True)
class Condition(Options):
    """A row of a table.

    retrieve: the "whole" graph; the ego-graph of the "named" entity, found by text match; the `top`
    "ego"-graphs of Eq. 4; "linked", the named entity's and then those of Eq. 4; the "steiner"
    subgraph of G-Retriever; the `top` nodes and edges by "bm25" or by cosine ("dense"); or "none".
    text: the hard prompt, a "description" for each graph, "flat" tables of nodes and edges, or
    "none". text_from: another retriever for the text alone, as in the paper's Figure 4. size,
    tuning: of the language model. options, plan: what the condition changes in `ModelOptions` and
    `Plan`.

    Source: GRAG, Table 3 (tab-3); GRAG, Fig. 3 (fig-3); GRAG, Fig. 4 (fig-4)
    """

    name: str
    retrieve: Retriever = "whole"
    top: Positive = 3
    hops: Count = 2
    direction: Direction = "out"
    text: HardPrompt = "none"
    text_from: Retriever | Literal[""] = ""
    size: Literal["tiny", "small"] = "tiny"
    tuning: Literal["frozen", "lora", "full"] = "frozen"
    options: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            super().__post_init__()
            vary(ModelOptions(), self.options)
            refuse_unknown(self.plan, [field.name for field in fields(Plan)])
        except MiniragError as error:
            raise MiniragError(f"A condition cannot be run: {error} Got {self!r}.") from error


def table_of(questions: Iterable[GraphQuestion], encoder: Encoder) -> TextTable:
    """The `TextTable` of everything that these questions and their graphs say."""
    return TextTable((text for q in questions for text in (q.asked, *q.graph_texts)), encoder)


def examples(
    questions: Iterable[GraphQuestion], condition: Condition, table: TextTable
) -> tuple[list[Example], list[set[int]]]:
    """What the model of this condition sees of each question, as `Example`s, and for each the
    positions of the nodes that were retrieved.
    """
    seen, held = [], []
    for q in questions:
        pieces = source = retrieve(q, condition.retrieve, condition, table)
        if condition.text_from:
            source = retrieve(q, condition.text_from, condition, table)
        graphs = tuple(q.graph.subgraph(nodes, edges) for nodes, edges in pieces)
        text = hard_prompt(q.graph, source, condition.text)
        seen.append(Example(q.question, q.answer, graphs, text, q.asked))
        held.append({node for nodes, _ in (*pieces, *source) for node in nodes})
    return seen, held


def retrieve(
    question: GraphQuestion, how: Retriever, condition: Condition, table: TextTable
) -> Pieces:
    """The retrieved pieces of a question's graph: a list of (node positions, edge positions), the
    root of an ego-graph first.
    """
    graph, hops, direction = question.graph, condition.hops, condition.direction
    if how == "none":
        return []
    if how == "whole":
        return [(range(len(graph.nodes)), range(len(graph.edges)))]
    if how in ("bm25", "dense"):
        return [flat(question, how, condition.top, table)]
    if how == "named":
        root = named_entity(question.question, graph)
        return [ego_graph(graph, root, hops, direction)[1:]]
    index = EgoIndex.build(graph, table, hops, direction)
    if how == "steiner":
        nodes = node.vdb([question.asked], index.node_index, k=3)
        edges = relationship.vdb([question.asked], index.edge_index, k=5)
        [tree] = subgraph.steiner(nodes, edges, index)
        return [(tree.nodes, tree.edges)]
    roots = [root for root, _ in index.rank(question.asked, condition.top)]
    if how == "linked":
        named = named_entity(question.question, graph)
        roots = [named, *(root for root in roots if root != named)][: condition.top]
    return [index.subgraph(root)[1:] for root in roots]


def hard_prompt(graph: TextualGraph, pieces: Pieces, how: HardPrompt) -> str:
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

    task: GraphTask
    table: TextTable
    folder: Path
    pretraining: Pretraining
    plan: Plan
    reads: tuple[Condition, ...]

    @cached_property
    def collate(self) -> Collator:
        return Collator(self.table)

    @cached_property
    def _seen(self) -> dict[object, tuple[list[Example], list[set[int]]]]:
        return {}

    def seen(self, part: str, condition: Condition) -> tuple[list[Example], list[set[int]]]:
        """The `examples` of the "train", "validation" or "test" questions, made once for all
        conditions that see the same of them.
        """
        same = replace(condition, name="", size="tiny", tuning="frozen", options={}, plan={})
        key = part, repr(same)
        if key not in self._seen:
            self._seen[key] = examples(getattr(self.task, part), condition, self.table)
        return self._seen[key]

    def language_model(self, size: str, seed: int) -> Path:
        """The folder of the tiny language model of this size and seed, taught once on the form of
        the training questions, as `reads` sees them.
        """
        return taught_once(
            self.folder / f"{size}-{seed}",
            lambda: [seen for condition in self.reads for seen in self.seen("train", condition)[0]],
            self.task.answers,
            replace(self.pretraining, size=size, seed=seed),
        )

    def model(self, condition: Condition, seed: int) -> GraphPrompt:
        """The untrained model of a condition, behind the tiny language model of this seed."""
        taught = self.language_model(condition.size, seed)
        torch.manual_seed(seed)
        language = LanguageModel.load(taught, tuning=condition.tuning)
        return GraphPrompt(language, self.table.dimensions, ModelOptions(**condition.options))


def run(condition: Condition, bench: Bench, seed: int) -> Row:
    """Train and measure one condition: a row of numbers.

    accuracy: percent of test questions answered. recall: percent of the evidence nodes that were
    retrieved. valid: percent of the written answers that are the text of a node of the question's
    graph (only where there is evidence to retrieve). seconds: of training, after the shared
    language model. memory: see `peak_memory`. Also `factors`, the spread of alpha over the nodes
    and edges of the test graphs.

    Source: GRAG, Table 2 (tab-2)
    """
    model = bench.model(condition, seed)
    (train, _), (validation, _), (test, held) = (bench.seen(part, condition) for part in PARTS)
    started = time.perf_counter()
    plan = replace(bench.plan, **condition.plan, seed=seed)
    report = Trainer(model, bench.collate, plan).fit(train, validation)
    written = write_all(model, bench.collate, test)
    row = {"condition": condition.name, "seed": seed, **measure(bench.task.test, written, held)}
    row["validation"] = round(100 * report.best["accuracy"], 2)
    row |= {"seconds": round(time.perf_counter() - started, 1), "memory": peak_memory()}
    if model.pruning is not None:
        with torch.no_grad():
            factors = model.pruning(bench.collate(test[:200]).to(model.device))
        for name, alpha in zip(("nodes", "edges"), factors):
            row[f"factor sd {name}"] = round(float(alpha.std()), 3)
    return row


def peak_memory() -> float | None:
    """The process' highest memory so far, in GiB; None on Windows, where Python does not tell."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes on macOS, kibibytes on Linux
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30, 2)


def measure(
    questions: Sequence[GraphQuestion], written: Sequence[str], held: Sequence[set[int]]
) -> Row:
    """accuracy, recall and valid of `run`, in percent.

    Source: GRAG, Sec. 5.2 (valid-entities)
    """
    pairs = list(zip(questions, written))
    right = [text.casefold() == question.answer.casefold() for question, text in pairs]
    wanted = [(set(q.evidence_nodes), nodes) for q, nodes in zip(questions, held)]
    found = [len(nodes & evidence) / len(evidence) for evidence, nodes in wanted if evidence]
    valid = [text in question.graph.nodes for question, text in pairs] if found else []
    numbers: dict[str, Sequence[float]] = {"accuracy": right, "recall": found, "valid": valid}
    return {name: round(100 * float(np.mean(some)), 2) for name, some in numbers.items() if some}


def run_all(
    rows: Sequence[tuple[Callable[[], Bench], Condition]], seeds: Sequence[int],
    jobs: int | None = None, others: Sequence[tuple[Any, ...]] = (),
) -> tuple[list[Row], list[Any]]:  # fmt: skip
    """`(runs, found)`: what `run` gives for every row and seed, in that order, and what each of the
    `others` gives.

    rows: pairs of a function that makes the bench, and a condition. The function is a `partial` of
    a module's, which remembers what it made, so that a process makes a bench once. others: further
    calls, each a function of a module and its arguments. jobs: processes, by default one a core;
    each computes with a single thread, so that numbers do not depend on how many there are. What
    takes longest is begun first.
    """
    runs = [(_run, make_bench, condition, seed) for make_bench, condition in rows for seed in seeds]
    calls = sorted([*runs, *others], key=_turn)
    pool = ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn"), _one_thread)
    with pool, progress(total=len(calls), description="training and measuring", unit="run") as bar:
        given = {id(call): pool.submit(*call) for call in calls}
        try:
            for done in as_completed(given.values()):
                done.result()
                bar.update()
        finally:
            pool.shutdown(cancel_futures=True)  # after an error, what has not begun does not begin
    results = [[given[id(call)].result() for call in some] for some in (runs, others)]
    return results[0], results[1]


def _turn(call: Sequence[Any]) -> int:
    """What takes longest comes first: tuning a language model, then what is no condition, then
    training a graph token, then reading alone.
    """
    if call[0] is not _run:
        return 1
    condition = call[2]
    if condition.tuning != "frozen":
        return 0
    return 3 if condition.options.get("graph_token") == "none" else 2


def _one_thread() -> None:
    import sklearn  # noqa: F401  (its libraries must be there to be limited)

    torch.set_num_threads(1)
    threadpool_limits(1)  # of NumPy and scikit-learn


def _run(make_bench: Callable[[], Bench], condition: Condition, seed: int) -> Row:
    return run(condition, make_bench(), seed)
