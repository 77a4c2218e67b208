"""One table that runs: every method asked all questions of a corpus, with one encoder, one graph a
type and one number of passages.

Methods of one graph type share what the first of them is built on (`LEADERS`): its graph, and where
they use reports its communities and reports. Those that spell a graph's names in their own way
share the triples. A method that needs a model gets no numbers from the offline rules, and one that
needs training gets none at all: it would be taught on the questions that are asked here.

Each finished question is a line of `FOLDER/log.jsonl`, under a key of all that decides it, so that
a run that was killed goes on where it stopped.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

from ..core.corpus import Corpus, Extraction, Question, Triple
from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import cache_folder
from ..graphs import extract
from ..llm import LLM, Completion, Counts, Ledger, Waiting, load_llm
from ..llm.replay import append_row, mend_end
from ..methods import METHODS, Method
from ..methods.raptor import TreeMethod
from ..methods.store import index_folder, open_method
from ..prompts.task import Fields, Messages, Task
from ..text.tokens import token_spans
from .metrics import KS, answer_coverage
from .survey_metrics import BUDGETS, Follow, Row, leaderboard, score_row

# Whose graph, or index of reports, the methods of a graph type are made over.
LEADERS = {
    "textual knowledge": "graphrag-local", "rich knowledge": "lightrag-local",
    "knowledge": "hipporag", "knowledge and passage": "hipporag",
}  # fmt: skip
OF_TRIPLES = ("knowledge", "knowledge and passage", "passage")
LOG, BATCH = "log.jsonl", 4  # questions that another thread or process is sent at once
NEEDS_MODEL = "needs a model"
NEEDS_TRAINING = "needs training, on other questions than these"
COSTS = ("build prompt", "build completion", "index prompt", "index completion")
Asked = list[tuple[Task, Fields, Completion]]
Part = tuple[str, Sequence[Question]]  # a method and questions for it
ASKED: ContextVar[Asked | None] = ContextVar("ASKED", default=None)  # by the question under way
ARRIVED: dict[str, "Bench"] = {}  # in another process


class Watched(LLM):
    """A model that also notes what the question under way asks it, in whichever thread."""

    def __init__(self, live: LLM) -> None:
        super().__init__()
        self.live, self.name, self.is_model = live, live.name, live.is_model
        self.travels, self.waits = live.travels, live.waits

    def signed(self, spent: Counts) -> str:
        return self.live.signed(spent)

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        reply = self.live.complete(task, messages, fields)
        if (asked := ASKED.get()) is not None:
            asked.append((task, fields, reply))
        return reply


class Log:
    """Rows by their `key`, each appended to a file as it comes; the half of a last line that a
    killed run left is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, dict[str, Row]()
        data = path.read_bytes() if path.exists() else b""
        whole, _, torn = data.rpartition(b"\n")
        mend_end(path, len(data) - len(torn))
        for number, line in enumerate(filter(None, whole.split(b"\n")), start=1):
            try:
                row = json.loads(line)
                self.rows[row["key"]] = row
            except (ValueError, TypeError, KeyError):
                raise MiniragError(
                    f"{path}, line {number}: no row of a bench. Delete that line, or give another "
                    "folder as out=."
                ) from None

    def add(self, row: Row) -> Row:
        append_row(self.path, row, sync=False)
        self.rows[row["key"]] = row
        return row


