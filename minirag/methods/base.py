"""What every method has: a row in the survey's tables, options, `build`, `retrieve`, `answer`."""

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from inspect import Parameter
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, get_type_hints

from ..core.corpus import Chunk
from ..core.errors import MiniragError
from ..core.files import valid_text, write_atomic
from ..core.options import (
    Options,
    OptionTable,
    Settings,
    as_tuples,
    check_value,
    choose,
    plain,
    vary,
)
from ..core.results import Answer, Passage, Retrieval
from ..core.trace import ChunkStep, Step, Trace
from ..index.vectors import AnyEncoder
from ..llm import LLM, Counts, Ledger, load_llm
from ..operators import rank
from ..operators.ranking import Ties
from ..prompts import Task, find_task

READERS = ("answer", "answer_open", "full_answer")
ENTRANCES = ("build", "from_graph", "from_index")
Sections = dict[str, list[str]]
Stored = Any  # Graph or CommunityIndex, the class or an object of it


def checked(entrance: Callable[..., object], owner: type["Method"]) -> Callable[..., object]:
    """A `build`, `from_graph` or `from_index` that shows every option of its class in its signature
    and docstring, and refuses what is no corpus, an option that does not exist, and a value that
    its annotation does not hold.
    """
    hints = get_type_hints(entrance, include_extras=True)
    parameters = inspect.signature(entrance).parameters.values()
    named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    open_ended = len(named) < len(parameters) and owner.options_type is Options
    own = options_as_parameters(owner) if len(named) < len(parameters) else []
    known = [each.name for each in (*named, *own)]

    @functools.wraps(entrance)
    def entering(cls: type["Method"], first: object, *args: object, **options: object) -> object:
        if entrance.__name__ == "build" and not hasattr(first, "chunks"):
            raise MiniragError(
                f"{cls.__name__}.build takes a Corpus, got {first!r}: load_corpus(name) gives a"
                " shipped one, read_folder(path) your own."
            )
        if not open_ended and (unknown := sorted(set(options) - set(known))):
            raise MiniragError(
                f"{cls.__name__} has no option {unknown[0]!r}; it has: {', '.join(known[2:])}."
            )
        for name in set(options) & set(hints):
            check_value(name, options[name], hints[name])
        return entrance(cls, first, *args, **options)

    shown = [*named, *own, *([] if not open_ended else list(parameters)[-1:])]
    entering.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # help() reads it
    if own:
        entering.__doc__ = f"{inspect.getdoc(entrance)}\n\nOptions:\n\n{owner.options()!r}"
    return entering


def options_as_parameters(owner: type["Method"]) -> list[Parameter]:
    """The fields of a method's options as keyword parameters of `build`."""
    hints, kind = get_type_hints(owner.options_type), Parameter.KEYWORD_ONLY
    return [
        Parameter(row.name, kind, default=row.default, annotation=hints[row.name])
        for row in owner.options()
    ]


class Writer(Protocol):
    """Who writes the answers, and counts what they cost."""

    @property
    def name(self) -> str: ...

    @property
    def ledger(self) -> Ledger: ...

    def signed(self, spent: Counts) -> str: ...


