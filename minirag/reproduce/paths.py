"""The target `paths`: what LightRAG and PathRAG put into the prompt, on Microsoft's Dulce index and
on the shipped textbook; and what the flow connects there and on MuSiQue's graph, which has
questions and triples but no evidence phrases and no descriptions.

No answer is judged here. Measured are a context's tokens and the evidence in it: short phrases,
word for word from the text, which people chose for each question. The paper's tokens are about
other texts and graphs; they stand in `data/expected/paths.yaml` in a column of their own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product, starmap
from typing import Any, NamedTuple, cast

from ..algorithms.flow import connections
from ..core.corpus import Corpus
from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import read_jsonl
from ..core.graph import Graph
from ..core.trace import ContextStep, NodeStep, PathStep, Trace
from ..corpora.datasets import load_dataset
from ..corpora.fetching import available
from ..corpora.microsoft_index import load_dulce
from ..corpora.shipped_and_folders import load_corpus, shipped
from ..evaluate.metrics import compare, load_expected, phrase_coverage, word_coverage
from ..llm import load_llm
from ..methods import METHODS, PathRAG
from ..methods.pathrag_paths import FlowStep, flow_graph
from ..methods.rich_graph import RichMethod


@dataclass(frozen=True)
class PathRow:
    """A line of the table: its name, the method, and its options."""

    name: str
    method: str
    follow: str = "paper"
    options: Mapping[str, Any] = field(default_factory=dict)


class Asked(NamedTuple):
    """A question and its evidence, which is for counting only; no method sees it."""

    text: str
    evidence: tuple[str, ...] = ()


# A level that the offline rule finds no keyword for is replaced by the question everywhere: a
# saving by silence is none.
ASKED = {"empty": "question"}
# PathRAG's paper (February 2025) is nine months older than LightRAG's late code, so its baseline
# can only have been an early one.
PATH_ROWS: tuple[PathRow, ...] = (
    PathRow("lightrag-local", "lightrag-local", "early", ASKED),
    PathRow("lightrag-global", "lightrag-global", "early", ASKED),
    PathRow("lightrag-hybrid", "lightrag-hybrid", "early", ASKED),
    PathRow("lightrag-hybrid-late", "lightrag-hybrid", "late", ASKED),
    PathRow("lightrag-hybrid-survey", "lightrag-hybrid", "survey"),
    PathRow("pathrag", "pathrag"),
    PathRow("pathrag-lt", "pathrag-lt"),
    PathRow("pathrag-paths-only", "pathrag", options={"global_edges": 0}),
    PathRow("pathrag-undirected", "pathrag", options={"directed": False}),
    PathRow("pathrag-with-passages", "pathrag", options={"sources": True}),
    PathRow("pathrag-lt-with-passages", "pathrag-lt", options={"sources": True}),
    PathRow("random", "pathrag", options={"ranking": "random"}),
    PathRow("hop-first", "pathrag", options={"ranking": "hop-first"}),
    PathRow("flat", "pathrag", options={"prompt": "flat"}),
    PathRow("pathrag-code", "pathrag", "code", ASKED),
    PathRow("pathrag-lt-code", "pathrag-lt", "code", ASKED),
    # Written like LightRAG's context, so that tokens can be compared.
    PathRow("pathrag-code-lines", "pathrag", "code", {**ASKED, "layout": "lines"}),
)
# Figure 3: one number moves, the others stay at the paper's. Of the paths alone, whose number and
# kind is all that the three decide.
SWEPT = {
    "N": ("nodes", (10, 20, 30, 40, 50, 60)),
    "K": ("top_k", (5, 10, 15, 20, 25)),
    "alpha": ("alpha", (0.6, 0.7, 0.8, 0.9, 1.0)),
}
PATH_ROWS += tuple(
    PathRow(f"pathrag {letter} {value:g}", "pathrag", options={"global_edges": 0, option: value})
    for letter, (option, values) in SWEPT.items()
    for value in values
)
CORPORA = ("dulce", "textbook")
CONNECTED = (*CORPORA, "musique")  # the corpora on which it is measured what the flow connects
THRESHOLDS = (0.3, 0.1, 0.05, 0.02, 0.01, 0.005)
DIRECTIONS = {"directed": True, "undirected": False}
CONNECTIONS = ("pairs connected", "starts pruned", "without a way out")  # what is stored of it


def connection_row(corpus: str, way: str, theta: float) -> str:
    """What a row is called that measures what the flow connects in one direction at one theta."""
    return f"{corpus} connections theta {theta:g} {way}"


CONNECTION_NAMES = tuple(starmap(connection_row, product(CONNECTED, DIRECTIONS, THRESHOLDS)))
BARE = "musique pathrag-paths-only"  # measured though MuSiQue has no evidence: its graph is large
BASE = "lightrag-hybrid"  # what savings are measured against
PATH_NAMES = tuple(f"{corpus} {row.name}" for corpus in CORPORA for row in PATH_ROWS)
PATH_NAMES += (BARE, *CONNECTION_NAMES)
DATA = {"dulce": "dulce", "musique": "musique_train"}  # what must be fetched for a corpus


def reproduce_paths(
    rows: Sequence[str] | None = None, encoder: str = "minilm"
) -> dict[str, object]:
    """Measure the target: `{"target", "rows", "notes", "comparison"}`; a row for every corpus that
    is there and every setting.

    tokens: mean of a context. evidence %: phrases that stand in it word for word. evidence words %:
    content words of the phrases that stand in it anywhere, since an index describes in its own
    words what the text says in others. saved %: tokens less than LightRAG hybrid's. paths, pairs
    connected, starts pruned, those of them without a way out: means of a question, where the method
    has them. single edges %: of all paths; no path %: of the questions. Rows like `textbook pathrag
    K 5` are the sweeps of the paper's Figure 3; its win rates need a judge.

    Source: PathRAG, tokens a question (tokens); PathRAG, Fig. 3 (fig-3)
    """
    measured, notes = [], []
    for name in CONNECTED:
        own = [row for row in PATH_NAMES if row.startswith(f"{name} ")]
        wanted = [row for row in own if not rows or row in rows]
        if wanted and name in DATA and not available(DATA[name]):
            missing = f"{name}: not here; `minirag fetch {DATA[name]}` gets it."
            notes.append(f"{missing} Its rows were left out.")
        elif wanted:
            measured += measure(name, wanted, encoder)
    if not measured:
        missing = "None of these rows can run here: their data is not there. "
        raise MiniragError(missing + " ".join(notes))
    expected, done = load_expected("paths"), {row["method"] for row in measured}
    stored = {
        name: numbers
        for name, numbers in expected["rows"].items()
        if name in done or (not rows and name.startswith("paper"))
    }
    comparison = compare(measured, {**expected, "rows": stored})
    notes += verdicts(measured)
    return {"target": "paths", "rows": measured, "notes": notes, "comparison": comparison}


def measure(name: str, wanted: Sequence[str], encoder: str) -> list[dict[str, Any]]:
    """The wanted rows of one corpus. Where it has evidence, `tokens` of the base row are measured
    even if it is not asked for.
    """
    corpus, questions = open_corpus(name)
    opened, named = opener(corpus, encoder), {row.name: row for row in PATH_ROWS}
    found, base = [], None
    settings = [row for row in PATH_ROWS if f"{name} {row.name}" in wanted]
    if settings and name in CORPORA:
        base = average(opened(named[BASE]), questions)["tokens"]
    for row in progress(settings, description=name, unit="row"):
        numbers = average(opened(row), questions)
        if base:
            numbers["saved %"] = round(100 * (1 - numbers["tokens"] / base), 1)
        found.append({"method": f"{name} {row.name}", **numbers})
    if connecting := [row for row in CONNECTION_NAMES if row in wanted]:
        pathrag = cast("PathRAG", opened(named["pathrag"]))
        texts = [asked.text for asked in questions]
        for setting, numbers in connection_table(pathrag, texts).items():
            if (row_name := connection_row(name, *setting)) in connecting:
                found.append({"method": row_name, **{key: numbers[key] for key in CONNECTIONS}})
    return found


def open_corpus(name: str) -> tuple[Corpus | Graph, list[Asked]]:
    """What a method is built over, and its questions. MuSiQue has no evidence.

    Raises `MiniragError` where a question has no evidence.
    """
    if name == "dulce":
        rows = read_jsonl(shipped("questions_dulce.jsonl"))
        return load_dulce().graph, [Asked(row["question"], tuple(row["evidence"])) for row in rows]
    if name == "musique":
        corpus = load_dataset(DATA[name])
        return corpus.without_gold(), [Asked(question.text) for question in corpus.questions]
    corpus = load_corpus(name)
    rows = read_jsonl(shipped("corpora") / name / "evidence.jsonl")
    evidence = {row["id"]: tuple(row["evidence"]) for row in rows}
    if missing := [question.id for question in corpus.questions if not evidence.get(question.id)]:
        raise MiniragError(
            f"Corpus {name!r}: evidence.jsonl has nothing for question {missing[0]!r}."
        )
    questions = [Asked(question.text, evidence[question.id]) for question in corpus.questions]
    return corpus.without_gold(), questions


def opener(corpus: Corpus | Graph, encoder: str) -> Callable[[PathRow], RichMethod]:
    """A function that opens a row's method; those with the same settings share what is built."""

    @cache
    def built(method: str, follow: str) -> RichMethod:
        kind, llm = cast("type[RichMethod]", METHODS[method]), load_llm("offline")
        if isinstance(corpus, Graph):
            return kind.from_graph(corpus, llm, encoder, follow)
        return kind.build(corpus, llm, encoder, next(iter(corpus.extractions)), follow=follow)

    return lambda row: built(row.method, row.follow).with_options(**row.options)