@dataclass(eq=False)
class Bench:
    """What all methods share; opens each of them once. extraction: the name of triples that came
    with the corpus, or None to have the text read. triples: what methods over triples are given.
    """

    corpus: Corpus
    llm: Watched
    encoder: str
    extraction: str | None
    k: int
    log: Log | None
    triples: Extraction | str | None = None
    id: str = field(default_factory=lambda: uuid4().hex)
    folders: dict[str, str] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def __reduce__(self) -> tuple[Callable[[Row], "Bench"], tuple[Row]]:
        return arrive, ({**vars(self), "log": None, "methods": {}, "lock": None},)

    def lacks(self, name: str) -> str:
        """What a method needs and is not given, or ""."""
        if METHODS[name].needs_training:
            return NEEDS_TRAINING
        return NEEDS_MODEL if METHODS[name].needs_model and not self.llm.is_model else ""

    def options(self, name: str) -> Row:
        """Of the method's `build`."""
        kind = METHODS[name].graph_type
        if kind in OF_TRIPLES:
            return {"extraction": self.triples}
        return {"extraction": self.extraction} if kind in LEADERS and self.extraction else {}

    def folder(self, name: str) -> str:
        """The name of a method's index in the cache, a hash of what decides it."""
        if name not in self.folders:
            decides = name, self.corpus, self.llm.name, self.encoder, self.options(name)
            self.folders[name] = index_folder(*decides).name
        return self.folders[name]

    def key(self, name: str, asked: Question) -> str:
        """What a finished question is kept under."""
        parts = self.folder(name), self.corpus.name, self.k, sorted(vars(asked).items())
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]

    def owner(self, name: str) -> str:
        """The method over whose graph this one is made, itself where it builds its own."""
        method = METHODS[name]
        shares = hasattr(method, "from_index") or hasattr(method, "from_graph")
        return LEADERS.get(method.graph_type, name) if shares else name

    def open(self, name: str) -> Method:
        """The method, with its index from the cache or built now."""
        with self.lock:
            if name not in self.methods:
                method: Any = METHODS[name]
                given, owner = {"llm": self.llm, "encoder": self.encoder}, self.owner(name)
                if owner == name:
                    self.methods[name] = self.counted(name)
                elif hasattr(method, "from_index"):
                    index = vars(self.open(owner))["index"]
                    self.methods[name] = method.from_index(index, **given)
                else:
                    self.methods[name] = method.from_graph(graph_of(self.open(owner)), **given)
            return self.methods[name]

    def counted(self, name: str) -> Method:
        """A method with an index of its own; what that took is logged. An index that was built when
        nobody counted is built again, which costs nothing by rules and by recorded replies.
        """
        given = {"llm": self.llm, "encoder": self.encoder, **self.options(name)}
        before = self.llm.ledger.snapshot()
        method, state = open_method(name, self.corpus, **given)
        key = f"graph {self.folder(name)}"
        if self.log is not None and key not in self.log.rows:
            if state == "reused":
                METHODS[name].build(self.corpus, **given)
            graph = graph_of(method)
            size = {"nodes": len(graph.nodes), "edges": len(graph.edges)} if graph else {}
            self.log.add({"key": key, **size, **costs(self.llm.ledger - before)})
        return method

    def read_triples(self, log: Log) -> None:
        """Have the triples read that all methods over triples share, unless they are given."""
        self.triples = self.extraction
        if self.triples is None:
            key = self.triples_key()
            if key not in log.rows:
                before = self.llm.ledger.snapshot()
                read = extract(self.corpus, self.llm)
                row = {"key": key, "read": [read.source, dict(read.entities), dict(read.triples)]}
                log.add({**row, **costs(self.llm.ledger - before)})
            source, entities, triples = log.rows[key]["read"]
            self.triples = Extraction(
                source,
                {id: tuple(names) for id, names in entities.items()},
                {id: tuple(Triple(*each) for each in some) for id, some in triples.items()},
            )
            self.folders.clear()  # their names depend on what was read

    def triples_key(self) -> str:
        """Where the log keeps the triples that were read."""
        named = index_folder("hipporag", self.corpus, self.llm.name, "", {})
        return f"triples {named.name}"

    def graphs(self, names: Sequence[str], log: Log) -> list[Row]:
        """A row for each graph, and for each index that took a model: its size, what reading and
        indexing took, and the methods over it.
        """
        found: dict[tuple[object, ...], Row] = {}
        for name in names:
            kind, row = (
                METHODS[name].graph_type,
                dict(log.rows[f"graph {self.folder(self.owner(name))}"]),
            )
            del row["key"]
            if kind in OF_TRIPLES and self.extraction is None:
                read = log.rows[self.triples_key()]
                row |= {cost: row[cost] + read[cost] for cost in COSTS}
            if kind != "none" or any(row.values()):
                told = found.setdefault(
                    (kind, *row.values()), {"graph": kind, "methods": "", **row}
                )
                told["methods"] += f"{', ' * bool(told['methods'])}{name}"
        return list(found.values())


