"""One table that runs: every method asked all questions of a corpus, with one encoder, one graph a
type and one number of passages.

Methods of one graph type are made over the graph, and where they use them the communities and
reports, of one of them (`LEADERS`). Those that can only build share what was read: no prompt of
building or indexing is sent twice. A method that needs a model gets no numbers from the rules, and
one that needs training gets none: it would be taught on the questions that are asked here. Accuracy
counts an accepted wording anywhere in an answer, so that long answers have more of it.

Each finished question is a line of `FOLDER/log.jsonl`, under a key of all that decides it, so that
a run that was killed goes on where it stopped; threads and processes hand in `BATCH` at once. A
question with options is asked with them, and scored by the option that the answer chooses.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

from ..core.corpus import Corpus, Question
from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import cache_folder, write_atomic
from ..llm import LLM, Counts, Waiting, load_llm
from ..methods import METHODS, Method
from ..methods.raptor import TreeMethod
from ..methods.store import code_version, index_folder, open_method
from ..text.tokens import count_tokens
from .bench_log import ASKED, Asked, Log, Watched
from .survey_metrics import Follow, Row, context_of, coverage, leaderboard, scored

# Over whose graph, or index of reports, the methods of a graph type are made.
LEADERS = {
    "textual knowledge": "graphrag-local", "rich knowledge": "lightrag-local",
    "knowledge": "hipporag", "knowledge and passage": "hipporag",
}  # fmt: skip
LOG, COUNTS = "log.jsonl", "bench.json"  # finished questions; beside an index, what it took
BATCH = {True: 8, False: 100}  # questions sent at once to a thread with a model, or to rules
NEEDS_MODEL = "needs a model"
EXAMPLE = '{"question": "Who ...?", "answers": ["..."], "gold": ["PASSAGE"]}'
NEEDS_TRAINING = "needs training, on other questions than these"
Part = tuple[str, Sequence[Question]]  # a method and questions for it
ARRIVED: dict[str, "Bench"] = {}  # in another process


@dataclass(eq=False)
class Bench:
    """What all methods share; opens each of them once. extraction: the name of triples that came
    with the corpus, or None to have the text read. graphs: what each took, as a row of the log.
    """

    corpus: Corpus
    llm: Watched
    encoder: str
    extraction: str | None
    k: int
    given: Row
    id: str = field(default_factory=lambda: uuid4().hex)
    folders: dict[str, str] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    graphs: dict[str, Row] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def __reduce__(self) -> tuple[Callable[[Row], "Bench"], tuple[Row]]:
        return arrive, ({**vars(self), "methods": {}, "lock": None},)

    def options(self, name: str) -> Row:
        """Of the method's `build`."""
        reads = METHODS[name].graph_type not in ("none", "tree")
        known = {each.name for each in fields(METHODS[name].options_type)}
        given = {option: value for option, value in self.given.items() if option in known}
        return given | ({"extraction": self.extraction} if reads and self.extraction else {})

    def folder(self, name: str) -> str:
        """The name of a method's index in the cache, a hash of what decides it."""
        if name not in self.folders:
            decides = name, self.corpus, self.llm.name, self.encoder, self.options(name)
            self.folders[name] = index_folder(*decides).name
        return self.folders[name]

    def key(self, name: str, asked: Question) -> str:
        """What a finished question is kept under."""
        parts = [code_version(Path(__file__).parent), self.folder(name), self.corpus.name, self.k]
        parts += sorted(vars(asked).items())
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]

    def owner(self, name: str) -> str:
        """The method over whose graph this one is made, itself where it builds its own."""
        method = METHODS[name]
        shares = hasattr(method, "from_index") or hasattr(method, "from_graph")
        return LEADERS.get(method.graph_type, name) if shares else name

    def graph_key(self, name: str) -> str:
        """Where the log keeps what the method's graph took."""
        return f"graph {self.folder(self.owner(name))}"

    def open(self, name: str) -> Method:
        """The method, with its index from the cache or built now."""
        with self.lock:
            if name not in self.methods:
                method: Any = METHODS[name]
                given, owner = {"llm": self.llm, "encoder": self.encoder}, self.owner(name)
                if owner == name:
                    opened = self.counted(name, {**given, **self.options(name)})
                elif hasattr(method, "from_index"):
                    opened = method.from_index(vars(self.open(owner))["index"], **given)
                else:
                    opened = method.from_graph(graph_of(self.open(owner)), **given)
                self.methods[name] = opened
            return self.methods[name]

    def counts(self, name: str) -> Path:
        """The file beside the index of a method that says what it took."""
        return cache_folder() / "indices" / self.folder(self.owner(name)) / COUNTS

    def counted(self, name: str, given: Row) -> Method:
        """A method with an index of its own, and in `graphs` what that took. An index that was
        built when nobody counted is built again, once, which costs nothing by rules and by recorded
        replies.
        """
        before, file = self.llm.ledger.snapshot(), self.counts(name)
        method, state = open_method(name, self.corpus, **given)
        if state == "reused" and file.exists():
            self.graphs[name] = json.loads(file.read_text("utf-8"))
            return method
        if state == "reused":
            METHODS[name].build(self.corpus, **given)
        graph, spent = graph_of(method), self.llm.ledger - before
        row: Row = {"nodes": len(graph.nodes), "edges": len(graph.edges)} if graph else {}
        for stage in ("build", "index"):
            row[f"{stage} prompt tokens"] = spent[stage].prompt_tokens
            row[f"{stage} completion tokens"] = spent[stage].completion_tokens
        self.graphs[name] = {"key": self.graph_key(name), **row}
        if state != "not kept":
            write_atomic(file, json.dumps(self.graphs[name]))
        return method


