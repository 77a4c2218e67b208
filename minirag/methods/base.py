"""What every method has: a row in the survey's tables, `build`, `retrieve`, `answer`."""

import functools
import inspect
from typing import get_type_hints

from ..core.errors import MiniragError
from ..core.files import valid_text
from ..core.options import check_value
from ..core.results import Answer, Passage, Retrieval
from ..operators import rank
from ..prompts import find_task

READERS = ("answer", "answer_open", "full_answer")


def checked(build):
    """A `build` that refuses what is no corpus, an option that does not exist, and a value that its
    annotation does not hold.
    """
    signature = inspect.signature(build)
    kinds = get_type_hints(build, include_extras=True)
    named = [name for name, one in signature.parameters.items() if one.kind is not one.VAR_KEYWORD]
    open_ended = len(named) < len(signature.parameters)

    @functools.wraps(build)
    def building(cls, corpus, *args, **options):
        if not hasattr(corpus, "chunks"):
            raise MiniragError(
                f"{cls.__name__}.build takes a Corpus, got {corpus!r}: load_corpus(name) gives a shipped one,"
                " read_folder(path) your own."
            )
        if not open_ended and (unknown := sorted(set(options) - set(named))):
            raise MiniragError(
                f"{cls.__name__} has no option {unknown[0]!r}; it has: {', '.join(named[2:])}."
            )
        for name, value in options.items():
            check_value(name, value, kinds.get(name))
        return build(cls, corpus, *args, **options)

    return building


class Method:
    """A composition of operators over an index.

    Subclasses set the class attributes, which are the method's row in the survey's Tables 1 and 3,
    and write `build` and
    `score_many`: a list of questions in, for each the trace out, whose last step scores every
    chunk. `answer_task` is the prompt that answers unless another is asked for: "answer" (short,
    from the passages and nothing else), "answer_open" (short, the model may add what it knows) or
    "full_answer" for methods that are judged; other tasks belong to the one method that uses them.

    Source: Survey, Alg. 1 (alg-1)
    """

    name = ""
    paper = ""
    graph_type = "none"
    index_components = ()
    primitive = ""
    granularity = ()
    operators = {}
    ties = "ascending"
    needs_model = False
    needs_training = False
    vectors_are_kept = True  # in the embedding cache
    answer_task = "answer"

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = classmethod(checked(vars(cls)["build"].__func__))

    def __init__(self, chunks, llm):
        self.chunks = tuple(chunks)
        self.llm = llm

    def __repr__(self):
        return f"{type(self).__name__} over {len(self.chunks)} passages, answers by {self.llm.name}"

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", **options):
        raise TypeError(f"{cls.__name__} must write its own build().")

    def score_many(self, questions):
        """For each question its trace (a tuple of `Step`); the last step's `data["scores"]` is
        (chunks,).
        """
        raise TypeError(f"{type(self).__name__} must write its own score_many().")

    def retrieve_many(self, questions, k=5):
        """Retrieve for a batch of question strings at once: a list of `Retrieval`."""
        questions, retrievals = [valid_text(question) for question in questions], []
        for question, trace in zip(questions, self.score_many(questions)):
            scores = trace[-1].data["scores"]
            best = rank(scores, k, self.ties)
            passages = tuple(
                Passage(self.chunks[i], float(scores[i]), place)
                for place, i in enumerate(best, start=1)
            )
            retrievals.append(Retrieval(question, self.name, passages, tuple(trace)))
        return retrievals

    def retrieve(self, question, k=5):
        """The k best passages for one question, with the trace of how they were found."""
        return self.retrieve_many([question], k)[0]

    @property
    def short_task(self):
        """The task whose answer can be matched with a gold one (EM, F1) and fits a terminal."""
        return "answer" if self.answer_task in READERS else self.answer_task

    @classmethod
    def check_task(cls, task):
        """Raise `MiniragError` for the name of a task that does not answer for this method."""
        known = READERS if cls.answer_task in READERS else (cls.answer_task,)
        if isinstance(task, str) and task not in known:
            kinds = ", ".join(name for name in known if name) or "nothing but its own model"
            raise MiniragError(f"task={task!r}: {cls.name} answers by {kinds}.")

    def reader(self, task=None):
        """The `Task` that answers: the method's own, or one of `READERS` where it reads passages.

        Raises `MiniragError` for the name of another one.
        """
        self.check_task(task)
        return find_task(task or self.answer_task)

    def reading(self, retrieval, task=None):
        """`(texts, retrieval)`: what the reader is given, and the retrieval that says so. task: the
        one that answers, for budgets that count its prompt."""
        return [p.chunk.passage for p in retrieval.passages], retrieval

    def answer(self, question, k=5, task=None):
        """Retrieve, then let the language model (or the offline rule) answer from what was found.

        task: a prompt other than the method's own, see `answer_task`.

        Source: Survey, Sec. 6.3 (generation)
        """
        reader = self.reader(task)
        texts, retrieval = self.reading(self.retrieve(question, k), reader)
        before = self.llm.ledger.snapshot()
        text = self.llm(reader, question=question, passages=texts)
        spent = (self.llm.ledger - before).total
        tokens = spent.prompt_tokens, spent.completion_tokens
        return Answer(text, self.llm.name, retrieval, *tokens)
