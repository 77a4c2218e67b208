"""Think-on-Graph (ToG): a language model walks over a knowledge graph, relation by relation, until
it says that the triples on its way are enough.

Paper: Sun et al., 2023, which is none of the five papers of this kit; Wang's ToG-2 builds on it and
the survey lists it. Official code: IDEA-FinAI/ToG, commit 7ccbb92. Where that code retrieves
otherwise there is an option; told, not rebuilt:

- a relation that leads both ways is followed outward only; here both ways;
- with several topics, the names that any of them was reached by are kept from all;
- literal values share one score, so that all but the first are lost; an empty list of them crashes;
- after the model has said {Yes}, the loop goes on to the last depth.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from ..core.options import Options, Positive
from ..core.results import Retrieval
from ..core.trace import ChunkStep, NodeStep, Step, Trace
from ..index.vectors import similar
from ..llm import LLM
from ..llm.offline import DryRun
from ..operators import agent
from ..operators.agent import Agent, Back, Chosen, Offer, Reached
from ..prompts import Task
from .graph_agent import NO_TOPICS, GraphAgent, StopStep

ENOUGH = "the agent says that the evidence is enough"
EXHAUSTED = "the walk has reached its greatest depth"
NO_RELATION = "no relation leads on from here"
NONE_CHOSEN = "the agent chose none of the relations that it was offered"
NONE_REACHED = "no node behind the chosen relations was kept"
SAMPLED = 5  # nodes, where a relation leads to a crowd


@dataclass(frozen=True)
class WalkOptions(Options):
    """What ToG and ToG-2 share.

    width: entities that are kept at a depth, W. depth: relations from a topic to the end, at most.
    back: a walk does not return by an "edge" of its way. ToG's code: not by the "relation" that it
        came by, to whatever node. ToG-2's code: by a slip, it is "allowed".
    cut_relations: follow at most `width` relations of a node; the codes follow all that the model
        names.
    stop_list: keep from the agent the relations that the codes call unnecessary: identifiers,
        counts, country, nationality.
    unfinished: what answers when the greatest depth is reached: the "evidence", or the model's
        "memory", by a chain of thought (needs a model).
    """

    width: Positive = 3
    depth: Positive = 3
    back: Back = "edge"
    cut_relations: bool = True
    stop_list: bool = False
    unfinished: Literal["evidence", "memory"] = "evidence"

    @property
    def most_relations(self) -> int | None:
        """How many relations of a node are followed at most."""
        return self.width if self.cut_relations else None


CODE = {"cut_relations": False, "stop_list": True, "unfinished": "memory"}


@dataclass(frozen=True)
class ToGOptions(WalkOptions):
    """ToG's own.

    crowd: the code takes a sample of 5 where a relation leads to so many nodes or more, 20.
    evidence: the triples of "all depths", or of the "last depth" alone, as in the code.
    """

    crowd: Positive | None = None
    evidence: Literal["all depths", "last depth"] = "all depths"


class Walked(NamedTuple):
    """What a walk has done and found, and why it ended."""

    steps: list[Step]
    found: list[Reached]
    reason: str


def can_remember(llm: LLM) -> bool:
    """Whether there is anybody who can answer without evidence; a dry run counts as a model."""
    return llm.is_model or isinstance(llm, DryRun)


class Walker(GraphAgent):
    """What ToG and ToG-2 share: how a walk begins and ends."""

    index_components: ClassVar[tuple[str, ...]] = ("Entity", "Relationship")
    chosen: WalkOptions

    @cached_property
    def agent(self) -> Agent:
        """The model and the graph."""
        return Agent(self.llm, self.graph, self.similar)

    def similar(self, asked: str, texts: Sequence[str]) -> list[float]:
        """The similarity of each text with the question."""
        return similar(asked, texts, self.encoder)

    def walk(self, asked: str) -> Sequence[Step]:
        """From the topic entities to the paths, the reason to stop, and the passages."""
        linked = self.topic_entities(asked)
        topics = agent.frontier([Reached((each.index,)) for each in linked.last(NodeStep).nodes])
        if not topics:
            return [*linked, *self.without_evidence(asked, NO_TOPICS)]
        steps, found, reason = self.walk_from(asked, topics, [*linked])
        if not found:
            said = f"{reason}; the passages are those of dense retrieval"
            return [*steps, *self.without_evidence(asked, reason, said)]
        paths = agent.paths(found, self.graph)
        stop = StopStep("stop", reason, reason=reason, sufficient=reason == ENOUGH)
        chunks = Trace(steps).all(ChunkStep)[-1:] or self.chunks_of_paths(paths)
        return [*steps, paths, stop, *chunks]

    def walk_from(self, asked: str, here: list[Reached], steps: list[Step]) -> Walked:
        """The walk from the topic entities on."""
        raise TypeError(f"{type(self).__name__} must write its own walk_from().")

    def offers(self, here: Sequence[Reached]) -> list[Offer]:
        """The relations that may be followed from each node, where there are any."""
        options = self.chosen
        offers = [
            agent.offer(
                each, self.relations[each.nodes[-1]], self.graph, options.back, options.stop_list
            )
            for each in agent.frontier(here)
        ]
        return [each for each in offers if each.relations]

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer, from the evidence, or from memory where the options say so."""
        unfinished = retrieval.trace.last(StopStep).reason == EXHAUSTED
        if unfinished and self.chosen.unfinished == "memory" and can_remember(self.llm):
            return self.llm("chain_of_thought", question=retrieval.question), retrieval
        return super().generate(retrieval, reader)