def arrive(state: Row) -> Bench:
    """The bench in another process, the same one each time, so that methods are opened once."""
    if state["id"] not in ARRIVED:
        ARRIVED[state["id"]] = Bench(**{**state, "lock": threading.RLock()})
    return ARRIVED[state["id"]]


def graph_of(method: Any) -> Any:  # any method; its Graph, or None
    """The graph that a method is built over."""
    inner = getattr(method, "retriever", method)
    communities = getattr(getattr(inner, "index", None), "communities", None)
    return getattr(communities or inner, "graph", None)


def ask(bench: Bench, name: str, asked: Question) -> Row:
    """One question answered by one method: what was said, found, read and paid."""
    method, seen = bench.open(name), Asked()
    token, start = ASKED.set(seen), perf_counter()
    try:
        answer = method.answer(getattr(asked, "shown", asked.text), bench.k, method.short_task)
    finally:
        ASKED.reset(token)
    seconds = round(perf_counter() - start, 4)
    context = context_of([(task, fields) for task, fields, _ in seen])
    row: Row = {"key": bench.key(name, asked), "method": name, "question": asked.id}
    if isinstance(method, TreeMethod):
        row["layers"] = method.layers_of(answer.retrieval)
    tokens = [(reply.prompt_tokens, reply.completion_tokens) for _, _, reply in seen]
    row |= dict(zip(("prompt tokens", "completion tokens"), map(sum, zip((0, 0), *tokens))))
    row |= {"answer": answer.text, "retrieved": answer.retrieval.ids, "calls": len(seen)}
    row |= {"seconds": seconds, "context tokens": count_tokens(context)}
    writing = [reply.replayed for task, _, reply in seen if task.stage == "answer"]
    row["by"] = method.llm.signed(Counts(len(writing), replayed=sum(writing)))
    return row | coverage(context, asked.answers)


def ask_some(bench: Bench, name: str, questions: Sequence[Question]) -> list[Row] | str:
    """Several questions answered, and what the method's graph took; or why the method cannot. In a
    thread or in another process.
    """
    try:
        bench.open(name)
        rows = [ask(bench, name, asked) for asked in questions]
        return [bench.graphs[bench.owner(name)], *rows]
    except MiniragError as error:
        if not str(error).startswith(NEEDS_MODEL):
            raise
        return str(error)