def arrive(state: Row) -> Bench:
    """The bench in another process, the same one each time, so that methods are opened once."""
    if state["id"] not in ARRIVED:
        ARRIVED[state["id"]] = Bench(**{**state, "lock": threading.RLock()})
    return ARRIVED[state["id"]]


def costs(spent: Ledger) -> dict[str, int]:
    """The tokens of building and indexing, under the names in `COSTS`."""
    counts = [getattr(spent[stage], f"{kind}_tokens") for stage, kind in map(str.split, COSTS)]
    return dict(zip(COSTS, counts))


def graph_of(method: Any) -> Any:  # any method; its Graph, or None
    """The graph that a method is built over."""
    inner = getattr(method, "retriever", method)
    communities = getattr(getattr(inner, "index", None), "communities", None)
    return getattr(communities or inner, "graph", None)


def context_of(asked: Asked) -> str:
    """The texts that the reader was given for an answer, in their order: those of its last prompt,
    or of every map prompt where the answer is reduced from several; "" without any.
    """
    reading = [(task.name, fields) for task, fields, _ in asked if task.stage == "answer"]
    mapped = [fields for name, fields in reading if name.startswith("map_")]
    read = mapped or [fields for _, fields in reading[-1:]]
    return "\n".join(chain.from_iterable(_texts({**each, "question": ""}) for each in read))


def _texts(value: Any) -> Iterator[str]:  # of a call, nested in any way
    if isinstance(value, str):
        yield from [value] * bool(value)
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_texts, value.values()))
    elif isinstance(value, Sequence):
        yield from chain.from_iterable(map(_texts, value))


def ask(bench: Bench, name: str, asked: Question) -> Row:
    """One question answered by one method: what was said, found, read and paid."""
    method, seen = bench.open(name), Asked()
    token, start = ASKED.set(seen), perf_counter()
    try:
        answer = method.answer(asked.text, bench.k, method.short_task)
    finally:
        ASKED.reset(token)
    seconds, context = perf_counter() - start, context_of(seen)
    spans = token_spans(context)
    within = {n: context[: spans[:n][-1][1]] if spans else "" for n in BUDGETS}
    covered = {str(n): answer_coverage([text], asked.answers) for n, text in within.items()}
    row: Row = {"key": bench.key(name, asked), "method": name, "question": asked.id}
    if isinstance(method, TreeMethod):
        row["layers"] = {str(n): s for n, s in method.layer_shares([answer.retrieval]).items()}
    return row | {
        "answer": answer.text, "retrieved": answer.retrieval.ids,
        "covered": covered if context else None, "context tokens": len(spans), "calls": len(seen),
        "prompt tokens": sum(reply.prompt_tokens for _, _, reply in seen),
        "completion tokens": sum(reply.completion_tokens for _, _, reply in seen),
        "seconds": round(seconds, 4),
    }  # fmt: skip


def ask_some(bench: Bench, name: str, questions: Sequence[Question]) -> list[Row]:
    """Several questions, in a thread or in another process, which opens each method once."""
    return [ask(bench, name, asked) for asked in questions]


@dataclass(frozen=True)
class Result:
    """leaderboard: a row a method; graphs: a row a graph; answers: a row a method and question, with
    every score; folder: where the log is.
    """

    leaderboard: list[Row]
    graphs: list[Row]
    answers: list[Row]
    folder: Path