def average(method: RichMethod, questions: Sequence[Asked]) -> dict[str, float]:
    """Means over the questions: tokens of the context, evidence found, and what the flow saw."""
    totals: dict[str, float] = defaultdict(float)
    retrievals = method.retrieve_many([asked.text for asked in questions])
    for retrieval, asked in zip(retrievals, questions):
        sections, told = method.context(retrieval)
        totals["tokens"] += told.trace.last(ContextStep).tokens
        if asked.evidence:
            text = "\n".join(text for texts in sections.values() for text in texts)
            totals["evidence %"] += 100 * phrase_coverage(text, asked.evidence)
            totals["evidence words %"] += 100 * word_coverage(text, asked.evidence)
        for name, number in path_numbers(retrieval.trace).items():
            totals[name] += number
    single = totals.pop("single", None)
    means = {key: round(value / len(questions), 1) for key, value in totals.items()}
    if single is not None:
        means["single edges %"] = round(100 * single / max(totals["paths"], 1), 1)
    return means


def path_numbers(trace: Trace) -> dict[str, float]:
    """What the flow saw of one question and which paths were kept, where the method has paths."""
    numbers: dict[str, float] = {}
    for flow in trace.all(FlowStep):
        seen = zip(CONNECTIONS, (flow.pairs, flow.pruned, flow.sinks))
        numbers |= {name: count for name, count in seen if count is not None}
    for found in trace.all(PathStep):
        hops = [len(path.nodes) - 1 for path in found.paths]
        numbers |= {"paths": len(hops), "single": hops.count(1), "no path %": 100 * (not hops)}
    return numbers


