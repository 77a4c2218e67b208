"""No retrieval at all: what a language model says from memory. Directly, after reasoning, or by a
vote of several reasonings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..algorithms.voting import Vote, majority_vote
from ..core.options import Options, Positive, Temperature
from ..core.results import Retrieval
from ..core.trace import Step, Trace
from ..llm import LLM
from ..prompts import Task
from .baselines import PassageMethod


class ZeroShot(PassageMethod):
    """The question alone, answered in one line. The corpus is not looked at, so nothing is
    retrieved and recall says nothing.

    Source: Survey, Table 5 (tab-5); Wang, Table II (tab-2)
    """

    name = "zeroshot"
    paper = "Survey, Table 5 (ZeroShot); Wang, Table II (Direct)"
    primitive = "Question"
    needs_model = True
    answer_task = "direct"

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        trace = Trace([Step("no retrieval", "the model is asked without any passage")])
        return [Retrieval(question, self.name, (), trace) for question in questions]

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        return self.llm(reader, question=retrieval.question), retrieval


class ChainOfThought(ZeroShot):
    """Reasoning first, after three worked examples; only what follows "The answer is" counts, and a
    reply without it is an empty answer.

    Source: Wang, Table II (tab-2)
    """

    name = "cot"
    paper = "Wang, Table II (CoT)"
    answer_task = "chain_of_thought"


@dataclass(frozen=True)
class SelfConsistencyOptions(Options):
    """The survey of Wang gives neither the number of samples nor the temperature; the defaults are
    those of the ToG-2 code it compares with.

    samples: chains of thought a question. temperature: at which they are drawn.
    denominator: the share of votes is one of all "samples" (that code) or of the "parsable" ones.
    """

    samples: Positive = 10
    temperature: Temperature = 0.7
    denominator: Literal["samples", "parsable"] = "samples"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VoteStep(Step):
    """The answers of all samples, "" where there was none, and their vote."""

    answers: tuple[str, ...]
    vote: Vote


def vote_of_samples(
    llm: LLM, reader: Task, question: str, options: SelfConsistencyOptions
) -> VoteStep:
    """Replies to one question, drawn at a temperature above 0, and their vote."""
    drawn = [reader.sampled(i, options.temperature) for i in range(options.samples)]
    answers = tuple(llm.each(lambda task: llm(task, question=question), drawn))
    vote = majority_vote(answers, options.denominator)
    summary = f"{vote.votes} of {vote.samples} samples agree, {vote.unparsable} gave no answer"
    summary += f"; score {vote.score:.2f} over {options.denominator}"
    return VoteStep("vote", summary, ((vote.answer, vote.score),), answers=answers, vote=vote)


class SelfConsistency(ChainOfThought):
    """Several chains of thought, drawn at a temperature above 0; the most frequent answer wins.

    Source: Wang, Table II (tab-2)
    """

    name = "cot-sc"
    paper = "Wang, Table II (CoT-SC)"
    options_type = SelfConsistencyOptions

    chosen: SelfConsistencyOptions

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer that most samples agree on; the trace keeps them all."""
        voted = vote_of_samples(self.llm, reader, retrieval.question, self.chosen)
        return voted.vote.answer, retrieval.followed_by(voted)