class ToG(Walker):
    """Relations, then entities, then the question whether that is enough; at every depth.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """

    name = "tog"
    paper = "Survey, Table 3 (ToG); Wang, Table II"
    primitive = "Question"
    operators: ClassVar = {
        "node": ("Link", "Onehop", "Agent"), "relationship": ("Onehop", "Agent"),
    }  # fmt: skip
    options_type = ToGOptions
    settings: ClassVar = {
        "paper": {}, "code": {**CODE, "back": "relation", "crowd": 20, "evidence": "last depth"},
    }  # fmt: skip
    reads_pages = False
    chosen: ToGOptions

    def walk_from(self, asked: str, here: list[Reached], steps: list[Step]) -> Walked:
        """At each depth relations, entities, and whether they are enough."""
        options, found = self.chosen, list[Reached]()
        for depth in range(1, options.depth + 1):
            # The relations at each entity; the model chooses.
            if not (offers := self.offers(here)):
                return Walked(steps, found, NO_RELATION)
            scored = agent.score_relations(self.agent, asked, offers, options.width)
            step, chosen = agent.choose_relations(
                self.agent, offers, scored, depth, options.most_relations
            )
            steps.append(step)
            if not chosen:
                return Walked(steps, found, NONE_CHOSEN)

            # The entities behind them: relation score times entity score, the best `width` kept.
            behind = [(each, self.behind(asked, each)) for each in chosen]
            reached = agent.score_entities(self.agent, asked, behind)
            step, here = agent.choose_entities(self.agent, reached, depth, options.width)
            steps.append(step)
            if not here:
                return Walked(steps, found, NONE_REACHED)
            last = [Reached(each.nodes[-2:], each.edges[-1:], each.score) for each in here]
            found = [*found, *here] if options.evidence == "all depths" else last

            # Is it enough?
            triples = self.agent.triples(*found)
            if self.llm("examine_triples", question=asked, triples=triples).sufficient:
                return Walked(steps, found, ENOUGH)
        return Walked(steps, found, EXHAUSTED)

    def behind(self, asked: str, chosen: Chosen) -> list[Reached]:
        """The nodes behind a relation, or a sample of them where there are too many."""
        reached, crowd = agent.reach(chosen, self.graph), self.chosen.crowd
        if crowd is None or len(reached) < crowd:
            return reached
        seed = f"{asked} {chosen.here.edges} {chosen.relation}"  # the same for the same question
        places = random.Random(seed).sample(range(len(reached)), min(SAMPLED, len(reached)))
        return [reached[place] for place in sorted(places)]