def stored_connections(
    expected: Mapping[str, Any], name: str, way: str, metric: str
) -> list[float]:
    """The stored numbers at each of `THRESHOLDS`. expected: what `load_expected("paths")` gives."""
    rows = [expected["rows"][connection_row(name, way, theta)] for theta in THRESHOLDS]
    return [row["metrics"][metric]["ours"] for row in rows]


def connection_table(
    method: PathRAG, questions: Sequence[str]
) -> dict[tuple[str, float], dict[str, float]]:
    """For each direction and theta: ordered pairs connected, starts pruned, nodes visited, means of
    a question; and pairs and starts in percent.

    A start is pruned at once for one of two reasons, in columns of their own: it has no way out at
    all, whatever theta is, or more than 1 / theta of them, which at .05 is more than 20.

    Source: PathRAG, Eq. 3 (eq-3); PathRAG, complexity analysis (complexity)
    """
    quick = method.with_options(global_edges=0, top_k=1, max_paths=1)
    steps = [found.trace.last(NodeStep) for found in quick.retrieve_many(questions)]
    starts = [[node.label for node in step.nodes] for step in steps]
    most = max(sum(len(names) for names in starts), 1)
    possible = max(sum(len(names) * (len(names) - 1) for names in starts), 1)
    table = {}
    for way, directed in DIRECTIONS.items():
        ways, alpha = flow_graph(method.graph, directed).ways, method.chosen.alpha
        for theta in THRESHOLDS:
            seen = [connections(ways, names, alpha, theta) for names in starts]
            pairs, pruned, sinks, visited = map(sum, zip(*seen))
            row = {
                "pairs connected": pairs / len(seen),
                "pairs connected %": 100 * pairs / possible,
                "starts pruned": pruned / len(seen),
                "without a way out": sinks / len(seen),
                "without a way out %": 100 * sinks / most,
                "too many ways out %": 100 * (pruned - sinks) / most,
                "visited": visited / len(seen),
            }
            table[way, theta] = {name: round(value, 1) for name, value in row.items()}
    return table


def verdicts(measured: Iterable[Mapping[str, Any]]) -> list[str]:
    """Sentences on the paper's direction: does PathRAG cost fewer tokens than LightRAG, and its
    light version fewer still?
    """
    tokens = {row["method"]: row["tokens"] for row in measured if "tokens" in row}
    sentences = []
    for name in CORPORA:
        for kind, suffix in {"paper's setting": "", "code's setting": "-code"}.items():
            rows = (f"{name} pathrag-lt{suffix}", f"{name} pathrag{suffix}", f"{name} {BASE}")
            if not tokens.keys() >= set(rows):
                continue
            light, full, base = (tokens[row] for row in rows)
            holds = "holds" if light < full < base else "does not hold"
            numbers = f"PathRAG-lt {light:,.0f}, PathRAG {full:,.0f}, LightRAG hybrid {base:,.0f}"
            sentences.append(
                f"{name}, {kind}: {numbers} tokens a question;"
                f" the paper's order (8,869 < 13,318 < 15,837) {holds}."
            )
    return sentences
