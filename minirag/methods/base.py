"""What every method has: a row in the survey's tables, `build`, `retrieve`, `answer`."""

from ..operators import rank
from ..results import Answer, Passage, Retrieval


class Method:
    """A composition of operators over an index.

    Subclasses set the class attributes, which are the method's row in the survey's Tables 1 and 3, and write `build` and
    `score_many`: a list of questions in, for each the trace out, whose last step scores every chunk.

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

    def __init__(self, chunks, llm):
        self.chunks = tuple(chunks)
        self.llm = llm

    def __repr__(self):
        return f"{type(self).__name__} over {len(self.chunks)} passages, answers by {self.llm.name}"

    @classmethod
    def build(cls, corpus, llm="offline", encoder="minilm", **options):
        raise TypeError(f"{cls.__name__} must write its own build().")

    def score_many(self, questions):
        """For each question its trace (a tuple of `Step`); the last step's `data["scores"]` is (chunks,)."""
        raise TypeError(f"{type(self).__name__} must write its own score_many().")

    def retrieve_many(self, questions, k=5):
        """Retrieve for a batch of question strings at once: a list of `Retrieval`."""
        retrievals = []
        for question, trace in zip(questions, self.score_many(list(questions))):
            scores = trace[-1].data["scores"]
            best = rank(scores, k, self.ties)
            passages = tuple(Passage(self.chunks[i], float(scores[i]), place) for place, i in enumerate(best, start=1))
            retrievals.append(Retrieval(question, self.name, passages, tuple(trace)))
        return retrievals

    def retrieve(self, question, k=5):
        """The k best passages for one question, with the trace of how they were found."""
        return self.retrieve_many([question], k)[0]

    def answer(self, question, k=5):
        """Retrieve, then let the language model (or the offline rule) answer from the passages.

        Source: Survey, Sec. 6.3 (generation)
        """
        retrieval = self.retrieve(question, k)
        before = self.llm.ledger.snapshot()
        text = self.llm("answer", question=question, passages=[p.chunk.passage for p in retrieval.passages])
        spent = (self.llm.ledger - before).total
        return Answer(text, self.llm.name, retrieval, spent.prompt_tokens, spent.completion_tokens)