class Method:
    """A composition of operators over an index.

    Subclasses set the class attributes, which are the method's row in the survey's Tables 1 and 3,
    and write `build` and `score_many`: a list of questions in, for each the trace out, whose last
    `ChunkStep` scores every chunk. `options_type` and `settings` say what can be chosen, and what
    each value of `follow` changes; the first setting is the default. Where `options_type` is
    `Options` itself, `build` hands on what it is given.
    `answer_task` is the prompt that answers unless another is asked for: "answer" (short, from the
    passages and nothing else), "answer_open" (short, the model may add what it knows) or
    "full_answer" for methods that are judged; other tasks belong to the one method that uses them.

    Source: Survey, Alg. 1 (alg-1)
    """

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    graph_type: ClassVar[str] = "none"
    index_components: ClassVar[tuple[str, ...]] = ()
    primitive: ClassVar[str] = ""
    granularity: ClassVar[tuple[str, ...]] = ()
    operators: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    needs_model: ClassVar[bool] = False
    needs_training: ClassVar[bool] = False
    vectors_are_kept: ClassVar[bool] = True  # in the embedding cache
    answer_task: ClassVar[str] = "answer"
    options_type: ClassVar[type[Options]] = Options
    settings: ClassVar[Settings] = {"paper": {}}

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name in ENTRANCES:
            if entrance := getattr(cls, name, None):
                setattr(cls, name, classmethod(checked(inspect.unwrap(entrance.__func__), cls)))

    def __init__(self, chunks: Sequence[Chunk], llm: LLM) -> None:
        self.chunks = tuple(chunks)
        self.llm = llm

    @property
    def ties(self) -> Ties:
        """The order of passages with equal scores, by position."""
        return "ascending"

    @functools.cached_property
    def labels(self) -> list[str]:
        """What traces call the chunks."""
        return [chunk.label for chunk in self.chunks]

    def __repr__(self) -> str:
        return f"{type(self).__name__} over {len(self.chunks)} passages, answers by {self.llm.name}"

    @classmethod
    def build(cls, *args: Any, **options: Any) -> Self:  # Any: each method says what it takes
        raise TypeError(f"{cls.__name__} must write its own build().")

    @classmethod
    @functools.cache  # `build` and `from_graph` show the same table
    def options(cls) -> OptionTable:
        """Every option: its value in each setting (paper, code), its values, its meaning."""
        return OptionTable.of(cls.options_type, cls.settings)

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question its trace; the last `ChunkStep` scores every chunk."""
        raise TypeError(f"{type(self).__name__} must write its own score_many().")

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        """Retrieve for a batch of question strings at once."""
        questions, retrievals = [valid_text(question) for question in questions], []
        for question, trace in zip(questions, map(Trace, self.score_many(questions))):
            scores = trace.last(ChunkStep).scores
            best = rank(scores, k, self.ties)
            passages = tuple(
                Passage(self.chunks[i], float(scores[i]), place)
                for place, i in enumerate(best, start=1)
            )
            retrievals.append(Retrieval(question, self.name, passages, trace))
        return retrievals

    def retrieve(self, question: str, k: int = 5) -> Retrieval:
        """The k best passages for one question, with the trace of how they were found."""
        return self.retrieve_many([question], k)[0]

    @property
    def short_task(self) -> str:
        """The task whose answer can be matched with a gold one (EM, F1) and fits a terminal."""
        return "answer" if self.answer_task in READERS else self.answer_task

    @classmethod
    def check_task(cls, task: str | Task | None) -> None:
        """Raise `MiniragError` for the name of a task that does not answer for this method."""
        known = READERS if cls.answer_task in READERS else (cls.answer_task,)
        if isinstance(task, str) and task not in known:
            kinds = ", ".join(name for name in known if name) or "nothing but its own model"
            raise MiniragError(f"task={task!r}: {cls.name} answers by {kinds}.")

    def reader(self, task: str | Task | None = None) -> Task:
        """The `Task` that answers: the method's own, or one of `READERS` where it reads passages.

        Raises `MiniragError` for the name of another one.
        """
        self.check_task(task)
        return find_task(task or self.answer_task)

    @property
    def writer(self) -> Writer:
        """The language model, or the model that a method trains instead."""
        return self.llm

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """What the reader is given, section by section, and the retrieval that says so.

        reader: the task that answers, for budgets that count its prompt.
        """
        return {"passages": [p.chunk.passage for p in retrieval.passages]}, retrieval

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer's text, and the retrieval with the steps that led to it."""
        sections, retrieval = self.context(retrieval, reader)
        texts = [text for section in sections.values() for text in section]
        return self.llm(reader, question=retrieval.question, passages=texts), retrieval

    def answer(self, question: str, k: int = 5, task: str | Task | None = None) -> Answer:
        """Retrieve, then let the language model (or the offline rule) answer from what was found.

        task: a prompt other than the method's own, see `answer_task`.

        Source: Survey, Sec. 6.3 (generation)
        """
        reader, writer = self.reader(task), self.writer
        retrieval = self.retrieve(question, k)
        before = writer.ledger.snapshot()
        text, retrieval = self.generate(retrieval, reader)
        spent = (writer.ledger - before).total
        tokens = (spent.prompt_tokens, spent.completion_tokens)
        return Answer(text, writer.signed(spent), retrieval, *tokens)


class StoredMethod(Method):
    """A method that is built over a graph or a community index, and can be kept in a folder.

    The constructor takes what was built, the language model, the encoder, the chosen options, and
    what `extras` names. `stored_type` has `save(folder)` and `load(folder)`. `decided_by` names for
    each part that is computed once the options that decide it; `built_with`, those that no copy can
    change.
    """

    stored_type: ClassVar[Stored] = None
    built_with: ClassVar[tuple[str, ...]] = ()
    decided_by: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    chosen: Options
    OPTIONS = "options.json"

    def with_options(self, **options: object) -> Self:
        """A copy with other options: what depends on a changed one is computed again, the rest is
        shared.
        """
        other, chosen = copy(self), vary(self.chosen, options)
        changed = {name for name in options if getattr(chosen, name) != getattr(self.chosen, name)}
        if fixed := changed.intersection(self.built_with):
            how = f"{type(self).__name__}.build(..., {min(fixed)}=...)"
            raise MiniragError(f"{min(fixed)} is chosen when the graph is built: call {how}.")
        for part, deciding in self.decided_by.items():
            if changed.intersection(deciding):
                vars(other).pop(part, None)
        other.chosen = chosen
        return other

    @property
    def stored(self) -> Stored:
        """What was built: the graph or the community index."""
        raise TypeError(f"{type(self).__name__} must say what it stores.")

    def extras(self) -> dict[str, object]:
        """What else the constructor takes, as JSON holds it."""
        return {}

    def save(self, folder: str | Path) -> None:
        """Write what was built and the options to a folder, in open formats; the options come last,
        so that a killed run leaves nothing that loads. Vectors stay in the embedding cache.
        """
        self.stored.save(Path(folder) / "index")
        kept = {"options": plain(self.chosen), **self.extras()}
        write_atomic(Path(folder) / self.OPTIONS, json.dumps(kept, indent=1) + "\n")

    @classmethod
    def load(
        cls, folder: str | Path, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm"
    ) -> Self:
        """Read what `save` wrote. Raises `MiniragError` where a folder holds no complete index."""
        path = Path(folder) / cls.OPTIONS
        if not path.is_file():
            raise MiniragError(
                f"{folder} holds no complete {cls.__name__} index: {cls.OPTIONS} is missing."
                " Build it again."
            )
        kept = json.loads(path.read_text(encoding="utf-8"))
        options = {name: as_tuples(value) for name, value in kept.pop("options").items()}
        chosen = choose(cls.options_type, cls.settings, None, options)
        built = cls.stored_type.load(Path(folder) / "index")
        make: Any = cls  # a subclass's constructor
        loaded: Self = make(built, load_llm(llm), encoder, chosen, **kept)
        return loaded
