"""No retrieval at all: what a language model says from memory. Directly, after reasoning, or by a
vote of several reasonings.
"""

from typing import Literal

from ..algorithms.voting import majority_vote
from ..core.options import Positive, Temperature
from ..core.results import Answer, Retrieval
from ..core.trace import Step
from ..llm import load_llm
from .base import Method


class ZeroShot(Method):
    """The question alone, answered in one line. The corpus is not looked at, so nothing is
    retrieved and recall says nothing.

    Source: Survey, Table 5 (tab-5); Wang, Table II (tab-2)
    """

    name = "zeroshot"
    paper = "Survey, Table 5 (ZeroShot); Wang, Table II (Direct)"
    primitive = "Question"
    needs_model = True
    answer_task = "direct"

    @classmethod
    def build(cls, corpus, llm="offline", encoder=None):
        return cls(corpus.chunks, load_llm(llm))

    def retrieve_many(self, questions, k=5):
        return [
            Retrieval(
                question,
                self.name,
                (),
                (Step("no retrieval", "the model is asked without any passage"),),
            )
            for question in questions
        ]

    def answer(self, question, k=5, task=None):
        reader = self.reader(task)
        before = self.llm.ledger.snapshot()
        text, steps = self.reply(question, reader)
        spent = (self.llm.ledger - before).total
        retrieval = self.retrieve(question)
        return Answer(
            text,
            self.llm.name,
            Retrieval(question, self.name, (), retrieval.trace + steps),
            spent.prompt_tokens,
            spent.completion_tokens,
        )

    def reply(self, question, task):
        """(answer, further steps of the trace)."""
        return self.llm(task, question=question), ()


class ChainOfThought(ZeroShot):
    """Reasoning first, after three worked examples; only what follows "The answer is" counts, and a
    reply without it is an empty answer.

    Source: Wang, Table II (tab-2)
    """

    name = "cot"
    paper = "Wang, Table II (CoT)"
    answer_task = "chain_of_thought"


class SelfConsistency(ChainOfThought):
    """Several chains of thought, drawn at a temperature above 0; the most frequent answer wins.

    The survey of Wang gives neither the number of samples nor the temperature; 10 and 0.7 are those
    of the ToG-2 code it compares with. The step `vote` keeps all answers and the share of votes,
    whose `denominator` is "samples" (that code) or "parsable".

    Source: Wang, Table II (tab-2)
    """

    name = "cot-sc"
    paper = "Wang, Table II (CoT-SC)"

    @classmethod
    def build(
        cls,
        corpus,
        llm="offline",
        encoder=None,
        samples: Positive = 10,
        temperature: Temperature = 0.7,
        denominator: Literal["samples", "parsable"] = "samples",
    ):
        method = super().build(corpus, llm, encoder)
        method.samples, method.temperature, method.denominator = samples, temperature, denominator
        return method

    def reply(self, question, task):
        answers = [
            self.llm(task.sampled(number, self.temperature), question=question)
            for number in range(self.samples)
        ]
        vote = majority_vote(answers, self.denominator)
        summary = f"{vote.votes} of {vote.samples} samples agree, {vote.unparsable} gave no answer; score {vote.score:.2f} over {self.denominator}"
        return vote.answer, (
            Step(
                "vote",
                summary,
                ((vote.answer, vote.score),),
                {"answers": tuple(answers), "vote": vote},
            ),
        )
