"""Re-run a table: every row is a method, its corpus and its options, and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.corpus import Corpus
from ..core.display import progress
from ..core.errors import MiniragError
from ..corpora.datasets import load_dataset
from ..corpora.shipped_and_folders import load_corpus
from ..encoders.token_encoders import load_token_encoder
from ..evaluate.metrics import KS, compare, evaluate_retrieval, load_expected
from ..index.vectors import AnyEncoder
from ..llm import load_llm
from ..methods import METHODS, HippoRAG, HippoRAGPassages, Method
from ..methods.rich_graph import rich_graph_of
from . import agents, answers, compositions, judged, unified
from .detours import detours_rows, reproduce_detours
from .dulce import ROWS as DULCE_ROWS
from .dulce import reproduce_dulce
from .expla_graphs import expla_rows, reproduce_expla_graphs
from .paths import PATH_NAMES, reproduce_paths


@dataclass(frozen=True)
class Row:
    """A line of a table: its name, the method, what `with_options` changes, whether the triples
    are the published ones or the offline rules', whether names are compared by MaxSim over the
    encoder's token vectors, and whether the triples become a rich knowledge graph.
    """

    name: str
    method: str = "hipporag"
    follow: str = "paper"
    options: Mapping[str, Any] = field(default_factory=dict)
    published: bool = True
    tokens: bool = False
    rich: bool = False


Names = Sequence[str] | None
Built = dict[tuple[str, bool, bool, bool], HippoRAG]
INCIDENCE = {"passage_matrix": "incidence"}  # as the independent reference run had it
ROWS = (
    Row("bm25", "bm25"),
    Row("dense", "dense"),
    Row("hipporag", options=INCIDENCE),
    Row("hipporag-paper"),
    Row("hipporag-fact-counts", options={"passage_matrix": "facts"}),
    Row("hipporag-maxsim", tokens=True),
    Row("hipporag-no-specificity", options={**INCIDENCE, "specificity": False}),
    Row("hipporag-no-synonymy", options={**INCIDENCE, "synonymy": "none"}),
    Row("hipporag-query-nodes", options={**INCIDENCE, "propagation": "query-nodes"}),
    Row("hipporag-neighbours", options={**INCIDENCE, "propagation": "neighbours"}),
    Row("hipporag-paper-ensemble", options={"ensemble": True}),
    Row("hipporag-code", follow="code"),
    Row("hipporag-code-no-specificity", follow="code", options={"specificity": False}),
    Row("hipporag-ensemble", follow="code", options={"ensemble": True}),
    Row("hipporag-rich", options=INCIDENCE, rich=True),
    Row("hipporag-offline-extraction", options=INCIDENCE, published=False),
    Row(
        "hipporag-offline-extraction-ensemble",
        options={**INCIDENCE, "ensemble": True},
        published=False,
    ),
    Row("hipporag-passages", HippoRAGPassages.name),
    Row("hipporag-passages-offline-extraction", HippoRAGPassages.name, published=False),
)
FULL = "rung 1, fetched: the full {} of Wang, Table IV"
TARGETS = {
    "professors": "rung 0: the shipped corpus; triples by hand annotation, and by the offline "
    "rules",
    "musique_train": "rung 1: 100 MuSiQue questions over 1,890 passages; triples published by the "
    "HippoRAG authors (GPT-3.5), and by the offline rules",
    "dulce": "rung 1: Microsoft's published GPT-4 index of Operation Dulce beside ours, in the "
    "structure of GraphRAG, Table 3; no encoder",
    "paths": "rung 0 and 1: tokens and evidence of LightRAG and PathRAG on the textbook and "
    "Microsoft's Dulce index; ablations; what the flow connects",
    "detours": "rung 0, synthetic: GRAG's Table 3 in its directions, Eq. 2-4 and what needs no "
    "graph network; models trained here, about 10 minutes",
    "expla_graphs": "rung 1: GRAG's Table 2 on ExplaGraphs, and what rules and small classifiers "
    "reach there without reading the graph",
    "answers": "rung 0 and 1, recorded: EM and F1 of a large language model's answers on the "
    "professors and, where its passages are, MuSiQue, as in Wang's Table V",
    "judged": "rung 0, recorded: a large language model's verdicts on answers of GraphRAG's "
    "conditions (its Figure 4) and of PathRAG and its baselines (its Tables 1 to 3)",
    "agents": "rung 0 and 1, recorded and by rules: ToG, ToG-2, KGP, DALK, CoK and their baselines "
    "on mini_wiki and, where its passages are, MuSiQue, as in Wang's Table II",
    "musique": FULL.format("MuSiQue"),
    "2wikimultihopqa": FULL.format("2WikiMultiHopQA"),
    "hotpotqa": FULL.format("HotpotQA"),
    "unified": "rung 0 and 1: every method in one table, by rules and by recorded replies, as in "
    "the survey's Tables 5 and 7; passages of another size, as in its Figure 15",
    "compositions": "rung 1: which retrieval without a model finds most evidence, nested folds",
}
# Targets with rows of their own, by what runs them and what names their rows; the others share
# `ROWS`. The names that a target runs by default may be fewer than all.
OWN: dict[str, tuple[Callable[..., dict[str, Any]], Callable[[bool], list[str]]]] = {
    "dulce": (lambda rows, _: reproduce_dulce(rows), lambda _: list(DULCE_ROWS)),
    "paths": (reproduce_paths, lambda _: list(PATH_NAMES)),
    "detours": (reproduce_detours, detours_rows),
    "expla_graphs": (reproduce_expla_graphs, lambda _: expla_rows()),
    "answers": (answers.reproduce_answers, lambda _: answers.row_names()),
    "judged": (judged.reproduce_judged, lambda _: judged.row_names()),
    "agents": (agents.reproduce_agents, agents.row_names),
    "compositions": (compositions.reproduce_compositions, lambda _: compositions.row_names()),
    "unified": (unified.reproduce_unified, lambda _: unified.row_names()),
}


def reproduce_table(
    target: str, encoder: AnyEncoder | str = "minilm", rows: Names = None, ks: Sequence[int] = KS
) -> dict[str, Any]:
    """Run a target's rows and compare them with the stored numbers.

    Returns `{"target": ..., "rows": [{"method": ..., "R@2": ..., ...}], "comparison": [Comparison,
    ...]}`; recalls in percent. `rows` picks some by name. Raises `MiniragError` for an unknown
    target or row, or when the data is not there.
    """
    if target not in TARGETS:
        raise MiniragError(f"No target {target!r}; there are: {', '.join(TARGETS)}.")
    known = row_names(target)
    if missing := [name for name in rows or () if name not in known]:
        raise MiniragError(
            f"Target {target!r} has no row {missing[0]!r}; it has: {', '.join(known)}."
        )
    if target in OWN:
        return OWN[target][0](rows, encoder)
    corpus = load_corpus(target) if target == "professors" else load_dataset(target)
    built: Built = {}
    measured: list[dict[str, Any]] = []
    wanted = [row for row in ROWS if not rows or row.name in rows]
    for row in progress(wanted, description=target, unit="row"):
        method = build_row(row, corpus, encoder, built)
        averages, _ = evaluate_retrieval(method, corpus.questions, ks)
        numbers = {name: round(value, 2) for name, value in averages.items()}
        measured.append({"method": row.name, **numbers})
    comparison = compare(measured, load_expected(target, rows))
    return {"target": target, "rows": measured, "comparison": comparison}


def row_names(target: str, all_rows: bool = True) -> list[str]:
    """The rows that `reproduce(target, rows=...)` can pick. all_rows=False: those that it runs when
    none is named.
    """
    return OWN[target][1](all_rows) if target in OWN else [row.name for row in ROWS]


def build_row(
    row: Row, corpus: Corpus, encoder: AnyEncoder | str = "minilm", built: Built | None = None
) -> Method:
    """The method of one row, sharing graphs and vectors with the rows built before it.

    built: what decides the graph, namely the row's `follow`, `published`, `tokens` and `rich`, ->
    what was built by it.
    """
    llm, built = load_llm("offline"), {} if built is None else built
    if row.method not in (HippoRAG.name, HippoRAGPassages.name):
        return METHODS[row.method].build(corpus, llm=llm, encoder=encoder)
    shared = (row.follow, row.published, row.tokens, row.rich)
    if shared not in built:
        extraction = next(iter(corpus.extractions)) if row.published else None
        encoder = load_token_encoder(encoder) if row.tokens else encoder
        if row.rich:  # triples describe their relations by rule: each by the statement itself
            graph = rich_graph_of(corpus, llm, extraction)
            method = HippoRAG.from_graph(graph, llm, encoder, follow=row.follow)
        else:
            method = HippoRAG.build(corpus, llm, encoder, extraction, follow=row.follow)
        _ = method.hippocampal_index  # synonyms are searched once: the copies share them
        built[shared] = method
    if row.method == HippoRAGPassages.name:
        return HippoRAGPassages.from_graph(built[shared].graph, llm, encoder, **row.options)
    return built[shared].with_options(**row.options)