def run_bench(
    corpus: Corpus, names: Sequence[str] | None = None, llm: LLM | str = "offline",
    encoder: str = "minilm", extraction: str | None = None, k: int = 5,
    folder: str | Path | None = None, baseline: str = "vanilla", follow: Follow = "paper",
    executor: Executor | None = None,
) -> Result:  # fmt: skip
    """Ask every method every question of a corpus that has an accepted answer, and score what they
    say and find.

    names: of methods; None for all. extraction: triples that came with the corpus, by name; None
    has the text read by `llm`. k: passages. folder: of the log; by default in the cache folder.
    baseline: the method that the others are compared with. follow: whose scores, see
    `score_answer`. executor: any `concurrent.futures.Executor`, over methods and questions; one of
    processes needs an `llm` that `travels`. The seconds of a question depend on it, nothing else.

    Raises `MiniragError` where no question can be scored, or no method runs.
    """
    questions = [asked for asked in corpus.questions if asked.answers]
    if not questions:
        raise MiniragError(
            f"{corpus.name!r} has no question with an accepted answer, so nothing can be scored. "
            "Give questions=FILE.jsonl with rows such as "
            '{"question": "Who ...?", "answers": ["..."], "gold": ["ID"]}.'
        )
    names = list(dict.fromkeys(names or [method.name for method in METHODS.values()]))
    folder = Path(folder or cache_folder() / "bench" / corpus.name)
    log = Log(folder / LOG)
    bench = Bench(corpus, Watched(load_llm(llm)), encoder, extraction, k, log)
    failed = {name: why for name in names if (why := bench.lacks(name))}
    if any(METHODS[name].graph_type in OF_TRIPLES for name in names if name not in failed):
        bench.read_triples(log)
    todo = list[Part]()
    for name in progress([name for name in names if name not in failed], description="indices"):
        left = [asked for asked in questions if bench.key(name, asked) not in log.rows]
        try:
            if left or f"graph {bench.folder(bench.owner(name))}" not in log.rows:
                bench.open(name)
        except Waiting:
            raise
        except MiniragError as error:
            failed[name] = str(error)
            continue
        size = BATCH if executor else 1
        todo += [(name, left[start : start + size]) for start in range(0, len(left), size)]
    ask_all(bench, log, todo, failed, executor)
    ran = [name for name in names if name not in failed]
    if not ran:
        raise MiniragError(f"no method ran. {names[0]}: {failed[names[0]]}")
    answers = list[Row]()
    for name in ran:
        rows = [log.rows[bench.key(name, asked)] for asked in questions]
        found = {id for row in rows for id in row["retrieved"]} & {c.id for c in corpus.chunks}
        ks = sorted({*(n for n in KS if n < k), k}) if found else []
        answers += [score_row(row, asked, ks, follow) for row, asked in zip(rows, questions)]
    board = leaderboard(names, answers, failed, baseline)
    return Result(board, bench.graphs(ran, log), answers, folder)


def ask_all(
    bench: Bench, log: Log, todo: Sequence[Part], failed: dict[str, str], executor: Executor | None
) -> None:
    """Ask, and log the rows as they come; `failed` gets the methods that turn out to need a model."""
    with progress(description="bench", total=sum(len(some) for _, some in todo)) as bar:

        def finish(part: Part, rows: Callable[[], list[Row]]) -> None:
            try:
                for row in rows():
                    log.add(row)
            except MiniragError as error:
                if not str(error).startswith(NEEDS_MODEL):
                    raise
                failed[part[0]] = str(error)
            bar.update(len(part[1]))

        def ask_now(part: Part) -> None:
            if part[0] not in failed:
                finish(part, partial(ask_some, bench, *part))

        if executor is None:
            bench.llm.each(ask_now, todo)
            return
        futures = {executor.submit(ask_some, bench, *part): part for part in todo}
        try:
            for future in as_completed(futures):
                finish(futures[future], future.result)
        finally:
            for future in futures:
                future.cancel()
