"""Chain-of-Knowledge (CoK): the model answers from what it knows; where its samples disagree, each
step of its reasoning is corrected by what several sources of knowledge hold.

Wang compares with it (Table II) and gives no details: the steps are those of the released code
(DAMO-NLP-SG/chain-of-knowledge, dfb85cf). Its sources are Wikidata, asked through a trained
generator of SPARQL, and a web search; here they are the graph's triples and the corpus's passages
nearest to the sentence. Told, not rebuilt: it picks the majority's rationales out of the wrong list
where a reply could not be read, crashes on a reply without "First," and "Second,", and in FEVER's
step mode corrects only where nothing was found. Its domains (factual, medical, ...) become the
sources themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from ..algorithms.voting import majority_vote, normalise_answer
from ..core.options import Options, Positive, Probability, Temperature
from ..core.results import Retrieval
from ..core.trace import ChunkStep, ScoredEdge, Step
from ..index import vectors
from ..index.vectors import TextIndex
from ..operators import chunk, rank, relationship
from ..prompts import Task
from ..prompts.agent_rationales import TWO_RATIONALES, Rationales
from .graph_agent import GraphAgent, StopStep, triple_text
from .zeroshot import VoteStep

SOURCES = {
    "triples": "facts of a knowledge graph, one subject, relation and object each",
    "passages": "pages of an encyclopedia, with details that the graph leaves out",
}


@dataclass(frozen=True)
class CoKOptions(Options):
    """What the released code chooses; the number of samples and the temperature are its defaults.

    samples: answers that are drawn. temperature: at which they are drawn. voters: how many answers
    that could be read vote, the first ones; the code counts five, whatever it drew.
    threshold: the share of votes below which the rationales are corrected.
    correction: "step by step" writes the second rationale anew from the corrected first one; "at
    once" corrects both as they were sampled.
    found: triples, and passages, that a sentence is corrected with.
    """

    samples: Positive = 10
    temperature: Temperature = 0.7
    voters: Positive | None = None
    threshold: Probability = 0.5
    correction: Literal["step by step", "at once"] = "step by step"
    found: Positive = 3


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RationaleStep(Step):
    """A rationale as it was given, what the sources held on it, and as it is now.

    edges, chunks: the triples, and the positions and cosines of the passages, in `knowledge`.
    """

    given: str
    knowledge: tuple[str, ...]
    corrected: str
    edges: tuple[ScoredEdge, ...] = ()
    chunks: tuple[tuple[int, float], ...] = ()


class ChainOfKnowledge(GraphAgent):
    """Samples, a vote, and rationales corrected by triples and passages where the vote is divided.

    `retrieve` finds what the rationales were corrected with, and nothing where the samples agree;
    the answer follows from the corrected rationales.

    Source: Wang, Table II (tab-2)
    """

    name = "cok"
    paper = "Wang, Table II (CoK)"
    index_components = ("Entity", "Relationship", "Chunk")
    primitive = "Rationales"
    granularity: ClassVar = ("Triple", "Chunk")
    operators: ClassVar = {"relationship": ("VDB",), "chunk": ("VDB",)}
    needs_model = True
    answer_task = "consolidate"
    options_type = CoKOptions
    settings: ClassVar = {"paper": {}, "code": {"voters": 5}}
    chosen: CoKOptions

    @cached_property
    def relationship_index(self) -> TextIndex:
        """Every triple as a sentence, encoded."""
        texts = [triple_text(self.graph, edge) for edge in range(len(self.graph.edges))]
        return vectors.text_index(texts, texts, self.encoder)

    def walk(self, asked: str) -> list[Step]:
        """Samples and their vote; where it is divided, the sources, then one rationale after the
        other.
        """
        options = self.chosen
        drawn = [TWO_RATIONALES.sampled(i, options.temperature) for i in range(options.samples)]
        replies = self.llm.each(lambda sample: self.llm(sample, question=asked), drawn)
        read = [reply for reply in replies if reply.answer][: options.voters]
        vote = majority_vote([reply.answer for reply in read], "parsable")
        said = f"{vote.votes} of {len(read)} samples agree on {vote.answer!r}"
        answers = tuple(reply.answer for reply in replies)
        voted = VoteStep("vote", said, ((vote.answer, vote.score),), answers=answers, vote=vote)
        if read and vote.score >= options.threshold:
            stop = StopStep("stop", f"{said}; nothing is looked up", reason=said, sufficient=True)
            return [voted, stop, self.passages_of([])]
        won = [
            each for each in read if normalise_answer(each.answer) == normalise_answer(vote.answer)
        ]
        kept = next(iter([*won, *replies]), Rationales())
        named = self.llm("choose_sources", question=asked, sources=SOURCES)
        sources = [name for name in named if name in SOURCES] or list(SOURCES)
        first = self.correct(asked, kept.first, sources)
        second = kept.second
        if options.correction == "step by step":
            written = self.llm("next_rationale", question=asked, first=first.corrected)
            second = written or second
        steps = [first, self.correct(asked, second, sources)]
        reason = f"{said}, which is too few: both rationales were corrected"
        stop = StopStep("stop", f"{reason} with {', '.join(sources)}", reason=reason)
        return [voted, *steps, stop, self.passages_of(steps)]

    def correct(self, asked: str, rationale: str, sources: Sequence[str]) -> RationaleStep:
        """What the sources hold on a rationale (on the question, where there is none), and the
        rationale after that; as it was, where the reply is empty.
        """
        about, k = [rationale or asked], self.chosen.found
        edges: tuple[ScoredEdge, ...] = ()
        near: list[tuple[int, float]] = []
        if "triples" in sources:
            edges = relationship.vdb(about, self.relationship_index, k)[0].edges
        if "passages" in sources:
            scores = chunk.vdb(about, self.chunk_index)[0].scores
            near = [(int(place), float(scores[place])) for place in rank(scores, k)]
        texts = [self.relationship_index.labels[row.index] for row in edges]
        texts += [self.chunks[place].passage for place, _ in near]
        fields = {"question": asked, "rationale": rationale, "knowledge": "\n".join(texts)}
        corrected = self.llm("correct_rationale", **fields) or rationale
        return RationaleStep(
            "correct rationale", f"{rationale!r} became {corrected!r}", given=rationale,
            knowledge=tuple(texts), corrected=corrected, edges=edges, chunks=tuple(near),
        )  # fmt: skip

    def passages_of(self, steps: Sequence[RationaleStep]) -> ChunkStep:
        """The passages that rationales were corrected with, and those behind the triples."""
        scores = np.zeros(len(self.chunks))
        for step in steps:
            read = [
                (at, row.score) for row in step.edges for at in self.graph.edges[row.index].chunks
            ]
            for place, score in (*step.chunks, *read):
                scores[place] = max(score, scores[place])
        return chunk.scored_step("chunks of rationales", "best score of each", self.labels, scores)

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """What follows from the corrected rationales; the majority's answer where the samples
        agreed, or where nothing could be read.
        """
        vote = retrieval.trace.last(VoteStep).vote
        steps = retrieval.trace.all(RationaleStep)
        if not steps:
            return vote.answer, retrieval
        first, second = (step.corrected for step in steps)
        said = self.llm(reader, question=retrieval.question, first=first, second=second)
        return said or vote.answer, retrieval