def ask_all(
    bench: Bench, log: Log, todo: Sequence[Part], failed: dict[str, str], executor: Executor | None
) -> None:
    """Ask, and log rows as they come; `failed` gets the methods that turn out to need a model."""
    with progress(description="bench", total=sum(len(some) for _, some in todo)) as bar:

        def finish(part: Part, found: list[Row] | str) -> None:
            if isinstance(found, str):
                failed[part[0]] = found
            else:
                for row in found:
                    if row["key"] not in log.rows:
                        log.add(row)
            bar.update(len(part[1]))

        if executor is None:
            bench.llm.each(lambda part: finish(part, ask_some(bench, *part)), todo)
            return
        futures = {executor.submit(ask_some, bench, *part): part for part in todo}
        try:
            for future in as_completed(futures):
                finish(futures[future], future.result())
        finally:
            for future in futures:
                future.cancel()


@dataclass(frozen=True)
class Result:
    """leaderboard: a row a method; graphs: one for each graph, and each index that took a model;
    answers: one a method and question; folder: where the log is.
    """

    leaderboard: list[Row]
    graphs: list[Row]
    answers: list[Row]
    folder: Path


def run_bench(
    corpus: Corpus, names: Sequence[str] | None = None, llm: LLM | str = "offline",
    encoder: str = "minilm", extraction: str | None = None, k: int = 5,
    folder: str | Path | None = None, baseline: str = "vanilla", follow: Follow = "paper",
    executor: Executor | None = None, **options: Any,
) -> Result:  # fmt: skip
    """Ask every method every question of a corpus that has an accepted answer, and score what they
    say and find.

    names: of methods; None for all. extraction: triples that came with the corpus, by name; None
    has the text read by `llm`. k: passages. folder: of the log; by default in the cache folder.
    baseline: the method that the others are compared with. follow: whose scores, see
    `score_answer`. executor: any `concurrent.futures.Executor`, over methods and questions; one of
    processes needs an `llm` that `travels`. The seconds of a question depend on it, nothing else.
    **options: of `build`, for the methods that have them.
    Raises `MiniragError` where no question can be scored, or no method runs.
    """
    questions = [asked for asked in corpus.questions if asked.answers]
    if not questions:
        raise MiniragError(
            f"{corpus.name!r} has no question with an accepted answer, so nothing can be scored. "
            f"Write some into questions.jsonl, a line each: {EXAMPLE}."
        )
    names = list(dict.fromkeys(names or [method.name for method in METHODS.values()]))
    folder, model = Path(folder or cache_folder() / "bench" / corpus.name), load_llm(llm)
    log = Log(folder / LOG)
    bench, todo = Bench(corpus, Watched(model), encoder, extraction, k, options), list[Part]()
    failed = {name: NEEDS_TRAINING for name in names if METHODS[name].needs_training}
    need = [name for name in names if METHODS[name].needs_model and not model.is_model]
    failed |= dict.fromkeys(need, NEEDS_MODEL)

    def prepare(name: str) -> None:
        left = [asked for asked in questions if bench.key(name, asked) not in log.rows]
        if not left and bench.graph_key(name) in log.rows:
            return
        # Another process opens for itself what is kept, or what is built in every run.
        kept = bench.counts(name).exists() or not hasattr(METHODS[bench.owner(name)], "save")
        try:
            if executor is None or model.is_model or not kept:
                bench.open(name)
        except Waiting:
            raise
        except MiniragError as error:
            failed[name] = str(error)
            return
        size = BATCH[model.is_model] if executor else 1
        todo.extend((name, left[start : start + size]) for start in range(0, len(left) or 1, size))

    able = [name for name in names if name not in failed]
    bench.llm.each(prepare, progress(able, description="indices", unit="method"))
    ask_all(bench, log, todo, failed, executor)
    ran = [name for name in names if name not in failed]
    if not ran:
        raise MiniragError(f"no method ran. {names[0]}: {failed[names[0]]}")
    rows = {name: [log.rows[bench.key(name, asked)] for asked in questions] for name in ran}
    answers = scored(rows, questions, {chunk.id for chunk in corpus.chunks}, k, follow)
    graphs: dict[str, Row] = {}
    for name in ran:
        kind, took = METHODS[name].graph_type, {**log.rows[bench.graph_key(name)], "key": ""}
        if kind != "none" or any(took.values()):
            told = {"graph": kind, "methods": [], **took}
            del told["key"]
            graphs.setdefault(repr(told), told)["methods"].append(name)
    board = leaderboard(names, answers, failed, baseline)
    return Result(board, list(graphs.values()), answers, folder)
